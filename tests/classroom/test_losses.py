"""What three commands lost or leaked: each of these failed when the release folder was also where people worked."""

import nbformat
import pytest
from nbgrader.converters import GenerateAssignment
from nbgrader.converters.base import NbGraderException
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange import ExchangeError, ExchangeFactory
from nbgrader.exchange.abc import ExchangeReleaseAssignment

from autograder import cli
from autograder.classroom.nbgrader.term import Term
from autograder.classroom.samples import classroom_in
from autograder.model.source import load_source
from autograder.publish import notebooks, release
from conftest import REPOSITORY, TINY, TINY_COURSE, fingerprint


@pytest.fixture
def course(tmp_path):
    """A course whose TP is released, with an exchange of its own."""
    made = classroom_in(tmp_path / "course", TINY_COURSE, [TINY])
    (tmp_path / "exchange").mkdir()
    with open(made.root / "nbgrader_config.py", "a") as file:
        file.write(f"c.Exchange.root = {str(tmp_path / 'exchange')!r}\n")
    (made.released / TINY).mkdir(parents=True)
    nbformat.write(notebooks.released_notebook(load_source(TINY_COURSE, TINY)), made.released / TINY / f"{TINY}.ipynb")
    return made


@pytest.fixture
def filled(course, right):
    """The course after somebody has worked in its release folder; where."""
    path = course.released / TINY / f"{TINY}.ipynb"
    nbformat.write(notebooks.filled(TINY_COURSE, TINY, right), path)
    return path


def nbgrader(course, plugin, **settings):
    """Do what one of nbgrader's commands does on the TP, as it is configured in the course."""
    config = Term(course).config
    directory = CourseDirectory(config=config, assignment_id=TINY)
    plugin(coursedir=directory, config=config, **settings).start()


def give_out(course):
    """`nbgrader release_assignment`."""
    nbgrader(course, ExchangeFactory(config=Term(course).config).ReleaseAssignment)


def test_a_released_notebook_goes_to_the_class(course, tmp_path):
    give_out(course)
    assert list((tmp_path / "exchange").rglob(f"{TINY}.ipynb"))


@pytest.mark.parametrize("name", [f"{TINY}.ipynb", f"{TINY}-Copy1.ipynb"])
def test_nbgrader_does_not_release_a_filled_notebook(course, tmp_path, right, name):
    nbformat.write(notebooks.filled(TINY_COURSE, TINY, right), course.released / TINY / name)
    with pytest.raises(ExchangeError, match="filled in or run since the release"):
        give_out(course)
    assert not list((tmp_path / "exchange").rglob("*.ipynb"))


def test_nor_does_it_over_another_exchange(course, filled):
    given_out = []

    class Elsewhere(ExchangeReleaseAssignment):  # as ngshare's
        def init_src(self):
            pass

        def init_dest(self):
            pass

        def copy_files(self):
            given_out.append(self.coursedir.assignment_id)

    with pytest.raises(ExchangeError, match="filled in or run since the release"):
        nbgrader(course, Elsewhere)
    filled.unlink()
    assert not given_out
    nbgrader(course, Elsewhere)
    assert given_out == [TINY]


def test_nbgrader_does_not_write_a_release_over_a_filled_notebook(course, filled):
    before = filled.read_bytes()
    with pytest.raises(NbGraderException, match="filled in or run since the release"):
        nbgrader(course, GenerateAssignment, force=True)
    assert filled.read_bytes() == before


def test_nbgraders_own_release_can_be_told_from_work(course):
    path = course.released / TINY / f"{TINY}.ipynb"
    path.unlink()
    for _ in range(2):
        nbgrader(course, GenerateAssignment, force=True)
        assert path.is_file() and release.not_as_released(course.released) == []


def test_our_release_does_not_either(course, filled, capsys):
    before = fingerprint(course.root)
    assert cli.main(["--course", str(course.root), "release", "--no-run"]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1
    assert f"course/{TINY}/{TINY}.ipynb: filled in or run since the release" in err
    assert fingerprint(course.root) == before
    assert cli.main(["--course", str(course.root), "release", "--check"]) == 1
    assert f"stale: course/{TINY}/{TINY}.ipynb" in capsys.readouterr().out


def test_our_release_writes_over_its_own(course):
    script = course.script(TINY)
    for _ in range(2):
        assert cli.main(["--course", str(course.root), "release", "--no-run"]) == 0
        script.write_text(script.read_text(encoding="utf-8").replace("# ", "#  ", 1), encoding="utf-8")


def test_grading_changes_nothing_that_is_released_or_written_by_hand(course, filled):
    before = fingerprint(course.released, course.solutions)
    Term(course).register(TINY)
    assert fingerprint(course.released, course.solutions) == before
    with Term(course).gradebook() as gradebook:
        cells = gradebook.stock.find_notebook(TINY, TINY).grade_cells
    assert {cell.name for cell in cells} >= {"check-double", "why"}


def test_a_course_in_which_nothing_was_ever_released_can_be_graded(tmp_path):
    course = classroom_in(tmp_path / "fresh", TINY_COURSE, [TINY])
    for path in course.solutions.rglob("*.ipynb"):
        path.unlink()
    Term(course).register(TINY)
    assert not (course.released / TINY).exists()


def test_nothing_of_this_course_is_worked_in():
    assert release.not_as_released(REPOSITORY.released) == []
