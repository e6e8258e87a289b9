"""What students wrote beneath the questions, in the notebooks that nbgrader shows."""

from pathlib import Path

from ..course import Course
from ..judging import submission
from ..judging.submission import Cell
from ..model import source
from ..publish import release


def notebook(course: Course, assignment: str, student: str) -> Path:
    """Where the graded notebook of a submission lies."""
    return course.gradebook / "autograded" / student / assignment / f"{assignment}.ipynb"


def cells(notebook: bytes) -> list[Cell]:
    """The cells of a notebook; none of what is no notebook."""
    try:
        return submission.parse(notebook)
    except submission.Unreadable:
        return []


def parted(course: Course, assignment: str, name: str, text: str) -> tuple[str, str]:
    """The question as it was released, and what the student wrote beneath it; ``text`` is the cell of that name."""
    found = release.released_notebook(course, assignment).cells
    released = next(cell.source for cell in found if cell.metadata.get("nbgrader", {}).get("grade_id") == name)
    question = released.replace(source.ANSWER_STUB, "").strip()
    answer = text.strip().removeprefix(question).replace(source.ANSWER_STUB, "").strip()
    return question, answer
