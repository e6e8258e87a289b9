"""Write the sentences about findings and places. No code reads sentences back."""

from __future__ import annotations

import textwrap
from collections.abc import Hashable, Sequence

from .difference import Difference
from .difference_messages import RELATION_SENTENCES, difference, value_at_place, without_relation
from .findings import CheckResult, Finding, findings, message_key
from .place import EditKind, Location, Place
from .recorded import ErrorLocation

# Checks, and what several of them see


def result(check: CheckResult) -> str:
    """Return what a check asks for if it passes, else the recognised fault and the difference."""
    if check.difference is None:
        return check.description
    sentence = difference(check.difference)
    if check.fault:
        return check.fault.feedback if check.difference.hides_instance else f"{check.fault.feedback} ({sentence})"
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
    check = f"In `{finding.checks[0]}`: " if first.relation else ""  # the others break another one, or none
    sentence = f"{check}{difference(first)} {_unused(finding)}".strip()
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
    say = without_relation if finding.relation else difference
    stated: set[Hashable] = set()
    if not finding.fault and not finding.relation:
        stated |= {message_key(finding.differences[0]), say(finding.differences[0])}
    pairs = []
    for check, diff in zip(finding.results, finding.differences, strict=True):
        known = {message_key(diff), say(diff)}
        silent = known & stated or (finding.fault and diff.hides_instance)
        stated |= known
        pairs.append((check.check, check.description if silent else f"{check.description} {say(diff)}".strip()))
    return pairs


EDITED: dict[EditKind, str] = {
    "edit": "With one change here, all checks pass",
    "move": "With this statement in another place, all checks pass",
    "drop": "Without this statement, all checks pass",
}


def place(location: Place, graded: bool = False) -> str:
    """Say where the mistake is, with the values there.

    ``graded`` says that it stands beside numbers of other inputs, which the self-check's are not.
    """
    if location.kind == "no effect":
        return f"Nothing is called or stored here: {_source_line(location)}."
    if location.kind != "value":
        return f"{EDITED[location.kind]} (a change elsewhere may make them pass, too): {_source_line(location)}."
    value_name = "the first value" if location.second else "that value"
    subject = f"In the self-check, {value_name}" if graded else value_name.capitalize()
    values = value_at_place(location.difference, subject)
    if location.second:
        return ("With a right answer's values in two places, a failing check passes: "
                f"{_source_line(location)}, and {_source_line(location.second)}.{values} "
                "Look at both, and at what goes into them.")
    return ("With a right answer's value here, a failing check passes: "
            f"{_source_line(location)}.{values} Look at it, and at what goes into it.")


def _source_line(location: Place | Location) -> str:
    first, _, last, _ = location.span
    lines = f"line {first}" if first == last else f"lines {first} to {last}"
    return f"`{location.text}`, {lines}" + (" of a cell of your own" if location.cell else "")


def stopped(seconds: float, check: str, where: ErrorLocation | None, exercise: str) -> str:
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
