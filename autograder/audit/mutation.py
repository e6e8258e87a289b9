"""Grade all mutants of a session, and name those that survive: `make mutants`.

A mutant is killed when a check does not pass on some instance. One that survives is a hole in the checks, or equivalent
to the solution; the latter are listed in `equivalents.toml` beside the source, each with its reason.
"""

import contextlib
import signal
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field

from ..course import Course
from ..judging.judge import records_of
from ..model.errors import SourceError
from ..model.faults import Variant
from ..model.oracle import Oracle, load_oracle
from ..runtime import compare
from ..runtime.recorded import RecordedCheck
from ..runtime.replay import replay
from ..runtime.time_limit import timer_limit
from . import AuditResult
from .mutants import Mutant, generate_mutants
from .probing import probe

MUTANT_SECONDS = 5  # a mutant that takes longer is stuck, and killed


class MutantTimeout(BaseException):
    """A mutant does not end; no `except Exception` in its code catches this."""


@dataclass(frozen=True)
class Equivalent:
    """A mutant that is equivalent to the solution, and why."""

    exercise: str
    change: str
    why: str


@dataclass
class MutationResult:
    """The outcome of a session's mutants."""

    killed: int = 0
    survivors: list[Mutant] = field(default_factory=list)
    equivalent: int = 0
    stale: list[Equivalent] = field(default_factory=list)  # entries of the list without a survivor

    @property
    def count(self) -> int:
        """All mutants, those that are equivalent included."""
        return self.killed + len(self.survivors) + self.equivalent

    def result(self) -> AuditResult:
        """Return the outcome in words and numbers."""
        survived = len(self.survivors)
        problems = [f"survived: {mutant.exercise} | {mutant.operator} | {mutant.change}" for mutant in self.survivors]
        problems += [f"listed as equivalent, but killed or not there: {entry.exercise} | {entry.change}"
                     for entry in self.stale]
        line = f"{self.count} mutants, {self.killed} killed, {self.equivalent} equivalent, {survived} survived"
        return AuditResult([line], problems, {"mutants": self.count, "killed": self.killed,
                                              "equivalent": self.equivalent, "survived": survived})


def equivalents(course: Course, session: str) -> list[Equivalent]:
    """Return the list of equivalent mutants of a session; empty where there is none."""
    path = course.folder(session) / "equivalents.toml"
    if not path.is_file():
        return []
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
        if unknown := tables.keys() - {"equivalent"}:
            raise KeyError(*unknown)
        return [Equivalent(**entry) for entry in tables.get("equivalent", ())]
    except (tomllib.TOMLDecodeError, KeyError, TypeError) as error:
        reason = error if isinstance(error, tomllib.TOMLDecodeError) else "[[equivalent]] with exercise, change and why"
        raise SourceError(f"{path}: not a list of equivalent mutants ({reason})") from None


def run_mutants(course: Course, session: str, seeds: Sequence[str] = ("1", "2", "3"), every: int = 1) -> MutationResult:
    """Run the mutants of a session, or one in ``every`` of each exercise."""
    oracle, mutation = load_oracle(course, session), MutationResult()
    listed = {(entry.exercise, entry.change): entry for entry in equivalents(course, session)}
    surviving = set()
    for cell in oracle.source.by_role("exercise"):
        instances = [records_of(oracle, str(cell.name), seed) for seed in seeds]
        log = probe(oracle, cell, (record for records in instances[0] for record in records))
        for mutant in generate_mutants(cell, log)[::every]:
            entry = listed.get((mutant.exercise, mutant.change))
            if _killed(oracle, mutant, instances):
                mutation.killed += 1
            elif entry:
                mutation.equivalent += 1
                surviving.add(entry)
            else:
                mutation.survivors.append(mutant)
    if every == 1:
        mutation.stale = [entry for entry in listed.values() if entry not in surviving]
    return mutation


def audit_mutants(course: Course, session: str) -> AuditResult:
    """Run all mutants of a session."""
    return run_mutants(course, session).result()


def _killed(oracle: Oracle, mutant: Mutant, instances: Sequence[Sequence[Sequence[RecordedCheck]]]) -> bool:
    version = Variant(mutant.exercise, "mutant", source=mutant.source)
    try:
        with at_most(MUTANT_SECONDS), oracle.substituted(version) as namespace:
            return any(compare.first_difference(record, replay(record.ops, namespace))
                       for instance in instances for records in instance for record in records)
    except MutantTimeout:
        return True


def at_most(seconds: float) -> contextlib.AbstractContextManager[None]:
    """Raise ``MutantTimeout`` in the block after so many seconds of CPU time."""
    return timer_limit(seconds, signal.SIGVTALRM, signal.ITIMER_VIRTUAL, MutantTimeout)
