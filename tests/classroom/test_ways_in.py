"""Every way in refuses a submission that points at the solution, and survives what is no file."""

import os
import struct
import types
from datetime import datetime

import pytest
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange import ExchangeError
from nbgrader.exchange.default.collect import ExchangeCollect
from nbgrader.exchange.default.release_feedback import ExchangeReleaseFeedback
from nbgrader.utils import notebook_hash
from traitlets.config import Config

from autograder.classroom import similar, tampering
from autograder.classroom.nbgrader import student_files
from autograder.classroom.nbgrader.copied_files import NBGRADER_FILES
from autograder.classroom.nbgrader.gradebook import GradebookError
from autograder.classroom.nbgrader.term import Term
from autograder.classroom.platforms import gradescope
from autograder.classroom.samples import classroom_in, hand_in
from autograder.classroom.student_work import StudentWork
from autograder.classroom.submitted import submitted_files
from autograder.cli import main
from autograder.publish.notebooks import filled, solved
from conftest import TINY, TINY_COURSE


@pytest.fixture
def course(tiny, tmp_path):
    """A course with the solution's notebook in it; ada has handed in a blank one."""
    made = classroom_in(tmp_path / "course", tiny, [TINY])
    hand_in(made, "ada", TINY, filled(TINY_COURSE, TINY, {}))
    solution = hand_in(made, "ada", "x", filled(TINY_COURSE, TINY, solved(TINY_COURSE, TINY)))
    solution.rename(made.folder(TINY) / f"{TINY}.ipynb")
    solution.parent.rmdir()
    return made


@pytest.fixture
def solution(course):
    """The solution's notebook."""
    return course.folder(TINY) / f"{TINY}.ipynb"


@pytest.fixture
def grade(course, judging_here, grade_here, monkeypatch):
    """Grade the class; student → what came of it."""
    monkeypatch.setattr(judging_here, "course", course)
    return grade_here


def links(course, solution):
    """Three who point at the solution, by each component, and one who points at ada."""
    submitted = course.gradebook / "submitted"
    (submitted / "eve").symlink_to(solution.parent.parent)
    (submitted / "bob").mkdir()
    (submitted / "bob" / TINY).symlink_to(solution.parent)
    (submitted / "tom" / TINY).mkdir(parents=True)
    (submitted / "tom" / TINY / f"{TINY}.ipynb").symlink_to(solution)
    (submitted / "mallory").symlink_to("ada")
    return ["bob", "eve", "mallory", "tom"]


def test_a_class_with_links_pipes_and_odd_names_is_graded(course, solution, grade):
    names, submitted = links(course, solution), course.gradebook / "submitted"
    os.mkfifo(submitted / "ada" / TINY / "timestamp.txt")
    hand_in(course, "zoe", TINY, solution.read_bytes())
    (submitted / "zoe" / TINY / "timestamp.txt").symlink_to("/dev/zero")
    os.mkdir(os.fsencode(submitted) + b"/caf\xe9")
    os.mkdir(os.fsencode(submitted) + b"/caf\xe9/" + TINY.encode())
    found = grade(course)
    assert {name: found[name].verdict.points for name in names} == dict.fromkeys(names, 0)
    assert all("symbolic link" in found[name].verdict.ungraded_reason for name in names)
    assert found["caf\\xe9"].problem == "the name of the folder caf\\xe9 is not UTF-8: rename it"
    zoe = found["zoe"].verdict
    assert zoe.points == zoe.max_points > 0
    assert zoe.notes == ("the file is the notebook of the solution, byte for byte",)
    assert [one.problem for name, one in found.items() if name != "caf\\xe9"] == [None] * 6
    assert found["ada"].verdict.notes == ()


def test_nothing_is_told_of_what_lies_behind_a_link(course, tmp_path):
    """A folder with one notebook of another name: it would stand in a note that the student reads."""
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "the-next-exam.ipynb").write_text("{}")
    (course.gradebook / "submitted" / "eve").mkdir()
    (course.gradebook / "submitted" / "eve" / TINY).symlink_to(tmp_path / "private")
    (tmp_path / "private" / TINY).symlink_to(".")
    (course.gradebook / "submitted" / "tom").symlink_to(tmp_path / "private")
    found = {one.student: one for one in submitted_files(course.gradebook / "submitted", [TINY])}
    for name in ("eve", "tom"):
        assert (found[name].note, found[name].path.name) == (None, f"{TINY}.ipynb")
        assert "symbolic link" in found[name].read().unreadable
    assert found["ada"].read().data
    real = hand_in(course, "bob", TINY, b"{}")
    real.rename(real.with_name("mine.ipynb"))
    found = {one.student: one for one in submitted_files(course.gradebook / "submitted", [TINY])}
    assert found["bob"].note == "the notebook was called mine.ipynb", "the control"


