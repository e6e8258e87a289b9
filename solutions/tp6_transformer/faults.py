"""Wrong versions that learners write in session 6, and right ones that look different."""

from autograder.model.faults import Fault, Variant

# Lines of the solution that several versions edit.
PADDING = "return (tokens != PAD)[:, None, None, :]"
CAUSAL = "return torch.ones(T, past + T, dtype=torch.bool, device=device).tril(past)"
SPLIT = "return x.unflatten(-1, (-1, self.head_size)).transpose(-3, -2)"
ATTEND = "context, self.attention_weights = attend(queries, keys, values, mask, bias)"
JOINED = "return self.W_o(context.transpose(-3, -2).flatten(-2))"
ANGLES = "angles = (start + torch.arange(T, device=x.device))[:, None] * frequencies"
PAIRS = "a, b = x[..., 0::2], x[..., 1::2]"
ROTATED = """return torch.stack([a * angles.cos() - b * angles.sin(),
                        a * angles.sin() + b * angles.cos()], dim=-1).flatten(-2)"""
AROUND = "return x + part(norm(x)) if self.pre_norm else norm(x + part(x))"
START = "start = 0 if cache is None else len(cache)"
SELF = "return self.attention(x, keys, values, mask, start)"
CROSS = """x = self.around(self.norms[1], x,
                            lambda x: self.cross(x, *memory, memory_mask))"""
FEED = "return self.around(self.norms[-1], x, self.feed_forward)"
ADDED = "x = self.positions.add(self.embedding(tokens), start)"
PAST = "start = len(caches[0]) if caches else 0"
MASK = "mask = causal_mask(tokens.shape[1], start, tokens.device)"
STACK = """x = block(x, mask, memories[i] if memories else None, memory_mask,
                      caches[i] if caches else None)"""
READOUT = "return self.readout(self.norm(x))"
MATRICES = "matrices = W_o.unflatten(1, (values.shape[0], -1))"
READ = 'return torch.einsum("hts,hsd,ohd->tso", weights, values, matrices).norm(dim=-1)'
COPIES = "copies = x.detach().repeat(log_prob(x[None]).shape[1], 1, 1).requires_grad_()"
SLOPE = "return torch.autograd.grad(log_prob(copies).diagonal().sum(), copies)[0]"
PRODUCT = "return (slopes(log_prob, x) * x).sum(dim=-1)"
PATH = """mean = sum(slopes(log_prob, baseline + (step + 0.5) / steps * (x - baseline))
               for step in range(steps)) / steps"""
CHANGED = "changed[s, :, s] = others"
PATCH = """patch = seen[name].clone()
        patch[:, p] = kept[name][:, p]"""
SHARE = "shares.append((measure(model(corrupt, target)) - worst) / (best - worst))"
VARIANCE = "variance = parts.sum(dim=0).var(dim=-1, correction=0, keepdim=True)"
CENTRED = "centred = parts - parts.mean(dim=-1, keepdim=True)"
SHARES = "return (centred / (variance + norm.eps).sqrt() * norm.weight) @ direction"
SECOND = "t = torch.arange(L, 2 * L, device=weights.device)"
AHEAD = "return weights[:, :, t, t - L + 1].mean(dim=(0, 2))"
COLUMNS = "new[..., k * d:(k + 1) * d] = other[..., k * d:(k + 1) * d]"
OWN_QK = "own = slice(k * d, (k + 1) * d)"
OWN_OV = "own = slice(k * attention.head_size, (k + 1) * attention.head_size)"
MORE = "more = (other - z)[..., own] @ attention.W_o.weight[:, own].T"
HALFWAY = "return direction, direction @ (true + false) / 2"
JOIN = """keys, values = (torch.cat([self.keys, keys], dim=-2),
                            torch.cat([self.values, values], dim=-2))"""
FIRST = "tokens, output = torch.full_like(source[:, 0], SOS), []"
CHOSEN = "tokens = logits[:, -1].argmax(dim=-1).masked_fill(ended, PAD)"
ENDED = "ended = ended | (tokens == EOS)"
LOOP = "while len(output) < max_length and not ended.all():"

