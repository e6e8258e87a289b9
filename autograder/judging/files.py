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


class Unreadable(AutograderError, ValueError):
    """A submission cannot be graded; the message is one line for people, whatever the names in it."""

    def __init__(self, reason: str):
        super().__init__(encodable(reason))


def encodable(text: str) -> str:
    """Return text that can be written as UTF-8: lone surrogates and undecoded bytes are replaced by their numbers."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def read(path: Path, root: Path, max_bytes: int, owner: int | None = None) -> bytes:
    """Return the bytes of a plain file beneath ``root``; ``Unreadable`` if it is none, or too large.

    It must belong to ``owner``, if one is named. ``OSError`` is a fault of this machine.
    """
    with _opened(path, root) as fd:
        size = os.fstat(fd).st_size
        if owner not in (None, os.fstat(fd).st_uid):
            raise Unreadable(f"{_shown(path, root)}: it belongs to somebody else than its folder does")
        with open(fd, "rb", closefd=False) as file:
            data = file.read(max_bytes + 1)
        if len(data) > max_bytes:
            raise Unreadable(f"{_shown(path, root)}: {size / 2**20:.0f} MiB; at most {max_bytes // 2**20} MiB are read "
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
def _opened(path: Path, root: Path) -> Iterator[int]:
    """Open a plain file for reading."""
    shown = _shown(path, root)
    *folders, name = Path(shown).parts or (".",)
    above = os.open(root, os.O_PATH | os.O_DIRECTORY)
    try:
        for folder in folders:
            inner = _open(folder, os.O_PATH | os.O_DIRECTORY, above, shown)
            os.close(above)
            above = inner
        fd = _open(name, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY, above, shown)
    finally:
        os.close(above)
    try:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode):
            raise Unreadable(f"{shown}: it is not a file")
        if status.st_nlink > 1:
            raise Unreadable(f"{shown}: it has a second name on this disk (a hard link), and may be somebody else's; "
                             "copy it")
        yield fd
    finally:
        os.close(fd)


def _shown(path: Path, root: Path) -> str:
    """Return the path beneath its root: a student reads it, and the rest is the instructor's."""
    return str(Path(os.path.abspath(path)).relative_to(os.path.abspath(root)))


def _open(name: str, flags: int, above: int, shown: str) -> int:
    try:
        return os.open(name, flags | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=above)
    except OSError as error:
        if error.errno not in STUDENT_ERRNOS:
            raise
        reason = (error.strerror or "it cannot be read").lower()
        with contextlib.suppress(OSError):
            if stat.S_ISLNK(os.stat(name, dir_fd=above, follow_symlinks=False).st_mode):
                reason = "it is a symbolic link" if name == Path(shown).name else f"{name} is a symbolic link"
        raise Unreadable(f"{shown}: {reason}") from None
