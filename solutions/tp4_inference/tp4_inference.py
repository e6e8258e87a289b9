# %% [markdown]
# # Session 4 · Training is not inference
#
# In training, a decoder reads the right answer, one character late. At **inference**, when the trained network is used,
# there is no right answer: the decoder reads its own output. These are two different programs around the same weights.
#
# **After this session you can**
#
# - pass on both states of an LSTM, $h$ and $c$;
# - write the training pass, and the programs that *use* the trained weights;
# - decode a whole batch, each sequence until its own end;
# - measure exposure bias, and train with scheduled sampling;
# - search with a beam, and distinguish search errors from model errors.
#
# **Time:** {time}. **In 90 minutes:** parts 1 to 5, exercises 1 to 6. **You need first:** session 2.
#
# **Sizes:** S timesteps of the question, T of the answer, B sequences in a batch, V characters of an alphabet, D
# numbers in an embedding, H numbers in a hidden vector. Time comes first.

# %% given="start"
import sys; sys.path.insert(0, "..")  # the helper package lies beside this folder
try:
    import tp
except ModuleNotFoundError as missing:
    sys.exit(f"{missing}: put this notebook back into its folder of the course, "
             "beside the folder tp, and start as the README or your teacher says")
tp.start("tp4_inference")

# %% given="imports"
import copy
import math
import time
from functools import partial

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from tp import arithmetic, decoding

torch.set_num_threads(1)  # matrices as small as ours are multiplied fastest by one core
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

# %% [markdown]
# ## 1 · The task
#
# The task is that of session 2: `581+495` goes in, `1076` comes out, both written backwards. The operators are `+` and
# `-`; numbers of one, two and three digits are equally frequent. Characters are integers here.

# %% given="data"
GO = arithmetic.DECODER_ALPHABET.index(arithmetic.GO)
EOS = arithmetic.DECODER_ALPHABET.index(arithmetic.EOS)
# The longest answers, `1998` and `-998`, have four characters; then comes EOS.
MAX_LENGTH = 5


def tokens_of(encoder_ids, decoder_ids):
    """Return `encoder_tokens` (S, B), `target_tokens` (T, B) of a sample.

    They are integers on our device. A target is the answer, then EOS until the last
    step.
    """
    _, target = arithmetic.shifted(decoder_ids)
    return encoder_ids.long().to(device), target.long().to(device)


def fresh_batches(n_digits=3, seed=0):
    """Yield batches of 64 new questions without end, none of them a held-out one."""
    for ids in arithmetic.batches(64, n_digits, operators="+-", even_lengths=True,
                                  least_digit_first=True, seed=seed):
        yield tokens_of(*ids)


def held_out(n, n_digits=3):
    """Return `n` questions that training never draws.

    They are `encoder_tokens` (S, n) and `target_tokens` (T, n).
    """
    sample = arithmetic.draw_split(np.random.default_rng(1), n, training=False,
                                   n_digits=n_digits, operators="+-",
                                   even_lengths=True)
    return tokens_of(*arithmetic.encoded(*sample, n_digits, operators="+-",
                                         least_digit_first=True))


encoder_tokens, target_tokens = held_out(2000)

# %% given="texts"
def question_texts(encoder_tokens):
    """Return B strings, the right way round, of tokens (S, B)."""
    return [text[::-1] for text in arithmetic.decode(encoder_tokens,
                                                     arithmetic.ENCODER_ALPHABET)]


def answer_texts(tokens):
    """Return B strings up to EOS, the right way round, of tokens (T, B)."""
    return [text[::-1] for text in arithmetic.decode(tokens)]

# %% demo="data-seen"
for question, answer in zip(question_texts(encoder_tokens[:, :4]),
                            answer_texts(target_tokens[:, :4])):
    print(question, "=", answer)
print("encoder_tokens", tuple(encoder_tokens.shape),
      "· target_tokens", tuple(target_tokens.shape))

# %% [markdown]
# ## 2 · An encoder and a decoder with two states
#
# A GRU has one state, an LSTM two: the **hidden state** $h_t$, its output, and the **cell state** $c_t$, which its
# gates change (session 1; Hochreiter & Schmidhuber 1997). `nn.LSTM` returns `output, (h, c)`: all hidden states,
# then the last pair. The encoder is given.

# %% given="encoder"
class EncoderLSTM(nn.Module):
    """Read a question. Attributes: `embedding` (V → D), `lstm` (D → H)."""

    def __init__(self, vocabulary_size, embedding_size, latent_dim):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)
        self.lstm = nn.LSTM(embedding_size, latent_dim)

    def forward(self, encoder_tokens):
        """Read `encoder_tokens` (S, B) → `henc_ts` (S, B, H) and `encoder_states`.

        The states are the tuple (h, c), each (1, B, H).
        """
        henc_ts, encoder_states = self.lstm(self.embedding(encoder_tokens))
        return henc_ts, encoder_states


# %% [markdown]
# ### Exercise 1 · The decoder
#
# The decoder starts from `encoder_states` and reads characters. At every step it gives a score to each possible next
# character: for a whole answer (T steps, in training) and for a single character (T = 1), by the same code.
#
# - in: `decoder_tokens` (T, B), and `states`, a tuple `(h, c)`, each (1, B, H)
# - out: `logits` (T, B, V), and the new `states`, again a tuple
#
# A decoder with attention (session 3) also needs `henc_ts`. Yours does not; your programs pass it on, so that they work
# with both.
#
# Return logits, scores before any softmax: `F.cross_entropy` applies the log-softmax (session 2) itself.
#
# *Tiny example.* Reading three characters at once, or one after another with the state handed on each time, must give
# the same three rows of logits.
#
# *Minutes* 10 · *Difficulty* ●○○○
#
# <details><summary>Hint 1 · the idea</summary>
# The same as the encoder above, but the LSTM gets its first states, and every hidden state goes through
# <code>dense_final</code>.
# </details>
#
# <details><summary>Hint 2 · the shape</summary>
# (T, B) → (T, B, D) → (T, B, H) → (T, B, V). A linear layer acts on the last axis and leaves the others alone.
# </details>
#
# <details><summary>Hint 3 · the line</summary>
# <code>nn.LSTM</code> takes the first states as its second argument, as one tuple.
# </details>

# %% exercise="decoder"
class DecoderLSTM(nn.Module):
    """Write an answer.

    Attributes: `embedding` (V → D), `lstm` (D → H), `dense_final` (H → V).
    """

    def __init__(self, vocabulary_size, embedding_size, latent_dim):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)
        self.lstm = nn.LSTM(embedding_size, latent_dim)
        self.dense_final = nn.Linear(latent_dim, vocabulary_size)

    def forward(self, decoder_tokens, states, henc_ts=None):
        """Read `decoder_tokens` (T, B), `states` (h, c) → `logits` (T, B, V), `states`.

        The states, old and new, are each (1, B, H).
        """
        # TODO: embed the tokens, run the LSTM from the given states, turn each
        # hidden state into logits
        ### BEGIN SOLUTION
        hdec_ts, states = self.lstm(self.embedding(decoder_tokens), states)
        return self.dense_final(hdec_ts), states
        ### END SOLUTION

# %% check="decoder" points=3
tp.check("decoder")


# %% [markdown]
# One object holds both, with the tokens `GO` and `EOS` and the largest number of steps of an answer. Most functions
# that you write from here on take such a `model`, and use `model.encoder`, `model.decoder`, `model.GO`, `model.EOS`,
# `model.max_length`.

