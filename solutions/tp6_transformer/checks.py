"""Checks of session 6: heads, rotary positional encoding, block, decoder; explanations, patches, circuits; a cache.

Axes by letter: B batch, T target timesteps, S source timesteps, D a token's vector, h heads, d a head's, V vocabulary.
"""

import torch
from torch import nn

from autograder.authoring import check

PAD, SOS, EOS = 0, 1, 2


def ragged(t, B, S, shortest=1):
    """Return a mask (B, S), True at real tokens: lengths up to S, one of them S, not all equal."""
    lengths = t.integers(shortest, S + 1, B)
    lengths[t.integer(0, B)] = S
    t.assume(B < 2 or len(set(lengths.tolist())) > 1)
    return torch.arange(S)[None] < lengths[:, None]


def even(t, letters, low=2, high=5):
    """Return distinct even sizes."""
    return [2 * n for n in t.sizes(letters, smallest=low, largest=high)]


# ---------------------------------------------------------------- masks

@check("masks", weight=2)
def padding(t):
    """True at real tokens, False at PAD; SOS, EOS and UNK are real tokens."""
    B, S = t.sizes("B S", smallest=4)
    tokens = t.integers(1, 9, B, S) * ragged(t, B, S)
    tokens[0, :3] = torch.tensor([1, 2, 3])
    t.output("mask", t["padding_mask"](tokens), axes="B 1 1 S")


@check("masks", weight=2)
def causal(t):
    """Each position attends to itself and to earlier ones; a single position."""
    T = t.integer(3, 7)
    t.output("mask", t["causal_mask"](T), axes="T S")
    t.output("mask of one position", t["causal_mask"](1), axes="1 1")


@check("masks")
def causal_with_a_past(t):
    """All queries may attend to past positions."""
    T, past = t.integer(2, 30), t.integer(30, 60)  # so many that two draws are hardly ever the same
    t.output("mask", t["causal_mask"](T, past), axes="T S")
    t.output("mask of one new position", t["causal_mask"](1, past), axes="1 S")
    t.output("device of a mask", t["causal_mask"](T, past, "meta").device.type)


# ---------------------------------------------------------------- heads

def stand_in_attend(query, key, value, mask=None, bias=None):
    weights = torch.sin(query @ key.transpose(-2, -1)) + 0.5
    if bias is not None:
        weights = weights + bias
    if mask is not None:
        weights = weights * mask
    return weights @ value + 0.1, weights


