"""Say which values of right answers may replace those of which expressions of an answer, and in which order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import compress
from operator import not_
from typing import Any

from ..values import ArrayValue, ScalarValue, Value, elements
from .compared_values import ComparedValues
from .observation import Series, has_decimals, have_same_values, is_close, is_same
from .rewriting import Expression

MAX_COMMON = 6  # series for one expression that are tried first: those that most right answers have
MAX_NEAREST = 4  # replacements whose results are nearest to the right ones: each is tried together with another one

Replacement = Sequence[tuple[Expression, Series]]  # expressions, each with the series that replaces its values


class Replacements(ComparedValues):
    """The replacements to try in an answer.

    Methods that yield them take unmatched expressions unless they say otherwise, in the order of time; if one was found
    already, only those ``before`` it.
    """

    @property
    def _not_given(self) -> list[Expression]:
        return [expression for expression in self.ordered if not expression.is_given]

    def _all_candidates(self, expression: Expression, same_form: bool) -> list[Series]:
        """Return the series that may replace the values of an expression, those missing from the answer first.

        If its first value is right, those with the same first value come before all others. What may be filled later
        is not replaced by what is filled: that would hide how it was filled.
        """
        series = self.series[expression.number]
        candidates = self.right.candidates(series, self.ended_by_error, same_form)
        if expression.number in self._filled_later:
            candidates = [candidate for candidate in candidates if all(map(_is_of_equal_numbers, candidate))]
        starts_alike = same_form and len(series) > 1 and has_decimals(series[0])
        return sorted(candidates, key=lambda candidate: (starts_alike and not is_close(candidate[0], series[0]),
                                                         id(candidate) not in self._missing))

    def _candidates(self, expression: Expression, same_form: bool, missing: bool) -> list[Series]:
        """Return the candidates that are missing from the answer, or those that another expression of it has."""
        return [series for series in self._all_candidates(expression, same_form)
                if (id(series) in self._missing) is missing]

    def at(self, numbers: Sequence[int]) -> Iterator[Replacement]:
        """Yield the expressions of these numbers with all values of their form, then with those of other axis orders.

        A matched expression is replaced only by values with decimals, or by missing ones.
        """
        expressions = [expression for expression in self.ordered if expression.number in numbers]
        for expression in expressions:
            for series in self._all_candidates(expression, True):
                if not self._is_matched(expression) or series.has_decimals or id(series) in self._missing:
                    yield [(expression, series)]
        for expression in expressions:
            yield from self._with_other_axis_orders(expression)

    def common_missing_values(self, before: Expression | None) -> Iterator[Replacement]:
        """Yield distinctive expressions with the missing values that most right answers have."""
        for expression in filter(self._is_distinctive, self._unmatched_before(before)):
            for series in self._candidates(expression, True, True)[:self._common_count(expression)]:
                yield [(expression, series)]

    def rare_missing_values(self, before: Expression | None) -> Iterator[Replacement]:
        """Yield distinctive expressions with the missing values that fewer right answers have."""
        for expression in filter(self._is_distinctive, self._unmatched_before(before)):
            for series in self._candidates(expression, True, True)[self._common_count(expression):]:
                yield [(expression, series)]

    def calls(self, expression: Expression, right: Series, is_right: bool) -> Iterator[tuple[Expression, Series]]:
        """Yield the expressions of other functions that have just the wrong values of an expression, with right ones.

        They are calls of its function, if this ``is_right``, or another expression has one of its right values.
        """
        own = self.series[expression.number]
        are_right = list(map(is_same, own, right))
        wrong, new = (Series(compress(series, map(not_, are_right))) for series in (own, right))
        outside = [other for other in self.ordered if other.function != expression.function and not other.is_named]
        if is_right or any(have_same_values(self.series[other.number], Series([value]))
                           for value in compress(own, are_right) for other in outside):
            yield from ((other, new) for other in outside if have_same_values(self.series[other.number], wrong))

    def _common_count(self, expression: Expression) -> int:
        """Return how many values count as common: all for the last expression of a function, perhaps its result."""
        is_last = self._last_of_function[expression.cell, expression.function] is expression
        return len(self.right.series) if is_last else MAX_COMMON

    @cached_property
    def _last_of_function(self) -> dict[tuple[int, str], Expression]:
        """The expression that is evaluated last in each function, by cell and name."""
        ordered = sorted(self.ordered, key=lambda expression: self.times[expression.number][-1])
        return {(expression.cell, expression.function): expression for expression in ordered}

    def missing_decisions(self, before: Expression | None) -> Iterator[Replacement]:
        """Yield decisions that are not distinctive with missing values: what they select may be right by chance."""
        for expression in self._unmatched_before(before):
            if not self._is_distinctive(expression) and self.is_decision(expression):
                for series in self._candidates(expression, True, True):
                    yield [(expression, series)]

    def present_decimals(self, before: Expression | None) -> Iterator[Replacement]:
        """Yield expressions with common right values that another expression has and that are not equal by chance."""
        for expression in self._unmatched_before(before):
            for series in self._candidates(expression, True, False)[:MAX_COMMON]:
                if series.has_decimals:
                    yield [(expression, series)]

    def _is_no_argument(self, series: Series) -> bool:
        """Return whether the values are missing or no whole real numbers: these may be an argument's."""
        return id(series) in self._missing or series.has_decimals or series.forms[0] != "float"

    def equal_expressions(self, before: Expression | None) -> Iterator[Replacement]:
        """Yield all expressions that have the same distinctive values, replaced at once by the same right values.

        One whole number is left out: two expressions have the same by chance. So are those among which is what was
        found alone.
        """
        for expression in filter(self._is_distinctive, self._unmatched_before(before)):
            series = self.series[expression.number]
            equal = self._equal_expressions(expression)
            if (series.has_decimals or len(series.elements) > 1) and before not in equal:
                for candidate in filter(self._is_no_argument, self._all_candidates(expression, True) if equal else ()):
                    yield [(other, candidate) for other in equal]

    @cached_property
    def _unmatched_by_forms(self) -> dict[Any, list[Expression]]:
        """The unmatched expressions, by the forms of their values."""
        expressions: dict[Any, list[Expression]] = defaultdict(list)
        for expression in self.unmatched:
            expressions[self.series[expression.number].forms].append(expression)
        return expressions

    def _equal_expressions(self, first: Expression) -> list[Expression]:
        """Return all unmatched expressions that have the values of the first; none if it is alone or not the first."""
        equal = [expression for expression in self._unmatched_by_forms[self.series[first.number].forms]
                 if self._have_same_values(first, expression)]
        return equal if len(equal) > 1 and equal[0] is first else []

    def _have_same_values(self, a: Expression, b: Expression) -> bool:
        return have_same_values(self.series[a.number], self.series[b.number])

    def other_containers(self, before: Expression | None) -> Iterator[Replacement]:
        """Yield expressions with missing values that have the same elements in another form: a tensor for a list.

        Whole numbers only at the end: an answer that goes through them may work around its mistake.
        """
        missing = [series for series in self.right.series if id(series) in self._missing]
        for expression in self._before(before, self._not_given):
            own = self.series[expression.number]
            if own.has_decimals or len(own.elements) > 1 and self.is_last(expression):
                for series in missing:
                    if len(series) == len(own) and series.forms != own.forms and series.elements == own.elements:
                        yield [(expression, series)]

    def other_shapes(self, before: Expression | None) -> Iterator[Replacement]:
        """Yield expressions with missing decimals or masks of another shape that has as many axes.

        Not where axes become one (`_is_reduced`). Masks and names only if nothing was found: more may be chance.
        """
        for expression in self._unmatched_before(before):
            own = self.series[expression.number]
            for series in self._candidates(expression, False, True):
                is_no_chance = series.has_decimals or before is None and series.has_no_numbers and series.is_varied
                if is_no_chance and all(map(_have_as_many_axes, own, series)) and not _is_reduced(own, series):
                    yield [(expression, series)]

    def other_forms(self, before: Expression | None) -> Iterator[Replacement]:
        """Yield expressions with values of any other form.

        Decisions and lists that are still to be filled are left out, and names but for distinctive ones. Of whole
        numbers there have to be several, or more or fewer than there were, and something unmatched has to come after
        them: they are right by chance too often. Not where axes become one (`_is_reduced`).
        """
        for expression in self._unmatched_before(before):
            own = self.series[expression.number]
            if own.elements and all(isinstance(element, str) for element in own.elements):
                for series in self._candidates(expression, False, True):
                    if series.has_no_numbers and series.is_varied and isinstance(series.elements[0], str):
                        yield [(expression, series)]
            elif not own.has_no_numbers and (set(own.elements) != {None} or own.forms[0] == "none"):
                is_last = self.is_last(expression)
                for series in self._all_candidates(expression, False):
                    is_no_chance = series.has_decimals or (not is_last and (
                        series.is_varied and not series.has_no_numbers
                        or len(set(series.elements)) > 1 and len(series.elements) != len(own.elements)))
                    if is_no_chance and not _is_reduced(own, series):
                        yield [(expression, series)]

    def other_axis_orders(self, before: Expression | None) -> Iterator[Replacement]:
        """Yield expressions, alone and with all that have the same values, with right values in other axis orders."""
        for expression in self._unmatched_before(before):
            if not self.is_last(expression):
                equal = self._equal_expressions(expression)
                for ((_, series),) in self._with_other_axis_orders(expression):
                    yield [(expression, series)]
                    if equal and before not in equal:
                        yield [(other, series) for other in equal]

    @cached_property
    def _filled_later(self) -> set[int]:
        """The numbers of the expressions whose values may be filled: each is of equal numbers, and a statement writes
        into one of its form later."""
        written = [number for number in self.series if self.expressions[number].is_after_statement]
        return {number for number, series in self.series.items()
                if any(self.times[other][-1] > self.times[number][0] and self.series[other].forms[0] == series.forms[0]
                       for other in written) and all(map(_is_of_equal_numbers, series))}

    def _with_other_axis_orders(self, expression: Expression) -> Iterator[Replacement]:
        if expression.number in self._filled_later:
            return
        for series in self.right.transposed(self.series[expression.number]):
            if series.has_decimals and not self.right.find(series):
                yield [(expression, series)]

    def results(self, _: Expression | None) -> Iterator[Replacement]:
        """Yield the expression that comes last with missing values: a step after it may be missing.

        If it is unmatched, those of its own form were tried before.
        """
        for expression in sorted(self.ordered, key=lambda expression: self.times[expression.number][-1])[-1:]:
            same_forms = self._candidates(expression, True, True) if self._is_matched(expression) else []
            for series in (*same_forms, *self._candidates(expression, False, True)):
                yield [(expression, series)]

    def matched_values(self, before: Expression | None) -> Iterator[Replacement]:
        """Yield matched expressions with common missing values, the last ones first: a step after may be missing."""
        for expression in self._before(before, filter(self._is_matched, reversed(self._not_given))):
            for series in self._candidates(expression, True, True)[:MAX_COMMON]:
                is_number = isinstance(series[0], ScalarValue)  # such may be an argument
                if series.has_decimals or series.is_varied and not series.has_no_numbers and not is_number:
                    yield [(expression, series)]

    def pairs(self, before: Expression | None, singles: Sequence[Replacement],
              found: Replacement | None) -> Iterator[Replacement]:
        """Yield each of the nearest single replacements with each other one, those of named expressions last.

        A number that was ``found`` alone is in none of them: with a multiple of it, it mends any mean of two. Nor are
        two parts of the expression that was found: that is one place.
        """
        unmatched = set(self._unmatched_before(before))
        numbers = [series for _, series in found or () if len(series.elements) == len(series)]
        replacements = [(expression, series) for ((expression, series),) in singles
                        if expression in unmatched and not any(series is number for number in numbers)]
        for near in replacements[:MAX_NEAREST]:
            for other in sorted(replacements, key=lambda pair: (pair[0].is_named, self.time(pair[0]))):
                is_one_place = any(whole.contains(near[0]) and whole.contains(other[0]) for whole, _ in found or ())
                if other[1] is not near[1] and not self._have_same_values(near[0], other[0]) and not is_one_place:
                    yield sorted((near, other), key=lambda pair: self.time(pair[0]))

    def _is_distinctive(self, expression: Expression) -> bool:
        """Return whether the values hold a number, or several elements that are not all the same."""
        series = self.series[expression.number]
        return not series.has_no_numbers or series.is_varied


def _is_of_equal_numbers(value: Value) -> bool:
    numbers = elements(value)
    return all(number == numbers[0] or number != number and numbers[0] != numbers[0] for number in numbers)


def _is_reduced(own: Series, right: Series) -> bool:
    """Return whether right values have size one on some axes, and one's own sizes on all others.

    What a right answer has after a sum, or of one timestep, is right before any sum or mean over these axes.
    """
    shapes = [(value.array.shape, other.array.shape) for value, other in zip(own, right, strict=False)
              if isinstance(value, ArrayValue) and isinstance(other, ArrayValue)]
    are_as_long = len(shapes) == len(own) and all(len(before) == len(after) for before, after in shapes)
    sizes = [pair for before, after in shapes for pair in zip(before, after, strict=False)]
    return (are_as_long and all(after in (1, before) for before, after in sizes)
            and any(after != before for before, after in sizes))


def _have_as_many_axes(a: Value, b: Value) -> bool:
    if isinstance(a, ArrayValue) and isinstance(b, ArrayValue):
        return (a.kind == b.kind and a.array.ndim == b.array.ndim
                and (a.array.dtype.kind == "b") is (b.array.dtype.kind == "b"))
    return type(a) is type(b)
