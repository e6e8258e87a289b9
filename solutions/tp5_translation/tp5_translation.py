# %% [markdown]
# # Session 5 · A small translator
#
# You build a translator from English to French, after Sutskever, Vinyals and Le (2014, [arXiv
# 1409.3215](https://arxiv.org/abs/1409.3215)) and Bahdanau, Cho and Bengio (2015, [arXiv
# 1409.0473](https://arxiv.org/abs/1409.0473)).
#
# **After this session you can** write an encoder and attention that leave padding out; train with a teacher-forcing
# ratio; compute BLEU; score attention against a gold alignment; run small experiments and say what they do not show.
#
# **Time:** {time}. Training takes some minutes. **In 90 minutes:** exercises 1 to 8, with all cells down to the heatmap
# of part 8. **You need first:** sessions 1 to 4.

# %% given="start" covers="2"
import sys; sys.path.insert(0, "..")  # the helper package lies beside this folder
try:
    import tp
except ModuleNotFoundError as missing:
    sys.exit(f"{missing}: put this notebook back into its folder of the course, "
             "beside the folder tp, and start as the README or your teacher says")
tp.start("tp5_translation")

# %% [markdown] covers="1,2,3,4"
# ## 1 · Set-up
#
# If a package is missing, install the course again, as its README or your teacher says. The next two cells import
# packages, select the device, set the seeds, and stop if something is missing.

# %% given="imports" covers="2,3,4"
import math
import random
import tempfile
from collections import Counter
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

import sacrebleu
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.utils.data import DataLoader

from tp.parallel import (EOS, PAD, SOS, UNK, PairDataset, Vocabulary, length_batches,
                         padding_share, read_pairs, tokenize, write_pairs)

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
random.seed(0)
_ = torch.manual_seed(0)

# %% demo="environment" covers="1,2,3,4"
from importlib.metadata import version

for package in ("torch", "numpy", "matplotlib", "tqdm", "sacrebleu"):
    print(package, version(package))

print("device:", torch.ones(2, device=device).sum().device)
assert device.type == "cuda" or not torch.cuda.is_available(), "the GPU is not used"

drawn = []
for _ in range(2):
    torch.manual_seed(0)
    drawn.append(torch.rand(3, device=device))
assert torch.equal(*drawn), "the same seed gives other numbers"
_ = torch.manual_seed(0)  # as if nothing had been drawn

# %% [markdown] covers="5,6,7"
# ## 2 · From a file of sentence pairs to batches
#
# A small grammar generates English sentences, their French translations, and a **gold alignment**: the English words
# that each French word comes from. No test sentence differs from a training sentence in tense only. Some sentences are
# grammatical but unusual.
#
# Parallel corpora often come as tab-separated files, one pair a line. The next cell writes the training pairs to such a
# file and reads them back.

# %% demo="corpus" covers="5"
from tp import corpus as grammar

sizes = (2_000, 100, 100) if tp.quick() else (40_000, 500, 1_000)
corpus = grammar.load(*sizes, seed=0)
train_file = Path(tempfile.gettempdir()) / "english-french.tsv"
write_pairs(corpus.train, train_file)

train_pairs = read_pairs(train_file)
assert len(train_pairs) == len(corpus.train), "lines are missing"
tp.table([[pair.source, pair.target] for pair in train_pairs[:4]],
         ["English", "French"])
pair = corpus.train[0]
print("gold alignment:", [(word, [pair.source_words[s] for s in links])
                          for word, links in zip(pair.target_words, pair.alignment)])
held_out = {pair.source for pair in [*corpus.validation, *corpus.test]}
assert not any(pair.source in held_out
               for pair in train_pairs), "in training and held out"

# %% [markdown] covers="6,7"
# `tokenize` and `Vocabulary` are given. Four ids are reserved: `PAD` (0) fills up short sentences, `SOS` (1) starts the
# decoder, `EOS` (2) ends a sentence, `UNK` (3) stands for unknown tokens.

# %% demo="vocabularies" covers="6,7"
train_tokens = [(tokenize(pair.source), tokenize(pair.target)) for pair in train_pairs]
source_vocabulary = Vocabulary([source for source, _ in train_tokens])
target_vocabulary = Vocabulary([target for _, target in train_tokens])
print(len(source_vocabulary), "English ids,", len(target_vocabulary), "French ids")
tokens = tokenize("Est-ce qu’ils n'ont pas vu Pierre ?")
ids = target_vocabulary.encode(tokens)
print(tokens, ids, target_vocabulary.decode(ids), sep="\n")
assert ids[-1] == EOS and ids[tokens.index("pierre")] == UNK, "not this vocabulary"

# %% [markdown] covers="8"
# **Sizes:** S and T source and target timesteps, B sentences in a batch, V tokens in a vocabulary, D numbers in an
# embedding, H numbers in a hidden vector. Time comes before the batch, except in scores, masks and the attention
# weights of one step, (B, S).
#
# ### Exercise 1 · A padded batch
#
# All columns of a tensor have the same length, so shorter sentences are filled up with `PAD` **at their end**.
#
# **Write** `collate`. It takes B pairs `(source_ids, target_ids)` of lists, and returns three integer tensors:
# - `source` (S, B), with S the longest source of this batch;
# - `lengths` (B,), how many ids each source has before the padding (`EOS` counts);
# - `target` (T, B).
#
# *Tiny example.* `collate([([4, 2], [5, 6, 2]), ([7, 8, 2], [9, 2])])` → `source` `[[4, 7], [2, 8], [0, 2]]`, `lengths`
# `[2, 3]`, `target` `[[5, 9], [6, 2], [2, 0]]`.
#
# *Minutes* 8 · *Difficulty* ●●○○
#
# <details><summary>Hint 1 · the idea</summary>
# Pad source and target separately, each to its own longest sentence. Take the lengths before you pad.
# </details>
#
# <details><summary>Hint 2 · the shape</summary>
# A list of B tensors of different lengths becomes one tensor, time first.
# </details>
#
# <details><summary>Hint 3 · the line</summary>
# <code>pad_sequence</code>, imported above, stacks along a new second axis unless you set <code>batch_first</code>.
# Which value does it fill in?
# </details>

# %% exercise="collate" covers="8"
def collate(pairs):
    """Return `source` (S, B), `lengths` (B,), `target` (T, B), all int64.

    They are made of B pairs of lists of ids.
    """
    # TODO: pad the sources, pad the targets, keep the lengths of the sources
    ### BEGIN SOLUTION
    sources = [torch.tensor(source) for source, _ in pairs]
    targets = [torch.tensor(target) for _, target in pairs]
    lengths = torch.tensor([len(source) for source in sources])
    return (pad_sequence(sources, padding_value=PAD), lengths,
            pad_sequence(targets, padding_value=PAD))
    ### END SOLUTION

# %% check="collate" points=2
tp.check("collate")

# %% [markdown] covers="8"
# Every sentence of a batch takes as many timesteps as the longest one. `batches_of` shuffles the sentences and takes 40
# batches of them, then shuffles anew. `length_batches` divides them into pools of 20 batches, sorts each pool by
# length, and cuts it into batches (**bucketing**, as in Bahdanau's paper). Training begins with short sentences
# (**curriculum learning**, Bengio, Louradour, Collobert and Weston 2009). We have not measured whether this helps here.

# %% given="loader" covers="8"
def batches_of(dataset, batch_size=64, longest=lambda: math.inf, seed=0):
    """Yield batches without end, in rounds of at most 40.

    Each round draws sentences anew, none longer than `longest()`, the limit of the
    curriculum.
    """
    rng = random.Random(seed)
    while True:
        limit = longest()
        order = [i for i in range(len(dataset)) if dataset.lengths[i] <= limit]
        rng.shuffle(order)
        batches = length_batches(dataset.lengths, order[:40 * batch_size], batch_size)
        rng.shuffle(batches)
        loader = DataLoader(dataset, batch_sampler=batches, collate_fn=collate)
        for source, lengths, target in loader:
            yield source.to(device), lengths, target.to(device)

# %% demo="batches" covers="8"
train_set, validation_set, test_set = (
    PairDataset(part, source_vocabulary, target_vocabulary)
    for part in (train_pairs, corpus.validation, corpus.test))
order = random.Random(0).sample(range(len(train_set)), k=len(train_set))
mixed = [order[i:i + 64] for i in range(0, len(order), 64)]
pooled = length_batches(train_set.lengths, order, 64)
shares = [padding_share(train_set.lengths, batches) for batches in (mixed, pooled)]
print("padding: {:.0%} of a mixed batch, {:.0%} with pools".format(*shares))
assert shares[1] < shares[0], "sentences of like length need less padding"

# %% [markdown] covers="9,10"
# ## 3 · The encoder
#
# ![The attention model of Bahdanau, Cho and Bengio: a bidirectional recurrent encoder below, attention weights on its
# hidden vectors, and a decoder above that reads one context vector a step.](figures/bahdanau_model.svg)
#
# The encoder reads in both directions. One half of the hidden vector of word j depends on the words up to j, the other
# half on the words from j on. The decoder gets **all** of these vectors.
#
# A GRU that reads backwards must not begin with padding. `pack_padded_sequence(x, lengths, enforce_sorted=False)`
# stores the lengths with the tensor, so the GRU reads each sentence to its own end only. `pad_packed_sequence` gives a
# padded tensor again, with zeros after the ends.
#
# ### Exercise 2 · A bidirectional encoder that does not read padding
#
# **Write** `forward`.
# - in: `source` (S, B), ids; `lengths` (B,)
# - out: `henc_ts` (S, B, H), both halves side by side, zeros at the padding; and `hdec_init` (B, H), the first state of
#   the decoder: `self.W_s` and tanh, applied to the state of the **backward** direction after the first word, which it
#   reads last (Bahdanau et al., appendix A.2.2).
#
# *Tiny example.* With H = 8 each direction has 4 units. For two sentences of lengths 5 and 3, `henc_ts` is (5, 2, 8),
# and `henc_ts[3:, 1]` is zero.
#
# *Minutes* 12 · *Difficulty* ●●●○
#
# <details><summary>Hint 1 · the idea</summary>
# Embed, pack, run the GRU, unpack. The backward direction reads the first word last: its final state is what you want.
# </details>
#
# <details><summary>Hint 2 · the shape</summary>
# The GRU's second result is (2, B, H/2): forward, then backward. <code>lengths</code> must be on the CPU for packing.
# </details>
#
# <details><summary>Hint 3 · the line</summary>
# <code>packed, final = self.gru(pack_padded_sequence(…, lengths.cpu(), enforce_sorted=False))</code>; the unpacking
# returns a pair.
# </details>

