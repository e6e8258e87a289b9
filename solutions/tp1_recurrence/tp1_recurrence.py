# %% [markdown]
# # Session 1 · Tokens and recurrence
#
# How does a word become numbers, and how can a network of fixed size read a sequence of any length? (`tp` stands for
# *travaux pratiques*, lab session.)
#
# **After this session you can**
#
# - turn text into ids, one-hot vectors and embeddings;
# - write a recurrence, a GRU cell and an LSTM cell from their equations;
# - find the units of a state that keep a piece of information;
# - derive and measure how a gradient vanishes.
#
# **Time:** {time}. **In 90 minutes:** exercises 1, 4, 5 and 8, with the text around them. **You need first:** Python,
# tensors in PyTorch (indexing, matrix product, `requires_grad`), and training loops (gradient, loss, optimizer).
#
# **How it works.** Fill in one cell per exercise; the cell below it checks your work. You can leave an exercise out.
#
# **Sizes:** T timesteps, B batch, V vocabulary, D embedding, H hidden state. Time comes first.

# %% given="start"
import sys; sys.path.insert(0, "..")  # the helper package lies beside this folder
try:
    import tp
except ModuleNotFoundError as missing:
    sys.exit(f"{missing}: put this notebook back into its folder of the course, "
             "beside the folder tp, and start as the README or your teacher says")
tp.start("tp1_recurrence")

# %% given="imports"
import itertools
import random

import matplotlib.pyplot as plt
import torch
from torch import nn

from tp import plots, readers

# %% [markdown]
# ## 1 · From words to numbers
#
# Our sentences come from a small grammar: a noun, up to three other nouns, a verb.
#
# > the **dog** near the old birds **sleeps** today .
# >
# > the **dogs** near the old bird **sleep** today .
#
# The verb has the number (singular or plural) of the *first* noun, so a model must store it until the verb. This
# **subject–verb agreement** is a test of recurrent networks (Linzen et al. 2016, arXiv 1611.01368).

# %% given="corpus"
NOUNS = [("dog", "dogs"), ("cat", "cats"), ("bird", "birds"), ("horse", "horses"),
         ("child", "children")]
VERBS = [("sleeps", "sleep"), ("runs", "run"), ("waits", "wait"), ("sings", "sing")]
PREPOSITIONS = ["near", "behind", "with"]
ADJECTIVES = ["old", "small", "happy", "red"]
ENDINGS = ["", "today", "very often", "in the garden"]


def noun_phrase(rng, number):
    """Return words as `the old dog`: `number` is 0 for singular, 1 for plural."""
    adjective = [rng.choice(ADJECTIVES)] if rng.random() < 0.4 else []
    return ["the", *adjective, rng.choice(NOUNS)[number]]


def make_sentence(rng):
    """Make a sentence with at most three nouns between its first noun and its verb."""
    number = rng.randrange(2)
    words = noun_phrase(rng, number)
    for _ in range(rng.randrange(4)):
        words += [rng.choice(PREPOSITIONS), *noun_phrase(rng, rng.randrange(2))]
    words += [rng.choice(VERBS)[number], *rng.choice(ENDINGS).split(), "."]
    return " ".join(words)


rng = random.Random(1)
corpus = [make_sentence(rng) for _ in range(5000)]
rng = random.Random(2)
held_out = sorted({make_sentence(rng) for _ in range(1000)} - {*corpus})
rng.shuffle(held_out)  # sentences for validation, none of them in the corpus
print(*corpus[:6], sep="\n")

# %% [markdown]
# ### Exercise 1 · A vocabulary
#
# A **token** is a piece of text treated as one unit: here, an item of `.split()`, case kept. A **vocabulary**
# gives each token an **id**, a whole number. **Special tokens** come first: `<unk>` (unknown) stands for every token
# outside the vocabulary, `<eos>` (end of sequence) follows the last token.
#
# **Write** two functions.
#
# - `build_vocabulary(sentences, specials)`: a list of strings → a dict, token → id. The special tokens get the ids 0,
#   1, … in their order. The tokens of the sentences (no special ones) follow, in the order of Python's `sorted`, each
#   once.
# - `encode(sentence, vocabulary)`: a string → its ids, `torch.long`, (T,). A token outside the vocabulary gets the id
#   of `"<unk>"`. If the vocabulary has `"<eos>"`, its id comes last.
#
# *Tiny example.* `build_vocabulary(["the dog runs .", "the cat runs ."])` is
# `{"<unk>": 0, ".": 1, "cat": 2, "dog": 3, "runs": 4, "the": 5}`. With it, `encode("the cow runs", vocabulary)` is
# `tensor([5, 0, 4])`.
#
# *Minutes* 15 · *Difficulty* ●○○○
#
# <details><summary>Hint 1 · the idea</summary>
#
# Collect the distinct tokens first: Python has a type for collections without repetition. Then sort them, put the
# special tokens before them, and number all of them.
# </details>
# <details><summary>Hint 2 · the shape</summary>
#
# `"the dog runs".split()` is a list of three strings. `encode` has exactly one id per item of that list, and one more
# where there is an `<eos>`. A vocabulary has as many entries as there are special tokens and distinct tokens.
# </details>
# <details><summary>Hint 3 · the line</summary>
#
# `enumerate` counts from zero. A dict has a method that returns a second value of your choice when the key is missing.
# A list of integers becomes a tensor with `torch.tensor(…, dtype=torch.long)`.
# </details>

# %% exercise="vocabulary"
def build_vocabulary(sentences, specials=("<unk>",)):
    """Return the ids of some special tokens, and of all tokens in a list of strings.

    They are a dict, token → id: first `specials`, in their order, then the others,
    sorted.
    """
    # TODO: collect the distinct tokens, sort them, number all
    ### BEGIN SOLUTION
    tokens = sorted({token for sentence in sentences for token in sentence.split()})
    return {token: i for i, token in enumerate([*specials, *tokens])}
    ### END SOLUTION


def encode(sentence, vocabulary):
    """Return the ids of a string's tokens, (T,), whole numbers; at the end that of
    <eos>, if the vocabulary has it. An unknown token has the id of <unk>.
    """
    # TODO: one id per token, and one for the end if there is an <eos>
    ### BEGIN SOLUTION
    tokens = sentence.split()
    if "<eos>" in vocabulary:
        tokens.append("<eos>")
    unknown = vocabulary["<unk>"]
    return torch.tensor([vocabulary.get(token, unknown) for token in tokens],
                        dtype=torch.long)
    ### END SOLUTION

# %% check="vocabulary" points=2
tp.check("vocabulary")

# %% demo="first-ids"
if tp.done("vocabulary"):
    vocabulary = build_vocabulary(corpus)
    print(len(vocabulary), "tokens:", *vocabulary)
    for sentence in [corpus[0], "the dog near the dragon sleeps ."]:
        tp.table([["token", *sentence.split()],
                  ["id", *encode(sentence, vocabulary).tolist()]])

    # a batch needs one length: pad the shorter sentence
    four = build_vocabulary(corpus, ["<pad>", "<sos>", "<eos>", "<unk>"])
    batch = nn.utils.rnn.pad_sequence(
        [encode(text, four) for text in ("the dog sleeps .", "the old dragon runs .")],
        padding_value=four["<pad>"])  # (T, B), time first
    names = [*four]
    tp.table([[names[i] for i in column] for column in batch.T.tolist()],
             caption="Two sentences of one batch, with <unk>, <eos> and <pad>")

# %% [markdown]
# The dragon became `<unk>`. In the batch, the shorter sentence is filled up with `<pad>`. This session needs `<unk>`
# alone, session 5 all four special tokens:
#
# | token | name | use |
# |---|---|---|
# | `<unk>` | UNK, unknown | every token outside the vocabulary |
# | `<pad>` | PAD, padding | fills short sequences of a batch |
# | `<sos>` | SOS, start of sequence | stands before the first token |
# | `<eos>` | EOS, end of sequence | follows the last token |
#
# ### Why ids are not enough
#
# Ids are numbers, so a network could use them as inputs. Then the inputs would contain relations that mean nothing:
# `dog` (9) is larger than `cat` (5), and neighbours in the alphabet are close to one another.
#
# A **one-hot vector** has no such order. Token number 3 of a vocabulary of 6 is `[0, 0, 0, 1, 0, 0]`: one entry per
# token, a single 1.

