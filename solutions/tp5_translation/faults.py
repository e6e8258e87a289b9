"""Wrong versions that learners write in session 5."""

from autograder.model.faults import Fault

# Lines of the solution that several versions edit.
PADDED = '''return (pad_sequence(sources, padding_value=PAD), lengths,
            pad_sequence(targets, padding_value=PAD))'''
PACK = '''packed = pack_padded_sequence(self.embedding(source), lengths.cpu(),
                                      enforce_sorted=False)'''
SOFTMAX = "attention_weights = scores.masked_fill(~mask, -math.inf).softmax(dim=-1)"
MIXED = "return (1 - z) * hdec + z * candidate"
STEP = "logits, hdec, attention_weights = self.decoder(tokens, hdec, memory)"
NEXT = "tokens = target[t] if forced[t] else logits.argmax(dim=-1)"
ENTROPY = '''return F.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=PAD,
                           label_smoothing=smoothing)'''
CLIP = "        nn.utils.clip_grad_norm_(model.parameters(), max_norm)\n"
CLEAR = "        optimizer.zero_grad()\n"
BACKWARD = "        loss.backward()\n"
SCORE = "return 100 * math.exp(min(0.0, 1 - r / c) + log_precisions)"

FAULTS = [


    # ------------------------------------------------------------ collate
    Fault("collate", "padded-in-front",
            "The padding stands before the sentences. It belongs at their ends.",
            replace=(PADDED,
                     '''front = lambda rows: pad_sequence([row.flip(0) for row in rows], padding_value=PAD).flip(0)
    return front(sources), lengths, front(targets)''')),


    # ------------------------------------------------------------ encoder
    Fault("encoder", "state-of-forward-direction",
            "`hdec_init` is made of the forward direction's last state. Bahdanau et al. take the backward direction, "
            "whose last step reads the first word.",
            replace=("final[1]", "final[0]")),
    Fault("encoder", "detached",
            "No gradient reaches the embedding: `detach`, `.data` and `no_grad`, for example, cut it off.",
            replace=(PACK, PACK + "\n        packed = packed._replace(data=packed.data.detach())")),

    # ------------------------------------------------------------ scores
    Fault("scores", "tanh-of-the-state-only",
            "In your additive score, the tanh is taken of the decoder's part only. It is taken of the sum of both "
            "parts.",
            replace=("torch.tanh(self.W_a(hdec) + keys)", "(torch.tanh(self.W_a(hdec)) + keys)")),
    Fault("scores", "scaled-dot",
            "The dot score is divided by √H. That is Vaswani's scaled dot product; Luong's is not scaled.",
            replace=("return (hdec * keys).sum(-1).T", "return (hdec * keys).sum(-1).T / hdec.shape[-1] ** 0.5")),

    # ------------------------------------------------------------ attend
    Fault("attend", "log-softmax",
            "Your weights are log-probabilities, the logarithms of what the softmax gives: negative numbers that do "
            "not sum to 1. A weighted sum needs the softmax itself.",
            replace=(".softmax(dim=-1)", ".masked_fill(~mask, -1e9).log_softmax(dim=-1)")),
    Fault("attend", "no-mask",
            "The padding gets a share of the attention, as if there were no mask. Its scores must become −∞ before the "
            "softmax; `masked_fill` returns a new tensor.",
            replace=(".masked_fill(~mask, -math.inf)", "")),
    Fault("attend", "masked-after-the-softmax",
            "Your sum of exponentials contains the padding, so the weights of the real tokens do not add up to 1. "
            "Mask the scores before the softmax.",
            replace=(SOFTMAX, "attention_weights = scores.softmax(dim=-1) * mask")),
    Fault("attend", "mask-inverted",
            "The mask is inverted. `mask` is True at real tokens; the others, `~mask`, must get the score −∞.",
            replace=("masked_fill(~mask, -math.inf)", "masked_fill(mask, -math.inf)")),
    Fault("attend", "exp-overflows",
            "Your own softmax takes exp of the scores as they are. Large scores give ∞/∞ and very negative ones 0/0, "
            "and both are NaN. Subtract the maximum first, or use PyTorch's softmax.",
            replace=(SOFTMAX,
                     "shares = scores.exp() * mask\n"
                     "    attention_weights = shares / shares.sum(dim=-1, keepdim=True)")),
    Fault("attend", "detached-weights",
            "No gradient passes from the context to the scores, so the attention is not trained. "
            "`detach`, `.data` and `no_grad`, for example, cut it off.",
            replace=("attention_weights, henc_ts)", "attention_weights.detach(), henc_ts)")),

    Fault("attend", "rescaled-after-softmax",
            "The padding's scores enter your softmax, or the maximum that you subtract, before they are masked. If one "
            "is far above all others, the words are left with 0/0, which is NaN. Mask the scores first.",
            replace=(SOFTMAX, "shares = scores.softmax(dim=-1) * mask\n"
                              "    attention_weights = shares / shares.sum(dim=-1, keepdim=True)")),

    # ------------------------------------------------------------ gated-cell
    Fault("gated-cell", "one-context-matrix",
            "Both gates use `C_z` for the context. The reset gate has a matrix of its own, `C_r`.",
            replace=("self.C_r(context_vectors)", "self.C_z(context_vectors)")),
    Fault("gated-cell", "z-swapped",
            "z and 1 − z have changed places: that is PyTorch's convention. In Bahdanau's paper z is the weight of "
            "the *candidate*.",
            replace=(MIXED, "return z * hdec + (1 - z) * candidate")),
    Fault("gated-cell", "sigmoid-candidate",
            "The candidate goes through a sigmoid, so that it can never be negative. Its equation has a tanh.",
            replace=("candidate = torch.tanh(", "candidate = torch.sigmoid(")),
    Fault("gated-cell", "no-biases",
            "The biases of W, W_z and W_r are missing. If you multiply by the weight of a layer, add its bias, too.",
            replace=[(f"self.{layer}(embedded)", f"embedded @ self.{layer}.weight.T") for layer in ("W", "W_z",
                                                                                                    "W_r")]),

    # ------------------------------------------------------------ paper-decoder
    Fault("paper-decoder", "softmax-on-logits",
            "You return probabilities. The loss takes the softmax itself: give it raw logits.",
            replace=("return logits, hdec", "return logits.softmax(dim=-1), hdec")),
    Fault("paper-decoder", "logits-of-the-old-state",
            "Your logits are computed from the state before the step. Use the new state.",
            replace=[("        hdec = self.cell(", "        before, hdec = hdec, self.cell("),
                     ("torch.cat([hdec, context_vectors]", "torch.cat([before, context_vectors]")]),
    Fault("paper-decoder", "keys-as-values",
            "You compute the context from the keys. Keys serve for the scores; the context is a weighted sum of "
            "`henc_ts`.",
            replace=("memory.mask, memory.henc_ts", "memory.mask, memory.keys")),

    # ------------------------------------------------------------ plain-decoder
    Fault("plain-decoder", "log-softmax-on-logits",
            "You return log-probabilities. `F.cross_entropy` makes them itself: the loss comes out the same, but the "
            "exercise asks for raw logits.",
            replace=("return logits, hdec", "return logits.log_softmax(dim=-1), hdec")),
    Fault("plain-decoder", "softmax-on-logits",
            "You return probabilities. The loss takes the softmax itself: give it raw logits.",
            replace=("return logits, hdec", "return logits.softmax(dim=-1), hdec")),
    Fault("plain-decoder", "keys-as-values",
            "You compute the context from the keys. Keys serve for the scores; the context is a weighted sum of "
            "`henc_ts`.",
            replace=("memory.mask, memory.henc_ts", "memory.mask, memory.keys")),

    # ------------------------------------------------------------ translator
    Fault("translator", "reads-what-it-must-say",
            "Where a decision is true, step t reads `target[t]`, the token that it must predict. It must read the "
            "previous token. The loss would become small, and the model could not translate.",
            replace=(STEP, "if forced[t]:\n                tokens = target[t]\n            " + STEP)),
    Fault("translator", "decisions-inverted",
            "The decisions work the wrong way round: when one is true, the decoder reads the true token.",
            replace=("if forced[t] else", "if not forced[t] else")),
    Fault("translator", "always-forced",
            "The true tokens are always read: `forced` has no effect.", replace=(NEXT, "tokens = target[t]")),
    Fault("translator", "never-forced",
            "The decoder always reads its own tokens: `forced` has no effect.",
            replace=(NEXT, "tokens = logits.argmax(dim=-1)")),
    Fault("translator", "argmax-over-batch",
            "The arg-max runs over the batch, not over the vocabulary.",
            replace=("logits.argmax(dim=-1)", "logits.argmax(dim=0)[:1].expand(len(logits))")),
    Fault("translator", "stops-at-eos",
            "Your loop ends at an EOS. In training it goes on: there is one step for each target token, and the loss "
            "leaves out what is padding.",
            replace=(NEXT, NEXT + "\n            if (tokens == EOS).all():\n                break")),
    Fault("translator", "padding-after-eos",
            "After EOS your decoder reads PAD. In this function the loop goes on unchanged after EOS: the decoder "
            "reads the true token or its own arg-max.",
            replace=(NEXT, "ended = (tokens == EOS) | (tokens == PAD)\n            " + NEXT
                     + "\n            tokens = tokens.masked_fill(ended, PAD)")),
    Fault("translator", "hidden-vectors-as-keys",
            "Your memory holds the hidden vectors where the keys belong. Keys are what the score makes of them: "
            "`self.remember` does that for you.",
            replace=("memory, hdec = self.remember(source, lengths)",
                     "memory, hdec = self.remember(source, lengths)\n"
                     "        memory = memory._replace(keys=memory.henc_ts)")),

    # ------------------------------------------------------------ loss
    Fault("loss", "mean-over-all-positions",
            "The sum over the real tokens is divided by the number of *all* positions: "
            "the more padding, the smaller your loss.",
            replace=(ENTROPY, ENTROPY.replace("=smoothing)", '=smoothing, reduction="sum") / target.numel()'))),
    Fault("loss", "nll-of-logits",
            "Your loss is minus the logit of the true token, without a log-softmax: it can fall below zero without "
            "end. `F.cross_entropy` takes logits, `nll_loss` log-probabilities.",
            replace=(ENTROPY, "return F.nll_loss(logits.flatten(0, 1), target.flatten(), ignore_index=PAD)")),
    Fault("loss", "eos-ignored",
            "You ignore EOS. PAD is what must be ignored; EOS has to be learned, or the decoder never stops.",
            replace=("ignore_index=PAD", "ignore_index=EOS")),
    Fault("loss", "eos-and-padding-ignored",
            "You ignore EOS as well as PAD. EOS has to be learned, or the decoder never stops.",
            replace=(ENTROPY, "target = target.masked_fill(target == EOS, PAD)\n    " + ENTROPY)),
    Fault("loss", "true-token-at-full-weight",
            "The true token keeps the weight 1, and each of the V tokens gets ε / V on top of that. The true token's "
            "weight is 1 − ε + ε / V.",
            replace=(ENTROPY,
                     "logp, real = logits.log_softmax(dim=-1), target != PAD\n"
                     "    each = -logp.gather(-1, target[..., None])[..., 0] - smoothing * logp.mean(dim=-1)\n"
                     "    return (each * real).sum() / real.sum()")),
    Fault("loss", "true-token-without-its-share",
            "You divide ε by V, and leave out the true token's share of it. All V tokens have one.",
            replace=(ENTROPY,
                     "logp, real = logits.log_softmax(dim=-1), target != PAD\n"
                     "    true = logp.gather(-1, target[..., None])[..., 0]\n"
                     "    each = -(1 - smoothing) * true - smoothing / logits.shape[-1] * (logp.sum(dim=-1) - true)\n"
                     "    return (each * real).sum() / real.sum()")),
    Fault("loss", "sum",
            "You return a sum over tokens. With it, the gradient grows with the number of tokens: return the mean.",
            replace=(ENTROPY, ENTROPY.replace("=smoothing)", '=smoothing, reduction="sum")'))),
    Fault("loss", "epsilon-among-the-others",
            "You divide ε among the V − 1 other tokens. It is divided among all V, the true one included.",
            replace=("return F.cross_entropy(",
                     "smoothing = smoothing * logits.shape[-1] / (logits.shape[-1] - 1)\n"
                     "    return F.cross_entropy(")),
    Fault("loss", "mean-of-sentences",
            "You take the mean of each sentence, and then the mean of these. Every real token has the same weight: "
            "divide the sum over all of them by their number.",
            replace=[("return F.cross_entropy(", "each = F.cross_entropy("),
                     ("label_smoothing=smoothing)", 'label_smoothing=smoothing, reduction="none").view_as(target)\n'
                      "    return (each.sum(dim=0) / (target != PAD).sum(dim=0)).mean()")]),

    # ------------------------------------------------------------ train
    Fault("train", "gradients-pile-up",
            "The gradients are not cleared between the steps: `backward` adds to the old ones. Clear them once per "
            "batch.",
            replace=(CLEAR, "")),
    Fault("train", "gradients-cleared-too-late",
            "The parameters do not change: `backward` or `optimizer.step` is missing, or the gradients are cleared "
            "between the two.",
            replace=(CLEAR + BACKWARD, BACKWARD + CLEAR)),
    Fault("train", "not-clipped",
            "The step is made with a gradient that was not clipped. Clip between `backward` and `step`.",
            replace=(CLIP, "")),
    Fault("train", "each-tensor-clipped",
            "The gradient is clipped in parts, each by a norm of its own, which changes its direction. Clip by the "
            "norm of all parameters together.",
            replace=(CLIP,
                     "        for parameter in model.parameters():\n"
                     "            nn.utils.clip_grad_norm_([parameter], max_norm)\n")),
    Fault("train", "sum-of-norms",
          "You add up the norms of the parameters. The norm of the whole gradient is the square root of the sum of "
          "their squares.",
            replace=(CLIP,
                     "        total = sum(one.grad.norm() for one in model.parameters())\n"
                     "        for parameter in model.parameters():\n"
                     "            parameter.grad.mul_((max_norm / (total + 1e-6)).clamp(max=1.0))\n")),
    Fault("train", "shifted-targets",
          "You compare the logits of step t with token t + 1. The decoder has read `SOS` at step 0: its logits of "
          "step t belong to token t.",
          replace=("translation_loss(logits, target, smoothing)",
                   "translation_loss(logits[:-1], target[1:], smoothing)")),
    Fault("train", "small-gradients-enlarged",
            "Every gradient gets the norm `max_norm`, also one that was smaller. "
            "Clipping only makes a gradient shorter.",
            replace=(CLIP,
                     "        norm = torch.cat([one.grad.flatten() for one in model.parameters()]).norm()\n"
                     "        for parameter in model.parameters():\n"
                     "            parameter.grad.mul_(max_norm / (norm + 1e-6))\n")),
    Fault("train", "clipped-by-value",
            "Each number of the gradient is clipped by itself (clip by value). Clipping by norm keeps the direction.",
            replace=("clip_grad_norm_", "clip_grad_value_")),
    Fault("train", "ratio-inverted",
            "Your decisions are true with probability 1 − `ratio`. True means that the right word is read, and "
            "`ratio` is its probability.",
            replace=("forcing_decisions(len(target), ratio)", "forcing_decisions(len(target), 1 - ratio)")),
    Fault("train", "one-step-of-the-schedule",
            "The scheduler steps once, after the training. It steps after each batch.",
            replace=("        scheduler.step()\n        view.log(loss=loss)",
                     "        view.log(loss=loss)\n    scheduler.step()")),
    Fault("train", "no-schedule",
            "The scheduler never steps: the learning rate stays as it was at the first batch.",
            replace=("        scheduler.step()\n", "")),
    Fault("train", "budget-ignored",
            "You go on as long as there are batches, and they never end. `view` must end the loop: iterate over both "
            "at once, with `zip`.",
            replace=("zip(view, batches)", "enumerate(batches)")),

    # ------------------------------------------------------------ bleu
    Fault("bleu", "last-n-gram-missed",
            "The last n-gram of each sentence is not counted. A sentence of m tokens has m − n + 1 n-grams.",
            replace=("range(len(tokens) - n + 1)", "range(len(tokens) - n)")),
    Fault("bleu", "not-clipped",
            "An n-gram of the hypothesis counts each time that it occurs there. It counts at most as often as it is in "
            "the reference.",
            replace=("sum((ours & theirs).values())", "sum(ours[gram] for gram in ours if gram in theirs)")),
    Fault("bleu", "divided-by-reference",
            "The matches are divided by the n-grams of the reference: that is recall. "
            "BLEU's precision divides by those of the hypothesis.",
            replace=("sum(ours.values())", "sum(theirs.values())")),
    Fault("bleu", "arithmetic-mean",
            "The precisions are averaged as they are. BLEU takes their geometric mean: the mean of their logarithms.",
            replace=[("log_precisions += math.log(matches / total) / 4", "log_precisions += matches / total / 4"),
                     (SCORE, "return 100 * math.exp(min(0.0, 1 - r / c)) * log_precisions")]),
    Fault("bleu", "one-missing-precision-passed-over",
            "If only some p_n are 0 or have no n-grams, you count them as 1. BLEU is 0 if *any* is.",
            replace=("            return 0.0\n",
                     "            if n == 1:\n                return 0.0\n            continue\n")),

    # ------------------------------------------------------------ aer
    Fault("aer", "all-links-sure",
            "Every gold link counts as sure. A word with several gold words has only possible links.",
            replace=[("            sure += len(links) == 1\n", "            sure += len(links)\n"),
                     ("in_sure += len(links) == 1 and s in links", "in_sure += s in links")]),
    Fault("aer", "possible-links-ignored",
            "You count only sure links as hits. P holds *all* links, the sure ones too.",
            replace=("in_possible += s in links", "in_possible += len(links) == 1 and s in links")),
    Fault("aer", "first-gold-word-only",
            "You test only the first of a French word's gold words. Where there are several, each is as good as "
            "another.",
            replace=[("in_possible += s in links", "in_possible += s == links[0]"),
                     ("in_sure += len(links) == 1 and s in links", "in_sure += len(links) == 1 and s == links[0]")]),
    Fault("aer", "mean-over-sentences",
            "You average the error rates of the sentences. Sum all counts over the corpus, then divide once.",
            body='''
rates = []
for weights, alignment in zip(attention_weights, alignments):
    proposed = sure = in_sure = in_possible = 0
    for s, links in zip(weights.argmax(dim=-1).tolist(), alignment):
        proposed += 1
        sure += len(links) == 1
        in_possible += s in links
        in_sure += len(links) == 1 and s in links
    rates.append(1 - (in_sure + in_possible) / (proposed + sure))
return sum(rates) / len(rates)'''),
    Fault("aer", "sentences-not-told-apart",
            "You count a link once if two sentences have it at the same positions. Each of them has a link of its own.",
            body='''
proposed, sure, possible = set(), set(), set()
for weights, alignment in zip(attention_weights, alignments):
    for t, (s, links) in enumerate(zip(weights.argmax(dim=-1).tolist(), alignment)):
        proposed.add((t, s))
        possible.update((t, link) for link in links)
        sure.update((t, link) for link in links if len(links) == 1)
return 1 - (len(proposed & sure) + len(proposed & possible)) / (len(proposed) + len(sure))
'''),
    Fault("aer", "eos-row-counted",
            "The row of EOS is counted as a proposed link. It has no gold: score only the rows that have an entry in "
            "the alignment.",
            replace=("    for weights, alignment in zip(attention_weights, alignments):\n",
                     "    for weights, alignment in zip(attention_weights, alignments):\n"
                     "        proposed += len(weights) - len(alignment)\n")),
]

