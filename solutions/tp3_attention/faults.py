"""Wrong versions that learners write in session 3."""

from dataclasses import replace

from autograder.authoring import Fault


def written_out(versions, body):
    """Return versions that edit an answer with this body, where attention is written once more, and not the solution.

    The solution calls the function of an earlier exercise.
    """
    return [replace(version, body=version.body or body) for version in versions]


ONE_OFF = "Your `padding_mask` is one position off. Positions are counted from 0, so with 3 tokens they are 0, 1, 2."
SCORED_ZERO = ("Padding has the score 0 in your softmax, and a share in its sum: exp(0) is 1. Give it a score so low "
               "that its exponential is 0.")
NOT_CARRIED = ("Every step of the cell starts from `hdec_init` again. Give the cell the hidden vector of the step "
               "before.")
LOGARITHMS = ("You return the logarithms of the weights: negative numbers that do not add up to 1. A vector is "
              "multiplied by a weight, not by its logarithm.")
LOG_SOFTMAX = ("Your attention weights are log-probabilities: negative numbers that do not add up to 1. "
               "Logarithms belong in a loss; a weighted sum needs the softmax itself.")

# --- scores -----------------------------------------------------------------------------------

DOT = "return henc_ts @ hdec"

SCORES = [
    Fault("scores", "product-of-sums",
            "Your scores are the sum of one vector times the sum of the other. A dot product multiplies "
            "entry by entry, each by the one in the same position, and then adds.",
            replace=[("[15.0, 60.0, 15.0, 35.0]", "[50.0, 150.0, 50.0, 150.0]"),
                     (DOT, "return henc_ts.sum(dim=1) * hdec.sum()")]),
    Fault("scores", "divided-by-root-h",
            "Your scores are divided by √H. That is the scaled dot product; it comes later. "
            "Here the plain one is asked for.",
            replace=(DOT, "return henc_ts @ hdec / math.sqrt(len(hdec))")),
    Fault("scores", "detached-by-item",
            "No gradient flows back from your scores, so nothing before this step is trained. `.item()`, `.detach()`, "
            "`torch.tensor(…)` and whole numbers lose it. Stay with float tensors, for example by `torch.stack`.",
            replace=(DOT, "return torch.tensor([torch.dot(vector, hdec).item() for vector in henc_ts])")),
    Fault("scores", "summed-over-the-vectors",
            "Your sum runs over the encoder vectors, so H numbers are left. Add up the entries of each vector: one "
            "score per encoder vector.",
            replace=(DOT, "return (henc_ts * hdec).sum(dim=0)")),
]


# --- weights ----------------------------------------------------------------------------------

SCALED = "scaled = scores / temperature"
LARGEST = "scaled.max(dim=-1, keepdim=True).values"
SAFE = f"torch.exp(scaled - {LARGEST})"
ROW_SUM = "exps.sum(dim=-1, keepdim=True)"
SHARE = f"return exps / {ROW_SUM}"

WEIGHTS = [
    Fault("weights", "log-softmax", LOGARITHMS,
            replace=(SHARE, "return torch.log_softmax(scaled, dim=-1)")),
    Fault("weights", "logarithm-of-the-weights", LOGARITHMS,
            replace=(SHARE, "return torch.log(exps) - torch.log(exps.sum(dim=-1, keepdim=True))")),
    Fault("weights", "axis-of-the-sum-lost",
            "A number per row (its sum or its maximum) lost its axis: (T, S) with (T,) lines up the wrong axes. "
            "With one row only it works by chance. Keep the axis as one of size 1.",
            replace=(ROW_SUM, "exps.sum(dim=-1)")),
    Fault("weights", "overflow",
            "Large scores overflow: `exp(1000)` is infinite, and infinite divided by infinite is NaN. (Large negative "
            "ones give 0/0.) First subtract from each row a number of its own; the weights do not change.",
            replace=(SAFE, "torch.exp(scaled)")),
    Fault("weights", "smallest-subtracted",
            "Where the scores of a row lie far apart, `exp` of the largest still overflows: what you subtract is too "
            "small, as the smallest score or the mean would be. Which number makes every `exp` safe?",
            replace=(SAFE, "torch.exp(scaled - scaled.min(dim=-1, keepdim=True).values)")),
    Fault("weights", "shifted-before-the-temperature",
            "You subtract a number that is not yet divided by the temperature from scores that are. With large scores "
            "the exponents are then far from 0 again, and `exp` overflows or gives only zeros.",
            replace=(SAFE, "torch.exp(scaled - scores.max(dim=-1, keepdim=True).values)")),
    Fault("weights", "only-the-largest",
            "You give weight 1 to the largest score and 0 to all others. "
            "This is a hard choice; a softmax gives every score some weight.",
            replace=(SHARE, "return (exps == exps.max(dim=-1, keepdim=True).values).float()")),
    Fault("weights", "over-the-first-axis",
            "Your weights add up to 1 over the first axis. They should add up to 1 over the last one, the scores of "
            "a row.",
            replace=[(LARGEST, "scaled.max(dim=0, keepdim=True).values"), (ROW_SUM, "exps.sum(dim=0, keepdim=True)")]),
    Fault("weights", "one-sum-for-all",
            "You divide by the sum of the whole tensor, so that all weights together add up to 1. Each row has a "
            "sum of its own.",
            replace=(ROW_SUM, "exps.sum()")),
    Fault("weights", "one-maximum-for-all",
            "What you subtract lies far above the scores of some rows, as the largest score of all rows does, so all "
            "their exponentials are 0. Subtract the largest score of each row.",
            replace=(LARGEST, "scaled.max()")),
    Fault("weights", "exponential-of-the-maximum",
            "Where scores are large, all weights of a row are NaN: the exponentials overflow, or are all 0, before "
            "you divide. Subtract the largest score before you take the exponential.",
            replace=(SAFE, f"torch.exp(scaled) / torch.exp({LARGEST})")),
    Fault("weights", "times-the-temperature",
            "You multiply the scores by the temperature. Divide them by it: a high temperature makes the weights more "
            "alike.",
            replace=(SCALED, "scaled = scores * temperature")),
    Fault("weights", "temperature-without-effect",
            "The temperature has no effect on your weights. Divide the scores by it, before the exponential: "
            "a factor of all exponentials cancels.",
            replace=(SCALED, "scaled = scores")),
]


