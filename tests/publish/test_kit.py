"""The kit stands alone: its scripts set it up and open the start page, and it holds nothing of the instructor's."""

import ast
import io
import json
import os
import re
import subprocess
import time
import urllib.request
import zipfile
from pathlib import Path

import nbformat
import pytest
from environments import clean, environment
from nbformat.v4 import new_output

from autograder.course import CourseError
from autograder.model.oracle import load_oracle
from autograder.publish import kit, notebooks, release, standalone
from autograder.publish.kit_files import install, start
from autograder.publish.wheels import engine_wheel
from conftest import REPOSITORY, TINY, tiny_copy

NAMES = REPOSITORY.sessions


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory):
    """The kit of this course, unpacked."""
    folder = tmp_path_factory.mktemp("kit")
    kit.write_kit(REPOSITORY, folder / "student-kit.zip")
    with zipfile.ZipFile(folder / "student-kit.zip") as archive:
        archive.extractall(folder)
    (kit_folder,) = (path for path in folder.iterdir() if path.is_dir())
    return kit_folder


def test_the_kit_holds_the_course_and_nothing_else(unpacked):
    names = {path.relative_to(unpacked).as_posix() for path in unpacked.rglob("*") if path.is_file()}
    wheel, _ = engine_wheel()
    top = {"README.md", "requirements.txt", "constraints.txt", "environment.yml", "install.py", "start.py", "start.sh",
           "start.bat", wheel}
    assert {name for name in names if "/" not in name} == top
    for name in NAMES:
        assert {f"{name}/{name}.ipynb", f"selfchecks/{name}.bin"} <= names
    others = [name for name in names - top if not name.startswith(("tp/", "selfchecks/"))]
    assert not [name for name in others if re.search(r"solutions|autograder|checks|faults|\.py$", name)]
    assert not [name for name in names - top if re.search(r"autograder|faults|\.pyc$|\.ipynb_checkpoints", name)]


def test_no_file_of_the_kit_holds_a_solution_or_speaks_of_grading(unpacked):
    texts = [path for path in unpacked.rglob("*") if path.suffix in (".ipynb", ".py", ".md", ".txt", ".sh", ".bat")]
    assert len(texts) > len(NAMES)
    for path in texts:
        assert not re.search(r"BEGIN SOLUTION|HIDDEN TESTS|Rubric", path.read_text(encoding="utf-8")), path
    for name in ("start.sh", "start.bat", "install.py"):
        assert not re.search(r"autograder|gradebook|nbgrader", (unpacked / name).read_text(encoding="utf-8")), name


def test_the_wheel_in_the_kit_is_the_engine_and_holds_no_course(unpacked):
    name, data = engine_wheel()
    assert (unpacked / name).read_bytes() == data and len(data) < 450_000
    with zipfile.ZipFile(unpacked / name) as wheel:
        assert "autograder/runtime/notebook/commands.py" in wheel.namelist() and wheel.testzip() is None
        assert not [one for one in wheel.namelist() if not one.startswith(("autograder/", "replay_autograder-"))]


def test_the_same_course_gives_the_same_kit_whenever_its_files_were_written(tmp_path):
    course, kits = tiny_copy(tmp_path / "course"), []
    release.release(load_oracle(course, TINY), "never")
    module = course.released / "helper.py"
    for text, written in (("A = 1", 10**9), ("A = 1", 2 * 10**9), ("A = 2", 10**9)):
        module.write_text(text)
        os.utime(module, (written, written))
        kit.write_kit(course, tmp_path / "kit.zip")
        kits.append(tmp_path.joinpath("kit.zip").read_bytes())
    assert kits[0] == kits[1]
    folders = [zipfile.ZipFile(io.BytesIO(data)).namelist()[0].split("/")[0] for data in kits]
    assert folders[0] != folders[2]  # else Python would take the changed module, of the same size, for the old one


