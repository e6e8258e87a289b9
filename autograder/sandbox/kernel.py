"""The small kernel inside the sandbox: runs cells, replays recorded calls, and sends plain data back.

This file is started by path, inside bubblewrap with the runtime, where that is there. It imports what every notebook
imports, once, and forks a fresh kernel for each submission: in namespaces of its own, without capabilities.
"""

import contextlib
import ctypes
import gc
import glob
import importlib
import json
import os
import pkgutil
import resource
import selectors
import signal
import socket
import sys
import time
from dataclasses import asdict, dataclass, replace
from multiprocessing.connection import Connection
from typing import Any, NoReturn

from autograder.runtime import arrays, operations, recorded, replay, selfchecks, wire
from autograder.runtime.diagnosis import RecognisedFault
from autograder.runtime.locate import search

CLONE_NEWNS, CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 1 << 17, 1 << 27, 1 << 28, 1 << 29, 1 << 30
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT, MS_BIND = 1, 2, 4, 8, 32, 4096
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_CAPBSET_DROP = 1, 4, 22, 24
PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS, SECCOMP_MODE_FILTER, KEYCTL_JOIN_SESSION_KEYRING = 36, 38, 2, 1
MAX_OUTPUT = 10_000  # characters of what a cell prints
MAX_FILES = 16_384  # of each file system that a kernel can write to: an empty file takes the system's memory too
KEYS = "/proc/keys", "/proc/key-users"  # they list the keys of the grader's user, too
SCRATCH = "/scratch"  # a kernel can write here and to /dev/shm; both are empty at first and gone with it

_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class KernelConfig:
    """What a kernel is started with: the course's helper modules, and its restrictions and bounds."""

    helpers: list[str]
    isolated: bool
    seccomp_program: str  # in hexadecimal digits; empty for none
    disk: int  # bytes of each file system that it can write to, and of a file
    files: int
    processes: int
    cpu_seconds: int
    address_space: int  # bytes of each process, beside the libraries; 0 for any number
    gpu: int  # bytes of GPU memory; 0 where there is none to bound


# The fork server: imports once, forks on demand, runs no line of a student's


def die_with_parent() -> None:
    """Have this process killed when the one that started it ends, however it ends."""
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def main() -> None:
    die_with_parent()
    _libc.prctl(PR_SET_DUMPABLE, 0)  # without namespaces, this keeps kernels from reading or tracing this process
    control = socket.socket(fileno=int(sys.argv[1]))
    config = KernelConfig(**json.loads(sys.argv[2]))
    gc.disable()  # nothing that an import makes is garbage
    shell = _import_all(config.helpers)
    if config.address_space:
        # the libraries' share comes on top: torch's with CUDA in it maps 3 GiB, its CPU build a sixth of that
        with open("/proc/self/statm") as file:
            mapped = int(file.read().split()[0]) * resource.getpagesize()
        config = replace(config, address_space=config.address_space + mapped)
    gc.enable()
    gc.collect()
    gc.freeze()  # a collection in a fork would copy the memory that all share
    while forked := _fork_for(control, shell, config):
        control.close()
        control = forked


def _fork_for(control: socket.socket, shell: Any, config: KernelConfig) -> socket.socket | None:
    """Fork as the control socket orders; return a forked server its own control socket, and None once it is closed."""
    die_with_parent()
    _libc.prctl(PR_SET_CHILD_SUBREAPER, 1)  # daemons of a kernel become our children
    guards: set[int] = set()
    control.sendall(b"ready %d" % os.getpid())
    while True:
        order, fds, _, _ = socket.recv_fds(control, 64, 1)
        if not order:
            return None
        match order.split():
            case [b"clone"]:
                _reap()
                forked = os.fork()
                if forked == 0:
                    return socket.socket(fileno=fds[0])
                os.close(fds[0])
                guards.add(forked)
            case [b"import", module]:
                importlib.import_module(module.decode())
                gc.collect()
                gc.freeze()
            case [b"fork", seed]:
                has_namespaces, guard = _fork(control, fds[0], int(seed), shell, config)
                guards.add(guard)
                control.sendall(b"%d %d" % (has_namespaces, guard))
            case [b"kill", guard]:
                guards.discard(int(guard))
                _kill(guards)
                control.sendall(b"killed")


def _import_all(helpers: list[str]) -> Any:
    """Import what notebooks import, ``helpers`` and the runtime; return the shell that runs cells."""
    import numpy.random  # noqa: F401
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    with contextlib.suppress(ModuleNotFoundError):  # a course need not have either
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot
    with contextlib.suppress(ModuleNotFoundError):
        import torch

        torch.set_num_threads(1)
    for name in ["autograder.runtime", *helpers]:
        package = importlib.import_module(name)
        for module in pkgutil.walk_packages(getattr(package, "__path__", []), f"{name}."):
            importlib.import_module(module.name)

    class Shell(InteractiveShell):
        def enable_gui(self, gui: Any = None) -> None:
            """There is no window here; `%matplotlib inline` is no error."""

        def _showtraceback(self, *args: Any, **kwargs: Any) -> None:
            """Report errors to the judge instead of printing them."""

    vars(selectors)["DefaultSelector"] = selectors.PollSelector  # epoll is refused
    config = {"HistoryManager": {"enabled": False}, "InteractiveShell": {"colors": "nocolor", "xmode": "Plain"}}
    shell = Shell.instance(config=Config(config))
    shell.run_cell("pass", store_history=False)  # type: ignore[no-untyped-call]  # the first of all imports more
    return shell