# %% exercise="encoder" covers="9,10"
class Encoder(nn.Module):
    """Attributes: `embedding` (V → D), `gru` (D → H/2 each way), `W_s` (H/2 → H)."""

    def __init__(self, vocabulary_size, embedding_size, hidden_size):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)
        self.gru = nn.GRU(embedding_size, hidden_size // 2, bidirectional=True)
        self.W_s = nn.Linear(hidden_size // 2, hidden_size)

    def forward(self, source, lengths):
        """Read `source` (S, B), `lengths` (B,)
        → `henc_ts` (S, B, H), `hdec_init` (B, H).
        """
        # TODO: embed, pack, read, unpack; and the decoder's first state
        ### BEGIN SOLUTION
        packed = pack_padded_sequence(self.embedding(source), lengths.cpu(),
                                      enforce_sorted=False)
        packed_ts, final = self.gru(packed)
        henc_ts, _ = pad_packed_sequence(packed_ts)
        return henc_ts, torch.tanh(self.W_s(final[1]))
        ### END SOLUTION

# %% check="encoder" points=4
tp.check("encoder")

# %% demo="units" covers="11"
if tp.done("encoder"):
    rows = []
    for hidden_size, layers in ((32, 1), (64, 1), (128, 1), (64, 2)):
        gru = nn.GRU(64, hidden_size // 2, num_layers=layers, bidirectional=True)
        rows.append([hidden_size, layers, sum(p.numel() for p in gru.parameters())])
    tp.table(rows, ["H (both directions)", "layers", "parameters of the GRU"])

# %% [markdown] answer="units-and-layers" points=2 covers="11"
# **Question 1.** The table above counts parameters, for embeddings of 64 numbers. When H doubles, they grow by factors
# of 2.4 and 2.7. (a) Why is the factor 4 for very large H? (b) A second layer reads the states of the first (session 1,
# part 5). What can it build that the first cannot, and what does it cost?
#
# *Minutes* 5
#
# ### BEGIN SOLUTION
# (a) The recurrent matrices take H/2 numbers to 3·H/2 in each direction, so they have about 3H²/2 weights together; the
# input matrices grow only as H. (b) It reads the hidden vectors of the first layer, both directions of each timestep,
# not the words. So it can build on features of words in context (for example, "the subject is feminine plural"). Each
# step costs more.
#
# **Rubric.** 1 point: H² comes from the recurrent (state to state) matrices. 1 point: the second layer reads the first
# layer's hidden vectors, with one use or cost.
# ### END SOLUTION

# %% [markdown] covers="12,13"
# ## 4 · Attention
#
# ![Additive attention: the decoder state and one encoder vector are each multiplied by a matrix, added, passed through
# tanh, and multiplied by a vector to give one score.](figures/additive_attention.svg)
#
# A **score** compares the decoder's state $s$ (`hdec`) with each of the S hidden vectors $h_j$ (`henc_ts[j]`), as in
# session 3: additive (Bahdanau), $e_{tj} = v_a^\top \tanh(W_a\, s + U_a\, h_j)$, or dot (Luong), $e_{tj} = s^\top h_j$.
# $U_a h_j$ is the same at every step. So the interface has two parts: `keys(henc_ts)` is computed once for a sentence,
# `forward(hdec, keys)` at each step.
#
# ### Exercise 3 · Two scores behind one interface
#
# **Write** `keys` and `forward` of both classes.
# - `keys`: `henc_ts` (S, B, H) → `keys` (S, B, H). Additive: $U_a h_j$. Dot: the vectors as they are.
# - `forward`: `hdec` (B, H) and `keys` (S, B, H) → `scores` (B, S)
#
# *Tiny example.* Dot score, B = 1: `hdec` `[[1, 2]]`, two keys `[[[3, 0]], [[0, 5]]]` → scores `[[3, 10]]`.
#
# *Minutes* 10 · *Difficulty* ●●○○
#
# <details><summary>Hint 1 · the idea</summary>
# One decoder vector is compared with S encoder vectors. Broadcasting repeats it for you.
# </details>
#
# <details><summary>Hint 2 · the shape</summary>
# (B, H) and (S, B, H) broadcast to (S, B, H). Remove the last axis: sum over it, or apply <code>v_a</code>. What
# remains is (S, B), or (S, B, 1); the result must be (B, S).
# </details>
#
# <details><summary>Hint 3 · the line</summary>
# <code>self.v_a(torch.tanh(… + …))</code>, then <code>.squeeze(-1)</code> and <code>.T</code>.
# </details>

# %% exercise="scores" covers="12,13"
class AdditiveScore(nn.Module):
    """Bahdanau's score. `W_a` and `U_a` (H → H), `v_a` (H → 1), all without bias."""

    def __init__(self, hidden_size):
        super().__init__()
        self.W_a = nn.Linear(hidden_size, hidden_size, bias=False)
        self.U_a = nn.Linear(hidden_size, hidden_size, bias=False)
        self.v_a = nn.Linear(hidden_size, 1, bias=False)

    def keys(self, henc_ts):
        """Return `keys` (S, B, H) of `henc_ts` (S, B, H), the same at every step."""
        # TODO: the part of the formula that is the same at every step
        ### BEGIN SOLUTION
        return self.U_a(henc_ts)
        ### END SOLUTION

    def forward(self, hdec, keys):
        """Return `scores` (B, S) of `hdec` (B, H) and `keys` (S, B, H)."""
        # TODO: the rest of the formula
        ### BEGIN SOLUTION
        return self.v_a(torch.tanh(self.W_a(hdec) + keys)).squeeze(-1).T
        ### END SOLUTION


class DotScore(nn.Module):
    """Luong's simplest score: no parameters."""

    def keys(self, henc_ts):
        """Return `keys` (S, B, H) of `henc_ts` (S, B, H)."""
        # TODO: what the decoder's state is compared with
        ### BEGIN SOLUTION
        return henc_ts
        ### END SOLUTION

    def forward(self, hdec, keys):
        """Return `scores` (B, S) of `hdec` (B, H) and `keys` (S, B, H)."""
        # TODO: the dot product of the state with every key
        ### BEGIN SOLUTION
        return (hdec * keys).sum(-1).T
        ### END SOLUTION

# %% check="scores" points=4
tp.check("scores")

# %% [markdown] covers="14"
# ### Exercise 4 · From scores to a context
#
# **Write** `attend`, with the mask of session 3. The scores become weights: for each sentence, numbers from 0 to 1 that
# sum to 1 **over the source timesteps**. Padding gets weight exactly 0, whatever its score. The context is the weighted
# sum of the hidden vectors.
#
# - in: `scores` (B, S); `mask` (B, S), `True` at real tokens (`EOS` included); `henc_ts` (S, B, H)
# - out: `context_vectors` (B, H), `attention_weights` (B, S); neither is detached
#
# *Tiny example.* Scores `[[0, 0, 7]]`, mask `[[True, True, False]]` → weights `[[0.5, 0.5, 0]]`; the context is the
# mean of the first two hidden vectors.
#
# *Minutes* 5 · *Difficulty* ●●○○
#
# <details><summary>Hint 1 · the idea</summary>
# The softmax turns a score of minus infinity into weight 0. Put it where the padding is, before the softmax.
# </details>
#
# <details><summary>Hint 2 · the shape</summary>
# The softmax runs over S, the last axis of the scores. In the sum, (B, S) and (S, B, H) share two letters; S goes away.
# </details>
#
# <details><summary>Hint 3 · the line</summary>
# <code>scores.masked_fill(~mask, -math.inf)</code> returns a new tensor; <code>torch.einsum("bs,sbh->bh", …, …)</code>
# sums over s.
# </details>

# %% exercise="attend" covers="14"
def attend(scores, mask, henc_ts):
    """Attend: `scores` and `mask` (B, S), `henc_ts` (S, B, H)
    → `context_vectors` (B, H), `attention_weights` (B, S).
    """
    # TODO: no weight on padding; softmax over the source; weighted sum
    ### BEGIN SOLUTION
    attention_weights = scores.masked_fill(~mask, -math.inf).softmax(dim=-1)
    context_vectors = torch.einsum("bs,sbh->bh", attention_weights, henc_ts)
    return context_vectors, attention_weights
    ### END SOLUTION

# %% check="attend" points=4
tp.check("attend")

# %% [markdown] covers="15,16,17"
# ## 5 · The decoder and the whole model
#
# *Which* state of the decoder enters the score? Bahdanau's decoder scores with the previous state, $s_{t-1}$, and the
# context enters its cell (exercises 12 and 13). The decoder of exercise 5 computes $s_t$ without a context, then
# scores with $s_t$, as in Luong, Pham and Manning (2015, [arXiv 1508.04025](https://arxiv.org/abs/1508.04025)), but
# without their attentional layer and without their **input feeding**, which gives the output of that layer to the next
# step. Question 5 asks why one combination of the two cannot be computed.
#
# `Memory` holds the tensors that stay the same during one translation.

# %% given="memory"
class Memory(NamedTuple):
    """What the decoder can attend to: `henc_ts` (S, B, H), `keys` (S, B, H), and
    `mask` (B, S), True at words.
    """
    henc_ts: torch.Tensor
    keys: torch.Tensor
    mask: torch.Tensor

# %% [markdown] covers="15,16,17"
# ### Exercise 5 · One step of the decoder
#
# **Write** `forward` of `PlainDecoder`. The GRU cell steps **first**, from the embedding of the previous token and the
# previous state. The **new** state is used for the score. The logits are $W_o [s_t; c_t] + b_o$, from the new state and
# the context side by side, without the attentional layer of session 3.
#
# - in: `tokens` (B,), `hdec` (B, H), `memory`
# - out: `logits` (B, V), the new `hdec` (B, H), `attention_weights` (B, S)
#
# Logits are not normalised: the loss applies the softmax. What is returned keeps its gradient: do not detach it.
#
# *Tiny example.* With H = 4, the output layer `self.readout` takes 8 numbers: 4 of the state, then 4 of the context.
#
# *Minutes* 8 · *Difficulty* ●○○○
#
# <details><summary>Hint 1 · the idea</summary> Three steps: a new state, a context, logits. Draw the arrows first.
# </details>
#
# <details><summary>Hint 2 · the shape</summary>
# <code>nn.GRUCell</code> takes (B, D) and (B, H) and returns (B, H). [s; c] is (B, 2H).
# </details>
#
# <details><summary>Hint 3 · the line</summary>
# The cell takes the embedded tokens and the old state; <code>attend</code> takes <code>self.score(…,
# memory.keys)</code>, <code>memory.mask</code> and <code>memory.henc_ts</code>; the output layer takes both, joined
# along the last axis.
# </details>

# %% exercise="plain-decoder" covers="15,16,17"
class PlainDecoder(nn.Module):
    """A GRU cell, then attention with its new state.

    Attributes: `embedding`, `score`, `cell`, `readout`.
    """

    def __init__(self, vocabulary_size, embedding_size, hidden_size, score):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)
        self.score = score
        self.cell = nn.GRUCell(embedding_size, hidden_size)
        self.readout = nn.Linear(2 * hidden_size, vocabulary_size)

    def forward(self, tokens, hdec, memory):
        """Make one step: `tokens` (B,), `hdec` (B, H)
        → `logits` (B, V), new `hdec` (B, H), `attention_weights` (B, S).
        """
        # TODO: new state; context from it; logits
        ### BEGIN SOLUTION
        hdec = self.cell(self.embedding(tokens), hdec)
        context_vectors, attention_weights = attend(
            self.score(hdec, memory.keys), memory.mask, memory.henc_ts)
        logits = self.readout(torch.cat([hdec, context_vectors], dim=-1))
        return logits, hdec, attention_weights
        ### END SOLUTION

# %% check="plain-decoder" points=3
tp.check("plain-decoder")

# %% [markdown] covers="18,19,20"
# ### Exercise 6 · Encoder and decoder together
#
# `remember` reads the source once: it is given. **Write** `forward`, which computes the logits of the whole target, one
# step at a time.
#
# The first token that the decoder reads is `SOS`. After step t it reads the **true** token `target[t]` if `forced[t]`
# is true (teacher forcing), else **its own**: the arg-max of the logits of step t. One decision holds for the whole
# batch. (In exercise 7 of session 4, each sequence had its own, and `forced[t]` decided what step t *reads*.) With a
# teacher-forcing ratio of 0.7 each decision is true with probability 0.7. With a ratio of 0 the decoder is free
# running.
#
# - in: `source` (S, B), `lengths` (B,), `target` (T, B), `forced`: T booleans
# - out: `logits` (T, B, V), `attention_weights` (T, B, S), both with their gradient
#
# *Tiny example.* `target` = `[5, 6, 2]`, `forced` true, false, true. The decoder reads `SOS`; then 5; then its own
# token of step 1. The last decision has no effect.
#
# *Minutes* 15 · *Difficulty* ●●●○
#
# <details><summary>Hint 1 · the idea</summary>
# A loop over T that carries two things: the tokens to be read next, and the state. The source is read before the loop.
# </details>
#
# <details><summary>Hint 2 · the shape</summary>
# Tokens are (B,) at each step. Collect T tensors (B, V) and T tensors (B, S), and stack them along a new first axis.
# </details>
#
# <details><summary>Hint 3 · the line</summary>
# <code>torch.full_like(target[0], SOS)</code> starts; <code>target[t] if forced[t] else …</code> goes on.
# </details>

# %% exercise="translator" covers="18,19,20"
class Translator(nn.Module):
    """An encoder and a decoder, in one model."""

    def __init__(self, encoder, decoder):
        super().__init__()
        self.encoder, self.decoder = encoder, decoder

    def remember(self, source, lengths):
        """Read `source` (S, B), `lengths` (B,) → its `Memory`, `hdec_init` (B, H)."""
        henc_ts, hdec_init = self.encoder(source, lengths)
        keys = self.decoder.score.keys(henc_ts)
        return Memory(henc_ts, keys, (source != PAD).T), hdec_init

    def forward(self, source, lengths, target, forced):
        """Translate: `source` (S, B), `lengths` (B,), `target` (T, B), T booleans
        → `logits` (T, B, V), `attention_weights` (T, B, S).
        """
        # TODO: read the source; then one step for each target token
        ### BEGIN SOLUTION
        memory, hdec = self.remember(source, lengths)
        tokens = torch.full_like(target[0], SOS)
        all_logits, all_weights = [], []
        for t in range(len(target)):
            logits, hdec, attention_weights = self.decoder(tokens, hdec, memory)
            all_logits.append(logits)
            all_weights.append(attention_weights)
            tokens = target[t] if forced[t] else logits.argmax(dim=-1)
        return torch.stack(all_logits), torch.stack(all_weights)
        ### END SOLUTION

# %% check="translator" points=5
tp.check("translator")

# %% [markdown] covers="21"
# ## 6 · Training
#
# The loss of one token y is its cross-entropy, −log p(y), which is smallest where p(y) = 1. With **label smoothing**
# (Szegedy et al. 2016, [arXiv 1512.00567](https://arxiv.org/abs/1512.00567)) the smallest loss is at a probability
# below 1, because the target distribution gives $1 - \varepsilon$ to the true token y, and divides $\varepsilon$
# equally among all V tokens, y included:
#
# $$-(1-\varepsilon) \log p(y) \; - \; \varepsilon \cdot \frac1V \sum_{k=1}^{V} \log p(k)$$
#
# ### Exercise 7 · A loss that ignores padding
#
# **Write** `translation_loss`: this loss, averaged over the tokens that are **not** `PAD`. `EOS` counts, because the
# model must learn when to stop.
#
# - in: `logits` (T, B, V), `target` (T, B), `smoothing`: ε; out: one number, a tensor without axes
#
# *Tiny example.* Logits all 0 with V = 4: the loss is log 4 ≈ 1.386, whatever ε and however much padding there is.
#
# *Minutes* 8 · *Difficulty* ●●○○
#
# <details><summary>Hint 1 · the idea</summary>
# Sum over real tokens, divided by the number of real tokens: a mean over all positions would depend on the padding.
# </details>
#
# <details><summary>Hint 2 · the shape</summary>
# PyTorch's function wants classes on axis 1, or two axes: (T·B, V) and (T·B,).
# </details>
#
# <details><summary>Hint 3 · the line</summary>
# <code>F.cross_entropy(…, …, ignore_index=…, label_smoothing=…)</code> takes logits, not probabilities.
# <code>.flatten(0, 1)</code> joins the first two axes.
# </details>

# %% exercise="loss" covers="21"
def translation_loss(logits, target, smoothing=0.0):
    """Return the mean smoothed cross-entropy, (), without PAD.

    `logits` (T, B, V), `target` (T, B).
    """
    # TODO: smoothed cross-entropy of the real tokens
    ### BEGIN SOLUTION
    return F.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=PAD,
                           label_smoothing=smoothing)
    ### END SOLUTION

# %% check="loss" points=3
tp.check("loss")

# %% [markdown]
# `forcing_decisions` draws the booleans of one batch. `warm_cosine` is the schedule of the learning rate: a half cosine
# that falls to 0 at the end of the budget, times a factor that rises to 1 in the first 50 steps, the **warm-up**.

# %% given="forcing" covers="19"
def forcing_decisions(T, ratio):
    """Draw T booleans, each true with probability `ratio`."""
    return (torch.rand(T) < ratio).tolist()


def warm_cosine(optimizer, view):
    """Make a scheduler: the rate rises for 50 steps, then falls as a half cosine.

    How far it has fallen depends on `view.progress()`.
    """
    def factor(step):
        falling = 0.5 + 0.5 * math.cos(math.pi * view.progress())
        return min(1, (step + 1) / 50) * falling
    return torch.optim.lr_scheduler.LambdaLR(optimizer, factor)

# %% [markdown] covers="22,23,24"
# ### Exercise 8 · The training loop
#
# **Write** `train`. For each batch:
# 1. draw the decisions, run the model, compute the loss;
# 2. clear the old gradients and call `backward`;
# 3. **clip** the norm of the whole gradient to `max_norm` (1, as in Bahdanau's paper);
# 4. call `step` of the optimizer, then of the scheduler;
# 5. log the loss.
#
# - `view` counts the steps: iterate with `for step, (source, lengths, target) in zip(view, batches)`. It ends the loop
#   when the budget is used up, and draws the curve of what you give to `view.log(loss=…)`.
# - `optimizer` holds the parameters of both parts; `scheduler.step()` comes once per batch, after the optimizer.
# - use `forcing_decisions(len(target), ratio)`, `translation_loss` with `smoothing`, and `nn.utils.clip_grad_norm_`
# - out: nothing
#
# *Tiny example.* A gradient of (3, 4) has norm 5. Clipped to 1 it becomes (0.6, 0.8): same direction.
#
# *Minutes* 12 · *Difficulty* ●●○○
#
# <details><summary>Hint 1 · the idea</summary>
# Nine lines, in the order of the text above. Clip between <code>backward</code> and <code>step</code>. Before
# <code>backward</code> there is no gradient; after <code>step</code> the gradient has been used.
# </details>
#
# <details><summary>Hint 2 · the shape</summary>
# One norm for all parameters together: give <code>model.parameters()</code>, not each tensor by itself.
# </details>
#
# <details><summary>Hint 3 · the line</summary>
# <code>logits, _ = model(source, lengths, target, …)</code>; a function whose name ends in an underscore, such as
# <code>clip_grad_norm_</code>, changes in place what it is given.
# </details>

# %% exercise="train" covers="22,23,24"
def train(model, batches, optimizer, scheduler, view, ratio=1.0, max_norm=1.0,
          smoothing=0.0):
    """Train on `batches` of (`source`, `lengths`, `target`) until `view` ends."""
    # TODO: for each batch: decisions, logits, loss;
    # clear, backward, clip, step, schedule; log
    ### BEGIN SOLUTION
    for step, (source, lengths, target) in zip(view, batches):
        forced = forcing_decisions(len(target), ratio)
        logits, _ = model(source, lengths, target, forced)
        loss = translation_loss(logits, target, smoothing)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        optimizer.step()
        scheduler.step()
        view.log(loss=loss)
    ### END SOLUTION

# %% check="train" points=5
tp.check("train")

# %% [markdown] covers="22"
# `build` makes a fresh model. `learn` trains encoder and decoder together with AdamW (Loshchilov and Hutter 2019,
# [arXiv 1711.05101](https://arxiv.org/abs/1711.05101)): Adam with **weight decay**, which makes all weights smaller at
# each step, in PyTorch by the factor 1 − learning rate · weight decay. Besides the learning rate, three settings are
# not PyTorch's default: embeddings with a standard deviation of 0.2, β₂ = 0.98, weight decay 0.3. We have not measured
# what they change.

# %% given="build" covers="22"
WHOLE = ("collate", "encoder", "scores", "attend", "plain-decoder", "translator",
         "loss", "train")
trained = {}  # name → translator, as soon as it is trained


def build(decoder_class=PlainDecoder, score_class=DotScore, embedding_size=64,
          hidden_size=128, seed=0, encoder_class=Encoder, vocabularies=None):
    """Make a fresh `Translator` for two vocabularies: ours, if no others are given."""
    torch.manual_seed(seed)
    english, french = vocabularies or (source_vocabulary, target_vocabulary)
    score = score_class(hidden_size) if score_class is AdditiveScore else score_class()
    encoder = encoder_class(len(english), embedding_size, hidden_size)
    decoder = decoder_class(len(french), embedding_size, hidden_size, score)
    for part in (encoder, decoder):
        nn.init.normal_(part.embedding.weight, std=0.2)
    return Translator(encoder, decoder).to(device)

# %% given="learn" covers="22"
STEPS = 1000  # the budget of each large model


def learn(model, dataset, view, rate=1.5e-2, ratio=1.0, longest=22, seed=0,
          validation=None, smoothing=0.0):
    """Train `model` with AdamW on both its parts until `view` ends.

    Sentences grow up to `longest` in the first 40 %. With `validation`, another
    dataset, its loss is logged every 100 steps.
    """
    limit = lambda: 7 + (longest - 7) * min(1, view.progress() / 0.4)
    batches = batches_of(dataset, longest=limit, seed=seed)
    if validation:
        batches = with_validation(batches, model, validation, view)
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate, betas=(0.9, 0.98),
                                  weight_decay=0.3, fused=True)
    train(model, batches, optimizer, warm_cosine(optimizer, view), view, ratio,
          smoothing=smoothing)


