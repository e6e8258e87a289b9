"""Let nbgrader open only plain files of students, and none that is reached through a link.

Students make the folders of the exchange, and can give them any name. One that is refused does not stop the others.
"""

import contextlib
import datetime
import glob
import os
import pwd
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from nbgrader.converters import Autograde, GenerateFeedback
from nbgrader.exchange import ExchangeError
from nbgrader.utils import find_all_files, parse_utc

from ... import escaping
from ...judging import untrusted_files
from . import copied_files

MAX_TIMESTAMP = 100  # bytes
TIMESTAMP = re.compile(r"[\w:.+ -]+")  # no path: a time zone that is one would be opened as a file
MAX_FILES = 1000  # of one submission in the exchange
MAX_NOTEBOOKS = 20  # of one submission that have its page
MAX_NAME = 1000  # characters of a file's name, with the folders above it


def copy_nbgrader_files(stock: Callable[..., None], converter: Any, assignment_id: str, student_id: str) -> None:
    """Copy nothing that lies beside a submitted or graded notebook but nbgrader's own files."""
    if not isinstance(converter, (Autograde, GenerateFeedback)):
        stock(converter, assignment_id, student_id)
        return
    source, to = converter._format_source(assignment_id, student_id), converter._format_dest(assignment_id, student_id)
    copied_files.copy(Path(source), Path(to))


def existing_timestamp(stock: object, coursedir: object, dest_path: str) -> datetime.datetime | None:
    """Return when something was handed in; None where no file says so in a line."""
    folder = Path(dest_path)
    try:
        text = untrusted_files.read(folder / "timestamp.txt", folder, MAX_TIMESTAMP).decode("utf-8").strip()
        return parse_utc(text) if TIMESTAMP.fullmatch(text) else None
    except (untrusted_files.SubmissionError, OSError, ValueError, OverflowError):
        return None


def record(stock: Callable[..., dict[str, Any]], exchange: Any, path: str) -> dict[str, Any]:
    """Return student and time of a folder in the exchange, by its name; no student where the folder is refused."""
    name = os.path.basename(path)
    student, _, time, *_ = name.rsplit("+", 3)
    try:
        if not name.isprintable() or student != student.strip():
            raise untrusted_files.SubmissionError("its name is no student's")
        parse_utc(time)
        if exchange.check_owner:
            _refuse_other_owner(student, path)
    except (untrusted_files.SubmissionError, OSError, ValueError, OverflowError) as error:
        exchange.log.warning("left behind: %s: %s", escaping.line(name), escaping.line(str(error)))
        return {"username": "", "filename": name, "timestamp": datetime.datetime.min}
    return stock(exchange, path)


def _refuse_other_owner(student: str, path: str) -> None:
    """Refuse a folder of another account, where this system has one of the student's name."""
    try:
        account = pwd.getpwnam(student)
    except KeyError:
        return
    if os.lstat(path).st_uid != account.pw_uid:
        raise untrusted_files.SubmissionError(f"it does not belong to {student}")


def sources(stock: Callable[..., None], exchange: Any) -> None:
    """List the folders of the exchange to collect: those of a student."""
    stock(exchange)
    exchange.src_records = [record for record in exchange.src_records if record["username"]]


def release(stock: Callable[..., None], exchange: Any) -> None:
    """Release the pages of all who handed in over the exchange; skip a submission that lacks nbgrader's files.

    A folder that cannot be read stops no other: what is wrong is said at the end, in an ``ExchangeError``.
    """
    failed = []
    for folder in sorted(glob.glob(exchange.src_path)):
        missing = [name for name in copied_files.NBGRADER_FILES if not os.path.isfile(os.path.join(folder, name))]
        if missing:
            exchange.log.warning("not released: %s has no %s", escaping.line(folder), " and no ".join(missing))
            continue
        exchange.src_path = glob.escape(folder)
        try:
            with _page_for_each_name(exchange, Path(folder)):
                stock(exchange)
        except (OSError, ValueError) as error:
            failed.append(escaping.line(f"{folder}: {error}"))
    if failed:
        raise ExchangeError(f"not released: {'; '.join(failed)}")


@contextlib.contextmanager
def _page_for_each_name(exchange: Any, folder: Path) -> Iterator[None]:
    """Have the page of a submission under the names of all its notebooks, too: nbgrader looks for it by these."""
    coursedir = exchange.coursedir
    page = folder / f"{coursedir.assignment_id}.html"
    submitted = Path(coursedir.format_path(coursedir.submitted_directory, folder.parent.name, coursedir.assignment_id))
    copies = [folder / f"{path.stem}.html" for path in submitted.glob("*.ipynb") if path.stem != page.stem]
    copies = copies[:MAX_NOTEBOOKS] if page.is_file() else []
    try:
        for copy in copies:
            shutil.copy(page, copy)
        yield
    finally:
        for copy in copies:
            copy.unlink(missing_ok=True)


def collect(stock: Callable[..., None], exchange: Any, src: str, dest: str, log: Any = None) -> None:
    """Copy a submission out of the exchange, with the instructor's rights: only what its owner put there.

    A file that is not plain, or that has another owner than the folder, is left behind.
    """
    with tempfile.TemporaryDirectory(prefix="collect-") as folder:
        plain = Path(folder, "submission")
        plain.mkdir()
        _copy_plain(exchange, Path(src), plain)
        stock(exchange, str(plain), dest, log)


def _copy_plain(exchange: Any, src: Path, plain: Path) -> None:
    inbound, owner, left = src.parent, os.lstat(src).st_uid, 1000 * exchange.coursedir.max_dir_size
    names = find_all_files(str(src))
    if len(names) > MAX_FILES:
        exchange.log.warning("left behind: all but %d files of %s", MAX_FILES, escaping.line(str(src)))
    for name in names[:MAX_FILES]:
        try:
            if len(name) - len(str(src)) > MAX_NAME:
                raise untrusted_files.SubmissionError(f"a name of {len(name)} characters in {src}")
            data = untrusted_files.read(Path(name), inbound, left, owner)
        except (untrusted_files.SubmissionError, OSError) as error:
            exchange.log.warning("left behind: %s", escaping.line(str(error)))
            continue
        left -= len(data)
        to = plain / Path(name).relative_to(src)
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_bytes(data)
