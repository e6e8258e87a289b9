"""The races of session 3: attention or not, forced or free, on sums; and copying.

Models, tasks and training are those of the notebook: `tp.races`, 64 fresh samples a step, 1200 steps on sums and
differences of numbers below 100, 400 on strings of 6 to 14 letters. Whole answers, free running, on 2000 held-out
questions.
"""

from dataclasses import dataclass

from autograder import course
from autograder.model.oracle import load_oracle
from tp import races

from ..measure import table
from .ledger import ROOT, percent

STEPS = {"sums": 1200, "copies": 400}
SEEDS = (0, 1, 2, 3, 4)
NAMES = {("DecoderRNN", False): "no attention", ("DecoderRNN", True): "context alone",
         ("ConcatDecoderRNN", True): "concatenated"}


@dataclass(frozen=True)
class Design:
    """A task, a decoder of the notebook, and how it is trained."""

    task: str
    decoder: str = "DecoderRNN"
    attention: bool = False
    teacher_enforce: bool = True


DESIGNS = [*(Design("sums", attention=attention, teacher_enforce=forced)
             for attention in (False, True) for forced in (True, False)),
           *(Design("copies", decoder, attention) for decoder, attention in NAMES)]


def run(design, seed):
    """Train once: exact match by operation, or by the number of letters."""
    nb = load_oracle(course.find(ROOT), "tp3_attention").namespace
    model = nb["train"](getattr(races, design.task), STEPS[design.task], "", nb[design.decoder], design.attention,
                        design.teacher_enforce, seed)
    group_of = races.operation if design.task == "sums" else len
    right = nb["exact_match_by"](group_of, model.X_val, model.answer(model.X_val), model.y_val)
    return {"right": {str(group): share for group, share in sorted(right.items())}}


def report(results):
    """A table for each task, a line for each model."""
    text = ""
    for task in STEPS:
        rows = []
        for design in DESIGNS:
            runs = [run for run in results if run["design"] == vars(design)]
            if design.task == task:
                forced = ", teacher forcing" if design.teacher_enforce else ", free running"
                groups = runs[0]["right"]
                rows.append([NAMES[design.decoder, design.attention] + (forced if task == "sums" else ""),
                             *(percent([run["right"][group] for run in runs]) for group in groups)])
        said = [f"{group} letters, %" if group.isdigit() else f"{group}s, %" for group in groups]
        text += ("\n" if text else "") + table([f"{task}, {STEPS[task]} steps", *said], rows)
    return text
