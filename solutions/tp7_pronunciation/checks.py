"""Checks of session 7: from spelling to sound. All words are made up, so no check needs a dictionary.

Axes by letter: B words, S letters, T sounds, L and V kinds of letters and sounds, H hidden, D embedding.
"""

import torch
from torch import nn

from autograder.authoring import check

PAD, START, END = range(3)
SOUNDS = "AA AE AH B CH D EH F IY K L M N OW P R S T UW Z".split()
N_LETTERS, N_SOUNDS = 28, 42
ONE_WORD = {"one sequence": "the functions take one word at a time"}
NO_DESCENT = {"gradient": "EM follows no gradient"}


def word(t, low=2, high=7):
    return "".join(t.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(t.integer(low, high)))


def said(t, low=2, high=7):
    return tuple(t.choice(SOUNDS) for _ in range(t.integer(low, high)))


# ---------------------------------------------------------------- split

def made_up(t, n):
    """Return pairs of n words in no order, some words with two or three pronunciations."""
    words = list(dict.fromkeys(word(t, 3, 7) for _ in range(n)))
    t.assume(len(words) == n)
    pairs = [(one, said(t)) for one in words for _ in range(t.choice([1, 1, 2, 3]))]
    t.assume(len(pairs) > n + 3)
    return [pairs[i] for i in t.rng.permutation(len(pairs))]


@check("split", weight=2)
def by_word(t):
    """Both sides of the split, for several shares and seeds, pairs in their order."""
    for n, share in ((12, 0.5), (15, 0.3), (13, 0.2)):  # 2.6 words are three
        train, test = t.unpack(t["split_by_word"](made_up(t, n), share, t.integer(0, 1000)), 2)
        t.output(f"train, share {share}", train)
        t.output(f"test, share {share}", test)


@check("split")
def share_of_shared_words(t):
    """The share of test pairs with a word of training: some, none, and all."""
    pairs = made_up(t, 14)
    cut = t.integer(5, len(pairs) - 5)
    one, other = pairs[:cut], pairs[cut:]
    t.assume(len({w for w, _ in one} & {w for w, _ in other}) > 1)
    known = {w for w, _ in one}
    t.assume(sum(w in known for w, _ in other) != len({w for w, _ in other if w in known}))
    words = {w for w, _ in other}
    t.assume(abs(sum(w in known for w, _ in other) / len(other) - len(words & known) / len(words)) > 0.01)
    t.output("some", t["shared"](one, other))
    t.output("none", t["shared"](one, [(w + "'s", s) for w, s in other]))
    t.output("all", t["shared"](one, one[:3]))


# ---------------------------------------------------------------- edit-distance

def changed(t, sounds):
    """Return the sequence with some items deleted, inserted and replaced."""
    items = list(sounds)
    for _ in range(t.integer(1, 4)):
        i = t.integer(0, len(items) + 1)
        items[i:i + t.integer(0, 2)] = [t.choice(SOUNDS)] * t.integer(0, 2)
    return tuple(items)


@check("edit-distance", weight=3)
def distances(t):
    """Pairs of sequences that differ by insertions, deletions and replacements, both ways round."""
    pairs = []
    for i in range(6):
        a = said(t, 4, 7)
        pairs.append((a, changed(t, a) if i < 4 else said(t, 3, 7)))
    t.assume(sum(len(a) != len(b) for a, b in pairs) > 2)
    for i, (a, b) in enumerate(pairs):
        t.output(f"pair {i}", t["edit_distance"](a, b))
        t.output(f"pair {i}, the other way round", t["edit_distance"](b, a))


@check("edit-distance")
def a_shift(t):
    """One inserted item in front shifts all others by one position; the distance is small."""
    a = said(t, 6, 9)
    t.assume(len(set(a)) > 4)
    t.output("one in front", t["edit_distance"](a, (t.choice(["X", "Y"]), *a)))
    t.output("the first one gone to the end", t["edit_distance"](a, (*a[1:], "Y")))


@check("edit-distance")
def empty_and_equal(t):
    """Empty sequences, equal ones, one that is the other twice, and strings."""
    a = said(t, 3, 6)
    t.output("equal", t["edit_distance"](a, a))
    t.output("from nothing", t["edit_distance"]((), a))
    t.output("to nothing", t["edit_distance"](a, ()))
    t.output("nothing to nothing", t["edit_distance"]((), ()))
    t.output("twice the same", t["edit_distance"](a[:2], 2 * a[:2]))
    t.output("strings", t["edit_distance"](word(t), word(t)))
    t.output("strings in upper and lower case", t["edit_distance"]("abCd", "aBC"))


