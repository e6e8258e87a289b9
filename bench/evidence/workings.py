"""What a working must look like, and whether it goes further than its training: the writers of session 6.

Products of two numbers, 600 steps of 64 fresh ones; tested on 300 held-out pairs of three digits by three, and on 300
of four by four, which no training has seen. The answer counts, not the working.
"""

import time
from dataclasses import dataclass

from autograder import course
from autograder.model.oracle import oracle

from ..measure import spread, table
from .ledger import ROOT, percent

STEPS = 600
SEEDS = (0, 1, 2, 3, 4)
NAMES = {"no_working": "none", "as_on_paper": "as on paper", "working": "each digit beside its parents"}


@dataclass(frozen=True)
class Design:
    """What is written before the answer: a function of the notebook."""

    working: str


DESIGNS = [Design(name) for name in NAMES]


def run(design, seed):
    """Train once: the shares of right answers by number of digits, and the CPU seconds."""
    tp6 = oracle(course.find(ROOT), "tp6_transformer").namespace
    working, started = tp6[design.working], time.process_time()
    writer = tp6["train_writer"](working, STEPS, seed=seed)
    seconds = time.process_time() - started
    return {"seconds": seconds, "right": {str(n): tp6["answers_right"](writer, working, n) for n in (3, 4)}}


def report(results):
    """A line for each working."""
    rows = []
    for design in DESIGNS:
        runs = [run for run in results if run["design"] == vars(design)]
        rows.append([NAMES[design.working], *(percent([run["right"][n] for run in runs]) for n in ("3", "4")),
                     spread([run["seconds"] for run in runs], "{:.0f}")])
    return table(["working", "three digits, %", "four digits, %", "CPU seconds"], rows)
