"""The sandbox, from outside: bubblewrap around a warm kernel, deadlines and bounds, and no trust in what comes back."""

import contextlib
import fcntl
import glob
import os
import pwd
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

import psutil

from ..runtime import recorded, wire
from ..runtime.recorded import Error, Op, Reply
from . import cgroup, gpu, kernel, restrictions, syscalls
from .options import Options
from .restrictions import SandboxError, require_bubblewrap
from .watchdog import Budget, Usage, usage_beneath

START_SECONDS = 120
FORK_SECONDS = 30
PREFIX, YOUNG = "kernel-", 60  # of the folders of sandboxes; seconds
WATCH_AFTER = 0.2  # seconds: what is answered sooner is not worth measuring


class KernelLost(Exception):
    """A kernel died, hung or broke a bound. ``verdict`` says which; the message is for the student."""

    def __init__(self, verdict: Literal["timeout", "crashed"], message: str):
        super().__init__(message)
        self.verdict: Literal["timeout", "crashed"] = verdict


@dataclass(frozen=True)
class Ran:
    """What came of a cell: the error it stopped with, if so, and the beginning of what it printed, as it was sent."""

    error: Error | None
    printed: str


class Sandbox:
    """A warm parent in bubblewrap, from which kernels are forked; a context manager.

    What is in ``_home``, ``_log`` and ``_process`` belongs to a warm parent that was started here; a branch
    (`branches`) has its warm parent from another sandbox.
    """

    def __init__(self, helpers: Sequence[Path], options: Options):
        self.helpers, self.options = helpers, options
        self._process: subprocess.Popen[bytes] | None = None
        self._parent: psutil.Process | None = None  # once it is ready to fork
        self._home: str | None = None
        self._group: cgroup.Group | None = None

    def __enter__(self) -> "Sandbox":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()

    def begin(self) -> None:
        """Start the warm parent, unless it is there, and do not wait for it: it has much to import."""
        if self._process is None or self._process.poll() is not None:
            self.close()
            self._start()

    def fork(self) -> "Kernel":
        """A fresh kernel. Without nested namespaces the warm parent serves one kernel only, and is started anew."""
        self._ready()
        try:
            return self._fork()
        except (OSError, SandboxError):
            self.close()
            self._ready()
            return self._fork()

    def close(self) -> None:
        """End the warm parent and all kernels."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._control.close()
            self._log.close()
            self._process = self._parent = None
        if self._group:
            self._group.close()
            self._group = None
        if self._home:
            shutil.rmtree(self._home, ignore_errors=True)
            os.close(self._lock)
            self._home = None

    def kill(self, guard: int) -> None:
        """Kill one kernel and all that it started."""
        if self._parent is None:
            return
        with contextlib.suppress(psutil.Error):  # what has ended needs no end
            for process in self._parent.children():  # the parent may hardly come to run among what has to end
                if guard in _numbers(process):
                    process.kill()
        try:
            self._control.sendall(b"kill %d" % guard)
            self._answer(10)
        except (OSError, SandboxError):
            self.close()
        if not self._reusable:
            self.close()

    def usage(self) -> Usage:
        """What everything beneath the warm parent uses; the seconds count from any time, for their differences."""
        assert self._parent
        usage = usage_beneath(self._parent)
        return replace(usage, seconds=self._group.seconds()) if self._group else usage

    def held_on_gpu(self) -> int:
        """Bytes that everything beneath the warm parent holds on the GPU."""
        assert self._parent
        return gpu.held({process.pid for process in self._parent.children(recursive=True)})

    def _start(self) -> None:
        program = require_bubblewrap() if self.options.isolated else None  # before anything is opened
        account = self._account()
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        fd = theirs.fileno()
        _sweep()
        self._home = tempfile.mkdtemp(prefix=PREFIX)
        self._lock = os.open(self._home, os.O_RDONLY)
        fcntl.flock(self._lock, fcntl.LOCK_EX)  # gone with this process, however it ends
        self._log = tempfile.TemporaryFile("w+", errors="replace")
        command, variables = self._command(fd, program)
        rights: dict[str, Any] = {}
        if account:
            os.chown(self._home, account.pw_uid, account.pw_gid)
            rights = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
        self._group = None if account else cgroup.make()  # another user may not enter a group of this one's
        if self._group:
            command = self._group.enter(command)
        with theirs:
            self._process = subprocess.Popen(command, pass_fds=[fd], stdin=subprocess.DEVNULL, stdout=self._log,
                                             stderr=self._log, env=variables, start_new_session=True, cwd="/", **rights)

    def _ready(self) -> None:
        """Wait for the warm parent."""
        self.begin()
        if self._parent is not None:
            return
        assert self._process
        try:
            self._parent = self._warm_parent(self._process.pid)
        except (OSError, SandboxError, psutil.Error):
            self._log.seek(0)
            last = (self._log.read().strip().splitlines() or ["no reason given"])[-1]
            self.close()
            raise SandboxError(f"the kernel does not start: {last}") from None
        self._reusable = True

    def _account(self) -> pwd.struct_passwd | None:
        """Whose rights student code has, when they are not ours and bubblewrap does not take them away."""
        if self.options.isolated or not self.options.account:
            return None
        if os.geteuid():
            raise SandboxError(f"student code can run as {self.options.account} only where root grades")
        try:
            return pwd.getpwnam(self.options.account)
        except KeyError:
            raise SandboxError(f"there is no account called {self.options.account}") from None

    def _command(self, fd: int, program: str | None) -> tuple[list[str], dict[str, str]]:
        """How the warm parent is started, by bubblewrap or without it, and its environment."""
        if program is None:
            folders = {str(helper.parent) for helper in self.helpers}
            path = os.pathsep.join([str(restrictions.ENGINE.parent), *sorted(folders)])
            variables = restrictions.environment(str(self._home), path, self.options.device)
            return [sys.executable, "-B", str(restrictions.KERNEL), str(fd), *self._bounds()], variables
        path = f"{restrictions.RUNTIME}:{restrictions.HELPERS}"
        variables = restrictions.environment(kernel.SCRATCH, path, self.options.device)
        built = restrictions.walls(variables, self.helpers, self.options)
        python = os.path.abspath(sys.executable)  # "../bin/python" leads nowhere inside the walls
        started = [python, "-B", "/kernel.py", str(fd), *self._bounds()]
        return [program, *built, "--", *started], variables

    def _bounds(self) -> list[str]:
        """What the kernel is started with: the filter of system calls, and its limits."""
        limits = self.options.limits
        values = {"disk": limits.disk, "files": limits.files, "processes": limits.processes,
                  "cpu": int(limits.notebook_seconds) + 1, "isolated": int(self.options.isolated),
                  "address_space": 0 if self.options.device == "cuda" else limits.memory,
                  "gpu": limits.memory if self.options.device == "cuda" else 0}
        names = " ".join(helper.stem for helper in self.helpers)
        return [syscalls.program(self.options).hex(), names, *(f"{name}={value}" for name, value in values.items())]

    def _warm_parent(self, root: int) -> psutil.Process:
        """Wait for the process that forks; ``root`` is bubblewrap, where there is one, and it is beneath that."""
        number = int(self._answer(START_SECONDS).split()[1])
        if not self.options.isolated:
            return psutil.Process(number)
        process = psutil.Process(root)
        depth = len(_numbers(process))  # bubblewrap's namespace of processes has one number more
        for one in process.children(recursive=True):
            if _numbers(one)[depth:] == [number]:
                return one
        raise SandboxError("the warm parent is gone")

    def _fork(self) -> "Kernel":
        ours, theirs = socket.socketpair()
        with theirs:
            socket.send_fds(self._control, [b"fork"], [theirs.fileno()])
        apart, guard = self._answer(FORK_SECONDS).split()
        self._reusable = apart == b"1" or not self.options.isolated
        return Kernel(self, ours, int(guard))

    def _answer(self, seconds: float) -> bytes:
        if not select.select([self._control], [], [], seconds)[0]:
            raise SandboxError("the warm parent does not answer")
        answer = self._control.recv(64)
        if not answer:
            raise SandboxError("the warm parent is gone")
        return answer


def _sweep() -> None:
    """Remove the folders of sandboxes whose process was killed; a young one may not be locked yet."""
    for folder in glob.glob(f"{tempfile.gettempdir()}/{PREFIX}*"):
        with contextlib.suppress(OSError):
            lock = os.open(folder, os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY)
            try:
                if time.time() - os.fstat(lock).st_mtime > YOUNG:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)


class Kernel:
    """One forked kernel; every request has a budget, and an answer that is not one kills it."""

    def __init__(self, sandbox: Sandbox, sock: socket.socket, guard: int):
        self.sandbox, self.sock, self.guard = sandbox, sock, guard
        self._number = 0

    def cell(self, source: str, budget: Budget) -> "Ran":
        """Run a cell."""
        answer = self._ask({"do": "cell", "source": source}, budget)
        error, printed = answer.get("error"), answer.get("printed")
        return Ran(None if error is None else recorded.error_from_tree(error),
                   printed[: kernel.MAX_OUTPUT] if isinstance(printed, str) else "")

    def replay(self, ops: list[Op], budget: Budget) -> Reply:
        """Replay a transcript; the reply is checked to be one."""
        answer = self._ask({"do": "replay", "ops": ops, "device": self.sandbox.options.device}, budget)
        try:
            return recorded.from_tree(answer.get("reply"))
        except recorded.ReplyError:
            raise self._no_answer() from None

    def kill(self) -> None:
        """End the kernel and everything that it started."""
        self.sock.close()
        self.sandbox.kill(self.guard)

    def _lost(self, verdict: Literal["timeout", "crashed"], message: str) -> KernelLost:
        self.kill()
        return KernelLost(verdict, message)

    def _no_answer(self) -> KernelLost:
        return self._lost("crashed", "the kernel sent back something that is not an answer")

    def _ask(self, message: dict[str, Any], budget: Budget) -> dict[str, Any]:
        self._number += 1
        data = wire.pack({"number": self._number, **message})
        try:
            self.sock.settimeout(FORK_SECONDS)
            self.sock.sendall(len(data).to_bytes(4, "little") + data)
            reply = wire.unpack(self._answer(budget))
        except (OSError, EOFError):
            raise self._lost("crashed", "the kernel died: something in the code ends the process, "
                             "or needs more memory than there is") from None
        except wire.WireError:
            raise self._no_answer() from None
        if not isinstance(reply, dict) or reply.get("number") != self._number or "failed" in reply:
            raise self._no_answer()
        return reply

    def _answer(self, budget: Budget) -> bytes:
        """The bytes of the next message, while the bounds are watched."""
        watch = _Watch(self.sandbox, budget)
        try:
            length = int.from_bytes(self._bytes(4, watch), "little")
            if length > wire.MAX_BYTES:
                raise wire.WireError("too long")
            return self._bytes(length, watch)
        finally:
            watch.book()

    def _bytes(self, count: int, watch: "_Watch") -> bytes:
        parts = bytearray()
        while len(parts) < count:
            if select.select([self.sock], [], [], WATCH_AFTER)[0]:
                part = self.sock.recv(min(count - len(parts), 2**20))
                if not part:
                    raise EOFError
                parts += part
            broken = watch.broken()
            if broken:
                raise self._lost(*broken)
        return bytes(parts)


def _numbers(process: psutil.Process) -> list[int]:
    """The numbers of a process, in each namespace that sees it; none when it has ended."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{process.pid}/status").read_text().splitlines():
            if line.startswith("NSpid:"):
                return [int(number) for number in line.split()[1:]]
    return []


