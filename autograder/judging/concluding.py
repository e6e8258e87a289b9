"""The verdict on what was handed in, made of results or of the reason why there are none. Nothing here needs torch."""

from ..course import Course
from ..model import source
from ..sandbox.options import Options
from .submission import Submission
from .verdict import CheckResult, ExerciseResult, Verdict


def concluded(handed: Submission, seed: str, options: Options, results: tuple[ExerciseResult, ...], notes: list[str],
              seconds: float = 0.0, unreadable: str | None = None) -> Verdict:
    """The verdict that these results add up to."""
    return Verdict(
        assignment=handed.assignment,
        score=round(sum(result.score for result in results), 4),
        max_score=sum(result.max_score for result in results),
        isolation=options.isolation,
        device=options.device,
        seconds=seconds,
        seed=seed,
        notes=(*notes, *([handed.note] if handed.note else [])),
        exercises=results,
        unreadable=unreadable,
    )


def nothing(course: Course, handed: Submission, seed: str, options: Options, reason: str) -> Verdict:
    """The verdict on a file that cannot be graded: no points, and why."""
    truth = source.load(course, handed.assignment)
    told = (CheckResult("submission", False, f"Nothing to grade: {reason}."),)
    results = tuple(ExerciseResult(name, 0.0, truth.points(name), "missing", told) for name in truth.exercises)
    return concluded(handed, seed, options, results, [reason], unreadable=reason)
