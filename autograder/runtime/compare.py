"""Compare what came back from a replay with what was expected, and say the difference in a sentence.

Used by the self-check on the student's machine and by the judge.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import devices, values
from .recorded import Error, RecordedCheck, Reply, Spec
from .values import Array, Mapping, Scalar, Value, article, plain

NOT_WRITTEN = "This part is not written yet."

# Relative and absolute tolerance by floating type; a check may set its own.
TOLERANCE = {"float64": 1e-7, "float32": 2e-4, "float16": 2e-2, "bfloat16": 5e-2}


def first_difference(record: RecordedCheck, got: Reply) -> str | None:
    """A sentence about the first difference between a reply and what was recorded, or None when they agree."""
    sentence = plain_difference(record, got) or _relation_difference(record, got)
    return f"{RELATIONS[record.relation]} {sentence}" if sentence and record.relation else sentence


def plain_difference(record: RecordedCheck, got: Reply) -> str | None:
    """The same, the relations apart."""
    if got.error and got.error.at < record.base:
        return error_sentence(got.error)
    sentence = _outputs_difference(record, got, relation=None)
    if sentence:
        return sentence
    built_in = sorted(set(got.called) - set(record.expected.called))
    if "loop" in built_in:
        return ("The values are right, but there is a loop: the longer the inputs, the more calls of torch. "
                "Write it for all of them at once.")
    if built_in:
        names = ", ".join(f"`{name}`" for name in built_in)
        return f"The values are right, but {names} does not count here: write it from the equations."
    if {number for number in got.mutated if number < record.base} - set(record.expected.mutated):
        return "The values are right, but your code changes one of its arguments in place; the caller still needs it."
    return None


def _outputs_difference(record: RecordedCheck, got: Reply, relation: str | None) -> str | None:
    for name, spec in record.specs.items():
        if spec.relation != relation:
            continue
        if name not in got.outputs:
            return f"`{name}` did not come back."
        sentence = output_difference(name, record.expected.outputs[spec.like or name], got.outputs[name], spec)
        if sentence:
            return sentence
    return None


RELATIONS = {
    "memory": "The first answer is right, but something of it is kept: the same call, made again, answers something "
              "else.",
    "other inputs": "The first answer is right, but something of it is kept: the next call, with other inputs, answers "
                    "something else.",
    "gradient": "The values are right, but the gradients are not.",
    "modes": "It is right in training, but not in evaluation, after `.eval()`.",
    "one sequence": "It is right on a batch of several, but not on a batch of one.",
    "one timestep": "It is right on sequences, but not on a single timestep.",
}


def _relation_difference(record: RecordedCheck, got: Reply) -> str | None:
    changed = sorted(set(got.changed) - set(record.expected.changed))
    if changed:
        return f"The values are right, but your code leaves {' and '.join(changed)} changed; others rely on it."
    # in the order of the calls
    asked = list(dict.fromkeys(spec.relation for spec in record.specs.values() if spec.relation))
    unanswered = [relation for relation in asked
                  if any(spec.relation == relation and name not in got.outputs for name, spec in record.specs.items())]
    for relation in RELATIONS:  # what is kept also spoils gradients: the cause is told first
        answered = relation in asked and relation not in unanswered
        sentence = _outputs_difference(record, got, relation) if answered else None
        if sentence:
            return f"{RELATIONS[relation]} {sentence}"
    if unanswered:
        reason = error_sentence(got.error) if got.error else _outputs_difference(record, got, unanswered[0])
        return f"{RELATIONS[unanswered[0]]} {reason}"
    return None


def same(record: RecordedCheck, a: Reply, b: Reply) -> bool:
    """Whether two replies to a check are equal, the relations apart: the same outputs, or the same error."""
    if bool(a.error) != bool(b.error) or a.mutated != b.mutated or a.called != b.called:
        return False
    if a.error and b.error and (a.error.type, a.error.message) != (b.error.type, b.error.message):
        return False
    if a.outputs.keys() != b.outputs.keys():
        return False
    return all(_same_value(a.outputs[name], b.outputs[name], record.specs[name]) for name in a.outputs)


def without_relations(records: Sequence[RecordedCheck], got: Sequence[Reply]) -> list[tuple[RecordedCheck, Reply]]:
    """Each check alone, and what it alone was answered."""
    return [(record.plain, _without_relations(record, reply)) for record, reply in zip(records, got, strict=True)]


def _without_relations(record: RecordedCheck, got: Reply) -> Reply:
    outputs = {name: value for name, value in got.outputs.items()
               if name not in record.specs or record.specs[name].relation is None}
    error = got.error if got.error and got.error.at < record.base else None
    return replace(got, outputs=outputs, error=error, changed=(),
                   mutated=tuple(number for number in got.mutated if number < record.base))


def error_sentence(error: Error) -> str:
    """What an exception in the student's code says to the student."""
    if error.kind == "not-written":
        return NOT_WRITTEN
    if error.kind in ("missing-name", "unusable"):
        said = error.message.replace("it returns nothing (None)", "your code returns nothing (is a `return` missing?)")
        said = said.replace("it returns", "your code returns")
        return said[:1].upper() + said[1:] + "."
    where = ""
    if error.where and error.where.text:
        where = f" at line {error.where.line} of the cell, `{error.where.text}`"
    said = devices.meaning(error.message) or error.message or "no message"
    return f"Your code stops with {error.type}{where}: {said}"