# --- context ----------------------------------------------------------------------------------

WEIGH = "return attention_weights.unsqueeze(1) * henc_ts"

CONTEXT = [
    Fault("context", "weights-on-the-units",
            "The weights multiply entries of the vectors, not whole vectors: broadcasting lines up the last axes, "
            "S with H. It raises no error when S = H. Give the weights the shape (S, 1).",
            replace=(WEIGH, "return attention_weights * henc_ts")),
    Fault("context", "weighed-and-added",
            "`step3_weigh` adds the vectors up already, as a matrix product does. Return each vector times its weight, "
            "(S, H).",
            replace=(WEIGH, "return attention_weights @ henc_ts")),
    Fault("context", "summed-over-the-entries",
            "`step4_context` adds up the entries of each vector, so S numbers are left. Add up the vectors, entry by "
            "entry: H numbers.",
            replace=("weighted.sum(dim=0)", "weighted.sum(dim=1)")),
    Fault("context", "mean-of-the-vectors",
            "`step4_context` takes the mean of the weighted vectors, which is S times too small. Add them up: the "
            "weights have the sum 1 already.",
            replace=("weighted.sum(dim=0)", "weighted.mean(dim=0)")),
]


# --- steps ------------------------------------------------------------------------------------

SOFT_STEP = "weights = torch.softmax(scores, dim=0)"
CELL_STEP = "hdec = cell(torch.cat([token_vector, context_vector]), hdec)"

STEPS = [
    Fault("steps", "contexts-pile-up",
            "You add the context of each step to those of the steps before. Each step has a context of its own.",
            replace=[("hdec = hdec_init\n", "hdec, context_vector = hdec_init, 0\n"),
                     ("context_vector = weights @ henc_ts", "context_vector = context_vector + weights @ henc_ts")]),
    Fault("steps", "state-not-carried", NOT_CARRIED,
            replace=(CELL_STEP, "hdec = cell(torch.cat([token_vector, context_vector]), hdec_init)")),
    Fault("steps", "state-never-replaced", NOT_CARRIED,
            replace=[(CELL_STEP, CELL_STEP.replace("hdec =", "new =")),
                     ("hdec_ts.append(hdec)", "hdec_ts.append(new)")]),
    Fault("steps", "context-before-token",
            "The context comes before the token vector in the input of the cell. It raises no error, "
            "but each number is multiplied by the wrong column of the cell's matrices. The token comes first here.",
            replace=(CELL_STEP, "hdec = cell(torch.cat([context_vector, token_vector]), hdec)")),
    Fault("steps", "log-softmax", LOG_SOFTMAX,
            replace=(SOFT_STEP, "weights = torch.log_softmax(scores, dim=0)")),
    Fault("steps", "softmax-over-one",
            "Each of your weights is 1, as after a softmax over an axis of size one, "
            "where a single number is always the whole. Run it over the S source timesteps.",
            replace=(SOFT_STEP, "weights = torch.softmax(scores.unsqueeze(0), dim=0).squeeze(0)")),
    Fault("steps", "last-encoder-vector",
            "The context is the last encoder vector at every step, whatever the weights say. It should be the sum of "
            "all encoder vectors, each times its weight.",
            replace=("context_vector = weights @ henc_ts", "context_vector = henc_ts[-1]")),
    Fault("steps", "state-detached",
            "No gradient flows back from your last hidden vector, so nothing before it is trained. "
            "`.detach()`, `.item()` and `torch.no_grad()` lose it: keep what the cell returns as it is.",
            replace=(CELL_STEP, CELL_STEP + ".detach()")),
    Fault("steps", "scores-of-the-initial-state",
            "Every step scores with `hdec_init`, so all have the same weights. "
            "Score with the hidden vector of the step before.",
            replace=("scores = henc_ts @ hdec\n", "scores = henc_ts @ hdec_init\n")),
    Fault("steps", "state-before-the-step",
            "Your first result holds the hidden vector before each step: it begins with `hdec_init`, and the last one "
            "is missing. Row t is what the cell returns at step t.",
            replace=("torch.stack(hdec_ts)", "torch.stack([hdec_init, *hdec_ts[:-1]])")),
    Fault("steps", "context-as-state",
            "The cell starts from the context vector. "
            "Its second argument is the hidden vector of the step before; the context stands in the first.",
            replace=(CELL_STEP, CELL_STEP.replace(", hdec)", ", context_vector)"))),
    Fault("steps", "scores-kept",
            "Your second result holds the scores. Return the weights, which the softmax makes of them.",
            replace=("attention_weights.append(weights)", "attention_weights.append(scores)")),
]


