"""Find the expression of a wrong answer where the value of a right one makes all that follows right.

This is fault localisation by value replacement (Jeffrey, Gupta and Gupta, ISSTA 2008). A wrong answer is run once under
observation; then a value that no right answer has is replaced by one that right answers have, and the calls are made
again. The first expression, in the order of time, with which a check passes, gradients apart, is the place. Nothing is
claimed where no value does it.
"""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import chain, permutations, takewhile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import arrays, values
from .bounded import TimeIsUp, bounded
from .compare import first_difference, output_difference
from .difference import Difference
from .observation import MAX_SERIES, Observer, Probe, Series, defined, form, same
from .place import Place
from .recorded import RecordedCheck, Reply, Spec
from .rewriting import Expression, WatchedCell
from .syntax import segment
from .values import Array, Value, short

CALL_SECONDS = 1.0  # for the calls of a check once
LAST_SECONDS = 0.1  # in which a place that was found is followed to the last that has its value
MAX_AXES = 4  # of an array that is turned


class RightValues:
    """The values that expressions of right answers have in a check: each series once."""

    def __init__(self, series: Sequence[Series] = ()):
        self.series: list[Series] = []
        self._by_form: dict[Any, list[Series]] = defaultdict(list)
        for one in series:
            self.add(one)

    def add(self, series: Series) -> None:
        """Add what an expression of a right answer was, unless it is there or cannot be had again."""
        forms = tuple(map(form, series))
        if None not in forms and not self.has(series):
            self.series.append(series)
            self._by_form[forms].append(series)

    def has(self, series: Series) -> bool:
        """Return whether an expression of a right answer has these values, one after the other."""
        return any(all(map(same, series, other))
                   for other in self._by_form.get(tuple(map(form, series)), ()))

    def alike(self, series: Series, goes_on: bool, in_form: bool) -> list[Series]:
        """Return the series that may stand in the place of one: those of the same form, or all others as long.

        ``goes_on``: an error ended it, and theirs may be longer.
        """
        forms = tuple(map(form, series))
        long = (one for one in self.series if len(one) == len(series) or goes_on and len(one) > len(series))
        return [one for one in long if (tuple(map(form, one))[:len(series)] == forms) is in_form]

    @cached_property
    def _by_size(self) -> dict[int, list[NDArray[Any]]]:
        """The series of numbers, each as one array, by how many numbers they are."""
        found: dict[int, list[NDArray[Any]]] = defaultdict(list)
        for series in self.series:
            array = _stacked(series)
            if array is not None and array.ndim <= MAX_AXES:
                found[array.size].append(array if len(series) > 1 else array[0])
        return found

    def rearranged(self, series: Series) -> Iterator[Series]:
        """Yield series of right answers with their axes in another order, or as axes of a series and not of an array.

        So does an answer compute them that goes through sentences or timesteps in another order, or in a loop.
        """
        own = _stacked(series)
        if own is None or own.size < 2:
            return
        length, inner = len(series), [size for size in own.shape[1:] if size != 1]
        seen: list[NDArray[Any]] = [own]
        for array in self._by_size[own.size]:
            for order in permutations(range(array.ndim)):
                turned = array.transpose(order)
                sizes = [size for size in turned.shape if size != 1]
                outer = len(sizes) - len(inner)
                if outer < 0 or sizes[outer:] != inner or math.prod(sizes[:outer]) != length:
                    continue
                made = turned.reshape(own.shape).astype(own.dtype)
                if turned.dtype.kind == own.dtype.kind and not any(np.array_equal(made, one) for one in seen):
                    seen.append(made)
                    yield [_like(value, part) for value, part in zip(series, made, strict=True)]


def _stacked(series: Series) -> NDArray[Any] | None:
    """Return a series of numbers of one form as one array, whose first axis is that of the series."""
    if len(set(map(form, series))) != 1 or not isinstance(series[0], (Array, values.Scalar)):
        return None
    array = np.stack([np.asarray(values.plain(one)) for one in series])
    return array if array.dtype.kind in "biuf" else None


def _like(value: Value, numbers: NDArray[Any]) -> Value:
    """Return numbers as a value of the kind of another."""
    return Array(value.kind, value.dtype, numbers) if isinstance(value, Array) else values.Scalar(numbers.item())


def to_tree(right: RightValues) -> list[Any]:
    """Return right values as plain data: how self-checks are shipped."""
    return [list(map(values.to_tree, series)) for series in right.series]


def from_tree(tree: Sequence[Any]) -> RightValues:
    """Return the right values that one of our own trees holds."""
    return RightValues([[values.Reader().read(one) for one in series] for series in tree])


def observed(cells: Sequence[WatchedCell], namespace: dict[str, Any], run: Callable[[], object]) -> Observer:
    """Return what the expressions of cells are while ``run`` makes calls on what they define."""
    observer = Observer()
    with defined(cells, namespace) as watch:
        watch(observer.probe)
        run()
    return observer


