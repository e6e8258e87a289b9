"""Wrong versions that learners write in session 5."""

from autograder.authoring import Fault

# Lines of the solution that several versions edit.
PADDED = '''return (pad_sequence(sources, padding_value=PAD), lengths,
            pad_sequence(targets, padding_value=PAD))'''
PACK = '''packed = pack_padded_sequence(self.embedding(source), lengths.cpu(),
                                      enforce_sorted=False)'''
SOFTMAX = "attention_weights = scores.masked_fill(~mask, -math.inf).softmax(dim=-1)"
READ = "self.gru(packed)\n        henc_ts, _ = pad_packed_sequence(packed_ts)"
LENGTHS = "torch.tensor([len(source) for source in sources])"
ADDITIVE = "return self.v_a(torch.tanh(self.W_a(hdec) + keys)).squeeze(-1).T"
DOT = "return (hdec * keys).sum(-1).T"
CONTEXT = 'context_vectors = torch.einsum("bs,sbh->bh", attention_weights, henc_ts)'
RESULT = "return logits, hdec, attention_weights"
JOINED = "torch.cat([hdec, context_vectors], dim=-1)"
KEEP_BEFORE = ("        hdec = self.cell(", "        before, hdec = hdec, self.cell(")
MIXED = "return (1 - z) * hdec + z * candidate"
NONE_YET = "all_logits, all_weights = [], []"
ENDED = NONE_YET + "\n        ended = torch.zeros_like(tokens, dtype=torch.bool)"
AFTER_OWN_EOS = '''own = logits.argmax(dim=-1).masked_fill(ended, {})
            ended = ended | (own == EOS)
            tokens = target[t] if forced[t] else own'''
STEP = "logits, hdec, attention_weights = self.decoder(tokens, hdec, memory)"
ONE_LATE = ("Where a decision is true, your decoder reads the true tokens one step late. After step t it must read "
            "`target[t]`.")
NEXT = "tokens = target[t] if forced[t] else logits.argmax(dim=-1)"
ENTROPY = '''return F.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=PAD,
                           label_smoothing=smoothing)'''
CLIP = "        nn.utils.clip_grad_norm_(model.parameters(), max_norm)\n"
CLEAR = "        optimizer.zero_grad()\n"
BACKWARD = "        loss.backward()\n"
PENALTY = "min(0.0, 1 - r / c)"
SCORE = "return 100 * math.exp(min(0.0, 1 - r / c) + log_precisions)"

