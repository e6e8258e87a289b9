"""A difference between a reply and the right one, as plain data. `messages` writes sentences from it.

It holds what a student's code made, bounded in size. Whoever shows a string of it shows its ``repr``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal

from .recorded import CapturedError, Relation

DifferenceKind = Literal[
    # the replay stopped
    "not-written", "missing-name", "unusable", "raised",
    # an output is not as expected
    "missing-output", "nothing", "no-gradient", "type", "shape", "dtype", "nan", "sum", "axes", "value", "length",
    "key-missing", "key-extra", "predicate",
    # the outputs are right, and something beside them is not
    "loop", "built-in", "in-place", "changed",
    # nothing was compared, or it does not count
    "not-checked", "constant",
]

MAX_NAMES = 6  # of functions, or of what was changed
MAX_REASON = 500  # characters of a reason in words
MAX_STRING, STRING_BEFORE = 60, 20  # characters of a string are kept, so many of them before the first that differs

VALUE_KINDS: tuple[DifferenceKind, ...] = (
    "missing-output", "nothing", "no-gradient", "type", "shape", "dtype", "nan", "sum", "axes", "value", "length",
    "key-missing", "key-extra")
UNREPAIRABLE: tuple[DifferenceKind, ...] = ("not-written", "missing-name", "not-checked", "loop", "built-in")
NON_VALUE_KINDS: tuple[DifferenceKind, ...] = ("loop", "built-in", "in-place", "changed")


@dataclass(frozen=True)
class Outline:
    """The outline of a value: type and shape of an array, length of a container, else the value itself, shortened.

    A float is rounded; one that is not finite, a complex number, and the type of anything unknown are text.
    """

    kind: str
    value: bool | int | float | str | None = None
    dtype: str | None = None
    shape: tuple[int, ...] = ()


@dataclass(frozen=True)
class Region:
    """Positions along an axis: from ``start`` to before ``stop``, or to the end where it is None."""

    axis: int
    start: int
    stop: int | None


Function = Literal["exponential", "square", "absolute value", "one minus", "tanh", "ReLU", "softmax"]


@dataclass(frozen=True)
class Pattern:
    """How all values of an output follow from the right ones.

    - "same", "wrong ones the same": all, or all the wrong ones, are one ``number``
    - "opposite": all are the opposite of booleans
    - "one position": at each position of the axis stand the right values of one, in ``positions``
    - "reversed", "order", "shifted": the right values stand in another order along the axis: in the reverse one, in
      that of ``positions``, or each at a position of a ``number`` more or less (one is lost)
    - "factor", "added": each value is the right one times a ``number``, or plus it; if there is an axis, the number is
      the same along it, and another elsewhere
    - "function of right", "function missing": each is a function of the right one; this function of it is right
    """

    kind: Literal["same", "wrong ones the same", "opposite", "one position", "reversed", "order", "shifted", "factor",
                  "added", "function of right", "function missing"]
    axis: int | None = None
    number: float = 0.0
    positions: tuple[int, ...] = ()
    function: Function | None = None


@dataclass(frozen=True)
class Difference:
    """The first thing in which a reply is not as expected."""

    kind: DifferenceKind
    relation: Relation | None = None  # that is broken
    output: str = ""  # the output, with the way into it: rows[1]['a']
    expected: Outline | None = None
    got: Outline | None = None
    axes: tuple[str, ...] = ()  # of an array, by letter; empty where they have none
    index: tuple[int, ...] = ()  # of the first wrong value, of an array, list or string
    wrong_count: int = 0  # so many values
    value_count: int = 0  # of so many
    region: tuple[Region, ...] = ()  # to which the wrong values are confined
    pattern: Pattern | None = None
    axis: int | None = None  # over which the values should sum to one
    axis_summing_to_one: int | None = None  # over which they do
    names: tuple[str, ...] = ()  # of functions, of keys, of what is not as it was
    reason: str = ""  # in words: by a predicate of the course, or why nothing was checked
    error: CapturedError | None = None
    hides_instance: bool = False  # nothing of the instance is in it
    unused: tuple[str, ...] = ()  # names with stubs in their place, which the answer does not use

    def without_instance(self) -> Difference:
        """Return what it says without the instance: the kind, the output, and an error without digits.

        Inputs can stand in the message of an error that a student's code raises.
        """
        error = self.error
        if error and error.kind == "raised":
            error = replace(error, message=re.sub(r"\d+", "#", error.message))
        return replace(self, output=self.output.partition("[")[0], expected=None, got=None, index=(), wrong_count=0,
                       value_count=0, region=(), pattern=None, axis=None, axis_summing_to_one=None,
                       names=self.names if self.kind in NON_VALUE_KINDS else (),
                       reason=self.reason if self.kind != "predicate" else "", error=error, hides_instance=True)

    @property
    def is_unwritten(self) -> bool:
        """Whether the exercise is as it was released."""
        return self.kind == "not-written" and self.relation is None

    @property
    def is_missing(self) -> bool:
        """Whether there was nothing to call."""
        return self.kind in ("not-written", "missing-name")

    @property
    def is_of_values(self) -> bool:
        """Whether an output of the check itself is there, and not as expected."""
        return self.kind in VALUE_KINDS and self.kind not in ("missing-output", "nothing") and self.relation is None

    @property
    def is_locatable(self) -> bool:
        """Whether a place is looked for: values of the check itself differ, or the student's code raises an error."""
        raised = self.kind == "raised" and self.relation is None and self.error and self.error.origin == "cell"
        return self.is_of_values or bool(raised)

    @property
    def line(self) -> int | None:
        """The line of the student's cell at which it stops, where it does."""
        return self.error.where.line if self.error and self.error.where else None

    @property
    def is_repairable(self) -> bool:
        """Whether there is code that one changed expression might make right."""
        return self.kind not in UNREPAIRABLE
