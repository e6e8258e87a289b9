"""`autograder serve`: the same verdict, sooner; and whatever becomes of the server, `check` has one."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from dataclasses import replace
from multiprocessing.connection import Listener

import nbformat
import pytest

from autograder import cli
from autograder.course import CourseError
from autograder.judging import warm
from autograder.samples import classroom_in, notebook
from autograder.sandbox import outside
from autograder.sandbox.terms import Limits, terms_of
from conftest import TINY

QUESTION = b"", "a.ipynb", None, None
TERMS = terms_of("auto", True, Limits.exercise_seconds)


@pytest.fixture
def course(tiny, tmp_path, monkeypatch):
    """A course whose judges meet in a folder of this test; a socket's path must be short."""
    with tempfile.TemporaryDirectory() as runtime:
        monkeypatch.setenv("XDG_RUNTIME_DIR", runtime)
        yield classroom_in(tmp_path / "course", tiny, [TINY])


@pytest.fixture
def server(course):
    """`autograder serve`, where another was killed before; it is ready."""
    path = warm.address(course, TERMS)
    with socket.socket(socket.AF_UNIX) as killed:
        killed.bind(str(path))
    assert warm.asked(course, TERMS, QUESTION) is None
    process = subprocess.Popen([sys.executable, "-m", "autograder.cli", "--course", str(course.root), "serve"],
                               stdout=subprocess.PIPE, text=True)
    assert "kept warm" in process.stdout.readline()
    assert path.stat().st_mode & 0o777 == 0o600
    yield process
    process.kill()
    process.wait()
    process.stdout.close()


@pytest.fixture
def check(course, tmp_path, capfd):
    """The status of `autograder check` on a notebook, and what it says; without what differs from run to run."""
    def run(cells, own=(), *options):
        path = tmp_path / "handed-in.ipynb"
        nbformat.write(notebook(course, TINY, cells, own), path)
        status = cli.main(["--course", str(course.root), "check", str(path), "--json", *options])
        said = capfd.readouterr()
        return status, json.loads(re.sub(r'"seconds": [\d.]+', '"seconds": 0', said.out))

    return run


def no_sandbox(*args):
    raise AssertionError("judged here")


def test_the_verdict_is_the_same_and_made_by_the_server(server, check, right, monkeypatch):
    dies, broken = "import os\nos._exit(0)", "def double(x: 1/0"
    work = [(right, ()), ({}, ()), ({**right, "double": dies}, ()), ({**right, "double": broken}, ("print(double)",))]
    with monkeypatch.context() as there:
        there.setattr(outside, "Sandbox", no_sandbox)
        warmly = [check(*one) for one in work]
        with pytest.raises(AssertionError, match="judged here"):
            check(right, (), "--time-limit", "20")  # other terms
    server.send_signal(signal.SIGKILL)
    server.wait()
    assert [check(*one) for one in work] == warmly
    assert [status for status, _ in warmly] == [0, 1, 1, 1]


def test_what_an_author_changes_counts_at_once(server, course, check, right, monkeypatch):
    monkeypatch.setattr(outside, "Sandbox", no_sandbox)
    _, before = check(right)
    script = course.script(TINY)
    script.write_text(script.read_text().replace("points=2", "points=7"))
    _, after = check(right)
    assert after["max_score"] > before["max_score"]


def test_student_code_does_not_find_the_server(server, course, check, right, monkeypatch):
    monkeypatch.setattr(outside, "Sandbox", no_sandbox)
    looks = "\nimport os\nif os.path.exists({!r}):\n    del double"
    for place, status in (warm.address(course, TERMS), 0), (warm.address(course, TERMS).parent, 0), ("/proc", 1):
        assert check({**right, "double": right["double"] + looks.format(str(place))})[0] == status


def test_an_interrupt_ends_it_and_leaves_nothing(server, course):
    server.send_signal(signal.SIGINT)
    assert server.wait(20) == 0
    assert not warm.address(course, TERMS).exists()


def test_one_server_is_enough(server, course, capfd):
    assert cli.main(["--course", str(course.root), "serve"]) == 2
    assert "kept warm already" in capfd.readouterr().err
    assert server.poll() is None


def test_a_server_that_is_lost_in_the_middle_costs_nothing(course, check, right):
    with Listener(str(warm.address(course, TERMS)), "AF_UNIX") as listener:
        def lost():
            with listener.accept() as connection:
                connection.send(warm.GREETING)
                questions.append(connection.recv())

        questions = []
        thread = threading.Thread(target=lost)
        thread.start()
        status, _ = check(right)
        thread.join()
    assert status == 0 and len(questions) == 1


def test_a_server_that_does_not_answer_is_not_waited_for(server, check, right):
    server.send_signal(signal.SIGSTOP)
    try:
        assert check(right)[0] == 0
    finally:
        server.send_signal(signal.SIGCONT)


@pytest.mark.parametrize("theirs", [0o777, 0o750])
def test_a_folder_that_others_may_enter_is_not_used(course, theirs):
    folder = warm.address(course, TERMS).parent
    os.chmod(folder, theirs)
    with Listener(str(folder / "x"), "AF_UNIX"):
        assert warm.asked(course, TERMS, QUESTION) is None
    with pytest.raises(CourseError, match="not a folder of yours alone"):
        warm.serve(course, TERMS, pytest.fail, pytest.fail)


def test_another_user_s_folder_is_not_used(course, monkeypatch):
    folder = warm.address(course, TERMS).parent
    monkeypatch.setattr(os, "getuid", lambda: int(folder.name.split("-")[1]) + 1)
    folder.rename(folder.with_name(f"autograder-{os.getuid()}"))
    assert warm.asked(course, TERMS, QUESTION) is None
    with pytest.raises(CourseError, match="not a folder of yours alone"):
        warm.serve(course, TERMS, pytest.fail, pytest.fail)


def test_each_course_and_terms_have_a_place_of_their_own(course, tiny):
    other = replace(TERMS, isolated=False)
    assert len({warm.address(course, TERMS), warm.address(course, other), warm.address(tiny, TERMS)}) == 3
