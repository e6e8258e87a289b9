"""PostgreSQL as the gradebook: two graders at once, on a real server of its own."""

import glob
import multiprocessing
import os
import pwd
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from conftest import TINY
from nbgrader.api import Gradebook

from autograder import demo
from autograder.classroom import Course, grade_class
from autograder.oracle import oracle

STUDENTS = [f"student-{i}" for i in range(6)]


@pytest.fixture(scope="module")
def server():
    """The address of an empty database on a server that lives in a folder, listens to no port, and goes with the test."""
    pytest.importorskip("psycopg", reason="PostgreSQL's driver is not installed: pip install 'psycopg[binary]'")
    found = shutil.which("initdb") or next(iter(sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"), reverse=True)), None)
    if found is None:
        pytest.skip("no PostgreSQL server on this machine")
    programs = Path(found).parent
    user = None if os.getuid() else next((u.pw_name for u in pwd.getpwall() if u.pw_name == "postgres"), "nobody")  # it refuses to run as root
    with tempfile.TemporaryDirectory(prefix="pg") as folder:
        if user:
            shutil.chown(folder, user)

        def run(program, *arguments):
            return subprocess.run([programs / program, *arguments], user=user, cwd=folder, check=True, capture_output=True, text=True)

        run("initdb", "--pgdata=data", "--username=grader", "--auth=trust", "--no-sync")
        options = f"-c listen_addresses='' -c unix_socket_directories={folder} -c fsync=off"
        run("pg_ctl", "--pgdata=data", "--log=log", f"--options={options}", "--wait", "start")
        try:
            yield f"postgresql+psycopg://grader@/postgres?host={folder}"
        finally:
            run("pg_ctl", "--pgdata=data", "--mode=immediate", "--wait", "stop")


@pytest.fixture
def course(tiny, tmp_path, server, right):
    """A class handed in, with the gradebook as docs/instructors.md shows it."""
    root = demo.course_root(tmp_path / "course", [tiny])
    with open(root / "nbgrader_config.py", "a") as file:
        file.write(f"c.CourseDirectory.db_url = {server!r}\n")
    truth = oracle(tiny)
    wrong = {**right, "double": truth.text_of(truth.mistakes_of("double")[0])}
    for i, student in enumerate(STUDENTS):
        demo.hand_in(root, student, tiny, demo.notebook(tiny, [right, wrong, {}][i % 3]))
    return Course(root)


def test_two_graders_enter_the_same_class_at_once(course, server, short_judge, monkeypatch):
    from test_classroom import Here

    from autograder import classroom

    monkeypatch.setattr(classroom, "_judge", lambda *args: short_judge)
    with monkeypatch.context() as later:  # judged, but not entered: that is left to the two
        later.setattr(Course, "enter", lambda *args: None)
        grade_class(course, [TINY], executor=Here())
    together = multiprocessing.get_context("fork")
    start, results = together.Barrier(2), together.Queue()

    def grader():
        start.wait()
        results.put([outcome.problem for outcome in grade_class(course, [TINY])])

    graders = [together.Process(target=grader) for _ in range(2)]
    for process in graders:
        process.start()
    problems = [problem for _ in graders for problem in results.get(timeout=120) if problem]
    for process in graders:
        process.join()
    assert not problems
    with Gradebook(server, "seq2seq") as gradebook:
        assert {s.student.id: s.score for s in gradebook.assignment_submissions(TINY)} == dict(zip(STUDENTS, [8, 6, 0] * 2))
