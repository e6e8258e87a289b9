"""Markdown on the pages of formgrader and of feedback: rendered, then cleaned, for students write some of it.

nbgrader's templates put rendered Markdown on the page as it is, whatever `sanitize_html` says: a script in a written
answer would run in the grader's browser, with the grader's rights.
"""

import base64
import binascii
import contextlib
import html
import re
from functools import partial
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree

import nh3
from jinja2 import pass_context
from jinja2.runtime import Context
from latex2mathml.converter import convert_to_element
from markupsafe import Markup
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from pygments.token import STANDARD_TYPES

from .. import escaping
from ..raster import raster_type
from ..runtime.text import latex_for_mathml

TAGS = {
    *("h1", "h2", "h3", "h4", "h5", "h6", "p", "br", "hr", "div", "span", "blockquote", "pre", "code", "a", "img"),
    *("em", "strong", "b", "i", "s", "del", "sub", "sup", "kbd", "ul", "ol", "li", "dl", "dt", "dd"),
    *("table", "caption", "thead", "tbody", "tr", "th", "td", "details", "summary"),
}

# Tags of formulas that we rendered. Those that a student wrote stay on the page as text.
MATHML = {
    *("math", "mrow", "mi", "mo", "mn", "mtext", "mspace", "mstyle", "mfrac", "msqrt", "mroot", "mtable", "mtr", "mtd"),
    *("msub", "msup", "msubsup", "munder", "mover", "munderover"),
}

ATTRIBUTES = {
    "*": set[str](),
    "a": {"href", "title"},
    "img": {"src", "alt", "title", "width", "height"},
    "details": {"open"},
    "th": {"scope", "colspan", "rowspan"},
    "td": {"colspan", "rowspan"},
    "ol": {"start"},
    "math": {"display"},
    "mi": {"mathvariant"},
    "mo": {"stretchy", "fence", "form", "accent"},
    "mstyle": {"displaystyle", "scriptlevel"},
    "mspace": {"width"},
    "mover": {"accent"},
    "mtable": {"columnalign"},
}

# The classes of coloured code, and no other: a class can also lay a box over the page.
CLASSES = {"div": {"highlight"}, "span": set(STANDARD_TYPES.values()) - {""}}

# Other tags stay on the page as text, because a student who writes of the token <bos> means no HTML.
OTHER_TAG = re.compile(rf"<(?!/?(?:{'|'.join(sorted(TAGS))})[\s/>]|!--)", re.IGNORECASE)

# To the web, a mailbox or a place on the page. A relative link would lead to submitted files, or into the server.
LINK = re.compile(r"https?://|mailto:|#", re.IGNORECASE)

DATA = re.compile(r"data:image/[a-z]+;base64,", re.IGNORECASE)

MAX_TEXT = 10_000  # characters; a longer text is shown as it was written


class Renderer(IPythonRenderer):
    """nbconvert's renderer, with formulas as MathML, which a browser draws without a script and without a network."""

    folder: Path | None = None  # of pictures that are shown

    def image(self, text: str, url: str, title: str | None = None) -> str:
        """Return the tag of a picture; the name in brackets of one that is not shown."""
        if not _attribute(self.folder, "img", "src", url):
            return f"[picture: {self.escape_html(text or url)}]"
        return super().image(text, url, title)

    def inline_html(self, html: str) -> str:
        """Return raw HTML within a line, with tags that are not allowed as text."""
        return OTHER_TAG.sub("&lt;", super().inline_html(html))

    def block_html(self, html: str) -> str:
        """Return raw HTML in lines of its own, with tags that are not allowed as text."""
        return OTHER_TAG.sub("&lt;", super().block_html(html))

    def inline_math(self, body: str) -> str:
        """Return a formula within a line."""
        return mathml(body)

    def block_math(self, body: str) -> str:
        """Return a formula on a line of its own."""
        return mathml(body, "block")

    def latex_environment(self, name: str, body: str) -> str:
        """Return a formula between \\begin and \\end."""
        return mathml(f"\\begin{{{name}}}{body}\\end{{{name}}}", "block")


MAX_FORMULA = 1000  # characters; longer ones are shown as they were written


def mathml(latex: str, display: str = "inline") -> str:
    """Return a formula as MathML; the LaTeX itself, as code, where it is none."""
    latex = latex_for_mathml(html.unescape(latex))
    try:
        if len(latex) > MAX_FORMULA:
            raise ValueError("too long")
        formula = convert_to_element(latex, display=display)
        for element in formula.iter():
            element.text = html.unescape(element.text) if element.text else None
        if any(element.text and "\\" in element.text for element in formula.iter()):
            raise ValueError("a command that nobody knows")
    except Exception:  # whatever the library raises about what a student wrote
        return f"<code>{html.escape(latex)}</code>"
    return ElementTree.tostring(formula, encoding="unicode")


@pass_context
def markdown2html(context: Context, source: str) -> str:
    """Turn the Markdown of a notebook that nbgrader shows into HTML; embed the figures beside it."""
    folder = context.get("resources", {}).get("metadata", {}).get("path", "")
    return str(rendered(source, Path(folder) if folder else None))


def rendered(source: str, folder: Path | None = None) -> Markup:
    """Turn Markdown into HTML without script, style or form, which needs no network; embed the figures of ``folder``.

    A text that is too long or nested too deeply stays as it is.
    """
    page = f"<pre>{escaping.html(source)}</pre>"
    if len(source) <= MAX_TEXT:
        with contextlib.suppress(RecursionError):
            renderer = Renderer(escape=False, exclude_anchor_links=True)
            renderer.folder = folder
            page = MarkdownWithMath(renderer).render(source)
    return Markup(nh3.clean(
        page,
        tags=TAGS | MATHML,
        attributes=ATTRIBUTES,
        attribute_filter=partial(_attribute, folder),
        allowed_classes=CLASSES,
        url_schemes={"http", "https", "mailto", "data"},
    ))


def _attribute(folder: Path | None, tag: str, name: str, value: str) -> str | None:
    """Return an attribute as the page may have it; None removes it."""
    if name == "src":
        return _pasted(value) if DATA.match(value) else _embedded(folder, value)
    if name == "href":
        return value if LINK.match(value) else None
    return value


def _pasted(source: str) -> str | None:
    """Return a picture that is in the text itself."""
    with contextlib.suppress(binascii.Error, ValueError):
        return _data_url(raster_type(data := base64.b64decode(source.partition(",")[2])), data)
    return None


def _embedded(folder: Path | None, source: str) -> str | None:
    """Return a picture in ``folder`` as a data URL, so that opening the page sends no request to another server."""
    if folder is None:
        return None
    try:
        path = (folder / unquote(source)).resolve()
        if not path.is_relative_to(folder.resolve()) or not path.is_file():
            return None
        data = path.read_bytes()
    except (OSError, ValueError):  # it cannot be read, or is no name of a file at all
        return None
    return _data_url("image/svg+xml" if path.suffix == ".svg" else raster_type(data), data)


def _data_url(kind: str | None, data: bytes) -> str | None:
    return f"data:{kind};base64,{base64.b64encode(data).decode('ascii')}" if kind else None
