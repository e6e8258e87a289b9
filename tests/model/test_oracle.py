"""A version of a solution that cannot be tried is never taken for the solution itself, nor one course for another."""

import shutil

import pytest

from autograder.course import Course
from autograder.model.faults import EditError, Variant
from autograder.model.loading import module_of
from autograder.model.oracle import Oracle, oracle
from conftest import REPOSITORY, TINY


@pytest.fixture
def truth():
    return oracle(REPOSITORY, REPOSITORY.assignments[0])


def test_an_edit_that_does_not_fit_is_an_error(truth):
    with pytest.raises(EditError):
        truth.replies(Variant(truth.source.exercises[0], "stale", swap=("this line stands nowhere", "")), [])


def test_a_cell_that_does_not_run_defines_nothing(truth):
    exercise = truth.source.exercises[0]
    with truth.substituted(Variant(exercise, "broken", source="raise ValueError")) as namespace:
        assert not truth.defines[exercise] & set(namespace)
    assert truth.defines[exercise] <= set(truth.namespace)


def in_thrice(text):
    """The tiny TP in another course: there, to double is to take three times."""
    return text.replace("2 * x", "3 * x").replace("x + x", "x + x + x").replace("Twice", "Thrice")


@pytest.fixture
def other(tiny, tmp_path):
    """A second course with a TP of the same name."""
    course = Course(tmp_path)
    shutil.copytree(tiny.folder(TINY), course.folder(TINY))
    for name in (TINY, "checks", "faults"):
        path = course.folder(TINY) / f"{name}.py"
        path.write_text(in_thrice(path.read_text(encoding="utf-8")), encoding="utf-8")
    return course


def test_two_courses_with_a_tp_of_the_same_name_do_not_mix(tiny, other):
    first, second = oracle(tiny, TINY), oracle(other, TINY)
    assert (first.namespace["double"](1), second.namespace["double"](1)) == (2, 3)
    assert [truth.checks_of("double")[0].says for truth in (first, second)] == [
        "Twice every number.", "Thrice every number."]
    assert module_of(tiny, TINY, "checks") is not module_of(other, TINY, "checks")
    for truth, number in ((first, 2), (second, 3)):  # each reads its own faults, and is not changed by the other's
        squared = truth.faults_of("double")[0]
        with truth.substituted(squared) as namespace:
            assert namespace["double"](5) == 25
        assert truth.namespace["double"](5) == number * 5
    assert oracle(Course(tiny.root), TINY) is first and oracle(Course(other.root), TINY) is second


def test_a_module_is_imported_once(tiny):
    assert module_of(tiny, TINY, "checks") is module_of(Course(tiny.root), TINY, "checks")
    assert module_of(tiny, TINY, "nothing") is None


def test_a_second_oracle_shares_nothing_with_the_first(tiny):
    first, second = Oracle(tiny, TINY), Oracle(tiny, TINY)
    first.namespace["double"] = None
    assert second.namespace["double"](1) == 2
