"""What the judge says of a submission, and how it stands in a file.

The classes are plain data. They are written to JSON and read from it here and nowhere else; a file that holds
something else is refused with one line.
"""

import textwrap
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

import msgspec

from ..runtime.beside import Beside
from ..runtime.values import a
from ..sandbox.options import Device

Outcome = Literal["passed", "partial", "failed", "missing", "error", "timeout", "crashed"]

T = TypeVar("T")


class FileError(ValueError):
    """A file does not hold what it should; the message is one line for people."""


@dataclass(frozen=True)
class CheckResult:
    """One check: whether it passed, what the student reads, the fault it was recognised as, by name, and the part of
    an output that shows the difference, where values differ."""

    check: str
    passed: bool
    message: str
    fault: str | None = None
    beside: Beside | None = None


@dataclass(frozen=True)
class ExerciseResult:
    """One exercise: its points, the results of its checks, and the seconds they took on the student's code."""

    exercise: str
    score: float
    max_score: float
    verdict: Outcome
    checks: tuple[CheckResult, ...]
    seconds: float = field(default=0.0, compare=False)  # by the clock: another machine, another number

    def explained(self) -> str:
        """The reasons, as a student reads them."""
        lines = [f"{self.exercise}: {self.score:.4g} of {self.max_score:.4g} points ({self.verdict})"]
        said: dict[str, str] = {}  # a cause is told once: cause → the check that tells it
        for check in self.checks:
            first = said.setdefault(check.message, check.check)
        told: dict[str, str] = {}  # cause → the check at which it is told, once
        for check in self.checks:
            first = check.check if check.passed else told.setdefault(check.fault or check.message, check.check)
            message = check.message if first == check.check else f"the same again, see {first}"
            line = f"{'✓' if check.passed else '✗'} {check.check}: {message}"
            lines.append(textwrap.fill(line, 100, initial_indent="  ", subsequent_indent="      "))
        return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class Verdict:
    """One submission: automatic points, exercise by exercise; ``unreadable`` says why there was nothing to judge."""

    assignment: str
    score: float
    max_score: float
    isolation: str
    device: Device
    seconds: float
    seed: str
    notes: tuple[str, ...]
    exercises: tuple[ExerciseResult, ...]
    unreadable: str | None = None

    @property
    def faults(self) -> list[str]:
        """The names of all faults that were recognised."""
        return sorted({check.fault for exercise in self.exercises for check in exercise.checks if check.fault})


def to_json(thing: Any) -> str:
    """A verdict, or anything else made of dataclasses, as indented JSON."""
    return msgspec.json.format(msgspec.json.encode(thing), indent=1).decode("utf-8")


def from_json(data: bytes, kind: type[T], what: str) -> T:
    """The ``kind`` that ``data`` holds; ``FileError`` names ``what`` when it holds anything else."""
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise FileError(f"{what} does not hold {a(kind.__name__)}: {str(error).splitlines()[0]}") from None
