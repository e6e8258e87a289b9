"""Each of the thirty-four points is met in TP 6, and the page that says where is up to date."""

import pytest

from autograder import thirty_four
from autograder.source import Source, SourceError, load, parse


def made_of(text):
    return Source("tp", None, parse(text, "tp"))


def test_the_list_has_thirty_four_points():
    assert sum(map(len, thirty_four.POINTS.values())) == 34


def test_every_point_is_something_a_student_does():
    met = thirty_four.coverage(load(thirty_four.TP))
    only_read = [number for number, cells in met.items() if not any(kind != "text" for kind, *_ in cells)]
    assert only_read == [1], "to install is read about; everything else is an exercise, a worked cell or an answer"


def test_the_page_is_up_to_date():
    assert thirty_four.PAGE.read_text(encoding="utf-8") == thirty_four.page(load(thirty_four.TP)), "run python -m autograder.thirty_four"


def test_places_are_named_with_their_heading_and_exercises_come_first():
    source = made_of('# %% [markdown]\n# # Title\n# ## Data\n\n# %% demo="look" covers="7"\n1\n\n'
                     '# %% exercise="words" covers="7,8"\n### BEGIN SOLUTION\nx = 1\n### END SOLUTION\n\n# %% check="words" points=1\n1\n')
    assert thirty_four.coverage(source)[7] == [("exercise", "words", "Data"), ("worked cell", "look", "Data")]
    assert "| 8 | make padded batches of sentences of like length | exercise `words` (Data) |" in thirty_four.page(source)


@pytest.mark.parametrize("covers", ["35", "0", "seven"])
def test_a_point_that_does_not_exist_is_refused(covers):
    with pytest.raises(SourceError, match="covers"):
        thirty_four.coverage(made_of(f'# %% demo="look" covers="{covers}"\n1\n'))
