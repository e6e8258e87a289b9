"""nbgrader opens what students left: here plain files only, and nothing that is reached through a link."""

import datetime
import os
import tempfile
from pathlib import Path
from typing import Any

import nbgrader.converters.base
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange.default.collect import ExchangeCollect
from nbgrader.utils import parse_utc

from ... import escaping
from ...judging import files

LARGEST_TIMESTAMP = 100  # bytes

_find_all_files = nbgrader.converters.base.find_all_files
_do_copy = ExchangeCollect.do_copy


def read_safely() -> None:
    """From now on nbgrader copies plain files only, and reads a bounded time stamp."""
    nbgrader.converters.base.find_all_files = plain_files
    CourseDirectory.get_existing_timestamp = existing_timestamp
    ExchangeCollect.do_copy = collected


def plain_files(path: str, exclude: Any = None) -> list[str]:
    """Return the files that nbgrader copies from one folder to the next; none from one that is a link."""
    if os.path.islink(path) or os.path.islink(os.path.dirname(path)):
        return []
    return [name for name in _find_all_files(path, exclude) if files.is_plain(Path(name), Path(path))]


def existing_timestamp(self: Any, dest_path: str) -> datetime.datetime | None:
    """Return when something was handed in; None where no file says so in a line."""
    folder = Path(dest_path)
    try:
        text = files.read(folder / "timestamp.txt", folder, LARGEST_TIMESTAMP).decode("utf-8").strip()
        return parse_utc(text) if text else None
    except (files.Unreadable, OSError, ValueError, OverflowError):
        return None


def collected(self: Any, src: str, dest: str, log: Any = None) -> None:
    """Copy a submission out of the exchange, with the instructor's rights: what its owner put there, and nobody else.

    What is no plain file, or belongs to somebody else than the folder does, is left behind.
    """
    with tempfile.TemporaryDirectory(prefix="collect-") as folder:
        plain = Path(folder, "submission")
        plain.mkdir()
        _take_plain(self, Path(src), plain)
        _do_copy(self, str(plain), dest, log)


def _take_plain(exchange: Any, src: Path, plain: Path) -> None:
    inbound, owner, left = src.parent, os.lstat(src).st_uid, 1000 * exchange.coursedir.max_dir_size
    for name in _find_all_files(str(src)):
        try:
            data = files.read(Path(name), inbound, left, owner)
        except (files.Unreadable, OSError) as error:
            exchange.log.warning("left behind: %s", escaping.line(str(error)))
            continue
        left -= len(data)
        to = plain / Path(name).relative_to(src)
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_bytes(data)
