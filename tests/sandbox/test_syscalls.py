"""System calls that a kernel is refused, each beside a kernel without the filter, where it is not."""

import json
import sys

import bare
import pyseccomp
import pytest

from autograder.sandbox import restrictions, syscalls
from autograder.sandbox.host import Sandbox
from autograder.sandbox.options import Options
from autograder.sandbox.watchdog import Budget
from conftest import SHORT, TINY_COURSE

ALL = " ".join([*syscalls.REFUSED.values(), syscalls.UNCOUNTED]).split()
NUMBERS = {name: pyseccomp.resolve_syscall(pyseccomp.system_arch(), name) for name in ALL}
HERE = sorted(name for name in ALL if NUMBERS[name] >= 0)
# What the filter alone refuses, on every machine. The others need a capability that a kernel lacks, or are shut by
# some systems: there two restrictions stand, and a control says nothing.
ALONE = set("add_key keyctl request_key ptrace process_vm_readv process_vm_writev unshare memfd_create shmget shmat "
            "msgget semget mq_open vmsplice inotify_init1 io_setup mincore epoll_create1 setxattr "
            "set_mempolicy modify_ldt seccomp".split())

TRY = """
import ctypes, errno, json, os
libc = ctypes.CDLL(None, use_errno=True)

def tried(call):
    "How a call ends, made in a process of its own: 0, or the name of its error."
    pid = os.fork()
    if pid == 0:
        try:
            failed = ctypes.get_errno() if call() == -1 else 0
        except OSError as error:
            failed = error.errno
        os._exit(failed)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return errno.errorcode.get(code, code)
"""


@pytest.fixture(scope="module")
def kernels(tmp_path_factory):
    """A kernel with the filter, and one without."""
    path = tmp_path_factory.mktemp("kernel") / "kernel.py"
    path.write_text(bare.text())
    with pytest.MonkeyPatch.context() as patch, Sandbox(TINY_COURSE.helpers, Options(limits=SHORT)) as held:
        patch.setattr(restrictions, "KERNEL", path)
        first = held.fork()
        patch.setattr(syscalls, "bpf_filter", lambda options: b"")
        with Sandbox(TINY_COURSE.helpers, Options(limits=SHORT)) as open_to_all:
            free = open_to_all.fork()
            patch.undo()
            yield first, free


def printed(kernel, code):
    ran = kernel.run_cell(f"{TRY}\n{code}", Budget(10, 200))
    assert ran.error is None, ran.error
    return json.loads(ran.printed)


