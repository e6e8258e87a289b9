"""Hostile notebooks: what a student might write to gain a point, to spy, to escape, to exhaust, or to harm others.

An attack is a file ``attacks/<kind>/<name>.py``: one cell, its first line a comment that says what it tries.
Where it begins with ``def double(x):`` it is handed in as the cell of that exercise, and runs when the judge calls
it; any other is a cell of the student's own, at the end of a blank notebook. Attacks that change the notebook itself
are the functions of `edits`. None of them contains an answer, so none of them may gain a point.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import edits
from nbformat import NotebookNode

FILES = Path(__file__).parent / "attacks"


@dataclass(frozen=True)
class Attack:
    """What is handed in: a cell of the student's own, cells of exercises, or an edited notebook."""

    kind: str
    name: str
    own: str = ""
    cells: dict[str, str] = field(default_factory=dict)
    edit: Callable[[NotebookNode], None] | None = None

    def __str__(self) -> str:
        return f"{self.kind}-{self.name}"


def _in_file(path: Path) -> Attack:
    text = path.read_text(encoding="utf-8")
    says, code = text.split("\n", 1)
    assert says.startswith("# "), f"{path} does not say what it tries"
    if code.startswith("def double(x):"):
        return Attack(path.parent.name, path.stem, cells={"double": text})
    return Attack(path.parent.name, path.stem, own=text)


def _in_function(name: str, function: Callable[[NotebookNode], None]) -> Attack:
    return Attack("forge", name.replace("_", "-"), edit=function)


ATTACKS = [
    *map(_in_file, sorted(FILES.glob("*/*.py"))),
    *(_in_function(name, edit) for name, edit in inspect.getmembers(edits, inspect.isfunction)
      if edit.__module__ == edits.__name__ and not name.startswith("_")),
]
