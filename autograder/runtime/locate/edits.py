"""Edit a cell in one place, in the ways in which people mend their code.

Each edit changes one expression, drops or moves one statement, or changes its condition. `repair` runs the edited cell
to find out whether it passes.
"""

from __future__ import annotations

import ast
import contextlib
import textwrap
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from ..place import EditKind
from ..syntax import (
    NOT_PARSED,
    Span,
    changed_names,
    code_lines,
    first_line,
    parse_expression,
    parse_module,
    root,
    span_of,
)
from .alternatives import LOAD, OPERATORS, reordered, similar_expressions
from .statements import Slot, Statement, Types, head, statements_of, stored_name

MATCHED_PENALTY = 4  # lines that are added to the distance of a statement where all values are right
BLOCKS = (ast.For, ast.While, ast.If, ast.With)
# An edit of code that uses one of these may reach beyond the process, with unknown effects.
OUTSIDE = {"open", "os", "shutil", "subprocess", "pathlib", "Path", "sys", "socket", "exec", "eval", "input", "save",
           "signal", "threading", "multiprocessing", "ctypes"}
# What an expression may lack: a sign, a power, a transposed axis; by the values that it suits.
WRAPPERS = {
    ("number", "array"): ("{} + 1",),
    ("number",): ("{} - 1",),
    ("array",): ("{}.T", "{}.transpose(0, 1)", "{}.transpose(-1, -2)"),
}
RARE_WRAPPERS = {
    ("number", "array"): ("-{}", "1 - {}", "{} ** 2", "{} ** 0.5"),
    ("number", "other"): ("not {}",),
    ("array",): ("{} - 1", "{}.log()", "{}.exp()", "{}.sum(0)"),
    ("array", "other"): ("{}[1:]", "{}[:-1]", "reversed({})"),
}
COPIES = ("{}.clone()", "list({})", "dict({})")


@dataclass(frozen=True)
class Edit:
    """A cell with one place edited: its span in the original, that of the statement around it, and the new text.

    ``kind``: what was done to the statement. ``moved``: the variable that it stores, if it does not stay where it was.
    """

    span: Span
    statement: Span
    text: str
    kind: EditKind = "edit"
    moved: str = ""


def edits_of(text: str, near: Sequence[int], matched_lines: Collection[int], types: Types,
             skipped_lines: Collection[int] = ()) -> Iterator[Edit]:
    """Yield the edits of a cell's functions, each new text once, those ``near`` one of some lines first.

    Statements above a line come before those as far below it, and kinds of edits that mend many mistakes before
    others. Edits on the ``matched_lines``, where all values are right, come later. Statements on the ``skipped_lines``,
    which a check that fails does not reach, are only moved. A name is replaced by those whose values have its
    ``types``. Nothing is yielded for a text that is no Python, or that reaches files or processes.
    """
    try:
        tree = parse_module(text)
        lines = _keep_definitions(tree, code_lines(text))
        statements = list(statements_of(tree, types))
        texts = {_with_function(lines, function) for function in {statement.function.node for statement in statements}}
        texts |= {_with_statement(lines, statement, [statement.node]) for statement in statements}
    except NOT_PARSED:
        return
    if OUTSIDE & {getattr(node, "id", getattr(node, "attr", "")) for node in ast.walk(tree)}:
        return
    ranked = [(share * min(_distance(statement.node, line) for line in near) + later + (
                   MATCHED_PENALTY * (statement.node.lineno in matched_lines and operator is not _reorder_targets)),
               order, operator, statement)
              for order, (operator, share, later) in enumerate(REPAIR_OPERATORS) for statement in statements
              if OTHER_KINDS.get(operator) == "move" or statement.node.lineno not in skipped_lines]
    for *_, operator, statement in sorted(ranked, key=lambda entry: entry[:2]):
        kind, whole = OTHER_KINDS.get(operator, "edit"), head(statement.node)
        at = statement.block.index(statement.node)
        after = len(statement.block) - at - 1
        for span in operator(statement):
            text = ""
            with contextlib.suppress(Exception):  # some edited trees have no text
                text = (_with_function(lines, statement.function.node) if kind == "move"
                        else _with_statement(lines, statement, statement.block[at:len(statement.block) - after]))
            if text and text not in texts:
                texts.add(text)
                yield (Edit(span, whole, text) if kind == "edit"
                       else Edit(span, span, text, kind, stored_name(statement.node)))


