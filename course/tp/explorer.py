"""Step through a decoding: what is read, where it looks, what it writes and what it nearly wrote.

    def steps(text):
        return [tp.Step(read="=", written="1", source="8+49", weights=weights[0], context=context[0],
                        distribution=dict(zip(alphabet, probabilities[0]))), ...]

    tp.explore({"with attention": steps, "without": other_steps}, "94+8")

The explorer knows nothing of models: a function from a text to a list of `Step` is all it asks for.
Where widgets work and somebody is there to use them, the text, the model and the step can be chosen;
below stands a still picture of the whole decoding, which is all that remains in a saved or exported
notebook, and all there is where widgets are missing.
"""

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from autograder.runtime import rich_output

from . import plots

__all__ = ["Step", "explore"]


@dataclass
class Step:
    """One step of a decoder on one example; what a model does not have stays empty.

    read, written   the token that goes in, and the one that comes out
    distribution    token → probability of being next
    source          the S source tokens, and `weights` (S,) the attention they get
    context         the context vector (H,)
    beam            [(text, score), …], the hypotheses that are alive, the best one first
    explanations    name → (S,) numbers, other answers to where the token comes from: gradients, effects

    `weights`, `context` and the explanations are tensors, arrays or lists.
    """

    read: str
    written: str
    distribution: Mapping
    source: Sequence = ()
    weights: Sequence = None
    context: Sequence = None
    beam: Sequence = ()
    explanations: Mapping = field(default_factory=dict)


def explore(models, text, title=""):
    """Explore how `models` (name → function from a text to a list of steps) decode, starting from `text`.

    A single function may be given in place of the dictionary. Returns the `Explorer`, whose fields
    `text`, `model` and `step` can be set by code just as by hand. What a model raises is shown as a message.
    Raises `ValueError`, when it is shown, where the weights of a step do not fit its source tokens.
    """
    if callable(models):
        models = {"model": models}
    return Explorer(dict(models), text, title)


class Explorer:
    """The state of an exploration, and its two views: one step with controls, and a still of them all.

    `steps` is the list of `Step`s of the decoding, `error` what the model raised, in words ("" if nothing).
    """

    def __init__(self, models, text, title=""):
        self.models, self.title = models, title
        self._text, self._model, self._step = text, next(iter(models)), 0
        self.steps, self.error = [], ""
        self.still = self.controls = None
        self.decode()
        if rich_output.is_interactive():
            self.controls = make_controls(self)
        if rich_output.ipython_kernel() is not None:
            self.show()

    # -- the state

    @property
    def text(self):
        """What the model reads; setting it decodes anew, from the first step."""
        return self._text

    @text.setter
    def text(self, text):
        self._text, self._step = text, 0
        self.decode()
        self.refresh()

    @property
    def model(self):
        """The name of the model; setting it decodes anew. Raises `KeyError` where there is no such model."""
        return self._model

    @model.setter
    def model(self, name):
        self._model = name
        self.decode()
        self.refresh()

    @property
    def step(self):
        """The number of the step that is looked at, from 0; what is set beyond the ends is moved to the nearest."""
        return self._step

    @step.setter
    def step(self, step):
        self._step = max(0, min(step, len(self.steps) - 1))
        if self.controls:
            self.controls.refresh()

    def decode(self):
        """Run the model. What it raises is shown, not thrown: half-typed inputs are no accident here."""
        try:
            self.steps, self.error = list(self.models[self._model](self._text)), ""
        except Exception as error:
            self.steps = []
            # a ValueError speaks for itself
            kind = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
            self.error = f"The model cannot read {rich_output.visible(self._text)!r}: {kind}{error}"
        self._step = max(0, min(self._step, len(self.steps) - 1))

    # -- the views

    def show(self):
        """Put the controls, if there are any, and the still picture into the notebook."""
        from IPython.display import display
        if self.controls:
            display(self.controls.view(), raw=True)
        self.still = display(self.picture(), raw=True, display_id=True)

    def refresh(self):
        """Bring what is shown in line with the state."""
        if self.controls:
            self.controls.refresh()
        if self.still:
            self.still.update(self.picture(), raw=True)

    def picture(self):
        """The whole decoding as what any notebook can show, MIME type → content: a table, and a heatmap of weights.

        Raises `ValueError` where the weights of the steps do not fit the source tokens of the first.
        """
        name = f"{self.title or self._model}: {rich_output.visible(self._text)}"
        if not self.steps:
            message = self.error or "The model wrote nothing."
            shown = "" if self.controls else f"<p>{html.escape(message)}</p>"  # where there are controls, they say it
            return {"text/html": shown, "text/plain": message}
        header, rows = overview(self.steps)
        table = rich_output.html_table(rows, header, caption=f"{name}, step by step") + beam_tree(self.steps)
        plain = rich_output.text_table(rows, header, caption=f"{name}, step by step")
        if not any(has(step.weights) for step in self.steps):
            return {"text/html": table, "text/plain": plain}
        picture = weights_picture(self.steps, name)
        bundle = picture.bundle()
        return {**bundle, "text/html": bundle["text/html"] + table, "text/plain": f"{picture.alt}\n{plain}"}

    def step_html(self, with_beam=True):
        """The step that is looked at, or what went wrong, in HTML."""
        if not self.steps:
            return f'<p role="status">{html.escape(self.error or "The model wrote nothing.")}</p>'
        gap = " " if any(len(str(step.written)) > 1 for step in self.steps) else ""  # between words, not characters
        written = gap.join(rich_output.visible(str(step.written)) for step in self.steps[:self._step + 1])
        return step_html(self.steps[self._step], self._step, len(self.steps), written, with_beam)

    def _ipython_display_(self):
        """Silent: it has been shown when it was made."""