# %% [markdown]
# ### Exercise 2 · One-hot vectors
#
# Write `one_hot(ids, vocabulary_size)`.
#
# - In: `ids`, whole numbers of any shape, most often (T, B), time first; `vocabulary_size`, the number V.
# - Out: real numbers (`float`) with one axis more, at the end: (T, B, V). It holds 1 where the position on the last
#   axis is the id, 0 elsewhere.
#
# Do not use `torch.nn.functional.one_hot`.
#
# *Tiny example.* `one_hot(torch.tensor([2, 0]), 3)` is `tensor([[0., 0., 1.], [1., 0., 0.]])`.
#
# *Minutes* 5 · *Difficulty* ●○○○
#
# <details><summary>Hint 1 · the idea</summary>
#
# Compare the id with 0, 1, …, V − 1. The results, as numbers, are the vector.
# </details>
# <details><summary>Hint 2 · the shape</summary>
#
# A tensor of shape (T, B, 1) compared with one of shape (V,) gives a tensor of shape (T, B, V): an axis of size one is
# repeated as often as needed (**broadcasting**).
# </details>
# <details><summary>Hint 3 · the line</summary>
#
# `ids.unsqueeze(-1)` adds the axis of size one. `torch.arange(n, device=ids.device)` counts, on the device where the
# ids are. Comparing gives booleans, and `.float()` makes numbers of them.
# </details>

# %% exercise="one-hot"
def one_hot(ids, vocabulary_size):
    """Return the one-hot vectors of ids, floats, (…, V), for example (T, B, V).

    ids: whole numbers, (…), for example (T, B).
    """
    # TODO: 1.0 where the position on the last axis is the id, 0.0 elsewhere
    ### BEGIN SOLUTION
    places = torch.arange(vocabulary_size, device=ids.device)
    return (ids.unsqueeze(-1) == places).float()
    ### END SOLUTION

# %% check="one-hot" points=2
tp.check("one-hot")

# %% demo="distances"
# The distance between any two of eight words, as ids and as one-hot vectors.
if tp.done("vocabulary", "one-hot"):
    words = ["cat", "cats", "dog", "dogs", "run", "runs", "old", "the"]
    ids = encode(" ".join(words), vocabulary)
    vectors = {"ids": ids.float().unsqueeze(-1),
               "one-hot vectors": one_hot(ids, len(vocabulary))}
    figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
    for ax, (title, x) in zip(axes, vectors.items()):
        image = ax.imshow(torch.cdist(x, x), cmap="Purples", vmin=0)
        ax.set_xticks(range(len(words)), words, rotation=60)
        ax.set_yticks(range(len(words)), words)
        ax.set_title(f"distance between {title}")
        figure.colorbar(image, ax=ax, shrink=0.8)
    plots.show(figure, "Two maps of distances between eight words. Left, with ids: "
                       "the distance follows the alphabet, from 1 between cat and "
                       "cats to "
                       f"{torch.cdist(vectors['ids'], vectors['ids']).max():.0f} "
                       "at most. Right, with one-hot vectors: every two different "
                       "words are equally far, 1.41.")

# %% [markdown]
# All one-hot vectors are equally far apart: `dog` is as far from `dogs` as from `the`. And they are long. With a
# vocabulary of 30 000 tokens, each token is 30 000 numbers, all but one of them zero.
#
# ### Embeddings
#
# An **embedding** is a short vector per token that is *learned* (Bengio et al. 2003; Mikolov et al. 2013, arXiv
# 1301.3781). In training, the embeddings of words that are used alike can move close together. All embeddings form a
# **table**, a matrix with V rows and D columns: row number 3 belongs to token number 3. A one-hot vector times the
# table is exactly that row. In practice the row is looked up.
#
# ![The word cat becomes id 3, and id 3 a one-hot vector; times the table of embeddings it gives row 3 of the table. A
# dashed arrow goes from the id straight to the same row.](figures/embedding_lookup.svg)

# %% [markdown]
# ### Exercise 3 · Two ways to one row
#
# Write both ways.
#
# - `embed_by_product(one_hots, table)` with `one_hots` (T, B, V) and `table` (V, D) returns (T, B, D): the matrix
#   product.
# - `embed(ids, table)` with `ids` (T, B) returns the same (T, B, D): the rows that the ids name, without a product.
#
# `embed` must also refuse an id that has no row, because it is too large *or negative*: raise an `IndexError` with a
# message. Do not use `nn.Embedding` or `nn.functional.embedding`.
#
# *Tiny example.* With `table = torch.tensor([[10., 11.], [20., 21.], [30., 31.]])`, `embed(torch.tensor([[2], [0]]),
# table)` is `tensor([[[30., 31.]], [[10., 11.]]])`. And `embed_by_product(torch.tensor([[[0.5, 0., 0.5]]]), table)` is
# `tensor([[[20., 21.]]])`: half of row 0 and half of row 2. A look-up cannot do that. Session 3 uses such weighted
# sums.
#
# *Minutes* 10 · *Difficulty* ●○○○
#
# <details><summary>Hint 1 · the idea</summary>
#
# Indexing with a tensor of ids gives one row per id. It also accepts −1, as Python lists do, and silently takes the
# last row; so look at the ids before you use them.
# </details>
# <details><summary>Hint 2 · the shape</summary>
#
# In the product the axis of size V disappears: (T, B, V) times (V, D). In the look-up each id, a single number, is
# replaced by D numbers. There are as many rows as `len(table)`.
# </details>
# <details><summary>Hint 3 · the line</summary>
#
# `@` multiplies on the last axis of the left tensor. `table[…]` takes a tensor as index. `ids.min()` and `ids.max()`
# can be compared in an `if`.
# </details>

# %% exercise="embed"
def embed_by_product(one_hots, table):
    """Return embeddings (T, B, D) as a matrix product.

    one_hots (T, B, V), table (V, D).
    """
    # TODO: the product
    ### BEGIN SOLUTION
    return one_hots @ table
    ### END SOLUTION


def embed(ids, table):
    """Return embeddings (T, B, D) as a look-up.

    ids (T, B), whole numbers, table (V, D).
    Raises IndexError when an id is negative, or V or more.
    """
    # TODO: refuse ids that have no row, then look the rows up
    ### BEGIN SOLUTION
    if ids.min() < 0 or ids.max() >= len(table):
        raise IndexError(f"an id is outside of 0 … {len(table) - 1}")
    return table[ids]
    ### END SOLUTION

# %% check="embed" points=3
tp.check("embed")

# %% demo="one-row"
if tp.done("vocabulary", "one-hot", "embed"):
    table = torch.randn(len(vocabulary), 4, requires_grad=True)
    # (T, 1): a batch of one sentence
    ids = encode("the dog near the cat runs", vocabulary).unsqueeze(1)
    by_product = embed_by_product(one_hot(ids, len(vocabulary)), table)
    by_look_up = embed(ids, table)
    print("largest difference between the two:",
          (by_product - by_look_up).abs().max().item())

    by_look_up.sum().backward()
    touched = {token: table.grad[i, 0].item()
               for token, i in vocabulary.items() if table.grad[i].any()}
    print("rows with a gradient, and how often each was used:", touched)

    tp.table([[f"{size:,}", f"{4 * size * 300:,}", f"{4 * 300:,}"]
              for size in (33, 1_000, 30_000)],
             header=["V", "bytes read by the product", "bytes read by the look-up"],
             caption="One token, embeddings of D = 300 numbers of 4 bytes")

# %% [markdown]
# Only the rows of the tokens that occur get a gradient, `the` twice as much, because it occurs twice.
#
# ### An id out of range
#
# Such an id occurs when a text was encoded with one vocabulary and the table was made for another. On a GPU the error
# message contains "device-side assert", and the line it names may not be the cause: run the same code on the CPU.

