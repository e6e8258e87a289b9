"""Observe the expressions of a cell: its functions, rewritten so that the value of each expression is seen.

What is kept of a value is a fingerprint: numbers from which nobody reads how an answer is written. It is bounded, and
says the same of a value whatever the order of its axes, so that another way to the same value is known as one.
"""

from __future__ import annotations

import ast
import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

PROBE = "_observe_"  # no two underscores in front: inside a class such a name would be another one
MAX_VALUES = 40_000  # that are looked at in one observation
MAX_SECONDS = 3.0
MAX_SERIES = 2_000  # values of one expression
MAX_ELEMENTS = 400_000  # of an array
MAX_TEXT = 200
MAX_ITEMS = 200
SKIPPED = (ast.expr_context, ast.operator, ast.boolop, ast.unaryop, ast.cmpop, ast.arguments, ast.keyword, ast.Slice,
           ast.Starred, ast.JoinedStr, ast.FormattedValue, ast.Constant, ast.comprehension)
GROWING = {"append", "extend", "insert", "add", "update", "appendleft", "setdefault"}
SIZES = {"shape", "size", "dim", "ndim", "dtype", "device", "numel", "len", "range", "enumerate", "isinstance", "type"}


@dataclass(frozen=True)
class Expression:
    """One observed expression of a cell: where it stands, and which observed ones go into it.

    ``kind``: "value" of an expression, "name" of a variable, "return" of what a function gives back, or "statement"
    of what a variable holds behind a statement that changes it. ``loop`` is the number of the loop that it stands in.
    """

    number: int
    kind: str
    function: str
    span: tuple[int, int, int, int]  # first line and column, last line and column; lines from 1, columns from 0
    inputs: tuple[int, ...] = ()
    sources: tuple[int, ...] = ()  # of a name: the expressions that it was assigned
    sized: bool = False  # it says how large something is, or of which type: what it is made of does not go on
    frame: int = 0  # the function or the loop in which it stands
    loop: tuple[int, int, int, int] | None = None  # the head of that loop


@dataclass(frozen=True)
class Fingerprint:
    """What is kept of a value. ``moments`` are of all its finite numbers, whatever their order."""

    kind: str  # "array", "number", "text", "items", "other"
    shape: tuple[int, ...] = ()
    moments: tuple[float, ...] = ()  # count, sum, sums of squares and cubes, sum of sizes, +inf, -inf, NaN
    order: float = 0.0  # a sum that depends on the order
    type: str = ""  # of the elements
    text: str = ""
    items: tuple[Fingerprint, ...] = ()

    @property
    def is_telling(self) -> bool:
        """Return whether few other values look so: several distinct numbers, a fraction, a text of some length."""
        if self.kind == "array" or self.kind == "number":
            count, total, squares = self.moments[0], self.moments[1], self.moments[2]
            if count <= 1:
                return total != int(total) if math.isfinite(total) else False
            return squares * count - total * total > 1e-9 * max(squares * count, 1e-30)
        if self.kind == "items":
            return any(item.is_telling for item in self.items) or len(self.items) > 3
        return self.kind == "text" and len(self.text) > 1

    @property
    def is_neutral(self) -> bool:
        """Return whether it says nothing: None, a function, a module, or numbers that are all alike."""
        if self.kind == "array":
            return not self.is_telling
        return self.kind == "other"


def fingerprint(value: Any, depth: int = 3) -> Fingerprint:
    """Return the fingerprint of a value; whatever fails on the way is of the kind "other"."""
    try:
        return _fingerprint(value, depth)
    except Exception:  # a student's object may answer anything
        return Fingerprint("other")


