# %% [markdown]
# # TP 4 · A decoder that looks back
#
# In TP 3 the decoder knew the question through one vector: the encoder's last state. Everything else that the encoder
# had computed was thrown away. Now the decoder may look at **all** of the encoder's states, again at each character it
# writes, and choose among them. That is **attention**.
#
# You write it twice, slow and fast. You put it into the decoder, in two ways. You look at what the decoder looks at.
# And then you measure whether it helps: on sums, where many people expect a lot of it, and on a task where it decides
# everything.
#
# **After this session you can**
#
# - compute attention with loops and as a batched product, and say what the difference costs;
# - say over which axis the weights must sum to 1, and find out when a tensor does not;
# - build a decoder whose prediction comes from the context, or from context and state together;
# - keep the attention weights, and read a heatmap of them;
# - compare models fairly, by kind of question and by length, and say when attention is worth its price.
#
# **Time:** {time}. **You need first** attention by hand (TP 2) and the encoder–decoder (TP 3). **Equipment**
# two CPU cores are enough; with a GPU, nothing changes but the speed.
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
# ## 1 · What the decoder asks, and what it gets
#
# There are two sets of hidden vectors:
#
# - `hdec_ts`, `(T, B, H)`: where the decoder is, at each of its timesteps. These vectors **ask**.
# - `henc_ts`, `(S, B, H)`: what the encoder knew after each character of the question. These vectors **answer**.
#
# For one sequence of the batch and one decoder timestep:
#
# 1. **scores**: the dot product of the decoder's vector with each of the S encoder vectors, S numbers;
# 2. **attention weights**: the **softmax** of these numbers, S numbers between 0 and 1 that sum to 1;
# 3. **context vector**: each encoder vector times its weight, all added up, H numbers.
#
# The weights are shares: "70 % of this one, 20 % of that one". So it is the softmax itself that is meant here, never
# its logarithm. The log-softmax has one place in this session, and it is elsewhere: at the very end of the decoder, for
# the characters.

