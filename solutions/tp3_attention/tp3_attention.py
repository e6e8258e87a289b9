# %% [markdown]
# # Session 3 · Attention
#
# In session 2 the decoder received the question as one vector. With **attention** (Bahdanau et al. 2015, arXiv
# 1409.0473) it receives *all* states of the encoder, as a weighted sum with new weights at each step. You compute it
# with a pencil, write it as two matrix products, and put it into the decoder.
#
# **After this session you can**
#
# - compute scores, weights and a context vector, by hand and for a padded batch;
# - say what six score functions compare, and read an attention map;
# - build a decoder with attention in two designs;
# - compare tasks with and without attention, and say what a few runs can show.
#
# **Time:** {time}. **In 90 minutes:** exercises 1, 2, 5, 11 and 12. **You need first:** sessions 1 and 2.
#
# **Sizes:** B sequences, S source timesteps (encoder), T target timesteps (decoder), H numbers in a **hidden vector**
# (session 1's hidden state at a timestep: *encoder vector* or *decoder vector*), D in an embedding, V tokens.
# Up to part 4 the batch comes first: `henc_ts` is (B, S, H).

# %% given="start"
import sys; sys.path.insert(0, "..")  # the helper package lies beside this folder
try:
    import tp
except ModuleNotFoundError as missing:
    sys.exit(f"{missing}: put this notebook back into its folder of the course, "
             "beside the folder tp, and start as the README or your teacher says")
tp.start("tp3_attention")

# %% given="imports"
import math
import time
from functools import partial

import torch
from matplotlib.figure import Figure
from torch import nn
from torch.nn import functional as F

from tp import calculator, races
from tp.arithmetic import math_expressions_generation

torch.set_num_threads(1)  # our tensors are small: one thread is faster than several

# %% [markdown]
# ## 1 · Attention with a pencil
#
# ![An animation of steps 0 to 5: hidden vectors, scores, softmax, weighted vectors, context vector,
# decoder.](figures/attention_steps.svg)
#
# The decoder vector is the **query**. It is compared with the **keys**; the **values** are weighted and added up. Here
# the encoder vectors are both keys and values. The sum is the **context vector**.
#
# **Step 0 · The hidden vectors.** Four encoder vectors and one decoder vector, of size H = 3:
#
# ![Step 0: these five vectors.](figures/attention_steps_0.svg)

# %% given="example"
EXAMPLE_DEC = torch.tensor([10.0, 5.0, 10.0])  # (H,)
EXAMPLE_ENC = torch.tensor([[0.0, 1.0, 1.0],
                            [5.0, 0.0, 1.0],
                            [1.0, 1.0, 0.0],
                            [0.0, 5.0, 1.0]])  # (S, H)
EXAMPLE_NAMES = ["h1", "h2", "h3", "h4"]

# %% [markdown]
# ### Exercise 1 · Step 1: a score for each encoder vector
#
# A **score** measures how well an encoder vector matches the decoder vector. The simplest one is the dot product. The
# animation shows the result: work it out first.
#
# 1. `scores_by_hand()`: take a pencil and work out the four scores of the example. Return them as a tensor of floats.
# 2. `step1_scores(hdec, henc_ts)`: the same in code, for vectors of any size and any number of them.
#
# **Shapes.** `hdec` (H,), `henc_ts` (S, H) → scores (S,).
#
# *Tiny example.* `hdec` = (1, 2) and `henc_ts` = (3, 0), (0, 1), (1, 1) → scores (3, 2, 3).
#
# *Minutes* 10 · *Difficulty* ●○○○
#
# <details><summary>Hint 1 · the idea</summary>
# One number per encoder vector. Multiply the entries of the two vectors pair by pair, and add the products.
# </details>
# <details><summary>Hint 2 · the shape</summary>
# (S, H) and (H,) must become (S,). The axis that disappears is H: it is the one you add over.
# </details>
# <details><summary>Hint 3 · the line</summary>
# Either multiply (broadcasting does it for all rows) and call <code>.sum(dim=…)</code>, or use the operator
# <code>@</code> of a matrix and a vector. Which of the two stands on the left?
# </details>

# %% exercise="scores"
def scores_by_hand():
    """Return the four scores of the example, worked out with a pencil: (4,) floats."""
    # TODO: a tensor with your four numbers, in the order of the encoder vectors
    ### BEGIN SOLUTION
    return torch.tensor([15.0, 60.0, 15.0, 35.0])
    ### END SOLUTION


def step1_scores(hdec, henc_ts):
    """Return the dot product of the decoder vector with each encoder vector.

    hdec (H,), henc_ts (S, H) → scores (S,).
    """
    # TODO: one dot product per encoder vector
    ### BEGIN SOLUTION
    return henc_ts @ hdec
    ### END SOLUTION


# %% check="scores" points=2
tp.check("scores")

# %% demo="example-scores"
if tp.done("scores"):
    scores = step1_scores(EXAMPLE_DEC, EXAMPLE_ENC)
    entries = [str(vector.tolist()) for vector in EXAMPLE_ENC]
    tp.table(zip(EXAMPLE_NAMES, entries, scores),
             header=("vector", "its entries", "score"),
             caption="Step 1: scores for the decoder vector (10, 5, 10)")

# %% [markdown]
# ![Step 1: above each of the four encoder vectors stands its dot product with the decoder vector: 15, 60, 15 and
# 35.](figures/attention_steps_1.svg)
#
# ### Exercise 2 · Step 2: from scores to attention weights
#
# ![Step 2: a softmax over the scores 15, 60, 15, 35 gives the attention weights 2.9e−20, 1.0, 2.9e−20 and
# 1.4e−11.](figures/attention_steps_2.svg)
#
# **Attention weights** are positive and add up to 1. They are a softmax of the scores:
#
# $$\alpha_j = \frac{\exp(e_j / \tau)}{\sum_k \exp(e_k / \tau)}$$
#
# where $e_j$ are the scores and $\tau$ is the **temperature** (1 unless another one is given).
#
# Write `step2_weights(scores, temperature=1.0)` **from this formula**. Return the weights, not their logarithms.
#
# Two cautions:
# - scores may have more axes in front: (T, S) or (B, T, S). The softmax always runs over the **last** axis, the
#   source;
# - scores may be large. `exp(1000)` is infinite, and infinite divided by infinite is NaN. Subtracting the same number
#   from all scores of a row does not change its weights. Which number makes every `exp` safe?
#
# **Shapes.** scores (…, S) → attention weights (…, S).
#
# *Tiny example.* scores (0, ln 3) → weights (0.25, 0.75). With temperature 2: (0.366, 0.634).
#
# Do not use torch's `softmax`, `log_softmax` or `softmin`.
#
# *Minutes* 15 · *Difficulty* ●●○○
#
# <details><summary>Hint 1 · the idea</summary>
# Three moves: divide by the temperature, take the exponential, divide by the sum. The safety move comes before the
# exponential.
# </details>
# <details><summary>Hint 2 · the shape</summary>
# For scores (T, S) there are T sums, one per row. To divide (T, S) by them, they must be kept as (T, 1).
# </details>
# <details><summary>Hint 3 · the line</summary>
# <code>x.max(dim=…, keepdim=True)</code> returns two things; the first one is called <code>.values</code>. The
# largest exponent is then 0.
# </details>

# %% exercise="weights"
def step2_weights(scores, temperature=1.0):
    """Return the softmax of scores / temperature over the last axis.

    scores (..., S) → attention_weights (..., S).
    """
    # TODO: the formula above, safe for large scores
    ### BEGIN SOLUTION
    scaled = scores / temperature
    exps = torch.exp(scaled - scaled.max(dim=-1, keepdim=True).values)
    return exps / exps.sum(dim=-1, keepdim=True)
    ### END SOLUTION


# %% check="weights" points=3
tp.check("weights")

# %% [markdown]
# Rounded, the weights of our example are 0, 1, 0, 0. Here they are unrounded, also for scores divided by √H = √3 or by
# 10:

# %% demo="example-weights"
if tp.done("scores", "weights"):
    scores = step1_scores(EXAMPLE_DEC, EXAMPLE_ENC)
    tp.table([(title, *step2_weights(scores, tau)) for title, tau in
              [("as they are", 1.0), ("divided by √3", math.sqrt(3)),
               ("divided by 10", 10.0)]],
             header=("scores", *EXAMPLE_NAMES),
             caption="Step 2: the weights of 15, 60, 15, 35")

    taus = [10 ** (k / 20) for k in range(61)]
    # (temperatures, S); h1 and h3 have the same score, so one line stands for both
    rows = torch.stack([step2_weights(scores, tau) for tau in taus])
    figure = Figure(figsize=(6, 2.8), layout="constrained")
    ax = figure.subplots()
    for j, name, dash in ((1, "h2", "-"), (3, "h4", "--"), (0, "h1 and h3", ":")):
        ax.plot(taus, rows[:, j], dash, label=name, linewidth=2)
    ax.axhline(0.25, color="#5B6070", linewidth=0.8)
    ax.set(xscale="log", xlabel="temperature", ylabel="attention weight",
           title="softmax of 15, 60, 15, 35")
    ax.legend(frameon=False)
    tp.plots.show(figure, "Weights against temperature, 1 to 1000. At 1, h2 has weight "
                  "1 and the others nearly 0. They come together above 10; at 1000 all "
                  "are near one quarter.");

# %% [markdown]
# The fourth weight is half a billion times larger than the first, and yet both are so small that almost no gradient
# passes through them. With a low temperature (or scores far apart) one vector gets nearly all of the weight; with a
# high one all weights are close to 1/S.

# %% [markdown] answer="why-scale" points=2
# **Question 1.** The entries of two random vectors of size H are independent, with mean 0 and variance 1. How does the
# size of their dot product grow with H? What does this do to the softmax at H = 512, and to the gradient of the scores?
# Why is √H a good divisor?
#
# *Minutes* 5 · *Extension*
#
# ### BEGIN SOLUTION
# The dot product is a sum of H products with mean 0 and variance 1: its variance is H, its typical size √H. At H = 512
# a score is typically √512 = 22.6 in size, and two scores for the same query differ by about √(2 · 512) = 32. So the
# softmax is nearly one-hot from the start. The derivative of weight α_j with respect to score k is α_j (δ_jk − α_k): it
# vanishes where the weights are 0 or 1, so they hardly change in training. Dividing by √H brings the variance back to
# 1, whatever H is.
#
# **Rubric.** 1 point: the typical size is √H (variance H), so the softmax saturates. 1 point: a saturated softmax has
# nearly no gradient, and dividing by √H restores variance 1.
# ### END SOLUTION

