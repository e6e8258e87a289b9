"""Which scratchpad helps a decoder to multiply, and whether it helps beyond the training length: session 6.

Multiplications of two numbers, 600 steps of 64 fresh ones; tested on 300 held-out pairs of three digits, and on 300 of
four digits, which no training has seen. The answer counts, not the scratchpad.
"""

import time
from dataclasses import dataclass

from autograder import course
from autograder.model.oracle import load_oracle

from ..measure import spread, table
from .ledger import ROOT, percent

STEPS = 600
SEEDS = (0, 1, 2, 3, 4)
NAMES = {"no_scratchpad": "none", "long_multiplication": "long multiplication", "local_scratchpad": "local"}


@dataclass(frozen=True)
class Design:
    """What is written before the answer: a function of the notebook."""

    scratchpad: str


DESIGNS = [Design(name) for name in NAMES]


def run(design, seed):
    """Train once: the shares of right answers by number of digits, and the CPU seconds."""
    tp6 = load_oracle(course.find(ROOT), "tp6_transformer").namespace
    scratchpad, started = tp6[design.scratchpad], time.process_time()
    writer = tp6["train_writer"](scratchpad, STEPS, seed=seed)
    seconds = time.process_time() - started
    return {"seconds": seconds, "right": {str(n): tp6["answers_right"](writer, scratchpad, n) for n in (3, 4)}}


def report(results):
    """Return a line for each scratchpad."""
    rows = []
    for design in DESIGNS:
        runs = [run for run in results if run["design"] == vars(design)]
        rows.append([NAMES[design.scratchpad], *(percent([run["right"][n] for run in runs]) for n in ("3", "4")),
                     spread([run["seconds"] for run in runs], "{:.0f}")])
    return table(["scratchpad", "three digits, %", "four digits, %", "CPU seconds"], rows)
