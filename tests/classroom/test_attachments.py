"""What lies beside a notebook: pictures are taken over, within bounds, and no link leads anywhere."""

import os

import pytest

from autograder.classroom import attachments
from autograder.classroom.attachments import MAX_BYTES, MAX_FILES, copy_attachments, excess

PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)


@pytest.fixture
def beside(tmp_path):
    """A submission's folder with a picture."""
    folder = tmp_path / "submitted" / "ada" / "tp"
    (folder / "figures").mkdir(parents=True)
    (folder / "figures" / "a.png").write_bytes(PNG)
    return folder


def taken(folder):
    to = folder.parents[2] / "taken"
    copy_attachments(folder, to)
    return {str(path.relative_to(to)): path.read_bytes() for path in to.rglob("*") if path.is_file()}


def test_pictures_by_content_are_taken_over(beside):
    kinds = {"b.jpg": b"\xff\xd8\xff\xe0", "c": b"GIF89a", "d.webp": b"RIFF\0\0\0\0WEBP", "timestamp.txt": b"2026"}
    for name, data in kinds.items():
        (beside / name).write_bytes(data)
    for name in ("page.png", "a.svg", "a.html", "tp0.ipynb", "figures/timestamp.txt"):
        (beside / name).write_text("<svg><script>alert(1)</script></svg>")
    assert taken(beside) == {"figures/a.png": PNG, **kinds}


def test_what_is_new_or_another_differs(beside):
    to = beside.parents[2] / "taken"
    assert attachments.differ(beside, to)
    taken(beside)
    assert not attachments.differ(beside, to)
    for name, data in {"timestamp.txt": b"2026", "b.png": PNG, "figures/a.png": PNG + b"2"}.items():
        (beside / name).write_bytes(data)
        assert attachments.differ(beside, to)
        taken(beside)
    (beside / "notes.txt").write_text("no picture")
    assert not attachments.differ(beside, to)
    (beside / "timestamp.txt").unlink()
    assert attachments.differ(beside, to)
    assert "timestamp.txt" not in taken(beside)
    assert not attachments.differ(beside, to)


@pytest.mark.parametrize("name", ["a.html", "b.ipynb", *attachments.NBGRADER_FILES])
def test_no_folder_or_picture_of_the_name_of_what_nbgrader_reads_is_taken_over(beside, name):
    (beside / name).write_bytes(PNG)
    (beside / "deep" / name).mkdir(parents=True)
    (beside / "deep" / name / "c.png").write_bytes(PNG)
    assert taken(beside) == {"figures/a.png": PNG}


def test_no_link_pipe_or_device_is_followed(beside, tmp_path):
    (tmp_path / "secret.png").write_bytes(PNG)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "b.png").write_bytes(PNG)
    (beside / "secret.png").symlink_to(tmp_path / "secret.png")
    (beside / "link").symlink_to(tmp_path / "folder")
    (beside / "zero.png").symlink_to("/dev/zero")
    os.mkfifo(beside / "timestamp.txt")
    assert taken(beside) == {"figures/a.png": PNG}


@pytest.mark.parametrize("content", [b"2026\x1b[2J", b"\xff", b"9" * 201, b"two\nlines"])
def test_what_nbgrader_put_there_is_a_line(beside, content):
    (beside / "timestamp.txt").write_bytes(content)
    assert taken(beside) == {"figures/a.png": PNG}


def test_no_picture_is_taken_for_its_name_and_many_notebooks_are_many_files(beside):
    (beside / "picture.ipynb").write_bytes(PNG)
    assert taken(beside) == {"figures/a.png": PNG}
    for number in range(MAX_FILES):
        (beside / f"{number}.ipynb").write_bytes(PNG)
    assert excess(beside)


def test_what_nbgrader_put_there_is_taken_over_beside_too_much(beside):
    (beside / "timestamp.txt").write_text("2026")
    for number in range(MAX_FILES):
        (beside / str(number)).touch()
    assert taken(beside) == {"timestamp.txt": b"2026"}


@pytest.mark.parametrize("bound", ["files", "bytes", "folders"])
def test_what_is_too_much_is_told_and_not_taken_over(beside, bound):
    assert excess(beside) is None
    if bound == "bytes":
        with open(beside / "large.bin", "wb") as file:
            file.truncate(MAX_BYTES + 1)
    deepest = beside
    for number in range(MAX_FILES if bound != "bytes" else 0):
        if bound == "files":
            (beside / str(number)).touch()
        else:
            deepest = deepest / "d"
            deepest.mkdir()
    assert f"more than {MAX_BYTES // 2**20 if bound == 'bytes' else MAX_FILES} " in excess(beside)
    assert taken(beside) == {}


def test_no_more_files_are_looked_at_than_the_bound(beside, monkeypatch):
    seen = []
    stock = attachments._files
    monkeypatch.setattr(attachments, "_files", lambda folder: (seen.append(one) or one for one in stock(folder)))
    for number in range(10 * MAX_FILES):
        (beside / str(number)).touch()
    assert taken(beside) == {} and len(seen) == MAX_FILES + 1
