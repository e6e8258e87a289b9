"""nbgrader's gradebook, read and written in our own types."""

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import nbformat
from nbgrader import api, utils
from sqlalchemy.orm import joinedload, selectinload

from ... import AutograderError
from ...course import Course
from ...judging.verdict import Verdict
from ...model.source import CHECK_PREFIX, check_id
from ...publish.notebooks import grade_id
from ...runtime.text import counted
from ..grades import Grade, Grades, Score

OTHER_TEXT = "Handed in again: points and comment given by hand may be for an earlier text."


class GradebookError(AutograderError):
    """nbgrader cannot enter a session, or release a page; the message is one line."""


def course_of(coursedir: Any) -> Course:
    """Return the course in nbgrader's folder of one."""
    return Course(Path(coursedir.root))


class Gradebook:
    """An open gradebook; a context manager. ``stock`` is nbgrader's own object."""

    def __init__(self, db_url: str, course_id: str):
        self.stock: Any = api.Gradebook(db_url, course_id)

    def __enter__(self) -> "Gradebook":
        return self

    def __exit__(self, *_: object) -> None:
        self.stock.close()

    def max_points(self, session: str) -> dict[str, float] | None:
        """Return the points of each graded cell of a session; None where the session is not in the gradebook."""
        try:
            notebooks = self.stock.find_assignment(session).notebooks
        except api.MissingEntry:
            return None
        return {cell.name: cell.max_score for notebook in notebooks for cell in notebook.grade_cells}

    def set_cells(self, session: str, notebook: nbformat.NotebookNode) -> None:
        """Give a session the graded cells of its notebook, also where submissions are entered, which nbgrader refuses.

        A new session is entered without cells, which nbgrader then adds itself.
        Each submission gets a place for points and comments on a new cell. ``GradebookError``, and no change, where a
        cell that is gone has an answer to be read, or points or a comment of a person.
        """
        try:
            notebook_row = self.stock.find_notebook(session, session)
        except api.MissingEntry:
            self.stock.update_or_create_assignment(session)
            return
        kinds = ((api.GradeCell, notebook_row.grade_cells, utils.is_grade, api.Grade),
                 (api.SolutionCell, notebook_row.solution_cells, utils.is_solution, api.Comment),
                 (api.SourceCell, notebook_row.source_cells, _has_source, None))
        wanted = {kind: {cell.metadata.nbgrader.grade_id: cell for cell in notebook.cells if belongs(cell)}
                  for kind, _, belongs, _ in kinds}
        gone = [(cell, rows_of) for kind, cells, _, rows_of in kinds for cell in cells if cell.name not in wanted[kind]]
        rows = [row for cell, rows_of in gone if rows_of
                for row in self.stock.db.query(rows_of).filter(rows_of.cell_id == cell.id)]
        lost = {(row.notebook.student.id, row.cell.name) for row in rows if _would_be_lost(row)}
        if lost:
            names = ", ".join(sorted({name for _, name in lost}))
            students = counted(len({student for student, _ in lost}), "student")
            raise GradebookError(f"the session has no {names} now, where the gradebook has answers to be read, or "
                                 f"points or comments of a person, of {students}: name it so again, or read and "
                                 "remove these in formgrader; nothing is graded")
        for row in rows:
            self.stock.db.delete(row)
        self.stock.db.flush()
        for cell, _ in gone:
            self.stock.db.delete(cell)
        for kind, cells, _, rows_of in kinds:
            for name in wanted[kind].keys() - {cell.name for cell in cells}:
                self._add_cell(kind, name, wanted[kind][name], notebook_row, rows_of)
        self.commit()

    def _add_cell(self, kind: Any, name: str, cell: nbformat.NotebookNode, notebook_row: Any, rows_of: Any) -> None:
        values = {"cell_type": cell.cell_type} if kind is not api.SolutionCell else {}
        if kind is api.GradeCell:
            values["max_score"] = float(cell.metadata.nbgrader.points)
        added = kind(name=name, notebook_id=notebook_row.id, **values)
        self.stock.db.add(added)
        self.stock.db.flush()
        if rows_of:
            flags = {"needs_manual_grade": False} if rows_of is api.Grade else {}  # until an answer is handed in
            self.stock.db.add_all(rows_of(cell_id=added.id, notebook_id=submission.id, **flags)
                                  for submission in notebook_row.submissions)

    def set_due(self, session: str, when: datetime) -> None:
        """Write when a session is due."""
        self.stock.update_or_create_assignment(session, duedate=when.replace(tzinfo=None))

    def grades(self, sessions: Iterable[str]) -> Grades:
        """Return the grades of everybody in these sessions."""
        known = {row.name: row.max_score for row in self.stock.assignments}
        names = sorted(known.keys() & set(sessions))
        students = sorted((row.id, row.last_name or "", row.first_name or "", row.email or "")
                          for row in self.stock.students)
        return Grades(
            students,
            {name: known[name] for name in names},
            {(student, name): grade for name in names for student, grade in self.grades_of(name).items()},
        )

    def grades_of(self, session: str, student: str | None = None) -> dict[str, Grade]:
        """Return the grade of each student who handed in a session, or of one student."""
        notebooks = selectinload(api.SubmittedAssignment.notebooks)
        query = self.stock.db.query(api.SubmittedAssignment).join(api.Assignment).options(
            joinedload(api.SubmittedAssignment.student),
            notebooks.selectinload(api.SubmittedNotebook.grades).joinedload(api.Grade.cell),
            notebooks.selectinload(api.SubmittedNotebook.comments).joinedload(api.Comment.cell),
        ).filter(api.Assignment.name == session)
        if student is not None:
            query = query.filter(api.SubmittedAssignment.student_id == student)
        return {row.student_id: _grade(row) for row in query.order_by(api.SubmittedAssignment.student_id)}

    def automatic_points(self, session: str) -> dict[str, dict[str, float | None]]:
        """Return the judge's points of each graded cell that the gradebook holds, by student."""
        query = self.stock.db.query(api.SubmittedAssignment.student_id, api.BaseCell.name, api.Grade.auto_score)
        rows = (query.join(api.Assignment).join(api.SubmittedNotebook).join(api.Grade).join(api.BaseCell)
                .filter(api.Assignment.name == session))
        points: dict[str, dict[str, float | None]] = {}
        for student, cell, score in rows:
            points.setdefault(student, {})[cell] = score
        return points

    def set_manual_score(self, session: str, student: str, cell: str, points: float | None, comment: str) -> None:
        """Write the points and the comment that a person gave for an answer or an exercise; `commit` keeps them.

        Without ``points``, an answer waits to be read, and for an exercise the judge's points count. ``cell`` is an
        answer or the check of an exercise, which has the points; the comment belongs to the student's cell above it.
        """
        grade = self.stock.find_grade(cell, session, session, student)
        grade.manual_score, grade.needs_manual_grade = points, points is None and grade.auto_score is None
        row = self.stock.find_comment(cell.removeprefix(CHECK_PREFIX), session, session, student)
        row.manual_comment = comment or None
        if row.auto_comment == OTHER_TEXT:  # a person has looked
            row.auto_comment = None

    def commit(self) -> None:
        """Commit all changes to the database."""
        self.stock.db.commit()

    def save_verdict(self, notebook: nbformat.NotebookNode, verdict: Verdict, student: str) -> None:
        """Write a verdict: automatic scores of check cells, and which answers a person has to read.

        Points that a person gave wait for a look only where `mark_other_texts` says so; nbgrader would flag them all.
        """
        scores = {check_id(result.exercise): result.points for result in verdict.exercises}
        notebook_row = self.stock.find_submission_notebook(verdict.session, verdict.session, student)
        grades = self._by_cell(api.Grade, notebook_row, notebook_row.notebook.grade_cells)
        comments = self._by_cell(api.Comment, notebook_row, notebook_row.notebook.solution_cells)
        marked = _marked(comments)
        for cell in notebook.cells:
            name = str(grade_id(cell))
            if utils.is_solution(cell):
                unchanged = cell.metadata.nbgrader.checksum == utils.compute_checksum(cell)
                comments[name].auto_comment = "No response." if unchanged else None
            if utils.is_grade(cell):
                grade, text = grades[name], name.removeprefix(CHECK_PREFIX)
                grade.auto_score = scores[name] if name in scores else utils.determine_grade(cell)[0]
                waits = grade.needs_manual_grade and text in marked
                grade.needs_manual_grade = waits if grade.manual_score is not None else grade.auto_score is None
                if grade.manual_score is not None and waits:
                    comments[text].auto_comment = OTHER_TEXT  # until a person has looked
        self.commit()

    def marked_texts(self, session: str, student: str) -> set[str]:
        """Return the answers and exercises that `mark_other_texts` has marked, and nobody has looked at since."""
        try:
            notebook_row = self.stock.find_submission_notebook(session, session, student)
        except api.MissingEntry:
            return set()
        marked = _marked(self._by_cell(api.Comment, notebook_row, notebook_row.notebook.solution_cells))
        grades = self._by_cell(api.Grade, notebook_row, notebook_row.notebook.grade_cells)
        waiting = {cell.removeprefix(CHECK_PREFIX) for cell, grade in grades.items() if grade.needs_manual_grade}
        return marked & waiting

    def mark_other_texts(self, session: str, student: str, names: Collection[str]) -> None:
        """Have a person look again at points given by hand for these answers and exercises, which have another text."""
        notebook_row = self.stock.find_submission_notebook(session, session, student)
        comments = self._by_cell(api.Comment, notebook_row, notebook_row.notebook.solution_cells)
        for cell, grade in self._by_cell(api.Grade, notebook_row, notebook_row.notebook.grade_cells).items():
            name = cell.removeprefix(CHECK_PREFIX)
            if grade.manual_score is not None and name in names:
                grade.needs_manual_grade, comments[name].auto_comment = True, OTHER_TEXT
        self.commit()

    def _by_cell(self, kind: Any, notebook_row: Any, cells: list[Any]) -> dict[str, Any]:
        """Return the grades or comments of a student's notebook by name of their cell.

        The query uses both keys, which have an index; nbgrader's own query by names reads those of the whole class.
        """
        names = {cell.id: cell.name for cell in cells}
        rows = self.stock.db.query(kind).filter(kind.notebook_id == notebook_row.id, kind.cell_id.in_(names))
        return {names[row.cell_id]: row for row in rows}


