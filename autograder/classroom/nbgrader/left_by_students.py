"""nbgrader opens what students left: here plain files only, and nothing that is reached through a link."""

import datetime
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nbgrader.converters import Autograde, GenerateFeedback
from nbgrader.utils import find_all_files, parse_utc

from ... import escaping
from ...judging import files
from .. import enclosures

LARGEST_TIMESTAMP = 100  # bytes


def take_over(stock: Callable[..., None], self: Any, assignment_id: str, student_id: str) -> None:
    """Copy what lies beside a submitted or graded notebook to where formgrader's server shows it: pictures alone."""
    if not isinstance(self, (Autograde, GenerateFeedback)):
        stock(self, assignment_id, student_id)
        return
    source, to = self._format_source(assignment_id, student_id), self._format_dest(assignment_id, student_id)
    enclosures.take_over(Path(source), Path(to))


def existing_timestamp(stock: object, self: object, dest_path: str) -> datetime.datetime | None:
    """Return when something was handed in; None where no file says so in a line."""
    folder = Path(dest_path)
    try:
        text = files.read(folder / "timestamp.txt", folder, LARGEST_TIMESTAMP).decode("utf-8").strip()
        return parse_utc(text) if text else None
    except (files.Unreadable, OSError, ValueError, OverflowError):
        return None


def collect(stock: Callable[..., None], self: Any, src: str, dest: str, log: Any = None) -> None:
    """Copy a submission out of the exchange, with the instructor's rights: what its owner put there, and nobody else.

    What is no plain file, or belongs to somebody else than the folder does, is left behind.
    """
    with tempfile.TemporaryDirectory(prefix="collect-") as folder:
        plain = Path(folder, "submission")
        plain.mkdir()
        _take_plain(self, Path(src), plain)
        stock(self, str(plain), dest, log)


def _take_plain(exchange: Any, src: Path, plain: Path) -> None:
    inbound, owner, left = src.parent, os.lstat(src).st_uid, 1000 * exchange.coursedir.max_dir_size
    for name in find_all_files(str(src)):
        try:
            data = files.read(Path(name), inbound, left, owner)
        except (files.Unreadable, OSError) as error:
            exchange.log.warning("left behind: %s", escaping.line(str(error)))
            continue
        left -= len(data)
        to = plain / Path(name).relative_to(src)
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_bytes(data)
