"""Measure which fault names are given to each listed fault as if it were not listed, and to mutants.

A wrong name sends a student to look in the wrong place; it is worse than none, and should not occur.
"""

import contextlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal, get_args

from ..course import Course
from ..judging.judge import grade_exercise, records_of
from ..model.faults import Fault, Version
from ..model.oracle import Oracle, load_oracle
from ..runtime import compare
from ..runtime.difference import NON_VALUE_KINDS
from ..runtime.findings import CheckResult
from ..runtime.recorded import RecordedCheck
from . import AuditResult
from .mutation import MUTANT_SECONDS, MutantTimeout, at_most
from .mutation_operators import generate_mutants
from .probing import probe

MUTANTS = 12  # of each exercise
FURTHER = 2  # instances on which a name has to hold, too

AnswerKind = Literal["unlisted faults", "mutants"]
Diagnosis = Literal["right", "a relation", "a difference", "wrong"]
KINDS: tuple[AnswerKind, ...] = get_args(AnswerKind)
DIAGNOSES: tuple[Diagnosis, ...] = get_args(Diagnosis)


@dataclass(frozen=True)
class DiagnosedAnswer:
    """The names given to one wrong answer."""

    kind: AnswerKind
    exercise: str
    version: str  # the fault's name, or the mutant's change
    diagnosis: Diagnosis
    names: tuple[str, ...]


def audit_misdiagnoses(course: Course, session: str) -> AuditResult:
    """Grade every fault as if it were not listed, and some mutants of each exercise."""
    oracle = load_oracle(course, session)
    return result_of([answer for exercise in oracle.source.exercises for answer in diagnosed_answers(oracle, exercise)])


def result_of(answers: Sequence[DiagnosedAnswer]) -> AuditResult:
    """Return in words and numbers how the answers of each kind are named, and which names mislead."""
    counts = Counter((answer.kind, answer.diagnosis) for answer in answers)
    wrong = [f"{answer.exercise}: {answer.version} is called {', '.join(answer.names)}"
             for answer in answers if answer.diagnosis == "wrong"]
    lines = [f"names of {kind}: {', '.join(f'{diagnosis} {counts[kind, diagnosis]}' for diagnosis in DIAGNOSES)}"
             for kind in KINDS]
    return AuditResult(lines, wrong, {"misdiagnosed": len(wrong)})


def diagnosed_answers(oracle: Oracle, exercise: str, seed: str = "names",
                      mutants: int = MUTANTS) -> Iterator[DiagnosedAnswer]:
    """Yield the names given on one instance to the unlisted faults of an exercise, and to some of its mutants."""
    records = records_of(oracle, exercise, seed)
    every_record = [record for of_check in records for record in of_check]
    further = [[of_check[0].without_relations for of_check in records_of(oracle, exercise, f"{seed} again {number}")]
               for number in range(FURTHER)]

    def named(kind: AnswerKind, name: str, version: Version) -> Iterator[DiagnosedAnswer]:
        replies, unlisted = oracle.replay(version, every_record), version if isinstance(version, Fault) else None
        failed = grade_exercise(oracle, exercise, records, replies, unlisted=unlisted).failed
        given = {result.fault.name for result in failed if result.fault}
        holds = all(_holds(oracle, fault, version, further)
                    for fault in oracle.faults_of(exercise) if fault.name in given)
        diagnosis: Diagnosis = _without_name(failed) if not given else "right" if holds else "wrong"
        if failed:
            yield DiagnosedAnswer(kind, exercise, name, diagnosis, tuple(sorted(given)))

    for fault in oracle.faults_of(exercise):
        yield from named("unlisted faults", fault.name, fault)
    cell = oracle.source.cell("exercise", exercise)
    written = generate_mutants(cell, probe(oracle, cell, every_record))
    for mutant in Random(f"{seed} {exercise}").sample(written, min(mutants, len(written))):
        answers: list[DiagnosedAnswer] = []
        with contextlib.suppress(MutantTimeout), at_most(MUTANT_SECONDS):
            answers += named("mutants", mutant.change, Version(exercise, "mutant", source=mutant.source))
        yield from answers


def _holds(oracle: Oracle, fault: Fault, version: Version, further: Sequence[Sequence[RecordedCheck]]) -> bool:
    """Return whether a version has all differences that a fault shows on other instances."""
    for records in further:
        replies = zip(oracle.replay(fault, records), oracle.replay(version, records), strict=True)
        for record, (of_fault, of_version) in zip(records, replies, strict=True):
            if compare.check_difference(record, of_fault) and not compare.same(record, of_fault, of_version):
                return False
    return True


def _without_name(failed: Sequence[CheckResult]) -> Diagnosis:
    differences = [result.difference for result in failed if result.difference]
    beside_values = all(difference.relation or difference.kind in NON_VALUE_KINDS for difference in differences)
    return "a relation" if beside_values else "a difference"
