"""The benchmark's own parts: working that adds up, attention that agrees, models that see what they should."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace

import numpy as np
import pytest
import torch

from autograder.classroom.nbgrader.term import Term
from autograder.model.oracle import load_oracle
from autograder.model.source import load_source
from autograder.publish import notebooks
from bench import attention, classes, data, grading, learning, measure, similar, working
from conftest import REPOSITORY
from tp import arithmetic


@pytest.fixture
def operands(rng):
    """Two arrays of 300 operands of up to three digits."""
    return rng.integers(1, 1000, size=(2, 300))


def test_the_working_of_a_product_ends_in_it_and_every_digit_is_right(operands):
    a, b = operands
    for x, y, text in zip(a.tolist(), b.tolist(), working.product(a, b).tolist(), strict=True):
        lines, answer = text.split("=")
        first, second, third = lines[:10], lines[10:30], lines[30:]
        so_far = number(first[2::3]) + 1000 * int(first[-1])
        assert so_far == x * (y % 10)
        finished = str(so_far % 10)
        for place, row in (1, second), (2, third):
            assert int(row[0]) == y // 10**place % 10
            assert number(row[1::6][:3]) == x
            assert number(row[2::6]) + 1000 * int(row[15]) == x * int(row[0])
            assert number(row[4::6]) == so_far // 10 % 1000
            so_far = number(row[5::6]) + 1000 * int(row[-1])
            finished += str(so_far % 10)
            assert so_far == x * (y % 10**(place + 1)) // 10**place
        assert answer[::-1] == str(x * y) and x * y == 100 * so_far + number(finished[:2])
        assert len(text) <= working.PRODUCT


def number(digits):
    """Digits, the least first → the number."""
    return int(digits[::-1])


@pytest.mark.parametrize("way", ["batched", "built in"])
def test_ways_of_attention_agree_forward_and_backward(way, seed):
    torch.manual_seed(seed)
    tensors = attention.inputs(T=4, S=5, B=3, H=6)
    for got, expected in zip(attention.both_ways(attention.WAYS[way], *tensors),
                             attention.both_ways(attention.looped, *tensors), strict=True):
        torch.testing.assert_close(got, expected, atol=1e-5, rtol=0)


def test_classic_loops_make_what_whole_arrays_make():
    encoder_input, decoder_input, target = data.classic(200)
    encoder_ids, decoder_ids = data.ours(200)
    assert encoder_input.shape[:2] == tuple(encoder_ids.shape)
    assert decoder_input.shape[1] == decoder_ids.shape[1] and decoder_input.shape[0] <= decoder_ids.shape[0]
    assert np.array_equal(decoder_input[1:], target[:-1])


@pytest.mark.parametrize("name", learning.RECIPES)
def test_free_running_on_a_right_answer_equals_teacher_forcing(name, seed, rng):
    recipe = replace(learning.RECIPES[name], hidden=7)
    torch.manual_seed(seed)
    model = learning.model_of(recipe)
    sample = arithmetic.draw(rng, 5, operators=recipe.operators)
    encoder_ids, decoder_ids = learning.encoded(recipe, *sample)
    written = model.write(encoder_ids.int(), 9)
    go = torch.full((1, 5), arithmetic.DECODER_ALPHABET.index(arithmetic.GO))
    logits = model(encoder_ids.int(), torch.cat([go, written[:-1]]))
    assert torch.equal(logits.argmax(-1), written)


def test_learning_rate_rises_then_falls():
    recipe = learning.RECIPES["plus-minus-60"]
    rates = [learning.learning_rate(recipe, x) for x in np.linspace(0, 1, 101)]
    peak = int(np.argmax(rates))
    assert rates[peak] == pytest.approx(recipe.learning_rate, rel=0.02) and abs(peak / 100 - recipe.warm_up) < 0.02
    assert rates == sorted(rates[:peak]) + sorted(rates[peak:], reverse=True)


def test_training_never_sees_a_held_out_pair(rng):
    recipe = learning.RECIPES["plus-minus-60"]
    batches = learning.training_batches(recipe, rng, lambda: 0.5)
    for _ in range(5):
        encoder_ids, decoder_input, target = next(batches)
        X = arithmetic.decode(encoder_ids, arithmetic.ENCODER_ALPHABET)
        assert len(arithmetic.pairs_split(X)[1]) == 0 and decoder_input.shape == target.shape


def test_a_short_training_is_recorded_with_all_operators():
    recipe = replace(learning.RECIPES["plus-minus-60"], seconds=0.3, hidden=8)
    run = learning.train(recipe, seed=1, points=2, tests=20)
    assert run["recipe"] == asdict(recipe) and set(run["curve"][-1]["right"]) == {"+", "-"}
    assert run["curve"][-1]["seconds"] >= 0.3


def test_spread_names_median_and_range():
    assert measure.spread([3.0, 1.0, 2.0]) == "2 (1 – 3)"
    assert measure.spread([0.5]) == "0.5"


def test_stock_tests_pass_the_solution_and_fail_what_is_not_written():
    oracle = load_oracle(REPOSITORY, grading.TP)
    released = {cell.id: cell.source for cell in notebooks.released_notebook(load_source(REPOSITORY, grading.TP)).cells}
    assert set(grading.ASSERTS) == set(oracle.source.exercises)
    for name, tests in grading.ASSERTS.items():
        exec(tests, dict(oracle.namespace))
        blank = dict(oracle.namespace)
        exec(released[name], blank)
        with pytest.raises(NotImplementedError):
            exec(tests, blank)


def test_a_class_has_right_blank_and_mistaken_submissions():
    blank, right, *mistaken = grading.answers(4)
    assert blank == {} and all(sum(cells[name] != right[name] for name in right) == 1 for cells in mistaken)


def test_copies_in_a_made_class_are_disguised_and_lone_hands_differ(rng):
    works, copies = similar.made_class(rng, REPOSITORY, "tp2_seq2seq")
    assert len(works) == similar.ALONE + len(similar.KINDS) and set(copies) == set(similar.KINDS)
    for kind, pairs in copies.items():
        assert len(pairs) == (2 if kind == "split between two" else 1)
        for original, copy in pairs:
            assert original < similar.ALONE <= copy
            assert kind == "edited" or works[original].code != works[copy].code  # an edit may change nothing
    alone = {work.code["seq2seq"] for work in works[: similar.ALONE]}
    assert len(alone) > similar.ALONE / 2


def test_precision_and_recall_are_counted_over_all_tps():
    rows = [{"tp": "a", "shown": 4, "right": 3, "found": {"renamed": [1, 2], "edited": [2, 2]}},
            {"tp": "b", "shown": 0, "right": 0, "found": {"renamed": [0, 2], "edited": [1, 2]}}]
    text = similar.report({"rows": rows, "classes": 1}, None)
    assert "| a | 4 | 0.75 | 0.75 | 0.50 | 1.00 |" in text and "| b | 0 | – | 0.25 | 0.00 | 0.50 |" in text
    assert "| all | 4 | 0.75 | 0.50 | 0.25 | 0.75 |" in text


def test_a_class_that_was_filled_in_has_what_entering_gives():
    with classes.Class(4, 2) as group, ThreadPoolExecutor(2) as workers:
        with group.term.gradebook() as gradebook:
            first, copy = (gradebook.stock.find_submission(classes.TP, student).notebooks[0]
                           for student in ("student-00000", "student-00001"))
            assert first.score == copy.score == group.verdict.points > 0
            assert points(first) == points(copy) and len(first.comments) == len(copy.comments)
        run = group.graded(workers)
        assert (run["n"], run["new"]) == (4, 2) and min(run["seeing"], run["entering"], run["CPU"]) > 0
        with group.term.gradebook() as gradebook:
            assert len(gradebook.stock.students) == 4
            assert points(gradebook.stock.find_submission(classes.TP, "student-00003").notebooks[0]) == points(copy)


def points(notebook):
    """Cell → points of a notebook in the gradebook."""
    return {grade.name: grade.auto_score for grade in notebook.grades}


def test_a_class_whose_grades_are_not_all_entered_is_not_reported(monkeypatch):
    monkeypatch.setattr(Term, "enter", lambda *args: None)
    with classes.Class(2, 2) as group, ThreadPoolExecutor(1) as workers, pytest.raises(RuntimeError, match="for 2"):
        group.graded(workers)
