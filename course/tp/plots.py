"""Pictures: attention heatmaps first of all.

Whatever is shown here is shown twice: as a picture, and as text for those who do not see it (alt
text and a table that opens under the picture). Colours mean the same as in the figures of the
course, and no message hangs on a colour alone.

Shapes: T = target timesteps (rows), S = source timesteps (columns).
"""

import base64
import html
import io
import math
import textwrap
from dataclasses import dataclass, field

import matplotlib
import numpy as np
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from autograder.runtime import rich_output
from autograder.runtime.colours import DIVERGING, ink_on

__all__ = [
    "COLOURS", "PALETTE", "Picture", "show",
    "attention_heatmap", "attention_heatmaps", "attention_difference", "attention_evolution",
    "effects_heatmap",
]

# The colours of the course: readable as text on white, and apart for every kind of colour vision.
COLOURS = {"encoder": "#0B62A4", "decoder": "#B34700", "attention": "#7A2E9D", "output": "#00694E"}
# The same for lines and bars, in the order in which they are used: what matplotlib draws has them, too.
PALETTE = ("#0B62A4", "#B34700", "#00694E", "#7A2E9D", "#5C5C5C", "#8A5A00")
matplotlib.rcParams["axes.prop_cycle"] = matplotlib.rcsetup.cycler(color=PALETTE)

WEIGHT_MAP = LinearSegmentedColormap.from_list(
    "weights", ["#FFFFFF", "#E3CDEE", "#B884D2", "#7A2E9D", "#2E0B45"])
DIFFERENCE_MAP = LinearSegmentedColormap.from_list("difference", DIVERGING)

INK = "#1F2430"
DPI = 144  # dots per inch

# Where a notebook has a dark theme (JupyterLab and its exports, VS Code, Colab, the course's site), pictures are shown
# with black for white, and the same hues. A picture wider than the screen is shrunk, but not to less than two thirds.
STYLE = ("<style>.tp-picture{overflow-x:auto}.tp-picture img{max-width:100%;height:auto;background:white}"
         + ",".join(f"{dark} .tp-picture img" for dark in (
             '[data-jp-theme-light="false"]', ".vscode-dark", '[theme="dark"]', '[data-theme="dark"]'))
         + "{filter:invert(1) hue-rotate(180deg)}</style>")


