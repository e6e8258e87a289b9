"""How our pages are made: jinja2 templates in `templates/`, where every word is escaped unless we made it ourselves."""


from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from .. import escaping
from ..grammar import counted
from ..runtime import card


def environment() -> Environment:
    """The templates, and the filters that they use."""
    made = Environment(
        loader=PackageLoader("autograder.classroom", "templates"),
        autoescape=True,
        finalize=escaping.on_page,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(marked=marked, number=number, percent=percent, counted=counted)
    return made


def marked(text: str) -> Markup:
    """Escaped text, its `code` and its *emphasis* as HTML."""
    return Markup(card.with_tags(str(escaping.html(text))))


def number(value: float) -> str:
    """A number as people write it: 14.33, 6."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def percent(share: float) -> str:
    """A share from 0 to 1, in percent."""
    return f"{100 * share:.0f} %"
