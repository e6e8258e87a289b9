"""Wrong versions that learners write in TP 7, and right ones that look different."""

from autograder.model.faults import Fault, Variant

# Lines of the solution that several versions edit.
SCORES = "scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])"
SOFTMAX = "weights = scores.softmax(dim=-1)"
MASKED = "scores = scores.masked_fill(~mask, -math.inf)"
PADDING = "return (tokens != PAD)[:, None, None, :]"
CAUSAL = "return torch.ones(T, past + T, dtype=torch.bool, device=device).tril(past)"
SPLIT = "return x.unflatten(-1, (-1, self.head_size)).transpose(-3, -2)"
REMEMBER = """return (self.positions.turn(self.split(self.W_k(x)), start),
                self.split(self.W_v(x)))"""
QUERIES = "queries = self.positions.turn(self.split(self.W_q(x)), start)"
BIAS = "bias = self.positions.bias(x.shape[1], keys.shape[-2])"
LOOK = "context, self.attention_weights = attend(queries, keys, values, mask, bias)"
KEPT = "context = context * self.kept[:, None, None]"
JOINED = "return self.W_o(context.transpose(-3, -2).flatten(-2))"
BEFORE = "before, columns = model(tokens[None])[0].flatten(1), []"
CLONE = "changed = tokens.clone()"
REPLACED = "changed[u] = (changed[u] + 1) % V"
COLUMN = """columns.append(
            ((model(changed[None])[0].flatten(1) - before).abs() > 1e-6).any(dim=1))"""
LEAKS = """return [tuple(pair)
            for pair in influence(model, tokens, V).triu(1).nonzero().tolist()]"""
WAVE_RATES = "rates = 10000 ** (-torch.arange(0, D, 2) / D)"
WAVE_TURNS = "return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)"
TURN_RATES = "rates = 10000 ** (-torch.arange(0, d, 2, device=x.device) / d)"
TURN_ANGLES = "angles = (start + torch.arange(T, device=x.device))[:, None] * rates"
PAIRS = "a, b = x[..., 0::2], x[..., 1::2]"
TURNED = """return torch.stack([a * angles.cos() - b * angles.sin(),
                        a * angles.sin() + b * angles.cos()], dim=-1).flatten(-2)"""
DISTANCES = "distances = (torch.arange(S - T, S)[:, None] - torch.arange(S)).abs()"
SLOPES = "slopes = 2.0 ** (-8 * torch.arange(1, n_heads + 1) / n_heads)"
RAMP = "return -slopes[:, None, None] * distances"
CENTRED = "centred = x - x.mean(dim=-1, keepdim=True)"
VARIANCE = "variance = (centred ** 2).mean(dim=-1, keepdim=True)"
NORMED = "return centred / torch.sqrt(variance + eps) * gain + bias"
AROUND = "return x + part(norm(x)) if self.pre_norm else norm(x + part(x))"
START = "start = 0 if cache is None else len(cache)"
OWN = "keys, values = self.attention.remember(x, start)"
EXTENDED = """            if cache is not None:
                keys, values = cache.extend(keys, values)
"""
SELF = "return self.attention(x, keys, values, mask, start)"
CROSS = """x = self.around(self.norms[1], x,
                            lambda x: self.cross(x, *memory, memory_mask))"""
FEED = "return self.around(self.norms[-1], x, self.feed_forward)"
PLACES = "x = self.positions.add(self.embedding(tokens), start)"
PAST = "start = len(caches[0]) if caches else 0"
MASK = "mask = causal_mask(tokens.shape[1], start, tokens.device)"
STACK = """x = block(x, mask, memories[i] if memories else None, memory_mask,
                      caches[i] if caches else None)"""
READOUT = "return self.readout(self.norm(x))"
SHIFTED = "return torch.cat([torch.full_like(target[:, :1], SOS), target[:, :-1]], dim=1)"
SAY = "return self.decoder(shifted(target), self.decoder.remember(memory), memory_mask)"
LOOKED = "for looked, links in zip(maps.argmax(dim=-1).T.tolist(), alignment):"
HITS = "hits += torch.tensor([float(place in links) for place in looked])"
JOIN = """keys, values = (torch.cat([self.keys, keys], dim=-2),
                            torch.cat([self.values, values], dim=-2))"""
KEEP = "self.keys, self.values = keys, values"
LENGTH = "return 0 if self.keys is None else self.keys.shape[-2]"
CACHES = "caches = [Cache() for _ in model.decoder.blocks]"
FIRST = "tokens, said = torch.full_like(source[:, 0], SOS), []"
STEP = "logits = model.decoder(tokens[:, None], memories, words, caches)"
CHOSEN = "tokens = logits[:, -1].argmax(dim=-1).masked_fill(ended, PAD)"
ENDED = "ended = ended | (tokens == EOS)"
LOOP = "while len(said) < max_length and not ended.all():"
COUNT = "pairs = sum(t if cached else t * t for t in range(1, T + 1))"
PRODUCTS = "return 2 * pairs * n_layers * n_heads * head_size"
BYTES = "return 2 * T * n_layers * kv_heads * head_size * bytes_each"

