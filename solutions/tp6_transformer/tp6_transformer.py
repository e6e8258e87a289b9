# %% [markdown]
# # Session 6 · The Transformer and its interpretation
#
# A **Transformer** (Vaswani et al. 2017, [arXiv 1706.03762](https://arxiv.org/abs/1706.03762)) is made of attention,
# feed-forward networks, norms and sums. You write one, train it on session 5's corpus, and explain its outputs.
#
# **After this session you can**
# - write multi-head attention, rotary positional encoding, the block and the decoder;
# - read and replace any module's output;
# - explain an output by weights, gradients and interventions, on two models, and score the explanations;
# - ablate heads, and find the heads that do a task.
#
# **Time:** {time}. **In 90 minutes:** exercises 2, 4, 6, 7 and 8 and question 2, if your teacher lends 1, 3 and 5
# (`tp.borrow`). Otherwise two hours: exercises 1 to 8, question 2. **You need first:** sessions 3 and 5.
#
# **Sizes:** B sentences, S source and T target timesteps, D numbers in a token's vector, h heads, d numbers in a head's
# vector (D = h · d), V tokens in a vocabulary. The batch comes first.

# %% given="start"
import sys; sys.path.insert(0, "..")  # the helper package lies beside this folder
try:
    import tp
except ModuleNotFoundError as missing:
    sys.exit(f"{missing}: put this notebook back into its folder of the course, "
             "beside the folder tp, and start as the README or your teacher says")
tp.start("tp6_transformer")

# %% given="imports"
import math
import random
import time
from collections import Counter
from functools import partial

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import (pack_padded_sequence, pad_packed_sequence,
                                pad_sequence)

torch.set_num_threads(1)  # our tensors are small: one thread is faster than several
torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

PAD, SOS, EOS, UNK = range(4)  # the first four ids of every vocabulary, as in session 5
# True: train the scratchpads of part 9, and train longer in part 4 (some minutes)
LONG_RUNS = False

# %% [markdown]
# ## 1 · Queries, keys and values
#
# ![One query is compared with three keys; a softmax of the scores weighs the three
# values.](figures/query_key_value.svg)
#
# With session 5's dot score, each encoder vector was both compared and summed. Here it is mapped to two others: a
# **key**, which is compared with a **query**, and a **value**, which is summed.
#
# `attend` is the scaled dot-product attention of session 3, with any axes in front (the dots).

# %% given="attend"
def attend(query, key, value, mask=None, bias=None):
    """Return `context` (…, T, e) and `weights` (…, T, S).

    `query` (…, T, d), `key` (…, S, d), `value` (…, S, e).

    `mask` (…, T, S): True where attention is allowed. `bias` (…, T, S) is added to the
    scores. The scores are divided by √d, the standard deviation of the dot product of
    two vectors of d independent entries of mean 0 and variance 1 (session 3).
    """
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    if bias is not None:
        scores = scores + bias
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    weights = scores.softmax(dim=-1)
    return weights @ value, weights

# %% [markdown]
# ## 2 · Self-attention, heads, masks
#
# ![Left: every position attends to every other. Right: with a causal mask, only to itself and to earlier
# ones.](figures/self_attention.svg)
#
# In **self-attention** a sequence attends to itself: queries, keys and values are computed from the same vectors. Masks
# exclude some positions:
# - the **padding mask** excludes `PAD`;
# - the **causal mask** excludes later positions, because a decoder must not attend to the token that it predicts:
#   position t attends to 0 … t.
#
# ### Exercise 1 · Two masks
#
# **Write** `padding_mask` and `causal_mask`, True where attention is allowed.
# - `padding_mask(tokens)`: ids (B, S) → (B, 1, 1, S), the two axes of size 1 for heads and queries
# - `causal_mask(T, past=0, device=None)` → (T, past + T), on `device`. `past` positions precede the T queries (for part
#   8): query t may attend to 0 … past + t.
#
# *Tiny example.* `causal_mask(2, 1)` is `[[True, True, False], [True, True, True]]`.
#
# *Minutes* 6 · *Difficulty* ●●○○
#
# <details><summary>Hint 1 · the idea</summary>
# One compares ids with PAD; the other compares the position of the query with the position of the key.
# </details>
#
# <details><summary>Hint 2 · the shape</summary>
# <code>None</code> in an index adds an axis of size 1. The causal mask keeps the lower triangle of a matrix of ones,
# and the columns of the past.
# </details>
#
# <details><summary>Hint 3 · the line</summary>
# <code>torch.ones(…, dtype=torch.bool).tril(diagonal)</code> keeps everything up to a diagonal; 0 is the one that
# begins in the upper left corner, larger numbers lie further to the right.
# </details>

# %% exercise="masks"
def padding_mask(tokens):
    """Return a mask (B, 1, 1, S) of ids (B, S), True at real tokens."""
    # TODO: which ids are real tokens
    ### BEGIN SOLUTION
    return (tokens != PAD)[:, None, None, :]
    ### END SOLUTION


def causal_mask(T, past=0, device=None):
    """Return a mask (T, past + T), True where t may attend: at 0 … past + t."""
    # TODO: a lower triangle
    ### BEGIN SOLUTION
    return torch.ones(T, past + T, dtype=torch.bool, device=device).tril(past)
    ### END SOLUTION

# %% check="masks" points=2
tp.check("masks")

# %% [markdown]
# ### Several heads
#
# One softmax gives one set of weights. A word may need several. Therefore queries, keys and values are divided into h
# pieces of d = D / h numbers, and each piece has its own attention: h **heads**. The heads are one more axis in front,
# which `attend` accepts.
#
# Attention also needs the order of the vectors. An object of the class `Positions` adds it. The base class below adds
# nothing; part 3 has subclasses.

# %% given="positions-interface"
class Positions(nn.Module):
    """How the position of a token enters a Transformer: here not at all.

    The base class of the others.
    """

    def __init__(self, D, n_heads):
        super().__init__()
        self.n_heads = n_heads

    def add(self, x, start=0):
        """Return embedded tokens (B, T, D), with the positions start, … added."""
        return x

    def rotate(self, x, start=0):
        """Return queries or keys (B, h, T, d), rotated by the positions start, …"""
        return x

    def bias(self, T, S):
        """Return what to add to the scores of the last T of S positions.

        None, or a tensor (h, T, S).
        """
        return None

# %% [markdown]
# ### Exercise 2 · Multi-head attention
#
# **Write** the three methods of `MultiHeadAttention`. Queries have h heads. Keys and values have n: n = h, or 1 with
# `kv_heads=1` (**multi-query attention**).
# - `split(x)`: (B, T, n · d) → (B, n, T, d), for any n: the first d numbers belong to the first head
# - `remember(x, start=0)`: vectors (B, S, D) → `keys` and `values`, both (B, n, S, d): `self.W_k` and `self.W_v`, then
#   split. The keys go through `self.positions.rotate(…, start)`, the values do not.
# - `forward(x, keys, values, mask=None, start=0)`:
#   1. Compute queries from `x` (B, T, D) with `self.W_q`; split and rotate them.
#   2. Call `attend` with the mask and `self.positions.bias(T, S)`. Keep the weights (B, h, T, S) as
#      `self.attention_weights`.
#   3. Join the heads, (B, T, D), and apply `self.W_o`.
#
# Do not use `nn.MultiheadAttention`, its function, or `F.scaled_dot_product_attention`.
#
# *Tiny example.* D = 6 and 2 heads: the vector (1, 2, 3, 4, 5, 6) of a token is split into (1, 2, 3) and (4, 5, 6).
#
# *Minutes* 20 · *Difficulty* ●●●○
#
# <details><summary>Hint 1 · the idea</summary>
# To split, divide the last axis into two, heads and d, and then move the heads in front of the timesteps. To join, do
# the same backwards.
# </details>
#
# <details><summary>Hint 2 · the shape</summary>
# (B, T, n·d) → (B, T, n, d) → (B, n, T, d). A bare <code>reshape</code> to (B, n, T, d) would mix timesteps and heads.
# </details>
#
# <details><summary>Hint 3 · the line</summary>
# <code>x.unflatten(-1, (-1, self.head_size))</code>, then <code>transpose</code>; back: <code>transpose</code>, then
# <code>flatten(-2)</code>.
# </details>

# %% exercise="heads"
class MultiHeadAttention(nn.Module):
    """h heads of size d = D / h.

    Attributes: `W_q`, `W_k`, `W_v`, `W_o`, `head_size`, `positions`.
    """

    def __init__(self, D, n_heads, positions=None, kv_heads=None):
        super().__init__()
        self.head_size = D // n_heads
        # 1: one head of keys and values for all queries (Shazeer 2019,
        # arXiv 1911.02150)
        kv_size = (kv_heads or n_heads) * self.head_size
        self.W_q, self.W_o = nn.Linear(D, D), nn.Linear(D, D)
        self.W_k, self.W_v = nn.Linear(D, kv_size), nn.Linear(D, kv_size)
        self.positions = positions or Positions(D, n_heads)

    def split(self, x):
        """Return `x` (B, T, n · d) as (B, n, T, d)."""
        # TODO: a heads' axis of its own, in front of the timesteps
        ### BEGIN SOLUTION
        return x.unflatten(-1, (-1, self.head_size)).transpose(-3, -2)
        ### END SOLUTION

    def remember(self, x, start=0):
        """Return `keys` and `values`, both (B, n, S, d), of `x` (B, S, D).

        The first vector of `x` is at position `start`.
        """
        # TODO: keys and values, split; the keys through `positions.rotate`
        ### BEGIN SOLUTION
        return (self.positions.rotate(self.split(self.W_k(x)), start),
                self.split(self.W_v(x)))
        ### END SOLUTION

    def forward(self, x, keys, values, mask=None, start=0):
        """Return (B, T, D); `x` (B, T, D), `keys` and `values` (B, n, S, d).

        `mask` fits (B, h, T, S).
        """
        # TODO: queries, attention, heads joined, W_o
        ### BEGIN SOLUTION
        queries = self.positions.rotate(self.split(self.W_q(x)), start)
        bias = self.positions.bias(x.shape[1], keys.shape[-2])
        context, self.attention_weights = attend(queries, keys, values, mask, bias)
        return self.W_o(context.transpose(-3, -2).flatten(-2))
        ### END SOLUTION

# %% check="heads" points=6
tp.check("heads")

# %% [markdown]
# `nn.MultiheadAttention` with the same weights must give the same result.

# %% demo="same-as-torch-module"
if tp.done("masks", "heads"):
    ours, theirs = (MultiHeadAttention(24, 4),
                    nn.MultiheadAttention(24, 4, batch_first=True))
    with torch.no_grad():
        theirs.in_proj_weight.copy_(
            torch.cat([ours.W_q.weight, ours.W_k.weight, ours.W_v.weight]))
        theirs.in_proj_bias.copy_(
            torch.cat([ours.W_q.bias, ours.W_k.bias, ours.W_v.bias]))
        theirs.out_proj.weight.copy_(ours.W_o.weight)
        theirs.out_proj.bias.copy_(ours.W_o.bias)
    x = torch.randn(3, 6, 24)
    mask = causal_mask(6)
    result = ours(x, *ours.remember(x), mask)
    # theirs: True = forbidden
    expected, weights = theirs(x, x, x, attn_mask=~mask, average_attn_weights=False)
    print("largest difference from nn.MultiheadAttention: "
          f"{(result - expected).abs().max():.1e},",
          f"of the weights: {(ours.attention_weights - weights).abs().max():.1e}")

# %% [markdown]
# ## 3 · Positional encoding
#
# With neither a causal mask nor positions, self-attention is **permutation-equivariant**: if the words are permuted,
# the results are permuted in the same way. It reads a **bag of tokens** (session 3).

# %% demo="a-set"
if tp.done("heads"):
    torch.manual_seed(0)
    attention, x, order = (MultiHeadAttention(16, 2), torch.randn(1, 6, 16),
                           torch.randperm(6))
    results, of_permuted = (
        attention(x, *attention.remember(x)),
        attention(x[:, order], *attention.remember(x[:, order])))
    print("words permuted: largest difference from the permuted results",
          f"{(results[:, order] - of_permuted).abs().max():.1e}")

# %% [markdown]
# A **positional encoding** adds the position. Four are common:
#
# | way | where it enters | what it is |
# |---|---|---|
# | sinusoidal (Vaswani et al. 2017) | added to the embedding | a sine and a cosine of each of D/2 frequencies |
# | learned | added to the embedding | a row of a table for each position |
# | rotary ([Su et al. 2021](https://arxiv.org/abs/2104.09864)) | rotates queries and keys | an angle for each pair |
# | ALiBi ([Press et al. 2021](https://arxiv.org/abs/2108.12409)) | added to the scores | a penalty for distance |
#
# ![Four small pictures: sines and cosines added to an embedding, rows of a table, two arrows rotated by an angle, and a
# ramp of scores that falls with the distance.](figures/four_positions.svg)
#
# Your translator uses the rotary one.
#
# ### Exercise 3 · Rotary positional encoding
#
# Take the numbers of a query in pairs. Each pair is a vector in a plane. Rotate it by an angle that grows with the
# position: pair i at position t by $t \cdot 10000^{-2i/d}$. Do the same with the keys. The dot product of a rotated
# query and a rotated key depends on the positions only through their difference, including its sign.
#
# **Write** `rotate(x, start=0)`.
# - in: `x` (…, T, d), d even, its vectors at the positions start, start + 1, …; out: the same shape
# - pair i is (x_{2i}, x_{2i+1}) = (a, b); rotated by φ it is (a cos φ − b sin φ, a sin φ + b cos φ), at the same
#   columns
#
# *Tiny example.* With d = 2, the vector (1, 0) at position 1 becomes (0.54, 0.84).
#
# *Minutes* 12 · *Difficulty* ●●●○
#
# <details><summary>Hint 1 · the idea</summary>
# First a table of angles (T, d/2): position times frequency. The positions begin at <code>start</code>.
# </details>
#
# <details><summary>Hint 2 · the shape</summary>
# <code>torch.arange(0, d, 2)</code> is 2i for every i. a and b are <code>x[..., 0::2]</code> and
# <code>x[..., 1::2]</code>, both (…, T, d/2).
# </details>
#
# <details><summary>Hint 3 · the line</summary>
# <code>torch.stack([…, …], dim=-1).flatten(-2)</code> puts the pairs back where they were.
# </details>

