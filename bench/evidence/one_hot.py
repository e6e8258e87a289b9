"""What the embedding of session 2 is worth: learned rows, one-hot rows, and one-hot rows made longer.

A one-hot row times the input matrix of a GRU is a learned row already. So an embedding before it adds no power, only
another size of its numbers: a row of 32 normal numbers is √32 = 5.7 long, a one-hot row 1. Sums and differences of
numbers below 100, 1200 steps of 64 fresh questions, the training of session 3, GRU without attention.
"""

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from ..measure import spread, table
from .ledger import percent
from .readout import Couple, learning_rate, questions
from .readout import Design as Model

STEPS = 1200
SEEDS = (0, 1, 2, 3, 4)
NAMES = {0.0: "embedding, 32 numbers", 1.0: "one-hot", math.sqrt(32): "one-hot × √32"}


@dataclass(frozen=True)
class Design:
    """`scale`: what one-hot rows are multiplied with; 0: an embedding in their place."""

    scale: float


DESIGNS = [Design(scale) for scale in NAMES]


def run(design, seed):
    """Train once, test on 2000 held-out questions: exact match, and the loss (means of 50 steps)."""
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    test_ids, _, test_target = questions(rng, 2000, training=False)
    model = Couple(Model("GRU", "state"))
    if design.scale:
        for side, reads in (("source", "encoder"), ("target", "decoder")):
            known = getattr(model, side).num_embeddings
            rows = design.scale * torch.eye(known)
            rows[len(rows) - 1:] *= side == "target"  # the padding of a question stays a row of zeros
            setattr(model, side, nn.Embedding.from_pretrained(rows, freeze=True))
            setattr(model, reads, nn.GRU(known, model.encoder.hidden_size))
    optimizer = torch.optim.Adam((p for p in model.parameters() if p.requires_grad), fused=True)
    losses = []
    for step in range(STEPS):
        optimizer.param_groups[0]["lr"] = learning_rate("session 3", step / STEPS, 6e-3)
        encoder_ids, decoder_input, target = questions(rng, 64, training=True)
        loss = F.cross_entropy(model(encoder_ids, decoder_input).flatten(0, 1), target.flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    right = (model.write(test_ids, len(test_target)) == test_target).all(dim=0).double().mean().item()
    return {"right": right, "curve": np.reshape(losses, (24, -1)).mean(axis=1).round(3).tolist()}


def report(results):
    """A line for each size of the input rows."""
    rows = []
    for design in DESIGNS:
        runs = [run for run in results if run["design"] == vars(design)]
        rows.append([NAMES[design.scale], percent([run["right"] for run in runs]),
                     spread([run["curve"][-1] for run in runs], "{:.2f}")])
    return table(["a character is", "exact match, %", "loss of the last 50 steps"], rows)
