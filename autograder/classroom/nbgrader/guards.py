"""What nbgrader's own commands may not do to somebody's work: release it to the class, or write a release over it."""

from pathlib import Path
from typing import Any

import nbformat
from nbconvert.exporters import NotebookExporter
from nbgrader.converters import GenerateAssignment
from nbgrader.converters.base import NbGraderException
from nbgrader.exchange.default import ExchangeReleaseAssignment

from ...authoring import release
from ...course import Course


class ReleaseExporter(NotebookExporter):
    """Seals what `nbgrader generate_assignment` writes, so that work in it can be told from a release."""

    def from_notebook_node(self, nb: Any, resources: Any = None, **kwargs: Any) -> Any:
        """The released notebook, and nbconvert's resources."""
        export: Any = super().from_notebook_node
        output, resources = export(nb, resources, **kwargs)
        return nbformat.writes(release.sealed(nbformat.reads(output, as_version=4))), resources


class ReleaseAssignment(ExchangeReleaseAssignment):
    """nbgrader's own; a notebook that somebody has filled is not given to the class."""

    def copy_files(self) -> None:
        """Copy the TP to the exchange, or say why not."""
        try:
            release.refuse_work(Course(Path(self.coursedir.root)), Path(self.src_path))
        except release.WorkedInError as error:
            self.fail(str(error))
        super().copy_files()


def keep_work() -> None:
    """From now on `nbgrader generate_assignment --force` does not write over a notebook that somebody has filled."""
    stock = GenerateAssignment.init_notebooks
    if stock.__module__ == __name__:
        return

    def init_notebooks(self: Any) -> None:
        stock(self)
        for source in self.assignments:
            folder = Path(self._format_dest(Path(source).name, self.coursedir.student_id))
            try:
                release.refuse_work(Course(Path(self.coursedir.root)), folder)
            except release.WorkedInError as error:  # here, for whatever fails later has nbgrader remove the folder
                self.log.error(str(error))
                raise NbGraderException(str(error)) from None

    GenerateAssignment.init_notebooks = init_notebooks