FAULTS = [
    # ------------------------------------------------------------ masks
    Fault("masks", "future-only",
            "Your causal mask allows later positions and excludes earlier ones.",
            swap=(".tril(past)", ".triu(past)")),

    # ------------------------------------------------------------ heads
    Fault("heads", "reshaped-across-time",
            "One reshape to (B, n, T, d) cuts the tensor in the order of memory, so that a head gets numbers of "
            "several tokens. First split the last axis in two, n and d, then move the heads in front of the "
            "timesteps.",
            swap=(SPLIT, "return x.reshape(x.shape[0], -1, x.shape[1], self.head_size)")),
    Fault("heads", "heads-alternate",
            "You assign the numbers of a token to the heads alternately. The first d numbers belong to the first head.",
            swap=(SPLIT, "return x.unflatten(-1, (self.head_size, -1)).permute(0, 3, 1, 2)")),

    # ------------------------------------------------------------ rotary
    Fault("rotate", "pairs-torn-apart",
            "The rotated numbers are in the wrong columns: the first numbers of all pairs, then all the second ones. "
            "The two numbers of a pair must be next to each other, at columns 2i and 2i + 1.",
            swap=("dim=-1).flatten(-2)", "dim=-2).flatten(-2)")),

    # ------------------------------------------------------------ block
    Fault("block", "stream-normalised",
            "With pre-norm you add to the normalised x. Add to the x that was not normalised.",
            swap=("x + part(norm(x)) if", "norm(x) + part(norm(x)) if")),
    Fault("block", "always-pre",
            "`pre_norm` is ignored: you always put the norm before the part.",
            swap=(AROUND, "return x + part(norm(x))")),
    Fault("block", "start-after-extension",
            "You take the length of the cache after extending it, so the positions begin too late.",
            swap=[(START, "start = 0 if cache is None else len(cache) + x.shape[1]")]),
    Fault("block", "always-at-the-start",
            "Your positions always begin at 0. With a cache, they begin at its length.",
            swap=(START, "start = 0")),
    Fault("block", "memory-ignored",
            "You ignore the memory. If `memory` is given, `self.cross` must attend to it.",
            swap=("        if memory is not None:\n            " + CROSS + "\n", "")),

    # ------------------------------------------------------------ decoder
    Fault("decoder", "no-positions",
            "You do not add the positions. Embeddings alone do not contain the position of a token.",
            swap=(ADDED, "x = self.embedding(tokens)")),
    Fault("decoder", "no-causal-mask",
            "There is no causal mask, so each position attends to the tokens that it must predict.",
            swap=(MASK, "mask = None")),
    Fault("decoder", "mask-without-past", "The causal mask does not count the positions in the caches: set `past`.",
            swap=("tokens.shape[1], start, tokens.device", "tokens.shape[1], 0, tokens.device")),
    Fault("decoder", "first-cache-for-all", "All blocks share the first cache. Each needs its own.",
            swap=("caches[i] if caches", "caches[0] if caches")),
    Fault("decoder", "probabilities",
            "You return probabilities or log-probabilities. The loss takes the softmax itself: return raw logits.",
            swap=("return self.readout(self.norm(x))", "return self.readout(self.norm(x)).softmax(-1)")),

    # ------------------------------------------------------------ read-norms
    Fault("read-norms", "sum-of-norms",
            "You add up the norms of the heads. Add up the vectors first: the vectors of two heads may cancel.",
            swap=(READ, READ.replace("->tso", "->htso").replace("norm(dim=-1)", "norm(dim=-1).sum(dim=0)"))),

    # ------------------------------------------------------------ gradients
    Fault("gradients", "gradient-of-all",
            "Each row of your slopes is the gradient of the sum of all T numbers. Use only number t of copy t.",
            swap=("log_prob(copies).diagonal().sum()", "log_prob(copies).sum()")),
    Fault("gradients", "one-number-later",
            "The rows are off by one: row t must hold the gradient of number t.",
            swap=("log_prob(copies).diagonal()", "log_prob(copies).roll(1, dims=1).diagonal()")),
    Fault("gradients", "norm-of-the-product",
            "You take a norm, which loses the sign. Gradient × input is a dot product.",
            swap=(PRODUCT, "return (slopes(log_prob, x) * x).norm(dim=-1)")),
    Fault("gradients", "sum-not-mean",
            "You add up the gradients between baseline and x. Take their mean.",
            swap=("for step in range(steps)) / steps", "for step in range(steps))")),

    # ------------------------------------------------------------ effects
    Fault("effects", "next-word",
            "The columns are off by one: column s must hold the effect of replacing word s.",
            swap=(CHANGED, "changed[s, :, s - 1] = others")),
    Fault("effects", "mean-first",
            "You replace a word once, by the mean of `others`. Replace it by each of them, and take the mean of the "
            "results.",
            swap=(CHANGED, "changed[s, :, s] = others.mean(dim=0)")),
    Fault("effects", "whole-sentence", "You replace all words at once. Replace one, and keep the others.",
            swap=(CHANGED, "changed[s] = others[:, None]")),

    # ------------------------------------------------------------ patching
    Fault("patching", "not-a-share",
            "You return a difference of measures. Divide it by the difference of the clean and the corrupt run.",
            swap=(SHARE, "shares.append(measure(model(corrupt, target)) - worst)")),
    Fault("patching", "all-positions",
            "You patch the activation at all positions at once. Patch one, and keep the others of the corrupt run.",
            swap=(PATCH, "patch = kept[name].clone()")),
    Fault("patching", "next-position",
            "The shares are off by one: entry p must belong to the patch at position p.",
            swap=("patch[:, p] = kept[name][:, p]", "patch[:, p - 1] = kept[name][:, p - 1]")),
    Fault("patching", "clean-run-patched",
            "You patch the clean run with an activation of the corrupt one. This finds necessary activations; the "
            "exercise asks for sufficient ones. Patch the corrupt run.",
            swap=[(PATCH, PATCH.replace("seen[name].clone()", "kept[name].clone()")
                                .replace("= kept[name][:, p]", "= seen[name][:, p]")),
                  (SHARE, SHARE.replace("corrupt", "clean"))]),
    Fault("patching", "never-patched",
            "The patch has no effect: the model must run inside `with tp.trace(model, {…})`.",
            swap=("with tp.trace(model, {name: patch}):", "with tp.trace(model):")),
    Fault("patching", "into-the-input",
            "You patch the input of this part, `name:in`. Patch its output, `name`.",
            swap=("{name: patch}", "{name + ':in': patch if seen[name + ':in'].shape == patch.shape else seen[name + "
                                   "':in']}")),

    # ------------------------------------------------------------ ablate
    Fault("ablate", "in-place", "You change the traced activation in place. Change a copy.",
            swap=("new = z.clone()", "new = z")),
    Fault("ablate", "last-head-only", "Only the last of the heads is replaced.",
            swap=("        for k in heads:\n            " + COLUMNS + "\n",
                  "        for k in heads[-1:]:\n            " + COLUMNS + "\n")),

    # ------------------------------------------------------------ attribution
    Fault("attribution", "own-deviation",
            "Each part is divided by its own standard deviation. All are divided by that of their sum.",
            swap=("parts.sum(dim=0).var(", "parts.var(")),
    Fault("attribution", "norm-of-each-part",
            "You normalise each part by itself. The shares then do not add up to the difference of the logits.",
            swap=(SHARES, "return norm(parts) @ direction")),
    Fault("attribution", "not-centred",
            "You do not subtract the mean over D from the parts. The layer norm subtracts it.",
            swap=(CENTRED, "centred = parts")),
    Fault("attribution", "divided-by-d-minus-1",
            "Your variance divides by D − 1, as PyTorch does by default. A layer norm divides by D.",
            swap=(", correction=0", "")),
    Fault("attribution", "bias-in-each-part",
            "Every part gets the norm's bias. It is a share of its own, and belongs to no part.",
            swap=("* norm.weight) @", "* norm.weight + norm.bias) @")),

    # ------------------------------------------------------------ induction
    Fault("induction", "previous-token",
            "You take the weight on the previous position. This finds a previous-token head.",
            swap=("weights[:, :, t, t - L + 1]", "weights[:, :, t, t - 1]")),
    Fault("induction", "last-missing",
            "The last position of the second reading is missing: t runs from L to 2L − 1, both included.",
            swap=("torch.arange(L, 2 * L,", "torch.arange(L, 2 * L - 1,")),

    # ------------------------------------------------------------ circuits
    Fault("circuits", "next-head", "You take the weights of head k + 1. Head 0 has the rows 0 … d − 1.",
          swap=[(OWN_QK, "own = slice((k + 1) * d, (k + 2) * d) if len(attention.W_q.weight) > d else slice(d)"),
                (OWN_OV, "own = slice((k + 1) * attention.head_size, (k + 2) * attention.head_size) "
                         "if len(attention.W_q.weight) > attention.head_size else slice(attention.head_size)")]),
    Fault("circuits", "columns-of-queries-and-keys",
            "You take columns of `W_q` and `W_k`. A head's numbers are rows of these matrices: `nn.Linear` computes "
            "x @ W.T.",
            swap=[("x @ attention.W_q.weight[own].T", "x @ attention.W_q.weight[:, own]"),
                  ("y @ attention.W_k.weight[own].T", "y @ attention.W_k.weight[:, own]")]),
    Fault("circuits", "with-biases", "You add the biases. The two circuits leave them out.",
            swap=[("x @ attention.W_q.weight[own].T", "attention.W_q(x)[:, own]"),
                  ("y @ attention.W_k.weight[own].T", "attention.W_k(y)[:, own]"),
                  ("y @ attention.W_v.weight[own].T", "attention.W_v(y)[:, own]")]),
    Fault("circuits", "keys-for-values",
            "Your OV circuit uses `W_k`. The output of a head is computed from values: use `W_v`.",
            swap=("values = y @ attention.W_v", "values = y @ attention.W_k")),

    # ------------------------------------------------------------ path
    Fault("path", "next-head", "You replace head k + 1. Head 0 has the columns 0 … d − 1.",
          swap=(OWN_OV, "own = slice((k + 1) * attention.head_size, (k + 2) * attention.head_size) "
                        "if z.shape[-1] > attention.head_size else slice(attention.head_size)")),
    Fault("path", "not-subtracted",
            "The output of head k is still in the stream: subtract it before you add the other.",
            swap=("(other - z)[..., own]", "other[..., own]")),

    # ------------------------------------------------------------ probe
    Fault("probe", "mean-of-all",
            "The threshold lies at the mean of all vectors. It belongs halfway between the two means. They differ if "
            "one group is larger.",
            swap=(HALFWAY, "return direction, direction @ x.mean(dim=0)")),
    Fault("probe", "sums", "You add up the vectors of a group. Take their mean.",
            swap=("x[labels].mean(dim=0), x[~labels].mean(dim=0)", "x[labels].sum(dim=0), x[~labels].sum(dim=0)")),
    Fault("probe", "unit-length",
            "You divide the direction by its length. Leave it unscaled: the threshold depends on its length.",
            swap=("direction = true - false", "direction = F.normalize(true - false, dim=0)")),

    # ------------------------------------------------------------ cache
    Fault("cache", "new-in-front", "You put new positions before the old ones.",
            swap=(JOIN,
                  "keys, values = torch.cat([keys, self.keys], dim=-2), torch.cat([values, self.values], dim=-2)")),
    Fault("cache", "no-pad-after-eos",
            "Your sentences continue after their EOS. All tokens after it must be PAD.",
            swap=(".masked_fill(ended, PAD)", "")),
    Fault("cache", "eos-hidden", "You replace the EOS itself by PAD. A sentence is finished *after* its EOS.",
            swap=[("        " + ENDED + "\n", ""),
                  (CHOSEN, "tokens = logits[:, -1].argmax(dim=-1)\n        " + ENDED + "\n"
                   "        tokens = tokens.masked_fill(ended, PAD)")]),
    Fault("cache", "starts-with-eos", "The decoder starts with EOS, not with SOS.",
            swap=("torch.full_like(source[:, 0], SOS)", "torch.full_like(source[:, 0], EOS)")),
    Fault("cache", "source-read-each-step",
            "You encode the source again at every step. It does not change: encode it once, before the loop.",
            swap=[("    vectors, words = model.encoder(source)\n"
                   "    memories = model.decoder.remember(vectors)\n", ""),
                  ("        logits = model", "        vectors, words = model.encoder(source)\n"
                   "        memories = model.decoder.remember(vectors)\n        logits = model")]),

]

