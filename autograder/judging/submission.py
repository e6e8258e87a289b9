"""Read a submission without trusting it.

Only the source text of the code cells counts. A cell's ``grade_id`` (or its id, if an editor dropped the metadata)
says which released cell it was, and nothing more: tags, other metadata, outputs and the kernel's name are ignored. The
result is a plan: the sources to run, in order, ours in the place of given cells; and notes on what was unusual, for the
instructor.
"""

import ast
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ..course import Course
from ..model.source import Cell, Source, load_source
from ..runtime import syntax
from . import untrusted_files
from .untrusted_files import SubmissionError as SubmissionError

MAX_BYTES = 32 * 2**20
MAX_CELLS = 2_000
MAX_SOURCE = 2 * 2**20
MAX_NAME = 80  # characters of a cell's type
MAX_ENDS = 8  # at which the parts of a split cell may end
MAX_VALUES = 1_000_000  # of JSON: each takes some hundred bytes of memory


@dataclass(frozen=True)
class Submission:
    """The submission of one student for one session: the bytes of a notebook, or why there are none.

    ``filename`` is what it was called, ``note`` what was unusual about where it lay.
    """

    data: bytes
    session: str
    student: str = ""
    filename: str = "the file"
    note: str | None = None
    unreadable: str | None = None

    @property
    def digest(self) -> str:
        """The digest of the bytes, or of the reason why there are none."""
        return hashlib.sha256(self.data + (self.unreadable or "").encode()).hexdigest()


@dataclass(frozen=True)
class SubmittedCell:
    """A cell as it was handed in: its type, its text, and which released cell it says it was."""

    type: str | None
    source: str
    grade_id: str | None


@dataclass(frozen=True)
class Step:
    """A source to run: of a given cell, of an exercise's, or one that the student added."""

    role: Literal["given", "exercise", "added"]
    name: str | None
    source: str

    def is_of(self, exercise: str) -> bool:
        """Return whether it is of an exercise's own cell."""
        return (self.role, self.name) == ("exercise", exercise)


@dataclass
class Plan:
    """All sources to run, in order, and what the instructor should know of them."""

    steps: list[Step]
    notes: list[str]

    def has(self, exercise: str) -> bool:
        """Return whether a cell of this exercise is run."""
        return any(step.is_of(exercise) for step in self.steps)


def read(path: Path, root: Path, session: str, student: str = "", note: str | None = None) -> Submission:
    """Return the submission in a file that was handed in beneath ``root``; ``OSError`` is this machine's fault."""
    name = untrusted_files.encodable(path.name)
    try:
        return Submission(untrusted_files.read(path, root, MAX_BYTES), session, student, name, note)
    except SubmissionError as error:
        return Submission(b"", session, student, name, note, unreadable=str(error))


def parse(data: bytes, filename: str = "the file") -> list[SubmittedCell]:
    """Return the cells of a notebook; ``SubmissionError`` when it is not a notebook."""
    if not data.strip():
        raise SubmissionError(f"{filename} is empty")
    if len(data) > MAX_VALUES and _count_values(data) > MAX_VALUES:
        raise SubmissionError(f"{filename} holds more than {MAX_VALUES:,} values (clear the outputs and save again)")
    try:
        notebook = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise SubmissionError(f"{filename} is not a notebook: it is not UTF-8 text") from None
    except RecursionError:
        raise SubmissionError(f"{filename} is not a notebook: it is nested too deeply") from None
    except ValueError as error:
        where = f" (line {error.lineno})" if isinstance(error, json.JSONDecodeError) else ""
        raise SubmissionError(f"{filename} is not a notebook, or was cut off: its JSON cannot be read{where}") from None
    if not isinstance(notebook, dict) or not isinstance(notebook.get("cells"), list):
        if isinstance(notebook, dict) and isinstance(notebook.get("worksheets"), list):
            raise SubmissionError(f"{filename} is a notebook of an old format: open it in JupyterLab and save it again")
        raise SubmissionError(f"{filename} is not a notebook: it has no cells")
    if len(notebook["cells"]) > MAX_CELLS:
        raise SubmissionError(f"{filename} has {len(notebook['cells'])} cells; at most {MAX_CELLS} are read")
    cells = [cell for cell in map(_cell, notebook["cells"]) if cell]
    if sum(len(cell.source) for cell in cells) > MAX_SOURCE:
        raise SubmissionError(f"{filename} holds more than {MAX_SOURCE // 2**20} MiB of code and text")
    return cells


