"""nbgrader's configuration: which of its parts are ours.

Stock nbgrader trusts the structure of a submitted notebook and reads scores from its outputs. Here the exporter
rebuilds every submission on the released notebook, and `SaveVerdict` writes the judge's own scores.
"""

import os
import sysconfig
from pathlib import Path
from typing import Any

from ...model import source
from . import formgrader, patches

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
    "ClearSolutions": {"code_stub": {"python": source.CODE_STUB}, "text_stub": source.TEXT_STUB},
    "GenerateAssignment": {"exporter_class": f"{PLUGINS}.notebook.ReleaseExporter"},
    "Autograde": {
        "exporter_class": f"{PLUGINS}.autograde.SubmissionExporter",
        "sanitize_preprocessors": [],
        "autograde_preprocessors": [f"{PLUGINS}.autograde.SaveVerdict", "nbgrader.preprocessors.AssignLatePenalties"],
    },
    "GenerateFeedback": {"exporter_class": f"{PLUGINS}.feedback_pages.FeedbackExporter"},
    "HTMLExporter": {
        "filters": {"markdown2html": "autograder.classroom.markdown.markdown2html"},
        "preprocessors": [f"{PLUGINS}.formgrader.Rubrics"],
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
    patches.apply()
    formgrader.always_read_the_database()


def find_alembic() -> None:
    """Put this environment's programs on the path: nbgrader calls `alembic` by name."""
    os.environ["PATH"] = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", "")])
