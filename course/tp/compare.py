"""Compare what came back from a replay with what was expected, and say the difference in a sentence.

Used by the self-check on the student's machine and by the judge. Replies are those of ``replay.replay``;
``specs`` maps the name of each output to its ``axes`` ("T B H"), tolerances and properties.
"""

from itertools import permutations

import numpy as np

NOT_WRITTEN = "This part is not written yet."

# Relative and absolute tolerance by floating type; a check may set its own.
TOLERANCE = {"float64": 1e-7, "float32": 2e-4, "float16": 2e-2, "bfloat16": 5e-2}


def first_difference(expected: dict, got: dict, specs: dict) -> str | None:
    """A sentence about the first difference between two replies, or None when they agree."""
    if got["error"]:
        return error_sentence(got["error"])
    for name, spec in specs.items():
        if name not in got["outputs"]:
            return f"`{name}` did not come back."
        sentence = output_difference(name, expected["outputs"][name], got["outputs"][name], spec)
        if sentence:
            return sentence
    if set(got["called"]) - set(expected["called"]):
        names = ", ".join(f"`{name}`" for name in sorted(set(got["called"]) - set(expected["called"])))
        return f"The values are right, but {names} does not count here: write it from the equations."
    if set(got["mutated"]) - set(expected["mutated"]):
        return "The values are right, but your code changes one of its arguments in place; the caller still needs it."
    return None


def same(a: dict, b: dict, specs: dict) -> bool:
    """Whether two replies are equal: the same outputs within tolerance, or the same kind of error at the same point."""
    if bool(a["error"]) != bool(b["error"]) or a["mutated"] != b["mutated"] or a["called"] != b["called"]:
        return False
    if a["error"] and (a["error"]["type"], _gist(a["error"])) != (b["error"]["type"], _gist(b["error"])):
        return False
    if a["outputs"].keys() != b["outputs"].keys():
        return False
    return all(_same_value(a["outputs"][name], b["outputs"][name], specs[name]) for name in a["outputs"])


def _gist(error):
    """The message of an error without its numbers, which depend on the draw."""
    return "".join(c for c in error["message"] if not c.isdigit())[:80]


def explained(difference: str, known: tuple | None) -> str:
    """The sentence of a failed check: what a teacher says of the mistake when it is known, else the difference."""
    return f"{known[1]} ({difference})" if known else difference


def error_sentence(error: dict) -> str:
    """What an exception in the student's code says to the student."""
    if error["type"] == "NotImplementedError":
        return NOT_WRITTEN
    if error["ours"]:
        return error["message"][:1].upper() + error["message"][1:] + "."
    where = f" at line {error['where']['line']} of the cell, `{error['where']['text']}`" if error["where"] and error["where"]["text"] else ""
    return f"Your code stops with {error['type']}{where}: {error['message'] or 'no message'}"


def output_difference(name, expected, got, spec) -> str | None:
    if spec.get("holds"):
        try:
            return _predicate(spec["holds"])(plain(got))
        except Exception:  # a predicate reads what it hopes for; anything else is wrong
            return f"`{name}` is {article(got)}, which is not what is asked for."
    if expected["kind"] in ("tensor", "array"):
        return _array_difference(name, expected, got, spec)
    if expected["kind"] in ("int", "float", "bool"):
        return _number_difference(name, expected, got, spec)
    if got["kind"] != expected["kind"]:
        return f"`{name}` is {article(got)}, it must be {article(expected)}."
    if expected["kind"] == "str":
        return None if got["value"] == expected["value"] else f"`{name}` is {got['value']!r:.60}, it must be {expected['value']!r:.60}."
    if expected["kind"] == "list":
        return _list_difference(name, expected, got, spec)
    if expected["kind"] == "dict":
        return _dict_difference(name, expected, got, spec)
    return None


def _predicate(source):
    """A predicate of our own checks, from its source text."""
    scope = {"np": np}
    exec(compile(source, "<predicate>", "exec"), scope)
    return next(value for key, value in scope.items() if callable(value) and key not in ("np", "__builtins__"))


def plain(description):
    """The value that a description stands for: numbers, strings, arrays, lists, dicts; None for anything else."""
    kind = description["kind"]
    if kind in ("tensor", "array"):
        return description["array"]
    if kind in ("int", "float", "bool", "str"):
        return description["value"]
    if kind == "list":
        return [plain(item) for item in description["items"]]
    if kind == "dict":
        return {_key(k): plain(v) for k, v in zip(description["keys"], description["items"])}
    return None


