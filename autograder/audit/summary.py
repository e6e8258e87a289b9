"""Run the parts of an audit for several sessions, and add up what they count."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor

from ..course import Course
from ..judging.judge import grade_exercise, records_of
from ..model.oracle import Oracle, load_oracle
from ..runtime import compare
from ..runtime.recorded import RecordedCheck
from ..runtime.tables import text_table
from ..sandbox.restrictions import require_bubblewrap
from . import AuditResult
from .mutation import audit_mutants
from .naming import audit_names
from .versions import audit_versions

CONSTANTS = 5  # instances from which the best constant answers are put together
VERSIONS = "versions"


def run(course: Course, sessions: Sequence[str], parts: Iterable[str], seeds: int, jobs: int,
        device: str = "cpu") -> Iterator[tuple[str, list[AuditResult]]]:
    """Yield each session and the outcomes of these of its ``PARTS``, which run side by side.

    ``SandboxError`` where versions are wanted and no sandbox can be had.
    """
    if VERSIONS in parts:
        require_bubblewrap()
    with ProcessPoolExecutor(jobs) as pool:
        futures = [(name, [pool.submit(audit_versions, course, name, range(seeds), device, in_sandbox=True)
                           if part == VERSIONS else pool.submit(PARTS[part], course, name) for part in parts])
                   for name in sessions]
        for name, of_session in futures:
            yield name, [future.result() for future in of_session]


def total(results: Mapping[str, Sequence[AuditResult]]) -> str:
    """Return the numbers of all sessions in a table, a line each, and their sum."""
    rows = {name: {column: number for part in parts for column, number in part.numbers.items()}
            | {"problems": sum(len(part.problems) for part in parts)} for name, parts in results.items()}
    columns = list(next(iter(rows.values())))
    sums = [sum(row[column] for row in rows.values()) for column in columns]
    return text_table([[name, *(f"{row[column]:g}" for column in columns)] for name, row in rows.items()]
                      + [["all", *(f"{number:g}" for number in sums)]], ("session", *columns))


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
    return grade_exercise(oracle, exercise, records, replies).score


def _agrees(records: Sequence[RecordedCheck], others: Sequence[RecordedCheck]) -> bool:
    """Return whether the right answers to other instances of a check are right on this one too."""
    return all(compare.first_difference(record, other.expected) is None
               for record, other in zip(records, others, strict=True))


PARTS: dict[str, Callable[[Course, str], AuditResult]] = {
    "mutants": audit_mutants, "names": audit_names, "constants": audit_constants}
