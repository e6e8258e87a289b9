"""Wrong versions that learners write in session 1."""

from autograder.authoring import Fault

RAW_SCORES = ("Your logits went through a softmax. The loss does that itself, so return the raw scores of the "
              "readout.")
SIGMOID_OF_G = ("The candidate g goes through a sigmoid. Only the three gates do; the candidate goes through a tanh "
                "and nothing else.")
TOKENS = "sorted({token for sentence in sentences for token in sentence.split()})"
NUMBERED = "enumerate([*specials, *tokens])"

VOCABULARY = [
    Fault("vocabulary", "repeated-tokens-dropped",
            "A token that occurs again in the same sentence has no second id in your result. `encode` gives one "
            "id per token, in their order.",
            replace=("tokens = sentence.split()\n", "tokens = list(dict.fromkeys(sentence.split()))\n")),
    Fault("vocabulary", "unknown-minus-one",
            "An unknown token gets the id −1, which no table of embeddings has. Use the id of `<unk>`.",
            replace=('vocabulary["<unk>"]', "-1")),
    Fault("vocabulary", "unknown-zero",
            "An unknown token gets the id 0. That is the id of `<unk>` in some vocabularies; look it up in this one.",
            replace=('vocabulary["<unk>"]', "0")),
    Fault("vocabulary", "unknown-added",
            "`encode` gives each unknown token a new id, so the vocabulary grows. "
            "Encoding must not change the vocabulary; all unknown tokens get the id of `<unk>`.",
            replace=("vocabulary.get(token, unknown)", "vocabulary.setdefault(token, len(vocabulary))")),
    Fault("vocabulary", "eos-missing",
            "`encode` does not end with the id of `<eos>` where the vocabulary has one.",
            replace=('tokens.append("<eos>")', "pass")),
    Fault("vocabulary", "eos-always",
            "`encode` adds an id at the end although the vocabulary has no `<eos>`.",
            replace=('if "<eos>" in vocabulary:', "if True:")),
    Fault("vocabulary", "eos-first",
            "The id of `<eos>` stands at the beginning. It marks the end of the sequence.",
            replace=('tokens.append("<eos>")', 'tokens.insert(0, "<eos>")')),
    Fault("vocabulary", "order-of-first-appearance",
            "Your tokens are numbered in the order in which they first appear. After the special tokens they should "
            "be in the order of `sorted`.",
            replace=(TOKENS, "dict.fromkeys(token for sentence in sentences for token in sentence.split())")),
    Fault("vocabulary", "repetitions-numbered",
            "A token that occurs several times uses up several ids, so some numbers are missing. "
            "Number each token once.",
            replace=(TOKENS, "sorted(token for sentence in sentences for token in sentence.split())")),
    Fault("vocabulary", "empty-token",
            "One of your tokens is the empty string, from between two spaces. "
            "`split()` without an argument takes any number of spaces for one.",
            replace=(TOKENS, 'sorted({token for sentence in sentences for token in sentence.split(" ")})')),
    Fault("vocabulary", "specials-sorted-in",
            "Your special tokens are sorted. They should come first, in the order in which they are given.",
            replace=(NUMBERED, "enumerate(sorted([*specials, *tokens]))")),
    Fault("vocabulary", "specials-last",
            "The special tokens have the last ids. They come first.",
            replace=(NUMBERED, "enumerate([*tokens, *specials])")),
    Fault("vocabulary", "specials-ignored",
            "`<unk>` is your only special token, whatever is given. Number all of `specials`, in their order.",
            replace=(NUMBERED, 'enumerate(["<unk>", *tokens])')),
    Fault("vocabulary", "unknown-left-out",
            "A token that is not in the vocabulary has no id in your result. It gets the id of `<unk>`, so that there "
            "is one id per token.",
            replace=("for token in tokens],", "for token in tokens if token in vocabulary],")),
]

ONES = "return (ids.unsqueeze(-1) == places).float()"

