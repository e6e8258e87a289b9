"""Compare the reply of a replay with the expected one, and return the first difference as data.

Used by the self-check on the student's machine and by the judge.
"""

from __future__ import annotations

import math
import os.path
from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .difference import MAX_NAMES, MAX_REASON, MAX_STRING, STRING_BEFORE, Difference, DifferenceKind, Outline
from .recorded import RELATIONS, CapturedError, OutputSpec, RecordedCheck, Relation, Reply
from .replay import refusal
from .text import printable
from .values import ArrayValue, DictValue, ListValue, OtherValue, ScalarValue, Value, key_of, to_python

# Relative and absolute tolerance by floating type; a check may set its own.
TOLERANCE = {"float64": 1e-7, "float32": 2e-4, "float16": 2e-2, "bfloat16": 5e-2}


def first_difference(record: RecordedCheck, got: Reply) -> Difference | None:
    """Return the first difference between a reply and what was recorded, or None when they agree."""
    difference = check_difference(record, got) or _relation_difference(record, got)
    if difference and record.relation:
        return replace(difference, relation=record.relation)
    return difference


def check_difference(record: RecordedCheck, got: Reply) -> Difference | None:
    """Return the first difference in the check itself; relations are not compared."""
    if got.error and got.error.at < record.base:
        return error_difference(got.error)
    difference = _outputs_difference(record, got, relation=None)
    if difference:
        return difference
    built_in = sorted(set(got.forbidden_calls) - set(record.expected.forbidden_calls))
    if "loop" in built_in:
        return Difference("loop")
    if built_in:
        return Difference("built-in", names=tuple(built_in[:MAX_NAMES]))
    if {number for number in got.mutating_ops if number < record.base} - set(record.expected.mutating_ops):
        return Difference("in-place")
    return None


def without_gradients(record: RecordedCheck, got: Reply) -> RecordedCheck:
    """Return the check without its gradients, unless these alone are wrong in a reply."""
    shorter = record.with_outputs([name for name, spec in record.specs.items() if not spec.is_gradient])
    return shorter if check_difference(shorter, got) else record


def as_far_as_wrong(record: RecordedCheck, got: Reply) -> RecordedCheck:
    """Return the check as far as the first of its outputs that differs in a reply; all of it where none does."""
    names = list(record.specs)
    count = next((i for i, name in enumerate(names, 1) if _named_difference(record, got, name)), len(names))
    return record if count == len(names) else record.with_outputs(names[:count])


def _named_difference(record: RecordedCheck, got: Reply, name: str) -> Difference | None:
    if name not in got.outputs:
        return Difference("missing-output", output=name)
    return output_difference(name, record.expected.outputs[name], got.outputs[name], record.specs[name])


def _outputs_difference(record: RecordedCheck, got: Reply, relation: Relation | None) -> Difference | None:
    differences = (_named_difference(record, got, name) for name, spec in record.specs.items()
                   if spec.relation == relation)
    return next(filter(None, differences), None)


def _relation_difference(record: RecordedCheck, got: Reply) -> Difference | None:
    changed = sorted(set(got.changed_state) - set(record.expected.changed_state))
    if changed:
        return Difference("changed", names=tuple(changed[:MAX_NAMES]))
    # outputs stand in the order of the calls, which end in this relation
    stopped = next((spec.relation for name, spec in record.specs.items()
                    if spec.relation and name not in got.outputs), None)
    for relation in RELATIONS:
        if relation == stopped and got.error:
            return replace(error_difference(got.error), relation=relation)
        difference = _outputs_difference(record, got, relation)
        if difference and (relation == stopped or difference.kind != "missing-output"):
            return replace(difference, relation=relation)
    return None


def same(record: RecordedCheck, reply: Reply, other: Reply) -> bool:
    """Return whether two replies to a record without relations are equal: the same outputs, or the same error."""
    if bool(reply.error) != bool(other.error):
        return False
    if (reply.mutating_ops, reply.forbidden_calls) != (other.mutating_ops, other.forbidden_calls):
        return False
    errors = [(error.type, error.message) for error in (reply.error, other.error) if error]
    if len(set(errors)) > 1:
        return False
    if reply.outputs.keys() != other.outputs.keys():
        return False
    return all(_same_value(reply.outputs[name], other.outputs[name], record.specs[name]) for name in reply.outputs)


