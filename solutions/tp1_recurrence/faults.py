"""What learners write in session 1: faults with a sentence each, and right answers that look different."""

from autograder.model.faults import Fault, Variant

VOCABULARY = [
    Fault("vocabulary", "order-of-appearance",
            "Your vocabulary numbers the tokens in the order in which they first appear. "
            "Sort the distinct tokens before you number them.",
            swap=("sorted({token for sentence in sentences for token in sentence.split()})",
                  "dict.fromkeys(token for sentence in sentences for token in sentence.split())")),
    Fault("vocabulary", "order-of-frequency",
            "Your vocabulary begins with the most frequent token. "
            "That is a good order for large texts, but here the alphabet decides.",
            swap=("sorted({token for sentence in sentences for token in sentence.split()})",
                  "[token for token, _ in __import__('collections').Counter("
                  "token for sentence in sentences for token in sentence.split()).most_common()]")),
    Fault("vocabulary", "numbered-from-zero",
            "The first token of the alphabet gets id 0, which belongs to a special token: "
            "two tokens share an id. Go on counting after the special tokens.",
            swap=("{token: i for i, token in enumerate([*specials, *tokens])}",
                  "{token: i for names in (specials, tokens) for i, token in enumerate(names)}")),
    Fault("vocabulary", "numbered-from-one",
            "Your tokens begin at 1, however many special tokens there are. "
            "Go on counting after the last special token.",
            swap=("{token: i for i, token in enumerate([*specials, *tokens])}",
                  "{token: i for i, token in enumerate(specials)} | {token: i for i, token in enumerate(tokens, 1)}")),
    Fault("vocabulary", "specials-missing",
            "The special tokens are not in your vocabulary. They need the first ids.",
            swap=("[*specials, *tokens]", "tokens")),
    Fault("vocabulary", "unk-only",
            "Of the special tokens your vocabulary has `<unk>` alone. All tokens in `specials` need an id.",
            swap=("[*specials, *tokens]", '["<unk>", *tokens]')),
    Fault("vocabulary", "specials-last",
            "The special tokens come after all other tokens in your vocabulary. They have the first ids.",
            swap=("[*specials, *tokens]", "[*tokens, *specials]")),
    Fault("vocabulary", "specials-sorted",
            "You sorted the special tokens. They keep the order in which they are given.",
            swap=("[*specials, *tokens]", "[*sorted(specials), *tokens]")),
    Fault("vocabulary", "vocabulary-of-characters",
            "Your vocabulary holds single characters: a loop over a string goes through its letters. "
            "Split each sentence into words first.",
            swap=("for sentence in sentences for token in sentence.split()",
                  "for sentence in sentences for token in sentence")),
    Fault("vocabulary", "repetitions-counted",
            "A token that occurs twice is counted twice, so numbers are left out. "
            "Remove the repetitions before you number the tokens.",
            swap=("sorted({token for sentence in sentences for token in sentence.split()})",
                  "sorted([token for sentence in sentences for token in sentence.split()])")),
    Fault("vocabulary", "first-sentence-only",
            "Your vocabulary knows the tokens of the first sentence only. "
            "Look at where your `return` or your loop ends.",
            swap=("for sentence in sentences for", "for sentence in sentences[:1] for")),
    Fault("vocabulary", "unknown-raises",
            "`encode` stops at a token that is not in the vocabulary. Such a token must get the id of `<unk>`.",
            swap=("vocabulary.get(token, unknown)", "vocabulary[token]")),
    Fault("vocabulary", "unknown-left-out",
            "`encode` leaves unknown tokens out, so the sentence becomes shorter and the others change their place. "
            "Put the id of `<unk>` there.",
            swap=("for token in tokens],", "for token in tokens if token in vocabulary],")),
    Fault("vocabulary", "unknown-minus-one",
            "An unknown token gets the id −1, which no table of embeddings has. Use the id of `<unk>`.",
            swap=('vocabulary["<unk>"]', "-1")),
    Fault("vocabulary", "unknown-zero",
            "An unknown token gets the id 0. That is the id of `<unk>` in some vocabularies; look it up in this one.",
            swap=('vocabulary["<unk>"]', "0")),
    Fault("vocabulary", "unknown-added",
            "`encode` gives each unknown token a new id and so makes the vocabulary grow. "
            "Encoding must leave the vocabulary alone; unknown tokens share the id of `<unk>`.",
            swap=("vocabulary.get(token, unknown)", "vocabulary.setdefault(token, len(vocabulary))")),
    Fault("vocabulary", "eos-missing",
            "`encode` does not end with the id of `<eos>` where the vocabulary has one.",
            swap=('tokens.append("<eos>")', "pass")),
    Fault("vocabulary", "eos-always",
            "`encode` adds an id at the end although the vocabulary has no `<eos>`.",
            swap=('if "<eos>" in vocabulary:', "if True:")),
    Fault("vocabulary", "eos-first",
            "The id of `<eos>` stands at the beginning. It marks the end of the sequence.",
            swap=('tokens.append("<eos>")', 'tokens.insert(0, "<eos>")')),
    Fault("vocabulary", "ids-as-real-numbers",
            "The ids come as real numbers. Ids are used to count and to index, so their type is `torch.long`. "
            "(`torch.Tensor` with a capital T always makes real numbers.)",
            swap=[("torch.tensor(", "torch.Tensor("), (",\n                        dtype=torch.long", "")]),
    Fault("vocabulary", "list-of-ids",
            "`encode` returns a Python list. Make a tensor of it.",
            swap=[("torch.tensor(", ""), (",\n                        dtype=torch.long)", "")]),
    Fault("vocabulary", "characters-encoded",
            "`encode` gives one id per letter: a loop over a string goes through its letters. "
            "Split the sentence into words first.",
            swap=("tokens = sentence.split()", "tokens = list(sentence)")),
    Fault("vocabulary", "from-zero-and-real-numbers",
            "Two things: the tokens must be numbered after the special tokens; "
            "and ids must be whole numbers (`torch.long`).",
            both=("numbered-from-zero", "ids-as-real-numbers")),
    Variant("vocabulary", "loops", source='''
def build_vocabulary(sentences, specials=("<unk>",)):
    vocabulary = {}
    for special in specials:
        vocabulary[special] = len(vocabulary)
    found = set()
    for sentence in sentences:
        for token in sentence.split():
            found.add(token)
    for token in sorted(found):
        vocabulary[token] = len(vocabulary)
    return vocabulary


def encode(sentence, vocabulary):
    ids = []
    for token in sentence.split(" "):
        if token in vocabulary:
            ids.append(vocabulary[token])
        else:
            ids.append(vocabulary["<unk>"])
    if "<eos>" in vocabulary:
        ids.append(vocabulary["<eos>"])
    return torch.tensor(ids)
'''),
    Variant("vocabulary", "one string of all sentences", source='''
def build_vocabulary(sentences, specials=("<unk>",)):
    names = list(specials) + sorted(set(" ".join(sentences).split()))
    return {name: names.index(name) for name in names}


def encode(sentence, vocabulary):
    if "<eos>" in vocabulary:
        sentence = sentence + " <eos>"
    tokens = [token if token in vocabulary else "<unk>" for token in sentence.split()]
    return torch.LongTensor([vocabulary[token] for token in tokens])
'''),
    Variant("vocabulary", "zip and a tensor that is filled", source='''
def tokens_of(sentences):
    found = set()
    for sentence in sentences:
        found |= set(sentence.split())
    return found


def build_vocabulary(sentences, specials=("<unk>",)):
    tokens = sorted(tokens_of(sentences))
    return dict(zip([*specials, *tokens], range(len(specials) + len(tokens))))


def encode(sentence, vocabulary):
    tokens = sentence.split() + ["<eos>"] * ("<eos>" in vocabulary)
    ids = torch.full((len(tokens),), vocabulary["<unk>"], dtype=torch.int64)
    for t, token in enumerate(tokens):
        if token in vocabulary:
            ids[t] = vocabulary[token]
    return ids
'''),
    Variant("vocabulary", "a counter, and a stack", source='''
from collections import Counter


def build_vocabulary(sentences, specials=("<unk>",)):
    counts = Counter()
    for sentence in sentences:
        counts.update(sentence.split())
    return {token: i for i, token in enumerate(list(specials) + sorted(counts))}


def encode(sentence, vocabulary):
    tokens = sentence.split()
    if "<eos>" in vocabulary:
        tokens = [*tokens, "<eos>"]
    return torch.stack([torch.tensor(vocabulary.get(token, vocabulary["<unk>"])) for token in tokens])
'''),
]

