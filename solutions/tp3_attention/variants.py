"""Right answers of session 3 that look different from the solution."""

from autograder.authoring import Variant

from .faults import (
    BOTH,
    DECODER_BODY,
    DOT,
    FILL,
    FINAL,
    HIDDEN,
    KEPT,
    MASK_SOFT,
    NET_BODY,
    NET_CONTEXT,
    NET_RETURN,
    NET_SCORES,
    NET_SOFT,
    SHARE,
    UNIT_DOT,
    WEIGH,
    written_out,
)

# --- scores -----------------------------------------------------------------------------------

SCORES_RIGHT = [
    Variant("scores", "multiply and sum", replace=(DOT, "return (hdec * henc_ts).sum(-1)")),
    Variant("scores", "loop and stack", replace=(DOT, "return torch.stack([torch.dot(hdec, h) for h in henc_ts])")),
    Variant("scores", "the vector on the left", replace=(DOT, "return hdec @ henc_ts.T")),
    Variant("scores", "the example computed",
            replace=("[15.0, 60.0, 15.0, 35.0]", "[10. * 0 + 5 * 1 + 10 * 1, 10 * 5 + 10 * 1, 10 + 5, 5 * 5 + 10]")),
]

WEIGHTS_RIGHT = [
    Variant("weights", "logsumexp",
            replace=(SHARE, "return torch.exp(scaled - torch.logsumexp(scaled, dim=-1, keepdim=True))")),
    Variant("weights", "row by row", body='''
rows = []
for row in scores.reshape(-1, scores.shape[-1]):
    shifted = (row - max(row.tolist())) / temperature
    e = shifted.exp()
    rows.append(e / e.sum())
return torch.stack(rows).reshape(scores.shape)'''),
    Variant("weights", "differences of scores", body='''
differences = (scores.unsqueeze(-2) - scores.unsqueeze(-1)) / temperature
return 1 / torch.exp(differences).sum(dim=-1)'''),
    Variant("weights", "source axis moved to the front", body='''
x = scores.movedim(-1, 0) / temperature
x = math.e ** (x - x.amax(0))
return (x / x.sum(0)).movedim(0, -1)'''),
    Variant("weights", "in place on its own copy", body='''
w = scores.clone()
w -= torch.amax(w, dim=-1, keepdim=True)
w /= temperature
w.exp_()
w /= w.sum(dim=-1, keepdim=True)
return w'''),
]


# --- context ----------------------------------------------------------------------------------

ADD = "return weighted.sum(dim=0)"

CONTEXT_RIGHT = [
    Variant("context", "einsum",
            replace=[(WEIGH, 'return torch.einsum("s,sh->sh", attention_weights, henc_ts)'),
                     (ADD, 'return torch.einsum("sh->h", weighted)')]),
    Variant("context", "a diagonal matrix",
            replace=[(WEIGH, "return torch.diag(attention_weights) @ henc_ts"),
                     (ADD, "return torch.ones(len(weighted)).to(weighted) @ weighted")]),
    Variant("context", "loops", source='''def step3_weigh(attention_weights, henc_ts):
    return torch.stack([w * h for w, h in zip(attention_weights, henc_ts)])

def step4_context(weighted):
    total = torch.zeros_like(weighted[0])
    for vector in weighted:
        total = total + vector
    return total'''),
    Variant("context", "transposed", replace=(WEIGH, "return (henc_ts.T * attention_weights).T")),
]

