"""Checks of session 4: LSTM decoder, the training pass and its optimizer, greedy and beam decoding.

Axes by letter: S steps of the question, T steps of the answer, B batch, K hypotheses in a beam, V vocabulary,
D embedding, H hidden.
"""

import torch
from torch import nn

from autograder.authoring import check

CLEAR = 1e-3  # two candidates closer than this are a tie, and the draw is rejected
NOT_TRAINED = {"gradient": "a search is not trained: sums made of plain numbers are as right as sums with a gradient"}


# ---------------------------------------------------------------- stubs

class Toy(nn.Module):
    """Seq2seq from outside, calls and attributes; inside no LSTM.

    What it says depends on both states, on its past, and on henc_ts. The states are scaled, so that rounding does not
    grow over the steps. With `normalised`, the decoder's numbers are log-probabilities already.
    """

    class Recurrence(nn.Module):
        """Called like an LSTM."""

        def __init__(self, input_size, hidden_size):
            super().__init__()
            self.input_size, self.hidden_size, self.num_layers, self.proj_size = input_size, hidden_size, 1, 0
            self.bias, self.batch_first, self.dropout, self.bidirectional = True, False, 0.0, False
            self.turn, self.show = nn.Linear(hidden_size, hidden_size), nn.Linear(hidden_size, hidden_size)

        def forward(self, input, hx=None):
            start = input.new_zeros(input.shape[1], self.hidden_size)
            h, c = (start, start) if hx is None else (hx[0][0], hx[1][0])
            shown = []
            for x in input:
                turned = (self.turn(h) + self.show(torch.cos(c))) / self.hidden_size ** 0.5
                h, c = torch.sin(turned + x), torch.cos(c + h + x)
                shown.append(h)
            return torch.stack(shown), (h[None], c[None])

    class Encoder(nn.Module):
        def __init__(self, recurrence, vocabulary_size, embedding_size):
            super().__init__()
            self.embedding = nn.Embedding(vocabulary_size, embedding_size)
            self.lstm = recurrence(embedding_size, embedding_size)

        def forward(self, encoder_tokens):
            return self.lstm(self.embedding(encoder_tokens))

    class Decoder(Encoder):
        def __init__(self, recurrence, vocabulary_size, embedding_size, normalised):
            super().__init__(recurrence, vocabulary_size, embedding_size)
            self.dense_final, self.normalised = nn.Linear(embedding_size, vocabulary_size), normalised

        def forward(self, decoder_tokens, states, henc_ts=None):
            seen, states = self.lstm.forward(self.embedding.weight[decoder_tokens], states)
            look = 0 if henc_ts is None else henc_ts.amax(0, keepdim=True)
            said = self.dense_final(seen + look)
            return said - said.logsumexp(-1, keepdim=True) if self.normalised else said, states

    def __init__(self, V, H, GO, EOS, max_length=9, normalised=False):
        super().__init__()
        self.GO, self.EOS, self.max_length = GO, EOS, max_length
        self.encoder = self.Encoder(self.Recurrence, V, H)
        self.decoder = self.Decoder(self.Recurrence, V, H, normalised)


def toy_encode(model, encoder_tokens):
    every, last = model.encoder(encoder_tokens)
    return every, last


def toy_step(model, tokens, states, henc_ts):
    said, states = model.decoder(tokens[None], states, henc_ts)
    return said[0], states


def toy_beam_step(log_probabilities, scores, finished, beam_width, EOS):
    """Not a beam: each hypothesis goes on with its best token, the first one with several,
    and every token costs 0.25 more.
    """
    if finished.dtype != torch.bool:
        raise RuntimeError(f"finished holds booleans, got a tensor of {finished.dtype}")
    rows = []
    for parent, row in enumerate(log_probabilities):
        ranked = row.argsort(descending=True).tolist()
        offers = beam_width if len(scores) == 1 else 2 if parent == 0 else 1
        for token in [EOS] if finished[parent] else ranked[:offers]:
            rows.append((float(scores[parent]) + (0.0 if finished[parent] else float(row[token]) - 0.25),
                         parent, token))
    rows.sort(key=lambda row: -row[0])
    sums, parents, tokens = zip(*rows[:beam_width], strict=True)
    kind = torch.promote_types(scores.dtype, log_probabilities.dtype)
    tokens, parents = (torch.tensor(numbers, device=scores.device) for numbers in (tokens, parents))
    return tokens, parents, torch.tensor(sums, dtype=kind, device=scores.device)


# ---------------------------------------------------------------- draws

