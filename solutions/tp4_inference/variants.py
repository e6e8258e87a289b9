"""Right answers of session 4 that look different from the solution."""

from autograder.authoring import Variant

DECODER = [
    Variant("decoder", "states unpacked", body='''
h, c = states
output, (h_new, c_new) = self.lstm(self.embedding(decoder_tokens), (h, c))
return self.dense_final(output), (h_new, c_new)'''),
    Variant("decoder", "one step at a time", body='''
rows = []
for t in range(decoder_tokens.shape[0]):
    output, states = self.lstm(self.embedding(decoder_tokens[t:t + 1]), states)
    rows.append(self.dense_final(output[0]))
return torch.stack(rows, dim=0), states'''),
    Variant("decoder", "the linear layer as an einsum", body='''
hdec_ts, states = self.lstm(self.embedding(decoder_tokens), tuple(states))
return torch.einsum("tbh,vh->tbv", hdec_ts, self.dense_final.weight) + self.dense_final.bias, states'''),
    Variant("decoder", "time and batch merged for the linear layer", body='''
T, B = decoder_tokens.shape
hdec_ts, states = self.lstm(self.embedding(decoder_tokens), states)
flat = self.dense_final(hdec_ts.reshape(T * B, -1))
return flat.view(T, B, -1), states'''),
]

TRAINING_PASS = [
    Variant("training-pass", "classes on the second axis", body='''
T, B = target_tokens.shape
henc_ts, (h, c) = model.encoder(encoder_tokens)
decoder_tokens = torch.roll(target_tokens, 1, dims=0)
decoder_tokens[0] = model.GO
logits, states = model.decoder(decoder_tokens, (h, c), henc_ts)
return logits, F.cross_entropy(logits.permute(1, 2, 0), target_tokens.T)'''),
    Variant("training-pass", "one step at a time", body='''
henc_ts, states = model.encoder(encoder_tokens)
reads, rows, losses = torch.full_like(target_tokens[0], model.GO), [], []
for target in target_tokens:
    row, states = model.decoder(reads.unsqueeze(0), states, henc_ts)
    rows.append(row[0])
    losses.append(nn.CrossEntropyLoss()(row[0], target))
    reads = target
return torch.stack(rows), torch.stack(losses).mean()'''),
    Variant("training-pass", "log-softmax and gather", body='''
henc_ts, encoder_states = model.encoder(encoder_tokens)
go = torch.tensor([[model.GO] * target_tokens.shape[1]], device=target_tokens.device)
logits, _ = model.decoder(torch.vstack([go, target_tokens[:-1]]), encoder_states, henc_ts)
chosen = logits.log_softmax(-1).gather(-1, target_tokens.unsqueeze(-1))
return logits, -chosen.mean()'''),
    Variant("training-pass", "negative log-likelihood, a padded shift", body='''
henc_ts, encoder_states = model.encoder(encoder_tokens)
shifted = F.pad(target_tokens, (0, 0, 1, 0), value=model.GO)[:-1]
logits = model.decoder(shifted, encoder_states, henc_ts)[0]
loss = nn.NLLLoss()(torch.log_softmax(logits, dim=2).reshape(-1, logits.shape[-1]), target_tokens.reshape(-1))
return logits, loss'''),
]

OPTIMIZER = [
    Variant("optimizer", "the parameters of both parts", body='''
weights = [*model.encoder.parameters(), *model.decoder.parameters()]
return torch.optim.Adam(weights, learning_rate, (0.9, 0.98))'''),
    Variant("optimizer", "two groups", body='''
groups = [{"params": part.parameters(), "lr": learning_rate} for part in (model.decoder, model.encoder)]
return torch.optim.Adam(groups, betas=(0.9, 0.98), fused=True)'''),
    Variant("optimizer", "a group added later", body='''
made = torch.optim.Adam(model.encoder.parameters(), lr=learning_rate, betas=(0.9, 0.98))
made.add_param_group({"params": list(model.decoder.parameters())})
return made'''),
    Variant("optimizer", "named weights, and settings as a dictionary", body='''
settings = dict(lr=learning_rate, betas=(0.9, 0.98), foreach=False)
return torch.optim.Adam([weight for name, weight in model.named_parameters() if weight.requires_grad], **settings)'''),
]