STEPS_RIGHT = [
    Variant("steps", "with an axis for the batch", body='''
state, outputs, maps = hdec_init.unsqueeze(0), [], []
for t in range(decoder_inputs.shape[0]):
    w = F.softmax(torch.mm(state, henc_ts.t()), dim=1)
    state = cell(torch.cat((decoder_inputs[t:t + 1], torch.mm(w, henc_ts)), dim=1), state)
    outputs.append(state)
    maps.append(w)
return torch.cat(outputs), torch.cat(maps)'''),
    Variant("steps", "recursion", body='''
def steps(h, tokens):
    if len(tokens) == 0:
        return [], []
    w = torch.log_softmax((henc_ts * h).sum(1), dim=0).exp()
    new = cell(torch.hstack([tokens[0], (w[:, None] * henc_ts).sum(0)]), h)
    hs, ws = steps(new, tokens[1:])
    return [new] + hs, [w] + ws
hs, ws = steps(hdec_init, decoder_inputs)
return torch.stack(hs), torch.stack(ws)'''),
    Variant("steps", "filled tables", body='''
T = decoder_inputs.size(0)
hdec_ts = decoder_inputs.new_zeros(T, hdec_init.size(0))
attention = decoder_inputs.new_zeros(T, henc_ts.size(0))
h = hdec_init
for t in range(T):
    e = torch.exp(henc_ts.matmul(h) - henc_ts.matmul(h).max())
    alpha = e / e.sum()
    h = cell(torch.cat([decoder_inputs[t], torch.einsum("s,sh->h", alpha, henc_ts)]), h)
    hdec_ts[t] = h
    attention[t] = alpha
return hdec_ts, attention'''),
    Variant("steps", "scaled_dot_product_attention", body='''
def attend(h, values):
    return F.scaled_dot_product_attention(h[None, None], henc_ts[None], values[None], scale=1.0)[0, 0]
h, hs, ws = hdec_init, [], []
for x in decoder_inputs:
    ws.append(attend(h, torch.eye(len(henc_ts)).to(henc_ts)))
    h = cell(torch.cat([x, attend(h, henc_ts)]), h)
    hs.append(h)
return torch.stack(hs), torch.stack(ws)'''),
]

BATCHED_RIGHT = [
    Variant("batched", "scaled_dot_product_attention", body='''
eye = torch.eye(henc_ts.shape[1]).to(henc_ts).expand(len(henc_ts), -1, -1)
w = F.scaled_dot_product_attention(hdec_ts, henc_ts, eye, scale=1.0)
return F.scaled_dot_product_attention(hdec_ts, henc_ts, henc_ts, scale=1.0), w'''),
    Variant("batched", "source axis first, dim=0", body='''
scores = (henc_ts.transpose(0, 1).unsqueeze(2) * hdec_ts.unsqueeze(0)).sum(-1)
w = nn.Softmax(dim=0)(scores)
context = (w.unsqueeze(-1) * henc_ts.transpose(0, 1).unsqueeze(2)).sum(0)
return context, w.permute(1, 2, 0)'''),
    Variant("batched", "a way apart for a batch of one", body='''
if len(hdec_ts) == 1:
    w = torch.mm(hdec_ts[0], henc_ts[0].T).softmax(-1)
    return torch.mm(w, henc_ts[0])[None], w[None]
w = torch.bmm(hdec_ts, henc_ts.mT).softmax(-1)
return w @ henc_ts, w'''),
    Variant("batched", "returned as a list",
            replace=("return context_vectors, attention_weights", "return [context_vectors, attention_weights]")),
]

MASKED_RIGHT = [
    Variant("masked", "a large negative number", replace=("lowest = torch.finfo(scores.dtype).min", "lowest = -1e9")),
    Variant("masked", "torch.where",
            replace=[(FILL, "masked = torch.where(real, scores, torch.full_like(scores, lowest))"),
                     (MASK_SOFT, "return torch.where(real, F.softmax(masked, dim=-1), torch.zeros_like(scores))")]),
    Variant("masked", "exponentials of the real tokens", source='''def padding_mask(lengths, S):
    return torch.ones(len(lengths), S, device=lengths.device).cumsum(dim=1) <= lengths[:, None]

def masked_softmax(scores, mask):
    real = mask[:, None, :].expand_as(scores)
    top = scores.detach().masked_fill(~real, -1e30).max(dim=2, keepdim=True).values
    e = torch.where(real, scores - top, torch.zeros_like(scores)).exp() * real
    return e / e.sum(dim=2, keepdim=True).clamp(min=1e-20)'''),
    Variant("masked", "minus infinity, NaN replaced",
            replace=[("lowest = torch.finfo(scores.dtype).min", "lowest = -math.inf"),
                     (MASK_SOFT, "return torch.nan_to_num(F.softmax(masked, dim=-1), nan=0.0)")]),
    Variant("masked", "loops", source='''def padding_mask(lengths, S):
    return torch.tensor([[s < int(n) for s in range(S)] for n in lengths], device=lengths.device)

def masked_softmax(scores, mask):
    rows = []
    for row, real in zip(scores, mask):
        at = real.nonzero().squeeze(1)
        weights = torch.zeros_like(row)
        if len(at):
            weights[:, at] = torch.softmax(row[:, at], dim=1)
        rows.append(weights)
    return torch.stack(rows)'''),
    Variant("masked", "safe rows, then minus infinity", source='''def padding_mask(lengths, S):
    return lengths.view(-1, 1).gt(torch.arange(S, device=lengths.device).view(1, -1))

def masked_softmax(scores, mask):
    empty = ~mask.any(dim=1)
    usable = mask | empty[:, None]
    weights = torch.softmax(scores.masked_fill(~usable[:, None], float("-inf")), dim=-1)
    return weights.masked_fill(empty[:, None, None], 0.0)'''),
]

