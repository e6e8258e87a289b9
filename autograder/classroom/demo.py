"""A small sample class, graded end to end, in a course root of its own: the real gradebook is not touched."""

import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import nbformat

from .. import AutograderError, escaping
from ..course import Course
from ..runtime.text import counted, last_line
from ..sandbox.options import Limits, Options
from . import report
from .grading import GradingResult, grade_class, summary_table
from .nbgrader.feedback_pages import update_pages
from .nbgrader.term import Term
from .samples import LATE, classroom_in, earlier_submissions, hand_in, sample_class
from .student_work import StudentWork

OPTIONS = Options(limits=Limits(cell_cpu_seconds=3, exercise_cpu_seconds=15))


def demo(course: Course, session: str | None = None) -> int:
    """Release, hand in, grade and give feedback; return 1 when something went wrong on our side."""
    name = course.select_sessions([session] if session else [])[0]
    copy = classroom_in(course.root / "artefacts" / "demo", course, [name])
    print(f"1. Release: nbgrader generate_assignment {name}")
    _nbgrader(copy, "generate_assignment", name, "--create", "--force")
    students = sample_class(course, name)
    print(f"2. {counted(len(students), 'submission')} handed in")
    now, term = datetime.now(UTC), Term(copy)
    for student, first in earlier_submissions(copy, name).items():
        _hand_in(copy, student, name, first, now - timedelta(days=4))
    print("3. Grade, in bubblewrap, two at a time: first what somebody hands in again later")
    grade_class(term, [name], OPTIONS, each=_print)
    with term.gradebook() as gradebook:
        gradebook.set_due(name, now - timedelta(days=2))
    for student, content in students.items():
        _hand_in(copy, student, name, content, now - timedelta(days=0 if student in LATE else 3))
    graded = grade_class(term, [name], OPTIONS, workers=2, each=_print)
    print("4. Feedback, report: autograder feedback, autograder report")
    pages = update_pages(term, name)
    page = report.write(term, [name])
    print()
    print(summary_table(graded))
    print(f"\nOpen first, the class:   {page}")
    print(f"then a student's page:   {StudentWork(copy, name, _worth_reading(graded)).feedback}")
    print(f"and the grades:          {page.parent}/grades.csv")
    command = os.path.relpath(Path(sys.executable).with_name("autograder"))  # who types make has it on no path
    print(f"All of it on one screen: {command} --course {escaping.line(os.path.relpath(copy.root))} open")
    problems = [result.problem for result in graded] + [page.problem for page in pages]
    return 1 if any(problems) else 0


def _hand_in(course: Course, student: str, name: str, content: nbformat.NotebookNode | str, when: datetime) -> None:
    path = hand_in(course, student, name, content)
    path.with_name("timestamp.txt").write_text(f"{when:%Y-%m-%d %H:%M:%S} UTC\n")


def _worth_reading(graded: list[GradingResult]) -> str:
    """Return the student with the most points among those in whose work a fault was recognised."""
    return max(graded, key=lambda result: (result.verdict is not None and bool(result.verdict.faults),
                                           result.verdict.points if result.verdict else 0)).file.student


def _print(graded: GradingResult, done: int, total: int) -> None:
    print(escaping.line(f"   {done}/{total} {graded.file.student}"), flush=True)


def _nbgrader(course: Course, *command: str) -> None:
    done = subprocess.run([sys.executable, "-m", "nbgrader", *command], cwd=course.root, capture_output=True, text=True)
    if done.returncode:
        raise AutograderError(f"nbgrader {command[0]} failed: {last_line(done.stderr)}")