INFERENCE_PROGRAMS = [
    Variant("inference-programs", "decorators", source='''@torch.no_grad()
def encode(model, encoder_tokens):
    henc_ts, (h, c) = model.encoder(encoder_tokens)
    return henc_ts, (h, c)

@torch.no_grad()
def decoder_step(model, tokens, states, henc_ts):
    logits, new_states = model.decoder(tokens.unsqueeze(0), states, henc_ts)
    return F.log_softmax(logits.squeeze(0), dim=1), new_states'''),
    Variant("inference-programs", "inference mode", source='''@torch.inference_mode()
def encode(model, encoder_tokens):
    return model.encoder(encoder_tokens)

@torch.inference_mode()
def decoder_step(model, tokens, states, henc_ts):
    logits, states = model.decoder(tokens.view(1, -1), states, henc_ts)
    return torch.log_softmax(logits, dim=-1)[-1], states'''),
    Variant("inference-programs", "minus the log of the sum", source='''def encode(model, encoder_tokens):
    with torch.no_grad():
        henc_ts, encoder_states = model.encoder(encoder_tokens)
    return henc_ts, encoder_states

def decoder_step(model, tokens, states, henc_ts):
    with torch.no_grad():
        output = model.decoder(tokens.reshape(1, len(tokens)), states, henc_ts)
    scores = output[0][0]
    return scores - scores.logsumexp(dim=1, keepdim=True), output[1]'''),
    Variant("inference-programs", "detached afterwards", source='''def encode(model, encoder_tokens):
    henc_ts, (h, c) = model.encoder(encoder_tokens)
    return henc_ts.detach(), (h.detach(), c.detach())

def decoder_step(model, tokens, states, henc_ts):
    logits, (h, c) = model.decoder(torch.stack([tokens]), states, henc_ts)
    return logits[0].log_softmax(-1).detach(), (h.detach(), c.detach())'''),
]

DECODE_SEQUENCE = [
    Variant("decode-sequence", "a for loop with a break", body='''
henc_ts, states = encode(model, encoder_tokens)
B = encoder_tokens.shape[1]
now = torch.tensor([model.GO] * B, device=encoder_tokens.device)
done = torch.zeros(B, dtype=torch.bool, device=encoder_tokens.device)
steps = []
for _ in range(model.max_length):
    scores, states = decoder_step(model, now, states, henc_ts)
    best = scores.max(dim=1).indices
    now = torch.where(done, torch.tensor(model.EOS, device=best.device), best)
    steps.append(now[None])
    done |= now == model.EOS
    if done.all():
        break
return torch.cat(steps, dim=0)'''),
    Variant("decode-sequence", "the decoder called directly", body='''
with torch.no_grad():
    henc_ts, states = model.encoder(encoder_tokens)
    tokens = torch.full((1, encoder_tokens.size(1)), model.GO, device=encoder_tokens.device)
    answer = tokens[:0]
    while len(answer) < model.max_length and not (answer == model.EOS).any(dim=0).all():
        logits, states = model.decoder(tokens, states, henc_ts)
        tokens = logits.argmax(dim=2)
        tokens[0, (answer == model.EOS).any(dim=0)] = model.EOS
        answer = torch.cat([answer, tokens])
return answer'''),
    Variant("decode-sequence", "one question after another", body='''
answers = []
for b in range(encoder_tokens.shape[1]):
    henc_ts, states = encode(model, encoder_tokens[:, b:b + 1])
    token, answer = model.GO, []
    while len(answer) < model.max_length and token != model.EOS:
        row, states = decoder_step(model, torch.tensor([token], device=encoder_tokens.device), states, henc_ts)
        token = int(row[0].argmax())
        answer.append(token)
    answers.append(answer)
T = max(len(answer) for answer in answers)
filled = [answer + [model.EOS] * (T - len(answer)) for answer in answers]
return torch.tensor(filled, device=encoder_tokens.device).T'''),
    Variant("decode-sequence", "a result prepared in advance", body='''
henc_ts, states = encode(model, encoder_tokens)
B = encoder_tokens.shape[1]
result = torch.full((model.max_length, B), model.EOS, dtype=torch.long, device=encoder_tokens.device)
running = torch.ones(B, dtype=torch.bool, device=encoder_tokens.device)
tokens = torch.full_like(encoder_tokens[0], model.GO)
for t in range(model.max_length):
    log_p, states = decoder_step(model, tokens, states, henc_ts)
    tokens = log_p.argmax(-1)
    result[t, running] = tokens[running]
    running = running & (tokens != model.EOS)
    if not running.any():
        return result[:t + 1]
return result'''),
]

