"""Mutants: wrong versions that a machine writes, from the syntax tree of a solution.

Each operator changes one place of what a student writes, in a way that people do: another axis, a state that is not
passed on, a detached value, an end that is off by one. A mutant is one changed place; `audit.mutation` runs it.
"""

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass

from ..model.source import Cell
from ..runtime.locate.alternatives import CONFUSABLE
from ..runtime.syntax import parse_expression, parse_module, root
from .probing import Position, ProbeLog, position_of

Change = tuple[str, list[ast.stmt]]  # the operator, and what it puts in the place of a statement
COUNTERPART = {**dict(CONFUSABLE), **{b: a for a, b in reversed(CONFUSABLE)}}
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
# Functions that make new tensors, which carry no gradient yet.
FRESH = {
    "zeros", "ones", "full", "empty", "arange", "eye", "rand", "randn", "randint", "tensor", "zeros_like", "ones_like",
    "full_like", "empty_like", "rand_like", "randn_like", "new_zeros", "new_ones", "new_full", "new_empty",
}
# Calls in which the first two arguments may change places.
SYMMETRIC = {"min", "max", "minimum", "maximum", "transpose", "swapaxes", "equal", "logical_and", "logical_or"}
# Names before a call that are no values: of `F.relu(x)` and `self.layer(x)` the argument stays, of `x.relu()` the x.
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
    """An exercise's cell with one place changed; ``change`` names it without a line number."""

    exercise: str
    operator: str
    change: str
    source: str


def generate_mutants(cell: Cell, log: ProbeLog | None = None) -> list[Mutant]:
    """Return all mutants of an exercise's cell: of the lines that a student writes, each text once.

    ``log`` has the values in the cell while its checks ran: with it, names are exchanged for others of their kind, and
    gradients are removed only where there are some.
    """
    log = log or ProbeLog()
    tree, written = parse_module(cell.solution), cell.written
    mutants: dict[str, Mutant] = {ast.unparse(tree): Mutant("", "", "", "")}
    for statement, function in _statements(tree):
        if statement.lineno not in written:
            continue
        before = ast.unparse(statement).splitlines()[0]
        for operator, replacements in _changes(statement, function, log):
            text = ast.unparse(_replaced(tree, statement, replacements))
            after = "; ".join(" ".join(ast.unparse(replacement).split()) for replacement in replacements) or "nothing"
            mutants.setdefault(text, Mutant(cell.name, operator, f"{before} → {after}", text))
    return list(mutants.values())[1:]


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


def _replaced(tree: ast.AST, statement: ast.stmt, replacements: list[ast.stmt]) -> ast.AST:
    """Return a copy of the tree with one statement replaced."""
    marker = ast.Pass()
    copied = copy.deepcopy(tree, {id(statement): marker})  # the memo says what takes the place of an object
    bodies = (value for node in ast.walk(copied) for _, value in ast.iter_fields(node) if isinstance(value, list))
    body = next(body for body in bodies if marker in body)
    at = body.index(marker)
    body[at:at + 1] = replacements or [marker]
    return ast.fix_missing_locations(copied)


def _changes(statement: ast.stmt, function: ast.FunctionDef, log: ProbeLog) -> Iterator[Change]:
    """Yield (operator, replacements) for one statement."""
    yield from _of_statement(statement, function, log)
    if isinstance(statement, ast.Raise):
        return  # any message is right
    for node in _expressions_of(statement):
        for operator, replacement in (*_of_expression(node), *_of_name(node, position_of(statement), log)):
            yield operator, [ast.fix_missing_locations(copy.deepcopy(statement, {id(node): replacement}))]


def _expressions_of(statement: ast.stmt) -> Iterator[ast.AST]:
    """Yield the expressions of a statement, without those of statements inside it."""
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        children = [child for child in ast.iter_child_nodes(node)
                    if not isinstance(child, (ast.stmt, ast.excepthandler))]
        yield from children
        waiting += children


# Statements


