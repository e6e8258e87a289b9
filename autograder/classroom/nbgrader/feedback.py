"""Our feedback page in the place of nbgrader's, and which pages are out of date."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from nbconvert.exporters import Exporter
from traitlets import Bool, default

from .. import feedback
from ..classroom import Classroom
from ..grades import Grade
from ..student_work import StudentWork
from .gradebook import ConversionError, Gradebook, course_of


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
            grade = gradebook.grades_of(work.assignment, work.student)[work.student]
        page = feedback.render(work, grade, Path(filename).read_bytes(), self.model_answers)
        return page, {**resources, "output_extension": ".html"}


@dataclass(frozen=True)
class FeedbackPage:
    """The page of one student: whether it is, or was, out of date, and why it could not be written."""

    student: str
    is_outdated: bool
    problem: str | None = None


def update_pages(classroom: Classroom, assignment: str,
                 each: Callable[[int, int], None] = lambda done, of: None) -> list[FeedbackPage]:
    """Write the pages of a session that are out of date; ``each`` is called before each one, with how many are done."""
    pages = all_pages(classroom, assignment)
    outdated = [page for page in pages if page.is_outdated]
    written = {}
    for done, page in enumerate(outdated):
        each(done, len(outdated))
        written[page.student] = _written(classroom, assignment, page)
    return [written.get(page.student, page) for page in pages]


def all_pages(classroom: Classroom, assignment: str) -> list[FeedbackPage]:
    """Return all pages of a session, each with whether it is out of date."""
    exporter: Any = FeedbackExporter
    course, model_answers = classroom.course, exporter(config=classroom.nbgrader.config).model_answers
    works = [(StudentWork(course, assignment, student), grade)
             for student, grade in classroom.grades_of(assignment).items()]
    return [FeedbackPage(work.student, is_outdated(work, grade, model_answers))
            for work, grade in works if work.autograded.is_file()]


def _written(classroom: Classroom, assignment: str, page: FeedbackPage) -> FeedbackPage:
    try:
        with classroom.store.writing():
            classroom.nbgrader.write_feedback(assignment, page.student)
    except ConversionError as error:
        return replace(page, problem=str(error))
    return page


def is_outdated(work: StudentWork, grade: Grade, model_answers: bool) -> bool:
    """Return whether the page of a student is to be written."""
    digest = feedback.inputs_digest(work, grade, work.autograded.read_bytes(), model_answers)
    return feedback.is_outdated(work.feedback, digest)
