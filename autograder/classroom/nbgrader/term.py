"""A course in its term: submissions that arrived, the verdicts that are kept, nbgrader's gradebook."""

import contextlib
import glob
import logging
import shutil
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import nbformat
from nbgrader.converters import Autograde
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange import ExchangeError, ExchangeFactory
from nbgrader.preprocessors import ClearOutput, ClearSolutions, ComputeChecksums, LockCells, SaveCells
from sqlalchemy.exc import SAWarning
from traitlets import import_item
from traitlets.config.loader import PyFileConfigLoader

from ...course import Course, CourseError
from ...model.errors import one_line
from ...model.source import load_source
from ...publish import notebooks
from ...runtime.workspace import write_whole
from ..grades import Grade
from ..student_work import StudentWork
from ..submitted import SubmittedFile, submitted_files
from ..verdict_store import StoredVerdict, VerdictStore
from . import copied_files
from .autograde import SaveVerdict
from .gradebook import Gradebook, GradebookError
from .notebook import annotated, other_texts, rebuilt

# nbgrader's own queries, under a newer SQLAlchemy than it was written for: nothing an instructor can act on
warnings.filterwarnings("ignore", category=SAWarning)


class Term:
    """A course in its term, as `nbgrader_config.py` sets it up; ``CourseError`` where that file is missing."""

    def __init__(self, course: Course):
        if not (course.root / "nbgrader_config.py").is_file():
            raise CourseError(f"{course.root} has no nbgrader_config.py, which grading needs: "
                              "copy the one that `autograder new` writes")
        self.course = course
        self.store = VerdictStore(course)
        self.config = PyFileConfigLoader("nbgrader_config.py", path=str(course.root)).load_config()

    def gradebook(self) -> Gradebook:
        """Open nbgrader's gradebook."""
        directory = CourseDirectory(config=self.config)
        return Gradebook(directory.db_url, directory.course_id)

    def grades_of(self, session: str, student: str | None = None) -> dict[str, Grade]:
        """Return the grade of each student who handed in a session, or of one student."""
        with self.gradebook() as gradebook:
            return gradebook.grades_of(session, student)

    def register(self, session: str) -> None:
        """Put a session into the gradebook, as `nbgrader generate_assignment` does, unless it is there unchanged.

        ``GradebookError`` where points that a person gave would be lost.
        """
        source = load_source(self.course, session)
        cells = source.by_role("check", "answer")
        with self.store.writing():
            with self.gradebook() as gradebook:
                if gradebook.max_points(session) == {cell.grade_id: cell.points for cell in cells}:
                    return
                notebook = notebooks.solution_notebook(source)
                gradebook.set_cells(session, notebook)
            resources = self._resources(session)
            for kind in (LockCells, ClearSolutions, ClearOutput, ComputeChecksums, SaveCells):
                notebook, resources = kind(config=self.config).preprocess(notebook, resources)

    def submitted(self, sessions: Sequence[str]) -> list[SubmittedFile]:
        """Return all submissions of these sessions, by session and student."""
        return submitted_files(self.course.submitted, sessions)

    def arrived(self, session: str) -> list[SubmittedFile]:
        """Return the submissions of a session that were handed in, or handed in again, since it was graded."""
        new = []
        for file in self.submitted([session]):
            with contextlib.suppress(OSError):  # grading says that this one cannot be read
                if not file.problem and (self.store.last_seed(file.read()) is None or self.has_other_files(file)):
                    new.append(file)
        return new

    def has_other_files(self, file: SubmittedFile) -> bool:
        """Return whether nbgrader's files beside a submission are others than when it was graded."""
        graded = StudentWork(self.course, file.session, file.student).autograded
        return copied_files.differ(file.path.parent, graded.parent)

    def no_longer_submitted(self, sessions: Sequence[str]) -> list[tuple[str, str]]:
        """Return student and session of what is graded and lies no longer in the submitted folder."""
        with self.gradebook() as gradebook:
            graded = {(student, name) for name in sessions
                      for student in [*self.store.students(name), *gradebook.automatic_points(name)]}
        return sorted(graded - {(file.student, file.session) for file in self.submitted(sessions)})

    def enter(self, file: SubmittedFile, entry: StoredVerdict) -> None:
        """Enter a kept verdict into the gradebook and write the notebook that formgrader shows.

        Where this fails, the earlier notebook stays: points given by hand are for its texts.
        """
        session, student = file.session, file.student
        work = StudentWork(self.course, session, student)
        converter = Autograde(coursedir=CourseDirectory(config=self.config), config=self.config)
        converter.log.setLevel(logging.CRITICAL)
        converter.notebooks = [f"{session}.ipynb"]
        with self.store.writing():
            if entry.entered:
                self.store.mark_entered(entry, False)
            with self.gradebook() as gradebook:  # nbgrader forgets these if the file has another name
                marked = gradebook.marked_texts(session, student)
            _remove_others(work.autograded)
            converter.init_assignment(session, student)
            notebook = rebuilt(self.course, file.read())
            with self.gradebook() as gradebook:
                others = other_texts(notebook, work.autograded_bytes)
                gradebook.mark_other_texts(session, student, marked | others)
                notebook = annotated(notebook, entry.verdict)
                gradebook.save_verdict(notebook, entry.verdict, student)
            resources = self._resources(session, student)
            with contextlib.chdir(self.course.root):  # as nbgrader does: a plugin may open a file there
                for kind in map(_imported, converter.autograde_preprocessors):
                    if not issubclass(kind, SaveVerdict):
                        notebook, resources = kind(config=self.config)(notebook, resources)
            write_whole(work.autograded, f"{nbformat.writes(notebook)}\n")
            converter.set_permissions(session, student)
            self.store.mark_entered(entry, True)

    def _resources(self, session: str, student: str = "") -> dict[str, Any]:
        """Return what nbgrader's preprocessors are told beside a notebook."""
        db_url = CourseDirectory(config=self.config).db_url
        return {"nbgrader": {"notebook": session, "assignment": session, "student": student, "db_url": db_url}}

    def release_feedback(self, session: str) -> int:
        """Release over the exchange the pages of submissions that came over it; return how many there are.

        ``GradebookError`` names those that could not be released, when the others are.
        """
        folders = (self.course.gradebook / "feedback").glob(f"*/{session}")
        students = sorted(folder.parent.name for folder in folders
                          if all((folder / name).is_file() for name in copied_files.NBGRADER_FILES))
        failed = []
        for student in students:
            directory = CourseDirectory(config=self.config, assignment_id=session, student_id=glob.escape(student))
            releasing = ExchangeFactory(config=self.config).ReleaseFeedback(coursedir=directory, config=self.config)
            releasing.log.setLevel(logging.CRITICAL)
            try:
                releasing.start()
            except (ExchangeError, OSError, ValueError) as error:
                failed.append(f"{student}'s page is not released: {one_line(error)}")
        if failed:
            raise GradebookError("; ".join(failed))
        return len(students)


def _imported(kind: Any) -> Any:
    """Return a class of nbgrader's configuration, which may be its name."""
    return import_item(kind) if isinstance(kind, str) else kind


def _remove_others(notebook: Path) -> None:
    """Remove what lies beside a graded notebook; what belongs there is copied anew."""
    for path in notebook.parent.glob("*"):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif path != notebook:
            path.unlink()