# %% demo="out-of-range"
layer = nn.Embedding(num_embeddings=5, embedding_dim=3)
for token_id in (4, 5, -1):
    try:
        print(f"id {token_id:>2}: fine,", tuple(layer(torch.tensor([token_id])).shape))
    except IndexError as error:
        print(f"id {token_id:>2}: IndexError:", error)
same = torch.equal(layer.weight[-1], layer.weight[4])
print("plain indexing with -1 returns the last row without an error:", same)

# %% [markdown] answer="why-embeddings" points=2
# **Question 1.** A colleague feeds ids to a network as plain numbers, divided by V "so that they lie between 0 and 1".
# What does the network wrongly assume about the words? What does a one-hot vector repair, and what does an embedding
# repair that a one-hot vector does not?
#
# *Minutes* 5
#
# ### BEGIN SOLUTION
# Ids carry an order and distances: a bigger and a smaller word, words in the middle of two others, alphabetical
# neighbours that are nearly equal. Dividing changes the scale, not the order. One-hot vectors have no order: all pairs
# are equally far apart. But they are as long as the vocabulary, and no two words are more alike than two others. An
# embedding is short, and it is learned, so words that are used alike can come to lie close together.
#
# **Rubric.** 1 point: ids impose an order or distances that mean nothing (and scaling does not help). 1 point: one-hot
# removes the order but is long and makes all words equally distant; embeddings are short and learned, so distances can
# mean something. Half a point off if "learned" is missing.
# ### END SOLUTION

# %% [markdown]
# ## 2 · The recurrence
#
# Now a sentence is T vectors of D numbers. T differs from sentence to sentence, the network's weights do not. A
# **recurrent neural network** (RNN; Elman 1990) reads one token at a time and updates a vector of H numbers, the
# **hidden state** h:
#
# $$ h_t = \tanh\left(W_{ih}\, x_t + b_{ih} + W_{hh}\, h_{t-1} + b_{hh}\right) $$
#
# The new state depends on the current token and on the old state. The same weights are used at every timestep. (One
# bias would be enough; torch has two.)
#
# ![A cell drawn once with an arrow from its state to itself, and the same cell unrolled: one copy per timestep, each
# passing its state to the next; a linear layer reads the last state and predicts a word.](figures/unrolled_rnn.svg)
#
# | name | shape | |
# |---|---|---|
# | `x` | (T, B, D) | the embedded sentences, time first |
# | `h_0` | (B, H) | the state before anything is read |
# | `W_ih`, `b_ih` | (H, D), (H,) | from input to state ("ih": input to hidden) |
# | `W_hh`, `b_hh` | (H, H), (H,) | from state to state ("hh": hidden to hidden) |

# %% [markdown]
# ### Exercise 4 · The recurrence as a loop
#
# Write `rnn_loop(x, h_0, W_ih, W_hh, b_ih, b_hh)`. Return two tensors:
#
# - `h_ts` (T, B, H): the state *after* each timestep;
# - `h_final` (B, H): the state after the last one.
#
# Do not use `nn.RNN` or `nn.RNNCell`. Use `torch.tanh`: a tanh made of exponentials overflows where the sum is large.
# All sentences of the batch are read side by side, so one loop, over time, is enough.
#
# *Tiny example.* Let all sizes but T be 1, both biases 0, `W_ih` 1, `W_hh` 1 and `h_0` 0. For the inputs 1, 0, 0 the
# states are tanh(1) = 0.76, tanh(0.76) = 0.64, tanh(0.64) = 0.57: the first input still has an effect at the end, and
# it shrinks at each step.
#
# *Minutes* 20 · *Difficulty* ●●○○
#
# <details><summary>Hint 1 · the idea</summary>
#
# One variable holds the current state. Before the loop it is the initial state; in the loop it is computed anew from
# itself and from the input of this timestep; a list keeps a copy of every state.
# </details>
# <details><summary>Hint 2 · the shape</summary>
#
# `x[t]` is (B, D), the state is (B, H). A weight of shape (H, D) is applied to rows of D numbers as `rows @ weight.T`.
# T tensors of shape (B, H) become (T, B, H) when they are stacked.
# </details>
# <details><summary>Hint 3 · the line</summary>
#
# `for x_t in x:` walks along the first axis, which is time. Make a new tensor in each round (`h = …`); do not write
# into the old one. After the loop: `torch.stack(…)`.
# </details>

# %% exercise="rnn-loop"
def rnn_loop(x, h_0, W_ih, W_hh, b_ih, b_hh):
    """Read a batch of sequences, one timestep after the other.

    x (T, B, D), h_0 (B, H), W_ih (H, D), W_hh (H, H), b_ih (H,), b_hh (H,).
    Returns h_ts (T, B, H), the state after every timestep,
    and h_final (B, H), the last one.
    """
    # TODO: one loop over time; carry the state from one round to the next
    ### BEGIN SOLUTION
    h, h_ts = h_0, []
    for x_t in x:
        h = torch.tanh(x_t @ W_ih.T + b_ih + h @ W_hh.T + b_hh)
        h_ts.append(h)
    return torch.stack(h_ts), h
    ### END SOLUTION

# %% check="rnn-loop" points=4
tp.check("rnn-loop")

# %% [markdown]
# Now compare with torch. `nn.RNN` has the same four weights, named `weight_ih_l0` and so on (`l0`: layer 0). We give
# them to your loop.

# %% demo="same-as-rnn"
if tp.done("rnn-loop"):
    T, B, D, H = 7, 3, 4, 5
    x, h_0 = torch.randn(T, B, D), torch.randn(B, H)
    rnn = nn.RNN(D, H)
    their_h_ts, their_h_final = rnn(x, h_0.unsqueeze(0))
    h_ts, h_final = rnn_loop(x, h_0, rnn.weight_ih_l0, rnn.weight_hh_l0,
                             rnn.bias_ih_l0, rnn.bias_hh_l0)
    rows = []
    for name, yours, theirs in (("h_ts", h_ts, their_h_ts),
                                ("h_final", h_final, their_h_final)):
        difference = (yours - theirs).abs().max().item()
        rows.append([name, tuple(yours.shape), tuple(theirs.shape),
                     f"{difference:.1e}"])
    tp.table(rows, header=["result", "your shape", "torch's shape",
                           "largest difference"])

# %% [markdown]
# Torch's final state has one more axis (part 5). The language models below use torch's layers.

# %% [markdown]
# ### Exercise 5 · A language model
#
# A model that predicts the next token is a **language model** (`reader` in the code). The layers are given: an
# embedding table, a recurrence (`nn.RNN`, `nn.GRU` or `nn.LSTM`, all called in the same way), and a linear layer (the
# **output layer**, `readout` in the code) that turns a state into one score per token of the vocabulary.
#
# Write `forward(ids, state=None)`:
#
# - In: `ids` (T, B), and a state to start from: (1, B, H), with an LSTM a pair of them. When it is `None`, torch starts
#   from zeros.
# - Out: `logits` (T, B, V), a score per token at *every* timestep, and the new state *as the recurrence returns it*, so
#   that reading can go on from there.
#
# A **softmax** turns scores into probabilities: it takes their exponentials and divides them by their sum. **Logits**
# are scores before a softmax. Do not apply one: the loss does. This loss is the **cross-entropy**, the mean of
# −log(probability of the right token).
#
# *Tiny example.* With T = 6, B = 2, V = 33, H = 32 the logits have shape (6, 2, 33). `logits[3, 1]` are the scores of
# the token that may follow the first four tokens of sentence number 1.
#
# *Minutes* 15 · *Difficulty* ●●○○
#
# <details><summary>Hint 1 · the idea</summary>
#
# Three layers, one after the other. Only the middle one uses the state.
# </details>
# <details><summary>Hint 2 · the shape</summary>
#
# (T, B) → embedding → (T, B, D) → recurrence → (T, B, H) → readout → (T, B, V). A linear layer works on the last axis
# and leaves all others alone, so no loop and no reshape is needed.
# </details>
# <details><summary>Hint 3 · the line</summary>
#
# The recurrence returns a pair; unpack it with `h_ts, state = …`. It accepts `None` as its second argument.
# Return the state as it is: with an LSTM it is a pair.
# </details>