def toy(t, V, H, max_length=9, normalised=False):
    """A toy model with random weights; its GO and EOS are two distinct tokens, not 0."""
    GO, EOS = (int(n) for n in t.rng.choice(range(1, V), 2, replace=False))
    model = t.define(Toy, like="Seq2seq")(V, H, GO, EOS, max_length, normalised).to(t.device)
    t.randomise_weights(model)
    return model


def answers(t, T, B, V, model):
    """Target tokens (T, B): ordinary tokens, then EOS to the end; the first answer fills all steps."""
    marks = (model.value.GO, model.value.EOS)
    ordinary = torch.tensor([token for token in range(V) if token not in marks])
    tokens = ordinary[t.integers(0, len(ordinary), T, B)]
    lengths = torch.cat([torch.tensor([T - 1]), t.integers(0, T, B - 1)])
    return tokens.masked_fill(torch.arange(T)[:, None] >= lengths, model.value.EOS)


def states(t, B, H):
    return t.normal(1, B, H), t.normal(1, B, H)


def output_states(t, handle, of="", batch="B"):
    h, c = t.unpack(handle, 2)
    t.output(f"h{of}", h, axes=f"1 {batch} H")
    t.output(f"c{of}", c, axes=f"1 {batch} H")


def encoder_outputs(t, result):
    henc_ts, encoder_states = t.unpack(result, 2)
    t.output("henc_ts", henc_ts, axes="S B H")
    output_states(t, encoder_states)


def clear_steps(t, model, encoder_tokens, steps):
    """Return what greedy decoding says without an end, (T, B); draw again when it comes near a tie."""
    tokens, free = torch.full_like(encoder_tokens[:1], model.value.GO), []
    with torch.no_grad():
        henc_ts, now = model.value.encoder(encoder_tokens)
        for _ in range(steps):
            said, now = model.value.decoder(tokens, now, henc_ts)
            t.assume_margin(said, dim=-1, margin=CLEAR)
            tokens = said.argmax(-1)
            free.append(tokens)
    return torch.cat(free)


# ---------------------------------------------------------------- decoder

def decoder(t, V, D, H):
    module = t["DecoderLSTM"](V, D, H).to(t.device)
    t.randomise_weights(module)
    return module


def decoder_outputs(t, result, axes="T B V", of=""):
    logits, new = t.unpack(result, 2)
    t.output(f"logits{of}", logits, axes=axes)
    output_states(t, new, of, axes.split()[1])


@check("decoder", weight=2)
def whole_answer(t):
    """The logits of a batch of whole answers, and the last h and c."""
    T, B, V, D, H = t.sizes("T B V D H")
    decoder_outputs(t, decoder(t, V, D, H)(t.integers(0, V, T, B), states(t, B, H)))


@check("decoder")
def one_answer_one_step(t):
    """A single answer, and a single step of a batch, keep all their axes."""
    T, B, V, D, H = t.sizes("T B V D H")
    module = decoder(t, V, D, H)
    decoder_outputs(t, module(t.integers(0, V, T, 1), states(t, 1, H)), "T 1 V", " of one answer")
    decoder_outputs(t, module(t.integers(0, V, 1, B), states(t, B, H)), "1 B V", " of one step")


@check("decoder")
def step_after_step(t):
    """The states that come back can be handed in again, three steps in a row."""
    B, V, D, H = t.sizes("B V D H")
    module, now = decoder(t, V, D, H), states(t, B, H)
    for step in range(3):
        logits, now = t.unpack(module(t.integers(0, V, 1, B), now), 2)
        t.output(f"logits of step {step}", logits, axes="1 B V")


@check("decoder")
def gradient_to_the_start(t):
    """The gradient flows back into the h and the c that the decoder starts from."""
    T, B, V, D, H = t.sizes("T B V D H")
    h, c = (t.leaf(state) for state in states(t, B, H))
    logits, _ = t.unpack(decoder(t, V, D, H)(t.integers(0, V, T, B), (h, c)), 2)
    t.backward(logits)
    t.output("gradient of h", h.grad, axes="1 B H")
    t.output("gradient of c", c.grad, axes="1 B H")


# ---------------------------------------------------------------- training-pass

@check("training-pass", weight=2)
def forced_logits(t):
    """The logits of a batch, when the decoder reads GO and the right answer, one step late."""
    S, T, B, V, H = t.sizes("S T B V H")
    model = toy(t, V, H)
    logits, _ = t.unpack(t["training_pass"](model, t.integers(0, V, S, B), answers(t, T, B, V, model)), 2)
    t.output("logits", logits, axes="T B V")


