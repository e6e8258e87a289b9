"""Who takes much longer than others is judged when those are done, and has the grade that it would have had."""

import pytest

from autograder.classroom.grading import MIN_FOR_SOFT_LIMIT, _Run, grade_class
from autograder.classroom.nbgrader.term import Term
from autograder.classroom.samples import classroom_in, hand_in
from autograder.publish.notebooks import filled
from autograder.sandbox.options import Options
from conftest import SHORT, TINY, TINY_COURSE


@pytest.mark.parametrize("is_set_aside", [
    pytest.param(True, id="set aside"), pytest.param(False, id="control", marks=pytest.mark.slow)])
def test_the_others_come_first_and_all_have_their_grades(tmp_path, right, served_here, monkeypatch, is_set_aside):
    if not is_set_aside:
        monkeypatch.setattr("autograder.classroom.grading.MIN_FOR_SOFT_LIMIT", 1000)
    measured, soft_limits = {}, _Run._soft_limits

    def as_on_a_slow_machine(run, waiting):
        measured.update(soft_limits(run, waiting))
        return dict.fromkeys(measured, 3.5)

    monkeypatch.setattr(_Run, "_soft_limits", as_on_a_slow_machine)
    course = classroom_in(tmp_path / "course", TINY_COURSE, [TINY])
    slow = {"eve-loops": ["while True: pass"] * 2, "eve-waits": ["import time\ntime.sleep(5)"]}
    for name, own in slow.items():
        hand_in(course, name, TINY, filled(TINY_COURSE, TINY, right, own))
    for i in range(MIN_FOR_SOFT_LIMIT):
        hand_in(course, f"honest-{i}", TINY, filled(TINY_COURSE, TINY, right))
    order = []
    graded = grade_class(Term(course), [TINY], Options(limits=SHORT),
                         each=lambda one, done, total: order.append(one.file.student))
    assert [limit > 0 for limit in measured.values()] == [True] * is_set_aside
    assert (set(order[-2:]) == set(slow)) == is_set_aside
    assert all(one.verdict.points == one.verdict.max_points for one in graded), "a grade does not depend on it"
    notes = {one.file.student: one.verdict.notes for one in graded if one.verdict.notes}
    assert list(notes) == ["eve-loops"] and "was left out" in notes["eve-loops"][0]
