"""Written answers of students, and the points and rubric items that a person gave.

``gradebook/read/<tp>/<student>.json`` holds ``Readings``, beside the verdicts. The points that count, and the comment,
stand in nbgrader's gradebook: where somebody has changed them in formgrader since, the items no longer say why, and
`items_of` gives none.
"""

from dataclasses import dataclass
from pathlib import Path

from ..course import Course
from ..judging import submission
from ..judging.submission import SubmittedCell
from ..judging.verdict import FileError, from_json, to_json
from ..model.rubric import RubricItem
from ..model.source import ANSWER_STUB, Source
from ..publish import notebooks
from ..runtime.workspace import write_whole
from .grades import Score


def cells(notebook: bytes) -> list[SubmittedCell]:
    """Return the cells of a notebook; none of what is no notebook."""
    try:
        return submission.parse(notebook)
    except submission.Unreadable:
        return []


def parted(truth: Source, name: str, text: str) -> tuple[str, str]:
    """Return the question as released, and what the student wrote beneath it; ``text`` is the cell of that name."""
    question = notebooks.released_text(truth, name).replace(ANSWER_STUB, "").strip()
    answer = text.strip().removeprefix(question).replace(ANSWER_STUB, "").strip()
    return question, answer


@dataclass(frozen=True)
class Ticked:
    """An item of the rubric as it was when the answer was read, and whether the answer has it."""

    item: RubricItem
    given: bool


@dataclass(frozen=True)
class Reading:
    """One answer: its points, and the items; the points are what a person says, and need not be the sum."""

    points: float
    items: tuple[Ticked, ...]


@dataclass(frozen=True)
class Readings:
    """The answers of one submission that were read, by the name of the question."""

    answers: dict[str, Reading]


def path(course: Course, assignment: str, student: str) -> Path:
    """Return where the readings of a submission stand."""
    return course.gradebook / "read" / assignment / f"{student}.json"


def load(course: Course, assignment: str, student: str) -> dict[str, Reading]:
    """Return the readings of a submission by question; none when there is no file that can be read."""
    place = path(course, assignment, student)
    try:
        return from_json(place.read_bytes(), Readings, str(place)).answers
    except (OSError, FileError):
        return {}


def save(course: Course, assignment: str, student: str, answers: dict[str, Reading]) -> None:
    """Keep the readings of a submission, in the place of those before."""
    write_whole(path(course, assignment, student), to_json(Readings(answers)))


def items_of(readings: dict[str, Reading], question: str, score: Score) -> tuple[Ticked, ...]:
    """Return the items behind the points of an answer; none when nobody ticked them, or the points are others now."""
    reading = readings.get(question)
    return reading.items if reading and reading.points == score.points else ()
