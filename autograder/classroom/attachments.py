"""Copy the pictures beside a submitted notebook, recognised by their content and limited in number and size."""

import contextlib
import os
import stat
from collections.abc import Collection, Iterator
from pathlib import Path

from ..judging import files
from ..raster import raster_type

MAX_FILES = 200  # folders included
MAX_BYTES = 50 * 2**20
NBGRADER_FILES = ("timestamp.txt", "submission_secret.txt")  # when it was handed in, and where its feedback is released
NOT_PICTURES = (".ipynb", ".html", *NBGRADER_FILES)  # endings of what nbgrader reads, as names of folders, too
MAX_LINE = 200  # bytes of each of these


def excess(folder: Path) -> str | None:
    """Return which limit the files beside a notebook exceed, in words; None if they exceed none."""
    count = size = 0
    for name, status in _files(folder):
        count, size = count + 1, size + (0 if name.endswith(".ipynb") else status.st_size)
        if count > MAX_FILES:
            return f"more than {MAX_FILES} files lie beside the notebook: none of them was taken over"
        if size > MAX_BYTES:
            return f"more than {MAX_BYTES // 2**20} MiB lie beside the notebook: nothing of it was taken over"
    return None


def copy_attachments(folder: Path, to: Path) -> None:
    """Copy nbgrader's files and the pictures beside a notebook; no picture if there are too many files or bytes."""
    found = dict(_attachments(folder))
    for name in _taken_away(found, to):
        (to / name).unlink()
    for name, data in found.items():
        _write(to / name, data)


def differ(folder: Path, to: Path) -> bool:
    """Return whether something beside a notebook is to be copied, because it is new or another, or nbgrader's files are
    there no longer."""
    found = dict(_attachments(folder))
    return bool(_taken_away(found, to)) or any(
        not (to / name).is_file() or (to / name).read_bytes() != data for name, data in found.items())


def _taken_away(found: Collection[str], to: Path) -> list[str]:
    return [name for name in NBGRADER_FILES if name not in found and (to / name).is_file()]


def _attachments(folder: Path) -> Iterator[tuple[str, bytes]]:
    for name in NBGRADER_FILES:
        data = _read(folder, name, MAX_LINE)
        if data and _is_line(data):
            yield name, data
    if excess(folder):
        return
    for name, status in _files(folder):
        if stat.S_ISREG(status.st_mode) and not any(part.endswith(NOT_PICTURES) for part in name.split(os.sep)):
            data = _read(folder, name, MAX_BYTES)
            if data and raster_type(data):
                yield name, data


def _read(folder: Path, name: str, most: int) -> bytes | None:
    """Read a file beneath a student's folder of a session; None when it is not plain, too large or unreadable."""
    with contextlib.suppress(OSError, files.Unreadable):
        return files.read(folder / name, folder.parent.parent, most)
    return None


def _is_line(data: bytes) -> bool:
    """Return whether the bytes are one line of text, which nbgrader can print and read back."""
    try:
        return data.decode("utf-8").strip().isprintable()
    except UnicodeDecodeError:
        return False


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    path.write_bytes(data)


def _files(folder: Path) -> Iterator[tuple[str, os.stat_result]]:
    """Yield all plain files and folders beneath a folder, by their names from there; no link is followed."""
    pending = [""]
    while pending:
        above = pending.pop()
        with contextlib.suppress(OSError), os.scandir(folder / above) as entries:  # none, or none that can be read
            for entry in entries:
                name, status = os.path.join(above, entry.name), entry.stat(follow_symlinks=False)
                if stat.S_ISDIR(status.st_mode):
                    pending.append(name)
                if stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode):
                    yield name, status
