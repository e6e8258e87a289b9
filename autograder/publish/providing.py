"""Write a file with solved exercises of a session, for students who are stuck."""

from collections.abc import Sequence
from pathlib import Path

from ..course import Course
from ..model import source
from ..runtime import provided


def provide(course: Course, assignment: str, exercises: Sequence[str], folder: Path) -> Path:
    """Write these exercises of the solution (all, when none is named) into ``folder``; returns the file."""
    truth = source.load(course, assignment)
    parts = {name: truth.cell("exercise", name).solution for name in exercises or truth.exercises}
    path = folder / provided.path(assignment)
    folder.mkdir(parents=True, exist_ok=True)
    path.write_bytes(provided.pack(parts))
    return path
