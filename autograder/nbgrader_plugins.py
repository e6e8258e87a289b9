"""Our part of nbgrader's pipeline: plain `nbgrader autograde` and formgrader grade with the judge.

Stock nbgrader trusts the structure of a submitted notebook and reads scores from its outputs. Here the exporter
rebuilds every submission on the released notebook, and `SaveVerdict` writes the judge's own scores.
"""

import atexit
import contextlib
import os
import stat
import sysconfig
from functools import cache
from pathlib import Path

import nbgrader.converters.base
from nbconvert.exporters import NotebookExporter
from nbconvert.preprocessors import Preprocessor
from nbformat.v4 import new_markdown_cell
from nbgrader import utils
from nbgrader.api import Gradebook
from nbgrader.converters import Autograde
from nbgrader.converters.base import NbGraderException
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Bool, Enum, Float

from . import marking, release, source
from .judge import Judge
from .records import Records
from .sandbox import Limits

CONFIG = {
    "CourseDirectory": {
        "source_directory": "solutions",
        "release_directory": "course",
        "submitted_directory": "gradebook/submitted",
        "autograded_directory": "gradebook/autograded",
        "feedback_directory": "gradebook/feedback",
        "ignore": [".ipynb_checkpoints", "*.py", "*.pyc", "__pycache__", "*.db", "*.json"],
    },
    **release.STUBS,
    "Autograde": {
        "exporter_class": "autograder.nbgrader_plugins.SubmissionExporter",
        "sanitize_preprocessors": [],
        "autograde_preprocessors": ["autograder.nbgrader_plugins.SaveVerdict", "nbgrader.preprocessors.AssignLatePenalties"],
    },
    "HTMLExporter": {
        "filters": {"markdown2html": "autograder.pages.markdown2html"},
        "preprocessors": ["autograder.nbgrader_plugins.Rubrics"],
        "sanitize_html": True,
    },
}


def configure(config, root: Path) -> None:
    """Fill nbgrader's configuration ``c`` for the course in ``root``."""
    (root / "gradebook").mkdir(exist_ok=True)
    for section, values in CONFIG.items():
        for name, value in values.items():
            setattr(config[section], name, value)
    config.CourseDirectory.root = str(root)
    config.CourseDirectory.db_url = f"sqlite:///{root}/gradebook/gradebook.db"
    find_alembic()
    _copy_plain_files_only()


def find_alembic() -> None:
    """nbgrader calls `alembic` by name when it makes a gradebook: put this environment's programs on the path."""
    os.environ["PATH"] = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", "")])


def _copy_plain_files_only():
    """nbgrader copies what lies beside a submitted notebook; links, pipes and devices a student left there are not copied."""
    stock = nbgrader.converters.base.find_all_files
    if stock.__module__ == __name__:
        return

    def find_all_files(path, exclude=None):
        return [name for name in stock(path, exclude) if stat.S_ISREG(os.lstat(name).st_mode)]

    nbgrader.converters.base.find_all_files = find_all_files


class SubmissionExporter(NotebookExporter):
    """Reads a submission defensively and puts its answers into the released notebook."""

    def from_filename(self, filename, resources=None, **kwargs):
        if not self.parent._sanitizing:
            return super().from_filename(filename, resources=resources, **kwargs)
        data, _ = marking.read(getattr(self.parent, "handed_in", Path(filename)))
        notebook = marking.rebuilt(resources["nbgrader"]["assignment"], data)
        return self.from_notebook_node(notebook, resources=resources, **kwargs)


