"""Read the text of a student's cell: its lines, the text at a span, the variable that an expression begins with."""

from __future__ import annotations

import ast
import contextlib
import re
import threading
import warnings
from collections.abc import Iterator
from types import CodeType

Span = tuple[int, int, int, int]  # first line and column, last line and column; lines from 1, columns from 0

NOT_PARSED = (SyntaxError, ValueError, RecursionError, MemoryError)  # for what is no Python, or too much to parse

# What IPython reads by itself: `%time f(x)`, `!ls`, `names = !ls`, `f?`; a backslash joins lines.
_MAGIC = re.compile(r"^([ \t]*+)(?:(?:[\w.,\[\] \t]*+=[ \t]*+)?[%!](?:.*\\\n)*.*|\?.*|[\w.%]++\?{1,2}[ \t]*$)", re.M)
_PARSER = threading.RLock()  # Python 3.11 counts the depths of all threads' trees together: python/cpython#106905


@contextlib.contextmanager
def _parsing() -> Iterator[None]:
    """Let one thread parse at a time, without warnings: the student saw them when the cell was run."""
    with _PARSER, warnings.catch_warnings(action="ignore"):
        yield


def parse_module(text: str) -> ast.Module:
    """Return the syntax tree of a text, made by one thread at a time; raise what ``ast.parse`` raises."""
    with _parsing():
        return ast.parse(text)


def compiled(code: ast.Module | str, filename: str) -> CodeType:
    """Return the code of a syntax tree or a text; raise what ``compile`` raises."""
    with _parsing():
        return compile(code, filename, "exec")


def parse_expression(text: str) -> ast.expr:
    """Return the syntax tree of an expression."""
    with _parsing():
        return ast.parse(text, mode="eval").body


def parse(text: str) -> ast.Module | None:
    """Return the syntax tree of a text; None where it is no Python, or too much for the parser."""
    try:
        return parse_module(text)
    except NOT_PARSED:
        return None


def without_magics(text: str) -> str:
    """Return a cell as Python: `pass` stands for each magic, and for a whole cell of another language."""
    if parse(text) is not None:
        return text
    python = _MAGIC.sub(lambda match: f"{match[1]}pass" + "\n" * match[0].count("\n"), "\n".join(code_lines(text)))
    return "pass" if text.lstrip().startswith("%%") and parse(python) is None else python


def root(node: ast.AST) -> str | None:
    """Return the variable that an expression begins with."""
    while isinstance(node, (ast.Subscript, ast.Attribute)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def changed_names(node: ast.stmt) -> set[str]:
    """Return the variables that a statement and those inside it store or write into, or whose methods they call."""
    changed = {root(one) for one in ast.walk(node) if isinstance(getattr(one, "ctx", None), ast.Store)}
    changed |= {root(one.value.func) for one in ast.walk(node)
                if isinstance(one, ast.Expr) and isinstance(one.value, ast.Call)}
    return {name for name in changed if name}


def span_of(node: ast.AST) -> Span:
    """Return where a node stands; the beginning of the text where it has no place of its own."""
    return (getattr(node, "lineno", 1), getattr(node, "col_offset", 0), getattr(node, "end_lineno", 1) or 1,
            getattr(node, "end_col_offset", 0))


def code_lines(text: str) -> list[str]:
    """Return the lines of code as Python counts them: a form feed or U+2028 ends none, as it would in `splitlines`."""
    return re.split(r"\r\n?|\n", text.removesuffix("\n")) if text else []


def source_after(text: str, line: int) -> str:
    """Return what follows the statement at a line of a cell, in its own lines; nothing where it is no Python."""
    tree = parse(without_magics(text))
    last = next((node.end_lineno or line for node in tree.body if first_line(node) <= line <= (node.end_lineno or 0)),
                None) if tree else None
    return "" if last is None else "\n" * last + "\n".join(code_lines(text)[last:])


def first_line(node: ast.stmt) -> int:
    """Return the line in which a statement begins, with its decorators."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def segment(text: str, span: Span) -> str:
    """Return the text of a span, in one line."""
    lines = [line.encode() for line in code_lines(text)[span[0] - 1:span[2]]]
    if len(lines) == 1:
        lines = [lines[0][span[1]:span[3]]]
    elif lines:
        lines = [lines[0][span[1]:], *lines[1:-1], lines[-1][:span[3]]]
    return " ".join(line.decode("utf-8", "replace").strip() for line in lines)
