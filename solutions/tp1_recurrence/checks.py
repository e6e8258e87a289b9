"""The checks of session 1: tokens, embeddings, recurrences from their equations, shapes, gradients."""

import torch

from autograder.authoring import check

WORDS = "ant bee cow dog eel fox gnu hen ibex jay kiwi lynx mole newt owl pig rat swan toad vole wolf yak".split()
ODD = "Cow The K2 1984 don't e-mail .".split()  # tokens are what stands between spaces, letter by letter


def words(t, n):
    """n distinct tokens, one or two of them no plain words, in random order."""
    odd = [ODD[i] for i in t.rng.permutation(len(ODD))[:2 if n > 3 else 1]]
    plain = [WORDS[i] for i in t.rng.permutation(len(WORDS))[:n - len(odd)]]
    return [(odd + plain)[i] for i in t.rng.permutation(n)]


def numbered(t, tokens):
    """A vocabulary whose ids are in no order; that of `<unk>` is not 0."""
    first, *others = t.rng.permutation(tokens).tolist()
    others.insert(t.integer(0, len(others) + 1), "<unk>")
    return {token: i for i, token in enumerate([first, *others])}


# --- vocabulary ---------------------------------------------------------------------------------

@check("vocabulary", weight=2)
def every_token_once(t):
    """All tokens of several sentences, each once, in alphabetical order after `<unk>`."""
    pool = words(t, 7)
    tokens = pool + [t.choice(pool) for _ in range(9)]
    t.assume(pool != sorted(pool) and tokens.count(tokens[0]) < max(map(tokens.count, tokens)))
    sentences = [space.join(tokens[i:i + 4]) for i, space in zip(range(0, 16, 4), (" ", "  ", " ", " "), strict=True)]
    t.output("vocabulary", t["build_vocabulary"](sentences))


@check("vocabulary")
def special_tokens(t):
    """Special tokens get the first ids, in the order in which they are given."""
    specials = ["<sos>", "<pad>", "<unk>", "<eos>"][:t.integer(3, 5)]
    pool = words(t, 5)
    t.output("vocabulary", t["build_vocabulary"]([" ".join(pool[:3]), " ".join(pool[2:])], specials))


@check("vocabulary")
def known_tokens(t):
    """The ids of a sentence whose tokens are all known, some more than once, as whole numbers."""
    pool = words(t, 8)
    sentence = [t.choice(pool) for _ in range(t.integer(4, 8))]
    t.assume(2 < len(set(sentence)) < len(sentence))
    t.output("ids", t["encode"](" ".join(sentence), numbered(t, pool)), axes="T")


@check("vocabulary")
def unknown_tokens(t):
    """A token that is not in the vocabulary gets the id of `<unk>`."""
    pool = words(t, 9)
    known, strange = pool[:6], pool[6:]
    sentence = [known[0], strange[0], known[1], known[2], strange[1], known[3]]
    t.output("ids", t["encode"](" ".join(sentence), numbered(t, known)), axes="T")


@check("vocabulary")
def one_token(t):
    """A sentence of a single token has the shape (1,)."""
    pool = words(t, 12)
    vocabulary = numbered(t, pool)
    for i, token in enumerate(pool[:4]):
        t.output(f"ids of sentence {i}", t["encode"](token, vocabulary), axes="T")


@check("vocabulary")
def end_of_the_sequence(t):
    """Where the vocabulary has `<eos>`, its id follows the last token, be it 0."""
    pool = words(t, 8)
    t.output("ids", t["encode"](" ".join(pool[:5]), numbered(t, ["<eos>", *pool[:3], *pool[5:]])), axes="T")
    first = {token: i for i, token in enumerate(["<eos>", "<unk>", *pool])}
    t.output("ids with that of <eos> 0", t["encode"](" ".join(pool[:5]), first), axes="T")


# --- one-hot ------------------------------------------------------------------------------------

@check("one-hot", weight=2)
def batch_of_ids(t):
    """A batch (T, B) of ids becomes (T, B, V), of real numbers."""
    T, B, V = t.sizes("T B V")
    ids = t.integers(0, V, T, B)
    t.assume(ids.max() == V - 1)
    t.forbid("one_hot")
    t.output("vectors", t["one_hot"](ids, V), axes="T B V")


