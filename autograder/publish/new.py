"""Begin a new course: a folder with one session that can be released, audited and graded as it is."""

from importlib.resources import files
from pathlib import Path

from ..course import Course, CourseError

FIRST = "weighted_mean"
# file of the course → file of the folder `new_course`, where it is no module of the engine and has another name
TEMPLATES = {
    f"solutions/{FIRST}/{FIRST}.py": "session.txt",
    f"solutions/{FIRST}/checks.py": "checks.txt",
    f"solutions/{FIRST}/faults.py": "faults.txt",
    f"solutions/{FIRST}/variants.py": "variants.txt",
    "nbgrader_config.py": "nbgrader_config.txt",
    "course.toml": "course.txt",
    ".gitignore": "gitignore.txt",
    "README.md": "README.txt",
}


def create_course(folder: Path) -> Course:
    """Write the course into ``folder``, which is made; ``CourseError`` where it exists and is not empty."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise CourseError(f"{folder} is there already, and not empty: a course begins in a folder of its own")
    name = "-".join(filter(None, "".join(c if c.isalnum() else " " for c in folder.resolve().name.lower()).split()))
    for file in TEMPLATES:
        write_template(folder, file, name or "course")
    return Course(folder.resolve())


def write_template(folder: Path, file: str, name: str) -> None:
    """Write one of the ``TEMPLATES``, such as ``nbgrader_config.py``, into the folder of a course of this name."""
    text = (files(__package__) / "new_course" / TEMPLATES[file]).read_text(encoding="utf-8")
    path = folder / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text.replace("@NAME@", name), encoding="utf-8", newline="\n")
