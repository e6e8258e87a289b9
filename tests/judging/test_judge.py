"""The judge: right answers pass, mistakes are named, exercises are graded apart, and seeds decide the draws."""

import numpy as np
import pytest
import torch

from autograder import verify
from autograder.judge import seed_of
from autograder.oracle import oracle
from tp import compare
from tp.replay import describe, replay


def verdicts(result):
    return {e["exercise"]: e["verdict"] for e in result["exercises"]}


def scores(result):
    return {e["exercise"]: e["score"] for e in result["exercises"]}


def checks(result, exercise):
    return next(e["checks"] for e in result["exercises"] if e["exercise"] == exercise)


def test_solution_has_full_marks_and_blank_none(grade, right):
    full = grade(right)
    assert full["score"] == full["max_score"] == 8
    assert set(verdicts(full).values()) == {"passed"}
    blank = grade()
    assert blank["score"] == 0
    assert set(verdicts(blank).values()) == {"missing"}
    assert all("not written" in c["message"] for e in blank["exercises"] for c in e["checks"])


def test_result_has_the_promised_form(grade, right):
    result = grade(right)
    assert {"assignment", "score", "max_score", "isolation", "device", "seconds", "exercises"} <= result.keys()
    assert result["isolation"] == "bubblewrap"
    for exercise in result["exercises"]:
        assert set(exercise) == {"exercise", "score", "max_score", "verdict", "checks"}
        for check in exercise["checks"]:
            assert set(check) == {"check", "passed", "message", "mistake"}


def test_mistakes_are_named_and_cost_their_checks_only(grade, right, tiny):
    truth = oracle(tiny)
    for mistake in truth.mistakes:
        result = grade({**right, mistake.exercise: truth.text_of(mistake)})
        failed = [c for c in checks(result, mistake.exercise) if not c["passed"]]
        assert failed and {c["mistake"] for c in failed} == {mistake.name}
        assert mistake.says in failed[0]["message"]
        others = {name: value for name, value in verdicts(result).items() if name != mistake.exercise}
        assert set(others.values()) == {"passed"}


def test_partial_credit_follows_the_checks(grade, right):
    result = grade({**right, "encoder": right["encoder"].replace("encoder_input, henc_init)", "encoder_input)", 1).replace("def forward(self, encoder_input)", "def forward(self, encoder_input, henc_init=None)")})
    assert scores(result)["encoder"] == 2 and verdicts(result)["encoder"] == "partial"


def test_a_wrong_exercise_costs_nothing_in_the_next(grade, right):
    result = grade({**right, "double": "def double(x):\n    raise RuntimeError('no')"})
    assert scores(result) == {"double": 0, "encoder": 4, "last": 2}
    assert verdicts(result)["double"] == "error"


def test_misindented_else_is_explained_and_the_rest_keeps_its_points(grade, right):
    bad = "def double(x):\n    if x is None:\n        return 0\n     else:\n        return 2 * x"
    result = grade({**right, "double": bad})
    assert scores(result) == {"double": 0, "encoder": 4, "last": 2}
    assert "IndentationError" in checks(result, "double")[0]["message"] and "line 4" in checks(result, "double")[0]["message"]


def test_helpers_and_imports_of_the_student_count(grade, right):
    def helper_above(notebook):
        from nbformat.v4 import new_code_cell

        at = next(i for i, c in enumerate(notebook.cells) if c.metadata.get("nbgrader", {}).get("grade_id") == "double")
        notebook.cells.insert(at, new_code_cell("import math as maths\ntwo = maths.floor(2.5)"))

    assert grade({**right, "double": "def double(x):\n    return two * x"}, edit=helper_above)["score"] == 8


def test_training_and_demo_cells_do_not_run(grade, right):
    assert grade(right)["notes"] == []


def test_same_seed_same_verdict_other_seed_other_draws(grade, tiny):
    wrong = {"double": "def double(x):\n    return 3 * x"}
    one, two, other = grade(wrong, seed="a"), grade(wrong, seed="a"), grade(wrong, seed="b")
    assert one["exercises"] == two["exercises"]
    assert checks(one, "double")[0]["message"] != checks(other, "double")[0]["message"]