@check("training-pass")
def mean_loss(t):
    """The loss is the mean cross-entropy over all steps and sequences, the padding included."""
    S, T, B, V, H = t.sizes("S T B V H")
    model = toy(t, V, H)
    _, loss = t.unpack(t["training_pass"](model, t.integers(0, V, S, B), answers(t, T, B, V, model)), 2)
    t.output("loss", loss)


@check("training-pass")
def one_sequence(t):
    """The same for a batch of one; also with logits that are far apart."""
    S, T, V, H = t.sizes("S T V H")
    model = toy(t, V, H)
    logits, loss = t.unpack(t["training_pass"](model, t.integers(0, V, S, 1), answers(t, T, 1, V, model)), 2)
    t.output("logits", logits, axes="T 1 V")
    t.output("loss", loss)
    model = toy(t, V, H)
    t.randomise_weights(model.decoder.dense_final, scale=3e3)
    _, loss = t.unpack(t["training_pass"](model, t.integers(0, V, S, 1), answers(t, T, 1, V, model)), 2)
    t.output("loss of logits far apart", loss)


@check("training-pass")
def gradient_of_the_loss(t):
    """The gradient of the loss flows through the decoder into the encoder."""
    S, T, B, V, H = t.sizes("S T B V H")
    model = toy(t, V, H)
    _, loss = t.unpack(t["training_pass"](model, t.integers(0, V, S, B), answers(t, T, B, V, model)), 2)
    t.backward(loss)
    t.output("gradient in the decoder", model.decoder.embedding.weight.grad, axes="V H")
    t.output("gradient in the encoder", model.encoder.embedding.weight.grad, axes="V H")


# ---------------------------------------------------------------- optimizer

def learning_rate(t):
    return round(float(t.rng.uniform(0.02, 0.2)), 4)


@check("optimizer", weight=3)
def three_steps(t):
    """Three steps of the optimizer, with gradients of our own, move weights and biases as Adam does."""
    V, H = t.sizes("V H")
    model = toy(t, V, H)
    optimizer = t["make_optimizer"](model, learning_rate(t))
    parameters = {"model.encoder.embedding.weight": model.encoder.embedding.weight,
                  "model.decoder.embedding.weight": model.decoder.embedding.weight,
                  "model.decoder.dense_final.bias": model.decoder.dense_final.bias,
                  "weights of model.encoder.lstm": model.encoder.lstm.turn.weight,
                  "weights of model.decoder.lstm": model.decoder.lstm.show.weight}
    for _ in range(3):
        optimizer.zero_grad()
        for parameter in parameters.values():
            t.torch.mul(parameter, t.normal(*parameter.value.shape)).sum().backward()
        optimizer.step()
    for name, parameter in parameters.items():
        t.output(name, parameter, axes="V" if parameter.value.ndim == 1 else "H H" if "lstm" in name else "V H")


def of_all_groups(optimizer, name):
    """The different values of a number of the optimizer, for all parameters."""
    values = (group[name] for group in optimizer.param_groups)
    return sorted({tuple(value) if isinstance(value, list) else value for value in values})


@check("optimizer")
def its_numbers(t):
    """It is Adam, with the learning rate that was given, and with 0.9 and 0.98, for all parameters."""
    V, H = t.sizes("V H")
    optimizer, numbers = t["make_optimizer"](toy(t, V, H), learning_rate(t)), t.define(of_all_groups)
    for name in ("lr", "betas", "weight_decay"):
        t.output(f"{name} of all groups", numbers(optimizer, name))


# ---------------------------------------------------------------- inference-programs


@check("inference-programs")
def reading(t):
    """`encode` gives all encoder states, and the last h and c."""
    S, B, V, H = t.sizes("S B V H")
    encoder_outputs(t, t["encode"](toy(t, V, H), encoder_tokens=t.integers(0, V, S, B)))


@check("inference-programs", weight=2)
def one_step(t):
    """`decoder_step` gives a distribution for each sequence, as log-probabilities, and the new h and c."""
    S, B, V, H = t.sizes("S B V H")
    said, new = t.unpack(t["decoder_step"](toy(t, V, H), t.integers(0, V, B), states(t, B, H), t.normal(S, B, H)), 2)
    t.output("log_probabilities.exp()", said.exp(), axes="B V", sums_to_one="V")
    t.output("log_probabilities", said, axes="B V")
    output_states(t, new)
    said, _ = t.unpack(t["decoder_step"](toy(t, V, H), t.integers(0, V, B), states(t, B, H),
                                         t.normal(S, B, H, scale=300)), 2)
    t.assume(said.value.min() < -150)  # the probability itself is 0 in a float
    t.output("log_probabilities far apart", said, axes="B V")