def with_validation(batches, model, validation, view, every=100):
    """Yield the batches as they come, and log the validation loss every so many."""
    source, lengths, target = collate(list(validation))
    source, target = source.to(device), target.to(device)
    for step, batch in enumerate(batches, 1):
        yield batch
        if step % every == 0:
            with torch.no_grad():
                logits, _ = model(source, lengths, target, [True] * len(target))
            view.log(val_loss=translation_loss(logits, target))

# %% training="train-plain" covers="22,23,24"
if tp.done(*WHOLE):
    model = build()
    view = tp.live(steps=STEPS, title="plain decoder, dot score")
    learn(model, train_set, view, validation=validation_set)
    view.plot()
    trained["plain decoder"] = model

# %% [markdown] covers="25"
# ## 7 · Decoding and evaluation
#
# Session 4 explains greedy decoding (part 4) and beam search (part 7). Here both are given for this model. The score of
# a hypothesis is its sum of log-probabilities, without length normalisation.

# %% given="greedy" covers="20,30"
@torch.no_grad()
def greedy(model, source, lengths, max_length=30):
    """Take the most probable token at each step.

    → `tokens` (T, B), PAD after EOS, and `attention_weights` (T, B, S)
    """
    memory, hdec = model.remember(source, lengths)
    tokens = torch.full_like(source[0], SOS)
    finished = torch.zeros_like(tokens, dtype=torch.bool)
    output, weights = [], []
    while len(output) < max_length and not finished.all():
        logits, hdec, attention_weights = model.decoder(tokens, hdec, memory)
        tokens = logits.argmax(dim=-1).masked_fill(finished, PAD)
        finished = finished | (tokens == EOS)
        output.append(tokens)
        weights.append(attention_weights)
    return torch.stack(output), torch.stack(weights)

