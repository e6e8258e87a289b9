"""Values as plain data: describe them, send them, check them on arrival, and write them out.

What a student's code returns leaves the process as a description: numbers, strings, arrays, and containers of them.
Of anything else only the name of its type is sent.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import islice
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from . import arrays
from .text import printable, short, with_article

MAX_ELEMENTS = 2_000_000  # of an array, and of each of its axes
MAX_AXES = 8
MAX_ITEMS = 5_000
MAX_DEPTH = 5
MAX_REPLY_VALUES = 100_000  # everything inside lists and dicts counted
MAX_REPLY_NUMBERS = 8_000_000  # in all arrays, each counted as often as it is sent
MAX_TEXT = 10_000
DTYPES = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64",
          "complex64", "complex128")


# The kind, type and shape of a value: one may replace another of the same form; where it is None, none may.
Form = Hashable | None


class DescriptionError(ValueError):
    """The received tree describes no value."""


@dataclass(frozen=True, eq=False)
class ScalarValue:
    """None, a boolean, an integer of 64 bits, a float, or a string."""

    value: None | bool | int | float | str

    @property
    def kind(self) -> str:
        return "none" if self.value is None else type(self.value).__name__

    @property
    def form(self) -> Form:
        return self.kind


@dataclass(frozen=True, eq=False)
class ArrayValue:
    """A tensor or a numpy array; ``dtype`` is what it had in the kernel (numpy knows no bfloat16)."""

    kind: str
    dtype: str
    array: NDArray[Any]

    @property
    def form(self) -> Form:
        return self.kind, self.dtype, self.array.shape


@dataclass(frozen=True, eq=False)
class ListValue:
    """A list or tuple of ``length`` elements, of which the first ``MAX_ITEMS`` are described."""

    items: tuple[Value, ...]
    length: int
    kind: ClassVar[str] = "list"

    @cached_property
    def form(self) -> Form:
        forms = tuple(item.form for item in self.items)
        return None if None in forms or len(forms) < self.length else ("list", forms)

    @cached_property
    def elements(self) -> tuple[Any, ...]:
        """The elements of all items."""
        return tuple([element for item in self.items for element in elements(item)])


@dataclass(frozen=True, eq=False)
class DictValue:
    """A dict of ``length`` pairs, of which the first ``MAX_ITEMS`` are described."""

    keys: tuple[Value, ...]
    items: tuple[Value, ...]
    length: int
    kind: ClassVar[str] = "dict"
    form: ClassVar[Form] = None


@dataclass(frozen=True, eq=False)
class OtherValue:
    """Anything else, by the name of its type."""

    type: str
    kind: ClassVar[str] = "other"
    form: ClassVar[Form] = None


Value = ScalarValue | ArrayValue | ListValue | DictValue | OtherValue


# Made


def describe(value: object, depth: int = 0) -> Value:
    """Describe a value in plain data, bounded in size."""
    try:
        return _describe(value, depth)
    except (Exception, SystemExit) as error:  # a hostile or broken object: say what it is and go on
        return OtherValue(short(f"{type(value).__name__} that cannot be read ({type(error).__name__})"))


def _describe(value: Any, depth: int) -> Value:
    kind = type(value)
    if value is None or kind in (bool, float) or (kind is int and value.bit_length() < 64):
        return ScalarValue(value)
    if isinstance(value, str):  # one of numpy's, too
        return ScalarValue(str.__getitem__(value, slice(MAX_TEXT)))
    if arrays.is_tensor(value):
        if _is_too_large(value.shape, value.numel()):
            return OtherValue(short(f"tensor of shape {tuple(value.shape)}"))
        dtype = arrays.dtype_name(value.dtype)
        # a copy: later calls may write into it
        return ArrayValue("tensor", dtype, arrays.to_numpy(value)) if dtype in DTYPES else OtherValue(
            short(f"tensor of {dtype}"))
    if isinstance(value, (np.ndarray, np.generic)):
        array = np.asarray(value)
        if array.dtype.kind not in "biufc" or _is_too_large(array.shape, array.size):
            return OtherValue(short(f"numpy array of {array.dtype}"))
        if array.dtype.name not in DTYPES:  # `wire` carries no other
            wide = {"u": np.int64, "f": np.float64, "c": np.complex128}[array.dtype.kind]
            if array.dtype.kind == "u" and (array > np.iinfo(wide).max).any():
                return OtherValue(short(f"numpy array of {array.dtype}"))
            array = array.astype(wide)
        return ArrayValue("array", array.dtype.name, array.copy())
    if isinstance(value, float):
        return ScalarValue(float.__float__(value))
    if isinstance(value, int) and int.bit_length(value) < 64:
        return ScalarValue(int.__int__(value))
    if isinstance(value, (list, tuple)) and depth < MAX_DEPTH:
        length = list.__len__(value) if isinstance(value, list) else tuple.__len__(value)
        return ListValue(tuple([describe(item, depth + 1) for item in items_of(value, MAX_ITEMS)]), length)
    if isinstance(value, dict) and depth < MAX_DEPTH:
        pairs = list(islice(dict.items(value), MAX_ITEMS))
        keys = tuple(describe(key, depth + 1) for key, _ in pairs)
        return DictValue(keys, tuple(describe(item, depth + 1) for _, item in pairs), dict.__len__(value))
    return OtherValue(short(kind.__name__))


def _is_too_large(shape: Sequence[int], size: int) -> bool:
    """Return whether an array is more than `wire` carries; one without numbers may have long axes."""
    return size > MAX_ELEMENTS or len(shape) > MAX_AXES or max(shape, default=0) > MAX_ELEMENTS


def bounded_outputs(outputs: Mapping[str, Value]) -> dict[str, Value]:
    """Return the outputs of a reply; those with which it is too much to look at (see `Reader`) only by their type."""
    values, numbers, within = 0, 0, dict[str, Value]()
    for name, value in outputs.items():
        more_values, more_numbers = _counts(value)
        if values + more_values > MAX_REPLY_VALUES // 2 or numbers + more_numbers > MAX_REPLY_NUMBERS:
            within[name] = OtherValue(f"{value.kind} of too many values")
        else:
            values, numbers, within[name] = values + more_values, numbers + more_numbers, value
    return within


def _counts(value: Value) -> tuple[int, int]:
    """Return how many values there are in a value, and how many numbers of eight bytes in arrays.

    A string counts by its length, for a message is bounded in bytes.
    """
    match value:
        case ScalarValue(str() as text):
            return 1 + len(text) // 50, 0
        case ArrayValue():
            return 1, value.array.nbytes // 8
        case ListValue():
            parts = value.items
        case DictValue():
            parts = (*value.keys, *value.items)
        case _:
            return 1, 0
    counts = [_counts(part) for part in parts]
    return 1 + sum(values for values, _ in counts), sum(numbers for _, numbers in counts)


def undescribed(value: Value) -> str | None:
    """Return what in a value is not described, so that nothing of it can be compared; None where there is nothing."""
    match value:
        case OtherValue():
            return with_article(value.type)
        case ScalarValue(str() as text) if len(text) == MAX_TEXT:
            return f"a string of {MAX_TEXT} characters or more"
        case ListValue() | DictValue() if value.length > MAX_ITEMS:
            return f"a {value.kind} of more than {MAX_ITEMS} elements"
        case ListValue():
            return next(filter(None, map(undescribed, value.items)), None)
        case DictValue():
            return next(filter(None, map(undescribed, (*value.keys, *value.items))), None)
    return None


def items_of(value: Any, limit: int) -> Any:
    """Return the first items of a list or tuple, whatever a class that is derived from these says of them."""
    return (list if isinstance(value, list) else tuple).__getitem__(value, slice(limit))


# Sent and received


def to_tree(value: Value) -> dict[str, Any]:
    """Return the description as a tree that `wire` can pack."""
    parts = ((field.name, getattr(value, field.name)) for field in fields(value))
    return {"kind": value.kind, **{name: list(map(to_tree, part)) if isinstance(part, tuple) else part
                                   for name, part in parts}}


class Reader:
    """Reads the descriptions of one message from anywhere; their strings can be written as UTF-8.

    ``DescriptionError`` for what is none, and when all of them together are too much to look at.
    """

    def __init__(self) -> None:
        self.values = self.numbers = 0

    def read(self, tree: Any, depth: int = 0) -> Value:
        """Read the description that a tree holds."""
        self.values += 1
        if not isinstance(tree, dict) or depth > MAX_DEPTH:
            raise DescriptionError("not a description")
        if self.values > MAX_REPLY_VALUES:
            raise DescriptionError("more than can be looked at")
        kind = tree.get("kind")
        if not isinstance(kind, str):
            raise DescriptionError("no kind of value")
        if kind in ("none", "bool", "int", "float", "str"):
            return _scalar(kind, tree.get("value"))
        if kind in ("tensor", "array"):
            return self._array(kind, tree.get("array"), tree.get("dtype"))
        if kind == "list":
            return ListValue(self._items(tree, "items", depth), _length(tree))
        if kind == "dict":
            return DictValue(self._items(tree, "keys", depth), self._items(tree, "items", depth), _length(tree))
        if kind == "other":
            return OtherValue(printable(tree.get("type")) or "thing")
        raise DescriptionError("no kind of value")

    def _array(self, kind: str, array: Any, dtype: Any) -> ArrayValue:
        if not isinstance(array, np.ndarray) or array.dtype.kind not in "biufc" or array.size > MAX_ELEMENTS:
            raise DescriptionError("no array of numbers")
        self.numbers += array.size
        if self.numbers > MAX_REPLY_NUMBERS:
            raise DescriptionError("more numbers than can be looked at")
        return ArrayValue(kind, dtype if isinstance(dtype, str) and dtype in DTYPES else array.dtype.name, array)

    def _items(self, tree: dict[str, Any], name: str, depth: int) -> tuple[Value, ...]:
        items = tree.get(name)
        if not isinstance(items, list) or len(items) != min(_length(tree), MAX_ITEMS):
            raise DescriptionError("another number of elements than said")
        return tuple(self.read(item, depth + 1) for item in items)


def _scalar(kind: str, value: Any) -> ScalarValue:
    if value is not None and type(value) not in (bool, int, float, str):
        raise DescriptionError("no scalar")
    if isinstance(value, str):  # half a character can be written nowhere
        value = value.encode("utf-8", "replace").decode()
    scalar = ScalarValue(value)
    if scalar.kind != kind:
        raise DescriptionError(f"no {kind}")
    if (kind == "int" and value.bit_length() >= 64) or (kind == "str" and len(value) > MAX_TEXT):
        raise DescriptionError(f"too long a {kind}")
    return scalar


def _length(tree: dict[str, Any]) -> int:
    length = tree.get("length")
    if type(length) is not int or not 0 <= length < 2**63:
        raise DescriptionError("no length")
    return length


# Read


def to_python(value: Value) -> Any:
    """Return the value that a description stands for: numbers, strings, arrays, lists, dicts.

    None for anything else.
    """
    if isinstance(value, ScalarValue):
        return value.value
    if isinstance(value, ArrayValue):
        return value.array
    if isinstance(value, ListValue):
        return [to_python(item) for item in value.items]
    if isinstance(value, DictValue):
        return {key_of(key): to_python(item) for key, item in zip(value.keys, value.items, strict=True)}
    return None


def elements(value: Value) -> Sequence[Any]:
    """Return the numbers, strings and other elements of a value."""
    if isinstance(value, ListValue):
        return value.elements
    if isinstance(value, ArrayValue):
        numbers: list[Any] = value.array.ravel().tolist()
        return numbers
    return (to_python(value),)


def key_of(value: Value) -> Hashable:
    """Return the key of a dict that a description stands for; a pair with its kind for one that is not hashed here."""
    if isinstance(value, ScalarValue):
        return value.value
    if isinstance(value, ListValue):
        return tuple(map(key_of, value.items))
    if isinstance(value, ArrayValue) and not value.array.shape:
        return value.array.item()  # type: ignore[no-any-return]
    return value.kind, repr(to_python(value))
