"""Write all sentences about findings. No code reads the sentences back."""

from __future__ import annotations

import textwrap
from collections.abc import Hashable, Sequence

from . import devices
from .difference import BEFORE, BESIDE_VALUES, Difference, Outline
from .findings import CheckResult, Finding, findings, message_key
from .place import EditKind, Place, Spot
from .recorded import Error, Where
from .values import significant, with_article

RELATION_SENTENCES = {
    "memory": "The first call is right, but the same call, made again, is not: something that it uses has changed.",
    "other inputs": "It is right on the first inputs that were tried, but not on others.",
    "gradient": "The values are right, but the gradients are not.",
    "modes": "It is right in training, but not in evaluation, after `.eval()`.",
    "one sequence": "It is right on the batches of several that were tried, but not on a batch of one.",
    "one timestep": "It is right on the sequences that were tried, but not on inputs of a single timestep.",
    "equal sizes": "It is right on the values that were tried whose axes all differ in size, but not on others.",
}
PARTLY = {  # where more than a relation is broken
    "gradient": "In the gradients:",
    "one sequence": "On a batch of one:",
    "one timestep": "On inputs of a single timestep:",
    "equal sizes": "On values with axes of the same size:",
}
NO_OUTPUT = ("not-checked", "constant", *BESIDE_VALUES)  # kinds of differences that are of no output


# Checks, and what several of them see


def result(check: CheckResult) -> str:
    """Return what a check asks for if it passes, else the recognised fault and the difference."""
    if check.difference is None:
        return check.description
    sentence = difference(check.difference)
    if check.fault:
        return check.fault.feedback if check.difference.is_general else f"{check.fault.feedback} ({sentence})"
    return sentence


def tally(results: Sequence[CheckResult]) -> str:
    """Return how many checks pass, in words."""
    passed = sum(check.passed for check in results)
    if passed == len(results):
        return f"all {passed} checks pass" if passed > 1 else "the check passes"
    if all(check.difference and check.difference.is_unwritten for check in results):
        return "not written yet"
    return f"{passed} of {len(results)} checks pass"


def headline(finding: Finding, advise: bool = False) -> str:
    """Return what is wrong: the fault, the relation, or the first difference, on request with advice."""
    if finding.fault:
        return finding.fault.feedback
    if finding.relation:
        checks = "" if finding.is_only else f"In {', '.join(f'`{name}`' for name in finding.checks)}: "
        return checks + RELATION_SENTENCES[finding.relation]
    first = finding.differences[0]
    sentence = f"{difference(first)} {_unused(finding)}".strip()
    return f"{sentence} {_advice(first)}".strip() if advise else sentence


def _unused(finding: Finding) -> str:
    """Return that the answer does not use what has a stub in its place."""
    names = set[str].intersection(*({f"`{name}`" for name in diff.unused} for diff in finding.differences))
    checks = "This check puts" if len(finding.differences) == 1 else "These checks put"
    it = "it" if len(names) == 1 else "them"
    return (f"{checks} other code, with other results, in the place of {' and '.join(sorted(names))}. "
            f"What is called of your code does not use {it}: use {it} there.") if names else ""


def details(finding: Finding) -> list[tuple[str, str]]:
    """Return each check of a finding with what it asks for, and its difference if no line before has said it."""
    say = _without_relation if finding.relation else difference
    stated: set[Hashable] = set()
    if not finding.fault and not finding.relation:
        stated |= {message_key(finding.differences[0]), say(finding.differences[0])}
    pairs = []
    for check, diff in zip(finding.results, finding.differences, strict=True):
        known = {message_key(diff), say(diff)}
        silent = known & stated or (finding.fault and diff.is_general)
        stated |= known
        pairs.append((check.check, check.description if silent else f"{check.description} {say(diff)}".strip()))
    return pairs


EDITED: dict[EditKind, str] = {
    "edit": "With one change here, all checks pass",
    "move": "With this statement in another place, all checks pass",
    "drop": "Without this statement, all checks pass",
    "swap": "With these two statements in the other order, all checks pass",
}


