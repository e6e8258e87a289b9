"""Group the results of an exercise's checks into findings, one for each cause. `messages` writes the sentences."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace

from . import compare
from .diagnosis import RecognisedFault
from .difference import NON_VALUE_KINDS, VALUE_KINDS, Difference
from .pattern import output_of, with_pattern
from .place import Place
from .recorded import RecordedCheck, Relation, Reply
from .side_by_side import SideBySide, side_by_side_of
from .unused_stubs import unused_stubs


@dataclass(frozen=True)
class CheckResult:
    """One check: whether it passed, what it asks for, and if it failed the first difference, the fault that was
    recognised, and the part of an output that shows the difference, where values differ."""

    check: str
    passed: bool
    description: str
    difference: Difference | None = None  # None when it passed
    fault: RecognisedFault | None = None
    side_by_side: SideBySide | None = None
    place: Place | None = None  # where the answer first goes wrong, where that is known

    def without_instance(self) -> CheckResult:
        """Return it without anything of the instance, for where a submission may be judged any number of times."""
        place = self.place and replace(self.place, difference=None)
        difference = self.difference and self.difference.without_instance()
        return replace(self, difference=difference, side_by_side=None, place=place)


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong: the results of the checks that fail because of it, in order."""

    results: tuple[CheckResult, ...]
    is_only: bool = True  # nothing else is wrong

    @property
    def checks(self) -> tuple[str, ...]:
        """The names of the checks that fail because of it."""
        return tuple(result.check for result in self.results)

    @property
    def differences(self) -> tuple[Difference, ...]:
        """The difference in each of its checks."""
        return tuple(result.difference for result in self.results if result.difference)

    @property
    def fault(self) -> RecognisedFault | None:
        """The fault that it was recognised as."""
        return next((result.fault for result in self.results if result.fault), None)

    @property
    def relation(self) -> Relation | None:
        """The relation that is broken in all of its checks, where no fault was recognised."""
        relations = {diff.relation for diff in self.differences}
        return None if self.fault or len(relations) > 1 else relations.pop()

    @property
    def place(self) -> Place | None:
        """The place where the answer first goes wrong, from the first check with a known place."""
        return next((result.place for result in self.results if result.place), None)

    @property
    def side_by_side(self) -> SideBySide | None:
        """Expected beside got, in the first check that can show it."""
        return next((result.side_by_side for result in self.results if result.side_by_side), None)


def result_of(check: str, description: str,
              replies: Iterable[tuple[RecordedCheck, Reply, RecognisedFault | None]],
              cells: Sequence[str] = ()) -> CheckResult:
    """Return the result of a check: the first difference of its replies from its records, where there is one.

    With each reply comes the fault that is recognised in it, if it is wrong. ``cells`` are those of the notebook.
    """
    for record, reply, fault in replies:
        difference = compare.first_difference(record, reply)
        if difference:
            output = output_of(difference, record, reply)
            described = with_pattern(difference, output, record, reply)
            if difference.is_locatable:
                described = replace(described, unused=unused_stubs(record, cells))
            return CheckResult(check, False, description, described, fault, side_by_side_of(output, record, reply))
    return CheckResult(check, True, description)


def findings(results: Sequence[CheckResult]) -> tuple[Finding, ...]:
    """Return the results that failed, grouped by cause, in the order of their first checks.

    Of one cause those come first whose own values are wrong: that some are right is said of no others. Where a check
    fails on its own inputs, the sizes of others are no cause.
    """
    plain = [result.difference.kind for result in results if result.difference and not result.difference.relation]
    if {*plain} - {*NON_VALUE_KINDS, "constant", "not-checked"}:
        results = [_without_sizes(result) for result in results]
    groups: dict[Hashable, tuple[list[CheckResult], list[CheckResult]]] = {}
    for result in results:
        if result.difference:
            edit = result.place if result.place and result.place.is_edit else None  # one edit mends all
            cause = edit or (("fault", result.fault.name) if result.fault else _cause(result.difference, result.place))
            has_right_values = bool(result.difference.relation) or result.difference.kind in NON_VALUE_KINDS
            groups.setdefault(cause, ([], []))[has_right_values].append(result)
    return tuple(Finding((*wrong, *right), len(groups) == 1) for wrong, right in groups.values())


def _without_sizes(result: CheckResult) -> CheckResult:
    """Return the result of a check that fails where some sizes are equal as one that fails on other inputs."""
    if result.difference is None or result.difference.relation != "equal sizes":
        return result
    return replace(result, difference=replace(result.difference, relation="other inputs"))


def fail_constant_checks(results: Sequence[CheckResult], constant: Iterable[bool]) -> list[CheckResult]:
    """Return the results without points for checks that a constant passes, unless a check that varies passes.

    ``constant`` is asked as far as is needed, and not where all pass.
    """
    passed = [result.passed for result in results]
    if all(passed) or any(good and not alike for good, alike in zip(passed, constant, strict=True)):
        return [*results]
    return [replace(result, passed=False, difference=Difference("constant")) if result.passed else result
            for result in results]


def share_passed(results: Sequence[CheckResult], weights: Sequence[float]) -> float:
    """Return the share of an exercise's points that the results of all its checks give, each with its weight."""
    return sum(weight for weight, result in zip(weights, results, strict=True) if result.passed) / sum(weights)


def _cause(difference: Difference, place: Place | None) -> Hashable:
    """Return a key that is equal for differences of one cause, where no fault is recognised."""
    if difference.relation:
        return "relation", difference.relation
    return ("values", place and (place.cell, place.span)) if difference.kind in VALUE_KINDS else message_key(difference)


def message_key(difference: Difference) -> Hashable:
    """Return a key that is equal for differences of which one sentence is enough.

    The same exception at the same line is one, whatever its message.
    """
    if difference.kind == "raised" and difference.error:
        return difference.error.type, difference.line, difference.error.origin
    return difference