# --- batched ----------------------------------------------------------------------------------

BATCH_SCORES = "hdec_ts @ henc_ts.transpose(1, 2)"
BATCH_SOFT = "torch.softmax(scores, dim=2)"

BATCHED = [
    Fault("batched", "log-softmax", LOG_SOFTMAX,
            replace=(BATCH_SOFT, "torch.log_softmax(scores, dim=2)")),
    Fault("batched", "softmax-over-the-batch",
            "Your weights add up to 1 over the batch, so those of one sentence depend on the others. "
            "(`F.softmax` on three axes does this when no `dim` is given.) Which axis is the source?",
            replace=(BATCH_SOFT, "torch.softmax(scores, dim=0)")),
    Fault("batched", "divided-by-root-h",
            "Your scores are divided by √H. That is the scaled dot product; here the plain dot product is asked for.",
            replace=(BATCH_SCORES, BATCH_SCORES + " / math.sqrt(hdec_ts.shape[2])")),
    Fault("batched", "gradient-cut",
            "No gradient goes back through the weights: they or the scores are detached. The network could never "
            "learn what to attend to.",
            replace=(BATCH_SOFT, "torch.softmax(scores, dim=2).detach()")),
    Fault("batched", "looped",
            "The more rows or timesteps, the more calls of torch, as in a loop. Batched matrix products compute "
            "all at once.",
            body='''
weights = [torch.softmax(dec @ enc.T, dim=-1) for dec, enc in zip(hdec_ts, henc_ts)]
return torch.stack([w @ enc for w, enc in zip(weights, henc_ts)]), torch.stack(weights)'''),
    Fault("batched", "softmax-over-the-target",
            "Your weights add up to 1 over the decoder's timesteps. For each of these, the weights of the encoder's "
            "timesteps add up to 1.",
            replace=(BATCH_SOFT, "torch.softmax(scores, dim=1)")),
    Fault("batched", "reshape-instead-of-transpose",
            "`reshape` and `view` cut the same numbers up anew; they do not exchange axes. "
            "The shape is right, and each score mixes several encoder vectors.",
            replace=(BATCH_SCORES, "hdec_ts @ henc_ts.reshape(henc_ts.shape[0], henc_ts.shape[2], -1)")),
    Fault("batched", "context-from-scores",
            "Your context vectors are sums weighted by the scores. Weight them by the softmax of the scores.",
            replace=("attention_weights @ henc_ts", "scores @ henc_ts")),
]


# --- masked -----------------------------------------------------------------------------------

FILL = "masked = scores.masked_fill(~real, lowest)"
MASK_SOFT = "return torch.softmax(masked, dim=2) * real"

MASKED = [
    Fault("masked", "fill-not-assigned",
            "Padding is cut off, but it still counts in the sum of the softmax, so the real tokens do not add up to 1. "
            "Mask the scores before the softmax. (`masked_fill` returns a new tensor: keep what it returns.)",
            replace=(FILL, "scores.masked_fill(~real, lowest)\n    masked = scores")),
    Fault("masked", "mask-inverted",
            "The mask is the wrong way round: the padding gets all the weight and the real tokens get none. "
            "True stands for a real token.",
            replace=("real = mask.unsqueeze(1)", "real = ~mask.unsqueeze(1)")),
    Fault("masked", "mask-on-the-target",
            "The mask lies on the axis of the decoder timesteps. It marks source positions, "
            "so it needs its axis of size 1 in the place of T. (With T = S no error is raised.)",
            replace=("real = mask.unsqueeze(1)", "real = mask.unsqueeze(2)")),
    Fault("masked", "empty-row-is-nan",
            "A row without a real token becomes NaN: 0/0, for example from a softmax of nothing but −∞. Its weights "
            "should be 0. (NaN times 0 is still NaN.) Fill in a very low number, or keep the divisor away from 0.",
            replace=[("lowest = torch.finfo(scores.dtype).min", "lowest = -math.inf"),
                     (MASK_SOFT, "return torch.softmax(masked, dim=2)")]),
    Fault("masked", "gradient-is-nan",
            "The gradient of a row without a real token is NaN, and one such row makes all parameters NaN. Replacing "
            "NaN among the weights does not help: let no 0/0 arise, for example by a very low number instead of −∞.",
            replace=[(FILL, "masked = scores + torch.zeros_like(scores).masked_fill(~real, -math.inf)"),
                     (MASK_SOFT, "return torch.nan_to_num(torch.softmax(masked, dim=2))")]),
    Fault("masked", "true-on-padding",
            "Your `padding_mask` is True on padding. Here True stands for a real token. "
            "(Some libraries use the opposite convention.)",
            replace=("return positions < lengths.unsqueeze(1)", "return positions >= lengths.unsqueeze(1)")),
    Fault("masked", "as-wide-as-the-longest",
            "Your mask is as wide as the longest row of the batch, not S wide. "
            "The padded tensor may be wider than its longest row.",
            replace=("torch.arange(S, device", "torch.arange(int(lengths.max()), device")),
    Fault("masked", "length-counted-in", ONE_OFF,
            replace=("positions < lengths", "positions <= lengths")),
    Fault("masked", "last-token-hidden", ONE_OFF,
            replace=("torch.arange(S, device", "torch.arange(1, S + 1, device")),
    Fault("masked", "empty-row-is-uniform",
            "A row without a real token gets an equal share for each position, as scores that are all alike do. Its "
            "weights should be 0: multiply by the mask after the softmax.",
            replace=(MASK_SOFT, "return torch.softmax(masked, dim=2)")),
    Fault("masked", "padding-scores-zero", SCORED_ZERO, replace=(FILL, "masked = scores * real")),
    Fault("masked", "padding-scores-zero-alone", SCORED_ZERO,
            replace=[(FILL, "masked = scores * real"), (MASK_SOFT, "return torch.softmax(masked, dim=2)")]),
    Fault("masked", "no-mask",
            "Your mask has no effect: padding gets its share of the weights. (`masked_fill` returns a new tensor: keep "
            "what it returns.)",
            replace=(MASK_SOFT, "return torch.softmax(scores, dim=2)")),
]


