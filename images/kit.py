"""A small drawing kit: boxes, tokens, vectors and arrows that say the same thing in every figure.

The visual language
- blue is the encoder, orange the decoder, purple attention, green what comes out, grey the data
  (inside a single recurrent cell: blue the hidden state, orange the new, purple the gates);
- a rounded box computes, a pill is a token, a circle is an operation, a row of cells is a vector;
- a solid arrow is a value, its shape written on it; a dashed arrow is a value fed back;
- every colour is also said in words.

Coordinates are pixels, y goes down, boxes are placed by their centre. Colours come in two palettes,
one for light and one for dark pages; a figure follows the reader's setting and brings its own
background.
"""

import math
import re
from dataclasses import dataclass
from html import escape
from itertools import pairwise

# role → (line, fill, text on that fill or on the page)
LIGHT = {
    "page": ("#FFFFFF", "#FFFFFF", "#1F2430"),
    "data": ("#5B6070", "#F1F2F6", "#1F2430"),
    "soft": ("#5B6070", "#FFFFFF", "#555B6B"),
    "encoder": ("#0B62A4", "#E2F0FB", "#0A4C80"),
    "decoder": ("#B34700", "#FDECDF", "#8A3700"),
    "attention": ("#7A2E9D", "#F3E7FA", "#612080"),
    "output": ("#00694E", "#DDF3EB", "#00553F"),
}
DARK = {
    "page": ("#14171F", "#14171F", "#ECEEF3"),
    "data": ("#A3A9B8", "#262B37", "#ECEEF3"),
    "soft": ("#A3A9B8", "#14171F", "#B4BAC8"),
    "encoder": ("#6DB8F2", "#12324D", "#C4E3FB"),
    "decoder": ("#FFA25C", "#48260D", "#FFD8B8"),
    "attention": ("#CF93EE", "#391A4D", "#ECD3FA"),
    "output": ("#4CCFA6", "#0C3D31", "#BFF3E1"),
}

SANS = "'Helvetica Neue',Arial,'Liberation Sans','DejaVu Sans',sans-serif"
MATH = "'STIX Two Text','Times New Roman','Liberation Serif','DejaVu Serif',serif"
MONO = "'SF Mono',Menlo,Consolas,'Liberation Mono','DejaVu Sans Mono',monospace"


def style():
    """The style sheet: one class each for a role's line, fill and text; the dark palette on request."""

    def rules(palette):
        return "".join(
            f".l-{role}{{stroke:{line}}}.f-{role}{{fill:{fill}}}.t-{role}{{fill:{text}}}.h-{role}{{fill:{line}}}"
            for role, (line, fill, text) in palette.items()
        ) + f".halo{{stroke:{palette['page'][1]}}}"

    return (
        f"text{{font-family:{SANS}}}.math{{font-family:{MATH};font-style:italic}}.mono{{font-family:{MONO}}}"
        ".line{fill:none;stroke-width:1.8;stroke-linejoin:round;stroke-linecap:round}.shape{stroke-width:1.8}"
        ".thin{stroke-width:1}.dashed{stroke-dasharray:6 5}"
        ".halo{stroke-width:5;stroke-linejoin:round;paint-order:stroke}"
        + rules(LIGHT) + "@media(prefers-color-scheme:dark){" + rules(DARK) + "}"
    )


def number(value):
    return f"{value:.1f}".rstrip("0").rstrip(".") if value % 1 else str(int(value))


@dataclass(frozen=True)
class Box:
    """What was drawn at (x, y), w wide and h high; its anchors are where arrows start and end."""

    x: float
    y: float
    w: float
    h: float

    def at(self, across, down):
        """A point of the box: (−1, −1) is its upper left corner, (1, 1) its lower right."""
        return self.x + across * self.w / 2, self.y + down * self.h / 2

    left = property(lambda self: self.at(-1, 0))
    right = property(lambda self: self.at(1, 0))
    top = property(lambda self: self.at(0, -1))
    bottom = property(lambda self: self.at(0, 1))


