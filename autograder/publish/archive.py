"""Write zips and wheels whose bytes depend on their files and a date alone."""

import base64
import hashlib
import io
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import IO

Date = tuple[int, int, int, int, int, int]
EARLIEST: Date = (1980, 1, 1, 0, 0, 0)  # the first date that a zip can hold
WHEEL = "Wheel-Version: 1.0\nGenerator: autograder\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def write_zip(target: Path | IO[bytes], files: Iterable[tuple[str, bytes]], date: Date = EARLIEST) -> None:
    """Write files, given as (name, bytes), into a zip; those that begin with #! are executable."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files:
            entry = zipfile.ZipInfo(name, date)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if data.startswith(b"#!") else 0o100644) << 16
            archive.writestr(entry, data)


def wheel(name: str, files: Mapping[str, bytes], about: Mapping[str, str], date: Date = EARLIEST) -> bytes:
    """Return a wheel of pure Python for pip: ``name`` ends with its version, ``about`` is its metadata by file."""
    info = f"{name}.dist-info"
    held = {**files, **{f"{info}/{one}": text.encode() for one, text in {**about, "WHEEL": WHEEL}.items()}}
    rows = [f"{path},sha256={_hash(data)},{len(data)}" for path, data in held.items()]
    held[f"{info}/RECORD"] = "\n".join([*rows, f"{info}/RECORD,,", ""]).encode()
    written = io.BytesIO()
    write_zip(written, held.items(), date)
    return written.getvalue()


def _hash(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
