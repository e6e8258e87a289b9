"""What a course says of itself: its name, its title, what its notebooks need, where it can be had.

It stands in the course's `pyproject.toml`; nothing of it has to be there.
"""

import re
import tomllib
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires
from typing import Any

from ..course import Course, CourseError

ENGINE = "seq2seq-course"  # this distribution
CPU_INDEX = "https://download.pytorch.org/whl/cpu"


@dataclass(frozen=True)
class About:
    """A course in words. ``address`` is the repository's, without a slash at its end; empty where there is none."""

    name: str
    version: str
    title: str
    python: str  # the oldest that serves, as 3.11
    dependencies: tuple[str, ...]
    address: str = ""

    @property
    def module(self) -> str:
        """The name as Python writes it."""
        return self.name.replace("-", "_")


def about(course: Course) -> About:
    """What the course's `pyproject.toml` says, and else what the engine needs; ``CourseError`` when it is no TOML."""
    path = course.root / "pyproject.toml"
    try:
        tree = tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    except tomllib.TOMLDecodeError as error:
        raise CourseError(f"{path}: {error}") from None
    project, own = tree.get("project", {}), tree.get("tool", {}).get("autograder", {})
    name = re.sub(r"[^a-z0-9]+", "-", str(project.get("name", course.root.name)).lower()).strip("-") or "course"
    return About(
        name=name,
        version=str(project.get("version", "1.0")),
        title=str(own.get("title", name)),
        python=str(project.get("requires-python", ">=3.11")).removeprefix(">="),
        dependencies=tuple(project.get("dependencies", ())) or _engine_needs(),
        address=str(own.get("address", "")).rstrip("/"),
    )


def _engine_needs() -> tuple[str, ...]:
    """What the helper package needs: the requirements of this distribution that no extra asks for."""
    try:
        return tuple(line for line in requires(ENGINE) or () if "extra ==" not in line)
    except PackageNotFoundError:
        raise CourseError("the engine is not installed, so that nobody says what notebooks need: "
                          "list it in pyproject.toml, [project] dependencies") from None




def as_toml(tree: dict[str, Any]) -> str:
    """A small `pyproject.toml`: tables of texts and lists of texts."""
    lines: list[str] = []
    for table, values in tree.items():
        lines.append(f"[{table}]")
        lines += [f"{name} = {_value(value)}" for name, value in values.items()]
        lines.append("")
    return "\n".join(lines)


def _value(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, bool):
        return str(value).lower()
    text = str(value).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'
