"""An encoder and a decoder on arithmetic."""

from kit import Drawing, figure

ENCODER_ALPHABET = "%*+-/0123456789"
DECODER_ALPHABET = "⏎-.0123456789="


def sheet(d, left, top, tokens, alphabet, role, cell=28, name="", depth=2):
    """A one-hot tensor (T, B, V): the rows are timesteps, the columns characters, the sheets behind it the batch."""
    wide, high = cell * len(alphabet), cell * len(tokens)
    for k in range(depth, 0, -1):
        d.rect(left + wide / 2 + 9 * k, top + high / 2 - 9 * k, wide, high, "data", extra=" thin")
    d.rect(left + wide / 2, top + high / 2, wide, high, "data", extra=" thin")
    for t, token in enumerate(tokens):
        y = top + (t + 0.5) * cell
        for v, character in enumerate(alphabet):
            x = left + (v + 0.5) * cell
            if character == token:
                d.rect_filled(x, y, cell, cell, role)
            else:
                d.rect(x, y, cell, cell, "data", extra=" thin")
        d.text(left - 12, y + 5, token or "–", role if token else "soft", 15, anchor="end", kind="mono",
               bold=bool(token))
    for v, character in enumerate(alphabet):
        d.text(left + (v + 0.5) * cell, top + high + 18, character, "soft", 12.5, kind="mono")
    if name:
        d.text(left + wide / 2, top - 34, name, role, 15, bold=True)
    return wide, high


@figure("encoder_input", "The encoder's input", """
    The expression 94+8 is reversed to 8+49 and written as a tensor of shape (T enc, B, V enc). Each row
    is a timestep and has a single 1, in the column of its character; the columns are the 15 characters
    of the encoder's alphabet. The first four rows are 8, +, 4, 9; the last three are empty, all zeros.
    The sheets behind it are the other expressions of the batch.""")
def encoder_input():
    d = Drawing(940, 400)
    d.title("An expression becomes one-hot rows")
    raw = d.token(110, 150, "94+8", w=90)
    reverse = d.token(110, 240, "8+49", "encoder", w=90)
    d.arrow(raw.bottom, reverse.top, label="reversed", kind="")
    wide, high = sheet(d, 340, 110, ["8", "+", "4", "9", "", "", ""], ENCODER_ALPHABET, "encoder", cell=30)
    d.arrow(reverse.right, (298, 240), role="encoder", label="one row each", kind="")
    d.text(340 + wide / 2, 76, "encoder_input: (T_enc, B, V_enc)", "encoder", 15, bold=True)
    d.arrow((830, 118), (830, 312), label="T_enc = 7", role="data")
    d.text(830, 96, "B sheets", "soft", 12.5, anchor="start", kind="mono")
    d.text(340 + wide / 2, 372, "V_enc = 15 characters; a row without a character is all zeros", "soft", 13.5)
    return d


@figure("decoder_input_forced", "The decoder's input when it is teacher-forced", """
    Two tensors of shape (T dec, B, V dec) side by side, for the answer 102. The decoder input reads
    GO (written =), 1, 0, 2, EOS (written as a return arrow), then zero rows. The target reads 1, 0, 2,
    EOS, then zero rows: the same answer, one step earlier. At each step the decoder sees the true
    previous character and has to predict the next one.""")
def decoder_input_forced():
    d = Drawing(980, 400)
    d.title("Teacher forcing: the input is the answer, the target is the answer one step earlier")
    wide, high = sheet(d, 84, 130, ["=", "1", "0", "2", "⏎", "", ""], DECODER_ALPHABET, "decoder", cell=25,
                       name="decoder_input: (T_dec, B, V_dec)")
    sheet(d, 582, 130, ["1", "0", "2", "⏎", "", "", ""], DECODER_ALPHABET, "output", cell=25,
          name="target: (T_dec, B, V_dec)")
    for t in range(4):
        y = 130 + 25 * (t + 0.5)
        d.arrow((84 + wide + 28, y), (544, y), role="output")
    d.text(500, 252, "predict", "output", 13.5)
    d.text(40, 130 + high + 62, "GO is “=”, EOS is “⏎” and has index 0: an empty row arg-maxes to EOS", "soft", 13.5,
           anchor="start")
    return d


