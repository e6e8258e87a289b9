"""Make the notebooks of a session from its source: with the solutions in it and executed, and as a student gets it."""

import copy
import hashlib
import os
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Literal

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from ..course import Course, CourseError
from ..model import digests
from ..model.source import CODE_STUB, TEXT_STUB, Cell, Source, load_source
from ..runtime import workspace
from ..runtime.notebook.commands import EXECUTING
from ..runtime.text import last_line
from . import effort
from .kit_files.start import KERNELSPEC, LANGUAGE

Execution = Literal["never", "changed", "always"]  # of the solution notebook


class ExecutionError(CourseError):
    """A solution notebook does not run; the message says where it stops."""


def solution_notebook(source: Source) -> NotebookNode:
    """Return the notebook of a source, solutions in it, not executed."""
    cells = []
    for cell in source.cells:
        make: Callable[..., NotebookNode] = new_markdown_cell if cell.is_markdown else new_code_cell
        written = make(_text(source, cell), id=cell.id)
        if cell.grade_id:
            written.metadata["nbgrader"] = _nbgrader(cell)
        cells.append(written)
    about = {"made_from": digests.of_source(source)}
    metadata = {"kernelspec": {**KERNELSPEC}, "language_info": {**LANGUAGE}, "course": about}
    notebook: NotebookNode = new_notebook(cells=cells, metadata=metadata)
    nbformat.validate(notebook)
    return notebook


def _text(source: Source, cell: Cell) -> str:
    """Return a cell as it stands in the solution notebook; a check cell says where its hidden part is."""
    if cell.is_markdown:
        text = re.sub(r"^### ((BEGIN|END) SOLUTION)$", r"<!-- \1 -->", cell.source, flags=re.M)
        return text.replace(effort.TIME, effort.duration(source))
    if cell.role == "check":
        comment = f"# solutions/{source.name}/checks.py, exercise \"{cell.name}\""
        return f"{cell.source}\n### BEGIN HIDDEN TESTS\n{comment}\n### END HIDDEN TESTS"
    return cell.source


def _nbgrader(cell: Cell) -> dict[str, Any]:
    points = {"points": cell.points} if cell.role in ("check", "answer") else {}
    return {"schema_version": 3, "grade_id": cell.grade_id, "task": False,
            "solution": cell.role in ("exercise", "answer"), "grade": bool(points),
            "locked": cell.role in ("given", "check"), **points}


def released_notebook(source: Source) -> NotebookNode:
    """Return the notebook a student receives, as nbgrader makes it of the solution notebook."""
    return copy.deepcopy(_released_notebook(source))


def grade_id(cell: NotebookNode) -> str | None:
    """Return the name that nbgrader knows a cell by; None where it has none."""
    name: str | None = cell.metadata.get("nbgrader", {}).get("grade_id")
    return name


def released_text(source: Source, name: str) -> str:
    """Return the text of one cell that a student receives, by the name that nbgrader knows it by."""
    cells = _released_notebook(source).cells
    return next(str(cell.source) for cell in cells if grade_id(cell) == name)


@cache
def _released_notebook(source: Source) -> NotebookNode:
    notebook = solution_notebook(source)
    for cell, written in zip(source.cells, notebook.cells, strict=True):
        about = written.metadata.get("nbgrader", {})
        if about.get("grade") or about.get("solution") or about.get("locked"):
            written.source = cell.without_solution(TEXT_STUB if cell.is_markdown else CODE_STUB)
            written.metadata["deletable"] = False
            if not about["solution"]:
                written.metadata["editable"] = False
            about |= {"cell_type": written.cell_type, "checksum": _checksum(written)}
    return sealed(notebook)


def _checksum(cell: NotebookNode) -> str:
    """Return nbgrader's checksum of a cell, by which nbgrader knows whether the cell was changed."""
    about = cell.metadata["nbgrader"]
    parts = [cell.source, cell.cell_type, about["grade"], about["solution"], about["locked"], about["grade_id"]]
    parts += [float(about["points"])] if about["grade"] else []
    return hashlib.md5("".join(map(str, parts)).encode(), usedforsecurity=False).hexdigest()


def sealed(notebook: NotebookNode) -> NotebookNode:
    """Return the notebook with a digest of its cells, by which a filled or executed one is recognised."""
    notebook.metadata.setdefault("course", {})["seal"] = workspace.seal(notebook)
    return notebook


