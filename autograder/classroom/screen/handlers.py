"""Handlers of the screen on a Jupyter Server: its page, its script, and its JSON API.

Jupyter asks for a login, and for its XSRF token wherever something is written. Only our script runs on the page.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import msgspec
from jupyter_server.base.handlers import JupyterHandler
from tornado.web import HTTPError, authenticated

from ...course import Course, CourseError
from .. import pages
from ..nbgrader.term import Term
from ..student_work import StudentWork
from ..verdict_store import VerdictStore
from . import updates, views
from .background import BackgroundTask

T = TypeVar("T")
POLICY = ("default-src 'none'; script-src 'self'; connect-src 'self'; img-src data:; style-src 'unsafe-inline'; "
          "base-uri 'none'; form-action 'none'; frame-ancestors 'self'")
# What the page can ask for, by the name in the address; the arguments are session, student and name.
DATA: dict[str, Callable[[Term, dict[str, str]], Any]] = {
    "class": lambda term, given: views.class_table(term, given["session"]),
    "exercise": lambda term, given: views.exercise(term, given["session"], given["student"], given["name"]),
    "question": lambda term, given: views.question(term, given["session"], given["name"]),
}
# What it can save, by the name in the address: the form of the request, and what saves it and returns the state now.
SAVED: dict[str, tuple[type[Any], Callable[[Term, Any], Any]]] = {
    "points": (updates.PointsRequest, updates.save_points),
    "answers": (updates.AnswersRequest, updates.save_answers),
}


@dataclass(frozen=True)
class TaskRequest:
    """A task to begin: on all submissions of a session, on the new ones, on those of one student, or on feedback."""

    kind: Literal["grade", "new", "feedback"]
    session: str
    student: str


def serve(application: Any, course: Course) -> None:
    """Add the screen of a course to a server."""
    base = application.settings["base_url"].rstrip("/")
    arguments = {"course": course, "task": BackgroundTask(course)}
    application.add_handlers(".*$", [
        (f"{base}/autograder/?", PageHandler, arguments),
        (f"{base}/autograder/screen.js", ScriptHandler, arguments),
        (f"{base}/autograder/feedback/([^/]+)/([^/]+)", FeedbackPageHandler, arguments),
        (f"{base}/autograder/api/save/({'|'.join(SAVED)})", SaveHandler, arguments),
        (f"{base}/autograder/api/task", TaskHandler, arguments),
        (f"{base}/autograder/api/({'|'.join(DATA)})", DataHandler, arguments),
    ])


class Handler(JupyterHandler):
    """The base of all handlers: the course, the page's policy, JSON in and out, and errors as one line."""

    def initialize(self, course: Course, task: BackgroundTask) -> None:
        """Keep the course and its background task."""
        self.course, self.task = course, task

    def set_default_headers(self) -> None:
        """Allow no script but ours."""
        super().set_default_headers()
        self.set_header("Content-Security-Policy", POLICY)
        self.set_header("X-Content-Type-Options", "nosniff")
        self.set_header("Referrer-Policy", "no-referrer")
        self.set_header("Cache-Control", "no-store")

    def session_of(self, name: str) -> str:
        """Return the name of a session; 404 if the course has none of that name."""
        if name not in self.course.sessions:
            raise HTTPError(404, f"no session {name}")
        return name

    def request_body(self, form: type[T]) -> T:
        """Return the request, which is JSON of this form; 400 if it is not."""
        try:
            return msgspec.json.decode(self.request.body, type=form)
        except (msgspec.DecodeError, ValueError, RecursionError) as error:
            raise HTTPError(400, str(error)) from error

    async def respond(self, result_of: Callable[[Term], Any]) -> None:
        """Answer with what a function returns, as JSON; it runs in a thread, so that the server goes on."""
        try:
            result = await asyncio.to_thread(lambda: result_of(Term(self.course)))
        except updates.ConflictError as error:
            self.set_status(409)
            result = {"overtaken": str(error)}
        except CourseError as error:
            self.set_status(400)
            result = {"wrong": str(error)}
        self.set_header("Content-Type", "application/json")
        self.finish(msgspec.json.encode(result))


class PageHandler(Handler):
    """The page itself."""

    @authenticated
    async def get(self) -> None:
        """Send the page."""
        sessions = await asyncio.to_thread(lambda: views.sessions(Term(self.course)))
        page = pages.render(
            "screen.html.j2", sessions=sessions, base=f"{self.base_url.rstrip('/')}/autograder",
            formgrader=f"{self.base_url}formgrader",
            xsrf=self.xsrf_token.decode())
        self.finish(page)


class ScriptHandler(Handler):
    """The script of the page."""

    @authenticated
    def get(self) -> None:
        """Send the script."""
        self.set_header("Content-Type", "text/javascript; charset=utf-8")
        self.finish((pages.TEMPLATES / "screen.js").read_bytes())


class FeedbackPageHandler(Handler):
    """The feedback page of a student, as the student reads it."""

    @authenticated
    def get(self, session: str, student: str) -> None:
        """Send the page; 404 if none of this student is written."""
        path = StudentWork(self.course, self.session_of(session), student).feedback
        if student not in VerdictStore(self.course).students(session) or not path.is_file():
            raise HTTPError(404, "no page is written yet")
        self.set_header("Content-Security-Policy", "sandbox; default-src 'none'; img-src data:; "
                                                   "style-src 'unsafe-inline'")
        self.finish(path.read_bytes())


class DataHandler(Handler):
    """The data that the page shows."""

    @authenticated
    async def get(self, kind: str) -> None:
        """Send data of one kind."""
        given = {name: self.get_query_argument(name, "") for name in ("session", "student", "name")}
        self.session_of(given["session"])
        await self.respond(lambda term: DATA[kind](term, given))


class SaveHandler(Handler):
    """The points and comments that a person gives."""

    @authenticated
    async def post(self, kind: str) -> None:
        """Save them, and answer with what is there now."""
        form, save = SAVED[kind]
        request = self.request_body(form)
        self.session_of(request.session)
        await self.respond(lambda term: save(term, request))


class TaskHandler(Handler):
    """Tasks that take a while: to grade anew, and to write feedback."""

    @authenticated
    def get(self) -> None:
        """Send the progress of the task."""
        self.finish(self.task.state())

    @authenticated
    async def post(self) -> None:
        """Begin a task; 400 if another one is still running."""
        request = self.request_body(TaskRequest)
        if not self.task.begin(request.kind, self.session_of(request.session), request.student):
            self.set_status(400)
            self.finish({"wrong": "Nothing was begun, because other work is still running. Try again when it is done."})
            return
        self.finish(self.task.state())
