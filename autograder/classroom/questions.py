"""Written answers of a class, question by question, and the entry of what a person gave for them."""

import hashlib
import hmac
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from .. import escaping
from ..judging.submission import readable_cells
from ..model import digests, rubric
from ..model.rubric import Rubric
from ..model.source import Source, load_source
from ..publish import effort
from . import assessments
from .assessments import AssessedItem, Assessment
from .grades import format_points
from .nbgrader.term import Term
from .student_work import StudentWork


@dataclass(frozen=True)
class Answer:
    """The answer of one student to a question, and its points and comment so far."""

    student: str
    pseudonym: str
    text: str
    points: float | None  # None: nobody has read it
    is_manual: bool
    items: tuple[AssessedItem, ...]  # empty when the points were given without them
    comment: str

    @property
    def digest(self) -> str:
        """A short digest of the text; it begins with a letter, so that no spreadsheet takes it for a number."""
        return f"v-{digests.of_texts([self.text])[:8]}"

    @property
    def is_blank(self) -> bool:
        """Whether there is nothing to read, and the points say so already."""
        return not self.text and self.points is not None and not self.is_manual


@dataclass(frozen=True)
class Question:
    """A question of a session, and all answers to it, ordered by pseudonym so that the order tells no student."""

    session: str
    name: str
    points: float
    text: str
    rubric: Rubric
    answers: tuple[Answer, ...] = ()

    def ticks(self, answer: Answer) -> list[bool]:
        """Return for each item of the present rubric whether an answer was given it."""
        given = {assessed.item for assessed in answer.items if assessed.given}
        return [item in given for item in self.rubric.items]

    def assessment(self, points: float, ticks: Sequence[bool]) -> Assessment:
        """Return these points with the rubric items behind them; without items if none is ticked."""
        items = tuple(AssessedItem(item, tick) for item, tick in zip(self.rubric.items, ticks, strict=True))
        return Assessment(points, items if any(ticks) else ())

    def digest(self, answer: Answer) -> str:
        """Return a digest of an answer and its assessment: another one as soon as either has changed."""
        return f"{answer.digest}.{self.assessment_digest(answer)}{'.by-hand' if answer.is_manual else ''}"

    def assessment_digest(self, answer: Answer) -> str:
        """Return the digest of the assessment of an answer."""
        return assessment_digest(points_cell(answer.points), self.ticks(answer), escaping.lines(answer.comment))

    @property
    def groups(self) -> list[tuple[Answer, ...]]:
        """The answers that are not blank, grouped by equal words and equal assessment; unread groups first."""
        groups: dict[str, list[Answer]] = {}
        for answer in self.answers:
            if not answer.is_blank:
                assessed = (answer.points, answer.comment, self.ticks(answer))
                groups.setdefault(repr((" ".join(answer.text.split()), assessed)), []).append(answer)
        return sorted(map(tuple, groups.values()), key=lambda group: (group[0].points is not None, -len(group)))

    @property
    def blank_answers(self) -> list[Answer]:
        """The blank answers."""
        return [answer for answer in self.answers if answer.is_blank]


@dataclass(frozen=True)
class AnswerEntry:
    """What a person enters for one answer: an assessment, or None if it is to be read again, and a comment."""

    question: Question
    answer: Answer
    assessment: Assessment | None
    comment: str


def questions_of(source: Source) -> list[Question]:
    """Return the questions of a session, without answers."""
    return [Question(source.name, cell.name, cell.points, effort.without_minutes(cell.without_solution().strip()),
                     rubric.parse(cell.hidden, cell.points)) for cell in source.by_role("answer")]


def answered_questions(term: Term, session: str) -> list[Question]:
    """Return the questions of a session with all answers that are graded; a file that cannot be read has none."""
    course, source = term.course, load_source(term.course, session)
    questions = questions_of(source)
    by_question: dict[str, list[Answer]] = {question.name: [] for question in questions}
    for student, grade in term.grades_of(session).items():
        notebook = StudentWork(course, session, student).autograded
        if not notebook.is_file():
            continue
        written = {cell.grade_id: cell.source for cell in readable_cells(notebook.read_bytes())}
        assessed = assessments.load(course, session, student)
        for name, collected in by_question.items():
            score = grade.scores.get(name)
            if score is None:  # the question was added after this submission was graded
                continue
            _, text = assessments.split_question(source, name, written.get(name, ""))
            answer = Answer(
                student=student,
                pseudonym=pseudonym(term, session, student),
                text=text,
                points=score.points,
                is_manual=score.is_manual,
                items=assessments.items_of(assessed, name, score),
                comment=grade.comment(name),
            )
            entry = term.store.load(session, student) if answer.is_blank else None
            if not (entry and entry.verdict.ungraded_reason):
                collected.append(answer)
    return [replace(question, answers=tuple(sorted(by_question[question.name], key=lambda answer: answer.pseudonym)))
            for question in questions]


def save_entries(term: Term, entries: Iterable[AnswerEntry]) -> None:
    """Write all entries into the gradebook, and the rubric items beside it; the caller holds the store's lock."""
    entries = list(entries)
    with term.gradebook() as gradebook:
        for entry in entries:
            points = entry.assessment.points if entry.assessment else None
            gradebook.set_manual_score(entry.question.session, entry.answer.student, entry.question.name, points,
                                       entry.comment)
        gradebook.commit()
    for entry in entries:  # after the points: items without their points would explain nothing
        submission = term.course, entry.question.session, entry.answer.student
        assessed = assessments.load(*submission)
        assessed.pop(entry.question.name, None)
        if entry.assessment:
            assessed[entry.question.name] = entry.assessment
        assessments.save(*submission, assessed)


def pseudonym(term: Term, session: str, student: str) -> str:
    """Return the name of a student where names are hidden; only the course secret links it to the student."""
    text = f"reading {session} {student}".encode()
    return f"a-{hmac.new(term.store.secret(), text, hashlib.sha256).hexdigest()[:8]}"


def points_cell(points: float | None) -> str:
    """Return points as a spreadsheet has them; an empty text where nobody has given any."""
    return "" if points is None else format_points(points)


def assessment_digest(points: str, ticks: Sequence[bool], comment: str) -> str:
    """Return a short digest of an assessment, the same for its cells in a spreadsheet."""
    given = [str(i) for i, tick in enumerate(ticks) if tick]  # a file has as many items as its longest rubric
    return digests.of_texts([points, " ".join(given), comment.strip()])[:8]
