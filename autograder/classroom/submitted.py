"""The submitted folder: the notebooks in it that are graded, and the other files, with a remedy for each."""

import contextlib
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from .. import escaping
from ..course import Course, CourseError
from ..judging import submission, untrusted_files
from ..judging.submission import Submission

MAX_OTHERS = 5  # notebooks of another name that a note lists


@dataclass(frozen=True)
class SubmittedFile:
    """One notebook in the submitted folder, ``<student>/<session>/<notebook>``.

    ``note`` says what is unusual about its place, ``unreadable`` why none of several is read, and ``problem`` why it
    cannot be graded at all.
    """

    student: str
    session: str
    path: Path
    note: str | None = None
    problem: str | None = None
    unreadable: str | None = None

    def read(self) -> Submission:
        """Read what was handed in; ``OSError`` when this machine cannot read it."""
        read = submission.read(self.path, self.path.parents[2], self.session, self.student, self.note)
        return replace(read, unreadable=self.unreadable) if self.unreadable else read


def submitted_files(folder: Path, sessions: Sequence[str]) -> list[SubmittedFile]:
    """Return all notebooks of these sessions in a folder ``<student>/<session>/``, by session and student.

    A hidden folder is no student's.
    """
    return [notebook_in(place, session) for session in sessions
            for place in sorted(folder.glob(f"[!.]*/{session}"))]


def notebook_in(folder: Path, session: str) -> SubmittedFile:
    """Return the notebook of a submission folder: the one with the session's name, else the only one."""
    student, right = folder.parent.name, folder / f"{session}.ipynb"
    if untrusted_files.encodable(student) != student:  # bytes of another encoding, as the system gave them
        shown = ascii(os.fsencode(student))[2:-1]
        return SubmittedFile(shown, session, right,
                             problem=f"the name of the folder {shown} is not UTF-8: rename it")
    if student != student.strip():
        return SubmittedFile(student, session, right, problem=f"the name of the folder {student!r} begins or ends "
                             "with a space, which the gradebook leaves out: rename it")
    if folder.is_symlink() or folder.parent.is_symlink():  # what lies behind it is not named, and reading refuses it
        return SubmittedFile(student, session, right)
    others = sorted(folder.glob("*.ipynb"))
    if right.exists() or right.is_symlink() or not others:
        return SubmittedFile(student, session, right)
    names = [os.fsencode(path.name).decode("utf-8", "backslashreplace") for path in others[:MAX_OTHERS]]
    if len(others) > 1:
        more = ", …" if len(others) > MAX_OTHERS else ""
        return SubmittedFile(student, session, right, unreadable=f"none of {len(others)} notebooks "
                             f"({', '.join(names)}{more}) is called {right.name}, so none is graded")
    return SubmittedFile(student, session, others[0], f"the notebook was called {names[0]}")


def ignored_files(course: Course) -> list[str]:
    """Return a line for each file or folder that is graded in no session: its path, and what is graded instead.

    Hidden ones do not count.
    """
    folder, sessions = course.submitted, course.sessions
    graded = {file.path for file in submitted_files(folder, sessions)}
    ignored: list[Path] = []
    for student in _entries(folder):
        for entry in [student] if student.is_file() else _entries(student):
            if entry.is_dir() and entry.name in sessions:
                ignored += (path for path in sorted(entry.rglob("*.[iI][pP][yY][nN][bB]")) if path not in graded
                            and not any(part.startswith(".") for part in path.relative_to(entry).parts))
            elif entry.is_file() or any(_entries(entry)):
                ignored.append(entry)
    places = [path.relative_to(folder) for path in ignored]
    return [escaping.line(f"{place}: {_remedy(course, place)}") for place in places]


def _remedy(course: Course, place: Path) -> str:
    """Return what to do about an ignored file or folder; ``place`` is its path there."""
    if place.suffix.lower() == ".zip":
        return "archives are not read: unpack it, or take submissions out of it with autograder collect"
    name = Path(*place.parts[:2]).stem
    with contextlib.suppress(CourseError):  # several sessions begin so
        name = course.full_name(name.lower())
    session = name if name in course.sessions else "<session>"
    return f"the notebook that is graded is <student>/{session}/{session}.ipynb"


def _entries(folder: Path) -> Sequence[Path]:
    with contextlib.suppress(OSError):
        return sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    return []
