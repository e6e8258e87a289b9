"""The error that an instructor reads when what they wrote cannot be used."""

import os
from pathlib import Path


class SourceError(ValueError):
    """A source that does not follow docs/authoring.md; the message is one line, with file and line number."""


def source_error(path: Path | str, line: int | None, reason: object) -> SourceError:
    """Return the error that stands in this line of a file."""
    shown = os.path.relpath(path)
    shown = str(path) if shown.startswith("..") else shown
    return SourceError(f"{shown}:{line or 1}: {' '.join(str(reason).split())}")
