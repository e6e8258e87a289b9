"""Observe an answer while calls are made on it: what its expressions are, within bounds of number and size."""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from .. import arrays, values
from ..state import restored
from ..syntax import PROBE
from ..values import Array, Value, describe
from .rewriting import WatchedCell

MAX_VALUES = 20_000  # that are looked at in one observation
MAX_SERIES = 300  # values of one expression
MAX_NUMBERS = 10_000  # of one value
MAX_ALL = 2_000_000  # of all values together

PLAIN = (bool, int, float, str)

Probe = Callable[[int, Any], Any]  # what a rewritten cell calls with the number of an expression, and what it is


class Series(tuple[Value, ...]):
    """What an expression was, one value after the other; what is asked of it again and again is kept."""

    @cached_property
    def forms(self) -> tuple[Any, ...]:
        """The form of each value."""
        return tuple(map(form, self))

    @cached_property
    def numbers(self) -> tuple[Any, ...]:
        """All numbers, and whatever else there is in the values."""
        return tuple(number for value in self for number in numbers(value))

    @cached_property
    def has_decimals(self) -> bool:
        """Whether there are numbers that are not whole: such are not equal by chance."""
        return any(map(has_decimals, self))


@contextlib.contextmanager
def defined(cells: Sequence[WatchedCell], namespace: dict[str, Any]) -> Iterator[Callable[[Probe], None]]:
    """Define observed cells in a namespace, which is put back afterwards; yield what says who sees their values.

    An exception of theirs ends the definitions: what is there by then is there.
    """
    with restored(namespace):
        namespace[PROBE] = lambda number, value: value
        with contextlib.suppress(Exception):
            for cell in cells:
                if cell.code:
                    exec(cell.code, namespace)
        yield lambda probe: namespace.update({PROBE: probe})


@dataclass
class Observer:
    """Keeps what the expressions of cells are, and when each value was seen: the number of values before it."""

    series: dict[int, list[Value]] = field(default_factory=lambda: defaultdict(list))
    times: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    seen: int = 0
    numbers: int = 0

    def probe(self, number: int, value: Any) -> Any:
        """Keep a value, and return it."""
        self.seen += 1
        if self.seen <= MAX_VALUES and len(self.series[number]) < MAX_SERIES:
            kept = self._described(value)
            self.series[number].append(kept)
            self.times[number].append(self.seen)
        return value

    def found(self) -> dict[int, Series]:
        """Return what each expression was, by its number."""
        return {number: Series(series) for number, series in self.series.items()}

    def _described(self, value: Any) -> Value:
        size = _size(value)
        if size > MAX_NUMBERS or self.numbers + size > MAX_ALL:
            return values.Other("too large a value")
        self.numbers += size
        return describe(value)


def _size(value: Any, depth: int = 0) -> int:
    """Return how many numbers a value holds; too many where it is not looked into."""
    if isinstance(value, PLAIN):
        return 1
    if isinstance(value, (list, tuple)):
        if len(value) > MAX_NUMBERS or depth > values.MAX_DEPTH:
            return MAX_NUMBERS + 1
        return 1 + sum(_size(one, depth + 1) for one in value)
    if arrays.is_tensor(value):
        return int(value.numel())
    return int(value.size) if isinstance(value, np.ndarray) else 1


def form(value: Value) -> Any:
    """Return what two values that may stand for each other share: kind, shape and type; None where none may."""
    if isinstance(value, Array):
        return value.kind, value.dtype, value.array.shape
    if isinstance(value, values.Scalar):
        return value.kind
    if isinstance(value, values.Sequence):
        items = tuple(map(form, value.items))
        return None if None in items or len(items) < value.length else ("list", items)
    return None


def numbers(value: Value) -> Iterator[Any]:
    """Yield the numbers and whatever else there is in a value."""
    if isinstance(value, values.Sequence):
        for one in value.items:
            yield from numbers(one)
    elif isinstance(value, Array):
        yield from value.array.ravel().tolist()
    else:
        yield values.plain(value)


def has_decimals(value: Value) -> bool:
    """Return whether there are numbers in a value that are not whole."""
    if isinstance(value, Array):  # at once: this is asked of every right value
        with np.errstate(invalid="ignore"):
            return value.array.dtype.kind == "f" and bool((value.array % 1 != 0).any())
    if isinstance(value, values.Sequence):
        return any(map(has_decimals, value.items))
    number = values.plain(value)
    return isinstance(number, float) and number % 1 != 0


def same(a: Value, b: Value) -> bool:
    """Return whether two values of one form are equal, up to rounding."""
    if isinstance(a, Array) and isinstance(b, Array):
        with np.errstate(all="ignore"):
            return bool(np.allclose(a.array, b.array, 1e-4, 1e-6, equal_nan=True))
    if isinstance(a, values.Sequence) and isinstance(b, values.Sequence):
        return all(map(same, a.items, b.items))
    return bool(values.plain(a) == values.plain(b)) or (
        isinstance(values.plain(a), float) and bool(np.isclose(values.plain(a), values.plain(b), equal_nan=True)))
