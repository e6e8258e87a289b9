"""Files that students left are opened beneath a folder of ours: no link in any component, plain files, bounded."""

import errno
import os
from pathlib import Path

import pytest

from autograder.judging import untrusted_files
from autograder.judging.untrusted_files import SubmissionError, root_of

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
    with pytest.raises(SubmissionError, match=r"symbolic link|hard link"):
        untrusted_files.read(clone / name, clone, 100)
    assert naive(clone / name) == SECRET, "the control: it does lead there"


def test_what_is_there_is_read(clone):
    assert untrusted_files.read(clone / "tp1" / "tp1.ipynb", clone, 4) == b"mine"


@pytest.mark.parametrize("name, reason", [
    ("within/tp1.ipynb", "within is a symbolic link"), ("tp1/zero", "it is a symbolic link"),
    ("tp1/pipe", "it is not a file"), ("tp1/inner", "it is not a file"), (".", "it is not a file"),
    ("tp1/none", "no such file or directory"), ("none/none", "no such file or directory"),
    ("tp1/tp1.ipynb/x", "not a directory"), ("tp1/pipe/x", "not a directory"), ("x" * 300, "file name too long"),
    ("no\udcff", "no such file or directory"),
])
def test_what_is_no_plain_file_is_refused_at_once(clone, name, reason):
    with pytest.raises(SubmissionError) as refusal:
        untrusted_files.read(clone / name, clone, 100)
    assert str(refusal.value) == f"{untrusted_files.encodable(name)}: {reason}", "no folder of the instructor's"
    assert refusal.value.args[0].encode("utf-8")


def test_a_fault_of_this_machine_is_none_of_the_students(clone, monkeypatch):
    with pytest.raises(NotADirectoryError):
        untrusted_files.read(clone / "tp1" / "tp1.ipynb" / "x", clone / "tp1" / "tp1.ipynb", 100)
    opened = os.open

    def broken(path, flags, dir_fd=None):
        if path == "tp1.ipynb":
            raise OSError(errno.EIO, "Input/output error")
        return opened(path, flags, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", broken)
    with pytest.raises(OSError, match="Input/output error"):
        untrusted_files.read(clone / "tp1" / "tp1.ipynb", clone, 100)


def test_nothing_stays_open(clone):
    before = set(os.listdir("/proc/self/fd"))
    assert untrusted_files.read(clone / "tp1" / "tp1.ipynb", clone, 4) == b"mine"
    for name in ("tp1/pipe", "tp1/none", "none/none"):
        with pytest.raises(SubmissionError):
            untrusted_files.read(clone / name, clone, 100)
    assert set(os.listdir("/proc/self/fd")) <= before


def test_a_folder_above_is_a_component_too(clone):
    with pytest.raises(SubmissionError, match="mallory is a symbolic link"):
        untrusted_files.read(clone.parent / "mallory" / "tp1" / "tp1.ipynb", clone.parent, 100)


def test_what_lies_elsewhere_is_not_read(clone):
    with pytest.raises(ValueError, match="is not in the subpath"):
        untrusted_files.read(clone / ".." / ".." / "course" / "solutions" / "tp1" / "tp1.ipynb", clone, 100)


def test_a_giant_is_not_read(clone):
    with open(clone / "giant", "wb") as file:
        file.truncate(101)
    with pytest.raises(SubmissionError, match="at most"):
        untrusted_files.read(clone / "giant", clone, 100)
    with pytest.raises(SubmissionError, match="at most"):  # it says that it is empty
        untrusted_files.read(Path("/proc/self/maps"), Path("/proc/self"), 10)


def test_whose_a_file_is_can_be_asked(clone):
    path, me = clone / "tp1" / "tp1.ipynb", os.getuid()
    assert untrusted_files.read(path, clone, 4, owner=me) == b"mine"
    with pytest.raises(SubmissionError, match="belongs to somebody else"):
        untrusted_files.read(path, clone, 4, owner=me + 1)


def test_the_root_of_what_somebody_names_is_here_or_its_clone(clone, monkeypatch):
    monkeypatch.chdir(clone)
    assert root_of(Path("folder/tp1.ipynb")) == root_of(Path("tp1.ipynb")) == clone
    monkeypatch.chdir(clone.parent.parent / "course")
    named = Path("../clones/ada/folder/tp1.ipynb")
    assert root_of(named) == clone
    (clone / ".git").mkdir()
    assert root_of(Path("../clones/ada/tp1/inner/tp1.ipynb")) == clone
    (clone.parent.parent / "course" / ".git").mkdir()
    (clone / "course").symlink_to("../../course")
    assert root_of(clone / "course" / "tp1.ipynb") == clone, "a clone that is reached by a link is another's"
    with pytest.raises(SubmissionError, match="folder is a symbolic link"):
        untrusted_files.read(named, root_of(named), 100)
