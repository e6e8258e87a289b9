"""What the class did not understand: one page for the instructor, one for a student who asks, and grades as CSV.

Everything comes from the recorded verdicts and from nbgrader's gradebook; nothing is judged again. Names, notes and
messages may be a student's own words: they are escaped, and nothing of theirs is a link, a picture or a script.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median
from urllib.parse import quote

from ..course import Course
from ..judging.verdict import Outcome, Verdict
from ..model import faults
from . import grades, marks, pages, pictures
from .feedback import SIGNS, WORDS
from .grades import Grades
from .grading import Classroom
from .grid import Grid, discrimination, grid
from .marks import Marks
from .nbgrader.pages import page_of as feedback_page
from .pictures import Picture
from .verdict_store import Entry

# (exercise, fault) → what a teacher says about it
Sentences = Mapping[tuple[str, str], str]

# TP → student → what the gradebook holds
Graded = Mapping[str, Mapping[str, Marks]]


@dataclass(frozen=True)
class Links:
    """What there is to read about a submission, as addresses from the page."""

    feedback: str | None
    verdict: str


# (student, TP) → where to read on
Places = Mapping[tuple[str, str], Links]


# What the signs of the class at a glance mean: kind, sign, words.
SHOWN = [*((outcome, SIGNS[outcome], words) for outcome, words in WORDS.items()), ("waiting", "…", "waits to be read")]


@dataclass(frozen=True)
class Look:
    """A submission that a person should look at, and why."""

    student: str
    assignment: str
    why: str


@dataclass(frozen=True)
class CheckSummary:
    """One check: how many submissions pass it, of how many, and what it asks for (once somebody passes)."""

    name: str
    passed: int
    asked: int
    says: str


@dataclass(frozen=True)
class ExerciseSummary:
    """One exercise: points, their mean, share with full marks, how well it tells students apart, results, and the
    seconds its checks took (median, and the longest)."""

    name: str
    max_score: float
    mean: float
    pass_rate: float
    discrimination: float | None
    outcomes: Counter[Outcome]
    checks: list[CheckSummary]
    median_seconds: float
    longest_seconds: float


@dataclass(frozen=True)
class FaultSummary:
    """A fault that was recognised, and in whose work."""

    exercise: str
    name: str
    students: tuple[str, ...]
    says: str


@dataclass(frozen=True)
class Summary:
    """One TP. Scores are of all submissions; what comes after ``unreadable`` is of those that could be read."""

    assignment: str
    grid: Grid
    submissions: int
    max_score: float
    mean: float
    median: float
    full: int
    unreadable: int
    exercises: list[ExerciseSummary]
    faults: list[FaultSummary]
    seconds: float
    median_seconds: float
    longest: list[Entry]
    pictures: list[Picture]


def write(classroom: Classroom, assignments: list[str]) -> Path:
    """Write the page of the class and the CSV files; returns where the page is."""
    folder = _folder(classroom.course)
    table = _grades(classroom, assignments)
    grades.write(table, folder)
    entries = {assignment: classroom.store.entries(assignment) for assignment in assignments}
    known = {assignment: sentences(classroom.course, assignment) for assignment in assignments}
    graded = {assignment: _marks(classroom, assignment, found) for assignment, found in entries.items()}
    places = {(entry.student, assignment): _links(classroom, assignment, entry.student)
              for assignment, found in entries.items() for entry in found}
    path = folder / "index.html"
    path.write_text(class_page(entries, table, known, graded, places), encoding="utf-8")
    return path


def write_student(classroom: Classroom, assignments: list[str], student: str) -> Path:
    """Write one student's page; returns where it is."""
    path = _folder(classroom.course) / f"student-{student}.html"
    found = [entry for assignment in assignments for entry in classroom.store.entries(assignment)]
    page = student_page(student, [e for e in found if e.student == student], _grades(classroom, assignments))
    path.write_text(page, encoding="utf-8")
    return path


def sentences(course: Course, assignment: str) -> Sentences:
    """What a teacher says about the faults of a TP; nothing when the course no longer has it."""
    known, _ = faults.load(course, assignment)
    return {(fault.exercise, fault.name): fault.says for fault in known}


def _folder(course: Course) -> Path:
    folder = course.gradebook / "report"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _marks(classroom: Classroom, assignment: str, entries: list[Entry]) -> dict[str, Marks]:
    """What the gradebook holds of those who are entered in it."""
    with classroom.gradebook() as gradebook:
        entered = {one.student.id for one in gradebook.assignment_submissions(assignment)}
        return {entry.student: marks.read(gradebook, assignment, entry.student)
                for entry in entries if entry.student in entered}


def _links(classroom: Classroom, assignment: str, student: str) -> Links:
    """Addresses from the folder of the report."""
    folder = classroom.course.gradebook
    page, verdict = (path.relative_to(folder) for path in (feedback_page(classroom.course, assignment, student),
                                                           classroom.store.path(assignment, student)))
    return Links(f"../{quote(str(page))}" if (folder / page).is_file() else None, f"../{quote(str(verdict))}")


def _grades(classroom: Classroom, assignments: list[str]) -> Grades:
    with classroom.gradebook() as gradebook:
        return grades.read(gradebook, assignments)


# The page of the class


