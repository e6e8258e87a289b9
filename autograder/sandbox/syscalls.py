"""The system calls that a kernel is refused: notebooks do not need them, and no other restriction stops them.

The program is made by libseccomp, outside, for this machine's processor; a kernel installs it last of all.
"""

import errno
import functools
import struct
import tempfile
from typing import Any

from . import kernel
from .options import Options
from .restrictions import SandboxError

# One line a kind, and why it is refused.
REFUSED = {
    "keyrings, which all processes of a user share": "add_key keyctl request_key",
    "other processes' memory and files": "ptrace process_vm_readv process_vm_writev process_madvise pidfd_getfd kcmp",
    "mounts": "mount umount umount2 pivot_root chroot move_mount open_tree fsopen fsconfig fsmount fspick mount_setattr"
              " open_by_handle_at name_to_handle_at quotactl quotactl_fd fanotify_init",
    "namespaces, in which it would have rights": "unshare setns",
    "programs inside the system's kernel, and calls in which holes were found": "bpf perf_event_open userfaultfd "
        "io_uring_setup io_uring_enter io_uring_register kexec_load kexec_file_load init_module finit_module "
        "delete_module lookup_dcookie vmsplice seccomp modify_ldt",
    "rules, attributes and access lists, whose memory is charged to nobody": "landlock_create_ruleset "
        "landlock_add_rule landlock_restrict_self setxattr lsetxattr fsetxattr",
    "where in the machine memory lies, that of files too": "mbind set_mempolicy set_mempolicy_home_node migrate_pages "
        "move_pages",
    "asynchronous input and output, whose contexts are counted for the whole machine": "io_setup io_destroy io_submit "
        "io_cancel io_getevents io_pgetevents",
    "watches on files, which tell what others do; their number is the user's": "inotify_init inotify_init1",
    "which pages of a file others have read": "cachestat mincore",
    "watches on descriptors, whose number is the user's; asyncio takes poll": "epoll_create epoll_create1",
    "the machine's clock, name, log and swap": "syslog acct swapon swapoff reboot settimeofday clock_settime adjtimex "
        "clock_adjtime sethostname setdomainname iopl ioperm vhangup",
}
# Memory that belongs to no process, so that no watchdog can count it. CUDA's own library needs some of it.
UNCOUNTED = "memfd_create memfd_secret shmget shmat msgget semget mq_open"

# Calls that return success and do nothing: processes that use the same files and disks would notice them, or wait.
UNDONE = "flock fadvise64 sync syncfs"
NEWER = 463  # from this number on, calls are newer than these lists (Linux 6.11), on every processor

NAMESPACES = 0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000
SHARED_ANONYMOUS, HUGE = 0x21, 0x40000  # of mmap
TYPE_INTO_A_TERMINAL = 0x5412, 0x541C  # TIOCSTI, TIOCLINUX
# A process that changes the first two could not be ended, or inspected; a filter is kept in the system's memory.
PRCTL = kernel.PR_SET_PDEATHSIG, kernel.PR_SET_DUMPABLE, kernel.PR_SET_SECCOMP
LEASES = 1024, 1025, 1026  # of fcntl: F_SETLEASE, F_GETLEASE, F_NOTIFY; processes that write to the file would wait
PIPE_SIZE = 1031  # of fcntl: F_SETPIPE_SZ; the pages of all pipes are counted for the user
HINTS = 1035  # of fcntl, and whatever comes after them: they are kept with a file, for all who open it
ADVICE = 12, 20, 21  # of madvise: MERGEABLE, COLD, PAGEOUT; pages of files and equal pages are everybody's
NOT_CACHED = 8, 128  # flags of preadv2: RWF_NOWAIT, RWF_DONTCACHE; they tell and change what others have read
SOCKET_FILTERS = 26, 50, 51, 52  # of setsockopt: SO_ATTACH_FILTER and its like; their memory is the machine's
LOCKS = 6, 7, 37, 38  # of fcntl: F_SETLK, F_SETLKW, F_OFD_SETLK, F_OFD_SETLKW
UNIX, INTERNET, INTERNET_6 = 1, 2, 10  # the families of sockets that the network namespace and the sandbox close in
UDP = 17  # the last of their protocols that is not a module of the system's
LOW = 0xFFFFFFFF


