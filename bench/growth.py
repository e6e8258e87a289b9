"""(f) How the cost of a training step grows with the hidden size and with the length of the numbers."""

from dataclasses import replace

import numpy as np
import torch
from torch.nn import functional as F

from tp import arithmetic

from . import learning
from .measure import cpu_seconds, spread, table

TITLE = "How a training step grows"
BASE = learning.Recipe("", "+-", 0)


def step_seconds(recipe, n_digits, repeats):
    """CPU seconds of one training step."""
    return cpu_seconds(training_step(recipe, n_digits), repeats)


def training_step(recipe, n_digits, device="cpu"):
    """What makes one training step, forward and backward, Adam included, always of the same batch."""
    model = learning.Couple(recipe).to(device)
    optimizer = torch.optim.Adam(model.parameters(), fused=True)
    sample = arithmetic.draw(np.random.default_rng(), recipe.batch, n_digits, recipe.operators)
    encoder_ids, decoder_ids = (ids.to(device) for ids in arithmetic.encoded(*sample, n_digits, recipe.operators))
    decoder_input, target = arithmetic.shifted(decoder_ids)

    def step():
        logits = model(encoder_ids.int(), decoder_input.int())
        optimizer.zero_grad()
        F.cross_entropy(logits.flatten(0, 1), target.long().flatten()).backward()
        optimizer.step()

    return step


def measure(quick, repeats, folder):
    sizes, batches, digits = [32, 64, 128, 256, 512], [16, 64, 256, 1024], [1, 2, 3, 6, 9]
    if quick:
        sizes, batches, digits = [8], [4], [2]
    return {
        "hidden units": {H: step_seconds(replace(BASE, hidden=H), 3, repeats) for H in sizes},
        "batch": {B: step_seconds(replace(BASE, batch=B), 3, repeats) for B in batches},
        "digits": {n: step_seconds(BASE, n, repeats) for n in digits},
    }


def report(results, picture):
    text = (f"Milliseconds of one step on `+` and `−`, with {BASE.hidden} hidden units, a batch of {BASE.batch} and 3 "
            "digits unless the table says otherwise.\n\n")
    figure, axes = picture(1, 3, "growth", sharey=True)
    for ax, (what, seconds) in zip(axes, results.items(), strict=True):
        rows = [[x, spread([1000 * s for s in values])] for x, values in seconds.items()]
        text += table([what, "ms a step"], rows) + "\n"
        ax.plot([int(x) for x in seconds], [1000 * np.median(values) for values in seconds.values()], marker="o")
        ax.set(xscale="log", yscale="log", xlabel=what)
    axes[0].set_ylabel("ms a step")
    return text + figure("Milliseconds of a training step against hidden units, batch and digits, "
                         "both axes logarithmic.")
