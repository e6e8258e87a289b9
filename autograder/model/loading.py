"""Import what an instructor writes beside a source: ``checks.py`` and ``faults.py`` of a session, by their place."""

import importlib.util
import sys
import traceback
from types import ModuleType

from ..course import Course
from .errors import SourceError, source_error


def module_of(course: Course, assignment: str, kind: str) -> ModuleType | None:
    """Return the module ``<kind>.py`` of a session, imported once; None when there is none.

    ``SourceError`` says in which line it does not run.
    """
    path = course.folder(assignment) / f"{kind}.py"
    if not path.is_file():
        return None
    name = str(path)  # two courses may have sessions of the same name
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec and spec.loader
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        try:
            spec.loader.exec_module(module)
        except BaseException as error:
            del sys.modules[name]
            if isinstance(error, SourceError) or not isinstance(error, Exception):
                raise
            raise source_error(path, line_in(error, name), said(error)) from None
    return sys.modules[name]


def line_in(error: BaseException, filename: str) -> int | None:
    """Return the line of a file that an error comes from: where its syntax breaks, or the last call in it."""
    if isinstance(error, SyntaxError) and error.filename == filename:
        return error.lineno
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == filename]
    return frames[-1].lineno if frames else None


def said(error: BaseException) -> str:
    """Return an error in one line."""
    if isinstance(error, SyntaxError):
        return error.msg
    return f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else 'no reason given'}"
