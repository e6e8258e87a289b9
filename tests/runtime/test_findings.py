"""What a difference and a finding say of themselves, and which of several checks see one thing."""

from dataclasses import replace

import numpy as np
import pytest

from autograder.runtime.compare import first_difference
from autograder.runtime.diagnosis import RecognisedFault
from autograder.runtime.difference import (
    MAX_NAMES,
    MAX_REASON,
    MAX_STRING,
    STRING_BEFORE,
    VALUE_KINDS,
    Difference,
    DifferenceKind,
    Outline,
    Pattern,
    Region,
)
from autograder.runtime.findings import (
    CheckResult,
    Finding,
    fail_constant_checks,
    findings,
    message_key,
    result_of,
    share_passed,
)
from autograder.runtime.place import Place
from autograder.runtime.recorded import CapturedError, ErrorLocation, OutputSpec, RecordedCheck, Reply
from autograder.runtime.side_by_side import SideBySide, side_by_side_of
from autograder.runtime.values import describe

FAULT = RecognisedFault("squared", "You square it.")
SHOWN = SideBySide("y", ("A", "B"), (0, 0), (1, 1), ("1",), ("2",), ("1",))


def stops(line, message="no", kind="raised", type="ValueError", origin="cell"):
    error = CapturedError(kind, type, message, ErrorLocation(line, "f", "x") if line else None, origin=origin)
    return Difference(kind, error=error)


@pytest.mark.parametrize("kind, relation, unwritten, absent", [
    ("not-written", None, True, True), ("not-written", "repeated call", False, True), ("missing-name", None, False,
                                                                                       True),
    ("raised", None, False, False), ("value", "repeated call", False, False), ("value", None, False, False),
])
def test_whether_there_was_anything_to_call(kind, relation, unwritten, absent):
    seen = Difference(kind, relation)
    assert (seen.is_unwritten, seen.is_missing) == (unwritten, absent)


def test_the_line_at_which_it_stops():
    assert [stops(3).line, stops(None).line, Difference("value").line] == [3, None, None]


def test_what_a_difference_is_where_nothing_else_is_said():
    assert Difference("value") == Difference(
        "value", None, "", None, None, (), (), 0, 0, (), None, None, None, (), "", None)
    assert Pattern("reversed") == Pattern("reversed", None, 0.0, (), None)
    assert (MAX_NAMES, MAX_REASON, MAX_STRING, STRING_BEFORE) == (6, 500, 60, 20)


def test_the_result_of_a_check_is_the_first_difference_of_its_replies():
    right, wrong, worse = (Reply({"y": describe(np.full((2, 2), number))}) for number in (1.0, 2.0, 3.0))
    record = RecordedCheck((), right, {"y": OutputSpec()}, 0)
    answers = [(record, right, None), (record, wrong, FAULT), (record, worse, None)]
    result = result_of("a", "It is.", iter(answers))
    difference = first_difference(record, wrong)
    assert result == CheckResult("a", False, "It is.", difference, FAULT, side_by_side_of("y", record, wrong))
    assert result.difference and result.side_by_side
    assert result_of("a", "It is.", answers[:1]) == CheckResult("a", True, "It is.")


@pytest.mark.parametrize("values, others, shown", [
    ({"y": 1.0, "z": 2.0}, {}, "z"), ({"y": 2.0, "z": 2.0}, {}, "y"), ({"y": [1.0], "z": 1.0}, {}, None),
    ({"y": 1.0, "z": 2.0}, {"forbidden_calls": ("softmax",)}, None),  # that is said, and not what a relation found
    ({"y": 2.0}, {"error": stops(3).error}, "y"),  # the values differ before the error
])
def test_the_numbers_that_are_shown_are_those_of_the_difference(values, others, shown):
    def reply(values, **others):
        return Reply({name: describe(np.full((2, 2), value) if isinstance(value, float) else value)
                      for name, value in values.items()}, **others)

    specs = {"y": OutputSpec(), "z": OutputSpec(relation="gradient")}
    record = RecordedCheck((), reply({"y": 1.0, "z": 1.0}), specs, 0)
    result = result_of("a", "It is.", [(record, reply(values, **others), None)])
    assert result.difference and (result.side_by_side.name if result.side_by_side else None) == shown


def found(*seen):
    """What the checks a, b, c … see, by what is wrong."""
    return [one.checks for one in findings([CheckResult(name, not rest, "", *rest)
                                            for name, rest in zip("abcdef", seen, strict=False)])]


@pytest.mark.parametrize("kind", VALUE_KINDS)
def test_values_that_are_not_right_are_one_thing(kind: DifferenceKind):
    assert found([Difference(kind, output="y")], [Difference("value", output="z")]) == [("a", "b")]