ONE_HOT = [
    Fault("one-hot", "left-as-booleans",
            "Your vectors hold True and False. A matrix product needs real numbers.",
            swap=(".float()", "")),
    Fault("one-hot", "whole-numbers",
            "Your vectors hold whole numbers. A matrix product with real weights would refuse them; make them `float`.",
            swap=(".float()", ".long()")),
    Fault("one-hot", "counted-from-one",
            "The 1 stands one place too far to the left: your places are counted from 1, but ids begin at 0.",
            swap=("torch.arange(vocabulary_size, device=ids.device)",
                  "torch.arange(1, vocabulary_size + 1, device=ids.device)")),
    Fault("one-hot", "vocabulary-axis-first",
            "The axis of the vocabulary comes first in your result. "
            "It belongs at the end; in which order do you index?",
            swap=("(ids.unsqueeze(-1) == places).float()", "(ids.unsqueeze(-1) == places).float().movedim(-1, 0)")),
    Fault("one-hot", "flattened",
            "Your result has two axes, whatever the ids have: time and batch are mixed into one. "
            "Keep the axes of `ids` and add one at the end.",
            swap=("(ids.unsqueeze(-1) == places).float()",
                  "(ids.unsqueeze(-1) == places).float().reshape(-1, vocabulary_size)")),
    Fault("one-hot", "width-from-the-ids",
            "The width of your vectors is the largest id plus one, not the size of the vocabulary. "
            "A text without the last tokens then gets shorter vectors.",
            swap=("torch.arange(vocabulary_size, device=ids.device)",
                  "torch.arange(int(ids.max()) + 1, device=ids.device)")),
    Fault("one-hot", "id-instead-of-one",
            "The place is right, but the id itself stands there. "
            "It must be 1 for every token, or large ids would weigh more.",
            swap=("(ids.unsqueeze(-1) == places).float()",
                  "(ids.unsqueeze(-1) == places).float() * ids.unsqueeze(-1)")),
    Fault("one-hot", "inverted",
            "Your vectors are 0 at the token's place and 1 everywhere else.",
            swap=("== places", "!= places")),
    Fault("one-hot", "all-places-up-to-the-id",
            "Your vectors are 1 at all places up to the id, "
            "which brings the order of the ids back. A single 1 is wanted.",
            swap=("== places", ">= places")),
    Fault("one-hot", "same-as-in-the-batch-column",
            "Only the first sentence of the batch is right: the others show its tokens. Look at which axis you index.",
            swap=("(ids.unsqueeze(-1) == places).float()",
                  "(ids.reshape(len(ids), -1)[:, :1].expand(len(ids), ids.numel() // len(ids)).reshape("
                  "ids.shape).unsqueeze(-1) == places).float()")),
    Fault("one-hot", "from-one-and-whole-numbers",
            "Two things: places are counted from 0, and the vectors must hold real numbers (`float`).",
            both=("counted-from-one", "whole-numbers")),
    Variant("one-hot", "rows of the identity matrix",
            swap=("return (ids.unsqueeze(-1) == places).float()",
                  "return torch.eye(vocabulary_size, device=ids.device)[ids]")),
    Variant("one-hot", "scatter", source='''
def one_hot(ids, vocabulary_size):
    vectors = torch.zeros(*ids.shape, vocabulary_size, device=ids.device)
    return vectors.scatter(-1, ids[..., None], 1.0)
'''),
    Variant("one-hot", "loop over all ids", source='''
def one_hot(ids, vocabulary_size):
    rows = []
    for i in ids.flatten().tolist():
        row = [0.0] * vocabulary_size
        row[i] = 1.0
        rows.append(row)
    return torch.tensor(rows).view(*ids.shape, vocabulary_size)
'''),
    Variant("one-hot", "one question per token", source='''
def one_hot(ids, vocabulary_size):
    return torch.stack([torch.where(ids == i, 1.0, 0.0) for i in range(vocabulary_size)], dim=-1)
'''),
    Variant("one-hot", "fill by index", source='''
def one_hot(ids, vocabulary_size):
    vectors = torch.zeros(ids.numel(), vocabulary_size, device=ids.device)
    vectors[torch.arange(ids.numel()), ids.flatten()] = 1
    return vectors.reshape(ids.shape + (vocabulary_size,))
'''),
]

EMBED = [
    Fault("embed", "look-up-in-the-product",
            "`embed_by_product` looks for the place of the largest number and takes that row. "
            "That is right for one-hot vectors only: a mixture of two tokens must give the mixture of both rows.",
            swap=("one_hots @ table", "table[one_hots.argmax(-1)]")),
    Fault("embed", "table-transposed",
            "The product multiplies with the transposed table. "
            "The axis of size V, the last one of the vectors, must meet the first one of the table.",
            swap=("one_hots @ table", "one_hots @ table.T")),
    Fault("embed", "product-element-by-element",
            "`*` multiplies number by number. A matrix product is wanted.",
            swap=("one_hots @ table", "one_hots * table")),
    Fault("embed", "average-over-the-vocabulary",
            "Your product is divided by the size of the vocabulary: an average is taken where a sum is meant.",
            swap=("one_hots @ table", "(one_hots.unsqueeze(-1) * table).mean(-2)")),
    Fault("embed", "product-for-the-look-up",
            "`embed` multiplies, or adds up all rows. A look-up reads the rows that the ids name and no other: "
            "an infinite number in a row that nobody asked for must not spoil the answer.",
            swap=("return table[ids]", "return torch.eye(len(table), device=table.device)[ids] @ table")),
    Fault("embed", "columns-looked-up",
            "`embed` picks columns of the table. A token owns a row; ids index the first axis.",
            swap=("return table[ids]", "return table[:, ids]")),
    Fault("embed", "previous-row",
            "Every token gets the row before its own. Ids begin at 0, as rows do.",
            swap=("return table[ids]", "return table[ids - 1]")),
    Fault("embed", "negative-accepted",
            "A negative id gets a row from the end of the table in silence, as in a Python list. Refuse it.",
            swap=("ids.min() < 0 or ", "")),
    Fault("embed", "nothing-refused",
            "An id that has no row goes through in silence (squeezed into the range, or wrapped around), "
            "and gets the row of another token. Raise an IndexError.",
            source='''
def embed_by_product(one_hots, table):
    return one_hots @ table


def embed(ids, table):
    return table[ids.clamp(0, len(table) - 1)]
'''),
    Fault("embed", "last-row-refused",
            "Your limit is too narrow: id V − 1 is the last row and is fine. V is the first that has none.",
            swap=("ids.max() >= len(table)", "ids.max() >= len(table) - 1")),
    Fault("embed", "another-exception",
            "A wrong id is refused, but with another kind of exception. Raise an IndexError, as torch does: "
            "a caller may want to catch it.",
            swap=("raise IndexError", "raise ValueError")),
    Fault("embed", "nothing-said",
            "A wrong id is refused, but the IndexError is empty. "
            "Give it a message that says what is wrong.",
            swap=('raise IndexError(f"an id is outside of 0 … {len(table) - 1}")', "raise IndexError")),
    Fault("embed", "detached",
            "The rows are right, but they are cut off from the table (`.detach()` or `.data`): "
            "no gradient reaches it, and it never learns.",
            swap=("return table[ids]", "return table[ids].detach()")),
    Fault("embed", "negative-and-detached",
            "Two things: negative ids must be refused, and the rows must stay connected with the "
            "table, or it never learns.",
            both=("negative-accepted", "detached")),
    Variant("embed", "matmul and index_select", source='''
def embed_by_product(one_hots, table):
    return torch.matmul(one_hots, table)


def embed(ids, table):
    if bool((ids < 0).any()) or bool((ids >= table.shape[0]).any()):
        raise IndexError("no such row")
    return table.index_select(0, ids.flatten()).view(*ids.shape, table.shape[1])
'''),
    Variant("embed", "einsum, and torch complains of large ids", source='''
def embed_by_product(one_hots, table):
    return torch.einsum("tbv,vd->tbd", one_hots, table)


def embed(ids, table):
    if (ids < 0).any():
        raise IndexError("negative id")
    return table[ids]
'''),
    Variant("embed", "a weighted sum, and a stack of rows", source='''
def embed_by_product(one_hots, table):
    return (one_hots.unsqueeze(-1) * table).sum(dim=-2)


def embed(ids, table):
    rows = []
    for i in ids.flatten().tolist():
        if not 0 <= i < table.size(0):
            raise IndexError(f"id {i}")
        rows.append(table[i])
    return torch.stack(rows).reshape(ids.shape[0], ids.shape[1], -1)
'''),
    Variant("embed", "gather", source='''
def embed_by_product(one_hots, table):
    T, B, V = one_hots.shape
    return (one_hots.reshape(T * B, V) @ table).reshape(T, B, table.shape[-1])


def embed(ids, table):
    V, D = table.shape
    for i in ids.reshape(-1):
        if i < 0 or i >= V:
            raise IndexError("id out of range")
    index = ids.reshape(-1, 1).expand(-1, D)
    return torch.gather(table, 0, index).reshape(*ids.shape, D)
'''),
]

