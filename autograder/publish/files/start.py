"""The start page of the course, and JupyterLab open on it: ``python start.py``.

The page lists the sessions, how long each takes, and what is done: the self-checks that pass in the saved notebooks.
This file needs nothing but Python, and JupyterLab to open the page.
"""

import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PAGE = "start.ipynb"
CELL = "from start import show; show()  # run this cell: the table as it is now (save your notebooks first)"


@dataclass(frozen=True)
class Session:
    """One notebook: its title, how long it takes, and how many of its self-checks pass."""

    path: str  # from the folder of the course, with slashes
    title: str
    time: str
    passed: int
    exercises: int

    @property
    def done(self) -> str:
        """How far it is, in words."""
        if self.passed == self.exercises:
            return "✓ all done"
        return f"{self.passed} of {self.exercises}" if self.passed else "not begun"


def sessions(folder: Path = HERE) -> list[Session]:
    """Return the sessions in a folder, by name; a notebook that cannot be read is left out."""
    found = []
    for path in sorted(folder.glob("*/*.ipynb")):
        if path.stem == path.parent.name:
            try:
                cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
                found.append(_session(f"{path.parent.name}/{path.name}", cells))
            except (OSError, ValueError, KeyError, TypeError, AttributeError):
                continue
    return found


def _session(path: str, cells: list[dict[str, Any]]) -> Session:
    text = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    title = re.search(r"^# (.+)$", text, re.M)
    time = re.search(r"\*\*Time:?\*\*:?\s+([^.,;(]+)", text)
    checks = [cell for cell in cells if _grade_id(cell).startswith("check-")]
    return Session(path, title[1] if title else path, " ".join(time[1].split()) if time else "",
                   sum(map(_passes, checks)), len(checks))


def _grade_id(cell: dict[str, Any]) -> str:
    return str(cell.get("metadata", {}).get("nbgrader", {}).get("grade_id", ""))


def _passes(cell: dict[str, Any]) -> bool:
    """Whether a check cell was run and said that all is right, as a card or as text."""
    said = "".join("".join(output.get("text") or output.get("data", {}).get("text/plain", ""))
                   for output in cell.get("outputs", []))
    return "✓" in said and "✗" not in said


def table(folder: Path = HERE) -> str:
    """Return the sessions as a table in Markdown."""
    rows = [f"| [{one.title}]({one.path}) | {one.time} | {one.done} |" for one in sessions(folder)]
    return "\n".join(["| session | time | exercises done |", "|---|---|---|", *rows])


def show() -> None:
    """Display the table, in a notebook."""
    from IPython.display import Markdown, display

    display(Markdown(table()))  # type: ignore[no-untyped-call]


def write(folder: Path = HERE) -> Path:
    """Write the start page; returns where it is."""
    text = ("# Start here\n\nOpen a session, run its cells from the top, and fill the cells that say TODO.\n\n"
            f"{table(folder)}")
    code: dict[str, Any] = {"cell_type": "code", "id": "now", "metadata": {}, "source": CELL, "outputs": [],
                            "execution_count": None}
    kernel = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    page = {"cells": [{"cell_type": "markdown", "id": "sessions", "metadata": {}, "source": text}, code],
            "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 5}
    path = folder / PAGE
    path.write_text(json.dumps(page, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return path


def main(arguments: list[str]) -> int:
    """Write the page and open JupyterLab on it, with these arguments; with ``--page``, write it and do no more."""
    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]  # a console may not know ✓
    page = write()
    if arguments == ["--page"]:
        print(table())
        return 0
    opened = f"--LabApp.default_url=/lab/tree/{page.name}"
    return subprocess.call([sys.executable, "-m", "jupyterlab", opened, *arguments], cwd=HERE)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
