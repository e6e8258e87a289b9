"""Read what a student handed in, and trust none of it.

What counts is the source text of the code cells. A cell's ``grade_id`` (or its id, where an editor dropped the metadata) says which released cell it was, and nothing
more: tags, other metadata, outputs, the kernel's name are not looked at. The result is a plan: the sources to run,
in order, ours in the place of given cells; and notes that tell the instructor what was unusual.
"""

import ast
import errno
import json
import os
import stat
from dataclasses import dataclass, field
from pathlib import Path

from . import source

MAX_BYTES = 32 * 2**20
MAX_CELLS = 2_000
MAX_SOURCE = 2 * 2**20
STUDENTS_DOING = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENXIO)  # nothing there, a link, a socket: not a fault of this machine


class Unreadable(ValueError):
    """Not a notebook that can be graded; the message is one line for people."""


@dataclass(frozen=True)
class Step:
    kind: str  # "given", "exercise" or "own"
    name: str | None
    source: str


@dataclass
class Plan:
    steps: list[Step]
    notes: list[str] = field(default_factory=list)


def read_bytes(path: Path) -> bytes:
    """The bytes of a handed-in file; links, devices and giants are refused. ``OSError`` when this machine cannot read it."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        if error.errno not in STUDENTS_DOING:
            raise
        reason = "it is a symbolic link" if Path(path).is_symlink() else (error.strerror or "it cannot be read").lower()
        raise Unreadable(f"{path}: {reason}") from None
    status = os.fstat(fd)
    if not stat.S_ISREG(status.st_mode):
        os.close(fd)
        raise Unreadable(f"{path}: it is not a file")
    with os.fdopen(fd, "rb") as file:
        if status.st_size > MAX_BYTES:
            raise Unreadable(f"{path}: {status.st_size / 2**20:.0f} MiB; at most {MAX_BYTES // 2**20} MiB are read (clear the outputs and save again)")
        return file.read(MAX_BYTES + 1)


def parse(data: bytes, what: str = "the file") -> list[dict]:
    """The cells of a notebook as ``{"type", "source", "grade_id"}``; ``Unreadable`` when it is not a notebook."""
    if not data.strip():
        raise Unreadable(f"{what} is empty")
    try:
        notebook = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise Unreadable(f"{what} is not a notebook: it is not UTF-8 text") from None
    except RecursionError:
        raise Unreadable(f"{what} is not a notebook: it is nested too deeply") from None
    except ValueError as error:
        where = f" (line {error.lineno})" if isinstance(error, json.JSONDecodeError) else ""
        raise Unreadable(f"{what} is not a notebook, or was cut off: its JSON cannot be read{where}") from None
    if not isinstance(notebook, dict) or not isinstance(notebook.get("cells"), list):
        old = isinstance(notebook, dict) and isinstance(notebook.get("worksheets"), list)
        raise Unreadable(f"{what} is a notebook of an old format: open it in JupyterLab and save it again" if old else f"{what} is not a notebook: it has no cells")
    if len(notebook["cells"]) > MAX_CELLS:
        raise Unreadable(f"{what} has {len(notebook['cells'])} cells; at most {MAX_CELLS} are read")
    cells = [cell for cell in map(_cell, notebook["cells"]) if cell]
    if sum(len(cell["source"]) for cell in cells) > MAX_SOURCE:
        raise Unreadable(f"{what} holds more than {MAX_SOURCE // 2**20} MiB of code and text")
    return cells


def _cell(cell):
    if not isinstance(cell, dict):
        return None
    text = cell.get("source")
    if isinstance(text, list) and all(isinstance(line, str) for line in text):
        text = "".join(text)
    if not isinstance(text, str):
        return None
    metadata = cell.get("metadata")
    ours = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    grade_id = ours.get("grade_id") if isinstance(ours, dict) else cell.get("id")  # the two are the same when we release
    text = text.encode("utf-8", "replace").decode("utf-8").replace("\r\n", "\n")  # lone surrogates cannot travel
    return {"type": cell.get("cell_type"), "source": text, "grade_id": grade_id if isinstance(grade_id, str) else None}


def which_tp(cells: list[dict]) -> str | None:
    """The TP whose released cells these are: the one with most names in common, or None."""
    ids = {cell["grade_id"] for cell in cells if cell["grade_id"]}
    best = max(source.names(), key=lambda name: len(ids & _ids(name)), default=None)
    return best if best and ids & _ids(best) else None


def _ids(name):
    return {cell.grade_id for cell in source.load(name).cells if cell.grade_id}


def plan(cells: list[dict], tp: source.Source) -> Plan:
    """What to run: given cells from our source, the student's other code in the student's order."""
    _refuse_other(cells, tp)
    released = {cell.grade_id: cell for cell in tp.cells if cell.grade_id}
    result, emitted = Plan([]), set()
    givens = [cell for cell in tp.cells if cell.role == "given"]

    def emit_given(cell):
        if cell.name not in emitted:
            emitted.add(cell.name)
            result.steps.append(Step("given", cell.name, cell.released))

    if givens:  # the first one opens every notebook; nothing can come before it
        emit_given(givens[0])
    for cell in _joined(cells):
        ours = released.get(cell["grade_id"])
        if ours is None:
            if cell["type"] == "code" and cell["source"].strip():
                result.steps.append(Step("own", None, cell["source"]))
        elif ours.role == "given":
            for earlier in givens[: givens.index(ours)]:
                if earlier.name not in emitted and not _comes_later(earlier, cells):
                    result.notes.append(f"the given cell {earlier.name} was missing; ours was run in its place")
                    emit_given(earlier)
            emit_given(ours)
            extra = _imports(cell["source"], ours.released)
            if extra:
                result.notes.append(f"the given cell {ours.name} was edited; of the changes, the imports were kept")
                result.steps.append(Step("own", None, extra))
        elif ours.role == "exercise":
            if cell["type"] != "code":
                result.notes.append(f"the cell of {ours.name} had been turned into {cell['type'] if isinstance(cell['type'], str) else 'something else'}; it was read as code")
            if any(step.kind == "exercise" and step.name == ours.name for step in result.steps):
                result.notes.append(f"there are several cells of {ours.name}; they were run in order, and the last definition counts")
            result.steps.append(Step("exercise", ours.name, cell["source"]))
    for given in givens:
        if given.name not in emitted:
            result.notes.append(f"the given cell {given.name} was missing; ours was run in its place")
            _insert_given(result, given, givens)
    for name in tp.exercises:
        if not any(step.kind == "exercise" and step.name == name for step in result.steps):
            result.notes.append(f"the cell of {name} is missing")
    return result


def _refuse_other(cells, tp):
    """Another TP's notebook shares a few names with this one; a notebook of this TP shares most."""
    ids, ours = {cell["grade_id"] for cell in cells}, _ids(tp.name)
    if len(ids & ours) < len(ours) / 2 and which_tp(cells) not in (None, tp.name):
        raise Unreadable(f"this is a notebook of {which_tp(cells)}, not of {tp.name}")


