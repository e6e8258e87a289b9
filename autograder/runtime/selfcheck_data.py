"""Find the recorded self-checks of a session."""

import sys
from collections.abc import Iterator
from pathlib import Path

SELFCHECKS = "selfchecks"  # a folder beside the notebooks' folders, or beside whatever they import


def folders() -> Iterator[Path]:
    """Return the folders in which self-checks may lie, nearest first."""
    for place in (Path.cwd(), Path.cwd().parent, *map(Path, sys.path)):
        yield place / SELFCHECKS


def find(name: str) -> Path | None:
    """Return the file of a session's self-checks; None when there is none."""
    return next((path for path in (folder / f"{name}.bin" for folder in folders()) if path.is_file()), None)
