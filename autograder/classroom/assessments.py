"""Written answers of students, and the points and rubric items that a person gave.

``gradebook/read/<session>/<student>.json`` holds an ``AssessmentFile``. The points that count, and the comment, are in
nbgrader's gradebook. If somebody changed the points in formgrader since, the items no longer explain them, and
`items_of` returns none.
"""

from dataclasses import dataclass
from pathlib import Path

from ..course import Course
from ..model.rubric import RubricItem
from ..model.source import Source
from ..runtime.notebook.handing_in import written_answer
from ..runtime.workspace import write_whole
from .grades import Score
from .json_files import load_json, to_json


def split_question(source: Source, name: str, text: str) -> tuple[str, str]:
    """Return the question as released, and the student's answer beneath it; ``text`` is the cell of that name."""
    question = source.cell("answer", name).without_solution().strip()
    return question, written_answer(text, question)


@dataclass(frozen=True)
class AssessedItem:
    """An item of the rubric as it was when a person read the answer, and whether the answer has it."""

    item: RubricItem
    given: bool


@dataclass(frozen=True)
class Assessment:
    """What a person gave for an answer: points, which need not be the sum of the items, and the items if any."""

    points: float
    items: tuple[AssessedItem, ...]


@dataclass(frozen=True)
class AssessmentFile:
    """The assessments of one submission, by the name of the question."""

    answers: dict[str, Assessment]


def path(course: Course, session: str, student: str) -> Path:
    """Return the file with the assessments of a submission."""
    return course.gradebook / "read" / session / f"{student}.json"


def load(course: Course, session: str, student: str) -> dict[str, Assessment]:
    """Return the assessments of a submission by question; none if there is no readable file."""
    file = load_json(path(course, session, student), AssessmentFile)
    return file.answers if file else {}


def save(course: Course, session: str, student: str, assessments: dict[str, Assessment]) -> None:
    """Replace the assessments of a submission."""
    write_whole(path(course, session, student), to_json(AssessmentFile(assessments)))


def items_of(assessments: dict[str, Assessment], question: str, score: Score) -> tuple[AssessedItem, ...]:
    """Return the items behind the points of an answer; none if nobody ticked any, or the points have changed since."""
    assessment = assessments.get(question)
    return assessment.items if assessment and assessment.points == score.points else ()
