"""How Sphinx makes the site of what `pages.py` lays out. Nothing on it is fetched from elsewhere, formulas included."""

import html
import sys
from pathlib import Path

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from autograder.course import Course  # noqa: E402
from autograder.runtime.text import latex_for_mathml  # noqa: E402

told = Course(ROOT).metadata
project = html_title = told.title
release = told.version
language = "en"

extensions = ["myst_nb"]
exclude_patterns = ["docs/benchmarks/*"]  # what `docs/benchmarks.md` is put together from
myst_enable_extensions = ["dollarmath", "html_image"]
myst_heading_anchors = 3
nb_execution_mode = "off"
nb_merge_streams = True
nb_code_prompt_show = "Show the cell's {type}"
nb_code_prompt_hide = "Hide the cell's {type}"
html_math_renderer = "mathml"

html_theme = "pydata_sphinx_theme"
# the last two are the network of session 7, which one page runs
html_static_path = ["static", "../course/tp/pronunciation.bin", "../course/tp/pronunciation.json"]
html_css_files = ["site.css"]
html_favicon = "static/favicon.svg"
html_sidebars = {"pronounce": []}  # a page with none beside it
html_context = {"default_mode": "auto"}
html_copy_source = False  # a notebook is had from the kit, with what it imports beside it
html_theme_options = {
    "show_nav_level": 1,
    "navigation_with_keys": False,
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
copyright = "the authors of the course; MIT licence"


def _formula(self, node: nodes.Node, display: str) -> None:
    latex = node.astext()
    mathml = convert(latex_for_mathml(latex), display=display)
    # the converter writes a command that it does not know as it stands, and & outside of a table
    if "\\" in html.unescape(mathml) or "<mi>&</mi>" in mathml:
        raise ExtensionError(f"a formula with a command that nobody knows: {latex}")
    self.body.append(f'<div class="formula" tabindex="0">{mathml}</div>' if display == "block" else mathml)
    raise nodes.SkipNode


def setup(app: Sphinx) -> None:
    """Formulas are MathML: drawn by the browser, without a script."""
    app.add_html_math_renderer(
        "mathml", (lambda self, node: _formula(self, node, "inline"), None),
        (lambda self, node: _formula(self, node, "block"), None))
