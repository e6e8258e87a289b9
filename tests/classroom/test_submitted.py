"""What lies in the submitted folder and was not graded is listed, with what to do."""

import os
import shutil
from pathlib import Path

import pytest

from autograder.classroom.samples import classroom_in, hand_in
from autograder.classroom.submitted import SubmittedFile, ignored_files, submitted_files
from autograder.cli import main
from autograder.commands import classroom as commands
from autograder.judging.submission import Submission
from autograder.publish.notebooks import filled
from conftest import TINY, TINY_COURSE
from shell import typed

RIGHT = f"zed/{TINY}/{TINY}.ipynb"
GRADED = f"the notebook that is graded is <student>/{TINY}/{TINY}.ipynb"
UNKNOWN = "the notebook that is graded is <student>/<session>/<session>.ipynb"
WRONG = {
    "a wrong folder": (f"zed/tp0/{TINY}.ipynb", f"zed/tp0: {GRADED}"),
    "in capitals": ("zed/TP0/x.ipynb", f"zed/TP0: {GRADED}"),
    "unknown": ("zed/homework/x.ipynb", f"zed/homework: {UNKNOWN}"),
    "no student": (f"{TINY}.ipynb", f"{TINY}.ipynb: {GRADED}"),
    "no session": (f"zed/{TINY}.ipynb", f"zed/{TINY}.ipynb: {GRADED}"),
    "another name": ("zed/mine.ipynb", f"zed/mine.ipynb: {UNKNOWN}"),
    "an archive": ("zed.zip", "zed.zip: archives are not read: unpack it, or take submissions out of it with "
                   "autograder collect"),
    "a note": ("zed/note.txt", f"zed/note.txt: {UNKNOWN}"),
    "swapped": (f"{TINY}/zed/{TINY}.ipynb", f"{TINY}/zed: {UNKNOWN}"),
    "too deep": (f"zed/{TINY}/work/x.ipynb", f"zed/{TINY}/work/x.ipynb: {GRADED}"),
}


@pytest.fixture
def course(tiny, tmp_path):
    return classroom_in(tmp_path / "course", tiny, [TINY])


@pytest.fixture
def put(course):
    """Write a file into the submitted folder."""

    def write(name):
        path = course.gradebook / "submitted" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}")

    return write


@pytest.mark.parametrize("name, line", WRONG.values(), ids=WRONG)
def test_what_lies_elsewhere_is_listed_with_what_to_do(course, put, name, line):
    put(name)
    assert ignored_files(course) == [line]


@pytest.mark.parametrize("names, note, unreadable", [
    (["y"], "the notebook was called y.ipynb", None),
    (["x", "y"], None, f"none of 2 notebooks (x.ipynb, y.ipynb) is called {TINY}.ipynb, so none is graded"),
    ("abcdefg", None, "none of 7 notebooks (a.ipynb, b.ipynb, c.ipynb, d.ipynb, e.ipynb, …) is called "
                      f"{TINY}.ipynb, so none is graded"),
    ([TINY, "x"], None, None),
])
def test_of_several_notebooks_the_one_with_the_name_of_the_session_is_graded(course, put, names, note, unreadable):
    for name in names:
        put(f"zed/{TINY}/{name}.ipynb")
    (file,) = (file for file in submitted_files(course.submitted, [TINY]) if file.student == "zed")
    read = file.read()
    assert (file.note, file.problem, read.note, read.unreadable) == (note, None, note, unreadable)


def test_without_a_notebook_the_reason_is_that_and_no_path_of_ours(course, put):
    put(f"zed/{TINY}/picture.png")
    (file,) = (file for file in submitted_files(course.submitted, [TINY]) if file.student == "zed")
    read, (name, _, reason) = file.read(), file.read().unreadable.partition(": ")
    assert (name, reason) == (f"zed/{TINY}/{TINY}.ipynb", "no such file or directory")
    assert read.digest != Submission(b"", TINY, unreadable="another reason").digest


def test_a_name_that_several_sessions_begin_with_is_none_of_them(course, put):
    more = course.folder(TINY).parent / "tp0_more"
    shutil.copytree(course.folder(TINY), more)
    (more / f"{TINY}.py").rename(more / "tp0_more.py")
    put("zed/tp0/x.ipynb")
    assert ignored_files(course) == [f"zed/tp0: {UNKNOWN}"]


def test_what_is_graded_is_not_listed(course, put):
    for name in (RIGHT, f"zed/{TINY}/picture.png", f"kim/{TINY}/renamed.ipynb", f"zed/{TINY}/timestamp.txt",
                 f"zed/{TINY}/.ipynb_checkpoints/x.ipynb", ".DS_Store", "zed/.DS_Store"):
        put(name)
    assert ignored_files(course) == []


def test_of_several_notebooks_the_one_that_counts_is_named(course, put):
    for name in (RIGHT, f"zed/{TINY}/old.ipynb", f"zed/tp0/{TINY}.ipynb"):
        put(name)
    assert ignored_files(course) == [f"zed/tp0: {GRADED}", f"zed/{TINY}/old.ipynb: {GRADED}"]