def _fingerprint(value: Any, depth: int) -> Fingerprint:
    if value is None:
        return Fingerprint("other")
    if isinstance(value, (bool, int, float, np.generic)):
        return Fingerprint("number", (), _moments(np.asarray([float(value)])), type=type(value).__name__)
    if isinstance(value, (str, bytes)):
        return Fingerprint("text", (len(value),), text=repr(value[:MAX_TEXT]))
    array = _array(value)
    if array is not None:
        flat = array.reshape(-1)
        kind, kept = "number" if flat.size == 1 else "array", str(value.dtype)
        return Fingerprint(kind, tuple(array.shape), _moments(flat), _order(flat), kept)
    if depth and isinstance(value, (list, tuple)):
        return _of_items([_fingerprint(item, depth - 1) for item in value[:MAX_ITEMS]])
    if depth and isinstance(value, (range,)):
        return _of_items([_fingerprint(item, depth - 1) for item in list(value[:MAX_ITEMS])])
    if depth and isinstance(value, (set, frozenset)):
        return _of_items(sorted((_fingerprint(item, depth - 1) for item in list(value)[:MAX_ITEMS]), key=repr))
    if depth and isinstance(value, (dict, Counter)):
        pairs = [(_fingerprint(key, depth - 1), _fingerprint(item, depth - 1))
                 for key, item in list(value.items())[:MAX_ITEMS]]
        return _of_items([one for pair in sorted(pairs, key=repr) for one in pair])
    return Fingerprint("other")


def _of_items(items: list[Fingerprint]) -> Fingerprint:
    """Several arrays of one shape are as good as one of them all."""
    if items and items[0].kind in ("array", "number") and all(
            item.kind == items[0].kind and item.shape == items[0].shape for item in items):
        if items[0].kind == "array" or any(item.shape for item in items):
            moments = _added([item.moments for item in items])
            order = float(sum((index + 1) * item.order for index, item in enumerate(items)))
            return Fingerprint("array", (len(items), *items[0].shape), moments, order, items[0].type)
        return Fingerprint("array", (len(items),), _added([item.moments for item in items]),
                           _order(np.asarray([item.moments[1] for item in items])), items[0].type)
    return Fingerprint("items", (len(items),), items=tuple(items))


def _array(value: Any) -> Any:
    """The numbers of a tensor or an array as float64; None when it is neither, or too large."""
    if isinstance(value, np.ndarray):
        array = value
    elif hasattr(value, "detach") and hasattr(value, "dtype") and hasattr(value, "cpu"):
        if value.numel() > MAX_ELEMENTS:
            return None
        kept = value.detach().cpu()
        array = kept.float().numpy() if "16" in str(kept.dtype) and kept.is_floating_point() else kept.numpy()
    else:
        return None
    if array.size > MAX_ELEMENTS or array.dtype.kind not in "biuf":
        return None
    return array.astype(np.float64)


def _moments(flat: Any) -> tuple[float, ...]:
    finite = flat[np.isfinite(flat)]
    with np.errstate(all="ignore"):
        return (float(flat.size), float(finite.sum()), float((finite**2).sum()), float((finite**3).sum()),
                float(np.abs(finite).sum()), float((flat == np.inf).sum()), float((flat == -np.inf).sum()),
                float(np.isnan(flat).sum()))


def _order(flat: Any) -> float:
    finite = np.where(np.isfinite(flat), flat, 0.0)
    with np.errstate(all="ignore"):
        return float((finite * np.cos(np.arange(1, flat.size + 1) * 0.7)).sum())


def _added(moments: Sequence[tuple[float, ...]]) -> tuple[float, ...]:
    return tuple(float(sum(column)) for column in zip(*moments, strict=True))


# The rewritten cell


@dataclass
class Cell:
    """The expressions of a cell, and its text compiled so that they are observed."""

    expressions: list[Expression]
    code: Any


def observed(text: str, filename: str = "<cell>") -> Cell:
    """Return a cell with the expressions of its functions observed. ``SyntaxError`` where it is no Python."""
    tree = ast.parse(text)
    rewriter = _Rewriter(text)
    made = rewriter.visit(tree)
    ast.fix_missing_locations(made)
    return Cell(rewriter.finished(), compile(made, filename, "exec"))


@dataclass
class _Scope:
    """A function while it is rewritten: which expressions each of its variables was assigned."""

    name: str
    sources: dict[str, list[int]] = field(default_factory=dict)
    loads: list[tuple[int, str]] = field(default_factory=list)


