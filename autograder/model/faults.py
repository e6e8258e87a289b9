"""Wrong and right versions of a solution, as ``faults.py`` of each session lists them (see docs/authoring.md)."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .errors import SourceError

Swap = tuple[str, str]


class EditError(SourceError):
    """A fault or variant does not fit the solution it edits."""


@dataclass(frozen=True)
class Variant:
    """A right version of an exercise's cell that looks different from the solution.

    It is the solution with some text swapped, or another source altogether.
    """

    exercise: str
    name: str
    swap: Swap | Sequence[Swap] = ()
    source: str | None = None
    both: tuple[str, ...] = ()


@dataclass(frozen=True)
class Fault:
    """A wrong version that learners write, and what a good teacher says about it."""

    exercise: str
    name: str
    says: str
    swap: Swap | Sequence[Swap] = ()
    source: str | None = None
    both: tuple[str, ...] = ()


Version = Fault | Variant


def swaps(version: Version, others: Sequence[Version]) -> list[Swap]:
    """Return the edits of a version in order; ``others`` are the versions that ``both`` may name."""
    if version.both:
        by_name = {other.name: other for other in others if other.exercise == version.exercise}
        unknown = [name for name in version.both if name not in by_name]
        if unknown:
            raise EditError(f"{version.exercise}/{version.name}: both= names {', '.join(unknown)}, "
                            "which is no fault of this exercise")
        return [edit for name in version.both for edit in swaps(by_name[name], others)]
    match version.swap:
        case (str(old), str(new)):
            return [(old, new)]
        case pairs:
            return [(old, new) for old, new in pairs if isinstance(old, str)]


def edited(version: Version, solution: str, others: Sequence[Version] = ()) -> str:
    """Return the source of the exercise's cell in this version."""
    if version.source is not None:
        return version.source
    edits = swaps(version, others)
    if not edits:
        raise EditError(f"{version.exercise}/{version.name} changes nothing")
    for old, new in edits:
        if solution.count(old) != 1:
            raise EditError(f"{version.exercise}/{version.name}: {old!r} stands {solution.count(old)} times "
                            "in the solution, it must stand once")
        solution = solution.replace(old, new)
    return solution


def line_of(path: Path, version: Version) -> int | None:
    """Return the line of ``faults.py`` in which a version is written down; None when it is made by other code."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and len(node.args) >= 2:
            first, second = node.args[:2]
            if isinstance(first, ast.Constant) and isinstance(second, ast.Constant):
                if (first.value, second.value) == (version.exercise, version.name):
                    return node.lineno
    return None