FAULTS = [


    # ------------------------------------------------------------ collate
    Fault("collate", "padded-in-front",
            "The padding stands before the sentences. It belongs at their ends.",
            replace=(PADDED,
                     '''front = lambda rows: pad_sequence([row.flip(0) for row in rows], padding_value=PAD).flip(0)
    return front(sources), lengths, front(targets)''')),
    Fault("collate", "batch-first",
            "Your source is (B, S), your target (B, T). Time comes first.",
            replace=(PADDED, PADDED.replace("padding_value", "batch_first=True, padding_value"))),
    Fault("collate", "common-longest",
            "Source and target have the same number of rows in your code. Pad each to its own longest sentence.",
            replace=(PADDED, "both = pad_sequence([*sources, *targets], padding_value=PAD)\n"
                             "    return both[:, :len(pairs)], lengths, both[:, len(pairs):]")),
    Fault("collate", "lengths-of-the-targets",
            "Your lengths are those of the targets. They must be those of the sources.",
            replace=(LENGTHS, LENGTHS.replace("source", "target"))),
    Fault("collate", "lengths-with-padding",
            "Each of your lengths is S, the padding included. A length is the number of ids before the padding.",
            replace=(LENGTHS, "torch.tensor([max(len(source) for source in sources)] * len(pairs))")),
    Fault("collate", "lengths-without-eos",
            "Each of your lengths is one too small. `EOS` counts, only the padding does not.",
            replace=(LENGTHS, LENGTHS.replace("len(source)", "len(source) - 1"))),

    # ------------------------------------------------------------ encoder
    Fault("encoder", "state-of-forward-direction",
            "`hdec_init` is made of the forward direction's last state. Bahdanau et al. take the backward direction, "
            "whose last step reads the first word.",
            replace=("final[1]", "final[0]")),
    Fault("encoder", "detached",
            "No gradient reaches the embedding: `detach`, `.data` and `no_grad`, for example, cut it off.",
            replace=(PACK, PACK + "\n        packed = packed._replace(data=packed.data.detach())")),
    Fault("encoder", "backward-half-at-the-end",
            "`hdec_init` is made of the backward half at the last timestep, where this direction begins, or where "
            "padding is. Take its state after the first word.",
            replace=("final[1]", "henc_ts[-1, :, self.gru.hidden_size:]")),
    Fault("encoder", "padding-read",
            "Your backward direction reads the padding before the words: zeros in its outputs come too late. Pack the "
            "sentences before the GRU.",
            replace=(READ, "self.gru(self.embedding(source))\n"
                           "        steps = torch.arange(len(source), device=source.device)[:, None, None]\n"
                           "        henc_ts = packed_ts * (steps < lengths.to(source.device)[:, None])")),
    Fault("encoder", "not-packed",
            "Your GRU reads the padding like words, and has states there that are not zero. "
            "Pack the sentences before the GRU.",
            replace=(READ, "self.gru(self.embedding(source))\n        henc_ts = packed_ts")),
    Fault("encoder", "first-state-left-sorted",
            "The rows of `hdec_init` are in the order of the lengths. Put them back in the order of the batch.",
            replace=("final[1]", "final[1][lengths.argsort(descending=True)]")),
    Fault("encoder", "mean-of-both-directions",
            "`hdec_init` is made of the mean of both last states. Bahdanau et al. take that of the backward direction.",
            replace=("final[1]", "final.mean(dim=0)")),
    Fault("encoder", "no-tanh",
            "Your `hdec_init` is what `W_s` gives. The tanh is missing.",
            replace=("torch.tanh(self.W_s(final[1]))", "self.W_s(final[1])")),

    # ------------------------------------------------------------ scores
    Fault("scores", "tanh-of-the-state-only",
            "In your additive score, the tanh is taken of the decoder's part only. Take it of the sum of both "
            "parts.",
            replace=("torch.tanh(self.W_a(hdec) + keys)", "(torch.tanh(self.W_a(hdec)) + keys)")),
    Fault("scores", "scaled-dot",
            "The dot score is divided by √H. That is Vaswani's scaled dot product; Luong's is not scaled.",
            replace=(DOT, DOT + " / hdec.shape[-1] ** 0.5")),
    Fault("scores", "keys-multiplied-twice",
            "Your additive score multiplies the keys by `U_a`. They are U_a h_j already.",
            replace=(ADDITIVE, ADDITIVE.replace("+ keys", "+ self.U_a(keys)"))),
    Fault("scores", "keys-made-at-each-step",
            "Your additive `keys` returns the hidden vectors, and each step multiplies them by `U_a`. "
            "The keys are U_a h_j, computed once.",
            replace=[("return self.U_a(henc_ts)", "return henc_ts"),
                     (ADDITIVE, ADDITIVE.replace("+ keys", "+ self.U_a(keys)"))]),
    Fault("scores", "matrices-exchanged",
            "`W_a` and `U_a` have changed places: `W_a` belongs to the decoder's state, `U_a` to the hidden vectors.",
            replace=[("return self.U_a(henc_ts)", "return self.W_a(henc_ts)"),
                     (ADDITIVE, ADDITIVE.replace("W_a", "U_a"))]),
    Fault("scores", "additive-scores-reshaped",
            "Your additive scores have the right shape and are in the wrong order, so sentences are mixed. "
            "(S, B) becomes (B, S) by exchanging the axes.",
            replace=(ADDITIVE, ADDITIVE.replace(".squeeze(-1).T", ".reshape(len(hdec), -1)"))),

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
    Fault("attend", "scores-times-mask",
            "The padding's scores become 0, and exp(0) = 1 is a share of the softmax. They must become −∞.",
            replace=(SOFTMAX, "attention_weights = (scores * mask).softmax(dim=-1)")),
    Fault("attend", "softmax-of-the-whole-batch",
            "All weights of your batch together sum to 1. The weights of each sentence sum to 1: "
            "the softmax runs over the source.",
            replace=(SOFTMAX, SOFTMAX.replace("softmax(dim=-1)", "flatten().softmax(dim=0).view_as(scores)"))),
    Fault("attend", "softmax-over-the-batch",
            "Your softmax runs over the batch: at each timestep the weights of all sentences sum to 1. "
            "It must run over the source.",
            replace=(SOFTMAX, SOFTMAX.replace("dim=-1", "dim=0"))),
    Fault("attend", "mean-of-weighted-vectors",
            "Your context is divided by S. The weights sum to 1 already: add up the weighted vectors.",
            replace=(CONTEXT, CONTEXT + " / len(henc_ts)")),

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
    Fault("gated-cell", "reset-after-the-matrix",
            "r multiplies U s: that is PyTorch's convention. In Bahdanau's paper it multiplies the state, before U.",
            replace=("self.U(r * hdec)", "r * self.U(hdec)")),
    Fault("gated-cell", "no-reset",
            "Your candidate is made from the whole previous state: r has no effect. Apply U to r ⊙ s.",
            replace=("self.U(r * hdec)", "self.U(hdec)")),
    Fault("gated-cell", "reset-state-kept",
            "Your mixture of old and new takes r ⊙ s for the old state. It must take s, the previous state.",
            replace=(MIXED, "return (1 - z) * r * hdec + z * candidate")),
    Fault("gated-cell", "gates-without-context",
            "The context has no effect on your two gates. Each has a part for it, C_z c and C_r c.",
            replace=[("\n                          + self.C_z(context_vectors)", ""),
                     ("\n                          + self.C_r(context_vectors)", "")]),
    Fault("gated-cell", "one-state-matrix",
            "Both gates use `U_z` for the previous state. The reset gate has a matrix of its own, `U_r`.",
            replace=("self.U_r(hdec)", "self.U_z(hdec)")),

    # ------------------------------------------------------------ paper-decoder
    Fault("paper-decoder", "softmax-on-logits",
            "You return probabilities. The loss takes the softmax itself: give it raw logits.",
            replace=("return logits, hdec", "return logits.softmax(dim=-1), hdec")),
    Fault("paper-decoder", "logits-of-the-old-state",
            "Your logits are computed from the state before the step. Use the new state.",
            replace=[KEEP_BEFORE, (JOINED, JOINED.replace("hdec", "before"))]),
    Fault("paper-decoder", "keys-as-values",
            "You compute the context from the keys. Keys serve for the scores; the context is a weighted sum of "
            "`henc_ts`.",
            replace=("memory.mask, memory.henc_ts", "memory.mask, memory.keys")),
    Fault("paper-decoder", "scores-returned",
            "Your third result holds the scores. Return the attention weights.",
            replace=("        hdec = self.cell(",
                     "        attention_weights = self.score(hdec, memory.keys)\n        hdec = self.cell(")),
    Fault("paper-decoder", "state-and-context-exchanged",
            "Your cell gets the context in the place of the previous state, and the state in the place of the "
            "context. Its order is embedding, previous state, context.",
            replace=("self.embedding(tokens), hdec, context_vectors", "self.embedding(tokens), context_vectors, hdec")),
    Fault("paper-decoder", "attends-with-the-new-state",
            "You attend again with the new state, and return these weights. There is one attention, with the state "
            "before, for cell and logits.",
            replace=("        logits = ",
                     "        context_vectors, attention_weights = attend(\n"
                     "            self.score(hdec, memory.keys), memory.mask, memory.henc_ts)\n"
                     "        logits = ")),
    Fault("paper-decoder", "state-of-a-step-without-context",
            "You score with the state of a step whose context is zero. Score with the state before the step.",
            replace=("self.score(hdec",
                     "self.score(self.cell(self.embedding(tokens), hdec, torch.zeros_like(hdec))")),

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
    Fault("plain-decoder", "old-state-scored",
            "You score with the state before the step, as in the paper. This decoder attends with its new state.",
            replace=[KEEP_BEFORE, ("self.score(hdec", "self.score(before")]),
    Fault("plain-decoder", "old-state-returned",
            "You return the state that came in. The next step needs the new one.",
            replace=[KEEP_BEFORE, (RESULT, RESULT.replace("hdec", "before"))]),
    Fault("plain-decoder", "context-first",
            "Your readout gets the context first, then the state. The state comes first.",
            replace=(JOINED, "torch.cat([context_vectors, hdec], dim=-1)")),

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
    Fault("translator", "decision-of-the-next-step",
            "Your decisions come one step early. In this session `forced[t]` decides what is read *after* step t.",
            replace=(NEXT, NEXT.replace("forced[t]", "forced[min(t + 1, len(target) - 1)]"))),
    Fault("translator", "state-not-carried",
            "Every step starts from `hdec_init` again. Give each step the state that the step before returned.",
            replace=(STEP, STEP.replace("hdec, attention", "_, attention"))),
    Fault("translator", "padding-after-own-eos",
            "After an EOS you give the sentence PAD in place of its arg-max. Here every arg-max is read as it is.",
            replace=[(NONE_YET, ENDED), (NEXT, AFTER_OWN_EOS.format("PAD"))]),
    Fault("translator", "eos-after-own-eos",
            "After an EOS you give the sentence EOS in place of its arg-max, as in session 4. Here every arg-max is "
            "read as it is.",
            replace=[(NONE_YET, ENDED), (NEXT, AFTER_OWN_EOS.format("EOS"))]),
    Fault("translator", "true-token-one-late", ONE_LATE,
            replace=(NEXT, NEXT.replace("target[t]", "target[max(t - 1, 0)]"))),
    Fault("translator", "true-token-one-late-and-last-first", ONE_LATE,
            replace=(NEXT, NEXT.replace("target[t]", "target[t - 1]"))),
    Fault("translator", "starts-with-the-answer",
            "Your decoder reads `target[0]` at the first step. It must read SOS: it has to predict `target[0]`.",
            replace=("torch.full_like(target[0], SOS)", "target[0]")),
    Fault("translator", "weights-batch-first",
            "Your attention weights are (B, T, S). Time comes first.",
            replace=("torch.stack(all_weights)", "torch.stack(all_weights, dim=1)")),

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
            "The true token keeps the weight 1, and each of the V tokens gets ε / V on top. The true token's weight "
            "must be 1 − ε + ε / V.",
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
            "You divide ε among the V − 1 other tokens. Divide it among all V, the true one included.",
            replace=("return F.cross_entropy(",
                     "smoothing = smoothing * logits.shape[-1] / (logits.shape[-1] - 1)\n"
                     "    return F.cross_entropy(")),
    Fault("loss", "mean-of-sentences",
            "You take the mean of each sentence, and then the mean of these. Every real token has the same weight: "
            "divide the sum over all of them by their number.",
            replace=[("return F.cross_entropy(", "each = F.cross_entropy("),
                     ("label_smoothing=smoothing)", 'label_smoothing=smoothing, reduction="none").view_as(target)\n'
                      "    return (each.sum(dim=0) / (target != PAD).sum(dim=0)).mean()")]),
    Fault("loss", "padding-counted",
            "Your mean contains the padding, as if PAD were a token to be learned. Leave it out.",
            replace=(ENTROPY, ENTROPY.replace(" ignore_index=PAD,", ""))),
    Fault("loss", "first-ids-ignored",
            "You ignore EOS as well as PAD. EOS has to be learned, or the decoder never stops.",
            replace=(ENTROPY, "target = target.masked_fill(target <= EOS, PAD)\n    " + ENTROPY)),
    Fault("loss", "no-smoothing",
            "`smoothing` has no effect: your loss is always the plain cross-entropy.",
            replace=(ENTROPY, ENTROPY.replace("=smoothing", "=0.0"))),

    # ------------------------------------------------------------ train
    Fault("train", "gradients-pile-up",
            "The gradients are not cleared between the steps: `backward` adds to the old ones. Clear them once per "
            "batch.",
            replace=(CLEAR, "")),
    Fault("train", "gradients-cleared-too-late",
            "The parameters do not change: `optimizer.step` is not called, or finds no gradient. Clear the old "
            "gradients, then call `backward`, then `step`.",
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
          "You add up the norms of the parameters' gradients. The norm of the whole gradient is the square root of "
          "the sum of their squares.",
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
                     "            parameter.grad.mul_(max_norm / norm)\n")),
    Fault("train", "clipped-by-value",
            "Each number of the gradient is clipped by itself (clip by value). Clipping by norm keeps the direction.",
            replace=("clip_grad_norm_", "clip_grad_value_")),
    Fault("train", "ratio-inverted",
            "Your decisions are true with probability 1 − `ratio`. `ratio` must be the probability of true, which "
            "means that the right word is read.",
            replace=("forcing_decisions(len(target), ratio)", "forcing_decisions(len(target), 1 - ratio)")),
    Fault("train", "one-step-of-the-schedule",
            "The scheduler does not step after the first batch. It must step after each batch, not only at the end.",
            replace=("        scheduler.step()\n        view.log(loss=loss)",
                     "        view.log(loss=loss)\n    scheduler.step()")),
    Fault("train", "no-schedule",
            "After two batches the learning rate is still that of the first. Call `scheduler.step()` after each "
            "batch.",
            replace=("        scheduler.step()\n", "")),
    Fault("train", "budget-ignored",
            "You go on as long as there are batches, and they never end. `view` must end the loop: iterate over both "
            "at once, with `zip`.",
            replace=("zip(view, batches)", "enumerate(batches)")),
    Fault("train", "smoothing-not-passed-on",
            "`smoothing` has no effect on your training. Give it to the loss.",
            replace=("translation_loss(logits, target, smoothing)", "translation_loss(logits, target)")),

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
            "A p_n that is 0 or has no n-grams counts as 1 in your code. With even one of these, BLEU must be 0.",
            replace=("            return 0.0\n",
                     "            if n == 1:\n                return 0.0\n            continue\n")),
    Fault("bleu", "mean-of-sentence-precisions",
            "You divide in each sentence, and average the precisions. Sum matches and totals over the corpus, then "
            "divide.",
            body='''
log_precisions = 0.0
for n in range(1, 5):
    counts = [clipped_matches(*pair, n) for pair in zip(hypotheses, references)]
    precisions = [matches / total for matches, total in counts if total]
    if sum(precisions) == 0:
        return 0.0
    log_precisions += math.log(sum(precisions) / len(precisions)) / 4
c, r = sum(map(len, hypotheses)), sum(map(len, references))
return 100 * math.exp(min(0.0, 1 - r / c) + log_precisions)'''),
    Fault("bleu", "product-of-precisions",
            "You multiply the four precisions. BLEU takes their geometric mean: the product to the power 1/4.",
            replace=("math.log(matches / total) / 4", "math.log(matches / total)")),
    Fault("bleu", "no-penalty",
            "A corpus that is too short has no penalty in your code. Multiply by exp(1 − r/c) if c < r.",
            replace=(PENALTY, "0.0")),

    # ------------------------------------------------------------ aer
    Fault("aer", "all-links-sure",
            "Every gold link counts as sure. A word with several gold words has only possible links.",
            replace=[("            sure += len(links) == 1\n", "            sure += len(links)\n"),
                     ("in_sure += len(links) == 1 and s in links", "in_sure += s in links")]),
    Fault("aer", "possible-links-ignored",
            "You count only sure links as hits. For a word with several gold words, a link to any of them counts in "
            "A ∩ P.",
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
    Fault("aer", "french-word-of-each-english-word",
            "You take, for each English word, the French word with the largest weight. Take, for each French word, the "
            "English one: the arg-max runs over the source.",
            replace=("argmax(dim=-1)", "argmax(dim=0)")),
    Fault("aer", "sure-hits-not-possible",
            "A sure link that you hit counts in A ∩ S only. P holds the sure links too, so it counts in A ∩ P as well.",
            replace=("in_possible += s in links", "in_possible += len(links) > 1 and s in links")),
]

