"""Checks of session 5: a translator with attention, its data, its training and its scores.

Axes by letter: S source timesteps, T target timesteps, B batch, V vocabulary, D embedding, H hidden (C context).
"""

from collections import Counter

import numpy as np
import torch
from torch import nn

from autograder.authoring import check

PAD, SOS, EOS, UNK = range(4)
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def word(t, low=2, high=7, letters=LETTERS + "éèàçœ"):
    return "".join(t.choice(letters) for _ in range(t.integer(low, high)))


def ragged(t, S, B, shortest=1):
    """B lengths up to S, in no order, not all alike; and their mask (B, S), True at words."""
    lengths = t.integers(min(shortest, S), S + 1, B)
    lengths[t.integer(0, B)] = S
    drawn = lengths.tolist()
    t.assume(min(B, S + 1 - shortest) < 3 or (len(set(drawn)) > 2 and drawn != sorted(drawn, reverse=True)))
    return lengths, torch.arange(S)[None] < lengths[:, None]


def ids_of(t, lengths, S, V):
    """Ids (S, B) as a loader gives them: words, the last of the vocabulary among them, EOS at each end, then PAD."""
    steps = torch.arange(S)[:, None]
    ids = t.integers(UNK, V, S, len(lengths))
    ids[t.integer(0, S - 1) if S > 1 else 0, lengths.argmax()] = V - 1
    ids = ids.where(steps < lengths - 1, torch.tensor(EOS))
    return ids.where(steps < lengths, torch.tensor(PAD))


# ---------------------------------------------------------------- collate

def id_pairs(t, B, alike=False):
    """B pairs of lists of ids: lengths differ, each ends with EOS. ``alike``: the longest of each side are."""
    lengths = [[int(n) for n in t.rng.permutation(np.arange(1, B + 3))[:B]] for _ in range(2)]
    t.assume((max(lengths[0]) == max(lengths[1])) == alike and lengths[0] != lengths[1])
    t.assume(lengths[0] not in (sorted(lengths[0]), sorted(lengths[0], reverse=True)))
    return [tuple([t.integer(UNK, 30) for _ in range(n - 1)] + [EOS] for n in pair)
            for pair in zip(*lengths, strict=True)]


@check("collate", weight=2)
def padded(t):
    """Source and target padded at their ends, each to its own longest sentence, and the lengths of the sources."""
    pairs = id_pairs(t, t.integer(3, 6))
    t.assume(any(len(source) != len(target) + 1 for source, target in pairs))  # lengths of targets, or without EOS
    source, lengths, target = t.unpack(t["collate"](pairs), 3)
    t.output("source", source, axes="S B")
    t.output("lengths", lengths, axes="B")
    t.output("target", target, axes="T B")
    source, _, target = t.unpack(t["collate"](id_pairs(t, t.integer(3, 6), alike=True)), 3)
    t.output("source as long as the target", source, axes="S B")
    t.output("target as long as the source", target, axes="T B")


@check("collate")
def one_pair(t):
    """A batch of one."""
    pairs = [([t.integer(4, 30) for _ in range(n)] + [EOS]) for n in t.sizes("S T")]
    source, lengths, target = t.unpack(t["collate"]([tuple(pairs)]), 3)
    t.output("source", source, axes="S 1")
    t.output("lengths", lengths, axes="1")
    t.output("target", target, axes="T 1")


# ---------------------------------------------------------------- encoder

def an_encoder(t):
    V, D, half = t.sizes("V D half", smallest=5)
    encoder = t["Encoder"](V, D, 2 * half)
    t.randomise_weights(encoder, scale=0.8)
    return encoder, V


def encoded(t, encoder, ids, lengths, of=""):
    henc_ts, hdec_init = t.unpack(encoder(ids, lengths), 2)
    t.output(f"henc_ts{of}", henc_ts, axes="S B H")
    t.output(f"hdec_init{of}", hdec_init, axes="B H")


@check("encoder", weight=2)
def full_sentences(t):
    """Sentences that all have the same length: no padding anywhere."""
    S, B = t.sizes("S B")
    encoder, V = an_encoder(t)
    lengths = torch.full((B,), S)
    encoded(t, encoder, ids_of(t, lengths, S, V), lengths)


@check("encoder", weight=2)
def different_lengths(t):
    """Batches of different lengths, in no order: the backward direction begins at each sentence's own last word."""
    encoder, V = an_encoder(t)
    for of in ("", " of a second batch"):
        S, B = t.sizes("S B", smallest=4)
        lengths, _ = ragged(t, S, B)
        encoded(t, encoder, ids_of(t, lengths, S, V), lengths, of)


