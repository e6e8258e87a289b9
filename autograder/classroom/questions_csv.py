"""Written answers as a CSV file: written to be filled in a spreadsheet, and entered into nbgrader's gradebook.

Each line is one answer: session, question, student (or pseudonym), digest of the answer and its assessment, points, an
x for each rubric item that is given, comment, and the answer itself, which is only for reading. An answer without
points and without an x is not read yet. Points without an x stand as they are; an x without points counts what its item
gives. A line that nobody has changed since it was written, or entered, says nothing, whatever the gradebook has by now.

A person may correct a line in a file that was entered: ``gradebook/read/entered.json`` has what each file entered last.
"""

import contextlib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import zip_longest
from math import nan
from pathlib import Path

from .. import escaping
from ..course import Course
from ..runtime.text import decimals
from ..runtime.workspace import write_whole
from . import csv_files
from .json_files import FileError, from_json, to_json
from .nbgrader.term import Term
from .questions import Answer, AnswerEntry, Question, answered_questions, assessment_digest, points_cell, save_entries

COLUMNS = ("session", "question", "student", "version", "points")
MAX_ANSWER = 30_000  # characters of an answer: spreadsheets have a bound, and so has Python's reader of CSV files
Row = tuple[int, dict[str, str]]  # the number of its line, and its cells by column
AnswerKey = tuple[str, str, str]  # session, question, and student or pseudonym
Entered = dict[str, tuple[str, str]]  # line → the digests of its assessment as it was written, and as it was entered


def path(course: Course, session: str) -> Path:
    """Return the file of a session."""
    return course.gradebook / "questions" / f"{session}.csv"


def write(path: Path, questions: Sequence[Question], anonymous: bool = False) -> None:
    """Write all answers to these questions; pseudonyms in the place of names if ``anonymous``."""
    most_items = max([1, *(len(question.rubric.items) for question in questions)])  # `rows` expects one
    lines = [[*COLUMNS, "rubric", *(f"item {i}" for i in range(1, most_items + 1)), "comment", "answer"]]
    for question in questions:
        rubric = "\n".join(f"item {i}, {decimals(item.points)}: {item.description}"
                           for i, item in enumerate(question.rubric.items, 1))
        for answer in question.answers:
            ticks = ["x" if tick else "" for tick in question.ticks(answer)]
            lines.append([
                question.session, question.name,
                escaping.csv_line(answer.pseudonym if anonymous else answer.student),
                question.digest(answer),
                points_cell(answer.points), escaping.csv_text(rubric),
                *ticks, *[""] * (most_items - len(ticks)),
                escaping.csv_text(answer.comment), escaping.csv_text(answer.text)[:MAX_ANSWER],
            ])
    csv_files.write(path, lines, str)  # escaped above: a text keeps its lines, a name has none


def enter(term: Term, path: Path) -> list[AnswerEntry]:
    """Enter the lines of a file that say something new, and return them.

    ``FileError`` names the first line that is wrong; nothing is entered then.
    """
    lines, course = rows(path), term.course
    sessions = {cells["session"].strip() for _, cells in lines} & set(term.store.sessions())
    with term.store.writing():
        questions = [question for session in sessions for question in answered_questions(term, session)]
        entered = _entered(course)
        before = entered.setdefault(path.resolve().as_uri(), {})
        try:
            changed = entries(lines, questions, before)
        except ValueError as error:
            raise FileError(f"{path}, {error}; nothing was entered") from None
        save_entries(term, [entry for entry, _ in changed])
        before |= {_line_name(cells): (_line_digest(cells), _entry_digest(entry)) for entry, cells in changed}
        write_whole(_entered_path(course), to_json(entered))
    return [entry for entry, _ in changed]


def not_entered(term: Term, path: Path, questions: Sequence[Question]) -> str | None:
    """Return why a file is not to be written anew: a person has written what the gradebook does not have."""
    if not path.exists():
        return None
    before = _entered(term.course).get(path.resolve().as_uri(), {})
    try:
        lines = rows(path)
    except FileError as error:
        return f"{error}; move it away"
    try:
        if not entries(lines, questions, before):
            return None
    except ValueError:  # a line is wrong, so a person has written it
        pass
    return (f"{path} has points or comments that are not in the gradebook: enter it first with "
            f"autograder questions --enter {path}, or move it away")


def _entered(course: Course) -> dict[str, Entered]:
    """Return what each file entered last, by its address."""
    path = _entered_path(course)
    return from_json(path.read_bytes(), dict[str, Entered], str(path)) if path.is_file() else {}


def _entered_path(course: Course) -> Path:
    return course.gradebook / "read" / "entered.json"


