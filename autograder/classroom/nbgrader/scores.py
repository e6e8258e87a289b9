"""Writes the judge's scores where nbgrader would read them from a notebook's outputs."""

import atexit
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
from nbgrader import utils
from nbgrader.api import Comment, Grade, Gradebook
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Bool, Enum, Float

from ...course import Course
from ...judging import submission
from ...judging.seeds import seed_of
from ...judging.verdict import Verdict
from ...sandbox.options import Limits, Options, resolved
from .. import enclosures
from ..verdict_store import VerdictStore
from .notebook import annotated

if TYPE_CHECKING:
    from ...judging.judge import Judge


class SaveVerdict(NbGraderPreprocessor):
    """Has the submission judged, shows the reasons in its check cells, and writes the scores to the gradebook."""

    device = Enum(("auto", "cpu", "cuda"), default_value="auto", help="Where students' code computes").tag(config=True)
    isolated = Bool(True, help="False runs students' code unprotected, and every report says so").tag(config=True)
    exercise_seconds = Float(Limits.exercise_seconds, help="CPU seconds that the checks of one exercise may take; "
                             "all other times are scaled with it").tag(config=True)

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        """nbgrader's second pass: no cell is run here."""
        where, converter = resources["nbgrader"], self.parent.parent
        coursedir = converter.coursedir
        verdict = getattr(converter, "verdict", None) or self._verdict(coursedir, where)
        nb = annotated(nb, verdict)
        with Gradebook(where["db_url"], coursedir.course_id) as gradebook:
            save(gradebook, nb, verdict, where)
        return nb, resources

    def _verdict(self, coursedir: Any, where: dict[str, str]) -> Verdict:
        """The verdict that is kept while nothing has changed, else a new one."""
        course = Course(Path(coursedir.root))
        options = Options(resolved(self.device), self.isolated, Limits().scaled(self.exercise_seconds))
        student, assignment = where["student"], where["assignment"]
        folder = Path(coursedir.format_path(coursedir.submitted_directory, student, assignment))
        handed = submission.read(folder / f"{where['notebook']}.ipynb", folder.parent.parent, assignment, student,
                                 enclosures.excess(folder))
        store = VerdictStore(course)
        kept = store.kept(handed, options)
        if kept:
            return kept.verdict
        verdict = judge(course, options).judge(handed, seed_of(store.secret(), student, assignment, handed.data))
        return store.keep(handed, verdict, options).verdict


def save(gradebook: Any, nb: nbformat.NotebookNode, verdict: Verdict, where: dict[str, str]) -> None:
    """Write a verdict: automatic scores of check cells, and which answers a person has to read."""
    scores = {f"check-{result.exercise}": result.score for result in verdict.exercises}
    page = gradebook.find_submission_notebook(where["notebook"], where["assignment"], where["student"])
    grades = _of_cells(gradebook, Grade, page, page.notebook.grade_cells)
    comments = _of_cells(gradebook, Comment, page, page.notebook.solution_cells)
    for cell in nb.cells:
        if utils.is_grade(cell):
            grade_id = cell.metadata.nbgrader.grade_id
            grade = grades[grade_id]
            grade.auto_score = scores[grade_id] if grade_id in scores else utils.determine_grade(cell)[0]
            grade.needs_manual_grade = grade.manual_score is not None or grade.auto_score is None
        if utils.is_solution(cell):
            unchanged = cell.metadata.nbgrader.checksum == utils.compute_checksum(cell)
            comments[cell.metadata.nbgrader.grade_id].auto_comment = "No response." if unchanged else None
    gradebook.db.commit()


def _of_cells(gradebook: Any, kind: Any, page: Any, cells: list[Any]) -> dict[str, Any]:
    """The grades or comments of a student's notebook by name of their cell.

    By both their keys, which an index has: nbgrader's own look-up by names reads those of the whole class.
    """
    names = {cell.id: cell.name for cell in cells}
    rows = gradebook.db.query(kind).filter(kind.notebook_id == page.id, kind.cell_id.in_(names))
    return {names[row.cell_id]: row for row in rows}


@cache
def judge(course: Course, options: Options) -> "Judge":
    """One judge for all submissions of this process."""
    from ...judging.judge import Judge  # brings torch, which who enters verdicts has no use for

    made = Judge(course, options)
    atexit.register(made.sandbox.close)
    return made
