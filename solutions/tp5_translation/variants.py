"""Right answers of session 5 that look different from the solution."""

from autograder.authoring import Variant

from .faults import CLEAR, CLIP, ENTROPY, MIXED, NEXT, PACK, PADDED, SCORE, SOFTMAX, STEP, TRUE_TOKEN

# Lines of the solution that several versions edit.
UNPACK = "henc_ts, _ = pad_packed_sequence(packed_ts)"
ADDITIVE = "return self.v_a(torch.tanh(self.W_a(hdec) + keys)).squeeze(-1).T"
DOT = "return (hdec * keys).sum(-1).T"
CONTEXT = '''context_vectors = torch.einsum("bs,sbh->bh", attention_weights, henc_ts)'''
Z = '''z = torch.sigmoid(self.W_z(embedded) + self.U_z(hdec)
                          + self.C_z(context_vectors))'''
R = '''r = torch.sigmoid(self.W_r(embedded) + self.U_r(hdec)
                          + self.C_r(context_vectors))'''
ATTEND = '''context_vectors, attention_weights = attend(
            self.score(hdec, memory.keys), memory.mask, memory.henc_ts)'''
PAPER_CELL = "hdec = self.cell(self.embedding(tokens), hdec, context_vectors)"
PLAIN_CELL = "hdec = self.cell(self.embedding(tokens), hdec)"
READOUT = "logits = self.readout(torch.cat([hdec, context_vectors], dim=-1))"
FIRST = "tokens = torch.full_like(target[0], SOS)"
STACKED = "return torch.stack(all_logits), torch.stack(all_weights)"
ALIGNED = "for s, links in zip(weights.argmax(dim=-1).tolist(), alignment):"