RNN_LOOP = [
    Fault("rnn-loop", "state-not-carried",
            "Every timestep starts from `h_0`: what was read before is lost. "
            "The state that one round computes must enter the next round.",
            swap=("h @ W_hh.T", "h_0 @ W_hh.T")),
    Fault("rnn-loop", "initial-state-ignored",
            "Your loop starts from zeros, although it is given `h_0`.",
            swap=("h, h_ts = h_0, []", "h, h_ts = torch.zeros_like(h_0), []")),
    Fault("rnn-loop", "no-tanh",
            "The tanh is missing. Without it the state can grow without limit, "
            "and the whole loop is one linear function.",
            swap=("torch.tanh(x_t @ W_ih.T + b_ih + h @ W_hh.T + b_hh)", "x_t @ W_ih.T + b_ih + h @ W_hh.T + b_hh")),
    Fault("rnn-loop", "sigmoid",
            "You use a sigmoid, so all states lie between 0 and 1. The equation says tanh.",
            swap=("torch.tanh", "torch.sigmoid")),
    Fault("rnn-loop", "relu",
            "You use a ReLU, so no state is negative. The equation says tanh.",
            swap=("torch.tanh", "torch.relu")),
    Fault("rnn-loop", "tanh-of-the-input-only",
            "The tanh is taken of the input's part alone, and the old state is added outside. "
            "It is taken of the whole sum.",
            swap=("torch.tanh(x_t @ W_ih.T + b_ih + h @ W_hh.T + b_hh)",
                  "torch.tanh(x_t @ W_ih.T + b_ih) + h @ W_hh.T + b_hh")),
    Fault("rnn-loop", "hidden-bias-forgotten",
            "One of the two biases is missing: `b_hh`.",
            swap=(" + b_hh)", ")")),
    Fault("rnn-loop", "input-bias-forgotten",
            "One of the two biases is missing: `b_ih`.",
            swap=(" + b_ih", "")),
    Fault("rnn-loop", "hidden-weight-not-transposed",
            "`W_hh` is square, so the product works without a transpose, and gives other numbers. "
            "Row i of the weight makes number i of the state: multiply with the transposed matrix, as for `W_ih`.",
            swap=("h @ W_hh.T", "h @ W_hh")),
    Fault("rnn-loop", "input-weight-not-transposed",
            "`x_t` is (B, D) and `W_ih` is (H, D). "
            "For a product the two inner sizes must be equal: transpose the weight.",
            swap=("x_t @ W_ih.T", "x_t @ W_ih")),
    Fault("rnn-loop", "states-before-the-update",
            "`h_ts` holds the state *before* each timestep: it begins with `h_0` and lacks the last one. "
            "Keep the state after the update.",
            swap=[("        h = torch.tanh", "        h_ts.append(h)\n        h = torch.tanh"),
                  ("b_hh)\n        h_ts.append(h)", "b_hh)")]),
    Fault("rnn-loop", "loop-over-the-batch",
            "Your loop walks along the second axis, which is the batch. Time is the first axis here.",
            swap=("for x_t in x:", "for x_t in x.transpose(0, 1):")),
    Fault("rnn-loop", "stacked-behind-the-batch",
            "Your states are stacked along the second axis: (B, T, H). Time comes first here.",
            swap=("torch.stack(h_ts), h", "torch.stack(h_ts, dim=1), h")),
    Fault("rnn-loop", "concatenated",
            "`torch.cat` puts the states one below the other along an axis that is there already: (T·B, H). "
            "A new axis for time is wanted.",
            swap=("torch.stack(h_ts), h", "torch.cat(h_ts), h")),
    Fault("rnn-loop", "written-in-place",
            "You write each new state into the old tensor. Then all items of your list are that one tensor, "
            "and show the last state; the caller's `h_0` is overwritten as well. Make a new tensor in each round.",
            swap=("h = torch.tanh(", "h[:] = torch.tanh(")),
    Fault("rnn-loop", "detached-state",
            "The values are right, but the state is cut off from its past (`.detach()`, `.data` or `.item()`): "
            "no gradient travels back through time, and the loop cannot learn to remember.",
            swap=("h @ W_hh.T", "h.detach() @ W_hh.T")),
    Fault("rnn-loop", "first-state-as-final",
            "`h_final` is the state after the first timestep. It is the one after the last.",
            swap=("torch.stack(h_ts), h", "torch.stack(h_ts), h_ts[0]")),
    Fault("rnn-loop", "final-with-time-axis",
            "`h_final` has an axis of size 1 in front. Here it is (B, H); `[-1]` takes one item, "
            "`[-1:]` a piece of length one.",
            swap=("torch.stack(h_ts), h", "torch.stack(h_ts), torch.stack(h_ts)[-1:]")),
    Fault("rnn-loop", "results-swapped",
            "The two results come in the wrong order: all states first, the final one second.",
            swap=("torch.stack(h_ts), h", "h, torch.stack(h_ts)")),
    Fault("rnn-loop", "last-timestep-left-out",
            "Your loop stops one timestep too early.",
            swap=("for x_t in x:", "for x_t in (x[:-1] if len(x) > 1 else x):")),
    Fault("rnn-loop", "read-backwards",
            "Your loop reads the sequence from its end.",
            swap=("for x_t in x:", "for x_t in x.flip(0):")),
    Fault("rnn-loop", "no-transpose-and-no-hidden-bias",
            "Two things: `W_hh` must be transposed (it is square, so no error tells you), and its bias is missing.",
            both=("hidden-weight-not-transposed", "hidden-bias-forgotten")),
    Fault("rnn-loop", "no-tanh-and-state-not-carried",
            "Two things: the tanh is missing, and every timestep starts from `h_0` instead of the state before it.",
            source='''
def rnn_loop(x, h_0, W_ih, W_hh, b_ih, b_hh):
    h_ts = torch.stack([x_t @ W_ih.T + b_ih + h_0 @ W_hh.T + b_hh for x_t in x])
    return h_ts, h_ts[-1]
'''),
    Fault("rnn-loop", "torch-does-it",
            "The values are right because torch's own RNN computed them. Here the loop is yours.",
            source='''
def rnn_loop(x, h_0, W_ih, W_hh, b_ih, b_hh):
    rnn = nn.RNN(x.shape[-1], h_0.shape[-1])
    for name, value in zip(("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"), (W_ih, W_hh, b_ih, b_hh)):
        getattr(rnn, name).data = value
    h_ts, h_final = rnn(x, h_0.unsqueeze(0))
    return h_ts, h_final[0]
'''),
    Variant("rnn-loop", "index and a tensor to fill", source='''
def rnn_loop(x, h_0, W_ih, W_hh, b_ih, b_hh):
    T, B, D = x.shape
    states = x.new_zeros(T, B, h_0.shape[1])
    for t in range(T):
        before = h_0 if t == 0 else states[t - 1].clone()
        states[t] = torch.tanh(torch.matmul(x[t], W_ih.t()) + b_ih + torch.matmul(before, W_hh.t()) + b_hh)
    return states, states[-1]
'''),
    Variant("rnn-loop", "all inputs at once before the loop", source='''
def rnn_loop(x, h_0, W_ih, W_hh, b_ih, b_hh):
    inputs = nn.functional.linear(x, W_ih, b_ih + b_hh)
    h_ts = [h_0]
    for t in range(len(x)):
        h_ts.append((inputs[t] + h_ts[-1] @ W_hh.T).tanh())
    return torch.stack(h_ts[1:]), h_ts[-1]
'''),
    Variant("rnn-loop", "one matrix for input and state", source='''
def rnn_loop(x, h_0, W_ih, W_hh, b_ih, b_hh):
    W, h, out = torch.cat([W_ih, W_hh], dim=1), h_0, []
    for x_t in x.unbind(0):
        h = torch.tanh(torch.cat([x_t, h], dim=1) @ W.T + (b_ih + b_hh))
        out.append(h[None])
    return torch.cat(out, dim=0), h
'''),
    Variant("rnn-loop", "einsum", source='''
def rnn_loop(x, h_0, W_ih, W_hh, b_ih, b_hh):
    def step(x_t, h):
        return torch.tanh(torch.einsum("bd,hd->bh", x_t, W_ih) + torch.einsum("bg,hg->bh", h, W_hh) + b_ih + b_hh)

    h_ts, h = [], h_0
    for t in range(x.shape[0]):
        h = step(x[t], h)
        h_ts += [h]
    return torch.stack(h_ts, 0), h
'''),
    Variant("rnn-loop", "recursion", source='''
def rnn_loop(x, h_0, W_ih, W_hh, b_ih, b_hh):
    if len(x) == 0:
        return h_0.new_zeros(0, *h_0.shape), h_0
    h = torch.tanh(x[0] @ W_ih.T + b_ih + h_0 @ W_hh.T + b_hh)
    rest, final = rnn_loop(x[1:], h, W_ih, W_hh, b_ih, b_hh)
    return torch.cat([h.unsqueeze(0), rest]), final
'''),
    Variant("rnn-loop", "sentence by sentence", source='''
def rnn_loop(x, h_0, W_ih, W_hh, b_ih, b_hh):
    sentences = []
    for b in range(x.shape[1]):
        h, states = h_0[b], []
        for t in range(x.shape[0]):
            h = torch.tanh(W_ih @ x[t, b] + b_ih + W_hh @ h + b_hh)
            states.append(h)
        sentences.append(torch.stack(states))
    h_ts = torch.stack(sentences, dim=1)
    return h_ts, h_ts[-1]
'''),
]

