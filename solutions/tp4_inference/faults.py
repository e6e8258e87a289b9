"""Wrong versions that learners write in session 4."""

from autograder.authoring import Fault

DECODED = "hdec_ts, states = self.lstm(self.embedding(decoder_tokens), states)"
LOGITS = "return self.dense_final(hdec_ts), states"

DECODER = [
    Fault("decoder", "old-states-returned",
            "You return the states that came in, not those after the last step. "
            "At inference, every step would start from the beginning.",
            replace=(DECODED, "hdec_ts, _ = self.lstm(self.embedding(decoder_tokens), states)")),
    Fault("decoder", "cell-state-stays-old",
            "The LSTM has two states, h and c. You go on with the new h, and c stays the one that came in.",
            replace=(DECODED, "hdec_ts = []\n        h, c = states\n        for token in decoder_tokens:\n"
                              "            out, (h, _) = self.lstm(self.embedding(token[None]), (h, c))\n"
                              "            hdec_ts.append(out)\n"
                              "        hdec_ts, states = torch.cat(hdec_ts), (h, c)")),
    Fault("decoder", "softmax",
            "You return probabilities. Logits are asked for: "
            "the loss applies its own log-softmax, and a softmax before it makes the gradient small.",
            replace=(LOGITS, "return self.dense_final(hdec_ts).softmax(dim=-1), states")),
    Fault("decoder", "given-states-ignored",
            "Your LSTM starts from zeros, whatever `states` is. It must start from the h and c that come in.",
            replace=(DECODED, "hdec_ts, states = self.lstm(self.embedding(decoder_tokens))")),
    Fault("decoder", "cell-state-zeroed",
            "Your LSTM starts from the given h, and from zeros in the place of c. Both states must come in.",
            replace=(DECODED, DECODED.replace(", states)", ", (states[0], torch.zeros_like(states[1])))"))),
    Fault("decoder", "each-step-from-the-first-states",
            "Each of your T steps starts from the states that came in. "
            "Only the first does, each other one starts from those of the step before.",
            replace=(DECODED, "steps = [self.lstm(token[None], states) for token in self.embedding(decoder_tokens)]\n"
                              "        hdec_ts, states = torch.cat([out for out, _ in steps]), steps[-1][1]")),
    Fault("decoder", "logits-of-the-cell-state",
            "Your logits are computed from the cell state c. The output of an LSTM is its hidden state h.",
            replace=(DECODED, "hdec_ts = []\n        for token in self.embedding(decoder_tokens):\n"
                              "            _, states = self.lstm(token[None], states)\n"
                              "            hdec_ts.append(states[1])\n        hdec_ts = torch.cat(hdec_ts)")),
    Fault("decoder", "last-step-only",
            "You return the logits of the last step alone. Each of the T steps has its own.",
            replace=(LOGITS, "return self.dense_final(hdec_ts[-1:]), states")),
    Fault("decoder", "log-softmax",
            "You return log-probabilities. Logits are asked for: the loss applies its own log-softmax.",
            replace=(LOGITS, "return self.dense_final(hdec_ts).log_softmax(dim=-1), states")),
]

NOT_PASSED_ON = ("You do not pass `henc_ts` on to the decoder. Yours does not use it, but one with attention does: "
                 "give it as the third argument.")
LOSS = "loss = F.cross_entropy(logits.flatten(0, 1), target_tokens.flatten())"

