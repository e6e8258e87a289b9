"""Our feedback page in the place of nbgrader's, and pages that are out of date written anew."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from nbconvert.exporters import Exporter
from nbgrader.api import Gradebook
from nbgrader.converters import GenerateFeedback
from nbgrader.converters.base import NbGraderException
from traitlets import Bool, default

from ...course import Course
from .. import answers, feedback
from ..feedback import Look
from ..grading import Classroom


class FeedbackExporter(Exporter):
    """Writes the page of one submission, whatever nbgrader's template says."""

    model_answers = Bool(False, help="Whether students read the model answers and rubrics").tag(config=True)

    @default("file_extension")
    def _file_extension_default(self) -> str:
        return ".html"

    @property
    def look(self) -> Look:
        """How the instructor wants the pages."""
        return Look(self.model_answers)

    def from_filename(self, filename: str, resources: Any = None, **kwargs: Any) -> Any:
        """The page of an autograded notebook, and nbconvert's resources."""
        converter: Any = self.parent
        where, course = resources["nbgrader"], Course(Path(converter.coursedir.root))
        with Gradebook(where["db_url"], converter.coursedir.course_id) as gradebook:
            page = feedback.write(course, gradebook, where["assignment"], where["student"], Path(filename).read_bytes(),
                                  self.look)
        return page, {**resources, "output_extension": ".html"}


def renew_what_changed() -> None:
    """From now on `nbgrader generate_feedback` writes a page anew when what it shows has changed since."""
    stock = GenerateFeedback.init_destination
    if stock.__module__ == __name__:
        return

    def init_destination(self: Any, assignment_id: str, student_id: str) -> bool:
        excluded = (self.coursedir.student_id_exclude or "").split(",")
        if isinstance(self.exporter, FeedbackExporter) and not self.force and student_id not in excluded:
            course, look = Course(Path(self.coursedir.root)), self.exporter.look
            with Gradebook(self.coursedir.db_url, self.coursedir.course_id) as gradebook:
                changed = _changes(course, gradebook, assignment_id, student_id, look)
            if changed:
                self.log.info("%s, %s: %s", assignment_id, student_id, ", ".join(changed))
                return True
        return bool(stock(self, assignment_id, student_id))

    GenerateFeedback.init_destination = init_destination


@dataclass(frozen=True)
class Given:
    """The page of one student: what has changed since it was written (nothing: it stays), and what went wrong."""

    student: str
    changed: list[str]
    problem: str | None = None


def give(classroom: Classroom, assignment: str) -> list[Given]:
    """Write the pages of a TP that are out of date."""
    exporter: Any = FeedbackExporter
    look, course = exporter(config=classroom.config).look, classroom.course
    with classroom.gradebook() as gradebook:
        submissions = gradebook.assignment_submissions(assignment)
        students = sorted(one.student.id for one in submissions)
        found = [Given(student, _changes(course, gradebook, assignment, student, look)) for student in students
                 if answers.notebook(course, assignment, student).is_file()]
    return [_given(classroom, assignment, one) if one.changed else one for one in found]


def _given(classroom: Classroom, assignment: str, given: Given) -> Given:
    try:
        with classroom.store.writing():
            classroom.convert(GenerateFeedback, assignment, given.student)
    except (NbGraderException, OSError) as error:
        return replace(given, problem=(str(error).splitlines() or [type(error).__name__])[0])
    return given


def page_of(course: Course, assignment: str, student: str) -> Path:
    """Where the page of a student lies."""
    return course.gradebook / "feedback" / student / assignment / f"{assignment}.html"


def _changes(course: Course, gradebook: Any, assignment: str, student: str, look: Look) -> list[str]:
    notebook = answers.notebook(course, assignment, student).read_bytes()
    now = feedback.made_from(course, gradebook, assignment, student, notebook, look)
    return feedback.changes(page_of(course, assignment, student), now)
