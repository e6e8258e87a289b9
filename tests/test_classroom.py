"""A class: graded side by side or one by one, resumed, regraded; entered into nbgrader's gradebook with its reasons."""

import errno
import functools
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pytest
import workers
from conftest import SHORT, TINY
from nbconvert.exporters import HTMLExporter
from nbgrader.api import Gradebook
from nbgrader.converters import GenerateFeedback
from nbgrader.server_extensions.formgrader import handlers as formgrader

from autograder import classroom, demo, marking, release
from autograder.classroom import Course, grade_class
from autograder.judge import Judge
from autograder.oracle import oracle
from autograder.source import ROOT


class Here:
    """An executor that works in this process, where the tiny TP is known."""

    def submit(self, function, *args):
        from concurrent.futures import Future

        future = Future()
        try:
            future.set_result(function(*args))
        except Exception as error:
            future.set_exception(error)
        return future


@pytest.fixture
def root(tiny, tmp_path):
    return demo.course_root(tmp_path / "course", [tiny])


@pytest.fixture
def run(short_judge, monkeypatch):
    monkeypatch.setattr(classroom, "_judge", lambda *args: short_judge)

    def grade(root, **options):
        return {o.handed.student: o for o in grade_class(Course(root), [TINY], executor=Here(), limits=SHORT, **options)}

    return grade


@pytest.fixture
def handed(root, tiny, right):
    truth = oracle(tiny)
    demo.hand_in(root, "ada", tiny, demo.notebook(tiny, right))
    demo.hand_in(root, "bob", tiny, demo.notebook(tiny, {**right, "double": truth.text_of(truth.mistakes_of("double")[0])}))
    demo.hand_in(root, "eve", tiny, demo.notebook(tiny, {}))
    demo.hand_in(root, "tom", tiny, "{ cut off")
    return root


def scores(root):
    with Gradebook(f"sqlite:///{root}/gradebook/gradebook.db", "seq2seq") as gradebook:
        return {s.student.id: s.score for s in gradebook.assignment_submissions(TINY)}


def test_scores_reasons_and_notebooks(handed, run, tiny):
    outcomes = run(handed)
    assert {name: o.verdict["score"] for name, o in outcomes.items()} == {"ada": 8, "bob": 6, "eve": 0, "tom": 0}
    assert scores(handed) == {"ada": 8, "bob": 6, "eve": 0, "tom": 0}
    shown = nbformat.read(handed / "gradebook" / "autograded" / "bob" / tiny / f"{tiny}.ipynb", 4)
    reasons = {c.metadata.nbgrader.grade_id: c.outputs[0].text for c in shown.cells if c.get("outputs")}
    assert "You square the input" in reasons["check-double"] and "✓" in reasons["check-encoder"]
    broken = nbformat.read(handed / "gradebook" / "autograded" / "tom" / tiny / f"{tiny}.ipynb", 4)
    assert "cut off" in broken.cells[0].source


def test_a_second_run_judges_only_what_changed(handed, run, tiny, right, monkeypatch):
    run(handed)
    judged = []
    real = marking.judged
    monkeypatch.setattr(marking, "judged", lambda *args: judged.append(args[4]) or real(*args))
    assert not any(o.fresh for o in run(handed).values()) and judged == []
    demo.hand_in(handed, "eve", tiny, demo.notebook(tiny, right))
    assert run(handed)["eve"].fresh and len(judged) == 1 and scores(handed)["eve"] == 8
    run(handed, force=True)
    assert len(judged) == 5


