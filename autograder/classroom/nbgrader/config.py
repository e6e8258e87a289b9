"""nbgrader's configuration: which of its parts are ours.

Stock nbgrader trusts the structure of a submitted notebook and reads scores from its outputs. Here the exporter
rebuilds every submission on the released notebook, and `SaveVerdict` writes the judge's own scores.
"""

import functools
import os
import sysconfig
from pathlib import Path
from typing import Any

import nbgrader.api
import nbgrader.converters.base
from alembic.script import ScriptDirectory

from ...publish import release
from . import fresh, guards, left_by_students, pages, serving

PLUGINS = "autograder.classroom.nbgrader"

CONFIG: dict[str, dict[str, Any]] = {
    "CourseDirectory": {
        "source_directory": "solutions",
        "release_directory": "course",
        "submitted_directory": "gradebook/submitted",
        "autograded_directory": "gradebook/autograded",
        "feedback_directory": "gradebook/feedback",
        "ignore": [".ipynb_checkpoints", "*.py", "*.pyc", "*.toml", "__pycache__", "*.db", "*.json"],
    },
    **release.STUBS,
    "GenerateAssignment": {"exporter_class": f"{PLUGINS}.guards.ReleaseExporter"},
    "Autograde": {
        "exporter_class": f"{PLUGINS}.exporter.SubmissionExporter",
        "sanitize_preprocessors": [],
        "autograde_preprocessors": [f"{PLUGINS}.scores.SaveVerdict", "nbgrader.preprocessors.AssignLatePenalties"],
    },
    "GenerateFeedback": {"exporter_class": f"{PLUGINS}.pages.FeedbackExporter"},
    "HTMLExporter": {
        "filters": {"markdown2html": "autograder.classroom.markdown.markdown2html"},
        "preprocessors": [f"{PLUGINS}.rubrics.Rubrics"],
        "sanitize_html": True,
    },
}


def configure(config: Any, root: Path) -> None:
    """Fill nbgrader's configuration ``c`` for the course in ``root``."""
    (root / "gradebook").mkdir(exist_ok=True)
    for section, values in CONFIG.items():
        for name, value in values.items():
            setattr(config[section], name, value)
    config.CourseDirectory.root = str(root)
    config.CourseDirectory.db_url = f"sqlite:///{root}/gradebook/gradebook.db"
    find_alembic()
    _read_version_here()
    left_by_students.read_safely()
    _keep_engines()
    guards.keep_work()
    pages.renew_what_changed()
    fresh.in_a_server()
    serving.in_a_server()


def find_alembic() -> None:
    """nbgrader calls `alembic` by name (`nbgrader db upgrade`): put this environment's programs on the path."""
    os.environ["PATH"] = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", "")])


def _read_version_here() -> None:
    """nbgrader starts `alembic` to learn which version a new gradebook has; reading it here saves seconds."""
    scripts = Path(nbgrader.api.__file__).parent / "alembic"
    nbgrader.api.get_alembic_version = lambda: ScriptDirectory(str(scripts)).get_current_head()


def _keep_engines() -> None:
    """nbgrader opens its gradebook seven times for each submission: statements are compiled, and a server asked what it
    can do, the first time only."""
    if not hasattr(nbgrader.api.create_engine, "cache_info"):
        nbgrader.api.create_engine = functools.cache(nbgrader.api.create_engine)