TRUE_TOKEN = "logits.log_softmax(dim=-1)[:, token]"
FED = "tokens = token.repeat(S + 1)"

FAULTS += [
    Fault("effects", "old-keys",
            "The overwritten vector still has its old key, so the score is still that of the old vector. Compute the "
            "keys from the changed vectors.",
            replace=("model.decoder.score.keys(changed)", "model.decoder.score.keys(henc_ts).repeat(1, S + 1, 1)")),
    Fault("effects", "zeros",
            "The overwritten word adds nothing to the context: its vector is zero, masked or left out. Overwrite it "
            "with the mean of the sentence's S vectors.",
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
    Fault("effects", "mean-of-the-other-words",
            "You overwrite with the mean of the other S − 1 vectors. Take the mean of all S vectors of the sentence.",
            replace=("henc_ts[:, 0].mean(dim=0)", "(henc_ts[:, 0].sum(dim=0) - henc_ts[s, 0]) / (S - 1)")),
    Fault("effects", "overwritten-so-far",
            "When a word is overwritten, the words before it still are. Start from the unchanged vectors for each "
            "word, and overwrite one.",
            replace=("changed[s, s] =", "changed[s, s:S] =")),
    Fault("effects", "sign",
            "You subtract the other way round: a fall is positive, unchanged minus overwritten.",
            replace=("log_probabilities[-1] - log_probabilities[:-1]",
                     "log_probabilities[:-1] - log_probabilities[-1]")),
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
            "Your cost is three times too large, as large as for every combination of the values. In each experiment "
            "only one setting changes: add the numbers of values, and multiply by seeds and steps once.",
            replace=(COST, "return steps * len(seeds) * math.prod(len(tried) for tried in values.values())")),
]
