"""The values that expressions of right answers have in a check."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import values
from ..values import Array, Value
from .observation import Series, form, has_decimals, same

MAX_AXES = 4  # of an array that is turned


class RightValues:
    """The values that expressions of right answers have in a check: each series once."""

    def __init__(self, series: Iterable[Series] = ()):
        self.series: list[Series] = []
        self._by_form: dict[Any, list[Series]] = defaultdict(list)
        self._by_first: dict[Any, list[Series]] = defaultdict(list)
        for one in series:
            self._add(one)

    @classmethod
    def of(cls, answers: Iterable[Iterable[Series]]) -> RightValues:
        """Return what can be had again of the series of answers; what more answers have comes first."""
        right, counts = cls(), Counter[int]()
        for answer in answers:
            counts.update({id(right.found(one) or right._add(one)) for one in answer if None not in one.forms})
        return cls(sorted(right.series, key=lambda one: -counts[id(one)]))

    def _add(self, series: Series) -> Series:
        self.series.append(series)
        self._by_form[series.forms].append(series)
        self._by_first[form(series[0])].append(series)
        return series

    def found(self, series: Series) -> Series | None:
        """Return the series that has these values, one after the other; None where no right answer has them."""
        alike = self._by_form.get(series.forms, ())
        return next((one for one in alike if all(map(same, series, one))), None)

    def in_part(self, series: Series) -> bool:
        """Return whether a right answer has these values one after the other, only more or less often.

        They are several, and such as no chance makes, or always the same whole number or name.
        """
        if not has_decimals(series[0]):
            return self.always(series)
        alike = self._by_first.get(form(series[0]), ())
        return len(series) > 1 and any(len(one) > 1 and _same(series, one) for one in alike)

    def always(self, series: Series) -> bool:
        """Return whether a series is one value again and again, and a right answer has that, as often or not."""
        alike = self._by_first.get(form(series[0]), ())
        return _is_one(series) and any(same(series[0], one[0]) and _is_one(one) for one in alike)

    def alike(self, series: Series, goes_on: bool, in_form: bool) -> list[Series]:
        """Return the series that may stand in the place of one: those of the same form, or all others as long.

        ``goes_on``: an error ended it, and theirs may be longer.
        """
        length = len(series)
        return [one for one in self.series if (len(one) >= length if goes_on else len(one) == length)
                and (one.forms[:length] == series.forms) is in_form]

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
                sizes = list(turned.shape)  # some order has the axes of size one in front
                outer = len(sizes) - len(inner)
                if outer < 0 or sizes[outer:] != inner or math.prod(sizes[:outer]) != length:
                    continue
                made = turned.reshape(own.shape).astype(own.dtype)
                if turned.dtype.kind == own.dtype.kind and not any(np.array_equal(made, one) for one in seen):
                    seen.append(made)
                    yield Series(_like(value, part) for value, part in zip(series, made, strict=True))


def _is_one(series: Series) -> bool:
    return all(form(one) == form(series[0]) and same(one, series[0]) for one in series)


def _same(a: Series, b: Series) -> bool:
    return all(form(one) == form(other) and same(one, other) for one, other in zip(a, b, strict=False))


def _stacked(series: Series) -> NDArray[Any] | None:
    """Return a series of numbers of one form as one array, whose first axis is that of the series."""
    if len(set(series.forms)) != 1 or not isinstance(series[0], (Array, values.Scalar)):
        return None
    array = np.stack([np.asarray(values.plain(one)) for one in series])
    return array if array.dtype.kind in "biuf" else None


def _like(value: Value, numbers: NDArray[Any]) -> Value:
    """Return numbers as a value of the kind of another."""
    return Array(value.kind, value.dtype, numbers) if isinstance(value, Array) else values.Scalar(numbers.item())


def to_tree(right: RightValues) -> dict[str, Any]:
    """Return right values as plain data: how self-checks are shipped. Each value is kept once, a list by its items."""
    numbers: dict[Any, int] = {}  # of the values, by what makes one the same as another
    trees: list[Any] = []

    def kept(value: Value) -> int:
        if isinstance(value, values.Sequence):
            tree: Any = {"items": list(map(kept, value.items)), "length": value.length}
            key: Any = (*tree["items"], value.length)
        else:
            tree = values.to_tree(value)
            array = value.array if isinstance(value, Array) else None
            key = repr(tree) if array is None else (value.kind, tree["dtype"], array.shape, array.tobytes())
        if key not in numbers:
            numbers[key] = len(trees)
            trees.append(tree)
        return numbers[key]

    return {"series": [list(map(kept, series)) for series in right.series], "values": trees}


def from_tree(tree: dict[str, Any]) -> RightValues:
    """Return the right values that one of our own trees holds."""
    made: list[Value] = []
    for one in tree["values"]:
        if "items" in one:
            made.append(values.Sequence(tuple(made[number] for number in one["items"]), one["length"]))
        else:
            made.append(values.Reader().read(one))
    return RightValues(Series(made[number] for number in series) for series in tree["series"])