@check("encoder")
def saturated_state(t):
    """A first state of the decoder whose sums are so large that their exponentials are infinite."""
    S, B = t.sizes("S B", smallest=4)
    encoder, V = an_encoder(t)
    t.randomise_weights(encoder.W_s, scale=1e4)
    lengths, _ = ragged(t, S, B)
    _, hdec_init = t.unpack(encoder(ids_of(t, lengths, S, V), lengths), 2)
    t.assume((hdec_init.value.abs() == 1).all())
    t.output("hdec_init of large sums", hdec_init, axes="B H")


@check("encoder")
def gradient(t):
    """Both results pass their gradient on to the embedding."""
    S, B = t.sizes("S B", smallest=4)
    encoder, V = an_encoder(t)
    lengths, _ = ragged(t, S, B)
    henc_ts, hdec_init = t.unpack(encoder(source=ids_of(t, lengths, S, V), lengths=lengths), 2)
    t.backward(t.torch.cat([henc_ts[-1], hdec_init], -1))
    t.output("gradient of the embedding", encoder.embedding.weight.grad, axes="V D")


# ---------------------------------------------------------------- scores

def score_module(t, name, H):
    score = t[name](H) if name == "AdditiveScore" else t[name]()
    if name == "AdditiveScore":
        t.randomise_weights(score, scale=0.7)
    return score


def scored(t, name, S, B, H):
    score = score_module(t, name, H)
    keys, others = score.keys(t.normal(S, B, H)), score.keys(t.normal(S, B, H))
    t.output("keys", keys, axes="S B H")
    t.output("scores", score(t.normal(B, H), keys), axes="B S")
    t.output("scores of another source", score(hdec=t.normal(B, H), keys=others), axes="B S")


@check("scores", weight=2)
def additive(t):
    """The additive score of a batch, and its keys."""
    scored(t, "AdditiveScore", *t.sizes("S B H"))


@check("scores", weight=2)
def dot(t):
    """The dot score of a batch."""
    scored(t, "DotScore", *t.sizes("S B H"))


@check("scores")
def one_sentence_one_word(t):
    """A batch of one, a source of a single timestep, and large keys."""
    S, B, H = t.sizes("S B H")
    for name in ("AdditiveScore", "DotScore"):
        score = score_module(t, name, H)
        t.output(f"{name} of one sentence", score(t.normal(1, H), t.normal(S, 1, H)), axes="1 S")
        t.output(f"{name} of one timestep", score(t.normal(B, H), t.normal(1, B, H)), axes="B 1")
        t.output(f"{name} of large keys", score(t.normal(B, H), t.normal(S, B, H, scale=300)), axes="B S", atol=1e-3)


@check("scores")
def score_gradient(t):
    """The gradient of the additive score reaches decoder state, keys and matrices."""
    S, B, H = t.sizes("S B H")
    score, hdec, henc_ts = score_module(t, "AdditiveScore", H), t.leaf(t.normal(B, H)), t.leaf(t.normal(S, B, H))
    t.backward(score(hdec, score.keys(henc_ts)))
    t.output("gradient of hdec", hdec.grad, axes="B H")
    t.output("gradient of henc_ts", henc_ts.grad, axes="S B H")
    t.output("gradient of W_a", score.W_a.weight.grad, axes="H H")


# ---------------------------------------------------------------- attend

def attended(t, scores, mask, henc_ts, of="", tolerance=None):
    context_vectors, attention_weights = t.unpack(t["attend"](scores, mask, henc_ts), 2)
    t.output(f"attention_weights{of}", attention_weights, axes="B S", sums_to_one="S", rtol=tolerance, atol=1e-8)
    t.output(f"context_vectors{of}", context_vectors, axes="B H", rtol=tolerance, atol=tolerance)


@check("attend", weight=2)
def weights_and_context(t):
    """Weights that sum to 1 over the source, and the context they make; nothing is padding."""
    S, B, H = t.sizes("S B H")
    attended(t, t.normal(B, S, scale=2), torch.ones(B, S, dtype=torch.bool), t.normal(S, B, H))


@check("attend", weight=2)
def padding_gets_no_weight(t):
    """Padding has weight 0 even where its score is the largest; so has a masked word inside a sentence."""
    S, B, H = t.sizes("S B H", smallest=4)
    _, mask = ragged(t, S, B)
    if S > 2:
        mask[mask.sum(-1).argmax(), t.integer(1, S - 1)] = False
    attended(t, t.normal(B, S, scale=2) + 4 * ~mask, mask, t.normal(S, B, H))


@check("attend")
def large_scores_and_one_word(t):
    """Scores far from zero on either side, those of padding on the other; and a sentence of one word."""
    S, B, H = t.sizes("S B H", smallest=4)
    for far in (300., -300., 1e4, -1e4):
        _, mask = ragged(t, S, B)
        mask[0] = torch.arange(S) < 1
        scores = t.normal(B, S, scale=3) + far - 2 * far * ~mask
        rounding = 1e-2 if abs(far) > 1e3 else None  # that of such scores shows in the weights
        attended(t, scores, mask, t.normal(S, B, H), of=f" (scores about {far:g})", tolerance=rounding)