def _key(description):
    value = plain(description)
    return value if isinstance(value, (int, float, str, bool)) else repr(value)


def _same_value(a, b, spec):
    return output_difference("", a, b, {**spec, "holds": None}) is None and output_difference("", b, a, {**spec, "holds": None}) is None


def article(description) -> str:
    """What a value is, in words."""
    kind = description["kind"]
    if kind == "none":
        return "None (is a `return` missing?)"
    if kind == "tensor":
        return f"a tensor of shape {shape(description)}"
    if kind == "array":
        return f"a numpy array of shape {shape(description)}"
    if kind == "list":
        return f"a list or tuple of {description['length']}"
    if kind in ("int", "float", "bool"):
        return f"the {'boolean' if kind == 'bool' else 'number'} {description['value']!r:.30}"
    if kind == "str":
        return f"the string {description['value']!r:.40}"
    if kind == "dict":
        return f"a dict of {description['length']}"
    return f"a {description.get('type', kind)}"


def shape(description):
    return tuple(description["array"].shape)


def _tolerances(expected, spec):
    base = TOLERANCE.get(expected.get("dtype", "float64"), 1e-7)
    return spec.get("rtol") or base, spec.get("atol") or base


def _close(expected, got, rtol, atol):
    with np.errstate(invalid="ignore", over="ignore"):
        return (np.abs(got - expected) <= atol + rtol * np.abs(expected)) | (got == expected) | (np.isnan(got) & np.isnan(expected))


def _array_difference(name, expected, got, spec):
    if got["kind"] != expected["kind"] and not (expected["kind"] == "array" and got["kind"] == "tensor"):
        return f"`{name}` is {article(got)}, it must be {article(expected)}."
    want, have = expected["array"], got["array"]
    axes = spec.get("axes", "").split() if spec.get("axes") else []
    letters = f" ({', '.join(axes)})" if len(axes) == want.ndim else ""
    if have.shape != want.shape:
        return _shape_sentence(name, want, have, axes, letters)
    if _family(have.dtype) != _family(want.dtype):
        return f"`{name}` holds {_family(have.dtype)}, it must hold {_family(want.dtype)} ({got['dtype']} instead of {expected['dtype']})."
    if have.size == 0:
        return None
    if want.dtype.kind in "biu":
        wrong = have != want
    else:
        wrong = ~_close(want.astype(complex if want.dtype.kind == "c" else "float64"), have.astype(complex if have.dtype.kind == "c" else "float64"), *_tolerances(expected, spec))
    if not wrong.any():
        return None
    return _value_sentence(name, want, have, wrong, axes, spec)


def _family(dtype):
    return {"b": "booleans", "i": "integers", "u": "integers", "f": "real numbers", "c": "complex numbers"}[dtype.kind]


def _shape_sentence(name, want, have, axes, letters):
    text = f"`{name}` has shape {have.shape}, it must be {want.shape}{letters}."
    if sorted(have.shape) == sorted(want.shape) and len(set(want.shape)) == want.ndim and len(axes) == want.ndim:
        order = [axes[want.shape.index(size)] for size in have.shape]
        text += f" Its axes come in the order ({', '.join(order)})."
    elif have.size == want.size and [n for n in have.shape if n != 1] == [n for n in want.shape if n != 1]:
        text += " The numbers are there; an axis of size one is too many or missing."
    return text


def _value_sentence(name, want, have, wrong, axes, spec):
    if have.dtype.kind in "fc" and np.isnan(have).any() and not np.isnan(want).any():
        where = _index(np.argwhere(np.isnan(have))[0])
        return f"`{name}{where}` is NaN (not a number); so are {int(np.isnan(have).sum())} of {have.size} values."
    over = spec.get("sums_to_one")
    if over and over in axes and have.dtype.kind == "f":
        sentence = _sum_sentence(name, have, axes, over)
        if sentence:
            return sentence
    for order in permutations(range(want.ndim)):
        if order != tuple(range(want.ndim)) and tuple(want.shape[i] for i in order) == have.shape and np.allclose(want.transpose(order), have, rtol=1e-3, atol=1e-4):
            return f"`{name}` has the right values with its axes in another order: it must be ({', '.join(axes) or 'as described'})."
    first = np.argwhere(wrong)[0]
    index = _index(first)
    share = f"{int(wrong.sum())} of {wrong.size} values differ" if wrong.size > 1 else "it differs"
    return f"`{name}{index}` is {_number(have[tuple(first)])}, it must be {_number(want[tuple(first)])}; {share}{_where(wrong, axes)}."


