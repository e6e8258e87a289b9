"""Induction heads in session 6's model of two blocks: found by their score, broken by ablation, traced by patching.

Trained as in the notebook (800 steps of 32 rows, learned positions, four heads of 16 a layer) and tested on 200 rows of
12 different random tokens that are read twice. The induction score of a head is its mean weight, in the second reading,
on the token after the earlier occurrence of the same token (Olsson et al. 2022); the previous-token score its mean
weight, in the first reading, on the position before. *Right* is the share of right next tokens in the second reading.
Patching: in the first reading one token is another; at the same token of the second reading the next one is asked for.
The share restored is that of the log-probability, on 10 rows, by the clean activation at one position.
From the weights, of each head of the first layer: the weight on the position before by its QK circuit, where every
token is the mean of all embeddings; and the share of tokens a whose query, in a head of the second layer, has its
largest score with what the head writes for a (the mean of the four heads). Of each head of the second layer: the share
of tokens whose own logit its OV circuit raises most. Path patching: right next tokens where only the queries, only the
keys or only the values of the second layer read what a head of the first layer writes for another row.
"""

import time
from dataclasses import dataclass

import torch

from autograder import course
from autograder.model.oracle import load_oracle

from ..measure import spread, table
from .ledger import ROOT, percent

SEEDS = (0, 1, 2, 3, 4)
L, V = 12, 48
STEPS = (800,)
SITES = {"the embedding, at the changed token": ("embedding", 0),
         "the first attention, at the token after it": ("blocks.0.attention", 1),
         "the first attention, elsewhere, at most": ("blocks.0.attention", None),
         "the second attention, where the answer is asked": ("blocks.1.attention", L)}
READERS = ("W_q", "W_k", "W_v")


@dataclass(frozen=True)
class Design:
    """The budget of the training."""

    steps: int


DESIGNS = [Design(steps) for steps in STEPS]


def run(design, seed):
    """Train and look once: CPU seconds, each head's two scores, right tokens whole and cut, shares restored."""
    tp6 = load_oracle(course.find(ROOT), "tp6_transformer").namespace
    started = time.process_time()
    model = tp6["train_repeats"](design.steps, seed)
    seconds = time.process_time() - started
    ids = torch.rand(200, V).argsort(dim=-1)[:, :L].repeat(1, 2)
    scores = tp6["head_scores"](model, ids)
    inducing, before = (max(scores, key=lambda head: scores[head][which]) for which in (0, 1))
    cuts = {"no head": [], "the head with the largest induction score": [inducing],
            "all heads of its layer": [(inducing[0], k) for k in range(4)],
            "the head with the largest previous-token score": [before],
            "all heads of the first layer": [(0, k) for k in range(4)],
            "two heads of the second layer with the smallest induction scores": sorted(
                ((1, k) for k in range(4)), key=lambda head: scores[head][0])[:2]}
    right = {name: [tp6["continued"](model, ids, heads, by) for by in ("mean", "resampling")]
             for name, heads in cuts.items()}
    first = [{"previous": scores[0, k][1], "weights": tp6["previous_token"](model, k),
              "composes": sum(tp6["composes"](model, k, j) for j in range(4)) / 4,
              **{reader: tp6["right_along"](model, ids, k, reader) for reader in READERS},
              "all": tp6["continued"](model, ids, [(0, k)], "resampling")} for k in range(4)]
    second = [{"induction": scores[1, k][0], "copies": tp6["copies"](model, k)} for k in range(4)]
    return {"seconds": seconds, "scores": [[*head, *both] for head, both in scores.items()], "right": right,
            "restored": patched(tp6, model, ids[:10]), "first": first, "second": second}


def patched(tp6, model, ids, p=4):
    """The share that each of `SITES` restores, in the mean over the rows."""
    found = {name: [] for name in SITES}
    for row in ids[:, None]:
        corrupt = row.clone()
        corrupt[0, p] = next(token for token in range(V) if token not in row[0])

        def measure(logits, answer=row[0, p + 1]):
            return logits[0, L + p].log_softmax(dim=-1)[answer]

        shares = {site: tp6["restored"](model, row, corrupt, None, site, measure)
                  for site in {site for site, _ in SITES.values()}}
        for name, (site, after) in SITES.items():
            others = [share.item() for place, share in enumerate(shares[site]) if place != p + 1]
            found[name].append(max(others) if after is None else shares[site][p + after].item())
    return {name: sum(shares) / len(shares) for name, shares in found.items()}


def report(results):
    """The scores of the heads, ranked within their layers; right tokens without some of them; shares restored."""
    ranked = []
    for layer in (0, 1):
        for which, name in ((2, "induction"), (3, "previous token")):
            rows = [sorted((head[which] for head in run["scores"] if head[0] == layer), reverse=True)
                    for run in results]
            ranked.append([f"layer {layer + 1}: {name}",
                           *(spread(values, "{:.2f}") for values in zip(*rows, strict=True))])
    cut = [[name, *(percent([run["right"][name][k] for run in results], 0) for k in (0, 1))]
           for name in results[0]["right"]]
    restored = [[name, spread([run["restored"][name] for run in results], "{:.2f}")] for name in SITES]
    first, second = [], []
    for rank, heads in enumerate(zip(*(sorted(run["first"], key=lambda head: -head["previous"]) for run in results),
                                     strict=True), 1):
        first.append([rank, *(spread([head[kind] for head in heads], "{:.2f}") for kind in ("previous", "weights")),
                      *(percent([head[kind] for head in heads], 0) for kind in ("composes", *READERS, "all"))])
    for rank, heads in enumerate(zip(*(sorted(run["second"], key=lambda head: -head["induction"]) for run in results),
                                     strict=True), 1):
        second.append([rank, spread([head["induction"] for head in heads], "{:.2f}"),
                       percent([head["copies"] for head in heads], 0)])
    return (table(["score", "largest of four heads", "second", "third", "fourth"], ranked) + "\n"
            + table(["heads cut", "right, by the mean, %", "right, by resampling, %"], cut) + "\n"
            + table(["patched", "share restored"], restored) + "\n"
            + table(["head of the first layer, by its score", "previous token, measured", "from the weights",
                     "tokens that the second layer's keys match, %", "right, by the queries, %", "by the keys, %",
                     "by the values, %", "by all paths, %"], first) + "\n"
            + table(["head of the second layer, by its score", "induction score", "tokens that it copies, %"], second)
            + "\nCPU seconds of a training: "
            + spread([run["seconds"] for run in results], "{:.0f}") + ".\n\n")
