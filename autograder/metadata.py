"""What a course says of itself in its `course.toml`; nothing of it has to be there.

``python -m autograder.metadata FOLDER`` prints what the notebooks of a course need, for pip. This module imports the
standard library alone: that is how an environment is set up.
"""

import re
import sys
import tomllib
from dataclasses import dataclass, is_dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args, get_type_hints

from .runtime.settings import NotebookSettings

Library = Literal["torch", "numpy"]
Strings = tuple[str, ...]
Table = TypeVar("Table")


@dataclass(frozen=True)
class Axes:
    """Letters: axes whose names begin with one of them count examples, or timesteps; relations vary their sizes."""

    batch: Strings = ()
    time: Strings = ()

    def __post_init__(self) -> None:
        if any(len(letter) != 1 for letter in self.batch + self.time):
            raise ValueError('axes has a name of several letters; it is like { batch = ["B"], time = ["T"] }')


@dataclass(frozen=True)
class Exercises:
    """What the text before each exercise is to have: a line that says how long it takes, and hints."""

    effort: bool = False
    hints: int = 0


@dataclass(frozen=True)
class HandIn:
    """Where students hand in: a name that `handing_in` knows, or a sentence, and the address."""

    to: str = ""
    address: str = ""


@dataclass(frozen=True)
class CourseMetadata:
    """The contents of `course.toml`: fields are its keys, and their types are checked."""

    name: str = ""  # of the folder, where there is none
    version: str = "1.0"
    title: str = ""  # the name, where there is none
    python: str = ">=3.11"
    requirements: Strings = ("jupyterlab>=4.2",)
    no_deps: Strings = ()  # packages of which a file is read, and nothing imported
    address: str = ""  # of the public repository
    arrays: Library = "torch"  # what inputs of checks are made with
    threads: int = 1
    axes: Axes = Axes()
    exercises: Exercises = Exercises()
    hand_in: HandIn = HandIn()

    def __post_init__(self) -> None:
        if not re.fullmatch(r">=3\.\d+", self.python):
            raise ValueError(f"python is {self.python!r}; it is like >=3.11")

    @property
    def oldest_python(self) -> str:
        """The oldest Python that serves, as 3.11."""
        return self.python.removeprefix(">=")

    @property
    def needs(self) -> list[str]:
        """The lines for `install.py`; pip takes a package of `no_deps` for a comment."""
        return [*self.requirements, *(f"# --no-deps {package}" for package in self.no_deps)]

    @property
    def for_notebooks(self) -> NotebookSettings:
        """The settings that notebooks read."""
        return NotebookSettings(self.threads, self.hand_in.to, self.hand_in.address)


def load_metadata(path: Path) -> CourseMetadata:
    """Return what the `course.toml` at ``path`` says, if it is there; ``ValueError`` where something in it is wrong."""
    try:
        said = _read(CourseMetadata, tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {})
    except ValueError as error:  # also no TOML, or no UTF-8
        raise ValueError(f"{path}: {error}") from None
    name = re.sub(r"[^a-z0-9]+", "-", (said.name or path.parent.name).lower()).strip("-") or "course"
    return replace(said, name=name, title=said.title or name, address=said.address.rstrip("/"))


def _read(kind: type[Table], table: dict[str, Any]) -> Table:
    """Return a table of TOML as this dataclass; ``ValueError`` where a key or a type is none of its fields'."""
    types = get_type_hints(kind)
    values = dict(table)
    for key, value in table.items():
        if key not in types:
            raise ValueError(f"{key!r} means nothing here; there are: {', '.join(types)}")
        if is_dataclass(types[key]):
            if not isinstance(value, dict):
                raise ValueError(f"{key} must be a table")
            values[key] = _read(types[key], value)
        elif types[key] == Strings:
            if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
                raise ValueError(f"{key} must be a list of strings")
            values[key] = tuple(value)
        elif types[key] == Library:
            if value not in get_args(Library):
                raise ValueError(f"{key} is {value!r}; it is one of {', '.join(get_args(Library))}")
        elif type(value) is not types[key]:  # True is an int
            raise ValueError(f"{key} must be of type {types[key].__name__}")
    return kind(**values)


if __name__ == "__main__":
    try:
        print(*load_metadata(Path(sys.argv[1], "course.toml")).needs, sep="\n")
    except ValueError as error:
        sys.exit(str(error))