def pairs_without_relations(records: Sequence[RecordedCheck],
                            got: Sequence[Reply]) -> list[tuple[RecordedCheck, Reply]]:
    """Return each record without its relations, and the part of its reply that answers it."""
    return [(record.without_relations, _part_without_relations(record, reply))
            for record, reply in zip(records, got, strict=True)]


def _part_without_relations(record: RecordedCheck, got: Reply) -> Reply:
    outputs = {name: value for name, value in got.outputs.items()
               if name not in record.specs or record.specs[name].relation is None}
    error = got.error if got.error and got.error.at < record.base else None
    return replace(got, outputs=outputs, error=error, changed_state=(),
                   mutating_ops=tuple(number for number in got.mutating_ops if number < record.base))


def error_difference(error: CapturedError) -> Difference:
    """Return an exception as a difference, without the number of the call that raised it."""
    return Difference(error.kind, error=replace(error, at=0))


@np.errstate(all="ignore")  # a student's numbers may be of any size, and no warning is theirs
def output_difference(name: str, expected: Value, got: Value, spec: OutputSpec) -> Difference | None:
    """Return the first difference between two values, or None when they agree."""
    if spec.predicate:
        return _predicate_difference(name, expected, got, spec)
    if got.kind == "none" != expected.kind:
        return _none_difference(name, expected, got, spec)
    if isinstance(expected, ArrayValue):
        return _array_difference(name, expected, got, spec)
    if expected.kind in ("int", "float", "bool"):
        return _number_difference(name, expected, got, spec)
    if got.kind != expected.kind:
        return _type_difference(name, expected, got)
    match expected, got:
        case ScalarValue(), ScalarValue():
            return None if got.value == expected.value else _text_difference(name, expected, got)
        case ListValue(), ListValue():
            return _list_difference(name, expected, got, spec)
        case DictValue(), DictValue():
            return _dict_difference(name, expected, got, spec)
        case OtherValue(), OtherValue() if got.type != expected.type:
            return _type_difference(name, expected, got)
    return None


def _predicate_difference(name: str, expected: Value, got: Value, spec: OutputSpec) -> Difference | None:
    if spec.axes and isinstance(expected, ArrayValue):
        if not isinstance(got, ArrayValue) or got.array.shape != expected.array.shape:
            return _array_difference(name, expected, got, spec)
        if _has_nan(got.array) and not _has_nan(expected.array):
            return _nan_difference(name, expected.array, got.array)
    try:
        reason = refusal(spec.predicate or "", got)
    except Exception:  # a predicate reads what it hopes for; anything else is wrong
        return Difference("predicate", output=name, got=outline(got))
    return Difference("predicate", output=name, reason=printable(reason, MAX_REASON)) if reason else None


def _none_difference(name: str, expected: Value, got: Value, spec: OutputSpec) -> Difference:
    """Return the difference where a value is None, with a kind of its own for results and for gradients."""
    kind: DifferenceKind = "no-gradient" if spec.is_gradient else "type" if set(name) & set("[.(") else "nothing"
    return replace(_type_difference(name, expected, got), kind=kind)


def _type_difference(name: str, expected: Value, got: Value) -> Difference:
    return Difference("type", output=name, expected=outline(expected), got=outline(got))


def _same_value(value: Value, other: Value, spec: OutputSpec) -> bool:
    spec = replace(spec, predicate=None)
    return output_difference("", value, other, spec) is None and output_difference("", other, value, spec) is None


# Outlines


def outline(value: Value) -> Outline:
    """Return what a value is, bounded in size."""
    if isinstance(value, ArrayValue):
        return Outline(value.kind, dtype=value.dtype, shape=value.array.shape)
    if isinstance(value, (ListValue, DictValue)):
        return Outline(value.kind, shape=(value.length,))
    if isinstance(value, OtherValue):
        return Outline("other", value.type)
    if isinstance(value.value, str):
        return Outline("str", value.value[:MAX_STRING], shape=(len(value.value),))
    return _number(value.value, None)


def _number(value: Any, beside: Any) -> Outline:
    """Return a number with as many digits as tell it from the one that is shown beside it."""
    kind = "none" if value is None else type(value).__name__
    if isinstance(value, complex) or (isinstance(value, float) and not math.isfinite(value)):
        return Outline(kind, f"{value:.4g}")
    if not isinstance(value, float):
        return Outline(kind, value)
    if not isinstance(beside, float):
        return Outline(kind, _rounded(value, 4))
    return Outline(kind, next((_rounded(value, n) for n in (4, 7) if _rounded(value, n) != _rounded(beside, n)), value))


