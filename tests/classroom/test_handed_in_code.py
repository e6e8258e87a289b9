"""Code that lies beside a notebook runs in no command of the instructor's, wherever that is called."""

import asyncio
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest

from autograder import course as courses
from autograder.classroom.samples import classroom_in, hand_in
from autograder.classroom.screen import handlers
from autograder.classroom.screen.background import BackgroundTask
from autograder.publish.notebooks import filled
from conftest import TINY, TINY_COURSE

NAMES = ("ast.py", "torch.py", "psutil.py", "msgspec.py", "sitecustomize.py", "conftest.py", "nbgrader_config.py",
         "jupyter_config.py", "autograder/__init__.py", f"solutions/{TINY}/{TINY}.py", f"solutions/{TINY}/checks.py")


@pytest.fixture
def folder(tmp_path):
    """A submission with modules beside it, each of which leaves a file when it is run."""
    course = classroom_in(tmp_path / "course", TINY_COURSE, [TINY])
    folder = hand_in(course, "eve", TINY, filled(TINY_COURSE, TINY, {})).parent
    for name in NAMES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"open({str(tmp_path / 'ran')!r}, 'a').write({name!r} + chr(10))\n")
    (folder / "matplotlibrc").write_text("backend: module://torch\n")
    return folder


def ran(folder: Path, *command: str) -> tuple[int, str]:
    """Call a command in the folder: its exit status, and which modules ran."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    marks = folder.parents[4] / "ran"
    return done.returncode, marks.read_text() if marks.exists() else ""


def test_no_module_beside_a_notebook_runs_where_a_class_is_graded_from_its_folder(folder):
    program = str(Path(sys.executable).with_name("autograder"))
    assert ran(folder, program, "check", f"{TINY}.ipynb", "--device", "cpu") == (1, "")
    assert ran(folder, program, "grade", "--device", "cpu") == (0, "")
    assert (folder.parents[2] / "gradebook.db").exists()


def test_nor_where_the_screen_grades_from_a_server_that_was_started_there(folder, monkeypatch):
    monkeypatch.chdir(folder)
    task = BackgroundTask(courses.find())
    assert task.begin("grade", TINY, "eve")
    while task.state()["running"]:
        time.sleep(0.1)
    assert (task.state()["done"], task.state()["messages"]) == (1, [])
    assert not (folder.parents[4] / "ran").exists()


@pytest.mark.parametrize("command, message", [
    (["/nowhere/python"], "No such file"),
    ([sys.executable, "-c", r"import os; os.write(1, b'\xff\n'); raise SystemExit(1)"], "\ufffd"),
    ([sys.executable, "-c", """print('{"done": 1, "of": 2, "message": "a"}'); raise SystemExit("out of memory")"""],
     "out of memory"),
])
def test_other_work_can_begin_after_a_process_failed(command, message):
    task = BackgroundTask(TINY_COURSE)
    task._state["running"] = True
    task._follow(command)
    assert not task.state()["running"] and message in task.state()["messages"][-1]


def test_the_control_python_itself_runs_them(folder):
    assert ran(folder, sys.executable, "-m", "autograder", "--version")[1]


def test_what_is_handed_in_is_no_course(folder, monkeypatch):
    monkeypatch.chdir(folder)
    assert courses.find().root == folder.parents[3]
    assert courses.find(folder).root == folder, "the control: by its name it is one"
    (folder.parents[3] / "solutions").rename(folder.parents[3] / "elsewhere")
    assert courses.find().root == folder, "and without a course around it"


def test_work_that_is_asked_for_meanwhile_is_refused_with_a_reason():
    said = {}
    busy = SimpleNamespace(
        request_body=lambda form: form("feedback", "tp", ""), session_of=str, finish=said.update,
        task=SimpleNamespace(begin=lambda *asked: False), set_status=lambda code: said.update(status=code))
    with ThreadPoolExecutor(1) as thread:  # this one may have a loop, of a browser that another test has open
        thread.submit(asyncio.run, handlers.TaskHandler.post.__wrapped__(busy)).result()
    assert said["status"] == 400 and "other work is still running" in said["wrong"]
