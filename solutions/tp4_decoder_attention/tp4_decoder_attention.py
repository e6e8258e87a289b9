# %% [markdown]
# # TP 4 · A decoder that looks back
#
# *TP* stands for *travaux pratiques*, French for lab session. In TP 3 the decoder received the question through one
# vector, the encoder's last state. Here it receives **all** states of the encoder, and weights them anew for each
# character that it writes. This is **attention** (Bahdanau and others, 2015, arXiv:1409.0473).
#
# You write attention with loops and as one product, and put it into the decoder in two ways. Then you measure it on
# sums and on copying.
#
# **After this session you can**
#
# - compute attention with loops and as a batched product, and compare their speed;
# - say over which axis the weights must sum to 1, and find out when a tensor does not;
# - build a decoder whose prediction comes from the context, or from context and state together;
# - keep the attention weights, and read a heatmap of them;
# - compare models by kind of question and by length, and say what a few seeds can show.
#
# **Time:** {time}. **You need first** attention by hand (TP 2) and the encoder–decoder (TP 3). **Equipment** two CPU
# cores are enough; with a GPU, nothing changes but the speed.
#
# Axes by letter: **T** timesteps of the decoder, **S** timesteps of the encoder, **B** batch, **V** vocabulary, **H**
# hidden units. Tensors are *time first*.

# %% given="start"
import sys; sys.path.insert(0, "..")  # the helper package lies beside this folder
try:
    import tp
except ModuleNotFoundError as missing:
    sys.exit(f"{missing}: put this notebook back into its folder of the course, "
             "beside the folder tp, and start as the course's README says")
tp.start("tp4_decoder_attention")

# %% given="imports"
import math
import time
import warnings
from functools import partial

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from tp import calculator, races
from tp.arithmetic import encode, math_expressions_generation, one_hot

# %% [markdown]
# ## 1 · Queries and keys
#
# There are two sets of hidden vectors:
#
# - `hdec_ts`, `(T, B, H)`: the decoder's state at each of its timesteps, the **queries**;
# - `henc_ts`, `(S, B, H)`: the encoder's state after each character of the question, **keys** and **values** at once.
#
# For one sequence of the batch and one decoder timestep:
#
# 1. **scores**: the dot product of the decoder's vector with each of the S encoder vectors, S numbers;
# 2. **attention weights**: the **softmax** of these numbers, S numbers between 0 and 1 that sum to 1;
# 3. **context vector**: each encoder vector times its weight, all added up, H numbers.
#
# This is **dot-product attention** (Luong and others, 2015, arXiv:1508.04025). The weights are a softmax, not a
# log-softmax. The log-softmax is used once in this session, at the end of the decoder, for the characters.

# %% [markdown]
# ### Exercise 1 · With loops
#
# **Write** `attention_loops`: for each sequence and each decoder timestep, the three steps above. Speed does not
# matter here.
#
# - in: `hdec_ts`, `(T, B, H)`; `henc_ts`, `(S, B, H)`;
# - out: `context_vectors`, `(T, B, H)`, and `attention_weights`, `(T, B, S)`, in this order.
#
# **Example** (T = 1, B = 1, S = 2, H = 2): the decoder's vector is `[1, 0]`, the encoder's are `[0, 3]` and
# `[ln 3, 0]`. Scores `[0, ln 3]`, weights `[0.25, 0.75]`, context `[0.82, 0.75]`.
#
# *Minutes* 20 · *Difficulty* ●●○○ · *Extension*: TP 2 had them for one sequence; here you need them to compare times.
#
# <details><summary>Hint 1 · the idea</summary>
# Two loops outside: over the sequences and over the decoder's timesteps. Inside, one loop over the encoder's
# timesteps makes the scores, and another one adds up the context.
# </details>
#
# <details><summary>Hint 2 · the shape</summary>
# Inside the two loops, the decoder's vector is <code>hdec_ts[t, b]</code>, <code>(H,)</code>. The scores are
# <code>(S,)</code>, the weights are <code>(S,)</code>, the context is <code>(H,)</code>. Make the two results before
# the loops, full of zeros, and fill in a row each time.
# </details>
#
# <details><summary>Hint 3 · the line</summary>
# <code>torch.stack</code> makes one tensor of a list of tensors, here of single numbers; <code>F.softmax(…,
# dim=0)</code> is right for a tensor with one axis. Do not use <code>.item()</code>: gradients have to pass.
# </details>

# %% exercise="loops"
def attention_loops(hdec_ts, henc_ts):
    """(T, B, H), (S, B, H) → context_vectors (T, B, H), attention_weights (T, B, S)."""
    # TODO: for each sequence and each decoder timestep: scores, softmax, weighted sum
    ### BEGIN SOLUTION
    T, B, H = hdec_ts.shape
    S = len(henc_ts)
    context_vectors = hdec_ts.new_zeros(T, B, H)
    attention_weights = hdec_ts.new_zeros(T, B, S)
    for b in range(B):
        for t in range(T):
            scores = torch.stack([hdec_ts[t, b] @ henc_ts[s, b] for s in range(S)])
            weights = F.softmax(scores, dim=0)
            attention_weights[t, b] = weights
            context_vectors[t, b] = sum(weights[s] * henc_ts[s, b] for s in range(S))
    return context_vectors, attention_weights
    ### END SOLUTION

# %% check="loops" points=4
tp.check("loops")

# %% [markdown]
# The example of TP 2 that you did by hand: one decoder vector, four encoder vectors. Your function must find the same.

# %% demo="four-vectors"
if tp.done("loops"):
    asks = torch.tensor([[[10., 5, 10]]])
    four_vectors = torch.tensor([[0., 1, 1], [5, 0, 1], [1, 1, 0], [0, 5, 1]])[:, None]
    context_vectors, attention_weights = attention_loops(asks, four_vectors)
    tp.table([[str(vector), f"{weight:.1e}"]
              for vector, weight in zip(four_vectors[:, 0].tolist(),
                                        attention_weights[0, 0])],
             ["encoder vector", "weight"])
    print("context", [f"{c:.4f}" for c in context_vectors[0, 0]])

