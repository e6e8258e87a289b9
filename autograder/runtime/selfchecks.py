"""The self-checks that are shipped with a course: checks as they were recorded on the solution with public seeds."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import diagnosis, recorded, wire
from .locate import right_values
from .locate.right_values import RightValues
from .recorded import RecordedCheck


@dataclass(frozen=True)
class SelfCheck:
    """A check as it was recorded at release time, once for each public seed."""

    name: str
    description: str
    weight: float
    is_constant: bool  # one and the same answer is right on most instances
    records: list[RecordedCheck]
    values: Any = None  # what right answers compute in the first of them, packed

    @property
    def right(self) -> RightValues | None:
        """The values that right answers have in the first record."""
        if self.values is None:
            return None
        return right_values.from_tree(wire.decompress(self.values.tobytes()))


@dataclass(frozen=True)
class ExerciseSelfChecks:
    """The checks of an exercise, and what its known faults answer to all their records."""

    points: float
    checks: list[SelfCheck]
    faults: list[diagnosis.CandidateFault]


@dataclass(frozen=True)
class SessionSelfChecks:
    """The exercises of a session by name, and the texts of its questions."""

    exercises: dict[str, ExerciseSelfChecks]
    questions: dict[str, str]


def load(path: Path) -> SessionSelfChecks:
    """Load the shipped self-checks of a session; OSError, ValueError, TypeError or LookupError where they are damaged.
    """
    tree: dict[str, Any] = wire.decompress(path.read_bytes())
    exercises = {name: _exercise(exercise) for name, exercise in tree["exercises"].items()}
    return SessionSelfChecks(exercises, tree["questions"])


def _exercise(tree: dict[str, Any]) -> ExerciseSelfChecks:
    checks = checks_from_tree(tree["checks"])
    right = [record.without_relations.expected for check in checks for record in check.records]
    faults = [diagnosis.CandidateFault(fault["name"], fault["feedback"],
                                       [recorded.reply_from_tree(reply) if reply else expected
                                        for reply, expected in zip(fault["replies"], right, strict=True)])
              for fault in tree["faults"]]
    return ExerciseSelfChecks(tree["points"], checks, faults)


def check_to_tree(check: SelfCheck) -> dict[str, Any]:
    """Return the check as a tree."""
    return {**vars(check), "records": list(map(recorded.record_to_tree, check.records))}


def checks_from_tree(tree: list[dict[str, Any]]) -> list[SelfCheck]:
    """Return the checks that one of our own trees holds."""
    return [SelfCheck(check["name"], check["description"], check["weight"], check["is_constant"],
                      list(map(recorded.record_from_tree, check["records"])), check.get("values")) for check in tree]
