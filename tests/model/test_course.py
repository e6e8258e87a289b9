"""A course: its folders and sessions, what its `course.toml` may say, and how it is found."""

import os
import subprocess
import sys

import pytest

from autograder import course as courses
from autograder.course import Course, CourseError
from autograder.metadata import Axes, CourseMetadata, Exercises, HandIn, load_metadata
from autograder.runtime.settings import NotebookSettings
from conftest import REPOSITORY

SESSIONS = ["tp10_b", "tp10_b_c", "tp1_a", "tp1_ab"]


@pytest.fixture
def course(tmp_path):
    """Four sessions, and two folders that are none."""
    for name in (*(f"{name}/{name}.py" for name in SESSIONS), "tp1_a/checks.py", "none/checks.py", "none/other.py",
                 "empty/notes.txt"):
        path = tmp_path / "solutions" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return Course(tmp_path)


def test_sessions_are_folders_with_a_source_of_their_name(course):
    assert course.sessions == SESSIONS == course.select_sessions([])
    assert course.select_sessions(["tp1_ab", "tp1_a"]) == ["tp1_ab", "tp1_a"]
    assert [path.name for path in course.folders_without_source] == ["none"]
    for path, name in ((course.script("tp1_a"), "solutions/tp1_a/tp1_a.py"), (course.images, "images"),
                       (course.gradebook, "gradebook"), (course.submitted, "gradebook/submitted")):
        assert path == course.root / name


@pytest.mark.parametrize("name, lacks", [("none", r" \(solutions/none/ has no none.py\)"), ("gone", ""), ("", "")])
def test_a_session_that_is_none_is_named(course, name, lacks):
    for call in (course.require_session, lambda name: course.select_sessions(["tp1_a", name])):
        with pytest.raises(CourseError, match=f"no session called {name}{lacks}; there are: {', '.join(SESSIONS)}$"):
            call(name)


def test_a_course_without_sessions_says_what_is_missing(tmp_path):
    (tmp_path / "solutions").mkdir()
    with pytest.raises(CourseError, match="there is no session called x; there are: none$"):
        Course(tmp_path).require_session("x")
    with pytest.raises(CourseError, match="holds no session: write solutions/<session>/<session>.py$"):
        Course(tmp_path).select_sessions([])
    for name in "ba":
        (tmp_path / "solutions" / name).mkdir()
        (tmp_path / "solutions" / name / "checks.py").touch()
    with pytest.raises(CourseError, match="py; solutions/a/ has no a.py; solutions/b/ has no b.py$"):
        Course(tmp_path).select_sessions([])


@pytest.mark.parametrize("given, name", [
    ("tp1_a", "tp1_a"), ("tp10_b", "tp10_b"), ("tp1_ab", "tp1_ab"), ("tp10_b_", "tp10_b_c"), ("x", "x"), ("", ""),
    ("tp10", "tp10_b or tp10_b_c"), ("tp1", "tp1_a or tp1_ab"), ("tp1_", "tp1_a or tp1_ab"),
    ("tp", "tp10_b or tp10_b_c or tp1_a or tp1_ab")])
def test_a_name_may_be_cut_where_one_session_begins_so(course, given, name):
    if " or " in name:
        with pytest.raises(CourseError, match=f"'{given}' may be {name}: type more of the name"):
            course.full_name(given)
    else:
        assert course.full_name(given) == name


def test_helpers_are_what_notebooks_import(course):
    for name in ("tp/data/b.csv", "tp/z.py", "tp/a.py", "tp/m.py", "tp/b.py", "tp/__init__.py", "tp/__pycache__/a.pyc",
                 "two.py", "one.py", "notes.txt", "selfchecks/a.bin", "tp1_a/tp1_a.ipynb", "four/__init__.py",
                 "five.py", "eight.py", "zero.py"):
        path = course.root / "course" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    assert [path.stem for path in course.helpers] == ["eight", "five", "four", "one", "tp", "two", "zero"]
    assert [str(path.relative_to(course.released)) for path in course.helper_files] == [
        "eight.py", "five.py", "four/__init__.py", "one.py", "tp/__init__.py", "tp/a.py", "tp/b.py", "tp/data/b.csv",
        "tp/m.py", "tp/z.py", "two.py", "zero.py"]
    assert course.selfchecks == course.root / "course" / "selfchecks"


