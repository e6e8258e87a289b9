"""From words to vectors, and the recurrence."""

from kit import Drawing, figure


@figure("unrolled_rnn", "A recurrent network, folded and unrolled", """
    Left: one recurrent cell whose hidden state loops back into it. Right: the same cell drawn once per
    timestep. It starts from h 0, reads one embedded token after the other, the, cat, sat, down, and
    passes its hidden state to the next step. All hidden states together have shape (T, B, H); the last
    one goes through a linear layer to the prediction, of shape (B, V).""")
def unrolled_rnn():
    d = Drawing(1000, 430)
    d.title("One cell, used at every timestep")
    y = 225
    cell = d.box(100, y, 84, 56, "cell", "encoder", bold=True)
    d.arrow(cell.right, (178, y), (178, y - 72), (22, y - 72), (22, y), cell.left, role="encoder",
            label="h_{t}", kind="math", size=16)
    word = d.token(100, y + 140, "token", w=74)
    d.arrow(word.top, cell.bottom, label="x_{t}", kind="math", size=16)
    d.text(215, y + 8, "=", size=30)

    start = d.vector(266, y, 3, "encoder", cell=16)
    d.text(266, y + 44, "h_{0}", "encoder", 17, kind="math")
    d.text(266, y + 64, "zeros", "soft", 12.5)
    states = d.box(547, 88, 520, 34, "all hidden states: (T, B, H)", "encoder", 14)
    before = start
    for i, token in enumerate(["the", "cat", "sat", "down"]):
        x = 355 + 128 * i
        cell = d.box(x, y, 78, 56, "cell", "encoder", bold=True)
        d.arrow(before.right, cell.left, role="encoder", label=f"h_{{{i}}}" if i else "", kind="math", size=16)
        vector = d.vector(x, y + 82, 4, "data", cell=15, upright=False)
        d.arrow(vector.top, cell.bottom, label=f"x_{{{i + 1}}}", kind="math", size=15)
        word = d.token(x, y + 140, token, w=70)
        d.arrow(word.top, vector.bottom)
        d.arrow(cell.top, (x, states.bottom[1]), role="encoder")
        before = cell
    d.text(547, y + 186, "each x_{t} is an embedding: (B, D)", "soft", 13)
    linear = d.box(868, y, 70, 56, "linear", "output", bold=True)
    d.arrow(before.right, linear.left, role="encoder", label="h_{T}", kind="math", size=16, shift=-4)
    out = d.token(957, y, "word", "output", w=58)
    d.arrow(linear.right, out.left, role="output")
    d.text(868, y + 52, "(B, H) → (B, V)", "soft", 12.5, kind="mono")
    return d


@figure("embedding_lookup", "An embedding is a row of a matrix", """
    The token cat has the id 3. As a one-hot vector it is six numbers, all 0 but the one at position 3.
    Multiplied by the embedding matrix of shape (V, D), it gives exactly row 3 of the matrix. Looking up
    row 3 gives the same vector without any multiplication.""")
def embedding_lookup():
    d = Drawing(940, 430)
    d.title("From a token to a vector: one-hot times matrix is one row of the matrix")
    words = ["the", "a", "dog", "cat", "sat", "ran"]
    rows = [["0.2", "-0.7", "0.1", "0.9"], ["0.4", "-0.5", "0.3", "0.8"], ["-0.9", "0.6", "0.5", "-0.1"],
            ["-0.8", "0.7", "0.2", "0.0"], ["0.3", "0.1", "-0.9", "0.5"], ["0.6", "0.2", "-0.8", "0.4"]]
    cell, top = 34, 125
    y3 = top + 3 * cell
    token = d.token(64, y3, "cat", w=62)
    number = d.box(160, y3, 62, 34, "id 3", "data", kind="mono")
    d.arrow(token.right, number.left)
    d.vector(300, top + 2.5 * cell, [0, 0, 0, 1, 0, 0], "data", cell=cell, size=14)
    d.rect_outline(300, y3, cell, cell, "output")
    d.arrow(number.right, (300 - cell / 2, y3))
    d.text(300, top - 26, "one-hot (V)", "soft", 13)
    d.text(352, top + 2.5 * cell + 8, "×", size=26)
    for i, (word, row) in enumerate(zip(words, rows, strict=True)):
        y = top + i * cell
        hot = i == 3
        d.text(468, y + 5, f"{i} {word}", "output" if hot else "soft", 13.5, anchor="end", kind="mono", bold=hot)
        d.vector(548, y, [value.replace("-", "−") for value in row], "output" if hot else "data", cell=36,
                 upright=False, size=12.5)
    d.text(548, top - 26, "embedding matrix (V, D)", "soft", 13)
    d.text(652, y3 + 8, "=", size=26)
    result = d.vector(800, y3, [value.replace("-", "−") for value in rows[3]], "output", cell=46, upright=False,
                      size=14)
    d.arrow((666, y3), result.left, role="output")
    d.text(800, y3 - 40, "embedding of “cat” (D)", "output", 14, bold=True)
    d.arrow(number.bottom, (160, 372), (800, 372), result.bottom, role="output", dashed=True)
    d.text(480, 394, "nn.Embedding: take row 3; no multiplication, the same vector", "output", 14)
    return d


