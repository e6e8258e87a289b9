"""A notebook that stands alone runs where nothing of the course is, shows its figures, and is graded as ever."""

import base64
import json
import subprocess
import zipfile
from pathlib import Path

import nbformat
import pytest
from environments import LENT, clean, environment, lend

from autograder import cli
from autograder.course import CourseError
from autograder.model.oracle import load_oracle
from autograder.model.source import load_source
from autograder.publish import notebooks, release, standalone
from autograder.publish.address import colab_address, parse_address
from conftest import REPOSITORY, TINY, automatic_points, handed, tiny_copy

FIRST = "helper-package"
# What Colab's kernel brings of what the notebooks need, and what that needs in turn; not: tqdm, ipywidgets, sacrebleu.
COLAB = ("torch", "functorch", "torchgen", "numpy", "matplotlib", "mpl_toolkits", "IPython", "ipykernel")
NOT_THERE = ("tqdm", "ipywidgets", "sacrebleu", "jupyterlab", "nbgrader", "jupytext")


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The folder of notebooks that stand alone."""
    folder = tmp_path_factory.mktemp("standalone")
    standalone.write_standalone(REPOSITORY, folder, parse_address("https://github.com/someone/course/tree/colab/here"))
    return folder


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    """A Python with torch, numpy, matplotlib and IPython, and nothing else that the course needs."""
    folder = tmp_path_factory.mktemp("colab")
    python = environment(folder / "venv", lends=False)
    (folder / "site").mkdir()
    for path in Path(LENT).iterdir():
        if not path.name.startswith(NOT_THERE) and path.suffix != ".pth" and "editable" not in path.name.lower():
            (folder / "site" / path.name).symlink_to(path)
    lend(folder / "venv", folder / "site")
    return python


def code(notebook, until):
    """The code cells of a notebook up to the one of this id, as one script for IPython's shell."""
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    last = next(i for i, cell in enumerate(cells) if cell.id == until)
    return [cell.source for cell in cells[: last + 1]]


def run(python, folder, cells):
    """Run cells in IPython's shell, as a kernel does, in an empty folder's Python; what came of it."""
    script = ("import sys, json\nsys.path.insert(0, '')\nfrom IPython.core.interactiveshell import InteractiveShell\n"
              "shell = InteractiveShell.instance()\n"
              "for cell in json.load(open('cells.json')):\n"
              "    result = shell.run_cell(cell)\n"
              "    if not result.success: sys.exit(f'FAILED {result.error_in_exec!r}')\n")
    (folder / "cells.json").write_text(json.dumps(cells))
    return subprocess.run([python, "-c", script], cwd=folder, env=clean(TP_QUICK="1", HOME=str(folder)),
                          capture_output=True, text=True)


@pytest.mark.parametrize("name", NOT_THERE)
def test_the_kernel_has_no_more_than_colab(kernel, name):
    assert subprocess.run([kernel, "-c", f"import {name}"], env=clean(), capture_output=True).returncode


def test_it_runs_beside_the_wheel_alone(written, kernel, tmp_path):
    """Every cell up to the first self-check, which says that nothing is written yet."""
    name = "tp2_seq2seq"
    notebook = nbformat.read(written / f"{name}.ipynb", 4)
    wheels = {path.name: path.read_bytes() for path in written.glob("*.whl")}
    for wheel, data in wheels.items():
        (tmp_path / wheel).write_bytes(data)
    first_check = load_source(REPOSITORY, name).by_role("check")[0]
    done = run(kernel, tmp_path, code(notebook, first_check.grade_id))
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert "not written yet" in done.stderr and (tmp_path / "autograder" / "runtime").is_dir()
    assert {path.name for path in tmp_path.iterdir()} <= {"tp", "autograder", "selfchecks", *wheels, "cells.json",
                                                          ".ipython", ".config", ".cache"}
    assert not (tmp_path / "autograder" / "judging").exists()


def test_without_wheel_and_network_one_line_says_what_to_do(written, kernel, tmp_path):
    notebook = nbformat.read(written / "tp2_seq2seq.ipynb", 4)
    cell = code(notebook, FIRST)[0].replace('ADDRESS = "https://', 'ADDRESS = "http://127.0.0.1:9/')
    assert "127.0.0.1" in cell
    done = run(kernel, tmp_path, [cell])
    assert done.returncode and "beside this notebook, and run this cell again." in done.stderr
    assert not (tmp_path / "tp").exists()


