"""Right answers of session 1 that look different from the solution."""

from autograder.authoring import Variant

VOCABULARY = [
    Variant("vocabulary", "loops", source='''def build_vocabulary(sentences, specials=("<unk>",)):
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
    return torch.tensor(ids)'''),
    Variant("vocabulary", "one string of all sentences", source='''def build_vocabulary(sentences, specials=("<unk>",)):
    names = list(specials) + sorted(set(" ".join(sentences).split()))
    return {name: names.index(name) for name in names}

def encode(sentence, vocabulary):
    if "<eos>" in vocabulary:
        sentence = sentence + " <eos>"
    tokens = [token if token in vocabulary else "<unk>" for token in sentence.split()]
    return torch.LongTensor([vocabulary[token] for token in tokens])'''),
    Variant("vocabulary", "zip and a tensor that is filled", source='''def tokens_of(sentences):
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
    return ids'''),
    Variant("vocabulary", "a counter, and a stack", source='''from collections import Counter

def build_vocabulary(sentences, specials=("<unk>",)):
    counts = Counter()
    for sentence in sentences:
        counts.update(sentence.split())
    return {token: i for i, token in enumerate(list(specials) + sorted(counts))}

def encode(sentence, vocabulary):
    tokens = sentence.split()
    if "<eos>" in vocabulary:
        tokens = [*tokens, "<eos>"]
    return torch.stack([torch.tensor(vocabulary.get(token, vocabulary["<unk>"])) for token in tokens])'''),
]

ONE_HOT = [
    Variant("one-hot", "rows of the identity matrix",
            replace=("return (ids.unsqueeze(-1) == places).float()",
                     "return torch.eye(vocabulary_size, device=ids.device)[ids]")),
    Variant("one-hot", "scatter", body='''
vectors = torch.zeros(*ids.shape, vocabulary_size, device=ids.device)
return vectors.scatter(-1, ids[..., None], 1.0)'''),
    Variant("one-hot", "loop over all ids", body='''
rows = []
for i in ids.flatten().tolist():
    row = [0.0] * vocabulary_size
    row[i] = 1.0
    rows.append(row)
return torch.tensor(rows).view(*ids.shape, vocabulary_size)'''),
    Variant("one-hot", "one question per token",
            body="return torch.stack([torch.where(ids == i, 1.0, 0.0) for i in range(vocabulary_size)], dim=-1)"),
    Variant("one-hot", "fill by index", body='''
vectors = torch.zeros(ids.numel(), vocabulary_size, device=ids.device)
vectors[torch.arange(ids.numel()), ids.flatten()] = 1
return vectors.reshape(ids.shape + (vocabulary_size,))'''),
]

EMBED = [
    Variant("embed", "matmul and index_select", source='''def embed_by_product(one_hots, table):
    return torch.matmul(one_hots, table)

def embed(ids, table):
    if bool((ids < 0).any()) or bool((ids >= table.shape[0]).any()):
        raise IndexError("no such row")
    return table.index_select(0, ids.flatten()).view(*ids.shape, table.shape[1])'''),
    Variant("embed", "einsum, and torch complains of large ids", source='''def embed_by_product(one_hots, table):
    return torch.einsum("tbv,vd->tbd", one_hots, table)

def embed(ids, table):
    if (ids < 0).any():
        raise IndexError("negative id")
    return table[ids]'''),
    Variant("embed", "a weighted sum, and a stack of rows", source='''def embed_by_product(one_hots, table):
    return (one_hots.unsqueeze(-1) * table).sum(dim=-2)

def embed(ids, table):
    rows = []
    for i in ids.flatten().tolist():
        if not 0 <= i < table.size(0):
            raise IndexError(f"id {i}")
        rows.append(table[i])
    return torch.stack(rows).reshape(ids.shape[0], ids.shape[1], -1)'''),
    Variant("embed", "gather", source='''def embed_by_product(one_hots, table):
    T, B, V = one_hots.shape
    return (one_hots.reshape(T * B, V) @ table).reshape(T, B, table.shape[-1])

def embed(ids, table):
    V, D = table.shape
    for i in ids.reshape(-1):
        if i < 0 or i >= V:
            raise IndexError("id out of range")
    index = ids.reshape(-1, 1).expand(-1, D)
    return torch.gather(table, 0, index).reshape(*ids.shape, D)'''),
]

