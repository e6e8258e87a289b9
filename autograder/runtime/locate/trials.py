"""Try replacements in one check that fails, and measure how near to the right results each comes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ..compare import as_far_as_wrong, first_difference, output_difference
from ..recorded import OutputSpec, RecordedCheck, Reply
from ..values import ArrayValue, ScalarValue, Value, to_python
from .deadline import Deadline
from .observation import Probe, Series
from .replacements import Replacement
from .replacer import Replacer


@dataclass
class Trials:
    """The replacements that are tried in one check, and how near to the right results each came."""

    record: RecordedCheck
    reply: Reply  # of the answer
    run: Callable[[RecordedCheck, Probe], Reply | None]
    original: Mapping[int, Series]  # the values of the answer, by the number of the expression
    deadline: Deadline
    remaining: float = math.inf  # replacements
    distances: list[tuple[float, Replacement]] = field(default_factory=list)  # of the results from the right ones

    @cached_property
    def beginning(self) -> RecordedCheck:
        """The check as far as the first wrong output: it is soon over, and most replacements do not mend it."""
        return as_far_as_wrong(self.record, self.reply)

    def first(self, replacements: Iterator[Replacement]) -> Replacement | None:
        """Return the first replacement with which the check passes."""
        for replacement in replacements:
            if self.deadline.has_passed or self.remaining <= 0:
                break
            self.remaining -= 1
            if self.repairs(replacement):
                return replacement
        return None

    def repairs(self, replacement: Replacement) -> bool:
        """Return whether the check passes with a replacement, and not with copies of the original values."""
        reply = self.run(self.beginning, Replacer(replacement).probe)
        if reply is None:
            return False
        if first_difference(self.beginning, reply) is None and self._passes(self.record, replacement):
            return not self._passes(self.beginning, [(expression, self.original[expression.number])
                                                     for expression, _ in replacement])
        if len(replacement) == 1 and replacement[0][1].has_decimals:  # whole numbers are often chance
            self.distances.append((_distance(self.beginning, reply), replacement))
        return False

    def _passes(self, check: RecordedCheck, replacement: Replacement) -> bool:
        reply = self.run(check, Replacer(replacement).probe)
        return reply is not None and first_difference(check, reply) is None

    def nearest(self) -> list[Replacement]:
        """Return the replacements of one expression, those with results nearest to the right ones first.

        Of those with the same results the first and the last: what is computed before the last one still counts.
        """
        by_distance: dict[float, list[Replacement]] = {}
        for distance, replacement in self.distances:
            same = by_distance.setdefault(round(distance, 4), [])
            same[1:] = [replacement]
        return [replacement for distance in sorted(by_distance) for replacement in by_distance[distance]]


def _distance(record: RecordedCheck, reply: Reply) -> float:
    """Return how far results are from the right ones: 0 to 1 for each."""
    return sum(_relative_distance(record.expected.outputs[name], reply.outputs.get(name)) for name in record.specs)


def _relative_distance(want: Value, have: Value | None) -> float:
    a, b = (np.asarray(value.array if isinstance(value, ArrayValue)
                       else to_python(value) if isinstance(value, ScalarValue) else None)
            for value in (want, have))
    if a.shape != b.shape or a.dtype.kind not in "biuf" or b.dtype.kind not in "biuf":
        return 0.0 if have is not None and output_difference("", want, have, OutputSpec()) is None else 1.0
    with np.errstate(all="ignore"):
        size = np.linalg.norm(a) + np.linalg.norm(b)
        share = np.linalg.norm(a.astype(float) - b.astype(float)) / size if size else 0.0
    return float(share) if np.isfinite(share) else 1.0