ONE_HOT = [
    Fault("one-hot", "cut-anew",
            "Your ones stand as in a tensor (V, …) that was cut anew into (…, V). `reshape` and `view` do that: "
            "they keep the order of the numbers and move no axis. The position on the last axis is the id.",
            replace=(ONES,
                     "return (places[:, None] == ids.flatten()).float().reshape(*ids.shape, vocabulary_size)")),
    Fault("one-hot", "counted-from-one",
            "The 1 stands one position too far to the left, and id 0 has none, as if positions were counted from 1. "
            "Ids begin at 0.",
            replace=("torch.arange(vocabulary_size, device=ids.device)",
                     "torch.arange(1, vocabulary_size + 1, device=ids.device)")),
    Fault("one-hot", "width-from-the-ids",
            "The width of your vectors is the largest id plus one, not the size of the vocabulary. "
            "A text without the last tokens then gets shorter vectors.",
            replace=("torch.arange(vocabulary_size, device=ids.device)",
                     "torch.arange(int(ids.max()) + 1, device=ids.device)")),
    Fault("one-hot", "all-ids-in-every-row",
            "Each of your vectors has a 1 at every id of the batch. Each should have a single 1, at its own id.",
            replace=(ONES, "return torch.isin(places, ids).float().expand(*ids.shape, vocabulary_size)")),
    Fault("one-hot", "whole-numbers",
            "Your vectors are whole numbers. Make floats of them, 1.0 and 0.0: they are multiplied with a table of "
            "floats.",
            replace=(ONES, "return (ids.unsqueeze(-1) == places).long()")),
    Fault("one-hot", "all-ids-on-one-axis",
            "Your result has a single axis for all ids. It should have the axes of `ids`, and V after them.",
            replace=(ONES, "return (ids.reshape(-1, 1) == places).float()")),
]

EMBED = [
    Fault("embed", "look-up-in-the-product",
            "`embed_by_product` takes the row at the largest entry. "
            "That is right for one-hot vectors only: a mixture of two tokens must give the mixture of both rows.",
            replace=("one_hots @ table", "table[one_hots.argmax(-1)]")),
    Fault("embed", "negative-accepted",
            "A negative id among others raises no error. (As an index it takes a row from the end of the table.) "
            "Refuse it.",
            replace=("ids.min() < 0 or ", "")),
    Fault("embed", "nothing-refused",
            "An id that has no row, too large or negative, raises no error when it stands among others. "
            "Look at the ids before you use them, and `raise` an IndexError with a message.",
            body="return table[ids.clamp(0, len(table) - 1)]"),
    Fault("embed", "detached",
            "No gradient reaches the table, so it is not trained: your rows are detached from it, "
            "for example by `.detach()`, `.data` or `torch.tensor(…)`.",
            replace=("return table[ids]", "return table[ids].detach()")),
]

STACKED = "torch.stack(h_ts), h"

RNN_LOOP = [
    Fault("rnn-loop", "batch-and-time-mixed",
            "Inputs of other sentences and timesteps go into your states. T comes before B: to exchange axes use "
            "`transpose`, not `reshape` or `view`.",
            replace=("for x_t in x:", "for x_t in x.reshape(x.shape[1], x.shape[0], -1).transpose(0, 1):")),
    Fault("rnn-loop", "detached-state",
            "The state is detached from the timesteps before (for example by `.detach()` or `.data`): no gradient of "
            "a later state reaches the earlier inputs.",
            replace=("h @ W_hh.T", "h.detach() @ W_hh.T")),
    Fault("rnn-loop", "state-before-the-timestep",
            "`h_ts` holds the state before each timestep: it begins with `h_0`, and the last state is missing. "
            "Row t is the state after timestep t.",
            replace=(STACKED, "torch.stack([h_0, *h_ts[:-1]]), h")),
    Fault("rnn-loop", "initial-state-in-the-list",
            "`h_ts` begins with `h_0` and has one row too many. It holds the states after the timesteps only.",
            replace=(STACKED, "torch.stack([h_0, *h_ts]), h")),
    Fault("rnn-loop", "all-rows-the-last",
            "Every row of `h_ts` is the last state. Keep the state of each timestep. (A tensor that is written into "
            "anew each time changes in the list, too.)",
            replace=(STACKED, "torch.stack(len(h_ts) * [h]), h")),
    Fault("rnn-loop", "state-not-carried",
            "Each timestep starts from `h_0` again. Carry the state from one timestep to the next.",
            replace=("h @ W_hh.T", "h_0 @ W_hh.T")),
    Fault("rnn-loop", "initial-state-ignored",
            "Your first state is zeros, whatever `h_0` is. Start from `h_0`.",
            replace=("h, h_ts = h_0, []", "h, h_ts = torch.zeros_like(h_0), []")),
    Fault("rnn-loop", "matrix-not-transposed",
            "The state is multiplied by `W_hh` and not by its transpose, which states in rows need. "
            "(`W_hh` is square, so no error is raised.)",
            replace=("h @ W_hh.T", "h @ W_hh")),
    Fault("rnn-loop", "hidden-bias-left-out",
            "The bias `b_hh` is missing. Each of the two products has a bias of its own.",
            replace=(" + b_hh)", ")")),
]

