"""Attention by hand."""

from kit import Drawing, figure

# The worked example of the course: a decoder state, four encoder states, and what follows from them.
DECODER = (10, 5, 10)
ENCODER = ((0, 1, 1), (5, 0, 1), (1, 1, 0), (0, 5, 1))
SCORES = tuple(sum(d * e for d, e in zip(DECODER, state, strict=True)) for state in ENCODER)
WEIGHTS = ("2.9e−20", "1.0", "2.9e−20", "1.4e−11")
WEIGHTED = ("≈ 0", "≈ (5, 0, 1)", "≈ 0", "≈ 0")
CONTEXT = (5, 0, 1)


@figure("bottleneck", "The bottleneck of a single vector", """
    Five source tokens go through an encoder, whose last hidden state is the only thing that the decoder
    gets. The drawing narrows to one vector of H numbers in the middle, for a source of any length.
    The decoder receives nothing else of the source.""")
def bottleneck():
    d = Drawing(980, 380)
    d.title("One vector of H numbers for a source of any length")
    y = 190
    before = None
    for i, word in enumerate(["how", "are", "you", "doing", "?"]):
        x = 70 + 88 * i
        cell = d.box(x, y, 60, 52, f"h_{{{i + 1}}}", "encoder", 17, kind="math")
        token = d.token(x, y + 100, word, w=72)
        d.arrow(token.top, cell.bottom)
        if before:
            d.arrow(before.right, cell.left, role="encoder")
        before = cell
    vector = d.vector(541, y, 4, "encoder", cell=22, hot=range(4))
    d.arrow(before.right, vector.left, role="encoder")
    d.text(541, y - 96, "the bottleneck", "encoder", 16, bold=True)
    d.text(541, y - 76, "henc_final", "encoder", 13, kind="mono")
    d.text(541, y - 58, "(1, B, H)", "encoder", 13, kind="mono")
    before = vector
    for i, word in enumerate(["comment", "vas", "-tu", "?"]):
        x = 660 + 88 * i
        cell = d.box(x, y, 60, 52, f"s_{{{i + 1}}}", "decoder", 17, kind="math")
        token = d.token(x, y - 100, word, "output", w=82, size=14)
        d.arrow(cell.top, token.bottom, role="output")
        d.arrow(before.right, cell.left, role="encoder" if i == 0 else "decoder")
        before = cell
    d.text(246, y - 58, "encoder reads S tokens", "encoder", 14)
    d.text(792, y + 62, "decoder writes from that vector alone", "decoder", 14)
    d.lines(560, y + 118, ["H numbers for 5 tokens,", "and H numbers for 50"], role="soft", size=13.5)
    return d


CAPTIONS = (
    "Step 0 · the hidden states: four of the encoder, one of the decoder",
    "Step 1 · a score for each encoder state: the dot product with the decoder state",
    "Step 2 · softmax turns the scores into weights that sum to 1",
    "Step 3 · each encoder state is multiplied by its weight",
    "Step 4 · the sum of the weighted states is the context vector",
    "Step 5 · the context goes into the decoder, together with its state",
)
COLUMNS = (300, 440, 580, 720)
ROWS = {"states": 490, "scores": 394, "weights": 312, "weighted": 222, "context": 128}