# %% [markdown]
# ### Exercise 2 · As one product
#
# For each sequence, all those dot products are one matrix product, and torch computes all sequences in one call. In
# TP 2 you wrote it batch first. Here time comes first, so every axis has another position.
#
# **Write** `attention_batched`: the same function, without a loop.
#
# - in and out: as in exercise 1.
#
# **Example.** With T = 11, S = 7, B = 64, H = 128 there are 11 · 64 · 7 = 4928 dot products. The scores have shape
# `(11, 64, 7)`, and one call makes them.
#
# *Minutes* 10 · *Difficulty* ●●○○
#
# <details><summary>Hint 1 · the idea</summary>
# Two products and a softmax between them. The first product sums over H and leaves T and S. The second sums over S
# and leaves T and H. B stays in both, because each sequence of the decoder attends to its own encoder states only.
# </details>
#
# <details><summary>Hint 2 · the shape</summary>
# <code>torch.einsum</code> names each axis by a letter: two inputs with three letters each, one result with three
# letters. With <code>torch.bmm</code> the batch must come first, so <code>transpose</code> before and after.
# (<code>view</code> and <code>reshape</code> do not move axes, they only cut the same numbers in another way.)
# </details>
#
# <details><summary>Hint 3 · the line</summary>
# The first product is <code>einsum("tbh,sbh->…", hdec_ts, henc_ts)</code>: which three letters are the scores? The
# softmax goes over the letter s.
# </details>

# %% exercise="batched"
def attention_batched(hdec_ts, henc_ts):
    """(T, B, H), (S, B, H) → context_vectors (T, B, H), attention_weights (T, B, S).

    No loop.
    """
    # TODO: all scores in one product, softmax over the encoder's timesteps,
    # all contexts in one product
    ### BEGIN SOLUTION
    scores = torch.einsum("tbh,sbh->tbs", hdec_ts, henc_ts)
    attention_weights = F.softmax(scores, dim=-1)
    context_vectors = torch.einsum("tbs,sbh->tbh", attention_weights, henc_ts)
    return context_vectors, attention_weights
    ### END SOLUTION

# %% check="batched" points=4
tp.check("batched")


# %% [markdown]
# Now measure forward and backward on your machine, for a batch as in training. torch has attention built in, too. It
# does not return its weights, so you cannot draw a heatmap from it, but you can compare its time with yours.

# %% demo="measure"
def seconds_for(attention, repeats, T=11, S=7, B=64, H=128):
    """Seconds for one forward and backward pass of `attention`, the best of `repeats`.

    Returns them and the context vectors.
    """
    torch.manual_seed(0)
    hdec_ts, henc_ts = (torch.randn(T, B, H, requires_grad=True),
                        torch.randn(S, B, H, requires_grad=True))
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        context_vectors = attention(hdec_ts, henc_ts)[0]
        context_vectors.sum().backward()
        times.append(time.perf_counter() - start)
    return min(times), context_vectors.detach()


def attention_built_in(hdec_ts, henc_ts):
    """torch's own; `scale=1` because it would divide the scores by √H otherwise."""
    batch_first = [x.transpose(0, 1) for x in (hdec_ts, henc_ts, henc_ts)]
    return F.scaled_dot_product_attention(*batch_first, scale=1.0).transpose(0, 1), None


if tp.done("loops", "batched"):
    slow, context_loops = seconds_for(attention_loops, 2)
    rows = [["loops", f"{1000 * slow:.1f} ms", "1", ""]]
    for name, attention in {"one product": attention_batched,
                            "built in": attention_built_in}.items():
        fast, context = seconds_for(attention, 30)
        rows.append([name, f"{1000 * fast:.2f} ms", f"{slow / fast:.0f}",
                     f"{(context - context_loops).abs().max():.0e}"])
    tp.table(rows, ["attention", "forward and backward", "times as fast",
                    "largest difference"])

# %% [markdown]
# The results are the same up to rounding. The loops take hundreds of times as long, because Python calls torch once
# for each dot product. If one pass takes 0.9 s, the attention of 1200 steps takes 18 minutes.
#
# ## 2 · Which axis?
#
# The scores have three axes, `(T, B, S)`, and the softmax must run over the last one: *for each decoder timestep and
# each sequence, the weights of the S encoder timesteps sum to 1*. Over another axis the shape is the same, and torch
# raises no error. So write a function that finds the axis.

# %% [markdown]
# ### Exercise 3 · A detector
#
# **Write** `axes_that_sum_to_one`.
#
# - in: `x`, a float tensor with any number of axes;
# - out: the list of the axes along which *all* sums of `x` are 1, up to rounding (1e-4), in rising order, counted
#   from 0.
#
# **Examples.** `[[0.2, 0.8], [0.5, 0.5]]` gives `[1]`: each row sums to 1, the columns do not.
# `[[0.5, 0.5], [0.5, 0.5]]` gives `[0, 1]`. `[[1.0, 2.0]]` gives `[]`.
#
# *Minutes* 10 · *Difficulty* ●○○○
#
# <details><summary>Hint 1 · the idea</summary>
# Try each axis in turn. Sum over it, and see whether everything that comes out is 1.
# </details>
#
# <details><summary>Hint 2 · the shape</summary>
# <code>x.sum(axis)</code> has one axis less than <code>x</code>. One single sum that is not 1 is enough to say no.
# </details>
#
# <details><summary>Hint 3 · the line</summary>
# <code>x.dim()</code> is the number of axes. Sums of floating-point numbers are rarely exactly 1. Compare the
# distance from 1, or use <code>torch.allclose</code>.
# </details>

# %% exercise="axes"
def axes_that_sum_to_one(x):
    """The axes along which all sums of `x` are 1, up to 1e-4: a list of ints."""
    # TODO: for each axis, are all sums over it close to 1?
    ### BEGIN SOLUTION
    return [axis for axis in range(x.dim()) if ((x.sum(axis) - 1).abs() < 1e-4).all()]
    ### END SOLUTION

# %% check="axes" points=2
tp.check("axes")

# %% [markdown]
# **Predict first.** `scores` has shape `(T, B, S)` = (4, 3, 5). Over which axis does `F.softmax(scores)` run without
# a `dim`? And what does `F.log_softmax(scores)` sum to? Then run the cell.

