"""Measure what a kernel uses, and how much of its budget is left."""

import contextlib
import math
from dataclasses import dataclass
from pathlib import Path

import psutil


@dataclass(frozen=True)
class Usage:
    """Memory in bytes, processes, and CPU seconds of everything beneath a process."""

    memory: int
    processes: int
    seconds: float


# The system stores unread data of a socket, and counts it for no process.
BYTES_OF_AN_OPEN_FILE = 2 * 212_992


def usage_beneath(parent: psutil.Process) -> Usage:
    """Return what all processes beneath ``parent`` use now; the seconds are also those of processes that have ended."""
    memory = count = 0
    seconds = 0.0
    with contextlib.suppress(psutil.Error):
        times = parent.cpu_times()
        seconds = times.children_user + times.children_system
    for process in parent.children(recursive=True):
        with contextlib.suppress(psutil.Error, OSError):
            times = process.cpu_times()
            seconds += times.user + times.system + times.children_user + times.children_system
            count += 1
            fields = status(process)
            memory += held(fields) + _open_files(process, fields) * BYTES_OF_AN_OPEN_FILE
    return Usage(memory, count, seconds)


def status(process: psutil.Process) -> dict[bytes, list[bytes]]:
    """Return what the system says of a process, by field.

    A process chooses its own name: any bytes, but for line feeds, which the system writes as ``\\n``.
    """
    lines = Path(f"/proc/{process.pid}/status").read_bytes().split(b"\n")
    return {name: rest.split() for name, _, rest in (line.partition(b":") for line in lines)}


def held(fields: dict[bytes, list[bytes]]) -> int:
    """Return the bytes that a process holds by its status: in memory, in the swap, and in the tables of its pages."""
    return 1024 * sum(int(fields[name][0]) for name in (b"VmRSS", b"VmSwap", b"VmPTE") if name in fields)


def _open_files(process: psutil.Process, fields: dict[bytes, list[bytes]]) -> int:
    """Return how many files a process has open; where that is hidden, how many the system has made room for."""
    try:
        count: int = process.num_fds()
        return count
    except psutil.AccessDenied:
        return int(fields[b"FDSize"][0])


class SetAside(Exception):
    """A submission takes longer than its pace allows, and is judged after the others; ``parts`` of it are done."""

    parts = 0


@dataclass
class Budget:
    """The budget of all requests of one cell or exercise: CPU seconds, and seconds on the clock.

    The clock allows more than the CPU, because a right answer computes and does not wait. What is spent here is also
    spent of ``whole``, the notebook's budget. After ``patience`` seconds on the clock the submission is set aside.
    """

    seconds: float
    clock: float
    whole: "Budget | None" = None
    patience: float = math.inf
    computed: float = 0.0  # CPU seconds of the requests so far
    passed: float = 0.0  # seconds on the clock

    def book(self, computed: float, passed: float) -> None:
        """Spend CPU seconds and seconds on the clock."""
        self.computed += computed
        self.passed += passed
        if self.whole:
            self.whole.book(computed, passed)

    @property
    def is_late(self) -> bool:
        """Return whether it is to be set aside."""
        return self.passed > self.patience

    def broken(self) -> str | None:
        """Return the sentence for the student when the budget, or the notebook's, is spent."""
        if self.computed > self.seconds:
            return f"it computed for more than {self.seconds:.3g} seconds; is there a loop that does not end?"
        if self.passed > self.clock:
            return (f"it took more than {self.clock:.3g} seconds, most of them waiting; "
                    "is there a loop that does not end?")
        if self.whole and self.whole.passed > self.whole.clock:
            return f"the whole notebook took more than {self.whole.clock:.3g} seconds"
        return None