@check("inference-programs")
def one_sequence_only(t):
    """A batch of one sequence keeps its batch axis."""
    S, V, H = t.sizes("S V H")
    said, new = t.unpack(t["decoder_step"](toy(t, V, H), t.integers(0, V, 1), states(t, 1, H), t.normal(S, 1, H)), 2)
    t.output("log_probabilities", said, axes="1 V")
    output_states(t, new, batch="1")


@check("inference-programs")
def no_gradient(t):
    """Neither program keeps a gradient."""
    S, B, V, H = t.sizes("S B V H")
    model = toy(t, V, H)
    henc_ts, now = t.unpack(t["encode"](model, t.integers(0, V, S, B)), 2)
    t.output("henc_ts.requires_grad", henc_ts.requires_grad)
    said, after = t.unpack(t["decoder_step"](model, t.integers(0, V, B), states(t, B, H), t.normal(S, B, H)), 2)
    t.output("log_probabilities.requires_grad", said.requires_grad)
    for program, pair in {"encode": now, "decoder_step": after}.items():
        for name, state in zip("hc", t.unpack(pair, 2), strict=True):
            t.output(f"requires_grad of {name} from {program}", state.requires_grad)


# ---------------------------------------------------------------- decode-sequence

def talker(t, V, H, max_length):
    """A toy that gives log-probabilities, with its own inference programs in the place of the student's."""
    t.stub("encode", toy_encode)
    t.stub("decoder_step", toy_step)
    return toy(t, V, H, max_length, normalised=True)


def ends(tokens, EOS):
    """The length of each sequence (T, B), EOS included; T + 1 where there is none."""
    return [column.index(EOS) + 1 if EOS in column else len(tokens) + 1 for column in tokens.T.tolist()]


def one_of_each_length(lengths, longest):
    """Positions of one sequence of each length up to `longest`, shortest first: EOS may be all that is said."""
    return [lengths.index(length) for length in range(1, longest + 1) if length in lengths]


@check("decode-sequence", weight=2)
def a_batch(t):
    """Each sequence of a batch until its own end, then EOS; and no step more than needed."""
    S, B, V, H = t.sizes("S B V H")
    model, many = talker(t, V, H, 12), t.integers(0, V, S, 60)
    lengths = ends(t["decode_sequence"].value(model.value, many), model.value.EOS)  # on the judge's side only
    chosen = one_of_each_length(lengths, 11)
    t.assume(len(chosen) >= B and lengths[chosen[B - 1]] - lengths[chosen[0]] >= 2)
    encoder_tokens = many[:, [chosen[i] for i in t.rng.permutation(B)]]
    free = clear_steps(t, model, encoder_tokens, lengths[chosen[B - 1]])
    tokens = t["decode_sequence"](model, encoder_tokens)
    t.assume((free != tokens.value).any())  # whoever goes on after EOS says something else
    t.assume((tokens.value[:-2] == 0).any())  # number 0 is not the end
    t.output("tokens", tokens, axes="T B")


@check("decode-sequence")
def the_limit(t):
    """A sequence that does not end is cut after `max_length` steps, be they few or many."""
    S, B, V, H = t.sizes("S B V H")
    for limit, of in ((t.integer(3, 6), ""), (t.integer(11, 14), " of many steps")):
        model, encoder_tokens = talker(t, V, H, limit), t.integers(0, V, S, B)
        tokens = t["decode_sequence"](model, encoder_tokens)
        t.assume(max(ends(tokens.value, model.value.EOS)) > limit)
        clear_steps(t, model, encoder_tokens, limit)
        t.output(f"tokens{of}", tokens, axes="T B")


@check("decode-sequence")
def one_question(t):
    """A batch of one stops at its EOS, which is part of the result."""
    S, V, H = t.sizes("S V H")
    model, encoder_tokens = talker(t, V, H, 12), t.integers(0, V, S, 1)
    tokens = t["decode_sequence"](model, encoder_tokens)
    t.assume(2 < len(tokens.value) < 12)
    clear_steps(t, model, encoder_tokens, len(tokens.value))
    t.output("tokens", tokens, axes="T 1")


# ---------------------------------------------------------------- accuracy-by-step