class _Replacer:
    """Hands on the values of a series where expressions are evaluated, one after the other, and else what is there."""

    def __init__(self, replaced: Sequence[Expression], series: Series):
        self.series, self.used = series, {one.number: 0 for one in replaced}
        self.statements = {one.number for one in replaced if one.statement}

    def probe(self, number: int, value: Any) -> Any:
        """Return a value, or what stands in its place."""
        used = self.used.get(number, MAX_SERIES)
        if used >= len(self.series):
            return value
        self.used[number] = used + 1
        new = _made(self.series[used], value)
        return _stored(new, value) if number in self.statements else new


def _made(new: Value, old: Any) -> Any:
    """Return a value for what an expression is. A gradient goes the way that it went."""
    if isinstance(new, Array):
        if new.kind != "tensor":
            return new.array.copy()
        if not arrays.is_tensor(old):
            return arrays.to_tensor(new.array, dtype=new.dtype)
        return arrays.with_gradient_of(arrays.to_tensor(new.array, dtype=new.dtype), old)
    if isinstance(new, values.Sequence):
        olds = [*old, *[old[-1] if old else None] * len(new.items)]
        made = [_made(*pair) for pair in zip(new.items, olds, strict=False)]
        return tuple(made) if isinstance(old, tuple) else made
    return values.plain(new)


def _stored(new: Any, old: Any) -> Any:
    """Have a variable hold something, and what else has its value."""
    if arrays.is_tensor(old) and old.shape == new.shape:
        old.data.copy_(new.detach())
    elif isinstance(old, np.ndarray) and old.shape == new.shape:
        old[...] = new
    elif isinstance(old, list):
        old[:] = new
    else:
        return new
    return old


@dataclass
class Search:
    """The search in one exercise: what its checks have in common, and how much time is left for it."""

    cells: Sequence[WatchedCell]
    texts: Sequence[str]
    namespace: dict[str, Any]
    run: Callable[[RecordedCheck], Reply]
    ends: float  # on the clock
    found: list[int] = field(default_factory=list)  # the expressions that were found in checks before

    @cached_property
    def expressions(self) -> dict[int, Expression]:
        """The expressions by number."""
        return {one.number: one for cell in self.cells for one in cell.expressions}

    def place(self, record: RecordedCheck, right: RightValues) -> Place | None:
        """Return the place at which a right value makes a check pass; None where there is none, or no time."""
        with defined(self.cells, self.namespace) as watch:
            observer = Observer()
            reply = self._replied(record, watch, observer.probe)
            if reply is None or first_difference(record, reply) is None:
                return None
            record = _without_gradients(record, reply)
            mends = partial(self._mends, record, watch)
            seen = _Seen(observer, self.expressions, right, reply.error is not None)
            found = self._first(seen.replacements(self.found), mends)
            if found is None or seen.is_last(found[0][0]):  # the result itself: perhaps something before it does, too
                before = seen.resized(found[0][0] if found else None)
                found = self._first(chain(before, seen.others(), seen.exchanges()), mends) or found
            if found is None:
                return None
            self.found.append(found[0][0].number)
            return self._place(self._last(*found, seen, mends), seen, found[1])

    def _first(self, tried: Iterator[Replacement], mends: Callable[[Replacement], bool]) -> Replacement | None:
        return next((one for one in takewhile(self._is_in_time, tried) if mends(one)), None)

    def _is_in_time(self, *_: object) -> bool:
        return time.monotonic() < self.ends

    def _mends(self, record: RecordedCheck, watch: Callable[[Probe], None], replaced: Replacement) -> bool:
        answer = self._replied(record, watch, _Replacer(*replaced).probe)
        return answer is not None and first_difference(record, answer) is None

    def _last(self, replaced: Sequence[Expression], series: Series, seen: _Seen,
              mends: Callable[[Replacement], bool]) -> Expression:
        """Return the last expression of the function with which these values mend the check: they are handed on as is.

        A variable, or one of which a part is stored, is such a one only where its value is right elsewhere.
        """
        first, forms = replaced[0], list(map(form, series))
        later = [one for one in seen.ordered if seen.time(one) > seen.time(first)
                 and (one.cell, one.function) == (first.cell, first.function)
                 and list(map(form, seen.series[one.number])) == forms
                 and (first in seen.known or not (one.named or one.statement))]
        self.ends += LAST_SECONDS
        return next((one for one in reversed(later) if self._is_in_time() and mends(([one], series))), first)

    def _replied(self, record: RecordedCheck, watch: Callable[[Probe], None], probe: Probe) -> Reply | None:
        watch(probe)
        try:
            with bounded(CALL_SECONDS):
                return self.run(record)
        except (Exception, TimeIsUp):
            return None

    def _place(self, one: Expression, seen: _Seen, series: Series) -> Place:
        said = short(segment(self.texts[one.cell], one.span))
        return Place("value", one.span, one.cell, said, seen.lines_known(one), _beside(series, seen.series[one.number]))