# %% exercise="next-token"
class NextToken(nn.Module):
    """A language model: reads tokens, and scores after each of them the next one."""

    def __init__(self, vocabulary_size, embedding_size, hidden_size, recurrence=nn.GRU):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)
        # small, so that all rows begin close together
        nn.init.normal_(self.embedding.weight, std=0.1)
        self.recurrence = recurrence(embedding_size, hidden_size)
        self.readout = nn.Linear(hidden_size, vocabulary_size)

    def forward(self, ids, state=None):
        """Return logits (T, B, V) and the new state; ids (T, B), a state or None."""
        # TODO: embedding, recurrence, readout
        ### BEGIN SOLUTION
        h_ts, state = self.recurrence(self.embedding(ids), state)
        return self.readout(h_ts), state
        ### END SOLUTION

# %% check="next-token" points=3
tp.check("next-token")


# %% [markdown]
# ### Train the language model
#
# We join all sentences into one stream of ids and cut it into pieces of 20 tokens. The target is the same stream, one
# token later. `loss.backward()` goes back through the 20 timesteps of a piece and stops where it begins: **truncated
# backpropagation through time** (part 4). Here each piece starts from a state of zeros. The **validation loss** is
# measured on sentences that are not in the corpus.
#
# Does the model choose the right number for the verb, *sleeps* or *sleep*? Its choice is the number whose verbs,
# taken together, are the more probable. In the test, every noun between the first one and the verb has the *other*
# number. Such nouns are called **attractors**.
#
# > the **dog** near the birds with the cats …
#
# **Predict first:** if a model uses the last noun only, which share of the verbs does it get right with no noun in
# between, and with two?

# %% given="reader-tools"
def agreement(model, nouns_between, pairs=100):
    """Return the share of right verbs if all nouns between have the other number."""
    return readers.agreement(model, vocabulary, NOUNS, PREPOSITIONS, VERBS,
                             nouns_between, pairs)


def pieces(ids, timesteps=20):
    """Return a stream of ids (N,) as pieces (T, P), and the same one token later."""
    P = len(ids) // timesteps - 1
    return (ids[:P * timesteps].view(P, timesteps).T,
            ids[1:P * timesteps + 1].view(P, timesteps).T)


def loss_of(model, inputs, targets):
    """Return the loss of predicting targets (T, B) from inputs (T, B)."""
    logits, _ = model(inputs)
    return nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())


def train(model, stream, unseen, steps, title="", quiet=False, batch_size=32):
    """Train a model on a stream of ids (N,); `unseen` (M,) is for the validation loss.

    Returns the view, which also has the share of right verbs with two nouns in
    between.
    """
    (inputs, targets), validation = pieces(stream), pieces(unseen)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    view = tp.live(steps=steps, title=title, summarised=not quiet)
    for step in view:
        if step % 20 == 0:
            with torch.no_grad():
                view.log(agreement=agreement(model, nouns_between=2),
                         val_loss=loss_of(model, *validation))
            view.sample(readers.write(model, vocabulary))
        columns = torch.randint(inputs.shape[1], (batch_size,))
        loss = loss_of(model, inputs[:, columns], targets[:, columns])
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        view.log(loss=loss)
    return view

# %% training="train-rnn"
if tp.done("vocabulary", "next-token"):
    stream = encode(" ".join(corpus), vocabulary)
    unseen = encode(" ".join(held_out), vocabulary)
    torch.manual_seed(0)
    reader = NextToken(len(vocabulary), 16, 32, nn.RNN)
    train(reader, stream, unseen, 80, "a plain RNN").plot()
    for nouns_between in (0, 1, 2):
        share = agreement(reader, nouns_between)
        print(f"{nouns_between} nouns in between: "
              f"{share:.0%} of the verbs have the right number")

# %% [markdown]
# With no noun in between, the verbs agree. With one or two nouns of the other number in between, nearly every verb is
# *wrong*, not half of them. A model whose verb agrees with the last noun gives these answers.

# %% [markdown] answer="same-weights" points=2
# **Question 2.** The loop uses the same weights at every timestep. Suppose that it had a matrix of its own for each
# timestep instead. Name two things that would no longer work, or would work worse.
#
# *Minutes* 5 · *Extension*
#
# ### BEGIN SOLUTION
# The number of weights would grow with the length, and the network could not read a sentence longer than the longest
# one in training: there is no matrix for that timestep. What was learned about a word at position 3 would not help at
# position 7, so every word would have to be learned at every position, from fewer examples each.
#
# **Rubric.** 1 point: any length with a fixed number of weights. 1 point: what is learned at one position is used at
# all others. 1 point: fewer weights, so less data is needed (late timesteps are rare in training). Two of the three are
# enough.
# ### END SOLUTION

# %% [markdown]
# ## 3 · Gates
#
# The plain recurrence recomputes its whole state at every timestep; it has no operation that copies an entry exactly. A
# **gate** is a number between 0 and 1, one for each entry of the state. It is computed from the input and the old state
# by a **sigmoid**, σ(a) = 1 / (1 + exp(−a)). It multiplies an entry: 1 keeps it, 0 removes it.
#
# ### The gated recurrent unit (GRU)
#
# ![A GRU cell. The reset gate r scales what the old state adds to the candidate n. The update gate z mixes the
# candidate with the old state.](figures/gru_cell.svg)
#
# $$ \begin{aligned}
# r &= \sigma\left(W_{ir}\, x_t + b_{ir} + W_{hr}\, h_{t-1} + b_{hr}\right) && \text{reset gate} \\
# z &= \sigma\left(W_{iz}\, x_t + b_{iz} + W_{hz}\, h_{t-1} + b_{hz}\right) && \text{update gate} \\
# n &= \tanh\left(W_{in}\, x_t + b_{in} + r \odot (W_{hn}\, h_{t-1} + b_{hn})\right) && \text{candidate} \\
# h_t &= (1 - z) \odot n + z \odot h_{t-1}
# \end{aligned} $$
#
# Here ⊙ multiplies entry by entry. In the last line, where z is 1, the old state is *copied*. The GRU is from Cho et
# al. 2014 (arXiv 1406.1078). Papers differ in details; your cell must follow torch's equations above. In the paper of
# session 5 (Bahdanau et al. 2015, arXiv 1409.0473) z and 1 − z are exchanged, and r multiplies the state *before* the
# matrix product.

# %% [markdown]
# ### Exercise 6 · A GRU cell from its equations
#
# Write `gru_cell(x_t, h, W_ih, W_hh, b_ih, b_hh)`: one timestep. `W_ih` holds the three matrices for the input and
# `W_hh` those for the state, stacked in the order r, z, n:
#
# | name | shape | |
# |---|---|---|
# | `x_t`, `h` | (B, D), (B, H) | this timestep's input, the state before it |
# | `W_ih`, `b_ih` | (3H, D), (3H,) | rows 0 … H−1 are W_ir, the next H rows W_iz, the last H rows W_in |
# | `W_hh`, `b_hh` | (3H, H), (3H,) | the same with W_hr, W_hz, W_hn |
#
# Return the new state, (B, H). Do not use `nn.GRU` or `nn.GRUCell`.
#
# *Tiny example.* When all weights and biases are 0, both gates are σ(0) = 0.5 and the candidate is tanh(0) = 0. Then
# h = 4 becomes 0.5 · 0 + 0.5 · 4 = 2.
#
# *Minutes* 20 · *Difficulty* ●●○○
#
# <details><summary>Hint 1 · the idea</summary>
#
# Multiply once with each big matrix, then cut the two results into three parts each. Each equation then takes one part
# from the input and one from the state.
# </details>
# <details><summary>Hint 2 · the shape</summary>
#
# `x_t @ W_ih.T + b_ih` is (B, 3H). Cut along the last axis it gives three pieces of (B, H). Keep the pieces of the
# input and those of the state apart: the equation of n is not a plain sum of them.
# </details>
# <details><summary>Hint 3 · the line</summary>
#
# `a, b, c = something.chunk(3, dim=-1)` cuts in three. `torch.sigmoid` is σ. For n, the bias b_hn stands *inside* the
# bracket that r multiplies.
# </details>