# %% [markdown]
# ### Exercise 1 · With loops
#
# **Write** `attention_loops`, in the way you would do it with a pencil: for each sequence, for each decoder timestep,
# the three steps above. Slow is fine here.
#
# - in: `hdec_ts`, `(T, B, H)`; `henc_ts`, `(S, B, H)`;
# - out: `context_vectors`, `(T, B, H)`, and `attention_weights`, `(T, B, S)`, in this order.
#
# **Example** (T = 1, B = 1, S = 2, H = 2): the decoder's vector is `[1, 0]`, the encoder's are `[0, 3]` and
# `[ln 3, 0]`. Scores `[0, ln 3]`, weights `[0.25, 0.75]`, context `[0.82, 0.75]`.
#
# *Minutes* 20 · *Difficulty* ●●○○ · *Extension*: TP 2 had them for one sequence; here they are there to be timed.
#
# <details><summary>Hint 1 · the idea</summary>
# Two loops outside: over the sequences and over the decoder's timesteps. Inside, one loop over the encoder's timesteps
# makes the scores, and another one adds up the context.
# </details>
#
# <details><summary>Hint 2 · the shape</summary>
# Inside the two loops, the decoder's vector is <code>hdec_ts[t, b]</code>, <code>(H,)</code>. The scores are
# <code>(S,)</code>, the weights are <code>(S,)</code>, the context is <code>(H,)</code>. Make the two results before
# the loops, full of zeros, and fill in a row each time.
# </details>
#
# <details><summary>Hint 3 · the line</summary>
# <code>torch.stack</code> makes one tensor of a list of tensors, here of single numbers;
# <code>F.softmax(…, dim=0)</code> is right for a tensor with one axis. Do not use <code>.item()</code>: gradients have
# to pass.
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
# All those dot products are one matrix product for each sequence. torch does all sequences in one call. You wrote it in
# TP 2, batch first. It comes again because time comes first here, so that every axis has another place.
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
# Two products and a softmax between them. In the first product H disappears, and T meets S. In the second S disappears,
# and H comes back. B stays where it is in both: each sequence of the decoder attends to its own encoder states, and
# to those of no other.
# </details>
#
# <details><summary>Hint 2 · the shape</summary>
# <code>torch.einsum</code> takes the letters as they are: two inputs with three letters each, one result with three
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
# Now measure, on your machine: forward and backward, for a batch as in training. torch has attention built in, too; it
# does not hand back its weights, so it is no use for a heatmap, but its time is a good yardstick.

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
# A hundred times and more, for the same numbers up to rounding. A training that takes half a minute would take an hour.
# The arithmetic is the same in both; what costs is one call from Python to torch for each dot product.
#
# ## 2 · Which axis?
#
# The scores have three axes, `(T, B, S)`, and the softmax must run over the last one: *for each decoder timestep and
# each sequence, the shares of the S encoder timesteps sum to 1*. Take another axis, and the shape is the same, nothing
# complains, and the network learns something, only badly. So make yourself a tool that tells.

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
# <code>x.dim()</code> is the number of axes. Sums of floating-point numbers are hardly ever 1 exactly: look at the
# distance from 1, or at <code>torch.allclose</code>.
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
# **Predict first.** `scores` has shape `(T, B, S)` = (4, 3, 5). Over which axis does `F.softmax(scores)` run when
# nobody gives it a `dim`? And what does `F.log_softmax(scores)` sum to? Then run the cell.

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
# Two traps, and they look alike from outside.
#
# - **No `dim`.** On three axes torch takes the first one, an old rule that it keeps for old programs. The first axis is
#   time here. The weights then say how the *decoder's timesteps* share an encoder vector among them, and a timestep of
#   the answer depends on later ones.
# - **log-softmax for the weights.** All its values are negative, and none of them is a share. A "weighted sum" with
#   them *subtracts* every encoder vector, and the least fitting one most.
#
# The same holds for the log-softmax at the decoder's end: without `dim`, it runs over time, and not over the
# characters.
#
# ## 3 · Attention in the decoder
#
# ![The decoder with attention: the GRU makes the decoder states, each is compared with all encoder states by a dot
# product, a softmax over S makes the weights, the weighted sum of the encoder states is the context, and the context
# alone goes through the linear layer and the log-softmax; the weights are kept for the
# heatmap](figures/decoder_with_attention.svg)
#
# Attention comes **after** the GRU. The GRU runs as in TP 3, from `hdec_init`, over what it reads. Its states ask. What
# they get, the context, goes to the linear layer **instead of** them: the context alone predicts the character.
# `hdec_final` stays what it was, the last state of the GRU.
#
# Rows of zeros at the end of a short question go through the encoder too, and their states take part like the others.
# Masking them is the subject of TP 2 and TP 6; here it is left out, so that the code stays small.
#
# The encoder is that of TP 3, and given. So is an embedding in the place of a GRU, as in section 6 of TP 3.

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
# - in: `decoder_input`, `(T, B, V)`, where T may be 1; `hdec_init`, `(1, B, H)`; `henc_ts`, `(S, B, H)`, or `None` when
#   there is no attention;
# - out: `output`, `(T, B, V)`, log-probabilities of the characters, and `hdec_final`, `(1, B, H)`;
# - and beside them: with attention, the weights are kept as `self.attention_weights`, `(T, B, S)`.
#
# With `self.attention` false, it does what it did in TP 3: take your own lines, or write them again, there are two.
# With `self.attention` true, the context alone predicts the character.
#
# Each exercise is graded apart. Write the attention out here, three or four lines, so that a slip in exercise 2 costs
# nothing in this one. And mind the two softmaxes: the **weights** are a softmax (shares that sum to 1 over S), the
# **output** is a log-softmax (log-probabilities over V).
#
# **Example.** T = 3, B = 64, H = 128, S = 5, V = 13: `output` is `(3, 64, 13)` and `output.exp()` sums to 1 over the
# last axis; `self.attention_weights` is `(3, 64, 5)` and sums to 1 over its last axis; `hdec_final` is `(1, 64, 128)`.
#
# *Minutes* 25 · *Difficulty* ●●○○
#
# <details><summary>Hint 1 · the idea</summary>
# GRU first, in both cases. Then ask what goes to the linear layer: the decoder's states, or the context vectors.
# </details>
#
# <details><summary>Hint 2 · the shape</summary>
# <code>hdec_ts</code> and <code>context_vectors</code> have the same shape, <code>(T, B, H)</code>: the linear layer
# takes either. To exchange them changes no shape, so look twice at which one you pass.
# </details>
#
# <details><summary>Hint 3 · the line</summary>
# A tensor becomes an attribute by <code>self.attention_weights = …</code>, and can be used under that name in the next
# line. It holds all T timesteps: if you loop over time, collect the rows first.
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
#   `(T, B, S)`. Each call of the decoder leaves those of its own timesteps in `self.decoder.attention_weights`. In free
#   running these are `(1, B, S)` each time, and must be collected.
#
# A reminder of the rest: free running starts from `GO` and the encoder's last state, reads its own arg-max as one-hot,
# carries the hidden state, and makes `self.max_decoder_sequence_length` timesteps; inference is free running on a batch
# of one that stops at `EOS`.
#
# **Example.** A free run with T = 5, B = 64, S = 5 calls the decoder five times; afterwards `self.attention_weights` is
# `(5, 64, 5)`.
#
# *Minutes* 20 · *Difficulty* ●●○○
#
# <details><summary>Hint 1 · the idea</summary>
# The encoder runs once, and <code>henc_ts</code> does not change while the answer is written. What changes is who asks.
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
# Look before you train. This model has learnt nothing. Its maps are nearly even: a little of everything, so each
# context is close to the mean of the encoder's states.

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
# The context alone must predict the character. That is a strict rule: whatever the decoder knows and the encoder does
# not (a carry, how many characters it has written) can reach the output only through the *choice* of where to look. A
# second design is milder. It hands both to the output:
#
# ![Attention beside the decoder state: the state is compared with all encoder states, a softmax over S gives the
# weights, their weighted sum the context; state and context are concatenated to 2H numbers, then comes a dense layer of
# 64 units with tanh, then a dense layer with log-softmax over V](figures/decoder_concat_attention.svg)
#
# The state, `(T, B, H)`, and the context, `(T, B, H)`, are laid end to end, `(T, B, 2H)`. A layer of 64 units with tanh
# mixes them. A last layer makes V numbers of those 64, and a log-softmax makes log-probabilities.