def test_manual_grades_and_comments_survive(handed, run, tiny, right):
    demo.hand_in(handed, "ada", tiny, demo.notebook(tiny, {**right, "why": "Because it is so."}))
    run(handed)
    with Gradebook(f"sqlite:///{handed}/gradebook/gradebook.db", "seq2seq") as gradebook:
        grade = gradebook.find_grade("why", tiny, tiny, "ada")
        assert grade.needs_manual_grade
        grade.manual_score = 1.5
        gradebook.find_comment("why", tiny, tiny, "ada").manual_comment = "Nearly."
        gradebook.db.commit()
    run(handed, force=True)
    with Gradebook(f"sqlite:///{handed}/gradebook/gradebook.db", "seq2seq") as gradebook:
        assert gradebook.find_grade("why", tiny, tiny, "ada").manual_score == 1.5
        assert gradebook.find_comment("why", tiny, tiny, "ada").manual_comment == "Nearly."
        assert gradebook.find_submission(tiny, "ada").score == 9.5


def test_graders_see_the_rubric_and_nobody_else_does(handed, run, tiny):
    run(handed)
    path = handed / "gradebook" / "autograded" / "ada" / tiny / f"{tiny}.ipynb"
    course = Course(handed)
    course.config.HTMLExporter.update(template_name="formgrade", extra_template_basedirs=[formgrader.template_path])
    page = dict(submission_id="1", assignment_id=tiny, notebook_id=tiny, index=0, total=1, student="ada", last_name="", first_name="", base_url="", notebook_path="")
    shown, _ = HTMLExporter(config=course.config).from_filename(path, resources=page)
    assert shown.count("Model answer and rubric") == 1 and shown.count("<strong>Rubric.</strong> 2 points") == 1
    assert "Rubric" not in path.read_text() and "Rubric" not in nbformat.writes(release.released_notebook(tiny))
    feedback = GenerateFeedback(coursedir=course.directory(tiny, "ada"), config=Course(handed).config)
    feedback.start()
    assert "Rubric" not in (handed / "gradebook" / "feedback" / "ada" / tiny / f"{tiny}.html").read_text()


def test_a_verdict_that_was_not_entered_is_entered_without_judging_again(handed, run, monkeypatch):
    monkeypatch.setattr(Course, "enter", lambda *args: (_ for _ in ()).throw(OSError("No space left on device")))
    assert all("No space left" in o.problem for o in run(handed).values())
    monkeypatch.undo()
    monkeypatch.setattr(classroom, "judge_one", None)
    assert {o.verdict["score"] for o in grade_class(Course(handed), [TINY])} == {8, 6, 0}
    assert scores(handed) == {"ada": 8, "bob": 6, "eve": 0, "tom": 0}


def test_a_fault_of_one_submission_stops_nobody(handed, run, monkeypatch):
    real = marking.judged
    monkeypatch.setattr(marking, "judged", lambda judge, data, *rest: 1 / 0 if b"x * x" in data else real(judge, data, *rest))
    outcomes = run(handed)
    assert "ZeroDivisionError" in outcomes["bob"].problem
    assert outcomes["ada"].verdict["score"] == 8


def test_a_full_disk_is_one_line_for_each_and_the_next_run_goes_on(handed, run, tiny, monkeypatch):
    real = Path.write_text

    def write_text(path, text, **options):
        if path.name.startswith(".bob.json"):
            real(path, text[:20], **options)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(path, text, **options)

    monkeypatch.setattr(Path, "write_text", write_text)
    outcomes = run(handed)
    assert {name for name, o in outcomes.items() if o.problem} == {"bob"}
    assert "No space left on device" in outcomes["bob"].problem and "\n" not in outcomes["bob"].problem
    assert {path.name for path in (handed / "gradebook" / "verdicts" / tiny).iterdir()} == {"ada.json", "eve.json", "tom.json"}
    monkeypatch.undo()
    assert scores(handed) == {"ada": 8, "eve": 0, "tom": 0}


