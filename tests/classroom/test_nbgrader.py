"""The adapter to nbgrader: each patch keeps a promise that stock nbgrader breaks, and the gradebook is read right.

`make nbgrader` runs this with the oldest and the newest nbgrader that we allow.
"""

import os
import shutil
import sqlite3
from datetime import datetime
from pathlib import Path
from subprocess import CompletedProcess

import nbformat
import pytest
from nbgrader import preprocessors
from nbgrader.converters import Autograde, GenerateAssignment, GenerateFeedback
from nbgrader.converters.base import NbGraderException
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange import ExchangeError, ExchangeFactory
from nbgrader.plugins import BasePlugin
from sqlalchemy.sql.compiler import SQLCompiler
from traitlets.config import Config

import graded
from autograder import AutograderError
from autograder.classroom import demo
from autograder.classroom.nbgrader import patches
from autograder.classroom.nbgrader.config import CONFIG
from autograder.classroom.nbgrader.feedback_pages import update_pages
from autograder.classroom.nbgrader.gradebook import Gradebook, GradebookError
from autograder.classroom.nbgrader.term import Term
from autograder.classroom.samples import classroom_in, hand_in
from autograder.classroom.student_work import StudentWork
from autograder.classroom.submitted import SubmittedFile
from autograder.classroom.verdict_store import VerdictStore
from autograder.model.source import load_source
from autograder.publish import notebooks
from conftest import REPOSITORY, TINY, TINY_COURSE


@pytest.fixture(params=[True, False], ids=["ours", "stock"])
def ours(request):
    return request.param


@pytest.fixture
def course(tmp_path):
    """A course with an exchange of its own."""
    made = classroom_in(tmp_path / "course", TINY_COURSE, [TINY])
    (tmp_path / "exchange").mkdir()
    with open(made.root / "nbgrader_config.py", "a") as file:
        file.write(f"c.Exchange.root = {str(tmp_path / 'exchange')!r}\n")
    return made


@pytest.fixture
def filled(course, right):
    """Where somebody has worked in the release folder of that course."""
    path = course.released / TINY / f"{TINY}.ipynb"
    path.parent.mkdir(parents=True)
    nbformat.write(notebooks.filled(TINY_COURSE, TINY, right), path)
    return path


def as_it_comes(monkeypatch, name, of=None):
    """Take one of our patches away again."""
    ((owner, name, _),) = [patch for patch in patches.PATCHES if patch[1] == name and of in (patch[0], None)]
    monkeypatch.setattr(owner, name, getattr(owner, name).stock)


def nbgrader(term, plugin, student=".", **settings):
    """Do what one of nbgrader's commands does on the TP, as it is configured in the course."""
    config = term.config
    directory = CourseDirectory(config=config, assignment_id=TINY, student_id=student)
    plugin(coursedir=directory, config=config, **settings).start()


def test_a_submission_opens_no_file_of_the_grader(course, ours, right, monkeypatch, tmp_path):
    term, secret = Term(course), tmp_path / "secret"
    secret.write_text("of the grader")
    term.register(TINY)
    path = hand_in(course, "ada", TINY, notebooks.filled(TINY_COURSE, TINY, right))
    path.with_name("data.txt").symlink_to(secret)
    if ours:  # a pipe without a writer would hold the stock one for ever
        os.mkfifo(path.with_name("pipe.txt"))
    else:
        as_it_comes(monkeypatch, "init_assignment")
    graded.enter(term, "ada", right, graded.verdict())
    assert (course.gradebook / "autograded" / "ada" / TINY / "data.txt").exists() == (not ours)


def test_work_in_the_release_folder_is_not_written_over(course, filled, ours, monkeypatch):
    before, term = filled.read_bytes(), Term(course)
    if ours:
        with pytest.raises(NbGraderException, match="filled in or run since the release"):
            nbgrader(term, GenerateAssignment, force=True)
    else:
        as_it_comes(monkeypatch, "init_notebooks")
        nbgrader(term, GenerateAssignment, force=True)
    assert (filled.read_bytes() == before) == ours


def test_work_in_the_release_folder_is_not_handed_out(course, filled, ours, monkeypatch, tmp_path):
    term = Term(course)
    plugin = ExchangeFactory(config=term.config).ReleaseAssignment
    if ours:
        with pytest.raises(ExchangeError, match="filled in or run since the release"):
            nbgrader(term, plugin)
    else:
        as_it_comes(monkeypatch, "start")
        nbgrader(term, plugin)
    assert (not list((tmp_path / "exchange").rglob("*.ipynb"))) == ours


