"""What the class did not understand: one page for the instructor, one for a student who asks, and grades as CSV.

Everything comes from the recorded verdicts and from nbgrader's gradebook; nothing is judged again. Names, notes and
messages may be a student's own words: they are escaped, and nothing of theirs is a link, a picture or a script.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from .. import foreign
from ..authoring import mistakes
from ..course import Course
from ..judging.verdict import Outcome, Verdict
from . import grades, pictures
from .grades import Grades
from .grading import Classroom
from .ledger import Entry
from .pictures import Picture

# (exercise, mistake) → what a teacher says about it
Sentences = Mapping[tuple[str, str], str]


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
    """One exercise: its points, their mean, the share of submissions with full marks, and its results."""

    name: str
    max_score: float
    mean: float
    pass_rate: float
    outcomes: Counter[Outcome]
    checks: list[CheckSummary]


@dataclass(frozen=True)
class MistakeSummary:
    """A mistake that was recognised, and in the work of how many students."""

    exercise: str
    name: str
    students: int
    says: str


@dataclass(frozen=True)
class Summary:
    """One TP. Scores are of all submissions; what comes after ``unreadable`` is of those that could be read."""

    assignment: str
    submissions: int
    max_score: float
    mean: float
    median: float
    full: int
    unreadable: int
    exercises: list[ExerciseSummary]
    mistakes: list[MistakeSummary]
    seconds: float
    median_seconds: float
    longest: list[Entry]
    pictures: list[Picture]


def write(classroom: Classroom, assignments: list[str]) -> Path:
    """Write the page of the class and the CSV files; returns where the page is."""
    folder = _folder(classroom.course)
    table = _grades(classroom, assignments)
    grades.write(table, folder)
    entries = {assignment: classroom.ledger.entries(assignment) for assignment in assignments}
    known = {assignment: sentences(classroom.course, assignment) for assignment in assignments}
    path = folder / "index.html"
    path.write_text(class_page(entries, table, known), encoding="utf-8")
    return path


def write_student(classroom: Classroom, assignments: list[str], student: str) -> Path:
    """Write one student's page; returns where it is."""
    path = _folder(classroom.course) / f"student-{student}.html"
    found = [entry for assignment in assignments for entry in classroom.ledger.entries(assignment)]
    page = student_page(student, [e for e in found if e.student == student], _grades(classroom, assignments))
    path.write_text(page, encoding="utf-8")
    return path


def sentences(course: Course, assignment: str) -> Sentences:
    """What a teacher says about the mistakes of a TP; nothing when the course no longer has it."""
    known, _ = mistakes.load(course, assignment)
    return {(mistake.exercise, mistake.name): mistake.says for mistake in known}


def _folder(course: Course) -> Path:
    folder = course.gradebook / "report"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _grades(classroom: Classroom, assignments: list[str]) -> Grades:
    with classroom.gradebook() as gradebook:
        return grades.read(gradebook, assignments)


# The page of the class


def class_page(entries: Mapping[str, list[Entry]], table: Grades, known: Mapping[str, Sentences]) -> str:
    """The whole page; the entries and the sentences of mistakes by TP."""
    graded = {assignment: found for assignment, found in entries.items() if found}
    page = _environment().get_template("class.html.j2")
    return page.render(
        submissions=sum(map(len, graded.values())),
        unread=sum(grade.unread for grade in table.of.values()),
        looks=_looks(graded, table),
        summaries=[_summary(assignment, found, known.get(assignment, {})) for assignment, found in graded.items()],
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


def _summary(assignment: str, entries: list[Entry], known: Sentences) -> Summary:
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
        submissions=len(entries),
        max_score=max(verdict.max_score for verdict in verdicts),
        mean=mean(verdict.score for verdict in verdicts),
        median=median(verdict.score for verdict in verdicts),
        full=sum(verdict.score == verdict.max_score for verdict in verdicts),
        unreadable=len(entries) - len(readable),
        exercises=exercises,
        mistakes=_mistakes(readable, known),
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
        results = [result for verdict in verdicts for result in verdict.exercises if result.exercise == name]
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
                outcomes=outcomes,
                checks=[CheckSummary(check, passed[check], n, says.get(check, "")) for check, n in asked.items()],
            )
        )
    return summaries


def _mistakes(entries: list[Entry], known: Sentences) -> list[MistakeSummary]:
    """The mistakes that were recognised, the most frequent first; in the judge's words where there is no sentence."""
    students: dict[tuple[str, str], set[str]] = {}
    says = dict(known)
    for entry in entries:
        for result in entry.verdict.exercises:
            for check in result.checks:
                if check.mistake:
                    key = result.exercise, check.mistake
                    students.setdefault(key, set()).add(entry.student)
                    says.setdefault(key, check.message)
    ordered = sorted(students, key=lambda key: (-len(students[key]), key))
    return [MistakeSummary(*key, len(students[key]), says[key]) for key in ordered]


# The page of a student


def student_page(student: str, entries: list[Entry], table: Grades) -> str:
    """All that the judge said to one student, TP by TP."""
    page = _environment().get_template("student.html.j2")
    return page.render(student=student, verdicts=[entry.verdict for entry in entries], grades=table)


# Templates


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("autograder.classroom", "templates"),
        autoescape=True,
        finalize=foreign.on_page,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(marked=_marked, number=_number, percent=_percent, counted=_counted)
    return environment


def _marked(text: str) -> Markup:
    """Escaped text, with what stands in `backticks` as code."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(foreign.html(text))))


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _counted(n: int, one: str, many: str | None = None) -> str:
    return f"{n} {one if n == 1 else many or one + 's'}"
