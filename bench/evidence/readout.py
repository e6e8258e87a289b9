"""Why attention hurts on the sums of TP 4: cell, read-out, width of the tanh layer and recipe, crossed.

Axes by letter: T = timesteps of the answer, S = timesteps of the question, B = batch, V = vocabulary, H = hidden.
"""

import math
from dataclasses import asdict, dataclass

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from tp import arithmetic
from tp.arithmetic import DECODER_ALPHABET, ENCODER_ALPHABET

STEPS, SEEDS, H = 1200, (0, 1, 2), 128


@dataclass(frozen=True)
class Design:
    """One way to build and train the model; what is not here is the same in all runs."""

    cell: str = "GRU"
    keep: float = 0.0          # added to the gate that keeps the state: update gate of a GRU, forget gate of an LSTM
    read_out: str = "state"    # what predicts: state, context, added, concatenated
    width: int = 0             # units of the tanh layer before the last one; 0: no such layer
    recipe: str = "TP 4"       # schedule of the learning rate and memory of Adam
    steps: int = STEPS


BOTH = [("GRU", 0.0), ("GRU", 1.0), ("LSTM", 0.0), ("LSTM", 1.0)]
DESIGNS = [
    *(Design(cell, keep, read_out, width) for cell, keep in BOTH
      for read_out, width in [("state", 0), ("state", 64), ("context", 0), ("added", 0), ("concatenated", 0),
                              ("concatenated", 64)]),
    *(Design(cell, keep, "concatenated", width) for width in (16, 256) for cell, keep in (BOTH[0], BOTH[3])),
    *(Design(cell, keep, read_out, width, "TP 5") for cell, keep in (BOTH[0], BOTH[3])
      for read_out, width in [("state", 0), ("concatenated", 64)]),
]


class Couple(nn.Module):
    """Encoder and decoder of TP 4 on ids; padding is a row of zeros, as there."""

    def __init__(self, design):
        super().__init__()
        self.design = design
        cell = getattr(nn, design.cell)
        self.source = nn.Embedding(len(ENCODER_ALPHABET) + 1, 32, padding_idx=len(ENCODER_ALPHABET))
        self.target = nn.Embedding(len(DECODER_ALPHABET), 32)
        self.encoder, self.decoder = cell(32, H), cell(32, H)
        features, V = H * (2 if design.read_out == "concatenated" else 1), len(DECODER_ALPHABET)
        self.output = (nn.Sequential(nn.Linear(features, design.width), nn.Tanh(), nn.Linear(design.width, V))
                       if design.width else nn.Linear(features, V))
        for part in (self.encoder, self.decoder):  # the second block of rows belongs to the gate that keeps
            part.bias_hh_l0.data[H:2 * H] += design.keep

    def forward(self, encoder_ids, decoder_input):
        """(S, B), (T, B) → logits (T, B, V): teacher forcing."""
        henc_ts, state = self.encoder(self.source(encoder_ids))
        hdec_ts, _ = self.decoder(self.target(decoder_input), state)
        return self.output(self.features(hdec_ts, henc_ts))

    def features(self, hdec_ts, henc_ts):
        """What the read-out sees of the states (T, B, H) and (S, B, H): (T, B, H) or (T, B, 2H)."""
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


def learning_rate(recipe, progress, peak=6e-3):
    """The one-cycle schedules of TP 4 (30 % up) and TP 5 (8 % up)."""
    if recipe == "TP 4":
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
    """Train once, test on 2000 held-out questions: exact match, last loss, and what the read-out looks like."""
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    test_ids, test_input, test_target = questions(rng, 2000, training=False)
    model = Couple(design)
    optimizer = torch.optim.Adam(model.parameters(), betas=(0.9, 0.999 if design.recipe == "TP 4" else 0.98),
                                 fused=True)
    losses = []
    for step in range(design.steps):
        optimizer.param_groups[0]["lr"] = learning_rate(design.recipe, step / design.steps)
        encoder_ids, decoder_input, target = questions(rng, 64, training=True)
        loss = F.cross_entropy(model(encoder_ids, decoder_input).flatten(0, 1), target.flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    right = (model.write(test_ids, len(test_target)) == test_target).all(dim=0).double().mean().item()
    return {"design": asdict(design), "seed": seed, "right": right, "loss": sum(losses[-50:]) / 50,
            **inside(model, test_ids, test_input)}


@torch.no_grad()
def inside(model, encoder_ids, decoder_input):
    """How sharp the attention is, and how far the tanh units are driven, on held-out questions."""
    henc_ts, state = model.encoder(model.source(encoder_ids))
    hdec_ts, _ = model.decoder(model.target(decoder_input), state)
    weights = torch.einsum("tbh,sbh->tbs", hdec_ts, henc_ts).softmax(dim=-1)
    seen = {"largest_weight": weights.max(-1).values.mean().item()}
    if model.design.width:
        driven = model.output[0](model.features(hdec_ts, henc_ts)).abs()
        seen["saturated"] = (driven > 2).double().mean().item()
    return seen