PLAIN_RIGHT = [
    Variant("plain-scores", "einsum and normalize", source='''def dot_score(hdec_ts, henc_ts):
    return torch.einsum("bth,bsh->bts", hdec_ts, henc_ts)

def scaled_dot_score(hdec_ts, henc_ts):
    return dot_score(hdec_ts, henc_ts) * hdec_ts.size(-1) ** -0.5

def cosine_score(hdec_ts, henc_ts):
    return dot_score(F.normalize(hdec_ts, dim=-1), F.normalize(henc_ts, dim=-1))'''),
    Variant("plain-scores", "cosine_similarity by broadcasting",
            replace=(UNIT_DOT, "return F.cosine_similarity(hdec_ts.unsqueeze(2), henc_ts.unsqueeze(1), dim=3)")),
    Variant("plain-scores", "divided afterwards", source='''def dot_score(hdec_ts, henc_ts):
    return torch.bmm(hdec_ts, henc_ts.permute(0, 2, 1))

def scaled_dot_score(hdec_ts, henc_ts):
    k = hdec_ts.shape[-1] ** 0.25
    return torch.bmm(hdec_ts / k, (henc_ts / k).mT)

def cosine_score(hdec_ts, henc_ts):
    dots = torch.bmm(hdec_ts, henc_ts.permute(0, 2, 1))
    lengths = hdec_ts.norm(dim=-1).unsqueeze(2) * henc_ts.norm(dim=-1).unsqueeze(1)
    return torch.where(lengths > 0, dots / lengths.clamp(min=1e-12), torch.zeros_like(dots))'''),
    Variant("plain-scores", "loops", source='''def pairwise(f, hdec_ts, henc_ts):
    return torch.stack([torch.stack([torch.stack([f(s, h) for h in enc]) for s in dec]) \
for dec, enc in zip(hdec_ts, henc_ts)])

def dot_score(hdec_ts, henc_ts):
    return pairwise(torch.dot, hdec_ts, henc_ts)

def scaled_dot_score(hdec_ts, henc_ts):
    return pairwise(lambda s, h: torch.dot(s, h) / len(s) ** 0.5, hdec_ts, henc_ts)

def cosine_score(hdec_ts, henc_ts):
    return pairwise(lambda s, h: torch.dot(s, h) / (torch.sqrt((s * s).sum()) * torch.sqrt((h * h).sum()) + 1e-9), \
hdec_ts, henc_ts)'''),
]

