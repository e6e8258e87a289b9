"""Errors of one line for instructors whose sources, checks or faults cannot be used."""

import os
import traceback
from pathlib import Path

from .. import AutograderError


class SourceError(AutograderError, ValueError):
    """A source that does not follow docs/authoring.md; the message is one line, with file and line number."""


def source_error(path: Path | str, line: int | None, reason: object) -> SourceError:
    """Return an error with the file and the line that it is about."""
    shown = os.path.relpath(path)
    shown = str(path) if shown.startswith("..") else shown
    return SourceError(f"{shown}:{line or 1}: {' '.join(str(reason).split())}")


def line_in(error: BaseException, filename: str) -> int | None:
    """Return the line of a file that an error comes from: where its syntax breaks, or the last call in it."""
    if isinstance(error, SyntaxError) and error.filename == filename:
        return error.lineno
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == filename]
    return frames[-1].lineno if frames else None


def one_line(error: BaseException) -> str:
    """Return an error in one line."""
    if isinstance(error, SyntaxError):
        return error.msg
    if isinstance(error, AutograderError):
        return str(error)
    return f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else 'no reason given'}"
