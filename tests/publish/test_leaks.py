"""What is looked for in a publication, and where: in every file, however it is written and packed."""

import gzip
import io
import json
import zipfile

import pytest

from autograder.course import CourseError
from autograder.publish import leaks
from conftest import TINY, tiny_copy

HIDDEN = "henc_ts, henc_final = self.gru(encoder_input, henc_init)"
MARKED = "a `reason` for the **answer** that is long enough"


@pytest.fixture
def course(tmp_path):
    """The tiny course, whose model answer has marks of Markdown."""
    made = tiny_copy(tmp_path / "course")
    text = made.script(TINY).read_text(encoding="utf-8")
    made.script(TINY).write_text(text.replace("# Because. ", f"# {MARKED}\n# "), encoding="utf-8")
    assert MARKED in leaks.instructor_lines(made)
    return made


def test_a_line_is_looked_for_that_nobody_writes_by_chance():
    lines = ["x" * 24, "y" * 25, f"   {'z' * 26}\t", "# a comment that is long enough",
             "import what_is_long_enough_too", "from a_long_module import whatever", "imported = 'is no import'"]
    assert list(leaks.distinctive_lines("\n".join(lines))) == ["y" * 25, "z" * 26, "imported = 'is no import'"]


def test_a_line_that_students_receive_elsewhere_may_be_published(course):
    path, text = course.script(TINY), course.script(TINY).read_text(encoding="utf-8")
    assert leaks.instructor_lines(course)[HIDDEN] == f"{TINY}, encoder"
    path.write_text(text.replace("    return x + 1\n", f"    {HIDDEN}\n    return x + 1\n"), encoding="utf-8")
    assert HIDDEN not in leaks.instructor_lines(course) and leaks.leaks(course, {"a.txt": HIDDEN.encode()}) == []


def test_a_line_of_checks_that_a_page_quotes_may_be_published(course):
    line = next(leaks.distinctive_lines((course.folder(TINY) / "checks.py").read_text(encoding="utf-8")))
    assert leaks.instructor_lines(course)[line] == f"{TINY}, checks.py"
    (course.root / "docs").mkdir()
    (course.root / "docs" / "page.md").write_bytes(f"caf\xe9\n{line}\n".encode("latin-1"))
    assert line not in leaks.instructor_lines(course) and HIDDEN in leaks.instructor_lines(course)


@pytest.mark.parametrize("name, text", [
    ("a.txt", f"x\n   {HIDDEN}  \ny"), ("a.py", f"\udcff\n{HIDDEN}"), ("broken.ipynb", f"{{\n{HIDDEN}\n"),
    ("list.ipynb", json.dumps(["text", {"source": [HIDDEN[:20], f"{HIDDEN[20:]}\n", "x"]}])),
    ("mixed.ipynb", json.dumps([HIDDEN, 3, ["x"], []])), ("mixed.ipynb", json.dumps([["x"], HIDDEN])),
])
def test_a_line_is_found_however_a_file_holds_it(course, name, text):
    assert leaks.leaks(course, {name: text.encode(errors="surrogateescape")}) == [f"{name}: {TINY}, encoder: {HIDDEN}"]
    packed = gzip.compress(text.encode(errors="surrogateescape"))
    assert leaks.leaks(course, {f"{name}.gz": packed}) == [f"{name}.gz: {TINY}, encoder: {HIDDEN}"]
    assert leaks.leaks(course, {f"{name}.gz": gzip.compress(HIDDEN.encode())[:-9]}) == []


def test_a_file_of_the_instructors_is_found_in_an_archive(course):
    def packed(name, data):
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr(name, data)
        return file.getvalue()

    for name in ("gradebook/secret", "a/checks.py", "x.db"):
        (said,) = leaks.leaks(course, {"a.zip": packed(name, b"\x93\x00")})
        assert said == f"a.zip: a file of the instructor's: {name}"
        assert leaks.leaks(course, {"a.zip": packed("b.zip", packed(name, b""))}) == [said]
    for name in ("checks.pyi", "autograder/model/faults.py"):  # the engine's wheel holds the second
        assert leaks.leaks(course, {"a.zip": packed(name, b"")}) == []


def test_marks_of_markdown_are_part_of_a_text_and_not_of_a_page(course):
    assert len(leaks.leaks(course, {"a.md": MARKED.encode()})) == 1
    shown = MARKED.replace("`", "").replace("**", "")
    assert leaks.leaks(course, {"a.md": shown.encode()}) == []
    page = f"<p>{shown.replace('reason', '<code>reason</code>')}</p>"
    assert len(leaks.leaks(course, {"a.html": page.encode()})) == 1


def test_a_marker_is_one_in_code_alone_and_lines_come_in_order(course):
    text = f"### BEGIN SOLUTION\n{HIDDEN}\n{MARKED}\n".encode()
    assert [line.split(": ")[-1] for line in leaks.leaks(course, {"a.md": text})] == [MARKED, HIDDEN]
    assert [line.split(": ")[-1] for line in leaks.leaks(course, {"a.py": text})] == [
        "### BEGIN SOLUTION", MARKED, HIDDEN]


@pytest.mark.parametrize("number, more", [(1, ""), (3, ""), (4, "; and 1 more"), (7, "; and 4 more")])
def test_an_error_names_the_first_ones(course, number, more):
    files = {f"{i}.db": b"" for i in range(number)}
    shown = "; ".join(f"{i}.db: a file of the instructor's" for i in range(min(number, 3)))
    with pytest.raises(CourseError) as caught:
        leaks.require_no_leaks(course, files, "packed")
    assert str(caught.value) == f"nothing is packed, because this is the instructor's: {shown}{more}"
    leaks.require_no_leaks(course, {"a.txt": b""}, "packed")
