"""The filter of system calls, read as the system reads it: what each call is answered, with no kernel."""

import errno
import platform
import struct

import pyseccomp
import pytest

from autograder.sandbox import syscalls
from autograder.sandbox.options import Options

ALLOWED, ANSWERED = 0x7FFF0000, 0x00050000
ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}.get(platform.machine())
pytestmark = pytest.mark.skipif(ARCHITECTURE is None, reason="the filter is read for two processors")
CPU, CUDA, OPEN = Options(), Options(device="cuda"), Options(isolation="account nobody")


def answer(options, name, *arguments):
    """How a system call ends under the filter: None where it is allowed, else the number of its error."""
    number = name if isinstance(name, int) else pyseccomp.resolve_syscall(pyseccomp.system_arch(), name)
    data = struct.pack("<iIQ6Q", number, ARCHITECTURE, 0, *arguments, *[0] * (6 - len(arguments)))
    steps = list(struct.iter_unpack("<HBBI", syscalls.bpf_filter(options)))
    at, held = 0, 0
    while True:
        code, then, otherwise, k = steps[at]
        at += 1
        if code == 0x06:  # return
            return None if k == ALLOWED else k - ANSWERED
        if code == 0x20:  # load
            (held,) = struct.unpack_from("<I", data, k)
        elif code == 0x54:  # and
            held &= k
        elif code == 0x05:  # jump
            at += k
        else:
            at += then if {0x15: held == k, 0x25: held > k, 0x35: held >= k}[code] else otherwise


def here(names):
    return [name for name in names.split() if pyseccomp.resolve_syscall(pyseccomp.system_arch(), name) >= 0]


@pytest.mark.parametrize("options", [CPU, CUDA, OPEN])
@pytest.mark.parametrize("kind", syscalls.REFUSED)
def test_each_call_is_refused(options, kind):
    names = here(syscalls.REFUSED[kind])
    assert names and {answer(options, name) for name in names} == {errno.EPERM}


@pytest.mark.parametrize("name", here(syscalls.UNCOUNTED))
def test_memory_that_nobody_counts_is_refused_where_no_gpu_needs_it(name):
    assert [answer(options, name) for options in (CPU, OPEN, CUDA)] == [errno.EPERM, errno.EPERM, None]


@pytest.mark.parametrize("name", ["read", "write", "openat", "execve", "exit_group", "futex", "munmap", "kill"])
def test_what_notebooks_need_is_allowed(name):
    assert [answer(options, name) for options in (CPU, CUDA, OPEN)] == [None] * 3


def test_clone3_is_not_there_and_locks_are_granted():
    for options in (CPU, CUDA, OPEN):
        assert answer(options, "clone3") == errno.ENOSYS and answer(options, "flock", 3, 2) == 0
        assert [answer(options, "fcntl", 3, command) for command in (6, 7, 37, 38)] == [0] * 4


@pytest.mark.parametrize("name, position, refused, allowed", [
    ("clone", 0, [0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000, 0x10000011],
     [0, 0x11, 0x01200011, 0x003D0F00, 0x80000000]),
    ("ioctl", 1, [0x5412, 0x541C, 0x100005412], [0x5401, 0x5411, 0x5413, 0x541B, 0x541D]),
    ("fcntl", 1, [1024, 1025, 1026, 1031, 1035, 1036, 1038, 2**32 + 1024],
     [0, 1, 2, 3, 4, 5, 8, 36, 39, 1023, 1027, 1030, 1032, 1034]),
    ("madvise", 2, [12, 20, 21, 2**32 + 21], [0, 4, 8, 11, 13, 14, 19, 22, 23]),
    ("preadv2", 5, [8, 9, 128], [0, 1, 2, 4, 16, 64]),
    ("socketpair", 0, [2, 10, 30], [0, 1]),
    ("prctl", 0, [1, 4, 22], [0, 2, 3, 5, 15, 21, 23]),
])
def test_a_call_is_refused_by_an_argument(name, position, refused, allowed):
    for options in (CPU, CUDA, OPEN):
        for values, seen in ((refused, errno.EPERM), (allowed, None)):
            assert [answer(options, name, *[0] * position, value) for value in values] == [seen] * len(values)
            assert answer(options, name, *[values[0]] * position, allowed[0]) is None


def test_calls_newer_than_the_list_are_not_there():
    for options in (CPU, CUDA, OPEN):
        assert [answer(options, number) for number in (462, 463, 467, 1000, 2**31 - 1)] == [None, *[errno.ENOSYS] * 4]


@pytest.mark.parametrize("name", syscalls.UNDONE.split())
def test_what_others_would_see_or_wait_for_is_granted_and_not_done(name):
    assert [answer(options, name) for options in (CPU, CUDA, OPEN)] == [0] * 3


def test_a_socket_gets_no_program_and_a_protocol_of_the_system_itself():
    for options in (CPU, CUDA, OPEN):
        assert [option for option in range(80) if answer(options, "setsockopt", 3, 1, option)] == [26, 50, 51, 52]
        assert answer(options, "setsockopt", 3, 6, 26) is None
    assert [protocol for protocol in range(300) if answer(CPU, "socket", 2, 1, protocol) is None] == list(range(18))


def test_memory_that_is_shared_or_huge_is_refused_where_no_gpu_needs_it():
    for flags in (0x21, 0x40000, 0x40022, 0x8021):
        assert [answer(options, "mmap", 0, 0, 0, flags) for options in (CPU, OPEN, CUDA)] == [
            errno.EPERM, errno.EPERM, None]
    for flags in (0x22, 0x01, 0x20, 0x02, 0x20022, 0x80000):
        assert [answer(options, "mmap", 0, 0, 0, flags) for options in (CPU, OPEN, CUDA)] == [None] * 3
    assert answer(CPU, "mmap", 0, 0, 0x21, 0x22) is None


def test_sockets_are_of_the_families_that_are_closed_in():
    for options in (CPU, CUDA):
        assert [family for family in range(50) if answer(options, "socket", family) is None] == [0, 1, 2, 10]
    assert [family for family in range(50) if answer(OPEN, "socket", family) is None] == [0, 1]
    assert {answer(options, "socket", 16) for options in (CPU, CUDA, OPEN)} == {errno.EPERM}


def test_without_restrictions_there_is_no_filter_and_an_account_of_its_own_has_one():
    assert syscalls.bpf_filter(Options(isolation="none")) == b"" and len(syscalls.bpf_filter(OPEN)) % 8 == 0
    assert syscalls.bpf_filter(CPU) is syscalls.bpf_filter(Options())


def test_a_call_that_the_processor_has_not_has_no_rule(monkeypatch):
    with_it, resolved = syscalls.bpf_filter(CPU), pyseccomp.resolve_syscall
    monkeypatch.setattr(pyseccomp, "resolve_syscall",
                        lambda arch, name: resolved(arch, name) if name != "ptrace" else -1)
    syscalls.bpf_filter.cache_clear()
    without = syscalls.bpf_filter(CPU)
    syscalls.bpf_filter.cache_clear()
    monkeypatch.undo()
    monkeypatch.setattr(syscalls, "bpf_filter", {CPU: without}.get)
    assert without != with_it and answer(CPU, "ptrace") is None and answer(CPU, "chroot") == errno.EPERM
