"""Wrong versions of TP 4 that learners write, and right ones that look different."""

from autograder.model.faults import Fault, Variant


def method(head, body):
    """A cell: `head`, then `body`, written at the margin, as the body of its last method."""
    return head + "".join(f"        {line}\n" if line else "\n" for line in body.strip("\n").split("\n"))


# ---------------------------------------------------------------- loops

LOOP_SCORES = "scores = torch.stack([hdec_ts[t, b] @ henc_ts[s, b] for s in range(S)])"
LOOP_SOFTMAX = "weights = F.softmax(scores, dim=0)"
LOOP_CONTEXT = "context_vectors[t, b] = sum(weights[s] * henc_ts[s, b] for s in range(S))"
RESULTS = "return context_vectors, attention_weights"

# ---------------------------------------------------------------- batched, and the same lines in the decoder

SCORES = 'scores = torch.einsum("tbh,sbh->tbs", hdec_ts, henc_ts)'
SOFTMAX = "attention_weights = F.softmax(scores, dim=-1)"
CONTEXT = 'context_vectors = torch.einsum("tbs,sbh->tbh", attention_weights, henc_ts)'

# ---------------------------------------------------------------- decoder

GRU = "hdec_ts, hdec_final = self.gru(decoder_input, hdec_init)"
KEPT = "self.attention_weights = F.softmax(scores, dim=-1)"
DECODER_CONTEXT = 'context_vectors = torch.einsum("tbs,sbh->tbh", self.attention_weights, henc_ts)'
OUTPUT = "output = F.log_softmax(self.linear(context_vectors), dim=-1)"
LOCAL_CONTEXT = 'context_vectors = torch.einsum("tbs,sbh->tbh", attention_weights, henc_ts)'


def decoder(body):
    return method('''class DecoderRNN(nn.Module):
    def __init__(self, hidden_size, output_size, device, attention=False):
        super().__init__()
        self.hidden_size = hidden_size
        self.output_size = output_size
        self.device = device
        self.attention = attention
        self.attention_weights = None
        self.gru = nn.GRU(output_size, hidden_size).to(device)
        self.linear = nn.Linear(hidden_size, output_size).to(device)

    def forward(self, decoder_input, hdec_init, henc_ts=None):
''', body)


# ---------------------------------------------------------------- seq2seq

ENCODED = "henc_ts, henc_final = self.encoder(encoder_input)"
FORCED = "output, _ = self.decoder(decoder_input, henc_final, henc_ts)"
STEP = """output, hidden = self.decoder(
                F.one_hot(written, V).float(), hidden, henc_ts)"""
FORCED_WEIGHTS = "self.attention_weights = self.decoder.attention_weights"
JOINED_WEIGHTS = "self.attention_weights = torch.cat(weights)"
STOP = """if inference and written.item() == self.decoder_char_index[self.EOS]:
                break"""


def seq2seq(body):
    return method('''class Seq2seq(Calculator):
    def forward(self, encoder_input, decoder_input=None, teacher_enforce=True, inference=False):
''', body)


# ---------------------------------------------------------------- concatenated

BOTH = "both = torch.cat([hdec_ts, context_vectors], dim=-1)"
HIDDEN = "hidden = torch.tanh(self.dense_tanh(both))"
FINAL = "return F.log_softmax(self.dense_final(hidden), dim=-1)"


def concat(body, layers="""
        self.dense_tanh = nn.Linear(2 * hidden_size, 64)
        self.dense_final = nn.Linear(64, output_size)
"""):
    return method(f'''class ConcatDecoderRNN(nn.Module):
    def __init__(self, hidden_size, output_size, device, attention=True):
        super().__init__()
        self.hidden_size = hidden_size
        self.output_size = output_size
        self.gru = nn.GRU(output_size, hidden_size)
{layers}
        self.to(device)

    def forward(self, decoder_input, hdec_init, henc_ts):
        hdec_ts, hdec_final = self.gru(decoder_input, hdec_init)
        context_vectors, self.attention_weights = attention_batched(hdec_ts, henc_ts)
        return self.predict(hdec_ts, context_vectors), hdec_final

    def predict(self, hdec_ts, context_vectors):
''', body)


# ---------------------------------------------------------------- exact match by group

COLLECTED = "right.setdefault(group_of(question), []).append(answer == wanted)"
SHARES = "return {group: sum(values) / len(values) for group, values in right.items()}"

