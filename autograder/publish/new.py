"""Begin a course of another teacher's: a folder with one session that is released, audited and graded as it stands."""

from importlib.resources import files
from pathlib import Path

from ..course import Course, CourseError

FIRST = "weighted_mean"
# where each file of the folder `first` goes; they are no modules of the engine's, hence their names
PLACES = {
    "session.txt": f"solutions/{FIRST}/{FIRST}.py",
    "checks.txt": f"solutions/{FIRST}/checks.py",
    "faults.txt": f"solutions/{FIRST}/faults.py",
    "nbgrader_config.txt": "nbgrader_config.py",
    "course.txt": "course.toml",
    "gitignore.txt": ".gitignore",
    "README.txt": "README.md",
}


def new(folder: Path) -> Course:
    """Write the course into ``folder``, which is empty or not there; ``CourseError`` when something lies in it."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise CourseError(f"{folder} is there already, and not empty: a course begins in a folder of its own")
    name = "-".join(filter(None, "".join(c if c.isalnum() else " " for c in folder.resolve().name.lower()).split()))
    for source, place in PLACES.items():
        text = (files(__package__) / "first" / source).read_text(encoding="utf-8")
        path = folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace("@NAME@", name or "course"), encoding="utf-8", newline="\n")
    return Course(folder.resolve())