def place(location: Place, graded: bool = False) -> str:
    """Say where the mistake is, with the values there.

    ``graded`` says that it stands beside numbers of other inputs, which the self-check's are not.
    """
    if location.kind != "value":
        lines = ", and ".join(map(_source_line, location.spots))
        return f"{EDITED[location.kind]} (a change elsewhere may make them pass, too): {lines}."
    value_name = "the first value" if location.second else "that value"
    subject = f"In the self-check, {value_name}" if graded else value_name.capitalize()
    values = _values(location.difference, subject)
    if location.second:
        return ("If two expressions had the values of a right answer, a check that fails would pass: "
                f"{_source_line(location)}, and {_source_line(location.second)}.{values} "
                "Look at both, and at what goes into them.")
    return ("If this expression had the value of a right answer, a check that fails would pass: "
            f"{_source_line(location)}.{values} Look at it, and at what goes into it.")


def _source_line(location: Place | Spot) -> str:
    first, _, last, _ = location.span
    lines = f"line {first}" if first == last else f"lines {first} to {last}"
    return f"`{location.text}`, {lines}" + (" of a cell of your own" if location.cell else "")


def _values(diff: Difference | None, subject: str) -> str:
    """Return the value of a right answer at a place beside the student's; not that it has to be so."""
    if not diff or not diff.expected or not diff.got:
        return ""
    match diff.kind:
        case "value" | "nan":
            part = f"{diff.output}{_index(diff)}"
            position = f" at `{part}`" if part else ""
            expected, got = _short(diff.expected, diff), _short(diff.got, diff)
            return f" {subject} is {expected}{position}, yours {got}{_spread(diff)}."
        case "shape":
            return f" {subject} has shape {diff.expected.shape}, yours {diff.got.shape}."
        case "dtype":
            return f" {subject} has dtype {diff.expected.dtype}, yours {diff.got.dtype}."
    return ""


def stopped(seconds: float, check: str, where: Where | None, exercise: str) -> str:
    """Return the sentence about a self-check that was stopped: in which line, and how to give it more time."""
    line = f" at line {where.line} of the cell, `{where.text}`" if where and where.text else ""
    during = f", in the check {check}" if check else ""
    return (f"stopped after {seconds:g} s{during}{line}. Does a loop there ever end? If your code needs more time: "
            f'`tp.check("{exercise}", seconds={4 * seconds:g})`')


def reasons(results: Sequence[CheckResult]) -> list[str]:
    """Return the lines about an exercise: what is wrong, then what is right."""
    lines = [line for finding in findings(results) for line in finding_lines(finding, graded=True)]
    return lines + [passed_line(check.check, check.description) for check in results if check.passed]


def finding_lines(finding: Finding, seen_by: str = "", graded: bool = False) -> list[str]:
    """Return the lines about a finding: headline (with advice unless ``graded``), place, and the checks that see it."""
    lines = [wrapped(f"✗ {headline(finding, not graded)}", "  ", "    ")]
    if finding.place:
        lines.append(wrapped(place(finding.place, graded), "      "))
    if seen_by:
        lines.append(f"      {seen_by}:")
    return lines + [wrapped(f"{check}: {sentence}", "      ", "        ")
                    for check, sentence in details(finding)]


def passed_line(check: str, description: str) -> str:
    """Return the line about a check that passes."""
    return wrapped(f"✓ {check}: {description}", "  ", "    ")


def _advice(diff: Difference) -> str:
    """Return what to do where a name is missing: most often a cell was not run."""
    if diff.kind == "missing-name":
        return "Run the cell above, then this one."
    if diff.error and diff.error.type == "NameError":
        return "If a cell above defines it, run that cell first."
    return ""


def wrapped(text: str, first: str, rest: str = "") -> str:
    """Return a text in lines of a terminal, each indented; names are not broken at their hyphens."""
    return textwrap.fill(text, 100, initial_indent=first, subsequent_indent=rest or first, break_on_hyphens=False)


# Differences


def difference(diff: Difference) -> str:
    """Return the sentence about a difference, after the relation that it breaks."""
    return f"{_relation_sentence(diff)}{_without_relation(diff)}"


def _relation_sentence(diff: Difference) -> str:
    if diff.relation is None:
        return ""
    return f"{PARTLY[diff.relation] if diff.others_fail else RELATION_SENTENCES[diff.relation]} "


def _without_relation(diff: Difference) -> str:
    if diff.error:
        return error(diff.error)
    if diff.kind in NO_OUTPUT:
        return _beside_values(diff)
    if diff.kind == "predicate" and not diff.is_general:
        return _sentence(diff.said or f"`{diff.output}`: got {_outline(diff.got)}, which is not asked for")
    return f"`{diff.output}{_index(diff)}`{_of_output(diff)}"