@check("attend")
def attend_gradient(t):
    """The gradient passes through the weights to the scores."""
    S, B, H = t.sizes("S B H", smallest=4)
    _, mask = ragged(t, S, B, shortest=2)
    scores, henc_ts = t.leaf(t.normal(B, S)), t.leaf(t.normal(S, B, H))
    t.backward(t["attend"](scores, mask, henc_ts)[0])
    t.output("gradient of scores", scores.grad, axes="B S")
    t.output("gradient of henc_ts", henc_ts.grad, axes="S B H")


# ---------------------------------------------------------------- gated-cell

def cell_and_inputs(t, B):
    D, H, C = t.sizes("D H C")
    cell = t["GatedCell"](D, H, C)
    t.randomise_weights(cell, scale=0.7)
    return cell, t.normal(B, D), t.normal(B, H), t.normal(B, C)


@check("gated-cell", weight=2)
def one_step(t):
    """The new state of a batch."""
    t.forbid("gru_cell", "gru")
    cell, embedded, hdec, context_vectors = cell_and_inputs(t, *t.sizes("B"))
    t.output("hdec", cell(embedded, hdec, context_vectors), axes="B H")


@check("gated-cell")
def first_step(t):
    """From a state of zeros, and for a batch of one."""
    t.forbid("gru_cell", "gru")
    cell, embedded, hdec, context_vectors = cell_and_inputs(t, 1)
    t.output("hdec", cell(embedded, torch.zeros_like(hdec), context_vectors), axes="1 H")
    t.output("hdec from a state", cell(embedded, hdec, context_vectors), axes="1 H")


@check("gated-cell", skip_relations={"gradient": "a saturated gate has no slope worth a comparison"})
def saturated_gates(t):
    """Sums so large that their exponentials are infinite: each gate is open or closed."""
    cell, embedded, hdec, context_vectors = cell_and_inputs(t, *t.sizes("B"))
    far = cell(embedded * 1e4, hdec, context_vectors)
    t.assume(((far.value.abs() == 1) | (far.value == hdec)).all())
    t.output("hdec of large sums", far, axes="B H")


@check("gated-cell")
def cell_gradient(t):
    """The gradient reaches the state before and the context."""
    cell, embedded, hdec, context_vectors = cell_and_inputs(t, *t.sizes("B"))
    before, context = t.leaf(hdec), t.leaf(context_vectors)
    t.backward(cell(embedded=embedded, hdec=before, context_vectors=context))
    t.output("gradient of the state before", before.grad, axes="B H")
    t.output("gradient of the context", context.grad, axes="B C")


# ---------------------------------------------------------------- decoders

def stand_in_attend(scores, mask, henc_ts):
    weights = torch.tanh(scores) * mask + 0.1
    return (weights.T[..., None] * henc_ts).sum(0) + 0.3, weights


class StandInScore(nn.Module):
    """Scores in a way of its own; keys are taken as they come."""

    def keys(self, henc_ts):
        return henc_ts

    def forward(self, hdec, keys):
        return (hdec[None] + 2 * keys).sin().sum(-1).T


class StandInGatedCell(nn.Module):
    """All nine matrices, used in a way of its own."""

    def __init__(self, embedding_size, hidden_size, context_size):
        super().__init__()
        self.W, self.W_z, self.W_r = (nn.Linear(embedding_size, hidden_size) for _ in range(3))
        self.U, self.U_z, self.U_r = (nn.Linear(hidden_size, hidden_size, bias=False) for _ in range(3))
        self.C, self.C_z, self.C_r = (nn.Linear(context_size, hidden_size, bias=False) for _ in range(3))

    def forward(self, embedded, hdec, context_vectors):
        return torch.cos(self.W(embedded) - self.U(hdec) + 2 * self.C(context_vectors))


def decoder_and_inputs(t, name, B):
    S, V, D, H = t.sizes("S V D H", smallest=4)
    t.stub("attend", stand_in_attend)
    if name == "PaperDecoder":
        t.stub("GatedCell", StandInGatedCell)
    decoder = t[name](V, D, H, t.define(StandInScore, like="DotScore")())
    t.randomise_weights(decoder, scale=0.7)
    _, mask = ragged(t, S, B)
    memory = t["Memory"](t.normal(S, B, H), t.normal(S, B, H), mask)
    return decoder, t.integers(0, V, B), t.normal(B, H), memory


def decoded(t, result, of=""):
    logits, hdec, attention_weights = t.unpack(result, 3)
    t.output(f"attention_weights{of}", attention_weights, axes="B S")
    t.output(f"hdec{of}", hdec, axes="B H")
    t.output(f"logits{of}", logits, axes="B V")
    return logits, hdec


@check("paper-decoder", weight=2)
def paper_step(t):
    """One step of a batch."""
    decoder, tokens, hdec, memory = decoder_and_inputs(t, "PaperDecoder", *t.sizes("B"))
    decoded(t, decoder(tokens, hdec, memory))