class _Watch:
    """Looks at one request from time to time, and books what it uses on the budget."""

    def __init__(self, sandbox: Sandbox, budget: Budget):
        self.sandbox, self.budget = sandbox, budget
        self._started = self._booked = time.monotonic()
        self._seen: float | None = None  # CPU seconds at the last look

    def book(self, computed: float = 0.0) -> None:
        """Book the time since the last booking, and CPU seconds."""
        now = time.monotonic()
        self.budget.book(computed, now - self._booked)
        self._booked = now

    def broken(self) -> tuple[Literal["timeout", "crashed"], str] | None:
        """The bound that is broken, as a verdict and a sentence; None while none is."""
        if time.monotonic() - self._started < WATCH_AFTER:
            return None
        limits, usage = self.sandbox.options.limits, self.sandbox.usage()
        self.book(0.0 if self._seen is None else max(usage.seconds - self._seen, 0))
        self._seen = usage.seconds
        if usage.memory > limits.memory:
            return "crashed", f"it used more than {limits.memory / 2**30:.3g} GiB of memory"
        if self.sandbox.options.device == "cuda" and self.sandbox.held_on_gpu() > limits.memory:
            return "crashed", f"it used more than {limits.memory / 2**30:.3g} GiB of the GPU's memory"
        if usage.processes > limits.processes:
            return "crashed", f"it started more than {limits.processes} processes"
        late = self.budget.broken()
        return ("timeout", late) if late else None