def _fork(control: socket.socket, fd: int, seed: int, shell: Any, config: KernelConfig) -> tuple[bool, int]:
    """Fork a kernel that serves the socket ``fd``; return whether it has its own namespaces, and its guard's PID."""
    inside, outside = os.pipe()
    guard = os.fork()
    if guard == 0:
        control.close()
        os.close(inside)
        _guard(fd, outside, seed, shell, config)
    os.close(outside)
    os.close(fd)
    answer = os.read(inside, 64)
    os.close(inside)
    return answer == b"1", guard


def _kill(spared: set[int]) -> None:
    """Kill a kernel and everything that it started: all processes beneath this one but the other kernels.

    First all are stopped, so that none can start another meanwhile.
    """
    stopped: set[int] = set()
    while new := _descendants(spared) - stopped:
        _signal(new, signal.SIGSTOP)
        stopped |= new
    _signal(stopped, signal.SIGKILL)
    for _ in range(200):  # a daemon of a kernel becomes our child only when the kernel has died
        _reap()
        if not _descendants(spared):
            return
        time.sleep(0.01)


def _signal(pids: set[int], number: int) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


def _reap() -> None:
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _descendants(spared: set[int]) -> set[int]:
    """Return the PIDs of all processes beneath this one, without those that are spared and the ones beneath them."""
    children: dict[int, set[int]] = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                parent = int(file.read().rpartition(b")")[2].split()[1])
        except OSError:  # it has just ended
            continue
        children.setdefault(parent, set()).add(int(name))
    beneath: set[int] = set()
    todo = [os.getpid()]
    while todo:
        new = children.get(todo.pop(), set()) - spared
        beneath |= new
        todo += new
    return beneath


def _guard(fd: int, report: int, seed: int, shell: Any, config: KernelConfig) -> NoReturn:
    """Make the namespaces of a kernel, wait for it, and end with it, between the fork server and the kernel."""
    die_with_parent()
    os.setpgid(0, 0)
    uid, gid = os.getuid(), os.getgid()
    namespaces = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWNET
    _libc.prctl(PR_SET_DUMPABLE, 1)  # else the files of this process in /proc are root's
    has_namespaces = config.isolated and _libc.unshare(namespaces) == 0
    if has_namespaces:
        for name, line in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
            with open(f"/proc/self/{name}", "w") as file:
                file.write(line)
    _libc.prctl(PR_SET_DUMPABLE, 0)
    pid = os.fork()
    if pid == 0:
        die_with_parent()
        _libc.prctl(PR_SET_DUMPABLE, 1)
        os.write(report, b"%d" % has_namespaces)
        os.close(report)
        status = 1
        try:
            _confine(has_namespaces, config)
            _install_seccomp(bytes.fromhex(config.seccomp_program))
            _bound_gpu(config.gpu)
            arrays.seed_all(seed, lazily=True)
            with contextlib.suppress(EOFError):  # the other end has hung up
                _serve(Connection(fd), shell)
            status = 0
        finally:
            os._exit(status)
    os.close(report)
    os.close(fd)
    os.waitpid(pid, 0)
    os._exit(0)


def _confine(has_namespaces: bool, config: KernelConfig) -> None:
    """Mount a fresh scratch folder and /proc, set the resource limits, and give up all capabilities for good."""
    if has_namespaces:
        options = b"newinstance,ptmxmode=0666,max=%d" % config.processes  # the machine has a number of terminals
        if _libc.mount(b"devpts", b"/dev/pts", b"devpts", MS_NOSUID | MS_NOEXEC, options):
            raise OSError(ctypes.get_errno(), "no terminals of its own")
        for path in filter(os.path.ismount, glob.glob("/dev/*")):
            # devices can be used, but not their permissions changed, which are those of the machine
            flags = os.statvfs(path).f_flag & (MS_NOSUID | MS_NODEV | MS_NOEXEC)
            if _libc.mount(None, path.encode(), None, MS_REMOUNT | MS_BIND | MS_RDONLY | flags, None):
                raise OSError(ctypes.get_errno(), f"{path} cannot be protected")
        options = f"size={config.disk},nr_inodes={MAX_FILES},mode=700".encode()
        for path in (SCRATCH, "/dev/shm"):
            if _libc.mount(b"tmpfs", path.encode(), b"tmpfs", MS_NOSUID | MS_NODEV, options):
                raise OSError(ctypes.get_errno(), f"no {path} of its own")
        if _libc.mount(b"proc", b"/proc", b"proc", MS_NOSUID | MS_NODEV | MS_RDONLY, None) or any(
                _libc.mount(os.devnull.encode(), path.encode(), None, MS_BIND, None)
                for path in filter(os.path.exists, KEYS)):
            _libc.mount(b"tmpfs", b"/proc", b"tmpfs", MS_NOSUID | MS_NODEV, b"size=4096")
    os.makedirs(f"{os.environ['HOME']}/work", exist_ok=True)
    os.chdir(f"{os.environ['HOME']}/work")
    # core dumps: 1, not 0, because at 0 Linux still runs a piped core_pattern handler
    bounds = {"RLIMIT_CORE": 1, "RLIMIT_NOFILE": config.files, "RLIMIT_FSIZE": config.disk,
              "RLIMIT_NPROC": config.processes, "RLIMIT_CPU": config.cpu_seconds, "RLIMIT_MEMLOCK": 0,
              "RLIMIT_SIGPENDING": config.files, "RLIMIT_MSGQUEUE": 0}
    if config.address_space:
        bounds["RLIMIT_AS"] = config.address_space
    for name, value in bounds.items():
        which = getattr(resource, name)
        hard = resource.getrlimit(which)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(which, (value, value))
    for capability in range(64):
        _libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
    header, nothing = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    _libc.capset(header, nothing)
    _libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p)]


