"""Make what students and readers see from the sources: notebooks, figures and self-checks.

For a session this writes `solutions/<tp>/<tp>.ipynb` (executed), `course/<tp>/<tp>.ipynb` (released), the figures
beside both, and the data of its self-checks. Every one carries the digest of what it was made from, so that a test can
say which are stale.
"""

import copy
import filecmp
import hashlib
import os
import re
import shutil
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from ..course import Course, CourseError
from ..model import dependencies, digests
from ..model.oracle import Oracle
from ..model.source import ANSWER_STUB, STUB, Cell, Source
from ..runtime import settings, workspace
from . import effort, selfchecks, syllabus
from .about import about

KERNELSPEC = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
_SOLUTION = re.compile(r"^([ \t]*)[^\n]*BEGIN SOLUTION[^\n]*\n(?:[^\n]*\n)*?[^\n]*END SOLUTION[^\n]*", re.M)
_PICTURE = re.compile(r"!\[[^\]]*\]\(figures/([\w.-]+)\)")
_WAITING = "This cell waits for "  # so begins what ``done`` prints where something is missing


class ExecutionError(CourseError):
    """A solution notebook does not run; the message says where it stops."""


class WorkedInError(CourseError):
    """A released notebook was filled in or run; the message says which."""

    def __init__(self, paths: Iterable[Path]):
        super().__init__(f"{', '.join(map(str, paths))}: not as released, somebody has worked in it; move it away "
                         "(make lab opens a copy of the course), and nothing is lost or given to the class")


def solution_notebook(source: Source) -> NotebookNode:
    """Return the notebook of a source, solutions in it, not executed."""
    cells, texts = [], 0
    for cell in source.cells:
        texts += cell.grade_id is None
        make: Callable[..., NotebookNode] = new_markdown_cell if cell.is_markdown else new_code_cell
        made = make(_text(source, cell), id=cell.grade_id or f"text-{texts}")
        if cell.grade_id:
            made.metadata["nbgrader"] = _nbgrader(cell)
        cells.append(made)
    about = {"assignment": source.name, "made_from": digests.of_source(source)}
    metadata = {"kernelspec": KERNELSPEC, "language_info": {"name": "python"}, "course": about}
    notebook: NotebookNode = new_notebook(cells=cells, metadata=metadata)
    nbformat.validate(notebook)
    return notebook


def _text(source: Source, cell: Cell) -> str:
    """Return a cell as it stands in the solution notebook; a check cell says where its hidden part is."""
    if cell.is_markdown:
        text = re.sub(r"^### ((BEGIN|END) SOLUTION)$", r"<!-- \1 -->", cell.source, flags=re.M)
        return text.replace(effort.TIME, effort.time(source))
    if cell.role == "check":
        where = f"# solutions/{source.name}/checks.py, exercise \"{cell.name}\""
        return f"{cell.source}\n### BEGIN HIDDEN TESTS\n{where}\n### END HIDDEN TESTS"
    return cell.source


def _nbgrader(cell: Cell) -> dict[str, Any]:
    metadata: dict[str, Any] = {
        "schema_version": 3, "grade_id": cell.grade_id, "task": False, "solution": cell.role in ("exercise", "answer"),
        "grade": cell.role in ("check", "answer"), "locked": cell.role in ("given", "check")}
    if metadata["grade"]:
        metadata["points"] = cell.points
    return metadata


def released_notebook(source: Source) -> NotebookNode:
    """Return the notebook a student receives, as nbgrader makes it of the solution notebook."""
    return copy.deepcopy(_released_notebook(source))


def released_text(source: Source, name: str) -> str:
    """Return the text of one cell that a student receives, by the name that nbgrader knows it by."""
    cells = _released_notebook(source).cells
    return next(str(cell.source) for cell in cells if cell.metadata.get("nbgrader", {}).get("grade_id") == name)


@cache
def _released_notebook(source: Source) -> NotebookNode:
    notebook = solution_notebook(source)
    for cell in notebook.cells:
        about = cell.metadata.get("nbgrader", {})
        if about.get("grade") or about.get("solution") or about.get("locked"):
            stub = ANSWER_STUB if cell.cell_type == "markdown" else STUB
            text = _SOLUTION.sub(rf"\1{stub}", cell.source)
            cell.source = text.partition("\n### BEGIN HIDDEN TESTS")[0]
            cell.metadata["deletable"] = False
            if not about["solution"]:
                cell.metadata["editable"] = False
            about |= {"cell_type": cell.cell_type, "checksum": _checksum(cell)}
    return sealed(notebook)


def _checksum(cell: NotebookNode) -> str:
    """Return nbgrader's checksum of a cell, by which it tells whether somebody has written in it."""
    about = cell.metadata["nbgrader"]
    parts = [cell.source, cell.cell_type, about["grade"], about["solution"], about["locked"], about["grade_id"]]
    parts += [float(about["points"])] if about["grade"] else []
    return hashlib.md5("".join(map(str, parts)).encode(), usedforsecurity=False).hexdigest()


def sealed(notebook: NotebookNode) -> NotebookNode:
    """Return the notebook with a digest of its cells in it: whoever fills or runs one breaks it."""
    notebook.metadata.setdefault("course", {})["seal"] = workspace.seal(notebook)
    return notebook


def worked_in(folder: Path) -> list[Path]:
    """Return the notebooks below a folder that are not as released: somebody's work, which nobody may overwrite."""
    notebooks = (path for path in sorted(folder.rglob("*.ipynb")) if ".ipynb_checkpoints" not in path.parts)
    return [path for path in notebooks if not workspace.is_sealed(path.read_bytes())]


