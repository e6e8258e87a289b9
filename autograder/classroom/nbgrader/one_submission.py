"""A base of nbgrader's converters, for one submission at a time."""

from collections.abc import Callable
from typing import Any

from nbgrader.converters.base import BaseConverter, NbGraderException


class OneSubmission(BaseConverter):
    """Converts the notebook of one submission, whatever its student is called, and raises what stopped it.

    nbgrader reads a student's name as a pattern of file names. It logs an exception, and raises another one.
    """

    failure: Exception | None = None

    def start(self) -> None:
        """Convert the submission; raise the original exception."""
        try:
            super().start()
        except NbGraderException as error:
            raise self.failure or error from None

    def init_notebooks(self) -> None:
        """Name one notebook, the session's."""
        folder = self._format_source(self.coursedir.assignment_id, self.coursedir.student_id)
        self.assignments = {folder: [f"{folder}/{self.coursedir.assignment_id}.ipynb"]}

    def init_destination(self, assignment_id: str, student_id: str) -> bool:
        """Do as nbgrader does, and keep the exception."""
        return bool(self._keeping_failure(super().init_destination, assignment_id, student_id))

    def init_assignment(self, assignment_id: str, student_id: str) -> None:
        """Do as nbgrader does, and keep the exception."""
        self._keeping_failure(super().init_assignment, assignment_id, student_id)

    def convert_single_notebook(self, notebook_filename: str) -> None:
        """Do as nbgrader does, and keep the exception."""
        self._keeping_failure(super().convert_single_notebook, notebook_filename)

    def _keeping_failure(self, step: Callable[..., Any], *arguments: str) -> Any:
        try:
            return step(*arguments)
        except Exception as error:
            self.failure = error
            raise
