"""No hostile notebook gains a point, escapes, harms another, or goes without a grade and a reason.

And each one would: with the one restriction taken away that stops it, the same attack is seen to succeed.
"""

import random
from collections import Counter

import pytest
from attacks import ATTACKS, FILES, HeaderError, in_file
from observing import lowered, scene, succeeded
from removals import RESTRICTIONS

from autograder.judging.judge import Judge
from autograder.judging.submission_run import SubmissionRun
from autograder.publish import notebooks
from autograder.runtime import messages, wire
from autograder.sandbox import host
from autograder.sandbox.options import Limits, Options
from conftest import REPOSITORY, RUN, TINY, TINY_COURSE, fingerprint, handed, some_of

SAMPLE = {"together", "wire", "schema", "words", "finite", "missing", "network", "files"}  # in the quick tests


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A judge with all its restrictions, in a world of marked secrets and open doors."""
    with scene(tmp_path_factory.mktemp("whole")) as made:
        yield made


def watched():
    """Files of the course that no kernel may change."""
    return fingerprint(REPOSITORY.released / "tp", REPOSITORY.root / "autograder", TINY_COURSE.root)


@pytest.mark.parametrize("attack", some_of(ATTACKS, 1 / 3))
def test_attack(attack, whole, right, record_property):
    before = watched()
    honest, seen = whole.honest(attack), whole.grade(attack, attack)
    assert not succeeded(attack, seen, honest), seen
    assert seen.score is not None and seen.score <= honest, "the attack gained points"
    for exercise in seen.verdict.exercises:
        assert all(messages.result(check) for check in exercise.checks)
    assert watched() == before, "a file outside the sandbox changed"
    assert "No module named 'tp" not in seen.words, "the attack aims at a module that is gone"
    following = whole.judge.judge(handed(notebooks.filled(TINY_COURSE, TINY, right)), "seed")
    assert following.points == following.max_points, "the next submission suffered"
    assert following.notes == ()
    record_property("attack", (attack.restriction, str(attack), seen.verdict.seconds, following.seconds))


COLD = sorted(name for name in SAMPLE if not RESTRICTIONS[name].warm)  # a sandbox for each attack: two in quick tests
CONTROLS = [pytest.param(name, 2, id=f"{name}, two") for name in COLD] + [
    pytest.param(name, None, id=name, marks=[] if name in SAMPLE and RESTRICTIONS[name].warm else pytest.mark.slow)
    for name in RESTRICTIONS]


@pytest.mark.parametrize("restriction, most", CONTROLS)
def test_without_its_restriction_the_attack_succeeds(restriction, most, whole, tmp_path, record_property):
    """The positive control: the same notebook and judge, one restriction less; and honest work shows nothing there."""
    mine = [attack for attack in ATTACKS if attack.restriction == restriction]
    mine = random.Random(RUN).sample(mine, most or len(mine))
    failed = []
    # what the sandbox lacks may be of use to the next attack too: each gets a fresh one
    for group in [mine] if RESTRICTIONS[restriction].warm else [[attack] for attack in mine]:
        folder = tmp_path / str(group[0])
        folder.mkdir()
        with lowered(whole, restriction) if RESTRICTIONS[restriction].warm else scene(folder, restriction) as made:
            failed += [str(attack) for attack in group if not _shown(made, attack)]
    record_property("control", (restriction, len(mine), len(mine) - len(failed)))
    assert failed == [], "these would not succeed without their restriction either: they show nothing"


def _shown(made, attack):
    grade = made.naively if attack.restriction in ("together", "beneath") else made.grade
    honest = grade(None, attack)
    assert honest.score is not None and not succeeded(attack, honest, honest.score), f"{attack} is seen where it is not"
    return succeeded(attack, grade(attack, attack), honest.score)


def test_each_attack_names_a_restriction_and_each_restriction_stops_one():
    kinds = Counter(attack.kind for attack in ATTACKS)
    assert len(ATTACKS) >= 100 and len({str(attack) for attack in ATTACKS}) == len(ATTACKS)
    assert min(kinds.values()) >= 5
    assert {attack.restriction for attack in ATTACKS} == set(RESTRICTIONS)


@pytest.mark.parametrize("text", ["# Says much.\nx = 1\n", "# Says much.\n# gains: points\nx = 1\n",
                                  "# Says much.\n# costs: much\n# restriction: time\nx = 1\n",
                                  "# Says much.\n# hopes: points\n# restriction: time\nx = 1\n"])
def test_an_attack_without_observable_or_restriction_is_refused(tmp_path, text):
    (tmp_path / "attack.py").write_text(text)
    with pytest.raises(HeaderError):
        in_file(tmp_path / "attack.py")
    assert in_file(FILES / "forge" / "nan.py").restriction == "finite"


KILLS = [("while True: pass", "timeout"), ("import os; os._exit(0)", "crashed")]


@pytest.mark.parametrize("code, verdict", KILLS, ids=["loop", "exit"])
def test_an_exercise_that_kills_its_kernel_costs_that_exercise_only(grade, right, code, verdict):
    result = grade({**right, "double": f"def double(x):\n    {code}"})
    double, *others = result.exercises
    assert (double.points, double.outcome) == (0, verdict)
    assert all((other.points, other.outcome) == (other.max_points, "passed") for other in others)


def test_a_cell_that_kills_its_kernel_costs_that_exercise_only(grade, right):
    result = grade({**right, "encoder": right["encoder"] + "\nimport os\nos._exit(0)"})
    found = {exercise.exercise: exercise.outcome for exercise in result.exercises}
    assert found == {"double": "passed", "encoder": "crashed", "last": "passed"}
    assert any("encoder" in note for note in result.notes)


# Bounds of time


@pytest.fixture
def bounded(short_judge):
    """A judge with other bounds of time, whose kernels come from the fork server of all tests."""
    def judge(**bounds):
        short_judge.sandbox.start()
        forked = short_judge.sandbox.clone()
        forked.options = Options(limits=Limits(**bounds))
        return Judge(TINY_COURSE, forked.options, forked)

    return judge


def test_a_waiting_notebook_is_ended(bounded):
    with bounded(cell_cpu_seconds=0.5, notebook_wall_seconds=20, wall_share=0.1) as judge:
        notebook = notebooks.filled(TINY_COURSE, TINY, {"double": "import time\ntime.sleep(1000)"})
        result = judge.judge(handed(notebook), "seed")
    double = result.exercises[0]
    assert double.outcome == "timeout"
    assert all("took more than 2 seconds, most of them waiting" in messages.result(check) for check in double.checks)


def test_many_cells_that_wait_cost_no_more_than_one_notebook_may(bounded):
    """Each stays below the bound of a cell; together they would take three times what a notebook may."""
    waits, waits_little = ("import time; time.sleep(0.8)",) * 30, ("import time; time.sleep(0.1)",)
    with bounded(notebook_wall_seconds=8) as judge:
        notebook = notebooks.filled(TINY_COURSE, TINY, notebooks.solved(TINY_COURSE, TINY), waits)
        result = judge.judge(handed(notebook), "seed")
        assert judge.judge(handed(notebooks.filled(TINY_COURSE, TINY, {}, waits_little)), "seed").notes == ()
    assert [exercise.outcome for exercise in result.exercises] == ["timeout"] * 3
    reasons = {messages.result(check) for exercise in result.exercises for check in exercise.checks}
    assert reasons == {"Not checked: the whole notebook took more than 8 seconds."}
    assert len(result.notes) == 1, "one cell is ended, and none is run after it"


def test_cells_that_are_not_read_cost_no_more_than_one_notebook_may(bounded):
    """The kernel stops to read; each further cell is larger than what a socket holds."""
    own = ("import time; from multiprocessing.connection import Connection\n"
           "Connection.recv_bytes = lambda *args: time.sleep(1000)", *(f"#{i} {'x' * 240_000}" for i in range(6)))
    with bounded(notebook_wall_seconds=4) as judge:
        notebook = notebooks.filled(TINY_COURSE, TINY, notebooks.solved(TINY_COURSE, TINY), own)
        result = judge.judge(handed(notebook), "seed")
    assert [exercise.outcome for exercise in result.exercises] == ["timeout"] * 3
    assert all("took more than" in note for note in result.notes) and 1 <= len(result.notes) <= 4


def test_the_seconds_of_an_exercise_are_those_of_all_its_checks(grade, right, monkeypatch):
    """By a clock of the test's own. Each check of `double` asks three times, within the bound; both are not."""
    takes, booked = {"double": 0.6}, set()
    replies, book = SubmissionRun.replay, host._RequestWatch.book

    def asked(run, exercise, records):
        takes["now"] = takes.get(exercise, 0.1)
        return replies(run, exercise, records)

    def on_the_clock(watch, computed=0.0):
        book(watch, 0.0 if watch in booked else takes.get("now", 0.0))
        booked.add(watch)

    monkeypatch.setattr(host, "GRACE_SECONDS", 0)
    monkeypatch.setattr(SubmissionRun, "replay", asked)
    monkeypatch.setattr(host._RequestWatch, "book", on_the_clock)
    double, *others = grade(right).exercises
    assert [check.passed for check in double.checks] == [True, False]
    assert double.outcome == "timeout"
    assert "it computed for more than 2 seconds" in messages.result(double.checks[1])
    assert all(other.outcome == "passed" for other in others)
    takes["double"] = 0.3
    assert grade(right).exercises[0].outcome == "passed"


# What students write to people


def test_what_is_printed_while_graded_reaches_nobody(grade):
    code = "def double(x):\n    print('SECRET', x)\n    import sys; print('SECRET', x, file=sys.stderr)\n    return x"
    assert "SECRET" not in str(grade({"double": code}))


def test_messages_of_students_are_bounded_and_plain(grade):
    result = grade({"double": "def double(x):\n    raise ValueError('\\x1b[2J\\n' + 'x' * 10**6)"})
    message = messages.result(result.exercises[0].checks[0])
    assert len(message) < 600 and message.isprintable()


@pytest.mark.parametrize("data", [b"", b"TPW1", b"TPW1\xff\xff\xff\xff", b"TPW1\x02\x00\x00\x00{}", b"\x80\x04K\x01.",
                                  b"TPW1\x05\x00\x00\x00[[[[["])
def test_rubbish_is_no_message(data):
    with pytest.raises(wire.WireError):
        wire.unpack(data)
