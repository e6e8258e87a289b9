"""A class: graded side by side or one by one, resumed, regraded; entered into nbgrader's gradebook with its reasons."""

import errno
import functools
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import nbformat
import psutil
import pytest
from nbconvert.exporters import HTMLExporter
from nbgrader.converters import GenerateFeedback
from nbgrader.coursedir import CourseDirectory
from nbgrader.server_extensions.formgrader import handlers as formgrader

from autograder.classroom import grading
from autograder.classroom.grading import grade_class
from autograder.classroom.nbgrader.gradebook import GradebookError
from autograder.classroom.nbgrader.term import Term
from autograder.classroom.samples import classroom_in, hand_in
from autograder.classroom.verdict_store import VerdictStore
from autograder.commands import classroom as commands
from autograder.judging import judge_process, seeds, submission
from autograder.judging.judge import Judge
from autograder.judging.judge_process import JudgeProcess
from autograder.model import digests
from autograder.model.oracle import load_oracle
from autograder.model.source import load_source
from autograder.publish import notebooks
from autograder.publish.notebooks import filled
from autograder.sandbox.options import Options
from conftest import SHORT, TINY, TINY_COURSE, automatic_points, handed
from shell import typed

OPTIONS = Options(limits=SHORT)
FULL = automatic_points(TINY_COURSE, TINY)
LESS = FULL - load_source(TINY_COURSE, TINY).points("double")  # with `double` wrong
SCORES = {"ada": FULL, "bob": LESS, "eve": 0, "tom": 0}


class JudgingNever(Executor):
    """Takes every submission, and judges none."""

    def submit(self, *call):
        return Future()


class JudgingNothing(Executor):
    """Fails to judge each submission, at once."""

    def submit(self, *call):
        future = Future()
        future.set_exception(OSError("no judge here"))
        return future


@pytest.fixture
def course(tiny, tmp_path):
    """A course root of the tiny session, in which nothing is handed in."""
    return classroom_in(tmp_path / "course", tiny, [TINY])


def submit(course, student, cells, *own):
    """Hand in a notebook of the tiny session with these cells filled."""
    return hand_in(course, student, TINY, filled(TINY_COURSE, TINY, cells, own))


@pytest.fixture
def term(course, right):
    """A course in which four have handed in: all right, `double` squared, nothing, half a file."""
    oracle = load_oracle(TINY_COURSE, TINY)
    submit(course, "ada", right)
    submit(course, "bob", {**right, "double": oracle.text_of(oracle.faults_of("double")[0])})
    submit(course, "eve", {})
    hand_in(course, "tom", TINY, "{ cut off")
    return course


@pytest.fixture
def judged(monkeypatch):
    """The students whose submissions have been judged since, in order."""
    names, real = [], Judge.judge

    def judge(self, handed, seed, _=None):
        names.append(handed.student)
        return real(self, handed, seed)

    monkeypatch.setattr(Judge, "judge", judge)
    return names


def scores(course, session=TINY):
    """Student → score in the gradebook."""
    with Term(course).gradebook() as gradebook:
        return {one.student.id: one.score for one in gradebook.stock.assignment_submissions(session)}


def scores_of(graded):
    return {student: one.verdict.points for student, one in graded.items()}


def problems_of(graded):
    return {student: one.problem for student, one in graded.items() if one.problem}


def shown(course, student):
    """Where the notebook lies that formgrader shows."""
    return course.gradebook / "autograded" / student / TINY / f"{TINY}.ipynb"


def test_scores_reasons_and_notebooks(term, grade_here):
    assert scores_of(grade_here(term)) == SCORES
    assert scores(term) == SCORES
    cells = nbformat.read(shown(term, "bob"), 4).cells
    reasons = {cell.metadata.nbgrader.grade_id: cell.outputs[0].text for cell in cells if cell.get("outputs")}
    assert "You square the input" in reasons["check-double"] and "✓" in reasons["check-encoder"]
    assert "cut off" in nbformat.read(shown(term, "tom"), 4).cells[0].source


