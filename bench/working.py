"""Answers that show their working: what is written down before the answer, least digit first.

A decoder that must say the first digit of 487*623 at once has to do all the work in one step. On paper nobody
does: one multiplies digit by digit, with carries. Here the decoder is taught to write down the same, every digit
next to those it comes from, then `=`, then the answer. So each character is a small table of the few before it.
The working of quotients and remainders is that of `bench.division`.
"""

from functools import reduce

import numpy as np

from tp.arithmetic import answers, backwards

PRODUCT = 10 + 2 * 20 + 1 + 6  # characters: working, =, longest answer


def product(a, b):
    """`a * b` in three rows, one for each digit of b, all from the least digit on.

    A row begins with the digit of b. Then come for each digit of a: that digit, the last digit of their product plus
    carry, the new carry; and from the second row on also the digit of the sum so far, the last digit of both together,
    its carry. Such a row ends with what both carries make.
    """
    lines, so_far = [], [np.zeros_like(a)] * 3
    for row in range(3):
        lines.append(_digit(b, row))
        carry, sum_carry, digits = np.zeros_like(a), np.zeros_like(a), []
        for column in range(3):
            multiple = _digit(a, column) * _digit(b, row) + carry
            digit, carry = multiple % 10, multiple // 10
            lines += [_digit(a, column), digit, carry]
            if row:
                total = digit + so_far[column] + sum_carry
                digit, sum_carry = total % 10, total // 10
                lines += [so_far[column], digit, sum_carry]
            digits.append(digit)
        digits.append(carry + sum_carry)
        if row:
            lines.append(digits[-1])
        so_far = digits[1:]
    return join(_text(lines), "=", backwards(answers(a, np.full(a.shape, "*"), b)))


def _digit(numbers, place):
    """The digit that stands for 10^place."""
    return numbers // 10**place % 10


def _text(columns):
    """Columns of single digits, L times (N,) → N strings of L characters."""
    return (np.stack(columns, axis=1) + ord("0")).astype(np.uint32).view(f"U{len(columns)}")[:, 0]


def answer_of(text):
    """What stands behind the last `=`."""
    return text.rsplit("=", 1)[-1]


def join(*columns):
    """Strings joined sample by sample."""
    return reduce(np.char.add, columns)
