"""Make formgrader's server run no file of a student.

nbgrader serves each file beside a graded notebook from its own origin, with the media type of its name. A page with a
script would act there with the rights of the grader. And nbgrader's start page opens any folder as a course, and runs
its configuration.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tornado.web import HTTPError, authenticated

CONFIGURATION = "nbgrader_config.py"


def set_safe_headers(stock: object, handler: Any, path: str) -> None:
    """Serve each file beside a notebook as a download, without an origin: no page shows one."""
    handler.set_header("Content-Security-Policy", "sandbox; default-src 'none'")
    handler.set_header("X-Content-Type-Options", "nosniff")
    handler.set_header("Content-Type", "application/octet-stream")
    handler.set_header("Content-Disposition", "attachment")


def open_course(stock: Callable[[Any], Any], handler: Any) -> Any:
    """Open a course, and no other folder."""
    return _open(handler, stock)


@authenticated
def _open(handler: Any, stock: Callable[[Any], Any]) -> Any:
    path = handler.get_argument("path", "")
    if path and not is_course(Path(path)):
        raise HTTPError(403, "not the folder of a course of yours")
    return stock(handler)


def is_course(folder: Path) -> bool:
    """Return whether a folder may be opened as a course: it belongs to the server's user and lies in no course.

    A submission lies within a course, and a student's own folder belongs to the student.
    """
    folder = folder.resolve()
    try:
        owners = {path.stat().st_uid for path in (folder, folder / CONFIGURATION)}
    except OSError:
        return False
    return owners <= {os.getuid(), 0} and not any((around / CONFIGURATION).exists() for around in folder.parents)
