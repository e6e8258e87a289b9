"""Division written out: every round is true, the digits are put right, and the answer is Python's."""

import numpy as np
import pytest

from bench import division


@pytest.fixture(params=["nearest digits", "drawn digits"])
def written(request, rng):
    """Operands, and what is drawn from: nothing, or a generator."""
    a, b = rng.integers(1, 1000, (2, 400))
    a[:3], b[:3] = [1, 999, 999], [999, 1, 999]
    return a, b, rng if request.param == "drawn digits" else None


def number(digits):
    """Digits, the least first → the number."""
    return int(digits[::-1])


def rounds_of(text, a, b, count):
    """The rounds of a working, each checked against the numbers: the digits of the quotient, and what remains."""
    digits, rest = [], 0
    for i in range(count):
        row = text[division.ROW * i:division.ROW * (i + 1)]
        rest = 10 * rest + (a // 10**(2 - i) % 10 if i < 3 else 0)
        q, columns = int(row[:2].replace("0", "", 1)), row[2:20]
        assert number(columns[0::6]) == b and number(columns[1::6]) + 1000 * int(columns[14]) == abs(q) * b
        assert number(columns[3::6] + row[20]) == rest % 10000
        rest -= q * b
        assert number(columns[4::6] + row[21]) == rest % 10000 and abs(rest) < max(b, 2)
        digits.append(q)
    return digits, rest


def test_a_quotient_is_put_right_from_the_last_digit_on(written):
    a, b, rng = written
    for x, y, text in zip(a.tolist(), b.tolist(), division.quotient(a, b, rng).tolist(), strict=True):
        working, answer = text.split("=")
        digits, _ = rounds_of(working, x, y, division.PLACES)
        assert answer == f"{x / y:.5f}" and len(text) <= division.QUOTIENT
        tail = working[division.ROW * division.PLACES + 1:]
        groups = [tail[i:i + 4] for i in range(0, len(tail), 4)]
        assert [int(group[:2].replace("0", "", 1)) for group in groups] == digits[-2::-1]
        assert int("".join(group[2] for group in groups)[::-1]) == int(answer.replace(".", ""))


def test_a_remainder_is_never_negative(written):
    a, b, rng = written
    for x, y, text in zip(a.tolist(), b.tolist(), division.remainder(a, b, rng).tolist(), strict=True):
        working, answer = text.split("=")
        _, rest = rounds_of(working, x, y, 3)
        tail = working[3 * division.ROW:]
        assert number(tail[0::3]) == (y if rest < 0 else 0) and number(tail[1::3]) == x % y
        assert number(answer) == x % y and len(text) <= division.REMAINDER


def test_drawn_digits_differ_from_the_nearest(rng):
    a, b = rng.integers(1, 1000, (2, 400))
    nearest, drawn = division.quotient(a, b), division.quotient(a, b, rng)
    assert 0.1 < np.mean(nearest != drawn) < 1
