"""The sentences that are made of findings: all of them, and only here. Nothing reads them back."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Hashable, Sequence
from dataclasses import replace

from . import devices
from .difference import BEFORE, Difference, Outline
from .findings import CheckResult, Finding, essence
from .place import Place, Spot
from .recorded import Error, Where
from .values import a, number

RELATIONS = {
    "memory": "The first call is right, but the same call, made again, is not: something that it uses has changed.",
    "other inputs": "The first call is right, but the next call, with other inputs, is not.",
    "gradient": "The values are right, but the gradients are not.",
    "modes": "It is right in training, but not in evaluation, after `.eval()`.",
    "one sequence": "It is right on the batches of several that were tried, but not on a batch of one.",
    "one timestep": "It is right on the sequences that were tried, but not on a single timestep.",
    "equal sizes": "It is right on the values that were tried whose axes all differ in size, but not on others.",
}
PARTLY = {  # where more than a relation is broken
    "gradient": "In the gradients:",
    "one sequence": "On a batch of one:",
    "one timestep": "On a single timestep:",
    "equal sizes": "On values with axes of the same size:",
}


# Checks, and what several of them see


def result(one: CheckResult) -> str:
    """Say of a check what it asks for when it passes, else the fault that was recognised, and the difference."""
    if one.difference is None:
        return one.says
    said = difference(one.difference)
    return f"{one.fault.says} ({said})" if one.fault else said


def result_by_kind(one: CheckResult) -> str:
    """Say the same as `result` without a number of the instance: the fault, or of what kind the difference is.

    For places where one may ask any number of times.
    """
    if one.difference is None:
        return one.says
    return one.fault.says if one.fault else _by_kind(one.difference)


def tally(results: Sequence[CheckResult]) -> str:
    """Say how many checks pass."""
    passed = sum(one.passed for one in results)
    if passed == len(results):
        return f"all {passed} checks pass" if passed > 1 else "the check passes"
    if all(one.difference and one.difference.is_unwritten for one in results):
        return "not written yet"
    return f"{passed} of {len(results)} checks pass"


def headline(finding: Finding, advise: bool = False) -> str:
    """Say what is wrong: the fault, the relation, or the first difference; in a notebook, what to do about it, too."""
    if finding.fault:
        return finding.fault.says
    if finding.relation:
        seen = "" if finding.alone else f"In {', '.join(f'`{name}`' for name in finding.checks)}: "
        return seen + RELATIONS[finding.relation]
    first = finding.differences[0]
    return f"{difference(first)} {_advice(first)}".strip() if advise else difference(first)


def details(finding: Finding) -> list[tuple[str, str]]:
    """Say of each check what it asks for, and what it sees that neither the headline nor a check before it says."""
    stated = set() if finding.fault or finding.relation else {essence(finding.differences[0])}
    said = []
    for one, seen in zip(finding.results, finding.differences, strict=True):
        new = "" if essence(seen) in stated else _bare(seen) if finding.relation else difference(seen)
        stated.add(essence(seen))
        said.append((one.check, f"{one.says} {new}".strip()))
    return said


def place(seen: Place, numbers: bool = True, graded: bool = False) -> str:
    """Say where the mistake is; without ``numbers`` nothing of a value. ``graded``: beside numbers of other inputs."""
    if seen.kind == "edit":
        return f"One change here makes all checks pass (a change elsewhere may, too): {_where(seen)}."
    which = "the first value" if seen.second else "that value"
    subject = f"In the self-check, {which}" if graded else which.capitalize()
    value = _value(seen.difference, subject) if numbers else ""
    if seen.second:
        return (f"With values of right answers at two places, what follows is right: {_where(seen)}, and "
                f"{_where(seen.second)}.{value} Look at both, and at what goes into them.")
    return (f"With the value of a right answer here, what follows is right: {_where(seen)}.{value} Look at it, and at "
            "what goes into it.")


def _where(seen: Place | Spot) -> str:
    return f"`{seen.text}`, line {seen.span[0]}" + (" of a cell of your own" if seen.cell else "")


def _value(seen: Difference | None, subject: str) -> str:
    """Say what the value of a right answer is at a place, and what the student's is; not that it has to be so."""
    if not seen or not seen.expected or not seen.got:
        return ""
    match seen.kind:
        case "value" | "nan":
            part = f"{seen.output}{_place(seen)}"
            at = f" at `{part}`" if part else ""
            return f" {subject} is {_short(seen.expected, seen)}{at}, yours {_short(seen.got, seen)}{_spread(seen)}."
        case "shape":
            return f" {subject} has shape {seen.expected.shape}, yours {seen.got.shape}."
        case "dtype":
            return f" {subject} has dtype {seen.expected.dtype}, yours {seen.got.dtype}."
    return ""


def stopped(seconds: float, check: str, where: Where | None, exercise: str) -> str:
    """Say that a self-check was stopped, at which line of the student's code, and how to give it more time."""
    line = f" at line {where.line} of the cell, `{where.text}`" if where and where.text else ""
    during = f", in the check {check}" if check else ""
    return (f"stopped after {seconds:g} s{during}{line}. Does a loop there ever end? If your code needs more time: "
            f'`tp.check("{exercise}", seconds={4 * seconds:g})`')


