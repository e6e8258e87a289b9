"""The course in three pictures."""

from kit import Drawing, figure


@figure("readme_path", "Seven sessions, from an embedding to a Transformer", """
    Seven boxes in a row, one per session. TP 1, from words to vectors, and the recurrence. TP 2,
    attention by hand. TP 3, an encoder and a decoder that calculate: 94+8 becomes 102. TP 4, attention
    in the decoder. TP 5, inference and beam search. TP 6, a small translator: the red cat becomes le
    chat rouge. TP 7, the same with a Transformer.""")
def readme_path():
    d = Drawing(1000, 330)
    d.title("Seven sessions: from one embedding to a Transformer")
    steps = [
        ("1", "Vectors", "embedding,", "RNN, LSTM, GRU", "encoder"),
        ("2", "Attention", "by hand,", "six scores", "attention"),
        ("3", "Calculate", "two networks,", "94+8 → 102", "decoder"),
        ("4", "Look back", "attention in", "the decoder", "attention"),
        ("5", "Search", "inference loop,", "beams", "decoder"),
        ("6", "Translate", "masks, BLEU,", "alignments", "output"),
        ("7", "Transform", "heads, blocks,", "a working", "attention"),
    ]
    before = None
    for i, (number, name, first, second, role) in enumerate(steps):
        x = 80 + 140 * i
        box = d.box(x, 150, 122, 130, "", role, radius=14)
        d.text(x, 120, f"TP {number}", role, 13.5)
        d.text(x, 148, name, role, 18, bold=True)
        d.text(x, 178, first, role, 13)
        d.text(x, 196, second, role, 13)
        if before:
            d.arrow(before.right, box.left, gap=2)
        before = box
    read = d.token(90, 276, "the red cat", "encoder", w=132, size=14)
    made = d.token(904, 276, "le chat rouge", "output", w=142, size=14)
    d.arrow(read.right, made.left, kind="", size=13.5,
            label="by the end of session 6 this arrow is your own work; in session 7 you replace it")
    return d


@figure("readme_student", "What a student sees", """
    Three panels. First, an exercise: a cell with a line TODO to fill in. Second, the self-check: its
    answer to a wrong line is a sentence that names the mistake, your softmax runs over the batch, look
    at the axis of the timesteps; its answer to the right line is a green tick. Third, something that
    works only because the student wrote it: a heatmap of the attention weights.""")
def readme_student():
    d = Drawing(1000, 370)
    d.title("Write a few lines, and be told what is wrong with them")
    d.box(170, 200, 270, 230, "", "data", radius=14)
    d.text(50, 116, "1 · an exercise", "data", 15, anchor="start", bold=True)
    d.lines(50, 156, ["def attend(hdec, henc_ts):", "  scores = hdec @ henc_ts", "  weights = softmax(",
                      "      scores, dim=1)", "  return weights"],
            leading=25, role="data", size=13.5, anchor="start", kind="mono")
    d.box(500, 145, 304, 120, "", "decoder", radius=14)
    d.text(366, 116, "2 · a check that explains", "decoder", 15, anchor="start", bold=True)
    d.lines(366, 146, ["✗ Your softmax runs over the batch.", "   Which axis holds the timesteps?"],
            leading=24, role="decoder", size=14.5, anchor="start")
    d.box(500, 272, 304, 86, "", "output", radius=14)
    d.lines(366, 266, ["attention: all 4 checks pass", "✓ gradient-of-attention"], leading=24, role="output", size=14.5,
            anchor="start")
    d.box(832, 200, 276, 230, "", "attention", radius=14)
    d.text(708, 116, "3 · and it works", "attention", 15, anchor="start", bold=True)
    weights = ((0.9, 0.05, 0.03, 0.02), (0.05, 0.1, 0.8, 0.05), (0.05, 0.85, 0.08, 0.02), (0.02, 0.03, 0.05, 0.9))
    for i, row in enumerate(weights):
        for j, weight in enumerate(row):
            x, y = 800 + 40 * j, 172 + 36 * i
            d.rect(x, y, 40, 36, "page", extra=" thin")
            side = 34 * weight ** 0.5
            d.rect_filled(x, y, side, side * 0.9, "attention")
        d.text(770, 177 + 36 * i, ("le", "chat", "rouge", "⏎")[i], "attention", 13.5, anchor="end")
    for j, word in enumerate(("the", "red", "cat", "⏎")):
        d.text(800 + 40 * j, 147, word, "attention", 13)
    d.arrow((305, 200), (348, 145), gap=2)
    d.arrow((500, 205), (500, 229), gap=2, role="data")
    d.arrow((652, 272), (694, 200), gap=2)
    return d


@figure("readme_judge", "What grades", """
    A check runs on the solution and leaves a transcript: the calls, and apart from them the expected
    outputs. Only the calls go into the sandbox, where they are replayed on the student's code; plain
    arrays come back. Outside, the judge compares them with the expected outputs and with those of known
    mistakes. The verdict goes into the gradebook and, as a sentence, into the feedback.""")
def readme_judge():
    d = Drawing(1000, 410)
    d.title("Replay inside, compare outside")
    check = d.box(110, 130, 140, 60, "check", "data", 16, sub="calls, no values", bold=True)
    solution = d.box(330, 130, 140, 60, "solution", "encoder", 16, sub="and known mistakes", bold=True)
    transcript = d.box(560, 130, 150, 60, "transcript", "data", 16, sub="calls | outputs", bold=True)
    judge = d.box(840, 130, 150, 60, "judge", "attention", 16, sub="compares", bold=True)
    d.arrow(check.right, solution.left, label="runs on", kind="")
    d.arrow(solution.right, transcript.left, role="encoder", label="records", kind="")
    d.arrow(transcript.right, judge.left, label="expected", kind="")
    d.frame(400, 226, 720, 356, "sandbox", "decoder")
    student = d.box(560, 300, 180, 60, "student’s code", "decoder", 16, sub="replays the calls", bold=True)
    d.arrow(transcript.bottom, student.top, label="only the calls", kind="", shift=-12)
    d.arrow(student.right, (800, 300), (800, 160), role="decoder")
    d.text(808, 268, "plain arrays", "decoder", 13, anchor="start")
    book = d.token(930, 312, "gradebook", "output", w=110, size=14)
    words = d.token(930, 362, "feedback", "output", w=110, size=14)
    d.arrow((896, 160), (896, 298), role="output")
    d.arrow(book.bottom, words.top, role="output", gap=2)
    d.text(200, 290, "Nothing that the sandbox says", "soft", 14)
    d.text(200, 312, "can be a score: to forge a pass,", "soft", 14)
    d.text(200, 334, "one has to compute the answer.", "soft", 14)
    return d