def has(values):
    """Whether there is a sequence, array or tensor `values` (S,) or (H,), and something in it."""
    return values is not None and len(values) > 0


def plain_array(values):
    """A tensor, array or list as a float array of the same shape: (S,) weights, (H,) context."""
    return np.asarray(values.detach().cpu() if hasattr(values, "detach") else values, dtype=float)


def norm(step):
    """The Euclidean length of the context vector (H,) of a `Step`, as text; "" if it has none."""
    return f"{np.linalg.norm(plain_array(step.context)):.3f}" if has(step.context) else ""


def likeliest(step, n=5):
    """The n most probable next tokens of a `Step`, [(token, probability), …], the likeliest first."""
    pairs = [(str(token), float(p)) for token, p in step.distribution.items()]
    return sorted(pairs, key=lambda pair: -pair[1])[:n]


def overview(steps):
    """The `Step`s as (header, rows) of a table, without the columns in which nothing stands."""
    header = ["step", "reads", "writes", "probability", "next likeliest", "attends most to", "length of context",
              "the beam"]
    rows = []
    for i, step in enumerate(steps):
        most = ""
        if has(step.weights):
            weights = plain_array(step.weights)
            j = int(weights.argmax())
            most = f"{rich_output.visible(str(step.source[j]))} ({weights[j]:.2f})"
        probability = step.distribution.get(step.written)
        others = [pair for pair in likeliest(step, 2) if pair[0] != str(step.written)]
        rows.append([i + 1, step.read, step.written, "" if probability is None else f"{float(probability):.3f}",
                     f"{rich_output.visible(others[0][0])} ({others[0][1]:.3f})" if others else "", most, norm(step),
                     ", ".join(f"{rich_output.visible(str(text))} ({float(score):.2f})" for text, score in step.beam)])
    keep = [k for k in range(len(header)) if any(row[k] != "" for row in rows)]
    return [header[k] for k in keep], [[row[k] for k in keep] for row in rows]


