"""The sandbox, from outside: bubblewrap around a warm kernel, deadlines and bounds, and no trust in what comes back."""

import contextlib
import glob
import os
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import psutil

from tp import wire
from tp.replay import MAX_ITEMS

from . import kernel

KERNEL = Path(kernel.__file__)
HELPERS = Path(wire.__file__).parent  # course/tp
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/ld.so.cache", "/etc/alternatives", "/etc/fonts", "/etc/localtime")


@dataclass(frozen=True)
class Limits:
    """What one submission may use. Seconds are CPU seconds; waiting is allowed ``patience`` times as long."""

    cell_seconds: float = 15
    exercise_seconds: float = 15
    notebook_seconds: float = 300
    patience: float = 4
    memory: int = 3 * 2**30
    processes: int = 64
    files: int = 256
    disk: int = 64 * 2**20


class SandboxError(Exception):
    """The sandbox itself cannot be had; the message says what to do."""


class KernelLost(Exception):
    """A kernel died, hung or broke a bound. ``verdict`` is "timeout" or "crashed"; the message is for the student."""

    def __init__(self, verdict, message):
        super().__init__(message)
        self.verdict = verdict


def require_bubblewrap() -> str:
    """The path of bubblewrap, tried out; ``SandboxError`` when it is missing or not allowed to work."""
    program = shutil.which("bwrap")
    if program is None:
        raise SandboxError("bubblewrap is missing, and nothing is graded without it: install it (Debian: apt-get install bubblewrap), "
                           "or say --no-isolation to run student code unprotected")
    trial = subprocess.run([program, "--unshare-all", "--ro-bind", "/", "/", "true"], capture_output=True, text=True)
    if trial.returncode:
        reason = trial.stderr.strip().splitlines()[-1] if trial.stderr.strip() else "no reason given"
        raise SandboxError(f"bubblewrap cannot make a sandbox here ({reason}): allow unprivileged user namespaces, "
                           "or say --no-isolation to run student code unprotected")
    return program


