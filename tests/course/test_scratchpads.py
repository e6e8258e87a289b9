"""Texts of multiplications: what a scratchpad says, which pairs are held out, and how a batch is filled up."""

import random

import pytest
import torch

from tp import scratchpads


@pytest.mark.parametrize("a, b, n", [(23, 14, 2), (487, 623, 3), (7, 0, 1)])
def test_in_long_multiplication_the_last_sum_is_the_product(a, b, n):
    parts = [int(part[::-1]) for part in scratchpads.long_multiplication(a, b, n).split(",")]
    assert len(parts) == 2 * n - 1 and parts[-1] == a * b
    assert sum(parts[:1] + parts[1::2]) == a * b  # the partial products
    text = scratchpads.written_out(scratchpads.no_scratchpad, a, b, n)
    question, scratchpad, answer = text[:-1].split("=")
    assert [int(number[::-1]) for number in question.split("*")] == [a, b] and not scratchpad and text[-1] == "\n"
    assert int(answer[::-1]) == a * b and len(answer) == 2 * n


def test_held_out_pairs_are_held_out_whichever_way_round():
    drawn = {side: {scratchpads.draw_operands(random.Random(seed), 1, side) for seed in range(200)}
             for side in (True, False)}
    assert drawn[True] and not drawn[True] & {pair[::-1] for pair in drawn[False]} and not drawn[True] & drawn[False]


def test_a_batch_is_its_texts_filled_up_with_what_does_not_count():
    def uneven(a, b, n):
        return "1" * (a % 3)

    ids, texts = scratchpads.text_batch(uneven, random.Random(0), 12, 2)
    assert len({*map(len, texts)}) > 1 and ids.shape == (12, max(map(len, texts))) and ids.dtype == torch.int64
    for row, text in zip(ids.tolist(), texts, strict=True):
        assert "".join(scratchpads.CHARACTERS[i] for i in row if i >= 0) == text
        assert {*row[len(text):]} <= {-100}


@pytest.mark.parametrize("a, b, n", [(23, 14, 2), (99, 99, 2), (487, 623, 3), (7, 80, 3), (0, 5, 1)])
def test_the_local_scratchpad_ends_in_the_product(a, b, n):
    """The lowest digit of each row, and all that is left after the last, are the product."""
    rows, text = [], scratchpads.local_scratchpad(a, b, n)
    for size in [1 + 3 * n] + [2 + 6 * n] * (n - 1):
        rows.append(text[:size])
        text = text[size:]
    lowest = [row[2] if i == 0 else row[5] for i, row in enumerate(rows)]
    if n == 1:
        left = rows[0][3]
    else:
        left = "".join(rows[-1][5 + 6 * column] for column in range(1, n)) + rows[-1][-1]
    assert text == "" and int(("".join(lowest) + left)[::-1]) == a * b
    assert (a, b) != (23, 14) or scratchpads.local_scratchpad(a, b, n) == "4321290" + "13309212200300"