# %% given="model"
class Seq2seq(nn.Module):
    """An encoder, a decoder, and the constants that decoding needs."""

    def __init__(self, latent_dim=128, embedding_size=32):
        super().__init__()
        self.GO, self.EOS, self.max_length = GO, EOS, MAX_LENGTH
        # The question has one token more than its alphabet has characters:
        # the padding after a short question.
        self.encoder = EncoderLSTM(len(arithmetic.ENCODER_ALPHABET) + 1,
                                   embedding_size, latent_dim)
        self.decoder = DecoderLSTM(len(arithmetic.DECODER_ALPHABET),
                                   embedding_size, latent_dim)
        for module in self.modules():
            if isinstance(module, nn.LSTM):
                # The second quarter of the bias belongs to the forget gate. With a
                # bias of 1, a new network keeps about 3/4 of its cell state a step.
                nn.init.ones_(module.bias_ih_l0.data[latent_dim:2 * latent_dim])

# %% [markdown]
# ## 3 · The training pass
#
# ![The training pass with LSTMs. Encoder cells read 9, 4, +, 8 and hand on two states each, h and c. The last pair
# starts the decoder, whose cells read =, 1, 0, 2 from the true answer. Each decoder state goes through a softmax
# layer and is compared with the target 1, 0, 2, EOS.](figures/lstm_training_pass.svg)
#
# (The pictures of this session show question and answer in the usual order, characters as one-hot rows, and the softmax
# as a layer of its own. In the code, characters are integers, and the softmax is a part of the loss.)
#
# In training the decoder reads the right character next, whatever it would have written: teacher forcing (session 2).
# So all inputs are known in advance, and one call does all T steps.
#
# | step | 0 | 1 | 2 | 3 | 4 |
# |---|---|---|---|---|---|
# | `581+495`: decoder reads | GO | `6` | `7` | `0` | `1` |
# | target | `6` | `7` | `0` | `1` | EOS |
# | `94+8`: decoder reads | GO | `2` | `0` | `1` | EOS |
# | target | `2` | `0` | `1` | EOS | EOS |
#
# The targets are `target_tokens`. The decoder reads GO, and then each target one step late. After the end, the target
# is EOS at every step, and the loss counts it. (Session 5 masks this padding instead.)
#
# ### Exercise 2 · Logits and loss of the training pass
#
# **Write** `training_pass`: encode, feed the shifted target to the decoder in **one** call, and compute the loss.
#
# - in: a `model`, `encoder_tokens` (S, B), `target_tokens` (T, B)
# - out: `logits` (T, B, V), and `loss`, the mean of the cross-entropy over all T · B characters
#
# Hand `henc_ts` to the decoder as its third argument.
#
# *Tiny example.* With GO = 9 and the target column 4, 5, 0, 0, the decoder reads 9, 4, 5, 0.
#
# *Minutes* 10 · *Difficulty* ●●○○
#
# <details><summary>Hint 1 · the idea</summary>
# At step t the decoder reads the target of step t − 1. It does not read the last target.
# </details>
#
# <details><summary>Hint 2 · the shape</summary>
# GO needs the shape (1, B); the last row of the target is left out. <code>F.cross_entropy</code> takes (N, V) and
# (N,): merge time and batch, in both.
# </details>
#
# <details><summary>Hint 3 · the line</summary>
# <code>torch.cat</code> along time of a row of GO and of all targets but the last; <code>flatten(0, 1)</code> merges
# the first two axes.
# </details>

# %% exercise="training-pass"
def training_pass(model, encoder_tokens, target_tokens):
    """Make one pass with teacher forcing.

    `encoder_tokens` (S, B), `target_tokens` (T, B)
    → `logits` (T, B, V) and the mean cross-entropy `loss`.
    """
    # TODO: encode; shift the target by one step behind GO; one call of the decoder;
    # the loss
    ### BEGIN SOLUTION
    henc_ts, encoder_states = model.encoder(encoder_tokens)
    go = torch.full_like(target_tokens[:1], model.GO)
    decoder_tokens = torch.cat([go, target_tokens[:-1]])
    logits, _ = model.decoder(decoder_tokens, encoder_states, henc_ts)
    loss = F.cross_entropy(logits.flatten(0, 1), target_tokens.flatten())
    return logits, loss
    ### END SOLUTION

# %% check="training-pass" points=4
tp.check("training-pass")


# %% [markdown]
# ### Exercise 3 · The optimizer
#
# **Write** `make_optimizer`: Adam for **all** weights of a `model`, those of the encoder and those of the decoder.
#
# - in: a `model`, `learning_rate`
# - out: a `torch.optim.Adam` with this learning rate, β₁ = 0.9 and β₂ = 0.98
#
# *Tiny example.* Every parameter of encoder and decoder changes when `step` is called after a backward pass. With
# β₂ = 0.98 Adam averages the squared gradients over about 50 steps; the default, 0.999, over about 1000.
#
# *Minutes* 5 · *Difficulty* ●○○○
#
# <details><summary>Hint 1 · the idea</summary>
# An optimizer is built once. It keeps references to the tensors that it will change.
# </details>
#
# <details><summary>Hint 2 · the shape</summary>
# Its first argument is all parameters of a module. The module that holds encoder and decoder is the model.
# </details>
#
# <details><summary>Hint 3 · the line</summary>
# The two β are one argument, a tuple: <code>betas</code>.
# </details>

# %% exercise="optimizer"
def make_optimizer(model, learning_rate):
    """Return Adam for all weights of encoder and decoder, with β = 0.9 and 0.98."""
    # TODO: one line of torch.optim
    ### BEGIN SOLUTION
    return torch.optim.Adam(model.parameters(), lr=learning_rate, betas=(0.9, 0.98))
    ### END SOLUTION

# %% check="optimizer" points=2
tp.check("optimizer")


# %% [markdown]
# Now train. The recipe is that of session 2: an embedding, question and answer backwards, small batches of fresh
# questions, and a one-cycle learning rate, which first rises and then falls. One part is for the LSTM: its forget gate
# starts with a bias of 1 (see `Seq2seq`; Jozefowicz et al. 2015). The training took less than a minute on one core of
# ours. On a slow laptop it may take a few minutes.

# %% given="train"
def one_cycle(progress, peak, rise=0.08):
    """Return the learning rate at `progress` (0 … 1) of a training.

    It goes up to `peak` for the part `rise`, then slowly to 0.
    """
    if progress < rise:
        return peak * (0.04 + 0.96 * math.sin(math.pi / 2 * progress / rise) ** 2)
    return peak * math.cos(math.pi / 2 * (progress - rise) / (1 - rise)) ** 2


def teacher_loss(model, encoder_tokens, target_tokens):
    return training_pass(model, encoder_tokens, target_tokens)[1]


def train(model, steps, title, loss_of=teacher_loss, peak=6e-3, n_digits=3, seed=0):
    """Train on `loss_of(model, encoder_tokens, target_tokens)`.

    Returns the view, for its curve, and a copy of the model as it was after 70 % of
    the steps.
    """
    optimizer = make_optimizer(model, peak)
    batches, unfinished = fresh_batches(n_digits, seed), None
    held = held_out(500, n_digits)
    view = tp.live(steps=steps, title=title)
    for step in view:
        for group in optimizer.param_groups:
            group["lr"] = one_cycle(view.progress(), peak)
        loss = loss_of(model, *next(batches))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        view.log(loss=loss)
        if step % 250 == 0:
            with torch.no_grad():
                view.log(val_loss=training_pass(model, *held)[1])
        if unfinished is None and view.progress() > 0.7:
            unfinished = copy.deepcopy(model)
    return view, unfinished or copy.deepcopy(model)