# %% given="beam" covers="20"
@torch.no_grad()
def beam_search(model, source, lengths, width=3, max_length=30):
    """Search for one sentence, `source` (S, 1), `lengths` (1,)
    → the ids of the best of `width` hypotheses, and its log-probability.
    """
    memory, hdec = model.remember(source, lengths)
    memory = Memory(memory.henc_ts.repeat(1, width, 1), memory.keys.repeat(1, width, 1),
                    memory.mask.repeat(width, 1))
    hdec = hdec.repeat(width, 1)
    hypotheses = torch.full((1, width), SOS, device=source.device)
    sums = torch.full((width,), -math.inf, device=source.device)
    sums[0] = 0  # at first all rows are the same hypothesis: only one may count
    for _ in range(max_length):
        logits, hdec, _ = model.decoder(hypotheses[-1], hdec, memory)
        log_probabilities = logits.log_softmax(dim=-1)
        finished = (hypotheses[-1] == EOS) | (hypotheses[-1] == PAD)
        log_probabilities[finished] = -math.inf
        log_probabilities[finished, PAD] = 0
        sums, best = (sums[:, None] + log_probabilities).flatten().topk(width)
        parents, tokens = best // logits.shape[-1], best % logits.shape[-1]
        hypotheses = torch.cat([hypotheses[:, parents], tokens[None]])
        hdec = hdec[parents]
        if ((tokens == EOS) | (tokens == PAD)).all():
            break
    return hypotheses[1:, 0].tolist(), sums[0].item()


def translate(model, sentences, width=1):
    """Translate English sentences: return a list of lists of French tokens."""
    rows = [(source_vocabulary.encode(tokenize(sentence)), [EOS])
            for sentence in sentences]
    if width > 1:
        found = []
        for row in rows:
            source, lengths, _ = collate([row])
            found.append(beam_search(model, source.to(device), lengths, width)[0])
        return [target_vocabulary.decode(ids) for ids in found]
    source, lengths, _ = collate(rows)
    tokens, _ = greedy(model, source.to(device), lengths)
    return [target_vocabulary.decode(ids) for ids in tokens.T.tolist()]

# %% demo="first-translations" covers="25"
if tp.done(*WHOLE):
    sentences = ["The old women did not see the red cars.", "Does my sister love him?",
                 "We are going to give an apple to the small girls."]
    both = translate(model, sentences), translate(model, sentences, width=3)
    tp.table([[sentence, " ".join(best), " ".join(beam)]
              for sentence, best, beam in zip(sentences, *both)],
             ["English", "greedy", "beam of 3"])

# %% [markdown] covers="26"
# ### Exercise 9 · BLEU by hand
#
# Exact match counts a sentence with one wrong word as wrong. **BLEU** (Papineni, Roukos, Ward and Zhu 2002) counts the
# **n-grams**, n consecutive tokens, that a translation shares with its reference. For n = 1 to 4, over the **whole
# corpus**:
#
# $$
# p_n = \frac{\text{n-grams of the hypotheses that are also in their reference, clipped}}
#            {\text{n-grams of the hypotheses}}
# $$
#
# *Clipped*: an n-gram counts at most as often as it stands in the reference of the same sentence. Numerator and
# denominator are summed over all sentences **before** dividing. With c and r the numbers of tokens in all hypotheses
# and in all references,
#
# $$
# \text{BLEU} = 100 \cdot BP \cdot \exp\Big(\tfrac14 \sum_{n=1}^4 \log p_n\Big), \qquad
# BP = \begin{cases} 1 & c \ge r \\ e^{1 - r/c} & c < r \end{cases}
# $$
#
# The **brevity penalty** BP lowers the score of translations that are too short. If for some n there is no match, or no
# n-gram at all, BLEU is 0.
#
# **Write** `clipped_matches` and `corpus_bleu`. Do not call the library sacrebleu (Post 2018): below, its result is
# compared with yours.
# - `clipped_matches(hypothesis, reference, n)`: two lists of tokens → (matches, number of n-grams in the hypothesis)
# - `corpus_bleu(hypotheses, references)`: two lists of lists of tokens → a float from 0 to 100
#
# *Tiny example.* Hypothesis `a a b`, reference `a b c`, n = 1: 2 of 3 (the second `a` is clipped). n = 2: 1 of 2.
#
# *Minutes* 18 · *Difficulty* ●●●○
#
# <details><summary>Hint 1 · the idea</summary>
# Count the n-grams of both as multisets. What they share is their intersection.
# </details>
#
# <details><summary>Hint 2 · the shape</summary>
# A list of length L has L − n + 1 n-grams, or none if it is shorter than n. Keep four sums of matches, four of totals,
# and two lengths.
# </details>
#
# <details><summary>Hint 3 · the line</summary>
# <code>Counter(tuple(tokens[i:i + n]) for i in …)</code>; for two Counters, <code>&amp;</code> takes the smaller count.
# </details>

# %% exercise="bleu" covers="26"
def clipped_matches(hypothesis, reference, n):
    """Return how many n-grams of the hypothesis are in the reference, clipped, and how
    many it has; both are lists of tokens.
    """
    # TODO: count the n-grams of both, and what they share
    ### BEGIN SOLUTION
    ours, theirs = (Counter(tuple(tokens[i:i + n]) for i in range(len(tokens) - n + 1))
                    for tokens in (hypothesis, reference))
    return sum((ours & theirs).values()), sum(ours.values())
    ### END SOLUTION


def corpus_bleu(hypotheses, references):
    """Return BLEU-4 of the corpus, from 0 to 100, of two lists of lists of tokens."""
    # TODO: sum matches and totals over the corpus; precisions, penalty, geometric mean
    ### BEGIN SOLUTION
    log_precisions = 0.0
    for n in range(1, 5):
        counts = [clipped_matches(hypothesis, reference, n)
                  for hypothesis, reference in zip(hypotheses, references)]
        matches, total = sum(m for m, _ in counts), sum(k for _, k in counts)
        if matches == 0:
            return 0.0
        log_precisions += math.log(matches / total) / 4
    c = sum(len(tokens) for tokens in hypotheses)
    r = sum(len(tokens) for tokens in references)
    return 100 * math.exp(min(0.0, 1 - r / c) + log_precisions)
    ### END SOLUTION

# %% check="bleu" points=5
tp.check("bleu")

# %% given="evaluate" covers="25"
@torch.no_grad()
def evaluate(model, dataset, vocabulary, copying=False):
    """Return exact match and BLEU of the greedy translations, and these texts.

    BLEU is sacrebleu's. With `copying`, the English word with the largest weight
    stands in the place of each `<unk>`.
    """
    texts = [""] * len(dataset)
    for batch in length_batches(dataset.lengths, list(range(len(dataset))), 100):
        source, lengths, _ = collate([dataset[i] for i in batch])
        tokens, weights = greedy(model, source.to(device), lengths)
        for b, i in enumerate(batch):
            words = [*dataset.pairs[i].source_words, "<eos>"]
            french = vocabulary.decode(tokens[:, b].tolist())
            best = weights[:, b].argmax(-1).tolist()
            texts[i] = " ".join(words[s] if copying and token == "<unk>" else token
                                for token, s in zip(french, best))
    references = [[" ".join(words) for words in pair.references]
                  for pair in dataset.pairs]
    exact = sum(text in known for text, known in zip(texts, references)) / len(texts)
    sides = [[known[which] for known in references] for which in (0, -1)]
    bleu = sacrebleu.corpus_bleu(texts, sides, tokenize="none", force=True,
                                 smooth_method="none")
    return exact, bleu.score, texts

# %% demo="validation" covers="25,26"
if tp.done(*WHOLE):
    for name, part in (("validation", validation_set), ("test", test_set)):
        exact, bleu, texts = evaluate(model, part, target_vocabulary)
        print(f"{name}: exact match {exact:.1%}, BLEU {bleu:.2f} by sacrebleu")
        if tp.done("bleu"):
            yours = corpus_bleu([text.split() for text in texts],
                                [list(pair.target_words) for pair in part.pairs])
            print(f"BLEU {yours:.2f} by hand")
            assert math.isclose(bleu, yours, abs_tol=0.01), "sacrebleu says otherwise"
    wrong = [[" ".join(pair.target_words), text]
             for pair, text in zip(test_set.pairs, texts)
             if text != " ".join(pair.target_words)][:4]
    if wrong:
        tp.table(wrong, ["reference", "translation"])

# %% [markdown] covers="28,30"
# ## 8 · Reading the attention
#
# ![Attention weights over a sentence: a row for each French word, with a square for each English word; its area is the
# weight.](figures/alpha_over_sentence.svg)
#
# The next cells extract the weights **step by step**: each call of the decoder gives one row.