class StandInPositions(nn.Module):
    """Positions whose results depend on each call and on `start`."""

    def __init__(self, D, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.slope = nn.Parameter(torch.ones(n_heads, 1, 1))  # a bias may be learned

    def add(self, x, start=0):
        positions = torch.arange(start, start + x.shape[1], device=x.device, dtype=x.dtype)
        return x + 0.3 * torch.cos(positions)[:, None]

    def rotate(self, x, start=0):
        positions = torch.arange(start, start + x.shape[2], device=x.device, dtype=x.dtype)
        return x * (1.5 + torch.sin(1 + positions))[:, None]

    def bias(self, T, S):
        numbers = torch.arange(self.n_heads * T * S, device=self.slope.device)
        return self.slope * numbers.reshape(self.n_heads, T, S).cos()


def heads_of(t, D, n_heads, positions=False, kv_heads=None):
    t.stub("attend", stand_in_attend)
    added = t.define(StandInPositions, like="Positions")(D, n_heads) if positions else None
    attention = t["MultiHeadAttention"](D, n_heads, added, kv_heads)
    t.randomise_weights(attention, scale=0.6)
    return attention


FORBIDDEN = ("multi_head_attention_forward", "scaled_dot_product_attention")


def head_sizes(t):
    """B, T, S, heads, size of a head: all distinct."""
    return t.sizes("B T S h d", smallest=2, largest=8)


@check("heads", weight=2)
def split_into_heads(t):
    """The heads' axis: the first d numbers of each token belong to the first head."""
    B, T, S, h, d = head_sizes(t)
    t.output("split", heads_of(t, h * d, h).split(t.normal(B, T, h * d)), axes="B h T d")


@check("heads", weight=2)
def remembered(t):
    """Keys and values, split; the keys rotated from the given `start`, the values not."""
    B, T, S, h, d = head_sizes(t)
    keys, values = t.unpack(heads_of(t, h * d, h, True).remember(t.normal(B, S, h * d), t.integer(2, 9)), 2)
    t.output("keys", keys, axes="B h S d")
    t.output("values", values, axes="B h S d")


@check("heads", weight=2)
def attended(t):
    """Result and attention weights of a batch, for given keys and values, under a mask."""
    t.forbid(*FORBIDDEN)
    B, T, S, h, d = head_sizes(t)
    attention = heads_of(t, h * d, h)
    t.output("result", attention(t.normal(B, T, h * d), t.normal(B, h, S, d), t.normal(B, h, S, d),
                                 ragged(t, B, S)[:, None, None, :]), axes="B T D")


@check("heads", skip_relations={"gradient": "the weights are kept for inspection: kept without a gradient is right"})
def kept_weights(t):
    """The attention weights of a batch are kept, those of padding too."""
    t.forbid(*FORBIDDEN)
    B, T, S, h, d = head_sizes(t)
    attention = heads_of(t, h * d, h)
    attention(t.normal(B, T, h * d), t.normal(B, h, S, d), t.normal(B, h, S, d), ragged(t, B, S)[:, None, None, :])
    t.output("attention_weights", attention.attention_weights, axes="B h T S")


@check("heads")
def rotated_and_biased(t):
    """Queries rotated from the given `start`, and the bias of the positions."""
    t.forbid(*FORBIDDEN)
    B, T, S, h, d = head_sizes(t)
    attention = heads_of(t, h * d, h, True)
    t.output("result", attention(t.normal(B, T, h * d), t.normal(B, h, S, d), t.normal(B, h, S, d), None,
                                 t.integer(2, 9)), axes="B T D")


@check("heads")
def shared_keys_and_gradient(t):
    """One head of keys and values for all heads of queries; the gradient reaches the input of `remember`."""
    t.forbid(*FORBIDDEN)
    B, T, S, h, d = head_sizes(t)
    attention, x = heads_of(t, h * d, h, kv_heads=1), t.leaf(t.normal(B, S, h * d))
    keys, values = t.unpack(attention.remember(x), 2)
    t.output("keys", keys, axes="B 1 S d")
    t.backward(attention(t.normal(B, T, h * d), keys, values))
    t.output("gradient of the input of remember", x.grad, axes="B S D")


# ---------------------------------------------------------------- positions

@check("rotate", weight=2)
def rotated(t):
    """Every pair rotated by its angle; the axes in front unchanged."""
    B, h, T = t.sizes("B h T")
    t.output("rotated", t["rotate"](t.normal(B, h, T, 2 * t.integer(2, 5))), axes="B h T d", atol=1e-4)
    d = 2 * t.integer(2, 4)
    t.output("rotated, as many positions as numbers", t["rotate"](t.normal(B, h, d, d)), axes="B h T d", atol=1e-4)


@check("rotate", weight=2)
def rotated_from_a_start(t):
    """Positions from a larger `start` on, also far away, and a single vector."""
    T, d = t.integer(3, 6), 2 * t.integer(2, 5)
    t.output("rotated", t["rotate"](t.normal(T, d), t.integer(2, 20)), axes="T d", atol=1e-4)
    t.output("one vector", t["rotate"](t.normal(1, d), t.integer(2, 20)), axes="1 d", atol=1e-4)
    t.output("rotated far away", t["rotate"](t.normal(T, 8), t.integer(3900, 4000)), axes="T d", atol=2e-3)


@check("rotate")
def rotate_gradient(t):
    """The gradient passes through `rotate`."""
    T, d = t.integer(3, 6), 2 * t.integer(2, 5)
    x = t.leaf(t.normal(2, T, d))
    t.backward(t["rotate"](x, 1))
    t.output("gradient of x", x.grad, axes="B T d", atol=1e-4)


# ---------------------------------------------------------------- block

class StandInHeads(nn.Module):
    """Attention of another kind, in one head; its results depend on `start`."""

    def __init__(self, D, n_heads, positions=None, kv_heads=None):
        super().__init__()
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(D, D) for _ in range(4))
        self.head_size, self.positions, self.attention_weights = D // n_heads, positions, None

    def split(self, x):
        return x.unsqueeze(1)

    def remember(self, x, start=0):
        return self.split(self.W_k(x)) + 0.1 * start, self.split(self.W_v(x))

    def forward(self, x, keys, values, mask=None, start=0):
        scores = torch.tanh(self.split(self.W_q(x)) @ keys.transpose(-2, -1)) + 0.05 * start
        if mask is not None:
            scores = scores * mask
        self.attention_weights = scores
        return self.W_o((scores @ values).squeeze(1))


