"""Changes of nbgrader itself; each docstring says what it is for."""

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nbgrader import api
from nbgrader.converters import Autograde, GenerateAssignment, GenerateFeedback
from nbgrader.converters.base import BaseConverter, NbGraderException
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange.abc import ExchangeReleaseAssignment
from nbgrader.exchange.default.collect import ExchangeCollect
from nbgrader.exchange.default.release_feedback import ExchangeReleaseFeedback
from nbgrader.server_extensions.formgrader.handlers import FormgraderHandler, SubmissionFilesHandler

from ...publish import release
from ..student_work import StudentWork
from . import serving, student_files
from .feedback_pages import FeedbackExporter
from .gradebook import course_of


def apply() -> None:
    """Replace functions of nbgrader, once; each replacement is given the original, and keeps it as ``stock``."""
    for owner, name, ours in PATCHES:
        if not hasattr(getattr(owner, name), "stock"):
            setattr(owner, name, _replacing(getattr(owner, name), ours))


def _replacing(stock: Callable[..., Any], ours: Callable[..., Any]) -> Callable[..., Any]:
    def patched(*args: Any, **kwargs: Any) -> Any:
        return ours(stock, *args, **kwargs)

    patched.stock = stock  # type: ignore[attr-defined]
    return patched


def _refuse_to_overwrite_work(stock: Callable[..., None], converter: Any) -> None:
    """Stop `nbgrader generate_assignment --force` where a release was filled in, so that no work is lost."""
    stock(converter)
    for source in converter.assignments:
        folder = Path(converter._format_dest(Path(source).name, converter.coursedir.student_id))
        try:
            release.require_as_released(course_of(converter.coursedir), folder)
        except release.WorkedInError as error:  # here, for whatever fails later has nbgrader remove the folder
            converter.log.error(str(error))
            raise NbGraderException(str(error)) from None


def _refuse_to_hand_out_work(stock: Callable[..., None], exchange: Any) -> None:
    """Stop `nbgrader release_assignment` where a release was filled in, over any exchange (a folder, ngshare)."""
    coursedir = exchange.coursedir
    folder = Path(coursedir.format_path(coursedir.release_directory, ".", coursedir.assignment_id))
    try:
        release.require_as_released(course_of(coursedir), folder)
    except release.WorkedInError as error:
        exchange.fail(str(error))
    stock(exchange)


def _keep_page(stock: Callable[..., bool], converter: Any, session: str, student: str) -> bool:
    """Have `nbgrader generate_feedback` write each page anew, and remove none before it is written."""
    excluded = (converter.coursedir.student_id_exclude or "").split(",")
    is_ours = isinstance(converter.exporter, FeedbackExporter) and student not in excluded
    return is_ours or bool(stock(converter, session, student))


def _keep_earlier_notebook(stock: Callable[..., bool], converter: Any, session: str, student: str) -> bool:
    """Keep the graded notebook, which is removed next: points given by hand are for its texts."""
    converter.earlier = StudentWork(course_of(converter.coursedir), session, student).autograded_bytes
    return bool(stock(converter, session, student))


@functools.cache
def _one_engine(stock: Callable[..., Any], db_url: str, **options: Any) -> Any:
    """Keep one engine for each database, with the statements that it has compiled: it enters each submission sooner."""
    return stock(db_url, **options)


PATCHES: list[tuple[Any, str, Callable[..., Any]]] = [
    (api, "create_engine", _one_engine),
    (Autograde, "init_destination", _keep_earlier_notebook),
    (BaseConverter, "init_assignment", student_files.copy_nbgrader_files),
    (CourseDirectory, "get_existing_timestamp", student_files.existing_timestamp),
    (ExchangeCollect, "_path_to_record", student_files.record),
    (ExchangeCollect, "init_src", student_files.sources),
    (ExchangeCollect, "do_copy", student_files.collect),
    (ExchangeReleaseFeedback, "copy_files", student_files.release),
    (GenerateAssignment, "init_notebooks", _refuse_to_overwrite_work),
    (ExchangeReleaseAssignment, "start", _refuse_to_hand_out_work),
    (GenerateFeedback, "init_destination", _keep_page),
    (SubmissionFilesHandler, "set_extra_headers", serving.set_safe_headers),
    (FormgraderHandler, "get", serving.open_course),
]