def test_it_comes_from_the_address_and_once(written, kernel, tmp_path):
    notebook = nbformat.read(written / "tp2_seq2seq.ipynb", 4)
    cell, start = code(notebook, "start")
    cell = cell.replace(cell.split('"')[1], f"{written.as_uri()}/")
    assert run(kernel, tmp_path, [cell, start]).returncode == 0
    (tmp_path / "tp" / "mark").touch()
    assert run(kernel, tmp_path, [cell, start]).returncode == 0 and (tmp_path / "tp" / "mark").exists()


def test_a_wheel_that_is_none_is_told_in_one_line(written, kernel, tmp_path):
    for wheel in written.glob("*.whl"):
        (tmp_path / wheel.name).write_text("<html>not found</html>")
    done = run(kernel, tmp_path, code(nbformat.read(written / "tp2_seq2seq.ipynb", 4), FIRST))
    assert done.returncode and "not a zip file" in done.stderr


def test_every_figure_is_inside(written):
    found = 0
    for path in written.glob("*.ipynb"):
        notebook = nbformat.read(path, 4)
        nbformat.validate(notebook)
        for cell in notebook.cells:
            assert "](figures/" not in cell.source
            for data in cell.source.split("](data:image/png;base64,")[1:]:
                assert base64.b64decode(data.split(")")[0]).startswith(b"\x89PNG")
                found += 1
    assert found >= 20


@pytest.mark.parametrize("name, data, kind", [
    ("a.webp", b"RIFF....WEBPVP8 ", "image/webp"), ("a.jpeg", b"\xff\xd8\xff\xe0", "image/jpeg"),
    ("a.png", b"GIF89a", "image/gif"), ("a.bmp", b"BM....", None)])
def test_a_figure_is_known_by_its_first_bytes(tmp_path, name, data, kind):
    (tmp_path / name).write_bytes(data)
    if kind:
        assert standalone._pixels(tmp_path / name) == (data, kind)
    else:
        with pytest.raises(CourseError, match=f"{name} is no SVG, PNG, JPEG, GIF or WebP"):
            standalone._pixels(tmp_path / name)


def test_text_and_names_of_the_cells_stay(written):
    for name in REPOSITORY.sessions:
        theirs = nbformat.read(written / f"{name}.ipynb", 4).cells
        ours = notebooks.released_notebook(load_source(REPOSITORY, name)).cells
        assert [cell.id for cell in theirs if cell.id != FIRST] == [cell.id for cell in ours]
        assert [c.source for c in theirs if c.cell_type == "code" and c.id != FIRST] == \
            [c.source for c in ours if c.cell_type == "code"]


def test_what_is_handed_in_of_it_is_graded_as_ever(tmp_path, short_judge, right):
    course = tiny_copy(tmp_path / "tiny")
    (course.released / "tp").mkdir(parents=True)
    (course.released / "tp" / "__init__.py").write_text("from autograder.runtime import check, done, start\n")
    with pytest.raises(CourseError, match=f"{TINY} is not released"):
        standalone.write_standalone(course, tmp_path / "out", parse_address("https://github.com/someone/tiny"))
    assert not (tmp_path / "out").exists()
    release.release(load_oracle(course, TINY), "never")
    standalone.write_standalone(course, tmp_path / "out", parse_address("https://github.com/someone/tiny"))
    notebook = nbformat.read(tmp_path / "out" / f"{TINY}.ipynb", 4)
    assert notebook.cells[1].id == FIRST
    for cell in notebook.cells:
        cell.source = right.get(cell.metadata.get("nbgrader", {}).get("grade_id"), cell.source)
    verdict = short_judge.judge(handed(notebook), "seed")
    assert verdict.points == automatic_points(course, TINY) and not verdict.notes


def test_the_wheels_beside_them_hold_all_that_they_take(written):
    held = {}
    for path in written.glob("*.whl"):
        with zipfile.ZipFile(path) as wheel:
            held[path.name.split("-")[0]] = wheel.namelist()
    engine, student = held.pop("replay_autograder"), held.popitem()[1]
    assert not held and "autograder/runtime/notebook/commands.py" in engine
    assert {"tp/__init__.py", "selfchecks/tp2_seq2seq.bin"} <= set(student)
    assert not [name for name in student if name.startswith("autograder")]


# A notebook of the kit, taken out of it