FAULTS = [
    # ---------------------------------------------------------------- loops

    Fault("loops", "log-softmax-as-attention-weights",
            "log_softmax as attention weights: these are the *logarithms* of the shares, all negative, "
            "so your context subtracts the encoder vectors. The weights are the softmax itself.",
            swap=(LOOP_SOFTMAX, "weights = F.log_softmax(scores, dim=0)")),
    Fault("loops", "raw-scores",
            "Your context is made from the raw scores. A softmax must turn them into weights first: "
            "shares between 0 and 1 that sum to 1.",
            swap=(LOOP_SOFTMAX, "weights = scores")),
    Fault("loops", "divided-by-the-sum",
            "You divide the scores by their sum. Scores can be negative, and their sum can be close to zero: "
            "then these are not shares. The softmax takes the exponential first.",
            swap=(LOOP_SOFTMAX, "weights = scores / scores.sum()")),
    Fault("loops", "only-the-best",
            "Your weight is 1 for the largest score and 0 for all others. "
            "That is a choice and not a softmax, and no gradient can pass through it.",
            swap=(LOOP_SOFTMAX, "weights = F.one_hot(scores.argmax(), S).float()")),
    Fault("loops", "scaled",
            "You divide the scores by the square root of H. That is scaled attention, a good idea from another paper; "
            "here the plain dot product is asked for.",
            swap=(LOOP_SOFTMAX, "weights = F.softmax(scores / H ** 0.5, dim=0)")),
    Fault("loops", "first-sequence-answers",
            "All sequences of the batch are compared with the encoder states of the *first* one. "
            "Inside the loop over b, both vectors belong to sequence b.",
            swap=(LOOP_SCORES, "scores = torch.stack([hdec_ts[t, b] @ henc_ts[s, 0] for s in range(S)])")),
    Fault("loops", "last-timestep-asks",
            "Your scores are the same at all timesteps: it is always the decoder's last state that asks. "
            "Each timestep asks for itself.",
            swap=(LOOP_SCORES, "scores = torch.stack([hdec_ts[-1, b] @ henc_ts[s, b] for s in range(S)])")),
    Fault("loops", "context-overwritten",
            "Your context is the last encoder vector times its weight: "
            "each turn of the loop overwrites the one before. The weighted vectors must be added up.",
            swap=(LOOP_CONTEXT,
                  "for s in range(S):\n                context_vectors[t, b] = weights[s] * henc_ts[s, b]")),
    Fault("loops", "divided-by-length",
            "You divide the weighted sum by the number of encoder timesteps. The weights sum to 1 already: "
            "the weighted sum *is* a mean.",
            swap=(LOOP_CONTEXT, "context_vectors[t, b] = sum(weights[s] * henc_ts[s, b] for s in range(S)) / S")),
    Fault("loops", "context-of-the-decoder",
            "You weigh the decoder's own vector. The context is made of what the *encoder* knows: "
            "each encoder vector times its weight.",
            swap=(LOOP_CONTEXT, "context_vectors[t, b] = sum(weights[s] * hdec_ts[t, b] for s in range(S))")),
    Fault("loops", "results-exchanged",
            "You return the weights first. The context vectors come first, then the weights.",
            swap=(RESULTS, "return attention_weights, context_vectors")),
    Fault("loops", "numbers-instead-of-tensors",
            "Your values are right, but the scores went through plain numbers (`.item()`), "
            "and no gradient comes back to the decoder's states: nothing could be learnt. Keep tensors all the way.",
            swap=(LOOP_SCORES, "scores = torch.tensor([(hdec_ts[t, b] @ henc_ts[s, b]).item() for s in range(S)])")),

    # ---------------------------------------------------------------- batched

    Fault("batched", "log-softmax-as-attention-weights",
            "log_softmax as attention weights: these are the *logarithms* of the shares, all negative, "
            "so your context subtracts the encoder vectors. The weights are the softmax itself.",
            swap=(SOFTMAX, "attention_weights = F.log_softmax(scores, dim=-1)")),
    Fault("batched", "log-softmax-without-dim",
            "log_softmax as attention weights: these are logarithms of shares, and shares over the decoder's time "
            "(without `dim`, torch takes the first of three axes). "
            "The weights are the softmax itself, over the encoder's timesteps.",
            swap=(SOFTMAX, "attention_weights = F.log_softmax(scores)")),
    Fault("batched", "softmax-over-decoder-time",
            "Your softmax runs over the first axis, the decoder's time (without `dim`, torch takes the first of three "
            "axes). For each decoder timestep, the weights of the *encoder's* timesteps must sum to 1.",
            swap=(SOFTMAX, "attention_weights = F.softmax(scores)")),
    Fault("batched", "softmax-over-the-batch",
            "Your softmax runs over the batch: the sequences share the weights among themselves. "
            "It must run over the encoder's timesteps.",
            swap=(SOFTMAX, "attention_weights = F.softmax(scores, dim=1)")),
    Fault("batched", "softmax-over-one",
            "All your weights are 1: the softmax runs over an axis of size one. "
            "It must run over the S encoder timesteps.",
            swap=(SOFTMAX, "attention_weights = F.softmax(scores[..., None], dim=-1)[..., 0]")),
    Fault("batched", "raw-scores",
            "Your context is made from the raw scores. A softmax must turn them into weights first: "
            "shares between 0 and 1 that sum to 1.",
            swap=(SOFTMAX, "attention_weights = scores")),
    Fault("batched", "scaled",
            "You divide the scores by the square root of H. That is scaled attention, a good idea from another paper; "
            "here the plain dot product is asked for. (torch's own attention does it unless it is told not to.)",
            swap=(SCORES, 'scores = torch.einsum("tbh,sbh->tbs", hdec_ts, henc_ts) / hdec_ts.shape[-1] ** 0.5')),
    Fault("batched", "view-instead-of-transpose",
            "You bring the batch to the front with `view` or `reshape`. These do not move axes: they cut the same "
            "numbers in another way, and vectors of different sequences and timesteps get mixed. Transpose.",
            swap=(SCORES,
                  'T, B, H = hdec_ts.shape\n'
                  '    scores = torch.bmm('
                  'hdec_ts.reshape(B, T, H), henc_ts.reshape(B, -1, H).transpose(1, 2)).transpose(0, 1)')),
    Fault("batched", "context-mixes-the-batch",
            "Your context adds up the encoder vectors of *all* sequences of the batch. Each sequence gets its own. "
            "(An `einsum` sums over every letter that is missing in its result.)",
            swap=(CONTEXT, 'context_vectors = torch.einsum("tbs,sch->tbh", attention_weights, henc_ts)')),
    Fault("batched", "attends-to-itself",
            "Your decoder compares its states with its own states. It must ask the *encoder's*: "
            "`henc_ts` in both products.",
            swap=[(SCORES, 'scores = torch.einsum("tbh,sbh->tbs", hdec_ts, hdec_ts)'),
                  (CONTEXT, 'context_vectors = torch.einsum("tbs,sbh->tbh", attention_weights, hdec_ts)')]),
    Fault("batched", "batch-first",
            "Your results have the batch in front. Ours are time first: `(T, B, H)` and `(T, B, S)`.",
            swap=(RESULTS, "return context_vectors.transpose(0, 1), attention_weights.transpose(0, 1)")),
    Fault("batched", "results-exchanged",
            "You return the weights first. The context vectors come first, then the weights.",
            swap=(RESULTS, "return attention_weights, context_vectors")),
    Fault("batched", "looped",
            "You go from sequence to sequence, or from timestep to timestep, and each waits for the one before. "
            "One product takes all of them at once.",
            source='''def attention_batched(hdec_ts, henc_ts):
    weights = [torch.softmax(hdec_ts[:, b] @ henc_ts[:, b].T, dim=-1) for b in range(hdec_ts.shape[1])]
    contexts = [w @ henc_ts[:, b] for b, w in enumerate(weights)]
    return torch.stack(contexts, dim=1), torch.stack(weights, dim=1)
'''),
    Fault("batched", "squeezed",
            "A `squeeze` without an axis removes *every* axis of size one, "
            "and for a single timestep or a single sequence that is one too many.",
            swap=(RESULTS, "return context_vectors.squeeze(), attention_weights.squeeze()")),
    Fault("batched", "weights-detached",
            "You detach the weights before the weighted sum. The values are right, but no gradient reaches the scores: "
            "the decoder would never learn where to look.",
            swap=(CONTEXT, 'context_vectors = torch.einsum("tbs,sbh->tbh", attention_weights.detach(), henc_ts)')),

    # ---------------------------------------------------------------- the detector

    Fault("axes", "exactly-one",
            "You ask whether the sums are *exactly* 1. Sums of floating-point numbers hardly ever are: "
            "allow a small distance.",
            swap=("((x.sum(axis) - 1).abs() < 1e-4).all()", "(x.sum(axis) == 1).all()")),
    Fault("axes", "any-instead-of-all",
            "One good sum is enough for you. All sums along the axis must be 1: "
            "a single one that is not rules the axis out.",
            swap=(".all()", ".any()")),
    Fault("axes", "one-on-average",
            "You look at the mean of the sums. One sum of 1.2 and one of 0.8 are 1 on average, and neither is 1.",
            swap=("((x.sum(axis) - 1).abs() < 1e-4).all()", "(x.sum(axis).mean() - 1).abs() < 1e-4")),
    Fault("axes", "distance-without-abs",
            "You compare the difference, and not the distance: every sum below 1 passes, negative ones too. "
            "Take the absolute value.",
            swap=("(x.sum(axis) - 1).abs() < 1e-4", "x.sum(axis) - 1 < 1e-4")),
    Fault("axes", "mean-instead-of-sum",
            "You take the mean along the axis. Shares *sum* to 1.",
            swap=("x.sum(axis)", "x.mean(axis)")),
    Fault("axes", "last-axis-only",
            "You try the last axis only. Try all of them.",
            swap=("range(x.dim())", "[x.dim() - 1]")),
    Fault("axes", "counted-from-one",
            "Your axes are counted from 1. torch counts from 0.",
            swap=("[axis for axis", "[axis + 1 for axis")),
    Fault("axes", "first-axis-found",
            "You stop at the first axis that fits, and hand back a number. Hand back the list of all axes that fit: "
            "there can be none, one or more.",
            source='''def axes_that_sum_to_one(x):
    for axis in range(x.dim()):
        if ((x.sum(axis) - 1).abs() < 1e-4).all():
            return axis
'''),

    # ---------------------------------------------------------------- decoder

    Fault("decoder", "log-softmax-as-attention-weights",
            "log_softmax as attention weights: these are the *logarithms* of the shares, all negative, so your context "
            "subtracts the encoder vectors. The weights are the softmax itself; "
            "the log-softmax belongs to the output only.",
            swap=(KEPT, "self.attention_weights = F.log_softmax(scores, dim=-1)")),
    Fault("decoder", "log-softmax-kept",
            "log_softmax as attention weights: your output is right, but what you keep in `self.attention_weights` are "
            "the logarithms of the shares. Keep the shares themselves, the ones that made the context.",
            swap=[(KEPT,
                   "attention_weights = F.softmax(scores, dim=-1)\n"
                   "        self.attention_weights = F.log_softmax(scores, dim=-1)"),
                  (DECODER_CONTEXT, LOCAL_CONTEXT)]),
    Fault("decoder", "log-softmax-without-dim",
            "log_softmax as attention weights: these are logarithms of shares, and shares over the decoder's time "
            "(without `dim`, torch takes the first of three axes). "
            "The weights are the softmax itself, over the encoder's timesteps.",
            swap=(KEPT, "self.attention_weights = F.log_softmax(scores)")),
    Fault("decoder", "softmax-over-decoder-time",
            "The softmax of your weights runs over the first axis, the decoder's time (without `dim`, torch takes the "
            "first of three axes). For each decoder timestep, the weights of the *encoder's* timesteps must sum to 1.",
            swap=(KEPT, "self.attention_weights = F.softmax(scores)")),
    Fault("decoder", "softmax-over-the-batch",
            "The softmax of your weights runs over the batch: the sequences share the weights among themselves. "
            "It must run over the encoder's timesteps.",
            swap=(KEPT, "self.attention_weights = F.softmax(scores, dim=1)")),
    Fault("decoder", "raw-scores",
            "Your context is made from the raw scores. A softmax must turn them into weights first: "
            "shares between 0 and 1 that sum to 1.",
            swap=(KEPT, "self.attention_weights = scores")),
    Fault("decoder", "scaled",
            "You divide the scores by the square root of H. That is scaled attention, a good idea from another paper; "
            "here the plain dot product is asked for.",
            swap=(KEPT, "self.attention_weights = F.softmax(scores / self.hidden_size ** 0.5, dim=-1)")),
    Fault("decoder", "view-instead-of-transpose",
            "You bring the batch to the front with `view` or `reshape`. These do not move axes: they cut the same "
            "numbers in another way, and vectors of different sequences and timesteps get mixed. Transpose.",
            swap=(SCORES,
                  'T, B, H = hdec_ts.shape\n'
                  '        scores = torch.bmm('
                  'hdec_ts.reshape(B, T, H), henc_ts.reshape(B, -1, H).transpose(1, 2)).transpose(0, 1)')),
    Fault("decoder", "initial-state-asks",
            "The state that asks is always `hdec_init`, so all timesteps look at the same places. "
            "The states *after* the GRU ask, each for its own timestep.",
            swap=(SCORES, 'scores = torch.einsum("tbh,sbh->tbs", hdec_init.expand(len(hdec_ts), -1, -1), henc_ts)')),
    Fault("decoder", "state-before-the-step-asks",
            "Each timestep asks with the state from *before* it has read its character. "
            "Here the similarity is computed after the GRU.",
            swap=(SCORES, 'scores = torch.einsum("tbh,sbh->tbs", torch.cat([hdec_init, hdec_ts[:-1]]), henc_ts)')),
    Fault("decoder", "attends-to-itself",
            "Your decoder compares its states with its own states. It must ask the *encoder's*: "
            "`henc_ts` in both products.",
            swap=[(SCORES, 'scores = torch.einsum("tbh,sbh->tbs", hdec_ts, hdec_ts)'),
                  (DECODER_CONTEXT,
                   'context_vectors = torch.einsum("tbs,sbh->tbh", self.attention_weights, hdec_ts)')]),
    Fault("decoder", "context-not-used",
            "You compute the context vectors, and then the linear layer gets the decoder's states all the same. "
            "The context alone predicts the character.",
            swap=(OUTPUT, "output = F.log_softmax(self.linear(hdec_ts), dim=-1)")),
    Fault("decoder", "state-added",
            "You add the decoder's state to the context. That is a good design, and it comes later in this session; "
            "here the context alone predicts the character.",
            swap=(OUTPUT, "output = F.log_softmax(self.linear(context_vectors + hdec_ts), dim=-1)")),
    Fault("decoder", "characters-over-time",
            "The log-softmax of your output runs over time (without `dim`, torch takes the first of three axes). "
            "It must run over the characters, the last axis.",
            swap=(OUTPUT, "output = F.log_softmax(self.linear(context_vectors))")),
    Fault("decoder", "characters-over-the-batch",
            "The log-softmax of your output runs over the batch: the sequences share a probability among themselves. "
            "It must run over the characters, the last axis.",
            swap=(OUTPUT, "output = F.log_softmax(self.linear(context_vectors), dim=1)")),
    Fault("decoder", "probabilities-instead-of-logs",
            "Your output holds probabilities. The loss wants their logarithms: "
            "log-softmax at the output, softmax for the weights. You may have exchanged the two.",
            swap=(OUTPUT, "output = F.softmax(self.linear(context_vectors), dim=-1)")),
    Fault("decoder", "two-softmaxes-exchanged",
            "log_softmax as attention weights, and a softmax at the output: the two are exchanged. "
            "Shares for the weights, log-probabilities for the output.",
            both=("log-softmax-as-attention-weights", "probabilities-instead-of-logs")),
    Fault("decoder", "log-softmax-as-attention-weights-and-output-over-time",
            "Two things at once. log_softmax as attention weights: the weights are the softmax itself. "
            "And the log-softmax of the output runs over time (torch's choice without `dim`), "
            "and not over the characters.",
            both=("log-softmax-as-attention-weights", "characters-over-time")),
    Fault("decoder", "no-dim-twice",
            "Both of your softmaxes run over time (without `dim`, torch takes the first of three axes). "
            "The weights belong to the encoder's timesteps, the output to the characters.",
            both=("softmax-over-decoder-time", "characters-over-time")),
    Fault("decoder", "no-log-softmax",
            "Your output holds the plain numbers of the linear layer. "
            "A log-softmax over the characters makes log-probabilities of them.",
            swap=(OUTPUT, "output = self.linear(context_vectors)")),
    Fault("decoder", "context-handed-on-as-state",
            "You hand back the last context in the place of the hidden state. "
            "The next step must go on from the state of the GRU, `hdec_final`.",
            swap=(OUTPUT, OUTPUT + "\n        hdec_final = context_vectors[-1:]")),
    Fault("decoder", "state-not-used",
            "Your GRU starts from zeros: `hdec_init` is not passed on to it. "
            "That state is what the encoder has understood of the question; start from it.",
            swap=(GRU, "hdec_ts, hdec_final = self.gru(decoder_input)")),
    Fault("decoder", "weights-not-kept",
            "Your output may well be right, but `self.attention_weights` is still None: "
            "the weights are computed and then forgotten. Keep them as an attribute, for the heatmaps.",
            swap=[(KEPT, "attention_weights = F.softmax(scores, dim=-1)"), (DECODER_CONTEXT, LOCAL_CONTEXT)]),
    Fault("decoder", "last-weights-only",
            "`self.attention_weights` holds the last timestep only: a loop overwrites it at each turn. "
            "Collect the weights of all T timesteps.",
            swap=(OUTPUT, OUTPUT + "\n        self.attention_weights = self.attention_weights[-1:]")),
    Fault("decoder", "weights-batch-first",
            "The weights you keep have the batch in front, as `bmm` left them. Ours are time first: `(T, B, S)`.",
            swap=(OUTPUT, OUTPUT + "\n        self.attention_weights = self.attention_weights.transpose(0, 1)")),
    Fault("decoder", "three-results",
            "You return the weights as a third result. `forward` returns two, `output` and `hdec_final`; "
            "the weights stay in `self.attention_weights`.",
            swap=("output = F.log_softmax(self.linear(context_vectors), dim=-1)\n        return output, hdec_final",
                  OUTPUT + "\n        return output, hdec_final, self.attention_weights")),
    Fault("decoder", "attention-always",
            "Your decoder attends even when `self.attention` is false. "
            "Then there is no `henc_ts`, and it must work as in TP 3.",
            swap=("if not self.attention:", "if False:")),
    Fault("decoder", "attention-never",
            "Your decoder does not attend when `self.attention` is true: the attribute is not looked at, or the wrong "
            "way round. With attention, the context predicts the character, and not the state.",
            swap=("if not self.attention:", "if True:")),
    Fault("decoder", "encoder-detached",
            "You detach the encoder's states. The values are right, but no gradient comes back through the attention: "
            "the encoder cannot learn what to offer.",
            swap=(GRU, GRU + "\n        henc_ts = henc_ts.detach() if self.attention else None")),

    # ---------------------------------------------------------------- seq2seq

    Fault("seq2seq", "no-encoder-states-when-free",
            "In free running your decoder gets no `henc_ts`. It must be handed over at every call: "
            "a decoder with attention asks again at each timestep.",
            swap=(STEP, "output, hidden = self.decoder(F.one_hot(written, V).float(), hidden)")),
    Fault("seq2seq", "no-encoder-states-when-forced",
            "With teacher forcing your decoder gets no `henc_ts`. It is its third argument.",
            swap=(FORCED, "output, _ = self.decoder(decoder_input, henc_final)")),
    Fault("seq2seq", "no-encoder-states",
            "Your decoder never gets `henc_ts`. This is the forward pass of a model without attention: "
            "hand all of the encoder's states over, at every call.",
            both=("no-encoder-states-when-free", "no-encoder-states-when-forced")),
    Fault("seq2seq", "only-the-last-encoder-state",
            "Your decoder gets the encoder's last state in the place of `henc_ts`. "
            "With a single state to look at, attention has nothing to choose: hand over all of them.",
            swap=(ENCODED, ENCODED + "\n        henc_ts = henc_final")),
    Fault("seq2seq", "one-encoder-state-a-step",
            "At step t your decoder gets the encoder's state t only. "
            "It must see all of them at every step; choosing is the attention's business.",
            swap=(STEP,
                  "output, hidden = self.decoder("
                  "F.one_hot(written, V).float(), hidden, henc_ts[min(len(outputs), len(henc_ts) - 1)][None])")),
    Fault("seq2seq", "encoder-states-backwards",
            "You turn the encoder's states around. The weights would then belong to other characters: "
            "the heatmap is mirrored. Leave `henc_ts` in its order.",
            swap=(ENCODED, ENCODED + "\n        henc_ts = henc_ts.flip(0)")),
    Fault("seq2seq", "encoder-run-again",
            "In free running you run the encoder again at each step, from its own last state. "
            "It reads the question once, before the loop; the same `henc_ts` serves all steps.",
            swap=(STEP, "henc_ts, _ = self.encoder(encoder_input, henc_final)\n            " + STEP)),
    Fault("seq2seq", "weights-not-kept",
            "`attention_weights` of the model stays None: "
            "each call of the decoder leaves its weights in `self.decoder.attention_weights`, and nobody fetches them.",
            swap=[(FORCED_WEIGHTS, "pass"), (JOINED_WEIGHTS, "pass")]),
    Fault("seq2seq", "last-weights-only",
            "After free running, `attention_weights` holds the last timestep only: "
            "`self.decoder.attention_weights` is new at each call. Collect them step by step, then join them.",
            swap=(JOINED_WEIGHTS, "self.attention_weights = self.decoder.attention_weights")),
    Fault("seq2seq", "weights-stacked",
            "You stack the weights of the steps, and each of them has a time axis of size one already: "
            "the result has one axis too many. Join them along that axis.",
            swap=(JOINED_WEIGHTS, "self.attention_weights = torch.stack(weights)")),
    Fault("seq2seq", "weights-joined-along-the-batch",
            "You join the weights of the steps along the batch. They follow each other in time: the first axis.",
            swap=(JOINED_WEIGHTS, "self.attention_weights = torch.cat(weights, dim=1)")),
    Fault("seq2seq", "state-not-carried",
            "In free running your decoder starts every step from the encoder's last state. "
            "It must go on from the state that the step before handed back.",
            swap=(STEP, "output, _ = self.decoder(F.one_hot(written, V).float(), hidden, henc_ts)")),
    Fault("seq2seq", "always-go",
            "In free running your decoder reads `GO` at every step. It must read what it wrote at the step before.",
            swap=("written = output.argmax(-1)\n", "written = written + 0 if not inference else output.argmax(-1)\n")),
    Fault("seq2seq", "log-probabilities-fed-back",
            "Your decoder reads its own log-probabilities. It must read a character: the arg-max, as a one-hot row.",
            swap=(STEP,
                  "output, hidden = self.decoder("
                  "outputs[-1] if outputs else F.one_hot(written, V).float(), hidden, henc_ts)")),
    Fault("seq2seq", "no-stop-at-eos",
            "In inference your decoder goes on after `EOS`. That is where the answer ends.",
            swap=(STOP, "pass")),
    Fault("seq2seq", "attention-taken-for-granted",
            "Without attention your model stops with an error: there are no weights to join then. "
            "Keep them only when `self.attention` is true.",
            swap=("if self.attention:", "if True:")),

    # ---------------------------------------------------------------- concatenated

    Fault("concat", "context-first",
            "The context stands first in your concatenation. The state must come first: "
            "each weight of the layer belongs to one place.",
            swap=(BOTH, "both = torch.cat([context_vectors, hdec_ts], dim=-1)")),
    Fault("concat", "no-tanh",
            "There is no tanh between your two layers. Two linear layers in a row can do no more than one.",
            swap=(HIDDEN, "hidden = self.dense_tanh(both)")),
    Fault("concat", "relu",
            "You use a ReLU where a tanh is asked for.",
            swap=(HIDDEN, "hidden = torch.relu(self.dense_tanh(both))")),
    Fault("concat", "tanh-at-the-end",
            "Your tanh comes after the last layer. It belongs between the two: "
            "the numbers that enter the log-softmax may be of any size.",
            swap=[(HIDDEN, "hidden = self.dense_tanh(both)"),
                  (FINAL, "return F.log_softmax(torch.tanh(self.dense_final(hidden)), dim=-1)")]),
    Fault("concat", "state-twice",
            "You concatenate the state with itself, and the context is never used.",
            swap=(BOTH, "both = torch.cat([hdec_ts, hdec_ts], dim=-1)")),
    Fault("concat", "context-twice",
            "You concatenate the context with itself, and the state is never used.",
            swap=(BOTH, "both = torch.cat([context_vectors, context_vectors], dim=-1)")),
    Fault("concat", "joined-along-time",
            "You join state and context along time: twice as many timesteps of H numbers, "
            "where `dense_tanh` wants the same timesteps of 2H numbers.",
            swap=(BOTH, "both = torch.cat([hdec_ts, context_vectors])")),
    Fault("concat", "added-instead-of-joined",
            "You add state and context, and write the sum twice. Concatenate: side by side, 2H numbers.",
            swap=(BOTH, "both = (hdec_ts + context_vectors).repeat(1, 1, 2)")),
    Fault("concat", "interleaved",
            "The numbers of state and context alternate in your result. Concatenated means: "
            "all H numbers of the state, then all H of the context.",
            swap=(BOTH, "both = torch.stack([hdec_ts, context_vectors], dim=-1).flatten(-2)")),
    Fault("concat", "probabilities-instead-of-logs",
            "Your output holds probabilities. The loss wants their logarithms.",
            swap=(FINAL, "return F.softmax(self.dense_final(hidden), dim=-1)")),
    Fault("concat", "characters-over-time",
            "Your log-softmax runs over time (without `dim`, torch takes the first of three axes). "
            "It must run over the characters.",
            swap=(FINAL, "return F.log_softmax(self.dense_final(hidden))")),
    Fault("concat", "hidden-size-instead-of-64",
            "Your first layer has H units. It must have 64, whatever H is.",
            swap=[("nn.Linear(2 * hidden_size, 64)", "nn.Linear(2 * hidden_size, hidden_size)"),
                  ("nn.Linear(64, output_size)", "nn.Linear(hidden_size, output_size)")]),
    Fault("concat", "context-detached",
            "You detach the context. The values are right, but no gradient comes back through the attention.",
            swap=(BOTH, "both = torch.cat([hdec_ts, context_vectors.detach()], dim=-1)")),

    # ---------------------------------------------------------------- exact match by group

    Fault("groups", "share-of-all",
            "You divide by the number of all questions. Divide by the number of questions *in the group*: "
            "a small group can be perfect.",
            swap=(SHARES, "return {group: sum(values) / len(questions) for group, values in right.items()}")),
    Fault("groups", "share-of-the-right-ones",
            "Your shares sum to 1: you say how the right answers are spread over the groups. "
            "Say, for each group, which share of its own questions is answered right.",
            swap=(SHARES,
                  "total = sum(map(sum, right.values()))\n"
                  "    return {group: sum(values) / total for group, values in right.items()}")),
    Fault("groups", "counts",
            "You return how many answers are right. Return their share in the group, a number between 0 and 1.",
            swap=(SHARES, "return {group: sum(values) for group, values in right.items()}")),
    Fault("groups", "errors",
            "You return the share of wrong answers. The share of right ones is asked for.",
            swap=(COLLECTED, "right.setdefault(group_of(question), []).append(answer != wanted)")),
    Fault("groups", "grouped-by-answer",
            "You make the group from the true answer. It is made from the question.",
            swap=(COLLECTED, "right.setdefault(group_of(wanted), []).append(answer == wanted)")),
    Fault("groups", "prefix-passes",
            "An answer passes when it is only the *beginning* of the true one, or goes on after it. "
            "Exact match means equal.",
            swap=(COLLECTED,
                  "right.setdefault(group_of(question), []).append("
                  "answer.startswith(wanted) or wanted.startswith(answer))")),
    Fault("groups", "longer-passes",
            "An answer passes when the true one is contained in it: `1025` for `102`. Exact match means equal.",
            swap=(COLLECTED, "right.setdefault(group_of(question), []).append(wanted in answer)")),
    Fault("groups", "characters-counted",
            "You count right characters. An answer with one wrong digit is wrong.",
            swap=(COLLECTED,
                  "right.setdefault(group_of(question), []).append("
                  "sum(map(str.__eq__, answer, wanted)) / len(wanted))")),
    Fault("groups", "only-the-last",
            "Each question overwrites the ones before it in its group: the share is always 0 or 1. Collect them.",
            swap=(COLLECTED, "right[group_of(question)] = [answer == wanted]")),
    Fault("groups", "groups-without-a-right-answer-lost",
            "A group in which nothing is right is missing from your dict. It belongs there, with the share 0: "
            "these are the groups that one wants to find.",
            swap=(SHARES,
                  "return {group: sum(values) / len(values) for group, values in right.items() if any(values)}")),
    Fault("groups", "percent",
            "You return percentages. Return numbers between 0 and 1.",
            swap=(SHARES, "return {group: 100 * sum(values) / len(values) for group, values in right.items()}")),
]

