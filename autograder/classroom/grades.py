"""The contents of nbgrader's gradebook: a score for each cell, a grade for each student, and CSV files of them.

The CSV files have everything, and the forms that Moodle and Canvas import.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, partial
from pathlib import Path

from ..model.source import CHECK_PREFIX
from ..runtime.text import counted, decimals
from . import csv_files

format_points = partial(decimals, digits=4)  # points as text


@dataclass(frozen=True)
class Score:
    """The points of one graded cell (None: still to be read), and whether a person gave them."""

    points: float | None
    max_points: float
    is_manual: bool = False


@dataclass(frozen=True)
class Grade:
    """The grade of one student in one session: scores by cell, comments by exercise or answer.

    It is what formgrader shows: automatic points, points that a person gave, and the penalty for lateness taken off.
    """

    scores: dict[str, Score]
    comments: dict[str, str]
    penalty: float = 0.0  # points taken off for lateness
    seconds_late: float | None = None  # None: the session has no due date
    handed_in: datetime | None = None  # in UTC
    name: str = ""  # the student's first and last name, where the gradebook knows them
    needs_manual_grade: bool = False  # nbgrader's word: a person still has to look at something

    @cached_property
    def exercise_scores(self) -> dict[str, Score]:
        """The scores by exercise."""
        return {name.removeprefix(CHECK_PREFIX): score for name, score in self.scores.items()
                if name.startswith(CHECK_PREFIX)}

    @cached_property
    def answer_scores(self) -> dict[str, Score]:
        """The scores of the written answers, by question."""
        return {name: score for name, score in self.scores.items() if not name.startswith(CHECK_PREFIX)}

    @property
    def automatic(self) -> float:
        """The points of the exercises."""
        return sum(score.points or 0.0 for score in self.exercise_scores.values())

    @property
    def written(self) -> float:
        """The points of the written answers that were read."""
        return sum(score.points or 0.0 for score in self.answer_scores.values())

    @property
    def total(self) -> float:
        """The points that count."""
        return max(0.0, self.automatic + self.written - self.penalty)

    def comment(self, name: str) -> str:
        """Return a person's comment on an exercise or answer."""
        return self.comments.get(name, "")

    @property
    def unread_answers(self) -> list[str]:
        """The written answers that wait to be read."""
        return [name for name, score in self.answer_scores.items() if score.points is None]

    @property
    def has_doubtful_points(self) -> bool:
        """Whether points that a person gave may be for earlier code, and nothing else waits for a person."""
        return self.needs_manual_grade and not self.unread_answers

    @property
    def lateness(self) -> str | None:
        """Return how late it is in words; None where there is no due date."""
        late = self.seconds_late
        if late is None:
            return None
        days, hours, minutes = int(late // 86_400), int(late % 86_400 // 3_600), int(late % 3_600 // 60)
        parts = [(days, "day"), (hours, "hour"), (minutes, "minute")]
        words = " ".join(counted(n, word) for n, word in parts if n)
        return f"{words or 'less than a minute'} late" if late else "on time"


NO_GRADE = Grade({}, {})


@dataclass(frozen=True)
class Grades:
    """All grades of a course, and its students as (id, last name, first name, email)."""

    students: list[tuple[str, str, str, str]]
    max_points: dict[str, float]  # by session
    by_submission: dict[tuple[str, str], Grade]  # (student, session) → grade; nothing for those who handed in nothing


def write(grades: Grades, folder: Path) -> None:
    """Write ``grades.csv``, and for each session ``moodle-<session>.csv`` and ``canvas-<session>.csv``."""
    csv_files.write(folder / "grades.csv", _everything(grades))
    for session, maximum in grades.max_points.items():
        csv_files.write(folder / f"moodle-{session}.csv", _moodle(grades, session))
        students = _canvas(grades, session)
        csv_files.write(folder / f"canvas-{session}.csv", canvas(session, maximum, students))


def _everything(grades: Grades) -> Iterator[list[str]]:
    yield [
        *("student", "last name", "first name", "email", "session"),
        *("automatic", "written", "late penalty", "grade", "maximum", "to be read by a person"),
    ]
    for student in grades.students:
        for session, maximum in grades.max_points.items():
            grade = grades.by_submission.get((student[0], session))
            if grade:
                points = (grade.automatic, grade.written, grade.penalty, grade.total, maximum)
                yield [*student, session, *map(format_points, points), "yes" if grade.needs_manual_grade else "no"]


def _moodle(grades: Grades, session: str) -> Iterator[list[str]]:
    """Yield a row for each student with a grade: an empty cell, and "-" too, would remove the present grade.

    A new grade item has a maximum of 100 on Moodle; the last column fits one. The columns are mapped by hand.
    (grade/import/csv/classes/load_data.php: `update_grade_item`, `import_new_grade_item`)
    """
    maximum = grades.max_points[session]
    yield ["Username", "Last name", "First name", "Email address", session, f"{session} of 100"]
    for student in grades.students:
        grade = grades.by_submission.get((student[0], session))
        if grade:
            hundredth = grade.total / maximum * 100 if maximum else 0.0
            yield [*student, format_points(grade.total), format_points(hundredth)]


def canvas(session: str, maximum: float, students: Iterable[list[str]]) -> Iterator[list[str]]:
    """Yield Canvas's gradebook with one session; "Section" has to be the last column before it.

    ``students`` are those with a grade: an empty cell would remove the present one.
    (lib/gradebook_importer.rb: `no_change_to_value?`)
    """
    yield ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", session]
    yield ["    Points Possible", "", "", "", "", format_points(maximum)]
    yield from students


def _canvas(grades: Grades, session: str) -> Iterator[list[str]]:
    """Yield a row for each student with a grade, found by login."""
    for name, last, first, _ in grades.students:
        shown = f"{last}, {first}" if last or first else name
        # a row that says "Points Possible" is not read as a student
        shown = shown.replace("Points Possible", "Points possible")
        if grade := grades.by_submission.get((name, session)):
            yield [shown, "", "", name, "", format_points(grade.total)]
