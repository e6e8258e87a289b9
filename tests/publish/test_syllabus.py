"""Each point of a syllabus is met in its TP, and the page that says where is up to date."""

import pytest

from autograder.course import Course
from autograder.model.errors import SourceError
from autograder.model.source import Source, cells_of, load_source
from autograder.publish import effort, syllabus
from autograder.publish.syllabus import Mention, Syllabus
from conftest import REPOSITORY, TINY

WITH_SYLLABUS = [name for name in REPOSITORY.assignments if syllabus.read(load_source(REPOSITORY, name))]
POINTS = Syllabus(None, "Where", "An intro.", {"Data": ["read", "pad"], "Model": ["count to two"]})

LOOK = '# %% [markdown]\n# # Title\n# ## Data\n\n# %% demo="look" covers="2"\n1\n'
WORDS = ('\n# %% exercise="words" covers="2,3"\n### BEGIN SOLUTION\nx = 1\n### END SOLUTION\n\n'
         '# %% check="words" points=1\n1\n')


def made_of(text):
    return Source(REPOSITORY, "tp", cells_of(text, "tp"))


def test_the_translator_has_thirty_four_points():
    assert [syllabus.read(load_source(REPOSITORY, name)).count for name in WITH_SYLLABUS] == [34]


@pytest.mark.parametrize("name", WITH_SYLLABUS)
def test_every_point_is_something_a_student_does(name):
    source = load_source(REPOSITORY, name)
    met = syllabus.coverage(source, syllabus.read(source).count)
    assert all(met.values())
    unchecked = {"text", "worked cell"}
    assert not [number for number, places in met.items() if {place.kind for place in places} <= unchecked]


@pytest.mark.parametrize("name", WITH_SYLLABUS)
def test_every_point_lies_on_the_core_path(name):
    source = load_source(REPOSITORY, name)
    extensions = {task.name for task in effort.tasks(source) if task.extension}
    met = syllabus.coverage(source, syllabus.read(source).count)
    assert {place.name for places in met.values() for place in places} & extensions == set()
    waiting = [(cell.name, task) for cell in source.by_role("demo", "training") if "covers" in cell.metadata
               for line in cell.source.splitlines() if "tp.done(" in line
               for task in extensions if f'"{task}"' in line]
    assert waiting == []


@pytest.mark.parametrize("name", WITH_SYLLABUS)
def test_the_page_is_up_to_date(name):
    found = syllabus.read(load_source(REPOSITORY, name))
    page = found.page.read_text(encoding="utf-8")
    assert page == syllabus.page(load_source(REPOSITORY, name), found), "run autograder release"


def test_places_are_named_with_their_heading_and_exercises_come_first():
    source = made_of(LOOK + WORDS)
    assert syllabus.coverage(source, 3)[2] == [Mention("exercise", "words", "Data"),
                                              Mention("worked cell", "look", "Data")]
    lines = syllabus.page(source, POINTS).splitlines()
    assert "| 3 | count to two | Data: exercise `words` |" in lines
    assert "| 2 | pad | Data: exercise `words`, worked cell `look` |" in lines


def test_a_worked_cell_that_asserts_something_has_a_check():
    source = made_of(LOOK + "assert 1 == 1\n\n# %% given=\"more\" covers=\"2\"\nprint('assert ')\n")
    assert [place.kind for place in syllabus.coverage(source, 3)[2]] == ["worked cell with a check", "worked cell"]


@pytest.mark.parametrize("covers", ["4", "0", "seven"])
def test_a_point_that_does_not_exist_is_refused(covers):
    with pytest.raises(SourceError, match="covers"):
        syllabus.coverage(made_of(f'# %% demo="look" covers="{covers}"\n1\n'), 3)


@pytest.fixture
def course(tmp_path):
    """A course of one TP, without a syllabus so far."""
    course = Course(tmp_path)
    course.folder(TINY).mkdir(parents=True)
    course.script(TINY).write_text(LOOK + WORDS, encoding="utf-8")
    return course


def test_a_session_with_a_syllabus_has_a_page(course):
    assert syllabus.read(load_source(course, TINY)) is None and syllabus.pages(load_source(course, TINY)) == {}
    (course.folder(TINY) / "syllabus.toml").write_text(
        'page = "docs/where.md"\ntitle = "Where"\nintro = "An intro."\n'
        '[[groups]]\nname = "Data"\npoints = ["read", "pad", "count"]\n', encoding="utf-8")
    ((path, text),) = syllabus.pages(load_source(course, TINY)).items()
    assert path == course.root / "docs" / "where.md" and text.startswith("# Where\n\nAn intro.\n")


@pytest.mark.parametrize("text", ["not = [toml", "title = 1", 'groups = "none"'])
def test_what_is_no_syllabus_is_refused_in_one_line(course, text):
    (course.folder(TINY) / "syllabus.toml").write_text(text, encoding="utf-8")
    with pytest.raises(SourceError, match="not a syllabus") as refused:
        syllabus.read(load_source(course, TINY))
    assert "\n" not in str(refused.value)
