"""The arithmetic data: strings equal to Python's own, ids that decode to them, held-out pairs that stay out."""

import numpy as np
import pytest
import torch

from tp import arithmetic

PYTHON = {"+": lambda a, b: str(a + b), "-": lambda a, b: str(a - b), "*": lambda a, b: str(a * b),
          "/": lambda a, b: f"{a / b:.5f}", "%": lambda a, b: str(a % b)}


def pairs(largest):
    numbers = np.arange(1, largest + 1)
    a, b = np.meshgrid(numbers, numbers)
    return a.ravel(), b.ravel()


def test_every_quotient_of_three_digits_is_written_as_python_writes_it():
    a, b = pairs(999)
    written = arithmetic.answers(a, np.full(a.size, "/"), b).tolist()
    assert written == [f"{x / y:.5f}" for x, y in zip(a.tolist(), b.tolist(), strict=True)]


@pytest.mark.parametrize("symbol", arithmetic.OPERATORS)
def test_answers_are_those_of_python(symbol, rng):
    a, b = rng.integers(1, 10**rng.integers(1, 9), size=(2, 500))
    written = arithmetic.answers(a, np.full(500, symbol), b).tolist()
    assert written == [PYTHON[symbol](x, y) for x, y in zip(a.tolist(), b.tolist(), strict=True)]


@pytest.mark.parametrize("invert", [True, False])
def test_generated_samples(invert, seed):
    X, Y = arithmetic.math_expressions_generation(n_samples=700, n_digits=2, invert=invert, seed=seed)
    assert len(X) == len(Y) == 700 and all(type(text) is str for text in X + Y)
    operators = set()
    for x, y in zip(X, Y, strict=True):
        text = x[::-1] if invert else x
        symbol = next(character for character in text if not character.isdigit())
        a, b = map(int, text.split(symbol))
        assert 1 <= a <= 99 and 1 <= b <= 99 and y == PYTHON[symbol](a, b)
        operators.add(symbol)
    assert operators == set("+-*/%")


def test_a_seed_makes_samples_reproducible_and_operators_can_be_chosen():
    once = arithmetic.math_expressions_generation(50, operators="+-", seed=3)
    assert once == arithmetic.math_expressions_generation(50, operators="+-", seed=3)
    assert once != arithmetic.math_expressions_generation(50, operators="+-", seed=4)
    assert {c for x in once[0] for c in x if not c.isdigit()} == {"+", "-"}


def test_alphabets():
    assert len(arithmetic.ENCODER_ALPHABET) == 15 and len(arithmetic.DECODER_ALPHABET) == 14
    assert arithmetic.DECODER_ALPHABET[0] == arithmetic.EOS == "\n"


def test_ids_decode_to_the_strings_they_came_from(seed):
    X, Y = arithmetic.math_expressions_generation(40, seed=seed)
    encoder_ids = arithmetic.encode(X, arithmetic.ENCODER_ALPHABET, 9)
    decoder_ids = arithmetic.encode_answers(Y, 13)
    assert encoder_ids.shape == (9, 40) and decoder_ids.shape == (13, 40)
    assert encoder_ids.dtype == decoder_ids.dtype == torch.int8
    assert arithmetic.decode(encoder_ids, arithmetic.ENCODER_ALPHABET) == X
    assert arithmetic.decode(decoder_ids) == Y


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="outside the alphabet"):
        arithmetic.encode(["1a"], arithmetic.ENCODER_ALPHABET)
    with pytest.raises(ValueError, match="does not fit"):
        arithmetic.encode(["1234"], arithmetic.ENCODER_ALPHABET, 3)


def test_target_is_one_step_ahead_and_padded_with_eos():
    decoder_input, target = arithmetic.shifted(arithmetic.encode_answers(["12", "-3.5"], 8))
    text = np.array([*arithmetic.DECODER_ALPHABET, "_"])
    assert ["".join(row) for row in text[decoder_input.T.int()]] == ["=12\n___", "=-3.5\n_"]
    assert ["".join(row) for row in text[target.T.int()]] == ["12\n\n\n\n\n", "-3.5\n\n\n"]


