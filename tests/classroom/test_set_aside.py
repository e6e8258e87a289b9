"""Who takes much longer than others is judged when those are done, and has the grade that it would have had."""

import pytest

from autograder.classroom.grading import MIN_FOR_PACE, grade_class, measure_one
from autograder.classroom.nbgrader.term import Term
from autograder.classroom.samples import classroom_in, hand_in
from autograder.judging.pace import MIN_SECONDS, PART_FACTOR, WHOLE_SHARE, Pace
from autograder.publish.notebooks import filled
from autograder.sandbox.options import Options
from autograder.sandbox.watchdog import Budget
from conftest import SHORT, TINY, TINY_COURSE


def test_a_part_may_take_three_times_its_own_seconds_or_half_of_the_whole():
    pace = Pace({"checks of a": 2.0, "exercise a": 0.01, "given start": 1.99})
    assert pace.whole == pytest.approx(PART_FACTOR * 4)
    assert pace.soft_limit("checks of a") == PART_FACTOR * 2
    assert pace.soft_limit("exercise a") == pace.soft_limit("never seen") == pytest.approx(WHOLE_SHARE * 4)
    assert Pace({"x": 0.01}).soft_limit("x") == MIN_SECONDS


def test_a_budget_exceeds_its_soft_limit_once_the_time_is_over():
    budget = Budget(10, 10, soft_limit=1)
    budget.book(0, 1)
    assert not budget.soft_limit_exceeded
    budget.book(0, 0.1)
    assert budget.soft_limit_exceeded and budget.exceeded() is None
    assert not Budget(10, 10, wall_used=9).soft_limit_exceeded


@pytest.mark.parametrize("is_set_aside", [
    pytest.param(True, id="set aside"), pytest.param(False, id="control", marks=pytest.mark.slow)])
def test_the_others_come_first_and_all_have_their_grades(tmp_path, right, served_here, monkeypatch, is_set_aside):
    if not is_set_aside:
        monkeypatch.setattr("autograder.classroom.grading.MIN_FOR_PACE", 1000)
    measured = []

    def as_on_a_slow_machine(*handed):
        measured.append(measure_one(*handed))
        return Pace({"all": 4.0})

    monkeypatch.setattr("autograder.classroom.grading.measure_one", as_on_a_slow_machine)
    course = classroom_in(tmp_path / "course", TINY_COURSE, [TINY])
    slow = {"eve-loops": "while True: pass", "eve-waits": "import time\ntime.sleep(2.5)"}
    for name, own in slow.items():
        hand_in(course, name, TINY, filled(TINY_COURSE, TINY, right, (own,)))
    for i in range(MIN_FOR_PACE):
        hand_in(course, f"honest-{i}", TINY, filled(TINY_COURSE, TINY, right))
    order = []
    graded = grade_class(Term(course), [TINY], Options(limits=SHORT),
                         each=lambda one, done, total: order.append(one.file.student))
    assert [min(pace.parts.values()) > 0 for pace in measured] == [True] * is_set_aside
    assert (set(order[-2:]) == set(slow)) == is_set_aside
    assert all(one.verdict.score == one.verdict.max_score for one in graded), "a grade does not depend on it"
    notes = {one.file.student: one.verdict.notes for one in graded if one.verdict.notes}
    assert list(notes) == ["eve-loops"] and "was left out" in notes["eve-loops"][0]