def predictions(t, T, B, V, EOS):
    """Targets (T, B) and predictions that are right in about half of the places; after the ends, anything."""
    ordinary = torch.tensor([token for token in range(V) if token != EOS])
    lengths = torch.cat([torch.tensor([T - 1]), t.integers(0, T, B - 1)])
    target = ordinary[t.integers(0, V - 1, T, B)].masked_fill(torch.arange(T)[:, None] >= lengths, EOS)
    return torch.where(t.uniform(T, B) < 0.5, target, t.integers(0, V, T, B)), target


@check("accuracy-by-step", weight=2)
def share_of_the_running(t):
    """The share of right tokens at each step, among the sequences that are still running."""
    T, B, V = *t.sizes("T B", smallest=5), t.integer(4, 6)
    EOS = t.integer(1, V)
    predicted, target = predictions(t, T, B, V, EOS)
    t.assume(((target == 0).cumsum(0) > 1).sum() >= 4)  # so that it shows when 0 is taken for EOS
    t.output("accuracy", t["accuracy_by_step"](predicted, target, EOS), axes="T")


@check("accuracy-by-step")
def padding_does_not_count(t):
    """Sequences that have ended count no longer, right or wrong."""
    T, B, V = t.sizes("T B V", smallest=5)
    EOS = t.integer(1, V)
    predicted, target = predictions(t, T, B, V, EOS)
    over = (target == EOS).cumsum(0) > 1
    for what, after in (("right", target), ("wrong", torch.full_like(target, (EOS + 1) % V))):
        t.output(f"accuracy when everything after the ends is {what}",
                 t["accuracy_by_step"](torch.where(over, after, predicted), target, EOS), axes="T")


@check("accuracy-by-step")
def one_sequence_alone(t):
    """A batch of one that fills all steps: each accuracy is 0 or 1."""
    T, V = t.sizes("T V", smallest=5)
    EOS = t.integer(1, V)
    predicted, target = predictions(t, T, 1, V, EOS)
    t.output("accuracy", t["accuracy_by_step"](predicted, target, EOS), axes="T")


# ---------------------------------------------------------------- scheduled-sampling

def sampled(t, S, T, B, V, H, forced):
    """The model, and the logits of a pass with these decisions; never near a tie."""
    model = toy(t, V, H)
    target = answers(t, T, B, V, model)
    logits = t["scheduled_sampling_pass"](model, t.integers(0, V, S, B), target, forced)
    t.assume_margin(logits, dim=-1, margin=CLEAR)
    return model, target, logits


def decisions(t, T, B):
    """Decisions (T, B): all true at one step, all false at another, mixed at a third."""
    t.assume(T > 3)
    yes, no, mixed = (t.rng.permutation(T - 1) + 1)[:3].tolist()
    forced = t.uniform(T, B) < 0.5
    forced[yes], forced[no] = True, False
    t.assume(0 < forced[mixed].sum() < B or B == 1)
    return forced


@check("scheduled-sampling", weight=2)
def mixed_decisions(t):
    """Each sequence reads at each step what its own decision says."""
    S, T, B, V, H = t.sizes("S T B V H")
    forced = decisions(t, T := T + 1, B)
    model, target, logits = sampled(t, S, T, B, V, H, forced)
    t.assume((logits.value.argmax(-1)[:-1] != target[:-1])[forced[1:]].any())
    t.assume((logits.value.argmax(-1)[:-1] != target[:-1])[~forced[1:]].any())
    t.output("logits", logits, axes="T B V")


@check("scheduled-sampling")
def only_the_teacher(t):
    """With all decisions true, the decoder reads GO and the right answer; an answer of a single step."""
    S, T, B, V, H = t.sizes("S T B V H")
    T += 9  # more steps than answers usually have
    _, target, logits = sampled(t, S, T, B, V, H, torch.ones(T, B, dtype=torch.bool))
    t.assume((logits.value.argmax(-1)[:-1] != target[:-1]).any())
    t.output("logits", logits, axes="T B V")
    _, _, logits = sampled(t, S, 1, B, V, H, torch.ones(1, B, dtype=torch.bool))
    t.output("logits of one step", logits, axes="1 B V")


@check("scheduled-sampling")
def only_itself(t):
    """With all decisions false, the decoder reads GO and then its own output; a batch of one."""
    S, T, V, H = t.sizes("S T V H")
    _, target, logits = sampled(t, S, T, 1, V, H, torch.zeros(T, 1, dtype=torch.bool))
    t.assume((logits.value.argmax(-1)[:-1] != target[:-1]).any())
    t.output("logits", logits, axes="T 1 V")


