"""Markdown on the pages of formgrader and of feedback: ours as it is meant, a student's without anything that acts."""

import re

import nbformat
import pytest
from pygments.token import STANDARD_TYPES
from traitlets.config import Config

from autograder.classroom import markdown
from autograder.classroom.markdown import markdown2html, rendered
from autograder.classroom.nbgrader.config import CONFIG
from autograder.publish import notebooks
from conftest import REPOSITORY

PNG = "data:image/png;base64,iVBORw0KGgo="


def shown(source, path=""):
    return markdown2html({"resources": {"metadata": {"path": str(path)}}}, source)


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
    '<span class="btn">over all</span>',
    "<div><math href=javascript:alert(1)><mi>x</mi></math></div>",
    "\\`<math><mi>x</mi></math>` **<mtable><mtr>**",
    "[press](data:text/html,<script>alert(1)</script>)",
    '<a href="&#1;data:text/html,example.org">press</a>',
    "<style>body { background: url(https://example.org) }</style>",
    '<img src="data:text/html,example.org">',
    '<p title="javascript">over it</p>',
    "<!-- <script>alert(1)</script> -->",
])
def test_nothing_of_a_students_acts(source):
    html = shown(source)
    acts = r"<(script|svg|style|form|input|iframe|math)|<[^>]*\b(on\w+|style|id)="
    assert not re.search(rf"{acts}|<[^>]*(javascript|example\.org|data:text)", html), html
    assert set(re.findall(r'<[^>]*class="([^"]*)"', html)) <= {"highlight", *STANDARD_TYPES.values()}, html


@pytest.mark.parametrize("formula", ["<img src=x onerror=alert(1)>", r"\text{</math><img src=x onerror=alert(1)>}"])
def test_tags_in_a_formula_are_its_letters(formula):
    for html in (shown(f"${formula}$"), shown(f"$${formula}$$")):
        assert "<img" not in html and html.count("<math") == html.count("</math>") == 1


def test_aligned_formulas_are_a_table():
    html = str(rendered(r"$$ \begin{aligned} r &= 1 && \text{reset} \\ z &= 2 \end{aligned} $$"))
    assert html.count("<mtr>") == 2 and "&amp;" not in html


def test_a_code_block_keeps_its_colours():
    assert re.search(r'<div class="highlight">.*<span class="k">if', shown("```python\nif x:\n    pass\n```"))


def test_what_is_no_tag_of_ours_stands_there_as_text():
    html = shown("A sentence ends with <eos>, not `<pad>`; a List<int> & 1 < 2, <B>bold</B> and H<sub>2</sub>O")
    for part in ("ends with &lt;eos&gt;,", "<code>&lt;pad&gt;</code>", "List&lt;int&gt; &amp; 1 &lt; 2",
                 "<b>bold</b>", "H<sub>2</sub>O"):
        assert part in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in shown("<script>alert(1)</script>")


@pytest.mark.parametrize("link, kept", [
    ("https://example.com/a?b=c:d", True), ("mailto:ada@example.com", True), ("#there", True),
    ("../tp1/tp1.ipynb", False), ("plot.html", False), ("/formgrader", False), ("//localhost", False),
    ("?path=.", False), ("%2e%2e/plot.html", False), ("ftp://example.com", False), ("data:text/html,x", False),
    ("vbscript:x", False),
])
def test_links_lead_to_the_web_a_mailbox_or_a_place_on_the_page(link, kept):
    assert (f'href="{link}"' in shown(f"[press]({link})")) == kept


def test_what_a_notebook_says_is_shown():
    html = shown("## Title\n\n**bold** `code`\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n"
                 "<details><summary>Hint 1</summary> Look at <code>dim</code>. </details>")
    for part in ("<h2", "<strong>bold", "<code>code", "<table", "<td>1", "<details>", "<summary>Hint 1",
                 "<code>dim</code>"):
        assert part in html


def test_a_hint_of_several_paragraphs_stays_closed():
    html = shown("<details><summary>Hint</summary>\n\nThe **first**.\n\nThe second.\n\n</details>\n\nAfter it.")
    assert re.search(r"<details><summary>Hint</summary>\s*<p>The <strong>first.*second.*</details>\s*<p>After", html,
                     re.DOTALL)


@pytest.mark.parametrize("source, kept", [
    ("$a_1 < b$", "<mo>&lt;</mo><mi>b</mi>"),
    ("&lt; and &amp;", "&lt; and &amp;"),
    ("$x$ is *this* and $y_1 * z_1$", "is <em>this</em> and <math"),
    ("$$\na &= b \\\\\n$$", "<mi>a</mi>"),
    ("\\begin{align}a &< b\\end{align}", "<mtd"),
])
def test_formulas_need_no_network(source, kept):
    html = shown(source)
    assert kept in html and "$" not in html


