"""Copy the two files that nbgrader puts beside a submitted notebook; nothing else beside it is copied."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from ...judging import untrusted_files
from ...runtime.workspace import write_whole

NBGRADER_FILES = ("timestamp.txt", "submission_secret.txt")  # when it was handed in, and where its feedback is released
MAX_LINE = 200  # bytes of each of these


def copy(folder: Path, to: Path) -> None:
    """Copy nbgrader's files from a submitted folder; one that is not there is removed from ``to``."""
    found = dict(_found(folder))
    for name in NBGRADER_FILES:
        if name in found:
            write_whole(to / name, found[name])
        else:
            (to / name).unlink(missing_ok=True)


def differ(folder: Path, to: Path) -> bool:
    """Return whether ``copy`` would change a file."""
    return dict(_found(folder)) != dict(_found(to))


def _found(folder: Path) -> Iterator[tuple[str, bytes]]:
    for name in NBGRADER_FILES:
        with contextlib.suppress(OSError, untrusted_files.SubmissionError):
            data = untrusted_files.read(folder / name, folder.parent.parent, MAX_LINE)
            if data and _is_line(data):
                yield name, data


def _is_line(data: bytes) -> bool:
    """Return whether the bytes are one line of text, which nbgrader can print and read back."""
    try:
        return data.decode("utf-8").strip().isprintable()
    except UnicodeDecodeError:
        return False
