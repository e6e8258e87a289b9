"""Attention in the decoder."""

from kit import Drawing, figure
from tp2 import unrolled


@figure("decoder_with_attention", "The decoder with attention", """
    The decoder input goes through the GRU, as before. Each decoder state (hdec ts, T, B, H) is compared
    with each encoder state (henc ts, S, B, H) by a dot product: scores of shape (T, B, S). A softmax
    over the encoder's timesteps S makes them attention weights. The weighted sum of the encoder states
    is the context vectors (T, B, H), and it is the context that goes through linear and log-softmax to
    the output (T, B, V). The weights are kept for the heatmaps.""")
def decoder_with_attention():
    d = Drawing(980, 470)
    d.title("Decoder with attention: the context predicts the token")
    y = 170
    word = d.token(80, y, "decoder_input", "data", w=128, size=13)
    gru = d.box(250, y, 80, 58, "GRU", "decoder", 17, bold=True)
    scores = d.box(470, y, 112, 58, "dot product", "attention", 15, sub="every pair", bold=True)
    soft = d.box(676, y, 104, 58, "softmax", "attention", 15, sub="over S", bold=True)
    total = d.box(880, y, 130, 58, "weighted sum", "attention", 15, sub="of henc_ts", bold=True)
    states = d.box(250, 300, 150, 46, "encoder states", "encoder", 14, bold=True)
    d.arrow(word.right, gru.left)
    d.text(176, y - 36, "(T, B, V)", "soft", 12.5, kind="mono")
    d.arrow((250, 82), gru.top, role="encoder", label="hdec_init (1, B, H)")
    d.arrow(gru.right, scores.left, role="decoder", label="hdec_ts")
    d.text(352, y + 20, "(T, B, H)", "decoder", 12.5, kind="mono")
    d.arrow(scores.right, soft.left, role="attention", label="scores")
    d.text(575, y + 20, "(T, B, S)", "attention", 12.5, kind="mono")
    d.arrow(soft.right, total.left, role="attention", label="weights", kind="")
    d.text(776, y + 20, "(T, B, S)", "attention", 12.5, kind="mono")
    d.arrow(soft.top, (676, 82), role="attention", label="attention_weights, kept for the heatmap", kind="",
            side="left", shift=-6)
    d.arrow(states.right, (880, 300), total.bottom, role="encoder")
    d.arrow((470, 300), scores.bottom, role="encoder")
    d.dot(470, 300, "encoder")
    d.text(400, 290, "henc_ts", "encoder", 12.5, kind="mono", halo=True)
    d.text(400, 320, "(S, B, H)", "encoder", 12.5, kind="mono", halo=True)
    linear = d.box(676, 410, 84, 52, "linear", "output", 16, bold=True)
    log = d.box(470, 410, 112, 52, "log_softmax", "output", 15, sub="over V", bold=True)
    out = d.token(250, 410, "output", "output", w=84)
    d.arrow(total.right, (962, y), (962, 410), linear.right, role="attention", over=True)
    d.text(840, 400, "context_vectors", "attention", 12.5, kind="mono")
    d.text(840, 430, "(T, B, H)", "attention", 12.5, kind="mono")
    d.arrow(linear.left, log.right, role="output", label="(T, B, V)")
    d.arrow(log.left, out.right, role="output", label="(T, B, V)")
    return d


@figure("seq2seq_attention", "The whole model with attention", """
    Encoder cells read 8, +, 4, 9; decoder cells read =, 1, 0, 2. Above both lies one attention block:
    all encoder states go in, and each decoder state is a query. For every step a context vector comes out on
    top and goes through a linear layer to the predicted characters 1, 0, 2, EOS.""")
def seq2seq_attention():
    d = Drawing(980, 480)
    d.title("With attention, a context for every decoder timestep")
    y = 310
    encoder, decoder, _, above = unrolled(d, y, "8+49", "=102", "102⏎", attention=True)
    bar = d.box((encoder[0].x + decoder[-1].x) / 2, 192, decoder[-1].x - encoder[0].x + 90, 50,
                "attention: compare, softmax over S, weighted sum", "attention", 15, bold=True)
    for cell in encoder:
        d.arrow(cell.top, (cell.x, bar.bottom[1]), role="encoder")
    for cell, out in zip(decoder, above, strict=True):
        d.arrow(cell.top, (cell.x, bar.bottom[1]), role="decoder")
        d.arrow((cell.x, bar.top[1]), out.bottom, role="attention")
    d.text(encoder[-1].x + 12, 246, "henc_ts (S, B, H)", "encoder", 12.5, anchor="start", kind="mono")
    d.text(decoder[-1].x + 10, 246, "hdec_ts", "decoder", 12.5, anchor="start", kind="mono")
    d.text(above[0].x - 40, 140, "context_vectors (T, B, H), then linear", "attention", 12.5, anchor="end", kind="mono")
    return d


@figure("decoder_concat_attention", "Attention beside the decoder state", """
    A second way to use the context. The decoder state (T, B, H) is compared with all encoder states,
    a softmax over S gives the weights, their weighted sum the context (T, B, H). Decoder state and
    context are concatenated to (T, B, 2H), then a dense layer of 64 units with tanh, then a dense layer
    with log-softmax over V gives the output.""")
def decoder_concat_attention():
    d = Drawing(980, 420)
    d.title("State and context, concatenated, predict the token")
    top, low = 130, 300
    gru = d.box(120, low, 100, 58, "GRU", "decoder", 17, sub="decoder", bold=True)
    states = d.box(112, top, 120, 58, "encoder", "encoder", 16, sub="all states", bold=True)
    attend = d.box(340, top, 150, 66, "attention", "attention", 16, sub="dot, softmax over S", bold=True)
    d.arrow(states.right, attend.left, role="encoder", label="(S, B, H)")
    d.arrow((340, low), attend.bottom, role="decoder")
    d.dot(340, low, "decoder")
    d.text(232, low - 9, "h_{t} for every step", "decoder", 13.5)
    d.text(232, low + 20, "(T, B, H)", "decoder", 12.5, kind="mono")
    join = d.box(560, (top + low) / 2, 92, 58, "concat", "data", 16, sub="[h ; c]", bold=True)
    d.arrow(attend.right, (560, top), join.top, role="attention")
    d.text(488, top - 9, "context (T, B, H)", "attention", 12.5, kind="mono")
    d.arrow(gru.right, (560, low), join.bottom, role="decoder")
    y = (top + low) / 2
    dense = d.box(748, y, 100, 58, "dense", "output", 16, sub="64, tanh", bold=True)
    final = d.box(896, y, 100, 58, "dense", "output", 16, sub="log_softmax", bold=True)
    d.arrow(join.right, dense.left, label="(T, B, 2H)")
    d.arrow(dense.right, final.left, role="output")
    d.arrow(final.bottom, (896, 330), role="output")
    d.text(896, 350, "output (T, B, V)", "output", 12.5, kind="mono")
    d.text(490, 392, "At inference the encoder’s states must be kept: every step attends to them again.", "soft", 13.5)
    return d
