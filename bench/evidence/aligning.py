"""One head that looks at the source, and what a smoothed loss does to where it looks.

Session 6's Transformer with one head for the source, otherwise built and trained as in its notebook, 2400 steps of 64
pairs, on the corpus and with the tests of `translators`. A smoothed loss (`label_smoothing` of
`F.cross_entropy`) gives that share of the probability to all words alike. A *second word* has the same gold words as
the French word before it: beaucoup *de*, parce *que*, aujourd' *hui*.
"""

import time
from collections import Counter
from dataclasses import dataclass
from functools import partial
from unittest.mock import patch

import torch.nn.functional as F

from autograder import course
from autograder.model.oracle import oracle
from tp import live

from ..measure import spread, table
from .ledger import ROOT, percent
from .translators import LENGTHS, SEEDS, by_length, pairs_of, translated

__all__ = ["DESIGNS", "SEEDS", "report", "run"]


@dataclass(frozen=True)
class Design:
    """The share of the probability that the loss wants for all words alike, and the steps."""

    smoothing: float
    steps: int = 2400


DESIGNS = [Design(0.2)]


def run(design, seed):
    """Train and test once: CPU seconds, right sentences by length, words found, those missed."""
    tp6, parts = oracle(course.find(ROOT), "tp6_transformer").namespace, pairs_of(False)
    tp6["english"] = tp6["Words"](pair.source_words for pair in parts.train)
    tp6["french"] = tp6["Words"](pair.target_words for pair in parts.train)
    train_rows, rows = tp6["rows_of"](parts.train), tp6["rows_of"](parts.test)
    model, started = tp6["build"](seed=seed, cross_heads=1), time.process_time()
    with patch.object(F, "cross_entropy", partial(F.cross_entropy, label_smoothing=design.smoothing)):
        tp6["learn"](model, train_rows, live(steps=design.steps), seed=seed)
    seconds = time.process_time() - started
    said = [words for i in range(0, len(rows), 100) for words in translated(tp6, model, rows[i:i + 100])]
    found = [looks(tp6, model, row, pair) for row, pair in zip(rows, parts.test, strict=True)]
    words = [word for sentence in found for word in sentence]
    second = [hit for _, again, hit in words if again]
    missed = Counter(word for word, _, hit in words if not hit)
    return {"seconds": seconds, "right": by_length(parts.test, said),
            "aligned": sum(hit for *_, hit in words) / len(words), "aligned second": sum(second) / len(second),
            "second": len(second) / len(words), "missed": dict(missed.most_common(8)), "missed in all": missed.total(),
            "missed second": len(second) - sum(second)}


def looks(tp6, model, row, pair):
    """For each French word of a pair: the word, whether it is a second word, whether the head looks at a gold word."""
    model(*tp6["padded"]([row]))
    (block,) = model.decoder.blocks
    looked = block.cross.attention_weights[0, 0].argmax(-1).tolist()
    return [(word, links == before, place in links) for word, place, links, before
            in zip(pair.target_words, looked, pair.alignment, [None, *pair.alignment], strict=False)]


def report(results):
    """A line a design: sentences and words; then the words that are missed most, a line a run."""
    rows, missed = [], []
    for design in DESIGNS:
        runs = [run for run in results if run["design"] == vars(design)]
        others = [(run["aligned"] - run["second"] * run["aligned second"]) / (1 - run["second"]) for run in runs]
        rows.append([design.smoothing, design.steps, spread([run["seconds"] for run in runs], "{:.0f}"),
                     *(percent([run["right"][name] for run in runs]) for name in ("all", *LENGTHS)),
                     *(percent([run[name] for run in runs]) for name in ("aligned", "aligned second")),
                     percent(others)])
        missed += [[design.smoothing, run["seed"], run["missed in all"], run["missed second"],
                    ", ".join(f"{word} {count}" for word, count in run["missed"].items())] for run in runs]
    return table(["smoothing", "steps", "CPU seconds", "right, %", *(f"{name} words, %" for name in LENGTHS),
                  "aligned, %", "second words, %", "all others, %"], rows) + "\n" + table(
        ["smoothing", "seed", "words missed", "second words of these", "missed most"], missed)
