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
from ..model import dependencies, digests, source
from ..model.source import Cell, Source
from ..runtime import settings, workspace
from . import effort, syllabus
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


def solution_notebook(course: Course, assignment: str) -> NotebookNode:
    """Return the notebook of a source, solutions in it, not executed."""
    cells, texts = [], 0
    tp_source = source.load(course, assignment)
    for cell in tp_source.cells:
        texts += cell.grade_id is None
        make: Callable[..., NotebookNode] = new_markdown_cell if cell.is_markdown else new_code_cell
        made = make(_text(tp_source, cell), id=cell.grade_id or f"text-{texts}")
        if cell.grade_id:
            made.metadata["nbgrader"] = _nbgrader(cell)
        cells.append(made)
    about = {"assignment": assignment, "made_from": digests.of_source(course, assignment)}
    metadata = {"kernelspec": KERNELSPEC, "language_info": {"name": "python"}, "course": about}
    notebook: NotebookNode = new_notebook(cells=cells, metadata=metadata)
    nbformat.validate(notebook)
    return notebook


def _text(tp_source: Source, cell: Cell) -> str:
    """Return a cell as it stands in the solution notebook; a check cell says where its hidden part is."""
    if cell.is_markdown:
        text = re.sub(r"^### ((BEGIN|END) SOLUTION)$", r"<!-- \1 -->", cell.source, flags=re.M)
        return text.replace(effort.TIME, effort.time(tp_source))
    if cell.role == "check":
        where = f"# solutions/{tp_source.name}/checks.py, exercise \"{cell.name}\""
        return f"{cell.source}\n### BEGIN HIDDEN TESTS\n{where}\n### END HIDDEN TESTS"
    return cell.source


def _nbgrader(cell: Cell) -> dict[str, Any]:
    metadata: dict[str, Any] = {
        "schema_version": 3, "grade_id": cell.grade_id, "task": False, "solution": cell.role in ("exercise", "answer"),
        "grade": cell.role in ("check", "answer"), "locked": cell.role in ("given", "check")}
    if metadata["grade"]:
        metadata["points"] = cell.points
    return metadata


def released_notebook(course: Course, assignment: str) -> NotebookNode:
    """Return the notebook a student receives, as nbgrader makes it of the solution notebook."""
    return copy.deepcopy(_released_notebook(course, assignment))


def released_text(course: Course, assignment: str, name: str) -> str:
    """Return the text of one cell that a student receives, by the name that nbgrader knows it by."""
    cells = _released_notebook(course, assignment).cells
    return next(str(cell.source) for cell in cells if cell.metadata.get("nbgrader", {}).get("grade_id") == name)


@cache
def _released_notebook(course: Course, assignment: str) -> NotebookNode:
    notebook = solution_notebook(course, assignment)
    for cell in notebook.cells:
        about = cell.metadata.get("nbgrader", {})
        if about.get("grade") or about.get("solution") or about.get("locked"):
            stub = source.ANSWER_STUB if cell.cell_type == "markdown" else source.STUB
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


def execute(course: Course, assignment: str, seconds: int = 900) -> NotebookNode:
    """Execute the solution notebook in its folder as a student's Jupyter would; ``ExecutionError`` where it stops.

    It stops, too, where a cell waits for an exercise: on a busy machine a check may take more time than it has.
    """
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
    from nbconvert.filters import strip_ansi

    notebook = solution_notebook(course, assignment)
    begun = ["the first cell"]
    client = NotebookClient(notebook, timeout=seconds, kernel_name="python3",
                            extra_arguments=["--Application.log_level=ERROR"],  # a warning at every start, of TCP
                            resources={"metadata": {"path": str(course.folder(assignment))}},
                            on_cell_execute=lambda cell, cell_index: begun.append(cell.id))
    paths = [str(course.released), os.environ.get("PYTHONPATH", "")]
    try:
        client.execute(env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))})
    except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
        reason = (strip_ansi(str(error)).strip().splitlines() or ["no reason given"])[-1]
        if isinstance(error, CellTimeoutError):
            reason = f"it takes more than {seconds:g} seconds"
        raise ExecutionError(f"{assignment} stops in the cell {begun[-1]}: {reason}") from None
    for cell in notebook.cells:
        if any(output.get("text", "").startswith(_WAITING) for output in cell.get("outputs", ())):
            raise ExecutionError(f"{assignment}: the cell {cell.id} waits for an exercise whose check did not pass")
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


