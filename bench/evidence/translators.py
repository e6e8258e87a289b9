"""The plain decoder of session 5 and the Transformer of session 6 on the same sentences: lengths, heads, ablations.

Both are built and trained as in their notebooks, for a budget in steps; the CPU seconds are measured. 40 000 pairs of
the clean corpus, or 10 000 of `tp.difficulty.HARD`. 1 000 unseen sentences, greedy decoding, right only as a whole (on
the hard corpus: as one of the references has it); unknown words are not copied. A French word is aligned where the
largest weight lies on one of its gold words; the single map of the recurrent decoder counts as one head. A head is cut
off by putting zeros in the place of what it says.
"""

import time
from dataclasses import dataclass
from functools import cache

from autograder import course
from autograder.model.oracle import oracle
from tp import corpus, live
from tp.difficulty import CLEAN, HARD

from ..measure import spread, table
from .ledger import ROOT, percent

SEEDS = (0, 1, 2)
NAMES = {"tp5_translation": "recurrent, session 5", "tp6_transformer": "Transformer, session 6"}
LENGTHS = {"3 to 7": range(0, 8), "8 to 11": range(8, 12), "12 or more": range(12, 99)}  # English words


@dataclass(frozen=True)
class Design:
    """A model of the course, and the batches of 64 pairs that it learns from."""

    tp: str
    steps: int
    heads: int                  # that look at the source
    source_ends: bool = False   # the Transformer's source ends in EOS; session 5's always does
    hard: bool = False          # the hard corpus


TRANSFORMER = Design("tp6_transformer", 2400, 4)
DESIGNS = [Design("tp5_translation", 1500, 1, True), Design("tp6_transformer", 1500, 4), TRANSFORMER]


@cache
def pairs_of(hard):
    """The corpus, drawn once."""
    return corpus.load(10_000 if hard else 40_000, 1, 1_000, difficulty=HARD if hard else CLEAN)


def run(design, seed):
    """Train and test once: CPU seconds, shares of right sentences by length, aligned words by head, heads cut off."""
    names = oracle(course.find(ROOT), design.tp).namespace
    return (recurrent if design.tp == "tp5_translation" else attentive)(names, pairs_of(design.hard), design, seed)


def recurrent(tp5, parts, design, seed):
    """The plain decoder with the dot score."""
    for name, side in (("source_vocabulary", "source"), ("target_vocabulary", "target")):
        tp5[name] = tp5["Vocabulary"]([tp5["tokenize"](getattr(pair, side)) for pair in parts.train])
    train_set, test_set = (tp5["PairDataset"](pairs, tp5["source_vocabulary"], tp5["target_vocabulary"])
                           for pairs in (parts.train, parts.test))
    model, started = tp5["build"](seed=seed), time.process_time()
    tp5["learn"](model, train_set, live(steps=design.steps), seed=seed)
    seconds = time.process_time() - started
    said = tp5["translate"](model, [pair.source for pair in parts.test])
    found = []
    for ids, pair in zip(test_set.ids, parts.test, strict=True):
        source, lengths, target = tp5["collate"]([ids])
        looked = model(source, lengths, target, [True] * len(target))[1][:, 0].argmax(-1).tolist()
        found += [place in links for place, links in zip(looked, pair.alignment, strict=False)]  # EOS has no links
    return {"seconds": seconds, "right": by_length(parts.test, said), "aligned": [[sum(found) / len(found)]]}


