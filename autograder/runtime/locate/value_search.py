"""Find the expression of a wrong answer where the value of a right one makes all that follows right.

This is fault localisation by value replacement (Jeffrey, Gupta and Gupta, ISSTA 2008). A wrong answer is run once under
observation. Then a value that no right answer has is replaced by one that right answers have, and the calls are made
again. The place is the first expression, in the order of time, with which a check passes, gradients left out: what
follows makes right results of right values, so it is right. Two expressions are replaced at once if one makes the check
pass only at the end of an answer, or none does. There is no place if no value makes the check pass.
"""

from __future__ import annotations

import contextlib
import math
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from ..compare import as_far_as_wrong, first_difference, output_difference, without_gradients
from ..difference import Difference
from ..pattern import with_region_and_pattern
from ..place import Location, Place
from ..recorded import OutputSpec, RecordedCheck, Reply
from ..syntax import Span, segment
from ..text import short
from ..time_limit import TimeLimitExceeded, time_limit
from ..values import ArrayValue, ListValue, Value, elements
from .check_search import CheckSearch
from .compared_values import UNMATCHED_LINES
from .deadline import Deadline
from .observation import Probe, Series, installed, is_close, observer_of, type_of
from .replacements import Replacement, Replacements
from .rewriting import OBSERVE, Expression, InstrumentedCell
from .right_values import RightValues

CALL_SECONDS = 1.0  # for the calls of a check once


@dataclass
class ValueSearch:
    """The search by values in one exercise, in several checks."""

    cells: Sequence[InstrumentedCell]
    texts: Sequence[str]
    namespace: dict[str, Any]
    run: Callable[[RecordedCheck], Reply]
    checks: Sequence[tuple[RecordedCheck, RightValues]]
    deadline: Deadline
    is_explained: bool = False  # by faults that were recognised in all checks that fail
    right_functions: Collection[str] = ()  # which checks call that pass, and none that fails
    observed: Sequence[Replacements] = ()  # in each check that fails, once places were looked for
    vague_lines: Sequence[int] = ()  # of the places in the first cell that were dropped because they say little

    @cached_property
    def expressions(self) -> dict[int, Expression]:
        """The expressions by number."""
        return {expression.number: expression for cell in self.cells for expression in cell.expressions}

    def find_places(self) -> list[Place | None]:
        """Return the place at which a right value makes each check pass; None where there is none, or no time."""
        with installed(self.cells, self.namespace):
            searches: list[CheckSearch | None] = []
            finished: list[CheckSearch] = []
            for record, right in self.checks:
                is_late = finished and self.deadline.has_passed
                search = None if is_late else self._check_search(record, right)
                searches.append(search)
                if search is None:
                    continue
                with contextlib.suppress(TimeLimitExceeded), time_limit(self.deadline.wall_seconds):
                    search.find([number for previous in finished for number in previous.numbers])
                finished.append(search)
            _share_places(finished)
            _drop_late_places(finished)
            _drop_refuted_numbers(finished)
            self.vague_lines = _drop_vague(finished)
            if self.is_explained:
                _drop_masks_and_numbers(finished)
            self.observed = [search.replacements for search in finished]
            return [self._place(search, search.best) if search and search.best else None for search in searches]

    @property
    def matched_lines(self) -> list[int]:
        """The lines of the first cell on which all values are right, in each check that reaches them."""
        lines = [replacements.matched_by_line(0) for replacements in self.observed]
        return [line for line in set().union(*lines)
                if all(matched_by_line.get(line, True) for matched_by_line in lines)]

    @property
    def suspect_lines(self) -> list[int]:
        """The lines of the first cell where a value first is unmatched, in the first check with one, or a place says
        little."""
        unmatched = (expression for replacements in self.observed for expression in replacements.unmatched)
        first = next((expression.span[0] for expression in unmatched if expression.cell == 0), None)
        return sorted({*self.vague_lines, *([first] if first else [])})

    @property
    def skipped_lines(self) -> set[int]:
        """The lines of the first cell that one of the checks does not reach."""
        return set[int]().union(*(replacements.skipped_lines(0) for replacements in self.observed))

    @property
    def types(self) -> dict[Span, set[str]]:
        """The types of the values in the first cell, by where the expression stands."""
        types: dict[Span, set[str]] = defaultdict(set)
        for replacements in self.observed:
            for number, series in replacements.all_series.items():
                if self.expressions[number].cell == 0:
                    types[self.expressions[number].span].update(map(type_of, series))
        return types

    @cached_property
    def unmatched_count(self) -> int:
        """How many expressions have values that no right answer has, in all checks together."""
        with installed(self.cells, self.namespace):
            observations = [self._observe(record, right) for record, right in self.checks]
            return sum(len(replacements.unmatched) for _, replacements in filter(None, observations))

    def _observe(self, record: RecordedCheck, right: RightValues,
                 seconds: float = math.inf) -> tuple[Reply, Replacements] | None:
        observer = observer_of(self.cells)
        reply = self._reply(record, observer.probe, seconds)
        if reply is None:
            return None
        return reply, Replacements(observer, self.expressions, right, reply.error is not None)

    def _check_search(self, record: RecordedCheck, right: RightValues) -> CheckSearch | None:
        observation = self._observe(record, right, self.deadline.wall_seconds)
        if observation is None or first_difference(record, observation[0]) is None:
            return None
        reply, replacements = observation
        record = without_gradients(record, reply)  # replaced values leave gradients as they are
        return CheckSearch(record, as_far_as_wrong(record, reply), self._reply, replacements, self.deadline,
                           self.right_functions)

    def _reply(self, record: RecordedCheck, probe: Probe, seconds: float = math.inf) -> Reply | None:
        self.namespace[OBSERVE] = probe
        try:
            with time_limit(min(seconds, CALL_SECONDS)):
                return self.run(record)
        except (Exception, TimeLimitExceeded):
            return None

    def _place(self, search: CheckSearch, best: Replacement) -> Place:
        replacements = search.replacements
        (first, series), *others = best
        last = search.last_expression(best)
        second = next((self._location(other) for other, other_series in others if other_series is not series), None)
        spot = self._location(last)
        is_sure = replacements.is_only_missing(first, series)
        difference = _difference(series, replacements.series[last.number]) if is_sure else None
        return Place("value", spot.span, spot.cell, spot.text, replacements.matched_lines(last), difference, second)

    def _location(self, expression: Expression) -> Location:
        return Location(expression.span, expression.cell, short(segment(self.texts[expression.cell], expression.span)))