def _install_seccomp(seccomp_program: bytes) -> None:
    """Install a session keyring of its own, and the filter of system calls, if there is one."""
    if not seccomp_program:
        return
    _libc.syscall({"x86_64": 250}.get(os.uname().machine, 219), KEYCTL_JOIN_SESSION_KEYRING, None)  # keyctl
    instructions = _Program(len(seccomp_program) // 8, seccomp_program)
    if _libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(instructions), 0, 0):
        raise OSError(ctypes.get_errno(), "system calls cannot be filtered")


def _bound_gpu(limit: int) -> None:
    """Limit the GPU memory that torch gives out; use of CUDA without torch is seen from outside."""
    if limit:
        import torch

        share = limit / torch.cuda.get_device_properties(0).total_memory
        torch.cuda.set_per_process_memory_fraction(min(1.0, share), 0)


# The kernel: one submission


def _serve(connection: "Connection[Any, Any]", shell: Any) -> None:
    """Answer messages of autograder.runtime.wire, each behind four bytes with its length."""
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    sys.path.insert(0, "")  # as in Jupyter: a cell may write a module, and import it
    handlers = {"cell": _cell, "replay": _replay, "place": _place}
    while True:
        message = wire.unpack(connection.recv_bytes(wire.MAX_BYTES))
        sys.stdout = sys.stderr = output = replay.Printed(MAX_OUTPUT)
        try:
            reply = handlers[message["do"]](message, shell)
            printed = output.getvalue() if message["do"] == "cell" else ""
            packed = wire.pack({"number": message["number"], "printed": printed, **reply})
        except BaseException as error:
            packed = wire.pack({"number": message["number"], "printed": "", "failed": type(error).__name__[:80]})
        connection.send_bytes(packed)


def _cell(message: dict[str, Any], shell: Any) -> dict[str, Any]:
    """Run the source of one cell; what it defines stays."""
    result = shell.run_cell(message["source"], store_history=False)
    error = result.error_before_exec or result.error_in_exec
    if error is None:
        return {"error": None}
    described = replay.describe_error(error, shell.user_ns)
    if isinstance(error, SyntaxError):
        where = recorded.ErrorLocation(error.lineno or 0, "", " ".join((error.text or "").split())[:120])
        described = replace(described, where=where, message=str(error.msg)[:recorded.MAX_MESSAGE])
    return {"error": asdict(described), "line": _line(error, shell.user_ns, message["source"])}


def _line(error: BaseException, namespace: dict[str, Any], source: str) -> int:
    """Return the line of the cell that an exception passed; 0 where nothing of it was run."""
    traceback = error.__traceback__
    while traceback and traceback.tb_frame.f_globals is not namespace:
        traceback = traceback.tb_next
    # IPython drops the empty lines at the beginning
    dropped = next((number for number, line in enumerate(source.splitlines()) if line.strip()), 0)
    return traceback.tb_lineno + dropped if traceback else 0


def _replay(message: dict[str, Any], shell: Any) -> dict[str, Any]:
    ops = [operations.from_tree(tree) for tree in message["ops"]]
    try:
        reply = replay.replay(ops, shell.user_ns, message["device"])
    except BaseException as error:  # such as a KeyboardInterrupt that an answer raises
        reply = recorded.Reply({}, replay.describe_error(error, shell.user_ns))
    return {"reply": recorded.reply_to_tree(reply)}


def _place(message: dict[str, Any], shell: Any) -> dict[str, Any]:
    """Look for the place of a mistake, in checks with public seeds."""
    checks = selfchecks.checks_from_tree(message["checks"])
    failing = {int(number): RecognisedFault(name, "") if name else None for number, name in message["failing"].items()}
    places = search.find_places(checks, failing, message["texts"], shell.user_ns)
    return {"places": [place and asdict(place) for place in places]}


if __name__ == "__main__":
    main()
