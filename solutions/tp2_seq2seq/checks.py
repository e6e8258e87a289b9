"""Checks of session 2: an encoder–decoder without attention, on arithmetic.

Axes by letter: T timesteps (Te of the question, Td of the answer), B batch, V vocabulary (Ve, Vd), H hidden.
"""

import math

import torch
from torch import nn

from autograder.authoring import check

DIGITS = "0123456789"
GO, EOS = "=", "\n"
ENDS_ELSEWHERE = {"other inputs": "the answer then ends elsewhere, and whether the row of EOS comes back is left open"}


# ---------------------------------------------------------------- shift

def written_answers(t, T, B, V):
    """One-hot answers (T, B, V) with rows of zeros after each end; the first of the batch fills all timesteps."""
    lengths = torch.cat([torch.tensor([T]), t.integers(2, T + 1, B - 1)])
    return t.one_hot(V, T, B) * (torch.arange(T)[:, None] < lengths)[..., None]


@check("shift", weight=2)
def one_timestep_earlier(t):
    """The target of a batch is the decoder's input one timestep earlier, and zeros at the end."""
    T, B, V = t.sizes("T B V")
    t.output("target", t["shifted_target"](written_answers(t, T, B, V)), axes="T B V")


@check("shift")
def one_short_answer(t):
    """The same for a batch of one, and for answers of a single timestep."""
    T, B, V = t.sizes("T B V")
    t.output("target", t["shifted_target"](written_answers(t, T, 1, V)), axes="T 1 V")
    t.output("target of one timestep", t["shifted_target"](t.one_hot(V, 1, B)), axes="1 B V")


# ---------------------------------------------------------------- encoder

class Embedded(nn.GRU):
    """What part 6 puts in the place of a GRU: the same call, behind an embedding."""

    def __init__(self, vocabulary_size, embedding_size, hidden_size):
        super().__init__(embedding_size, hidden_size)
        self.embedding = nn.Parameter(torch.ones(vocabulary_size, embedding_size))

    def forward(self, input, hx=None):
        return super().forward(input @ self.embedding, hx)


def encoder(t, V, H):
    module = t["EncoderRNN"](V, H, t.device)
    t.randomise_weights(module)
    return module


def encoder_outputs(t, result, axes="T B H", of=""):
    henc_ts, henc_final = t.unpack(result, 2)
    t.output(f"henc_ts{of}", henc_ts, axes=axes)
    t.output(f"henc_final{of}", henc_final, axes=" ".join(["1", *axes.split()[1:]]))
    return henc_ts, henc_final


@check("encoder", weight=2)
def states(t):
    """The hidden state after each timestep, and the last one, from zeros; shorter questions end in rows of zeros."""
    T, B, V, H = t.sizes("T B V H")
    questions = t.one_hot(V, T, B)
    questions[-1, 0] = 0
    encoder_outputs(t, encoder(t, V, H)(questions))


@check("encoder")
def initial_state(t):
    """When an initial state is given, the encoder starts from it."""
    T, B, V, H = t.sizes("T B V H")
    encoder_outputs(t, encoder(t, V, H)(t.one_hot(V, T, B), henc_init=t.normal(1, B, H)))


@check("encoder")
def one_question_one_character(t):
    """A batch of one question, and questions of one character, keep all their axes."""
    T, B, V, H = t.sizes("T B V H")
    module = encoder(t, V, H)
    encoder_outputs(t, module(t.one_hot(V, T, 1)), "T 1 H", " of one question")
    encoder_outputs(t, module(t.one_hot(V, 1, B)), "1 B H", " of one character")


@check("encoder")
def gradient_to_the_question(t):
    """The gradient flows back from both results, to the question and to the initial state."""
    T, B, V, H = t.sizes("T B V H")
    question, start = t.leaf(t.one_hot(V, T, B)), t.leaf(t.normal(1, B, H))
    henc_ts, henc_final = t.unpack(encoder(t, V, H)(question, start), 2)
    t.backward(t.torch.cat([henc_ts, henc_final]))
    t.output("gradient of encoder_input", question.grad, axes="T B V")
    t.output("gradient of henc_init", start.grad, axes="1 B H")