# %% [markdown]
# ### Exercise 3 · Steps 3 and 4: weigh and add up
#
# ![Step 3: each encoder vector is multiplied by its weight. The second one stays (5, 0, 1), the other three are nearly
# zero.](figures/attention_steps_3.svg)
#
# ![Step 4: the four weighted vectors are added up. The context vector is (5, 0, 1), to within
# 1e−10.](figures/attention_steps_4.svg)
#
# - `step3_weigh(attention_weights, henc_ts)`: every encoder vector, multiplied by its own weight.
# - `step4_context(weighted)`: their sum, the context vector.
#
# **Shapes.** `attention_weights` (S,), `henc_ts` (S, H) → weighted (S, H) → context vector (H,).
#
# *Tiny example.* weights (0.25, 0.75), vectors (4, 8), (0, 8) → weighted (1, 2), (0, 6) → context (1, 8).
#
# *Minutes* 5 · *Difficulty* ●○○○
#
# <details><summary>Hint 1 · the idea</summary>
# A weight belongs to a whole vector: all its entries are multiplied by the same number. Then the vectors are added to
# one another, entry by entry.
# </details>
# <details><summary>Hint 2 · the shape</summary>
# Broadcasting lines up the <em>last</em> axes, so (S,) times (S, H) fails, or is wrong when S = H or H = 1. Make the
# weights (S, 1). In step 4 the axis that disappears is S.
# </details>
# <details><summary>Hint 3 · the line</summary>
# <code>.unsqueeze(…)</code> adds an axis of size one at the place you name. In step 4: <code>.sum(dim=…)</code>.
# </details>

# %% exercise="context"
def step3_weigh(attention_weights, henc_ts):
    """Return every encoder vector times its weight.

    attention_weights (S,), henc_ts (S, H) → weighted (S, H).
    """
    # TODO: multiply each vector by its weight
    ### BEGIN SOLUTION
    return attention_weights.unsqueeze(1) * henc_ts
    ### END SOLUTION


def step4_context(weighted):
    """Return the context vector: the sum of the weighted vectors.

    weighted (S, H) → context_vector (H,).
    """
    # TODO: add the vectors up
    ### BEGIN SOLUTION
    return weighted.sum(dim=0)
    ### END SOLUTION


# %% check="context" points=2
tp.check("context")

# %% demo="example-context"
if tp.done("scores", "weights", "context"):
    scores = step1_scores(EXAMPLE_DEC, EXAMPLE_ENC)
    rows = []
    for tau in (1.0, 10.0, 1000.0):
        weights = step2_weights(scores, tau)
        rows.append((tau, str([round(w, 3) for w in weights.tolist()]),
                     str([round(c, 3) for c in step4_context(
                         step3_weigh(weights, EXAMPLE_ENC)).tolist()])))
    tp.table(rows, header=("temperature", "weights", "context vector"),
             caption="Steps 2 to 4 on the example")

# %% [markdown]
# At temperature 1 the context is a copy of the second encoder vector, (5, 0, 1). At temperature 1000 it is nearly the
# mean of all four.
#
# ### Exercise 4 · Step 5: the decoder, step by step
#
# ![Step 5: the context vector (5, 0, 1) goes into the decoder, beside the decoder's own hidden
# vector.](figures/attention_steps_5.svg)
#
# The context vector can help to predict the current token, beside the decoder's own hidden vector, as in the picture
# and in exercise 13. Or it can go into the next step of the recurrence, beside the vector of the token, as here. With
# the new hidden vector the scores are computed again, so each step can attend to another position.
#
# Write `attention_decoder(cell, decoder_inputs, hdec_init, henc_ts)`. For each token vector, in this order:
# 1. scores: dot products of the **current** hidden vector (at first `hdec_init`) with each encoder vector;
# 2. attention weights: their softmax (you may use `torch.softmax` now);
# 3. context vector: the weighted sum;
# 4. the next hidden vector: `cell(x, hdec)`, where `x` is the token vector **followed by** the context vector.
#
# `cell` is a given `nn.GRUCell`. Return every hidden vector that the cell makes, and the weights of every step; detach
# neither.
#
# **Shapes.** `decoder_inputs` (T, D), `hdec_init` (H,), `henc_ts` (S, H) → `hdec_ts` (T, H), `attention_weights`
# (T, S). The input of `cell` is (D + H,).
#
# *Tiny example.* S = 2, `henc_ts` = (1, 2), (0, 4), `hdec_init` = (ln 3, 0). Scores: (ln 3, 0). Weights of the
# first step: (0.75, 0.25). Context: (0.75, 2.5). With the token vector (7,), the cell reads (7, 0.75, 2.5).
#
# *Minutes* 20 · *Difficulty* ●●○○ · *Extension*: session 5 writes this decoder with Bahdanau's own cell.
#
# <details><summary>Hint 1 · the idea</summary>
# It is the loop of session 1, with attention before each step. One variable holds the current hidden vector. The
# scores and the cell use it, and the cell replaces it.
# </details>
# <details><summary>Hint 2 · the shape</summary>
# Inside the loop there is no T: scores (S,), weights (S,), context (H,), cell input (D + H,). Collect the hidden
# vectors and the weights in two lists of length T; stacked, they are (T, H) and (T, S).
# </details>
# <details><summary>Hint 3 · the line</summary>
# <code>torch.cat([…, …])</code> joins two vectors end to end; <code>torch.stack(a_list)</code> piles vectors up along
# a new first axis.
# </details>

# %% exercise="steps"
def attention_decoder(cell, decoder_inputs, hdec_init, henc_ts):
    """Decode, and attend to all encoder vectors before each step.

    cell: (D + H,), (H,) → (H,). decoder_inputs (T, D), hdec_init (H,), henc_ts (S, H)
    → hdec_ts (T, H), attention_weights (T, S).
    """
    # TODO: for each token vector: scores, weights, context, one step of the cell
    ### BEGIN SOLUTION
    hdec = hdec_init
    hdec_ts, attention_weights = [], []
    for token_vector in decoder_inputs:
        scores = henc_ts @ hdec
        weights = torch.softmax(scores, dim=0)
        context_vector = weights @ henc_ts
        hdec = cell(torch.cat([token_vector, context_vector]), hdec)
        hdec_ts.append(hdec)
        attention_weights.append(weights)
    return torch.stack(hdec_ts), torch.stack(attention_weights)
    ### END SOLUTION


# %% check="steps" points=4
tp.check("steps")

# %% demo="decoder-looks"
if tp.done("steps"):
    cell = nn.GRUCell(2 + 3, 3)  # untrained: random weights
    with torch.no_grad():
        hdec_ts, attention_weights = attention_decoder(
            cell, torch.randn(6, 2), EXAMPLE_DEC, EXAMPLE_ENC)
    tp.attention_heatmap(attention_weights, EXAMPLE_NAMES,
                         [f"step {t}" for t in range(6)],
                         title="an untrained decoder on the example")

# %% [markdown]
# A row per decoder step, a column per encoder vector. The decoder starts from (10, 5, 10), whose weight is on h2. It is
# untrained, so the rows after the first have no meaning.
#
# We score with the hidden vector *before* the cell's step, as Bahdanau et al. do. Luong et al. (2015, arXiv
# 1508.04025) score with the one *after* it, and so does part 5.

# %% [markdown]
# ## 2 · All pairs at once
#
# In part 5, with teacher forcing, all decoder vectors are known before the first score. Attention for a batch of them,
# with loops, is right and slow:

# %% given="loops"
def attention_loops(hdec_ts, henc_ts):
    """Attend: hdec_ts (B, T, H), henc_ts (B, S, H)
    → contexts (B, T, H), weights (B, T, S).
    """
    contexts = torch.zeros_like(hdec_ts)
    weights = hdec_ts.new_zeros(*hdec_ts.shape[:2], henc_ts.shape[1])
    for b in range(len(hdec_ts)):
        for t in range(hdec_ts.shape[1]):
            scores = torch.stack([hdec_ts[b, t] @ henc for henc in henc_ts[b]])
            row = scores.softmax(dim=0)
            weights[b, t] = row
            contexts[b, t] = sum(w * henc for w, henc in zip(row, henc_ts[b]))
    return contexts, weights

# %% [markdown]
# ### Exercise 5 · Batched attention
#
# Write `batched_attention(hdec_ts, henc_ts)`, **without a loop**: for every row of the batch and every decoder
# timestep, the dot product with every encoder timestep **of the same row**; softmax over the encoder timesteps;
# weighted sum of the encoder vectors. Return the context vectors *and* the attention weights, neither detached.
# The rest of the session uses this function.
#
# **Shapes.** `hdec_ts` (B, T, H), `henc_ts` (B, S, H) → `context_vectors` (B, T, H), `attention_weights` (B, T, S).
#
# *Tiny example.* B = T = 1, S = 2: `hdec_ts` = [[(ln 3, 0)]], `henc_ts` = [[(1, 2), (0, 4)]] → weights
# [[(0.75, 0.25)]], context [[(0.75, 2.5)]].
#
# *Minutes* 20 · *Difficulty* ●●○○
#
# <details><summary>Hint 1 · the idea</summary>
# <code>A @ B</code> on tensors with three axes is one matrix product per row of the batch; rows never mix.
# </details>
# <details><summary>Hint 2 · the shape</summary>
# (B, T, H) @ (B, H, S) gives (B, T, S). So the encoder's last two axes must change places: exchanged, not cut up anew.
# Then (B, T, S) @ (B, S, H) gives (B, T, H).
# </details>
# <details><summary>Hint 3 · the line</summary>
# <code>x.transpose(i, j)</code> exchanges two axes; <code>.view</code> and <code>.reshape</code> do not. The softmax
# needs its <code>dim</code>: which of B, T, S must the weights add up to 1 over?
# </details>

# %% exercise="batched"
def batched_attention(hdec_ts, henc_ts):
    """Attend by dot products, with all decoder timesteps to all encoder timesteps.

    hdec_ts (B, T, H), henc_ts (B, S, H)
    → context_vectors (B, T, H), attention_weights (B, T, S).
    """
    # TODO: scores (B, T, S), weights over the source, weighted sums
    ### BEGIN SOLUTION
    scores = hdec_ts @ henc_ts.transpose(1, 2)
    attention_weights = torch.softmax(scores, dim=2)
    context_vectors = attention_weights @ henc_ts
    return context_vectors, attention_weights
    ### END SOLUTION


