"""nbgrader, for a grader: where the course lies. Its own nbgrader_config.py is read from there."""

from pathlib import Path

c = get_config()  # noqa: F821
c.CourseDirectory.root = str(Path.home() / "seq2seq-course")
