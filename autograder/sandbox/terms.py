"""Under which conditions a submission is judged, and what it may use."""

from dataclasses import dataclass
from typing import Literal

Device = Literal["cpu", "cuda"]


@dataclass(frozen=True)
class Limits:
    """Bounds of one submission. Seconds are CPU seconds; by the clock, ``patience`` times as many may pass."""

    cell_seconds: float = 15
    exercise_seconds: float = 15
    notebook_seconds: float = 300
    patience: float = 4
    memory: int = 3 * 2**30
    processes: int = 64
    files: int = 256
    disk: int = 64 * 2**20


@dataclass(frozen=True)
class Terms:
    """The conditions of a judgement; a verdict depends on all of them."""

    device: Device = "cpu"
    isolated: bool = True
    limits: Limits = Limits()

    @property
    def isolation(self) -> str:
        """How reports call it."""
        return "bubblewrap" if self.isolated else "none"
