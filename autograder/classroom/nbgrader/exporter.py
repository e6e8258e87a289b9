"""Reads a submission defensively and puts its answers into the released notebook."""

from pathlib import Path
from typing import Any

from nbconvert.exporters import NotebookExporter

from ...course import Course
from ...judging import submission
from .notebook import rebuilt


class SubmissionExporter(NotebookExporter):
    """In nbgrader's first pass, the sanitizing one, the released notebook stands in the place of the handed-in one."""

    def from_filename(self, filename: str, resources: Any = None, **kwargs: Any) -> Any:
        """The notebook in a file; whatever a student handed in, it is sound."""
        converter: Any = self.parent
        if not converter._sanitizing:
            return super().from_filename(filename, resources=resources, **kwargs)
        course, assignment = Course(Path(converter.coursedir.root)), resources["nbgrader"]["assignment"]
        path = getattr(converter, "handed_in", Path(filename))
        handed = submission.read(path, path.parents[2], assignment)
        export: Any = self.from_notebook_node
        return export(rebuilt(course, handed), resources=resources, **kwargs)