def _marked(comments: Mapping[str, Any]) -> set[str]:
    """Return the names of the cells whose comment says that their text is another one."""
    return {name for name, row in comments.items() if row.auto_comment == OTHER_TEXT}


def _has_source(cell: nbformat.NotebookNode) -> bool:
    """Return whether nbgrader keeps the source of a cell."""
    return bool(utils.is_grade(cell) or utils.is_solution(cell) or utils.is_locked(cell))


def _would_be_lost(row: Any) -> bool:
    """Return whether a row stands for an answer to be read, or holds points or a comment that a person gave."""
    if isinstance(row, api.Grade):
        return row.needs_manual_grade or row.manual_score is not None or bool(row.extra_credit)
    return bool(row.manual_comment)


def _grade(submission: Any) -> Grade:
    scores: dict[str, Score] = {}
    comments: dict[str, str] = {}
    needs_manual_grade = False
    for notebook in submission.notebooks:
        marked = {row.cell.name for row in notebook.comments if row.auto_comment == OTHER_TEXT}
        comments |= {row.cell.name: row.manual_comment for row in notebook.comments if row.manual_comment}
        for grade in notebook.grades:
            name = grade.cell.name
            is_manual = grade.manual_score is not None
            judged = is_manual or grade.auto_score is not None
            if grade.needs_manual_grade and name in marked:  # an answer; of an exercise, points given by hand count
                judged = is_manual = False
                comments.pop(name, None)
            scores[name] = Score(float(grade.score) if judged else None, float(grade.cell.max_score), is_manual)
            needs_manual_grade |= not judged or (grade.needs_manual_grade and name.removeprefix(CHECK_PREFIX) in marked)
    late = submission.total_seconds_late if submission.assignment.duedate else None
    return Grade(
        scores,
        comments,
        penalty=float(sum(notebook.late_submission_penalty or 0.0 for notebook in submission.notebooks)),
        seconds_late=None if late is None else float(late),
        handed_in=submission.timestamp,
        name=" ".join(filter(None, [submission.student.first_name, submission.student.last_name])),
        needs_manual_grade=needs_manual_grade,
    )
