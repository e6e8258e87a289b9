"""The place of a mistake in a student's cells: a place is shown only where a run has verified it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .difference import Difference
from .syntax import Span

MAX_ANSWER = 20_000  # characters: the search takes more time the longer an answer is


@dataclass(frozen=True)
class Spot:
    """An expression: ``span`` is in its cell, first line and column, last line and column."""

    span: Span
    cell: int = 0  # the exercise's, or one of the student's own behind it
    text: str = ""  # what stands there


@dataclass(frozen=True)
class Place:
    """An expression of an answer, where it stands as a `Spot` does.

    ``kind``: "edit", one edit of this statement makes all checks pass; "value", with the value of a right answer there
    its check passes, gradients apart. ``known`` are the lines before it in the function with the values of right ones.
    ``second``: only with a right value there, too.
    """

    kind: Literal["value", "edit"]
    span: Span
    cell: int = 0
    text: str = ""
    known: tuple[int, ...] = ()
    difference: Difference | None = None  # of its value from that of the right answer
    second: Spot | None = None