def beam_tree(steps):
    """Return the hypotheses of the beams of all `Step`s as a tree, nested lists in HTML; "" if there is no beam.

    A hypothesis stands below the one that it continues, with its score at last; where only one continues another,
    both are one item. The best one at the end is bold.
    """
    below, scores, alive = {"": []}, {}, [""]
    for step in steps:
        for text, score in step.beam:
            if text not in below:
                below[max((one for one in alive if text.startswith(one)), key=len, default="")].append(text)
                below[text] = []
            scores[text] = score
        alive = [text for text, _ in step.beam] or alive
    if not scores:
        return ""
    best = steps[-1].beam[0][0] if steps[-1].beam else ""

    def item(text, start):
        while len(below[text]) == 1:
            text = below[text][0]
        shown = f"<code>{html.escape(rich_output.visible(text[start:].strip()))}</code> {float(scores[text]):.2f}"
        shown = f"<b>{shown}</b>" if text == best else shown
        return f"<li>{shown}{branches(text)}</li>"

    def branches(text):
        ranked = sorted(below[text], key=lambda one: -scores[one])
        return f'<ul>{"".join(item(one, len(text)) for one in ranked)}</ul>' if ranked else ""

    return f"<p>All hypotheses of the beam as a tree, with their scores:</p>{branches('')}"


def weights_picture(steps, title):
    """The heatmap (T, S) of all `Step`s that have weights, as a `Picture` that is not shown yet.

    Where the steps have explanations, there is a map of each beside it, the largest number of a row being 1 (a row
    without a positive number is left at 0). Raises `ValueError` where the weights do not fit the source tokens of the
    first step.
    """
    looking = [step for step in steps if has(step.weights)]
    source, target = list(looking[0].source), [step.written for step in looking]
    maps = {title: np.stack([plain_array(step.weights) for step in looking])}
    for name in looking[0].explanations:
        numbers = np.stack([plain_array(step.explanations[name]) for step in looking]).clip(min=0)
        maps[name] = numbers / numbers.max(axis=1, keepdims=True).clip(min=1e-9)
    if len(maps) > 1:
        maps = {"attention weight": maps.pop(title), **maps}
    read = {name: plots.as_weights(numbers, source, target) for name, numbers in maps.items()}
    figure, axes, scale = plots.figure_for(list(read), *read[next(iter(read))][1:], columns=3)
    for ax, what in zip(axes, read.values(), strict=True):
        image = plots.draw_map(ax, *what, numbers=None if len(read) == 1 else False)
    plots.draw_scale(scale, image)
    found = " ".join(f"{name}: {plots.looks_at(*what)}." if len(read) > 1 else f"{plots.looks_at(*what)}."
                     for name, what in read.items())
    return plots.Picture(figure, f"Attention weights of {title.rstrip('.')}. {found}")


# --- one step in HTML ------------------------------------------------------------------------

def bar(share, colour):
    """A bar in HTML, 100 pixels long for a share of 1; the number beside it says the same."""
    return (f'<span aria-hidden="true" style="display:inline-block;width:{100 * share:.0f}px;height:10px;'
            f'background:{colour};outline:1px solid currentColor"></span>')


def bars(caption, header, pairs, colour, digits=3, full=1.0):
    """A table in HTML: a row for each of the `pairs` (token, number), with the number, and a bar where it is positive.

    A full bar stands for the number `full`.
    """
    rows = "".join(f'<tr><th scope="row" style="text-align:left">{html.escape(rich_output.visible(str(token)))}</th>'
                   f'<td style="text-align:right">{share:.{digits}f}</td>'
                   f'<td style="text-align:left;width:104px">{bar(max(share, 0) / full, colour)}</td></tr>'
                   for token, share in pairs)
    names = "".join(f'<th scope="col" style="text-align:left">{name}</th>' for name in (*header, ""))
    return (f'<table><caption style="text-align:left">{caption}</caption>'
            f"<thead><tr>{names}</tr></thead><tbody>{rows}</tbody></table>")


