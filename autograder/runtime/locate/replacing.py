"""Replace values of expressions while an answer runs."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import arrays
from ..values import ArrayValue, ListValue, ScalarValue, Value, to_python
from .observation import Probe
from .replacements import Replacement


def replacing(replacement: Replacement) -> Probe:
    """Return a probe that replaces the values of some expressions, one after the other, and returns all other values.

    If one series replaces the values of several expressions, an object that one of them got stays the same object in
    the others, so that what is written into it is seen everywhere.
    """
    remaining = {expression.number: iter(series) for expression, series in replacement}
    after_statements = {expression.number for expression, _ in replacement if expression.is_after_statement}
    by_series: dict[int, list[Any]] = {id(series): [] for _, series in replacement}
    objects = {expression.number: by_series[id(series)] for expression, series in replacement}

    def probe(number: int, value: Any) -> Any:
        """Return the value of an expression, or what replaces it."""
        new = next(remaining[number], None) if number in remaining else None
        if new is None:
            return value
        if number in after_statements:
            result = _overwritten(_built(new, value), value)
        elif any(value is given for given in objects[number]):
            return value
        else:
            result = _built(new, value)
        if not isinstance(new, ScalarValue):
            objects[number].append(result)
        return result

    return probe


def _built(new: Value, old: Any) -> Any:
    """Return the object that a value describes; a tensor hands its gradient on to the old one."""
    if isinstance(new, ArrayValue):
        if new.kind != "tensor":
            return new.array.copy()
        if not arrays.is_tensor(old):
            return arrays.to_tensor(new.array, dtype=new.dtype)
        return arrays.with_gradient_of(arrays.to_tensor(new.array, dtype=new.dtype), old)
    if isinstance(new, ListValue):
        if isinstance(old, slice):
            return slice(*map(to_python, new.items))
        old_items = [*old, *[old[-1] if old else None] * len(new.items)]
        items = [_built(*pair) for pair in zip(new.items, old_items, strict=False)]
        return tuple(items) if isinstance(old, tuple) else items
    return to_python(new)


def _overwritten(new: Any, old: Any) -> Any:
    """Return the old object with the new contents, for all variables that hold it; the new one if they do not fit."""
    if arrays.is_tensor(old) and old.shape == new.shape:
        old.data.copy_(new.detach())
    elif isinstance(old, np.ndarray) and old.shape == new.shape:
        old[...] = new
    elif isinstance(old, list):
        old[:] = new
    else:
        return new
    return old