# %% [markdown]
# ### Exercise 6 · Concatenate
#
# **Write** the two layers and `predict` of `ConcatDecoderRNN`. Its `forward` is given: it calls your
# `attention_batched`, and then your `predict`.
#
# - layers: `self.dense_tanh`, an `nn.Linear` from 2H to 64; `self.dense_final`, an `nn.Linear` from 64 to V;
# - `predict` in: `hdec_ts`, `(T, B, H)`, and `context_vectors`, `(T, B, H)`;
# - `predict` out: `output`, `(T, B, V)`, log-probabilities: **state first, then context**, side by side; `dense_tanh`,
#   tanh, `dense_final`, log-softmax.
#
# **Example.** State `[1, 2]` and context `[3, 4]` become `[1, 2, 3, 4]`.
#
# *Minutes* 15 · *Difficulty* ●○○○
#
# <details><summary>Hint 1 · the idea</summary>
# Four things in a row, in the order of the text. The tanh stands between the two layers: without it, two linear layers
# can do no more than one.
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
# You are about to train several models. To compare them, one number is not enough. Is it the subtractions that are
# hard, or the long questions? So count right answers by group.

# %% [markdown]
# ### Exercise 7 · Exact match by group
#
# **Write** `exact_match_by`.
#
# - in: `group_of`, a function from a question to its group (`len`, for example); `questions`, `written`, `truth`: three
#   lists of strings of the same length;
# - out: a dict, group → share of the questions *of this group* whose written answer equals the true one, a number
#   between 0 and 1.
#
# **Example.** `exact_match_by(len, ["1+1", "2+3", "10+5"], ["2", "6", "15"], ["2", "5", "15"])` gives
# `{3: 0.5, 4: 1.0}`.
#
# *Minutes* 10 · *Difficulty* ●○○○
#
# <details><summary>Hint 1 · the idea</summary>
# Walk through the three lists together. Each question goes into the drawer of its group, as right or wrong. Then the
# mean of each drawer.
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
# Now the tasks and the training. The recipe is the good one of TP 3: question and answer written backwards, an
# embedding, one-cycle learning rate, fresh samples in each batch. Numbers have two digits at most, so that half a
# minute is enough to see differences.

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
# Attention or not, teacher forcing or not: four models, the same number of steps for each. **Before you run it,** write
# down which one you expect to win.

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
# All four are measured in the same way: alone, on held-out questions, whole answers. How a model was *trained* is one
# thing; the test is always free running.

