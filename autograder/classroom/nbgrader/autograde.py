"""Our parts of `nbgrader autograde`: a submission is read defensively, judged, and its scores are the judge's own."""

import contextlib
import logging
import shutil
from pathlib import Path
from typing import Any

from nbconvert.exporters import NotebookExporter
from nbgrader.converters import Autograde
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Bool, Enum, Float

from ...judging import judge_process, submission
from ...judging.seeds import seed_of
from ...judging.verdict import Verdict
from ...publish.notebooks import grade_id
from ...runtime.workspace import write_whole
from ...sandbox.options import Limits, Options, options_of
from .. import assessments
from ..student_work import StudentWork
from ..verdict_store import VerdictStore
from .gradebook import Gradebook, course_of
from .notebook import annotated, rebuilt


class SubmissionExporter(NotebookExporter):
    """Replaces the handed-in notebook by a rebuilt one in nbgrader's first pass, the sanitizing one."""

    def from_filename(self, filename: str, resources: Any = None, **kwargs: Any) -> Any:
        """Return the notebook in a file, valid whatever the student handed in."""
        converter: Any = self.parent
        if not converter._sanitizing:
            return super().from_filename(filename, resources=resources, **kwargs)
        names = resources["nbgrader"]
        path, session = getattr(converter, "handed_in", Path(filename)), names["assignment"]
        notebook = rebuilt(course_of(converter.coursedir), submission.read(path, path.parents[2], session))
        cells = assessments.readable_cells(getattr(converter, "earlier", b""))
        earlier = {cell.grade_id: cell.source for cell in cells}
        with Gradebook(names["db_url"], converter.coursedir.course_id) as gradebook:
            gradebook.mark_other_texts(session, names["student"], {
                name for cell in notebook.cells if (name := grade_id(cell)) and earlier.get(name) != cell.source})
        export: Any = self.from_notebook_node
        return export(notebook, resources=resources, **kwargs)


class SaveVerdict(NbGraderPreprocessor):
    """Has the submission judged, shows the reasons in its check cells, and writes the scores to the gradebook."""

    device = Enum(("cpu", "cuda"), default_value="cpu", help="Where students' code computes").tag(config=True)
    isolated = Bool(True, help="False runs students' code unprotected, and every report says so").tag(config=True)
    exercise_cpu_seconds = Float(Limits.exercise_cpu_seconds, help="CPU seconds that the checks of one exercise may "
                                 "take; all other times are scaled with it").tag(config=True)

    @property
    def options(self) -> Options:
        """The options that nbgrader's configuration states."""
        return options_of(self.device, self.isolated, self.exercise_cpu_seconds)

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        """Enter the verdict in nbgrader's second pass; no cell is run here."""
        names, converter = resources["nbgrader"], self.parent.parent
        coursedir = converter.coursedir
        verdict = getattr(converter, "verdict", None) or self._verdict(coursedir, names)
        nb = annotated(nb, verdict)
        with Gradebook(names["db_url"], coursedir.course_id) as gradebook:
            gradebook.save_verdict(nb, verdict, names["student"])
        return nb, resources

    def _verdict(self, coursedir: Any, names: dict[str, str]) -> Verdict:
        """Return the kept verdict if nothing has changed, else a new one."""
        course = course_of(coursedir)
        student, session = names["student"], names["assignment"]
        folder = Path(coursedir.format_path(coursedir.submitted_directory, student, session))
        notebook = submission.read(folder / f"{names['notebook']}.ipynb", folder.parent.parent, session, student)
        store = VerdictStore(course)
        kept = store.current(notebook, self.options)
        if kept:
            return kept.verdict
        key = store.key(notebook, self.options)
        seed = seed_of(store.secret(), student, session, notebook.data)
        judge = judge_process.judge_of_thread(course, self.options, key.inputs_digest)
        return store.record(notebook, judge.judge(notebook, seed), key).verdict


class EnterVerdict(Autograde):
    """Enters the verdict on one judged submission, under any name of the handed-in file, and raises what stops it.

    nbgrader reads a student's name as a pattern of file names. It logs an exception, and raises another one.
    """

    def __init__(self, handed_in: Path, verdict: Verdict, **kwargs: Any):
        super().__init__(**kwargs)
        self.handed_in, self.verdict, self.earlier = handed_in, verdict, b""
        self.force = True
        self.log.setLevel(logging.CRITICAL)

    def init_notebooks(self) -> None:
        """Name one notebook, the session's."""
        folder = self._format_source(self.coursedir.assignment_id, self.coursedir.student_id)
        self.notebooks = [f"{folder}/{self.coursedir.assignment_id}.ipynb"]

    def convert_notebooks(self) -> None:
        """Enter it; where that fails, the earlier graded notebook stays, for points given by hand are for its texts."""
        names = self.coursedir.assignment_id, self.coursedir.student_id
        try:
            self.init_destination(*names)
            self.run_pre_convert_hook()
            self.init_assignment(*names)
            for notebook in self.notebooks:
                self.convert_single_notebook(notebook)
            self.set_permissions(*names)
            self.run_post_convert_hook()
        except BaseException:
            graded = StudentWork(course_of(self.coursedir), *names).autograded
            shutil.rmtree(graded.parent, ignore_errors=True)
            with contextlib.suppress(OSError):
                if self.earlier:
                    write_whole(graded, self.earlier)
            raise
