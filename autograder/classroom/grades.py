"""Grades out of nbgrader's gradebook, as CSV: everything, and in the forms that Moodle and Canvas import.

A grade is what formgrader shows: automatic points, points that a person gave, and the penalty for lateness taken off.
"""

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from nbgrader.api import Gradebook

from .. import escaping


@dataclass(frozen=True)
class Grade:
    """One student's grade in one TP."""

    automatic: float  # points of check cells
    written: float  # points of written answers
    penalty: float
    unread: bool  # a person still has to look at something

    @property
    def total(self) -> float:
        """What counts, in points."""
        return max(0.0, self.automatic + self.written - self.penalty)


@dataclass(frozen=True)
class Grades:
    """All grades of a course: the students as (id, last name, first name, email), and what they have."""

    students: list[tuple[str, str, str, str]]
    max_scores: dict[str, float]  # TP → points
    of: dict[tuple[str, str], Grade]  # (student, TP) → grade; nothing for those who handed in nothing


def read(gradebook: Gradebook, assignments: list[str] | None = None) -> Grades:
    """The grades in an open gradebook, of these TPs or of all."""
    known = sorted(gradebook.assignments, key=lambda assignment: assignment.name)
    max_scores = {a.name: a.max_score for a in known if assignments is None or a.name in assignments}
    found = {}
    for assignment in max_scores:
        submissions = gradebook.assignment_submissions(assignment)
        penalties = {submission.student_id: submission.late_submission_penalty or 0.0 for submission in submissions}
        for row in gradebook.submission_dicts(assignment):
            found[row["student"], assignment] = Grade(
                automatic=row["code_score"] or 0.0,
                written=row["written_score"] or 0.0,
                penalty=penalties[row["student"]],
                unread=bool(row["needs_manual_grade"]),
            )
    students = sorted((s.id, s.last_name or "", s.first_name or "", s.email or "") for s in gradebook.students)
    return Grades(students, max_scores, found)


def write(grades: Grades, folder: Path) -> None:
    """Write ``grades.csv``, ``canvas.csv``, and one ``moodle-<tp>.csv`` for each TP."""
    _save(folder / "grades.csv", _everything(grades))
    for assignment in grades.max_scores:
        _save(folder / f"moodle-{assignment}.csv", _moodle(grades, assignment))
    _save(folder / "canvas.csv", _canvas(grades))


def _everything(grades: Grades) -> Iterator[list[str]]:
    yield [
        *("student", "last name", "first name", "email", "TP"),
        *("automatic", "written", "late penalty", "grade", "maximum", "to be read by a person"),
    ]
    for student in grades.students:
        for assignment, maximum in grades.max_scores.items():
            grade = grades.of.get((student[0], assignment))
            if grade:
                points = (grade.automatic, grade.written, grade.penalty, grade.total, maximum)
                yield [*student, assignment, *map(number, points), "yes" if grade.unread else "no"]


def _moodle(grades: Grades, assignment: str) -> Iterator[list[str]]:
    """One row for each student who has a grade: an empty cell, and "-" too, would take away the grade that is there.

    A new grade item has a maximum of 100 on Moodle; the last column fits one. The columns are mapped by hand.
    (grade/import/csv/classes/load_data.php: `update_grade_item`, `import_new_grade_item`)
    """
    maximum = grades.max_scores[assignment]
    yield ["Username", "Last name", "First name", "Email address", assignment, f"{assignment} of 100"]
    for student in grades.students:
        grade = grades.of.get((student[0], assignment))
        if grade:
            hundredth = grade.total / maximum * 100 if maximum else 0.0
            yield [*student, number(grade.total), number(hundredth)]


def _canvas(grades: Grades) -> Iterator[list[str]]:
    """One row a student, found by its login; "Section" has to be the last column before the TPs."""
    yield ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *grades.max_scores]
    yield ["    Points Possible", "", "", "", "", *map(number, grades.max_scores.values())]
    for name, last, first, _ in grades.students:
        shown = f"{last}, {first}" if last or first else name
        # a row that says "Points Possible" is not read as a student
        shown = shown.replace("Points Possible", "Points possible")
        found = [grades.of.get((name, assignment)) for assignment in grades.max_scores]
        yield [shown, "", "", name, "", *[number(grade.total) if grade else "" for grade in found]]


def number(value: float) -> str:
    """A grade as text, with four digits at most behind the point."""
    return f"{value:.4f}".rstrip("0").rstrip(".")


def _save(path: Path, rows: Iterable[list[str]]) -> None:
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([[escaping.spreadsheet(cell) for cell in row] for row in rows])
