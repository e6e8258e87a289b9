"""Mutants of the engine's own modules: one place of the code changed, in a way that would be a fault.

Sentences are free: string constants stay as they are, and so does what is raised. Annotations, docstrings and
declarations for a type checker are no code, and neither is what asserts: ``assert``, ``strict=True``.
"""

import ast
import copy
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

COMPARISONS: dict[type[ast.cmpop], list[type[ast.cmpop]]] = {
    ast.Lt: [ast.LtE, ast.GtE], ast.LtE: [ast.Lt, ast.Gt], ast.Gt: [ast.GtE, ast.LtE], ast.GtE: [ast.Gt, ast.Lt],
    ast.Eq: [ast.NotEq], ast.NotEq: [ast.Eq], ast.In: [ast.NotIn], ast.NotIn: [ast.In], ast.Is: [ast.IsNot],
    ast.IsNot: [ast.Is],
}
OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult,
    ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}
CALLS = {"any": "all", "all": "any", "min": "max", "max": "min", "sorted": "list"}


_NO_LOGIC = ast.Raise | ast.Import | ast.ImportFrom | ast.JoinedStr | ast.Assert  # assert is for the type checker
_PARTS = ast.arguments | ast.keyword | ast.comprehension | ast.excepthandler | ast.withitem | ast.match_case


@dataclass(frozen=True)
class Mutant:
    """A module with one place changed; ``name`` says which, in a form that outlives a shifted line."""

    name: str
    line: int
    text: str


def generate_mutants(text: str) -> list[Mutant]:
    """Return all mutants of a module, each text once."""
    parts = [ast.Module([statement], []) for statement in ast.parse(text).body]
    texts = [ast.unparse(part) for part in parts]
    seen, names, found = {"\n".join(texts)}, Counter[str](), []
    for at, part in enumerate(parts):
        for where, node, other, written in _changes(part):
            mutated = "\n".join([*texts[:at], written, *texts[at + 1:]])
            if mutated in seen:
                continue
            seen.add(mutated)
            name = f"{where}: {_shown(node)} → {_shown(other)}"
            names[name] += 1
            found.append(Mutant(name if names[name] == 1 else f"{name} #{names[name]}", node.lineno, mutated))
    return found


def _shown(node: ast.AST) -> str:
    return ast.unparse(node).splitlines()[0]


def _changes(tree: ast.Module) -> Iterator[tuple[str, ast.expr | ast.stmt, ast.AST, str]]:
    """(function, node, what stands in its place, the tree with that, written out)"""
    for where, holder, key in _code(tree, "module"):
        node = holder[key]
        for other in _of_statement(node) if isinstance(node, ast.stmt) else _of_expression(node):
            holder[key] = other
            written = ast.unparse(tree)
            holder[key] = node
            yield where, node, other, written


def _code(node: ast.AST, where: str) -> Iterator[tuple[str, Any, Any]]:
    """All statements and expressions that do something: their function or class, the list or the attributes that hold
    them, and where in it they are."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "type_params", "decorator_list", "bases"):
            continue
        holder = value if isinstance(value, list) else vars(node)
        for key in range(len(value)) if isinstance(value, list) else [name]:
            child = holder[key]
            if not isinstance(child, ast.expr | ast.stmt | _PARTS) or isinstance(child, _NO_LOGIC):
                continue
            inner = where
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                inner = child.name if where == "module" else f"{where}.{child.name}"
                if child.name.startswith("__repr") or any("Protocol" in ast.unparse(base)
                                                         for base in getattr(child, "bases", [])):
                    continue
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
                continue
            if isinstance(child, ast.Assign | ast.AnnAssign) and where == "module" and _declares_type(child):
                continue
            if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):
                continue
            if isinstance(child, ast.keyword) and child.arg == "strict" and getattr(child.value, "value", None) is True:
                continue
            if isinstance(child, ast.expr | ast.stmt):
                yield inner, holder, key
            yield from _code(child, inner)


def _declares_type(node: ast.Assign | ast.AnnAssign) -> bool:
    text = ast.unparse(node.value) if node.value else ""
    return text.startswith(("TypeVar", "Literal", "Callable", "dict[", "list[", "tuple["))


def _of_statement(node: ast.stmt) -> Iterator[ast.AST]:
    if isinstance(node, ast.Expr | ast.AugAssign | ast.Continue | ast.Break | ast.Delete):
        yield ast.Pass()
    elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute | ast.Subscript):
        yield ast.Pass()
    elif isinstance(node, ast.Return) and node.value and not (isinstance(node.value, ast.Constant)):
        yield ast.Return(ast.Constant(None))
    elif isinstance(node, ast.If):
        for truth in (True, False):
            made = copy.copy(node)
            made.test = ast.Constant(truth)
            yield made
    elif isinstance(node, ast.While):
        made_loop = copy.copy(node)
        made_loop.test = ast.Constant(False)
        yield made_loop


def _of_expression(node: ast.expr) -> Iterator[ast.AST]:
    if isinstance(node, ast.Constant):
        if isinstance(node.value, bool):
            yield ast.Constant(not node.value)
        elif isinstance(node.value, int | float):
            yield ast.Constant(node.value + 1)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
        yield node.operand
    elif isinstance(node, ast.BinOp) and type(node.op) in OPERATORS and not _is_text(node):
        yield ast.BinOp(node.left, OPERATORS[type(node.op)](), node.right)
    elif isinstance(node, ast.Compare):
        for other in COMPARISONS[type(node.ops[0])]:
            yield ast.Compare(node.left, [other(), *node.ops[1:]], node.comparators)
    elif isinstance(node, ast.BoolOp):
        yield ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
    elif isinstance(node, ast.IfExp):
        yield node.body
        yield node.orelse
    elif isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp):
        if node.generators[0].ifs:
            made = copy.copy(node)
            first = node.generators[0]
            made.generators = [ast.comprehension(first.target, first.iter, [], first.is_async), *node.generators[1:]]
            yield made
    elif isinstance(node, ast.Call):
        if isinstance(node.func, ast.Name) and node.func.id in CALLS:
            yield ast.Call(ast.Name(CALLS[node.func.id], ast.Load()), node.args,
                           [] if node.func.id == "sorted" else node.keywords)
        for at, keyword in enumerate(node.keywords):
            if keyword.arg == "encoding" or getattr(keyword.value, "value", None) in (True, False):
                continue  # makes a difference on other machines alone; is turned round anyway
            yield ast.Call(node.func, node.args, node.keywords[:at] + node.keywords[at + 1:])


def _is_text(node: ast.BinOp) -> bool:
    return any(isinstance(part, ast.JoinedStr) or isinstance(part, ast.Constant) and isinstance(part.value, str)
               for part in (node.left, node.right))
