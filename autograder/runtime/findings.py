"""What is wrong with an exercise, each thing said once, whichever checks see it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from .compare import RELATIONS

_STOPS = re.compile(r"Your code stops with \w+( at line \d+)?")


@dataclass(frozen=True)
class Failed:
    """A check that did not pass: the difference, and what a teacher says of the fault where it was recognised."""

    check: str
    difference: str
    says: str | None = None


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong: the sentence, the checks that see it, and what each of them sees where it says more."""

    says: str
    checks: tuple[str, ...]
    values: tuple[tuple[str, str], ...] = ()


def findings(failed: Sequence[Failed]) -> tuple[Finding, ...]:
    """The failed checks by what is wrong, in the order in which it is first seen."""
    groups: dict[str, list[Failed]] = {}
    for one in failed:
        groups.setdefault(_cause(one), []).append(one)
    return tuple(_finding(cause, seen) for cause, seen in groups.items())


def _cause(one: Failed) -> str:
    """What two checks that see the same thing have in common."""
    if one.says:
        return one.says
    relation = next((sentence for sentence in RELATIONS.values() if one.difference.startswith(sentence)), None)
    if relation:
        return relation
    stops = _STOPS.match(one.difference)
    if stops:
        return stops[0]
    return "values" if one.difference.startswith("`") else one.difference


def _finding(cause: str, seen: Sequence[Failed]) -> Finding:
    names = tuple(one.check for one in seen)
    if cause == seen[0].says or cause in RELATIONS.values():
        return Finding(cause, names, _values([(one.check, one.difference.removeprefix(cause).strip()) for one in seen]))
    told = _values([(one.check, one.difference) for one in seen])
    return Finding(seen[0].difference, names, told if len(told) > 1 else ())


def _values(told: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """What is seen, once, behind all the checks that see it."""
    same: dict[str, list[str]] = {}
    for check, said in told:
        same.setdefault(said, []).append(check)
    return tuple((", ".join(checks), said) for said, checks in same.items() if said)
