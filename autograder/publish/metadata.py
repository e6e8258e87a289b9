"""The metadata of a course: its name, title, requirements and address.

It stands in the course's `course.toml`; nothing of it has to be there. ``python -m autograder.publish.metadata FOLDER``
prints what the notebooks of a course need, for pip.
"""

import re
import sys
from dataclasses import dataclass
from pathlib import Path

from ..course import Course, CourseError
from ..runtime.settings import NotebookSettings

DISTRIBUTION = "replay-autograder"  # this distribution
CPU_INDEX = "https://download.pytorch.org/whl/cpu"


@dataclass(frozen=True)
class CourseMetadata:
    """A course in words. ``address`` is the repository's, without a slash at its end; empty where there is none."""

    name: str
    version: str
    title: str
    python: str  # the oldest that serves, as 3.11
    requirements: tuple[str, ...]
    no_deps: tuple[str, ...] = ()  # packages of which a file is read, and nothing imported
    address: str = ""
    effort: bool = False  # each exercise and question says how long it takes
    hints: int = 0  # that the text before each exercise has
    settings: NotebookSettings = NotebookSettings()  # for the notebooks

    @property
    def needs(self) -> list[str]:
        """The lines for `install.py`; pip takes a package of `no_deps` for a comment."""
        return [*self.requirements, *(f"# --no-deps {package}" for package in self.no_deps)]

    @property
    def module(self) -> str:
        """The name of the student wheel's package, which is no module's of Python's or of another package."""
        return f"_{self.distribution}_student"

    @property
    def distribution(self) -> str:
        """The name as the file of a wheel has it."""
        return self.name.replace("-", "_")


def load_metadata(course: Course) -> CourseMetadata:
    """Return what the course's `course.toml` says, with defaults for what it leaves out."""
    toml = course.toml
    exercises, hand_in = toml.get("exercises", {}), toml.get("hand_in", {})
    name = re.sub(r"[^a-z0-9]+", "-", toml.get("name", course.root.name).lower()).strip("-") or "course"
    return CourseMetadata(
        name=name,
        version=toml.get("version", "1.0"),
        title=toml.get("title", name),
        python=_oldest(course, toml.get("python", ">=3.11")),
        requirements=tuple(toml.get("requirements", ["jupyterlab>=4.2"])),
        no_deps=tuple(toml.get("no_deps", [])),
        address=toml.get("address", "").rstrip("/"),
        effort=exercises.get("effort", False),
        hints=exercises.get("hints", 0),
        settings=NotebookSettings(toml.get("threads", 1), hand_in.get("to", ""), hand_in.get("address", "")),
    )


def _oldest(course: Course, python: str) -> str:
    """Return the oldest Python that serves, from what `course.toml` asks for."""
    match = re.fullmatch(r">=(3\.\d+)", python)
    if not match:
        raise CourseError(f"{course.root / 'course.toml'}: python is {python!r}; it is like >=3.11")
    return match[1]


if __name__ == "__main__":
    try:
        print(*load_metadata(Course(Path(sys.argv[1]))).needs, sep="\n")
    except CourseError as error:
        sys.exit(str(error))
