"""No hostile notebook gains a point, escapes, harms another, or goes without a grade and a reason."""

from collections import Counter

import pytest
from attacks import ATTACKS
from conftest import fingerprint

from autograder import source
from tp import wire


@pytest.fixture
def watched(tmp_path, tiny):
    """Files of the course that no kernel may change."""
    return lambda: fingerprint(source.COURSE / "tp", source.ROOT / "autograder", source.ROOT / "tests" / "fixtures" / "tiny")


@pytest.mark.parametrize("attack", ATTACKS, ids=str)
def test_attack(attack, grade, right, watched):
    before = watched()
    result = grade(attack.cells, own=[attack.own] if attack.own else [], edit=attack.edit)
    assert result["score"] == 0, "the attack gained points"
    for exercise in result["exercises"]:
        assert exercise["verdict"] in ("failed", "missing", "error", "timeout", "crashed")
        assert all(check["message"] and not check["passed"] for check in exercise["checks"])
    assert watched() == before, "a file outside the sandbox changed"
    honest = grade(right)
    assert honest["score"] == honest["max_score"], "the next submission suffered"
    assert honest["notes"] == []


def test_there_are_enough_of_every_kind():
    kinds = Counter(attack.kind for attack in ATTACKS)
    assert len(ATTACKS) >= 60 and len({str(a) for a in ATTACKS}) == len(ATTACKS)
    assert min(kinds.values()) >= 5


@pytest.mark.parametrize("kind", ["loop", "exit"])
def test_an_exercise_that_kills_its_kernel_costs_that_exercise_only(grade, right, kind):
    body = {"loop": "while True: pass", "exit": "import os; os._exit(0)"}[kind]
    result = grade({**right, "double": f"def double(x):\n    {body}"})
    found = {e["exercise"]: (e["score"], e["verdict"]) for e in result["exercises"]}
    assert found == {"double": (0, {"loop": "timeout", "exit": "crashed"}[kind]), "encoder": (4, "passed"), "last": (2, "passed")}


def test_a_cell_that_kills_its_kernel_costs_that_exercise_only(grade, right):
    result = grade({**right, "encoder": right["encoder"] + "\nimport os\nos._exit(0)"})
    found = {e["exercise"]: e["verdict"] for e in result["exercises"]}
    assert found == {"double": "passed", "encoder": "crashed", "last": "passed"}
    assert any("encoder" in note for note in result["notes"])


def test_attacks_gain_nothing_over_honest_work(grade, right):
    honest = {"encoder": right["encoder"]}
    for attack in ATTACKS[:: len(ATTACKS) // 8]:
        if attack.own:
            assert grade(honest, own=[attack.own])["score"] <= 4


def test_a_waiting_notebook_is_ended(tiny, right):
    import nbformat

    from autograder import demo
    from autograder.judge import Judge
    from autograder.sandbox import Limits

    with Judge(Limits(cell_seconds=0.5, exercise_seconds=0.5, patience=4)) as judge:
        notebook = demo.notebook(tiny, {"double": "import time\ntime.sleep(1000)"})
        result = judge.grade(nbformat.writes(notebook).encode(), tiny, "seed")
    assert result["exercises"][0]["verdict"] == "timeout"


def test_what_is_printed_while_graded_reaches_nobody(grade):
    result = grade({"double": "def double(x):\n    print('SECRET', x)\n    import sys; print('SECRET', x, file=sys.stderr)\n    return x"})
    assert "SECRET" not in str(result)


def test_messages_of_students_are_bounded_and_plain(grade):
    result = grade({"double": "def double(x):\n    raise ValueError('\\x1b[2J\\n' + 'x' * 10**6)"})
    message = result["exercises"][0]["checks"][0]["message"]
    assert len(message) < 600 and message.isprintable()


@pytest.mark.parametrize("data", [b"", b"TPW1", b"TPW1\xff\xff\xff\xff", b"TPW1\x02\x00\x00\x00{}", b"\x80\x04K\x01.", b"TPW1\x05\x00\x00\x00[[[[["])
def test_rubbish_is_no_message(data):
    with pytest.raises(wire.WireError):
        wire.unpack(data)
