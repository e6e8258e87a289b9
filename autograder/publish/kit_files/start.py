"""The start page of the course, and JupyterLab open on it: ``python start.py``.

The page lists the sessions, how long each takes, and what is done: the self-checks that pass in the saved notebooks.
This file needs nothing but Python, and JupyterLab to open the page.
"""

import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PAGE = "start.ipynb"
CELL = "from start import show; show()  # run this cell: the table then follows as you save your notebooks"
TEXT_STUB = "*Your answer here.*"
KERNELSPEC = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
LANGUAGE = {"name": "python"}  # what a released notebook says of its language
POLL_SECONDS = 5  # between two looks at the notebooks
# JupyterLab asks about news and offers newer versions of itself, unless these are its default settings.
SETTINGS = {"@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False}}


@dataclass(frozen=True)
class Progress:
    """The progress in one notebook: its title, how long it takes, and how many of its self-checks pass."""

    path: str  # from the folder of the course, with slashes
    title: str
    time: str
    passed: int
    exercises: int
    minutes: int  # of its core that are left: exercises whose check does not pass, questions without an answer

    @property
    def done(self) -> str:
        """The progress, in words."""
        if not self.exercises:
            return "–"
        if self.passed == self.exercises and not self.minutes:
            return "✓ all done"
        return f"{self.passed} of {self.exercises}" if self.passed else "not begun"


def sessions(folder: Path = HERE) -> list[Progress]:
    """Return the sessions in a folder, by name; a notebook that cannot be read is left out."""
    progress = []
    for path in sorted(folder.glob("*/*.ipynb")):
        if path.stem == path.parent.name:
            try:
                cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
                progress.append(_progress(f"{path.parent.name}/{path.name}", cells))
            except (OSError, ValueError, KeyError, TypeError, AttributeError):
                continue
    return progress


def _progress(path: str, cells: list[dict[str, Any]]) -> Progress:
    text = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    title = re.search(r"^# (.+)$", text, re.M)
    takes = re.search(r"\*\*Time:?\*\*:?\s+((?:(?!\n\s*\n)[^.,;(])+)", text)
    checks = {_grade_id(cell).removeprefix("check-"): cell for cell in cells if _grade_id(cell).startswith("check-")}
    return Progress(path, title[1] if title else path, " ".join(takes[1].split()) if takes else "",
                    sum(map(_passes, checks.values())), len(checks), _left(cells, checks))


def _left(cells: list[dict[str, Any]], checks: dict[str, dict[str, Any]]) -> int:
    """Return the minutes of what is not done, without extensions."""
    minutes, before = 0, ""
    for cell in cells:
        text = "".join(cell["source"])
        name = _grade_id(cell)
        if cell["cell_type"] != "markdown":
            minutes += _minutes(before) if name in checks and not _passes(checks[name]) else 0
        else:
            minutes += _minutes(text) if name and TEXT_STUB in text else 0
            before = text
    return minutes


def _minutes(text: str) -> int:
    """Return the minutes that a text gives for an exercise or question, unless that is an extension."""
    line = re.search(r"^\*Minutes\* (\d+)(?!.*\*Extension\*)", text, re.M)
    return int(line[1]) if line else 0


def _grade_id(cell: dict[str, Any]) -> str:
    return str(cell.get("metadata", {}).get("nbgrader", {}).get("grade_id", ""))


def _passes(cell: dict[str, Any]) -> bool:
    """Return whether a check cell was run and all its checks passed, as a card or as text."""
    printed = "".join("".join(output.get("text") or output.get("data", {}).get("text/plain", ""))
                      for output in cell.get("outputs", []))
    return "✓" in printed and "✗" not in printed


def table(folder: Path = HERE) -> str:
    """Return the sessions as a table in Markdown."""
    rows = [f"| [{session.title}]({session.path}) | {session.time.removeprefix('about ')} | {session.done} "
            f"| {session.minutes} |" for session in sessions(folder)]
    return "\n".join(["| session | time | done | minutes left, without reading |", "|---|---|---|--:|", *rows])


def show(folder: Path = HERE) -> None:
    """Display the table in a notebook, and keep it as the saved notebooks are while the kernel lives."""
    from IPython.display import Markdown, display

    shown = display(Markdown(table(folder)), display_id=True)  # type: ignore[no-untyped-call]
    threading.Thread(target=_follow, args=(folder, shown.update, Markdown), daemon=True).start()


def _follow(folder: Path, update: Callable[[Any], None], form: Callable[[str], Any]) -> None:
    """Show the table anew whenever it has changed."""
    last = table(folder)
    while True:
        time.sleep(POLL_SECONDS)
        if (now := table(folder)) != last:
            update(form(now))
            last = now


def write(folder: Path = HERE) -> Path:
    """Write the start page, with the table as the output of its cell; returns where it is."""
    text = "# Start here\n\nOpen a session, run its cells from the top, and fill the cells that say TODO."
    output = {"output_type": "display_data", "data": {"text/markdown": table(folder), "text/plain": ""}, "metadata": {}}
    code: dict[str, Any] = {"cell_type": "code", "id": "now", "metadata": {}, "source": CELL, "outputs": [output],
                            "execution_count": None}
    page = {"cells": [{"cell_type": "markdown", "id": "sessions", "metadata": {}, "source": text}, code],
            "metadata": {"kernelspec": KERNELSPEC, "language_info": dict(LANGUAGE)}, "nbformat": 4, "nbformat_minor": 5}
    path = folder / PAGE
    _save(path, page)
    return path


def write_language_info(folder: Path = HERE) -> None:
    """Write into the notebooks which Python runs them, as JupyterLab would: else it takes each for changed, unread."""
    try:
        from ipykernel.ipkernel import IPythonKernel
    except ImportError:
        return
    for path in [folder / PAGE, *folder.glob("*/*.ipynb")]:
        try:
            notebook = json.loads(path.read_text(encoding="utf-8"))
            if notebook["metadata"]["language_info"] == LANGUAGE:
                notebook["metadata"]["language_info"] = IPythonKernel.language_info
                _save(path, notebook)
        except (OSError, ValueError, KeyError, TypeError):
            continue


def _with_settings(folder: Path) -> dict[str, str]:
    """Write the default settings of JupyterLab into a hidden folder; return the environment that leads it there."""
    path = folder / ".jupyter" / "labconfig" / "default_setting_overrides.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(SETTINGS), encoding="utf-8")
    configured = os.environ.get("JUPYTER_CONFIG_PATH")
    folders = [str(folder / ".jupyter"), *([configured] if configured else [])]
    return {**os.environ, "JUPYTER_CONFIG_PATH": os.pathsep.join(folders)}


def _save(path: Path, notebook: dict[str, Any]) -> None:
    """Write a notebook whole, or not at all."""
    text = json.dumps(notebook, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
    temporary = path.with_name(f".{path.name}.new")
    temporary.write_text(text, encoding="utf-8", newline="\n")
    temporary.replace(path)


def main(arguments: list[str]) -> int:
    """Write the page and open JupyterLab on it, with these arguments; with ``--page``, write it and do no more."""
    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]  # a console may not know ✓
    page = write()
    write_language_info()
    if arguments == ["--page"]:
        print(table())
        return 0
    opened = f"--LabApp.default_url=/lab/tree/{page.name}"
    return subprocess.call([sys.executable, "-m", "jupyterlab", opened, *arguments], cwd=HERE, env=_with_settings(HERE))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