def test_without_it_each_link_gives_the_solution(course, solution):
    """The control: what a reader sees that follows links."""
    links(course, solution)
    for one in submitted_files(course.gradebook / "submitted", [TINY]):
        followed = one.path.read_bytes() == solution.read_bytes()
        assert followed == (one.student in ("bob", "eve", "tom"))


def test_check_refuses_a_folder_that_is_a_link(course, solution, capsys, monkeypatch):
    """As a clone of GitHub Classroom may hold it."""
    (course.root / "clone").symlink_to(solution.parent)
    monkeypatch.chdir(course.root)
    assert main(["--course", str(course.root), "check", f"clone/{TINY}.ipynb", "--github"]) == 2
    assert "clone is a symbolic link" in "".join(capsys.readouterr())


def test_gradescope_refuses_links(tmp_path, solution):
    (tmp_path / "submission").mkdir()
    (tmp_path / "submission" / f"{TINY}.ipynb").symlink_to(solution)
    handed = gradescope.find(tmp_path / "submission", TINY)
    assert handed.data == b"" and "symbolic link" in handed.unreadable


def test_copies_are_not_looked_for_behind_links(course, solution):
    links(course, solution)
    works = similar.compare(Term(course), TINY, course.gradebook / "submitted").submissions
    assert {work.student.name for work in works if any(work.code.values())} == {"ada"}


def test_the_screen_looks_for_signs_in_what_a_student_handed_in_and_nowhere_else(course):
    """A pipe would hold it for ever."""
    submitted = course.gradebook / "submitted"
    told = hand_in(course, "zoe", TINY, filled(TINY_COURSE, TINY, {}, ("import os\nos._exit(1)",)))
    (submitted / "eve").symlink_to("zoe")
    for name in ("bob", "tom"):
        (submitted / name / TINY).mkdir(parents=True)
    (submitted / "bob" / TINY / f"{TINY}.ipynb").symlink_to(told)
    os.mkfifo(submitted / "tom" / TINY / f"{TINY}.ipynb")
    found = {name: tampering.flags_of(StudentWork(course, TINY, name))
             for name in ("zoe", "eve", "bob", "tom", "nobody")}
    assert found == {"zoe": ["ends the process: `os._exit(1)`"], "eve": [], "bob": [], "tom": [], "nobody": []}
    assert (submitted / "bob" / TINY / f"{TINY}.ipynb").read_bytes() == told.read_bytes(), "the control"


def test_a_notebook_is_looked_at_once_and_again_when_it_is_another(course, monkeypatch):
    looked, real = [], tampering.flags
    monkeypatch.setattr(tampering, "flags", lambda cells: looked.append(1) or real(cells))
    work = StudentWork(course, TINY, "zoe")
    for code, count in (("os._exit(2)", 1), ("os._exit(2)", 1), ("os._exit(3)", 2)):
        hand_in(course, "zoe", TINY, filled(TINY_COURSE, TINY, {}, (f"import os\n{code}",)))
        assert tampering.flags_of(work) == [f"ends the process: `{code}`"] and len(looked) == count


def test_signs_are_found_in_a_notebook_of_another_name(course):
    told = hand_in(course, "zoe", TINY, filled(TINY_COURSE, TINY, {}, ("import os\nos._exit(1)",)))
    told.rename(told.with_name("mine.ipynb"))
    assert tampering.flags_of(StudentWork(course, TINY, "zoe")) == ["ends the process: `os._exit(1)`"]


def test_the_exchange_leaves_links_behind(course, solution, tmp_path):
    inbound = tmp_path / "inbound" / "eve+tp+time"
    (inbound / "data").mkdir(parents=True)
    (inbound / f"{TINY}.ipynb").symlink_to(solution)
    (inbound / "more").symlink_to(solution.parent)
    os.link(solution, inbound / "hard.ipynb")
    (inbound / "data" / "plain.txt").write_text("mine")
    os.mkfifo(inbound / "pipe")
    told = []
    log = types.SimpleNamespace(warning=lambda *words: told.append(words), debug=print)
    exchange = ExchangeCollect(coursedir=CourseDirectory(config=Term(course).config))
    exchange.log.warning = log.warning
    exchange.do_copy(str(inbound), str(tmp_path / "collected"))
    found = [path.relative_to(tmp_path / "collected") for path in (tmp_path / "collected").rglob("*") if path.is_file()]
    assert [str(path) for path in found] == ["data/plain.txt"]
    assert len(told) == 3
    inbound.parent.joinpath("mallory+tp+time").symlink_to(inbound)
    exchange.do_copy(str(inbound.parent / "mallory+tp+time"), str(tmp_path / "other"))
    assert not any(path.is_file() for path in (tmp_path / "other").rglob("*"))


