"""A judge in a process of its own, watched from this one: whatever a submission does to it, a verdict comes in time.

Beside the kernels' bounds there are bounds on the judge, which reads what they answer: the seconds and the memory of
its own process, counted from when it has loaded the session.
"""

import contextlib
import functools
import math
import threading
import time
from dataclasses import replace
from multiprocessing.connection import Connection
from typing import Any

import psutil

from .. import AutograderError
from ..course import Course
from ..model.source import load_source
from ..sandbox.options import Options
from .judge_fork_server import JudgeForkServer
from .submission import Submission
from .verdict import Verdict

POLL_SECONDS = 0.2


class JudgeProcess:
    """Judges like `Judge`, in a process that is forked when it is first needed, and anew when it is lost."""

    def __init__(self, fork_server: JudgeForkServer):
        self.fork_server, self.course, self.options = fork_server, fork_server.course, fork_server.options
        self._connection: Connection[Any, Any] | None = None
        self._process: psutil.Process | None = None  # known once it has begun with a submission

    def judge(self, submission: Submission, seed: str, soft_seconds: float = math.inf) -> Verdict:
        """Judge whatever was handed in; ``AutograderError`` when the machine has no room for a judge.

        ``SoftLimitExceeded`` when it runs for more than ``soft_seconds``.
        """
        for _ in range(2):
            try:
                if self._connection is None:
                    self._connection = self.fork_server.fork()
                self._connection.send((submission, seed, soft_seconds))
                return self._verdict(self._connection, submission, seed)
            except (EOFError, ConnectionError, psutil.NoSuchProcess):
                self.close()
        raise AutograderError("its judge was killed, twice: does it need more memory than there is?")

    def close(self) -> None:
        """Kill the process, and with it all kernels; the next submission gets another."""
        if self._process is not None:
            with contextlib.suppress(psutil.Error):
                self._process.kill()
            self._process = None
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _verdict(self, connection: "Connection[Any, Any]", submission: Submission, seed: str) -> Verdict:
        watch = None
        while True:
            if not connection.poll(POLL_SECONDS):
                if watch and (exceeded := watch.exceeded()):
                    self.close()
                    source = load_source(self.course, submission.session)
                    verdict = Verdict.ungraded(source, submission, seed, self.options, exceeded)
                    return replace(verdict, seconds=round(watch.wall_used, 3))
                continue
            match connection.recv():
                case Verdict() as verdict:
                    return verdict
                case Exception() as error:
                    raise error
                case pid:
                    self._process = psutil.Process(pid)
                    watch = _JudgeWatch(self._process, self.options)


@functools.cache
def server_of(course: Course, options: Options, inputs_digest: str) -> JudgeForkServer:
    """Return this process's fork server for judges of a course, with these options.

    ``inputs_digest`` is that of what a session's verdicts are made from, where it may change while this process lives,
    else empty. It has no default, because a cache takes calls with and without an argument for two.
    """
    return JudgeForkServer(course, options)


_thread = threading.local()


def judge_of_thread(course: Course, options: Options, inputs_digest: str = "") -> JudgeProcess:
    """Return the judge of this thread, which is kept while it is asked for the same.

    ``inputs_digest`` is that of what a session's verdicts are made from, where it may change while this process lives.
    """
    server = server_of(course, options, inputs_digest)
    judge: JudgeProcess | None = getattr(_thread, "judge", None)
    if judge is None or judge.fork_server is not server:
        if judge and inputs_digest:
            judge.fork_server.close()  # it may have read other checks
        judge = _thread.judge = JudgeProcess(server)
    return judge


class _JudgeWatch:
    """The time and memory that one judgement has used."""

    def __init__(self, process: psutil.Process, options: Options):
        self.process, self.limits = process, options.limits
        self._seconds, self._memory = self._used()
        self._started = time.monotonic()

    def _used(self) -> tuple[float, int]:
        times = self.process.cpu_times()
        return times.user + times.system, self.process.memory_info().rss

    @property
    def wall_used(self) -> float:
        """The seconds on the clock so far."""
        return time.monotonic() - self._started

    def exceeded(self) -> str | None:
        """Return the limit that is exceeded, in words; None while none is, or when the process has ended."""
        try:
            seconds, memory = self._used()
        except psutil.Error:
            return None
        if seconds - self._seconds > self.limits.judge_cpu_seconds:
            return f"comparing its answers took more than {self.limits.judge_cpu_seconds:.3g} seconds"
        if memory - self._memory > self.limits.judge_memory:
            return f"comparing its answers took more than {self.limits.judge_memory / 2**30:.3g} GiB of memory"
        if self.wall_used > self.limits.judge_wall_seconds:
            return f"judging it took more than {self.limits.judge_wall_seconds:.3g} seconds"
        return None