@pytest.mark.parametrize("missing", ["tp", "torch_of_another_name"])
def test_a_notebook_out_of_its_place_says_in_one_line_where_it_belongs(kernel, tmp_path, missing):
    """Without the folder tp, and with it in a Python that lacks what it imports."""
    if missing != "tp":
        (tmp_path / "tp").mkdir()
        (tmp_path / "tp" / "__init__.py").write_text(f"import {missing}")
    done = run(kernel, tmp_path, code(notebooks.released_notebook(load_source(REPOSITORY, "tp2_seq2seq")), "start"))
    said = done.stderr.splitlines()[-1]
    assert said.startswith(f"FAILED SystemExit(\"No module named '{missing}': ") and "beside the folder tp" in said
    assert "Traceback" not in done.stdout + done.stderr


def test_all_notebooks_begin_alike():
    first = {code(notebooks.released_notebook(load_source(REPOSITORY, name)), "start")[0].replace(name, "NAME")
             for name in REPOSITORY.sessions}
    assert len(first) == 1


# Addresses


@pytest.mark.parametrize("url, file, colab", [
    ("https://github.com/a/b", "https://raw.githubusercontent.com/a/b/main/x.whl", "a/b/blob/main/n.ipynb"),
    ("https://github.com/a/b.git/", "https://raw.githubusercontent.com/a/b/main/x.whl", "a/b/blob/main/n.ipynb"),
    ("https://github.com/a/b/tree/v2/c/d/", "https://raw.githubusercontent.com/a/b/v2/c/d/x.whl",
     "a/b/blob/v2/c/d/n.ipynb"),
    ("https://school.example/course/", "https://school.example/course/x.whl", None),
])
def test_addresses(url, file, colab):
    address = parse_address(url)
    assert address.file("x.whl") == file
    if colab:
        assert address.colab("n.ipynb") == f"https://colab.research.google.com/github/{colab}"
        assert address.binder("n.ipynb").startswith("https://mybinder.org/v2/gh/a/b/")
    else:
        assert not address.repository


@pytest.mark.parametrize("url, file, colab", [
    ("https://github.com/a/b", "https://raw.githubusercontent.com/a/b/main/colab/x.whl", "a/b/blob/main/colab/n.ipynb"),
    ("https://github.com/a/b.git", "https://raw.githubusercontent.com/a/b/main/colab/x.whl",
     "a/b/blob/main/colab/n.ipynb"),
    ("https://github.com/a/b/tree/v2/", "https://raw.githubusercontent.com/a/b/v2/colab/x.whl",
     "a/b/blob/v2/colab/n.ipynb"),
    ("https://github.com/a/b/tree/v2/c", "https://raw.githubusercontent.com/a/b/v2/c/x.whl", "a/b/blob/v2/c/n.ipynb"),
    ("https://school.example/course/", "https://school.example/course/colab/x.whl", None),
    ("https://school.example/course/colab", "https://school.example/course/colab/x.whl", None),
])
def test_the_notebooks_for_colab_lie_in_a_folder_of_the_public_repository(url, file, colab):
    address = colab_address(url)
    assert address.file("x.whl") == file
    assert address.colab("n.ipynb").endswith(f"/github/{colab}") if colab else not address.repository


def test_the_command_takes_the_address_of_the_folder_or_that_of_the_public_repository(tmp_path):
    course = tiny_copy(tmp_path / "course")
    (course.root / "course.toml").write_text('address = "https://github.com/me/notes"\n')
    release.release(load_oracle(course, TINY), "never")
    for typed, shown in (([], "me/notes/blob/main/colab/"),
                         (["--address", "https://github.com/me/own"], "me/own/blob/main/")):
        assert cli.main(["--course", str(course.root), "pack", "standalone", *typed]) == 0
        assert f"/github/{shown}{TINY}.ipynb)" in (course.root / "dist" / "standalone" / "README.md").read_text()


@pytest.mark.parametrize("url", ["", "course", "ftp://x/y", 'https://x/"; import os', "https://x/a b"])
def test_what_is_no_address_is_refused(url):
    with pytest.raises(CourseError):
        parse_address(url)


def test_badges_are_written_where_they_lead_somewhere(written):
    page = (written / "README.md").read_text()
    for name in REPOSITORY.sessions:
        assert f"github/someone/course/blob/colab/here/{name}.ipynb" in page
        assert f"v2/gh/someone/course/colab?labpath=here%2F{name}.ipynb" in page