# %% training="train-plain"
if tp.done("decoder", "training-pass", "optimizer"):
    torch.manual_seed(0)
    model = Seq2seq().to(device)
    view, unfinished = train(model, steps=5500, title="LSTM, teacher forcing")
    view.plot()

# %% [markdown]
# The loss is small. This does not show that the answers are right: so far, the decoder has read **ground-truth**
# prefixes only, those of the right answer.

# %% [markdown]
# ## 4 · Inference is another program
#
# ![Two programs for inference. The encoder model is called once: the sequence goes in, the states h and c come out. The
# decoder step model is called in a loop: one token and (h, c) go in, a distribution over the next token and the new
# (h, c) come out. The best token and the new states are the input of the next step, until EOS or the maximum
# length.](figures/inference_step.svg)
#
# At inference, the second input of the decoder is known only after its first output. So there is a loop, and the loop
# needs two small programs: one reads the question **once**, one makes **one** step of the decoder. They have no
# weights of their own, and call the trained modules.
#
# ### Exercise 4 · Two inference programs
#
# **Write** `encode` and `decoder_step`.
#
# - `encode`: `encoder_tokens` (S, B) → `henc_ts` (S, B, H) and `encoder_states`. `henc_ts` is kept for the whole
#   answer: a decoder with attention needs it at every step.
# - `decoder_step`: `tokens` (B,), **one** per sequence; `states`; `henc_ts` → `log_probabilities` (B, V) and the new
#   `states`
#
# The search of part 7 adds log-probabilities, so apply the log-softmax here: `exp` of each row sums to 1. Nothing is
# trained, so record no gradient; this saves memory and time.
#
# *Tiny example.* Logits 0, 0 and 0 become −1.0986 three times: log(1/3).
#
# *Minutes* 10 · *Difficulty* ●●○○
#
# <details><summary>Hint 1 · the idea</summary>
# The decoder needs a time axis. One step is an answer of length 1: add the axis, call, and take it off again.
# </details>
#
# <details><summary>Hint 2 · the shape</summary>
# (B,) → (1, B) → decoder → (1, B, V) → (B, V). Take row 0. <code>squeeze()</code> without an axis also removes the
# batch when B = 1. The log-softmax runs over V, the last axis.
# </details>
#
# <details><summary>Hint 3 · the line</summary>
# <code>@torch.no_grad()</code> above a function, <code>tokens[None]</code> for a new first axis,
# <code>logits[0].log_softmax(…)</code> for the result.
# </details>

# %% exercise="inference-programs"
def encode(model, encoder_tokens):
    """Read `encoder_tokens` (S, B)
    → `henc_ts` (S, B, H), `encoder_states`; no gradient.
    """
    # TODO: read the question, once
    ### BEGIN SOLUTION
    with torch.no_grad():
        return model.encoder(encoder_tokens)
    ### END SOLUTION


def decoder_step(model, tokens, states, henc_ts):
    """Make one step: `tokens` (B,), `states` (h, c)
    → `log_probabilities` (B, V), the new `states`; no gradient.
    """
    # TODO: give the tokens a time axis, call the decoder, turn the logits into
    # log-probabilities
    ### BEGIN SOLUTION
    with torch.no_grad():
        logits, states = model.decoder(tokens[None], states, henc_ts)
        return logits[0].log_softmax(dim=-1), states
    ### END SOLUTION

# %% check="inference-programs" points=4
tp.check("inference-programs")


# %% [markdown]
# ### Exercise 5 · Decode a sequence, or a whole batch of them
#
# **Write** `decode_sequence`. Start from GO; at each step take the most probable character (greedy decoding) and
# feed it back. Sequences of a batch end at different steps. After its end, a sequence gets EOS at every step,
# whatever the network would have written. Stop as soon as every sequence has ended, or after `model.max_length`
# steps.
#
# - in: a `model`, `encoder_tokens` (S, B)
# - out: `tokens` (T, B), integers, with T the number of steps that were made. The EOS of a sequence is part of it; GO
#   is not
#
# *Tiny example.* With EOS = 0, three sequences, and the last of them the longest:
#
# | step | first | second | third |
# |---|---|---|---|
# | 0 | 6 | **0** | 3 |
# | 1 | 7 | 0 | 3 |
# | 2 | **0** | 0 | 8 |
# | 3 | 0 | 0 | **0** |
#
# After step 3 all have ended: T = 4.
#
# *Minutes* 20 · *Difficulty* ●●●○
#
# <details><summary>Hint 1 · the idea</summary>
# A loop over steps with three variables: the last tokens, the states, and which sequences have finished. The question
# is encoded before the loop, never in it.
# </details>
#
# <details><summary>Hint 2 · the shape</summary>
# Tokens are (B,) at each step, and so is <code>finished</code>, a tensor of booleans. Stack the tokens of all steps
# along a new first axis.
# </details>
#
# <details><summary>Hint 3 · the line</summary>
# <code>tokens.masked_fill(finished, model.EOS)</code> writes EOS into the finished ones. A finished sequence stays
# finished: combine <code>finished</code> with <code>tokens == model.EOS</code> by <code>|</code>.
# </details>

# %% exercise="decode-sequence"
def decode_sequence(model, encoder_tokens):
    """Decode a batch greedily: `encoder_tokens` (S, B) → `tokens` (T, B).

    From the end of each sequence on there is EOS.
    """
    # TODO: encode once; then step by step, until all have written EOS or the limit
    # is reached
    ### BEGIN SOLUTION
    henc_ts, states = encode(model, encoder_tokens)
    tokens = torch.full_like(encoder_tokens[0], model.GO)
    finished = torch.zeros_like(tokens, dtype=torch.bool)
    said = []
    while len(said) < model.max_length and not finished.all():
        log_probabilities, states = decoder_step(model, tokens, states, henc_ts)
        tokens = log_probabilities.argmax(dim=-1).masked_fill(finished, model.EOS)
        finished = finished | (tokens == model.EOS)
        said.append(tokens)
    return torch.stack(said)
    ### END SOLUTION

# %% check="decode-sequence" points=5
tp.check("decode-sequence")


# %% [markdown]
# Now ask the network: six questions first, then the 2000 that training never draws, also with `unfinished`, the copy
# made after 70 % of the training. Of the six, training never draws `340-340`; it may have drawn the others.

# %% given="exact-match"
def padded(tokens, T):
    """Return `tokens` (T', B) with T' ≤ T as (T, B), with EOS after the end."""
    return F.pad(tokens, (0, 0, 0, T - len(tokens)), value=EOS)


def exact_match(model, encoder_tokens, target_tokens):
    """Return the share of questions whose greedy answer is right in every character."""
    answers = padded(decode_sequence(model, encoder_tokens), len(target_tokens))
    return (answers == target_tokens).all(dim=0).float().mean().item()


SHOWN = ["581+495", "94+8", "7-512", "999+999", "340-340", "86-8"]