LEARNED_RIGHT = [
    Variant("learned-scores", "einsum", source='''def general_score(hdec_ts, henc_ts, W_a):
    return torch.einsum("bth,hg,bsg->bts", hdec_ts, W_a, henc_ts)

def additive_score(hdec_ts, henc_ts, W_a, U_a, v_a):
    d, e = torch.einsum("bth,ah->bta", hdec_ts, W_a), torch.einsum("bsg,ag->bsa", henc_ts, U_a)
    return torch.einsum("btsa,a->bts", torch.tanh(d[:, :, None] + e[:, None]), v_a)

def location_score(hdec_ts, W_a):
    return hdec_ts @ W_a.T'''),
    Variant("learned-scores", "linear and bmm", source='''def general_score(hdec_ts, henc_ts, W_a):
    return torch.bmm(hdec_ts, F.linear(henc_ts, W_a).transpose(1, 2))

def additive_score(hdec_ts, henc_ts, W_a, U_a, v_a):
    T, S = hdec_ts.size(1), henc_ts.size(1)
    d = F.linear(hdec_ts, W_a).unsqueeze(2).expand(-1, -1, S, -1)
    e = F.linear(henc_ts, U_a).unsqueeze(1).expand(-1, T, -1, -1)
    return F.linear((d + e).tanh(), v_a.unsqueeze(0)).squeeze(3)

def location_score(hdec_ts, W_a):
    return F.linear(hdec_ts, W_a)'''),
    Variant("learned-scores", "concatenated", source='''def general_score(hdec_ts, henc_ts, W_a):
    return (hdec_ts @ W_a) @ henc_ts.permute(0, 2, 1)

def additive_score(hdec_ts, henc_ts, W_a, U_a, v_a):
    (B, T, H), (_, S, G) = hdec_ts.shape, henc_ts.shape
    pairs = torch.cat([hdec_ts[:, :, None].expand(B, T, S, H), henc_ts[:, None].expand(B, T, S, G)], dim=3)
    return torch.tanh(pairs @ torch.cat([W_a, U_a], dim=1).T) @ v_a

def location_score(hdec_ts, W_a):
    return torch.matmul(W_a, hdec_ts.transpose(1, 2)).transpose(1, 2)'''),
    Variant("learned-scores", "loops", source='''def each_pair(f, hdec_ts, henc_ts):
    return torch.stack([torch.stack([torch.stack([f(s, h) for h in enc]) for s in dec]) \
for dec, enc in zip(hdec_ts, henc_ts)])

def general_score(hdec_ts, henc_ts, W_a):
    return each_pair(lambda s, h: s @ W_a @ h, hdec_ts, henc_ts)

def additive_score(hdec_ts, henc_ts, W_a, U_a, v_a):
    return each_pair(lambda s, h: torch.dot(v_a, torch.tanh(W_a @ s + U_a @ h)), hdec_ts, henc_ts)

def location_score(hdec_ts, W_a):
    return torch.stack([torch.stack([W_a @ s for s in dec]) for dec in hdec_ts])'''),
]


# --- net --------------------------------------------------------------------------------------

NET_RIGHT = written_out([
    Variant("net", "written out", body=NET_BODY),
    Variant("net", "the function of a dropout",
            replace=(NET_RETURN,
                     "return self.output_layer(F.dropout(context_vectors, self.dropout.p, self.training))")),
    Variant("net", "weights kept to look at, without a gradient",
            replace=[("self.attention_weights = torch", "weights = torch"),
                     ("(self.attention_weights.unsqueeze(1) @", "(weights.unsqueeze(1) @"),
                     ("        return self.output_layer(",
                      "        self.attention_weights = weights.detach()\n        return self.output_layer(")]),
    Variant("net", "multiply and sum",
            replace=[(NET_SCORES, "scores = (henc_ts * query[:, None]).sum(-1)"),
                     (NET_SOFT, "torch.log_softmax(scores, dim=-1).exp()"),
                     (NET_CONTEXT, "context_vectors = (henc_ts * self.attention_weights[..., None]).sum(1)")]),
    Variant("net", "row by row", body='''
contexts, kept = [], []
for row, index in zip(data, target_idx):
    states = self.lstm(self.token_embedding(row.unsqueeze(0)))[0][0]
    scores = states @ self.query_layer(self.index_embedding(index))
    e = torch.exp(scores - scores.max())
    kept.append(e / e.sum())
    contexts.append(kept[-1] @ states)
self.attention_weights = torch.stack(kept)
return self.output_layer(self.dropout(torch.stack(contexts)))'''),
    Variant("net", "the mean of S times the weighted vectors",
            replace=(NET_CONTEXT,
                     "context_vectors = (self.attention_weights.unsqueeze(2) * henc_ts).mean(dim=1) * data.shape[1]")),
], NET_BODY)


