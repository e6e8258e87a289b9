"""A zip whose entries students made: each entry comes as bytes or with why it does not, within its bounds."""

import zipfile

import pytest

from autograder.classroom.platforms import untrusted_zip
from autograder.classroom.platforms.untrusted_zip import ArchivedFile
from autograder.course import CourseError

BOUNDS = {"MAX_BYTES": 100, "MAX_OF_ONE": 150, "MAX_TOTAL": 300, "MAX_ENTRIES_OF_ONE": 3, "MAX_ENTRIES": 8}


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    for name, bound in BOUNDS.items():
        monkeypatch.setattr(untrusted_zip, name, bound)


def files_of(folder, *entries):
    """The files of a zip with these entries, (name or ZipInfo, bytes); who owns one is the first letter."""
    path = folder / "some.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for entry, data in entries:
            archive.writestr(entry, data)
    return list(untrusted_zip.files(path, lambda name: name[0]))


def info(name, mode=0, **fields):
    entry = zipfile.ZipInfo(name)
    entry.external_attr = mode << 16
    for field, value in fields.items():
        setattr(entry, field, value)
    return entry


OUT, LINK = "its name leads out of the archive", "it is a link or a device, not a file"
COMPRESSED = "it is compressed in a way that no platform uses"


@pytest.mark.parametrize("entry, problem", [
    ("a.ipynb", None), ("a/b.IPYNB", None), (info("a.ipynb", 0o100644), None), ("a/c:.ipynb", None),
    ("a..b/c.ipynb", None), ("a/../b.ipynb", OUT), ("/a.ipynb", OUT), ("\\a.ipynb", OUT), ("a\\..\\b.ipynb", OUT),
    ("c:/a.ipynb", OUT), (info("a.ipynb", 0o120777), LINK), (info("a.ipynb", 0o020644), LINK),
    *((name, "not a notebook") for name in ("a.py", "a/.b.ipynb", "a/~b.ipynb", "a/.ipynb_checkpoints/b.ipynb")),
    ("a\\", "it has no name"), (info("a.ipynb", compress_type=zipfile.ZIP_BZIP2), COMPRESSED)])
def test_an_entry_comes_as_bytes_or_with_a_reason(tmp_path, entry, problem):
    (file,) = files_of(tmp_path, (entry, b"data"))
    name = entry if isinstance(entry, str) else entry.filename
    assert file == ArchivedFile(name, b"" if problem else b"data", problem)


def test_folders_are_no_files(tmp_path):
    assert files_of(tmp_path, ("a/", b""), ("a/b.ipynb", b"x")) == [ArchivedFile("a/b.ipynb", b"x")]


def test_bytes_are_bounded_whatever_the_archive_says(tmp_path):
    too_long = "more than 0 MiB (clear the outputs and save again)"
    assert files_of(tmp_path, ("a.ipynb", b"x" * 100))[0].data == b"x" * 100
    assert files_of(tmp_path, ("a.ipynb", b"x" * 101)) == [ArchivedFile("a.ipynb", problem=too_long)]
    path = tmp_path / "some.zip"
    data = path.read_bytes()
    path.write_bytes(data.replace((101).to_bytes(4, "little"), (5).to_bytes(4, "little")))
    (lies,) = untrusted_zip.files(path, len)
    assert lies.data == b"" and lies.problem.startswith(("it cannot be read: ", "more than"))


def test_bytes_of_one_student_and_of_all_are_bounded(tmp_path):
    several = [(f"{name}{i}.ipynb", b"x" * 75) for name in "ab" for i in range(3)]
    taken = [(file.name, len(file.data)) for file in files_of(tmp_path, *several)]
    assert taken == [(name, 0 if name[1] == "2" else 75) for name, _ in several]
    assert "of one student, with those before it" in files_of(tmp_path, *several)[2].problem
    assert len(files_of(tmp_path, *((f"{name}.ipynb", b"x" * 100) for name in "abc"))) == 3
    with pytest.raises(CourseError, match="unpacks to more than 0 GiB"):
        files_of(tmp_path, *((f"{name}.ipynb", b"x" * 100) for name in "abc"), ("d.ipynb", b"x"))


def test_files_of_one_student_and_of_all_are_bounded(tmp_path):
    taken = files_of(tmp_path, *((f"a{i}.py", b"") for i in range(5)), ("b.ipynb", b"x"))
    assert [file.name for file in taken] == ["a0.py", "a1.py", "a2.py", "a3.py", "b.ipynb"]
    assert taken[3].problem == "with it, 2 of one student's 5 files are left out; the first 3 are read"
    assert len(files_of(tmp_path, *((f"{name}{i}.py", b"") for name in "ab" for i in range(4)), ("c.py", b""),
                        ("d.py", b""))) == 10, "eight are read"
    with pytest.raises(CourseError, match="holds 9 files; at most 8 are read"):
        files_of(tmp_path, *((f"{name}{i}.py", b"") for name in "abc" for i in range(4)))


@pytest.mark.parametrize("damage", [lambda data: b"no zip", lambda data: data[:-30], lambda data: b""])
def test_what_is_no_zip_is_said_so(tmp_path, damage):
    files_of(tmp_path, ("a.ipynb", b"x"))
    path = tmp_path / "some.zip"
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(CourseError, match="some.zip is not a zip that can be read: "):
        list(untrusted_zip.files(path, len))


def test_an_entry_that_cannot_be_read_does_not_stop_the_others(tmp_path):
    files_of(tmp_path, ("a.ipynb", b"first first"), ("b.ipynb", b"x"), ("c.ipynb", b"y"))
    path = tmp_path / "some.zip"
    data = bytearray(path.read_bytes())
    at = data.index(b"a.ipynb") + len("a.ipynb")
    data[at:at + 3] = b"\xff\xff\xff"  # what was compressed
    directory = data.index(b"PK\x01\x02", data.index(b"PK\x01\x02") + 1)
    data[directory + 8] |= 1  # the flag of encryption, of the second
    path.write_bytes(data)
    broken, locked, fine = untrusted_zip.files(path, len)
    assert broken.problem.startswith("it cannot be read: ") and locked.problem == "it is encrypted"
    assert fine.data == b"y"