@check("one-hot")
def one_sentence(t):
    """A single sentence (T,) becomes (T, V)."""
    T, V = t.sizes("T V")
    ids = t.integers(0, V, T)
    t.assume(ids.max() == V - 1)
    t.forbid("one_hot")
    t.output("vectors", t["one_hot"](ids, V), axes="T V")


@check("one-hot")
def vocabulary_larger_than_text(t):
    """The last axis has the size of the vocabulary, also when its last tokens do not occur."""
    T, B, V = t.sizes("T B V", smallest=4)
    t.forbid("one_hot")
    t.output("vectors", t["one_hot"](t.integers(0, V - 2, T, B), V), axes="T B V")


# --- embed --------------------------------------------------------------------------------------

def on_cpu(t, tensor):
    """The tensor on the CPU, wherever the rest is graded: on a GPU an id out of range ends the whole process."""
    return t.torch.from_numpy(tensor.numpy())


@check("embed")
def product(t):
    """The product of one-hot vectors with the table."""
    T, B, V, D = t.sizes("T B V D")
    t.output("embedded", t["embed_by_product"](t.one_hot(V, T, B), t.normal(V, D)), axes="T B D")


@check("embed")
def mixture(t):
    """A mixture of tokens gives the mixture of their rows, by the product."""
    T, B, V, D = t.sizes("T B V D")
    t.output("embedded", t["embed_by_product"](t.normal(T, B, V).softmax(-1), t.normal(V, D)), axes="T B D")


@check("embed", weight=2)
def look_up(t):
    """The rows that the ids name, the last row included, and no other."""
    T, B, D = t.sizes("T B D")
    (V,) = t.sizes("V", smallest=D + 1)  # some ids are no number of a column
    unread = t.integer(0, V - 1)
    ids = t.integers(0, V - 1, T, B)
    ids[ids >= unread] += 1
    t.assume(ids.max() == V - 1)
    t.forbid("embedding")
    table = t.normal(V, D, scale=20.0)  # its numbers have nothing to do with ids
    table[unread] = torch.inf  # no number in a sum, not even times 0: a product would show
    t.output("embedded", t["embed"](on_cpu(t, ids), on_cpu(t, table)), axes="T B D")


def refusal(embed, ids, table):
    """What becomes of a call that should be refused, in words."""
    try:
        embed(ids, table)
    except NotImplementedError:
        raise
    except Exception as error:
        return f"{type(error).__name__} {'with' if str(error).strip() else 'without'} a message"
    return "no error"


@check("embed")
def out_of_range(t):
    """One id that has no row, too large or negative, raises an IndexError with a message."""
    T, B, V, D = t.sizes("T B V D")
    table = on_cpu(t, t.normal(V, D))
    at, tried = (t.integer(0, T), t.integer(0, B)), t.define(refusal)
    for name, wrong in {"too_large": V, "far_too_large": V + t.integer(2, 9),
                        "negative": -1, "very_negative": -V}.items():
        ids = t.integers(1, V - 1, T, B)
        ids[at] = wrong
        t.output(name, tried(t["embed"], on_cpu(t, ids), table))


@check("embed")
def table_learns(t):
    """The gradient reaches the rows that were looked up, and only these."""
    T, B, *sizes = t.sizes("T B V D", smallest=4)
    V, D = sorted(sizes)  # so that no id is out of range for whoever looks columns up
    table = t.leaf(t.normal(V, D))
    t.backward(t["embed"](t.integers(0, V - 1, T, B), table))
    t.output("gradient of the table", table.grad, axes="V D")


# --- rnn-loop -----------------------------------------------------------------------------------

def large(size):
    """Biases so large that their exponentials are infinite."""
    return torch.full((size,), 200.0)


def recurrence(t, parts=1):
    """Random sizes, input, state and weights; `parts` is 3 for a GRU, 4 for an LSTM."""
    T, B, D, H = t.sizes("T B D H")
    weights = (t.normal(parts * H, D, scale=0.6), t.normal(parts * H, H, scale=0.6),
               t.normal(parts * H, scale=0.6), t.normal(parts * H, scale=0.6))
    return T, B, D, H, weights