@check("scheduled-sampling")
def gradient_of_the_logits(t):
    """It is a training pass: the gradient of the logits flows into decoder and encoder."""
    S, T, B, V, H = t.sizes("S T B V H")
    model, _, logits = sampled(t, S, T + 1, B, V, H, decisions(t, T + 1, B))
    t.backward(logits)
    t.output("gradient in the decoder", model.decoder.embedding.weight.grad, axes="V H")
    t.output("gradient in the encoder", model.encoder.embedding.weight.grad, axes="V H")


# ---------------------------------------------------------------- beam-step

def candidates(t, K, V, beam_width, n_finished=0):
    """Log-probabilities (K, V), scores (K,), who has finished (K,), EOS: with no tie among the candidates that matter.

    Finished hypotheses are among the best ones, and EOS and another token are likely after them: so it shows
    when they go on, and when they pay.
    """
    EOS, other = (int(n) for n in t.rng.choice(range(1, V), 2, replace=False))
    finished = torch.zeros(K, dtype=torch.bool)
    finished[t.rng.permutation(K)[:n_finished]] = True
    logits = 2 * t.normal(K, V)
    logits[finished, EOS], logits[finished, other] = 6 + t.uniform(n_finished), 6 + t.uniform(n_finished)
    log_probabilities = logits.log_softmax(-1)
    scores = torch.where(finished, -0.5 - 0.5 * t.uniform(K), -1.0 - 2 * t.uniform(K))
    # One more than asked for, on the judge's side only: the first that is left out must not be a tie either.
    ranked = t["beam_step"].value(log_probabilities, scores, finished, beam_width + 1, EOS)[2]
    t.assume((ranked[:-1] - ranked[1:]).min() > CLEAR)
    t.assume(n_finished == 0 or ranked[:beam_width].min() < scores[finished].min() - 1.5)
    return log_probabilities, scores, finished, EOS


def beam_outputs(t, log_probabilities, scores, finished, EOS, beam_width, of=""):
    tokens, parents, sums = t.unpack(t["beam_step"](log_probabilities, scores, finished, beam_width, EOS), 3)
    t.output(f"tokens{of}", tokens, axes="K")
    t.output(f"parents{of}", parents, axes="K")
    t.output(f"scores{of}", sums, axes="K")
    return parents


@check("beam-step", weight=2, skip_relations=NOT_TRAINED)
def best_candidates(t):
    """The best candidates of all hypotheses together, best first: token, parent and sum."""
    V, K = t.integer(6, 9), t.integer(3, 6)
    drawn = candidates(t, K, V, K)
    by_step, by_sum = (table.flatten().topk(K).indices.tolist() for table in (drawn[0], drawn[0] + drawn[1][:, None]))
    t.assume({*by_step} != {*by_sum})
    parents = beam_outputs(t, *drawn, K)
    t.assume(len(set(parents.value.tolist())) < K)  # some hypothesis has two children, so that another has none
    alike, scores, finished, EOS = candidates(t, 1, V, K)
    step = t["beam_step"](alike.repeat(2, 1), scores.repeat(2), finished.repeat(2), K, EOS)
    t.output("scores of two hypotheses that are alike", t.unpack(step, 3)[2], axes="K")


@check("beam-step", skip_relations=NOT_TRAINED)
def finished_ones(t):
    """A finished hypothesis has one candidate, EOS at no cost, and competes with the others."""
    V, K = t.integer(6, 9), t.integer(4, 7)
    beam_outputs(t, *candidates(t, K, V, K, n_finished=2), K)
    log_probabilities = (3e5 * t.normal(2, V)).log_softmax(-1)  # what is left is most improbable
    t.assume(log_probabilities[1].sort().values.diff().min() > 100)
    beam_outputs(t, log_probabilities, torch.tensor([-1.0, -2.0]), torch.tensor([True, False]), 1, V + 1,
                 of=" of all candidates")


@check("beam-step", skip_relations=NOT_TRAINED)
def the_first_step(t):
    """One hypothesis only: its best continuations, several of them or a single one."""
    V, beam_width = t.integer(6, 9), t.integer(3, 6)
    beam_outputs(t, *candidates(t, 1, V, beam_width), beam_width)
    beam_outputs(t, *candidates(t, 1, V, 1), 1, of=" of a beam of one")