def test_a_folder_in_which_nothing_can_be_read_is_no_crash(course, put):
    put("zed/\udcff/x.ipynb")
    assert len(ignored_files(course)) == 1


def test_grade_says_it_after_the_table_and_when_nothing_is_graded(course, put, served_here, capfd):
    put(f"zed/tp0/{TINY}.ipynb")
    said = f"\n  zed/tp0: {GRADED}\n"
    command = ["--course", str(course.root), "grade", "--device", "cpu"]
    assert main(command) == 1 and said in capfd.readouterr().out
    hand_in(course, "ada", TINY, filled(TINY_COURSE, TINY, {}))
    put("zed/\x1b[31m\udcff/x.ipynb")
    assert main([*command, "tp0"]) == 1
    out = capfd.readouterr().out
    assert out.index("ada") < out.index("Not graded") and said in out and "\x1b" not in out


def test_who_is_graded_and_lies_there_no_longer_is_named_until_removed(term, capfd):
    shutil.rmtree(term.course.submitted / "ada")
    (term.course.submitted / "bob").rename(term.course.submitted / "bob-l")
    command = ["--course", str(term.course.root)]
    named = f"\n  ada, {TINY}\n  bob, {TINY}\n"
    assert term.no_longer_submitted([TINY]) == [("ada", TINY), ("bob", TINY)]
    assert commands._print_no_longer_submitted(term, [TINY]) == 1 and named in capfd.readouterr().out
    assert main([*command, "report"]) == 0
    page = (term.course.gradebook / "report" / "index.html").read_text(encoding="utf-8")
    assert page.count("graded, and no longer in gradebook/submitted") == 2
    for student in ("ada", "bob"):  # as docs/reference.md says
        for path in [*term.course.gradebook.glob(f"*/{student}"), *term.course.gradebook.glob(f"*/*/{student}.json")]:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        assert term.no_longer_submitted([TINY]), "the gradebook has the grade"
        assert typed("nbgrader", "db", "student", "remove", student, "--force", folder=term.course.root)[0] == 0
    assert term.no_longer_submitted([TINY]) == [] and commands._print_no_longer_submitted(term, [TINY]) == 0
    assert not [path for path in term.course.gradebook.rglob("*ada*")]


def test_a_hidden_folder_is_no_students(course, put):
    put(f".bob/{TINY}/{TINY}.ipynb")
    assert submitted_files(course.submitted, [TINY]) == [] and ignored_files(course) == []


@pytest.mark.parametrize("name, shown, problem", [
    (os.fsdecode(b"z\xe9d"), r"z\xe9d", r"the name of the folder z\xe9d is not UTF-8: rename it"),
    *((name, name, f"the name of the folder {name!r} begins or ends with a space, which the gradebook leaves out: "
       "rename it") for name in (" zed", "zed ")),
])
def test_a_folder_whose_name_the_gradebook_cannot_have_is_named(course, put, name, shown, problem):
    put(f"{name}/{TINY}/mine.ipynb")
    path = course.submitted / name / TINY / f"{TINY}.ipynb"
    assert submitted_files(course.submitted, [TINY]) == [SubmittedFile(shown, TINY, path, problem=problem)]


@pytest.mark.parametrize("linked", ["zed", f"zed/{TINY}"])
def test_what_lies_behind_a_link_is_not_looked_at(course, put, tmp_path, linked):
    put(f"{linked}/mine.ipynb" if linked.endswith(TINY) else f"{linked}/{TINY}/mine.ipynb")
    folder = course.submitted / linked
    folder.rename(tmp_path / "elsewhere")
    folder.symlink_to(tmp_path / "elsewhere")
    assert submitted_files(course.submitted, [TINY]) == [SubmittedFile("zed", TINY, course.submitted / RIGHT)]


def test_names_come_in_order_and_five_are_listed(course, put, monkeypatch):
    for student in "cab":
        for name in "zyxwv":
            put(f"{student}/{TINY}/{name}.ipynb")

    def backwards(listed):
        return lambda *args: iter(sorted(listed(*args), reverse=True))

    for method in ("glob", "rglob", "iterdir"):
        monkeypatch.setattr(Path, method, backwards(getattr(Path, method)))
    files = submitted_files(course.submitted, [TINY])
    assert [file.student for file in files] == ["a", "b", "c"]
    assert "(v.ipynb, w.ipynb, x.ipynb, y.ipynb, z.ipynb) is called" in files[0].unreadable
    listed = [line.split(":")[0] for line in ignored_files(course)]
    assert listed == [f"{student}/{TINY}/{name}.ipynb" for student in "abc" for name in "vwxyz"]


def test_empty_folders_are_not_listed(course, put):
    assert ignored_files(course) == []
    put("zed/homework/x.ipynb")
    (course.submitted / "zed" / "empty").mkdir()
    (course.submitted / "amy").mkdir()
    assert [line.split(":")[0] for line in ignored_files(course)] == ["zed/homework"]
