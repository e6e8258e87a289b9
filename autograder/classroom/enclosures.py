"""What lies beside a handed-in notebook: of it pictures are taken over, known by their content and within bounds."""

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from ..judging import files
from .rasters import raster

MAX_FILES = 200  # folders included
MAX_BYTES = 50 * 2**20
NBGRADERS = ("timestamp.txt", "submission_secret.txt")  # when it was handed in, and where its feedback is released


def excess(folder: Path) -> str | None:
    """Say which bound the files beside a notebook break; None when they break none."""
    count = size = 0
    for name, status in _files(folder):
        if name.endswith(".ipynb"):
            continue
        count, size = count + 1, size + status.st_size
        if count > MAX_FILES:
            return f"more than {MAX_FILES} files lie beside the notebook: none of them was taken over"
        if size > MAX_BYTES:
            return f"more than {MAX_BYTES // 2**20} MiB lie beside the notebook: nothing of it was taken over"
    return None


def take_over(folder: Path, to: Path) -> None:
    """Copy the pictures beside a notebook, and what nbgrader put there; nothing where there is too much."""
    if excess(folder):
        return
    for name, status in _files(folder):
        if stat.S_ISREG(status.st_mode) and (data := _picture(folder, name)) is not None:
            path = to / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.unlink(missing_ok=True)
            path.write_bytes(data)


def _picture(folder: Path, name: str) -> bytes | None:
    """Read a file beneath a student's folder of a session; None when it is nothing to take over, or cannot be read."""
    with contextlib.suppress(OSError, files.Unreadable):
        data = files.read(folder / name, folder.parent.parent, MAX_BYTES)
        if raster(data) or name in NBGRADERS:
            return data
    return None


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
