"""The charts of the class report, as SVG that follows the page: its font, its colours, light and dark."""

import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

import matplotlib
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure

WIDTH, HEIGHT = 3.25, 2.4  # inches

# Stand for colours of the style sheet until the picture is text.
INK, BAR = "#010203", "#040506"


@dataclass(frozen=True)
class Picture:
    """A chart: its title, what it shows in words, and the drawing."""

    title: str
    words: str
    svg: Markup


def scores(assignment: str, shares: Sequence[float]) -> Picture:
    """Draw a histogram of scores; ``shares`` of the automatic points, from 0 to 1."""
    counts = [sum(min(int(10 * share), 9) == i for share in shares) for i in range(10)]
    figure, axes = _axes("share of the automatic points (%)", "submissions")
    axes.locator_params(axis="y", integer=True)
    axes.bar([10 * i + 5 for i in range(10)], counts, width=9, color=BAR)
    axes.set_xticks(range(0, 101, 20))
    said = ", ".join(f"{n} from {10 * i} to {10 * i + 10} %" for i, n in enumerate(counts) if n)
    words = f"Histogram of scores. Submissions by share of the automatic points: {said}."
    return Picture("Scores", words, _svg(figure, f"{assignment} scores"))


def pass_rates(assignment: str, rates: Mapping[str, float]) -> Picture:
    """Draw bars, one an exercise; ``rates`` are shares of submissions, from 0 to 1."""
    names = list(rates)[::-1]
    # long names get room, as much as leaves the three pictures side by side
    width = min(max(WIDTH, 2.2 + 0.085 * max(map(len, names))), 4.1)
    figure, axes = _axes("full marks (%)", "", width, max(HEIGHT, 0.9 + 0.24 * len(names)))
    axes.barh(names, [100 * rates[name] for name in names], color=BAR, height=0.7)
    axes.set_xlim(0, 100)
    said = ", ".join(f"{name} {100 * rate:.0f} %" for name, rate in rates.items())
    words = f"Bars, full marks by exercise: {said}."
    return Picture("Pass rate of each exercise", words, _svg(figure, f"{assignment} rates"))


def times(assignment: str, seconds: Sequence[float]) -> Picture:
    """Draw a histogram of the seconds that grading took."""
    figure, axes = _axes("seconds to grade", "submissions")
    axes.locator_params(axis="y", integer=True)
    axes.hist(seconds, bins=10, range=(0, max(seconds) or 1), color=BAR, rwidth=0.9)
    said = f"from {min(seconds):.3g} to {max(seconds):.3g}, median {median(seconds):.3g}"
    words = f"Histogram of the seconds that grading took: {said}."
    return Picture("Time used", words, _svg(figure, f"{assignment} times"))


def _axes(x: str, y: str, width: float = WIDTH, height: float = HEIGHT) -> tuple[Figure, Axes]:
    """Return an empty chart."""
    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.add_subplot()
    axes.set_xlabel(x, color=INK)
    axes.set_ylabel(y, color=INK)
    axes.spines[:].set_color(INK)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(colors=INK)
    return figure, axes


def _svg(figure: Figure, name: str) -> Markup:
    """Return the drawing as an element of a page; ``name`` keeps its ids apart from those of other drawings."""
    buffer = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": name}):
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    svg = buffer.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.S)
    svg = re.sub(r' id="[\w.]+_\d+"', "", svg)  # nothing refers to them, and on one page they would not be unique
    svg = re.sub(r"font-family: [^;\"]+", "font-family: inherit", svg)
    return Markup(svg.replace(INK, "currentColor").replace(BAR, "var(--bar)"))