# %% check="batched" points=4
tp.check("batched")

# %% [markdown]
# Now measure the time of both passes, forward and backward.

# %% demo="measure"
def seconds_for(attention, repeats, T=11, S=7, B=64, H=128):
    """Return the seconds of a forward and backward pass, the best of `repeats`, and the
    context vectors.
    """
    torch.manual_seed(0)
    hdec_ts, henc_ts = (torch.randn(B, T, H, requires_grad=True),
                        torch.randn(B, S, H, requires_grad=True))
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        context_vectors = attention(hdec_ts, henc_ts)[0]
        context_vectors.sum().backward()
        times.append(time.perf_counter() - start)
    return min(times), context_vectors.detach()


def attention_built_in(hdec_ts, henc_ts):
    """Call torch's own; `scale=1`, or it would divide the scores by √H."""
    return F.scaled_dot_product_attention(hdec_ts, henc_ts, henc_ts, scale=1.0), None


if tp.done("batched"):
    slow, context_loops = seconds_for(attention_loops, 2)
    rows = [["loops", f"{1000 * slow:.1f} ms", "1", ""]]
    for name, attention in {"batched": batched_attention,
                            "built in": attention_built_in}.items():
        fast, context = seconds_for(attention, 30)
        rows.append([name, f"{1000 * fast:.2f} ms", f"{slow / fast:.0f}",
                     f"{(context - context_loops).abs().max():.0e}"])
    tp.table(rows, ["attention", "forward and backward", "times as fast",
                    "largest difference"])

# %% [markdown]
# The results are the same up to rounding. The loops take longer, because Python calls torch once for each dot product.
#
# **Which axis?** A softmax over the wrong axis keeps the shape and raises no error. Here is a case with a known answer:
# the decoder vectors are the encoder vectors in reverse order, made longer, so that each one matches itself.

# %% demo="reversed"
if tp.done("batched"):
    word = "MIRROR"
    letters = sorted(set(word))
    # one-hot, (1, S, H)
    henc_ts = torch.eye(len(letters))[[letters.index(c) for c in word]].unsqueeze(0)
    _, attention_weights = batched_attention(5 * henc_ts.flip(1), henc_ts)
    print("sums over the source:", attention_weights[0].sum(dim=1).tolist())
    tp.attention_heatmap(attention_weights[0], word, word[::-1],
                         title="each letter matches itself")

# %% [markdown]
# The anti-diagonal is there. R occurs three times, and each R gives all three of them the same weight, 0.33: one-hot
# vectors encode the token and not its position. The sums over the *source* must always be 1.

# %% [markdown]
# ### Exercise 6 · Padding gets a weight of 0
#
# Short sentences of a batch are filled up with padding. The encoder has a vector for the padding too, and a softmax
# gives some weight to everything. A **padding mask** marks the real tokens.
#
# 1. `padding_mask(lengths, S)`: True where there is a real token, False on padding.
# 2. `masked_softmax(scores, mask)`: a softmax over the source that gives padding a weight of **exactly 0**, while the
#    real tokens still add up to 1.
#
# A row may have no real token at all (length 0). Its weights must be 0 everywhere; neither they nor the gradient may
# become NaN.
#
# **Shapes.** `lengths` (B,) integers → mask (B, S) booleans. `scores` (B, T, S), `mask` (B, S) → weights (B, T, S). A
# mask may have holes anywhere, not only at the end.
#
# *Tiny example.* lengths (2, 0), S = 3 → mask [[True, True, False], [False, False, False]]. With all scores 0, the
# weights of row 0 are (0.5, 0.5, 0), those of row 1 are (0, 0, 0).
#
# *Minutes* 20 · *Difficulty* ●●●○
#
# <details><summary>Hint 1 · the idea</summary>
# Change the <em>scores</em>, before the softmax: the score of padding becomes so low that its exponential is 0. Then
# the softmax shares 1 among the others. For the empty row, think about what comes out, and what you want.
# </details>
# <details><summary>Hint 2 · the shape</summary>
# The mask (B, S) is about source positions. The scores are (B, T, S). It needs an axis of size one in the
# place of T. For the other function: positions (S,) compared with lengths (B, 1) give (B, S).
# </details>
# <details><summary>Hint 3 · the line</summary>
# <code>scores.masked_fill(where, value)</code> returns a <em>new</em> tensor, filled where <code>where</code> is True.
# With −∞ an empty row becomes 0/0. <code>torch.finfo(scores.dtype).min</code> is the lowest finite number of this type.
# </details>

# %% exercise="masked"
def padding_mask(lengths, S):
    """Return a mask (B, S), True at the real tokens; lengths (B,)."""
    # TODO: position s is real in row b when s < lengths[b]
    ### BEGIN SOLUTION
    positions = torch.arange(S, device=lengths.device)
    return positions < lengths.unsqueeze(1)
    ### END SOLUTION


def masked_softmax(scores, mask):
    """Return a softmax over the source, exactly 0 wherever the mask is False.

    scores (B, T, S), mask (B, S) booleans → attention_weights (B, T, S);
    all 0 where a row has no real token.
    """
    # TODO: mask the scores, then softmax; mind the row without a token
    ### BEGIN SOLUTION
    real = mask.unsqueeze(1)
    lowest = torch.finfo(scores.dtype).min
    masked = scores.masked_fill(~real, lowest)
    return torch.softmax(masked, dim=2) * real
    ### END SOLUTION


# %% check="masked" points=4
tp.check("masked")

# %% demo="mask-before-after"
if tp.done("masked"):
    scores = torch.randn(1, 4, 7)
    mask = padding_mask(torch.tensor([4]), 7)
    tokens = ["le", "chat", "dort", "EOS", "PAD", "PAD", "PAD"]
    tp.plots.attention_heatmaps({"plain softmax": torch.softmax(scores, dim=2)[0],
                                 "masked softmax": masked_softmax(scores, mask)[0]},
                                tokens, ["the", "cat", "sleeps", "EOS"], numbers=True)

# %% [markdown]
# On the left, padding gets part of the weight, so the context vector contains padding vectors. On the right it gets
# none.

# %% [markdown]
# ## 3 · Six score functions
#
# Luong et al. compare *dot*, *general*, *concat* and *location*; *additive*, the same function as concat, is from
# Bahdanau et al., *scaled dot* from Vaswani et al. 2017 (arXiv 1706.03762), *cosine* from Graves et al. 2014 (arXiv
# 1410.5401). Below, $s$ is a decoder vector (size H), $h$ an encoder vector (size G; G = H in the first three), A the
# size of a hidden layer.
#
# ![The table below as a figure, with d for H, and with what each score compares.](figures/score_functions.svg)
#
# | name | score of $s$ and $h$ | parameters |
# |---|---|---|
# | dot | $s^\top h$ | none |
# | scaled dot | $s^\top h / \sqrt{H}$ | none |
# | cosine (content based) | $s^\top h / (\lVert s\rVert\,\lVert h\rVert)$ | none |
# | general (bilinear) | $s^\top W_a h$ | $W_a$ (H, G) |
# | additive (concat) | $v_a^\top \tanh(W_a s + U_a h)$ | $W_a$ (A, H), $U_a$ (A, G), $v_a$ (A,) |
# | location based | entry $j$ of $W_a s$, for source position $j$ | $W_a$ (S, H) |
#
# ### Exercise 7 · Three scores without parameters
#
# Write `dot_score`, `scaled_dot_score` and `cosine_score`. They return **scores**: no softmax here. A vector of zeros
# has no direction: its cosine score must be 0, not NaN.
#
# **Shapes.** `hdec_ts` (B, T, H), `henc_ts` (B, S, H) → scores (B, T, S).
#
# *Tiny example.* $s$ = (3, 4), $h$ = (6, 8): dot 50, scaled dot 50/√2 = 35.36, cosine 1.
#
# *Minutes* 10 · *Difficulty* ●●○○ · *Extension*: the rest of the session needs the dot product alone.
#
# <details><summary>Hint 1 · the idea</summary>
# The second and the third are the first one, divided by something. For the cosine, make every vector one unit long
# first; then it is a plain dot product.
# </details>
# <details><summary>Hint 2 · the shape</summary>
# A vector lies along the last axis. Its length is one number: lengths (B, T, 1) for the decoder, (B, S, 1) for the
# encoder, kept as axes of size one so that the division fits.
# </details>
# <details><summary>Hint 3 · the line</summary>
# <code>x.norm(dim=…, keepdim=True)</code> is the length; <code>.clamp(min=…)</code> with a very small number keeps it
# away from 0.
# </details>

# %% exercise="plain-scores"
def dot_score(hdec_ts, henc_ts):
    """Return dot products (B, T, S); hdec_ts (B, T, H), henc_ts (B, S, H)."""
    # TODO
    ### BEGIN SOLUTION
    return hdec_ts @ henc_ts.transpose(1, 2)
    ### END SOLUTION


def scaled_dot_score(hdec_ts, henc_ts):
    """Return dot products / √H (B, T, S); hdec_ts (B, T, H), henc_ts (B, S, H)."""
    # TODO
    ### BEGIN SOLUTION
    H = hdec_ts.shape[2]
    return hdec_ts @ henc_ts.transpose(1, 2) / math.sqrt(H)
    ### END SOLUTION


def cosine_score(hdec_ts, henc_ts):
    """Return cosines (B, T, S); hdec_ts (B, T, H), henc_ts (B, S, H).

    The cosine of a vector of zeros is 0.
    """
    # TODO
    ### BEGIN SOLUTION
    dec_units = hdec_ts / hdec_ts.norm(dim=2, keepdim=True).clamp(min=1e-8)
    enc_units = henc_ts / henc_ts.norm(dim=2, keepdim=True).clamp(min=1e-8)
    return dec_units @ enc_units.transpose(1, 2)
    ### END SOLUTION


# %% check="plain-scores" points=3
tp.check("plain-scores")