def stage(d, step, animated=False):
    """Draw what step `step` adds to the picture."""
    rows = ROWS
    d.begin(f"stage s{step}" if animated else "")
    if step == 0:
        for x, state, j in zip(COLUMNS, ENCODER, range(1, 5), strict=True):
            d.vector(x, rows["states"], state, "encoder", cell=30, upright=False, size=15)
            d.text(x, rows["states"] + 38, f"h_{{{j}}}", "encoder", 17, kind="math")
        d.vector(110, rows["states"], DECODER, "decoder", cell=34, upright=False, size=15)
        d.text(110, rows["states"] + 38, "decoder state s", "decoder", 14)
        d.text(830, rows["states"] + 5, "encoder states", "encoder", 14, anchor="start")
    elif step == 1:
        bus = rows["states"] - 40
        d.arrow((110, rows["states"] - 17), (110, bus), (COLUMNS[-1] - 26, bus), head=False, role="decoder")
        for x, score in zip(COLUMNS, SCORES, strict=True):
            place = d.op(x, rows["scores"], str(score), "attention", r=20, size=15)
            d.arrow((x, rows["states"] - 15), place.bottom, role="encoder", over=True)
            d.arrow((x - 26, bus), (x - 11, rows["scores"] + 19), role="decoder")
        d.text(830, rows["scores"] + 5, "scores s · h_{j}", "attention", 14, anchor="start")
    elif step == 2:
        bar = d.box((COLUMNS[0] + COLUMNS[-1]) / 2, rows["weights"] + 30, 520, 26, "softmax over the four scores",
                    "attention", 13.5)
        for x, weight in zip(COLUMNS, WEIGHTS, strict=True):
            strong = weight == "1.0"
            d.arrow((x, rows["scores"] - 20), (x, bar.bottom[1]), role="attention")
            place = d.token(x, rows["weights"] - 22, weight, "attention", w=92, size=14)
            d.arrow((x, bar.top[1]), place.bottom, role="attention")
            if strong:
                d.rect_outline(x, rows["weights"] - 22, 92, 28, "attention", radius=14)
        d.text(830, rows["weights"] - 17, "attention weights α_{j}", "attention", 14, anchor="start")
    elif step == 3:
        for x, value in zip(COLUMNS, WEIGHTED, strict=True):
            place = d.box(x, rows["weighted"], 110, 32, value, "encoder", 14, kind="mono")
            d.arrow((x, rows["weights"] - 36), place.bottom, role="attention")
        d.text(830, rows["weighted"] + 5, "weighted states α_{j} h_{j}", "encoder", 14, anchor="start")
    elif step == 4:
        x = (COLUMNS[1] + COLUMNS[2]) / 2
        total = d.op(x, rows["context"] + 22, "+", "attention", r=14)
        for column in COLUMNS:
            start, side = (column, rows["weighted"] - 16), -1 if column < x else 1
            if column in COLUMNS[1:3]:
                d.arrow(start, (x + side * 11, rows["context"] + 33), role="attention")
            else:
                d.arrow(start, (column, rows["context"] + 22), (x + side * 14, rows["context"] + 22), role="attention")
        vector = d.vector(x, rows["context"] - 36, [f"{value}" for value in CONTEXT], "attention", cell=34,
                          upright=False, size=15)
        d.arrow(total.top, vector.bottom, role="attention")
        d.text(x + 66, rows["context"] - 31, "context vector c", "attention", 14, anchor="start")
    else:
        x = (COLUMNS[1] + COLUMNS[2]) / 2
        y = rows["context"] - 36
        cell = d.box(110, y, 130, 44, "decoder", "decoder", bold=True)
        d.arrow((x - 51, y), cell.right, role="attention", label="c", kind="math", size=17)
        d.arrow((110, rows["states"] - 17), cell.bottom, role="decoder", label="s", kind="math", size=17, shift=-150)
        d.text(110, y - 32, "predicts from [s ; c]", "output", 14)
    d.end()


def steps(last):
    """The drawing with steps 0 to `last`; the room of the steps to come is left out."""
    spare = (390, 290, 192, 124, -16, -16)[last]
    d = Drawing(1010, 560 - spare)
    d.title(CAPTIONS[last])
    d.begin(transform=f"translate(0 {-spare})")
    for step in range(last + 1):
        stage(d, step)
    d.end()
    return d


SHOWN = (
    "Four encoder states, (0, 1, 1), (5, 0, 1), (1, 1, 0) and (0, 5, 1), and the decoder state (10, 5, 10).",
    "Above each encoder state stands its dot product with the decoder state: 15, 60, 15 and 35.",
    "The softmax of 15, 60, 15, 35 gives the attention weights 2.9e−20, 1.0, 2.9e−20 and 1.4e−11: the second "
    "state takes practically everything.",
    "Each encoder state times its weight: the second one stays (5, 0, 1), the other three are practically zero.",
    "The weighted states are added: the context vector is (5, 0, 1) to within 1e−10.",
    "The context vector and the decoder state go into the decoder together, and the next token is predicted from both.",
)