def output_difference(name: str, expected: Value, got: Value, spec: Spec) -> str | None:
    """A sentence about the first difference between two values, or None when they agree."""
    if spec.holds:
        try:
            sentence = _predicate(spec.holds)(plain(got))
        except Exception:  # a predicate reads what it hopes for; anything else is wrong
            return f"`{name}` is {article(got)}, which is not what is asked for."
        return sentence
    if got.kind == "none" != expected.kind:
        return _nothing_sentence(name, expected)
    if isinstance(expected, Array):
        return _array_difference(name, expected, got, spec)
    if expected.kind in ("int", "float", "bool"):
        return _number_difference(name, expected, got, spec)
    if got.kind != expected.kind:
        return f"`{name}` is {article(got)}, it must be {article(expected)}."
    if isinstance(expected, Scalar) and isinstance(got, Scalar):
        right = got.value == expected.value
        return None if right else f"`{name}` is {got.value!r:.60}, it must be {expected.value!r:.60}."
    if isinstance(expected, values.Sequence) and isinstance(got, values.Sequence):
        return _list_difference(name, expected, got, spec)
    if isinstance(expected, Mapping) and isinstance(got, Mapping):
        return _dict_difference(name, expected, got, spec)
    return None


def _nothing_sentence(name: str, expected: Value) -> str:
    """What is said of None in the place of a value. Elements and attributes are not returned: only results are."""
    if "grad" in name:
        return f"`{name}` is missing: no gradient arrives there."
    hint = "" if set(name) & set("[.(") else " Is a `return` missing?"
    return f"`{name}` is None, it must be {article(expected)}.{hint}"


def _predicate(source: str) -> Callable[[Any], str | None]:
    """A predicate of our own checks, from its source text."""
    scope: dict[str, Any] = {"np": np}
    exec(compile(source, "<predicate>", "exec"), scope)
    found: Callable[[Any], str | None]
    found = next(value for key, value in scope.items() if callable(value) and key not in ("np", "__builtins__"))
    return found


def _same_value(a: Value, b: Value, spec: Spec) -> bool:
    without = replace(spec, holds=None)
    return output_difference("", a, b, without) is None and output_difference("", b, a, without) is None


def _tolerances(dtype: str, spec: Spec) -> tuple[float, float]:
    base = TOLERANCE.get(dtype, 1e-7)
    return spec.rtol or base, spec.atol or base


def _close(expected: Any, got: Any, rtol: float, atol: float) -> NDArray[np.bool_]:
    with np.errstate(invalid="ignore", over="ignore"):
        near = np.abs(got - expected) <= atol + rtol * np.abs(expected)
        return np.asarray(near | (got == expected) | (np.isnan(got) & np.isnan(expected)))