def _keep_definitions(tree: ast.Module, lines: list[str]) -> list[str]:
    """Keep in a tree only the functions and classes; return its lines, empty outside of these."""
    definitions = [node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    tree.body = [*definitions]
    kept = {number for node in definitions for number in range(first_line(node), (node.end_lineno or 0) + 1)}
    return [line if number in kept else "" for number, line in enumerate(lines, 1)]


def _with_function(lines: list[str], function: ast.FunctionDef) -> str:
    """Return the text of a cell with a function that was edited."""
    indented = textwrap.indent(ast.unparse(function), lines[function.lineno - 1][:function.col_offset]).splitlines()
    return "\n".join([*lines[:first_line(function) - 1], *indented, *lines[function.end_lineno:]])


def _with_statement(lines: list[str], statement: Statement, edited: list[ast.stmt]) -> str:
    """Return the text of a cell with what a statement became; with its function, if it shares a line with another."""
    first, column, last, end = span_of(statement.node)
    before, rest = lines[first - 1][:column], lines[last - 1].encode()[end:].strip()
    if before.strip() or rest and not rest.startswith(b"#") or lines[first - 1].startswith("elif", column):
        return _with_function(lines, statement.function.node)
    indented = textwrap.indent("\n".join(map(ast.unparse, edited)), before).splitlines()
    return "\n".join([*lines[:first - 1], *indented, *lines[last:]])


def _distance(statement: ast.stmt, line: int) -> int:
    first, last = span_of(statement)[0], head(statement)[2]
    return line - last if last < line else 4 * max(0, first - line)


# Each of the following changes the tree, yields the span of the change, and restores the tree afterwards.


def _substitute(statement: Statement, names: bool) -> Iterator[Span]:
    """Replace a name in a statement by another one, or an expression by a similar one or a part."""
    for node, slot in statement.expressions(targets=True):
        if isinstance(node, ast.Name) is names:
            yield from slot.each(similar_expressions(node, *statement.function.names_like(node)))


def _wrap(statement: Statement, wrappers: Mapping[tuple[str, ...], tuple[str, ...]]) -> Iterator[Span]:
    """Add to an expression of a statement what is missing."""
    for node, slot in statement.expressions():
        if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.BinOp, ast.Compare, ast.BoolOp)):
            yield from slot.each(_wrapped(template, node) for template in statement.function.suiting(node, wrappers))


def _add_argument(statement: Statement) -> Iterator[Span]:
    """Add an argument to a call."""
    for node, slot in statement.expressions():
        if isinstance(node, ast.Call):
            yield from slot.each(ast.Call(node.func, [*node.args, ast.Name(name, LOAD)], node.keywords)
                                 for name in ("True", "False", *statement.function.variables))


def _use_unread(statement: Statement) -> Iterator[Span]:
    """Combine a variable or a call with a variable that is stored before it, and never read."""
    unread = [name for name, line in statement.function.unread.items() if line < statement.node.lineno and name != "_"]
    for node, slot in statement.expressions() if unread else ():
        if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript, ast.Call)) and slot.name != "func":
            yield from slot.each(ast.BinOp(node, kind(), ast.Name(name, LOAD))
                                 for name in unread for kind in (ast.Add, ast.Mult, ast.Sub))


def _add_operand(statement: Statement) -> Iterator[Span]:
    """Combine what a statement stores or returns with a variable: a summand or a factor that it may lack."""
    node = statement.node
    if isinstance(node, (ast.Assign, ast.Return, ast.AugAssign)) and node.value is not None:
        value = node.value
        yield from Slot(node, "value").each(ast.BinOp(value, kind(), ast.Name(name, LOAD))
                                            for name in statement.function.variables
                                            for kind in (ast.Add, ast.Mult, ast.Sub, ast.Div))


def _wrapped(template: str, node: ast.expr) -> ast.expr:
    """Return the expression that a template makes of another one."""
    return parse_expression(template.format(f"({ast.unparse(node)})"))