def test_no_page_keeps_an_old_grade(term, ours, monkeypatch):
    update_pages(term, TINY)
    with term.gradebook() as gradebook:
        gradebook.set_manual_score(TINY, "ada", "why", 0.37, "Nearly.")
        gradebook.commit()
    if not ours:
        as_it_comes(monkeypatch, "init_destination", GenerateFeedback)
    nbgrader(term, GenerateFeedback, "*")
    assert ("0.37" in StudentWork(term.course, TINY, "ada").feedback.read_text()) == ours


def test_points_given_by_hand_are_flagged_only_for_another_text(term, ours, monkeypatch, short_judge):
    monkeypatch.setattr("autograder.judging.judge_process.judge_of_thread", lambda *args: short_judge)
    with term.gradebook() as gradebook:
        gradebook.set_manual_score(TINY, "ada", "why", 1, "Nearly.")
        gradebook.commit()
    if not ours:
        as_it_comes(monkeypatch, "init_destination", Autograde)
    nbgrader(term, Autograde, "ada", force=True)
    assert (term.grades_of(TINY, "ada")["ada"].scores["why"].points == 1) == ours


def test_what_is_compiled_for_a_gradebook_serves_whenever_it_is_opened_again(tmp_path, course, ours, monkeypatch):
    Term(course)  # configures nbgrader for this process
    if not ours:
        as_it_comes(monkeypatch, "create_engine")
    compiled, real = [], SQLCompiler.__init__
    monkeypatch.setattr(SQLCompiler, "__init__", lambda self, *args, **kwargs: compiled.append(self)
                        or real(self, *args, **kwargs))
    for name in ("one", "two"):
        compiled.clear()
        with Gradebook(f"sqlite:///{tmp_path}/gradebook.db", "course") as gradebook:
            gradebook.stock.update_or_create_student(name)
            assert name in [student.id for student in gradebook.stock.students]
    assert (not compiled) == ours, compiled


def test_patching_twice_changes_nothing():
    before = [getattr(owner, name) for owner, name, _ in patches.PATCHES]
    patches.apply()
    assert [getattr(owner, name) for owner, name, _ in patches.PATCHES] == before


def test_the_gradebook_says_what_nbgrader_says(term):
    with term.gradebook() as gradebook:
        gradebook.set_manual_score(TINY, "bob", "why", 1.25, "")
        gradebook.stock.find_submission_notebook(TINY, TINY, "bob").late_submission_penalty = 0.5
        gradebook.commit()
        found, stock = gradebook.grades_of(TINY), gradebook.stock.submission_dicts(TINY)
        assert found.keys() == {one["student"] for one in stock} == {"ada", "bob", "eve", "tom"}
        for one in stock:
            grade = found[one["student"]]
            assert (grade.automatic, grade.written) == (one["code_score"], one["written_score"])
            assert grade.needs_manual_grade == bool(one["needs_manual_grade"])
        assert found["bob"].penalty == 0.5 and found["bob"].scores["why"].is_manual
        assert gradebook.grades_of(TINY, "bob") == {"bob": found["bob"]} and gradebook.grades_of(TINY, "zed") == {}
        everything = gradebook.grades([TINY])
        assert everything.by_submission == {(student, TINY): grade for student, grade in found.items()}
        assert everything.max_points == {TINY: sum((gradebook.max_points(TINY) or {}).values())}
        assert gradebook.max_points("tp9_nothing") is None and gradebook.grades([]).by_submission == {}


def edit(course, **changes):
    """Change the source of the session: a text → another one."""
    path = course.folder(TINY) / f"{TINY}.py"
    text = path.read_text(encoding="utf-8")
    for old, new in changes.values():
        assert old in text
        text = text.replace(old, new)
    path.write_text(text, encoding="utf-8")


QUESTION = ('# %% [markdown] answer="why" points=2',
            '# %% [markdown] answer="how" points=3\n# How?\n#\n# ### BEGIN SOLUTION'
            '\n# So. **Rubric.** 3 points: so.\n# ### END SOLUTION\n\n# %% [markdown] answer="why" points=2')