TRUE_TOKEN = "logits.log_softmax(dim=-1)[:, token]"
FED = "tokens = token.repeat(S + 1)"

FAULTS += [
    Fault("effects", "old-keys",
            "The overwritten vector still has its old key, so the score is still that of the old vector. Compute the "
            "keys from the changed vectors.",
            replace=("model.decoder.score.keys(changed)", "model.decoder.score.keys(henc_ts).repeat(1, S + 1, 1)")),
    Fault("effects", "zeros",
            "You overwrite with zeros, a vector unlike any that the decoder has seen. Overwrite with the mean of the "
            "sentence's vectors.",
            replace=("henc_ts[:, 0].mean(dim=0)", "0.0")),
    Fault("effects", "every-vector-of-a-copy",
            "Each time you overwrite all vectors, not one: this does not show which of them was needed.",
            replace=("changed[s, s] =", "changed[:, s] =")),
    Fault("effects", "logits",
            "You compare logits. A logit alone does not say how probable its token is: first turn the logits of all "
            "tokens into log-probabilities with `log_softmax`.",
            replace=(TRUE_TOKEN, "logits[:, token]")),
    Fault("effects", "only-sos-is-read",
            "Your decoder reads SOS at every step. After step t it reads `target[t]`.",
            replace=(FED, "pass")),
    Fault("effects", "free-running",
            "Your decoder goes on with its own words, so after the first different one you compare different "
            "sentences. Feed it the right translation.",
            replace=(FED, "tokens = logits.argmax(dim=-1)")),
    Fault("effects", "gradient-kept",
            "A gradient is kept with your numbers. This is a measurement, nothing is trained: compute under "
            "`torch.no_grad()`.",
            replace=("@torch.no_grad()\n", "")),
]

