"""(d) The networks of three sessions against the clock: tp2's look-up, the translators of tp6 and tp7.

The networks and their training are those of the solutions; only the budget is in CPU seconds here.
"""

import time
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F

from autograder import course as courses
from autograder.model.oracle import oracle
from tp import corpus

from .measure import spread, table

COURSE = courses.find(Path(__file__).parent.parent)
TITLE = "The look-up of tp2, the translators of tp6 and tp7"


def look_up(seed, limit):
    """tp2's `Net` on its 5 000 training rows, until 99 % of 5 000 other rows are right or `limit` seconds are over."""
    tp2 = oracle(COURSE, "tp2_attention").namespace
    torch.manual_seed(seed)
    (data, index), y = tp2["gen_data"](5000, 10, 0, 10)
    (test_data, test_index), test_y = tp2["gen_data"](5000, 10, 0, 10)
    net = tp2["good_start"](tp2["Net"]())
    optimizer = torch.optim.Adam(net.parameters(), 0.01)
    spent, right = 0.0, 0.0
    while spent < limit and right < 0.99:
        start = time.process_time()
        net.train()
        for _ in range(20):
            rows = torch.randint(0, 5000, (128,))
            loss = F.cross_entropy(net(data[rows], index[rows]), y[rows])
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            optimizer.step()
        spent += time.process_time() - start
        right = tp2["hits"](net, test_data, test_index, test_y).float().mean().item()
    return {"seconds": spent, "rows right": right}


class Budget:
    """What tp6's `train` iterates over, with CPU seconds for a budget."""

    def __init__(self, seconds):
        self.seconds, self.start = seconds, time.process_time()

    def spent(self):
        return time.process_time() - self.start

    def progress(self):
        return min(1.0, self.spent() / self.seconds)

    def __iter__(self):
        while self.progress() < 1:
            yield

    def log(self, **values):
        pass


def translator(seed, seconds, n_train=40_000, n_test=1_000):
    """tp6's translator after so many seconds: exact match, and how many French words look at a gold word."""
    tp6 = oracle(COURSE, "tp6_translation").namespace
    train_pairs, _, test_pairs = corpus.load(n_train, 1, n_test)
    for name, side in [("source_vocabulary", "source"), ("target_vocabulary", "target")]:
        tp6[name] = tp6["Vocabulary"]([tp6["tokenize"](getattr(pair, side)) for pair in train_pairs])
    vocabularies = tp6["source_vocabulary"], tp6["target_vocabulary"]
    dataset = tp6["PairDataset"](train_pairs, *vocabularies)
    model = tp6["build"](seed=seed)
    budget = Budget(seconds)
    tp6["learn"](model, dataset, budget, seed=seed)
    spent = budget.spent()
    said = tp6["translate"](model, [pair.source for pair in test_pairs])
    exact = [words == tp6["tokenize"](pair.target) for words, pair in zip(said, test_pairs, strict=True)]
    test_ids = tp6["PairDataset"](test_pairs, *vocabularies).ids
    # The alignment is the shortest of the three: of EOS, the last that is written, it says nothing.
    looked = [(before, s in links) for ids, pair in zip(test_ids, test_pairs, strict=True)
              for before, s, links in zip(("", *pair.target_words), weights(tp6, model, ids), pair.alignment,
                                          strict=False)]
    aside = [right for before, right in looked if before != "est-ce"]  # que or qu' there: what stands after it decides
    return {"seconds": spent, "sentences right": sum(exact) / len(exact),
            "words aligned": sum(right for _, right in looked) / len(looked),
            "aligned but for est-ce que": sum(aside) / len(aside)}


@torch.no_grad()
def weights(tp6, model, ids):
    """The English position that each French word of one pair looks at most, the right translation being fed."""
    source, lengths, target = tp6["collate"]([ids])
    _, attention_weights = model(source, lengths, target, [True] * len(target))
    return attention_weights[:, 0].argmax(-1).tolist()


def transformer(seed, seconds, n_train=40_000, n_test=1_000):
    """tp7's translator after so many seconds, on the sentences of tp6's: exact match, and the head that aligns best."""
    tp7 = oracle(COURSE, "tp7_transformer").namespace
    train_pairs, _, test_pairs = corpus.load(n_train, 1, n_test)
    tp7["english"] = tp7["Words"](pair.source_words for pair in train_pairs)
    tp7["french"] = tp7["Words"](pair.target_words for pair in train_pairs)
    model, rows, budget = tp7["build"](seed=seed), tp7["rows_of"](test_pairs), Budget(seconds)
    tp7["learn"](model, tp7["rows_of"](train_pairs), budget, seed=seed)
    spent = budget.spent()
    right = tp7["sentences_right"](model, rows, tp7["greedy"])
    looked = [[] for _ in model.decoder.blocks]
    with torch.no_grad():
        for row in rows:
            model(*tp7["padded"]([row]))
            for layer, block in zip(looked, model.decoder.blocks, strict=True):
                layer.append(block.cross.attention_weights[0])
    shares = [tp7["aligned"](layer, [pair.alignment for pair in test_pairs]).max().item() for layer in looked]
    return {"seconds": spent, "sentences right": sum(right) / len(right), "words aligned": max(shares)}


def measure(quick, repeats, folder):
    small = (1, 300, 20) if quick else (60,)
    return {"look-up of tp2, stopped at 99 %": [look_up(seed, 1 if quick else 120) for seed in range(repeats)],
            "translator of tp6": [translator(seed, *small) for seed in range(repeats)],
            "Transformer of tp7, its best head": [transformer(seed, *small) for seed in range(repeats)]}


def report(results, picture):
    shares = ["rows right", "sentences right", "words aligned", "aligned but for est-ce que"]
    rows = [[name, spread([run["seconds"] for run in runs]),
             *(spread([100 * run[share] for run in runs], "{:.2f}") if share in runs[0] else "" for share in shares),
             len(runs)]
            for name, runs in results.items()]
    return table(["network", "CPU seconds", *(f"{share}, %" for share in shares), "seeds"], rows)
