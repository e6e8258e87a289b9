"""Show in formgrader the model answers below written ones, and points that were given elsewhere meanwhile."""

import sys
from typing import Any

from nbconvert.preprocessors import Preprocessor
from nbformat.v4 import new_markdown_cell
from sqlalchemy import event
from sqlalchemy.orm import ORMExecuteState, Session

from ...model.source import load_source
from ...publish.notebooks import grade_id
from .gradebook import course_of


class Rubrics(Preprocessor):
    """Adds model answer and rubric beneath each written answer, on formgrader's page alone."""

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        """Return the notebook with the rubrics in it, where it is shown to a grader."""
        if "submission_id" not in resources:  # which only the page on which a person grades is given
            return nb, resources
        course = course_of(self.config.CourseDirectory)
        answers = load_source(course, resources["assignment_id"]).by_role("answer")
        hidden = {cell.grade_id: cell.hidden for cell in answers}
        cells = []
        for cell in nb.cells:
            cells.append(cell)
            name = grade_id(cell)
            if name in hidden:
                text = f"**Model answer and rubric** (only graders see this)\n\n{hidden[name]}"
                quoted = "\n".join(f"> {line}" for line in text.splitlines())
                cells.append(new_markdown_cell(quoted, id=f"rubric-{name}"))
        nb.cells = cells
        return nb, resources


def always_read_the_database() -> None:
    """Make every query of a notebook server read the database again.

    formgrader keeps one database session as long as it runs, which does not read a row twice.
    """
    if "jupyter_server.serverapp" in sys.modules and not event.contains(Session, "do_orm_execute", _read_again):
        event.listen(Session, "do_orm_execute", _read_again)


def _read_again(state: ORMExecuteState) -> None:
    if state.is_select:
        state.update_execution_options(populate_existing=True)