# %% exercise="gru-cell"
def gru_cell(x_t, h, W_ih, W_hh, b_ih, b_hh):
    """Make one timestep of a GRU, as torch defines it (parts in the order r, z, n).

    x_t (B, D), h (B, H), W_ih (3H, D), W_hh (3H, H), b_ih (3H,), b_hh (3H,).
    Returns the new state (B, H).
    """
    # TODO: two gates, a candidate, a mixture
    ### BEGIN SOLUTION
    x_r, x_z, x_n = (x_t @ W_ih.T + b_ih).chunk(3, dim=-1)
    h_r, h_z, h_n = (h @ W_hh.T + b_hh).chunk(3, dim=-1)
    r = torch.sigmoid(x_r + h_r)
    z = torch.sigmoid(x_z + h_z)
    n = torch.tanh(x_n + r * h_n)
    return (1 - z) * n + z * h
    ### END SOLUTION

# %% check="gru-cell" points=4
tp.check("gru-cell")


# %% [markdown]
# ### The long short-term memory (LSTM)
#
# The **LSTM** is older (Hochreiter & Schmidhuber 1997; its forget gate is from Gers et al. 2000). It has two state
# vectors: the hidden state h, which the rest of the network reads, and the **cell state** c, which only the cell reads.
#
# ![An LSTM cell. The cell state runs straight through: it is multiplied by the forget gate, and the gated candidate is
# added. The hidden state is the output gate times its tanh.](figures/lstm_cell.svg)
#
# $$ \begin{aligned}
# i &= \sigma\left(W_{ii}\, x_t + b_{ii} + W_{hi}\, h_{t-1} + b_{hi}\right) && \text{input gate} \\
# f &= \sigma\left(W_{if}\, x_t + b_{if} + W_{hf}\, h_{t-1} + b_{hf}\right) && \text{forget gate} \\
# g &= \tanh\left(W_{ig}\, x_t + b_{ig} + W_{hg}\, h_{t-1} + b_{hg}\right) && \text{candidate} \\
# o &= \sigma\left(W_{io}\, x_t + b_{io} + W_{ho}\, h_{t-1} + b_{ho}\right) && \text{output gate} \\
# c_t &= f \odot c_{t-1} + i \odot g \\
# h_t &= o \odot \tanh(c_t)
# \end{aligned} $$
#
# Where f is 1 and i is 0, the cell state is *copied*.

# %% [markdown]
# ### Exercise 7 · An LSTM cell from its equations
#
# Write `lstm_cell(x_t, state, W_ih, W_hh, b_ih, b_hh)`: one timestep. `state` is the pair `(h, c)`, both (B, H). Torch
# stacks four parts, in the order i, f, g, o: `W_ih` is (4H, D), `W_hh` (4H, H), both biases (4H,). Return the new pair
# `(h, c)`.
#
# Do not use `nn.LSTM` or `nn.LSTMCell`.
#
# *Tiny example.* When all weights and biases are 0, the three gates are 0.5 and the candidate is 0. From h = 1, c = 4
# follows c = 0.5 · 4 + 0.5 · 0 = 2 and h = 0.5 · tanh(2) = 0.48.
#
# *Minutes* 15 · *Difficulty* ●●○○
#
# <details><summary>Hint 1 · the idea</summary>
#
# All four parts have the same form: something of the input plus something of the state. So add first and cut
# afterwards. (Why was that not possible in the GRU?)
# </details>
# <details><summary>Hint 2 · the shape</summary>
#
# The sum of both products is (B, 4H). Cut along the last axis it gives four pieces of (B, H). Of the state, only h is
# multiplied by a matrix; c is not.
# </details>
# <details><summary>Hint 3 · the line</summary>
#
# Three pieces go through `torch.sigmoid`, one through `torch.tanh`. The hidden state is computed from the *new* cell
# state. Return the hidden state first.
# </details>

