"""A task that the screen begins, in a process of its own: submissions graded anew, feedback pages written.

``python -m autograder.classroom.screen.background ROOT grade|new|feedback SESSION [STUDENT]`` prints lines of JSON.
"""

import subprocess
import sys
import threading
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from ... import escaping
from ...course import Course
from ...sandbox.options import Options
from ..grading import GradingResult, grade_class
from ..nbgrader.autograde import SaveVerdict
from ..nbgrader.feedback_pages import update_pages
from ..nbgrader.gradebook import GradebookError
from ..nbgrader.term import Term


@dataclass(frozen=True)
class ProgressLine:
    """A line of the process: how much is done, of how much, and a message for the person who waits."""

    done: int
    of: int
    message: str = ""


class BackgroundTask:
    """At most one task at a time, and its progress."""

    def __init__(self, course: Course):
        self.course, self.lock = course, threading.Lock()
        self._state: dict[str, Any] = {"running": False, "done": 0, "of": 0, "kind": "", "messages": []}

    def state(self) -> dict[str, Any]:
        """Return what is being done, and its progress."""
        with self.lock:
            return dict(self._state)

    def begin(self, kind: str, session: str, student: str) -> bool:
        """Begin a task of this kind; return False if another one is running."""
        with self.lock:
            if self._state["running"]:
                return False
            self._state = {"running": True, "done": 0, "of": 0, "kind": kind, "messages": []}
        students = [student] if student else []
        # nothing is imported from where the server was started: students may have filled that folder
        command = [sys.executable, "-P", "-m", __name__, str(self.course.root), kind, session, *students]
        threading.Thread(target=self._follow, args=(command,), daemon=True).start()
        return True

    def _follow(self, command: list[str]) -> None:
        last_line, failed = "", True
        try:
            with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8",
                                  errors="replace") as process:
                for line in process.stdout or ():
                    try:
                        progress = msgspec.json.decode(line, type=ProgressLine)
                    except msgspec.DecodeError:
                        last_line = line.strip() or last_line
                        continue
                    last_line = ""
                    with self.lock:
                        messages = [*self._state["messages"], *([progress.message] if progress.message else [])]
                        self._state |= {"done": progress.done, "of": progress.of, "messages": messages}
            failed = bool(process.returncode)
        except OSError as error:
            last_line = str(error)
        finally:  # else no other task could ever begin
            with self.lock:
                self._state["running"] = False
                if failed and (last_line or not self._state["messages"]):
                    self._state["messages"] = [*self._state["messages"], last_line or "it could not be done"]


def _print_progress(done: int, of: int, message: str = "") -> None:
    print(msgspec.json.encode(ProgressLine(done, of, escaping.line(message))).decode(), flush=True)


def options_on_screen(term: Term, session: str, student: str = "") -> Options:
    """Return nbgrader's options with the limits of the kept verdict, or else of most of the class."""
    options = SaveVerdict(config=term.config).options
    entry = term.store.load(session, student)
    entries = [entry] if entry else term.store.entries(session)
    for limits, _ in Counter(entry.key.options.limits for entry in entries).most_common(1):
        options = replace(options, limits=limits)
    return options


def main(arguments: list[str]) -> int:
    """Do the task; return 1 if something went wrong."""
    root, kind, session, *student = arguments
    term = Term(Course(Path(root)))
    problems: list[str | None] = []
    if kind != "feedback":
        students = student or ([file.student for file in term.arrived(session)] if kind == "new" else None)

        def print_graded(graded: GradingResult, done: int, total: int) -> None:
            _print_progress(done, total, f"{graded.file.student}: {graded.problem}" if graded.problem else "")

        options = options_on_screen(term, session, *student)
        results = grade_class(term, [session], options, force=True, each=print_graded, students=students)
        problems = [graded.problem for graded in results]
    else:
        pages = update_pages(term, session, _print_progress)
        problems = [page.problem for page in pages]
        _print_progress(len(pages), len(pages), "; ".join(filter(None, problems)))
        try:
            if released := term.release_feedback(session):
                _print_progress(len(pages), len(pages), f"Released over the exchange: {released}.")
        except GradebookError as error:
            _print_progress(len(pages), len(pages), str(error))
            problems.append(str(error))
    return 1 if any(problems) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
