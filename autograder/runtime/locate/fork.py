"""Make a call in a copy of this process, so that whatever it does stays there."""

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

ROOM = 2 * 2**30  # bytes of memory that the copy may use more
MAX_BYTES = 2**16


def apart(call: Callable[[], bytes], seconds: float) -> bytes | None:
    """Return the bytes that a call returns in a copy of this process, from which nothing else comes back.

    None where it fails, dies or takes longer, and where a process cannot be copied: Linux alone does that safely.
    """
    if sys.platform != "linux":
        return None
    inside, outside = os.pipe()
    try:
        copy = _forked()
        if copy == 0:
            _answer(call, outside)
    except OSError:  # there is no room for another process
        os.close(inside)
        return None
    finally:
        os.close(outside)
    try:
        waiting = select.poll()  # as `select` cannot, also where a thousand files are open
        waiting.register(inside, select.POLLIN)
        return (os.read(inside, MAX_BYTES) or None) if waiting.poll(1000 * seconds) else None
    finally:
        os.close(inside)
        os.kill(copy, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(copy, 0)


def _forked() -> int:
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):  # of threads, which the copy has not
        return os.fork()


def _answer(call: Callable[[], bytes], outside: int) -> NoReturn:
    """Write what the call returns, in the copy, which ends here, in silence."""
    import resource  # not on Windows

    try:
        sys.stdout = sys.stderr = open(os.devnull, "w")
        os.dup2(sys.stdout.fileno(), 1)
        os.dup2(sys.stderr.fileno(), 2)
        faulthandler.disable()
        with contextlib.suppress(OSError), open("/proc/self/statm") as file:  # a kernel has none, and a limit
            used = int(file.read().split()[0]) * resource.getpagesize()
            resource.setrlimit(resource.RLIMIT_AS, (used + ROOM, used + ROOM))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.write(outside, call())
    finally:
        os._exit(0)
