"""The model answer to a question, and the items of its rubric with their points.

Both stand in the solution of an answer, as "Model answer. **Rubric.** 1 point: this. 0.5 points: that." What follows
an item, up to the next one, belongs to it. Items may give more than the answer has, where some of them are enough.
"""

import re
from dataclasses import dataclass

RUBRIC = "**Rubric.**"
_ITEM = re.compile(r"(?<![^\s;.)])(\d+(?:\.\d+)?) points?:\s+")


@dataclass(frozen=True)
class RubricItem:
    """One thing that an answer should say, and its points."""

    points: float
    description: str


@dataclass(frozen=True)
class Rubric:
    """A model answer, and the items; one item with all the points where the rubric has none."""

    model: str
    items: tuple[RubricItem, ...]


def parse(hidden: str, points: float) -> Rubric:
    """Read the rubric of an answer that has so many points; ``hidden`` is what only graders read."""
    model, _, rubric = hidden.partition(RUBRIC)
    _, *parts = _ITEM.split(" ".join(rubric.split()))
    items = [RubricItem(float(number), text.strip(" ;")) for number, text in zip(parts[::2], parts[1::2], strict=True)]
    return Rubric(model.strip(), tuple(items) or (RubricItem(points, " ".join(rubric.split()) or "a right answer"),))


def problem(hidden: str, points: float) -> str | None:
    """Return what is wrong with a rubric, in a few words."""
    total = sum(item.points for item in parse(hidden, points).items)
    return f"adds up to {total:g} of {points:g} points" if total < points else None
