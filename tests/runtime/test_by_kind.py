"""What is told where one may ask any number of times: name, place and kind, and no number of the instance."""

from typing import get_args

import pytest

from autograder.runtime import difference_messages, messages
from autograder.runtime.diagnosis import RecognisedFault
from autograder.runtime.difference import Difference, DifferenceKind, Outline, Pattern, Region
from autograder.runtime.findings import CheckResult
from autograder.runtime.place import Place
from autograder.runtime.recorded import RELATIONS, CapturedError, ErrorLocation

SAID = {"not-checked", "predicate"}  # in words of the course's authors, or of the grader
ERRORS = ("not-written", "missing-name", "unusable", "raised")


def told(difference, fault=None, place=None):
    result = CheckResult("check", False, "It is.", difference, fault, place=place)
    return "\n".join(messages.reasons([result.without_instance()]))


@pytest.mark.parametrize("relation", [None, *RELATIONS])
@pytest.mark.parametrize("kind", [kind for kind in get_args(DifferenceKind) if kind not in ERRORS])
def test_no_number_is_told_of_any_kind_of_difference(kind, relation):
    number = Outline("int", 4711)
    seen = Difference(kind, relation, "rows[4711]['4711']", number, number, ("T", "B"), index=(4711, 4711),
                      value_count=4711, wrong_count=4711, region=(Region(0, 4711, None),),
                      pattern=Pattern("order", 1, 4711, (4711,)), axis=1,
                      axis_summing_to_one=0, names=("torch.sum",), reason="It is not.")
    text = told(seen)
    assert "4711" not in text and "torch.sum" in text if kind in ("built-in", "changed") else "4711" not in text
    assert len(text.splitlines()) >= 2
    assert messages.result(CheckResult("check", False, "It is.", seen).without_instance())


def test_of_an_error_type_and_line_are_told_and_no_number_of_its_message():
    seen = Difference("raised", error=CapturedError("raised", "ValueError", "inputs: [47.11, 3]",
                                                    ErrorLocation(12, "f", "x = y[7]"), origin="cell"))
    text = " ".join(told(seen).split())
    assert "Your code stops with ValueError at line 12 of the cell, `x = y[7]`: inputs: [#.#, #]." in text


@pytest.mark.parametrize("seen, said", [
    (None, "It is."),
    (Difference("shape", output="rows[3]"), "`rows`: the shape is not the one expected."),
    (Difference("type", "gradient", output="y"),
     "The values are right, but the gradients are not. `y`: it is not of the kind expected."),
    (Difference("loop", "repeated call"),
     f"{difference_messages.RELATION_SENTENCES['repeated call']} {difference_messages.difference(Difference('loop'))}"),
    (Difference("changed", names=("it",)), difference_messages.difference(Difference("changed", names=("it",)))),
    (Difference("unusable", error=CapturedError("unusable", "ReplayError", "it takes 2 arguments")),
     "It takes 2 arguments."),
    (Difference("raised", "repeated call", error=CapturedError("raised", "ValueError", "2 of 12")),
     f"{difference_messages.RELATION_SENTENCES['repeated call']} Your code stops with ValueError: # of #."),
])
def test_the_kind_of_a_difference_is_told_with_its_relation(seen, said):
    assert messages.result(CheckResult("check", seen is None, "It is.", seen).without_instance()) == said


def test_a_fault_is_told_by_its_sentence_alone_and_a_place_without_its_numbers():
    seen = Difference("value", output="it", expected=Outline("float", 47.11), got=Outline("float", 0.4711))
    text = told(seen, RecognisedFault("squared", "You squared it."),
                Place("value", (3, 0, 3, 9), text="x * y", difference=seen))
    assert "You squared it." in text and "line 3" in text and "47" not in text
    assert "47.11" in messages.result(CheckResult("check", False, "It is.", seen)), "the control"