def _array_difference(name: str, expected: Array, got: Value, spec: Spec) -> str | None:
    if not isinstance(got, Array) or (expected.kind == "tensor" and got.kind != "tensor"):
        return f"`{name}` is {article(got)}, it must be {article(expected)}."
    want, have = expected.array, got.array
    axes = (spec.axes or "").split()
    if have.shape != want.shape:
        return _shape_sentence(name, want, have, axes)
    if _family(have.dtype) != _family(want.dtype):
        return (f"`{name}` holds {_family(have.dtype)}, it must hold {_family(want.dtype)} "
                f"({got.dtype} instead of {expected.dtype}).")
    if got.kind == "tensor" and got.dtype != expected.dtype:
        return f"`{name}` is of {got.dtype}, it must be of {expected.dtype}."
    wrong = wrong_values(expected, got, spec)
    return _value_sentence(name, want, have, wrong, axes, spec) if wrong.any() else None


def wrong_values(expected: Array, got: Array, spec: Spec) -> NDArray[np.bool_]:
    """Where two arrays of the same shape and family differ by more than is tolerated."""
    want, have = expected.array, got.array
    if want.dtype.kind in "biu":
        return np.asarray(have != want)
    wide = complex if want.dtype.kind == "c" else np.float64
    if spec.of_largest and spec.atol is None:
        spec = replace(spec, atol=spec.of_largest * _largest(expected))
    return ~_close(want.astype(wide), have.astype(wide), *_tolerances(expected.dtype, spec))


def _family(dtype: np.dtype[Any]) -> str:
    return {"b": "booleans", "i": "integers", "u": "integers", "f": "real numbers", "c": "complex numbers"}[dtype.kind]


def _shape_sentence(name: str, want: NDArray[Any], have: NDArray[Any], axes: list[str]) -> str:
    letters = f" ({', '.join(axes)})" if len(axes) == want.ndim and axes else ""
    text = f"`{name}` has shape {have.shape}, it must be {want.shape}{letters}."
    distinct = len(set(want.shape)) == want.ndim == len(axes)
    if distinct and sorted(have.shape) == sorted(want.shape):
        order = [axes[want.shape.index(size)] for size in have.shape]
        text += f" Its axes come in the order ({', '.join(order)})."
    elif have.size == want.size and [n for n in have.shape if n != 1] == [n for n in want.shape if n != 1]:
        text += " The numbers are there; an axis of size one is too many or missing."
    return text


def _value_sentence(name: str, want: NDArray[Any], have: NDArray[Any], wrong: NDArray[np.bool_], axes: list[str],
                    spec: Spec) -> str:
    if have.dtype.kind in "fc" and np.isnan(have).any() and not np.isnan(want).any():
        where = _index(np.argwhere(np.isnan(have))[0])
        return f"`{name}{where}` is NaN (not a number), as {int(np.isnan(have).sum())} of {have.size} values are."
    over = spec.sums_to_one
    if over and over in axes and have.dtype.kind == "f":
        sentence = _sum_sentence(name, have, axes, over)
        if sentence:
            return sentence
    if _is_transposed(want, have):
        wanted = ", ".join(axes) or "as described"
        return f"`{name}` has the right values with its axes in another order: it must be ({wanted})."
    first = np.argwhere(wrong)[0]
    got, asked = have[tuple(first)].item(), want[tuple(first)].item()
    share = f"{int(wrong.sum())} of {wrong.size} values differ" if wrong.size > 1 else "it differs"
    return (f"`{name}{_index(first)}` is {_told(got, asked)}, it must be {_told(asked, got)}; "
            f"{share}{_where(wrong, axes)}.")


def _is_transposed(want: NDArray[Any], have: NDArray[Any]) -> bool:
    orders = (order for order in permutations(range(want.ndim)) if order != tuple(range(want.ndim)))
    return any(tuple(want.shape[i] for i in order) == have.shape
               and np.allclose(want.transpose(order), have, rtol=1e-3, atol=1e-4) for order in orders)


def _sum_sentence(name: str, have: NDArray[Any], axes: list[str], over: str) -> str | None:
    axis = axes.index(over)
    sums = have.sum(axis)
    bad = np.argwhere(np.abs(sums - 1) > 1e-3)
    if not len(bad):
        return None
    at = list(bad[0])
    index = [str(n) for n in at[:axis]] + [":"] + [str(n) for n in at[axis:]]
    sum_there = _number(sums[tuple(at)])
    text = f"`{name}[{', '.join(index)}]` sums to {sum_there} over the axis {over}, it must be 1."
    for other, letter in enumerate(axes):
        if other != axis and np.allclose(have.sum(other), 1, atol=1e-3):
            text += f" It sums to 1 over the axis {letter}."
            break
    return text


