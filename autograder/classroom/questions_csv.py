"""Written answers as a CSV file: written to be filled in a spreadsheet, and entered into nbgrader's gradebook.

Each line is one answer: session, question, student (or pseudonym), version of the answer, points, an x for each rubric
item that is given, comment, and the answer itself, which is only for reading. An answer without points and without an x
is not read yet. Points without an x stand as they are; an x without points counts what its item gives.
"""

from collections.abc import Iterable, Sequence
from itertools import zip_longest
from math import nan
from pathlib import Path

from .. import escaping
from ..course import Course
from ..judging.verdict import FileError
from ..runtime.values import decimals
from . import grades, spreadsheets
from .classroom import Classroom
from .questions import Answer, AnswerEntry, Question, collect, save_entries

COLUMNS = ("session", "question", "student", "version", "points")
MAX_ANSWER = 30_000  # characters of an answer: spreadsheets have a bound, and so has Python's reader of CSV files
Line = tuple[int, dict[str, str]]  # the number of its line, and its cells by column
AnswerKey = tuple[str, str, str]  # session, question, and student or pseudonym


def path(course: Course, assignment: str) -> Path:
    """Return the file of a session."""
    return course.gradebook / "questions" / f"{assignment}.csv"


def write(path: Path, questions: Sequence[Question], anonymous: bool = False) -> None:
    """Write all answers to these questions; pseudonyms in the place of names if ``anonymous``."""
    most_items = max([1, *(len(question.rubric.items) for question in questions)])  # `rows` expects one
    lines = [[*COLUMNS, *(f"item {i}" for i in range(1, most_items + 1)), "comment", "answer"]]
    for question in questions:
        for answer in question.answers:
            ticks = ["x" if tick else "" for tick in question.ticks(answer)]
            lines.append([
                question.assignment, question.name,
                escaping.spreadsheet(answer.pseudonym if anonymous else answer.student), answer.version,
                _points_cell(answer.points),
                *ticks, *[""] * (most_items - len(ticks)),
                escaping.spreadsheet_text(answer.comment), escaping.spreadsheet_text(answer.text)[:MAX_ANSWER],
            ])
    spreadsheets.write(path, lines, str)  # escaped above: a text keeps its lines, a name has none


def enter(classroom: Classroom, path: Path) -> list[AnswerEntry]:
    """Enter the lines of a file that say something new, and return them.

    ``FileError`` names the first line that is wrong; nothing is entered then.
    """
    lines = rows(path)
    sessions = {cells["session"].strip() for _, cells in lines} & set(classroom.store.assignments())
    with classroom.store.writing():
        questions = [question for session in sessions for question in collect(classroom, session)]
        try:
            changed = [entry for entry in entries(lines, questions) if _is_new(entry)]
        except ValueError as error:
            raise FileError(f"{path}, {error}; nothing was entered") from None
        save_entries(classroom, changed)
    return changed


def rows(path: Path) -> list[Line]:
    """Return the lines behind the header of a file that are not empty."""
    header, lines = spreadsheets.read(path)
    header = ["session" if name == "TP" else name for name in header]  # TP: written by version 3
    if missing := [name for name in (*COLUMNS, "item 1", "comment") if name not in header]:
        raise FileError(f"{path} has no column {missing[0]!r}: it must be a file that autograder questions wrote")
    return [(number, dict(zip_longest(header, row[:len(header)], fillvalue="")))
            for number, row in lines if any(map(str.strip, row))]


def entries(lines: Iterable[Line], questions: Iterable[Question]) -> list[AnswerEntry]:
    """Return what the lines of a file say about answers to these questions; unread answers are left out.

    ``ValueError`` names the first line that is wrong, and the number of the others.
    """
    answers = {(question.assignment, question.name, label): (question, answer)
               for question in questions for answer in question.answers
               for label in (escaping.line(answer.student), answer.pseudonym)}
    by_answer: dict[AnswerKey, AnswerEntry] = {}
    problems = []
    for number, cells in lines:
        try:
            entry = _entry(cells, answers)
            if entry:
                key = entry.question.assignment, entry.question.name, entry.answer.student
                if key in by_answer:
                    raise ValueError("this answer stands in the file already")
                by_answer[key] = entry
        except ValueError as error:
            problems.append(f"line {number}: {error}")
    if problems:
        more = f"; {len(problems) - 1} more lines are wrong" if len(problems) > 1 else ""
        raise ValueError(f"{problems[0]}{more}")
    return list(by_answer.values())


def _entry(cells: dict[str, str], answers: dict[AnswerKey, tuple[Question, Answer]]) -> AnswerEntry | None:
    """Return what one line says; None when nobody has read the answer. ``ValueError`` says what is wrong."""
    student = escaping.from_spreadsheet(cells["student"])
    key = cells["session"].strip(), cells["question"].strip(), student
    if key not in answers:
        raise ValueError(f"{student} has handed in no answer to {cells['question']} of {cells['session']}")
    question, answer = answers[key]
    items = question.rubric.items
    ticks = [bool(cells.get(f"item {i}", "").strip()) for i in range(1, len(items) + 1)]
    points, comment = _points(cells["points"], question, answer), _comment(cells["comment"], answer)
    if points is None and not any(ticks):
        if comment:
            raise ValueError("a comment without points: 0 points are written as 0")
        return None
    if answer.blank and not any(ticks) and (points, comment) == (answer.points, answer.comment):
        return None
    if cells["version"].strip() != answer.version:
        raise ValueError("the student has handed in another answer since: read it again")
    if points is None:
        points = min(question.points, sum(item.points for item, tick in zip(items, ticks, strict=True) if tick))
    return AnswerEntry(question, answer, question.assessment(points, ticks), comment)


def _comment(cell: str, answer: Answer) -> str:
    """Return the comment in a cell; one that nobody changed keeps the characters that a cell shows by their numbers."""
    unchanged = cell == escaping.spreadsheet_text(answer.comment)
    return answer.comment if unchanged else escaping.from_spreadsheet(cell).strip()


def _points_cell(points: float | None) -> str:
    return "" if points is None else grades.in_file(points)


def _points(cell: str, question: Question, answer: Answer) -> float | None:
    """Return the points in a cell, with a comma or a point; those of the answer if nobody changed them."""
    if cell.strip() == _points_cell(answer.points):
        return answer.points
    if not cell.strip():
        return None
    try:
        points = float(cell.replace(",", "."))
    except ValueError:
        points = nan
    if not 0 <= points <= question.points:  # which nan is not, either
        raise ValueError(f"{cell.strip()!r} is no number of points from 0 to {decimals(question.points)}")
    return points


def _is_new(entry: AnswerEntry) -> bool:
    """Return whether an entry says something that the gradebook does not."""
    question, answer, assessment = entry.question, entry.answer, entry.assessment
    known = question.assessment(answer.points or 0.0, question.ticks(answer))
    return not answer.by_person or (assessment, entry.comment) != (known, answer.comment)