TRAINING_PASS = [
    Fault("training-pass", "target-not-shifted",
            "At each step the decoder reads the character that is its target there. "
            "It learns to copy, and at inference this character is not known.",
            replace=("decoder_tokens = torch.cat([go, target_tokens[:-1]])", "decoder_tokens = target_tokens")),
    Fault("training-pass", "starts-with-eos",
            "The first character that the decoder reads is EOS, perhaps because the last target has moved to the "
            "front. It has to be `model.GO`.",
            replace=("torch.full_like(target_tokens[:1], model.GO)", "torch.full_like(target_tokens[:1], model.EOS)")),
    Fault("training-pass", "softmax-before-cross-entropy",
            "Your loss applies a softmax twice. `cross_entropy` applies its own: give it the logits. "
            "Otherwise the loss can never get small, and its gradient is small.",
            replace=(LOSS, "loss = F.cross_entropy(logits.softmax(dim=-1).flatten(0, 1), target_tokens.flatten())")),
    Fault("training-pass", "nll-of-logits",
            "Your \"loss\" is minus the logit of the right character, without a log-softmax, so it has no lower bound. "
            "`cross_entropy` takes logits, `nll_loss` log-probabilities.",
            replace=(LOSS, "loss = F.nll_loss(logits.flatten(0, 1), target_tokens.flatten())")),
    Fault("training-pass", "eos-ignored",
            "You leave EOS out of the loss. Then the network does not learn when to stop.",
            replace=(LOSS,
                     "loss = F.cross_entropy(logits.flatten(0, 1), target_tokens.flatten(), ignore_index=model.EOS)")),
    Fault("training-pass", "axes-of-the-loss-mixed-up",
            "Your logits are laid out sequence by sequence, your targets step by step, so the loss compares "
            "different characters. Flatten both in the same order.",
            replace=("logits.flatten(0, 1)", "logits.transpose(0, 1).flatten(0, 1)")),
    Fault("training-pass", "sum-over-steps",
            "Your loss is T times too large: the mean over the sequences is added up over the steps. "
            "Take the mean over all T · B characters.",
            replace=(LOSS, LOSS + " * len(target_tokens)")),
    Fault("training-pass", "sum",
            "Your loss is the sum over all characters. Take the mean.",
            replace=(LOSS, LOSS + " * target_tokens.numel()")),
    Fault("training-pass", "encoder-outputs-not-passed-on", NOT_PASSED_ON,
            replace=("encoder_states, henc_ts)", "encoder_states)")),
    Fault("training-pass", "log-probabilities-returned",
            "The first result holds log-probabilities. Return the logits as the decoder gives them.",
            replace=("return logits, loss", "return logits.log_softmax(dim=-1), loss")),
]


# ---------------------------------------------------------------- optimizer

ADAM = "torch.optim.Adam(model.parameters(), lr=learning_rate, betas=(0.9, 0.98))"

OPTIMIZER = [
    Fault("optimizer", "decoder-only",
            "The encoder's embedding, and perhaps more of the encoder, keeps its initial weights. Pass all weights "
            "of the model to the optimizer.",
            replace=("model.parameters()", "model.decoder.parameters()")),
    Fault("optimizer", "decoder-embedding-left-out",
            "The decoder's embedding, and perhaps more of the decoder, keeps its initial weights. Pass all weights "
            "of the model to the optimizer.",
            replace=("model.parameters()",
                     '[own for name, own in model.named_parameters() if name != "decoder.embedding.weight"]')),
    Fault("optimizer", "encoder-only",
            "The decoder's embedding and output layer, and perhaps more, keep their initial weights. Pass all "
            "weights of the model to the optimizer.",
            replace=("model.parameters()", "model.encoder.parameters()")),
    Fault("optimizer", "default-betas",
            "The averages of your Adam have the default β of torch, 0.9 and 0.999. Set both: 0.9 and 0.98.",
            replace=(", betas=(0.9, 0.98)", "")),
    Fault("optimizer", "betas-swapped",
            "Your two β have changed places: the first one averages the gradient, the second one its square.",
            replace=("(0.9, 0.98)", "(0.98, 0.9)")),
    Fault("optimizer", "rate-not-used",
            "Your optimizer has torch's default learning rate, 0.001, whatever `learning_rate` is.",
            replace=(" lr=learning_rate,", "")),
    Fault("optimizer", "sgd",
            "Your optimizer makes plain gradient descent (SGD). "
            "Adam is asked for: it divides each step by an average size of the gradient.",
            replace=(ADAM, "torch.optim.SGD(model.parameters(), lr=learning_rate)")),
]


# ---------------------------------------------------------------- inference-programs

STEPPED = "logits, states = model.decoder(tokens[None], states, henc_ts)"
SAID = "return logits[0].log_softmax(dim=-1), states"

