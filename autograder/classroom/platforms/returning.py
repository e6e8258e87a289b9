"""Grades, comments and feedback of one session, in the forms that Moodle and Canvas import.

Moodle's feedback zip (mod/assign/feedback/file/importziplib.php): a file in the folder of each submission.
Moodle's grading worksheet (mod/assign/feedback/offline/importgradeslib.php): the one downloaded from the assignment,
with the columns Grade and Feedback comments filled; an empty grade is passed over.
Canvas's zip (app/models/abstract_assignment.rb, `generate_comments_from_files`): files called as those handed in.
Canvas shows each under the name of the notebook that was handed in, so what goes back is a notebook: the graded one.
Canvas's gradebook (lib/gradebook_importer.rb): one row a student, found by ID.
"""

import csv
import html
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ... import escaping
from ...course import Course
from ...judging.verdict import points_of
from ...publish.archive import write_zip
from ...runtime.values import decimals
from .. import grades, spreadsheets
from ..classroom import Classroom
from ..grades import Grade
from ..student_work import StudentWork
from ..verdict_store import Entry
from .archive import ArchiveError
from .collecting import CollectedFile, table

GRADE, COMMENTS, MAXIMUM = "Grade", "Feedback comments", "Maximum Grade"


@dataclass
class Returned:
    """The files that were written, and notes for a person."""

    files: list[Path] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Student:
    row: CollectedFile
    grade: Grade
    comment: str  # text, several lines


def give_back(classroom: Classroom, assignment: str, worksheet: Path | None = None) -> Returned:
    """Write everything into ``gradebook/return/<session>/``; ``ArchiveError`` when nothing was collected or graded."""
    course, result = classroom.course, Returned()
    rows = [row for row in table(course, assignment) if row.taken]
    if not rows:
        raise ArchiveError(f"nothing of {assignment} was collected from Moodle or Canvas: autograder collect ZIP")
    students, maximum = _graded(classroom, assignment, rows)
    if not students:
        raise ArchiveError(f"nothing of {assignment} is graded yet: autograder grade {assignment}")
    graded = {student.row.student for student in students}
    if waiting := [row.student for row in rows if row.student not in graded]:
        result.notes.append(f"not graded yet: {', '.join(waiting)}")
    unread = [student.row.student for student in students if student.grade.unread]
    if unread:
        result.notes.append(f"written answers wait to be read, their points are missing: {', '.join(unread)}")
    folder = course.gradebook / "return" / assignment
    folder.mkdir(parents=True, exist_ok=True)
    moodle, canvas = ([student for student in students if student.row.platform == platform]
                      for platform in ("moodle", "canvas"))
    if moodle:
        _feedback(course, assignment, moodle, folder / "moodle-feedback.zip", result)
    if canvas:
        _feedback(course, assignment, canvas, folder / "canvas-feedback.zip", result)
        result.files.append(folder / "canvas-grades.csv")
        spreadsheets.write(result.files[-1], grades.canvas({assignment: maximum}, _canvas(canvas)))
    if worksheet:
        by_number = {student.row.id: student for student in moodle}
        result.files.append(folder / "moodle-worksheet.csv")
        result.files[-1].write_text(_filled(worksheet, by_number, maximum, result), encoding="utf-8", newline="")
    elif moodle:
        result.notes.append("for grades and comments, download Moodle's grading worksheet and give it with --worksheet")
    return result


def _graded(classroom: Classroom, assignment: str, rows: list[CollectedFile]) -> tuple[list[_Student], float]:
    """Return the students who have a grade, and the points of the session."""
    entries = {entry.student: entry for entry in classroom.store.entries(assignment)}
    with classroom.gradebook() as gradebook:
        graded, maximum = gradebook.grades_of(assignment), gradebook.max_points(assignment) or {}
    students = [_Student(row, graded[row.student], _comment(graded[row.student], entries.get(row.student)))
                for row in rows if row.student in graded]
    return students, sum(maximum.values())


