"""Record the self-checks that are shipped with the course: public seeds, the solution's answers and the mistakes'."""

import gzip
from typing import Any

from tp.checking import replies, selfcheck, wire

from ..course import Course
from . import digests
from .oracle import Oracle, oracle

PUBLIC_SEEDS = (1, 2)


def write(course: Course, assignment: str) -> None:
    """Write the data of one TP into the package that reads it."""
    course.selfchecks.mkdir(parents=True, exist_ok=True)
    tree = {"made_from": digests.of_tp(course, assignment), **recorded(course, assignment)}
    (course.selfchecks / f"{assignment}.bin").write_bytes(gzip.compress(wire.pack(tree), mtime=0))


def made_from(course: Course, assignment: str) -> str | None:
    """The digest of the sources that the shipped data was recorded from; None when there is none."""
    path = course.selfchecks / f"{assignment}.bin"
    return selfcheck.read(path).get("made_from") if path.is_file() else None


def recorded(course: Course, assignment: str) -> dict[str, Any]:
    """The self-check data of a TP, as a tree."""
    truth = oracle(course, assignment)
    exercises = {exercise: _exercise(truth, exercise) for exercise in truth.source.exercises}
    return {"assignment": assignment, "exercises": exercises}


def _exercise(truth: Oracle, exercise: str) -> dict[str, Any]:
    checks, records = [], []
    for check in truth.checks_of(exercise):
        first, *others = (truth.records(check, seed) for seed in PUBLIC_SEEDS)
        own = [*first, *(one[0] for one in others)]
        records += [record.plain for record in own]
        checks.append({"name": check.name, "says": check.says, "weight": check.weight,
                       "records": [replies.record_to_tree(record) for record in own]})
    mistakes = [{"name": mistake.name, "says": mistake.says,
                 "replies": [replies.to_tree(reply) for reply in truth.replies(mistake, records)]}
                for mistake in truth.mistakes_of(exercise)]
    return {"points": truth.source.points(exercise), "checks": checks, "mistakes": mistakes}