@check("encoder")
def another_recurrent_layer(t):
    """`forward` uses whatever layer stands in `self.gru`: part 6 puts an embedding there."""
    T, B, V, D, H = t.sizes("T B V D H")
    module = encoder(t, V, H)
    module.gru = t.define(Embedded)(V, D, H).to(t.device)
    t.randomise_weights(module)
    encoder_outputs(t, module(t.one_hot(V, T, B)))


# ---------------------------------------------------------------- decoder

def decoder(t, H, V):
    module = t["DecoderRNN"](H, V, t.device)
    t.randomise_weights(module)
    return module


def decoder_outputs(t, result, axes="T B V", of=""):
    output, hdec_final = t.unpack(result, 2)
    t.output(f"output.exp(){of}", output.exp(), axes=axes, sums_to_one="V")
    t.output(f"output{of}", output, axes=axes)
    t.output(f"hdec_final{of}", hdec_final, axes=f"1 {axes.split()[1]} H")
    return output, hdec_final


@check("decoder", weight=2)
def whole_answer(t):
    """Log-probabilities of a batch of whole answers, and the last hidden state."""
    T, B, V, H = t.sizes("T B V H")
    decoder_outputs(t, decoder(t, H, V)(written_answers(t, T, B, V), t.normal(1, B, H)))


@check("decoder")
def one_step(t):
    """A single timestep, and a batch of one answer, keep all their axes; and characters that are most improbable."""
    T, B, V, H = t.sizes("T B V H")
    module = decoder(t, H, V)
    decoder_outputs(t, module(t.one_hot(V, 1, B), t.normal(1, B, H)), "1 B V", " of one step")
    decoder_outputs(t, module(t.one_hot(V, T, 1), t.normal(1, 1, H)), "T 1 V", " of one answer")
    t.randomise_weights(module.linear, scale=200)
    output, _ = t.unpack(module(t.one_hot(V, T, B), t.normal(1, B, H)), 2)
    t.assume(output.value.min() < -150)  # the probability itself is 0 in a float
    t.output("output of large weights", output, axes="T B V", atol=1e-2)


@check("decoder")
def step_after_step(t):
    """The state that comes back can be handed in again: three single steps in a row."""
    T, B, V, H = t.sizes("T B V H")
    module, hidden = decoder(t, H, V), t.normal(1, B, H)
    for step in range(3):
        output, hidden = t.unpack(module(t.one_hot(V, 1, B), hidden), 2)
        t.output(f"output of step {step}", output, axes="1 B V")


@check("decoder")
def without_attention(t):
    """Without attention, the encoder's states change nothing when they are passed too."""
    T, S, B, V, H = t.sizes("T S B V H")
    decoder_outputs(t, decoder(t, H, V)(t.one_hot(V, T, B), hdec_init=t.normal(1, B, H), henc_ts=t.normal(S, B, H)))