def test_a_relation_is_one_thing_and_each_another():
    memory, gradient = Difference("value", "repeated call"), Difference("raised", "gradient")
    assert found([memory], [gradient], [Difference("shape", "repeated call")], [Difference("value")]) == [
        ("a", "c"), ("b",), ("d",)]


def test_a_fault_is_one_thing_whatever_is_seen():
    assert found([stops(1), FAULT], [], [Difference("value", "repeated call"), FAULT], [stops(1)]) == [("a", "c"),
                                                                                                       ("d",)]


def test_an_exception_is_one_thing_by_type_line_and_whose_code_it_was():
    seen = [stops(3), stops(3, "yes"), stops(4), stops(3, type="KeyError"), stops(3, origin="check")]
    assert found(*([one] for one in seen)) == [("a", "b"), ("c",), ("d",), ("e",)]
    missing = [stops(3, "no", "missing-name"), stops(3, "yes", "missing-name"), stops(3, "no", "missing-name")]
    assert found(*([one] for one in missing)) == [("a", "c"), ("b",)]
    assert message_key(Difference("raised")) == Difference("raised")


def test_what_a_finding_tells():
    results = (CheckResult("a", False, "", stops(1)), CheckResult("b", False, "", Difference("value", "repeated call"),
                                                                  FAULT),
               CheckResult("c", True, ""))
    one = Finding(results)
    assert (one.checks, one.differences) == (("a", "b", "c"), (results[0].difference, results[1].difference))
    assert (one.fault, one.relation, one.side_by_side) == (FAULT, None, None)
    broken = Finding((CheckResult("b", False, "", Difference("value", "repeated call")),))
    assert broken.is_only
    assert (broken.fault, broken.relation) == (None, "repeated call")
    named = Finding((results[1], CheckResult("d", False, "", Difference("value"), FAULT, SHOWN),
                     CheckResult("e", False, "", Difference("value"), FAULT)))
    assert (named.fault, named.relation, named.side_by_side) == (FAULT, None, SHOWN)


def test_values_that_go_wrong_at_one_place_are_one_thing():
    here, again = (Place("value", (2, 4, 2, 9), matched_lines=known) for known in ((), (1, 2)))
    others = Place("value", (3, 4, 3, 9)), Place("value", (2, 4, 2, 9), cell=1)
    results = [CheckResult(name, False, "", Difference("value"), place=place)
               for name, place in zip("abcdef", (here, None, again, *others, None), strict=True)]
    found = findings(results)
    assert [one.checks for one in found] == [("a", "c"), ("b", "f"), ("d",), ("e",)]
    assert [one.place for one in found] == [here, None, *others]
    assert Finding((results[1], results[2])).place == again


def test_what_one_edit_mends_is_one_thing_with_the_fault_that_was_recognised():
    edit = Place("edit", (1, 0, 1, 3), text="x")
    seen = [CheckResult("a", False, "", stops(1), place=edit), CheckResult("b", True, ""),
            CheckResult("c", False, "", Difference("value", "repeated call"), FAULT, place=edit)]
    (one,) = findings(seen)
    assert one.checks == ("a", "c") and one.fault == FAULT and one.place == edit and one.is_only


def test_of_what_one_edit_mends_those_come_first_whose_own_values_are_wrong():
    edit = Place("edit", (1, 0, 1, 1), text="x")
    broken, changed, plain, other = (CheckResult(name, False, "", difference, place=edit) for name, difference in (
        ("a", Difference("value", "gradient")), ("b", Difference("in-place")), ("c", Difference("value")),
        ("d", Difference("value", "evaluation"))))
    (mixed,) = findings([broken, changed, plain, other])
    assert mixed.checks == ("c", "a", "b", "d") and mixed.relation is None
    assert findings([broken, other])[0].relation is None and findings([broken, broken])[0].relation == "gradient"
    assert findings([replace(broken, fault=FAULT)])[0].relation is None


CELL, OUTSIDE = (CapturedError("raised", "ValueError", "no", None, origin=origin) for origin in ("cell", "check"))


@pytest.mark.parametrize(("difference", "is_of_values", "is_locatable"), [
    (Difference("value"), True, True),
    (Difference("value", "repeated call"), False, False),
    (Difference("missing-output"), False, False),
    (Difference("nothing"), False, False),
    (Difference("in-place"), False, False),
    (Difference("raised", error=CELL), False, True),
    (Difference("raised", error=OUTSIDE), False, False),
    (Difference("raised", "repeated call", error=CELL), False, False),
    (Difference("not-written", error=CELL), False, False),
])
def test_a_place_is_looked_for_where_values_differ_or_code_of_the_student_stops(difference, is_of_values, is_locatable):
    assert (difference.is_of_values, difference.is_locatable) == (is_of_values, is_locatable)