READ = "return self.readout(h_ts), state"

NEXT_TOKEN = [
    Fault("next-token", "softmax", RAW_SCORES,
            replace=(READ, "return self.readout(h_ts).softmax(-1), state")),
    Fault("next-token", "log-softmax", RAW_SCORES,
            replace=(READ, "return self.readout(h_ts).log_softmax(-1), state")),
    Fault("next-token", "embedding-detached",
            "The embeddings are detached (for example by `.detach()` or `no_grad`): no gradient reaches the table, "
            "so it is not trained.",
            replace=("self.embedding(ids)", "self.embedding(ids).detach()")),
    Fault("next-token", "states-detached",
            "No gradient goes back from the readout to the states (for example, they are detached): neither the "
            "recurrence nor the embedding is trained.",
            replace=(READ, "return self.readout(h_ts.detach()), state")),
    Fault("next-token", "last-timestep-only",
            "Your scores are those after the last token only. There are scores after every token, (T, B, V).",
            replace=(READ, "return self.readout(h_ts[-1]), state")),
    Fault("next-token", "state-ignored",
            "A state that is given has no effect: reading starts from zeros. Give it to the recurrence.",
            replace=("self.embedding(ids), state", "self.embedding(ids)")),
    Fault("next-token", "old-state-returned",
            "You return the state that came in, or None. Return the new one, from which reading can go on.",
            replace=("h_ts, state = ", "h_ts, _ = ")),
    Fault("next-token", "last-row-as-state",
            "The state that you return has the shape (B, H). Return it as the recurrence does: (1, B, H), and with "
            "an LSTM a pair.",
            replace=(READ, "return self.readout(h_ts), h_ts[-1]")),
    Fault("next-token", "half-of-the-pair",
            "With an LSTM the state is a pair, (h, c), and yours is one tensor. Leave `None` as it is: torch then "
            "starts from zeros. Return the logits first, then the state as the recurrence returns it.",
            replace=(READ, "return self.readout(h_ts), state[0] if isinstance(state, tuple) else state")),
]

