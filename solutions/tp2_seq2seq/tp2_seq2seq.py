# %% [markdown]
# # Session 2 · A network that reads a sum and writes the answer
#
# This network reads the string `94+8` and writes `102`. It learns from pairs of strings alone.
#
# The model is an **encoder–decoder**, or **sequence-to-sequence** model (Cho et al. 2014, arXiv 1406.1078; Sutskever et
# al. 2014, arXiv 1409.3215). One recurrent network, the encoder, turns the question into a vector. Another, the
# decoder, starts from it and writes the answer, character by character.
#
# **After this session you can**
#
# - write a GRU encoder and decoder, with each tensor's shape;
# - write teacher forcing, free running and inference;
# - measure a sequence model by exact match;
# - explain why the order of the answer's characters matters.
#
# **Time:** {time}. **In 90 minutes:** exercises 1 to 5, then part 6 up to your own questions. **You need first:**
# session 1.
#
# **Sizes:** those of session 1, time first.

# %% given="start"
import sys; sys.path.insert(0, "..")  # the helper package lies beside this folder
try:
    import tp
except ModuleNotFoundError as missing:
    sys.exit(f"{missing}: put this notebook back into its folder of the course, "
             "beside the folder tp, and start as the README or your teacher says")
tp.start("tp2_seq2seq")

# %% given="imports"
from functools import partial

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from tp import calculator, levers
from tp.arithmetic import encode, math_expressions_generation, one_hot

# %% [markdown]
# ## 1 · From strings to tensors
#
# A question has two numbers from 1 to 999 and one of `+ - * / %`; quotients get five decimals, `%` is the remainder.
# Questions are written backwards (`94+8` becomes `8+49`), as in Sutskever et al.

# %% demo="samples"
X, y = math_expressions_generation(8, seed=3)
tp.table(zip([x[::-1] for x in X], X, y),
         ["expression", "what the encoder reads", "what the decoder must write"])

# %% [markdown]
# Each character becomes a one-hot row; rows after the end of a string are zeros. The encoder's vocabulary has 15
# characters: digits and operators. The decoder's has 14: digits, `-`, the decimal point, `GO` (written `=`; `<sos>` in
# session 1), read first, and `EOS` (the newline, number 0), written last.
#
# ![8+49 as a tensor of 15 columns: a single 1 in each row of 8, +, 4, 9, then three rows of zeros; behind it, other
# questions](figures/encoder_input.svg)
#
# For the answer `102`, the `decoder_input` is `GO 1 0 2 EOS`. The `target`, what the decoder must write, is `1 0 2 EOS
# –`: the same, one timestep earlier (– is a row of zeros). The loss takes each target row's **arg-max**, the index of
# its first largest entry. For zeros it is 0, as for `EOS`, so the network learns to repeat `EOS`.

# %% [markdown]
# ### Exercise 1 · Shift
#
# **Write** `shifted_target`, which makes the target from the decoder's input.
#
# - in: `decoder_input`, float, `(T, B, V)`, left as it is;
# - out: `target`, float, `(T, B, V)`: row `t` is row `t + 1` of the input, the last row is zeros.
#
# *Tiny example.* `[[[0, 1]], [[1, 0]], [[1, 0]]]` gives `[[[1, 0]], [[1, 0]], [[0, 0]]]`.
#
# *Minutes* 5 · *Difficulty* ●○○○
#
# <details><summary>Hint 1 · the idea</summary>
# Everything moves one timestep towards the beginning. The first row is dropped, and one row is missing at the end.
# </details>
#
# <details><summary>Hint 2 · the shape</summary>
# Without its first row the input is <code>(T - 1, B, V)</code>. What is missing is one row, <code>(1, B, V)</code>.
# </details>
#
# <details><summary>Hint 3 · the line</summary>
# <code>torch.cat</code> joins tensors along an axis; <code>torch.zeros_like</code> of a slice has the shape, the dtype
# and the device that you need.
# </details>

# %% exercise="shift"
def shifted_target(decoder_input):
    """Return the target (T, B, V), one timestep earlier than the input (T, B, V).
    """
    # TODO: drop the first timestep, add a timestep of zeros at the end
    ### BEGIN SOLUTION
    return torch.cat([decoder_input[1:], torch.zeros_like(decoder_input[:1])])
    ### END SOLUTION

# %% check="shift" points=2
tp.check("shift")

# %% demo="see-shift"
if tp.done("shift"):
    alphabet = "".join(sorted("0123456789-=\n"))
    decoder_input = one_hot(encode(["=102\n", "=7\n"], alphabet, length=6),
                            len(alphabet))
    target = shifted_target(decoder_input)
    read = lambda tensor, b: [alphabet[row.argmax()] if row.any() else "–"
                              for row in tensor[:, b]]
    tp.table([["reads", *read(decoder_input, 0)], ["must write", *read(target, 0)],
              ["reads", *read(decoder_input, 1)], ["must write", *read(target, 1)]],
             ["timestep", *range(6)])