def _rounded(value: float, digits: int) -> float:
    return float(f"{value:.{digits}g}")


def _numbers(name: str, expected: Any, got: Any) -> Difference:
    return Difference("value", output=name, expected=_number(expected, got), got=_number(got, expected))


# By type


def _close(expected: Any, got: Any, spec: OutputSpec, rtol: float, atol: float) -> NDArray[np.bool_]:
    """Return where numbers are near each other; ``rtol`` and ``atol`` where the check sets none."""
    factor = spec.tolerance_factor or 1.0
    rtol = factor * (rtol if spec.rtol is None else spec.rtol)
    atol = factor * (atol if spec.atol is None else spec.atol)
    with np.errstate(invalid="ignore", over="ignore"):
        close = np.isfinite(expected) & (np.abs(got - expected) <= atol + rtol * np.abs(expected))
        return np.asarray(close | (got == expected) | (np.isnan(got) & np.isnan(expected)))


def _array_difference(name: str, expected: ArrayValue, got: Value, spec: OutputSpec) -> Difference | None:
    if not isinstance(got, ArrayValue) or (expected.kind == "tensor" and got.kind != "tensor"):
        return _type_difference(name, expected, got)
    expected_array, got_array = expected.array, got.array
    axes = tuple((spec.axes or "").split())
    axes = axes if len(axes) == expected_array.ndim else ()
    if got_array.shape != expected_array.shape:
        return replace(_type_difference(name, expected, got), kind="shape", axes=axes)
    is_family = _family(got_array.dtype) == _family(expected_array.dtype)
    if not is_family or (got.kind == "tensor" and got.dtype != expected.dtype):
        return replace(_type_difference(name, expected, got), kind="dtype")
    differs = wrong_values(expected, got, spec)
    if not differs.any():
        return None
    return replace(_value_difference(name, expected, got, differs, axes, spec), axes=axes)


def wrong_values(expected: ArrayValue, got: ArrayValue, spec: OutputSpec) -> NDArray[np.bool_]:
    """Return where two arrays of the same shape and family differ by more than is tolerated."""
    expected_array, got_array = expected.array, got.array
    if expected_array.dtype.kind in "biu":
        return np.asarray(got_array != expected_array)
    wide_type = np.result_type(expected_array.dtype, np.float64)
    if spec.atol_of_max and spec.atol is None:
        spec = replace(spec, atol=spec.atol_of_max * _largest(expected) or None)
    tolerance = TOLERANCE.get(expected.dtype, 1e-7)
    return ~_close(expected_array.astype(wide_type), got_array.astype(wide_type), spec, tolerance, tolerance)


def _has_nan(array: NDArray[Any]) -> bool:
    return array.dtype.kind in "fc" and bool(np.isnan(array).any())


def _family(dtype: np.dtype[Any]) -> str:
    return "i" if dtype.kind == "u" else dtype.kind


def _value_difference(name: str, expected_value: ArrayValue, got_value: ArrayValue, wrong: NDArray[np.bool_],
                      letters: tuple[str, ...], spec: OutputSpec) -> Difference:
    expected, got = expected_value.array, got_value.array
    if _has_nan(got) and not _has_nan(expected):
        return _nan_difference(name, expected, got)
    if spec.sums_to_one and spec.sums_to_one in letters and got.dtype.kind == "f":
        difference = _sum_difference(name, got, letters.index(spec.sums_to_one))
        if difference:
            return difference
    if _is_transposed(expected_value, got_value, spec):
        return Difference("axes", output=name)
    first = _index(np.argwhere(wrong)[0])
    return replace(_numbers(name, expected[first].item(), got[first].item()), index=first, wrong_count=int(wrong.sum()),
                   value_count=wrong.size)


def _nan_difference(name: str, expected: NDArray[Any], got: NDArray[Any]) -> Difference:
    is_nan = np.isnan(got)
    first = _index(np.argwhere(is_nan)[0])
    return replace(_numbers(name, expected[first].item(), math.nan), kind="nan", index=first,
                   wrong_count=int(is_nan.sum()), value_count=got.size)