INFERENCE_PROGRAMS = [
    Fault("inference-programs", "softmax-over-the-batch",
            "Your log-softmax runs over the batch: the probabilities of a character sum to 1 over the sequences. "
            "Each sequence needs a distribution of its own, over V, the last axis.",
            replace=(SAID, "return logits[0].log_softmax(dim=0), states")),
    Fault("inference-programs", "gradient-kept-by-encode",
            "`encode` records operations for a gradient that is not used. "
            "That takes memory; `torch.no_grad()` switches it off.",
            source='''def encode(model, encoder_tokens):
    return model.encoder(encoder_tokens)

def decoder_step(model, tokens, states, henc_ts):
    with torch.no_grad():
        logits, states = model.decoder(tokens[None], states, henc_ts)
        return logits[0].log_softmax(dim=-1), states'''),
    Fault("inference-programs", "gradient-kept-by-the-step",
            "`decoder_step` records operations for a gradient that is not used. "
            "That takes memory; `torch.no_grad()` switches it off.",
            body='''
logits, states = model.decoder(tokens[None], states, henc_ts)
return logits[0].log_softmax(dim=-1), states'''),
    Fault("inference-programs", "logits",
            "`decoder_step` returns the logits as they are. Log-probabilities are asked for: apply a log-softmax.",
            replace=(SAID, "return logits[0], states")),
    Fault("inference-programs", "probabilities",
            "`decoder_step` returns probabilities. Apply `log_softmax` to the logits in place of the softmax.",
            replace=(SAID, "return logits[0].softmax(dim=-1), states")),
    Fault("inference-programs", "logarithm-of-the-softmax",
            "Your log-probabilities are −∞ where the softmax rounds to 0. "
            "`log_softmax` computes the logarithm without this detour.",
            replace=(SAID, "return logits[0].softmax(dim=-1).log(), states")),
    Fault("inference-programs", "old-states-returned",
            "`decoder_step` returns the states that came in. The next step needs those after this one.",
            replace=(STEPPED, STEPPED.replace("logits, states", "logits, _"))),
    Fault("inference-programs", "encoder-outputs-not-passed-on", NOT_PASSED_ON,
            replace=(STEPPED, STEPPED.replace(", henc_ts)", ")"))),
    Fault("inference-programs", "batch-axis-of-one-lost",
            "For a batch of one, `decoder_step` returns (V,). The batch axis stays: (1, V).",
            replace=(SAID, "return logits.log_softmax(dim=-1).squeeze(), states")),
]

CHOICE = "tokens = log_probabilities.argmax(dim=-1).masked_fill(finished, model.EOS)"

DECODE_SEQUENCE = [
    Fault("decode-sequence", "eos-does-not-stop",
            "After its EOS, a sequence gets other characters in your code. "
            "It must get EOS from then on, while others of the batch are running.",
            replace=(CHOICE, "tokens = log_probabilities.argmax(dim=-1)")),
    Fault("decode-sequence", "ends-forgotten",
            "You look at the last step alone to see which sequences have ended. One that writes another character "
            "after its EOS goes on: keep the ends of all steps.",
            replace=[("tokens = log_probabilities.argmax(dim=-1).masked_fill(finished, model.EOS)",
                     "choice = log_probabilities.argmax(dim=-1)\n"
                     "        tokens = choice.masked_fill(finished, model.EOS)"),
                     ("finished = finished | (tokens == model.EOS)", "finished = choice == model.EOS")]),
    Fault("decode-sequence", "always-to-the-limit",
            "Your result always has `max_length` rows. Return one row for each step, and make no step after every "
            "sequence has ended.",
            replace=("while len(said) < model.max_length and not finished.all():",
                     "while len(said) < model.max_length:")),
    Fault("decode-sequence", "state-not-carried",
            "Each step of the decoder starts from the encoder's states. Carry the states from one step to the next.",
            replace=("log_probabilities, states = decoder_step(", "log_probabilities, _ = decoder_step(")),
    Fault("decode-sequence", "reads-go-at-every-step",
            "The decoder reads GO at every step. After the first step it has to read its last output.",
            replace=("log_probabilities, states = decoder_step(model, tokens, states, henc_ts)",
                     "log_probabilities, states = decoder_step("
                     "model, torch.full_like(tokens, model.GO), states, henc_ts)")),
    Fault("decode-sequence", "first-end-stops-all",
            "Your result ends where the first sequence ends, so the others are cut off. It must go on until all have "
            "ended, with EOS for those that ended before.",
            replace=("finished.all()", "finished.any()")),
    Fault("decode-sequence", "last-step-not-kept",
            "The row in which the last sequence ends is missing: its EOS is part of the result.",
            replace=("return torch.stack(said)", "return torch.stack(said[:-1] if finished.all() else said)")),
    Fault("decode-sequence", "one-step-too-few",
            "Your result never has more than `max_length` − 1 rows. Up to `max_length` steps are made, each gives a "
            "row, and GO is not one of them.",
            replace=("len(said) < model.max_length", "len(said) < model.max_length - 1")),
    Fault("decode-sequence", "one-step-too-many",
            "You make up to `max_length` + 1 steps. Stop after `max_length`.",
            replace=("len(said) < model.max_length", "len(said) < model.max_length + 1")),
    Fault("decode-sequence", "go-in-the-result",
            "Your result begins with GO. The decoder reads it, and does not write it.",
            replace=[("said = []", "said = [tokens]"), ("len(said) <", "len(said) - 1 <")]),
    Fault("decode-sequence", "batch-first",
            "Your result is (B, T). Time comes first.",
            replace=("return torch.stack(said)", "return torch.stack(said, dim=1)")),
]