# %% [markdown]
# ## 2 · The encoder
#
# The encoder is a GRU that reads the question, one character per timestep, and then the rows of zeros. At each timestep
# it has a hidden state. All of them together are `henc_ts`; the last one is `henc_final`. The decoder gets these H
# numbers and nothing else of the question.

# %% [markdown]
# ### Exercise 2 · The forward pass of the encoder
#
# **Write** `EncoderRNN.forward`. The layer `self.gru` is there.
#
# - in: `encoder_input`, `(T, B, V)`; `henc_init`, `(1, B, H)`, the hidden state to start from, or `None`: then it
#   starts from zeros;
# - out: `henc_ts`, `(T, B, H)`, the hidden state after each timestep, and `henc_final`, `(1, B, H)`, the last one.
#
# *Tiny example.* For T = 7, B = 64, V = 15, H = 256: `henc_ts` is `(7, 64, 256)`, `henc_final` is `(1, 64, 256)`, and
# `henc_ts[-1]` equals `henc_final[0]`.
#
# *Minutes* 10 · *Difficulty* ●○○○
#
# <details><summary>Hint 1 · the idea</summary>
# A layer of torch is called like a function. Which arguments does <code>nn.GRU</code> take, and what does it return?
# See its documentation.
# </details>
#
# <details><summary>Hint 2 · the shape</summary>
# <code>self.gru</code> is time first, like our tensors: nothing has to be transposed. The leading 1 of
# <code>(1, B, H)</code> is the number of layers.
# </details>
#
# <details><summary>Hint 3 · the line</summary>
# The GRU takes two arguments and returns two values. Where no initial state is given, <code>nn.GRU</code> takes zeros
# by itself; <code>torch.zeros</code> works as well.
# </details>

# %% exercise="encoder"
class EncoderRNN(nn.Module):
    """Reads a question: one-hot characters (T, B, V) → hidden states."""

    def __init__(self, input_size, hidden_size, device):
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.device = device
        self.gru = nn.GRU(input_size, hidden_size).to(device)

    def forward(self, encoder_input, henc_init=None):
        """Return henc_ts (T, B, H), henc_final (1, B, H).

        `encoder_input` (T, B, V), `henc_init` (1, B, H) or None.
        """
        # TODO: run the GRU over the question, from henc_init (zeros when it is missing)
        ### BEGIN SOLUTION
        henc_ts, henc_final = self.gru(encoder_input, henc_init)
        return henc_ts, henc_final
        ### END SOLUTION

# %% check="encoder" points=4
tp.check("encoder")

# %% [markdown]
# Look at the states of your encoder. It is not trained yet. But two questions already have the same hidden states up to
# the first character in which they differ.

# %% demo="see-encoder"
if tp.done("encoder"):
    alphabet = "".join(sorted("0123456789+-*/%"))
    torch.manual_seed(0)
    untrained = EncoderRNN(len(alphabet), 64, "cpu")
    with torch.no_grad():
        henc_ts, _ = untrained(one_hot(encode(["321+7", "321-7"], alphabet),
                                       len(alphabet)))
    distance = (henc_ts[:, 0] - henc_ts[:, 1]).norm(dim=-1)
    tp.table(zip(range(5), "321+7", "321-7", [f"{d:.3f}" for d in distance]),
             ["timestep", "first reads", "second reads",
              "distance of their hidden states"])

# %% [markdown]
# **An open question: which initial state should the encoder have?** Yours starts from zeros, every time. There are two
# alternatives: a *learned* initial state, one more parameter of shape (1, 1, H) that all questions share; and a state
# *carried over*, the last one of the batch before. Predict what each of them would bring here, then open the answer.
#
# <details><summary>What we would say</summary>
# We have not measured this; here is what we expect. A learned state changes little: it is the same for all questions,
# so it carries no information about any of them. A state carried over makes sense where a sequence goes on in the next
# batch. (In session 1 a stream was cut into pieces; there too every piece started from zeros.) Our questions are drawn
# in random order: what is carried over from another question is noise, and at inference there is nothing to carry over.
# </details>

# %% [markdown]
# ## 3 · The decoder
#
# The decoder is a GRU too. It starts from the encoder's last state, reads the previous character, and gives a
# probability to each character as the next one. A linear layer, the output layer, turns its hidden vector (H
# numbers) into one score per character (V numbers). A **log-softmax**, the logarithm of session 1's softmax, turns the
# scores into **log-probabilities**, the logarithms of probabilities.
#
# ![From left to right: the decoder's input and the initial state hdec_init go into a GRU; its hidden states hdec_ts go
# through a linear layer and a log-softmax over the vocabulary, which gives the output; the last state leaves as
# hdec_final](figures/decoder_without_attention.svg)
#
# It gets its input in three ways, and one `forward` serves them all:
#
# 1. the whole answer at once, `(T, B, V)`, in training, where the answer is known;
# 2. `GO` alone, `(1, B, V)`, to begin an answer of its own;
# 3. the character that it has just written, `(1, B, V)`, once per step.
#
# ![Two tensors side by side for the answer 102. The decoder's input reads GO, 1, 0, 2, EOS, then rows of zeros; the
# target reads 1, 0, 2, EOS, then rows of zeros: the same, one timestep earlier](figures/decoder_input_forced.svg)
#
# ![Two steps, one below the other. The one-hot row of GO goes into the decoder, which gives a distribution over the
# characters with its highest bar at 1; the arg-max, as a one-hot row, goes into the second step, and the hidden state
# is carried over](figures/decoder_input_one_step.svg)

