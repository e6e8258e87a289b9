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
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from ..compare import first_difference, output_difference, without_gradients
from ..difference import Difference
from ..pattern import with_region_and_pattern
from ..place import Location, Place
from ..recorded import OutputSpec, RecordedCheck, Reply
from ..syntax import Span, segment
from ..time_limit import MIN_SECONDS, TimeLimitExceeded, time_limit
from ..values import ArrayValue, ListValue, Value, elements, short
from .compared_values import UNMATCHED_LINES
from .deadline import Deadline
from .observation import Observer, Probe, Series, installed, is_close, is_same, type_of
from .replacements import Replacement, Replacements
from .replacer import Replacer
from .rewriting import Expression, InstrumentedCell
from .right_values import RightValues
from .trials import Trials

CALL_SECONDS = 1.0  # for the calls of a check once
# yields replacements of expressions before one that was found
ReplacementStrategy = Callable[[Expression | None], Iterator[Replacement]]
MAX_EARLIER = 60  # replacements that are tried before a place that was found
FOLLOWING_SECONDS = 0.1  # in which a place that was found is followed to the last expression that has its value


def observe(cells: Sequence[InstrumentedCell], namespace: dict[str, Any], run: Callable[[], object]) -> Observer:
    """Return the values of the expressions of cells while ``run`` makes calls on what the cells define."""
    observer = _observer(cells)
    with installed(cells, namespace) as set_probe:
        set_probe(observer.probe)
        run()
    return observer


def _observer(cells: Sequence[InstrumentedCell]) -> Observer:
    expressions = (expression for cell in cells for expression in cell.expressions)
    return Observer({expression.number for expression in expressions if expression.is_indexed})


@dataclass
class _CheckSearch:
    """The search in one check that fails; ``best`` is the replacement of the place that was found so far.

    The ``right_functions`` are called by checks that pass, and by none that fails.
    """

    replacements: Replacements
    trials: Trials
    best: Replacement | None = None
    right_functions: Collection[str] = ()

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
        return self.trials.first(self.replacements.at(numbers))

    def is_refuted_at(self, number: int) -> bool:
        """Return whether this check has an unmatched value at an expression, and no right value there makes it pass.

        Not if the time is over: then perhaps none was tried.
        """
        return (any(expression.number == number for expression in self.replacements.unmatched)
                and not self.repair_at([number]) and not self.trials.deadline.has_passed)

    def find(self, preferred: Sequence[int]) -> None:
        """Find the first expression with which the check passes; those found in previous checks are preferred.

        In a function that is right, or was called several times, these are the calls that gave wrong values, if that
        mends the check, too: what it was called with may be wrong. Of one that is right nothing else is a place.
        """
        self._find(preferred)
        self.trials.deadline, self.trials.remaining = self.trials.deadline.later(FOLLOWING_SECONDS), math.inf
        if self.best and len(self.best) == 1 and self.replacements.is_decision(self.best[0][0]):
            self._settle_decisions(self.best[0][0])
        for expression, series in self.best or ():
            others = [other for other in self.best or () if other[0] is not expression]
            if all(other_series is not series for _, other_series in others):
                is_right = expression.function in self.right_functions
                calls = ([*others, call] for call in self.replacements.calls(expression, series, is_right))
                self.best = sorted(self.trials.first(calls) or self.best or (),
                                   key=lambda pair: self.replacements.time(pair[0]))
        if any(expression.function in self.right_functions for expression, _ in self.best or ()):
            self.best = None

    def _find(self, preferred: Sequence[int]) -> None:
        replacements, trials = self.replacements, self.trials
        self.best = shared = self.repair_at(preferred)
        if shared and not self.is_last:
            return
        # What makes right results of right values is right: the earlier the place, the less is suspect.
        strategies: list[ReplacementStrategy] = [
            replacements.common_missing_values, replacements.present_decimals, replacements.equal_expressions,
            lambda before: replacements.pairs(before, trials.nearest(), self.best), replacements.rare_missing_values,
            replacements.other_containers, replacements.other_shapes]
        for strategy in strategies:
            self._improve(strategy)
            if self.best and not replacements.is_last(self.best[0][0]):
                trials.remaining = min(trials.remaining, MAX_EARLIER)
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
        observer, replacer = Observer(), Replacer(self.best or ())
        self.trials.run(self.trials.record, lambda number, value: observer.probe(number, replacer.probe(number, value)))
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
        self.best = self.trials.first(strategy(self.best[0][0] if self.best else None)) or self.best

    def _improve_in_half_of_the_time(self, strategy: ReplacementStrategy) -> None:
        """Find an earlier expression with a strategy that may take all the time, and leave some to others."""
        whole, self.trials.deadline = self.trials.deadline, self.trials.deadline.halved()
        self._improve(strategy)
        self.trials.deadline = whole


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
        with installed(self.cells, self.namespace) as set_probe:
            searches: list[_CheckSearch | None] = []
            finished: list[_CheckSearch] = []
            for record, right in self.checks:
                is_late = finished and self.deadline.has_passed
                search = None if is_late else self._check_search(record, right, set_probe)
                searches.append(search)
                if search is None:
                    continue
                with contextlib.suppress(TimeLimitExceeded), time_limit(max(self.deadline.clock_seconds, MIN_SECONDS)):
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
        with installed(self.cells, self.namespace) as set_probe:
            observations = [self._observe(record, right, set_probe) for record, right in self.checks]
            return sum(len(replacements.unmatched) for _, replacements in filter(None, observations))

    def _observe(self, record: RecordedCheck, right: RightValues, set_probe: Callable[[Probe], None],
                 seconds: float = math.inf) -> tuple[Reply, Replacements] | None:
        observer = _observer(self.cells)
        reply = self._reply(record, set_probe, observer.probe, seconds)
        if reply is None:
            return None
        return reply, Replacements(observer, self.expressions, right, reply.error is not None)

    def _check_search(self, record: RecordedCheck, right: RightValues,
                      set_probe: Callable[[Probe], None]) -> _CheckSearch | None:
        observation = self._observe(record, right, set_probe, max(self.deadline.clock_seconds, MIN_SECONDS))
        if observation is None or first_difference(record, observation[0]) is None:
            return None
        reply, replacements = observation
        record = without_gradients(record, reply)  # replaced values leave gradients as they are
        trials = Trials(record, reply, lambda check, probe: self._reply(check, set_probe, probe), replacements.series,
                        self.deadline)
        return _CheckSearch(replacements, trials, None, self.right_functions)

    def _reply(self, record: RecordedCheck, set_probe: Callable[[Probe], None], probe: Probe,
               seconds: float = math.inf) -> Reply | None:
        set_probe(probe)
        try:
            with time_limit(min(seconds, CALL_SECONDS)):
                return self.run(record)
        except (Exception, TimeLimitExceeded):
            return None

    def _place(self, search: _CheckSearch, best: Replacement) -> Place:
        replacements = search.replacements
        (first, series), *others = best
        last = _last_with_value(best, replacements, search.trials)
        second = next((self._location(other) for other, other_series in others if other_series is not series), None)
        spot = self._location(last)
        is_sure = replacements.is_only_missing(first, series)
        difference = _difference(series, replacements.series[last.number]) if is_sure else None
        return Place("value", spot.span, spot.cell, spot.text, replacements.matched_lines(last), difference, second)

    def _location(self, expression: Expression) -> Location:
        return Location(expression.span, expression.cell, short(segment(self.texts[expression.cell], expression.span)))


