"""Wrong versions that learners write in session 2."""

from autograder.authoring import Fault

DETACHED_STATE = ("Running freely, the state is detached at each step, so no gradient goes back along it. Carry the "
                  "state as it is.")
OUTPUT_FED_BACK = ("You feed the decoder's whole output back. It reads one-hot rows: choose the most likely character "
                   "and feed that back.")

# ---------------------------------------------------------------- shift

SHIFT = "return torch.cat([decoder_input[1:], torch.zeros_like(decoder_input[:1])])"

# ---------------------------------------------------------------- encoder

GRU = "henc_ts, henc_final = self.gru(encoder_input, henc_init)"
RETURN = "return henc_ts, henc_final"

# ---------------------------------------------------------------- decoder

STEP = "hdec_ts, hdec_final = self.gru(decoder_input, hdec_init)"
LOG_SOFTMAX = "output = F.log_softmax(self.linear(hdec_ts), dim=-1)"
IF_FORCED = "if teacher_enforce and not inference:"
FORCED = "output, _ = self.decoder(decoder_input, henc_final, henc_ts)"
START = """written = torch.full(
            (1, B), self.decoder_char_index[self.GO], device=self.device)"""
STATE = "hidden, outputs = henc_final, []"
LOOP = "for _ in range(self.max_decoder_sequence_length):"
CALL = """output, hidden = self.decoder(
                F.one_hot(written, V).float(), hidden, henc_ts)"""
FED_BACK = """            written = output.argmax(-1)
            if inference and written.item() == self.decoder_char_index[self.EOS]:
                break
"""
IF_ENDED = "if inference and written.item() == self.decoder_char_index[self.EOS]:"
JOINED = "return torch.cat(outputs)"

# ---------------------------------------------------------------- exact match