@pytest.mark.parametrize("place", [f"{TINY}/{TINY}.ipynb", f"hand_in/{TINY}.ipynb"])
def test_a_filled_notebook_goes_into_no_kit(tmp_path, place):
    """As `tp.hand_in` leaves one beside the sessions, where an instructor tries the course in its own folder."""
    course = tiny_copy(tmp_path / "course")
    release.release(load_oracle(course, TINY), "never")
    assert f"{TINY}/{TINY}.ipynb" in dict(kit.released_files(course))
    path = course.released / place
    path.parent.mkdir(exist_ok=True)
    filled = notebooks.filled(course, TINY, {"double": "def double(x):\n    return x + x"})
    path.write_text(nbformat.writes(filled))
    with pytest.raises(release.WorkedInError, match=path.parent.name):
        kit.write_kit(course, tmp_path / "kit.zip")


def test_the_same_course_gives_the_same_bytes(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        kit.write_kit(REPOSITORY, tmp_path / name / "student-kit.zip")
    assert len({(tmp_path / name / "student-kit.zip").read_bytes() for name in ("a", "b")}) == 1


def test_requirements_are_those_of_the_course_and_the_wheel_of_the_runtime(unpacked, monkeypatch):
    lines = (unpacked / "requirements.txt").read_text().splitlines()
    *needs, wheel = [line for line in lines if not line.startswith("#")]
    assert needs == list(REPOSITORY.metadata.requirements) and (unpacked / wheel.split()[0]).is_file()
    monkeypatch.setattr(kit, "engine_wheel", lambda: (engine_wheel()[0], b"another one of the same version"))
    assert kit.requirements(REPOSITORY).splitlines()[:-1] == lines[:-1]
    assert kit.requirements(REPOSITORY).splitlines()[-1] != lines[-1]


def test_constraints_are_the_locked_versions_of_the_requirements_and_the_scripts_use_them(unpacked):
    lines = (unpacked / "constraints.txt").read_text().splitlines()
    pinned = dict(line.split("==") for line in lines if not line.startswith("#"))
    lock = (REPOSITORY.root / "requirements.lock").read_text().splitlines()
    assert set(pinned) == {re.match(r"[\w-]+", line)[0] for line in REPOSITORY.metadata.requirements}
    assert {f"{name}=={version}" for name, version in pinned.items()} <= set(lock)
    for script in ("start.sh", "start.bat", "README.md"):
        assert "install.py -r requirements.txt -c constraints.txt" in (unpacked / script).read_text(), script


def test_where_the_tested_versions_cannot_be_had_others_are_installed(monkeypatch, capsys, tmp_path):
    ran = []
    monkeypatch.chdir(tmp_path)
    Path("requirements.txt").write_text("one\n")
    monkeypatch.setattr(install, "_uv", lambda folder: "uv")
    monkeypatch.setattr(install, "_extra_indexes", lambda arguments: [])
    monkeypatch.setattr(install, "_as_uv", lambda: [])
    monkeypatch.setattr(install, "_run", lambda command, name: ran.append(command) or int("-c" in command))
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", "")
    assert install.main(["-r", "requirements.txt", "-c", "constraints.txt"]) == 0
    assert [command[-4:] for command in ran] == [["-r", "requirements.txt", "-c", "constraints.txt"],
                                                 [*ran[1][-4:-2], "-r", "requirements.txt"]]
    assert all("--compile-bytecode" in command for command in ran), "no sandbox can write what it compiles"
    assert "constraints.txt" not in ran[1] and "trying others" in capsys.readouterr().out


@pytest.mark.parametrize("status", [0, 1])
def test_a_package_whose_files_are_read_comes_alone_or_a_line_says_so(unpacked, monkeypatch, capsys, status):
    ran = []
    monkeypatch.chdir(unpacked)
    monkeypatch.setattr(install, "_uv", lambda folder: None)
    monkeypatch.setattr(install, "_extra_indexes", lambda arguments: [])
    monkeypatch.setattr(install, "_run", lambda command, name: ran.append(command) or 0)
    monkeypatch.setattr(install.subprocess, "run", lambda command, **_: ran.append(command)
                        or subprocess.CompletedProcess(command, status, ""))
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", "")
    assert install.main(["-r", "requirements.txt", "-c", "constraints.txt"]) == 0
    assert [(command[-1], "--no-deps" in command) for command in ran] == [
        ("constraints.txt", False), *((package, True) for package in REPOSITORY.metadata.no_deps)]
    assert (f"{ran[-1][-1]} cannot be installed: going on without it." in capsys.readouterr().out) == bool(status)


def test_the_readme_lists_every_session_with_its_time(unpacked):
    readme = (unpacked / "README.md").read_text(encoding="utf-8")
    sessions = start.sessions(unpacked)
    assert [session.path for session in sessions] == [f"{name}/{name}.ipynb" for name in NAMES]
    for session in sessions:
        assert session.time and f"| {session.title} | {session.time} |" in readme


def test_a_course_that_says_nothing_of_itself_has_a_kit_too(tmp_path):
    course = tiny_copy(tmp_path / "My course")
    (course.released / "tp").mkdir(parents=True)
    assert course.metadata.name == "my-course" and course.metadata.requirements
    files = kit.contents(course)
    assert "# my-course" in files["README.md"].decode() and "==" not in files["constraints.txt"].decode()


def test_the_time_of_a_session_ends_with_its_line_where_no_full_stop_ends_it(tmp_path):
    (tmp_path / "a").mkdir()
    text = nbformat.v4.new_markdown_cell("# A\n\n**Time:** about\n5 min\n\n**B** rows, **S** columns.")
    nbformat.write(nbformat.v4.new_notebook(cells=[text]), tmp_path / "a" / "a.ipynb")
    assert start.sessions(tmp_path)[0].time == "about 5 min"


def test_the_readme_has_a_column_of_times_only_where_a_session_states_one(tmp_path):
    course = tiny_copy(tmp_path / "course")
    (course.released / "a").mkdir(parents=True)
    for text, listed in (("# A", "\n\n- A\n\n## Work"),
                         ("# A\n\n**Time:** long.", "| session | time |\n|---|---|\n| A | long |\n\n## Work")):
        cells = [nbformat.v4.new_markdown_cell(text)]
        nbformat.write(nbformat.v4.new_notebook(cells=cells), course.released / "a" / "a.ipynb")
        assert listed in kit.readme(course)


# The start page


def test_the_start_page_counts_the_checks_that_pass_in_saved_notebooks(unpacked, tmp_path):
    name = "tp2_seq2seq"
    notebook = nbformat.read(unpacked / name / f"{name}.ipynb", 4)
    checks = [cell for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("grade_id", "")
              .startswith("check-")]
    (tmp_path / name).mkdir()

    def done():
        nbformat.write(notebook, tmp_path / name / f"{name}.ipynb")
        return start.sessions(tmp_path)[0].done

    assert done() == "not begun"
    card = {"text/html": "<div>", "text/plain": "it: all 2 checks pass\n  ✓ a"}
    checks[0].outputs = [new_output("display_data", card)]
    checks[1].outputs = [new_output("stream", name="stderr", text="it: 1 of 2 checks pass\n  ✓ a\n  ✗ b")]
    assert done() == f"1 of {len(checks)}"
    checks[1].outputs = [new_output("display_data", {"text/plain": "it: not written yet"})]
    assert done() == f"1 of {len(checks)}"
    checks[1].outputs = [new_output("stream", name="stdout", text="it: the check passes\n  ✓ a")]
    assert done() == f"2 of {len(checks)}"
    for cell in checks:
        cell.outputs = checks[0].outputs
    assert done() == f"{len(checks)} of {len(checks)}", "its questions have no answers"
    for cell in notebook.cells:
        cell.source = cell.source.replace(start.TEXT_STUB, "So.")
    assert done() == "✓ all done"
    notebook.cells = [cell for cell in notebook.cells if cell not in checks]
    assert done() == "–", "a session without exercises"


def test_the_start_page_says_how_many_minutes_are_left_and_is_kept_up_to_date(unpacked, tmp_path, monkeypatch):
    name = "tp2_seq2seq"
    (tmp_path / name).mkdir()
    notebook = nbformat.read(unpacked / name / f"{name}.ipynb", 4)

    def left():
        nbformat.write(notebook, tmp_path / name / f"{name}.ipynb")
        return start.sessions(tmp_path)[0].minutes

    whole, (answer, *_) = left(), [cell for cell in notebook.cells if start.TEXT_STUB in cell.source]
    answer.source = answer.source.replace(start.TEXT_STUB, "So.")
    assert 0 < left() < whole
    shown, waits = [], iter([None, None])

    def sleep(seconds):
        shown.append("waited")
        answer.source = f"{answer.source}\n\n{start.TEXT_STUB}"
        left()
        next(waits)

    monkeypatch.setattr(start.time, "sleep", sleep)
    with pytest.raises(StopIteration):
        start._follow(tmp_path, shown.append, str)
    assert shown[0] == "waited" and f"| {whole} |" in shown[1] and shown[2:] == ["waited", "waited"]


def test_a_notebook_that_cannot_be_read_is_left_out(tmp_path):
    for name, text in {"a": "", "b": "[]", "c": '{"cells": [1]}', "d": '{"cells": []}'}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.ipynb").write_text(text)
    assert [session.path for session in start.sessions(tmp_path)] == ["d/d.ipynb"]


def test_the_start_page_is_a_notebook_whose_cell_runs_as_it_stands(tmp_path):
    page = nbformat.read(start.write(tmp_path), 4)
    nbformat.validate(page)
    ast.parse(page.cells[1].source)
    assert "# Start here" in page.cells[0].source


def test_the_start_page_needs_nothing_but_python(unpacked, tmp_path):
    """JupyterLab alone is asked for, and only to open the page."""
    python = environment(tmp_path / "bare", lends=False)
    done = subprocess.run([python, "start.py", "--page"], cwd=unpacked, env=clean(PYTHONIOENCODING="ascii"),
                          capture_output=True, text=True, check=True)
    assert done.stdout.count("\n") == len(NAMES) + 2


# The scripts


def test_the_script_installs_once_and_opens_the_start_page(unpacked):
    environment(unpacked / ".venv")
    run = {"cwd": "/", "env": clean(), "capture_output": True, "text": True}
    subprocess.run(["cp", "requirements.txt", ".venv/installed.txt"], cwd=unpacked, check=True)
    done = subprocess.run(["sh", str(unpacked / "start.sh"), "--page"], **run)
    assert done.returncode == 0 and NAMES[0] in done.stdout, done.stderr
    assert "Installing" not in done.stdout
    with open(unpacked / "requirements.txt", "a") as file:
        file.write("no-such-package-as-this\n")
    done = subprocess.run(["sh", str(unpacked / "start.sh"), "--page"], **run)
    assert done.returncode and "Installing with pip" in done.stdout and "no-such-package-as-this" in done.stderr


def test_an_old_python_is_told_in_one_line(unpacked, tmp_path):
    (tmp_path / "old").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "old").chmod(0o755)
    (tmp_path / "start.sh").write_bytes((unpacked / "start.sh").read_bytes())
    done = subprocess.run(["sh", "start.sh"], cwd=tmp_path, env=clean(PYTHON=str(tmp_path / "old")),
                          capture_output=True, text=True)
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and "Python 3.11 or newer" in done.stderr


