"""Record the self-checks that are shipped with the course: public seeds, the solution's answers and the faults'."""

import gzip
from typing import Any

from ..model import digests, places
from ..model.oracle import Oracle
from ..runtime import shipped, wire
from ..runtime.compare import plain_difference
from ..runtime.recorded import RecordedCheck, Reply, to_tree


def write(truth: Oracle) -> None:
    """Write the data of a session, recorded anew."""
    target = places.path(truth.source)
    target.parent.mkdir(parents=True, exist_ok=True)
    tree = {"made_from": digests.of_selfchecks(truth.source), **recorded(truth)}
    target.write_bytes(gzip.compress(wire.pack(tree), mtime=0))


def recorded(truth: Oracle) -> dict[str, Any]:
    """Return the self-check data of a session, as a tree."""
    exercises = {exercise: _exercise(truth, exercise) for exercise in truth.source.exercises}
    return {"assignment": truth.source.name, "exercises": exercises}


def _reply(record: RecordedCheck, reply: Reply) -> dict[str, Any] | None:
    """Return what a fault answers to a check; None for the expected answer, as of most faults in most checks."""
    return to_tree(reply) if plain_difference(record, reply) else None


def _exercise(truth: Oracle, exercise: str) -> dict[str, Any]:
    checks = places.checks_tree(truth, exercise)
    records = [record.plain for check in shipped.checks_from_tree(checks) for record in check.records]
    faults = [{"name": fault.name, "says": fault.says,
               "replies": [_reply(*pair) for pair in zip(records, truth.replies(fault, records), strict=True)]}
              for fault in truth.faults_of(exercise)]
    return {"points": truth.source.points(exercise), "checks": checks, "faults": faults}