# %% demo="without-dim"
if tp.done("axes"):
    torch.manual_seed(0)
    scores = torch.randn(4, 3, 5)
    letters = "TBS"
    with warnings.catch_warnings():
        # torch does warn; few people read it among a thousand other lines
        warnings.simplefilter("ignore")
        tried = {"F.softmax(scores, dim=2)": F.softmax(scores, dim=2),
                 "F.softmax(scores)": F.softmax(scores),
                 "F.log_softmax(scores, dim=2)": F.log_softmax(scores, dim=2),
                 "F.log_softmax(scores, dim=2).exp()":
                     F.log_softmax(scores, dim=2).exp(),
                 "F.log_softmax(scores).exp()": F.log_softmax(scores).exp()}
    tp.table([[code,
               " ".join(letters[axis] for axis in axes_that_sum_to_one(x)) or "none",
               f"{x.min():.2f} … {x.max():.2f}"]
              for code, x in tried.items()], ["code", "sums to 1 over", "values"])

# %% [markdown]
# Two errors keep the shape of the weights.
#
# - **No `dim`.** On three axes torch takes the first one, which is time here. The weights of the *decoder's
#   timesteps* then sum to 1 for each encoder vector, and a timestep of the answer depends on later ones.
# - **log-softmax for the weights.** None of its values is positive, and they do not sum to 1. A weighted sum with
#   them *subtracts* encoder vectors, and the one with the lowest score most.
#
# Without `dim`, the log-softmax at the decoder's end runs over time, too, and not over the characters.
#
# ## 3 · Attention in the decoder
#
# ![The decoder with attention: the GRU makes the decoder states, each is compared with all encoder states by a dot
# product, a softmax over S makes the weights, the weighted sum of the encoder states is the context, and the context
# alone goes through the linear layer and the log-softmax; the weights are kept for the
# heatmap](figures/decoder_with_attention.svg)
#
# Attention comes **after** the GRU. The GRU runs as in TP 3, from `hdec_init`, over what it reads. Its states are the
# queries. The context goes to the linear layer **instead of** the states: the context alone predicts the character.
# `hdec_final` stays what it was, the last state of the GRU.
#
# A short question ends with rows of zeros. They go through the encoder too, and the decoder can attend to their
# states. TP 2 and TP 6 mask them; here they stay, so that the code is short.
#
# The encoder of TP 3 is given, and so is a GRU behind an embedding, as in section 6 of TP 3.

# %% given="encoder"
class EncoderRNN(nn.Module):
    """Reads a question: one-hot characters (S, B, V) → hidden states."""

    def __init__(self, input_size, hidden_size, device):
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.device = device
        self.gru = nn.GRU(input_size, hidden_size).to(device)

    def forward(self, encoder_input, henc_init=None):
        """(S, B, V), (1, B, H) or None → henc_ts (S, B, H), henc_final (1, B, H)."""
        henc_ts, henc_final = self.gru(encoder_input, henc_init)
        return henc_ts, henc_final


class EmbeddedGRU(nn.Module):
    """A GRU behind an embedding, called like `nn.GRU`.

    One-hot (T, B, V) → hidden states.
    """

    def __init__(self, vocabulary_size, embedding_size, hidden_size):
        super().__init__()
        self.input_size, self.hidden_size = vocabulary_size, hidden_size
        self.embedding = nn.Parameter(torch.randn(vocabulary_size, embedding_size))
        self.gru = nn.GRU(embedding_size, hidden_size)

    def forward(self, input, hx=None):
        """(T, B, V), (1, B, H) → (T, B, H), (1, B, H)."""
        return self.gru(input @ self.embedding, hx)

# %% [markdown]
# ### Exercise 4 · The decoder with attention
#
# **Write** `DecoderRNN.forward`.
#
# - in: `decoder_input`, `(T, B, V)`, where T may be 1; `hdec_init`, `(1, B, H)`; `henc_ts`, `(S, B, H)`, or `None`
#   when there is no attention;
# - out: `output`, `(T, B, V)`, log-probabilities of the characters, and `hdec_final`, `(1, B, H)`;
# - and beside them: with attention, the weights are kept as `self.attention_weights`, `(T, B, S)`.
#
# With `self.attention` false, it works as in TP 3: copy your two lines, or write them again. With `self.attention`
# true, the context alone predicts the character.
#
# Each exercise is graded by itself. Write the three or four lines of attention again, so that an error in exercise 2
# costs no points here. Keep the two softmaxes apart: the **weights** are a softmax (they sum to 1 over S), the
# **output** is a log-softmax (log-probabilities over V).
#
# **Example.** T = 3, B = 64, H = 128, S = 5, V = 13: `output` is `(3, 64, 13)` and `output.exp()` sums to 1 over the
# last axis; `self.attention_weights` is `(3, 64, 5)` and sums to 1 over its last axis; `hdec_final` is
# `(1, 64, 128)`.
#
# *Minutes* 25 · *Difficulty* ●●○○
#
# <details><summary>Hint 1 · the idea</summary>
# The GRU comes first in both cases. Then either the decoder's states or the context vectors go to the linear layer.
# </details>
#
# <details><summary>Hint 2 · the shape</summary>
# <code>hdec_ts</code> and <code>context_vectors</code> have the same shape, <code>(T, B, H)</code>: the linear layer
# takes either. If you exchange them, no shape changes, so check which one you pass.
# </details>
#
# <details><summary>Hint 3 · the line</summary>
# A tensor becomes an attribute by <code>self.attention_weights = …</code>, and can be used under that name in the
# next line. It holds all T timesteps: if you loop over time, collect the rows first.
# </details>

# %% exercise="decoder"
class DecoderRNN(nn.Module):
    """Writes an answer, one character after the other.

    From the characters already written (T, B, V) it gives the log-probabilities of
    the next ones (T, B, V).
    """

    def __init__(self, hidden_size, output_size, device, attention=False):
        super().__init__()
        self.hidden_size = hidden_size
        self.output_size = output_size
        self.device = device
        self.attention = attention
        self.attention_weights = None  # (T, B, S) after a call with attention
        self.gru = nn.GRU(output_size, hidden_size).to(device)
        self.linear = nn.Linear(hidden_size, output_size).to(device)

    def forward(self, decoder_input, hdec_init, henc_ts=None):
        """(T, B, V), (1, B, H), (S, B, H) or None → output (T, B, V), hdec_final.

        The output are log-probabilities; hdec_final is (1, B, H).
        """
        # TODO: the GRU; without attention, predict from its states;
        # with attention, from the context, and keep the weights
        ### BEGIN SOLUTION
        hdec_ts, hdec_final = self.gru(decoder_input, hdec_init)
        if not self.attention:
            return F.log_softmax(self.linear(hdec_ts), dim=-1), hdec_final

        scores = torch.einsum("tbh,sbh->tbs", hdec_ts, henc_ts)
        self.attention_weights = F.softmax(scores, dim=-1)
        context_vectors = torch.einsum("tbs,sbh->tbh", self.attention_weights, henc_ts)
        output = F.log_softmax(self.linear(context_vectors), dim=-1)
        return output, hdec_final
        ### END SOLUTION