def _beside_values(diff: Difference) -> str:
    match diff.kind:
        case "not-checked":
            return f"Not checked: {_ended(diff.said)}"
        case "constant":
            return "This alone does not show that your code works: it counts as soon as another check passes."
        case "loop":
            text = ("How often torch is called changes with the size of the inputs, as in a loop. "
                    "Write it for all of them at once.")
        case "built-in":
            names, do = ", ".join(f"`{name}`" for name in diff.names), "does" if len(diff.names) == 1 else "do"
            text = f"{names} {do} not count here: write it from the equations."
        case "in-place":
            text = "Your code changes one of its arguments in place; the caller still needs it."
        case _:
            text = f"Your code leaves {' and '.join(diff.names)} changed; others rely on it."
    return text if diff.others_fail else f"The values are right, but {text[0].lower()}{text[1:]}"


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
        case kind if diff.is_general:
            return f": {GENERAL.get(kind, 'it is not of the kind expected.')}"
        case "nothing":
            return f": {_expected(diff)}. Is a `return` missing, or an assignment?"
        case "shape":
            return f": {_shapes(diff)}"
        case "dtype":
            return f": expected dtype {diff.expected and diff.expected.dtype}, got {diff.got and diff.got.dtype}."
        case "sum":
            also = f"; over {_axis(diff, diff.other)} the sum is 1" if diff.other is not None else ""
            return f": expected a sum of 1 over {_axis(diff, diff.axis)}, got {_short(diff.got)}{also}."
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
            return f": {_expected(diff)}{_spread(diff)}."


def _index(diff: Difference) -> str:
    """Return where in an array the first wrong value is."""
    if not diff.size or not diff.index:
        return ""
    places = [":" if diff.kind == "sum" and i == diff.axis else str(n) for i, n in enumerate(diff.index)]
    return f"[{', '.join(places)}]"


def _expected(diff: Difference) -> str:
    """Return expected and got: numbers and strings as they are, if both are such, else what they are."""
    if diff.kind in ("value", "nan"):
        at = f"; they first differ at index {diff.index[0]}" if not diff.size and any(diff.index) else ""
        return f"expected {_short(diff.expected, diff)}, got {_short(diff.got, diff)}{at}"
    return f"expected {_outline(diff.expected)}, got {_outline(diff.got)}"


def _spread(diff: Difference) -> str:
    """Return how many values are wrong, and where all of them lie."""
    if diff.size < 2:
        return ""
    if diff.kind == "nan":
        return f"; {diff.wrong} of {diff.size} values are NaN (not a number)"
    where = f", all at {_axis(diff, diff.axis, diff.index[diff.axis])}" if diff.axis is not None else ""
    return f"; {diff.wrong} of {diff.size} values {'differs' if diff.wrong == 1 else 'differ'}{where}"


def _axis(diff: Difference, axis: int | None, position: int | None = None) -> str:
    """Return an axis by its letter, or by its number where it has none, with a position if one is given."""
    assert axis is not None
    letter = diff.axes[axis] if diff.axes and diff.axes[axis].isidentifier() else ""
    if letter:
        return f"the axis {letter}" if position is None else f"{letter} = {position}"
    name = "the first axis" if axis == 0 else "the last axis" if axis == len(diff.index) - 1 else f"axis {axis}"
    return name if position is None else f"index {position} of {name}"


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
        text, start = str(outline.value), max(0, diff.index[0] - BEFORE) if diff and diff.index else 0
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


def error(failure: Error) -> str:
    """Return the sentence about the error that stopped a replay or a cell."""
    if failure.kind == "not-written":
        name = failure.where.function if failure.where else ""
        return f"`{name}` is not written yet." if name.isidentifier() else "This part is not written yet."
    if failure.kind in ("missing-name", "unusable"):
        return _sentence(failure.message)
    message = devices.meaning(failure.message) or failure.message or "no message"
    where = failure.where
    line = f"line {where.line} of the cell, `{where.text}`" if where and where.text else ""
    if failure.inside == "cell":
        return f"Your code stops with {failure.type}{f' at {line}' if line else ''}: {_ended(message)}"
    if line:
        return f"At {line}, your code calls code of the check, which stops with {failure.type}: {_ended(message)}"
    return f"A call that the check makes stops with {failure.type}: {_ended(message)}"
