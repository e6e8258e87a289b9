"""Open files that students left: beneath a folder of ours, through no link, plain files only, bounded in size.

Each component of a path is opened in the folder before it and refused if it is a link. So the file that is checked is
the file that is read, even if somebody renames files meanwhile. A file with a second name (a hard link) may be somebody
else's.
"""

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from .. import AutograderError

# a missing file, a link, a socket: the student's doing, not a fault of this machine
STUDENT_ERRNOS = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENXIO, errno.ENAMETOOLONG)


class SubmissionError(AutograderError, ValueError):
    """A submission cannot be graded; the message is one line for people, whatever the names in it."""

    def __init__(self, reason: str):
        super().__init__(encodable(reason))


def encodable(text: str) -> str:
    """Return text that can be written as UTF-8: lone surrogates and undecoded bytes are replaced by their numbers."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def read(path: Path, root: Path, max_bytes: int, owner: int | None = None, name: str = "") -> bytes:
    """Return the bytes of a plain file beneath ``root``; ``SubmissionError`` if it is none, or too large.

    It must belong to ``owner``, if one is named. The message has its ``name``, or else its path beneath ``root``: a
    student reads it, and what is above is the instructor's. ``OSError`` is a fault of this machine.
    """
    beneath = Path(os.path.abspath(path)).relative_to(os.path.abspath(root))
    name = name or str(beneath)
    with _opened(beneath, root, name) as fd:
        size = os.fstat(fd).st_size
        if owner not in (None, os.fstat(fd).st_uid):
            raise SubmissionError(f"{name}: it belongs to somebody else than its folder does")
        with open(fd, "rb", closefd=False) as file:
            data = file.read(max_bytes + 1)
        if len(data) > max_bytes:
            raise SubmissionError(f"{name}: {size / 2**20:.0f} MiB; at most {max_bytes // 2**20} MiB are read "
                                  "(clear the outputs and save again)")
        return data


def root_of(path: Path) -> Path:
    """Return the root for reading a file: the current folder, else its clone, else the folder above its own."""
    absolute = Path(os.path.abspath(path))  # and not resolved: that would follow links
    if absolute.is_relative_to(Path.cwd()):
        return Path.cwd()
    clones = (folder for folder in absolute.parents if (folder / ".git").exists() and not folder.is_symlink())
    return next(clones, absolute.parent.parent)


@contextlib.contextmanager
def _opened(beneath: Path, root: Path, name: str) -> Iterator[int]:
    """Open a plain file for reading."""
    *folders, last = beneath.parts or (".",)
    above = os.open(root, os.O_PATH | os.O_DIRECTORY)
    try:
        for folder in folders:
            inner = _open(folder, os.O_PATH | os.O_DIRECTORY, above, f"{folder} is a symbolic link", name)
            os.close(above)
            above = inner
        fd = _open(last, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY, above, "it is a symbolic link", name)
    finally:
        os.close(above)
    try:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode):
            raise SubmissionError(f"{name}: it is not a file")
        if status.st_nlink > 1:
            raise SubmissionError(f"{name}: it has a second name on this disk (a hard link), and may be somebody "
                                  "else's; copy it")
        yield fd
    finally:
        os.close(fd)


def _open(part: str, flags: int, above: int, link: str, name: str) -> int:
    try:
        return os.open(part, flags | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=above)
    except OSError as error:
        if error.errno not in STUDENT_ERRNOS:
            raise
        reason = (error.strerror or "it cannot be read").lower()
        with contextlib.suppress(OSError):
            if stat.S_ISLNK(os.stat(part, dir_fd=above, follow_symlinks=False).st_mode):
                reason = link
        raise SubmissionError(f"{name}: {reason}") from None