def _sum_sentence(name, have, axes, over):
    axis = axes.index(over)
    sums = have.sum(axis)
    bad = np.argwhere(np.abs(sums - 1) > 1e-3)
    if not len(bad):
        return None
    at = list(bad[0])
    index = [str(n) for n in at[:axis]] + [":"] + [str(n) for n in at[axis:]]
    text = f"`{name}[{', '.join(index)}]` sums to {_number(sums[tuple(at)])} over the axis {over}, it must be 1."
    for other, letter in enumerate(axes):
        if other != axis and np.allclose(have.sum(other), 1, atol=1e-3):
            text += f" It sums to 1 over the axis {letter}."
            break
    return text


def _where(wrong, axes):
    """The one timestep, row or column that holds all differences, when there is one."""
    for axis, letter in enumerate(axes if len(axes) == wrong.ndim else []):
        other = tuple(i for i in range(wrong.ndim) if i != axis)
        hit = np.flatnonzero(wrong.any(axis=other))
        if len(hit) == 1 and wrong.shape[axis] > 1:
            return f", all of them at {letter} = {hit[0]}"
    return ""


def _index(position):
    return f"[{', '.join(str(int(n)) for n in position)}]" if len(position) else ""


def _number(value):
    value = value.item()
    return repr(value) if isinstance(value, (bool, int)) else f"{value:.4g}"


def _number_difference(name, expected, got, spec):
    if got["kind"] in ("tensor", "array") and got["array"].size == 1:
        got = {"kind": expected["kind"], "value": got["array"].reshape(()).item()}
    if got["kind"] not in ("int", "float", "bool"):
        return f"`{name}` is {article(got)}, it must be {article({**expected})}."
    want, have = expected["value"], got["value"]
    if expected["kind"] == "float":
        rtol, atol = spec.get("rtol") or 1e-5, spec.get("atol") or 1e-6
        right = bool(_close(np.float64(want), np.float64(have), rtol, atol))
    else:
        right = want == have
    return None if right else f"`{name}` is {have!r:.20}, it must be {want!r:.20}."


def _list_difference(name, expected, got, spec):
    if got["length"] != expected["length"]:
        return f"`{name}` has {got['length']} elements, it must have {expected['length']}."
    for i, (a, b) in enumerate(zip(expected["items"], got["items"])):
        sentence = output_difference(f"{name}[{i}]", a, b, spec)
        if sentence:
            return sentence
    return None


def _dict_difference(name, expected, got, spec):
    want = {_key(k): v for k, v in zip(expected["keys"], expected["items"])}
    have = {_key(k): v for k, v in zip(got["keys"], got["items"])}
    for key in want:
        if key not in have:
            return f"`{name}` has no key {key!r:.40}."
    for key in have:
        if key not in want:
            return f"`{name}` has the key {key!r:.40}, which does not belong there."
    for key in want:
        sentence = output_difference(f"{name}[{key!r}]", want[key], have[key], spec)
        if sentence:
            return sentence
    return None


def diagnose(records: list[dict], got: list[dict], mistakes: list[tuple]) -> list[tuple | None]:
    """For each check, the (name, sentence) of the mistake that explains the reply, or None.

    ``records`` hold ``expected`` and ``specs`` of each check; ``mistakes`` are (name, sentence, replies). A mistake
    that gives the student's reply in every check explains them all; otherwise each failed check looks for its own.
    """
    specs = [record["specs"] for record in records]
    failed = [first_difference(record["expected"], reply, record["specs"]) is not None for record, reply in zip(records, got)]
    if not any(failed):
        return [None] * len(records)
    alike = [(name, says, [same(a, b, s) for a, b, s in zip(replies, got, specs)]) for name, says, replies in mistakes]
    for name, says, matches in alike:
        if all(matches):
            return [(name, says) if bad else None for bad in failed]
    return [next(((name, says) for name, says, matches in alike if bad and matches[i]), None) for i, bad in enumerate(failed)]