@figure("decoder_input_one_step", "The decoder fed one step at a time", """
    Two steps, one below the other. First the one-hot row of GO, of shape (1, B, V dec), goes into the
    decoder, which gives a distribution over the 14 characters; the tallest bar is 1. Its arg-max, as a
    one-hot row, is the input of the second step, and the hidden state is carried over.""")
def decoder_input_one_step():
    d = Drawing(980, 450)
    d.title("Free running: the decoder reads what it wrote")
    cell, left = 20, 40
    heights = ([2, 1, 1, 3, 40, 6, 2, 2, 1, 3, 2, 2, 5, 1], [3, 1, 2, 42, 4, 3, 1, 2, 2, 1, 4, 2, 3, 1])
    centre = left + 7 * cell
    decoders = []
    for row, (hot, tall) in enumerate(zip(("=", "1"), heights, strict=True)):
        y = 150 + 190 * row
        for v, character in enumerate(DECODER_ALPHABET):
            x = left + (v + 0.5) * cell
            (d.rect_filled if character == hot else d.rect)(x, y, cell, cell, "decoder")
            d.text(x, y + 29, character, "soft", 12, kind="mono")
        read = "timestep 0: GO as one-hot" if row == 0 else "timestep 1: the arg-max of timestep 0 as one-hot"
        d.text(left, y - 22, read, "decoder", 13.5, anchor="start", bold=True)
        decoder = d.box(510, y, 104, 54, "decoder", "decoder", bold=True)
        decoders.append(decoder)
        d.arrow((left + 14 * cell, y), decoder.left, role="decoder", label="(1, B, V_dec)", side="above")
        base = y + 22
        for v, (character, h) in enumerate(zip(DECODER_ALPHABET, tall, strict=True)):
            x = 640 + (v + 0.5) * cell
            d.rect_filled(x, base - h / 2, cell - 7, h, "output")
            d.text(x, base + 16, character, "soft", 12, kind="mono")
        d.arrow(decoder.right, (632, y), role="output")
        d.text(640 + 7 * cell, y - 36, "distribution over V_dec: (1, B, V_dec)", "output", 13)
    d.arrow((510, 92), decoders[0].top, role="encoder", label="henc_final", side="right", shift=-8)
    d.arrow(decoders[0].bottom, decoders[1].top, role="decoder", label="hidden state (1, B, H)", kind="", shift=46)
    d.arrow((640 + 4.5 * cell, 192), (640 + 4.5 * cell, 240), (centre, 240), (centre, 302), role="output", dashed=True,
            label="arg-max, as one-hot", kind="", shift=-90, over=True)
    d.text(centre, 412, "… at most T_dec steps; at inference, stop at ⏎", "soft", 13.5)
    return d


@figure("decoder_without_attention", "The decoder without attention", """
    From left to right: the decoder input (T, B, V) and the initial state hdec init (1, B, H) go into a
    GRU; its hidden states hdec ts (T, B, H) go through a linear layer and a log-softmax over the
    vocabulary, which gives the output (T, B, V). The GRU's last state leaves as hdec final (1, B, H).""")
def decoder_without_attention():
    d = Drawing(980, 330)
    d.title("Decoder: GRU, linear, log-softmax")
    y = 180
    word = d.token(90, y, "decoder_input", "data", w=132, size=13.5)
    gru = d.box(310, y, 90, 60, "GRU", "decoder", 17, bold=True)
    linear = d.box(540, y, 90, 60, "linear", "output", 17, bold=True)
    soft = d.box(730, y, 116, 60, "log_softmax", "output", 15, sub="over V", bold=True)
    out = d.token(905, y, "output", "output", w=84)
    d.arrow(word.right, gru.left, label="(T, B, V)")
    d.arrow((310, 80), gru.top, role="encoder", label="hdec_init (1, B, H)")
    d.arrow(gru.bottom, (310, 284), role="decoder", label="hdec_final (1, B, H)")
    d.arrow(gru.right, linear.left, role="decoder", label="hdec_ts")
    d.text(425, y + 20, "(T, B, H)", "decoder", 12.5, kind="mono")
    d.arrow(linear.right, soft.left, role="output", label="(T, B, V)", side="above")
    d.arrow(soft.right, out.left, role="output")
    d.text(905, y + 34, "(T, B, V)", "output", 12.5, kind="mono")
    d.text(905, 284, "T may be all steps, or one", "soft", 13.5, anchor="end")
    return d


