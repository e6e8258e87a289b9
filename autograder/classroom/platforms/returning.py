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
from dataclasses import dataclass, field, replace
from pathlib import Path

import nbformat
from nbformat.v4 import new_markdown_cell, new_output

from ... import escaping
from ...course import Course, CourseError
from ...model.source import load_source
from ...publish import notebooks
from ...publish.wheels import write_zip
from ...runtime.text import decimals, points_text
from .. import csv_files, grades
from ..grades import Grade, Score
from ..nbgrader.feedback_pages import update_pages
from ..nbgrader.term import Term
from ..student_work import StudentWork
from .collecting import CollectedFile, Roster, table

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


def return_grades(term: Term, session: str, worksheet: Path | None = None) -> Returned:
    """Write everything into ``gradebook/return/<session>/``; ``CourseError`` when nothing was collected or graded."""
    course, result = term.course, Returned()
    roster = Roster(course)
    rows = [replace(row, student=roster.present_name(row)) for row in table(course, session) if row.taken]
    if not rows:
        raise CourseError(f"nothing of {session} was collected from Moodle or Canvas: autograder collect ZIP")
    students, maximum = _graded(term, session, rows)
    if not students:
        raise CourseError(f"nothing of {session} is graded yet: autograder grade {session}")
    graded = {student.row.student for student in students}
    if waiting := [row.student for row in rows if row.student not in graded]:
        result.notes.append(f"not graded yet: {', '.join(waiting)}")
    if unread := [student.row.student for student in students if student.grade.unread_answers]:
        result.notes.append(f"written answers wait to be read: {', '.join(unread)}")
    if other := [student.row.student for student in students if student.grade.has_doubtful_points]:
        result.notes.append(f"points given by hand may be for earlier code: {', '.join(other)}")
    if again := sorted(graded & {file.student for file in term.arrived(session)}):
        result.notes.append(f"handed in again and not graded since, the earlier grade is returned: {', '.join(again)}")
    folder = course.gradebook / "return" / session
    folder.mkdir(parents=True, exist_ok=True)
    moodle, canvas = ([student for student in students if student.row.platform == platform]
                      for platform in ("moodle", "canvas"))
    if moodle:
        _pages(term, session, moodle, folder / "moodle-feedback.zip", result)
    if canvas:
        _notebooks(course, session, canvas, folder / "canvas-feedback.zip", result)
        result.files.append(folder / "canvas-grades.csv")
        csv_files.write(result.files[-1], grades.canvas(session, maximum, _canvas(canvas)))
    if worksheet:
        by_number = {student.row.id: student for student in moodle}
        result.files.append(folder / "moodle-worksheet.csv")
        result.files[-1].write_text(_filled(worksheet, by_number, maximum, result), encoding="utf-8", newline="")
    elif moodle:
        result.notes.append("for grades and comments, download Moodle's grading worksheet and give it with --worksheet")
    return result


def _graded(term: Term, session: str, rows: list[CollectedFile]) -> tuple[list[_Student], float]:
    """Return the students who have a grade, and the points of the session."""
    source = load_source(term.course, session)
    order = [*source.exercises, *(cell.name for cell in source.by_role("answer"))]
    ungraded = {entry.student: entry.verdict.ungraded_reason for entry in term.store.entries(session)}
    with term.gradebook() as gradebook:
        graded, maximum = gradebook.grades_of(session), gradebook.max_points(session) or {}
    students = [_Student(row, graded[row.student], _comment(graded[row.student], order, ungraded.get(row.student)))
                for row in rows if row.student in graded]
    return students, sum(maximum.values())


def _comment(grade: Grade, order: list[str], ungraded_reason: str | None) -> str:
    """Return the points of each exercise and answer as the grade has them, and a person's comments."""
    scores = {**grade.exercise_scores, **grade.answer_scores}
    names = sorted(scores, key=lambda name: order.index(name) if name in order else len(order))
    lines = [ungraded_reason] if ungraded_reason else []
    for name in names:
        lines.append(f"{name}: {_points(scores[name])}")
        if comment := grade.comment(name):
            lines.append(f"{name}: {comment}")
    if grade.penalty:
        lines.append(f"penalty for lateness: {decimals(grade.penalty)} points")
    return "\n".join(lines)


