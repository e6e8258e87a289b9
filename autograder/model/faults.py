"""Wrong and right versions of a solution, as each session lists them (see docs/authoring.md)."""

from __future__ import annotations

import ast
import contextlib
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path

from ..runtime.syntax import parse_module
from .errors import SourceError, source_error
from .source import Source

TextReplacement = tuple[str, str]


class ReplacementError(SourceError):
    """A fault or variant does not fit the solution it edits."""


@dataclass(frozen=True, eq=False)
class Version:
    """Another version of an exercise's cell than the solution.

    It is the solution with another ``body`` of its last function, with some text replaced, or with both; or it is
    another source altogether.
    """

    exercise: str
    name: str
    replace: TextReplacement | Sequence[TextReplacement] = field(default=(), kw_only=True)
    body: str | None = field(default=None, kw_only=True)
    source: str | None = field(default=None, kw_only=True)


@dataclass(frozen=True, eq=False)
class Variant(Version):
    """A right version that looks different from the solution."""


@dataclass(frozen=True, eq=False)
class Fault(Version):
    """A wrong version that learners write, and what a good teacher says about it."""

    feedback: str


def edits(version: Version) -> list[TextReplacement]:
    """Return the edits of a version in order."""
    match version.replace:
        case (str(old), str(new)):
            return [(old, new)]
        case [*pairs] if all(isinstance(pair, tuple) and list(map(type, pair)) == [str, str] for pair in pairs):
            return [(str(old), new) for old, new in pairs]
        case _:
            raise ReplacementError(f"{version.exercise}/{version.name}: replace is (old, new), or a list of such pairs")


def text_of(source: Source, version: Version) -> str:
    """Return the source of the exercise's cell in a fault or variant; ``ReplacementError`` names its file and line."""
    try:
        return edited(version, source.cell("exercise", version.exercise).solution)
    except SourceError as error:
        raise _where(source, version, error) from None


def refuse_no_python(source: Source, version: Version) -> None:
    """Raise ``ReplacementError`` where the edits of a version do not fit the solution, or the result is no Python."""
    text = text_of(source, version)
    try:
        parse_module(text)
    except SyntaxError as error:
        broken = text.splitlines()[(error.lineno or 1) - 1 :][:1]
        reason = f"{version.exercise}/{version.name}: {error.msg}: {' '.join(broken).strip()}"
        raise _where(source, version, reason) from None


def _where(source: Source, version: Version, reason: object) -> ReplacementError:
    path = source.path.with_name("faults.py" if isinstance(version, Fault) else "variants.py")
    return ReplacementError(str(source_error(path, line_of(path, version), reason)))


def edited(version: Version, solution: str) -> str:
    """Return the source of the exercise's cell in this version."""
    if version.source is not None:
        return version.source
    if version.body is None and not edits(version):
        raise ReplacementError(f"{version.exercise}/{version.name} changes nothing")
    text = solution if version.body is None else _with_body(solution, version.body)
    if text is None:
        name = f"{version.exercise}/{version.name}"
        raise ReplacementError(f"{name}: the solution has no function whose body could be another")
    return _replaced(version, text)


def _with_body(text: str, body: str) -> str | None:
    """Return a cell whose last function or method has another body behind its docstring; None without a function."""
    bodies = [node.body if isinstance(node, ast.ClassDef) else [node] for node in parse_module(text).body]
    functions = [node for nodes in bodies for node in nodes if isinstance(node, ast.FunctionDef)]
    if not functions:
        return None
    last = functions[-1]
    first = last.body[ast.get_docstring(last) is not None]
    lines = text.split("\n")
    margin = " " * first.col_offset
    indented = [f"{margin}{line}" if line.strip() else line for line in textwrap.dedent(body).strip("\n").split("\n")]
    return "\n".join([*lines[:first.lineno - 1], *indented, *lines[last.end_lineno:]])


def _replaced(version: Version, text: str) -> str:
    for old, new in edits(version):
        if text.count(old) != 1:
            raise ReplacementError(f"{version.exercise}/{version.name}: {old!r} stands {text.count(old)} times "
                                   "in the solution, it must stand once")
        text = text.replace(old, new)
    return text


@dataclass(frozen=True)
class FaultPair:
    """Two faults of an exercise, and a fault that is both at once."""

    first: Fault
    second: Fault
    together: Fault


def pairs(faults: Sequence[Fault], solution: str) -> Iterator[FaultPair]:
    """Yield the pairs of faults of an exercise whose edits can be applied together, in one order or the other."""
    for first, second in combinations(faults, 2):
        if first.source is not None or second.source is not None or first.body != second.body:
            continue
        for earlier, later in ((first, second), (second, first)):
            with contextlib.suppress(ReplacementError):
                text = _replaced(later, edited(earlier, solution))
                feedback = f"Two things at once. {first.feedback} {second.feedback}"
                together = Fault(first.exercise, f"{first.name}+{second.name}", feedback, source=text)
                yield FaultPair(first, second, together)
                break


def line_of(path: Path, version: Version) -> int | None:
    """Return the line of a module in which a version is created by name; None when other code creates it."""
    for node in ast.walk(parse_module(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and len(node.args) >= 2:
            first, second = node.args[:2]
            if isinstance(first, ast.Constant) and isinstance(second, ast.Constant):
                if (first.value, second.value) == (version.exercise, version.name):
                    return node.lineno
    return None
