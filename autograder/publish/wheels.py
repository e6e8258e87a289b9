"""Write zips and wheels whose bytes depend on their files alone; also the engine's own wheel.

The wheel that students receive is the same: it holds the runtime of the self-checks, and nothing of a course.
"""

import base64
import hashlib
import io
import zipfile
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import IO

from .. import ENGINE_FOLDER
from ..course import CourseError

DISTRIBUTION = "replay-autograder"  # the engine's
SKIPPED = {".git", "__pycache__", ".ipynb_checkpoints", ".ruff_cache", ".mypy_cache"}
WHEEL = "Wheel-Version: 1.0\nGenerator: autograder\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def write_zip(target: Path | IO[bytes], files: Iterable[tuple[str, bytes]]) -> None:
    """Write files, given as (name, bytes), into a zip; those that begin with #! are executable."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files:
            entry = zipfile.ZipInfo(name)  # of the first date that a zip can hold
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if data.startswith(b"#!") else 0o100644) << 16
            archive.writestr(entry, data)


def wheel(name: str, files: Mapping[str, bytes], metadata: Mapping[str, str]) -> bytes:
    """Return a wheel of pure Python: ``name`` ends with its version, ``metadata`` has its metadata by file."""
    info = f"{name}.dist-info"
    contents = {**files, **{f"{info}/{file}": text.encode() for file, text in {**metadata, "WHEEL": WHEEL}.items()}}
    rows = [f"{path},sha256={_hash(data)},{len(data)}" for path, data in contents.items()]
    contents[f"{info}/RECORD"] = "\n".join([*rows, f"{info}/RECORD,,", ""]).encode()
    archive = io.BytesIO()
    write_zip(archive, contents.items())
    return archive.getvalue()


def _hash(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")


@cache
def engine_wheel() -> tuple[str, bytes]:
    """Return the name and the bytes of the wheel of the engine that runs, made from its files as they are installed."""
    try:
        installed = distribution(DISTRIBUTION)
    except PackageNotFoundError:
        raise CourseError("the engine is not installed, and students need its wheel: "
                          f"pip install {DISTRIBUTION}") from None
    name = f"{DISTRIBUTION.replace('-', '_')}-{installed.version}"
    metadata = {"METADATA": installed.read_text("METADATA") or installed.read_text("PKG-INFO") or "",
                "entry_points.txt": installed.read_text("entry_points.txt") or ""}
    return f"{name}-py3-none-any.whl", wheel(name, files_in(ENGINE_FOLDER, ENGINE_FOLDER.parent), metadata)


def files_in(path: Path, base: Path | None = None) -> dict[str, bytes]:
    """Return the bytes of a file, or of all files in a folder, by their names in ``base`` (the folder); no caches."""
    paths = [path] if path.is_file() else sorted(path.rglob("*"))
    names = {file.relative_to(base or path): file for file in paths if file.is_file() and file.suffix != ".pyc"}
    return {name.as_posix(): file.read_bytes() for name, file in names.items() if not SKIPPED & set(name.parts)}
