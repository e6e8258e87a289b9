"""A version of a solution that cannot be tried is never taken for the solution itself."""

import pytest

from autograder import source
from autograder.mistakes import EditError, Variant
from autograder.oracle import oracle


@pytest.fixture
def truth():
    return oracle(source.names()[0])


def test_an_edit_that_does_not_fit_is_an_error(truth):
    with pytest.raises(EditError):
        truth.replies(Variant(truth.source.exercises[0], "stale", swap=("this line stands nowhere", "")), [])


def test_a_cell_that_does_not_run_defines_nothing(truth):
    exercise = truth.source.exercises[0]
    with truth.wearing(Variant(exercise, "broken", source="raise ValueError")) as namespace:
        assert not truth.defines[exercise] & set(namespace)
    assert truth.defines[exercise] <= set(truth.namespace)
