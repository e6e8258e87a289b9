"""Answers that show their working: what is written down before the answer, least digit first.

A decoder that must say the first digit of 487*623 at once has to do all the work in one step. On paper nobody
does: one writes partial products and adds them up. Here the decoder is taught to write the same lines, each
with a fixed number of digits, then `=`, then the answer.
"""

from functools import reduce

import numpy as np

from tp.arithmetic import answers, backwards

PRODUCT, QUOTIENT = 20 + 1 + 6, 36 + 1 + 9  # characters: working, =, longest answer


def product(a, b):
    """`a * b` column by column, three rounds for the three digits of b:

    the partial product (a times one digit), and the running sum, from which the finished digit has been dropped.
    All have four digits, least digit first. 12*34 is `8400 6300 0400 0000 4000 = 804`, without the spaces.
    """
    partial = [a * (b // 10**i % 10) for i in range(3)]
    first = partial[0]
    second = first // 10 + partial[1]
    third = second // 10 + partial[2]
    lines = [_least_first(number, 4) for number in (first, partial[1], second, partial[2], third)]
    return join(*lines, "=", backwards(answers(a, np.full(a.shape, "*"), b)))


def quotient(a, b):
    """`a / b` as in long division: nine rounds of one digit of the quotient and what remains (least digit first).

    Three rounds use up the digits of a, five give the decimals, the ninth says how to round.
    """
    remainder, lines = np.zeros_like(a), []
    for i in range(9):
        remainder = 10 * remainder + (a // 10 ** (2 - i) % 10 if i < 3 else 0)
        lines += [_least_first(remainder // b, 1), _least_first(remainder % b, 3)]
        remainder = remainder % b
    return join(*lines, "=", answers(a, np.full(a.shape, "/"), b))


def answer_of(text):
    """What stands behind the last `=`."""
    return text.rsplit("=", 1)[-1]


def join(*columns):
    """Strings joined sample by sample."""
    return reduce(np.char.add, columns)


def _least_first(numbers, width):
    """The numbers with exactly `width` digits, least digit first."""
    return np.array([str(n).zfill(width)[::-1] for n in range(10**width)])[numbers]