# %% [markdown]
# ### Exercise 8 · Three scores with parameters
#
# Now the encoder and the decoder may have different sizes: G and H. The parameters are given as tensors; in a network
# they would be learned.
#
# - `general_score(hdec_ts, henc_ts, W_a)`: a matrix brings the two sizes together.
# - `additive_score(hdec_ts, henc_ts, W_a, U_a, v_a)`: a small network with one hidden layer of size A.
# - `location_score(hdec_ts, W_a)`: the scores depend on the decoder alone, not on the encoder vectors.
#
# **Shapes.** `hdec_ts` (B, T, H), `henc_ts` (B, S, G) → scores (B, T, S). Parameters: general `W_a` (H, G); additive
# `W_a` (A, H), `U_a` (A, G), `v_a` (A,); location `W_a` (S, H).
#
# *Tiny example.* H = G = 1, $s$ = 2, $h$ = 3. General with $W_a$ = 10: 60. Additive with $W_a$ = 1, $U_a$ = −1,
# $v_a$ = 5: 5 · tanh(−1) = −3.81. Location with $W_a$ = (1, 4), two source positions: scores (2, 8).
#
# *Minutes* 25 · *Difficulty* ●●●○ · *Extension*: session 5 asks for the additive score again, where it is trained.
#
# <details><summary>Hint 1 · the idea</summary>
# General: send the decoder vectors through the matrix, then it is a dot product. Additive: add every decoder vector to
# every encoder vector, <em>before</em> the tanh. Location: one matrix product, nothing else.
# </details>
# <details><summary>Hint 2 · the shape</summary>
# Additive: projected decoder (B, T, 1, A) plus projected encoder (B, 1, S, A) is (B, T, S, A) by broadcasting. After
# the tanh, <code>v_a</code> takes away the axis A.
# </details>
# <details><summary>Hint 3 · the line</summary>
# For <code>W_a</code> (A, H), the product for all vectors at once is <code>hdec_ts @ W_a.T</code>. <code>x @ v</code>
# with a vector <code>v</code> sums over the last axis.
# </details>

# %% exercise="learned-scores"
def general_score(hdec_ts, henc_ts, W_a):
    """Return sᵀ W_a h (B, T, S); hdec_ts (B, T, H), henc_ts (B, S, G), W_a (H, G)."""
    # TODO
    ### BEGIN SOLUTION
    return hdec_ts @ W_a @ henc_ts.transpose(1, 2)
    ### END SOLUTION


def additive_score(hdec_ts, henc_ts, W_a, U_a, v_a):
    """Return v_aᵀ tanh(W_a s + U_a h) for every pair of timesteps.

    hdec_ts (B, T, H), henc_ts (B, S, G), W_a (A, H), U_a (A, G), v_a (A,)
    → scores (B, T, S).
    """
    # TODO
    ### BEGIN SOLUTION
    from_decoder = (hdec_ts @ W_a.T).unsqueeze(2)  # (B, T, 1, A)
    from_encoder = (henc_ts @ U_a.T).unsqueeze(1)  # (B, 1, S, A)
    return torch.tanh(from_decoder + from_encoder) @ v_a
    ### END SOLUTION


def location_score(hdec_ts, W_a):
    """Return the entries of W_a s (B, T, S); hdec_ts (B, T, H), W_a (S, H).

    They come from the decoder alone.
    """
    # TODO
    ### BEGIN SOLUTION
    return torch.einsum("bth,sh->bts", hdec_ts, W_a)
    ### END SOLUTION


# %% check="learned-scores" points=4
tp.check("learned-scores")

# %% [markdown]
# All six on the same data: one decoder vector, and encoder vectors for which you can predict the first three panels.
# Which bar is highest under *dot*, and which under *cosine*?

# %% demo="six-scores"
if tp.done("plain-scores", "learned-scores"):
    s = torch.tensor([1.0, 1.0, 1.0, 1.0])
    fit_names = ["equal", "3 × longer", "near", "right angle", "opposite", "zero"]
    near, right_angle = (torch.tensor([1.0, 1.0, 1.0, 0.0]),
                         torch.tensor([1.0, -1.0, 1.0, -1.0]))
    h = torch.stack([s, 3 * s, near, right_angle, -s, 0 * s])
    s, h = s.view(1, 1, 4), h.unsqueeze(0)  # (B, T, H), (B, S, H)
    W, U, v = torch.randn(5, 4), torch.randn(5, 4), torch.randn(5)  # untrained
    six = {"dot": dot_score(s, h), "scaled dot": scaled_dot_score(s, h),
           "cosine": cosine_score(s, h),
           "general": general_score(s, h, torch.randn(4, 4)),
           "additive": additive_score(s, h, W, U, v),
           "location": location_score(s, torch.randn(6, 4))}
    six = {name: torch.softmax(scores, dim=2)[0, 0] for name, scores in six.items()}

    figure = Figure(figsize=(8, 4.4), layout="constrained")
    for ax, (name, weights) in zip(figure.subplots(2, 3, sharex=True, sharey=True).flat,
                                   six.items()):
        ax.bar(fit_names, weights, color="#7A2E9D")
        ax.set_title(name, fontsize=11)
        ax.tick_params(axis="x", rotation=60)
        ax.spines[["top", "right"]].set_visible(False)
    figure.supylabel("attention weight")
    figure.suptitle("six scores of the same six encoder vectors")
    said = [f"{name}: highest on {fit_names[int(w.argmax())]} ({w.max():.2f})."
            for name, w in six.items()]
    rows = [[name, *(f"{w:.3f}" for w in weights)] for name, weights in six.items()]
    tp.plots.show(figure, "Attention weights of six score functions on the same six "
                          "encoder vectors. " + " ".join(said),
                  (["score", *fit_names], rows));

# %% [markdown]
# - *Dot* grows with the length: a vector three times as long has three times the score. *Scaled dot* gives flatter
#   weights, in the same order.
# - *Cosine* depends on the direction only: "equal" and "3 × longer" get the same weight. Its scores lie between −1 and
#   1, so no weight is more than e² = 7.4 times another; cosines are usually divided by a small temperature.
# - *General*, *additive* and *location* are untrained here, so their patterns mean nothing. In training they learn what
#   counts as a match. *Location* would show the same bars for other encoder vectors.

# %% [markdown] answer="which-score" points=2
# **Question 2.** Which score function would you try first, and why: (a) the encoder has 256 units and the decoder 512;
# (b) the length of the encoder vectors is noise, only their direction carries meaning; (c) very long sequences on a
# GPU, equal sizes, and speed is what counts; (d) the model reads its input strictly from left to right at a steady
# pace?
#
# *Minutes* 5 · *Extension*
#
# ### BEGIN SOLUTION
# (a) General or additive: the sizes differ, and their matrices bring them together; dot products are not defined. (b)
# Cosine, with a low temperature: it divides the lengths away. (c) Scaled dot: one matrix product, no (B, T, S, A)
# tensor as in the additive score, and no saturation at large H. (d) Location based can be enough, since the position
# follows from the decoder's state alone (it needs a bound on S and ignores content).
#
# **Rubric.** 0.5 points: (a), with a reason; another choice counts if its reason holds, here and below. 0.5 points:
# (b), with a reason. 0.5 points: (c), with a reason. 0.5 points: (d), with a reason.
# ### END SOLUTION

# %% [markdown]
# ## 4 · Look-up by attention
#
# A task: given a row of `d` digits and an index, answer the digit at that index.
#
# | `data` | `target_idx` | `y` |
# |---|---|---|
# | 3 1 4 1 5 9 2 6 5 3 | 5 | 9 |
#
# A network that reads the row *before* the index, and keeps one vector of it, must store every digit in this vector,
# which can become an **information bottleneck**.
#
# ![Five source tokens go through an encoder. Only its last hidden vector of H numbers reaches the decoder, which
# writes the whole translation from it.](figures/bottleneck.svg)

# %% given="data"
def gen_data(N, d, low, high):
    """Draw N rows of d integers in [low, high), an index for each, and the entry there.

    They are ((data (N, d), target_idx (N,)), y (N,)), all int64.
    """
    data = torch.randint(low, high, (N, d))
    target_idx = torch.randint(0, d, (N,))
    y = data[torch.arange(N), target_idx]
    return (data, target_idx), y


def fit(net, make_batch, steps, title="", learning_rate=0.01, watch=None):
    """Train `net(data, target_idx) → logits` by cross-entropy on fresh batches.

    Each step has a new batch from `make_batch()`. The learning rate falls in a
    straight line to 0, so that the last steps are small ones. `watch(step)`, if
    given, is called before each step; what it returns, name → number, is drawn
    beside the loss.
    """
    optimizer = torch.optim.Adam(net.parameters(), learning_rate)
    view = tp.live(steps=steps, title=title)
    for step in view:
        if watch is not None:
            view.log(**watch(step))
        net.train()
        optimizer.param_groups[0]["lr"] = learning_rate * (1 - step / steps)
        (data, target_idx), y = make_batch()
        loss = F.cross_entropy(net(data, target_idx), y)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        view.log(loss=loss)
    return view


@torch.no_grad()
def hits(net, data, target_idx, y):
    """Return whether each row is answered right, (N,) booleans, without dropout."""
    net.eval()
    return net(data, target_idx).argmax(dim=1) == y


# %% given="last-vector"
class LastVector(nn.Module):
    """Reads the row with a GRU of 32 units, keeps its last hidden vector only.

    It is given the index afterwards.
    """

    def __init__(self, d, n_values=10, size=32):
        super().__init__()
        self.token_embedding = nn.Embedding(n_values, size)
        self.index_embedding = nn.Embedding(d, size)
        self.gru = nn.GRU(size, size, batch_first=True)
        self.answer = nn.Sequential(
            nn.Linear(2 * size, 64), nn.ReLU(), nn.Linear(64, n_values))

    def forward(self, data, target_idx):
        """Return logits (B, n_values); data (B, S), target_idx (B,)."""
        _, henc_final = self.gru(self.token_embedding(data))  # (1, B, H)
        return self.answer(
            torch.cat([henc_final[0], self.index_embedding(target_idx)], dim=1))

# %% [markdown]
# We train it on rows of 2, 4, 8 and 16 digits, with the same size and number of steps. Every batch is drawn anew.
# What accuracy do you expect for each length? The chance level is 0.10.

# %% training="bottleneck-by-length"
bottleneck = {}
for d in (2, 4, 8, 16):
    net = LastVector(d)
    fit(net, lambda: gen_data(128, d, 0, 10), steps=400,
        title=f"one last vector, {d} digits")
    (data, target_idx), y = gen_data(4000, d, 0, 10)
    right = hits(net, data, target_idx, y).float()
    bottleneck[d] = [right[target_idx == i].mean().item() for i in range(d)]

