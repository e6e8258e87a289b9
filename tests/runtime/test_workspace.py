"""The folder in which a student works: nothing of theirs is overwritten, whatever is released and however often."""

import json
import os
import re
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from autograder.model.source import load_source
from autograder.publish import notebooks
from autograder.runtime import workspace
from conftest import REPOSITORY, TINY, TINY_COURSE

NAME = "tp1/tp1.ipynb"


def notebook(text, sealed=True):
    made = new_notebook(cells=[new_code_cell(text, id="a")], metadata={"course": {}})
    if sealed:
        made.metadata["course"]["seal"] = workspace.seal(made)
    return nbformat.writes(made)


@pytest.fixture
def places(tmp_path):
    """(release, work): a course of a notebook, a module and a picture; nobody has opened it yet."""
    course = tmp_path / "course"
    for name, text in {NAME: notebook("TODO"), "tp/plots.py": "old\n", "tp1/figures/a.svg": "<svg/>"}.items():
        put(course, name, text)
    return course, tmp_path / "work"


def put(folder, name, text):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def files(folder):
    return {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*")
            if path.is_file() and path.name != workspace.RECORD}


def test_the_first_time_it_is_the_course(places):
    course, work = places
    put(course, "tp/__pycache__/plots.pyc", "machine")
    put(course, "tp1/.ipynb_checkpoints/tp1-checkpoint.ipynb", "machine")
    assert workspace.update(course, work) == [f"{work}: a copy of the course, for you to work in"]
    assert set(files(work)) == {NAME, "tp/plots.py", "tp1/figures/a.svg"}
    assert files(work).items() <= files(course).items()
    record = (work / workspace.RECORD).read_text()
    assert record == json.dumps(json.loads(record), indent=1)
    assert json.loads(record).keys() == {*files(work)}
    assert workspace.update(course, work) == [f"{work}: nothing new in the course"]


def test_what_a_student_wrote_stays_and_the_release_lies_beside_it(places):
    course, work = places
    workspace.update(course, work)
    mine, newer = notebook("my answer", sealed=False), notebook("TODO, better")
    put(work, NAME, mine)
    assert workspace.update(course, work) == [f"{work}: nothing new in the course"]
    put(course, NAME, newer)
    assert workspace.update(course, work) == [
        f"{NAME}: kept as you changed it; the new release is beside it: tp1/tp1.new.ipynb"]
    assert files(work)[NAME] == mine and files(work)["tp1/tp1.new.ipynb"] == newer
    assert workspace.update(course, work) == [f"{work}: nothing new in the course"]  # it is said once


def test_work_in_the_new_release_stays_too(places):
    course, work = places
    workspace.update(course, work)
    put(work, NAME, "mine")
    put(course, NAME, notebook("second"))
    workspace.update(course, work)
    put(course, NAME, notebook("third"))
    assert "tp1/tp1.new.ipynb" in workspace.update(course, work)[0]  # nobody had touched the second
    put(work, "tp1/tp1.new.ipynb", "mine, again")
    put(course, NAME, notebook("fourth"))
    assert "tp1/tp1.new2.ipynb" in workspace.update(course, work)[0]
    found = files(work)
    assert (found[NAME], found["tp1/tp1.new.ipynb"]) == ("mine", "mine, again")
    assert found["tp1/tp1.new2.ipynb"] == notebook("fourth")


def test_what_nobody_changed_is_replaced(places):
    course, work = places
    workspace.update(course, work)
    put(course, NAME, notebook("TODO, better"))
    put(course, "tp/plots.py", "new\n")
    put(course, "tp2/tp2.ipynb", notebook("second TP"))
    assert workspace.update(course, work) == [
        "tp/plots.py: replaced by the new release; you had not changed it",
        f"{NAME}: replaced by the new release; you had not changed it",
        "tp2/tp2.ipynb: new"]
    assert files(work) == files(course)


def test_who_deletes_a_notebook_gets_a_fresh_one(places):
    course, work = places
    workspace.update(course, work)
    (work / NAME).unlink()
    assert workspace.update(course, work) == [f"{NAME}: put back, as it was released"]
    assert files(work) == files(course)


@pytest.mark.parametrize("record", [None, "{ cut off", "[]", '{"tp1/tp1.ipynb": 7}'])
def test_without_a_record_everything_counts_as_changed(places, record):
    course, work = places
    workspace.update(course, work)
    put(work, NAME, "mine")
    (work / workspace.RECORD).unlink()
    if record is not None:
        put(work, workspace.RECORD, record)
    put(course, NAME, notebook("TODO, better"))
    put(course, "tp/plots.py", "new\n")
    said = " ".join(workspace.update(course, work))
    assert said.count("kept as you changed it") == 2
    assert files(work)[NAME] == "mine" and files(work)["tp/plots.py"] == "old\n"


