"""Inference is another program, and beam search."""

from kit import Drawing, figure


@figure("lstm_training_pass", "The training pass with LSTMs", """
    Encoder LSTM cells read 9, 4, +, 8 and hand on two states each, h (upper arrow) and c (lower arrow).
    The last pair, encoder states, starts the decoder, whose cells read =, 1, 0, 2 from the true answer.
    Each decoder state goes through a softmax layer, and is compared with the target 1, 0, 2, EOS.""")
def lstm_training_pass():
    d = Drawing(1000, 440)
    d.title("Training: one pass over the whole answer, teacher-forced")
    y = 240
    before = None
    xs = [66 + 86 * i for i in range(4)] + [500 + 118 * i for i in range(4)]
    reads, writes = "94+8=102", "102⏎"
    for i, (x, read) in enumerate(zip(xs, reads, strict=True)):
        role = "encoder" if i < 4 else "decoder"
        cell = d.box(x, y, 58, 64, "LSTM", role, 14, bold=True)
        token = d.token(x, y + 98, read, w=44)
        d.arrow(token.top, cell.bottom)
        if before:
            colour = "encoder" if i <= 4 else "decoder"
            for dy, name in ((-16, "h"), (16, "c")):
                d.arrow((before.x + 29, y + dy), (x - 29, y + dy), role=colour)
                if i in (1, 5):
                    d.text((before.x + x) / 2 - 2, y + dy - 6, name, colour, 15, kind="math")
        if i >= 4:
            dense = d.box(x, y - 92, 84, 40, "softmax", "output", 14, bold=True)
            target = d.token(x, y - 164, writes[i - 4], "output", w=44)
            d.arrow(cell.top, dense.bottom, role="decoder")
            d.arrow(dense.top, target.bottom, role="output")
        before = cell
    d.text(412, y - 26, "h: (1, B, H)", "encoder", 12.5, kind="mono")
    d.text(412, y + 40, "c: (1, B, H)", "encoder", 12.5, kind="mono")
    d.text(412, y + 4, "encoder_states", "encoder", 12.5, kind="mono")
    d.text(195, y + 140, "encoder: the expression", "encoder", 14)
    d.text(677, y + 140, "decoder: the true answer, from GO on", "decoder", 14)
    d.text(440, y - 159, "target", "output", 14, anchor="end")
    d.text(440, y - 87, "(T, B, V)", "output", 12.5, anchor="end", kind="mono")
    d.text(195, y + 172, "its last states start the decoder", "soft", 13.5)
    return d


@figure("inference_step", "Two programs for inference", """
    Left, the encoder model, called once: the sequence goes in, the states (h, c) come out. Right, the
    decoder step model, called in a loop: one token and (h, c) go in, the distribution over the next
    token and the new (h, c) come out. Two dashed arrows lead back: the arg-max token and the new states
    are the next step's input. The loop stops at EOS or at the maximum length.""")
def inference_step():
    d = Drawing(980, 460)
    d.title("Inference: the encoder once, the decoder step in a loop")
    d.frame(30, 70, 308, 400, "encoder model · once", "encoder")
    word = d.token(169, 350, "9 4 + 8", w=110)
    encoder = d.box(169, 225, 120, 62, "LSTM", "encoder", 17, bold=True)
    d.arrow(word.top, encoder.bottom, label="(S, B, V_enc)")
    d.frame(422, 70, 950, 400, "decoder step model · decode_sequence calls it until EOS", "decoder")
    cell = d.box(580, 225, 120, 62, "LSTM", "decoder", 17, sub="one step", bold=True)
    d.arrow(encoder.right, cell.left, role="encoder")
    d.text(365, 215, "(h, c)", "encoder", 13.5, halo=True)
    d.text(365, 247, "2 × (1, B, H)", "encoder", 12.5, kind="mono", halo=True)
    token = d.token(580, 345, "=", w=50)
    d.arrow(token.top, cell.bottom, label="(1, B, V_dec)", side="left")
    soft = d.box(760, 225, 104, 62, "softmax", "output", 15, sub="over V", bold=True)
    d.arrow(cell.right, soft.left, role="decoder", label="h", kind="math", size=16)
    out = d.token(894, 225, "1", "output", w=50)
    d.arrow(soft.right, out.left, role="output")
    d.text(838, 186, "arg-max", "output", 13.5)
    d.arrow(out.bottom, (894, 345), token.right, role="output", dashed=True, label="next input, as one-hot", kind="",
            side="above")
    d.arrow((610, 194), (610, 136), (550, 136), (550, 194), role="decoder", dashed=True)
    d.text(580, 126, "new (h, c)", "decoder", 13.5)
    d.text(670, 434, "stop at ⏎, or after the maximum length", "soft", 13.5)
    d.text(169, 434, "the same weights as in training", "soft", 13.5)
    return d


@figure("beam_tree", "Beam search of width two", """
    A tree of partial answers to 94+8 with their summed log-probabilities. After GO, 9 has −0.6 and 1 has
    −0.9; both are kept. Next, 10 reaches −1.1 and 91 −2.0 and are kept; 92 with −2.2 and 11 with −2.8
    are dropped. Next, 102 reaches −1.2 and 91 EOS −2.7 and are kept; 918 with −3.2 and 103 with −3.5 are
    dropped. Finally 102 EOS ends with −1.3 and wins. Greedy decoding would have followed 9 and ended
    with 91 and −2.7.""")
def beam_tree():
    d = Drawing(980, 480)
    d.title("Beam search, width 2: keep the two best sums of log-probabilities at every step")
    nodes = {
        "=": (70, 240, "", None, True),
        "9": (230, 160, "−0.6", "=", True), "1": (230, 330, "−0.9", "=", True),
        "91": (420, 120, "−2.0", "9", True), "92": (420, 195, "−2.2", "9", False),
        "10": (420, 300, "−1.1", "1", True), "11": (420, 380, "−2.8", "1", False),
        "91⏎": (620, 90, "−2.7", "91", True), "918": (620, 160, "−3.2", "91", False),
        "102": (620, 270, "−1.2", "10", True), "103": (620, 345, "−3.5", "10", False),
        "102⏎": (820, 270, "−1.3", "102", True),
    }
    drawn = {}
    for name, (x, y, score, parent, kept) in nodes.items():
        role = "output" if name in ("102⏎",) else "decoder" if kept else "soft"
        drawn[name] = d.token(x, y, name, role, w=74)
        if parent:
            d.arrow(drawn[parent].right, drawn[name].left, role="decoder" if kept else "soft")
        if score:
            d.text(x, y + 33, score if kept else f"{score} dropped", role, 13, kind="mono")
    d.text(70, 290, "GO: 0.0", "soft", 13, kind="mono")
    d.text(820, 240, "the best answer", "output", 14, bold=True)
    d.text(672, 95, "ended: what greedy decoding finds", "decoder", 13.5, anchor="start")
    for x, label in ((230, "step 0"), (420, "step 1"), (620, "step 2"), (820, "step 3")):
        d.text(x, 440, label, "soft", 13.5)
    return d
