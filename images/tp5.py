"""A small translator."""

from kit import Drawing, figure

SOURCE = ("the", "red", "cats", "do", "not", "sleep", "⏎")
TARGET = ("les", "chats", "rouges", "ne", "dorment", "pas", "⏎")
ALPHA = (
    (0.78, 0.04, 0.16, 0.01, 0.01, 0.00, 0.00),
    (0.05, 0.06, 0.86, 0.01, 0.01, 0.01, 0.00),
    (0.02, 0.88, 0.08, 0.00, 0.01, 0.01, 0.00),
    (0.00, 0.01, 0.02, 0.32, 0.58, 0.06, 0.01),
    (0.00, 0.00, 0.10, 0.04, 0.05, 0.80, 0.01),
    (0.00, 0.00, 0.01, 0.10, 0.82, 0.06, 0.01),
    (0.00, 0.00, 0.00, 0.01, 0.02, 0.05, 0.92),
)


@figure("additive_attention", "The additive score", """
    The decoder state s goes through the matrix W a, each encoder state h j through U a.
    Their sum goes through tanh, and the vector v a makes one number of it: the score e tj. A softmax
    over the source positions j gives the weights α tj; padding is masked before it. The weighted sum of
    the h j is the context c t.""")
def additive_attention():
    d = Drawing(980, 400)
    d.title("Additive attention: a small network scores each pair")
    top, low = 130, 270
    mid = (top + low) / 2
    s = d.token(72, top, "s", "decoder", w=84)
    h = d.token(72, low, "h_{j}", "encoder", w=84)
    w = d.box(244, top, 76, 48, "W_{a}", "decoder", 18, kind="math")
    u = d.box(244, low, 76, 48, "U_{a}", "encoder", 18, kind="math")
    plus = d.op(360, mid, "+", "attention")
    tanh = d.box(450, mid, 80, 48, "tanh", "attention", 16, bold=True)
    v = d.box(570, mid, 70, 48, "v_{a}^{⊤}", "attention", 18, kind="math")
    soft = d.box(708, mid, 104, 58, "softmax", "attention", 15, sub="over S", bold=True)
    total = d.op(840, mid, "Σ", "attention", r=18, size=18)
    c = d.token(928, mid, "c_{t}", "attention", w=64)
    d.arrow(s.right, w.left, role="decoder")
    d.arrow(h.right, u.left, role="encoder")
    d.text(158, top - 12, "(B, H)", "decoder", 12.5, kind="mono")
    d.text(159, low - 12, "(S, B, H)", "encoder", 12.5, kind="mono")
    d.arrow(w.right, (360, top), plus.top, role="decoder")
    d.arrow(u.right, (360, low), plus.bottom, role="encoder")
    d.arrow(plus.right, tanh.left, role="attention")
    d.arrow(tanh.right, v.left, role="attention")
    d.arrow(v.right, soft.left, role="attention", label="e_{tj}", kind="math", size=17)
    d.text(628, mid + 46, "(B, S)", "attention", 12.5, kind="mono")
    d.arrow(soft.right, total.left, role="attention", label="α_{tj}", kind="math", size=17)
    d.text(792, mid + 46, "(B, S)", "attention", 12.5, kind="mono")
    d.arrow(total.right, c.left, role="attention")
    d.arrow((72, low + 14), (72, 340), (840, 340), total.bottom, role="encoder", label="all h_{j}", kind="math",
            size=16, side="below", shift=120)
    d.arrow((708, 86), soft.top, role="data", label="padding mask: PAD gets weight 0", kind="", side="left", shift=-14)
    d.text(405, 118, "(S, B, H)", "attention", 12.5, kind="mono")
    return d


@figure("bahdanau_model", "The attention model of Bahdanau, Cho and Bengio", """
    A bidirectional encoder makes one state h j per source word, from the left and from the right. For
    each output word, weights α t1 to α t4 say how much of each state enters the context c t. The
    decoder's new state s t is computed from its old state s t−1, the previous word y t−1 and the
    context c t, and predicts the word y t. The weights depend on s t−1, the state before this step.""")