# --- plain scores -----------------------------------------------------------------------------

SCALE = "return hdec_ts @ henc_ts.transpose(1, 2) / math.sqrt(H)"
UNIT_DOT = "return dec_units @ enc_units.transpose(1, 2)"

PLAIN = [
    Fault("plain-scores", "divided-by-squared-lengths",
            "`cosine_score` divides by squared lengths. The length of a vector is the square root of its sum of "
            "squares.",
            replace=[("hdec_ts.norm(dim=2, keepdim=True)", "hdec_ts.square().sum(dim=2, keepdim=True)"),
                     ("henc_ts.norm(dim=2, keepdim=True)", "henc_ts.square().sum(dim=2, keepdim=True)")]),
    Fault("plain-scores", "scaled-by-the-timesteps",
            "`scaled_dot_score` divides by the root of a number of timesteps. "
            "It is the size of the vectors, H, that makes dot products grow.",
            replace=(SCALE, "return hdec_ts @ henc_ts.transpose(1, 2) / math.sqrt(henc_ts.shape[1])")),
    Fault("plain-scores", "zero-divided-by-zero",
            "`cosine_score` gives NaN for a vector of zeros: its length is 0, and 0/0 is not a number. "
            "Keep the divisor away from 0.",
            replace=[("hdec_ts.norm(dim=2, keepdim=True).clamp(min=1e-8)", "hdec_ts.norm(dim=2, keepdim=True)"),
                     ("henc_ts.norm(dim=2, keepdim=True).clamp(min=1e-8)", "henc_ts.norm(dim=2, keepdim=True)")]),
    Fault("plain-scores", "weights-instead-of-scores",
            "Your scores went through a softmax already. "
            "These functions return scores; the weights come later, once for all of them.",
            replace=[("    return hdec_ts @ henc_ts.transpose(1, 2)\n",
                      "    return torch.softmax(hdec_ts @ henc_ts.transpose(1, 2), dim=2)\n"),
                     (SCALE, "return torch.softmax(hdec_ts @ henc_ts.transpose(1, 2) / math.sqrt(H), dim=2)"),
                     (UNIT_DOT, "return torch.softmax(dec_units @ enc_units.transpose(1, 2), dim=2)")]),
    Fault("plain-scores", "view-instead-of-transpose",
            "`.view` (or `.reshape`) cuts the same numbers up anew; it does not exchange axes. "
            "The shape is right, and each score mixes several encoder vectors.",
            replace=[("    return hdec_ts @ henc_ts.transpose(1, 2)\n",
                      "    return hdec_ts @ henc_ts.reshape(henc_ts.shape[0], henc_ts.shape[2], -1)\n"),
                     (SCALE, "return hdec_ts @ henc_ts.reshape(henc_ts.shape[0], henc_ts.shape[2], -1) / math.sqrt(H)"),
                     (UNIT_DOT, "return dec_units @ enc_units.reshape(henc_ts.shape[0], henc_ts.shape[2], -1)")]),
    Fault("plain-scores", "divided-by-h",
            "`scaled_dot_score` divides by H. Divide by its square root.",
            replace=(SCALE, "return hdec_ts @ henc_ts.transpose(1, 2) / H")),
    Fault("plain-scores", "encoder-length-only",
            "`cosine_score` divides by the lengths of the encoder's vectors alone, so a longer decoder vector has "
            "larger scores. Divide by both lengths.",
            replace=("dec_units @", "hdec_ts @")),
]


# --- learned scores ---------------------------------------------------------------------------

GENERAL = "return hdec_ts @ W_a @ henc_ts.transpose(1, 2)"
ADDITIVE = "return torch.tanh(from_decoder + from_encoder) @ v_a"

