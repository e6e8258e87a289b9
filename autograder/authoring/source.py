"""The instructor's source of a TP: its cells, and what each of them is.

One percent-format script per TP (see docs/authoring.md) is all that an instructor writes. This module reads
it; `release` makes notebooks of it, `oracle` executes it, `submission` reads what students made of it.
"""

import re
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import jupytext

from ..course import Course

ROLES = ("given", "exercise", "check", "demo", "training", "answer")
STUB = "raise NotImplementedError  # replace this line by your code"
ANSWER_STUB = "*Your answer here.*"
_REGION = re.compile(r"^[ \t]*### BEGIN SOLUTION[^\n]*\n(.*?)^[ \t]*### END SOLUTION[^\n]*(\n|\Z)", re.M | re.S)


class SourceError(ValueError):
    """The source of a TP is not as docs/authoring.md says."""


@dataclass(frozen=True)
class Cell:
    """One cell of the source."""

    role: str  # one of ROLES, or "text"
    name: str | None
    source: str  # as the instructor wrote it, markers included
    points: float = 0.0
    metadata: dict[str, Any] = field(default_factory=dict, compare=False)

    @property
    def is_markdown(self) -> bool:
        """Whether it is text, not code."""
        return self.role in ("text", "answer")

    @property
    def grade_id(self) -> str | None:
        """The cell's name in nbgrader's metadata; an exercise and its check share a name, not an id."""
        return {"check": f"check-{self.name}"}.get(self.role, self.name) if self.name else None

    @property
    def solution(self) -> str:
        """The cell as it runs in the solution: markers gone."""
        return _REGION.sub(lambda match: match[1], self.source).rstrip()

    @property
    def written(self) -> set[int]:
        """The lines of the solution that a student writes, counted from one."""
        lines: set[int] = set()
        removed = 0  # lines of markers so far
        for match in _REGION.finditer(self.source):
            first = self.source.count("\n", 0, match.start()) + 1 - removed
            lines |= set(range(first, first + match[1].count("\n")))
            removed += 2
        return lines

    @property
    def hidden(self) -> str:
        """What only the instructor may read: the solution, or the model answer with its rubric."""
        return "\n".join(match[1].strip("\n") for match in _REGION.finditer(self.source))


@dataclass(frozen=True)
class Source:
    """The source of one TP."""

    name: str
    path: Path
    cells: tuple[Cell, ...]

    def by_role(self, *roles: str) -> list[Cell]:
        """The cells of these roles, in order."""
        return [cell for cell in self.cells if cell.role in roles]

    @property
    def exercises(self) -> list[str]:
        """The names of the exercises, in order."""
        return [cell.name for cell in self.by_role("exercise") if cell.name]

    def cell(self, role: str, name: str) -> Cell:
        """The cell of this role and name."""
        return next(cell for cell in self.cells if (cell.role, cell.name) == (role, name))

    def points(self, exercise: str) -> float:
        """The automatic points of an exercise."""
        return self.cell("check", exercise).points

    @property
    def title(self) -> str:
        """The first heading of the notebook."""
        headings = (re.match(r"# (.+)", cell.source) for cell in self.cells)
        return next((heading[1] for heading in headings if heading), self.name)


@cache
def load(course: Course, assignment: str) -> Source:
    """The source of a TP; ``SourceError`` says what is wrong with it."""
    path = course.script(assignment)
    if not path.is_file():
        there = ", ".join(course.assignments) or "none"
        raise SourceError(f"there is no TP called {assignment}; there are: {there}")
    return Source(assignment, path, parse(path.read_text(encoding="utf-8"), assignment))


def parse(text: str, name: str = "source") -> tuple[Cell, ...]:
    """The cells of a percent-format script."""
    cells: list[Cell] = []
    seen: set[tuple[bool, str | None]] = set()
    for block in jupytext.reads(text, fmt="py:percent").cells:
        metadata, markdown = dict(block.metadata), block.cell_type == "markdown"
        roles = [role for role in ROLES if role in metadata]
        label = f"{name}: the cell that begins {block.source[:40]!r}"
        if len(roles) > 1 or (not roles and not markdown):
            raise SourceError(f"{label} needs one of {', '.join(ROLES)} in its header")
        role = roles[0] if roles else "text"
        if (role in ("answer", "text")) != markdown:
            raise SourceError(f"{label}: only text and answers are markdown")
        cell_name = metadata.get(role)
        key = (role == "check", cell_name)
        if cell_name is not None and key in seen:
            raise SourceError(f"{name}: two cells are called {cell_name}")
        seen.add(key)
        cells.append(Cell(role, cell_name, block.source, float(metadata.get("points", 0)), metadata))
    checks = {str(cell.name) for cell in cells if cell.role == "check"}
    exercises = {str(cell.name) for cell in cells if cell.role == "exercise"}
    if checks != exercises:
        unpaired = ", ".join(sorted(checks ^ exercises))
        raise SourceError(f"{name}: each exercise needs one check cell, and each check an exercise: {unpaired}")
    for cell in cells:
        if cell.role in ("exercise", "answer") and not cell.hidden:
            raise SourceError(f"{name}: {cell.role} {cell.name} has no ### BEGIN SOLUTION … ### END SOLUTION")
        if cell.role in ("check", "answer") and cell.points <= 0:
            raise SourceError(f"{name}: {cell.role} {cell.name} has no points")
    return tuple(cells)