@check("beam-step", skip_relations=NOT_TRAINED)
def few_candidates(t):
    """A beam wider than the vocabulary; one that is wider than the number of candidates takes them all."""
    V = t.integer(3, 5)
    beam_outputs(t, *candidates(t, 1, V, V - 1), V + 2)
    beam_outputs(t, *candidates(t, 3, V, V + 2), V + 2, of=" of three hypotheses")


# ---------------------------------------------------------------- beam-search

def searched(t, beam_width, max_length, *alpha):
    """A toy, a question, and the result of a beam search on them: hypotheses, scores, history."""
    S, H = t.sizes("S H")
    V = t.integer(5, 8)
    model, encoder_tokens = talker(t, V, H, max_length), t.integers(0, V, S, 1)
    t.stub("beam_step", toy_beam_step)
    hypotheses, scores, history = t.unpack(t["beam_search"](model, encoder_tokens, beam_width, *alpha), 3)
    for _, _, sums in [*history.value, (0, 0, scores.value)]:
        t.assume(len(sums) < 2 or (sums[:-1] - sums[1:]).min() > CLEAR)
    return model, encoder_tokens, hypotheses, scores, history


def steps_move(history):
    """Whether some hypothesis has two children after the first step, and the order of the others changes."""
    later = [parents.tolist() for _, parents, _ in history[1:-1]]
    return any(len(set(parents)) < len(parents) for parents in later) and any(parents[0] for parents in later)


def ends_move(history, eos):
    """Whether a hypothesis that has ended changes its place before the last step."""
    ended = [False]
    for tokens, parents, _ in history[:-1]:
        before, ended = ended, [ended[parent] for parent in parents.tolist()]
        if len(before) == len(ended) and before != ended:
            return True
        ended = [one or token == eos for one, token in zip(ended, tokens.tolist(), strict=True)]
    return False


@check("beam-search", weight=2, skip_relations=NOT_TRAINED)
def hypotheses_and_sums(t):
    """The hypotheses of a beam and their sums, without length normalisation: states and tokens follow their parents."""
    model, _, hypotheses, scores, history = searched(t, t.integer(3, 5), 9)
    lengths = ends(hypotheses.value, model.value.EOS)
    t.assume(steps_move(history.value) and 2 < min(lengths) < len(history.value))
    t.assume(ends_move(history.value, model.value.EOS))
    t.output("hypotheses", hypotheses, axes="T K")
    t.output("scores", scores, axes="K")


@check("beam-search", weight=2, skip_relations=NOT_TRAINED)
def length_normalisation(t):
    """With `alpha`, each score is divided by its own length to this power, and decides the order."""
    beam_width, alpha = t.integer(3, 5), round(0.5 + 0.5 * float(t.rng.random()), 2)
    model, encoder_tokens, hypotheses, scores, history = searched(t, beam_width, 7, alpha)
    t.assume(len(set(ends(hypotheses.value, model.value.EOS))) > 1)
    plain, _, _ = t["beam_search"].value(model.value, encoder_tokens, beam_width, 0.0)
    t.assume((plain[:, 0] != hypotheses.value[:, 0]).any())
    t.output("hypotheses", hypotheses, axes="T K")
    t.output("scores", scores, axes="K")


@check("beam-search", skip_relations=NOT_TRAINED)
def width_one(t):
    """A beam of width 1 is greedy decoding."""
    model, encoder_tokens, hypotheses, scores, history = searched(t, 1, 9, 1.0)
    t.assume(3 <= len(hypotheses.value) < 9)
    clear_steps(t, model, encoder_tokens, len(hypotheses.value))
    t.output("hypotheses", hypotheses, axes="T 1")
    t.output("scores", scores, axes="1")


@check("beam-search", skip_relations=NOT_TRAINED)
def what_is_left_at_the_limit(t):
    """At `max_length` several hypotheses may be without EOS: their length is the number of their tokens."""
    model, _, hypotheses, scores, history = searched(t, t.integer(3, 5), t.integer(3, 6), 1.0)
    lengths, limit = ends(hypotheses.value, model.value.EOS), len(hypotheses.value)
    t.assume(min(lengths) < limit and sum(length > limit for length in lengths) > 1)
    t.output("hypotheses", hypotheses, axes="T K")
    t.output("scores", scores, axes="K")


@check("beam-search", skip_relations=NOT_TRAINED)
def the_record(t):
    """`history` holds tokens, parents and sums of every step, whatever `alpha` is."""
    _, _, hypotheses, _, history = searched(t, 3, 6, 1.0)
    t.assume(steps_move(history.value))
    for step in range(len(history.value)):
        tokens, parents, scores = t.unpack(history[step], 3)
        t.output(f"tokens of step {step}", tokens, axes="K")
        t.output(f"parents of step {step}", parents, axes="K")
        t.output(f"scores of step {step}", scores, axes="K")


