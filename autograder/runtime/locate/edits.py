"""Edit a cell in one place, in the ways in which people mend their code.

Each edit is one changed expression, or one statement that goes, moves or decides otherwise. What it is good for is
found out by running it (`repair`).
"""

from __future__ import annotations

import ast
import contextlib
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ..syntax import Span, code_lines
from .exchanges import LOAD, OPERATORS, similar

LATE = 5  # lines
RIGHT = 8  # lines: where all values are right, edits come so much later
BLOCKS = (ast.For, ast.While, ast.If, ast.With)
# Who names one of these reaches beyond the checks: what an edit of that would do, nobody knows.
OUTSIDE = {"open", "os", "shutil", "subprocess", "pathlib", "Path", "sys", "socket", "exec", "eval", "input", "save",
           "signal", "threading", "multiprocessing", "ctypes"}
# What an expression may lack: a sign, a power, a transposed axis.
WRAPS = ("-{}", "1 - {}", "{} + 1", "{} - 1", "{} ** 2", "{} ** 0.5", "not {}", "{}.T", "{}.transpose(0, 1)",
         "{}.transpose(-1, -2)", "{}.log()", "{}.exp()", "{}.sum(0)", "{}[1:]", "{}[:-1]", "reversed({})")
COPIES = ("{}.clone()", "list({})", "dict({})")


@dataclass(frozen=True)
class Edit:
    """A cell with one place edited: where that is in the original, the statement around it, the text afterwards."""

    span: Span
    statement: Span
    text: str


@dataclass
class _Function:
    """A function of a cell, and the names that may stand for each other in it."""

    node: ast.FunctionDef
    attributes: list[str]  # of self
    arguments: list[str] = field(init=False)
    variables: list[str] = field(init=False)  # with the arguments

    def __post_init__(self) -> None:
        own = self.node.args
        self.arguments = [one.arg for one in (*own.posonlyargs, *own.args, *own.kwonlyargs) if one.arg != "self"]
        found = [one.arg for one in ast.walk(self.node) if isinstance(one, ast.arg)]
        found += [one.id for one in ast.walk(self.node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)]
        self.variables = list(dict.fromkeys(found))


@dataclass(frozen=True)
class _Slot:
    """Where an expression hangs in the tree."""

    parent: ast.AST
    name: str
    index: int | None

    def put(self, new: ast.expr) -> None:
        """Hang another one there."""
        if self.index is None:
            setattr(self.parent, self.name, new)
        else:
            getattr(self.parent, self.name)[self.index] = new


@dataclass(frozen=True)
class _Statement:
    """A statement, the block that it stands in, and its function."""

    node: ast.stmt
    block: list[ast.stmt]
    function: _Function

    def expressions(self) -> Iterator[tuple[ast.expr, _Slot]]:
        """Yield the expressions of the statement, without those of statements inside it, and where each hangs."""
        waiting: list[ast.AST] = [self.node]
        while waiting:
            parent = waiting.pop()
            for name, value in ast.iter_fields(parent):
                for index, one in enumerate(value if isinstance(value, list) else [value]):
                    if isinstance(one, (ast.expr, ast.comprehension, ast.keyword)):
                        waiting.append(one)
                    if isinstance(one, ast.expr) and isinstance(getattr(one, "ctx", LOAD), ast.Load):
                        yield one, _Slot(parent, name, index if isinstance(value, list) else None)


def edits(text: str, line: int, known: Sequence[int] = ()) -> Iterator[Edit | None]:
    """Yield the edits of a cell's functions, each text once, and None for one that was there: the nearer, the sooner.

    Near is to a line. Statements above it come before those as far below it, the lines that are ``known`` to be right
    late, and what an expression may lack later than what is wrong with one. Nothing is yielded where the text is no
    Python, or reaches files or processes.
    """
    try:
        tree = ast.parse(text)
        lines = _definitions(tree, code_lines(text))
        done = {ast.unparse(one.function.node) for one in _statements(tree)}
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    if OUTSIDE & {getattr(one, "id", getattr(one, "attr", "")) for one in ast.walk(tree)}:
        return
    tried = [(share * _distance(one.node, line) + (RIGHT if one.node.lineno in known else 0) + later, ways, one)
             for one in _statements(tree) for ways, share, later in WAYS]
    for _, ways, statement in sorted(tried, key=lambda one: one[0]):
        head = _head(statement.node)
        for span in ways(statement):
            made = ""
            with contextlib.suppress(Exception):  # no tree that could be written down
                made = ast.unparse(statement.function.node)
            text = _with(lines, statement.function.node, made) if made and made not in done else ""
            yield Edit(span, span if ways is _moved else head, text) if text else None
            done.add(made)


