"""Rubrics: the items that a grader ticks."""

import pytest

from autograder.model import rubric
from autograder.model.rubric import RubricItem
from autograder.model.source import load_source
from conftest import REPOSITORY, TINY, TINY_COURSE


def items(text, points=2.0):
    return rubric.parse(text, points).items


def test_items_hold_what_follows_them():
    text = ("Model, worth 1 point.\n**Rubric.** 1 point: this (or: that). It need not be long.\n"
            "0.5 points: `x`; 0.5 points: y.")
    found = rubric.parse(text, 2.0)
    assert found.model == "Model, worth 1 point."
    assert found.items == (RubricItem(1, "this (or: that). It need not be long."), RubricItem(0.5, "`x`"),
                           RubricItem(0.5, "y."))


@pytest.mark.parametrize("text, says", [("Model.", "a right answer"), ("Model. **Rubric.** A reason\nthat holds.",
                                                                      "A reason that holds.")])
def test_a_rubric_without_items_is_one_item_with_all_points(text, says):
    assert items(text, 3.0) == (RubricItem(3.0, says),)


def test_advice_is_given_where_items_do_not_reach_the_points():
    assert rubric.problem("**Rubric.** 1 point: this.", 2.0) == "adds up to 1 of 2 points"
    assert rubric.problem("**Rubric.** 1 point: this. 1 point: that. 1 point: or this.", 2.0) is None


def test_the_rubrics_of_the_course_can_be_ticked():
    for course, sessions in ((REPOSITORY, REPOSITORY.sessions), (TINY_COURSE, [TINY])):
        for session in sessions:
            for cell in load_source(course, session).by_role("answer"):
                found = items(cell.hidden, cell.points)
                assert rubric.problem(cell.hidden, cell.points) is None and len(found) > 1, (session, cell.name)
                assert all(item.description for item in found)
