"""List the files in the submitted folder that are not graded, so that no submission is lost unnoticed."""

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..course import Course, CourseError
from .grading import handed_in


@dataclass(frozen=True)
class Untaken:
    """A file or folder that is not graded; ``remedy`` says what to do."""

    path: Path  # from the submitted folder
    remedy: str

    def __str__(self) -> str:
        return f"{self.path}: {self.remedy}"


def untaken(course: Course) -> list[Untaken]:
    """Return what lies in the submitted folder and is not graded, whichever session is; hidden files do not count."""
    submitted, sessions = course.gradebook / "submitted", course.assignments
    taken = {handed.path for handed in handed_in(submitted, sessions)}
    found: list[tuple[Path, str]] = []
    for student in _entries(submitted):
        if student.is_file():
            found.append((student, _move(course, student, "<student>")))
        elif student.name in sessions and any(_entries(student)):
            found.append((student, f"a folder of a student lies here: make it <student>/{student.name}/"))
        else:
            for folder in _entries(student):
                found += _in_student(course, folder, taken)
    return [Untaken(path.relative_to(submitted), remedy) for path, remedy in found]


def _in_student(course: Course, folder: Path, taken: set[Path]) -> Iterator[tuple[Path, str]]:
    if folder.is_file():
        yield folder, _move(course, folder, folder.parent.name)
    elif folder.name in course.assignments:
        right = f"{folder.name}.ipynb"
        for notebook in sorted(folder.rglob("*.[iI][pP][yY][nN][bB]")):
            hidden = any(part.startswith(".") for part in notebook.relative_to(folder).parts)
            if notebook not in taken and not hidden:
                counts = any(one.parent == folder and one.exists() for one in taken)
                yield notebook, (f"one notebook of a session counts, {right}: remove this one, or let it take its place"
                                 if counts else
                                 f"move the one that counts to {folder.parent.name}/{folder.name}/{right}")
    elif any(_entries(folder)):
        of_notebooks = {session for file in _entries(folder) if (session := _session(course, file.stem))}
        meant = of_notebooks.pop() if len(of_notebooks) == 1 else _session(course, folder.name)
        if renamed := course.renamed(folder.name):
            yield folder, f"{renamed}: rename the folder"
        elif meant is None:
            yield folder, f"no session is called so; call the folder {' or '.join(course.assignments)}"
        elif (folder.parent / meant).exists():
            yield folder, f"no session is called so, and {meant} lies beside it: keep one of the two, as {meant}"
        else:
            yield folder, f"no session is called so: rename the folder {meant}"


def _move(course: Course, path: Path, student: str) -> str:
    """Return where a loose file belongs."""
    if path.suffix.lower() == ".zip":
        return "archives are not read: unpack it, or take submissions out of it with autograder collect"
    if path.suffix.lower() != ".ipynb":
        return "only notebooks are graded, and what lies in their folders: remove it, or put it into one"
    session = _session(course, path.stem) or "<session>"
    return f"move it to {student}/{session}/{session}.ipynb"


def _session(course: Course, name: str) -> str | None:
    """Return the session that a folder or a file is probably of."""
    with contextlib.suppress(CourseError):
        meant = course.former.get(name) or course.full_name(name.strip().lower())
        return meant if meant in course.assignments else None
    return None


def _entries(folder: Path) -> Sequence[Path]:
    with contextlib.suppress(OSError):
        return sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    return []