LEARNED = [
    Fault("learned-scores", "general-ignores-its-matrix",
            "`W_a` has no effect in `general_score`: it is the plain dot product. "
            "With equal sizes no error is raised; with different ones it cannot work.",
            replace=(GENERAL, "return hdec_ts @ henc_ts.transpose(1, 2)")),
    Fault("learned-scores", "general-matrix-transposed",
            "`general_score` uses the transpose of `W_a`. Rows belong to the decoder (H), columns to the encoder (G); "
            "with H = G the mix-up raises no error.",
            replace=(GENERAL, "return hdec_ts @ W_a.T @ henc_ts.transpose(1, 2)")),
    Fault("learned-scores", "two-tanhs",
            "In `additive_score` each projection has its own tanh. "
            "There is one tanh, of the sum of both projections.",
            replace=(ADDITIVE, "return (torch.tanh(from_decoder) + torch.tanh(from_encoder)) @ v_a")),
    Fault("learned-scores", "matrices-not-transposed",
            "The projections in `additive_score` multiply by `W_a` (A, H) and not by its transpose, which vectors in "
            "rows need. (`F.linear` transposes by itself.) When all sizes are equal, no error is raised.",
            replace=[("from_decoder = (hdec_ts @ W_a.T).unsqueeze(2)", "from_decoder = (hdec_ts @ W_a).unsqueeze(2)"),
                     ("from_encoder = (henc_ts @ U_a.T).unsqueeze(1)", "from_encoder = (henc_ts @ U_a).unsqueeze(1)")]),
    Fault("learned-scores", "general-divided-by-root-h",
            "`general_score` divides by √H. That is the scaled dot product; here nothing is divided.",
            replace=(GENERAL, GENERAL + " / math.sqrt(hdec_ts.shape[2])")),
    Fault("learned-scores", "no-tanh",
            "There is no tanh in `additive_score`. It is taken of the sum of both projections, before `v_a`.",
            replace=(ADDITIVE, "return (from_decoder + from_encoder) @ v_a")),
]


# --- net --------------------------------------------------------------------------------------

NET_READ = "henc_ts, _ = self.lstm(self.token_embedding(data))"
NET_QUERY = "query = self.query_layer(self.index_embedding(target_idx))"
NET_SCORES = "scores = (henc_ts @ query.unsqueeze(2)).squeeze(2)"
NET_SOFT = "torch.softmax(scores, dim=1)"
NET_CONTEXT = "context_vectors = (self.attention_weights.unsqueeze(1) @ henc_ts).squeeze(1)"
NET_RETURN = "return self.output_layer(self.dropout(context_vectors))"
NET_BODY = f"""
{NET_READ}
{NET_QUERY}
{NET_SCORES}
self.attention_weights = {NET_SOFT}
{NET_CONTEXT}
{NET_RETURN}"""

NET = written_out([
    Fault("net", "softmax-over-the-batch",
            "Your weights add up to 1 over the batch, "
            "so the answer to one question depends on the others. The softmax belongs over the source.",
            replace=(NET_SOFT, "torch.softmax(scores, dim=0)")),
    Fault("net", "log-softmax", LOG_SOFTMAX,
            replace=(NET_SOFT, "torch.log_softmax(scores, dim=1)")),
    Fault("net", "softmax-before-the-loss",
            "You return probabilities. `F.cross_entropy` does a softmax itself; two of them, one upon the other, "
            "make the loss flat and the training slow. Return the logits.",
            replace=(NET_RETURN, "return torch.softmax(self.output_layer(self.dropout(context_vectors)), dim=1)")),
    Fault("net", "no-dropout",
            "The dropout has no effect: in training no entry of the context vectors is set to 0. "
            "Apply `self.dropout` to them, and go on with what it returns.",
            replace=(NET_RETURN, "return self.output_layer(context_vectors)")),
    Fault("net", "dropout-on-the-logits",
            "The dropout comes last: in training it sets some of your logits to 0. It works on the context vectors.",
            replace=(NET_RETURN, "return self.dropout(self.output_layer(context_vectors))")),
    Fault("net", "tokens-read-alone",
            "Your LSTM reads each token as a sequence of its own, from a state of zeros, so a hidden vector contains "
            "nothing of the other tokens. Give it each row as one sequence: (B, S, D).",
            replace=(NET_READ,
                     "henc_ts = torch.cat([self.lstm(vector[:, None])[0]\n"
                     "                     for vector in self.token_embedding(data).unbind(1)], dim=1)")),
    Fault("net", "both-directions-forward",
            "Your bidirectional LSTM gets one token at a time, so its backward direction also reads from left to "
            "right. Give it the whole sequence in one call.",
            replace=(NET_READ,
                     "state, vectors = None, []\n"
                     "        for vector in self.token_embedding(data).unbind(1):\n"
                     "            read, state = self.lstm(vector[:, None], state)\n"
                     "            vectors.append(read)\n"
                     "        henc_ts = torch.cat(vectors, dim=1)")),
    Fault("net", "context-not-used",
            "The answer is made from the last hidden vector, and the context is not used. Give the context to "
            "dropout and output layer.",
            replace=(NET_CONTEXT, "context_vectors = henc_ts[:, -1]")),
    Fault("net", "every-query-with-every-row",
            "Every query is multiplied with every row of the batch: the weights are (B, B, S). `tensordot`, for "
            "example, pairs all with all. Each query belongs to one row.",
            replace=[(NET_SCORES, "scores = torch.tensordot(query, henc_ts, dims=([1], [2]))"),
                     (NET_SOFT, "torch.softmax(scores, dim=2)"),
                     (NET_CONTEXT, "context_vectors = self.attention_weights @ henc_ts")]),
    Fault("net", "divided-along-the-wrong-axis",
            "The sums by which you divide have lost their axis: (B, S) divided by (B,) lines up S with B. "
            "With a batch of one it looks right, and with B = S no error is raised.",
            replace=(NET_SOFT, "torch.exp(scores) / torch.exp(scores).sum(1)")),
    Fault("net", "gradient-cut",
            "No gradient goes back through the weights: they or the scores are detached. None reaches the query, so "
            "the network could never learn what to attend to.",
            replace=(NET_SOFT, "torch.softmax(scores, dim=1).detach()")),
    Fault("net", "batch-read-as-time",
            "Your LSTM reads the rows of the batch as timesteps. It has `batch_first=True`: its input is (B, S, D), as "
            "the embedding makes it.",
            replace=(NET_READ,
                     "henc_ts = self.lstm(self.token_embedding(data).transpose(0, 1))[0].transpose(0, 1)")),
    Fault("net", "index-in-the-table-of-digits",
            "You look the index up in `token_embedding`, the table of the digits. The index has a table of its own, "
            "`index_embedding`.",
            replace=(NET_QUERY, NET_QUERY.replace("index_embedding", "token_embedding"))),
    Fault("net", "dropout-on-the-query",
            "The dropout is on the query. It works on the context vectors.",
            replace=[(NET_QUERY, "query = self.dropout(self.query_layer(self.index_embedding(target_idx)))"),
                     (NET_RETURN, "return self.output_layer(context_vectors)")]),
    Fault("net", "dropout-in-evaluation",
            "Entries are dropped in evaluation, too, as by `F.dropout` without `training=self.training` or by a new "
            "`nn.Dropout`. Use `self.dropout`.",
            replace=(NET_RETURN, "return self.output_layer(F.dropout(context_vectors))")),
    Fault("net", "batch-axis-lost",
            "With a batch of one, your logits have lost the axis of the batch. `squeeze()` drops every axis of size "
            "one: take away only axis 1 of the context, the single timestep.",
            replace=(NET_RETURN, "return self.output_layer(self.dropout(context_vectors)).squeeze(0)")),
], NET_BODY)