VARIANTS = [


    # ------------------------------------------------------------ collate
    Variant("collate", "filled by hand", body='''
lengths = torch.tensor([len(source) for source, _ in pairs])
def padded(rows):
    batch = torch.full((max(map(len, rows)), len(rows)), PAD)
    for b, row in enumerate(rows):
        batch[:len(row), b] = torch.tensor(row)
    return batch
return padded([s for s, _ in pairs]), lengths, padded([t for _, t in pairs])'''),
    Variant("collate", "lists padded first", replace=[(PADDED, """S, T = max(map(len, sources)), max(map(len, targets))
    source = torch.stack([F.pad(s, (0, S - len(s)), value=PAD) for s in sources], dim=1)
    target = torch.stack([F.pad(t, (0, T - len(t)), value=PAD) for t in targets]).T
    return source, lengths, target""")]),
    Variant("collate", "batch first, then transposed",
            replace=(PADDED,
                     "return pad_sequence(sources, batch_first=True).T, lengths, "
                     "pad_sequence(targets, batch_first=True).transpose(0, 1)")),
    Variant("collate", "lengths counted in the padded batch",
            replace=[("    lengths = torch.tensor([len(source) for source in sources])\n", ""),
                     (PADDED, """source = pad_sequence(sources)
    return source, (source != PAD).sum(dim=0), pad_sequence(targets)""")]),


    # ------------------------------------------------------------ encoder
    Variant("encoder", "one sentence at a time",
            replace=(PACK + "\n        packed_ts, final = self.gru(packed)\n        " + UNPACK,
                     """embedded = self.embedding(source)
        outputs, finals = zip(*(self.gru(embedded[:n, b:b + 1]) for b, n in enumerate(lengths.tolist())))
        henc_ts = pad_sequence([output[:, 0] for output in outputs])
        final = torch.cat(finals, dim=1)""")),
    Variant("encoder", "sorted by hand",
            replace=[(PACK,
                      """order = lengths.argsort(descending=True)
        packed = pack_padded_sequence(self.embedding(source[:, order]), lengths[order].cpu())"""),
                     (UNPACK,
                      """henc_ts, _ = pad_packed_sequence(packed_ts)
        back = order.argsort()
        henc_ts, final = henc_ts[:, back], final[:, back]""")]),
    Variant("encoder", "state picked from the first timestep",
            replace=("final[1]", "henc_ts[0, :, henc_ts.shape[-1] // 2:]")),
    Variant("encoder", "batch first inside",
            replace=[("return henc_ts, torch",
                      "henc_ts = henc_ts.transpose(0, 1).contiguous().transpose(0, 1)\n        return henc_ts, torch"),
                     ("torch.tanh(self.W_s(final[1]))",
                      "F.linear(final.unbind(0)[-1], self.W_s.weight, self.W_s.bias).tanh()")]),
    Variant("encoder", "lengths counted in the source", replace=("lengths.cpu()", "(source != PAD).sum(dim=0).cpu()")),

    # ------------------------------------------------------------ scores
    Variant("scores", "einsum",
            replace=[(DOT, 'return torch.einsum("bh,sbh->bs", hdec, keys)'), ("squeeze(-1).T", "permute(2, 1, 0)[0]")]),
    Variant("scores", "a loop over the source",
            replace=[(DOT, "return torch.stack([(hdec * key).sum(dim=1) for key in keys], dim=1)"),
                     (ADDITIVE,
                      "return torch.cat([self.v_a(torch.tanh(self.W_a(hdec) + key)) for key in keys], dim=1)")]),
    Variant("scores", "weights used directly",
            replace=[("return self.U_a(henc_ts)", "return henc_ts @ self.U_a.weight.T"),
                     (ADDITIVE,
                      "return (torch.tanh(hdec @ self.W_a.weight.T + keys) @ self.v_a.weight[0]).transpose(0, 1)")]),
    Variant("scores", "batch first inside",
            replace=[(ADDITIVE,
                      "return self.v_a((self.W_a(hdec).unsqueeze(1) + keys.transpose(0, 1)).tanh()).flatten(1)"),
                     (DOT, "return (hdec.unsqueeze(1) * keys.transpose(0, 1)).sum(dim=2)")]),

    # ------------------------------------------------------------ attend
    Variant("attend", "softmax by hand",
            replace=(SOFTMAX,
                     """scores = torch.where(mask, scores, torch.tensor(-math.inf, device=scores.device))
    shares = (scores - scores.max(dim=-1, keepdim=True).values).exp()
    attention_weights = shares / shares.sum(dim=-1, keepdim=True)""")),
    Variant("attend", "softmax over the first axis, transposed",
            replace=[(SOFTMAX,
                      "columns = F.softmax(scores.T.masked_fill(mask.T.logical_not(), -1e9), dim=0)\n"
                      "    attention_weights = columns.T"),
                     (CONTEXT, "context_vectors = (columns[:, :, None] * henc_ts).sum(dim=0)")]),
    Variant("attend", "a loop over the batch", body='''
contexts, rows = [], []
for b in range(len(scores)):
    weights = torch.zeros_like(scores[b])
    weights[mask[b]] = scores[b][mask[b]].softmax(0)
    contexts.append(weights @ henc_ts[:, b])
    rows.append(weights)
return torch.stack(contexts), torch.stack(rows)'''),
    Variant("attend", "minus a large number added",
            replace=("scores.masked_fill(~mask, -math.inf)", "(scores - 1e9 * ~mask)")),

    # ------------------------------------------------------------ gated-cell
    Variant("gated-cell", "by difference", replace=(MIXED, "return hdec + z * (candidate - hdec)")),
    Variant("gated-cell", "lerp", replace=(MIXED, "return torch.lerp(hdec, candidate, z)")),
    Variant("gated-cell", "weights used directly",
            replace=(Z,
                     "z = 1 / (1 + (-(embedded @ self.W_z.weight.T + self.W_z.bias + hdec @ self.U_z.weight.T "
                     "+ context_vectors @ self.C_z.weight.T)).exp())")),
    Variant("gated-cell", "stacked matrices",
            replace=[(Z + "\n        " + R,
                      "W = torch.cat([self.W_z.weight, self.W_r.weight])\n"
                      "        U = torch.cat([self.U_z.weight, self.U_r.weight])\n"
                      "        C = torch.cat([self.C_z.weight, self.C_r.weight])\n"
                      "        gates = F.linear(embedded, W, torch.cat([self.W_z.bias, self.W_r.bias])) "
                      "+ F.linear(hdec, U) + F.linear(context_vectors, C)\n"
                      "        z, r = gates.sigmoid().chunk(2, dim=-1)")]),

    # ------------------------------------------------------------ paper-decoder
    Variant("paper-decoder", "step by step",
            replace=[(ATTEND,
                      """embedded = self.embedding(tokens)
        scores = self.score.forward(hdec, memory.keys)
        context_vectors, attention_weights = attend(scores, memory[2], memory[0])"""),
                     (PAPER_CELL, "hdec = self.cell(embedded, hdec, context_vectors)")]),
    Variant("paper-decoder", "readout in two parts",
            replace=(READOUT,
                     "H = hdec.shape[-1]\n"
                     "        logits = hdec @ self.readout.weight[:, :H].T "
                     "+ context_vectors @ self.readout.weight[:, H:].T + self.readout.bias")),
    Variant("paper-decoder", "new names",
            replace=[(PAPER_CELL, "new = self.cell(self.embedding.weight[tokens], hdec, context_vectors)"),
                     ("torch.cat([hdec, context_vectors], dim=-1)", "torch.hstack((new, context_vectors))"),
                     ("return logits, hdec", "return logits, new")]),
    Variant("paper-decoder", "by keyword",
            replace=[(ATTEND, """scores = self.score(hdec=hdec, keys=memory.keys)
        context_vectors, attention_weights = attend(scores=scores, mask=memory.mask, henc_ts=memory.henc_ts)"""),
                     (PAPER_CELL, """embedded = self.embedding(tokens)
        hdec = self.cell(embedded=embedded, hdec=hdec, context_vectors=context_vectors)""")]),

    # ------------------------------------------------------------ plain-decoder
    Variant("plain-decoder", "step by step",
            replace=[(PLAIN_CELL, "embedded = self.embedding(tokens)\n        hdec = self.cell(embedded, hdec)"),
                     (ATTEND,
                      """scores = self.score.forward(hdec, memory.keys)
        context_vectors, attention_weights = attend(scores, memory[2], memory[0])""")]),
    Variant("plain-decoder", "memory unpacked", replace=(ATTEND, """henc_ts, keys, mask = memory
        context_vectors, attention_weights = attend(self.score(hdec, keys), mask, henc_ts)""")),
    Variant("plain-decoder", "readout in two parts",
            replace=(READOUT,
                     "H = hdec.shape[-1]\n"
                     "        logits = hdec @ self.readout.weight[:, :H].T "
                     "+ context_vectors @ self.readout.weight[:, H:].T + self.readout.bias")),
    Variant("plain-decoder", "GRU from its equations",
            replace=(PLAIN_CELL,
                     """x = self.embedding(tokens) @ self.cell.weight_ih.T + self.cell.bias_ih
        h = hdec @ self.cell.weight_hh.T + self.cell.bias_hh
        (x_r, x_z, x_n), (h_r, h_z, h_n) = x.chunk(3, -1), h.chunk(3, -1)
        z = torch.sigmoid(x_z + h_z)
        hdec = (1 - z) * torch.tanh(x_n + torch.sigmoid(x_r + h_r) * h_n) + z * hdec""")),

    # ------------------------------------------------------------ translator
    Variant("translator", "if and else", replace=(NEXT, """if forced[t]:
                tokens = target[t]
            else:
                tokens = logits.max(dim=1).indices""")),
    Variant("translator", "tokens chosen before the step", replace=[(FIRST, "logits = None"), (STEP, """if t == 0:
                tokens = torch.full((target.shape[1],), SOS, device=target.device)
            elif forced[t - 1]:
                tokens = target[t - 1]
            else:
                tokens = logits.argmax(-1)
            """ + STEP), (NEXT, "pass")]),
    Variant("translator", "target with SOS in front",
            replace=[(FIRST,
                      "shifted = torch.cat([torch.full_like(target[:1], SOS), target])\n        tokens = shifted[0]"),
                     (NEXT, "tokens = shifted[t + 1] if forced[t] else logits.argmax(dim=-1)")]),
    Variant("translator", "mixed with where",
            replace=(NEXT,
                     "tokens = torch.where(torch.tensor(bool(forced[t]), device=target.device), target[t], "
                     "logits.detach().argmax(dim=-1))")),
    Variant("translator", "results written into tensors",
            replace=[("all_logits, all_weights = [], []",
                      "all_logits, all_weights = [None] * len(target), [None] * len(target)"),
                     ("all_logits.append(logits)", "all_logits[t] = logits[None]"),
                     ("all_weights.append(attention_weights)", "all_weights[t] = attention_weights[None]"),
                     (STACKED, "return torch.cat(all_logits), torch.cat(all_weights)")]),
    Variant("translator", "remembered by hand",
            replace=[("memory, hdec = self.remember(source, lengths)",
                      """henc_ts, hdec = self.encoder(source, lengths=lengths)
        memory = Memory(henc_ts, self.decoder.score.keys(henc_ts=henc_ts), (source != PAD).T)"""),
                     (STEP,
                      "logits, hdec, attention_weights = self.decoder(tokens=tokens, hdec=hdec, memory=memory)")]),
    Variant("translator", "sizes from the parts",
            replace=[("all_logits, all_weights = [], []", """(S, B), T = source.shape, len(target)
        all_logits = torch.empty(T, B, self.decoder.readout.out_features, device=target.device)
        all_weights = torch.empty(T, B, S, device=target.device)"""),
                     ("all_logits.append(logits)", "all_logits[t] = logits"),
                     ("all_weights.append(attention_weights)", "all_weights[t] = attention_weights"),
                     (STACKED, "return all_logits, all_weights")]),
    Variant("translator", "one decision after the other",
            replace=[("for t in range(len(target)):", "for true, teacher in zip(target, forced):"),
                     (NEXT, "tokens = true if teacher else logits.argmax(dim=-1)")]),

    # ------------------------------------------------------------ loss
    Variant("loss", "classes on axis 1",
            replace=(ENTROPY, "return F.cross_entropy(logits.permute(0, 2, 1), target, ignore_index=PAD, "
                              "label_smoothing=smoothing)")),
    Variant("loss", "gathered by hand",
            replace=(ENTROPY,
                     """said = logits.log_softmax(dim=-1).gather(-1, target[..., None])[..., 0]
    mask = target != PAD
    smooth = (1 - smoothing) * said + smoothing * logits.log_softmax(dim=-1).mean(dim=-1)
    return -(smooth * mask).sum() / mask.sum()""")),
    Variant("loss", "sentence by sentence, summed before dividing",
            replace=(ENTROPY,
                     """losses = F.cross_entropy(logits.permute(1, 2, 0), target.T, reduction="none",
                             ignore_index=PAD, label_smoothing=smoothing)
    return losses.sum(dim=1).sum() / (target != PAD).T.sum(dim=1).sum()""")),
    Variant("loss", "real tokens only",
            replace=(ENTROPY, "return F.cross_entropy(logits[target != PAD], target[target != PAD], "
                              "label_smoothing=smoothing)")),
    Variant("loss", "against a smoothed distribution",
            replace=(ENTROPY,
                     """V = logits.shape[-1]
    wanted = (1 - smoothing) * F.one_hot(target, V) + smoothing / V
    losses = -(wanted * logits.log_softmax(dim=-1)).sum(dim=-1)
    return losses[target != PAD].mean()""")),

    # ------------------------------------------------------------ train
    Variant("train", "cleared after the step",
            replace=[(CLEAR, ""),
                     ("        optimizer.step()\n", "        optimizer.step()\n        optimizer.zero_grad()\n")]),
    Variant("train", "clipped by hand",
            replace=(CLIP,
                     """        norm = torch.sqrt(sum((p.grad ** 2).sum() for p in model.parameters()))
        for p in model.parameters():
            p.grad *= min(1.0, max_norm / (norm.item() + 1e-6))
""")),
    Variant("train", "cleared by hand",
            replace=(CLEAR, "        for parameter in model.parameters():\n            parameter.grad = None\n")),
    Variant("train", "logged as a number", replace=("view.log(loss=loss)", "view.log(loss=loss.item())")),
    Variant("train", "asked for the next batch",
            replace=("    for step, (source, lengths, target) in zip(view, batches):\n",
                     "    for step in view:\n        source, lengths, target = next(batches)\n")),
    Variant("train", "in training mode, by keyword",
            replace=[("    for step,", "    model.train()\n    for step,"),
                     ("forcing_decisions(len(target), ratio)", "forcing_decisions(T=target.shape[0], ratio=ratio)"),
                     ("model(source, lengths, target, forced)",
                      "model(source=source, lengths=lengths, target=target, forced=forced)"),
                     ("translation_loss(logits, target, smoothing)",
                      "translation_loss(logits=logits, target=target, smoothing=smoothing)")]),

    # ------------------------------------------------------------ bleu
    Variant("bleu", "counted by hand", source='''def clipped_matches(hypothesis, reference, n):
    left = [tuple(reference[i:i + n]) for i in range(len(reference) - n + 1)]
    matches = total = 0
    for i in range(len(hypothesis) - n + 1):
        total += 1
        gram = tuple(hypothesis[i:i + n])
        if gram in left:
            left.remove(gram)
            matches += 1
    return matches, total

def corpus_bleu(hypotheses, references):
    c, r = sum(map(len, hypotheses)), sum(map(len, references))
    product = 1.0
    for n in (1, 2, 3, 4):
        matches = total = 0
        for hypothesis, reference in zip(hypotheses, references):
            m, k = clipped_matches(hypothesis, reference, n)
            matches, total = matches + m, total + k
        product *= matches / total if total else 0.0
    penalty = 1.0 if c >= r else math.exp(1 - r / c) if c else 0.0
    return 100 * penalty * product ** 0.25'''),
    Variant("bleu", "zip of shifted lists",
            replace=("Counter(tuple(tokens[i:i + n]) for i in range(len(tokens) - n + 1))",
                     "Counter(zip(*(tokens[i:] for i in range(n))))")),
    Variant("bleu", "strings as n-grams",
            replace=("Counter(tuple(tokens[i:i + n])", "Counter(chr(0).join(tokens[i:i + n])")),
    Variant("bleu", "penalty as a factor",
            replace=(SCORE,
                     "penalty = 1 if c > r else math.exp(1 - r / c)\n"
                     "    return penalty * math.exp(log_precisions) * 100")),

    # ------------------------------------------------------------ aer
    Variant("aer", "sets of links", body='''
A, S, P = set(), set(), set()
for k, (weights, alignment) in enumerate(zip(attention_weights, alignments)):
    for t, links in enumerate(alignment):
        A.add((k, t, int(weights[t].argmax())))
        P |= {(k, t, s) for s in links}
        if len(links) == 1:
            S.add((k, t, links[0]))
return 1 - (len(A & S) + len(A & P)) / (len(A) + len(S))'''),
    Variant("aer", "rows cut first",
            replace=(ALIGNED, "for s, links in zip(torch.argmax(weights[:len(alignment)], 1).tolist(), alignment):")),
    Variant("aer", "topk",
            replace=(ALIGNED, "for s, links in zip(weights.topk(1).indices.flatten().tolist(), alignment):")),
    Variant("aer", "sure and the others apart", replace=("""            sure += len(links) == 1
            in_possible += s in links
            in_sure += len(links) == 1 and s in links
""", """            if len(links) == 1:
                sure += 1
                in_sure += int(s == links[0])
                in_possible += int(s == links[0])
            elif s in links:
                in_possible += 1
""")),
    Variant("aer", "with numpy",
            replace=("weights.argmax(dim=-1).tolist()", "weights.detach().cpu().numpy().argmax(axis=1)")),
]