def test_one_hot_rows_are_zero_on_padding():
    ids = arithmetic.encode(["1+2", "35*4"], arithmetic.ENCODER_ALPHABET, 5)
    rows = arithmetic.one_hot(ids, 15)
    assert rows.shape == (5, 2, 15) and rows.dtype == torch.float32
    assert torch.equal(rows.sum(-1), (ids < 15).float())
    assert torch.equal(rows[:3].argmax(-1), ids[:3].long())
    with pytest.raises(TypeError, match="int8"):
        arithmetic.one_hot(ids.long(), 15)


def test_backwards():
    strings = ["", "7", "-12", "0.12345", "94+8"]
    assert arithmetic.backwards(strings).tolist() == [text[::-1] for text in strings]


def test_held_out_depends_on_the_two_numbers_only():
    a, b = pairs(999)
    kept = arithmetic.held_out(a, b)
    assert np.array_equal(kept, arithmetic.held_out(b, a))
    assert abs(kept.mean() - 0.25) < 0.005
    assert abs(arithmetic.held_out(a, b, share=0.1).mean() - 0.1) < 0.005
    share_by_operand = kept.reshape(999, 999).mean(axis=0)
    assert 0.15 < share_by_operand.min() and share_by_operand.max() < 0.35


@pytest.mark.parametrize("invert", [True, False])
def test_split_leaves_no_pair_on_both_sides(invert, seed):
    X, _ = arithmetic.math_expressions_generation(5000, n_digits=2, invert=invert, seed=seed)
    training, validation = arithmetic.pairs_split(X, invert)
    assert sorted([*training, *validation]) == list(range(5000))
    operands = [frozenset(x.translate(str.maketrans("+-*/%", "     ")).split()) for x in X]
    assert not {operands[i] for i in training} & {operands[i] for i in validation}


def test_batches_hold_training_pairs_only_and_keep_their_shape(seed):
    stream = arithmetic.batches(64, n_digits=2, operators="+-%", seed=seed)
    for _ in range(20):
        encoder_ids, decoder_ids = next(stream)
        assert encoder_ids.shape == (5, 64) and decoder_ids.shape == (5, 64)
        X = arithmetic.decode(encoder_ids, arithmetic.ENCODER_ALPHABET)
        training, validation = arithmetic.pairs_split(X)
        assert len(training) == 64 and len(validation) == 0
        for x, y in zip(X, arithmetic.decode(decoder_ids), strict=True):
            assert y == str(eval(x[::-1]))


def test_least_digit_first_turns_every_answer_but_the_quotient():
    a, b, symbol = np.array([100, 7, 1, 12]), np.array([23, 300, 8, 12]), np.array(list("+-/*"))
    _, decoder_ids = arithmetic.encoded(a, symbol, b, least_digit_first=True)
    assert arithmetic.decode(decoder_ids) == ["321", "392-", "0.12500", "441"]


def test_weights_choose_operators(rng):
    a, symbol, b = arithmetic.draw_split(rng, 2000, training=False, operators="+-*", weights=[1, 0, 3])
    assert arithmetic.held_out(a, b).all() and len(a) == 2000
    assert set(symbol) == {"+", "*"} and (symbol == "*").mean() > 0.6


def test_a_hundred_thousand_samples_take_less_than_two_megabytes(rng):
    encoder_ids, decoder_ids = arithmetic.encoded(*arithmetic.draw(rng, 100_000))
    assert encoder_ids.nbytes + decoder_ids.nbytes <= 2e6


def test_with_even_lengths_short_numbers_are_as_frequent_as_long_ones(rng):
    a, _, b = arithmetic.draw(rng, 9000, even_lengths=True)
    for numbers in (a, b):
        assert 1 <= numbers.min() < 10 and 900 < numbers.max() <= 999
        shares = np.bincount(np.char.str_len(numbers.astype(str)))[1:] / 9000
        assert np.abs(shares - 1 / 3).max() < 0.03
    a, _, b = arithmetic.draw_split(rng, 900, training=False, even_lengths=True)
    assert len(a) == 900 and arithmetic.held_out(a, b).all()