@check("rnn-loop")
def single_timestep(t):
    """One sentence of one timestep: the equation itself, also where its sum is large."""
    _, _, D, H, (W_ih, W_hh, b_ih, b_hh) = recurrence(t)
    t.forbid("rnn_tanh", "rnn_tanh_cell")
    h_ts, h_final = t.unpack(t["rnn_loop"](t.normal(1, 1, D), t.normal(1, H), W_ih, W_hh, b_ih, b_hh), 2)
    t.output("h_ts", h_ts, axes="T B H")
    t.output("h_final", h_final, axes="B H")
    _, far = t.unpack(t["rnn_loop"](t.normal(1, 1, D), t.normal(1, H), W_ih, W_hh, large(H), b_hh), 2)
    t.output("h_final of a large sum", far, axes="B H")


@check("rnn-loop", weight=2)
def sequence(t):
    """All states of a batch of sequences, and the last one; also from a state of zeros."""
    T, B, D, H, weights = recurrence(t)
    t.forbid("rnn_tanh", "rnn_tanh_cell")
    x = t.normal(T, B, D)
    for h_0, of in ((t.normal(B, H), ""), (torch.zeros(B, H), " from zeros")):
        h_ts, h_final = t.unpack(t["rnn_loop"](x, h_0, *weights), 2)
        t.output(f"h_ts{of}", h_ts, axes="T B H")
        t.output(f"h_final{of}", h_final, axes="B H")


@check("rnn-loop")
def gradient_through_time(t):
    """The gradient of the last state reaches the first input and the initial state."""
    T, B, D, H, weights = recurrence(t)
    x, h_0 = t.leaf(t.normal(T, B, D)), t.leaf(t.normal(B, H))
    _, h_final = t.unpack(t["rnn_loop"](x, h_0, *weights), 2)
    t.backward(h_final)
    t.output("gradient of x", x.grad, axes="T B D")
    t.output("gradient of h_0", h_0.grad, axes="B H")


# --- next-token ---------------------------------------------------------------------------------

def reader(t, recurrence):
    """Sizes and a reader with random weights."""
    T, B, V, D, H = t.sizes("T B V D H")
    model = t["NextToken"](V, D, H, getattr(t.library("torch.nn"), recurrence)).to(t.device)
    t.randomise_weights(model)
    return T, B, V, H, model


@check("next-token", weight=2)
def scores_at_every_timestep(t):
    """Raw scores for every token at every timestep, starting from zeros."""
    T, B, V, H, model = reader(t, t.choice(["GRU", "RNN"]))
    logits, state = t.unpack(model(t.integers(0, V, T, B)), 2)
    t.output("logits", logits, axes="T B V")
    t.output("state", state, axes="1 B H")


@check("next-token")
def reading_on(t):
    """A state that is given is where reading goes on."""
    T, B, V, H, model = reader(t, "GRU")
    logits, state = t.unpack(model(t.integers(0, V, T, B), t.normal(1, B, H)), 2)
    t.output("logits", logits, axes="T B V")
    t.output("state", state, axes="1 B H")


@check("next-token")
def with_an_lstm(t):
    """An LSTM, whose state is a pair: two single timesteps, one after the other."""
    _, B, V, _, model = reader(t, "LSTM")
    _, state = t.unpack(model(t.integers(0, V, 1, B)), 2)
    logits, state = t.unpack(model(t.integers(0, V, 1, B), state), 2)
    t.output("logits", logits, axes="T B V")
    t.output("state", state)


@check("next-token")
def all_layers_learn(t):
    """The gradient reaches the embedding, the recurrence and the readout."""
    T, B, V, _, model = reader(t, "GRU")
    logits, _ = t.unpack(model(t.integers(0, V, T, B)), 2)
    t.backward(logits)
    t.output("gradient of the embedding", model.embedding.weight.grad, axes="V D")
    t.output("gradient of the recurrence", model.recurrence.weight_hh_l0.grad)
    t.output("gradient of the readout", model.readout.weight.grad, axes="V H")