VARIANTS = [
    # ------------------------------------------------------------ masks
    Variant("masks", "unsqueezed", swap=(PADDING, "return tokens.ne(PAD).unsqueeze(1).unsqueeze(1)")),
    Variant("masks", "positions compared", swap=(
        CAUSAL, "return torch.arange(past + T, device=device) <= past + torch.arange(T, device=device)[:, None]")),
    Variant("masks", "an upper triangle, inverted", swap=(
        CAUSAL, "return ~torch.ones(T, past + T, device=device).triu(past + 1).bool()")),
    Variant("masks", "past and present side by side", swap=(
        CAUSAL, "past_ones = torch.ones(T, past, dtype=torch.bool, device=device)\n"
                "    return torch.cat([past_ones, torch.ones(T, T, device=device).tril().bool()], dim=1)")),
    Variant("masks", "reshaped",
            swap=(PADDING, "return (tokens != PAD).reshape(tokens.shape[0], 1, 1, tokens.shape[1])")),

    # ------------------------------------------------------------ heads
    Variant("heads", "view and permute", swap=(
        SPLIT, "return x.reshape(x.shape[0], x.shape[1], -1, self.head_size).permute(0, 2, 1, 3)")),
    Variant("heads", "a stack of slices", swap=(SPLIT, "return torch.stack(x.split(self.head_size, dim=-1), dim=1)")),
    Variant("heads", "heads joined by cat", swap=(JOINED, "return self.W_o(torch.cat(context.unbind(1), dim=-1))")),
    Variant("heads", "a loop over the heads", swap=[
        (ATTEND, '''results = [attend(queries[:, k:k + 1], keys[:, min(k, keys.shape[1] - 1)][:, None],
                          values[:, min(k, values.shape[1] - 1)][:, None], mask,
                          None if bias is None else bias[k:k + 1]) for k in range(queries.shape[1])]
        context = torch.cat([found for found, _ in results], dim=1)
        self.attention_weights = torch.cat([weights for _, weights in results], dim=1)''')]),

    # ------------------------------------------------------------ rotate
    Variant("rotate", "complex numbers", swap=[
        (PAIRS + "\n", '''arrows = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())
'''), (ROTATED, "return torch.view_as_real(arrows * torch.polar(torch.ones_like(angles), angles)).flatten(-2)")]),
    Variant("rotate", "written into an empty tensor", swap=(ROTATED, '''rotated = torch.empty_like(x)
    rotated[..., 0::2] = a * angles.cos() - b * angles.sin()
    rotated[..., 1::2] = a * angles.sin() + b * angles.cos()
    return rotated''')),
    Variant("rotate", "the pairs' axis unflattened", swap=(PAIRS, "a, b = x.unflatten(-1, (-1, 2)).unbind(-1)")),
    Variant("rotate", "matrices", swap=[("    " + PAIRS + "\n", ""), (
        ROTATED, '''sines, cosines = angles.sin(), angles.cos()
    matrices = torch.stack([torch.stack([cosines, -sines], -1), torch.stack([sines, cosines], -1)], -2)
    return torch.einsum("tpij,...tpj->...tpi", matrices, x.unflatten(-1, (-1, 2))).flatten(-2)''')]),
    Variant("rotate", "pairs counted one by one", swap=(
        "frequencies = 10000 ** (-torch.arange(0, d, 2, device=x.device) / d)",
        "i = torch.arange(d // 2, device=x.device)\n    frequencies = 10000.0 ** (-(2 * i) / d)")),
    Variant("rotate", "an arange from start", swap=(
        ANGLES, "angles = torch.arange(start, start + T, device=x.device)[:, None] * frequencies")),

    # ------------------------------------------------------------ block
    Variant("block", "an if statement", swap=(AROUND, '''if self.pre_norm:
            return x + part(norm(x))
        return norm(part(x) + x)''')),
    Variant("block", "a lambda",
            swap=[(SELF, "return self.attention(x, keys=keys, values=values, mask=mask, start=start)"),
                                      (CROSS, CROSS.replace(
                                          "lambda x: self.cross(x, *memory, memory_mask)",
                                          "lambda y: self.cross(y, memory[0], memory[1], memory_mask)"))]),
    Variant("block", "norms by number",
            swap=(FEED, "return self.around(self.norms[len(self.norms) - 1], x, self.feed_forward)")),
    Variant("block", "all in one expression", swap=[
        (FEED, '''if self.pre_norm:
            return x + self.feed_forward(self.norms[-1](x))
        return self.norms[-1](x + self.feed_forward(x))''')]),

    # ------------------------------------------------------------ decoder
    Variant("decoder", "zip over memories and caches", swap=[
        ("        for i, block in enumerate(self.blocks):\n            " + STACK + "\n",
         '''        nothing = [None] * len(self.blocks)
        for block, memory, cache in zip(self.blocks, memories or nothing, caches or nothing):
            x = block(x, mask=mask, memory=memory, memory_mask=memory_mask, cache=cache)
''')]),
    Variant("decoder", "start by if", swap=(PAST, '''start = 0
        if caches is not None:
            start = len(caches[0])''')),
    Variant("decoder", "named steps", swap=(READOUT, '''x = self.norm(x)
        logits = self.readout(x)
        return logits''')),
    Variant("decoder", "a mask with an axis for sequences and heads", swap=(
        MASK, "mask = causal_mask(tokens.shape[1], start, tokens.device)[None, None]")),
    Variant("decoder", "length from x", swap=(
        MASK, "mask = causal_mask(x.size(1), past=start, device=x.device)")),

    # ------------------------------------------------------------ read-norms
    Variant("read-norms", "a loop over the heads", source='''def read_norms(weights, values, W_o):
    h, S, d = values.shape
    arrived = 0
    for k in range(h):
        written = values[k] @ W_o[:, k * d:(k + 1) * d].T
        arrived = arrived + weights[k][:, :, None] * written[None]
    return (arrived ** 2).sum(-1).sqrt()
'''),
    Variant("read-norms", "values times weights first", swap=(READ, '''read = weights[..., None] * values[:, None]
    return torch.einsum("htsd,ohd->tso", read, matrices).norm(dim=2)''')),
    Variant("read-norms", "the heads' outputs joined, one matrix product", swap=[
        ("    " + MATRICES + "\n", ""),
        (READ, '''h, T, S = weights.shape
    read = weights[..., None] * values[:, None]
    joined = read.permute(1, 2, 0, 3).reshape(T, S, -1)
    return torch.linalg.vector_norm(joined @ W_o.T, dim=-1)''')]),
    Variant("read-norms", "by a table of dot products", source='''def read_norms(weights, values, W_o):
    h, S, d = values.shape
    written = torch.stack([values[k] @ W_o[:, k * d:k * d + d].T for k in range(h)])
    products = torch.einsum("aso,bso->abs", written, written)
    squares = torch.einsum("ats,bts,abs->ts", weights, weights, products)
    return squares.clamp(min=0).sqrt()
'''),

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
    return torch.einsum("tsd,sd->ts", total / steps, way)
'''),
    Variant("gradients", "the Jacobian of torch", swap=[("    " + COPIES + "\n", ""), (
        SLOPE, "return torch.autograd.functional.jacobian(lambda one: log_prob(one[None])[0], x.detach())")]),
    Variant("gradients", "a backward pass", swap=(SLOPE, '''log_prob(copies).diagonal().sum().backward()
    return copies.grad''')),
    Variant("gradients", "all pieces listed, in the mean by stack", swap=[
        (PATH, '''parts = torch.linspace(0.5 / steps, 1 - 0.5 / steps, steps)
    mean = torch.stack([slopes(log_prob, torch.lerp(baseline, x, float(part))) for part in parts]).mean(dim=0)'''),
        (PRODUCT, "return slopes(log_prob, x).mul(x).sum(-1)")]),

    # ------------------------------------------------------------ effects
    Variant("effects", "two loops", source='''@torch.no_grad()
def effects(log_prob, x, others):
    columns = []
    for s in range(len(x)):
        lower = 0
        for other in others:
            changed = x.clone()
            changed[s] = other
            lower = lower + log_prob(x[None])[0] - log_prob(changed[None])[0]
        columns.append(lower / len(others))
    return torch.stack(columns, dim=1)
'''),
    Variant("effects", "one run for each replacement", source='''def effects(log_prob, x, others):
    S, total = len(x), 0
    with torch.no_grad():
        for other in others:
            changed = x.expand(S, *x.shape).clone()
            changed[range(S), range(S)] = other
            total = total + log_prob(changed)
        return (log_prob(x.unsqueeze(0)) - total / len(others)).T
'''),
    Variant("effects", "a mask of the words", source='''@torch.no_grad()
def effects(log_prob, x, others):
    replaced = torch.eye(len(x), dtype=torch.bool, device=x.device)[:, None, :, None]
    changed = torch.where(replaced, others[None, :, None, :], x[None, None])
    after = log_prob(changed.reshape(-1, *x.shape)).reshape(len(x), len(others), -1)
    return log_prob(x[None])[0][:, None] - after.mean(1).T
'''),
    Variant("effects", "columns of differences", source='''@torch.no_grad()
def effects(log_prob, x, others):
    whole, found = log_prob(x[None])[0], []
    for s in range(len(x)):
        changed = x.repeat(len(others), 1, 1)
        changed[:, s, :] = others
        found.append((whole - log_prob(changed)).mean(dim=0))
    return torch.stack(found).transpose(0, 1)
'''),

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
        return (torch.stack(found) - worst) / (best - worst)
'''),
    Variant("patching", "chosen by where", swap=(
        PATCH, '''here = (torch.arange(seen[name].shape[1]) == p)[None, :, None]
        patch = torch.where(here, kept[name], seen[name])''')),
    Variant("patching", "glued from three pieces", swap=(
        PATCH, "patch = torch.cat([seen[name][:, :p], kept[name][:, p:p + 1], seen[name][:, p + 1:]], dim=1)")),
    Variant("patching", "numbers in a list, divided at the end", source='''@torch.no_grad()
def restored(model, clean, corrupt, target, name, measure):
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
    return torch.stack(found) / (best - worst)
'''),

    # ------------------------------------------------------------ ablate
    Variant("ablate", "a mask of columns", swap=(
        "        new = z.clone()\n        for k in heads:\n            " + COLUMNS + "\n        return new\n",
        '''        replaced = torch.zeros(z.shape[-1], dtype=torch.bool)
        for k in heads:
            replaced[k * d:(k + 1) * d] = True
        return torch.where(replaced, other, z)
''')),
    Variant("ablate", "heads unflattened", swap=(
        "        new = z.clone()\n        for k in heads:\n            " + COLUMNS + "\n        return new\n",
        '''        new, columns = z.clone().unflatten(-1, (-1, d)), other.unflatten(-1, (-1, d))
        new[..., heads, :] = columns[..., heads, :]
        return new.flatten(-2)
''')),
    Variant("ablate", "pieces split and joined", swap=(
        "        new = z.clone()\n        for k in heads:\n            " + COLUMNS + "\n        return new\n",
        '''        own, foreign = z.split(d, dim=-1), other.expand_as(z).split(d, dim=-1)
        return torch.cat([foreign[k] if k in heads else own[k] for k in range(len(own))], dim=-1)
''')),
    Variant("ablate", "a list of columns", swap=(
        "        new = z.clone()\n        for k in heads:\n            " + COLUMNS + "\n        return new\n",
        '''        columns = [k * d + i for k in heads for i in range(d)]
        new = z.clone()
        new[..., columns] = other[..., columns]
        return new
''')),

    # ------------------------------------------------------------ attribution
    Variant("attribution", "a loop over the parts", source='''def logit_shares(parts, norm, direction):
    whole = sum(parts)
    scale = ((whole - whole.mean(-1, keepdim=True)) ** 2).mean(-1) + norm.eps
    return torch.stack([(part - part.mean(-1, keepdim=True)) @ (norm.weight * direction) / scale ** 0.5
                        for part in parts])
'''),
    Variant("attribution", "the direction centred", source='''def logit_shares(parts, norm, direction):
    pull = norm.weight * direction
    deviation = torch.sqrt(torch.var(parts.sum(0), -1, unbiased=False) + norm.eps)
    return torch.einsum("ktd,d->kt", parts, pull - pull.mean()) / deviation
'''),
    Variant("attribution", "linear in each part", source='''def logit_shares(parts, norm, direction):
    mean = parts.sum(0).mean(-1, keepdim=True)
    inverse = torch.rsqrt((parts.sum(0) - mean).square().mean(-1, keepdim=True) + norm.eps)
    return (((parts - parts.mean(-1, keepdim=True)) * inverse) * norm.weight * direction).sum(-1)
'''),
    Variant("attribution", "the variance written out", swap=(
        VARIANCE, '''whole = parts.sum(dim=0)
    variance = (whole - whole.mean(-1, keepdim=True)).square().mean(-1, keepdim=True)''')),

    # ------------------------------------------------------------ induction
    Variant("induction", "a diagonal", source='''def induction_scores(weights, L):
    return weights.diagonal(1 - L, -2, -1)[..., 1:].mean(-1).mean(0)
'''),
    Variant("induction", "a loop over the positions", source='''def induction_scores(weights, L):
    total = 0
    for t in range(L, 2 * L):
        total = total + weights[:, :, t, t + 1 - L].sum(0)
    return total / (L * len(weights))
'''),
    Variant("induction", "gathered", source='''def induction_scores(weights, L):
    second = weights[:, :, L:]
    at = torch.arange(1, L + 1).expand(*second.shape[:2], L)[..., None]
    return second.gather(-1, at).squeeze(-1).mean((0, -1))
'''),
    Variant("induction", "a mask of zeros and ones", source='''def induction_scores(weights, L):
    mask = torch.zeros(2 * L, 2 * L)
    for s in range(1, L + 1):
        mask[L + s - 1, s] = 1 / L
    return torch.einsum("bhts,ts->h", weights, mask) / weights.shape[0]
'''),
    Variant("induction", "a square and its diagonal", swap=[
        ("    " + SECOND + "\n", ""),
        (AHEAD, "return torch.diagonal(weights[:, :, L:, 1:L + 1], dim1=2, dim2=3).mean(dim=2).mean(dim=0)")]),

    # ------------------------------------------------------------ circuits
    Variant("circuits", "weights unflattened", source='''def qk_circuit(attention, k, x, y):
    queries, keys = (matrix.weight.unflatten(0, (-1, attention.head_size))[k]
                     for matrix in (attention.W_q, attention.W_k))
    return torch.einsum("tD,dD,dE,sE->ts", x, queries, keys, y) * attention.head_size ** -0.5


def ov_circuit(attention, k, y, readout):
    written = attention.W_o.weight.unflatten(1, (-1, attention.head_size))[:, k]
    return y @ (readout @ written @ attention.W_v.weight.unflatten(0, (-1, attention.head_size))[k]).T
'''),
    Variant("circuits", "split into heads", source='''def qk_circuit(attention, k, x, y):
    d = attention.head_size
    query, key = attention.W_q.weight.split(d)[k], attention.W_k.weight.split(d)[k]
    return x @ (query.T @ key) @ y.T / d ** 0.5


def ov_circuit(attention, k, y, readout):
    d = attention.head_size
    values = attention.W_v.weight.split(d)[k] @ y.T
    return (attention.W_o.weight.split(d, dim=1)[k] @ values).T @ readout.T
'''),
    Variant("circuits", "F.linear", source='''def rows(matrix, attention, k):
    return matrix.weight[k * attention.head_size:(k + 1) * attention.head_size]


def qk_circuit(attention, k, x, y):
    queries, keys = F.linear(x, rows(attention.W_q, attention, k)), F.linear(y, rows(attention.W_k, attention, k))
    return F.linear(queries / math.sqrt(attention.head_size), keys)


def ov_circuit(attention, k, y, readout):
    values = F.linear(y, rows(attention.W_v, attention, k))
    start = k * attention.head_size
    added = F.linear(values, attention.W_o.weight[:, start:start + attention.head_size])
    return F.linear(added, readout)
'''),
    Variant("circuits", "biases subtracted again", source='''def qk_circuit(attention, k, x, y):
    d, parts = attention.head_size, []
    for vectors, matrix in ((x, attention.W_q), (y, attention.W_k)):
        parts.append((matrix(vectors) - matrix.bias)[..., k * d:k * d + d])
    return parts[0] @ parts[1].transpose(0, 1) / math.sqrt(d)


def ov_circuit(attention, k, y, readout):
    d = attention.head_size
    values = torch.zeros(len(y), attention.W_o.in_features)
    values[:, k * d:k * d + d] = (attention.W_v(y) - attention.W_v.bias)[:, k * d:k * d + d]
    return (attention.W_o(values) - attention.W_o.bias) @ readout.T
'''),

    # ------------------------------------------------------------ path
    Variant("path", "added and subtracted separately", source='''def along(stream, z, other, attention, k, norm):
    d = attention.head_size
    matrix = attention.W_o.weight[:, k * d:k * d + d].T
    old, new = z[..., k * d:k * d + d] @ matrix, other[..., k * d:k * d + d] @ matrix
    return norm(stream - old + new)
'''),
    Variant("path", "by the layer itself", source='''def along(stream, z, other, attention, k, norm):
    own = slice(k * attention.head_size, (k + 1) * attention.head_size)
    changed = z.clone()
    changed[..., own] = other[..., own]
    return norm(stream + attention.W_o(changed) - attention.W_o(z))
'''),
    Variant("path", "by ablate", source='''def along(stream, z, other, attention, k, norm):
    changed = ablate([k], attention.head_size, other)(z)
    return norm(stream + (changed - z) @ attention.W_o.weight.T)
'''),
    Variant("path", "einsum", swap=(
        MORE, '''change = other[..., own] - z[..., own]
    more = torch.einsum("...d,Dd->...D", change, attention.W_o.weight[:, own])''')),

    # ------------------------------------------------------------ probe
    Variant("probe", "sums divided", source='''def probe(x, labels):
    chosen = labels.to(x.dtype)
    true, false = chosen @ x / chosen.sum(), (1 - chosen) @ x / (1 - chosen).sum()
    return true - false, 0.5 * ((true ** 2).sum() - (false ** 2).sum())
'''),
    Variant("probe", "a loop over the rows", source='''def probe(x, labels):
    groups = {True: [], False: []}
    for row, label in zip(x, labels.tolist()):
        groups[label].append(row)
    means = {label: torch.stack(rows).mean(0) for label, rows in groups.items()}
    direction = means[True] - means[False]
    return direction, (direction * (means[True] + means[False]) / 2).sum()
'''),
    Variant("probe", "mean of the two products", swap=(
        HALFWAY, "return direction, torch.stack([true @ direction, false @ direction]).mean()")),
    Variant("probe", "labels inverted by logical_not", swap=(
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
    return tokens[:, 1:]
'''),
    Variant("cache", "the column kept", swap=[
        (FIRST, "tokens, output = torch.full_like(source[:, :1], SOS)[:, 0], []"),
        (CHOSEN, "tokens = torch.where(ended, torch.full_like(tokens, PAD), logits[:, 0].argmax(dim=-1))")]),
    Variant("cache", "a for loop that breaks", swap=[
        (LOOP, "for _ in range(max_length):"),
        ("        output.append(tokens)\n",
         "        output.append(tokens)\n        if ended.all():\n            break\n")]),
    Variant("cache", "an empty tensor to begin with", swap=[
        ("        if self.keys is not None:\n            " + JOIN + "\n",
         '''        if self.keys is None:
            self.keys, self.values = keys[..., :0, :], values[..., :0, :]
        keys, values = torch.cat([self.keys, keys], dim=-2), torch.cat([self.values, values], dim=-2)
''')]),

]