# %% [markdown]
# ### Exercise 3 · The forward pass of the decoder
#
# **Write** `DecoderRNN.forward`.
#
# - in: `decoder_input`, `(T, B, V)`, where T may be 1; `hdec_init`, `(1, B, H)`, the state to start from. (The
#   parameters `henc_ts` and `attention` belong to the interface because session 3 uses them. Leave them alone here.)
# - out: `output`, `(T, B, V)`, the log-probability of each character at each timestep, and `hdec_final`, `(1, B, H)`,
#   the last hidden state. Log-probabilities must be finite. The logarithm of a softmax is −∞ where a probability rounds
#   to 0; torch's log-softmax avoids this.
#
# *Tiny example.* With V = 2 and scores `[0, 0]` from the linear layer, the log-probabilities are `[-0.693, -0.693]`:
# two equal chances of one half. `output.exp()` sums to 1 over V, at each timestep, for each sequence of the batch.
#
# *Minutes* 15 · *Difficulty* ●●○○
#
# <details><summary>Hint 1 · the idea</summary>
# GRU, then linear layer, then log-softmax. The GRU returns two things. One of them goes to the linear layer. The other
# is returned, so that the next call can start from it.
# </details>
#
# <details><summary>Hint 2 · the shape</summary>
# <code>nn.Linear</code> works on the last axis and leaves the others alone: <code>(T, B, H)</code> becomes
# <code>(T, B, V)</code>, no loop needed. The probabilities of the V characters must sum to 1, so which axis is it for
# the softmax?
# </details>
#
# <details><summary>Hint 3 · the line</summary>
# <code>F.log_softmax(scores, dim=…)</code>. Always write <code>dim</code>: without it, torch chooses axis 0 for three
# axes, which is time here.
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
        self.attention = attention  # always False in this session
        self.gru = nn.GRU(output_size, hidden_size).to(device)
        self.linear = nn.Linear(hidden_size, output_size).to(device)

    def forward(self, decoder_input, hdec_init, henc_ts=None):
        """Read (T, B, V), (1, B, H) → output (T, B, V), hdec_final (1, B, H).

        The output is log-probabilities.
        """
        # TODO: the GRU from hdec_init, the linear layer on each hidden state,
        # log-softmax over the characters
        ### BEGIN SOLUTION
        hdec_ts, hdec_final = self.gru(decoder_input, hdec_init)
        output = F.log_softmax(self.linear(hdec_ts), dim=-1)
        return output, hdec_final
        ### END SOLUTION

# %% check="decoder" points=4
tp.check("decoder")

# %% demo="see-decoder"
if tp.done("decoder"):
    alphabet = "".join(sorted("0123456789-.=\n"))
    torch.manual_seed(0)
    untrained = DecoderRNN(64, len(alphabet), "cpu")
    with torch.no_grad():
        go = one_hot(encode(["="], alphabet), len(alphabet))
        output, _ = untrained(go, torch.zeros(1, 1, 64))
    print("Probability of each character after GO, in an untrained decoder: "
          "close to 1/14 = 0.071 for all of them.")
    tp.table([[f"{p:.3f}" for p in output[0, 0].exp()]], alphabet)

# %% [markdown]
# ## 4 · The whole model
#
# `Seq2seq` joins the two. It also has the data, the optimizer and the loss: `nn.NLLLoss`, the mean of −log(probability
# of the right character), which takes log-probabilities. With these it is the cross-entropy of session 1;
# `F.cross_entropy` takes logits and applies the log-softmax itself. All of that is given, in the class
# `tp.calculator.Calculator`: `fit` trains, `answer` answers, `evaluate` shows. You write `forward`, with these names:
#
# | name | what it is |
# |---|---|
# | `encoder`, `decoder` | your two parts |
# | `GO`, `EOS` | the two characters that open and close an answer |
# | `decoder_char_index`, `decoder_index_char` | character → number, and back; the encoder has its own two |
# | `encoder_vocabulary_size`, `decoder_vocabulary_size` | how many characters each alphabet has |
# | `max_encoder_sequence_length`, `max_decoder_sequence_length` | timesteps: longest question; longest answer + 2 |
# | `device` | where the tensors are |

# %% given="calculator"
class Calculator(calculator.Calculator):
    """All of the model but its forward pass, with your encoder and your decoder."""

    def parts(self, hidden_size):
        encoder = EncoderRNN(self.encoder_vocabulary_size, hidden_size, self.device)
        decoder = DecoderRNN(hidden_size, self.decoder_vocabulary_size, self.device,
                             self.attention)
        return encoder, decoder