def _drop(statement: Statement) -> Iterator[Span]:
    """Drop a statement."""
    return statement.replaced([] if len(statement.block) > 1 else [ast.Pass()])


def _move(statement: Statement) -> Iterator[Span]:
    """Move a statement past the next one, or one that stores what it reads, or into or out of a block."""
    node, block, at = statement.node, statement.block, statement.block.index(statement.node)
    original = list(block)
    for index in _indices(statement):
        yield from _moved(statement, block, index)
    for loop in statement.loops_after:
        yield from _moved(statement, loop.body, 0)
    previous = original[at - 1] if at else None
    if isinstance(previous, BLOCKS):
        yield from _moved(statement, previous.body, len(previous.body))
    if isinstance(node, BLOCKS) and len(node.body) > 1:
        inner, inner_original = node.body, list(node.body)
        for moved in inner_original:
            inner[:] = [remaining for remaining in inner_original if remaining is not moved]
            for pair in ([moved, node], [node, moved]):
                block[at:at + 1] = pair
                yield head(moved)
                block[:] = original
            inner[:] = inner_original


def _indices(statement: Statement) -> Iterator[int]:
    """Yield the next index in the block, and those of the last and the next statement that store what this one reads.
    """
    block, at = statement.block, statement.block.index(statement.node)
    names = [node for node in ast.walk(statement.node) if isinstance(node, ast.Name)]
    read = {node.id for node in names if isinstance(node.ctx, ast.Load)}
    stores = [index for index, node in enumerate(block) if index != at and changed_names(node) & read]
    if at + 1 < len(block) and not isinstance(block[at + 1], (ast.FunctionDef, ast.ClassDef)):
        yield at + 1
    yield from [index for index in stores if index < at - 1][-1:]
    yield from [index for index in stores if index > at + 1][:1]


def _moved(statement: Statement, block: list[ast.stmt], index: int) -> Iterator[Span]:
    originals = list(statement.block), list(block)
    statement.block.remove(statement.node)
    block.insert(index, statement.node)
    yield head(statement.node)
    statement.block[:], block[:] = originals


def _copy(statement: Statement) -> Iterator[Span]:
    """Store a copy, where a statement gives a second name to what has one, or puts it into a list, perhaps twice."""
    node = statement.node
    match node.value if isinstance(node, ast.Assign) else None:
        case ast.Name() | ast.Attribute() | ast.Subscript() as shared:
            yield from Slot(node, "value").each(_wrapped(template, shared) for template in COPIES)
        case ast.ListComp(elt=ast.Name() | ast.Attribute() | ast.Subscript() as shared) as several:
            yield from Slot(several, "elt").each(_wrapped(template, shared) for template in COPIES)
        case (ast.BinOp(ast.List([shared]), ast.Mult(), count)
              | ast.BinOp(count, ast.Mult(), ast.List([shared]))) if _is_new_list(shared):
            each = f"[{ast.unparse(shared)} for _ in range({ast.unparse(count)})]"
            yield from Slot(node, "value").each([parse_expression(each)])


def _is_new_list(node: ast.expr) -> bool:
    """Return whether an expression makes a list: `[…]`, `[… for …]` or `[…] * n`."""
    return isinstance(node.left if isinstance(node, ast.BinOp) else node, (ast.List, ast.ListComp))


def _begin_anew(statement: Statement) -> Iterator[Span]:
    """Move a statement to the beginning of a loop after it that changes what the statement stores.

    Not where the loop itself adds to it at each turn: there it is more often `=` that was meant.
    """
    node = statement.node
    names = changed_names(node) if isinstance(node, (ast.Assign, ast.Expr)) else set()
    for loop in statement.loops_after:
        added_to = {root(one.target) for one in loop.body if isinstance(one, ast.AugAssign)}
        if names & changed_names(loop) and not names & added_to:
            yield from _moved(statement, loop.body, 0)


