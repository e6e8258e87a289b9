"""The card of a self-check in a notebook that was really run: a phone and a desk, light and dark."""

import ast
import os
import re
from dataclasses import replace

import nbformat
import pytest
from nbclient import NotebookClient
from nbconvert import HTMLExporter
from nbformat.v4 import new_code_cell, new_notebook

from autograder.publish.notebooks import solved
from autograder.runtime.card import Card, page, placed
from autograder.runtime.diagnosis import RecognisedFault
from autograder.runtime.difference import Difference, Outline
from autograder.runtime.findings import CheckResult, findings
from autograder.runtime.place import Location, Place
from autograder.runtime.syntax import segment
from browser import CONTRASTS, OPEN, SCREENS, chromium_page
from conftest import REPOSITORY, TINY, TINY_COURSE

RIGHT = solved(TINY_COURSE, TINY)
ZEROS = RIGHT["encoder"].replace("self.gru(encoder_input, henc_init)", "self.gru(encoder_input)")
SCRIPT = "</pre><script>window.owned = 1</script>"
CELLS = {
    "start": "import torch\nfrom torch import nn\nimport tp\n"
             f"import sys\nsys.path.insert(0, DATA)\ntp.start('{TINY}')",
    "check-nothing": "tp.check('double')",
    "stub": "def double(x):\n    raise NotImplementedError()",
    "check-stub": "tp.check('double')",
    "broken": "def double(x):\n    return (2 * x",
    "check-broken": "tp.check('double')",
    "right": RIGHT["double"],
    "check-right": "tp.check('double')",
    "broken-again": "1 / 0\ndef double(x):\n    return x",
    "check-older": "tp.check('double')",
    "own": "def helper():\n    return double",  # names it, and does not define it
    "magic": "%time double(1)",
    "wrong": ZEROS.replace("        henc_ts,", f"        print({SCRIPT!r})\n        henc_ts,"),
    "check-wrong": "tp.check('encoder')",
    "case": "case = tp.case('encoder', 'initial-state')",
    "case-again": "case",
    "case-shown": "tp.case('encoder', 'initial-state')",
    "play": "outputs = case.run()\nassert (outputs['henc_ts'] - case.expected['henc_ts']).abs().max() > 0.01",
    "hostile": "def last(rows):\n    raise ValueError('<img src=x onerror=\"window.owned = 1\">' * 9)",
    "check-hostile": "tp.check('last')",
}
BREAKS = ("broken", "broken-again")


@pytest.fixture(scope="module")
def notebook(shipped, tmp_path_factory):
    """The notebook, run by a kernel."""
    cells = [new_code_cell(text.replace("DATA)", f"{str(shipped.parent)!r})"), id=name,
                           metadata={"tags": ["raises-exception"]} if name in BREAKS else {})
             for name, text in CELLS.items()]
    made = new_notebook(cells=cells, metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})
    folder = tmp_path_factory.mktemp("run")
    client = NotebookClient(made, timeout=300, resources={"metadata": {"path": str(folder)}})
    client.execute(env={**os.environ, "PYTHONPATH": str(REPOSITORY.released)})
    return made


@pytest.fixture(scope="module", params=["light", "dark"])
def page_of_it(request, notebook, tmp_path_factory):
    """Theme, and the notebook as a page in it."""
    path = tmp_path_factory.mktemp("pages") / f"{request.param}.html"
    path.write_text(HTMLExporter(theme=request.param).from_notebook_node(notebook)[0], encoding="utf-8")
    return request.param, path


def said(notebook, name):
    """What a cell says, as text."""
    (output,) = next(cell for cell in notebook.cells if cell.id == name).outputs
    return output.data["text/plain"]


def test_a_card_is_html_and_text_and_nothing_is_on_stderr(notebook):
    nbformat.validate(notebook)
    for cell in notebook.cells:
        kinds = [set(output.get("data", {})) for output in cell.outputs if output.output_type != "error"]
        if cell.id.startswith(("check-", "case")) or cell.id == "start":
            assert kinds == [{"text/html", "text/plain"}], cell.id
        elif cell.id not in ("magic", *BREAKS):
            printed = "".join(output.text for output in cell.outputs)  # a kernel may send it in parts
            assert printed == (f"{SCRIPT}\n" if cell.id == "play" else ""), cell.id


