"""Foreign text, made safe for each place where it is shown, by `escaping`."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from autograder import escaping


@pytest.mark.parametrize("text", ["größe 漢字 \U0001f600", "محمد.علي", "a - b", ""])
def test_words_of_people_stay_as_they_are(text):
    assert escaping.line(text) == escaping.lines(text) == escaping.markdown(text) == escaping.csv_line(text) == text
    assert str(escaping.html(text)) == text


@pytest.mark.parametrize("text, shown", [
    ("a\x1b[2Jb", r"a\x1b[2Jb"), ("a\u202eb", r"a\u202eb"), ("\x9b", r"\x9b"), ("\x00", r"\x00"),
    ("\U000e0001", r"\U000e0001"), ("\u2028", r"\u2028")])
def test_what_is_not_printable_is_shown_by_its_number(text, shown):
    assert escaping.line(text) == escaping.lines(text) == str(escaping.html(text)) == shown


def test_a_line_has_no_line_of_its_own_and_lines_keep_theirs():
    assert escaping.line("a\n\tb\rc") == r"a\n\tb\rc"
    assert escaping.lines("a\n\tb\rc\n") == "a\n\tb\\rc\n"
    assert escaping.csv_line("a\nb") == r"a\nb" and escaping.csv_text("a\n\tb\x1b") == "a\n\tb\\x1b"


def test_markdown_has_no_mark_up():
    marks = "<>&*_`[]()!#|\\~$"
    assert escaping.markdown(f"{marks} a.b\n") == "".join(f"&#{ord(mark)};" for mark in marks) + " a.b&#92;n"


def test_html_is_escaped_once():
    assert escaping.html("<b>&") == Markup("&lt;b&gt;&amp;")
    assert escaping.on_page("<b>") == Markup("&lt;b&gt;")
    assert escaping.on_page(Markup("<b>")) == Markup("<b>") and escaping.on_page(7) == 7
    assert isinstance(escaping.on_page("a"), Markup) and escaping.on_page(None) is None


@pytest.mark.parametrize("text", ["=1", "+1", "@x", "-1", " =1", "  @x", "- a", "=", "--",
                                  "\uff1dcmd()", "\uff0b1", "\uff0d1", "\uff20x", "\ufe661"])
def test_no_cell_is_taken_for_a_formula(text):
    assert escaping.csv_line(text) == escaping.csv_text(text) == f"'{text}"
    assert escaping.from_csv(f"'{text}") == text


@pytest.mark.parametrize("text, cell", [("'=1", "''=1"), ("''-1", "'''-1"), ("' ＝x", "'' ＝x")])
def test_a_quote_that_somebody_wrote_before_a_formula_is_kept(text, cell):
    assert escaping.csv_line(text) == cell and escaping.from_csv(cell) == text


@pytest.mark.parametrize("text", ["-", "a=1", "'", "'a", "1-2", "", "it's", "'-", " '=1"])
def test_other_cells_stay_as_they_are(text):
    assert escaping.csv_line(text) == text == escaping.from_csv(text)


# What a cell treats apart: signs, full-width and small ones too, separators, quotes, spaces, ends of lines.
SPECIAL = "=+-@＝＋－＠﹦﹢﹣﹫⁼₊﬩'\";,\t\n\r \u00a0\u3000a1"


@given(st.text() | st.text(SPECIAL))
def test_what_stands_in_a_spreadsheet_is_read_as_it_was(text):
    assert escaping.from_csv(escaping.csv_cell(text)) == text
    for shown, written in ((escaping.csv_text(text), escaping.lines(text)),
                           (escaping.csv_line(text), escaping.line(text))):
        assert escaping.from_csv(shown) == written
        assert unicodedata.normalize("NFKC", shown.lstrip()[:1]) not in ("=", "+", "@")


@pytest.mark.parametrize("name", [
    "Ada;=1+1", "Ada;\t@x", "Ada; -2", "a;'=1", "=1;=2", "'=1;'=2", "ada;b", "\t＝1", "\r=1"])
def test_a_name_is_no_formula_where_another_sign_separates_and_comes_back_as_it_was(name):
    cell = escaping.csv_cell(name)
    parts = [part.strip() for whole in cell.split(";") for part in whole.split("\t")]
    assert not any(part[:1] in ("=", "+", "@", "-", "＝") for part in parts if part), cell
    assert escaping.from_csv(cell) == name