def _comes_later(given, cells):
    return any(cell["grade_id"] == given.grade_id for cell in cells)


def _insert_given(result, given, givens):
    """Right behind the given cell that comes before it in the source."""
    before = givens[givens.index(given) - 1].name if givens.index(given) else None
    at = next((i + 1 for i, step in enumerate(result.steps) if step.kind == "given" and step.name == before), 0)
    result.steps.insert(at, Step("given", given.name, given.released))


def _joined(cells):
    """Neighbours that were one cell before it was split: joined again where a part alone is no Python."""
    result = []
    for cell in cells:
        last = result[-1] if result else None
        if last and cell["grade_id"] and cell["grade_id"] == last["grade_id"] and not (_parses(last["source"]) and _parses(cell["source"])):
            result[-1] = {**last, "source": f"{last['source']}\n{cell['source']}"}
        else:
            result.append(cell)
    return result


def _parses(text):
    try:
        ast.parse(text)
        return True
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False


def _imports(text, ours):
    """The import lines that a student added to a given cell."""
    if text.strip() == ours.strip() or not _parses(text) or not _parses(ours):
        return ""
    known = {ast.unparse(node) for node in ast.parse(ours).body}
    added = [ast.unparse(node) for node in ast.parse(text).body if isinstance(node, (ast.Import, ast.ImportFrom))]
    return "\n".join(line for line in added if line not in known)