def execute(source: Source, seconds: int = 900) -> NotebookNode:
    """Execute the solution notebook in its folder as a student's Jupyter would; ``ExecutionError`` where it stops.

    It stops, too, where a cell waits for an exercise: on a busy machine a check may take more time than it has.
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
        client.execute(env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))})
    except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
        reason = (strip_ansi(str(error)).strip().splitlines() or ["no reason given"])[-1]
        if isinstance(error, CellTimeoutError):
            reason = f"it takes more than {seconds:g} seconds"
        raise ExecutionError(f"{source.name} stops in the cell {begun[-1]}: {reason}") from None
    for cell in notebook.cells:
        if any(output.get("text", "").startswith(_WAITING) for output in cell.get("outputs", ())):
            raise ExecutionError(f"{source.name}: the cell {cell.id} waits for an exercise whose check did not pass")
        cell.metadata.pop("execution", None)
    notebook.metadata["course"]["executed"] = _code(notebook)
    return notebook


def _code(notebook: NotebookNode) -> str:
    """Return the digest of a notebook's code, which its outputs depend on, without comments and docstrings.

    A cell's message about a missing module does not count either: a run with outputs has the module.
    """
    return digests.of_texts(dependencies.essential_of_cell(cell.source) for cell in _code_cells(notebook))


def _code_cells(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def _with_outputs(source: Source) -> NotebookNode | None:
    """Return the solution notebook with the outputs of its last run; None when its code has changed since."""
    path, notebook = source.notebook, solution_notebook(source)
    ran = nbformat.read(path, 4) if path.is_file() else notebook
    if ran.metadata.get("course", {}).get("executed") != _code(notebook):
        return None
    for cell, old in zip(_code_cells(notebook), _code_cells(ran), strict=True):
        cell.outputs, cell.execution_count = old.outputs, old.execution_count
    notebook.metadata = {**ran.metadata, "course": {**ran.metadata["course"], **notebook.metadata["course"]}}
    return notebook


def figures_of(source: Source) -> list[tuple[Path, Path]]:
    """Return the paths of each figure that a session shows: as it was drawn, and its copy beside either notebook."""
    names = sorted(set(_PICTURE.findall(source.path.read_text(encoding="utf-8"))))
    return [(source.course.images / name, folder / "figures" / name)
            for folder in (source.released, source.folder) for name in names]


def release(truth: Oracle, run: bool = True, again: bool = False) -> list[str]:
    """Make everything of one session anew; returns the names of figures that are not drawn yet.

    The solution notebook is executed when its code has changed since it was, or ``again`` asks for it. Without ``run``
    it is written without outputs, which counts as stale. ``WorkedInError`` when somebody's work would be lost or
    released; nothing is written then.
    """
    source = truth.source
    refuse_work(source.course)
    selfchecks.write(truth)
    for path, text in _texts(source).items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    source.released.mkdir(parents=True, exist_ok=True)
    for folder in (source.folder, source.released):
        shutil.rmtree(folder / "figures", ignore_errors=True)
    figures = figures_of(source)
    for drawn, copied in figures:
        if drawn.is_file():
            copied.parent.mkdir(exist_ok=True)
            shutil.copy(drawn, copied)
    nbformat.write(released_notebook(source), source.released / source.notebook.name)
    executed = None if again else _with_outputs(source)
    if executed is None:
        executed = execute(source) if run else solution_notebook(source)
    nbformat.write(executed, source.notebook)
    return sorted({drawn.name for drawn, _ in figures if not drawn.is_file()})


def _texts(source: Source) -> dict[Path, str]:
    """Return the generated texts by path: settings of the notebooks, pages on the syllabus and the minutes."""
    return {source.course.selfchecks / settings.FILE: settings.text_of(about(source.course).settings),
            **syllabus.pages(source), **effort.pages(source.course)}


def refuse_work(course: Course, folder: Path | None = None) -> None:
    """Raise ``WorkedInError`` when a notebook of the release (in ``folder`` alone, if named) is not as released."""
    found = worked_in(folder or course.released)
    if found:
        raise WorkedInError(path.relative_to(course.root) for path in found)


def _is_fresh(notebook: NotebookNode, path: Path, executed: str | None) -> bool:
    """Return whether what lies at ``path`` was made as this notebook is, and executed from this code, if at all."""
    made = nbformat.read(path, 4).metadata.get("course", {}) if path.is_file() else {}
    current = notebook.metadata["course"]["made_from"]
    return bool(made.get("made_from") == current and made.get("executed") == executed)


def stale(source: Source) -> list[str]:
    """Return the generated files of a session that were not made from its present sources."""
    notebook, found = solution_notebook(source), []
    for path, executed in ((source.released / source.notebook.name, None), (source.notebook, _code(notebook))):
        worked = executed is None and path.is_file() and bool(worked_in(path.parent))
        if worked or not _is_fresh(notebook, path, executed):
            found.append(path)
    found += [copied for drawn, copied in figures_of(source)
              if not (copied.is_file() and drawn.is_file() and filecmp.cmp(drawn, copied, shallow=False))]
    if not selfchecks.is_fresh(source):
        found.append(selfchecks.path(source))
    found += [path for path, text in _texts(source).items()
              if not path.is_file() or path.read_text(encoding="utf-8") != text]
    return [str(path.relative_to(source.course.root)) for path in found]