# --- content only -----------------------------------------------------------------------------

GUESS = "return (counts.max(dim=1).values / data.shape[1]).mean().item()"
BAG_START = '''
class BagNet(nn.Module):
    def __init__(self, n_values=10, d=10, hidden_size=64, positions=False):
        super().__init__()
        self.positions = positions
        self.hidden_size = hidden_size
        self.token_embedding = nn.Embedding(n_values, hidden_size)
        self.position_embedding = nn.Embedding(d, hidden_size)
        self.index_embedding = nn.Embedding(d, hidden_size)
        self.output_layer = nn.Linear(hidden_size, n_values)

    def forward(self, data, target_idx):
'''

BAG_RIGHT = [
    Variant("content-only", "weights kept to look at, without a gradient",
            replace=[("self.attention_weights = torch", "weights = torch"),
                     ("(self.attention_weights.unsqueeze(1)", "(weights.unsqueeze(1)"),
                     ("        return self.output_layer(",
                      "        self.attention_weights = weights.detach()\n        return self.output_layer(")]),
    Variant("content-only", "two sums of scores", source=BAG_START + '''
        values, query = self.token_embedding(data), self.index_embedding(target_idx)
        scores = torch.einsum("bsh,bh->bs", values, query)
        if self.positions:
            scores = scores + (query @ self.position_embedding.weight.T)[:, :data.shape[1]]
        self.attention_weights = (scores / self.hidden_size ** 0.5).softmax(-1)
        return self.output_layer(torch.einsum("bs,bsh->bh", self.attention_weights, values))

def best_without_order(data):
    return sum(max(row.tolist().count(v) for v in row.tolist()) / len(row) for row in data) / len(data)
'''),
    Variant("content-only", "scaled_dot_product_attention and bincount", source=BAG_START + '''
        values = self.token_embedding(data)
        keys = values + self.positions * self.position_embedding(torch.arange(data.shape[1]).to(data))
        query = self.index_embedding(target_idx)[:, None]
        eye = torch.eye(data.shape[1]).to(values).expand(len(data), -1, -1)
        self.attention_weights = F.scaled_dot_product_attention(query, keys, eye)[:, 0]
        return self.output_layer(F.scaled_dot_product_attention(query, keys, values)[:, 0])

def best_without_order(data):
    return torch.stack([torch.bincount(row).max() / row.numel() for row in data]).mean()
'''),
    Variant("content-only", "the mode of each row",
            replace=(GUESS, "return (data == data.mode(dim=1, keepdim=True).values).float().mean().item()")),
    Variant("content-only", "pairwise equality",
            replace=(GUESS, "return float((data[:, :, None] == data[:, None]).float().mean(2).amax(1).mean())")),
]


# ---------------------------------------------------------------- decoder

PREDICT = f"{BOTH}\n        {HIDDEN}\n        {FINAL}"