# ---------------------------------------------------------------- error-rates

def stand_in_distance(a, b):
    """Return twice the number of positions with different items, counted to the longer end, less one; 0 if equal."""
    different = sum(x != y for x, y in zip(a, b, strict=False)) + abs(len(a) - len(b))
    return max(0, 2 * different - 1)


def listed(t, n):
    """Return answers and their references: some right by the last reference, some wrong, of different lengths."""
    references = [[said(t, 2, 8) for _ in range(t.integer(1, 4))] for _ in range(n)]
    found = [right[-1] if i % 3 == 0 else right[0][:-1] + (t.choice(["X", "Y"]),) * t.integer(1, 3)
             for i, right in enumerate(references)]
    return found, references


@check("error-rates", weight=2)
def both_rates(t):
    """Several words with one to three references, long and short."""
    t.stub("edit_distance", stand_in_distance)
    for of in ("", " of a second test"):
        found, references = listed(t, t.integer(6, 10))
        t.assume(any(len(right) > 1 and one == right[-1] != right[0]
                     for one, right in zip(found, references, strict=True)))
        nearest = [sorted({(stand_in_distance(one, r), len(r)) for r in right})
                   for one, right in zip(found, references, strict=True)]
        t.assume(any(len(n) > 1 and n[0][0] == n[1][0] for n in nearest) or t.integer(0, 4) == 0)
        t.assume(any(n[0][0] == 1 for n in nearest))
        t.assume(any(n[0][1] != len(right[0]) for n, right in zip(nearest, references, strict=True)))
        wer, per = t.unpack(t["error_rates"](found, references), 2)
        t.output(f"WER{of}", wer)
        t.output(f"PER{of}", per)


@check("error-rates")
def equally_near(t):
    """Two references at the same distance: the longer one counts."""
    t.stub("edit_distance", stand_in_distance)
    for name, order in (("short first", 1), ("long first", -1)):
        one, other = said(t, 4, 12), said(t, 4, 12)
        right = [one[:-1], (*one, t.choice(SOUNDS))][::order]
        t.output(name, t["error_rates"]([one, other], [right, [other]]))


@check("error-rates")
def all_right(t):
    """Nothing is wrong; and everything is."""
    t.stub("edit_distance", stand_in_distance)
    found, references = listed(t, 4)
    t.output("right", t["error_rates"]([right[0] for right in references], references))
    t.output("wrong", t["error_rates"]([("X",) * (len(one) + 1) for one in found], references))


# ---------------------------------------------------------------- em

def words_of_ids(t, B, S, kinds):
    """Return ids (B, S) with PAD after each word; lengths in no order, the longest S; the last kind never occurs."""
    lengths = t.integers(1, S + 1, B)
    lengths[t.integer(0, B)] = S
    ids = t.integers(1, kinds - 1, B, S)  # the last kind occurs nowhere
    return ids.where(torch.arange(S)[None] < lengths[:, None], torch.tensor(PAD))


@check("em", weight=3, skip_relations=NO_DESCENT)
def one_round(t):
    """The table and the weights after one round, words of different lengths, from any table."""
    B, S, T, L, V = t.sizes("B S T L V", smallest=4)
    letters, sounds = words_of_ids(t, B, S, L), words_of_ids(t, B, T, V)
    table = t.uniform(L, V) + 0.1
    table = table / table.sum(-1, keepdim=True)
    new, weights = t.unpack(t["em_round"](letters, sounds, table), 2)
    t.output("weights", weights, axes="B T S", atol=1e-6)
    t.output("table", new, axes="L V", atol=1e-6)


@check("em", skip_relations=NO_DESCENT)
def several_rounds(t):
    """Three rounds from equal probabilities."""
    B, S, T, L, V = t.sizes("B S T L V", smallest=4)
    letters, sounds = words_of_ids(t, B, S, L), words_of_ids(t, B, T, V)
    table = torch.full((L, V), 1 / V)
    for _ in range(3):
        table, weights = t.unpack(t["em_round"](letters, sounds, table), 2)
    t.output("weights", weights, axes="B T S", atol=1e-6)
    t.output("table", table, axes="L V", atol=1e-6)