# %% given="decoding-steps" covers="30"
@torch.no_grad()
def decoding_steps(model, sentence):
    """Translate an English sentence greedily: a `tp.Step` for each French token."""
    read = tokenize(sentence)
    source, lengths, _ = collate([(source_vocabulary.encode(read), [EOS])])
    memory, hdec = model.remember(source.to(device), lengths)
    names, steps = target_vocabulary.tokens, []
    tokens = torch.tensor([SOS], device=device)
    while len(steps) < 30 and tokens.item() != EOS:
        logits, hdec, attention_weights = model.decoder(tokens, hdec, memory)
        probabilities = logits[0].softmax(dim=-1)
        context = attention_weights[0] @ memory.henc_ts[:, 0]
        steps.append(tp.Step(
            names[tokens.item()], names[probabilities.argmax()],
            dict(zip(names, probabilities.tolist())), source=[*read, "<eos>"],
            weights=attention_weights[0].cpu(), context=context.cpu()))
        tokens = probabilities.argmax(dim=-1, keepdim=True)
    return steps

# %% demo="heatmap" covers="28,30"
if tp.done(*WHOLE):
    sentence = "Did the small girls see the red hat of the king?"
    steps = decoding_steps(model, sentence)
    for step in steps:
        read = step.source[step.weights.argmax()]
        print(f"{step.written:>10} ← {read} ({step.weights.max().item():.2f})")
    tp.attention_heatmap(torch.stack([step.weights for step in steps]), steps[0].source,
                         [step.written for step in steps], title=sentence)
    assert all(math.isclose(step.weights.sum(), 1, abs_tol=1e-4) for step in steps)
    assert steps[-1].source[-1] == "<eos>", "each token of the source has a column"

# %% [markdown] covers="28,30"
# The next cell does the same for a sentence that you type, and lists the most probable alternatives to each word.

# %% demo="explore" covers="28,30"
if tp.done(*WHOLE):
    tp.explore({name: partial(decoding_steps, translator)
                for name, translator in trained.items()}, sentence)

# %% [markdown] covers="29"
# ### Exercise 10 · Alignment error rate
#
# A French word that comes from **one** English word has a *sure* link. A French word that comes from several (`du`: of,
# the) has *possible* links, each as good as another. Call S (here a set, not the number of source timesteps) the sure
# links, P all links, sure ones included, and A the links that the model proposes: for each French word the English word
# of **largest weight**. The **alignment error rate** (Och and Ney 2003) is
#
# $$AER = 1 - \frac{|A \cap S| + |A \cap P|}{|A| + |S|}$$
#
# 0 is perfect. A link is a pair (t, s). All counts are summed over the corpus before dividing.
#
# **Write** `alignment_error_rate`.
# - in: `attention_weights`, a list of tensors (T', S'), one per sentence; `alignments`, a list of gold alignments:
#   `alignments[k][t]` is a tuple of source positions. A tensor may have more rows than its alignment is long (the row
#   of `EOS`): those rows are not scored.
# - out: a float
#
# *Tiny example.* Gold `((0,), (1, 2))`, proposed 0 and 2: A = {(0,0), (1,2)}, S = {(0,0)}, P = {(0,0), (1,1), (1,2)},
# so AER = 1 − (1 + 2)/(2 + 1) = 0.
#
# *Minutes* 10 · *Difficulty* ●●○○
#
# <details><summary>Hint 1 · the idea</summary>
# One loop over sentences, one over their French words; four counters.
# </details>
#
# <details><summary>Hint 2 · the shape</summary>
# The arg-max runs over S', the last axis of (T', S'). <code>zip</code> stops at the shorter of two.
# </details>
#
# <details><summary>Hint 3 · the line</summary>
# A word is sure when <code>len(links) == 1</code>; the link is in P when <code>s in links</code>.
# </details>

# %% exercise="aer" covers="29"
def alignment_error_rate(attention_weights, alignments):
    """Return the AER of a list of weights (T', S') and one of gold alignments."""
    # TODO: count proposed, sure, proposed and sure, proposed and possible
    ### BEGIN SOLUTION
    proposed = sure = in_sure = in_possible = 0
    for weights, alignment in zip(attention_weights, alignments):
        for s, links in zip(weights.argmax(dim=-1).tolist(), alignment):
            proposed += 1
            sure += len(links) == 1
            in_possible += s in links
            in_sure += len(links) == 1 and s in links
    return 1 - (in_sure + in_possible) / (proposed + sure)
    ### END SOLUTION

# %% check="aer" points=4
tp.check("aer")

# %% demo="scored-alignment" covers="29,30"
@torch.no_grad()
def weights_of(model, dataset):
    """Return the weights (T', S') of each pair, with teacher forcing."""
    found = []
    for ids in dataset:
        source, lengths, target = (part.to(device) for part in collate([ids]))
        _, weights = model(source, lengths.cpu(), target, [True] * len(target))
        found.append(weights[:, 0].cpu())
    return found

if tp.done(*WHOLE, "aer"):
    gold = [pair.alignment for pair in validation_set.pairs]
    all_weights = weights_of(model, validation_set)
    print(f"alignment error rate {alignment_error_rate(all_weights, gold):.4f}")
    misses = Counter((pair.target_words[t], (*pair.source_words, "EOS")[w[t].argmax()])
                     for pair, w in zip(validation_set.pairs, all_weights)
                     for t, links in enumerate(pair.alignment)
                     if w[t].argmax().item() not in links)
    tp.table([[french, english, n] for (french, english), n in misses.most_common(6)],
             ["French word", "largest weight on", "times"])

# %% [markdown] answer="reading" points=3 covers="29"
# **Question 2.** Read the map above, and one of your own: type a sentence with *not*, or with *him*, *her* or *them*,
# into the cell before exercise 10. (a) Where do the maps leave the diagonal, and what does that say about the two
# languages? (b) *du* comes from two English words, *of* and *the*; *que* in *est-ce que* comes from the auxiliary
# (*Did*) and the question mark. Where are the weights of *du* and *que*? How can the decoder choose the right word
# with these weights? (c) The alignment was never shown to the model. Why did it learn one?
#
# *Minutes* 8
#
# ### BEGIN SOLUTION
# (a) At adjectives that follow the noun (red hat → chapeau rouge: two crossing cells), at object pronouns (before the
# verb in French), at "ne … pas" around the verb: word order differs there. (b) For example *du*: nearly all of its
# weight can be on *of*. The hidden vector of *of* depends on its neighbours on both sides, so it can hold that *the*
# follows and which noun comes next. The largest weight of *que* may be on neither, but on the word after *Did*. A
# possible reason is that the choice between *que* and *qu'* depends on that word; part 11 can test it. So the largest
# weight need not be on the word that a person would link. (c) The loss falls if the context holds information about the
# word to be written next. The vector of its source word holds this information, so weight on it lowers the loss.
#
# **Rubric.** 1 point: a crossing is named with the words. 1 point: where the weights of one of the two words are, and
# that a vector depends on its neighbours too. 1 point: weight on the source word lowers the loss, because its vector
# holds the information.
# ### END SOLUTION

# %% [markdown]
# ## 9 · Comparisons on a harder corpus
#
# On this corpus the translator makes few errors: about one sentence in a hundred is wrong, so no change can improve it
# much. The comparisons below use the same grammar made **hard**:
#
# - *two senses*: a *bat* is a *chauve-souris* or a *batte*;
# - *two valid translations* of some sentences: exact match and BLEU accept both;
# - *rare words*, some of which never occur in training;
# - *typos*;
# - outside training only, *longer sentences* and *new combinations* of adjective and noun.
#
# The training set has 10 000 sentences. A word that occurs in it only once becomes `UNK`.

# %% demo="hard-corpus"
from tp.difficulty import HARD

sizes = (500, 50, 50) if tp.quick() else (10_000, 500, 500)
hard = grammar.load(*sizes, difficulty=HARD)
tp.table([[pair.source, pair.target, pair.other.target if pair.other else "",
           ", ".join(pair.traits)] for pair in hard.test[:6]],
         ["English", "French", "or", "what is hard"])

hard_vocabularies = [
    Vocabulary([getattr(pair, side) for pair in hard.train], min_count=2)
    for side in ("source_words", "target_words")]
hard_train, hard_validation, hard_test = (PairDataset(part, *hard_vocabularies)
                                          for part in hard)

# %% [markdown] covers="27"
# ### With and without attention
#
# ![A translation squeezed through one vector: however long the sentence, the decoder gets the same number of
# values.](figures/translation_bottleneck.svg)
#
# ![The model of Sutskever, Vinyals and Le: one recurrent network reads the source, a second one starts from its last
# state and writes the target.](figures/sutskever_model.svg)
#
# The next decoder gets only its first state from the encoder, as in the model of Sutskever, Vinyals and Le. `BothEnds`
# makes this vector from *both* directions of the encoder. It has 256 numbers; a hidden vector of the model with
# attention has 128.

# %% given="bottleneck-decoder" covers="27"
class BothEnds(Encoder):
    """An encoder whose first state for the decoder is made from both directions, each
    after its own last word.
    """

    def __init__(self, vocabulary_size, embedding_size, hidden_size):
        super().__init__(vocabulary_size, embedding_size, hidden_size)
        self.W_s = nn.Linear(hidden_size, hidden_size)

    def forward(self, source, lengths):
        """Read `source` (S, B), `lengths` (B,)
        → `henc_ts` (S, B, H), `hdec_init` (B, H).
        """
        sentences = pack_padded_sequence(self.embedding(source), lengths.cpu(),
                                         enforce_sorted=False)
        both_ways, ends = self.gru(sentences)
        hdec_init = torch.tanh(self.W_s(torch.cat([*ends], dim=-1)))
        return pad_packed_sequence(both_ways)[0], hdec_init


class BottleneckDecoder(nn.Module):
    """No attention: all it knows of the source is its first state.

    The interface is that of the others; its weights are 0.
    """

    def __init__(self, vocabulary_size, embedding_size, hidden_size, score):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)
        self.score = score  # asked for keys by `Translator.remember`, and never used
        self.cell = nn.GRUCell(embedding_size, hidden_size)
        self.readout = nn.Linear(hidden_size, vocabulary_size)

    def forward(self, tokens, hdec, memory):
        embedded = self.embedding(tokens)
        hdec = self.cell(embedded, hdec)
        no_weights = torch.zeros(memory.mask.shape, device=hdec.device)
        return self.readout(hdec), hdec, no_weights

# %% given="by-length" covers="27"
HARD_STEPS, HARD_RATE = 600, 1.5e-2  # of the models on the hard corpus


def by_length(model):
    """Return test BLEU for sources of up to 7, 10, 14 and more tokens (EOS counted)."""
    scores = []
    for low, high in ((0, 7), (7, 10), (10, 14), (14, 99)):
        pairs = [pair for pair, length in zip(hard_test.pairs, hard_test.lengths)
                 if low < length <= high]
        part = PairDataset(pairs, *hard_vocabularies)
        scores.append(round(evaluate(model, part, hard_vocabularies[1])[1], 1))
    return scores

# %% training="train-bottleneck" covers="27"
if tp.done(*WHOLE):
    rows = []
    for title, options in (
            ("with attention", {}),
            ("without attention", {"decoder_class": BottleneckDecoder,
                                   "hidden_size": 256, "encoder_class": BothEnds})):
        hard_model = build(**options, vocabularies=hard_vocabularies)
        view = tp.live(steps=HARD_STEPS, title=title)
        learn(hard_model, hard_train, view, HARD_RATE, validation=hard_validation)
        rows.append([title, *by_length(hard_model)])
    tp.table(rows, ["BLEU by length of the source", "to 7", "8 to 10", "11 to 14",
                    "15 and more"], caption="One seed for each model")