# %% exercise="lstm-cell"
def lstm_cell(x_t, state, W_ih, W_hh, b_ih, b_hh):
    """Make one timestep of an LSTM, as torch defines it (in the order i, f, g, o).

    x_t (B, D), state a pair (h, c) of (B, H) each,
    W_ih (4H, D), W_hh (4H, H), b_ih (4H,), b_hh (4H,). Returns the new pair (h, c).
    """
    h, c = state
    # TODO: three gates, a candidate, the new cell state, the new hidden state
    ### BEGIN SOLUTION
    i, f, g, o = (x_t @ W_ih.T + b_ih + h @ W_hh.T + b_hh).chunk(4, dim=-1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    h = torch.sigmoid(o) * torch.tanh(c)
    return h, c
    ### END SOLUTION

# %% check="lstm-cell" points=4
tp.check("lstm-cell")


# %% [markdown]
# The loop around your cells is the same for any cell: only the line that updates the state differs.

# %% given="unroll"
def unroll(cell, x, state, weights):
    """Run a cell over all timesteps of x (T, B, D).

    Returns h_ts (T, B, H) and the last state.
    """
    states = [*itertools.accumulate(
        x, lambda state, x_t: cell(x_t, state, *weights), initial=state)][1:]
    return torch.stack([state if torch.is_tensor(state) else state[0]
                        for state in states]), states[-1]


def weights_of(layer):
    """Return the four weights of a torch layer, in the order that your cells expect."""
    return layer.weight_ih_l0, layer.weight_hh_l0, layer.bias_ih_l0, layer.bias_hh_l0

# %% demo="same-as-torch"
if tp.done("gru-cell", "lstm-cell"):
    T, B, D, H = 7, 3, 4, 5
    x, zeros, rows = torch.randn(T, B, D), torch.zeros(B, H), []
    for layer, cell, state in ((nn.GRU(D, H), gru_cell, zeros),
                               (nn.LSTM(D, H), lstm_cell, (zeros, zeros))):
        h_ts, _ = unroll(cell, x, state, weights_of(layer))
        rows.append([type(layer).__name__,
                     f"{(h_ts - layer(x)[0]).abs().max().item():.1e}"])
    tp.table(rows, header=["torch's layer",
                           "largest difference to your cell in a loop"])

# %% [markdown]
# ### Do gates help our language model?
#
# Only the recurrence changes between these runs. Each has 320 updates; the run of part 2 had 80. (The same H means
# three times as many weights in a GRU's recurrence, four times in an LSTM's.) Each is trained five times, from five
# **seeds**, each with initial weights and batches of its own. With one run of each, a difference between recurrences
# could be chance. **Write down first** what you expect. The table shows the mean, in brackets the lowest and the
# highest.

# %% training="train-gated"
if tp.done("vocabulary", "next-token"):
    stream = encode(" ".join(corpus), vocabulary)
    unseen, trained, grew = encode(" ".join(held_out), vocabulary), {}, {}

    def read(steps, seed, recurrence):
        """Train a model; its share of right verbs, by the nouns in between."""
        torch.manual_seed(seed)
        reader = NextToken(len(vocabulary), 16, 32, recurrence)
        view = train(reader, stream, unseen, steps, quiet=True)
        grew[recurrence.__name__, seed] = [*view.history["agreement"],
                                           (view.step, agreement(reader, 2))]
        # that of the first seed, to be looked at
        trained.setdefault(recurrence.__name__, reader)
        return {f"{n} nouns": agreement(reader, n) for n in range(4)}

    kinds = {"RNN": nn.RNN, "GRU": nn.GRU, "LSTM": nn.LSTM}
    tp.experiment("verbs with the right number",
                  {name: {"recurrence": kind} for name, kind in kinds.items()},
                  read, steps=320, seeds=range(5),
                  expected="the gated readers keep the number of the first noun, "
                           "the plain one does not")
    figure, axes = plt.subplots(1, 3, figsize=(9, 3.2), sharey=True,
                                layout="constrained")
    for (name, seed), points in grew.items():
        axes[[*kinds].index(name)].plot(*zip(*points), marker="o", markersize=2)
    for ax, name in zip(axes, kinds):
        ax.axhline(0.5, color="#5B6070", linewidth=0.8)
        ax.set(xlabel="updates", title=name, ylim=(-0.05, 1.05))
    axes[0].set_ylabel("verbs with the right number")
    figure.suptitle("two nouns of the other number in between, a line for each seed")
    plots.show(figure, "Share of verbs with the right number over 320 updates. "
               + " ".join(f"{name}, seed {seed}: at {min(shares):.0%} when it is "
                          f"worst, ends at {shares[-1]:.0%}."
                          for (name, seed), shares in
                          ((key, [share for _, share in points])
                           for key, points in grew.items())))

# %% [markdown]
# Read the curves from left to right. A model that gives every verb the same number is right in 50 % of the cases, the
# chance level. A model *below* one half mostly gives the verb the number of the nouns in between. All fifteen curves
# of our run were below 50 % at some point. In our run the GRU then learned to agree with the first noun with all five
# seeds: 100 % of the verbs at every distance. The LSTM's mean was below the plain RNN's at every distance: with one
# noun in between 42 % (0–100) against 60 % (12–100).
#
# **What these runs do not show:** that gated models are better in general, or that a plain RNN cannot learn the
# agreement. The budget is 320 updates at one learning rate, and the ranges overlap: at each distance at least one run
# of the plain RNN had 100 % in our run. Part 4 measures how far back a gradient reaches with gates and without.
#
# ### The learned embeddings
#
# Distances between the embeddings that the GRU model has learned:

# %% demo="learned-distances"
if tp.done("vocabulary", "next-token", "trained"):
    text = "dog cat bird dogs cats birds sleeps runs sleep run near with old red"
    words = text.split()
    with torch.no_grad():
        vectors = trained["GRU"].embedding(encode(text, vocabulary))
    figure, ax = plt.subplots(figsize=(5.5, 4.8), layout="constrained")
    image = ax.imshow(torch.cdist(vectors, vectors), cmap="Purples", vmin=0)
    ax.set_xticks(range(len(words)), words, rotation=60)
    ax.set_yticks(range(len(words)), words)
    ax.set_title("distance between learned embeddings")
    figure.colorbar(image, ax=ax, shrink=0.8)
    plots.show(figure, "A map of distances between fourteen words. Words that are "
                       "used alike lie closer together: singular nouns, plural "
                       "nouns, verbs, prepositions and adjectives form light "
                       "squares along the diagonal.")

# %% [markdown]
# In the map above, words that are used in the same contexts have similar embeddings. Singular and plural nouns are two
# groups, singular and plural verbs *one*. What comes after a verb does not depend on its number, which may be the
# reason.

# %% [markdown]
# ## 4 · The content of a state, and vanishing gradients
#
# ### Which units carry the number?
#
# If the GRU model of part 3 chooses the right verb, its state must contain the number of the first noun. Which
# **units** (entries of the state) carry it? The model reads two texts that differ in this number, and we subtract the
# states. Where the difference is zero, a unit carries no information about that number in this text. The units are
# sorted: row 0 is the one that differs most between noun and verb.

# %% demo="what-it-remembers"
if tp.done("vocabulary", "next-token", "trained"):
    texts = [". the dog near the old bird with the cat sings in the garden . "
             "the cat runs .",
             ". the dogs near the old bird with the cat sing in the garden . "
             "the cat runs ."]
    ids = torch.stack([encode(text, vocabulary) for text in texts], dim=1)  # (T, 2)
    plural_verbs = [vocabulary[verb[1]] for verb in VERBS]
    reader, noun, verb = trained["GRU"], 2, texts[0].split().index("sings")
    with torch.no_grad():
        h_ts, _ = reader.recurrence(reader.embedding(ids))
        plural = reader(ids)[0].softmax(-1)[..., plural_verbs].sum(-1)  # (T, 2)
    difference = h_ts[:, 0] - h_ts[:, 1]  # (T, H)
    strongest_first = difference[noun + 1:verb].abs().mean(0).argsort(descending=True)
    difference = difference[:, strongest_first]

    figure, (above, below) = plt.subplots(2, 1, figsize=(9, 6), sharex=True,
                                          layout="constrained", height_ratios=[3, 1])
    image = above.imshow(difference.T, cmap="RdBu", vmin=-2, vmax=2, aspect="auto",
                         interpolation="nearest")
    above.set(ylabel="units of the state",
              title="state after reading “dog …” minus state after reading “dogs …”")
    figure.colorbar(image, ax=above)
    below.plot(plural[:, 0], "o-", label="after “dog”")
    below.plot(plural[:, 1], "s--", label="after “dogs”")
    below.set(ylabel="P(plural verb next)", ylim=(-0.05, 1.05))
    below.set_xticks(range(len(ids)), texts[0].split(), rotation=60)
    below.legend()
    kept = (difference[noun + 1:verb].abs() > 0.5).all(0).sum().item()
    plots.show(figure, "Above, the difference between two states, units by "
                       "timesteps. It is zero before the noun; from the word after "
                       f"it to the verb {kept} of 32 units keep a difference above "
                       "0.5 at every timestep; a few words after the verb it is "
                       "close to zero again. Below, the probability that a plural "
                       "verb comes next: after “dogs” at most "
                       f"{plural[:, 1].max():.2f}, after “dog” at most "
                       f"{plural[:, 0].max():.2f}.")

# %% [markdown] answer="what-is-kept" points=2
# **Question 3.** Read the picture. Which units carry the number of the first noun, from when to when? Why does the
# difference end soon after the verb, although no term of the loss requires it? And if such a unit keeps its value by
# *copying* it, what must its update gate do?
#
# *Minutes* 5
#
# ### BEGIN SOLUTION
# A few units, among the uppermost rows (2 of 32 in the executed notebook), hold a clear difference from the word after
# the first noun up to the verb. Most units differ little, or only at times. After the verb the number is of no more use
# for any prediction, so no gradient favours keeping it, and the unit can store something else. To copy the old value
# between noun and verb, the update gate must be close to 1 (in torch's equations). To overwrite it afterwards, the gate
# must be well below 1. (The picture shows states, not gates. A unit can also keep its value without copying: the
# candidate can compute it anew, as in a plain RNN.)
#
# **Rubric.** 1 point: some units keep the difference from noun to verb, with a reason for the end: it is no longer
# useful for the prediction, so it is overwritten. 1 point: an update gate near 1 copies, a small one overwrites
# (torch's convention; accept the other one if it is said).
# ### END SOLUTION

# %% [markdown]
# ### How far back does a gradient reach?
#
# To learn that the first noun matters, the gradient of the loss at the verb must reach that noun. Computing gradients
# through the unrolled loop is **backpropagation through time** (BPTT; Werbos 1990). It is the chain rule, applied once
# per timestep. Let L be a number computed from the last state, and write $g_t = \partial L / \partial h_t$, a column of
# H numbers:
#
# 1. One step forward is $h_t = \tanh(a_t)$ with $a_t = W_{ih} x_t + b_{ih} + W_{hh} h_{t-1} + b_{hh}$.
# 2. The slope of tanh is $1 - h_t^2$, so $\partial L / \partial a_t = (1 - h_t^2) \odot g_t$. Call it $d_t$.
# 3. One step back in time: $g_{t-1} = W_{hh}^\top d_t = W_{hh}^\top \left((1 - h_t^2) \odot g_t\right)$.
# 4. To the input: $\partial L / \partial x_t = W_{ih}^\top d_t$.
# 5. The same matrix is used at all timesteps, so its gradients add up: $\partial L / \partial W_{hh} = \sum_t d_t
#    h_{t-1}^\top$.
#
# By line 3, going back k timesteps multiplies the gradient k times by $W_{hh}^\top$ and by slopes, which are at most 1.
# So its norm is at most $\lambda^k$ times what it was, where $\lambda$ is the largest **singular value** of $W_{hh}$:
# the largest factor by which this matrix lengthens a vector. If $\lambda < 1$, the norm goes to zero *exponentially*:
# the gradient **vanishes** (Hochreiter 1991; Bengio et al. 1994). It can grow exponentially, or **explode**, only if
# $\lambda > 1$ (Pascanu et al. 2013, arXiv 1211.5063).
#
# Autograd computes these five lines. To measure, let L be the sum of the entries of the last state, and take its
# derivative with respect to the input of each timestep, line 4.

# %% [markdown]
# ### Exercise 8 · Measure the gradient
#
# Write `gradient_norms(run, x)`.
#
# - In: `run`, a function that reads `x` (T, B, D) and returns two things, `h_ts` (T, B, H) first: your loop with a
#   given `h_0` and weights, or an `nn.LSTM`. And `x`, the input.
# - Out: (T,). Number t is the norm (the square root of the sum of squares) of the gradient of `h_ts[-1].sum()` with
#   respect to `x[t]`, over all sentences and features together.
#
# Leave the caller's `x` as it is: work on a copy. The result does not need a gradient of its own.
#
# *Tiny example.* If `run` adds up its inputs (`h_ts = x.cumsum(0)`), every input reaches the last state undiminished:
# for B = 2 and D = 8 all T norms are √16 = 4.
#
# *Minutes* 20 · *Difficulty* ●●●○
#
# <details><summary>Hint 1 · the idea</summary>
#
# Autograd gives the derivative of one number with respect to any tensor. Make that one number from the last state, and
# ask for the derivative with respect to the whole of x at once.
# </details>
# <details><summary>Hint 2 · the shape</summary>
#
# The gradient has the shape of x: (T, B, D). Only the first axis remains in the answer, so the norm goes over the other
# two, which can be flattened into one: (T, B · D).
# </details>
# <details><summary>Hint 3 · the line</summary>
#
# `x.detach().clone().requires_grad_(True)` is a copy that autograd watches. `torch.autograd.grad(number, tensor)`
# returns a tuple with one gradient. `.flatten(1)` keeps the first axis, and `.norm(dim=…)` takes the norm along one.
# </details>

# %% exercise="gradients"
def gradient_norms(run, x):
    """Measure how much the last state depends on the input of each timestep.

    run: x (T, B, D) → (h_ts (T, B, H), anything). x: (T, B, D), left as it is.
    Returns (T,): the norm of the gradient of h_ts[-1].sum() with respect to x[t],
    for each t.
    """
    # TODO: run on a watched copy, differentiate the sum of the last state, take norms
    ### BEGIN SOLUTION
    x = x.detach().clone().requires_grad_(True)
    h_ts, _ = run(x)
    gradient, = torch.autograd.grad(h_ts[-1].sum(), x)
    return gradient.flatten(1).norm(dim=1)
    ### END SOLUTION

# %% check="gradients" points=4
tp.check("gradients")

# %% [markdown]
# Now measure your loop. W_hh is an orthogonal matrix (all its singular values are 1) times a factor. Compare it with
# two gated layers of torch. In the LSTM the bias of the forget gate is 3, so that about σ(3) = 0.95 of the cell state
# is kept at each timestep. In the GRU the update gate has this bias.
#
# **Predict first:** with a factor of 0.5, how much of the gradient is left after 20 timesteps?

# %% demo="vanishing"
if tp.done("rnn-loop", "gradients"):
    torch.manual_seed(0)
    T, B, D, H = 60, 8, 8, 32
    x = torch.randn(T, B, D)
    W_ih, zeros = 0.05 * torch.randn(H, D), torch.zeros(H)
    orthogonal = torch.linalg.qr(torch.randn(H, H)).Q
    h_0, gru, lstm = torch.zeros(B, H), nn.GRU(D, H), nn.LSTM(D, H)
    with torch.no_grad():
        # the second part of the LSTM's bias belongs to f, of the GRU's to z
        for layer in (gru, lstm):
            layer.bias_ih_l0[H:2 * H] = 3.0

    def plain(factor):
        return lambda x: rnn_loop(x, h_0, W_ih, factor * orthogonal, zeros, zeros)

    loops = {f"tanh, factor {factor}": plain(factor) for factor in (0.5, 0.9, 1, 2)}
    loops |= {"GRU, update bias 3": gru, "LSTM, forget bias 3": lstm}
    norms = {name: gradient_norms(run, x).flip(0)  # the last timestep first
             for name, run in loops.items()}
    figure, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
    for (name, values), style in zip(norms.items(),
                                     ("o-", "s-", "^-", "v-", "--", ":")):
        ax.semilogy(values / values[0], style, markevery=10,
                    linewidth=3 if style == ":" else 1.8, label=name)
    ax.set(xlabel="timesteps back from the last one",
           ylabel="gradient, as a share of the nearest", ylim=(1e-12, 1e6),
           title="how far back a gradient reaches")
    ax.legend()
    back = (1, 10, 20, 50)
    rows = [[name, *(f"{values[k] / values[0]:.0e}" for k in back)]
            for name, values in norms.items()]
    header = ["loop", *(f"{k} back" for k in back)]
    plots.show(figure, "Norm of the gradient over the distance in timesteps, on a "
                       "logarithmic scale, as a share of the nearest. 50 timesteps "
                       "back: " + "; ".join(f"{row[0]} {row[-1]}" for row in rows)
               + ".")
    tp.table(rows, header=header, caption="What is left of the gradient")

# %% [markdown]
# On a logarithmic scale an exponential is a straight line, and the lines of the plain loop are nearly straight. With
# factor 0.5 less than a millionth is left after 20 timesteps. With factor 2 the gradient grows; such gradients are
# scaled down to a largest norm (**gradient clipping**, Pascanu et al.), as in `train` above. Clipping does not help
# against vanishing, because it only shrinks gradients.
#
# With these random weights, the gated loops have about a tenth left after 50 timesteps, the plain loop with factor 1
# has 2 %. In the gated loops the old state is multiplied by f or z. Each is computed from the input and the state, and
# can be close to 1. The GRU is near the estimate 0.95⁵⁰ = 0.08 from the bias that we set. The LSTM does not follow it:
# 0.2 is left one timestep back, 0.09 after 50. (The last input also acts directly through the output gate, and
# gradients return through h, too.) The bias of 3 matters: with torch's usual initialisation the gates start near σ(0) =
# 0.5 (set the bias to 0 above and see). Gates make it *possible* to keep a gradient large; they do not ensure it. A
# positive initial forget bias is a common choice (Jozefowicz et al. 2015).

# %% [markdown] answer="why-vanish" points=3
# **Question 4.** (a) Why is the decay exponential in a plain recurrence? Use the third of the five lines. (b) Which
# line of the LSTM's equations gives the gradient another way back, and what is the factor on that way for one timestep?
# (c) With two nouns in between, the test of part 3 has six words between the first noun and the verb. What do you
# expect of the plain RNN if there were sixty, with pieces long enough to contain them?
#
# *Minutes* 8
#
# ### BEGIN SOLUTION
# (a) By line 3, going back k timesteps multiplies the gradient by k factors, each of them W_hhᵀ times the slopes of
# tanh (at most 1). A product of k similar factors shrinks or grows like a power of their size. (b) c_t = f ⊙ c_{t−1} +
# i ⊙ g: along the cell state the derivative for one timestep is f itself, without a matrix and without a tanh (apart
# from the indirect ways through h). With f near 1 it shrinks slowly: 0.95 to the power 20 is 0.36. (c) Where the
# factors are below 1, the gradient at the first noun would be smaller by many orders of magnitude. So we expect that it
# would not learn the agreement in a comparable time. (We have not run this.)
#
# **Rubric.** 1 point: product of one factor W_hhᵀ · tanh′ per timestep. 1 point: the line of c_t, factor f
# (elementwise). 1 point: expects failure or very slow learning, with the size of the gradient as the reason.
# ### END SOLUTION

# %% [markdown]
# ## 5 · The shapes of an LSTM
#
# An LSTM can have
#
# - several **layers**: the states of layer 0 are the inputs of layer 1;
# - two **directions**: a second LSTM reads the sequence from its end to its start;
# - its batch axis first (`batch_first=True`) or second, as we had it so far.
#
# `output, (h_n, c_n) = lstm(x)`: `output` holds the states of the *last layer* at *all timesteps*, the two directions
# side by side. `h_n` and `c_n` hold the *last state* of *every layer and direction*.
#
# ![Two layers with two directions each, four chains of states. output runs along the top, over all timesteps; h_n
# stands at the four ends of the chains.](figures/lstm_shapes.svg)

# %% [markdown]
# ### Exercise 9 · Predict, then check
#
# An LSTM has input size 128, `hidden_size=32`, `num_layers=2`, `bidirectional=True`, `batch_first=True`. It
# reads a batch of 16 sequences of 10 timesteps. Write down the shapes of `output`, `h_n` and `c_n`.
#
# Then write the general rule: `lstm_shapes(batch_size, timesteps, hidden_size, num_layers, bidirectional, batch_first)`
# returns three tuples of numbers, the shapes of `output`, `h_n` and `c_n`. No LSTM may be run for it.
#
# *Tiny example.* `lstm_shapes(16, 10, 32, 1, False, False)` is `((10, 16, 32), (1, 16, 32), (1, 16, 32))`.
#
# *Minutes* 15 · *Difficulty* ●●○○ · *Extension*: come back to it when a later session uses two layers or two
# directions.
#
# <details><summary>Hint 1 · the idea</summary>
#
# Count the chains of states: one per layer and direction. Each chain has one last state, and a last state has no time
# axis.
# </details>
# <details><summary>Hint 2 · the shape</summary>
#
# `output` has the last layer only, so the number of layers does not show in it; two directions lie side by side on its
# last axis. In `h_n` all chains are stacked on the first axis.
# </details>
# <details><summary>Hint 3 · the line</summary>
#
# `directions = 2 if bidirectional else 1`. `batch_first` changes the input and `output`, and *nothing else*: see
# torch's documentation.
# </details>

# %% exercise="lstm-shapes"
def lstm_shapes(batch_size, timesteps, hidden_size, num_layers, bidirectional,
                batch_first):
    """Return the shapes of output, h_n and c_n of an nn.LSTM, as three tuples."""
    # TODO: three tuples, from the numbers alone
    ### BEGIN SOLUTION
    directions = 2 if bidirectional else 1
    first_axes = (batch_size, timesteps) if batch_first else (timesteps, batch_size)
    last_states = (num_layers * directions, batch_size, hidden_size)
    return (*first_axes, directions * hidden_size), last_states, last_states
    ### END SOLUTION

# %% check="lstm-shapes" points=3
tp.check("lstm-shapes")

# %% demo="predicted-and-real"
if tp.done("lstm-shapes"):
    rows = []
    for layers, bidirectional, batch_first in itertools.product(
            (1, 2), (False, True), (False, True)):
        lstm = nn.LSTM(128, 32, layers, bidirectional=bidirectional,
                       batch_first=batch_first)
        output, (h_n, c_n) = lstm(
            torch.zeros((16, 10, 128) if batch_first else (10, 16, 128)))
        real = tuple(output.shape), tuple(h_n.shape), tuple(c_n.shape)
        yours = tuple(map(tuple, lstm_shapes(
            16, 10, 32, layers, bidirectional, batch_first)))
        rows.append([layers, bidirectional, batch_first, *real,
                     "yes" if yours == real else "no"])
    tp.table(rows, header=["layers", "bidirectional", "batch_first",
                           "output", "h_n", "c_n", "as predicted"])

# %% [markdown] answer="why-four" points=2
# **Question 5.** With 2 layers and 2 directions, `h_n` of our LSTM is (4, 16, 32), although `batch_first=True`. Why 4?
# And why does 4 not show in the shape of `output`, while 64 does?
#
# *Minutes* 5 · *Extension*
#
# ### BEGIN SOLUTION
# There are 2 · 2 = 4 chains of states, a forward and a backward one in each layer, and each has a last state of its
# own; they are stacked on the first axis. `batch_first` does not touch h_n. `output` shows only the last layer, and at
# each timestep the states of its two directions lie side by side: 2 · 32 = 64.
#
# **Rubric.** 1 point: 4 = layers × directions, one last state for each. 1 point: output holds the last layer only, both
# directions concatenated, 2 × 32 = 64.
# ### END SOLUTION

# %% [markdown]
# ### Exercise 10 · Both ends
#
# You want one vector per sentence from a bidirectional LSTM. Half of `output[:, -1]`, the state at the last timestep,
# is of little use: there the *backward* direction has read a single token.
#
# Write `both_ends(output, h_n)` for an LSTM with `batch_first=True` and two directions, and any number of layers:
#
# - In: `output` (B, T, 2H) and `h_n` (2 · layers, B, H), as the LSTM returned them.
# - Out: (B, 2H). The first H numbers are the last layer's forward state after *its* last token; the other H numbers are
#   the last layer's backward state after *its* last token, which is the first token of the sentence.
#
# *Tiny example.* With 2 layers the four parts of `h_n` are, in this order: layer 0 forward, layer 0 backward, layer 1
# forward, layer 1 backward.
#
# *Minutes* 10 · *Difficulty* ●●○○ · *Extension*
#
# <details><summary>Hint 1 · the idea</summary>
#
# Where in the picture above does each chain of the last layer end? The two ends stand at opposite timesteps.
# </details>
# <details><summary>Hint 2 · the shape</summary>
#
# Each end is (B, H). Side by side, along the last axis, they are (B, 2H). A `reshape` of `h_n` alone would mix the
# sentences of the batch.
# </details>
# <details><summary>Hint 3 · the line</summary>
#
# From `h_n`: negative indices count from the end, whatever the number of layers. From `output`: one half at one
# timestep, the other half at another. `torch.cat` takes `dim=-1`.
# </details>

# %% exercise="both-ends"
def both_ends(output, h_n):
    """Return the last layer's two final states, forward and backward, (B, 2H).

    output (B, T, 2H), h_n (2 · layers, B, H), of a bidirectional LSTM with
    batch_first=True.
    """
    # TODO: the end of each direction, side by side
    ### BEGIN SOLUTION
    return torch.cat([h_n[-2], h_n[-1]], dim=-1)
    ### END SOLUTION

# %% check="both-ends" points=2
tp.check("both-ends")

# %% demo="who-saw-what"
# Change one token, and count the numbers of the sentence's vector that change.
if tp.done("both-ends"):
    torch.manual_seed(0)
    lstm = nn.LSTM(8, 16, bidirectional=True, batch_first=True)
    vectors = {"output[:, -1]": lambda output, h_n: output[:, -1],
               "both_ends": both_ends}
    x, rows = torch.randn(1, 6, 8), []
    for t in range(6):
        changed = x.clone()
        changed[:, t] = torch.randn(8)
        (before, (h_before, _)), (after, (h_after, _)) = lstm(x), lstm(changed)
        moved = [(vector(before, h_before) - vector(after, h_after)).abs() > 1e-6
                 for vector in vectors.values()]
        rows.append([f"token {t}",
                     *(f"{numbers.sum().item()} of 32" for numbers in moved)])
    tp.table(rows, header=["changed", *vectors],
             caption="How many of the 32 numbers change")

# %% [markdown]
# ## Summary
#
# You wrote the recurrence and two gated cells, and measured how far back gradients reach. Session 2 joins two such
# networks: one reads a question, the other writes the answer.
#
# **Further reading**
#
# - Linzen, Dupoux & Goldberg 2016, *Assessing the ability of LSTMs to learn syntax-sensitive dependencies*, arXiv
#   1611.01368: agreement in English text.
# - Pascanu, Mikolov & Bengio 2013, *On the difficulty of training recurrent neural networks*, arXiv 1211.5063: when
#   gradients vanish or explode.
# - Greff et al. 2017, *LSTM: a search space odyssey*, arXiv 1503.04069: which parts of an LSTM matter.

# %% demo="progress"
tp.progress()