NEXT_TOKEN = [
    Fault("next-token", "softmax",
            "Your logits are probabilities. The loss applies softmax itself, so return the raw scores of the readout.",
            swap=("return self.readout(h_ts), state", "return self.readout(h_ts).softmax(-1), state")),
    Fault("next-token", "log-softmax",
            "Your logits are log-probabilities. The loss takes the log of the softmax itself, "
            "so return the raw scores of the readout.",
            swap=("return self.readout(h_ts), state", "return self.readout(h_ts).log_softmax(-1), state")),
    Fault("next-token", "state-ignored",
            "Your reader starts from zeros even when it is given a state. Hand it to the recurrence.",
            swap=("self.recurrence(self.embedding(ids), state)", "self.recurrence(self.embedding(ids))")),
    Fault("next-token", "old-state-returned",
            "You return the state that came in, not the one that the recurrence returned. "
            "Reading on would then start from the old state.",
            swap=("h_ts, state = self.recurrence", "h_ts, _ = self.recurrence")),
    Fault("next-token", "all-states-returned",
            "Your second result is the state at every timestep. "
            "Return what the recurrence returns as its second result.",
            swap=("return self.readout(h_ts), state", "return self.readout(h_ts), h_ts")),
    Fault("next-token", "state-not-returned",
            "You return the logits alone. The new state is the second result.",
            swap=("return self.readout(h_ts), state", "return self.readout(h_ts)")),
    Fault("next-token", "last-timestep-only",
            "You predict from the last state only. A score for every token is wanted at every timestep.",
            swap=("self.readout(h_ts), state", "self.readout(h_ts[-1]), state")),
    Fault("next-token", "readout-of-the-final-state",
            "The readout gets the second result of the recurrence. "
            "It is the last state; the states of all timesteps are the first result.",
            swap=("return self.readout(h_ts), state",
                  "return self.readout(state[0] if isinstance(state, tuple) else state), state")),
    Fault("next-token", "batch-first-logits",
            "The logits come as (B, T, V). Time stays in front here; no transpose is needed.",
            swap=("return self.readout(h_ts), state", "return self.readout(h_ts).transpose(0, 1), state")),
    Fault("next-token", "batch-first-ids",
            "You swap time and batch before reading, so the recurrence walks from sentence to sentence. "
            "`ids` is (T, B), and that is what it expects.",
            swap=("self.embedding(ids)", "self.embedding(ids.T)")),
    Fault("next-token", "relu-on-the-states",
            "You put a ReLU between the states and the readout: every negative number of a state is lost. "
            "The readout takes the states as they are.",
            swap=("self.readout(h_ts), state", "self.readout(h_ts.relu()), state")),
    Fault("next-token", "zeros-made-for-one-kind",
            "You make a state of zeros yourself, in a form that an LSTM cannot use: its state is a pair. "
            "Hand `None` on; torch then makes the zeros that fit.",
            swap=("        h_ts, state = self.recurrence",
                  "        if state is None:\n"
                  "            state = torch.zeros(1, ids.shape[1], self.recurrence.hidden_size)\n"
                  "        h_ts, state = self.recurrence")),
    Fault("next-token", "ids-as-real-numbers",
            "You turn the ids into real numbers. An embedding is a look-up and needs whole numbers.",
            swap=("self.embedding(ids)", "self.embedding(ids.float())")),
    Fault("next-token", "embedding-detached",
            "The values are right, but the embeddings are cut off (`.detach()`, `.data` or `no_grad`): "
            "the table never learns.",
            swap=("self.embedding(ids)", "self.embedding(ids).detach()")),
    Fault("next-token", "states-detached",
            "The values are right, but the states are cut off before the readout: "
            "neither the recurrence nor the embedding ever learns.",
            swap=("self.readout(h_ts), state", "self.readout(h_ts.detach()), state")),
    Fault("next-token", "softmax-and-state-ignored",
            "Two things: a state that is given must be handed to the recurrence, "
            "and the logits must be raw scores, without softmax.",
            both=("softmax", "state-ignored")),
    Variant("next-token", "one layer after the other", source='''
class NextToken(nn.Module):
    def __init__(self, vocabulary_size, embedding_size, hidden_size, recurrence=nn.GRU):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)
        self.recurrence = recurrence(embedding_size, hidden_size)
        self.readout = nn.Linear(hidden_size, vocabulary_size)

    def forward(self, ids, state=None):
        embedded = self.embedding(ids)
        if state is None:
            h_ts, new_state = self.recurrence(embedded)
        else:
            h_ts, new_state = self.recurrence(embedded, state)
        logits = self.readout(h_ts)
        return logits, new_state
'''),
    Variant("next-token", "one timestep after the other",
            swap=('''        h_ts, state = self.recurrence(self.embedding(ids), state)
        return self.readout(h_ts), state''',
                  '''        logits = []
        for t in range(len(ids)):
            h_t, state = self.recurrence(self.embedding(ids[t:t + 1]), state)
            logits.append(self.readout(h_t))
        return torch.cat(logits), state''')),
    Variant("next-token", "readout by hand",
            swap=("self.readout(h_ts), state", "h_ts @ self.readout.weight.T + self.readout.bias, state")),
    Variant("next-token", "flattened and back", swap=("return self.readout(h_ts), state", '''T, B, H = h_ts.shape
        return self.readout(h_ts.reshape(T * B, H)).reshape(T, B, -1), state''')),
    Variant("next-token", "row look-up and a list",
            swap=[("self.embedding(ids)", "self.embedding.weight[ids]"),
                  ("self.readout(h_ts), state", "[torch.stack([self.readout(h) for h in h_ts]), state]")]),
]

