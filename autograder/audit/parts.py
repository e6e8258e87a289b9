"""Run the parts of an audit for several sessions, and add up what they count."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor

from ..course import Course
from ..runtime.rich_output import text_table
from ..sandbox.restrictions import require_bubblewrap
from . import AuditResult
from .constant_answers import audit_constants
from .misdiagnosis import audit_misdiagnoses
from .mutation import audit_mutants
from .versions import audit_versions

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


PARTS: dict[str, Callable[[Course, str], AuditResult]] = {
    "mutants": audit_mutants, "misdiagnoses": audit_misdiagnoses, "constants": audit_constants}