# --- content only -----------------------------------------------------------------------------

BAG_KEYS = """keys = keys + self.position_embedding(
                torch.arange(data.shape[1], device=data.device))"""

BAG = [
    Fault("content-only", "position-of-the-digit",
            "You look up the position vectors by the digits. The position of a token is its place in the row, 0, 1, …, "
            "S − 1, whatever stands there.",
            replace=(BAG_KEYS, "keys = keys + self.position_embedding(data % self.position_embedding.num_embeddings)")),
    Fault("content-only", "positions-in-the-values",
            "The position vectors are in your context, too. They belong to the keys alone. (`+=` changes the token "
            "vectors themselves: make a new tensor.)",
            replace=("@ token_vectors).squeeze(1)", "@ keys).squeeze(1)")),
    Fault("content-only", "positions-always",
            "Position vectors are added with `positions=False`, too. There the keys should be the token vectors "
            "alone.",
            replace=("if self.positions:", "if True:")),
    Fault("content-only", "not-scaled",
            "Your scores are not divided by the square root of `hidden_size`.",
            replace=(" / math.sqrt(self.hidden_size)", "")),
    Fault("content-only", "query-from-the-positions",
            "Your query comes from `position_embedding`. The index has a table of its own, `index_embedding`.",
            replace=("self.index_embedding(target_idx)", "self.position_embedding(target_idx)")),
    Fault("content-only", "counted-over-the-batch",
            "`best_without_order` counts the digits of the whole batch together. Each row has a most frequent digit of "
            "its own: count row by row.",
            replace=("F.one_hot(data).sum(dim=1)", "F.one_hot(data).sum(dim=(0, 1))[None] / len(data)")),
]


# ---------------------------------------------------------------- decoder

ALL_SCORES = 'scores = torch.einsum("tbh,sbh->tbs", hdec_ts, henc_ts)'
GRU = "hdec_ts, hdec_final = self.gru(decoder_input, hdec_init)"
KEPT = "self.attention_weights = F.softmax(scores, dim=-1)"
DECODER_CONTEXT = 'context_vectors = torch.einsum("tbs,sbh->tbh", self.attention_weights, henc_ts)'
OUTPUT = "output = F.log_softmax(self.linear(context_vectors), dim=-1)"
LOCAL_CONTEXT = 'context_vectors = torch.einsum("tbs,sbh->tbh", attention_weights, henc_ts)'

DECODER_BODY = f"""
{GRU}
if not self.attention:
    return F.log_softmax(self.linear(hdec_ts), dim=-1), hdec_final

{ALL_SCORES}
{KEPT}
{DECODER_CONTEXT}
{OUTPUT}
return output, hdec_final"""


# ---------------------------------------------------------------- seq2seq

ENCODED = "henc_ts, henc_final = self.encoder(encoder_input)"
STEP = """output, hidden = self.decoder(
                F.one_hot(written, V).float(), hidden, henc_ts)"""
JOINED_WEIGHTS = "self.attention_weights = torch.cat(weights)"
STOP = """if inference and written.item() == self.decoder_char_index[self.EOS]:
                break"""

# ---------------------------------------------------------------- concatenated

BOTH = "both = torch.cat([hdec_ts, context_vectors], dim=-1)"
HIDDEN = "hidden = torch.tanh(self.dense_tanh(both))"
FINAL = "return F.log_softmax(self.dense_final(hidden), dim=-1)"

