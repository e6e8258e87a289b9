"""Markdown on the pages of formgrader and of feedback: rendered, then cleaned, for students write some of it.

nbgrader's templates put rendered Markdown on the page as it is, whatever `sanitize_html` says: a script in a written
answer would run in the grader's browser, with the grader's rights.
"""

import bleach
from jinja2 import pass_context
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

TAGS = [
    *("h1", "h2", "h3", "h4", "h5", "h6", "p", "br", "hr", "div", "span", "blockquote", "pre", "code", "a", "img"),
    *("em", "strong", "b", "i", "s", "del", "sub", "sup", "kbd", "ul", "ol", "li", "dl", "dt", "dd"),
    *("table", "caption", "thead", "tbody", "tr", "th", "td", "details", "summary"),
]


def picture(tag, name, value):
    """Attributes of a picture: it lies in the page itself, so that nobody is told who opens the page, and when."""
    return name in ("alt", "title", "width", "height") or name == "src" and value.startswith("data:image/")


def colour(tag, name, value):
    """The classes of coloured code, and no other: a class can also lay a box over the page."""
    return name == "class" and (value == "highlight" if tag == "div" else len(value) <= 3)


ATTRIBUTES = {"a": ["href", "title"], "img": picture, "details": ["open"],
              "th": ["scope", "colspan", "rowspan"], "td": ["colspan", "rowspan"], "ol": ["start"], "div": colour, "span": colour}


class Renderer(IPythonRenderer):
    """nbconvert's own, but a picture that was pasted into the cell, and did not come along, is named and nothing worse."""

    def image(self, text, url, title=None):
        if url.startswith("attachment:"):
            return f"[picture: {self.escape_html(text)}]"
        return super().image(text, url, title)


@pass_context
def markdown2html(context, source: str) -> str:
    """Markdown → HTML without script, style or form; the figures of the TP are embedded, math is left to MathJax."""
    folder = context.get("resources", {}).get("metadata", {}).get("path", "")
    html = MarkdownWithMath(Renderer(escape=False, embed_images=True, path=folder, exclude_anchor_links=True)).render(source)
    return bleach.clean(html, tags=TAGS, attributes=ATTRIBUTES, protocols=["http", "https", "mailto", "data"])