OLDER = "stopped with an error: what is checked here is the version before it"


def test_after_a_cell_that_failed_it_says_that_the_older_version_is_judged(notebook):
    assert said(notebook, "check-nothing") == "double: `double` is not defined. Run the cell above, then this one."
    assert said(notebook, "check-stub") == "double: not written yet"
    broken = " ".join(said(notebook, "check-broken").split())
    assert OLDER in broken and "not written yet" in broken
    assert "with an error" not in said(notebook, "check-right") and "all 2 checks pass" in said(notebook, "check-right")
    older = " ".join(said(notebook, "check-older").split())
    assert "all 2 checks pass" in older and f"you last ran for `double` {OLDER}" in older
    assert "with an error" not in said(notebook, "check-wrong")


def test_the_card_says_what_is_wrong_once_and_shows_it(notebook):
    text = " ".join(said(notebook, "check-wrong").split())
    assert text.count("Your encoder starts from zeros") == 1 and "1 of 2 checks pass" in text
    assert "</pre><script>" in text and 'look into it: tp.case("encoder", "initial-state")' in text


def test_what_a_check_asks_for_is_open_where_nothing_else_says_what_is_wrong():
    seen = Difference("value", output="rows", expected=Outline("float", 0.5), got=Outline("float", 0.25))
    plain = CheckResult("a-check", False, "What it asks for.", seen)
    others = (replace(plain, place=Place("value", (1, 0, 1, 1))),
              replace(plain, fault=RecognisedFault("a-fault", "Why.")))
    cards = [Card("double", "", wrong=tuple(findings([one])), cells=("x",)) for one in (plain, *others)]
    assert [" open>" in page(card) for card in cards] == [True, False, False]


def test_the_card_underlines_where_the_answer_goes_wrong_and_says_so_in_words(notebook):
    (output,) = next(cell for cell in notebook.cells if cell.id == "check-wrong").outputs
    assert "<u>self.gru(encoder_input)</u>" in output.data["text/html"]
    line = next(number for number, text in enumerate(ZEROS.splitlines(), 2) if "self.gru(encoder_input)" in text)
    assert f"`self.gru(encoder_input)`, line {line}." in " ".join(said(notebook, "check-wrong").split())


@pytest.mark.parametrize("width", sorted({width for width, _ in SCREENS}))
def test_cards_can_be_read(page_of_it, width):
    theme, path = page_of_it
    with chromium_page(viewport={"width": width, "height": 900}, color_scheme=theme) as page:
        page.route(re.compile("^https?:"), lambda route: route.abort())  # nbconvert's own, for formulas
        page.goto(path.as_uri())
        for fold in ("0", OPEN):
            page.evaluate(fold)
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            wide = """[...document.querySelectorAll('.tp-card, .tp-card *')].filter(one => one.checkVisibility() &&
                one.getBoundingClientRect().right > innerWidth + 0.5).map(one => one.outerHTML.slice(0, 80))"""
            assert page.evaluate(wide) == []
        cards = page.locator(".tp-card")
        assert cards.count() == 10 and page.locator(".tp-card.ok").count() == 1 == page.locator(".tp-beside").count()
        contrasts = [one for card in cards.all() for one in card.evaluate(CONTRASTS)]
        assert len(contrasts) > 60 and [text for text, ratio in contrasts if ratio < 4.5] == []
        assert page.evaluate("window.owned") is None and page.locator(".tp-card img, .tp-card script").count() == 0


