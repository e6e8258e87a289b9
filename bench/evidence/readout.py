"""Why attention seems to hurt on session 3's sums: cell, input of the output layer, layer before it, recipe, crossed.

Sums and differences of numbers below 100, the training of session 3: 1200 steps of 64 fresh questions, tested on 2000
pairs of numbers that training never draws, free running, whole answers.

Axes by letter: T = timesteps of the answer, S = timesteps of the question, B = batch, V = vocabulary, H = hidden.
"""

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from tp import arithmetic
from tp.arithmetic import DECODER_ALPHABET, ENCODER_ALPHABET

from ..measure import spread, table
from .ledger import percent

STEPS, H = 1200, 128
SEEDS = (0, 1, 2, 3, 4)


@dataclass(frozen=True)
class Design:
    """One way to build and train the model; what is not here is the same in all runs."""

    cell: str = "GRU"          # as in session 3; "LSTM", with a forget gate that starts open, as in session 4
    read_out: str = "state"    # what predicts: state, context, added, concatenated
    layer: str = ""            # before the last one: Tanh, ReLU, Identity (a linear layer), or none
    width: int = 0             # its units
    recipe: str = "session 3"       # schedule of the learning rate and memory of Adam
    peak: float = 6e-3         # the highest learning rate


DESIGNS = [
    Design("GRU", "state"),
    Design("GRU", "state", "Tanh", 64),
    Design("GRU", "concatenated"),
    Design("GRU", "concatenated", "Tanh", 64),
    Design("GRU", "concatenated", "ReLU", 64),
    Design("GRU", "concatenated", "Tanh", 64, "session 4"),
    Design("LSTM", "concatenated", "Tanh", 64, "session 4"),
    Design("LSTM", "concatenated", "Tanh", 64),
    Design("LSTM", "concatenated"),
    Design("LSTM", "state"),
    Design("GRU", "added"),
    Design("GRU", "context"),
    Design("GRU", "concatenated", "Identity", 64),
    Design("GRU", "concatenated", "Tanh", 256),
]


class Couple(nn.Module):
    """Encoder and decoder of session 3 on ids; padding is a row of zeros, as there."""

    def __init__(self, design):
        super().__init__()
        self.design = design
        cell = getattr(nn, design.cell)
        self.source = nn.Embedding(len(ENCODER_ALPHABET) + 1, 32, padding_idx=len(ENCODER_ALPHABET))
        self.target = nn.Embedding(len(DECODER_ALPHABET), 32)
        self.encoder, self.decoder = cell(32, H), cell(32, H)
        features, V = H * (2 if design.read_out == "concatenated" else 1), len(DECODER_ALPHABET)
        self.output = (nn.Sequential(nn.Linear(features, design.width), getattr(nn, design.layer)(),
                                     nn.Linear(design.width, V))
                       if design.layer else nn.Linear(features, V))
        if design.cell == "LSTM":
            for part in (self.encoder, self.decoder):
                nn.init.ones_(part.bias_ih_l0.data[H:2 * H])  # the second quarter belongs to the forget gate

    def forward(self, encoder_ids, decoder_input):
        """(S, B), (T, B) → logits (T, B, V): teacher forcing."""
        henc_ts, state = self.encoder(self.source(encoder_ids))
        hdec_ts, _ = self.decoder(self.target(decoder_input), state)
        return self.output(self.features(hdec_ts, henc_ts))

    def features(self, hdec_ts, henc_ts):
        """What the output layer reads of the states (T, B, H) and (S, B, H): (T, B, H) or (T, B, 2H)."""
        if self.design.read_out == "state":
            return hdec_ts
        attention_weights = torch.einsum("tbh,sbh->tbs", hdec_ts, henc_ts).softmax(dim=-1)
        context_vectors = torch.einsum("tbs,sbh->tbh", attention_weights, henc_ts)
        return {"context": lambda: context_vectors, "added": lambda: hdec_ts + context_vectors,
                "concatenated": lambda: torch.cat([hdec_ts, context_vectors], dim=-1)}[self.design.read_out]()

    @torch.no_grad()
    def write(self, encoder_ids, timesteps):
        """(S, B) → ids (timesteps, B): free running, always the likeliest character."""
        henc_ts, state = self.encoder(self.source(encoder_ids))
        written = [torch.full(encoder_ids.shape[1:], DECODER_ALPHABET.index(arithmetic.GO))]
        for _ in range(timesteps):
            hdec_ts, state = self.decoder(self.target(written[-1][None]), state)
            written.append(self.output(self.features(hdec_ts, henc_ts))[0].argmax(-1))
        return torch.stack(written[1:])