# %% demo="four-compared"
if tp.done("decoder", "seq2seq", "groups", "four"):
    races.compare(exact_match_by, four, {"operation": races.operation, "length": len})

# %% [markdown]
# Your table has one run of each model. Is it like ours, with three seeds each? Exact match in %, the middle one, in
# brackets the lowest and the highest:
#
# | model | sums | differences |
# |---|---|---|
# | no attention, teacher forcing | 98.8 (98.1–99.5) | 95.6 (92.9–96.5) |
# | no attention, free running | 99.1 (97.1–99.4) | 94.5 (93.6–96.2) |
# | context alone, teacher forcing | 1.2 (1.0–11.7) | 4.2 (2.6–14.8) |
# | context alone, free running | 1.0 (0.3–30.8) | 2.5 (1.7–14.1) |
#
# Read it honestly. Attention, built in this way, does not help here. It hurts. Before you read on, look for reasons
# yourself: how many characters of `57+68` does the answer depend on, how many numbers does the encoder's last state
# have, and what is it that predicts the character in these two models?
#
# Two warnings. Only a few of the held-out questions have three characters, so that column of your table jumps about.
# And one run is one run. Between free running and teacher forcing our ranges overlap: three seeds show no difference.
# Call `train` again with `seed=1` before you believe one of yours.
#
# ### Is it attention, or is it the output?
#
# Attention is one thing; what the output is made of is another. Four more designs take them apart:
#
# - `AddedDecoderRNN` adds the context to the state, and predicts from the sum;
# - `ConcatDecoderRNN` is yours: state and context side by side, and then the layer of 64 units with tanh;
# - `WideDecoderRNN` is yours without that layer: state and context go straight to the characters;
# - `LayerDecoderRNN` is yours without attention: zeros stand in the place of the context, the layer stays.
#
# **Write down** before you run it which of the four you expect to be as good as no attention at all.

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
# One run is one run. So we crossed the designs apart from this notebook, with three seeds each and the same 1200 steps,
# and tried other layers in the same place. Exact match in %, the middle of three seeds, in brackets the lowest and the
# highest:
#
# | what predicts | no layer | 64 linear | 64 ReLU | 64 tanh | 256 tanh |
# |---|---|---|---|---|---|
# | state, no attention | 96 (91–96) | | | 12 (9–14) | |
# | state and context, side by side | 99 (99–99) | 99 (99–99) | 11 (10–41) | 10 (9–10) | 84 (78–95) |
# | state and context, added | 97 (97–98) | | | | |
# | context alone | 3 (2–8) | | | | |
#
# So "attention hurts" would have been the wrong sentence, although the first tables invite it.
#
# - **It is the layer.** The layer of 64 tanh units brings the model *without* attention down as far as the one with it.
#   Without that layer, attention is no disadvantage at all: state and context side by side are as good as the state
#   alone, or better.
# - **It is not its width, and not only the tanh.** A linear layer of 64 units costs nothing. With a bend in it, tanh or
#   ReLU, the training stays for long where it answers one question in ten. When it ends, 86 to 91 % of what goes into
#   the 64 tanh units is beyond ±2, where the slope of tanh is below 0.08 and hardly any gradient passes. A tempting
#   reason; but a ReLU cannot be full in that way, and two of its three seeds stay as low.
# - **It is a matter of when.** With an LSTM in the place of the GRU, the same decoder got away from there within the
#   1200 steps, or not, as the seed would have it: 20 to 75 %. That is why TP 5, with the same layer, may show you
#   something else.
# - **The context alone** fails for a reason of its own. What the decoder has worked out itself, a carry for example,
#   reaches the output only through the choice of where to look. That is a narrow door.
#
# **What we would not dare to conclude:** that such a layer is bad, since with other rates or more steps it may do well;
# and *why* it costs so much here. The table says where the trouble sits, not what it is.
#
# So on sums attention has nothing to add. Nearly every character of the question matters for the answer, there are five
# of them, and 128 numbers hold them easily. Nothing has to be selected.
#
# ## 6 · Where does it look?
#
# Choose your own expressions. The question stands above the map as the encoder reads it, backwards; the answer stands
# on the left, units first, from top to bottom. A dash is a row of zeros after a short question.