@check("em", skip_relations=NO_DESCENT)
def repeated_letters(t):
    """A letter that occurs twice in a word, and a sound that does."""
    S, T, L, V = t.sizes("S T L V", smallest=4)
    letters = torch.tensor([[1, 2, 1, 3], [2, 2, 2, 0]])
    sounds = torch.tensor([[1, 2, 1], [3, 3, 0]])
    table = t.uniform(L, V) + 0.1
    new, weights = t.unpack(t["em_round"](letters, sounds, table / table.sum(-1, keepdim=True)), 2)
    t.output("weights", weights, axes="2 3 4", atol=1e-6)
    t.output("table", new, axes="L V", atol=1e-6)


# ---------------------------------------------------------------- best-path

def backwards(scores):
    """Return whether the best letter of each sound alone would go back somewhere."""
    best = scores.argmax(-1)
    return bool((best[1:] < best[:-1]).any())


@check("best-path", weight=3)
def paths(t):
    """Paths in scores whose largest entries go back and forth."""
    for i in range(4):
        T, S = t.sizes("T S", smallest=4)
        scores = t.normal(T, S, scale=3)
        t.assume(min(T, S) == 1 or backwards(scores))
        t.output(f"path {i}", t["best_path"](scores))


@check("best-path")
def stay_and_skip(t):
    """More sounds than letters, many more letters than sounds."""
    for name, shape in (("more sounds", (t.integer(7, 10), 3)), ("more letters", (3, t.integer(7, 10)))):
        t.output(name, t["best_path"](t.normal(*shape, scale=3)))


@check("best-path")
def small_paths(t):
    """One sound, one letter; and the first letter for all but the last sound."""
    t.output("one sound", t["best_path"](t.normal(1, t.integer(3, 6))))
    t.output("one letter", t["best_path"](t.normal(t.integer(3, 6), 1)))
    scores = t.normal(4, 5)
    scores[:3, 0] += 20
    t.output("late", t["best_path"](scores))


# ---------------------------------------------------------------- other-network

def a_network(t):
    """Return the arrays of a small encoder and decoder, named as in the file, and the sizes L, V and H."""
    L, V, D, H = t.sizes("L V D H", smallest=5)
    weights = {}
    for part, kinds in (("enc", L), ("dec", V)):
        weights |= {f"{part}_emb": t.normal(kinds, D), f"{part}_w_ih": t.normal(3 * H, D),
                    f"{part}_w_hh": t.normal(3 * H, H), f"{part}_b_ih": t.normal(3 * H),
                    f"{part}_b_hh": t.normal(3 * H)}
    return weights | {"fc_w": t.normal(V, H, scale=2), "fc_b": t.normal(V)}, L, V, H


def stand_in_cell(x_t, h, W_ih, W_hh, b_ih, b_hh):
    """Compute another recurrence, with the interface of the cell."""
    H = h.shape[-1]
    return ((x_t @ W_ih.T + b_ih)[:, :H] + (h @ W_hh.T)[:, H:2 * H] - b_hh[2 * H:]).sin()


@check("other-network", weight=2, skip_relations=ONE_WORD)
def read(t):
    """The encoder's last state, for words of several lengths, with two cells."""
    weights, L, _, _ = a_network(t)
    for cell, of in ((t["gru_cell"], "the GRU cell"), (t.define(stand_in_cell), "another cell")):
        letters = [t.integer(0, L) for _ in range(t.integer(3, 7))]
        t.output(f"state, {of}", t["read_word"](weights, letters, cell), axes="1 H")
        t.output(f"one letter, {of}", t["read_word"](weights, [L - 1], cell), axes="1 H")


@check("other-network", weight=2, skip_relations=ONE_WORD)
def write(t):
    """The ids that the decoder writes up to `end`, or up to the largest number of steps."""
    weights, _, V, H = a_network(t)
    start, end = (int(i) for i in t.rng.permutation(V)[:2])
    cell = t["gru_cell"]
    long = dict(weights, fc_b=weights["fc_b"] - 100 * (torch.arange(V) == end))
    t.output("never at the end", t["speak"](long, t.normal(1, H), cell, start, end, t.integer(4, 9)))
    h, steps = t.normal(1, H), 12
    free = t["speak"](weights, h, cell, start, V, steps).value  # V is no id: it never ends
    late = [i for i, one in enumerate(free) if 1 < i < steps - 2 and one not in free[:i] and set(free[i + 1:]) != {one}]
    t.assume(late)
    t.output("up to the end", t["speak"](weights, h, cell, start, free[late[0]], steps))
    other = t["speak"](weights, t.normal(1, H), cell, (start + 1) % V, end, 30)
    t.output("from another start", other)


