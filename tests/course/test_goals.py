"""Each learning goal of session 5 is met on its core path, and the page that says where is up to date."""

import pytest

from autograder.model.source import Source, cells_of
from autograder.publish import effort
from bench import goals
from bench.goals import Mention
from conftest import REPOSITORY

GROUPS = {"Data": ["read", "pad"], "Model": ["count to two"]}

LOOK = '# %% [markdown]\n# # Title\n# ## Data\n\n# %% demo="look" covers="2"\n1\n'
WORDS = ('\n# %% exercise="words" covers="2,3"\n### BEGIN SOLUTION\nx = 1\n### END SOLUTION\n\n'
         '# %% check="words" points=1\n1\n')


def made_of(text):
    return Source(REPOSITORY, "tp", cells_of(text, "tp"))


@pytest.fixture(scope="module")
def met():
    return goals.coverage(goals.session(), 34)


def test_the_translator_has_thirty_four_points():
    assert sum(map(len, goals.goals().values())) == 34


def test_every_point_is_something_a_student_does(met):
    unchecked = {"text", "worked cell"}
    assert not [number for number, places in met.items() if {place.kind for place in places} <= unchecked]


def test_every_point_lies_on_the_core_path(met):
    source = goals.session()
    extensions = {task.name for task in effort.tasks(source) if task.extension}
    assert {place.name for places in met.values() for place in places} & extensions == set()
    waiting = [(cell.name, task) for cell in source.by_role("demo", "training") if "covers" in cell.metadata
               for line in cell.source.splitlines() if "tp.done(" in line
               for task in extensions if f'"{task}"' in line]
    assert waiting == []


def test_the_page_is_up_to_date():
    assert goals.PAGE.read_text(encoding="utf-8") == goals.page(goals.session(), goals.goals()), "run make notebooks"


def test_places_are_named_with_their_heading_and_exercises_come_first():
    source = made_of(LOOK + WORDS)
    assert goals.coverage(source, 3)[2] == [Mention("exercise", "words", "Data"),
                                            Mention("worked cell", "look", "Data")]
    lines = goals.page(source, GROUPS).splitlines()
    assert "| 3 | count to two | Data: exercise `words` |" in lines
    assert "| 2 | pad | Data: exercise `words`, worked cell `look` |" in lines


def test_a_worked_cell_that_asserts_something_has_a_check():
    source = made_of(LOOK + "assert 1 == 1\n\n# %% given=\"more\" covers=\"2\"\nprint('assert ')\n")
    assert [place.kind for place in goals.coverage(source, 3)[2]] == ["worked cell with a check", "worked cell"]


@pytest.mark.parametrize("covers", ["4", "0", "seven"])
def test_a_point_that_does_not_exist_is_refused(covers):
    with pytest.raises((KeyError, ValueError)):
        goals.coverage(made_of(f'# %% demo="look" covers="{covers}"\n1\n'), 3)
