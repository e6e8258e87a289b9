"""Find where the wrong values of an output lie, and how all its values follow from the right ones.

A pattern is stated as it is found: it holds for all values of the output, within the tolerance of the check or 1e-4.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .compare import wrong_values
from .difference import Difference, Function, Pattern, Region
from .recorded import OutputSpec, RecordedCheck, Reply
from .values import ArrayValue, ListValue, Value, to_python

Array = NDArray[Any]

MAX_VALUES = 20_000  # of an output in which a pattern is looked for
MAX_POSITIONS = 40  # along an axis whose order is looked at
MIN_WRONG = 3  # so many wrong values show a pattern
RTOL, ATOL_OF_MAX = 1e-4, 1e-5

FUNCTIONS: dict[Function, Callable[[Array], Array]] = {
    "exponential": np.exp,
    "square": np.square,
    "absolute value": np.abs,
    "one minus": lambda x: 1 - x,
    "tanh": np.tanh,
    "ReLU": lambda x: np.maximum(x, 0),
}


def output_of(difference: Difference, record: RecordedCheck, got: Reply) -> str | None:
    """Return the name of the output that a difference of a reply is in; None where it is in none."""
    return next((name for name in got.outputs if name in record.specs
                 and (difference.output == name or difference.output.startswith(f"{name}["))), None)


def with_pattern(difference: Difference, name: str | None, record: RecordedCheck, got: Reply) -> Difference:
    """Return the difference of a reply, with its pattern where it is in the values of the output ``name``."""
    if difference.kind not in ("value", "sum") or name is None:
        return difference
    return with_region_and_pattern(difference, record.expected.outputs[name], got.outputs[name], record.specs[name])


@np.errstate(all="ignore")  # a student's numbers may be of any size
def with_region_and_pattern(difference: Difference, expected: Value, got: Value, spec: OutputSpec) -> Difference:
    """Return a difference of two values with the region of the wrong ones and their pattern, as far as there are any.

    Values are arrays of one shape, or lists of numbers of one length.
    """
    want, have = _as_array(expected), _as_array(got)
    if want is None or have is None or want.array.shape != have.array.shape or want.array.size > MAX_VALUES:
        return difference
    wrong = wrong_values(want, have, spec)
    if wrong.sum() < 2:
        return difference
    region = _region(wrong) if isinstance(expected, ArrayValue) else ()
    return replace(difference, region=region, pattern=_pattern(want, have, spec, wrong))


def _as_array(value: Value) -> ArrayValue | None:
    """Return an array, also of a list of numbers of one type; None for anything else."""
    if isinstance(value, ArrayValue):
        return value
    if not isinstance(value, ListValue) or not value.items or len(value.items) < value.length:
        return None
    kinds = {item.kind for item in value.items}
    if kinds not in ({"bool"}, {"int"}, {"float"}):
        return None
    array = np.array(to_python(value))
    return ArrayValue("array", array.dtype.name, array)


def _region(wrong: NDArray[np.bool_]) -> tuple[Region, ...]:
    """Return the positions to which the wrong values are confined: one of an axis, or all from one on, or before one.

    From one on or before one, each position has a wrong value, and half of the values in the region are wrong.
    """
    regions = []
    for axis, size in enumerate(wrong.shape):
        at = np.flatnonzero(wrong.any(axis=tuple(other for other in range(wrong.ndim) if other != axis)))
        start, stop = int(at[0]), int(at[-1]) + 1
        is_one, is_whole = stop - start == 1 < size, len(at) == stop - start < size
        if is_one or is_whole and 0 in (start, size - stop):
            regions.append(Region(axis, start, None if stop == size and not is_one else stop))
    sizes = {region.axis: (region.stop or wrong.shape[region.axis]) - region.start for region in regions}
    volume = math.prod(sizes.get(axis, size) for axis, size in enumerate(wrong.shape))
    return tuple(region for region in regions if sizes[region.axis] == 1 or wrong.sum() >= volume / 2)


def _pattern(expected: ArrayValue, got: ArrayValue, spec: OutputSpec, wrong: NDArray[np.bool_]) -> Pattern | None:
    """Return how all values follow from the right ones; the first of several that hold."""
    if wrong.sum() < MIN_WRONG or expected.array.dtype.kind not in "biuf":
        return None
    if expected.array.dtype.kind == "b":
        return Pattern("opposite") if got.array.dtype.kind == "b" and wrong.all() else None
    want, have = expected.array.astype(float), got.array.astype(float)
    if _is_constant(want, 1e-3):
        return None
    if _is_constant(have, RTOL) and np.isfinite(have).all():
        return Pattern("same", number=float(have.flat[0]))
    orders = (_order(expected, got, spec, axis) for axis in range(want.ndim))
    if order := next(filter(None, orders), None):
        return order
    numbers = _Numbers(want, have, wrong)
    if pattern := next(numbers.for_all(), None):
        return pattern
    if _is_constant(have[wrong], RTOL) and np.isfinite(have[wrong]).all():
        return Pattern("wrong ones the same", number=float(have[wrong][0]))
    return next(numbers.along_axes(), None)


def _is_constant(array: Array, rtol: float) -> bool:
    """Return whether all numbers are one; whole numbers have to be exactly so."""
    if (array == np.round(array)).all():
        return bool((array == array.flat[0]).all())
    return np.allclose(array, array.flat[0], rtol=rtol, atol=0)


def _has_few_values(array: Array) -> bool:
    """Return whether many values are equal, as where all are saturated: rows of them are alike by chance."""
    return bool(len(np.unique(np.round(array.astype(float), 3))) <= array.size / 2)


def _order(expected: ArrayValue, got: ArrayValue, spec: OutputSpec, axis: int) -> Pattern | None:
    """Return in which order the right values stand along an axis, where all of them, or all but one, can be found."""
    size = expected.array.shape[axis]
    if not 2 < size <= MAX_POSITIONS:
        return None
    others = tuple(other for other in range(expected.array.ndim) if other != axis)

    def equal_to(position: int) -> NDArray[np.bool_]:
        """Return at which positions of ``got`` the right values of one position stand."""
        right = np.broadcast_to(np.take(expected.array, [position], axis), got.array.shape)
        return ~np.asarray(wrong_values(replace(expected, array=right), got, spec).any(axis=others))

    equal = np.stack([equal_to(position) for position in range(size)], axis=1)  # (of got, of expected)
    at = np.arange(size)
    if equal.all(axis=0).any() and not _has_few_values(expected.array):
        return Pattern("one position", axis, positions=(int(equal.all(axis=0).argmax()),))
    if equal[at, at[::-1]].all():
        return Pattern("reversed", axis)
    if size > 3 and equal[at[1:], at[:-1]].all():
        return Pattern("shifted", axis, number=-1)
    if size > 3 and equal[at[:-1], at[1:]].all():
        return Pattern("shifted", axis, number=1)
    if (equal.sum(axis=0) == 1).all() and (equal.sum(axis=1) == 1).all():
        return Pattern("order", axis, positions=tuple(map(int, equal.argmax(axis=1))))
    return None


@dataclass(frozen=True)
class _Numbers:
    """Right numbers and those that came, and which of these are wrong."""

    expected: Array
    got: Array
    wrong: NDArray[np.bool_]

    def for_all(self) -> Iterator[Pattern]:
        """Find one factor, one number added, or the function with which all values follow from the right ones."""
        expected, got = self.expected, self.got
        factor, added = self._factor(None), (got - expected).mean()
        if self._is_close(factor * expected, got):
            yield Pattern("factor", number=float(factor.item()))
        if self._is_close(expected + added, got):
            yield Pattern("added", number=float(added))
        for name, function in FUNCTIONS.items():
            if self._is_close(function(expected), got):
                yield Pattern("function of right", function=name)
            if self._is_close(function(got), expected):
                yield Pattern("function missing", function=name)
        for axis in range(expected.ndim) if not _has_few_values(expected) else ():
            if self._is_close(_softmax(expected, axis), got):
                yield Pattern("function of right", axis, function="softmax")
            if self._is_close(_softmax(got, axis), expected):
                yield Pattern("function missing", axis, function="softmax")

    def along_axes(self) -> Iterator[Pattern]:
        """Find a factor or a number added that is the same along an axis, and differs elsewhere."""
        expected, got = self.expected, self.got
        for axis in range(expected.ndim):
            centred = expected - expected.mean(axis, keepdims=True)
            if expected.shape[axis] > 2 and np.abs(centred).max() > 1e-3 * np.abs(expected).max():
                if self._is_close(self._factor(axis) * expected, got):
                    yield Pattern("factor", axis)
                if self._is_close(expected + (got - expected).mean(axis, keepdims=True), got):
                    yield Pattern("added", axis)

    def _factor(self, axis: int | None) -> Array:
        """Return the factor that brings right values nearest to those that came."""
        squares: Array = np.square(self.expected).sum(axis, keepdims=True)
        products: Array = (self.expected * self.got).sum(axis, keepdims=True)
        return products / np.maximum(squares, 1e-300)

    def _is_close(self, values: Array, others: Array) -> bool:
        """Return whether finite values are near others: where one is wrong, nearer by far than what came is to the
        right one.

        Among much larger numbers a difference may be small that is all there is.
        """
        allowed = RTOL * np.abs(others) + ATOL_OF_MAX * np.abs(others).max()
        far = np.where(self.wrong, np.abs(self.got - self.expected) / 100, np.inf)
        are_finite = np.isfinite(values).all() and np.isfinite(others).all()
        return bool(are_finite and (np.abs(values - others) <= np.minimum(allowed, far)).all())


def _softmax(values: Array, axis: int) -> Array:
    powers: Array = np.exp(values - values.max(axis, keepdims=True))
    total: Array = powers.sum(axis, keepdims=True)
    return powers / total
