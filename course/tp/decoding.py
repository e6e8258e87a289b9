"""Draw what a beam search did, as a tree.

The beam is given as its `history`: for each step `(tokens, parents, scores)`, each of shape (K,), best first:
the tokens that were added, the row of the step before that each was added to, and the sums of
log-probabilities. K, the number of hypotheses, may change from step to step.
"""

from matplotlib.figure import Figure

from autograder.runtime import rich_output

from . import plots

__all__ = ["draw_beam"]

INK, FADED = plots.INK, "#8A8D98"
STEP, ROW = 1.55, 0.78  # inches between two steps, and between two rows


def draw_beam(history, symbols, EOS, title="", best=None):
    """Show the tree of a beam search: `history` is a list of T steps, each of three tensors (K,) as said above.

    `symbols[i]` is how token number i is written, `EOS` the number of the token that ends. `best`, the tokens (T,)
    of a hypothesis, is drawn with a thick line and marked with a star; a hypothesis that was given up has a dashed
    frame. Returns a `Picture`. Raises `ValueError` where a step has not a parent for each token.
    """
    levels = [[part.tolist() for part in step] for step in history]
    texts = _texts(levels, symbols, EOS)
    alive = _alive(levels)
    chosen = _chosen(levels, best)

    height = max(len(tokens) for tokens, _, _ in levels)
    figure = Figure(figsize=(STEP * (len(levels) + 1), ROW * height + 0.75), layout="constrained", facecolor="white")
    ax = figure.subplots()
    ax.set_xlim(-0.5, len(levels) + 0.5)
    ax.set_ylim(height - 0.45, -0.75)
    ax.axis("off")
    _node(ax, 0, 0, "GO", "solid", plots.COLOURS["decoder"])
    for t, (tokens, parents, scores) in enumerate(levels):
        ax.text(t + 1, -0.62, f"step {t}", ha="center", va="center", fontsize=9, color=INK)
        for row, parent in enumerate(parents):
            best_edge = chosen[t] == row
            colour = plots.COLOURS["output"] if best_edge else INK if alive[t][row] else FADED
            ax.plot([t, t + 1], [parent, row], color=colour, linewidth=3 if best_edge else 1.2,
                    linestyle="-" if alive[t][row] else (0, (4, 3)), solid_capstyle="round", zorder=1)
            token = rich_output.visible(str(symbols[tokens[row]])) if tokens[row] != EOS else "EOS"
            label = f"{token}\n{scores[row]:.2f}"
            _node(ax, t + 1, row, ("★ " if best_edge else "") + label, "solid" if alive[t][row] else "dashed", colour,
                  thick=best_edge)
    if title:
        ax.set_title(title, fontsize=11, color=INK)
    return plots.show(figure, _alt(title, levels, texts, chosen), _data(levels, texts, alive))


def _node(ax, x, y, text, frame, colour, thick=False):
    ax.text(x, y, text, ha="center", va="center", fontsize=9.5, color=INK, zorder=2,
            bbox={"boxstyle": "round,pad=0.3", "facecolor": "white", "edgecolor": colour, "linestyle": frame,
                  "linewidth": 2.4 if thick else 1.1})


def _texts(levels, symbols, EOS):
    """For each step and row, the hypothesis so far as a list of symbols, the first EOS its last."""
    texts, previous = [], [[]]
    for tokens, parents, _ in levels:
        previous = [previous[parent] if previous[parent][-1:] == ["EOS"] else
                    previous[parent] + ["EOS" if token == EOS else rich_output.visible(str(symbols[token]))]
                    for token, parent in zip(tokens, parents, strict=True)]
        texts.append(previous)
    return texts


def _alive(levels):
    """For each step and row, whether a hypothesis of the last step descends from it."""
    alive = [[True] * len(levels[-1][0])]
    for (tokens, _, _), (_, parents, _) in zip(levels[-2::-1], levels[:0:-1], strict=True):
        kept = {parent for row, parent in enumerate(parents) if alive[0][row]}
        alive.insert(0, [row in kept for row in range(len(tokens))])
    return alive


def _chosen(levels, best):
    """For each step, the row on the path of the hypothesis `best`; None for each if there is no such path."""
    if best is None:
        return [None] * len(levels)
    best = list(best.tolist())
    for row in range(len(levels[-1][0])):
        path = [row]
        for _, parents, _ in levels[:0:-1]:
            path.insert(0, parents[path[0]])
        if [tokens[at] for (tokens, _, _), at in zip(levels, path, strict=True)] == best:
            return path
    return [None] * len(levels)


def _alt(title, levels, texts, chosen):
    last = "; ".join(f"{' '.join(text)} ({score:.2f})" for text, score in zip(texts[-1], levels[-1][2], strict=True))
    star = f" The path marked with a star is {' '.join(texts[-1][chosen[-1]])}." if chosen[-1] is not None else ""
    return f"A beam search as a tree{': ' + title if title else ''}. At the end stand {last}.{star}"


def _data(levels, texts, alive):
    rows = [[t, row + 1, " ".join(texts[t][row]), f"{score:.2f}", "yes" if alive[t][row] else "given up later"]
            for t, (_, _, scores) in enumerate(levels) for row, score in enumerate(scores)]
    return ["step", "rank", "hypothesis", "score", "kept to the end"], rows
