"""Observe an answer while calls are made on it: keep the values of its expressions, bounded in number and size."""

from __future__ import annotations

import contextlib
import math
from collections import defaultdict
from collections.abc import Callable, Container, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import arrays
from ..state import restored
from ..values import MAX_DEPTH, ArrayValue, Form, ListValue, OtherValue, Value, describe, elements, items_of, to_python
from .rewriting import OBSERVE, InstrumentedCell

MAX_VALUES = 20_000  # in one observation
MAX_LENGTH = 500  # values of one expression
MAX_NUMBERS = 10_000  # in one value
MAX_ALL_NUMBERS = 2_000_000  # in all values together
MIN_ELEMENTS = 4  # that are not all the same are not equal by chance

PLAIN_TYPES = frozenset({bool, int, float, str})


class _TooLargeError(Exception):
    """A value has too many numbers to be kept."""


Probe = Callable[[int, Any], Any]  # takes the number of an expression and its value, and returns the value to use


class Series(tuple[Value, ...]):
    """The values of an expression in the order of time; properties that are often needed are computed once."""

    @cached_property
    def forms(self) -> tuple[Form, ...]:
        """The form of each value."""
        return tuple(value.form for value in self)

    @property
    def described(self) -> Series:
        """The values before the first without a form, such as a tensor without data."""
        return self if None not in self.forms else Series(self[:self.forms.index(None)])

    @cached_property
    def elements(self) -> tuple[Any, ...]:
        """The numbers, strings and other elements of all values."""
        return tuple([element for value in self for element in elements(value)])

    @cached_property
    def has_decimals(self) -> bool:
        """Whether there are numbers that are not whole: such are not equal by chance."""
        return any(map(has_decimals, self))

    @cached_property
    def is_varied(self) -> bool:
        """Whether there are several elements that are not all the same: such are not equal by chance."""
        return len(self.elements) >= MIN_ELEMENTS and len(set(self.elements)) > 1

    @cached_property
    def has_no_numbers(self) -> bool:
        """Whether there are only decisions and names."""
        return all(isinstance(element, (bool, str)) for element in self.elements)


@contextlib.contextmanager
def installed(cells: Sequence[InstrumentedCell], namespace: dict[str, Any]) -> Iterator[None]:
    """Run instrumented cells in a namespace, which is restored afterwards; values are reported to its `OBSERVE`.

    An exception of a cell ends the definitions: those before it remain.
    """
    with restored(namespace):
        namespace[OBSERVE] = lambda number, value: value
        with contextlib.suppress(Exception):
            for cell in cells:
                if cell.code:
                    exec(cell.code, namespace)
        yield


@dataclass
class Observer:
    """Keeps the values of the expressions of cells, and when each was reported: the number of values up to it.

    A list is not kept where only an element of it is read: ``indexed`` are the numbers of such expressions.
    """

    indexed: Container[int] = ()
    series: dict[int, list[Value]] = field(default_factory=lambda: defaultdict(list))
    times: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    value_count: int = 0
    element_count: int = 0
    left_out: set[int] = field(default_factory=set)  # numbers of expressions
    described: dict[Hashable, tuple[Value, Any]] = field(default_factory=dict)  # with the value itself
    allowed: int = 0  # numbers of the value that is described

    def probe(self, number: int, value: Any) -> Any:
        """Keep a value, and return it."""
        if number in self.indexed and isinstance(value, (list, tuple)):
            self.left_out.add(number)
            return value
        self.value_count += 1
        if self.value_count <= MAX_VALUES and len(self.series[number]) < MAX_LENGTH:
            description = self._describe(value)
            self.series[number].append(description)
            self.times[number].append(self.value_count)
        return value

    def has_reached(self, number: int) -> bool:
        """Return whether an expression reported a value; True where too many values came to know."""
        return number in self.series or number in self.left_out or self.value_count > MAX_VALUES

    def series_by_number(self) -> dict[int, Series]:
        """Return the values of each expression, by its number."""
        return {number: Series(series) for number, series in self.series.items() if number not in self.left_out}

    def _describe(self, value: Any) -> Value:
        self.allowed = MAX_NUMBERS
        try:
            return self._shared((value.start, value.stop, value.step) if isinstance(value, slice) else value)
        except _TooLargeError:
            return OtherValue("too large a value")

    def _shared(self, value: Any, depth: int = 0) -> Value:
        """Return the description of a value: one for all equal numbers, for a tensor until it is written into, and for
        lists of the same descriptions."""
        key: Hashable
        items: tuple[Value, ...] | None = None
        if value is None or type(value) in PLAIN_TYPES:
            key, size = (type(value), value), 1
        elif isinstance(value, (list, tuple)) and depth < MAX_DEPTH:
            items = tuple([self._shared(item, depth + 1) for item in items_of(value, MAX_NUMBERS + 1)])
            key, size = (list, *map(id, items)), 1
        else:
            key, size = arrays.identity(value), arrays.size(value)
        self.allowed -= size
        if self.allowed < 0:
            raise _TooLargeError
        if key in self.described:
            return self.described[key][0]
        size += len(items or ())
        if self.element_count + size > MAX_ALL_NUMBERS:
            raise _TooLargeError
        self.element_count += size
        if items is not None:
            description: Value = ListValue(items, len(items))
        elif isinstance(value, dict):  # it has no form
            description = OtherValue("dict")
        else:
            description = describe(value, depth)
        if key is not None:  # the value is kept, too, so that no other has its identity
            self.described[key] = description, value
        return description