RUNNING = "running = (target_tokens == EOS).cumsum(dim=0) <= 1"
SHARE = "return right.sum(dim=1) / running.sum(dim=1)"
ENDED_BY_PREDICTION = "You take the end of a sequence from its prediction. It ends at the EOS of its target."

ACCURACY = [
    Fault("accuracy-by-step", "ends-of-the-predictions", ENDED_BY_PREDICTION,
            replace=("running = (target_tokens == EOS)", "running = (predicted_tokens == EOS)")),
    Fault("accuracy-by-step", "first-ends-of-the-predictions", ENDED_BY_PREDICTION,
            replace=(RUNNING, "running = (predicted_tokens == EOS).cumsum(dim=0).cumsum(dim=0) <= 1")),
    Fault("accuracy-by-step", "wrong-for-ever",
            "After its first error a sequence counts as wrong at all later steps. Each step counts by itself.",
            replace=("right = (predicted_tokens == target_tokens) & running",
                     "right = (predicted_tokens == target_tokens).cumprod(dim=0).bool() & running")),
    Fault("accuracy-by-step", "divided-by-the-batch",
            "You divide by the size of the batch at every step. "
            "Divide by the number of sequences that are still running there.",
            replace=(SHARE, "return right.sum(dim=1) / target_tokens.shape[1]")),
    Fault("accuracy-by-step", "eos-not-counted",
            "Your sequences end before their EOS. It is the last token that the network must get right, so it counts.",
            replace=(RUNNING, "running = (target_tokens == EOS).cumsum(dim=0) == 0")),
    Fault("accuracy-by-step", "one-step-too-long",
            "Your sequences run for one step after their EOS. The EOS is the last token that counts.",
            replace=(RUNNING, RUNNING.replace("<= 1", "<= 2"))),
    Fault("accuracy-by-step", "padding-in-the-numerator",
            "You count right tokens also after the ends, and divide by the number of sequences still running. "
            "Count those of the running ones.",
            replace=("right = (predicted_tokens == target_tokens) & running",
                     "right = predicted_tokens == target_tokens")),
    Fault("accuracy-by-step", "padding-counts",
            "You count all sequences at every step, also those that have ended. Leave out what comes after an EOS.",
            replace=(RUNNING, "running = torch.ones_like(target_tokens, dtype=torch.bool)")),
    Fault("accuracy-by-step", "all-steps-so-far",
            "Your accuracy at a step is that of all steps up to it. Each step counts by itself.",
            replace=(SHARE, "return right.sum(dim=1).cumsum(dim=0) / running.sum(dim=1).cumsum(dim=0)")),
]

CHOICE = """tokens = torch.where(forced[t], target_tokens[t - 1],
                                 logits[-1][0].argmax(dim=-1))"""
STATES_NOT_CARRIED = ("Every step starts from the encoder's states again. "
                      "Give each step the states that the step before returned.")
CALL = "step_logits, states = model.decoder(tokens[None], states, henc_ts)"