# %% [markdown] covers="27"
# We also trained both models on the first corpus, with 40 000 sentences, 1000 steps and five seeds each. The table
# shows the median and, in brackets, the lowest and the highest.
#
# | BLEU by length of the source (`EOS` counted) | to 6 | 7 to 9 | 10 to 12 | 13 and more |
# |---|---|---|---|---|
# | with attention | 98.6 (98.4–99.1) | 99.8 (99.8–99.9) | 99.8 (99.4–99.9) | 99.7 (99.5–99.7) |
# | without attention | 96.3 (94.8–98.2) | 97.1 (96.4–97.4) | 86.4 (83.9–86.9) | 50.2 (48.0–50.9) |

# %% [markdown] answer="bottleneck" points=2 covers="27"
# **Question 3.** Read both tables. Both count `EOS`. The longest training sentence of the hard corpus has 14 tokens,
# that of the first corpus 22. (a) How does the gap between the two models change with the length, and why? Which column
# has only lengths that training never had? (b) Someone says: "Give the model without attention ten times as many units,
# and the gap is gone". What would remain a disadvantage?
#
# *Minutes* 5
#
# ### BEGIN SOLUTION
# (a) In both tables the model without attention has the lower BLEU at every length, and the gap grows with the length.
# The last column of the first table has lengths beyond training; the second table has none, and the same trend. The
# first table shows one seed. In the second no ranges overlap, and the gap grows from about 2 points to about 50 points.
# Two explanations fit: without attention all words pass through one vector of fixed size, and gradients from the end of
# the target to the beginning of the source go through many steps, while with attention each word is one step away. The
# tables do not separate them from slower learning: both models had the same steps and the same learning rate. (b) More
# units cost time and data. The path of the gradient is as long as before. The size is still fixed, so longer sentences
# have the same problem. There is no alignment to read.
#
# **Rubric.** 1 point: the model without attention loses more with length, explained by a vector of fixed size (or by
# the length of the path; unseen lengths explain the last column of the first table only). 1 point: one disadvantage
# that more units do not remove.
# ### END SOLUTION

# %% [markdown] covers="31,32,33,34"
# ### Exercise 11 · Plan four experiments
#
# In each experiment one setting changes: peak learning rate, hidden size, teacher-forcing ratio, score function. (In
# PyTorch's AdamW the learning rate also sets the weight decay of each step.) `run_hard` trains one model on the hard
# corpus and measures it on validation sentences. `tp.experiment` calls it for each value and seed, and shows the mean
# with the lowest and the highest.
#
# **Write**, before you run the first experiment,
# - `plan()`, which returns three things:
#   - `expected`: for each of the four names in `EXPERIMENTS` the result that you expect, and why, in a sentence of six
#     words or more;
#   - `values`: for the first three of them the values to try, three or more of each, from small to large. The notebook
#     uses a learning rate of 0.015, 128 units and a ratio of 1. Choose learning rates and numbers of units on both
#     sides of these, and ratios from 0 to 1. The number of units is even;
#   - `seeds`: three seeds or more;
# - `cost(steps)`: the steps of the first three experiments together: `steps` for each run. A run that two experiments
#   share counts in both.
#
# *Tiny example.* With three values in each list and three seeds there are 27 runs: `cost(10)` is 270.
#
# *Minutes* 5 · *Difficulty* ●○○○
#
# <details><summary>Hint 1 · the idea</summary>
# Choose values so far apart that you expect a difference, and say which of them fails, and how.
# </details>
#
# <details><summary>Hint 2 · the shape</summary>
# <code>expected</code> maps four names to texts, <code>values</code> three names to lists of numbers, and
# <code>seeds</code> is a list.
# </details>
#
# <details><summary>Hint 3 · the line</summary>
# Choose each learning rate three to ten times the previous one. A ratio is a probability.
# </details>

# %% exercise="plan" covers="31,32,33,34"
EXPERIMENTS = ("learning rate", "hidden size", "teacher-forcing ratio",
               "scoring function")


def plan():
    """Return what you expect, what you try, and with which seeds.

    → `expected` {name: sentence}, `values` {name: list of numbers}, `seeds`
    """
    # TODO: expected, four sentences; values, three lists; seeds
    ### BEGIN SOLUTION
    expected = {
        "learning rate": "the smallest is still learning when the steps are used up, "
                         "because each step is short; the largest jumps about",
        "hidden size": "eight units cannot hold what agreement needs; "
                       "between 32 and 128 the gain is smaller",
        "teacher-forcing ratio": "the higher the better, because in so few "
                                 "steps the model's own tokens are nonsense for long",
        "scoring function": "the two scores are alike, because the encoder can turn "
                            "its vectors",
    }
    values = {
        "learning rate": [1.5e-3, 1.5e-2, 1.5e-1],
        "hidden size": [8, 32, 128],
        "teacher-forcing ratio": [0.0, 0.5, 1.0],
    }
    seeds = (0, 1, 2)
    return expected, values, seeds
    ### END SOLUTION


def cost(steps):
    """Return the steps of the first three experiments, with `steps` for each run."""
    # TODO: each value of each experiment meets each seed
    ### BEGIN SOLUTION
    _, values, seeds = plan()
    return steps * len(seeds) * sum(len(tried) for tried in values.values())
    ### END SOLUTION

# %% check="plan" points=2
tp.check("plan")

# %% given="run-hard" covers="31,32,33,34"
EXPERIMENT_STEPS = 150  # few steps: only large differences show


@cache  # what two experiments share is run once
def trained_hard(steps, seed, rate, hidden_size, ratio, score_class, smoothing, p):
    """Train one model on the hard corpus; return what is measured, name → number."""
    model = build(score_class=score_class, hidden_size=hidden_size, seed=seed,
                  vocabularies=hard_vocabularies)
    if p:  # dropout
        for part in (model.encoder, model.decoder):
            part.embedding = nn.Sequential(part.embedding, nn.Dropout(p))
        model.decoder.readout = nn.Sequential(nn.Dropout(p), model.decoder.readout)
    view = tp.live(steps=steps, summarised=False)
    learn(model, hard_train, view, rate, ratio, seed=seed, smoothing=smoothing)
    exact, bleu, _ = evaluate(model.eval(), hard_validation, hard_vocabularies[1])
    return {"training loss": view.mean("loss"), "exact match, %": 100 * exact,
            "BLEU": bleu}


def run_hard(steps, seed, rate=HARD_RATE, hidden_size=128, ratio=1.0,
             score_class=DotScore, smoothing=0.0, dropout=0.0):
    """Train and evaluate one model; settings that are not given stay as they are."""
    return trained_hard(steps, seed, rate, hidden_size, ratio, score_class, smoothing,
                        dropout)

# %% training="experiment-rate" covers="31"
if tp.done(*WHOLE, "plan"):
    expected, values, seeds = plan()
    rates = {rate: {"rate": rate} for rate in values["learning rate"]}
    tp.experiment("learning rate", rates, run_hard, EXPERIMENT_STEPS, seeds,
                  expected["learning rate"])

# %% training="experiment-hidden" covers="32"
if tp.done(*WHOLE, "plan"):
    expected, values, seeds = plan()
    sizes = {size: {"hidden_size": int(size)} for size in values["hidden size"]}
    tp.experiment("hidden size", sizes, run_hard, EXPERIMENT_STEPS, seeds,
                  expected["hidden size"])

# %% training="experiment-ratio" covers="33"
if tp.done(*WHOLE, "plan"):
    expected, values, seeds = plan()
    ratios = {ratio: {"ratio": ratio} for ratio in values["teacher-forcing ratio"]}
    tp.experiment("teacher-forcing ratio", ratios, run_hard, EXPERIMENT_STEPS, seeds,
                  expected["teacher-forcing ratio"])

# %% training="experiment-score" covers="34"
if tp.done(*WHOLE, "plan"):
    expected, _, seeds = plan()
    tp.experiment("scoring function",
                  {"dot": {}, "additive": {"score_class": AdditiveScore}},
                  run_hard, EXPERIMENT_STEPS, seeds, expected["scoring function"])

# %% [markdown] answer="experiments" points=4 covers="31,32,33,34"
# **Question 4.** For each of the four experiments, state what you expected, which values you tried, what your table
# shows, with its spread, and what you would *not* conclude from it. For the teacher-forcing ratio, say also why its
# *training loss* cannot be compared from row to row. (If two settings do not differ, the ranges of three independent
# runs each still lie apart once in ten times; those of five, once in 126.)
#
# *Minutes* 10
#
# ### BEGIN SOLUTION
# Our tables have 150 steps and three seeds: the mean, and the range in brackets.
#
# *Learning rate.* We expected the loss to oscillate with the largest rate, 0.15. This rate had the highest mean BLEU,
# 33.3 (19.4–40.9) against 19.2 (17.6–20.9) with 0.015, and the largest spread; the ranges overlap. With 0.0015 no
# sentence was right. It does not follow that 0.15 is best for a longer run. The rate also sets the weight decay of each
# step, so the table does not separate the two. All other experiments use 0.015, whose mean is not the highest here.
#
# *Hidden size.* With 8 and 32 units no sentence was right; 128 units had 19.2 (17.6–20.9) BLEU, 32 had 1.9 (0–3.1). It
# does not follow that more units are always better: each step costs more, and small models may need more steps.
#
# *Ratio.* Mean BLEU was 5.2 (3.6–7.6) with 0, 9.3 (5.8–11.1) with 0.5 and 19.2 (17.6–20.9) with 1. With 0 the decoder
# reads its own errors from the start. It does not follow that this holds for longer training. The training loss is
# measured on different inputs (own tokens or true ones), so rows cannot be compared; BLEU is measured free running in
# all rows.
#
# *Score function.* Dot had 19.2 (17.6–20.9) BLEU, additive 17.8 (11.9–22.2): the ranges overlap. It does not follow
# that the two are alike after more steps or at another learning rate.
#
# **Rubric.** 1 point: learning rate, with an expectation, a value of one's own, what the table shows with its spread,
# and one limit (few steps, three seeds, one schedule, the weight decay); an expectation that the table refutes counts
# as well. 1 point: hidden size, likewise. 1 point: ratio, likewise; the limit must be that the losses are computed on
# different decoder inputs. 1 point: score function, likewise.
# ### END SOLUTION