VARIANTS += [
    Variant("effects", "one copy after another", body='''
S, T = len(source), len(target)
henc_ts, hdec_init = model.encoder(source, torch.tensor([S]))

def log_probabilities(vectors):
    mask = torch.ones(1, S, dtype=torch.bool, device=source.device)
    memory = Memory(vectors, model.decoder.score.keys(vectors), mask)
    hdec, token, found = hdec_init, torch.full_like(target[0], SOS), []
    for t in range(T):
        logits, hdec, _ = model.decoder(token, hdec, memory)
        token = target[t]
        found.append(F.log_softmax(logits[0], dim=-1)[token.item()])
    return torch.stack(found)

whole, columns = log_probabilities(henc_ts), []
for s in range(S):
    other = henc_ts.clone()
    other[s] = henc_ts.mean(dim=0)
    columns.append(whole - log_probabilities(other))
return torch.stack(columns, dim=1)'''),
    Variant("effects", "a cross-entropy for each copy", replace=[
        (TRUE_TOKEN, "-F.cross_entropy(logits, token.repeat(S + 1), reduction='none')")]),
    Variant("effects", "remembered, then overwritten by a mask", source='''def effects(model, source, target):
    with torch.no_grad():
        S = len(source)
        memory, start = model.remember(source, torch.tensor([S]))
        where = torch.eye(S, S + 1, dtype=torch.bool, device=source.device)[..., None]
        vectors = torch.where(where, memory.henc_ts.mean(dim=0, keepdim=True), memory.henc_ts)
        memory = Memory(vectors, model.decoder.score.keys(vectors), memory.mask.expand(S + 1, -1))
        hdec = start.expand(S + 1, -1)
        read = torch.cat([torch.full_like(target[:1], SOS), target[:-1]]).expand(-1, S + 1)
        found = []
        for tokens, wanted in zip(read, target[:, 0].tolist()):
            logits, hdec, _ = model.decoder(tokens, hdec, memory)
            found.append(torch.log_softmax(logits, -1)[:, wanted])
        found = torch.stack(found)
        return found[:, -1:] - found[:, :-1]'''),
    Variant("effects", "the whole sentence first", source='''def effects(model, source, target):
    lengths = torch.tensor([source.shape[0]])
    with torch.inference_mode():
        henc_ts, state = model.encoder(source, lengths)
        copies = [henc_ts]
        for s in range(len(source)):
            copies.append(torch.cat([henc_ts[:s], henc_ts.mean(0, keepdim=True), henc_ts[s + 1:]]))
        vectors = torch.cat(copies, dim=1)
        n = vectors.shape[1]
        mask = torch.ones(n, len(source), device=source.device) > 0
        memory, hdec, rows = Memory(vectors, model.decoder.score.keys(vectors), mask), state.repeat(n, 1), []
        for t in range(len(target)):
            tokens = source.new_tensor([SOS] * n) if t == 0 else target[t - 1].expand(n)
            logits, hdec, _ = model.decoder(tokens, hdec, memory)
            rows.append(logits.log_softmax(1).gather(1, target[t].expand(n)[:, None])[:, 0])
        result = torch.stack(rows)
    return (result[:, :1] - result[:, 1:]).clone()'''),
]

