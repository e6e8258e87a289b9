"""Import what an instructor writes beside a source: ``checks.py`` and ``mistakes.py`` of a TP, by their place."""

import importlib.util
import sys
from types import ModuleType

from ..course import Course


def module_of(course: Course, assignment: str, kind: str) -> ModuleType | None:
    """The module ``<kind>.py`` of a TP, imported once; None when there is none."""
    path = course.folder(assignment) / f"{kind}.py"
    if not path.is_file():
        return None
    name = str(path)  # two courses may have TPs of the same name
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec and spec.loader
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[name]
            raise
    return sys.modules[name]