SCHEDULED_SAMPLING = [
    Fault("scheduled-sampling", "decisions-inverted",
            "You use `forced` the wrong way round: true means that the right character is read.",
            replace=(CHOICE, CHOICE.replace("forced[t]", "~forced[t]"))),
    Fault("scheduled-sampling", "decision-of-the-step-before",
            "Your decisions come one step late. What step t reads must depend on `forced[t]`.",
            replace=(CHOICE, CHOICE.replace("forced[t]", "forced[t - 1]"))),
    Fault("scheduled-sampling", "one-decision-for-all",
            "At each step you use one decision for the whole batch. Each sequence has its own: choose by element.",
            replace=(CHOICE, CHOICE.replace("forced[t]", "forced[t, 0]"))),
    Fault("scheduled-sampling", "reads-what-it-must-write",
            "Where `forced` is true, your step t reads `target_tokens[t]`, which it has to write. It must read "
            "`target_tokens[t - 1]`.",
            replace=("target_tokens[t - 1]", "target_tokens[t]")),
    Fault("scheduled-sampling", "only-the-teacher",
            "You never read what the network wrote: this is plain teacher forcing, whatever `forced` is.",
            replace=(CHOICE, "tokens = target_tokens[t - 1]")),
    Fault("scheduled-sampling", "only-itself",
            "You never read the right answer: this is free running, whatever `forced` is.",
            replace=(CHOICE, "tokens = logits[-1][0].argmax(dim=-1)")),
    Fault("scheduled-sampling", "states-not-carried", STATES_NOT_CARRIED,
            replace=(CALL, "step_logits, _ = model.decoder(tokens[None], states, henc_ts)")),
    Fault("scheduled-sampling", "cell-state-not-carried",
            "h moves on from step to step, but c stays that of the encoder. Carry both.",
            replace=(CALL,
                     "step_logits, new = model.decoder(tokens[None], states, henc_ts)\n"
                     "        states = (new[0], states[1])")),
    Fault("scheduled-sampling", "starts-with-the-answer",
            "Step 0 reads the first character of the answer. It has to read GO: "
            "the first character is the target of this step.",
            replace=("torch.full_like(target_tokens[0], model.GO)", "target_tokens[0]")),
    Fault("scheduled-sampling", "no-gradient",
            "No gradient flows back from your logits: `no_grad`, `detach` and `decoder_step`, for example, cut it off. "
            "This is a training pass: call `model.decoder` itself.",
            replace=(CALL,
                     "with torch.no_grad():\n"
                     "            step_logits, states = model.decoder(tokens[None], states, henc_ts)")),
    Fault("scheduled-sampling", "last-character-at-the-first-step",
            "Where `forced` is true at step 0, your decoder reads the last character of the answer there. "
            "Step 0 reads GO, whatever `forced` says.",
            replace=("if t > 0:", "if t == 0:\n            tokens = torch.where(forced[t], target_tokens[-1], tokens)\n"
                                  "        else:")),
    Fault("scheduled-sampling", "never-forced-again",
            "A sequence that was once not forced is never forced again. Each step has its own decision, `forced[t]`.",
            replace=("forced[t]", "forced[:t + 1].all(dim=0)")),
    Fault("scheduled-sampling", "log-probabilities",
            "You return log-probabilities, as `decoder_step` gives them. Return the logits of `model.decoder`.",
            replace=("return torch.cat(logits)", "return torch.cat(logits).log_softmax(dim=-1)")),
    Fault("scheduled-sampling", "encoder-outputs-not-passed-on", NOT_PASSED_ON,
            replace=(CALL, CALL.replace(", henc_ts)", ")"))),
]

MASK = "log_probabilities = log_probabilities.masked_fill(finished[:, None], -torch.inf)"
FREE = "log_probabilities[finished, EOS] = 0.0"
TABLE = "candidates = (scores[:, None] + log_probabilities).flatten()"
TOP = "scores, best = candidates.topk(min(beam_width, K * V))"
FOUND = "return best % V, best // V, scores"