# --- gru-cell -----------------------------------------------------------------------------------

@check("gru-cell", weight=2)
def gru_step(t):
    """The new state of a batch, with the same weights as torch's cell."""
    _, B, D, H, weights = recurrence(t, parts=3)
    t.forbid("gru", "gru_cell")
    t.output("h", t["gru_cell"](t.normal(B, D), t.normal(B, H), *weights), axes="B H")


@check("gru-cell")
def gru_batch_of_one(t):
    """A batch of one sentence; and sums so large that their exponentials are infinite."""
    _, _, D, H, (W_ih, W_hh, b_ih, b_hh) = recurrence(t, parts=3)
    t.forbid("gru", "gru_cell")
    t.output("h", t["gru_cell"](t.normal(1, D), t.normal(1, H), W_ih, W_hh, b_ih, b_hh), axes="B H")
    far = t["gru_cell"](t.normal(1, D), t.normal(1, H), W_ih, W_hh, large(3 * H), b_hh)
    t.output("h of large sums", far, axes="B H")


@check("gru-cell")
def gru_keeps(t):
    """Where the update gate is 1, the old state is copied; where it is 0, the candidate takes its place."""
    _, B, D, H, (W_ih, W_hh, b_ih, b_hh) = recurrence(t, parts=3)
    b_ih[H:2 * H] = torch.where(torch.arange(H) % 2 == 0, 40.0, -40.0)
    t.forbid("gru", "gru_cell")
    t.output("h", t["gru_cell"](t.normal(B, D), t.normal(B, H), W_ih, W_hh, b_ih, b_hh), axes="B H")


@check("gru-cell")
def gru_gradient(t):
    """The gradient reaches the input and the old state."""
    _, B, D, H, weights = recurrence(t, parts=3)
    x_t, h = t.leaf(t.normal(B, D)), t.leaf(t.normal(B, H))
    t.backward(t["gru_cell"](x_t, h, *weights))
    t.output("gradient of x_t", x_t.grad, axes="B D")
    t.output("gradient of h", h.grad, axes="B H")


# --- lstm-cell ----------------------------------------------------------------------------------

@check("lstm-cell", weight=2)
def lstm_step(t):
    """The new pair (h, c) of a batch, with the same weights as torch's cell."""
    _, B, D, H, weights = recurrence(t, parts=4)
    t.forbid("lstm", "lstm_cell")
    h, c = t.unpack(t["lstm_cell"](t.normal(B, D), (t.normal(B, H), t.normal(B, H)), *weights), 2)
    t.output("h", h, axes="B H")
    t.output("c", c, axes="B H")


@check("lstm-cell")
def lstm_two_steps(t):
    """Two timesteps of a batch of one: the pair that comes out goes in again; and a timestep with large sums."""
    _, _, D, H, (W_ih, W_hh, b_ih, b_hh) = recurrence(t, parts=4)
    t.forbid("lstm", "lstm_cell")
    state = t["lstm_cell"](t.normal(1, D), (t.normal(1, H), t.normal(1, H)), W_ih, W_hh, b_ih, b_hh)
    h, c = t.unpack(t["lstm_cell"](t.normal(1, D), state, W_ih, W_hh, b_ih, b_hh), 2)
    t.output("h", h, axes="B H")
    t.output("c", c, axes="B H")
    h, c = t.unpack(t["lstm_cell"](t.normal(1, D), (h, c), W_ih, W_hh, large(4 * H), b_hh), 2)
    t.output("h of large sums", h, axes="B H")
    t.output("c of large sums", c, axes="B H")


@check("lstm-cell")
def lstm_gradient(t):
    """The gradient of the new h reaches the input and both old states."""
    _, B, D, H, weights = recurrence(t, parts=4)
    x_t, h, c = t.leaf(t.normal(B, D)), t.leaf(t.normal(B, H)), t.leaf(t.normal(B, H))
    new_h, _ = t.unpack(t["lstm_cell"](x_t, (h, c), *weights), 2)
    t.backward(new_h)
    t.output("gradient of x_t", x_t.grad, axes="B D")
    t.output("gradient of h", h.grad, axes="B H")
    t.output("gradient of c", c.grad, axes="B H")


