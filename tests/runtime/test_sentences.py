"""The sentences: all of them are made in one module, and these tests are the only ones that read them closely."""

import math
import warnings
from dataclasses import replace

import numpy as np
import pytest
import torch

from autograder.runtime import compare, difference_messages, messages
from autograder.runtime.diagnosis import RecognisedFault
from autograder.runtime.difference import Difference, Outline, Pattern
from autograder.runtime.findings import CheckResult, Finding, findings
from autograder.runtime.pattern import with_region_and_pattern
from autograder.runtime.place import Location, Place
from autograder.runtime.recorded import RELATIONS, CapturedError, ErrorLocation, OutputSpec
from autograder.runtime.values import describe


def sentence(want, have, name="y", **spec):
    expected, got = describe(want), describe(have)
    found = compare.output_difference(name, expected, got, OutputSpec(**spec))
    return difference_messages.difference(with_region_and_pattern(found, expected, got, OutputSpec(**spec)))


ARRAY = torch.arange(60.0).view(3, 4, 5)
ROW = torch.zeros(3, 4).index_fill(0, torch.tensor(2), 1.0)
SLICE = torch.zeros(3, 4, 5).index_fill(1, torch.tensor(2), 1.0)
SCORES = torch.randn(3, 4, 5, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("want, have, spec, said", [
    (1.4, 0.49, {}, "`y`: expected 1.4, got 0.49."),
    (0.09846, -0.7233, {}, "`y`: expected 0.09846, got -0.7233."),
    (1.0, 1.00004, {}, "`y`: expected 1, got 1.00004."),
    (1.0, 1 + 1e-9, {"atol": 1e-12, "rtol": 1e-12}, "`y`: expected 1, got 1.000000001."),
    (1, 2, {}, "`y`: expected 1, got 2."),
    (1, 2.5, {}, "`y`: expected the number 1, got the number 2.5."),
    (True, False, {}, "`y`: expected True, got False."),
    (3.0, "text", {}, "`y`: expected the number 3, got the string 'text'."),
    (torch.zeros(2), None, {},
     "`y`: expected a tensor of shape (2,), got None. Is a `return` missing, or an assignment?"),
    (None, torch.zeros(2), {}, "`y`: expected None, got a tensor of shape (2,)."),
    (torch.zeros(2), np.zeros(2), {}, "`y`: expected a tensor of shape (2,), got a numpy array of shape (2,)."),
    (torch.zeros(2), [1, 2], {}, "`y`: expected a tensor of shape (2,), got a list or tuple of 2."),
    (torch.zeros(2), {"a": 1}, {}, "`y`: expected a tensor of shape (2,), got a dict of 1."),
    ("text", True, {}, "`y`: expected the string 'text', got the boolean True."),
    (torch.zeros(2), object(), {}, "`y`: expected a tensor of shape (2,), got an object."),
    (torch.zeros(2), torch.zeros(2).long(), {}, "`y`: expected dtype float32, got int64."),
    (torch.zeros(2), torch.zeros(2).double(), {}, "`y`: expected dtype float32, got float64."),
    (ARRAY.transpose(0, 1), ARRAY, {"axes": "B T H"},
     "`y`: expected shape (4, 3, 5) (B, T, H), got (3, 4, 5). Its sizes are those of (T, B, H)."),
    (torch.zeros(3, 4), torch.zeros(3, 5), {}, "`y`: expected shape (3, 4), got (3, 5)."),
    (ARRAY, ARRAY.transpose(0, 1), {"axes": "T B H"},
     "`y`: expected shape (3, 4, 5) (T, B, H), got (4, 3, 5). Its sizes are those of (B, T, H)."),
    (ARRAY, ARRAY[None], {}, "`y`: expected shape (3, 4, 5), got (1, 3, 4, 5). An axis of size one is too many."),
    (ARRAY[:, :, :1], ARRAY[:, :, 0], {}, "`y`: expected shape (3, 4, 1), got (3, 4). An axis of size one is missing."),
    (ARRAY[:1, 0], ARRAY[:1, 0].T, {},
     "`y`: expected shape (1, 5), got (5, 1). An axis of size one is in another place."),
    (ARRAY[0, :, :4], ARRAY[0, :, :4].T, {"axes": "T S"},
     "`y`: the values are right, but the axes are in another order; expected (T, S)."),
    (ARRAY[0, :, :4], ARRAY[0, :, :4].T, {}, "`y`: the values are right, but the axes are in another order."),
    (torch.zeros(3), torch.tensor([0, torch.nan, torch.nan]), {},
     "`y[1]`: expected 0, got nan; 2 of 3 values are NaN (not a number)."),
    (torch.zeros(3, 4), ROW, {"axes": "T B"}, "`y[2, 0]`: expected 0, got 1; 4 of 12 values differ, all at T = 2."),
    (torch.zeros(3, 4), ROW, {},
     "`y[2, 0]`: expected 0, got 1; 4 of 12 values differ, all at index 2 of the first axis."),
    (torch.zeros(4, 3), ROW.T, {"axes": "B 2"},
     "`y[0, 2]`: expected 0, got 1; 4 of 12 values differ, all at index 2 of the last axis."),
    (torch.zeros(3), torch.tensor([0.0, 1, 0]), {"axes": "T"}, "`y[1]`: expected 0, got 1; 1 of 3 values differs."),
    (torch.zeros(2), torch.tensor([0.0, 1]), {}, "`y[1]`: expected 0, got 1; 1 of 2 values differs."),
    (torch.zeros(3, 4, 5), SLICE, {},
     "`y[0, 2, 0]`: expected 0, got 1; 15 of 60 values differ, all at index 2 of axis 1."),
    ([41234, 50123, 20111], [50257, 50257, 50257], {}, "`y[0]`: expected 41234, got 50257. All your values are 50257."),
    ([1.5, 2.5, 4.0], [1.5 * (1 - 1e-4), 2.5 * (1 - 1e-4), 4 * (1 - 1e-4)], {},
     "`y[0]`: expected 1.5, got 1.49985. Each of your values is the right one times 0.9999."),
    ([1.5, 2.5, 4.0], [1.5 * (1 - 2e-5), 2.5 * (1 - 2e-5), 4 * (1 - 2e-5)], {},
     "`y[0]`: expected 1.5, got 1.49997. Each of your values is the right one times 0.99998."),
    ([1, 2, 4, 8], [0, 1, 2, 4], {},
     "`y[0]`: expected 1, got 0. Every position but the first has the right values of the one before it."),
    (torch.zeros(3, 4), torch.ones(3, 4).index_fill(0, torch.tensor(0), 0.0), {"axes": "T B"},
     "`y[1, 0]`: expected 0, got 1; 8 of 12 values differ, all at T ≥ 1."),
    (torch.zeros(3, 4), torch.ones(3, 4).index_fill(1, torch.tensor(3), 0.0), {"axes": "T 2"},
     "`y[0, 0]`: expected 0, got 1; 9 of 12 values differ, all before index 3 of the last axis."),
    (torch.zeros(3, 4), torch.ones(3, 4).tril(-1), {"axes": "T S"},
     "`y[1, 0]`: expected 0, got 1; 3 of 12 values differ, all at T ≥ 1 and at S < 2."),
    (torch.zeros(4), torch.tensor([0.0, 0, 1, 1]), {},
     "`y[2]`: expected 0, got 1; 2 of 4 values differ, all from index 2 of the first axis on."),
    (torch.tensor(1.0), torch.tensor(2.0), {}, "`y`: expected 1, got 2."),
    (torch.tensor(1j), torch.tensor(2j), {}, "`y`: expected 0+1j, got 0+2j."),
    ([1, 2, 3], [1, 2, 4], {}, "`y[2]`: expected 3, got 4."),
    ([[1], [2, 3]], [[1], [2, 4]], {}, "`y[1][1]`: expected 3, got 4."),
    ([1, 2, 3], [1, 2], {}, "`y`: expected 3 elements, got 2; the first 2 agree."),
    ([1], [2, 3], {}, "`y`: expected 1 element, got 2."),
    ([1, 2], [1], {}, "`y`: expected 2 elements, got 1."),
    ({"a": 1}, {"b": 1}, {}, "`y`: the key 'a' is missing."),
    ({"a": 1}, {"a": 1, "b\n": 1}, {}, "`y`: the key 'b\\n' does not belong there."),
    ({"a": [1]}, {"a": [2]}, {}, "`y['a'][0]`: expected 1, got 2."),
    ("one", "two", {}, "`y`: expected 'one', got 'two'."),
    ("plus two", "plus ten", {}, "`y`: expected 'plus two', got 'plus ten'; they first differ at index 6."),
    ("a" * 90 + "b" + "a" * 90, "a" * 91, {}, f"`y`: expected …'{'a' * 20}b{'a' * 39}'…, got …'{'a' * 21}'; they first "
                                              "differ at index 90."),
    (1, 2, {"predicate": "def holds(got):\n    return 'it is no three'"}, "It is no three."),
    (1, [2], {"predicate": "def holds(got):\n    return got + 1"},
     "`y`: got a list or tuple of 1, which is not asked for."),
])
def test_what_is_said_of_a_difference(want, have, spec, said):
    assert sentence(want, have, **spec) == said


@pytest.mark.parametrize("pattern, said", [
    (Pattern("one position", 0, positions=(3,)),
     "Along the axis T, every position has the right values of position 3."),
    (Pattern("shifted", 1, number=-1),
     "Along the axis B, every position but the first has the right values of the one before it."),
    (Pattern("shifted", 1, number=1),
     "Along the axis B, every position but the last has the right values of the one after it."),
    (Pattern("reversed", 1), "Along the axis B, the right values stand in reverse order."),
    (Pattern("order", 0, positions=(2, 0, 1)),
     "Along the axis T, the right values stand in another order: those of the positions 2, 0, 1."),
    (Pattern("factor", number=-0.5), "Each of your values is the right one times -0.5."),
    (Pattern("factor", 1),
     "Along the axis B, each of your values is the right one times a number that is the same for all of them."),
    (Pattern("factor", number=8.99999986), "Each of your values is the right one times 9."),
    (Pattern("factor", number=2.0000001), "Each of your values is the right one times 2."),
    (Pattern("added", number=-2.0000001), "Each of your values is the right one plus -2."),
    (Pattern("added", number=250000.2), "Each of your values is the right one plus 250000.2."),
    (Pattern("factor", number=8.9999), "Each of your values is the right one times 8.9999."),
    (Pattern("added", number=1.23456), "Each of your values is the right one plus 1.235."),
    (Pattern("added", number=1.000012), "Each of your values is the right one plus 1.000012."),
    (Pattern("added", number=1.00000012), "Each of your values is the right one plus 1.00000012."),
    (Pattern("added", number=1 + 2.0**-47), "Each of your values is the right one plus 1.00000000000001."),
    (Pattern("same", number=sum([0.1] * 10)), "All your values are 1."),  # 15 digits do not tell it from 1
    (Pattern("factor", number=-1 - 2.0**-52), "Each of your values is the right one times -1."),
    (Pattern("added", number=12345678.0), "Each of your values is the right one plus 12345678."),
    (Pattern("same", number=0.0), "All your values are 0."),
    (Pattern("wrong ones the same", number=0.25), "All the wrong values are 0.25."),
    (Pattern("opposite"), "Each of your values is the opposite of the right one."),
    (Pattern("function of right", function="square"), "Your values are the square of the right ones."),
    (Pattern("function of right", function="one minus"), "Your values are one minus the right ones."),
    (Pattern("function of right", 1, function="softmax"),
     "Your values are the softmax over the axis B of the right ones."),
    (Pattern("function missing", function="tanh"), "The tanh of your values is right."),
    (Pattern("function missing", 0, function="softmax"), "The softmax over the axis T of your values is right."),
])
def test_how_all_values_follow_from_the_right_ones(pattern, said):
    number = Outline("float", 1.0)
    seen = Difference("value", output="y", expected=number, got=number, axes=("T", "B"), index=(0, 0), wrong_count=3,
                      value_count=9, pattern=pattern)
    head = "`y[0, 0]`: expected 1, got 1; 3 of 9 values differ."
    assert difference_messages.difference(seen) == f"{head} {said}"
    of_sums = replace(seen, kind="sum", axis=1)
    head = "`y[0, :]`: expected a sum of 1 over the axis B, got 1."
    assert difference_messages.difference(of_sums) == f"{head} {said}"
    if pattern.axis is not None and said.startswith("Along"):
        alone = replace(seen, axes=(), index=(0,), pattern=replace(pattern, axis=0))
        rest = said.partition(", ")[2]
        assert difference_messages.difference(alone).endswith(f" differ. {rest[0].upper()}{rest[1:]}"), "one axis"


@pytest.mark.parametrize("axes, over, other", [("T B S", "S", "B"), ("T B 2", "2", "B")])
def test_a_sum_over_the_wrong_axis_is_said(axes, over, other):
    said = sentence(SCORES.softmax(2), SCORES.softmax(1), axes=axes, sums_to_one=over)
    place = "the axis S" if over == "S" else "the last axis"
    assert said.startswith(f"`y[0, 0, :]`: expected a sum of 1 over {place}, got ")
    assert said.endswith(f"; over the axis {other} the sum is 1.")
    assert sentence(SCORES.softmax(2), torch.ones(3, 4, 5), axes=axes, sums_to_one=over) == (
        f"`y[0, 0, :]`: expected a sum of 1 over {place}, got 5. All your values are 1.")


@pytest.mark.parametrize("huge", [3e38, math.inf, -math.inf, math.nan, 1e-45])
def test_no_size_of_a_number_makes_numpy_warn(huge):
    with warnings.catch_warnings(action="error"):
        assert sentence(SCORES.softmax(2), torch.full((3, 4, 5), huge), axes="T B S", sums_to_one="S")
        assert sentence(SCORES, torch.full((3, 4, 5), huge))


@pytest.mark.parametrize("unused, said", [
    ([("b", "a")],
     " This check puts other code, with other results, in the place of `a` and `b`. What is called of your "
                   "code does not use them: use them there."),
    ([("b",), ("a", "b")], " These checks put other code, with other results, in the place of `b`. What is called of "
                           "your code does not use it: use it there."),
    ([("a",), ("b",)], ""), ([()], ""),
])
def test_what_no_check_of_a_finding_sees_used_is_said(unused, said):
    number = Outline("float", 1.0)
    results = [CheckResult(str(i), False, "", Difference("value", output="y", expected=number, got=number,
                                                         unused=names))
               for i, names in enumerate(unused)]
    assert messages.headline(Finding(tuple(results))) == f"`y`: expected 1, got 1.{said}"


@pytest.mark.parametrize("name, hint", [
    ("output of one step", " Is a `return` missing, or an assignment?"), ("states[1]", ""), ("cell.weight", ""),
    ("f(x)", ""),
])
def test_a_missing_return_is_suggested_only_where_one_can_be_missing(name, hint):
    said = sentence(torch.zeros(2), None, name)
    assert said == f"`{name}`: expected a tensor of shape (2,), got None.{hint}"


def test_a_gradient_that_does_not_arrive_is_no_missing_return():
    assert sentence(torch.zeros(2), None, "slope", atol_of_max=1e-3) == "`slope`: no gradient arrives there."


@pytest.mark.parametrize("difference, said", [
    (Difference("loop"),
     "On the first inputs the values are right, but how often torch is called changes with the size of the inputs, as "
     "in a loop. Write it for all of them at once."),
    (Difference("built-in", names=("bmm", "einsum")),
     "On the first inputs the values are right, but `bmm`, `einsum` do not count here: write it from the equations."),
    (Difference("built-in", names=("bmm",)),
     "On the first inputs the values are right, but `bmm` does not count here: write it from the equations."),
    (Difference("in-place"),
     "On the first inputs the values are right, but your code changes one of its arguments in place; the caller still "
     "needs it."),
    (Difference("changed", names=("the default dtype",)),
     "On the first inputs the values are right, but your code leaves the default dtype changed; others rely on it."),
    (Difference("missing-output", output="y"), "`y` did not come back."),
    (Difference("missing-output", relation="gradient", output="y"),
     "The values are right, but the gradients are not. `y` did not come back."),
    (Difference("not-checked", reason="too late"), "Not checked: too late."),
    (Difference("not-checked", reason="is it?"), "Not checked: is it?"),
    (Difference("constant"),
     "This alone does not show that your code works: it counts as soon as another check passes."),
])
def test_what_is_said_of_other_differences(difference, said):
    assert difference_messages.difference(difference) == said


def test_every_relation_has_a_sentence():
    assert tuple(difference_messages.RELATION_SENTENCES) == RELATIONS
    assert all(said.endswith(".") for said in difference_messages.RELATION_SENTENCES.values())


LINE = ErrorLocation(3, "f", "y = f(x)")


@pytest.mark.parametrize("error, said", [
    (CapturedError("not-written", "NotImplementedError", ""), "This part is not written yet."),
    (CapturedError("not-written", "NotImplementedError", "", ErrorLocation(2, "encode", "raise NotImplementedError")),
     "`encode` is not written yet."),
    (CapturedError("not-written", "NotImplementedError", "", ErrorLocation(2, "<lambda>", "")),
     "This part is not written yet."),
    (CapturedError("missing-name", "MissingName", "`f` is not defined"), "`f` is not defined."),
    (CapturedError("unusable", "ReplayError", "your code returns an int, expected a tensor"),
     "Your code returns an int, expected a tensor."),
    (CapturedError("raised", "ValueError", "no", LINE),
     "Your code stops with ValueError at line 3 of the cell, `y = f(x)`: no."),
    (CapturedError("raised", "ValueError", ""), "Your code stops with ValueError: no message."),
    (CapturedError("raised", "ValueError", "Why?", ErrorLocation(3, "", "")), "Your code stops with ValueError: Why?"),
    (CapturedError("raised", "TypeError", "no", LINE, origin="check"),
     "At line 3 of the cell, `y = f(x)`, your code calls code of the check, which stops with TypeError: no."),
    (CapturedError("raised", "TypeError", "no", origin="check"),
     "A call that the check makes stops with TypeError: no."),
    (CapturedError("raised", "TypeError", "can't convert cuda:0 device type tensor to numpy.", LINE),
     "Your code stops with TypeError at line 3 of the cell, `y = f(x)`: It gives numpy a tensor that is not on the "
     "CPU. Stay in torch, or call `.cpu()` on the tensor first."),
])
def test_what_is_said_of_an_error(error, said):
    assert difference_messages.error(error) == said


# Several checks


SQUARED = RecognisedFault("squared", "You square the input.")


def failed(check, difference, fault=None):
    return CheckResult(check, False, f"What {check} asks.", difference, fault)


def number(name, want, have):
    return compare.output_difference(name, describe(want), describe(have), OutputSpec())


def stops(message, line):
    return Difference("raised", error=CapturedError("raised", "ValueError", message, ErrorLocation(line, "f", "x")))


def test_a_failing_check_says_what_it_asks_for_and_what_it_sees():
    finding = Finding((failed("a", number("y", 1, 2)), failed("b", number("y", 3, 4)), failed("c", number("y", 1, 2))))
    assert messages.headline(finding) == "`y`: expected 1, got 2."
    assert messages.details(finding) == [("a", "What a asks."), ("b", "What b asks. `y`: expected 3, got 4."),
                                         ("c", "What c asks.")]


def test_a_fault_and_a_relation_are_said_before_the_values():
    fault = Finding((failed("a", number("y", 1, 2), SQUARED), failed("b", number("y", 1, 2), SQUARED)))
    assert messages.headline(fault) == SQUARED.feedback
    assert messages.details(fault) == [("a", "What a asks. `y`: expected 1, got 2."), ("b", "What b asks.")]
    (relation,) = findings([failed("a", Difference("missing-output", relation="repeated call", output="y"))])
    assert messages.headline(relation) == difference_messages.RELATION_SENTENCES["repeated call"]
    assert messages.details(relation) == [("a", "What a asks. `y` did not come back.")]


def test_a_relation_names_its_checks_where_something_else_is_wrong_too():
    broken = [failed(check, Difference("value", relation="one timestep", output="y")) for check in "ab"]
    (alone,) = findings(broken)
    relation, _ = findings([*broken, failed("c", number("y", 1, 2))])
    assert messages.headline(alone) == (
        "It is right on the sequences that were tried, but not on inputs of a single timestep.")
    assert messages.headline(relation) == f"In `a`, `b`: {messages.headline(alone)}"


def test_a_relation_is_said_of_the_checks_that_break_it_alone():
    """A check breaks a relation only where it passes without it, whatever the others do."""
    plain, broken = failed("a", number("z", 1, 5)), failed("b", replace(number("y", 1, 2), relation="gradient"))
    sentence = difference_messages.RELATION_SENTENCES["gradient"]
    assert [messages.headline(one) for one in findings([broken])] == [sentence]
    assert messages.headline(findings([plain, broken])[1]) == f"In `b`: {sentence}"
    assert messages.details(findings([plain, broken])[1]) == [("b", "What b asks. `y`: expected 1, got 2.")]
    edit = Place("edit", (1, 0, 1, 1), text="x")
    for first in (broken, failed("d", Difference("in-place"))):
        mixed = findings([replace(first, place=edit), replace(plain, place=edit)])[0]
        assert messages.headline(mixed) == "`z`: expected 1, got 5.", "one edit mends both, and some values are wrong"
        assert messages.details(mixed)[1][1].startswith(f"What {first.check} asks. ")
    other = failed("d", replace(number("y", 1, 2), relation="evaluation"))
    several = findings([replace(broken, place=edit), replace(other, place=edit)])[0]
    assert messages.headline(several) == f"In `b`: {sentence} `y`: expected 1, got 2."
    named = findings([replace(broken, fault=SQUARED)])[0]
    assert messages.details(named) == [("b", f"What b asks. {sentence} `y`: expected 1, got 2.")]


@pytest.mark.parametrize("difference", [
    Difference("loop"), Difference("in-place"), Difference("built-in", names=("bmm",)),
    Difference("changed", names=("the mode",))])
def test_values_are_called_right_in_the_check_where_they_are(difference):
    assert difference_messages.difference(difference).startswith("On the first inputs the values are right, but ")


def test_the_same_exception_is_said_once():
    seen = [failed(check, stops(message, 2)) for check, message in (("a", "3 of 4"), ("b", "5 of 6"), ("c", "no"))]
    (finding,) = findings(seen)
    assert messages.headline(finding) == "Your code stops with ValueError at line 2 of the cell, `x`: 3 of 4."
    assert [said for _, said in messages.details(finding)] == ["What a asks.", "What b asks.", "What c asks."]


def test_of_a_place_is_said_what_was_tried_there_and_what_its_value_is():
    other = "(a change elsewhere may make them pass, too)"
    for kind, said in (("edit", "With one change here"), ("move", "With this statement in another place"),
                       ("drop", "Without this statement")):
        assert messages.place(Place(kind, (3, 0, 3, 4), text="2 * x", cell=1)) == (
            f"{said}, all checks pass {other}: `2 * x`, line 3 of a cell of your own.")
    assert messages.place(Place("edit", (3, 0, 5, 4), text="2 * x")).endswith("`2 * x`, lines 3 to 5.")
    assert messages.place(Place("no effect", (3, 0, 3, 4), text="optimizer.step")) == (
        "Nothing is called or stored here: `optimizer.step`, line 3.")
    seen = Difference("value", expected=Outline("float", 0.5), got=Outline("float", 0.25), index=(0, 2), wrong_count=3,
                      value_count=6)
    value = Place("value", (3, 0, 3, 4), text="2 * x", difference=seen)
    head = "With a right answer's value here, a failing check passes: `2 * x`, line 3."
    tail = "Look at it, and at what goes into it."
    assert messages.place(value) == (
        f"{head} That value is 0.5 at `[0, 2]`, yours 0.25; 3 of 6 values differ. {tail}")
    assert messages.place(replace(value, difference=None)) == f"{head} {tail}"
    one = Difference("value", expected=Outline("float", 0.5), got=Outline("float", 0.25))
    assert messages.place(replace(value, difference=one)) == f"{head} That value is 0.5, yours 0.25. {tail}"
    for have, said in ((torch.zeros(3), "has shape (2,), yours (3,)"), (torch.zeros(2).long(), "has dtype float32, "
                                                                                              "yours int64")):
        other = compare.output_difference("y", describe(torch.zeros(2)), describe(have), OutputSpec())
        assert messages.place(replace(value, difference=other)) == f"{head} That value {said}. {tail}"
    graded = replace(failed("a check", one), place=replace(value, difference=one))
    assert "In the self-check, that value is 0.5, yours 0.25." in " ".join(" ".join(messages.reasons([graded])).split())
    two = replace(value, difference=one, second=Location((9, 0, 9, 4), 1, "h + x"))
    head = ("With a right answer's values in two places, a failing check passes: `2 * x`, line 3, and `h + x`, "
            "line 9 of a cell of your own.")
    tail = "Look at both, and at what goes into them."
    assert messages.place(two) == f"{head} The first value is 0.5, yours 0.25. {tail}"
    assert messages.place(replace(two, difference=None)) == f"{head} {tail}"


def test_a_place_is_told_once_however_many_checks_lead_to_it():
    there, elsewhere = Place("edit", (3, 0, 3, 4), text="2 * x"), Place("edit", (5, 0, 5, 4), text="3 * x")
    results = [replace(failed(check, number("y", 1, have)), place=place)
               for check, have, place in (("a", 2, there), ("b", 3, there), ("c", 4, elsewhere))]
    said = "\n".join(messages.reasons(results))
    assert (said.count("line 3"), said.count("line 5")) == (1, 1)


def test_a_finding_on_a_card_has_its_numbers_its_place_and_who_sees_it():
    seen = Difference("value", output="y", expected=Outline("float", 0.5), got=Outline("float", 0.25))
    found = replace(failed("a check", seen), place=Place("value", (3, 0, 3, 4), text="2 * x", difference=seen))
    (finding,) = findings([found])
    lines = messages.finding_lines(finding, "seen by 1 of 2 checks")
    said = " ".join(" ".join(lines).split())
    assert "That value is 0.5 at `y`, yours 0.25." in said and "In the self-check" not in said
    assert "      seen by 1 of 2 checks:" in lines and "`y`: expected 0.5, got 0.25." in said
    assert not any(line.endswith(":") for line in messages.finding_lines(finding))
    (general,) = findings([found.without_instance()])
    assert "0.5" not in " ".join(messages.finding_lines(general))


def test_the_reasons_tell_each_cause_once_and_then_what_is_right():
    results = [CheckResult("right", True, "It is right."), failed("a", stops("1", 2)), failed("b", number("y", 1, 2)),
               failed("c", stops("2", 2)), failed("d", number("y", 1, 3)), failed("e", number("y", 1, 3), SQUARED),
               failed("f", number("y", 1, 5), SQUARED)]
    assert messages.reasons(results) == [
        "  ✗ Your code stops with ValueError at line 2 of the cell, `x`: 1.",
        "      a: What a asks.", "      c: What c asks.",
        "  ✗ `y`: expected 1, got 2.", "      b: What b asks.", "      d: What d asks. `y`: expected 1, got 3.",
        "  ✗ You square the input.", "      e: What e asks. `y`: expected 1, got 3.",
        "      f: What f asks. `y`: expected 1, got 5.",
        "  ✓ right: It is right."]
    assert messages.reasons([result.without_instance() for result in results]) == [
        "  ✗ Your code stops with ValueError at line 2 of the cell, `x`: #.",
        "      a: What a asks.", "      c: What c asks.",
        "  ✗ `y`: the values are not those expected.", "      b: What b asks.", "      d: What d asks.",
        "  ✗ You square the input.", "      e: What e asks.", "      f: What f asks.",
        "  ✓ right: It is right."]


@pytest.mark.parametrize("error, advised", [
    (CapturedError("missing-name", "MissingName", "`f` is not defined"),
     "`f` is not defined. Run the cell above, then this one."),
    (CapturedError("raised", "NameError", "name 'n' is not defined", LINE),
     "Your code stops with NameError at line 3 of the cell, `y = f(x)`: name 'n' is not defined. "
     "If a cell above defines it, run that cell first."),
])
def test_a_notebook_says_what_to_do_about_a_missing_name(error, advised):
    finding = Finding((failed("a", compare.error_difference(error)),))
    assert messages.headline(finding, advise=True) == advised
    assert advised.startswith(f"{messages.headline(finding)} ")


@pytest.mark.parametrize("difference", [number("y", 1, 2), stops("no", 3)])
def test_other_differences_need_no_advice(difference):
    finding = Finding((failed("a", difference),))
    assert messages.headline(finding, advise=True) == messages.headline(finding)


def test_a_check_says_what_it_asks_for_or_the_fault_with_what_it_sees():
    assert messages.result(CheckResult("a", True, "It is right.")) == "It is right."
    assert messages.result(failed("a", number("y", 1, 2))) == "`y`: expected 1, got 2."
    assert messages.result(failed("a", number("y", 1, 2), SQUARED)) == f"{SQUARED.feedback} (`y`: expected 1, got 2.)"
    assert messages.result(failed("a", number("y", 1, 2), SQUARED).without_instance()) == SQUARED.feedback


RIGHT, WRONG = CheckResult("right", True, "It is right."), failed("wrong", number("y", 1, 2))
UNWRITTEN = failed("unwritten", Difference("not-written"))


@pytest.mark.parametrize("results, said", [
    ([RIGHT], "the check passes"), ([RIGHT] * 2, "all 2 checks pass"), ([RIGHT, WRONG], "1 of 2 checks pass"),
    ([WRONG], "0 of 1 checks pass"), ([UNWRITTEN] * 2, "not written yet"), ([UNWRITTEN, WRONG], "0 of 2 checks pass"),
    ([RIGHT, UNWRITTEN], "1 of 2 checks pass"),
])
def test_how_many_checks_pass(results, said):
    assert messages.tally(results) == said


@pytest.mark.parametrize("check, where, begins", [
    ("", None, "stopped after 2.5 s."), ("sizes", None, "stopped after 2.5 s, in the check sizes."),
    ("sizes", ErrorLocation(3, "", ""), "stopped after 2.5 s, in the check sizes."),
    ("", LINE, "stopped after 2.5 s at line 3 of the cell, `y = f(x)`."),
    ("sizes", LINE, "stopped after 2.5 s, in the check sizes at line 3 of the cell, `y = f(x)`."),
])
def test_where_a_check_was_stopped_and_how_to_give_it_more_time(check, where, begins):
    assert messages.stopped(2.5, check, where, "rnn") == (
        f'{begins} Does a loop there ever end? If your code needs more time: `tp.check("rnn", seconds=10)`')


def test_lines_fill_a_terminal_and_keep_names_whole():
    assert messages.wrapped(f"{'x' * 80} {'y' * 17} z", "  ") == f"  {'x' * 80} {'y' * 17}\n  z"
    assert messages.wrapped(f"{'x' * 80} {'y' * 18} z", "- ", "    ") == f"- {'x' * 80}\n    {'y' * 18} z"
    assert messages.wrapped(f"{'x' * 80} {'y' * 15}-z", "  ") == f"  {'x' * 80} {'y' * 15}-z"
    assert messages.wrapped(f"{'x' * 80} {'y' * 16}-z", "  ") == f"  {'x' * 80}\n  {'y' * 16}-z"


def test_a_line_of_a_terminal_is_not_broken_within_a_name():
    assert messages.wrapped(f"{'a' * 94} one-two", "") == f"{'a' * 94}\none-two"
