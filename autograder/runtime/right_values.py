"""The values that expressions of right answers have in a check."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import values
from .observation import Series, form, forms, same
from .values import Array, Value

MAX_AXES = 4  # of an array that is turned


class RightValues:
    """The values that expressions of right answers have in a check: each series once."""

    def __init__(self, series: Iterable[Series] = ()):
        self.series: list[Series] = []
        self._forms: list[Any] = []  # of each
        self._by_form: dict[Any, list[Series]] = defaultdict(list)
        self._by_first: dict[Any, list[Series]] = defaultdict(list)
        for one in series:
            self._add(one)

    @classmethod
    def of(cls, answers: Iterable[Iterable[Series]]) -> RightValues:
        """Return what can be had again of the series of answers; what more answers have comes first."""
        right, counts = cls(), Counter[int]()
        for answer in answers:
            counts.update({id(right.found(one) or right._add(one)) for one in answer if None not in forms(one)})
        return cls(sorted(right.series, key=lambda one: -counts[id(one)]))

    def _add(self, series: Series) -> Series:
        own = forms(series)
        self.series.append(series)
        self._forms.append(own)
        self._by_form[own].append(series)
        self._by_first[form(series[0])].append(series)
        return series

    def found(self, series: Series) -> Series | None:
        """Return the series that has these values, one after the other; None where no right answer has them."""
        alike = self._by_form.get(forms(series), ())
        return next((one for one in alike if all(map(same, series, one))), None)

    def in_part(self, series: Series) -> bool:
        """Return whether a right answer has these values one after the other, only more or less often.

        They are several, and such as no chance makes, or always the same whole number or name.
        """
        alike = [one for one in self._by_first.get(form(series[0]), ()) if same(series[0], one[0])]
        if has_decimals(series[:1]):
            return len(series) > 1 and any(len(one) > 1 and _same(series, one) for one in alike)
        return _is_one(series) and any(map(_is_one, alike))

    def alike(self, series: Series, goes_on: bool, in_form: bool) -> list[Series]:
        """Return the series that may stand in the place of one: those of the same form, or all others as long.

        ``goes_on``: an error ended it, and theirs may be longer.
        """
        own, length = forms(series), len(series)
        return [one for one, form_of in zip(self.series, self._forms, strict=True)
                if (len(one) == length or goes_on and len(one) > length) and (form_of[:length] == own) is in_form]

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


def has_decimals(series: Series) -> bool:
    """Return whether there are numbers in a series that are not whole: such are not equal by chance."""
    return any(map(_has_decimals, series))


def _has_decimals(value: Value) -> bool:
    if isinstance(value, Array):  # at once: this is asked of every right value
        with np.errstate(invalid="ignore"):
            return value.array.dtype.kind == "f" and bool((value.array % 1 != 0).any())
    if isinstance(value, values.Sequence):
        return any(map(_has_decimals, value.items))
    number = values.plain(value)
    return isinstance(number, float) and number % 1 != 0


def numbers(value: Value) -> Iterator[Any]:
    """Yield the numbers and whatever else there is in a value."""
    if isinstance(value, values.Sequence):
        for one in value.items:
            yield from numbers(one)
    elif isinstance(value, Array):
        yield from value.array.ravel().tolist()
    else:
        yield values.plain(value)


def _is_one(series: Series) -> bool:
    return all(form(one) == form(series[0]) and same(one, series[0]) for one in series)


def _same(a: Series, b: Series) -> bool:
    return all(form(one) == form(other) and same(one, other) for one, other in zip(a, b, strict=False))


def _stacked(series: Series) -> NDArray[Any] | None:
    """Return a series of numbers of one form as one array, whose first axis is that of the series."""
    if len(set(forms(series))) != 1 or not isinstance(series[0], (Array, values.Scalar)):
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
