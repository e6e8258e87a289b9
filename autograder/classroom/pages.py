"""Render pages from the jinja2 templates in `templates/`, which escape every text that the engine did not write."""

from functools import cache
from pathlib import Path
from statistics import mean, median
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from .. import escaping
from ..runtime import card
from ..runtime.text import counted, decimals

TEMPLATES = Path(__file__).parent / "templates"


def render(template: str, **values: Any) -> str:
    """Return a page made from one of the templates."""
    return _environment().get_template(template).render(values)


@cache
def _environment() -> Environment:
    """Return the templates, and the filters that they use."""
    templates = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        finalize=escaping.on_page,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters.update(marked=marked, number=rounded, percent=percent, counted=counted, mean=mean, median=median)
    return templates


def marked(text: str) -> Markup:
    """Return escaped text, its `code` and its *emphasis* as HTML."""
    return Markup(card.with_tags(str(escaping.html(text))))


def rounded(value: float | None) -> str:
    """Return a number with at most two decimals; a dash for None."""
    return "–" if value is None else decimals(value)


def percent(share: float | None) -> str:
    """Return a share from 0 to 1, in percent; a dash for None."""
    return "–" if share is None else f"{100 * share:.0f} %"