# %% [markdown]
# ### Exercise 4 · Teacher forcing, free running, inference
#
# **Teacher forcing** (Williams & Zipser 1989). In training the right answer is known. The decoder reads it, `GO 1 0 2
# EOS`, and at each timestep predicts the next character. It never reads its own predictions, so an error does not
# change later inputs. All timesteps go through the decoder in one call.
#
# ![Teacher forcing: four encoder cells read 8, +, 4, 9, and their last state, henc_final, starts the decoder. Four
# decoder cells read =, 1, 0, 2 from the true answer, whatever they predict, and write 1, 0, 2,
# EOS](figures/seq2seq_forced.svg)
#
# **Free running** (or **autoregressive decoding**). The decoder reads `GO`, writes a character, reads *that* character,
# writes the next. Each time it takes the most likely character (**greedy decoding**) and reads it as a one-hot row. The
# hidden state is carried from one step to the next.
#
# ![Free running: the same encoder and decoder, but only the first decoder input, =, is given. From then on a dashed
# arrow leads from each output to the next input](figures/seq2seq_free.svg)
#
# **Inference** is the use of a trained model. Here it is free running on one question, with a stop: when the decoder
# has written `EOS`, the answer is complete.
#
# **Write** `Seq2seq.forward`.
#
# - in: `encoder_input`, `(T_enc, B, V_enc)`; `decoder_input`, `(T_dec, B, V_dec)`, which may be `None` when the model
#   runs freely; `teacher_enforce`: teacher forcing if true, else free running; `inference`: whatever `teacher_enforce`
#   says, free running on a batch of one, and stop at `EOS`;
# - out: log-probabilities, `(T_dec, B, V_dec)`; free running makes `self.max_decoder_sequence_length` timesteps,
#   inference at most that many.
#
# In free running the right answer is not read, even where it is given. `fit` can also train by free running, so
# gradients must flow through the hidden state. Use the attributes in the table above; new tensors belong on
# `self.device`.
#
# *Tiny example.* If the decoder's most likely characters are `1`, `0`, `2`, `EOS`, then it has read `GO`, `1`, `0`,
# `2`. Inference stops there, with 4 timesteps of output, or 3 without that of `EOS`. If `EOS` comes first, there is 1
# timestep, or none.
#
# *Minutes* 30 · *Difficulty* ●●●○
#
# <details><summary>Hint 1 · the idea</summary>
# Run the encoder first, in all cases. Teacher forcing is then a single call of the decoder. Free running is a loop
# around it, with two things that change from turn to turn: the character it reads and the state it starts from.
# </details>
#
# <details><summary>Hint 2 · the shape</summary>
# In the loop the decoder reads <code>(1, B, V_dec)</code> and returns <code>(1, B, V_dec)</code>. The arg-max over the
# last axis is <code>(1, B)</code>; as one-hot rows it is <code>(1, B, V_dec)</code> again. Collected in a list and
# joined along time: <code>(T_dec, B, V_dec)</code>.
# </details>
#
# <details><summary>Hint 3 · the line</summary>
# <code>F.one_hot(numbers, V)</code> gives integers, the GRU needs <code>.float()</code>. The prediction becomes the
# next input in training, too. If you append an output before you look for <code>EOS</code>, the list is never empty.
# </details>

# %% exercise="seq2seq"
class Seq2seq(Calculator):
    """Questions in, answers out: the encoder's last state starts the decoder."""

    def forward(self, encoder_input, decoder_input=None, teacher_enforce=True,
                inference=False):
        """Answer: (T_enc, B, V_enc), (T_dec, B, V_dec) or None → (T_dec, B, V_dec).

        The result is log-probabilities.
        """
        # TODO: encode; then teacher forcing (one call), or free running (a loop,
        # which inference leaves at EOS)
        ### BEGIN SOLUTION
        henc_ts, henc_final = self.encoder(encoder_input)
        if teacher_enforce and not inference:
            output, _ = self.decoder(decoder_input, henc_final, henc_ts)
            return output

        B, V = encoder_input.shape[1], self.decoder_vocabulary_size
        written = torch.full(
            (1, B), self.decoder_char_index[self.GO], device=self.device)
        hidden, outputs = henc_final, []
        for _ in range(self.max_decoder_sequence_length):
            output, hidden = self.decoder(
                F.one_hot(written, V).float(), hidden, henc_ts)
            outputs.append(output)
            written = output.argmax(-1)
            if inference and written.item() == self.decoder_char_index[self.EOS]:
                break
        return torch.cat(outputs)
        ### END SOLUTION

# %% check="seq2seq" points=6
tp.check("seq2seq")

# %% [markdown]
# Ask the untrained model some questions. Its answers are wrong, but the whole chain from string to string runs.

# %% demo="ask-untrained"
if tp.done("encoder", "decoder", "seq2seq"):
    torch.manual_seed(0)
    X, y = math_expressions_generation(400, seed=0)
    Seq2seq(X, y, hidden_size=64).evaluate(5)

