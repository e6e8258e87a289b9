"""The place of a mistake in a student's cells, which `locate` finds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from .difference import Difference
from .syntax import Span

MAX_SEARCHED_CHARACTERS = 20_000  # characters: the search takes more time the longer an answer is

EditKind = Literal["edit", "move", "drop"]


@dataclass(frozen=True)
class Location:
    """An expression of a cell; its ``span`` is the first line and column, and the last line and column."""

    span: Span
    cell: int = 0  # 0 for the exercise's, otherwise a cell that the student added
    text: str = ""  # of the expression


@dataclass(frozen=True)
class Place:
    """The expression or statement of an answer where a mistake is; ``span``, ``cell`` and ``text`` as of a `Location`.

    If the ``kind`` is "value", the check passes, gradients left out, when this expression has the value of a right
    answer. On the ``matched_lines`` before it in the function, all values are those of right answers. If there is a
    ``second`` expression, it needs a right value too. If it is "no effect", the statement calls and stores nothing.
    Otherwise all checks pass with one edit of this statement: a change, another place, or without it.
    """

    kind: Literal["value", "no effect"] | EditKind
    span: Span
    cell: int = 0
    text: str = ""
    matched_lines: tuple[int, ...] = ()
    difference: Difference | None = None  # of its value from that of the right answer
    second: Location | None = None

    @property
    def is_edit(self) -> bool:
        """Whether one edit there makes all checks pass."""
        return self.kind in get_args(EditKind)

    @property
    def locations(self) -> tuple[Place | Location, ...]:
        """The expression, and the second one where there is one."""
        return (self, self.second) if self.second else (self,)