def test_a_locked_gradebook_is_one_line_for_each_and_nothing_is_judged_again(handed, run, tiny, monkeypatch):
    course = Course(handed)
    course.register(tiny)
    monkeypatch.setattr(sqlite3.dbapi2, "connect", functools.partial(sqlite3.connect, timeout=0.1))
    holder, real = sqlite3.connect(handed / "gradebook" / "gradebook.db", isolation_level=None), Course.enter

    def enter(self, one, verdict):
        if one.student == "bob":
            holder.execute("BEGIN EXCLUSIVE")
        try:
            real(self, one, verdict)
        finally:
            if holder.in_transaction:
                holder.rollback()

    monkeypatch.setattr(Course, "enter", enter)
    outcomes = run(handed)
    assert {name for name, o in outcomes.items() if o.problem} == {"bob"}
    assert "database is locked" in outcomes["bob"].problem and "\n" not in outcomes["bob"].problem
    assert scores(handed) == {"ada": 8, "eve": 0, "tom": 0}
    monkeypatch.setattr(Course, "enter", real)
    monkeypatch.setattr(classroom, "judge_one", None)
    assert grade_class(course, [tiny])[1].problem is None and scores(handed)["bob"] == 6


def test_a_file_that_this_machine_cannot_read_is_one_line_and_no_grade(handed, run, tiny, monkeypatch):
    path = handed / "gradebook" / "submitted" / "bob" / tiny / f"{tiny}.ipynb"
    real = os.open

    def broken_disk(name, flags, *mode, **options):
        if name == path:
            raise OSError(errno.EIO, os.strerror(errno.EIO), str(name))
        return real(name, flags, *mode, **options)

    monkeypatch.setattr(os, "open", broken_disk)
    outcomes = run(handed)
    assert {name for name, o in outcomes.items() if o.problem} == {"bob"} and "Input/output error" in outcomes["bob"].problem
    monkeypatch.undo()
    assert scores(handed) == {"ada": 8, "eve": 0, "tom": 0}


def test_a_worker_that_is_killed_costs_its_own_submission_only(root, tiny, short_judge, tmp_path, monkeypatch):
    blank = demo.notebook(tiny, {})
    verdict = short_judge.grade(nbformat.writes(blank).encode(), tiny, "seed")
    (tmp_path / "verdict.json").write_text(json.dumps(verdict))
    monkeypatch.setenv("CANNED_VERDICT", str(tmp_path / "verdict.json"))
    monkeypatch.setattr(classroom, "judge_one", workers.judge_or_die)
    for student in ("ada", "bob", "eve", "kim", "tom"):
        demo.hand_in(root, student, tiny, demo.notebook(tiny, {}, own=("# kill me",) if student in ("bob", "tom") else ()))
    outcomes = {o.handed.student: o.problem for o in grade_class(Course(root), [tiny], jobs=2)}
    assert [name for name, problem in outcomes.items() if problem] == ["bob", "tom"]
    assert "was killed" in outcomes["bob"] and scores(root) == {"ada": 0, "eve": 0, "kim": 0}


def test_a_renamed_notebook_is_found_and_noted(root, run, tiny, right):
    path = demo.hand_in(root, "ada", tiny, demo.notebook(tiny, right))
    path.rename(path.with_name("tp0 (1).ipynb"))
    outcome = run(root)["ada"]
    assert outcome.verdict["score"] == 8 and any("tp0 (1).ipynb" in note for note in outcome.verdict["notes"])
    assert scores(root) == {"ada": 8}


def test_a_folder_without_a_notebook_has_a_grade_and_a_reason(root, run, tiny):
    (root / "gradebook" / "submitted" / "ada" / tiny).mkdir(parents=True)
    outcome = run(root)["ada"]
    assert outcome.problem is None and "no such file" in outcome.verdict["unreadable"]
    assert scores(root) == {"ada": 0}


def test_links_beside_a_notebook_are_not_followed(root, run, tiny, right):
    path = demo.hand_in(root, "ada", tiny, demo.notebook(tiny, right))
    (path.parent / "secret.txt").symlink_to(root / "gradebook" / "secret")
    (path.parent / "zero").symlink_to("/dev/zero")
    os.mkfifo(path.parent / "pipe")
    assert run(root)["ada"].verdict["score"] == 8
    assert not (root / "gradebook" / "autograded" / "ada" / tiny / "secret.txt").exists()


