"""The levers of TP 3, taken away one by one: order of the answer, order of the question, embedding.

Model, recipe and samples are those of the notebook and of `tp.levers`: sums and differences of numbers below 1000, 64
fresh questions a step, 128 units. Tested free running, whole answers, on 1000 pairs of numbers that training never
draws. The line of 5000 steps is the training of the notebook's part 6.
"""

from dataclasses import dataclass
from functools import partial

from autograder import course
from autograder.model.oracle import oracle
from tp import levers

from ..measure import spread, table
from .ledger import ROOT, percent

SEEDS = (0, 1, 2)


@dataclass(frozen=True)
class Design:
    """What the recipe is made of, and its budget."""

    steps: int = 2500
    embedding: bool = True
    question_backwards: bool = True
    answer_backwards: bool = True


DESIGNS = [Design(5000), Design(), Design(answer_backwards=False), Design(question_backwards=False),
           Design(embedding=False)]
NAMES = {Design(answer_backwards=False): "answer written forwards",
         Design(question_backwards=False): "question read forwards", Design(embedding=False): "no embedding"}


def run(design, seed):
    """Train once: exact match by operator, and the loss of the last 50 steps."""
    build = partial(oracle(course.find(ROOT), "tp3_seq2seq").namespace["build"], embedding=design.embedding)
    model, view = levers.train(build, design.steps, question_backwards=design.question_backwards,
                               answer_backwards=design.answer_backwards, seed=seed)
    return {"right": {operator: levers.share_right(model, operator) for operator in "+-"}, "loss": view.mean("loss")}


def report(results):
    """A line for each lever that is taken away."""
    rows = []
    for design in DESIGNS:
        runs = [run for run in results if run["design"] == vars(design)]
        rows.append([NAMES.get(design, "all levers"), design.steps,
                     *(percent([run["right"][operator] for run in runs]) for operator in "+-"),
                     spread([run["loss"] for run in runs], "{:.3f}")])
    return table(["recipe", "steps", "`+`, %", "`-`, %", "loss of the last 50 steps"], rows)