BEAM_STEP = [
    Fault("beam-step", "probabilities-added",
            "You add probabilities. The probability of a sequence is a product, so it is the *logs* that add up.",
            replace=(TABLE, "candidates = (scores.exp()[:, None] + log_probabilities.exp()).flatten()")),
    Fault("beam-step", "past-forgotten",
            "Your candidates have the log-probability of the last step only. "
            "The score of the hypothesis has to be added.",
            replace=(TABLE, "candidates = log_probabilities.flatten()")),
    Fault("beam-step", "table-column-by-column",
            "Your flat table of candidates runs column by column, as (V, K), and you read tokens and parents from "
            "it as from (K, V).",
            replace=("(scores[:, None] + log_probabilities).flatten()",
                     "(scores[:, None] + log_probabilities).T.flatten()")),
    Fault("beam-step", "one-child-each",
            "Each hypothesis keeps exactly one child in your code. Take the best candidates of *all* hypotheses: "
            "one may have several children, another none.",
            replace=[(TABLE, "candidates = scores[:, None] + log_probabilities"),
                     (TOP, "scores, best = candidates.max(dim=1)\n    scores, order = scores.sort(descending=True)"),
                     (FOUND, "return best[order], order, scores")]),
    Fault("beam-step", "token-and-parent-swapped",
            "Your `tokens` are the parents, and your `parents` the tokens. Think of the flat table: "
            "candidate number i stands in row i // V, column i % V.",
            replace=(FOUND, "return best // V, best % V, scores")),
    Fault("beam-step", "finished-ones-go-on",
            "A finished hypothesis is continued like any other. It has a single candidate left, EOS, at no cost.",
            replace=[(MASK, "log_probabilities = log_probabilities.clone()"), (FREE, "")]),
    Fault("beam-step", "finished-ones-pay",
            "A finished hypothesis is continued by EOS alone, which is right, but the log-probability of EOS is "
            "added at every step. The score of a finished hypothesis does not change.",
            replace=[(MASK,
                      "said = log_probabilities\n"
                      "    log_probabilities = said.masked_fill(finished[:, None], -torch.inf)"),
                     (FREE, "log_probabilities[finished, EOS] = said[finished, EOS]")]),
    Fault("beam-step", "finished-score-lost",
            "A finished hypothesis gets the score 0. EOS once more costs nothing: its score stays what it was.",
            replace=(TABLE,
                     "candidates = torch.where(\n"
                     "        finished[:, None], log_probabilities, scores[:, None] + log_probabilities).flatten()")),
    Fault("beam-step", "finished-ones-dropped",
            "A finished hypothesis has no candidate at all in your code: a complete answer is lost. "
            "It stays, with its score.",
            replace=(FREE, "")),
    Fault("beam-step", "finished-ones-may-also-go-on",
            "EOS costs nothing for a finished hypothesis, but its other continuations are still candidates. "
            "Give them the score −∞.",
            replace=(MASK, "log_probabilities = log_probabilities.clone()")),
    Fault("beam-step", "no-more-than-before",
            "You never keep more than K candidates. From a single hypothesis, at the first step, "
            "`beam_width` of them are kept.",
            replace=(TOP, "scores, best = candidates.topk(min(beam_width, K))")),
    Fault("beam-step", "sums-added-after-the-choice",
            "You choose by the log-probability of the last step, and add the scores of the hypotheses afterwards. "
            "Choose by the sums.",
            replace=[(TABLE, "before, candidates = scores, log_probabilities.flatten()"),
                     (FOUND, "scores, order = (before[best // V] + scores).sort(descending=True)\n"
                             "    return best[order] % V, best[order] // V, scores")]),
    Fault("beam-step", "every-character-free",
            "Every character costs nothing after the end in your code, so a finished hypothesis fills the beam. "
            "Its only candidate is EOS.",
            replace=(MASK, MASK.replace("-torch.inf", "0.0"))),
]

FOLLOW = "states = h[:, parents], c[:, parents]"
DONE = "finished = finished[parents] | (tokens == model.EOS)"
LENGTHS = "lengths = (hypotheses != model.EOS).sum(dim=0) + finished"
NORMALISED = "normalised = scores / lengths ** alpha"
GROWN = "hypotheses = torch.cat([hypotheses[:, parents], tokens[None]])"
ORDER = "order = normalised.argsort(descending=True)"
WHILE = "while len(history) < model.max_length and not finished.all():"

AT_THE_PARENT = ("You read each new character at the number of its parent. `beam_step` returns `tokens` in the order "
                 "of the new hypotheses: only older characters follow `parents`. (If you go back through `history`, "
                 "take the character first, then go to the parent.)")

