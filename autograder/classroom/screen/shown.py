"""The data of the screen: the class as a table, one exercise of one student, one question with grouped answers."""

from collections.abc import Iterable, Sequence
from typing import Any

from ... import escaping
from ...course import CourseError
from ...model import digests, source
from ...model.rubric import Rubric
from .. import feedback, pages, questions, report, tampering
from ..grades import Grade, Score
from ..grading import Classroom
from ..markdown import offline
from ..nbgrader.feedback import all_pages
from ..questions import Answer, Question
from ..student_work import StudentWork
from ..submitted import ignored_files
from ..summary import Sign, summarise
from ..verdict_store import Entry


def sessions(classroom: Classroom) -> list[dict[str, str]]:
    """Return the sessions of which something is graded or handed in, with their titles."""
    course = classroom.course
    there = {*classroom.store.assignments(), *(one.assignment for one in classroom.submitted(course.assignments))}
    return [{"name": name, "title": source.load(course, name).title} for name in course.assignments if name in there]


def grid(classroom: Classroom, session: str) -> dict[str, Any]:
    """Return the class: a column an exercise or question, a row a student, and how many answers are unread."""
    course, entries = classroom.course, classroom.store.entries(session)
    with classroom.gradebook() as gradebook:
        grades = gradebook.grades_of(session)
    summary = summarise(session, entries, grades)
    by_student, truth = {entry.student: entry for entry in entries}, source.load(course, session)
    rows = [_row(classroom, by_student[row.student], row.signs, row.points, row.unread, row.lateness)
            for row in summary.rows]
    asked = {str(cell.name) for cell in truth.by_role("answer")}
    return {
        "session": session,
        "title": truth.title,
        "max": summary.max_points,
        "columns": [{"name": name, "kind": "question" if name in asked else "exercise"} for name in summary.names],
        "rows": rows,
        "unread": sum(sign["kind"] == "waiting" for row in rows for sign in row["signs"]),
        "arrived": [{"student": one.student, "again": one.student in by_student}
                    for one in classroom.arrived(session)],
        "untaken": [escaping.line(text) for text in (
            *(f"{one.student}/{session}: {one.problem}" for one in classroom.submitted([session]) if one.problem),
            *map(str, ignored_files(course)))],
        "faults": [{"exercise": one.exercise, "name": one.name, "count": len(one.students), "says": one.says}
                   for one in summary.faults[:6]],
    }


def _row(classroom: Classroom, entry: Entry, signs: Iterable[Sign], points: float, unread: float,
         lateness: str | None) -> dict[str, Any]:
    earlier = classroom.store.history(entry.verdict.assignment, entry.student)
    return {
        "student": entry.student,
        "points": points,
        "unread": unread,
        "signs": [{"kind": one.kind, "sign": one.sign, "words": one.words} for one in signs],
        "late": lateness or "",
        "times": len(earlier) + 1,
        "flags": tampering.of_submission(StudentWork(classroom.course, entry.verdict.assignment, entry.student)),
        "concerns": report.concerns(entry.verdict),
        "faults": sorted({f"{exercise} {fault.name}" for exercise, fault in entry.verdict.recognised}),
    }


def exercise(classroom: Classroom, session: str, student: str, name: str) -> dict[str, Any]:
    """Return one exercise of one student: its page, points and comment, and the version that they are."""
    course, grade = classroom.course, _grade(classroom, session, student)
    work = StudentWork(course, session, student)
    notebook = work.autograded.read_bytes() if work.autograded.is_file() else b""
    shown = feedback.page_of(work, grade, notebook)
    found = next((one for one in shown.exercises if one.name == name), None)
    if found is None:
        raise CourseError(f"{session} has no exercise {name}")
    entry = classroom.store.load(session, student)
    result = next((one for one in (entry.verdict.exercises if entry else ()) if one.exercise == name), None)
    page = pages.environment().get_template("screen_exercise.html.j2").render(
        session=session, student=student, one=found, result=result, entry=entry,
        history=classroom.store.history(session, student),
        flags=tampering.of_submission(work) if entry else [],
        notes=entry.verdict.notes if entry else ())
    return {
        "page": page, "points": found.score.points, "max": found.score.max_points, "byPerson": found.score.by_person,
        "automatic": result.score if result else 0.0, "comment": found.comment,
        "version": version(grade, name),
    }


def _grade(classroom: Classroom, session: str, student: str) -> Grade:
    with classroom.gradebook() as gradebook:
        found = gradebook.grades_of(session, student)
    if student not in found:
        raise CourseError(f"{student} has handed in nothing of {session}")
    return found[student]


def version(grade: Grade, exercise: str) -> str:
    """Return a name of what the gradebook holds of an exercise: another one as soon as somebody has changed it."""
    score = grade.scores.get(f"check-{exercise}", Score(None, 0.0))
    return digests.of_texts([repr((score.points, score.by_person, grade.comment(exercise)))])


def version_of(question: Question, answer: Answer) -> str:
    """Return the same of a written answer."""
    said = repr((answer.points, answer.by_person, answer.comment, question.ticks(answer)))
    return digests.of_texts([said, answer.version])


def asked(classroom: Classroom, session: str, name: str) -> Question:
    """Return a question of a session with all its answers."""
    for question in questions.collect(classroom, session):
        if question.name == name:
            return question
    raise CourseError(f"{session} has no question {name}")


def question(classroom: Classroom, session: str, name: str) -> dict[str, Any]:
    """Return a question: its text, its rubric, and the groups of answers."""
    found = asked(classroom, session, name)
    figures = classroom.course.released / session
    rubric: Rubric = found.rubric
    return {
        "name": name, "max": found.points,
        "text": str(offline(found.text, figures)), "model": str(offline(rubric.model, figures)),
        "items": [{"points": item.points, "says": str(pages.marked(item.says))} for item in rubric.items],
        "groups": [_group(found, group, figures) for group in found.groups],
        "blank": [answer.label for answer in found.blank],
    }


def _group(found: Question, group: Sequence[Answer], figures: Any) -> dict[str, Any]:
    one = group[0]
    return {
        "page": str(offline(one.text, figures)) if one.text else "",
        "students": [{"student": answer.student, "version": version_of(found, answer)} for answer in group],
        "points": one.points, "ticks": found.ticks(one), "comment": one.comment, "read": one.points is not None,
    }


def outdated(classroom: Classroom, session: str) -> int:
    """Return how many feedback pages do not say what the gradebook says."""
    return sum(bool(page.changed) for page in all_pages(classroom, session))