@check("paper-decoder")
def two_paper_steps(t):
    """Two steps of one sentence, the second from the state of the first."""
    decoder, tokens, hdec, memory = decoder_and_inputs(t, "PaperDecoder", 1)
    _, hdec = decoded(t, decoder(tokens, hdec, memory))
    decoded(t, decoder(tokens, hdec, memory), of=" of the second step")


@check("paper-decoder")
def paper_gradient(t):
    """The gradient of the logits reaches the state before the step."""
    decoder, tokens, hdec, memory = decoder_and_inputs(t, "PaperDecoder", *t.sizes("B"))
    before = t.leaf(hdec)
    t.backward(decoder(tokens=tokens, hdec=before, memory=memory)[0])
    t.output("gradient of the state before", before.grad, axes="B H")


@check("plain-decoder", weight=2)
def plain_step(t):
    """One step of a batch."""
    decoder, tokens, hdec, memory = decoder_and_inputs(t, "PlainDecoder", *t.sizes("B"))
    decoded(t, decoder(tokens, hdec, memory))


@check("plain-decoder")
def two_plain_steps(t):
    """Two steps of one sentence, the second from the state of the first."""
    decoder, tokens, hdec, memory = decoder_and_inputs(t, "PlainDecoder", 1)
    _, hdec = decoded(t, decoder(tokens, hdec, memory))
    decoded(t, decoder(tokens, hdec, memory), of=" of the second step")


@check("plain-decoder")
def plain_gradient(t):
    """The gradient of the logits reaches the state before the step."""
    decoder, tokens, hdec, memory = decoder_and_inputs(t, "PlainDecoder", *t.sizes("B"))
    before = t.leaf(hdec)
    t.backward(decoder(tokens=tokens, hdec=before, memory=memory)[0])
    t.output("gradient of the state before", before.grad, axes="B H")


# ---------------------------------------------------------------- translator

