"""Wrong versions that learners write in session 6."""

from autograder.model.faults import Fault

SPLIT = "return x.unflatten(-1, (-1, self.head_size)).transpose(-3, -2)"
AROUND = "return x + part(norm(x)) if self.pre_norm else norm(x + part(x))"
START = "start = 0 if cache is None else len(cache)"
CROSS = """x = self.around(self.norms[1], x,
                            lambda x: self.cross(x, *memory, memory_mask))"""
MASK = "mask = causal_mask(tokens.shape[1], start, tokens.device)"
READ = 'return torch.einsum("hts,hsd,ohd->tso", weights, values, matrices).norm(dim=-1)'
PRODUCT = "return (slopes(log_prob, x) * x).sum(dim=-1)"
CHANGED = "changed[s, :, s] = others"
PATCH = """patch = seen[name].clone()
        patch[:, p] = kept[name][:, p]"""
SHARE = "shares.append((measure(model(corrupt, target)) - worst) / (best - worst))"
SHARES = "return (centred / (variance + norm.eps).sqrt() * norm.weight) @ direction"
COLUMNS = "new[..., k * d:(k + 1) * d] = other[..., k * d:(k + 1) * d]"
OWN_QK = "own = slice(k * d, (k + 1) * d)"
OWN_OV = "own = slice(k * attention.head_size, (k + 1) * attention.head_size)"
HALFWAY = "return direction, direction @ (true + false) / 2"
JOIN = """keys, values = (torch.cat([self.keys, keys], dim=-2),
                            torch.cat([self.values, values], dim=-2))"""
CHOSEN = "tokens = logits[:, -1].argmax(dim=-1).masked_fill(ended, PAD)"
ENDED = "ended = ended | (tokens == EOS)"