def _with_outputs(course: Course, assignment: str) -> NotebookNode | None:
    """Return the solution notebook with the outputs of its last run; None when its code has changed since."""
    path, notebook = _executed(course, assignment), solution_notebook(course, assignment)
    ran = nbformat.read(path, 4) if path.is_file() else notebook
    if ran.metadata.get("course", {}).get("executed") != _code(notebook):
        return None
    for cell, old in zip(_code_cells(notebook), _code_cells(ran), strict=True):
        cell.outputs, cell.execution_count = old.outputs, old.execution_count
    notebook.metadata = {**ran.metadata, "course": {**ran.metadata["course"], **notebook.metadata["course"]}}
    return notebook


def figures_of(course: Course, assignment: str) -> list[str]:
    """Return the names of the figures that a session shows."""
    return sorted(set(_PICTURE.findall(course.script(assignment).read_text(encoding="utf-8"))))


def release(course: Course, assignment: str, run: bool = True, again: bool = False) -> list[str]:
    """Make everything of one session anew; returns the names of figures that are not drawn yet.

    The solution notebook is executed when its code has changed since it was, or ``again`` asks for it. Without ``run``
    it is written without outputs, which counts as stale. ``WorkedInError`` when somebody's work would be lost or
    released; nothing is written then.
    """
    from . import selfchecks  # brings torch: only where something is recorded

    refuse_work(course)
    selfchecks.write(course, assignment)
    for path, text in _texts(course, assignment).items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    folders = course.folder(assignment), course.released / assignment
    folders[1].mkdir(parents=True, exist_ok=True)
    missing = set()
    for folder in folders:
        shutil.rmtree(folder / "figures", ignore_errors=True)
        for figure in figures_of(course, assignment):
            if not (course.images / figure).is_file():
                missing.add(figure)
                continue
            (folder / "figures").mkdir(exist_ok=True)
            shutil.copy(course.images / figure, folder / "figures" / figure)
    nbformat.write(released_notebook(course, assignment), _released(course, assignment))
    executed = None if again else _with_outputs(course, assignment)
    if executed is None:
        executed = execute(course, assignment) if run else solution_notebook(course, assignment)
    nbformat.write(executed, _executed(course, assignment))
    return sorted(missing)


def _released(course: Course, assignment: str) -> Path:
    return course.released / assignment / f"{assignment}.ipynb"


def _texts(course: Course, assignment: str) -> dict[Path, str]:
    """Return the generated texts by path: settings of the notebooks, pages on the syllabus and the minutes."""
    return {course.selfchecks / settings.FILE: settings.text_of(about(course).settings),
            **syllabus.pages(course, assignment), **effort.pages(course)}


def _executed(course: Course, assignment: str) -> Path:
    return course.folder(assignment) / f"{assignment}.ipynb"


def refuse_work(course: Course, folder: Path | None = None) -> None:
    """Raise ``WorkedInError`` when a notebook of the release (in ``folder`` alone, if named) is not as released."""
    found = worked_in(folder or course.released)
    if found:
        raise WorkedInError(path.relative_to(course.root) for path in found)


def _is_fresh(course: Course, assignment: str, path: Path, executed: str | None) -> bool:
    """Return whether a notebook was made from the present source, and executed from the present code, if at all."""
    made = nbformat.read(path, 4).metadata.get("course", {}) if path.is_file() else {}
    current = digests.of_source(course, assignment)
    return bool(made.get("made_from") == current and made.get("executed") == executed)


def stale(course: Course, assignment: str) -> list[str]:
    """Return the generated files of a session that were not made from its present sources."""
    from . import selfchecks

    code = _code(solution_notebook(course, assignment))
    found = []
    for path, executed in ((_released(course, assignment), None), (_executed(course, assignment), code)):
        worked = executed is None and path.is_file() and bool(worked_in(path.parent))
        if worked or not _is_fresh(course, assignment, path, executed):
            found.append(path)
    for folder in (course.released / assignment, course.folder(assignment)):
        for figure in figures_of(course, assignment):
            drawn, copied = course.images / figure, folder / "figures" / figure
            if not (copied.is_file() and drawn.is_file() and filecmp.cmp(drawn, copied, shallow=False)):
                found.append(copied)
    if selfchecks.made_from(course, assignment) != digests.of_selfchecks(course, assignment):
        found.append(course.selfchecks / f"{assignment}.bin")
    found += [path for path, text in _texts(course, assignment).items()
              if not path.is_file() or path.read_text(encoding="utf-8") != text]
    return [str(path.relative_to(course.root)) for path in found]