GRU_CELL = [
    Fault("gru-cell", "gate-roles-swapped",
            "Your update gate works the other way round: z belongs to the old state and 1 − z to the candidate. "
            "(Some papers swap them; torch does not.)",
            swap=("(1 - z) * n + z * h", "z * n + (1 - z) * h")),
    Fault("gru-cell", "parts-in-the-order-z-r-n",
            "You cut the weights in the order z, r, n. Torch stacks them in the order r, z, n.",
            swap=[("x_r, x_z, x_n =", "x_z, x_r, x_n ="), ("h_r, h_z, h_n =", "h_z, h_r, h_n =")]),
    Fault("gru-cell", "parts-in-the-order-n-r-z",
            "You cut the weights in an order that begins with the candidate. Torch stacks them in the order r, z, n.",
            swap=[("x_r, x_z, x_n =", "x_n, x_r, x_z ="), ("h_r, h_z, h_n =", "h_n, h_r, h_z =")]),
    Fault("gru-cell", "reset-before-the-product",
            "You multiply the state by r before the matrix product, as the papers do. "
            "In torch's equations r multiplies the result, bias included.",
            swap=("r * h_n)", "(r * h) @ W_hh.chunk(3)[2].T + b_hh.chunk(3)[2])")),
    Fault("gru-cell", "bias-outside-the-reset",
            "r multiplies the product but not its bias b_hn. In torch's equations the bias stands inside the bracket.",
            swap=("r * h_n)", "r * (h_n - b_hh.chunk(3)[2]) + b_hh.chunk(3)[2])")),
    Fault("gru-cell", "no-reset-gate",
            "Your candidate does not use the reset gate.",
            swap=("x_n + r * h_n", "x_n + h_n")),
    Fault("gru-cell", "reset-on-the-whole-candidate",
            "r multiplies the input's part of the candidate too. It belongs to the state's part only.",
            swap=("x_n + r * h_n", "r * (x_n + h_n)")),
    Fault("gru-cell", "reset-on-the-input",
            "r multiplies the input's part of the candidate. It belongs to the state's part.",
            swap=("x_n + r * h_n", "r * x_n + h_n")),
    Fault("gru-cell", "candidate-by-sigmoid",
            "Your candidate goes through a sigmoid. Only gates do; the candidate goes through tanh.",
            swap=("n = torch.tanh(", "n = torch.sigmoid(")),
    Fault("gru-cell", "gates-by-tanh",
            "Your gates go through tanh and can be negative. A gate is a number between 0 and 1: use the sigmoid.",
            swap=[("r = torch.sigmoid(", "r = torch.tanh("), ("z = torch.sigmoid(", "z = torch.tanh(")]),
    Fault("gru-cell", "old-state-left-out",
            "The old state is missing from the last line, so nothing is ever copied.",
            swap=("(1 - z) * n + z * h", "(1 - z) * n")),
    Fault("gru-cell", "candidate-not-weighted",
            "The candidate is added with full weight. It has the weight 1 − z, so that the two weights sum to 1.",
            swap=("(1 - z) * n + z * h", "n + z * h")),
    Fault("gru-cell", "mixed-with-the-projected-state",
            "The last line mixes the candidate with a product of the old state. "
            "It is the old state itself that is copied.",
            swap=("(1 - z) * n + z * h", "(1 - z) * n + z * h_z")),
    Fault("gru-cell", "hidden-bias-forgotten",
            "One of the two biases is missing: `b_hh`.",
            swap=(" + b_hh)", ")")),
    Fault("gru-cell", "input-bias-forgotten",
            "One of the two biases is missing: `b_ih`.",
            swap=(" + b_ih)", ")")),
    Fault("gru-cell", "reshape-instead-of-transpose",
            "You bring `W_hh` into a shape that fits with `reshape` or `view`. "
            "That cuts its rows and mixes them; a transpose is meant.",
            swap=("h @ W_hh.T", "h @ W_hh.reshape(h.shape[-1], -1)")),
    Fault("gru-cell", "detached-state",
            "The values are right, but the old state is cut off: no gradient travels back through time.",
            swap=("(1 - z) * n + z * h", "(1 - z) * n + z * h.detach()")),
    Fault("gru-cell", "order-and-roles",
            "Two things: torch stacks the parts in the order r, z, n; and z belongs to the old state, "
            "1 − z to the candidate.",
            both=("parts-in-the-order-z-r-n", "gate-roles-swapped")),
    Fault("gru-cell", "roles-and-reset-of-the-paper",
            "This is the GRU of Bahdanau et al. In torch's, z belongs to the old state, "
            "and r multiplies after the matrix product.",
            both=("gate-roles-swapped", "reset-before-the-product")),
    Fault("gru-cell", "torch-does-it",
            "The values are right because torch's own GRU computed them. Here the equations are yours.",
            source='''
def gru_cell(x_t, h, W_ih, W_hh, b_ih, b_hh):
    cell = nn.GRUCell(x_t.shape[-1], h.shape[-1])
    cell.weight_ih.data, cell.weight_hh.data, cell.bias_ih.data, cell.bias_hh.data = W_ih, W_hh, b_ih, b_hh
    return cell(x_t, h)
'''),
    Variant("gru-cell", "six small products", source='''
def gru_cell(x_t, h, W_ih, W_hh, b_ih, b_hh):
    H = h.shape[1]
    parts = [slice(0, H), slice(H, 2 * H), slice(2 * H, 3 * H)]
    from_x = [x_t @ W_ih[part].T + b_ih[part] for part in parts]
    from_h = [h @ W_hh[part].T + b_hh[part] for part in parts]
    r = 1 / (1 + torch.exp(-(from_x[0] + from_h[0])))
    z = 1 / (1 + torch.exp(-(from_x[1] + from_h[1])))
    n = torch.tanh(from_x[2] + r * from_h[2])
    return n + z * (h - n)
'''),
    Variant("gru-cell", "linear and split", source='''
def gru_cell(x_t, h, W_ih, W_hh, b_ih, b_hh):
    F = nn.functional
    size = h.size(-1)
    i_r, i_z, i_n = F.linear(x_t, W_ih, b_ih).split(size, dim=1)
    h_r, h_z, h_n = F.linear(h, W_hh, b_hh).split(size, dim=1)
    reset, update = (i_r + h_r).sigmoid(), (i_z + h_z).sigmoid()
    return torch.lerp(torch.tanh(i_n + reset * h_n), h, update)
'''),
    Variant("gru-cell", "einsum on unfolded weights", source='''
def gru_cell(x_t, h, W_ih, W_hh, b_ih, b_hh):
    H, D = h.shape[-1], x_t.shape[-1]
    a = torch.einsum("bd,khd->kbh", x_t, W_ih.view(3, H, D)) + b_ih.view(3, 1, H)
    b = torch.einsum("bg,khg->kbh", h, W_hh.view(3, H, H)) + b_hh.view(3, 1, H)
    r, z = torch.sigmoid(a[:2] + b[:2])
    n = torch.tanh(a[2] + r * b[2])
    return (1 - z) * n + z * h
'''),
    Variant("gru-cell", "sentence by sentence", source='''
def gru_cell(x_t, h, W_ih, W_hh, b_ih, b_hh):
    new = []
    for x, old in zip(x_t, h):
        x_r, x_z, x_n = torch.chunk(W_ih @ x + b_ih, 3)
        h_r, h_z, h_n = torch.chunk(W_hh @ old + b_hh, 3)
        r, z = torch.sigmoid(x_r + h_r), torch.sigmoid(x_z + h_z)
        n = torch.tanh(x_n + torch.mul(r, h_n))
        new.append(z * old + n - z * n)
    return torch.stack(new)
'''),
    Variant("gru-cell", "both gates in one", source='''
def gru_cell(x_t, h, W_ih, W_hh, b_ih, b_hh):
    H = h.shape[-1]
    from_x, from_h = torch.addmm(b_ih, x_t, W_ih.t()), torch.addmm(b_hh, h, W_hh.t())
    gates = torch.sigmoid(from_x[:, :2 * H] + from_h[:, :2 * H])
    r, z = gates[:, :H], gates[:, H:]
    n = torch.tanh(from_x[:, 2 * H:] + r * from_h[:, 2 * H:])
    return (1 - z).mul(n).add(z.mul(h))
'''),
]

