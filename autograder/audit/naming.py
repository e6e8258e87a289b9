"""Measure which fault names are given to listed faults, to each fault as if it were not listed, and to mutants.

A wrong name sends a student to look in the wrong place; it is worse than none, and should not occur.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal, get_args

from ..course import Course
from ..judging.judge import grade_exercise, records_of
from ..model.faults import Fault, Variant
from ..model.oracle import Oracle, load_oracle
from ..runtime import compare, messages
from ..runtime.difference import BESIDE_VALUES
from ..runtime.findings import CheckResult
from ..runtime.recorded import RecordedCheck, Reply
from .mutants import Mutant, mutants_of
from .mutation import SECONDS, Stuck, at_most
from .probing import probe
from .result import AuditResult

MUTANTS = 12  # of each exercise
FURTHER = 2  # instances on which a name has to hold, too

AnswerKind = Literal["faults", "unlisted faults", "mutants"]
Naming = Literal["right", "a relation", "a difference", "wrong"]
KINDS: tuple[AnswerKind, ...] = get_args(AnswerKind)
NAMINGS: tuple[Naming, ...] = get_args(Naming)


@dataclass(frozen=True)
class NamedAnswer:
    """The name given to one wrong answer, and the sentences that a student reads."""

    kind: AnswerKind
    exercise: str
    version: str  # the fault's name, or the mutant's change
    naming: Naming
    names: tuple[str, ...]
    sentences: tuple[str, ...]


def names(course: Course, assignment: str) -> AuditResult:
    """Grade every fault, each of them once more as if it were not listed, and some mutants of each exercise."""
    oracle = load_oracle(course, assignment)
    return result_of([answer for exercise in oracle.source.exercises for answer in named_answers(oracle, exercise)])


def result_of(answers: Sequence[NamedAnswer]) -> AuditResult:
    """Return in words and numbers how the answers of each kind are named, and which names mislead."""
    counts = Counter((answer.kind, answer.naming) for answer in answers)
    wrong = [f"{answer.exercise}: {answer.version} is called {', '.join(answer.names)}"
             for answer in answers if answer.naming == "wrong"]
    lines = [f"names of {kind}: {', '.join(f'{naming} {counts[kind, naming]}' for naming in NAMINGS)}"
             for kind in KINDS]
    return AuditResult(lines, wrong, {"named wrongly": len(wrong)})


def named_answers(oracle: Oracle, exercise: str, seed: str = "names",
                  mutants: int = MUTANTS) -> Iterator[NamedAnswer]:
    """Yield the names given to the faults of one exercise, listed and not, and to some of its mutants."""
    namer = _Namer(oracle, exercise, seed)
    for fault in oracle.faults_of(exercise):
        yield namer.of_fault(fault)
        yield namer.of_unlisted(fault)
    yield from namer.of_mutants(mutants)


class _Namer:
    """The names that wrong answers to one exercise are given, on one instance; and whether they hold on others."""

    def __init__(self, oracle: Oracle, exercise: str, seed: str):
        self.oracle, self.exercise = oracle, exercise
        self.records = records_of(oracle, exercise, seed)
        again = [records_of(oracle, exercise, f"{seed} again {number}") for number in range(FURTHER)]
        self.further = [[of_check[0].without_relations for of_check in records] for records in again]
        self.random = Random(f"{seed} {exercise}")

    def of_fault(self, fault: Fault) -> NamedAnswer:
        failed = self._failed(self.oracle.replies(fault, self._flat()))
        names = _names(failed)
        naming: Naming = "right" if names == {fault.name} else "wrong" if names else _without_name(failed)
        return NamedAnswer("faults", self.exercise, fault.name, naming, *_texts(failed))

    def of_unlisted(self, fault: Fault) -> NamedAnswer:
        """Name a fault whose own name cannot be given: after a part of it, or after one that answers alike."""
        failed = self._failed(self.oracle.replies(fault, self._flat()), unlisted=fault)
        return NamedAnswer("unlisted faults", self.exercise, fault.name, self._naming(failed, fault), *_texts(failed))

    def of_mutants(self, count: int) -> list[NamedAnswer]:
        cell = self.oracle.source.cell("exercise", self.exercise)
        mutants = mutants_of(cell, probe(self.oracle, cell, self._flat()))
        answers = [self._of_mutant(mutant) for mutant in self.random.sample(mutants, min(count, len(mutants)))]
        return [answer for answer in answers if answer]

    def _of_mutant(self, mutant: Mutant) -> NamedAnswer | None:
        version = Variant(self.exercise, "mutant", source=mutant.source)
        try:
            with at_most(SECONDS):
                failed = self._failed(self.oracle.replies(version, self._flat()))
                if not failed:
                    return None
                return NamedAnswer("mutants", self.exercise, mutant.change, self._naming(failed, version),
                                   *_texts(failed))
        except Stuck:
            return None

    def _flat(self) -> list[RecordedCheck]:
        return [record for records in self.records for record in records]

    def _failed(self, replies: Sequence[Reply], unlisted: Fault | None = None) -> list[CheckResult]:
        return grade_exercise(self.oracle, self.exercise, self.records, replies, unlisted=unlisted).failed

    def _naming(self, failed: Sequence[CheckResult], version: Fault | Variant) -> Naming:
        names = _names(failed)
        if not names:
            return _without_name(failed)
        named = [fault for fault in self.oracle.faults_of(self.exercise) if fault.name in names]
        return "right" if all(self._holds(fault, version) for fault in named) else "wrong"

    def _holds(self, fault: Fault, version: Fault | Variant) -> bool:
        """Return whether the answer has all differences that the fault shows on other instances."""
        for records in self.further:
            replies = zip(self.oracle.replies(fault, records), self.oracle.replies(version, records), strict=True)
            for record, (of_fault, of_version) in zip(records, replies, strict=True):
                if compare.check_difference(record, of_fault) and not compare.same(record, of_fault, of_version):
                    return False
        return True


def _without_name(failed: Sequence[CheckResult]) -> Naming:
    differences = [result.difference for result in failed if result.difference]
    beside_values = all(difference.relation or difference.kind in BESIDE_VALUES for difference in differences)
    return "a relation" if beside_values else "a difference"


def _names(failed: Sequence[CheckResult]) -> set[str]:
    return {result.fault.name for result in failed if result.fault}


def _texts(failed: Sequence[CheckResult]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return tuple(sorted(_names(failed))), tuple(dict.fromkeys(map(messages.result, failed)))
