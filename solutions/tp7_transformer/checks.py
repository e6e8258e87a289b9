"""Checks of TP 7: attention in heads, positions, the block, the decoder, its cache, and a working for products.

Axes by letter: B batch, T target timesteps, S source timesteps, D a token's vector, h heads, d a head's, V vocabulary.
"""

import torch
from torch import nn

from autograder.model.trace import check

PAD, SOS, EOS = 0, 1, 2


def ragged(t, B, S, shortest=1):
    """A mask (B, S), True at words: lengths up to S, one of them S, not all alike."""
    lengths = t.integers(shortest, S + 1, B)
    lengths[t.integer(0, B)] = S
    t.require(B < 2 or len(set(lengths.tolist())) > 1)
    return torch.arange(S)[None] < lengths[:, None]


def even(t, letters, low=2, high=5):
    """Distinct even sizes."""
    return [2 * n for n in t.sizes(letters, low=low, high=high)]


# ---------------------------------------------------------------- attend

def attended(t, query, key, value, *more, of=""):
    context, weights = t.unpack(t["attend"](query, key, value, *more), 2)
    t.output(f"weights{of}", weights, axes=AXES_WEIGHTS[query.ndim], sums_to_one="S")
    t.output(f"context{of}", context, axes=AXES_CONTEXT[query.ndim])
    return weights


AXES_WEIGHTS = {2: "T S", 3: "B T S", 4: "B h T S"}
AXES_CONTEXT = {2: "T E", 3: "B T E", 4: "B h T E"}


@check("attend", weight=2)
def weights_and_context(t):
    """Weights that sum to 1 over the source, and the sums of values they make; values of another size than the keys."""
    t.forbid("scaled_dot_product_attention")
    B, T, S, d, E = t.sizes("B T S d E")
    attended(t, t.normal(B, T, d, scale=2), t.normal(B, S, d), t.normal(B, S, E))
    weights = attended(t, t.normal(B, T, d, scale=1e5), t.normal(B, S, d), t.normal(B, S, E), of=" of large scores")
    t.require(not weights.value.frac().any())  # one has it all, and no gradient hangs on how scores are rounded


@check("attend", weight=2)
def masked(t):
    """Masked places get a weight of exactly 0, even where their score is the largest; the mask is one for all heads."""
    t.forbid("scaled_dot_product_attention")
    B, h, T, S, d = t.sizes("B h T S d")
    query, key = t.normal(B, h, T, d, scale=2), t.normal(B, h, S, d)
    mask = ragged(t, B, S)[:, None, None, :]
    if S > 2:  # a place between two others may be hidden, too
        mask[mask.sum(-1).argmax(), ..., t.integer(1, S - 1)] = False
    t.require(not mask.expand(B, h, T, S).gather(-1, (query @ key.transpose(-2, -1)).argmax(-1, keepdim=True)).all())
    attended(t, query, key, t.normal(B, h, S, d), mask)


@check("attend")
def biased(t):
    """A bias is added after the division; with a mask as well."""
    t.forbid("scaled_dot_product_attention")
    B, h, T, S, d = t.sizes("B h T S d", low=4)
    inputs = t.normal(B, h, T, d, scale=2), t.normal(B, h, S, d), t.normal(B, h, S, d)
    bias = t.normal(h, T, S)
    attended(t, *inputs, None, bias, of=" with a bias")
    attended(t, *inputs, torch.ones(T, S, dtype=torch.bool).tril(), bias, of=" with both")


@check("attend")
def one_head_of_keys(t):
    """One head of keys and values for all heads of queries; and no axes in front at all."""
    t.forbid("scaled_dot_product_attention")
    B, h, T, S, d = t.sizes("B h T S d")
    attended(t, t.normal(B, h, T, d), t.normal(B, 1, S, d), t.normal(B, 1, S, d), of=" of shared keys")
    attended(t, t.normal(T, d), t.normal(S, d), t.normal(S, d), of=" of one sequence")