def test_the_exchange_leaves_behind_what_belongs_to_somebody_else(course, solution, tmp_path, monkeypatch):
    inbound = tmp_path / "inbound" / "eve+tp+time"
    inbound.mkdir(parents=True)
    (inbound / "mine.txt").write_text("mine")
    read = student_files.untrusted_files.read
    monkeypatch.setattr(student_files.untrusted_files, "read", lambda *args: read(*args[:3], args[3] + 1))
    exchange = ExchangeCollect(coursedir=CourseDirectory(config=Term(course).config))
    exchange.do_copy(str(inbound), str(tmp_path / "collected"))
    assert list((tmp_path / "collected").iterdir()) == []


@pytest.fixture
def inbound(course, tmp_path, monkeypatch):
    """The folder of an exchange into which students put what they hand in."""
    term = Term(course)
    folder = tmp_path / "exchange" / term.config.CourseDirectory.course_id / "inbound"
    folder.mkdir(parents=True)
    return folder


def collected(course, inbound, patched=True):
    """Collect, as `nbgrader collect` does; the names of the folders that are in the course then."""
    config = Config({**Term(course).config, "Exchange": {"root": str(inbound.parents[1])}})
    directory = CourseDirectory(config=config)
    directory.assignment_id = TINY
    exchange = ExchangeCollect(coursedir=directory, config=config)
    if not patched:
        exchange._path_to_record = lambda path: ExchangeCollect._path_to_record.stock(exchange, path)
    exchange.start()
    return sorted(str(path.parent.relative_to(course.gradebook)) for path in course.gradebook.rglob("mine.txt"))


@pytest.mark.parametrize("name", [" bob", "bob\x1b[2J", "bob"])
def test_a_name_in_the_exchange_that_is_no_students_is_left_behind(course, inbound, name, monkeypatch):
    me = os.geteuid()
    accounts = {student: types.SimpleNamespace(pw_uid=uid) for student, uid in (("bob", me + 1), ("zoe", me))}
    monkeypatch.setattr(student_files.pwd, "getpwnam", accounts.__getitem__)
    for student in (name, "zoe", "tom"):
        folder = inbound / f"{student}+{TINY}+2026-01-02 03:04:05 UTC"
        folder.mkdir()
        (folder / "mine.txt").write_text("mine")
    expected = [f"submitted/tom/{TINY}", f"submitted/zoe/{TINY}"]
    assert collected(course, inbound) == expected
    assert collected(course, inbound, patched=False) != expected, "the control"


@pytest.mark.parametrize("time", ["no time", "9" * 30])
def test_a_time_in_the_exchange_that_is_none_holds_up_nobody(course, inbound, time):
    for folder in (f"bob+{TINY}+{time}", f"zoe+{TINY}+2026-01-02 03:04:05 UTC"):
        (inbound / folder).mkdir()
        (inbound / folder / "mine.txt").write_text("mine")
    assert collected(course, inbound) == [f"submitted/zoe/{TINY}"]
    with pytest.raises((ValueError, OverflowError)):  # the control
        collected(course, inbound, patched=False)


def test_of_a_submission_in_the_exchange_so_many_files_are_taken(course, inbound, monkeypatch):
    monkeypatch.setattr(student_files, "MAX_FILES", 3)
    monkeypatch.setattr(student_files, "MAX_NAME", 300)
    for name in ("eve", "zoe"):
        (inbound / f"{name}+{TINY}+2026-01-02 03:04:05 UTC").mkdir()
    eve, zoe = sorted(inbound.iterdir())
    for number in range(10):
        (eve / str(number)).touch()
    deep = zoe / "/".join(["d" * 99] * 3)
    deep.mkdir(parents=True)
    for path in (deep, zoe):
        (path / "mine.txt").touch()
    collected(course, inbound)
    submitted = course.gradebook / "submitted"
    assert len(list((submitted / "eve" / TINY).iterdir())) == 3
    assert [path.name for path in (submitted / "zoe" / TINY).iterdir()] == ["mine.txt"]