def encoded_questions(questions):
    """Return `encoder_tokens` (S, B) of strings such as `581+495`."""
    backwards = [question[::-1] for question in questions]
    return arithmetic.encode(backwards, arithmetic.ENCODER_ALPHABET,
                             length=7).long().to(device)

# %% demo="first-answers"
if tp.done("decoder", "training-pass", "inference-programs",
           "decode-sequence", "model"):
    said = answer_texts(decode_sequence(model, encoded_questions(SHOWN)))
    tp.table([[q, a, eval(q)] for q, a in zip(SHOWN, said)],
             ["question", "answer of the network", "right"])
    plus = (encoder_tokens == arithmetic.ENCODER_ALPHABET.index("+")).any(dim=0)
    rows = [[name, *(exact_match(m, encoder_tokens[:, where], target_tokens[:, where])
                     for where in (plus, ~plus))]
            for name, m in (("unfinished", unfinished), ("trained", model))]
    tp.table(rows, ["2000 questions never trained on", "right, +", "right, -"])

# %% [markdown]
# We trained five seeds: all five gave the right answers to `581+495`, `94+8`, `7-512` and `86-8`, two of them to
# `999+999`, and none to `340-340`. Of the 2000 questions, 98.5 to 99.4 % of the additions were right, and 94.9 to 98.8
# % of the subtractions. A difference of 0 between numbers of three digits is rare in training: about one of 8100
# differences.
#
# Much of what follows needs a network that makes more errors, and uses `unfinished`.

# %% [markdown] answer="two-programs" points=2
# **Question 1.** The training pass and `decode_sequence` use the same weights. Why are they two implementations? Could
# training use `decode_sequence`? Could inference use `training_pass`?
#
# *Minutes* 5
#
# ### BEGIN SOLUTION
# What the decoder reads is known in advance in training (the right answer), and it is not at inference: the next input
# is the last output. So training is one call over all T steps, and inference a loop of single steps, with states
# carried by hand and an end that depends on the output (EOS). `training_pass` cannot be used for inference, because it
# needs the answer. `decode_sequence` cannot train: it returns tokens, and an arg-max has no gradient; it runs without
# gradient, its length depends on the output, and it would be slow.
#
# **Rubric.** 1 point: the inputs are known beforehand in one case only; hence one call against a loop with carried
# states. 1 point: one sound reason for each direction (needs the answer; arg-max has no gradient / lengths differ /
# slow).
# ### END SOLUTION

# %% [markdown]
# ## 5 · Exposure bias
#
# In training, the decoder reads ground-truth prefixes only. At inference it reads its
# own output. After its first wrong character, it reads a prefix that is wrong for the question; training has no such
# pairs. This mismatch is called **exposure bias** (Ranzato et al. 2016, arXiv 1511.06732). To measure its effect,
# decode once with teacher forcing and once without, and compare the accuracy at each step.
#
# ### Exercise 6 · Accuracy, step by step
#
# **Write** `accuracy_by_step`.
#
# - in: `predicted_tokens` and `target_tokens`, integers, both (T, B); `EOS`
# - out: floats, (T,): at each step, the share of right characters **among the sequences that are still running** (at
#   least one is)
#
# A sequence runs up to and including the EOS of its *target*, without one to the end. What comes after is padding, more
# EOS, and must not count.
#
# *Tiny example.* EOS = 0, two sequences. At step 2 only the first one is still running.
#
# | step | target | predicted | accuracy |
# |---|---|---|---|
# | 0 | 4, 7 | 4, 7 | 1.0 |
# | 1 | 5, 0 | 3, 0 | 0.5 |
# | 2 | 0, 0 | 0, 0 | 1.0, of one |
#
# *Minutes* 10 · *Difficulty* ●●○○
#
# <details><summary>Hint 1 · the idea</summary>
# Two tables of booleans: where the characters agree, and where the sequence is still running. Divide two sums.
# </details>
#
# <details><summary>Hint 2 · the shape</summary>
# Both tables are (T, B). The batch is summed away, time stays.
# </details>
#
# <details><summary>Hint 3 · the line</summary>
# <code>(target_tokens == EOS).cumsum(dim=0)</code> counts the ends seen so far. It is 0 before the EOS, 1 at it, more
# after it.
# </details>

# %% exercise="accuracy-by-step"
def accuracy_by_step(predicted_tokens, target_tokens, EOS):
    """Return (T,): the share of right tokens among the sequences still running.

    `predicted_tokens`, `target_tokens` (T, B).
    """
    # TODO: which sequences are still running at each step?
    # How many of those are right?
    ### BEGIN SOLUTION
    running = (target_tokens == EOS).cumsum(dim=0) <= 1
    right = (predicted_tokens == target_tokens) & running
    return right.sum(dim=1) / running.sum(dim=1)
    ### END SOLUTION

# %% check="accuracy-by-step" points=3
tp.check("accuracy-by-step")

# %% demo="exposure-bias"
if tp.done("decoder", "training-pass", "inference-programs",
           "decode-sequence", "accuracy-by-step", "model"):
    rows = []
    for name, m in (("unfinished", unfinished), ("trained", model)):
        with torch.no_grad():
            forced = training_pass(m, encoder_tokens, target_tokens)[0].argmax(dim=-1)
        free = padded(decode_sequence(m, encoder_tokens), len(target_tokens))
        for program, said in (("the right prefix", forced), ("its own output", free)):
            rows.append([name, program,
                         *accuracy_by_step(said, target_tokens, EOS).tolist(),
                         (said == target_tokens).all(dim=0).float().mean()])
    tp.table(rows, ["model", "decoder reads",
                    *(f"step {t}" for t in range(len(target_tokens))),
                    "all steps right"])

# %% [markdown]
# Compare the two rows of one model. At step 0 they are equal, because both read GO. Later, only the decoder of the
# first row always reads ground-truth prefixes. In the last column, they are equal again: up to its first wrong
# character, an answer has read the same prefix in both programs, so both have the same first error. The gap shows in
# the accuracy per character: measured with teacher forcing, it is too optimistic about what follows an error. Look at
# step 2 of `unfinished`. The gap can overstate the effect of exposure bias: after an error the rest is compared with
# the original answer, although after a wrong prefix another continuation may fit better.
#
# How much does one error cost? You can make one on purpose, a *slip*: the decoder reads the right answer, but one digit
# is replaced by the next one (3 by 4, 9 by 0).

# %% demo="a-slip"
if tp.done("decoder", "training-pass", "accuracy-by-step", "model"):
    digits = torch.tensor([arithmetic.DECODER_ALPHABET.index(d) for d in "0123456789"],
                          device=device)

    def with_a_slip(target_tokens, at):
        """Return the target, each digit at step `at` replaced by the next digit."""
        slipped, is_digit = target_tokens.clone(), torch.isin(target_tokens[at], digits)
        after = digits[(torch.searchsorted(digits, target_tokens[at]) + 1) % 10]
        slipped[at] = torch.where(is_digit, after, target_tokens[at])
        return slipped

    rows = []
    for name, m in (("unfinished", unfinished), ("trained", model)):
        for at in (None, 0, 1):
            reads = target_tokens if at is None else with_a_slip(target_tokens, at)
            with torch.no_grad():
                said = training_pass(m, encoder_tokens, reads)[0].argmax(dim=-1)
            rows.append([name,
                         "none" if at is None else f"step {at}",
                         *accuracy_by_step(said, target_tokens, EOS).tolist()])
    tp.table(rows, ["model", "slip", *(f"step {t}" for t in range(len(target_tokens)))])

