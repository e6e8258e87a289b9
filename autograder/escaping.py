"""Escape students' text for where it is shown: terminal, Markdown, HTML, CSV. All such text passes through here.

Whatever is not printable (escape sequences, direction marks, other controls) is shown by its number, as ``\\x1b`` is.
"""

import re
import unicodedata
from typing import Any

from markupsafe import Markup, escape

# A cell begins at these, too, where a spreadsheet of another country separates by them.
_SIGNS = "=+@＝＋＠－-"
_SEPARATED = re.compile(rf"([;\t])(?=['\s]*[{_SIGNS}])")
_SEPARATED_AND_MARKED = re.compile(rf"([;\t])'(?=['\s]*[{_SIGNS}])")
_MARKUP = "<>&*_`[]()!#|\\~$"


def line(text: str) -> str:
    """Return one line of a terminal or a log: no escape sequence, no direction mark, no line of its own."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def lines(text: str) -> str:
    """Return text of several lines, indented or not: code, or words of ours with foreign ones in them."""
    return "\n".join("\t".join(map(line, row.split("\t"))) for row in text.split("\n"))


def markdown(text: str) -> str:
    """Return one line as it stands, in Markdown: no mark-up, no HTML."""
    return "".join(f"&#{ord(c)};" if c in _MARKUP else c for c in line(text))


def html(text: str) -> Markup:
    """Return text as it stands, on a page."""
    return escape(lines(text))


def on_page(value: Any) -> Any:
    """Return what a template puts on a page: text made safe, HTML of ours and numbers as they are."""
    return html(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def csv_line(text: str) -> str:
    """Return a cell of a CSV file, of one line, that no spreadsheet takes for a formula."""
    return csv_cell(line(text))


def csv_text(text: str) -> str:
    """Return a cell of a CSV file, with the lines that the text has."""
    return csv_cell(lines(text))


def from_csv(cell: str) -> str:
    """Return the text of such a cell."""
    text = _SEPARATED_AND_MARKED.sub(r"\1", cell)
    return text[1:] if text[:1] == "'" and _is_formula(text) else text


def csv_cell(text: str) -> str:
    """Return a cell of a CSV file of ours, from which `from_csv` has the text again as it was."""
    marked = _SEPARATED.sub(r"\1'", text)
    return f"'{marked}" if _is_formula(text) else marked


def _is_formula(text: str) -> bool:
    """Return whether a text is a formula, or would be one without the quotes that it begins with."""
    text = text.lstrip("'")
    first = unicodedata.normalize("NFKC", text.lstrip()[:1])  # a full-width sign is taken for its plain one
    return first in ("=", "+", "@") or (first == "-" and text != "-")