BEAM_SEARCH = [
    Fault("beam-search", "goes-on-when-all-have-ended",
            "Your hypotheses always have `max_length` rows. Stop when all have ended, and return one row for each "
            "step.",
            replace=(WHILE, "while len(history) < model.max_length:")),
    Fault("beam-search", "new-characters-reordered",
            AT_THE_PARENT,
            replace=("tokens[None]])", "tokens[parents][None]])")),
    Fault("beam-search", "sums-added-twice",
            "You add the scores of the parents to those that `beam_step` returns. It returns sums already.",
            replace=[("tokens, parents, scores = beam_step(",
                     "before, (tokens, parents, scores) = scores, beam_step("),
                     ("        history.append(",
                     "        scores = before[parents] + scores\n        history.append(")]),
    Fault("beam-search", "states-do-not-follow",
            "Your hidden states stay where they were while the hypotheses change places: "
            "a hypothesis goes on with the states of another. Both states must follow `parents`.",
            replace=(FOLLOW,
                     "rows = torch.arange(len(parents), device=parents.device) % h.shape[1]\n"
                     "        states = h[:, rows], c[:, rows]")),
    Fault("beam-search", "one-state-for-all",
            "All hypotheses of your beam share one hidden state, that of the best. "
            "Each has its own prefix, so each needs its own state.",
            replace=(FOLLOW,
                     "states = h[:, parents[:1]].expand(-1, len(parents), -1), "
                     "c[:, parents[:1]].expand(-1, len(parents), -1)")),
    Fault("beam-search", "cell-state-does-not-follow",
            "h follows the parents, c does not. An LSTM has two states, and both belong to their hypothesis.",
            replace=(FOLLOW,
                     "states = h[:, parents], c[:, torch.arange(len(parents), device=parents.device) % c.shape[1]]")),
    Fault("beam-search", "ends-do-not-follow",
            "`finished` is not reordered by the parents in your code, so hypotheses get the end of another.",
            replace=(DONE,
                     "finished = (finished if len(finished) == len(tokens) else finished[parents]) "
                     "| (tokens == model.EOS)")),
    Fault("beam-search", "characters-do-not-follow",
            "The characters so far stay where they were: hypotheses get the characters of another. "
            "They must follow `parents`, too.",
            replace=(GROWN,
                     "hypotheses = torch.cat("
                     "[hypotheses if hypotheses.shape[1] == len(tokens) else hypotheses[:, parents], tokens[None]])")),
    Fault("beam-search", "eos-does-not-finish",
            "No hypothesis is ever finished in your code: it goes on after its EOS. "
            "Keep track of those that have written `model.EOS`.",
            replace=(DONE, "finished = finished[parents]")),
    Fault("beam-search", "first-end-stops-all",
            "Your search stops when one hypothesis has ended, so the others are cut off. Stop when all have ended.",
            replace=(WHILE, "while len(history) < model.max_length and not finished.any():")),
    Fault("beam-search", "best-end-stops-all",
            "Your search stops when the best hypothesis has ended. After length normalisation another one may be "
            "better: stop when all have ended.",
            replace=(WHILE, "while len(history) < model.max_length and not finished[0]:")),
    Fault("beam-search", "starts-with-copies",
            "You begin with `beam_width` copies of the empty hypothesis, so the beam holds the same answer several "
            "times. Begin with a single one.",
            replace=[("tokens = torch.full_like(encoder_tokens[0], model.GO)",
                      "tokens = torch.full((beam_width,), model.GO, device=encoder_tokens.device)\n"
                      "    states = tuple(state.expand(-1, beam_width, -1) for state in states)"),
                     ("torch.zeros(1, device", "torch.zeros(beam_width, device"),
                     ("tokens.new_empty(0, 1)", "tokens.new_empty(0, beam_width)")]),
    Fault("beam-search", "alpha-ignored",
            "`alpha` has no effect: your scores, and their order, are those of the plain sums. "
            "Divide each by `length ** alpha`.",
            replace=(NORMALISED, "normalised = scores")),
    Fault("beam-search", "same-length-for-all",
            "You take the same length for every hypothesis. Each has its own, up to its EOS.",
            replace=(LENGTHS, "lengths = torch.full_like(tokens, len(history))")),
    Fault("beam-search", "length-without-eos",
            "Your lengths leave out the EOS. "
            "Its log-probability is part of the sum, so it counts, once.",
            replace=(LENGTHS, "lengths = (hypotheses != model.EOS).sum(dim=0)")),
    Fault("beam-search", "eos-counted-at-the-limit",
            "The length of a hypothesis that was cut off at `max_length` is one too large. It has no EOS, so its "
            "length is the number of its characters.",
            replace=(LENGTHS, "lengths = (hypotheses != model.EOS).sum(dim=0) + 1")),
    Fault("beam-search", "sorted-before-normalising",
            "The hypotheses are in the order of their plain sums. Sort them by the normalised score.",
            replace=(ORDER, "order = scores.argsort(descending=True)")),
    Fault("beam-search", "worst-first",
            "Your hypotheses come worst first. Scores are negative, and larger is better.",
            replace=(ORDER, "order = normalised.argsort()")),
    Fault("beam-search", "plain-sums-returned",
            "The scores that you return are the plain sums. Return the normalised ones.",
            replace=("normalised[order], history", "scores[order], history")),
    Fault("beam-search", "reads-go-at-every-step",
            "Every hypothesis reads GO at every step. "
            "It has to read the character with which it has just been continued.",
            replace=("model, tokens, states, henc_ts.expand",
                     "model, torch.full_like(tokens, model.GO), states, henc_ts.expand")),
    Fault("beam-search", "characters-of-the-parents",
            AT_THE_PARENT,
            replace=("return hypotheses[:, order], normalised[order], history",
                     "column, rows = order, []\n"
                     "    for tokens, parents, _ in reversed(history):\n"
                     "        column = parents[column]\n"
                     "        rows.insert(0, tokens[column])\n"
                     "    return torch.stack(rows), normalised[order], history")),
    Fault("beam-search", "normalised-at-every-step",
            "You divide by the length at every step, and add to the quotients. "
            "The scores stay sums during the search: divide once, at the end.",
            replace=[(GROWN, f"{GROWN}\n        {LENGTHS}\n        scores = scores / lengths ** alpha"),
                     (NORMALISED, "normalised = scores")]),
    Fault("beam-search", "states-not-carried", STATES_NOT_CARRIED,
            replace=(FOLLOW, "states = tuple(state[:, :1].expand(-1, len(parents), -1) for state in states)")),
]


