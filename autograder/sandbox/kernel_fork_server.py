"""The process that imports what notebooks import and forks kernels, seen from outside.

It takes orders over a socket and runs no line of a student's. `start` starts one in bubblewrap, with a home and a log
of its own; `KernelForkServer.clone` forks another one that shares what this one has imported.
"""

import contextlib
import fcntl
import glob
import json
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
from dataclasses import asdict, replace
from pathlib import Path
from typing import IO, Any

import psutil

from ..runtime.text import last_line
from . import cgroup, kernel, restrictions, syscalls
from .options import ACCOUNT, Options
from .restrictions import SandboxError, require_bubblewrap
from .watchdog import Usage, gpu_bytes, status, usage_beneath

START_SECONDS = 120
FORK_SECONDS = 30
KILL_SECONDS = 10
PREFIX, MIN_AGE_SECONDS = "kernel-", 60  # of the folders of sandboxes


class KernelForkServerLost(SandboxError):
    """The process is gone or does not answer; a new one may work."""


class KernelForkServer:
    """Forks kernels on demand; ``process`` is the fork server itself, once it is ready to.

    ``root`` is the PID of the process beneath which it is: bubblewrap, where there is one. ``started`` is that
    process and ``log`` what it prints, where it was started here; a forked one has neither. ``resources`` are closed
    with it.
    """

    def __init__(self, root: int, control: socket.socket, isolated: bool, resources: contextlib.ExitStack,
                 started: subprocess.Popen[bytes] | None = None, log: IO[str] | None = None):
        self.root, self.control, self.isolated, self.resources = root, control, isolated, resources
        self.started, self.log = started, log
        self.process: psutil.Process | None = None
        self.group: cgroup.Cgroup | None = None  # with all that it starts
        self.reusable = True  # without nested namespaces it serves one kernel only

    def has_ended(self) -> bool:
        """Return whether it is known to be gone."""
        return self.control.fileno() == -1 or bool(self.started and self.started.poll() is not None)

    def ready(self) -> psutil.Process:
        """Wait until it can fork; ``SandboxError`` with the last line of its log when it never will."""
        if self.process is None:
            try:
                self.process = self._find_process()
            except KernelForkServerLost:
                if self.log is None:
                    raise
                self.log.seek(0)
                printed = self.log.read()
                self.close()
                raise SandboxError(f"the kernel does not start: {last_line(printed)}") from None
            self.group = cgroup.create_around(self.process.pid)
            if self.group:
                self.resources.callback(self.group.close)
        return self.process

    def fork(self, seed: int) -> tuple[socket.socket, int]:
        """Fork a kernel with a seed of its own; return the socket that it serves, and the PID of its guard."""
        self.ready()
        ours, theirs = socket.socketpair()
        with theirs:
            self._order(b"fork %d" % seed, theirs)
        has_namespaces, guard = self._receive(FORK_SECONDS).split()
        self.reusable = has_namespaces == b"1" or not self.isolated
        return ours, int(guard)

    def load(self, module: str) -> None:
        """Have it import a module that many kernels will need, and do not wait for it."""
        self._order(b"import " + module.encode())

    def clone(self) -> "KernelForkServer":
        """Fork a process like this one, beneath the same bubblewrap, for another process of ours."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._order(b"clone", theirs)
        return KernelForkServer(self.root, ours, self.isolated, contextlib.ExitStack())

    def kill(self, guard: int) -> None:
        """Kill one kernel and what it started; ``KernelForkServerLost`` where the fork server does not confirm it."""
        if self.process is None:
            return
        with contextlib.suppress(psutil.Error):  # ended already
            for process in self.process.children():  # a kernel that uses all CPUs may keep the parent from running
                if guard in _pids(process):
                    process.kill()
        self._order(b"kill %d" % guard)
        self._receive(KILL_SECONDS)

    def usage(self) -> Usage:
        """Return what everything beneath it uses; the seconds count from any time, for their differences."""
        usage = usage_beneath(self.ready())
        return replace(usage, seconds=self.group.seconds()) if self.group else usage

    def gpu_bytes(self) -> int:
        """Return the bytes that everything beneath it holds on the GPU."""
        return gpu_bytes({process.pid for process in self.ready().children(recursive=True)})

    def close(self) -> None:
        """End it, and all kernels with it; of a clone that was never ready here, only this end of its socket."""
        if self.process:
            with contextlib.suppress(psutil.Error):
                self.process.kill()  # and with it all that it forked
        self.resources.close()
        self.control.close()
        self.process = None

    def _order(self, order: bytes, passed: socket.socket | None = None) -> None:
        try:
            socket.send_fds(self.control, [order], [passed.fileno()] if passed else [])
        except OSError:
            raise KernelForkServerLost("the fork server is gone") from None

    def _receive(self, seconds: float) -> bytes:
        try:
            if not wait_for_socket(self.control, select.POLLIN, seconds):
                raise KernelForkServerLost("the fork server does not answer")
            received = self.control.recv(64)
        except (OSError, ValueError):  # also when it is closed
            received = b""
        if not received:
            raise KernelForkServerLost("the fork server is gone")
        return received

    def _find_process(self) -> psutil.Process:
        """Wait until it sends its PID, and find its process by that."""
        pid = int(self._receive(START_SECONDS).split()[1])
        try:
            if not self.isolated:
                return psutil.Process(pid)
            root = psutil.Process(self.root)
            depth = len(_pids(root))  # in bubblewrap's PID namespace a process has one PID more
            for process in root.children(recursive=True):
                if _pids(process)[depth:] == [pid]:
                    return process
        except psutil.Error:
            pass
        raise KernelForkServerLost("the fork server is gone")


def wait_for_socket(sock: socket.socket, event: int, seconds: float) -> bool:
    """Wait until a socket can be read (``POLLIN``) or written (``POLLOUT``); return False if it takes longer."""
    poll = select.poll()  # unlike `select`, it works where a thousand files are open
    poll.register(sock, event)
    return bool(poll.poll(1000 * seconds))


def start(helpers: Sequence[Path], options: Options) -> KernelForkServer:
    """Start a fork server, in bubblewrap or without isolation, and do not wait for it: it has much to import."""
    bwrap = require_bubblewrap() if options.isolation == "bubblewrap" else None  # before anything is opened
    account = _account(options)
    sweep()
    with contextlib.ExitStack() as stack:
        home = tempfile.mkdtemp(prefix=PREFIX)
        stack.callback(shutil.rmtree, home, ignore_errors=True)
        lock = os.open(home, os.O_RDONLY)
        stack.callback(os.close, lock)
        fcntl.flock(lock, fcntl.LOCK_EX)  # gone with this process, however it ends
        log = stack.enter_context(tempfile.TemporaryFile("w+", errors="replace"))
        control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        stack.enter_context(control)
        fd = theirs.fileno()
        command, variables = _command(helpers, options, fd, bwrap, home)
        rights: dict[str, Any] = {}
        if account:
            os.chown(home, account.pw_uid, account.pw_gid)
            rights = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
        with theirs:
            started = subprocess.Popen(command, pass_fds=[fd], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                       env=variables, start_new_session=True, cwd="/", **rights)
        stack.callback(started.wait)
        stack.callback(started.kill)
        return KernelForkServer(started.pid, control, bool(bwrap), stack.pop_all(), started, log)


def _account(options: Options) -> pwd.struct_passwd | None:
    """Return the account of student code, if it is not ours and bubblewrap does not drop its rights."""
    if options.isolation != "account nobody":
        return None
    if os.geteuid():
        raise SandboxError(f"student code can run as {ACCOUNT} only where root grades")
    try:
        return pwd.getpwnam(ACCOUNT)
    except KeyError:
        raise SandboxError(f"this system has no account {ACCOUNT}") from None


def _command(helpers: Sequence[Path], options: Options, fd: int, bwrap: str | None,
             home: str) -> tuple[list[str], dict[str, str]]:
    """Return the command that starts it, by bubblewrap or without it, and its environment."""
    if bwrap is None:
        folders = {str(helper.parent) for helper in helpers}
        path = os.pathsep.join([str(restrictions.ENGINE_FOLDER.parent), *sorted(folders)])
        variables = restrictions.environment(home, path, options.device)
        return [sys.executable, "-B", str(restrictions.KERNEL), *_kernel_arguments(fd, helpers, options)], variables
    path = f"{restrictions.RUNTIME}:{restrictions.HELPERS}"
    variables = restrictions.environment(kernel.SCRATCH, path, options.device)
    arguments = restrictions.bubblewrap_arguments(variables, helpers, options)
    python = os.path.abspath(sys.executable)  # "../bin/python" leads nowhere inside the sandbox
    return [bwrap, *arguments, "--", python, "-B", "/kernel.py", *_kernel_arguments(fd, helpers, options)], variables


def _kernel_arguments(fd: int, helpers: Sequence[Path], options: Options) -> list[str]:
    """Return the arguments of the kernel's program: its socket, and its configuration."""
    limits = options.limits
    on_gpu = options.device == "cuda"
    config = kernel.KernelConfig(
        [helper.stem for helper in helpers], options.isolation == "bubblewrap", syscalls.bpf_filter(options).hex(),
        limits.disk, limits.files, limits.processes, cpu_seconds=int(limits.notebook_wall_seconds) + 1,
        address_space=0 if on_gpu else limits.memory, gpu=limits.memory if on_gpu else 0)
    return [str(fd), json.dumps(asdict(config))]


def sweep() -> None:
    """Remove the folders of our sandboxes whose process was killed; a young one may not be locked yet."""
    for folder in glob.glob(f"{tempfile.gettempdir()}/{PREFIX}*"):
        with contextlib.suppress(OSError):
            lock = os.open(folder, os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY)
            try:
                info = os.fstat(lock)  # others have rights to the folder for temporary files, too
                if os.geteuid() in (0, info.st_uid) and time.time() - info.st_mtime > MIN_AGE_SECONDS:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)


def _pids(process: psutil.Process) -> list[int]:
    """Return the PIDs of a process, one in each namespace that sees it; none when it has ended."""
    with contextlib.suppress(OSError):
        return [int(number) for number in status(process).get(b"NSpid", [])]
    return []