class StandInEncoder(nn.Module):
    """The attributes of the encoder; what it says of a word depends on that word alone."""

    def __init__(self, vocabulary_size, embedding_size, hidden_size):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)
        self.gru = nn.GRU(embedding_size, hidden_size // 2, bidirectional=True)
        self.W_s = nn.Linear(hidden_size // 2, hidden_size)

    def forward(self, source, lengths):
        henc_ts = self.embedding(source) * (source != 0)[..., None]
        return henc_ts, torch.sin(henc_ts.sum(0) + lengths[:, None].to(henc_ts.device))


class OtherKeys(nn.Module):
    """Keys that are not the hidden vectors, and a score of its own."""

    def keys(self, henc_ts):
        return torch.cos(henc_ts)

    def forward(self, hdec, keys):
        return (hdec[None] + 2 * keys).sin().sum(-1).T


class StandInDecoder(nn.Module):
    """The attributes of a decoder. What it says depends on the token before, on its state and on its memory."""

    def __init__(self, vocabulary_size, embedding_size, hidden_size, score):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)
        self.score = score
        self.cell = nn.GRUCell(embedding_size, hidden_size)
        self.readout = nn.Linear(2 * hidden_size, vocabulary_size)

    def forward(self, tokens, hdec, memory):
        weights = self.score(hdec, memory.keys).masked_fill(~memory.mask, 0)
        context_vectors = torch.einsum("bs,sbh->bh", weights, memory.henc_ts)
        # side by side first: all three must have the same batch, as a real cell wants
        parts = torch.cat([0.5 * hdec, self.embedding(tokens), context_vectors], dim=-1).chunk(3, dim=-1)
        hdec = torch.tanh(sum(parts))
        return hdec @ self.readout.weight[:, :hdec.shape[-1]].T, hdec, weights


def translator(t, V, H):
    encoder = t.define(StandInEncoder, like="Encoder")(V, H, H)
    decoder = t.define(StandInDecoder, like="PaperDecoder")(V, H, H, t.define(OtherKeys, like="DotScore")())
    t.randomise_weights(encoder)
    t.randomise_weights(decoder)
    return t["Translator"](encoder, decoder)


def sentence_batch(t, S, T, B, V):
    (lengths, _), (target_lengths, _) = ragged(t, S, B), ragged(t, T, B, shortest=2)
    return ids_of(t, lengths, S, V), lengths, ids_of(t, target_lengths, T, V)


def translated(t, model, V, forced, B=None, of=""):
    S, T, B_ = t.sizes("S T B", smallest=4)
    B = B or B_
    logits, attention_weights = t.unpack(model(*sentence_batch(t, S, T, B, V), forced(T)), 2)
    t.assume_margin(logits)
    said = logits.value.argmax(-1)
    # free running can be told apart only if it says different things at different steps
    t.assume(T < 3 or B < 3 or all((said[a] != said[a + 1]).any() for a in range(T - 1)))
    t.output(f"logits{of}", logits, axes="T B V")
    t.output(f"attention_weights{of}", attention_weights, axes="T B S")
    return said


def a_translator(t):
    (V,), (H,) = t.sizes("V", smallest=11, largest=15), t.sizes("H", smallest=5, largest=9)
    return translator(t, V, H), V


@check("translator", weight=2)
def teacher_forcing(t):
    """Every decision true: the decoder reads SOS and the true tokens."""
    translated(t, *a_translator(t), lambda T: [True] * T)


@check("translator", weight=2)
def free_running(t):
    """Every decision false: the decoder reads SOS and then its own output, also after EOS."""
    said = translated(t, *a_translator(t), lambda T: [False] * T)
    t.assume(min(said.shape) < 3 or (((said[:-2] == EOS) & (said[1:-1] != EOS)).any() and (said[:-1] == PAD).any()))


@check("translator", weight=2)
def mixed_decisions(t):
    """Some decisions true, some false: each decides what is read next, in one batch and in another."""
    def forced(T, first):
        drawn = [first, *(bool(c) for c in t.rng.integers(0, 2, T - 1))]
        t.assume(T < 3 or (len(set(drawn[:-1])) == 2 and drawn != drawn[::-1]))
        return drawn
    model, V = a_translator(t)
    first = t.choice([True, False])
    translated(t, model, V, lambda T: forced(T, first))
    translated(t, model, V, lambda T: forced(T, not first), of=" of a second batch")


@check("translator")
def one_pair_of_sentences(t):
    """A batch of one."""
    said = translated(t, *a_translator(t), lambda T: [i % 2 == 1 for i in range(T)], B=1)
    t.assume(len(said) == 1 or (said[:-1:2] == EOS).any())  # EOS is read, and the loop goes on


@check("translator")
def translator_gradient(t):
    """The gradient of the logits reaches the encoder."""
    S, T, B = t.sizes("S T B", smallest=4)
    model, V = a_translator(t)
    source, lengths, target = sentence_batch(t, S, T, B, V)
    t.backward(model(source=source, lengths=lengths, target=target, forced=[True] * T)[0])
    t.output("gradient of the encoder", model.encoder.embedding.weight.grad, axes="V H")


# ---------------------------------------------------------------- loss

def logits_and_target(t, T, B, V):
    _, mask = ragged(t, T, B) if B > 1 else (None, torch.arange(T)[None] < max(T - 1, 1))
    return t.normal(T, B, V, scale=2), t.integers(1, V, T, B) * mask.T


@check("loss", weight=2)
def mean_over_tokens(t):
    """The mean over real tokens, with padding in the batch."""
    logits, target = logits_and_target(t, *t.sizes("T B V", smallest=4))
    t.output("loss", t["translation_loss"](logits, target))


@check("loss", weight=2)
def smoothed(t):
    """The smoothed loss, with padding in the batch, for two values of ε."""
    T, B, V = t.sizes("T B V", smallest=4)
    logits, target = logits_and_target(t, T, B, V)
    log_p = logits.log_softmax(dim=-1)[target != 0]
    others = (log_p.sum(dim=-1) - log_p.gather(1, target[target != 0][:, None])[:, 0]) / (V - 1)
    t.assume((log_p.mean() - others.mean()).abs() > 0.2)  # the true token has a share of ε, too
    for smoothing in (t.choice([0.05, 0.1, 0.2]), 0.6):
        t.output(f"loss with smoothing {smoothing}", t["translation_loss"](logits, target, smoothing=smoothing))


@check("loss")
def more_padding(t):
    """The loss of a batch of one, the same with more padding, and of a batch without padding."""
    T, B, V = t.sizes("T B V", smallest=4)
    logits, target = logits_and_target(t, T, 1, V)
    loss = t["translation_loss"]
    t.output("loss of one sentence", loss(logits, target))
    t.output("loss with more padding",
             loss(torch.cat([logits, t.normal(3, 1, V)]), torch.cat([target, torch.zeros(3, 1, dtype=torch.long)])))
    t.output("loss without padding", loss(t.normal(T, B, V, scale=2), t.integers(1, V, T, B)))


@check("loss")
def loss_gradient(t):
    """No gradient at the padding, the right one at the tokens; large logits do no harm."""
    logits, target = logits_and_target(t, *t.sizes("T B V", smallest=4))
    leaf = t.leaf(20 * logits)
    t.backward(t["translation_loss"](leaf, target))
    t.output("gradient of logits", leaf.grad, axes="T B V")


# ---------------------------------------------------------------- train

class Toy(nn.Module):
    """A model with two tables; its logits depend on everything it is called with."""

    def __init__(self, V):
        super().__init__()
        self.encoder = nn.Embedding(V, V).double()
        self.decoder = nn.Embedding(V, V).double()

    def remember(self, source, lengths):
        return self.encoder(source), self.encoder(source).sum(0) / lengths[:, None].to(source.device)

    def forward(self, source, lengths, target, forced):
        read = self.remember(source, lengths)[1]
        forced = torch.as_tensor(forced, device=source.device).double()[:, None, None]
        logits = self.decoder(target.roll(1, 0)) * (1 + forced) + torch.sin(read)
        return 3 * logits, logits.detach()


class View:
    """Steps 0, 1, 2, … up to a budget; remembers what was logged."""

    def __init__(self, steps=None, seconds=None, title="", every=50):
        self.steps, self.seconds, self.title, self.every = steps, seconds, title, every
        self.history, self.samples, self.step = {}, [], 0

    def __iter__(self):
        while self.step < self.steps:
            yield self.step
            self.step += 1

    def elapsed(self):
        return float(self.step)

    def progress(self):
        return self.step / self.steps

    def log(self, **values):
        for name, value in values.items():
            self.history.setdefault(name, []).append((self.step, round(float(value), 6)))

    def mean(self, name):
        last = [value for _, value in self.history[name][-self.every:]]
        return sum(last) / len(last)

    def sample(self, text):
        self.samples.append((self.step, str(text)))

    def summary(self):
        return f"{self.title}: {self.step} steps"


class Batches:
    """Batches one after another: what there is can be iterated over, and asked for the next."""

    def __init__(self, batches):
        self.batches, self.at = batches, 0

    def __iter__(self):
        return self

    def __next__(self):
        if self.at == len(self.batches):
            raise StopIteration
        self.at += 1
        return self.batches[self.at - 1]


def fixed_decisions(T, ratio):
    return [(3 * t + 5 * T) % 7 < 7 * ratio for t in range(T)]


def squared_loss(logits, target, smoothing=0.0):
    return ((logits - target[..., None]) ** 2).sum() * (1 - smoothing) / (target > 0).sum()


ONCE = "a second call continues from the trained parameters and the stored gradients"
TRAINED = {"repeated call": ONCE, "other inputs": ONCE, "evaluation": ONCE,
           "gradient": "nothing comes back but parameters, which training has changed"}


def trained(t, steps, batches, **settings):
    t.stub("forcing_decisions", fixed_decisions)
    t.stub("translation_loss", squared_loss)
    V = 6
    model, view = t.define(Toy, like="Translator")(V), t.define(View)(steps)
    t.randomise_weights(model)
    optimizer = t.torch.optim.SGD(model.parameters(), lr=0.25, momentum=0.5)
    scheduler = t.torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.5)
    data = []
    for _ in range(batches):
        S, T, B = t.sizes("S T B")
        t.assume(T == 1 or not data or T != len(data[0][2]))  # other decisions
        (lengths, _), (target_lengths, _) = ragged(t, S, B), ragged(t, T, B, shortest=2)
        data.append((ids_of(t, lengths, S, V), lengths, ids_of(t, target_lengths, T, V)))
    t["train"](model, t.define(Batches)(data), optimizer, scheduler, view, **settings)
    t.output("encoder", model.encoder.weight, axes="V D")
    t.output("decoder", model.decoder.weight, axes="V D")
    t.output("learning rate", optimizer.param_groups[0]["lr"])
    t.output("logged", view.history)