def class_page(entries: Mapping[str, list[Entry]], table: Grades, known: Mapping[str, Sentences], graded: Graded,
               places: Places) -> str:
    """The whole page; the entries, the sentences of faults and the marks by TP."""
    there = {assignment: found for assignment, found in entries.items() if found}
    page = pages.environment().get_template("class.html.j2")
    return page.render(
        submissions=sum(map(len, there.values())),
        unread=sum(grade.unread for grade in table.of.values()),
        looks=_looks(there, table),
        summaries=[_summary(assignment, found, known.get(assignment, {}), graded.get(assignment, {}))
                   for assignment, found in there.items()],
        places=places,
        signs=SHOWN,
    )


def concerns(verdict: Verdict) -> list[str]:
    """Why a person should look at a submission; empty when there is no reason."""
    found = []
    if verdict.unreadable:
        found.append(f"cannot be read: {verdict.unreadable}")
    elif verdict.exercises and all(result.verdict == "missing" for result in verdict.exercises):
        found.append("nothing written")
    for outcome, words in (("crashed", "crashed"), ("timeout", "timed out")):
        names = [result.exercise for result in verdict.exercises if result.verdict == outcome]
        if names:
            found.append(f"{words}: {', '.join(names)}")
    if verdict.isolation == "none":
        found.append("graded without isolation")
    return found


def _looks(entries: Mapping[str, list[Entry]], table: Grades) -> list[Look]:
    looks = []
    for assignment, found in entries.items():
        for entry in found:
            if why := concerns(entry.verdict):
                looks.append(Look(entry.student, assignment, "; ".join(why)))
        handed_in = {entry.student for entry in found} | {name for name, of in table.of if of == assignment}
        absent = [student for student, *_ in table.students if student not in handed_in]
        looks += [Look(student, assignment, "handed in nothing") for student in absent]
    return sorted(looks, key=lambda look: (look.student, look.assignment))


def _summary(assignment: str, entries: list[Entry], known: Sentences, graded: Mapping[str, Marks]) -> Summary:
    verdicts = [entry.verdict for entry in entries]
    readable = [entry for entry in entries if not entry.verdict.unreadable]
    exercises = _exercises([entry.verdict for entry in readable])
    seconds = [entry.verdict.seconds for entry in readable]
    drawn = [pictures.scores(assignment, [v.score / v.max_score if v.max_score else 0.0 for v in verdicts])]
    if exercises:
        drawn.append(pictures.pass_rates(assignment, {exercise.name: exercise.pass_rate for exercise in exercises}))
        drawn.append(pictures.times(assignment, seconds))
    return Summary(
        assignment=assignment,
        grid=grid(entries, graded),
        submissions=len(entries),
        max_score=max(verdict.max_score for verdict in verdicts),
        mean=mean(verdict.score for verdict in verdicts),
        median=median(verdict.score for verdict in verdicts),
        full=sum(verdict.score == verdict.max_score for verdict in verdicts),
        unreadable=len(entries) - len(readable),
        exercises=exercises,
        faults=_faults(readable, known),
        seconds=sum(seconds),
        median_seconds=median(seconds or [0.0]),
        longest=sorted(readable, key=lambda entry: -entry.verdict.seconds)[:5],
        pictures=drawn,
    )


def _exercises(verdicts: list[Verdict]) -> list[ExerciseSummary]:
    """The exercises in the order of the TP."""
    names = dict.fromkeys(result.exercise for verdict in verdicts for result in verdict.exercises)
    summaries = []
    for name in names:
        found = [(result, verdict) for verdict in verdicts for result in verdict.exercises if result.exercise == name]
        results = [result for result, _ in found]
        outcomes = Counter(result.verdict for result in results)
        passed, asked, says = Counter[str](), Counter[str](), dict[str, str]()
        for check in (check for result in results for check in result.checks):
            asked[check.check] += 1
            if check.passed:
                passed[check.check] += 1
                says[check.check] = check.message
        summaries.append(
            ExerciseSummary(
                name=name,
                max_score=results[0].max_score,
                mean=mean(result.score for result in results),
                pass_rate=outcomes["passed"] / len(results),
                discrimination=discrimination([(one.score, verdict.score - one.score) for one, verdict in found]),
                outcomes=outcomes,
                checks=[CheckSummary(check, passed[check], n, says.get(check, "")) for check, n in asked.items()],
                median_seconds=median(result.seconds for result in results),
                longest_seconds=max(result.seconds for result in results),
            )
        )
    return summaries


def _faults(entries: list[Entry], known: Sentences) -> list[FaultSummary]:
    """The faults that were recognised, the most frequent first; in the judge's words where there is no sentence."""
    students: dict[tuple[str, str], set[str]] = {}
    says = dict(known)
    for entry in entries:
        for result in entry.verdict.exercises:
            for check in result.checks:
                if check.fault:
                    key = result.exercise, check.fault
                    students.setdefault(key, set()).add(entry.student)
                    says.setdefault(key, check.message)
    ordered = sorted(students, key=lambda key: (-len(students[key]), key))
    return [FaultSummary(*key, tuple(sorted(students[key])), says[key]) for key in ordered]


# The page of a student


def student_page(student: str, entries: list[Entry], table: Grades) -> str:
    """All that the judge said to one student, TP by TP."""
    page = pages.environment().get_template("student.html.j2")
    return page.render(student=student, verdicts=[entry.verdict for entry in entries], grades=table)

