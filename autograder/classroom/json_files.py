"""JSON files of a class: dataclasses and dictionaries of plain values, written and read here and nowhere else.

A file that holds something else is refused with one line.
"""

from pathlib import Path
from typing import Any, TypeVar

import msgspec

from .. import AutograderError
from ..runtime.text import with_article

T = TypeVar("T")


class FileError(AutograderError, ValueError):
    """A file does not hold what it should; the message is one line for people."""


def to_json(value: Any) -> str:
    """Return a verdict, or anything else made of dataclasses, as indented JSON."""
    return msgspec.json.format(msgspec.json.encode(value), indent=1).decode("utf-8")


def from_json(data: bytes, kind: type[T], filename: str) -> T:
    """Read the ``kind`` that ``data`` holds; ``FileError`` names the file when it holds anything else."""
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        expected, reason = with_article(kind.__name__), str(error).splitlines()[0]
        raise FileError(f"{filename} does not hold {expected}: {reason}") from None


def load_json(path: Path, kind: type[T]) -> T | None:
    """Return the ``kind`` in a JSON file; None when there is no such file, or it holds something else."""
    try:
        return from_json(path.read_bytes(), kind, str(path))
    except (OSError, FileError):
        return None
