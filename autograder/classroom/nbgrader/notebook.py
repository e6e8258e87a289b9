"""The notebooks that nbgrader writes: sealed releases, and submissions rebuilt on the released notebook."""

from typing import Any

import nbformat
from nbconvert.exporters import NotebookExporter
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

from ... import escaping
from ...course import Course
from ...judging.submission import Submission, readable_cells
from ...judging.verdict import Verdict
from ...model.source import check_id, load_source
from ...publish import notebooks
from .. import assessments


class ReleaseExporter(NotebookExporter):
    """Seals the release that `nbgrader generate_assignment` writes, so that later work in it can be recognised."""

    def from_notebook_node(self, nb: Any, resources: Any = None, **kwargs: Any) -> Any:
        """Return the released notebook, and nbconvert's resources."""
        export: Any = super().from_notebook_node
        output, resources = export(nb, resources, **kwargs)
        return nbformat.writes(notebooks.sealed(nbformat.reads(output, as_version=4))), resources


def rebuilt(course: Course, submission: Submission) -> nbformat.NotebookNode:
    """Return the released notebook with the student's answers in it; blank when the submission is no notebook."""
    source = load_source(course, submission.session)
    notebook = notebooks.released_notebook(source)
    released, fillable = source.grade_ids, {cell.grade_id for cell in source.by_role("exercise", "answer")}
    written: dict[str | None, str] = {}
    added: dict[str | None, list[str]] = {}  # released cell → the cells that the student added behind it
    last = None
    for cell in readable_cells(submission.data):
        if cell.grade_id in fillable:
            written[cell.grade_id] = "\n\n".join(filter(None, [written.get(cell.grade_id), cell.source]))
        if cell.grade_id in released:
            last = cell.grade_id
        elif cell.type == "code" and cell.source.strip():
            added.setdefault(last, []).append(cell.source)
    result = [_added_cell(text, str(i)) for i, text in enumerate(added.pop(None, []))]
    for cell in notebook.cells:
        name = notebooks.grade_id(cell)
        is_answer = cell.cell_type == "markdown"
        if name in written and (not is_answer or assessments.split_question(source, str(name), written[name])[1]):
            cell.source = written[name]  # an answer without a word is blank, whatever else was deleted
        result.append(cell)
        result += [_added_cell(text, f"{name}-{i}") for i, text in enumerate(added.get(name, []))]
    notebook.cells = result
    return notebook


def _added_cell(text: str, position: str) -> nbformat.NotebookNode:
    cell: nbformat.NotebookNode = new_code_cell(text, id=f"own-{position}")
    return cell


def other_texts(notebook: nbformat.NotebookNode, earlier: bytes) -> set[str]:
    """Return the released cells of a rebuilt notebook that have another text than in the ``earlier`` one."""
    texts = {cell.grade_id: cell.source for cell in readable_cells(earlier)}
    return {name for cell in notebook.cells if (name := notebooks.grade_id(cell)) and texts.get(name) != cell.source}


def annotated(notebook: nbformat.NotebookNode, verdict: Verdict) -> nbformat.NotebookNode:
    """Return the rebuilt notebook with the judge's reasons as the outputs of its check cells."""
    reasons = {check_id(result.exercise): escaping.lines(result.explained()) for result in verdict.exercises}
    for cell in notebook.cells:
        if cell.cell_type == "code":
            text = reasons.get(str(notebooks.grade_id(cell)))
            cell.outputs = [] if text is None else [new_output("stream", name="stdout", text=text)]
    notes = list(verdict.notes)
    if verdict.isolation == "none":
        notes.append("graded without isolation")
    if notes:
        text = "**Notes of the grader**\n\n" + "\n".join(f"- {escaping.markdown(note)}" for note in notes)
        notebook.cells.insert(0, new_markdown_cell(text, id="grader-notes"))
    return notebook
