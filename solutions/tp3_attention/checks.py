"""Checks of session 3: attention by hand, for a batch, in a look-up, and in the decoder after its GRU.

Axes: B batch, S source timesteps, T target timesteps, H decoder's hidden size, G encoder's, D embedding,
A attention size, V values or vocabulary. The decoder is time first, all else batch first.
"""

import torch
from torch import nn

from autograder.authoring import check

SOFTMAX = ("softmax", "log_softmax", "softmin")  # the built-ins that do not count where the softmax is to be written
BY_HAND = {"gradient": "worked out on numbers: no gradient is asked for, and to write into a copy is right"}
STEEP = {"gradient": "scores so large leave the slope of a softmax too few digits; the other checks look at it"}
KEPT = {"gradient": "the weights are kept to be looked at: kept without a gradient is right"}
AT_ZERO = {"gradient": "the text says what a vector of zeros scores; a slope it has not, and any number will do"}


# --- scores -----------------------------------------------------------------------------------

@check("scores")
def by_hand(t):
    """Your four numbers are the dot products of the example."""
    t.output("scores", t["scores_by_hand"](), axes="S")


@check("scores", weight=2)
def one_score_per_vector(t):
    """One dot product for each encoder vector."""
    S, H = t.sizes("S H")
    t.output("scores", t["step1_scores"](t.normal(H), t.normal(S, H)), axes="S")


@check("scores")
def a_single_vector(t):
    """A source of one timestep still gives a row of scores, with one score in it."""
    H, = t.sizes("H")
    t.output("scores", t["step1_scores"](t.normal(H), t.normal(1, H)), axes="S")


@check("scores")
def gradient_of_scores(t):
    """The gradient flows back from the scores to the decoder and to the encoder."""
    S, H = t.sizes("S H")
    hdec, henc_ts = t.leaf(t.normal(H)), t.leaf(t.normal(S, H))
    t.backward(t["step1_scores"](hdec, henc_ts))
    t.output("gradient of hdec", hdec.grad, axes="H")
    t.output("gradient of henc_ts", henc_ts.grad, axes="S H")


# --- weights ----------------------------------------------------------------------------------

@check("weights", skip_relations=BY_HAND)
def one_row(t):
    """The softmax of one row of scores."""
    t.forbid(*SOFTMAX)
    S, = t.sizes("S")
    t.output("attention_weights", t["step2_weights"](t.normal(S)), axes="S", sums_to_one="S")


@check("weights", weight=2, skip_relations=BY_HAND)
def last_axis(t):
    """With more axes in front, each row over the source adds up to 1."""
    t.forbid(*SOFTMAX)
    B, T, S = t.sizes("B T S")
    t.output("of (T, S)", t["step2_weights"](t.normal(T, S)), axes="T S", sums_to_one="S")
    t.output("of (B, T, S)", t["step2_weights"](t.normal(B, T, S)), axes="B T S", sums_to_one="S")


@check("weights", skip_relations=BY_HAND)
def temperature(t):
    """The scores are divided by the temperature: above 1 the weights become more alike, below 1 less."""
    t.forbid(*SOFTMAX)
    T, S = t.sizes("T S")
    scores = t.normal(T, S)
    t.output("warm", t["step2_weights"](scores, temperature=t.choice([2.0, 3.0, 5.0])), axes="T S", sums_to_one="S")
    t.output("cold", t["step2_weights"](scores, temperature=t.choice([0.3, 0.5, 0.7])), axes="T S", sums_to_one="S")
    t.output("hot, of large scores", t["step2_weights"](200 * scores, temperature=200.0), axes="T S", sums_to_one="S")