class StandInCache:
    """Holds pairs (B, n, S, d), the newest in front, unlike the answer; `calls` counts how often it was extended."""

    keys = property(lambda self: self.whole()[0] if self.pairs else None)
    values = property(lambda self: self.whole()[1] if self.pairs else None)

    def __init__(self):
        self.pairs, self.calls = [], 0

    def __len__(self):
        return sum(pair[0].shape[-2] for pair in self.pairs)

    def whole(self):
        return tuple(torch.cat(parts, -2) for parts in zip(*reversed(self.pairs), strict=True))

    def extend(self, keys, values):
        self.pairs.append((keys, values))
        self.calls += 1
        return self.whole()


def block_of(t, D, cross=False, pre_norm=True):
    t.stub("MultiHeadAttention", StandInHeads)
    block = t["Block"](D, 1, cross, None, pre_norm)
    t.randomise_weights(block, scale=0.6)
    return block


@check("block")
def around_a_part(t):
    """One part with its residual and its norm, pre-norm and post-norm."""
    B, T, D = t.sizes("B T D")
    for name, pre_norm in (("pre-norm", True), ("post-norm", False)):
        block = block_of(t, D, pre_norm=pre_norm)
        t.output(name, block.around(t.torch.tanh, t.normal(B, T, D, scale=2), t.torch.sin), axes="B T D")


@check("block", weight=2)
def encoder_block(t):
    """Self-attention under a mask, and feed-forward; pre-norm and post-norm."""
    B, T, D = t.sizes("B T D", smallest=4)
    mask = ragged(t, B, T)[:, None, None, :]
    for name, pre_norm in (("pre-norm", True), ("post-norm", False)):
        block = block_of(t, D, pre_norm=pre_norm)
        t.output(f"result, {name}", block(t.normal(B, T, D, scale=2), mask), axes="B T D")


@check("block", weight=2)
def decoder_block(t):
    """Three parts: self-attention, cross-attention under its own mask, feed-forward; the second only with a memory."""
    B, T, S, D = t.sizes("B T S D", smallest=4, largest=9)
    block, mask = block_of(t, D, cross=True), torch.ones(T, T, dtype=torch.bool).tril()
    for size, name in ((S, "result"), (T, "result on a memory as long as x")):
        memory, memory_mask = (t.normal(B, 1, size, D), t.normal(B, 1, size, D)), ragged(t, B, size)
        t.output(name, block(t.normal(B, T, D, scale=2), mask, memory, memory_mask[:, None, None, :]), axes="B T D")
    t.output("result without a memory", block(t.normal(B, T, D, scale=2), mask), axes="B T D")
    x, memory = t.normal(B, T, D, scale=2), (t.normal(B, 1, S, D), t.normal(B, 1, S, D))
    t.output("result, post-norm", block_of(t, D, cross=True, pre_norm=False)(x, mask, memory), axes="B T D")


@check("block", weight=2)
def with_a_cache(t):
    """Keys and values go through the cache, and positions continue after it; an empty cache is a cache too."""
    B, T, S, D = t.sizes("B T S D")
    block = block_of(t, D)
    for name, size in (("a cache", S), ("an empty cache", 0)):
        cache = t.define(StandInCache, like="Cache")()
        if size:
            cache.extend(t.normal(B, 1, size, D), t.normal(B, 1, size, D))
        t.output(f"result with {name}", block(t.normal(B, T, D, scale=2), None, None, None, cache), axes="B T D")
        t.output(f"calls of {name}", cache.calls)
        t.output(f"keys in {name}", cache.whole()[0], axes="B 1 S D")


