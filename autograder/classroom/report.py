"""Report on a class: a page for the instructor, and grades as CSV.

Everything comes from the recorded verdicts, nbgrader's gradebook and the submitted files, in which signs of tampering
are looked for; nothing is judged again. Names, notes and messages may be a student's own words: they are escaped, and
nothing of theirs is a link, a picture or a script.
"""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import numpy as np

from ..judging.verdict import Verdict
from ..runtime.text import counted
from ..runtime.workspace import write_whole
from . import grades, pages, tampering
from .grades import NO_GRADE, Grades
from .nbgrader.term import Term
from .student_work import StudentWork
from .summary import NOT_GRADED, OUTCOMES, WAITING, summarise
from .verdict_store import StoredVerdict

StudentSession = tuple[str, str]  # names of both
MAX_FLAGS = 2  # of one submission; the screen shows all


def write(term: Term, sessions: list[str]) -> Path:
    """Write the page of the class and the CSV files; return where the page is."""
    folder = term.course.gradebook / "report"
    with term.gradebook() as gradebook:
        table = gradebook.grades(sessions)
    grades.write(table, folder)
    entries = {session: term.store.entries(session) for session in sessions}
    works = [StudentWork(term.course, name, entry.student) for name in sessions for entry in entries[name]]
    with_page = {(work.student, work.session) for work in works if work.feedback.is_file()}
    flags = {(work.student, work.session): tampering.flags_of(work) for work in works}
    path = folder / "index.html"
    no_longer_submitted = term.no_longer_submitted(sessions)
    write_whole(path, class_page(entries, table, with_page, flags, no_longer_submitted))
    return path


def class_page(entries: Mapping[str, list[StoredVerdict]], table: Grades, with_page: Collection[StudentSession],
               flags: Mapping[StudentSession, Sequence[str]], gone: Sequence[StudentSession] = ()) -> str:
    """Return the page of the class from the entries of each session; ``flags`` has the lines that look like tampering.

    ``with_page`` are those who have a feedback page, ``gone`` those who are graded, and whose submission is gone.
    """
    graded = {session: session_entries for session, session_entries in entries.items() if session_entries}
    summaries = [summarise(session, session_entries, {
        student: grade for (student, name), grade in table.by_submission.items() if name == session})
        for session, session_entries in graded.items()]
    return pages.render(
        "class.html.j2",
        submissions=sum(map(len, graded.values())),
        unread_submissions=sum(bool(grade.unread_answers) for grade in table.by_submission.values()),
        concerns=sorted([*_concerns(graded, table, flags), *(
            (student, name, "graded, and no longer in gradebook/submitted") for student, name in gone)]),
        summaries=summaries,
        histograms={summary.session: tenths(summary.automatic, summary.max_automatic) for summary in summaries},
        with_page=with_page,
        legend=[*OUTCOMES.values(), NOT_GRADED, WAITING],
    )


def concerns(verdict: Verdict) -> list[str]:
    """Return why a person should look at a submission; nothing when there is no reason."""
    reasons = []
    if verdict.ungraded_reason:
        reasons.append(f"not graded: {verdict.ungraded_reason}")
    elif verdict.exercises and all(result.outcome == "missing" for result in verdict.exercises):
        reasons.append("no exercise is written")
    for outcome in ("crashed", "timeout"):
        names = [result.exercise for result in verdict.exercises if result.outcome == outcome]
        if names:
            reasons.append(f"{OUTCOMES[outcome].words}: {', '.join(names)}")
    if verdict.isolation == "none":
        reasons.append("graded without isolation")
    return reasons


def _concerns(entries: Mapping[str, list[StoredVerdict]], table: Grades,
              flags: Mapping[StudentSession, Sequence[str]]) -> list[tuple[str, str, str]]:
    """Return the submissions that a person should look at: student, session, and why."""
    result = []
    for session, session_entries in entries.items():
        for entry in session_entries:
            reasons = concerns(entry.verdict)
            grade = table.by_submission.get((entry.student, session), NO_GRADE)
            if grade.has_doubtful_points:
                reasons.append("points given by hand may be for earlier code")
            if lines := flags.get((entry.student, session), ()):
                more = f"; {counted(len(lines) - MAX_FLAGS, 'more line')}" if len(lines) > MAX_FLAGS else ""
                reasons.append(f"tampers: it {'; it '.join(lines[:MAX_FLAGS])}{more}")
            if reasons:
                result.append((entry.student, session, "; ".join(reasons)))
        students = {entry.student for entry in session_entries}
        students |= {student for student, name in table.by_submission if name == session}
        result += [(student, session, "handed in nothing")
                   for student, *_ in table.students if student not in students]
    return result


def tenths(values: Sequence[float], most: float) -> list[int]:
    """Return how many values lie in each tenth of the range from 0 to ``most``."""
    counts: list[int] = np.histogram(values, bins=10, range=(0, most or 1))[0].tolist()
    return counts