def _of_statement(statement: ast.stmt, function: ast.FunctionDef, log: ProbeLog) -> Iterator[Change]:
    if isinstance(statement, (ast.Expr, ast.AugAssign)) or _assigns_again(statement, function):
        if not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)):
            yield "dropped", []
    if isinstance(statement, (ast.If, ast.While)):
        for truth in (True, False) if isinstance(statement, ast.If) else (False,):  # `while True` never ends
            changed = copy.deepcopy(statement)
            changed.test = ast.Constant(truth)
            yield "condition", [changed]
    if isinstance(statement, (ast.Break, ast.Continue)):
        yield "goes on", [ast.Pass()]
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        yield from _of_value(statement, ("detach", "double"), log)
        if log.holds("is_real", position_of(statement)) and _computes(statement.value):
            yield "without gradient", [_statement("with torch.no_grad():\n    pass", inner=copy.deepcopy(statement))]
    if isinstance(statement, ast.Return) and statement.value:
        yield from _of_return(statement, function, log)


def _of_return(statement: ast.Return, function: ast.FunctionDef, log: ProbeLog) -> Iterator[Change]:
    value = statement.value
    assert value
    yield from _of_value(statement, ("detach", "double", "squeeze"), log)
    owner = "self" if function.args.args and function.args.args[0].arg == "self" else function.name
    if function.args.args and not isinstance(value, ast.Constant):
        cached = ast.Call(parse_expression(f"{owner}.__dict__.setdefault"), [ast.Constant("_kept"), value], [])
        yield "cached", [ast.Return(cached)]
    for line in ENTERED if log.records_gradients(position_of(statement)) else ENTERED[1:] if log.has_torch else ():
        yield "surroundings", [_statement(line), copy.deepcopy(statement)]
    if owner == "self":
        yield "modes", [_statement("self.eval()"), copy.deepcopy(statement)]
    if isinstance(value, ast.Tuple) and len(value.elts) == 2:
        yield "swapped", [ast.Return(ast.Tuple(value.elts[::-1], ast.Load()))]


def _of_value(statement: ast.Assign | ast.Return, methods: tuple[str, ...], log: ProbeLog) -> Iterator[Change]:
    """Yield method calls on the value, or on each value of a tuple, where they make a difference."""
    value, position = statement.value, position_of(statement)
    assert value
    if not isinstance(value, ast.Tuple) and log.parts(position) > 1:
        return  # a tuple has none of these methods
    for at, part in enumerate(value.elts if isinstance(value, ast.Tuple) else [value]):
        for method in methods:
            if method == "detach" and (_is_fresh(part) or not log.holds("is_real", position, at)):
                continue
            if log.holds("axes" if method == "squeeze" else "is_tensor", position, at):
                called = ast.Call(ast.Attribute(part, method, ast.Load()), [], [])
                yield method, [copy.deepcopy(statement, {id(part): called})]


def _computes(value: ast.expr) -> bool:
    """Return whether a gradient could flow through an expression: it is neither a name nor a new tensor."""
    if isinstance(value, (ast.Tuple, ast.List)):
        return any(map(_computes, value.elts))
    return not (isinstance(value, (ast.Name, ast.Constant)) or _is_fresh(value))


def _is_fresh(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and _function_name(value) in FRESH


def _assigns_again(statement: ast.stmt, function: ast.FunctionDef) -> bool:
    """Return whether a statement assigns to what has a value: a state, an attribute, an argument."""
    if not isinstance(statement, ast.Assign):
        return False
    names = [node for target in statement.targets for node in ast.walk(target)]
    if any(isinstance(node, (ast.Attribute, ast.Subscript)) for node in names):
        return True
    earlier = {argument.arg for argument in function.args.args}
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.lineno < statement.lineno:
            earlier.add(node.id)
    return all(node.id in earlier for node in names if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))


def _statement(text: str, inner: ast.stmt | None = None) -> ast.stmt:
    statement = parse_module(text).body[0]
    if inner is not None and isinstance(statement, ast.With):
        statement.body = [inner]
    return statement


# Expressions