@check("block")
def block_gradient(t):
    """The gradient reaches the input, through the parts and along the residual."""
    B, T, D = t.sizes("B T D")
    x = t.leaf(t.normal(B, T, D))
    t.backward(block_of(t, D)(x))
    t.output("gradient of x", x.grad, axes="B T D")


# ---------------------------------------------------------------- decoder

class StandInBlock(nn.Module):
    """A block of one matrix, in which mask, memory and cache all leave a trace."""

    attention = property(lambda self: self)
    cross = property(lambda self: self if self.crossed else None)

    def __init__(self, D, n_heads, cross=False, positions=None, pre_norm=True, kv_heads=None):
        super().__init__()
        self.mix = self.feed_forward = nn.Linear(D, D)
        self.norms = nn.ModuleList([nn.Identity() for _ in range(3 if cross else 2)])
        self.crossed, self.pre_norm = cross, pre_norm

    def remember(self, memory, start=0):
        return self.mix(memory)[:, None], memory[:, None]

    def around(self, norm, x, part):
        return part(norm(x))

    def forward(self, x, mask=None, memory=None, memory_mask=None, cache=None):
        seen = 5 if mask is None else mask.sum(-1).reshape(-1, x.shape[1], 1)  # whether it has axes of size one or not
        x = torch.tanh(self.mix(x)) + 0.1 * seen
        if memory is not None:
            keys, values = memory
            x = x + (keys * memory_mask.transpose(-2, -1) + 0.3 * values)[:, 0].mean(1, keepdim=True)
        if cache is not None:
            cache.extend(x[:, None], x[:, None])
        return x


def stand_in_causal_mask(T, past=0, device=None):
    """Return another mask than the answer's: of every three positions in a row, one is excluded."""
    return (torch.arange(past + T, device=device) + 2 * torch.arange(past, past + T, device=device)[:, None]) % 3 > 0


def decoder_of(t, V, D, cross, n_layers=2):
    t.stub("Block", StandInBlock)
    t.stub("causal_mask", stand_in_causal_mask)
    decoder = t["Decoder"](V, D, 1, n_layers, cross, t.define(StandInPositions, like="Positions"))
    t.randomise_weights(decoder, scale=0.7)
    return decoder


@check("decoder", weight=2)
def without_a_source(t):
    """Logits of a batch of a model without a source."""
    B, T, V, D = t.sizes("B T V D", smallest=4, largest=9)
    t.output("logits", decoder_of(t, V, D, False)(t.integers(0, V, B, T)), axes="B T V")


@check("decoder", weight=2)
def with_a_source(t):
    """Each block gets its own memory, and all get the same mask."""
    B, T, S, V, D = t.sizes("B T S V D", smallest=3, largest=9)
    memories = [(t.normal(B, 1, S, D), t.normal(B, 1, S, D)) for _ in range(2)]
    mask = ragged(t, B, S)[:, None, None, :]
    t.output("logits", decoder_of(t, V, D, True)(t.integers(0, V, B, T), memories, mask), axes="B T V")


@check("decoder", weight=2)
def with_caches(t):
    """Positions and mask continue after the caches; each block has its own cache; one block alone."""
    B, T, S, V, D = t.sizes("B T S V D", smallest=2, largest=8)
    for n_layers, of in ((2, ""), (1, " of one block")):
        caches = [t.define(StandInCache, like="Cache")() for _ in range(n_layers)]
        for cache in caches:
            cache.extend(t.normal(B, 1, S, D), t.normal(B, 1, S, D))
        decoder = decoder_of(t, V, D, False, n_layers)
        t.output(f"logits{of}", decoder(t.integers(0, V, B, T), None, None, caches), axes="B T V")
        for i, cache in enumerate(caches):
            t.output(f"keys of cache {i}{of}", cache.whole()[0], axes="B 1 S D")
    empty = t.define(StandInCache, like="Cache")()
    decoder(t.integers(0, V, B, T), None, None, [empty])
    t.output("keys of a cache that was empty", empty.whole()[0], axes="B 1 T D")


