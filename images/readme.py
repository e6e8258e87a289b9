"""The course in two pictures."""

from kit import Drawing, figure


@figure("readme_path", "Seven sessions, from an embedding to a Transformer", """
    Seven boxes in a row, one per session. Session 1, from words to vectors, and the recurrence. Session 2,
    an encoder and a decoder that calculate: 94+8 becomes 102. Session 3, attention, by hand and in the decoder.
    Session 4, inference and beam search. Session 5, a small translator: the red cat becomes le chat rouge.
    Session 6, the same with a Transformer. Session 7, from spelling to sound.""")
def readme_path():
    d = Drawing(1000, 330)
    d.title("Seven sessions: from one embedding to a Transformer")
    steps = [
        ("1", "Vectors", "embedding,", "RNN, LSTM, GRU", "encoder"),
        ("2", "Calculate", "two networks,", "94+8 → 102", "decoder"),
        ("3", "Attend", "by hand, then", "in the decoder", "attention"),
        ("4", "Search", "inference loop,", "beams", "decoder"),
        ("5", "Translate", "masks, BLEU,", "alignments", "output"),
        ("6", "Transform", "heads, blocks,", "a look inside", "attention"),
        ("7", "Pronounce", "real words,", "real weights", "encoder"),
    ]
    before = None
    for i, (number, name, first, second, role) in enumerate(steps):
        x = 80 + 140 * i
        box = d.box(x, 150, 122, 130, "", role, radius=14)
        d.text(x, 120, f"session {number}", role, 13.5)
        d.text(x, 148, name, role, 18, bold=True)
        d.text(x, 178, first, role, 13)
        d.text(x, 196, second, role, 13)
        if before:
            d.arrow(before.right, box.left, gap=2)
        before = box
    read = d.token(90, 276, "the red cat", "encoder", w=132, size=14)
    made = d.token(904, 276, "le chat rouge", "output", w=142, size=14)
    d.arrow(read.right, made.left, kind="", size=13.5,
            label="by the end of session 5 this arrow is your own work; in session 6 you replace it")
    return d


@figure("readme_judge", "What grades", """
    A check runs on the solution and is recorded: the calls, and apart from them the expected
    outputs. Only the calls go into the sandbox, where they are replayed on the student's code; plain
    arrays come back. Outside, the judge compares them with the expected outputs and with those of known
    faults. The verdict goes into the gradebook and, as a sentence, into the feedback.""")
def readme_judge():
    d = Drawing(1000, 410)
    d.title("Replay inside, compare outside")
    check = d.box(110, 130, 140, 60, "check", "data", 16, sub="calls, no values", bold=True)
    solution = d.box(330, 130, 140, 60, "solution", "encoder", 16, sub="and known faults", bold=True)
    recorded = d.box(560, 130, 164, 60, "recorded check", "data", 16, sub="calls | outputs", bold=True)
    judge = d.box(840, 130, 150, 60, "judge", "attention", 16, sub="compares", bold=True)
    d.arrow(check.right, solution.left, label="runs on", kind="")
    d.arrow(solution.right, recorded.left, role="encoder", label="records", kind="")
    d.arrow(recorded.right, judge.left, label="expected", kind="")
    d.frame(400, 226, 720, 356, "sandbox", "decoder")
    student = d.box(560, 300, 180, 60, "student’s code", "decoder", 16, sub="replays the calls", bold=True)
    d.arrow(recorded.bottom, student.top, label="only the calls", kind="", shift=-12)
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