# %% [markdown]
# Up to the step of the slip, nothing changes. At the step right after it, the accuracy falls: with five seeds, step
# 1 of `unfinished` was right in 85.8 to 88.9 % of the answers after a slip at step 0, and without a slip 94.1 to 96.8 %
# of the *whole* answers were right (so step 1 at least as often). So in some answers this one wrong digit changes the
# next one; in most it does not. (Other wrong digits were not tried.) Compare the later steps with the line without a
# slip: how far does one error reach?

# %% [markdown] answer="what-accuracy-hides" points=2
# **Question 2.** In your table of accuracies, the whole answer is right equally often with ground-truth prefixes and
# with the network's own output, but single characters are not. Explain both. Which of the two would you report for a
# network that people use, and why does the loss not show the difference?
#
# *Minutes* 5 · *Extension*
#
# ### BEGIN SOLUTION
# Up to the first wrong character, both programs read the same prefix, so they write the same characters: they make the
# same first error, or none. So the whole answer is right in the same cases. After an error, teacher forcing puts the
# decoder back on the ground-truth prefix; on its own, the decoder goes on from a prefix that is wrong for the question,
# and training has no such pairs. Only the second is what a user sees, so report it. The loss is computed with right
# prefixes only.
#
# **Rubric.** 1 point: the same prefix up to the first error, hence the same first error. 1 point: after it, only free
# running reads the network's own errors; that is what a user gets, and the loss is computed on ground-truth prefixes.
# ### END SOLUTION

# %% [markdown]
# ## 6 · Scheduled sampling
#
# In **scheduled sampling** (Bengio et al. 2015, arXiv 1506.03099), the decoder reads some of its own output in
# training. At each step, a random draw decides between the right character and the one just written. The probability of
# the right character is the **teacher-forcing ratio**. In the paper it starts near 1 and falls during training, by a
# schedule; ours is constant.
#
# ### Exercise 7 · A training pass with scheduled sampling
#
# **Write** `scheduled_sampling_pass`. The teacher-forcing decisions, `forced`, are an **input**: your function draws
# nothing at random, so that the same decisions give the same logits.
#
# - in: a `model`, `encoder_tokens` (S, B), `target_tokens` (T, B), `forced`, booleans of shape (T, B)
# - out: `logits` (T, B, V), with their gradient
#
# Step 0 reads GO. At each later step t, sequence b reads the right character `target_tokens[t - 1, b]` if
# `forced[t, b]` is true, else the most probable character of its own logits of step t − 1. Row 0 of `forced` is not
# used.
#
# *Tiny example.* The target is 4, 5, 6, `forced` is false, true, false; the network writes 7, 8, 1. Then it reads GO,
# 4, 8: at step 1 the decision is true, so it reads the right 4; at step 2 it is false, so it reads its own 8.
#
# With `forced` all true, the logits are those of `training_pass`.
#
# *Minutes* 15 · *Difficulty* ●●●○
#
# <details><summary>Hint 1 · the idea</summary>
# What is read depends on what was written, so one call is not enough: loop over the steps, as at inference. But this
# is training, so call <code>model.decoder</code> itself, and keep the gradient.
# </details>
#
# <details><summary>Hint 2 · the shape</summary>
# At each step: tokens (B,) → (1, B) → logits (1, B, V). Each sequence has a decision of its own: choose element by
# element.
# </details>
#
# <details><summary>Hint 3 · the line</summary>
# <code>torch.where(forced[t], …, …)</code> chooses between two tensors of shape (B,). <code>torch.cat</code> joins the
# logits of all steps along time.
# </details>

# %% exercise="scheduled-sampling"
def scheduled_sampling_pass(model, encoder_tokens, target_tokens, forced):
    """Make a training pass in which the decoder reads some of its own output.

    `encoder_tokens` (S, B), `target_tokens` (T, B), `forced` (T, B): true = read the
    right token → `logits` (T, B, V).
    """
    # TODO: encode; then step by step, choosing by `forced` what each sequence reads
    ### BEGIN SOLUTION
    henc_ts, states = model.encoder(encoder_tokens)
    tokens = torch.full_like(target_tokens[0], model.GO)
    logits = []
    for t in range(len(target_tokens)):
        if t > 0:
            tokens = torch.where(forced[t], target_tokens[t - 1],
                                 logits[-1][0].argmax(dim=-1))
        step_logits, states = model.decoder(tokens[None], states, henc_ts)
        logits.append(step_logits)
    return torch.cat(logits)
    ### END SOLUTION

# %% check="scheduled-sampling" points=5
tp.check("scheduled-sampling")

# %% [markdown]
# Does it help here? Two copies of `unfinished` are trained for 600 more steps: one with teacher forcing, one with
# scheduled sampling at a teacher-forcing ratio of 0.75. (A step with scheduled sampling takes longer, because the
# decoder is called T times.)

# %% training="train-sampled"
if tp.done("decoder", "training-pass", "inference-programs",
           "decode-sequence", "accuracy-by-step", "scheduled-sampling", "unfinished"):
    def sampled_loss(model, encoder_tokens, target_tokens):
        forced = torch.rand(target_tokens.shape, device=device) < 0.75
        logits = scheduled_sampling_pass(model, encoder_tokens, target_tokens, forced)
        return F.cross_entropy(logits.permute(1, 2, 0), target_tokens.T)

    contenders = {"unfinished": unfinished,
                  "+ teacher forcing": copy.deepcopy(unfinished),
                  "+ scheduled sampling": copy.deepcopy(unfinished)}
    train(contenders["+ teacher forcing"], steps=600, title="+ teacher forcing",
          peak=2e-3, seed=1)
    train(contenders["+ scheduled sampling"], steps=600, title="+ scheduled sampling",
          loss_of=sampled_loss, peak=2e-3, seed=1)
    rows = []
    for name, m in contenders.items():
        with torch.no_grad():
            after_slip = training_pass(
                m, encoder_tokens, with_a_slip(target_tokens, 0))[0].argmax(dim=-1)
        rows.append([name, exact_match(m, encoder_tokens, target_tokens),
                     accuracy_by_step(after_slip, target_tokens, EOS)[1]])
    tp.table(rows, ["model", "whole answer right",
                    "step 1 right after a slip at step 0"])

# %% [markdown]
# Compare the last two rows. In five runs of ours, whole answers were right in 97.9 % (96.6–98.9) after teacher forcing
# and in 97.7 % (96.5–98.8) after scheduled sampling (median, lowest, highest); after a slip, step 1 was right in 89.6 %
# (86.9–89.9) and in 89.6 % (87.4–90.3). Seed by seed, scheduled sampling differs by −0.45 to 0.25 points in whole
# answers, and by −0.15 to 0.45 points after a slip. Both signs occur: these runs do not show that scheduled sampling
# helps in this task. The accuracy after a slip is the test of it. The share of whole answers cannot rise by robustness
# to own errors, because a whole answer is right only if every prefix that was read was right (part 5).
#
# Bengio et al. report gains in captioning, parsing and speech recognition. The method has a known problem: after a
# wrong character, the target is still the original next character, even where another continuation would be better.
# Huszár (2015, arXiv 1511.05101) shows that its objective is **improper**: the best model for it need not be the one
# that generated the data.