@check("decoder")
def decoder_gradient(t):
    """The gradient reaches embedding and memory."""
    B, T, S, V, D = t.sizes("B T S V D", smallest=3, largest=9)
    decoder, memory = decoder_of(t, V, D, True, 1), t.leaf(t.normal(B, 1, S, D))
    t.backward(decoder(t.integers(0, V, B, T), [(memory, memory)], torch.ones(B, 1, 1, S, dtype=torch.bool)))
    t.output("gradient of the embedding", decoder.embedding.weight.grad, axes="V D")
    t.output("gradient of the memory", memory.grad, axes="B 1 S D")


# ---------------------------------------------------------------- explanations

MEASURED = {"gradient": "what is returned is a measurement: whether it has a gradient of its own is left open"}


@check("read-norms", weight=2, skip_relations=MEASURED)
def norms_of_what_is_read(t):
    """Norms of the vectors from several heads, some of which cancel."""
    h, T, S, d, D = t.sizes("h T S d D", smallest=2, largest=8)
    t.output("norms", t["read_norms"](t.uniform(h, T, S), t.normal(h, S, d), t.normal(D, h * d)), axes="T S")


@check("read-norms", skip_relations=MEASURED)
def one_head_that_reads(t):
    """One head alone."""
    T, S, d = t.sizes("T S d")
    t.output("norms", t["read_norms"](t.uniform(1, T, S), t.normal(1, S, d), t.normal(d, d)), axes="T S")


class LogProb(nn.Module):
    """T numbers of a sentence of S words, each of all words of its own sentence."""

    def __init__(self, T, S, D):
        super().__init__()
        self.read, self.mix = nn.Parameter(torch.zeros(T, S, D)), nn.Parameter(torch.zeros(T, T))

    def forward(self, x):
        return torch.tanh(torch.einsum("tsd,bsd->bt", self.read, x)) @ self.mix.T


def log_prob_of_words(t, T, S, D):
    log_prob = t.define(LogProb)(T, S, D)
    t.randomise_weights(log_prob, scale=0.5)
    return log_prob


@check("gradients", weight=2, skip_relations=MEASURED)
def slopes_and_products(t):
    """The gradient of each number, and its product with the input."""
    T, S, D = t.sizes("T S D")
    log_prob, x = log_prob_of_words(t, T, S, D), t.normal(S, D)
    t.output("slopes", t["slopes"](log_prob, x), axes="T S D")
    t.output("gradient times input", t["gradient_times_input"](log_prob, x), axes="T S")


@check("gradients", weight=2, skip_relations=MEASURED)
def integrated(t):
    """The mean gradient from a baseline that is not zero; eight pieces, and another number of them."""
    T, S, D = t.sizes("T S D")
    log_prob, x, baseline = log_prob_of_words(t, T, S, D), t.normal(S, D, scale=2), t.normal(S, D)
    t.output("integrated gradients", t["integrated_gradients"](log_prob, x, baseline), axes="T S")
    t.output("integrated gradients in few pieces", t["integrated_gradients"](log_prob, x, baseline, t.integer(2, 5)),
             axes="T S")


@check("gradients", skip_relations=MEASURED)
def of_one_word(t):
    """A sentence of one word and one number."""
    log_prob, x = log_prob_of_words(t, 1, 1, 3), t.normal(1, 3)
    t.output("slopes", t["slopes"](log_prob, x), axes="T S D")
    t.output("integrated gradients", t["integrated_gradients"](log_prob, x, torch.zeros(1, 3)), axes="T S")


@check("effects", weight=2, skip_relations=MEASURED)
def replaced_by_several(t):
    """Each word replaced by several vectors, averaged; the sign; the order of the axes."""
    T, S, D, N = t.sizes("T S D N")
    t.output("effects", t["effects"](log_prob_of_words(t, T, S, D), t.normal(S, D), t.normal(N, D)), axes="T S")


@check("effects", skip_relations=MEASURED)
def replaced_by_one(t):
    """Each word replaced by one vector, the mean, which is not zero."""
    T, S, D = t.sizes("T S D")
    t.output("effects", t["effects"](log_prob_of_words(t, T, S, D), t.normal(S, D), 1 + t.normal(1, D)), axes="T S")