def attentive(tp6, parts, design, seed):
    """The Transformer."""
    tp6["english"] = tp6["Words"](pair.source_words for pair in parts.train)
    tp6["french"] = tp6["Words"](pair.target_words for pair in parts.train)
    end = [tp6["EOS"]] * design.source_ends
    train_rows, rows = ([(source + end, target) for source, target in tp6["rows_of"](pairs)]
                        for pairs in (parts.train, parts.test))
    model, started = tp6["build"](seed=seed, cross_heads=design.heads), time.process_time()
    tp6["learn"](model, train_rows, live(steps=design.steps), seed=seed)
    seconds = time.process_time() - started
    said = [words for i in range(0, len(rows), 100) for words in translated(tp6, model, rows[i:i + 100])]
    looked = [[] for _ in model.decoder.blocks]
    for row in rows:
        model(*tp6["padded"]([row]))
        for layer, block in zip(looked, model.decoder.blocks, strict=True):
            layer.append(block.cross.attention_weights[0].detach())
    gold = [pair.alignment for pair in parts.test]
    right = sum(tp6["sentences_right"](model, rows[:200], tp6["greedy"])) / 200
    cut = [{"layer": i, "looks at": at, "head": k, "right": without(tp6, model, attention, k, rows[:200])}
           for i, block in enumerate(model.decoder.blocks)
           for at, attention in (("itself", block.attention), ("the source", block.cross))
           for k in range(len(attention.kept))]
    return {"seconds": seconds, "right": by_length(parts.test, said),
            "aligned": [tp6["aligned"](layer, gold).tolist() for layer in looked],
            "aligned later": [tp6["aligned"]([maps[:, 1:] for maps in layer], gold).tolist()
                                      for layer in looked],
            "cut": [{"right": right}, *cut]}


def translated(tp6, model, rows):
    """What the Transformer says to some sources, in words."""
    return [tp6["french"].decode(ids) for ids in tp6["greedy"](model, tp6["padded"](rows)[0]).tolist()]


def without(tp6, model, attention, head, rows):
    """The share of right sentences with one head cut off."""
    attention.kept[head] = 0
    right = tp6["sentences_right"](model, rows, tp6["greedy"])
    attention.kept[head] = 1
    return sum(right) / len(right)


def by_length(pairs, said):
    """The shares of right sentences: of all, and by the number of their English words."""
    right = [tuple(words) in pair.references for words, pair in zip(said, pairs, strict=True)]
    shares = {"all": sum(right) / len(right)}
    for name, lengths in LENGTHS.items():
        chosen = [was for pair, was in zip(pairs, right, strict=True) if len(pair.source_words) - 1 in lengths]
        shares[name] = sum(chosen) / len(chosen)
    return shares


def report(results, designs=DESIGNS):
    """Sentences by length and the head that aligns best, a line a design; then the heads cut off, a line a head."""
    rows, cuts = [], []
    for design in designs:
        runs = [run for run in results if run["design"] == vars(design)]
        best = [percent([max(map(max, run[when])) for run in runs]) if when in runs[0] else ""
                for when in ("aligned", "aligned later")]
        rows.append([NAMES[design.tp], "hard" if design.hard else "clean", "yes" if design.source_ends else "no",
                     design.heads, design.steps, spread([run["seconds"] for run in runs], "{:.0f}"),
                     *(percent([run["right"][name] for run in runs]) for name in ("all", *LENGTHS)), *best])
    for run in (run for run in results if run["design"] == vars(TRANSFORMER)):
        for one in run["cut"]:
            head = f"layer {one['layer']}, head {one['head']}, looks at {one['looks at']}" if "head" in one else "none"
            aligned = run["aligned"][one["layer"]][one["head"]] if one.get("looks at") == "the source" else None
            cuts.append([f"seed {run['seed']}, {head}", "" if aligned is None else f"{100 * aligned:.1f}",
                         f"{100 * one['right']:.1f}"])
    header = ["translator", "corpus", "EOS in the source", "heads for the source", "steps", "CPU seconds", "right, %",
              *(f"{name} words, %" for name in LENGTHS), "aligned by the best head, %", "the same a step later, %"]
    of_heads = ["head of the Transformer that is cut off", "words it aligns, %", "of 200 sentences right, %"]
    return table(header, rows) + ("\n" + table(of_heads, cuts) if cuts else "")