@check("decoder")
def gradient_to_the_start(t):
    """The gradient flows back to the initial state, which is how the encoder learns."""
    T, B, V, H = t.sizes("T B V H")
    answer, start = t.leaf(t.one_hot(V, T, B)), t.leaf(t.normal(1, B, H))
    output, hdec_final = t.unpack(decoder(t, H, V)(answer, start), 2)
    t.backward(t.torch.cat([output.flatten(), hdec_final.flatten()]))
    t.output("gradient of decoder_input", answer.grad, axes="T B V")
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
    """DecoderRNN from outside, call and attributes, and as strict about shapes; inside no GRU: h = cos(W x + U h).

    Its results depend on what it reads and on the state it starts from, not on how many calls that takes.
    """

    class Recurrence(nn.Module):
        """Called like a GRU, and as strict."""

        def __init__(self, input_size, hidden_size):
            super().__init__()
            self.input_size, self.hidden_size, self.num_layers = input_size, hidden_size, 1
            self.bias, self.batch_first, self.dropout, self.bidirectional = True, False, 0.0, False
            self.reads = nn.Linear(input_size, hidden_size)
            self.keeps = nn.Linear(hidden_size, hidden_size, bias=False)

        def read(self, input, hx, scored):
            if input.dim() != 3 or input.shape[2] != self.input_size:
                raise RuntimeError(f"the decoder reads (T, B, {self.input_size}), got {tuple(input.shape)}")
            wanted = (1, input.shape[1], self.hidden_size)
            hx = input.new_zeros(wanted) if hx is None else hx
            if tuple(hx.shape) != wanted:
                raise RuntimeError(f"the decoder starts from a state of shape {wanted}, got {tuple(hx.shape)}")
            h, found = hx[0], []
            for character in input:
                h = torch.cos(self.reads(character) + self.keeps(h))
                found.append(scored(h))
            return torch.stack(found), h[None]

    def __init__(self, hidden_size, output_size, device, attention=False):
        super().__init__()
        self.hidden_size, self.output_size, self.device, self.attention = hidden_size, output_size, device, attention
        self.gru = self.Recurrence(output_size, hidden_size).to(device)
        self.linear = nn.Linear(hidden_size, output_size).to(device)

    def forward(self, decoder_input, hdec_init, henc_ts=None):
        scores, last = self.gru.read(decoder_input, hdec_init, self.linear)
        return scores - scores.logsumexp(-1, keepdim=True), last


def strings(t, alphabet, longest):
    """32 random strings over an alphabet: each character occurs, and the longest has exactly that length."""
    every = [alphabet[i:i + longest] for i in range(0, len(alphabet), longest)] + [(alphabet * longest)[:longest]]
    return every + ["".join(t.choice(alphabet) for _ in range(t.integer(1, longest + 1)))
                    for _ in range(32 - len(every))]


class Setting:
    """A model with stubs for its two parts, and inputs for it; all sizes distinct."""

    def __init__(self, t, B=None):
        self.Te, self.Td, batch, self.Ve, self.Vd, self.H = t.sizes("Te Td B Ve Vd H", smallest=4)
        self.B = batch if B is None else B
        question = "".join(sorted(t.rng.choice(list(DIGITS + "+-*/%"), self.Ve, replace=False)))
        answer = "".join(sorted(t.rng.choice(list(DIGITS + "-."), self.Vd - 2, replace=False)))
        self.alphabet = sorted(answer + GO + EOS)
        t.stub("EncoderRNN", StandInEncoder)
        t.stub("DecoderRNN", StandInDecoder)
        self.model = t["Seq2seq"](strings(t, question, self.Te), strings(t, answer, self.Td - 2), self.H,
                                  device=t.device)
        t.randomise_weights(self.model, scale=0.6)
        for part in (self.model.encoder, self.model.decoder):
            t.randomise_weights(part.gru.keeps, scale=0.3)  # small enough that rounding does not grow from step to step
        t.randomise_weights(self.model.decoder.linear, scale=1.8)  # opinions strong enough that the arg-max is clear
        self.encoder_input = t.one_hot(self.Ve, self.Te, self.B)
        self.decoder_input = written_answers(t, self.Td, self.B, self.Vd)
        self.decoder_input[0] = torch.eye(self.Vd)[self.alphabet.index(GO)]


def questions(t, s, n, like=lambda written: True):
    """`n` questions whose answers in a free run are clear, change over time (a stuck one would show nothing), and are
    `like` what is asked of the numbers written; looked for on the judge's side only.
    """
    many = t.one_hot(s.Ve, s.Te, 200)
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


@check("seq2seq", weight=2)
def teacher_forcing(t):
    """With teacher forcing, each timestep is predicted from the right answer."""
    s = Setting(t)
    t.output("output", s.model(s.encoder_input, s.decoder_input), axes="T B V")