def _definitions(tree: ast.Module, lines: list[str]) -> list[str]:
    """Keep of a tree and of its lines what defines functions and classes; the other lines are empty."""
    found = [one for one in tree.body if isinstance(one, (ast.FunctionDef, ast.ClassDef))]
    tree.body = [*found]
    kept = {number for one in found for number in range(_first(one), (one.end_lineno or 0) + 1)}
    return [line if number in kept else "" for number, line in enumerate(lines, 1)]


def _with(lines: list[str], function: ast.FunctionDef, made: str) -> str:
    """Return lines with another text of a function, in one."""
    own = textwrap.indent(made, lines[function.lineno - 1][:function.col_offset]).splitlines()
    return "\n".join([*lines[:_first(function) - 1], *own, *lines[function.end_lineno:]])


def _first(node: ast.FunctionDef | ast.ClassDef) -> int:
    return min([node.lineno, *(one.lineno for one in node.decorator_list)])


def _distance(statement: ast.stmt, line: int) -> int:
    first, last = _span(statement)[0], _head(statement)[2]
    return 2 * (line - last) if last < line else 3 * max(0, first - line)


def _statements(tree: ast.Module) -> Iterator[_Statement]:
    attributes = list(dict.fromkeys(one.attr for one in ast.walk(tree) if isinstance(one, ast.Attribute)
                                    and isinstance(one.value, ast.Name) and one.value.id == "self"))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            yield from _within(node.body, _Function(node, attributes))


def _within(block: list[ast.stmt], function: _Function) -> Iterator[_Statement]:
    for one in block:
        if isinstance(one, (ast.FunctionDef, ast.ClassDef, ast.Raise)) or _is_text(one):
            continue
        yield _Statement(one, block, function)
        for name in ("body", "orelse", "finalbody"):
            yield from _within(getattr(one, name, []), function)


def _is_text(one: ast.stmt) -> bool:
    return isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)


def _span(node: ast.stmt | ast.expr) -> Span:
    return node.lineno, node.col_offset, node.end_lineno or node.lineno, node.end_col_offset or node.col_offset


def _head(node: ast.stmt) -> Span:
    """Return the span of a statement without the block that belongs to it."""
    match node:
        case ast.For(iter=last) | ast.While(test=last) | ast.If(test=last):
            return *_span(node)[:2], *_span(last)[2:]
        case ast.With(items=[*_, ast.withitem(context_expr=last)]):
            return *_span(node)[:2], *_span(last)[2:]
    return _span(node)


def _together(first: ast.stmt, last: ast.stmt) -> Span:
    return *_span(first)[:2], *_head(last)[2:]


# The tree is changed while a span is yielded, and as it was afterwards.


def _exchanged(statement: _Statement) -> Iterator[Span]:
    """Replace an expression of a statement by a similar one or a part."""
    for node, slot in statement.expressions():
        for other in similar(node, statement.function.variables, statement.function.attributes):
            slot.put(other)
            yield _span(node)
        slot.put(node)


def _wrapped(statement: _Statement) -> Iterator[Span]:
    """Add to an expression of a statement what it may lack."""
    for node, slot in statement.expressions():
        if not isinstance(node, (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.BinOp, ast.Compare, ast.BoolOp)):
            continue
        for form in WRAPS:
            slot.put(_filled(form, node))
            yield _span(node)
        if isinstance(node, ast.Call):
            for name in ("True", "False", *statement.function.variables):
                slot.put(ast.Call(node.func, [*node.args, ast.Name(name, LOAD)], node.keywords))
                yield _span(node)
        slot.put(node)