def png(figure, dpi=DPI):
    """The matplotlib figure as the bytes of a PNG, at `dpi` dots per inch."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=dpi, facecolor="white")
    return buffer.getvalue()


@dataclass
class Picture:
    """A matplotlib figure with what it says in words (`alt`) and, if there is one, its data as (header, rows)."""

    figure: Figure
    alt: str
    data: tuple = field(default=(), repr=False)

    @property
    def ax(self):
        """The first panel of the figure."""
        return self.figure.axes[0]

    def bundle(self, moving=None):
        """What a notebook shows, MIME type → content: HTML with alt text and table, and the bare image and the alt
        text for where HTML is not trusted.

        `moving` is a GIF of the same, in bytes; whoever asked for less motion gets the still, and closing it stops it.
        """
        still = base64.b64encode(png(self.figure)).decode()
        width, height = (round(96 * inches) for inches in self.figure.get_size_inches())
        style = f"min-width:{2 * width // 3}px"
        if moving is None:
            tag = (f'<img alt="{html.escape(self.alt)}" width="{width}" height="{height}" style="{style}" '
                   f'src="data:image/png;base64,{still}">')
        else:
            tag = ('<details open><summary>Animation; close it to stop</summary><picture>'
                   f'<source media="(prefers-reduced-motion: reduce)" srcset="data:image/png;base64,{still}">'
                   f'<img alt="{html.escape(self.alt)}" '
                   f'src="data:image/gif;base64,{base64.b64encode(moving).decode()}"></picture></details>')
        if self.data:
            header, rows = self.data
            tag += ("<details><summary>The same as a table</summary>"
                    + rich_output.html_table(rows, header) + "</details>")
        return {"text/html": f'{STYLE}<div class="tp-picture">{tag}</div>', "image/png": still, "text/plain": self.alt}

    def _ipython_display_(self):
        """Silent: a picture has been shown when it was made, and need not be shown again as a value."""


def show(figure, alt, data=()):
    """Show a matplotlib figure with its alt text, and return it as a `Picture`.

    `data` is (header, rows) and becomes a table that opens under the picture. Outside of a notebook
    nothing is shown. A figure made by pyplot is closed, so that it does not appear a second time.
    """
    picture = Picture(figure, alt, data)
    if rich_output.ipython_kernel() is not None:
        rich_output.present(picture.bundle(), alt)
    close(figure)
    return picture


def close(figure):
    """Forget a matplotlib figure, so that pyplot does not show it again."""
    import matplotlib.pyplot as plt
    plt.close(figure)


# --- attention -------------------------------------------------------------------------------

def as_weights(weights, source_tokens, target_tokens):
    """Weights (T, S), S source and T target tokens → the weights as a float array (T, S), both lists of visible text.

    `weights` is a tensor, an array or nested lists. Raises `ValueError`, naming the shapes, where they do not fit.
    """
    if hasattr(weights, "detach"):
        weights = weights.detach().cpu()
    weights = np.asarray(weights, dtype=float)
    source, target = ([rich_output.visible(str(token)) for token in tokens]
                      for tokens in (source_tokens, target_tokens))
    if weights.shape != (len(target), len(source)):
        raise ValueError(
            f"weights of shape {weights.shape} do not fit {len(target)} target tokens (rows) "
            f"and {len(source)} source tokens (columns)")
    return weights, source, target


def looks_at(weights, source, target):
    """Say to which of S `source` tokens each of T `target` tokens attends most: `weights` is an array (T, S)."""
    best = weights.argmax(axis=1)
    return "; ".join(f"{token} attends most to {source[j]} ({row[j]:.2f})"
                     for token, row, j in zip(target, weights, best, strict=True))


def weights_data(weights, source, target):
    """The map as (header, rows) for a table: `weights` an array (T, S), S `source` and T `target` tokens."""
    return ["target \\ source", *source], [[token, *(f"{w:.2f}" for w in row)]
                                             for token, row in zip(target, weights, strict=True)]


def cell_inches(n_columns):
    """The side of a cell, in inches: generous for a few tokens, still readable for thirty."""
    return float(np.clip(6.6 / max(n_columns, 1), 0.27, 0.56))


def figure_for(titles, source, target, columns=4):
    """An empty figure for maps of T `target` by S `source` tokens, at most `columns` of them in a row.

    Returns the figure, its panels, one for each title, and the panel of the colour scale. They are sized (in inches)
    so that the cells are square and all words have room.
    """
    across = min(len(titles), columns)
    down = math.ceil(len(titles) / across)
    cell = cell_inches(len(source) * across)
    left = 0.30 + 0.085 * max(map(len, target), default=1)
    panel = (max(len(source) * cell, 1.1), len(target) * cell)
    width = panel[0] + left + 0.25
    titles = [textwrap.fill(title, int(width / 0.087)) for title in titles]
    top = 0.62 + 0.085 * max(map(len, source), default=1) + 0.17 * max(title.count("\n") for title in titles)
    height = panel[1] + top + 0.12
    figure = Figure(figsize=(across * width + 0.85, down * height + 0.1), facecolor="white")
    total = figure.get_size_inches()
    axes = []
    for index, title in enumerate(titles):
        row, column = divmod(index, across)
        box = (column * width + left, total[1] - (row + 1) * height + 0.02, *panel)
        axes.append(figure.add_axes((box[0] / total[0], box[1] / total[1], box[2] / total[0], box[3] / total[1])))
        axes[-1].set_title(title, fontsize=11, color=INK, pad=8)
    bar = (total[0] - 0.78, total[1] - height + 0.02, 0.14, min(panel[1], 2.4))
    scale = figure.add_axes((bar[0] / total[0], bar[1] / total[1], bar[2] / total[0], bar[3] / total[1]))
    return figure, axes, scale


def draw_map(ax, weights, source, target, numbers=None, colours=WEIGHT_MAP, low=0.0):
    """Draw one map, an array (T, S), into `ax`, on the true scale from `low` to 1; returns matplotlib's image.

    `numbers` says whether each cell holds its weight; None: while they are easy to read.
    """
    image = ax.imshow(weights, cmap=colours, vmin=low, vmax=1.0, aspect="equal", interpolation="nearest")
    many = len(source) > 12
    upright = max(map(len, source), default=1) <= 2
    ax.xaxis.tick_top()
    ax.set_xticks(range(len(source)), source, rotation=0 if upright else 60,
                  ha="center" if upright else "left", rotation_mode="anchor", fontsize=8 if many else 11)
    ax.set_yticks(range(len(target)), target, fontsize=8 if len(target) > 12 else 11)
    ax.set_xticks(np.arange(-0.5, len(source)), minor=True)
    ax.set_yticks(np.arange(-0.5, len(target)), minor=True)
    ax.grid(which="minor", color="#D8D8DE", linewidth=0.6)
    ax.tick_params(which="both", length=0, colors=INK)
    for spine in ax.spines.values():
        spine.set_color("#8A8D98")
    if numbers is None:
        numbers = max(len(source), len(target)) <= 10
    if numbers:
        size = 8.5 if len(source) <= 12 else 5
        for i, row in enumerate(weights):
            for j, weight in enumerate(row):
                text = f"{weight:.2f}" if low == 0 else f"{round(weight, 2) + 0.0:+.2f}".replace("-", "−")
                ax.text(j, i, text, ha="center", va="center",
                        fontsize=size if low == 0 else size - 1.5, color=ink_on(image.cmap(image.norm(weight))))
    return image


def draw_scale(ax, image, label="weight"):
    """Draw the colour scale of a map, `image` of `draw_map`, into `ax`."""
    bar = ax.figure.colorbar(image, cax=ax, ticks=[image.norm.vmin, 0, 0.5, 1] if image.norm.vmin else [0, 0.5, 1])
    bar.set_label(label, fontsize=9, color=INK)
    bar.ax.tick_params(labelsize=8, colors=INK)
    bar.outline.set_edgecolor("#8A8D98")


def attention_heatmap(weights, source_tokens, target_tokens, ax=None, title="", numbers=None):
    """Show attention weights (T, S): a row per target token, a column per source token.

    The colours run from 0 (white) to 1 on the true scale, so that maps can be compared. `numbers`
    writes each weight into its cell; left to itself, it does so while they are easy to read. With
    `ax` the map is drawn there, and showing the figure is up to you. Returns a `Picture`: `.figure`,
    `.ax`, and in words `.alt`. Raises `ValueError` where there are not S source and T target tokens.
    """
    weights, source, target = as_weights(weights, source_tokens, target_tokens)
    alt = f"Attention weights{': ' + title if title else ''}. {looks_at(weights, source, target)}."
    data = weights_data(weights, source, target)
    if ax is not None:
        draw_map(ax, weights, source, target, numbers)
        ax.set_title(title, fontsize=11, color=INK, pad=8)
        return Picture(ax.figure, alt, data)
    figure, (ax,), scale = figure_for([title], source, target)
    draw_scale(scale, draw_map(ax, weights, source, target, numbers))
    return show(figure, alt, data)


def attention_heatmaps(maps, source_tokens, target_tokens, numbers=False, columns=4):
    """Show several maps side by side: `maps` is name → weights (T, S), of heads, steps or models.

    At most `columns` stand in a row. Returns a `Picture`. Raises `ValueError` as `attention_heatmap` does.
    """
    read = {name: as_weights(weights, source_tokens, target_tokens) for name, weights in maps.items()}
    _, source, target = next(iter(read.values()))
    figure, axes, scale = figure_for([str(name) for name in read], source, target, columns)
    for ax, (weights, _, _) in zip(axes, read.values(), strict=True):
        image = draw_map(ax, weights, source, target, numbers)
    draw_scale(scale, image)
    alt = "Attention weights, side by side. " + " ".join(
        f"{name}: {looks_at(*what)}." for name, what in read.items())
    rows = [[f"{name}: {row[0]}", *row[1:]] for name, what in read.items() for row in weights_data(*what)[1]]
    return show(figure, alt, (weights_data(*next(iter(read.values())))[0], rows))


def attention_difference(first, second, source_tokens, target_tokens, title="", numbers=None):
    """Show first − second, two maps (T, S), on a scale from −1 to 1: where the first attends more, it is positive.

    Returns a `Picture`. Raises `ValueError` as `attention_heatmap` does.
    """
    first, source, target = as_weights(first, source_tokens, target_tokens)
    second, _, _ = as_weights(second, source_tokens, target_tokens)
    difference = first - second
    figure, (ax,), scale = figure_for([title], source, target)
    draw_scale(scale, draw_map(ax, difference, source, target, numbers, DIFFERENCE_MAP, low=-1.0),
               "difference")
    i, j = np.unravel_index(np.abs(difference).argmax(), difference.shape)
    alt = (f"Difference of two attention maps{': ' + title if title else ''}. The largest is "
           f"{difference[i, j]:+.2f}, where {target[i]} attends to {source[j]}.")
    header, rows = weights_data(difference, source, target)
    return show(figure, alt, (header, rows))


def effects_heatmap(effects, sites, positions, title="", numbers=None):
    """Show effects (L, P), of L sites of a model at P positions: 0 is no effect, 1 all of it, below 0 the contrary.

    The colours run from −1 to 1; what lies beyond has the colour of the end, and its number where `numbers` are
    written. Returns a `Picture`. Raises `ValueError` where there are not L sites and P positions.
    """
    effects, positions, sites = as_weights(effects, positions, sites)
    figure, (ax,), scale = figure_for([title], positions, sites)
    draw_scale(scale, draw_map(ax, effects, positions, sites, numbers, DIFFERENCE_MAP, low=-1.0), "effect")
    best = effects.argmax(axis=1)
    alt = f"Effects{': ' + title if title else ''}. The largest of each site: " + "; ".join(
        f"{site} at {positions[j]} ({row[j]:+.2f})" for site, row, j in zip(sites, effects, best, strict=True)) + "."
    header, rows = weights_data(effects, positions, sites)
    return show(figure, alt, (["site \\ position", *header[1:]], rows))


def attention_evolution(maps, source_tokens, target_tokens, seconds_per_map=0.6):
    """Show how a map changed during training: `maps` is name (a step, say) → weights (T, S), in order.

    An animation; readers who asked their system for less motion, and readers of a saved or exported
    notebook that shows no HTML, see a few of the maps side by side instead. Returns the `Picture` of these.
    Raises `ValueError` as `attention_heatmap` does.
    """
    from PIL import Image
    names = list(maps)
    chosen = [names[i] for i in np.unique(np.linspace(0, len(names) - 1, min(4, len(names))).round().astype(int))]
    few = {name: as_weights(maps[name], source_tokens, target_tokens) for name in chosen}
    _, source, target = few[chosen[0]]
    still, axes, scale = figure_for([str(name) for name in few], source, target)
    for ax, (weights, _, _) in zip(axes, few.values(), strict=True):
        image = draw_map(ax, weights, source, target, numbers=False)
    draw_scale(scale, image)
    alt = "How attention changes during training. " + " ".join(
        f"{name}: {looks_at(*what)}." for name, what in few.items())
    rows = [[f"{name}: {row[0]}", *row[1:]] for name, what in few.items() for row in weights_data(*what)[1]]
    picture = Picture(still, alt, (weights_data(*few[chosen[0]])[0], rows))
    if rich_output.ipython_kernel() is None:
        return picture

    frames = []
    for name in names:
        figure, (ax,), scale = figure_for([str(name)], source, target)
        weights, _, _ = as_weights(maps[name], source_tokens, target_tokens)
        draw_scale(scale, draw_map(ax, weights, source, target, numbers=False))
        frames.append(Image.open(io.BytesIO(png(figure, dpi=96))).convert("P", palette=Image.Palette.ADAPTIVE))
    moving = io.BytesIO()
    pace = round(1000 * seconds_per_map)
    frames[0].save(moving, format="GIF", save_all=True, append_images=frames[1:], loop=0,
                   duration=[pace] * (len(frames) - 1) + [4 * pace])
    rich_output.present(picture.bundle(moving.getvalue()), alt)
    return picture