# %% [markdown]
# ## 10 · Extension: the decoder of Bahdanau's paper
#
# The context enters this decoder **inside the cell**, in both gates and in the candidate (appendix A.2.2). With $x$ for
# the embedding of the previous token, $s$ for the previous state, $c$ for the context:
#
# $$z = \sigma(W_z x + U_z s + C_z c), \qquad r = \sigma(W_r x + U_r s + C_r c)$$
# $$\tilde s = \tanh(W x + U (r \odot s) + C c), \qquad s_{new} = (1 - z) \odot s + z \odot \tilde s$$
#
# **This is not PyTorch's GRU** of session 1. In PyTorch's GRU z and 1 − z are exchanged, and r is applied *after* the
# product with U, not before it.
#
# ### Exercise 12 · The gated cell
#
# **Write** `forward` from the equations. Do not use `nn.GRUCell` or `nn.GRU`.
# - in: `embedded` (B, D), `hdec` (B, H), `context_vectors` (B, C), where C is the size of a context and no matrix; out:
#   the new `hdec` (B, H)
#
# *Tiny example.* If all weights and biases are 0, then z = 0.5 and s̃ = 0: the new state is half of the old one.
#
# *Minutes* 15 · *Difficulty* ●●○○ · *Extension*
#
# <details><summary>Hint 1 · the idea</summary>
# Four lines, one per equation, in the order in which they are needed: z, r, candidate, mixture.
# </details>
#
# <details><summary>Hint 2 · the shape</summary>
# Every term is (B, H); ⊙ is <code>*</code>. U multiplies r ⊙ s; U_z and U_r multiply s.
# </details>
#
# <details><summary>Hint 3 · the line</summary>
# <code>r = torch.sigmoid(self.W_r(embedded) + …)</code> with three terms. The biases are in the W layers.
# </details>

# %% exercise="gated-cell"
class GatedCell(nn.Module):
    """The decoder cell of Bahdanau, Cho and Bengio.

    The W layers have biases, which the paper's equations leave out.
    """

    def __init__(self, embedding_size, hidden_size, context_size):
        super().__init__()
        self.W, self.W_z, self.W_r = (
            nn.Linear(embedding_size, hidden_size) for _ in range(3))
        self.U, self.U_z, self.U_r = (
            nn.Linear(hidden_size, hidden_size, bias=False) for _ in range(3))
        self.C, self.C_z, self.C_r = (
            nn.Linear(context_size, hidden_size, bias=False) for _ in range(3))

    def forward(self, embedded, hdec, context_vectors):
        """Make one step: `embedded` (B, D), `hdec` (B, H), `context_vectors` (B, C)
        → the new `hdec` (B, H).
        """
        # TODO: the two gates, the candidate, the mixture of old and new
        ### BEGIN SOLUTION
        z = torch.sigmoid(self.W_z(embedded) + self.U_z(hdec)
                          + self.C_z(context_vectors))
        r = torch.sigmoid(self.W_r(embedded) + self.U_r(hdec)
                          + self.C_r(context_vectors))
        candidate = torch.tanh(self.W(embedded) + self.U(r * hdec)
                               + self.C(context_vectors))
        return (1 - z) * hdec + z * candidate
        ### END SOLUTION

# %% check="gated-cell" points=4
tp.check("gated-cell")

# %% demo="not-torch"
if tp.done("gated-cell"):
    ours, theirs = GatedCell(3, 4, 1), nn.GRUCell(3, 4)
    with torch.no_grad():
        # torch stacks its matrices in the order r, z, candidate
        theirs.weight_ih.copy_(torch.cat([ours.W_r.weight, ours.W_z.weight,
                                          ours.W.weight]))
        theirs.weight_hh.copy_(torch.cat([ours.U_r.weight, ours.U_z.weight,
                                          ours.U.weight]))
        theirs.bias_ih.copy_(torch.cat([ours.W_r.bias, ours.W_z.bias, ours.W.bias]))
        theirs.bias_hh.zero_()
        e, s = torch.randn(1, 3), torch.randn(1, 4)
        print("the paper's cell:", ours(e, s, torch.zeros(1, 1)).numpy().round(3))
        print("PyTorch's cell:  ", theirs(e, s).numpy().round(3),
              "with the same weights")

# %% [markdown]
# ### Exercise 13 · One step of Bahdanau's decoder
#
# **Write** `forward` of `PaperDecoder`: score the memory with the **previous** state; attend; compute the new state
# with the cell, from embedding, previous state and context; compute the logits from the **new** state and the context.
# In, out and shapes are those of exercise 5, and nothing is detached.
#
# *Tiny example.* At the first step the scores are computed from `hdec_init`, whatever the token.
#
# *Minutes* 10 · *Difficulty* ●●○○ · *Extension*
#
# <details><summary>Hint 1 · the idea</summary>
# You have all the parts: <code>self.embedding</code>, <code>self.score</code>, <code>attend</code>,
# <code>self.cell</code>, <code>self.readout</code>. Only their order is left.
# </details>
#
# <details><summary>Hint 2 · the shape</summary>
# [s; c] is (B, 2H): state first. The output layer turns it into (B, V).
# </details>
#
# <details><summary>Hint 3 · the line</summary>
# <code>attend(self.score(…, memory.keys), memory.mask, memory.henc_ts)</code>; <code>torch.cat([…, …], dim=-1)</code>.
# </details>

# %% exercise="paper-decoder"
class PaperDecoder(nn.Module):
    """Attention before the cell, context inside it.

    Attributes: `embedding`, `score`, `cell`, `readout`.
    """

    def __init__(self, vocabulary_size, embedding_size, hidden_size, score):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)
        self.score = score
        self.cell = GatedCell(embedding_size, hidden_size, hidden_size)
        self.readout = nn.Linear(2 * hidden_size, vocabulary_size)

    def forward(self, tokens, hdec, memory):
        """Make one step: `tokens` (B,), `hdec` (B, H)
        → `logits` (B, V), new `hdec` (B, H), `attention_weights` (B, S).
        """
        # TODO: context from the state before; new state; logits
        ### BEGIN SOLUTION
        context_vectors, attention_weights = attend(
            self.score(hdec, memory.keys), memory.mask, memory.henc_ts)
        hdec = self.cell(self.embedding(tokens), hdec, context_vectors)
        logits = self.readout(torch.cat([hdec, context_vectors], dim=-1))
        return logits, hdec, attention_weights
        ### END SOLUTION

# %% check="paper-decoder" points=4
tp.check("paper-decoder")

# %% training="train-paper"
RUN_PAPER = False  # True: a minute or two; then explore both models below

if RUN_PAPER and tp.done(*WHOLE, "gated-cell", "paper-decoder"):
    trained["paper's decoder"] = build(PaperDecoder, AdditiveScore)
    view = tp.live(steps=STEPS, title="the paper's decoder, additive score")
    learn(trained["paper's decoder"], train_set, view, validation=validation_set)
    view.plot()
    tp.explore({name: partial(decoding_steps, translator)
                for name, translator in trained.items()}, sentence)

# %% [markdown] answer="circular" points=2
# **Question 5.** A friend writes a decoder that scores with $s_t$ and feeds the resulting context $c_t$ *into the cell*
# that computes $s_t$. Why can this not be programmed? Name the two ways out, and what each of them costs.
#
# *Minutes* 5 · *Extension*
#
# ### BEGIN SOLUTION
# It is circular: c_t needs the scores, the scores need s_t, and s_t needs c_t. Bahdanau scores with s_{t−1}: the
# context is ready before the cell and enters its gates, but the score does not depend on the token just read. Luong
# steps the cell without the context and scores with s_t: the score depends on that token, but the context enters only
# in the output layer, and the next state depends on it only through the token that was chosen (unless the context is
# fed in as well).
#
# **Rubric.** 1 point: the circle is named (c_t ← s_t ← c_t). 1 point: both ways out, s_{t−1} before the cell and s_t
# after it, with one thing that each gives up.
# ### END SOLUTION

# %% [markdown]
# Most settings of the papers differ from ours. `tp.recipes` has their initial weights.
#
# <details><summary>The settings of both papers</summary>
#
# | setting | where |
# |---|---|
# | recurrent matrices U, U_z, U_r start orthogonal | 1409.0473, B.1 |
# | W_a and U_a start from N(0, 0.001²) | 1409.0473, B.1 |
# | v_a and all biases start at 0, all other weights from N(0, 0.01²) | 1409.0473, B.1 |
# | Adadelta, ρ = 0.95, ε = 10⁻⁶ | 1409.0473, B.2 |
# | gradient norm at most 1 | 1409.0473, B.2 |
# | batches of 80, sorted in pools of 20 | 1409.0473, B.2 |
# | 160 000 English and 80 000 French words, all others UNK | 1409.3215, 3.1 |
# | the objective: mean log-probability of the right translation | 1409.3215, 3.2 |
# | a beam of 1 is good, a beam of 2 has most of what a wider one brings | 1409.3215, 3.2 |
# | four LSTM layers of 1000 cells, embeddings of 1000 numbers | 1409.3215, 3.4 |
# | all weights uniform in (−0.08, 0.08) | 1409.3215, 3.4 |
# | SGD with rate 0.7, no momentum, halved every half epoch after epoch 5 of 7.5 | 1409.3215, 3.4 |
# | gradient rescaled to norm 5 when ‖g‖ > 5; g is its sum over the batch, divided by 128 | 1409.3215, 3.4 |
# | the source is read backwards, so that its first words are close to the first target words | 1409.3215, 3.3 |
#
# We did not build the gated cell of 1409.0473's encoder, nor its output layer. That layer reads $s_{t-1}$, $c_t$ and
# the embedding of the previous token, and has a maxout before the softmax (appendix A.2.2).
#
# </details>

# %% demo="recipes"
from tp import recipes

if tp.done(*WHOLE, "gated-cell", "paper-decoder"):
    started = build(PaperDecoder, AdditiveScore)
    recipes.start_as_bahdanau(started)
    square = started.decoder.cell.U.weight
    assert torch.allclose(square @ square.T, torch.eye(len(square), device=device),
                          atol=1e-4), "U is not orthogonal"
    print("standard deviation of W_a:", f"{started.decoder.score.W_a.weight.std():.4f}")

# %% [markdown]
# ## 11 · Extension: attention weight and effect
#
# A large weight does not show that the output depends on the vector. Whether attention weights explain an output is
# disputed (Jain and Wallace 2019, [arXiv 1902.10186](https://arxiv.org/abs/1902.10186); Wiegreffe and Pinter 2019,
# [arXiv 1908.04626](https://arxiv.org/abs/1908.04626)). An **intervention** tests it: change the vector of one word,
# and measure the change of the output.
#
# ### Exercise 14 · Overwrite one vector
#
# **Write** `effects`. For each source word in turn, its encoder vector is overwritten by the mean of the sentence's S
# vectors. This is a **mean ablation** within the sentence. (Session 6 takes the mean of training words, before the
# encoder.) `effects` returns by how much the log-probability of each true token *falls*, under teacher forcing.
#
# - in: a `model`; `source` (S, 1), one sentence without padding; `target` (T, 1)
# - out: (T, S). Entry (t, s): the log-probability of `target[t]` with all vectors as they are, minus the one with
#   vector s overwritten. If the entry is large, the decoder needed the vector there; if it is near 0, the token is
#   as probable without it. No gradient is kept.
#
# Compute the keys again from the changed vectors. The decoder's first state stays as the encoder made it.
#
# *Tiny example.* With log-probability −0.1 for a token, and −2.3 when vector 3 is overwritten, the entry in column 3 is
# 2.2.
#
# *Minutes* 25 · *Difficulty* ●●●○ · *Extension*
#
# <details><summary>Hint 1 · the idea</summary>
# One batch does it all: S + 1 copies of the sentence. In copy s, vector s is overwritten; the last copy stays as it is.
# Then one loop over the target, as in exercise 6 with every decision true.
# </details>
#
# <details><summary>Hint 2 · the shape</summary>
# <code>henc_ts.repeat(1, S + 1, 1)</code> is (S, S + 1, H); position s of copy s is <code>[s, s]</code>. The mask is
# (S + 1, S), the tokens and the state have a batch axis of S + 1. Each step gives S + 1 numbers: the last minus the
# others.
# </details>
#
# <details><summary>Hint 3 · the line</summary>
# <code>Memory(changed, model.decoder.score.keys(changed), mask)</code>. <code>log_softmax</code> turns logits into
# log-probabilities; those of the true token are <code>logits.log_softmax(dim=-1)[:, token]</code>.
# </details>

