"""Report on a class: a page for the instructor, a page for one student, and grades as CSV.

Everything comes from the recorded verdicts and from nbgrader's gradebook; nothing is judged again. Names, notes and
messages may be a student's own words: they are escaped, and nothing of theirs is a link, a picture or a script.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from ..course import Course
from ..grammar import counted
from ..judging.verdict import Verdict
from . import feedback, grades, pages, pictures, tampering
from .grades import Grades
from .grading import Classroom
from .outcomes import SIGNS, WORDS
from .pictures import Picture
from .summary import ClassSummary, summarise
from .verdict_store import Entry

# What the signs of the class at a glance mean: kind, sign, words.
LEGEND = [*((outcome, SIGNS[outcome], words) for outcome, words in WORDS.items()), ("waiting", "…", "waits to be read")]


@dataclass(frozen=True)
class Links:
    """The addresses of a submission's pages, from the page of the report."""

    feedback: str | None
    verdict: str


# (student, session) → where to read on
Places = Mapping[tuple[str, str], Links]
# (student, session) → signs that the submission tampers with the grader
Tampered = Mapping[tuple[str, str], Sequence[str]]
NONE: Tampered = {}
MOST_SIGNS = 2  # of one submission; the screen shows all


@dataclass(frozen=True)
class Concern:
    """A submission that a person should look at, and why."""

    student: str
    assignment: str
    why: str


def write(classroom: Classroom, assignments: list[str]) -> Path:
    """Write the page of the class and the CSV files; return where the page is."""
    folder, found = _folder(classroom.course), _grades(classroom, assignments)
    grades.write(found, folder)
    entries = {assignment: classroom.store.entries(assignment) for assignment in assignments}
    places = {(entry.student, assignment): _links(classroom, assignment, entry.student)
              for assignment, own in entries.items() for entry in own}
    path = folder / "index.html"
    tampered = {(entry.student, assignment): tampering.of_submission(classroom.course, assignment, entry.student)
                for assignment, own in entries.items() for entry in own}
    path.write_text(class_page(entries, found, places, tampered), encoding="utf-8")
    return path


def write_student(classroom: Classroom, assignments: list[str], student: str) -> Path:
    """Write one student's page; return where it is."""
    path = _folder(classroom.course) / f"student-{student}.html"
    found = [entry for assignment in assignments for entry in classroom.store.entries(assignment)]
    page = student_page(student, [e for e in found if e.student == student], _grades(classroom, assignments))
    path.write_text(page, encoding="utf-8")
    return path


def _folder(course: Course) -> Path:
    folder = course.gradebook / "report"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _grades(classroom: Classroom, assignments: list[str]) -> Grades:
    with classroom.gradebook() as gradebook:
        return gradebook.grades(assignments)


def _links(classroom: Classroom, assignment: str, student: str) -> Links:
    """Return addresses from the folder of the report."""
    folder = classroom.course.gradebook
    page, verdict = (path.relative_to(folder) for path in (feedback.path(classroom.course, assignment, student),
                                                           classroom.store.path(assignment, student)))
    return Links(f"../{quote(str(page))}" if (folder / page).is_file() else None, f"../{quote(str(verdict))}")


def class_page(entries: Mapping[str, list[Entry]], found: Grades, places: Places, tampered: Tampered = NONE) -> str:
    """Return the page of the class; the entries by session."""
    there = {assignment: own for assignment, own in entries.items() if own}
    summaries = [summarise(assignment, own, {student: grade for (student, name), grade in found.of.items()
                                             if name == assignment}) for assignment, own in there.items()]
    return pages.environment().get_template("class.html.j2").render(
        submissions=sum(map(len, there.values())),
        unread=sum(grade.unread for grade in found.of.values()),
        concerns=_concerns(there, found, tampered),
        summaries=summaries,
        pictures={one.assignment: _pictures(one) for one in summaries},
        places=places,
        legend=LEGEND,
    )


def student_page(student: str, entries: list[Entry], found: Grades) -> str:
    """Return all that the judge said to one student, session by session."""
    page = pages.environment().get_template("student.html.j2")
    return page.render(student=student, verdicts=[entry.verdict for entry in entries], grades=found)


def concerns(verdict: Verdict) -> list[str]:
    """Return why a person should look at a submission; nothing when there is no reason."""
    found = []
    if verdict.unreadable:
        found.append(f"cannot be read: {verdict.unreadable}")
    elif verdict.exercises and all(result.outcome == "missing" for result in verdict.exercises):
        found.append("nothing written")
    for outcome in ("crashed", "timeout"):
        names = [result.exercise for result in verdict.exercises if result.outcome == outcome]
        if names:
            found.append(f"{WORDS[outcome]}: {', '.join(names)}")
    if verdict.isolation == "none":
        found.append("graded without isolation")
    return found


def _concerns(entries: Mapping[str, list[Entry]], found: Grades, tampered: Tampered) -> list[Concern]:
    made = []
    for assignment, own in entries.items():
        for entry in own:
            why = concerns(entry.verdict)
            if signs := tampered.get((entry.student, assignment), ()):
                more = f"; {counted(len(signs) - MOST_SIGNS, 'more line')}" if len(signs) > MOST_SIGNS else ""
                why.append(f"tampers: it {'; it '.join(signs[:MOST_SIGNS])}{more}")
            if why:
                made.append(Concern(entry.student, assignment, "; ".join(why)))
        handed_in = {entry.student for entry in own} | {student for student, name in found.of if name == assignment}
        made += [Concern(student, assignment, "handed in nothing")
                 for student, *_ in found.students if student not in handed_in]
    return sorted(made, key=lambda one: (one.student, one.assignment))


def _pictures(tp: ClassSummary) -> list[Picture]:
    shares = [score / tp.max_score if tp.max_score else 0.0 for score in tp.scores]
    drawn = [pictures.scores(tp.assignment, shares)]
    if tp.exercises:
        drawn.append(pictures.pass_rates(tp.assignment, {one.name: one.pass_rate for one in tp.exercises}))
        drawn.append(pictures.times(tp.assignment, tp.seconds))
    return drawn
