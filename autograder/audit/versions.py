"""Audit a session: the solution passes, every fault is caught and named, every variant passes, on many seeds.

Answers are judged by `judging.judge.grade_exercise`, as a student's are. The right answers to another instance gain
nothing. In the sandbox, the solution has full marks, and the released notebook none.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field

import nbformat

from ..course import Course
from ..judging.judge import Judge, check_seed, grade_exercise, records_of
from ..judging.submission import Submission
from ..model.oracle import Oracle, load_oracle
from ..publish import notebooks
from ..runtime import compare, messages
from ..runtime.recorded import RecordedCheck, Reply
from ..runtime.replay import replay
from ..sandbox.options import Options, resolved
from ..text import counted
from . import AuditResult, stubs

SEEDS_AT_ONCE = 5  # of one session by one worker
ATTEMPTS = 12  # to draw an instance with other inputs: one in ten is the same where a check has fewest

Records = Sequence[Sequence[RecordedCheck]]  # those of each check


@dataclass
class Audit:
    """The audit of a session's versions; ``problems`` counts the seeds with each problem."""

    seeds: int = 0
    faults: int = 0
    variants: int = 0
    problems: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)

    def result(self) -> AuditResult:
        """Return the outcome in words and numbers."""
        right = "all caught, named and passed" if self.faults or self.variants else "the solution passes"
        found = counted(len(self.problems), "problem") if self.problems else right
        line = f"{counted(self.faults, 'fault')}, {counted(self.variants, 'variant')}, {counted(self.seeds, 'seed')}"
        problems = [f"{problem} (on {count} of {self.seeds} seeds)" for problem, count in self.problems.items()]
        return AuditResult([f"{line}: {found}"], problems, {"faults": self.faults, "variants": self.variants},
                           self.notes)


def audit(course: Course, assignment: str, seeds: Sequence[int] = range(3), device: str = "cpu") -> Audit:
    """Audit a session on these seeds, outside the sandbox."""
    oracle = load_oracle(course, assignment)
    on_device = oracle if device == oracle.device else Oracle(oracle.source, device)
    audited = Audit(len(seeds), len(oracle.faults), len(oracle.variants), notes=oracle.notes)
    audited.problems.update({problem: len(seeds) for problem in stubs.problems(oracle)})
    for seed in seeds:
        for exercise in oracle.source.exercises:
            audited.problems.update(_problems(oracle, on_device, exercise, str(seed)))
    return audited


def audit_pieces(pool: Executor, course: Course, assignment: str, seeds: int, device: str) -> list[Future[Audit]]:
    """Return the audit of a session in pieces that can be made side by side."""
    pieces = [pool.submit(audit, course, assignment, range(start, min(start + SEEDS_AT_ONCE, seeds)), device)
              for start in range(0, seeds, SEEDS_AT_ONCE)]
    return [*pieces, pool.submit(audit_in_sandbox, course, assignment, device)]


def audit_in_sandbox(course: Course, assignment: str, device: str = "cpu") -> Audit:
    """Check that the solution has full marks, and the released notebook none."""
    audited = Audit()
    with Judge(course, Options(resolved(device))) as judge:
        for name, cells, share in (("solution", notebooks.solved(course, assignment), 1), ("released notebook", {}, 0)):
            data = nbformat.writes(notebooks.filled(course, assignment, cells)).encode()
            verdict = judge.judge(Submission(data, assignment), name)
            if verdict.score != share * verdict.max_score or verdict.notes:
                noted = f" ({'; '.join(verdict.notes)})" if verdict.notes else ""
                audited.problems[f"the {name} has {verdict.score:g} of {verdict.max_score:g} points{noted}"] += 1
    return audited


def joined(audits: list[Audit]) -> Audit:
    """Join the pieces of a session's audit."""
    first = audits[0]
    problems = sum((audited.problems for audited in audits), Counter[str]())
    seeds = sum(audited.seeds for audited in audits)
    return Audit(seeds, first.faults, first.variants, problems, first.notes)


def _problems(oracle: Oracle, on_device: Oracle, exercise: str, seed: str) -> Iterator[str]:
    """Yield what is wrong with the solution, the faults and the variants of an exercise on one instance.

    ``on_device`` computes the answers, on the device that is audited; ``oracle`` judges them.
    """
    records = records_of(oracle, exercise, seed, on_device.device)
    every_record = [record for of_check in records for record in of_check]
    for check, of_check in zip(oracle.checks_of(exercise), records, strict=True):
        again = oracle.recorder.record_without_relations(check, check_seed(seed, exercise, check.name))
        if compare.check_difference(again, of_check[0].without_relations.expected):
            yield f"{exercise}/{check.name}: the solution answers differently on the same seed"
    replies = [replay(record.ops, on_device.namespace, on_device.device) for record in every_record]
    for result in grade_exercise(oracle, exercise, records, replies).failed:
        yield f"{exercise}: the solution fails {result.check}: {messages.result(result)}"
    gained = grade_exercise(oracle, exercise, records, _answers_to_another(oracle, exercise, seed, records)).score
    if gained:
        yield f"{exercise}: the right answers to another instance gain {gained:g} points"
    # a listed fault is caught by values, not by a relation
    plain = [[of_check[0].without_relations] for of_check in records]
    for fault in oracle.faults_of(exercise):
        replies = on_device.replies(fault, [of_check[0] for of_check in plain])
        failed = grade_exercise(oracle, exercise, plain, replies).failed
        named = {result.fault.name for result in failed if result.fault}
        if not failed:
            yield f"{exercise}: the fault {fault.name} is not caught"
        elif named != {fault.name}:
            yield f"{exercise}: the fault {fault.name} is named as {', '.join(sorted(named)) or 'nothing'}"
    for variant in oracle.variants_of(exercise):
        for result in grade_exercise(oracle, exercise, records, on_device.replies(variant, every_record)).failed:
            yield f"{exercise}: the variant {variant.name} fails {result.check}: {messages.result(result)}"


def _answers_to_another(oracle: Oracle, exercise: str, seed: str, records: Records) -> list[Reply]:
    """Return the right answers to another instance, for each check.

    A check with few inputs may have the same ones again. One whose answers are the same on most instances is known to
    be constant, and `grade_exercise` gives no points for it alone.
    """
    answers: list[Reply] = []
    for check, of_check in zip(oracle.checks_of(exercise), records, strict=True):
        for attempt in range(ATTEMPTS):
            others = oracle.records(check, check_seed(f"other than {seed}, {attempt}", exercise, check.name))
            differs = any(compare.first_difference(record, other.expected)
                          for record, other in zip(of_check, others, strict=True))
            if differs or oracle.recorder.is_constant(check):
                break
        answers += [record.expected for record in others]
    return answers
