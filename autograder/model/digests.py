"""Digests of what an instructor wrote: what is generated carries one, so that a test can say when it is stale."""

import hashlib
from collections.abc import Iterable
from pathlib import Path

from ..course import Course


def of_source(course: Course, assignment: str) -> str:
    """The digest of the source alone: what the notebooks depend on."""
    return _digest(course.script(assignment))


def of_tp(course: Course, assignment: str) -> str:
    """The digest of source, checks and faults: what verdicts and self-checks depend on."""
    folder = course.folder(assignment)
    return _digest(course.script(assignment), folder / "checks.py", folder / "faults.py")


def of_texts(texts: Iterable[str]) -> str:
    """The digest of some texts in this order."""
    return hashlib.sha256("\0".join(texts).encode("utf-8")).hexdigest()[:16]


def _digest(*paths: Path) -> str:
    return of_texts(path.read_text(encoding="utf-8") if path.exists() else "" for path in paths)