def test_cells_of_a_session_with_submissions_are_added_renamed_and_removed_and_points_by_hand_stay(term):
    with term.gradebook() as gradebook:
        gradebook.set_manual_score(TINY, "bob", "why", 1.25, "Nearly.")
        gradebook.commit()
    edit(term.course, added=QUESTION, exercise=('exercise="last"', 'exercise="final"'),
         check=('check="last" points=2', 'check="final" points=1'), call=('check("last")', 'check("final")'))
    term.register(TINY)
    with term.gradebook() as gradebook:
        points = {"check-double": 2, "check-encoder": 4, "check-final": 1, "how": 3, "why": 2}
        assert gradebook.max_points(TINY) == points
        grades = gradebook.grades_of(TINY)
        assert all(grade.scores.keys() == points.keys() for grade in grades.values())
        assert grades["bob"].scores["why"].points == 1.25 and grades["bob"].comment("why") == "Nearly."
        gradebook.set_manual_score(TINY, "ada", "how", 2, "So.")
        gradebook.commit()
    edit(term.course, removed=QUESTION[::-1], exercise=('exercise="final"', 'exercise="last"'),
         check=('check="final" points=1', 'check="last" points=2'), call=('check("final")', 'check("last")'))
    with pytest.raises(GradebookError, match="no how now, where the gradebook has answers to be read, or points"):
        term.register(TINY)
    with term.gradebook() as gradebook:
        assert gradebook.max_points(TINY) == points and gradebook.grades_of(TINY)["ada"].scores["how"].points == 2
        gradebook.set_manual_score(TINY, "ada", "how", None, "")
        gradebook.commit()
    with pytest.raises(GradebookError, match="answers to be read.* of 1 student"):
        term.register(TINY)
    with term.gradebook() as gradebook:
        gradebook.stock.find_grade("how", TINY, TINY, "ada").needs_manual_grade = False
        gradebook.commit()
    term.register(TINY)
    graded.enter(term, "ada", {}, graded.verdict())
    with term.gradebook() as gradebook:
        assert gradebook.grades_of(TINY)["ada"].automatic == 8 and "how" not in gradebook.grades_of(TINY)["bob"].scores


def test_plain_nbgrader_judges_again_on_the_same_instance_and_enters_the_verdict_that_is_kept(
        term, short_judge, monkeypatch):
    """The checks have changed since: the key of the first verdict has no digest of theirs."""
    monkeypatch.setattr("autograder.judging.judge_process.judge_of_thread", lambda *args: short_judge)
    first = term.store.load(TINY, "ada")
    nbgrader(term, Autograde, "ada", force=True)
    again = term.store.load(TINY, "ada")
    assert again.key != first.key and again.verdict.seed == first.verdict.seed
    monkeypatch.setattr("autograder.judging.judge_process.judge_of_thread", None)
    nbgrader(term, Autograde, "ada", force=True)
    with term.gradebook() as gradebook:
        assert gradebook.grades_of(TINY, "ada")["ada"].automatic == 8


def test_both_ways_to_enter_a_verdict_leave_the_same_rows_and_files(term, monkeypatch):
    """`autograder grade` and `nbgrader autograde`: late work, a figure, points by hand, a file that is no notebook."""
    monkeypatch.setattr(VerdictStore, "current", lambda self, handed, _: self.load(handed.session, handed.student))
    term.config.LateSubmissionPlugin.penalty_method = "zero"
    figures = term.course.folder(TINY) / "figures"
    figures.mkdir()
    (figures / "of-the-session.png").touch()
    files = {file.student: file for file in term.submitted([TINY])}
    files["bob"].path.with_name("timestamp.txt").write_text("2026-11-23 08:00:00 UTC")
    with term.gradebook() as gradebook:
        gradebook.set_due(TINY, datetime(2026, 11, 22))
        gradebook.set_manual_score(TINY, "bob", "check-double", 0.5, "Nearly.")
        gradebook.commit()
    for file in files.values():
        term.enter(file, term.store.load(TINY, file.student))
    database, autograded = term.course.gradebook / "gradebook.db", term.course.gradebook / "autograded"
    left = rows_of(database), files_of(autograded)
    assert {student: grade.penalty for student, grade in term.grades_of(TINY).items()} == {
        "ada": 0, "bob": pytest.approx(0.5 + 4 / 3, rel=1e-4), "eve": 0, "tom": 0}
    assert ("bob/tp0_tiny/figures/of-the-session.png" in left[1]) and {mode for mode, _ in left[1].values()} == {0o444}

    shutil.rmtree(autograded / "bob" / TINY / "figures")
    with sqlite3.connect(database) as connection:
        connection.executescript("UPDATE grade SET auto_score = 99; UPDATE comment SET auto_comment = 'other';"
                                 "UPDATE submitted_notebook SET late_submission_penalty = 9;"
                                 "UPDATE submitted_assignment SET timestamp = NULL")
    for student in files:
        nbgrader(term, Autograde, student, force=True)
    assert (rows_of(database), files_of(autograded)) == left


def rows_of(database):
    """The rows of all tables of a database."""
    with sqlite3.connect(database) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {table: sorted(map(repr, connection.execute(f"SELECT * FROM {table}"))) for table in tables}


def files_of(folder):
    """The permissions and the bytes of all files in a folder."""
    return {str(path.relative_to(folder)): (path.stat().st_mode & 0o777, path.read_bytes())
            for path in folder.rglob("*") if path.is_file()}


