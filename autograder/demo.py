"""A small sample class, graded end to end, in a course root of its own: the real gradebook is not touched."""

import subprocess
import sys

from . import foreign
from .classroom.grading import Classroom, Graded, grade_class
from .classroom.overview import overview
from .course import Course
from .samples import classroom_in, hand_in, sample_class
from .sandbox.terms import Limits, Terms

TERMS = Terms(limits=Limits(cell_seconds=3, exercise_seconds=5))


def demo(course: Course, assignment: str | None = None) -> int:
    """Release, hand in, grade, give feedback; 1 when something went wrong on our side."""
    name = assignment or course.assignments[0]
    made = classroom_in(course.root / "artefacts" / "demo", course, [name])
    print(f"1. Release: nbgrader generate_assignment {name}")
    _nbgrader(made, "generate_assignment", name, "--create", "--force")
    students = sample_class(course, name)
    print(f"2. {len(students)} submissions are handed in")
    for student, content in students.items():
        hand_in(made, student, name, content)
    print("3. Grade, in bubblewrap, two at a time")
    graded = grade_class(Classroom(made), [name], TERMS, jobs=2, each=_told)
    print("4. Feedback: nbgrader generate_feedback, nbgrader export")
    _nbgrader(made, "generate_feedback", name, "--force")
    _nbgrader(made, "export", f"--CsvExportPlugin.to={made.root}/grades.csv")
    print()
    print(overview(graded))
    print(f"\nGrades:   {made.gradebook}/gradebook.db, {made.root}/grades.csv")
    print(f"Feedback: {made.gradebook}/feedback/<student>/{name}/{name}.html")
    return 1 if any(one.problem for one in graded) else 0


def _told(graded: Graded, done: int, total: int) -> None:
    print(foreign.line(f"   {done}/{total} {graded.handed.student}"), flush=True)


def _nbgrader(course: Course, *command: str) -> None:
    done = subprocess.run([sys.executable, "-m", "nbgrader", *command], cwd=course.root, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"nbgrader {command[0]} failed:\n{done.stderr[-2000:]}")
