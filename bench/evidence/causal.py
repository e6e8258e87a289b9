"""Looking and using in session 5, trained as in its notebook: the weights of two decoders, two interventions on each.

40 000 pairs of the clean corpus, 1000 steps of 64; then the French words of sixty validation sentences. A word looks at
the English word with the largest weight, and needs the one whose vector, overwritten by the mean, costs it most.
"""

import time
from dataclasses import dataclass

from autograder import course
from autograder.model.oracle import oracle
from tp import live

from ..measure import spread, table
from .bottleneck import task
from .ledger import ROOT, percent

STEPS, SENTENCES = 1000, 60
SEEDS = (0, 1, 2)
CLASSES = {"plain decoder": (), "paper's decoder": ("PaperDecoder", "AdditiveScore")}
SHARES = {"looked": "looks most at a gold word, %", "used": "needs a gold word most, %",
          "both": "both the same word, %", "still": "still right without the word it looks at, %"}


@dataclass(frozen=True)
class Design:
    """Which of the two."""

    model: str


DESIGNS = [Design(name) for name in CLASSES]


def run(design, seed):
    """Train and ask once: the number of French words, the four shares, and the CPU seconds of the training."""
    nb = task()
    exec(oracle(course.find(ROOT), "tp5_translation").source.cell("demo", "right-without").solution, vars(nb))
    train_set, validation_set, _ = nb.sets
    model, started = nb.build(*(getattr(nb, name) for name in CLASSES[design.model]), seed=seed), time.process_time()
    nb.learn(model, train_set, live(steps=STEPS), seed=seed)
    seconds, asked = time.process_time() - started, []
    for pair, ids in zip(validation_set.pairs[:SENTENCES], validation_set.ids[:SENTENCES], strict=True):
        source, lengths, target = nb.collate([ids])
        weights = model(source, lengths, target, [True] * len(target))[1][:, 0]
        needed = nb.effects(model, source, target).argmax(-1).tolist()
        kept = nb.right_without(model, source, target, weights)
        looked = weights.argmax(-1).tolist()
        asked += [(look in links, use in links, look == use, still) for links, look, use, still
                  in zip(pair.alignment, looked, needed, kept, strict=False)]  # EOS has no links
    shares = (sum(column) / len(asked) for column in zip(*asked, strict=True))
    return {"words": len(asked), "seconds": seconds, **dict(zip(SHARES, shares, strict=True))}


def report(results):
    """A line for each decoder."""
    rows = []
    for design in DESIGNS:
        runs = [run for run in results if run["design"] == vars(design)]
        rows.append([design.model, runs[0]["words"], *(percent([run[name] for run in runs]) for name in SHARES),
                     spread([run["seconds"] for run in runs], "{:.0f}")])
    return table(["model", "French words", *SHARES.values(), "CPU seconds"], rows)