# %% [markdown]
# ## 5 · Training and measuring
#
# The classic recipe: five operators, 100 000 examples, a quarter of them **held out** (for measuring; by chance, one in
# 70 of these also occurs in training), the optimizer Adam (Kingma & Ba 2015, arXiv 1412.6980) with a learning rate of
# 0.01, teacher forcing, 256 hidden units. We train for one **epoch**: each training example is read once. It takes up
# to three minutes. `REAL_RUN = False` takes 100 examples, to see that everything works.

# %% training="classic"
REAL_RUN = True

if tp.done("encoder", "decoder", "seq2seq"):
    torch.manual_seed(0)
    X, y = math_expressions_generation(100_000 if REAL_RUN else 100, seed=1)
    classic = Seq2seq(X, y)
    classic.fit(nb_epoch=1, batch_size=64)
    classic.evaluate(12)

# %% [markdown]
# Few of these answers are right, or none. To say how many are right in all, we need a measure.
#
# **Token accuracy** is the share of right characters. It can be high for a model that calculates badly, because some
# characters are easy to predict: `EOS`, the sign, the decimal point. **Exact match** is the share of answers that are
# right from the first character to `EOS`. If the truth is `1029`, the answer `1027` has four right characters of five,
# `EOS` included, and counts as wrong.

# %% [markdown]
# ### Exercise 5 · Exact match
#
# **Write** `exact_match`, the share of answers that are entirely right.
#
# - in: `output`, `(T, B, V)`, log-probabilities; `target`, `(T, B, V)`, one-hot, with `EOS` as number 0 and rows of
#   zeros after it;
# - out: a number between 0 and 1.
#
# An answer is right when its characters are right **up to and including** `EOS`. What a free-running network writes
# after its `EOS` does not count.
#
# *Tiny example.* The target is `1 0 2 EOS – –`. Right: `1 0 2 EOS EOS EOS` and `1 0 2 EOS 7 7`. Wrong:
# `1 0 2 4 EOS EOS`, `1 0 EOS 2 EOS EOS`.
#
# *Minutes* 15 · *Difficulty* ●●○○
#
# <details><summary>Hint 1 · the idea</summary>
# Take the arg-max of both first: it gives the numbers of the characters. Then, for each answer, are all characters
# equal, at the timesteps that count?
# </details>
#
# <details><summary>Hint 2 · the shape</summary>
# Both arg-maxes are <code>(T, B)</code>. "Equal" is <code>(T, B)</code>. "Counts" is <code>(T, B)</code> as well: true
# at the characters of the answer and at the first <code>EOS</code>. "All over time" is <code>(B,)</code>.
# </details>
#
# <details><summary>Hint 3 · the line</summary>
# After <code>EOS</code> the rows of the target are all zeros: <code>target.sum(-1)</code> shows which timesteps count.
# Where a timestep does not count, let it pass: <code>a | b</code> is the "or" of two boolean tensors.
# </details>

# %% exercise="exact-match"
def exact_match(output, target):
    """Return the share of answers that are right up to and including EOS, in 0 … 1.

    Both tensors (T, B, V).
    """
    # TODO: compare the arg-maxes where the target has a row that is not all zeros;
    # all over time; mean over the batch
    ### BEGIN SOLUTION
    equal = output.argmax(-1) == target.argmax(-1)
    ended = target.sum(-1) == 0
    return (equal | ended).all(dim=0).float().mean().item()
    ### END SOLUTION

# %% check="exact-match" points=3
tp.check("exact-match")

# %% [markdown]
# Now measure the classic model in four ways on the same held-out questions. In two of them it reads the right answer
# while it writes (teacher forcing). In the other two it reads its own predictions (free running), as it will in use.
# Before you run the cell: order the four numbers by size.

# %% demo="four-measures"
if tp.done("encoder", "decoder", "seq2seq", "exact-match", "classic"):
    def token_accuracy(output, target):
        """Return the share of right characters, EOS included, padding left out.

        Both tensors (T, B, V).
        """
        counts = target.sum(-1) > 0
        return (output.argmax(-1) == target.argmax(-1))[counts].float().mean().item()

    x, d, t = (tensor[:, :2000]
               for tensor in (classic.encoder_input_val, classic.decoder_input_val,
                              classic.target_val))
    with torch.no_grad():
        forced, free = classic(x, d), classic(x, d, teacher_enforce=False)
    tp.table([["token accuracy",
               f"{token_accuracy(forced, t):.1%}", f"{token_accuracy(free, t):.1%}"],
              ["exact match",
               f"{exact_match(forced, t):.1%}", f"{exact_match(free, t):.1%}"]],
             ["held-out questions", "teacher-forced", "free running"])