def counted(times: int) -> str:
    """Say how often."""
    return "once" if times == 1 else f"{times} times"


def reasons(results: Sequence[CheckResult], numbers: bool = True) -> list[str]:
    """Say everything about an exercise in lines: of each check what it asks for, and why it failed, each cause once.

    Without ``numbers`` nothing is said by which one could tell the instance: see `result_by_kind`.
    """
    say = result if numbers else result_by_kind
    stated: dict[Hashable, str] = {}  # cause → the check at which it stands
    placed: set[Place] = set()
    lines = []
    for one in results:
        lines.append(filled(f"{'✓' if one.passed else '✗'} {one.check}: {one.says}", "  ", "      "))
        if one.difference:
            first = stated.setdefault(one.fault.name if one.fault else essence(one.difference), one.check)
            lines.append(filled(say(one) if first == one.check else f"The same again, see {first}.", "      "))
            if one.place and one.place not in placed:
                placed.add(one.place)
                lines.append(filled(place(one.place, numbers, graded=True), "      "))
    return lines


def _advice(seen: Difference) -> str:
    """Return what to do where a name is missing: most often a cell was not run."""
    if seen.kind == "missing-name":
        return "Run the cell above, then this one."
    if seen.error and seen.error.type == "NameError":
        return "If a cell above defines it, run that cell first."
    return ""


def filled(said: str, first: str, rest: str = "") -> str:
    """Return a text in lines of a terminal, each indented; names are not broken at their hyphens."""
    return textwrap.fill(said, 100, initial_indent=first, subsequent_indent=rest or first, break_on_hyphens=False)


# Differences


def difference(seen: Difference) -> str:
    """Say the difference, and before it the relation that it breaks."""
    return f"{_relation(seen)}{_bare(seen)}"


def _relation(seen: Difference) -> str:
    if seen.relation is None:
        return ""
    return f"{PARTLY[seen.relation] if seen.partly else RELATIONS[seen.relation]} "


def _bare(seen: Difference) -> str:
    if seen.error:
        return error(seen.error)
    if seen.kind in ("not-checked", "alone", "loop", "built-in", "in-place", "changed"):
        return _beside_values(seen)
    if seen.kind == "predicate":
        return _sentence(seen.said or f"`{seen.output}`: got {_outline(seen.got)}, which is not asked for")
    return f"`{seen.output}{_place(seen)}`{_of_output(seen)}"


