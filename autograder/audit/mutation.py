"""Run all mutants of a session through what grades, and say which survive: `make mutants`.

A mutant is killed when a check does not pass on some instance. One that survives is a hole in the checks or the same
program in other words; those are listed in `equivalents.toml` beside the source, each with its reason.
"""

import contextlib
import signal
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field

from ..course import Course
from ..judging.judge import records_of
from ..model.errors import SourceError
from ..model.faults import Variant
from ..model.oracle import Oracle, oracle
from ..runtime import compare
from ..runtime.bounded import alarmed
from ..runtime.recorded import RecordedCheck, Reply
from ..runtime.replay import replay
from ..runtime.values import Array, Value
from .mutants import Mutant, mutants_of
from .probing import probe

SECONDS = 5  # a mutant that takes longer is stuck, and killed


class Stuck(BaseException):
    """A mutant does not end; no `except Exception` of anybody's stops this."""


@dataclass(frozen=True)
class Equivalent:
    """A mutant that is the solution in other words, and why."""

    exercise: str
    change: str
    why: str


@dataclass
class Mutation:
    """The outcome of a session's mutants, and how many of them weaker tests would have killed."""

    assignment: str
    killed: Counter[str] = field(default_factory=Counter)  # by operator
    raised: int = 0  # of the killed, those that any call would have shown: they stop with an error
    shapes: int = 0  # killed by a test of types and shapes alone
    asserts: int = 0  # killed by ordinary asserts: the first check of each exercise, on one instance
    survivors: list[Mutant] = field(default_factory=list)
    equivalent: int = 0
    stale: list[Equivalent] = field(default_factory=list)  # entries of the list that no survivor bears out

    @property
    def count(self) -> int:
        """All mutants, those that are equivalent included."""
        return sum(self.killed.values()) + len(self.survivors) + self.equivalent

    def __str__(self) -> str:
        killed = sum(self.killed.values())
        lines = [f"{self.assignment}: {self.count} mutants, {killed} killed, {self.equivalent} equivalent, "
                 f"{len(self.survivors)} survived (shapes alone would kill {self.shapes}, ordinary asserts "
                 f"{self.asserts}; {self.raised} stop with an error)"]
        lines += [f"  survived: {one.exercise} | {one.operator} | {one.change}" for one in self.survivors]
        lines += [f"  listed as equivalent, but killed or not there: {one.exercise} | {one.change}"
                  for one in self.stale]
        return "\n".join(lines)


def equivalents(course: Course, assignment: str) -> list[Equivalent]:
    """Return the list of equivalent mutants of a session; empty where there is none."""
    path = course.folder(assignment) / "equivalents.toml"
    if not path.is_file():
        return []
    try:
        return [Equivalent(**entry) for entry in tomllib.loads(path.read_text(encoding="utf-8"))["equivalent"]]
    except (tomllib.TOMLDecodeError, KeyError, TypeError) as error:
        raise SourceError(f"{path}: not a list of equivalent mutants ({error})") from None


def mutate(course: Course, assignment: str, seeds: Sequence[str] = ("1", "2", "3"), every: int = 1) -> Mutation:
    """Run the mutants of a session, or one in ``every`` of each exercise."""
    truth, found = oracle(course, assignment), Mutation(assignment)
    listed = {(one.exercise, one.change): one for one in equivalents(course, assignment)}
    borne_out = set()
    for cell in truth.source.by_role("exercise"):
        instances = [records_of(truth, str(cell.name), seed) for seed in seeds]
        seen = probe(truth, cell, (record for own in instances[0] for record in own))
        for mutant in mutants_of(cell, seen)[::every]:
            killed = _killed(truth, mutant, instances, found)
            entry = listed.get((mutant.exercise, mutant.change))
            if killed:
                found.killed[mutant.operator] += 1
            elif entry:
                found.equivalent += 1
                borne_out.add(entry)
            else:
                found.survivors.append(mutant)
    if every == 1:
        found.stale = [one for one in listed.values() if one not in borne_out]
    return found


def mutate_all(course: Course, assignments: Sequence[str], jobs: int) -> Iterator[Mutation]:
    """Mutate several sessions, side by side."""
    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(mutate, [course] * len(assignments), assignments)


def _killed(truth: Oracle, mutant: Mutant, instances: Sequence[Sequence[Sequence[RecordedCheck]]],
            found: Mutation) -> bool:
    version = Variant(mutant.exercise, "mutant", source=mutant.source)
    firsts = [own[0].plain for own in instances[0]]
    try:
        with at_most(SECONDS), truth.substituted(version) as namespace:
            replies = [replay(record.ops, namespace) for record in firsts]
            found.raised += any(reply.error for reply in replies)
            found.shapes += any(not _alike_in_shape(record, reply)
                                for record, reply in zip(firsts, replies, strict=True))
            found.asserts += compare.plain_difference(firsts[0], replies[0]) is not None
            return any(compare.first_difference(record, replay(record.ops, namespace))
                       for instance in instances for own in instance for record in own)
    except Stuck:
        found.raised += 1
        return True


def _alike_in_shape(record: RecordedCheck, reply: Reply) -> bool:
    """Return whether types and shapes are right, as a test of shapes alone would check."""
    if reply.error or reply.outputs.keys() != record.expected.outputs.keys():
        return False
    return all(_form(value) == _form(reply.outputs[name]) for name, value in record.expected.outputs.items())


def _form(value: Value) -> object:
    return (value.kind, value.array.shape) if isinstance(value, Array) else value.kind


def at_most(seconds: float) -> contextlib.AbstractContextManager[None]:
    """Raise ``Stuck`` in the block after so many seconds of CPU time."""
    return alarmed(seconds, signal.SIGVTALRM, signal.ITIMER_VIRTUAL, Stuck)
