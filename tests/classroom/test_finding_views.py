"""What a student reads of a finding, and of the code that it is about."""

import pytest

from autograder.classroom.finding_views import Line, code_of, finding_view, finding_views
from autograder.judging.verdict import ExerciseResult
from autograder.runtime import card, messages
from autograder.runtime.difference import Difference, Outline
from autograder.runtime.findings import CheckResult, findings
from autograder.runtime.place import Place
from autograder.runtime.recorded import CapturedError, ErrorLocation
from autograder.runtime.side_by_side import SideBySide

RELEASED = "def last(rows):\n    raise NotImplementedError"


def stopped(*locations):
    """The result of an exercise whose checks stopped at these places."""
    checks = (CheckResult(f"c{i}", False, "It is.", Difference("raised", error=CapturedError(
        "raised", "IndexError", "out of range", location))) for i, location in enumerate(locations))
    others = CheckResult("right", True, "It is."), CheckResult("wrong", False, "It is.", Difference("missing-output"))
    return ExerciseResult("last", 0.0, 2.0, "partial", (*others, *checks))


def marked(result, text):
    """The numbers of the lines that are marked in a cell."""
    code = code_of(result, text, RELEASED)
    assert "\n".join(line.text for line in code) == text
    return [number for number, line in enumerate(code, 1) if line.marked]


def test_the_lines_where_an_answer_stopped_are_marked():
    text = "def last(rows):\n    row = rows[9]\n    return row[8]"
    second, third = ErrorLocation(2, "last", "row = rows[9]"), ErrorLocation(3, "last", "return row[8]")
    assert marked(stopped(second), text) == [2] and marked(stopped(second, None, third), text) == [2, 3]
    assert marked(stopped(), text) == marked(stopped(None), text) == []


@pytest.mark.parametrize("location", [ErrorLocation(2, "g", "rows[8]"), ErrorLocation(9, "g", "row = rows[9]"),
                                      ErrorLocation(1, "g", "row = rows[9]")])
def test_a_line_of_another_cell_marks_none_here(location):
    assert marked(stopped(location), "def last(rows):\n    row = rows[9]") == []


@pytest.mark.parametrize("text", [RELEASED, f"\n{RELEASED}\n\n", RELEASED.replace("\n", "\r\n")])
def test_a_cell_as_it_was_released_is_not_shown(text):
    assert code_of(stopped(ErrorLocation(2, "last", "raise NotImplementedError")), text, f"{RELEASED}\n") == ()
    assert Line("    pass", False) in code_of(stopped(), f"{text}\n    pass", RELEASED)


def test_each_finding_is_shown_once_with_what_is_known_of_it():
    values = Difference("value", output="y", expected=Outline("float", 0.5), got=Outline("float", 0.25))
    shown = SideBySide("y", ("A", "B"), (0, 0), (1, 1), ("1",), ("2",), ("1",))
    results = (CheckResult("a", False, "It is.", values, side_by_side=shown), CheckResult("b", True, "It has."),
               CheckResult("c", False, "It does.", Difference("not-checked", reason="no")))
    first, second = finding_views(ExerciseResult("last", 0.0, 2.0, "failed", results), "x")
    assert (first.headline, second.headline) == tuple(map(messages.headline, findings(results)))
    assert (first.details, second.details) == tuple(map(messages.details, findings(results)))
    assert "<table>" in first.side_by_side and (first.place, second.place, second.side_by_side) == ("", "", "")


def test_the_value_at_a_place_is_said_to_be_that_of_the_self_check():
    seen = Difference("value", expected=Outline("float", 0.5), got=Outline("float", 0.25))
    result = CheckResult("a-check", False, "What it asks.", seen, place=Place("value", (1, 0, 1, 1), difference=seen))
    (finding,) = findings([result])
    assert "In the self-check, that value is 0.5, yours 0.25." in finding_view(finding, "x").place
    card_of_it = card.page(card.Card("double", "", wrong=(finding,), cells=("x",)))
    assert "That value is 0.5, yours 0.25." in card_of_it, "in the notebook all numbers are of the self-check"