# %% exercise="rotate"
def rotate(x, start=0):
    """Return `x` (…, T, d), each pair of numbers rotated.

    The vectors are at the positions start, start + 1, …
    """
    # TODO: angles; the two numbers of each pair, rotated
    ### BEGIN SOLUTION
    T, d = x.shape[-2:]
    frequencies = 10000 ** (-torch.arange(0, d, 2, device=x.device) / d)
    angles = (start + torch.arange(T, device=x.device))[:, None] * frequencies
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack([a * angles.cos() - b * angles.sin(),
                        a * angles.sin() + b * angles.cos()], dim=-1).flatten(-2)
    ### END SOLUTION

# %% check="rotate" points=3
tp.check("rotate")

# %% given="positions"
def sinusoidal(T, D):
    """Return (T, D): sin(t · 10000^(−2i/D)) in column 2i, cos in column 2i + 1."""
    frequencies = 10000 ** (-torch.arange(0, D, 2) / D)
    angles = torch.arange(T)[:, None] * frequencies
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)

def alibi(T, S, n_heads):
    """Return (h, T, S): minus slope times distance, for the last T of S positions."""
    distances = (torch.arange(S - T, S)[:, None] - torch.arange(S)).abs()
    slopes = 2.0 ** (-8 * torch.arange(1, n_heads + 1) / n_heads)
    return -slopes[:, None, None] * distances

class Sinusoidal(Positions):
    """Sines and cosines, made as small as our embeddings are at the start."""
    def __init__(self, D, n_heads, longest=512):
        super().__init__(D, n_heads)
        self.register_buffer("table", 0.2 * sinusoidal(longest, D), persistent=False)

    def add(self, x, start=0):
        return x + self.table[start:start + x.shape[1]]

class Learned(Positions):
    """A row for each of at most `longest` positions."""
    longest = 256

    def __init__(self, D, n_heads):
        super().__init__(D, n_heads)
        self.table = nn.Embedding(self.longest, D)
        nn.init.normal_(self.table.weight, std=0.2)

    def add(self, x, start=0):
        return x + self.table.weight[start:start + x.shape[1]]

class Rotary(Positions):
    """Queries and keys are rotated."""
    def rotate(self, x, start=0):
        return rotate(x, start)

class Alibi(Positions):
    """Scores fall with the distance."""
    def bias(self, T, S):
        return alibi(T, S, self.n_heads).to(device)

WAYS = {"none": Positions, "sinusoidal": Sinusoidal, "learned": Learned,
        "rotary": Rotary, "ALiBi": Alibi}

# %% [markdown]
# ## 4 · The block
#
# ![A block: the input goes up a line. Three parts stand beside it: self-attention, cross-attention, and
# a feed-forward network; each reads the line through a layer norm and adds its result to
# it.](figures/transformer_block.svg)
#
# A Transformer is a stack of **blocks** (or *layers*) of the same structure. One vector for each token runs through
# them: the **residual stream**. Each part of a block reads it, and *adds* its result:
# - **self-attention**;
# - in a decoder, **cross-attention**: the same class, with keys and values from the encoder;
# - a **feed-forward** network: two linear layers with a ReLU, max(0, x), between, for each token by itself.
#
# The sums grow from block to block, so the vector of each token is normalised to mean 0 and variance 1; then each entry
# gets a learned gain and shift. This is **layer norm** (Ba, Kiros and Hinton 2016,
# [arXiv 1607.06450](https://arxiv.org/abs/1607.06450)), `nn.LayerNorm` in PyTorch. **Post-norm** (Vaswani et
# al. 2017): norm(x + part(x)). **Pre-norm** (most models today; Xiong et al. 2020,
# [arXiv 2002.04745](https://arxiv.org/abs/2002.04745)): x + part(norm(x)).
#
# ### Exercise 4 · The forward pass of a block
#
# **Write** the two methods of `Block`.
# - `around(norm, x, part)`: one part with its residual and its norm, pre or post as `self.pre_norm` says. `norm` and
#   `part` are functions from (B, T, D) to (B, T, D).
# - `forward(x, mask=None, memory=None, memory_mask=None, cache=None)`: three parts in this order, each with `around`:
#   1. self-attention, with `self.norms[0]`. `remember` computes keys and values from **the input of this part** (the
#      normalised x, if pre-norm). If there is a `cache`, they go through `keys, values = cache.extend(keys, values)`
#      before the attention. The first vector of x is at position `start = len(cache)` (0 without a cache); `remember`
#      and the attention both need this `start`.
#   2. cross-attention, if `memory`, a pair (keys, values), is given: `self.cross`, under `memory_mask`, with
#      `self.norms[1]`.
#   3. `self.feed_forward`, with the last of the norms.
#
# *Tiny example.* With a part that returns zeros, pre-norm gives back x; post-norm gives norm(x).
#
# *Minutes* 20 · *Difficulty* ●●●○
#
# <details><summary>Hint 1 · the idea</summary>
# <code>around</code> is one line with an if. <code>forward</code> is three calls of it, the first with a small function
# of your own as its part.
# </details>
#
# <details><summary>Hint 2 · the shape</summary>
# Everything stays (B, T, D). <code>self.attention(x, keys, values, mask, start)</code>; <code>self.cross(x, *memory,
# memory_mask)</code>.
# </details>
#
# <details><summary>Hint 3 · the line</summary>
# A function inside the method:
# <code>def attend_to_itself(x): keys, values = self.attention.remember(x, start); …</code>.
# An empty cache is false for <code>if</code>, since its length is 0: test <code>cache is not None</code>.
# </details>

# %% exercise="block"
class Block(nn.Module):
    """Self-attention, perhaps cross-attention, and a feed-forward network.

    Attributes: `attention`, `cross` (None in an encoder), `feed_forward`, `norms`,
    `pre_norm`.
    """

    def __init__(self, D, n_heads, cross=False, positions=None, pre_norm=True,
                 kv_heads=None):
        super().__init__()
        self.attention = MultiHeadAttention(D, n_heads, positions, kv_heads)
        self.cross = MultiHeadAttention(D, n_heads, None, kv_heads) if cross else None
        self.feed_forward = nn.Sequential(
            nn.Linear(D, 4 * D), nn.ReLU(), nn.Linear(4 * D, D))
        self.norms = nn.ModuleList([nn.LayerNorm(D) for _ in range(3 if cross else 2)])
        self.pre_norm = pre_norm

    def around(self, norm, x, part):
        """Return `x` (B, T, D) after a part with its residual and its norm."""
        # TODO: x + part(norm(x)), or norm(x + part(x))
        ### BEGIN SOLUTION
        return x + part(norm(x)) if self.pre_norm else norm(x + part(x))
        ### END SOLUTION

    def forward(self, x, mask=None, memory=None, memory_mask=None, cache=None):
        """Return (B, T, D); `x` (B, T, D), `memory` a pair (B, n, S, d).

        A `cache` holds len(cache) positions.
        """
        # TODO: self-attention, cross-attention, feed-forward
        ### BEGIN SOLUTION
        start = 0 if cache is None else len(cache)

        def attend_to_itself(x):
            keys, values = self.attention.remember(x, start)
            if cache is not None:
                keys, values = cache.extend(keys, values)
            return self.attention(x, keys, values, mask, start)

        x = self.around(self.norms[0], x, attend_to_itself)
        if memory is not None:
            x = self.around(self.norms[1], x,
                            lambda x: self.cross(x, *memory, memory_mask))
        return self.around(self.norms[-1], x, self.feed_forward)
        ### END SOLUTION

# %% check="block" points=6
tp.check("block")

# %% [markdown]
# ### Encoder and decoder
#
# The encoder is given. With pre-norm there is one more norm at the end.
#
# Our embeddings begin with a standard deviation of 0.2; `Sinusoidal` is multiplied by 0.2, to have a similar size. In
# the paper of 2017 embeddings are **multiplied by √D** before the positions are added, and output layer and embedding
# are the same matrix (**weight tying**, Press and Wolf 2017, [arXiv 1608.05859](https://arxiv.org/abs/1608.05859)).

# %% given="encoder"
# what a decoder needs
STACK = ("masks", "heads", "block", "decoder")


class Encoder(nn.Module):
    """A stack of blocks over the source."""

    def __init__(self, V, D, n_heads, n_layers, positions=Sinusoidal, pre_norm=True):
        super().__init__()
        self.embedding = nn.Embedding(V, D)
        nn.init.normal_(self.embedding.weight, std=0.2)
        self.positions = positions(D, n_heads)
        self.blocks = nn.ModuleList([
            Block(D, n_heads, False, self.positions, pre_norm)
            for _ in range(n_layers)])
        self.norm = nn.LayerNorm(D) if pre_norm else nn.Identity()

    def forward(self, source):
        """Return vectors (B, S, D) of ids (B, S), and the padding mask (B, 1, 1, S)."""
        x, mask = self.positions.add(self.embedding(source)), padding_mask(source)
        for block in self.blocks:
            x = block(x, mask)
        return self.norm(x), mask

# %% [markdown]
# ### Exercise 5 · The decoder
#
# **Write** `forward` of `Decoder`: embed; add the positions; run through the blocks under a causal mask; norm; output
# layer.
#
# - in: `tokens` (B, T), ids; `memories`, from `remember`, a pair (keys, values) for each block, or None for a model
#   that has no source; `memory_mask`; `caches`, one for each block, or None
# - out: logits (B, T, V)
# - with caches, the tokens stand at the positions start, start + 1, … with `start = len(caches[0])`: the positions are
#   added from there on, and the causal mask has `past=start`. Take `len` **before** the blocks run, because they extend
#   the caches.
#
# *Tiny example.* Two tokens, a past of 3: the mask is `causal_mask(2, 3)`, (2, 5).
#
# *Minutes* 12 · *Difficulty* ●●●○
#
# <details><summary>Hint 1 · the idea</summary>
# The encoder's <code>forward</code> with four additions: start, causal mask, each block's own memory and cache, output
# layer.
# </details>
#
# <details><summary>Hint 2 · the shape</summary>
# The mask (T, start + T) fits (B, h, T, start + T) as it is. Put it on the device of the tokens.
# </details>
#
# <details><summary>Hint 3 · the line</summary>
# <code>for i, block in enumerate(self.blocks)</code>, with <code>memories[i] if memories else None</code>; the same for
# the caches.
# </details>

# %% exercise="decoder"
class Decoder(nn.Module):
    """A stack of causal blocks.

    Attributes: `embedding`, `positions`, `blocks`, `norm`, `readout`.
    """

    def __init__(self, V, D, n_heads, n_layers, cross=True, positions=Sinusoidal):
        super().__init__()
        self.embedding = nn.Embedding(V, D)
        nn.init.normal_(self.embedding.weight, std=0.2)
        self.positions = positions(D, n_heads)
        self.blocks = nn.ModuleList([
            Block(D, n_heads, cross, self.positions) for _ in range(n_layers)])
        self.norm = nn.LayerNorm(D)
        self.readout = nn.Linear(D, V)

    def remember(self, memory):
        """Return for each block its pair (keys, values), the `memory` of `Block`.

        Here `memory` is the encoder's vectors (B, S, D).
        """
        return [block.cross.remember(memory) for block in self.blocks]

    def forward(self, tokens, memories=None, memory_mask=None, caches=None):
        """Return logits (B, T, V) of `tokens` (B, T)."""
        # TODO: embed, add the positions, causal mask, blocks, norm, output layer
        ### BEGIN SOLUTION
        start = len(caches[0]) if caches else 0
        x = self.positions.add(self.embedding(tokens), start)
        mask = causal_mask(tokens.shape[1], start, tokens.device)
        for i, block in enumerate(self.blocks):
            x = block(x, mask, memories[i] if memories else None, memory_mask,
                      caches[i] if caches else None)
        return self.readout(self.norm(x))
        ### END SOLUTION

# %% check="decoder" points=5
tp.check("decoder")

# %% [markdown]
# ### Positional encodings on longer inputs
#
# The task: read digits, and write at each position **the digit two positions earlier**. We train on 16 positions, with
# three seeds, and test on 16, 32 and 64. (The first two positions of a row do not count.)

# %% given="echo"
def echo_batch(B, T):
    """Return random digits (B, T), and at each position the digit two earlier.

    At the first two positions it is −100, which is not counted.
    """
    digits = torch.randint(0, 10, (B, T), device=device)
    return digits, torch.cat(
        [torch.full_like(digits[:, :2], -100), digits[:, :-2]], dim=1)


