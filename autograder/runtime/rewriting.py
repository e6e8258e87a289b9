"""Rewrite a cell so that the value of each expression in its functions is seen, and its text stays where it stands."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from .syntax import PROBE, Span, called, is_pure, is_sized, root, stored, variable

SKIPPED = (ast.expr_context, ast.operator, ast.boolop, ast.unaryop, ast.cmpop, ast.arguments, ast.keyword, ast.Slice,
           ast.Starred, ast.JoinedStr, ast.FormattedValue, ast.Constant, ast.comprehension)
GROWING = {"append", "extend", "insert", "add", "update", "appendleft", "setdefault"}
COMPUTED = {"T", "mT", "H", "mH", "real", "imag", "grad"}  # attributes that are no plain reading of what is there


@dataclass(frozen=True)
class Expression:
    """One observed expression of a cell: where it stands, and which observed ones go into it.

    ``kind``: "value" of an expression, "name" of a variable, an attribute or what puts such together, "return" of what
    a function gives back, "statement" of what a variable holds behind a statement that changes it, or "filled" of one
    that a loop fills piece by piece. ``loop`` is the head of its loop.
    """

    number: int
    kind: str
    function: str
    span: Span
    inputs: tuple[int, ...] = ()
    sources: tuple[int, ...] = ()  # of a name: the expressions that it was assigned
    sized: bool = False  # it says how large something is, or of which type: what it is made of does not go on
    frame: int = 0  # the function or the loop in which it stands
    loop: Span | None = None  # the head of that loop
    cell: int = 0  # in which it stands
    calls: str = ""  # the function that it calls by name, or the method of the same object
    pure: bool = True  # it is no call, or one of a library, or of what an array has
    reads: bool = False  # it is an element or a part of something
    bound: frozenset[int] = frozenset()  # of its sources, those that a local variable holds alone from then on


@dataclass
class WatchedCell:
    """The expressions of a cell, and its text compiled so that they are observed."""

    expressions: list[Expression]
    code: Any
    sums: dict[int, tuple[tuple[int, int], ...]] = field(default_factory=dict)  # of each sum, its terms and their signs


def cells_of(texts: Sequence[str], whole: bool = False) -> list[WatchedCell]:
    """Return cells with the expressions of their functions observed; of those that are no Python, nothing.

    They are taken as far as they define functions and classes, unless they are to be run as a ``whole``. Numbers go on
    from cell to cell.
    """
    cells: list[WatchedCell] = []
    first = frames = 0
    for index, text in enumerate(texts):
        try:
            tree = ast.parse(text)
            if not whole:
                tree.body = [one for one in tree.body if isinstance(one, (ast.FunctionDef, ast.ClassDef))]
            rewriter = _Rewriter(index, first, frames)
            made = ast.fix_missing_locations(rewriter.visit(tree))
            cells.append(WatchedCell(rewriter.finished(), compile(made, "<observed>", "exec"), rewriter.sums))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            cells.append(WatchedCell([], None))
            continue
        first, frames = first + len(rewriter.expressions), rewriter.framed
    return cells


@dataclass(eq=False)
class _Scope:
    """A function while it is rewritten: which expressions each of its variables was assigned."""

    name: str
    sources: dict[str, list[int]] = field(default_factory=dict)
    bound: dict[str, set[int]] = field(default_factory=dict)
    loads: list[tuple[int, str]] = field(default_factory=list)


class _Rewriter(ast.NodeTransformer):
    def __init__(self, cell: int, first: int, framed: int) -> None:
        self.cell = cell
        self.first = first  # number of the cell's first expression
        self.expressions: list[Expression] = []
        self.scopes: list[_Scope] = []
        self.children: list[list[int]] = [[]]  # of the expression that is being visited
        self.names: dict[int, tuple[_Scope, str]] = {}
        self.stored: dict[int, tuple[_Scope, str]] = {}  # by statement: the function and the variable that it changes
        self.objects = _Scope("")
        self.frames: list[tuple[int, Span | None]] = []  # functions and loops around a place
        self.framed = framed  # of them so far
        self.sums: dict[int, tuple[tuple[int, int], ...]] = {}

    def finished(self) -> list[Expression]:
        """Return the expressions, each name with what it was assigned.

        What is stored in a variable before a loop fills it is a piece of it, too.
        """
        made = []
        filled = {self.stored[one.number] for one in self.expressions if one.kind == "filled"}
        for one in self.expressions:
            if self.stored.get(one.number) in filled:
                one = replace(one, kind="filled")
            if one.number in self.names:
                scope, name = self.names[one.number]
                sources = tuple(dict.fromkeys(n for n in scope.sources.get(name, ()) if n != one.number))
                one = replace(one, sources=sources, bound=frozenset(scope.bound.get(name, ())))
            made.append(one)
        return made

    def _span(self, node: ast.AST) -> Span:
        return (getattr(node, "lineno", 1), getattr(node, "col_offset", 0), getattr(node, "end_lineno", 1) or 1,
                getattr(node, "end_col_offset", 0) or 0)

    def _new(self, kind: str, node: ast.AST, inputs: Sequence[int], sized: bool = False, calls: str = "",
             pure: bool = True, reads: bool = False) -> int:
        number = self.first + len(self.expressions)
        self.expressions.append(Expression(number, kind, self.scopes[-1].name, self._span(node), tuple(inputs), (),
                                           sized, *self.frames[-1], self.cell, calls, pure, reads))
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

    def _enter(self, node: ast.stmt, loop: Span | None) -> ast.stmt:
        """A statement that says that a function or a loop begins."""
        self.framed += 1
        self.frames.append((self.framed, loop))
        call = ast.Call(ast.Name(PROBE, ast.Load()), [ast.Constant(-self.framed), ast.Constant(None)], [])
        return ast.fix_missing_locations(ast.copy_location(ast.Expr(call), node))

    visit_AsyncFunctionDef = None  # type: ignore[assignment]

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        node.body = [self.visit(one) if isinstance(one, (ast.FunctionDef, ast.ClassDef)) else one for one in node.body]
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
        if isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant):
            return node
        if isinstance(node, (ast.Yield, ast.YieldFrom, ast.Await)):
            self.generic_visit(node)
            return node
        at = node
        self.children.append([])
        facts = is_sized(node), called(node), is_pure(node), isinstance(node, ast.Subscript)
        stored_as = variable(node)
        if isinstance(node, ast.Name):
            kind = "name"
        elif stored_as or isinstance(node, (ast.Tuple, ast.List, ast.Dict)) or (
                isinstance(node, ast.Attribute) and node.attr not in COMPUTED):
            kind = "name"
            self.generic_visit(node)
        else:
            kind = "value"
            if isinstance(node, ast.Call):
                self._visit_call(node)
            elif isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)):
                self._visit_comprehension(node)
            elif isinstance(node, ast.Lambda):
                node.body, _ = self._valued(node.body)
            elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple):
                node.value = self.visit(node.value)
                node.slice.elts = [self.visit(one) for one in node.slice.elts]
            else:
                self.generic_visit(node)
        inputs = self.children.pop()
        number = self._new(kind, at, inputs, *facts)
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)) and len(inputs) == 2:
            left, right = (self.sums.get(one, ((one, 1),)) for one in inputs)
            sign = 1 if isinstance(node.op, ast.Add) else -1
            self.sums[number] = (*left, *((term, sign * own) for term, own in right))
        if stored_as:
            self.names[number] = (self._scope_of(stored_as), stored_as)
        self.children[-1].append(number)
        return node if isinstance(node, ast.GeneratorExp) else self._call(number, node, at)

    def _visit_call(self, node: ast.Call) -> None:
        """The function of a call is not observed; of a method, what it is a method of, unless it grows."""
        grows = isinstance(node.func, ast.Attribute) and node.func.attr in GROWING and variable(node.func.value)
        if isinstance(node.func, ast.Attribute):
            node.func.value = node.func.value if grows else self.visit(node.func.value)
        elif not isinstance(node.func, ast.Name):
            node.func = self.visit(node.func)
        node.args = [self.visit(one) for one in node.args]
        for keyword in node.keywords:
            keyword.value = self.visit(keyword.value)
        if isinstance(node.func, ast.Attribute) and node.func.attr in GROWING:
            name = root(node.func.value)
            if name:
                self.scopes[-1].sources.setdefault(name, []).extend(self.children[-1][0 if grows else 1:])

    def _visit_comprehension(self, node: Any) -> None:
        for one in node.generators:
            before = len(self.children[-1])
            one.iter = self.visit(one.iter)
            self._assign(one.target, self.children[-1][before:], once=False)
            one.ifs = [self.visit(test) for test in one.ifs]
        if isinstance(node, ast.DictComp):
            node.key, node.value = self.visit(node.key), self.visit(node.value)
        else:
            node.elt = self.visit(node.elt)

    def _scope_of(self, name: str) -> _Scope:
        """Where a variable lives: what belongs to an object is shared by its methods."""
        return self.objects if "." in name else self.scopes[-1]

    def _assign(self, target: ast.AST, sources: Sequence[int], once: bool = True) -> None:
        """Keep what a variable is assigned, ``once`` when it is evaluated or, as in the head of a loop, many times."""
        for name in stored(target):
            self._scope_of(name).sources.setdefault(name, []).extend(sources)
            if once and "." not in name and not any(isinstance(one, ast.Subscript) for one in ast.walk(target)):
                self._scope_of(name).bound.setdefault(name, set()).update(sources)

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
            name = root(target)
            if name is None or isinstance(target, ast.Attribute):
                continue
            filled = isinstance(target, ast.Subscript) and self.frames[-1][1]
            number = self._new("filled" if filled else "statement", node, tops)
            self.scopes[-1].sources.setdefault(name, []).append(number)
            self.stored[number] = self.scopes[-1], name
            made.append(ast.fix_missing_locations(ast.copy_location(
                ast.Expr(self._call(number, ast.Name(name, ast.Load()), node)), node)))
        return made

    def visit_For(self, node: ast.For) -> Any:
        if not self.scopes:
            return node
        node.iter, tops = self._valued(node.iter)
        self._assign(node.target, tops, once=False)
        head, first = self._span(node.iter), self._span(node)
        return self._looped(node, (*first[:2], *head[2:]))

    def visit_While(self, node: ast.While) -> Any:
        if not self.scopes:
            return node
        head, first = self._span(node.test), self._span(node)
        return self._looped(node, (*first[:2], *head[2:]))

    def _looped(self, node: Any, head: Span) -> Any:
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