for last in range(6):
    figure(f"attention_steps_{last}", CAPTIONS[last], SHOWN[last])(lambda last=last: steps(last))


@figure("attention_steps", "Attention in six steps, animated", " ".join(
    caption + ". " + shown for caption, shown in zip(CAPTIONS, SHOWN, strict=True)))
def attention_steps():
    """The same drawing, each step appearing after the one before; still for readers who want no motion."""
    d = Drawing(1010, 576)
    seconds, n = 18, len(CAPTIONS)
    for step, caption in enumerate(CAPTIONS):
        d.begin(f"caption c{step}")
        d.title(caption)
        d.end()
        d.begin(transform="translate(0 16)")
        stage(d, step, animated=True)
        d.end()
    rules = []
    for step in range(n):
        begin, end = 100 * step / n, 100 * (step + 1) / n
        if step:
            rules.append(f"@keyframes s{step}{{0%,{begin:.1f}%{{opacity:0}}{begin + 3:.1f}%,100%{{opacity:1}}}}"
                         f".s{step}{{animation:s{step} {seconds}s linear infinite}}")
        before = f"0%,{begin:.1f}%{{opacity:0}}{begin + 0.2:.1f}%" if step else "0%"
        after = f"{end - 0.2:.1f}%{{opacity:1}}{end:.1f}%,100%{{opacity:0}}" if step < n - 1 else "100%{opacity:1}"
        rules.append(f"@keyframes c{step}{{{before},{after}}}.c{step}{{animation:c{step} {seconds}s linear infinite}}")
    d.style = ".caption:not(.c5){opacity:0}@media(prefers-reduced-motion:no-preference){" + "".join(rules) + "}"
    return d


@figure("score_functions", "Six ways to score an encoder state", """
    A table with a row for each score function of a decoder state s and an encoder state h j. Dot: s·h,
    no parameters. Scaled dot: s·h divided by the root of d, no parameters. General: s W h, one matrix.
    Additive: v · tanh(W s + U h), two matrices and a vector. Cosine: s·h divided by both lengths, no
    parameters. Location: the j-th entry of W s, one matrix; it does not depend on h j.""")
def score_functions():
    d = Drawing(980, 520)
    d.title("Six scores of an encoder state h_{j} for a decoder state s")
    top, height = 106, 66
    xs = (40, 190, 520, 690)
    for x, word in zip(xs, ("name", "score", "learned", "what it compares"), strict=True):
        d.text(x, 76, word, "soft", 13.5, anchor="start", bold=True)
    rows = [
        ("dot", "s · h_{j}", "nothing", "direction and length; same size needed"),
        ("scaled dot", "s · h_{j} / √d", "nothing", "the same, with flatter weights"),
        ("general", "s^{⊤} W h_{j}", "W", "after a learned map; sizes may differ"),
        ("additive", "v^{⊤} tanh(W s + U h_{j})", "W, U, v", "through a small network"),
        ("cosine", "s · h_{j} / (‖s‖ ‖h_{j}‖)", "nothing", "direction only, from −1 to 1"),
        ("location", "(W s)_{j}", "W", "position alone: h_{j} is not read"),
    ]
    for i, (name, formula, learned, says) in enumerate(rows):
        y = top + i * height + height / 2 - 14
        role = "attention" if i % 2 == 0 else "data"
        d.rect(490, y, 930, height - 10, role, 10, extra=" thin")
        d.text(xs[0] + 6, y + 5, name, role, 15.5, anchor="start", bold=True)
        d.text(xs[1], y + 6, formula, role, 19, anchor="start", kind="math")
        d.text(xs[2], y + 6, learned, role, 17 if learned != "nothing" else 14, anchor="start",
               kind="math" if learned != "nothing" else "")
        d.text(xs[3], y + 5, says, role, 13, anchor="start")
    return d
