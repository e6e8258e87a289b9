"""Make a call in a forked copy of this process, so that whatever the call does stays there."""

from __future__ import annotations

import contextlib
import faulthandler
import os
import select
import signal
import sys
import warnings
from collections.abc import Callable
from typing import NoReturn

EXTRA_MEMORY = 2 * 2**30  # bytes that the copy may use beyond what this process uses
MAX_BYTES = 2**16  # of the answer


def call_in_fork(call: Callable[[], bytes], seconds: float) -> bytes | None:
    """Return the bytes that a call returns in a copy of this process, from which nothing else comes back.

    None where it fails, dies or takes longer, and where a process cannot be copied: Linux alone does that safely.
    """
    if sys.platform != "linux":
        return None
    reading_end, writing_end = os.pipe()
    try:
        child = _fork()
        if child == 0:
            _write_answer(call, writing_end)
    except OSError:  # there is no room for another process
        os.close(reading_end)
        return None
    finally:
        os.close(writing_end)
    try:
        poll = select.poll()  # unlike `select`, it works where a thousand files are open
        poll.register(reading_end, select.POLLIN)
        return (os.read(reading_end, MAX_BYTES) or None) if poll.poll(1000 * seconds) else None
    finally:
        os.close(reading_end)
        os.kill(child, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(child, 0)


def _fork() -> int:
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):  # of threads, which the copy has not
        return os.fork()


def _write_answer(call: Callable[[], bytes], writing_end: int) -> NoReturn:
    """Write in the copy what the call returns, then end the copy; nothing is printed."""
    import resource  # not on Windows

    try:
        sys.stdout = sys.stderr = open(os.devnull, "w")
        os.dup2(sys.stdout.fileno(), 1)
        os.dup2(sys.stderr.fileno(), 2)
        faulthandler.disable()
        with contextlib.suppress(OSError), open("/proc/self/statm") as file:  # a kernel has none, and a limit
            used = int(file.read().split()[0]) * resource.getpagesize()
            resource.setrlimit(resource.RLIMIT_AS, (used + EXTRA_MEMORY, used + EXTRA_MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.write(writing_end, call())
    finally:
        os._exit(0)
