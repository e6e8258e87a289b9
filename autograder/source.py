"""The instructor's source of a TP: its cells, and what each of them is.

One percent-format script per TP (see docs/authoring.md) is all that an instructor writes. This module reads
it; `release` makes notebooks of it, `oracle` executes it, `submission` reads what students made of it.
"""

import re
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import jupytext

ROOT = Path(__file__).resolve().parent.parent
SOLUTIONS = ROOT / "solutions"
COURSE = ROOT / "course"

ROLES = ("given", "exercise", "check", "demo", "training", "answer")
STUB = "raise NotImplementedError  # replace this line by your code"
ANSWER_STUB = "*Your answer here.*"
_REGION = re.compile(r"^[ \t]*### BEGIN (SOLUTION|HIDDEN TESTS)[^\n]*\n(.*?)^[ \t]*### END \1[^\n]*(\n|\Z)", re.M | re.S)


class SourceError(ValueError):
    """The source of a TP is not as docs/authoring.md says."""


@dataclass(frozen=True)
class Cell:
    role: str  # one of ROLES, or "text"
    name: str | None
    source: str  # as the instructor wrote it, markers included
    points: float = 0.0
    metadata: dict = field(default_factory=dict, compare=False)

    @property
    def is_markdown(self) -> bool:
        return self.role in ("text", "answer")

    @property
    def grade_id(self) -> str | None:
        """The cell's name in nbgrader's metadata; an exercise and its check share a name, not an id."""
        return {"check": f"check-{self.name}"}.get(self.role, self.name) if self.name else None

    @property
    def solution(self) -> str:
        """The cell as it runs in the solution: markers gone, hidden tests gone."""
        return _REGION.sub(lambda m: m[2] if m[1] == "SOLUTION" else "", self.source).rstrip()

    @property
    def hidden(self) -> str:
        """What only the instructor may read: the solution, or the model answer with its rubric."""
        return "\n".join(m[2].strip("\n") for m in _REGION.finditer(self.source) if m[1] == "SOLUTION")

    @property
    def released(self) -> str:
        """The cell as the student receives it."""
        def stub(match):
            if match[1] == "HIDDEN TESTS":
                return ""
            if self.is_markdown:
                return ANSWER_STUB + match[3]
            indent = re.match(r"[ \t]*", match[0])[0]
            return f"{indent}{STUB}{match[3]}"

        return _REGION.sub(stub, self.source).rstrip()


@dataclass(frozen=True)
class Source:
    name: str
    path: Path
    cells: tuple[Cell, ...]

    def by_role(self, *roles) -> list[Cell]:
        return [cell for cell in self.cells if cell.role in roles]

    @property
    def exercises(self) -> list[str]:
        return [cell.name for cell in self.by_role("exercise")]

    def cell(self, role: str, name: str) -> Cell:
        return next(cell for cell in self.cells if (cell.role, cell.name) == (role, name))

    def points(self, exercise: str) -> float:
        return self.cell("check", exercise).points

    @property
    def title(self) -> str:
        return next((m[1] for cell in self.cells for m in [re.match(r"# (.+)", cell.source)] if m), self.name)


def names() -> list[str]:
    """The TPs there are, in order."""
    return sorted(path.parent.name for path in SOLUTIONS.glob("tp*/tp*.py") if path.stem == path.parent.name)


@cache
def load(name: str) -> Source:
    """The source of the TP called ``name``; ``SourceError`` says what is wrong with it."""
    path = SOLUTIONS / name / f"{name}.py"
    if not path.is_file():
        raise SourceError(f"there is no TP called {name}; there are: {', '.join(names()) or 'none'}")
    return Source(name, path, parse(path.read_text(encoding="utf-8"), name))


def parse(text: str, name: str = "source") -> tuple[Cell, ...]:
    """The cells of a percent-format script."""
    cells, seen = [], set()
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
    checks = {cell.name for cell in cells if cell.role == "check"}
    exercises = {cell.name for cell in cells if cell.role == "exercise"}
    if checks != exercises:
        raise SourceError(f"{name}: each exercise needs one check cell, and each check an exercise: {', '.join(sorted(checks ^ exercises))}")
    for cell in cells:
        if cell.role in ("exercise", "answer") and not cell.hidden:
            raise SourceError(f"{name}: {cell.role} {cell.name} has no ### BEGIN SOLUTION … ### END SOLUTION")
        if cell.role in ("check", "answer") and cell.points <= 0:
            raise SourceError(f"{name}: {cell.role} {cell.name} has no points")
    return tuple(cells)