tp.table([(d, sum(by_index) / d) for d, by_index in bottleneck.items()],
         header=("digits in the row", "accuracy on new rows"),
         caption="One last vector, one seed for each length")

# %% [markdown]
# The longer the row, the lower the accuracy. In our runs (five seeds, and our executed notebook) it was 1.000 for
# 2 digits, 0.745 to 0.801 for 4, 0.399 to 0.438 for 8, and 0.213 to 0.226 for 16. This does not separate what fits
# into 32 numbers from what a GRU learns in 400 steps.

# %% [markdown] answer="why-bottleneck" points=2
# **Question 3.** A colleague says: "Take 1000 units instead of 32 and the bottleneck is gone." What is right in this,
# what is wrong, and what does attention do that a larger vector does not?
#
# *Minutes* 5
#
# ### BEGIN SOLUTION
# A larger vector can hold more, so the length at which accuracy falls can move up. But its size is still chosen before
# the length of the input is known, and every unit costs on short inputs too. It is also hard to *learn* to keep
# everything, because what is needed is known only later, and the gradient of an early token passes through all the
# later steps. Attention keeps one vector per source token: the memory grows with the input, and the weights are
# computed when the query is known. The path of the gradient from the output to a source token is short.
#
# **Rubric.** 1 point: a fixed size against a growing input (larger helps, the limit stays). 1 point: attention keeps
# all encoder vectors, so that memory grows with S, and selects at the moment of need (or: gives a short way for the
# gradient).
# ### END SOLUTION

# %% [markdown]
# Now with attention, in eight steps, on one example. Predict each shape first.
#
# 1. Look at the data.
# 2. Embed a token. A digit is a category here: each one gets a learned vector of size D = 128.
# 3. One step of a bidirectional LSTM (session 1, part 5), 32 units in each direction.
# 4. The full sequence: one vector per token. Attention chooses from these.
# 5. Embed the index. It has a table of its own: index 3 and digit 3 have nothing in common.
# 6. Map it to the size of the hidden vectors, 128 → 64. The result is the query.
# 7. Scores, weights, weighted sum.
# 8. A linear layer, and a softmax over the ten values.

# %% demo="lookup-steps"
(data, target_idx), y = gen_data(1, 10, 0, 10)
print("1 data      ", tuple(data.shape), data.tolist(), " target_idx",
      tuple(target_idx.shape), target_idx.tolist(), " y", tuple(y.shape), y.tolist())

token_embedding = nn.Embedding(10, 128)
token_vectors = token_embedding(data)
print("2 one token ", tuple(token_embedding(data[:, 0]).shape),
      " all tokens", tuple(token_vectors.shape))

lstm = nn.LSTM(128, 32, bidirectional=True, batch_first=True)
output, (h_n, c_n) = lstm(token_vectors[:, :1])
print("3 output    ", tuple(output.shape), " h_n", tuple(h_n.shape),
      " c_n", tuple(c_n.shape))

henc_ts, _ = lstm(token_vectors)
print("4 henc_ts   ", tuple(henc_ts.shape))

index_embedding = nn.Embedding(10, 128)
index_vector = index_embedding(target_idx)
print("5 index     ", tuple(index_vector.shape))

query_layer = nn.Linear(128, 64)
query = query_layer(index_vector)
print("6 query     ", tuple(query.shape))

scores = torch.tensordot(query, henc_ts, dims=([1], [2]))[0]  # (1, S)
attention_weights = torch.exp(scores)
attention_weights = attention_weights / attention_weights.sum(1)
context_vector = torch.tensordot(attention_weights, henc_ts, dims=([1], [1]))[:, 0]
print("7 scores    ", tuple(scores.shape), " context", tuple(context_vector.shape),
      " sum of the weights", round(attention_weights.sum().item(), 4))

output_layer = nn.Linear(64, 10)
logits = output_layer(context_vector)
print("8 logits    ", tuple(logits.shape), " most probable digit, not trained yet:",
      torch.softmax(logits, dim=1).argmax(dim=1).item())

# %% [markdown]
# Step 7 is right for a batch of one only. With a batch of three:

# %% demo="lookup-7-trap"
three = torch.tensordot(torch.randn(3, 64), torch.randn(3, 10, 64), dims=([1], [2]))
print("tensordot of (3, 64) and (3, 10, 64):", tuple(three.shape))
weights = torch.rand(3, 3)
print("after the division by .sum(1), the rows add up to",
      (weights / weights.sum(1)).sum(1).tolist())

# %% [markdown]
# `tensordot` pairs *all* rows with *all* queries: (B, B, S). And `x.sum(1)` drops its axis, so the division uses the
# wrong one; it raises no exception when the sizes agree. So test with a batch of several rows, and with sizes that are
# all different.

# %% [markdown]
# ### Exercise 9 · The same as one module
#
# The layers are given, under the names of the steps. Write `Net.forward(data, target_idx)`, for a batch of any size:
#
# - steps 2 and 4: token vectors, then all hidden vectors of the LSTM;
# - steps 5 and 6: index vector, then query;
# - step 7: your `batched_attention`, with a single decoder timestep. Keep the weights as `self.attention_weights`;
# - `self.dropout` on the context vector, then step 8, **without** its softmax: return logits. The loss,
#   `F.cross_entropy`, does the softmax itself.
#
# **Dropout** reduces **overfitting**, a larger error on new data than on training data (Srivastava et al. 2014): in
# training it sets each entry to 0 with probability 0.5 and doubles the others.
#
# **Shapes.** `data` (B, S) and `target_idx` (B,), integers → logits (B, n_values). `self.attention_weights` (B, S).
# Hidden vectors of the LSTM: (B, S, 2 × hidden_size).
#
# *Tiny example.* If the query of a row is 0, its weights are all 1/S, and the context is the mean of its hidden
# vectors.
#
# *Minutes* 20 · *Difficulty* ●●●○ · *Extension*: the core goes on in part 5, with attention in the decoder.
#
# <details><summary>Hint 1 · the idea</summary>
# The query is a decoder that makes one timestep. Nothing in the body may depend on the size of the batch.
# </details>
# <details><summary>Hint 2 · the shape</summary>
# The query is (B, 2H); as (B, 1, 2H) it is what <code>batched_attention</code> expects. What comes back is (B, 1, 2H)
# and (B, 1, S): take the axis of size one away again.
# </details>
# <details><summary>Hint 3 · the line</summary>
# <code>.unsqueeze(…)</code> before, <code>.squeeze(…)</code> after, each with the <em>number</em> of the axis:
# without it, a batch of one loses its batch axis.
# </details>

# %% exercise="net"
class Net(nn.Module):
    """Looks up `data[i, target_idx[i]]` by attention over a bidirectional LSTM."""

    def __init__(self, n_values=10, d=10, embedding_size=128, hidden_size=32,
                 dropout=0.5):
        super().__init__()
        self.token_embedding = nn.Embedding(n_values, embedding_size)
        self.lstm = nn.LSTM(embedding_size, hidden_size, bidirectional=True,
                            batch_first=True)
        self.index_embedding = nn.Embedding(d, embedding_size)
        self.query_layer = nn.Linear(embedding_size, 2 * hidden_size)
        self.dropout = nn.Dropout(dropout)
        self.output_layer = nn.Linear(2 * hidden_size, n_values)

    def forward(self, data, target_idx):
        """Return logits (B, n_values); data (B, S), target_idx (B,).

        Keeps self.attention_weights (B, S).
        """
        # TODO: the eight steps, for a batch
        ### BEGIN SOLUTION
        henc_ts, _ = self.lstm(self.token_embedding(data))
        query = self.query_layer(self.index_embedding(target_idx))
        context_vectors, attention_weights = batched_attention(
            query.unsqueeze(1), henc_ts)
        self.attention_weights = attention_weights.squeeze(1)
        return self.output_layer(self.dropout(context_vectors.squeeze(1)))
        ### END SOLUTION


# %% check="net" points=5
tp.check("net")

# %% [markdown]
# **Train it**, on 5000 rows; 5000 others are for the test. The query encodes a position, so the keys must contain
# theirs: the LSTM must learn to *count*. It starts from orthogonal recurrent matrices, which keep the length of the
# vector that they multiply, and from small token vectors.

# %% given="start-weights"
def good_start(net):
    """Start from orthogonal recurrent matrices, one per gate, and small token vectors.

    The rest stays as torch made it.
    """
    for name, parameter in net.lstm.named_parameters():
        if name.startswith("weight_hh"):
            for gate in parameter.data.chunk(4):
                nn.init.orthogonal_(gate)
    nn.init.normal_(net.token_embedding.weight, std=0.1)
    return net


# %% training="lookup-training"
if tp.done("batched", "net"):
    torch.manual_seed(0)
    (train_data, train_idx), train_y = gen_data(5000, 10, 0, 10)
    (test_data, test_idx), test_y = gen_data(5000, 10, 0, 10)

    def train_batch():
        rows = torch.randint(0, 5000, (128,))
        return (train_data[rows], train_idx[rows]), train_y[rows]

    maps = {}

    def on_unseen_rows(step):
        """Return, every 20 steps, the loss on 1000 rows never trained on.

        At four of the steps, keep their mean weights, by the index: (10, 10).
        """
        if step % 20:
            return {}
        net.eval()
        with torch.no_grad():
            logits = net(test_data[:1000], test_idx[:1000])
        if step in (0, 20, 60, 100):
            by_index = [net.attention_weights[test_idx[:1000] == i].mean(dim=0)
                        for i in range(10)]
            maps[f"step {step}"] = torch.stack(by_index)
        return {"val_loss": F.cross_entropy(logits, test_y[:1000])}

    net = good_start(Net())
    fit(net, train_batch, steps=400, title="look-up by attention",
        watch=on_unseen_rows).plot()
    print("accuracy on 5000 rows never seen: "
          f"{hits(net, test_data, test_idx, test_y).float().mean():.4f}")

# %% [markdown]
# Both losses fall to nearly 0. (The validation loss may be lower, because it is measured without dropout.) Now ask for
# each of the ten positions of one row:

# %% demo="lookup-heatmap"
if tp.done("batched", "net"):
    row = test_data[:1].expand(10, 10)
    net.eval()
    with torch.no_grad():
        answers = net(row, torch.arange(10)).argmax(dim=1).tolist()
    columns = [f"{i}: {digit}" for i, digit in enumerate(row[0].tolist())]
    questions = [f"index {i} → {answer}" for i, answer in enumerate(answers)]
    tp.attention_heatmap(net.attention_weights, columns, questions,
                         title="one row of digits, ten questions")