RNN_LOOP = [
    Variant("rnn-loop", "index and a tensor to fill", body='''
T, B, D = x.shape
states = x.new_zeros(T, B, h_0.shape[1])
for t in range(T):
    before = h_0 if t == 0 else states[t - 1].clone()
    states[t] = torch.tanh(torch.matmul(x[t], W_ih.t()) + b_ih + torch.matmul(before, W_hh.t()) + b_hh)
return states, states[-1]'''),
    Variant("rnn-loop", "all inputs at once before the loop", body='''
inputs = nn.functional.linear(x, W_ih, b_ih + b_hh)
h_ts = [h_0]
for t in range(len(x)):
    h_ts.append((inputs[t] + h_ts[-1] @ W_hh.T).tanh())
return torch.stack(h_ts[1:]), h_ts[-1]'''),
    Variant("rnn-loop", "one matrix for input and state", body='''
W, h, out = torch.cat([W_ih, W_hh], dim=1), h_0, []
for x_t in x.unbind(0):
    h = torch.tanh(torch.cat([x_t, h], dim=1) @ W.T + (b_ih + b_hh))
    out.append(h[None])
return torch.cat(out, dim=0), h'''),
    Variant("rnn-loop", "einsum", body='''
def step(x_t, h):
    return torch.tanh(torch.einsum("bd,hd->bh", x_t, W_ih) + torch.einsum("bg,hg->bh", h, W_hh) + b_ih + b_hh)

h_ts, h = [], h_0
for t in range(x.shape[0]):
    h = step(x[t], h)
    h_ts += [h]
return torch.stack(h_ts, 0), h'''),
    Variant("rnn-loop", "recursion", body='''
if len(x) == 0:
    return h_0.new_zeros(0, *h_0.shape), h_0
h = torch.tanh(x[0] @ W_ih.T + b_ih + h_0 @ W_hh.T + b_hh)
rest, final = rnn_loop(x[1:], h, W_ih, W_hh, b_ih, b_hh)
return torch.cat([h.unsqueeze(0), rest]), final'''),
    Variant("rnn-loop", "sentence by sentence", body='''
sentences = []
for b in range(x.shape[1]):
    h, states = h_0[b], []
    for t in range(x.shape[0]):
        h = torch.tanh(W_ih @ x[t, b] + b_ih + W_hh @ h + b_hh)
        states.append(h)
    sentences.append(torch.stack(states))
h_ts = torch.stack(sentences, dim=1)
return h_ts, h_ts[-1]'''),
]

NEXT_TOKEN = [
    Variant("next-token", "one timestep after the other",
            replace=('''        h_ts, state = self.recurrence(self.embedding(ids), state)
        return self.readout(h_ts), state''',
                     '''        logits = []
        for t in range(len(ids)):
            h_t, state = self.recurrence(self.embedding(ids[t:t + 1]), state)
            logits.append(self.readout(h_t))
        return torch.cat(logits), state''')),
    Variant("next-token", "readout by hand",
            replace=("self.readout(h_ts), state", "h_ts @ self.readout.weight.T + self.readout.bias, state")),
    Variant("next-token", "flattened and back", replace=("return self.readout(h_ts), state", '''T, B, H = h_ts.shape
        return self.readout(h_ts.reshape(T * B, H)).reshape(T, B, -1), state''')),
    Variant("next-token", "row look-up and a list",
            replace=[("self.embedding(ids)", "self.embedding.weight[ids]"),
                     ("self.readout(h_ts), state", "[torch.stack([self.readout(h) for h in h_ts]), state]")]),
]

