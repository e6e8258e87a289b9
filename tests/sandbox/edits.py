"""Attacks that change the notebook itself: each function takes one and edits it in place.

What it tries and what is seen when it succeeds stand in its docstring, its name is the attack's. The restriction is
that the notebook is not run as it was handed in: `together`.
"""

from nbformat.v4 import new_output


def _ours(cell) -> dict:
    return cell.metadata.get("nbgrader", {})


def points_in_the_metadata(notebook):
    """Writes a thousand points into every cell.

    gains: points
    """
    for cell in notebook.cells:
        if "nbgrader" in cell.metadata:
            cell.metadata.nbgrader.points = 1000


def skip_execution_tags(notebook):
    """Says of every cell that it is not to be run, and may fail.

    gains: points
    """
    for cell in notebook.cells:
        cell.metadata["tags"] = ["skip-execution", "raises-exception"]


def not_a_grade_cell(notebook):
    """Says of every cell that it gives no points.

    gains: points
    """
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader"):
            cell.metadata.nbgrader.grade = False


def checks_deleted(notebook):
    """Deletes the cells that give points.

    gains: points
    """
    notebook.cells = [cell for cell in notebook.cells if not _ours(cell).get("grade")]


def checks_doubled(notebook):
    """Hands in the cells that give points twice.

    gains: points
    """
    notebook.cells += [cell for cell in notebook.cells if _ours(cell).get("grade")]


def checks_rewritten(notebook):
    """Makes the cells that give points say eight points.

    gains: points
    """
    for cell in notebook.cells:
        if _ours(cell).get("grade") and cell.cell_type == "code":
            cell.source = "8.0"


def outputs_filled_in(notebook):
    """Hands in outputs that say eight points.

    gains: points
    """
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = [new_output("execute_result", data={"text/plain": "8"}, execution_count=1)]


def names_exchanged(notebook):
    """Calls the cell of an exercise as its check is called.

    gains: points
    """
    for cell in notebook.cells:
        if _ours(cell).get("grade_id") == "double":
            cell.metadata.nbgrader.grade_id = "check-double"


def evil_kernel(notebook):
    """Names a shell as the kernel to start.

    costs: grade
    """
    notebook.metadata["kernelspec"] = {"name": "../../bin/sh", "display_name": "sh", "language": "bash"}


def given_cells_rewritten(notebook):
    """Makes the given cells end the kernel.

    costs: grade
    """
    for cell in notebook.cells:
        if _ours(cell).get("locked"):
            cell.source = "class torch: pass\nraise SystemExit"


def training_made_a_solution(notebook):
    """Makes cells that are never run when grading look like exercises.

    costs: grade
    """
    for cell in notebook.cells:
        if _ours(cell).get("grade_id") in ("train", "look"):
            cell.metadata.nbgrader.solution = True
            cell.source = "import os; os._exit(0)"
