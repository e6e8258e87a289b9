"""Rewrite a cell so that the value of each expression in its functions is seen, and its text stays where it stands."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..syntax import PROBE, Span, root

SKIPPED = (ast.Slice, ast.Starred, ast.Constant)
NAMED = (ast.Name, ast.Attribute, ast.Tuple, ast.List, ast.Dict)
LEFT = (ast.JoinedStr, ast.Delete, ast.pattern)  # as they are


@dataclass(frozen=True)
class Expression:
    """One observed expression of a cell: where it stands.

    A ``statement`` is what a variable holds behind a statement that changes a part of it. ``named``: it is a variable,
    an attribute, or puts such together.
    """

    number: int
    function: str
    span: Span
    cell: int = 0  # in which it stands
    statement: bool = False
    named: bool = False


@dataclass
class WatchedCell:
    """The expressions of a cell, and its text compiled so that they are observed."""

    expressions: list[Expression]
    code: Any


def cells_of(texts: Sequence[str]) -> list[WatchedCell]:
    """Return cells with the expressions of their functions observed; of those that are no Python, nothing.

    They are taken as far as they define functions and classes. Numbers go on from cell to cell.
    """
    cells: list[WatchedCell] = []
    first = 0
    for index, text in enumerate(texts):
        try:
            tree = ast.parse(text)
            tree.body = [one for one in tree.body if isinstance(one, (ast.FunctionDef, ast.ClassDef))]
            rewriter = _Rewriter(index, first)
            made = ast.fix_missing_locations(rewriter.visit(tree))
            cells.append(WatchedCell(rewriter.expressions, compile(made, "<observed>", "exec")))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            cells.append(WatchedCell([], None))
            continue
        first += len(rewriter.expressions)
    return cells


class _Rewriter(ast.NodeTransformer):
    def __init__(self, cell: int, first: int) -> None:
        self.cell, self.first = cell, first  # the number of its first expression
        self.expressions: list[Expression] = []
        self.functions: list[str] = []  # around a place

    def _observed(self, node: ast.expr, at: ast.AST, **facts: bool) -> ast.expr:
        """Return the call that hands on what an expression is, with its number."""
        number = self.first + len(self.expressions)
        self.expressions.append(Expression(number, self.functions[-1], _span(at), self.cell, **facts))
        made = ast.Call(ast.Name(PROBE, ast.Load()), [ast.Constant(number), node], [])
        return ast.fix_missing_locations(ast.copy_location(made, at))

    def visit(self, node: ast.AST) -> Any:
        special = getattr(self, f"visit_{type(node).__name__}", None)
        if special:
            return special(node)
        if isinstance(node, LEFT):
            return node
        if self.functions and isinstance(node, ast.expr) and not isinstance(node, SKIPPED) and isinstance(
                getattr(node, "ctx", ast.Load()), ast.Load):
            return self._expression(node)
        return self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.functions.append(node.name)
        node.body = self._block(node.body)
        self.functions.pop()
        return node

    def visit_AsyncFunctionDef(self, node: ast.AST) -> ast.AST:
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        node.body = [self.visit(one) if isinstance(one, (ast.FunctionDef, ast.ClassDef)) else one for one in node.body]
        return node

    def _block(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        made: list[ast.stmt] = []
        for one in statements:
            result = self.visit(one)
            made += result if isinstance(result, list) else [result]
        return made

    def _expression(self, node: ast.expr) -> ast.expr:
        if isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant):
            return node
        if isinstance(node, (ast.Yield, ast.YieldFrom, ast.Await, ast.NamedExpr)):
            node.value = self.visit(node.value) if node.value else None
            return node
        at = node
        if isinstance(node, ast.Call) and isinstance(node.func, (ast.Name, ast.Attribute)):
            if isinstance(node.func, ast.Attribute):  # the function itself is not observed
                node.func.value = self.visit(node.func.value)
            node.args = [self.visit(one) for one in node.args]
            node.keywords = [self.visit(one) for one in node.keywords]
        elif isinstance(node, ast.Lambda):
            node.body = self.visit(node.body)
        elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple):
            node.value = self.visit(node.value)
            node.slice.elts = [self.visit(one) for one in node.slice.elts]
        else:
            self.generic_visit(node)
        return self._observed(node, at, named=isinstance(at, NAMED))

    def visit_Assign(self, node: ast.Assign) -> Any:
        if not self.functions:
            return node
        node.value = self.visit(node.value)
        changed = (root(one) for one in node.targets if isinstance(one, ast.Subscript))
        return [node, *(ast.Expr(self._held(name, node)) for name in changed if name)]

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        if self.functions and node.value:
            node.value = self.visit(node.value)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        if not self.functions:
            return node
        node.value = self.visit(node.value)
        if isinstance(node.target, ast.Name):
            return [node, ast.Assign([ast.Name(node.target.id, ast.Store())], self._held(node.target.id, node))]
        name = root(node.target) if isinstance(node.target, ast.Subscript) else None
        return [node, ast.Expr(self._held(name, node))] if name else node

    def _held(self, name: str, node: ast.stmt) -> ast.expr:
        """Return the call that hands on what a variable holds behind a statement."""
        return self._observed(ast.Name(name, ast.Load()), node, statement=True)

    def visit_For(self, node: ast.For) -> Any:
        node.iter = self.visit(node.iter)
        node.body, node.orelse = self._block(node.body), self._block(node.orelse)
        return node

    def visit_comprehension(self, node: ast.comprehension) -> Any:
        node.iter, node.ifs = self.visit(node.iter), [self.visit(one) for one in node.ifs]
        return node

    def visit_With(self, node: ast.With) -> Any:
        for item in node.items:
            item.context_expr = self.visit(item.context_expr)
        node.body = self._block(node.body)
        return node


def _span(node: ast.AST) -> Span:
    return (getattr(node, "lineno", 1), getattr(node, "col_offset", 0), getattr(node, "end_lineno", 1) or 1,
            getattr(node, "end_col_offset", 0))