class Sandbox:
    """A warm parent in bubblewrap, from which kernels are forked; a context manager."""

    def __init__(self, limits: Limits = Limits(), device: str = "cpu", isolated: bool = True):
        self.limits, self.device, self.isolated = limits, device, isolated
        self._process = None
        self._home = None

    @property
    def isolation(self) -> str:
        return "bubblewrap" if self.isolated else "none"

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def kernel(self) -> "Kernel":
        """A fresh kernel. Without nested namespaces the warm parent serves one kernel only, and is started anew."""
        if self._process is None or self._process.poll() is not None:
            self._start()
        try:
            return self._fork()
        except (OSError, SandboxError):
            self.close()
            self._start()
            return self._fork()

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._control.close()
            self._process = None
        if self._home:
            shutil.rmtree(self._home, ignore_errors=True)
            self._home = None

    def kill(self, guard: int) -> None:
        """Kill one kernel and all that it started."""
        if self._process is None:
            return
        try:
            self._control.sendall(b"kill %d" % guard)
            self._answer(10)
        except (OSError, SandboxError):
            self.close()
        if not self._reusable:
            self.close()

    def usage(self) -> tuple[int, int, float]:
        """Memory in bytes, processes, and CPU seconds of everything beneath the warm parent."""
        memory = count = 0
        seconds = 0.0
        for process in self._parent.children(recursive=True):
            with contextlib.suppress(psutil.Error):
                memory += process.memory_info().rss
                times = process.cpu_times()
                seconds += times.user + times.system
                count += 1
        return memory, count, seconds

    def _start(self):
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        fd = theirs.fileno()
        self._home = tempfile.mkdtemp(prefix="kernel-")
        environment = self._environment()
        command = [sys.executable, "-B", "/kernel.py" if self.isolated else str(KERNEL), str(fd), *self._bounds()]
        if self.isolated:
            command = [require_bubblewrap(), *self._walls(environment), "--", *command]
        log = open(Path(self._home) / "log", "w+")
        self._process = subprocess.Popen(command, pass_fds=[fd], stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment,
                                         start_new_session=True, cwd="/")
        theirs.close()
        try:
            self._answer(120)
        except (OSError, SandboxError):
            log.seek(0)
            last = (log.read().strip().splitlines() or ["no reason given"])[-1]
            self.close()
            raise SandboxError(f"the kernel does not start: {last}") from None
        finally:
            log.close()
        self._parent = self._warm_parent()
        self._reusable = True

    def _warm_parent(self):
        """The process that forks: bubblewrap's innermost child, or the process itself."""
        process = psutil.Process(self._process.pid)
        while self.isolated and process.children():
            process = process.children()[0]
        return process

    def _fork(self):
        ours, theirs = socket.socketpair()
        with theirs:
            socket.send_fds(self._control, [b"fork"], [theirs.fileno()])
        apart, guard = self._answer(30).split()
        self._reusable = apart == b"1" or not self.isolated
        return Kernel(self, ours, int(guard))

    def _answer(self, seconds):
        if not select.select([self._control], [], [], seconds)[0]:
            raise SandboxError("the warm parent does not answer")
        answer = self._control.recv(64)
        if not answer:
            raise SandboxError("the warm parent is gone")
        return answer

    def _bounds(self):
        address_space = 0 if self.device == "cuda" else self.limits.memory
        values = {"disk": self.limits.disk, "files": self.limits.files, "processes": self.limits.processes,
                  "cpu": int(self.limits.notebook_seconds) * 2, "address_space": address_space, "isolated": int(self.isolated)}
        return [f"{key}={value}" for key, value in values.items()]

    def _environment(self):
        scratch = kernel.SCRATCH if self.isolated else self._home
        environment = {
            "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": scratch, "IPYTHONDIR": f"{scratch}/ipython", "TMPDIR": scratch,
            "MPLCONFIGDIR": f"{scratch}/matplotlib", "MPLBACKEND": "Agg", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1",
            "TP_GRADING": "1", "PYTHONPATH": "/course" if self.isolated else str(HELPERS.parent), "PYTHONHASHSEED": "0",
            "CUBLAS_WORKSPACE_CONFIG": ":4096:8",
        }
        if self.device == "cpu":
            environment["CUDA_VISIBLE_DEVICES"] = ""
        return environment

    def _walls(self, environment):
        """The arguments of bubblewrap: a read-only system, the helper package, and nothing else of this machine."""
        walls = ["--unshare-all", "--unshare-user", "--uid", "1000", "--gid", "1000", "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--hostname", "lab", "--clearenv"]
        for name, value in environment.items():
            walls += ["--setenv", name, value]
        for path in SYSTEM:
            if os.path.islink(path):
                walls += ["--symlink", os.readlink(path), path]
            elif os.path.exists(path):
                walls += ["--ro-bind", path, path]
        for path in sorted({sys.prefix, sys.base_prefix, *(p for p in sys.path if p.endswith("site-packages"))}):
            if not path.startswith("/usr/"):
                walls += ["--ro-bind", path, path]
        walls += ["--ro-bind", str(KERNEL), "/kernel.py", "--ro-bind", str(HELPERS), "/course/tp"]
        scratch = kernel.SCRATCH
        size = ["--size", str(self.limits.disk)]
        walls += ["--proc", "/proc", "--dev", "/dev", *size, "--tmpfs", "/dev/shm", *size, "--tmpfs", scratch, "--dir", f"{scratch}/matplotlib"]
        for cache in self._font_caches():
            walls += ["--ro-bind", cache, f"{scratch}/matplotlib/{Path(cache).name}"]
        if self.device == "cuda":
            for node in glob.glob("/dev/nvidia*"):
                walls += ["--dev-bind", node, node]
        if not any(path.startswith("/tmp/") for path in walls):
            walls += ["--symlink", scratch, "/tmp"]
        return [*walls, "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", scratch]

    @staticmethod
    def _font_caches():
        """Matplotlib's list of fonts, which takes seconds to make and never changes here."""
        import matplotlib

        return glob.glob(f"{matplotlib.get_cachedir()}/fontlist-*.json")