GRU_CELL = [
    Fault("gru-cell", "reset-gate-on-the-input",
            "r multiplies the input's part of your candidate. It should multiply the state's part.",
            replace=("torch.tanh(x_n + r * h_n)", "torch.tanh(r * x_n + h_n)")),
    Fault("gru-cell", "update-gate-first",
            "r and z have changed places: in the order of the parts (r, z, n), or where they are used. r belongs in "
            "the candidate, z in the last line.",
            replace=[("r = torch.sigmoid(x_r + h_r)", "r = torch.sigmoid(x_z + h_z)"),
                     ("z = torch.sigmoid(x_z + h_z)", "z = torch.sigmoid(x_r + h_r)")]),
    Fault("gru-cell", "candidate-without-its-bias",
            "The last H numbers of `b_hh` are missing. They are added to the state's part of the candidate, "
            "before r multiplies it.",
            replace=("r * h_n", "r * (h_n - b_hh[2 * h.shape[1]:])")),
    Fault("gru-cell", "gate-roles-swapped",
            "Your update gate works the other way round: z belongs to the old state and 1 − z to the candidate. "
            "(Some papers swap them; torch does not.)",
            replace=("(1 - z) * n + z * h", "z * n + (1 - z) * h")),
    Fault("gru-cell", "parts-interleaved",
            "You take every third number for one part. torch puts the parts one after the other: the first H numbers "
            "are those of r, the next H those of z, the last H those of n.",
            replace=[("b_ih).chunk(3, dim=-1)", "b_ih).unflatten(-1, (-1, 3)).unbind(-1)"),
                     ("b_hh).chunk(3, dim=-1)", "b_hh).unflatten(-1, (-1, 3)).unbind(-1)")]),
    Fault("gru-cell", "reset-before-the-product",
            "You multiply the state by r before the matrix product, as the papers do. "
            "In torch's equations r multiplies the result, bias included.",
            replace=("r * h_n)", "(r * h) @ W_hh.chunk(3)[2].T + b_hh.chunk(3)[2])")),
    Fault("gru-cell", "input-reset-too",
            "You multiply the part of the input by r, too. In torch's equations r multiplies the part of the state "
            "alone.",
            replace=("torch.tanh(x_n + r * h_n)", "torch.tanh(r * (x_n + h_n))")),
    Fault("gru-cell", "reshape-instead-of-transpose",
            "You bring `W_hh` into a shape that fits with `reshape` or `view`. "
            "That cuts its rows and mixes them; a transpose is meant.",
            replace=("h @ W_hh.T", "h @ W_hh.reshape(h.shape[-1], -1)")),
    Fault("gru-cell", "detached-state",
            "The old state is detached where z multiplies it: the gradient cannot go back in time along the copy.",
            replace=("(1 - z) * n + z * h", "(1 - z) * n + z * h.detach()")),
    Fault("gru-cell", "sigmoid-of-the-candidate",
            "The candidate n goes through a sigmoid. Only the two gates do; the candidate goes through a tanh.",
            replace=("torch.tanh(", "torch.sigmoid(")),
    Fault("gru-cell", "bias-after-the-reset-gate",
            "The last H numbers of `b_hh` are added after r has multiplied. "
            "r multiplies the state's part of the candidate with its bias.",
            replace=("r * h_n", "r * (h_n - b_hh[2 * h.shape[1]:]) + b_hh[2 * h.shape[1]:]")),
    Fault("gru-cell", "no-reset-gate",
            "The reset gate r has no effect. It multiplies the state's part of the candidate.",
            replace=("r * h_n", "h_n")),
]

PARTS = "i, f, g, o ="

LSTM_CELL = [
    Fault("lstm-cell", "sigmoid-of-the-candidate", SIGMOID_OF_G,
            replace=("torch.tanh(g)", "torch.tanh(torch.sigmoid(g))")),
    Fault("lstm-cell", "no-tanh-of-the-cell-state",
            "The tanh of the cell state is missing in your new h: h is o ⊙ tanh(c).",
            replace=("torch.sigmoid(o) * torch.tanh(c)", "torch.sigmoid(o) * c")),
    Fault("lstm-cell", "hidden-bias-left-out",
            "The bias `b_hh` is missing. Each of the two products has a bias of its own.",
            replace=("h @ W_hh.T + b_hh", "h @ W_hh.T")),
    Fault("lstm-cell", "no-output-gate",
            "The output gate is missing in your new h: h is o ⊙ tanh(c).",
            replace=("torch.sigmoid(o) * ", "")),
    Fault("lstm-cell", "parts-interleaved",
            "You take every fourth number for one part. torch puts the parts one after the other: the first H numbers "
            "are those of i, the next H those of f, and so on.",
            replace=("b_hh).chunk(4, dim=-1)", "b_hh).unflatten(-1, (-1, 4)).unbind(-1)")),
    Fault("lstm-cell", "hidden-state-of-the-old-cell",
            "Your new h is computed from the old c. It is o ⊙ tanh of the new c.",
            replace=[("    c = torch.sigmoid(f)", "    new = torch.sigmoid(f)"), ("return h, c", "return h, new")]),
    Fault("lstm-cell", "results-swapped",
            "The pair comes back as (c, h). The hidden state comes first, as in torch.",
            replace=("return h, c", "return c, h")),
    Fault("lstm-cell", "reshape-instead-of-transpose",
            "You bring `W_hh` into a shape that fits with `reshape` or `view`. "
            "That cuts its rows and mixes them; a transpose is meant.",
            replace=("h @ W_hh.T", "h @ W_hh.reshape(h.shape[-1], -1)")),
    Fault("lstm-cell", "detached-cell-state",
            "The old cell state is detached: no gradient flows back along the cell state.",
            replace=("torch.sigmoid(f) * c", "torch.sigmoid(f) * c.detach()")),
    Fault("lstm-cell", "sigmoid-for-the-tanh", SIGMOID_OF_G,
            replace=("torch.tanh(g)", "torch.sigmoid(g)")),
    Fault("lstm-cell", "output-gate-third",
            "o and g have changed places: torch's parts are in the order i, f, g, o.",
            replace=(PARTS, "i, f, o, g =")),
    Fault("lstm-cell", "forget-gate-first",
            "i and f have changed places: in the order of the parts (i, f, g, o), or in the line of c, where f "
            "multiplies the old c.",
            replace=(PARTS, "f, i, g, o =")),
]

