"""Right answers of session 7 that look different from the solution."""

from autograder.authoring import Variant

from .faults import CANDIDATES, READ

CHOSEN = 'last = int((h @ weights["fc_w"].T + weights["fc_b"]).argmax())'
SCORES = '''scores = torch.einsum("bsh,bh->bs", henc_ts, self.query(hdec))
        scores = scores / math.sqrt(hdec.shape[-1])'''
SOFTMAX = "attention_weights = scores.masked_fill(~mask, -math.inf).softmax(dim=-1)"
SORTED = "return sorted(complete, key=lambda one: -one[1])"

VARIANTS = [
    Variant("split", "with a dictionary of words", source='''def split_by_word(pairs, share, seed):
    by_word = {}
    for word, sounds in pairs:
        by_word.setdefault(word, []).append(sounds)
    words = sorted(by_word)
    random.Random(seed).shuffle(words)
    n = round(len(words) * share)
    chosen = dict.fromkeys(words[:n])
    train, test = [], []
    for pair in pairs:
        (test if pair[0] in chosen else train).append(pair)
    return train, test

def shared(train, test):
    hits = 0
    for word, _ in test:
        hits += any(word == other for other, _ in train)
    return hits / len(test)'''),
    Variant("split", "numbers of words drawn", source='''def split_by_word(pairs, share, seed):
    words = sorted(set(pair[0] for pair in pairs))
    order = list(range(len(words)))
    random.Random(seed).shuffle(order)
    drawn = {words[i] for i in order[:int(round(share * len(order)))]}
    sides = [], []
    for word, sounds in pairs:
        sides[word in drawn].append((word, sounds))
    return sides

def shared(train, test):
    words = dict(train).keys()
    return len([1 for word, _ in test if word in words]) / len(test)'''),
    Variant("split", "the rest of the words", source='''def split_by_word(pairs, share, seed):
    words = sorted(dict(pairs))
    random.Random(seed).shuffle(words)
    n = round(share * len(words))
    kept = words[n:]
    train = [pair for pair in pairs if pair[0] in kept]
    return train, [pair for pair in pairs if pair[0] not in kept]

def shared(train, test):
    both = {word for word, _ in train} & {word for word, _ in test}
    return sum(1 for word, _ in test if word in both) / len(test)'''),
    Variant("split", "filters, and the mean of a tensor", source='''def split_by_word(pairs, share, seed):
    words = sorted({word for word, _ in pairs})
    random.Random(seed).shuffle(words)
    side = {word: i < round(share * len(words)) for i, word in enumerate(words)}
    train = list(filter(lambda pair: not side[pair[0]], pairs))
    test = list(filter(lambda pair: side[pair[0]], pairs))
    return [train, test]

def shared(train, test):
    known = set(list(zip(*train))[0])
    return torch.tensor([float(word in known) for word, _ in test]).mean().item()'''),
    Variant("edit-distance", "recursive", body='''
known = {}
def between(i, j):
    if i == 0 or j == 0:
        return i + j
    if (i, j) not in known:
        known[i, j] = min(between(i - 1, j) + 1, between(i, j - 1) + 1,
                          between(i - 1, j - 1) + (a[i - 1] != b[j - 1]))
    return known[i, j]
return between(len(a), len(b))'''),
    Variant("edit-distance", "the whole table", body='''
table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
for i in range(len(a) + 1):
    for j in range(len(b) + 1):
        if i == 0:
            table[i][j] = j
        elif j == 0:
            table[i][j] = i
        elif a[i - 1] == b[j - 1]:
            table[i][j] = table[i - 1][j - 1]
        else:
            table[i][j] = 1 + min(table[i - 1][j], table[i][j - 1], table[i - 1][j - 1])
return table[-1][-1]'''),
    Variant("edit-distance", "a tensor for a table", body='''
table = torch.zeros(len(a) + 1, len(b) + 1, dtype=torch.long)
table[:, 0] = torch.arange(len(a) + 1)
table[0] = torch.arange(len(b) + 1)
for i in range(1, len(a) + 1):
    for j in range(1, len(b) + 1):
        replaced = table[i - 1, j - 1] + int(a[i - 1] != b[j - 1])
        table[i, j] = min(table[i - 1, j] + 1, table[i, j - 1] + 1, replaced)
return int(table[-1, -1])'''),
    Variant("edit-distance", "what is common at both ends left out", body='''
a, b = list(a), list(b)
while a and b and a[0] == b[0]:
    a, b = a[1:], b[1:]
while a and b and a[-1] == b[-1]:
    a, b = a[:-1], b[:-1]
if not a or not b:
    return max(len(a), len(b))
before = list(range(len(b) + 1))
for i in range(len(a)):
    now = [i + 1] + [0] * len(b)
    for j in range(len(b)):
        now[j + 1] = min(before[j + 1] + 1, now[j] + 1, before[j] + (0 if a[i] == b[j] else 1))
    before = now
return before[-1]'''),
    Variant("error-rates", "with a loop", body='''
wrong = errors = length = 0
for said, listed in zip(found, references):
    distances = [edit_distance(said, right) for right in listed]
    smallest = min(distances)
    errors += smallest
    length += max(len(right) for right, d in zip(listed, distances) if d == smallest)
    wrong += said not in [tuple(right) for right in listed]
return wrong / len(found), errors / length'''),
    Variant("error-rates", "sorted references", body='''
words = []
for said, listed in zip(found, references):
    ranked = sorted(listed, key=lambda right: (edit_distance(said, right), -len(right)))
    words.append((edit_distance(said, ranked[0]), len(ranked[0])))
wer = len([d for d, _ in words if d != 0]) / len(words)
per = sum(d for d, _ in words) / sum(n for _, n in words)
return wer, per'''),
    Variant("error-rates", "tensors", body='''
distances, lengths = [], []
for said, listed in zip(found, references):
    all_of = torch.tensor([edit_distance(said, right) for right in listed])
    sizes = torch.tensor([len(right) for right in listed])
    distances.append(all_of.min())
    lengths.append(sizes[all_of == all_of.min()].max())
distances, lengths = torch.stack(distances), torch.stack(lengths)
return (distances > 0).double().mean().item(), distances.sum().item() / lengths.sum().item()'''),
    Variant("error-rates", "longest references first", body='''
errors = total = right_words = 0
for said, listed in zip(found, references):
    best = None
    for right in sorted(listed, key=len, reverse=True):
        d = edit_distance(said, right)
        if best is None or d < best[0]:
            best = d, len(right)
    errors += best[0]
    total += best[1]
    right_words += best[0] == 0
return 1 - right_words / len(found), errors / total'''),
    Variant("em", "with loops", body='''
weights = torch.zeros(len(letters), sounds.shape[1], letters.shape[1], device=table.device)
counts = torch.zeros_like(table)
for b, (word, said) in enumerate(zip(letters.tolist(), sounds.tolist())):
    for t, sound in enumerate(said):
        if sound == PAD:
            continue
        total = sum(float(table[letter, sound]) for letter in word if letter != PAD)
        for s, letter in enumerate(word):
            if letter != PAD:
                weights[b, t, s] = table[letter, sound] / total
                counts[letter, sound] += weights[b, t, s]
new = table.clone()
for letter, row in enumerate(counts):
    if row.sum() > 0:
        new[letter] = row / row.sum()
return new, weights'''),
    Variant("em", "one-hot vectors", body='''
L, V = table.shape
of_letters = F.one_hot(letters, L).to(table.dtype) * (letters != PAD)[..., None]
of_sounds = F.one_hot(sounds, V).to(table.dtype) * (sounds != PAD)[..., None]
weights = torch.einsum("btv,lv,bsl->bts", of_sounds, table, of_letters)
total = weights.sum(2, keepdim=True)
weights = torch.where(total > 0, weights / torch.where(total > 0, total, 1), 0)
counts = torch.einsum("bts,bsl,btv->lv", weights, of_letters, of_sounds)
sums = counts.sum(1)
new = table.clone()
new[sums > 0] = counts[sums > 0] / sums[sums > 0, None]
return new, weights'''),
    Variant("em", "word by word", body='''
weights = torch.zeros(*sounds.shape, letters.shape[1], dtype=table.dtype, device=table.device)
counts = torch.zeros_like(table)
for b in range(len(letters)):
    word, said = letters[b][letters[b] != PAD], sounds[b][sounds[b] != PAD]
    part = table[word][:, said].T
    part = part / part.sum(1, keepdim=True)
    weights[b, :len(said), :len(word)] = part
    for t in range(len(said)):
        counts[:, said[t]] += torch.zeros_like(counts[:, 0]).index_add(0, word, part[t])
sums = counts.sum(1, keepdim=True)
return torch.where(sums > 0, counts / sums.clamp(min=1e-12), table), weights'''),
    Variant("em", "flat numbers of the table's entries", body='''
L, V = table.shape
entries = letters.unsqueeze(1) * V + sounds.unsqueeze(2)
weights = table.reshape(-1)[entries]
weights = weights.masked_fill((letters == PAD).unsqueeze(1), 0).masked_fill((sounds == PAD).unsqueeze(2), 0)
total = weights.sum(-1, keepdim=True)
weights = weights / (total + (total == 0))
counts = torch.zeros(L * V, dtype=table.dtype, device=table.device)
counts = counts.scatter_add(0, entries.reshape(-1), weights.reshape(-1)).view(L, V)
total = counts.sum(-1, keepdim=True)
return torch.where(total == 0, table, counts / (total + (total == 0))), weights'''),
    Variant("best-path", "the whole table", body='''
T, S = scores.shape
scores = scores.tolist()
best = [scores[0]]
for t in range(1, T):
    best.append([scores[t][s] + max(best[-1][:s + 1]) for s in range(S)])
path, last = [], S - 1
for row in reversed(best):
    last = max(range(last + 1), key=lambda s: row[s])
    path.insert(0, last)
return path'''),
    Variant("best-path", "where each sum came from", body='''
T, S = scores.shape
best = torch.full((T, S), -math.inf)
came = torch.zeros(T, S, dtype=torch.long)
best[0] = scores[0]
for t in range(1, T):
    for s in range(S):
        before = best[t - 1, :s + 1]
        came[t, s] = before.argmax()
        best[t, s] = before.max() + scores[t, s]
s = best[-1].argmax().item()
path = [s]
for t in range(T - 1, 0, -1):
    s = came[t, s].item()
    path = [s] + path
return path'''),
    Variant("best-path", "recursive", body='''
rows, known = scores.tolist(), {}
def best(t, s):
    """The best path of the sounds 0 … t that ends at letter s or before: its sum, and the path."""
    if (t, s) not in known:
        before = best(t - 1, s) if t else (0.0, [])
        ways = [(before[0] + rows[t][s], before[1] + [s])]
        if s > 0:
            ways.append(best(t, s - 1))
        known[t, s] = max(ways, key=lambda way: way[0])
    return known[t, s]
return best(len(rows) - 1, len(rows[0]) - 1)[1]'''),
    Variant("best-path", "from the end", body='''
T, S = scores.shape
rest, steps = scores[-1], []
for row in reversed(scores[:-1].unbind(0)):
    largest, where = rest.flip(0).cummax(0)
    steps.append((S - 1 - where).flip(0))
    rest = row + largest.flip(0)
path = [rest.argmax().item()]
for step in reversed(steps):
    path.append(step[path[-1]].item())
return path'''),
    Variant("other-network", "embedded at once", replace=[
        (READ, "for x_t in weights[\"enc_emb\"][torch.tensor(letters)]:"),
        ("weights[\"enc_emb\"][[letter]], h,", "x_t[None], h,")]),
    Variant("other-network", "a helper for both", source='''def stepped(weights, part, cell, i, h):
    names = ("w_ih", "w_hh", "b_ih", "b_hh")
    x_t = weights[part + "_emb"][i].unsqueeze(0)
    return cell(x_t, h, *[weights[part + "_" + name] for name in names])

def read_word(weights, letters, cell):
    h = weights["enc_w_hh"].new_zeros((1, weights["enc_w_hh"].size(1)))
    for i in letters:
        h = stepped(weights, "enc", cell, i, h)
    return h

def speak(weights, h, cell, start, end, timesteps):
    ids = [start]
    while len(ids) <= timesteps:
        h = stepped(weights, "dec", cell, ids[-1], h)
        logits = weights["fc_w"] @ h[0] + weights["fc_b"]
        ids.append(logits.argmax().item())
        if ids[-1] == end:
            return ids[1:-1]
    return ids[1:]'''),
    Variant("other-network", "everything written, then cut", source='''def read_word(weights, letters, cell):
    h = torch.zeros(1, len(weights["enc_b_hh"]) // 3, device=weights["enc_b_hh"].device)
    embedded = F.embedding(torch.tensor(letters, device=h.device), weights["enc_emb"])
    for t in range(len(letters)):
        h = cell(embedded[t:t + 1], h, weights["enc_w_ih"], weights["enc_w_hh"], weights["enc_b_ih"],
                 weights["enc_b_hh"])
    return h

def speak(weights, h, cell, start, end, timesteps):
    last, written = torch.tensor([start], device=h.device), []
    for _ in range(timesteps):
        h = cell(weights["dec_emb"][last], h, weights["dec_w_ih"], weights["dec_w_hh"], weights["dec_b_ih"],
                 weights["dec_b_hh"])
        last = F.linear(h, weights["fc_w"], weights["fc_b"]).softmax(-1).argmax(-1)
        written.append(int(last))
    return written[:written.index(end)] if end in written else written'''),
    Variant("other-network", "one-hot letters", replace=[
        ("weights[\"enc_emb\"][[letter]], h,",
         "F.one_hot(torch.tensor([letter], device=W_hh.device), len(weights[\"enc_emb\"])).float() "
         "@ weights[\"enc_emb\"], h,"),
        (CHOSEN, 'logits = torch.einsum("bh,vh->bv", h, weights["fc_w"]) + weights["fc_b"]\n'
                 "        last = logits[0].topk(1).indices.item()")]),
    Variant("step", "the function of a dropout", replace=(
        "combined = self.dropout(torch.tanh(self.combine(both)))",
        "combined = F.dropout(torch.tanh(self.combine(both)), self.dropout.p, self.training)")),
    Variant("step", "batched products", replace=[
        (SCORES, "scores = (henc_ts @ self.query(hdec)[:, :, None])[..., 0] * hdec.shape[1] ** -0.5"),
        (SOFTMAX, "attention_weights = F.softmax(scores + torch.zeros_like(scores).masked_fill(mask == 0, "
                  "float('-inf')), -1)"),
        ('torch.einsum("bs,bsh->bh", attention_weights, henc_ts)',
         "(attention_weights[:, None] @ henc_ts).squeeze(1)")]),
    Variant("step", "lengths instead of a mask", replace=[
        (SOFTMAX, "hidden = torch.arange(mask.shape[1], device=mask.device)[None] >= mask.sum(1)[:, None]\n"
                  "        attention_weights = F.softmax(scores.masked_fill(hidden, float(\"-inf\")), dim=1)"),
        ('torch.einsum("bs,bsh->bh", attention_weights, henc_ts)',
         "(attention_weights.unsqueeze(-1) * henc_ts).sum(dim=1)")]),
    Variant("step", "the query scaled", replace=[
        (SCORES, "query = self.query(hdec) / hdec.shape[-1] ** 0.5\n"
                 "        scores = torch.bmm(henc_ts, query.unsqueeze(-1)).squeeze(-1)"),
        (SOFTMAX, "attention_weights = torch.softmax(torch.where(mask, scores, -torch.inf), dim=1)")]),
    Variant("step", "torch's attention for the context", replace=[
        (SCORES, "query = self.query(hdec)\n"
                 "        scores = (query[:, None] * henc_ts).sum(-1) / math.sqrt(query.size(1))"),
        ('context = torch.einsum("bs,bsh->bh", attention_weights, henc_ts)',
         "context = F.scaled_dot_product_attention(query[:, None], henc_ts, henc_ts,\n"
         "                                                 attn_mask=mask[:, None])[:, 0]")]),
    Variant("beam", "hypotheses one by one", source='''def beam_search(model, word, width, alpha=0.0, timesteps=28):
    with torch.no_grad():
        henc_ts, mask, first = model.encode(pronunciation.letter_ids([word]).to(device))
        going, complete = [([], 0.0, first)], []
        for _ in range(timesteps):
            candidates = []
            for ids, score, hdec in going:
                last = torch.tensor([ids[-1] if ids else START], device=henc_ts.device)
                logits, after, _ = model.step(last, hdec, henc_ts, mask)
                for token, value in enumerate(F.log_softmax(logits[0], dim=0).tolist()):
                    candidates.append((ids + [token], score + value, after))
            candidates.sort(key=lambda one: one[1], reverse=True)
            going = []
            for ids, score, hdec in candidates[:width]:
                if ids[-1] == END:
                    complete.append((ids[:-1], score / len(ids) ** alpha))
                else:
                    going.append((ids, score, hdec))
            if not going:
                break
        if not complete:
            complete = [(ids, score / len(ids) ** alpha) for ids, score, _ in going]
        return sorted(complete, key=lambda one: one[1], reverse=True)'''),
    Variant("beam", "complete ones seen before the choice", body='''
henc_ts, mask, hdec = model.encode(pronunciation.letter_ids([word]).to(device))
beams, finished = [(0.0, [START])], []
for step in range(timesteps):
    n = len(beams)
    tokens = torch.tensor([ids[-1] for _, ids in beams]).to(hdec.device)
    logits, hdec, _ = model.step(tokens, hdec, henc_ts.repeat(n, 1, 1), mask.repeat(n, 1))
    said = F.log_softmax(logits, dim=-1)
    flat = [(beams[k][0] + said[k, v].item(), k, v) for k in range(n) for v in range(said.shape[1])]
    flat.sort(reverse=True)
    new, kept = [], []
    for score, k, v in flat[:width]:
        ids = beams[k][1] + [v]
        if v == END:
            finished.append((ids[1:-1], score / (len(ids) - 1) ** alpha))
        else:
            new.append((score, ids))
            kept.append(k)
    beams = new
    if not beams:
        break
    hdec = torch.stack([hdec[k] for k in kept])
if not finished:
    finished = [(ids[1:], score / (len(ids) - 1) ** alpha) for score, ids in beams]
finished.sort(key=lambda pair: pair[1])
return finished[::-1]'''),
    Variant("beam", "ids in a tensor", body='''
henc_ts, mask, hdec = model.encode(pronunciation.letter_ids([word]).to(device))
ids = torch.full((1, 1), START, device=hdec.device)
sums, complete = hdec.new_zeros(1, 1), []
while len(ids) and ids.shape[1] <= timesteps:
    rows = torch.zeros(len(ids), dtype=torch.long, device=hdec.device)
    logits, hdec, _ = model.step(ids[:, -1], hdec, henc_ts[rows], mask[rows])
    table = sums + logits - logits.logsumexp(-1, keepdim=True)
    order = table.view(-1).argsort(descending=True)[:width]
    k, v = torch.div(order, table.shape[1], rounding_mode="floor"), order.remainder(table.shape[1])
    ids, hdec, sums = torch.cat([ids[k], v[:, None]], 1), hdec[k], table.view(-1)[order][:, None]
    n = ids.shape[1] - 1
    for row in (v == END).nonzero()[:, 0].tolist():
        complete.append((ids[row, 1:-1].tolist(), sums[row].item() / n ** alpha))
    going = v != END
    ids, hdec, sums = ids[going], hdec[going], sums[going]
if not complete:
    complete = [(row[1:].tolist(), score.item() / (len(row) - 1) ** alpha) for row, score in zip(ids, sums[:, 0])]
complete.sort(key=lambda one: one[1], reverse=True)
return complete'''),
    Variant("beam", "sorted, then reversed", replace=[
        (CANDIDATES, "candidates = scores.unsqueeze(1) + logits - torch.logsumexp(logits, 1, keepdim=True)"),
        (SORTED, "order = sorted(range(len(complete)), key=lambda i: complete[i][1])\n"
                 "    return [complete[i] for i in reversed(order)]")]),
    Variant("average", "added and divided", body='''
mean = {name: tensor.clone() for name, tensor in states[0].items()}
for state in states[1:]:
    for name in mean:
        mean[name] = mean[name] + state[name]
return {name: tensor / len(states) for name, tensor in mean.items()}'''),
    Variant("average", "a sum of lists", body='''
n, result = len(states), {}
for name in states[0].keys():
    result[name] = sum(state[name] for state in states) / n
return result'''),
    Variant("average", "in parts", body='''
mean = {name: torch.zeros_like(tensor) for name, tensor in states[0].items()}
for state in states:
    for name, tensor in state.items():
        mean[name] += tensor / len(states)
return mean'''),
    Variant("average", "a running mean", body='''
mean = dict(states[0])
for n, state in enumerate(states[1:], 2):
    mean = {name: mean[name] + (state[name] - mean[name]) / n for name in mean}
return mean'''),
]
