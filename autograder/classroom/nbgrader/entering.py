"""nbgrader's converter for a submission that has been judged already."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nbgrader.converters import Autograde
from nbgrader.converters.base import NbGraderException

from ...judging.verdict import Verdict


class Entering(Autograde):
    """Enters one verdict, whatever the handed-in file is called or whether there is one."""

    def __init__(self, handed_in: Path, verdict: Verdict, **kwargs: Any):
        super().__init__(**kwargs)
        self.handed_in, self.verdict = handed_in, verdict
        self.failure: Exception | None = None

    def start(self) -> None:
        """nbgrader logs what goes wrong and raises something else; here it is raised as it was."""
        try:
            super().start()
        except NbGraderException as error:
            raise self.failure or error from None

    def init_assignment(self, assignment_id: str, student_id: str) -> None:
        """As in nbgrader, keeping what goes wrong."""
        with self._keeping_failure():
            super().init_assignment(assignment_id, student_id)

    def convert_single_notebook(self, notebook_filename: str) -> None:
        """As in nbgrader, keeping what goes wrong."""
        with self._keeping_failure():
            super().convert_single_notebook(notebook_filename)

    @contextlib.contextmanager
    def _keeping_failure(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            self.failure = error
            raise

    def init_notebooks(self) -> None:
        """One notebook, of the TP's name."""
        folder = self._format_source(self.coursedir.assignment_id, self.coursedir.student_id)
        self.assignments = {folder: [f"{folder}/{self.coursedir.assignment_id}.ipynb"]}
