"""(d) The networks of three sessions against the clock: tp3's look-up, the translators of tp5 and tp6.

The networks and their training are those of the solutions; only the budget is in CPU seconds here.
"""

import time
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F

from autograder import course as courses
from autograder.model.oracle import load_oracle
from tp import corpus

from .measure import spread, table

COURSE = courses.find(Path(__file__).parent.parent)
TITLE = "The networks of sessions 3, 5 and 6"


def look_up(seed, limit):
    """tp3's `Net` on its 5 000 training rows, until 99 % of 5 000 other rows are right or `limit` seconds are over."""
    tp3 = load_oracle(COURSE, "tp3_attention").namespace
    torch.manual_seed(seed)
    (data, index), y = tp3["gen_data"](5000, 10, 0, 10)
    (test_data, test_index), test_y = tp3["gen_data"](5000, 10, 0, 10)
    net = tp3["good_start"](tp3["Net"]())
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
        right = tp3["hits"](net, test_data, test_index, test_y).float().mean().item()
    return {"seconds": spent, "rows right": right}


class Budget:
    """What tp5's `train` iterates over, with CPU seconds for a budget."""

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
    """tp5's translator after so many seconds: exact match, and how many French words look at a gold word."""
    tp5 = load_oracle(COURSE, "tp5_translation").namespace
    train_pairs, _, test_pairs = corpus.load(n_train, 1, n_test)
    for name, side in [("source_vocabulary", "source"), ("target_vocabulary", "target")]:
        tp5[name] = tp5["Vocabulary"]([tp5["tokenize"](getattr(pair, side)) for pair in train_pairs])
    vocabularies = tp5["source_vocabulary"], tp5["target_vocabulary"]
    dataset = tp5["PairDataset"](train_pairs, *vocabularies)
    model = tp5["build"](seed=seed)
    budget = Budget(seconds)
    tp5["learn"](model, dataset, budget, seed=seed)
    spent = budget.spent()
    said = tp5["translate"](model, [pair.source for pair in test_pairs])
    exact = [words == tp5["tokenize"](pair.target) for words, pair in zip(said, test_pairs, strict=True)]
    test_ids = tp5["PairDataset"](test_pairs, *vocabularies).ids
    # The alignment is the shortest of the three: of EOS, the last that is written, it says nothing.
    looked = [(before, s in links) for ids, pair in zip(test_ids, test_pairs, strict=True)
              for before, s, links in zip(("", *pair.target_words), weights(tp5, model, ids), pair.alignment,
                                          strict=False)]
    aside = [right for before, right in looked if before != "est-ce"]  # que or qu' there: what stands after it decides
    return {"seconds": spent, "sentences right": sum(exact) / len(exact),
            "words aligned": sum(right for _, right in looked) / len(looked),
            "aligned without est-ce que": sum(aside) / len(aside)}


@torch.no_grad()
def weights(tp5, model, ids):
    """The English position that each French word of one pair looks at most, the right translation being fed."""
    source, lengths, target = tp5["collate"]([ids])
    _, attention_weights = model(source, lengths, target, [True] * len(target))
    return attention_weights[:, 0].argmax(-1).tolist()


def transformer(seed, seconds, n_train=40_000, n_test=1_000):
    """tp6's translator after so many seconds, on the sentences of tp5's: exact match, and the head that aligns best."""
    tp6 = load_oracle(COURSE, "tp6_transformer").namespace
    train_pairs, _, test_pairs = corpus.load(n_train, 1, n_test)
    tp6["english"] = tp6["Words"](pair.source_words for pair in train_pairs)
    tp6["french"] = tp6["Words"](pair.target_words for pair in train_pairs)
    model, rows, budget = tp6["build"](seed=seed), tp6["rows_of"](test_pairs), Budget(seconds)
    tp6["learn"](model, tp6["rows_of"](train_pairs), budget, seed=seed)
    spent = budget.spent()
    right = tp6["sentences_right"](model, rows, tp6["greedy"])
    looked = [[] for _ in model.decoder.blocks]
    with torch.no_grad():
        for row in rows:
            model(*tp6["padded"]([row]))
            for layer, block in zip(looked, model.decoder.blocks, strict=True):
                layer.append(block.cross.attention_weights[0])
    shares = [tp6["aligned"](layer, [pair.alignment for pair in test_pairs]).max().item() for layer in looked]
    return {"seconds": spent, "sentences right": sum(right) / len(right), "words aligned": max(shares)}


def measure(quick, repeats, folder):
    small = (1, 300, 20) if quick else (60,)
    return {"look-up of session 3, stopped at 99 %": [look_up(seed, 1 if quick else 120) for seed in range(repeats)],
            "translator of session 5": [translator(seed, *small) for seed in range(repeats)],
            "Transformer of session 6, its best head": [transformer(seed, *small) for seed in range(repeats)]}


def report(results, picture):
    shares = ["rows right", "sentences right", "words aligned", "aligned without est-ce que"]
    rows = [[name, spread([run["seconds"] for run in runs]),
             *(spread([100 * run[share] for run in runs], "{:.2f}") if share in runs[0] else "" for share in shares),
             len(runs)]
            for name, runs in results.items()]
    return table(["network", "CPU seconds", *(f"{share}, %" for share in shares), "seeds"], rows)