@check("train", weight=2, skip_relations=TRAINED)
def two_steps(t):
    """Parameters after two batches, with a gradient that is clipped."""
    trained(t, 2, 2, max_norm=t.choice([0.5, 0.8, 1.2]), ratio=0.5)


@check("train", skip_relations=TRAINED)
def large_norm(t):
    """The same when the limit is so large that nothing is clipped, with another ratio, and with label smoothing."""
    trained(t, 2, 2, max_norm=1e6, ratio=0.2, smoothing=t.choice([0.3, 0.5]))


@check("train", skip_relations=TRAINED)
def budget(t):
    """The loop stops when the view ends, though there are more batches; also with default arguments."""
    trained(t, 2, 4)


# ---------------------------------------------------------------- bleu

def scorer(t, name):
    t.forbid("sacrebleu")
    return t[name]


def corpus_of(t, n, low, high, kinds=4, empty=False):
    """Two lists of n lists of tokens from few kinds, so that n-grams repeat and match; they look alike when joined."""
    def side():
        return [[t.choice(["a", "aa", "b", "ab"][:kinds]) for _ in range(t.integer(low, high))] for _ in range(n)]
    references, hypotheses = side(), side()
    for i in range(n):  # most hypotheses keep a stretch of their reference
        keep = t.integer(0, len(references[i]) + 1)
        hypotheses[i] = references[i][:keep] + hypotheses[i][keep:]
    if empty:
        hypotheses[t.integer(0, n)] = []
    return hypotheses, references


def length_of(part):
    return sum(len(tokens) for tokens in part)