def _joined(statement: _Statement) -> Iterator[Span]:
    """Join a variable to what a statement stores or returns: a summand or a factor that it may lack."""
    node = statement.node
    if not isinstance(node, (ast.Assign, ast.Return, ast.AugAssign)) or node.value is None:
        return
    value = node.value
    for name in statement.function.variables:
        for kind in (ast.Add, ast.Mult, ast.Sub, ast.Div):
            node.value = ast.BinOp(value, kind(), ast.Name(name, LOAD))
            yield _span(value)
    node.value = value


def _filled(form: str, node: ast.expr) -> ast.expr:
    return ast.parse(form.format(f"({ast.unparse(node)})"), mode="eval").body


def _moved(statement: _Statement) -> Iterator[Span]:
    """Drop a statement, or move it by one line, into a loop behind it, or into or out of a block."""
    node, block, at = statement.node, statement.block, statement.block.index(statement.node)
    kept, span = list(block), _head(node)
    block[at:at + 1] = [] if len(block) > 1 else [ast.Pass()]
    yield _span(node)
    block[:] = kept
    behind = block[at + 1] if at + 1 < len(block) else None
    if behind is not None:
        block[at:at + 2] = [behind, node]
        yield _together(node, behind)
        block[:] = kept
    loops = [one for other in kept[at + 1:] for one in ast.walk(other) if isinstance(one, (ast.For, ast.While))]
    above = kept[at - 1] if at else None
    for inner, index in (*((one.body, 0) for one in loops), *([(above.body, -1)] if isinstance(above, BLOCKS) else [])):
        before = list(inner)
        inner[:] = [node, *before] if index == 0 else [*before, node]
        del block[at]
        yield span
        inner[:], block[:] = before, kept
    if isinstance(node, BLOCKS) and len(node.body) > 1:
        inner, before = node.body, list(node.body)
        for taken in before:
            inner[:] = [one for one in before if one is not taken]
            for new in ([taken, node], [node, taken]):
                block[at:at + 1] = new
                yield _head(taken)
                block[:] = kept
            inner[:] = before


def _decided(statement: _Statement) -> Iterator[Span]:
    """Have a statement decide otherwise, or store another thing: a condition, what is added, a copy."""
    node, block = statement.node, statement.block
    if isinstance(node, (ast.If, ast.While)):
        test = node.test
        others: list[ast.expr] = [ast.UnaryOp(ast.Not(), test), ast.Constant(False)]
        others += [ast.Constant(True)] * isinstance(node, ast.If)
        for name in statement.function.arguments:
            one = ast.Name(name, LOAD)
            others += [ast.BoolOp(ast.And(), [asked, test]) for asked in (one, ast.UnaryOp(ast.Not(), one))]
        for other in others:
            node.test = other
            yield _span(test)
        node.test = test
    if isinstance(node, ast.AugAssign):
        operator, at = node.op, block.index(node)
        for kind in OPERATORS:
            node.op = kind()
            yield _span(node)
        node.op = operator
        if isinstance(node.target, ast.Name):
            apart = ast.BinOp(ast.Name(node.target.id, LOAD), operator, node.value)
            for value in (apart, node.value):
                block[at] = ast.copy_location(ast.Assign([node.target], value), node)
                yield _span(node)
            block[at] = node
    if isinstance(node, ast.Assign) and isinstance(node.value, (ast.Name, ast.Attribute)):
        shared = node.value
        for form in COPIES:
            node.value = _filled(form, shared)
            yield _span(shared)
        node.value = shared


def _stored(statement: _Statement) -> Iterator[Span]:
    """Store in another variable."""
    places = ast.walk(statement.node) if isinstance(statement.node, ast.Assign) else ()
    for target in [one for one in places if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)]:
        own = target.id
        for name in statement.function.variables:
            target.id = name
            yield _span(target)
        target.id = own


# With the share of the distance that counts, and by how many lines more they come later: of some there are few.
WAYS = ((_moved, 0.25, 0), (_decided, 0.5, 0), (_exchanged, 1, 0), (_stored, 1, LATE), (_wrapped, 1, LATE),
        (_joined, 1, 2 * LATE))
