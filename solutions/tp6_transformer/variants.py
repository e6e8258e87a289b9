"""Right answers of session 6 that look different from the solution."""

from autograder.authoring import Variant

from .faults import AROUND, CHOSEN, COLUMNS, CROSS, HALFWAY, JOIN, MASK, PATCH, PRODUCT, READ, SPLIT

# Lines of the solution that several versions edit.
PADDING = "return (tokens != PAD)[:, None, None, :]"
CAUSAL = "return torch.ones(T, past + T, dtype=torch.bool, device=device).tril(past)"
ATTEND = "context, self.attention_weights = attend(queries, keys, values, mask, bias)"
JOINED = "return self.W_o(context.transpose(-3, -2).flatten(-2))"
PAIRS = "a, b = x[..., 0::2], x[..., 1::2]"
ROTATED = """return torch.stack([a * angles.cos() - b * angles.sin(),
                        a * angles.sin() + b * angles.cos()], dim=-1).flatten(-2)"""
SELF = "return self.attention(x, keys, values, mask, start)"
FEED = "return self.around(self.norms[-1], x, self.feed_forward)"
STACK = """x = block(x, mask, memories[i] if memories else None, memory_mask,
                      caches[i] if caches else None)"""
COPIES = "copies = x.detach().repeat(log_prob(x[None]).shape[1], 1, 1).requires_grad_()"
SLOPE = "return torch.autograd.grad(log_prob(copies).diagonal().sum(), copies)[0]"
PATH = """mean = sum(slopes(log_prob, baseline + (step + 0.5) / steps * (x - baseline))
               for step in range(steps)) / steps"""
AHEAD = "return weights[:, :, t, t - L + 1].mean(dim=(0, 2))"
FIRST = "tokens, output = torch.full_like(source[:, 0], SOS), []"
REPLACED = f"""new = z.clone()
        for k in heads:
            {COLUMNS}
        return new"""

