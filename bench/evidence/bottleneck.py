"""With and without attention in session 5, trained as in its notebook: BLEU by the length of the source.

40 000 pairs of the clean corpus, 1000 steps of 64; BLEU of 1000 unseen sentences, greedy, by English tokens with EOS. A
French word of 500 validation pairs attends to a gold word where its largest weight lies on one of the words it comes
from. Of the French words of the first sixty, it is counted how many are still right when the word of largest weight is
masked. The model without attention has 256 units where the other has 128, and a first state made from both directions.
"""

import time
from dataclasses import dataclass
from functools import cache
from types import SimpleNamespace

from autograder import course
from autograder.model.oracle import load_oracle
from tp import corpus, live

from ..measure import spread, table
from .ledger import ROOT, percent

STEPS, ASKED = 1000, 60
SEEDS = (0, 1, 2, 3, 4)
LENGTHS = {"to 6": (0, 6), "7 to 9": (6, 9), "10 to 12": (9, 12), "13 and more": (12, 99), "all": (0, 99)}
CLASSES = {"with attention": {},
           "without attention": {"decoder_class": "BottleneckDecoder", "encoder_class": "BothEnds"}}


@dataclass(frozen=True)
class Design:
    """Which of the two."""

    model: str


DESIGNS = [Design(name) for name in CLASSES]


@cache
def task():
    """The names of the notebook, and the three parts of the corpus as its data sets, in `sets`."""
    notebook = load_oracle(course.find(ROOT), "tp5_translation").namespace
    exec(load_oracle(course.find(ROOT), "tp5_translation").source.cell("demo", "right-without").solution, notebook)
    parts = corpus.load(40_000, 500, 1_000, seed=0)
    for name, side in (("source_vocabulary", "source"), ("target_vocabulary", "target")):
        notebook[name] = notebook["Vocabulary"]([notebook["tokenize"](getattr(pair, side)) for pair in parts.train])
    sets = [notebook["PairDataset"](part, notebook["source_vocabulary"], notebook["target_vocabulary"])
            for part in parts]
    return SimpleNamespace(**notebook, sets=sets)


def run(design, seed):
    """Train and test once: CPU seconds, BLEU by length, the share of French words that look at a gold word."""
    nb = task()
    train_set, validation_set, test_set = nb.sets
    options = {key: getattr(nb, name) for key, name in CLASSES[design.model].items()}
    attends = design.model == "with attention"
    model, started = nb.build(**options, seed=seed, **({} if attends else {"hidden_size": 256})), time.process_time()
    nb.learn(model, train_set, live(steps=STEPS), seed=seed)
    found = {"seconds": time.process_time() - started}
    said = nb.translate(model, [pair.source for pair in test_set.pairs])
    for name, (low, high) in LENGTHS.items():
        both = [(words, nb.tokenize(pair.target))
                for words, pair, length in zip(said, test_set.pairs, test_set.lengths, strict=True)
                if low < length <= high]
        found[name] = nb.corpus_bleu(*zip(*both, strict=True))
    if attends:
        hits, still = [], []
        for k, (ids, pair) in enumerate(zip(validation_set.ids, validation_set.pairs, strict=True)):
            source, lengths, target = nb.collate([ids])
            weights = model(source, lengths, target, [True] * len(target))[1][:, 0]
            hits += [place in links for place, links
                     in zip(weights.argmax(-1).tolist(), pair.alignment, strict=False)]  # EOS has no links
            if k < ASKED:
                still += nb.right_without(model, source, target, weights)[:len(pair.alignment)]
        found |= {"gold": sum(hits) / len(hits), "still": sum(still) / len(still), "asked": len(still)}
        found["gold of the asked"] = sum(hits[:len(still)]) / len(still)
    return found


def report(results):
    """A line for each model; then what the weights of the one with attention lie on, and what masking changes."""
    rows, asked = [], []
    for design in DESIGNS:
        runs = [run for run in results if run["design"] == vars(design)]
        rows.append([design.model, *(spread([run[name] for run in runs], "{:.1f}") for name in LENGTHS),
                     spread([run["seconds"] for run in runs], "{:.0f}")])
        if "gold" in runs[0]:
            asked = [[500, percent([run["gold"] for run in runs]), ""],
                     [ASKED, *(percent([run[name] for run in runs]) for name in ("gold of the asked", "still"))]]
    return (table(["model", *(f"BLEU, {name}" for name in LENGTHS), "CPU seconds"], rows) + "\n"
            + table(["validation sentences", "largest weight on a gold word, %",
                     "still right without the word of largest weight, %"], asked))
