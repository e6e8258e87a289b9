"""Markdown on the pages of formgrader and of feedback: ours as it is meant, a student's without anything that acts."""

import re

import nbformat
import pytest
from traitlets.config import Config

from autograder import demo, pages
from autograder.nbgrader_plugins import CONFIG

TP = "tp3_seq2seq"


def shown(source, path=""):
    return pages.markdown2html({"resources": {"metadata": {"path": str(path)}}}, source)


@pytest.mark.parametrize("source", [
    "<script>alert(1)</script>",
    "text <img src=x onerror=alert(1)> text",
    "[press](javascript:alert(1))",
    "<a href=\"java\nscript:alert(1)\">press</a>",
    "<svg onload=alert(1)>",
    "<math><mtext></p><style><img src=x onerror=alert(1)></style></math>",
    "<form action=https://example.org><input name=password></form>",
    "<details open ontoggle=alert(1)><summary>more</summary></details>",
    '<div style="position:fixed;top:0">over all</div>',
    '<div class="modal-backdrop">over all</div>',
    "<iframe src=https://example.org></iframe>",
    "![seen](https://example.org/who-opened-this.png)",
    "```html\n<script>alert(1)</script>\n```",
    '<span class="navbar-fixed-top">over all</span>',
    "$<img src=x onerror=alert(1)>$",
])
def test_nothing_of_a_students_acts(source):
    html = shown(source)
    assert not re.search(r"<(script|svg|style|form|input|iframe|math)|<[^>]*\b(on\w+|style|id)=|<[^>]*(javascript|example\.org)", html), html
    assert all(name == "highlight" or len(name) <= 3 for name in re.findall(r'<[^>]*class="([^"]*)"', html)), html


def test_a_code_block_keeps_its_colours():
    assert re.search(r'<div class="highlight">.*<span class="k">if', shown("```python\nif x:\n    pass\n```"))


def test_what_a_notebook_says_is_shown():
    html = shown("## Title\n\n**bold** `code`\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n<details><summary>Hint 1</summary> Look at <code>dim</code>. </details>")
    for part in ("<h2", "<strong>bold", "<code>code", "<table", "<td>1", "<details>", "<summary>Hint 1", "<code>dim</code>"):
        assert part in html
    assert "$a_1 &lt; b$" in shown("$a_1 < b$")  # for MathJax


def test_pictures_of_the_tp_lie_in_the_page_and_nothing_else_does(tmp_path):
    (tmp_path / "here" / "figures").mkdir(parents=True)
    (tmp_path / "here" / "figures" / "a.svg").write_text("<svg/>")
    (tmp_path / "secret").write_text("secret")
    assert 'src="data:image/svg+xml;base64,PHN2Zy8+"' in shown("![a picture](figures/a.svg)", tmp_path / "here")
    for source in ("![s](../secret)", "<img src='../secret'>", f"![s]({tmp_path}/secret)"):
        assert "src=" not in shown(source, tmp_path / "here")


def test_a_pasted_picture_that_did_not_come_along_is_named():
    assert "[picture: image.png]" in shown("![image.png](attachment:image.png)")


def test_feedback_pages_are_rendered_so():
    """nbgrader's own template, with our configuration."""
    from nbconvert.exporters import HTMLExporter
    from nbgrader.converters import GenerateFeedback

    notebook = demo.notebook(TP, {"why-forcing": "<script>alert(1)</script> $x^2$"})
    for cell in notebook.cells:
        if "nbgrader" in cell.metadata:
            cell.metadata.nbgrader.update(score=0, points=1, comment=None)
    config = GenerateFeedback(config=Config(CONFIG)).config
    html, _ = HTMLExporter(config=config).from_notebook_node(
        nbformat.from_dict(notebook), resources={"nbgrader": {"notebook": TP, "score": 0, "max_score": 1, "late_penalty": 0}, "inlining": {"css": []}})
    assert "<script>alert" not in html and "&lt;script&gt;alert" in html
    assert html.count("<details>") >= 15