@check("weights", skip_relations=BY_HAND)
def large_scores(t):
    """Scores of ten thousand, positive, negative or both in a row, give weights and not NaN, at any temperature."""
    t.forbid(*SOFTMAX)
    T, S = t.sizes("T S")
    both = torch.where(torch.randperm(S, generator=t.generator) < (S + 1) // 2, 1e4, -1e4)
    rows, first = [torch.full((S,), 1e4), torch.full((S,), -1e4), both], t.integer(0, 3)
    offsets = torch.stack([rows[(first + row) % 3] for row in range(T)])
    for name, kwargs in {"attention_weights": {}, "cold": {"temperature": 0.5}, "warm": {"temperature": 4.0}}.items():
        t.output(name, t["step2_weights"](t.normal(T, S) + offsets, **kwargs),
                 axes="T S", sums_to_one="S", rtol=1e-3, atol=1e-3)


# --- context ----------------------------------------------------------------------------------

def _weights(t, *shape):
    """Random attention weights: positive, the last axis adds up to 1."""
    return torch.softmax(t.normal(*shape), dim=-1)


@check("context")
def weigh(t):
    """Step 3: each encoder vector is multiplied by its own weight."""
    S, H = t.sizes("S H")
    t.output("weighted", t["step3_weigh"](_weights(t, S), t.normal(S, H)), axes="S H")


@check("context")
def as_many_vectors_as_units(t):
    """Step 3 with S = H, where a weight on the wrong axis raises no error."""
    S, = t.sizes("S")
    t.output("weighted", t["step3_weigh"](_weights(t, S), t.normal(S, S)), axes="S H")


@check("context")
def add_up(t):
    """Step 4: the weighted vectors are added up to one context vector."""
    S, H = t.sizes("S H")
    t.output("context_vector", t["step4_context"](t.normal(S, H)), axes="H")
    t.output("context_vector of a single unit", t["step4_context"](t.normal(S, 1)), axes="H")


@check("context")
def gradient_of_context(t):
    """Steps 3 and 4 together: the gradient reaches the weights and the encoder vectors."""
    S, H = t.sizes("S H")
    attention_weights, henc_ts = t.leaf(_weights(t, S)), t.leaf(t.normal(S, H))
    t.backward(t["step4_context"](t["step3_weigh"](attention_weights, henc_ts)))
    t.output("gradient of attention_weights", attention_weights.grad, axes="S")
    t.output("gradient of henc_ts", henc_ts.grad, axes="S H")


# --- decoder ----------------------------------------------------------------------------------

def _cell(t, D, H):
    cell = t.library("torch.nn").GRUCell(D + H, H).to(t.device)
    t.randomise_weights(cell)
    return cell


def _decode(t, T, S):
    D, H = t.sizes("D H")
    _decoded(t, D, H, t.normal(T, D), t.normal(H), t.normal(S, H))


def _decoded(t, D, H, *inputs):
    hdec_ts, attention_weights = t.unpack(t["attention_decoder"](_cell(t, D, H), *inputs), 2)
    t.output("attention_weights", attention_weights, axes="T S", sums_to_one="S")
    t.output("hdec_ts", hdec_ts, axes="T H")


@check("steps")
def one_step_by_hand(t):
    """A single step: scores from `hdec_init`, then weights, context and cell."""
    _decode(t, 1, t.integer(3, 7))


@check("steps", skip_relations=STEEP)
def scores_far_apart(t):
    """Large scores, hundreds apart, give weights and not NaN."""
    S, D, H = t.sizes("S D H")
    # whole numbers, so that they are exact in every order of sums
    hdec_init, henc_ts = 40 * t.integers(-9, 10, H).float(), t.integers(-9, 10, S, H).float()
    _decoded(t, D, H, t.normal(1, D), hdec_init, henc_ts)


@check("steps", weight=2)
def several_steps(t):
    """Several steps: each one scores with the hidden vector that the step before it made."""
    _decode(t, *t.sizes("T S"))


@check("steps")
def gradient_through_the_steps(t):
    """The gradient of the last hidden vector reaches the first one and the encoder."""
    T, S, D, H = t.sizes("T S D H")
    hdec_init, henc_ts = t.leaf(t.normal(H)), t.leaf(t.normal(S, H))
    hdec_ts, _ = t.unpack(t["attention_decoder"](_cell(t, D, H), t.normal(T, D), hdec_init, henc_ts), 2)
    t.backward(hdec_ts[-1])
    t.output("gradient of hdec_init", hdec_init.grad, axes="H")
    t.output("gradient of henc_ts", henc_ts.grad, axes="S H")


# --- batched ----------------------------------------------------------------------------------

def applied(function, *args):
    """Call a function: what is called by another is not compared with it in the number of its calls of torch."""
    return function(*args)


def _attend(t, B, T, S, H, of="", apart=False):
    inputs = t.normal(B, T, H), t.normal(B, S, H)
    attend = t["batched_attention"]
    context_vectors, attention_weights = t.unpack(t.define(applied)(attend, *inputs) if apart else attend(*inputs), 2)
    t.output(f"attention_weights{of}", attention_weights, axes="B T S", sums_to_one="S")
    t.output(f"context_vectors{of}", context_vectors, axes="B T H")


def _without_a_loop(t, B, T, S, H):
    """A call of another size than the check's: a loop calls torch more often there."""
    t.forbid("loop")
    t["batched_attention"](t.normal(B + 3, T + 2, H), t.normal(B + 3, S + 4, H))


@check("batched", weight=2)
def whole_batch(t):
    """All decoder timesteps over all encoder timesteps, each row of the batch for itself, without a loop."""
    B, T, S, H = t.sizes("B T S H")
    t.forbid("loop")
    _attend(t, B, T, S, H)
    _attend(t, B + 3, T + 2, S + 4, H, " of a larger batch")


@check("batched")
def one_row_one_timestep(t):
    """A batch with a single row, a single decoder timestep and a single encoder timestep keep their three axes."""
    B, T, S, H = t.sizes("B T S H")
    _without_a_loop(t, B, T, S, H)
    t["batched_attention"](t.normal(B, T, H), t.normal(B, S, H))
    _attend(t, 1, T, S, H, " of one row", apart=True)
    _attend(t, B, 1, S, H, " of one decoder timestep", apart=True)
    _attend(t, B, T, 1, H, " of one encoder timestep", apart=True)


@check("batched", skip_relations=STEEP)
def far_apart(t):
    """Large scores, thousands apart, give weights and not NaN."""
    B, T, S, H = t.sizes("B T S H")
    _without_a_loop(t, B, T, S, H)
    attended = t["batched_attention"](t.normal(B, T, H, scale=1000.0), t.normal(B, S, H))
    context_vectors, attention_weights = t.unpack(attended, 2)
    t.output("attention_weights", attention_weights, axes="B T S", sums_to_one="S", rtol=1e-2, atol=1e-2)
    t.output("context_vectors", context_vectors, axes="B T H", rtol=1e-2, atol=1e-2)


@check("batched")
def gradient_of_attention(t):
    """The gradient of the context vectors reaches decoder and encoder."""
    B, T, S, H = t.sizes("B T S H")
    _without_a_loop(t, B, T, S, H)
    hdec_ts, henc_ts = t.leaf(t.normal(B, T, H)), t.leaf(t.normal(B, S, H))
    context_vectors, _ = t.unpack(t["batched_attention"](hdec_ts, henc_ts), 2)
    t.backward(context_vectors)
    t.output("gradient of hdec_ts", hdec_ts.grad, axes="B T H")
    t.output("gradient of henc_ts", henc_ts.grad, axes="B S H")


def looped_attention(hdec_ts, henc_ts):
    """In the place of `batched_attention`: the loops that the notebook gives."""
    contexts = torch.zeros_like(hdec_ts)
    weights = hdec_ts.new_zeros(*hdec_ts.shape[:2], henc_ts.shape[1])
    for b in range(len(hdec_ts)):
        for t in range(hdec_ts.shape[1]):
            row = torch.stack([hdec_ts[b, t] @ henc for henc in henc_ts[b]]).softmax(dim=0)
            weights[b, t] = row
            contexts[b, t] = sum(weight * henc for weight, henc in zip(row, henc_ts[b]))  # noqa: B905
    return contexts, weights


# --- masked -----------------------------------------------------------------------------------

def _holes(t, B, S):
    """A random mask with at least one real token and one gap in each row, if there is room: (B, S) booleans."""
    mask = t.uniform(B, S) < 0.6
    t.assume(bool(mask.any(1).all()) and (S == 1 or not bool(mask.all(1).any())))
    return mask


def _lengths(t, B, S):
    """Lengths (B,) of which none is S, one is 0 and one is 1, as far as there is room, in random order."""
    lengths = torch.cat([torch.tensor([0, 1]), t.integers(1, max(S, 2), max(B - 2, 0))])
    return lengths[torch.randperm(len(lengths), generator=t.generator)][:B]


@check("masked")
def which_tokens_are_real(t):
    """`padding_mask`: True up to the length of each row, False after it."""
    B, S = t.sizes("B S")
    t.output("mask", t["padding_mask"](_lengths(t, B, S), S), axes="B S")
    t.output("mask without padding", t["padding_mask"](torch.full((B,), S), S), axes="B S")


def _not_zero(weights, mask):
    """How many weights of padding are not exactly 0; None where they are no weights (B, T, S)."""
    if not isinstance(weights, torch.Tensor) or weights.dim() != 3 or weights.shape[::2] != mask.shape:
        return None
    return int((weights.transpose(1, 2)[~mask] != 0).sum())


@check("masked", weight=2)
def padding_gets_nothing(t):
    """`masked_softmax`: padding has a weight of exactly 0, the real tokens add up to 1."""
    B, T, S = t.sizes("B T S")
    mask = _holes(t, B, S)
    weights = t["masked_softmax"](t.normal(B, T, S, scale=2.0), mask)
    t.output("attention_weights", weights, axes="B T S", sums_to_one="S")
    t.output("weights of padding that are not exactly 0", t.define(_not_zero)(weights, mask))


@check("masked")
def as_many_targets_as_sources(t):
    """With T = S a mask on the wrong axis raises no error; very low scores need a mask that is lower still.

    The scores of padding are the highest.
    """
    B, S = t.sizes("B S")
    offsets, first = (-300.0, -10000.0, 10000.0), t.integer(0, 3)
    scores = t.normal(B, S, S) + torch.tensor([offsets[(first + row) % 3] for row in range(B)]).view(B, 1, 1)
    mask = _holes(t, B, S)
    weights = t["masked_softmax"](scores + 200 * ~mask[:, None], mask)
    t.output("attention_weights", weights, axes="B T S", sums_to_one="S", rtol=1e-3, atol=1e-3)


@check("masked")
def nothing_to_attend_to(t):
    """A row without a single real token gets weights 0, not NaN and not a share for each."""
    B, T, S = t.sizes("B T S")
    mask = _holes(t, B, S)
    mask[t.integer(0, B)] = False
    t.output("attention_weights", t["masked_softmax"](t.normal(B, T, S), mask), axes="B T S")


@check("masked")
def gradient_with_an_empty_row(t):
    """The gradient stays a number, also for a row without a real token."""
    B, T, S = t.sizes("B T S")
    mask = _holes(t, B, S)
    if B > 1:  # alone, it may leave no way back at all
        mask[t.integer(0, B)] = False
    scores = t.leaf(t.normal(B, T, S))
    t.backward(t["masked_softmax"](scores, mask))
    t.output("gradient of the scores", scores.grad, axes="B T S")


# --- plain scores -----------------------------------------------------------------------------

@check("plain-scores")
def dot(t):
    """`dot_score`: every decoder timestep with every encoder timestep of its row."""
    B, T, S, H = t.sizes("B T S H")
    t.output("scores", t["dot_score"](t.normal(B, T, H), t.normal(B, S, H)), axes="B T S")


@check("plain-scores")
def scaled_dot(t):
    """`scaled_dot_score`: the dot products divided by the square root of H."""
    B, T, S, H = t.sizes("B T S H")
    t.output("scores", t["scaled_dot_score"](t.normal(B, T, H), t.normal(B, S, H)), axes="B T S")


@check("plain-scores")
def cosine(t):
    """`cosine_score`: only directions count, the lengths of the vectors do not."""
    B, T, S, H = t.sizes("B T S H")
    hdec_ts, henc_ts = t.normal(B, T, H), t.normal(B, S, H)
    for vectors in (hdec_ts, henc_ts):  # short and long ones beside each other
        vectors[:, ::2] *= 0.1
        vectors[:, 1::2] *= 3
    if H > 1:  # one number of a vector is 0, not all
        henc_ts[:, 0, t.integer(0, H)] = 0
    t.output("scores", t["cosine_score"](hdec_ts, henc_ts), axes="B T S")


@check("plain-scores", skip_relations=AT_ZERO)
def cosine_with_zeros(t):
    """`cosine_score`: a vector of zeros scores 0, in the encoder and in the decoder."""
    B, T, S, H = t.sizes("B T S H")
    hdec_ts, henc_ts = t.normal(B, T, H), t.normal(B, S, H)
    hdec_ts[0, t.integer(0, T)] = 0
    henc_ts[:, -2:] = 0
    t.output("scores", t["cosine_score"](hdec_ts, henc_ts), axes="B T S")


@check("plain-scores")
def one_row_one_step(t):
    """All three with a batch of one and a single decoder timestep."""
    S, H = t.sizes("S H")
    hdec_ts, henc_ts = t.normal(1, 1, H), t.normal(1, S, H)
    for name in ("dot_score", "scaled_dot_score", "cosine_score"):
        t.output(name, t[name](hdec_ts, henc_ts), axes="B T S")


# --- learned scores ---------------------------------------------------------------------------

@check("learned-scores")
def general(t):
    """`general_score`: a matrix between a decoder and an encoder of different sizes."""
    B, T, S, H, G = t.sizes("B T S H G")
    t.output("scores", t["general_score"](t.normal(B, T, H), t.normal(B, S, G), t.normal(H, G)), axes="B T S")


@check("learned-scores")
def general_with_equal_sizes(t):
    """`general_score` with H = G, where a forgotten or transposed matrix raises no error."""
    B, T, S, H = t.sizes("B T S H")
    t.output("scores", t["general_score"](t.normal(B, T, H), t.normal(B, S, H), t.normal(H, H)), axes="B T S")


@check("learned-scores", weight=2)
def additive(t):
    """`additive_score`: both projections are added, then tanh, then `v_a`."""
    B, T, S, H, G, A = t.sizes("B T S H G A")
    hdec_ts, henc_ts = t.normal(B, T, H, scale=0.5), t.normal(B, S, G, scale=0.5)
    t.output("scores", t["additive_score"](hdec_ts, henc_ts, t.normal(A, H), t.normal(A, G), t.normal(A)), axes="B T S")


@check("learned-scores")
def additive_with_equal_sizes(t):
    """`additive_score` with all sizes equal but the batch and the timesteps."""
    B, T, S, H = t.sizes("B T S H")
    hdec_ts, henc_ts = t.normal(B, T, H, scale=0.5), t.normal(B, S, H, scale=0.5)
    W_a, U_a, v_a = t.normal(H, H), t.normal(H, H), t.normal(H)
    t.output("scores", t["additive_score"](hdec_ts, henc_ts, W_a, U_a, v_a), axes="B T S")
    far = t["additive_score"](200 * hdec_ts, 200 * henc_ts, W_a, U_a, v_a)
    t.output("scores of large vectors", far, axes="B T S", atol=1e-4)


@check("learned-scores")
def location(t):
    """`location_score`: one score per source position, from the decoder alone."""
    B, T, S, H = t.sizes("B T S H")
    t.output("scores", t["location_score"](t.normal(B, T, H), t.normal(S, H)), axes="B T S")


# --- net --------------------------------------------------------------------------------------

def _net(t, V, d, training=False):
    """A `Net` with random weights, small enough that neither the LSTM nor the softmax saturates; dropout off."""
    D, H = t.sizes("D H")
    t.stub("batched_attention", looped_attention)
    net = t["Net"](n_values=V, d=d, embedding_size=D, hidden_size=H, dropout=0.5).to(t.device)
    t.randomise_weights(net, scale=0.6)
    if not training:
        t.eval_mode(net)
    return net


def _large(t, attention_weights, of=" of large scores"):
    """Weights of scores so large that one of them has it all, however they are rounded."""
    t.assume(not attention_weights.value.frac().any())
    t.output(f"attention_weights{of}", attention_weights, axes="B S", sums_to_one="S")


@check("net", weight=2)
def logits(t):
    """The logits of a batch of rows."""
    B, S, V = t.sizes("B S V")
    t.output("logits", _net(t, V, S)(t.integers(0, V, B, S), t.integers(0, S, B)), axes="B V")


@check("net", skip_relations=KEPT)
def kept_weights(t):
    """The attention weights are kept as `attention_weights`, and add up to 1 over the source."""
    B, S, V = t.sizes("B S V")
    net = _net(t, V, S)
    net(t.integers(0, V, B, S), t.integers(0, S, B))
    t.output("attention_weights", net.attention_weights, axes="B S", sums_to_one="S")
    net = _net(t, V, S)
    t.randomise_weights(net.query_layer, scale=3e3)
    net(t.integers(0, V, B, S), t.integers(0, S, B))
    _large(t, net.attention_weights)


@check("net")
def one_question(t):
    """A batch of one keeps its batch axis."""
    S, V = t.sizes("S V")
    t.output("logits", _net(t, V, S)(t.integers(0, V, 1, S), t.integers(0, S, 1)), axes="B V")


@check("net", skip_relations={"one timestep": "the batch is of one then, too"})
def as_many_rows_as_timesteps(t):
    """With B = S a sum over the wrong axis raises no error."""
    S, V = t.sizes("S V")
    t.output("logits", _net(t, V, S)(t.integers(0, V, S, S), t.integers(0, S, S)), axes="B V")


@check("net")
def another_batch(t):
    """The same network reads one batch after the other, of another size."""
    B, first, S, V = t.sizes("B first S V")
    net = _net(t, V, S)
    net(t.integers(0, V, first, S), t.integers(0, S, first))
    t.output("logits", net(t.integers(0, V, B, S), t.integers(0, S, B)), axes="B V")


def half_dropped(net, *inputs):
    """Call a network whose dropouts are without chance, whatever the shape: negative numbers are dropped."""
    whole = torch.nn.functional.dropout

    def dropout(input, p=0.5, training=True, inplace=False):
        return input.clamp(min=0) / (1 - p) if training else input

    torch.nn.functional.dropout = dropout
    try:
        return net(*inputs)
    finally:
        torch.nn.functional.dropout = whole


def share_dropped(net, data, target_idx, times):
    """The share of the context vectors that is 0, each computed so many times in one batch.

    The output layer lets all through as it is.
    """
    with torch.no_grad():
        net.output_layer.weight.copy_(torch.eye(len(net.output_layer.weight)))
        net.output_layer.bias.zero_()
        output = net(data.repeat(times, 1), target_idx.repeat(times))
    return float((output == 0).double().mean())


@check("net")
def dropout_of_net(t):
    """In training, the dropout works on the context vectors, once, and nowhere else; `dropout` says on how many."""
    B, S, V, units = t.sizes("B S V units")
    net = _net(t, V, S, training=True)
    logits = t.define(half_dropped)(net, t.integers(0, V, B, S), t.integers(0, S, B))
    t.output("logits", logits, axes="B V")
    dropout = t.choice([0.2, 0.35, 0.65, 0.8])
    net = t["Net"](n_values=2 * units, d=S, embedding_size=3, hidden_size=units, dropout=dropout)
    t.randomise_weights(net.to(t.device), scale=0.6)
    dropped = t.define(share_dropped)(net, t.integers(0, 2 * units, B, S), t.integers(0, S, B), 60)
    t.output("share of the context vectors that is dropped", dropped, atol=0.1)


@check("net")
def gradient_of_net(t):
    """The gradient of the logits reaches the digits and the index."""
    B, S, V = t.sizes("B S V")
    net = _net(t, V, S)
    t.backward(net(t.integers(0, V, B, S), t.integers(0, S, B)))
    t.output("gradient of token_embedding", net.token_embedding.weight.grad, axes="V D")
    t.output("gradient of index_embedding", net.index_embedding.weight.grad, axes="S D")


# --- content only -----------------------------------------------------------------------------

def _bag(t, V, d, positions):
    H, = t.sizes("H")
    bag = t["BagNet"](n_values=V, d=d, hidden_size=H, positions=positions).to(t.device)
    t.randomise_weights(bag)
    return bag


def _ask(t, bag, data, target_idx):
    t.output("logits", bag(data, target_idx), axes="B V")
    t.output("attention_weights", bag.attention_weights, axes="B S", sums_to_one="S")


@check("content-only", skip_relations=KEPT)
def bag_without_positions(t):
    """Keys of content alone: `positions=False`."""
    B, S, V = t.sizes("B S V")
    _ask(t, _bag(t, V, S, False), t.integers(0, V, B, S), t.integers(0, S, B))


@check("content-only", skip_relations=KEPT)
def bag_with_positions(t):
    """Keys with a position vector, a sum of token vectors without one: `positions=True`."""
    B, S, V = t.sizes("B S V")
    bag = _bag(t, V, S, True)
    _ask(t, bag, t.integers(0, V, B, S), t.integers(0, S, B))
    bag = _bag(t, V, S, True)
    t.randomise_weights(bag.index_embedding, scale=1e5)
    bag(t.integers(0, V, B, S), t.integers(0, S, B))
    _large(t, bag.attention_weights)


@check("content-only", skip_relations=KEPT)
def a_short_row(t):
    """One row, shorter than the table of positions."""
    S, V = t.sizes("S V")
    _ask(t, _bag(t, V, S + 2, True), t.integers(0, V, 1, S), t.integers(0, S, 1))


@check("content-only")
def one_batch_after_the_other(t):
    """Each network, with and without positions, reads two batches of different sizes."""
    B, first, S, V = t.sizes("B first S V")
    for name, positions in {"with positions": True, "without positions": False}.items():
        bag = _bag(t, V, S, positions)
        bag(t.integers(0, V, first, S), t.integers(0, S, first))
        t.output(f"logits {name}", bag(t.integers(0, V, B, S), t.integers(0, S, B)), axes="B V")


@check("content-only")
def gradient_of_bag(t):
    """The gradient of the logits reaches the digits, the index and, where they are added, the positions."""
    B, S, V = t.sizes("B S V")
    bag, placed = _bag(t, V, S, False), _bag(t, V, S, True)
    for one in (bag, placed):
        t.backward(one(t.integers(0, V, B, S), t.integers(0, S, B)))
    t.output("gradient of token_embedding", bag.token_embedding.weight.grad, axes="V H")
    t.output("gradient of index_embedding", bag.index_embedding.weight.grad, axes="S H")
    t.output("gradient of position_embedding", placed.position_embedding.weight.grad, axes="S H")


@check("content-only", weight=2)
def the_best_guess(t):
    """`best_without_order`: the mean share of each row's most frequent digit."""
    B, S = t.sizes("B S", smallest=5)
    data = t.integers(0, 4, B, S)
    if B > 1:
        data[0] = t.integer(0, 4)  # one row is all alike
    counts = torch.nn.functional.one_hot(data).sum(dim=1).double()  # (B, V)
    # the right guess and three wrong ones must differ
    guesses = [counts.amax(1).mean() / S, counts.sum(0).max() / (B * S),
               (counts / S).square().sum(1).mean(), (1 / (counts > 0).sum(1)).mean()]
    t.assume(1 in (B, S) or all(abs(a - b) > 1e-2 for i, a in enumerate(guesses) for b in guesses[:i]))
    t.output("accuracy", t["best_without_order"](data))


GO, EOS = "=", "\n"
ENDS_ELSEWHERE = {"other inputs": "the answer then ends elsewhere, and whether the row of EOS comes back is left open"}
DETACHED = "the weights are kept to be looked at: with their gradient or detached, both are right"


# ---------------------------------------------------------------- decoder

def decoder(t, H, V, attention=True):
    t.stub("batched_attention", looped_attention)
    module = t["DecoderRNN"](H, V, t.device, attention)
    t.randomise_weights(module)
    return module


def decoded(t, module, T, S, B, H, V):
    """A call with attention: its result; the decoder's own weights are left in the module."""
    result = module(t.one_hot(V, T, B), t.normal(1, B, H), t.normal(S, B, H))
    return t.unpack(result, 2)


@check("decoder")
def without_attention(t):
    """Without attention, it is the decoder of session 2: the states predict, and no encoder state is needed."""
    T, S, B, V, H = t.sizes("T S B V H")
    module = decoder(t, H, V, False)
    output, hdec_final = t.unpack(module(t.one_hot(V, T, B), hdec_init=t.normal(1, B, H)), 2)
    t.output("output.exp()", output.exp(), axes="T B V", sums_to_one="V")
    t.output("output", output, axes="T B V")
    t.output("hdec_final", hdec_final, axes="1 B H")
    output, _ = t.unpack(module(t.one_hot(V, T, B), t.normal(1, B, H), t.normal(S, B, H)), 2)
    t.output("output beside encoder states", output, axes="T B V")
    module = decoder(t, H, V, False)
    t.randomise_weights(module.linear, scale=200)
    output, _ = t.unpack(module(t.one_hot(V, T, B), t.normal(1, B, H)), 2)
    t.assume(output.value.min() < -150)  # the probability itself is 0 in a float
    t.output("output of large weights", output, axes="T B V", atol=1e-2)


@check("decoder", weight=3)
def context_predicts(t):
    """With attention, the context alone predicts the characters, for a batch of whole answers."""
    T, S, B, V, H = t.sizes("T S B V H")
    output, hdec_final = decoded(t, decoder(t, H, V), T, S, B, H, V)
    t.output("output.exp()", output.exp(), axes="T B V", sums_to_one="V")
    t.output("output", output, axes="T B V")
    t.output("hdec_final", hdec_final, axes="1 B H")


@check("decoder", weight=2, skip_relations={"gradient": DETACHED})
def attention_weights(t):
    """The attention weights of all timesteps are kept as `self.attention_weights`, (T, B, S); also of large scores."""
    T, S, B, V, H = t.sizes("T S B V H")
    module = decoder(t, H, V)
    module(t.one_hot(V, T, B), t.normal(1, B, H), t.normal(S, B, H))
    t.output("attention_weights", module.attention_weights, axes="T B S", sums_to_one="S")
    module = decoder(t, H, V)
    module(t.one_hot(V, T, B), t.normal(1, B, H), t.normal(S, B, H, scale=1e5))
    t.assume(not module.attention_weights.value.frac().any())  # one has it all, however they are rounded
    t.output("attention_weights of large scores", module.attention_weights, axes="T B S", sums_to_one="S")


@check("decoder")
def one_step(t):
    """A single timestep after another, and a batch of one answer, keep all their axes."""
    T, S, B, V, H = t.sizes("T S B V H")
    module, henc_ts, hidden = decoder(t, H, V), t.normal(S, B, H), t.normal(1, B, H)
    for step in range(2):
        output, hidden = t.unpack(module(t.one_hot(V, 1, B), hidden, henc_ts), 2)
        t.output(f"output of step {step}", output, axes="1 B V")
    output, _ = decoded(t, module, T, S, 1, H, V)
    t.output("output of one answer", output, axes="T 1 V")


@check("decoder")
def gradient_to_the_encoder(t):
    """The gradient flows back through the context to the encoder's states, and through the weights to the decoder's."""
    T, S, B, V, H = t.sizes("T S B V H")
    module = decoder(t, H, V)
    start, henc_ts = t.leaf(t.normal(1, B, H)), t.leaf(t.normal(S, B, H))
    output, _ = t.unpack(module(t.one_hot(V, T, B), start, henc_ts), 2)
    t.backward(output)
    t.output("gradient of henc_ts", henc_ts.grad, axes="S B H")
    t.output("gradient of hdec_init", start.grad, axes="1 B H")


# ---------------------------------------------------------------- seq2seq

class StandInEncoder(nn.Module):
    """Called like a GRU, the encoder; inside no GRU, but h = sin(W x + U h)."""

    class Recurrence(nn.Module):
        """Called like a GRU."""

        def __init__(self, input_size, hidden_size):
            super().__init__()
            self.input_size, self.hidden_size, self.num_layers = input_size, hidden_size, 1
            self.bias, self.batch_first, self.dropout, self.bidirectional = True, False, 0.0, False
            self.reads = nn.Linear(input_size, hidden_size)
            self.keeps = nn.Linear(hidden_size, hidden_size, bias=False)

        def forward(self, input, hx=None):
            h = input.new_zeros(input.shape[1], self.hidden_size) if hx is None else hx[0]
            hidden = []
            for character in input:
                h = torch.sin(self.reads(character) + self.keeps(h))
                hidden.append(h)
            return torch.stack(hidden), h[None]

    def __init__(self, input_size, hidden_size, device):
        super().__init__()
        self.input_size, self.hidden_size, self.device = input_size, hidden_size, device
        self.gru = self.Recurrence(input_size, hidden_size).to(device)

    def forward(self, encoder_input, henc_init=None):
        return self.gru(encoder_input, henc_init)


class StandInDecoder(nn.Module):
    """DecoderRNN from outside, call and attributes, and as strict; inside no GRU, but h = cos(W x + U h).

    Nor is there attention: what it makes of the encoder's states is a made-up function of all of them, and made-up
    weights (T, B, S) stay in `attention_weights`. Its results do not depend on how many calls a sequence takes.
    """

    class Recurrence(nn.Module):
        """Called like a GRU, and as strict."""

        def __init__(self, input_size, hidden_size):
            super().__init__()
            self.input_size, self.hidden_size, self.num_layers = input_size, hidden_size, 1
            self.bias, self.batch_first, self.dropout, self.bidirectional = True, False, 0.0, False
            self.reads = nn.Linear(input_size, hidden_size)
            self.keeps = nn.Linear(hidden_size, hidden_size, bias=False)

        def forward(self, input, hx=None):
            if input.dim() != 3 or input.shape[2] != self.input_size:
                raise RuntimeError(f"the decoder reads (T, B, {self.input_size}), got {tuple(input.shape)}")
            wanted = (1, input.shape[1], self.hidden_size)
            hx = input.new_zeros(wanted) if hx is None else hx
            if tuple(hx.shape) != wanted:
                raise RuntimeError(f"the decoder starts from a state of shape {wanted}, got {tuple(hx.shape)}")
            h, hidden = hx[0], []
            for character in input:
                h = torch.cos(self.reads(character) + self.keeps(h))
                hidden.append(h)
            return torch.stack(hidden), h[None]

    def __init__(self, hidden_size, output_size, device, attention=False):
        super().__init__()
        self.hidden_size, self.output_size, self.device, self.attention = hidden_size, output_size, device, attention
        self.attention_weights = None
        self.gru = self.Recurrence(output_size, hidden_size).to(device)
        self.linear = nn.Linear(hidden_size, output_size).to(device)

    def forward(self, decoder_input, hdec_init, henc_ts=None):
        features, hdec_final = self.gru(decoder_input, hdec_init)
        if self.attention:
            if henc_ts is None:
                raise RuntimeError("the decoder has attention, and got no henc_ts")
            seen = torch.sin(features[:, :, None] + henc_ts.transpose(0, 1)).mean(-1)  # (T, B, S)
            places = torch.arange(1, len(henc_ts) + 1, device=henc_ts.device)
            self.attention_weights = seen * seen + 0.1 * places
            features = features + torch.cos(4 * (seen * places).mean(-1, keepdim=True))
        return torch.log_softmax(self.linear(features), dim=-1), hdec_final


def strings(t, alphabet, longest, n):
    """Random strings over an alphabet: each character occurs, and the longest has exactly that length."""
    texts = ["".join(t.choice(alphabet) for _ in range(t.integer(1, longest + 1))) for _ in range(n)]
    texts += [alphabet[i:i + longest] for i in range(0, len(alphabet), longest)]
    return texts + [(alphabet * longest)[:longest]]


class Setting:
    """A model with stubs for its two parts, and inputs for it; all sizes distinct."""

    def __init__(self, t, B=None, attention=True):
        self.S, self.T, batch, self.Ve, self.Vd, self.H = t.sizes("S T B Ve Vd H", smallest=4)
        self.B = batch if B is None else B
        question = "".join(sorted(t.rng.choice(list("0123456789+-*/%"), self.Ve, replace=False)))
        answer = "".join(sorted(t.rng.choice(list("0123456789-."), self.Vd - 2, replace=False)))
        t.stub("DecoderRNN", StandInDecoder)
        X, y = strings(t, question, self.S, 24), strings(t, answer, self.T - 2, 24)
        n = min(len(X), len(y))
        self.model = t["Seq2seq"](X[-n:], y[-n:], self.H, attention=attention, device=t.device)
        self.model.encoder = t.define(StandInEncoder)(self.Ve, self.H, t.device)
        t.randomise_weights(self.model, scale=0.6)
        for part in (self.model.encoder, self.model.decoder):
            t.randomise_weights(part.gru.keeps, scale=0.3)  # small enough that rounding does not grow from step to step
        t.randomise_weights(self.model.decoder.linear, scale=1.8)  # opinions strong enough that the arg-max is clear
        self.encoder_input = t.one_hot(self.Ve, self.S, self.B)
        self.decoder_input = t.one_hot(self.Vd, self.T, self.B)
        self.decoder_input[0] = torch.eye(self.Vd)[sorted(answer + GO + EOS).index(GO)]


def questions(t, s, n, like=lambda written: True):
    """`n` questions whose answers in a free run are clear, change over time (a stuck one would show nothing), and are
    `like` what is asked of the numbers written; looked for on the judge's side only.
    """
    many = t.one_hot(s.Ve, s.S, 200)
    with torch.no_grad():
        output = s.model.value(many, None, False)
    top = output.topk(2, dim=-1).values
    clear = ((top[..., 0] - top[..., 1]).amin(0) > 1e-2).tolist()
    written = output.argmax(-1).T.tolist()
    found = [b for b, numbers in enumerate(written) if clear[b] and len(set(numbers)) > 2 and like(numbers)]
    t.assume(len(found) >= n)
    return many[:, found[:n]]


def some_end_early(t, s):
    """Questions for a batch: some of the answers reach EOS before the last timestep, and some never do."""
    early = max(1, s.B // 2)
    ending = questions(t, s, early, lambda written: 0 in written[:-1])
    endless = questions(t, s, s.B - early, lambda written: 0 not in written)
    return torch.cat([ending, endless], dim=1)[:, t.rng.permutation(s.B)]


@check("seq2seq")
def teacher_forcing(t):
    """With teacher forcing, the decoder reads the right answer and all of the encoder's states."""
    s = Setting(t)
    t.output("output", s.model(s.encoder_input, s.decoder_input), axes="T B V")


@check("seq2seq", weight=2)
def free_running(t):
    """Running freely, the decoder gets all of the encoder's states at every timestep."""
    s = Setting(t)
    output = s.model(some_end_early(t, s), s.decoder_input, teacher_enforce=False)
    t.output("output", output, axes="T B V")


@check("seq2seq", weight=2, skip_relations={"gradient": DETACHED})
def weights_of_the_answer(t):
    """The weights of all timesteps are kept as `attention_weights` of the model, (T, B, S), forced and free."""
    s = Setting(t)
    s.model(s.encoder_input, s.decoder_input)
    t.output("attention_weights, teacher-forced", s.model.attention_weights, axes="T B S")
    s.model(questions(t, s, s.B), None, False)
    t.output("attention_weights, free running", s.model.attention_weights, axes="T B S")


def timesteps(output, end):
    """How many timesteps an answer has that writes EOS at `end`, in words."""
    return "those of the answer" if len(output) in (end, end + 1) else f"{len(output)}"


@check("seq2seq", skip_relations=ENDS_ELSEWHERE)
def inference(t):
    """In inference one question is answered, and EOS is the end."""
    s = Setting(t, B=1)
    # without the stop, more than EOS would be written
    question = questions(t, s, 1, lambda written: written[0] != 0 and 0 in written[:-1]
                         and any(written[written.index(0):]))
    output = s.model(question, inference=True)  # free running, whatever `teacher_enforce` is by default
    length = len(output.value)
    # whether the row of EOS itself is handed back is a matter of taste: the text is compared, and that it ends there
    t.output("timesteps", t.define(timesteps)(output, length - 1))
    zeros = torch.zeros(s.T, 1, s.Vd)
    t.output("characters written", t.torch.cat([output, zeros])[:s.T].argmax(-1), axes="T 1")
    unforced = s.model(question, None, False, True)
    t.output("characters written, unforced", t.torch.cat([unforced, zeros])[:s.T].argmax(-1), axes="T 1")
    given = t.torch.cat([s.model(question, s.decoder_input, inference=True), zeros])[:s.T].argmax(-1)
    with torch.no_grad():  # whoever reads the answer writes something else
        t.assume((s.model.value(question, s.decoder_input).argmax(-1) != given.value).any())
    t.output("characters written, an answer given", given, axes="T 1")
    t.output("output before EOS", output[:length - 1], axes="T 1 V")
    nothing = s.model(questions(t, s, 1, lambda written: written[0] == 0), None, False, True)
    t.output("characters written, EOS first", t.torch.cat([nothing, zeros])[:1].argmax(-1), axes="1 1")


def beginning(attention_weights, length):
    return attention_weights[:length] if length and attention_weights is not None else None


@check("seq2seq", skip_relations={**ENDS_ELSEWHERE, "gradient": DETACHED})
def weights_until_eos(t):
    """In inference, too, the weights of all timesteps are kept."""
    s = Setting(t, B=1)
    output = s.model(questions(t, s, 1, lambda written: 0 in written[1:-1] and written[0]), inference=True)
    # whether those of EOS are kept is a matter of taste, as its row of the output is
    t.output("attention_weights before EOS", t.define(beginning)(s.model.attention_weights, len(output.value) - 1),
             axes="T 1 S")


@check("seq2seq")
def without_attention_too(t):
    """Without attention the model still works, forced and free."""
    s = Setting(t, attention=False)
    t.output("output, teacher-forced", s.model(s.encoder_input, s.decoder_input), axes="T B V")
    output = s.model(questions(t, s, s.B), s.decoder_input, False)
    t.output("output, free running", output, axes="T B V")


# ---------------------------------------------------------------- concatenated

def concat(t, H, V):
    module = t["ConcatDecoderRNN"](H, V, t.device)
    t.randomise_weights(module, scale=0.5)
    return module


@check("concat")
def layers(t):
    """The two layers have the right sizes: 2H to 64, and 64 to V."""
    V, H = t.sizes("V H", largest=30)
    module = t["ConcatDecoderRNN"](H, V, t.device)
    t.output("dense_tanh.weight.shape", t.torch.zeros_like(module.dense_tanh.weight), axes="64 2H")
    t.output("dense_final.weight.shape", t.torch.zeros_like(module.dense_final.weight), axes="V 64")


@check("concat", weight=2)
def both_predict(t):
    """State and context predict together, through 64 units with tanh, for a batch."""
    T, B, V, H = t.sizes("T B V H")
    output = concat(t, H, V).predict(t.normal(T, B, H), t.normal(T, B, H))
    t.output("output.exp()", output.exp(), axes="T B V", sums_to_one="V")
    t.output("output", output, axes="T B V")


@check("concat")
def one_timestep(t):
    """A single timestep, and a batch of one, keep all their axes; also with large weights."""
    T, B, V, H = t.sizes("T B V H")
    module = concat(t, H, V)
    t.output("output of one timestep", module.predict(t.normal(1, B, H), t.normal(1, B, H)), axes="1 B V")
    t.output("output of one answer", module.predict(t.normal(T, 1, H), t.normal(T, 1, H)), axes="T 1 V")
    t.randomise_weights(module, scale=50)
    large = module.predict(t.normal(T, 1, H), t.normal(T, 1, H))
    t.assume(large.value.min() < -150)  # the probability itself is 0 in a float
    t.output("output of large weights", large, axes="T 1 V", atol=1e-2)


@check("concat")
def gradient_to_both(t):
    """The gradient flows back to the state and to the context."""
    T, B, V, H = t.sizes("T B V H")
    hdec_ts, context_vectors = t.leaf(t.normal(T, B, H)), t.leaf(t.normal(T, B, H))
    t.backward(concat(t, H, V).predict(hdec_ts, context_vectors))
    t.output("gradient of hdec_ts", hdec_ts.grad, axes="T B H")
    t.output("gradient of context_vectors", context_vectors.grad, axes="T B H")
