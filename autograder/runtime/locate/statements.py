"""The statements of a cell's functions, with the slots of their expressions: what `edits` changes and restores."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..syntax import Span, changed_names, parse, span_of
from .alternatives import LOAD

# What may do something: a comprehension uses up what it goes through, and a dict may make the item that is read.
EFFECTS = (ast.Call, ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom, ast.ListComp, ast.SetComp, ast.DictComp,
           ast.GeneratorExp, ast.Subscript)
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp,
          ast.GeneratorExp)  # in which variables are others
Types = Mapping[Span, Collection[str]]  # what values of an expression were, by where it stands


@dataclass
class Function:
    """A function of a cell, and the names that may stand for each other in it."""

    node: ast.FunctionDef
    attributes: list[str]  # of self
    types: Types
    arguments: list[str] = field(init=False)
    variables: list[str] = field(init=False)  # with the arguments
    unread: dict[str, int] = field(init=False)  # the variables that are never read, with the line of the first store
    newer: dict[str, list[str]] = field(init=False)  # the unread ones that are made from a variable

    def __post_init__(self) -> None:
        args = self.node.args
        self.arguments = [argument.arg for argument in (*args.posonlyargs, *args.args, *args.kwonlyargs)
                          if argument.arg != "self"]
        names = [node.arg for node in ast.walk(self.node) if isinstance(node, ast.arg)]
        names += [node.id for node in ast.walk(self.node)
                  if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
        self.variables = [name for name in dict.fromkeys(names) if name != "_"]  # by convention it is never read
        self.unread = _unread_variables(self.node)
        self.newer = _newer_variables(self.node, self.unread)
        self._types_of: dict[str, set[str]] = defaultdict(set)
        for node in ast.walk(self.node):
            if isinstance(node, (ast.Name, ast.Attribute)):
                self._types_of[ast.unparse(node)].update(self.types.get(span_of(node), ()))

    def names_like(self, node: ast.expr) -> tuple[list[str], list[str]]:
        """Return the variables, and the attributes of self, whose values had a type that those of an expression had.

        A name of which no value was seen may have any.
        """
        types = set(self.types.get(span_of(node), ()))

        def is_like(name: str) -> bool:
            return not types or not self._types_of[name] or bool(self._types_of[name] & types)

        return list(filter(is_like, self.variables)), [name for name in self.attributes if is_like(f"self.{name}")]

    def variables_with(self, part: str) -> list[str]:
        """Return the variables of whose values a type had this part in its name."""
        return [name for name in self.names_with(part) if name in self.variables]

    def names_with(self, part: str) -> list[str]:
        """Return the variables, and the attributes of variables, of whose values a type had this part in its name."""
        return [name for name, types in self._types_of.items() if any(part in type_ for type_ in types)]

    @property
    def unread_arguments(self) -> list[str]:
        """The arguments of which no value was seen: they are not read."""
        return [name for name in self.arguments if not self._types_of[name]]

    def suiting(self, node: ast.expr, wrappers: Mapping[tuple[str, ...], tuple[str, ...]]) -> list[str]:
        """Return the wrappers that suit the values of an expression; all where none was seen."""
        kinds = {"array" if name.endswith("axes") else "number" if name in ("int", "float", "bool") else "other"
                 for name in self.types.get(span_of(node), ())}
        return [wrapper for suited, templates in wrappers.items() if not kinds or kinds & {*suited}
                for wrapper in templates]


@dataclass(frozen=True)
class Slot:
    """The field of a node, or the item of a field, that holds an expression."""

    parent: ast.AST
    name: str
    index: int | None = None

    def each(self, replacements: Iterable[ast.expr]) -> Iterator[Span]:
        """Put each of these in the place of the expression and yield its span; it is put back at the end."""
        holder: Any = vars(self.parent) if self.index is None else getattr(self.parent, self.name)
        key = self.name if self.index is None else self.index
        original = holder[key]
        for holder[key] in replacements:
            yield span_of(original)
        holder[key] = original


@dataclass(frozen=True)
class Statement:
    """A statement, the block that it stands in, and its function."""

    node: ast.stmt
    block: list[ast.stmt]
    function: Function

    def replaced(self, replacements: list[ast.stmt]) -> Iterator[Span]:
        """Put these in the place of the statement and yield its span; it is put back at the end."""
        at, original = self.block.index(self.node), list(self.block)
        self.block[at:at + 1] = replacements
        yield span_of(self.node)
        self.block[:] = original

    @property
    def loops_after(self) -> list[ast.For | ast.While]:
        """The loops in the same block after the statement, and those inside of them."""
        following = self.block[self.block.index(self.node) + 1:]
        return [node for later in following for node in ast.walk(later) if isinstance(node, (ast.For, ast.While))]

    def expressions(self, targets: bool = False) -> Iterator[tuple[ast.expr, Slot]]:
        """Yield the expressions of the statement and their slots; not those of statements inside it.

        With ``targets``, also the elements and slices that it stores into.
        """
        waiting: list[ast.AST] = [self.node]
        while waiting:
            parent = waiting.pop()
            for name, value in ast.iter_fields(parent):
                for index, node in enumerate(value if isinstance(value, list) else [value]):
                    if isinstance(node, (ast.expr, ast.comprehension, ast.keyword)):
                        waiting.append(node)
                    is_read = isinstance(getattr(node, "ctx", LOAD), ast.Load)
                    if isinstance(node, ast.expr) and (is_read or targets and isinstance(node, ast.Subscript)):
                        yield node, Slot(parent, name, index if isinstance(value, list) else None)


def statements_of(tree: ast.Module, types: Types) -> Iterator[Statement]:
    """Yield the statements of all functions, also of those in classes and in other functions; no docstrings."""
    attributes = list(dict.fromkeys(node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)
                                    and isinstance(node.value, ast.Name) and node.value.id == "self"))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            yield from _statements_in(node.body, Function(node, attributes, types))


def _statements_in(block: list[ast.stmt], function: Function) -> Iterator[Statement]:
    for node in block:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Raise)) or _is_docstring(node):
            continue
        yield Statement(node, block, function)
        for name in ("body", "orelse", "finalbody"):
            yield from _statements_in(getattr(node, name, []), function)


def without_effect(text: str, excluded: Collection[int] = ()) -> Span | None:
    """Return where a text has the first statement in a function that calls and stores nothing: `optimizer.step`.

    Not on the ``excluded`` lines.
    """
    found: list[Span] = []
    waiting: list[tuple[ast.AST, bool]] = [(parse(text) or ast.Module([], []), False)]
    while waiting:
        node, is_inside = waiting.pop()
        if isinstance(node, ast.Expr) and is_inside and not _is_docstring(node) and node.lineno not in excluded:
            if not any(isinstance(part, EFFECTS) for part in ast.walk(node)):
                found.append(span_of(node))
        elif not isinstance(node, ast.expr):
            is_inside = is_inside or isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
            waiting += [(child, is_inside) for child in ast.iter_child_nodes(node)]
    return min(found, default=None)


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def stored_name(node: ast.stmt) -> str:
    """Return the variable that an assignment stores; an empty string where it is not one name."""
    return node.targets[0].id if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) else ""


def head(node: ast.stmt) -> Span:
    """Return the span of a statement without the block that belongs to it."""
    match node:
        case ast.For(iter=last) | ast.While(test=last) | ast.If(test=last):
            return *span_of(node)[:2], *span_of(last)[2:]
        case ast.Try():
            return *span_of(node)[:2], node.lineno, node.col_offset + len("try")
        case ast.Match(subject=subject):
            return *span_of(node)[:2], *span_of(subject)[2:]
        case ast.With(items=[*_, ast.withitem(context_expr=last)]):
            return *span_of(node)[:2], *span_of(last)[2:]
    return span_of(node)


def _unread_variables(function: ast.FunctionDef) -> dict[str, int]:
    """Return the variables of a function that are never read, each with the line of its first store."""
    args = function.args
    waiting: list[ast.AST] = [*function.body]
    stores = [(node.lineno, node.arg) for node in (*args.posonlyargs, *args.args, *args.kwonlyargs)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            stores.append((node.lineno, node.id))
        if not isinstance(node, SCOPES):
            waiting += ast.iter_child_nodes(node)
    read = {node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    return {name: line for line, name in sorted(stores, reverse=True) if name not in {*read, "self"}}


def _newer_variables(function: ast.FunctionDef, unread: Collection[str]) -> dict[str, list[str]]:
    newer: dict[str, list[str]] = defaultdict(list)
    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            for name in sorted(changed_names(node) & {*unread}):
                for source in {one.id for one in ast.walk(node.value) if isinstance(one, ast.Name)}:
                    newer[source].append(name)
    return newer