# %% [markdown]
# The training data contain no attention weights, only answers. Is the darkest column (highest weight) the right one?

# %% demo="lookup-darkest"
if tp.done("batched", "net"):
    hits(net, test_data, test_idx, test_y)
    away = (net.attention_weights.argmax(dim=1) - test_idx).abs()
    tp.table([("at the index itself", (away == 0).float().mean()),
              ("next to it", (away == 1).float().mean())],
             header=("the darkest column is", "share of 5000 rows"))

# %% [markdown]
# The same weights during the training; each row is a mean over about 100 rows of digits:

# %% demo="lookup-growing"
if tp.done("batched", "net"):
    positions, questions = ([str(i) for i in range(10)],
                            [f"index {i}" for i in range(10)])
    tp.plots.attention_heatmaps(maps, positions, questions, columns=2)

# %% [markdown] answer="read-weights" points=2
# **Question 4.** For which indices is the attention right first, and why for these? How does the rest of the diagonal
# grow? In the finished map, does the darkest column prove that the answer came from its digit alone? (Think of what
# one hidden vector of a bidirectional LSTM contains.)
#
# *Minutes* 5 · *Extension*
#
# ### BEGIN SOLUTION
# The two ends come first, within some 20 steps in the executed run. At position 0 the forward LSTM has made one step
# only, and at position 9 the backward one: there the hidden vector differs from all others, whatever the digits are.
# The others begin as a broad band around the right column, which narrows as the LSTM learns to count. It does not prove
# it: a hidden vector is not its token. The one at column 4 has read everything from the left up to 4 and everything
# from the right down to 4, so a neighbouring column can carry the digit too. An attention weight is the share of a
# vector in the context. What the vector contained must be tested, for example by overwriting it with a vector of
# another row and checking whether the answer follows. (Changing the digit would change all vectors, so it does not
# separate the columns.)
#
# **Rubric.** 1 point: the ends first, with a reason (one step from the edge; the inner ones need counting). 1 point:
# the hidden vectors mix several positions, so weights are evidence, not proof (or: a test by replacing a vector).
# ### END SOLUTION

# %% [markdown]
# What if there is no LSTM, and each key is the embedding of its digit?
#
# ### Exercise 10 · A bag of digits
#
# A **bag of tokens** (bag of words) keeps how often each token occurs and drops their order. In `BagNet` the keys are
# token vectors. With `positions=True` a learned vector for each position, a **positional encoding**, is added to the
# **keys**. The values are the token vectors alone, in both cases.
#
# 1. `BagNet.forward`:
#    - token vectors of `data`; keys = token vectors, plus the position vectors 0, 1, …, S − 1 when `self.positions`;
#    - query = index vector; scores = dot product of query and keys, divided by √hidden_size;
#    - weights (kept as `self.attention_weights`) = softmax over the source; context = weighted sum of the **token
#      vectors**; return the output layer of the context.
# 2. `best_without_order(data)`: the best accuracy that can be **expected** without the order. For one row, the best
#    answer is its most frequent digit, which is right with probability (how often it occurs) / S. Return the mean over
#    the rows.
#
# **Shapes.** `data` (B, S), `target_idx` (B,) → logits (B, n_values); `self.attention_weights` (B, S).
# `best_without_order`: (B, S) → a number.
#
# *Tiny example.* `best_without_order` of the rows (7, 7, 7, 2) and (1, 2, 3, 1): (3/4 + 2/4) / 2 = 0.625.
#
# *Minutes* 25 · *Difficulty* ●●●○ · *Extension*: the same look-up without a recurrence.
#
# <details><summary>Hint 1 · the idea</summary>
# The forward is that of <code>Net</code> with the LSTM taken out; what is scored (keys) and what is summed (token
# vectors) are now two different things. For the bound: count each digit per row, take the largest count.
# </details>
# <details><summary>Hint 2 · the shape</summary>
# Position vectors (S, H) added to (B, S, H): broadcasting repeats them for each row. Counts: one-hot (B, S, V), summed
# over S, is (B, V); the largest count is (B,).
# </details>
# <details><summary>Hint 3 · the line</summary>
# <code>torch.arange(S, device=data.device)</code> holds the positions to embed. <code>F.one_hot(data)</code> needs no
# number of classes here: it takes the largest value it finds.
# </details>

# %% exercise="content-only"
class BagNet(nn.Module):
    """Attention over token vectors, with or without a vector for the position."""

    def __init__(self, n_values=10, d=10, hidden_size=64, positions=False):
        super().__init__()
        self.positions = positions
        self.hidden_size = hidden_size
        self.token_embedding = nn.Embedding(n_values, hidden_size)
        self.position_embedding = nn.Embedding(d, hidden_size)
        self.index_embedding = nn.Embedding(d, hidden_size)
        self.output_layer = nn.Linear(hidden_size, n_values)

    def forward(self, data, target_idx):
        """Return logits (B, n_values); data (B, S), target_idx (B,).

        Keeps self.attention_weights (B, S).
        """
        # TODO: keys, query, weights, and a context made of token vectors
        ### BEGIN SOLUTION
        token_vectors = self.token_embedding(data)
        keys = token_vectors
        if self.positions:
            keys = keys + self.position_embedding(
                torch.arange(data.shape[1], device=data.device))
        query = self.index_embedding(target_idx)
        scores = (keys @ query.unsqueeze(2)).squeeze(2) / math.sqrt(self.hidden_size)
        self.attention_weights = torch.softmax(scores, dim=1)
        context_vectors = (self.attention_weights.unsqueeze(1)
                           @ token_vectors).squeeze(1)
        return self.output_layer(context_vectors)
        ### END SOLUTION


def best_without_order(data):
    """Return the mean over rows of (count of the most frequent value) / S.

    data (B, S) → a number.
    """
    # TODO: count the values of each row
    ### BEGIN SOLUTION
    counts = F.one_hot(data).sum(dim=1)
    return (counts.max(dim=1).values / data.shape[1]).mean().item()
    ### END SOLUTION


# %% check="content-only" points=4
tp.check("content-only")

# %% [markdown]
# Train both. Which accuracy do you expect without positions? The chance level is 0.10.

# %% training="bag-training"
if tp.done("content-only"):
    torch.manual_seed(0)
    (bag_data, bag_idx), bag_y = gen_data(5000, 10, 0, 10)
    bags = {}
    for title, positions in [("content only", False), ("content and position", True)]:
        bags[title] = BagNet(positions=positions)
        fit(bags[title], lambda: gen_data(128, 10, 0, 10), steps=300, title=title)
    tp.table([*((title, hits(bag, bag_data, bag_idx, bag_y).float().mean())
                for title, bag in bags.items()),
              ("the best one can do without order", best_without_order(bag_data))],
             header=("keys", "accuracy on 5000 new rows"), caption="One seed each")

# %% demo="bag-heatmaps"
if tp.done("content-only"):
    row = torch.tensor([[3, 1, 4, 1, 5, 9, 2, 6, 5, 3]]).expand(10, 10)
    maps = {}
    for title, bag in bags.items():
        with torch.no_grad():
            bag(row, torch.arange(10))
        maps[title] = bag.attention_weights
    digits, questions = ([str(digit) for digit in row[0].tolist()],
                         [f"index {i}" for i in range(10)])
    tp.plots.attention_heatmaps(maps, digits, questions)

# %% [markdown]
# Without positions, equal digits get equal weights at every position, and the accuracy is at the bound. (It may lie a
# little above: its **standard error**, the standard deviation over test sets of 5000 rows, is 0.6 percentage points.)
# With positions the diagonal is back, without any recurrence. For a fixed query, attention is
# **permutation-invariant**: without positions in the keys, the order of the tokens has no effect on the context. This
# is why Transformers add positional encodings to their input.
#
# Five seeds of our own, each on 5000 rows: content only 0.275 (0.271–0.281), where the bound for its rows is 0.273
# (0.273–0.276); content and position 1.000 with all five. With positions and 200 steps it is also 1.000 with all five
# seeds for rows of 2, 4, 8 and 16 digits. This network has no recurrence and is given the positions: it differs from
# the one with a last vector in more than attention.

# %% [markdown] answer="why-content-fails" points=2
# **Question 5.** Shuffle the digits of a row. What happens to the attention weights of the `BagNet` without positions,
# and to its answer? Use this to explain its accuracy. Then: what exactly breaks this symmetry in `Net`, and what in
# the `BagNet` with positions?
#
# *Minutes* 5 · *Extension*
#
# ### BEGIN SOLUTION
# The weights are shuffled in the same way, since each one depends on the query and on its own digit (and on the sum
# over all digits, which does not change). The weighted sum is a sum over the same pairs, so the context and the answer
# stay the same. The network computes from a bag of tokens: for any index it can at best answer the most frequent digit
# of the row, which is right with probability count / S; on average about 0.27 for rows of ten digits. In `Net` the
# recurrence breaks the symmetry: a hidden vector depends on how many steps came before it and which ones. In the
# `BagNet` with positions it is the vector added to the key, which differs from position to position.
#
# **Rubric.** 1 point: the weights move with the digits and the context is unchanged (a bag), so that the most frequent
# digit is the best answer. 1 point: recurrence in `Net`, position vectors in `BagNet`.
# ### END SOLUTION

# %% [markdown]
# ## 5 · Attention in the decoder
#
# ![The decoder with attention: GRU, dot product with all encoder states, softmax over S, weighted sum; the context
# alone goes through the linear layer and the log-softmax, and the weights are
# kept](figures/decoder_with_attention.svg)
#
# Attention comes **after** the GRU of session 2, as in Luong et al.: its states are the queries, the score is the dot
# product. The context goes to the linear layer **instead of** the states. `hdec_final` stays what it was.
#
# A short question ends with rows of zeros. They go through the encoder too, and the decoder can attend to their
# states: there is no mask here. `nn.GRU` itself is the encoder. Tensors are time first from now on, so a given
# function transposes them for yours:

# %% given="time-first"
def attend(hdec_ts, henc_ts):
    """Call your `batched_attention`, time first.

    hdec_ts (T, B, H), henc_ts (S, B, H)
    → context_vectors (T, B, H), attention_weights (T, B, S).
    """
    contexts, weights = batched_attention(
        hdec_ts.transpose(0, 1), henc_ts.transpose(0, 1))
    return contexts.transpose(0, 1), weights.transpose(0, 1)


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
        """Read (T, B, V), (1, B, H) → (T, B, H), (1, B, H)."""
        return self.gru(input @ self.embedding, hx)