def test_the_batch_file_has_windows_line_ends_and_every_label_it_jumps_to(unpacked):
    data = (unpacked / "start.bat").read_bytes()
    assert data.count(b"\n") == data.count(b"\r\n") > 10
    text = data.decode("ascii")  # cmd reads it in the code page of the machine
    labels = set(re.findall(r"^:(\w+)", text, re.M))
    assert set(re.findall(r"goto (\w+)", text)) == labels
    assert b"\r" not in (unpacked / "start.sh").read_bytes()


@pytest.mark.slow
def test_jupyterlab_opens_on_the_start_page(unpacked, tmp_path):
    """The whole way: unpacked, set up with pip, opened."""
    lab = tmp_path / "kit"
    subprocess.run(["cp", "-r", unpacked, lab], check=True)
    (lab / "requirements.txt").write_text("\n".join(REPOSITORY.metadata.requirements))
    subprocess.run(["rm", "-rf", lab / ".venv"], check=True)
    environment(lab / ".venv")
    options = ["--no-browser", "--allow-root", "--ServerApp.port=0", "--ServerApp.port_retries=0",
               "--IdentityProvider.token=x"]
    with open(tmp_path / "log", "w") as log:
        server = subprocess.Popen(["sh", "start.sh", *options], cwd=lab, stdout=log, stderr=log, start_new_session=True,
                                  env=clean(HOME=str(tmp_path)))
    try:
        for _ in range(600):
            found = re.search(r"http://\S+/lab/tree/start\.ipynb\S*", (tmp_path / "log").read_text())
            if found or server.poll() is not None:
                break
            time.sleep(0.2)
        assert found, (tmp_path / "log").read_text()[-2000:]
        root = found[0].split("/lab/")[0]
        with urllib.request.urlopen(f"{root}/lab/tree/start.ipynb?token=x") as page:
            assert b"JupyterLab" in page.read()
        with urllib.request.urlopen(f"{root}/api/contents/start.ipynb?token=x") as answer:
            assert "Start here" in json.load(answer)["content"]["cells"][0]["source"]
        name = "@jupyterlab/apputils-extension:notification"  # which asks about news where its setting is "none"
        with urllib.request.urlopen(f"{root}/lab/api/settings/{name}?token=x") as answer:
            assert json.load(answer)["schema"]["properties"]["fetchNews"]["default"] == "false"
    finally:
        os.killpg(server.pid, 15)
        server.wait()