DECODER = written_out([
    Fault("decoder", "log-softmax-as-attention-weights",
            "log_softmax as attention weights: these are the *logarithms* of the weights, all negative, so your "
            "context subtracts the encoder vectors. The weights are the softmax itself; "
            "the log-softmax belongs to the output only.",
            replace=(KEPT, "self.attention_weights = F.log_softmax(scores, dim=-1)")),
    Fault("decoder", "log-softmax-kept",
            "log_softmax as attention weights: what you keep in `self.attention_weights` are the logarithms of the "
            "weights. Keep the weights themselves, the numbers by which the encoder vectors are multiplied.",
            replace=[(KEPT,
                      "attention_weights = F.softmax(scores, dim=-1)\n"
                      "        self.attention_weights = F.log_softmax(scores, dim=-1)"),
                     (DECODER_CONTEXT, LOCAL_CONTEXT)]),
    Fault("decoder", "log-softmax-without-dim",
            "log_softmax as attention weights: these are logarithms, and they are normalised over the decoder's time "
            "(without `dim`, torch takes the first of three axes). "
            "The weights are the softmax itself, over the encoder's timesteps.",
            replace=(KEPT, "self.attention_weights = F.log_softmax(scores)")),
    Fault("decoder", "softmax-over-decoder-time",
            "The softmax of your weights runs over the first axis, the decoder's time (without `dim`, torch takes the "
            "first of three axes). For each decoder timestep, the weights of the *encoder's* timesteps must sum to 1.",
            replace=(KEPT, "self.attention_weights = F.softmax(scores)")),
    Fault("decoder", "scaled",
            "You divide the scores by the square root of H. That is the scaled dot product; "
            "here the plain one is asked for.",
            replace=(KEPT, "self.attention_weights = F.softmax(scores / self.hidden_size ** 0.5, dim=-1)")),
    Fault("decoder", "view-instead-of-transpose",
            "You bring the batch to the front with `view` or `reshape`. These do not move axes: they cut the same "
            "numbers in another way, and vectors of different sequences and timesteps get mixed. Transpose.",
            replace=(ALL_SCORES,
                     'T, B, H = hdec_ts.shape\n'
                     '        scores = torch.bmm('
                     'hdec_ts.reshape(B, T, H), henc_ts.reshape(B, -1, H).transpose(1, 2)).transpose(0, 1)')),
    Fault("decoder", "context-not-used",
            "With attention too, your linear layer gets the decoder's states, and not the context vectors. "
            "The context alone predicts the character.",
            replace=(OUTPUT, "output = F.log_softmax(self.linear(hdec_ts), dim=-1)")),
    Fault("decoder", "characters-over-time",
            "The log-softmax of your output runs over time (without `dim`, torch takes the first of three axes). "
            "It must run over the characters, the last axis.",
            replace=(OUTPUT, "output = F.log_softmax(self.linear(context_vectors))")),
    Fault("decoder", "probabilities-instead-of-logs",
            "Your output holds probabilities. The loss expects their logarithms: "
            "log-softmax at the output, softmax for the weights.",
            replace=(OUTPUT, "output = F.softmax(self.linear(context_vectors), dim=-1)")),
    Fault("decoder", "weights-not-kept",
            "`self.attention_weights` is None after a call with attention. "
            "Keep the weights of all timesteps in this attribute, for the heatmaps.",
            replace=[(KEPT, "attention_weights = F.softmax(scores, dim=-1)"), (DECODER_CONTEXT, LOCAL_CONTEXT)]),
    Fault("decoder", "last-weights-only",
            "`self.attention_weights` holds the last timestep only. It should hold those of all T timesteps: attend "
            "with all states, and let no loop overwrite them.",
            replace=(OUTPUT, OUTPUT + "\n        self.attention_weights = self.attention_weights[-1:]")),
    Fault("decoder", "encoder-detached",
            "The encoder's states are detached: no gradient comes back through the attention to the encoder.",
            replace=(GRU, GRU + "\n        henc_ts = henc_ts.detach() if self.attention else None")),
    Fault("decoder", "attends-without-attention",
            "A decoder with `attention=False` attends as soon as it is given `henc_ts`. It is `self.attention` that "
            "says whether it attends.",
            replace=("if not self.attention:", "if henc_ts is None:")),
], DECODER_BODY)

