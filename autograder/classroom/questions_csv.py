"""Written answers as a CSV file: out, to be read in a spreadsheet or on the page, and in, to nbgrader's gradebook.

One line an answer: session, question, student (or the pseudonym), version of the answer, points, an x for each item of
the rubric that is given, comment, and the answer itself, which is only to be read. An answer without points and without
an x is not read yet. Points without an x stand as they are; an x without points counts what its item gives.
"""

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import nan
from pathlib import Path

from .. import escaping
from ..judging.verdict import FileError
from . import answers, grades, questions, spreadsheets
from .answers import Reading
from .grading import Classroom
from .questions import Answer, Question

COLUMNS = ("TP", "question", "student", "version", "points")


@dataclass(frozen=True)
class Read:
    """One answer as a line of the file says it was read."""

    question: Question
    answer: Answer
    reading: Reading
    comment: str

    @property
    def changes(self) -> bool:
        """Return whether it says something that was not known before."""
        before, items = self.answer, self.question.rubric.items
        known = (before.points, self.question.ticks(before), before.comment)
        return not before.by_person or known != (
            self.reading.points, [one.given for one in self.reading.items] or [False] * len(items), self.comment)


def write(path: Path, asked: Sequence[Question]) -> None:
    """Write all answers of these questions."""
    path.parent.mkdir(parents=True, exist_ok=True)
    most = max((len(question.rubric.items) for question in asked), default=0)
    with open(path, "w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow([*COLUMNS, *(f"item {i}" for i in range(1, most + 1)), "comment", "answer"])
        for question in asked:
            for one in question.answers:
                ticks = ["x" if tick else "" for tick in question.ticks(one)]
                out.writerow([
                    question.assignment, question.name, escaping.spreadsheet(one.label), one.version,
                    "" if one.points is None else grades.number(one.points),
                    *ticks, *[""] * (most - len(ticks)),
                    escaping.spreadsheet_text(one.comment), escaping.spreadsheet_text(one.text),
                ])


def enter(classroom: Classroom, path: Path) -> list[Read]:
    """Enter what a file says; return what is new. ``FileError`` names the first line that is wrong: all stays then."""
    changed = [one for one in _read(classroom, path) if one.changes]
    with classroom.store.writing(), classroom.gradebook() as gradebook:
        for one in changed:
            gradebook.give(one.question.assignment, one.answer.student, one.question.name, one.reading.points,
                           one.comment)
        gradebook.commit()
        for one in changed:  # after the points: items without their points would say nothing
            course, where = classroom.course, (one.question.assignment, one.answer.student)
            kept = answers.load(course, *where) | {one.question.name: one.reading}
            answers.save(course, *where, kept)
    return changed


def _read(classroom: Classroom, path: Path) -> list[Read]:
    lines = list(_lines(path))
    found: dict[tuple[str, str, str], tuple[Question, Answer]] = {}
    for assignment in {row["TP"] for _, row in lines} & set(classroom.store.assignments()):
        for question in questions.collect(classroom, assignment):
            for answer in question.answers:
                unnamed = questions.pseudonym(classroom, assignment, answer.student)
                for label in (escaping.spreadsheet(answer.student), unnamed):
                    found[assignment, question.name, label] = question, answer
    read: dict[tuple[str, str, str], Read] = {}
    problems = []
    for number, row in lines:
        try:
            one = _one(row, found)
            if one:
                key = one.question.assignment, one.question.name, one.answer.student
                if key in read:
                    raise ValueError("this answer stands in the file already")
                read[key] = one
        except ValueError as error:
            problems.append(f"line {number}: {error}")
    if problems:
        more = f"; {len(problems) - 1} more lines are wrong" if len(problems) > 1 else ""
        raise FileError(f"{path}, {problems[0]}{more}; nothing was entered")
    return list(read.values())


def _lines(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Return the lines behind the header, each with its number and its cells by column."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise FileError(f"{path} is no UTF-8 text: save it as CSV, UTF-8") from None
    rows = spreadsheets.reader(text)
    try:
        header: list[str] = next(rows, [])
        if missing := [name for name in (*COLUMNS, "item 1", "comment") if name not in header]:
            raise FileError(f"{path} has no column {missing[0]!r}: it is to be a file that autograder questions wrote, "
                            "or its page")
        for row in rows:
            if any(cell.strip() for cell in row):
                cells = [*row, *[""] * (len(header) - len(row))]
                yield rows.line_num, dict(zip(header, cells, strict=False))
    except csv.Error as error:
        raise FileError(f"{path}, line {rows.line_num}: {error}") from None


def _one(row: dict[str, str], found: dict[tuple[str, str, str], tuple[Question, Answer]]) -> Read | None:
    """Return what one line says; None when nobody has read the answer. ``ValueError`` says what is wrong."""
    known = found.get((row["TP"].strip(), row["question"].strip(), row["student"].strip()))
    if known is None:
        raise ValueError(f"{row['student']} has handed in no answer to {row['question']} of {row['TP']}")
    question, answer = known
    items = question.rubric.items
    ticks = [row.get(f"item {i}", "").strip() for i in range(1, len(items) + 1)]
    points, comment = _points(row["points"], question.points), escaping.from_spreadsheet(row["comment"]).strip()
    if points is None and not any(ticks):
        if comment:
            raise ValueError("a comment without points: 0 points are written as 0")
        return None
    if answer.blank and not any(ticks) and points == answer.points:
        return None
    if row["version"].strip() != answer.version:
        raise ValueError("the student has handed in another answer since: read it again")
    given = [bool(tick) for tick in ticks]
    if points is None:
        points = min(question.points, sum(item.points for item, one in zip(items, given, strict=True) if one))
    return Read(question, answer, Reading(points, questions.ticked(items, given) if any(given) else ()), comment)


def _points(cell: str, most: float) -> float | None:
    """Return the points in a cell, with a comma or a point; None where there are none."""
    if not cell.strip():
        return None
    try:
        points = float(cell.replace(",", "."))
    except ValueError:
        points = nan
    if not 0 <= points <= most:  # which nan is not, either
        raise ValueError(f"{cell.strip()!r} is no number of points from 0 to {most:g}")
    return points