def test_one_edit_may_mend_what_is_there_and_no_rule_that_was_broken():
    assert [kind for kind in ("value", "raised", "not-written", "missing-name", "loop", "built-in")
            if Difference(kind).is_repairable] == ["value", "raised"]


PASSES, FAILS = CheckResult("a", True, ""), CheckResult("b", False, "", Difference("value", output="y"))


@pytest.mark.parametrize("results, constant, passed", [
    ([PASSES, PASSES], [True, True], [True, True]),
    ([PASSES, FAILS], [True, False], [False, False]),
    ([PASSES, FAILS], [True, True], [False, False]),
    ([PASSES, FAILS, PASSES], [True, False, False], [True, False, True]),
    ([FAILS, FAILS], [True, False], [False, False]),
    ([PASSES, FAILS], [False, False], [True, False]),
])
def test_a_check_that_a_constant_passes_counts_beside_one_that_varies(results, constant, passed):
    counted = fail_constant_checks(results, constant)
    assert [result.passed for result in counted] == passed
    assert [result.difference for result in counted if not result.passed] == [
        Difference("constant") if before.passed else before.difference
        for before, result in zip(results, counted, strict=True) if not result.passed]


@pytest.mark.parametrize("results, weights, share", [
    ([PASSES], [3], 1), ([FAILS], [3], 0), ([PASSES, FAILS, PASSES], [2, 3, 1], 0.5), ([FAILS, PASSES], [1, 4], 0.8),
])
def test_the_share_of_points_follows_from_the_weights_of_the_checks_that_pass(results, weights, share):
    assert share_passed(results, weights) == share
    with pytest.raises(ValueError):
        share_passed(results, [*weights, 1])


NUMBER = Outline("int", 4711)
FULL = Difference("value", "repeated call", "rows[1]['a']", NUMBER, NUMBER, ("T", "B"), index=(1, 2), wrong_count=3,
                  value_count=4, region=(Region(0, 1, None),), pattern=Pattern("reversed", 0), axis=1,
                  axis_summing_to_one=0, names=("a",), reason="It is not.")


@pytest.mark.parametrize("kind, names, said", [
    ("value", (), "It is not."), ("predicate", (), ""), ("built-in", ("a",), "It is not."),
    ("changed", ("a",), "It is not."), ("not-checked", (), "It is not."), ("key-missing", (), "It is not.")])
def test_in_general_a_difference_has_its_kind_and_its_output_and_nothing_of_the_instance(kind, names, said):
    assert replace(FULL, kind=kind).without_instance() == Difference(
        kind, "repeated call", "rows", axes=("T", "B"), names=names, reason=said, hides_instance=True)


def test_a_difference_is_of_its_instance_until_it_is_made_general():
    assert not Difference("value").hides_instance and Difference("value").without_instance().hides_instance


def test_in_general_an_error_of_the_student_has_no_digits_and_one_of_ours_is_as_it_was():
    raised, ours = stops(3, "7 of 12").error, CapturedError("unusable", "ReplayError", "it takes 2 arguments")
    assert Difference("raised", error=raised).without_instance().error == replace(raised, message="# of #")
    assert Difference("unusable", error=ours).without_instance().error == ours
    assert Difference("value").without_instance().error is None


def test_in_general_a_result_keeps_its_fault_and_its_place_without_values():
    place = Place("value", (1, 0, 1, 1), text="x", matched_lines=(1,), difference=FULL)
    result = CheckResult("a", False, "It is asked.", FULL, FAULT, SHOWN, place)
    assert result.without_instance() == CheckResult("a", False, "It is asked.", FULL.without_instance(), FAULT, None,
                                                    replace(place, difference=None))
    assert CheckResult("a", True, "It is asked.").without_instance() == CheckResult("a", True, "It is asked.")


def test_equal_sizes_are_no_cause_where_a_check_fails_on_its_own_inputs():
    equal, gradient, plain = (CheckResult(name, False, "", Difference("value", relation)) for name, relation in (
        ("a", "equal sizes"), ("b", "gradient"), ("c", None)))
    passed = CheckResult("d", True, "")
    assert [one.relation for one in findings([equal, gradient, passed])] == ["equal sizes", "gradient"]
    assert [one.relation for one in findings([equal, passed, gradient, plain])] == ["other inputs", "gradient", None]
    for kind in ("in-place", "loop", "changed", "constant", "not-checked"):  # the values of its own inputs are right
        beside = CheckResult("e", False, "", Difference(kind))
        assert [one.relation for one in findings([equal, beside])] == ["equal sizes", None], kind