VARIANTS = [
    # ------------------------------------------------------------ masks
    Variant("masks", "positions compared", replace=(
        CAUSAL, "return torch.arange(past + T, device=device) <= past + torch.arange(T, device=device)[:, None]")),
    Variant("masks", "an upper triangle, inverted", replace=(
        CAUSAL, "return ~torch.ones(T, past + T, device=device).triu(past + 1).bool()")),
    Variant("masks", "past and present side by side", replace=(
        CAUSAL, "past_ones = torch.ones(T, past, dtype=torch.bool, device=device)\n"
                "    return torch.cat([past_ones, torch.ones(T, T, device=device).tril().bool()], dim=1)")),
    Variant("masks", "reshaped",
            replace=(PADDING, "return (tokens != PAD).reshape(tokens.shape[0], 1, 1, tokens.shape[1])")),

    # ------------------------------------------------------------ heads
    Variant("heads", "view and permute", replace=(
        SPLIT, "return x.reshape(x.shape[0], x.shape[1], -1, self.head_size).permute(0, 2, 1, 3)")),
    Variant("heads",
            "a stack of slices", replace=(SPLIT, "return torch.stack(x.split(self.head_size, dim=-1), dim=1)")),
    Variant("heads", "heads joined by cat", replace=(JOINED, "return self.W_o(torch.cat(context.unbind(1), dim=-1))")),
    Variant("heads", "a loop over the heads", replace=[
        (ATTEND, '''results = [attend(queries[:, k:k + 1], keys[:, min(k, keys.shape[1] - 1)][:, None],
                          values[:, min(k, values.shape[1] - 1)][:, None], mask,
                          None if bias is None else bias[k:k + 1]) for k in range(queries.shape[1])]
        context = torch.cat([found for found, _ in results], dim=1)
        self.attention_weights = torch.cat([weights for _, weights in results], dim=1)''')]),

    # ------------------------------------------------------------ rotate
    Variant("rotate", "complex numbers", replace=[
        (PAIRS + "\n", '''arrows = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())
'''), (ROTATED, "return torch.view_as_real(arrows * torch.polar(torch.ones_like(angles), angles)).flatten(-2)")]),
    Variant("rotate", "written into an empty tensor", replace=(ROTATED, '''rotated = torch.empty_like(x)
    rotated[..., 0::2] = a * angles.cos() - b * angles.sin()
    rotated[..., 1::2] = a * angles.sin() + b * angles.cos()
    return rotated''')),
    Variant("rotate", "matrices", replace=[("    " + PAIRS + "\n", ""), (
        ROTATED, '''sines, cosines = angles.sin(), angles.cos()
    matrices = torch.stack([torch.stack([cosines, -sines], -1), torch.stack([sines, cosines], -1)], -2)
    return torch.einsum("tpij,...tpj->...tpi", matrices, x.unflatten(-1, (-1, 2))).flatten(-2)''')]),
    Variant("rotate", "pairs counted one by one", replace=(
        "frequencies = 10000 ** (-torch.arange(0, d, 2, device=x.device) / d)",
        "i = torch.arange(d // 2, device=x.device)\n    frequencies = 10000.0 ** (-(2 * i) / d)")),

    # ------------------------------------------------------------ block
    Variant("block", "an if statement", replace=(AROUND, '''if self.pre_norm:
            return x + part(norm(x))
        return norm(part(x) + x)''')),
    Variant("block", "a lambda",
            replace=[(SELF, "return self.attention(x, keys=keys, values=values, mask=mask, start=start)"),
                                         (CROSS, CROSS.replace(
                                             "lambda x: self.cross(x, *memory, memory_mask)",
                                             "lambda y: self.cross(y, memory[0], memory[1], memory_mask)"))]),
    Variant("block", "norms by number",
            replace=(FEED, "return self.around(self.norms[len(self.norms) - 1], x, self.feed_forward)")),
    Variant("block", "all in one expression", replace=[
        (FEED, '''if self.pre_norm:
            return x + self.feed_forward(self.norms[-1](x))
        return self.norms[-1](x + self.feed_forward(x))''')]),

    # ------------------------------------------------------------ decoder
    Variant("decoder", "zip over memories and caches", replace=[
        ("        for i, block in enumerate(self.blocks):\n            " + STACK + "\n",
         '''        nothing = [None] * len(self.blocks)
        for block, memory, cache in zip(self.blocks, memories or nothing, caches or nothing):
            x = block(x, mask=mask, memory=memory, memory_mask=memory_mask, cache=cache)
''')]),
    Variant("decoder", "named steps", replace=("return self.readout(self.norm(x))", '''x = self.norm(x)
        logits = self.readout(x)
        return logits''')),
    Variant("decoder", "a mask with an axis for sequences and heads", replace=(
        MASK, "mask = causal_mask(tokens.shape[1], start, tokens.device)[None, None]")),
    Variant("decoder", "length from x", replace=(MASK, "mask = causal_mask(x.size(1), past=start, device=x.device)")),

    # ------------------------------------------------------------ read-norms
    Variant("read-norms", "a loop over the heads", body='''
h, S, d = values.shape
arrived = 0
for k in range(h):
    written = values[k] @ W_o[:, k * d:(k + 1) * d].T
    arrived = arrived + weights[k][:, :, None] * written[None]
return (arrived ** 2).sum(-1).sqrt()'''),
    Variant("read-norms", "values times weights first", replace=(READ, '''read = weights[..., None] * values[:, None]
    return torch.einsum("htsd,ohd->tso", read, matrices).norm(dim=2)''')),
    Variant("read-norms", "the heads' outputs joined, one matrix product", replace=[
        ("    matrices = W_o.unflatten(1, (values.shape[0], -1))\n", ""),
        (READ, '''h, T, S = weights.shape
    read = weights[..., None] * values[:, None]
    joined = read.permute(1, 2, 0, 3).reshape(T, S, -1)
    return torch.linalg.vector_norm(joined @ W_o.T, dim=-1)''')]),
    Variant("read-norms", "by a table of dot products", body='''
h, S, d = values.shape
written = torch.stack([values[k] @ W_o[:, k * d:k * d + d].T for k in range(h)])
products = torch.einsum("aso,bso->abs", written, written)
squares = torch.einsum("ats,bts,abs->ts", weights, weights, products)
return squares.clamp(min=0).sqrt()'''),
    Variant("read-norms", "numbers alone", replace=("matrices).norm(dim=-1)", "matrices).norm(dim=-1).detach()")),

    # ------------------------------------------------------------ gradients
    Variant("gradients", "a loop over the words", source='''def slopes(log_prob, x):
    x = x.detach().clone().requires_grad_()
    numbers = log_prob(x[None])[0]
    return torch.stack([torch.autograd.grad(number, x, retain_graph=True)[0] for number in numbers])

def gradient_times_input(log_prob, x):
    return torch.einsum("tsd,sd->ts", slopes(log_prob, x), x)

def integrated_gradients(log_prob, x, baseline, steps=8):
    way, total = x - baseline, 0
    for step in range(steps):
        total = total + slopes(log_prob, baseline + way * (2 * step + 1) / (2 * steps))
    return torch.einsum("tsd,sd->ts", total / steps, way)'''),
    Variant("gradients", "the Jacobian of torch", replace=[("    " + COPIES + "\n", ""), (
        SLOPE, "return torch.autograd.functional.jacobian(lambda one: log_prob(one[None])[0], x.detach())")]),
    Variant("gradients", "a backward pass", replace=(SLOPE, '''log_prob(copies).diagonal().sum().backward()
    return copies.grad''')),
    Variant("gradients", "all pieces listed, in the mean by stack", replace=[
        (PATH, '''parts = torch.linspace(0.5 / steps, 1 - 0.5 / steps, steps)
    mean = torch.stack([slopes(log_prob, torch.lerp(baseline, x, float(part))) for part in parts]).mean(dim=0)'''),
        (PRODUCT, "return slopes(log_prob, x).mul(x).sum(-1)")]),
    Variant("gradients", "products of numbers alone", replace=[
        (PRODUCT, "return (slopes(log_prob, x) * x.detach()).sum(dim=-1)"),
        ("return (mean * (x - baseline)).sum(dim=-1)", "return (mean * (x - baseline).detach()).sum(dim=-1)")]),

    # ------------------------------------------------------------ effects
    Variant("effects", "with its gradient", replace=("@torch.no_grad()\n", "")),
    Variant("effects", "two loops", body='''
columns = []
for s in range(len(x)):
    lower = 0
    for other in others:
        changed = x.clone()
        changed[s] = other
        lower = lower + log_prob(x[None])[0] - log_prob(changed[None])[0]
    columns.append(lower / len(others))
return torch.stack(columns, dim=1)'''),
    Variant("effects", "one run for each replacement", source='''def effects(log_prob, x, others):
    S, total = len(x), 0
    with torch.no_grad():
        for other in others:
            changed = x.expand(S, *x.shape).clone()
            changed[range(S), range(S)] = other
            total = total + log_prob(changed)
        return (log_prob(x.unsqueeze(0)) - total / len(others)).T'''),
    Variant("effects", "a mask of the words", body='''
replaced = torch.eye(len(x), dtype=torch.bool, device=x.device)[:, None, :, None]
changed = torch.where(replaced, others[None, :, None, :], x[None, None])
after = log_prob(changed.reshape(-1, *x.shape)).reshape(len(x), len(others), -1)
return log_prob(x[None])[0][:, None] - after.mean(1).T'''),
    Variant("effects", "columns of differences", body='''
whole, found = log_prob(x[None])[0], []
for s in range(len(x)):
    changed = x.repeat(len(others), 1, 1)
    changed[:, s, :] = others
    found.append((whole - log_prob(changed)).mean(dim=0))
return torch.stack(found).transpose(0, 1)'''),

    # ------------------------------------------------------------ patching
    Variant("patching", "a function as the patch", source='''def restored(model, clean, corrupt, target, name, measure):
    with torch.no_grad():
        with tp.trace(model) as kept:
            best = measure(model(clean, target))
        worst, found = measure(model(corrupt, target)), []
        for p in range(kept[name].shape[1]):
            def patch(old):
                new = old.clone()
                new[:, p] = kept[name][:, p]
                return new
            with tp.trace(model, {name: patch}):
                found.append(measure(model(corrupt, target)))
        return (torch.stack(found) - worst) / (best - worst)'''),
    Variant("patching", "chosen by where", replace=(
        PATCH, '''here = (torch.arange(seen[name].shape[1], device=seen[name].device) == p)[None, :, None]
        patch = torch.where(here, kept[name], seen[name])''')),
    Variant("patching", "glued from three pieces", replace=(
        PATCH, "patch = torch.cat([seen[name][:, :p], kept[name][:, p:p + 1], seen[name][:, p + 1:]], dim=1)")),
    Variant("patching", "numbers in a list, divided at the end", body='''
def asked(source, patches=None):
    with tp.trace(model, patches) as seen:
        number = measure(model(source, target))
    return number, seen.get(name)

(best, whole), (worst, broken) = asked(clean), asked(corrupt)
found = []
for p in range(broken.size(1)):
    mended = broken.clone()
    mended[:, p, ...] = whole[:, p, ...]
    found.append(asked(corrupt, {name: mended})[0] - worst)
return torch.stack(found) / (best - worst)'''),

    # ------------------------------------------------------------ ablate
    Variant("ablate", "a mask of columns", replace=(
        REPLACED, '''replaced = torch.zeros(z.shape[-1], dtype=torch.bool, device=z.device)
        for k in heads:
            replaced[k * d:(k + 1) * d] = True
        return torch.where(replaced, other, z)''')),
    Variant("ablate", "heads unflattened", replace=(
        REPLACED, '''new, columns = z.clone().unflatten(-1, (-1, d)), other.unflatten(-1, (-1, d))
        new[..., heads, :] = columns[..., heads, :]
        return new.flatten(-2)''')),
    Variant("ablate", "pieces split and joined", replace=(
        REPLACED, '''own, foreign = z.split(d, dim=-1), other.expand_as(z).split(d, dim=-1)
        return torch.cat([foreign[k] if k in heads else own[k] for k in range(len(own))], dim=-1)''')),
    Variant("ablate", "a list of columns", replace=(REPLACED, '''columns = [k * d + i for k in heads for i in range(d)]
        new = z.clone()
        new[..., columns] = other[..., columns]
        return new''')),

    # ------------------------------------------------------------ attribution
    Variant("attribution", "a loop over the parts", body='''
whole = sum(parts)
scale = ((whole - whole.mean(-1, keepdim=True)) ** 2).mean(-1) + norm.eps
return torch.stack([(part - part.mean(-1, keepdim=True)) @ (norm.weight * direction) / scale ** 0.5
                    for part in parts])'''),
    Variant("attribution", "the direction centred", body='''
pull = norm.weight * direction
deviation = torch.sqrt(torch.var(parts.sum(0), -1, unbiased=False) + norm.eps)
return torch.einsum("ktd,d->kt", parts, pull - pull.mean()) / deviation'''),
    Variant("attribution", "linear in each part", body='''
mean = parts.sum(0).mean(-1, keepdim=True)
inverse = torch.rsqrt((parts.sum(0) - mean).square().mean(-1, keepdim=True) + norm.eps)
return (((parts - parts.mean(-1, keepdim=True)) * inverse) * norm.weight * direction).sum(-1)'''),
    Variant("attribution", "the variance written out", replace=(
        "variance = parts.sum(dim=0).var(dim=-1, correction=0, keepdim=True)", '''whole = parts.sum(dim=0)
    variance = (whole - whole.mean(-1, keepdim=True)).square().mean(-1, keepdim=True)''')),

    # ------------------------------------------------------------ induction
    Variant("induction", "a diagonal", body="return weights.diagonal(1 - L, -2, -1)[..., 1:].mean(-1).mean(0)"),
    Variant("induction", "a loop over the positions", body='''
total = 0
for t in range(L, 2 * L):
    total = total + weights[:, :, t, t + 1 - L].sum(0)
return total / (L * len(weights))'''),
    Variant("induction", "gathered", body='''
second = weights[:, :, L:]
at = torch.arange(1, L + 1, device=weights.device).expand(*second.shape[:2], L)[..., None]
return second.gather(-1, at).squeeze(-1).mean((0, -1))'''),
    Variant("induction", "a mask of zeros and ones", body='''
mask = torch.zeros(2 * L, 2 * L, device=weights.device)
for s in range(1, L + 1):
    mask[L + s - 1, s] = 1 / L
return torch.einsum("bhts,ts->h", weights, mask) / weights.shape[0]'''),
    Variant("induction", "a square and its diagonal", replace=[
        ("    t = torch.arange(L, 2 * L, device=weights.device)\n", ""),
        (AHEAD, "return torch.diagonal(weights[:, :, L:, 1:L + 1], dim1=2, dim2=3).mean(dim=2).mean(dim=0)")]),

    # ------------------------------------------------------------ circuits
    Variant("circuits", "weights unflattened", source='''def qk_circuit(attention, k, x, y):
    queries, keys = (matrix.weight.unflatten(0, (-1, attention.head_size))[k]
                     for matrix in (attention.W_q, attention.W_k))
    return torch.einsum("tD,dD,dE,sE->ts", x, queries, keys, y) * attention.head_size ** -0.5

def ov_circuit(attention, k, y, readout):
    written = attention.W_o.weight.unflatten(1, (-1, attention.head_size))[:, k]
    return y @ (readout @ written @ attention.W_v.weight.unflatten(0, (-1, attention.head_size))[k]).T'''),
    Variant("circuits", "split into heads", source='''def qk_circuit(attention, k, x, y):
    d = attention.head_size
    query, key = attention.W_q.weight.split(d)[k], attention.W_k.weight.split(d)[k]
    return x @ (query.T @ key) @ y.T / d ** 0.5

def ov_circuit(attention, k, y, readout):
    d = attention.head_size
    values = attention.W_v.weight.split(d)[k] @ y.T
    return (attention.W_o.weight.split(d, dim=1)[k] @ values).T @ readout.T'''),
    Variant("circuits", "F.linear", source='''def rows(matrix, attention, k):
    return matrix.weight[k * attention.head_size:(k + 1) * attention.head_size]

def qk_circuit(attention, k, x, y):
    queries, keys = F.linear(x, rows(attention.W_q, attention, k)), F.linear(y, rows(attention.W_k, attention, k))
    return F.linear(queries / math.sqrt(attention.head_size), keys)

def ov_circuit(attention, k, y, readout):
    values = F.linear(y, rows(attention.W_v, attention, k))
    start = k * attention.head_size
    added = F.linear(values, attention.W_o.weight[:, start:start + attention.head_size])
    return F.linear(added, readout)'''),
    Variant("circuits", "biases subtracted again", source='''def qk_circuit(attention, k, x, y):
    d, parts = attention.head_size, []
    for vectors, matrix in ((x, attention.W_q), (y, attention.W_k)):
        parts.append((matrix(vectors) - matrix.bias)[..., k * d:k * d + d])
    return parts[0] @ parts[1].transpose(0, 1) / math.sqrt(d)

def ov_circuit(attention, k, y, readout):
    d = attention.head_size
    values = torch.zeros(len(y), attention.W_o.in_features, device=y.device)
    values[:, k * d:k * d + d] = (attention.W_v(y) - attention.W_v.bias)[:, k * d:k * d + d]
    return (attention.W_o(values) - attention.W_o.bias) @ readout.T'''),

    # ------------------------------------------------------------ path
    Variant("path", "added and subtracted separately", body='''
d = attention.head_size
matrix = attention.W_o.weight[:, k * d:k * d + d].T
old, new = z[..., k * d:k * d + d] @ matrix, other[..., k * d:k * d + d] @ matrix
return norm(stream - old + new)'''),
    Variant("path", "by the layer itself", body='''
own = slice(k * attention.head_size, (k + 1) * attention.head_size)
changed = z.clone()
changed[..., own] = other[..., own]
return norm(stream + attention.W_o(changed) - attention.W_o(z))'''),
    Variant("path", "by ablate", body='''
changed = ablate([k], attention.head_size, other)(z)
return norm(stream + (changed - z) @ attention.W_o.weight.T)'''),
    Variant("path", "einsum", replace=(
        "more = (other - z)[..., own] @ attention.W_o.weight[:, own].T", '''change = other[..., own] - z[..., own]
    more = torch.einsum("...d,Dd->...D", change, attention.W_o.weight[:, own])''')),

    # ------------------------------------------------------------ probe
    Variant("probe", "sums divided", body='''
chosen = labels.to(x.dtype)
true, false = chosen @ x / chosen.sum(), (1 - chosen) @ x / (1 - chosen).sum()
return true - false, 0.5 * ((true ** 2).sum() - (false ** 2).sum())'''),
    Variant("probe", "a loop over the rows", body='''
groups = {True: [], False: []}
for row, label in zip(x, labels.tolist()):
    groups[label].append(row)
means = {label: torch.stack(rows).mean(0) for label, rows in groups.items()}
direction = means[True] - means[False]
return direction, (direction * (means[True] + means[False]) / 2).sum()'''),
    Variant("probe", "mean of the two products", replace=(
        HALFWAY, "return direction, torch.stack([true @ direction, false @ direction]).mean()")),
    Variant("probe", "labels inverted by logical_not", replace=(
        "x[~labels].mean(dim=0)", "x[labels.logical_not()].mean(0)")),

    # ------------------------------------------------------------ cache
    Variant("cache", "lists of pieces", source='''class Cache:
    def __init__(self):
        self.pieces = []

    def __len__(self):
        return sum(keys.shape[2] for keys, _ in self.pieces)

    def extend(self, keys, values):
        self.pieces.append((keys, values))
        return torch.cat([k for k, _ in self.pieces], 2), torch.cat([v for _, v in self.pieces], 2)

@torch.no_grad()
def greedy(model, source, max_length=30):
    memory, memory_mask = model.encoder(source)
    memories = model.decoder.remember(memory)
    caches = [Cache() for _ in model.decoder.blocks]
    tokens = torch.full((len(source), 1), SOS, device=source.device)
    for _ in range(max_length):
        finished = ((tokens == EOS) | (tokens == PAD)).any(1)
        if finished.all():
            break
        new = model.decoder(tokens[:, -1:], memories, memory_mask, caches).argmax(-1)
        new[finished] = PAD
        tokens = torch.cat([tokens, new], 1)
    return tokens[:, 1:]'''),
    Variant("cache", "the column kept", replace=[
        (FIRST, "tokens, output = torch.full_like(source[:, :1], SOS)[:, 0], []"),
        (CHOSEN, "tokens = torch.where(ended, torch.full_like(tokens, PAD), logits[:, 0].argmax(dim=-1))")]),
    Variant("cache", "a for loop that breaks", replace=[
        ("while len(output) < max_length and not ended.all():", "for _ in range(max_length):"),
        ("        output.append(tokens)\n",
         "        output.append(tokens)\n        if ended.all():\n            break\n")]),
    Variant("cache", "an empty tensor to begin with", replace=[
        ("        if self.keys is not None:\n            " + JOIN + "\n",
         '''        if self.keys is None:
            self.keys, self.values = keys[..., :0, :], values[..., :0, :]
        keys, values = torch.cat([self.keys, keys], dim=-2), torch.cat([self.values, values], dim=-2)
''')]),

]