def _share_places(searches: Sequence[_CheckSearch]) -> None:
    """Give a check the place of another one, if that mends both and its own place does not mend the other."""
    for search in searches:
        match search.numbers:
            case [number]:
                others = [other.numbers[0] for other in searches if other.best and len(other.best) == 1
                          and not other.replacements.is_in_last_line(other.best[0][0])
                          and other.numbers != [number] and other.is_refuted_at(number)]
                search.best = search.repair_at(others) or search.best


def _drop_late_places(searches: Sequence[_CheckSearch]) -> None:
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


def _drop_refuted_numbers(searches: Sequence[_CheckSearch]) -> None:
    """Drop a place that is one whole number if no right number there mends another check: it fits by chance."""
    for search in searches:
        if search.is_whole_number and any(other.numbers != search.numbers and other.is_refuted_at(search.numbers[0])
                                          for other in searches):
            search.best = None


def _drop_vague(searches: Sequence[_CheckSearch]) -> list[int]:
    """Drop the places that say little in one check: the result, or a value of another form, after unmatched lines.

    With a right result in the place of a wrong one every check passes: this does not say where it became wrong. Where
    only the container is another one, it does. Return the lines of the first cell on which they were.
    """
    vague = {search.numbers[0]: search.best[0][0] for search in searches if search.best and search.is_vague}
    for search in searches:
        if len(search.numbers) == 1 and search.numbers[0] in vague:
            search.best = None
    return [expression.span[0] for expression in vague.values() if expression.cell == 0]


def _drop_masks_and_numbers(searches: Sequence[_CheckSearch]) -> None:
    """Drop a place that is a mask or a whole number: one or another gives right results, and a fault says more."""
    for search in searches:
        if search.best and all(search.replacements.is_mask(expression) or are_single_whole_numbers(series)
                               for expression, series in search.best):
            search.best = None


def are_single_whole_numbers(series: Series) -> bool:
    """Return whether each value of a series is one whole number."""
    return all([*map(type, elements(value))] == [int] for value in series)


def _last_with_value(replacement: Replacement, replacements: Replacements, trials: Trials) -> Expression:
    """Return the last expression of the function where the first series of a replacement still mends the check.

    Up to there the value is handed on as it is. An expression that is named, or after a statement, does not count.
    """
    (first, series), *others = replacement
    if any(other is series for _, other in others):
        return first
    end = replacements.time(others[0][0]) if others else math.inf
    later = [expression for expression in replacements.ordered
             if replacements.time(first) < replacements.time(expression) < end
             and (expression.cell, expression.function) == (first.cell, first.function)
             and replacements.series[expression.number].forms == series.forms
             and not (expression.is_named or expression.is_after_statement)]
    in_time = (expression for expression in reversed(later) if not trials.deadline.has_passed)
    return next((expression for expression in in_time if trials.repairs([(expression, series), *others])), first)


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