def _points(score: Score) -> str:
    if score.points is None:
        return f"not read yet, {decimals(score.max_points)} at most"
    return points_text(score.points, score.max_points)


def _pages(term: Term, session: str, students: list[_Student], zipped: Path, result: Returned) -> None:
    """Write the feedback pages, and the zip of them."""
    problems, contents = {page.student: page.problem for page in update_pages(term, session)}, []
    for student in students:
        name = student.row.student
        if problem := problems.get(name, f"no graded notebook (autograder grade {session} --force)"):
            result.notes.append(f"no feedback page of {name}: {problem}")
        else:
            page = StudentWork(term.course, session, name).feedback
            contents.append((f"{student.row.return_name}/feedback.html", page.read_bytes()))
    if contents:
        write_zip(zipped, contents)
        result.files.append(zipped)


def _notebooks(course: Course, session: str, students: list[_Student], zipped: Path, result: Returned) -> None:
    """Write the zip of graded notebooks, with points and comments at their beginning."""
    contents = []
    for student in students:
        path = StudentWork(course, session, student.row.student).autograded
        try:
            contents.append((student.row.return_name, _with_grade(path.read_text(encoding="utf-8"), student)))
        except (OSError, ValueError):
            result.notes.append(f"no graded notebook that can be read: {student.row.student} "
                                f"(autograder grade {session} --force)")
    write_zip(zipped, contents)
    result.files.append(zipped)


def _with_grade(written: str, student: _Student) -> bytes:
    """Return a graded notebook with the present points and comments; a given score stands before the judge's."""
    notebook = nbformat.reads(written, as_version=4)
    for cell in notebook.cells:
        score = student.grade.scores.get(str(notebooks.grade_id(cell)))
        if cell.cell_type == "code" and score and score.is_manual:
            said = f"{_points(score)}, given by a person. The judge's result, which does not count:\n\n"
            cell.outputs.insert(0, new_output("stream", name="stdout", text=said))
    lines = [f"- {escaping.markdown(line)}" for line in student.comment.split("\n")]
    head = "\n".join(["**Points and comments**", "", *lines])
    notebook.cells.insert(0, new_markdown_cell(head, id="points-and-comments"))
    text: str = nbformat.writes(notebook)
    return text.encode()


def _canvas(students: list[_Student]) -> Iterator[list[str]]:
    """Yield a row for each student with a grade: an empty cell would remove a grade that is there."""
    for student in students:
        if student.row.id.isdigit():  # Canvas does not find an anonymous student
            yield [student.row.name, student.row.id, "", "", "", grades.format_points(student.grade.total)]


def _filled(worksheet: Path, students: dict[str, _Student], maximum: float, result: Returned) -> str:
    """Return Moodle's worksheet with grades and comments in it; all else in it as before."""
    text = worksheet.read_bytes().decode("utf-8-sig", errors="replace")
    reader = csv_files.reader(text)
    rows = list(reader)
    header = rows[0] if rows else []
    if GRADE not in header or len(header) < 3:
        raise CourseError(f"{worksheet} has no column {GRADE!r}: it is to be the grading worksheet of the "
                          "assignment, downloaded while Moodle speaks English")
    filled = set()
    for row in rows[1:]:
        number = re.search(r"(\d+)\s*$", row[0]) if len(row) == len(header) else None
        student = students.get(number[1]) if number else None
        if student is None or number is None:
            continue
        filled.add(number[1])
        row[header.index(GRADE)] = grades.format_points(student.grade.total * _scale(row, header, maximum, result))
        if COMMENTS in header and student.comment:
            comment = html.escape(escaping.csv_text(student.comment), quote=False).replace("\n", "<br>")
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