def test_one_seed_for_each_student(handed, run, tiny, right):
    demo.hand_in(handed, "ann", tiny, demo.notebook(tiny, right))
    outcomes = run(handed)
    assert outcomes["ada"].verdict["seed"] != outcomes["ann"].verdict["seed"]
    assert oct(os.stat(handed / "gradebook" / "secret").st_mode)[-3:] == "600"


REAL = "tp3_seq2seq"


@pytest.fixture
def real_root(tmp_path):
    """A course of a real TP, for processes of their own."""
    root = demo.course_root(tmp_path / "course", [REAL])
    right = demo.solved(REAL)
    for student in ("ada", "bob", "eve", "kim"):
        demo.hand_in(root, student, REAL, demo.notebook(REAL, right if student in ("ada", "kim") else {"shift": right["shift"]} if student == "bob" else {}))
    return root


def test_plain_nbgrader_grades_with_the_judge(real_root):
    def nbgrader(*command):
        done = subprocess.run([sys.executable, "-m", "nbgrader", *command], cwd=real_root, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[-2000:]

    nbgrader("generate_assignment", REAL, "--create", "--force")
    released = nbformat.read(real_root / "course" / REAL / f"{REAL}.ipynb", 4)
    assert [c.source for c in released.cells] == [c.source for c in release.released_notebook(REAL).cells]
    assert not list((real_root / "course").rglob("*.py"))
    nbgrader("autograde", REAL)
    nbgrader("generate_feedback", REAL)
    nbgrader("export")
    with Gradebook(f"sqlite:///{real_root}/gradebook/gradebook.db", "seq2seq") as gradebook:
        found = {s.student.id: s.score for s in gradebook.assignment_submissions(REAL)}
    points = demo.source.load(REAL)
    full = sum(points.points(name) for name in points.exercises)
    assert found == {"ada": full, "kim": full, "bob": points.points("shift"), "eve": 0}
    page = (real_root / "gradebook" / "feedback" / "bob" / REAL / f"{REAL}.html").read_text()
    assert "This part is not written yet." in page and "<script>alert" not in page
    assert "ada" in (real_root / "grades.csv").read_text()


COMMAND = "from pathlib import Path; from autograder.classroom import *; grade_class(Course(Path({root!r})), [{tp!r}], jobs=2)"


def test_a_run_that_is_killed_goes_on_where_it_stopped(real_root):
    command = [sys.executable, "-c", COMMAND.format(root=str(real_root), tp=REAL)]
    verdicts = real_root / "gradebook" / "verdicts" / REAL
    process = subprocess.Popen(command, cwd=ROOT, start_new_session=True, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 300
    while not list(verdicts.glob("[!.]*.json")) and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    kept = {path.name: json.loads(path.read_text()) for path in verdicts.glob("[!.]*.json")}
    assert kept
    outcomes = {o.handed.student: o for o in grade_class(Course(real_root), [REAL], jobs=2)}
    assert not any(o.problem for o in outcomes.values())
    assert {name: o.verdict["score"] for name, o in outcomes.items()} == {"ada": 19, "kim": 19, "bob": 2, "eve": 0}
    for name, verdict in kept.items():
        assert outcomes[name.removesuffix(".json")].verdict["seconds"] == verdict["seconds"], "judged twice"


def test_side_by_side_or_one_by_one_is_the_same(real_root, tmp_path):
    side = {o.handed.student: o.verdict["exercises"] for o in grade_class(Course(real_root), [REAL], jobs=2)}
    with Judge() as judge:
        for student, exercises in side.items():
            path = real_root / "gradebook" / "submitted" / student / REAL / f"{REAL}.ipynb"
            from autograder.judge import seed_of
            from autograder.records import Records

            data = path.read_bytes()
            assert judge.grade(data, REAL, seed_of(Records(real_root).secret(), student, REAL, data))["exercises"] == exercises