FAULTS = [
    # ------------------------------------------------------------ masks
    Fault("masks", "triangle-over-the-past",
            "Your triangle begins at column 0, where the past is. The new positions begin at column `past`, so "
            "row t ends at column past + t.",
            replace=("return torch.ones(T, past + T, dtype=torch.bool, device=device).tril(past)",
                     "mask = torch.ones(T, past + T, dtype=torch.bool, device=device).tril()\n"
                     "    mask[:, :past] = True\n"
                     "    return mask")),
    Fault("masks", "future-only",
            "Your causal mask allows later positions and excludes earlier ones.",
            replace=(".tril(past)", ".triu(past)")),

    # ------------------------------------------------------------ heads
    Fault("heads", "reshaped-across-time",
            "One reshape to (B, n, T, d) cuts the tensor in the order of memory, so that a head gets numbers of "
            "several tokens. First split the last axis in two, n and d, then move the heads in front of the "
            "timesteps.",
            replace=(SPLIT, "return x.reshape(x.shape[0], -1, x.shape[1], self.head_size)")),
    Fault("heads", "heads-alternate",
            "You assign the numbers of a token to the heads alternately. The first d numbers belong to the first head.",
            replace=(SPLIT, "return x.unflatten(-1, (self.head_size, -1)).permute(0, 3, 1, 2)")),

    # ------------------------------------------------------------ rotary
    Fault("rotate", "pairs-torn-apart",
            "The rotated numbers are in the wrong columns: the first numbers of all pairs, then all the second ones. "
            "The two numbers of a pair must be next to each other, at columns 2i and 2i + 1.",
            replace=("dim=-1).flatten(-2)", "dim=-2).flatten(-2)")),

    # ------------------------------------------------------------ block
    Fault("block", "stream-normalised",
            "With pre-norm you add to the normalised x. Add to the x that was not normalised.",
            replace=("x + part(norm(x)) if", "norm(x) + part(norm(x)) if")),
    Fault("block", "always-pre",
            "`pre_norm` is ignored: you always put the norm before the part.",
            replace=(AROUND, "return x + part(norm(x))")),
    Fault("block", "start-after-extension",
            "With a cache, your queries begin too late, by the number of new vectors. They begin, as the keys do, at "
            "the length that the cache has before `extend`.",
            replace=("keys, values, mask, start)",
                     "keys, values, mask, 0 if cache is None else len(cache))")),
    Fault("block", "always-at-the-start",
            "Your positions always begin at 0. With a cache, they begin at its length.",
            replace=(START, "start = 0")),
    Fault("block", "cross-attention-last",
            "In your block, cross-attention comes after the feed-forward network. It comes before it.",
            replace=[("        x = self.around(self.norms[0], x, attend_to_itself)\n",
                     "        x = self.around(self.norms[0], x, attend_to_itself)\n"
                     "        x = self.around(self.norms[-1], x, self.feed_forward)\n"),
                     ("        return self.around(self.norms[-1], x, self.feed_forward)", "        return x")]),
    Fault("block", "memory-ignored",
            "The memory has no effect on your result. If `memory` is given, `self.cross` must attend to it, and the "
            "result is the next x.",
            replace=("        if memory is not None:\n            " + CROSS + "\n", "")),

    # ------------------------------------------------------------ decoder
    Fault("decoder", "no-positions",
            "The positions are missing: `self.positions.add` returns new vectors. Embeddings alone do not contain the "
            "position of a token.",
            replace=("x = self.positions.add(self.embedding(tokens), start)", "x = self.embedding(tokens)")),
    Fault("decoder", "no-causal-mask",
            "There is no causal mask, so each position attends to the tokens that it must predict.",
            replace=(MASK, "mask = None")),
    Fault("decoder", "mask-without-past", "The causal mask does not count the positions in the caches: set `past`.",
            replace=("tokens.shape[1], start, tokens.device", "tokens.shape[1], 0, tokens.device")),
    Fault("decoder", "first-cache-for-all", "All blocks share the first cache. Each needs its own.",
            replace=("caches[i] if caches", "caches[0] if caches")),
    Fault("decoder", "probabilities",
            "You return probabilities. The loss takes the softmax itself: return raw logits.",
            replace=("return self.readout(self.norm(x))", "return self.readout(self.norm(x)).softmax(-1)")),

    # ------------------------------------------------------------ read-norms
    Fault("read-norms", "sum-of-norms",
            "You add up the norms of the heads. Add up the vectors first: the vectors of two heads may cancel.",
            replace=(READ, READ.replace("->tso", "->htso").replace("norm(dim=-1)", "norm(dim=-1).sum(dim=0)"))),

    # ------------------------------------------------------------ gradients
    Fault("gradients", "gradient-of-all",
            "Each row of your slopes is the gradient of the sum of all T numbers. Use only number t of copy t.",
            replace=("log_prob(copies).diagonal().sum()", "log_prob(copies).sum()")),
    Fault("gradients", "gradients-add-up",
            "Row t of your slopes is the sum of the gradients of the numbers 0 to t. `backward`, for example, "
            "adds to the gradient that is there.",
            replace=("return torch.autograd.grad(log_prob(copies).diagonal().sum(), copies)[0]",
                     "return torch.autograd.grad(log_prob(copies).diagonal().sum(), copies)[0].cumsum(dim=0)")),
    Fault("gradients", "one-number-later",
            "The rows are off by one: row t must hold the gradient of number t.",
            replace=("log_prob(copies).diagonal()", "log_prob(copies).roll(1, dims=1).diagonal()")),
    Fault("gradients", "norm-of-the-product",
            "You take a norm, which loses the sign. Gradient × input is a dot product.",
            replace=(PRODUCT, "return (slopes(log_prob, x) * x).norm(dim=-1)")),
    Fault("gradients", "sum-not-mean",
            "You add up the gradients between baseline and x. Take their mean.",
            replace=("for step in range(steps)) / steps", "for step in range(steps))")),
    Fault("gradients", "times-x",
          "You multiply the mean gradient by x. Multiply it by x − baseline.",
            replace=("mean * (x - baseline)", "mean * x")),
    Fault("gradients", "times-the-points",
          "You multiply each gradient by the point between baseline and x where you took it. Multiply by "
          "x − baseline.",
          replace=[("sum(slopes(log_prob, baseline", "sum(gradient_times_input(log_prob, baseline"),
                   ("return (mean * (x - baseline)).sum(dim=-1)", "return mean")]),
    Fault("gradients", "left-ends",
            "You take the gradient at the beginning of each piece. Take it in the middle, half a piece further.",
            replace=("(step + 0.5) / steps", "step / steps")),
    Fault("gradients", "right-ends",
            "You take the gradient at the end of each piece. Take it in the middle, half a piece before.",
            replace=("(step + 0.5) / steps", "(step + 1) / steps")),
    Fault("gradients", "both-ends",
            "Your points run from the baseline to x, both included. Take the middle of each of the `steps` pieces.",
            replace=("(step + 0.5) / steps", "step / max(1, steps - 1)")),

    # ------------------------------------------------------------ effects
    Fault("effects", "next-word",
            "The columns are off by one: column s must hold the effect of replacing word s.",
            replace=(CHANGED, "changed[s, :, s - 1] = others")),
    Fault("effects", "mean-first",
            "You replace a word once, by the mean of `others`. Replace it by each of them, and take the mean of the "
            "results.",
            replace=(CHANGED, "changed[s, :, s] = others.mean(dim=0)")),
    Fault("effects", "whole-sentence", "You replace all words at once. Replace one, and keep the others.",
            replace=(CHANGED, "changed[s] = others[:, None]")),

    # ------------------------------------------------------------ patching
    Fault("patching", "not-a-share",
            "You return a difference of measures. Divide it by the difference of the clean and the corrupt run.",
            replace=(SHARE, "shares.append(measure(model(corrupt, target)) - worst)")),
    Fault("patching", "all-positions",
            "You patch the activation at all positions at once. Patch one, and keep the others of the corrupt run.",
            replace=(PATCH, "patch = kept[name].clone()")),
    Fault("patching", "next-position",
            "The shares are off by one: entry p must belong to the patch at position p.",
            replace=("patch[:, p] = kept[name][:, p]", "patch[:, p - 1] = kept[name][:, p - 1]")),
    Fault("patching", "clean-run-patched",
            "You patch the clean run with an activation of the corrupt one. This finds necessary activations; the "
            "exercise asks for sufficient ones. Patch the corrupt run.",
            replace=[(PATCH, PATCH.replace("seen[name].clone()", "kept[name].clone()")
                                   .replace("= kept[name][:, p]", "= seen[name][:, p]")),
                     (SHARE, SHARE.replace("corrupt", "clean"))]),
    Fault("patching", "never-patched",
            "The patch has no effect. Its position p must come from the clean run, and the model must run inside "
            "`with tp.trace(model, {…})`.",
            replace=("with tp.trace(model, {name: patch}):", "with tp.trace(model):")),
    Fault("patching", "into-the-input",
            "You patch the input of this part, `name:in`. Patch its output, `name`.",
            replace=("{name: patch}",
                     "{name + ':in': patch if seen[name + ':in'].shape == patch.shape else seen[name + "
                                      "':in']}")),
    Fault("patching", "last-position-only",
          "All your patches change the last position. A function that is defined in a loop reads `p` only when it is "
          "called: call it in the loop, or define it with `p=p` among its parameters.",
          replace=("patch[:, p] = kept[name][:, p]", "patch[:, -1] = kept[name][:, -1]")),
    Fault("patching", "patches-stay",
            "For entry p you patch all positions up to p. Patch position p alone, in a copy of the corrupt activation "
            "that is fresh for each p.",
            replace=("patch = seen[name].clone()", "patch = seen[name]")),

    # ------------------------------------------------------------ ablate
    Fault("ablate", "in-place", "You change the traced activation in place. Change a copy.",
            replace=("new = z.clone()", "new = z")),
    Fault("ablate", "last-head-only", "Only the last of the heads is replaced.",
            replace=("        for k in heads:\n            " + COLUMNS + "\n",
                     "        for k in heads[-1:]:\n            " + COLUMNS + "\n")),

    # ------------------------------------------------------------ attribution
    Fault("attribution", "own-deviation",
            "Each part is divided by its own standard deviation. All are divided by that of their sum.",
            replace=("parts.sum(dim=0).var(", "parts.var(")),
    Fault("attribution", "norm-of-each-part",
            "You normalise each part by itself. The shares then do not add up to the difference of the logits.",
            replace=(SHARES, "return norm(parts) @ direction")),
    Fault("attribution", "not-centred",
            "You do not subtract the mean over D from the parts. The layer norm subtracts it.",
            replace=("centred = parts - parts.mean(dim=-1, keepdim=True)", "centred = parts")),
    Fault("attribution", "divided-by-d-minus-1",
            "Your variance divides by D − 1, as PyTorch does by default. A layer norm divides by D.",
            replace=(", correction=0", "")),
    Fault("attribution", "bias-in-each-part",
            "Every part gets the norm's bias. It is a share of its own, and belongs to no part.",
            replace=("* norm.weight) @", "* norm.weight + norm.bias) @")),

    # ------------------------------------------------------------ induction
    Fault("induction", "previous-token",
            "You take the weight on the previous position. This finds a previous-token head.",
            replace=("weights[:, :, t, t - L + 1]", "weights[:, :, t, t - 1]")),
    Fault("induction", "last-missing",
            "The last position of the second reading is missing: t runs from L to 2L − 1, both included.",
            replace=("torch.arange(L, 2 * L,", "torch.arange(L, 2 * L - 1,")),
    Fault("induction", "first-reading-too",
            "The last position of the first reading is in the mean, too. t runs from L to 2L − 1.",
            replace=("torch.arange(L, 2 * L,", "torch.arange(L - 1, 2 * L,")),

    # ------------------------------------------------------------ circuits
    Fault("circuits", "next-head", "You take the weights of head k + 1. Head 0 has the rows 0 … d − 1.",
          replace=[(OWN_QK, "own = slice((k + 1) * d, (k + 2) * d) if len(attention.W_q.weight) > d else slice(d)"),
                   (OWN_OV, "own = slice((k + 1) * attention.head_size, (k + 2) * attention.head_size) "
                            "if len(attention.W_q.weight) > attention.head_size else slice(attention.head_size)")]),
    Fault("circuits", "columns-of-queries-and-keys",
            "You take columns of `W_q` and `W_k`. A head's numbers are rows of these matrices: `nn.Linear` computes "
            "x @ W.T.",
            replace=[("x @ attention.W_q.weight[own].T", "x @ attention.W_q.weight[:, own]"),
                     ("y @ attention.W_k.weight[own].T", "y @ attention.W_k.weight[:, own]")]),
    Fault("circuits", "with-biases", "You add the biases. The two circuits leave them out.",
            replace=[("x @ attention.W_q.weight[own].T", "attention.W_q(x)[:, own]"),
                     ("y @ attention.W_k.weight[own].T", "attention.W_k(y)[:, own]"),
                     ("y @ attention.W_v.weight[own].T", "attention.W_v(y)[:, own]")]),
    Fault("circuits", "keys-for-values",
            "Your OV circuit uses `W_k`. The output of a head is computed from values: use `W_v`.",
            replace=("values = y @ attention.W_v", "values = y @ attention.W_k")),
    Fault("circuits", "scaled-by-the-width",
            "You divide the scores by √D. A head multiplies vectors of d numbers: divide by √d.",
            replace=("math.sqrt(d)", "math.sqrt(x.shape[-1])")),
    Fault("circuits", "rows-of-the-output",
            "You take rows of `W_o`. A head's numbers are multiplied by columns of this matrix: `nn.Linear` computes "
            "x @ W.T.",
            replace=("attention.W_o.weight[:, own].T", "attention.W_o.weight[own]")),

    # ------------------------------------------------------------ path
    Fault("path", "sign-inverted",
            "You add the old output of the head and subtract the new one.",
            replace=("(other - z)", "(z - other)")),
    Fault("path", "norm-before-the-change",
            "You take the norm of the stream, and add the change afterwards. Add it first.",
            replace=("return norm(stream + more)", "return norm(stream) + more")),
    Fault("path", "next-head", "You replace head k + 1. Head 0 has the columns 0 … d − 1.",
          replace=(OWN_OV, "own = slice((k + 1) * attention.head_size, (k + 2) * attention.head_size) "
                           "if z.shape[-1] > attention.head_size else slice(attention.head_size)")),
    Fault("path", "not-subtracted",
            "The output of head k is still in the stream: subtract it before you add the other.",
            replace=("(other - z)[..., own]", "other[..., own]")),

    # ------------------------------------------------------------ probe
    Fault("probe", "mean-of-all",
            "The threshold lies at the mean of all vectors. It belongs halfway between the two means. They differ if "
            "one group is larger.",
            replace=(HALFWAY, "return direction, direction @ x.mean(dim=0)")),
    Fault("probe", "divided-by-all",
            "You divide the sum of each group by the number of all vectors. Divide it by the number of vectors in "
            "the group.",
            replace=("x[labels].mean(dim=0), x[~labels].mean(dim=0)",
                     "x[labels].sum(dim=0) / len(x), x[~labels].sum(dim=0) / len(x)")),
    Fault("probe", "threshold-not-halved",
            "Your threshold belongs to the sum of the two means. The point halfway between them is half of that.",
            replace=("direction @ (true + false) / 2", "direction @ (true + false)")),
    Fault("probe", "half-of-the-difference",
            "Your threshold belongs to half of the difference of the means. The point halfway between them is "
            "half of their sum.",
            replace=("direction @ (true + false) / 2", "direction @ (true - false) / 2")),
    Fault("probe", "mean-of-all-for-the-others",
            "In the place of the mean of the vectors with label False you take that of all vectors.",
            replace=("x[~labels].mean(dim=0)", "x.mean(dim=0)")),
    Fault("probe", "others-divided-by-all",
            "You divide the sum of the vectors with label False by the number of all vectors. Divide it by the "
            "number of those.",
            replace=("x[~labels].mean(dim=0)", "x[~labels].sum(dim=0) / len(x)")),
    Fault("probe", "sums", "You add up the vectors of a group. Take their mean.",
            replace=("x[labels].mean(dim=0), x[~labels].mean(dim=0)", "x[labels].sum(dim=0), x[~labels].sum(dim=0)")),
    Fault("probe", "unit-length",
            "You divide the direction by its length. Leave it unscaled: the threshold depends on its length.",
            replace=("direction = true - false", "direction = F.normalize(true - false, dim=0)")),

    # ------------------------------------------------------------ cache
    Fault("cache", "new-in-front", "You put new positions before the old ones.",
            replace=(JOIN,
                     "keys, values = torch.cat([keys, self.keys], dim=-2), torch.cat([values, self.values], dim=-2)")),
    Fault("cache", "no-pad-after-eos",
            "In your sentences, tokens other than PAD follow the EOS. All tokens after it must be PAD.",
            replace=(".masked_fill(ended, PAD)", "")),
    Fault("cache", "eos-hidden", "You replace the EOS itself by PAD. A sentence is finished *after* its EOS.",
            replace=[("        " + ENDED + "\n", ""),
                     (CHOSEN, "tokens = logits[:, -1].argmax(dim=-1)\n        " + ENDED + "\n"
                      "        tokens = tokens.masked_fill(ended, PAD)")]),
    Fault("cache", "starts-with-eos", "The decoder starts with EOS, not with SOS.",
            replace=("torch.full_like(source[:, 0], SOS)", "torch.full_like(source[:, 0], EOS)")),
    Fault("cache", "source-read-each-step",
            "You encode the source again at every step. It does not change: encode it once, before the loop.",
            replace=[("    vectors, words = model.encoder(source)\n"
                      "    memories = model.decoder.remember(vectors)\n", ""),
                     ("        logits = model", "        vectors, words = model.encoder(source)\n"
                      "        memories = model.decoder.remember(vectors)\n        logits = model")]),

]