def _of_expression(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    if isinstance(node, ast.Constant):
        yield from _of_constant(node)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.Not)):
        yield "sign", node.operand
    elif isinstance(node, ast.BinOp):
        yield from _of_operation(node)
    elif isinstance(node, ast.Compare):
        operation = COMPARISONS[type(node.ops[0])]()
        yield "comparison", ast.Compare(node.left, [operation, *node.ops[1:]], node.comparators)
    elif isinstance(node, ast.BoolOp):
        yield "and, or", ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
        for at in range(len(node.values)):
            values = node.values[:at] + node.values[at + 1 :]
            yield "and, or", values[0] if len(values) == 1 else ast.BoolOp(node.op, values)
    elif isinstance(node, ast.IfExp):
        yield "condition", node.body
        yield "condition", node.orelse
    elif isinstance(node, ast.Subscript):
        yield from _of_subscript(node)
    elif isinstance(node, ast.Call):
        yield from _of_call(node)
    elif isinstance(node, ast.Attribute) and node.attr in COUNTERPART:
        yield "another function", ast.Attribute(node.value, COUNTERPART[node.attr], node.ctx)
    elif isinstance(node, (ast.ListComp, ast.GeneratorExp)) and node.generators[0].ifs:
        unconditional = copy.deepcopy(node)
        unconditional.generators[0].ifs = []
        yield "condition", unconditional


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
        operands, result = value.split("->")
        if len(result.strip()) > 1:
            yield "axes", ast.Constant(f"{operands}->{result.strip()[::-1]}")


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
                shifted = copy.deepcopy(node)
                setattr(shifted.slice, name, ast.BinOp(bound, ast.Add(), ast.Constant(1)))
                yield "off by one", shifted


def _of_call(node: ast.Call) -> Iterator[tuple[str, ast.AST]]:
    function, args = node.func, node.args
    name = function.id if isinstance(function, ast.Name) else ""
    if name in COUNTERPART:
        yield "another function", ast.Call(ast.Name(COUNTERPART[name], ast.Load()), args, node.keywords)
    if name == "range":
        for step in (1, -1):
            last = ast.BinOp(args[-1], ast.Add(), ast.Constant(step))
            yield "off by one", ast.Call(function, [*args[:-1], last], [])
        if len(args) == 1:
            yield "off by one", ast.Call(function, [ast.Constant(1), *args], [])
    starred = any(isinstance(arg, ast.Starred) for arg in args)
    if len(args) >= 2 and not starred and _function_name(node) not in SYMMETRIC:
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
    if isinstance(function, ast.Attribute) and root(function) not in (*LIBRARIES, *NETWORKS):
        yield "call dropped", function.value
    elif args and not isinstance(args[0], ast.Starred):
        yield "call dropped", args[0]


def _by_formula(node: ast.Call) -> Iterator[tuple[str, ast.AST]]:
    """Yield softmax, its logarithm or the cross-entropy without the shift that keeps large scores stable."""
    function, name = node.func, _function_name(node)
    if name not in FORMULAS or not isinstance(function, ast.Attribute):
        return
    is_method = root(function) not in LIBRARIES
    operands = [function.value, *node.args] if is_method else node.args
    axes = [*operands[1:2], *(keyword.value for keyword in node.keywords if keyword.arg == "dim")]
    if not operands or not (axes or name == "cross_entropy"):
        return
    x, *arguments = operands
    formula = parse_expression(FORMULAS[name].format(x=ast.unparse(x), axis=ast.unparse(axes[0]) if axes else ""))
    if name == "cross_entropy" and isinstance(formula, ast.Call):
        formula.args += arguments
        formula.keywords = node.keywords
    yield "by the formula", formula


def _of_name(node: ast.AST, position: Position, log: ProbeLog) -> Iterator[tuple[str, ast.AST]]:
    """Yield other local names of the same kind."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        alike = log.name_alike(position, node.id)
        if alike:
            yield "another name", ast.Name(alike, ast.Load())


def _function_name(node: ast.Call) -> str:
    """Return the name of the function or method that is called."""
    return str(getattr(node.func, "attr", None) or getattr(node.func, "id", ""))
