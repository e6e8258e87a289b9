"""The findings of an exercise, each once, whichever checks have it. `messages` writes sentences from them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace

from . import compare
from .beside import Beside, beside
from .diagnosis import Recognised
from .difference import OF_PARTS, VALUES, Difference
from .place import Place
from .recorded import RecordedCheck, Reply


@dataclass(frozen=True)
class CheckResult:
    """One check: whether it passed, what it asks for, and if it failed the first difference, the fault that was
    recognised, and the part of an output that shows the difference, where values differ."""

    check: str
    passed: bool
    says: str
    difference: Difference | None = None  # None when it passed
    fault: Recognised | None = None
    beside: Beside | None = None
    place: Place | None = None  # where the answer first goes wrong, where that is known


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong: the checks that see it, in order, with what each of them sees."""

    results: tuple[CheckResult, ...]
    alone: bool = True  # nothing else is wrong

    @property
    def checks(self) -> tuple[str, ...]:
        """The names of the checks that see it."""
        return tuple(one.check for one in self.results)

    @property
    def differences(self) -> tuple[Difference, ...]:
        """The difference in each of its checks."""
        return tuple(one.difference for one in self.results if one.difference)

    @property
    def fault(self) -> Recognised | None:
        """The fault that it was recognised as."""
        return next((one.fault for one in self.results if one.fault), None)

    @property
    def relation(self) -> str | None:
        """The relation that is broken, where no fault was recognised."""
        first = self.differences[0]
        return None if self.fault or first.partly else first.relation

    @property
    def place(self) -> Place | None:
        """The place where the answer first goes wrong, from the first check with a known place."""
        return next((one.place for one in self.results if one.place), None)

    @property
    def beside(self) -> Beside | None:
        """Expected beside got, in the first check that can show it."""
        return next((one.beside for one in self.results if one.beside), None)


Answer = tuple[RecordedCheck, Reply, Recognised | None]  # what is recognised in the reply, if it is wrong


def result_of(check: str, says: str, answers: Iterable[Answer]) -> CheckResult:
    """Return the result of a check: the first of its records whose reply differs, if one does."""
    for record, reply, fault in answers:
        difference = compare.first_difference(record, reply)
        if difference:
            return CheckResult(check, False, says, difference, fault, beside(record, reply))
    return CheckResult(check, True, says)


def findings(results: Sequence[CheckResult]) -> tuple[Finding, ...]:
    """Return the checks that failed by what is wrong, in the order in which it is first seen."""
    groups: dict[Hashable, list[CheckResult]] = {}
    for one in results:
        if one.difference:
            mended = one.place if one.place and one.place.kind == "edit" else None  # one edit mends all
            cause = mended or (("fault", one.fault.name) if one.fault else _cause(one.difference, one.place))
            groups.setdefault(cause, []).append(one)
    return tuple(Finding(tuple(seen), len(groups) == 1) for seen in groups.values())


def limited(results: Sequence[CheckResult]) -> list[CheckResult]:
    """Return results in which no part is said to be right, as its values or sizes, where a check fails without them."""
    if all(one.difference is None or one.difference.relation for one in results):
        return list(results)
    return [replace(one, difference=replace(one.difference, partly=True))
            if one.difference and one.difference.relation in OF_PARTS else one for one in results]


def _cause(seen: Difference, place: Place | None) -> Hashable:
    """Return what two checks with the same finding have in common, where no fault is recognised."""
    if seen.relation:
        return "relation", seen.relation
    return ("values", place and (place.cell, place.span)) if seen.kind in VALUES else essence(seen)


def essence(seen: Difference) -> Hashable:
    """Return what is to be said once: the same exception at the same line is one thing, whatever its message."""
    if seen.kind == "raised" and seen.error:
        return seen.error.type, seen.line, seen.error.inside
    return seen