def test_a_second_run_judges_only_what_changed(term, grade_here, right, judged):
    grade_here(term)
    judged.clear()
    assert not any(one.fresh for one in grade_here(term).values()) and judged == []
    submit(term, "eve", right)
    assert grade_here(term)["eve"].fresh and judged == ["eve"] and scores(term)["eve"] == FULL
    grade_here(term, force=True)
    assert sorted(judged) == ["ada", "bob", "eve", "eve", "tom"]


def test_another_time_beside_a_notebook_is_taken_over_and_judges_nothing(term, grade_here, judged):
    grade_here(term)
    judged.clear()
    folder = term.submitted / "bob" / TINY
    (folder / "timestamp.txt").write_text("2026-11-30 13:30:00 UTC")
    assert [file.student for file in Term(term).arrived(TINY)] == ["bob"]
    assert grade_here(term)["bob"].fresh and judged == [] and not Term(term).arrived(TINY)
    graded = term.gradebook / "autograded" / "bob" / TINY
    assert "13:30" in (graded / "timestamp.txt").read_text()
    with Term(term).gradebook() as gradebook:
        assert gradebook.grades_of(TINY)["bob"].handed_in.day == 30


def test_under_other_terms_everything_is_judged_again(term, grade_here, judged):
    grade_here(term)
    judged.clear()
    longer = Options(limits=replace(SHORT, exercise_cpu_seconds=2 * SHORT.exercise_cpu_seconds))
    assert all(one.fresh for one in grade_here(term, longer).values()) and sorted(judged) == sorted(SCORES)
    assert not any(one.fresh for one in grade_here(term, longer).values()) and len(judged) == len(SCORES)


def test_a_changed_check_has_everything_judged_again(term, grade_here, judged):
    grade_here(term)
    judged.clear()
    path = term.folder(TINY) / "checks.py"
    path.write_text(path.read_text(encoding="utf-8") + "\n# another\n", encoding="utf-8")
    assert all(one.fresh for one in grade_here(term).values()) and sorted(judged) == sorted(SCORES)


def test_a_changed_constant_of_a_helper_has_everything_judged_again(term, grade_here, judged):
    helper = term.released / "helper.py"
    helper.parent.mkdir(exist_ok=True)
    helper.write_text("FACTOR = 2\n")
    grade_here(term)
    judged.clear()
    assert not any(one.fresh for one in grade_here(term).values())
    helper.write_text("FACTOR = 3\n")
    assert all(one.fresh for one in grade_here(term).values()) and sorted(judged) == sorted(SCORES)


def test_a_changed_engine_has_everything_judged_again(term, grade_here, judged, monkeypatch):
    grade_here(term)
    judged.clear()
    monkeypatch.setattr(digests, "of_engine", lambda: "another")
    assert all(one.fresh for one in grade_here(term).values()) and sorted(judged) == sorted(SCORES)


def test_who_hands_in_again_meets_another_instance_and_the_same_file_the_same(term, grade_here, right):
    """One who hands in again in a later run, and one whose new file has the name and the length of the old one."""
    first = {student: one.verdict.seed for student, one in grade_here(term).items()}
    submit(term, "eve", right)
    path = submit(term, "ada", right)
    path.write_bytes(path.read_bytes().replace(b"2 * x", b"x * 2"))
    again = {student: one.verdict.seed for student, one in grade_here(term, force=True).items()}
    assert {student for student in first if again[student] == first[student]} == {"bob", "tom"}


@pytest.mark.parametrize("content", ["", '{"student": "ada", "score": 8}', "[]"])
def test_a_file_that_holds_no_verdict_is_made_anew(term, grade_here, judged, content):
    grade_here(term)
    judged.clear()
    path = VerdictStore(term).path(TINY, "ada")
    path.write_text(content, encoding="utf-8")
    graded = grade_here(term)
    assert scores_of(graded) == SCORES and not problems_of(graded) and judged == ["ada"]
    assert VerdictStore(term).load(TINY, "ada").verdict == graded["ada"].verdict


