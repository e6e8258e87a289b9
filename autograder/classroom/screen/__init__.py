"""The instructor's screen: a Jupyter Server extension beside formgrader, opened by `autograder open`.

Login, TLS and hubs are Jupyter's. What is saved goes into nbgrader's gradebook at once.
"""

import os
from pathlib import Path
from typing import Any


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": "autograder.classroom.screen"}]


def _load_jupyter_server_extension(server: Any) -> None:
    """Serve the screen of the course in ``AUTOGRADER_COURSE``, or else in the server's folder."""
    from ...course import CourseError, find
    from . import handlers

    try:
        handlers.serve(server.web_app, find(Path(os.environ.get("AUTOGRADER_COURSE") or server.root_dir)))
    except CourseError as error:
        server.log.warning("autograder: no screen: %s", error)