LSTM_CELL = [
    Fault("lstm-cell", "parts-in-the-order-i-f-o-g",
            "You cut the weights in the order i, f, o, g. Torch stacks them in the order i, f, g, o.",
            swap=("i, f, g, o =", "i, f, o, g =")),
    Fault("lstm-cell", "parts-in-the-order-f-i-g-o",
            "You cut the weights in the order f, i, g, o, as many texts list them. "
            "Torch stacks them in the order i, f, g, o.",
            swap=("i, f, g, o =", "f, i, g, o =")),
    Fault("lstm-cell", "parts-interleaved",
            "Your reshape gives every fourth number to the same part. The parts are blocks: "
            "the first H numbers are i, the next H are f, and so on.",
            swap=(".chunk(4, dim=-1)", ".unflatten(-1, (-1, 4)).unbind(-1)")),
    Fault("lstm-cell", "cell-state-shown-without-tanh",
            "h is o ⊙ c in your cell. The cell state goes through tanh before the output gate.",
            swap=("torch.tanh(c)", "c")),
    Fault("lstm-cell", "hidden-from-the-old-cell-state",
            "h is computed from the old cell state. Update c first, then show it.",
            swap=[("    c = torch.sigmoid(f) * c", "    new_c = torch.sigmoid(f) * c"),
                  ("return h, c", "return h, new_c")]),
    Fault("lstm-cell", "candidate-by-sigmoid",
            "Your candidate goes through a sigmoid, so it can only add positive numbers to the cell state. "
            "The three gates do; the candidate goes through tanh.",
            swap=("torch.tanh(g)", "torch.sigmoid(g)")),
    Fault("lstm-cell", "candidate-bare",
            "Your candidate goes through no function. It needs tanh.",
            swap=("torch.tanh(g)", "g")),
    Fault("lstm-cell", "cell-state-lost",
            "The old cell state does not enter the new one: nothing is remembered. "
            "It is kept as far as the forget gate allows.",
            swap=("torch.sigmoid(f) * c + ", "")),
    Fault("lstm-cell", "hidden-in-place-of-cell-state",
            "The forget gate multiplies h. It is the cell state c that is kept.",
            swap=("torch.sigmoid(f) * c", "torch.sigmoid(f) * h")),
    Fault("lstm-cell", "no-forget-gate",
            "The old cell state is kept whole: the forget gate is missing.",
            swap=("torch.sigmoid(f) * c", "c")),
    Fault("lstm-cell", "no-input-gate",
            "The candidate is added whole: the input gate is missing.",
            swap=("torch.sigmoid(i) * ", "")),
    Fault("lstm-cell", "forget-gate-inverted",
            "Your forget gate works the other way round. Mind the name: where f is 1, everything is kept.",
            swap=("torch.sigmoid(f) * c", "(1 - torch.sigmoid(f)) * c")),
    Fault("lstm-cell", "input-gate-from-forget-gate",
            "You use 1 − f as the input gate. Some variants of the LSTM do; torch's has an input gate of its own.",
            swap=("torch.sigmoid(i)", "(1 - torch.sigmoid(f))")),
    Fault("lstm-cell", "no-output-gate",
            "h shows the whole memory: the output gate is missing.",
            swap=("torch.sigmoid(o) * ", "")),
    Fault("lstm-cell", "gates-without-sigmoid",
            "Your gates are raw sums. A gate is a number between 0 and 1: put each of them through the sigmoid.",
            swap=[("torch.sigmoid(f)", "f"), ("torch.sigmoid(i)", "i"), ("torch.sigmoid(o)", "o")]),
    Fault("lstm-cell", "results-swapped",
            "The pair comes back as (c, h). The hidden state comes first, as in torch.",
            swap=("return h, c", "return c, h")),
    Fault("lstm-cell", "hidden-returned-twice",
            "Both results are the hidden state. The second is the cell state, or the memory is lost.",
            swap=("return h, c", "return h, h")),
    Fault("lstm-cell", "cell-state-not-returned",
            "Only the hidden state comes back. The cell state is part of the state: return the pair.",
            swap=("return h, c", "return h")),
    Fault("lstm-cell", "product-with-the-cell-state",
            "The gates are computed from the cell state. "
            "In torch's equations only the input and the hidden state meet a matrix.",
            swap=("h @ W_hh.T", "c @ W_hh.T")),
    Fault("lstm-cell", "hidden-bias-forgotten",
            "One of the two biases is missing: `b_hh`.",
            swap=(" + b_hh)", ")")),
    Fault("lstm-cell", "reshape-instead-of-transpose",
            "You bring `W_hh` into a shape that fits with `reshape` or `view`. "
            "That cuts its rows and mixes them; a transpose is meant.",
            swap=("h @ W_hh.T", "h @ W_hh.reshape(h.shape[-1], -1)")),
    Fault("lstm-cell", "detached-cell-state",
            "The values are right, but the old cell state is cut off: "
            "no gradient travels back along the memory, which is what an LSTM is for.",
            swap=("torch.sigmoid(f) * c", "torch.sigmoid(f) * c.detach()")),
    Fault("lstm-cell", "order-and-no-tanh",
            "Two things: torch stacks the parts in the order i, f, g, o; "
            "and the cell state goes through tanh before it is shown.",
            both=("parts-in-the-order-i-f-o-g", "cell-state-shown-without-tanh")),
    Fault("lstm-cell", "torch-does-it",
            "The values are right because torch's own LSTM computed them. Here the equations are yours.",
            source='''
def lstm_cell(x_t, state, W_ih, W_hh, b_ih, b_hh):
    cell = nn.LSTMCell(x_t.shape[-1], state[0].shape[-1])
    cell.weight_ih.data, cell.weight_hh.data, cell.bias_ih.data, cell.bias_hh.data = W_ih, W_hh, b_ih, b_hh
    return cell(x_t, state)
'''),
    Variant("lstm-cell", "eight small products", source='''
def lstm_cell(x_t, state, W_ih, W_hh, b_ih, b_hh):
    h, c = state
    H = h.shape[1]

    def part(k):
        rows = slice(k * H, (k + 1) * H)
        return x_t @ W_ih[rows].T + b_ih[rows] + h @ W_hh[rows].T + b_hh[rows]

    new_c = c * part(1).sigmoid() + part(0).sigmoid() * part(2).tanh()
    return new_c.tanh() * part(3).sigmoid(), new_c
'''),
    Variant("lstm-cell", "one matrix for input and state", source='''
def lstm_cell(x_t, state, W_ih, W_hh, b_ih, b_hh):
    h_old, c_old = state
    both = torch.cat([x_t, h_old], dim=-1)
    sums = nn.functional.linear(both, torch.cat([W_ih, W_hh], dim=-1), b_ih + b_hh)
    i, f, g, o = torch.split(sums, h_old.size(-1), dim=-1)
    i, f, g, o = torch.sigmoid(i), torch.sigmoid(f), torch.tanh(g), torch.sigmoid(o)
    c_new = torch.addcmul(f * c_old, i, g)
    h_new = o * torch.tanh(c_new)
    return [h_new, c_new]
'''),
    Variant("lstm-cell", "einsum on unfolded weights", source='''
def lstm_cell(x_t, state, W_ih, W_hh, b_ih, b_hh):
    H = state[0].shape[-1]
    sums = (torch.einsum("bd,khd->kbh", x_t, W_ih.reshape(4, H, -1)) \
+ torch.einsum("bg,khg->kbh", state[0], W_hh.reshape(4, H, H))
            + (b_ih + b_hh).reshape(4, 1, H))
    i, f, o = sums[[0, 1, 3]].sigmoid()
    c = f * state[1] + i * sums[2].tanh()
    return (o * c.tanh(), c)
'''),
    Variant("lstm-cell", "tanh in place of the sigmoid, scaled", source='''
def sigma(a):
    return 0.5 * (1 + torch.tanh(a / 2))


def lstm_cell(x_t, state, W_ih, W_hh, b_ih, b_hh):
    h, c = state
    a = torch.matmul(W_ih, x_t.T).T + torch.matmul(W_hh, h.T).T + b_ih + b_hh
    H = a.shape[1] // 4
    c = sigma(a[:, H:2 * H]) * c + sigma(a[:, :H]) * torch.tanh(a[:, 2 * H:3 * H])
    return sigma(a[:, 3 * H:]) * torch.tanh(c), c
'''),
    Variant("lstm-cell", "sentence by sentence", source='''
def lstm_cell(x_t, state, W_ih, W_hh, b_ih, b_hh):
    hs, cs = [], []
    for x, h, c in zip(x_t, *state):
        i, f, g, o = (W_ih @ x + W_hh @ h + b_ih + b_hh).view(4, -1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        hs.append(torch.sigmoid(o) * torch.tanh(c))
        cs.append(c)
    return torch.stack(hs), torch.stack(cs)
'''),
]