def test_manual_grades_and_comments_survive(term, grade_here, right):
    place = ("why", TINY, TINY, "ada")
    submit(term, "ada", {**right, "why": "Because it is so."})
    grade_here(term)
    with Term(term).gradebook() as gradebook:
        grade = gradebook.stock.find_grade(*place)
        assert grade.needs_manual_grade
        grade.manual_score = 1.5
        gradebook.stock.find_comment(*place).manual_comment = "Nearly."
        gradebook.stock.db.commit()
    grade_here(term, force=True)
    with Term(term).gradebook() as gradebook:
        assert gradebook.stock.find_grade(*place).manual_score == 1.5
        assert gradebook.stock.find_comment(*place).manual_comment == "Nearly."
        assert gradebook.stock.find_submission(TINY, "ada").score == FULL + 1.5


def test_points_in_the_place_of_the_judges_are_kept_and_flagged_only_for_other_code(term, grade_here, right):
    place = ("check-double", TINY, TINY, "bob")
    grade_here(term)
    with Term(term).gradebook() as gradebook:
        grade = gradebook.stock.find_grade(*place)
        assert (grade.auto_score, grade.needs_manual_grade) == (0, False)
        grade.manual_score = 1.5  # saved in formgrader, which takes the flag away
        gradebook.stock.db.commit()
    grade_here(term, force=True)
    with Term(term).gradebook() as gradebook:
        grade = gradebook.stock.find_grade(*place)
        assert (grade.auto_score, grade.manual_score, grade.needs_manual_grade) == (0, 1.5, False)
        assert not gradebook.grades_of(TINY)["bob"].needs_manual_grade
    submit(term, "bob", right)
    for _ in range(2):
        grade_here(term, force=True)
        with Term(term).gradebook() as gradebook:
            grade = gradebook.stock.find_grade(*place)
            assert (grade.auto_score, grade.manual_score, grade.needs_manual_grade) == (2, 1.5, True)
            bob = gradebook.grades_of(TINY)["bob"]
            assert bob.needs_manual_grade and bob.has_doubtful_points and bob.automatic == LESS + 1.5
    with Term(term).gradebook() as gradebook:
        assert not gradebook.stock.find_grade("check-encoder", TINY, TINY, "bob").needs_manual_grade


def test_graders_see_the_rubric_and_nobody_else_does(term, grade_here):
    grade_here(term)
    path, config = shown(term, "ada"), Term(term).config
    config.HTMLExporter.update(template_name="formgrade", extra_template_basedirs=[formgrader.template_path])
    page = dict(submission_id="1", assignment_id=TINY, notebook_id=TINY, index=0, total=1, student="ada",
                last_name="", first_name="", base_url="", notebook_path="")
    html, _ = HTMLExporter(config=config).from_filename(path, resources=page)
    assert html.count("Model answer and rubric") == 1 and html.count("<strong>Rubric.</strong> 1.5 points") == 1
    released = notebooks.released_notebook(load_source(TINY_COURSE, TINY))
    assert "Rubric" not in path.read_text() + nbformat.writes(released)
    config = Term(term).config
    directory = CourseDirectory(config=config, assignment_id=TINY, student_id="ada")
    GenerateFeedback(coursedir=directory, config=config).start()
    assert "Rubric" not in (term.gradebook / "feedback" / "ada" / TINY / f"{TINY}.html").read_text()


def test_a_verdict_that_was_not_entered_is_entered_without_judging_again(term, grade_here, monkeypatch):
    with monkeypatch.context() as full:
        full.setattr(Term, "enter", lambda *args: (_ for _ in ()).throw(OSError("No space left on device")))
        assert all("No space left" in one.problem for one in grade_here(term).values())
    monkeypatch.setattr(grading, "judge_one", None)
    assert scores_of(grade_here(term)) == SCORES
    assert scores(term) == SCORES