FAULTS = [
    Fault("shift", "not-shifted",
            "Your target is the decoder's input itself. The network would only learn to copy the character it has just "
            "read, which does not help it to write the next one.",
            replace=(SHIFT, "return decoder_input.clone()")),
    Fault("shift", "input-overwritten",
            "Your target is right, but you changed the decoder's input on the way, which the decoder has yet to read. "
            "Work on a new tensor.",
            replace=(SHIFT, """target = decoder_input
    for step in range(len(target) - 1):
        target[step] = decoder_input[step + 1]
    target[-1] = 0
    return target""")),
    Fault("shift", "one-question-earlier",
            "Your rows are moved by one question of the batch, not by one timestep: a timestep has B rows.",
            replace=(SHIFT, """rows = decoder_input.flatten(0, 1)
    return torch.cat([rows[1:], torch.zeros_like(rows[:1])]).view_as(decoder_input)""")),
    Fault("shift", "one-timestep-later",
            "Your target is one timestep later than the input. It should be one timestep earlier.",
            replace=(SHIFT, "return torch.cat([torch.zeros_like(decoder_input[:1]), decoder_input[:-1]])")),
    Fault("shift", "last-row-missing",
            "The last row of the input is missing in your target. It stands at the last timestep but one, before "
            "the zeros.",
            replace=(SHIFT, "return torch.cat([decoder_input[1:-1], torch.zeros_like(decoder_input[:2])])")),
    Fault("shift", "first-row-blanked",
            "Your first row is zeros, and all others stand where they were. Each row moves one timestep earlier; the "
            "zeros stand at the end.",
            replace=(SHIFT, "return torch.cat([torch.zeros_like(decoder_input[:1]), decoder_input[1:]])")),
    Fault("shift", "first-row-at-the-end",
            "What is dropped in front comes back at the end of your target, as with `roll`. The last row should be "
            "zeros.",
            replace=("torch.zeros_like(decoder_input[:1])", "decoder_input[:1]")),
    Fault("shift", "first-row-blanked-after-the-shift",
            "After the shift your first row is zeros, and the last row is the first of the input. The last row "
            "should be zeros.",
            replace=(SHIFT, """moved = torch.cat([decoder_input[1:], decoder_input[:1]])
    return torch.cat([torch.zeros_like(moved[:1]), moved[1:]])""")),
    Fault("shift", "two-timesteps-earlier",
            "Your rows are moved by two timesteps. Move them by one.",
            replace=[("decoder_input[1:]", "decoder_input[2:]"), ("decoder_input[:1]", "decoder_input[:2]")]),

    # ---------------------------------------------------------------- encoder

    Fault("encoder", "initial-state-ignored",
            "Your encoder starts from zeros even when it is given `henc_init`. Pass it on to the GRU.",
            replace=(GRU, "henc_ts, henc_final = self.gru(encoder_input)")),
    Fault("encoder", "state-not-carried",
            "Each timestep starts from the initial state again. Carry the state from one timestep to the next.",
            replace=(GRU, """henc_ts = torch.cat([self.gru(one, henc_init)[0] for one in encoder_input.split(1)])
        henc_final = henc_ts[-1:]""")),
    Fault("encoder", "state-after-the-last-character",
            "Your final state is the one after the last character of each question. It is the state after the "
            "last timestep: the encoder reads the rows of zeros, too.",
            replace=(RETURN,
                     "lengths = encoder_input.any(dim=-1).sum(dim=0).clamp(min=1)\n"
                     "        return henc_ts, henc_ts[lengths - 1, torch.arange(len(lengths))][None]")),
    Fault("encoder", "first-state-for-the-last",
            "Your final state is the state after the first timestep. Return the one after the last.",
            replace=(RETURN, "return henc_ts, henc_ts[:1]")),
    Fault("encoder", "layer-axis-lost",
            "Your final state has shape `(B, H)`. The axis of layers is lost, and the decoder's GRU needs "
            "`(1, B, H)`: `squeeze` and an index such as `[-1]` drop the axis, a slice keeps it.",
            replace=(RETURN, "return henc_ts, henc_ts[-1]")),
    Fault("encoder", "final-state-detached",
            "No gradient flows back through your final state, which is all that the decoder gets, so the encoder is "
            "not trained. Return the state as the GRU makes it, without `.detach()` or `.data`.",
            replace=(RETURN, "return henc_ts, henc_final.detach()")),
    Fault("encoder", "without-gradient",
            "No gradient flows back from your two results, so the encoder cannot learn. "
            "`torch.no_grad()` and `.detach()` do that: they belong in evaluation, not in `forward`.",
            replace=(GRU,
                     "with torch.no_grad():\n            henc_ts, henc_final = self.gru(encoder_input, henc_init)")),
    Fault("encoder", "view-for-transpose",
            "`view` and `reshape` do not exchange two axes, they cut the same row of numbers at other places, "
            "so that questions get mixed. No change of shape is needed here at all.",
            replace=(GRU,
                     "T, B, V = encoder_input.shape\n"
                     "        henc_ts, henc_final = self.gru(encoder_input.reshape(B, T, V), None)\n"
                     "        henc_ts = henc_ts.reshape(T, B, -1)")),
    Fault("encoder", "start-sized-by-time",
            "The state that you start from takes its size from the axis of time. "
            "A state has one row per question of the batch: `(1, B, H)`, and B is `encoder_input.shape[1]`.",
            replace=(GRU, """if henc_init is None:
            henc_init = torch.zeros(1, encoder_input.shape[0], self.hidden_size, device=encoder_input.device)
        henc_ts, henc_final = self.gru(encoder_input, henc_init)""")),
    Fault("encoder", "results-exchanged",
            "Your two results are exchanged: `henc_ts`, the states after all timesteps, comes first, and the "
            "last state second.",
            replace=(RETURN, "return henc_final, henc_ts")),
    Fault("encoder", "batch-read-as-time",
            "Your GRU reads one question of the batch after the other, as if the batch were time. "
            "Its input is `(T, B, V)`, as it comes.",
            replace=(GRU, GRU.replace("encoder_input", "encoder_input.transpose(0, 1)")
                     + "\n        henc_ts = henc_ts.transpose(0, 1)")),
    Fault("encoder", "read-backwards",
            "You read the question from its end. The strings were reversed when the data were made; read the rows in "
            "their order.",
            replace=(GRU, GRU.replace("encoder_input", "encoder_input.flip(0)"))),
    Fault("encoder", "random-start",
            "Without `henc_init` your encoder starts from random numbers. It should start from zeros.",
            replace=(GRU, f"""if henc_init is None:
            henc_init = torch.randn(1, encoder_input.shape[1], self.hidden_size, device=self.device)
        {GRU}""")),
    Fault("encoder", "mean-state-as-final",
            "Your final state is the mean of the states of all timesteps. It should be the last one.",
            replace=(RETURN, "return henc_ts, henc_ts.mean(dim=0, keepdim=True)")),

    # ---------------------------------------------------------------- decoder

    Fault("decoder", "softmax-without-log",
            "You return probabilities. The loss expects their logarithm: "
            "with plain probabilities `NLLLoss` raises no error, but it is no longer the cross-entropy.",
            replace=(LOG_SOFTMAX, "output = F.softmax(self.linear(hdec_ts), dim=-1)")),
    Fault("decoder", "log-softmax-over-time",
            "Your log-softmax runs over the first axis, which is time: the probabilities sum to 1 over *timesteps*, "
            "not over characters. That is also what torch does on three axes when `dim` is left out. "
            "The characters are the last axis.",
            replace=(LOG_SOFTMAX, "output = F.log_softmax(self.linear(hdec_ts), dim=0)")),
    Fault("decoder", "softmax-before-log-softmax",
            "You take the softmax and then the log-softmax of that. It raises no error, but it flattens every "
            "distribution: no character can get a high probability. Take the log-softmax of the scores alone.",
            replace=(LOG_SOFTMAX, "output = F.log_softmax(F.softmax(self.linear(hdec_ts), dim=-1), dim=-1)")),
    Fault("decoder", "maximum-subtracted-in-the-sum-only",
            "You subtract the largest score inside the sum of exponentials only, so each log-probability is too "
            "large by this score. Subtract it from the score itself, too.",
            replace=(LOG_SOFTMAX,
                     "scores = self.linear(hdec_ts)\n"
                     "        lowered = scores - scores.amax(dim=-1, keepdim=True)\n"
                     "        output = scores - lowered.exp().sum(dim=-1, keepdim=True).log()")),
    Fault("decoder", "maximum-subtracted-twice",
            "You subtract the largest score from each score, and then the log-sum-exp of the scores as they were "
            "before. Take that of the lowered scores: otherwise the probabilities do not add up to 1.",
            replace=(LOG_SOFTMAX,
                     "scores = self.linear(hdec_ts)\n"
                     "        lowered = scores - scores.amax(dim=-1, keepdim=True)\n"
                     "        output = lowered - scores.logsumexp(dim=-1, keepdim=True)")),
    Fault("decoder", "one-maximum-for-all",
            "You subtract one number from the scores of all timesteps and sequences. Where a row lies far below it, "
            "all its exponentials are 0. Each row has a maximum of its own; `log_softmax` takes care of that.",
            replace=(LOG_SOFTMAX, "scores = self.linear(hdec_ts)\n        scores = scores - scores.max()\n"
                                  "        output = scores - scores.exp().sum(dim=-1, keepdim=True).log()")),
    Fault("decoder", "initial-state-detached",
            "The initial state is detached. It is the only path of the gradient to the encoder, so the encoder is "
            "not trained.",
            replace=(STEP, "hdec_ts, hdec_final = self.gru(decoder_input, hdec_init.detach())")),
    Fault("decoder", "without-gradient",
            "No gradient flows back to what your GRU reads and starts from, so the encoder is not trained. "
            "`torch.no_grad()` and `.detach()` do that: they do not belong in `forward`.",
            replace=(STEP,
                     "with torch.no_grad():\n            hdec_ts, hdec_final = self.gru(decoder_input, hdec_init)")),
    Fault("decoder", "last-state-only",
            "There is one prediction for the whole answer, that of the last timestep. Each timestep needs its own: "
            "give the linear layer the states of all timesteps, and return all that comes out.",
            replace=(LOG_SOFTMAX, "output = F.log_softmax(self.linear(hdec_final), dim=-1)")),
    Fault("decoder", "time-axis-squeezed",
            "With a single timestep your output has lost its axis of time. "
            "`squeeze` and an index drop an axis of size one: the output is always `(T, B, V)`.",
            replace=(LOG_SOFTMAX, "output = F.log_softmax(self.linear(hdec_ts), dim=-1).squeeze(0)")),
    Fault("decoder", "state-not-carried",
            "Each of your timesteps starts from `hdec_init` again, so the state contains nothing of the past. "
            "What the GRU returns at one timestep goes in at the next.",
            replace=(STEP,
                     """hdec_ts = torch.cat([self.gru(character[None], hdec_init)[0] for character in decoder_input])
        hdec_final = hdec_ts[-1:]""")),
    Fault("decoder", "scores-without-log-softmax",
            "You return the scores of the linear layer. Log-probabilities are asked for: a log-softmax over the "
            "characters is missing.",
            replace=(LOG_SOFTMAX, "output = self.linear(hdec_ts)")),
    Fault("decoder", "initial-state-ignored",
            "Your decoder starts from zeros, whatever `hdec_init` is. Give `hdec_init` to the GRU.",
            replace=(STEP, "hdec_ts, hdec_final = self.gru(decoder_input)")),
    Fault("decoder", "old-state-returned",
            "The state that you return is `hdec_init`. Return the GRU's last state, from which the next call can go "
            "on.",
            replace=("return output, hdec_final", "return output, hdec_init")),

    # ---------------------------------------------------------------- seq2seq

    Fault("seq2seq", "always-forced",
            "Your model reads the right answer in every mode, with any `teacher_enforce`. "
            "Running freely, it must read what it wrote itself; in inference there is no right answer to read.",
            replace=(IF_FORCED, "if True:")),
    Fault("seq2seq", "never-forced",
            "Your model runs freely even with `teacher_enforce=True`. "
            "With teacher forcing, the decoder reads `decoder_input`.",
            replace=(IF_FORCED, "if False:")),
    Fault("seq2seq", "modes-exchanged",
            "Your two modes are exchanged: with `teacher_enforce` the model runs freely, "
            "and without it the right answer is read. Turn the condition round.",
            replace=(IF_FORCED, "if not teacher_enforce:")),
    Fault("seq2seq", "forced-in-inference",
            "In inference you still read `decoder_input`. There is none: "
            "the answer is not known yet, so the model has to run freely.",
            replace=(IF_FORCED, "if teacher_enforce or inference:")),
    Fault("seq2seq", "nothing-when-running-freely",
            "Running freely outside of inference, your `forward` returns None. Look at which `if` each `else` and each "
            "`return` belongs to: the indentation decides which of them is reached.",
            replace=("        B, V = encoder_input.shape[1]",
                     "        if not inference:\n            return None\n        B, V = encoder_input.shape[1]")),
    Fault("seq2seq", "output-never-made",
            "Running freely, `output` does not exist yet when you use it: no line that makes it has run. Perhaps "
            "another name is meant, or an `else` belongs to another `if`.",
            replace=("        B, V = encoder_input.shape[1]",
                     "        if not inference:\n            return output\n        B, V = encoder_input.shape[1]")),
    Fault("seq2seq", "fed-back-in-inference-only",
            "Running freely outside of inference, the decoder reads `GO` at every timestep: the prediction does not "
            "go back in. Look at the line that feeds it back, and at the `if` or `else` above it: "
            "by its indentation it may belong to the `if` of inference or of `EOS`, and it must not.",
            replace=(FED_BACK, """            predicted = output.argmax(-1)
            if inference:
                if predicted.item() == self.decoder_char_index[self.EOS]:
                    break
                else:
                    written = predicted
""")),
    Fault("seq2seq", "fed-back-in-training-only",
            "In inference the decoder reads `GO` at every timestep: the prediction does not go back in. "
            "The line that feeds it back must run in inference, too. Look at the `if` or `else` above it.",
            replace=(FED_BACK, """            predicted = output.argmax(-1)
            if inference:
                if predicted.item() == self.decoder_char_index[self.EOS]:
                    break
            else:
                written = predicted
""")),
    Fault("seq2seq", "never-fed-back",
            "Your decoder reads `GO` at every timestep: the prediction never goes back in. "
            "Update what is read *inside* the loop (an `else` at the indentation of `for` runs once, after the loop).",
            replace=(FED_BACK,
                     """            if inference and output.argmax(-1).item() == self.decoder_char_index[self.EOS]:
                break
""")),
    Fault("seq2seq", "state-not-carried",
            "Every turn of your loop starts from the encoder's last state again, "
            "so all that was written is forgotten, but for the last character. "
            "The state that the decoder returns goes in at the next turn.",
            replace=(CALL, "output, _ = self.decoder(F.one_hot(written, V).float(), hidden, henc_ts)")),
    Fault("seq2seq", "state-carried-in-inference-only",
            "Running freely outside of inference, your loop starts every timestep from the encoder's last state. "
            "The line that updates the state must run at every turn: look at its indentation.",
            replace=[(CALL, "output, new = self.decoder(F.one_hot(written, V).float(), hidden, henc_ts)"),
                     ("outputs.append(output)",
                      "outputs.append(output)\n            hidden = new if inference else hidden")]),
    Fault("seq2seq", "log-probabilities-fed-back", OUTPUT_FED_BACK,
            replace=[(CALL, "output, hidden = self.decoder(fed, hidden, henc_ts)"),
                     (START, START + "\n        fed = F.one_hot(written, V).float()"),
                     ("            written = output.argmax(-1)\n",
                      "            written = output.argmax(-1)\n            fed = output\n")]),
    Fault("seq2seq", "probabilities-fed-back", OUTPUT_FED_BACK,
            replace=[(CALL, "output, hidden = self.decoder(fed, hidden, henc_ts)"),
                     (START, START + "\n        fed = F.one_hot(written, V).float()"),
                     ("            written = output.argmax(-1)\n",
                      "            written = output.argmax(-1)\n            fed = output.exp()\n")]),
    Fault("seq2seq", "first-of-the-batch-fed-back",
            "All answers of the batch go on with the character that the *first* one chose. The arg-max is `(1, B)`: "
            "keep one character per answer (`.item()` and `[0, 0]` keep one only).",
            replace=("            written = output.argmax(-1)\n",
                     "            written = output[:, :1].argmax(-1).expand(1, B)\n")),
    Fault("seq2seq", "item-of-a-batch",
            "`.item()` needs exactly one number, and you call it for every batch. Only inference has a batch of one: "
            "test `inference` first, then the character. What is fed back needs one character per answer.",
            replace=(IF_ENDED, "if written.item() == self.decoder_char_index[self.EOS] and inference:")),
    Fault("seq2seq", "drawn-instead-of-most-likely",
            "You draw the next character at random from the distribution. "
            "Take the most likely one (greedy decoding), so that the same question has the same answer.",
            replace=("            written = output.argmax(-1)\n",
                     "            written = torch.multinomial(output.detach()[0].exp(), 1).T\n")),
    Fault("seq2seq", "starts-from-zeros",
            "The first thing your decoder reads is a row of zeros. It must be `GO`, "
            "which marks the beginning of an answer.",
            replace=(CALL,
                     "output, hidden = self.decoder("
                     "F.one_hot(written, V).float() * (len(outputs) > 0), hidden, henc_ts)")),
    Fault("seq2seq", "starts-from-eos",
            "Your decoder starts from character number 0, which is `EOS`. It must read `GO` first: "
            "look its number up in `self.decoder_char_index`.",
            replace=(START, "written = torch.zeros(1, B, dtype=torch.long, device=self.device)")),
    Fault("seq2seq", "no-stop",
            "In inference your model goes on after `EOS`. Leave the loop when `EOS` is written. "
            "(An arg-max is a number: it is never equal to the character `self.EOS`.)",
            replace=(IF_ENDED, "if False:")),
    Fault("seq2seq", "one-timestep-after-eos",
            "In inference your answer has one timestep after `EOS`, as when you look at the character that was read. "
            "Leave the loop as soon as `EOS` is written.",
            replace=[("outputs.append(output)\n", "outputs.append(output)\n            read = written\n"),
                     ("written.item() == self", "read.item() == self")]),
    Fault("seq2seq", "stops-at-go",
            "In inference your answer stops where `GO` is written. Only `EOS` should end it: look at the condition "
            "of your `break`, and at its indentation.",
            replace=(IF_ENDED, "if inference and written.item() == self.decoder_char_index[self.GO]:")),
    Fault("seq2seq", "stops-in-training",
            "You stop at `EOS` outside of inference too. In training the loss compares all T timesteps: "
            "only inference ends early.",
            replace=(IF_ENDED, "if (written == self.decoder_char_index[self.EOS]).all():")),
    Fault("seq2seq", "needs-the-answer-to-start",
            "In inference you index `decoder_input`, which is `None` there: no answer is known. Make the row of `GO` "
            "yourself (its number is in `self.decoder_char_index`); then read what the model writes.",
            replace=(START, "written = decoder_input[:1].argmax(-1)")),
    Fault("seq2seq", "first-slot-of-zeros",
            "The first row of your output is zeros, and each prediction stands one timestep too late. "
            "Timestep 0 of the output is what the decoder writes after it has read `GO`.",
            replace=[(STATE, "hidden, outputs = henc_final, [torch.zeros(1, B, V, device=self.device)]"),
                     (LOOP, "for _ in range(self.max_decoder_sequence_length - 1):")]),
    Fault("seq2seq", "last-timestep-only",
            "You return the log-probabilities of the last timestep only. Collect those of all timesteps.",
            replace=(JOINED, "return output")),
    Fault("seq2seq", "characters-instead-of-log-probabilities",
            "Running freely, you return the chosen characters as one-hot rows. "
            "The loss needs the log-probabilities they were chosen from, and no gradient passes an arg-max.",
            replace=(JOINED, "return F.one_hot(torch.cat(outputs).argmax(-1), V).float()")),
    Fault("seq2seq", "encoder-unused",
            "Your decoder starts from zeros and gets nothing of the question. Hand it the encoder's last state.",
            replace=("henc_ts, henc_final = self.encoder(encoder_input)",
                     "henc_ts, henc_final = self.encoder(encoder_input)\n"
                     "        henc_final = torch.zeros_like(henc_final)")),
    Fault("seq2seq", "read-backwards-again",
            "You reverse the question before the encoder. The strings were reversed when the data were made; "
            "two times backwards is forwards.",
            replace=("henc_ts, henc_final = self.encoder(encoder_input)",
                     "henc_ts, henc_final = self.encoder(encoder_input.flip(0))")),
    Fault("seq2seq", "encoder-detached",
            "No gradient reaches the encoder, so it would never learn: its last state is detached before the decoder "
            "gets it, by `.detach()` or by `torch.no_grad()`, for example.",
            replace=("henc_ts, henc_final = self.encoder(encoder_input)",
                     "henc_ts, henc_final = self.encoder(encoder_input)\n        henc_final = henc_final.detach()")),
    Fault("seq2seq", "state-detached-each-step", DETACHED_STATE,
            replace=(CALL, CALL + "\n            hidden = hidden.detach()")),
    Fault("seq2seq", "state-detached-before-each-step", DETACHED_STATE,
            replace=(CALL, CALL.replace("hidden, henc_ts", "hidden.detach(), henc_ts"))),
    Fault("seq2seq", "reads-what-it-must-write",
            "With teacher forcing your decoder reads the *target*: "
            "at each timestep it sees the very character it has to predict. "
            "In training it can copy; running freely it cannot. "
            "It must read `decoder_input` as it is, with `GO` in front.",
            replace=(FORCED,
                     "output, _ = self.decoder(torch.cat([decoder_input[1:], torch.zeros_like(decoder_input[:1])]), "
                     "henc_final, henc_ts)")),
    Fault("seq2seq", "forced-state-not-carried",
            "With teacher forcing your loop starts each timestep from the encoder's last state. "
            "Carry the state from step to step, or give the decoder the whole answer in one call.",
            replace=(FORCED,
                     "output = torch.cat([self.decoder(row[None], henc_final, henc_ts)[0] for row in decoder_input])")),
    Fault("seq2seq", "wrong-vocabulary",
            "Your one-hot rows have as many columns as the *question's* alphabet. "
            "What the decoder reads and writes is counted by `self.decoder_vocabulary_size`.",
            replace=("V = encoder_input.shape[1], self.decoder_vocabulary_size",
                     "V = encoder_input.shape[1], self.encoder_vocabulary_size")),
    Fault("seq2seq", "not-returned",
            "Running freely, your `forward` returns None. "
            "A `return` belongs behind the loop, with the log-probabilities of all timesteps.",
            replace=(JOINED, "torch.cat(outputs)")),
    Fault("seq2seq", "forced-if-an-answer-is-given",
            "In inference your model reads `decoder_input` where it is given. It should run freely there.",
            replace=(IF_FORCED, "if teacher_enforce and decoder_input is not None:")),
    Fault("seq2seq", "reads-the-answer-if-given",
            "Without `teacher_enforce`, your decoder reads `decoder_input`. It should read what it wrote itself.",
            replace=(IF_FORCED, "if decoder_input is not None and not inference:")),
    Fault("seq2seq", "length-of-the-question",
            "Running freely, you make as many timesteps as the longest question has. "
            "An answer has `self.max_decoder_sequence_length`.",
            replace=(LOOP, LOOP.replace("decoder", "encoder"))),
    Fault("seq2seq", "one-timestep-short",
            "Running freely, the last timestep is missing in your output. There should be "
            "`self.max_decoder_sequence_length`.",
            replace=(LOOP, "for _ in range(self.max_decoder_sequence_length - 1):")),
    Fault("seq2seq", "go-in-the-output",
            "The first row of your output is that of `GO`. It should be what the decoder writes after it has read "
            "`GO`.",
            replace=(STATE, "hidden, outputs = henc_final, [F.one_hot(written, V).float()]")),
    Fault("seq2seq", "free-run-from-zeros",
            "Running freely, your decoder starts from zeros and gets nothing of the question. "
            "It starts from the encoder's last state.",
            replace=(STATE, "hidden, outputs = torch.zeros_like(henc_final), []")),

    # ---------------------------------------------------------------- exact match

    Fault("exact-match", "divided-by-the-timesteps",
            "You divide by the number of timesteps, T. Divide by the number of answers, B.",
            replace=(".all(dim=0).float().mean().item()", ".all(dim=0).sum().item() / len(target)")),
    Fault("exact-match", "share-of-characters",
            "You take the share of right characters. An answer is right only if all its characters are, and the "
            "share is that of answers.",
            replace=("return (equal | ended).all(dim=0).float().mean().item()",
                     "return ((equal & ~ended).sum() / (~ended).sum()).item()")),
    Fault("exact-match", "eos-not-compared",
            "The timestep of EOS is not compared, so an answer that goes on where it should end counts as right.",
            replace=("target.sum(-1) == 0", "target.argmax(-1) == 0")),
    Fault("exact-match", "padding-compared",
            "You compare what stands after EOS, too. An answer is right if it is the same up to and including EOS.",
            replace=("(equal | ended).all", "equal.all")),
    Fault("exact-match", "up-to-the-shorter-answer",
            "You compare two answers only as far as the shorter one goes, as `zip` does: so the beginning of an answer "
            "counts as right, and so does one that goes on after it. Both must have the same length, too.",
            source='''def exact_match(output, target):
    def written(numbers):
        return numbers[:numbers.index(0)] if 0 in numbers else numbers

    rows = zip(output.argmax(-1).T.tolist(), target.argmax(-1).T.tolist())
    right = [all(one == other for one, other in zip(written(own), written(true))) for own, true in rows]
    return sum(right) / len(right)'''),
    Fault("exact-match", "beginning-is-enough",
            "An answer that stops too early counts as right, if it is right so far. EOS must stand where it stands in "
            "the target.",
            body="""
right = 0
for own, true in zip(output.argmax(-1).T.tolist(), target.argmax(-1).T.tolist()):
    length = own.index(0) if 0 in own else len(own)
    right += own[:length] == true[:length]
return right / target.shape[1]"""),
    Fault("exact-match", "probability-above-one-half",
            "A character counts as written only if its probability is above one half. It is the most likely one that "
            "is written, however low its probability.",
            replace=("equal = output.argmax(-1) == target.argmax(-1)",
                     "equal = (output.exp().round() == target).all(-1)")),
    Fault("exact-match", "all-over-the-batch",
            "You ask at each timestep whether all answers are right there. Ask for each answer whether it is right at "
            "all timesteps.",
            replace=("all(dim=0)", "all(dim=1)")),
    Fault("exact-match", "whole-batch-at-once",
            "You ask whether all answers of the batch are right together, so your result is 0 or 1. Ask it for each "
            "answer, then take the share.",
            replace=("(equal | ended).all(dim=0).float().mean().item()", "float((equal | ended).all())")),
    Fault("exact-match", "share-of-timesteps",
            "You take the share of timesteps that are right, those after EOS included. An answer is right only if all "
            "its characters are, and the share is that of answers.",
            replace=(".all(dim=0)", "")),
]
