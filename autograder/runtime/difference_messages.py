"""Write the sentences about a difference: what was expected, what came back, and how the one follows from the other."""

from __future__ import annotations

import re

from .difference import NON_VALUE_KINDS, STRING_BEFORE, Difference, Outline, Pattern, Region
from .recorded import CapturedError
from .text import significant, with_article

RELATION_SENTENCES = {
    "repeated call": "The first call is right, but the same call, made again, is not: something that it uses has "
                     "changed.",
    "other inputs": "It is right on the first inputs that were tried, but not on others.",
    "gradient": "The values are right, but the gradients are not.",
    "evaluation": "It is right in training, but not in evaluation, after `.eval()`.",
    "one sequence": "It is right on the batches of several that were tried, but not on a batch of one.",
    "one timestep": "It is right on the sequences that were tried, but not on inputs of a single timestep.",
    "equal sizes": "It is right on the first inputs that were tried, but not on others, in which some sizes are equal.",
}
# torch says it in many ways, and names the device or its kind of tensors in each
_MIXED_DEVICES = re.compile(r"same device|device type \S+ but got|Expected a '\S+' device type|"
                            r"torch\.cuda\.\w+.*torch\.[A-Z]|torch\.[A-Z].*torch\.cuda\.\w+")
_GPU_INTO_NUMPY = re.compile(r"can't convert \S+ device type tensor to numpy")
NO_OUTPUT = ("not-checked", "constant", *NON_VALUE_KINDS)  # kinds of differences that are of no output


# Differences


def difference(diff: Difference) -> str:
    """Return the sentence about a difference, after the relation that it breaks."""
    relation = f"{RELATION_SENTENCES[diff.relation]} " if diff.relation else ""
    return relation + without_relation(diff)


def without_relation(diff: Difference) -> str:
    """Return the sentence about a difference alone."""
    if diff.error:
        return error(diff.error)
    if diff.kind in NO_OUTPUT:
        return _beside_values(diff)
    if diff.kind == "predicate" and not diff.hides_instance:
        return _sentence(diff.reason or f"`{diff.output}`: got {_outline(diff.got)}, which is not asked for")
    return f"`{diff.output}{_index(diff)}`{_of_output(diff)}"


def _beside_values(diff: Difference) -> str:
    match diff.kind:
        case "not-checked":
            return f"Not checked: {_ended(diff.reason)}"
        case "constant":
            return "This alone does not show that your code works: it counts as soon as another check passes."
        case "loop":
            text = ("how often torch is called changes with the size of the inputs, as in a loop. "
                    "Write it for all of them at once.")
        case "built-in":
            names, do = ", ".join(f"`{name}`" for name in diff.names), "does" if len(diff.names) == 1 else "do"
            text = f"{names} {do} not count here: write it from the equations."
        case "in-place":
            text = "your code changes one of its arguments in place; the caller still needs it."
        case _:
            text = f"your code leaves {' and '.join(diff.names)} changed; others rely on it."
    return f"On the first inputs the values are right, but {text}"


def value_at_place(diff: Difference | None, subject: str) -> str:
    """Return the value of a right answer at a place beside the student's; not that it has to be so."""
    if not diff or not diff.expected or not diff.got:
        return ""
    match diff.kind:
        case "value" | "nan":
            part = f"{diff.output}{_index(diff)}"
            position = f" at `{part}`" if part else ""
            expected, got = _short(diff.expected, diff), _short(diff.got, diff)
            return f" {subject} is {expected}{position}, yours {got}{_spread(diff)}.{_pattern(diff)}"
        case "shape":
            return f" {subject} has shape {diff.expected.shape}, yours {diff.got.shape}."
        case "dtype":
            return f" {subject} has dtype {diff.expected.dtype}, yours {diff.got.dtype}."
    return ""


GENERAL = {  # without a number of the instance
    "nothing": "something is expected, and None came back. Is a `return` missing, or an assignment?",
    "shape": "the shape is not the one expected.",
    "dtype": "the dtype is not the one expected.",
    "sum": "the sums are not those expected.",
    "axes": "the values are right, but the axes are in another order.",
    "length": "it does not have as many elements as expected.",
    "key-missing": "a key is missing.",
    "key-extra": "a key does not belong there.",
    "value": "the values are not those expected.",
    "nan": "some values are NaN (not a number).",
    "predicate": "it is not what is asked for.",
}