def readable_cells(notebook: bytes) -> list[SubmittedCell]:
    """Return the cells of a notebook; an empty list if it cannot be read."""
    try:
        return parse(notebook)
    except SubmissionError:
        return []


def _count_values(data: bytes) -> int:
    """Return how many values a JSON text holds, or a few more, without building them."""
    plain = np.frombuffer(data.replace(b"\\\\", b"").replace(b'\\"', b""), np.uint8)
    in_string = np.cumsum(plain == ord('"'), dtype=np.uint8) & 1  # behind an odd number of quotes
    return int(np.count_nonzero(np.isin(plain, list(b"[{,:")) & (in_string == 0)))


def _cell(tree: Any) -> SubmittedCell | None:
    """Return the cell that a JSON value holds; None where it has no source."""
    if not isinstance(tree, dict):
        return None
    text = tree.get("source")
    if isinstance(text, list) and all(isinstance(line, str) for line in text):
        text = "".join(text)
    if not isinstance(text, str):
        return None
    metadata = tree.get("metadata")
    nbgrader = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    # a release gives both names the same value
    grade_id = nbgrader.get("grade_id") if isinstance(nbgrader, dict) else tree.get("id")
    cell_type = tree.get("cell_type")
    return SubmittedCell(
        untrusted_files.encodable(cell_type)[:MAX_NAME] if isinstance(cell_type, str) else None,
        text.encode("utf-8", "replace").decode("utf-8").replace("\r\n", "\n"),  # half a character cannot travel
        untrusted_files.encodable(grade_id) if isinstance(grade_id, str) else None)


def session_of_notebook(cells: list[SubmittedCell], course: Course) -> str | None:
    """Return the session whose released cells these are: the one with most names in common, or None."""
    ids = {cell.grade_id for cell in cells}
    common = {name: len(ids & load_source(course, name).grade_ids) for name in course.sessions}
    best = max(common, key=lambda name: common[name], default=None)
    return best if best and common[best] else None


def plan(cells: list[SubmittedCell], source: Source) -> Plan:
    """Plan what to run: given cells from our source, the student's other code in the student's order."""
    _refuse_other(cells, source)
    released: dict[str | None, Cell] = {cell.grade_id: cell for cell in source.cells if cell.grade_id}
    beside = _beside_code(cells)
    beside_ids = set(map(id, beside))
    cells = [cell for cell in cells if id(cell) not in beside_ids]
    submitted_ids = {cell.grade_id for cell in cells}
    givens = source.by_role("given")
    result = Plan([], [])
    emitted: set[str | None] = set()

    def emit(given: Cell) -> None:
        if given.name not in emitted:
            emitted.add(given.name)
            result.steps.append(Step("given", given.name, given.solution))

    if givens:  # the first one opens every notebook; nothing can come before it
        emit(givens[0])
    for cell in _joined(cells):
        ours = released.get(cell.grade_id)
        if ours is None:
            if cell.type == "code" and cell.source.strip():
                result.steps.append(Step("added", None, cell.source))
            continue
        if ours.role not in ("given", "exercise"):
            continue
        for earlier in source.cells[: source.cells.index(ours)]:
            if earlier.role == "given" and earlier.name not in emitted and earlier.grade_id not in submitted_ids:
                result.notes.append(_missing(earlier))
                emit(earlier)
        if ours.role == "given":
            emit(ours)
            imports = _added_imports(cell.source, ours.solution)
            if imports:
                result.notes.append(f"the given cell {ours.name} was edited; of the changes, the imports were kept")
                result.steps.append(Step("added", None, imports))
        else:
            if cell.type != "code":
                cell_type = cell.type or "something else"
                result.notes.append(f"the cell of {ours.name} had been turned into {cell_type}; it was read as code")
            if result.has(ours.name):
                result.notes.append(f"there are several cells of {ours.name}; they were run in order, "
                                    "and the last definition counts")
            result.steps.append(Step("exercise", ours.name, cell.source))
    for given in givens:
        if given.name not in emitted:
            result.notes.append(_missing(given))
            _insert(result, given, givens)
    result.notes += [f"beside the cell of {cell.grade_id} is one of type {cell.type}, which was not run"
                     for cell in beside if cell.grade_id in source.exercises]
    result.notes += [f"the cell of {name} is missing" for name in source.exercises if not result.has(name)]
    return result