# ---------------------------------------------------------------- wider-loses

POOR_D, POOR_E = (f'"{word}": {{word: 1 / len(poor) for word in poor}},' for word in "de")
A, B, ENDS = '"a": {word: 1 / parts for word in good},', '"b": {"d": 0.5, "e": 0.5},', '["c", *good, *poor]'

WIDER_LOSES = [
    Fault("wider-loses", "one-tempting-word",
            "The second of the first words goes on with a single word. That takes one place of the beam, and the "
            "greedy sentence keeps the other. How many hypotheses fill a beam of two?",
            replace=(B, '"b": {"d": 1.0},')),
    Fault("wider-loses", "greedy-too-strong",
            "Greedy decoding goes on with one half, so at the second step it is more probable than both words that "
            "should replace it in the beam. Cut its row into more parts.",
            replace=("int(2 * best / second) + 2", "2")),
    Fault("wider-loses", "three-parts-always",
            "You cut the greedy row into three parts, whatever `first` is. That is enough only if the second word is "
            "more than two thirds as probable as the first.",
            replace=("int(2 * best / second) + 2", "3")),
    Fault("wider-loses", "tempting-words-lead-somewhere",
            "The two words that replace the greedy sentence in the beam have probable continuations, so the wider beam "
            "wins. Whatever follows them must be improbable.",
            replace=[(POOR_D, '"d": {"EOS": 1.0},'), (POOR_E, '"e": {"EOS": 1.0},')]),
    Fault("wider-loses", "greedy-falls-for-them",
            "The words with improbable continuations follow the most probable first word, so greedy decoding takes "
            "one of them, too. They must follow another first word.",
            replace=[(A, '"a": {"d": 0.5, "e": 0.5},'), (B, '"b": {word: 1 / parts for word in good},')]),
    Fault("wider-loses", "logarithms",
            "You give your first words logarithms. `FOLLOWS` holds probabilities; the model takes their logs.",
            replace=('{"a": best, "b": second, "c": third}',
                     '{"a": math.log(best), "b": math.log(second), "c": math.log(third)}')),
]

FAULTS = [*DECODER, *TRAINING_PASS, *OPTIMIZER, *INFERENCE_PROGRAMS, *DECODE_SEQUENCE, *ACCURACY, *SCHEDULED_SAMPLING,
          *BEAM_STEP, *BEAM_SEARCH, *WIDER_LOSES]