KINDS = {
    "absent": "did not come back.",
    "no-gradient": "no gradient arrives there.",
    "nothing": "something is expected, and None came back. Is a `return` missing?",
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


def _by_kind(seen: Difference) -> str:
    relation = _relation(seen)
    if seen.error:
        own = seen.error.kind == "raised"  # the words of whoever raised it, in which the inputs can stand
        said = re.sub(r"\d+", "#", seen.error.message) if own else seen.error.message
        return relation + error(replace(seen.error, message=said))
    if seen.kind in ("not-checked", "alone", "loop", "built-in", "in-place", "changed"):
        return relation + _beside_values(seen)
    return f"{relation}`{seen.output.partition('[')[0]}`: {KINDS.get(seen.kind, 'it is not of the kind expected.')}"


def _beside_values(seen: Difference) -> str:
    match seen.kind:
        case "not-checked":
            return f"Not checked: {_ended(seen.said)}"
        case "alone":
            return "This alone does not show that your code works: it counts as soon as another check passes."
        case "loop":
            return ("The values are right, but how often torch is called changes with the size of the inputs, as in "
                    "a loop. Write it for all of them at once.")
        case "built-in":
            names, do = ", ".join(f"`{name}`" for name in seen.names), "does" if len(seen.names) == 1 else "do"
            return f"The values are right, but {names} {do} not count here: write it from the equations."
        case "in-place":
            return ("The values are right, but your code changes one of its arguments in place; "
                    "the caller still needs it.")
        case _:
            return f"The values are right, but your code leaves {' and '.join(seen.names)} changed; others rely on it."


def _of_output(seen: Difference) -> str:
    """Return what follows the name of the output."""
    match seen.kind:
        case "absent":
            return " did not come back."
        case "no-gradient":
            return ": no gradient arrives there."
        case "nothing":
            return f": {_expected(seen)}. Is a `return` missing?"
        case "shape":
            return f": {_shapes(seen)}"
        case "dtype":
            return f": expected dtype {seen.expected and seen.expected.dtype}, got {seen.got and seen.got.dtype}."
        case "sum":
            also = f"; over {_axis(seen, seen.other)} the sum is 1" if seen.other is not None else ""
            return f": expected a sum of 1 over {_axis(seen, seen.axis)}, got {_short(seen.got)}{also}."
        case "axes":
            order = f"; expected ({', '.join(seen.axes)})" if seen.axes else ""
            return f": the values are right, but the axes are in another order{order}."
        case "length":
            return f": {_lengths(seen)}"
        case "key-missing":
            return f": the key {seen.names[0]} is missing."
        case "key-extra":
            return f": the key {seen.names[0]} does not belong there."
        case _:
            return f": {_expected(seen)}{_spread(seen)}."


def _place(seen: Difference) -> str:
    """Return where in an array the first wrong value is."""
    if not seen.size or not seen.index:
        return ""
    places = [":" if seen.kind == "sum" and i == seen.axis else str(n) for i, n in enumerate(seen.index)]
    return f"[{', '.join(places)}]"


def _expected(seen: Difference) -> str:
    """Return expected and got: numbers and strings as they are, if both are such, else what they are."""
    if seen.kind in ("value", "nan"):
        at = f"; they first differ at index {seen.index[0]}" if not seen.size and any(seen.index) else ""
        return f"expected {_short(seen.expected, seen)}, got {_short(seen.got, seen)}{at}"
    return f"expected {_outline(seen.expected)}, got {_outline(seen.got)}"


def _spread(seen: Difference) -> str:
    """Return how many values are wrong, and where all of them lie."""
    if seen.size < 2:
        return ""
    if seen.kind == "nan":
        return f"; {seen.wrong} of {seen.size} values are NaN (not a number)"
    where = f", all at {_axis(seen, seen.axis, seen.index[seen.axis])}" if seen.axis is not None else ""
    return f"; {seen.wrong} of {seen.size} values {'differs' if seen.wrong == 1 else 'differ'}{where}"


def _axis(seen: Difference, axis: int | None, position: int | None = None) -> str:
    """Return an axis by its letter, or by its number where it has none, with a position if one is given."""
    assert axis is not None
    letter = seen.axes[axis] if seen.axes and seen.axes[axis].isidentifier() else ""
    if letter:
        return f"the axis {letter}" if position is None else f"{letter} = {position}"
    place = "the first axis" if axis == 0 else "the last axis" if axis == len(seen.index) - 1 else f"axis {axis}"
    return place if position is None else f"index {position} of {place}"


def _shapes(seen: Difference) -> str:
    assert seen.expected and seen.got
    want, have = seen.expected.shape, seen.got.shape
    letters = f" ({', '.join(seen.axes)})" if seen.axes else ""
    said = f"expected shape {want}{letters}, got {have}."
    if seen.axes and len(set(want)) == len(want) and sorted(have) == sorted(want):
        order = ", ".join(seen.axes[want.index(size)] for size in have)
        return f"{said} Its axes come in the order ({order})."
    if [size for size in have if size != 1] == [size for size in want if size != 1]:
        what = "too many" if len(have) > len(want) else "missing" if len(have) < len(want) else "in another place"
        return f"{said} An axis of size one is {what}."
    return said


def _lengths(seen: Difference) -> str:
    assert seen.expected and seen.got
    (want,), (have,), (alike,) = seen.expected.shape, seen.got.shape, seen.index
    elements = "element" if want == 1 else "elements"
    agree = f"; the first {alike} agree" if alike > 1 else ""
    return f"expected {want} {elements}, got {have}{agree}."


# Values


def _outline(one: Outline | None) -> str:
    """Return what a value is."""
    assert one
    match one.kind:
        case "tensor":
            return f"a tensor of shape {one.shape}"
        case "array":
            return f"a numpy array of shape {one.shape}"
        case "list":
            return f"a list or tuple of {one.shape[0]}"
        case "dict":
            return f"a dict of {one.shape[0]}"
        case "none":
            return "None"
        case "other":
            return a(str(one.value))
        case "str":
            return f"the string {_short(one)}"
        case "bool":
            return f"the boolean {one.value}"
        case _:
            return f"the number {_short(one)}"


def _short(one: Outline | None, seen: Difference | None = None) -> str:
    """Return a number or string as people write it; a string from where it is kept."""
    assert one
    if one.kind == "str":
        text, start = str(one.value), max(0, seen.index[0] - BEFORE) if seen and seen.index else 0
        more = start + len(text) < one.shape[0]
        return f"{'…' * (start > 0)}{text!r}{'…' * more}"
    if isinstance(one.value, float):
        value = one.value
        return next((number(value, n) for n in (4, 7) if float(f"{value:.{n}g}") == value), repr(value))
    return str(one.value)


def _sentence(said: str) -> str:
    return said[:1].upper() + _ended(said[1:])


def _ended(said: str) -> str:
    """Return the text with a full stop where it has none."""
    return said if said.endswith((".", "?", "!")) else f"{said}."


# Errors


def error(one: Error) -> str:
    """Say what stopped the replay, or a cell."""
    if one.kind == "not-written":
        return "This part is not written yet."
    if one.kind in ("missing-name", "unusable"):
        return _sentence(one.message)
    said = devices.meaning(one.message) or one.message or "no message"
    line = f"line {one.where.line} of the cell, `{one.where.text}`" if one.where and one.where.text else ""
    if one.inside == "cell":
        return f"Your code stops with {one.type}{f' at {line}' if line else ''}: {_ended(said)}"
    if line:
        return f"At {line}, your code calls code of the check, which stops with {one.type}: {_ended(said)}"
    return f"A call that the check makes stops with {one.type}: {_ended(said)}"
