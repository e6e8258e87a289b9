"""Hand in a session: write the file for the teacher, and say where it goes and what is not done.

What counts is the notebook as it is saved. What was run since and is not saved is known by the cells that the kernel
remembers; what was typed into text cells since, nobody but the front end knows.
"""

from __future__ import annotations

import contextlib
import html
import json
import os
import re
import shutil
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import card, rich_output
from ..settings import SELFCHECKS, NotebookSettings
from . import history

TEXT_STUB = "*Your answer here.*"  # stands beneath a question until somebody answers it
FOLDER = "hand_in"
WAYS = {
    "exchange": "In JupyterLab: menu Nbgrader, Assignment List, and beside this session: Submit.",
    "moodle": "Upload this file to the assignment of this session on Moodle.",
    "canvas": "Upload this file to the assignment of this session on Canvas.",
    "gradescope": "Upload this file to the assignment of this session on Gradescope.",
}
_UNWRITTEN = re.compile(r"^\s*raise NotImplementedError\b", re.M)


@dataclass(frozen=True)
class HandedIn:
    """The result of handing in a session; ``file`` is None where there is nothing to hand in."""

    session: str
    saved: float | None  # when the notebook was saved, in seconds since 1970; None: its file is not here
    file: Path | None
    unsaved: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    unwritten: tuple[str, ...] = ()
    blank: tuple[str, ...] = ()
    way: str = ""

    @property
    def lines(self) -> list[str]:
        """Everything that is to be said, in lines."""
        if self.saved is None:
            return [f"The file {self.session}.ipynb is not in this folder. Save the notebook under this name (on "
                    "Colab: File, Download, Download .ipynb); that is the file to hand in.", f"→ {self.way}"]
        lines = [f"Saved {_when(self.saved)}. If you have typed since, save (Ctrl+S) and run this cell again."]
        if self.unsaved:
            lines.append(f"! Not saved as you last ran it: {', '.join(self.unsaved)}.")
        if self.missing:
            lines.append(f"! The cell is gone: {', '.join(self.missing)}.")
        if self.unwritten:
            lines.append(f"– Not written: {', '.join(self.unwritten)}.")
        if self.blank:
            lines.append(f"– No answer yet: {', '.join(self.blank)}.")
        if not self.unsaved + self.missing + self.unwritten + self.blank:
            lines.append("✓ Every exercise is written and every question answered.")
        if self.file:
            lines.append(f"The file to hand in: `{_short_path(self.file)}`, {self.file.stat().st_size / 1000:.0f} kB.")
        return [*lines, f"→ {self.way}"]


def written_answer(text: str, question: str) -> str:
    """Return the student's answer in a cell of text beneath its question as released."""
    return text.strip().removeprefix(question).replace(TEXT_STUB, "").strip()


def _is_blank(text: str, question: str) -> bool:
    """Return whether nothing is written; also where the question is another, and the stub still stands at the end."""
    text = text.strip()
    return not written_answer(text, question) or (not text.startswith(question) and text.endswith(TEXT_STUB))


def hand_in(session: str, exercises: Collection[str], questions: Mapping[str, str], settings: NotebookSettings,
            namespace: Mapping[str, Any]) -> HandedIn:
    """Write the file of a session from its saved notebook, and return what is unsaved, unwritten or blank in it.

    ``questions`` are the texts of the questions by name.
    """
    path, way = notebook_path(session, namespace), _way(settings)
    try:
        data = path.read_bytes()
        cells = [cell for cell in json.loads(data)["cells"] if metadata_of(cell).get("solution")]
        code, texts = _by_name(cells, "code"), _by_name(cells, "markdown")
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return HandedIn(session, None, None, way=way)
    return HandedIn(
        session, path.stat().st_mtime, None if settings.to == "exchange" else _copy(path, session),
        unsaved=tuple(name for name, parts in code.items() if any(map(_is_unsaved, parts))),
        missing=tuple([*(name for name in exercises if name not in code),
                       *(name for name in questions if name not in texts)]),
        unwritten=tuple(name for name, parts in code.items() if any(map(_UNWRITTEN.search, parts))),
        blank=tuple(name for name, parts in texts.items() if _is_blank("\n".join(parts), questions.get(name, ""))),
        way=way,
    )


def show(handed: HandedIn) -> None:
    """Display what was found: in a notebook as HTML, elsewhere as text."""
    text = "\n".join([f"{handed.session}: hand in", *(f"  {line}" for line in handed.lines)])
    body = "".join(f"<p>{card.marked(line)}</p>" for line in handed.lines)
    rich_output.show(card.frame("Hand in", f"<b>{html.escape(handed.session)}</b>: hand in", body), text)


def notebook_path(session: str, namespace: Mapping[str, Any]) -> Path:
    """Return the notebook's file, by its name in the front end or in the course."""
    path = Path(str(namespace.get("__vsc_ipynb_file__") or Path(os.environ.get("JPY_SESSION_NAME", "")).name))
    return path if path.suffix == ".ipynb" and path.is_file() else Path(f"{session}.ipynb")


def metadata_of(cell: Any) -> dict[str, Any]:
    """Return what nbgrader keeps of a cell."""
    metadata = cell.get("metadata", {}).get("nbgrader", {})
    return metadata if isinstance(metadata, dict) else {}


def _by_name(cells: Sequence[Any], kind: str) -> dict[str, list[str]]:
    """Return the texts of the cells of a type by name: of a cell that was split, each part."""
    texts: dict[str, list[str]] = {}
    for cell in cells:
        if cell["cell_type"] == kind and (name := metadata_of(cell).get("grade_id")):
            texts.setdefault(name, []).append("".join(cell["source"]))
    return texts


def _is_unsaved(saved: str) -> bool:
    """Return whether a later run of a cell that defines the same has another text."""
    names = set(history.DEFINITION.findall(saved))
    ran = next((text for text in reversed(history.cells()) if names & set(history.DEFINITION.findall(text))), None)
    return ran is not None and ran.strip() != saved.strip()


def _copy(path: Path, session: str) -> Path:
    """Write the copy that is handed in, beside the folders of the sessions, or in this folder; return where it is."""
    above = Path.cwd().parent
    folder = (above if (above / SELFCHECKS).is_dir() and os.access(above, os.W_OK) else Path.cwd()) / FOLDER
    folder.mkdir(exist_ok=True)
    copy = folder / f"{session}.ipynb"
    with contextlib.suppress(shutil.SameFileError):  # the copy itself was opened
        shutil.copyfile(path, copy)
    return copy


def _way(settings: NotebookSettings) -> str:
    to = settings.to or "Give this file to your teacher, as your course says."
    return f"{WAYS.get(to.lower(), to)} {settings.address}".strip()


def _short_path(path: Path) -> str:
    return path.relative_to(Path.cwd()).as_posix() if path.is_relative_to(Path.cwd()) else f"../{FOLDER}/{path.name}"


def _when(saved: float) -> str:
    minutes = max(0, int(time.time() - saved)) // 60
    clock = time.strftime("%H:%M" if minutes < 12 * 60 else "%Y-%m-%d %H:%M", time.localtime(saved))
    return f"at {clock}, {'just now' if minutes < 1 else f'{minutes} min ago' if minutes < 120 else 'long ago'}"
