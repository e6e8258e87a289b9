"""Each wheel, installed in an empty environment, does what it is for."""

import subprocess
import sys
import zipfile

import pytest
from environments import clean, environment, install

from autograder.publish.standalone import course_wheel
from autograder.publish.wheels import engine_wheel
from conftest import REPOSITORY


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The wheel of the course, and an environment with it and the engine's."""
    folder = tmp_path_factory.mktemp("installed")
    python = environment(folder / "venv")
    wheels = dict([course_wheel(REPOSITORY), engine_wheel()])
    for name, data in wheels.items():
        (folder / name).write_bytes(data)
        install(python, folder / name)
    return folder / next(iter(wheels)), python


def test_the_wheel_of_the_course_holds_no_engine_and_no_solution(installed):
    with zipfile.ZipFile(installed[0]) as archive:
        names = archive.namelist()
    assert not [name for name in names if "autograder" in name or "solutions" in name or "faults" in name]
    assert {"tp/__init__.py", "selfchecks/tp1_recurrence.bin"} <= set(names)


def test_tp_comes_from_the_wheel_with_its_self_checks(installed, tmp_path):
    code = ("import tp, sys; from autograder.runtime.notebook import commands; tp.start('tp2_seq2seq'); "
            "print(tp.__file__, len(commands._data('tp2_seq2seq').exercises), commands.__file__)")
    done = subprocess.run([installed[1], "-c", code], cwd=tmp_path, env=clean(), capture_output=True, text=True)
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
