"""Audit of the points for constant answers: those that were right on some other instance."""

from collections.abc import Sequence

from ..course import Course
from ..judging.judge import grade_exercise, records_of
from ..model.oracle import Oracle, load_oracle
from ..runtime import compare
from ..runtime.recorded import RecordedCheck
from . import AuditResult

CONSTANTS = 5  # instances from which the best constant answers are put together


def audit_constants(course: Course, session: str) -> AuditResult:
    """Measure the points for the best answers that do not depend on the instance."""
    oracle = load_oracle(course, session)
    exercises = oracle.source.exercises
    points = sum(best_constants(oracle, name) for name in exercises)
    most = sum(oracle.source.points(name) for name in exercises)
    return AuditResult([f"constant answers: {points:g} of {most:g} points for the best of them"],
                       [f"constant answers gain {points:g} points"] if points else [], {"constants": points})


def best_constants(oracle: Oracle, exercise: str) -> float:
    """Return the points for answers that were right on some other instance, the best for each check."""
    records = records_of(oracle, exercise, "asked")
    instances = [records_of(oracle, exercise, f"constant {number}") for number in range(CONSTANTS)]
    best = [max(candidates, key=lambda others: _agrees(of_check, others))
            for of_check, *candidates in zip(records, *instances, strict=True)]
    replies = [record.expected for others in best for record in others]
    return grade_exercise(oracle, exercise, records, replies).points


def _agrees(records: Sequence[RecordedCheck], others: Sequence[RecordedCheck]) -> bool:
    """Return whether the right answers to other instances of a check are right on this one too."""
    return all(compare.first_difference(record, other.expected) is None
               for record, other in zip(records, others, strict=True))