@figure("gru_cell", "The GRU cell as PyTorch computes it", """
    From the previous state h t−1 and the input x t come two gates, r (reset) and z (update), each a
    sigmoid. The candidate n is the tanh of W in x plus r times W hn h, biases included: the reset gate
    acts after the product with W hn. The new state h t is z times the old state plus 1 minus z times the
    candidate. The four equations stand below the drawing.""")
def gru_cell():
    d = Drawing(940, 560)
    d.title("GRU: reset gate r, update gate z, candidate n")
    top, bottom = 110, 410
    before = d.token(70, top, "h_{t−1}", "encoder", w=76)
    word = d.token(70, bottom, "x_{t}", "data", w=76)
    keep = d.op(690, top, "⊙", "encoder")
    plus = d.op(800, top, "+", "encoder")
    after = d.token(890, top, "h_{t}", "encoder", w=64)

    r = d.box(185, 260, 86, 46, "r  =  σ", "attention", 16, bold=True)
    product = d.box(345, 180, 150, 40, "W_{hn} h_{t−1} + b_{hn}", "encoder", 16, kind="math")
    forget = d.op(345, 260, "⊙", "attention")
    z = d.box(570, 220, 86, 46, "z  =  σ", "attention", 16, bold=True)
    n = d.box(800, 340, 100, 46, "n = tanh", "decoder", 16, bold=True)
    rest = d.op(745, 220, "1−", "attention", r=15, size=14)
    mix = d.op(800, 220, "⊙", "decoder")

    d.arrow(word.right, (800, bottom), n.bottom)
    for x, box in ((185, r), (570, z)):
        d.arrow((x, bottom), box.bottom, gap=3)
        d.dot(x, bottom)
    d.arrow(forget.bottom, (345, 340), n.left, role="attention", over=True)
    d.arrow(before.right, keep.left, role="encoder")
    for x, box in ((185, r), (345, product), (570, z)):
        d.arrow((x, top), box.top, role="encoder")
        d.dot(x, top, "encoder")
    d.arrow(r.right, forget.left, role="attention")
    d.arrow(product.bottom, forget.top, role="encoder")
    d.arrow(z.right, rest.left, role="attention")
    d.arrow((690, 220), keep.bottom, role="attention")
    d.dot(690, 220, "attention")
    d.arrow(rest.right, mix.left, role="attention")
    d.arrow(n.top, mix.bottom, role="decoder")
    d.arrow(mix.top, plus.bottom, role="decoder")
    d.arrow(keep.right, plus.left, role="encoder")
    d.arrow(plus.right, after.left, role="encoder")
    d.text(136, 228, "reset", "attention", 13, anchor="end")
    d.text(521, 190, "update", "attention", 13, anchor="end")
    d.text(856, 382, "candidate", "decoder", 13)
    d.text(745, top - 24, "kept part", "encoder", 13)
    d.text(812, 278, "new part", "decoder", 13, anchor="start")
    d.lines(50, 468, [f"{gate} = σ(W_{{i{gate}}} x_{{t}} + b_{{i{gate}}} + W_{{h{gate}}} h_{{t−1}} + b_{{h{gate}}})"
                      for gate in "rz"], leading=32, size=18, anchor="start", kind="math")
    d.lines(460, 468, ["n = tanh(W_{in} x_{t} + b_{in} + r ⊙ (W_{hn} h_{t−1} + b_{hn}))",
                       "h_{t} = (1 − z) ⊙ n + z ⊙ h_{t−1}"],
            leading=32, size=18, anchor="start", kind="math")
    d.text(50, 540, "x_{t}: (B, D) · every other vector: (B, H)", "soft", 13, anchor="start", kind="mono")
    return d


@figure("lstm_cell", "The LSTM cell", """
    Two states run from left to right. The cell state c t−1 is multiplied by the forget gate f, then i
    times g is added, which gives c t. The hidden state h t is the output gate o times the tanh of c t.
    The gates f, i, o are sigmoids and the candidate g a tanh of the previous hidden state and the input
    x t. The equations stand below.""")
