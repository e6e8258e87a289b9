"""Minutes and difficulty of each exercise and question, core and extension.

They stand in a line of its text, `*Minutes* 20 · *Difficulty* ●●○○`, followed by `· *Extension*` where the core of the
session goes on without it. This module reads these lines, adds them up, and writes the table of all sessions. A course
requires them in its `course.toml`, as it requires hints.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ..course import Course
from ..model.errors import source_error
from ..model.source import Cell, Source, load_source

TaskKind = Literal["exercise", "question"]

TIME = "{time}"  # stands in the text of a session for what `duration` says
WORDS_A_MINUTE = 150
_LINE = re.compile(r"^\*Minutes\* (\d+)(?: · \*Difficulty\* (●{1,4}○{0,3}))?( · \*Extension\*)?(?=[:\s]|\Z)", re.M)
_PART = re.compile(r"^## .*$", re.M)
_HINTS = re.compile(r"<details>.*?</details>", re.S)


@dataclass(frozen=True)
class Task:
    """An exercise or a question, with its minutes and difficulty."""

    kind: TaskKind
    name: str
    points: float
    minutes: int
    difficulty: str  # ● out of four; empty for a question
    extension: bool


def tasks(source: Source) -> list[Task]:
    """Return the exercises and questions of a session that state their minutes."""
    return [task for cell, text in _described(source) if (task := _task(source, cell, text))]


def _described(source: Source) -> Iterator[tuple[Cell, Cell | None]]:
    """Yield each exercise and question, and the cell with its text; None where no text stands before an exercise."""
    text = None
    for cell in source.cells:
        if cell.role == "text":
            text = cell
        elif cell.role in ("exercise", "answer"):
            yield cell, cell if cell.role == "answer" else text


def _task(source: Source, cell: Cell, text: Cell | None) -> Task | None:
    """Return an exercise or a question; None where its text has no such line."""
    line = _LINE.search(text.source) if text else None
    if line is None or len(line[2] or "●●●●") != 4 or (cell.role == "exercise") != bool(line[2]):
        return None
    kind: TaskKind = "exercise" if cell.role == "exercise" else "question"
    name = cell.name
    return Task(kind, name, cell.points or source.points(name), int(line[1]), line[2] or "", bool(line[3]))


def without_hints(text: str) -> str:
    """Return a text without the hints that a click opens."""
    return _HINTS.sub("", text)


def without_minutes(text: str) -> str:
    """Return the text of a question without the line that says how long it takes."""
    return re.sub(r"^\*Minutes\* \d.*$", "", text, flags=re.M).strip()


def minutes(source: Source, extension: bool = False) -> int:
    """Return the minutes of the core or the extensions: marked tasks, and the parts with this word in their heading.

    Reading is included; hints and model answers are not read.
    """
    words, part = 0, False
    for cell in source.cells:
        if cell.is_markdown:
            text = without_hints(cell.without_solution())
            if heading := _PART.search(text):
                part = "Extension" in heading[0]
            line = _LINE.search(text)
            if (part or bool(line and line[3])) == extension:
                words += len(text.split())
    return words // WORDS_A_MINUTE + sum(task.minutes for task in tasks(source) if task.extension == extension)


def duration(source: Source) -> str:
    """Return how long a session takes, in words."""
    core, extensions = _hours(max(1, minutes(source))), _hours(minutes(source, extension=True))
    return f"about {core}" + (f", and {extensions} for the extensions" if extensions else "")


def _hours(count: int) -> str:
    """Return minutes in words, rounded up to the next five."""
    hours, minutes = divmod(5 * -(-count // 5), 60)
    return " ".join([f"{hours} h"] * bool(hours) + [f"{minutes} min"] * bool(minutes))


def page(course: Course) -> str:
    """Return the table of all sessions, and of the exercises and questions in each, in Markdown."""
    sources = [load_source(course, name) for name in course.sessions]
    lines = ["# What each session asks", "",
             f"Minutes are the authors' estimates; no student was timed. Reading is counted at {WORDS_A_MINUTE} words "
             "a minute and is part of both.\nThis page is made by `autograder release`; do not edit it.", "",
             "| session | core | extensions | exercises | questions | points |", "|---|--:|--:|--:|--:|--:|"]
    for source in sources:
        kinds = [task.kind for task in tasks(source)]
        points = sum(cell.points for cell in source.by_role("check", "answer"))
        core, extensions = (_hours(minutes(source, extension)).replace(" ", "\N{NO-BREAK SPACE}") or "–"
                            for extension in (False, True))
        lines.append(f"| {source.title} | {core} | {extensions} "
                     f"| {kinds.count('exercise')} | {kinds.count('question')} | {points:g} |")
    for source in sources:
        lines += ["", f"## {source.title}", "", "| | what | minutes | difficulty | points |", "|---|---|--:|---|--:|"]
        lines += [f"| `{task.name}` | {'extension: ' * task.extension}{task.kind} | {task.minutes} | {task.difficulty} "
                  f"| {task.points:g} |" for task in tasks(source)]
    return "\n".join(lines) + "\n"


def pages(course: Course) -> dict[Path, str]:
    """Return the table by its path, for a course that asks for minutes and has a folder docs."""
    path = course.root / "docs" / "sessions.md"
    return {path: page(course)} if course.metadata.exercises.effort and path.parent.is_dir() else {}


def notes(source: Source) -> list[str]:
    """Return a line, with file and number, for each hint, or time, that the course requires and the session lacks."""
    wanted, notes = source.course.metadata.exercises, []
    for cell, text in _described(source):
        hints = text.source.count("<details>") if text else 0
        if cell.role == "exercise" and wanted.hints not in (0, hints):
            notes.append(source_error(source.path, (text or cell).line,
                                      f"the exercise {cell.name} has {hints} hints, not {wanted.hints}"))
        if wanted.effort and _task(source, cell, text) is None:
            notes.append(source_error(source.path, cell.line, f"nothing says how long the {cell.role} {cell.name} "
                                      "takes: *Minutes* 20 · *Difficulty* ●●○○ (an answer: *Minutes* 5)"))
    return list(map(str, notes))
