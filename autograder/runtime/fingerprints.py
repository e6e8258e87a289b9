"""Fingerprints of values: numbers from which nobody reads how an answer is written.

A fingerprint is bounded, and says the same of a value whatever the order of its axes, so that another way to the same
value is known as one.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

KINDS = ("array", "number", "text", "items", "other")
DEPTH = 3  # of lists in lists
MAX_ELEMENTS = 400_000  # of an array
HUGE = 1e8  # fractions of such a size stand for infinity: masks are written with either
MAX_TEXT = 200
MAX_ITEMS = 200
MAX_PARTS = 4  # of a tuple are kept beside what they are together
MOMENTS = 8  # numbers: see `Fingerprint`
MAX_AXES = 70  # torch and numpy have 64; lists in lists add some
MAX_READ = 200_000  # fingerprints of one message, those within others counted


@dataclass(frozen=True)
class Fingerprint:
    """What is kept of a value. ``moments`` are of all its finite numbers, whatever their order."""

    kind: str  # "array", "number", "text", "items", "other"
    shape: tuple[int, ...] = ()
    moments: tuple[float, ...] = ()  # count, sum, sums of squares and cubes, sum of sizes, +inf, -inf, NaN
    order: float = 0.0  # a sum that depends on the order
    spread: float = 0.0  # of zeros and ones: where the ones are, whatever the order of the axes
    type: str = ""  # of the elements
    text: str = ""  # itself, or what holds several arrays or numbers
    items: tuple[Fingerprint, ...] = ()

    @property
    def is_telling(self) -> bool:
        """Return whether few other values look so: several distinct numbers, a fraction, a text of some length."""
        if self.kind == "array" or self.kind == "number":
            count, total, squares = self.moments[0], self.moments[1], self.moments[2]
            if self.moments[5] or self.moments[7]:  # +inf, NaN
                return True
            if self.type == "int" and count <= 3:
                return False
            if count <= 1:
                return total != int(total) if math.isfinite(total) else False
            return squares * count - total * total > 1e-9 * max(squares * count, 1e-30)
        if self.kind == "items":
            return any(item.is_telling for item in self.items) or len(self.items) > 3
        return self.kind == "text" and len(self.text) > 1

    @property
    def is_whole(self) -> bool:
        """Return whether it consists of whole numbers: other things are counted alike."""
        if self.kind == "items":
            return all(item.is_whole for item in self.items)
        return bool(self.moments) and any(name in self.type for name in ("int", "bool"))

    @property
    def is_constant(self) -> bool:
        """Return whether it is an array of numbers that are all alike, or of none."""
        return self.kind == "array" and not self.is_telling and "bool" not in self.type

    @property
    def is_mask(self) -> bool:
        """Return whether it consists of zeros and ones."""
        return self.kind == "array" and self.moments[1] == self.moments[2] == self.moments[3]

    @property
    def is_fractional(self) -> bool:
        """Return whether it is an array of numbers that are not all whole."""
        return self.kind == "array" and not self.is_whole and any(one % 1 for one in self.moments[1:3])

    @property
    def parts(self) -> tuple[Fingerprint, ...]:
        """What a tuple consists of."""
        return self.items if self.text == "tuple" else ()

    @property
    def is_neutral(self) -> bool:
        """Return whether it says nothing: None, a function, a module, or numbers that are all alike."""
        if self.kind == "array":
            return not self.is_telling
        return self.kind == "other" or (self.kind == "items" and not self.items) or self.type == "bool"


def fingerprint(value: Any, depth: int = DEPTH) -> Fingerprint:
    """Return the fingerprint of a value; whatever fails on the way is of the kind "other"."""
    try:
        return _fingerprint(value, depth)
    except Exception:  # a student's object may answer anything
        return Fingerprint("other")


def _fingerprint(value: Any, depth: int) -> Fingerprint:
    if value is None:
        return Fingerprint("other")
    if isinstance(value, (bool, int, float, np.generic)):
        return Fingerprint("number", (), _moments(_bounded(np.asarray([value]))), type=type(value).__name__)
    if isinstance(value, (str, bytes)):
        return Fingerprint("text", (len(value),), text=repr(value[:MAX_TEXT]))
    array = _array(value)
    if array is not None:
        flat = array.reshape(-1)
        kind, kept = "number" if flat.size == 1 else "array", str(value.dtype)
        moments = _moments(flat)
        are_ones = flat.size > 1 and moments[1] == moments[2] == moments[3]
        return Fingerprint(kind, tuple(array.shape), moments, _order(flat), _spread(array) if are_ones else 0.0, kept)
    if depth and isinstance(value, (list, tuple)):
        items = [_fingerprint(item, depth - 1) for item in value[:MAX_ITEMS]]
        made = replace(_of_items(items), text=type(value).__name__[:MAX_TEXT])
        return replace(made, items=tuple(items)) if isinstance(value, tuple) and len(items) <= MAX_PARTS else made
    if depth and isinstance(value, (range,)):
        return _of_items([_fingerprint(item, depth - 1) for item in list(value[:MAX_ITEMS])])
    if depth and isinstance(value, (set, frozenset)):
        return _of_items(sorted((_fingerprint(item, depth - 1) for item in list(value)[:MAX_ITEMS]), key=repr))
    if depth and isinstance(value, (dict, Counter)):
        pairs = [(_fingerprint(key, depth - 1), _fingerprint(item, depth - 1))
                 for key, item in list(value.items())[:MAX_ITEMS]]
        return _of_items([one for pair in sorted(pairs, key=repr) for one in pair])
    return Fingerprint("other")


def _of_items(items: list[Fingerprint]) -> Fingerprint:
    """Several arrays of one shape are as good as one of them all."""
    if items and items[0].kind in ("array", "number") and all(
            item.kind == items[0].kind and item.shape == items[0].shape for item in items):
        if items[0].kind == "array" or any(item.shape for item in items):
            moments = _added([item.moments for item in items])
            order = float(sum((index + 1) * item.order for index, item in enumerate(items)))
            return Fingerprint("array", (len(items), *items[0].shape), moments, order, spread(items), items[0].type)
        order = _order(np.asarray([item.moments[1] for item in items]))
        return Fingerprint("array", (len(items),), _added([item.moments for item in items]), order, spread(items),
                           items[0].type)
    return Fingerprint("items", (len(items),), items=tuple(items))


def _array(value: Any) -> Any:
    """The numbers of a tensor or an array as float64; None when it is neither, or too large."""
    if isinstance(value, np.ndarray):
        array = value
    elif hasattr(value, "detach") and hasattr(value, "dtype") and hasattr(value, "cpu"):
        if value.numel() > MAX_ELEMENTS:
            return None
        kept = value.detach().cpu()
        array = kept.float().numpy() if "16" in str(kept.dtype) and kept.is_floating_point() else kept.numpy()
    else:
        return None
    if array.size > MAX_ELEMENTS or array.dtype.kind not in "biuf":
        return None
    return _bounded(array)


def _bounded(array: Any) -> Any:
    """Numbers as float64, huge fractions as infinity."""
    numbers = array.astype(np.float64)
    if array.dtype.kind == "f":
        huge = np.abs(numbers) >= HUGE
        numbers[huge] = np.sign(numbers[huge]) * np.inf
    return numbers


def _moments(flat: Any) -> tuple[float, ...]:
    finite = flat[np.isfinite(flat)]
    with np.errstate(all="ignore"):
        return (float(flat.size), float(finite.sum()), float((finite**2).sum()), float((finite**3).sum()),
                float(np.abs(finite).sum()), float((flat == np.inf).sum()), float((flat == -np.inf).sum()),
                float(np.isnan(flat).sum()))


def _order(flat: Any) -> float:
    finite = np.where(np.isfinite(flat), flat, 0.0)
    with np.errstate(all="ignore"):
        return float((finite * np.cos(np.arange(1, flat.size + 1) * 0.7)).sum())


def _spread(array: Any) -> float:
    """Say of zeros and ones where the ones are: along each axis, and all axes alike."""
    axes = range(array.ndim)
    return float(sum(_order(array.sum(axis=tuple(other for other in axes if other != axis)))
                     for axis in axes if array.shape[axis] > 1))


def spread(items: Sequence[Fingerprint]) -> float:
    """Return where the ones of several arrays are, one after the other along an axis of their own."""
    own = sum(item.spread for item in items)
    return own + _order(np.asarray([item.moments[1] for item in items])) if len(items) > 1 else own


def _added(moments: Sequence[tuple[float, ...]]) -> tuple[float, ...]:
    return tuple(float(sum(column)) for column in zip(*moments, strict=True))


def to_tree(one: Fingerprint) -> list[Any]:
    """Return a fingerprint as plain data."""
    return [one.kind, list(one.shape), list(one.moments), one.order, one.spread, one.type, one.text,
            list(map(to_tree, one.items))]


def from_tree(tree: Any) -> Fingerprint:
    """Return the fingerprint that a tree holds, whoever sent it; ``ValueError`` where it is none."""
    return Reader().read(tree)


class Reader:
    """Reads the fingerprints of one message, whoever sent it.

    ``ValueError`` where one is none, and when all of them together are too many to look at.
    """

    def __init__(self) -> None:
        self.left = MAX_READ

    def read(self, tree: Any, depth: int = DEPTH) -> Fingerprint:
        """Read the fingerprint that a tree holds."""
        self.left -= 1
        if self.left < 0 or not isinstance(tree, list) or len(tree) != 8:
            raise ValueError("no fingerprint, or too many")
        kind, shape, moments, order, spread, kept, text, items = tree
        if not isinstance(kind, str) or kind not in KINDS or not isinstance(text, str) or not isinstance(kept, str):
            raise ValueError("no kind of value")
        if not (_numbers(shape, int, MAX_AXES) and _numbers(moments, float, MOMENTS)
                and _numbers([order, spread], float, 2)):
            raise ValueError("no numbers")
        if (kind in ("array", "number")) != (len(moments) == MOMENTS) or not isinstance(items, list) or (
                len(items) > 2 * MAX_ITEMS or (items and not depth)):
            raise ValueError("another number of elements")
        return Fingerprint(kind, tuple(shape), tuple(moments), order, spread, kept[:40], text[:MAX_TEXT + 20],
                           tuple(self.read(item, depth - 1) for item in items))


def _numbers(values: Any, kind: type, most: int) -> bool:
    return isinstance(values, list) and len(values) <= most and all(type(one) is kind for one in values)
