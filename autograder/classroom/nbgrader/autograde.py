"""Our parts of `nbgrader autograde`: a submission is read defensively, judged, and its scores are the judge's own."""

from pathlib import Path
from typing import Any

from nbconvert.exporters import NotebookExporter
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Bool, Enum, Float

from ...judging import judge_process
from ...judging.verdict import Verdict
from ...sandbox.options import Limits, Options, options_of
from ..submitted import notebook_in
from ..verdict_store import VerdictStore
from .gradebook import Gradebook, course_of
from .notebook import annotated, other_texts, rebuilt


class SubmissionExporter(NotebookExporter):
    """Replaces the handed-in notebook by a rebuilt one in nbgrader's first pass, the sanitizing one."""

    def from_filename(self, filename: str, resources: Any = None, **kwargs: Any) -> Any:
        """Return the notebook in a file, valid whatever the student handed in."""
        converter: Any = self.parent
        if not converter._sanitizing:
            return super().from_filename(filename, resources=resources, **kwargs)
        names = resources["nbgrader"]
        session, student = names["assignment"], names["student"]
        notebook = rebuilt(course_of(converter.coursedir), notebook_in(Path(filename).parent, session).read())
        with Gradebook(names["db_url"], converter.coursedir.course_id) as gradebook:
            gradebook.mark_other_texts(session, student, other_texts(notebook, getattr(converter, "earlier", b"")))
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
        verdict = self._verdict(coursedir, names)
        nb = annotated(nb, verdict)
        with Gradebook(names["db_url"], coursedir.course_id) as gradebook:
            gradebook.save_verdict(nb, verdict, names["student"])
        return nb, resources

    def _verdict(self, coursedir: Any, names: dict[str, str]) -> Verdict:
        """Return the kept verdict if nothing has changed, else a new one."""
        course = course_of(coursedir)
        session = names["assignment"]
        folder = Path(coursedir.format_path(coursedir.submitted_directory, names["student"], session))
        store, submission = VerdictStore(course), notebook_in(folder, session).read()
        kept = store.current(submission, self.options)
        if kept:
            return kept.verdict
        key = store.key(submission, self.options)
        judge = judge_process.judge_of_thread(course, self.options, key.inputs_digest)
        return store.record(submission, judge.judge(submission, store.seed(submission)), key).verdict
