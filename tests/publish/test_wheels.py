"""Each wheel, installed in an empty environment, does what it is for."""

import json
import subprocess
import sys
import zipfile

import pytest
from environments import clean, environment, install

from autograder.publish import kit
from autograder.publish.archive import DISTRIBUTION, engine_wheel
from conftest import REPOSITORY

NAME = REPOSITORY.metadata.name


@pytest.fixture(scope="module")
def student(tmp_path_factory):
    """The student wheel, and an environment with it and the engine's."""
    folder = tmp_path_factory.mktemp("student")
    wheel = kit.write_student_wheel(REPOSITORY, folder / "dist")
    python = environment(folder / "venv")
    install(python, wheel)
    name, data = engine_wheel()
    (folder / name).write_bytes(data)
    install(python, folder / name)
    return wheel, python


def test_the_student_wheel_holds_no_engine_and_no_solution(student):
    with zipfile.ZipFile(student[0]) as archive:
        names = archive.namelist()
        told = archive.read(next(name for name in names if name.endswith("METADATA"))).decode()
    assert f"_{NAME.replace('-', '_')}_student/files/tp1_recurrence/tp1_recurrence.ipynb" in names
    assert not [name for name in names if "autograder" in name or "solutions" in name or "faults" in name]
    assert f"Requires-Dist: {DISTRIBUTION}>=" in told and "selfchecks/tp1_recurrence.bin" in names


def test_its_command_puts_the_notebooks_down_and_keeps_a_students_work(student, tmp_path):
    command = student[1].parent / NAME
    run = {"cwd": tmp_path, "env": clean(), "capture_output": True, "text": True, "check": True}
    first = subprocess.run([command, "start", "mine", "--page"], **run)
    notebook = tmp_path / "mine" / "tp1_recurrence" / "tp1_recurrence.ipynb"
    assert notebook.is_file() and "Session 1" in first.stdout and not (tmp_path / "mine" / "tp").exists()
    work = json.loads(notebook.read_text())
    work["cells"][-1]["source"] = "my work"
    notebook.write_text(json.dumps(work))
    subprocess.run([command, "start", "mine", "--port", "9999"], **{**run, "check": False})  # no JupyterLab is here
    assert not (tmp_path / "9999").exists(), "a value of JupyterLab's is no folder"
    again = subprocess.run([command, "start", "mine", "--page"], **run)
    assert "my work" in notebook.read_text() and "mine: nothing new in the course" in again.stdout
    (tmp_path / "mine" / "start.py").unlink()
    again = subprocess.run([command, "start", "mine", "--page"], **run)
    assert "start.py: put back, as it was released" in again.stdout


def test_tp_comes_from_the_wheel_with_its_self_checks(student, tmp_path):
    code = ("import tp, sys; from autograder.runtime.notebook import commands; tp.start('tp2_seq2seq'); "
            "print(tp.__file__, len(commands._data('tp2_seq2seq').exercises), commands.__file__)")
    done = subprocess.run([student[1], "-c", code], cwd=tmp_path, env=clean(), capture_output=True, text=True)
    where, exercises, runtime = done.stdout.split()
    assert "venv" in where and int(exercises) > 1 and "venv" in runtime, done.stderr


@pytest.mark.slow
def test_the_instructors_wheel_brings_the_engine(tmp_path):
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path), "."]
    subprocess.run(build, cwd=REPOSITORY.root, check=True, capture_output=True, env=clean())
    python = environment(tmp_path / "venv")
    install(python, next(tmp_path.glob("*.whl")))
    command = python.parent / "autograder"
    run = {"cwd": tmp_path, "env": clean(), "capture_output": True, "text": True}
    notebook = REPOSITORY.released / "tp2_seq2seq" / "tp2_seq2seq.ipynb"
    graded = subprocess.run([command, "--course", REPOSITORY.root, "check", notebook], **run)
    assert graded.returncode == 1 and "tp2_seq2seq: 0 of" in graded.stdout, graded.stderr
