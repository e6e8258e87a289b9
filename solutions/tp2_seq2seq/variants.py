"""Right answers of session 2 that look different from the solution."""

from autograder.authoring import Variant

from .faults import FORCED, LOG_SOFTMAX, SHIFT

VARIANTS = [
    Variant("shift", "filled in", replace=(SHIFT, """target = torch.zeros_like(decoder_input)
    target[:-1] = decoder_input[1:]
    return target""")),
    Variant("shift", "roll, then zero", replace=(SHIFT, """target = torch.roll(decoder_input, -1, 0)
    target[-1] = 0
    return target""")),
    Variant("shift", "step by step", replace=(SHIFT, """T, B, V = decoder_input.shape
    rows = [decoder_input[step + 1] for step in range(T - 1)] + [torch.zeros(B, V, device=decoder_input.device)]
    return torch.stack(rows)""")),
    Variant("shift", "padded", replace=(SHIFT, "return F.pad(decoder_input, (0, 0, 0, 0, 0, 1))[1:]")),

    Variant("encoder", "one line", body="return self.gru(encoder_input, henc_init)"),
    Variant("encoder", "one character at a time", body="""
hidden, states = henc_init, []
for character in encoder_input:
    output, hidden = self.gru(character.unsqueeze(0), hidden)
    states.append(output)
return torch.cat(states, dim=0), hidden"""),
    Variant("encoder", "last state cut out", body="""
henc_ts, _ = self.gru(encoder_input) if henc_init is None else self.gru(encoder_input, henc_init)
return henc_ts, henc_ts[-1].unsqueeze(0)"""),
    Variant("encoder", "filled in", body="""
T, B, _ = encoder_input.shape
h = henc_init if henc_init is not None else encoder_input.new_zeros(1, B, self.hidden_size)
henc_ts = encoder_input.new_zeros(T, B, self.hidden_size)
for t in range(T):
    out, h = self.gru(encoder_input[t:t + 1], h)
    henc_ts[t] = out[0]
return [henc_ts, h]"""),

    Variant("decoder", "layer of torch", replace=(LOG_SOFTMAX, "output = nn.LogSoftmax(dim=2)(self.linear(hdec_ts))")),
    Variant("decoder", "minus the logarithm of the sum",
            replace=(LOG_SOFTMAX, "logits = self.linear(hdec_ts)\n"
                     "        output = logits - torch.logsumexp(logits, dim=2, keepdim=True)")),
    Variant("decoder", "one character at a time", body="""
hidden, outputs = hdec_init, []
for t in range(decoder_input.size(0)):
    state, hidden = self.gru(decoder_input[t].unsqueeze(0), hidden)
    outputs.append(F.log_softmax(self.linear(state[0]), dim=1))
return torch.stack(outputs), hidden"""),
    Variant("decoder", "flattened", body="""
hdec_ts, hdec_final = self.gru(decoder_input, hdec_init)
T, B, H = hdec_ts.shape
output = F.log_softmax(self.linear(hdec_ts.reshape(T * B, H)), dim=1)
return output.view(T, B, self.output_size), hdec_final"""),
    Variant("decoder", "matrix product", body="""
hdec_ts, _ = self.gru(decoder_input, hdec_init)
scores = torch.einsum("tbh,vh->tbv", hdec_ts, self.linear.weight) + self.linear.bias
return scores.log_softmax(-1), hdec_ts[-1:]"""),

    Variant("seq2seq", "teacher forcing step by step", replace=(FORCED, """outputs, hidden = [], henc_final
            for row in decoder_input:
                step, hidden = self.decoder(row.unsqueeze(0), hidden, henc_ts)
                outputs.append(step)
            output = torch.cat(outputs)""")),
    Variant("seq2seq", "one loop for all", body="""
_, hidden = self.encoder(encoder_input)
B = encoder_input.size(1)
x = torch.zeros(1, B, self.decoder_vocabulary_size).to(self.device)
x[:, :, self.decoder_char_index[self.GO]] = 1
outputs = []
for t in range(self.max_decoder_sequence_length):
    if teacher_enforce and not inference:
        x = decoder_input[t:t + 1]
    out, hidden = self.decoder(x, hidden)
    outputs.append(out)
    if inference and self.decoder_index_char[out.argmax().item()] == self.EOS:
        break
    x = torch.zeros_like(out).scatter_(2, out.argmax(dim=2, keepdim=True), 1.0)
return torch.cat(outputs, dim=0)"""),
    Variant("seq2seq", "filled in, one answer at a time", body="""
henc_ts, henc_final = self.encoder(encoder_input)
if inference or not teacher_enforce:
    T, B, V = self.max_decoder_sequence_length, encoder_input.shape[1], self.decoder_vocabulary_size
    output = torch.zeros(T, B, V, device=self.device)
    hdec = henc_final
    last = [self.decoder_char_index[self.GO]] * B
    for t in range(T):
        x = torch.zeros(1, B, V, device=self.device)
        for b in range(B):
            x[0, b, last[b]] = 1
        out, hdec = self.decoder(x, hdec, henc_ts)
        output[t] = out[0]
        last = [int(torch.argmax(out[0, b])) for b in range(B)]
        if inference and last[0] == 0:
            return output[:t + 1]
    return output
else:
    return self.decoder(decoder_input, henc_final, henc_ts)[0]"""),
    Variant("seq2seq", "without the row of EOS", body="""
henc_ts, henc_final = self.encoder(encoder_input)
if teacher_enforce and not inference and decoder_input is not None:
    return self.decoder(decoder_input, henc_final)[0]
one_hot = torch.eye(self.decoder_vocabulary_size, device=self.device)
letter = torch.tensor([self.decoder_char_index[self.GO]] * encoder_input.size(1), device=self.device)
results = torch.empty(0, encoder_input.size(1), self.decoder_vocabulary_size, device=self.device)
state, steps = henc_final, 0
while steps < self.max_decoder_sequence_length:
    prediction, state = self.decoder(one_hot[letter].unsqueeze(0), state)
    letter = prediction[0].max(dim=1)[1]
    if inference and letter[0] == self.decoder_char_index[self.EOS]:
        break
    results = torch.cat((results, prediction))
    steps += 1
return results"""),
    Variant("seq2seq", "the whole prefix each time", body="""
henc_ts, henc_final = self.encoder(encoder_input)
if teacher_enforce and not inference:
    output, _ = self.decoder(decoder_input, henc_ts[-1:], henc_ts)
    return output
prefix = torch.eye(self.decoder_vocabulary_size, device=self.device)[self.decoder_char_index[self.GO]]\
.expand(1, encoder_input.shape[1], -1)
while True:
    output, _ = self.decoder(prefix, henc_final, henc_ts)
    best = output[-1:].argmax(-1)
    if len(output) == self.max_decoder_sequence_length or (inference and best.item() == 0):
        return output
    prefix = torch.cat([prefix, F.one_hot(best, self.decoder_vocabulary_size).float()])"""),

    Variant("exact-match", "answer by answer", body='''
T, B, V = target.shape
right = 0
for b in range(B):
    length = int(target[:, b].sum())
    right += torch.equal(output[:length, b].argmax(-1), target[:length, b].argmax(-1))
return right / B'''),
    Variant("exact-match", "by counting errors", body='''
wrong = (output.argmax(2) != target.argmax(2)) & (target.sum(2) > 0)
return (wrong.sum(0) == 0).float().mean()'''),
    Variant("exact-match", "by counting right characters", body='''
real = target.sum(dim=-1) > 0
right = (output.argmax(-1) == target.argmax(-1)) & real
return (right.sum(dim=0) == real.sum(dim=0)).float().mean().item()'''),
    Variant("exact-match", "as text", body='''
right = []
for written, wanted in zip(output.argmax(-1).T.tolist(), target.argmax(-1).T.tolist()):
    wanted = wanted[:wanted.index(0) + 1]
    right.append(written[:len(wanted)] == wanted)
return np.mean(right)'''),
    Variant("exact-match", "as a product", body='''
counted = target.any(dim=-1)
same = (output.argmax(-1) == target.argmax(-1)).where(counted, torch.ones_like(counted))
return same.float().prod(0).mean()'''),
]
