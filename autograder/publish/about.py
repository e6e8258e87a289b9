"""The metadata of a course: its name, title, requirements and address.

It stands in the course's `course.toml`; nothing of it has to be there. ``python -m autograder.publish.about FOLDER``
prints what the notebooks of a course need, for pip.
"""

import re
import sys
from dataclasses import dataclass
from pathlib import Path

from ..course import Course, CourseError
from ..runtime.settings import Settings

ENGINE = "replay-autograder"  # this distribution
CPU_INDEX = "https://download.pytorch.org/whl/cpu"
KEYS = {"name": str, "version": str, "title": str, "python": str, "requirements": list, "files_of": list,
        "address": str, "exercises": dict, "arrays": str, "axes": dict, "former": dict, "threads": int, "hand_in": dict}
EXERCISES = {"effort": bool, "hints": int}
HAND_IN = {"to": str, "address": str}


@dataclass(frozen=True)
class About:
    """A course in words. ``address`` is the repository's, without a slash at its end; empty where there is none."""

    name: str
    version: str
    title: str
    python: str  # the oldest that serves, as 3.11
    requirements: tuple[str, ...]
    files_of: tuple[str, ...] = ()  # packages of which a file is read, and nothing imported
    address: str = ""
    effort: bool = False  # each exercise and question says how long it takes
    hints: int = 0  # that the text before each exercise has
    settings: Settings = Settings()  # for the notebooks

    @property
    def needs(self) -> list[str]:
        """The lines for `install.py`; pip takes a package of `files_of` for a comment."""
        return [*self.requirements, *(f"# --no-deps {package}" for package in self.files_of)]

    @property
    def module(self) -> str:
        """The name as Python writes it."""
        return self.name.replace("-", "_")


def about(course: Course) -> About:
    """Return what the course's `course.toml` says; ``CourseError`` where it is no TOML, or says what nobody asks."""
    path, tree = course.root / "course.toml", course.about
    asked = tree.get("exercises", {})
    hand_in = tree.get("hand_in", {})
    for table, keys in ((tree, KEYS), (asked, EXERCISES), (hand_in, HAND_IN)):
        for key, value in table.items() if isinstance(table, dict) else ():
            if key not in keys:
                raise CourseError(f"{path}: {key!r} means nothing here; there are: {', '.join(keys)}")
            if not isinstance(value, keys[key]):
                raise CourseError(f"{path}: {key} must be a {keys[key].__name__}")
    name = re.sub(r"[^a-z0-9]+", "-", tree.get("name", course.root.name).lower()).strip("-") or "course"
    return About(
        name=name,
        version=tree.get("version", "1.0"),
        title=tree.get("title", name),
        python=tree.get("python", ">=3.11").removeprefix(">="),
        requirements=tuple(map(str, tree.get("requirements", ["jupyterlab>=4.2"]))),
        files_of=tuple(map(str, tree.get("files_of", []))),
        address=tree.get("address", "").rstrip("/"),
        effort=asked.get("effort", False),
        hints=asked.get("hints", 0),
        settings=Settings(tree.get("threads", 1), hand_in.get("to", ""), hand_in.get("address", "")),
    )


if __name__ == "__main__":
    try:
        print(*about(Course(Path(sys.argv[1]))).needs, sep="\n")
    except CourseError as error:
        sys.exit(str(error))
