"""Checks of TP 4: attention in the decoder, after its GRU.

Axes by letter: T timesteps of the decoder, S timesteps of the encoder, B batch, V vocabulary, H hidden.
"""

import torch
from torch import nn

from autograder.model.trace import check

GO, EOS = "=", "\n"
ENDS_ELSEWHERE = {"other inputs": "the answer then ends elsewhere, and whether the row of EOS comes back is left open"}
DETACHED = "the weights are kept to be looked at: with their gradient or detached, both are right"


def states(t, T, S, B, H):
    """Decoder states (T, B, H) and encoder states (S, B, H): weights that are neither even nor all on one timestep."""
    hdec_ts, henc_ts = t.normal(T, B, H, scale=0.8), t.normal(S, B, H)
    weights = torch.einsum("tbh,sbh->tbs", hdec_ts, henc_ts).softmax(-1)
    t.require(S == 1 or (0.3 < weights.max(-1).values.mean() < 0.9))
    return hdec_ts, henc_ts


# ---------------------------------------------------------------- loops and batched: the same function

def attended(t, name, T, S, B, H, axes="T B", of=""):
    context_vectors, attention_weights = t.unpack(t[name](*states(t, T, S, B, H)), 2)
    t.output(f"attention_weights{of}", attention_weights, axes=f"{axes} S", sums_to_one="S")
    t.output(f"context_vectors{of}", context_vectors, axes=f"{axes} H")


def attended_strongly(t, name, T, S, B, H):
    """Scores in the thousands, positive and negative: whole numbers, so that they are exact in every order of sums."""
    hdec_ts, henc_ts = (t.integers(-9, 10, n, B, H).float() for n in (T, S))
    context_vectors, attention_weights = t.unpack(t[name](40 * hdec_ts, henc_ts), 2)
    t.output("attention_weights of large scores", attention_weights, axes="T B S", sums_to_one="S")
    t.output("context_vectors of large scores", context_vectors, axes="T B H")


def gradients(t, name):
    T, S, B, H = t.sizes("T S B H")
    hdec_ts, henc_ts = map(t.leaf, states(t, T, S, B, H))
    context_vectors, _ = t.unpack(t[name](hdec_ts, henc_ts), 2)
    t.backward(context_vectors)
    t.output("gradient of hdec_ts", hdec_ts.grad, axes="T B H")
    t.output("gradient of henc_ts", henc_ts.grad, axes="S B H")


@check("loops", weight=2)
def loops_on_a_batch(t):
    """Weights and context vectors of a batch, of small scores and of large ones."""
    sizes = t.sizes("T S B H")
    attended(t, "attention_loops", *sizes)
    attended_strongly(t, "attention_loops", *sizes)


@check("loops")
def loops_on_one(t):
    """A single decoder timestep, and a batch of one, keep all their axes."""
    T, S, B, H = t.sizes("T S B H")
    attended(t, "attention_loops", 1, S, B, H, "1 B", " of one timestep")
    attended(t, "attention_loops", T, S, 1, H, "T 1", " of one sequence")


@check("loops")
def loops_let_gradients_pass(t):
    """The gradient flows back to the decoder's states and to the encoder's."""
    gradients(t, "attention_loops")


@check("batched", weight=2)
def batched_on_a_batch(t):
    """Weights and context vectors of a batch, of small scores and of large ones."""
    sizes = t.sizes("T S B H")
    attended(t, "attention_batched", *sizes)
    attended_strongly(t, "attention_batched", *sizes)


@check("batched")
def batched_on_one(t):
    """A single decoder timestep, a batch of one and a question of one character keep all their axes."""
    T, S, B, H = t.sizes("T S B H")
    t.forbid("loop")
    attended(t, "attention_batched", 1, S, B, H, "1 B", " of one timestep")
    attended(t, "attention_batched", T, S, 1, H, "T 1", " of one sequence")
    attended(t, "attention_batched", T, 1, B, H, "T B", " of one character")


@check("batched")
def batched_lets_gradients_pass(t):
    """The gradient flows back to the decoder's states and to the encoder's."""
    gradients(t, "attention_batched")


# ---------------------------------------------------------------- the detector

def shares(t, *shape, over):
    """Positive numbers that sum to 1 along one axis, and along no other."""
    return (2 * t.normal(*shape)).softmax(over)


@check("axes", weight=2)
def one_axis(t):
    """Tensors with one, two, three and four axes that sum to 1 along one of them."""
    axes_that_sum_to_one = t["axes_that_sum_to_one"]
    for which in ("a", "a second", "a third"):
        for shape in (t.sizes("a"), t.sizes("a b"), t.sizes("a b c"), t.sizes("a b c d")):
            summed = axes_that_sum_to_one(shares(t, *shape, over=t.integer(0, len(shape))))
            t.output(f"axes of {which} tensor of {len(shape)} axes", summed)