def observer_of(cells: Sequence[InstrumentedCell]) -> Observer:
    """Return an observer of instrumented cells."""
    expressions = (expression for cell in cells for expression in cell.expressions)
    return Observer({expression.number for expression in expressions if expression.is_indexed})


def observe(cells: Sequence[InstrumentedCell], namespace: dict[str, Any], run: Callable[[], object]) -> Observer:
    """Return the values of the expressions of cells while ``run`` makes calls on what the cells define."""
    observer = observer_of(cells)
    with installed(cells, namespace):
        namespace[OBSERVE] = observer.probe
        run()
    return observer


def type_of(value: Value) -> str:
    """Return what values share that are mistaken for each other: the type; of arrays, of numbers and number of axes."""
    if isinstance(value, ArrayValue):
        return f"{value.kind} of {value.array.dtype.kind} with {value.array.ndim} axes"
    return value.type if isinstance(value, OtherValue) else value.kind


def has_decimals(value: Value) -> bool:
    """Return whether there are numbers in a value that are not whole."""
    if isinstance(value, ArrayValue):  # all elements at once, because each right value comes here
        with np.errstate(invalid="ignore"):
            return value.array.dtype.kind == "f" and bool((value.array % 1 != 0).any())
    if isinstance(value, ListValue):
        return any(map(has_decimals, value.items))
    number = to_python(value)
    return isinstance(number, float) and number % 1 != 0


def is_close(a: Value, b: Value) -> bool:
    """Return whether two values of one form are equal, up to rounding."""
    if a is b:
        return True
    if isinstance(a, ArrayValue) and isinstance(b, ArrayValue):
        # most values that are compared differ in the first number, and that is seen sooner
        if a.array.size and not _are_close_numbers(a.array.item(0), b.array.item(0), 1e-4, 1e-6):
            return False
        return are_close_arrays(a.array, b.array)
    if isinstance(a, ListValue) and isinstance(b, ListValue):
        return all(map(is_close, a.items, b.items))
    left, right = to_python(a), to_python(b)
    return bool(left == right) or isinstance(left, float) and _are_close_numbers(left, right, 1e-5, 1e-8)


def is_same(a: Value, b: Value) -> bool:
    """Return whether two values have the same form, and are equal up to rounding."""
    return a.form == b.form and is_close(a, b)


def have_same_values(a: Series, b: Series) -> bool:
    """Return whether two series have the same values, one after the other."""
    return len(a) == len(b) and all(map(is_same, a, b))


def are_close_arrays(a: NDArray[Any], b: NDArray[Any]) -> bool:
    """Return what `numpy.allclose` does, in half the time; whole numbers must be equal."""
    if a.dtype.kind in "biu":
        return np.array_equal(a, b)
    with np.errstate(all="ignore"):
        sizes = np.abs(b)
        close = (np.abs(a - b) <= 1e-6 + 1e-4 * sizes) & (sizes < math.inf)
        return bool(close.all() or (close | (a == b) | ((a != a) & (b != b))).all())


def _are_close_numbers(a: complex, b: complex, rtol: float, atol: float) -> bool:
    """Return what `numpy.isclose` does for two numbers, of which two NaN are equal."""
    return a == b or abs(a - b) <= atol + rtol * abs(b) < math.inf or a != a and b != b