VARIANTS += [
    Variant("plan", "other values, more of them, and other seeds", source='''EXPERIMENTS = (
    "learning rate", "hidden size", "teacher-forcing ratio", "scoring function")

def plan():
    expected = dict.fromkeys(EXPERIMENTS, "I expect no difference, since 200 steps are few.")
    values = dict(zip(EXPERIMENTS, ((0.002, 0.02, 0.2, 2), [16, 32, 64, 256], [0.25, 0.5, 0.75, 1])))
    return [expected, values, [11, 12, 13, 14]]

def cost(steps):
    runs = 0
    values, seeds = plan()[1:]
    for name in values:
        for value in values[name]:
            for seed in seeds:
                runs += 1
    return runs * steps'''),
    Variant("plan", "numbers of numpy and of torch", source='''import numpy as np
EXPERIMENTS = "learning rate", "hidden size", "teacher-forcing ratio", "scoring function"
EXPECTED = {name: f"In the {name} the middle value wins, because extremes harm." for name in EXPERIMENTS}
VALUES = {"learning rate": np.logspace(-4, 0, 5), "hidden size": np.array([4, 16, 64]),
          "teacher-forcing ratio": torch.linspace(0, 1, 4)}
SEEDS = 4, 5, 6
plan = lambda: (EXPECTED, VALUES, SEEDS)
cost = lambda steps: steps * len(SEEDS) * (len(VALUES["learning rate"]) + len(VALUES["hidden size"])
                                           + len(VALUES["teacher-forcing ratio"]))'''),
    Variant("plan", "a table of ranges", source='''
EXPERIMENTS = ("learning rate", "hidden size", "teacher-forcing ratio", "scoring function")

def plan():
    said = "the extremes lose, and between the others I expect no difference"
    tried = [tuple(10.0 ** k for k in range(-4, 0)), range(16, 129, 16), (0, 0.1, 0.9, 1)]
    return {name: f"{name}: {said}" for name in EXPERIMENTS}, dict(zip(EXPERIMENTS[:3], tried)), range(5)

def cost(steps):
    expected, values, seeds = plan()
    return sum(steps for tried in values.values() for _ in tried for _ in seeds)'''),
    Variant("plan", "more than is asked for", source='''
EXPERIMENTS = ("learning rate", "hidden size", "teacher-forcing ratio", "scoring function")

def plan():
    """A plan of named parts."""
    class Plan(tuple):
        pass
    expected = {name: "the middle one wins, by less than the spread of three seeds" for name in EXPERIMENTS}
    values = {"learning rate": [0.005, 0.015, 0.045], "hidden size": [64, 96, 128, 160],
              "teacher-forcing ratio": [0.25, 0.75, 1.0]}
    return Plan((expected, values, [3, 1, 4, 1, 5]))

def cost(steps: int) -> int:
    _, values, seeds = plan()
    total = 0
    for tried in values.values():
        total += len(tried)
    return total * len(seeds) * steps'''),
]
