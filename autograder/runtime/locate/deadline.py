"""Bound a search in CPU seconds of its thread, so that a busy machine finds the same places as an idle one."""

from __future__ import annotations

import time
from dataclasses import dataclass

WALL_FACTOR = 3  # seconds on the clock for each CPU second: the machine may be busy, and an answer may wait


@dataclass(frozen=True)
class Deadline:
    """The end of a search: by the CPU time of this thread, or by the clock."""

    cpu: float
    wall: float

    @classmethod
    def after(cls, seconds: float) -> Deadline:
        """Return the deadline after so many CPU seconds from now, and `WALL_FACTOR` times as many on the clock."""
        return cls(time.thread_time() + seconds, time.monotonic() + WALL_FACTOR * seconds)

    def later(self, seconds: float) -> Deadline:
        """Return the deadline so many CPU seconds later."""
        return Deadline(self.cpu + seconds, self.wall + WALL_FACTOR * seconds)

    def halved(self) -> Deadline:
        """Return the deadline in half of the time that is left."""
        return Deadline(self.cpu - self.seconds / 2, self.wall - self.wall_seconds / 2)

    @property
    def has_passed(self) -> bool:
        """Whether the search has to end."""
        return self.seconds <= 0 or self.wall_seconds <= 0

    @property
    def seconds(self) -> float:
        """The CPU seconds that are left."""
        return self.cpu - time.thread_time()

    @property
    def wall_seconds(self) -> float:
        """The seconds on the clock that are left."""
        return self.wall - time.monotonic()