def is_uneven(hypotheses, references):
    """Whether the mean of the sentences' shares of right words is another one than the share in the corpus."""
    right = [(Counter(ours) & Counter(theirs)).total() for ours, theirs in zip(hypotheses, references, strict=True)]
    mean = sum(count / len(ours) for count, ours in zip(right, hypotheses, strict=True)) / len(right)
    return abs(mean - sum(right) / length_of(hypotheses)) > 0.005


@check("bleu", weight=2)
def matches(t):
    """Clipped matches and the number of n-grams, for n = 1 to 4."""
    (hypothesis,), (reference,) = corpus_of(t, 1, 7, 12, kinds=3)
    t.assume(len(hypothesis) != len(reference))
    matches = scorer(t, "clipped_matches")
    for n in range(1, 5):
        t.output(f"matches and total for n = {n}", matches(hypothesis, reference, n))
    t.output("of a hypothesis shorter than n", matches(hypothesis[:2], reference, 3))
    t.output("of a reference shorter than n", matches(hypothesis, reference[:2], 3))
    t.output("of a repeated word", matches(["a"] * 5, ["a", "b", "a"], 1))
    t.output("of words in upper case", matches(["A", "a", "b"], ["a", "B"], 1))
    a, b = word(t), word(t)
    t.output("of other words with the same letters", matches([a, a + b], [a + a, b], 2))


@check("bleu", weight=2)
def shorter_hypotheses(t):
    """BLEU of a corpus whose hypotheses are too short."""
    hypotheses, references = corpus_of(t, 4, 7, 11)
    hypotheses = [tokens[:-2] for tokens in hypotheses]
    t.assume(length_of(hypotheses) < length_of(references) and is_uneven(hypotheses, references))
    bleu = scorer(t, "corpus_bleu")(hypotheses, references)
    t.assume(bleu.value > 5)
    t.output("BLEU", bleu)


@check("bleu", weight=2)
def longer_hypotheses(t):
    """BLEU of a corpus whose hypotheses are longer than the references: no penalty."""
    hypotheses, references = corpus_of(t, 4, 7, 11)
    hypotheses = [tokens + [t.choice(["a", "aa", "b", "c"])] * t.integer(1, 4) for tokens in hypotheses]
    t.assume(length_of(hypotheses) > length_of(references) and is_uneven(hypotheses, references))
    bleu = scorer(t, "corpus_bleu")(hypotheses, references)
    t.assume(bleu.value > 5)
    t.output("BLEU", bleu)


@check("bleu")
def odd_corpora(t):
    """Hypotheses of no word, of one or two; no four words in a row; no match, no output, everything correct."""
    bleu = scorer(t, "corpus_bleu")
    hypotheses, references = corpus_of(t, 4, 7, 11, empty=True)
    mixed = bleu(hypotheses, references)
    t.assume(mixed.value > 2)
    t.output("BLEU with an empty hypothesis", mixed)
    t.output("BLEU of short hypotheses", bleu([tokens[:2] for tokens in references], references))
    words = list(dict.fromkeys(word(t, 3) for _ in range(9)))[:6]
    t.assume(len(words) == 6)
    t.output("BLEU without four right words in a row", bleu([words[3:] + words[:3]], [words]))
    t.output("BLEU of nothing right", bleu([["z"] * 6], references[:1]))
    t.output("BLEU of nothing said", bleu([[], []], references[:2]))
    t.output("BLEU of everything right", bleu(references, references))


# ---------------------------------------------------------------- aer

def weights_and_gold(t, n, rows_more=1, several=0.4):
    weights, gold = [], []
    for _ in range(n):
        S, T = t.sizes("S T", smallest=4)
        weights.append(t.normal(T + rows_more, S).softmax(-1))
        best = weights[-1].argmax(-1).tolist()
        alignment = []
        for i in range(T):
            size = t.integer(2, 4) if t.rng.random() < several else 1
            links = {int(s) for s in t.rng.permutation(S)[:size]}
            if t.rng.random() < 0.6:
                links = set(list(links)[1:]) | {best[i]}
            alignment.append(tuple(sorted(links)))
        gold.append(tuple(alignment))
    counts = [len(links) == 1 for alignment in gold for links in alignment]
    t.assume(any(counts) and (several == 0 or not all(counts)))
    # somewhere the best word is a gold word, but not the first one; rows beyond the alignment have no gold
    best = [w.argmax(-1).tolist() for w in weights]
    t.assume(several == 0 or any(s in links[1:] for row, alignment in zip(best, gold, strict=True)
                                 for s, links in zip(row, alignment, strict=False)))
    return weights, gold


@check("aer", weight=2)
def sure_links(t):
    """The error rate when every French word has one gold word."""
    weights, gold = weights_and_gold(t, t.integer(3, 5), several=0)
    # somewhere two sentences have the same link: they are two links
    links = [(i, *one) for alignment in gold for i, one in enumerate(alignment)]
    t.assume(len(set(links)) < len(links) or len(weights[0][0]) == 1)
    t.output("AER", t["alignment_error_rate"](weights, gold))


