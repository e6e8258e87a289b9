"""(b) Attention with loops, batched, and built in: forward and backward.

Axes by letter: T = decoder timesteps, S = encoder timesteps, B = batch, H = hidden.
"""

from functools import partial

import numpy as np
import torch
from torch.nn import functional as F

from .measure import cpu_seconds, spread, table

TITLE = "Attention: loops, batched, built in"


def looped(hdec_ts, henc_ts):
    """hdec_ts (T, B, H), henc_ts (S, B, H) → context vectors (T, B, H), one sequence and one timestep at a time."""
    rows = []
    for t in range(hdec_ts.shape[0]):
        contexts = []
        for b in range(hdec_ts.shape[1]):
            attention_weights = torch.softmax(henc_ts[:, b] @ hdec_ts[t, b], dim=0)
            contexts.append(attention_weights @ henc_ts[:, b])
        rows.append(torch.stack(contexts))
    return torch.stack(rows)


def batched(hdec_ts, henc_ts):
    """The same as two matrix products."""
    queries, keys = hdec_ts.transpose(0, 1), henc_ts.transpose(0, 1)
    attention_weights = torch.softmax(queries @ keys.transpose(1, 2), dim=-1)
    return (attention_weights @ keys).transpose(0, 1)


def built_in(hdec_ts, henc_ts):
    """The same by torch's own function."""
    queries, keys = hdec_ts.transpose(0, 1), henc_ts.transpose(0, 1)
    return F.scaled_dot_product_attention(queries, keys, keys, scale=1.0).transpose(0, 1)


WAYS = {"loops": looped, "batched": batched, "built in": built_in}


def inputs(T, S, B, H):
    return (torch.randn(T, B, H) / H**0.25).requires_grad_(), (torch.randn(S, B, H) / H**0.25).requires_grad_()


def both_ways(way, hdec_ts, henc_ts):
    """Forward and backward; returns the context vectors and the gradients."""
    context_vectors = way(hdec_ts, henc_ts)
    return context_vectors, *torch.autograd.grad(context_vectors.square().sum(), [hdec_ts, henc_ts])


def measure(quick, repeats, folder):
    """Seconds per forward and backward pass; by shape (B, T, S, H), by way."""
    shapes = [(4, 3, 5, 8)] if quick else [(64, 11, 7, 128), (64, 11, 7, 256)]
    growth = [] if quick else [(64, 11, 7, H) for H in (32, 64, 512)] + [(64, n, n, 128) for n in (8, 16, 32, 64, 128)]
    results = {"shapes": [], "growth": []}
    for B, T, S, H in shapes:
        tensors = inputs(T, S, B, H)
        expected = both_ways(looped, *tensors)
        entry = {"shape": [B, T, S, H], "seconds": {}, "difference": {}}
        for name, way in WAYS.items():
            entry["difference"][name] = max((got - want).abs().max().item()
                                            for got, want in zip(both_ways(way, *tensors), expected, strict=True))
            entry["seconds"][name] = cpu_seconds(partial(both_ways, way, *tensors), repeats)
        results["shapes"].append(entry)
    for B, T, S, H in growth:
        tensors = inputs(T, S, B, H)
        seconds = {name: cpu_seconds(partial(both_ways, WAYS[name], *tensors), repeats)
                   for name in ["batched", "built in"]}
        results["growth"].append({"shape": [B, T, S, H], "seconds": seconds})
    return results


def report(results, picture):
    text = ("Forward and backward pass of dot-product attention, in milliseconds on one core: B sequences, T decoder "
            "and S encoder timesteps, H units.\n\n")
    rows = []
    for entry in results["shapes"]:
        slow = np.median(entry["seconds"]["loops"])
        for name, seconds in entry["seconds"].items():
            rows.append([" × ".join(map(str, entry["shape"])), name, spread([1000 * s for s in seconds]),
                         f"{slow / np.median(seconds):.0f}", f"{entry['difference'][name]:.0e}"])
    text += table(["B × T × S × H", "way", "ms", "times faster than loops", "largest difference"], rows)
    if results["growth"]:
        text += "\nOther sizes:\n\n" + table(
            ["B × T × S × H", "batched, ms", "built in, ms"],
            [[" × ".join(map(str, entry["shape"])),
              *(spread([1000 * s for s in seconds]) for seconds in entry["seconds"].values())]
             for entry in results["growth"]])
    return text