# %% check="decoder" points=8
tp.check("decoder")


# %% [markdown]
# ### Exercise 5 · The whole model passes everything on
#
# ![The whole model with attention: encoder cells read the question, decoder cells read the answer so far; one attention
# block lies above both, all encoder states go in and each decoder state asks; a context comes out on top for each
# decoder timestep, and predicts a character](figures/seq2seq_attention.svg)
#
# The frame around your forward pass is that of TP 3, `tp.calculator.Calculator`: data, alphabets, optimizer, loss,
# answers.

# %% given="calculator"
class Calculator(calculator.Calculator):
    """All of the model but its forward pass, with your encoder and your decoder."""

    answer_reversed = True  # as the questions are, so that a person can be shown both

    def parts(self, hidden_size):
        encoder = EncoderRNN(self.encoder_vocabulary_size, hidden_size, self.device)
        decoder = DecoderRNN(hidden_size, self.decoder_vocabulary_size, self.device,
                             self.attention)
        return encoder, decoder

# %% [markdown]
# **Write** `Seq2seq.forward`: your forward pass of TP 3, with two things more.
#
# - in: `encoder_input`, `(S, B, V_enc)`; `decoder_input`, `(T, B, V_dec)` or `None`; `teacher_enforce`; `inference`,
#   all as in TP 3;
# - out: log-probabilities, `(T, B, V_dec)`, as in TP 3;
# - **new:** the decoder gets `henc_ts` at *every* call, all of it;
# - **new:** when `self.attention` is true, the weights of the whole answer are kept as `self.attention_weights`,
#   `(T, B, S)`. Each call of the decoder leaves those of its own timesteps in `self.decoder.attention_weights`. In
#   free running these are `(1, B, S)` each time, and must be collected.
#
# A reminder of the rest: free running starts from `GO` and the encoder's last state, reads its own arg-max as
# one-hot, carries the hidden state, and makes `self.max_decoder_sequence_length` timesteps; inference is free running
# on a batch of one that stops at `EOS`.
#
# **Example.** A free run with T = 5, B = 64, S = 5 calls the decoder five times; afterwards `self.attention_weights`
# is `(5, 64, 5)`.
#
# *Minutes* 20 · *Difficulty* ●●○○
#
# <details><summary>Hint 1 · the idea</summary>
# The encoder runs once, and <code>henc_ts</code> does not change while the answer is written. Only the query changes.
# </details>
#
# <details><summary>Hint 2 · the shape</summary>
# T pieces of <code>(1, B, S)</code>, joined along time, make <code>(T, B, S)</code>. You do the same with the outputs
# already.
# </details>
#
# <details><summary>Hint 3 · the line</summary>
# In teacher forcing one call fills the decoder's <code>attention_weights</code> with all T timesteps: copy the
# attribute. In the loop, append it to a list after each call, and <code>torch.cat</code> at the end, but only with
# attention.
# </details>

# %% exercise="seq2seq"
class Seq2seq(Calculator):
    """Questions in, answers out.

    With attention, the decoder sees all states of the encoder.
    """

    def forward(self, encoder_input, decoder_input=None, teacher_enforce=True,
                inference=False):
        """(S, B, V_enc), (T, B, V_dec) or None → log-probabilities (T, B, V_dec)."""
        # TODO: as in TP 3; henc_ts goes to the decoder at every call, and the
        # attention weights are kept
        ### BEGIN SOLUTION
        henc_ts, henc_final = self.encoder(encoder_input)
        if teacher_enforce and not inference:
            output, _ = self.decoder(decoder_input, henc_final, henc_ts)
            self.attention_weights = self.decoder.attention_weights
            return output

        B, V = encoder_input.shape[1], self.decoder_vocabulary_size
        written = torch.full(
            (1, B), self.decoder_char_index[self.GO], device=self.device)
        hidden, outputs, weights = henc_final, [], []
        for _ in range(self.max_decoder_sequence_length):
            output, hidden = self.decoder(
                F.one_hot(written, V).float(), hidden, henc_ts)
            outputs.append(output)
            weights.append(self.decoder.attention_weights)
            written = output.argmax(-1)
            if inference and written.item() == self.decoder_char_index[self.EOS]:
                break
        if self.attention:
            self.attention_weights = torch.cat(weights)
        return torch.cat(outputs)
        ### END SOLUTION

# %% check="seq2seq" points=6
tp.check("seq2seq")


# %% [markdown]
# Look at the maps before you train. The weights of a model without training are nearly even, so each context is close
# to the mean of the encoder's states.

# %% given="look"
def decoding(model, question):
    """Ask `model` one question as a person writes it.

    Returns a list of `tp.Step`, one for each character that it writes.
    """
    asked = question[::-1] if model.input_reversed else question
    encoder_input, _, _ = model.encode([asked], [""])
    with torch.no_grad():
        output = model(encoder_input, teacher_enforce=False, inference=True)[:, 0]
    written = [model.decoder_index_char[i] for i in output.argmax(-1).tolist()]
    steps = [tp.Step(read, wrote,
                     dict(zip(model.decoder_char_index, row.exp().tolist())))
             for read, wrote, row in zip([model.GO, *written], written, output)]
    if model.attention:
        with torch.no_grad():
            henc_ts = model.encoder(encoder_input)[0][:, 0]
        for step, weights in zip(steps, model.attention_weights[:, 0]):
            # a dash is a row of zeros
            step.source = list(asked.ljust(len(encoder_input), "–"))
            step.weights, step.context = weights.cpu(), weights @ henc_ts
    return steps


def look(model, question, numbers=None):
    """Show what `model` answers, and as a map where it looks while it writes."""
    steps = decoding(model, question)
    written = [step.written for step in steps]
    answer = "".join(written).split(model.EOS)[0]
    title = f"{question} → {answer[::-1] if model.answer_reversed else answer}"
    return tp.attention_heatmap(torch.stack([step.weights for step in steps]),
                                steps[0].source, written,
                                title=title, numbers=numbers)