def _of_output(diff: Difference) -> str:
    """Return what follows the name of the output."""
    match diff.kind:
        case "missing-output":
            return " did not come back."
        case "no-gradient":
            return ": no gradient arrives there."
        case kind if diff.hides_instance:
            return f": {GENERAL.get(kind, 'it is not of the kind expected.')}"
        case "nothing":
            return f": {_expected(diff)}. Is a `return` missing, or an assignment?"
        case "shape":
            return f": {_shapes(diff)}"
        case "dtype":
            return f": expected dtype {diff.expected and diff.expected.dtype}, got {diff.got and diff.got.dtype}."
        case "sum":
            other = diff.axis_summing_to_one
            also = "" if other is None else f"; over {_axis(diff, other)} the sum is 1"
            return f": expected a sum of 1 over {_axis(diff, diff.axis)}, got {_short(diff.got)}{also}.{_pattern(diff)}"
        case "axes":
            order = f"; expected ({', '.join(diff.axes)})" if diff.axes else ""
            return f": the values are right, but the axes are in another order{order}."
        case "length":
            return f": {_lengths(diff)}"
        case "key-missing":
            return f": the key {diff.names[0]} is missing."
        case "key-extra":
            return f": the key {diff.names[0]} does not belong there."
        case _:
            return f": {_expected(diff)}{_spread(diff)}.{_pattern(diff)}"


def _index(diff: Difference) -> str:
    """Return where in an array the first wrong value is."""
    if not diff.value_count or not diff.index:
        return ""
    places = [":" if diff.kind == "sum" and i == diff.axis else str(n) for i, n in enumerate(diff.index)]
    return f"[{', '.join(places)}]"


def _expected(diff: Difference) -> str:
    """Return expected and got: numbers and strings as they are, if both are such, else what they are."""
    if diff.kind in ("value", "nan"):
        at = f"; they first differ at index {diff.index[0]}" if not diff.value_count and any(diff.index) else ""
        return f"expected {_short(diff.expected, diff)}, got {_short(diff.got, diff)}{at}"
    return f"expected {_outline(diff.expected)}, got {_outline(diff.got)}"


def _spread(diff: Difference) -> str:
    """Return how many values are wrong, and where all of them lie."""
    if diff.value_count < 2:
        return ""
    if diff.kind == "nan":
        return f"; {diff.wrong_count} of {diff.value_count} values are NaN (not a number)"
    where = f", all {' and '.join(_region(diff, region) for region in diff.region)}" if diff.region else ""
    verb = "differs" if diff.wrong_count == 1 else "differ"
    return f"; {diff.wrong_count} of {diff.value_count} values {verb}{where}"


def _region(diff: Difference, region: Region) -> str:
    letter, axis = _letter(diff, region.axis), _axis(diff, region.axis)
    if region.stop is None:
        return f"at {letter} ≥ {region.start}" if letter else f"from index {region.start} of {axis} on"
    if region.stop == region.start + 1:
        return f"at {letter} = {region.start}" if letter else f"at index {region.start} of {axis}"
    return f"at {letter} < {region.stop}" if letter else f"before index {region.stop} of {axis}"


def _pattern(diff: Difference) -> str:
    """Return after a space how all values follow from the right ones; nothing where that is not known."""
    pattern = diff.pattern
    if pattern is None:
        return ""
    along = f"along {_axis(diff, pattern.axis)}, " if pattern.axis is not None and len(diff.index) > 1 else ""
    match pattern.kind:
        case "same":
            sentence = f"all your values are {_exactly(pattern.number)}"
        case "wrong ones the same":
            sentence = f"all the wrong values are {_exactly(pattern.number)}"
        case "opposite":
            sentence = "each of your values is the opposite of the right one"
        case "one position":
            sentence = f"{along}every position has the right values of position {pattern.positions[0]}"
        case "shifted":
            end, neighbour = ("first", "before") if pattern.number < 0 else ("last", "after")
            sentence = f"{along}every position but the {end} has the right values of the one {neighbour} it"
        case "reversed":
            sentence = f"{along}the right values stand in reverse order"
        case "order":
            order = ", ".join(map(str, pattern.positions))
            sentence = f"{along}the right values stand in another order: those of the positions {order}"
        case "factor":
            sentence = f"{along}each of your values is the right one times {_number(pattern)}"
        case "added":
            sentence = f"{along}each of your values is the right one plus {_number(pattern)}"
        case "function of right":
            sentence = f"your values are {_function(diff, pattern)} the right ones"
        case "function missing":
            sentence = f"{_function(diff, pattern)} your values is right"
    return f" {_sentence(sentence)}"


def _number(pattern: Pattern) -> str:
    return _exactly(pattern.number) if pattern.axis is None else "a number that is the same for all of them"


def _exactly(number: float) -> str:
    """Return a whole number, rounding left out, as it is, any other with the digits that tell it from a whole one."""
    whole = round(number)
    if number == whole or (abs(whole) > 1 and round(number, 6) == whole):
        return f"{number:.0f}"
    texts = (significant(number, digits) for digits in (4, 7, 15))
    return next((text for text in texts if float(text) != whole), f"{whole}")