class Kernel:
    """One forked kernel; every request has a deadline, and an answer that is not one kills it."""

    def __init__(self, sandbox: Sandbox, sock: socket.socket, guard: int):
        self.sandbox, self.sock, self.guard = sandbox, sock, guard
        self.number = 0
        self.seconds = 0.0  # CPU seconds seen so far
        self._baseline = None  # the same, when the present request began

    def cell(self, source: str, seconds: float) -> dict:
        """Run a cell: ``{"error": None or {...}, "printed": text}``."""
        reply = self._ask({"do": "cell", "source": source}, seconds)
        error = reply.get("error")
        return {"error": _error(error) if error is not None else None, "printed": str(reply.get("printed", ""))[: kernel.MAX_OUTPUT]}

    def replay(self, calls: dict, seconds: float) -> dict:
        """Replay a transcript; the reply is checked to be one."""
        reply = _reply(self._ask({"do": "replay", "calls": calls, "device": self.sandbox.device}, seconds).get("reply"))
        if reply is None:
            self._lost("crashed", "the kernel sent back something that is not an answer")
        return reply

    def kill(self) -> None:
        self.sock.close()
        self.sandbox.kill(self.guard)

    def _lost(self, verdict, message):
        self.kill()
        raise KernelLost(verdict, message)

    def _ask(self, message, seconds):
        self.number += 1
        data = wire.pack({"number": self.number, **message})
        started, self._baseline = time.monotonic(), None
        try:
            self.sock.settimeout(30)
            self.sock.sendall(len(data).to_bytes(4, "little") + data)
            reply = wire.unpack(self._frame(seconds, started))
        except (OSError, EOFError):
            self._lost("crashed", self._why_dead())
        except wire.WireError:
            self._lost("crashed", "the kernel sent back something that is not an answer")
        if not isinstance(reply, dict) or reply.get("number") != self.number or "failed" in reply:
            self._lost("crashed", "the kernel sent back something that is not an answer")
        return reply

    def _frame(self, seconds, started):
        """The bytes of the next message, while the bounds are watched."""
        head = self._bytes(4, seconds, started)
        length = int.from_bytes(head, "little")
        if length > wire.MAX_BYTES:
            raise wire.WireError("too long")
        return self._bytes(length, seconds, started)

    def _bytes(self, count, seconds, started):
        parts, pause = bytearray(), 0.2
        while len(parts) < count:
            if select.select([self.sock], [], [], pause)[0]:
                part = self.sock.recv(min(count - len(parts), 2**20))
                if not part:
                    raise EOFError
                parts += part
            self._watch(seconds, started)
        return bytes(parts)

    def _watch(self, seconds, started):
        elapsed = time.monotonic() - started
        if elapsed < 0.2:
            return
        limits = self.sandbox.limits
        memory, processes, cpu = self.sandbox.usage()
        if self._baseline is None:
            self._baseline = self.seconds
        self.seconds = max(cpu, self.seconds)
        if memory > limits.memory:
            self._lost("crashed", f"it used more than {limits.memory / 2**30:.3g} GiB of memory")
        if processes > limits.processes:
            self._lost("crashed", f"it started more than {limits.processes} processes")
        if cpu - self._baseline > seconds or elapsed > seconds * limits.patience:
            self._lost("timeout", f"it ran for more than {seconds:.3g} seconds; is there a loop that does not end?")

    def _why_dead(self):
        return "the kernel died: something in the code ends the process, or needs more memory than there is"


def _error(error):
    """An error report from a kernel, bounded and in the expected form whatever was sent."""
    if not isinstance(error, dict):
        error = {}
    where = error.get("where")
    if isinstance(where, dict) and type(where.get("line")) is int:
        where = {"line": where["line"], "function": _text(where.get("function")), "text": _text(where.get("text"))}
    else:
        where = None
    return {"type": _text(error.get("type")) or "Error", "message": _text(error.get("message"), 300), "where": where, "ours": error.get("ours") is True}


def _text(value, limit=120):
    return "".join(c for c in value if c.isprintable())[:limit] if isinstance(value, str) else ""


def _reply(reply):
    """A replay's reply in the expected form, or None."""
    if not isinstance(reply, dict) or not isinstance(reply.get("outputs"), dict):
        return None
    mutated, called = reply.get("mutated"), reply.get("called")
    if not (isinstance(mutated, list) and all(type(n) is int for n in mutated) and isinstance(called, list) and all(isinstance(n, str) for n in called)):
        return None
    if not all(_description(d) for d in reply["outputs"].values()):
        return None
    error = reply.get("error")
    return {"outputs": reply["outputs"], "error": None if error is None else _error(error), "mutated": mutated, "called": [_text(n) for n in called][:20]}


def _description(d, depth=0):
    """Whether ``d`` is a description as `tp.replay.describe` makes them; the words in it are made safe to print."""
    if not isinstance(d, dict) or depth > 8:
        return False
    kind = d.get("kind")
    if kind in ("tensor", "array"):
        d["dtype"] = _text(d.get("dtype"), 20)
        return isinstance(d.get("array"), np.ndarray)
    if kind in ("bool", "int", "float", "str"):
        return type(d.get("value")).__name__ == kind
    if kind in ("list", "dict"):
        parts = [d.get("items"), d.get("keys", [])] if kind == "dict" else [d.get("items")]
        if not all(isinstance(part, list) and len(part) == min(_count(d), MAX_ITEMS) for part in parts):
            return False
        return all(_description(item, depth + 1) for part in parts for item in part)
    if kind == "other":
        d["type"] = _text(d.get("type"))
        return True
    return kind == "none"


def _count(d):
    return d["length"] if type(d.get("length")) is int else -1
