"""Mutants: wrong versions that a machine writes, from the syntax tree of a solution.

Each operator changes one place of what a student writes, in a way that people do: another axis, a state that is not
passed on, a detached value, an end that is off by one. A mutant is one changed place; what it means is found out by
running it (`audit.mutation`).
"""

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass

from ..model.source import Cell
from ..runtime.locate.exchanges import EXCHANGED
from .probing import Place, Seen, expression, place_of

EXCHANGE = {**dict(EXCHANGED), **{b: a for a, b in reversed(EXCHANGED)}}
OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv, ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}
COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}
# Arguments and calls that make no difference where the grader computes, or that either way is right.
INDIFFERENT = {"device", "item", "cpu"}
# What new tensors are made with: they carry no gradient yet.
FRESH = {
    "zeros", "ones", "full", "empty", "arange", "eye", "rand", "randn", "randint", "tensor", "zeros_like", "ones_like",
    "full_like", "empty_like", "rand_like", "randn_like", "new_zeros", "new_ones", "new_full", "new_empty",
}
# Calls in which the first two arguments may change places.
SYMMETRIC = {"min", "max", "minimum", "maximum", "transpose", "swapaxes", "equal", "logical_and", "logical_or"}
# What a call hangs on that is no value: of `F.relu(x)` and `self.layer(x)` the argument stays, of `x.relu()` the x.
LIBRARIES = ("torch", "F", "nn", "np", "math", "random", "tp")
NETWORKS = ("self", "model")
INPLACE: dict[type[ast.AST], str] = {ast.Add: "add_", ast.Sub: "sub_", ast.Mult: "mul_", ast.Div: "div_"}
ENTERED = ("torch.set_grad_enabled(False)", "torch.manual_seed(0)", "torch.set_default_dtype(torch.float64)",
           "torch.rand(1)")
# By the formula of the textbook, of scores x along an axis: right, as long as no score is far from zero.
FORMULAS = {
    "softmax": "torch.exp({x}) / torch.exp({x}).sum({axis}, keepdim=True)",
    "log_softmax": "torch.softmax({x}, {axis}).log()",
    "cross_entropy": "nn.functional.nll_loss(torch.softmax({x}, 1).log())",
}


@dataclass(frozen=True)
class Mutant:
    """An exercise's cell with one place changed; ``change`` says which, in a form that outlives a shifted line."""

    exercise: str
    operator: str
    change: str
    source: str


def mutants_of(cell: Cell, seen: Seen | None = None) -> list[Mutant]:
    """Return all mutants of an exercise's cell: of the lines that a student writes, each text once.

    ``seen`` is what the cell held while its checks ran: with it, names are exchanged for others of their kind, and
    gradients are not taken from where there are none.
    """
    seen = seen or Seen()
    tree, written = ast.parse(cell.solution), cell.written
    found: dict[str, Mutant] = {ast.unparse(tree): Mutant("", "", "", "")}
    for statement, function in _statements(tree):
        if statement.lineno not in written:
            continue
        before = ast.unparse(statement).splitlines()[0]
        for operator, changed in _changes(statement, function, seen):
            text = ast.unparse(_with(tree, statement, changed))
            after = "; ".join(" ".join(ast.unparse(one).split()) for one in changed) or "nothing"
            found.setdefault(text, Mutant(str(cell.name), operator, f"{before} → {after}", text))
    return list(found.values())[1:]