# %% demo="where"
if tp.done("designs"):
    for question in ["94+8", "57+68"]:
        look(designs["context added"], question)

# %% [markdown]
# And step by step: choose a model, type an expression, move through the answer. At each step you see what is read,
# where the decoder looks, how long its context vector is, and how sure it is of what it writes.

# %% demo="explore"
if tp.done("four", "designs"):
    chosen = {**designs, "context alone": four["context alone, teacher forcing"],
              "no attention": four["no attention, teacher forcing"]}
    tp.explore({name: partial(decoding, model) for name, model in chosen.items()},
               "57+68")

# %% [markdown]
# In our run the answer to `57+68` was right, and the map was odd: the units looked at `7` and at nothing else, although
# they depend on `8` just as much; then the decoder looked at `5`, then at `+`. So the rest came by another way, through
# the state. Keep this in mind when you read such maps: they show where the decoder **looked**. They do not show all
# that it **used**.
#
# ## 7 · A task where it decides everything
#
# Copying: the network reads 6 to 14 letters and must write them again. A child can do that, because a child may look
# back. A decoder without attention must hold all letters in one vector of 128 numbers. The models and the recipe are
# the same as before; only the strings are others.

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
# The order is turned around. In our runs (400 steps, three seeds) the model without attention copied 58 to 59 % of the
# strings of 6 letters, 3 to 8 % of those of 10, none of 13. With each letter more, one more thing must fit into the
# same vector. Concatenated, it was 97 to 100 % up to 13 letters, and 89 to 96 % at 14. The map is a diagonal: at step t
# it looks at letter t. That is what people mean when they say that attention **aligns**.
#
# And one column is worth a second look: the context alone is nearly perfect up to 13 letters, and fails at 14. A
# question below asks you why.
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
# On sums the model without attention is as good as the best, or nearly, after the same number of steps; with the
# context alone it is far behind, and with the tanh layer too, with attention or without it. Nearly every character of
# the question matters for nearly every character of the answer (both digits of a place, the operator, the carry from
# below, for a difference the sign), and the question is short: five characters fit into 128 numbers. So there is little
# to select, and one vector loses little. With the context alone there is even a loss: a weighted mean of encoder
# vectors has to express the result of a calculation, and what the decoder itself computed (the carry) reaches the
# output only through the weights. Adding the context to the state takes that obstacle away, and most of the gap goes
# with it. On copying each character of the answer depends on exactly one character of the question, its position is
# known, and the question may be long: the heatmap is one clear diagonal, and the model without attention gets worse
# with each letter more.
#
# **Rubric.** 1 point: reads the own tables correctly (numbers named; if the runs came out differently, the reading must
# follow the runs). 1 point: reason on sums: nearly all characters matter and fit into one vector (or: the context alone
# is a bottleneck at the output). 1 point: contrast with copying, with a heatmap described (diagonal, one position for
# each step) and the effect of length.
# ### END SOLUTION