def train_echo(model, steps, title="", rate=3e-3, warm=30):
    """Train `model` on 16 positions, and return the view.

    The learning rate rises for `warm` steps and falls in a straight line.
    """
    optimizer = torch.optim.AdamW(model.parameters(), rate, betas=(0.9, 0.98))
    view = tp.live(steps=steps, title=title)
    for step in view:
        optimizer.param_groups[0]["lr"] = rate * min(
            (step + 1) / warm, 1 - step / steps)
        digits, target = echo_batch(32, 16)
        loss = F.cross_entropy(model(digits).flatten(0, 1), target.flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        view.log(loss=loss)
    return view


@torch.no_grad()
def echo_right(model, T):
    """Return the share of right digits on 50 rows of T positions."""
    digits, target = echo_batch(50, T)
    counted = target >= 0
    return (model(digits).argmax(-1) == target)[counted].float().mean().item()


def bag_right(T):
    """Return the share of right digits if the most frequent digit before is written."""
    digits, _ = echo_batch(2000, T)
    counts = F.one_hot(digits, 10).cumsum(dim=1)[:, 1:-1].amax(dim=-1)
    return (counts / torch.arange(2, T, device=device)).mean().item()

# %% given="spread"
def spread(values, digits=0):
    """Return shares as text, in per cent: the median (smallest–largest)."""
    if len(values) == 1:
        return f"{100 * values[0]:.{digits}f}"
    low, middle, high = (
        f"{100 * v:.{digits}f}"
        for v in (min(values), sorted(values)[len(values) // 2], max(values)))
    return f"{middle} ({low}–{high})"

# %% training="which-positions"
if tp.done(*STACK, "rotate"):
    rows = []
    for name in ("none", "learned", "rotary"):
        found = {16: [], 32: [], 64: []}
        for seed in range(3):
            torch.manual_seed(seed)
            writer = Decoder(10, 32, 4, 2, cross=False, positions=WAYS[name]).to(device)
            train_echo(writer, 1000 if LONG_RUNS else 250, f"{name}, seed {seed}")
            for T in found:
                found[T].append(echo_right(writer, T))
        rows.append([name, *(spread(shares) for shares in found.values())])
    rows.append(["best answer without order", *(spread([bag_right(T)]) for T in found)])
    tp.table(rows, ["positional encoding", "16 positions", "32", "64"],
             caption="Right digits, %: median of three seeds (smallest–largest). "
                     "Chance level: 10.")

# %% [markdown]
# In our runs learned and rotary positional encoding had all digits right at the training length. With 64 positions
# rotary had 69 % (67–69), and learned 35 % (34–35). Learned vectors of positions 16 to 63 were never trained. Why
# rotary falls is untested.
#
# Why is a model **without** positional encoding better than chance? It can use which digits the prefix contains (at
# best the last row). At 32 and 64 positions it has more, so it also uses some order. Haviv et al. 2022 ([arXiv
# 2203.16634](https://arxiv.org/abs/2203.16634)) found that such models learn positions, and conjecture that the causal
# mask lets them count the tokens before.
#
# ### Extension: pre-norm and post-norm at two depths
#
# We train on the same task with learned positional encoding, with 2 and 8 blocks, at a high learning rate without
# warm-up.

# %% given="deep"
class Deep(nn.Module):
    """A causal stack of `n_layers` blocks, from ids (B, T) to logits (B, T, 10)."""

    def __init__(self, n_layers, pre_norm, D=32, n_heads=4):
        super().__init__()
        self.encoder = Encoder(10, D, n_heads, n_layers, Learned, pre_norm)
        self.readout = nn.Linear(D, 10)

    def forward(self, tokens):
        x = self.encoder.positions.add(self.encoder.embedding(tokens))
        for block in self.encoder.blocks:
            x = block(x, causal_mask(tokens.shape[1], 0, tokens.device))
        return self.readout(self.encoder.norm(x))

# %% training="depth"
if tp.done(*STACK):
    rows = []
    for depth in (2, 8):
        for name, pre_norm in (("pre-norm", True), ("post-norm", False)):
            losses, right = [], []
            for seed in range(3):
                torch.manual_seed(seed)
                deep = Deep(depth, pre_norm).to(device)
                view = train_echo(deep, 400 if LONG_RUNS else 100,
                                  f"{depth} blocks, {name}, seed {seed}", 1e-2, 1)
                losses.append(view.history["loss"][-1][1])
                right.append(echo_right(deep, 16))
            rows.append([
                depth, name,
                f"{sorted(losses)[1]:.2f} ({min(losses):.2f}–{max(losses):.2f})",
                spread(right)])
    tp.table(rows, ["blocks", "norm", "last loss", "right digits, %"],
             caption="Three seeds: median (smallest–largest). "
                     "Chance level: loss 2.30, 10 %.")

# %% [markdown] answer="norm-and-depth" points=2
# **Question 1.** (a) What does your table show about depth, and what does it *not* show? (b) Which layers does the
# gradient pass on its way from the last block to the embedding along the residual stream, with pre-norm and with
# post-norm?
#
# *Minutes* 5 · *Extension*
#
# ### BEGIN SOLUTION
# (a) The table compares pre-norm and post-norm at one high learning rate, without warm-up, for few steps. In the run
# above both have all digits right with two blocks; with eight, post-norm stays at chance level with all three seeds. It
# does not show that a deep post-norm stack cannot be trained: a lower learning rate or a longer warm-up may do. By
# chance, all three seeds of one kind would lie above all three of the other, or below, once in ten (2 of 20 orders).
#
# (b) With pre-norm the stream is a plain sum: its derivative contains the identity, through any number of blocks. With
# post-norm all norms lie on the stream, and each rescales the gradient.
#
# **Rubric.** 1 point: the table read with its limits (learning rate, steps, seeds). 1 point: the identity path against
# a norm in every block.
# ### END SOLUTION

# %% [markdown]
# ## 5 · The translator
#
# The corpus is that of session 5, with words of two senses: *bat* is *chauve-souris* or *batte*. The English side has
# no `EOS`, and there is no curriculum.

# %% given="batches"
class Words:
    """The words of a language, frequent ones first: `ids` by word, `words` by id."""

    def __init__(self, sentences):
        counts = Counter(word for sentence in sentences for word in sentence)
        self.words = ["<pad>", "<sos>", "<eos>", "<unk>",
                      *(word for word, _ in counts.most_common())]
        self.ids = {word: i for i, word in enumerate(self.words)}

    def encode(self, words):
        """Return the ids of words."""
        return [self.ids.get(word, UNK) for word in words]

    def decode(self, ids):
        """Return the words of ids, up to EOS or PAD."""
        end = next((i for i, number in enumerate(ids) if number in (EOS, PAD)),
                   len(ids))
        return [self.words[number] for number in ids[:end]]


def rows_of(pairs):
    """Return pairs of lists of ids, EOS after the French ones."""
    return [(english.encode(pair.source_words),
             french.encode(pair.target_words) + [EOS]) for pair in pairs]


def padded(rows):
    """Return B pairs of lists of ids as `source` (B, S), `target` (B, T)."""
    sides = ([torch.tensor(row[side]) for row in rows] for side in (0, 1))
    return tuple(pad_sequence(side, batch_first=True).to(device) for side in sides)


def batches_of(rows, batch_size=64, seed=0):
    """Yield batches without end.

    In each pool of 40 batches, sentences of similar length are together.
    """
    rng = random.Random(seed)
    while True:
        pool = sorted(rng.sample(rows, min(40 * batch_size, len(rows))),
                      key=lambda row: len(row[0]))
        batches = [pool[i:i + batch_size] for i in range(0, len(pool), batch_size)]
        rng.shuffle(batches)
        yield from map(padded, batches)


# %% demo="corpus"
from tp import corpus as grammar
from tp.difficulty import Difficulty

corpus = grammar.load(
    *((2_000, 100, 100) if tp.quick() else (40_000, 500, 1_000)), seed=0,
    difficulty=Difficulty(senses=True))
english, french = (Words(pair.source_words for pair in corpus.train),
                   Words(pair.target_words for pair in corpus.train))
train_rows, validation_rows, test_rows = (rows_of(part) for part in corpus)
print(len(english.words), "English ids,", len(french.words), "French ids")

# %% [markdown]
# In session 5 the decoder was called once for each word, also in training. Here one call computes the logits of all
# positions, because the mask is causal. The decoder reads the target **shifted** by one: `SOS`, then all target tokens
# but the last. This is teacher forcing for all timesteps at once.

# %% given="transformer"
WHOLE = STACK + ("rotate",)


def shifted(target):
    """Return the decoder's input (B, T): SOS, then all of `target` but the last."""
    return torch.cat([torch.full_like(target[:, :1], SOS), target[:, :-1]], dim=1)


class Transformer(nn.Module):
    """An encoder and a decoder."""

    def __init__(self, encoder, decoder):
        super().__init__()
        self.encoder, self.decoder = encoder, decoder

    def forward(self, source, target):
        """Return logits (B, T, V) of `source` (B, S) and `target` (B, T)."""
        memory, memory_mask = self.encoder(source)
        return self.decoder(shifted(target), self.decoder.remember(memory), memory_mask)


def build(n_heads=4, n_layers=1, D=64, positions=Rotary, seed=0, cross_heads=None):
    """Return an untrained translator for our two vocabularies.

    `cross_heads`: the number of cross-attention heads, if it is not `n_heads`.
    """
    torch.manual_seed(seed)
    encoder = Encoder(len(english.words), D, n_heads, n_layers, positions)
    decoder = Decoder(len(french.words), D, n_heads, n_layers, True, positions)
    if cross_heads:
        for block in decoder.blocks:
            block.cross = MultiHeadAttention(D, cross_heads)
    return Transformer(encoder, decoder).to(device)

# %% demo="parameters"
if tp.done(*WHOLE):
    translator = build()
    parameters = sum(p.numel() for p in translator.parameters())
    tied = translator.decoder.readout.weight.numel()
    print(f"{parameters} parameters; {tied} fewer with a tied output layer "
          f"({tied / parameters:.0%})")
    D = translator.encoder.embedding.weight.shape[1]
    for name, vectors in (
            ("embeddings, ours", translator.encoder.embedding.weight),
            ("positions, ours", 0.2 * sinusoidal(20, D)),
            ("embeddings of std 1/√D", torch.randn(1000, D) / D ** 0.5),
            ("the same times √D", torch.randn(1000, D)),
            ("positions, Vaswani's", sinusoidal(20, D))):
        print(f"norm of {name}: {vectors.norm(dim=-1).mean():.2f}")

# %% [markdown]
# Loss, clipping, weight decay and learning-rate schedule are those of session 5.

# %% given="learn"
def loss_of(model, source, target):
    """Return the mean loss of a batch (B, S), (B, T); PAD does not count."""
    return F.cross_entropy(model(source, target).flatten(0, 1), target.flatten(),
                           ignore_index=PAD)


def learn(model, rows, view, rate=5e-3, seed=0, validation=None):
    """Train `model` on rows of (source ids, target ids) until `view` ends.

    With `validation`, other rows, their loss is logged every 100 steps.
    """
    optimizer = torch.optim.AdamW(model.parameters(), rate, betas=(0.9, 0.98),
                                  weight_decay=0.3, fused=True)
    held_out = padded(validation) if validation else None
    for step, (source, target) in zip(view, batches_of(rows, seed=seed)):
        warm = min(1, (step + 1) / 50) * (
            0.5 + 0.5 * math.cos(math.pi * view.progress()))
        optimizer.param_groups[0]["lr"] = rate * warm
        loss = loss_of(model, source, target)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        view.log(loss=loss)
        if validation and step % 100 == 99:
            with torch.no_grad():
                view.log(val_loss=loss_of(model, *held_out))

# %% training="train-translator"
if tp.done(*WHOLE):
    model = build()
    view = tp.live(steps=1500, title="Transformer, one block, 64 units, 4 heads")
    learn(model, train_rows, view, validation=validation_rows)
    view.plot()

# %% given="slow-greedy"
@torch.no_grad()
def greedy_slowly(model, source, max_length=30):
    """Return `tokens` (B, T) for `source` (B, S), PAD after EOS.

    Recompute the whole prefix at each step.
    """
    memory, memory_mask = model.encoder(source)
    memories = model.decoder.remember(memory)
    tokens = torch.full_like(source[:, :1], SOS)
    for _ in range(max_length):
        finished = (tokens == EOS).any(dim=1)
        if finished.all():
            break
        new = model.decoder(tokens, memories, memory_mask)[:, -1].argmax(
            dim=-1).masked_fill(finished, PAD)
        tokens = torch.cat([tokens, new[:, None]], dim=1)
    return tokens[:, 1:]


def sentences_right(model, rows, decode=greedy_slowly):
    """Return whether the translation of each row is an exact match: booleans."""
    right = []
    for i in range(0, len(rows), 100):
        source, _ = padded(rows[i:i + 100])
        for ids, (_, target) in zip(decode(model, source).tolist(), rows[i:i + 100]):
            right.append(french.decode(ids) == french.decode(target) and EOS in ids)
    return right

# %% demo="how-well"
if tp.done(*WHOLE):
    right = sentences_right(model, test_rows)
    print(f"exact match: {100 * sum(right) / len(right):.1f} % of {len(right)} "
          "unseen sentences")
    by_length = {}
    for pair, was in zip(corpus.test, right):
        by_length.setdefault(min((len(pair.source_words) - 1) // 4, 3), []).append(was)
    names = ["4", "5 to 8", "9 to 12", "13 or more"]
    tp.table([[names[k], len(by_length[k]),
               f"{100 * sum(by_length[k]) / len(by_length[k]):.1f}"]
              for k in sorted(by_length)],
             ["English tokens", "sentences", "exact match, %"])

# %% [markdown]
# **Against session 5.** We trained both translators on this corpus with five seeds. Exact match on 500 unseen
# sentences, median (smallest–largest): session 5's translator 97.4 % (97.0–97.6) after 1 000 steps, the Transformer
# 98.2 % (98.0–98.6) after 1 500. Steps, curriculum and sizes differ, so this does not compare the architectures.

# %% [markdown]
# ## 6 · Explanations, scored by a gold alignment
#
# On which English word does a French word of the output depend? An **explanation** gives each pair of a French word t
# and an English word s a number: a map (T, S). We compare explanations with interventions, and with session 5's gold
# alignment. Whether attention weights are an explanation is disputed:
# - Jain and Wallace 2019 ([arXiv 1902.10186](https://arxiv.org/abs/1902.10186)) found very different weights with
#   nearly the same output.
# - Serrano and Smith 2019 ([arXiv 1906.03731](https://arxiv.org/abs/1906.03731)) found that weights predict only
#   roughly which inputs matter.
# - Wiegreffe and Pinter 2019 ([arXiv 1908.04626](https://arxiv.org/abs/1908.04626)) answer that it depends on the
#   definition of explanation.
# - Bastings and Filippova 2020 ([arXiv 2010.05607](https://arxiv.org/abs/2010.05607)) recommend gradients and
#   other measures of sensitivity (**saliency**).
#
# `tp.trace(model)` reads the **activations** (the first input and the output of every module) in a forward pass, by
# name, and replaces those that you name:
#
#     with tp.trace(model) as seen:                  # seen["encoder.norm"]: the output of model.encoder.norm
#         model(source, target)                      # seen["encoder.norm:in"]: its first input
#     with tp.trace(model, {"encoder.norm": x}):     # replaced by x, a tensor or a function of the old one
#         model(source, target)

# %% demo="traced"
if tp.done(*WHOLE):
    pair = next(pair for pair in corpus.validation if len(pair.target_words) == 7)
    source, target = padded(rows_of([pair]))
    with tp.trace(model) as seen:
        model(source, target)
    print(*pair.source_words, "→", *pair.target_words)
    tp.table([[name, tuple(tensor.shape)] for name, tensor in seen.items()
              if name.startswith("decoder") and name.count(".") in (2, 3)],
             ["activation", "shape"],
             caption=f"Some of the {len(seen)} activations")

# %% [markdown]
# The **top link** of a French word is the English word with the largest number in a map. **Precision**: the share of
# French words whose top link is a gold link. **Recall**: the share of English words with a gold link that are the top
# link of one of their French words.

# %% given="aligned"
def aligned(weights, alignments):
    """Return the precision of the top links of each head, (h,).

    A list of weights (h, T', S'), a list of gold alignments.
    """
    hits, words = torch.zeros(len(weights[0])), 0
    for maps, alignment in zip(weights, alignments):
        for top, links in zip(maps.argmax(dim=-1).T.tolist(), alignment):
            hits += torch.tensor([float(s in links) for s in top])
            words += 1
    return hits / words


def top_links(maps, alignments):
    """Return the top links of all French words; maps (T', S'), gold alignments."""
    return [s for one, alignment in zip(maps, alignments)
            for s, _ in zip(one.argmax(dim=-1).tolist(), alignment)]


def recall(maps, alignments):
    """Return the share of linked English words that a top link finds."""
    found = linked = 0
    for one, alignment in zip(maps, alignments):
        top = one.argmax(dim=-1).tolist()
        linked += len({s for links in alignment for s in links})
        found += len({s for s, links in zip(top, alignment) if s in links})
    return found / linked

# %% [markdown]
# ### Exercise 6 · Weight × norm
#
# A large attention weight may multiply a small value, or `W_o` may map the value to 0. The **norm-based analysis** of
# Kobayashi et al. 2020 ([arXiv 2004.10102](https://arxiv.org/abs/2004.10102)) takes the norm of the vector that
# position t receives from position s, $\sum_k \alpha^{k}_{ts}\, W_o^{k} v^{k}_s$, with heads k.
#
# **Write** `read_norms(weights, values, W_o)`.
# - in: `weights` (h, T, S), `values` (h, S, d), `W_o` (D, h · d), a matrix as `nn.Linear` keeps it: its columns 0 … d −
#   1 belong to head 0
# - out: (T, S), the norm of the vector that t receives from s
#
# *Tiny example.* One head, T = S = 1, weight 0.5, value (3, 4), `W_o` the identity: 2.5.
#
# *Minutes* 8 · *Difficulty* ●●○○
#
# <details><summary>Hint 1 · the idea</summary>
# First compute all vectors; take the norm last. The vectors of two heads may cancel.
# </details>
#
# <details><summary>Hint 2 · the shape</summary>
# <code>W_o.unflatten(1, (h, d))</code> is (D, h, d). The vectors are (T, S, D): h and d are summed away.
# </details>
#
# <details><summary>Hint 3 · the line</summary>
# <code>torch.einsum("hts,hsd,ohd->tso", …)</code>, then <code>norm</code> over the last axis.
# </details>

# %% exercise="read-norms"
def read_norms(weights, values, W_o):
    """Return (T, S); `weights` (h, T, S), `values` (h, S, d), `W_o` (D, h · d)."""
    # TODO: what t receives from s, summed over the heads; its norm
    ### BEGIN SOLUTION
    matrices = W_o.unflatten(1, (values.shape[0], -1))
    return torch.einsum("hts,hsd,ohd->tso", weights, values, matrices).norm(dim=-1)
    ### END SOLUTION

# %% check="read-norms" points=3
tp.check("read-norms")

# %% [markdown]
# The other explanations need one function of the embedded source. `log_prob` takes B versions of it, (B, S, D), and
# returns (B, T): the log-probability of each token of the reference translation, in **nats** (natural logarithm).
# `log_prob_of` makes it for any translator.

# %% given="log-prob"
def log_prob_of(model, source, target):
    """Return the function `log_prob`, from (B, S, D) to (B, T).

    `source` (1, S), `target` (1, T).
    """
    def log_prob(x):
        with tp.trace(model, {"encoder.embedding": x}):
            logits = model(source.expand(len(x), -1), target.expand(len(x), -1))
        words = target.expand(len(x), -1)[:, :, None]
        return logits.log_softmax(dim=-1).gather(-1, words)[..., 0]
    return log_prob

# %% [markdown]
# ### Exercise 7 · Gradient × input, and integrated gradients
#
# The gradient $g_{ts} = \partial \log p_t / \partial x_s$ describes how the log-probability of token t changes if the
# vector $x_s$ changes a little. **Gradient × input** is the dot product $g_{ts} \cdot x_s$. Where the probability is
# nearly 1, the gradient is nearly 0 although the word matters (**saturation**). **Integrated gradients** (Sundararajan,
# Taly and Yan 2017, [arXiv 1703.01365](https://arxiv.org/abs/1703.01365)) take the mean gradient on the straight line
# from a **baseline** b to x: $\bar g_{ts} \cdot (x_s - b_s)$. With many small steps these numbers add up, over all s,
# to $\log p_t(x) - \log p_t(b)$.
#
# **Write**, for one sentence `x` (S, D):
# - `slopes(log_prob, x)` → (T, S, D), the gradients
# - `gradient_times_input(log_prob, x)` → (T, S)
# - `integrated_gradients(log_prob, x, baseline, steps=8)`, `baseline` (S, D) → (T, S). The mean is over the midpoints
#   of `steps` equal pieces: at 1/2, 3/2, … of a piece from the baseline.
#
# *Tiny example.* One token, one number, x = 3, baseline 0, and f(x) = x² as `log_prob`. The gradient is 6, gradient ×
# input 18, integrated gradients 9 = f(3) − f(0).
#
# *Minutes* 12 · *Difficulty* ●●●○
#
# <details><summary>Hint 1 · the idea</summary>
# One gradient for each t. Give T copies of the sentence to <code>log_prob</code> at once, and use number t of copy t
# only.
# </details>
#
# <details><summary>Hint 2 · the shape</summary>
# T is <code>log_prob(x[None]).shape[1]</code>. Of T copies <code>log_prob</code> returns (T, T); you need its diagonal.
# </details>
#
# <details><summary>Hint 3 · the line</summary>
# <code>copies = x.detach().repeat(T, 1, 1).requires_grad_()</code>; <code>torch.autograd.grad(total, copies)[0]</code>,
# where <code>total</code> is the sum of the diagonal.
# </details>

# %% exercise="gradients"
def slopes(log_prob, x):
    """Return gradients (T, S, D); `log_prob` from (B, S, D) to (B, T), `x` (S, D)."""
    # TODO: the gradient of each of the T numbers
    ### BEGIN SOLUTION
    copies = x.detach().repeat(log_prob(x[None]).shape[1], 1, 1).requires_grad_()
    return torch.autograd.grad(log_prob(copies).diagonal().sum(), copies)[0]
    ### END SOLUTION


def gradient_times_input(log_prob, x):
    """Return (T, S) for `x` (S, D)."""
    # TODO: a dot product for each t and s
    ### BEGIN SOLUTION
    return (slopes(log_prob, x) * x).sum(dim=-1)
    ### END SOLUTION


def integrated_gradients(log_prob, x, baseline, steps=8):
    """Return (T, S) for `x` and `baseline`, both (S, D)."""
    # TODO: the mean gradient between baseline and x, times their difference
    ### BEGIN SOLUTION
    mean = sum(slopes(log_prob, baseline + (step + 0.5) / steps * (x - baseline))
               for step in range(steps)) / steps
    return (mean * (x - baseline)).sum(dim=-1)
    ### END SOLUTION

# %% check="gradients" points=4
tp.check("gradients")

# %% [markdown]
# ### Exercise 8 · Ablation of a word
#
# A gradient describes small changes. An **ablation** runs the model again with the vector of one word replaced: by the
# mean of training words (**mean ablation**), or by the vectors of random ones (**resample ablation**, here
# *resampling*). Zeros are a third choice.
#
# **Write** `effects(log_prob, x, others)`.
# - in: `log_prob`, `x` (S, D), and `others` (N, D), the vectors that replace a word, one after the other
# - out: (T, S): by how much `log_prob` of token t is **lower** when x_s is replaced, averaged over the N replacements
#
# Mean ablation is `others` with one row, the mean; resampling has N rows.
#
# *Tiny example.* f(x) = x_0 + 2 x_1 as `log_prob`, x = (5, 1), others (1) and (3): the effects are 5 − 2 = 3 and 2 · (1
# − 2) = −2.
#
# *Minutes* 10 · *Difficulty* ●●●○
#
# <details><summary>Hint 1 · the idea</summary>
# One changed sentence for each word and each of the N vectors. Compare with the unchanged one.
# </details>
#
# <details><summary>Hint 2 · the shape</summary>
# <code>x.repeat(S, N, 1, 1)</code> is (S, N, S, D). Flatten the first two axes for <code>log_prob</code>, and unflatten
# its result.
# </details>
#
# <details><summary>Hint 3 · the line</summary>
# <code>changed[s, :, s] = others</code>, for each s.
# </details>

# %% exercise="effects"
@torch.no_grad()
def effects(log_prob, x, others):
    """Return the effect of replacing each word, (T, S); `x` (S, D), `others` (N, D)."""
    # TODO: sentences with one word replaced; how much their log-probabilities are lower
    ### BEGIN SOLUTION
    S, N = len(x), len(others)
    changed = x.repeat(S, N, 1, 1)
    for s in range(S):
        changed[s, :, s] = others
    after = log_prob(changed.flatten(0, 1)).unflatten(0, (S, N)).mean(dim=1)
    return (log_prob(x[None]) - after).T
    ### END SOLUTION

# %% check="effects" points=4
tp.check("effects")

# %% [markdown]
# ### The leaderboard
#
# `Recurrent` is session 5's translator with the batch first: a GRU reads both ways, a second GRU reads the target,
# and the unscaled dot product compares its states with the encoder's.

# %% given="recurrent"
class Recurrent(nn.Module):
    """Session 5's translator, with teacher forcing. Keeps `henc_ts` (B, S, H) and
    `attention_weights` (B, T, S).
    """

    def __init__(self, D=64, H=128):
        super().__init__()
        self.encoder = nn.ModuleDict({
            "embedding": nn.Embedding(len(english.words), D),
            "gru": nn.GRU(D, H // 2, batch_first=True, bidirectional=True),
            "W_s": nn.Linear(H // 2, H)})
        self.decoder = nn.ModuleDict({
            "embedding": nn.Embedding(len(french.words), D),
            "gru": nn.GRU(D, H, batch_first=True),
            "readout": nn.Linear(2 * H, len(french.words))})
        for part in (self.encoder, self.decoder):
            nn.init.normal_(part.embedding.weight, std=0.2)

    def forward(self, source, target):
        """Return logits (B, T, V) of `source` (B, S) and `target` (B, T)."""
        words = source != PAD
        packed, final = self.encoder.gru(pack_padded_sequence(
            self.encoder.embedding(source), words.sum(dim=1).cpu(), batch_first=True,
            enforce_sorted=False))
        self.henc_ts, _ = pad_packed_sequence(packed, batch_first=True)
        hdec_init = torch.tanh(self.encoder.W_s(final[1]))[None]
        hdec_ts, _ = self.decoder.gru(
            self.decoder.embedding(shifted(target)), hdec_init)
        query = hdec_ts * math.sqrt(hdec_ts.shape[-1])  # `attend` divides by √H
        context, self.attention_weights = attend(
            query, self.henc_ts, self.henc_ts, words[:, None])
        return self.decoder.readout(torch.cat([hdec_ts, context], dim=-1))

# %% training="train-recurrent"
if tp.done(*WHOLE):
    torch.manual_seed(0)
    recurrent = Recurrent().to(device)
    view = tp.live(steps=1000, title="session 5's translator")
    learn(recurrent, train_rows, view, 1.5e-2, validation=validation_rows)
    models = {"recurrent": recurrent, "Transformer": model}

# %% [markdown]
# The next cell applies your functions to both models. Attention weight (mean of the heads) and weight × norm concern
# the encoder's outputs, the others the embedded words. Integrated gradients start from zeros; their ranking may depend
# on this baseline. *Agreement* is the share of French words with the same top link as resampling. The vectors for mean
# and resampling are embedded words of training sentences.

# %% given="explained"
def replacements(model, n=8):
    """Return the mean (1, D) of embedded training words, and n drawn ones (n, D)."""
    ids = torch.tensor([i for source, _ in train_rows[:2000] for i in source])
    vectors = model.encoder.embedding.weight.detach()[ids.to(device)]
    drawn = torch.randint(len(ids), (n,), generator=torch.Generator().manual_seed(0))
    return vectors.mean(dim=0, keepdim=True), vectors[drawn.to(device)]


def attention_parts(model, seen):
    """Return `weights` (h, T, S), `values` (h, S, d), `W_o` (D, h · d) of a sentence.

    In the recurrent model the output layer's columns for the context are `W_o`.
    """
    if isinstance(model, Recurrent):
        values = model.henc_ts
        return (model.attention_weights, values,
                model.decoder.readout.weight[:, -values.shape[-1]:])
    cross = model.decoder.blocks[-1].cross
    values = cross.split(cross.W_v(seen["encoder.norm"]))[0]
    return cross.attention_weights[0], values, cross.W_o.weight


def explained(model, rows):
    """Return the maps (T', S') of all rows, by each explanation that you have."""
    maps, (mean, drawn) = {}, replacements(model)
    for row in rows:
        source, target = padded([row])
        with tp.trace(model) as seen:
            model(source, target)
        x = seen["encoder.embedding"][0].detach()
        log_prob = log_prob_of(model, source, target)
        weights, values, W_o = attention_parts(model, seen)
        ways = {"attention weight": lambda: weights.mean(dim=0)}
        if tp.done("read-norms"):
            ways["weight × norm"] = lambda: read_norms(weights, values, W_o)
        if tp.done("gradients"):
            ways["gradient × input"] = lambda: gradient_times_input(log_prob, x)
            ways["integrated gradients"] = lambda: integrated_gradients(
                log_prob, x, 0 * x)
        if tp.done("effects"):
            ways["mean ablation"] = lambda: effects(log_prob, x, mean)
            ways["resampling"] = lambda: effects(log_prob, x, drawn)
        for name, way in ways.items():
            maps.setdefault(name, []).append(way().detach().cpu())
    return maps

# %% demo="leaderboard"
if tp.done(*WHOLE):
    some = test_rows[:20 if tp.quick() else 500]
    pairs = corpus.test[:len(some)]
    gold = [pair.alignment for pair in pairs]
    maps = {name: explained(one, some) for name, one in models.items()}
    for name, found in maps.items():
        links = {way: top_links(ours, gold) for way, ours in found.items()}
        board = []
        for way, ours in found.items():
            scores = [aligned([one[None] for one in ours], gold).item(),
                      recall(ours, gold)]
            if "resampling" in links:
                same = map(int.__eq__, links[way], links["resampling"])
                scores.append(sum(same) / len(links[way]))
            board.append([way, *(f"{100 * score:.1f}" for score in scores)])
        header = ["explanation", "precision, %", "recall, %", "agreement, %"]
        tp.table(board, header[:len(board[0])],
                 caption=f"{name}: top links of {len(links[way])} French words in "
                         f"{len(some)} sentences")

# %% [markdown]
# We trained both translators with five seeds and applied the explanations to 500 test sentences: median
# (smallest–largest). The last row draws 8 other words: its agreement shows how much resampling varies between draws.
#
# | explanation | recurrent: precision, % | agreement, % | Transformer: precision, % | agreement, % |
# |---|---|---|---|---|
# | attention weight | 98.8 (98.3–98.9) | 95.4 (93.8–96.2) | 93.8 (92.3–96.0) | 87.5 (85.5–91.3) |
# | weight × norm | 98.8 (98.3–98.9) | 95.4 (93.8–96.2) | 96.5 (95.8–97.5) | 91.4 (89.7–94.5) |
# | gradient × input | 90.2 (89.9–90.7) | 89.6 (89.2–89.9) | 47.3 (40.0–53.2) | 44.2 (36.9–50.4) |
# | integrated gradients | 95.6 (94.4–97.4) | 96.1 (94.9–96.8) | 94.7 (94.3–95.0) | 90.4 (89.1–91.9) |
# | mean ablation | 93.2 (92.2–93.5) | 95.2 (94.1–95.8) | 90.0 (88.9–92.8) | 93.9 (92.7–95.1) |
# | resampling, 8 other words | 96.6 (95.6–97.1) | 98.4 (97.7–98.7) | 93.9 (92.2–95.5) | 98.7 (97.9–98.7) |
#
# Saturation (exercise 7) may explain the low scores of gradient × input; this is untested.
#
# The five recurrent models are trained as in session 5, with its curriculum and with EOS in the source. The
# leaderboard's has neither; in our run, all five of its agreements lay outside these ranges, by 2.5 points at most. A
# map that links each word to its own position, at most the last, would have a precision of 49.9 % with EOS in the
# source and 54.7 % without.
#
# ### Cases where weight and effect differ
#
# Some French words depend on an English word that they do not translate. We took 40 of each kind, with five seeds:
# - **Adjectives**, four words or more after their noun in English, agree with this noun. The noun had one of the two
#   largest effects by resampling for 55 % (28–82) in the recurrent model and for 68 % (38–85) in the Transformer. The
#   noun had one of the two largest attention weights for 0 % (0–0) and 25 % (0–50).
# - ***Le, la, un, une*** agree with their noun. In the Transformer, weight × norm had the English article as top link
#   for 100 % (98–100), resampling for 50 % (32–80).
# - ***Que*** in *est-ce que* is predictable from *est-ce*, except for the choice of *que* or *qu'*. In the Transformer
#   its largest effect is 1.16 nats (0.98–1.22), that of *est-ce* 13.95 nats (8.81–14.96). The weights of both rows sum
#   to 1, so they cannot show that no English word had a large effect.
#
# The next cell counts such words in your Transformer. Its heatmaps show one sentence; each row is divided by its
# largest number, and negative numbers are shown as 0.

# %% demo="weight-and-cause"
if tp.done(*WHOLE, "read-norms", "gradients", "effects"):
    different = Counter()
    for pair, weighed, used in zip(pairs, maps["Transformer"]["weight × norm"],
                                  maps["Transformer"]["resampling"]):
        for t, (a, b) in enumerate(zip(weighed.argmax(-1).tolist(),
                                       used.argmax(-1).tolist())):
            if t < len(pair.alignment) and a in pair.alignment[t] and a != b:
                different[pair.target_words[t], pair.source_words[a]] += 1
    tp.table([[*words, n] for words, n in different.most_common(8)],
             ["French word", "top link by weight × norm", "times"],
             caption=f"Transformer: {different.total()} French words with a gold word "
                     "as top link by weight × norm, and another by resampling")
    text = "the big cow does not sleep ."
    source_words, target_words = text.split(), "la grande vache ne dort pas .".split()
    found = explained(model, [(english.encode(source_words),
                               french.encode(target_words) + [EOS])])
    positive = {name: one[0].clamp(min=0) for name, one in found.items()}
    shares = {name: one / one.amax(-1, keepdim=True).clamp(min=1e-9)
              for name, one in positive.items()}
    tp.plots.attention_heatmaps(shares, source_words, [*target_words, "EOS"], columns=3)

# %% [markdown]
# Which maps show *buys*, which decides the sense of *bat*?

# %% demo="explore-explained"
def explained_steps(model, text):
    """Return the steps of a translation, with three explanations."""
    words = text.lower().replace(".", " .").replace("?", " ?").split()
    source = torch.tensor([english.encode(words)], device=device)
    target = torch.full_like(source[:, :1], PAD)  # its last column is never read
    with torch.no_grad():
        for _ in range(30):
            target[0, -1] = model(source, target)[0, -1].argmax()
            if target[0, -1] == EOS:
                break
            target = F.pad(target, (0, 1))
        likely = model(source, target)[0].softmax(dim=-1).topk(5)
    found = explained(model, [(source[0].tolist(), target[0].tolist())])
    output = [french.words[i] for i in target[0].tolist()]
    return [tp.Step(
        read=before, written=word, source=words,
        weights=found["attention weight"][0][t],
        distribution={french.words[i]: p for p, i in zip(
            likely.values[t].tolist(), likely.indices[t].tolist())},
        explanations={name: found[name][0][t]
                      for name in ("integrated gradients", "resampling")})
        for t, (before, word) in enumerate(zip(["<sos>", *output], output))]


if tp.done(*WHOLE, "gradients", "effects"):
    tp.explore({name: partial(explained_steps, one)
                for name, one in reversed(models.items())},
               "The woman buys the bat.", title="three explanations")

# %% [markdown]
# ### Exercise 9 · Activation patching
#
# Two sentences differ in one word: *the **cow** sleeps*, *the **dog** sleeps*. The first becomes *la vache*, the second
# *le chien*. Run the second, but replace **one** activation, at one position, by that of the first. Does the model now
# write *la*? This is **activation patching** (Vig et al. 2020, [arXiv 2004.12265](https://arxiv.org/abs/2004.12265), as
# causal mediation analysis; Meng et al. 2022, [arXiv 2202.05262](https://arxiv.org/abs/2202.05262)). It finds
# activations that suffice to carry the difference.
#
# **Write** `restored(model, clean, corrupt, target, name, measure)`.
# - in: `clean` and `corrupt` (1, S), `target` (1, T), the `name` of an activation (1, P, …), and `measure`, a function
#   of the logits (1, T, V) that returns a tensor without axes
# - out: (P,). Let a be the measure of the clean run, b of the corrupt run, and c_p of the corrupt run in which the
#   activation at position p is that of the clean run: entry p is (c_p − b) / (a − b). 0: no effect; 1: all is restored.
#
# *Tiny example.* Patching the embedding at the only word that differs gives 1, at any other word 0.
#
# *Minutes* 12 · *Difficulty* ●●●○
#
# <details><summary>Hint 1 · the idea</summary>
# First trace a run of the clean sentence, and keep its activation. Then run the corrupt one. Then run it once for each
# position, patched.
# </details>
#
# <details><summary>Hint 2 · the shape</summary>
# The positions are on axis 1 of <code>seen[name]</code>.
# </details>
#
# <details><summary>Hint 3 · the line</summary>
# A patch may be a tensor: in the corrupt run, too, trace the activation; clone it, and overwrite <code>[:, p]</code>.
# </details>

# %% exercise="patching"
@torch.no_grad()
def restored(model, clean, corrupt, target, name, measure):
    """Return the share of the difference that each position restores, (P,)."""
    # TODO: a clean run, a corrupt run, and patched runs of the corrupt sentence
    ### BEGIN SOLUTION
    with tp.trace(model) as kept:
        best = measure(model(clean, target))
    with tp.trace(model) as seen:
        worst = measure(model(corrupt, target))
    shares = []
    for p in range(seen[name].shape[1]):
        patch = seen[name].clone()
        patch[:, p] = kept[name][:, p]
        with tp.trace(model, {name: patch}):
            shares.append((measure(model(corrupt, target)) - worst) / (best - worst))
    return torch.stack(shares)
    ### END SOLUTION

# %% check="patching" points=4
tp.check("patching")

# %% demo="patched"
if tp.done(*WHOLE, "patching"):
    clean, corrupt = "the cow sleeps .".split(), "the dog sleeps .".split()
    target_words = ["la", "vache", "dort", "."]
    target = torch.tensor([french.encode(target_words) + [EOS]], device=device)
    sources = [torch.tensor([english.encode(words)], device=device)
               for words in (clean, corrupt)]
    sites = {"encoder": ["embedding", "blocks.0.attention", "blocks.0.feed_forward",
                         "norm"],
             "decoder": ["blocks.0.attention", "blocks.0.cross",
                         "blocks.0.feed_forward", "norm"]}
    for t, (right, wrong) in enumerate((("la", "le"), ("vache", "chien"))):
        ids = french.encode([right, wrong])
        measure = lambda logits: logits[0, t, ids[0]] - logits[0, t, ids[1]]
        for side, parts in sites.items():
            shares = torch.stack([restored(model, *sources, target, f"{side}.{part}",
                                           measure) for part in parts])
            tp.plots.effects_heatmap(
                shares, [f"{side}.{part}" for part in parts],
                clean if side == "encoder" else ["SOS", *target_words],
                title=f"{right} against {wrong}: patched in the {side}")

# %% [markdown] answer="explanations" points=4
# **Question 2.** (a) Which explanation would you trust to find the English word that made the model write a French
# word, and on what evidence? Use two numbers of the leaderboard. (b) For *le* and *la*, resampling often finds a noun
# where the gold link is *the*. Which of the two is wrong? (c) What does gold precision measure, and what does agreement
# with an intervention? (d) Name one thing that the leaderboard does *not* show.
#
# *Minutes* 8
#
# ### BEGIN SOLUTION
# (a) A choice with its evidence, for example weight × norm. On the Transformer it had, in our five runs, a precision of
# 96.5 % (95.8–97.5) and an agreement of 91.4 % (89.7–94.5); gradient × input had 47.3 % and 44.2 %. The agreement of
# weight × norm was higher than that of attention weight and that of integrated gradients in each of the five runs,
# although the ranges overlap. Mean ablation agreed more than weight × norm in four of the five, but mean ablation is
# itself an intervention.
#
# (b) Neither. The article takes its gender from the noun: the noun is a cause, though not what the article translates.
# Patching shows where: in our run the encoder's attention carried 0.29 of the difference to the position of *the*, and
# 0.86 was at *cow* after the encoder.
#
# (c) Gold precision measures whether the explanation finds what a linguist would link (**plausible**; Jacovi and
# Goldberg 2020, [arXiv 2004.03685](https://arxiv.org/abs/2004.03685)). Agreement with an intervention measures whether
# it finds what the output depends on (**faithful**).
#
# (d) For example: other models and grammars; the whole map, not the top links alone; pairs of words, because two words
# that can replace each other have no effect singly; other interventions: mean ablation and resampling have different
# top links for 4.9 to 7.3 % of the French words in the Transformer. Resampling also misses causes: the verb decides the
# sense of *bat*, and in our five runs it had one of the two largest effects for 22 % (2–55) of 40 objects of two
# senses. A word drawn at random is seldom a verb that selects the other sense.
#
# **Rubric.** 1 point: a choice with two numbers. 1 point: (b) both are right, agreement of gender. 1 point: plausible
# against faithful, in any words. 1 point: one limit, fitting these runs.
# ### END SOLUTION

# %% [markdown]
# ### What each head attends to
#
# To what does each head attend (Clark et al. 2019, [arXiv 1906.04341](https://arxiv.org/abs/1906.04341)), and is it
# needed? Michel, Levy and Neubig 2019 ([arXiv 1905.10650](https://arxiv.org/abs/1905.10650)) and Voita et al. 2019
# ([arXiv 1905.09418](https://arxiv.org/abs/1905.09418)) ablated heads, and found that many can be **pruned** (removed
# for good) at a small cost (Voita et al.: 38 of 48 encoder heads for 0.15 BLEU). A head's output is a piece of the
# input of `W_o`, d columns, so a patch of `"….W_o:in"` can replace it.
#
# ### Exercise 10 · Ablation of heads
#
# **Write** `ablate(heads, d, other)`: it returns a **patch**, a function from (…, h · d) to a copy in which the columns
# of all `heads` (a list of numbers) are those of `other`. `other` is the mean, (h · d,), or a tensor of the shape of
# the activation: another sentence's, for resampling.
#
# *Tiny example.* `ablate([1], 2, zeros)` of (1, 2, 3, 4, 5, 6) is (1, 2, 0, 0, 5, 6).
#
# *Minutes* 6 · *Difficulty* ●●○○
#
# <details><summary>Hint 1 · the idea</summary>
# A function that returns a function. The traced activation must not be changed in place.
# </details>
#
# <details><summary>Hint 2 · the shape</summary>
# Head k has the columns k · d … (k + 1) · d − 1 of the last axis.
# </details>
#
# <details><summary>Hint 3 · the line</summary>
# In the inner function: <code>new = z.clone()</code>, and for each head
# <code>new[..., k * d:(k + 1) * d] = other[..., k * d:(k + 1) * d]</code>.
# </details>

# %% exercise="ablate"
def ablate(heads, d, other):
    """Return a patch, (…, h · d) → (…, h · d): columns of `heads` are from `other`."""
    # TODO: a function that replaces the columns of these heads
    ### BEGIN SOLUTION
    def patch(z):
        new = z.clone()
        for k in heads:
            new[..., k * d:(k + 1) * d] = other[..., k * d:(k + 1) * d]
        return new
    return patch
    ### END SOLUTION

# %% check="ablate" points=2
tp.check("ablate")

# %% given="head-map"
PARTS = {"encoder.blocks.0.attention": "encoder self-attention",
         "decoder.blocks.0.attention": "decoder self-attention",
         "decoder.blocks.0.cross": "cross-attention"}


@torch.no_grad()
def loss_without(model, rows, chosen, by="mean"):
    """Return the loss on `rows` with `chosen` heads ablated, a list of (part, head).

    Their output is replaced by the mean, or by another sentence's at the same position.
    """
    source, target = padded(rows)
    with tp.trace(model) as seen:
        model(source, target)
    patches = {}
    for part in {part for part, _ in chosen}:
        z, ids = (seen[f"{part}.W_o:in"],
                  source if "encoder" in part else shifted(target))
        other = z[ids != PAD].mean(dim=0) if by == "mean" else z.roll(1, dims=0)
        heads = [k for name, k in chosen if name == part]
        patches[f"{part}.W_o:in"] = ablate(
            heads, model.get_submodule(part).head_size, other)
    with tp.trace(model, patches):
        return loss_of(model, source, target).item()


@torch.no_grad()
def attends_to(model, pairs):
    """Return, by (part, head), the shares of words whose largest weight lies on the
    same, previous or next position, the final punctuation mark, a gold word."""
    found = {}
    for pair, row in zip(pairs, rows_of(pairs)):
        model(*padded([row]))
        S, T = len(pair.source_words), len(pair.target_words)
        for part in PARTS:
            weights = model.get_submodule(part).attention_weights[0]
            final = -1 if part == "decoder.blocks.0.attention" else S - 1
            queries = S if part.startswith("encoder") else T
            for k, top in enumerate(weights.argmax(dim=-1).tolist()):
                found.setdefault((part, k), []).extend(
                    [s == t, s == t - 1, s == t + 1, s == final,
                     "cross" in part and s in pair.alignment[t]]
                    for t, s in enumerate(top[:queries]))
    return {head: torch.tensor(shares).float().mean(dim=0).tolist()
            for head, shares in found.items()}

# %% given="writes"
@torch.no_grad()
def writes(model, rows, k):
    """Return how often the correct French word is among the ten words whose logits
    head k of the cross-attention raises most; its mean output is subtracted.
    """
    source, target = padded(rows)
    cross, words = model.decoder.blocks[-1].cross, (target != PAD) & (target != EOS)
    with tp.trace(model) as seen:
        model(source, target)
    columns = slice(k * cross.head_size, (k + 1) * cross.head_size)
    z = seen["decoder.blocks.0.cross.W_o:in"][..., columns]
    alone = (z - z[words].mean(dim=0)) @ cross.W_o.weight[:, columns].T
    raised = (alone * model.decoder.norm.weight) @ model.decoder.readout.weight.T
    found = (raised.topk(10).indices == target[..., None]).any(dim=-1)
    return found[words].float().mean().item()

# %% demo="heads-found"
if tp.done(*WHOLE, "ablate"):
    some = validation_rows[:200]
    roles, whole = (attends_to(model, corpus.validation[:200]),
                    loss_without(model, some, []))
    added = {head: [loss_without(model, some, [head], by) - whole
                    for by in ("mean", "resampling")] for head in roles}
    shown = [[*roles[part, k], writes(model, some, k)] if "cross" in part
             else roles[part, k][:4] for part, k in roles]
    tp.table([[PARTS[part], k, *(f"{100 * share:.0f}" for share in shares),
               *[""] * (6 - len(shares)), *(f"{loss:.2f}" for loss in added[part, k])]
              for (part, k), shares in zip(roles, shown)],
             ["attention", "head", "same", "previous", "next", "punct.", "gold",
              "writes", "loss added, mean", "resampling"],
             caption="Words, %, with the largest weight on the same position, the "
                     "previous, the next, the final punctuation mark (source only), a "
                     "gold word; French words among the ten most raised by the head "
                     "(writes), %; loss added by its ablation, nats (whole model: "
                     f"{whole:.3f})")
    rows, ablated = [], []
    for head, _ in sorted(added.items(), key=lambda item: item[1][0]):
        ablated.append(head)
        alone = sum(added[one][0] for one in ablated)
        rows.append([len(ablated), f"{PARTS[head[0]]}, {head[1]}",
                     *(f"{loss_without(model, some, ablated, by) - whole:.2f}"
                       for by in ("mean", "resampling")), f"{alone:.2f}"])
    tp.table(rows,
             ["heads ablated", "the last of them", "loss added, mean", "resampling",
              "sum of single losses, mean"],
             caption="Loss added, nats: heads ablated together, in the order of the "
                     "loss that each adds alone (mean)")

# %% demo="head-maps"
if tp.done(*WHOLE):
    pair = max(corpus.validation, key=lambda pair: (
        len(pair.target_words) if len(pair.target_words) <= 9 else 0))
    model(*padded(rows_of([pair])))
    weights = model.decoder.blocks[-1].cross.attention_weights[0]
    tp.plots.attention_heatmaps({f"head {k}": one for k, one in enumerate(weights)},
                                pair.source_words, [*pair.target_words, "EOS"],
                                columns=2)

# %% [markdown] answer="heads-read" points=2
# **Question 3.** (a) Of the cross-attention heads, does ablating the one with the highest share on gold words add the
# most loss? (b) Compare the loss that several heads add together with the sum of what each adds alone. What does a
# difference show about heads that do the same work?
#
# *Minutes* 5
#
# ### BEGIN SOLUTION
# (a) Not always: in our five runs it added the most loss three times, and the least once. Ablating the head with the
# highest gold share added 0.16 nats (0.03–0.33), the second 0.10 nats (0.05–0.27).
#
# (b) In our five runs the six heads that add least alone added 1.33 nats (0.81–2.34) together, and the sum of their
# single losses was 0.31 nats (0.30–0.34). If the joint loss is above the sum, heads may be redundant: the model works
# without either of two, but not without both. This is no proof. Cross-entropy is convex in the logits, and the whole
# model is near its minimum. So two ablations that move the logits in the same direction can cost more together than the
# sum of both, even if their effects on the logits simply add up. If the joint loss is below the sum, one head may need
# the output of the other.
#
# **Rubric.** 1 point: both orders with numbers. 1 point: together against the sum, with its reason.
# ### END SOLUTION

# %% [markdown]
# ### An induction head
#
# The task: read 8 to 12 different random tokens, then pieces of four tokens of the same row, from random positions.
# Within a piece the next token can be found. An **induction head** (Olsson et al. 2022,
# [arXiv 2209.11895](https://arxiv.org/abs/2209.11895)) attends to the token *after* the earlier occurrence of the same
# token. In the circuit that they describe, a head of an earlier block attends to the **previous token**, so that each
# position also contains the token before it.
#
# ### Exercise 11 · The induction score
#
# A row of L random tokens is read twice. **Write** `induction_scores(weights, L)`.
# - in: `weights` (B, h, 2L, 2L), the attention weights of one block: a row for each position that attends
# - out: (h,), the mean weight from position t of the second reading, t = L … 2L − 1, to position t − L + 1
#
# *Tiny example.* L = 2, the tokens are a b a b. The second a (t = 2) should attend to the first b (position 1), the
# second b (t = 3) to the second a (position 2).
#
# *Minutes* 8 · *Difficulty* ●●○○
#
# <details><summary>Hint 1 · the idea</summary>
# For each of the L positions one number: the weight in the row t and the column t − L + 1. These numbers stand on a
# diagonal.
# </details>
#
# <details><summary>Hint 2 · the shape</summary>
# With <code>t = torch.arange(L, 2 * L)</code>, <code>weights[:, :, t, t - L + 1]</code> is (B, h, L).
# </details>
#
# <details><summary>Hint 3 · the line</summary>
# The mean runs over the axes 0 and 2.
# </details>

# %% exercise="induction"
def induction_scores(weights, L):
    """Return (h,), the mean weight on the token after the earlier occurrence of the
    same token; `weights` (B, h, 2L, 2L).
    """
    # TODO: the weights from t to t − L + 1 in the second reading, and their mean
    ### BEGIN SOLUTION
    t = torch.arange(L, 2 * L, device=weights.device)
    return weights[:, :, t, t - L + 1].mean(dim=(0, 2))
    ### END SOLUTION

# %% check="induction" points=2
tp.check("induction")

# %% given="repeats"
def repeated(B, L, size=4, V=48):
    """Return ids (B, T), L different tokens and then L // 2 pieces of them, and targets
    of the same shape, −100 where the next token cannot be known.
    """
    first = torch.rand(B, V, device=device).argsort(dim=-1)[:, :L]
    starts = torch.randint(L - size + 1, (B, L // 2, 1), device=device)
    positions = (starts + torch.arange(size, device=device)).flatten(1)
    ids = torch.cat([first, first.gather(1, positions)], dim=1)
    target = ids.roll(-1, dims=1)
    target[:, :L], target[:, L + size - 1::size] = -100, -100
    return ids, target


def train_repeats(steps=800, seed=0, V=48):
    """Train and return a decoder of two blocks that continues repeated tokens."""
    torch.manual_seed(seed)
    repeater = Decoder(V, 64, 4, 2, cross=False, positions=Learned).to(device)
    optimizer = torch.optim.AdamW(repeater.parameters(), 5e-3, betas=(0.9, 0.98))
    view = tp.live(steps=steps, title="repeated random tokens")
    for step in view:
        optimizer.param_groups[0]["lr"] = 5e-3 * min((step + 1) / 50, 1 - step / steps)
        ids, target = repeated(32, 8 + step % 5, V=V)
        loss = F.cross_entropy(repeater(ids).flatten(0, 1), target.flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(repeater.parameters(), 1.0)
        optimizer.step()
        view.log(loss=loss)
    return repeater

# %% given="read-repeats"
@torch.no_grad()
def continued(model, ids, chosen=(), by="mean"):
    """Return the share of right next tokens in the second reading, `ids` (B, 2L).

    The `chosen` heads, pairs of (block, head), are ablated by the mean or by another
    row's output.
    """
    with tp.trace(model) as seen:
        model(ids)
    patches = {}
    for block in {block for block, _ in chosen}:
        name, heads = (f"blocks.{block}.attention.W_o:in",
                       [k for one, k in chosen if one == block])
        z = seen[name]
        other = z.mean(dim=(0, 1)) if by == "mean" else z.roll(1, dims=0)
        patches[name] = ablate(heads, model.blocks[block].attention.head_size, other)
    with tp.trace(model, patches):
        output = model(ids).argmax(dim=-1)
    L = ids.shape[1] // 2
    return (output[:, L:-1] == ids[:, L + 1:]).float().mean().item()


@torch.no_grad()
def head_scores(model, ids):
    """Return, by (block, head), the induction score, and the weight on the previous
    token in the first reading.
    """
    model(ids)
    found, L = {}, ids.shape[1] // 2
    for i, block in enumerate(model.blocks):
        weights = block.attention.attention_weights
        before = weights[:, :, :L, :L].diagonal(-1, -2, -1).mean(dim=(0, 2))
        for head, scores in enumerate(zip(
                induction_scores(weights, L).tolist(), before.tolist())):
            found[i, head] = scores
    return found

# %% training="train-repeats"
if tp.done(*STACK, "induction"):
    repeater = train_repeats(20 if tp.quick() else 800)

# %% demo="induction-found"
if tp.done(*STACK, "induction", "ablate", "patching"):
    twice = torch.rand(200, 48, device=device).argsort(dim=-1)[:, :12].repeat(1, 2)
    scores = head_scores(repeater, twice)
    tp.table([[block, head, f"{induction:.2f}", f"{before:.2f}",
               *(f"{100 * continued(repeater, twice, [(block, head)], by):.0f}"
                 for by in ("mean", "resampling"))]
              for (block, head), (induction, before) in scores.items()],
             ["block", "head", "induction score", "previous-token score",
              "right if ablated, mean, %", "resampling, %"],
             caption=f"Right next tokens of the whole model: "
                     f"{100 * continued(repeater, twice):.0f} %")
    for block in (0, 1):
        right = continued(repeater, twice, [(block, k) for k in range(4)])
        print(f"right if all heads of block {block} are ablated: {100 * right:.0f} %")

    clean, p = twice[:1], 4
    corrupt = clean.clone()
    corrupt[0, p] = next(i for i in range(48) if i not in clean[0])
    measure = lambda logits: logits[0, 12 + p].log_softmax(dim=-1)[clean[0, p + 1]]
    sites = ["embedding", *(f"blocks.{block}.{part}" for block in (0, 1)
                            for part in ("attention", "feed_forward"))]
    shares = torch.stack([restored(repeater, clean, corrupt, None, site, measure)
                          for site in sites])
    tp.plots.effects_heatmap(
        shares, sites, [str(i) for i in clean[0].tolist()], numbers=False,
        title=f"token {p} replaced in the first reading: share of the answer at "
              f"position {12 + p} that each patch restores")

# %% [markdown]
# In our five runs all four heads of block 1 had a score of at least 0.90, rounded. With the highest-scoring head
# ablated by its mean, 100 % (100–100) of the next tokens were right; with all four, 3 % (2–4). The score finds heads
# that attend in this way, but not which of them are needed.

# %% [markdown]
# ## 7 · Extension: circuits
#
# A **circuit** (Olah et al. 2020, [Zoom In](https://distill.pub/2020/circuits/zoom-in/); in Transformers: Elhage et al.
# 2021, [transformer-circuits.pub](https://transformer-circuits.pub/2021/framework/index.html)) is a part of the model
# that explains one behaviour: which heads, which weights, and which paths between them.
#
# ### Exercise 12 · Direct logit attribution
#
# The residual stream before the last norm is a sum: the embedded token, and what each head and the feed-forward network
# add. The last norm divides by a standard deviation. If the standard deviation of the whole stream is held fixed, the
# rest is linear, and each part has a share in the difference of two logits. This is **direct logit attribution**. It
# needs one run and no patch, and leaves out effects through later parts.
#
# **Write** `logit_shares(parts, norm, direction)`.
# - in: `parts` (K, T, D), vectors whose sum over the K is the stream before `norm`, an `nn.LayerNorm`; `direction`
#   (D,), the output layer's row for one word minus its row for another
# - out: (K, T). Each part minus its own mean over D, divided by the standard deviation over D of the **sum** (computed
#   as the norm does, with `norm.eps`), times `norm.weight`; then the dot product with the direction
#
# All shares and `norm.bias @ direction` add up to the difference of the logits, up to the output layer's own bias.
#
# *Tiny example.* K = 2, T = 1, weights 1, eps 0, direction (1, 0). The parts (1, −1) and (2, −2) have the sum (3, −3),
# whose standard deviation is 3: the shares are 1/3 and 2/3.
#
# *Minutes* 10 · *Difficulty* ●●●○ · *Extension*
#
# <details><summary>Hint 1 · the idea</summary>
# Write down the layer norm of a sum. Its mean is the sum of the means. Only the standard deviation belongs to the sum
# as a whole.
# </details>
#
# <details><summary>Hint 2 · the shape</summary>
# The variance of the sum is (T, 1) with <code>keepdim=True</code>. Its square root divides (K, T, D).
# </details>
#
# <details><summary>Hint 3 · the line</summary>
# <code>var(dim=-1, correction=0, keepdim=True)</code>: a layer norm divides by D, not by D − 1. The square root is
# taken after <code>norm.eps</code> is added.
# </details>

# %% exercise="attribution"
def logit_shares(parts, norm, direction):
    """Return (K, T); `parts` (K, T, D), `norm` an `nn.LayerNorm`, `direction` (D,)."""
    # TODO: each part, centred; the standard deviation of their sum; the dot product
    ### BEGIN SOLUTION
    variance = parts.sum(dim=0).var(dim=-1, correction=0, keepdim=True)
    centred = parts - parts.mean(dim=-1, keepdim=True)
    return (centred / (variance + norm.eps).sqrt() * norm.weight) @ direction
    ### END SOLUTION

# %% check="attribution" points=2
tp.check("attribution")

# %% given="written"
@torch.no_grad()
def written(model, source, target):
    """Return what each part of the decoder adds to the last residual, (T, D)."""
    with tp.trace(model) as seen:
        model(source, target)
    block, found = model.decoder.blocks[0], {"embedding": seen["decoder.embedding"][0]}
    for name in ("attention", "cross"):
        layer, z = getattr(block, name), seen[f"decoder.blocks.0.{name}.W_o:in"][0]
        matrices = layer.W_o.weight.split(layer.head_size, dim=1)
        for k, (own, W) in enumerate(zip(z.split(layer.head_size, dim=1), matrices)):
            found[f"{name}, head {k}"] = own @ W.T
        found[f"{name}, bias"] = layer.W_o.bias.expand(len(z), -1)
    return {**found, "feed-forward": seen["decoder.blocks.0.feed_forward"][0]}

# %% demo="attributed"
if tp.done(*WHOLE, "attribution", "patching"):
    parts, readout = written(model, sources[0], target), model.decoder.readout
    columns = []
    for t, (right, wrong) in enumerate((("la", "le"), ("vache", "chien"))):
        ids = french.encode([right, wrong])
        direction = (readout.weight[ids[0]] - readout.weight[ids[1]]).detach()
        shares = logit_shares(torch.stack(list(parts.values())), model.decoder.norm,
                              direction)[:, t]
        logits = model(sources[0], target)[0, t, ids]
        rest = (logits[0] - logits[1]).item() - shares.sum().item()
        columns.append([*shares.tolist(), rest, shares.sum().item() + rest])
    tp.table([[name, *(f"{share:+.2f}" for share in shares)] for name, *shares in zip(
                  [*parts, "biases of norm and output layer", "difference of logits"],
                  *columns)],
             ["part of the decoder", "la against le", "vache against chien"],
             caption="the cow sleeps . → la vache dort . : shares of the parts")

# %% [markdown]
# ### Exercise 13 · QK and OV circuits
#
# Leave out biases and norms. The scores of a head for vectors x (queries) and y (keys) are
# $x W_q^\top W_k\, y^\top / \sqrt d$: its **QK circuit**. If the head attends to y with weight 1, it adds
# $y W_v^\top W_o^\top$ to the residual stream. The product of this vector with the output layer is the contribution of
# y to the logits: the **OV circuit**. Both need weights only, no sentence.
#
# **Write** `qk_circuit(attention, k, x, y)` and `ov_circuit(attention, k, y, readout)`.
# - in: `attention`, a `MultiHeadAttention` with as many heads of keys as of queries; the head's number k; `x` (T, D),
#   `y` (S, D); `readout` (V, D)
# - out: the scores (T, S), divided by √d; what each y adds to each of the V logits, (S, V)
#
# Head k has the rows k · d … (k + 1) · d − 1 of `W_q.weight`, `W_k.weight` and `W_v.weight`, and these **columns** of
# `W_o.weight`.
#
# *Tiny example.* One head, D = 4, all weights the identity, x = y = (2, 0, 0, 0), and the identity as `readout`: the
# score is 2, and y adds (2, 0, 0, 0).
#
# *Minutes* 10 · *Difficulty* ●●○○ · *Extension*
#
# <details><summary>Hint 1 · the idea</summary>
# Cut the weights of one head out of the four matrices. Two matrix products and a division make the first circuit; three
# products make the second.
# </details>
#
# <details><summary>Hint 2 · the shape</summary>
# <code>W_q.weight[own]</code> is (d, D), <code>W_o.weight[:, own]</code> is (D, d), with <code>own</code> a
# <code>slice</code>.
# </details>
#
# <details><summary>Hint 3 · the line</summary>
# <code>nn.Linear</code> computes <code>x @ W.T</code>: <code>(x @ W_q.T) @ (y @ W_k.T).T</code>.
# </details>

# %% exercise="circuits"
def qk_circuit(attention, k, x, y):
    """Return the scores of head k, without biases, (T, S); `x` (T, D), `y` (S, D)."""
    # TODO: the head's rows of two matrices; scaled dot products
    ### BEGIN SOLUTION
    d = attention.head_size
    own = slice(k * d, (k + 1) * d)
    queries, keys = x @ attention.W_q.weight[own].T, y @ attention.W_k.weight[own].T
    return queries @ keys.T / math.sqrt(d)
    ### END SOLUTION


def ov_circuit(attention, k, y, readout):
    """Return what `y` (S, D) adds to the logits through head k, (S, V).

    `readout` (V, D).
    """
    # TODO: the head's rows of one matrix and columns of another; the output layer
    ### BEGIN SOLUTION
    own = slice(k * attention.head_size, (k + 1) * attention.head_size)
    values = y @ attention.W_v.weight[own].T
    return values @ attention.W_o.weight[:, own].T @ readout.T
    ### END SOLUTION

# %% check="circuits" points=2
tp.check("circuits")

# %% given="from-weights"
@torch.no_grad()
def previous_token(model, k, L=12):
    """Return the mean weight on the previous position, by the QK circuit of head k of
    block 0: every token is the mean of all embeddings.
    """
    block = model.blocks[0]
    x = block.norms[0](model.positions.table.weight[:L]
                       + model.embedding.weight.mean(dim=0))
    scores = qk_circuit(block.attention, k, x, x)
    weights = scores.masked_fill(
        ~causal_mask(L, device=x.device), -math.inf).softmax(dim=-1)
    return weights.diagonal(-1).mean().item()


def on_diagonal(matrix):
    """Return the share of rows whose largest number lies on the diagonal."""
    own = torch.arange(len(matrix), device=matrix.device)
    return (matrix.argmax(dim=-1) == own).float().mean().item()


@torch.no_grad()
def copies(model, k):
    """Return the share of tokens whose own logit is raised most by head k of block 1
    if it attends to them.
    """
    block = model.blocks[1]
    readout = model.readout.weight * model.norm.weight
    return on_diagonal(ov_circuit(block.attention, k,
                                  block.norms[0](model.embedding.weight), readout))


@torch.no_grad()
def composes(model, first, second):
    """Return the share of tokens a for which the query of a, in head `second` of block
    1, has its largest score with the output of head `first` of block 0 for a.
    """
    below, above = model.blocks
    words = model.embedding.weight
    writes = ov_circuit(below.attention, first, below.norms[0](words),
                        torch.eye(words.shape[1], device=words.device))
    return on_diagonal(qk_circuit(above.attention, second, above.norms[0](words),
                                  above.norms[0](writes)))

# %% demo="circuits-found"
if tp.done(*STACK, "induction", "circuits"):
    tp.table([[k, f"{scores[0, k][1]:.2f}", f"{previous_token(repeater, k):.2f}",
               *(f"{100 * composes(repeater, k, j):.0f}" for j in range(4))]
              for k in range(4)],
             ["head of block 0", "previous token, measured", "from the weights",
              *(f"keys of head {j}" for j in range(4))],
             caption="Right columns: tokens, %, whose query in block 1 has its largest "
                     "score with the output of this head for the same token")
    tp.table([[k, f"{scores[1, k][0]:.2f}", f"{100 * copies(repeater, k):.0f}"]
              for k in range(4)],
             ["head of block 1", "induction score", "tokens that it copies, %"])

# %% [markdown]
# In our five runs, for the head of block 0 with the largest previous-token score:
# - This score was 0.93 (0.84–0.96) measured, and 1.00 (0.98–1.00) from its weights alone.
# - In block 1 the query of a token scores highest with this head's output for the same token: for 100 % (96–100) of the
#   tokens, averaged over the four heads (chance level 2 %). If this output enters the keys, it is **K-composition**.
#
# The share alone does not show that a head is used: in our run two heads of block 0 with 71 to 92 % are not needed in
# exercise 14. The head of block 1 with the largest induction score copies 94 % (90–96) of the tokens.
#
# ### Exercise 14 · Path patching
#
# The queries, keys and values of block 1 all read the output of a head of block 0. **Path patching** (Wang et al. 2022,
# [arXiv 2211.00593](https://arxiv.org/abs/2211.00593)) replaces this output for **one** of these readers; the others
# get the original output.
#
# **Write** `along(stream, z, other, attention, k, norm)`.
# - in: `stream` (…, T, D), the residual stream, not to be changed; `z` and `other` (…, T, h · d), the input of
#   `attention.W_o` and another sequence's; `norm`, a function of the stream
# - out: (…, T, D), `norm` of the stream that there would be if head k alone had `other`'s output
#
# *Tiny example.* One head, `W_o` and the norm are the identity: stream (5, 5), z (1, 0), other (0, 1) give (4, 6).
#
# *Minutes* 8 · *Difficulty* ●●●○ · *Extension*
#
# <details><summary>Hint 1 · the idea</summary>
# The stream is a sum. Subtract what head k wrote, and add what it would have written.
# </details>
#
# <details><summary>Hint 2 · the shape</summary>
# Columns k · d … (k + 1) · d − 1 of <code>other − z</code> are (…, T, d); the same columns of <code>W_o.weight</code>
# are (D, d).
# </details>
#
# <details><summary>Hint 3 · the line</summary>
# The bias of <code>W_o</code> cancels. The norm comes last, because it is not linear.
# </details>

# %% exercise="path"
def along(stream, z, other, attention, k, norm):
    """Return the normalised stream (…, T, D) if head k alone had the output `other`.

    `stream` (…, T, D), `z` and `other` (…, T, h · d).
    """
    # TODO: the change in the output of head k; the norm of the new stream
    ### BEGIN SOLUTION
    own = slice(k * attention.head_size, (k + 1) * attention.head_size)
    more = (other - z)[..., own] @ attention.W_o.weight[:, own].T
    return norm(stream + more)
    ### END SOLUTION

# %% check="path" points=2
tp.check("path")

# %% given="paths"
@torch.no_grad()
def right_along(model, ids, k, reader):
    """Return the share of right next tokens if `reader`, W_q, W_k or W_v of block 1,
    reads the output of head k of block 0 for another row.
    """
    with tp.trace(model) as seen:
        model(ids)
    z, (below, above) = seen["blocks.0.attention.W_o:in"], model.blocks
    x = along(seen["blocks.0"], z, z.roll(1, dims=0), below.attention, k,
              above.norms[0])
    with tp.trace(model, {f"blocks.1.attention.{reader}:in": x}):
        return continued(model, ids)

# %% demo="paths-found"
if tp.done(*STACK, "induction", "ablate", "path"):
    tp.table([[k, *(f"{100 * right_along(repeater, twice, k, reader):.0f}"
                    for reader in ("W_q", "W_k", "W_v")),
               f"{100 * continued(repeater, twice, [(0, k)], 'resampling'):.0f}"]
              for k in range(4)],
             ["head of block 0", "queries", "keys", "values", "all paths"],
             caption="Right next tokens, %, if block 1 reads another row's output of "
                     "this head by one path")

# %% [markdown]
# In our five runs, for the head of block 0 with the largest previous-token score, the share of right next tokens if
# another row's output is read: by the queries 100 % (100–100), by the keys 74 % (16–92), by the values 100 % (100–100),
# by all 67 % (12–86). Most of its effect goes through the keys.
#
# ### Exercise 15 · A linear probe
#
# A **probe** is a small classifier of a model's vectors (Alain and Bengio 2016,
# [arXiv 1610.01644](https://arxiv.org/abs/1610.01644)). The simplest uses the difference of two means. A probe may
# memorise the labels of single words. Hewitt and Liang 2019 ([arXiv 1909.03368](https://arxiv.org/abs/1909.03368))
# compare it with a **control task**: the same words, with labels drawn at random for each word.
#
# **Write** `probe(x, labels)`.
# - in: `x` (N, D), `labels` (N,), booleans
# - out: `direction` (D,), the mean of the vectors with label True minus the mean of the others; `threshold`, the dot
#   product of the direction with the point halfway between the two means. A vector is classified as True if its product
#   with the direction is larger.
#
# *Tiny example.* The numbers 0, 2 and 6, of which the last has label True: the direction is 5, the threshold 5 · 3.5 =
# 17.5.
#
# *Minutes* 6 · *Difficulty* ●○○○ · *Extension*
#
# <details><summary>Hint 1 · the idea</summary>
# Two means over the rows of x. Their difference is the direction; half of their sum is the point between them.
# </details>
#
# <details><summary>Hint 2 · the shape</summary>
# <code>x[labels]</code> is (n, D), its mean over the rows (D,).
# </details>
#
# <details><summary>Hint 3 · the line</summary>
# <code>~labels</code> chooses the others. The middle is not the mean of all vectors unless both groups are equally
# large.
# </details>

# %% exercise="probe"
def probe(x, labels):
    """Return `direction` (D,) and `threshold` (); `x` (N, D), boolean `labels` (N,)."""
    # TODO: two means, their difference, the point halfway between them
    ### BEGIN SOLUTION
    true, false = x[labels].mean(dim=0), x[~labels].mean(dim=0)
    direction = true - false
    return direction, direction @ (true + false) / 2
    ### END SOLUTION

# %% check="probe" points=2
tp.check("probe")

# %% given="probes"
from tp.lexicon import NOUNS

GENDERS = {noun.singular: noun.gender == "f" for noun in NOUNS}
CONTROL = dict(zip(GENDERS, random.Random(0).choices([True, False], k=len(GENDERS))))
SITES = {"embedding of the noun": ("encoder.embedding", 0),
         "encoder, at the noun": ("encoder.norm", 0),
         "encoder, at its article": ("encoder.norm", -1)}


@torch.no_grad()
def nouns_read(model, pairs):
    """Return the nouns after an article in the sentences, and vectors by site."""
    nouns, vectors = [], {site: [] for site in SITES}
    for pair, row in zip(pairs, rows_of(pairs)):
        words = pair.source_words
        with tp.trace(model) as seen:
            model.encoder(padded([row])[0])
        for i, word in enumerate(words):
            if word in GENDERS and words[i - 1] in ("the", "a", "an"):
                nouns.append(word)
                for site, (name, shift) in SITES.items():
                    vectors[site].append(seen[name][0, i + shift])
    return nouns, {site: torch.stack(found) for site, found in vectors.items()}

# %% given="probe-scores"
def probed(x, nouns, labels, train, test):
    """Return the share of right labels of the rows `test`, by a probe of the rows
    `train`: lists of booleans.
    """
    truth = torch.tensor([labels[noun] for noun in nouns], device=x.device)
    train, test = (torch.tensor(chosen, device=x.device) for chosen in (train, test))
    direction, threshold = probe(x[train], truth[train])
    return ((x @ direction > threshold) == truth)[test].float().mean().item()


def probe_scores(model, pairs):
    """Return, by site, the right genders of known nouns, of new nouns, and the right
    control labels of known nouns. Every second row, or noun, is used for training.
    """
    nouns, vectors = nouns_read(model, pairs)
    rows = [i % 2 == 0 for i in range(len(nouns))]
    known = [list(GENDERS).index(noun) % 2 == 0 for noun in nouns]
    others = [[not one for one in chosen] for chosen in (rows, known)]
    return {site: [probed(x, nouns, GENDERS, rows, others[0]),
                   probed(x, nouns, GENDERS, known, others[1]),
                   probed(x, nouns, CONTROL, rows, others[0])]
            for site, x in vectors.items()}

# %% demo="probes-read"
if tp.done(*WHOLE, "probe"):
    tp.table([[site, *(f"{100 * share:.0f}" for share in shares)] for site, shares in
              probe_scores(model, corpus.train[:3_000]).items()],
             ["vector", "gender of known nouns", "of new nouns", "control labels"],
             caption="Right labels by a probe, %")

# %% [markdown]
# A high share for known nouns is not evidence if the share for control labels is nearly as high. A probe shows that a
# vector contains information, not that the model uses it (exercise 9).

# %% [markdown]
# ## 8 · Extension: decoding with a key-value cache
#
# ![Writing the fourth word. Without a cache, keys and values of all four positions are computed again. With a cache,
# three are kept, and one is added.](figures/key_value_cache.svg)
#
# `greedy_slowly` recomputes the whole prefix for each word. Under a causal mask, nothing that was computed for a
# position changes when a word is added after it. Later words need only its keys and values. A **key-value cache** keeps
# these.
#
# ### Exercise 16 · A cache, and a decoder that uses it
#
# **Write**
# - `Cache`: `len(cache)`, the number of positions it holds (0 at first), and `extend(keys, values)`, which appends new
#   ones (B, n, T, d) and returns **all** keys and all values.
# - `greedy(model, source, max_length=30)`: as `greedy_slowly`, but one new token at a time. In: `source` (B, S); out:
#   `tokens` (B, T), the most probable at each step, PAD after a sentence's EOS. It stops when every sentence has an
#   EOS, or after `max_length` steps. Call the encoder once and `remember` once; make a cache for each block of the
#   decoder.
#
# *Tiny example.* A cache that got 1 position, then 1 more, has length 2, and its second `extend` returns 2 positions.
#
# *Minutes* 25 · *Difficulty* ●●●○ · *Extension*
#
# <details><summary>Hint 1 · the idea</summary>
# The block and the decoder already use caches. It remains to keep two tensors, and to call the decoder with the newest
# token only.
# </details>
#
# <details><summary>Hint 2 · the shape</summary>
# Positions are the axis −2 of keys and values. The decoder gets (B, 1) and returns (B, 1, V).
# </details>
#
# <details><summary>Hint 3 · the line</summary>
# <code>caches = [Cache() for _ in model.decoder.blocks]</code>, before the loop. A boolean tensor (B,) keeps which
# sentences have ended: <code>ended | (tokens == EOS)</code>.
# </details>

# %% exercise="cache"
class Cache:
    """The keys and values of one block, (B, n, S, d) each, None while it is empty."""

    def __init__(self):
        self.keys = self.values = None

    def __len__(self):
        """Return the number of positions that it holds."""
        # TODO: 0, or S
        ### BEGIN SOLUTION
        return 0 if self.keys is None else self.keys.shape[-2]
        ### END SOLUTION

    def extend(self, keys, values):
        """Append T new positions (B, n, T, d), and return all keys and values."""
        # TODO: append them
        ### BEGIN SOLUTION
        if self.keys is not None:
            keys, values = (torch.cat([self.keys, keys], dim=-2),
                            torch.cat([self.values, values], dim=-2))
        self.keys, self.values = keys, values
        return keys, values
        ### END SOLUTION


@torch.no_grad()
def greedy(model, source, max_length=30):
    """Return `tokens` (B, T) for `source` (B, S), PAD after EOS; one token a step."""
    # TODO: read once; then a token at a time
    ### BEGIN SOLUTION
    vectors, words = model.encoder(source)
    memories = model.decoder.remember(vectors)
    caches = [Cache() for _ in model.decoder.blocks]
    tokens, output = torch.full_like(source[:, 0], SOS), []
    ended = torch.zeros_like(tokens, dtype=torch.bool)
    while len(output) < max_length and not ended.all():
        logits = model.decoder(tokens[:, None], memories, words, caches)
        tokens = logits[:, -1].argmax(dim=-1).masked_fill(ended, PAD)
        ended = ended | (tokens == EOS)
        output.append(tokens)
    return torch.stack(output, dim=1)
    ### END SOLUTION

# %% check="cache" points=5
tp.check("cache")

# %% demo="cache-equal"
if tp.done(*STACK, "cache"):
    torch.manual_seed(0)
    writer, ids = (Decoder(50, 64, 4, 3, cross=False).to(device).eval(),
                   torch.randint(0, 50, (2, 40), device=device))
    with torch.no_grad():
        at_once, caches = writer(ids), [Cache() for _ in writer.blocks]
        step_by_step = torch.cat([writer(ids[:, t:t + 1], caches=caches)
                                  for t in range(40)], dim=1)
    print("largest difference of 40 steps with a cache from all at once: "
          f"{(at_once - step_by_step).abs().max():.1e}")

# %% demo="explore"
@torch.no_grad()
def steps_of(text):
    """Return the steps of the translation of an English sentence."""
    words = text.lower().replace(".", " .").replace("?", " ?").split()
    source, caches, read = (torch.tensor([english.encode(words)], device=device),
                            None, SOS)
    memory, memory_mask = model.encoder(source)
    memories, caches, steps = (model.decoder.remember(memory),
                               [Cache() for _ in model.decoder.blocks], [])
    while read != EOS and len(steps) < 30:
        logits = model.decoder(torch.tensor([[read]], device=device), memories,
                               memory_mask, caches)[0, -1]
        likely, written = logits.softmax(-1).topk(8), logits.argmax().item()
        weights = model.decoder.blocks[-1].cross.attention_weights[0, :, -1].mean(dim=0)
        steps.append(tp.Step(
            read=french.words[read], written=french.words[written],
            source=words, weights=weights,
            distribution={french.words[i]: p for p, i in zip(*map(
                torch.Tensor.tolist, likely))}))
        read = written
    return steps


if tp.done(*WHOLE, "cache"):
    tp.explore(steps_of, "The old women did not see the red cars.",
               title="your Transformer")

# %% [markdown]
# ## 9 · Extension: scratchpads
#
# A network that writes 487 · 623 at once must compute each digit in one step. A **scratchpad** (Nye et al. 2021,
# [arXiv 2112.00114](https://arxiv.org/abs/2112.00114)) is a text of intermediate steps before the answer. A **chain of
# thought** (Wei et al. 2022, [arXiv 2201.11903](https://arxiv.org/abs/2201.11903)) does the same in words.
#
# ![Above, long multiplication: a digit of the sum depends on two digits far apart and on a carry that is not written.
# Below, the local scratchpad: each product digit is in one row with its factors.](figures/scratchpads.svg)
#
# The model is a decoder without an encoder: it reads `78*64=` and continues. All numbers have their **least significant
# digit first**: `78*64=` is 87 times 46. The answer follows the last `=`. `tp.scratchpads` has three designs:
# - *no scratchpad*;
# - *long multiplication*: partial products and running sums, one after the other;
# - *local scratchpad*: each product digit in one row with its two factors, and every carry.

# %% given="writer"
from tp.scratchpads import (CHARACTERS, local_scratchpad, long_multiplication,
                            no_scratchpad, text_batch, written_out)


def writer_loss(writer, ids, n):
    """Return the loss of texts, ids (B, T), after their questions."""
    logits = writer(ids[:, :-1].clamp(min=0))[:, 2 * n + 1:]
    return F.cross_entropy(logits.flatten(0, 1), ids[:, 2 * n + 2:].flatten())


def train_writer(design, steps, n=3, seed=0, title=""):
    """Train and return a decoder of two blocks that continues after the question."""
    torch.manual_seed(seed)
    writer, rng = (Decoder(len(CHARACTERS), 64, 4, 2, cross=False,
                           positions=Learned).to(device), random.Random(seed))
    optimizer = torch.optim.AdamW(writer.parameters(), 3e-3, betas=(0.9, 0.98),
                                  fused=True)
    held_out, _ = text_batch(design, random.Random(1), 100, n, held_out=True)
    view = tp.live(steps=steps, title=title)
    for step in view:
        warm = min(1, (step + 1) / 100) * (0.5 + 0.5 * math.cos(math.pi * step / steps))
        optimizer.param_groups[0]["lr"] = 3e-3 * warm
        ids, _ = text_batch(design, rng, 64, n)
        loss = writer_loss(writer, ids.to(device), n)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(writer.parameters(), 1.0)
        optimizer.step()
        view.log(loss=loss)
        if step % 100 == 99:
            with torch.no_grad():
                view.log(val_loss=writer_loss(writer, held_out.to(device), n))
    return writer

# %% [markdown]
# The model decodes with your cache. Only the answer counts, not the scratchpad:

# %% given="scratchpad-answers"
@torch.no_grad()
def write_on(writer, questions, length):
    """Return what the model writes after each question, up to its first end of line.

    The questions are strings of equal length.
    """
    ids = torch.tensor([[CHARACTERS.index(c) for c in question]
                        for question in questions], device=device)
    caches, output = [Cache() for _ in writer.blocks], []
    for _ in range(length):
        ids = writer(ids, caches=caches)[:, -1:].argmax(dim=-1)
        output.append(ids)
    return ["".join(CHARACTERS[i] for i in row).split("\n")[0]
            for row in torch.cat(output, dim=1).tolist()]


def answers_right(writer, design, n=3, count=300, seed=1):
    """Return the exact match of the answers, after the last `=`, of held-out tasks."""
    _, texts = text_batch(design, random.Random(seed), count, n, held_out=True)
    written = write_on(
        writer, [text[:2 * n + 2] for text in texts], max(map(len, texts)))
    return sum(one.split("=")[-1] == text[:-1].split("=")[-1]
               for one, text in zip(written, texts)) / count

# %% training="scratchpads"
if LONG_RUNS and tp.done(*STACK, "cache"):
    designs = {"none": no_scratchpad, "long multiplication": long_multiplication,
               "local": local_scratchpad}
    writers, rows = {}, []
    for name, design in designs.items():
        writers[name] = train_writer(design, 600, title=f"scratchpad: {name}")
        rows.append([name, len(design(123, 456, 3)),
                     *(f"{100 * answers_right(writers[name], design, n):.1f}"
                       for n in (3, 4))])
    tp.table(rows, ["scratchpad", "characters", "3 digits, %", "4 digits, %"])

# %% [markdown]
# | scratchpad | characters | 3 digits, % | 4 digits, % |
# |---|--:|--:|--:|
# | none | 0 | 0.0 (0.0–0.3) | 0.0 |
# | long multiplication | 34 | 9.3 (6.0–67.0) | 0.0 |
# | local | 50 | 100.0 (100.0–100.0) | 0.0 |
#
# We trained for 600 steps on multiplications of three digits, with five seeds, and tested on 300 held-out ones of three
# and of four digits (exact match: median and range).

# %% [markdown] answer="scratchpad" points=3
# **Question 4.** (a) What does a scratchpad gain, and what does it cost? Use the characters and the right answers in
# the table. (b) Print `long_multiplication(87, 46, 2)` and `local_scratchpad(87, 46, 2)`; the figure and `help` explain
# their order. On how many characters does a digit of a product depend in each, and where are they? (c) What does the
# last column show about what the model has learned?
#
# *Minutes* 8 · *Extension*
#
# ### BEGIN SOLUTION
# (a) It gains right answers and costs decoder steps: 50 characters before the answer in place of none. Each step has
# the same depth; with the scratchpad a multiplication has many steps, and each computes little. The number of
# characters and the design change together: long multiplication has 34 characters, and 6 to 67 % of the answers right.
# So the table does not show which of them helps; 50 filler characters would test it (Pfau et al. 2024,
# [arXiv 2404.15758](https://arxiv.org/abs/2404.15758)). The wide range also shows that after 600 steps the result
# depends on the seed.
#
# (b) In long multiplication, a digit of a partial product depends on two distant digits of the question and on a carry
# that is not written, so on all lower digits. In the local scratchpad, it depends on two digits and a carry of the same
# row.
#
# (c) In our runs not one of 300 multiplications of four digits was right, with any scratchpad and any seed. The
# positions beyond those of three digits were never trained, and the number of digits is part of the format: the model
# has learned a procedure for this format. The runs do not separate positions from format.
#
# **Rubric.** 1 point: right answers against characters or steps, with numbers. 1 point: what a character depends on, in
# both. 1 point: format or positions against the procedure itself.
# ### END SOLUTION

# %% [markdown]
# ## Summary
#
# You wrote a Transformer and scored explanations of its outputs.
#
# **Further reading**
#
# - ARENA, chapter 1, [learn.arena.education](https://learn.arena.education): these tools on language models, function
#   vectors, sparse autoencoders. TransformerLens and nnsight do for large models what `tp.trace` does.
# - Rush and others, *The Annotated Transformer*,
#   [nlp.seas.harvard.edu/annotated-transformer](https://nlp.seas.harvard.edu/annotated-transformer/): the paper of
#   2017, line by line in PyTorch.

# %% demo="progress"
tp.progress()