# %% demo="untrained"
if tp.done("decoder", "seq2seq"):
    torch.manual_seed(0)
    X, y = math_expressions_generation(400, n_digits=2, operators="+-", seed=0)
    look(Seq2seq(X, y, hidden_size=64, attention=True), "94+8")

# %% [markdown]
# ## 4 · Context and state together
#
# So far the context alone predicts the character. What only the decoder state contains (a carry, the number of
# characters already written) can change the output only through the attention weights. A second design gives both to
# the output:
#
# ![Attention beside the decoder state: the state is compared with all encoder states, a softmax over S gives the
# weights, their weighted sum the context; state and context are concatenated to 2H numbers, then comes a dense layer
# of 64 units with tanh, then a dense layer with log-softmax over V](figures/decoder_concat_attention.svg)
#
# The state, `(T, B, H)`, and the context, `(T, B, H)`, are concatenated, `(T, B, 2H)`. They go through a layer of 64
# units with tanh, a linear layer to V numbers, and a log-softmax. The concatenation with its tanh layer is Luong's
# **attentional layer** (Luong and others, 2015), here narrowed to 64 units.

# %% [markdown]
# ### Exercise 6 · Concatenate
#
# **Write** the two layers and `predict` of `ConcatDecoderRNN`. Its `forward` is given: it calls your
# `attention_batched`, and then your `predict`.
#
# - layers: `self.dense_tanh`, an `nn.Linear` from 2H to 64; `self.dense_final`, an `nn.Linear` from 64 to V;
# - `predict` in: `hdec_ts`, `(T, B, H)`, and `context_vectors`, `(T, B, H)`;
# - `predict` out: `output`, `(T, B, V)`, log-probabilities: **state first, then context**, side by side;
#   `dense_tanh`, tanh, `dense_final`, log-softmax.
#
# **Example.** State `[1, 2]` and context `[3, 4]` become `[1, 2, 3, 4]`.
#
# *Minutes* 15 · *Difficulty* ●○○○
#
# <details><summary>Hint 1 · the idea</summary>
# Four operations, in the order of the text. The tanh comes between the two layers. Without it, two linear layers
# compute a linear function, as one layer does.
# </details>
#
# <details><summary>Hint 2 · the shape</summary>
# Joined along the last axis: <code>(T, B, H)</code> and <code>(T, B, H)</code> make <code>(T, B, 2H)</code>. Joined
# along the first axis they would make twice as many timesteps.
# </details>
#
# <details><summary>Hint 3 · the line</summary>
# <code>torch.cat([…, …], dim=…)</code>, <code>torch.tanh</code>, <code>F.log_softmax(…, dim=…)</code>.
# </details>

# %% exercise="concat"
class ConcatDecoderRNN(nn.Module):
    """A decoder that predicts from its state and its context, like `DecoderRNN`."""

    def __init__(self, hidden_size, output_size, device, attention=True):
        super().__init__()
        self.hidden_size = hidden_size
        self.output_size = output_size
        self.device = device
        self.attention = attention
        self.attention_weights = None  # (T, B, S) after a call
        self.gru = nn.GRU(output_size, hidden_size)
        # TODO: self.dense_tanh from 2H to 64, self.dense_final from 64 to V
        ### BEGIN SOLUTION
        self.dense_tanh = nn.Linear(2 * hidden_size, 64)
        self.dense_final = nn.Linear(64, output_size)
        ### END SOLUTION
        self.to(device)

    def predict(self, hdec_ts, context_vectors):
        """State (T, B, H) and context (T, B, H) → log-probabilities (T, B, V)."""
        # TODO: side by side, state first; dense_tanh, tanh, dense_final, log-softmax
        ### BEGIN SOLUTION
        both = torch.cat([hdec_ts, context_vectors], dim=-1)
        hidden = torch.tanh(self.dense_tanh(both))
        return F.log_softmax(self.dense_final(hidden), dim=-1)
        ### END SOLUTION

    def forward(self, decoder_input, hdec_init, henc_ts):
        """(T, B, V), (1, B, H), (S, B, H) → output (T, B, V), hdec_final (1, B, H)."""
        hdec_ts, hdec_final = self.gru(decoder_input, hdec_init)  # as in TP 3
        context_vectors, self.attention_weights = attention_batched(hdec_ts, henc_ts)
        return self.predict(hdec_ts, context_vectors), hdec_final

# %% check="concat" points=4
tp.check("concat")


# %% [markdown]
# ## 5 · A fair comparison
#
# You will train several models. One number does not say whether they fail on subtractions or on long questions. So
# count right answers by group. The measure is **exact match**: an answer counts if every character is right.

# %% [markdown]
# ### Exercise 7 · Exact match by group
#
# **Write** `exact_match_by`.
#
# - in: `group_of`, a function from a question to its group (`len`, for example); `questions`, `written`, `truth`:
#   three lists of strings of the same length;
# - out: a dict, group → share of the questions *of this group* whose written answer equals the true one, a number
#   between 0 and 1.
#
# **Example.** `exact_match_by(len, ["1+1", "2+3", "10+5"], ["2", "6", "15"], ["2", "5", "15"])` gives `{3: 0.5, 4:
# 1.0}`.
#
# *Minutes* 10 · *Difficulty* ●○○○
#
# <details><summary>Hint 1 · the idea</summary>
# Go through the three lists together. Collect right or wrong for each group, then take the mean of each group.
# </details>
#
# <details><summary>Hint 2 · the shape</summary>
# A dict whose values are lists of booleans. The group is made from the question, not from the answer.
# </details>
#
# <details><summary>Hint 3 · the line</summary>
# <code>zip(questions, written, truth)</code>, <code>groups.setdefault(group, []).append(…)</code>, and
# <code>sum(values) / len(values)</code>: <code>True</code> counts as 1.
# </details>

# %% exercise="groups"
def exact_match_by(group_of, questions, written, truth):
    """Share of right answers in each group: a dict {group: number in 0 … 1}.

    `group_of(question)` is the group of a question.
    """
    # TODO: collect right and wrong for each group, then take the mean of each
    ### BEGIN SOLUTION
    right = {}
    for question, answer, wanted in zip(questions, written, truth):
        right.setdefault(group_of(question), []).append(answer == wanted)
    return {group: sum(values) / len(values) for group, values in right.items()}
    ### END SOLUTION

# %% check="groups" points=3
tp.check("groups")