VARIANTS = [
    Variant("loops", "four loops", source='''def attention_loops(hdec_ts, henc_ts):
    T, B, H = hdec_ts.shape
    S = henc_ts.shape[0]
    contexts, weights = [], []
    for t in range(T):
        contexts_of_t, weights_of_t = [], []
        for b in range(B):
            scores = []
            for s in range(S):
                score = 0.0
                for h in range(H):
                    score = score + hdec_ts[t, b, h] * henc_ts[s, b, h]
                scores.append(score)
            alpha = torch.softmax(torch.stack(scores), dim=0)
            context = torch.zeros(H, device=hdec_ts.device)
            for s in range(S):
                context = context + alpha[s] * henc_ts[s, b]
            contexts_of_t.append(context)
            weights_of_t.append(alpha)
        contexts.append(torch.stack(contexts_of_t))
        weights.append(torch.stack(weights_of_t))
    return torch.stack(contexts), torch.stack(weights)
'''),
    Variant("loops", "by the formula of the softmax",
            swap=(LOOP_SOFTMAX,
                  "weights = torch.exp(scores - scores.max())\n            weights = weights / weights.sum()")),
    Variant("loops", "a matrix product inside",
            swap=[(LOOP_SCORES, "scores = henc_ts[:, b] @ hdec_ts[t, b]"),
                  (LOOP_CONTEXT, "context_vectors[t, b] = weights @ henc_ts[:, b]")]),
    Variant("loops", "added up in place",
            swap=(LOOP_CONTEXT,
                  "for s in range(S):\n                context_vectors[t, b] += weights[s] * henc_ts[s, b]")),
    Variant("loops", "no loop at all", source='''def attention_loops(hdec_ts, henc_ts):
    weights = (hdec_ts[:, :, None] * henc_ts.transpose(0, 1)[None]).sum(-1).softmax(2)
    return (weights[..., None] * henc_ts.transpose(0, 1)[None]).sum(2), weights
'''),
    Variant("loops", "exponential of the log-softmax", swap=(LOOP_SOFTMAX, "weights = F.log_softmax(scores, 0).exp()")),

    Variant("batched", "bmm", source='''def attention_batched(hdec_ts, henc_ts):
    queries, keys = hdec_ts.transpose(0, 1), henc_ts.transpose(0, 1)
    weights = torch.softmax(torch.bmm(queries, keys.transpose(1, 2)), dim=2)
    return torch.bmm(weights, keys).transpose(0, 1), weights.transpose(0, 1)
'''),
    Variant("batched", "broadcast", source='''def attention_batched(hdec_ts, henc_ts):
    keys = henc_ts.permute(1, 0, 2)
    scores = (hdec_ts.unsqueeze(2) * keys.unsqueeze(0)).sum(dim=3)
    weights = nn.Softmax(dim=2)(scores)
    return (weights.unsqueeze(3) * keys).sum(dim=2), weights
'''),
    Variant("batched", "built in, the weights through the identity", source='''def attention_batched(hdec_ts, henc_ts):
    q, k = hdec_ts.transpose(0, 1), henc_ts.transpose(0, 1)
    identity = torch.eye(k.shape[1], device=k.device).expand(k.shape[0], -1, -1)
    weights = F.scaled_dot_product_attention(q, k, identity, scale=1)
    context = F.scaled_dot_product_attention(q, k, k, scale=1)
    return context.transpose(0, 1), weights.transpose(0, 1)
'''),
    Variant("batched", "exponential of the log-softmax",
            swap=(SOFTMAX, "attention_weights = F.log_softmax(scores, dim=2).exp()")),
    Variant("batched", "softmax over the first axis, where the encoder stands",
            source='''def attention_batched(hdec_ts, henc_ts):
    scores = torch.einsum("sbh,tbh->sbt", henc_ts, hdec_ts)
    weights = F.softmax(scores, dim=0)
    return torch.einsum("sbt,sbh->tbh", weights, henc_ts), weights.permute(2, 1, 0)
'''),

    Variant("axes", "allclose", source='''def axes_that_sum_to_one(x):
    found = []
    for axis in range(len(x.shape)):
        sums = x.sum(dim=axis)
        if torch.allclose(sums, torch.ones_like(sums), atol=1e-4):
            found.append(axis)
    return found
'''),
    Variant("axes", "in numpy", source='''def axes_that_sum_to_one(x):
    x = x.cpu().numpy()
    return [axis for axis in range(x.ndim) if np.abs(x.sum(axis) - 1).max() < 1e-4]
'''),
    Variant("axes", "largest and smallest sum", source='''def axes_that_sum_to_one(x):
    sums = [torch.sum(x, axis) for axis in range(x.ndim)]
    return [i for i, s in enumerate(sums) if s.max() < 1 + 1e-4 and s.min() > 1 - 1e-4]
'''),
    Variant("axes", "rounded", source='''def axes_that_sum_to_one(x):
    return list(filter(lambda axis: bool((x.sum(axis).mul(10000).round() == 10000).all()), range(x.dim())))
'''),

    Variant("decoder", "bmm, one path for both", source=decoder("""
hdec_ts, hdec_final = self.gru(decoder_input, hdec_init)
features = hdec_ts
if self.attention:
    keys = henc_ts.permute(1, 0, 2)
    weights = torch.softmax(torch.bmm(hdec_ts.permute(1, 0, 2), keys.permute(0, 2, 1)), dim=2)
    self.attention_weights = weights.permute(1, 0, 2)
    features = torch.bmm(weights, keys).permute(1, 0, 2)
return nn.LogSoftmax(dim=-1)(self.linear(features)), hdec_final
""")),
    Variant("decoder", "loops over batch and time", source=decoder("""
hdec_ts, hdec_final = self.gru(decoder_input, hdec_init)
if self.attention == False:
    output = F.log_softmax(self.linear(hdec_ts), dim=2)
else:
    contexts = torch.zeros_like(hdec_ts)
    weights = torch.zeros(hdec_ts.size(0), hdec_ts.size(1), henc_ts.size(0)).to(self.device)
    for t in range(hdec_ts.size(0)):
        for b in range(hdec_ts.size(1)):
            similarity = torch.matmul(henc_ts[:, b], hdec_ts[t, b])
            alpha = F.softmax(similarity, dim=0)
            weights[t, b] = alpha
            contexts[t, b] = torch.matmul(alpha, henc_ts[:, b])
    self.attention_weights = weights
    output = F.log_softmax(self.linear(contexts), dim=2)
return output, hdec_final
""")),
    Variant("decoder", "one timestep at a time", source=decoder("""
hidden, outputs, weights = hdec_init, [], []
for character in decoder_input:
    state, hidden = self.gru(character[None], hidden)
    if self.attention:
        alpha = (state * henc_ts).sum(dim=2).softmax(dim=0)
        weights.append(alpha.t())
        state = (alpha.unsqueeze(2) * henc_ts).sum(dim=0, keepdim=True)
    outputs.append(self.linear(state).log_softmax(2))
if self.attention:
    self.attention_weights = torch.stack(weights)
return torch.cat(outputs), hidden
""")),
    Variant("decoder", "built in", source=decoder("""
hdec_ts, hdec_final = self.gru(decoder_input, hdec_init)
if self.attention:
    q, k = hdec_ts.transpose(0, 1), henc_ts.transpose(0, 1)
    context = F.scaled_dot_product_attention(q, k, k, scale=1).transpose(0, 1)
    self.attention_weights = (q @ k.mT).softmax(-1).transpose(0, 1).detach()
    return self.linear(context).log_softmax(-1), hdec_final
return self.linear(hdec_ts).log_softmax(-1), hdec_final
""")),
    Variant("decoder", "exponential of the log-softmax",
            swap=(KEPT, "self.attention_weights = F.log_softmax(scores, dim=2).exp()")),
    Variant("decoder", "with the function of exercise 2", source=decoder("""
hdec_ts, hdec_final = self.gru(decoder_input, hdec_init)
if self.attention:
    hdec_ts, self.attention_weights = attention_batched(hdec_ts, henc_ts)
return F.log_softmax(self.linear(hdec_ts), dim=-1), hdec_final
""")),
    Variant("decoder", "softmax over the first axis, where the encoder stands", source=decoder("""
hdec_ts, hdec_final = self.gru(decoder_input, hdec_init)
if not self.attention:
    return torch.log(torch.softmax(self.linear(hdec_ts), 2)), hdec_final
alpha = F.softmax(torch.einsum('sbh,tbh->stb', henc_ts, hdec_ts), dim=0)
self.attention_weights = alpha.permute(1, 2, 0)
context = torch.einsum('stb,sbh->tbh', alpha, henc_ts)
return torch.log(torch.softmax(self.linear(context), 2)), hdec_final
""")),

    Variant("seq2seq", "one loop for all", source=seq2seq("""
henc_ts, hidden = self.encoder(encoder_input)
x = torch.zeros(1, encoder_input.size(1), self.decoder_vocabulary_size).to(self.device)
x[:, :, self.decoder_char_index[self.GO]] = 1
outputs, weights = [], []
for t in range(self.max_decoder_sequence_length):
    if teacher_enforce and not inference:
        x = decoder_input[t:t + 1]
    out, hidden = self.decoder(x, hidden, henc_ts=henc_ts)
    outputs.append(out)
    if self.attention:
        weights.append(self.decoder.attention_weights[0])
        self.attention_weights = torch.stack(weights)
    if inference and self.decoder_index_char[out.argmax().item()] == self.EOS:
        break
    x = torch.zeros_like(out).scatter_(2, out.argmax(dim=2, keepdim=True), 1.0)
return torch.cat(outputs, dim=0)
""")),
    Variant("seq2seq", "filled in", source=seq2seq("""
henc_ts, henc_final = self.encoder(encoder_input)
if not inference and teacher_enforce:
    output = self.decoder(decoder_input, henc_final, henc_ts)[0]
    self.attention_weights = self.decoder.attention_weights
    return output
T, B, V = self.max_decoder_sequence_length, encoder_input.shape[1], self.decoder_vocabulary_size
output = torch.zeros(T, B, V, device=self.device)
weights = torch.zeros(T, B, len(encoder_input), device=self.device)
hdec, last = henc_final, [self.decoder_char_index[self.GO]] * B
for t in range(T):
    x = torch.zeros(1, B, V, device=self.device)
    for b in range(B):
        x[0, b, last[b]] = 1
    out, hdec = self.decoder(x, hdec, henc_ts)
    output[t] = out[0]
    if self.attention:
        weights[t] = self.decoder.attention_weights[0]
    last = [int(torch.argmax(out[0, b])) for b in range(B)]
    if inference and last[0] == 0:
        break
self.attention_weights = weights
return output
""")),
    Variant("seq2seq", "the whole prefix each time", source=seq2seq("""
henc_ts, henc_final = self.encoder(encoder_input)
if teacher_enforce and not inference:
    output, _ = self.decoder(decoder_input, henc_ts[-1:], henc_ts)
    self.attention_weights = self.decoder.attention_weights
    return output
prefix = torch.eye(self.decoder_vocabulary_size, device=self.device)[self.decoder_char_index[self.GO]]\
.expand(1, encoder_input.shape[1], -1)
while True:
    output, _ = self.decoder(prefix, henc_final, henc_ts)
    self.attention_weights = self.decoder.attention_weights
    best = output[-1:].argmax(-1)
    if len(output) == self.max_decoder_sequence_length or (inference and best.item() == 0):
        return output
    prefix = torch.cat([prefix, F.one_hot(best, self.decoder_vocabulary_size).float()])
""")),
    Variant("seq2seq", "without the row of EOS", source=seq2seq("""
henc_ts, henc_final = self.encoder(encoder_input)
self.attention_weights = None
if teacher_enforce and decoder_input is not None:
    output, _ = self.decoder(decoder_input, henc_final, henc_ts)
    self.attention_weights = self.decoder.attention_weights
    return output
one_hot = torch.eye(self.decoder_vocabulary_size, device=self.device)
letter = torch.tensor([self.decoder_char_index[self.GO]] * encoder_input.size(1), device=self.device)
results, state = [], henc_final
while len(results) < self.max_decoder_sequence_length:
    prediction, state = self.decoder(one_hot[letter].unsqueeze(0), state, henc_ts)
    letter = prediction[0].max(dim=1)[1]
    if inference and letter[0] == self.decoder_char_index[self.EOS]:
        break
    results.append(prediction)
    if self.attention:
        new = self.decoder.attention_weights
        self.attention_weights = new if self.attention_weights is None else torch.cat((self.attention_weights, new))
return torch.cat(results)
""")),

    Variant("concat", "layer by layer", source=concat("""
x = torch.cat((hdec_ts, context_vectors), 2)
x = self.dense_tanh(x)
x = nn.Tanh()(x)
x = self.dense_final(x)
return nn.LogSoftmax(dim=2)(x)
""")),
    Variant("concat", "two halves of the matrix", source=concat("""
H = self.hidden_size
left, right = self.dense_tanh.weight[:, :H], self.dense_tanh.weight[:, H:]
hidden = torch.tanh(hdec_ts @ left.T + context_vectors @ right.T + self.dense_tanh.bias)
scores = self.dense_final(hidden)
return scores - scores.logsumexp(-1, keepdim=True)
""")),
    Variant("concat", "one timestep at a time", source=concat("""
outputs = []
for state, context in zip(hdec_ts, context_vectors):
    hidden = self.dense_tanh(torch.hstack([state, context])).tanh()
    outputs.append(F.log_softmax(self.dense_final(hidden), dim=1))
return torch.stack(outputs)
""")),
    Variant("concat", "log of the softmax", source=concat("""
T, B, H = hdec_ts.shape
both = torch.empty(T, B, 2 * H, device=hdec_ts.device)
both[..., :H] = hdec_ts
both[..., H:] = context_vectors
return torch.softmax(self.dense_final(torch.tanh(self.dense_tanh(both))), dim=-1).log()
""", layers="""
        self.dense_final = nn.Linear(64, output_size)
        self.dense_tanh = nn.Linear(hidden_size + hidden_size, 64)
""")),

    Variant("groups", "counting", source='''def exact_match_by(group_of, questions, written, truth):
    asked, right = {}, {}
    for i in range(len(questions)):
        group = group_of(questions[i])
        asked[group] = asked.get(group, 0) + 1
        right[group] = right.get(group, 0) + (1 if written[i] == truth[i] else 0)
    return {group: right[group] / asked[group] for group in asked}
'''),
    Variant("groups", "Counter", source='''def exact_match_by(group_of, questions, written, truth):
    from collections import Counter
    asked = Counter(map(group_of, questions))
    right = Counter(group_of(x) for x, w, y in zip(questions, written, truth) if w == y)
    return {group: right[group] / n for group, n in asked.items()}
'''),
    Variant("groups", "numpy", source='''def exact_match_by(group_of, questions, written, truth):
    equal = np.array(written) == np.array(truth)
    groups = [group_of(question) for question in questions]
    return {group: np.mean(equal[[i for i, g in enumerate(groups) if g == group]]) for group in groups}
'''),
    Variant("groups", "group by group", source='''def exact_match_by(group_of, questions, written, truth):
    result = {}
    for group in sorted(set(group_of(q) for q in questions)):
        mine = [w == y for q, w, y in zip(questions, written, truth) if group_of(q) == group]
        result[group] = mine.count(True) / len(mine)
    return result
'''),
]