# %% exercise="effects"
@torch.no_grad()
def effects(model, source, target):
    """Return (T, S): how much the log-probability of each true token falls when the
    vector of each source word is overwritten. `source` (S, 1), `target` (T, 1).
    """
    # TODO: a copy of the sentence for each overwritten vector, and one more;
    # then the decoder on the right translation
    ### BEGIN SOLUTION
    S = len(source)
    henc_ts, hdec_init = model.encoder(source, torch.tensor([S]))
    changed = henc_ts.repeat(1, S + 1, 1)
    for s in range(S):
        changed[s, s] = henc_ts[:, 0].mean(dim=0)
    mask = torch.ones(S + 1, S, dtype=torch.bool, device=source.device)
    memory = Memory(changed, model.decoder.score.keys(changed), mask)
    hdec, rows = hdec_init.repeat(S + 1, 1), []
    tokens = torch.full_like(source[0], SOS).repeat(S + 1)
    for token in target[:, 0]:
        logits, hdec, _ = model.decoder(tokens, hdec, memory)
        log_probabilities = logits.log_softmax(dim=-1)[:, token]
        rows.append(log_probabilities[-1] - log_probabilities[:-1])
        tokens = token.repeat(S + 1)
    return torch.stack(rows)
    ### END SOLUTION

# %% check="effects" points=4
tp.check("effects")

# %% [markdown]
# A second intervention: for each French word, the English word with the largest weight is masked. Its weight is 0, and
# the other weights grow; the vectors of its neighbours stay as they are. Is the French word still right?

# %% demo="right-without"
@torch.no_grad()
def right_without(model, source, target, weights):
    """Return whether each token of `target` (T, 1) is still written when the word with
    its largest weight is masked.
    """
    right, S = [], len(source)
    henc_ts, first = model.encoder(source, torch.tensor([S]))
    for t, s in enumerate(weights.argmax(dim=-1).tolist()):
        mask = torch.ones(1, S, dtype=torch.bool, device=device)
        mask[0, s] = False
        memory, hdec = Memory(henc_ts, model.decoder.score.keys(henc_ts), mask), first
        for token in [torch.full_like(target[0], SOS), *target[:t]]:
            logits, hdec, _ = model.decoder(token, hdec, memory)
        right.append((logits.argmax() == target[t]).item())
    return right

# %% demo="causal"
if tp.done(*WHOLE, "effects"):
    attended = clear = used = n = still = 0
    odd = []
    for pair, ids in zip(validation_set.pairs[:60], validation_set.ids):
        source, lengths, target = (part.to(device) for part in collate([ids]))
        weights = model(source, lengths.cpu(), target, [True] * len(target))[1][:, 0]
        needed = effects(model, source, target)
        kept = right_without(model, source, target, weights)
        words = (*pair.source_words, "<eos>")
        for t, links in enumerate(pair.alignment):
            most, use = weights[t].argmax().item(), needed[t].argmax().item()
            n, attended, still = n + 1, attended + (most in links), still + kept[t]
            if needed[t, use] >= 0.1:  # below, no vector has a clear effect
                clear, used = clear + 1, used + (use in links)
                if most != use:
                    odd.append([pair.target_words[t], words[most], words[use],
                                f"{needed[t, use]:.2f}"])
    print(f"{n} French words: largest weight on a gold word {attended / n:.1%}; "
          f"still right without the word of largest weight {still / n:.1%}")
    print(f"{clear} with an effect of 0.1 or more: largest effect of a gold word "
          f"{used / max(clear, 1):.1%}")
    if odd:
        tp.table(odd[:6],
                 ["French word", "largest weight on", "largest effect of", "effect"])

# %% [markdown]
# On the same sixty sentences, in our runs (five seeds), the largest weight was on a gold word for 98.5 to 99.2 % of the
# French words, and 12.2 to 17.8 % of them were still right without the word with the largest weight.

# %% [markdown] answer="looks-and-uses" points=2
# **Question 6.** (a) Read your numbers. In which French words do weight and intervention differ, and how large are the
# effects there? What can an arg-max over effects near 0 say? (b) A friend shows a heatmap and says "the network chose
# *rouge* because of *red*: see the dark cell". What does the share of words that are still right say for this claim,
# and what against it? Why can a decoder be right without the word with the largest weight?
#
# *Minutes* 8 · *Extension*
#
# ### BEGIN SOLUTION
# (a) Words and numbers of one's own; in our run one word: *avez*, with the largest weight on *give* and the largest
# effect from *did* (0.75). Where the effects are near 0 no vector was needed much, and the arg-max says nothing.
# Several vectors can carry what is needed: the vectors of neighbouring words depend on the word, too. (b) A large
# weight is an explanation only if the output changes when that word is taken away. In our run 16.2 % of the words are
# still right without it: the decoder's state predicts them from the previous words, the neighbours' vectors depend on
# the same word, and the first state comes from the sentence. More than four words in five become wrong, so most of
# these outputs depended on the word with the largest weight; the map alone does not tell which. (The mask also gives
# more weight to the other words, which may mislead the decoder.)
#
# **Rubric.** 1 point: words where they differ with their effects, or the remark that effects near 0 decide nothing. 1
# point: a weight is not an effect, although most of these outputs depended on the word, with one way in which the
# output can be right without the word (state, neighbours, first state).
# ### END SOLUTION

# %% [markdown]
# ## 12 · Extension: dropout, label smoothing, copying
#
# The first two methods are meant to reduce overfitting; question 7 asks what such changes do here. The third changes
# the output:
#
# - **dropout** (Srivastava et al. 2014): in training, each number $h_i$ of the vectors (B, H) becomes $m_i h_i / (1 -
#   p)$, where $m_i$ is 0 with probability p and 1 otherwise. Shape and expected value do not change. After
#   `model.eval()` nothing is dropped. We apply dropout to the embeddings and to the inputs of the output layer;
# - **label smoothing**: your ε of exercise 7;
# - **copying** (Luong et al. 2015, [arXiv 1410.8206](https://arxiv.org/abs/1410.8206); by attention weights, Jean et
#   al. 2015, [arXiv 1412.2007](https://arxiv.org/abs/1412.2007)): `<unk>` in the output is replaced by the English word
#   with the largest weight. `evaluate(…, copying=True)` does it; no cell here calls it.

# %% demo="dropout"
dropping = nn.Dropout(0.25)
print("in training:", dropping(torch.ones(8)).numpy().round(2))
assert torch.equal(dropping.eval()(torch.ones(8)), torch.ones(8)), "eval drops nothing"

# %% [markdown] answer="headroom" points=3
# **Question 7.** The next cell runs any change of `run_hard` when you set `RUN_HARD` to `True`: `smoothing=`,
# `dropout=`, `ratio=`, `hidden_size=`. (a) *Before you run anything*, write your prediction. Which of these changes
# moves BLEU most, and which way? Which one moves it least? Give a reason for both. (b) Try the one that you expect to
# move BLEU most, and no change, with three seeds each. Write down the means and ranges, and compare the difference with
# the spread. Does the lower training loss go with the higher BLEU? (c) Write one sentence that begins with "I would not
# dare to conclude".
#
# *Minutes* 20 · *Extension*
#
# ### BEGIN SOLUTION
# (a) A prediction with two reasons; it need not be right. (b) Numbers of one's own, with the change compared to the
# spread between seeds. The lower training loss need not go with the higher BLEU: greedy decoding depends on which word
# is the most probable, the loss on the probability of the right word, and a smoothed loss cannot come near 0. (c) For
# example: I would not dare to conclude that the change with the largest gain here also has the largest gain on real
# sentences; that two settings differ if their ranges overlap; or that a change without effect at this strength has none
# at others.
#
# **Rubric.** 1 point: a prediction of what moves BLEU and what does not, each with a reason, whether or not it came
# true. 1 point: three seeds of both, and the difference compared with the spread. 1 point: a limit of these runs that
# is named: number of seeds, one strength, one size of corpus, an artificial grammar, ranges that overlap.
# ### END SOLUTION

# %% training="hard"
RUN_HARD = False  # True: six trainings of 300 steps

if RUN_HARD and tp.done(*WHOLE):
    changes = {"none": {}, "label smoothing": {"smoothing": 0.1}}
    tp.experiment("change", changes, run_hard, steps=300, seeds=(0, 1, 2),
                  expected="write your prediction here")

# %% [markdown]
# ## 13 · Extension: cost and other applications

# %% [markdown] answer="costs" points=2
# **Question 8.** (a) How do time and memory of one translation grow with S and T, with attention and without? (b) Name
# an application other than translation, say what its source and target timesteps are, and whether its alignment runs in
# one direction (monotonic) or jumps.
#
# *Minutes* 5 · *Extension*
#
# ### BEGIN SOLUTION
# (a) With attention every target step scores every source step: S·T scores, each of cost H, and all S hidden vectors
# are kept. Without: S + T steps, and one vector is kept. (b) For example speech recognition: source timesteps are
# frames of sound, target timesteps characters; the alignment is monotonic. Summarisation: source words, summary words;
# it jumps. Captioning: regions of a picture (a grid, no order), words; it jumps.
#
# **Rubric.** 1 point: S·T against S + T, with the memory of S vectors. 1 point: an application with its timesteps and a
# reasoned word on monotonic or not.
# ### END SOLUTION

# %% [markdown]
# ## Summary
#
# You wrote a translator with attention, measured it by BLEU and alignment error rate, and planned experiments with
# their spread. Session 6 replaces the recurrence by attention.
#
# **Further reading**
#
# - Sennrich, Haddow and Birch 2016, [arXiv 1508.07909](https://arxiv.org/abs/1508.07909): subword units, the usual
#   answer to unknown words.
# - Post 2018, [arXiv 1804.08771](https://arxiv.org/abs/1804.08771): how to report BLEU so that numbers can be compared;
#   sacrebleu.
# - Ranzato, Chopra, Auli and Zaremba 2016, [arXiv 1511.06732](https://arxiv.org/abs/1511.06732): training on the
#   model's own outputs.

# %% demo="progress"
tp.progress()