@check("seq2seq", weight=2)
def free_running(t):
    """Running freely, the decoder reads GO, then its own most likely characters, for T timesteps."""
    s = Setting(t)
    output = s.model(some_end_early(t, s), s.decoder_input, teacher_enforce=False)
    t.output("output", output, axes="T B V")


@check("seq2seq")
def no_stop_in_training(t):
    """Running freely without inference, it goes on after EOS: the loss needs all T timesteps."""
    s = Setting(t, B=1)
    question = questions(t, s, 1, lambda written: 0 in written[:-2])
    t.output("output", s.model(question, s.decoder_input, False), axes="T 1 V")


def timesteps(output, end):
    """How many timesteps an answer has that writes EOS at `end`, in words."""
    if len(output) in (end, end + 1):
        return "those of the answer"
    written = output.argmax(-1).flatten().tolist()
    return f"{len(output)}" + (f", and number {written.index(0) + 1} writes EOS" if 0 in written[:-1] else "")


@check("seq2seq", weight=2, skip_relations=ENDS_ELSEWHERE)
def inference(t):
    """In inference one question is answered, without the right answer, and EOS is the end."""
    s = Setting(t, B=1)
    # without the stop, more than EOS would be written
    question = questions(t, s, 1, lambda written: written[0] != 0 and 0 in written[:-1]
                         and any(written[written.index(0):]))
    output = s.model(question, inference=True)  # free running, whatever `teacher_enforce` is by default
    length = len(output.value)
    # whether the row of EOS itself is handed back is a matter of taste: the text is compared, and that it ends there
    t.output("timesteps", t.define(timesteps)(output, length - 1))
    zeros = torch.zeros(s.Td, 1, s.Vd)
    t.output("characters written", t.torch.cat([output, zeros])[:s.Td].argmax(-1), axes="T 1")
    unforced = s.model(question, None, False, True)
    t.output("characters written, unforced", t.torch.cat([unforced, zeros])[:s.Td].argmax(-1), axes="T 1")
    given = t.torch.cat([s.model(question, s.decoder_input, inference=True), zeros])[:s.Td].argmax(-1)
    with torch.no_grad():  # whoever reads the answer writes something else
        t.assume((s.model.value(question, s.decoder_input).argmax(-1) != given.value).any())
    t.output("characters written, an answer given", given, axes="T 1")
    t.output("output before EOS", output[:length - 1], axes="T 1 V")
    nothing = s.model(questions(t, s, 1, lambda written: written[0] == 0), None, False, True)
    t.output("characters written, EOS first", t.torch.cat([nothing, zeros])[:1].argmax(-1), axes="1 1")


@check("seq2seq", skip_relations=ENDS_ELSEWHERE)
def inference_without_end(t):
    """In inference an answer without EOS has T timesteps, and not one more."""
    s = Setting(t, B=1)
    GO_number = s.alphabet.index(GO)  # GO is not the end of anything
    question = questions(t, s, 1, lambda written: 0 not in written and GO_number in written[:-1])
    t.output("output", s.model(question, None, False, True), axes="T 1 V")


@check("seq2seq")
def gradient_of_a_free_run(t):
    """The gradient of a free run reaches the encoder, through all timesteps."""
    s = Setting(t)
    output = s.model(questions(t, s, s.B), s.decoder_input, False)
    t.backward(output)
    t.output("gradient in the encoder", s.model.encoder.gru.reads.weight.grad)
    t.output("gradient in the decoder", s.model.decoder.gru.keeps.weight.grad)


# ---------------------------------------------------------------- exact match