ACCURACY = [
    Variant("accuracy-by-step", "loops", body='''
T, B = target_tokens.shape
shares = []
for t in range(T):
    right = running = 0
    for b in range(B):
        if EOS not in target_tokens[:t, b].tolist():
            running += 1
            right += int(predicted_tokens[t, b] == target_tokens[t, b])
    shares.append(right / running)
return torch.tensor(shares)'''),
    Variant("accuracy-by-step", "ends seen before", body='''
ended = (target_tokens == EOS).long()
before = ended.cumsum(0) - ended
weights = (before == 0).float()
return ((predicted_tokens == target_tokens).float() * weights).sum(1) / weights.sum(1)'''),
    Variant("accuracy-by-step", "by length", body='''
T = target_tokens.shape[0]
lengths = (target_tokens == EOS).int().argmax(dim=0) + 1
running = torch.arange(T, device=target_tokens.device)[:, None] < lengths[None, :]
agree = predicted_tokens.eq(target_tokens)
return torch.stack([agree[t][running[t]].float().mean() for t in range(T)])'''),
    Variant("accuracy-by-step", "shifted by one", body='''
is_end = target_tokens == EOS
running = torch.cat([torch.ones_like(is_end[:1]), ~is_end[:-1]])
hits = torch.where(running, predicted_tokens == target_tokens, False)
return hits.float().sum(dim=1).div(running.float().sum(dim=1))'''),
]

SCHEDULED_SAMPLING = [
    Variant("scheduled-sampling", "a list of tokens for each sequence", body='''
T, B = target_tokens.shape
henc_ts, (h, c) = model.encoder(encoder_tokens)
rows = []
for t in range(T):
    if t == 0:
        reads = [model.GO] * B
    else:
        said = rows[-1].argmax(dim=1)
        reads = [int(target_tokens[t - 1, b]) if forced[t, b] else int(said[b]) for b in range(B)]
    row, (h, c) = model.decoder(torch.tensor([reads], device=target_tokens.device), (h, c), henc_ts)
    rows.append(row.squeeze(0))
return torch.stack(rows)'''),
    Variant("scheduled-sampling", "decisions as zeros and ones", body='''
henc_ts, states = model.encoder(encoder_tokens)
tokens = torch.full_like(target_tokens[:1], model.GO)
outputs = torch.empty(0, device=target_tokens.device)
for t, target in enumerate(target_tokens):
    row, states = model.decoder(tokens, states, henc_ts)
    outputs = torch.cat([outputs, row])
    if t + 1 < len(target_tokens):
        right = forced[t + 1].long()
        tokens = (right * target + (1 - right) * row[0].argmax(-1)).unsqueeze(0)
return outputs'''),
    Variant("scheduled-sampling", "first what is read, then one call", body='''
henc_ts, start = model.encoder(encoder_tokens)
reads = [torch.full_like(target_tokens[0], model.GO)]
with torch.no_grad():
    states = start
    for t in range(1, len(target_tokens)):
        said, states = model.decoder(reads[-1][None], states, henc_ts)
        choice = said[0].argmax(-1)
        choice[forced[t]] = target_tokens[t - 1][forced[t]]
        reads.append(choice)
return model.decoder(torch.stack(reads), start, henc_ts)[0]'''),
    Variant("scheduled-sampling", "the teacher's row prepared", body='''
teacher = torch.cat([torch.full_like(target_tokens[:1], model.GO), target_tokens[:-1]])
henc_ts, states = model.encoder(encoder_tokens)
result = []
for t in range(teacher.size(0)):
    use_teacher = forced[t] if t else torch.ones_like(forced[0])
    own = result[-1].detach().max(-1).indices if t else teacher[0]
    step, states = model.decoder(own.masked_scatter(use_teacher, teacher[t][use_teacher])[None], states, henc_ts)
    result.append(step[0])
return torch.stack(result, dim=0)'''),
]