IN_THE_DECODER = [
    # ---------------------------------------------------------------- seq2seq

    Fault("seq2seq", "no-encoder-states-when-free",
            "In free running your decoder gets no `henc_ts`. It must be passed at every call: "
            "attention is computed anew at each timestep.",
            replace=(STEP, "output, hidden = self.decoder(F.one_hot(written, V).float(), hidden)")),
    Fault("seq2seq", "only-the-last-encoder-state",
            "Your decoder gets the encoder's last state in the place of `henc_ts`. "
            "With a single state, its weight is always 1: pass all of them.",
            replace=(ENCODED, ENCODED + "\n        henc_ts = henc_final")),
    Fault("seq2seq", "encoder-states-backwards",
            "You turn the encoder's states around. The weights would then belong to other characters: "
            "the heatmap is mirrored. Leave `henc_ts` in its order.",
            replace=(ENCODED, ENCODED + "\n        henc_ts = henc_ts.flip(0)")),
    Fault("seq2seq", "weights-not-kept",
            "`attention_weights` of the model stays None: "
            "each call of the decoder leaves its weights in `self.decoder.attention_weights`. Copy them from there.",
            replace=[("self.attention_weights = self.decoder.attention_weights", "pass"), (JOINED_WEIGHTS, "pass")]),
    Fault("seq2seq", "last-weights-only",
            "After free running, `attention_weights` holds the last timestep only: "
            "`self.decoder.attention_weights` is new at each call. Collect them step by step, then join them.",
            replace=(JOINED_WEIGHTS, "self.attention_weights = self.decoder.attention_weights")),
    Fault("seq2seq", "state-not-carried",
            "In free running your decoder starts every step from the encoder's last state. "
            "It must go on from the state that the step before returned.",
            replace=(STEP, "output, _ = self.decoder(F.one_hot(written, V).float(), hidden, henc_ts)")),
    Fault("seq2seq", "always-go",
            "In free running your decoder reads `GO` at every step. It must read what it wrote at the step before.",
            replace=("written = output.argmax(-1)\n",
                     "written = written + 0 if not inference else output.argmax(-1)\n")),
    Fault("seq2seq", "log-probabilities-fed-back",
            "Your decoder reads its own log-probabilities. It must read a character: the arg-max, as a one-hot row.",
            replace=(STEP,
                     "output, hidden = self.decoder("
                     "outputs[-1] if outputs else F.one_hot(written, V).float(), hidden, henc_ts)")),
    Fault("seq2seq", "reads-the-answer-if-given",
            "Without `teacher_enforce`, your decoder reads `decoder_input`. It should read what it wrote, whatever "
            "is given.",
            replace=("if teacher_enforce and not inference:", "if decoder_input is not None and not inference:")),
    Fault("seq2seq", "no-stop-at-eos",
            "In inference your decoder goes on after `EOS`. That is where the answer ends.",
            replace=(STOP, "pass")),
    Fault("seq2seq", "weights-of-the-free-run-only",
            "With teacher forcing, `attention_weights` of the model are not set. Copy them from the decoder, too.",
            replace=("self.attention_weights = self.decoder.attention_weights", "pass")),
    Fault("seq2seq", "weights-of-teacher-forcing-only",
            "After free running, `attention_weights` of the model are still those of the call before. "
            "Collect the weights of each step, and join them.",
            replace=(JOINED_WEIGHTS, "pass")),
    Fault("seq2seq", "last-encoder-state-when-free",
            "In free running your decoder gets the encoder's last state in the place of `henc_ts`. "
            "With a single state, its weight is always 1: pass all of them.",
            replace=(STEP, STEP.replace("henc_ts", "henc_ts[-1:]"))),
    Fault("seq2seq", "one-timestep-short",
            "Running freely, the last timestep is missing in your output. There should be "
            "`self.max_decoder_sequence_length`.",
            replace=("range(self.max_decoder_sequence_length)", "range(self.max_decoder_sequence_length - 1)")),
    # ---------------------------------------------------------------- concatenated

    Fault("concat", "no-tanh",
            "There is no tanh between your two layers. Two linear layers in a row are equivalent to one.",
            replace=(HIDDEN, "hidden = self.dense_tanh(both)")),
    Fault("concat", "probabilities-instead-of-logs",
            "Your output holds probabilities. The loss expects their logarithms.",
            replace=(FINAL, "return F.softmax(self.dense_final(hidden), dim=-1)")),
    Fault("concat", "characters-over-time",
            "Your log-softmax runs over time (without `dim`, torch takes the first of three axes). "
            "It must run over the characters.",
            replace=(FINAL, "return F.log_softmax(self.dense_final(hidden))")),
    Fault("concat", "context-detached",
            "The context is detached: no gradient comes back through the attention.",
            replace=(BOTH, "both = torch.cat([hdec_ts, context_vectors.detach()], dim=-1)")),
    Fault("concat", "tanh-before-the-first-layer",
            "The tanh is taken of state and context, before `dense_tanh`. It stands between the two layers; without it "
            "there, they are equivalent to one.",
            replace=[(BOTH, "both = torch.tanh(torch.cat([hdec_ts, context_vectors], dim=-1))"),
                     (HIDDEN, "hidden = self.dense_tanh(both)")]),
    Fault("concat", "context-first",
            "The context stands before the state, so each meets the weights of the other. The state comes first.",
            replace=(BOTH, "both = torch.cat([context_vectors, hdec_ts], dim=-1)")),
    Fault("concat", "scores-without-log-softmax",
            "Your output holds the scores of `dense_final`. A log-softmax over the characters is missing.",
            replace=(FINAL, "return self.dense_final(hidden)")),
    Fault("concat", "hidden-size-units",
            "`dense_tanh` has H units. It has 64, whatever H is.",
            replace=[("nn.Linear(2 * hidden_size, 64)", "nn.Linear(2 * hidden_size, hidden_size)"),
                     ("nn.Linear(64, output_size)", "nn.Linear(hidden_size, output_size)")]),
]

FAULTS = [*SCORES, *WEIGHTS, *CONTEXT, *STEPS, *BATCHED, *MASKED, *PLAIN, *LEARNED, *NET, *BAG, *DECODER,
          *IN_THE_DECODER]
