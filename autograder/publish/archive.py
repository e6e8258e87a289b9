"""Write a zip whose bytes depend on its files and a date alone."""

import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import IO

Date = tuple[int, int, int, int, int, int]
EARLIEST: Date = (1980, 1, 1, 0, 0, 0)  # the first date that a zip can hold


def write_zip(target: Path | IO[bytes], files: Iterable[tuple[str, bytes]], date: Date = EARLIEST) -> None:
    """Write files, given as (name, bytes), into a zip; those that begin with #! are executable."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files:
            entry = zipfile.ZipInfo(name, date)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if data.startswith(b"#!") else 0o100644) << 16
            archive.writestr(entry, data)