def test_a_screen_reader_finds_names(page_of_it):
    _, path = page_of_it
    with chromium_page() as page:
        page.route(re.compile("^https?:"), lambda route: route.abort())
        page.goto(path.as_uri())
        assert page.get_by_role("group", name="Check of double").count() >= 1
        expected, got = (page.get_by_role("table", name=name) for name in ("expected", "got"))
        assert expected.count() == got.count() == 1
        assert got.get_by_role("rowheader", name="0").count() == 1 == got.get_by_role("columnheader", name="0").count()
        assert got.get_by_role("mark").count() > 0 == expected.get_by_role("mark").count()
        assert page.get_by_role("group", name="Expected and got: henc_ts[:, 0, :]").count() == 1


def test_the_frame_of_what_differs_is_there_in_forced_colours(page_of_it):
    _, path = page_of_it
    with chromium_page(forced_colors="active") as page:
        page.route(re.compile("^https?:"), lambda route: route.abort())
        page.goto(path.as_uri())
        style = "cell => getComputedStyle(cell).outlineStyle"
        frames = [[cell.evaluate(style) for cell in page.locator(f".tp-beside td{which}").all()]
                  for which in (":has(mark)", ":not(:has(mark))")]
        assert set(frames[0]) == {"solid"} and set(frames[1]) == {"none"}


def test_the_headline_is_no_colour_alone(notebook):
    pages = {cell.id: cell.outputs[0].data["text/html"] for cell in notebook.cells if cell.id.startswith("check-")}
    signs = {name: re.search(r'<span aria-hidden="true">(.)</span>', page) for name, page in pages.items()}
    assert {name: sign[1] for name, sign in signs.items() if sign} == {
        "check-right": "✓", "check-older": "✓", "check-wrong": "◐", "check-hostile": "✗"}


def test_the_lines_of_a_cell_are_those_that_python_counts():
    cell = 'name = "a\x0cb\u2028c\x85d"\r\nright = 1\nwrong = right + 1\n'
    (statement,) = (one for one in ast.parse(cell).body if one.lineno == 3)
    span = (3, statement.value.col_offset, 3, statement.value.end_col_offset)
    assert segment(cell, span) == "right + 1"
    page = placed(Place("value", span, text="right + 1"), [cell])
    assert "wrong = <u>right + 1</u>" in page and page.count("<u>") == 1


def test_a_line_that_is_underlined_is_not_ticked():
    page = placed(Place("value", (2, 0, 2, 21), matched_lines=(1, 2), text="for _ in range(steps)"),
                  ["steps = 20\nfor _ in range(steps):\n    pass\n"])
    assert '>✓</span>steps' in page and '>▸</span><u>for _ in range(steps)</u>:' in page


def test_both_places_are_underlined_and_what_lies_between_is_left_out():
    cell = "\n".join(f"x{n} = y{n} + z{n}" for n in range(1, 20))
    two = Place("value", (4, 5, 4, 7), text="y4", matched_lines=(3, 4), second=Location((15, 0, 15, 3), text="x15"))
    page, legend = placed(two, [cell]).split("</pre>")
    assert "✓: all values on this line" in legend
    assert "x4 = <u>y4</u> + z4" in page and "<u>x15</u> = y15" in page and page.count("<u>") == 2
    assert page.count("…") == 1 and "x9" not in page and page.count("✓") == 1
    line = placed(Place("value", (2, 5, 2, 7), text="y2", second=Location((2, 10, 2, 12), text="z2")), [cell])
    assert "x2 = <u>y2</u> + <u>z2</u>" in line and "…" not in line
    apart = placed(Place("value", (2, 5, 2, 7), text="y2", second=Location((1, 0, 1, 1), 1, "<")), [cell, "< 3"])
    assert apart.count("<pre") == 2 and "<u>&lt;</u> 3" in apart


def test_a_case_is_displayed_once_where_it_is_made_and_again_where_it_is_named(notebook):
    assert said(notebook, "case") == said(notebook, "case-again") == said(notebook, "case-shown")


def test_the_indentation_that_all_lines_of_a_place_have_is_left_out():
    cell = "class Encoder:\n    def forward(self):\n        if x:\n            y = é + 1\n\n        return y\n"
    page = placed(Place("value", (4, 16, 4, 22), text="é + 1"), [cell])
    assert ">        y = <u>é + 1</u>" in page and "</span>def forward(self):" in page