@functools.cache
def bpf_filter(options: Options) -> bytes:
    """Return the filter as the system reads it (classic BPF).

    Empty without isolation. ``SandboxError`` without libseccomp.
    """
    if options.isolation == "none":
        return b""
    try:
        import pyseccomp as seccomp
    except (ImportError, RuntimeError, OSError):
        raise SandboxError("libseccomp is missing, and nothing is graded without it: install it "
                           "(Debian: apt-get install libseccomp2), or say --no-isolation "
                           "to run student code unprotected") from None
    rules = seccomp.SyscallFilter(seccomp.ALLOW)
    refused = seccomp.ERRNO(errno.EPERM)
    counted = options.device == "cpu"
    for name in " ".join([*REFUSED.values(), *([UNCOUNTED] if counted else [])]).split():
        if seccomp.resolve_syscall(seccomp.system_arch(), name) != -1:  # not every processor has every call
            rules.add_rule(refused, name)
    rules.add_rule(seccomp.ERRNO(errno.ENOSYS), "clone3")  # its flags cannot be read; C libraries then take clone
    for name in UNDONE.split():
        rules.add_rule(seccomp.ERRNO(0), name)
    for command in LOCKS:  # databases lock their file
        rules.add_rule(seccomp.ERRNO(0), "fcntl", seccomp.Arg(1, seccomp.MASKED_EQ, LOW, command))
    for name, argument, mask, value in _by_argument(counted):
        rules.add_rule(refused, name, seccomp.Arg(argument, seccomp.MASKED_EQ, mask, value))
    for option in SOCKET_FILTERS:
        rules.add_rule(refused, "setsockopt", seccomp.Arg(1, seccomp.MASKED_EQ, LOW, 1),
                       seccomp.Arg(2, seccomp.MASKED_EQ, LOW, option))
    rules.add_rule(refused, "fcntl", seccomp.Arg(1, seccomp.GE, HINTS))
    rules.add_rule(refused, "socketpair", seccomp.Arg(0, seccomp.GT, UNIX))
    rules.add_rule(refused, "socket", seccomp.Arg(2, seccomp.GT, UDP))
    if options.isolation == "bubblewrap":
        for family in range(INTERNET + 1, INTERNET_6):
            rules.add_rule(refused, "socket", seccomp.Arg(0, seccomp.EQ, family))
        rules.add_rule(refused, "socket", seccomp.Arg(0, seccomp.GT, INTERNET_6))
    else:  # without a namespace of its own the network is the machine's
        rules.add_rule(refused, "socket", seccomp.Arg(0, seccomp.GT, UNIX))
    return _exported(rules)


def _by_argument(counted: bool) -> list[tuple[str, int, int, int]]:
    """Return the calls refused for one argument: name, number of the argument, mask, and its value under the mask."""
    rules = [("clone", 0, flag, flag) for flag in NAMESPACES]
    rules += [("ioctl", 1, LOW, request) for request in TYPE_INTO_A_TERMINAL]
    rules += [("fcntl", 1, LOW, command) for command in (*LEASES, PIPE_SIZE)]
    rules += [("prctl", 0, LOW, option) for option in PRCTL]
    rules += [("madvise", 2, LOW, advice) for advice in ADVICE]
    rules += [("preadv2", 5, flag, flag) for flag in NOT_CACHED]
    if counted:
        rules += [("mmap", 3, SHARED_ANONYMOUS, SHARED_ANONYMOUS), ("mmap", 3, HUGE, HUGE)]
    return rules


def _exported(rules: Any) -> bytes:
    """Return the program, behind three instructions that answer ENOSYS to unknown calls."""
    newer = ((0x20, 0, 0, 0), (0x35, 0, 1, NEWER), (0x06, 0, 0, 0x00050000 | errno.ENOSYS))
    with tempfile.TemporaryFile() as file:
        rules.export_bpf(file)
        file.seek(0)
        return b"".join(struct.pack("=HBBI", *instruction) for instruction in newer) + file.read()
