"""Beneath each written answer its model answer and rubric, on the page on which a person grades."""

from pathlib import Path
from typing import Any

from nbconvert.preprocessors import Preprocessor
from nbformat.v4 import new_markdown_cell

from ...course import Course
from ...model import source


class Rubrics(Preprocessor):
    """Adds them on formgrader's page alone, never in a file or in feedback."""

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        """The notebook with the rubrics in it, where it is shown to a grader."""
        if "submission_id" not in resources:  # what only the page on which a person grades is given
            return nb, resources
        course = Course(Path(self.config.CourseDirectory.root))
        answers = source.load(course, resources["assignment_id"]).by_role("answer")
        hidden = {cell.grade_id: cell.hidden for cell in answers}
        cells = []
        for cell in nb.cells:
            cells.append(cell)
            grade_id = cell.metadata.get("nbgrader", {}).get("grade_id")
            if grade_id in hidden:
                text = f"**Model answer and rubric** (only graders see this)\n\n{hidden[grade_id]}"
                quoted = "\n".join(f"> {line}" for line in text.splitlines())
                cells.append(new_markdown_cell(quoted, id=f"rubric-{grade_id}"))
        nb.cells = cells
        return nb, resources
