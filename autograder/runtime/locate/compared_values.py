"""Compare the values of an answer with those of right answers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from functools import cached_property

from ..values import ArrayValue, ListValue
from .observation import Observer, Series, is_same
from .rewriting import Expression
from .right_values import RightValues

UNMATCHED_LINES = 3  # before a value that says little: where the answer went wrong cannot be told then
MANY_UNMATCHED_LINES = 7  # before any value: half of the places after so many were elsewhere (`bench.locating`)


class ComparedValues:
    """The values of an answer, compared with those of right answers.

    An expression is matched if right answers have its values or it is given, and unmatched else. A right value is
    missing if no expression of the answer has it.
    """

    def __init__(self, observer: Observer, expressions: Mapping[int, Expression], right: RightValues,
                 ended_by_error: bool):
        self.observer, self.right, self.ended_by_error = observer, right, ended_by_error
        self.times, self.expressions, self.all_series = observer.times, expressions, observer.series_by_number()
        # A value without a form can be neither compared nor replaced, and None before it may stand for any.
        self.series = {number: described for number, series in self.all_series.items()
                       if (described := series.described) and (described is series or {*described.elements} != {None})}
        self._matched_numbers = {
            number for number, series in self.series.items()
            if expressions[number].is_given or right.find(series) or right.has_common_start(series)
            or right.has_numbers(series)}
        self._starts = {number: min(right.right_start(series), len(series) - 1)
                        for number, series in self.series.items() if number not in self._matched_numbers}
        self.ordered = sorted((expressions[number] for number in self.series), key=self.time)
        self.unmatched = [expression for expression in self.ordered if not self._is_matched(expression)]

    def _is_matched(self, expression: Expression) -> bool:
        return expression.number in self._matched_numbers

    @cached_property
    def _missing(self) -> set[int]:
        """The ids of the series of right answers that no expression of the answer has.

        A real number that is always the same whole one is left out: it may be an argument, which the answer has too.
        """
        present = RightValues(self.series.values())
        return {id(series) for series in self.right.series
                if not present.find(series) and not (series.forms[0] == "float" and present.has_constant(series))}

    def is_only_missing(self, expression: Expression, series: Series) -> bool:
        """Return whether the answer lacks these right values, and no others of the form that it has there."""
        form = self.series[expression.number].forms[0]
        missing = [right for right in self.right.series if id(right) in self._missing and right.forms[0] == form]
        return len(missing) == 1 and missing[0] is series

    def time(self, expression: Expression) -> int:
        """Return when an expression first had a value that no right answer begins with; of a matched one, any value."""
        return self.times[expression.number][self._starts.get(expression.number, 0)]

    def is_last(self, expression: Expression) -> bool:
        """Return whether no unmatched expression comes after this one."""
        return not any(self.time(other) > self.time(expression) for other in self.unmatched)

    def is_in_last_line(self, expression: Expression) -> bool:
        """Return whether no unmatched expression on another line comes after this one."""
        return not any(self.time(other) > self.time(expression) and other.span[0] != expression.span[0]
                       for other in self.unmatched)

    def unmatched_lines_before(self, expression: Expression, series: Series) -> int:
        """Return on how many other lines values are unmatched before an expression has one that a series replaces.

        What comes after that may follow from it.
        """
        values = zip(self.times[expression.number], self.series[expression.number], series, strict=False)
        replaced = next((time for time, value, right in values if not is_same(value, right)), math.inf)
        time = min(replaced, self.time(expression))
        return len({other.span[0] for other in self.unmatched if self.time(other) < time} - {expression.span[0]})

    def is_vague(self, expression: Expression, series: Series) -> bool:
        """Return whether values on lines before an expression are unmatched, and a right value there says little.

        Such are the result, a value of another form than that of the answer, a list of whole numbers in the last line,
        a matched value before that line, and any after many such lines. Where all parts of an unmatched expression are
        matched, it is wrong itself.
        """
        own, lines = self.series[expression.number], self.unmatched_lines_before(expression, series)
        is_list = isinstance(series[0], ListValue) and not series.has_decimals
        return (lines >= UNMATCHED_LINES and series.elements != own.elements
                and (self.is_last(expression) or series.forms[:len(own)] != own.forms
                     or (is_list if self.is_in_last_line(expression) else self._is_matched(expression))
                     or lines >= MANY_UNMATCHED_LINES)
                and (self._is_matched(expression) or not self._is_wrong_itself(expression)))

    def _is_wrong_itself(self, expression: Expression) -> bool:
        """Return whether an unmatched expression has parts, and all that it was computed from is matched.

        What a function of the answer computed in a call of it counts too.
        """
        parts = [other for other in self.ordered if other.span != expression.span and expression.contains(other)]
        end = self.time(expression)
        start = max((time for part in parts for time in self.times[part.number] if time < end), default=end)
        return bool(parts) and all(map(self._is_matched, parts)) and not any(
            start < self.time(other) < end for other in self.unmatched)

    def _unmatched_before(self, before: Expression | None) -> list[Expression]:
        return self._before(before, self.unmatched)

    def _before(self, before: Expression | None, expressions: Iterable[Expression]) -> list[Expression]:
        return [expression for expression in expressions
                if before is None or self.time(expression) < self.time(before)]

    def is_decision(self, expression: Expression) -> bool:
        """Return whether an expression has values, and only such that are true or false."""
        own = self.series[expression.number].elements
        return bool(own) and all(isinstance(element, bool) for element in own)

    def is_mask(self, expression: Expression) -> bool:
        """Return whether an expression has only arrays of values that are true or false."""
        return self.is_decision(expression) and all(
            isinstance(value, ArrayValue) and value.array.ndim for value in self.series[expression.number])

    def matched_by_line(self, cell: int) -> dict[int, bool]:
        """Return the lines of a cell on which there are values, each with whether all of them are matched."""
        expressions = map(self.expressions.__getitem__, self.all_series)
        return self._matched_by_line(expression for expression in expressions if expression.cell == cell)

    def skipped_lines(self, cell: int) -> set[int]:
        """Return the lines of a cell that hold expressions of which none was reached.

        None where an error ended it: what raises it reports no value.
        """
        own = [expression for expression in self.expressions.values() if expression.cell == cell]
        reached = [expression for expression in own if self.observer.has_reached(expression.number)]
        return set() if self.ended_by_error else _lines_of(own) - _lines_of(reached)

    def matched_lines(self, before: Expression) -> tuple[int, ...]:
        """Return the lines of the function above an expression on which all values are matched.

        There is at least one, and no result that cannot be compared, as of a dict.
        """
        earlier = [expression for expression in map(self.expressions.__getitem__, self.all_series)
                   if self.times[expression.number][0] < self.times[before.number][0]
                   and (expression.cell, expression.function) == (before.cell, before.function)]
        described, undescribed = set[int](), set[int]()
        for expression in earlier:
            if any(self.all_series[expression.number].forms):
                described |= _lines_of([expression])
            elif not expression.is_named:
                undescribed |= _lines_of([expression])
        lines = self._matched_by_line(earlier)
        return tuple(sorted(line for line in described - undescribed if lines[line] and line < before.span[0]))

    def _matched_by_line(self, expressions: Iterable[Expression]) -> dict[int, bool]:
        lines: dict[int, bool] = {}
        for expression in expressions:
            forms = self.all_series[expression.number].forms
            is_matched = not any(forms) or self._is_matched(expression) and None not in forms
            for line in _lines_of([expression]):
                lines[line] = lines.get(line, True) and is_matched
        return lines


def _lines_of(expressions: Iterable[Expression]) -> set[int]:
    """Return the first and the last line of each expression."""
    return {line for expression in expressions for line in (expression.span[0], expression.span[2])}
