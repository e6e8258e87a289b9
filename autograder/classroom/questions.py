"""Written answers, question by question: one page of a session on which a person reads them all, and ticks rubrics.

The page works from disk, offline, and keeps what is ticked in the browser; a CSV file brings it back (`questions_csv`).
"""

import base64
import hashlib
import hmac
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markupsafe import Markup

from .. import escaping
from ..course import Course
from ..model import digests, rubric, source
from ..model.rubric import Rubric, RubricItem
from ..publish import effort
from ..runtime.workspace import write_whole
from . import answers, pages
from .answers import Ticked
from .grading import Classroom
from .markdown import offline
from .student_work import StudentWork

TEMPLATES = Path(__file__).parent / "templates"


@dataclass(frozen=True)
class Answer:
    """The answer of one student to a question, and its points and comment so far."""

    student: str
    label: str  # the student's name, or a number that says nothing
    version: str  # of what is written: another when the student hands in again
    text: str
    points: float | None  # None: nobody has read it
    by_person: bool
    ticked: tuple[Ticked, ...]  # empty when the points were given without them
    comment: str

    @property
    def blank(self) -> bool:
        """Whether there is nothing to read, and the points say so already."""
        return not self.text and self.points is not None and not self.by_person


@dataclass(frozen=True)
class Question:
    """A question of a session, and all answers to it in an order that says nothing of the students."""

    assignment: str
    name: str
    points: float
    text: str
    rubric: Rubric
    answers: tuple[Answer, ...]

    def ticks(self, answer: Answer) -> list[bool]:
        """Return which items of the rubric, as it is now, an answer was given."""
        given = {one.item for one in answer.ticked if one.given}
        return [item in given for item in self.rubric.items]

    @property
    def groups(self) -> list[tuple[Answer, ...]]:
        """The answers that are not blank, those of the same words and the same reading together; unread ones first."""
        found: dict[str, list[Answer]] = {}
        for answer in self.answers:
            if not answer.blank:
                read = (answer.points, answer.comment, self.ticks(answer))
                found.setdefault(repr((" ".join(answer.text.split()), read)), []).append(answer)
        return sorted(map(tuple, found.values()), key=lambda group: (group[0].points is not None, -len(group)))

    @property
    def blank(self) -> list[Answer]:
        """The blank answers."""
        return [answer for answer in self.answers if answer.blank]


def collect(classroom: Classroom, assignment: str, anonymous: bool = False) -> list[Question]:
    """Return the questions of a session with all answers that are graded."""
    course, truth = classroom.course, source.load(classroom.course, assignment)
    cells = truth.by_role("answer")
    found: dict[str, list[Answer]] = {str(cell.name): [] for cell in cells}
    questions = {name: answers.parted(truth, name, "")[0] for name in found}
    with classroom.gradebook() as gradebook:
        grades = gradebook.grades_of(assignment)
    for student, grade in grades.items():
        place = StudentWork(course, assignment, student).autograded
        if not place.is_file():
            continue
        written = {cell.grade_id: cell.source for cell in answers.cells(place.read_bytes())}
        readings = answers.load(course, assignment, student)
        for name in found:
            _, text = answers.parted(truth, name, written.get(name, ""))
            score = grade.scores[name]
            found[name].append(Answer(
                student=student,
                label=pseudonym(classroom, assignment, student) if anonymous else student,
                version=version(text),
                text=text,
                points=score.points,
                by_person=score.by_person,
                ticked=answers.items_of(readings, name, score),
                comment=grade.comment(name),
            ))
    return [
        Question(
            assignment=assignment,
            name=str(cell.name),
            points=cell.points,
            text=effort.without_minutes(questions[str(cell.name)]),
            rubric=rubric.parse(cell.hidden, cell.points),
            answers=tuple(sorted(found[str(cell.name)], key=lambda one: pseudonym(classroom, assignment, one.student))),
        )
        for cell in cells
    ]


def pseudonym(classroom: Classroom, assignment: str, student: str) -> str:
    """Return what a student is called where no name is to be read; the course secret alone tells who it is."""
    text = f"reading {assignment} {student}".encode()
    return f"a-{hmac.new(classroom.store.secret(), text, hashlib.sha256).hexdigest()[:8]}"


def version(text: str) -> str:
    """Return a short name of what is written; with a letter first, so that no spreadsheet takes it for a number."""
    return f"v-{digests.of_texts([text])[:8]}"


def page_path(course: Course, assignment: str) -> Path:
    """Return where the page of a session lies."""
    return course.gradebook / "questions" / f"{assignment}.html"


def write(classroom: Classroom, assignment: str, questions: Sequence[Question]) -> Path:
    """Write the page of a session; return where it is."""
    path = page_path(classroom.course, assignment)
    write_whole(path, page(classroom, assignment, questions))
    return path


def page(classroom: Classroom, assignment: str, questions: Sequence[Question]) -> str:
    """Return the whole page."""
    course, script = classroom.course, (TEMPLATES / "questions.js").read_text(encoding="utf-8")
    figures = course.released / assignment
    return pages.environment().get_template("questions.html.j2").render(
        title=source.load(course, assignment).title,
        questions=questions,
        shown=lambda text: offline(text, figures),
        script=Markup(script),
        digest=base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii"),
        data=_data(classroom, assignment, questions),
    )


def _data(classroom: Classroom, assignment: str, questions: Sequence[Question]) -> dict[str, Any]:
    """Return what the script works with: each group of answers by the place of its element, ``question-group``."""
    kept = hmac.new(classroom.store.secret(), b"questions", hashlib.sha256).hexdigest()[:16]
    return {
        "assignment": assignment,
        "kept": f"questions {kept} {assignment}",  # where the browser keeps it, apart from other courses
        "answers": {
            f"{i}-{j}": {
                "question": question.name,
                "students": [{"student": escaping.line(one.label), "version": one.version} for one in group],
                "max": question.points,
                "items": [item.points for item in question.rubric.items],
                "before": {"points": group[0].points, "ticks": question.ticks(group[0]), "comment": group[0].comment},
            }
            for i, question in enumerate(questions, 1) for j, group in enumerate(question.groups, 1)
        },
    }


def ticked(items: Sequence[RubricItem], given: Sequence[bool]) -> tuple[Ticked, ...]:
    """Return the items of a rubric, each with whether it was given."""
    return tuple(Ticked(item, one) for item, one in zip(items, given, strict=True))