def bahdanau_model():
    d = Drawing(980, 540)
    d.title("A context of its own for every word (after arXiv 1409.0473)")
    xs = [120, 270, 420, 570]
    for j, (x, word) in enumerate(zip(xs, ("the", "red", "cat", "⏎"), strict=True), 1):
        token = d.token(x, 490, word, w=64)
        d.box(x, 415, 82, 34, "←", "encoder", 17, radius=7)
        d.box(x, 377, 82, 34, "→", "encoder", 17, radius=7)
        d.arrow(token.top, (x, 432))
        if j > 1:
            d.arrow((xs[j - 2] + 41, 377), (x - 41, 377), role="encoder")
            d.arrow((x - 41, 415), (xs[j - 2] + 41, 415), role="encoder")
        d.text(x + 10, 345, f"h_{{{j}}}", "encoder", 17, kind="math", anchor="start")
        weight = d.token(x, 290, f"α_{{t{j}}}", "attention", w=66, size=16)
        d.arrow((x, 360), weight.bottom, role="encoder")
    d.frame(72, 264, 618, 316, "", "attention")
    plus = d.op(345, 200, "+", "attention", r=16)
    for x in xs:
        if abs(x - 345) > 100:
            edge = -16 if x < 345 else 16
            d.arrow((x, 276), (x, 200), (345 + edge, 200), role="attention")
        else:
            edge = -11 if x < 345 else 11
            d.arrow((x, 276), (345 + edge, 212), role="attention")
    state = d.box(790, 120, 84, 50, "s_{t}", "decoder", 20, kind="math")
    before = d.box(640, 120, 84, 50, "s_{t−1}", "decoder", 20, kind="math")
    d.arrow(before.right, state.left, role="decoder")
    d.arrow((545, 120), before.left, role="decoder")
    d.arrow(plus.top, (345, 66), (790, 66), state.top, role="attention", label="c_{t}", kind="math", size=17, shift=-90)
    out = d.token(920, 120, "y_{t}", "output", w=62)
    d.arrow(state.right, out.left, role="output")
    given = d.token(790, 230, "y_{t−1}", "data", w=84)
    d.arrow(given.top, state.bottom, role="data")
    d.arrow(before.bottom, (640, 290), (618, 290), role="decoder")
    d.text(654, 262, "scores with", "decoder", 13.5, anchor="start")
    d.text(654, 281, "the state before", "decoder", 13.5, anchor="start")
    d.text(640, 400, "bidirectional encoder:", "encoder", 14, anchor="start")
    d.text(640, 420, "each h_{j} has read both sides", "encoder", 14, anchor="start")
    d.text(640, 495, "h_{j}: (B, H) · α_{t}: (B, S) · c_{t}: (B, H)", "soft", 12.5, anchor="start", kind="mono")
    return d


@figure("sutskever_model", "The encoder–decoder of Sutskever, Vinyals and Le", """
    Two LSTMs of four layers each, drawn as columns of four cells. The first reads the source in
    reversed order: sleeps, cat, the. Its four last states start the second one, which reads GO and then
    its own words and writes le, chat, dort, EOS. Reversing puts the first source word close to the
    first target word.""")
def sutskever_model():
    d = Drawing(980, 470)
    d.title("Four layers, the source reversed (after arXiv 1409.3215)")
    layers = [330, 272, 214, 156]
    reads = ("sleeps", "cat", "the", "GO", "le", "chat", "dort")
    writes = (None, None, None, "le", "chat", "dort", "⏎")
    xs = [130 + 124 * i for i in range(7)]
    for i, (x, read, written) in enumerate(zip(xs, reads, writes, strict=True)):
        role = "encoder" if i < 3 else "decoder"
        token = d.token(x, 400, read, w=84)
        for k, y in enumerate(layers):
            d.box(x, y, 74, 34, "LSTM", role, 13.5, radius=7)
            below = token.top if k == 0 else (x, layers[k - 1] - 17)
            d.arrow(below, (x, y + 17), role="data" if k == 0 else role)
            if i:
                d.arrow((xs[i - 1] + 37, y), (x - 37, y), role="encoder" if i <= 3 else "decoder")
        if written:
            out = d.token(x, 88, written, "output", w=74)
            d.arrow((x, layers[-1] - 17), out.bottom, role="output")
    d.text(xs[1], 446, "source, reversed", "encoder", 14)
    d.text(sum(xs[3:]) / 4, 446, "target, one word later than it is written", "decoder", 14)
    d.text(xs[2] + 4, 124, "(h, c): (4, B, H)", "encoder", 12.5, kind="mono")
    for k, y in enumerate(layers):
        d.text(36, y + 5, f"layer {k + 1}", "soft", 12.5, anchor="start")
    return d


