"""The values that expressions of right answers have in a check."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import permutations, takewhile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import values
from ..values import ArrayValue, ListValue, ScalarValue, Value, to_python
from .observation import Series, are_close_arrays, has_decimals, is_close, is_same

MAX_AXES = 4  # of an array whose axes are put in another order


class RightValues:
    """The values that expressions of right answers have in a check: each series once."""

    def __init__(self, all_series: Iterable[Series] = ()):
        self.series: list[Series] = []
        self._by_forms: dict[Any, list[Series]] = defaultdict(list)
        self._by_first_form: dict[Any, list[Series]] = defaultdict(list)
        for series in all_series:
            self._add(series)

    @classmethod
    def of_answers(cls, answers: Iterable[Iterable[Series]]) -> RightValues:
        """Return the series of answers, as far as values can be rebuilt; those that more answers have come first."""
        right, counts = cls(), Counter[int]()
        for answer in answers:
            counts.update({id(right.find(series) or right._add(series))
                           for series in (one.described for one in answer) if series})
        return cls(sorted(right.series, key=lambda series: -counts[id(series)]))

    def _add(self, series: Series) -> Series:
        self.series.append(series)
        self._by_forms[series.forms].append(series)
        self._by_first_form[series[0].form].append(series)
        return series

    def find(self, series: Series) -> Series | None:
        """Return the series that has these values, one after the other; None where no right answer has them."""
        candidates = self._by_forms.get(series.forms, ())
        return next((candidate for candidate in candidates if all(map(is_close, series, candidate))), None)

    def has_numbers(self, series: Series) -> bool:
        """Return whether a right answer has these numbers in the same order, with axes split or merged, of any type.

        The values of a series count as an axis: a loop may compute one after the other what others compute at once.
        Numbers without decimals have to be several and not all the same: others are equal by chance.
        """
        array = _stacked(series) if series.has_decimals or series.is_varied else None
        return array is not None and any(
            _have_nested_axes(array, other) and are_close_arrays(array.ravel(), other.ravel())
            for other in self._arrays_by_size[array.size])

    def has_common_start(self, series: Series) -> bool:
        """Return whether a right answer begins with these values, or has a beginning of them.

        Several values are needed, of which the first has decimals: others are equal by chance. If it has none, see
        `has_constant`.
        """
        if not has_decimals(series[0]):
            return self.has_constant(series)
        candidates = self._by_first_form.get(series[0].form, ())
        return len(series) > 1 and any(len(candidate) > 1 and _starts_alike(series, candidate)
                                       for candidate in candidates)

    def right_start(self, series: Series) -> int:
        """Return with how many values of a right answer a series begins; 0 if the first has no decimals: it is equal by
        chance."""
        if not has_decimals(series[0]):
            return 0
        candidates = self._by_first_form.get(series[0].form, ())
        return max((_equal_start(series, candidate) for candidate in candidates), default=0)

    def has_constant(self, series: Series) -> bool:
        """Return whether a series repeats one value, and a right answer repeats it too, however often."""
        candidates = self._by_first_form.get(series[0].form, ())
        return _is_constant(series) and any(is_close(series[0], candidate[0]) and _is_constant(candidate)
                                            for candidate in candidates)

    def candidates(self, series: Series, may_be_longer: bool, same_form: bool) -> list[Series]:
        """Return the series that may replace one: those of the same form, or those of all other forms.

        They have as many values, or at least as many if they may be longer.
        """
        length = len(series)
        return [candidate for candidate in self.series
                if (len(candidate) >= length if may_be_longer else len(candidate) == length)
                and (candidate.forms[:length] == series.forms) is same_form]

    @cached_property
    def _arrays_by_size(self) -> dict[int, list[NDArray[Any]]]:
        """The series of numbers, each as one array, by the number of elements."""
        arrays: dict[int, list[NDArray[Any]]] = defaultdict(list)
        for series in self.series:
            array = _stacked(series)
            if array is not None and array.ndim <= MAX_AXES:
                arrays[array.size].append(array if len(series) > 1 else array[0])
        return arrays

    def transposed(self, series: Series) -> Iterator[Series]:
        """Yield series of right answers with the axes in another order, in the form of the series.

        Integers are left out: they are equal by chance. The order of values in a series counts as an axis, and so does
        that of items in a list. Such values belong to answers that go through sentences or timesteps in another order,
        or in a loop.
        """
        replaced = _stacked(series)
        if replaced is None or replaced.dtype.kind != "f" or replaced.size < 2 or isinstance(series[0], ListValue):
            return
        length, inner = len(series), [size for size in replaced.shape[1:] if size != 1]
        distinct: list[NDArray[Any]] = [replaced]
        for array in self._arrays_by_size[replaced.size]:
            if array.dtype.kind != replaced.dtype.kind:
                continue
            for order in permutations(range(array.ndim)):
                turned = array.transpose(order)
                sizes = list(turned.shape)  # some order has the axes of size one in front
                outer = len(sizes) - len(inner)
                if outer < 0 or sizes[outer:] != inner or math.prod(sizes[:outer]) != length:
                    continue
                with np.errstate(over="ignore"):  # of a double in single precision
                    numbers = turned.reshape(replaced.shape).astype(replaced.dtype)
                if not any(np.array_equal(numbers, previous) for previous in distinct):
                    distinct.append(numbers)
                    yield Series(_value_like(value, part) for value, part in zip(series, numbers, strict=True))


def _is_constant(series: Series) -> bool:
    return all(is_same(value, series[0]) for value in series)


def _equal_start(a: Series, b: Series) -> int:
    return sum(1 for _ in takewhile(bool, map(is_same, a, b)))


def _starts_alike(a: Series, b: Series) -> bool:
    return all(map(is_same, a, b))


def _stacked(series: Series) -> NDArray[Any] | None:
    """Return a series of numbers of one form as one array, whose first axis is that of the series.

    A list is an array whose first axis is that of the list.
    """
    if len(set(series.forms)) != 1:
        return None
    try:
        array = (np.asarray(series.elements) if isinstance(series[0], ScalarValue)
                 else np.stack([_numbers(value) for value in series]))
    except ValueError:
        return None
    return array if array.dtype.kind in "biuf" else None


def _numbers(value: Value) -> NDArray[Any]:
    """Return the numbers of a value as an array; ValueError where a list has no items, or items of several shapes."""
    if isinstance(value, ListValue):
        return np.stack([_numbers(item) for item in value.items])
    return np.asarray(to_python(value))


def _have_nested_axes(a: NDArray[Any], b: NDArray[Any]) -> bool:
    """Return whether the axes of one array are those of the other, some of them merged."""
    sizes_a, sizes_b = ({math.prod(array.shape[i:]) for i in range(array.ndim)} for array in (a, b))
    return sizes_a | sizes_b in (sizes_a, sizes_b)


def _value_like(value: Value, numbers: NDArray[Any]) -> Value:
    """Return numbers as a value of the kind of another."""
    if isinstance(value, ArrayValue):
        return ArrayValue(value.kind, value.dtype, numbers)
    return ScalarValue(numbers.item())


def to_tree(right: RightValues) -> dict[str, Any]:
    """Return right values as plain data, to be released with self-checks: each value once, by its number.

    A list holds the numbers of its items, and its length: it may be cut.
    """
    numbers: dict[Any, int] = {}  # of each value, by a key that equal values share
    trees: list[Any] = []

    def number_of(value: Value) -> int:
        tree: Any
        key: Any
        if isinstance(value, ListValue):
            tree = [*map(number_of, value.items), value.length]
            key = tuple(tree)
        elif isinstance(value, ArrayValue):
            tree, key = values.to_tree(value), (value.kind, value.dtype, value.array.shape, value.array.tobytes())
        else:
            tree, key = to_python(value), (value.kind, repr(to_python(value)))
        if key not in numbers:
            numbers[key] = len(trees)
            trees.append(tree)
        return numbers[key]

    return {"series": [list(map(number_of, series)) for series in right.series], "values": trees}


def from_tree(tree: dict[str, Any]) -> RightValues:
    """Return the right values that one of our own trees holds."""
    all_values: list[Value] = []
    number = all_values.__getitem__
    for item in tree["values"]:
        if isinstance(item, list):
            all_values.append(ListValue(tuple(map(number, item[:-1])), item[-1]))
        else:
            all_values.append(values.Reader().read(item) if isinstance(item, dict) else ScalarValue(item))
    return RightValues(Series(map(number, series)) for series in tree["series"])