def graded_answers(t, T, V):
    """Predictions and targets (T, B, V): right answers, and each way of being wrong, none as often as another."""
    kinds = t.rng.permutation([kind for kind, count in enumerate(t.rng.permutation(7) + 1) for _ in range(count)])
    B = len(kinds)
    lengths = [t.integer(1, T - 1 if kind == 6 else T) for kind in kinds]
    target, written = torch.zeros(T, B, dtype=torch.long), t.integers(1, V, T, B)
    for b, (n, kind) in enumerate(zip(lengths, kinds, strict=True)):
        target[:n, b] = t.integers(1, V, n)
        written[:n + 1, b] = target[:n + 1, b]              # kind 0: right, EOS included, and anything after it
        other = target[:, b] % (V - 1) + 1                  # a wrong character for each timestep
        if kind == 1:
            written[n:, b] = 0                              # right, and EOS from then on
        elif kind == 2:
            written[n - 1, b] = other[n - 1]                # last character wrong
        elif kind == 3:
            written[0, b] = other[0]                        # first character wrong
        elif kind == 4:
            written[n, b] = t.integer(1, V)                 # goes on where it should end
        elif kind == 5:
            written[n - 1, b] = 0                           # ends too early
        elif kind == 6:
            written[0, b], written[n:, b] = other[0], 0     # as kind 3, and EOS at more timesteps than are wrong
    ended = torch.arange(T)[:, None] > torch.tensor(lengths)
    one_hot = nn.functional.one_hot(target, V) * ~ended[..., None]
    output = log_probabilities_of(t, written, V)
    equal = output.argmax(-1) == one_hot.argmax(-1)
    likely = (output.exp().round() == one_hot).all(-1) | ended  # above one half: in some right answers, not in all
    likely, right, padded = (int(one.all(dim=0).sum()) for one in (likely, equal | ended, equal))
    t.assume(0 < likely < right and likely != padded)
    return output, one_hot.float()


def log_probabilities_of(t, written, V):
    """Log-probabilities (T, B, V) of which the characters written are the largest, many of them below one half."""
    scores = t.normal(*written.shape, V)
    some = 5 * (torch.arange(written.shape[1]) % 2)[:, None]  # answers whose characters are all likely
    best = scores.amax(dim=-1, keepdim=True) + 0.1 + 3 * t.uniform(*written.shape, 1) + some
    output = scores.scatter(-1, written[..., None], best).log_softmax(dim=-1)
    t.assume((output.amax(dim=-1) < math.log(0.5)).any() and (output.amax(dim=-1) > math.log(0.5)).any())
    return output


@check("exact-match", weight=2)
def share_of_right_answers(t):
    """The share of right answers in a batch that holds right ones and wrong ones of each kind, and in another."""
    T, V = t.sizes("T V", smallest=5)
    t.output("exact_match", t["exact_match"](*graded_answers(t, T, V)))
    t.output("exact_match of a second batch", t["exact_match"](*graded_answers(t, T + 2, V)))
    square = t["exact_match"](*(one[:, :T] for one in graded_answers(t, T, V)))
    t.assume(0 < square.value < 1)
    t.output("exact_match of as many answers as timesteps", square)


@check("exact-match")
def the_same_digits(t):
    """Answers that differ, though the numbers of their characters have the same digits, one after the other."""
    c = t.integer(2, 9)
    target = torch.tensor([[11, c, 0], [c, 1, 0], [1, 10 + c, 0]]).T
    written = torch.tensor([[1, 10 + c, 0], [c, 1, 0], [11, c, 0]]).T
    one_hot = nn.functional.one_hot(target, 20) * (target > 0)[..., None]
    t.output("exact_match", t["exact_match"](log_probabilities_of(t, written, 20), one_hot.float()))


@check("exact-match")
def all_and_none(t):
    """One right answer makes 1, one wrong answer makes 0."""
    T, V = t.sizes("T V", smallest=5)
    _, target = graded_answers(t, T, V)
    right = torch.log_softmax(9 * target[:, :1], dim=-1)
    exact_match = t["exact_match"]
    t.output("exact_match of a right answer", exact_match(right, target[:, :1]))
    t.output("exact_match of a wrong answer", exact_match(right.roll(1, -1), target[:, :1]))