def _statements(tree: ast.AST, function: ast.FunctionDef | None = None) -> Iterator[tuple[ast.stmt, ast.FunctionDef]]:
    """Yield every statement inside a function, and the function."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.FunctionDef):
            yield from _statements(child, child)
        elif isinstance(child, ast.stmt) and function:
            yield child, function
            yield from _statements(child, function)
        else:
            yield from _statements(child, function)


def _with(tree: ast.AST, statement: ast.stmt, changed: list[ast.stmt]) -> ast.AST:
    """Return a copy of the tree with one statement replaced."""
    marker = ast.Pass()
    made = copy.deepcopy(tree, {id(statement): marker})  # the memo says what stands for an object
    bodies = (value for node in ast.walk(made) for _, value in ast.iter_fields(node) if isinstance(value, list))
    body = next(body for body in bodies if marker in body)
    at = body.index(marker)
    body[at:at + 1] = changed or [marker]
    return ast.fix_missing_locations(made)


def _changes(statement: ast.stmt, function: ast.FunctionDef, seen: Seen) -> Iterator[tuple[str, list[ast.stmt]]]:
    """Yield (operator, replacements) for one statement."""
    yield from _of_statement(statement, function, seen)
    if isinstance(statement, ast.Raise):
        return  # words are free
    for node in _own_expressions(statement):
        for operator, other in (*_of_expression(node), *_of_name(node, place_of(statement), seen)):
            yield operator, [ast.fix_missing_locations(copy.deepcopy(statement, {id(node): other}))]


def _own_expressions(statement: ast.stmt) -> Iterator[ast.AST]:
    """Yield the expressions of a statement, without those of statements inside it."""
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        children = [child for child in ast.iter_child_nodes(node)
                    if not isinstance(child, (ast.stmt, ast.excepthandler))]
        yield from children
        waiting += children


# Statements


def _of_statement(statement: ast.stmt, function: ast.FunctionDef, seen: Seen) -> Iterator[tuple[str, list[ast.stmt]]]:
    if isinstance(statement, (ast.Expr, ast.AugAssign)) or _assigns_again(statement, function):
        if not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)):
            yield "dropped", []
    if isinstance(statement, (ast.If, ast.While)):
        for truth in (True, False) if isinstance(statement, ast.If) else (False,):  # `while True` never ends
            made = copy.deepcopy(statement)
            made.test = ast.Constant(truth)
            yield "condition", [made]
    if isinstance(statement, (ast.Break, ast.Continue)):
        yield "goes on", [ast.Pass()]
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        yield from _of_value(statement, ("detach()", "double()"), seen)
        if seen.carries_gradient(place_of(statement)) and _computes(statement.value):
            yield "without gradient", [_statement("with torch.no_grad():\n    pass", inner=copy.deepcopy(statement))]
    if isinstance(statement, ast.Return) and statement.value:
        yield from _of_return(statement, function, seen)


def _of_return(statement: ast.Return, function: ast.FunctionDef, seen: Seen) -> Iterator[tuple[str, list[ast.stmt]]]:
    value = statement.value
    assert value
    yield from _of_value(statement, ("detach()", "double()", "squeeze()"), seen)
    owner = "self" if function.args.args and function.args.args[0].arg == "self" else function.name
    if function.args.args and not isinstance(value, ast.Constant):
        kept = ast.Call(expression(f"{owner}.__dict__.setdefault"), [ast.Constant("_kept"), value], [])
        yield "cached", [ast.Return(kept)]
    for line in ENTERED if seen.records_gradients(place_of(statement)) else ENTERED[1:] if seen.has_torch else ():
        yield "surroundings", [_statement(line), copy.deepcopy(statement)]
    if owner == "self":
        yield "modes", [_statement("self.eval()"), copy.deepcopy(statement)]
    if isinstance(value, ast.Tuple) and len(value.elts) == 2:
        yield "swapped", [ast.Return(ast.Tuple(value.elts[::-1], ast.Load()))]


def _of_value(statement: ast.Assign | ast.Return, methods: tuple[str, ...],
              seen: Seen) -> Iterator[tuple[str, list[ast.stmt]]]:
    """Yield method calls on the value, or on each value of a tuple, where they make a difference."""
    value, place = statement.value, place_of(statement)
    assert value
    together = not isinstance(value, ast.Tuple)
    if together and seen.parts(place) > 1:
        return  # a tuple has none of these methods
    for at in range(len(value.elts) if isinstance(value, ast.Tuple) else 1):
        for method in methods:
            part = value.elts[at] if isinstance(value, ast.Tuple) else value
            if method == "detach()" and (_is_fresh(part) or not seen.carries_gradient(place, at)):
                continue
            if not (seen.has_axes(place, at) if method == "squeeze()" else seen.is_tensor(place, at)):
                continue
            made = copy.deepcopy(statement)
            assert made.value
            if together:
                made.value = _method(made.value, method)
            elif isinstance(made.value, ast.Tuple):
                made.value.elts[at] = _method(made.value.elts[at], method)
            yield method.removesuffix("()"), [made]


def _computes(value: ast.expr) -> bool:
    """Return whether a gradient could flow through an expression: it is neither a name nor a new tensor."""
    if isinstance(value, (ast.Tuple, ast.List)):
        return any(map(_computes, value.elts))
    return not (isinstance(value, (ast.Name, ast.Constant)) or _is_fresh(value))


def _is_fresh(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and _called(value) in FRESH


def _method(value: ast.expr, method: str) -> ast.expr:
    return ast.Call(ast.Attribute(value, method.removesuffix("()"), ast.Load()), [], [])


def _assigns_again(statement: ast.stmt, function: ast.FunctionDef) -> bool:
    """Return whether a statement assigns to what has a value: a state, an attribute, an argument."""
    if not isinstance(statement, ast.Assign):
        return False
    names = [node for target in statement.targets for node in ast.walk(target)]
    if any(isinstance(node, (ast.Attribute, ast.Subscript)) for node in names):
        return True
    earlier = {argument.arg for argument in function.args.args}
    for other in ast.walk(function):
        if isinstance(other, ast.Name) and isinstance(other.ctx, ast.Store) and other.lineno < statement.lineno:
            earlier.add(other.id)
    return all(node.id in earlier for node in names if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))


def _statement(text: str, inner: ast.stmt | None = None) -> ast.stmt:
    made = ast.parse(text).body[0]
    if inner is not None and isinstance(made, ast.With):
        made.body = [inner]
    return made


# Expressions


def _of_expression(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    if isinstance(node, ast.Constant):
        yield from _of_constant(node)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.Not)):
        yield "sign", node.operand
    elif isinstance(node, ast.BinOp):
        yield from _of_operation(node)
    elif isinstance(node, ast.Compare):
        other = COMPARISONS[type(node.ops[0])]()
        yield "comparison", ast.Compare(node.left, [other, *node.ops[1:]], node.comparators)
    elif isinstance(node, ast.BoolOp):
        yield "and, or", ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
        for at in range(len(node.values)):
            rest = node.values[:at] + node.values[at + 1 :]
            yield "and, or", rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)
    elif isinstance(node, ast.IfExp):
        yield "condition", node.body
        yield "condition", node.orelse
    elif isinstance(node, ast.Subscript):
        yield from _of_subscript(node)
    elif isinstance(node, ast.Call):
        yield from _of_call(node)
    elif isinstance(node, ast.Attribute) and node.attr in EXCHANGE:
        yield "another function", ast.Attribute(node.value, EXCHANGE[node.attr], node.ctx)
    elif isinstance(node, (ast.ListComp, ast.GeneratorExp)) and node.generators[0].ifs:
        made = copy.deepcopy(node)
        made.generators[0].ifs = []
        yield "condition", made


def _of_constant(node: ast.Constant) -> Iterator[tuple[str, ast.AST]]:
    value = node.value
    if isinstance(value, bool):
        yield "constant", ast.Constant(not value)
    elif isinstance(value, int):
        yield "constant", ast.Constant(value + 1)
        yield "constant", ast.Constant(value - 1)
    elif isinstance(value, float):
        yield "constant", ast.Constant(value * 2 if value else 1.0)
    elif isinstance(value, str) and "->" in value:  # an einsum: two axes of the result change places
        given, result = value.split("->")
        if len(result.strip()) > 1:
            yield "axes", ast.Constant(f"{given}->{result.strip()[::-1]}")


def _of_operation(node: ast.BinOp) -> Iterator[tuple[str, ast.AST]]:
    kind = type(node.op)
    if kind in OPERATORS:
        yield "operator", ast.BinOp(node.left, OPERATORS[kind](), node.right)
    if kind in (ast.Sub, ast.Div, ast.MatMult):
        yield "swapped", ast.BinOp(node.right, node.op, node.left)
    if kind in INPLACE and isinstance(node.left, ast.Name):
        yield "in place", ast.Call(ast.Attribute(node.left, INPLACE[kind], ast.Load()), [node.right], [])
    if kind in (ast.Add, ast.Sub, ast.Mult, ast.Div):
        yield "half of it", node.left
        yield "half of it", node.right


def _of_subscript(node: ast.Subscript) -> Iterator[tuple[str, ast.AST]]:
    if isinstance(node.ctx, ast.Load) and isinstance(node.slice, ast.Slice):
        yield "whole", node.value
        for name in ("lower", "upper"):
            bound = getattr(node.slice, name)
            if bound is not None and not isinstance(bound, ast.Constant):
                made = copy.deepcopy(node)
                setattr(made.slice, name, ast.BinOp(bound, ast.Add(), ast.Constant(1)))
                yield "off by one", made


def _of_call(node: ast.Call) -> Iterator[tuple[str, ast.AST]]:
    function, args = node.func, node.args
    name = function.id if isinstance(function, ast.Name) else ""
    if name in EXCHANGE:
        yield "another function", ast.Call(ast.Name(EXCHANGE[name], ast.Load()), args, node.keywords)
    if name == "range":
        for step in (1, -1):
            last = ast.BinOp(args[-1], ast.Add(), ast.Constant(step))
            yield "off by one", ast.Call(function, [*args[:-1], last], [])
        if len(args) == 1:
            yield "off by one", ast.Call(function, [ast.Constant(1), *args], [])
    if len(args) >= 2 and not any(isinstance(arg, ast.Starred) for arg in args) and _called(node) not in SYMMETRIC:
        yield "swapped", ast.Call(function, [args[1], args[0], *args[2:]], node.keywords)
        if len(args) > 2:
            yield "swapped", ast.Call(function, [args[0], args[2], args[1], *args[3:]], node.keywords)
    yield from _by_formula(node)
    for at in range(len(args)):
        yield "argument dropped", ast.Call(function, args[:at] + args[at + 1 :], node.keywords)
    for at, keyword in enumerate(node.keywords):
        if keyword.arg in INDIFFERENT:
            continue
        yield "argument dropped", ast.Call(function, args, node.keywords[:at] + node.keywords[at + 1 :])
    if isinstance(function, ast.Attribute) and function.attr in INDIFFERENT:
        return
    if isinstance(function, ast.Attribute) and _root(function) not in (*LIBRARIES, *NETWORKS):
        yield "call dropped", function.value
    elif args and not isinstance(args[0], ast.Starred):
        yield "call dropped", args[0]


def _by_formula(node: ast.Call) -> Iterator[tuple[str, ast.AST]]:
    """Yield softmax, its logarithm or the cross-entropy without the shift that keeps large scores stable."""
    function, name = node.func, _called(node)
    if name not in FORMULAS or not isinstance(function, ast.Attribute):
        return
    own = _root(function) not in LIBRARIES
    x, *rest = [function.value, *node.args] if own else node.args
    axes = [*rest[:1], *(keyword.value for keyword in node.keywords if keyword.arg == "dim")]
    made = expression(FORMULAS[name].format(x=ast.unparse(x), axis=ast.unparse(axes[0]) if axes else ""))
    if name == "cross_entropy" and isinstance(made, ast.Call):
        made.args += rest
        made.keywords = node.keywords
    yield "by the formula", made


def _of_name(node: ast.AST, place: Place, seen: Seen) -> Iterator[tuple[str, ast.AST]]:
    """Yield other local names of the same kind."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        other = seen.akin(place, node.id)
        if other:
            yield "another name", ast.Name(other, ast.Load())


def _called(node: ast.Call) -> str:
    """Return the name of the function or method that is called."""
    return str(getattr(node.func, "attr", None) or getattr(node.func, "id", ""))


def _root(node: ast.expr) -> str | None:
    """Return the first name in a chain of attributes."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None
