"""Letters and sounds."""

from kit import Drawing, figure


@figure("letters_and_sounds", "Which letter makes which sound", """
    The letters of phone stand above its three sounds F, OW and N. Lines join p and h to F, o to OW, and n to N.
    The e has no line: it is silent.""")
def letters_and_sounds():
    d = Drawing(640, 290)
    d.title("Which letter makes which sound?")
    letters = [d.token(120 + 100 * i, 110, letter, w=56) for i, letter in enumerate("phone")]
    sounds = [d.token(x, 245, sound, "output", w=62) for x, sound in ((170, "F"), (320, "OW"), (420, "N"))]
    for letter, sound in ((0, 0), (1, 0), (2, 1), (3, 2)):
        d.arrow(letters[letter].bottom, sounds[sound].top, role="attention")
    d.text(520, 160, "silent", "soft", 13)
    d.text(40, 115, "letters", "soft", 13)
    d.text(40, 250, "sounds", "soft", 13)
    return d


@figure("speller", "A decoder with attention to the letters", """
    The letters of knee go through a bidirectional encoder into four states. The state of the decoder before a step
    makes a query that is compared with all four; the weights are largest at n, and make a context. The context and
    the embedding of the last sound enter the cell. The new state and the context together give the next sound, N.""")
def speller():
    d = Drawing(900, 430)
    d.title("One step: attend to the letters, then write a sound")
    states = []
    for i, letter in enumerate("knee"):
        x = 90 + 90 * i
        token = d.token(x, 370, letter, w=46)
        state = d.box(x, 290, 64, 40, f"h_{{{i + 1}}}", "encoder", kind="math")
        d.arrow(token.top, state.bottom)
        states.append(state)
    for a, b in zip(states, states[1:], strict=False):
        d.arrow(a.right, b.left, role="encoder")
    d.text(225, 414, "read in both directions", "soft", 12.5)
    context = d.box(225, 150, 130, 42, "context c_{t}", "attention", kind="math")
    for state, weight in zip(states, ("0.1", "0.7", "0.1", "0.1"), strict=True):
        d.arrow(state.top, context.bottom, role="attention")
        side = 34 if state.top[0] > context.bottom[0] else -30  # beside its arrow
        d.text(state.top[0] + side, state.top[1] - 9, weight, "soft", 12.5, kind="mono")
    before = d.box(470, 225, 90, 42, "s_{t−1}", "decoder", kind="math")
    d.arrow(before.left, (context.right[0] - 10, context.bottom[1] + 20), role="decoder", label="query", size=13)
    cell = d.box(600, 150, 90, 56, "GRU cell", "decoder", bold=True)
    d.arrow(context.right, cell.left, role="attention")
    d.arrow(before.right, (600, 225), cell.bottom, role="decoder")
    last = d.token(690, 300, "START", w=80)
    d.arrow(last.top, (690, 170), (cell.right[0], 170), role="data")
    output = d.box(760, 100, 130, 50, "combine, output", "output", size=13)
    d.arrow(cell.top, (600, 90), (output.left[0], 90), role="decoder", label="s_{t}", kind="math", size=15)
    d.arrow(context.top, (225, 68), (760, 68), output.top, role="attention", label="c_{t}", kind="math", size=15)
    sound = d.token(860, 190, "N", "output", w=50)
    d.arrow(output.right, (860, 100), sound.top, role="output")
    return d
