"""Save points and comments from the screen in nbgrader's gradebook, unless another grader changed them first.

Each request has the digest of what the grader saw. If the gradebook holds something else by now, nothing is written.
"""

from dataclasses import dataclass
from typing import Any

from ...course import CourseError
from ...model.source import check_id
from ...runtime.text import decimals
from ..nbgrader.term import Term
from ..questions import AnswerEntry, save_entries
from . import views

MAX_COMMENT = 10_000  # characters


class ConflictError(Exception):
    """Another grader has changed the cell meanwhile; the message names the student."""


@dataclass(frozen=True)
class PointsRequest:
    """The points and the comment that a person gives for an exercise; None restores the judge's points."""

    session: str
    student: str
    name: str
    digest: str
    points: float | None
    comment: str


@dataclass(frozen=True)
class SeenAnswer:
    """The student of an answer, and the digest of what the grader saw."""

    student: str
    digest: str


@dataclass(frozen=True)
class AnswersRequest:
    """The assessment of answers of the same words. Without points, the answers are unread again."""

    session: str
    name: str
    students: list[SeenAnswer]
    ticks: list[bool]
    points: float | None
    comment: str


def save_points(term: Term, request: PointsRequest) -> dict[str, Any]:
    """Save the points of an exercise; return the exercise as it is now."""
    session, student, cell = request.session, request.student, check_id(request.name)
    with term.store.writing(), term.gradebook() as gradebook:
        grade = gradebook.grades_of(session, student).get(student)
        if grade is None or cell not in grade.scores:
            raise CourseError(f"{student} has handed in no {request.name} of {session}")
        if views.exercise_digest(grade, request.name) != request.digest:
            raise ConflictError(student)
        points = _points(request.points, grade.scores[cell].max_points)
        gradebook.set_manual_score(session, student, cell, points, _comment(request.comment))
        gradebook.commit()
    return views.exercise(term, session, student, request.name)


def save_answers(term: Term, request: AnswersRequest) -> dict[str, Any]:
    """Save the assessment for all students, or for none if one was overtaken; return the question as it is now."""
    with term.store.writing():
        question = views.find_question(term, request.session, request.name)
        answers = {answer.student: answer for answer in question.answers}
        if len(request.ticks) != len(question.rubric.items) or not all(
                seen.student in answers for seen in request.students):
            raise CourseError(f"{request.session} has no such answers to {request.name}")
        if overtaken := [seen.student for seen in request.students
                         if question.digest(answers[seen.student]) != seen.digest]:
            raise ConflictError(", ".join(overtaken))
        points = _points(request.points, question.points)
        assessment = None if points is None else question.assessment(points, request.ticks)
        comment = _comment(request.comment) if assessment else ""
        save_entries(term, [AnswerEntry(question, answers[seen.student], assessment, comment)
                            for seen in request.students])
    return views.question(term, request.session, request.name)


def _points(value: float | None, most: float) -> float | None:
    """Return points that a person gave; ``CourseError`` where they are not from 0 to ``most``."""
    if value is not None and not 0 <= value <= most:
        raise CourseError(f"points are from 0 to {decimals(most)}")
    return value


def _comment(text: str) -> str:
    return text.strip()[:MAX_COMMENT]
