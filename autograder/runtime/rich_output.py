"""Show tables and text in a notebook or a terminal, without matplotlib or torch."""

import html
from collections.abc import Iterable, Sequence
from typing import Any

Rows = Iterable[Iterable[Any]]


def ipython_shell() -> Any:
    """Return IPython's shell, or None in a plain script."""
    try:
        from IPython import get_ipython
    except ImportError:
        return None
    return get_ipython()


def ipython_kernel() -> Any:
    """Return the running notebook kernel, or None in a plain script or a terminal."""
    return getattr(ipython_shell(), "kernel", None)


def is_interactive() -> bool:
    """Return whether a person sits at this notebook: front ends offer to answer `input()`, batch runs do not."""
    running = ipython_kernel()
    return running is not None and bool(getattr(running, "_allow_stdin", False))


def present(bundle: dict[str, Any], alt: str) -> None:
    """Show a bundle (MIME type → content) in the notebook, with `alt` as the alt text of its image."""
    from IPython.display import display

    display(bundle, raw=True, metadata={"image/png": {"alt": alt}})  # type: ignore[no-untyped-call]


def show(page: str, text: str) -> None:
    """Show HTML in a notebook, and text elsewhere."""
    if ipython_kernel() is None:
        print(text)
    else:
        from IPython.display import display

        display({"text/html": page, "text/plain": text}, raw=True)  # type: ignore[no-untyped-call]


def visible(text: str) -> str:
    """Return text in which a space, an end of line (our EOS), a tab and nothing at all can be seen."""
    if text == "":
        return "∅"
    if text.strip(" \n\t") == "" or len(text) == 1:
        return text.replace(" ", "␣").replace("\n", "⏎").replace("\t", "⇥")
    return text.replace("\n", "⏎").replace("\t", "⇥")


def cell_text(value: Any) -> str:
    """Return a table cell as text: at most four digits that matter, no trailing noise.

    `value` is anything that can be printed; of a tensor or an array () the number is taken.
    """
    if hasattr(value, "item") and getattr(value, "ndim", 0) == 0:
        value = value.item()
    if isinstance(value, float):
        return f"{value:.4g}"
    return "" if isinstance(value, str) and not value else visible(str(value))


def is_number(text: str) -> bool:
    """Return whether the text of a cell is a number or a percentage.

    One without text does no harm to a column of numbers.
    """
    try:
        float(text.removesuffix("%"))
    except ValueError:
        return text == ""
    return True


def html_table(rows: Rows, header: Sequence[Any] = (), caption: str = "") -> str:
    """Return the table as HTML: `rows` of values under a `header`; the first column names its row.

    Columns of numbers stand to the right. Rows may be of different length. A table wider than the screen scrolls.
    """
    lines = [[cell_text(value) for value in row] for row in rows]
    width = max([len(header), *(len(row) for row in lines)], default=0)
    numeric = [all(is_number(row[i]) for row in lines if i < len(row)) for i in range(width)]
    align = ["right" if number else "left" for number in numeric]

    def line(cells: Sequence[str], tag: str, scope: str) -> str:
        return "<tr>" + "".join(
            f'<{tag} {scope if tag == "th" else ""} style="text-align:{align[i]}">{html.escape(text)}</{tag}>'
            if tag == "th" or i else
            f'<th scope="row" style="text-align:{align[i]}">{html.escape(text)}</th>'
            for i, text in enumerate(cells)) + "</tr>"

    parts = ['<div style="overflow-x:auto"><table>']
    if caption:
        parts.append(f'<caption style="text-align:left">{html.escape(caption)}</caption>')
    if header:
        parts.append("<thead>" + line([visible(str(h)) for h in header], "th", 'scope="col"') + "</thead>")
    parts.append("<tbody>" + "".join(line(row, "td", "") for row in lines) + "</tbody></table></div>")
    return "".join(parts)


def text_table(rows: Rows, header: Sequence[Any] = (), caption: str = "") -> str:
    """Return the table as plain text: `rows` of values under a `header`, its columns in line."""
    lines = [[cell_text(value) for value in row] for row in rows]
    if header:
        lines.insert(0, [visible(str(h)) for h in header])
    width = max((len(line) for line in lines), default=0)
    columns = [[line[i] if i < len(line) else "" for line in lines] for i in range(width)]
    body = columns if not header else [column[1:] for column in columns]
    padded = []
    for column, cells in zip(columns, body, strict=True):
        size = max(map(len, column))
        right = all(map(is_number, cells))
        padded.append([text.rjust(size) if right else text.ljust(size) for text in column])
    text = ["  ".join(line).rstrip() for line in zip(*padded, strict=True)]
    if header:
        text.insert(1, "-" * max(map(len, text)))
    return "\n".join(([caption] if caption else []) + text)


def table(rows: Rows, header: Sequence[Any] = (), caption: str = "") -> None:
    """Show `rows` of values under a `header`: a table in a notebook, aligned text elsewhere."""
    rows = [list(row) for row in rows]
    show(html_table(rows, header, caption), text_table(rows, header, caption))