STATES = "last_states = (num_layers * directions, batch_size, hidden_size)"

LSTM_SHAPES = [
    Fault("lstm-shapes", "states-batch-first",
            "With `batch_first` you put the batch in front in the states too. "
            "It changes `output` only; the states always begin with layers × directions.",
            replace=(STATES,
                     "last_states = (batch_size, num_layers * directions, hidden_size) if batch_first "
                     "else (num_layers * directions, batch_size, hidden_size)")),
    Fault("lstm-shapes", "layers-plus-directions",
            "You add layers and directions. With two of each the sum is 4 by chance; count the chains of states: "
            "one per layer *and* direction.",
            replace=("(num_layers * directions,", "((num_layers + directions if bidirectional else num_layers),")),
    Fault("lstm-shapes", "batch-first-ignored",
            "`batch_first` changes nothing in your shapes. It swaps the first two axes of `output`.",
            replace=("(batch_size, timesteps) if batch_first else (timesteps, batch_size)", "(timesteps, batch_size)")),
    Fault("lstm-shapes", "batch-first-inverted",
            "Your two cases of `batch_first` are exchanged: without it, time comes first.",
            replace=("(batch_size, timesteps) if batch_first else (timesteps, batch_size)",
                     "(timesteps, batch_size) if batch_first else (batch_size, timesteps)")),
    Fault("lstm-shapes", "one-state-per-layer",
            "Your `h_n` and `c_n` have one state per layer. With two directions there should be two per layer.",
            replace=(STATES, "last_states = (num_layers, batch_size, hidden_size)")),
    Fault("lstm-shapes", "one-state-more",
            "In your shapes a second direction adds one state to `h_n` and `c_n`. It should add one per layer.",
            replace=(STATES, "last_states = (num_layers + directions - 1, batch_size, hidden_size)")),
    Fault("lstm-shapes", "directions-side-by-side-in-the-states",
            "In `h_n` and `c_n` you put the two directions side by side, 2H. That is so in `output` only; in the "
            "states they lie one after the other on the first axis.",
            replace=(STATES, "last_states = (num_layers, batch_size, directions * hidden_size)")),
    Fault("lstm-shapes", "one-direction-in-output",
            "The last axis of your `output` is H with two directions, too. They lie side by side: 2H.",
            replace=("directions * hidden_size)", "hidden_size)")),
]

ENDS = "torch.cat([h_n[-2], h_n[-1]], dim=-1)"