FAULTS = [
    # ------------------------------------------------------------ attend
    Fault("attend", "not-scaled",
            "The scores are not divided by √d. When vectors have many entries, one weight then takes nearly "
            "everything.",
            swap=(" / math.sqrt(query.shape[-1])", "")),
    Fault("attend", "divided-by-d",
            "The scores are divided by d, not by its square root. All weights become nearly equal.",
            swap=("math.sqrt(query.shape[-1])", "query.shape[-1]")),
    Fault("attend", "root-of-places",
            "You take the root of the number of source places. What makes dot products large is the number of entries "
            "in a vector, d.",
            swap=("math.sqrt(query.shape[-1])", "math.sqrt(key.shape[-2])")),
    Fault("attend", "softmax-over-queries",
            "The softmax runs over the places that ask. The weights of *one* query over the source must sum to 1.",
            swap=(SOFTMAX, "weights = scores.softmax(dim=-2)")),
    Fault("attend", "mask-inverted",
            "The mask works the wrong way round: True says where one *may* look.",
            swap=("~mask", "mask")),
    Fault("attend", "mask-read-as-a-length",
            "You take the mask for a length: so many words, from the first on. It says of each place whether one may "
            "look there, and a word between two others may be hidden.",
            swap=("~mask", "torch.arange(mask.shape[-1]).to(mask.device) >= mask.sum(-1, keepdim=True)")),
    Fault("attend", "mask-after-softmax",
            "Weights are set to 0 after the softmax, so the rest no longer sums to 1. Mask the scores.",
            swap=[("    if mask is not None:\n        " + MASKED + "\n", ""),
                  (SOFTMAX, SOFTMAX + "\n    if mask is not None:\n        weights = weights * mask")]),
    Fault("attend", "masked-with-zero",
            "Masked scores are set to 0. To a softmax, 0 is a score like any other. Minus infinity gets no weight.",
            swap=("-math.inf", "0.0")),
    Fault("attend", "mask-ignored",
            "The mask has no effect: where it is False, the weight must be 0. (`masked_fill` returns a new tensor.)",
            swap=("    if mask is not None:\n        " + MASKED + "\n", "")),
    Fault("attend", "bias-ignored",
            "The bias has no effect. Add it to the scores, before the softmax.",
            swap=("    if bias is not None:\n        scores = scores + bias\n", "")),
    Fault("attend", "bias-scaled",
            "The bias is divided by √d together with the scores. It is added after the division.",
            swap=("scores = scores + bias", "scores = scores + bias / math.sqrt(query.shape[-1])")),
    Fault("attend", "keys-are-read",
            "The context is a sum of keys. Keys are for finding; what is read are the values.",
            swap=("weights @ value, weights", "weights @ key, weights")),

    # ------------------------------------------------------------ masks
    Fault("masks", "padding-true",
            "The padding mask is True at PAD. True must say where one may look.",
            swap=("tokens != PAD", "tokens == PAD")),
    Fault("masks", "specials-masked",
            "SOS, EOS or UNK are masked as if they were padding. Only PAD is.", swap=("tokens != PAD", "tokens > UNK")),
    Fault("masks", "axes-missing",
            "Your padding mask is (B, S). It needs two more axes of size 1, for heads and queries: (B, 1, 1, S).",
            swap=(PADDING, "return tokens != PAD")),
    Fault("masks", "future-only",
            "Your causal mask lets a place see the future, and hides the past.",
            swap=(".tril(past)", ".triu(past)")),
    Fault("masks", "not-itself",
            "A place may not look at itself in your mask. Place 0 would be left with nothing to look at.",
            swap=(".tril(past)", ".tril(past - 1)")),
    Fault("masks", "past-ignored",
            "Your diagonal does not take `past` into account: the new places cannot see all of what was there before.",
            swap=(".tril(past)", ".tril()")),
    Fault("masks", "one-too-many",
            "In your mask each place also sees the one after it: the very word that it has to say.",
            swap=(".tril(past)", ".tril(past + 1)")),

    # ------------------------------------------------------------ heads
    Fault("heads", "reshaped-across-time",
            "One reshape to (B, n, T, d) cuts the tensor in the order of memory, so that a head gets numbers of "
            "several tokens. First split the last axis in two, n and d, then move the heads in front of the "
            "timesteps.",
            swap=(SPLIT, "return x.reshape(x.shape[0], -1, x.shape[1], self.head_size)")),
    Fault("heads", "heads-take-turns",
            "The numbers of a token are dealt out to the heads in turns. The first d numbers belong to the first head.",
            swap=(SPLIT, "return x.unflatten(-1, (self.head_size, -1)).permute(0, 3, 1, 2)")),
    Fault("heads", "keys-not-turned",
            "The keys do not go through `self.positions.turn`: the scores cannot know where the keys stand.",
            swap=(REMEMBER, "return self.split(self.W_k(x)), self.split(self.W_v(x))")),
    Fault("heads", "values-turned",
            "The values are turned as well. Positions decide where one looks, not what one reads.",
            swap=("self.split(self.W_v(x))", "self.positions.turn(self.split(self.W_v(x)), start)")),
    Fault("heads", "keys-and-values-swapped",
            "Keys and values have changed places.",
            swap=(REMEMBER, "return self.positions.turn(self.split(self.W_v(x)), start), self.split(self.W_k(x))")),
    Fault("heads", "start-forgotten-in-keys",
            "The keys are turned as if they stood at the beginning: `start` is not passed on.",
            swap=("self.split(self.W_k(x)), start)", "self.split(self.W_k(x)))")),
    Fault("heads", "queries-not-turned",
            "The queries do not go through `self.positions.turn`. What counts is the angle between query and key: "
            "turn both.",
            swap=(QUERIES, "queries = self.split(self.W_q(x))")),
    Fault("heads", "start-forgotten-in-queries",
            "The queries are turned as if they stood at the beginning: `start` is not passed on.",
            swap=("self.split(self.W_q(x)), start)", "self.split(self.W_q(x)))")),
    Fault("heads", "bias-forgotten",
            "The bias of the positions does not reach the scores: pass it on to `attend`.",
            swap=(LOOK, LOOK.replace(", bias)", ")"))),
    Fault("heads", "mask-forgotten",
            "The mask is not passed on to `attend`: every place sees padding and future.",
            swap=(LOOK, LOOK.replace("mask, bias", "None, bias"))),
    Fault("heads", "joined-across-time",
            "The heads are put side by side without moving their axis back behind the timesteps.",
            swap=(JOINED, "return self.W_o(context.reshape(x.shape))")),
    Fault("heads", "no-output-matrix",
            "`W_o` is not applied: what the heads found is never mixed.",
            swap=(JOINED, "return context.transpose(-3, -2).flatten(-2)")),
    Fault("heads", "never-cut", "`kept` has no effect: no head can be cut off.", swap=("    " + KEPT + "\n", "")),
    Fault("heads", "mean-of-weights",
            "The weights that you keep are the mean over the heads. Keep those of each head.",
            swap=(LOOK, LOOK + "\n        self.attention_weights = self.attention_weights.mean(1)")),

    # ------------------------------------------------------------ influence
    Fault("influence", "turned-round",
            "Rows and columns have changed places: entry [t, u] is about output t and token u.",
            swap=("torch.stack(columns, dim=1)", "torch.stack(columns)")),
    Fault("influence", "changes-stay",
            "Changes pile up: token u stays changed when the next one is tested, and the caller's tokens change too. "
            "Change a copy.",
            swap=(CLONE, "changed = tokens")),
    Fault("influence", "not-in-the-vocabulary",
            "The token that you put in can be outside the vocabulary. After the last id comes 0 again: that is what "
            "`% V` does.",
            swap=(REPLACED, "changed[u] = changed[u] + 1")),
    Fault("influence", "exactly-equal",
            "Outputs are compared without tolerance, so that rounding counts as influence.",
            swap=("> 1e-6", "> 0")),
    Fault("influence", "only-rises",
            "Only outputs that rise count. One that falls has changed as well: look at the size of the difference, "
            "not its sign.",
            swap=("- before).abs() > 1e-6", "- before) > 1e-6")),
    Fault("influence", "all-numbers-must-change",
            "An output counts only if all of its numbers change. One is enough.", swap=(".any(dim=1)", ".all(dim=1)")),
    Fault("influence", "past-as-leak",
            "Your leaks are the looks into the *past*. A leak is u > t: above the diagonal.",
            swap=(".triu(1)", ".tril(-1)")),
    Fault("influence", "itself-as-leak",
            "A place that sees itself is no leak: the diagonal does not count.", swap=(".triu(1)", ".triu()")),

    # ------------------------------------------------------------ sinusoidal
    Fault("sinusoidal", "halves",
            "All sines come first, then all cosines. Here they take turns.",
            swap=(WAVE_TURNS, "return torch.cat([angles.sin(), angles.cos()], dim=1)")),
    Fault("sinusoidal", "cosine-first",
            "The cosines stand in the even columns. Sine first.",
            swap=("[angles.sin(), angles.cos()]", "[angles.cos(), angles.sin()]")),
    Fault("sinusoidal", "rate-of-each-column",
            "Sine and cosine of a pair have different rates. The exponent is 2i/D for both.",
            swap=[(WAVE_RATES, "rates = 10000 ** (-torch.arange(D) / D)"),
                  (WAVE_TURNS,
                   "return torch.stack([angles[:, 0::2].sin(), angles[:, 1::2].cos()], dim=-1).flatten(1)")]),
    Fault("sinusoidal", "rates-rise",
            "The rates grow with i. The exponent is negative: later pairs turn more slowly.",
            swap=("(-torch.arange(0, D, 2) / D)", "(torch.arange(0, D, 2) / D)")),
    Fault("sinusoidal", "half-the-exponent",
            "The exponent is i/D in place of 2i/D.", swap=("torch.arange(0, D, 2) / D", "torch.arange(D // 2) / D")),
    Fault("sinusoidal", "from-one", "The places begin at 1. The first is 0.",
            swap=("torch.arange(T)[:, None]", "torch.arange(1, T + 1)[:, None]")),

    # ------------------------------------------------------------ rotary
    Fault("rotate", "start-ignored", "`start` has no effect: the first vector is always at place 0.",
            swap=("(start + torch.arange(T, device=x.device))", "torch.arange(T, device=x.device)")),
    Fault("rotate", "turned-back",
            "The pairs are turned the other way round: look at the two signs.",
            swap=[("a * angles.cos() - b * angles.sin()", "a * angles.cos() + b * angles.sin()"),
                  ("a * angles.sin() + b * angles.cos()", "b * angles.cos() - a * angles.sin()")]),
    Fault("rotate", "not-a-rotation",
            "The arrows change their length: one of the two signs is wrong.",
            swap=("a * angles.cos() - b * angles.sin()", "a * angles.cos() + b * angles.sin()")),
    Fault("rotate", "halves-as-pairs",
            "Your pairs take one number from the first half of the vector and one from the second. Here two "
            "neighbours are a pair.",
            swap=[(PAIRS, "a, b = x.chunk(2, dim=-1)"), ("dim=-1).flatten(-2)", "dim=-2).flatten(-2)")]),
    Fault("rotate", "pairs-torn-apart",
            "The turned numbers do not return to their columns: you have the first numbers of all pairs, then all the "
            "second ones. The two of a pair stand side by side.",
            swap=("dim=-1).flatten(-2)", "dim=-2).flatten(-2)")),
    Fault("rotate", "one-angle",
            "Your pairs all turn at the same rate. Pair i must turn more slowly than pair i − 1.",
            swap=(TURN_RATES, "rates = torch.ones(d // 2, device=x.device)")),

    # ------------------------------------------------------------ alibi
    Fault("alibi", "nearer-is-less",
            "Your bias grows with the distance. It must fall: the further away, the less.",
            swap=("return -slopes", "return slopes")),
    Fault("alibi", "first-places-ask",
            "The queries are counted from the beginning. They are the last T of the S places.",
            swap=("torch.arange(S - T, S)[:, None]", "torch.arange(T)[:, None]")),
    Fault("alibi", "signed-distance",
            "The distance has a sign: for places that come later the bias would be a reward.",
            swap=(DISTANCES, "distances = torch.arange(S - T, S)[:, None] - torch.arange(S)")),
    Fault("alibi", "slopes-from-zero",
            "Your first head has the slope 1. The exponent counts the heads from 1: it has k + 1 in it, not k.",
            swap=("torch.arange(1, n_heads + 1)", "torch.arange(n_heads)")),
    Fault("alibi", "one-slope",
            "Your heads all have the same slope. Each has one of its own.",
            swap=(SLOPES, "slopes = 2.0 ** (-8 * torch.ones(n_heads) / n_heads)")),
    Fault("alibi", "squared",
            "The distance is squared. The slope is multiplied by the distance itself.",
            swap=(RAMP, "return -slopes[:, None, None] * distances ** 2")),

    # ------------------------------------------------------------ layer-norm
    Fault("layer-norm", "sample-variance",
            "The variance is divided by D − 1. Here it is the plain mean of the squared deviations: divide by D.",
            swap=(VARIANCE, "variance = x.var(dim=-1, keepdim=True)")),
    Fault("layer-norm", "over-the-batch",
            "Mean and variance are taken over another axis than the last. Each token's vector is normed by itself.",
            swap=[(CENTRED, "centred = x - x.mean(dim=0, keepdim=True)"),
                  (VARIANCE, "variance = (centred ** 2).mean(dim=0, keepdim=True)")]),
    Fault("layer-norm", "over-everything",
            "You take one mean and one variance for the whole tensor. Each token's vector is normed by itself.",
            swap=[(CENTRED, "centred = x - x.mean()"), (VARIANCE, "variance = (centred ** 2).mean()")]),
    Fault("layer-norm", "mean-kept",
            "The mean is not subtracted: you divide x itself by the root.",
            swap=("return centred /", "return x /")),
    Fault("layer-norm", "no-root",
            "You divide by the variance, not by its square root.",
            swap=("torch.sqrt(variance + eps)", "(variance + eps)")),
    Fault("layer-norm", "eps-outside",
            "`eps` is added to the square root. It belongs under it.",
            swap=("torch.sqrt(variance + eps)", "(torch.sqrt(variance) + eps)")),
    Fault("layer-norm", "no-gain",
            "The gain is not applied: multiply by `gain`.",
            swap=(" * gain + bias", " + bias")),
    Fault("layer-norm", "no-shift",
            "The shift is not applied: add `bias`.",
            swap=(" * gain + bias", " * gain")),

    # ------------------------------------------------------------ block
    Fault("block", "no-residual",
            "The part's result replaces x. It must be added to it: the stream runs straight through.",
            swap=(AROUND, "return part(norm(x)) if self.pre_norm else norm(part(x))")),
    Fault("block", "pre-and-post-swapped",
            "Pre-norm and post-norm have changed places: x + part(norm(x)) is pre-norm.",
            swap=(AROUND, "return norm(x + part(x)) if self.pre_norm else x + part(norm(x))")),
    Fault("block", "stream-normed",
            "With pre-norm you add to the normed x. The residual is x as it was.",
            swap=("x + part(norm(x)) if", "norm(x) + part(norm(x)) if")),
    Fault("block", "always-pre",
            "`pre_norm` is ignored: you always put the norm before the part.",
            swap=(AROUND, "return x + part(norm(x))")),
    Fault("block", "memory-of-another-x",
            "Queries come from the normed x, keys and values from the x before the norm. Call `remember` on what the "
            "part is given.",
            swap=[("        def look(x):\n", "        stream = x\n\n        def look(x):\n"),
                  (OWN, "keys, values = self.attention.remember(stream, start)")]),
    Fault("block", "cache-not-extended",
            "The cache is not extended, so that a new word sees nothing of what was before.", swap=(EXTENDED, "")),
    Fault("block", "empty-cache-is-no-cache",
            "An empty cache is passed over, because its length 0 counts as false. Ask whether it is None.",
            swap=("            if cache is not None:\n", "            if cache:\n")),
    Fault("block", "start-after-extension",
            "The length of the cache is taken after it was extended, so the places begin too late.",
            swap=[(START, "start = 0 if cache is None else len(cache) + x.shape[1]")]),
    Fault("block", "always-at-the-start",
            "Your places always begin at 0. With a cache, they begin at its length.",
            swap=(START, "start = 0")),
    Fault("block", "query-at-the-start",
            "Keys know where they stand, queries do not: pass `start` to the attention as well.",
            swap=(SELF, "return self.attention(x, keys, values, mask)")),
    Fault("block", "mask-forgotten",
            "The attention to itself has no mask: pass `mask` on.",
            swap=(SELF, "return self.attention(x, keys, values, None, start)")),
    Fault("block", "memory-mask-forgotten", "The attention to the memory has no mask: it looks at padding.",
            swap=("*memory, memory_mask)", "*memory)")),
    Fault("block", "wrong-mask",
            "The attention to the memory has the mask of the attention to itself. It needs `memory_mask`.",
            swap=("*memory, memory_mask)", "*memory, mask if mask.shape[-1] == memory[0].shape[-2] else None)")),
    Fault("block", "one-norm-twice", "One norm is used for two parts. Each part has its own.",
            swap=("self.norms[-1], x, self.feed_forward", "self.norms[0], x, self.feed_forward")),
    Fault("block", "no-feed-forward", "The feed-forward network is left out.", swap=(FEED, "return x")),
    Fault("block", "memory-ignored",
            "The memory is ignored. Where one is given, `self.cross` must look at it.",
            swap=("        if memory is not None:\n            " + CROSS + "\n", "")),

    # ------------------------------------------------------------ decoder
    Fault("decoder", "no-places",
            "The places are not added: the embeddings alone do not say where a word stands.",
            swap=(PLACES, "x = self.embedding(tokens)")),
    Fault("decoder", "places-from-zero", "The places begin at 0, although the caches hold earlier ones.",
            swap=("self.embedding(tokens), start)", "self.embedding(tokens))")),
    Fault("decoder", "no-causal-mask",
            "There is no causal mask: every place sees the words that it has to say.",
            swap=(MASK, "mask = None")),
    Fault("decoder", "mask-without-past", "The causal mask does not know of the past in the caches.",
            swap=("tokens.shape[1], start, tokens.device", "tokens.shape[1], 0, tokens.device")),
    Fault("decoder", "first-memory-for-all", "All blocks get the memory of the first one. Each has its own.",
            swap=("memories[i] if memories", "memories[0] if memories")),
    Fault("decoder", "first-cache-for-all", "All blocks share the first cache. Each needs its own.",
            swap=("caches[i] if caches", "caches[0] if caches")),
    Fault("decoder", "no-last-norm",
            "The last norm is left out: `self.norm` comes before the read-out.",
            swap=("self.readout(self.norm(x))", "self.readout(x)")),
    Fault("decoder", "blocks-in-parallel",
            "Every block reads the embeddings. Each must read what the one before it wrote.",
            swap=[("        for i, block", "        embedded = x\n        for i, block"),
                  ("x = block(x, mask", "x = block(embedded, mask")]),
    Fault("decoder", "probabilities",
            "You return probabilities or log-probabilities. The loss takes the softmax itself: return raw logits.",
            swap=("return self.readout(self.norm(x))", "return self.readout(self.norm(x)).softmax(-1)")),

    # ------------------------------------------------------------ transformer
    Fault("transformer", "not-shifted",
            "The decoder reads the target as it is: at each place it is given the word that it should say.",
            swap=("self.decoder(shifted(target)", "self.decoder(target")),
    Fault("transformer", "shifted-the-other-way", "The target is moved to the left: the decoder reads the future.",
            swap=(SHIFTED, "return torch.cat([target[:, 1:], torch.full_like(target[:, :1], SOS)], dim=1)")),
    Fault("transformer", "one-too-long",
            "The shifted target is one token too long. Leave out the target's last token: the decoder never reads it.",
            swap=("target[:, :-1]]", "target]")),
    Fault("transformer", "starts-with-eos", "The decoder starts with EOS, not with SOS.", swap=("SOS)", "EOS)")),
    Fault("transformer", "rolled",
            "The last token comes round to the front. SOS belongs there.",
            swap=(SHIFTED, "return target.roll(1, dims=1)")),
    Fault("transformer", "no-memory-mask", "The decoder looks at the padding of the source: pass the mask on.",
            swap=("self.decoder.remember(memory), memory_mask)",
                  "self.decoder.remember(memory), torch.ones_like(memory_mask))")),
    Fault("transformer", "detached",
            "The way back for the gradient into the encoder is cut: look for `detach`, `.data` or `no_grad`.",
            swap=("self.decoder.remember(memory)", "self.decoder.remember(memory.detach())")),

    # ------------------------------------------------------------ aligned
    Fault("aligned", "mean-over-heads", "The maps are averaged over the heads first. Each head is counted by itself.",
            swap=(LOOKED, LOOKED.replace("maps.argmax", "maps.mean(0, keepdim=True).expand_as(maps).argmax"))),
    Fault("aligned", "mean-of-sentences",
            "You average over sentences; short ones count as much as long ones. Divide all hits by all words.",
            swap=[("        for looked, links", "        here = torch.zeros(len(maps))\n        for looked, links"),
                  (HITS, HITS.replace("hits +=", "here +=")), ("            words += 1\n", "        hits += here / "
                   "len(alignment)\n        words += 1\n")]),
    Fault("aligned", "eos-counts",
            "Rows after the last word are counted as words: divide by the words of the alignment.",
            swap=("            words += 1\n", "        words += maps.shape[1]\n")),
    Fault("aligned", "first-link-only", "Only the first of several gold places counts. Each of them is right.",
            swap=("float(place in links)", "float(place == links[0])")),
    Fault("aligned", "over-the-target",
            "The largest weight is sought over the French words, not over the English ones.",
            swap=("maps.argmax(dim=-1).T", "(maps.argmax(dim=1) * torch.ones(maps.shape[1], 1, 1).long())[:, 0].T"
                  ".repeat(maps.shape[1], 1)")),
    Fault("aligned", "smallest-weight", "You look for the smallest weight.", swap=("maps.argmax", "maps.argmin")),

    # ------------------------------------------------------------ cache
    Fault("cache", "new-only", "`extend` returns only the new places. It must return all.",
            swap=[("        if self.keys is not None:\n",
                   "        new = keys, values\n        if self.keys is not None:\n"),
                  ("        return keys, values\n", "        return new\n")]),
    Fault("cache", "nothing-kept", "`extend` forgets what it was given: the next call begins anew.",
            swap=("        " + KEEP + "\n", "")),
    Fault("cache", "new-in-front", "New places are put before the old ones.",
            swap=(JOIN,
                  "keys, values = torch.cat([keys, self.keys], dim=-2), torch.cat([values, self.values], dim=-2)")),
    Fault("cache", "heads-joined", "New places are joined along the axis of the heads. Places are the axis −2.",
            swap=(JOIN, JOIN.replace("dim=-2", "dim=1"))),
    Fault("cache", "length-of-heads",
            "`len` counts something other than places. Places are the axis −2 of the keys.",
            swap=("self.keys.shape[-2]", "self.keys.shape[1]")),
    Fault("cache", "values-not-kept",
            "Of the values, the cache keeps only the newest. Join them to the old ones, as you do with the keys.",
            swap=(JOIN, "keys = torch.cat([self.keys, keys], dim=-2)")),
    Fault("cache", "one-cache-for-all", "All blocks share one cache. Each needs its own.",
            swap=(CACHES, "caches = [Cache()] * len(model.decoder.blocks)")),
    Fault("cache", "no-caches", "The caches are not given to the decoder: it sees the newest word only.",
            swap=(STEP, "logits = model.decoder(tokens[:, None], memories, words)")),
    Fault("cache", "talks-after-the-end",
            "Sentences go on after their EOS. What follows it must be PAD.",
            swap=(".masked_fill(ended, PAD)", "")),
    Fault("cache", "eos-hidden", "The EOS itself is replaced by PAD: a sentence is finished *after* it has said EOS.",
            swap=[("        " + ENDED + "\n", ""),
                  (CHOSEN, "tokens = logits[:, -1].argmax(dim=-1)\n        " + ENDED + "\n"
                   "        tokens = tokens.masked_fill(ended, PAD)")]),
    Fault("cache", "never-ends-early", "The loop goes on to `max_length` though all sentences have ended.",
            swap=(LOOP, "while len(said) < max_length:")),
    Fault("cache", "first-ends-all", "All sentences stop when the first has ended.",
            swap=("not ended.all()", "not ended.any()")),
    Fault("cache", "one-step-too-many", "There is one step more than `max_length`.",
            swap=("len(said) < max_length", "len(said) <= max_length")),
    Fault("cache", "starts-with-eos", "The decoder starts with EOS, not with SOS.",
            swap=("torch.full_like(source[:, 0], SOS)", "torch.full_like(source[:, 0], EOS)")),
    Fault("cache", "source-read-each-step",
            "The source is read again at every step. It does not change: read it once, before the loop.",
            swap=[("    vectors, words = model.encoder(source)\n"
                   "    memories = model.decoder.remember(vectors)\n", ""),
                  ("        logits = model", "        vectors, words = model.encoder(source)\n"
                   "        memories = model.decoder.remember(vectors)\n        logits = model")]),
    Fault("cache", "first-place-said",
            "Your result begins with SOS. SOS is read, not said: leave it out.",
            swap=("return torch.stack(said, dim=1)",
                  "return torch.stack([torch.full_like(tokens, SOS), *said], dim=1)")),

    # ------------------------------------------------------------ costs
    Fault("costs", "no-sum", "You count the last step only. Every step costs.",
            swap=(COUNT, "pairs = T if cached else T * T")),
    Fault("costs", "scores-only", "Only the scores are counted. The weighted sum costs as much again.",
            swap=("return 2 * pairs", "return pairs")),
    Fault("costs", "never-cached",
            "`cached` makes no difference. With a cache, one query a step looks at the places, not t queries.",
            swap=("t if cached else t * t", "t * t")),
    Fault("costs", "swapped",
            "Your counts with and without a cache have changed places: the cache is what saves products.",
            swap=("t if cached else t * t", "t * t if cached else t")),
    Fault("costs", "from-zero", "The steps are counted from 0 to T − 1: at the first step there is one place.",
            swap=("range(1, T + 1)", "range(T)")),
    Fault("costs", "keys-only",
            "You count the keys or the values only. The cache holds both: twice as much.",
            swap=("return 2 * T", "return T")),
    Fault("costs", "numbers-not-bytes",
            "You count numbers, not bytes. Each number has `bytes_each` of them.",
            swap=(" * bytes_each", "")),
    Fault("costs", "one-layer", "Every layer has a cache of its own.", swap=("2 * T * n_layers * kv", "2 * T * kv")),

    # ------------------------------------------------------------ working
    Fault("working", "carry-forgotten", "The carry of the product is not added at the next place.",
            swap=("divmod(digit * factor + carry, 10)", "divmod(digit * factor, 10)")),
    Fault("working", "carry-kept",
            "The carry of a row is still there when the next row begins. Both carries are 0 at first.",
            swap=[("written, so_far = [], [0] * n", "written, so_far, carry = [], [0] * n, 0"),
                  ("factor, carry, sum_carry, digits = b // 10 ** row % 10, 0, 0, []",
                   "factor, sum_carry, digits = b // 10 ** row % 10, 0, []")]),
    Fault("working", "sum-carry-forgotten", "The carry of the sum is not added at the next place.",
            swap=("so_far[column] + last + sum_carry", "so_far[column] + last")),
    Fault("working", "sum-not-moved",
            "The rows are added without moving: a row stands one place higher than the one before it.",
            swap=("so_far = digits[1:]", "so_far = digits[:-1]")),
    Fault("working", "product-as-sum",
            "The next row adds to this row's product, not to the sum so far.",
            swap=("                last = total\n", "")),
    Fault("working", "greatest-digit-first",
            "The digits of b are taken from the left, the highest place first. Begin with the units, at its right "
            "end.",
            swap=("b // 10 ** row % 10", "b // 10 ** (n - 1 - row) % 10")),
    Fault("working", "factors-swapped", "a and b have changed places.",
            swap=[("b // 10 ** row % 10", "a // 10 ** row % 10"),
                  ("a // 10 ** column % 10", "b // 10 ** column % 10")]),
    Fault("working", "carry-before-digit", "The carry is written before the digit.",
            swap=("[digit, last, carry]", "[digit, carry, last]")),
    Fault("working", "no-last-digit",
            "The last digit of the rows from 1 on is missing: the product's last carry plus the sum's.",
            swap=("        if row > 0:\n            written.append(digits[-1])\n", "")),
    Fault("working", "sum-in-row-0",
            "Your row 0 has a sum as well. There is nothing yet to add to.",
            swap=("            if row > 0:\n", "            if row >= 0:\n")),
    Fault("working", "a-list", "You return a list. The working is a string.",
            swap=('return "".join(map(str, written))', "return written")),
]