@pytest.mark.parametrize("requirements, torch", [("numpy>=1\n", False), ("numpy>=1\ntorch>=2\n", True), (None, True)])
def test_the_index_of_torch_for_the_cpu_is_asked_where_torch_may_come(tmp_path, monkeypatch, requirements, torch):
    monkeypatch.setattr(install, "_configured", lambda: {})
    monkeypatch.setattr(install.shutil, "which", lambda name: None)
    monkeypatch.setattr(install.sys, "platform", "linux")
    file = tmp_path / "requirements.txt"
    file.write_text(requirements or "")
    arguments = ["a.whl"] if requirements is None else ["-r", str(file), "-c", "constraints.txt"]
    assert install._extra_indexes(arguments) == ([install.CPU_INDEX] if torch else [])


def test_the_readme_speaks_of_torch_and_its_size_where_the_course_needs_it(unpacked, tmp_path):
    course = tiny_copy(tmp_path)
    (course.root / "course.toml").write_text('requirements = ["jupyterlab", "numpy"]\n')
    plain, ours = kit.readme(course), (unpacked / "README.md").read_text(encoding="utf-8")
    assert "torch" not in plain and " GB" not in plain and "torch" in ours and "2 GB" in ours


def test_a_line_of_a_solution_goes_into_no_kit_and_no_standalone_notebook(tmp_path):
    course = tiny_copy(tmp_path / "course")
    release.release(load_oracle(course, TINY), "never")
    (course.released / TINY / "backup.py").write_bytes(course.script(TINY).read_bytes())
    for write in (lambda: kit.write_kit(course, tmp_path / "kit.zip"),
                  lambda: standalone.write_standalone(course, tmp_path / "alone")):
        with pytest.raises(CourseError, match=f"nothing is written.* instructor's: {TINY}/backup.py"):
            write()
    assert not list(tmp_path.rglob("*.zip")) and not list(tmp_path.rglob("*.whl"))