class Translating(nn.Module):
    """A translator whose parts can be traced: words are mixed, then each position of the target attends to them."""

    def __init__(self, V, D):
        super().__init__()
        self.embedding, self.target = nn.Embedding(V, D), nn.Embedding(V, D)
        self.mix = nn.GRU(D, D, batch_first=True)
        self.readout = nn.Linear(D, V)

    def forward(self, source, target):
        x = self.mix(self.embedding(source))[0]
        wanted = self.target(target)
        return self.readout(torch.tanh((wanted @ x.transpose(1, 2)).tanh() @ x + 0.3 * wanted))


def difference(logits):
    return logits[0, 1, 3] - logits[0, 1, 4]


@check("patching", weight=2)
def shares_restored(t):
    """The share that each position restores, before the words are mixed and after."""
    S, T, V = t.integer(3, 7), t.integer(2, 5), 12
    model, measure = t.define(Translating)(V, 5), t.define(difference)
    t.randomise_weights(model)
    clean, target = t.integers(0, V, 1, S), t.integers(0, V, 1, T)
    corrupt = clean.clone()
    at = t.integer(0, S)
    corrupt[0, at] = (clean[0, at] + t.integer(1, V)) % V
    apart = [measure(model(source, target)).value for source in (clean, corrupt)]
    t.assume(abs(apart[0] - apart[1]) > 0.5)
    for name in ("embedding", "mix", "target"):
        t.output(f"restored by {name}", t["restored"](model, clean, corrupt, target, name, measure), axes="P")


@check("patching")
def all_words_differ(t):
    """Sentences that differ in all words, and sentences of one word."""
    S, T, V = t.integer(3, 7), 3, 12
    model, measure = t.define(Translating)(V, 5), t.define(difference)
    t.randomise_weights(model)
    target = t.integers(0, V, 1, T)
    for words, of in ((S, ""), (1, " of one word")):
        clean = t.integers(0, V, 1, words)
        corrupt = (clean + t.integers(1, V, 1, words)) % V
        apart = [measure(model(source, target)).value for source in (clean, corrupt)]
        t.assume(abs(apart[0] - apart[1]) > 0.5)
        t.output(f"restored by mix{of}", t["restored"](model, clean, corrupt, target, "mix", measure), axes="P")


@check("ablate", weight=2, skip_relations=MEASURED)
def heads_replaced(t):
    """Some heads get the mean's columns, the others keep theirs; the traced activation does not change."""
    B, T, h, d = t.sizes("B T h d", smallest=3)
    heads = sorted(t.rng.permutation(h)[:2].tolist())
    z = t.torch.clone(t.normal(B, T, h * d))
    t.output("with the mean", t["ablate"](heads, d, t.normal(h * d))(z), axes="B T D")
    t.output("with another sentence", t["ablate"](heads, d, t.normal(B, T, h * d))(z), axes="B T D")
    t.output("traced activation", z, axes="B T D")


@check("ablate", skip_relations=MEASURED)
def one_or_none(t):
    """One head; no head at all."""
    B, T, h, d = t.sizes("B T h d")
    t.output("one head", t["ablate"]([t.integer(0, h)], d, t.normal(h * d))(t.normal(B, T, h * d)), axes="B T D")
    t.output("no head", t["ablate"]([], d, t.normal(h * d))(t.normal(B, T, h * d)), axes="B T D")


class Norm(nn.LayerNorm):
    """A layer norm whose `eps` is large enough to count."""

    def __init__(self, D, eps):
        super().__init__(D, eps=eps)


@check("attribution", weight=2, skip_relations=MEASURED)
def shares_of_parts(t):
    """The shares of several parts, whose means and deviations differ, in a difference of logits."""
    K, T, D = t.sizes("K T D")
    norm = t.define(Norm)(D, 0.5)
    t.randomise_weights(norm)
    parts = t.normal(K, T, D) * t.uniform(K, 1, 1) + t.normal(K, T, 1)
    t.output("shares", t["logit_shares"](parts, norm, t.normal(D)), axes="K T")


