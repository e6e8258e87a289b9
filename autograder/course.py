"""A course: a folder with ``solutions/`` in it, and the paths of everything that is made from them.

This repository is the first one; `autograder --course FOLDER …` takes any other.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from . import AutograderError
from .metadata import CourseMetadata, load_metadata
from .runtime.settings import SELFCHECKS


class CourseError(AutograderError):
    """A course, or what a command was given with it, cannot be used; the message says what is wrong."""


@dataclass(frozen=True)
class Course:
    """The folder of a course. A session of it is an assignment for nbgrader."""

    root: Path

    @property
    def solutions(self) -> Path:
        """The sources: one folder a session."""
        return self.root / "solutions"

    @property
    def released(self) -> Path:
        """The folder for students: notebooks, and the packages that they import."""
        return self.root / "course"

    @property
    def images(self) -> Path:
        """The figures that the sources show."""
        return self.root / "images"

    @property
    def gradebook(self) -> Path:
        """The working files of a term."""
        return self.root / "gradebook"

    @property
    def submitted(self) -> Path:
        """The folder of what is handed in: ``<student>/<session>/<session>.ipynb``."""
        return self.gradebook / "submitted"

    @property
    def helpers(self) -> list[Path]:
        """The helper modules and packages in the folder for students, which the notebooks import."""
        return [path for path in sorted(self.released.glob("*")) if _is_importable(path)]

    @property
    def helper_files(self) -> list[Path]:
        """The files of the helpers."""
        paths = (path for helper in self.helpers for path in ([helper] if helper.is_file() else helper.rglob("*")))
        return [path for path in sorted(paths) if path.is_file() and "__pycache__" not in path.parts]

    @property
    def selfchecks(self) -> Path:
        """The data of the self-checks, which the runtime looks for beside the notebooks' folders."""
        return self.released / SELFCHECKS

    @property
    def sessions(self) -> list[str]:
        """The names of the sessions, in order."""
        return sorted(path.parent.name for path in self.solutions.glob("*/*.py") if path.stem == path.parent.name)

    @property
    def folders_without_source(self) -> list[Path]:
        """Folders with checks that are no session, because no source in them has their name."""
        with_checks = (path.parent for path in self.solutions.glob("*/checks.py"))
        return sorted(folder for folder in with_checks if folder.name not in self.sessions)

    @property
    def toml(self) -> Path:
        """The file with what the course says of itself; it may be missing."""
        return self.root / "course.toml"

    @cached_property
    def metadata(self) -> CourseMetadata:
        """The contents of `course.toml`; ``CourseError`` where something in it is wrong."""
        try:
            return load_metadata(self.toml)
        except ValueError as error:
            raise CourseError(str(error)) from None

    def folder(self, session: str) -> Path:
        """Return where an instructor writes the session."""
        return self.solutions / session

    def script(self, session: str) -> Path:
        """Return the source of the session."""
        return self.folder(session) / f"{session}.py"

    def require_session(self, session: str) -> None:
        """Raise ``CourseError`` where there is no such session."""
        if session not in self.sessions:
            names = ", ".join(self.sessions) or "none"
            is_folder = bool(session) and self.folder(session).is_dir()
            lacks = f" (solutions/{session}/ has no {session}.py)" if is_folder else ""
            raise CourseError(f"there is no session called {session}{lacks}; there are: {names}")

    def select_sessions(self, names: Sequence[str]) -> list[str]:
        """Return these sessions, or all where none is named; ``CourseError`` where one is missing, or all are."""
        for name in names:
            self.require_session(name)
        if not self.sessions:
            lacking = "".join(f"; solutions/{folder.name}/ has no {folder.name}.py"
                              for folder in self.folders_without_source)
            raise CourseError(f"{self.solutions} holds no session: write solutions/<session>/<session>.py{lacking}")
        return list(names) or self.sessions

    def full_name(self, name: str) -> str:
        """Return the session of this name, or the only one whose name begins so; where there is none, the name.

        ``CourseError`` where several begin so. `tp1` is tp1_a, not tp10_b.
        """
        words = [session for session in self.sessions if f"{session}_".startswith(f"{name}_")]
        matches = [name] if name in words else words or [session for session in self.sessions
                                                         if name and session.startswith(name)]
        if len(matches) > 1:
            raise CourseError(f"{name!r} may be {' or '.join(matches)}: type more of the name")
        return matches[0] if matches else name


def find(folder: Path | None = None) -> Course:
    """Return the course in ``folder``, or else the one that the present folder lies in.

    A folder that a student handed in is never a course. ``CourseError`` where there is none.
    """
    if folder is not None:
        candidates = [Path(folder).resolve()]
    else:
        candidates = [path for path in (Path.cwd(), *Path.cwd().parents) if not _is_handed_in(path)]
    for path in candidates:
        if (path / "solutions").is_dir():
            return Course(path)
    raise CourseError(f"{folder or Path.cwd()} is no course: a course is a folder with solutions/ in it; "
                      "name it with --course FOLDER")


def _is_handed_in(path: Path) -> bool:
    """Return whether a folder is in the gradebook of a course: commands called there would run students' code."""
    return any((above / "solutions").is_dir() and path.is_relative_to(above / "gradebook") for above in path.parents)


def _is_importable(path: Path) -> bool:
    return path.suffix == ".py" or (path / "__init__.py").is_file()
