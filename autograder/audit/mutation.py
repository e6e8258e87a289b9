"""Grade all mutants of a session, and name those that survive: `make mutants`.

A mutant is killed when a check does not pass on some instance. One that survives is a hole in the checks, or equivalent
to the solution. The latter are listed in `equivalents.toml` beside the source, each with its reason; those without a
gradient are not, where no check asks for one.
"""

import contextlib
import signal
import tomllib
from collections.abc import Sequence

from ..course import Course
from ..judging.judge import records_of
from ..model.errors import SourceError
from ..model.faults import Version
from ..model.oracle import Oracle, load_oracle
from ..runtime import compare
from ..runtime.recorded import RecordedCheck
from ..runtime.replay import replay
from ..runtime.time_limit import timer_limit
from . import AuditResult
from .mutation_operators import Mutant, generate_mutants
from .probing import probe

MUTANT_SECONDS = 5  # a mutant that takes longer is stuck, and killed
WITHOUT_GRADIENT = ("detach", "without gradient")  # operators


class MutantTimeout(BaseException):
    """A mutant does not end; no `except Exception` in its code catches this."""


def equivalents(course: Course, session: str) -> dict[tuple[str, str], str]:
    """Return why mutants of a session are equivalent, by exercise and change; empty where there is no list."""
    path = course.folder(session) / "equivalents.toml"
    if not path.is_file():
        return {}
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
        entries = tables.pop("equivalent", [])
        if tables or any(entry.keys() != {"exercise", "change", "why"} for entry in entries):
            raise KeyError
        return {(entry["exercise"], entry["change"]): entry["why"] for entry in entries}
    except (tomllib.TOMLDecodeError, KeyError, TypeError, AttributeError) as error:
        reason = error if isinstance(error, tomllib.TOMLDecodeError) else "[[equivalent]] with exercise, change and why"
        raise SourceError(f"{path}: not a list of equivalent mutants ({reason})") from None


def audit_mutants(course: Course, session: str, seeds: Sequence[str] = ("1", "2", "3"), every: int = 1) -> AuditResult:
    """Run the mutants of a session, or one in ``every`` of each exercise: then not all that are listed are met."""
    oracle, listed = load_oracle(course, session), equivalents(course, session)
    killed, equivalent, survivors, met = 0, 0, list[Mutant](), set[tuple[str, str]]()
    for cell in oracle.source.by_role("exercise"):
        instances = [records_of(oracle, cell.name, seed) for seed in seeds]
        needs_gradient = any("gradient" not in check.skip_relations for check in oracle.checks_of(cell.name))
        log = probe(oracle, cell, (record for records in instances[0] for record in records))
        for mutant in generate_mutants(cell, log)[::every]:
            key = mutant.exercise, mutant.change
            if _killed(oracle, mutant, instances):
                killed += 1
            elif key in listed:
                equivalent += 1
                met.add(key)
            elif mutant.operator in WITHOUT_GRADIENT and not needs_gradient:
                equivalent += 1
            else:
                survivors.append(mutant)
    problems = [f"survived: {mutant.exercise} | {mutant.operator} | {mutant.change}" for mutant in survivors]
    if every == 1:
        problems += [f"listed as equivalent, but killed or not there: {exercise} | {change}"
                     for exercise, change in listed if (exercise, change) not in met]
    numbers: dict[str, float] = {"mutants": killed + equivalent + len(survivors), "killed": killed,
                                 "equivalent": equivalent, "survived": len(survivors)}
    line = "{mutants} mutants, {killed} killed, {equivalent} equivalent, {survived} survived".format_map(numbers)
    return AuditResult([line], problems, numbers)


def _killed(oracle: Oracle, mutant: Mutant, instances: Sequence[Sequence[Sequence[RecordedCheck]]]) -> bool:
    version = Version(mutant.exercise, "mutant", source=mutant.source)
    try:
        with at_most(MUTANT_SECONDS), oracle.substituted(version) as namespace:
            return any(compare.first_difference(record, replay(record.ops, namespace))
                       for instance in instances for records in instance for record in records)
    except MutantTimeout:
        return True


def at_most(seconds: float) -> contextlib.AbstractContextManager[None]:
    """Raise ``MutantTimeout`` in the block after so many seconds of CPU time."""
    return timer_limit(seconds, signal.SIGVTALRM, signal.ITIMER_VIRTUAL, MutantTimeout)
