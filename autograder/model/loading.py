"""Import what an instructor writes beside a source: checks, faults and right variants of a session, by their place.

What does not fit the source is refused, before anything of it runs.
"""

import importlib.util
import sys
from types import ModuleType

from ..course import Course
from . import faults
from .errors import SourceError, line_in, said, source_error
from .faults import Fault, Variant, Version
from .source import Source
from .trace import Check

FILES = ("checks.py", "faults.py", "variants.py")  # beside a source; each may be missing


def fitting(course: Course, source: Source) -> tuple[list[Check], list[Fault], list[Variant]]:
    """Return the checks, faults and variants of a session; ``SourceError`` where one does not fit its source."""
    exercises = {str(cell.name): cell for cell in source.by_role("exercise")}
    checks, (wrong, right) = checks_of(course, source.name), versions_of(course, source.name)
    for check in checks:
        if check.exercise not in exercises:
            raise source_error(*check.where, f"the check {check.name} is of the exercise {check.exercise}, "
                               f"and there is none; there are: {', '.join(exercises)}")
    for name, cell in exercises.items():
        if all(check.exercise != name for check in checks):
            raise source_error(source.path, cell.line, f"the exercise {name} has no check in checks.py")
    versions: list[Version] = [*wrong, *right]
    for version in versions:
        text_of(source, version)
    return checks, wrong, right


def checks_of(course: Course, assignment: str) -> list[Check]:
    """Return the checks of a session, in order."""
    module = module_of(course, assignment, "checks")
    found = (getattr(value, "check", None) for value in vars(module).values()) if module else ()
    return [check for check in found if isinstance(check, Check)]


def versions_of(course: Course, assignment: str) -> tuple[list[Fault], list[Variant]]:
    """Return the faults and variants of a session; none where nobody has written any."""
    wrong, right = (module_of(course, assignment, kind) for kind in ("faults", "variants"))
    return list(getattr(wrong, "FAULTS", [])), list(getattr(right, "VARIANTS", []))


def text_of(source: Source, version: Version) -> str:
    """Return the source of the exercise's cell in a fault or variant."""
    try:
        return faults.edited(version, source.cell("exercise", version.exercise).solution)
    except SourceError as error:
        path = source.path.with_name("faults.py" if isinstance(version, Fault) else "variants.py")
        line = faults.line_of(path, version) if path.is_file() else None
        raise faults.EditError(str(source_error(path, line, error))) from None


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