COST = "return steps * len(seeds) * sum(len(tried) for tried in values.values())"

FAULTS += [
    Fault("plan", "one-seed",
            "You plan one run of each value. Another seed alone may make as much difference as your values: plan three "
            "seeds at least, so that the table can show a spread.",
            replace=("seeds = (0, 1, 2)", "seeds = (0,)")),
    Fault("plan", "seeds-cost-nothing",
            "Your cost is a third of what all runs take. Each value of each experiment is tried with every seed.",
            replace=(COST, "return steps * sum(len(tried) for tried in values.values())")),
    Fault("plan", "shared-settings-once",
            "Your cost leaves out two values with all their seeds. A setting that several experiments have in common "
            "counts in each of them.",
            replace=(COST, "return steps * len(seeds) * (sum(len(tried) for tried in values.values()) - 2)")),
    Fault("plan", "runs-not-steps",
            "Your cost is the number of runs. Each of them takes `steps` steps.",
            replace=(COST, "return len(seeds) * sum(len(tried) for tried in values.values())")),
    Fault("plan", "every-value-with-every-value",
            "Your cost is that of every combination of values. In each experiment only one setting changes: add the "
            "numbers of values.",
            replace=(COST, "return steps * len(seeds) * math.prod(len(tried) for tried in values.values())")),
]
