"""From attention to the Transformer."""

import math

from kit import Drawing, figure


@figure("query_key_value", "Query, key and value", """
    One query is compared with three keys. The scores, divided by the root of d, go through a softmax,
    and the weights 0.1, 0.7 and 0.2 make a sum of the three values: the context. Keys and values are
    made from the same three vectors, by two different matrices.""")
def query_key_value():
    d = Drawing(980, 400)
    d.title("A query is compared with keys; the values are averaged")
    xs, weights = (330, 470, 610), (0.1, 0.7, 0.2)
    ask = d.token(90, 150, "query q", "decoder", w=104)
    total = d.op(790, 310, "Σ", "attention", r=18, size=18)
    for i, (x, weight) in enumerate(zip(xs, weights, strict=True), 1):
        source = d.box(x, 232, 92, 36, f"x_{{{i}}}", "encoder", 18, kind="math")
        key = d.token(x, 150, f"k_{{{i}}}", "encoder", w=70)
        value = d.token(x, 310, f"v_{{{i}}}", "output", w=70)
        d.arrow(source.top, key.bottom, role="encoder", label="W_{k}", kind="math", size=15)
        d.arrow(source.bottom, value.top, role="output", label="W_{v}", kind="math", size=15)
        alpha = d.token(x, 84, f"{weight}", "attention", w=70)
        d.arrow(key.top, alpha.bottom, role="attention")
    d.arrow(ask.right, (xs[0] - 35, 150), role="decoder", label="q · k_{i} / √d", kind="math", size=16)
    for left, right in ((xs[0], xs[1]), (xs[1], xs[2])):
        d.arrow((left + 35, 150), (right - 35, 150), role="decoder")
    d.arrow((610 + 35, 84), (790, 84), total.top, role="attention", label="weights (softmax)", kind="", size=14)
    for x in xs[:2]:
        d.arrow((x, 324), (x, 350), (x + 60, 350), role="output", head=False)
    d.arrow((xs[0], 350), (700, 350), (700, 310), total.left, role="output")
    d.arrow((xs[2] + 35, 310), total.left, role="output")
    context = d.token(910, 310, "context", "attention", w=100)
    d.arrow(total.right, context.left, role="attention")
    d.text(832, 356, "0.1 v_{1} + 0.7 v_{2} + 0.2 v_{3}", "attention", 15, kind="math")
    d.text(90, 186, "of one position", "decoder", 13.5)
    d.text(204, 237, "inputs", "encoder", 13.5)
    return d


@figure("self_attention", "Self-attention, without and with a causal mask", """
    Two maps of five positions by five. Left, without a mask: every position attends to every position, all
    cells are filled. Right, with a causal mask: each position attends to itself and to those before it, and
    the upper triangle, the later positions, is empty.""")
def self_attention():
    d = Drawing(980, 380)
    d.title("Self-attention, without and with a causal mask")
    words = ("le", "chat", "noir", "dort", "⏎")
    for left, name, causal in ((150, "an encoder: no mask", False), (620, "a decoder: causal mask", True)):
        d.text(left + 96, 82, name, "attention", 15, bold=True)
        for t, row in enumerate(words):
            d.text(left - 12, 130 + 48 * t, row, "decoder", 14, anchor="end", kind="mono")
            d.text(left + 24 + 48 * t, 352, row, "encoder", 14, kind="mono")
            for s in range(5):
                if causal and s > t:
                    d.rect(left + 24 + 48 * s, 125 + 48 * t, 46, 46, "data", extra=" thin")
                else:
                    d.rect_filled(left + 24 + 48 * s, 125 + 48 * t, 46, 46, "attention", 0.55)
    d.text(868, 140, "later positions:", "soft", 13.5, anchor="start")
    d.text(868, 160, "weight 0", "soft", 13.5, anchor="start")
    d.text(24, 240, "queries", "decoder", 13.5, anchor="start")
    return d


@figure("four_positions", "Four positional encodings", """
    Four small pictures. Sinusoidal: three waves of different length, added to the embedding. Learned: a
    table with a row for each position, added to the embedding. Rotary: two arrows, query and key, rotated by
    angles that grow with their positions, so that the angle between them depends on the distance. ALiBi: bars that
    fall with the distance, added to the scores.""")
def four_positions():
    d = Drawing(980, 330)
    d.title("Four positional encodings")
    xs = (130, 370, 610, 850)
    names = (("sinusoidal", "added to the embedding"), ("learned", "added to the embedding"),
             ("rotary", "queries and keys are rotated"), ("ALiBi", "added to the scores"))
    for x, (name, where) in zip(xs, names, strict=True):
        d.box(x, 175, 210, 190, "", "data", radius=12)
        d.text(x, 296, name, "page", 15, bold=True)
        d.text(x, 316, where, "soft", 13)
    for k, (height, waves) in enumerate(((115, 4), (170, 2), (225, 1))):
        role = ("encoder", "decoder", "attention")[k]
        points = [(xs[0] - 85 + 170 * i / 60, height - 18 * math.sin(2 * math.pi * waves * i / 60)) for i in range(61)]
        for a, b in zip(points, points[1:], strict=False):
            d.arrow(a, b, role=role, head=False, gap=0)
    for row, hot in enumerate(((0, 1), (1, 3), (2,), (0, 3), (1, 2))):
        d.text(xs[1] - 78, 115 + 34 * row, f"position {row}", "soft", 12.5, anchor="start")
        d.vector(xs[1] + 38, 110 + 34 * row, 4, "encoder", cell=24, upright=False, hot=hot)
    centre = (xs[2], 215)
    for angle, role, name in ((20, "encoder", "k, position 4"), (75, "decoder", "q, position 7")):
        tip = (centre[0] - 40 + 92 * math.cos(math.radians(angle)), centre[1] - 92 * math.sin(math.radians(angle)))
        d.arrow((centre[0] - 40, centre[1]), tip, role=role)
        if angle == 20:
            d.text(tip[0] - 14, tip[1] + 34, name, role, 12.5)
        else:
            d.text(tip[0] - 10, tip[1] - 8, name, role, 12.5)
    d.text(centre[0] + 12, centre[1] - 40, "7 − 4", "attention", 14)
    for i, height in enumerate((20, 45, 70, 95, 120)):
        d.rect_filled(xs[3] - 76 + 38 * i, 245 - height / 2, 26, height, "attention", 0.6)
    d.text(xs[3], 104, "nearer: higher", "attention", 13)
    return d