# %% [markdown]
# Now the tasks and the training. The recipe is that of TP 3: question and answer written backwards, an embedding, a
# one-cycle learning rate, fresh samples in each batch. Numbers have at most two digits, so that one training takes
# about half a minute.

# %% given="train"
def build(decoder, attention, X, y):
    """A model for these questions and answers, with an embedding before each GRU."""
    model = Seq2seq(X, y, hidden_size=128, attention=attention)
    model.decoder = decoder(128, model.decoder_vocabulary_size, model.device, attention)
    model.encoder.gru = EmbeddedGRU(model.encoder_vocabulary_size, 32, 128)
    model.decoder.gru = EmbeddedGRU(model.decoder_vocabulary_size, 32, 128)
    return model.to(model.device)


def train(draw, steps, title, decoder, attention, teacher_enforce=True, seed=0):
    """A new model, trained for `steps` batches of the task `draw`.

    `decoder` is the class of its decoder.
    """
    return races.train(partial(build, decoder, attention), draw, steps, title,
                       teacher_enforce, seed)

# %% [markdown]
# ### Four runs
#
# Train four models, with and without attention, with teacher forcing and in **free running** (the decoder reads its
# own output in training). All get the same number of steps. **Before you run it,** write down which one you expect to
# win.

# %% training="four-runs"
STEPS = 1200  # for each run

if tp.done("decoder", "seq2seq"):
    four = {}
    for attention in (False, True):
        for teacher_enforce in (True, False):
            name = (f"{'context alone' if attention else 'no attention'}, "
                    f"{'teacher forcing' if teacher_enforce else 'free running'}")
            four[name] = train(races.sums, STEPS, name, DecoderRNN, attention,
                               teacher_enforce)

# %% [markdown]
# All four are measured in the same way: free running, on held-out questions, whole answers. Training with teacher
# forcing or without it does not change the test.

# %% demo="four-compared"
if tp.done("decoder", "seq2seq", "groups", "four"):
    races.compare(exact_match_by, four, {"operation": races.operation, "length": len})

# %% [markdown]
# Your table has one run of each model. Compare it with three seeds of each. Exact match in %, the median, in brackets
# the lowest and the highest:
#
# | model | sums | differences |
# |---|---|---|
# | no attention, teacher forcing | 98.8 (98.1–99.5) | 95.6 (92.9–96.5) |
# | no attention, free running | 99.1 (97.1–99.4) | 94.5 (93.6–96.2) |
# | context alone, teacher forcing | 1.2 (1.0–11.7) | 4.2 (2.6–14.8) |
# | context alone, free running | 1.0 (0.3–30.8) | 2.5 (1.7–14.1) |
#
# With the context alone, the model is far worse than without attention, in every run. Before you read on, look for
# reasons. How many characters of `57+68` does the answer depend on? How many numbers does the encoder's last state
# have? What predicts the character in these two models?
#
# The table has limits. Only 20 of the 2000 held-out questions have three characters, so that column of your table
# varies much. If two models did not differ, the ranges of three seeds each would lie apart once in ten by chance.
# Between free running and teacher forcing they overlap. Call `train` again with `seed=1` before you draw a conclusion
# from one run.
#
# ### Is it attention, or is it the output layer?
#
# The two models differ in the attention and in the input of the output layer. Four more designs separate the two:
#
# - `AddedDecoderRNN` adds the context to the state, and predicts from the sum;
# - `ConcatDecoderRNN` is yours: state and context are concatenated and go through the layer of 64 units with tanh;
# - `WideDecoderRNN` is yours without that layer: state and context go straight to the characters;
# - `LayerDecoderRNN` is yours without attention: zeros replace the context, the layer stays.
#
# **Write down** before you run it which of the four you expect to be as good as no attention.

# %% training="four-designs"
class AddedDecoderRNN(DecoderRNN):
    """The context is added to the state, and the sum predicts the character."""

    def forward(self, decoder_input, hdec_init, henc_ts):
        hdec_ts, hdec_final = self.gru(decoder_input, hdec_init)  # as in TP 3
        context_vectors, self.attention_weights = attention_batched(hdec_ts, henc_ts)
        return F.log_softmax(self.linear(hdec_ts + context_vectors), dim=-1), hdec_final


class WideDecoderRNN(DecoderRNN):
    """State and context, side by side, predict the character; no layer in between."""

    def __init__(self, hidden_size, output_size, device, attention=True):
        super().__init__(hidden_size, output_size, device, attention)
        self.linear = nn.Linear(2 * hidden_size, output_size)

    def forward(self, decoder_input, hdec_init, henc_ts):
        hdec_ts, last = self.gru(decoder_input, hdec_init)
        context_vectors, self.attention_weights = attention_batched(hdec_ts, henc_ts)
        wide = torch.cat((hdec_ts, context_vectors), -1)
        return F.log_softmax(self.linear(wide), dim=-1), last


class LayerDecoderRNN(ConcatDecoderRNN):
    """No attention: zeros in the place of the context.

    The layer of 64 units with tanh is there as before.
    """

    def forward(self, decoder_input, hdec_init, henc_ts):
        hdec_ts, last = self.gru(decoder_input, hdec_init)
        return self.predict(hdec_ts, torch.zeros_like(hdec_ts)), last


if tp.done("batched", "decoder", "seq2seq", "concat"):
    designs = {name: train(races.sums, STEPS, name, decoder, attention)
               for name, (decoder, attention) in {
                   "context added": (AddedDecoderRNN, True),
                   "concatenated": (ConcatDecoderRNN, True),
                   "concatenated, no layer": (WideDecoderRNN, True),
                   "the layer, no attention": (LayerDecoderRNN, False)}.items()}

# %% demo="designs-compared"
if tp.done("batched", "decoder", "seq2seq", "concat", "groups", "four", "designs"):
    races.compare(exact_match_by,
                  {"no attention": four["no attention, teacher forcing"], **designs},
                  {"operation": races.operation, "length": len})