GRU_CELL = [
    Variant("gru-cell", "six small products", body='''
H = h.shape[1]
parts = [slice(0, H), slice(H, 2 * H), slice(2 * H, 3 * H)]
from_x = [x_t @ W_ih[part].T + b_ih[part] for part in parts]
from_h = [h @ W_hh[part].T + b_hh[part] for part in parts]
r = 1 / (1 + torch.exp(-(from_x[0] + from_h[0])))
z = 1 / (1 + torch.exp(-(from_x[1] + from_h[1])))
n = torch.tanh(from_x[2] + r * from_h[2])
return n + z * (h - n)'''),
    Variant("gru-cell", "linear and split", body='''
F = nn.functional
size = h.size(-1)
i_r, i_z, i_n = F.linear(x_t, W_ih, b_ih).split(size, dim=1)
h_r, h_z, h_n = F.linear(h, W_hh, b_hh).split(size, dim=1)
reset, update = (i_r + h_r).sigmoid(), (i_z + h_z).sigmoid()
return torch.lerp(torch.tanh(i_n + reset * h_n), h, update)'''),
    Variant("gru-cell", "einsum on unfolded weights", body='''
H, D = h.shape[-1], x_t.shape[-1]
a = torch.einsum("bd,khd->kbh", x_t, W_ih.view(3, H, D)) + b_ih.view(3, 1, H)
b = torch.einsum("bg,khg->kbh", h, W_hh.view(3, H, H)) + b_hh.view(3, 1, H)
r, z = torch.sigmoid(a[:2] + b[:2])
n = torch.tanh(a[2] + r * b[2])
return (1 - z) * n + z * h'''),
    Variant("gru-cell", "sentence by sentence", body='''
new = []
for x, old in zip(x_t, h):
    x_r, x_z, x_n = torch.chunk(W_ih @ x + b_ih, 3)
    h_r, h_z, h_n = torch.chunk(W_hh @ old + b_hh, 3)
    r, z = torch.sigmoid(x_r + h_r), torch.sigmoid(x_z + h_z)
    n = torch.tanh(x_n + torch.mul(r, h_n))
    new.append(z * old + n - z * n)
return torch.stack(new)'''),
]

LSTM_CELL = [
    Variant("lstm-cell", "eight small products", body='''
h, c = state
H = h.shape[1]

def part(k):
    rows = slice(k * H, (k + 1) * H)
    return x_t @ W_ih[rows].T + b_ih[rows] + h @ W_hh[rows].T + b_hh[rows]

new_c = c * part(1).sigmoid() + part(0).sigmoid() * part(2).tanh()
return new_c.tanh() * part(3).sigmoid(), new_c'''),
    Variant("lstm-cell", "one matrix for input and state", body='''
h_old, c_old = state
both = torch.cat([x_t, h_old], dim=-1)
sums = nn.functional.linear(both, torch.cat([W_ih, W_hh], dim=-1), b_ih + b_hh)
i, f, g, o = torch.split(sums, h_old.size(-1), dim=-1)
i, f, g, o = torch.sigmoid(i), torch.sigmoid(f), torch.tanh(g), torch.sigmoid(o)
c_new = torch.addcmul(f * c_old, i, g)
h_new = o * torch.tanh(c_new)
return [h_new, c_new]'''),
    Variant("lstm-cell", "einsum on unfolded weights", body='''
H = state[0].shape[-1]
sums = (torch.einsum("bd,khd->kbh", x_t, W_ih.reshape(4, H, -1)) \
+ torch.einsum("bg,khg->kbh", state[0], W_hh.reshape(4, H, H))
        + (b_ih + b_hh).reshape(4, 1, H))
i, f, o = sums[[0, 1, 3]].sigmoid()
c = f * state[1] + i * sums[2].tanh()
return (o * c.tanh(), c)'''),
    Variant("lstm-cell", "tanh in place of the sigmoid, scaled", source='''def sigma(a):
    return 0.5 * (1 + torch.tanh(a / 2))

def lstm_cell(x_t, state, W_ih, W_hh, b_ih, b_hh):
    h, c = state
    a = torch.matmul(W_ih, x_t.T).T + torch.matmul(W_hh, h.T).T + b_ih + b_hh
    H = a.shape[1] // 4
    c = sigma(a[:, H:2 * H]) * c + sigma(a[:, :H]) * torch.tanh(a[:, 2 * H:3 * H])
    return sigma(a[:, 3 * H:]) * torch.tanh(c), c'''),
    Variant("lstm-cell", "sentence by sentence", body='''
hs, cs = [], []
for x, h, c in zip(x_t, *state):
    i, f, g, o = (W_ih @ x + W_hh @ h + b_ih + b_hh).view(4, -1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    hs.append(torch.sigmoid(o) * torch.tanh(c))
    cs.append(c)
return torch.stack(hs), torch.stack(cs)'''),
]

