"""Which cells cover each learning goal of session 5: `python -m bench.goals` writes docs/thirty-four-points.md.

The goals stand in `syllabus.toml` beside the session's source. A cell names those that it covers in its header
(`covers="12,13"`).
"""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

from autograder.course import find
from autograder.model.source import load_source

ROOT = Path(__file__).resolve().parent.parent
SESSION = "tp5_translation"
PAGE = ROOT / "docs" / "thirty-four-points.md"
INTRO = """# The thirty-four learning goals of session 5

After session 5, students can do the following. The last column lists the cells that ask for it.
An *exercise* is checked in the notebook and graded. A *written answer* is read by a person. A *worked cell* is given, and uses the
student's code; *with a check*, it stops with an error if a condition does not hold.
`make notebooks` makes this page from the source of the session. Do not edit it.
"""  # noqa: E501 (as a page has it)
CHECKED = "worked cell with a check"
KINDS = {"exercise": "exercise", "answer": "written answer", "given": "worked cell", "demo": "worked cell",
         "training": "worked cell", "text": "text"}
ORDER = ("exercise", "written answer", CHECKED, "worked cell", "text")


@dataclass(frozen=True)
class Mention:
    """A cell that covers a goal: what a student does there, its name, the heading above it."""

    kind: str
    name: str
    heading: str

    def __str__(self):
        return f"{self.kind} `{self.name}`" if self.name else self.kind


def session():
    """The source of the session."""
    return load_source(find(ROOT), SESSION)


def goals():
    """Group → its goals, as the session's `syllabus.toml` has them."""
    return tomllib.loads((session().folder / "syllabus.toml").read_text(encoding="utf-8"))


def coverage(source, count):
    """Goal, from 1 to ``count`` → the cells that cover it, exercises first."""
    mentions = {number: [] for number in range(1, count + 1)}
    for cell, heading, _ in source.headings():
        for number in re.findall(r"[^\s,]+", str(cell.metadata.get("covers", ""))):
            mentions[int(number)].append(Mention(_kind(cell), cell.name, heading))
    return {number: sorted(cells, key=lambda cell: ORDER.index(cell.kind)) for number, cells in mentions.items()}


def _kind(cell):
    """What a student does there; a worked cell that asserts something counts as a check."""
    kind = KINDS[cell.role]
    return CHECKED if kind == "worked cell" and re.search(r"^\s*assert ", cell.source, re.M) else kind


def page(source, groups):
    """The page in Markdown."""
    mentions = iter(coverage(source, sum(map(len, groups.values()))).items())
    lines = [INTRO.rstrip()]
    for group, points in groups.items():
        lines += ["", f"## {group}", "", "| | goal | cells |", "|---|---|---|"]
        lines += [f"| {number} | {point} | {_by_heading(cells)} |"
                  for point, (number, cells) in zip(points, mentions, strict=False)]
    return "\n".join(lines) + "\n"


def _by_heading(mentions):
    """The cells of a goal by heading: those with work in them, or text cells where there are no others."""
    below = {}
    for mention in [mention for mention in mentions if mention.kind != "text"] or mentions:
        below.setdefault(mention.heading, []).append(str(mention))
    return "; ".join(f"{heading}: {', '.join(dict.fromkeys(cells))}" for heading, cells in below.items())


if __name__ == "__main__":
    PAGE.write_text(page(session(), goals()), encoding="utf-8")
    print(PAGE)