Replacement = tuple[Sequence[Expression], Series]  # expressions, and what stands in the place of each


class _Seen:
    """The values of an answer beside those of right answers."""

    def __init__(self, observer: Observer, expressions: Mapping[int, Expression], right: RightValues, goes_on: bool):
        self.right, self.goes_on = right, goes_on
        self.times, self.expressions, self.all = observer.times, expressions, observer.series
        self.series = {number: series for number, series in observer.series.items() if None not in map(form, series)}
        self.ordered = sorted((expressions[number] for number in self.series), key=self.time)
        self.known = [one for one in self.ordered if right.has(self.series[one.number])]
        self.unknown = [one for one in self.ordered if one not in self.known]

    @cached_property
    def _missing(self) -> set[int]:
        """Return the series of right answers that the answer has nowhere, by what identifies them."""
        own = RightValues(list(self.series.values()))
        return {id(series) for series in self.right.series if not own.has(series)}

    def time(self, one: Expression) -> int:
        """Return when an expression was first evaluated."""
        return self.times[one.number][0]

    def is_last(self, one: Expression) -> bool:
        """Return whether no expression with a value that no right answer has comes in a line behind one."""
        return not any(self.time(other) > self.time(one) and other.span[0] != one.span[0] for other in self.unknown)

    def replacements(self, before: Sequence[int]) -> Iterator[Replacement]:
        """Yield expressions whose values no right answer has, in the order of time, with those of right answers.

        Values that the answer has nowhere come first, and expressions that were found ``before``.
        """
        for is_missing in (True, False):
            for one in sorted(self.unknown, key=lambda one: one.number not in before):
                for series in self.right.alike(self.series[one.number], self.goes_on, True):
                    if (id(series) in self._missing) is is_missing:
                        yield [one], series

    def resized(self, before: Expression | None) -> Iterator[Replacement]:
        """Yield those before an expression, or all, with values of another form."""
        for one in self.unknown:
            if before is None or self.time(one) < self.time(before):
                found = self.right.alike(self.series[one.number], self.goes_on, False)
                for series in sorted(found, key=lambda series: id(series) not in self._missing):
                    yield [one], series

    def others(self) -> Iterator[Replacement]:
        """Yield the same with series of right answers that are rearranged, and with each value replaced wherever it is.

        The last in time is left out.
        """
        for one in self.unknown:
            own = self.series[one.number]
            equal = [other for other in self.unknown if list(map(form, own)) == list(
                map(form, self.series[other.number])) and all(map(same, own, self.series[other.number]))]
            if self.is_last(one):
                return
            for series in self.right.rearranged(own):
                yield [one], series
            if len(equal) > 1 and equal[0] is one:
                for series in (*self.right.alike(own, self.goes_on, True), *self.right.rearranged(own)):
                    yield equal, series

    def exchanges(self) -> Iterator[Replacement]:
        """Yield expressions whose values right answers have elsewhere, with values that this answer has nowhere."""
        for in_form in (True, False):
            for one in self.known:
                for series in self.right.alike(self.series[one.number], self.goes_on, in_form):
                    if id(series) in self._missing:
                        yield [one], series

    def lines_known(self, before: Expression) -> tuple[int, ...]:
        """Return the lines of the function before an expression on which all values are those of right answers."""
        lines: dict[int, bool] = {}
        for number in self.all:
            one = self.expressions[number]
            if self.time(one) < self.time(before) and (one.cell, one.function) == (before.cell, before.function):
                is_known = one in self.known or all(form(value) is None for value in self.all[number])
                for line in {one.span[0], one.span[2]}:
                    lines[line] = lines.get(line, True) and is_known
        return tuple(sorted(line for line, is_known in lines.items()
                            if is_known and not before.span[0] <= line <= before.span[2]))


def _without_gradients(record: RecordedCheck, reply: Reply) -> RecordedCheck:
    """Return a check without its gradients, unless these alone differ: the way of a gradient is not replaced."""
    specs = {name: spec for name, spec in record.specs.items() if "grad" not in name}
    without = replace(record, specs=specs)
    return without if first_difference(without, reply) else record


def _beside(right: Series, own: Series) -> Difference | None:
    """Return the first difference between the values of a place and the right ones; whole numbers are often chance."""
    pairs = zip(right, own, strict=False)
    found = next((found for a, b in pairs if (found := output_difference("", a, b, Spec()))), None)
    is_whole = found and found.kind == "value" and found.got and found.got.kind in ("int", "bool")
    return None if is_whole else found
