"""What a kernel uses, and how much of it is left."""

import contextlib
import time
from dataclasses import dataclass, field

import psutil


@dataclass(frozen=True)
class Usage:
    """Memory in bytes, processes, and CPU seconds of everything beneath a process."""

    memory: int
    processes: int
    seconds: float


def usage_beneath(parent: psutil.Process) -> Usage:
    """What all processes beneath ``parent`` use now."""
    memory = count = 0
    seconds = 0.0
    for process in parent.children(recursive=True):
        with contextlib.suppress(psutil.Error):
            memory += process.memory_info().rss
            times = process.cpu_times()
            seconds += times.user + times.system
            count += 1
    return Usage(memory, count, seconds)


@dataclass
class Budget:
    """CPU seconds that the requests of one cell or exercise may use together; by the clock, ``patience`` times as many.

    A right answer never waits, so what waits is given more time than what computes, but not for ever.
    """

    seconds: float
    patience: float
    spent: float = 0.0  # CPU seconds of the requests so far
    started: float = field(default_factory=time.monotonic)

    def broken(self) -> str | None:
        """The sentence for the student when the budget is spent."""
        if self.spent > self.seconds:
            return f"it computed for more than {self.seconds:.3g} seconds; is there a loop that does not end?"
        if time.monotonic() - self.started > self.seconds * self.patience:
            waited = self.seconds * self.patience
            return f"it took more than {waited:.3g} seconds, most of them waiting; is there a loop that does not end?"
        return None