@check("attribution", skip_relations=MEASURED)
def share_of_one_part(t):
    """One part alone: the logits, except for the norm's bias."""
    T, D = t.sizes("T D")
    norm = t.define(Norm)(D, 1e-5)
    t.randomise_weights(norm)
    t.output("shares", t["logit_shares"](1 + t.normal(1, T, D), norm, t.normal(D)), axes="K T")
    far = 300 + t.normal(1, T, D)
    t.assume(bool((far.std(-1) > 0.5).all()))  # so that rounding decides nothing
    shares = t["logit_shares"](far, norm, t.normal(D))
    t.output("shares of a part whose mean is large", shares, axes="K T", atol=1e-3)


@check("induction", weight=2, skip_relations=MEASURED)
def scored_heads(t):
    """The mean weight on the token after the earlier occurrence, for each head."""
    B, h, L = t.sizes("B h L", smallest=3)
    t.output("scores", t["induction_scores"](t.uniform(B, h, 2 * L, 2 * L), L), axes="h")


@check("induction", skip_relations=MEASURED)
def one_head_one_row(t):
    """One head, one row of tokens."""
    L = t.integer(3, 8)
    t.output("scores", t["induction_scores"](t.uniform(1, 1, 2 * L, 2 * L), L), axes="h")


def weights_of(t, h, d):
    attention = t["MultiHeadAttention"](h * d, h)  # only its weights and the size of a head are read
    t.randomise_weights(attention, scale=0.6)
    return attention


@check("circuits", weight=2, skip_relations=MEASURED)
def scores_and_writing(t):
    """Both circuits of each of several heads, whose sizes are all different."""
    T, S, V, h, d = t.sizes("T S V h d", smallest=2, largest=7)
    attention, x, y = weights_of(t, h, d), t.normal(T, h * d), t.normal(S, h * d)
    for k in (0, t.integer(1, h)):
        t.output(f"scores of head {k}", t["qk_circuit"](attention, k, x, y), axes="T S")
        t.output(f"writing of head {k}", t["ov_circuit"](attention, k, y, t.normal(V, h * d)), axes="S V")


@check("circuits", skip_relations=MEASURED)
def circuits_of_one_head(t):
    """One head, one vector."""
    d, V = t.sizes("d V")
    attention, x = weights_of(t, 1, d), t.normal(1, d)
    t.output("scores", t["qk_circuit"](attention, 0, x, x), axes="T S")
    t.output("writing", t["ov_circuit"](attention, 0, x, t.normal(V, d)), axes="S V")


def squashed(x):
    return torch.tanh(x - 0.3)


@check("path", weight=2, skip_relations=MEASURED)
def read_along_a_path(t):
    """The normalised stream if one head of several has another output; the stream does not change."""
    B, T, h, d = t.sizes("B T h d", smallest=2, largest=7)
    attention, norm, stream = weights_of(t, h, d), t.define(squashed), t.torch.clone(t.normal(B, T, h * d))
    for k in (0, t.integer(1, h)):
        t.output(f"read, head {k}",
                 t["along"](stream, t.normal(B, T, h * d), t.normal(B, T, h * d), attention, k, norm), axes="B T D")
    t.output("the stream", stream, axes="B T D")


@check("path", skip_relations=MEASURED)
def read_along_one_sequence(t):
    """One sequence without an axis for the batch; one head."""
    T, d = t.sizes("T d")
    t.output("read", t["along"](t.normal(T, d), t.normal(T, d), t.normal(T, d), weights_of(t, 1, d), 0,
                                t.define(squashed)), axes="T D")


@check("probe", weight=2, skip_relations=MEASURED)
def direction_and_threshold(t):
    """Groups of different sizes, far from the origin."""
    D, n = t.integer(2, 7), t.integer(2, 5)
    N = 3 * n + t.integer(1, 4)
    labels = torch.zeros(N, dtype=torch.bool)
    labels[t.rng.permutation(N)[:n]] = True
    direction, threshold = t.unpack(t["probe"](2 + t.normal(N, D), labels), 2)
    t.output("direction", direction, axes="D")
    t.output("threshold", threshold)


