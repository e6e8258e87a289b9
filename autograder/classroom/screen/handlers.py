"""Handlers of the screen on a Jupyter Server: its page, its script, and its JSON API.

Jupyter asks for a login, and for its XSRF token wherever something is written. Only our script runs on the page.
"""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from jupyter_server.base.handlers import JupyterHandler
from tornado.web import HTTPError, authenticated

from ...course import Course, CourseError
from .. import pages
from ..grading import Classroom
from . import saving, shown
from .work import Work

TEMPLATES = Path(__file__).parent.parent / "templates"
POLICY = ("default-src 'none'; script-src 'self'; connect-src 'self'; img-src data:; style-src 'unsafe-inline'; "
          "base-uri 'none'; form-action 'none'; frame-ancestors 'self'")
Read = Callable[[Classroom, dict[str, str]], Any]
READS: dict[str, Read] = {
    "class": lambda room, asked: shown.grid(room, asked["session"]),
    "exercise": lambda room, asked: shown.exercise(room, asked["session"], asked["student"], asked["name"]),
    "question": lambda room, asked: shown.question(room, asked["session"], asked["name"]),
    "outdated": lambda room, asked: {"pages": shown.outdated(room, asked["session"]),
                                     "exchange": len(room.nbgrader.to_release(asked["session"]))},
}


def serve(application: Any, course: Course) -> None:
    """Add the screen of a course to a server."""
    base, given = application.settings["base_url"].rstrip("/"), {"course": course, "work": Work(course)}
    application.add_handlers(".*$", [
        (f"{base}/autograder/?", Page, given),
        (f"{base}/autograder/screen.js", Script, given),
        (f"{base}/autograder/feedback/([^/]+)/([^/]+)", FeedbackPage, given),
        (f"{base}/autograder/api/save", Save, given),
        (f"{base}/autograder/api/work", Working, given),
        (f"{base}/autograder/api/(class|exercise|question|outdated)", Asked, given),
    ])


class Handler(JupyterHandler):
    """The base of all handlers: the course, the page's policy, and errors as one line."""

    def initialize(self, course: Course, work: Work) -> None:
        """Take what the server was given."""
        self.course, self.work = course, work

    def set_default_headers(self) -> None:
        """Let nothing run but our script."""
        super().set_default_headers()
        self.set_header("Content-Security-Policy", POLICY)
        self.set_header("X-Content-Type-Options", "nosniff")
        self.set_header("Referrer-Policy", "no-referrer")
        self.set_header("Cache-Control", "no-store")

    def session_of(self, name: str) -> str:
        """Return a session that is there."""
        if name not in self.course.assignments:
            raise HTTPError(404, f"no session {name}")
        return name

    async def answer(self, what: Callable[[Classroom], Any]) -> None:
        """Answer with JSON; a thread reads, so that the server goes on."""
        try:
            found = await asyncio.to_thread(lambda: what(Classroom(self.course)))
        except saving.OvertakenError as error:
            self.set_status(409)
            found = {"overtaken": str(error)}
        except (CourseError, KeyError) as error:
            self.set_status(400)
            found = {"wrong": str(error)}
        self.finish(found)


class Page(Handler):
    """The page itself."""

    @authenticated
    async def get(self) -> None:
        """Show it."""
        there = await asyncio.to_thread(lambda: shown.sessions(Classroom(self.course)))
        page = pages.environment().get_template("screen.html.j2").render(
            sessions=there, base=f"{self.base_url.rstrip('/')}/autograder", formgrader=f"{self.base_url}formgrader",
            xsrf=self.xsrf_token.decode())
        self.finish(page)


class Script(Handler):
    """The script of the page."""

    @authenticated
    def get(self) -> None:
        """Send it."""
        self.set_header("Content-Type", "text/javascript; charset=utf-8")
        self.finish((TEMPLATES / "screen.js").read_bytes())


class FeedbackPage(Handler):
    """The page of a student, as the student reads it."""

    @authenticated
    def get(self, session: str, student: str) -> None:
        """Send it; a name that leads elsewhere finds nothing."""
        folder = (self.course.gradebook / "feedback").resolve()
        try:
            path = (folder / student / self.session_of(session) / f"{session}.html").resolve()
            is_there = path.is_relative_to(folder) and path.is_file()
        except (OSError, ValueError):  # no name of a file
            is_there = False
        if not is_there:
            raise HTTPError(404, "no page is written yet")
        self.set_header("Content-Security-Policy", "sandbox; default-src 'none'; img-src data:; "
                                                   "style-src 'unsafe-inline'")
        self.finish(path.read_bytes())


class Asked(Handler):
    """The requests of the page for data."""

    @authenticated
    async def get(self, what: str) -> None:
        """Answer with what is shown."""
        asked = {name: self.get_query_argument(name, "") for name in ("session", "student", "name")}
        self.session_of(asked["session"])
        await self.answer(lambda room: READS[what](room, asked))


class Save(Handler):
    """The points and comments that a person gives."""

    @authenticated
    async def post(self) -> None:
        """Write it, and answer with what stands there now."""
        asked = self.request_body()
        session, name = self.session_of(str(asked.get("session"))), str(asked.get("name"))
        points, comment = asked.get("points"), str(asked.get("comment", ""))
        if "students" in asked:
            try:
                students = [(str(one["student"]), str(one["version"])) for one in asked["students"]]
                ticks = [bool(one) for one in asked.get("ticks", [])]
            except (KeyError, TypeError) as error:
                raise HTTPError(400, "students are a list of names and versions, ticks a list") from error

            def save(room: Classroom) -> Any:
                saving.save_answers(room, session, name, students, ticks, points, comment)
                return shown.question(room, session, name)
        else:
            student, version = str(asked.get("student")), str(asked.get("version"))

            def save(room: Classroom) -> Any:
                saving.save_points(room, session, student, name, points, comment, version)
                return shown.exercise(room, session, student, name)
        await self.answer(save)

    def request_body(self) -> dict[str, Any]:
        """Return the JSON of the request; 400 where it is none, or holds what is no text."""
        try:
            asked = json.loads(self.request.body)
            json.dumps(asked, ensure_ascii=False).encode()
        except (ValueError, RecursionError) as error:
            raise HTTPError(400, "no JSON in UTF-8") from error
        if not isinstance(asked, dict):
            raise HTTPError(400, "no JSON object")
        return asked


class Working(Save):
    """Grading anew and writing feedback: work that takes a while."""

    @authenticated
    def get(self) -> None:
        """Say how far it is."""
        self.finish(self.work.state())

    @authenticated
    async def post(self) -> None:
        """Begin, or say that something is being done."""
        asked = self.request_body()
        what, session = str(asked.get("what")), self.session_of(str(asked.get("session")))
        if what not in ("grade", "new", "feedback"):
            raise HTTPError(400, f"nothing is called {what}")
        if not self.work.begin(what, session, str(asked.get("student") or "")):
            self.set_status(400)
            self.finish({"wrong": "Nothing was begun, because other work is still running. Try again when it is done."})
            return
        self.finish(self.work.state())
