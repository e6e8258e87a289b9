"""The benchmark's own parts: working that adds up, attention that agrees, models that see what they should."""

from dataclasses import asdict, replace

import numpy as np
import pytest
import torch

from autograder.oracle import oracle
from bench import attention, data, grading, learning, measure, working
from tp import arithmetic


def operands(n=300):
    return np.random.default_rng().integers(1, 1000, size=(2, n))


def test_the_working_of_a_product_ends_in_it_and_every_line_is_right():
    a, b = operands()
    for x, y, text in zip(a.tolist(), b.tolist(), working.product(a, b).tolist()):
        lines, answer = text.split("=")
        first, second, second_sum, third, third_sum = (int(lines[i:i + 4][::-1]) for i in range(0, 20, 4))
        tens, hundreds = y // 10 % 10, y // 100
        assert (first, second, third) == (x * (y % 10), x * tens, x * hundreds)
        assert second_sum == first // 10 + second and third_sum == second_sum // 10 + third
        assert answer[::-1] == str(x * y) == str(int(f"{third_sum}{second_sum % 10}{first % 10}"))
        assert len(text) <= working.PRODUCT


def test_the_working_of_a_quotient_is_its_long_division():
    a, b = operands()
    for x, y, text in zip(a.tolist(), b.tolist(), working.quotient(a, b).tolist()):
        lines, answer = text.split("=")
        digits = "".join(lines[i] for i in range(0, 36, 4))
        assert int(digits) == x * 10**6 // y
        assert int(lines[-3:][::-1]) == x * 10**6 % y
        assert answer == f"{x / y:.5f}" and len(text) <= working.QUOTIENT


@pytest.mark.parametrize("way", ["batched", "built in"])
def test_ways_of_attention_agree_forward_and_backward(way):
    tensors = attention.inputs(T=4, S=5, B=3, H=6)
    for got, expected in zip(attention.both_ways(attention.WAYS[way], *tensors),
                             attention.both_ways(attention.looped, *tensors)):
        torch.testing.assert_close(got, expected, atol=1e-5, rtol=0)


def test_classic_loops_make_what_whole_arrays_make():
    encoder_input, decoder_input, target = data.classic(200)
    encoder_ids, decoder_ids = data.ours(200)
    assert encoder_input.shape[:2] == tuple(encoder_ids.shape)
    assert decoder_input.shape[1] == decoder_ids.shape[1] and decoder_input.shape[0] <= decoder_ids.shape[0]
    assert np.array_equal(decoder_input[1:], target[:-1])


@pytest.mark.parametrize("name", learning.RECIPES)
def test_free_running_on_a_right_answer_equals_teacher_forcing(name):
    recipe = replace(learning.RECIPES[name], hidden=7)
    torch.manual_seed(np.random.default_rng().integers(1000))
    model = learning.Couple(recipe)
    sample = arithmetic.draw(np.random.default_rng(), 5, operators=recipe.operators)
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


def test_training_never_sees_a_held_out_pair():
    recipe = learning.RECIPES["plus-minus-60"]
    batches = learning.training_batches(recipe, np.random.default_rng(), lambda: 0.5)
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
    truth = oracle(grading.TP)
    assert set(grading.ASSERTS) == set(truth.source.exercises)
    for name, tests in grading.ASSERTS.items():
        exec(tests, dict(truth.namespace))
        blank = dict(truth.namespace)
        exec(truth.source.cell("exercise", name).released, blank)
        with pytest.raises(NotImplementedError):
            exec(tests, blank)


def test_a_class_has_right_blank_and_mistaken_submissions():
    blank, right, *mistaken = grading.answers(4)
    assert blank == {} and all(sum(cells[name] != right[name] for name in right) == 1 for cells in mistaken)
