"""The table that the command line prints of a class."""

from collections.abc import Sequence

from .. import escaping
from .grading import Graded

SIGNS = {"passed": "✓", "partial": "◐", "failed": "✗", "missing": "–", "error": "!", "timeout": "⌛", "crashed": "†"}
UNSAFE = "graded WITHOUT ISOLATION: student code could read and change everything here"


def overview(graded: Sequence[Graded]) -> str:
    """One line a submission: score, verdict of each exercise, seconds."""
    head = ("student", "TP", "score", "exercises", "seconds", "")
    rows = [head, *([escaping.line(text) for text in _row(one)] for one in graded)]
    widths = [max(len(row[i]) for row in rows) for i in range(5)]
    lines = ["  ".join([*map(str.ljust, row[:5], widths), row[5]]).rstrip() for row in rows]
    lines.insert(1, "  ".join("-" * width for width in widths))
    legend = "  ".join(f"{sign} {word}" for word, sign in SIGNS.items())
    unsafe = any(one.verdict and one.verdict.isolation == "none" for one in graded)
    return "\n".join([*lines, "", legend, *([UNSAFE] if unsafe else [])])


def _row(graded: Graded) -> tuple[str, str, str, str, str, str]:
    handed, verdict = graded.handed, graded.verdict
    if verdict is None:
        return handed.student, handed.assignment, "", "", "", graded.problem or ""
    exercises = " ".join(f"{SIGNS[one.verdict]} {one.exercise}" for one in verdict.exercises)
    seconds = f"{verdict.seconds:.1f}" if graded.fresh else "kept"
    remark = graded.problem or verdict.unreadable or ", ".join(verdict.faults)
    score = f"{verdict.score:.4g}/{verdict.max_score:.4g}"
    return handed.student, handed.assignment, score, exercises, seconds, remark