class Drawing:
    """One figure, `width` by `height`, with a title and a description for those who do not see it."""

    def __init__(self, width, height):
        self.width, self.height = width, height
        self.parts = []
        self.style = ""

    # -- text

    def text(self, x, y, text, role="page", size=14, anchor="middle", kind="", bold=False, halo=False):
        """Text on the baseline y. `_{…}` and `^{…}` go down and up; kind is "", "math" or "mono"."""
        spans, shift = [], 0.0
        text = text.replace("  ", "\u00a0\u00a0")  # SVG would join the spaces
        for part in re.split(r"([_^]\{[^}]*\})", text):
            if not part:
                continue
            small = part[0] in "_^" and part.endswith("}") and part[1] == "{"
            target = 0.0 if not small else (0.25 if part[0] == "_" else -0.38) * size
            moved = f' dy="{number(target - shift)}"' if target != shift else ""
            shift = target
            if small:
                spans.append(f'<tspan font-size="{number(0.74 * size)}"{moved}>{escape(part[2:-1])}</tspan>')
            elif moved:
                spans.append(f"<tspan{moved}>{escape(part)}</tspan>")
            else:
                spans.append(escape(part))
        classes = " ".join(filter(None, [f"t-{role}", kind, "halo" if halo else ""]))
        weight = ' font-weight="600"' if bold else ""
        self.parts.append(f'<text x="{number(x)}" y="{number(y)}" class="{classes}" font-size="{number(size)}" '
                          f'text-anchor="{anchor}"{weight}>{"".join(spans)}</text>')

    def lines(self, x, y, texts, leading=19, **how):
        """Several lines of text, the first on the baseline y."""
        for i, line in enumerate(texts):
            self.text(x, y + i * leading, line, **how)

    def title(self, text, x=24, y=34):
        self.text(x, y, text, size=17, anchor="start", bold=True)

    # -- things

    def box(self, x, y, w, h, label="", role="data", size=15, kind="", sub="", bold=False, radius=9):
        """A rounded box that computes; `sub` is a second, smaller line."""
        self.rect(x, y, w, h, role, radius)
        if label:
            self.text(x, y + size * 0.35 - (8 if sub else 0), label, role, size, kind=kind, bold=bold)
        if sub:
            self.text(x, y + 15, sub, role, 12.5)
        return Box(x, y, w, h)

    def rect(self, x, y, w, h, role="data", radius=0, extra=""):
        classes = f"shape l-{role} f-{role}{extra}"
        self.parts.append(f'<rect x="{number(x - w / 2)}" y="{number(y - h / 2)}" width="{number(w)}" '
                          f'height="{number(h)}" rx="{number(radius)}" class="{classes}"/>')
        return Box(x, y, w, h)

    def token(self, x, y, text, role="data", w=None, size=15, h=28):
        """A pill: a token going in or coming out."""
        w = w or max(34, 16 + 0.62 * size * len(text))
        self.rect(x, y, w, h, role, h / 2)
        self.text(x, y + size * 0.35, text, role, size, kind="mono")
        return Box(x, y, w, h)

    def op(self, x, y, symbol, role="data", r=14, size=17):
        """A circle: an operation on what meets there."""
        self.parts.append(f'<circle cx="{number(x)}" cy="{number(y)}" r="{number(r)}" '
                          f'class="shape l-{role} f-{role}"/>')
        self.text(x, y + size * 0.34, symbol, role, size)
        return Box(x, y, 2 * r, 2 * r)

    def vector(self, x, y, values, role="data", cell=24, upright=True, size=13, hot=()):
        """A vector: a column (or a row) of cells.

        `values` are texts, or how many empty cells; `hot` are the positions of filled ones.
        """
        values = [""] * values if isinstance(values, int) else [str(value) for value in values]
        n = len(values)
        for i, value in enumerate(values):
            cx, cy = (x, y + (i - (n - 1) / 2) * cell) if upright else (x + (i - (n - 1) / 2) * cell, y)
            if i in hot:
                self.rect_filled(cx, cy, cell, cell, role)
            else:
                self.rect(cx, cy, cell, cell, role, extra=" thin")
            if value:
                self.text(cx, cy + size * 0.35, value, role, size, kind="mono")
        return Box(x, y, cell if upright else n * cell, n * cell if upright else cell)

    def rect_filled(self, x, y, w, h, role, opacity=1.0, radius=0):
        """A cell in the full colour of its role; never under text."""
        faint = "" if opacity == 1 else f' fill-opacity="{opacity:.2f}"'
        self.parts.append(f'<rect x="{number(x - w / 2)}" y="{number(y - h / 2)}" width="{number(w)}" '
                          f'height="{number(h)}" rx="{number(radius)}" class="shape thin l-{role} h-{role}"{faint}/>')

    def rect_outline(self, x, y, w, h, role, radius=0):
        """An outline that points at something already drawn."""
        self.parts.append(f'<rect x="{number(x - w / 2)}" y="{number(y - h / 2)}" width="{number(w)}" '
                          f'height="{number(h)}" rx="{number(radius)}" class="line l-{role}" style="stroke-width:3"/>')

    def frame(self, left, top, right, bottom, label="", role="data"):
        """A dashed frame around things that belong together, its label inside at the upper edge."""
        self.parts.append(f'<rect x="{number(left)}" y="{number(top)}" width="{number(right - left)}" '
                          f'height="{number(bottom - top)}" rx="14" class="line thin dashed l-{role}"/>')
        if label:
            self.text(left + 14, top + 21, label, role, 13.5, anchor="start", bold=True)

    def funnel(self, corners, role):
        """A closed shape through these corners, filled like a box."""
        points = " ".join(f"{number(x)},{number(y)}" for x, y in corners)
        self.parts.append(f'<path d="M{points.replace(" ", " L")} Z" class="shape l-{role} f-{role}" '
                          'stroke-linejoin="round"/>')

    # -- arrows

    def arrow(self, *points, label="", side="", role="data", dashed=False, head=True, gap=3, shift=0, size=12.5,
              kind="mono", width=None, over=False):
        """An arrow through `points`, its corners rounded, its tip `gap` short of the last point.

        The label stands beside the longest stretch: "above", "below", "left" or "right" of it, moved by
        `shift` along it. What is written on arrows is the shape of what flows. `over` lets it pass over
        another arrow with a gap on both sides, so that crossing is not mistaken for joining.
        """
        points = [tuple(map(float, point)) for point in points]
        (x0, y0), (x1, y1) = points[-2:]
        length = math.hypot(x1 - x0, y1 - y0)
        ux, uy = (x1 - x0) / length, (y1 - y0) / length
        tip = (x1 - gap * ux, y1 - gap * uy)
        end = (tip[0] - 8 * ux, tip[1] - 8 * uy) if head else tip
        path = rounded([*points[:-1], end])
        wide = f' style="stroke-width:{number(width)}"' if width else ""
        if over:
            gap_path = rounded([towards(points[0], points[1], 6), *points[1:-1], (tip[0] - 8 * ux, tip[1] - 8 * uy)])
            self.parts.append(f'<path d="{gap_path}" class="line l-page" style="stroke-width:9;stroke-linecap:butt"/>')
        self.parts.append(f'<path d="{path}" class="line l-{role}{" dashed" if dashed else ""}"{wide}/>')
        if head:
            wings = [(tip[0] - 9 * ux - s * 4.6 * uy, tip[1] - 9 * uy + s * 4.6 * ux) for s in (1, -1)]
            corners = " ".join(f"{number(x)},{number(y)}" for x, y in [tip, *wings])
            self.parts.append(f'<polygon points="{corners}" class="h-{role}"/>')
        if label:
            a, b = max(pairwise(points), key=lambda ab: math.dist(*ab))
            mx, my = (a[0] + b[0]) / 2, (a[1] + b[1]) / 2
            level = abs(b[0] - a[0]) >= abs(b[1] - a[1])
            side = side or ("above" if level else "right")
            if level:
                mx += shift
            else:
                my += shift
            dx, dy, anchor = {"above": (0, -11 if kind == "math" else -7, "middle"), "below": (0, 17, "middle"),
                              "left": (-8, 4, "end"), "right": (8, 4, "start")}[side]
            self.text(mx + dx, my + dy, label, role if role != "data" else "soft", size, anchor, kind, halo=True)

    def dot(self, x, y, role="data"):
        """Where an arrow branches off."""
        self.parts.append(f'<circle cx="{number(x)}" cy="{number(y)}" r="4" class="h-{role}"/>')

    # -- groups and the file

    def begin(self, name="", **attributes):
        """Open a group; what is drawn until `end` belongs to it."""
        more = "".join(f' {key}="{value}"' for key, value in attributes.items())
        self.parts.append(f'<g{f" class={chr(34)}{name}{chr(34)}" if name else ""}{more}>')

    def end(self):
        self.parts.append("</g>")

    def svg(self, title, description):
        """The figure as the text of an SVG file."""
        size = f'viewBox="0 0 {self.width} {self.height}" width="{self.width}" height="{self.height}"'
        return "\n".join([
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-labelledby="title desc">',
            f'<title id="title">{escape(title)}</title>', f'<desc id="desc">{escape(description)}</desc>',
            f"<style>{style()}{self.style}</style>",
            f'<rect width="{self.width}" height="{self.height}" rx="12" class="f-page"/>', *self.parts, "</svg>", ""])


