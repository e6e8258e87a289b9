"""Save points and comments from the screen in nbgrader's gradebook, unless another grader changed them first.

Whoever saves says which version they have seen. Where the gradebook holds another by now, nothing is written.
"""

from collections.abc import Sequence
from typing import Any

from ...course import CourseError
from .. import answers, questions
from ..answers import Reading
from ..grading import Classroom
from . import shown

MOST_COMMENT = 10_000  # characters


class OvertakenError(Exception):
    """Another grader has changed the cell meanwhile; the message names the student."""


def save_points(classroom: Classroom, session: str, student: str, exercise: str, points: float | None, comment: str,
                version: str) -> None:
    """Write the points that a person gives for an exercise (None: those of the judge count), and a comment."""
    with classroom.store.writing(), classroom.gradebook() as gradebook:
        grade = gradebook.grades_of(session, student).get(student)
        if grade is None or f"check-{exercise}" not in grade.scores:
            raise CourseError(f"{student} has handed in no {exercise} of {session}")
        if shown.version(grade, exercise) != version:
            raise OvertakenError(student)
        most = grade.scores[f"check-{exercise}"].max_points
        gradebook.give(session, student, f"check-{exercise}", _points(points, most), _comment(comment))
        gradebook.commit()


def save_answers(classroom: Classroom, session: str, name: str, students: Sequence[tuple[str, str]],
                 ticks: Sequence[bool], points: float | None, comment: str) -> None:
    """Write how answers of the same words were read: to all students, or to none where one was overtaken.

    Without points the answers are not read, after all.
    """
    with classroom.store.writing():
        question = shown.asked(classroom, session, name)
        there = {answer.student: answer for answer in question.answers}
        if len(ticks) != len(question.rubric.items) or not all(student in there for student, _ in students):
            raise CourseError(f"{session} has no such answers to {name}")
        if late := [student for student, seen in students if shown.version_of(question, there[student]) != seen]:
            raise OvertakenError(", ".join(late))
        given = _points(points, question.points)
        with classroom.gradebook() as gradebook:
            for student, _ in students:
                gradebook.give(session, student, name, given, "" if given is None else _comment(comment))
            gradebook.commit()
        for student, _ in students:
            kept = answers.load(classroom.course, session, student)
            kept.pop(name, None)
            if given is not None:
                items = questions.ticked(question.rubric.items, ticks) if any(ticks) else ()
                kept[name] = Reading(given, items)
            answers.save(classroom.course, session, student, kept)


def _points(value: Any, most: float) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= most:
        raise CourseError(f"points are from 0 to {most:g}")
    return float(value)


def _comment(text: str) -> str:
    return text.strip()[:MOST_COMMENT]
