"""Under which conditions a submission is judged, and what it may use."""

from dataclasses import dataclass, replace
from typing import Literal

from .. import AutograderError

ACCOUNT = "nobody"  # of every Debian and Ubuntu; owns nothing
Device = Literal["cpu", "cuda"]
Isolation = Literal["bubblewrap", "account nobody", "none"]  # by the account only where root grades


@dataclass(frozen=True)
class Limits:
    """Bounds of one submission.

    A cell and the checks of an exercise are bounded in CPU seconds. The notebook is bounded by the clock, waiting
    included, and ``wall_share`` is the part of its time that one cell, or the checks of one exercise, may take. The
    judge has bounds of its own for each submission: CPU seconds, and memory beyond what it had before.
    """

    cell_cpu_seconds: float = 15
    exercise_cpu_seconds: float = 15
    notebook_wall_seconds: float = 160
    wall_share: float = 1 / 4
    memory: int = 3 * 2**30
    processes: int = 64
    files: int = 256
    disk: int = 64 * 2**20
    judge_cpu_seconds: float = 30
    judge_memory: int = 3 * 2**30

    @property
    def judge_wall_seconds(self) -> float:
        """Seconds on the clock for a verdict, including starts and restarts of kernels."""
        return 2 * self.notebook_wall_seconds + 300

    def scaled(self, exercise_cpu_seconds: float) -> "Limits":
        """Return the same bounds with all times scaled, so that the checks of an exercise have these seconds."""
        factor = exercise_cpu_seconds / self.exercise_cpu_seconds
        return replace(self, cell_cpu_seconds=factor * self.cell_cpu_seconds, exercise_cpu_seconds=exercise_cpu_seconds,
                       notebook_wall_seconds=factor * self.notebook_wall_seconds,
                       judge_cpu_seconds=factor * self.judge_cpu_seconds)


@dataclass(frozen=True)
class Options:
    """The conditions of a judgement; a verdict depends on all of them."""

    device: Device = "cpu"
    isolation: Isolation = "bubblewrap"
    limits: Limits = Limits()


def require_device(device: str) -> Device:
    """Return the device of this name; ``AutograderError`` where "cuda" is asked for and torch finds none."""
    if device != "cuda":
        return "cpu"
    from ..runtime import arrays  # imports numpy

    torch = arrays.torch_or_none()
    if not (torch and torch.cuda.is_available()):
        raise AutograderError("--device cuda: torch finds no CUDA here; leave the option out to grade on the CPU")
    return "cuda"


def options_of(device: str, isolated: bool, exercise_cpu_seconds: float) -> Options:
    """Return the options that a command line states; all other limits are scaled with the seconds of an exercise."""
    return Options(require_device(device), "bubblewrap" if isolated else "none", Limits().scaled(exercise_cpu_seconds))