def test_kept_verdicts_are_entered_in_a_gradebook_that_is_new_or_lacks_a_student(term, grade_here, monkeypatch):
    grade_here(term)
    monkeypatch.setattr(grading, "judge_one", None)
    with Term(term).gradebook() as gradebook:
        gradebook.stock.remove_student("bob")
    assert problems_of(grade_here(term)) == {} and scores(term) == SCORES
    (term.gradebook / "gradebook.db").unlink()
    assert problems_of(grade_here(term)) == {} and scores(term) == SCORES


def test_a_kept_verdict_is_entered_in_a_gradebook_that_was_restored_from_an_earlier_copy(term, grade_here, right,
                                                                                         monkeypatch):
    grade_here(term)
    copy = (term.gradebook / "gradebook.db").read_bytes()
    submit(term, "eve", right)
    grade_here(term)
    (term.gradebook / "gradebook.db").write_bytes(copy)
    assert scores(term)["eve"] == 0
    monkeypatch.setattr(grading, "judge_one", None)
    assert problems_of(grade_here(term)) == {} and scores(term)["eve"] == FULL


def test_a_session_that_cannot_be_entered_is_one_line_and_stops_no_other(term, monkeypatch):
    other = "tp1_other"
    text = (term.folder(TINY) / f"{TINY}.py").read_text(encoding="utf-8").replace(TINY, other)
    term.folder(other).mkdir()
    (term.folder(other) / f"{other}.py").write_text(text, encoding="utf-8")
    (term.folder(other) / "checks.py").write_bytes((term.folder(TINY) / "checks.py").read_bytes())
    hand_in(term, "ada", other, filled(term, other, {}))
    real = Term.register
    monkeypatch.setattr(Term, "register", lambda self, name: real(self, name) if name == other
                        else (_ for _ in ()).throw(GradebookError("name it so again")))
    seen = []
    graded = grade_class(Term(term), [TINY, other], OPTIONS, JudgingNothing(),
                         each=lambda graded, done, total: seen.append((done, total)))
    assert [(one.file.session, one.file.student, one.problem) for one in graded] == [
        (TINY, "all students", "name it so again"), (other, "ada", "OSError: no judge here")]
    assert seen == [(1, 2), (2, 2)]


def test_a_fault_of_one_submission_stops_nobody(term, grade_here, monkeypatch):
    real = Judge.judge
    monkeypatch.setattr(Judge, "judge", lambda self, handed, seed, _:
                        1 / 0 if b"x * x" in handed.data else real(self, handed, seed))
    graded = grade_here(term)
    assert list(problems_of(graded)) == ["bob"] and "ZeroDivisionError" in graded["bob"].problem
    assert graded["ada"].verdict.points == FULL


def test_a_full_disk_is_one_line_for_each_and_the_next_run_goes_on(term, grade_here, monkeypatch):
    real = Path.write_bytes

    def write_bytes(path, data):
        if path.name.startswith(".bob.json"):
            real(path, data[:20])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(path, data)

    with monkeypatch.context() as full:
        full.setattr(Path, "write_bytes", write_bytes)
        problems = problems_of(grade_here(term))
    assert list(problems) == ["bob"] and "No space left on device" in problems["bob"] and "\n" not in problems["bob"]
    kept = (term.gradebook / "verdicts" / TINY).iterdir()
    assert {path.name for path in kept} == {"ada.json", "eve.json", "tom.json"}
    assert scores(term) == {"ada": FULL, "eve": 0, "tom": 0}
    assert scores_of(grade_here(term)) == scores(term) == SCORES


