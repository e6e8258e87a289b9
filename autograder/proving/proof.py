"""Prove a TP: the solution passes, every mistake is caught and named, every variant passes, on many seeds.

What proves is what grades: answers go through `judging.judge.judged`, sentence and all. Answers that nobody computed,
the right ones to another draw, gain nothing. In the sandbox, the solution has full marks, the released notebook none.
"""

from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from dataclasses import dataclass, field

import nbformat

from tp.checking import compare
from tp.checking.replay import replay
from tp.checking.replies import Record

from .. import samples
from ..authoring.mistakes import Mistake, Variant
from ..authoring.oracle import Oracle, oracle
from ..course import Course
from ..judging.judge import Judge, judged, records_of
from ..judging.submission import Submission
from ..sandbox.terms import Terms, resolved
from ..sandbox.walls import require_bubblewrap
from ..words import counted
from . import standins

SEEDS_AT_ONCE = 5  # of one TP by one worker

Records = Sequence[Sequence[Record]]  # those of each check


@dataclass
class Proof:
    """What was proved of a TP; ``faults`` counts the seeds on which a sentence does not hold."""

    assignment: str
    seeds: int = 0
    mistakes: int = 0
    variants: int = 0
    faults: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        said = "all caught, named and passed" if not self.faults else counted(len(self.faults), "fault")
        lines = [f"{self.assignment}: {counted(self.mistakes, 'mistake')}, {counted(self.variants, 'variant')}, "
                 f"{counted(self.seeds, 'seed')}: {said}"]
        lines += [f"  {fault} (on {count} of {self.seeds} seeds)" for fault, count in self.faults.items()]
        return "\n".join(lines)


def prove(course: Course, assignment: str, seeds: Sequence[int] = range(3), device: str = "cpu") -> Proof:
    """What does not hold of a TP, with the number of seeds on which it does not."""
    truth = oracle(course, assignment)
    proof = Proof(assignment, len(seeds), len(truth.mistakes), len(truth.variants))
    proof.faults.update(set(standins.faults(truth)))
    for seed in seeds:
        for exercise in truth.source.exercises:
            _prove_exercise(truth, exercise, str(seed), device, proof)
    return proof


def prove_all(course: Course, assignments: Sequence[str], seeds: int, jobs: int, device: str = "cpu") -> list[Proof]:
    """The proofs of several TPs, side by side; ``SandboxError`` where no sandbox can be had."""
    require_bubblewrap()
    with ProcessPoolExecutor(jobs) as pool:
        pieces = [proof_pieces(pool, course, name, seeds, device) for name in assignments]
        return [joined([piece.result() for piece in own]) for own in pieces]


def proof_pieces(pool: Executor, course: Course, assignment: str, seeds: int, device: str) -> list[Future[Proof]]:
    """The proof of a TP in pieces that can be made side by side."""
    pieces = [pool.submit(prove, course, assignment, range(start, min(start + SEEDS_AT_ONCE, seeds)), device)
              for start in range(0, seeds, SEEDS_AT_ONCE)]
    return [*pieces, pool.submit(prove_in_sandbox, course, assignment, device)]


def prove_in_sandbox(course: Course, assignment: str, device: str = "cpu") -> Proof:
    """The solution has full marks, and the released notebook none."""
    proof = Proof(assignment)
    with Judge(course, Terms(resolved(device))) as judge:
        for what, cells, share in (("solution", samples.solved(course, assignment), 1), ("released notebook", {}, 0)):
            data = nbformat.writes(samples.notebook(course, assignment, cells)).encode()
            verdict = judge.grade(Submission(data, assignment), seed=what)
            if verdict.score != share * verdict.max_score or verdict.notes:
                noted = f" ({'; '.join(verdict.notes)})" if verdict.notes else ""
                proof.faults[f"the {what} has {verdict.score:g} of {verdict.max_score:g} points{noted}"] += 1
    return proof


def joined(proofs: list[Proof]) -> Proof:
    """One proof made of the pieces of a TP."""
    first = proofs[0]
    faults = sum((proof.faults for proof in proofs), Counter[str]())
    return Proof(first.assignment, sum(proof.seeds for proof in proofs), first.mistakes, first.variants, faults)


def _prove_exercise(truth: Oracle, exercise: str, seed: str, device: str, proof: Proof) -> None:
    records, again = records_of(truth, exercise, seed), records_of(truth, exercise, seed)
    for check, one, two in zip(truth.checks_of(exercise), records, again, strict=True):
        if any(compare.first_difference(a, b.answer) for a, b in zip(one, two, strict=True)):
            proof.faults[f"{exercise}/{check.name}: the solution answers differently on the same seed"] += 1
    right = judged(truth, exercise, records, [replay(record.ops, truth.namespace, device)
                                              for own in records for record in own])
    for result in right.checks:
        if not result.passed:
            proof.faults[f"{exercise}: the solution fails {result.check}: {result.message}"] += 1
    other = [record.answer for own in records_of(truth, exercise, f"other than {seed}") for record in own]
    gained = judged(truth, exercise, records, other).score
    if gained:
        proof.faults[f"{exercise}: the right answers to another draw gain {gained:g} points"] += 1
    alone = [[own[0].plain] for own in records]  # a listed mistake is caught by values, not by a law
    with truth.remembering({}):
        for mistake in truth.mistakes_of(exercise):
            _prove_mistake(truth, mistake, alone, device, proof)
    for variant in truth.variants:
        if variant.exercise == exercise:
            _prove_variant(truth, variant, records, device, proof)


def _prove_mistake(truth: Oracle, mistake: Mistake, records: Records, device: str, proof: Proof) -> None:
    replies = truth.replies(mistake, [own[0] for own in records], device)
    failed = [result for result in judged(truth, mistake.exercise, records, replies).checks if not result.passed]
    if not failed:
        proof.faults[f"{mistake.exercise}: the mistake {mistake.name} is not caught"] += 1
        return
    named = {result.mistake for result in failed if result.mistake}
    if named != {mistake.name}:
        names = ", ".join(sorted(named)) or "nothing"
        proof.faults[f"{mistake.exercise}: the mistake {mistake.name} is named as {names}"] += 1
    elif not any(mistake.says in result.message for result in failed):
        proof.faults[f"{mistake.exercise}: the sentence of the mistake {mistake.name} is not said"] += 1


def _prove_variant(truth: Oracle, variant: Variant, records: Records, device: str, proof: Proof) -> None:
    replies = truth.replies(variant, [record for own in records for record in own], device)
    for result in judged(truth, variant.exercise, records, replies).checks:
        if not result.passed:
            fault = f"{variant.exercise}: the variant {variant.name} fails {result.check}: {result.message}"
            proof.faults[fault] += 1
