"""Files that students left are opened beneath a folder of ours: no link in any component, plain files, bounded."""

import os

import pytest

from autograder.judging import files
from autograder.judging.files import Unreadable

SECRET = b"the solution"


@pytest.fixture
def clone(tmp_path):
    """A student's clone beside the course's solution, with a way to it of each kind."""
    solution = tmp_path / "course" / "solutions" / "tp1" / "tp1.ipynb"
    solution.parent.mkdir(parents=True)
    solution.write_bytes(SECRET)
    mine = tmp_path / "clones" / "ada"
    (mine / "tp1").mkdir(parents=True)
    (mine / "tp1" / "tp1.ipynb").write_bytes(b"mine")
    (mine / "folder").symlink_to(solution.parent)
    (mine / "relative").symlink_to("../../course/solutions/tp1")
    (mine / "within").symlink_to("tp1")
    (mine / "tp1" / "link.ipynb").symlink_to(solution)
    os.link(solution, mine / "tp1" / "hard.ipynb")
    (mine / "tp1" / "zero").symlink_to("/dev/zero")
    os.mkfifo(mine / "tp1" / "pipe")
    (mine / "tp1" / "inner").mkdir()
    (mine.parent / "mallory").symlink_to(mine)
    return mine


def naive(path):
    """What a reader sees that follows whatever is there."""
    return path.read_bytes()


LINKS = ["folder/tp1.ipynb", "relative/tp1.ipynb", "tp1/link.ipynb", "tp1/hard.ipynb"]


@pytest.mark.parametrize("name", LINKS)
def test_no_way_leads_to_the_solution(clone, name):
    with pytest.raises(Unreadable, match=r"symbolic link|hard link"):
        files.read(clone / name, clone, 100)
    assert naive(clone / name) == SECRET, "the control: it does lead there"


def test_what_is_there_is_read(clone):
    assert files.read(clone / "tp1" / "tp1.ipynb", clone, 4) == b"mine"


@pytest.mark.parametrize("name", ["within/tp1.ipynb", "tp1/zero", "tp1/pipe", "tp1/inner", "tp1/none", "none/none", ".",
                                  "tp1/tp1.ipynb/x", "x" * 300])
def test_what_is_no_plain_file_is_refused_at_once(clone, name):
    with pytest.raises(Unreadable) as refusal:
        files.read(clone / name, clone, 100)
    assert "\n" not in str(refusal.value)


def test_a_folder_above_is_a_component_too(clone):
    with pytest.raises(Unreadable, match="mallory is a symbolic link"):
        files.read(clone.parent / "mallory" / "tp1" / "tp1.ipynb", clone.parent, 100)


def test_what_lies_elsewhere_is_not_read(clone):
    with pytest.raises(ValueError, match="is not in the subpath"):
        files.read(clone / ".." / ".." / "course" / "solutions" / "tp1" / "tp1.ipynb", clone, 100)


def test_a_giant_is_not_read(clone):
    with open(clone / "giant", "wb") as file:
        file.truncate(101)
    with pytest.raises(Unreadable, match="at most"):
        files.read(clone / "giant", clone, 100)
    with pytest.raises(Unreadable, match="at most"):  # it says that it is empty
        files.read(files.Path("/proc/self/maps"), files.Path("/proc/self"), 10)


def test_whose_a_file_is_can_be_asked(clone):
    path, me = clone / "tp1" / "tp1.ipynb", os.getuid()
    assert files.read(path, clone, 4, owner=me) == b"mine"
    with pytest.raises(Unreadable, match="belongs to somebody else"):
        files.read(path, clone, 4, owner=me + 1)


def test_the_root_of_what_somebody_names_is_here_or_its_clone(clone, monkeypatch):
    monkeypatch.chdir(clone)
    assert files.root_of(files.Path("folder/tp1.ipynb")) == clone
    monkeypatch.chdir(clone.parent.parent / "course")
    named = files.Path("../clones/ada/folder/tp1.ipynb")
    assert files.root_of(named) == clone
    (clone / ".git").mkdir()
    assert files.root_of(files.Path("../clones/ada/tp1/inner/tp1.ipynb")) == clone
    (clone.parent.parent / "course" / ".git").mkdir()
    (clone / "course").symlink_to("../../course")
    assert files.root_of(clone / "course" / "tp1.ipynb") == clone, "a clone that is reached by a link is another's"
    with pytest.raises(Unreadable, match="folder is a symbolic link"):
        files.read(named, files.root_of(named), 100)
