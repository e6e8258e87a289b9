"""Text for people: nouns and numbers, and one line of something longer."""

import pytest

from autograder.runtime.text import (
    counted,
    decimals,
    first_lines,
    last_line,
    latex_for_mathml,
    points_text,
    printable,
    short,
    significant,
    with_article,
)


@pytest.mark.parametrize("number, shown", [(0, "0 files"), (1, "1 file"), (2, "2 files")])
def test_a_number_has_its_noun(number, shown):
    assert counted(number, "file") == shown
    assert counted(number, "entry", "entries") == ("1 entry" if number == 1 else f"{number} entries")


@pytest.mark.parametrize("printed, last", [
    ("one\ntwo\n\n", "two"), ("one", "one"), ("", "no reason given"), (" \n", "no reason given")])
def test_what_a_program_said_last_is_a_line(printed, last):
    assert last_line(printed) == last


@pytest.mark.parametrize("value, digits, text", [
    (123.456, 2, "123.46"), (1234.5, 2, "1234.5"), (20.0, 2, "20"), (-0.00001, 2, "0"), (-0.5, 2, "-0.5"),
    (14.33333, 4, "14.3333"), (0, 2, "0"), (100, 1, "100"),
])
def test_points_are_written_without_zeros_at_the_end(value, digits, text):
    assert decimals(value, digits) == text
    assert decimals(14.336) == "14.34" and points_text(14.336, 20) == "14.34 of 20 points"


@pytest.mark.parametrize("value, text", [
    (0.92857, "0.9286"), (12345.6, "12350"), (0.00001, "0.00001"), (1234567.0, "1235000"), (0.0, "0"), (3, "3"),
    (1e-6, "1e-06"), (1.1e-6, "0.0000011"), (1e9, "1e+09"), (9.99e8, "999000000"), (-1234567.0, "-1235000"),
    (12345 + 1j, "1.234e+04+1j"), (12345678, "1.235e+07"), (float("inf"), "inf"),
])
def test_numbers_have_four_digits_and_powers_of_ten_only_for_many_zeros(value, text):
    assert significant(value) == text and significant(1 / 3, 2) == "0.33"


@pytest.mark.parametrize("noun, phrase", [
    ("array", "an array"), ("Encoder", "an Encoder"), ("int", "an int"), ("object", "an object"),
    ("tensor", "a tensor"), ("union", "a union"),
])
def test_a_noun_has_its_article(noun, phrase):
    assert with_article(noun) == phrase


def test_what_is_short_is_one_line_and_what_is_cut_says_so():
    assert short("a\n  b\t c ") == "a b c" and short(7) == "7"
    assert short("x" * 120) == "x" * 120 and short("x" * 121) == "x" * 119 + "…"
    assert short("abcd", 3) == "ab…" and short("abc", 3) == "abc"


def test_what_comes_from_elsewhere_is_printable_and_bounded():
    assert printable("a\x1b[2J\nb") == "a[2Jb" and printable(7) == printable(None) == printable(b"a") == ""
    assert printable("x" * 121) == "x" * 120 and printable("\0" * 200 + "abcd", 3) == "abc"


def test_an_environment_that_the_library_does_not_know_is_one_that_it_knows():
    aligned = r"\begin{aligned}x\end{aligned} aligned \begin{matrix}"
    assert latex_for_mathml(aligned) == r"\begin{align*}x\end{align*} aligned \begin{matrix}"


@pytest.mark.parametrize("number, limit, shown", [(0, 2, []), (1, 2, ["0"]), (2, 2, ["0", "1"]),
                                                  (3, 2, ["0", "1", "and 1 more"]), (9, 1, ["0", "and 8 more"])])
def test_the_first_lines_and_how_many_more_there_are(number, limit, shown):
    assert first_lines([str(i) for i in range(number)], limit) == shown
