"""The submitted folder: the notebooks in it that are graded, and the other files, with a remedy for each."""

import contextlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from .. import escaping
from ..course import Course, CourseError
from ..judging import files, submission
from ..judging.submission import Submission
from . import attachments


@dataclass(frozen=True)
class SubmittedFile:
    """One notebook in the submitted folder, ``<student>/<session>/<notebook>``.

    ``note`` says what is unusual about its place, ``problem`` why it cannot be graded at all.
    """

    student: str
    assignment: str
    path: Path
    note: str | None = None
    problem: str | None = None

    def read(self) -> Submission:
        """Read what was handed in; ``OSError`` when this machine cannot read it."""
        return submission.read(self.path, self.path.parents[2], self.assignment, self.student, self.note)


def submitted_files(folder: Path, assignments: Sequence[str]) -> list[SubmittedFile]:
    """Return all notebooks of these sessions in a folder ``<student>/<session>/``, by session and student.

    A hidden folder is no student's.
    """
    return [notebook_in(place, assignment) for assignment in assignments
            for place in sorted(folder.glob(f"[!.]*/{assignment}"))]


def notebook_in(folder: Path, assignment: str) -> SubmittedFile:
    """Return the notebook of a submission folder: the one with the session's name, else the only one."""
    student, right = folder.parent.name, folder / f"{assignment}.ipynb"
    if files.encodable(student) != student:  # bytes of another encoding, as the system gave them
        shown = ascii(os.fsencode(student))[2:-1]
        return SubmittedFile(shown, assignment, right,
                             problem=f"the name of the folder {shown} is not UTF-8: rename it")
    if student != student.strip():
        beside = f" beside {student.strip()}" if (folder.parent.parent / student.strip()).is_dir() else ""
        return SubmittedFile(student, assignment, right, problem=f"the folder {student!r}{beside} has a name that "
                             "begins or ends with a space, which the gradebook leaves out: rename it")
    if folder.is_symlink() or folder.parent.is_symlink():  # what lies behind it is not named, and reading refuses it
        return SubmittedFile(student, assignment, right)
    others = [path for path in sorted(folder.glob("*.ipynb")) if path != right]
    excess = attachments.excess(folder)
    if right.exists() or right.is_symlink() or len(others) != 1:
        return SubmittedFile(student, assignment, right, excess)
    called = f"the notebook was called {os.fsencode(others[0].name).decode('utf-8', 'backslashreplace')}"
    return SubmittedFile(student, assignment, others[0], f"{called}; {excess}" if excess else called)


def ignored_files(course: Course) -> list[str]:
    """Return a line for each file or folder that is graded in no session: its path, and what to do.

    Hidden ones do not count.
    """
    folder, sessions = course.submitted, course.assignments
    graded = {file.path for file in submitted_files(folder, sessions)}
    ignored: list[tuple[Path, str]] = []
    for student in _entries(folder):
        if student.is_file():
            ignored.append((student, _move(course, student, "<student>")))
        elif student.name in sessions and any(_entries(student)):
            ignored.append((student, f"a folder of a student lies here: make it <student>/{student.name}/"))
        else:
            for entry in _entries(student):
                ignored += _in_student(course, entry, graded)
    return [escaping.line(f"{path.relative_to(folder)}: {remedy}") for path, remedy in ignored]


def _in_student(course: Course, entry: Path, graded: set[Path]) -> Iterator[tuple[Path, str]]:
    """Yield the ignored files of an entry in a student's folder, each with its remedy."""
    if entry.is_file():
        yield entry, _move(course, entry, entry.parent.name)
    elif entry.name in course.assignments:
        right = f"{entry.name}.ipynb"
        for notebook in sorted(entry.rglob("*.[iI][pP][yY][nN][bB]")):
            hidden = any(part.startswith(".") for part in notebook.relative_to(entry).parts)
            if notebook not in graded and not hidden:
                counts = any(path.parent == entry and path.exists() for path in graded)
                yield notebook, (f"one notebook of a session counts, {right}: remove this one, or let it take its place"
                                 if counts else
                                 f"move the one that counts to {entry.parent.name}/{entry.name}/{right}")
    elif any(_entries(entry)):
        sessions = {session for file in _entries(entry) if (session := _session(course, file.stem))}
        session = sessions.pop() if len(sessions) == 1 else _session(course, entry.name)
        if renamed := course.renamed(entry.name):
            yield entry, f"{renamed}: rename the folder"
        elif session is None:
            yield entry, f"no session is called so; call the folder {' or '.join(course.assignments)}"
        elif (entry.parent / session).exists():
            yield entry, f"no session is called so, and {session} lies beside it: keep one of the two, as {session}"
        else:
            yield entry, f"no session is called so: rename the folder {session}"


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
        session = course.former.get(name) or course.full_name(name.strip().lower())
        return session if session in course.assignments else None
    return None


def _entries(folder: Path) -> Sequence[Path]:
    with contextlib.suppress(OSError):
        return sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    return []