@check("attend")
def attend_gradient(t):
    """The gradient reaches queries, keys and values."""
    t.forbid("scaled_dot_product_attention")
    B, T, S, d = t.sizes("B T S d")
    query, key, value = t.leaf(t.normal(B, T, d)), t.leaf(t.normal(B, S, d)), t.leaf(t.normal(B, S, d))
    t.backward(t["attend"](query, key, value)[0])
    t.output("gradient of query", query.grad, axes="B T D")
    t.output("gradient of key", key.grad, axes="B S D")
    t.output("gradient of value", value.grad, axes="B S D")


# ---------------------------------------------------------------- masks

@check("masks", weight=2)
def padding(t):
    """True at words, False at PAD; SOS, EOS and UNK are words too."""
    B, S = t.sizes("B S", low=4)
    tokens = t.integers(1, 9, B, S) * ragged(t, B, S)
    tokens[0, :3] = torch.tensor([1, 2, 3])
    t.output("mask", t["padding_mask"](tokens), axes="B 1 1 S")


@check("masks", weight=2)
def causal(t):
    """Itself and what stands before; a single place."""
    T = t.integer(3, 7)
    t.output("mask", t["causal_mask"](T), axes="T S")
    t.output("mask of one place", t["causal_mask"](1), axes="1 1")


@check("masks")
def causal_with_a_past(t):
    """Places in the past may be looked at by all."""
    T, past = t.integer(2, 30), t.integer(30, 60)  # so many that two draws are hardly ever the same
    t.output("mask", t["causal_mask"](T, past), axes="T S")
    t.output("mask of one new place", t["causal_mask"](1, past), axes="1 S")


# ---------------------------------------------------------------- heads

def stand_in_attend(query, key, value, mask=None, bias=None):
    weights = torch.sin(query @ key.transpose(-2, -1)) + 0.5
    if bias is not None:
        weights = weights + bias
    if mask is not None:
        weights = weights * mask
    return weights @ value + 0.1, weights


