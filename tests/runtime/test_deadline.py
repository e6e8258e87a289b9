"""A search ends by CPU time, and on the clock where an answer waits."""

from types import SimpleNamespace

import pytest

from autograder.runtime.locate import deadline
from autograder.runtime.locate.deadline import Deadline


@pytest.mark.parametrize(("cpu", "clock", "has_passed"), [
    (0.0, 0.0, False), (1.9, 5.9, False), (2.0, 2.0, True), (0.1, 6.0, True), (3.0, 9.0, True),
])
def test_either_time_ends_a_search(monkeypatch, cpu, clock, has_passed):
    now = SimpleNamespace(thread_time=lambda: 5.0, monotonic=lambda: 100.0)
    monkeypatch.setattr(deadline, "time", now)
    ends = Deadline.after(1.25).later(0.75)
    now.thread_time, now.monotonic = (lambda: 5.0 + cpu), (lambda: 100.0 + clock)
    assert ends.has_passed is has_passed
    assert (ends.seconds, ends.wall_seconds) == pytest.approx((2.0 - cpu, 6.0 - clock))
    half = ends.halved()
    assert (half.seconds, half.wall_seconds) == pytest.approx((1.0 - cpu / 2, 3.0 - clock / 2))