def _where(wrong: NDArray[np.bool_], axes: list[str]) -> str:
    """The one timestep, row or column that holds all differences, when there is one."""
    for axis, letter in enumerate(axes if len(axes) == wrong.ndim else []):
        other = tuple(i for i in range(wrong.ndim) if i != axis)
        hit = np.flatnonzero(wrong.any(axis=other))
        if len(hit) == 1 and wrong.shape[axis] > 1:
            return f", all of them at {letter} = {hit[0]}"
    return ""


def _index(position: Sequence[int] | NDArray[Any]) -> str:
    return f"[{', '.join(str(int(n)) for n in position)}]" if len(position) else ""


def _number(value: Any) -> str:
    value = value.item()
    return repr(value) if isinstance(value, (bool, int)) else number(value)


def number(value: float | complex, digits: int = 4) -> str:
    """A number as people write it: 0.9286, 12340, 0.00001; powers of ten only where there would be many zeros."""
    text = f"{value:.{digits}g}"
    return f"{Decimal(text):f}" if "e" in text and isinstance(value, float) and 1e-6 < abs(value) < 1e9 else text


def _number_difference(name: str, expected: Value, got: Value, spec: Spec) -> str | None:
    if isinstance(got, Array) and got.array.size == 1 and got.array.dtype.kind != "c":
        have = got.array.reshape(()).item()
    elif isinstance(got, Scalar) and got.kind in ("int", "float", "bool"):
        have = got.value
    else:
        return f"`{name}` is {article(got)}, it must be {article(expected)}."
    want = plain(expected)
    if expected.kind == "float":
        rtol, atol = spec.rtol or 1e-5, spec.atol or 1e-6
        right = bool(_close(np.float64(want), np.float64(have), rtol, atol))
    else:
        right = want == have
    return None if right else f"`{name}` is {_told(have, want)}, it must be {_told(want, have)}."


def _told(value: Any, other: Any) -> str:
    """A number as people write it, with as many digits as tell it from the other."""
    if not isinstance(value, float):
        return f"{value!r:.20}"
    if not isinstance(other, float):
        return number(value)
    return next((number(value, digits) for digits in (4, 7, 17) if number(value, digits) != number(other, digits)),
                repr(value))


def _list_difference(name: str, expected: values.Sequence, got: values.Sequence, spec: Spec) -> str | None:
    if got.length != expected.length:
        return f"`{name}` has {got.length} element{'s' * (got.length != 1)}, it must have {expected.length}."
    for i, (a, b) in enumerate(zip(expected.items, got.items, strict=True)):
        sentence = output_difference(f"{name}[{i}]", a, b, spec)
        if sentence:
            return sentence
    return None


def _dict_difference(name: str, expected: Mapping, got: Mapping, spec: Spec) -> str | None:
    want = {values.key_of(key): item for key, item in zip(expected.keys, expected.items, strict=True)}
    have = {values.key_of(key): item for key, item in zip(got.keys, got.items, strict=True)}
    for key in want:
        if key not in have:
            return f"`{name}` has no key {key!r:.40}."
    for key in have:
        if key not in want:
            return f"`{name}` has the key {key!r:.40}, which does not belong there."
    largest = max(map(_largest, want.values()), default=0.0)
    for key in want:
        if spec.of_largest:  # where nothing but rounding is left, it is measured by the others
            spec = replace(spec, atol=spec.of_largest * max(_largest(want[key]), largest / 100))
        sentence = output_difference(f"{name}[{key!r}]", want[key], have[key], spec)
        if sentence:
            return sentence
    return None


def _largest(value: Value) -> float:
    """The largest of the numbers in an array, by size; 0 of anything else."""
    if not isinstance(value, Array) or not value.array.size or value.array.dtype.kind not in "fiu":
        return 0.0
    finite = np.abs(value.array[np.isfinite(value.array)])
    return float(finite.max()) if finite.size else 0.0
