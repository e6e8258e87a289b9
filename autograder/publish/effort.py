"""Minutes and difficulty of each exercise and question, core and extension.

One line of its text says it, `*Minutes* 20 · *Difficulty* ●●○○`, and `· *Extension*` behind that where the core of the
session goes on without it. Here these lines are read, added up, and made into the table of all sessions. A course asks
for them in its `course.toml`, as it asks for hints.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..course import Course
from ..model import source
from ..model.errors import source_error
from ..model.source import Cell, Source
from .about import About, about

TIME = "{time}"  # stands in the text of a session for what `time` says
WORDS_A_MINUTE = 150
_LINE = re.compile(r"^\*Minutes\* (\d+)(?: · \*Difficulty\* (●{1,4}○{0,3}))?( · \*Extension\*)?(?=[:\s]|\Z)", re.M)
_PART = re.compile(r"^## .*$", re.M)
_HINTS = re.compile(r"<details>.*?</details>", re.S)


@dataclass(frozen=True)
class Task:
    """An exercise or a question, with its minutes and difficulty."""

    kind: str  # "exercise" or "question"
    name: str
    points: float
    minutes: int
    difficulty: str  # ● out of four; empty for a question
    extension: bool


def task(cells: tuple[Cell, ...], i: int) -> Task | None:
    """Return what the exercise or the question in cell ``i`` asks.

    None where no line says it, and for all other cells.
    """
    cell = cells[i]
    if cell.role not in ("exercise", "answer") or cell.name is None:
        return None
    text = cell if cell.role == "answer" else _text_before(cells, i)
    said = _LINE.search(text.source) if text else None
    if said is None or len(said[2] or "●●●●") != 4 or (cell.role == "exercise") != bool(said[2]):
        return None
    points = cell.points or next(one.points for one in cells if (one.role, one.name) == ("check", cell.name))
    kind = "exercise" if cell.role == "exercise" else "question"
    return Task(kind, cell.name, points, int(said[1]), said[2] or "", bool(said[3]))


def without(text: str) -> str:
    """Return the text of a question without the line that says how long it takes."""
    return re.sub(r"^\*Minutes\* \d.*$", "", text, flags=re.M).strip()


def tasks(tp: Source) -> list[Task]:
    """Return the exercises and questions of a session whose text says what they ask."""
    return [one for i in range(len(tp.cells)) if (one := task(tp.cells, i))]


def minutes(tp: Source, extension: bool = False) -> int:
    """Return the minutes of the core or the extensions: marked tasks, and the parts with this word in their heading.

    Reading is included; hints and model answers are not read.
    """
    words, part = 0, False
    for cell in tp.cells:
        if cell.is_markdown:
            text = _HINTS.sub("", cell.source.replace(cell.hidden, ""))
            if heading := _PART.search(text):
                part = "Extension" in heading[0]
            line = _LINE.search(text)
            if (part or bool(line and line[3])) == extension:
                words += len(text.split())
    return words // WORDS_A_MINUTE + sum(one.minutes for one in tasks(tp) if one.extension == extension)


def time(tp: Source) -> str:
    """Return how long a session takes, in words."""
    more = _hours(minutes(tp, extension=True))
    return f"about {_hours(minutes(tp))}" + (f", and {more} for the extensions" if more else "")


def _hours(count: int) -> str:
    """Return minutes in words, rounded up to the next five."""
    hours, rest = divmod(5 * -(-count // 5), 60)
    return " ".join([f"{hours} h"] * bool(hours) + [f"{rest} min"] * bool(rest))


def page(course: Course) -> str:
    """Return the table of all sessions, and of the exercises and questions in each, in Markdown."""
    sources = [source.load(course, name) for name in course.assignments]
    lines = ["# What each session asks", "",
             f"Minutes are the authors' estimates; no student was timed. Reading is counted at {WORDS_A_MINUTE} words "
             "a minute and is part of both.\nThis page is made by `autograder release`; do not edit it.", "",
             "| session | core | extensions | exercises | questions | points |", "|---|--:|--:|--:|--:|--:|"]
    for tp in sources:
        kinds = [one.kind for one in tasks(tp)]
        points = sum(cell.points for cell in tp.by_role("check", "answer"))
        core, more = (_hours(minutes(tp, extension)).replace(" ", "\N{NO-BREAK SPACE}") or "–"
                      for extension in (False, True))
        lines.append(f"| {tp.title} | {core} | {more} "
                     f"| {kinds.count('exercise')} | {kinds.count('question')} | {points:g} |")
    for tp in sources:
        lines += ["", f"## {tp.title}", "", "| | what | minutes | difficulty | points |", "|---|---|--:|---|--:|"]
        lines += [f"| `{one.name}` | {'extension: ' * one.extension}{one.kind} | {one.minutes} | {one.difficulty} "
                  f"| {one.points:g} |" for one in tasks(tp)]
    return "\n".join(lines) + "\n"


def pages(course: Course) -> dict[Path, str]:
    """Return the table by its path, for a course that asks for minutes and has a folder docs."""
    path = course.root / "docs" / "sessions.md"
    return {path: page(course)} if about(course).effort and path.parent.is_dir() else {}


def advice(tp: Source, asked: About) -> list[str]:
    """Return what the course asks of its exercises and questions, where it is missing: lines with file and number."""
    return [*_hints_missing(tp, asked.hints), *(_effort_missing(tp) if asked.effort else ())]


def _hints_missing(tp: Source, wanted: int) -> Iterator[str]:
    for i, cell in enumerate(tp.cells):
        if wanted and cell.role == "exercise":
            text = _text_before(tp.cells, i)
            hints = text.source.count("<details>") if text else 0
            if hints != wanted:
                yield str(source_error(tp.path, (text or cell).line,
                                              f"the exercise {cell.name} has {hints} hints, not {wanted}"))


def _effort_missing(tp: Source) -> Iterator[str]:
    for i, cell in enumerate(tp.cells):
        if cell.role in ("exercise", "answer") and task(tp.cells, i) is None:
            yield str(source_error(tp.path, cell.line, f"nothing says how long the {cell.role} {cell.name} "
                                          "takes: *Minutes* 20 · *Difficulty* ●●○○ (an answer: *Minutes* 5)"))


def _text_before(cells: tuple[Cell, ...], i: int) -> Cell | None:
    return next((one for one in reversed(cells[:i]) if one.role == "text"), None)