def towards(a, b, distance):
    """The point `distance` away from a, on the way to b."""
    length = math.dist(a, b)
    return a[0] + (b[0] - a[0]) * distance / length, a[1] + (b[1] - a[1]) * distance / length


def rounded(points, radius=10):
    """The path through `points` with rounded corners."""
    path = f"M{number(points[0][0])},{number(points[0][1])}"
    for (a, b), (_, c) in pairwise(pairwise(points)):
        before, after = math.dist(a, b), math.dist(b, c)
        r = min(radius, before / 2, after / 2)
        enter = (b[0] + (a[0] - b[0]) * r / before, b[1] + (a[1] - b[1]) * r / before)
        leave = (b[0] + (c[0] - b[0]) * r / after, b[1] + (c[1] - b[1]) * r / after)
        path += f" L{number(enter[0])},{number(enter[1])}"
        path += f" Q{number(b[0])},{number(b[1])} {number(leave[0])},{number(leave[1])}"
    return path + f" L{number(points[-1][0])},{number(points[-1][1])}"


# --- the register of figures -----------------------------------------------------------------

FIGURES = {}


@dataclass(frozen=True)
class Figure:
    """A figure of the course: its name, its title, what it shows in words, and the function that draws it."""

    name: str
    title: str
    alt: str
    draw: object

    def svg(self):
        return self.draw().svg(self.title, self.alt)


def figure(name, title, alt):
    """Register the decorated function, which returns a `Drawing`, as the figure `name`."""

    def register(draw):
        FIGURES[name] = Figure(name, title, " ".join(alt.split()), draw)
        return draw

    return register
