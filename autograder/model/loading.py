"""Import what an instructor writes beside a source: checks, faults and right variants of a session, from their paths.

They are refused where they do not fit the source, before a check or a version of the solution runs.
"""

import ast
import importlib
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import TypeVar

from ..course import Course
from ..runtime.syntax import parse_module
from .errors import SourceError, line_in, one_line, source_error
from .faults import Fault, Variant, Version, line_of, refuse_no_python
from .source import Source
from .trace import Check

V = TypeVar("V", bound=Version)


def load_validated(source: Source) -> tuple[list[Check], list[Fault], list[Variant]]:
    """Return the checks, faults and variants of a session; ``SourceError`` where one does not fit its source."""
    checks, (faults, variants) = _checks(source), versions_of(source)
    versions: list[Version] = [*faults, *variants]
    for version in versions:
        refuse_no_python(source, version)
    for fault in faults:
        if not fault.feedback.strip():
            path = source.folder / "faults.py"
            raise source_error(path, line_of(path, fault), f"{fault.exercise}/{fault.name} has no sentence: it is what "
                               "a student reads")
    for check in checks:
        if check.exercise not in source.exercises:
            raise source_error(*check.where, f"the check {check.name} is of the exercise {check.exercise}, "
                               f"and there is none; there are: {', '.join(source.exercises)}")
    for cell in source.by_role("exercise"):
        if all(check.exercise != cell.name for check in checks):
            raise source_error(source.path, cell.line, f"the exercise {cell.name} has no check in checks.py")
    return checks, faults, variants


def versions_of(source: Source) -> tuple[list[Fault], list[Variant]]:
    """Return the faults and variants of a session; empty lists where there are no such files."""
    return _versions(source, "faults", Fault), _versions(source, "variants", Variant)


def _checks(source: Source) -> list[Check]:
    module = module_of(source.course, source.name, "checks")
    if module is None:
        return []
    _refuse_twins(source.folder / "checks.py")
    declared = (getattr(value, "check", None) for value in vars(module).values())
    return [check for check in declared if isinstance(check, Check)]


def _versions(source: Source, kind: str, version_type: type[V]) -> list[V]:
    """Return the list of faults or variants of a session; ``SourceError`` where it has another name."""
    module = module_of(source.course, source.name, kind)
    if module is None:
        return []
    name = kind.upper()
    if not hasattr(module, name):
        for other, value in vars(module).items():
            if isinstance(value, list) and any(isinstance(version, version_type) for version in value):
                raise source_error(source.folder / f"{kind}.py", 1, f"the list is called {other}, not {name}")
    versions = getattr(module, name, [])
    if not isinstance(versions, list):
        raise source_error(source.folder / f"{kind}.py", 1, f"{name} is no list")
    known = [version for version in versions if isinstance(version, version_type)]
    names = Counter((str(version.exercise), str(version.name)) for version in known)
    for version in versions:
        if not isinstance(version, version_type):
            raise source_error(source.folder / f"{kind}.py", 1, f"{name} holds what is no {version_type.__name__}, of "
                               f"type {type(version).__name__}")
        if names[str(version.exercise), str(version.name)] > 1:
            raise source_error(source.folder / f"{kind}.py", line_of(source.folder / f"{kind}.py", version),
                               f"two are called {version.exercise}/{version.name}")
    return versions


def _refuse_twins(path: Path) -> None:
    """Raise ``SourceError`` where two functions of a module have one name, so that the second replaces the first."""
    lines: dict[str, int] = {}
    for node in parse_module(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            if node.name in lines:
                raise source_error(path, node.lineno, f"the function in line {lines[node.name]} is called {node.name}, "
                                   "too: give each check a name of its own")
            lines[node.name] = node.lineno


def module_of(course: Course, session: str, kind: str) -> ModuleType | None:
    """Return the module ``<kind>.py`` of a session, imported once; None when there is none.

    The modules of a session are those of a package, so that variants can import from the faults beside them.
    ``SourceError`` says in which line it does not run.
    """
    folder = course.folder(session).absolute()
    path = folder / f"{kind}.py"
    if not path.is_file():
        return None
    package = str(folder)  # two courses may have sessions of the same name
    if package not in sys.modules:
        sys.modules[package] = ModuleType(package)
        sys.modules[package].__path__ = [package]
    name = f"{package}.{kind}"
    if name not in sys.modules:
        importlib.invalidate_caches()  # the file may be younger than the list of files that Python keeps
    try:
        return importlib.import_module(name)
    except SourceError:
        raise
    except (Exception, SystemExit) as error:
        reason = one_line(error)
        if isinstance(error, ModuleNotFoundError) and error.name and error.name.startswith(f"{package}."):
            reason = f"there is no {error.name.removeprefix(f'{package}.')}.py beside it"
        raise source_error(path, line_in(error, str(path)), reason) from None