def _is_transposed(expected: ArrayValue, got: ArrayValue, spec: OutputSpec) -> bool:
    """Return whether the values are right in another order of the axes."""
    turned = map(expected.array.transpose, permutations(range(expected.array.ndim)))
    return any(array.shape == got.array.shape and not wrong_values(replace(expected, array=array), got, spec).any()
               for array in turned)


def _sum_difference(name: str, got: NDArray[Any], axis: int) -> Difference | None:
    """Return the difference of values that do not sum to one over an axis, with their first wrong sum."""
    sums = got.sum(axis)
    wrong = np.argwhere(np.abs(sums - 1) > 1e-3)
    if not len(wrong):
        return None
    first = _index(wrong[0])
    summing_to_one = (other_axis for other_axis in range(got.ndim)
                      if other_axis != axis and np.allclose(got.sum(other_axis), 1, atol=1e-3))
    return Difference("sum", output=name, expected=Outline("float", 1.0), got=_number(sums[first].item(), None),
                      index=(*first[:axis], 0, *first[axis:]), wrong_count=len(wrong), value_count=sums.size, axis=axis,
                      axis_summing_to_one=next(summing_to_one, None))


def _index(position: NDArray[Any]) -> tuple[int, ...]:
    return tuple(int(n) for n in position)


def _number_difference(name: str, expected: Value, got: Value, spec: OutputSpec) -> Difference | None:
    if isinstance(got, ArrayValue) and got.array.size == 1 and got.array.dtype.kind != "c":
        got_number = got.array.reshape(()).item()
    elif isinstance(got, ScalarValue) and got.kind in ("int", "float", "bool"):
        got_number = got.value
    else:
        return _type_difference(name, expected, got)
    expected_number = to_python(expected)
    if expected.kind == "int" and isinstance(got_number, float):
        return _type_difference(name, expected, got)
    if expected.kind == "float":
        equal = bool(_close(np.float64(expected_number), np.float64(got_number), spec, 1e-5, 1e-6))
    else:
        equal = expected_number == got_number
    return None if equal else _numbers(name, expected_number, got_number)


def _text_difference(name: str, expected: ScalarValue, got: ScalarValue) -> Difference:
    """Return the difference of two strings, each from shortly before the first character that differs."""
    expected_text, got_text = str(expected.value), str(got.value)
    index = len(os.path.commonprefix([expected_text, got_text]))
    shown = slice(max(0, index - STRING_BEFORE), max(0, index - STRING_BEFORE) + MAX_STRING)
    return Difference("value", output=name, expected=Outline("str", expected_text[shown], shape=(len(expected_text),)),
                      got=Outline("str", got_text[shown], shape=(len(got_text),)), index=(index,))


def _list_difference(name: str, expected: ListValue, got: ListValue, spec: OutputSpec) -> Difference | None:
    equal = 0
    for i, (element, got_element) in enumerate(zip(expected.items, got.items, strict=False)):
        difference = output_difference(f"{name}[{i}]", element, got_element, spec)
        if difference and got.length == expected.length:
            return difference
        if difference:
            break
        equal = i + 1
    return None if got.length == expected.length else replace(_type_difference(name, expected, got), kind="length",
                                                              index=(equal,))


def _dict_difference(name: str, expected: DictValue, got: DictValue, spec: OutputSpec) -> Difference | None:
    expected_items = {key_of(key): item for key, item in zip(expected.keys, expected.items, strict=True)}
    got_items = {key_of(key): item for key, item in zip(got.keys, got.items, strict=True)}
    for key in expected_items:
        if key not in got_items:
            return Difference("key-missing", output=name, names=(f"{key!r:.40}",))
    for key in got_items:
        if key not in expected_items:
            return Difference("key-extra", output=name, names=(f"{key!r:.40}",))
    largest = max(map(_largest, expected_items.values()), default=0.0)
    for key in expected_items:
        if spec.atol_of_max:  # where nothing but rounding is left, it is measured by the others
            spec = replace(spec, atol=spec.atol_of_max * max(_largest(expected_items[key]), largest / 100) or None)
        difference = output_difference(f"{name}[{key!r}]", expected_items[key], got_items[key], spec)
        if difference:
            return difference
    return None


def _largest(value: Value) -> float:
    """Return the largest absolute value in an array; 0 for anything else."""
    if not isinstance(value, ArrayValue) or not value.array.size or value.array.dtype.kind not in "fiu":
        return 0.0
    finite = np.abs(value.array[np.isfinite(value.array)])
    return float(finite.max()) if finite.size else 0.0