# %% [markdown]
# One run is not enough for a comparison. We also trained the designs apart from this notebook, with three seeds each
# and the same 1200 steps, and tried other layers. Exact match in %, the median of three seeds, in brackets the lowest
# and the highest:
#
# | what predicts | no layer | 64 linear | 64 ReLU | 64 tanh | 256 tanh |
# |---|---|---|---|---|---|
# | state, no attention | 96 (91–96) | | | 12 (9–14) | |
# | state and context, concatenated | 99 (99–99) | 99 (99–99) | 11 (10–41) | 10 (9–10) | 84 (78–95) |
# | state and context, added | 97 (97–98) | | | | |
# | context alone | 3 (2–8) | | | | |
#
# Three seeds do not span all that can happen. When we executed this notebook, the layer without attention had 30 % of
# the differences and 32 % of the sums. The context alone had up to 31 % of the sums in the table before.
#
# - **Attention, without the layer, shows no loss here and may gain a few points.** Concatenated, it had 99 % against
#   96 % (91–96) without attention. With three seeds each, such a gap happens once in ten by chance. In the table
#   before, the same model without attention had about 97 %.
# - **The layer of 64 tanh units goes with the loss**, with attention (9–10 %) and without it (9–14 %). A linear layer
#   of 64 units does not: 99 %. So the width alone is not the reason.
# - **With 256 tanh units** the model had 78 to 95 %, so with tanh the width matters. ReLU with 64 units had 10, 11
#   and 41 %.
# - **Most tanh units are saturated.** When it ends, 86 to 91 % of what goes into the 64 tanh units is beyond ±2. The
#   slope of tanh is below 0.08 there, so that little gradient passes. This is a possible reason, not a tested one.
# - **1200 steps decide much.** With an LSTM in place of the GRU, the same decoder had 20 to 75 %, depending on the
#   seed. TP 5 uses an LSTM and this layer, and may show you other numbers.
# - **The context alone** stayed at 2 to 8 %. What the decoder state contains, such as a carry, reaches the output
#   only through the weights. That may be the reason; we did not test it.
#
# **What these runs cannot show:** all of them use one peak learning rate, 0.006. With a lower rate or more steps the
# layer may do well. Nothing here says that Luong's attentional layer is bad.
#
# Attention gains at most a few points on these sums. There are at most five characters, most of them matter for the
# answer, and the last state alone allows more than 90 %.
#
# ## 6 · Attention maps
#
# Choose your own expressions. The question stands above the map in the order in which the encoder reads it,
# backwards. The answer stands on the left, units first, from top to bottom. A dash is a row of zeros after a short
# question.

# %% demo="where"
if tp.done("designs"):
    for question in ["94+8", "57+68"]:
        look(designs["context added"], question)

# %% [markdown]
# Now go step by step: choose a model, type an expression, move through the answer. Each step shows what the decoder
# reads, its attention weights, the length of its context vector, and the probability of what it writes.

# %% demo="explore"
if tp.done("four", "designs"):
    chosen = {**designs, "context alone": four["context alone, teacher forcing"],
              "no attention": four["no attention, teacher forcing"]}
    tp.explore({name: partial(decoding, model) for name, model in chosen.items()},
               "57+68")

# %% [markdown]
# A column of the map is a *prefix*, not a character: the encoder's state at a position depends on all characters up
# to it. The question `57+68` is read as `86+75`. In our run the answer to `57+68` was right. For the units the weight
# was on `7`: the prefix `86+7` contains both unit digits, `8` and `7`. For the tens it was on `5`, where the whole
# question has been read. For the hundreds it was on `+`: the prefix `86+` contains only one of the two numbers. So
# this digit must depend on the decoder state, too.
#
# The weights show what the decoder **attends to**. The state is added to the context, and the map does not show what
# came through the state. Whether attention weights explain a prediction is disputed (Jain and Wallace, 2019,
# arXiv:1902.10186; Wiegreffe and Pinter, 2019, arXiv:1908.04626).
#
# ## 7 · A task where attention decides
#
# In the **copy task** the network reads 6 to 14 letters and must write them again. A decoder without attention must
# keep all letters in one vector of 128 numbers. The models and the recipe are the same as before; only the strings
# are others.

# %% training="copies"
COPY_STEPS = 400

if tp.done("batched", "decoder", "seq2seq", "concat"):
    copiers = {name: train(races.copies, COPY_STEPS, f"copy: {name}",
                           decoder, attention)
               for name, (decoder, attention) in {
                   "no attention": (DecoderRNN, False),
                   "context alone": (DecoderRNN, True),
                   "concatenated": (ConcatDecoderRNN, True)}.items()}
    copiers["no attention"].evaluate(5)
    copiers["concatenated"].evaluate(5)

# %% demo="copies-compared"
if tp.done("decoder", "seq2seq", "concat", "groups", "copiers"):
    races.compare(exact_match_by, copiers, {"letters": len})
    for name in ("concatenated", "context alone"):
        look(copiers[name], "headcabbage", numbers=False)

# %% [markdown]
# On copies, attention is ahead. In our runs (400 steps; three seeds, and the one of this notebook) the model without
# attention copied 57 to 59 % of the strings of 6 letters, 3 to 9 % of those of 10, none of 13. Concatenated, it was
# 97 to 100 % up to 13 letters, and 89 to 96 % at 14. The context alone had 93 to 100 % up to 13 letters, and 19 to
# 24 % at 14. A question below asks you why.
#
# The map is a diagonal: at step t the weight is on letter t. Such a map is called an **alignment**: attention
# **aligns** the answer with the question.
#
# ## 8 · Questions

# %% [markdown] answer="how-attention-works" points=3
# **Question.** The decoder with attention writes the second character of an answer. Say step by step what happens, from
# the character it reads to the log-probabilities, with the shape of each tensor for B = 1, S = 5, H = 128, V = 13.
# Which tensors were computed once for the whole answer, and which anew at this timestep?
#
# *Minutes* 8
#
# ### BEGIN SOLUTION
# The first character, one-hot (1, 1, 13), goes into the GRU together with the state left by the first timestep,
# (1, 1, 128). The new state (1, 1, 128) is compared with each of the five encoder vectors by a dot product: scores
# (1, 1, 5). A softmax over the last axis, the encoder's timesteps, gives weights (1, 1, 5) that sum to 1. The encoder
# vectors, each times its weight, are added up: context (1, 1, 128). The linear layer makes 13 numbers of the context,
# the log-softmax over them gives (1, 1, 13). Computed once: `henc_ts` (5, 1, 128). Anew at each timestep: decoder
# state, scores, weights, context, output.
#
# **Rubric.** 1 point: the order GRU, scores, softmax, weighted sum, linear, log-softmax. 1 point: shapes, and the axis
# of each softmax. 1 point: `henc_ts` is computed once and must be kept, everything else is new at each timestep.
# ### END SOLUTION