def _comment(grade: Grade, entry: Entry | None) -> str:
    """Return the points of each exercise, and the comments that a person wrote in formgrader."""
    lines = []
    if entry and entry.verdict.unreadable:
        lines.append(entry.verdict.unreadable)
    elif entry:
        lines += [f"{exercise.exercise}: {points_of(exercise)}" for exercise in entry.verdict.exercises]
    return "\n".join([*lines, *(f"{name}: {comment}" for name, comment in grade.comments.items())])


def _feedback(course: Course, assignment: str, students: list[_Student], zipped: Path, result: Returned) -> None:
    """Write the zip of pages (Moodle) or of graded notebooks (Canvas)."""
    missing, contents = [], []
    for student in students:
        row, work = student.row, StudentWork(course, assignment, student.row.student)
        path, name = ((work.feedback, f"{row.return_name}/feedback.html") if row.platform == "moodle" else
                      (work.autograded, row.return_name))
        if path.is_file():
            contents.append((name, path.read_bytes()))
        else:
            missing.append(row.student)
    write_zip(zipped, contents)
    if missing:
        result.notes.append(f"no feedback page yet: {', '.join(missing)} (nbgrader generate_feedback {assignment})")
    result.files.append(zipped)


def _canvas(students: list[_Student]) -> Iterator[list[str]]:
    """Yield a row for each student with a grade: an empty cell would remove a grade that is there."""
    for student in students:
        if student.row.id.isdigit():  # Canvas does not find an anonymous student
            yield [student.row.name, student.row.id, "", "", "", grades.in_file(student.grade.total)]


def _filled(worksheet: Path, students: dict[str, _Student], maximum: float, result: Returned) -> str:
    """Return Moodle's worksheet with grades and comments in it; all else in it as before."""
    text = worksheet.read_bytes().decode("utf-8-sig", errors="replace")
    reader = spreadsheets.reader(text)
    rows = list(reader)
    header = rows[0] if rows else []
    if GRADE not in header or len(header) < 3:
        raise ArchiveError(f"{worksheet} has no column {GRADE!r}: it is to be the grading worksheet of the assignment, "
                           "downloaded while Moodle speaks English")
    filled = set()
    for row in rows[1:]:
        number = re.search(r"(\d+)\s*$", row[0]) if len(row) == len(header) else None
        student = students.get(number[1]) if number else None
        if student is None or number is None:
            continue
        filled.add(number[1])
        row[header.index(GRADE)] = grades.in_file(student.grade.total * _scale(row, header, maximum, result))
        if COMMENTS in header and student.comment:
            comment = html.escape(escaping.spreadsheet_text(student.comment), quote=False).replace("\n", "<br>")
            row[header.index(COMMENTS)] = comment
    if len(filled) < len(students):
        others = sorted(students[number].row.student for number in students.keys() - filled)
        result.notes.append(f"the worksheet does not know: {', '.join(others)}")
    if COMMENTS not in header:
        result.notes.append(f"the worksheet has no column {COMMENTS!r}: switch on Feedback comments in the assignment")
    file = io.StringIO()
    csv.writer(file, delimiter=reader.dialect.delimiter).writerows(rows)
    return file.getvalue()


def _scale(row: list[str], header: list[str], maximum: float, result: Returned) -> float:
    """Return the worth of a point on Moodle: a new assignment has a maximum of 100 there, whatever the session has."""
    try:
        moodles = float(row[header.index(MAXIMUM)].replace(",", "."))
    except ValueError:  # no such column, or a scale in words
        return 1.0
    if moodles <= 0 or maximum <= 0 or moodles == maximum:
        return 1.0
    note = (f"on Moodle the session has {decimals(moodles)} points, here {decimals(maximum)}: "
            "the grades are brought to Moodle's")
    if note not in result.notes:
        result.notes.append(note)
    return moodles / maximum

