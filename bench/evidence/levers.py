"""Two components of session 2's recipe, taken away one by one: the order of the answer, the order of the question.

Model, recipe and samples are those of the notebook and of `tp.levers`: sums and differences of numbers below 1000, 64
fresh questions a step, 128 units. Tested free running, whole answers, on 1000 questions whose pairs of numbers training
never draws, with numbers of one, two and three digits equally frequent; and on 94+8 and 999+1, whose pairs it never
draws either.
"""

from dataclasses import dataclass
from functools import partial

from autograder import course
from autograder.model.oracle import load_oracle
from tp import levers

from ..measure import spread, table
from .ledger import ROOT, percent

SEEDS = (0, 1, 2, 3, 4)


@dataclass(frozen=True)
class Design:
    """What the recipe is made of, and its budget."""

    steps: int = 2500
    embedding: bool = True
    question_backwards: bool = True
    answer_backwards: bool = True
    even_lengths: bool = True


DESIGNS = [Design(), Design(answer_backwards=False), Design(question_backwards=False)]
NAMES = {Design(answer_backwards=False): "answer written forwards",
         Design(question_backwards=False): "question read forwards"}


def run(design, seed):
    """Train once: exact match by operator, on short numbers too, the shown questions, the loss of the last steps."""
    build = partial(load_oracle(course.find(ROOT), "tp2_seq2seq").namespace["build"], embedding=design.embedding)
    model, view = levers.train(build, design.steps, question_backwards=design.question_backwards,
                               answer_backwards=design.answer_backwards, even_lengths=design.even_lengths, seed=seed)
    return {"right": {operator: levers.share_right(model, operator) for operator in "+-"},
            "one digit": {operator: levers.share_right(model, operator, 1) for operator in "+-"},
            "shown": {question: levers.ask(model, question) for question in levers.SHOWN}, "loss": view.mean("loss")}


def report(results):
    """A line for each component that is taken away, then what each run answered."""
    rows, shown = [], []
    for design in DESIGNS:
        runs = [run for run in results if run["design"] == vars(design)]
        name = NAMES.get(design, "all components")
        rows.append([name, design.steps,
                     *(percent([run[part][operator] for run in runs]) for part in ("right", "one digit")
                       for operator in "+-"),
                     spread([run["loss"] for run in runs], "{:.3f}")])
        shown.append([f"{name}, {design.steps} steps",
                      *(", ".join(run["shown"][question] for run in runs) for question in levers.SHOWN)])
    return (table(["recipe", "steps", "`+`, %", "`-`, %", "`+` with one digit, %", "`-` with one digit, %",
                   "loss of the last 50 steps"], rows)
            + "\n" + table(["what each seed answered", *levers.SHOWN], shown))