def test_a_locked_gradebook_is_one_line_for_each_and_nothing_is_judged_again(term, grade_here, monkeypatch):
    Term(term).register(TINY)
    monkeypatch.setattr(sqlite3.dbapi2, "connect", functools.partial(sqlite3.connect, timeout=0.1))
    holder = sqlite3.connect(term.gradebook / "gradebook.db", isolation_level=None)
    real = Term.enter

    def enter(self, one, entry):
        if one.student == "bob":
            holder.execute("BEGIN EXCLUSIVE")
        try:
            real(self, one, entry)
        finally:
            if holder.in_transaction:
                holder.rollback()

    with monkeypatch.context() as locked:
        locked.setattr(Term, "enter", enter)
        problems = problems_of(grade_here(term))
    holder.close()
    assert list(problems) == ["bob"] and "database is locked" in problems["bob"] and "\n" not in problems["bob"]
    assert scores(term) == {"ada": FULL, "eve": 0, "tom": 0}
    monkeypatch.setattr(grading, "judge_one", None)
    assert problems_of(grade_here(term)) == {} and scores(term)["bob"] == LESS


def test_a_file_that_this_machine_cannot_read_is_one_line_and_no_grade(term, grade_here, monkeypatch):
    real = os.open

    def broken_disk(name, flags, *mode, **options):
        if name == "bob":  # its folder, beneath that of all submissions
            raise OSError(errno.EIO, os.strerror(errno.EIO), str(name))
        return real(name, flags, *mode, **options)

    with monkeypatch.context() as broken:
        broken.setattr(os, "open", broken_disk)
        problems = problems_of(grade_here(term))
    assert list(problems) == ["bob"] and "Input/output error" in problems["bob"]
    assert scores(term) == {"ada": FULL, "eve": 0, "tom": 0}


def test_a_judge_that_is_killed_costs_its_own_submission_only(course, short_judge, served_here, seed, monkeypatch):
    canned, answer = short_judge.judge(handed(filled(TINY_COURSE, TINY, {})), str(seed)), JudgeProcess._verdict

    def answer_or_die(self, connection, one, *rest):
        if b"kill me" not in one.data:
            return canned
        os.kill(connection.recv(), signal.SIGKILL)  # as a lack of memory would
        return answer(self, connection, one, *rest)

    monkeypatch.setattr(JudgeProcess, "_verdict", answer_or_die)
    for student in ("ada", "bob", "eve", "kim", "tom"):
        submit(course, student, {}, *(["# kill me"] if student in ("bob", "tom") else []))
    graded = grade_class(Term(course), [TINY], OPTIONS, workers=2)
    problems = problems_of({one.file.student: one for one in graded})
    assert list(problems) == ["bob", "tom"]
    assert "was killed" in problems["bob"] and scores(course) == {"ada": 0, "eve": 0, "kim": 0}


def test_a_renamed_notebook_is_found_and_noted(course, grade_here, right):
    path = submit(course, "ada", right)
    path.rename(path.with_name("tp0 (1).ipynb"))
    verdict = grade_here(course)["ada"].verdict
    assert verdict.points == FULL and any("tp0 (1).ipynb" in note for note in verdict.notes)
    assert scores(course) == {"ada": FULL}


def test_a_folder_without_a_notebook_has_a_grade_and_a_reason(course, grade_here):
    (course.gradebook / "submitted" / "ada" / TINY).mkdir(parents=True)
    graded = grade_here(course)["ada"]
    assert graded.problem is None and "no such file" in graded.verdict.ungraded_reason
    assert scores(course) == {"ada": 0}


def test_a_name_that_the_gradebook_shortens_is_refused(course, grade_here, right):
    submit(course, "ada", right)
    submit(course, "ada ", {})
    graded = grade_here(course)
    assert scores(course) == {"ada": FULL} and graded["ada"].problem is None
    assert "'ada ' begins or ends with a space" in graded["ada "].problem


def test_links_beside_a_notebook_are_not_followed(course, grade_here, right):
    path = submit(course, "ada", right)
    (path.parent / "secret.txt").symlink_to(course.gradebook / "secret")
    (path.parent / "zero").symlink_to("/dev/zero")
    os.mkfifo(path.parent / "pipe")
    assert grade_here(course)["ada"].verdict.points == FULL
    assert not (shown(course, "ada").parent / "secret.txt").exists()