BEAM_STEP = [
    Variant("beam-step", "loops and a sort", body='''
candidates = []
for k in range(len(scores)):
    if finished[k]:
        candidates.append((scores[k].item(), k, EOS))
        continue
    for v in range(log_probabilities.shape[1]):
        candidates.append((scores[k].item() + log_probabilities[k, v].item(), k, v))
candidates = sorted(candidates, reverse=True)[:beam_width]
sums, parents, tokens = map(torch.tensor, zip(*candidates))
return tokens, parents, sums'''),
    Variant("beam-step", "a choice instead of a mask", body='''
K, V = log_probabilities.shape
still = torch.full((V,), float("-inf"), device=scores.device)
still[EOS] = 0
table = scores.unsqueeze(1) + torch.where(finished.unsqueeze(1), still, log_probabilities)
values, places = table.reshape(-1).sort(descending=True)
n = min(beam_width, K * V)
return places[:n].remainder(V), torch.div(places[:n], V, rounding_mode="floor"), values[:n]'''),
    Variant("beam-step", "unravelled", body='''
log_p = log_probabilities.clone()
log_p[finished, :] = -1e30
log_p[finished, EOS] = 0
total = log_p + scores.view(-1, 1)
top = torch.topk(total.view(-1), k=min(beam_width, total.numel()))
parents, tokens = torch.unravel_index(top.indices, total.shape)
return tokens, parents, top.values'''),
    Variant("beam-step", "best of each row first", body='''
V = log_probabilities.shape[1]
table = log_probabilities.clone()
for k in finished.nonzero().flatten().tolist():
    table[k] = -torch.inf
    table[k, EOS] = 0.0
values, tokens = table.topk(min(beam_width, V), dim=1)
values = values + scores[:, None]
parents = torch.arange(len(scores), device=scores.device)[:, None].expand_as(tokens)
order = values.flatten().argsort(descending=True)[:beam_width]
return tokens.flatten()[order], parents.flatten()[order], values.flatten()[order]'''),
]

BEAM_SEARCH = [
    Variant("beam-search", "back-pointers followed at the end", body='''
henc_ts, states = encode(model, encoder_tokens)
device = encoder_tokens.device
tokens, scores = torch.tensor([model.GO], device=device), torch.zeros(1, device=device)
finished, history = torch.tensor([False], device=device), []
for _ in range(model.max_length):
    n = len(tokens)
    log_p, states = decoder_step(model, tokens, states, henc_ts.repeat(1, n, 1))
    step = beam_step(log_p, scores, finished, beam_width, model.EOS)
    history.append(step)
    tokens, parents, scores = step
    states = tuple(state.index_select(1, parents) for state in states)
    finished = finished.index_select(0, parents)
    finished = finished.logical_or(tokens == model.EOS)
    if bool(finished.all()):
        break
columns = []
for row in range(len(tokens)):
    path, at = [], row
    for step_tokens, step_parents, _ in reversed(history):
        path.append(int(step_tokens[at]))
        at = int(step_parents[at])
    columns.append(path[::-1])
lengths = [column.index(model.EOS) + 1 if model.EOS in column else len(column) for column in columns]
final = [float(score) / length ** alpha for score, length in zip(scores, lengths)]
order = sorted(range(len(final)), key=lambda row: final[row], reverse=True)
return (torch.tensor([columns[row] for row in order], device=device).T,
        torch.tensor([final[row] for row in order], device=device), history)'''),
    Variant("beam-search", "finished ones found in the characters", body='''
henc_ts, states = encode(model, encoder_tokens)
said = torch.full((1, 1), model.GO, device=encoder_tokens.device)
scores, history = torch.zeros(1, device=encoder_tokens.device), []
while len(history) < model.max_length:
    finished = (said == model.EOS).any(dim=0)
    if finished.all():
        break
    log_p, (h, c) = decoder_step(model, said[-1], states, \
henc_ts.expand(henc_ts.shape[0], said.shape[1], henc_ts.shape[2]))
    tokens, parents, scores = beam_step(log_p, scores, finished, beam_width, model.EOS)
    history += [(tokens, parents, scores)]
    said = torch.vstack([said[:, parents], tokens])
    states = (h[:, parents, :], c[:, parents, :])
said = said[1:]
lengths = ((said == model.EOS).cumsum(dim=0) <= 1).sum(dim=0)
scores, order = (scores / lengths.float().pow(alpha)).sort(descending=True)
return said[:, order], scores, history'''),
    Variant("beam-search", "henc_ts left to broadcasting, the decoder called directly", body='''
with torch.no_grad():
    henc_ts, states = model.encoder(encoder_tokens)
tokens = torch.tensor([model.GO], device=encoder_tokens.device)
scores = torch.zeros(1, device=encoder_tokens.device)
finished = torch.zeros(1, dtype=torch.bool, device=encoder_tokens.device)
rows, history = [], []
while len(rows) < model.max_length and not all(finished.tolist()):
    with torch.no_grad():
        logits, states = model.decoder(tokens.unsqueeze(0), states, henc_ts)
    tokens, parents, scores = beam_step(logits[0].log_softmax(-1), scores, finished, beam_width, model.EOS)
    states = states[0][:, parents], states[1][:, parents]
    rows = [row[parents] for row in rows] + [tokens]
    finished = finished[parents]
    finished[tokens == model.EOS] = True
    history.append((tokens, parents, scores))
hypotheses = torch.stack(rows)
lengths = torch.tensor([len(column) if model.EOS not in column else column.index(model.EOS) + 1 \
for column in hypotheses.T.tolist()],
                       device=scores.device)
normalised = scores / lengths ** alpha
best = torch.argsort(-normalised)
return hypotheses[:, best], normalised[best], history'''),
    Variant("beam-search", "a list of hypotheses", body='''
henc_ts, start = encode(model, encoder_tokens)
device = encoder_tokens.device
beams, history = [([model.GO], start)], []
scores = torch.zeros(1, device=device)
for _ in range(model.max_length):
    finished = torch.tensor([model.EOS in said for said, _ in beams], device=device)
    if finished.all():
        break
    rows, after = [], []
    for said, states in beams:
        row, new = decoder_step(model, torch.tensor(said[-1:], device=device), states, henc_ts)
        rows.append(row[0])
        after.append(new)
    tokens, parents, scores = beam_step(torch.stack(rows), scores, finished, beam_width, model.EOS)
    beams = [(beams[p][0] + [v], after[p]) for v, p in zip(tokens.tolist(), parents.tolist())]
    history.append((tokens, parents, scores))
lengths = [(said + [model.EOS]).index(model.EOS) - 1 + (model.EOS in said) for said, _ in beams]
normalised = torch.stack([score / length ** alpha for score, length in zip(scores, lengths)])
order = normalised.argsort(descending=True).tolist()
return torch.tensor([beams[k][0][1:] for k in order], device=device).T, normalised[order], history'''),
]

