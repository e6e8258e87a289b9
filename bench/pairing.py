"""Measure whether two listed faults at once are both named."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from random import Random

from autograder.audit.mutation import MUTANT_SECONDS, MutantTimeout, at_most
from autograder.course import Course
from autograder.judging.judge import records_of
from autograder.model import faults
from autograder.model.faults import FaultPair
from autograder.model.oracle import Oracle, load_oracle
from autograder.runtime import compare
from autograder.runtime.recorded import RecordedCheck

PAIRS = 4  # of each exercise
BOTH, ONE, NEITHER, WRONG = "both named", "one named", "none named", "another named"


@dataclass
class Paired:
    """The number of pairs with both faults named; ``misses`` are the pairs that got another name."""

    session: str
    counts: Counter[str] = field(default_factory=Counter)
    misses: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        said = ", ".join(f"{kind} {self.counts[kind]}" for kind in (BOTH, ONE, NEITHER, WRONG))
        return "\n".join([f"  two listed faults at once: {self.counts.total()}; {said}",
                          *(f"  wrong name: {miss}" for miss in self.misses)])


def paired(course: Course, session: str, most: int = PAIRS, seed: str = "pairs") -> Paired:
    """Judge so many pairs of each exercise of a session, drawn at random."""
    oracle, found = load_oracle(course, session), Paired(session)
    for exercise in oracle.source.exercises:
        pairs = list(faults.pairs(oracle.faults_of(exercise), oracle.source.cell("exercise", exercise).solution))
        chosen = Random(f"{seed} {exercise}").sample(pairs, min(most, len(pairs)))
        records = [own[0].without_relations for own in records_of(oracle, exercise, seed)] if chosen else []
        for pair in chosen:
            try:
                with at_most(MUTANT_SECONDS * len(records)):
                    _count(oracle, pair, records, found)
            except MutantTimeout:
                continue
    return found


def paired_all(course: Course, sessions: Sequence[str], jobs: int) -> Iterator[Paired]:
    """Return the same of several sessions, side by side."""
    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(paired, [course] * len(sessions), sessions)


def _count(oracle: Oracle, pair: FaultPair, records: Sequence[RecordedCheck], found: Paired) -> None:
    """Count a pair; one whose edits cancel each other is right, and not counted."""
    replies = oracle.replay(pair.together, records)
    if not any(compare.check_difference(record, reply) for record, reply in zip(records, replies, strict=True)):
        return
    own = {pair.first.name, pair.second.name, pair.together.name}
    names = {one.name for one in oracle.diagnose(pair.together.exercise, records, replies) if one}
    if names - own:
        found.counts[WRONG] += 1
        found.misses.append(f"{pair.together.exercise} | {pair.together.name} | {', '.join(sorted(names))}")
    elif pair.together.name in names or len(names) == 2:
        found.counts[BOTH] += 1
    else:
        found.counts[ONE if names else NEITHER] += 1