@figure("translation_bottleneck", "Two sentences through the same vector", """
    Above, the short sentence the cat sleeps narrows into a vector and opens again to le chat dort.
    Below, a sentence of nine words has to pass through a vector of exactly the same size, and comes out
    with two words in place of which there is a question mark: what did not fit is lost.""")
def translation_bottleneck():
    d = Drawing(980, 430)
    d.title("A short and a long sentence get the same H numbers")

    def through(y, half, source, target, lost=()):
        narrow = 34
        d.funnel([(300, y - half), (452, y - narrow), (452, y + narrow), (300, y + half)], "encoder")
        d.funnel([(680, y - half), (528, y - narrow), (528, y + narrow), (680, y + half)], "decoder")
        d.vector(490, y, 4, "encoder", cell=17, hot=range(4))
        d.arrow((452, y), (481, y), role="encoder", gap=1)
        d.arrow((499, y), (528, y), role="decoder", gap=1)
        first = y - (len(source) - 1) * 20 / 2
        for i, word in enumerate(source):
            d.text(284, first + 20 * i + 5, word, "encoder", 15, anchor="end")
        first = y - (len(target) - 1) * 20 / 2
        for i, word in enumerate(target):
            missing = i in lost
            d.text(698, first + 20 * i + 5, "?" if missing else word, "soft" if missing else "decoder", 15,
                   anchor="start", bold=missing)

    through(120, 40, ("the", "cat", "sleeps"), ("le", "chat", "dort"))
    through(300, 100, ("the", "red", "cats", "that", "we", "see", "do", "not", "sleep"),
            ("les", "chats", "rouges", "que", "nous", "voyons", "ne", "dorment", "pas"), lost=(2, 5))
    d.text(376, 126, "encoder", "encoder", 14, bold=True)
    d.text(604, 126, "decoder", "decoder", 14, bold=True)
    d.text(376, 306, "encoder", "encoder", 14, bold=True)
    d.text(604, 306, "decoder", "decoder", 14, bold=True)
    d.text(490, 178, "(1, B, H)", "encoder", 12.5, kind="mono")
    d.text(490, 358, "(1, B, H)", "encoder", 12.5, kind="mono")
    return d


@figure("alpha_over_sentence", "Attention weights over a sentence", """
    Left, the French words les chats rouges ne dorment pas EOS above the English words the red cats do
    not sleep EOS, joined by lines as thick as the weights: chats attends to cats and rouges to red,
    so that these two lines cross; ne and pas both attend to not; dorment attends to sleep. Right, the same
    weights as squares whose area is the weight, one row per French word.""")
def alpha_over_sentence():
    d = Drawing(1000, 440)
    d.title("Attention weights: adjectives swap places, “not” is attended to twice")
    xs = [66 + 78 * i for i in range(7)]
    top, low = 120, 340
    for i, row in enumerate(ALPHA):
        for j, weight in enumerate(row):
            if weight >= 0.05:
                d.arrow((xs[i], top + 14), (xs[j], low - 14), head=False, role="attention", width=0.6 + 7 * weight)
    for x, word in zip(xs, TARGET, strict=True):
        d.token(x, top, word, "decoder", w=73, size=13)
    for x, word in zip(xs, SOURCE, strict=True):
        d.token(x, low, word, "encoder", w=73, size=13)
    d.text(xs[3], 84, "queries: target words", "decoder", 14)
    d.text(xs[3], 386, "keys: source words", "encoder", 14)
    left, first, cell = 706, 126, 36
    for i, (word, row) in enumerate(zip(TARGET, ALPHA, strict=True)):
        d.text(left - 26, first + cell * i + 5, word, "decoder", 13.5, anchor="end")
        for j, weight in enumerate(row):
            d.rect(left + cell * j, first + cell * i, cell, cell, "data", extra=" thin")
            if weight >= 0.01:
                side = (cell - 4) * weight ** 0.5
                d.rect_filled(left + cell * j, first + cell * i, side, side, "attention")
    for j, word in enumerate(SOURCE):
        d.text(left + cell * j, 98 if j % 2 else 82, word, "encoder", 13)
    d.text(left + 3 * cell, 386, "area of a square = its weight; a row sums to 1", "soft", 13)
    return d