DECODER_RIGHT = written_out([
    Variant("decoder", "written out", body=DECODER_BODY),
    Variant("decoder", "loops over batch and time", body="""
hdec_ts, hdec_final = self.gru(decoder_input, hdec_init)
if self.attention == False:
    output = F.log_softmax(self.linear(hdec_ts), dim=2)
else:
    contexts = torch.zeros_like(hdec_ts)
    weights = torch.zeros(hdec_ts.size(0), hdec_ts.size(1), henc_ts.size(0)).to(self.device)
    for t in range(hdec_ts.size(0)):
        for b in range(hdec_ts.size(1)):
            similarity = torch.matmul(henc_ts[:, b], hdec_ts[t, b])
            alpha = F.softmax(similarity, dim=0)
            weights[t, b] = alpha
            contexts[t, b] = torch.matmul(alpha, henc_ts[:, b])
    self.attention_weights = weights
    output = F.log_softmax(self.linear(contexts), dim=2)
return output, hdec_final"""),
    Variant("decoder", "one timestep at a time", body="""
hidden, outputs, weights = hdec_init, [], []
for character in decoder_input:
    state, hidden = self.gru(character[None], hidden)
    if self.attention:
        alpha = (state * henc_ts).sum(dim=2).softmax(dim=0)
        weights.append(alpha.t())
        state = (alpha.unsqueeze(2) * henc_ts).sum(dim=0, keepdim=True)
    outputs.append(self.linear(state).log_softmax(2))
if self.attention:
    self.attention_weights = torch.stack(weights)
return torch.cat(outputs), hidden"""),
    Variant("decoder", "built in", body="""
hdec_ts, hdec_final = self.gru(decoder_input, hdec_init)
if self.attention:
    q, k = hdec_ts.transpose(0, 1), henc_ts.transpose(0, 1)
    context = F.scaled_dot_product_attention(q, k, k, scale=1).transpose(0, 1)
    self.attention_weights = (q @ k.mT).softmax(-1).transpose(0, 1).detach()
    return self.linear(context).log_softmax(-1), hdec_final
return self.linear(hdec_ts).log_softmax(-1), hdec_final"""),
    Variant("decoder", "exponential of the log-softmax",
            replace=(KEPT, "self.attention_weights = F.log_softmax(scores, dim=2).exp()")),
    Variant("decoder", "softmax over the first axis, where the encoder stands", body="""
hdec_ts, hdec_final = self.gru(decoder_input, hdec_init)
if not self.attention:
    return torch.log_softmax(self.linear(hdec_ts), 2), hdec_final
alpha = F.softmax(torch.einsum('sbh,tbh->stb', henc_ts, hdec_ts), dim=0)
self.attention_weights = alpha.permute(1, 2, 0)
context = torch.einsum('stb,sbh->tbh', alpha, henc_ts)
return torch.log_softmax(self.linear(context), 2), hdec_final"""),
], DECODER_BODY)

