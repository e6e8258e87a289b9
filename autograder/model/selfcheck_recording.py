"""Record the self-checks that are shipped with the course: public seeds, the solution's answers and the faults'.

With each check go the values of right answers, by which places of mistakes are found.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numpy as np

from ..runtime import arrays, wire
from ..runtime.compare import check_difference
from ..runtime.locate import right_values
from ..runtime.locate.observation import observe
from ..runtime.locate.rewriting import instrument
from ..runtime.locate.right_values import RightValues
from ..runtime.recorded import RecordedCheck, Reply, reply_to_tree
from ..runtime.replay import replay
from ..runtime.selfchecks import SelfCheck, check_to_tree, checks_from_tree
from . import digests
from .faults import Variant, Version
from .oracle import Oracle
from .source import Source

PUBLIC_SEEDS = (1, 2)
MAX_VARIANTS = 24  # of an exercise are observed beside the solution
MAX_BYTES = 200_000  # of the packed values of right answers in one check


def path(source: Source) -> Path:
    """Return the file with the self-checks of a session."""
    return source.course.selfchecks / f"{source.name}.bin"


def write(oracle: Oracle) -> None:
    """Write the self-checks of a session, recorded anew."""
    target = path(oracle.source)
    target.parent.mkdir(parents=True, exist_ok=True)
    tree = {"made_from": digests.of_selfchecks(oracle.source), **to_tree(oracle)}
    target.write_bytes(wire.compress(tree))


def to_tree(oracle: Oracle) -> dict[str, Any]:
    """Return the self-checks of a session, as a tree."""
    exercises = {exercise: _exercise(oracle, exercise) for exercise in oracle.source.exercises}
    questions = {cell.name: cell.without_solution().strip() for cell in oracle.source.by_role("answer")}
    return {"exercises": exercises, "questions": questions}


def _exercise(oracle: Oracle, exercise: str) -> dict[str, Any]:
    checks = record_selfchecks(oracle, exercise)
    records = [record.without_relations for check in checks for record in check.records]
    faults = [{"name": fault.name, "feedback": fault.feedback,
               "replies": [_reply(*pair) for pair in zip(records, oracle.replay(fault, records), strict=True)]}
              for fault in oracle.faults_of(exercise)]
    return {"points": oracle.source.points(exercise), "checks": list(map(check_to_tree, checks)), "faults": faults}


def _reply(record: RecordedCheck, reply: Reply) -> dict[str, Any] | None:
    """Return what a fault answers to a check; None for the expected answer, as of most faults in most checks."""
    return reply_to_tree(reply) if check_difference(record, reply) else None


def released_tree(source: Source) -> dict[str, Any]:
    """Return the tree of a session's released self-checks; nothing if the present sources are others."""
    try:
        tree = wire.decompress(path(source).read_bytes())
    except (OSError, wire.WireError):  # there is none, or only a part
        return {}
    return tree if isinstance(tree, dict) and tree.get("made_from") == digests.of_selfchecks(source) else {}


@functools.lru_cache(8)
def _released_checks(oracle: Oracle) -> dict[str, list[SelfCheck]]:
    exercises = released_tree(oracle.source).get("exercises", {})
    try:
        return {name: checks_from_tree(exercise["checks"]) for name, exercise in exercises.items()}
    except (LookupError, TypeError, ValueError):  # in the form of another engine
        return {}


def released_selfchecks(oracle: Oracle, exercise: str) -> list[SelfCheck]:
    """Return the checks of an exercise as the release has them; recorded anew if its sources have changed."""
    return _released_checks(oracle).get(exercise) or record_selfchecks(oracle, exercise)


@functools.lru_cache(256)
def record_selfchecks(oracle: Oracle, exercise: str) -> list[SelfCheck]:
    """Return the checks of an exercise as they are shipped, recorded anew.

    With the first public seed all records are kept, with the others only that of the check, without relations.
    """
    checks = []
    for check in oracle.checks_of(exercise):
        first, *others = (oracle.recorder.record(check, seed) for seed in PUBLIC_SEEDS)
        records = [*first, *(records_of_seed[0] for records_of_seed in others)]
        values = _packed(values_of_right_answers(oracle, exercise, records[0].without_relations))
        is_constant = oracle.recorder.is_constant(check)
        checks.append(SelfCheck(check.name, check.description, check.weight, is_constant, records, values))
    return checks


def values_of_right_answers(oracle: Oracle, exercise: str, record: RecordedCheck,
                            excluded: Variant | None = None) -> RightValues:
    """Return the values that expressions of the solution and of right variants have in a recorded check.

    The ``excluded`` variant is left out. The values are released, so none is old memory of this process.
    """
    versions = [variant for variant in oracle.variants_of(exercise) if variant is not excluded]
    solution = Version(exercise, "solution", source=oracle.source.cell("exercise", exercise).solution)
    answers = []
    for version in [solution, *versions[:MAX_VARIANTS]]:
        with arrays.new_memory_filled(), oracle.substituted(version) as names:
            cells = instrument([oracle.text_of(version)])
            observer = observe(cells, names, functools.partial(replay, record.ops, names))
            answers.append(observer.series_by_number().values())
    return RightValues.of_answers(answers)


def _packed(right: RightValues) -> Any:
    """Pack right values on their own, to be unpacked only if an answer is wrong; None if they take too much."""
    packed = wire.compress(right_values.to_tree(right))
    return np.frombuffer(packed, np.uint8) if len(packed) < MAX_BYTES else None