@check("other-network", skip_relations=ONE_WORD)
def another_cell(t):
    """The same with a cell that is no GRU."""
    weights, _, V, H = a_network(t)
    start, end = (int(i) for i in t.rng.permutation(V)[:2])
    weights["fc_b"][end] -= 100
    found = t["speak"](weights, t.normal(1, H), t.define(stand_in_cell), start, end, 8)
    t.assume(len(set(found.value)) > 2)
    t.output("written", found)


@check("other-network", skip_relations=ONE_WORD)
def ends_at_once(t):
    """The first id is `end`: the list is empty."""
    weights, _, V, H = a_network(t)
    weights["fc_b"][V - 1] += 100
    t.output("written", t["speak"](weights, t.normal(1, H), t["gru_cell"], 0, V - 1, 5))


# ---------------------------------------------------------------- step

def a_speller(t, B, S):
    half, D, E = t.sizes("half D E", smallest=3)
    speller = t["Speller"](half, D, E)
    t.randomise_weights(speller, scale=1.5)
    H = 2 * half
    lengths = t.integers(1, S + 1, B)
    lengths[t.integer(0, B)] = S
    mask = torch.arange(S)[None] < lengths[:, None]
    return speller, t.integers(0, N_SOUNDS, B), t.normal(B, H), t.normal(B, S, H), mask


def stepped(t, result, of="", rtol=None):
    logits, hdec, attention_weights = t.unpack(result, 3)
    t.output(f"attention_weights{of}", attention_weights, axes="B S", sums_to_one="S", atol=1e-7, rtol=rtol)
    t.output(f"hdec{of}", hdec, axes="B H")
    t.output(f"logits{of}", logits, axes="B 42")
    return hdec


@check("step", weight=3)
def one_step(t):
    """One step of a batch whose words have different lengths."""
    B, S = t.sizes("B S", smallest=4)
    speller, tokens, hdec, henc_ts, mask = a_speller(t, B, S)
    stepped(t, speller.step(tokens, hdec, henc_ts, mask))


@check("step")
def loud_padding(t):
    """The encoder's vectors at PAD are large; their weight is still 0."""
    B, S = t.sizes("B S", smallest=4)
    speller, tokens, hdec, henc_ts, mask = a_speller(t, B, S)
    henc_ts = henc_ts + 30 * t.normal(B, S, henc_ts.shape[-1]) * ~mask[..., None]
    stepped(t, speller.step(tokens, hdec, henc_ts, mask))


@check("step")
def a_word(t):
    """A whole word, teacher-forced, from its letters: the step within the model."""
    B, S, T = t.sizes("B S T", smallest=4)
    speller, *_ = a_speller(t, B, S)
    letters = t.integers(1, N_LETTERS, B, S)
    # over the steps, another order of the operations changes the fourth digit
    t.output("logits", speller(letters, t.integers(0, N_SOUNDS, B, T)), axes="B T 42", rtol=1e-3, atol=2e-3)


@check("step")
def step_gradient(t):
    """The gradient of the logits reaches the previous state and the encoder's vectors."""
    B, S = t.sizes("B S", smallest=4)
    speller, tokens, hdec, henc_ts, mask = a_speller(t, B, S)
    hdec, henc_ts = t.leaf(hdec), t.leaf(henc_ts)
    t.backward(speller.step(tokens, hdec, henc_ts, mask)[0])
    t.output("gradient of hdec", hdec.grad, axes="B H")
    t.output("gradient of henc_ts", henc_ts.grad, axes="B S H")


@check("step")
def loud_letters(t):
    """Scores of a hundred and more: the weights are close to 0 or 1, and none is NaN."""
    B, S = t.sizes("B S", smallest=4)
    speller, tokens, hdec, henc_ts, mask = a_speller(t, B, S)
    # of large scores, another order of the operations changes the fourth digit of a weight
    stepped(t, speller.step(tokens, 20 * hdec, 10 * henc_ts, mask), rtol=1e-3)
    _, _, weights = t.unpack(speller.step(tokens, 20 * hdec, 1e5 * henc_ts, mask), 3)
    t.assume(not weights.value.frac().any())  # one has it all, however they are rounded
    t.output("attention_weights of letters louder still", weights, axes="B S", sums_to_one="S")


def half_dropped(step, *inputs):
    """Make a step with dropouts without chance: negative numbers are dropped, the others are doubled."""
    whole = nn.functional.dropout

    def dropout(input, p=0.5, training=True, inplace=False):
        return 2 * input.clamp(min=0) if training else input

    nn.functional.dropout = dropout
    try:
        return step(*inputs)
    finally:
        nn.functional.dropout = whole