def _use_newer(statement: Statement) -> Iterator[Span]:
    """Replace a variable by one that another statement makes from it, and that is never read."""
    made_here = changed_names(statement.node)
    for node, slot in statement.expressions():
        if isinstance(node, ast.Name):
            yield from slot.each(ast.Name(name, LOAD) for name in statement.function.newer.get(node.id, ())
                                 if name not in made_here)


def _change_effect(statement: Statement) -> Iterator[Span]:
    """Change the condition of a statement, or how it adds to a variable."""
    node = statement.node
    if isinstance(node, (ast.If, ast.While)):
        test = node.test
        new_tests: list[ast.expr] = [ast.UnaryOp(ast.Not(), test), ast.Constant(False)]
        new_tests += [ast.Constant(True)] * isinstance(node, ast.If)
        for name in statement.function.arguments:
            argument = ast.Name(name, LOAD)
            new_tests += [ast.BoolOp(ast.And(), [condition, test])
                          for condition in (argument, ast.UnaryOp(ast.Not(), argument))]
        yield from Slot(node, "test").each(new_tests)
    if isinstance(node, ast.AugAssign):
        new: list[ast.stmt] = [ast.AugAssign(node.target, kind(), node.value) for kind in OPERATORS]
        new += [ast.Assign([node.target], node.value)] * isinstance(node.target, ast.Name)
        for one in new:
            yield from statement.replaced([ast.copy_location(one, node)])


def _end_loop(statement: Statement) -> Iterator[Span]:
    """End a loop once all elements of a mask that it changes are true, a list is as long as an argument says, or a
    number that it changes is equal to one that it does not.
    """
    node, function = statement.node, statement.function
    if not isinstance(node, (ast.For, ast.While)):
        return
    changed = changed_names(node)
    ends = [(f"{name}.all()", len(node.body)) for name in function.variables_with(" of b with ") if name in changed]
    numbers = [*function.names_with("int"), *function.unread_arguments]
    ends += [(f"len({name}) == {argument}", len(node.body)) for name in function.variables_with("list")
             if name in changed for argument in numbers if argument in function.arguments]
    if isinstance(node, ast.For):
        ends += [(f"{name} == {other}", index) for index, inner in enumerate(node.body, 1)
                 for name in function.variables_with("int") if name in changed_names(inner)
                 for other in numbers if other.partition(".")[0] not in changed]
    for text, index in ends:
        end = parse_expression(text)
        if isinstance(node, ast.While):
            yield from Slot(node, "test").each([ast.BoolOp(ast.And(), [node.test, ast.UnaryOp(ast.Not(), end)])])
        else:
            node.body.insert(index, ast.If(end, [ast.Break()], []))
            yield head(node)
            del node.body[index]


def _reorder_targets(statement: Statement) -> Iterator[Span]:
    """Unpack a value into the same variables in another order."""
    for target in statement.node.targets if isinstance(statement.node, ast.Assign) else ():
        if isinstance(target, ast.Tuple):
            original = target.elts
            for target.elts in reordered(original):
                yield span_of(target)
            target.elts = original


# The kinds of edits: the share of the distance that counts, and lines to add. The more mistakes a kind mends, for the
# number of its edits, the less: so it was in the held-out answers. The first three have few, and come before all. A
# value is unpacked in another order after a substitution on the line where it goes wrong: its parts are right before.
REPAIR_OPERATORS: tuple[tuple[Callable[[Statement], Iterator[Span]], float, int], ...] = (
    (_copy, 0, -200), (_begin_anew, 0, -100), (_use_newer, 0, -100), (_drop, 0.25, 0), (_move, 0.25, 0),
    (_change_effect, 0.25, 0), (_end_loop, 0.25, 0),
    (partial(_substitute, names=False), 0.5, 0), (_reorder_targets, 0, 0), (partial(_substitute, names=True), 1, 0),
    (_use_unread, 1, 0), (partial(_wrap, wrappers=WRAPPERS), 1, 3),
    (partial(_wrap, wrappers=RARE_WRAPPERS), 1, 10), (_add_argument, 1, 20), (_add_operand, 1, 20))
# What those do to a statement that do more than edit it.
OTHER_KINDS: dict[Callable[[Statement], Iterator[Span]], EditKind] = {
    _begin_anew: "move", _drop: "drop", _move: "move"}
