"""All calls of nbgrader: a course's configuration, its gradebook, and nbgrader's converters on one submission."""

import glob
import logging
import tempfile
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import nbformat
from nbgrader.converters import GenerateAssignment
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange import ExchangeError, ExchangeFactory
from sqlalchemy.exc import SAWarning
from traitlets.config.loader import PyFileConfigLoader

from ...course import Course, CourseError
from ...judging.verdict import Verdict
from ...model.errors import one_line
from ...model.source import load_source
from ...publish import notebooks
from ..attachments import NBGRADER_FILES
from .autograde import EnterVerdict
from .gradebook import ConversionError, Gradebook
from .one_submission import OneSubmission

# nbgrader's own queries, under a newer SQLAlchemy than it was written for: nothing an instructor can act on
warnings.filterwarnings("ignore", category=SAWarning)


class _EnterSession(OneSubmission, GenerateAssignment):
    """Enters the cells of a session in the gradebook."""


class Nbgrader:
    """nbgrader, as `nbgrader_config.py` of a course sets it up; ``CourseError`` where that file is missing."""

    def __init__(self, course: Course):
        if not (course.root / "nbgrader_config.py").is_file():
            raise CourseError(f"{course.root} has no nbgrader_config.py, which grading needs: "
                              "copy the one that `autograder new` writes")
        self.course = course
        self.config = PyFileConfigLoader("nbgrader_config.py", path=str(course.root)).load_config()

    def gradebook(self) -> Gradebook:
        """Open the gradebook."""
        directory = CourseDirectory(config=self.config)
        return Gradebook(directory.db_url, directory.course_id)

    def register(self, assignment: str) -> None:
        """Put a session into the gradebook, as `nbgrader generate_assignment` does, unless it is there unchanged.

        ``ConversionError`` where points that a person gave would be lost.
        """
        source = load_source(self.course, assignment)
        cells = source.by_role("check", "answer")
        with self.gradebook() as gradebook:
            if gradebook.max_points(assignment) == {cell.grade_id: cell.points for cell in cells}:
                return
            notebook = notebooks.solution_notebook(source)
            gradebook.set_cells(assignment, notebook)
        with tempfile.TemporaryDirectory(prefix="course-") as folder:  # the notebooks that it writes are not needed
            scratch = Course(Path(folder))
            scratch.folder(assignment).mkdir(parents=True)
            nbformat.write(notebook, scratch.folder(assignment) / f"{assignment}.ipynb")
            self._convert(_EnterSession, assignment, ".", scratch.root)

    def enter(self, path: Path, verdict: Verdict, student: str) -> None:
        """Enter a verdict into the gradebook, and write the notebook that formgrader shows."""
        self._convert(partial(EnterVerdict, path, verdict), verdict.assignment, student)

    def to_release(self, assignment: str) -> list[str]:
        """Return the students whose submissions came over the exchange, and whose pages are written."""
        folders = (self.course.gradebook / "feedback").glob(f"*/{assignment}")
        return sorted(folder.parent.name for folder in folders
                      if all((folder / name).is_file() for name in NBGRADER_FILES))

    def release_feedback(self, assignment: str) -> int:
        """Release over the exchange the pages of submissions that came over it; return how many there are.

        ``ConversionError`` names those that could not be released, when the others are.
        """
        students = self.to_release(assignment)
        failed = []
        for student in students:
            directory = CourseDirectory(config=self.config)
            directory.assignment_id, directory.student_id = assignment, glob.escape(student)
            releasing = ExchangeFactory(config=self.config).ReleaseFeedback(coursedir=directory, config=self.config)
            releasing.log.setLevel(logging.CRITICAL)
            try:
                releasing.start()
            except (ExchangeError, OSError, ValueError) as error:
                failed.append(f"{student}'s page is not released: {one_line(error)}")
        if failed:
            raise ConversionError("; ".join(failed))
        return len(students)

    def _convert(self, kind: Callable[..., Any], assignment: str, student: str, root: Path | None = None) -> None:
        """Run a converter on one submission (for ".", on the session itself), with folders in ``root``, if named."""
        directory = CourseDirectory(config=self.config)
        directory.root = str(root or directory.root)
        directory.assignment_id, directory.student_id = assignment, student
        converter = kind(coursedir=directory, config=self.config)
        converter.force = True
        converter.log.setLevel(logging.CRITICAL)
        converter.start()
