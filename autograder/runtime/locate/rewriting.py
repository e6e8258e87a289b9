"""Rewrite cells so that each expression in their functions reports its value; the spans are those of the original."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..syntax import NOT_PARSED, Span, changed_names, compiled, parse_module, root, span_of

OBSERVE = "_observe_"  # no two underscores in front: inside a class such a name would be another one
SKIPPED = (ast.Slice, ast.Starred, ast.Constant)  # report nothing themselves, their parts do
NAMED = (ast.Name, ast.Attribute, ast.Tuple, ast.List, ast.Dict)
UNCHANGED = (ast.AsyncFunctionDef, ast.JoinedStr, ast.Delete, ast.pattern)


@dataclass(frozen=True)
class Expression:
    """An expression of a cell that reports its value.

    ``is_after_statement``: it is a variable, read again after a statement that changes a part of it; the span is that
    of the statement. ``is_named``: it is a variable or an attribute, or a tuple, list or dict of expressions.
    ``is_indexed``: it is a variable or an attribute of which only an element or a part is read. ``is_given``: it is an
    argument that its function does not change, or an attribute of self that the cell does not, so that code elsewhere
    alone can make it wrong.
    """

    number: int
    function: str
    span: Span
    cell: int = 0  # in which it stands
    is_after_statement: bool = False
    is_named: bool = False
    is_indexed: bool = False
    is_given: bool = False

    def contains(self, other: Expression) -> bool:
        """Return whether another expression of this cell is a part of this one, or this one itself."""
        return (self.cell == other.cell
                and self.span[:2] <= other.span[:2] and other.span[2:] <= self.span[2:])


@dataclass
class InstrumentedCell:
    """The expressions of a cell that report their values, and the compiled code with these reports."""

    expressions: list[Expression]
    code: Any


def instrument(texts: Sequence[str]) -> list[InstrumentedCell]:
    """Return cells in which each expression of a function reports its value; a cell that is no Python is empty.

    Of a cell only the definitions of functions and classes are kept. The numbers of expressions go on from cell to
    cell.
    """
    cells: list[InstrumentedCell] = []
    first = 0
    for index, text in enumerate(texts):
        try:
            tree = parse_module(text)
            tree.body = [node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
            rewriter = _Rewriter(index, first, _changed_attributes(tree))
            rewritten = ast.fix_missing_locations(rewriter.visit(tree))
            cells.append(InstrumentedCell(rewriter.expressions, compiled(rewritten, "<observed>")))
        except NOT_PARSED:
            cells.append(InstrumentedCell([], None))
            continue
        first += len(rewriter.expressions)
    return cells


def _changed_attributes(tree: ast.Module) -> set[str]:
    """Return the attributes that code stores, writes into, or reads something of, which may change it."""
    nodes = list(ast.walk(tree))
    changed = {node.attr for node in nodes if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load)}
    changed |= {node.value.attr for node in nodes
                if isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.value, ast.Attribute)
                and (isinstance(node, ast.Attribute) or not isinstance(node.ctx, ast.Load))}
    return changed | {node.name for node in nodes if isinstance(node, ast.FunctionDef)}


class _Rewriter(ast.NodeTransformer):
    def __init__(self, cell: int, first: int, changed_attributes: set[str]) -> None:
        self.cell, self.first = cell, first  # the number of its first expression
        self.changed_attributes = changed_attributes
        self.expressions: list[Expression] = []
        self.functions: list[str] = []  # around the node, the innermost last
        self.given: list[set[str]] = []  # the arguments of each that it does not change

    def _reporting(self, node: ast.expr, location: ast.AST, **flags: bool) -> ast.expr:
        """Return a call that reports the value of an expression with its number, and returns the value."""
        number = self.first + len(self.expressions)
        self.expressions.append(Expression(number, self.functions[-1], span_of(location), self.cell, **flags))
        call = ast.Call(ast.Name(OBSERVE, ast.Load()), [ast.Constant(number), node], [])
        return ast.fix_missing_locations(ast.copy_location(call, location))

    def visit(self, node: ast.AST) -> Any:
        visitor = getattr(self, f"visit_{type(node).__name__}", None)
        if visitor:
            return visitor(node)
        if isinstance(node, UNCHANGED) or isinstance(getattr(node, "ctx", None), ast.Store):
            return node
        if self.functions and isinstance(node, ast.expr) and not isinstance(node, SKIPPED):
            return self._expression(node)
        return self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.functions.append(node.name)
        arguments = {one.arg for one in ast.walk(node.args) if isinstance(one, ast.arg)}
        self.given.append(arguments.difference(*map(changed_names, node.body)))
        node.body = self._block(node.body)
        self.functions.pop()
        self.given.pop()
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        node.body = [self.visit(statement) if isinstance(statement, (ast.FunctionDef, ast.ClassDef)) else statement
                     for statement in node.body]
        return node

    def _block(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        block: list[ast.stmt] = []
        for statement in statements:
            result = self.visit(statement)
            block += result if isinstance(result, list) else [result]
        return block

    def _expression(self, node: ast.expr) -> ast.expr:
        if isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant):
            return node
        if isinstance(node, (ast.Yield, ast.YieldFrom, ast.Await, ast.NamedExpr)):
            node.value = self.visit(node.value) if node.value else None
            return node
        original, is_given = node, self._is_given(node)
        if isinstance(node, ast.Call) and isinstance(node.func, (ast.Name, ast.Attribute)):
            if isinstance(node.func, ast.Attribute):  # the function itself is not observed
                node.func.value = self.visit(node.func.value)
            node.args = [self.visit(argument) for argument in node.args]
            node.keywords = [self.visit(keyword) for keyword in node.keywords]
        elif isinstance(node, ast.Lambda):
            node.body = self.visit(node.body)
        elif isinstance(node, ast.Subscript):
            is_named = isinstance(node.value, (ast.Name, ast.Attribute))
            node.value = self.visit(node.value)
            if is_named:
                self.expressions[-1] = replace(self.expressions[-1], is_indexed=True)
            if isinstance(node.slice, ast.Tuple):
                node.slice.elts = [self.visit(index) for index in node.slice.elts]
            else:
                node.slice = self.visit(node.slice)
        else:
            self.generic_visit(node)
        return self._reporting(node, original, is_named=isinstance(original, NAMED), is_given=is_given)

    def _is_given(self, node: ast.expr) -> bool:
        match node:
            case ast.Name(id=name):
                return any(name in names for names in self.given)
            case ast.Attribute(value=ast.Name(id="self"), attr=name):
                return name not in self.changed_attributes
        return False

    def visit_Assign(self, node: ast.Assign) -> Any:
        if not self.functions:
            return node
        node.value = self.visit(node.value)
        changed = (root(target) for target in node.targets if isinstance(target, ast.Subscript))
        return [node, *(ast.Expr(self._variable_after(name, node)) for name in changed if name)]

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        if self.functions and node.value:
            node.value = self.visit(node.value)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        if not self.functions:
            return node
        node.value = self.visit(node.value)
        if isinstance(node.target, ast.Name):
            return [node, ast.Assign([ast.Name(node.target.id, ast.Store())],
                                     self._variable_after(node.target.id, node))]
        name = root(node.target) if isinstance(node.target, ast.Subscript) else None
        return [node, ast.Expr(self._variable_after(name, node))] if name else node

    def visit_Return(self, node: ast.Return) -> ast.AST:
        if isinstance(node.value, ast.Constant) and node.value.value is not None and self.functions:
            node.value = self._reporting(node.value, node.value)
        elif node.value:
            node.value = self.visit(node.value)
        return node

    def _variable_after(self, name: str, statement: ast.stmt) -> ast.expr:
        """Return a call that reports the value of a variable after a statement."""
        return self._reporting(ast.Name(name, ast.Load()), statement, is_after_statement=True)
