"""Render pages from the jinja2 templates in `templates/`, which escape every text that the engine did not write."""

from statistics import mean, median

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from .. import escaping
from ..grammar import counted
from ..runtime import card
from .grades import number


def environment() -> Environment:
    """Return the templates, and the filters that they use."""
    templates = Environment(
        loader=PackageLoader("autograder.classroom", "templates"),
        autoescape=True,
        finalize=escaping.on_page,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters.update(marked=marked, number=lambda value: number(value, 2), percent=percent, counted=counted,
                             mean=mean, median=median)
    return templates


def marked(text: str) -> Markup:
    """Return escaped text, its `code` and its *emphasis* as HTML."""
    return Markup(card.with_tags(str(escaping.html(text))))


def percent(share: float) -> str:
    """Return a share from 0 to 1, in percent."""
    return f"{100 * share:.0f} %"
