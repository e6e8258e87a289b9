"""Measure what a kernel uses, and how much of its budget is left."""

import contextlib
import shutil
import subprocess
from collections.abc import Collection
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
CUDA_CONTEXT = 2**30  # bytes that CUDA takes of the GPU for each process, before anything is computed


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
            memory += memory_bytes(fields) + _open_files(process, fields) * BYTES_OF_AN_OPEN_FILE
    return Usage(memory, count, seconds)


def status(process: psutil.Process) -> dict[bytes, list[bytes]]:
    """Return what the system says of a process, by field.

    A process chooses its own name: any bytes, but for line feeds, which the system writes as ``\\n``.
    """
    lines = Path(f"/proc/{process.pid}/status").read_bytes().split(b"\n")
    return {name: rest.split() for name, _, rest in (line.partition(b":") for line in lines)}


def memory_bytes(fields: dict[bytes, list[bytes]]) -> int:
    """Return the bytes that a process holds by its status: in memory, in the swap, and in the tables of its pages."""
    return 1024 * sum(int(fields[name][0]) for name in (b"VmRSS", b"VmSwap", b"VmPTE") if name in fields)


def _open_files(process: psutil.Process, fields: dict[bytes, list[bytes]]) -> int:
    """Return how many files a process has open; where that is hidden, how many the system has made room for."""
    try:
        count: int = process.num_fds()
        return count
    except psutil.AccessDenied:
        return int(fields[b"FDSize"][0])


def gpu_bytes(pids: Collection[int]) -> int:
    """Return the bytes on the GPU of these processes; 0 where the driver does not tell, as in some containers."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return 0
    command = [program, "--query-compute-apps=pid,used_memory", "--format=csv,noheader,nounits"]
    try:
        table = subprocess.run(command, capture_output=True, text=True, timeout=10).stdout
    except (OSError, subprocess.TimeoutExpired):
        return 0
    rows = [line.split(",") for line in table.splitlines() if line.count(",") == 1]
    return sum(max(0, 2**20 * int(mebibytes) - CUDA_CONTEXT) for pid, mebibytes in rows
               if mebibytes.strip().isdigit() and pid.strip().isdigit() and int(pid) in pids)


@dataclass
class Budget:
    """The budget of all requests of one cell or exercise: CPU seconds, and seconds on the clock.

    The clock allows more than the CPU, because a right answer computes and does not wait. What is spent here is also
    spent of ``parent``, the notebook's budget.
    """

    cpu_limit: float
    wall_limit: float
    parent: "Budget | None" = None
    cpu_used: float = 0.0
    wall_used: float = 0.0

    def book(self, cpu: float, wall: float) -> None:
        """Spend CPU seconds and seconds on the clock."""
        self.cpu_used += cpu
        self.wall_used += wall
        if self.parent:
            self.parent.book(cpu, wall)

    def exceeded(self) -> str | None:
        """Return the sentence for the student when the budget, or the notebook's, is spent."""
        if self.cpu_used > self.cpu_limit:
            return f"it computed for more than {self.cpu_limit:.3g} seconds; is there a loop that does not end?"
        if self.wall_used > self.wall_limit:
            return (f"it took more than {self.wall_limit:.3g} seconds, most of them waiting; "
                    "is there a loop that does not end?")
        if self.parent and self.parent.wall_used > self.parent.wall_limit:
            return f"the whole notebook took more than {self.parent.wall_limit:.3g} seconds"
        return None