def test_an_instance_serves_a_few_of_one_run_and_nobody_later(term, grade_here, right, monkeypatch):
    monkeypatch.setattr(seeds, "SUBMISSIONS_PER_INSTANCE", 3)
    monkeypatch.setattr(grading, "MIN_FOR_SOFT_LIMIT", 1000)  # who is set aside has another instance next
    for number in range(4):
        submit(term, f"ann-{number}", right, f"# {number}")
    first = {student: one.verdict.seed for student, one in grade_here(term).items()}
    assert sorted(Counter(first.values()).values()) == [2, 3, 3]
    again = {student: one.verdict.seed for student, one in grade_here(term, force=True).items()}
    assert again == first, "the same file meets the same draws"
    for number in range(5):
        submit(term, f"new-{number}", right, f"# new {number}")
    later = {student: one.verdict.seed for student, one in grade_here(term).items()}
    served = Counter(later[f"new-{number}"] for number in range(5))
    assert sorted(served.values()) == [2, 3]
    assert not served.keys() & set(first.values())
    assert {student: later[student] for student in first} == first


def test_each_of_many_threads_takes_one_seed_for_a_few_submissions(monkeypatch):
    judge_of_seeds = SimpleNamespace(judge=lambda submission, seed, _: seed)
    monkeypatch.setattr(judge_process, "judge_of_thread", lambda *_: judge_of_seeds)
    threads = 70
    together = threading.Barrier(threads)

    def judge(_):
        taken = set()
        for _ in range(2):
            together.wait(60)
            taken.add(grading.judge_one(TINY_COURSE, submission.Submission(b"", TINY), Options(), "run"))
        return taken

    with ThreadPoolExecutor(threads) as executor:
        taken = list(executor.map(judge, range(threads)))
    assert all(len(seeds) == 1 for seeds in taken) and len(set().union(*taken)) == threads


def test_sessions_and_runs_share_no_instance(monkeypatch):
    judge_of_seeds = SimpleNamespace(judge=lambda submission, seed, _: seed)
    monkeypatch.setattr(judge_process, "judge_of_thread", lambda *_: judge_of_seeds)
    taken = [grading.judge_one(TINY_COURSE, submission.Submission(b"", session), Options(), run)
             for session, run in [("tp1", "this"), ("tp2", "this"), ("tp1", "another"), ("tp1", "this")]]
    assert len(set(taken[:3])) == 3 and taken[3] == taken[0]


def test_the_same_bytes_in_one_run_meet_the_same_instance_and_another_in_the_next(term, grade_here, right, monkeypatch):
    monkeypatch.setattr(seeds, "SUBMISSIONS_PER_INSTANCE", 1)
    for student in ("ann", "ben"):
        submit(term, student, right)
    first = {student: one.verdict.seed for student, one in grade_here(term).items()}
    assert first["ann"] == first["ben"] == first["ada"] and len(set(first.values())) == 4
    for student in ("cem", "dan"):
        submit(term, student, right)
    later = {student: one.verdict.seed for student, one in grade_here(term).items()}
    assert later["cem"] == later["dan"] != first["ann"]


OF_FOUR = {"ada": FULL, "bob": load_source(TINY_COURSE, TINY).points("double"), "eve": 0, "kim": FULL}


@pytest.fixture
def four(course, right):
    """A course for processes of their own: two right, one with its first exercise, one blank."""
    for student, cells in {"ada": right, "bob": {"double": right["double"]}, "eve": {}, "kim": right}.items():
        submit(course, student, cells)
    return course


def test_plain_nbgrader_grades_with_the_judge(four):
    def nbgrader(*command):
        status, _, said = typed("nbgrader", *command, folder=four.root)
        assert status == 0, said[-2000:]

    four.released.mkdir(exist_ok=True)
    (four.released / "helper.py").touch()
    nbgrader("generate_assignment", TINY, "--create", "--force")
    released = nbformat.read(four.released / TINY / f"{TINY}.ipynb", 4)
    ours = notebooks.released_notebook(load_source(TINY_COURSE, TINY))
    assert [cell.source for cell in released.cells] == [cell.source for cell in ours.cells]
    assert [path.name for path in four.released.rglob("*.py")] == ["helper.py"], "no solution, no check, no fault"
    nbgrader("autograde", TINY)
    nbgrader("generate_feedback", TINY)
    nbgrader("export")
    assert scores(four, TINY) == OF_FOUR
    page = (four.gradebook / "feedback" / "bob" / TINY / f"{TINY}.html").read_text()
    assert "Not written yet:" in page and "<script" not in page
    assert "ada" in (four.root / "grades.csv").read_text()


