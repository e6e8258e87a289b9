"""Measure which fault names are given to listed faults, to each fault as if it were not listed, and to mutants.

A wrong name sends a student to look in the wrong place; it is worse than none, and should not occur.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal, get_args

from ..course import Course
from ..judging.judge import judged, records_of
from ..model.faults import Fault, Variant
from ..model.oracle import Oracle, oracle
from ..runtime import compare, messages
from ..runtime.difference import BESIDE_VALUES
from ..runtime.findings import CheckResult
from ..runtime.recorded import RecordedCheck, Reply
from .mutants import Mutant, mutants_of
from .mutation import SECONDS, Stuck, at_most
from .probing import probe

MUTANTS = 12  # of each exercise
OTHERS = 2  # further instances on which a name has to hold

Kind = Literal["faults", "unlisted faults", "mutants"]
Name = Literal["right", "a relation", "a difference", "wrong"]
KINDS: tuple[Kind, ...] = get_args(Kind)
NAMES: tuple[Name, ...] = get_args(Name)


@dataclass(frozen=True)
class Given:
    """The name given to one wrong answer, and the sentences that a student reads."""

    kind: Kind
    exercise: str
    what: str  # the fault's name, or the mutant's change
    name: Name
    called: tuple[str, ...]
    sentences: tuple[str, ...]


@dataclass
class Confusion:
    """The names that were given in a session."""

    assignment: str
    given: list[Given]

    @property
    def wrong(self) -> list[Given]:
        """Those that mislead."""
        return [one for one in self.given if one.name == "wrong"]

    def count(self, kind: Kind) -> Counter[str]:
        """Return how many of a kind were called how."""
        return Counter(one.name for one in self.given if one.kind == kind)


def confusion(course: Course, assignment: str) -> Confusion:
    """Grade every fault, each of them once more as if it were not listed, and some mutants of each exercise."""
    truth = oracle(course, assignment)
    return Confusion(assignment, [one for exercise in truth.source.exercises for one in names_given(truth, exercise)])


def names_given(truth: Oracle, exercise: str, seed: str = "names", mutants: int = MUTANTS) -> Iterator[Given]:
    """Return how the faults of one exercise are called."""
    naming = _Naming(truth, exercise, seed)
    for fault in truth.faults_of(exercise):
        yield naming.of_fault(fault)
        yield naming.of_unlisted(fault)
    yield from naming.of_mutants(mutants)


class _Naming:
    """The names that wrong answers to one exercise are given, on one instance; and whether they hold on others."""

    def __init__(self, truth: Oracle, exercise: str, seed: str):
        self.truth, self.exercise = truth, exercise
        self.records = records_of(truth, exercise, seed)
        self.others = [[own[0].plain for own in records_of(truth, exercise, f"{seed} again {number}")]
                       for number in range(OTHERS)]
        self.random = Random(f"{seed} {exercise}")

    def of_fault(self, fault: Fault) -> Given:
        failed = self._failed(self.truth.replies(fault, self._flat()))
        called = _called(failed)
        name: Name = "right" if called == {fault.name} else "wrong" if called else self._none(failed)
        return Given("faults", self.exercise, fault.name, name, *_answers(failed))

    def of_unlisted(self, fault: Fault) -> Given:
        """Name a fault whose own name cannot be given: after a part of it, or after one that answers alike."""
        failed = self._failed(self.truth.replies(fault, self._flat()), unlisted=fault)
        name = self._name(failed, fault)
        return Given("unlisted faults", self.exercise, fault.name, name, *_answers(failed))

    def of_mutants(self, count: int) -> list[Given]:
        cell = self.truth.source.cell("exercise", self.exercise)
        found = mutants_of(cell, probe(self.truth, cell, self._flat()))
        given = [self._of_mutant(one) for one in self.random.sample(found, min(count, len(found)))]
        return [one for one in given if one]

    def _of_mutant(self, mutant: Mutant) -> Given | None:
        version = Variant(self.exercise, "mutant", source=mutant.source)
        try:
            with at_most(SECONDS):
                failed = self._failed(self.truth.replies(version, self._flat()))
                if not failed:
                    return None
                return Given("mutants", self.exercise, mutant.change, self._name(failed, version), *_answers(failed))
        except Stuck:
            return None

    def _flat(self) -> list[RecordedCheck]:
        return [record for own in self.records for record in own]

    def _failed(self, replies: Sequence[Reply], unlisted: Fault | None = None) -> list[CheckResult]:
        result = judged(self.truth, self.exercise, self.records, replies, unlisted=unlisted)
        return [check for check in result.checks if not check.passed]

    def _name(self, failed: Sequence[CheckResult], version: Fault | Variant) -> Name:
        called = _called(failed)
        if not called:
            return self._none(failed)
        named = [one for one in self.truth.faults_of(self.exercise) if one.name in called]
        return "right" if all(self._holds(one, version) for one in named) else "wrong"

    def _holds(self, fault: Fault, version: Fault | Variant) -> bool:
        """Return whether the answer has all differences that the fault shows on other instances."""
        for records in self.others:
            theirs, own = self.truth.replies(fault, records), self.truth.replies(version, records)
            for record, one, other in zip(records, theirs, own, strict=True):
                if compare.plain_difference(record, one) and not compare.same(record, one, other):
                    return False
        return True

    def _none(self, failed: Sequence[CheckResult]) -> Name:
        differences = [one.difference for one in failed if one.difference]
        return "a relation" if all(one.relation or one.kind in BESIDE_VALUES for one in differences) else "a difference"


def _called(failed: Sequence[CheckResult]) -> set[str]:
    return {one.fault.name for one in failed if one.fault}


def _answers(failed: Sequence[CheckResult]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return tuple(sorted(_called(failed))), tuple(dict.fromkeys(map(messages.result, failed)))
