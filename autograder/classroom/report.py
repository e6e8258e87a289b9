"""Report on a class: a page for the instructor, and grades as CSV.

Everything comes from the recorded verdicts and from nbgrader's gradebook; nothing is judged again. Names, notes and
messages may be a student's own words: they are escaped, and nothing of theirs is a link, a picture or a script.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from urllib.parse import quote

from ..grammar import counted
from ..judging.verdict import Verdict
from . import feedback, grades, pages, tampering
from .grades import Grades
from .grading import Classroom
from .summary import SIGNS, WORDS, ClassSummary, summarise
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


@dataclass(frozen=True)
class Bar:
    """A bar of a chart: its label, its length from 0 to 1, and the number behind it."""

    label: str
    length: float
    number: str


@dataclass(frozen=True)
class Chart:
    """A chart of horizontal bars: its title, what the bars count, all of it in words, and the bars."""

    title: str
    axis: str
    words: str
    bars: Sequence[Bar]


def write(classroom: Classroom, assignments: list[str]) -> Path:
    """Write the page of the class and the CSV files; return where the page is."""
    folder = classroom.course.gradebook / "report"
    folder.mkdir(parents=True, exist_ok=True)
    with classroom.gradebook() as gradebook:
        found = gradebook.grades(assignments)
    grades.write(found, folder)
    entries = {assignment: classroom.store.entries(assignment) for assignment in assignments}
    places = {(entry.student, assignment): _links(classroom, assignment, entry.student)
              for assignment, own in entries.items() for entry in own}
    path = folder / "index.html"
    tampered = {(entry.student, assignment): tampering.of_submission(classroom.course, assignment, entry.student)
                for assignment, own in entries.items() for entry in own}
    path.write_text(class_page(entries, found, places, tampered), encoding="utf-8")
    return path


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
        charts={summary.assignment: list(charts(summary)) for summary in summaries},
        places=places,
        legend=LEGEND,
    )


def concerns(verdict: Verdict) -> list[str]:
    """Return why a person should look at a submission; nothing when there is no reason."""
    found = []
    if verdict.unreadable:
        found.append(f"cannot be read: {verdict.unreadable}")
    elif verdict.exercises and all(result.verdict == "missing" for result in verdict.exercises):
        found.append("nothing written")
    for outcome in ("crashed", "timeout"):
        names = [result.exercise for result in verdict.exercises if result.verdict == outcome]
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


def charts(summary: ClassSummary) -> Iterator[Chart]:
    """Yield the charts of a session: scores, and the pass rates and seconds of the submissions that could be read."""
    shares = [score / summary.max_score if summary.max_score else 0.0 for score in summary.scores]
    counts = tenths(shares, 1.0)
    words = ", ".join(f"{count} from {10 * i} to {10 * i + 10} %" for i, count in enumerate(counts) if count)
    yield Chart("Scores", "submissions by share of automatic points",
                f"Histogram of scores. Submissions by share of the automatic points: {words}.",
                _histogram(counts, [f"{10 * i}–{10 * i + 10} %" for i in range(10)]))
    if not summary.exercises:
        return
    rates = {exercise.name: exercise.pass_rate for exercise in summary.exercises}
    words = ", ".join(f"{name} {pages.percent(rate)}" for name, rate in rates.items())
    yield Chart("Pass rate of each exercise", "share of submissions with full marks",
                f"Bars, full marks by exercise: {words}.",
                [Bar(name, rate, pages.percent(rate)) for name, rate in rates.items()])
    seconds, most = summary.seconds, max(summary.seconds) or 1.0
    labels = [f"{i * most / 10:.3g}–{(i + 1) * most / 10:.3g} s" for i in range(10)]
    words = f"from {min(seconds):.3g} to {max(seconds):.3g}, median {median(seconds):.3g}"
    yield Chart("Time used", "submissions by seconds to grade",
                f"Histogram of the seconds that grading took: {words}.", _histogram(tenths(seconds, most), labels))


def tenths(values: Sequence[float], most: float) -> list[int]:
    """Return how many values lie in each tenth of the range from 0 to ``most``."""
    counts = Counter(min(int(10 * value / most), 9) for value in values)
    return [counts[i] for i in range(10)]


def _histogram(counts: Sequence[int], labels: Sequence[str]) -> list[Bar]:
    highest = max(counts)
    return [Bar(label, count / highest, str(count or "–")) for label, count in zip(labels, counts, strict=True)]