def _missing(given: Cell) -> str:
    return f"the given cell {given.name} was missing; ours was run in its place"


def _refuse_other(cells: list[SubmittedCell], source: Source) -> None:
    """Raise ``SubmissionError`` for another session's notebook, which shares few names with this session's."""
    ids, released_ids = {cell.grade_id for cell in cells}, source.grade_ids
    if len(ids & released_ids) < len(released_ids) / 2:
        session = session_of_notebook(cells, source.course)
        if session not in (None, source.name):
            raise SubmissionError(f"this is a notebook of {session}, not of {source.name}")


def _insert(result: Plan, given: Cell, givens: list[Cell]) -> None:
    """Insert a given cell behind the given cell that precedes it in the source."""
    before = givens[givens.index(given) - 1].name
    behind = (i + 1 for i, step in enumerate(result.steps) if (step.role, step.name) == ("given", before))
    result.steps.insert(next(behind), Step("given", given.name, given.solution))


def _beside_code(cells: list[SubmittedCell]) -> list[SubmittedCell]:
    """Return the notes and drafts: cells of another type than code whose name a cell with code has, too."""
    as_code = {cell.grade_id for cell in cells if cell.type == "code" and _says_something(cell.source)}
    return [cell for cell in cells if cell.type != "code" and cell.grade_id in as_code]


def _says_something(text: str) -> bool:
    tree = _parsed(text)
    return tree is None or bool(tree.body)


def _joined(cells: list[SubmittedCell]) -> list[SubmittedCell]:
    """Join neighbours that were one cell before it was split: a part alone is no valid Python, and all together are.

    What a broken copy or draft stands behind is joined as far as it is Python. Where no part is, all are joined, so
    that whatever is wrong is said of the whole.
    """
    result: list[SubmittedCell] = []
    for grade_id, group in groupby(cells, key=lambda cell: cell.grade_id):
        parts = list(group)
        python = [_parsed(part.source) is not None for part in parts] if grade_id else [True]
        if not all(python):
            ends = range(len(parts), max(1, len(parts) - MAX_ENDS), -1)
            whole = [len(parts)] if not any(python) else []
            end = next(chain((end for end in ends if _parsed(_text(parts[:end]))), whole), 0)
            parts = [*([SubmittedCell(parts[0].type, _text(parts[:end]), grade_id)] if end else []), *parts[end:]]
        result += parts
    return result


def _text(parts: Sequence[SubmittedCell]) -> str:
    return "\n".join(part.source for part in parts)


def _parsed(text: str) -> ast.Module | None:
    """Return the tree of a cell, its magics left out; None where it is no Python."""
    return syntax.parse(syntax.without_magics(text))


def _added_imports(text: str, given: str) -> str:
    """Return the import lines that a student added to a given cell."""
    if text.strip() == given.strip() or not (tree := _parsed(text)) or not (given_tree := syntax.parse(given)):
        return ""
    lines = {ast.unparse(node) for node in given_tree.body}
    imports = [ast.unparse(node) for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]
    return "\n".join(line for line in imports if line not in lines)