def step_html(step, index, n, written, with_beam):
    """Reads, looks, writes: one `Step`, number `index` (from 0) of n, in HTML, as tables with bars.

    `written` is what has been written up to it. Raises `ValueError` where its weights do not fit its source.
    """
    parts = []
    if has(step.weights):
        pairs = list(zip(step.source, plain_array(step.weights), strict=True))
        parts.append(bars("where it looks", ("source", "weight"), pairs, plots.COLOURS["attention"]))
    for name, numbers in step.explanations.items():
        pairs = list(zip(step.source, plain_array(numbers), strict=True))
        full = max(*(number for _, number in pairs), 1e-9)
        parts.append(bars(html.escape(name), ("source", "number"), pairs, plots.COLOURS["encoder"], full=full))
    parts.append(bars("what may come next", ("token", "probability"), likeliest(step), plots.COLOURS["output"]))
    if with_beam and step.beam:
        parts.append(rich_output.html_table([[text, f"{float(score):.3f}"] for text, score in step.beam],
                                            ["hypothesis", "score"], "the beam"))
    context = f" The context vector has length {norm(step)}." if has(step.context) else ""
    reads, writes = (html.escape(rich_output.visible(str(token))) for token in (step.read, step.written))
    return (f'<p role="status">Step {index + 1} of {n}: reads <b>{reads}</b>, writes <b>{writes}</b>.{context} '
            f'So far: <code>{html.escape(written)}</code></p>'
            f'<div style="display:flex;flex-wrap:wrap;align-items:flex-start;gap:0 2em">{"".join(parts)}</div>')


# --- the controls ----------------------------------------------------------------------------

def make_controls(explorer):
    """The `Controls` of an `Explorer`, or None where ipywidgets is missing."""
    try:
        return Controls(explorer)
    except ImportError:
        return None


class Controls:
    """Text, model, step and beam of an `Explorer`, as widgets. Raises `ImportError` where ipywidgets is missing."""

    def __init__(self, explorer):
        import ipywidgets as w
        self.explorer = explorer
        self.following = False  # true while the widgets follow the explorer, and must not lead it
        wide = {"description_width": "4em"}
        self.text = w.Text(explorer.text, description="Input", continuous_update=False, style=wide)
        self.model = w.Dropdown(options=list(explorer.models), value=explorer.model, description="Model", style=wide)
        self.slider = w.IntSlider(1, min=1, max=max(len(explorer.steps), 1), description="Step", style=wide)
        self.back = w.Button(description="Back", tooltip="One step back", layout={"width": "5em"})
        self.next = w.Button(description="Next", tooltip="One step on", layout={"width": "5em"})
        self.beam = w.Checkbox(True, description="Show the beam", indent=False)
        self.beam.layout.display = "none"
        self.step = w.HTML()
        self.step.add_class("jp-RenderedHTMLCommon")  # tables as JupyterLab draws them
        self.box = w.VBox([w.HBox([self.text, self.model]),
                           w.HBox([self.slider, self.back, self.next, self.beam]), self.step])
        self.text.observe(lambda change: self.set("text", change.new), "value")
        self.model.observe(lambda change: self.set("model", change.new), "value")
        self.slider.observe(lambda change: self.set("step", change.new - 1), "value")
        self.beam.observe(lambda change: self.refresh(), "value")
        self.back.on_click(lambda button: self.set("step", explorer.step - 1))
        self.next.on_click(lambda button: self.set("step", explorer.step + 1))
        self.refresh()

    def set(self, field, value):
        """Set `text`, `model` or `step` of the explorer, unless the widget has only followed it."""
        if not self.following and getattr(self.explorer, field) != value:
            setattr(self.explorer, field, value)

    def refresh(self):
        """Bring the widgets in line with the explorer."""
        explorer = self.explorer
        self.following = True
        self.text.value, self.model.value = explorer.text, explorer.model
        self.slider.max = max(len(explorer.steps), 1)
        self.slider.value = explorer.step + 1
        self.following = False
        self.beam.layout.display = None if any(step.beam for step in explorer.steps) else "none"
        self.step.value = explorer.step_html(self.beam.value)

    def view(self):
        """MIME type → content: that by which a front end finds the widgets, and nothing for those without them."""
        return {"application/vnd.jupyter.widget-view+json":
                {"version_major": 2, "version_minor": 0, "model_id": self.box.model_id}, "text/plain": ""}
