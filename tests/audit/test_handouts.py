"""What students are given, handed in: no helper, stub or given cell is the answer to an exercise."""

import contextlib
import os
from types import SimpleNamespace

import handouts as audit
import pytest
from handouts import Handout, gains, handouts

from autograder.model.oracle import load_oracle
from conftest import REPOSITORY, TINY


def test_what_computes_the_answer_gains_its_points_under_whatever_name(tiny):
    right = load_oracle(tiny, TINY).namespace["double"]
    (gain,) = gains(tiny, TINY, [Handout("a helper", "twice", right), Handout("a helper", "thrice", lambda x: 3 * x)])
    assert (gain.exercise, gain.points, gain.handouts) == ("double", 2, ("a helper:twice",))


def test_stubs_cells_of_other_sessions_and_helpers_are_handed_in():
    given = handouts(REPOSITORY, "tp1_recurrence")
    origins = {one.origin.split(" of ")[0].split(" in ")[0].split(".")[0] for one in given}
    assert origins == {"tp", "given", "a stub"}


def test_a_handout_that_closes_open_files_leaves_them_open(tiny, tmp_path):
    with open(tmp_path / "mine", "w") as mine:
        closing = Handout("a helper", "double", lambda x: [os.close(fd) for fd in (1, mine.fileno())])
        assert gains(tiny, TINY, [closing]) == []
        os.fstat(1)
        mine.write("still open")


@pytest.mark.parametrize("calls", [0, 2])
def test_a_handout_that_never_ends_gains_nothing(tiny, monkeypatch, calls):
    right, called = load_oracle(tiny, TINY).namespace["double"], []

    def forever(x):
        called.append(x)
        while len(called) > calls:
            with contextlib.suppress(Exception):
                x = x + 1
        return right(x)

    monkeypatch.setattr(audit, "FIRST_SECONDS", 0.2)
    monkeypatch.setattr(audit, "Limits", lambda: SimpleNamespace(exercise_cpu_seconds=0.2))
    assert gains(tiny, TINY, [Handout("a helper", "double", forever)]) == []
    assert len(called) > calls


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # an alarm in a finalizer rings again
@pytest.mark.parametrize("session", REPOSITORY.sessions)
def test_nothing_that_is_given_out_gains(session):
    given = list(handouts(REPOSITORY, session))
    assert [str(gain) for gain in gains(REPOSITORY, session, given)] == []