# %% [markdown]
# ## 7 · Beam search
#
# Greedy decoding takes the best *character* at every step. It does not always find the most probable *answer*: after
# the most probable first character, all continuations may be improbable. **Beam search** keeps the best answers so
# far, called **hypotheses**, at most as many as the **beam width**. At each step, every hypothesis is continued by
# every character, and the best of all these candidates are kept.
#
# ![A beam of width two on 94+8, as a tree with summed log-probabilities. 9 looks best at first with −0.6, and 1 is kept
# beside it with −0.9. At the next step 10 reaches −1.1 and 91 only −2.0; other candidates are dropped. At the end 102
# wins with −1.3. Greedy decoding would have followed the 9 and ended with 91 and −2.7.](figures/beam_tree.svg)
#
# The probability of a sequence is the *product* of the probabilities of its steps, so its log is a **sum of
# log-probabilities**. This sum is the score of a hypothesis. It is never above 0, and larger is better.
#
# ### Exercise 8 · One step of the beam
#
# **Write** `beam_step`: all candidates, and the best of them.
#
# - in: `log_probabilities` (K, V), a row for each of the K hypotheses so far; `scores` (K,), their sums; `finished`
#   (K,), booleans; `beam_width`, which may differ from K; `EOS`
# - out, best first, each of shape (n,), with n = `beam_width`, or K · V if that is smaller: `tokens`, the
#   character that was added; `parents`, the number of the hypothesis that it was added to; `scores`, the new sums
#
# A hypothesis that is **finished** has a single candidate: EOS once more, at no cost. Its score stays, and it is
# compared with the others. Its other characters count with −∞, so that there are always K · V. Do not change the
# arguments; work on copies.
#
# *Tiny example.* Two hypotheses with scores −1.0 and −1.2, V = 3, `beam_width` = 2. The rows of `log_probabilities`
# are (−2.0, −0.5, −1.35) and (−0.1, −3.0, −3.1). The best candidates are −1.2 − 0.1 = **−1.3** (character 0 after
# hypothesis 1) and −1.0 − 0.5 = **−1.5** (character 1 after hypothesis 0). So `tokens` = (0, 1), `parents` = (1, 0),
# `scores` = (−1.3, −1.5).
#
# *Minutes* 20 · *Difficulty* ●●●○
#
# <details><summary>Hint 1 · the idea</summary>
# Make a table of all candidate scores, K × V. Keep the <code>beam_width</code> best of the whole table. Two may come
# from one hypothesis, and none from another.
# </details>
#
# <details><summary>Hint 2 · the shape</summary>
# <code>scores</code> (K,) must be added to every column: give it the shape (K, 1). Lay the table out flat, (K · V,),
# and take the largest. Candidate number i of the flat table came from row i // V and column i % V.
# </details>
#
# <details><summary>Hint 3 · the line</summary>
# For the finished rows: minus infinity everywhere, then zero at EOS, before adding the scores.
# <code>flatten().topk(n)</code> returns values, sorted, and positions.
# </details>

# %% exercise="beam-step"
def beam_step(log_probabilities, scores, finished, beam_width, EOS):
    """Return the best candidates: `log_probabilities` (K, V), `scores`, `finished` (K,)
    → `tokens`, `parents`, `scores`, each (n,).
    """
    # TODO: the table of all candidates, with a single one for each finished
    # hypothesis; the best of them
    ### BEGIN SOLUTION
    K, V = log_probabilities.shape
    log_probabilities = log_probabilities.masked_fill(finished[:, None], -torch.inf)
    log_probabilities[finished, EOS] = 0.0
    candidates = (scores[:, None] + log_probabilities).flatten()
    scores, best = candidates.topk(min(beam_width, K * V))
    return best % V, best // V, scores
    ### END SOLUTION

# %% check="beam-step" points=5
tp.check("beam-step")


# %% [markdown]
# ### Exercise 9 · The whole beam search
#
# **Write** `beam_search`, for one question. It is `decode_sequence` with hypotheses in the place of the batch. Call
# your `encode`, `decoder_step` and **`beam_step`**.
#
# - in: a `model`, `encoder_tokens` (S, 1), `beam_width`, `alpha`
# - out: `hypotheses` (T, n), a column for each of the n hypotheses that are left, **best first**; their normalised
#   scores (n,); `history`, a list with the `(tokens, parents, scores)` of every step, as `beam_step` returned them
#
# Begin with a **single** empty hypothesis, of score 0. (From several copies of it, you would get one answer several
# times.) At each step:
# 1. `decoder_step` for all hypotheses. They are a batch of n, so `henc_ts` is repeated n times:
#    `henc_ts.expand(-1, n, -1)`.
# 2. `beam_step`. Then reorder everything that belongs to a hypothesis by `parents`: **both states**, `finished`, the
#    characters so far.
# 3. A hypothesis that has written EOS is finished. Stop when all are, or after `model.max_length` steps.
#
# **Length normalisation.** No further character makes a sum of log-probabilities larger, which favours short answers.
# At the end, divide each score by `length ** alpha`, where the length counts the EOS, once, if there is one.
# `alpha = 0` leaves the scores alone; `alpha = 1` gives the mean log-probability per character. Sort by this
# normalised score. (The *length penalty* of Wu et al. 2016, arXiv 1609.08144, is similar: it divides by
# `((5 + length) / 6) ** alpha`.)
#
# *Tiny example.* EOS = 0. Two columns (6, 0, 0) and (7, 8, 0) with the scores −1.0 and −1.2 have the lengths 2 and 3.
# With `alpha` = 1 the normalised scores are −0.5 and −0.4: the second one wins.
#
# *Minutes* 30 · *Difficulty* ●●●●
#
# <details><summary>Hint 1 · the idea</summary>
# Write the loop of <code>decode_sequence</code> first, with <code>beam_step</code> in the place of the arg-max. Then
# check for every variable of the loop that it is reordered by the parents.
# </details>
#
# <details><summary>Hint 2 · the shape</summary>
# <code>h</code> and <code>c</code> are (1, n, H): index their second axis by <code>parents</code>. The characters so
# far are (t, n): index their second axis by <code>parents</code>, then add a row.
# </details>
#
# <details><summary>Hint 3 · the line</summary>
# <code>h[:, parents]</code> picks and repeats columns. <code>finished = finished[parents] | (tokens ==
# model.EOS)</code>. The length is the number of characters that are not EOS, plus one if finished.
# <code>argsort(descending=True)</code> gives the final order.
# </details>

# %% exercise="beam-search"
def beam_search(model, encoder_tokens, beam_width, alpha=0.0):
    """Search for the best answer to one question, `encoder_tokens` (S, 1).

    → `hypotheses` (T, n), best first; their normalised scores (n,);
    `history`, (tokens, parents, scores) of each step.
    """
    # TODO: from one empty hypothesis, step by step; then normalise by length and sort
    ### BEGIN SOLUTION
    henc_ts, states = encode(model, encoder_tokens)
    tokens = torch.full_like(encoder_tokens[0], model.GO)
    scores = torch.zeros(1, device=tokens.device)
    finished = torch.zeros_like(tokens, dtype=torch.bool)
    hypotheses, history = tokens.new_empty(0, 1), []
    while len(history) < model.max_length and not finished.all():
        log_probabilities, (h, c) = decoder_step(
            model, tokens, states, henc_ts.expand(-1, len(tokens), -1))
        tokens, parents, scores = beam_step(
            log_probabilities, scores, finished, beam_width, model.EOS)
        history.append((tokens, parents, scores))
        states = h[:, parents], c[:, parents]
        finished = finished[parents] | (tokens == model.EOS)
        hypotheses = torch.cat([hypotheses[:, parents], tokens[None]])
    lengths = (hypotheses != model.EOS).sum(dim=0) + finished
    normalised = scores / lengths ** alpha
    order = normalised.argsort(descending=True)
    return hypotheses[:, order], normalised[order], history
    ### END SOLUTION

