"""The class at a glance: one row a student, one column an exercise or written answer, and how each item did."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import StatisticsError, correlation, mean

from ..judging.verdict import ExerciseResult
from .feedback import SIGNS, WORDS
from .marks import Mark, Marks
from .verdict_store import Entry

FEWEST = 5  # students below whom a correlation says nothing
NOTHING = Marks({}, {})


@dataclass(frozen=True)
class Part:
    """What became of one exercise or answer: its kind (which colours it), its sign, and what that means in words."""

    kind: str  # an outcome of the judge; "waiting", "read" or "blank" of an answer
    sign: str
    words: str


@dataclass(frozen=True)
class Row:
    """One student: the parts in the order of the columns, points so far, and points that nobody has read."""

    student: str
    parts: tuple[Part, ...]
    points: float
    unread: float
    lateness: str | None


@dataclass(frozen=True)
class Item:
    """One written answer in numbers; of those that a person read, the mean share of its points."""

    name: str
    max_points: float
    read: int
    waiting: int
    blank: int
    share: float | None  # None: nobody has read one
    discrimination: float | None


@dataclass(frozen=True)
class Grid:
    """One TP: the exercises and the written answers, its points, a row for each student."""

    exercises: tuple[str, ...]
    answers: tuple[Item, ...]
    max_points: float
    rows: tuple[Row, ...]

    @property
    def unread(self) -> float:
        """All points that wait."""
        return sum(row.unread for row in self.rows)


def grid(entries: Sequence[Entry], graded: Mapping[str, Marks]) -> Grid:
    """The table of a TP from its verdicts, and from what the gradebook holds of each student."""
    exercises = list(dict.fromkeys(result.exercise for entry in entries for result in entry.verdict.exercises))
    answers = {name: mark.max_points for entry in entries
               for name, mark in graded.get(entry.student, NOTHING).marks.items() if not name.startswith("check-")}
    return Grid(
        exercises=tuple(exercises),
        answers=tuple(_item(name, points, entries, graded) for name, points in answers.items()),
        max_points=max((entry.verdict.max_score for entry in entries), default=0.0) + sum(answers.values()),
        rows=tuple(_row(entry, exercises, list(answers), graded.get(entry.student, NOTHING))
                   for entry in sorted(entries, key=lambda entry: entry.student)),
    )


def _row(entry: Entry, exercises: Sequence[str], answers: Sequence[str], graded: Marks) -> Row:
    results = {result.exercise: result for result in entry.verdict.exercises}
    given = {name: graded.marks.get(f"check-{name}", Mark(result.score, result.max_score))
             for name, result in results.items()} | {name: graded.marks.get(name) for name in answers}
    marks = [mark for mark in given.values() if mark]
    return Row(
        student=entry.student,
        parts=(*(_exercise(results.get(name)) for name in exercises), *(_answer(graded, name) for name in answers)),
        points=max(0.0, sum(mark.points or 0.0 for mark in marks) - graded.penalty),
        unread=sum(mark.max_points for mark in marks if mark.points is None),
        lateness=graded.lateness,
    )


def _exercise(result: ExerciseResult | None) -> Part:
    outcome = result.verdict if result else "missing"
    return Part(outcome, SIGNS[outcome], WORDS[outcome])


def _answer(graded: Marks, name: str) -> Part:
    mark = graded.marks.get(name)
    if mark is None or (mark.points == 0 and not mark.by_person):
        return Part("blank", "–", "blank")
    if mark.points is None:
        return Part("waiting", "…", "waiting to be read")
    return Part("read", f"{mark.points:g}", f"{mark.points:g} of {mark.max_points:g} points")


def _item(name: str, points: float, entries: Sequence[Entry], graded: Mapping[str, Marks]) -> Item:
    kinds = [_answer(graded.get(entry.student, NOTHING), name).kind for entry in entries]
    marks = [graded.get(entry.student, NOTHING).marks.get(name) for entry in entries]
    given = [(mark.points, entry.verdict.score) for entry, mark in zip(entries, marks, strict=True)
             if mark and mark.points is not None]
    read = [mark.points or 0.0 for mark, kind in zip(marks, kinds, strict=True) if mark and kind == "read"]
    return Item(name, points, kinds.count("read"), kinds.count("waiting"), kinds.count("blank"),
                mean(read) / points if read else None, discrimination(given))


def discrimination(pairs: Sequence[tuple[float, float]]) -> float | None:
    """How well an item tells students apart: the correlation of its points with the points of everything else.

    None where it cannot be said: too few students, or all of them alike.
    """
    if len(pairs) < FEWEST:
        return None
    try:
        return correlation(*zip(*pairs, strict=True))
    except StatisticsError:  # one of the two is constant
        return None
