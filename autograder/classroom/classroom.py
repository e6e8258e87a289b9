"""A course in its term: submissions that arrived, the verdicts that are kept, nbgrader's gradebook."""

import contextlib
from collections.abc import Collection, Sequence
from dataclasses import replace

from ..course import Course
from . import attachments
from .grades import Grade
from .nbgrader.adapter import Nbgrader
from .nbgrader.gradebook import Gradebook
from .student_work import StudentWork
from .submitted import SubmittedFile, submitted_files
from .verdict_store import Entry, VerdictStore


class Classroom:
    """A course in its term, with nbgrader's configuration and gradebook; ``CourseError`` without a configuration.

    ``students`` are those whose submissions count; all where none are named.
    """

    def __init__(self, course: Course, students: Collection[str] | None = None):
        self.course, self.students = course, students
        self.store = VerdictStore(course)
        self.nbgrader = Nbgrader(course)

    def gradebook(self) -> Gradebook:
        """Open nbgrader's gradebook."""
        return self.nbgrader.gradebook()

    def grades_of(self, assignment: str, student: str | None = None) -> dict[str, Grade]:
        """Return the grade of each student who handed in a session, or of one student."""
        with self.gradebook() as gradebook:
            return gradebook.grades_of(assignment, student)

    def register(self, assignment: str) -> None:
        """Put a session into the gradebook, unless it is there unchanged."""
        with self.store.writing():
            self.nbgrader.register(assignment)

    def submitted(self, assignments: Sequence[str]) -> list[SubmittedFile]:
        """Return all submissions of these sessions, by session and student."""
        files = submitted_files(self.course.submitted, assignments)
        return [file for file in files if self.students is None or file.student in self.students]

    def arrived(self, assignment: str) -> list[SubmittedFile]:
        """Return the submissions of a session that were handed in, or handed in again, since it was graded."""
        new = []
        for file in self.submitted([assignment]):
            with contextlib.suppress(OSError):  # grading says that this one cannot be read
                if not file.problem and (self.store.seed(file.read()) is None or self.has_other_attachments(file)):
                    new.append(file)
        return new

    def has_other_attachments(self, file: SubmittedFile) -> bool:
        """Return whether a picture or the time beside a submission is another one than when it was graded, or
        the time is there no longer."""
        graded = StudentWork(self.course, file.assignment, file.student).autograded
        return attachments.differ(file.path.parent, graded.parent)

    def withdrawn(self, assignments: Sequence[str]) -> list[tuple[str, str]]:
        """Return student and session of what is graded and lies no longer in the submitted folder."""
        with self.gradebook() as gradebook:
            graded = {(student, name) for name in assignments
                      for student in [*self.store.students(name), *gradebook.automatic_scores(name)]}
        return sorted(graded - {(file.student, file.assignment) for file in self.submitted(assignments)})

    def enter(self, file: SubmittedFile, entry: Entry) -> None:
        """Enter a kept verdict into the gradebook and write the notebook that formgrader shows."""
        with self.store.writing():
            self.nbgrader.enter(file.path, entry.verdict, file.student)
            self.store.save(replace(entry, entered=True))