def test_a_course_is_found_from_within_but_not_from_what_was_handed_in(course, tmp_path_factory, monkeypatch):
    inside, handed = course.root / "solutions" / "tp1_a", course.root / "gradebook" / "submitted" / "ada"
    (handed / "tp1_a" / "solutions").mkdir(parents=True)
    for folder in (course.root, inside, handed, handed / "tp1_a"):
        monkeypatch.chdir(folder)
        assert courses.find().root == course.root
    assert courses.find(course.root).root == course.root == courses.find(inside.parents[1]).root
    with pytest.raises(CourseError, match=f"{inside} is no course: a course is a folder with solutions/ in it"):
        courses.find(inside)
    other = tmp_path_factory.mktemp("without") / "gradebook" / "submitted" / "solutions"
    other.mkdir(parents=True)
    monkeypatch.chdir(other)
    assert courses.find().root == other.parent, "the gradebook of no course"
    monkeypatch.chdir("/")
    with pytest.raises(CourseError, match="^/ is no course"):
        courses.find()
    monkeypatch.chdir(course.root)
    monkeypatch.chdir("solutions")
    assert courses.find(os.pardir).root == course.root


EVERYTHING = '''
name = "A Course, really"
version = "2.1"
python = ">=3.12"
requirements = ["numpy", "torch"]
no_deps = ["big"]
address = "https://example.org/"
arrays = "numpy"
threads = 3
axes = { batch = ["B"], time = ["T", "S"] }
exercises = { effort = true, hints = 2 }
hand_in = { to = "moodle", address = "there" }
'''


def test_a_course_says_everything_or_nothing_of_itself(tmp_path):
    path = tmp_path / "Some Folder" / "course.toml"
    path.parent.mkdir()
    bare = load_metadata(path)
    assert bare == CourseMetadata(name="some-folder", title="some-folder", threads=1, axes=Axes((), ()),
                                  exercises=Exercises(False, 0), hand_in=HandIn("", ""))
    path.write_text(EVERYTHING, encoding="utf-8")
    said = load_metadata(path)
    assert said == CourseMetadata("a-course-really", "2.1", "a-course-really", ">=3.12", ("numpy", "torch"), ("big",),
                                  "https://example.org", "numpy", 3, Axes(("B",), ("T", "S")), Exercises(True, 2),
                                  HandIn("moodle", "there"))
    assert said.oldest_python == "3.12" and said.needs == ["numpy", "torch", "# --no-deps big"]
    assert said.for_notebooks == NotebookSettings(3, "moodle", "there")
    path.write_text('name = "…"\ntitle = "A title"\n', encoding="utf-8")
    assert (load_metadata(path).name, load_metadata(path).title) == ("course", "A title")
    assert Course(path.parent).metadata == load_metadata(path)


@pytest.mark.parametrize("text, said", [
    ("nam = 'a'", "'nam' means nothing here; there are: name, version, title"), ("axes = 3", "axes must be a table"),
    ("axes = { b = [] }", "'b' means nothing here; there are: batch, time"),
    ("threads = true", "threads must be of type int"), ("requirements = 'a'", "requirements must be a list of strings"),
    ("no_deps = ['a', 1]", "no_deps must be a list of strings"), ("arrays = 'jax'", "'jax'; it is one of torch, numpy"),
    ("python = '3.11'", "python is '3.11'; it is like >=3.11"), ("axes = { time = [''] }", "axes has a name"),
    ("axes = { batch = ['Batch'] }", "axes has a name of several letters"), ("name = ", "Invalid value"),
    ("name = 3", "name must be of type str")])
def test_what_means_nothing_is_refused_in_one_line(tmp_path, text, said):
    path = tmp_path / "course.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(CourseError) as error:
        Course(tmp_path).metadata  # noqa: B018
    assert str(error.value).startswith(f"{path}: ") and said in str(error.value) and "\n" not in str(error.value)


def test_what_notebooks_need_is_printed_without_any_package(tmp_path):
    def run(*arguments):
        return subprocess.run([sys.executable, "-S", *arguments], env={"PYTHONPATH": str(REPOSITORY.root)},
                              capture_output=True, text=True)

    assert run("-m", "autograder.metadata", REPOSITORY.root).stdout.splitlines() == REPOSITORY.metadata.needs
    imported = run("-c", "import autograder.metadata")
    assert (imported.returncode, imported.stdout, imported.stderr) == (0, "", "")
    (tmp_path / "course.toml").write_text("threads = 1.5")
    wrong = run("-m", "autograder.metadata", tmp_path)
    assert wrong.returncode == 1 and wrong.stderr == f"{tmp_path}/course.toml: threads must be of type int\n"
