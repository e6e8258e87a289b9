"""Grades out of nbgrader's gradebook, as CSV: everything, and in the forms that Moodle and Canvas import.

A grade is what formgrader shows: automatic points, points that a person gave, and the penalty for lateness taken off.
"""

import csv
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Grade:
    """One student's grade in one TP."""

    automatic: float  # points of check cells
    written: float  # points of written answers
    penalty: float
    unread: bool  # a person still has to look at something

    @property
    def total(self) -> float:
        return max(0.0, self.automatic + self.written - self.penalty)


@dataclass(frozen=True)
class Grades:
    """All grades of a course: the students as (id, last name, first name, email), and what they have."""

    students: list[tuple[str, str, str, str]]
    max_scores: dict[str, float]  # TP → points
    of: dict[tuple[str, str], Grade]  # (student, TP) → grade; nothing for those who handed in nothing


def read(gradebook, tps: list[str] | None = None) -> Grades:
    """The grades in an open gradebook, of these TPs or of all."""
    max_scores = {a.name: a.max_score for a in sorted(gradebook.assignments, key=lambda a: a.name) if tps is None or a.name in tps}
    found = {}
    for tp in max_scores:
        penalties = {s.student_id: s.late_submission_penalty or 0.0 for s in gradebook.assignment_submissions(tp)}
        for row in gradebook.submission_dicts(tp):
            found[row["student"], tp] = Grade(row["code_score"] or 0.0, row["written_score"] or 0.0, penalties[row["student"]], bool(row["needs_manual_grade"]))
    students = sorted((s.id, s.last_name or "", s.first_name or "", s.email or "") for s in gradebook.students)
    return Grades(students, max_scores, found)


def write(grades: Grades, folder: Path) -> None:
    """Write ``grades.csv``, ``moodle.csv`` and ``canvas.csv``."""
    _save(folder / "grades.csv", _everything(grades))
    _save(folder / "moodle.csv", _moodle(grades))
    _save(folder / "canvas.csv", _canvas(grades))


def _everything(grades):
    yield ["student", "last name", "first name", "email", "TP", "automatic", "written", "late penalty", "grade", "maximum", "to be read by a person"]
    for student in grades.students:
        for tp, maximum in grades.max_scores.items():
            grade = grades.of.get((student[0], tp))
            if grade:
                yield [*student, tp, *map(_number, (grade.automatic, grade.written, grade.penalty, grade.total, maximum)), "yes" if grade.unread else "no"]


def _moodle(grades):
    """One row a student. The columns are mapped by hand when importing; "-" is how Moodle writes "no grade"."""
    yield ["Username", "Last name", "First name", "Email address", *grades.max_scores]
    for student in grades.students:
        yield [*student, *_totals(grades, student[0], nothing="-")]


def _canvas(grades):
    """One row a student, found by its login; "Section" has to be the last column before the TPs."""
    yield ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *grades.max_scores]
    yield ["    Points Possible", "", "", "", "", *map(_number, grades.max_scores.values())]
    for name, last, first, _ in grades.students:
        shown = f"{last}, {first}" if last or first else name
        yield [shown.replace("Points Possible", "Points possible"), "", "", name, "", *_totals(grades, name, nothing="")]


def _totals(grades, student, nothing):
    return [_number(grades.of[student, tp].total) if (student, tp) in grades.of else nothing for tp in grades.max_scores]


def _number(value):
    return f"{value:.4f}".rstrip("0").rstrip(".")


def _save(path, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([[_plain(cell) for cell in row] for row in rows])


def _plain(text):
    """A cell that no spreadsheet takes for a formula."""
    return f"'{text}" if text[:1] in ("=", "+", "@", "\t", "\r") or (text[:1] == "-" and text != "-") else text
