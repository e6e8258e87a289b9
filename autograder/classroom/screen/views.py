"""The data of the screen: the class as a table, one exercise of one student, one question with grouped answers."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ... import escaping
from ...course import CourseError
from ...model import digests
from ...model.source import load_source
from .. import assessments, feedback, pages, questions, report, tampering
from ..grades import Grade, Score
from ..markdown import rendered
from ..nbgrader.term import Term
from ..questions import Answer, Question
from ..student_work import StudentWork
from ..submitted import ignored_files
from ..summary import StudentRow, summarise
from ..verdict_store import StoredVerdict


def sessions(term: Term) -> list[dict[str, str]]:
    """Return the sessions of which something is graded or handed in, with their titles."""
    course = term.course
    names = {*term.store.sessions(), *(file.session for file in term.submitted(course.sessions))}
    return [{"name": name, "title": load_source(course, name).title} for name in course.sessions if name in names]


def class_table(term: Term, session: str) -> dict[str, Any]:
    """Return the class: a column for each exercise or question, a row for each student, and what needs attention."""
    entries = term.store.entries(session)
    summary = summarise(session, entries, term.grades_of(session))
    by_student = {entry.student: entry for entry in entries}
    question_names = {answer.name for answer in summary.answers}
    return {
        "max": summary.max_points,
        "columns": [{"name": name, "kind": "question" if name in question_names else "exercise"}
                    for name in summary.names],
        "rows": [_row(term, row, by_student[row.student]) for row in summary.rows],
        "unread": sum(sign.kind == "waiting" for row in summary.rows for sign in row.signs),
        "arrived": [{"student": file.student, "again": file.student in by_student}
                    for file in term.arrived(session)],
        "ignored": [*(escaping.line(f"{file.student}/{session}: {file.problem}")
                      for file in term.submitted([session]) if file.problem),
                    *ignored_files(term.course)],
        "faults": summary.faults[:6],
    }


def _row(term: Term, row: StudentRow, entry: StoredVerdict) -> dict[str, Any]:
    session = entry.verdict.session
    return {
        "student": row.student,
        "pseudonym": questions.pseudonym(term, session, row.student),
        "points": row.points,
        "unread": row.unread_points,
        "signs": row.signs,
        "late": row.lateness or "",
        "times": len(entry.earlier) + 1,
        "flags": tampering.flags_of(StudentWork(term.course, session, entry.student)),
        "concerns": report.concerns(entry.verdict),
        "faults": sorted({f"{exercise} {fault.name}" for exercise, fault in entry.verdict.recognised}),
    }


def exercise(term: Term, session: str, student: str, name: str) -> dict[str, Any]:
    """Return one exercise of one student: its page, points and comment, and the digest of these."""
    work, grade = StudentWork(term.course, session, student), term.grades_of(session, student).get(student)
    if grade is None:
        raise CourseError(f"{student} has handed in nothing of {session}")
    page = feedback.page_of(work, grade)
    shown = next((exercise for exercise in page.exercises if exercise.name == name), None)
    if shown is None:
        raise CourseError(f"{session} has no exercise {name}")
    entry = term.store.load(session, student)
    results = entry.verdict.exercises if entry else ()
    result = next((result for result in results if result.exercise == name), None)
    html = pages.render(
        "screen_exercise.html.j2", exercise=shown, result=result, entry=entry,
        earlier=entry.earlier if entry else (),
        flags=tampering.flags_of(work) if entry else [],
        notes=entry.verdict.notes if entry else ())
    return {
        "student": student, "name": name, "page": html,
        "points": shown.score.points, "max": shown.score.max_points, "isManual": shown.score.is_manual,
        "automatic": result.points if result else 0.0, "comment": shown.comment,
        "digest": exercise_digest(grade, name),
    }


def exercise_digest(grade: Grade, exercise: str) -> str:
    """Return a digest of what a grade says of an exercise: another one as soon as somebody has changed it."""
    score = grade.exercise_scores.get(exercise, Score(None, 0.0))
    return digests.of_texts([repr((score.points, score.is_manual, grade.comment(exercise)))])


def find_question(term: Term, session: str, name: str) -> Question:
    """Return a question of a session with all its answers."""
    for question in questions.answered_questions(term, session):
        if question.name == name:
            return question
    raise CourseError(f"{session} has no question {name}")


def question(term: Term, session: str, name: str) -> dict[str, Any]:
    """Return a question: its text, its rubric, and the groups of answers."""
    question = find_question(term, session, name)
    figures = term.course.released / session
    return {
        "name": name, "max": question.points,
        "text": str(rendered(question.text, figures)), "model": str(rendered(question.rubric.model, figures)),
        "items": [{"points": item.points, "description": str(pages.marked(item.description))}
                  for item in question.rubric.items],
        "groups": [_group(term, question, group, figures) for group in question.groups],
        "blank": [answer.student for answer in question.blank_answers],
    }


def _group(term: Term, question: Question, group: Sequence[Answer], figures: Path) -> dict[str, Any]:
    first = group[0]
    return {
        "page": str(rendered(first.text, figures)) if first.text else "",
        "students": [{"student": answer.student, "digest": question.digest(answer)} for answer in group],
        "points": first.points, "ticks": question.ticks(first), "comment": first.comment,
        "read": first.points is not None,
        "earlier": _earlier_points(term, question, group) if first.points is None else None,
    }


def _earlier_points(term: Term, question: Question, group: Sequence[Answer]) -> float | None:
    """Return the points that a person gave for an earlier answer of one of these students; None without any."""
    for answer in group:
        earlier = assessments.load(term.course, question.session, answer.student).get(question.name)
        if earlier:
            return earlier.points
    return None
