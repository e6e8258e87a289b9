"""The work of one student in one session, and where its notebooks and pages lie in ``gradebook/``."""

from dataclasses import dataclass
from pathlib import Path

from ..course import Course


@dataclass(frozen=True)
class StudentWork:
    """The work of one student in one session of a course. nbgrader's configuration names the same folders."""

    course: Course
    session: str
    student: str

    @property
    def submitted(self) -> Path:
        """The notebook that was handed in."""
        return self._file("submitted", "ipynb")

    @property
    def autograded(self) -> Path:
        """The notebook as it was graded."""
        return self._file("autograded", "ipynb")

    @property
    def autograded_bytes(self) -> bytes:
        """The bytes of this notebook; none where there is none."""
        return self.autograded.read_bytes() if self.autograded.is_file() else b""

    @property
    def feedback(self) -> Path:
        """The feedback page."""
        return self._file("feedback", "html")

    def _file(self, folder: str, suffix: str) -> Path:
        return self.course.gradebook / folder / self.student / self.session / f"{self.session}.{suffix}"