LSTM_SHAPES = [
    Variant("lstm-shapes", "lists and cases", body='''
if bidirectional:
    chains, width = num_layers * 2, hidden_size * 2
else:
    chains, width = num_layers, hidden_size
if batch_first:
    output = [batch_size, timesteps, width]
else:
    output = [timesteps, batch_size, width]
return output, [chains, batch_size, hidden_size], [chains, batch_size, hidden_size]'''),
    Variant("lstm-shapes", "a truth value counted as a number", body='''
d = 1 + int(bidirectional)
output = (timesteps, batch_size, d * hidden_size)
if batch_first:
    output = (output[1], output[0], output[2])
h_n = (d * num_layers, batch_size, hidden_size)
c_n = h_n
return output, h_n, c_n'''),
    Variant("lstm-shapes", "shapes of empty tensors", body='''
directions = [1, 2][bidirectional]
output = torch.empty(timesteps, batch_size, directions * hidden_size)
states = torch.empty(directions * num_layers, batch_size, hidden_size)
return (output.transpose(0, 1) if batch_first else output).shape, states.shape, states.shape'''),
    Variant("lstm-shapes", "counting the chains", body='''
directions = ("forward", "backward") if bidirectional else ("forward",)
chains = [(layer, direction) for layer in range(num_layers) for direction in directions]
width = sum(hidden_size for _ in directions)
by_name = {"B": batch_size, "T": timesteps}
first, second = "BT" if batch_first else "TB"
return (by_name[first], by_name[second], width), *[(len(chains), batch_size, hidden_size)] * 2'''),
]

BOTH_ENDS = [
    Variant("both-ends", "from output", body='''
H = output.shape[-1] // 2
return torch.cat((output[:, -1, :H], output[:, 0, H:]), dim=1)'''),
    Variant("both-ends", "unfolded into layers and directions", body='''
_, B, H = h_n.shape
layers = h_n.view(-1, 2, B, H)
forward, backward = layers[-1]
return torch.hstack([forward, backward])'''),
    Variant("both-ends", "axes in order, then reshape",
            body="return h_n[-2:].transpose(0, 1).reshape(h_n.size(1), 2 * h_n.size(2))"),
    Variant("both-ends", "a tensor to fill", body='''
B, H = h_n.shape[1:]
vectors = torch.zeros(B, 2 * H, device=h_n.device)
for b in range(B):
    vectors[b, :H] = h_n[len(h_n) - 2, b]
    vectors[b, H:] = h_n[len(h_n) - 1, b]
return vectors'''),
]

GRADIENTS = [
    Variant("gradients", "backward on a copy", body='''
copy = x.clone().detach()
copy.requires_grad = True
h_ts, _ = run(copy)
h_ts[-1].sum().backward()
return torch.sqrt((copy.grad ** 2).sum(dim=(1, 2)))'''),
    Variant("gradients", "with a graph of its own",
            replace=("grad(h_ts[-1].sum(), x)", "grad(h_ts[-1].sum(), x, create_graph=True)")),
    Variant("gradients", "a leaf per timestep", body='''
inputs = [x_t.detach().clone().requires_grad_() for x_t in x]
states = run(torch.stack(inputs))[0]
gradients = torch.autograd.grad(torch.sum(states[-1]), inputs)
return torch.stack([torch.linalg.vector_norm(g) for g in gradients])'''),
    Variant("gradients", "Jacobian", body='''
gradient = torch.autograd.functional.jacobian(lambda inputs: run(inputs)[0][-1].sum(), x.detach())
return gradient.reshape(len(x), -1).norm(p=2, dim=-1)'''),
    Variant("gradients", "vector of ones in place of the sum", body='''
with torch.enable_grad():
    watched = x.detach().clone().requires_grad_(True)
    last = run(watched)[0][-1]
    last.backward(torch.ones_like(last))
return torch.linalg.norm(watched.grad, dim=(1, 2))'''),
]

VARIANTS = [*VOCABULARY, *ONE_HOT, *EMBED, *RNN_LOOP, *NEXT_TOKEN, *GRU_CELL, *LSTM_CELL, *LSTM_SHAPES, *BOTH_ENDS,
            *GRADIENTS]
