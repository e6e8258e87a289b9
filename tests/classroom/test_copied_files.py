"""What lies beside a notebook: nbgrader's two files are copied, nothing else is, and no link leads anywhere."""

import os

import pytest

from autograder.classroom.nbgrader.copied_files import NBGRADER_FILES, copy, differ

LINE = b"2026-11-30 13:30:00 UTC"


@pytest.fixture
def beside(tmp_path):
    """A submission's folder with a picture."""
    folder = tmp_path / "submitted" / "ada" / "tp"
    (folder / "figures").mkdir(parents=True)
    (folder / "figures" / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (folder / "a.html").write_text("<script>alert(1)</script>")
    return folder


def taken(folder):
    to = folder.parents[2] / "taken"
    copy(folder, to)
    return {str(path.relative_to(to)): path.read_bytes() for path in to.rglob("*") if path.is_file()}


def test_only_nbgraders_files_are_copied(beside):
    for name in NBGRADER_FILES:
        (beside / name).write_bytes(LINE)
        (beside / "figures" / name).write_bytes(LINE)
    assert taken(beside) == dict.fromkeys(NBGRADER_FILES, LINE)


@pytest.mark.parametrize("name", NBGRADER_FILES)
def test_what_is_new_or_another_or_gone_differs(beside, name):
    to = beside.parents[2] / "taken"
    for data in (LINE, LINE + b" later"):
        (beside / name).write_bytes(data)
        assert differ(beside, to) and taken(beside) == {name: data} and not differ(beside, to)
    (beside / "notes.txt").write_text("none of them")
    assert not differ(beside, to)
    (beside / name).unlink()
    assert differ(beside, to) and taken(beside) == {} and not differ(beside, to)


@pytest.mark.parametrize("name", NBGRADER_FILES)
def test_no_link_pipe_folder_or_hard_link_is_read(beside, tmp_path, name):
    (tmp_path / "secret").write_bytes(LINE)
    for put in (lambda path: path.symlink_to(tmp_path / "secret"), lambda path: path.symlink_to("/dev/zero"),
                os.mkfifo, os.mkdir, lambda path: path.hardlink_to(tmp_path / "secret")):
        put(beside / name)
        assert taken(beside) == {}
        (beside / name).rmdir() if (beside / name).is_dir() else (beside / name).unlink()
    (beside / name).write_bytes(LINE)
    assert taken(beside) == {name: LINE}


@pytest.mark.parametrize("content", [b"", b"2026\x1b[2J", b"\xff", b"9" * 201, b"two\nlines"])
def test_what_nbgrader_put_there_is_a_line(beside, content):
    (beside / "timestamp.txt").write_bytes(content)
    assert taken(beside) == {}