# ---------------------------------------------------------------- wider-loses

def is_a_table(got):
    """Whether the rows are distributions over words that have a row of their own."""
    if not isinstance(got, dict) or not all(isinstance(row, dict) for row in got.values()):
        return "`wider_loses()` must be a dict of dicts: word → {next word: probability}."
    for word, row in got.items():
        for following, probability in row.items():
            if not 0 < probability <= 1:
                return f"After `{word}`, the probability of `{following}` is {probability}: it must be between 0 and 1."
            if following != "EOS" and following not in got:
                return f"`{following}` may follow `{word}`, and has no row of its own: what follows it?"
        if abs(sum(row.values()) - 1) > 1e-6:
            return f"The probabilities of the row of `{word}` sum to {sum(row.values()):.4f}, they must sum to 1."
    return None


def loses(got):
    """Whether a beam of two ends with at most half of the probability that greedy decoding ends with."""
    def search(width):
        steps = [[(1.0, ("GO",))]]
        for _ in range(5):
            longer = [(p * q, (*words, word)) for p, words in steps[-1][:width]
                      for word, q in ({"EOS": 1.0} if words[-1] == "EOS" else got[words[-1]]).items()]
            steps.append(sorted(longer, key=lambda hypothesis: -hypothesis[0]))
        return steps

    def written(words):
        return " ".join(word for word in words[1:] if word != "EOS") or "EOS"

    def factors(words):
        steps = zip(words, words[1:], strict=False)
        return " · ".join(f"{got[before][word]:.3g}" for before, word in steps if before != "EOS")

    for word, row in got.items():
        if not all(0 < q <= 1 for q in row.values()) or abs(sum(row.values()) - 1) > 1e-3:
            return f"After {word}, the probabilities must be above 0, and their sum 1."
    steps = search(2)
    (greedy, one), (wider, two) = search(1)[-1][0], steps[-1][0]
    for name, words in (("Greedy decoding", one), ("The beam of two", two)):
        if words[-1] != "EOS":
            return f"{name} has not ended after five tokens: {' '.join(words[1:])}."
    if one == two:
        held, others = (" and ".join(f"*{written(words)}* ({p:.4g})" for p, words in own)
                        for own in (steps[2][:2], [other for other in steps[2][2:] if other[1][1] != one[1]][:1]))
        return (f"The beam of two ends with the sentence of greedy decoding, *{written(one)}*. After two tokens it "
                f"holds {held}" + f", and drops {others}" * bool(others) + ". It drops the greedy sentence only where "
                "two others are more probable.")
    if wider > greedy / 2:
        return (f"Greedy decoding finds *{written(one)}*, {factors(one)} = {greedy:.4g}, and the beam of two "
                f"*{written(two)}*, {factors(two)} = {wider:.4g}: that must be at most half as much.")
    return None


def first_words(table):
    """The probabilities of the first words, the largest first."""
    return sorted(table["GO"].values(), reverse=True)


def losing_table(t, parts=(3, 6), of=""):
    """A table for three first words: their probabilities ask for more equal parts than ``parts[0]``, at most the other.
    """
    ratio = t.rng.uniform(parts[0] + 0.05, parts[1] - 0.05)  # of best to half of second
    best = round(t.rng.uniform(ratio / (ratio + 4) + 0.02, ratio / (ratio + 2) - 0.02), 4)
    second = round(2 * best / ratio, 4)
    third = round(1 - best - second, 4)
    t.assume(0.02 < third < second - 0.01)
    table = t["wider_loses"]([best, second, third])
    t.output(f"probabilities of the first words{of}", t.define(first_words)(table))
    return table


@check("wider-loses", skip_relations=NOT_TRAINED)
def rows_of_the_table(t):
    """`GO` has the three first words, each row is positive and sums to 1, and every word but EOS has a row."""
    t.output("the table", losing_table(t), predicate=is_a_table)


@check("wider-loses", weight=2, skip_relations=NOT_TRAINED)
def two_against_one(t):
    """A beam of two ends with a sentence at most half as probable as the one of greedy decoding; in two tables."""
    t.output("the table, searched", losing_table(t, (3, 4)), predicate=loses)
    of = " of a second table"
    t.output(f"the table, searched{of}", losing_table(t, (4, 6), of), predicate=loses)
