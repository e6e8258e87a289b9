"""Read a zip whose entries students made: nothing is unpacked, and no name is used as a path.

Each entry is read into memory by itself, up to a limit, whatever the archive says of its size.
"""

import stat
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ...course import CourseError
from ...judging.submission import MAX_BYTES
from ...model.errors import one_line

MAX_ENTRIES = 20_000
MAX_ENTRIES_OF_ONE = 500  # files of one student
MAX_TOTAL = 4 * 2**30  # bytes of notebooks, of the whole class
MAX_OF_ONE = 2 * MAX_BYTES  # bytes of notebooks, of one student


@dataclass(frozen=True)
class ArchivedFile:
    """One file of an archive: its name there, and its bytes or why they were not taken."""

    name: str
    data: bytes = b""
    problem: str | None = None


def files(path: Path, owner: Callable[[str], Hashable]) -> Iterator[ArchivedFile]:
    """Yield the files of a zip, student by student; of other files than notebooks only the names.

    ``owner`` returns the student of a file, by its name: the files and bytes of each student are bounded.
    ``CourseError`` when it is no zip, holds too many files, or unpacks to more than a class can hand in.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            groups: dict[Hashable, list[zipfile.ZipInfo]] = defaultdict(list)
            for entry in archive.infolist():
                if not entry.filename.endswith("/"):
                    groups[owner(entry.filename)].append(entry)
            number = sum(min(len(entries), MAX_ENTRIES_OF_ONE) for entries in groups.values())
            if number > MAX_ENTRIES:
                raise CourseError(f"{path} holds {number} files; at most {MAX_ENTRIES} are read")
            total = 0
            for entries in groups.values():
                taken = 0
                for entry in entries[:MAX_ENTRIES_OF_ONE]:
                    file = _file(archive, entry, MAX_OF_ONE - taken)
                    taken += len(file.data)
                    if total + taken > MAX_TOTAL:
                        raise CourseError(f"{path} unpacks to more than {MAX_TOTAL // 2**30} GiB")
                    yield file
                total += taken
                if more := len(entries[MAX_ENTRIES_OF_ONE:]):
                    problem = (f"with it, {more} of one student's {len(entries)} files are left out; "
                               f"the first {MAX_ENTRIES_OF_ONE} are read")
                    yield ArchivedFile(entries[MAX_ENTRIES_OF_ONE].filename, problem=problem)
    except (zipfile.BadZipFile, EOFError, NotImplementedError, ValueError, OverflowError) as error:
        raise CourseError(f"{path} is not a zip that can be read: {one_line(error)[:200]}") from None


def _file(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, left: int) -> ArchivedFile:
    """Return a file of at most ``left`` bytes."""
    name = entry.filename
    parts = name.replace("\\", "/").split("/")
    if not parts[-1]:
        return ArchivedFile(name, problem="it has no name")
    if ".." in parts or name.startswith(("/", "\\")) or ":" in parts[0] or "\0" in entry.orig_filename:
        return ArchivedFile(name, problem="its name leads out of the archive")
    mode = entry.external_attr >> 16
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
        return ArchivedFile(name, problem="it is a link or a device, not a file")
    if not name.lower().endswith(".ipynb") or parts[-1].startswith((".", "~")) or ".ipynb_checkpoints" in parts:
        return ArchivedFile(name, problem="not a notebook")
    if entry.flag_bits & 1:
        return ArchivedFile(name, problem="it is encrypted")
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):  # the others are unpacked without a bound
        return ArchivedFile(name, problem="it is compressed in a way that no platform uses")
    try:
        with archive.open(entry) as file:
            data = file.read(min(MAX_BYTES, left) + 1)  # not what the archive says of its size
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError, ValueError) as error:
        return ArchivedFile(name, problem=f"it cannot be read: {one_line(error)[:200]}")
    if len(data) > MAX_BYTES:
        return ArchivedFile(name, problem=f"more than {MAX_BYTES // 2**20} MiB (clear the outputs and save again)")
    if len(data) > left:
        return ArchivedFile(name, problem=f"more than {MAX_OF_ONE // 2**20} MiB of one student, with those before it")
    return ArchivedFile(name, data)