class _Rewriter(ast.NodeTransformer):
    def __init__(self, text: str) -> None:
        self.text = text
        self.expressions: list[Expression] = []
        self.scopes: list[_Scope] = []
        self.children: list[list[int]] = [[]]  # of the expression that is being visited
        self.names: dict[int, tuple[_Scope, str]] = {}
        self.objects = _Scope("")
        self.frames: list[tuple[int, tuple[int, int, int, int] | None]] = []  # functions and loops around a place
        self.framed = 0  # of them so far

    def finished(self) -> list[Expression]:
        """Return the expressions, each name with what it was assigned."""
        made = []
        for one in self.expressions:
            if one.number in self.names:
                scope, name = self.names[one.number]
                sources = tuple(dict.fromkeys(n for n in scope.sources.get(name, ()) if n != one.number))
                one = replace(one, sources=sources)
            made.append(one)
        return made

    def _span(self, node: ast.AST) -> tuple[int, int, int, int]:
        return (getattr(node, "lineno", 1), getattr(node, "col_offset", 0), getattr(node, "end_lineno", 1) or 1,
                getattr(node, "end_col_offset", 0) or 0)

    def _new(self, kind: str, node: ast.AST, inputs: Sequence[int], sized: bool = False) -> int:
        number = len(self.expressions)
        self.expressions.append(Expression(number, kind, self.scopes[-1].name, self._span(node), tuple(inputs), (),
                                           sized, *self.frames[-1]))
        return number

    def _call(self, number: int, node: ast.expr, at: ast.AST) -> ast.expr:
        made = ast.Call(ast.Name(PROBE, ast.Load()), [ast.Constant(number), node], [])
        return ast.fix_missing_locations(ast.copy_location(made, at))

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.scopes.append(_Scope(node.name))
        self.children.append([])
        entered = self._enter(node, None)
        node.body = [entered, *self._block(node.body)]
        self.frames.pop()
        self.children.pop()
        self.scopes.pop()
        return node

    def _enter(self, node: ast.stmt, loop: tuple[int, int, int, int] | None) -> ast.stmt:
        """A statement that says that a function or a loop begins."""
        self.framed += 1
        self.frames.append((self.framed, loop))
        call = ast.Call(ast.Name(PROBE, ast.Load()), [ast.Constant(-self.framed), ast.Constant(None)], [])
        return ast.fix_missing_locations(ast.copy_location(ast.Expr(call), node))

    visit_AsyncFunctionDef = None  # type: ignore[assignment]

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        node.body = [self.visit(one) if isinstance(one, (ast.FunctionDef, ast.ClassDef)) else one for one in node.body]
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        return node

    def _block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        made: list[ast.stmt] = []
        for one in statements:
            result = self.visit(one)
            made += result if isinstance(result, list) else [result]
        return made

    def generic_visit(self, node: ast.AST) -> ast.AST:
        for name, value in ast.iter_fields(node):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                setattr(node, name, self._block(value))
            elif isinstance(value, list):
                setattr(node, name, [self.visit(one) if isinstance(one, ast.AST) else one for one in value])
            elif isinstance(value, ast.AST):
                setattr(node, name, self.visit(value))
        return node

    def visit(self, node: ast.AST) -> Any:
        special = getattr(self, f"visit_{type(node).__name__}", None)
        if special:
            return special(node)
        if not self.scopes:  # only functions are observed
            return node if isinstance(node, ast.expr) else self.generic_visit(node)
        if isinstance(node, ast.expr) and not isinstance(node, SKIPPED) and isinstance(
                getattr(node, "ctx", ast.Load()), ast.Load):
            return self._expression(node)
        return self.generic_visit(node)

    def _expression(self, node: ast.expr) -> ast.expr:
        if isinstance(node, (ast.Yield, ast.YieldFrom, ast.Await)):
            self.generic_visit(node)
            return node
        at = node
        self.children.append([])
        sized = _is_sized(node)
        variable = _variable(node)
        if isinstance(node, ast.Name):
            kind = "name"
        elif variable:
            kind = "name"
            self.generic_visit(node)
        else:
            kind = "value"
            if isinstance(node, ast.Call):
                self._visit_call(node)
            elif isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)):
                self._visit_comprehension(node)
            else:
                self.generic_visit(node)
        inputs = self.children.pop()
        number = self._new(kind, at, inputs, sized)
        if variable:
            self.names[number] = (self._scope_of(variable), variable)
        self.children[-1].append(number)
        return node if isinstance(node, ast.GeneratorExp) else self._call(number, node, at)

    def _visit_call(self, node: ast.Call) -> None:
        """The function of a call is not observed; of a method, what it is a method of."""
        if isinstance(node.func, ast.Attribute):
            node.func.value = self.visit(node.func.value)
        elif not isinstance(node.func, ast.Name):
            node.func = self.visit(node.func)
        node.args = [self.visit(one) for one in node.args]
        for keyword in node.keywords:
            keyword.value = self.visit(keyword.value)
        if isinstance(node.func, ast.Attribute) and node.func.attr in GROWING:
            name = _root(node.func.value)
            if name:
                self.scopes[-1].sources.setdefault(name, []).extend(self.children[-1][1:])

    def _visit_comprehension(self, node: Any) -> None:
        for one in node.generators:
            before = len(self.children[-1])
            one.iter = self.visit(one.iter)
            self._assign(one.target, self.children[-1][before:])
            one.ifs = [self.visit(test) for test in one.ifs]
        if isinstance(node, ast.DictComp):
            node.key, node.value = self.visit(node.key), self.visit(node.value)
        else:
            node.elt = self.visit(node.elt)

    def _scope_of(self, variable: str) -> _Scope:
        """Where a variable lives: what belongs to an object is shared by its methods."""
        return self.objects if "." in variable else self.scopes[-1]

    def _assign(self, target: ast.AST, sources: Sequence[int]) -> None:
        for name in _stored(target):
            self._scope_of(name).sources.setdefault(name, []).extend(sources)

    def _valued(self, value: ast.expr) -> tuple[ast.expr, list[int]]:
        """A value of a statement, rewritten, and the expressions that it consists of at the top."""
        self.children.append([])
        made = self.visit(value)
        return made, self.children.pop()

    def visit_Assign(self, node: ast.Assign) -> Any:
        if not self.scopes:
            return node
        node.value, tops = self._valued(node.value)
        changed = [target for target in node.targets if isinstance(target, ast.Subscript)]
        for target in node.targets:
            self._assign(target, tops)
        return [node, *self._behind(node, changed, tops)]

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        if self.scopes and node.value:
            node.value, tops = self._valued(node.value)
            self._assign(node.target, tops)
        return node

    def visit_NamedExpr(self, node: ast.NamedExpr) -> Any:
        before = len(self.children[-1])
        node.value = self.visit(node.value)
        self._assign(node.target, self.children[-1][before:])
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        if not self.scopes:
            return node
        node.value, tops = self._valued(node.value)
        return [node, *self._behind(node, [node.target], tops)]

    def _behind(self, node: ast.stmt, targets: Sequence[ast.AST], tops: Sequence[int]) -> list[ast.stmt]:
        """What a changed variable holds behind the statement."""
        made: list[ast.stmt] = []
        for target in targets:
            name = _root(target)
            if name is None or isinstance(target, ast.Attribute):
                continue
            number = self._new("statement", node, tops)
            self.scopes[-1].sources.setdefault(name, []).append(number)
            made.append(ast.fix_missing_locations(ast.copy_location(
                ast.Expr(self._call(number, ast.Name(name, ast.Load()), node)), node)))
        return made

    def visit_For(self, node: ast.For) -> Any:
        if not self.scopes:
            return node
        node.iter, tops = self._valued(node.iter)
        self._assign(node.target, tops)
        head, first = self._span(node.iter), self._span(node)
        return self._looped(node, (*first[:2], *head[2:]))

    def visit_While(self, node: ast.While) -> Any:
        if not self.scopes:
            return node
        head, first = self._span(node.test), self._span(node)
        return self._looped(node, (*first[:2], *head[2:]))

    def _looped(self, node: Any, head: tuple[int, int, int, int]) -> Any:
        entered = self._enter(node, head)
        if isinstance(node, ast.While):
            node.test, _ = self._valued(node.test)
        node.body = self._block(node.body)
        self.frames.pop()
        node.orelse = self._block(node.orelse)
        return [entered, node]

    def visit_With(self, node: ast.With) -> Any:
        for item in node.items:
            item.context_expr, tops = self._valued(item.context_expr) if self.scopes else (item.context_expr, [])
            if item.optional_vars:
                self._assign(item.optional_vars, tops)
        node.body = self._block(node.body)
        return node

    def visit_Return(self, node: ast.Return) -> Any:
        if not self.scopes or node.value is None:
            return node
        value = node.value
        made, tops = self._valued(value)
        number = self._new("return", value, tops)
        node.value = self._call(number, made, value)
        return node