def test_seed_depends_on_everything_it_should():
    seeds = {seed_of(*args) for args in [(b"s", "ada", "tp1", b"x"), (b"t", "ada", "tp1", b"x"), (b"s", "bob", "tp1", b"x"), (b"s", "ada", "tp2", b"x"), (b"s", "ada", "tp1", b"y")]}
    assert len(seeds) == 5
    assert seed_of(b"s", "ada", "tp1", b"x") == seed_of(b"s", "ada", "tp1", b"x")


def test_the_tiny_tp_is_proven_on_many_seeds(tiny):
    proof = verify.prove(tiny, range(20))
    assert not proof.faults and proof.mistakes == 6


def test_an_uncaught_mistake_is_a_fault(tiny, monkeypatch):
    from autograder.mistakes import Mistake, Variant

    truth = oracle(tiny)
    monkeypatch.setattr(truth, "mistakes", [Mistake("double", "harmless", "…", swap=("2 * x", "x * 2"))])
    monkeypatch.setattr(truth, "variants", [Variant("double", "wrong", swap=("2 * x", "3 * x"))])
    faults = verify.prove(tiny, range(2)).faults
    assert any("harmless is not caught" in fault for fault in faults)
    assert any("variant wrong fails" in fault for fault in faults)


def test_two_mistakes_that_look_alike_are_a_fault(tiny, monkeypatch):
    from autograder.mistakes import Mistake

    truth = oracle(tiny)
    monkeypatch.setattr(truth, "mistakes", [Mistake("double", "one", "…", swap=("2 * x", "3 * x")), Mistake("double", "two", "…", swap=("2 * x", "x * 3"))])
    assert any("two is named as one" in fault for fault in verify.prove(tiny, range(2)).faults)


# What a difference is called


def sentence(want, have, **spec):
    return compare.output_difference("attention_weights", describe(want), describe(have), spec)


def test_equal_values_have_no_difference():
    x = torch.randn(3, 4)
    assert sentence(x, x + 1e-6) is None
    assert sentence(x.double(), x.double() + 1e-4) is not None


def test_shape_and_axis_order_are_said():
    x = torch.randn(3, 4, 5)
    assert "order (B, T, H)" in sentence(x, x.transpose(0, 1), axes="T B H")
    square = torch.randn(4, 4)
    assert "axes in another order" in sentence(square, square.T, axes="T S")
    assert "axis of size one" in sentence(x, x[None])


def test_weights_that_sum_over_the_wrong_axis_are_said():
    scores = torch.randn(3, 4, 5)
    got = sentence(scores.softmax(2), scores.softmax(1), axes="T B S", sums_to_one="S")
    assert "sums to" in got and "over the axis S" in got and "1 over the axis B" in got


def test_nan_dtype_and_other_things_are_said():
    x = torch.randn(3, 4)
    assert "NaN" in sentence(x, torch.where(x > x.max() - 1e-6, torch.nan, x))
    assert "integers" in sentence(x, x.round().long())
    assert "None" in sentence(x, None) and "return" in sentence(x, None)
    assert "numpy array" in sentence(x, x.numpy())
    assert "the number" in sentence(x, 3.0)


def test_the_smallest_telling_example_points_at_the_difference():
    x = torch.zeros(3, 4)
    y = x.clone()
    y[2] = 1
    assert "[2, 0]` is 1, it must be 0" in sentence(x, y, axes="T B") and "T = 2" in sentence(x, y, axes="T B")


@pytest.mark.parametrize("value", [None, True, 3, 2.5, "text", [1, "a", None], {"a": 1}, torch.ones(2, 3), np.arange(3), object(), 2**80, (1, (2, (3,)))])
def test_every_value_can_be_described_and_packed(value):
    from tp import wire

    assert wire.unpack(wire.pack(describe(value)))["kind"]


def test_changed_arguments_are_reported(tiny):
    truth = oracle(tiny)
    record = truth.record(truth.checks_of("double")[0], 1)
    namespace = {"double": lambda x: x.mul_(2)}
    reply = replay(record["calls"], namespace)
    assert "changes one of its arguments" in compare.first_difference(record["expected"], reply, record["specs"])


def test_replay_leaves_no_trace(tiny):
    truth = oracle(tiny)
    record = truth.record(truth.checks_of("last")[0], 1)
    namespace = {"double": 1, "last": lambda rows: torch.rand(3)}
    torch.manual_seed(3)
    before = torch.get_rng_state()
    replay(record["calls"], namespace)
    assert namespace["double"] == 1 and torch.equal(before, torch.get_rng_state())
