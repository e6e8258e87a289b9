"""Work that the screen begins, in a process of its own: submissions graded anew, feedback pages written.

``python -m autograder.classroom.screen.work ROOT grade|new|feedback SESSION [STUDENT]`` prints a line of JSON a step.
"""

import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from ...course import Course
from ...sandbox.options import Limits, options_of
from ..grading import Classroom, Graded, grade_class


class Work:
    """At most one piece of work at a time, and how far it is."""

    def __init__(self, course: Course):
        self.course, self.lock = course, threading.Lock()
        self._state: dict[str, Any] = {"running": False, "done": 0, "of": 0, "what": "", "said": []}

    def state(self) -> dict[str, Any]:
        """Return what is being done, and how far it is."""
        with self.lock:
            return dict(self._state)

    def begin(self, what: str, session: str, student: str) -> bool:
        """Begin it; return False where something is being done already."""
        with self.lock:
            if self._state["running"]:
                return False
            self._state = {"running": True, "done": 0, "of": 0, "what": what, "said": []}
        one = [student] if student else []
        # nothing is imported from where the server was started: students may have filled that folder
        command = [sys.executable, "-P", "-m", __name__, str(self.course.root), what, session, *one]
        threading.Thread(target=self._follow, args=(command,), daemon=True).start()
        return True

    def _follow(self, command: list[str]) -> None:
        last = ""
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
            for line in process.stdout or ():
                try:
                    step = json.loads(line)
                    with self.lock:
                        self._state |= {"done": int(step["done"]), "of": int(step["of"])}
                        self._state["said"] = [*self._state["said"], *filter(None, [step["said"]])]
                except (ValueError, KeyError, TypeError):
                    last = line.strip() or last
        with self.lock:
            self._state["running"] = False
            if process.returncode and not self._state["said"]:
                self._state["said"] = [last or "it could not be done"]


def _tell(done: int, of: int, said: str = "") -> None:
    print(json.dumps({"done": done, "of": of, "said": said}), flush=True)


def main(arguments: list[str]) -> int:
    """Do it; return 1 where something went wrong."""
    root, what, session, *student = arguments
    classroom = Classroom(Course(Path(root)))
    problems: list[str | None] = []
    if what != "feedback":
        new = [one.student for one in classroom.arrived(session)] if what == "new" else None
        chosen = Classroom(classroom.course, student or new)

        def each(one: Graded, done: int, total: int) -> None:
            _tell(done, total, f"{one.file.student}: {one.problem}" if one.problem else "")

        options = options_of("auto", True, Limits.exercise_seconds)
        problems = [one.problem for one in grade_class(chosen, [session], options, 1, True, each)]
    else:
        from ..nbgrader.adapter import ConversionError
        from ..nbgrader.feedback import renew

        written = renew(classroom, session, _tell)
        problems = [one.problem for one in written]
        changed = sum(bool(one.changed) for one in written)
        _tell(changed, changed, "; ".join(filter(None, problems)))
        try:
            if released := classroom.nbgrader.release_feedback(session):
                _tell(changed, changed, f"Released over the exchange: {released}.")
        except ConversionError as error:
            _tell(changed, changed, str(error))
            problems.append(str(error))
    return 1 if any(problems) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
