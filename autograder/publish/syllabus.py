"""Write the page that names, for each point of a session's syllabus, the cells that cover it.

A session may have a `syllabus.toml` beside its source: a list of points, in groups. Cells of the source name the points
they cover in their header (`covers="12,13"`).
"""

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ..model.errors import SourceError
from ..model.source import Cell, Source

_ROLES = {"exercise": "exercise", "answer": "written answer", "given": "worked cell", "demo": "worked cell",
          "training": "worked cell", "text": "text"}
_CHECKED = "worked cell with a check"
_ORDER = ("exercise", "written answer", _CHECKED, "worked cell", "text")

HOW = ("An *exercise* is checked in the notebook and graded. A *written answer* is read by a person. A *worked cell* "
       "is given, and uses the\nstudent's code; *with a check*, it stops with an error if a condition does not hold.\n"
       "`autograder release` makes this page from the source of the session. Do not edit it.")


@dataclass(frozen=True)
class Syllabus:
    """The points of a session by group, and the path of the page about them."""

    page: Path
    title: str
    intro: str
    groups: dict[str, list[str]]

    @property
    def count(self) -> int:
        """The number of points."""
        return sum(map(len, self.groups.values()))


@dataclass(frozen=True)
class Mention:
    """A cell that covers a point: what a student does there, its name, the heading above it."""

    kind: str
    name: str
    heading: str

    def __str__(self) -> str:
        return f"{self.kind} `{self.name}`" if self.name else self.kind


def read(source: Source) -> Syllabus | None:
    """Read the syllabus of a session; None where nobody has written one."""
    path = source.folder / "syllabus.toml"
    if not path.is_file():
        return None
    try:
        tree = tomllib.loads(path.read_text(encoding="utf-8"))
        groups = {group["name"]: group["points"] for group in tree["groups"]}
        return Syllabus(source.course.root / tree["page"], tree["title"], tree["intro"], groups)
    except (tomllib.TOMLDecodeError, KeyError, TypeError) as error:
        raise SourceError(f"{path}: not a syllabus ({error})") from None


def coverage(source: Source, count: int) -> dict[int, list[Mention]]:
    """Return for each point from 1 to ``count`` the cells that cover it, exercises first."""
    mentions: dict[int, list[Mention]] = {number: [] for number in range(1, count + 1)}
    for cell, heading, _ in source.headings():
        for number in str(cell.metadata.get("covers", "")).replace(",", " ").split():
            if not number.isdigit() or int(number) not in mentions:
                covers = cell.metadata["covers"]
                raise SourceError(f"{source.name}: covers={covers!r} names no point from 1 to {count}")
            mentions[int(number)].append(Mention(_kind(cell), cell.name or "", heading))
    for of_point in mentions.values():
        of_point.sort(key=lambda mention: _ORDER.index(mention.kind))
    return mentions


def _kind(cell: Cell) -> str:
    """Return what a student does there; a worked cell that asserts something counts as a check."""
    worked = cell.role in ("given", "demo", "training")
    return _CHECKED if worked and re.search(r"^\s*assert ", cell.source, re.M) else _ROLES[cell.role]


def page(source: Source, syllabus: Syllabus) -> str:
    """Return the page in Markdown."""
    mentions = coverage(source, syllabus.count)
    lines = [f"# {syllabus.title}", "", syllabus.intro, HOW]
    number = 0
    for group, points in syllabus.groups.items():
        lines += ["", f"## {group}", "", "| | goal | cells |", "|---|---|---|"]
        for point in points:
            number += 1
            lines.append(f"| {number} | {point} | {_by_heading(mentions[number])} |")
    return "\n".join(lines) + "\n"


def _by_heading(mentions: Iterable[Mention]) -> str:
    """Return the cells of a point by heading: those with work in them, or text cells where there are no others."""
    below: dict[str, list[str]] = {}
    for mention in [mention for mention in mentions if mention.kind != "text"] or mentions:
        below.setdefault(mention.heading, []).append(str(mention))
    return "; ".join(f"{heading}: {', '.join(dict.fromkeys(cells))}" for heading, cells in below.items())


def pages(source: Source) -> dict[Path, str]:
    """Return the page of a session by its path; nothing where the session has no syllabus."""
    syllabus = read(source)
    return {syllabus.page: page(source, syllabus)} if syllabus else {}