def test_work_that_was_done_in_the_course_itself_comes_along_and_is_never_replaced(places):
    course, work = places
    filled = notebook("my answer", sealed=False)
    put(course, NAME, filled)
    workspace.update(course, work)
    assert files(work)[NAME] == filled
    put(work, NAME, "my better answer")
    assert workspace.update(course, work) == [f"{work}: nothing new in the course"]
    put(work, NAME, filled)
    put(course, NAME, notebook("TODO"))  # as git puts it back
    assert "kept as you changed it" in workspace.update(course, work)[0]
    assert files(work)[NAME] == filled


def test_a_copy_inside_the_course_is_refused(places):
    course, _ = places
    with pytest.raises(OSError, match="inside the course"):
        workspace.update(course, course / "work")
    assert not (course / "work").exists()


def test_wrong_use_is_said_on_stderr_and_copies_nothing(places, tmp_path, capsys):
    course, work = places
    for arguments in ([], [str(course)], [str(course), str(work), "more"], [str(tmp_path / "none"), str(work)]):
        assert workspace.main(arguments) == 2
        said = capsys.readouterr()
        assert said.err.startswith("usage: workspace.py COURSE FOLDER: ") and not said.out
    (tmp_path / "file").write_text("mine")
    assert workspace.main([str(course), str(tmp_path / "file" / "work")]) == 2
    said = capsys.readouterr()
    assert said.err.startswith(f"The course cannot be copied to {tmp_path}/file/work: ") and not said.out
    assert not work.exists() and (tmp_path / "file").read_text() == "mine"
    assert workspace.main([str(course), str(work)]) == 0
    assert capsys.readouterr() == (f"{work}: a copy of the course, for you to work in\n", "")


def test_a_disk_that_fills_up_leaves_whole_files(places, monkeypatch):
    course, work = places
    workspace.update(course, work)
    put(course, NAME, notebook("TODO, better"))
    before = files(work)

    def full(path, target):
        raise OSError("No space left on device")

    with monkeypatch.context() as disk:
        disk.setattr(workspace.os, "replace", full)
        with pytest.raises(OSError, match="No space"):
            workspace.update(course, work)
    assert files(work) == before
    assert "replaced" in workspace.update(course, work)[0]


def test_it_needs_python_alone_and_make_lab_runs_it(tmp_path):
    script = REPOSITORY.root / "autograder" / "runtime" / "workspace.py"
    command = [sys.executable, "-I", "-S", str(script), str(REPOSITORY.released), str(tmp_path / "work")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.count("\n") == 1, done.stderr
    for name in REPOSITORY.sessions:
        assert (tmp_path / "work" / name / f"{name}.ipynb").is_file()
    lab = re.search(r"^lab:.*\n((?:\t.*\n)+)", (REPOSITORY.root / "Makefile").read_text(), re.M)[1]
    assert "autograder/runtime/workspace.py course work" in lab and "cd work " in lab
    assert "/work/" in (REPOSITORY.root / ".gitignore").read_text().splitlines()


def test_the_seal_of_a_release_breaks_when_somebody_works_in_it():
    made = notebooks.released_notebook(load_source(TINY_COURSE, TINY))
    data = nbformat.writes(made).encode()
    assert workspace.is_sealed(data) and len(workspace.seal({"cells": [{"cell_type": "code"}]})) == 16
    for change in (lambda cell: cell.update(source="x = 1"), lambda cell: cell.update(cell_type="raw"),
                   lambda cell: cell.update(outputs=[{"output_type": "stream", "name": "stdout", "text": "1"}])):
        tree = json.loads(data)
        change(next(cell for cell in tree["cells"] if cell["cell_type"] == "code"))
        assert not workspace.is_sealed(json.dumps(tree).encode())
    more = json.loads(data)
    more["cells"].append(more["cells"][0])
    assert not workspace.is_sealed(json.dumps(more).encode())
    for rubbish in (b"", b"[]", b"{}", b'{"cells": 1, "metadata": {"course": {"seal": 1}}}', b"[" * 100_000):
        assert not workspace.is_sealed(rubbish)


@pytest.mark.parametrize("content, data", [("Größe", "Größe".encode()), (b"\xff", b"\xff")])
def test_text_and_bytes_are_written_whole(tmp_path, content, data):
    workspace.write_whole(tmp_path / "new" / "file", content)
    assert (tmp_path / "new" / "file").read_bytes() == data
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["file"]


def test_threads_write_one_file_whole(tmp_path, monkeypatch):
    """Each has written its own beside the place, before the first is moved there."""
    all_written, move = threading.Barrier(4), os.replace

    def after_all(*paths):
        all_written.wait(60)
        move(*paths)

    monkeypatch.setattr(os, "replace", after_all)
    with ThreadPoolExecutor(4) as threads:
        for each in [threads.submit(workspace.write_whole, tmp_path / "file", str(i) * 9) for i in range(4)]:
            each.result(60)
    assert (tmp_path / "file").read_text() in {str(i) * 9 for i in range(4)}
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
