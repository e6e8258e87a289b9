"""Record the self-checks that are shipped with the course: public seeds, the solution's answers and the faults'."""

import gzip
from pathlib import Path
from typing import Any

import numpy as np

from ..model import digests
from ..model.oracle import Oracle
from ..model.places import Places
from ..model.source import Source
from ..runtime import known, selfcheck, wire
from ..runtime.compare import plain_difference
from ..runtime.known import References
from ..runtime.recorded import RecordedCheck, Reply, record_to_tree, to_tree

PUBLIC_SEEDS = (1, 2)
MOST = 100_000  # bytes of what right answers compute in one check


def path(source: Source) -> Path:
    """Return where the data of a session lies, in the package that reads it."""
    return source.course.selfchecks / f"{source.name}.bin"


def write(truth: Oracle) -> None:
    """Write the data of a session, recorded anew."""
    target = path(truth.source)
    target.parent.mkdir(parents=True, exist_ok=True)
    tree = {"made_from": digests.of_selfchecks(truth.source), **recorded(truth)}
    target.write_bytes(gzip.compress(wire.pack(tree), mtime=0))


def is_fresh(source: Source) -> bool:
    """Return whether the data was recorded from the present sources."""
    made = selfcheck.read(path(source)).get("made_from") if path(source).is_file() else None
    return made == digests.of_selfchecks(source)


def recorded(truth: Oracle) -> dict[str, Any]:
    """Return the self-check data of a session, as a tree."""
    exercises = {exercise: _exercise(truth, exercise) for exercise in truth.source.exercises}
    return {"assignment": truth.source.name, "exercises": exercises}


def _values(references: References) -> Any:
    """Pack what right answers compute in a check by itself: it is read only where an answer is wrong."""
    packed = gzip.compress(wire.pack(known.to_tree(references)), mtime=0)
    return np.frombuffer(packed, np.uint8) if len(packed) < MOST else None


def _reply(record: RecordedCheck, reply: Reply) -> dict[str, Any] | None:
    """Return what a fault answers to a check; None for the expected answer, as of most faults in most checks."""
    return to_tree(reply) if plain_difference(record, reply) else None


def _exercise(truth: Oracle, exercise: str) -> dict[str, Any]:
    checks, records, places = [], [], Places(truth, stepwise=False)  # they would fill megabytes
    for check in truth.checks_of(exercise):
        first, *others = (truth.records(check, seed) for seed in PUBLIC_SEEDS)
        own = [*first, *(one[0] for one in others)]
        records += [record.plain for record in own]
        checks.append({"name": check.name, "says": check.says, "weight": check.weight,
                       "records": [record_to_tree(record) for record in own],
                       "values": _values(places.references(exercise, own[0].plain))})
    faults = [{"name": fault.name, "says": fault.says,
               "replies": [_reply(*pair) for pair in zip(records, truth.replies(fault, records), strict=True)]}
              for fault in truth.faults_of(exercise)]
    return {"points": truth.source.points(exercise), "checks": checks, "faults": faults}
