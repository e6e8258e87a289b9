"""The instructor's source of a session: its cells and their roles.

One percent-format script per session (see docs/authoring.md) is all that an instructor writes. This module reads
it; `notebooks` writes it for Jupyter, `oracle` executes it, `submission` reads what students made of it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, get_args

from ..course import Course
from ..runtime.notebook.handing_in import TEXT_STUB as TEXT_STUB
from ..runtime.syntax import parse, parse_module, without_magics
from ..runtime.text import with_article
from . import rubric
from .errors import SourceError, source_error

CHECK_PREFIX = "check-"  # in front of the name of an exercise, in the grade id of its check
Role = Literal["given", "exercise", "check", "demo", "training", "answer", "text"]
ROLES: tuple[Role, ...] = get_args(Role)[:-1]  # a cell without one is text
WIDTH = 88  # characters of a line of code that a notebook shows on a screen of 1280 pixels
HEIGHT = 45  # lines of code that it shows there at once
CODE_STUB = "raise NotImplementedError  # replace this line by your code"
FIGURE = re.compile(r"!\[[^\]]*\]\(figures/([\w.-]+)\)")
NAME = re.compile(r"[A-Za-z0-9_-]{1,58}")  # with `CHECK_PREFIX` before it, the id of a cell has at most 64 characters
_BY_NAME = re.compile(r'^tp\.(start|check)\("([^"]*)"\)', re.M)
HEADER = re.compile(r"#\s*%%")
MARKER = re.compile(r"[ \t]*### (BEGIN|END) SOLUTION")
_REGION = re.compile(r"^(?P<indent>[ \t]*)### BEGIN SOLUTION[^\n]*\n(?P<solution>.*?)"
                     r"^[ \t]*### END SOLUTION[^\n]*(?P<end>\n|\Z)", re.M | re.S)


def check_id(exercise: str) -> str:
    """Return the grade id of the check of an exercise."""
    return f"{CHECK_PREFIX}{exercise}"


@dataclass(frozen=True)
class Cell:
    """One cell of the source."""

    role: Role
    name: str  # empty where a cell has none
    source: str  # as the instructor wrote it, markers included
    points: float = 0.0
    metadata: dict[str, Any] = field(default_factory=dict, compare=False)
    line: int = field(default=1, compare=False)  # of the script, where its header stands
    text_number: int = field(default=0, compare=False)  # among the cells without a name, from 1

    def line_of(self, number: int) -> int:
        """Return the line of the script that line ``number`` of the solution, counted from 1, stands in."""
        kept = [i for i, text in enumerate(self.source.splitlines(), 1) if not MARKER.match(text)]
        return self.line + (kept[number - 1] if 0 < number <= len(kept) else 0)

    @property
    def is_markdown(self) -> bool:
        """Whether it is text, not code."""
        return self.role in ("text", "answer")

    @property
    def grade_id(self) -> str | None:
        """The cell's name in nbgrader's metadata; an exercise and its check share a name, not an id."""
        return check_id(self.name) if self.name and self.role == "check" else self.name or None

    @property
    def id(self) -> str:
        """The id of the cell in a notebook."""
        return self.grade_id or f"text-{self.text_number}"

    @property
    def solution(self) -> str:
        """The cell as it runs in the solution: markers gone."""
        return _REGION.sub(lambda match: match["solution"], self.source).rstrip()

    def without_solution(self, stub: str = "") -> str:
        """Return the cell with a stub in the place of what is between the markers, and of these."""
        return _REGION.sub(lambda match: f"{match['indent']}{stub}{match['end']}" if stub else "", self.source)

    @property
    def written(self) -> set[int]:
        """The lines of the solution that a student writes, counted from one."""
        lines: set[int] = set()
        removed = 0  # lines of markers so far
        for match in _REGION.finditer(self.source):
            first = self.source.count("\n", 0, match.start()) + 1 - removed
            lines |= set(range(first, first + match["solution"].count("\n")))
            removed += 2
        return lines

    @property
    def hidden(self) -> str:
        """The text for the instructor alone: the solution, or the model answer with its rubric."""
        return "\n".join(match["solution"].strip("\n") for match in _REGION.finditer(self.source))


@dataclass(frozen=True)
class Source:
    """The source of one session of a course."""

    course: Course
    name: str
    cells: tuple[Cell, ...] = field(compare=False)

    @property
    def folder(self) -> Path:
        """Where the instructor writes the session."""
        return self.course.folder(self.name)

    @property
    def path(self) -> Path:
        """The script."""
        return self.course.script(self.name)

    @property
    def solution_path(self) -> Path:
        """The executed notebook, solutions in it."""
        return self.path.with_suffix(".ipynb")

    @property
    def released_path(self) -> Path:
        """The notebook that students receive."""
        return self.released / self.solution_path.name

    @property
    def check_files(self) -> list[Path]:
        """The paths of checks, faults and variants, and of what these import from beside them."""
        return sorted(path for path in self.folder.glob("*.py") if path != self.path)

    @property
    def released(self) -> Path:
        """The folder of the session that students receive."""
        return self.course.released / self.name

    def headings(self) -> Iterator[tuple[Cell, str, str]]:
        """Yield each cell with the last heading so far and the id of its cell; both are empty before the first."""
        heading = id_of_heading = ""
        for cell in self.cells:
            if cell.role == "text" and (headings := re.findall(r"^#{1,3} (.+)$", cell.source, re.M)):
                heading, id_of_heading = headings[-1], cell.id
            yield cell, heading, id_of_heading

    def by_role(self, *roles: Role) -> list[Cell]:
        """Return the cells of these roles, in order."""
        return [cell for cell in self.cells if cell.role in roles]

    @property
    def grade_ids(self) -> set[str]:
        """The names that nbgrader has for its cells."""
        return {cell.grade_id for cell in self.cells if cell.grade_id}

    @property
    def exercises(self) -> list[str]:
        """The names of the exercises, in order."""
        return [cell.name for cell in self.by_role("exercise")]

    def cell(self, role: Role, name: str) -> Cell:
        """Return the cell of this role and name."""
        for cell in self.cells:
            if (cell.role, cell.name) == (role, name):
                return cell
        raise SourceError(f"{self.name} has no {role} {name}; it has {', '.join(self.exercises)}")

    def points(self, exercise: str) -> float:
        """Return the automatic points of an exercise."""
        return self.cell("check", exercise).points

    def figures(self, hidden: bool) -> list[str]:
        """Return the file names of the figures that the notebook shows; with the hidden ones, of model answers, too."""
        texts = (cell.source if hidden else cell.without_solution() for cell in self.cells)
        return sorted({name for text in texts for name in FIGURE.findall(text)})

    @property
    def title(self) -> str:
        """The first heading of the notebook."""
        headings = (re.match(r"# (.+)", cell.source) for cell in self.cells)
        return next((heading[1] for heading in headings if heading), self.name)


def load_source(course: Course, session: str) -> Source:
    """Load the source of a session, as it is now.

    ``SourceError`` says what is wrong with it, ``CourseError`` that it is not there.
    """
    course.require_session(session)
    path = course.script(session)
    try:
        return _source(course, session, path.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        raise source_error(path, 1, "it is no UTF-8 text") from None


@lru_cache(64)
def _source(course: Course, session: str, text: str) -> Source:
    path = course.script(session)
    source = Source(course, session, cells_of(text, path))
    for cell in source.cells:
        _refuse_no_python(cell, path)
        _refuse_another_name(cell, source)
    return source


def _refuse_another_name(cell: Cell, source: Source) -> None:
    """Raise ``SourceError`` where a cell begins another session, or a check cell checks another exercise."""
    expected = {"start": source.name} | ({"check": cell.name} if cell.role == "check" else {})
    for match in [] if cell.is_markdown else _BY_NAME.finditer(cell.source):
        if match[2] != expected.get(match[1], match[2]):
            line = cell.line + 1 + cell.source.count("\n", 0, match.start())
            raise source_error(source.path, line, f'{match[0]}, where tp.{match[1]}("{expected[match[1]]}") is meant')


def _refuse_no_python(cell: Cell, path: Path) -> None:
    """Raise ``SourceError`` where a cell is no Python; magics may stand where the oracle does not run it."""
    if cell.is_markdown:
        return
    is_run, python = cell.role in ("given", "exercise"), without_magics(cell.solution)
    try:
        parse_module(cell.solution if is_run else python)
    except SyntaxError as error:
        magic = is_run and parse(python) is not None
        reason = f"a magic; {cell.role} cells hold plain Python" if magic else error.msg
        raise source_error(path, cell.line_of(error.lineno or 0), reason) from None


def cells_of(text: str, path: Path | str = "source") -> tuple[Cell, ...]:
    """Read the cells of a percent-format script; ``path`` is what the script is called in an error."""
    import jupytext

    cells, texts = list[Cell](), 0
    lines_of_names: dict[tuple[bool, str], int] = {}
    blocks = jupytext.reads(text, fmt="py:percent").cells
    headers = [number for number, line in enumerate(text.splitlines(), 1) if HEADER.match(line)]
    lines = headers if len(headers) == len(blocks) else [1] * len(blocks)  # text may stand before the first header
    for block, line in zip(blocks, lines, strict=True):
        metadata, markdown = dict(block.metadata), block.cell_type == "markdown"
        roles = [role for role in ROLES if role in metadata]
        if len(roles) > 1 or (not roles and not markdown):
            found = f", not {text.splitlines()[line - 1]!r}" if lines is headers else ""
            raise source_error(path, line, f"the header of a cell is to say what it is: one of {', '.join(ROLES)}, "
                               f'as in `# %% given="imports"`{found}')
        role: Role = roles[0] if roles else "text"
        for key in sorted(metadata.keys() - {*ROLES, "points"}):
            if meant := get_close_matches(key, (*ROLES, "points"), 1, 0.75):
                raise source_error(path, line, f"{key}=… in the header of a cell, where {meant[0]}= may be meant")
        if "points" in metadata and role not in ("check", "answer"):
            raise source_error(path, line, f"points in the header of a cell that is {with_article(role)}; they belong "
                               "to a check or an answer")
        if (role in ("answer", "text")) != markdown:
            raise source_error(path, line, "only text and answers are markdown")
        name = str(metadata[role]) if roles else ""
        if roles and not NAME.fullmatch(name):
            raise source_error(path, line, f"the name {name!r} is to have a-z, A-Z, 0-9, - and _ alone, 58 at most")
        key = (role == "check", name)
        if name and key in lines_of_names:
            raise source_error(path, line, f"the cell in line {lines_of_names[key]} is called {name}, too")
        lines_of_names[key] = line
        try:
            points = float(metadata.get("points", 0))
        except (TypeError, ValueError):
            raise source_error(path, line, f"points={metadata['points']!r} is no number") from None
        texts += not name
        cells.append(Cell(role, name, block.source, points, metadata, line, texts))
    _refuse_unpaired(cells, path)
    for cell in cells:
        markers = sum(bool(MARKER.match(text)) for text in cell.source.splitlines())
        if markers != 2 * len(_REGION.findall(cell.source)):
            raise source_error(path, cell.line, "a ### BEGIN SOLUTION and its ### END SOLUTION do not match")
        if cell.hidden and cell.role in ("demo", "training", "text"):
            raise source_error(path, cell.line, f"a ### BEGIN SOLUTION in a {cell.role} cell, which students get whole")
        if cell.role in ("exercise", "answer") and not cell.hidden:
            raise source_error(path, cell.line, f"{cell.role} {cell.name} has no ### BEGIN SOLUTION … ### END SOLUTION")
        if cell.role in ("check", "answer") and cell.points <= 0:
            raise source_error(path, cell.line, f"{cell.role} {cell.name} has no points")
    return tuple(cells)


def _refuse_unpaired(cells: list[Cell], path: Path | str) -> None:
    """Raise ``SourceError`` unless each exercise has one check cell, and each check cell an exercise."""
    by_role = {role: {cell.name: cell for cell in cells if cell.role == role} for role in ("exercise", "check")}
    for role, counterpart in (("exercise", "check"), ("check", "exercise")):
        for name, cell in by_role[role].items():
            if name not in by_role[counterpart]:
                raise source_error(path, cell.line, f"the {role} {name} has no {counterpart} cell of that name")


def notes(source: Source) -> list[str]:
    """Return notes on what is allowed but not good, one line each, with file and line number."""
    notes = []
    for cell in source.cells:
        if not cell.is_markdown:
            notes += [str(source_error(source.path, cell.line + number, f"{len(line)} characters in a line of code; "
                               f"a notebook shows {WIDTH}"))
                      for number, line in enumerate(cell.source.splitlines(), 1) if len(line) > WIDTH]
        height = len(cell.source.strip().splitlines())
        if cell.role in ("given", "demo", "training") and height > HEIGHT:
            reason = (f"the {cell.role} {cell.name} has {height} lines; a screen shows {HEIGHT}: a module takes what "
                      "need not be read, two cells the rest")
            notes.append(str(source_error(source.path, cell.line, reason)))
        if cell.role == "answer" and (problem := rubric.problem(cell.hidden, cell.points)):
            notes.append(str(source_error(source.path, cell.line, f"the rubric of {cell.name} {problem}")))
    return notes