# %% check="beam-search" points=6
tp.check("beam-search")

# %% [markdown]
# First use a language so small that you can check every sum. Its decoder is a **bigram** table: the probability of
# each word, given the word before it.

# %% given="word-model"
FOLLOWS = {
    "GO": {"it": 0.42, "we": 0.30, "yes": 0.28},
    "it": {"rains": 0.40, "snows": 0.35, "pours": 0.25},
    "rains": {"EOS": 0.9, "it": 0.1},
    "snows": {"EOS": 0.9, "it": 0.1},
    "pours": {"EOS": 0.9, "it": 0.1},
    "we": {"hope": 0.95, "it": 0.05},
    "hope": {"so": 0.95, "EOS": 0.05},
    "so": {"EOS": 0.95, "we": 0.05},
    "yes": {"EOS": 0.95, "we": 0.05},
}


class WordModel(nn.Module):
    """A model that is called like ours; its probabilities come from a table.

    The table is a dict, word → {next word: probability}.
    """

    max_length = 5

    def __init__(self, follows=FOLLOWS):
        super().__init__()
        self.words = ["EOS", *follows]
        self.GO, self.EOS = self.words.index("GO"), 0
        table = [[follows.get(last, {}).get(word, 1e-9) for word in self.words]
                 for last in self.words]
        self.register_buffer("logits", torch.tensor(table).log())

    def encoder(self, encoder_tokens):
        nothing = torch.zeros(1, encoder_tokens.shape[1], 1,
                              device=encoder_tokens.device)
        return nothing, (nothing, nothing)

    def decoder(self, decoder_tokens, states, henc_ts=None):
        return self.logits[decoder_tokens], states

# %% demo="beam-words"
if tp.done("inference-programs", "beam-step", "beam-search"):
    speaker, nothing = WordModel(), torch.zeros(1, 1, dtype=torch.long)
    rows = []
    for beam_width, alpha in ((1, 0.0), (2, 0.0), (3, 0.0), (3, 1.0)):
        hypotheses, scores, history = beam_search(speaker, nothing, beam_width, alpha)
        words = [speaker.words[i] for i in hypotheses[:, 0] if i != speaker.EOS]
        rows.append([beam_width, alpha, " ".join(words), scores[0].item()])
    tp.table(rows, ["beam width", "alpha", "best hypothesis", "its normalised score"])
    decoding.draw_beam(history, speaker.words, EOS=speaker.EOS,
                       title="A beam of three words", best=hypotheses[:, 0])

# %% [markdown]
# Width 1 is greedy: *it* is the most probable first word, and then three words share the probability. Width 2 also
# keeps *we*, and finds *we hope so*. Width 3 also keeps *yes*, which is short and has the best plain sum. Normalised
# by length, *we hope so* is first again. The search only compares scores; it does not say which of the two is right.
#
# Does a wider beam always find an answer of the same or a higher score? Try to prove it, and find the step that
# fails.
#
# ### Exercise 10 · A table in which a wider beam does worse
#
# **Write** `wider_loses`: it makes a table like `FOLLOWS` in which a beam of width 2 (`alpha = 0`) ends with a sentence
# that is **at most half as probable** as the sentence of greedy decoding.
#
# - in: `first`, the probabilities of the first words: three different numbers, in descending order, that sum to 1;
# - out: a dict, word → {next word: probability}. `"GO"` is followed by three words of your choice with the
#   probabilities of `first`. Every word that may follow has a row of its own, except `"EOS"`. The probabilities of
#   each row are positive and sum to 1. Both searches end with EOS after five tokens at most, EOS counted.
#
# *Tiny example.* In `FOLLOWS` the wider beam does better: greedy decoding finds *it rains*, 0.42 · 0.40 · 0.9 = 0.15,
# and a beam of two *we hope so*, 0.30 · 0.95 · 0.95 · 0.95 = 0.26. In a table of ours for 0.4, 0.35, 0.25 it
# does worse: 0.1 for greedy decoding, 0.0044 for a beam of two.
#
# *Minutes* 25 · *Difficulty* ●●●○ · *Extension*: a table to construct.
#
# <details><summary>Hint 1 · the idea</summary>
# At first, the greedy hypothesis is in the wider beam, too. Other hypotheses must replace it: they score better for
# one step, and have only improbable continuations.
# </details>
#
# <details><summary>Hint 2 · the shape</summary>
# The beam holds two, so it takes two hypotheses to fill it. Both may follow the second of the first words, with half
# of its probability each. What greedy decoding holds at that step must be less: into how many equal parts must its
# row be cut?
# </details>
#
# <details><summary>Hint 3 · the line</summary>
# After a row of small probabilities, every continuation is improbable: ten words with 0.1 each sum to 1. One dict
# comprehension writes such a row, another one the rows of its words.
# </details>

# %% exercise="wider-loses"
def wider_loses(first):
    """Return a table in which a wider beam does worse; `first`: three, largest first.

    The table is a dict, word → {next word: probability}.
    """
    # TODO: the first words; what greedy decoding follows; what pushes that out of a
    # beam of two; and the ends
    ### BEGIN SOLUTION
    best, second, third = first
    parts = int(2 * best / second) + 2  # best / parts < second / 2, rounding included
    good = [f"good {i}" for i in range(parts)]
    poor = [f"poor {i}" for i in range(10 * parts)]
    return {
        "GO": {"a": best, "b": second, "c": third},
        "a": {word: 1 / parts for word in good},
        "b": {"d": 0.5, "e": 0.5},
        "d": {word: 1 / len(poor) for word in poor},
        "e": {word: 1 / len(poor) for word in poor},
        **{word: {"EOS": 1.0} for word in ["c", *good, *poor]},
    }
    ### END SOLUTION

# %% check="wider-loses" points=3
tp.check("wider-loses")

# %% demo="beam-loses"
if tp.done("inference-programs", "beam-step", "beam-search", "wider-loses"):
    speaker, rows = WordModel(wider_loses([0.4, 0.35, 0.25])), []
    for beam_width in (1, 2, 3):
        hypotheses, scores, history = beam_search(speaker, nothing, beam_width)
        words = [speaker.words[i] for i in hypotheses[:, 0] if i != speaker.EOS]
        rows.append([beam_width, " ".join(words), scores[0].exp().item()])
        if beam_width == 2:
            two, kept = history, hypotheses[:, 0]
    tp.table(rows, ["beam width", "best hypothesis", "its probability"])
    decoding.draw_beam(two, speaker.words, EOS=speaker.EOS,
                       title="A beam of two, in your table", best=kept)

