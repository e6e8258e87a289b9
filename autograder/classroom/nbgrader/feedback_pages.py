"""Our feedback page in the place of nbgrader's."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from nbconvert.exporters import Exporter
from traitlets import Bool, default

from ...model.errors import one_line
from ...runtime.workspace import write_whole
from .. import feedback
from ..student_work import StudentWork
from . import copied_files
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
    """The page of one student: whether it was written with another text, and why it could not be written."""

    student: str
    changed: bool = False
    problem: str | None = None


def update_pages(term: Term, session: str,
                 each: Callable[[int, int], None] = lambda done, of: None) -> list[FeedbackPage]:
    """Write the pages of a session; ``each`` is called before each one, with how many are done."""
    exporter: Any = FeedbackExporter
    model_answers = bool(exporter(config=term.config).model_answers)
    works = [work for student in term.grades_of(session)
             if (work := StudentWork(term.course, session, student)).autograded.is_file()]
    pages = []
    for done, work in enumerate(works):
        each(done, len(works))
        page = FeedbackPage(work.student)
        try:
            with term.store.writing():
                grade = term.grades_of(session, work.student)[work.student]
                text = feedback.render(work, grade, model_answers).encode()
                copied_files.copy(work.autograded.parent, work.feedback.parent)
                if not work.feedback.is_file() or work.feedback.read_bytes() != text:
                    write_whole(work.feedback, text)
                    page.changed = True
        except Exception as error:  # of any kind: the other pages are written
            page.problem = one_line(error)
        pages.append(page)
    return pages