def lstm_cell():
    d = Drawing(940, 580)
    d.title("LSTM: a cell state c beside the hidden state h")
    top, gates, bus = 110, 300, 400
    c_before = d.token(70, top, "c_{t−1}", "decoder", w=76)
    h_before = d.token(70, bus - 32, "h_{t−1}", "encoder", w=76)
    word = d.token(70, bus + 32, "x_{t}", "data", w=76)
    both = d.op(170, bus, ";", "data")
    d.arrow(h_before.right, (170, bus - 32), both.top, role="encoder")
    d.arrow(word.right, (170, bus + 32), both.bottom)
    forget = d.op(290, top, "⊙", "decoder")
    plus = d.op(480, top, "+", "decoder")
    c_after = d.token(884, top, "c_{t}", "decoder", w=64)
    h_after = d.token(884, gates, "h_{t}", "encoder", w=64)
    f = d.box(290, gates, 84, 46, "f = σ", "attention", 16, bold=True)
    i = d.box(410, gates, 84, 46, "i = σ", "attention", 16, bold=True)
    g = d.box(550, gates, 100, 46, "g = tanh", "decoder", 16, bold=True)
    o = d.box(680, gates, 84, 46, "o = σ", "attention", 16, bold=True)
    new = d.op(480, 200, "⊙", "decoder")
    squash = d.box(784, 205, 70, 36, "tanh", "encoder", 15)
    out = d.op(784, gates, "⊙", "encoder")

    d.arrow(both.right, (680, bus), o.bottom)
    for box in (f, i, g):
        d.arrow((box.x, bus), box.bottom)
        d.dot(box.x, bus)
    d.arrow(c_before.right, forget.left, role="decoder")
    d.arrow(forget.right, plus.left, role="decoder")
    d.arrow(plus.right, c_after.left, role="decoder")
    d.arrow(f.top, forget.bottom, role="attention")
    d.arrow(i.top, (410, 200), new.left, role="attention")
    d.arrow(g.top, (550, 200), new.right, role="decoder")
    d.arrow(new.top, plus.bottom, role="decoder")
    d.arrow(o.right, out.left, role="attention")
    d.arrow((784, top), squash.top, role="decoder")
    d.dot(784, top, "decoder")
    d.arrow(squash.bottom, out.top, role="encoder")
    d.arrow(out.right, h_after.left, role="encoder")
    for x, word in ((300, "forget"), (420, "input"), (560, "candidate"), (690, "output")):
        d.text(x, gates + 47, word, "soft", 13, anchor="start")
    d.lines(50, 492, ["i = σ(W_{ii} x_{t} + b_{ii} + W_{hi} h_{t−1} + b_{hi}); f and o alike",
                      "g = tanh(W_{ig} x_{t} + b_{ig} + W_{hg} h_{t−1} + b_{hg})"],
            leading=32, size=18, anchor="start", kind="math")
    d.lines(600, 492, ["c_{t} = f ⊙ c_{t−1} + i ⊙ g", "h_{t} = o ⊙ tanh(c_{t})"],
            leading=32, size=18, anchor="start", kind="math")
    d.text(50, 560, "x_{t}: (B, D) · every other vector: (B, H) · f, o: weights and biases of their own", "soft", 13,
           anchor="start", kind="mono")
    return d


@figure("lstm_shapes", "Two layers, two directions: what nn.LSTM returns", """
    Four timesteps, two layers, each with a forward cell (arrows to the right) and a backward cell
    (arrows to the left), 32 units each. The upper layer's two directions side by side are the output,
    of shape (B, T, 64). The last states are four: forward ones leave at the last timestep, on the
    right, as h n 0 and h n 2; backward ones leave at the first timestep, on the left, as h n 1 and
    h n 3. So h n and c n have shape (4, B, 32).""")
def lstm_shapes():
    d = Drawing(980, 560)
    d.title("nn.LSTM, batch first, 2 layers, bidirectional, 32 units: what it returns")
    xs = [290, 420, 550, 680]
    rows = {1: (205, 159), 0: (375, 329)}   # layer: (forward y, backward y)
    out = d.box(485, 82, 500, 34, "output: (B, T, 64) — last layer, both directions side by side", "output", 14)
    for x in xs:
        word = d.token(x, 470, f"x_{{{xs.index(x) + 1}}}", w=60)
        d.arrow(word.top, (x, 375 + 20), label="(B, D)" if x == xs[-1] else "")
        d.arrow((x, 329 - 20), (x, 205 + 20), role="encoder", label="32 + 32" if x == xs[-1] else "")
        d.arrow((x, 159 - 20), (x, out.bottom[1]), role="output")
    for layer, (forward, backward) in rows.items():
        for k, x in enumerate(xs):
            d.box(x, forward, 76, 36, "→", "encoder", 18, radius=7)
            d.box(x, backward, 76, 36, "←", "decoder", 18, radius=7)
            if k:
                d.arrow((xs[k - 1] + 38, forward), (x - 38, forward), role="encoder")
                d.arrow((x - 38, backward), (xs[k - 1] + 38, backward), role="decoder")
        last = d.token(850, forward, f"h_n[{2 * layer}]", "encoder", w=92)
        d.arrow((xs[-1] + 38, forward), last.left, role="encoder", label="(B, 32)", side="below")
        first = d.token(120, backward, f"h_n[{2 * layer + 1}]", "decoder", w=92)
        d.arrow((xs[0] - 38, backward), first.right, role="decoder", label="(B, 32)", side="above")
        d.text(120, forward + 5, f"layer {layer}", "soft", 14, bold=True)
    d.text(850, 470, "forward cells end here", "encoder", 13.5)
    d.text(120, 470, "backward cells end here", "decoder", 13.5)
    d.text(485, 530, "h_n and c_n: (4, B, 32)  =  2 layers × 2 directions", "page", 15, bold=True)
    return d