def to_release(course, tmp_path, *students):
    """Write a page of each student; the course in its term, the folder of its exchange, and the session."""
    term = Term(course)
    for student in students:
        folder = course.gradebook / "feedback" / student / TINY
        folder.mkdir(parents=True)
        (folder / f"{TINY}.html").write_text(student)
        for name in NBGRADER_FILES:
            (folder / name).write_text(f"{student} 2026")
    term.config.Exchange.root = str(tmp_path / "exchange")
    (tmp_path / "exchange").mkdir()
    directory = CourseDirectory(config=term.config)
    directory.assignment_id = TINY
    return term, tmp_path / "exchange" / term.config.CourseDirectory.course_id / "feedback", directory


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # stock leaves a file open
@pytest.mark.parametrize("lacking", NBGRADER_FILES)
def test_who_left_out_what_nbgrader_put_there_holds_up_nobodys_feedback(course, tmp_path, lacking):
    term, pages, directory = to_release(course, tmp_path, "ada", "eve", "zoe")
    (course.gradebook / "feedback" / "eve" / TINY / lacking).unlink()
    ExchangeReleaseFeedback(coursedir=directory, config=term.config).start()
    assert sorted(page.read_text() for page in pages.iterdir()) == ["ada", "zoe"]
    assert term.release_feedback(TINY) == 2
    with pytest.raises(FileNotFoundError):  # the control
        one = ExchangeReleaseFeedback(coursedir=directory, config=term.config)
        one.init_src()
        one.init_dest()
        ExchangeReleaseFeedback.copy_files.stock(one)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # stock leaves a file open
@pytest.mark.parametrize("spoil", [lambda folder: (folder / "a.html").mkdir(),
                                   lambda folder: (folder / "timestamp.txt").write_bytes(b"\x89PNG")],
                         ids=["folder", "picture"])
def test_a_folder_or_picture_of_the_name_of_what_nbgrader_reads_holds_up_nobodys_feedback(course, tmp_path, spoil):
    term, pages, directory = to_release(course, tmp_path, "ada", "eve", "zoe")
    spoil(course.gradebook / "feedback" / "eve" / TINY)
    for release in (ExchangeReleaseFeedback(coursedir=directory, config=term.config).start,
                    lambda: term.release_feedback(TINY)):
        with pytest.raises((ExchangeError, GradebookError), match="eve.*not released|not released.*eve"):
            release()
        assert {"ada", "zoe"} <= {page.read_text() for page in pages.iterdir()}
        for page in pages.iterdir():
            page.unlink()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # stock leaves a file open
def test_a_notebook_of_another_name_finds_its_page(course, tmp_path):
    """nbgrader looks for the page by the name of the notebook that was handed in."""
    term, pages, _ = to_release(course, tmp_path, "ada", "o[1]")
    for student in ("ada", "o[1]"):
        handed_in = course.gradebook / "submitted" / student / TINY
        handed_in.mkdir(parents=True, exist_ok=True)
        (handed_in / "other.ipynb").write_text("{}")
    assert term.release_feedback(TINY) == 2
    for student in ("ada", "o[1]"):
        for name in (TINY, "other"):
            page = pages / f"{notebook_hash(secret=f'{student} 2026', notebook_id=name)}.html"
            assert page.read_text() == student
        left = (course.gradebook / "feedback" / student / TINY).glob("*.html")
        assert [path.name for path in left] == [f"{TINY}.html"]


def test_the_time_zone_of_a_timestamp_is_no_file(course, tmp_path):
    (tmp_path / "zone").write_bytes(b"TZif" + bytes(16) + struct.pack(">6LlBB4s", 0, 0, 0, 0, 1, 4, 3600, 0, 0, b"UTC"))
    folder = course.gradebook / "submitted" / "ada" / TINY
    (folder / "timestamp.txt").write_text(f"2026-01-02 03:04:05 {tmp_path}/zone")
    directory = CourseDirectory(config=Term(course).config)
    assert directory.get_existing_timestamp(str(folder)) is None
    stock = CourseDirectory.get_existing_timestamp.stock(directory, str(folder))
    assert stock == datetime(2026, 1, 2, 2, 4, 5), "the control: it would be opened"


@pytest.mark.parametrize("content, said", [(b"2026-01-02 03:04:05 UTC\n", True), (b"", False), (b"no time", False),
                                           (b"\xff", False), (b"9" * 101, False)])
def test_a_timestamp_is_a_line(course, content, said):
    folder = course.gradebook / "submitted" / "ada" / TINY
    (folder / "timestamp.txt").write_bytes(content)
    directory = CourseDirectory(config=Term(course).config)
    assert (directory.get_existing_timestamp(str(folder)) is not None) == said