LSTM_SHAPES = [
    Fault("lstm-shapes", "states-batch-first",
            "With `batch_first` you put the batch in front in the states too. "
            "It changes `output` only; the states always begin with layers × directions.",
            swap=("    last_states = (num_layers * directions, batch_size, hidden_size)",
                  "    last_states = (batch_size, num_layers * directions, hidden_size) if batch_first "
                  "else (num_layers * directions, batch_size, hidden_size)")),
    Fault("lstm-shapes", "layers-plus-directions",
            "You add layers and directions. With two of each the sum is 4 by chance; count the chains of states: "
            "one per layer *and* direction.",
            swap=("(num_layers * directions,", "((num_layers + directions if bidirectional else num_layers),")),
    Fault("lstm-shapes", "directions-forgotten-in-the-states",
            "A second direction does not show in your states. "
            "Each direction of each layer has a last state of its own.",
            swap=("(num_layers * directions,", "(num_layers,")),
    Fault("lstm-shapes", "layers-forgotten-in-the-states",
            "Only the last layer shows in your states. `h_n` and `c_n` hold the last state of every layer.",
            swap=("(num_layers * directions,", "(directions,")),
    Fault("lstm-shapes", "output-not-doubled",
            "A second direction does not show in your `output`. "
            "At each timestep the states of both directions lie side by side.",
            swap=("directions * hidden_size), last_states", "hidden_size), last_states")),
    Fault("lstm-shapes", "layers-in-the-output",
            "The number of layers shows in the last axis of your `output`. Only the last layer comes out.",
            swap=("directions * hidden_size), last_states", "num_layers * directions * hidden_size), last_states")),
    Fault("lstm-shapes", "states-doubled-in-width",
            "The two directions stand side by side in your states. "
            "There they are stacked along the first axis; the last one is the hidden size.",
            swap=("batch_size, hidden_size)", "batch_size, directions * hidden_size)")),
    Fault("lstm-shapes", "directions-only-in-the-width",
            "In your states the two directions lie side by side, as in `output`. In the states they are stacked: "
            "the first axis is layers × directions.",
            swap=("(num_layers * directions, batch_size, hidden_size)",
                  "(num_layers, batch_size, directions * hidden_size)")),
    Fault("lstm-shapes", "batch-first-ignored",
            "`batch_first` changes nothing in your shapes. It swaps the first two axes of `output`.",
            swap=("(batch_size, timesteps) if batch_first else (timesteps, batch_size)", "(timesteps, batch_size)")),
    Fault("lstm-shapes", "batch-first-inverted",
            "Your two cases of `batch_first` are exchanged: without it, time comes first.",
            swap=("(batch_size, timesteps) if batch_first else (timesteps, batch_size)",
                  "(timesteps, batch_size) if batch_first else (batch_size, timesteps)")),
    Fault("lstm-shapes", "timesteps-in-the-states",
            "Your states have a time axis. A last state belongs to one timestep only, so time does not show.",
            swap=("batch_size, hidden_size)", "timesteps, hidden_size)")),
    Fault("lstm-shapes", "cell-state-missing",
            "You return two things. Three shapes are asked for, one after the other: "
            "those of `output`, `h_n` and `c_n`.",
            swap=("hidden_size), last_states, last_states", "hidden_size), last_states")),
    Fault("lstm-shapes", "sum-and-states-batch-first",
            "Two things: the states always begin with layers × directions, also with `batch_first`; "
            "and that is a product, not a sum.",
            swap=("    last_states = (num_layers * directions, batch_size, hidden_size)",
                  "    chains = num_layers + directions if bidirectional else num_layers\n"
                  "    last_states = (batch_size, chains, hidden_size) if batch_first "
                  "else (chains, batch_size, hidden_size)")),
    Fault("lstm-shapes", "an-lstm-was-run",
            "The shapes are right because an LSTM was run and looked at. Predict them from the numbers.",
            source='''
def lstm_shapes(batch_size, timesteps, hidden_size, num_layers, bidirectional, batch_first):
    lstm = nn.LSTM(2, hidden_size, num_layers, bidirectional=bidirectional, batch_first=batch_first)
    output, (h_n, c_n) = lstm(torch.zeros((batch_size, timesteps, 2) if batch_first else (timesteps, batch_size, 2)))
    return tuple(output.shape), tuple(h_n.shape), tuple(c_n.shape)
'''),
    Variant("lstm-shapes", "lists and cases", source='''
def lstm_shapes(batch_size, timesteps, hidden_size, num_layers, bidirectional, batch_first):
    if bidirectional:
        chains, width = num_layers * 2, hidden_size * 2
    else:
        chains, width = num_layers, hidden_size
    if batch_first:
        output = [batch_size, timesteps, width]
    else:
        output = [timesteps, batch_size, width]
    return output, [chains, batch_size, hidden_size], [chains, batch_size, hidden_size]
'''),
    Variant("lstm-shapes", "a truth value counted as a number", source='''
def lstm_shapes(batch_size, timesteps, hidden_size, num_layers, bidirectional, batch_first):
    d = 1 + int(bidirectional)
    output = (timesteps, batch_size, d * hidden_size)
    if batch_first:
        output = (output[1], output[0], output[2])
    h_n = (d * num_layers, batch_size, hidden_size)
    c_n = h_n
    return output, h_n, c_n
'''),
    Variant("lstm-shapes", "shapes of empty tensors", source='''
def lstm_shapes(batch_size, timesteps, hidden_size, num_layers, bidirectional, batch_first):
    directions = [1, 2][bidirectional]
    output = torch.empty(timesteps, batch_size, directions * hidden_size)
    states = torch.empty(directions * num_layers, batch_size, hidden_size)
    return (output.transpose(0, 1) if batch_first else output).shape, states.shape, states.shape
'''),
    Variant("lstm-shapes", "counting the chains", source='''
def lstm_shapes(batch_size, timesteps, hidden_size, num_layers, bidirectional, batch_first):
    directions = ("forward", "backward") if bidirectional else ("forward",)
    chains = [(layer, direction) for layer in range(num_layers) for direction in directions]
    width = sum(hidden_size for _ in directions)
    by_name = {"B": batch_size, "T": timesteps}
    first, second = "BT" if batch_first else "TB"
    return (by_name[first], by_name[second], width), *[(len(chains), batch_size, hidden_size)] * 2
'''),
]

BOTH_ENDS = [
    Fault("both-ends", "last-timestep-of-output",
            "You take `output` at the last timestep. Its second half, the backward direction, "
            "has read only one token there.",
            swap=("torch.cat([h_n[-2], h_n[-1]], dim=-1)", "output[:, -1]")),
    Fault("both-ends", "first-timestep-of-output",
            "You take `output` at the first timestep. Its first half, the forward direction, "
            "has read only one token there.",
            swap=("torch.cat([h_n[-2], h_n[-1]], dim=-1)", "output[:, 0]")),
    Fault("both-ends", "backward-end-only",
            "`h_n[-1]` is the backward direction of the last layer alone. The forward one is the item before it.",
            swap=("torch.cat([h_n[-2], h_n[-1]], dim=-1)", "h_n[-1]")),
    Fault("both-ends", "first-layer",
            "You take the first two parts of `h_n`: they belong to layer 0. The last layer stands at the end.",
            swap=("[h_n[-2], h_n[-1]]", "[h_n[0], h_n[1]]")),
    Fault("both-ends", "backward-before-forward",
            "The two ends come in the wrong order: the forward one belongs in front.",
            swap=("[h_n[-2], h_n[-1]]", "[h_n[-1], h_n[-2]]")),
    Fault("both-ends", "sentences-mixed",
            "The shape is right, but each row holds numbers of two different sentences: "
            "`reshape` or `view` goes through the batch before the directions. Bring the axes in order first.",
            swap=("torch.cat([h_n[-2], h_n[-1]], dim=-1)", "h_n[-2:].reshape(h_n.shape[1], -1)")),
    Fault("both-ends", "all-layers",
            "All layers are in your vector. Only the last layer's two ends are wanted.",
            swap=("torch.cat([h_n[-2], h_n[-1]], dim=-1)", "h_n.transpose(0, 1).reshape(h_n.shape[1], -1)")),
    Fault("both-ends", "ends-added",
            "You add the two ends. They must stand side by side, so that nothing is mixed.",
            swap=("torch.cat([h_n[-2], h_n[-1]], dim=-1)", "h_n[-2] + h_n[-1]")),
    Fault("both-ends", "ends-below-each-other",
            "The two ends stand one below the other: (2B, H). Put them side by side, along the last axis.",
            swap=("dim=-1", "dim=0")),
    Fault("both-ends", "ends-stacked",
            "The two ends stand on an axis of their own. Put them side by side, along the last axis: (B, 2H).",
            swap=("torch.cat([h_n[-2], h_n[-1]], dim=-1)", "torch.stack([h_n[-2], h_n[-1]])")),
    Fault("both-ends", "mean-over-time",
            "You take the mean of all timesteps. That can be a useful vector, "
            "but here the two final states are asked for.",
            swap=("torch.cat([h_n[-2], h_n[-1]], dim=-1)", "output.mean(1)")),
    Fault("both-ends", "halves-at-the-wrong-ends",
            "You take the forward half at the first timestep and the backward half at the last. "
            "Each direction ends where the other begins.",
            swap=("torch.cat([h_n[-2], h_n[-1]], dim=-1)",
                  "torch.cat([output[:, 0, :h_n.shape[-1]], output[:, -1, h_n.shape[-1]:]], dim=-1)")),
    Fault("both-ends", "batch-axis-squeezed",
            "A batch of one sentence loses its axis. Do not squeeze: a batch of one is still a batch.",
            swap=("dim=-1)", "dim=-1).squeeze()")),
    Fault("both-ends", "first-layer-backward-before-forward",
            "Two things: take the last layer, not layer 0; and the forward end belongs in front.",
            swap=("[h_n[-2], h_n[-1]]", "[h_n[1], h_n[0]]")),
    Variant("both-ends", "from output", source='''
def both_ends(output, h_n):
    H = output.shape[-1] // 2
    return torch.cat((output[:, -1, :H], output[:, 0, H:]), dim=1)
'''),
    Variant("both-ends", "unfolded into layers and directions", source='''
def both_ends(output, h_n):
    _, B, H = h_n.shape
    layers = h_n.view(-1, 2, B, H)
    forward, backward = layers[-1]
    return torch.hstack([forward, backward])
'''),
    Variant("both-ends", "axes in order, then reshape", source='''
def both_ends(output, h_n):
    return h_n[-2:].transpose(0, 1).reshape(h_n.size(1), 2 * h_n.size(2))
'''),
    Variant("both-ends", "a tensor to fill", source='''
def both_ends(output, h_n):
    B, H = h_n.shape[1:]
    vectors = torch.zeros(B, 2 * H, device=h_n.device)
    for b in range(B):
        vectors[b, :H] = h_n[len(h_n) - 2, b]
        vectors[b, H:] = h_n[len(h_n) - 1, b]
    return vectors
'''),
    Variant("both-ends", "permute and flatten", source='''
def both_ends(output, h_n):
    return h_n[-2:].permute(1, 0, 2).flatten(start_dim=1)
'''),
]

