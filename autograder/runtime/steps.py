"""The steps of which a function of torch consists: somebody else may write them out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def steps(name: str, args: Any, kwargs: Any) -> Iterator[Any]:
    """Yield what one computes who writes a call of torch step by step; nothing of functions without steps."""
    match name, args:
        case "linear", (x, weights, *_):
            yield x @ weights.mT
        case ("softmax" | "log_softmax" | "logsumexp"), (x, *axes):
            yield from _of_softmax(x, kwargs.get("dim", axes[0] if axes else -1))
        case "cross_entropy", (scores, target, *_):
            yield from _of_cross_entropy(scores, target)
        case "mean", (x, *axes):
            yield x.sum(*axes, **kwargs)
        case "gru_cell", (x, h, *weights):
            yield from _of_gates(x, h, *weights, parts=3)
        case "lstm_cell", (x, (h, *_), *weights):
            yield from _of_gates(x, h, *weights, parts=4)
        case "layer_norm", (x, *_):
            yield from _of_norm(x)


def _of_softmax(x: Any, axis: int) -> Iterator[Any]:
    shifts = x.amax(axis, keepdim=True), x.max()
    for scores in (x, *(x - shift for shift in shifts)):
        yield from (scores, scores.exp(), scores.exp().sum(axis), scores.logsumexp(axis))
    yield from (*shifts, x.softmax(axis), x.log_softmax(axis))


def _of_cross_entropy(scores: Any, target: Any) -> Iterator[Any]:
    axis = 1 if scores.ndim > 1 else 0
    yield from _of_softmax(scores, axis)
    if not target.is_floating_point():
        yield scores.log_softmax(axis).gather(axis, target.clamp(min=0).unsqueeze(axis))


def _of_gates(x: Any, h: Any, *weights: Any, parts: int) -> Iterator[Any]:
    """What enters the gates of a recurrent cell, whole and by gate, and the gates of a sigmoid."""
    entering = []
    for value, matrix, bias in zip((x, h), weights[:2], weights[2:4], strict=False):
        product = value @ matrix.mT
        for one in (product, product + bias):
            yield from (one, *one.chunk(parts, -1))
        entering.append(one.chunk(parts, -1))
    for index, (of_input, of_state) in enumerate(zip(*entering, strict=True)):
        if (parts, index) != (3, 2):  # of a GRU's candidate, the state's part is reset first
            yield from (of_input + of_state, (of_input + of_state).sigmoid())


def _of_norm(x: Any) -> Iterator[Any]:
    centred = x - x.mean(-1, keepdim=True)
    yield from (centred, centred**2, (centred**2).sum(-1), x.var(-1, correction=0), x.std(-1, correction=0))