def _is_sized(node: ast.expr) -> bool:
    """Whether an expression says how large something is, or of which kind."""
    if isinstance(node, ast.Attribute):
        return node.attr in SIZES
    if isinstance(node, ast.Subscript):
        return _is_sized(node.value)
    if isinstance(node, ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        return name in SIZES
    return False


def _variable(node: ast.AST) -> str | None:
    """The variable that an expression is: a name, or an attribute of a name; None when it is anything else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.attr not in SIZES:
        return f"{node.value.id}.{node.attr}" if node.value.id == "self" else None
    return None


def _root(node: ast.AST) -> str | None:
    """The variable that an expression begins with."""
    while isinstance(node, (ast.Subscript, ast.Attribute, ast.Call)):
        if isinstance(node, ast.Call):
            if ast.unparse(node.func) != PROBE or len(node.args) != 2:
                return None
            node = node.args[1]
        else:
            node = node.value
    return node.id if isinstance(node, ast.Name) else None


def _stored(target: ast.AST) -> Iterator[str]:
    if isinstance(target, ast.Name):
        yield target.id
    elif isinstance(target, (ast.Tuple, ast.List)):
        for one in target.elts:
            yield from _stored(one)
    elif isinstance(target, ast.Starred):
        yield from _stored(target.value)
    elif isinstance(target, ast.Attribute):
        if isinstance(target.value, ast.Name):
            yield f"{target.value.id}.{target.attr}"
    elif isinstance(target, ast.Subscript):
        name = _root(target)
        if name:
            yield name


# The observation

Series = dict[int, list[Fingerprint]]  # by the number of an expression: what it was, one value after the other
Tags = dict[int, list[int]]  # beside each value, how often its function or loop had begun
Times = dict[int, tuple[int, int]]  # by the number of an expression: when it was seen first, and last


class Observer:
    """Keeps the fingerprints of what the expressions of cells are, within bounds."""

    def __init__(self, seconds: float = MAX_SECONDS) -> None:
        self.series: Series = {}
        self.tags: Tags = {}
        self.times: Times = {}
        self.begun: Counter[int] = Counter()
        self.left = MAX_VALUES
        self.ends = time.process_time() + seconds

    def probe(self, frames: Sequence[int]) -> Callable[[int, Any], Any]:
        """Return the function that a rewritten cell calls with each value; ``frames`` are those of its expressions."""

        def observe(number: int, value: Any) -> Any:
            if number < 0:
                self.begun[number] += 1
            elif self.left > 0:
                self.left -= 1
                if self.left % 64 == 0 and time.process_time() > self.ends:
                    self.left = 0
                kept = self.series.setdefault(number, [])
                if len(kept) < MAX_SERIES:
                    kept.append(fingerprint(value))
                    self.tags.setdefault(number, []).append(self.begun[-frames[number]])
                first, _ = self.times.get(number, (self.left, 0))
                self.times[number] = first, self.left
            return value

        return observe

    @property
    def is_whole(self) -> bool:
        """Return whether nothing was left out."""
        return self.left > 0


def to_tree(series: Mapping[int, Sequence[Fingerprint]]) -> dict[str, Any]:
    """Return the series as plain data."""
    return {str(number): [_to_tree(one) for one in values] for number, values in series.items()}


def _to_tree(one: Fingerprint) -> list[Any]:
    return [one.kind, list(one.shape), list(one.moments), one.order, one.text, [_to_tree(item) for item in one.items]]