# %% demo="by-operator"
if tp.done("encoder", "decoder", "seq2seq", "classic"):
    asked, truth = classic.X_val[:4000], classic.y_val[:4000]
    written = classic.answer(asked)
    rows = []
    for operator in "+-*/%":
        right = [w == r for x, w, r in zip(asked, written, truth) if operator in x]
        rows.append([operator, len(right), f"{sum(right) / max(len(right), 1):.1%}"])
    tp.table(rows, ["operator", "held-out questions", "exact match, free running"])

# %% [markdown] answer="what-holds-back" points=2
# **Question 1.** Look at the answers that the classic model prints, and at the last table. Where in a wrong answer are
# the right characters, and where the wrong ones? Which operators go better, and why? Name two things in this recipe
# that you would change first.
#
# *Minutes* 5
#
# ### BEGIN SOLUTION
# Length, decimal point and the first one or two digits are often right; the digits after that are mostly wrong.
# So the answers have about the right size. Remainders have the highest exact match: where the first operand is the
# smaller one, as in half of the questions, it is the answer. Sums and differences have a few right answers.
# Multiplications and divisions have almost none: their digits depend on many digits of the question, and there are more
# of them. Candidates for a change: the order of the answer (its first digit depends on all carries), the number of
# tasks learned at once, the fixed high learning rate, one-hot inputs.
#
# **Rubric.** 1 point: describes the errors from the printed answers (size right, last digits wrong) and the difference
# between operators, with a reason. 1 point: two plausible changes, each tied to something observed. They need not be
# the ones of part 6.
# ### END SOLUTION

# %% [markdown]
# ## 6 · A better recipe
#
# Your code stays as it is. Data, model and training change. These are five **components** of the recipe (`levers` in
# code). Number 2 stays, the other four are new:
#
# 1. **The answer is written backwards too.** For `94+8` the network writes `201`, units first.
# 2. **The question is read backwards**, as before.
# 3. **An embedding** stands before each GRU: a matrix with 32 numbers for each character, learned with the rest.
# 4. **Short numbers are as frequent as long ones.** The number of digits, one to three, is drawn first. When all
#    numbers from 1 to 999 are equally frequent, only nine of the 999 have one digit.
# 5. **One-cycle learning rate** (Smith & Topin 2017, arXiv 1708.07120): it rises quickly to 6e-3, then falls slowly to
#    zero.
#
# Other changes, whose effects we did not measure one by one: `+` and `−` only; fresh examples in each batch, so that
# the network cannot memorise a training set; 128 hidden units instead of 256; gradients clipped to a norm of 1; Adam
# with β₂ = 0.98, which averages squared gradients over fewer steps; update gates z that start near σ(1) = 0.73, with
# the letters of session 1, so that more of the old state is copied at each step.
#
# The tensors stay one-hot, and your `forward` does not change. A one-hot row times a matrix *is* a row of the matrix,
# so the embedding can be a part of the attribute `gru`. The cell below builds the model; `tp.levers` draws the samples
# and trains it.

# %% given="better"
class EmbeddedGRU(nn.GRU):
    """A GRU behind an embedding, with the interface of the GRU that it replaces.

    One-hot (T, B, V), (1, B, H) → (T, B, H), (1, B, H).
    """

    def __init__(self, vocabulary_size, embedding_size, hidden_size):
        super().__init__(embedding_size, hidden_size)
        self.embedding = nn.Parameter(torch.randn(vocabulary_size, embedding_size))

    def forward(self, input, hx=None):
        return super().forward(input @ self.embedding, hx)


def keep_longer(gru):
    """Raise the update gates that a GRU starts with: it keeps more of its state.

    Returns the GRU.
    """
    H = gru.hidden_size
    with torch.no_grad():
        gru.bias_hh_l0[H:2 * H] += 1  # torch's order of the gates: reset, update, new
    return gru


def build(X, y, embedding=True):
    """Make a new model of 128 units for these questions and answers."""
    model = Seq2seq(X, y, hidden_size=128)
    for part, V in ((model.encoder, model.encoder_vocabulary_size),
                    (model.decoder, model.decoder_vocabulary_size)):
        part.gru = keep_longer(EmbeddedGRU(V, 32, 128) if embedding
                               else nn.GRU(V, 128)).to(model.device)
    return model

# %% training="better-recipe"
if tp.done("encoder", "decoder", "seq2seq"):
    better, view = levers.train(build, steps=6000, title="better recipe")
    view.plot()
    better.evaluate(12)
    for operator in "+-":
        print(f"exact match on held-out questions with {operator}: "
              f"{levers.share_right(better, operator):.1%}")

# %% [markdown]
# 6000 steps take up to five minutes on one core. We measured five seeds: all five answered 102 to `94+8` and 1000 to
# `999+1`, and 98 to 100 % of the held-out sums and 95 to 98 % of the differences were right. With all numbers equally
# frequent (component 4 taken away, all else the same), one of the five seeds answered 902 to `94+8`; of the sums in
# which a number has one digit, 85 to 98 % were right in our runs, with component 4 all of them. Held-out questions have
# numbers of one, two and three digits equally often, as training has with component 4: this favours component 4. One
# seed of five against none may be chance. The pairs of numbers of the held-out questions were never in training.
#
# Add your own questions to the list: `+` or `-`, at most 7 characters. The pairs of numbers of the first three were
# never in training. The last one has a number of four digits; no question in training had one. What has the network
# learned, and what not? (In our run the answer to `500-500` was 10. A difference of 0 between numbers of three digits
# is rare in training: about one of 8100 differences.)

