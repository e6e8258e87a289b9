"""What may stand in the place of the expressions of an answer: values that right answers have."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from ..values import Array, Value, plain
from .observation import Observer, Series, has_decimals, same
from .rewriting import Expression
from .right_values import RightValues

COMMON = 6  # values for one expression: those that most right answers have are tried first
BEST = 4  # replacements that come nearest to the right results: another one is added to each
MANY = 4  # decisions or names that are not all the same are more than chance

Replacement = Sequence[tuple[Expression, Series]]  # expressions, and what stands in the place of each


class Replacements:
    """The values of an answer beside those of right answers, and what may be tried.

    In each kind of replacements the expressions come in the order of time, as far as they come before the ``last``.
    """

    def __init__(self, observer: Observer, expressions: Mapping[int, Expression], right: RightValues, goes_on: bool):
        self.right, self.goes_on = right, goes_on
        self.times, self.expressions, self.all = observer.times, expressions, observer.found()
        self.series = {number: series for number, series in self.all.items() if None not in series.forms}
        self.ordered = sorted((expressions[number] for number in self.series), key=self.time)
        self.known = [one for one in self.ordered if right.found(own := self.series[one.number]) or right.in_part(own)]
        self.unknown = [one for one in self.ordered if one not in self.known]

    @cached_property
    def _missing(self) -> set[int]:
        """The series of right answers that the answer has nowhere, by what identifies them.

        A real number that is always the same whole one may be an argument, which the answer has as well.
        """
        own = RightValues(self.series.values())
        return {id(series) for series in self.right.series
                if not own.found(series) and not (series.forms[0] == "float" and own.always(series))}

    def time(self, one: Expression) -> int:
        """Return when an expression was first evaluated."""
        return self.times[one.number][0]

    def is_last(self, one: Expression) -> bool:
        """Return whether no expression with a value that no right answer has comes behind one."""
        return not any(self.time(other) > self.time(one) for other in self.unknown)

    def is_in_last_line(self, one: Expression) -> bool:
        """Return whether there is none in another line behind one."""
        return not any(self.time(other) > self.time(one) and other.span[0] != one.span[0] for other in self.unknown)

    def _before(self, last: Expression | None) -> list[Expression]:
        """Return the expressions whose values no right answer has."""
        return [one for one in self.unknown if last is None or self.time(one) < self.time(last)]

    def _all(self, one: Expression, in_form: bool) -> list[Series]:
        """Return what may stand in the place of an expression, what the answer has nowhere first.

        If its first value is right, only what begins so.
        """
        own = self.series[one.number]
        found = self.right.alike(own, self.goes_on, in_form)
        if in_form and len(own) > 1 and has_decimals(own[0]):
            found = [series for series in found if same(series[0], own[0])] or found
        return sorted(found, key=lambda series: id(series) not in self._missing)

    def _alike(self, one: Expression, in_form: bool, is_missing: bool) -> list[Series]:
        """Return of this what the answer has nowhere, or elsewhere."""
        return [series for series in self._all(one, in_form) if (id(series) in self._missing) is is_missing]

    def at(self, numbers: Sequence[int]) -> Iterator[Replacement]:
        """Yield expressions by number with all values of their form; a right one only with one of decimals."""
        for one in self.ordered:
            if one.number in numbers:
                for series in self._all(one, True):
                    if one not in self.known or series.has_decimals:
                        yield [(one, series)]

    def missing(self, last: Expression | None) -> Iterator[Replacement]:
        """Yield expressions whose values no right answer has, with values that this answer has nowhere."""
        for one in filter(self._is_telling, self._before(last)):
            for series in self._alike(one, True, True)[:self._many(one)]:
                yield [(one, series)]

    def rarer(self, last: Expression | None) -> Iterator[Replacement]:
        """Yield the same with the values that fewer right answers have."""
        for one in filter(self._is_telling, self._before(last)):
            for series in self._alike(one, True, True)[self._many(one):]:
                yield [(one, series)]

    def _many(self, one: Expression) -> int:
        """Return how many values come first: of what a function evaluates last all, for one may be its result."""
        return len(self.right.series) if self._last[one.cell, one.function] is one else COMMON

    @cached_property
    def _last(self) -> dict[tuple[int, str], Expression]:
        """What is evaluated last in each function."""
        ordered = sorted(self.ordered, key=lambda one: self.times[one.number][-1])
        return {(one.cell, one.function): one for one in ordered}

    def choices(self, last: Expression | None) -> Iterator[Replacement]:
        """Yield the same where a value is a decision: what is chosen by it may be right by chance."""
        for one in self._before(last):
            if not self._is_telling(one) and isinstance(plain(self.series[one.number][0]), bool):
                for series in self._alike(one, True, True):
                    yield [(one, series)]

    def elsewhere(self, last: Expression | None) -> Iterator[Replacement]:
        """Yield expressions with values of right answers that this answer has elsewhere."""
        for one in self._before(last):
            for series in self._alike(one, True, False)[:COMMON]:
                if series.has_decimals:
                    yield [(one, series)]

    def present(self, last: Expression | None) -> Iterator[Replacement]:
        """Yield the same with all such values, also where they are equal by chance, but for whole real numbers."""
        for one in self._before(last):
            for series in self._alike(one, True, False):
                if series.has_decimals or series.forms[0] != "float":
                    yield [(one, series)]

    def everywhere(self, last: Expression | None) -> Iterator[Replacement]:
        """Yield all expressions that have the same values at once, with other values."""
        for one in filter(self._is_telling, self._before(last)):
            if equal := self._equal(one):
                for series in self._all(one, True):
                    yield [(other, series) for other in equal]

    @cached_property
    def _of_form(self) -> dict[Any, list[Expression]]:
        """The expressions whose values no right answer has, by the forms of their values."""
        found: dict[Any, list[Expression]] = defaultdict(list)
        for one in self.unknown:
            found[self.series[one.number].forms].append(one)
        return found

    def _equal(self, first: Expression) -> list[Expression]:
        """Return the expressions that have the values of one; nothing where there are none, or an earlier one."""
        found = [one for one in self._of_form[self.series[first.number].forms] if self._is_equal(first, one)]
        return found if len(found) > 1 and found[0] is first else []

    def _is_equal(self, one: Expression, other: Expression) -> bool:
        """Return whether two expressions have the same values."""
        own, others = self.series[one.number], self.series[other.number]
        return own.forms == others.forms and all(map(same, own, others))

    def near(self, last: Expression | None) -> Iterator[Replacement]:
        """Yield expressions with values of another shape, with as many axes."""
        for one in self._before(last):
            for series in self._alike(one, False, True):
                if series.has_decimals and all(map(_axes_alike, self.series[one.number], series)):
                    yield [(one, series)]

    def resized(self, last: Expression | None) -> Iterator[Replacement]:
        """Yield expressions with values of another form."""
        for one in self._before(last):
            if not _are_names(self.series[one.number].numbers):
                for series in self._all(one, False):
                    if series.has_decimals or len(set(series.numbers)) > 1:
                        yield [(one, series)]

    def rearranged(self, last: Expression | None) -> Iterator[Replacement]:
        """Yield expressions, and all that have their values, with the axes of right values in another order."""
        for one in self._before(last):
            if not self.is_last(one):
                equal = self._equal(one)
                for series in self.right.rearranged(self.series[one.number]):
                    if series.has_decimals:
                        yield [(one, series)]
                    if series.has_decimals and equal:
                        yield [(other, series) for other in equal]

    def result(self, _: Expression | None) -> Iterator[Replacement]:
        """Yield what is evaluated last, if right answers have its value elsewhere: something may be lacking there."""
        for one in self.ordered[-1:]:
            if one in self.known:
                for series in (*self._alike(one, True, True), *self._alike(one, False, True)):
                    yield [(one, series)]

    def pairs(self, last: Expression | None, singles: Sequence[Replacement]) -> Iterator[Replacement]:
        """Yield each of the first replacements of single expressions with each other one, those of variables last."""
        before = set(self._before(last))
        found = [one for (one,) in singles if one[0] in before]
        for near in found[:BEST]:
            for other in sorted(found, key=lambda one: (one[0].named, self.time(one[0]))):
                if other[1] is not near[1] and not self._is_equal(near[0], other[0]):
                    yield sorted((near, other), key=lambda one: self.time(one[0]))

    def _is_telling(self, one: Expression) -> bool:
        """Return whether the values of an expression are more than a few decisions, or a name."""
        found = self.series[one.number].numbers
        return not _are_names(found) or len(found) >= MANY and len(set(found)) > 1

    def lines(self, cell: int) -> dict[int, bool]:
        """Return the lines of a cell on which there are values, and whether all are those of right answers."""
        return self._lines(one for one in map(self.expressions.__getitem__, self.all) if one.cell == cell)

    def lines_known(self, before: Expression) -> tuple[int, ...]:
        """Return the lines of the function before an expression on which all values are those of right answers."""
        lines = self._lines(one for one in map(self.expressions.__getitem__, self.all)
                            if self.time(one) < self.time(before)
                            and (one.cell, one.function) == (before.cell, before.function))
        return tuple(sorted(line for line, is_known in lines.items()
                            if is_known and not before.span[0] <= line <= before.span[2]))

    def _lines(self, found: Iterable[Expression]) -> dict[int, bool]:
        lines: dict[int, bool] = {}
        for one in found:
            is_known = one in self.known or not any(self.all[one.number].forms)
            for line in {one.span[0], one.span[2]}:
                lines[line] = lines.get(line, True) and is_known
        return lines


def _are_names(found: Sequence[object]) -> bool:
    return all(isinstance(one, (bool, str)) for one in found)


def _axes_alike(a: Value, b: Value) -> bool:
    if isinstance(a, Array) and isinstance(b, Array):
        return a.kind == b.kind and a.array.ndim == b.array.ndim
    return type(a) is type(b)
