"""A judge in a process of its own, watched from this one: whatever a submission does to it, a verdict comes in time.

The kernels have bounds; so has the one who reads what they answer. Seconds and memory are those of the judge alone,
from when it has what it needs of the TP.
"""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from multiprocessing.connection import Connection
from typing import Any

import psutil

from ..course import Course
from ..sandbox.inside import die_with_parent
from ..sandbox.outside import Sandbox
from ..sandbox.terms import Terms
from ..sandbox.walls import SandboxError
from .concluding import nothing
from .submission import Submission
from .verdict import Verdict

BEGUN = "begun"
LOOK_EVERY = 0.2  # seconds


class JudgeLost(Exception):
    """The process that judges was killed by somebody else, twice; the message is for the instructor."""


class WatchedJudge:
    """Judges like `Judge`, in a process that is started when it is first needed, and anew when it is lost."""

    def __init__(self, course: Course, terms: Terms = Terms()):
        self.course, self.terms = course, terms
        self._process: subprocess.Popen[bytes] | None = None

    def begin(self) -> None:
        """Start the process, unless it is there, and do not wait for it: it has much to import."""
        if self._process is None:
            self._start()

    def judge(self, handed: Submission, seed: str) -> Verdict:
        """The verdict on whatever was handed in; ``JudgeLost`` when the machine has no room for a judge."""
        for _ in range(2):
            try:
                self.begin()
                self._connection.send((handed, seed))
                return self._answer(handed, seed)
            except (EOFError, ConnectionError):
                self.close()
        raise JudgeLost("its judge was killed, twice: does it need more memory than there is?")

    def close(self) -> None:
        """End the process, and all kernels with it."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._connection.close()
            self._process = None

    def _start(self) -> None:
        ours, theirs = socket.socketpair()
        command = [sys.executable, "-m", __name__, str(theirs.fileno()), str(os.getpid())]
        self._process = subprocess.Popen(command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL,
                                         env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))})
        theirs.close()
        self._connection: Connection[Any, Any] = Connection(ours.detach())
        self._connection.send((self.course, self.terms))

    def _answer(self, handed: Submission, seed: str) -> Verdict:
        assert self._process
        watch = None
        while True:
            if not self._connection.poll(LOOK_EVERY):
                broken = watch.broken() if watch else None
                if broken:
                    self.close()
                    return nothing(self.course, handed, seed, self.terms, broken)
                continue
            answer = self._connection.recv()
            if isinstance(answer, Verdict):
                return answer
            if isinstance(answer, Exception):
                raise answer
            watch = _Watch(self._process.pid, self.terms)


_begun: list[WatchedJudge] = []


@contextlib.contextmanager
def begun(course: Course, terms: Terms, number: int) -> Iterator[None]:
    """So many judges are started ahead, for whoever takes them, and end with this."""
    judges = [WatchedJudge(course, terms) for _ in range(number)]
    try:
        for judge in judges:
            judge.begin()
            _begun.append(judge)
        yield
    finally:
        for judge in judges:
            judge.close()
        _begun.clear()


def taken(course: Course, terms: Terms) -> WatchedJudge:
    """A judge that was begun, or a new one."""
    for judge in _begun:
        if (judge.course, judge.terms) == (course, terms):
            _begun.remove(judge)
            return judge
    return WatchedJudge(course, terms)


class _Watch:
    """What one judgement has used."""

    def __init__(self, pid: int, terms: Terms):
        self.process, self.limits = psutil.Process(pid), terms.limits
        self._seconds, self._memory = self._used()
        self._started = time.monotonic()

    def _used(self) -> tuple[float, int]:
        times = self.process.cpu_times()
        return times.user + times.system, self.process.memory_info().rss

    def broken(self) -> str | None:
        """The bound that is broken, in words; None while none is, or when the process has ended."""
        try:
            seconds, memory = self._used()
        except psutil.Error:
            return None
        if seconds - self._seconds > self.limits.judge_seconds:
            return f"comparing its answers took more than {self.limits.judge_seconds:.3g} seconds"
        if memory - self._memory > self.limits.judge_memory:
            return f"comparing its answers took more than {self.limits.judge_memory / 2**30:.3g} GiB of memory"
        if time.monotonic() - self._started > self.limits.clock:
            return f"judging it took more than {self.limits.clock:.3g} seconds"
        return None


def serve(connection: "Connection[Any, Any]") -> None:
    """Judge what comes over a connection, until it is closed."""
    course, terms = connection.recv()
    with Sandbox(course.helpers, terms) as sandbox:
        with contextlib.suppress(SandboxError):  # which is told where something is to be judged
            sandbox.begin()
        from ..authoring.oracle import oracle  # brings torch, as the sandbox does beside it
        from .judge import Judge

        judge = Judge(course, terms, sandbox)
        while True:
            try:
                handed, seed = connection.recv()
            except EOFError:
                return
            try:
                oracle(course, handed.assignment)
                connection.send(BEGUN)
                answer: Verdict | Exception = judge.judge(handed, seed)
            except Exception as error:  # not the submission's fault: told to whoever asked
                answer = error
            connection.send(answer)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is the parent's to handle
    die_with_parent()
    if os.getppid() != int(sys.argv[2]):  # killed already
        os._exit(1)
    serve(Connection(int(sys.argv[1])))