@check("step")
def dropout_in_training(t):
    """In training, dropout acts on the embedded tokens, on the input of `combine`, and on the result of the tanh."""
    B, S = t.sizes("B S", smallest=4)
    speller, *inputs = a_speller(t, B, S)
    stepped(t, t.define(half_dropped)(speller.train().step, *inputs))


# ---------------------------------------------------------------- beam

class ToySpeller(nn.Module):
    """A model with the methods of Speller: the next sound depends on the previous one, on the state and on the word."""

    def __init__(self, table, push):
        super().__init__()
        self.table, self.push = table, push

    def encode(self, letters):
        H = self.table.shape[1] + 5
        henc_ts = torch.sin(letters[..., None] * torch.arange(1.0, 1.0 + H, device=letters.device))
        return henc_ts, letters != 0, henc_ts.mean(1)

    def step(self, tokens, hdec, henc_ts, mask):
        seen, embedded = (henc_ts * mask[..., None]).sum(1), nn.functional.embedding(tokens, self.table)
        hdec = 0.6 * hdec.roll(1, -1) + 0.4 * torch.cos(nn.functional.pad(embedded, (0, 5)))
        logits = embedded + (2 * hdec + 0.5 * seen)[:, :-5]
        ending = self.push * (torch.arange(logits.shape[1], device=logits.device) == 2)
        return logits + ending, hdec, mask / mask.sum(-1, keepdim=True)


def toy(t, push, scale=2.0):
    table = t.normal(N_SOUNDS, N_SOUNDS, scale=scale)
    table[:, PAD] -= 50
    table[:, START] -= 50
    return t.define(ToySpeller)(table, float(push))


def searched(t, name, model, width, alpha, timesteps, n=2):
    found = t["beam_search"](model, word(t, 3, 7), width, alpha, timesteps)
    t.assume(len(found.value) >= n)
    scores = [score for _, score in found.value]
    t.assume(all(a - b > 1e-3 for a, b in zip(scores, scores[1:], strict=False)))
    t.output(name, found)


@check("beam", weight=2, skip_relations={"gradient": "a search is not trained"})
def wide(t):
    """Beams of several widths, without and with normalisation."""
    for width, alpha in ((3, 0.0), (4, 1.0), (5, 0.6)):
        model = toy(t, 3)
        searched(t, f"width {width}, alpha {alpha}", model, width, alpha, 12)


@check("beam", skip_relations={"gradient": "a search is not trained"})
def greedy(t):
    """A beam of width one."""
    searched(t, "width 1", toy(t, 4), 1, 0.0, 20, n=1)


@check("beam", skip_relations={"gradient": "a search is not trained"})
def nothing_complete(t):
    """No hypothesis reaches END in time."""
    searched(t, "unfinished", toy(t, -200), 3, 0.7, t.integer(3, 6))


@check("beam", skip_relations={"gradient": "a search is not trained"})
def some_in_time(t):
    """Few steps: some hypotheses are complete, others are not; the complete ones alone come back."""
    searched(t, "few steps", toy(t, 4), 4, 0.5, 3, n=1)


@check("beam", skip_relations={"gradient": "a search is not trained"})
def wider_than_the_vocabulary(t):
    """A beam wider than the vocabulary: for one step END is the least probable id, and all others go on."""
    searched(t, "width 50", toy(t, -120), 50, 0.0, 1, n=1)
    searched(t, "width 50, three steps", toy(t, 1), 50, 0.0, 3, n=1)


# ---------------------------------------------------------------- average

@check("average", skip_relations={"one sequence": "weights have no sequences"})
def means(t):
    """The means of three state dicts, with tensors of several shapes; the given ones stay unchanged."""
    A, C = t.sizes("A C")
    states = [{"weight": t.normal(A, C), "bias": t.normal(C), "scale": t.normal(1)} for _ in range(3)]
    mean = t["average"](states)
    for name in ("weight", "bias", "scale"):
        t.output(name, mean[name])


@check("average", skip_relations={"one sequence": "weights have no sequences"})
def of_two_and_of_one(t):
    """The mean of two, and of a single one."""
    A, C = t.sizes("A C")
    states = [{"w": t.normal(A, C)} for _ in range(2)]
    t.output("two", t["average"](states)["w"], axes="A C")
    t.output("one", t["average"](states[1:])["w"], axes="A C")