# %% [markdown]
# ### Exercise 11 · The decoder with attention
#
# **Write** `DecoderRNN.forward`.
#
# - in: `decoder_input`, `(T, B, V)`, where T may be 1; `hdec_init`, `(1, B, H)`; `henc_ts`, `(S, B, H)`, or `None`
#   when there is no attention;
# - out: `output`, `(T, B, V)`, log-probabilities of the characters, and `hdec_final`, `(1, B, H)`;
# - with attention, the weights are kept as `self.attention_weights`, `(T, B, S)`.
#
# With `self.attention` false, it works as in session 2: copy your two lines, or write them again. With `self.attention`
# true, the context alone predicts the character. `attend` computes the attention. The **weights** are a softmax, the
# **output** is a log-softmax.
#
# *Tiny example.* T = 3, B = 64, H = 128, S = 5, V = 13: `output` is `(3, 64, 13)` and `output.exp()` sums to 1 over the
# last axis; `self.attention_weights` is `(3, 64, 5)` and sums to 1 over its last axis; `hdec_final` is
# `(1, 64, 128)`.
#
# *Minutes* 15 · *Difficulty* ●●○○
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
# <code>context_vectors, self.attention_weights = …</code> unpacks two results, the second one into an attribute.
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
        """Read (T, B, V), (1, B, H), (S, B, H) or None → output (T, B, V), hdec_final.

        The output is log-probabilities; hdec_final is (1, B, H).
        """
        # TODO: the GRU; without attention, predict from its states;
        # with attention, from the context, and keep the weights
        ### BEGIN SOLUTION
        hdec_ts, hdec_final = self.gru(decoder_input, hdec_init)
        features = hdec_ts
        if self.attention:
            features, self.attention_weights = attend(hdec_ts, henc_ts)
        return F.log_softmax(self.linear(features), dim=-1), hdec_final
        ### END SOLUTION

# %% check="decoder" points=8
tp.check("decoder")

# %% [markdown]
# ### Exercise 12 · The whole model
#
# ![The whole model with attention: above the cells of encoder and decoder lies one attention block; a context comes
# out for each decoder timestep, and predicts a character](figures/seq2seq_attention.svg)
#
# All but the forward pass is that of session 2.

# %% given="calculator"
class Calculator(calculator.Calculator):
    """All of the model but its forward pass, with your decoder."""

    answer_reversed = True  # as the questions are, so that a person can be shown both

    def parts(self, hidden_size):
        encoder = nn.GRU(self.encoder_vocabulary_size, hidden_size)
        decoder = DecoderRNN(hidden_size, self.decoder_vocabulary_size, self.device,
                             self.attention)
        return encoder, decoder

