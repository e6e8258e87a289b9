"""The look-ups of session 3 on rows of digits, trained as in its notebook: last vector, bag, attention with positions.

Batches of 128 fresh rows; the last vector has 400 steps, and attention with positions 200, at each length. On ten
digits, attention over content only, and over content and position, has 300. Tested on new rows: 5000 of ten digits,
4000 of the other lengths. The last column is the share that one who knows the digits, but not their order, can expect.
"""

from dataclasses import dataclass

import torch

from autograder import course
from autograder.model.oracle import load_oracle

from ..measure import spread, table
from .ledger import ROOT

SEEDS = (0, 1, 2, 3, 4)
LENGTHS = (2, 4, 8, 16)


@dataclass(frozen=True)
class Design:
    """What looks up, how long the rows are, and its budget."""

    model: str
    digits: int
    steps: int


DESIGNS = [*(Design("last vector", digits, 400) for digits in LENGTHS),
           Design("content only", 10, 300), Design("content and position", 10, 300),
           *(Design("content and position", digits, 200) for digits in LENGTHS)]


def run(design, seed):
    """Train once: the share right on new rows, by index and of all, and what is expected without order."""
    nb = load_oracle(course.find(ROOT), "tp3_attention").namespace
    torch.manual_seed(seed)
    digits = design.digits
    net = (nb["LastVector"](digits) if design.model == "last vector"
           else nb["BagNet"](d=digits, positions=design.model == "content and position"))
    nb["fit"](net, lambda: nb["gen_data"](128, digits, 0, 10), steps=design.steps)
    (data, asked), y = nb["gen_data"](5000 if digits == 10 else 4000, digits, 0, 10)
    right = nb["hits"](net, data, asked, y).float()
    return {"right": right.mean().item(), "by index": [right[asked == i].mean().item() for i in range(digits)],
            "without order": nb["best_without_order"](data)}


def report(results):
    """A line for each model and length."""
    rows = []
    for design in DESIGNS:
        runs = [run for run in results if run["design"] == vars(design)]
        rows.append([design.model, design.digits, design.steps, spread([run["right"] for run in runs], "{:.3f}"),
                     spread([run["by index"][0] for run in runs], "{:.2f}"),
                     spread([run["by index"][-1] for run in runs], "{:.2f}"),
                     spread([run["without order"] for run in runs], "{:.3f}")])
    return table(["model", "digits", "steps", "right", "the first digit", "the last digit", "without order"], rows)