class SaveVerdict(NbGraderPreprocessor):
    """Has the submission judged, shows the reasons in its check cells, and writes the scores to the gradebook."""

    device = Enum(("auto", "cpu", "cuda"), default_value="auto", help="Where students' code computes").tag(config=True)
    isolated = Bool(True, help="False runs students' code unprotected, and every report says so").tag(config=True)
    exercise_seconds = Float(Limits.exercise_seconds, help="CPU seconds that the checks of one exercise may take").tag(config=True)

    def preprocess(self, nb, resources):
        where, converter = resources["nbgrader"], self.parent.parent
        coursedir = converter.coursedir
        verdict = getattr(converter, "verdict", None) or self._verdict(coursedir, where)
        nb = marking.annotated(nb, verdict)
        with Gradebook(where["db_url"], coursedir.course_id) as gradebook:
            save(gradebook, nb, verdict, where)
        return nb, resources

    def _verdict(self, coursedir, where):
        folder = Path(coursedir.format_path(coursedir.submitted_directory, where["student"], where["assignment"]))
        judge = the_judge(resolve_device(self.device), self.isolated, self.exercise_seconds)
        return marking.mark(judge, Records(coursedir.root), where["assignment"], where["student"], folder / f"{where['notebook']}.ipynb")


class Rubrics(Preprocessor):
    """Beneath each written answer, its model answer and rubric: on formgrader's page alone, never in a file or in feedback."""

    def preprocess(self, nb, resources):
        if "submission_id" not in resources:  # what only the page on which a person grades is given
            return nb, resources
        hidden = {cell.grade_id: cell.hidden for cell in source.load(resources["assignment_id"]).by_role("answer")}
        cells = []
        for cell in nb.cells:
            cells.append(cell)
            grade_id = cell.metadata.get("nbgrader", {}).get("grade_id")
            if grade_id in hidden:
                text = f"**Model answer and rubric** (only graders see this)\n\n{hidden[grade_id]}"
                cells.append(new_markdown_cell("\n".join(f"> {line}" for line in text.splitlines()), id=f"rubric-{grade_id}"))
        nb.cells = cells
        return nb, resources


class Entering(Autograde):
    """nbgrader's converter for one submission that has been judged already, whatever its file is called or whether there is one."""

    def __init__(self, handed_in: Path, verdict: dict, **kwargs):
        super().__init__(**kwargs)
        self.handed_in, self.verdict = handed_in, verdict
        self.failure = None

    def start(self):
        """nbgrader logs what goes wrong and raises something else; here it is raised as it was."""
        try:
            super().start()
        except NbGraderException as error:
            raise self.failure or error

    def init_assignment(self, assignment_id, student_id):
        with self._keeping_failure():
            super().init_assignment(assignment_id, student_id)

    def convert_single_notebook(self, notebook_filename):
        with self._keeping_failure():
            super().convert_single_notebook(notebook_filename)

    @contextlib.contextmanager
    def _keeping_failure(self):
        try:
            yield
        except Exception as error:
            self.failure = error
            raise

    def init_notebooks(self):
        folder = self._format_source(self.coursedir.assignment_id, self.coursedir.student_id)
        self.assignments = {folder: [f"{folder}/{self.coursedir.assignment_id}.ipynb"]}


def save(gradebook, nb, verdict, where) -> None:
    """Write a verdict: automatic scores of check cells, and which answers a person has to read."""
    scores = {f"check-{e['exercise']}": e["score"] for e in verdict["exercises"]}
    place = (where["notebook"], where["assignment"], where["student"])
    for cell in nb.cells:
        if utils.is_grade(cell):
            grade_id = cell.metadata.nbgrader.grade_id
            grade = gradebook.find_grade(grade_id, *place)
            grade.auto_score = scores[grade_id] if grade_id in scores else utils.determine_grade(cell)[0]
            grade.needs_manual_grade = grade.manual_score is not None or grade.auto_score is None
        if utils.is_solution(cell):
            unchanged = cell.metadata.nbgrader.checksum == utils.compute_checksum(cell)
            gradebook.find_comment(cell.metadata.nbgrader.grade_id, *place).auto_comment = "No response." if unchanged else None
    gradebook.db.commit()


def resolve_device(device: str) -> str:
    """ "auto" is the GPU when there is one."""
    if device != "auto":
        return device
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


@cache
def the_judge(device: str, isolated: bool, exercise_seconds: float) -> Judge:
    """One judge for all submissions of this process."""
    judge = Judge(Limits(exercise_seconds=exercise_seconds), device, isolated)
    atexit.register(judge.sandbox.close)
    return judge
