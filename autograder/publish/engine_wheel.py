"""The engine's own wheel, as students receive it: the runtime of the self-checks is in it, and nothing of a course."""

from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import autograder

from ..course import CourseError
from .about import ENGINE
from .archive import wheel


@cache
def engine_wheel() -> tuple[str, bytes]:
    """Return the name and the bytes of the wheel of the engine that runs, made from its files as they are installed."""
    try:
        installed = distribution(ENGINE)
    except PackageNotFoundError:
        raise CourseError(f"the engine is not installed, and students need its wheel: pip install {ENGINE}") from None
    name = f"{ENGINE.replace('-', '_')}-{installed.version}"
    package = Path(autograder.__file__).parent
    files = {path.relative_to(package.parent).as_posix(): path.read_bytes() for path in sorted(package.rglob("*"))
             if path.is_file() and "__pycache__" not in path.parts}
    about_it = {"METADATA": installed.read_text("METADATA") or installed.read_text("PKG-INFO") or "",
                "entry_points.txt": installed.read_text("entry_points.txt") or ""}
    return f"{name}-py3-none-any.whl", wheel(name, files, about_it)