# %% demo="your-own"
if tp.done("encoder", "decoder", "seq2seq", "better"):
    for question in [*levers.SHOWN, "8+94", "123-456", "500-500", "1234+5"]:
        print(f"{question} = {levers.ask(better, question)}")

# %% [markdown]
# Now step by step. Choose a model, type an expression, and move through the answer: you see which character goes in,
# which one comes out, and which others were likely. All information about the question reaches this decoder through its
# initial state.
#
# Three things to look for:
#
# - The better recipe on `999+1`, where every column has a carry: is one of the probabilities below 0.9?
# - The classic recipe writes the most significant digit first. Compare the probability of that digit with those of the
#   digits after it.
# - `1234+5`: is one of the probabilities low where the answer is wrong? A model is **calibrated** if, of the characters
#   that it writes with a probability of 0.9, about 90 % are right (Guo et al. 2017, arXiv 1706.04599).

# %% demo="explore"
def decoding(model, question):
    """Ask `model` one question as a person writes it.

    Returns a list of `tp.Step`, one for each character that it writes.
    """
    encoder_input, _, _ = model.encode(
        [question[::-1] if model.input_reversed else question], [""])
    with torch.no_grad():
        output = model(encoder_input, teacher_enforce=False, inference=True)[:, 0]
    written = [model.decoder_index_char[i] for i in output.argmax(-1).tolist()]
    return [tp.Step(read, wrote,
                    dict(zip(model.decoder_char_index, row.exp().tolist())))
            for read, wrote, row in zip([model.GO, *written], written, output)]


if tp.done("encoder", "decoder", "seq2seq", "better", "classic"):
    tp.explore({"better recipe": partial(decoding, better),
                "classic recipe": partial(decoding, classic)}, "94+8")

# %% [markdown]
# ### An ablation of the components
#
# Take one component away and leave the others: this is an **ablation**. Each run has fewer steps than the run above, so
# compare the runs with each other, not with that one. Set `CHOSEN` to one of the four names in `without`, in quotes.
# Predict what the component's absence costs, and run the cell. It takes up to four minutes.

# %% training="ablation"
ABLATION_STEPS = 2500
without = {"answer written forwards": (build, {"answer_backwards": False}),
           "question read forwards": (build, {"question_backwards": False}),
           "no embedding": (partial(build, embedding=False), {}),
           "all numbers equally frequent": (build, {"even_lengths": False})}
CHOSEN = None  # one of the four names

if CHOSEN and tp.done("encoder", "decoder", "seq2seq"):
    rows = []
    for title, (builder, change) in (("all components", (build, {})),
                                     (CHOSEN, without[CHOSEN])):
        model, view = levers.train(builder, ABLATION_STEPS, title, **change)
        rows.append([title, *(f"{levers.share_right(model, operator):.1%}"
                              for operator in "+-")])
    tp.table(rows, ["recipe", "exact match +", "exact match −"],
             caption="One seed for each recipe")

# %% [markdown]
# We measured two of the components at 2500 steps, with five seeds each: the median, in brackets the lowest and the
# highest.
#
# | recipe, 2500 steps | sums, % | differences, % | answers to `999+1` |
# |---|---|---|---|
# | all components | 85 (81–86) | 74 (73–83) | 1000, 1000, 1000, 1000, 1000 |
# | answer written forwards | 48 (47–50) | 47 (46–49) | 1000, 1000, 1000, 1000, 1000 |
# | question read forwards | 44 (39–63) | 46 (38–53) | 990, 901, 1000, 999, 999 |
#
# This table has limits. If two recipes did not differ, the ranges of five independent runs each would lie apart in one
# of 126 cases. There is one budget: we did not train the lower rows longer, so they may be slow rather than unable. No
# component was tried alone, and the learning rate was not varied.
#
# An embedding before a GRU does not enlarge what it can compute: a one-hot row times the GRU's input matrix is a
# learned row already. At the start, the **scale** of the input differs. A row of 32 standard normal numbers has a norm
# of about √32 = 5.7. A one-hot row has norm 1, so at the start it changes the gates much less. To test this, multiply
# the one-hot rows by √32 and leave the embedding out. On numbers of two digits, with another recipe (1200 steps, five
# seeds), we measured: with the embedding 95 % (90 to 96), with one-hot rows 80 % (73 to 85), with the long one-hot rows
# 98 % (96 to 99). So in that training the larger scale alone is enough to reach what the embedding reaches. (With Adam,
# it also makes each update of the input weights count √32 times as much.) This does not show that scale explains what
# the embedding brings at three digits, or at other learning rates.
#
# ## 7 · Review questions

