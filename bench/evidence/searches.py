"""Session 4's LSTM, trained as in its notebook, then trained on in two ways, and searched with beams.

Teacher forcing on numbers of one, two and three digits, equally frequent; *unfinished* is the network after 70 % of the
steps. It goes on for 600 steps, with teacher forcing or with scheduled sampling at a ratio of 0.75. Right is a whole
answer to one of 2000 unseen questions, greedy; after a slip, the digit of step 1 is right when the true answer with a
wrong digit at step 0 is read. Beams search with the unfinished network, on the first 150 of the questions.
"""

import copy
from dataclasses import dataclass
from types import SimpleNamespace

import torch
import torch.nn.functional as F

from autograder import course
from autograder.model.oracle import load_oracle

from ..measure import spread, table
from .ledger import ROOT, percent

SEEDS = (0, 1, 2, 3, 4)
STEPS, MORE_STEPS, RATIO, SEARCHED = 5500, 600, 0.75, 150
WIDTHS = (1, 2, 3, 5)


@dataclass(frozen=True)
class Design:
    """What is trained first."""

    steps: int


DESIGNS = [Design(STEPS)]


def run(design, seed):
    """Train, go on in two ways, search: shares of right answers, and the mean log-probability of what beams find."""
    nb = SimpleNamespace(**load_oracle(course.find(ROOT), "tp4_inference").namespace)

    def sampled_loss(model, questions, answers):
        forced = torch.rand(answers.shape) < RATIO
        logits = nb.scheduled_sampling_pass(model, questions, answers, forced)
        return F.cross_entropy(logits.permute(1, 2, 0), answers.T)

    torch.manual_seed(seed)
    trained = nb.Seq2seq()
    _, unfinished = nb.train(trained, design.steps, "teacher forcing", seed=seed)
    models = {"unfinished": unfinished}
    for name, loss_of in (("teacher forcing", nb.teacher_loss), ("scheduled sampling", sampled_loss)):
        models[name] = copy.deepcopy(unfinished)
        nb.train(models[name], MORE_STEPS, name, loss_of=loss_of, peak=2e-3, seed=seed + 1)
    questions, answers = nb.encoder_tokens, nb.target_tokens
    added = (questions == nb.arithmetic.ENCODER_ALPHABET.index("+")).any(dim=0)
    return {"trained": {operator: float(nb.exact_match(trained, questions[:, which], answers[:, which]))
                        for operator, which in (("+", added), ("-", ~added))},
            "shown": dict(zip(nb.SHOWN, nb.answer_texts(nb.decode_sequence(trained, nb.encoded_questions(nb.SHOWN))),
                              strict=True)),
            "on": {name: {"right": float(nb.exact_match(model, questions, answers)),
                          "after a slip": after_a_slip(nb, model)} for name, model in models.items()},
            "beams": {str(width): searched(nb, unfinished, width) for width in WIDTHS}}


@torch.no_grad()
def after_a_slip(nb, model):
    """The share of right digits at step 1, when the digit of step 0 that is read is the next one."""
    answers = nb.target_tokens.clone()
    digits = torch.tensor([nb.arithmetic.DECODER_ALPHABET.index(digit) for digit in "0123456789"])
    slips = torch.isin(answers[0], digits)
    answers[0, slips] = digits.roll(-1)[torch.searchsorted(digits, answers[0, slips])]
    said = nb.training_pass(model, nb.encoder_tokens, answers)[0].argmax(dim=-1)
    return float(nb.accuracy_by_step(said, nb.target_tokens, nb.EOS)[1])


def searched(nb, model, width):
    """The share of right answers of a beam, and their mean log-probability."""
    found = [nb.beam_search(model, nb.encoder_tokens[:, i:i + 1], width)[:2] for i in range(SEARCHED)]
    said = torch.cat([nb.padded(hypotheses[:, :1], nb.MAX_LENGTH) for hypotheses, _ in found], dim=1)
    right = (said == nb.target_tokens[:, :SEARCHED]).all(dim=0)
    return {"right": right.float().mean().item(), "log-probability": sum(float(s[0]) for _, s in found) / SEARCHED}


def report(results):
    """What each seed answers, a line for each way of going on, and one for each width; and differences by seed."""
    results = sorted(results, key=lambda run: run["seed"])
    shown = [[run["seed"], *(f"{100 * run['trained'][operator]:.1f}" for operator in "+-"), *run["shown"].values()]
             for run in results]
    ways = [[name, percent([run["on"][name]["right"] for run in results]),
             percent([run["on"][name]["after a slip"] for run in results])] for name in results[0]["on"]]
    beams = [[width, percent([run["beams"][str(width)]["right"] for run in results]),
              spread([run["beams"][str(width)]["log-probability"] for run in results], "{:.3f}")] for width in WIDTHS]
    pairs = [[f"{after} minus {before}, {what}, points",
              *(f"{100 * (run['on'][after][key] - run['on'][before][key]):+.2f}" for run in results)]
             for after, before, what, key in (
                 ("teacher forcing", "unfinished", "right", "right"),
                 ("scheduled sampling", "teacher forcing", "right", "right"),
                 ("scheduled sampling", "teacher forcing", "step 1 right after a slip", "after a slip"))]
    pairs += [[f"beam of {width} minus greedy, answers of {SEARCHED}",
               *(f"{SEARCHED * (run['beams'][str(width)]['right'] - run['beams']['1']['right']):+.0f}"
                 for run in results)] for width in WIDTHS[1:]]
    return (table(["trained, seed", "`+`, %", "`-`, %", *results[0]["shown"]], shown) + "\n"
            + table(["model", "right, %", "step 1 right after a slip, %"], ways) + "\n"
            + table(["beam width", "right, %", "log-probability of the best answer"], beams) + "\n"
            + table(["difference", *(f"seed {seed}" for seed in SEEDS)], pairs))