@figure("transformer_block", "A block of the decoder, norm first", """
    The input goes straight up along a line, the residual stream. Three parts stand beside it, from below:
    self-attention, cross-attention, and a feed-forward network. Each reads the line through a
    layer norm, and adds its result to it at a plus sign. Keys and values of the second part come from the
    encoder.""")
def transformer_block():
    d = Drawing(980, 520)
    d.title("Each part reads the stream through a norm, and adds to it")
    x, ys = 250, (400, 270, 140)
    parts = (("self-attention", "causal mask", "decoder"),
             ("cross-attention", "padding mask", "attention"),
             ("feed-forward", "linear, ReLU, linear", "output"))
    start = d.token(x, 482, "x (B, T, D)", "data", w=130)
    below = start.top
    for y, (name, sub, role) in zip(ys, parts, strict=True):
        plus = d.op(x, y - 44, "+", role)
        d.arrow(below, plus.bottom, role="data", width=3)
        d.dot(x, y + 22)
        norm = d.box(390, y + 22, 92, 36, "norm", "data", 14)
        part = d.box(620, y + 22, 220, 58, name, role, 15, sub=sub, bold=True)
        d.arrow((x, y + 22), norm.left)
        d.arrow(norm.right, part.left, role=role)
        d.arrow(part.top, (620, y - 44), plus.right, role=role)
        below = plus.top
    d.arrow(below, (x, 52), role="data", width=3)
    memory = d.token(870, 292, "keys, values", "encoder", w=130)
    d.arrow(memory.left, (730, 292), role="encoder")
    d.text(870, 330, "from the encoder", "encoder", 13.5)
    d.text(x - 22, 240, "residual", "soft", 14, anchor="end")
    d.text(x - 22, 260, "stream", "soft", 14, anchor="end")
    return d


@figure("key_value_cache", "Writing the fourth word, without and with a cache", """
    Two rows. Without a cache, keys and values of all four positions are computed again. With a cache, those of
    the first three are kept, drawn pale, and only the fourth is computed and added. In both, the query of the
    fourth position attends to all four.""")
def key_value_cache():
    d = Drawing(980, 360)
    d.title("The fourth word: keys and values, computed or kept")
    xs = (330, 450, 570, 690)
    for y, name, kept in ((130, "without a cache", 0), (260, "with a cache", 3)):
        d.text(36, y + 5, name, "page", 15, anchor="start", bold=True)
        for i, x in enumerate(xs):
            role = "data" if i < kept else "decoder"
            d.box(x, y, 100, 56, f"k_{{{i + 1}}}, v_{{{i + 1}}}", role, 16, kind="math",
                  sub="kept" if i < kept else "computed", bold=False)
        query = d.token(850, y, "q_{4}", "attention", w=70)
        d.arrow(query.left, (740, y), role="attention")
    d.text(510, 338, "without: all positions again at every step · with: one new position a step", "soft", 13.5)
    return d


@figure("scratchpads", "Two scratchpads of a multiplication", """
    Above, long multiplication: the partial products of 23 times 14 and their sum, each written in one piece; a digit of
    the sum depends on two digits far to the left, and on a carry that is not written. Below, the local scratchpad,
    each digit next to those that it depends on: the sum so far 9, the product 3, their sum 2 with its carry 1.""")
def scratchpads():
    d = Drawing(980, 360)
    d.title("23 · 14, least digit first")
    d.text(36, 92, "long multiplication", "page", 15, anchor="start", bold=True)
    for i, character in enumerate("2900,0320,2230"):
        hot = i in (1, 6, 11)
        d.token(300 + 44 * i, 132, character, "decoder" if i == 11 else "encoder" if hot else "data", w=38)
    d.arrow((300 + 44, 118), (344, 84), (784, 84), (784, 118), role="encoder")
    d.arrow((300 + 44 * 6, 118), (564, 98), (776, 98), (776, 118), role="encoder")
    d.text(300 + 44 * 11, 172, "9 + 3 = 12: a 2; its carry is not written", "decoder", 13.5)
    d.text(36, 222, "local scratchpad", "page", 15, anchor="start", bold=True)
    for i, character in enumerate("13309212200300"):
        role = "encoder" if i in (2, 4) else "decoder" if i in (5, 6) else "data"
        d.token(300 + 44 * i, 262, character, role, w=38)
    d.arrow((300 + 44 * 2, 248), (388, 222), (516, 222), (516, 248), role="encoder")
    d.arrow((300 + 44 * 4, 248), (476, 234), (510, 234), (510, 248), role="encoder")
    d.text(542, 308, "product 3, sum so far 9: a 2, carry 1", "decoder", 13.5)
    d.text(36, 342, "row of the digit 1 of 14; the row of the digit 4 precedes it", "soft", 13, anchor="start")
    return d
