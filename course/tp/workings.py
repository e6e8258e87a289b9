"""Products with their working, for TP 7: designs of a working, operands apart for the test, batches of texts.

A design is a function of two numbers of at most n digits and of n; it returns digits and commas. A text is question,
working, answer, end; numbers of the question and of the answer are written units first.
"""

import random

import torch
from torch.nn.utils.rnn import pad_sequence

__all__ = ["CHARACTERS", "as_on_paper", "draw_operands", "no_working", "text_batch", "written_out"]

CHARACTERS = "\n0123456789*=,"


def no_working(a, b, n):
    """Nothing."""
    return ""


def as_on_paper(a, b, n):
    """Partial products and running sums, 2n digits each."""
    parts, total = [], 0
    for row in range(n):
        part = a * (b // 10 ** row % 10) * 10 ** row
        total += part
        parts += [part, total] if row else [part]
    return ",".join(f"{part:0{2 * n}d}"[::-1] for part in parts)


def written_out(design, a, b, n):
    """The whole text: question, working, answer, end."""
    question = f"{a:0{n}d}"[::-1] + "*" + f"{b:0{n}d}"[::-1] + "="
    return question + design(a, b, n) + "=" + f"{a * b:0{2 * n}d}"[::-1] + "\n"


def draw_operands(rng, n, held_out):
    """Two numbers of at most n digits. A quarter of all pairs is held out, whichever way round."""
    while True:
        a, b = rng.randrange(10 ** n), rng.randrange(10 ** n)
        if (random.Random(f"{min(a, b)} {max(a, b)}").random() < 0.25) == held_out:
            return a, b


def text_batch(design, rng, B, n, held_out=False):
    """B texts: a tensor of ids (B, T), filled up with −100, and the texts themselves."""
    texts = [written_out(design, *draw_operands(rng, n, held_out), n) for _ in range(B)]
    rows = [torch.tensor([CHARACTERS.index(character) for character in text]) for text in texts]
    return pad_sequence(rows, batch_first=True, padding_value=-100), texts