def learning_rate(recipe, progress, peak):
    """The one-cycle schedules of session 3 (30 % up) and session 4 (8 % up)."""
    if recipe == "session 3":
        if progress < 0.3:
            return peak * (0.04 + 0.96 * (1 - math.cos(math.pi * progress / 0.3)) / 2)
        return peak * (1 + math.cos(math.pi * (progress - 0.3) / 0.7)) / 2
    if progress < 0.08:
        return peak * (0.04 + 0.96 * math.sin(math.pi / 2 * progress / 0.08) ** 2)
    return peak * math.cos(math.pi / 2 * (progress - 0.08) / 0.92) ** 2


def questions(rng, n, training):
    """`n` sums and differences below 100: encoder ids (S, n), decoder input and target (T, n)."""
    sample = arithmetic.draw_split(rng, n, training, n_digits=2, operators="+-")
    encoder_ids, decoder_ids = arithmetic.encoded(*sample, n_digits=2, operators="+-", least_digit_first=True)
    decoder_input, target = arithmetic.shifted(decoder_ids)
    return encoder_ids.int(), decoder_input.int().clamp(max=len(DECODER_ALPHABET) - 1), target.long()


def run(design, seed):
    """Train once, test on 2000 held-out questions: exact match, the loss (means of 50 steps), what is seen inside."""
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    test_ids, test_input, test_target = questions(rng, 2000, training=False)
    model = Couple(design)
    optimizer = torch.optim.Adam(model.parameters(), betas=(0.9, 0.999 if design.recipe == "session 3" else 0.98),
                                 fused=True)
    losses = []
    for step in range(STEPS):
        optimizer.param_groups[0]["lr"] = learning_rate(design.recipe, step / STEPS, design.peak)
        encoder_ids, decoder_input, target = questions(rng, 64, training=True)
        loss = F.cross_entropy(model(encoder_ids, decoder_input).flatten(0, 1), target.flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    right = (model.write(test_ids, len(test_target)) == test_target).all(dim=0).double().mean().item()
    return {"right": right, "curve": np.reshape(losses, (24, -1)).mean(axis=1).round(3).tolist(),
            **inside(model, test_ids, test_input)}


@torch.no_grad()
def inside(model, encoder_ids, decoder_input):
    """How sharp the attention is, and how far the tanh units are driven, on held-out questions."""
    henc_ts, state = model.encoder(model.source(encoder_ids))
    hdec_ts, _ = model.decoder(model.target(decoder_input), state)
    weights = torch.einsum("tbh,sbh->tbs", hdec_ts, henc_ts).softmax(dim=-1)
    seen = {"largest_weight": weights.max(-1).values.mean().item()}
    if model.design.layer == "Tanh":
        driven = model.output[0](model.features(hdec_ts, henc_ts)).abs()
        seen["saturated"] = (driven > 2).double().mean().item()
    return seen


def report(results):
    """A line for each design: exact match over the seeds, the last loss, and how many tanh units are driven flat.

    And what the context adds, where it is added to the state, seed by seed.
    """
    rows = []
    for design in DESIGNS:
        runs = [run for run in results if run["design"] == vars(design)]
        layer = {"": "none", "Identity": "linear"}.get(design.layer, design.layer)
        rows.append([design.cell, design.read_out, f"{layer} {design.width}" if design.layer else layer,
                     design.recipe, design.peak, percent([run["right"] for run in runs]),
                     spread([run["curve"][-1] for run in runs], "{:.2f}"),
                     percent([run["saturated"] for run in runs], 0) if design.layer == "Tanh" else ""])
    state, added = ([run["right"] for run in sorted(results, key=lambda run: run["seed"])
                     if run["design"] == vars(Design("GRU", read_out))] for read_out in ("state", "added"))
    return (table(["cell", "what predicts", "layer before the last", "recipe of", "peak learning rate",
                   "exact match, %", "loss of the last 50 steps", "tanh units beyond ±2, %"], rows) + "\n"
            + table(["GRU, no layer, points", *(f"seed {seed}" for seed in SEEDS)],
                    [["added minus state", *(f"{100 * (a - b):+.1f}" for a, b in zip(added, state, strict=True))]]))
