"""nbgrader's configuration: `nbgrader …` and formgrader work in this folder, with the judge plugged in."""

from pathlib import Path

from autograder.classroom.nbgrader.config import configure

c = get_config()  # noqa: F821
c.CourseDirectory.course_id = "seq2seq"
configure(c, Path(__file__).resolve().parent)