EACH = f"""
numbers = {NUMBERS!r}
print(json.dumps({{name: tried(lambda: libc.syscall(n, 0, 0, 0, 0, 0, 0)) for name, n in numbers.items() if n >= 0}}))
"""
ARGUMENTS = f"""
import fcntl, mmap, signal, socket, struct
CHILD, NULL = signal.SIGCHLD, ctypes.c_void_p(None)
clone = {pyseccomp.resolve_syscall(pyseccomp.system_arch(), "clone")}

def cloned(flags):
    pid = libc.syscall(clone, flags | CHILD, NULL, NULL, NULL, NULL)
    if pid == 0:
        os._exit(0)
    return pid

master, slave = os.openpty()
tries = {{f"clone {{flag:#x}}": (lambda flag=flag: cloned(flag | 0x10000000)) for flag in {syscalls.NAMESPACES}}}
tries |= {{f"socket {{family}}": (lambda family=family: socket.socket(family, socket.SOCK_RAW).close())
           for family in (16, 17, 38, 40)}}
tries["mmap shared"] = lambda: mmap.mmap(-1, 4096).close()
tries["prctl parent-death"] = lambda: libc.prctl(1, 0)
tries["prctl dumpable"] = lambda: libc.prctl(4, 0)
tries["prctl filter"] = lambda: libc.prctl(22, 0)
open("mine", "w").close()
mine = open("mine")
tries["fcntl lease"] = lambda: fcntl.fcntl(mine, fcntl.F_SETLEASE, fcntl.F_RDLCK)
tries["fcntl notify"] = lambda: fcntl.fcntl(mine, fcntl.F_NOTIFY, fcntl.DN_ACCESS)
reader, writer = os.pipe()
tries["fcntl pipe size"] = lambda: fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 2**20)
tries["fcntl hint"] = lambda: fcntl.fcntl(mine, 1036, struct.pack("Q", 3))
pages, pair = mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE), socket.socketpair()
for advice in {syscalls.ADVICE}:
    tries[f"madvise {{advice}}"] = lambda advice=advice: pages.madvise(advice)
for flag in {syscalls.NOT_CACHED}:
    tries[f"preadv2 {{flag}}"] = lambda flag=flag: os.preadv(mine.fileno(), [bytearray(1)], 0, flag)
every = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0xFFFF))
program = struct.pack("HxxxxxxP", 1, ctypes.addressof(every))
for option in {syscalls.SOCKET_FILTERS[:1]}:
    tries[f"setsockopt {{option}}"] = lambda option=option: pair[0].setsockopt(socket.SOL_SOCKET, option, program)
tries["socketpair"] = lambda: socket.socketpair(30, socket.SOCK_SEQPACKET)
tries["socket of a module"] = lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM, 132)
tries["ioctl type"] = lambda: fcntl.ioctl(slave, 0x5412, b"x")
allowed = {{"clone": lambda: cloned(0), "socket unix": lambda: socket.socket(socket.AF_UNIX).close(),
           "socket inet": lambda: socket.socket(socket.AF_INET).close(),
           "mmap private": lambda: mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE).close(),
           "madvise": lambda: pages.madvise(mmap.MADV_DONTNEED), "socketpair": lambda: socket.socketpair(),
           "setsockopt": lambda: pair[0].setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1) or 0,
           "preadv": lambda: os.preadv(mine.fileno(), [bytearray(1)], 0), "sync": lambda: os.sync() or 0,
           "fadvise": lambda: os.posix_fadvise(mine.fileno(), 0, 0, os.POSIX_FADV_DONTNEED) or 0,
           "ioctl size": lambda: fcntl.ioctl(slave, 0x5413, bytes(8)), "prctl name": lambda: libc.prctl(15, b"name")}}
print(json.dumps([{{name: tried(call) for name, call in some.items()}} for some in (tries, allowed)]))
"""
OPEN = {"fcntl hint", "fcntl lease", "fcntl pipe size", "madvise 21", "mmap shared", "prctl parent-death",
        "prctl dumpable", "setsockopt 26",
        *(f"clone {flag:#x}" for flag in syscalls.NAMESPACES)}


def test_each_call_is_refused_and_without_the_filter_is_not(kernels):
    held, free = (printed(kernel, EACH) for kernel in kernels)
    assert held == dict.fromkeys(HERE, "EPERM")
    assert ALONE <= {name for name in HERE if free[name] != "EPERM"}


def test_arguments_are_refused_and_without_the_filter_are_not(kernels):
    (held, allowed), (free, _) = (printed(kernel, ARGUMENTS) for kernel in kernels)
    assert held == dict.fromkeys(held, "EPERM")
    assert allowed == dict.fromkeys(allowed, 0), "notebooks need these"
    assert {name for name in OPEN if free[name] == 0} == OPEN


def test_memory_that_belongs_to_no_process_cannot_be_had(kernels):
    """Without the filter, a kernel fills one memfd after the other, and the watchdog sees none of it."""
    fill = f"""
held = []
def fill():
    for i in range(8):
        held.append(os.memfd_create(f"m{{i}}"))
        os.write(held[-1], bytes({SHORT.disk // 2}))
try:
    fill()
except OSError:
    pass
print(json.dumps(sum(os.fstat(fd).st_size for fd in held)))
"""
    held, free = (printed(kernel, fill) for kernel in kernels)
    assert held == 0
    assert free == 4 * SHORT.disk


def test_coroutines_work_without_epoll(kernels):
    code = """
import asyncio
async def added(a, b):
    await asyncio.sleep(0.01)
    return a + b
print(json.dumps(await added(3, 4)))
"""
    assert printed(kernels[0], code) == 7


def test_without_libseccomp_nothing_is_graded(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyseccomp", None)
    syscalls.bpf_filter.cache_clear()
    with pytest.raises(restrictions.SandboxError, match="apt-get install libseccomp2"):
        syscalls.bpf_filter(Options())
    assert syscalls.bpf_filter(Options(isolation="none")) == b""