def _share_places(searches: Sequence[CheckSearch]) -> None:
    """Give a check the place of another one, if that mends both and its own place does not mend the other."""
    for search in searches:
        match search.numbers:
            case [number]:
                others = [other.numbers[0] for other in searches if other.best and len(other.best) == 1
                          and not other.replacements.is_in_last_line(other.best[0][0])
                          and other.numbers != [number] and other.is_refuted_at(number)]
                search.best = search.repair_at(others) or search.best


def _drop_late_places(searches: Sequence[CheckSearch]) -> None:
    """Drop a late place if that of another check comes before it and is unmatched in this check, too.

    Late is the last line, and what comes after several lines with unmatched values. Something before it is wrong then;
    a right value there says nothing more.
    """
    first_numbers = [search.numbers[0] for search in searches if search.best]
    for search in searches:
        if not search.best:
            continue
        replacements, (first, series) = search.replacements, search.best[0]
        if replacements.is_in_last_line(first) or replacements.unmatched_lines_before(first, series) >= UNMATCHED_LINES:
            if any(expression.number in first_numbers and expression.span[0] != first.span[0]
                   and replacements.time(expression) < replacements.time(first)
                   for expression in replacements.unmatched):
                search.best = None


def _drop_refuted_numbers(searches: Sequence[CheckSearch]) -> None:
    """Drop a place that is one whole number if no right number there mends another check: it fits by chance."""
    for search in searches:
        if search.is_whole_number and any(other.numbers != search.numbers and other.is_refuted_at(search.numbers[0])
                                          for other in searches):
            search.best = None


def _drop_vague(searches: Sequence[CheckSearch]) -> list[int]:
    """Drop the places that say little in one check: the result, or a value of another form, after unmatched lines.

    With a right result in the place of a wrong one every check passes: this does not say where it became wrong. Where
    only the container is another one, it does. Return the lines of the first cell on which they were.
    """
    vague = {search.numbers[0]: search.best[0][0] for search in searches if search.best and search.is_vague}
    for search in searches:
        if len(search.numbers) == 1 and search.numbers[0] in vague:
            search.best = None
    return [expression.span[0] for expression in vague.values() if expression.cell == 0]


def _drop_masks_and_numbers(searches: Sequence[CheckSearch]) -> None:
    """Drop a place that is a mask or a whole number: one or another gives right results, and a fault says more."""
    for search in searches:
        if search.best and all(search.replacements.is_mask(expression) or are_single_whole_numbers(series)
                               for expression, series in search.best):
            search.best = None


def are_single_whole_numbers(series: Series) -> bool:
    """Return whether each value of a series is one whole number."""
    return all([*map(type, elements(value))] == [int] for value in series)


def _difference(right: Series, original: Series) -> Difference | None:
    """Return the first difference between right and original values; none of whole numbers, often equal by chance."""
    pairs = ((_reshaped(a, b), b) for a, b in zip(right, original, strict=False))
    difference = next((with_region_and_pattern(difference, a, b, OutputSpec()) for a, b in pairs
                       if (difference := output_difference("", a, b, OutputSpec()))), None)
    is_whole = (difference and difference.kind == "value" and difference.got
                and difference.got.kind in ("int", "bool"))
    return None if is_whole else difference


def _reshaped(right: Value, original: Value) -> Value:
    """Return a right value in the shape of the original, if axes of size one differ, and the numbers, too."""
    if isinstance(right, ArrayValue) and isinstance(original, ArrayValue) and right.array.shape != original.array.shape:
        if [n for n in right.array.shape if n != 1] == [n for n in original.array.shape if n != 1]:
            reshaped = replace(right, array=right.array.reshape(original.array.shape))
            return right if is_close(reshaped, original) else reshaped
    if isinstance(right, ListValue) and isinstance(original, ListValue) and right.length == original.length:
        return replace(right, items=tuple(map(_reshaped, right.items, original.items)))
    return right