def _function(diff: Difference, pattern: Pattern) -> str:
    over = f" over {_axis(diff, pattern.axis)}" if pattern.axis is not None else ""
    return "one minus" if pattern.function == "one minus" else f"the {pattern.function}{over} of"


def _letter(diff: Difference, axis: int) -> str:
    return diff.axes[axis] if diff.axes and diff.axes[axis].isidentifier() else ""


def _axis(diff: Difference, axis: int | None) -> str:
    """Return an axis by its letter, or by its number where it has none."""
    assert axis is not None
    if letter := _letter(diff, axis):
        return f"the axis {letter}"
    return "the first axis" if axis == 0 else "the last axis" if axis == len(diff.index) - 1 else f"axis {axis}"


def _shapes(diff: Difference) -> str:
    assert diff.expected and diff.got
    expected, got = diff.expected.shape, diff.got.shape
    letters = f" ({', '.join(diff.axes)})" if diff.axes else ""
    sentence = f"expected shape {expected}{letters}, got {got}."
    if diff.axes and len(set(expected)) == len(expected) and sorted(got) == sorted(expected):
        order = ", ".join(diff.axes[expected.index(size)] for size in got)
        return f"{sentence} Its sizes are those of ({order})."
    if [size for size in got if size != 1] == [size for size in expected if size != 1]:
        more = len(got) - len(expected)
        change = "too many" if more > 0 else "missing" if more < 0 else "in another place"
        return f"{sentence} An axis of size one is {change}."
    return sentence


def _lengths(diff: Difference) -> str:
    assert diff.expected and diff.got
    (expected,), (got,), (equal,) = diff.expected.shape, diff.got.shape, diff.index
    elements = "element" if expected == 1 else "elements"
    agreement = f"; the first {equal} agree" if equal > 1 else ""
    return f"expected {expected} {elements}, got {got}{agreement}."


# Values


def _outline(outline: Outline | None) -> str:
    """Return what a value is."""
    assert outline
    match outline.kind:
        case "tensor":
            return f"a tensor of shape {outline.shape}"
        case "array":
            return f"a numpy array of shape {outline.shape}"
        case "list":
            return f"a list or tuple of {outline.shape[0]}"
        case "dict":
            return f"a dict of {outline.shape[0]}"
        case "none":
            return "None"
        case "other":
            return with_article(str(outline.value))
        case "str":
            return f"the string {_short(outline)}"
        case "bool":
            return f"the boolean {outline.value}"
        case _:
            return f"the number {_short(outline)}"


def _short(outline: Outline | None, diff: Difference | None = None) -> str:
    """Return a number or string as people write it; a string from where it is kept."""
    assert outline
    if outline.kind == "str":
        text, start = str(outline.value), max(0, diff.index[0] - STRING_BEFORE) if diff and diff.index else 0
        cut = start + len(text) < outline.shape[0]
        return f"{'…' * (start > 0)}{text!r}{'…' * cut}"
    if isinstance(outline.value, float):
        return significant(outline.value, 15)
    return str(outline.value)


def _sentence(text: str) -> str:
    return text[:1].upper() + _ended(text[1:])


def _ended(text: str) -> str:
    """Return the text with a full stop where it has none."""
    return text if text.endswith((".", "?", "!")) else f"{text}."


# Errors


def error(failure: CapturedError) -> str:
    """Return the sentence about the error that stopped a replay or a cell."""
    if failure.kind == "not-written":
        name = failure.where.function if failure.where else ""
        return f"`{name}` is not written yet." if name.isidentifier() else "This part is not written yet."
    if failure.kind in ("missing-name", "unusable"):
        return _sentence(failure.message)
    message = about_devices(failure.message) or failure.message or "no message"
    where = failure.where
    line = f"line {where.line} of the cell, `{where.text}`" if where and where.text else ""
    if failure.origin == "cell":
        return f"Your code stops with {failure.type}{f' at {line}' if line else ''}: {_ended(message)}"
    if line:
        return f"At {line}, your code calls code of the check, which stops with {failure.type}: {_ended(message)}"
    return f"A call that the check makes stops with {failure.type}: {_ended(message)}"


def about_devices(message: str) -> str | None:
    """Return the sentence for a student, where torch's message speaks of devices; None elsewhere."""
    if _GPU_INTO_NUMPY.search(message):
        return "It gives numpy a tensor that is not on the CPU. Stay in torch, or call `.cpu()` on the tensor first"
    if _MIXED_DEVICES.search(message):
        return ("It combines values on two devices, such as the CPU and the GPU. Make a new tensor beside the others, "
                "with `device=x.device` of a tensor `x` that you have")
    return None
