"""Search one check that fails for the first expressions where right values make it pass."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..compare import first_difference, output_difference
from ..recorded import OutputSpec, RecordedCheck, Reply
from ..values import ArrayValue, ScalarValue, Value, to_python
from .deadline import Deadline
from .observation import Observer, Probe, is_same
from .replacements import Replacement, Replacements
from .replacing import replacing
from .rewriting import Expression

# yields replacements of expressions before one that was found
ReplacementStrategy = Callable[[Expression | None], Iterator[Replacement]]
MAX_EARLIER = 60  # replacements that are tried before a place that was found
FOLLOWING_SECONDS = 0.1  # in which a place that was found is followed to the last expression that has its value


@dataclass
class CheckSearch:
    """The search in one check that fails; ``best`` is the replacement of the place that was found so far.

    The ``right_functions`` are called by checks that pass, and by none that fails.
    """

    record: RecordedCheck
    beginning: RecordedCheck  # as far as the first wrong output: it is soon over, and most replacements do not mend it
    run: Callable[[RecordedCheck, Probe], Reply | None]
    replacements: Replacements
    deadline: Deadline
    right_functions: Collection[str] = ()
    best: Replacement | None = None
    remaining: float = math.inf  # replacements that are tried
    distances: list[tuple[float, Replacement]] = field(default_factory=list)  # of their results from the right ones

    @property
    def numbers(self) -> list[int]:
        """The numbers of the expressions that are replaced at the place that was found."""
        return [expression.number for expression, _ in self.best or ()]

    @property
    def is_last(self) -> bool:
        """Whether one expression was found, and none after it is unmatched: a right result there says little."""
        return self.is_vague or bool(self.best and len(self.best) == 1 and self.replacements.is_last(self.best[0][0]))

    @property
    def is_vague(self) -> bool:
        """Whether one expression was found, and a right value there does not say where the answer went wrong."""
        return bool(self.best and len(self.best) == 1 and self.replacements.is_vague(*self.best[0]))

    @property
    def is_whole_number(self) -> bool:
        """Whether one whole number was found, which may fit by chance."""
        return [type(element) for _, series in self.best or () for element in series.elements] == [int]

    def repair_at(self, numbers: Sequence[int]) -> Replacement | None:
        """Return the replacement at one of these expressions with which the check passes."""
        return self._first(self.replacements.at(numbers))

    def is_refuted_at(self, number: int) -> bool:
        """Return whether this check has an unmatched value at an expression, and no right value there makes it pass.

        Not if the time is over: then perhaps none was tried.
        """
        return (any(expression.number == number for expression in self.replacements.unmatched)
                and not self.repair_at([number]) and not self.deadline.has_passed)

    def find(self, preferred: Sequence[int]) -> None:
        """Find the first expression with which the check passes; those found in previous checks are preferred.

        In a function that is right, or was called several times, these are the calls that gave wrong values, if that
        mends the check, too: what it was called with may be wrong. Of one that is right nothing else is a place.
        """
        self._find(preferred)
        self.deadline, self.remaining = self.deadline.later(FOLLOWING_SECONDS), math.inf
        if self.best and len(self.best) == 1 and self.replacements.is_decision(self.best[0][0]):
            self._settle_decisions(self.best[0][0])
        for expression, series in self.best or ():
            others = [other for other in self.best or () if other[0] is not expression]
            if all(other_series is not series for _, other_series in others):
                is_right = expression.function in self.right_functions
                calls = ([*others, call] for call in self.replacements.calls(expression, series, is_right))
                self.best = sorted(self._first(calls) or self.best or (),
                                   key=lambda pair: self.replacements.time(pair[0]))
        if any(expression.function in self.right_functions for expression, _ in self.best or ()):
            self.best = None

    def _find(self, preferred: Sequence[int]) -> None:
        replacements = self.replacements
        self.best = shared = self.repair_at(preferred)
        if shared and not self.is_last:
            return
        # What makes right results of right values is right: the earlier the place, the less is suspect.
        strategies: list[ReplacementStrategy] = [
            replacements.common_missing_values, replacements.present_decimals, replacements.equal_expressions,
            lambda before: replacements.pairs(before, self._nearest(), self.best), replacements.rare_missing_values,
            replacements.other_containers, replacements.other_shapes]
        for strategy in strategies:
            self._improve(strategy)
            if self.best and not replacements.is_last(self.best[0][0]):
                self.remaining = min(self.remaining, MAX_EARLIER)
        if self.best is None or replacements.is_in_last_line(self.best[0][0]):
            self._improve_in_half_of_the_time(replacements.other_axis_orders)
        if self.best is None or self.is_last or len(self.best) > 1:
            self._improve(replacements.matched_values)
        for strategy in (replacements.missing_decisions, replacements.other_forms, replacements.results):
            if not shared and (self.best is None or self.is_last):
                self._improve_in_half_of_the_time(strategy)

    def _settle_decisions(self, first: Expression) -> None:
        """Drop the place if a later decision mends the check, too, whose values those of the first do not change.

        In `a or b` a right value of either decides; with that of `a`, `b` is not asked for. Of a mask and a decision
        that is made from it, the decision is the place: some mask or other gives every decision.
        """
        replacements = self.replacements
        later = [other for other in replacements.unmatched if replacements.is_decision(other)
                 and replacements.time(other) > replacements.time(first)]
        if not later:
            return
        observer, replaced = Observer(), replacing(self.best or ())
        self.run(self.record, lambda number, value: observer.probe(number, replaced(number, value)))
        for other in later:
            is_unchanged = all(map(is_same, observer.series[other.number], replacements.series[other.number]))
            if is_unchanged and self.repair_at([other.number]):
                self.best = None
                return
        if replacements.is_mask(first):
            decisions = [other.number for other in later if not replacements.is_mask(other)]
            self.best = self.repair_at(decisions) or self.best

    def _improve(self, strategy: ReplacementStrategy) -> None:
        """Find an earlier expression with a strategy."""
        self.best = self._first(strategy(self.best[0][0] if self.best else None)) or self.best

    def _improve_in_half_of_the_time(self, strategy: ReplacementStrategy) -> None:
        """Find an earlier expression with a strategy that may take all the time, and leave some to others."""
        whole, self.deadline = self.deadline, self.deadline.halved()
        self._improve(strategy)
        self.deadline = whole

    def _first(self, replacements: Iterator[Replacement]) -> Replacement | None:
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
        reply = self.run(self.beginning, replacing(replacement))
        if reply is None:
            return False
        if first_difference(self.beginning, reply) is None and self._passes(self.record, replacement):
            return not self._passes(self.beginning, [(expression, self.replacements.series[expression.number])
                                                     for expression, _ in replacement])
        if len(replacement) == 1 and replacement[0][1].has_decimals:  # whole numbers are often chance
            self.distances.append((_distance(self.beginning, reply), replacement))
        return False

    def _passes(self, check: RecordedCheck, replacement: Replacement) -> bool:
        reply = self.run(check, replacing(replacement))
        return reply is not None and first_difference(check, reply) is None

    def _nearest(self) -> list[Replacement]:
        """Return the replacements of one expression, those with results nearest to the right ones first.

        Of those with the same results the first and the last: what is computed before the last one still counts.
        """
        by_distance: dict[float, list[Replacement]] = {}
        for distance, replacement in self.distances:
            same = by_distance.setdefault(round(distance, 4), [])
            same[1:] = [replacement]
        return [replacement for distance in sorted(by_distance) for replacement in by_distance[distance]]

    def last_expression(self, replacement: Replacement) -> Expression:
        """Return the last expression of the function where the first series of a replacement still mends the check.

        Up to there the value is handed on as it is. An expression that is named, or after a statement, does not count.
        """
        replacements, ((first, series), *others) = self.replacements, replacement
        if any(other is series for _, other in others):
            return first
        end = replacements.time(others[0][0]) if others else math.inf
        later = [expression for expression in replacements.ordered
                 if replacements.time(first) < replacements.time(expression) < end
                 and (expression.cell, expression.function) == (first.cell, first.function)
                 and replacements.series[expression.number].forms == series.forms
                 and not (expression.is_named or expression.is_after_statement)]
        in_time = (expression for expression in reversed(later) if not self.deadline.has_passed)
        return next((expression for expression in in_time if self.repairs([(expression, series), *others])), first)


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