VARIANTS = [
    # ------------------------------------------------------------ attend
    Variant("attend", "queries scaled first", swap=(SCORES, "scores = (query * query.shape[-1] ** -0.5) @ key.mT")),
    Variant("attend", "einsum", swap=[
        (SCORES, 'scores = torch.einsum("...td,...sd->...ts", query, key) / query.shape[-1] ** 0.5'),
        ("weights @ value, weights", 'torch.einsum("...ts,...se->...te", weights, value), weights')]),
    Variant("attend", "a mask of large negative numbers", swap=(
        MASKED, "scores = torch.where(mask, scores, torch.full_like(scores, -1e30))")),
    Variant("attend", "F.softmax and torch.matmul", swap=[
        (SOFTMAX, "weights = F.softmax(scores, -1)"),
        ("weights @ value, weights", "torch.matmul(weights, value), weights")]),
    Variant("attend", "softmax by hand",
            swap=(SOFTMAX, '''powers = (scores - scores.max(dim=-1, keepdim=True).values).exp()
    weights = powers / powers.sum(dim=-1, keepdim=True)''')),
    Variant("attend", "the mask as a bias", swap=(MASKED, "scores = scores + torch.zeros_like(scores).masked_fill("
                                                  "~mask.expand_as(scores), -math.inf)")),

    # ------------------------------------------------------------ masks
    Variant("masks", "unsqueezed", swap=(PADDING, "return tokens.ne(PAD).unsqueeze(1).unsqueeze(1)")),
    Variant("masks", "places compared", swap=(
        CAUSAL, "return torch.arange(past + T, device=device) <= past + torch.arange(T, device=device)[:, None]")),
    Variant("masks", "an upper triangle, inverted", swap=(
        CAUSAL, "return ~torch.ones(T, past + T, device=device).triu(past + 1).bool()")),
    Variant("masks", "past and present side by side", swap=(
        CAUSAL, "return torch.cat([torch.ones(T, past, dtype=torch.bool), torch.ones(T, T).tril().bool()], dim=1)")),
    Variant("masks", "reshaped",
            swap=(PADDING, "return (tokens != PAD).reshape(tokens.shape[0], 1, 1, tokens.shape[1])")),

    # ------------------------------------------------------------ heads
    Variant("heads", "view and permute", swap=(
        SPLIT, "return x.reshape(x.shape[0], x.shape[1], -1, self.head_size).permute(0, 2, 1, 3)")),
    Variant("heads", "a stack of slices", swap=(SPLIT, "return torch.stack(x.split(self.head_size, dim=-1), dim=1)")),
    Variant("heads", "heads joined by cat", swap=(JOINED, "return self.W_o(torch.cat(context.unbind(1), dim=-1))")),
    Variant("heads", "a loop over the heads", swap=[
        (LOOK, '''results = [attend(queries[:, k:k + 1], keys[:, min(k, keys.shape[1] - 1)][:, None],
                          values[:, min(k, values.shape[1] - 1)][:, None], mask,
                          None if bias is None else bias[k:k + 1]) for k in range(queries.shape[1])]
        context = torch.cat([found for found, _ in results], dim=1)
        self.attention_weights = torch.cat([weights for _, weights in results], dim=1)''')]),
    Variant("heads", "cut by a mask of numbers", swap=(
        KEPT, 'context = torch.einsum("bhtd,h->bhtd", context, self.kept)')),

    # ------------------------------------------------------------ influence
    Variant("influence", "all changes as one batch", swap=[
        (BEFORE + "\n", '''T = len(tokens)
    changed = tokens.repeat(T, 1)
    changed[range(T), range(T)] = (tokens + 1) % V
    found = model(torch.cat([tokens[None], changed])).flatten(2)
    return ((found[1:] - found[:1]).abs() > 1e-6).any(dim=2).T
'''), ("    for u in range(len(tokens)):\n"
         f"        {CLONE}\n"
         f"        {REPLACED}\n"
         f"        {COLUMN}\n"
         "    return torch.stack(columns, dim=1)\n", "")]),
    Variant("influence", "the largest difference", swap=(
        COLUMN, "columns.append((model(changed[None]) - before.reshape(1, len(tokens), -1)).abs()[0].amax(1) > 1e-6)")),
    Variant("influence", "lists of tokens",
            swap=(CLONE, "changed = torch.tensor(tokens.tolist(), device=tokens.device)")),
    Variant("influence", "two loops", swap=(LEAKS, '''seen = influence(model, tokens, V)
    return [(t, u) for t in range(len(tokens)) for u in range(t + 1, len(tokens)) if seen[t, u]]''')),
    Variant("influence", "columns written into a matrix", swap=[
        (BEFORE, "before, columns = model(tokens[None])[0].flatten(1), "
                 "torch.zeros(len(tokens), len(tokens), dtype=torch.bool)"),
        (COLUMN, COLUMN.replace("columns.append(", "columns[:, u] = (")), ("torch.stack(columns, dim=1)", "columns")]),

    # ------------------------------------------------------------ sinusoidal
    Variant("sinusoidal", "written into an empty table", swap=(WAVE_TURNS, '''table = torch.empty(T, D)
    table[:, 0::2], table[:, 1::2] = angles.sin(), angles.cos()
    return table''')),
    Variant("sinusoidal", "rates by exp",
            swap=(WAVE_RATES, "rates = torch.exp(-math.log(10000) / D * torch.arange(0, D, 2))")),
    Variant("sinusoidal", "an outer product", swap=(
        "torch.arange(T)[:, None] * rates", "torch.outer(torch.arange(T).float(), rates)")),
    Variant("sinusoidal", "loops", source='''def sinusoidal(T, D):
    rows = []
    for t in range(T):
        row = []
        for i in range(D // 2):
            angle = t / 10000 ** (2 * i / D)
            row += [math.sin(angle), math.cos(angle)]
        rows.append(row)
    return torch.tensor(rows)
'''),

    # ------------------------------------------------------------ rotate
    Variant("rotate", "complex numbers", swap=[
        (PAIRS + "\n", '''arrows = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())
'''), (TURNED, "return torch.view_as_real(arrows * torch.polar(torch.ones_like(angles), angles)).flatten(-2)")]),
    Variant("rotate", "written into an empty tensor", swap=(TURNED, '''turned = torch.empty_like(x)
    turned[..., 0::2] = a * angles.cos() - b * angles.sin()
    turned[..., 1::2] = a * angles.sin() + b * angles.cos()
    return turned''')),
    Variant("rotate", "the pairs' axis unflattened", swap=(PAIRS, "a, b = x.unflatten(-1, (-1, 2)).unbind(-1)")),
    Variant("rotate", "matrices", swap=[("    " + PAIRS + "\n", ""), (
        TURNED, '''sines, cosines = angles.sin(), angles.cos()
    turn = torch.stack([torch.stack([cosines, -sines], -1), torch.stack([sines, cosines], -1)], -2)
    return torch.einsum("tpij,...tpj->...tpi", turn, x.unflatten(-1, (-1, 2))).flatten(-2)''')]),
    Variant("rotate", "an arange from start", swap=(
        TURN_ANGLES, "angles = torch.arange(start, start + T, device=x.device)[:, None] * rates")),

    # ------------------------------------------------------------ alibi
    Variant("alibi", "a list of heads", swap=(RAMP, "return torch.stack([-slope * distances for slope in slopes])")),
    Variant("alibi", "slopes by powers", swap=(
        SLOPES, "slopes = torch.tensor([(2.0 ** (-8 / n_heads)) ** (k + 1) for k in range(n_heads)])")),
    Variant("alibi", "rows of all places", swap=(
        DISTANCES, "distances = (torch.arange(S)[:, None] - torch.arange(S)).abs()[S - T:]")),
    Variant("alibi", "einsum", swap=(RAMP, 'return torch.einsum("h,ts->hts", -slopes, distances.float())')),

    # ------------------------------------------------------------ layer-norm
    Variant("layer-norm", "var without correction",
            swap=(VARIANCE, "variance = x.var(dim=-1, correction=0, keepdim=True)")),
    Variant("layer-norm", "rsqrt", swap=(NORMED, "return gain * centred * torch.rsqrt(variance + eps) + bias")),
    Variant("layer-norm", "mean of squares minus square of mean", swap=(
        VARIANCE, "variance = (x.double() ** 2).mean(-1, keepdim=True) - x.double().mean(-1, keepdim=True) ** 2\n"
                  "    variance = variance.to(x.dtype)")),
    Variant("layer-norm", "std", swap=(
        NORMED, "return centred / (variance.sqrt() ** 2 + eps) ** 0.5 * gain + bias")),

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
    Variant("block", "all in one place", swap=[
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
    Variant("decoder", "length from x", swap=(
        MASK, "mask = causal_mask(x.size(1), past=start, device=x.device)")),

    # ------------------------------------------------------------ transformer
    Variant("transformer", "rolled, then SOS", swap=(SHIFTED, '''moved = target.roll(1, dims=1)
    moved[:, 0] = SOS
    return moved''')),
    Variant("transformer", "padded in front", swap=(SHIFTED, "return F.pad(target[:, :-1], (1, 0), value=SOS)")),
    Variant("transformer", "a new tensor", swap=(SHIFTED, "return torch.cat([target.new_full((len(target), 1), SOS), "
                                                 "target[:, :target.shape[1] - 1]], 1)")),
    Variant("transformer", "named parts", swap=(SAY, '''memories = self.decoder.remember(memory)
        tokens = shifted(target)
        return self.decoder(tokens, memories=memories, memory_mask=memory_mask)''')),

    # ------------------------------------------------------------ aligned
    Variant("aligned", "words outside, heads inside", source='''def aligned(weights, alignments):
    hits, words = [0] * len(weights[0]), sum(map(len, alignments))
    for maps, alignment in zip(weights, alignments):
        for t, links in enumerate(alignment):
            for k in range(len(maps)):
                hits[k] += int(maps[k, t].argmax()) in links
    return torch.tensor(hits) / words
'''),
    Variant("aligned", "a table of gold places", source='''def aligned(weights, alignments):
    hits, words = 0, 0
    for maps, alignment in zip(weights, alignments):
        gold = torch.zeros(len(alignment), maps.shape[-1])
        for t, links in enumerate(alignment):
            gold[t, list(links)] = 1
        best = maps[:, :len(alignment)].argmax(-1)
        hits = hits + torch.stack([gold[range(len(alignment)), row] for row in best]).sum(1)
        words += len(alignment)
    return hits / words
'''),
    Variant("aligned", "rows cut first", swap=(
        LOOKED, "for looked, links in zip(maps[:, :len(alignment)].argmax(-1).T.tolist(), alignment):")),
    Variant("aligned", "topk",
            swap=("maps.argmax(dim=-1).T.tolist()", "maps.topk(1, dim=-1).indices[..., 0].T.tolist()")),

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
    said = torch.full((len(source), 1), SOS, device=source.device)
    for _ in range(max_length):
        finished = ((said == EOS) | (said == PAD)).any(1)
        if finished.all():
            break
        new = model.decoder(said[:, -1:], memories, memory_mask, caches).argmax(-1)
        new[finished] = PAD
        said = torch.cat([said, new], 1)
    return said[:, 1:]
'''),
    Variant("cache", "the column kept", swap=[
        (FIRST, "tokens, said = torch.full_like(source[:, :1], SOS)[:, 0], []"),
        (CHOSEN, "tokens = torch.where(ended, torch.full_like(tokens, PAD), logits[:, 0].argmax(dim=-1))")]),
    Variant("cache", "a for loop that breaks", swap=[
        (LOOP, "for _ in range(max_length):"),
        ("        said.append(tokens)\n",
         "        said.append(tokens)\n        if ended.all():\n            break\n")]),
    Variant("cache", "an empty tensor to begin with", swap=[
        ("        if self.keys is not None:\n            " + JOIN + "\n",
         '''        if self.keys is None:
            self.keys, self.values = keys[..., :0, :], values[..., :0, :]
        keys, values = torch.cat([self.keys, keys], dim=-2), torch.cat([self.values, values], dim=-2)
''')]),

    # ------------------------------------------------------------ costs
    Variant("costs", "closed formulas", swap=(
        COUNT, "pairs = T * (T + 1) // 2 if cached else T * (T + 1) * (2 * T + 1) // 6")),
    Variant("costs", "a loop", swap=(COUNT, '''pairs = 0
    for t in range(1, T + 1):
        queries = 1 if cached else t
        pairs += queries * t''')),
    Variant("costs", "scores and contexts apart", swap=(PRODUCTS, '''scores = contexts = pairs * head_size
    return n_layers * n_heads * (scores + contexts)''')),
    Variant("costs", "keys and values apart", swap=(BYTES, '''keys = values = T * kv_heads * head_size
    return bytes_each * n_layers * (keys + values)''')),

    # ------------------------------------------------------------ working
    Variant("working", "digits from strings", swap=[
        ("    written, so_far = [], [0] * n\n",
         "    written, so_far = [], [0] * n\n    A, B = f'{a:0{n}d}'[::-1], f'{b:0{n}d}'[::-1]\n"),
        ("b // 10 ** row % 10", "int(B[row])"), ("a // 10 ** column % 10", "int(A[column])")]),
    Variant("working", "quotient and remainder apart", swap=(
        "            carry, last = divmod(digit * factor + carry, 10)\n",
        "            product = digit * factor + carry\n            last, carry = product % 10, product // 10\n")),
    Variant("working", "a string that grows", swap=[
        ("written, so_far = [], [0] * n", "written, so_far = '', [0] * n"),
        ("written.append(factor)", "written += str(factor)"),
        ("written += [digit, last, carry]", "written += f'{digit}{last}{carry}'"),
        ("written += [so_far[column], total, sum_carry]", "written += f'{so_far[column]}{total}{sum_carry}'"),
        ("written.append(digits[-1])", "written += str(digits[-1])"),
        ('return "".join(map(str, written))', "return written")]),
    Variant("working", "the sum so far as a number", swap=[
        ("written, so_far = [], [0] * n", "written, so_far = [], 0"),
        ("so_far[column] + last", "so_far // 10 ** column % 10 + last"),
        ("[so_far[column], total", "[so_far // 10 ** column % 10, total"),
        ("so_far = digits[1:]", "so_far = sum(d * 10 ** i for i, d in enumerate(digits[1:]))")]),
]