# --- lstm-shapes --------------------------------------------------------------------------------

def predicted_shapes(t, num_layers, bidirectional, batch_first):
    B, T, H = t.sizes("B T H", largest=40)
    t.forbid("lstm")
    shapes = t.unpack(t["lstm_shapes"](B, T, H, num_layers, bidirectional, batch_first), 3)
    for name, shape in zip(("output", "h_n", "c_n"), shapes, strict=True):
        t.output(f"shape of {name}", shape)


@check("lstm-shapes")
def plain(t):
    """One layer, one direction, time first."""
    predicted_shapes(t, 1, False, False)


@check("lstm-shapes")
def many_layers(t):
    """Several layers, batch first."""
    predicted_shapes(t, t.integer(3, 7), False, True)


@check("lstm-shapes")
def both_directions(t):
    """Several layers and two directions, time first."""
    predicted_shapes(t, t.integer(4, 8), True, False)


@check("lstm-shapes")
def everything(t):
    """Two directions, several layers, batch first."""
    predicted_shapes(t, t.integer(4, 8), True, True)


# --- both-ends ----------------------------------------------------------------------------------

def read_both_ways(t, num_layers, B=None):
    """What a bidirectional LSTM with random weights returns on a random batch: output, h_n.

    It runs in the kernel: the same numbers stand in both, and the gradient reaches the LSTM through either.
    """
    T, size, D, H = t.sizes("T B D H")
    lstm = t.library("torch.nn").LSTM(D, H, num_layers, bidirectional=True, batch_first=True).to(t.device)
    t.randomise_weights(lstm)
    output, states = t.unpack(lstm(t.normal(B or size, T, D)), 2)
    h_n, _ = t.unpack(states, 2)
    return output, h_n


@check("both-ends")
def one_layer(t):
    """The two ends of a single layer, for a batch."""
    t.output("vectors", t["both_ends"](*read_both_ways(t, 1)), axes="B 2H")


@check("both-ends", weight=2)
def last_layer(t):
    """Of several layers, the last one."""
    t.output("vectors", t["both_ends"](*read_both_ways(t, t.integer(2, 5))), axes="B 2H")


@check("both-ends")
def single_sentence(t):
    """A batch of one sentence keeps its axis."""
    t.output("vectors", t["both_ends"](*read_both_ways(t, 2, B=1)), axes="B 2H")


# --- gradients ----------------------------------------------------------------------------------

MEASURED = {"gradient": "what is returned is a measurement: whether it has a gradient of its own is left open"}


def curved_sum(x):
    """Some function of all inputs up to each timestep, with one feature more than x has."""
    h_ts = (x**2 + x.roll(1, dims=2)).cumsum(0).sin()
    return torch.cat([h_ts, h_ts[..., :1]], dim=-1), None


@check("gradients", weight=2, skip_relations=MEASURED)
def known_function(t):
    """The norms for a function of ours in the place of the recurrence."""
    T, B, D = t.sizes("T B D")
    t.output("norms", t["gradient_norms"](t.define(curved_sum), t.normal(T, B, D)), axes="T")


@check("gradients", skip_relations=MEASURED)
def an_lstm(t):
    """The norms for an `nn.LSTM` and a batch of one."""
    T, D, H = t.sizes("T D H")
    lstm = t.library("torch.nn").LSTM(D, H).to(t.device)
    t.randomise_weights(lstm, scale=0.7)
    t.output("norms", t["gradient_norms"](lstm, t.normal(T, 1, D)), axes="T")


@check("gradients", skip_relations=MEASURED)
def measured_twice(t):
    """Measuring leaves no trace: a second measurement gives the same, and x is as before."""
    T, B, D = t.sizes("T B D")
    run, x, watched = t.define(curved_sum), t.torch.clone(t.normal(T, B, D)), t.leaf(t.normal(T, B, D))
    t["gradient_norms"](run, x)
    t.output("second measurement", t["gradient_norms"](run, x), axes="T")
    t.output("x requires a gradient", x.requires_grad)
    t["gradient_norms"](run, watched)
    t.output("gradient left behind in x", watched.grad)
