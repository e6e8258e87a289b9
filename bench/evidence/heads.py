"""What the heads of session 6's Transformer do, and what their loss costs: alone, together, in the order of cost.

The models of `explanations` (1500 steps, five seeds). What a head does is measured on 200 validation sentences: the
share of words whose largest weight lies on a gold word (it aligns), on the final mark, on the word itself, on the one
before; and the share of French words at which the right word is among the ten whose logits the head's own output raises
most (it writes). It is ablated on the same sentences by the mean of its output and by the output in another sentence at
the same position; the cost is the loss added. Pruned: all heads in the order of their cost by the mean, one more in
each line; *sum of single costs* is what the heads cost one by one.
"""

from dataclasses import dataclass

import torch

from autograder import course
from autograder.model.oracle import load_oracle
from tp import trace

from ..measure import spread, table
from .explanations import SEEDS, parts_of, trained
from .ledger import ROOT, percent

__all__ = ["DESIGNS", "SEEDS", "report", "run"]

SENTENCES = 200
ABLATIONS = ("mean", "resampling")


@dataclass(frozen=True)
class Design:
    """The one model."""

    model: str = "Transformer, session 6"


DESIGNS = [Design()]


def run(design, seed):
    """Train, ask each head, cut it off: its roles and costs, then the costs of all heads pruned so far."""
    model, _, _ = trained(seed)
    tp6, pairs = load_oracle(course.find(ROOT), "tp6_transformer").namespace, parts_of().validation[:SENTENCES]
    rows, found = tp6["rows_of"](pairs), []
    whole = tp6["loss_without"](model, rows, [])
    for (part, head), shares in tp6["attends_to"](model, pairs).items():
        roles = dict(zip(("same", "before", "after", "mark", "aligns"), shares, strict=True))
        found.append({"part": part, "head": head, **roles,
                      "writes": writes(tp6, model, rows, head) if part.endswith("cross") else None,
                      **{by: tp6["loss_without"](model, rows, [(part, head)], by) - whole for by in ABLATIONS}})
    order = sorted(found, key=lambda one: one["mean"])
    gone, pruned = [], []
    for one in order:
        gone.append((one["part"], one["head"]))
        pruned.append({"part": one["part"], **{by: tp6["loss_without"](model, rows, gone, by) - whole
                                               for by in ABLATIONS},
                       "sum": sum(other["mean"] for other in order[:len(gone)])})
    return {"loss": whole, "heads": found, "pruned": pruned}


@torch.no_grad()
def writes(tp6, model, rows, head):
    """The share of French words that the head's output alone puts among the ten most raised of the last layer."""
    source, target = tp6["padded"](rows)
    cross = model.decoder.blocks[-1].cross
    with trace(model) as seen:
        model(source, target)
    columns = slice(head * cross.head_size, (head + 1) * cross.head_size)
    z = seen["decoder.blocks.0.cross.W_o:in"][..., columns]
    words = (target != tp6["PAD"]) & (target != tp6["EOS"])
    alone = (z - z[words].mean(dim=0)) @ cross.W_o.weight[:, columns].T
    raised = (alone * model.decoder.norm.weight) @ model.decoder.readout.weight.T
    return (raised.topk(10).indices == target[..., None]).any(dim=-1)[words].float().mean().item()


PARTS = {"encoder.blocks.0.attention": "source → source", "decoder.blocks.0.attention": "target → target",
         "decoder.blocks.0.cross": "target → source"}


def report(results):
    """A line for each head of each part, ranked within its run, over all runs; then a line for each head pruned."""
    rows = []
    for part, name in PARTS.items():
        cross = part.endswith("cross")
        ranked = [sorted((one for one in run["heads"] if one["part"] == part),
                         key=lambda one: -one["aligns" if cross else "mean"]) for run in results]
        for rank, heads in enumerate(zip(*ranked, strict=True), 1):
            shares = (percent([one[role] for one in heads], 0) if cross or role not in ("aligns", "writes") else ""
                      for role in ("same", "before", "mark", "aligns", "writes"))
            rows.append([f"{name}, {'aligns' if cross else 'costs'} most: {rank}", *shares,
                         *(spread([one[by] for one in heads], "{:.2f}") for by in ABLATIONS)])
    pruned = []
    for n, heads in enumerate(zip(*(run["pruned"] for run in results), strict=True), 1):
        last = "; ".join(f"{name} {count}" for part, name in PARTS.items()
                         if (count := sum(one["part"] == part for one in heads)))
        pruned.append([n, last, *(spread([one[kind] for one in heads], "{:.2f}") for kind in (*ABLATIONS, "sum"))])
    ranks = []
    for run in results:
        cross = sorted((one for one in run["heads"] if one["part"].endswith("cross")), key=lambda one: -one["mean"])
        ranks.append(cross.index(max(cross, key=lambda one: one["aligns"])))
    best = (f"Ablating the cross-attention head with the highest share on gold words adds the most loss in "
            f"{ranks.count(0)} of {len(ranks)} runs, the least in {ranks.count(len(cross) - 1)}.")
    return (table(["heads of five models", "same word, %", "word before, %", "final mark, %", "gold word, %",
                   "writes the right word, %", "cost, mean", "cost, resampling"], rows)
            + "\nLoss of the whole model: " + spread([run["loss"] for run in results], "{:.3f}") + f". {best}\n\n"
            + table(["heads cut", "the last of them, in how many runs", "loss added, mean", "loss added, resampling",
                     "sum of single costs"], pruned))