GRADIENTS = [
    Fault("gradients", "all-states-summed",
            "You differentiate the sum of the states at *all* timesteps. "
            "Then late inputs seem weak and early ones strong. Only the last state counts.",
            swap=("grad(h_ts[-1].sum()", "grad(h_ts.sum()")),
    Fault("gradients", "first-state",
            "You differentiate the first state. No later input can reach it; take the last one.",
            swap=("grad(h_ts[-1].sum()", "grad(h_ts[0].sum()")),
    Fault("gradients", "mean-of-the-state",
            "You differentiate the mean of the last state, "
            "so every norm is too small by the same factor. Take the sum.",
            swap=("grad(h_ts[-1].sum()", "grad(h_ts[-1].mean()")),
    Fault("gradients", "norm-of-the-state",
            "You differentiate the norm of the last state. "
            "Take the sum of its numbers; the norm is taken of the gradient.",
            swap=("grad(h_ts[-1].sum()", "grad(h_ts[-1].norm()")),
    Fault("gradients", "norm-over-time",
            "Your norm runs over time, so the answer has a number per feature. "
            "Keep the first axis and take the norm over all others.",
            swap=("gradient.flatten(1).norm(dim=1)", "gradient.flatten(0, 1).norm(dim=0)")),
    Fault("gradients", "norm-per-sentence",
            "Your norm runs over the features only, so the answer still has the batch axis. "
            "All sentences count together.",
            swap=("gradient.flatten(1).norm(dim=1)", "gradient.norm(dim=-1)")),
    Fault("gradients", "one-number",
            "Your norm runs over everything: one number is left. One number per timestep is wanted.",
            swap=("gradient.flatten(1).norm(dim=1)", "gradient.norm()")),
    Fault("gradients", "mean-over-the-batch",
            "You take the norm for each sentence and then the mean. "
            "One norm over sentences and features together is asked for.",
            swap=("gradient.flatten(1).norm(dim=1)", "gradient.norm(dim=-1).mean(-1)")),
    Fault("gradients", "squared",
            "Your numbers are sums of squares. The square root is missing.",
            swap=("gradient.flatten(1).norm(dim=1)", "gradient.flatten(1).square().sum(1)")),
    Fault("gradients", "sum-with-signs",
            "You add up the gradient with its signs, so that positive and negative parts cancel. "
            "Take the square root of the sum of squares.",
            swap=("gradient.flatten(1).norm(dim=1)", "gradient.flatten(1).sum(1)")),
    Fault("gradients", "absolute-values",
            "You add up absolute values. The norm asked for is the square root of the sum of squares.",
            swap=("gradient.flatten(1).norm(dim=1)", "gradient.flatten(1).abs().sum(1)")),
    Fault("gradients", "time-reversed",
            "Your numbers run from the last timestep to the first. Number t belongs to timestep t.",
            swap=("norm(dim=1)", "norm(dim=1).flip(0)")),
    Fault("gradients", "caller-s-x-watched",
            "After your measurement the caller's own `x` requires a gradient. Work on a copy.",
            swap=("x.detach().clone().requires_grad_(True)", "x.requires_grad_(True)")),
    Fault("gradients", "gradients-pile-up",
            "`backward` adds to the gradient that is there already, in the caller's own `x`: "
            "the second measurement is twice the first. Work on a copy, or use `torch.autograd.grad`.",
            swap=[("x.detach().clone().requires_grad_(True)", "x.requires_grad_(True)"),
                  ("gradient, = torch.autograd.grad(h_ts[-1].sum(), x)",
                   "h_ts[-1].sum().backward()\n    gradient = x.grad")]),
    Fault("gradients", "norm-of-the-states",
            "You return the norms of the states. "
            "The question is how the last state depends on each input: a gradient is needed.",
            swap=("gradient.flatten(1).norm(dim=1)", "h_ts.detach().flatten(1).norm(dim=1)")),
    Fault("gradients", "mean-and-squared",
            "Two things: differentiate the sum of the last state, not its mean; and the square root is missing.",
            both=("mean-of-the-state", "squared")),
    Variant("gradients", "backward on a copy", source='''
def gradient_norms(run, x):
    copy = x.clone().detach()
    copy.requires_grad = True
    h_ts, _ = run(copy)
    h_ts[-1].sum().backward()
    return torch.sqrt((copy.grad ** 2).sum(dim=(1, 2)))
'''),
    Variant("gradients", "with a graph of its own",
            swap=("grad(h_ts[-1].sum(), x)", "grad(h_ts[-1].sum(), x, create_graph=True)")),
    Variant("gradients", "a leaf per timestep", source='''
def gradient_norms(run, x):
    inputs = [x_t.detach().clone().requires_grad_() for x_t in x]
    states = run(torch.stack(inputs))[0]
    gradients = torch.autograd.grad(torch.sum(states[-1]), inputs)
    return torch.stack([torch.linalg.vector_norm(g) for g in gradients])
'''),
    Variant("gradients", "Jacobian", source='''
def gradient_norms(run, x):
    gradient = torch.autograd.functional.jacobian(lambda inputs: run(inputs)[0][-1].sum(), x.detach())
    return gradient.reshape(len(x), -1).norm(p=2, dim=-1)
'''),
    Variant("gradients", "vector of ones in place of the sum", source='''
def gradient_norms(run, x):
    with torch.enable_grad():
        watched = x.detach().clone().requires_grad_(True)
        last = run(watched)[0][-1]
        last.backward(torch.ones_like(last))
    return torch.linalg.norm(watched.grad, dim=(1, 2))
'''),
]

EVERYTHING = (VOCABULARY + ONE_HOT + EMBED + RNN_LOOP + NEXT_TOKEN
              + GRU_CELL + LSTM_CELL + LSTM_SHAPES + BOTH_ENDS + GRADIENTS)
FAULTS = [version for version in EVERYTHING if isinstance(version, Fault)]
VARIANTS = [version for version in EVERYTHING if isinstance(version, Variant)]