# %% [markdown] answer="state-and-context" points=2
# **Question.** "Context alone" and "concatenated" use the same weights in the same way. What can the second design do
# that the first cannot? Give an example from the sums. Why may it be slower to learn all the same?
#
# *Minutes* 5
#
# ### BEGIN SOLUTION
# Context alone: the output is a function of a weighted mean of encoder vectors. What only the decoder knows, such as a
# carry from the last place or the number of characters already written, can influence the output only by moving the
# weights. Concatenated: the decoder's state goes to the output itself, so a carry held there can change the digit
# directly, and the context adds what is still needed from the question. Example: 57+68, tens place: 5 + 6 and the carry
# from 7 + 8. Slower: an additional layer with a bend that starts at random, through 64 units (the model without
# attention gets as slow when it is given this layer); two sources of which the early, noisy one must first become
# useful. A reason of this kind is enough.
#
# **Rubric.** 1 point: the state reaches the output directly, with a sensible example. 1 point: a plausible reason for
# slower learning.
# ### END SOLUTION

# %% [markdown] answer="fourteen-letters" points=2
# **Question.** With the context alone, strings of 13 letters are copied and strings of 14 are not. Print a few of its
# answers to strings of 14 letters. What is wrong with them? Then look at the last row of a map for a shorter string,
# the row of `EOS`: where does the decoder look when it ends? Explain.
#
# *Minutes* 5
#
# ### BEGIN SOLUTION
# Most of these answers begin with the right 14 letters and do not stop: the decoder goes on writing. When it ends a
# shorter string, it looks at a dash, a row of zeros after the last letter: the encoder's state there is the only one
# that says "it is over". A string of 14 letters fills all timesteps of the encoder, so there is no such row. The
# context alone predicts the character, and no context says `EOS`. The other design is not harmed as much: its state can
# count, and reaches the output without the context. (Masking the padding would take this crutch away from all lengths;
# an `EOS` at the end of the question would give it to all.)
#
# **Rubric.** 1 point: the answers do not end, and `EOS` looks at the padding. 1 point: a string of full length has no
# padding, and the context is all the output gets.
# ### END SOLUTION

# %% [markdown] answer="forcing" points=2
# **Question.** Compare the runs with teacher forcing and with free running in training. Which learns faster, and why?
# The test is always free running: why does the model trained with teacher forcing not fail there?
#
# *Minutes* 5 · *Extension*: TP 3 asked what teacher forcing is; here you have four runs to judge it by.
#
# ### BEGIN SOLUTION
# With teacher forcing the prefix is right from the first step of training on, so each timestep gets a useful gradient;
# in free running the early prefixes are nonsense, and the network learns to continue nonsense. Forced training is also
# faster for each step: one call of the decoder instead of T. At test time the forced model meets its own prefixes. When
# almost every character is right, its own prefix *is* the right prefix, so the gap does not show; it would show in long
# answers or in a weak model, where the first mistake leads to prefixes that training never showed.
#
# **Rubric.** 1 point: which is faster, from the own runs, with a reason (useful prefixes, or one call). 1 point: why
# forcing does not hurt here, or where it would.
# ### END SOLUTION

# %% [markdown]
# ## What you have now
#
# A decoder that looks back, in two designs, maps of what it looks at, and a measured answer to the question when that
# is worth it.
#
# One more measurement, made apart from this notebook. No decoder of ours says a *product* such as `487*623` at once:
# one answer in a thousand is right. Let it write its working first, each digit beside those that it comes from. Without
# attention, one answer in a hundred is then right. With attention to the question and to what it has written itself,
# practically all are right, after three minutes of training. Running sums written as you do on paper did not help: the
# digits that belong together stand twenty characters apart there. A sum gives little to look up, the right kind of
# working gives much.
#
# In TP 5 the trained network leaves the training loop: inference becomes a program of its own.

# %% demo="progress"
tp.progress()
