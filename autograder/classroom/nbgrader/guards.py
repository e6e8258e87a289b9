"""What nbgrader's own commands may not do to somebody's work: release it to the class, or write a release over it."""

from pathlib import Path
from typing import Any

import nbformat
from nbconvert.exporters import NotebookExporter
from nbgrader.converters import GenerateAssignment
from nbgrader.converters.base import NbGraderException
from nbgrader.exchange.abc import ExchangeReleaseAssignment

from ...course import Course
from ...publish import release


class ReleaseExporter(NotebookExporter):
    """Seals what `nbgrader generate_assignment` writes, so that work in it can be told from a release."""

    def from_notebook_node(self, nb: Any, resources: Any = None, **kwargs: Any) -> Any:
        """The released notebook, and nbconvert's resources."""
        export: Any = super().from_notebook_node
        output, resources = export(nb, resources, **kwargs)
        return nbformat.writes(release.sealed(nbformat.reads(output, as_version=4))), resources


def keep_work() -> None:
    """From now on nbgrader neither releases a notebook that somebody has filled nor writes a release over it."""
    _not_over_work()
    _not_to_the_class()


def _not_over_work() -> None:
    """`nbgrader generate_assignment --force` stops."""
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


def _not_to_the_class() -> None:
    """`nbgrader release_assignment` stops, whatever exchange is in use: a shared folder, ngshare."""
    if "start" in vars(ExchangeReleaseAssignment):
        return

    def start(self: Any) -> None:
        folder = Path(self.coursedir.format_path(self.coursedir.release_directory, ".", self.coursedir.assignment_id))
        try:
            release.refuse_work(Course(Path(self.coursedir.root)), folder)
        except release.WorkedInError as error:
            self.fail(str(error))
        super(ExchangeReleaseAssignment, self).start()

    ExchangeReleaseAssignment.start = start