@pytest.mark.parametrize("latex", [r"\nonsense{x} < 1", r"x^{\nonsense}", "x" * 1001])
def test_what_is_no_formula_or_too_long_a_one_stays_as_it_is_written(latex):
    for html in (shown(f"${latex}$"), shown(f"$${latex}$$")):
        assert f"<code>{latex.replace('<', '&lt;')}</code>" in html and "<math" not in html


def test_a_formula_in_the_line_and_on_its_own():
    assert 'display="inline"' in shown("$x$") and 'display="block"' in shown("$$x$$")
    assert 'display="block"' in shown("\\begin{align}a\\end{align}")
    assert "<math" in shown(f"${'x' * 1000}$")


def test_a_heading_has_no_link_to_itself_and_a_long_text_is_shown_as_it_is_written():
    assert re.fullmatch(r"<h2>Title</h2>\s*", shown("## Title"))
    assert shown("*x*".ljust(10_000, "y")).startswith("<p><em>x</em>y")
    assert shown("*x* & ".ljust(10_001, "y")).startswith("<pre>*x* &amp; y")


def test_without_a_folder_no_picture_is_shown(tmp_path, monkeypatch):
    (tmp_path / "a.svg").write_text("<svg/>")
    monkeypatch.chdir(tmp_path)
    assert shown("![a](a.svg)") == "<p>[picture: a]</p>\n" and "<img" in shown("![a](a.svg)", tmp_path)
    assert markdown2html({}, "![a](a.svg)") == "<p>[picture: a]</p>\n"


def test_pictures_of_the_tp_lie_in_the_page_and_nothing_else_does(tmp_path):
    here = tmp_path / "here"
    (here / "figures").mkdir(parents=True)
    for name in ("a.svg", "größe 1.svg"):
        (here / "figures" / name).write_text("<svg/>")
    (here / "notes.txt").write_text("notes")
    (tmp_path / "secret.svg").write_text("<svg>secret</svg>")
    (here / "page.png").write_text("<script>alert(1)</script>")
    (here / "link.svg").symlink_to(tmp_path / "secret.svg")
    embedded = 'src="data:image/svg+xml;base64,PHN2Zy8+"'
    for source in ("![a picture](figures/a.svg)", "<img src='figures/a.svg'>", "![a](<figures/größe 1.svg>)"):
        assert embedded in shown(source, here), source
    assert f'src="{PNG}"' in shown(f"![pasted]({PNG})", here)
    for source in ("![s](../secret.svg)", "<img src='../secret.svg'>", f"![s]({tmp_path}/secret.svg)", "![s](link.svg)",
                   "![s](.)", "![s](figures)", "![s](notes.txt)", "![s](%00.svg)", "![s](page.png)",
                   "![s](data:image/svg+xml;base64,PHN2Zy8+)", "![s](data:image/png;base64,PHN2Zy8+)",
                   f"![s]({'a' * 5000}.svg)"):
        assert "src=" not in shown(source, here), source
    assert "src=" not in shown("![a](figures/a.svg)")  # nobody knows where the notebook lies


def test_a_pasted_picture_that_did_not_come_along_is_named():
    assert "[picture: image.png]" in shown("![image.png](attachment:image.png)")


def test_a_page_of_nbgraders_own_is_rendered_so():
    """One of its templates, with our configuration, as formgrader shows it."""
    from nbconvert.exporters import HTMLExporter
    from nbgrader.converters import GenerateFeedback

    notebook = notebooks.filled(REPOSITORY, "tp2_seq2seq", {"why-forcing": "<script>alert(1)</script> $x^2$"})
    for cell in notebook.cells:
        if "nbgrader" in cell.metadata:
            cell.metadata.nbgrader.update(score=0, points=1, comment=None)
    config = GenerateFeedback(config=Config(CONFIG)).config
    graded = {"notebook": "tp2_seq2seq", "score": 0, "max_score": 1, "late_penalty": 0}
    resources = {"nbgrader": graded, "inlining": {"css": []}}
    html, _ = HTMLExporter(config=config).from_notebook_node(nbformat.from_dict(notebook), resources=resources)
    assert "<script>alert" not in html and "&lt;script&gt;alert" in html
    assert html.count("<details>") >= 15


@pytest.mark.parametrize("source", ["$x$ " * 30_000, "<b>" * 700_000, "\\begin{a}" * 200_000, "> " * 6_000])
def test_a_text_that_is_too_much_is_shown_as_it_was_written(source, monkeypatch):
    monkeypatch.setattr(markdown, "mathml", lambda *formula: pytest.fail("it was rendered"))
    html = shown(source)
    assert html.startswith("<pre>") and html.count("<") == 2