@check("probe", skip_relations=MEASURED)
def one_of_each(t):
    """Two vectors of one number, one with label True."""
    direction, threshold = t.unpack(t["probe"](t.normal(2, 1), torch.tensor([False, True])), 2)
    t.output("direction", direction, axes="D")
    t.output("threshold", threshold)


# ---------------------------------------------------------------- cache

def length_of(thing):
    return len(thing)


@check("cache", weight=2)
def extended(t):
    """Length and contents after some extensions, the first to an empty cache."""
    B, n, d = t.sizes("B n d")
    cache, length = t["Cache"](), t.define(length_of)
    t.output("length at first", length(cache))
    for i in range(3):
        T = t.integer(1, 4)
        keys, values = t.unpack(cache.extend(t.normal(B, n, T, d), t.normal(B, n, T, d)), 2)
        t.output(f"keys after {i + 1}", keys, axes="B n S d")
        t.output(f"values after {i + 1}", values, axes="B n S d")
        t.output(f"length after {i + 1}", length(cache))
    t.output("length of another cache", length(t["Cache"]()))


class ToyModel(nn.Module):
    """Encoder and decoder in one. Its output depends on all tokens read, and on the number of positions.

    Sentence b ends at step `stops[b]`. `reads` counts how often the source was read.
    """

    def __init__(self, V, D, n_blocks, stops):
        super().__init__()
        self.embedding, self.readout = nn.Embedding(V, D), nn.Linear(D, V)
        self.positions, self.norm = nn.Identity(), nn.Identity()
        self.blocks, self.stops, self.reads = [None] * n_blocks, stops, 0

    decoder = property(lambda self: self)
    encoder = property(lambda self: self.read_source)

    def read_source(self, source):
        self.reads += 1
        return self.embedding(source), (source != 0)[:, None, None, :]

    def remember(self, memory):
        return [memory for _ in self.blocks]

    def forward(self, tokens, memories=None, memory_mask=None, caches=None):
        x, start = self.embedding(tokens), len(caches[0]) if caches else 0
        for memory, cache in zip(memories, caches or [None] * len(self.blocks), strict=True):
            seen = x if cache is None else cache.extend(x[:, None], x[:, None])[0][:, 0]
            read = (memory * memory_mask[:, 0, 0, :, None]).sum(1, keepdim=True)
            x = torch.sin(2 * seen.cumsum(1)[:, -x.shape[1]:] + read)
        logits = 3 * self.readout(x)
        logits[:, :, :2] = -90.0
        for b, stop in enumerate(self.stops):
            logits[b, :, 2] = 90.0 * (2 * (torch.arange(start, start + x.shape[1]) + 1 >= stop) - 1)
        return logits


def toy_model(t, V, D, stops):
    model = t.define(ToyModel, like="Decoder")(V, D, 2, stops)
    t.randomise_weights(model)
    return model


def decoded(t, stops, max_length=None, of=""):
    t.stub("Cache", StandInCache)
    B, V = len(stops), t.integer(9, 14)
    S, D = t.sizes("S D", smallest=4, largest=9)
    model = toy_model(t, V, D, stops)
    source = t.integers(3, V, B, S) * ragged(t, B, S)
    tokens = t["greedy"](model, source, *([max_length] if max_length else []))
    ids = tokens.value
    longest = max(len(set(row.tolist())) for row in ids)
    t.assume(ids.shape[1] < 4 or longest > 3)  # it does not repeat one word
    t.output(f"tokens{of}", tokens, axes="B T")
    t.output(f"number of times the source was encoded{of}", model.reads)


@check("cache", weight=2)
def sentences_end(t):
    """The tokens, PAD after EOS, until every sentence has an EOS."""
    stops = [int(n) for n in t.rng.permutation([1, 2, 4, 6, 7])[:t.integer(2, 6)]]
    decoded(t, stops)


@check("cache")
def a_limit(t):
    """At most `max_length` steps; 30 by default."""
    decoded(t, [40, 3], t.integer(5, 9))
    decoded(t, [40], of=" without a limit")


@check("cache")
def one_sentence(t):
    """A batch of one."""
    decoded(t, [t.integer(3, 8)])
