"""Our feedback page in the place of nbgrader's, and which pages are out of date."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from nbconvert.exporters import Exporter
from traitlets import Bool, default

from ...model.errors import one_line
from ...runtime.workspace import write_whole
from .. import feedback
from ..attachments import copy_attachments
from ..student_work import StudentWork
from .gradebook import Gradebook, course_of
from .term import Term


class FeedbackExporter(Exporter):
    """Writes our page of one submission in the place of nbgrader's."""

    model_answers = Bool(False, help="Whether students read the model answers and rubrics").tag(config=True)

    @default("file_extension")
    def _file_extension_default(self) -> str:
        return ".html"

    def from_filename(self, filename: str, resources: Any = None, **kwargs: Any) -> Any:
        """Return the page of an autograded notebook, and nbconvert's resources."""
        converter: Any = self.parent
        names = resources["nbgrader"]
        work = StudentWork(course_of(converter.coursedir), names["assignment"], names["student"])
        with Gradebook(names["db_url"], converter.coursedir.course_id) as gradebook:
            grade = gradebook.grades_of(work.session, work.student)[work.student]
        page = feedback.render(work, grade, self.model_answers)
        return page, {**resources, "output_extension": ".html"}


@dataclass
class FeedbackPage:
    """The page of one student: whether it is, or was, out of date, and why it could not be written."""

    student: str
    is_outdated: bool
    problem: str | None = None


def update_pages(term: Term, session: str,
                 each: Callable[[int, int], None] = lambda done, of: None) -> list[FeedbackPage]:
    """Write the pages of a session that are out of date; ``each`` is called before each one, with how many are done."""
    pages = all_pages(term, session)
    outdated = [page for page in pages if page.is_outdated]
    for done, page in enumerate(outdated):
        each(done, len(outdated))
        work = StudentWork(term.course, session, page.student)
        try:
            with term.store.writing():
                grade = term.grades_of(session, page.student)[page.student]
                copy_attachments(work.autograded.parent, work.feedback.parent)
                write_whole(work.feedback, feedback.render(work, grade, _shows_model_answers(term)))
        except Exception as error:  # of any kind: the other pages are written
            page.problem = one_line(error)
    return pages


def all_pages(term: Term, session: str) -> list[FeedbackPage]:
    """Return all pages of a session, each with whether it is out of date."""
    works = [(StudentWork(term.course, session, student), grade)
             for student, grade in term.grades_of(session).items()]
    model_answers = _shows_model_answers(term)
    return [FeedbackPage(work.student, feedback.is_outdated(work, grade, model_answers))
            for work, grade in works if work.autograded.is_file()]


def _shows_model_answers(term: Term) -> bool:
    exporter: Any = FeedbackExporter
    return bool(exporter(config=term.config).model_answers)