@check("axes")
def several_axes_or_none(t):
    """Tensors that sum to 1 along two axes, and along none: scores, ones, log-softmax, and a single sum that is off."""
    axes_that_sum_to_one = t["axes_that_sum_to_one"]
    n, B = 2 * t.integer(2, 5), 2 * t.integer(2, 5) + 1
    order = t.rng.permutation(n)
    share = float(t.uniform(1)) * 0.6 + 0.2
    doubly = share * torch.eye(n)[order] + (1 - share) / n
    t.output("axes of a doubly stochastic matrix", axes_that_sum_to_one(doubly))
    t.output("axes of halves", axes_that_sum_to_one(torch.full((2, 2), 0.5)))
    t.output("axes of ones", axes_that_sum_to_one(torch.ones(n, B)))
    t.output("axes of raw scores", axes_that_sum_to_one(t.normal(n, B)))
    weights = shares(t, n, B, over=1)
    t.output("axes of a log-softmax", axes_that_sum_to_one(weights.log()))
    spoilt = weights.clone()
    spoilt[t.integer(0, n), t.integer(0, B)] += 0.1
    t.output("axes when one sum is off", axes_that_sum_to_one(spoilt))
    swinging = weights * torch.tensor([1.2, 0.8]).repeat(n // 2)[:, None]
    t.output("axes when the sums are 1 on average", axes_that_sum_to_one(swinging))
    off, row = t.choice([-1, 1]) * torch.tensor([3e-5, 2e-4]), t.integer(0, n)
    for size, distance in zip(["0.00003", "0.0002"], off, strict=True):
        nearly = weights.clone()
        nearly[row] *= 1 + distance
        t.output(f"axes when one sum is off by {size}", axes_that_sum_to_one(nearly))


# ---------------------------------------------------------------- decoder

def decoder(t, H, V, attention=True):
    module = t["DecoderRNN"](H, V, t.device, attention)
    t.weights(module)
    return module


def decoded(t, module, T, S, B, H, V):
    """A call with attention: its result; the decoder's own weights are left in the module."""
    result = module(t.one_hot(V, T, B), t.normal(1, B, H), t.normal(S, B, H))
    return t.unpack(result, 2)


@check("decoder")
def without_attention(t):
    """Without attention, it is the decoder of TP 3: the states predict, and no encoder state is needed."""
    T, B, V, H = t.sizes("T B V H")
    output, hdec_final = t.unpack(decoder(t, H, V, False)(t.one_hot(V, T, B), hdec_init=t.normal(1, B, H)), 2)
    t.output("output.exp()", output.exp(), axes="T B V", sums_to_one="V")
    t.output("output", output, axes="T B V")
    t.output("hdec_final", hdec_final, axes="1 B H")


@check("decoder", weight=3)
def context_predicts(t):
    """With attention, the context alone predicts the characters, for a batch of whole answers."""
    T, S, B, V, H = t.sizes("T S B V H")
    output, hdec_final = decoded(t, decoder(t, H, V), T, S, B, H, V)
    t.output("output.exp()", output.exp(), axes="T B V", sums_to_one="V")
    t.output("output", output, axes="T B V")
    t.output("hdec_final", hdec_final, axes="1 B H")


@check("decoder", weight=2, without={"gradient": DETACHED})
def attention_weights(t):
    """The attention weights of all timesteps are kept as `self.attention_weights`, (T, B, S); also of large scores."""
    T, S, B, V, H = t.sizes("T S B V H")
    module = decoder(t, H, V)
    module(t.one_hot(V, T, B), t.normal(1, B, H), t.normal(S, B, H))
    t.output("attention_weights", module.attention_weights, axes="T B S", sums_to_one="S")
    module = decoder(t, H, V)
    module(t.one_hot(V, T, B), t.normal(1, B, H), t.normal(S, B, H, scale=1e5))
    t.require(not module.attention_weights.value.frac().any())  # one has it all, however they are rounded
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
    """EncoderRNN from outside, call and attributes; inside no GRU, but h = sin(W x + U h)."""

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
        self.S, self.T, batch, self.Ve, self.Vd, self.H = t.sizes("S T B Ve Vd H", low=4)
        self.B = batch if B is None else B
        question = "".join(sorted(t.rng.choice(list("0123456789+-*/%"), self.Ve, replace=False)))
        answer = "".join(sorted(t.rng.choice(list("0123456789-."), self.Vd - 2, replace=False)))
        t.stub("EncoderRNN", StandInEncoder)
        t.stub("DecoderRNN", StandInDecoder)
        X, y = strings(t, question, self.S, 24), strings(t, answer, self.T - 2, 24)
        n = min(len(X), len(y))
        self.model = t["Seq2seq"](X[-n:], y[-n:], self.H, attention=attention, device=t.device)
        t.weights(self.model, scale=0.6)
        for part in (self.model.encoder, self.model.decoder):
            t.weights(part.gru.keeps, scale=0.3)  # small enough that rounding does not grow from step to step
        t.weights(self.model.decoder.linear, scale=1.8)  # opinions strong enough that the arg-max is clear
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
    t.require(len(found) >= n)
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


@check("seq2seq", weight=2, without={"gradient": DETACHED})
def weights_of_the_answer(t):
    """The weights of all timesteps are kept as `attention_weights` of the model, (T, B, S), forced and free."""
    s = Setting(t)
    s.model(s.encoder_input, s.decoder_input)
    t.output("attention_weights, teacher-forced", s.model.attention_weights, axes="T B S")
    s.model(questions(t, s, s.B), None, False)
    t.output("attention_weights, free running", s.model.attention_weights, axes="T B S")


@check("seq2seq", without=ENDS_ELSEWHERE)
def inference(t):
    """In inference one question is answered, and EOS is the end."""
    s = Setting(t, B=1)
    # without the stop, more than EOS would be written
    question = questions(t, s, 1, lambda written: written[0] != 0 and 0 in written[:-1]
                         and any(written[written.index(0):]))
    output = s.model(question, inference=True)  # free running, whatever `teacher_enforce` is by default
    length = len(output.value)
    # whether the row of EOS itself is handed back, or rows of zeros follow, is a matter of taste: the text is compared
    zeros = torch.zeros(s.T, 1, s.Vd)
    t.output("characters written", t.torch.cat([output, zeros])[:s.T].argmax(-1), axes="T 1")
    unforced = s.model(question, None, False, True)
    t.output("characters written, unforced", t.torch.cat([unforced, zeros])[:s.T].argmax(-1), axes="T 1")
    t.output("output before EOS", output[:length - 1], axes="T 1 V")


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
    t.weights(module, scale=0.5)
    return module


@check("concat")
def layers(t):
    """The two layers have the right sizes: 2H to 64, and 64 to V."""
    V, H = t.sizes("V H", high=30)
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
    """A single timestep, and a batch of one, keep all their axes."""
    T, B, V, H = t.sizes("T B V H")
    module = concat(t, H, V)
    t.output("output of one timestep", module.predict(t.normal(1, B, H), t.normal(1, B, H)), axes="1 B V")
    t.output("output of one answer", module.predict(t.normal(T, 1, H), t.normal(T, 1, H)), axes="T 1 V")


@check("concat")
def gradient_to_both(t):
    """The gradient flows back to the state and to the context."""
    T, B, V, H = t.sizes("T B V H")
    hdec_ts, context_vectors = t.leaf(t.normal(T, B, H)), t.leaf(t.normal(T, B, H))
    t.backward(concat(t, H, V).predict(hdec_ts, context_vectors))
    t.output("gradient of hdec_ts", hdec_ts.grad, axes="T B H")
    t.output("gradient of context_vectors", context_vectors.grad, axes="T B H")


# ---------------------------------------------------------------- exact match by group

def first_character(question):
    return question[0]


def length(question):
    return len(question)


def marked(t, n):
    """`n` questions, written answers and true ones, of every kind, and in groups of unequal size and success."""
    questions = [t.choice("+-") + "7" * t.integer(1, 4) for _ in range(n)]
    truth = [str(t.integer(100, 999)) for _ in range(n)]
    kinds = [t.choice(["right", "right", "right", "longer", "shorter", "other"]) for _ in range(n)]
    written = [{"right": y, "longer": y + "0", "shorter": y[:2], "other": y[:2] + str((int(y[2]) + 1) % 10)}[kind]
               for y, kind in zip(truth, kinds, strict=True)]
    t.require(set(kinds) == {"right", "longer", "shorter", "other"})
    for group_of in (first_character, length):
        groups = {}
        for question, kind in zip(questions, kinds, strict=True):
            groups.setdefault(group_of(question), []).append(kind == "right")
        shares = [sum(values) / len(values) for values in groups.values()]
        t.require(len(groups) > 1 and len(set(shares)) == len(shares) and all(0 < share < 1 for share in shares))
    return questions, written, truth


@check("groups", weight=2)
def by_operation(t):
    """The share of right answers by the first character of the question."""
    t.output("exact_match_by", t["exact_match_by"](t.define(first_character), *marked(t, t.integer(40, 60))))


@check("groups")
def by_length(t):
    """The same function, with groups made by another rule: the length of the question."""
    t.output("exact_match_by", t["exact_match_by"](t.define(length), *marked(t, t.integer(40, 60))))


@check("groups")
def nothing_right(t):
    """A group without a right answer has the share 0, and a group of right answers 1."""
    questions = ["+1", "-1", "+2", "+3"]
    exact_match_by = t["exact_match_by"]
    t.output("exact_match_by",
             exact_match_by(t.define(first_character), questions, ["5", "6", "7", "8"], ["5", "0", "7", "8"]))