def test_a_verdict_that_cannot_be_entered_again_leaves_the_graded_notebook_and_counts_as_not_entered(
        term, monkeypatch):
    (file,) = (file for file in term.submitted([TINY]) if file.student == "bob")
    work = StudentWork(term.course, TINY, "bob")
    entry, graded = term.store.load(TINY, "bob"), work.autograded_bytes
    monkeypatch.setattr(Gradebook, "save_verdict", lambda *_: (_ for _ in ()).throw(OSError("no space")))
    with pytest.raises(OSError, match="no space"):
        term.enter(file, entry)
    assert entry.entered and not term.store.load(TINY, "bob").entered and work.autograded_bytes == graded


def test_beside_a_graded_notebook_lies_only_what_belongs_there(term):
    """A folder that another nbgrader filled, or that shows a figure which the source has no more."""
    (file,) = (file for file in term.submitted([TINY]) if file.student == "bob")
    folder = StudentWork(term.course, TINY, "bob").autograded.parent
    before = files_of(folder)
    (folder / "figures").mkdir()
    (folder / "figures" / "old.png").touch()
    (folder / "page.html").write_text("<script>")
    (folder / "course").symlink_to(term.course.root)
    term.enter(file, term.store.load(TINY, "bob"))
    assert files_of(folder) == before and {path.name for path in folder.iterdir()} == before.keys()
    assert term.course.script(TINY).is_file()


class Extensions(BasePlugin):
    """Forgives all lateness to those in a file of the course."""

    def late_submission_penalty(self, student_id, score, total_seconds_late):
        """The points to take away."""
        return 0.0 if student_id in Path("extensions.csv").read_text() else score


def test_a_plugin_for_late_work_runs_in_the_folder_of_the_course(term, monkeypatch, tmp_path):
    (file,) = (file for file in term.submitted([TINY]) if file.student == "bob")
    file.path.with_name("timestamp.txt").write_text("2026-11-23 08:00:00 UTC")
    term.config.AssignLatePenalties.plugin_class = Extensions
    with term.gradebook() as gradebook:
        gradebook.set_due(TINY, datetime(2026, 11, 22))
    monkeypatch.chdir(tmp_path)
    for names, penalty in (("ada", pytest.approx(4 / 3, rel=1e-4)), ("ada, bob", 0)):
        (term.course.root / "extensions.csv").write_text(names)
        term.enter(file, term.store.load(TINY, "bob"))
        assert term.grades_of(TINY)["bob"].penalty == penalty


def test_points_for_another_text_are_flagged_however_often_it_is_entered_and_however_it_is_called(term):
    """nbgrader drops the flags of a submission without a file of the session's name."""
    (file,) = (file for file in term.submitted([TINY]) if file.student == "bob")
    with term.gradebook() as gradebook:
        gradebook.set_manual_score(TINY, "bob", "check-double", 0.5, "Nearly.")
        gradebook.commit()
    file.path.write_text(file.path.read_text().replace("x * x", "x ** 2"))
    other = SubmittedFile("bob", TINY, file.path.rename(file.path.with_name("mine.ipynb")))
    for _ in range(3):
        term.enter(other, term.store.load(TINY, "bob"))
        with term.gradebook() as gradebook:
            assert gradebook.marked_texts(TINY, "bob") == {"double"}
    with term.gradebook() as gradebook:
        gradebook.set_manual_score(TINY, "bob", "check-double", 0.5, "Nearly.")
        gradebook.commit()
    term.enter(other, term.store.load(TINY, "bob"))
    with term.gradebook() as gradebook:
        assert gradebook.marked_texts(TINY, "bob") == gradebook.marked_texts(TINY, "nobody") == set()


@pytest.mark.parametrize("name", [TINY, *REPOSITORY.sessions])
def test_our_release_is_what_nbgrader_would_make(name):
    """The release is made without nbgrader, and `nbgrader generate_assignment` makes the same."""
    course = TINY_COURSE if name == TINY else REPOSITORY
    source = load_source(course, name)
    made, resources = notebooks.solution_notebook(source), {}
    for kind in (preprocessors.LockCells, preprocessors.ClearSolutions, preprocessors.ClearOutput,
                 preprocessors.ComputeChecksums, preprocessors.ClearHiddenTests, preprocessors.ComputeChecksums):
        made, resources = kind(config=Config(CONFIG)).preprocess(made, resources)
    assert nbformat.writes(notebooks.sealed(made)) == nbformat.writes(notebooks.released_notebook(source))


def test_a_demo_that_nbgrader_stops_is_an_error_of_ours(tiny, monkeypatch):
    monkeypatch.setattr(demo.subprocess, "run", lambda *_, **__: CompletedProcess([], 1, "", "Traceback\nit broke\n"))
    with pytest.raises(AutograderError, match="nbgrader generate_assignment failed: it broke$"):
        demo._nbgrader(tiny, "generate_assignment")
