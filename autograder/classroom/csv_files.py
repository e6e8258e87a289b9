"""CSV files: written so that no spreadsheet takes a cell for a formula, and read as spreadsheets save them."""

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from .. import escaping
from ..runtime.workspace import write_whole
from .json_files import FileError


def write(path: Path, rows: Iterable[Sequence[str]], escape: Callable[[str], str] = escaping.csv_line) -> None:
    """Write a file, its cells made safe by ``escape``, one of the functions of `escaping` for spreadsheets."""
    file = io.StringIO()
    csv.writer(file).writerows([escape(cell) for cell in row] for row in rows)
    write_whole(path, file.getvalue())


def reader(text: str) -> Any:
    """Return a `csv.reader` of the rows of a file, separated as the spreadsheets of that country do."""
    header = text.splitlines()[0] if text.strip() else ""
    return csv.reader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=header.count))


def read(path: Path) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Return the header of a file, and its other rows that are not blank with their line numbers.

    ``FileError`` if it is no CSV file.
    """
    try:
        rows = reader(path.read_bytes().decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise FileError(f"{path} is no UTF-8 text: save it as CSV, UTF-8") from None
    try:
        return next(rows, []), [(rows.line_num, row) for row in rows if any(map(str.strip, row))]
    except csv.Error as error:
        raise FileError(f"{path}, line {rows.line_num}: {error}") from None


def records(path: Path) -> list[dict[str, str]]:
    """Return the rows of a file written with `escaping.csv_cell`, by column, without blank ones.

    Return none where there is no file; ``FileError`` where it cannot be read, or a row does not fit the header.
    """
    header, rows = read(path) if path.is_file() else ([], [])
    for number, row in rows:
        if len(row) < len(header) or any(map(str.strip, row[len(header):])):
            raise FileError(f"{path}, line {number}: {len(row)} cells, where the header has {len(header)}: correct it")
    return [dict(zip(header, map(escaping.from_csv, row), strict=False)) for _, row in rows]
