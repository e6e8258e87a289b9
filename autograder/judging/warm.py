"""A judge that is kept warm while an instructor works: `autograder serve`, asked by `autograder check`.

They meet at a socket in a folder that nobody else may enter, one for each course and terms. Whoever cannot be answered
judges alone, so that nothing but time depends on it.
"""

import contextlib
import hashlib
import os
import stat
import sys
import tempfile
from collections.abc import Callable
from multiprocessing.connection import Client, Listener
from pathlib import Path

from ..authoring import source
from ..course import Course, CourseError
from ..sandbox.terms import Terms
from .submission import Submission
from .verdict import Verdict
from .watched import WatchedJudge

ENGINE = Path(__file__).parent.parent
Question = tuple[bytes, str, str | None, str | None]  # notebook, its name, and its TP and seed if given
REQUEST_SECONDS = 5  # whoever connects has its question ready
GREETING, GREETING_SECONDS = "ask", 2  # a judge that is busy, or stopped, is not waited for


def address(course: Course, terms: Terms) -> Path:
    """The socket of a judge of this course under these terms; ``CourseError`` where it would not be ours alone."""
    folder = Path(os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir()) / f"autograder-{os.getuid()}"
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise CourseError(f"{folder} is not a folder of yours alone: remove it, or set XDG_RUNTIME_DIR to another")
    name = hashlib.sha256(repr((course.root, terms, ENGINE, sys.executable)).encode()).hexdigest()[:16]
    return folder / name


def asked(course: Course, terms: Terms, question: Question) -> Verdict | None:
    """The verdict of a warm judge; None where there is none, or it could not tell."""
    try:
        path = address(course, terms)
        if not path.exists():
            return None
        connection = Client(str(path), "AF_UNIX")
    except (CourseError, OSError):
        return None
    with connection, contextlib.suppress(EOFError, OSError):
        if not connection.poll(GREETING_SECONDS) or connection.recv() != GREETING:
            return None
        connection.send(question)
        answer: Verdict = connection.recv()
        return answer
    return None


def serve(course: Course, terms: Terms, handed: Callable[[Question], tuple[Submission, str]],
          ready: Callable[[], None]) -> None:
    """Answer at the socket until an interrupt; ``CourseError`` when another does already.

    ``handed`` makes a submission and its seed of a question; ``ready`` is called once the socket is there.
    """
    path = address(course, terms)
    with contextlib.suppress(OSError):
        Client(str(path), "AF_UNIX").close()
        raise CourseError("a judge of this course is kept warm already: autograder check uses it")
    path.unlink(missing_ok=True)  # of one that was killed
    judge, made_from = WatchedJudge(course, terms), _files(course)
    with Listener(str(path), "AF_UNIX", backlog=16) as listener:
        path.chmod(0o600)
        try:
            judge.begin()
            ready()
            while True:
                with contextlib.suppress(EOFError, OSError), listener.accept() as connection:
                    connection.send(GREETING)
                    if not connection.poll(REQUEST_SECONDS):
                        continue
                    question = connection.recv()
                    if (now := _files(course)) != made_from:
                        judge.close()
                        source.load.cache_clear()
                        made_from = now
                    with contextlib.suppress(Exception):  # left to whoever asked, who says what it is
                        connection.send(judge.judge(*handed(question)))
        except KeyboardInterrupt:
            pass
        finally:
            judge.close()


def _files(course: Course) -> dict[Path, int]:
    """Everything that a judge reads at its start, and when it was written."""
    places = [course.solutions, *course.helpers, ENGINE]
    files = [path for place in places for path in ([place] if place.is_file() else place.rglob("*.py"))]
    return {path: path.stat().st_mtime_ns for path in files}
