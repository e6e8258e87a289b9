"""Summarise every audit of a session in one table, which `make audit` prints."""

from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

from ..course import Course
from ..grammar import counted
from ..judging.judge import judged, records_of
from ..model.oracle import Oracle, oracle
from ..runtime import compare
from ..runtime.difference import RELATIONS
from ..runtime.recorded import RecordedCheck
from ..runtime.tables import text_table
from ..sandbox.restrictions import require_bubblewrap
from .mutation import Mutation, mutate
from .naming import KINDS, NAMES, Confusion, Kind, confusion
from .versions import Audit, audit_pieces, joined

CONSTANTS = 5  # instances from which the best constant answers are put together


@dataclass(frozen=True)
class Relations:
    """The number of checks that test each relation, of all checks, and how often a relation is switched off."""

    checks: int
    asked: Counter[str]
    switched_off: int


@dataclass(frozen=True)
class Summary:
    """The results of all audits of a session."""

    audited: Audit
    mutation: Mutation
    confusion: Confusion
    relations: Relations
    points: float
    constants: float  # points for the best answers that do not depend on the instance

    @property
    def problems(self) -> list[str]:
        """The problems, one sentence each."""
        found = [f"{problem} (on {count} of {counted(self.audited.seeds, 'seed')})"
                 for problem, count in self.audited.problems.items()]
        found += [f"{one.exercise}: a mutant survives: {one.change}" for one in self.mutation.survivors]
        found += [f"{one.exercise}: listed as equivalent, but killed or not there: {one.change}"
                  for one in self.mutation.stale]
        found += [f"{one.exercise}: {one.what} is called {', '.join(one.called)}" for one in self.confusion.wrong]
        return found + ([f"constant answers gain {self.constants:g} points"] if self.constants else [])

    def __str__(self) -> str:
        audited, mutation = self.audited, self.mutation
        rows = [
            ("faults", f"{audited.faults}, on {counted(audited.seeds, 'seed')}"),
            ("variants", f"{audited.variants}, on as many"),
            ("mutants", f"{mutation.count}: {sum(mutation.killed.values())} killed, {mutation.equivalent} equivalent, "
                        f"{len(mutation.survivors)} survived"),
            ("", f"shapes alone would kill {mutation.shapes}, ordinary asserts {mutation.asserts}"),
            ("relations", ", ".join(f"{relation} {self.relations.asked[relation]}" for relation in RELATIONS)
             + f", of {counted(self.relations.checks, 'check')}; "
             + f"{self.relations.switched_off} switched off by name"),
            *((f"names of {kind}", self._names(kind)) for kind in KINDS),
            ("constants", f"{self.constants:g} of {self.points:g} points for the best of them"),
            ("problems", "\n".join(self.problems) or "none"),
            *([("notes", "\n".join(audited.notes))] if audited.notes else []),
        ]
        width = max(len(name) for name, _ in rows) + 2
        lines = [f"  {name:<{width}}" + said.replace("\n", "\n" + " " * (width + 2)) for name, said in rows]
        return "\n".join([audited.assignment, *lines])

    def _names(self, kind: Kind) -> str:
        count = self.confusion.count(kind)
        return ", ".join(f"{name} {count[name]}" for name in NAMES)


def summarise(course: Course, assignments: Sequence[str], seeds: int, jobs: int, device: str) -> list[Summary]:
    """Measure several sessions, side by side."""
    require_bubblewrap()
    with ProcessPoolExecutor(jobs) as pool:
        waiting = [(audit_pieces(pool, course, name, seeds, device), pool.submit(mutate, course, name),
                    pool.submit(confusion, course, name), pool.submit(_relations_and_constants, course, name))
                   for name in assignments]
        return [Summary(joined([piece.result() for piece in pieces]), mutation.result(), names.result(), *rest.result())
                for pieces, mutation, names, rest in waiting]


def _relations_and_constants(course: Course, assignment: str) -> tuple[Relations, float, float]:
    truth = oracle(course, assignment)
    exercises = truth.source.exercises
    return (_relations(truth), sum(truth.source.points(name) for name in exercises),
            sum(best_constants(truth, name) for name in exercises))


def _relations(truth: Oracle) -> Relations:
    asked: Counter[str] = Counter()
    for check in truth.checks:
        records = truth.records(check, 1)
        asked.update({record.relation for record in records if record.relation}
                     | {spec.relation for spec in records[0].specs.values() if spec.relation})
    return Relations(len(truth.checks), asked, sum(len(check.without) for check in truth.checks))


def best_constants(truth: Oracle, exercise: str) -> float:
    """Return the points for answers that were right on some other instance, the best for each check."""
    records = records_of(truth, exercise, "asked")
    others = [records_of(truth, exercise, f"constant {number}") for number in range(CONSTANTS)]
    best = [max(rest, key=lambda other: _agrees(own, other)) for own, *rest in zip(records, *others, strict=True)]
    return judged(truth, exercise, records, [record.answer for own in best for record in own]).score


def _agrees(records: Sequence[RecordedCheck], others: Sequence[RecordedCheck]) -> bool:
    """Return whether the right answers to other instances of a check are right on this one too."""
    return all(compare.first_difference(record, other.answer) is None
               for record, other in zip(records, others, strict=True))


def total(summaries: Sequence[Summary]) -> str:
    """Return all sessions in a table, a line each, and their sum."""
    header = ("session", "faults", "variants", "mutants", "killed", "equivalent", "survived", "by shapes", "by asserts",
              "named wrongly", "constants", "problems")
    rows: list[tuple[str | float, ...]] = [
        (one.audited.assignment, one.audited.faults, one.audited.variants, one.mutation.count,
         sum(one.mutation.killed.values()), one.mutation.equivalent, len(one.mutation.survivors), one.mutation.shapes,
         one.mutation.asserts, len(one.confusion.wrong), one.constants, len(one.problems)) for one in summaries]
    sums = (f"{sum(float(row[at]) for row in rows):g}" for at in range(1, len(header)))
    return text_table([*rows, ("all", *sums)], header)