def test_an_interrupt_says_what_becomes_of_what_is_judged_and_waits_for_none(course, right):
    """The submission that is judged would take ten minutes."""
    submit(course, "ada", right)
    submit(course, "zed", {**right, "double": "def double(x):\n    while True:\n        pass"})
    command = [sys.executable, "-m", "autograder", "grade", "--time-limit", "600", "--device", "cpu"]
    process = subprocess.Popen(command, cwd=course.root, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 300
    while not VerdictStore(course).entries(TINY) and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    assert process.poll() is None, "nothing is judged any more"
    judges = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(signal.SIGINT)
    try:
        said = process.communicate(timeout=60)[1]
    finally:
        process.kill()
    assert process.returncode == 130 and "Traceback" not in said
    assert said.splitlines()[-2:] == [
        "autograder: stopping; submissions that are being judged are not graded",
        "autograder: stopped. Graded submissions are kept, and the same command continues with the others"]
    assert judges and psutil.wait_procs(judges, timeout=60)[1] == []
    assert [entry.student for entry in VerdictStore(course).entries(TINY)] == ["ada"]


class InterruptsWhenFinalized:
    """Sends the process an interrupt at a moment when Python drops every exception."""

    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)


def test_an_interrupt_that_comes_while_an_object_is_finalized_stops_the_run(course, right):
    for student in ("ada", "zed"):
        submit(course, student, right)
    executor, objects, seen = JudgingNothing(), [InterruptsWhenFinalized()], []

    def each(graded, done, total):
        seen.append(done)
        objects.clear()

    with commands._interrupted() as is_interrupted, pytest.raises(KeyboardInterrupt):
        grade_class(Term(course), [TINY], OPTIONS, executor, each=each, is_interrupted=is_interrupted)
    assert seen == [1]


def test_an_interrupt_stops_a_run_that_waits(course, right):
    """Nothing is ever judged here, so that only the interrupt ends the run."""
    submit(course, "ada", right)
    answers = iter([False, False, True])
    with pytest.raises(KeyboardInterrupt):
        grade_class(Term(course), [TINY], OPTIONS, JudgingNever(), is_interrupted=lambda: next(answers))
    assert list(answers) == []


def test_a_run_that_is_killed_goes_on_where_it_stopped(four, served_here):
    command = [sys.executable, "-m", "autograder", "grade", TINY, "--jobs", "2", "--device", "cpu"]
    verdicts = four.gradebook / "verdicts" / TINY
    process = subprocess.Popen(command, cwd=four.root, start_new_session=True, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 300
    while not list(verdicts.glob("[!.]*.json")) and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    kept = {entry.student: entry.verdict for entry in VerdictStore(four).entries(TINY)}
    assert kept
    graded = {one.file.student: one for one in grade_class(Term(four), [TINY], workers=2)}
    assert problems_of(graded) == {} and scores_of(graded) == OF_FOUR
    for student, verdict in kept.items():
        assert graded[student].verdict == verdict, "judged twice"


def test_side_by_side_or_one_by_one_is_the_same(four, short_judge):
    before = psutil.Process().children()
    class_graded = grade_class(Term(four), [TINY], workers=2)
    assert psutil.Process().children() == before, "judges are left"
    for graded in class_graded:
        student = graded.file.student
        path = four.gradebook / "submitted" / student / TINY / f"{TINY}.ipynb"
        alone = submission.read(path, path.parents[2], TINY, student)
        verdict = short_judge.judge(alone, graded.verdict.seed)
        assert verdict.exercises == graded.verdict.exercises
