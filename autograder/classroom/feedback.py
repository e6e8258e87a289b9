"""The feedback page of a student: one file with results, reasons, and answers still to be read."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from markupsafe import Markup

from ..judging.submission import SubmittedCell, readable_cells
from ..judging.verdict import ExerciseResult, Verdict
from ..model.source import Cell, Source, load_source
from ..publish import effort, notebooks
from . import assessments, pages
from .assessments import AssessedItem
from .finding_views import FindingView, Line, code_of, finding_views
from .grades import Grade, Score
from .markdown import rendered
from .student_work import StudentWork
from .summary import BLANK, NOT_GRADED, OUTCOMES, WAITING, Sign
from .verdict_store import VerdictStore

READ = Sign("read", "●", "read")


@dataclass(frozen=True)
class ExerciseView:
    """One exercise on the page."""

    number: int
    name: str
    score: Score
    outcome: Sign
    findings: tuple[FindingView, ...]
    right: tuple[tuple[str, str], ...]  # checks, and what each asks for
    checks: int
    code: tuple[Line, ...]
    section: Markup  # a link to the heading above it
    comment: str

    @property
    def shown(self) -> bool:
        """Whether the page has details of this exercise, and not only its outcome."""
        return self.outcome.kind not in ("passed", "missing", "ungraded") or bool(self.comment) or self.score.is_manual


@dataclass(frozen=True)
class AnswerView:
    """One written answer on the page."""

    number: int
    name: str
    score: Score
    outcome: Sign
    question: Markup
    answer: Markup | None  # None: blank
    items: tuple[AssessedItem, ...]  # of the rubric, as somebody ticked them
    comment: str
    model: Markup | None  # None: not for students

    @property
    def title(self) -> str:
        """The heading of the question."""
        return f"Question {self.number} · {self.name.replace('-', ' ')}"


@dataclass(frozen=True)
class CellView:
    """A cell of the whole notebook."""

    anchor: str
    code: str
    text: Markup


@dataclass(frozen=True)
class PageContents:
    """The values that the template shows."""

    title: str
    student: str
    grade: Grade
    graded: datetime | None
    verdict: Verdict | None
    exercises: list[ExerciseView]
    answers: list[AnswerView]
    notebook: list[CellView]

    @property
    def unread_points(self) -> float:
        """The points of answers that are still to be read."""
        return sum(answer.score.max_points for answer in self.answers if answer.score.points is None)

    @property
    def is_graded(self) -> bool:
        """Whether the submission could be graded."""
        return self.verdict is not None and not self.verdict.ungraded_reason


def render(work: StudentWork, grade: Grade, model_answers: bool = False) -> str:
    """Return the whole page of one submission."""
    page = page_of(work, grade, model_answers)
    return pages.render("feedback.html.j2", page=page)


def page_of(work: StudentWork, grade: Grade, model_answers: bool = False) -> PageContents:
    """Return the contents of the page of a submission."""
    source, store = load_source(work.course, work.session), VerdictStore(work.course)
    entry, cells = store.load(work.session, work.student), readable_cells(work.autograded_bytes)
    sections, texts = _sections(source), {cell.grade_id: cell.source for cell in cells if cell.grade_id}
    judged = entry.verdict.exercises if entry and not entry.verdict.ungraded_reason else ()
    results = {result.exercise: result for result in judged}
    figures, kept = source.released, store.path(work.session, work.student)
    assessed = assessments.load(work.course, work.session, work.student)

    def exercise(number: int, name: str) -> ExerciseView:
        result = results.get(name) or ExerciseResult(name, 0.0, source.points(name), "missing", ())
        text = texts.get(name, "")
        return ExerciseView(
            number=number,
            name=name,
            score=grade.exercise_scores.get(name, Score(result.points, result.max_points)),
            outcome=OUTCOMES[result.outcome] if name in results else NOT_GRADED,
            findings=finding_views(result, text),
            right=tuple((check.check, check.description) for check in result.checks if check.passed),
            checks=len(result.checks),
            code=code_of(result, text, notebooks.released_text(source, name)),
            section=sections[name],
            comment=grade.comment(name),
        )

    def answer(number: int, cell: Cell) -> AnswerView:
        name = cell.name
        score = grade.scores.get(name, Score(None, cell.points))
        question, text = assessments.split_question(source, name, texts.get(name, ""))
        outcome = WAITING if score.points is None else READ if text or score.is_manual else BLANK
        return AnswerView(
            number=number,
            name=name,
            score=score,
            outcome=NOT_GRADED if outcome is BLANK and entry and entry.verdict.ungraded_reason else outcome,
            question=rendered(effort.without_minutes(question), figures),
            answer=rendered(text, figures) if text else None,
            items=assessments.items_of(assessed, name, score),
            comment=grade.comment(name),
            model=rendered(cell.hidden, figures) if model_answers else None,
        )

    return PageContents(
        title=source.title,
        student=work.student,
        grade=grade,
        graded=datetime.fromtimestamp(kept.stat().st_mtime, UTC) if entry else None,
        verdict=entry.verdict if entry else None,
        exercises=[exercise(i, name) for i, name in enumerate(source.exercises, 1)],
        answers=[answer(i, cell) for i, cell in enumerate(source.by_role("answer"), 1)],
        # without the grader's notes, which the page shows elsewhere
        notebook=[_shown(cell, i, figures) for i, cell in enumerate(
            cell for cell in cells if cell.grade_id != "grader-notes")],
    )


def _sections(source: Source) -> dict[str, Markup]:
    """Return a link to the heading above each exercise."""
    link = Markup('<a href="#cell-{}">{}</a>')
    return {cell.name: link.format(id_of_heading or "text-1", heading or source.title)
            for cell, heading, id_of_heading in source.headings() if cell.role == "exercise"}


def _shown(cell: SubmittedCell, number: int, figures: Path) -> CellView:
    """Render a cell of the whole notebook; its headings are below those of the page."""
    anchor = f"cell-{cell.grade_id}" if cell.grade_id and re.fullmatch(r"[\w-]+", cell.grade_id) else f"cell-{number}"
    if cell.type != "markdown":
        return CellView(anchor, cell.source, Markup())
    page = rendered(cell.source, figures)
    return CellView(anchor, "", Markup(re.sub(
        r"<(/?)h([1-6])>", lambda tag: f"<{tag[1]}h{min(6, int(tag[2]) + 2)}>", page)))
