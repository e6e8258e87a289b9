"""Wrong versions that learners write in session 6."""

from autograder.authoring import Fault

HALFWAY_POINT = ("Your threshold is not the product with the point halfway between the two means. This point is half "
                 "of their sum.")
SPLIT = "return x.unflatten(-1, (-1, self.head_size)).transpose(-3, -2)"
AROUND = "return x + part(norm(x)) if self.pre_norm else norm(x + part(x))"
ATTEND = "keys, values, mask, start)"
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
BIASED_VALUES = ("y @ attention.W_v.weight[own].T", "attention.W_v(y)[:, own]")
HALFWAY = "return direction, direction @ (true + false) / 2"
JOIN = """keys, values = (torch.cat([self.keys, keys], dim=-2),
                            torch.cat([self.values, values], dim=-2))"""
CHOSEN = "tokens = logits[:, -1].argmax(dim=-1).masked_fill(ended, PAD)"
ENDED = "ended = ended | (tokens == EOS)"

FAULTS = [
    # ------------------------------------------------------------ masks
    Fault("masks", "triangle-over-the-past",
            "Where there is a past, your queries attend to it alone, and not to the new positions. These begin at "
            "column `past`: row t ends at column past + t.",
            replace=("return torch.ones(T, past + T, dtype=torch.bool, device=device).tril(past)",
                     "mask = torch.ones(T, past + T, dtype=torch.bool, device=device).tril()\n"
                     "    mask[:, :past] = True\n"
                     "    return mask")),
    Fault("masks", "future-only",
            "Your causal mask allows later positions and excludes earlier ones.",
            replace=(".tril(past)", ".triu(past)")),
    Fault("masks", "past-not-counted",
            "Row t of your causal mask ends at column t. The past is in front: row t ends at column past + t.",
            replace=(".tril(past)", ".tril()")),
    Fault("masks", "own-position-excluded",
            "Your causal mask excludes the position itself. Row t ends at column past + t, and this column is "
            "allowed.",
            replace=(".tril(past)", ".tril(past - 1)")),

    # ------------------------------------------------------------ heads
    Fault("heads", "reshaped-across-time",
            "A head gets numbers of several tokens, because a reshape keeps the order of memory. Split the last axis "
            "in two, n and d, and exchange the axes of timesteps and heads with `transpose`.",
            replace=(SPLIT, "return x.reshape(x.shape[0], -1, x.shape[1], self.head_size)")),
    Fault("heads", "heads-alternate",
            "You assign the numbers of a token to the heads alternately. The first d numbers belong to the first head.",
            replace=(SPLIT, "return x.unflatten(-1, (self.head_size, -1)).permute(0, 3, 1, 2)")),
    Fault("heads", "values-rotated",
            "You rotate the values, too. Only queries and keys are rotated.",
            replace=("self.split(self.W_v(x)))", "self.positions.rotate(self.split(self.W_v(x)), start))")),
    Fault("heads", "keys-from-zero",
            "Your keys are always rotated from position 0. Their first vector is at `start`.",
            replace=("self.split(self.W_k(x)), start)", "self.split(self.W_k(x)))")),
    Fault("heads", "queries-from-zero",
            "Your queries are always rotated from position 0. Their first vector is at `start`.",
            replace=("self.split(self.W_q(x)), start)", "self.split(self.W_q(x)))")),
    Fault("heads", "no-bias", "The bias of the positions, `self.positions.bias`, has no effect. Pass it to `attend`.",
            replace=("mask, bias)", "mask)")),
    Fault("heads", "joined-across-time",
            "You join the heads while they stand in front of the timesteps, so a vector gets numbers of several "
            "tokens. First move the heads back behind the timesteps.",
            replace=("context.transpose(-3, -2).flatten(-2)", "context.reshape(x.shape)")),

    # ------------------------------------------------------------ rotary
    Fault("rotate", "pairs-torn-apart",
            "The rotated numbers are in the wrong columns: the first numbers of all pairs, then all the second ones. "
            "The two numbers of a pair must be next to each other, at columns 2i and 2i + 1.",
            replace=("dim=-1).flatten(-2)", "dim=-2).flatten(-2)")),
    Fault("rotate", "halves-as-pairs",
            "You pair each number of the first half with one of the second half. The two numbers of a pair are "
            "neighbours, at columns 2i and 2i + 1.",
            replace=[("x[..., 0::2], x[..., 1::2]", "x[..., :d // 2], x[..., d // 2:]"),
                     ("dim=-1).flatten(-2)", "dim=-2).flatten(-2)")]),
    Fault("rotate", "exponent-halved",
            "The frequency of your pair i is 10000^(−i/d). It must be 10000^(−2i/d).",
            replace=("torch.arange(0, d, 2, device=x.device)", "torch.arange(d // 2, device=x.device)")),
    Fault("rotate", "start-ignored", "Your positions always begin at 0. The first vector is at position `start`.",
            replace=("(start + torch", "(torch")),
    Fault("rotate", "backwards",
            "You rotate by −φ. Rotated by φ, a pair is (a cos φ − b sin φ, a sin φ + b cos φ).",
            replace=("angles = (", "angles = -(")),
    Fault("rotate", "rotated-number-used",
            "The second number of your pairs is computed from the first one after its rotation. Both are computed "
            "from the old pair.",
            replace=("a * angles.sin() +", "(a * angles.cos() - b * angles.sin()) * angles.sin() +")),

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
            replace=(ATTEND, "keys, values, mask, 0 if cache is None else len(cache))")),
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
    Fault("block", "norm-of-the-part",
            "With post-norm you take the norm of the part alone. Take that of the sum: norm(x + part(x)).",
            replace=("else norm(x + part(x))", "else x + norm(part(x))")),
    Fault("block", "no-residual", "The residual is missing: add x to what the part returns.",
            replace=(AROUND, "return part(norm(x)) if self.pre_norm else norm(part(x))")),
    Fault("block", "keys-not-normalised",
            "With pre-norm, your keys and values come from the x that was not normalised. They come from the same "
            "vectors as the queries.",
            replace=[("def attend_to_itself(x):", "def attend_to_itself(normed):"),
                     ("self.attention(x, keys", "self.attention(normed, keys")]),
    Fault("block", "no-memory-mask",
            "The memory's mask has no effect, so cross-attention attends to the padding of the source.",
            replace=("*memory, memory_mask)", "*memory)")),
    Fault("block", "keys-at-the-start",
            "With a cache, your new keys are at positions 0, 1, … They begin, as the queries do, at its length.",
            replace=("remember(x, start)", "remember(x)")),
    Fault("block", "queries-at-the-start",
            "With a cache, your queries are at positions 0, 1, … They begin, as the new keys do, at its length.",
            replace=(ATTEND, "keys, values, mask)")),
    Fault("block", "new-keys-alone",
            "With a cache, your queries attend to the new positions only. `extend` returns all keys and values: attend "
            "to those.",
            replace=("keys, values = cache.extend(keys, values)", "cache.extend(keys, values)")),
    Fault("block", "empty-cache-left-empty",
            "You do not extend an empty cache. Test only whether it is `None`: its length is 0 at first, and as a "
            "condition it is false.",
            replace=("if cache is not None:", "if cache:")),
    Fault("block", "norm-of-the-cross-attention",
            "In a block with cross-attention, your feed-forward network has the norm of the cross-attention. Its own "
            "is the last one.",
            replace=("self.norms[-1], x, self.feed_forward", "self.norms[1], x, self.feed_forward")),

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
    Fault("decoder", "no-mask-with-caches",
            "With caches, your new tokens attend to later ones. There may be several new tokens: they need a causal "
            "mask, too.",
            replace=(MASK, MASK + " if not caches else None")),
    Fault("decoder", "positions-from-zero",
            "The positions that you add always begin at 0. With caches, they begin at the length of a cache.",
            replace=("self.embedding(tokens), start)", "self.embedding(tokens))")),
    Fault("decoder", "positions-in-each-block",
            "You add the positions again before each block. Add them once, to the embedded tokens.",
            replace=[("x = self.positions.add(self.embedding(tokens), start)", "x = self.embedding(tokens)"),
                     ("block(x, mask", "block(self.positions.add(x, start), mask")]),
    Fault("decoder", "first-memory-for-all",
            "All blocks attend to the keys and values of the first one. Each has its own pair in `memories`.",
            replace=("memories[i] if", "memories[0] if")),
    Fault("decoder", "no-last-norm", "The norm between the last block and the output layer is missing.",
            replace=("self.readout(self.norm(x))", "self.readout(x)")),

    # ------------------------------------------------------------ read-norms
    Fault("read-norms", "sum-of-norms",
            "You add up the norms of the heads. Add up the vectors first: the vectors of two heads may cancel.",
            replace=(READ, READ.replace("->tso", "->htso").replace("norm(dim=-1)", "norm(dim=-1).sum(dim=0)"))),
    Fault("read-norms", "mean-weight",
            "You multiply one norm of each source word by the mean of the heads' weights. Weigh each head's vector by "
            "its own weight, add them up over the heads, and take the norm last.",
            replace=(READ, 'return weights.mean(dim=0) * torch.einsum("hsd,ohd->so", values, matrices).norm(dim=-1)')),

    # ------------------------------------------------------------ gradients
    Fault("gradients", "gradient-of-all",
            "A row of your slopes holds the gradients of several numbers, added up. Row t must be that of number t "
            "alone.",
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
    Fault("gradients", "product-of-sums",
            "You multiply the sum of the gradient's numbers by the sum of the word's numbers. Multiply number by "
            "number, and add up the products.",
            replace=(PRODUCT, "return slopes(log_prob, x).sum(dim=-1) * x.sum(dim=-1)")),
    Fault("gradients", "path-from-zero",
            "Your points lie between zero and x. They lie between the baseline and x.",
            replace=[("baseline + (step", "(step"), ("steps * (x - baseline))\n", "steps * x)\n")]),

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
    Fault("effects", "earlier-words-too",
            "Where you replace word s, the words before it are replaced as well. Replace one word of the unchanged "
            "sentence.",
            replace=(CHANGED, "changed[s:, :, s] = others")),
    Fault("effects", "runs-mixed",
            "You take means over runs in which different words are replaced. Average over `others`, for each word.",
            replace=("(0, (S, N)).mean(dim=1)", "(0, (N, S)).mean(dim=0)")),
    Fault("effects", "sign-inverted",
            "The sign is inverted: an effect is how much *lower* the log-probability is after the replacement.",
            replace=("log_prob(x[None]) - after", "after - log_prob(x[None])")),
    Fault("effects", "sum-of-effects", "You add up the effects of the N replacements. Take their mean.",
            replace=("return (log_prob", "return N * (log_prob")),

    # ------------------------------------------------------------ patching
    Fault("patching", "not-a-share",
            "You return c_p − b. Divide it by a − b, the difference between the measures of the clean and the "
            "corrupt run.",
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
          "All your patches change the last position. Entry p needs a patch of position p; a function that is "
          "defined in a loop reads `p` only when it is called.",
          replace=("patch[:, p] = kept[name][:, p]", "patch[:, -1] = kept[name][:, -1]")),
    Fault("patching", "patches-stay",
            "For entry p you patch all positions up to p. Patch position p alone, in a copy of the corrupt activation "
            "that is fresh for each p.",
            replace=("patch = seen[name].clone()", "patch = seen[name]")),
    Fault("patching", "share-not-restored",
            "You compute the share that is still missing. Compute how far the patch leads from the corrupt run to the "
            "clean one.",
            replace=(SHARE, "shares.append((best - measure(model(corrupt, target))) / (best - worst))")),
    Fault("patching", "divided-by-the-clean-measure",
            "You divide by the measure of the clean run. Divide by its difference from that of the corrupt run.",
            replace=("/ (best - worst)", "/ best")),

    # ------------------------------------------------------------ ablate
    Fault("ablate", "in-place", "You change the traced activation in place. Change a copy.",
            replace=("new = z.clone()", "new = z")),
    Fault("ablate", "last-head-only", "Only the columns of the last of `heads` are replaced. Make one copy, and "
                                      "replace those of all heads in it.",
            replace=("        for k in heads:\n            " + COLUMNS + "\n",
                     "        for k in heads[-1:]:\n            " + COLUMNS + "\n")),
    Fault("ablate", "heads-alternate",
            "You assign the columns to the heads alternately. The first d columns belong to the first head.",
            replace=(COLUMNS, "new[..., k::z.shape[-1] // d] = other[..., k::z.shape[-1] // d]")),

    # ------------------------------------------------------------ attribution
    Fault("attribution", "own-deviation",
            "Each part is divided by its own standard deviation. All are divided by that of their sum.",
            replace=("parts.sum(dim=0).var(", "parts.var(")),
    Fault("attribution", "norm-of-each-part",
            "You apply the norm to each part by itself, so each is divided by its own standard deviation and gets "
            "the bias. Divide all by that of their sum, and leave the bias out.",
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
    Fault("attribution", "no-weight", "The norm's weight is missing: a layer norm multiplies by it.",
            replace=(" * norm.weight)", ")")),

    # ------------------------------------------------------------ induction
    Fault("induction", "previous-token",
            "You take the weight on the position before t. Take that on position t − L + 1, the token after the "
            "earlier occurrence.",
            replace=("weights[:, :, t, t - L + 1]", "weights[:, :, t, t - 1]")),
    Fault("induction", "last-missing",
            "The last position of the second reading is missing: t runs from L to 2L − 1, both included.",
            replace=("torch.arange(L, 2 * L,", "torch.arange(L, 2 * L - 1,")),
    Fault("induction", "first-reading-too",
            "The last position of the first reading is in the mean, too. t runs from L to 2L − 1.",
            replace=("torch.arange(L, 2 * L,", "torch.arange(L - 1, 2 * L,")),
    Fault("induction", "same-token",
            "You take the weight on the earlier occurrence of the token itself. Take that on the token after it.",
            replace=("t - L + 1]", "t - L]")),
    Fault("induction", "largest-weights-counted",
            "You count how often the largest weight of row t is in column t − L + 1. Take the mean of the weights in "
            "this column.",
            replace=("weights[:, :, t, t - L + 1]", "(weights[:, :, t].argmax(dim=-1) == t - L + 1).float()")),

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
                     ("y @ attention.W_k.weight[own].T", "attention.W_k(y)[:, own]"), BIASED_VALUES]),
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
    Fault("circuits", "values-with-bias", "You add the bias of the values. The circuit leaves it out.",
            replace=BIASED_VALUES),
    Fault("circuits", "columns-of-values",
            "You take columns of `W_v`. A head's numbers are rows of this matrix: `nn.Linear` computes x @ W.T.",
            replace=("attention.W_v.weight[own].T", "attention.W_v.weight[:, own]")),
    Fault("circuits", "not-scaled", "Your scores are not scaled: divide them by √d.",
            replace=(" / math.sqrt(d)", "")),

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
    Fault("path", "all-heads", "You replace the output of all heads. Replace that of head k.",
          replace=[("(other - z)[..., own]", "(other - z)"), ("weight[:, own].T", "weight.T")]),

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
    Fault("probe", "threshold-not-halved", HALFWAY_POINT,
            replace=("direction @ (true + false) / 2", "direction @ (true + false)")),
    Fault("probe", "half-of-the-difference", HALFWAY_POINT,
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
    Fault("cache", "number-of-heads",
            "The length of your cache is the number of heads. It is the number of positions, S.",
            replace=("self.keys.shape[-2]", "self.keys.shape[1]")),
    Fault("cache", "only-the-newest-kept",
            "Your cache keeps the newest positions only. Keep what `extend` returns: the old and the new ones.",
            replace=[("if self.keys is not None:", "new = keys, values\n        if self.keys is not None:"),
                     ("self.keys, self.values = keys, values", "self.keys, self.values = new")]),
    Fault("cache", "one-cache-for-all",
            "All blocks share one cache, and read each other's keys and values. Each needs its own.",
            replace=("[Cache() for _ in model.decoder.blocks]", "[Cache()] * len(model.decoder.blocks)")),
    Fault("cache", "all-tokens-at-every-step",
            "You give the decoder all tokens at every step, and the caches hold the earlier ones already. Give it the "
            "newest token only.",
            replace=("model.decoder(tokens[:, None],",
                     "model.decoder(torch.stack([torch.full_like(tokens, SOS), *output], dim=1),")),
    Fault("cache", "stops-at-the-first-eos",
            "You stop as soon as one sentence has an EOS. Go on until all have one.",
            replace=("not ended.all()", "not ended.any()")),
    Fault("cache", "last-step-missing",
            "The last column is missing, in which the last of the sentences has its EOS. It belongs to the result.",
            replace=("        output.append(tokens)", "        if ended.all():\n            break\n"
                     "        output.append(tokens)")),
    Fault("cache", "sos-returned", "Your sentences begin with SOS. It is read, and not returned.",
            replace=("torch.stack(output", "torch.stack([torch.full_like(tokens, SOS), *output]")),

]
