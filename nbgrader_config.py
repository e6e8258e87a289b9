"""nbgrader's configuration: `nbgrader …` and formgrader work in this folder, with the judge plugged in."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
sys.path[:0] = [str(ROOT), str(ROOT / "course")]

from autograder.nbgrader_plugins import configure  # noqa: E402

c = get_config()  # noqa: F821
c.CourseDirectory.course_id = "seq2seq"
configure(c, ROOT)