# %% [markdown]
# **Write** `Seq2seq.forward`: your forward pass of session 2, with two things more.
#
# - in: `encoder_input`, `(S, B, V_enc)`; `decoder_input`, `(T, B, V_dec)` or `None`; `teacher_enforce`; `inference`,
#   all as in session 2;
# - out: log-probabilities, `(T, B, V_dec)`;
# - **new:** the decoder gets `henc_ts` at *every* call, all of it;
# - **new:** when `self.attention` is true, the weights of the whole answer are kept as `self.attention_weights`, `(T,
#   B, S)`. Each call of the decoder leaves those of its own timesteps in `self.decoder.attention_weights`: `(1, B, S)`
#   in free running.
#
# As before, free running starts from `GO` and the encoder's last state, reads its own arg-max as one-hot, carries the
# hidden state, and makes `self.max_decoder_sequence_length` timesteps. Inference, on a batch of one, stops at `EOS`.
#
# *Tiny example.* A free run with T = 5, B = 64, S = 5 calls the decoder five times; afterwards `self.attention_weights`
# is `(5, 64, 5)`.
#
# *Minutes* 15 · *Difficulty* ●●○○
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

    With attention, the decoder gets all states of the encoder.
    """

    def forward(self, encoder_input, decoder_input=None, teacher_enforce=True,
                inference=False):
        """Return log-probabilities (T, B, V_dec) of (S, B, V_enc), (T, B, V_dec)."""
        # TODO: as in session 2; henc_ts goes to the decoder at every call, and the
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


def look(model, question, name, numbers=None):
    """Show what `model` answers, and its attention weights as a map."""
    steps = decoding(model, question)
    written = [step.written for step in steps]
    answer = "".join(written).split(model.EOS)[0]
    answer = answer[::-1] if model.answer_reversed else answer
    return tp.attention_heatmap(torch.stack([step.weights for step in steps]),
                                steps[0].source, written,
                                title=f"{name}: {question} → {answer}", numbers=numbers)

# %% [markdown]
# ### Exercise 13 · State and context together
#
# With the context alone, what only the decoder state contains (a carry, the number of characters already written) can
# change the output only through the attention weights. A second design concatenates state and context:
#
# ![State and context are concatenated to 2H numbers; then come a dense layer of 64 units with tanh and a dense layer
# with log-softmax over V](figures/decoder_concat_attention.svg)
#
# The layer with tanh is Luong's **attentional layer**, here narrowed to 64 units.
#
# **Write** the two layers and `predict` of `ConcatDecoderRNN`. Its `forward`, which is given, calls `attend`, then your
# `predict`.
#
# - layers: `self.dense_tanh`, an `nn.Linear` from 2H to 64; `self.dense_final`, an `nn.Linear` from 64 to V;
# - `predict` in: `hdec_ts`, `(T, B, H)`, and `context_vectors`, `(T, B, H)`;
# - `predict` out: `output`, `(T, B, V)`, log-probabilities: **state first, then context**, side by side;
#   `dense_tanh`, tanh, `dense_final`, log-softmax.
#
# *Tiny example.* State `[1, 2]` and context `[3, 4]` become `[1, 2, 3, 4]`.
#
# *Minutes* 10 · *Difficulty* ●○○○
#
# <details><summary>Hint 1 · the idea</summary>
# Four operations, in the order of the text. The tanh comes between the two layers.
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
        """Return log-probabilities (T, B, V) of state and context, both (T, B, H)."""
        # TODO: side by side, state first; dense_tanh, tanh, dense_final, log-softmax
        ### BEGIN SOLUTION
        both = torch.cat([hdec_ts, context_vectors], dim=-1)
        hidden = torch.tanh(self.dense_tanh(both))
        return F.log_softmax(self.dense_final(hidden), dim=-1)
        ### END SOLUTION

    def forward(self, decoder_input, hdec_init, henc_ts):
        """Return output (T, B, V), hdec_final (1, B, H).

        `decoder_input` (T, B, V), `hdec_init` (1, B, H), `henc_ts` (S, B, H).
        """
        hdec_ts, hdec_final = self.gru(decoder_input, hdec_init)  # as in session 2
        context_vectors, self.attention_weights = attend(hdec_ts, henc_ts)
        return self.predict(hdec_ts, context_vectors), hdec_final

# %% check="concat" points=4
tp.check("concat")

# %% [markdown]
# ## 6 · Sums with and without attention
#
# As in session 2, question and answer are written backwards, an embedding stands before each GRU, the learning rate
# makes one cycle with a peak of 0.006 (it rises for 30 % of the steps), gradients are clipped, and each batch has fresh
# samples. The numbers are 1 to 99, all equally frequent; update gates and β₂ have torch's defaults. The measure is
# exact match.

# %% given="groups"
def exact_match_by(group_of, questions, written, truth):
    """Return the share of right answers in each group: a dict {group: 0 … 1}.

    `group_of(question)` is the group of a question.
    """
    right = {}
    for question, answer, wanted in zip(questions, written, truth):
        right.setdefault(group_of(question), []).append(answer == wanted)
    return {group: sum(values) / len(values) for group, values in right.items()}

# %% given="train"
class AddedDecoderRNN(DecoderRNN):
    """The context is added to the state, and the sum predicts the character."""

    def forward(self, decoder_input, hdec_init, henc_ts):
        hdec_ts, hdec_final = self.gru(decoder_input, hdec_init)  # as in session 2
        context_vectors, self.attention_weights = attend(hdec_ts, henc_ts)
        return F.log_softmax(self.linear(hdec_ts + context_vectors), dim=-1), hdec_final


def build(decoder, attention, X, y):
    """Make a model for questions and answers, with an embedding before each GRU."""
    model = Seq2seq(X, y, hidden_size=128, attention=attention)
    model.decoder = decoder(128, model.decoder_vocabulary_size, model.device, attention)
    model.encoder = EmbeddedGRU(model.encoder_vocabulary_size, 32, 128)
    model.decoder.gru = EmbeddedGRU(model.decoder_vocabulary_size, 32, 128)
    return model.to(model.device)


def train(draw, steps, title, decoder, attention, teacher_enforce=True, seed=0):
    """Make a new model, and train it for `steps` batches of the task `draw`.

    `decoder` is the class of its decoder.
    """
    return races.train(partial(build, decoder, attention), draw, steps, title,
                       teacher_enforce, seed)

# %% [markdown]
# **Four runs**, with and without attention, with teacher forcing and in free running, and all with the same number of
# steps. A fifth model adds the context to the state. **Predict first:** which one has the most right answers?

# %% training="four-runs"
STEPS = 1200  # for each run

if tp.done("batched", "decoder", "seq2seq"):
    four = {}
    for attention in (False, True):
        for teacher_enforce in (True, False):
            name = (f"{'context alone' if attention else 'no attention'}, "
                    f"{'teacher forcing' if teacher_enforce else 'free running'}")
            four[name] = train(races.sums, STEPS, name, DecoderRNN, attention,
                               teacher_enforce)
    four["context added"] = train(races.sums, STEPS, "context added",
                                  AddedDecoderRNN, True)

# %% demo="four-compared"
if tp.done("batched", "decoder", "seq2seq", "four"):
    races.compare(exact_match_by, four, {"operation": races.operation, "length": len})

# %% [markdown]
# All are tested free running, on 2000 held-out questions. Your table has one run of each; here the median and range of
# five seeds, exact match in %:
#
# | model | sums | differences |
# |---|---|---|
# | no attention, teacher forcing | 98.8 (98.1–99.5) | 95.6 (88.7–96.5) |
# | no attention, free running | 99.1 (97.1–99.7) | 95.0 (93.6–97.4) |
# | context alone, teacher forcing | 1.0 (0.7–11.7) | 3.5 (2.6–14.8) |
# | context alone, free running | 1.0 (0.3–30.8) | 2.5 (0.8–14.1) |
#
# With the context alone, the model is far worse than without attention, in every run. The ranges of free running and
# teacher forcing overlap.
#
# **What makes a model fail: attention, the output layer, or the learning rate?** Another program, which pads
# differently, made these runs: compare the rows of this table only. Exact match in % on sums and differences together,
# after 1200 steps, for three peak learning rates (five seeds):
#
# | what predicts | 0.003 | 0.006 | 0.012 |
# |---|---|---|---|
# | state, no attention | 58.6 (26.6–81.2) | 95.4 (90.2–96.4) | 96.8 (93.9–98.7) |
# | state and context, concatenated, no layer in between | 83.0 (77.5–88.0) | 98.9 (98.6–99.5) | 96.4 (94.2–98.5) |
# | the same through the layer of 64 tanh units (exercise 13) | 9.3 (8.8–10.7) | 9.2 (8.5–10.4) | 9.3 (9.0–10.3) |
# | state through that layer, no attention | 11.3 (9.5–15.8) | 11.7 (8.8–18.9) | 9.6 (8.8–10.7) |
#
# - **At 0.003 and 0.006, state and context had more right answers than the state alone with each seed** (which fixes
#   the questions), by 5 to 61 and 3 to 8 points. At 0.012 it had between 2 points fewer and 2 more. With both at their
#   best rates, the ranges overlap: 98.9 (98.6–99.5) and 96.8 (93.9–98.7).
# - **Through the layer of 64 tanh units the task was not learned in 1200 steps** at these rates, with or without
#   attention. With an LSTM in place of the GRU, the same layer had 75.4 % (20.4–99.2) at 0.006. With the GRU, a
#   linear layer of 64 units had 99.2 % (98.8–99.5), and 256 tanh units 89.4 % (77.7–95.9).

# %% [markdown]
# **Attention maps.** The question stands above the map as the encoder reads it, backwards. The answer stands on the
# left, units first. A dash is a row of zeros after a short question.

# %% demo="where"
if tp.done("batched", "decoder", "seq2seq", "four"):
    for question in ["94+8", "57+68"]:
        look(four["context added"], question, "context added")

# %% [markdown]
# A column is a *prefix*, not a character: the encoder's state at a position depends on all characters up to it. The
# question `57+68` is read as `86+75`. The units of the answer need 8 and 7, and the first state that has read both is
# the one at `7`. The tens need all four digits, and only the last state, at `5`, has read them. In our run the map is
# as sharp as it can be: the units have their weight on `7`, the tens on `5`. The hundreds have it on `+`, whose prefix
# `86+` contains only one of the two numbers. Whether a `1` or `EOS` follows depends on both, so it must come from the
# decoder state.
#
# The weights show what the decoder **attends to**; they do not show what came through the state. Whether attention
# weights explain a prediction is disputed (Jain & Wallace 2019; Wiegreffe & Pinter 2019).
#
# Choose a model, type an expression, move through the answer.

# %% demo="explore"
if tp.done("batched", "decoder", "seq2seq", "four"):
    chosen = {name: four[key] for name, key in {
        "context added": "context added",
        "context alone": "context alone, teacher forcing",
        "no attention": "no attention, teacher forcing"}.items()}
    tp.explore({name: partial(decoding, model) for name, model in chosen.items()},
               "57+68")

# %% [markdown]
# ## 7 · Copying
#
# In the **copy task** the network reads 6 to 14 letters and must write them again. A decoder without attention must
# keep all letters in one vector of 128 numbers. The recipe is the same as before, but nothing is written backwards, and
# there are 400 steps.

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
if tp.done("batched", "decoder", "seq2seq", "concat", "copiers"):
    races.compare(exact_match_by, copiers, {"letters": len})
    for name in ("concatenated", "context alone"):
        look(copiers[name], "headcabbage", name, numbers=False)

# %% [markdown]
# In our runs (five seeds, and our executed notebook) the model without attention copied 54 to 78 % of the strings of 6
# letters, 3 to 13 % of those of 10, none of 13. The concatenated model copied 97 to 100 % up to 13 letters, and 89 to
# 96 % at 14. The context alone had 92 to 100 % up to 13 letters, and 19 to 27 % at 14. Longer training was not tried.
#
# A map from target steps to source positions is called an **alignment**. Here it is the diagonal.
#
# ## 8 · Review questions

# %% [markdown] answer="how-attention-works" points=3
# **Question 6.** The decoder of exercise 11, with attention, writes the second character of an answer. Say step by step
# what happens, from the character it reads to the log-probabilities. Give the shape of each tensor for B = 1, S = 5,
# H = 128, V = 13. Which tensors were computed once for the whole answer, and which anew at this timestep?
#
# *Minutes* 5
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
# **Question 7.** At inference on sums, with or without attention: is there a difference in your measurements, and why?
# Compare with copying. Use your tables and at least one heatmap.
#
# *Minutes* 8
#
# ### BEGIN SOLUTION
# At a peak rate of 0.006, attention beside the state gains a few points: added to the state, 97.8 % (96.5–98.1) of sums
# and differences together, against 95.4 % (90.2–96.4) without attention, 0.8 to 7.6 points more with each of five
# seeds; in the executed notebook 98.2 and 99.4 % of the differences and sums, against 94.5 and 98.1 %. With the context
# alone the model is far behind: what the decoder computed itself, such as a carry, reaches the output only through the
# weights. The question is short: with teacher forcing, one vector of 128 numbers is enough for 88.7 to 99.5 % of the
# answers. Most characters matter (both digits of a column, the operator, the carry, for a difference the sign). So
# there is little to select. On copying each character of the answer depends on exactly one character of the question,
# its position is known, and the question may be long. The heatmap is a diagonal, and the model without attention falls
# from 57 % at 6 letters to 0 % at 12 and more.
#
# **Rubric.** 1 point: reads the own tables correctly (numbers named; the reading must follow the own runs; no
# difference, and a few points more with attention, are both correct readings). 1 point: reason on sums: most
# characters matter and one vector holds them (or: the context alone limits the output). 1 point: contrast with
# copying, with a heatmap described (diagonal, one position for each step) and the effect of length.
# ### END SOLUTION

# %% [markdown] answer="state-and-context" points=2
# **Question 8.** "Context alone" and "context added" compute attention in the same way. What can the second design do
# that the first cannot? Give an example from the sums. What could you change in the experiment to find out whether
# the narrow tanh layer is slower to learn or cannot learn the task?
#
# *Minutes* 5 · *Extension*
#
# ### BEGIN SOLUTION
# Context alone: the output is a function of a weighted mean of encoder vectors. What only the decoder state holds, such
# as a carry from the last column or the number of characters already written, can influence the output only by moving
# the weights. With the state in the output, a carry held there can change the digit directly, and the context adds what
# is still needed from the question. Example: 57+68, tens: 5 + 6 and the carry from 7 + 8. To tell slow from unable:
# train for many more steps, sweep the learning rate, widen the layer, or take the tanh out, with several seeds each.
#
# **Rubric.** 1 point: the state reaches the output directly, with a sensible example. 1 point: an experiment that
# separates the two (more steps, other rates, another width), with more than one seed.
# ### END SOLUTION

# %% [markdown] answer="fourteen-letters" points=2
# **Question 9.** With the context alone, most strings of 13 letters are copied, and few of 14. Print a few of its
# answers to strings of 14 letters (`copiers["context alone"].answer([…])`). What is wrong with them? Then look at the
# last row of a map for a shorter string, the row of `EOS`: where is the attention weight? Explain.
#
# *Minutes* 5 · *Extension*
#
# ### BEGIN SOLUTION
# Compare the ends. An answer can have the right 14 letters and go on, or stop one letter or more too early. At the end
# of a shorter string, the weight is on a dash, a row of zeros after the last letter. Only the encoder's states there
# have read the end. A string of 14 letters fills all timesteps of the encoder, so there is no such state. The context
# alone predicts the character, so `EOS` has no context of its own. The concatenated design had 89 to 96 %: its state
# reaches the output without the context, and can hold how many letters are written.
#
# **Rubric.** 1 point: the answers do not end at the right place (too long or too short), and the weight of `EOS` is
# on the padding. 1 point: a string of full length has no padding, and the context is all the output gets.
# ### END SOLUTION

# %% [markdown]
# ## Summary
#
# Attention needs a score for every pair of source and target timesteps: B × T × S numbers.
#
# **The five operators of session 2** at three digits, exact match in %. One model writes `+` and `-` directly (1500
# steps of 128 examples, five seeds). Unlike in part 6, its attention is over the states of the question and of the
# characters already written:
#
# | | without attention | with attention |
# |---|---|---|
# | `+` | 87.9 (27.8–94.7) | 43.6 (37.0–77.9) |
# | `-` | 70.9 (23.6–88.8) | 37.3 (25.6–71.3) |
#
# With attention four seeds of five were lower on both. A **scratchpad** (Nye et al. 2021, arXiv 2112.00114) is a text
# of intermediate steps before the answer. In ours, each character follows from a few others, in the question or
# already written. The decoder attends to both.
#
# | | directly, without attention | scratchpad and attention |
# |---|---|---|
# | `*` | 0.0 (0.0–0.0) | 100.0 (100.0–100.0) |
# | `/` | 0.0 (0.0–0.1) | 90.8 (one seed) |
# | `%` | 72.5 (67.1–73.7) | 92.7 (82.4–92.9) |
#
# First column: one network for all operators, 600 CPU seconds, three seeds. Second column: one for each, 180 CPU
# seconds, five seeds (`/`: 600, one seed). The columns differ in more than the scratchpad. Without attention, this
# scratchpad had 0.9 % of `*` right (one seed, 150 CPU seconds).
#
# **Further reading**
#
# - Bahdanau, Cho & Bengio 2015, arXiv 1409.0473: attention in translation.
# - Luong, Pham & Manning 2015, arXiv 1508.04025: score functions compared, and the attentional layer.
# - Jain & Wallace 2019, *Attention is not explanation*, arXiv 1902.10186, with the reply of Wiegreffe & Pinter 2019,
#   *Attention is not not explanation*, arXiv 1908.04626.

# %% demo="progress"
tp.progress()