# %% [markdown] answer="order" points=3
# **Question 2.** The network, the questions and the number of steps (2500) are the same. Only the order in which the
# answer is written changes, and exact match rises from 48 to 85 % of the sums and from 47 to 74 % of the differences
# (medians of five seeds). Why? Take `457+548 = 1005` and say what must be known to write the *first* character, in both
# orders. Then give a reason why reading the question backwards may help.
#
# *Minutes* 8
#
# ### BEGIN SOLUTION
# Written forwards, the first character is `1`, and whether it is there at all depends on all carries: 7+8 carries, so
# 5+4+1 carries, so 4+5+1 carries. With units that do not carry (`457+542 = 999`) the first character is `9`. So all
# three columns must be known before the first character is written. Written backwards, the first character is 5, which
# depends on the two unit digits alone. The next one needs two digits and one carry, which the decoder's state can hold.
# So each step of a sum is a small computation, the same one each time, and the decoder has as many steps as there are
# digits. In a difference, the digits also depend on which number is larger. This is an argument about what each step
# needs. The runs show that the order matters; they do not show how the network computes.
#
# Reading backwards: with the question reversed (`845+754`), each operand is read units first, so the place value of a
# digit is known while it is read. Read forwards, it is known only once the number has ended. The distance between two
# digits of equal place is no reason: when both numbers have n digits, they stand n + 1 characters apart in both orders.
# Nor are the units closer to the first character written.
#
# **Rubric.** 1 point: forwards, the first digit needs all carries, hence the whole sum. 1 point: backwards, each step
# of a sum needs two digits and one carry, held in the state. 1 point: a sensible reason for the reversed question
# (units first, place value known while reading). "The digits of equal place are closer together" is not one: they are
# not.
# ### END SOLUTION

# %% [markdown] answer="why-forcing" points=3
# **Question 3.** What is teacher forcing? Name two reasons to use it in training. In the table of four measures,
# explain why the token accuracy can differ between the two columns, and why the exact match cannot.
#
# *Minutes* 8
#
# ### BEGIN SOLUTION
# With teacher forcing the decoder reads the right previous characters instead of its own predictions. All timesteps can
# be computed in one call. Each of them gets a useful loss from the first step of training on, because a wrong first
# digit does not change the inputs of the later timesteps. The token accuracy can be lower in free running: after a
# first wrong character the rest is predicted from a wrong prefix, and compared with the characters of another answer.
# The exact match is equal: an answer that is entirely right under teacher forcing has only right arg-maxes, so a free
# run reads exactly the same characters and writes the same. The other way round, a right free run has read the right
# answer.
#
# **Rubric.** 1 point: definition. 1 point: two reasons (one call; the inputs of later timesteps are right from the
# start, or: stable and fast learning). 1 point: token accuracy differs where a prefix is wrong; exact match is equal
# because a right answer has the same prefixes in both modes.
# ### END SOLUTION

# %% [markdown] answer="step-by-step" points=3
# **Question 4.** Describe step by step how the trained model answers `94+8`, from string to string. Give the shape of
# each tensor (T = 7 timesteps for the question, H = 128), and say which vector passes from the encoder to the decoder.
#
# *Minutes* 8
#
# ### BEGIN SOLUTION
# `94+8` is reversed, `8+49`, and becomes one-hot rows, padded with zero rows: `encoder_input` (7, 1, 12) (with + and −
# only, the vocabulary has 12 characters). The encoder's GRU starts from zeros and gives `henc_ts` (7, 1, 128) and
# `henc_final` (1, 1, 128). Only `henc_final` passes to the decoder, as its first hidden state. The decoder reads `GO`,
# one-hot, (1, 1, 13) (ten digits, `-`, `GO`, `EOS`); the GRU gives a new hidden state (1, 1, 128); linear layer and
# log-softmax give (1, 1, 13). The arg-max is `2`. Its one-hot row and the new state go into the next step: `0`, then
# `1`, then `EOS`, which ends it. `201` is turned around: `102`.
#
# **Rubric.** 1 point: from string to `henc_final`, shapes right. 1 point: the loop: GO, arg-max, fed back, hidden state
# carried, stop at EOS. 1 point: names `henc_final`, (1, 1, 128), as the only thing that passes.
# ### END SOLUTION

# %% [markdown]
# ## Summary
#
# You wrote an encoder–decoder, trained it with two recipes, and measured it by exact match. All information about the
# question goes through one vector of 128 numbers. In session 3 the decoder can use all states of the encoder at each
# step.
#
# **Further reading**
#
# - Sutskever, Vinyals & Le 2014, *Sequence to sequence learning with neural networks*, arXiv 1409.3215: translation
#   with a reversed source.
# - Zaremba & Sutskever 2014, *Learning to execute*, arXiv 1410.4615: recurrent networks that add numbers and predict
#   what short programs print.
# - Lee et al. 2024, *Teaching arithmetic to small Transformers*, arXiv 2307.03381: another network, with answers
#   written backwards and short numbers drawn more often.

# %% demo="progress"
tp.progress()
