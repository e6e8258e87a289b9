"""Hostile notebooks: what a student might write to gain a point, to spy, to escape, to exhaust, or to harm others.

An attack is a file ``attacks/<kind>/<name>.py``: one cell, which begins with three comments::

    # What it tries.
    # sees: a regular expression
    # restriction: the one that stops it

The second names what is observed from outside when it succeeds (`OBSERVABLES`), the third the restriction without which
it succeeds (`removals.RESTRICTIONS`); an attack that says less is not loaded. If the code begins with
``def double(x):``, it is handed in as the cell of that exercise, and runs when the judge calls it; any other is a cell
of the student's own, at the end of a notebook. Attacks that change the notebook itself are the functions of `edits`.
None of them contains an answer.
"""

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import edits
from nbformat import NotebookNode

FILES = Path(__file__).parent / "attacks"
# What is observed, and what may stand behind the colon.
OBSERVABLES = {
    "gains": r"points",  # more than the same work without the attack
    "sees": r".+",  # the mark of the machine's secrets, or a regular expression, in what comes out: notes, messages
    "changes": r"helpers|kernel",  # files that were lent to the kernel
    "reaches": r"port|name|terminal|judge",  # of the machine: a port, a socket by name, the terminal; the judge itself
    "leaves": r".+",  # an expression that is true in the next submission; or processes, when the kernel has ended
    "costs": r"grade|kernel|\d+ (seconds|MiB|processes)",  # the grade, the kernel, or so much that stays taken
}


@dataclass(frozen=True)
class Attack:
    """What is handed in: a cell of the student's own, cells of exercises, or an edited notebook.

    ``observable`` and ``argument`` say what is seen when it succeeds, ``restriction`` what stops it.
    """

    kind: str
    name: str
    says: str
    observable: str
    argument: str
    restriction: str
    own: str = ""
    cells: dict[str, str] = field(default_factory=dict)
    edit: Callable[[NotebookNode], None] | None = None

    def __str__(self) -> str:
        return f"{self.kind}-{self.name}"


class HeaderError(ValueError):
    """An attack does not say what it tries, what is seen, or what stops it."""


def _observed(line: str, where: str) -> tuple[str, str]:
    observable, _, argument = line.partition(": ")
    if observable not in OBSERVABLES or not re.fullmatch(OBSERVABLES[observable], argument):
        raise HeaderError(f"{where}: nothing is observed; a line `<what>: <argument>` names one of {OBSERVABLES}")
    return observable, argument


def in_file(path: Path) -> Attack:
    """The attack in a file; ``HeaderError`` where one of its three lines is missing."""
    text = path.read_text(encoding="utf-8")
    header = re.match(r"# (.+)\n# (.+)\n# restriction: (.+)\n", text)
    if not header:
        raise HeaderError(f"{path}: an attack begins with what it tries, what is seen, and its restriction")
    says, seen, restriction = header.groups()
    common = (path.parent.name, path.stem, says, *_observed(seen, str(path)), restriction)
    if text[header.end():].startswith("def double(x):"):
        return Attack(*common, cells={"double": text})
    return Attack(*common, own=text)


def _in_function(name: str, function: Callable[[NotebookNode], None]) -> Attack:
    says, _, seen = inspect.getdoc(function).partition("\n\n")
    return Attack("forge", name.replace("_", "-"), says, *_observed(seen, name), "together", edit=function)


ATTACKS = [
    *map(in_file, sorted(FILES.glob("*/*.py"))),
    *(_in_function(name, edit) for name, edit in inspect.getmembers(edits, inspect.isfunction)
      if edit.__module__ == edits.__name__ and not name.startswith("_")),
]