IN_THE_DECODER_RIGHT = [
    Variant("seq2seq", "one loop for all", body="""
henc_ts, hidden = self.encoder(encoder_input)
x = torch.zeros(1, encoder_input.size(1), self.decoder_vocabulary_size).to(self.device)
x[:, :, self.decoder_char_index[self.GO]] = 1
outputs, weights = [], []
for t in range(self.max_decoder_sequence_length):
    if teacher_enforce and not inference:
        x = decoder_input[t:t + 1]
    out, hidden = self.decoder(x, hidden, henc_ts=henc_ts)
    outputs.append(out)
    if self.attention:
        weights.append(self.decoder.attention_weights[0].detach())
        self.attention_weights = torch.stack(weights)
    if inference and self.decoder_index_char[out.argmax().item()] == self.EOS:
        break
    x = torch.zeros_like(out).scatter_(2, out.argmax(dim=2, keepdim=True), 1.0)
return torch.cat(outputs, dim=0)"""),
    Variant("seq2seq", "filled in", body="""
henc_ts, henc_final = self.encoder(encoder_input)
if not inference and teacher_enforce:
    output = self.decoder(decoder_input, henc_final, henc_ts)[0]
    self.attention_weights = self.decoder.attention_weights
    return output
T, B, V = self.max_decoder_sequence_length, encoder_input.shape[1], self.decoder_vocabulary_size
output = torch.zeros(T, B, V, device=self.device)
weights = torch.zeros(T, B, len(encoder_input), device=self.device)
hdec, last = henc_final, [self.decoder_char_index[self.GO]] * B
for t in range(T):
    x = torch.zeros(1, B, V, device=self.device)
    for b in range(B):
        x[0, b, last[b]] = 1
    out, hdec = self.decoder(x, hdec, henc_ts)
    output[t] = out[0]
    if self.attention:
        weights[t] = self.decoder.attention_weights[0]
    last = [int(torch.argmax(out[0, b])) for b in range(B)]
    if inference and last[0] == 0:
        output, weights = output[:t + 1], weights[:t + 1]
        break
self.attention_weights = weights
return output"""),
    Variant("seq2seq", "the whole prefix each time", body="""
henc_ts, henc_final = self.encoder(encoder_input)
if teacher_enforce and not inference:
    output, _ = self.decoder(decoder_input, henc_ts[-1:], henc_ts)
    self.attention_weights = self.decoder.attention_weights
    return output
prefix = torch.eye(self.decoder_vocabulary_size, device=self.device)[self.decoder_char_index[self.GO]]\
.expand(1, encoder_input.shape[1], -1)
while True:
    output, _ = self.decoder(prefix, henc_final, henc_ts)
    self.attention_weights = self.decoder.attention_weights
    best = output[-1:].argmax(-1)
    if len(output) == self.max_decoder_sequence_length or (inference and best.item() == 0):
        return output
    prefix = torch.cat([prefix, F.one_hot(best, self.decoder_vocabulary_size).float()])"""),
    Variant("seq2seq", "without the row of EOS", body="""
henc_ts, henc_final = self.encoder(encoder_input)
self.attention_weights = None
if teacher_enforce and not inference and decoder_input is not None:
    output, _ = self.decoder(decoder_input, henc_final, henc_ts)
    self.attention_weights = self.decoder.attention_weights
    return output
one_hot = torch.eye(self.decoder_vocabulary_size, device=self.device)
letter = torch.tensor([self.decoder_char_index[self.GO]] * encoder_input.size(1), device=self.device)
results = torch.empty(0, encoder_input.size(1), self.decoder_vocabulary_size, device=self.device)
state = henc_final
while len(results) < self.max_decoder_sequence_length:
    prediction, state = self.decoder(one_hot[letter].unsqueeze(0), state, henc_ts)
    letter = prediction[0].max(dim=1)[1]
    if inference and letter[0] == self.decoder_char_index[self.EOS]:
        break
    results = torch.cat((results, prediction))
    if self.attention:
        new = self.decoder.attention_weights
        self.attention_weights = new if self.attention_weights is None else torch.cat((self.attention_weights, new))
return results"""),

    Variant("concat", "layer by layer", replace=(PREDICT, """x = torch.cat((hdec_ts, context_vectors), 2)
        x = self.dense_tanh(x)
        x = nn.Tanh()(x)
        x = self.dense_final(x)
        return nn.LogSoftmax(dim=2)(x)""")),
    Variant("concat", "two halves of the matrix", replace=(PREDICT, """H = self.hidden_size
        left, right = self.dense_tanh.weight[:, :H], self.dense_tanh.weight[:, H:]
        hidden = torch.tanh(hdec_ts @ left.T + context_vectors @ right.T + self.dense_tanh.bias)
        scores = self.dense_final(hidden)
        return scores - scores.logsumexp(-1, keepdim=True)""")),
    Variant("concat", "one timestep at a time", replace=(PREDICT, """outputs = []
        for state, context in zip(hdec_ts, context_vectors):
            hidden = self.dense_tanh(torch.hstack([state, context])).tanh()
            outputs.append(F.log_softmax(self.dense_final(hidden), dim=1))
        return torch.stack(outputs)""")),
    Variant("concat", "both written into an empty tensor", replace=[
        ("        self.dense_tanh = nn.Linear(2 * hidden_size, 64)\n", ""),
        ("self.dense_final = nn.Linear(64, output_size)\n", """self.dense_final = nn.Linear(64, output_size)
        self.dense_tanh = nn.Linear(hidden_size + hidden_size, 64)
"""),
        (PREDICT, """T, B, H = hdec_ts.shape
        both = torch.empty(T, B, 2 * H, device=hdec_ts.device)
        both[..., :H] = hdec_ts
        both[..., H:] = context_vectors
        return nn.LogSoftmax(dim=-1)(self.dense_final(torch.tanh(self.dense_tanh(both))))""")]),
]

VARIANTS = [*SCORES_RIGHT, *WEIGHTS_RIGHT, *CONTEXT_RIGHT, *STEPS_RIGHT, *BATCHED_RIGHT, *MASKED_RIGHT, *PLAIN_RIGHT,
            *LEARNED_RIGHT, *NET_RIGHT, *BAG_RIGHT, *DECODER_RIGHT, *IN_THE_DECODER_RIGHT]
