"""The verdict on a submission: plain data, which `classroom.json_files` writes and reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from ..model.source import Source
from ..runtime import messages
from ..runtime.diagnosis import RecognisedFault
from ..runtime.difference import Difference
from ..runtime.findings import CheckResult
from ..runtime.text import points_text
from ..sandbox.options import Device, Isolation, Options
from .submission import Submission
from .untrusted_files import encodable

Outcome = Literal["passed", "partial", "failed", "missing", "error", "timeout", "crashed"]


class SoftLimitExceeded(Exception):
    """A submission runs so long that the others are judged first; there is no verdict yet."""


@dataclass(frozen=True)
class ExerciseResult:
    """One exercise: its points, the results of its checks, and the seconds they took on the student's code."""

    exercise: str
    points: float
    max_points: float
    outcome: Outcome
    checks: tuple[CheckResult, ...]
    seconds: float = field(default=0.0, compare=False)  # by the clock: another machine, another number

    @property
    def failed(self) -> list[CheckResult]:
        """The checks that did not pass."""
        return [check for check in self.checks if not check.passed]

    def explained(self) -> str:
        """Return the points and the reasons, as a student reads them."""
        points = f"{self.exercise}: {points_text(self.points, self.max_points)} ({self.outcome})"
        return "\n".join([points, *messages.reasons(self.checks)]) + "\n"


@dataclass(frozen=True)
class Verdict:
    """One submission: automatic points, exercise by exercise; ``ungraded_reason`` says why nothing was judged."""

    session: str
    points: float
    max_points: float
    isolation: Isolation
    device: Device
    seconds: float
    seed: str
    notes: tuple[str, ...]
    exercises: tuple[ExerciseResult, ...]
    ungraded_reason: str | None = None

    @classmethod
    def graded(cls, submission: Submission, seed: str, options: Options, results: Sequence[ExerciseResult],
               notes: Sequence[str] = (), seconds: float = 0.0) -> Verdict:
        """Return the verdict that these results add up to."""
        return cls(
            session=submission.session,
            points=round(sum(result.points for result in results), 4),
            max_points=round(sum(result.max_points for result in results), 4),
            isolation=options.isolation,
            device=options.device,
            seconds=seconds,
            seed=seed,
            notes=tuple(map(encodable, (*notes, *([submission.note] if submission.note else [])))),
            exercises=tuple(results),
        )

    @classmethod
    def ungraded(cls, source: Source, submission: Submission, seed: str, options: Options, reason: str) -> Verdict:
        """Return the verdict on a file that cannot be graded: no points, and why."""
        failed = (CheckResult("submission", False, "It can be graded.", Difference("not-checked", reason=reason)),)
        results = [ExerciseResult(name, 0.0, source.points(name), "missing", failed) for name in source.exercises]
        return replace(cls.graded(submission, seed, options, results, [reason]), ungraded_reason=reason)

    @property
    def recognised(self) -> list[tuple[str, RecognisedFault]]:
        """The faults that were recognised, each with its exercise, check by check."""
        return [(result.exercise, check.fault) for result in self.exercises for check in result.checks if check.fault]

    @property
    def faults(self) -> list[str]:
        """The names of all faults that were recognised."""
        return sorted({fault.name for _, fault in self.recognised})