def execute(source: Source, seconds: int = 900) -> NotebookNode:
    """Execute the solution notebook in its folder as a student's Jupyter would; ``ExecutionError`` where it stops.

    It stops, too, where a cell needs an exercise that has not passed: on a busy machine a check may run out of time.
    """
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
    from nbconvert.filters import strip_ansi

    notebook = solution_notebook(source)
    begun = ["the first cell"]
    client = NotebookClient(notebook, timeout=seconds, kernel_name="python3",
                            extra_arguments=["--Application.log_level=ERROR"],  # a warning at every start, of TCP
                            resources={"metadata": {"path": str(source.folder)}},
                            on_cell_execute=lambda cell, cell_index: begun.append(cell.id))
    paths = [str(source.course.released), os.environ.get("PYTHONPATH", "")]
    try:
        client.execute(env={**os.environ, EXECUTING: "1", "PYTHONPATH": os.pathsep.join(filter(None, paths))})
    except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
        reason = last_line(strip_ansi(str(error)))
        if isinstance(error, CellTimeoutError):
            reason = f"it takes more than {seconds:g} seconds"
        raise ExecutionError(f"{source.name} stops in the cell {begun[-1]}: {reason}") from None
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
    notebook.metadata["course"]["executed"] = _code_digest(notebook)
    return notebook


def _code_digest(notebook: NotebookNode) -> str:
    """Return the digest of a notebook's code, which its outputs depend on, without comments and docstrings.

    A cell's message about a missing module does not count either: a run with outputs has the module.
    """
    return digests.of_cells(cell.source for cell in _code_cells(notebook))


def _code_cells(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def _with_outputs(source: Source) -> NotebookNode | None:
    """Return the solution notebook with the outputs of its last run; None when its code has changed since."""
    path, notebook = source.solution_path, solution_notebook(source)
    ran = _read(path)
    if ran is None or ran.metadata.get("course", {}).get("executed") != _code_digest(notebook):
        return None
    if len(_code_cells(ran)) != len(_code_cells(notebook)):  # somebody added a cell
        return None
    for cell, old in zip(_code_cells(notebook), _code_cells(ran), strict=True):
        cell.outputs, cell.execution_count = old.outputs, old.execution_count
    notebook.metadata = {**ran.metadata, "course": {**ran.metadata["course"], **notebook.metadata["course"]}}
    return notebook


def write_both(source: Source, execution: Execution) -> None:
    """Write the notebook for students, and the one with the solutions: `release.release` says when it is executed."""
    source.released.mkdir(parents=True, exist_ok=True)
    nbformat.write(released_notebook(source), source.released_path)
    executed = None if execution == "always" else _with_outputs(source)
    if executed is None:
        executed = solution_notebook(source) if execution == "never" else execute(source)
    nbformat.write(executed, source.solution_path)


def stale(source: Source) -> list[Path]:
    """Return the notebooks of a session that were not made from its present source, or from a run of its code."""
    notebook = solution_notebook(source)
    made_from = notebook.metadata["course"]["made_from"]
    inputs = {source.released_path: (made_from, None), source.solution_path: (made_from, _code_digest(notebook))}
    return [path for path, expected in inputs.items() if _digests_in(path) != expected]


def _digests_in(path: Path) -> tuple[str | None, str | None]:
    """Return the digests of the source that the notebook at ``path`` was made from, and of the code that was run."""
    notebook = _read(path)
    metadata = notebook.metadata.get("course", {}) if notebook else {}
    return metadata.get("made_from"), metadata.get("executed")


def _read(path: Path) -> NotebookNode | None:
    """Return the notebook at ``path``; None where there is none that can be read."""
    try:
        notebook: NotebookNode = nbformat.read(path, 4)
        return notebook
    except Exception:  # of any kind: it may hold anything
        return None


def filled(course: Course, session: str, cells: dict[str, str], added: tuple[str, ...] = ()) -> NotebookNode:
    """Make a submission: the released notebook, these exercise cells filled, and added cells at the end."""
    result = released_notebook(load_source(course, session))
    for cell in result.cells:
        name = grade_id(cell)
        if name in cells:
            cell.source = cells[name]
    result.cells += [new_code_cell(text, id=f"mine-{i}") for i, text in enumerate(added)]
    return result


def solved(course: Course, session: str, *exercises: str) -> dict[str, str]:
    """Return the solution's cells of these exercises (all, when none is named)."""
    source = load_source(course, session)
    return {name: source.cell("exercise", name).solution for name in exercises or source.exercises}
