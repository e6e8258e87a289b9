"""No hostile notebook gains a point, escapes, harms another, or goes without a grade and a reason."""

from collections import Counter

import pytest
from attacks import ATTACKS

from autograder import samples
from autograder.authoring.oracle import oracle
from autograder.judging.judge import Judge
from autograder.sandbox.terms import Limits, Terms
from conftest import REPOSITORY, TINY, TINY_COURSE, fingerprint, handed
from tp.checking import wire


def watched():
    """Files of the course that no kernel may change."""
    return fingerprint(REPOSITORY.released / "tp", REPOSITORY.root / "autograder", TINY_COURSE.root)


@pytest.mark.parametrize("attack", ATTACKS, ids=str)
def test_attack(attack, grade, right):
    before = watched()
    verdict = grade(attack.cells, own=[attack.own] if attack.own else [], edit=attack.edit)
    assert verdict.score == 0, "the attack gained points"
    for exercise in verdict.exercises:
        assert exercise.verdict in ("failed", "missing", "error", "timeout", "crashed")
        assert all(check.message and not check.passed for check in exercise.checks)
    assert watched() == before, "a file outside the sandbox changed"
    assert "No module named 'tp" not in str(verdict), "the attack aims at a module that is gone"
    honest = grade(right)
    assert honest.score == honest.max_score, "the next submission suffered"
    assert honest.notes == ()


def test_there_are_enough_of_every_kind():
    kinds = Counter(attack.kind for attack in ATTACKS)
    assert len(ATTACKS) >= 60 and len({str(attack) for attack in ATTACKS}) == len(ATTACKS)
    assert min(kinds.values()) >= 5


KILLS = [("while True: pass", "timeout"), ("import os; os._exit(0)", "crashed")]


@pytest.mark.parametrize("code, verdict", KILLS, ids=["loop", "exit"])
def test_an_exercise_that_kills_its_kernel_costs_that_exercise_only(grade, right, code, verdict):
    result = grade({**right, "double": f"def double(x):\n    {code}"})
    double, *others = result.exercises
    assert (double.score, double.verdict) == (0, verdict)
    assert all((other.score, other.verdict) == (other.max_score, "passed") for other in others)


def test_a_cell_that_kills_its_kernel_costs_that_exercise_only(grade, right):
    result = grade({**right, "encoder": right["encoder"] + "\nimport os\nos._exit(0)"})
    found = {exercise.exercise: exercise.verdict for exercise in result.exercises}
    assert found == {"double": "passed", "encoder": "crashed", "last": "passed"}
    assert any("encoder" in note for note in result.notes)


def test_attacks_gain_nothing_over_honest_work(grade, right):
    honest = {"encoder": right["encoder"]}
    earned = grade(honest).score
    for attack in ATTACKS[:: len(ATTACKS) // 8]:
        if attack.own:
            assert grade(honest, own=[attack.own]).score <= earned


def test_forgeries_gain_nothing_over_wrong_work(grade):
    """Whoever forges hands in something: where answers come back, they might be made to look right."""
    truth = oracle(TINY_COURSE, TINY)
    wrong = {name: truth.text_of(truth.mistakes_of(name)[0]) for name in truth.source.exercises}
    earned = grade(wrong).score
    for attack in ATTACKS:
        if attack.kind == "forge" and attack.own:
            assert grade(wrong, own=[attack.own]).score <= earned, attack


# Bounds of time


def test_a_waiting_notebook_is_ended():
    terms = Terms(limits=Limits(cell_seconds=0.5, notebook_seconds=20, share=0.1))
    with Judge(TINY_COURSE, terms) as judge:
        notebook = samples.notebook(TINY_COURSE, TINY, {"double": "import time\ntime.sleep(1000)"})
        result = judge.grade(handed(notebook), "seed")
    double = result.exercises[0]
    assert double.verdict == "timeout"
    assert all("took more than 2 seconds, most of them waiting" in check.message for check in double.checks)


def test_many_cells_that_wait_cost_no_more_than_one_notebook_may():
    """Each stays below the bound of a cell; together they would take six times what a notebook may."""
    terms = Terms(limits=Limits(notebook_seconds=4))
    waits = ("import time; time.sleep(0.8)",) * 30
    with Judge(TINY_COURSE, terms) as judge:
        notebook = samples.notebook(TINY_COURSE, TINY, samples.solved(TINY_COURSE, TINY), waits)
        result = judge.grade(handed(notebook), "seed")
        assert judge.grade(handed(samples.notebook(TINY_COURSE, TINY, {}, waits[:1])), "seed").notes == ()
    assert [exercise.verdict for exercise in result.exercises] == ["timeout"] * 3
    reasons = {check.message for exercise in result.exercises for check in exercise.checks}
    assert reasons == {"Not checked: the whole notebook took more than 4 seconds."}
    assert len(result.notes) == 1, "one cell is ended, and none is run after it"


BURNS = """
import time

def double(x):
    end = time.process_time() + {seconds}
    while time.process_time() < end:
        pass
    return 2 * x
"""


def test_the_seconds_of_an_exercise_are_those_of_all_its_checks(grade, right):
    """Each check needs less than the bound, and together they need more."""
    result = grade({**right, "double": BURNS.format(seconds=0.45)})
    double, *others = result.exercises
    assert [check.passed for check in double.checks] == [True, False]
    assert double.verdict == "timeout"
    assert "it computed for more than 2 seconds" in double.checks[1].message
    assert all(other.verdict == "passed" for other in others)
    assert grade({**right, "double": BURNS.format(seconds=0.1)}).exercises[0].verdict == "passed"


# What students write to people


def test_what_is_printed_while_graded_reaches_nobody(grade):
    code = "def double(x):\n    print('SECRET', x)\n    import sys; print('SECRET', x, file=sys.stderr)\n    return x"
    assert "SECRET" not in str(grade({"double": code}))


def test_messages_of_students_are_bounded_and_plain(grade):
    result = grade({"double": "def double(x):\n    raise ValueError('\\x1b[2J\\n' + 'x' * 10**6)"})
    message = result.exercises[0].checks[0].message
    assert len(message) < 600 and message.isprintable()


@pytest.mark.parametrize("data", [b"", b"TPW1", b"TPW1\xff\xff\xff\xff", b"TPW1\x02\x00\x00\x00{}", b"\x80\x04K\x01.",
                                  b"TPW1\x05\x00\x00\x00[[[[["])
def test_rubbish_is_no_message(data):
    with pytest.raises(wire.WireError):
        wire.unpack(data)
