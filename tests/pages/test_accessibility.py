"""The course for everybody: pictures have words, headings go down one at a time, text can be read,
and nothing is said by colour alone."""

import html.parser
import itertools
import re
import subprocess
import sys
from typing import get_args

import nbformat
import numpy as np
import pytest

import tp
from autograder.classroom.grading import summary_table
from autograder.classroom.summary import OUTCOMES
from autograder.judging.verdict import Outcome
from autograder.model.source import load_source
from autograder.runtime import colours, rich_output
from conftest import REPOSITORY
from tp import plots, training

ROOT = REPOSITORY.root
sys.path.insert(0, str(REPOSITORY.images))
import kit  # noqa: E402

PICTURE = re.compile(r"!\[(?P<alt>[^\]]*)\]\((?P<path>[^)\s]+)")
FENCE = re.compile(r"^ *(```|~~~).*?^ *\1", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^(#{1,6}) +(.+?)\s*$", re.MULTILINE)


def tracked(pattern):
    """Files of the repository (those in git) whose name matches."""
    names = subprocess.run(["git", "ls-files", pattern], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / name for name in names.splitlines() if (ROOT / name).exists()]


def texts():
    """(name, markdown) of every page we write: the TPs' text cells, one after the other, and the repository's pages."""
    for name in REPOSITORY.sessions:
        cells = load_source(REPOSITORY, name).cells
        yield name, "\n\n".join(cell.source for cell in cells if cell.is_markdown)
    for path in tracked("*.md"):
        if path.parent.name not in ("fixtures", "benchmarks"):  # the latter are paragraphs of docs/benchmarks.md
            yield str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")


PAGES = dict(texts())


@pytest.mark.parametrize("name", PAGES)
def test_every_picture_has_words(name):
    text = FENCE.sub("", PAGES[name])
    for picture in PICTURE.finditer(text):
        words = picture["alt"].split()
        assert len(words) >= 4, f"{picture['path']}: what is to be seen? It says only {picture['alt']!r}"
        first = words[0].lower()
        assert first not in ("image", "picture", "figure"), f"{picture['path']}: say what it shows, not that it is one"
    for tag in re.findall(r"<img\b[^>]*>", text):
        assert re.search(r'\balt="[^"]{15,}"', tag), tag


@pytest.mark.parametrize("name", PAGES)
def test_headings_go_down_one_level_at_a_time(name):
    headings = [(len(marks), words) for marks, words in HEADING.findall(FENCE.sub("", PAGES[name]))]
    levels = [level for level, _ in headings]
    assert levels[:1] == [1] and levels.count(1) == 1, headings[:3]
    for (above, _), (level, words) in itertools.pairwise(headings):
        assert level <= above + 1, f"“{words}” jumps from level {above} to {level}"


@pytest.mark.parametrize("name", PAGES)
def test_links_say_where_they_lead(name):
    for words in re.findall(r"(?<!!)\[([^\]]+)\]\(", FENCE.sub("", PAGES[name])):
        assert words.strip().lower() not in ("here", "click here", "link", "this"), words


# Contrast


def contrast(first, second):
    """Contrast of two colours "#RRGGBB" after WCAG: from 1 to 21."""
    def luminance(colour):
        return colours.luminance(colours.parts(colour))

    light, dark = sorted((luminance(first), luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("palette", [kit.LIGHT, kit.DARK], ids=["light", "dark"])
@pytest.mark.parametrize("role", kit.LIGHT)
def test_figures_can_be_read(palette, role):
    line, fill, text = palette[role]
    page = palette["page"][1]
    assert contrast(text, fill) >= 4.5 and contrast(text, page) >= 4.5
    if role != "page":
        assert contrast(line, page) >= 3 and contrast(line, fill) >= 3


def test_heatmap_and_curve_colours_can_be_read_on_white():
    for colour in [*plots.COLOURS.values(), plots.INK, *(colour for colour, _ in training.LINES)]:
        assert contrast(colour, "#FFFFFF") >= 4.5


def styles_of_our_pages():
    """Every style that our own code writes into HTML, with the file it stands in."""
    for path in [*tracked("course/tp/*.py"), *tracked("autograder/*.py"), *tracked("autograder/*.j2")]:
        for style in re.findall(r'style="([^"]*)"', path.read_text(encoding="utf-8")):
            yield path.name, style


def test_pages_either_set_both_colours_or_none():
    """A text colour alone disappears in the other theme."""
    for name, style in styles_of_our_pages():
        text = re.search(r"(?<![-\w])color:\s*(#[0-9a-fA-F]{6})", style)
        ground = re.search(r"background(?:-color)?:\s*(#[0-9a-fA-F]{6})", style)
        if text:
            assert ground, f"{name}: {style}"
            assert contrast(text[1], ground[1]) >= 4.5, f"{name}: {style}"


# Not by colour alone


def test_curves_differ_in_their_dashes_too():
    assert len({dash for _, dash in training.LINES}) == len(training.LINES)


def test_verdicts_are_words_and_signs():
    """Each verdict has a sign of its own, and its name stands in the legend."""
    *_, legend = summary_table([]).splitlines()
    assert legend.split("  ") == [f"{sign.sign} {sign.words}" for sign in OUTCOMES.values()]
    assert set(OUTCOMES) == set(get_args(Outcome))
    for texts in ({sign.sign for sign in OUTCOMES.values()}, {sign.words for sign in OUTCOMES.values()}):
        assert len(texts) == len(OUTCOMES)


# What notebooks show


class Outline(html.parser.HTMLParser):
    """Images without alt text, and tables whose header cells do not say what they head."""

    def __init__(self, text):
        super().__init__()
        self.problems = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag == "img" and len(attributes.get("alt") or "") < 10:
            self.problems.append("an image without alt text")
        if tag == "th" and "scope" not in attributes:
            self.problems.append("a header cell without scope")


def test_what_our_helpers_show_is_accessible():
    weights = np.eye(3)
    steps = [tp.Step(read="=", written=c, distribution={"1": 0.9, "2": 0.1}, source="1+2", weights=w, context=w,
                     beam=[(c, -0.1)]) for c, w in zip("12\n", weights, strict=True)]
    explorer = tp.explore(lambda text: steps, "1+2")
    view = tp.live(steps=3)
    for step in view:
        view.log(loss=step)
    shown = [tp.attention_heatmap(weights, "abc", "abc").bundle(), view.plot().bundle(), explorer.picture(),
             {"text/html": explorer.step_html(), "text/plain": "…"},
             {"text/html": rich_output.html_table([[1, 2]], ["a", "b"], "c"), "text/plain": "…"}]
    for bundle in shown:
        assert Outline(bundle["text/html"]).problems == []
        assert bundle["text/plain"]


def executed():
    return [path for path in tracked("solutions/*/*.ipynb")]


@pytest.mark.parametrize("path", executed(), ids=lambda path: path.stem)
def test_executed_notebooks_show_no_picture_without_words(path):
    """A figure shown by pyplot has no alt text: `tp.show(figure, "what it shows")` gives it one."""
    for cell in nbformat.read(path, 4).cells:
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            if "image/png" in data:
                words = output.get("metadata", {}).get("image/png", {}).get("alt", "")
                shown = "".join(data.get("text/html", ""))
                assert words or 'alt="' in shown, f"cell {cell.id}: {data.get('text/plain')}"
            assert Outline("".join(data.get("text/html", ""))).problems == [], f"cell {cell.id}"


def test_the_pictures_of_the_readme_are_there_have_words_and_load_fast():
    text = (REPOSITORY.root / "README.md").read_text(encoding="utf-8")
    pictures = {path: words for words, path in re.findall(r"!\[([^]]*)\]\(([^)]+)\)", text)}
    pictures |= {path: words for path, words in re.findall(r'<img src="([^"]+)"[^>]*alt="([^"]*)"', text)}
    taken = {f"images/pages/{name}.webp" for name in ("notebook", "heatmap", "report")}
    assert taken <= set(pictures)
    for path, words in pictures.items():
        assert len(words.split()) > 8, path
        assert (REPOSITORY.root / path).stat().st_size < 150_000, path