# %% [markdown] answer="with-or-without" points=3
# **Question.** At inference on sums, with or without attention: is there a difference in your measurements, and why?
# Compare with copying. Use your tables and at least one heatmap.
#
# *Minutes* 8
#
# ### BEGIN SOLUTION
# On sums, attention beside the state gains a few points at most. In the notebook, no attention had 94.5 % of the
# differences and 98.1 % of the sums; the context added, 98.2 and 99.4 %. With three seeds each, the concatenated
# model without a layer had 99 % (99–99) against 96 % (91–96). With the context alone the model is far behind, and
# with the tanh layer too, with attention or without it. The question is short: one vector of 128 numbers is enough
# for more than 90 % of the answers. Most characters matter (both digits of a column, the operator, the carry, for a
# difference the sign). So there is little to select. With the context alone, what the decoder computed itself (the
# carry) reaches the output only through the weights. With the context added to the state or beside it, the gap is
# gone. On copying each character of the answer depends on exactly one character of the question, its position is
# known, and the question may be long. The heatmap is a diagonal, and the model without attention falls from 57 % at 6
# letters to 0 % at 12.
#
# **Rubric.** 1 point: reads the own tables correctly (numbers named; if the runs came out differently, the reading
# must follow the runs; a few points more with attention are a correct reading). 1 point: reason on sums: most
# characters matter and one vector holds them (or: the context alone limits the output). 1 point: contrast with
# copying, with a heatmap described (diagonal, one position for each step) and the effect of length.
# ### END SOLUTION

# %% [markdown] answer="state-and-context" points=2
# **Question.** "Context alone" and "concatenated" use the same weights in the same way. What can the second design do
# that the first cannot? Give an example from the sums. Give a possible reason why it may be slower to learn all the
# same.
#
# *Minutes* 5
#
# ### BEGIN SOLUTION
# Context alone: the output is a function of a weighted mean of encoder vectors. What only the decoder knows, such as
# a carry from the last column or the number of characters already written, can influence the output only by moving
# the weights. Concatenated: the decoder's state goes to the output itself, so a carry held there can change the digit
# directly, and the context adds what is still needed from the question. Example: 57+68, tens: 5 + 6 and the carry
# from 7 + 8. Slower: an additional tanh layer of 64 units. At the learning rate used here, the model without
# attention learns slowly with this layer, too (9–14 % after 1200 steps in three seeds, about 31 % in the notebook).
# Most of its units are saturated, so that little gradient passes. None of our runs tests the reason, so any plausible
# one is enough.
#
# **Rubric.** 1 point: the state reaches the output directly, with a sensible example. 1 point: a plausible reason for
# slower learning.
# ### END SOLUTION

# %% [markdown] answer="fourteen-letters" points=2
# **Question.** With the context alone, most strings of 13 letters are copied, and few of 14. Print a few of its
# answers to strings of 14 letters. What is wrong with them? Then look at the last row of a map for a shorter string,
# the row of `EOS`: where is the attention weight? Explain.
#
# *Minutes* 5
#
# ### BEGIN SOLUTION
# Almost all wrong answers fail at the end. Many have the right 14 letters and go on; others stop one letter or more
# too early. (We tried two models on 200 strings of 14 letters: 34 and 48 copied exactly, 100 and 90 with the right 14
# letters and no `EOS` after them, 63 and 61 too short.) At the end of a shorter string, the weight is on a dash, a
# row of zeros after the last letter. Only the encoder's states there have seen the end. A string of 14 letters fills
# all timesteps of the encoder, so there is no such state. The context alone predicts the character, so `EOS` has no
# context of its own. The concatenated design had 89 to 96 %: its state reaches the output without the context, and
# can hold how many letters are written. (With masked padding, no length would have such a state; with an `EOS` at the
# end of the question, all would. We did not train either.)
#
# **Rubric.** 1 point: the answers do not end at the right place (too long or too short), and the weight of `EOS` is
# on the padding. 1 point: a string of full length has no padding, and the context is all the output gets.
# ### END SOLUTION

# %% [markdown] answer="forcing" points=2
# **Question.** Compare the runs with teacher forcing and with free running in training. Is one of them better after
# the same number of steps, or after the same time? Why could it be? The test is always free running: why does the
# model trained with teacher forcing not fail there?
#
# *Minutes* 5 · *Extension*: TP 3 asked what teacher forcing is; here you have four runs to judge it by.
#
# ### BEGIN SOLUTION
# After the same number of steps, the runs show no difference. Without attention, the ranges overlap (sums 98.1–99.5 %
# forced, 97.1–99.4 % free; differences 92.9–96.5 and 93.6–96.2 %). Forced training takes less time for each step,
# because the decoder is called once instead of T times (the training cells print their seconds). A reason to expect
# faster learning: with teacher forcing the prefix is right from the first step on, and in free running early prefixes
# are wrong. At test time the forced model reads its own prefixes. When almost every character is right, its own
# prefix *is* the right prefix, so the gap does not show. It can show in long answers or in a weak model, where an
# error leads to prefixes that training never contained.
#
# **Rubric.** 1 point: reads the own runs correctly ("no difference per step" is correct if they show none), with a
# reason (right prefixes, or one call). 1 point: why forcing does not hurt here, or where it would.
# ### END SOLUTION

# %% [markdown]
# ## Summary
#
# You have a decoder with attention in two designs, maps of its weights, and measurements on two tasks.
#
# One more measurement, made apart from this notebook. No decoder of ours writes a *multiplication* such as `487*623`
# directly: one answer in a thousand is right. A **scratchpad** (Nye and others, 2021, arXiv:2112.00114) is a text of
# intermediate steps before the answer. With a scratchpad that puts each digit beside those that it comes from, and
# without attention, one answer in a hundred is right. With attention to the question and to the characters already
# written, practically all are right, after three minutes of training.
#
# In TP 5 you write inference as a program of its own.
#
# **Further reading**
#
# - Bahdanau, Cho and Bengio, 2015, arXiv:1409.0473: attention in translation.
# - Luong, Pham and Manning, 2015, arXiv:1508.04025: scores and the attentional layer.
# - Jain and Wallace, 2019, arXiv:1902.10186, and the answer of Wiegreffe and Pinter, 2019, arXiv:1908.04626.

# %% demo="progress"
tp.progress()