BOTH_ENDS = [
    Fault("both-ends", "backward-before-forward",
            "The two ends come in the wrong order: the forward one belongs in front.",
            replace=("[h_n[-2], h_n[-1]]", "[h_n[-1], h_n[-2]]")),
    Fault("both-ends", "sentences-mixed",
            "The shape is right, but each row holds numbers of two different sentences: "
            "`reshape` or `view` goes through the batch before the directions. Bring the axes in order first.",
            replace=(ENDS, "h_n[-2:].reshape(h_n.shape[1], -1)")),
    Fault("both-ends", "last-timestep-of-both",
            "Your backward half is that of the last timestep, where this direction begins and has read one token. "
            "It ends at the first timestep.",
            replace=(ENDS, "output[:, -1]")),
    Fault("both-ends", "beginnings-for-ends",
            "Each half is taken where its direction begins. The forward one ends at the last timestep, the backward "
            "one at the first.",
            replace=(ENDS, "torch.cat([output[:, 0, :h_n.shape[2]], output[:, -1, h_n.shape[2]:]], dim=-1)")),
    Fault("both-ends", "first-layer",
            "Your two states are those of the first layer. Those of the last layer stand at the end of `h_n`.",
            replace=(ENDS, "torch.cat([h_n[0], h_n[1]], dim=-1)")),
    Fault("both-ends", "directions-before-layers",
            "Your forward half is not that of the last layer. The rows of `h_n` are layer 0 forward, layer 0 backward, "
            "layer 1 forward, …, not first all layers of one direction.",
            replace=(ENDS, "torch.cat([h_n[len(h_n) // 2 - 1], h_n[-1]], dim=-1)")),
]

LAST = "grad(h_ts[-1].sum()"
NORMS = "gradient.flatten(1).norm(dim=1)"

GRADIENTS = [
    Fault("gradients", "last-sequence",
            "You differentiate all states of the last sequence of the batch, `h_ts[:, -1]`. The last state is "
            "`h_ts[-1]`: time is the first axis.",
            replace=(LAST, "grad(h_ts[:, -1].sum()")),
    Fault("gradients", "squared-norms",
            "Your numbers are squares of norms. Take the square root of the sum of squares.",
            replace=(".norm(dim=1)", ".norm(dim=1) ** 2")),
    Fault("gradients", "sum-with-signs",
            "You add up the gradient with its signs, so that positive and negative parts cancel. "
            "Take the square root of the sum of squares.",
            replace=(NORMS, "gradient.flatten(1).sum(1)")),
    Fault("gradients", "sum-of-norms",
          "You take one norm for each sequence of the batch, and add them up. Take one norm over all numbers of a "
          "timestep: add up the squares first.",
          replace=(NORMS, "gradient.norm(dim=2).sum(dim=1)")),
    Fault("gradients", "time-reversed",
            "Your numbers run from the last timestep to the first. Number t belongs to timestep t.",
            replace=("norm(dim=1)", "norm(dim=1).flip(0)")),
    Fault("gradients", "gradients-pile-up",
            "`backward` adds to the gradient that is there already, in the caller's own `x`: "
            "the second measurement is twice the first. Work on a copy of `x`.",
            replace=[("x.detach().clone().requires_grad_(True)", "x.requires_grad_(True)"),
                     ("gradient, = torch.autograd.grad(h_ts[-1].sum(), x)",
                      "h_ts[-1].sum().backward()\n    gradient = x.grad")]),
    Fault("gradients", "norm-of-the-states",
            "You return the norms of the states. "
            "The question is how the last state depends on each input: a gradient is needed.",
            replace=(NORMS, "h_ts.detach().flatten(1).norm(dim=1)")),
    Fault("gradients", "all-states",
            "You differentiate the states of all timesteps. The question is how the last one alone depends on the "
            "inputs.",
            replace=(LAST, "grad(h_ts.sum()")),
    Fault("gradients", "mean-of-the-state",
            "You differentiate the mean of the last state, so your norms are B · H times too small. "
            "Differentiate its sum.",
            replace=(LAST, "grad(h_ts[-1].mean()")),
    Fault("gradients", "mean-of-norms",
            "You take one norm for each sequence of the batch, and their mean. Take one norm over all numbers of a "
            "timestep: add up the squares first.",
            replace=(NORMS, "gradient.norm(dim=2).mean(dim=1)")),
]

FAULTS = [*VOCABULARY, *ONE_HOT, *EMBED, *RNN_LOOP, *NEXT_TOKEN, *GRU_CELL, *LSTM_CELL, *LSTM_SHAPES, *BOTH_ENDS,
          *GRADIENTS]
