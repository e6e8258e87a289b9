"""A control group of the system's (cgroup v2) around a sandbox, where this user may make one.

It alone counts the seconds of processes that have ended without their parent waiting for them. All its processes can be
killed at once, whatever their parents are.
"""

import contextlib
import itertools
import os
import time
from pathlib import Path

PREFIX, MIN_AGE_SECONDS = "autograder-", 60  # of the groups' names; of one that is empty
_numbers = itertools.count()


class Cgroup:
    """One group, with a process and all that this starts."""

    def __init__(self, folder: Path):
        self.folder = folder

    def seconds(self) -> float:
        """Return the CPU seconds of everything that ever was in it."""
        fields = (self.folder / "cpu.stat").read_text().split()
        return int(fields[fields.index("usage_usec") + 1]) / 1e6

    def close(self) -> None:
        """Kill what is in it, and remove it."""
        with contextlib.suppress(OSError):  # older systems cannot kill a group
            (self.folder / "cgroup.kill").write_text("1")
        for _ in range(100):
            with contextlib.suppress(OSError):
                self.folder.rmdir()
            if not self.folder.exists():
                return
            time.sleep(0.02)


def create_around(pid: int) -> Cgroup | None:
    """Make a group beneath that of this process, and put a process inside, with all that it starts from now on.

    None where there is no cgroup v2, or where none may be made or entered.
    """
    above = _current()
    if above is None:
        return None
    for abandoned in above.glob(f"{PREFIX}*"):  # of graders that were killed
        with contextlib.suppress(OSError):
            if time.time() - abandoned.stat().st_mtime > MIN_AGE_SECONDS:
                abandoned.rmdir()
    group = Cgroup(above / f"{PREFIX}{os.getpid()}-{next(_numbers)}")
    try:
        group.folder.mkdir()
    except OSError:
        return None
    try:
        group.seconds()
        (group.folder / "cgroup.procs").write_text(str(pid))
    except (OSError, ValueError):  # no seconds are counted, or the right to make a group is not one to enter it
        with contextlib.suppress(OSError):
            group.folder.rmdir()
        return None
    return group


def _current() -> Path | None:
    """Return the path of this process's group."""
    with contextlib.suppress(OSError, StopIteration):
        name = next(line[3:] for line in Path("/proc/self/cgroup").read_text().splitlines() if line.startswith("0::"))
        mounts = (line.split() for line in Path("/proc/self/mounts").read_text().splitlines())
        mount_point = next(mount[1] for mount in mounts if mount[2] == "cgroup2")
        return Path(mount_point) / name.lstrip("/")
    return None
