"""Provided exercises: what a student is stuck on, given by the teacher, so that the rest of a session goes on.

A file `<session>.provided` beside the notebook holds exercises of the solution; `autograder pack provided` writes it,
and a course has none unless its teacher gives it out. They are worth no points: the judge reads the exercise's cell.
"""

from pathlib import Path
from types import ModuleType
from typing import Any

from .. import wire

Names = dict[str, Any]  # what the cell of an exercise defines


def path(session: str) -> Path:
    """Return where the provided exercises of a session lie, as seen from its notebook."""
    return Path(f"{session}.provided")


def exercises(session: str) -> dict[str, str]:
    """Return what is provided of a session: exercise → source of its cell; empty where there is no file.

    ``ValueError`` where the file holds nothing of the kind.
    """
    file = path(session)
    if not file.is_file():
        return {}
    try:
        sources: dict[str, str] = wire.decompress(file.read_bytes())
        return sources
    except (OSError, wire.WireError):
        raise ValueError(f"{file} holds no exercises, or was cut off: get it from your teacher again") from None


def define(exercise: str, source: str, namespace: Names) -> Names:
    """Run the cell of an exercise in a notebook's namespace; return what it defined, without imported modules."""
    before = dict(namespace)
    exec(compile(source, f"<{exercise}, borrowed>", "exec"), namespace)
    return {name: value for name, value in namespace.items()
            if before.get(name) is not value and not isinstance(value, ModuleType) and name != "__builtins__"}


def holds(defined: Names, namespace: Names) -> bool:
    """Return whether a notebook still uses something of what such a cell defined."""
    return any(namespace.get(name) is value for name, value in defined.items())