def rows(path: Path) -> list[Row]:
    """Return the lines behind the header of a file that are not empty."""
    header, lines = csv_files.read(path)
    if missing := [name for name in (*COLUMNS, "item 1", "comment") if name not in header]:
        raise FileError(f"{path} has no column {missing[0]!r}: it must be a file that autograder questions wrote")
    return [(number, dict(zip_longest(header, row[:len(header)], fillvalue="")))
            for number, row in lines]


def entries(rows: Iterable[Row], questions: Iterable[Question],
            before: Entered) -> list[tuple[AnswerEntry, dict[str, str]]]:
    """Return what the lines of a file say about answers to these questions and the gradebook does not have.

    With each entry come the cells of its line. ``before`` is what the file entered last.
    ``ValueError`` names the first line that is wrong, and the number of the others.
    """
    answers = {(question.session, question.name, label): (question, answer)
               for question in questions for answer in question.answers
               for label in (escaping.line(answer.student), answer.pseudonym)}
    by_answer: dict[AnswerKey, tuple[AnswerEntry, dict[str, str]]] = {}
    problems = []
    for number, cells in rows:
        try:
            entry = _entry(cells, answers, before)
            if entry:
                key = entry.question.session, entry.question.name, entry.answer.student
                if key in by_answer:
                    raise ValueError("this answer stands in the file already")
                by_answer[key] = entry, cells
        except ValueError as error:
            problems.append(f"line {number}: {error}")
    if problems:
        more = f"; {len(problems) - 1} more lines are wrong" if len(problems) > 1 else ""
        raise ValueError(f"{problems[0]}{more}")
    return list(by_answer.values())


def _key(cells: dict[str, str]) -> AnswerKey:
    return cells["session"].strip(), cells["question"].strip(), escaping.from_csv(cells["student"])


def _line_name(cells: dict[str, str]) -> str:
    """Return the name of a line: another one as soon as the file is written anew with another assessment."""
    return "\n".join([*_key(cells), cells["version"].strip()])


def _entry(cells: dict[str, str], answers: dict[AnswerKey, tuple[Question, Answer]],
           before: Entered) -> AnswerEntry | None:
    """Return what one line says; None when nobody has read the answer or changed the line, or it is entered already.

    ``ValueError`` says what is wrong.
    """
    key, line = _key(cells), _line_digest(cells)
    digest, written, *_ = [*cells["version"].strip().split("."), ""]
    line_before, entered = before.get(_line_name(cells), (written, written))
    if line == line_before:
        return None
    if key not in answers:
        raise ValueError(f"{key[2]} has handed in no answer to {cells['question']} of {cells['session']}")
    question, answer = answers[key]
    present = question.assessment_digest(answer)
    items = question.rubric.items
    ticks = [bool(cells.get(f"item {i}", "").strip()) for i in range(1, len(items) + 1)]
    points, comment = _points(cells["points"], question, answer), _comment(cells["comment"], answer)
    if points is None and not any(ticks):
        if comment:
            raise ValueError("a comment without points: 0 points are written as 0")
        return None
    if digest != answer.digest:
        raise ValueError("the student has handed in another answer since: empty this line, and read it again")
    if points is None:
        points = min(question.points, sum(item.points for item, tick in zip(items, ticks, strict=True) if tick))
    entry = AnswerEntry(question, answer, question.assessment(points, ticks), comment)
    if answer.is_manual and _entry_digest(entry) == present:
        return None
    if written and present not in (written, entered):
        raise ValueError("its points or comment were changed elsewhere since: empty this line and enter the others; "
                         "autograder questions then writes the newer ones")
    return entry


def _entry_digest(entry: AnswerEntry) -> str:
    """Return the digest of the assessment once this is entered."""
    points, items = (entry.assessment.points, entry.assessment.items) if entry.assessment else (None, ())
    assessed = replace(entry.answer, points=points, items=items, comment=entry.comment)
    return entry.question.assessment_digest(assessed)


def _line_digest(cells: dict[str, str]) -> str:
    """Return the digest of the assessment in a line, in whatever way a spreadsheet writes numbers."""
    points = cells["points"].strip()
    with contextlib.suppress(ValueError):
        points = points_cell(float(points.replace(",", ".")))
    ticks = [bool(text.strip()) for name, text in cells.items() if name.startswith("item ")]
    return assessment_digest(points, ticks, escaping.from_csv(cells["comment"]))


def _comment(cell: str, answer: Answer) -> str:
    """Return the comment in a cell; one that nobody changed keeps the characters that a cell shows by their numbers."""
    unchanged = cell == escaping.csv_text(answer.comment)
    return answer.comment if unchanged else escaping.from_csv(cell).strip()


def _points(cell: str, question: Question, answer: Answer) -> float | None:
    """Return the points in a cell, with a comma or a point; those of the answer if nobody changed them."""
    if cell.strip() == points_cell(answer.points):
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