WIDER_LOSES = [
    Variant("wider-loses", "twelve parts are always enough", body='''
best, second, third = first
follows = {"GO": {"it": best, "we": second, "yes": third}, "yes": {"EOS": 1}}
follows["it"] = {f"rains {i}": 1 / 12 for i in range(12)}
follows["we"] = {"hope": 0.5, "fear": 0.5}
follows["hope"] = follows["fear"] = {f"so {i}": 0.01 for i in range(100)}
for i in range(100):
    follows[f"so {i}"] = {"EOS": 1}
    if i < 12:
        follows[f"rains {i}"] = {"EOS": 1}
return follows'''),
    Variant("wider-loses", "the greedy word a little more probable than the others", body='''
q = 0.9 * first[1] / 2 / first[0]  # of the word that greedy decoding goes on with
others = 2 + int((1 - q) / q)
many = {f"m{i}": 0.02 for i in range(50)}
follows = {"GO": dict(zip(("x", "y", "z"), first)), "x": {"good": q}, "y": {"one": 0.5, "two": 0.5},
           "z": {"EOS": 1.0}, "good": {"EOS": 1.0}, "one": dict(many), "two": dict(many)}
for i in range(others):
    follows["x"][f"o{i}"] = (1 - q) / others
    follows[f"o{i}"] = {"EOS": 1.0}
follows.update({word: {"EOS": 1.0} for word in many})
return follows'''),
    Variant("wider-loses", "lost one step later", body='''
best, second, third = first
parts = 2
while best / parts >= second / 2:
    parts += 1
many = {str(i): 1 / 60 for i in range(60)}
return {"GO": {"c": third, "b": second, "a": best}, "a": {f"g{i}": 1 / parts for i in range(parts)},
        "b": {"d": 0.5, "e": 0.5}, "d": {"f": 1.0}, "e": {"f": 1.0}, "f": many, "c": {"0": 1.0},
        **{f"g{i}": {"0": 1.0} for i in range(parts)}, **{word: {"EOS": 1.0} for word in many}}'''),
    Variant("wider-loses", "only what is needed, by a helper", body='''
def even(words):
    return dict.fromkeys(words, 1 / len(words))

words = iter(range(10_000))
good = [f"w{next(words)}" for _ in range(math.floor(2 * first[0] / first[1]) + 1)]
poor = [f"w{next(words)}" for _ in range(40)]
rows = {"GO": dict(zip("abc", first)), "a": even(good), "b": even(["p", "q"]), "p": even(poor), "q": even(poor)}
return rows | dict.fromkeys([*good, *poor, "c"], {"EOS": 1.0})'''),
]

VARIANTS = [*DECODER, *TRAINING_PASS, *OPTIMIZER, *INFERENCE_PROGRAMS, *DECODE_SEQUENCE, *ACCURACY,
            *SCHEDULED_SAMPLING, *BEAM_STEP, *BEAM_SEARCH, *WIDER_LOSES]