# %% [markdown]
# Take 0.4, 0.35 and 0.25 once more, and our table. Greedy decoding takes the most probable first word, with 0.4. Four
# words with 1/4 each follow it, and then EOS, so the sentence has 0.4 / 4 = 0.1. The beam of two also keeps the one
# with 0.35. Two words of 0.5 each follow it: both have 0.35 · 0.5 = 0.175, more than 0.1, and fill the beam. Each of
# their continuations has 1/40, so the beam of two ends with 0.175 / 40 = 0.0044. *Neither* search keeps the third of
# the first words. EOS always follows it, so it is a sentence of probability 0.25. Such a miss of a more probable answer
# is called a **search error**.
#
# Now use the network. Of its wrong greedy answers, which are search errors? The training pass gives the probability of
# any answer, so you can compare the right answer with the one that was found. If the right answer is **more** probable,
# the search missed it: a search error. If it is **less** probable, no better search can help: a **model error**. The
# cell counts both, searches with four widths, and draws a beam of three: one that corrects a greedy answer, if there is
# any. In the table, *rescued* answers are wrong ones of greedy decoding that the beam corrects, *spoilt* ones the
# reverse.

# %% given="log-probability"
@torch.no_grad()
def log_probability(model, encoder_tokens, answers):
    """Return the log-probability of `answers` (T, B), each up to its EOS, (B,)."""
    logits, _ = training_pass(model, encoder_tokens, answers)
    each = logits.log_softmax(dim=-1).gather(-1, answers[..., None])[..., 0]
    return each.masked_fill((answers == EOS).cumsum(dim=0) > 1, 0.0).sum(dim=0)

# %% demo="beam-numbers"
if tp.done("decoder", "training-pass", "inference-programs",
           "decode-sequence", "beam-step", "beam-search", "unfinished"):
    n, best, rows = 1000, {}, []
    asked, right = encoder_tokens[:, :n], target_tokens[:, :n]
    for beam_width in (1, 2, 3, 5):
        began, found = time.perf_counter(), []
        for i in range(n):
            hypotheses, _, _ = beam_search(unfinished, asked[:, i:i + 1], beam_width)
            found.append(padded(hypotheses[:, :1], MAX_LENGTH))
        best[beam_width] = torch.cat(found, dim=1)
        good = {width: (said == right).all(dim=0) for width, said in best.items()}
        rows.append([beam_width, good[beam_width].float().mean(),
                     int((good[beam_width] & ~good[1]).sum()),
                     int((good[1] & ~good[beam_width]).sum()),
                     log_probability(unfinished, asked, best[beam_width]).mean(),
                     1000 * (time.perf_counter() - began) / n])
    tp.table(rows, ["beam width", "share right", "rescued", "spoilt",
                    "log-probability", "milliseconds"])
    more = (log_probability(unfinished, asked, right)
            > log_probability(unfinished, asked, best[1]))
    print(f"{int((~good[1]).sum())} greedy answers are wrong: "
          f"{int((more & ~good[1]).sum())} search errors, "
          f"{int((~more & ~good[1]).sum())} model errors")
    rescued = (good[3] & ~good[1]).nonzero().flatten()
    i = rescued[0].item() if len(rescued) else 0
    hard = question_texts(asked[:, i:i + 1])[0]
    print(f"{hard} = {answer_texts(right[:, i:i + 1])[0]}; "
          f"greedy decoding: {answer_texts(best[1][:, i:i + 1])[0]}, "
          f"a beam of three: {answer_texts(best[3][:, i:i + 1])[0]}")
    hypotheses, _, history = beam_search(unfinished, asked[:, i:i + 1], 3)
    decoding.draw_beam(history, arithmetic.DECODER_ALPHABET, EOS=EOS,
                       title=f"{hard}, answer written backwards",
                       best=hypotheses[:, 0])

# %% [markdown]
# Compare your two counts: no better search for the most probable answer can correct a model error. We compared beams of
# two, three and five with greedy decoding on the first 150 questions, with five networks. All three beams had one right
# answer fewer with one network, two more with another, and as many with the other three. The 600 further steps with
# teacher forcing of part 6, in which the learning rate falls to 0, raised the share of right answers from 95.4 %
# (94.1–96.8) to 97.9 % (96.6–98.9) of the 2000 questions, by 1.9 to 2.8 points with each network.
#
# Now go step by step. Choose greedy decoding or the beam, and move through the answer, units first. Each step shows
# the probabilities of the network, and the hypotheses of the beam with their sums. A beam can correct an answer where
# two characters have similar probabilities, if a later step separates the two hypotheses.

# %% demo="explore"
def searched(model, beam_width, question):
    """Search for the answer to one question, as a person writes it.

    Returns a `tp.Step` for each character of the best hypothesis.
    """
    asked, alphabet = encoded_questions([question]), arithmetic.DECODER_ALPHABET
    hypotheses, _, history = beam_search(model, asked, beam_width)
    best = hypotheses[:, :1]
    with torch.no_grad():
        # of the network, when it reads its own answer
        probabilities = training_pass(model, asked, best)[0][:, 0].softmax(dim=-1)
    written = [alphabet[i] for i in best[:, 0]]
    steps, beam = [], [""]
    for read, wrote, row, (tokens, parents, scores) in zip(
            [arithmetic.GO, *written], written, probabilities.tolist(), history):
        beam = [beam[parent].removesuffix(arithmetic.EOS) + alphabet[token]
                for token, parent in zip(tokens, parents)]
        steps.append(tp.Step(read, wrote, dict(zip(alphabet, row)),
                             beam=list(zip(beam, scores))))
    return steps


if tp.done("decoder", "training-pass", "inference-programs", "decode-sequence",
           "beam-step", "beam-search", "hard"):
    tp.explore({"a beam of 3": partial(searched, unfinished, 3),
                "greedy": partial(searched, unfinished, 1)}, hard)

# %% [markdown]
# In translation, moderate beams usually raise BLEU (a measure of translations, session 5), and very wide ones lower it
# (Koehn & Knowles 2017, arXiv 1706.03872). Yang et al. (2018, arXiv 1808.09582) call this the **beam-search
# curse**. Stahlberg & Byrne (2019, arXiv 1908.10090) searched a Transformer's translations without any search error:
# for more than half of the sentences, the most probable translation was the empty one. These are model errors. A
# narrow beam often misses such translations.

# %% [markdown] answer="search-or-model" points=2
# **Question 3.** A translation system writes a sentence that leaves out half of the source. How do you find out whether
# this is a search error or a model error? What does a wider beam do in each of the two cases?
#
# *Minutes* 5
#
# ### BEGIN SOLUTION
# Compute the log-probability of a right translation with the training pass, and compare it with the score of the
# sentence that was written. If the right translation is more probable, the search missed it: a search error, and a
# wider beam may find it. If it is less probable, that is a model error (try several right translations, if there are
# several). A wider beam cannot help then, and may find a still more probable and still shorter sentence. Length
# normalisation changes what is compared; better training changes the model.
#
# **Rubric.** 1 point: compare the model's probability of a right translation with that of the sentence written. 1
# point: a wider beam can correct search errors only; with model errors it can make the output worse (shorter).
# ### END SOLUTION

# %% [markdown]
# ## Summary
#
# You wrote the training pass and the programs of inference, measured exposure bias, and counted search errors and model
# errors. Session 5 translates sentences.
#
# **Further reading**
#
# - Bengio, Vinyals, Jaitly & Shazeer 2015, arXiv 1506.03099: scheduled sampling. Huszár 2015, arXiv 1511.05101:
#   why its objective is improper.
# - Ranzato, Chopra, Auli & Zaremba 2016, arXiv 1511.06732: exposure bias, and training on whole sequences.
# - Stahlberg & Byrne 2019, arXiv 1908.10090: search errors and model errors.

# %% demo="progress"
tp.progress()