def unrolled(d, y, source, inputs, outputs, step=86, attention=False):
    """Encoder and decoder cells with their tokens; returns the (encoder, decoder, input, output) boxes."""
    encoder, decoder, below, above = [], [], [], []
    before = None
    for i, character in enumerate(source):
        x = 66 + step * i
        cell = d.box(x, y, 58, 50, "GRU", "encoder", 14, bold=True)
        token = d.token(x, y + 96, character, w=44)
        d.arrow(token.top, cell.bottom)
        if before:
            d.arrow(before.right, cell.left, role="encoder")
        encoder.append(cell)
        before = cell
    start = 66 + step * len(source) + 110
    for i, (read, written) in enumerate(zip(inputs, outputs, strict=True)):
        x = start + (step + 22) * i
        cell = d.box(x, y, 58, 50, "GRU", "decoder", 14, bold=True)
        token = d.token(x, y + 96, read, "data", w=44)
        out = d.token(x, y - (205 if attention else 96), written, "output", w=44)
        d.arrow(token.top, cell.bottom)
        if not attention:
            d.arrow(cell.top, out.bottom, role="output")
        d.arrow(before.right, cell.left, role="encoder" if i == 0 else "decoder")
        decoder.append(cell)
        below.append(token)
        above.append(out)
        before = cell
    between = (encoder[-1].x + decoder[0].x) / 2
    d.text(between, y - 10, "henc_final", "encoder", 12.5, kind="mono")
    d.text(between, y + 19, "(1, B, H)", "encoder", 12.5, kind="mono")
    d.text((encoder[0].x + encoder[-1].x) / 2, y + 136, "encoder reads “94+8” reversed", "encoder", 14)
    return encoder, decoder, below, above


@figure("seq2seq_forced", "The whole model, teacher-forced", """
    Four encoder cells read 8, +, 4, 9; the last state, henc final of shape (1, B, H), starts the
    decoder. Four decoder cells read =, 1, 0, 2, which come from the true answer, whatever the decoder
    predicts, and write 1, 0, 2, EOS. All steps are one call on the whole input.""")
def seq2seq_forced():
    d = Drawing(980, 376)
    d.title("Teacher forcing: every input is the truth")
    _, decoder, below, above = unrolled(d, 190, "8+49", "=102", "102⏎")
    d.frame(below[0].x - 50, 254, below[-1].x + 50, 352, "")
    d.text((below[0].x + below[-1].x) / 2, 336, "from the true answer: one call, (T_dec, B, V_dec)", "page", 13.5)
    d.text(above[0].x - 40, 99, "predicted", "output", 14, anchor="end")
    return d


@figure("seq2seq_free", "The whole model, running free", """
    The same encoder and decoder. Only the first decoder input, =, is given. From then on a dashed arrow
    leads from each output to the next input: 1, 0, 2 are the decoder's own predictions. The loop ends
    with EOS or after T dec steps.""")
def seq2seq_free():
    d = Drawing(980, 356)
    d.title("Free running: every input is the last prediction")
    _, decoder, below, above = unrolled(d, 190, "8+49", "=102", "102⏎")
    for out, token in zip(above[:-1], below[1:], strict=True):
        x = (out.x + token.x) / 2
        d.arrow(out.right, (x, out.y), (x, token.y), token.left, role="output", dashed=True, over=True)
    d.text(above[-1].x + 34, 99, "stop", "output", 14, anchor="start")
    d.text(below[0].x, 330, "GO", "page", 14)
    d.text((below[1].x + below[-1].x) / 2, 330, "its own arg-max, as one-hot, step by step", "output", 13.5)
    return d