@check("aer", weight=2)
def possible_links(t):
    """Sure and possible links together, summed over the corpus before dividing."""
    weights, gold = weights_and_gold(t, t.integer(3, 5))
    t.output("AER", t["alignment_error_rate"](weights, gold))


@check("aer")
def perfect_and_single(t):
    """A perfect alignment, and a corpus of one pair without the row of EOS."""
    weights, gold = weights_and_gold(t, 1, rows_more=0)
    t.output("AER of one pair", t["alignment_error_rate"](weights, gold))
    perfect = torch.eye(5)[torch.tensor([2, 0, 4])]
    t.output("AER of a perfect alignment", t["alignment_error_rate"]([perfect], [((2,), (0, 1), (4,))]))


# ---------------------------------------------------------------- effects

def one_sentence(t, S, T):
    """A model, and one pair of sentences without padding: `source` (S, 1), `target` (T, 1)."""
    model, V = a_translator(t)
    return model, ids_of(t, torch.tensor([S]), S, V), ids_of(t, torch.tensor([T]), T, V)


@check("effects", weight=2)
def falls(t):
    """By how much the log-probability of each true token falls, for each source word that is overwritten."""
    S, T = t.sizes("S T", smallest=4)
    found = t["effects"](*one_sentence(t, S, T))
    t.assume(min(S, T) < 3 or (found.value.abs() > 0.01).float().mean() > 0.7)
    t.output("effects", found, axes="T S")


@check("effects")
def second_sentence(t):
    """A second sentence of other lengths, with the same model, and scores far apart; no gradient is kept."""
    (S, T), (V, H) = t.sizes("S T", smallest=3), (12, 7)
    model = translator(t, V, H)
    for of, (words, tokens) in (("", (S, T)), (" of a second sentence", (S + 2, T + 1))):
        source, target = ids_of(t, torch.tensor([words]), words, V), ids_of(t, torch.tensor([tokens]), tokens, V)
        found = t["effects"](model, source, target)
        t.output(f"effects{of}", found)
        t.output(f"a gradient is kept{of}", found.requires_grad)
    model = translator(t, V, H)
    t.randomise_weights(model.decoder.readout, scale=1e3)
    source, target = ids_of(t, torch.tensor([S]), S, V), ids_of(t, torch.tensor([T]), T, V)
    t.output("effects on scores far apart", t["effects"](model, source, target), axes="T S", rtol=1e-3, atol=0.05)


# ---------------------------------------------------------------- plan

def is_a_sentence(got):
    if len(str(got).split()) >= 6:
        return None
    return "this is not a sentence of six words or more: write the result that you expect, and why"


def are_three(got):
    if len({float(value) for value in got}) < 3:
        return f"these are {len(set(got))} different values, and three are asked for at least"
    return None if sorted(got) == list(got) else "these are not in order, from small to large"


def are_sizes(got):
    wrong = [size for size in got if int(size) != size or size < 2 or size % 2]
    return f"{wrong[0]} is no even number of units" if wrong else None


def are_ratios(got):
    wrong = [ratio for ratio in got if not 0 <= ratio <= 1]
    return f"{wrong[0]} is not a ratio: a ratio is a probability, from 0 to 1" if wrong else None


def are_rates(got):
    wrong = [rate for rate in got if not 0 < rate <= 10]
    return f"{wrong[0]} is no learning rate to try: it is positive, and 10 is far too much" if wrong else None


def are_seeds(got):
    n = len({int(seed) for seed in got})
    return None if n >= 3 else f"these are {n} different seeds, and three are asked for at least"


def listed(values):
    return list(values) if isinstance(values, range) else values


def steps_of_one_run(cost, plan, steps):
    _, values, seeds = plan()
    return cost(steps) / (len(seeds) * sum(len(tried) for tried in values.values()))


@check("plan", weight=2)
def plan(t):
    """A sentence for each experiment, three values or more that can be tried, three seeds or more."""
    expected, values, seeds = t.unpack(t["plan"](), 3)
    for name in ("learning rate", "hidden size", "teacher-forcing ratio", "scoring function"):
        t.output(f"expected['{name}']", expected[name], predicate=is_a_sentence)
    for name, can_be_tried in (("learning rate", are_rates), ("hidden size", are_sizes),
                               ("teacher-forcing ratio", are_ratios)):
        tried = t.define(listed)(values[name])
        t.output(f"values['{name}']", tried, predicate=are_three)
        t.output(f"values['{name}'], one by one", tried, predicate=can_be_tried)
    t.output("seeds", t.define(listed)(seeds), predicate=are_seeds)


@check("plan")
def cost(t):
    """The numbers of values of the first three experiments, added up, times the number of seeds, times `steps`."""
    steps = t.integer(10, 1000)
    t.output("steps of one run, by your cost", t.define(steps_of_one_run)(t["cost"], t["plan"], steps))
