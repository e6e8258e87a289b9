"""What nbgrader's gradebook holds of one submission, and what of it has changed since somebody was told."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ..grammar import counted


@dataclass(frozen=True)
class Mark:
    """One graded cell: its points (None: nobody has read it), and whether a person gave them."""

    points: float | None
    max_points: float
    by_person: bool = False


@dataclass(frozen=True)
class Marks:
    """One submission: its marks by the name of the cell, comments by the name of the exercise or answer."""

    marks: dict[str, Mark]
    comments: dict[str, str]
    penalty: float = 0.0  # points taken off for lateness
    seconds_late: float | None = None  # None: the TP has no due date
    handed_in: datetime | None = None  # in UTC
    name: str = ""  # the student's first and last name, where the gradebook knows them

    def said(self, name: str) -> str:
        """What a person wrote about an exercise or answer; nbgrader's own comment is none."""
        comment = self.comments.get(name, "")
        return "" if comment == "No response." else comment

    @property
    def lateness(self) -> str | None:
        """On time, or how late; None where there is no due date."""
        late = self.seconds_late
        if late is None:
            return None
        days, hours, minutes = int(late // 86_400), int(late % 86_400 // 3_600), int(late % 3_600 // 60)
        parts = [(days, "day"), (hours, "hour"), (minutes, "minute")]
        said = " ".join(counted(n, word) for n, word in parts if n)
        return f"{said or 'less than a minute'} late" if late else "on time"


def read(gradebook: Any, assignment: str, student: str) -> Marks:
    """The marks of a submission in an open gradebook; nbgrader's ``MissingEntry`` when there is none."""
    submission = gradebook.find_submission(assignment, student)
    marks: dict[str, Mark] = {}
    comments: dict[str, str] = {}
    for notebook in submission.notebooks:
        for grade in notebook.grades:
            read_by_somebody = grade.manual_score is not None or grade.auto_score is not None
            points = float(grade.score) if read_by_somebody else None
            marks[grade.name] = Mark(points, float(grade.max_score), grade.manual_score is not None)
        comments |= {comment.name: comment.comment for comment in notebook.comments if comment.comment}
    who = submission.student
    return Marks(
        marks,
        comments,
        penalty=float(submission.late_submission_penalty or 0.0),
        seconds_late=float(submission.total_seconds_late) if submission.assignment.duedate else None,
        handed_in=submission.timestamp,
        name=" ".join(filter(None, [who.first_name, who.last_name])),
    )


def changes(before: Marks, now: Marks) -> list[str]:
    """What has changed, in a few words each."""
    said = [f"points of {name.removeprefix('check-')}" for name, mark in now.marks.items()
            if mark != before.marks.get(name)]
    said += [f"comment on {name}" for name in dict.fromkeys([*before.comments, *now.comments])
             if before.comments.get(name) != now.comments.get(name)]
    if (before.penalty, before.seconds_late) != (now.penalty, now.seconds_late):
        said.append("lateness")
    if (before.handed_in, before.name) != (now.handed_in, now.name):
        said.append("who handed in, and when")
    return said