class StandInPositions(nn.Module):
    """Positions that show when they are asked, and where they are told to begin."""

    def __init__(self, D, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.slope = nn.Parameter(torch.ones(n_heads, 1, 1))  # a bias may be learned

    def add(self, x, start=0):
        places = torch.arange(start, start + x.shape[1], device=x.device, dtype=x.dtype)
        return x + 0.3 * torch.cos(places)[:, None]

    def turn(self, x, start=0):
        places = torch.arange(start, start + x.shape[2], device=x.device, dtype=x.dtype)
        return x * (1.5 + torch.sin(1 + places))[:, None]

    def bias(self, T, S):
        places = torch.arange(self.n_heads * T * S, device=self.slope.device)
        return self.slope * places.reshape(self.n_heads, T, S).cos()


def heads_of(t, D, n_heads, positions=False, kv_heads=None):
    t.stub("attend", stand_in_attend)
    places = t.define(StandInPositions, like="Positions")(D, n_heads) if positions else None
    attention = t["MultiHeadAttention"](D, n_heads, places, kv_heads)
    t.weights(attention, scale=0.6)
    attention.kept = torch.ones(n_heads)
    return attention


FORBIDDEN = ("multi_head_attention_forward", "scaled_dot_product_attention")


def head_sizes(t):
    """B, T, S, heads, size of a head: all distinct."""
    return t.sizes("B T S h d", low=2, high=8)


@check("heads", weight=2)
def split_into_heads(t):
    """The heads' axis: the first d numbers of each token belong to the first head."""
    B, T, S, h, d = head_sizes(t)
    t.output("split", heads_of(t, h * d, h).split(t.normal(B, T, h * d)), axes="B h T d")


@check("heads", weight=2)
def remembered(t):
    """Keys and values, split; the keys turned from the start that is given, the values not."""
    B, T, S, h, d = head_sizes(t)
    keys, values = t.unpack(heads_of(t, h * d, h, True).remember(t.normal(B, S, h * d), t.integer(2, 9)), 2)
    t.output("keys", keys, axes="B h S d")
    t.output("values", values, axes="B h S d")


@check("heads", weight=2)
def looked(t):
    """Result and weights of a batch that looks at given keys and values, under a mask."""
    t.forbid(*FORBIDDEN)
    B, T, S, h, d = head_sizes(t)
    attention = heads_of(t, h * d, h)
    t.output("result", attention(t.normal(B, T, h * d), t.normal(B, h, S, d), t.normal(B, h, S, d),
                                 ragged(t, B, S)[:, None, None, :]), axes="B T D")
    t.output("attention_weights", attention.attention_weights, axes="B h T S")


@check("heads")
def turned_and_biased(t):
    """Queries turned from the start that is given, and the bias of the positions."""
    t.forbid(*FORBIDDEN)
    B, T, S, h, d = head_sizes(t)
    attention = heads_of(t, h * d, h, True)
    t.output("result", attention(t.normal(B, T, h * d), t.normal(B, h, S, d), t.normal(B, h, S, d), None,
                                 t.integer(2, 9)), axes="B T D")


@check("heads")
def cut_heads(t):
    """A head that is cut off says nothing."""
    t.forbid(*FORBIDDEN)
    B, T, S, h, d = head_sizes(t)
    attention = heads_of(t, h * d, h)
    kept = torch.ones(h)
    kept[t.integer(0, h)] = 0
    attention.kept = kept
    t.output("result", attention(t.normal(B, T, h * d), t.normal(B, h, S, d), t.normal(B, h, S, d)), axes="B T D")


@check("heads")
def shared_keys_and_gradient(t):
    """One head of keys and values for all heads of queries; the gradient reaches what was remembered."""
    t.forbid(*FORBIDDEN)
    B, T, S, h, d = head_sizes(t)
    attention, x = heads_of(t, h * d, h, kv_heads=1), t.leaf(t.normal(B, S, h * d))
    keys, values = t.unpack(attention.remember(x), 2)
    t.output("keys", keys, axes="B 1 S d")
    t.backward(attention(t.normal(B, T, h * d), keys, values))
    t.output("gradient of what is remembered", x.grad, axes="B S D")


# ---------------------------------------------------------------- influence

class Reader(nn.Module):
    """Each output is a sum over the places that `sees` allows, of a table's rows; entry [t, u]: t sees u."""

    def __init__(self, sees, table):
        super().__init__()
        self.sees, self.table = sees, table

    def forward(self, tokens):
        return torch.einsum("tu,bud->btd", self.sees, self.table[tokens])


def reader(t, T, V, sees, alike=1):
    """A model over V tokens, of which each `alike` that follow each other cannot be told apart."""
    table = t.normal(V, 3)[torch.arange(V) // alike]
    table[:, 1] = 0.5  # one of the three numbers never changes
    return t.define(Reader)(sees.float(), table)


@check("influence", weight=2)
def who_sees_whom(t):
    """The whole map of a model that looks here and there."""
    T, V = t.sizes("T V", low=4, high=9)
    sees = torch.from_numpy(t.rng.random((T, T)) < 0.4)
    t.require(not torch.equal(sees, sees.T) and sees.triu(1).any() and sees.tril(-1).any())
    tokens = t.integers(0, V, T)
    tokens[t.integer(0, T)] = V - 1
    odd = tokens % 2 == 1
    t.require(sees[:, odd].any() and sees[:, ~odd & (tokens < V - 1)].any())
    t.output("influence", t["influence"](reader(t, T, V, sees), tokens, V), axes="T U")
    t.output("influence of tokens that are alike in pairs", t["influence"](reader(t, T, V, sees, 2), tokens, V),
             axes="T U")


@check("influence", weight=2)
def found_leaks(t):
    """Exactly the pairs that look into the future, in order."""
    T, V = t.sizes("T V", low=4, high=9)
    sees = torch.ones(T, T, dtype=torch.bool).tril()
    for _ in range(2):
        sees[t.integer(0, T - 1), T - 1] = True
    t.output("leaks", t["leaks"](reader(t, T, V, sees), t.integers(0, V, T), V))
    t.output("leaks of a causal model", t["leaks"](reader(t, T, V, sees.tril()), t.integers(0, V, T), V))


@check("influence")
def small_and_large(t):
    """Differences as small as rounding do not count; small ones that are real do, and a fall as well as a rise."""
    T, V = 4, 6
    sees = torch.eye(T)
    sees[0] = torch.tensor([0, 1.5e-6, 1e-9, 0.6e-6])  # more than 1e-6 counts, however little more
    sees[1, 3], sees[3, 0] = 1e-3, -2.0
    table = torch.arange(float(V))[:, None] * torch.tensor([1.0, 0.0, 0.5])  # a larger id: larger numbers, one the same
    t.output("influence", t["influence"](t.define(Reader)(sees, table), t.integers(0, V - 1, T), V), axes="T T")


@check("influence")
def tokens_as_they_were(t):
    """The tokens are not changed for who calls."""
    T, V = t.sizes("T V", low=4, high=9)
    tokens = t.torch.tensor(t.integers(0, V, T).tolist())
    t.output("influence", t["influence"](reader(t, T, V, torch.eye(T)), tokens, V), axes="T U")
    t.output("tokens afterwards", tokens, axes="T")


# ---------------------------------------------------------------- positions

@check("sinusoidal", weight=2)
def waves(t):
    """Sines and cosines in turns, for all places."""
    T, (D,) = t.integer(4, 9), even(t, "D", 5, 9)
    t.output("waves", t["sinusoidal"](T, D), axes="T D", atol=1e-4)


@check("sinusoidal")
def one_place_one_pair(t):
    """A single place; a vector of two numbers; far places."""
    t.output("one place", t["sinusoidal"](1, 6), axes="1 D")
    t.output("one pair", t["sinusoidal"](5, 2), axes="T 2", atol=1e-4)
    t.output("far places", t["sinusoidal"](90, 8)[80:], axes="T D", atol=1e-3)
    t.output("places further away", t["sinusoidal"](4000, 8)[3990:], axes="T D", atol=2e-3)


@check("rotate", weight=2)
def turned(t):
    """Every pair turned by its angle; the axes in front as they were."""
    B, h, T = t.sizes("B h T")
    t.output("turned", t["rotate"](t.normal(B, h, T, 2 * t.integer(2, 5))), axes="B h T d", atol=1e-4)


@check("rotate", weight=2)
def turned_from_a_start(t):
    """Places that begin later, also far away, and a single vector."""
    T, d = t.integer(3, 6), 2 * t.integer(2, 5)
    t.output("turned", t["rotate"](t.normal(T, d), t.integer(2, 20)), axes="T d", atol=1e-4)
    t.output("one vector", t["rotate"](t.normal(1, d), t.integer(2, 20)), axes="1 d", atol=1e-4)
    t.output("turned far away", t["rotate"](t.normal(T, 8), t.integer(3900, 4000)), axes="T d", atol=2e-3)


@check("rotate")
def rotate_gradient(t):
    """The gradient passes through."""
    T, d = t.integer(3, 6), 2 * t.integer(2, 5)
    x = t.leaf(t.normal(2, T, d))
    t.backward(t["rotate"](x, 1))
    t.output("gradient of x", x.grad, axes="B T d", atol=1e-4)


@check("alibi", weight=2)
def ramps(t):
    """A ramp for each head, all places asking."""
    T, h = t.sizes("T h", low=3, high=9)
    t.output("bias", t["alibi"](T, T, h), axes="h T S")


@check("alibi", weight=2)
def last_places(t):
    """Only the last places ask; one of them; one head."""
    T, h = t.sizes("T h", low=2, high=6)
    t.output("bias", t["alibi"](T, T + t.integer(2, 6), h), axes="h T S")
    t.output("bias of one place and one head", t["alibi"](1, t.integer(3, 7), 1), axes="1 1 S")


# ---------------------------------------------------------------- layer norm

@check("layer-norm", weight=2)
def normed(t):
    """Each vector by itself, then gain and shift."""
    t.forbid("layer_norm")
    B, T, D = t.sizes("B T D")
    t.output("normed", t["layer_norm"](2 + t.normal(B, T, D, scale=3), t.normal(D), t.normal(D)), axes="B T D")


@check("layer-norm")
def small_vectors(t):
    """Small numbers, where eps can be seen, another eps, and one vector alone."""
    t.forbid("layer_norm")
    D = t.integer(3, 8)
    t.output("of small numbers", t["layer_norm"](t.normal(2, D, scale=3e-3), t.normal(D), t.normal(D)), axes="T D")
    t.output("with an eps of 0.5", t["layer_norm"](t.normal(D), torch.ones(D), torch.zeros(D), 0.5), axes="D")


@check("layer-norm")
def norm_gradient(t):
    """The gradient passes through mean and variance."""
    t.forbid("layer_norm")
    T, D = t.sizes("T D")
    x, gain = t.leaf(t.normal(T, D)), t.leaf(t.normal(D))
    t.backward(t["layer_norm"](x, gain, torch.zeros(D)))
    t.output("gradient of x", x.grad, axes="T D")
    t.output("gradient of gain", gain.grad, axes="D")


# ---------------------------------------------------------------- block

class StandInHeads(nn.Module):
    """Attention of another kind, in one head; it says where it was told to start."""

    def __init__(self, D, n_heads, positions=None, kv_heads=None):
        super().__init__()
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(D, D) for _ in range(4))
        self.head_size, self.positions, self.attention_weights = D // n_heads, positions, None
        self.register_buffer("kept", torch.ones(n_heads))

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
    """Holds pairs (B, n, S, d) as they came; `calls` counts how often it was extended."""

    keys = property(lambda self: self.whole()[0] if self.pairs else None)
    values = property(lambda self: self.whole()[1] if self.pairs else None)

    def __init__(self):
        self.pairs, self.calls = [], 0

    def __len__(self):
        return sum(pair[0].shape[-2] for pair in self.pairs)

    def whole(self):
        return tuple(torch.cat(parts, -2) for parts in zip(*self.pairs, strict=True))

    def extend(self, keys, values):
        self.pairs.append((keys, values))
        self.calls += 1
        return self.whole()


def block_of(t, D, cross=False, pre_norm=True):
    t.stub("MultiHeadAttention", StandInHeads)
    block = t["Block"](D, 1, cross, None, pre_norm)
    t.weights(block, scale=0.6)
    return block


@check("block")
def around_a_part(t):
    """One part with its residual and its norm, before and after."""
    B, T, D = t.sizes("B T D")
    for name, pre_norm in (("before", True), ("after", False)):
        block = block_of(t, D, pre_norm=pre_norm)
        t.output(f"norm {name}", block.around(t.torch.tanh, t.normal(B, T, D, scale=2), t.torch.sin), axes="B T D")


@check("block", weight=2)
def encoder_block(t):
    """Attention to itself under a mask, and feed-forward; the norm before and after."""
    B, T, D = t.sizes("B T D", low=4)
    mask = ragged(t, B, T)[:, None, None, :]
    for name, pre_norm in (("before", True), ("after", False)):
        block = block_of(t, D, pre_norm=pre_norm)
        t.output(f"result, norm {name}", block(t.normal(B, T, D, scale=2), mask), axes="B T D")


@check("block", weight=2)
def decoder_block(t):
    """Three parts: itself, the memory under its own mask, feed-forward."""
    B, T, S, D = t.sizes("B T S D", low=4, high=9)
    block, mask = block_of(t, D, cross=True), torch.ones(T, T, dtype=torch.bool).tril()
    for places, name in ((S, "result"), (T, "result on a memory as long as x")):
        memory, memory_mask = (t.normal(B, 1, places, D), t.normal(B, 1, places, D)), ragged(t, B, places)
        t.output(name, block(t.normal(B, T, D, scale=2), mask, memory, memory_mask[:, None, None, :]), axes="B T D")


@check("block", weight=2)
def with_a_cache(t):
    """Keys and values go through the cache, and the places begin where it ends; an empty cache is a cache too."""
    B, T, S, D = t.sizes("B T S D")
    block = block_of(t, D)
    for name, places in (("a cache", S), ("an empty cache", 0)):
        cache = t.define(StandInCache, like="Cache")()
        if places:
            cache.extend(t.normal(B, 1, places, D), t.normal(B, 1, places, D))
        t.output(f"result with {name}", block(t.normal(B, T, D, scale=2), None, None, None, cache), axes="B T D")
        t.output(f"calls of {name}", cache.calls)
        t.output(f"keys in {name}", cache.whole()[0], axes="B 1 S D")


@check("block")
def block_gradient(t):
    """The gradient reaches the input, through the parts and past them."""
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
        x = torch.tanh(self.mix(x)) + 0.1 * (mask.sum(-1, keepdim=True) if mask is not None else 5)
        if memory is not None:
            keys, values = memory
            x = x + (keys * memory_mask.transpose(-2, -1) + 0.3 * values)[:, 0].mean(1, keepdim=True)
        if cache is not None:
            cache.extend(x[:, None], x[:, None])
        return x


def stand_in_causal_mask(T, past=0, device=None):
    return torch.arange(past + T, device=device) <= torch.arange(past, past + T, device=device)[:, None]


def decoder_of(t, V, D, cross, n_layers=2):
    t.stub("Block", StandInBlock)
    t.stub("causal_mask", stand_in_causal_mask)
    decoder = t["Decoder"](V, D, 1, n_layers, cross, t.define(StandInPositions, like="Positions"))
    t.weights(decoder, scale=0.7)
    return decoder


@check("decoder", weight=2)
def without_a_source(t):
    """Logits of a batch of a model that has no source."""
    B, T, V, D = t.sizes("B T V D", low=4, high=9)
    t.output("logits", decoder_of(t, V, D, False)(t.integers(0, V, B, T)), axes="B T V")


@check("decoder", weight=2)
def with_a_source(t):
    """Each block has a memory of its own, and all the same mask."""
    B, T, S, V, D = t.sizes("B T S V D", low=3, high=9)
    memories = [(t.normal(B, 1, S, D), t.normal(B, 1, S, D)) for _ in range(2)]
    mask = ragged(t, B, S)[:, None, None, :]
    t.output("logits", decoder_of(t, V, D, True)(t.integers(0, V, B, T), memories, mask), axes="B T V")


@check("decoder", weight=2)
def with_caches(t):
    """Places and mask go on where the caches end; each block has its own cache; one block alone."""
    B, T, S, V, D = t.sizes("B T S V D", low=2, high=8)
    for n_layers, of in ((2, ""), (1, " of one block")):
        caches = [t.define(StandInCache, like="Cache")() for _ in range(n_layers)]
        for cache in caches:
            cache.extend(t.normal(B, 1, S, D), t.normal(B, 1, S, D))
        decoder = decoder_of(t, V, D, False, n_layers)
        t.output(f"logits{of}", decoder(t.integers(0, V, B, T), None, None, caches), axes="B T V")
        for i, cache in enumerate(caches):
            t.output(f"keys of cache {i}{of}", cache.whole()[0], axes="B 1 S D")


@check("decoder")
def decoder_gradient(t):
    """The gradient reaches embedding and memory."""
    B, T, S, V, D = t.sizes("B T S V D", low=3, high=9)
    decoder, memory = decoder_of(t, V, D, True, 1), t.leaf(t.normal(B, 1, S, D))
    t.backward(decoder(t.integers(0, V, B, T), [(memory, memory)], torch.ones(B, 1, 1, S, dtype=torch.bool)))
    t.output("gradient of the embedding", decoder.embedding.weight.grad, axes="V D")
    t.output("gradient of the memory", memory.grad, axes="B 1 S D")


# ---------------------------------------------------------------- transformer

class StandInEncoder(nn.Module):
    def __init__(self, V, D):
        super().__init__()
        self.embedding, self.norm = nn.Embedding(V, D), nn.Identity()
        self.positions, self.blocks = nn.Identity(), nn.ModuleList([nn.Identity()])

    def forward(self, source):
        return self.embedding(source), (source != 0)[:, None, None, :]


class StandInDecoder(nn.Module):
    """A decoder that says something of the tokens, of the memory and of the mask."""

    def __init__(self, V, D):
        super().__init__()
        self.embedding, self.readout, self.norm = nn.Embedding(V, D), nn.Linear(D, V), nn.Identity()
        self.positions, self.blocks = nn.Identity(), nn.ModuleList([nn.Identity()])

    def remember(self, memory):
        return [torch.sin(memory)]

    def forward(self, tokens, memories=None, memory_mask=None, caches=None):
        read = (memories[0] * memory_mask[:, 0, 0, :, None]).sum(1, keepdim=True)
        return self.readout(torch.tanh(self.embedding(tokens).cumsum(1) + read))


def stand_in_shifted(target):
    return target.flip(1)


@check("transformer")
def moved_by_one(t):
    """SOS in front, the last token away; a target of one token."""
    B, T = t.sizes("B T")
    target = t.integers(3, 12, B, T) * ragged(t, B, T)
    t.output("shifted", t["shifted"](target), axes="B T")
    t.output("shifted of one token", t["shifted"](target[:, :1]), axes="B 1")


def transformer_of(t, V, D):
    encoder, decoder = t.define(StandInEncoder, like="Encoder")(V, D), t.define(StandInDecoder, like="Decoder")(V, D)
    t.weights(encoder)
    t.weights(decoder)
    return t["Transformer"](encoder, decoder)


@check("transformer", weight=2)
def whole_target(t):
    """Logits of a batch."""
    B, S, T, D = t.sizes("B S T D", low=4, high=9)
    source, target = (t.integers(3, 12, B, n) * ragged(t, B, n) for n in (S, T))
    t.output("logits", transformer_of(t, 12, D)(source, target), axes="B T V")


@check("transformer")
def transformer_gradient(t):
    """The gradient of the logits reaches the encoder."""
    B, S, T, D = t.sizes("B S T D", low=4, high=9)
    model = transformer_of(t, 12, D)
    t.backward(model(t.integers(3, 12, B, S), t.integers(3, 12, B, T)))
    t.output("gradient of the encoder", model.encoder.embedding.weight.grad, axes="V D")


# ---------------------------------------------------------------- aligned

def maps_and_gold(t, h, n, extra=1):
    """Weights of h heads over n sentences, and links. The first word has two, and every head looks at the last of them.

    Beyond that, a head looks at one of the links of a word, or anywhere.
    """
    weights, alignments = [], []
    for _ in range(n):
        T, S = t.sizes("T S", low=3, high=9)
        links = [tuple(sorted(t.rng.permutation(S)[:t.integer(1, 3) if i else 2].tolist())) for i in range(T)]
        scores = t.normal(h, T + extra, S)
        for head in scores:
            head[0, links[0][-1]] += 9
            for row, places in zip(head[1:T], links[1:], strict=True):
                row[t.choice(places)] += t.choice([0, 9])
        weights.append(scores.softmax(-1))
        alignments.append(links)
    return weights, alignments


@check("aligned", weight=2)
def by_head(t):
    """The shares of all heads over several sentences of different lengths."""
    h = t.integer(2, 5)
    t.output("shares", t["aligned"](*maps_and_gold(t, h, 4)), axes="h")


@check("aligned")
def one_head_one_sentence(t):
    """One head, one sentence; rows after its last word do not count."""
    t.output("shares", t["aligned"](*maps_and_gold(t, 1, 1, extra=3)), axes="1")


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
    """Encoder and decoder in one. What it says depends on all that was read, and on how many places there are.

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
    t.weights(model)
    return model


def said_by(t, stops, max_length=None):
    t.stub("Cache", StandInCache)
    B, V = len(stops), t.integer(9, 14)
    S, D = t.sizes("S D", low=4, high=9)
    model = toy_model(t, V, D, stops)
    source = t.integers(3, V, B, S) * ragged(t, B, S)
    tokens = t["greedy"](model, source, *([max_length] if max_length else []))
    said = tokens.value
    longest = max(len(set(row.tolist())) for row in said)
    t.require(said.shape[1] < 4 or longest > 3)  # it does not say the same word all the time
    t.output("tokens", tokens, axes="B T")
    t.output("how often the source was read", model.reads)


@check("cache", weight=2)
def sentences_end(t):
    """What is said, PAD after EOS, until the last sentence has ended."""
    stops = [int(n) for n in t.rng.permutation([1, 2, 4, 6, 7])[:t.integer(2, 6)]]
    said_by(t, stops)


@check("cache")
def a_limit(t):
    """No more than `max_length` steps; 30 where nothing else is said."""
    said_by(t, [40, 3], t.integer(5, 9))
    said_by(t, [40])


@check("cache")
def one_sentence(t):
    """A batch of one."""
    said_by(t, [t.integer(3, 8)])


# ---------------------------------------------------------------- costs

def factors(t):
    """T, L, h and d; none is 2, 4, another one or twice another one, so that a product shows what it lacks."""
    sizes = t.sizes("T L h d", low=5, high=19)
    t.require(not {2 * size for size in sizes} & set(sizes))
    return sizes


@check("costs", weight=2)
def products(t):
    """Products with a cache and without."""
    sizes = factors(t)
    t.output("with a cache", t["score_products"](*sizes, True))
    t.output("without one", t["score_products"](*sizes, False))
    t.output("of one step", t["score_products"](1, *sizes[1:], True))


@check("costs")
def size_of_the_cache(t):
    """Bytes of a cache, of four bytes a number and of two."""
    sizes = factors(t)
    t.output("bytes", t["cache_bytes"](*sizes))
    t.output("bytes of halves", t["cache_bytes"](*sizes, 2))


# ---------------------------------------------------------------- working

def operand(t, n):
    return int("".join(str(t.integer(2, 10)) for _ in range(n)))


@check("working", weight=2)
def two_digits(t):
    """Two digits by two."""
    t.output("working", t["working"](operand(t, 2), operand(t, 2), 2))


@check("working", weight=2)
def three_digits(t):
    """Three digits by three, with carries in products and sums."""
    t.output("working", t["working"](operand(t, 3), operand(t, 3), 3))
    t.output("working of the largest", t["working"](999, 999, 3))


@check("working")
def missing_digits(t):
    """Short numbers, a zero inside, one digit by one."""
    t.output("a short one", t["working"](operand(t, 1), operand(t, 2), 3))
    t.output("a zero inside", t["working"](100 * t.integer(1, 10) + t.integer(2, 10), operand(t, 3), 3))
    t.output("one by one", t["working"](operand(t, 1), operand(t, 1), 1))
