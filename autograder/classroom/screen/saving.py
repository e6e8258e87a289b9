"""Save points and comments from the screen in nbgrader's gradebook, unless another grader changed them first.

Each request names the version that the grader saw. If the gradebook holds another one by now, nothing is written.
"""

from collections.abc import Sequence
from typing import Any

from ...course import CourseError
from ..grading import Classroom
from ..questions import AnswerEntry, save_entries
from . import shown

MOST_COMMENT = 10_000  # characters


class OvertakenError(Exception):
    """Another grader has changed the cell meanwhile; the message names the student."""


def save_points(classroom: Classroom, session: str, student: str, exercise: str, points: float | None, comment: str,
                version: str) -> None:
    """Write a comment and the points that a person gives for an exercise; None restores the judge's points."""
    with classroom.store.writing(), classroom.gradebook() as gradebook:
        grade = gradebook.grades_of(session, student).get(student)
        if grade is None or f"check-{exercise}" not in grade.scores:
            raise CourseError(f"{student} has handed in no {exercise} of {session}")
        if shown.exercise_version(grade, exercise) != version:
            raise OvertakenError(student)
        most = grade.scores[f"check-{exercise}"].max_points
        gradebook.give(session, student, f"check-{exercise}", _points(points, most), _comment(comment))
        gradebook.commit()


def save_answers(classroom: Classroom, session: str, name: str, students: Sequence[tuple[str, str]],
                 ticks: Sequence[bool], points: float | None, comment: str) -> None:
    """Enter the assessment of answers of the same words for all their students, or for none if one was overtaken.

    Without points, the answers are unread again.
    """
    with classroom.store.writing():
        question = shown.find_question(classroom, session, name)
        answers = {answer.student: answer for answer in question.answers}
        if len(ticks) != len(question.rubric.items) or not all(student in answers for student, _ in students):
            raise CourseError(f"{session} has no such answers to {name}")
        if overtaken := [student for student, version in students
                         if shown.answer_version(question, answers[student]) != version]:
            raise OvertakenError(", ".join(overtaken))
        given = _points(points, question.points)
        assessment = None if given is None else question.assessment(given, ticks)
        text = _comment(comment) if assessment else ""
        save_entries(classroom, [AnswerEntry(question, answers[student], assessment, text) for student, _ in students])


def _points(value: Any, most: float) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= most:
        raise CourseError(f"points are from 0 to {most:g}")
    return float(value)


def _comment(text: str) -> str:
    return text.strip()[:MOST_COMMENT]
