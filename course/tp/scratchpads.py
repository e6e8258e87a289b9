"""Multiplications with a scratchpad, for session 6: its designs, operands held out for the test, batches.

A design is a function of two numbers of at most n digits and of n; it returns digits and commas. A text is question,
scratchpad, answer, end; numbers of the question and of the answer are written units first.
"""

import random

import torch
from torch.nn.utils.rnn import pad_sequence

__all__ = ["CHARACTERS", "draw_operands", "local_scratchpad", "long_multiplication", "no_scratchpad", "text_batch",
           "written_out"]

CHARACTERS = "\n0123456789*=,"


def no_scratchpad(a, b, n):
    """Return nothing."""
    return ""


def long_multiplication(a, b, n):
    """Return partial products and running sums, 2n digits each."""
    parts, total = [], 0
    for row in range(n):
        part = a * (b // 10 ** row % 10) * 10 ** row
        total += part
        parts += [part, total] if row else [part]
    return ",".join(f"{part:0{2 * n}d}"[::-1] for part in parts)


def local_scratchpad(a, b, n):
    """Return every digit next to those that it depends on, with every carry: a row for each digit of b, lowest first.

    A row begins with its digit of b. Then come, for each digit of a, that digit, the last digit of the product with the
    carry, and the new carry; from the second row on also the digit of the sum so far, the last digit of its sum with
    the product's, and that sum's carry. Rows from the second on end with both last carries together. The lowest digit
    of each row's sum is a digit of the answer; the others are the sum so far of the next row.
    """
    written, so_far = [], [0] * n
    for row in range(n):
        factor, carry, sum_carry, digits = b // 10 ** row % 10, 0, 0, []
        written.append(factor)
        for column in range(n):
            digit = a // 10 ** column % 10
            carry, last = divmod(digit * factor + carry, 10)
            written += [digit, last, carry]
            if row > 0:
                sum_carry, total = divmod(so_far[column] + last + sum_carry, 10)
                written += [so_far[column], total, sum_carry]
                last = total
            digits.append(last)
        digits.append(carry + sum_carry)
        if row > 0:
            written.append(digits[-1])
        so_far = digits[1:]
    return "".join(map(str, written))


def written_out(design, a, b, n):
    """Return the whole text: question, scratchpad, answer, end."""
    question = f"{a:0{n}d}"[::-1] + "*" + f"{b:0{n}d}"[::-1] + "="
    return question + design(a, b, n) + "=" + f"{a * b:0{2 * n}d}"[::-1] + "\n"


def draw_operands(rng, n, held_out):
    """Return two numbers of at most n digits. A quarter of all pairs is held out, in both orders."""
    while True:
        a, b = rng.randrange(10 ** n), rng.randrange(10 ** n)
        if (random.Random(f"{min(a, b)} {max(a, b)}").random() < 0.25) == held_out:
            return a, b


def text_batch(design, rng, B, n, held_out=False):
    """Return B texts: a tensor of ids (B, T), filled up with −100, and the texts themselves."""
    texts = [written_out(design, *draw_operands(rng, n, held_out), n) for _ in range(B)]
    rows = [torch.tensor([CHARACTERS.index(character) for character in text]) for text in texts]
    return pad_sequence(rows, batch_first=True, padding_value=-100), texts
