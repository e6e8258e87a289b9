"""Comparing at its bounds: tolerances, orders, what of a reply belongs to a check, and which replies are the same."""

import math
import warnings
from dataclasses import replace

import numpy as np
import pytest
import torch

from autograder.runtime import compare
from autograder.runtime.difference import MAX_NAMES, MAX_REASON, MAX_STRING, Difference, Outline
from autograder.runtime.recorded import CapturedError, OutputSpec, RecordedCheck, Reply
from autograder.runtime.values import ScalarValue, describe


def difference(want, have, name="y", **spec):
    return compare.output_difference(name, describe(want), describe(have), OutputSpec(**spec))


# Tolerances


@pytest.mark.parametrize("dtype, tolerance", [
    ("float64", 1e-7), ("float32", 2e-4), ("float16", 2e-2), ("bfloat16", 5e-2), ("complex128", 1e-7),
])
def test_each_type_of_array_has_its_tolerance(dtype, tolerance):
    want = torch.full((2,), 8.0, dtype=getattr(torch, dtype))
    inside, outside = (want + 9 * tolerance * share for share in (0.8, 1.4))
    assert difference(want, inside) is None and difference(want, outside).kind == "value"
    assert difference(-want, -inside) is None and difference(-want, -outside).kind == "value"


def test_the_tolerance_is_absolute_and_relative_and_its_bound_belongs_to_it():
    zero, far = torch.zeros(2, dtype=torch.float64), torch.full((2,), 64.0, dtype=torch.float64)
    assert difference(zero, zero + 0.5, atol=0.5) is None and difference(zero, zero + 0.51, atol=0.5)
    assert difference(far, far + 16, rtol=0.25) is None and difference(far, far + 16.1, rtol=0.25)
    assert difference(far, far + 16.5, rtol=0.25, atol=0.5) is None and difference(far, far - 16.6, rtol=0.25, atol=0.5)


@pytest.mark.parametrize("want", [torch.full((2,), 8.0), 8.0])
def test_a_tolerance_of_zero_is_none(want):
    assert difference(want, want + 2e-6, atol=0) is None and difference(want, want + 2e-6, rtol=0, atol=1e-5) is None
    assert difference(want, want + 2e-6, atol=0, rtol=0) and difference(want, want, atol=0, rtol=0) is None


@pytest.mark.parametrize("want", [0.0, 8.0, -8.0])
def test_numbers_are_as_near_as_floats_are(want):
    inside, outside = 1e-6 + 0.9e-5 * abs(want), 1.2e-6 + 1.1e-5 * abs(want)
    for sign in (1, -1):
        assert difference(want, want + sign * inside) is None and difference(want, want + sign * outside)
    assert difference(want, want + 0.5, atol=0.5) is None and difference(want, want + 0.6, atol=0.5)
    assert difference(want, want + 0.25 * abs(want), rtol=0.25) is None


@pytest.mark.parametrize("want", [torch.full((2, 3), 8.0), 8.0])
def test_on_a_gpu_the_tolerances_are_twenty_times_as_wide(want):
    record = RecordedCheck((), Reply({"y": describe(want)}), {"y": OutputSpec()}, 0)
    there, one = record.for_device("cuda"), 9 * 2e-4 if isinstance(want, torch.Tensor) else 1e-6 + 8e-5
    for off in (0.8, 1.4, 16, 25):
        got = Reply({"y": describe(want + off * one)})
        assert (compare.first_difference(record, got) is None) is (off < 1)
        assert (compare.first_difference(there, got) is None) is (off < 20)
    assert record.for_device("cpu") is record


def test_a_share_of_the_largest_number_is_tolerated_where_no_tolerance_is_set():
    want, have = torch.tensor([100.0, 0.0, -200.0, math.inf]), torch.tensor([100.0, 1.9, -200.0, math.inf])
    assert difference(want, have, atol_of_max=0.01) is None and difference(want, have).index == (1,)
    assert difference(want, have, atol_of_max=0.009) and difference(want, have, atol_of_max=0.01, atol=0.1)


def test_the_largest_of_a_dict_measures_what_is_rounding_alone():
    want = {"a": torch.tensor([0.0]), "b": torch.tensor([1000.0]), "c": 3, "d": torch.zeros(0)}
    have = {**want, "a": torch.tensor([0.995])}
    assert difference(want, have, atol_of_max=0.1) is None
    assert difference(want, {**have, "a": torch.tensor([1.1])}, atol_of_max=0.1).output == "y['a']"
    assert difference(want, have).output == "y['a']"
    assert difference({"n": torch.tensor([10])}, {"n": torch.tensor([11])}, atol_of_max=0.5).output == "y['n']"
    small = {"a": torch.tensor([4.0]), "b": torch.tensor([100.0])}
    assert difference(small, {**small, "a": torch.tensor([5.9])}, atol_of_max=0.5) is None
    assert difference(small, {**small, "a": torch.tensor([6.1])}, atol_of_max=0.5).output == "y['a']"
    nothing = {"a": torch.tensor([math.nan, -2.0]), "b": torch.tensor([math.inf])}
    assert difference(nothing, {**nothing, "a": torch.tensor([math.nan, -2.9])}, atol_of_max=0.5) is None
    assert difference({}, {}, atol_of_max=0.5) is None


@pytest.mark.parametrize("beside", [3.0, torch.zeros(0), torch.tensor([math.nan]), torch.tensor([True])])
def test_what_has_no_largest_number_measures_nothing(beside):
    want = {"a": torch.tensor([0.001]), "b": beside}
    assert difference(want, {**want, "a": torch.tensor([0.00109])}, atol_of_max=0.1) is None
    assert difference(want, {**want, "a": torch.tensor([0.00111])}, atol_of_max=0.1).output == "y['a']"
    assert difference({"b": 3.0}, {"b": 3.2}, atol_of_max=0.5).output == "y['b']"


def test_odd_numbers_agree_with_themselves_alone_and_warn_of_nothing():
    odd = torch.tensor([math.nan, math.inf, -math.inf, 1e308], dtype=torch.float64)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert difference(odd, odd.clone()) is None
        for want in odd:
            for have in (*odd, torch.tensor(0.0, dtype=torch.float64), -odd[3]):
                same = str(want) == str(have)
                assert (difference(want[None], have[None]) is None) == same
                assert (difference(want.item(), have.item()) is None) == same


# Kinds


@pytest.mark.parametrize("want, have, kind", [
    (3, 3.0, "type"), (3, True, "value"), (1, True, None), (True, 1, None), (True, False, "value"), (2.0, 2, None),
    (3, torch.tensor([[3]]), None), (3.0, torch.tensor([3.0]), None), (3, torch.tensor([3, 3]), "type"),
    (3, torch.tensor([3j]), "type"), (3, "3", "type"), (3, None, "nothing"), (3, [3], "type"), (3, 4, "value"),
    (3, torch.tensor([4]), "value"), (3, 3.000001, "type"), (3.0, 3.000001, None), ("a", 3, "type"), ("a", "a", None),
    (None, None, None), ([1], (1,), None), ({}, [], "type"), (object(), object(), None), (object(), 3, "type"),
    (torch.ones(2), torch.ones(2).numpy(), "type"), (torch.ones(2).numpy(), torch.ones(2), None),
    (torch.ones(2).numpy(), np.ones(2), None), (torch.ones(2), torch.ones(2).double(), "dtype"),
    (torch.ones(2).int(), torch.ones(2).long(), "dtype"), (np.ones(2, "uint8"), np.ones(2, "int64"), None),
    (np.ones(2, "int64"), np.ones(2, "uint8"), None), (np.ones(2), np.ones(2, int), "dtype"),
    (np.ones(2, bool), np.ones(2, int), "dtype"), (np.ones(2, int), np.array([1, 2]), "value"),
    (np.ones(2, bool), np.array([True, False]), "value"), (np.ones(2, "uint8"), np.array([1, 3], "uint8"), "value"),
    (np.array([10**15]), np.array([10**15 + 1]), "value"), (10**6, 10**6 + 1, "value"),
])
def test_which_values_agree(want, have, kind):
    seen = difference(want, have)
    assert (seen and seen.kind) == kind
    if kind in ("type", "dtype", "nothing"):
        assert seen == Difference(kind, output="y", expected=compare.outline(describe(want)),
                                  got=compare.outline(describe(have)))


@pytest.mark.parametrize("name, atol_of_max, kind", [
    ("y", None, "nothing"), ("slope", 1e-3, "no-gradient"), ("slope of y[0]", 1e-3, "no-gradient"),
    ("integrated gradients", None, "nothing"), ("y[0]", None, "type"), ("model.weight", None, "type"),
    ("f(x)", None, "type")])
def test_none_in_the_place_of_a_value(name, atol_of_max, kind):
    assert difference(torch.ones(2), None, name, atol_of_max=atol_of_max) == Difference(
        kind, output=name, expected=Outline("tensor", dtype="float32", shape=(2,)), got=Outline("none"))


@pytest.mark.parametrize("value, outline", [
    (torch.ones(2, 3), Outline("tensor", dtype="float32", shape=(2, 3))), ([1, 2], Outline("list", shape=(2,))),
    ({"a": 1}, Outline("dict", shape=(1,))), (object(), Outline("other", "object")), (None, Outline("none")),
    ("a" * 99, Outline("str", "a" * MAX_STRING, shape=(99,))), (3, Outline("int", 3)), (True, Outline("bool", True)),
    (1 / 3, Outline("float", 0.3333)), (123456.0, Outline("float", 123500.0)), (math.inf, Outline("float", "inf")),
])
def test_what_a_value_is(value, outline):
    assert compare.outline(describe(value)) == outline


@pytest.mark.parametrize("want, have, shown", [
    (1.0, 2.0, (1.0, 2.0)), (0.12341, 0.12339, (0.12341, 0.12339)), (0.123456, 0.123, (0.1235, 0.123)),
    (0.12344, 0.12336, (0.12344, 0.12336)), (0.123412345, 0.123392345, (0.1234123, 0.1233923)),
    (1e9 + 1, 1e9 + 9, (1e9 + 1, 1e9 + 9)), (3, 4.56789, (3, 4.568)),
    (0.1234561, 0.1234562, (0.1234561, 0.1234562)),
    (0.12345611, 0.12345612, (0.12345611, 0.12345612)),
])
def test_numbers_are_shown_with_the_digits_that_tell_them_apart(want, have, shown):
    seen = difference(want, have, rtol=1e-12, atol=1e-12)
    assert (seen.expected.value, seen.got.value) == shown


def test_a_number_of_a_complex_array_is_text():
    seen = difference(np.array([1 + 2j]), np.array([3.00001 + 2j]))
    assert (seen.expected, seen.got) == (Outline("complex", "1+2j"), Outline("complex", "3+2j"))


# Arrays


def test_a_nan_is_told_before_all_else_where_none_belongs():
    want = torch.arange(6.0).reshape(2, 3)
    have = want.clone()
    have[0, 0], have[1, 1], have[1, 2] = 9, math.nan, math.nan
    assert difference(want, have, axes="T B") == Difference(
        "nan", output="y", expected=Outline("float", 4.0), got=Outline("float", "nan"), axes=("T", "B"), index=(1, 1),
        wrong_count=2, value_count=6)
    want[0, 1] = math.nan
    assert difference(want, have).kind == "value"
    assert difference(np.ones(2, complex), np.array([1, complex(math.nan, 0)])).kind == "nan"


def test_another_shape_is_told_with_the_letters_of_all_axes():
    seen = difference(torch.zeros(2, 3), torch.zeros(3, 2), axes="T B")
    assert (seen.kind, seen.axes, seen.expected.shape, seen.got.shape) == ("shape", ("T", "B"), (2, 3), (3, 2))
    assert difference(torch.zeros(2, 3), torch.zeros(3, 2), axes="T").axes == ()
    assert difference(torch.zeros(2, 3), torch.zeros(3, 2)).axes == ()


@pytest.mark.parametrize("order", [(1, 0, 2), (0, 2, 1), (2, 1, 0), (1, 2, 0), (2, 0, 1)])
def test_axes_in_another_order_are_told_so_in_any_order(order):
    want = torch.arange(27.0).reshape(3, 3, 3) + 1
    assert difference(want, want.permute(order), axes="T B D") == Difference("axes", output="y", axes=("T", "B", "D"))


def test_another_order_is_told_within_the_tolerance_of_the_check():
    want = torch.arange(1, 10.0).reshape(3, 3) * 100
    assert difference(want, want.T * 1.00015).kind == "axes" and difference(want, want.T * 1.0003).kind == "value"
    small = torch.tensor([[0.0, 1], [0, 0]])
    assert difference(small, small.T + 0.9e-4).kind == "axes" and difference(small, small.T + 2.2e-4).kind == "value"


def test_sums_that_are_not_one():
    want = torch.full((2, 4), 0.25)
    have = want.clone()
    have[1] = torch.tensor([0.5, 0.5, 0.25, 0.0])
    seen = difference(want, have, axes="T S", sums_to_one="S")
    assert seen == Difference("sum", output="y", expected=Outline("float", 1.0), got=Outline("float", 1.25),
                              axes=("T", "S"), index=(1, 0), wrong_count=1, value_count=2, axis=1)
    assert difference(want.T, have.T, axes="S T", sums_to_one="S") == replace(
        seen, axes=("S", "T"), index=(0, 1), axis=0)
    have[1] = torch.tensor([0.5, 0.5, 0.0, 0.0])  # another share, and one in all
    assert difference(want, have, axes="T S", sums_to_one="S").kind == "value"
    have[1] = torch.tensor([0.5, 0.5, 0.0009, 0.0])
    assert difference(want, have, axes="T S", sums_to_one="S").kind == "value"
    have[1] = torch.tensor([0.5, 0.5, 0.0011, 0.0])
    assert difference(want, have, axes="T S", sums_to_one="S").kind == "sum"
    have[1] = torch.tensor([0.5, 0.25, 0.0, 0.0])
    assert difference(want, have, axes="T S", sums_to_one="S").got.value == 0.75
    assert difference(want, have, axes="T S").kind == "value"
    assert difference(want, have, axes="T S", sums_to_one="B").kind == "value"
    assert difference(np.eye(2, dtype=int), np.ones((2, 2), int), axes="T S", sums_to_one="S").kind == "value"


def test_the_axis_over_which_they_do_sum_to_one():
    scores = torch.arange(24.0).reshape(2, 3, 4).sin()
    seen = difference(scores.softmax(2), scores.softmax(0), axes="A B S", sums_to_one="S")
    assert (seen.axis, seen.axis_summing_to_one) == (2, 0)
    nearly = difference(scores.softmax(2), scores.softmax(1) * 1.0009, axes="A B S", sums_to_one="S")
    assert nearly.axis_summing_to_one == 1
    other = difference(scores.softmax(2), scores.softmax(1) * 1.0012, axes="A B S", sums_to_one="S")
    assert other.axis_summing_to_one is None


# Lists, dicts and text


@pytest.mark.parametrize("want, have, at", [
    ([1, 2, 3], [1, 2, 3, 4], 3), ([1, 2, 3], [], 0), ([], [1], 0), ([1, 2, 3], [1, 9], 1), ([1, 2], [1, 2, 9, 9], 2),
])
def test_a_list_of_another_length_is_told_with_how_many_agree(want, have, at):
    assert difference(want, have) == Difference(
        "length", output="y", expected=Outline("list", shape=(len(want),)), got=Outline("list", shape=(len(have),)),
        index=(at,))


def test_lists_agree_or_differ_in_their_first_element_that_does():
    assert difference([1, [2, "a"]], [1, [2, "a"]]) is None
    assert difference([1, 2, 3], [1, 5, 6]).output == "y[1]"


def test_the_first_key_that_is_missing_or_one_too_many():
    assert difference({"a": 1, "k" * 60: 2}, {"a": 1}).names == (f"{'k' * 60!r:.40}",)
    assert difference({"a": 1, "b": 2}, {"c": 1, "d": 2}) == Difference("key-missing", output="y", names=("'a'",))
    assert difference({"a": 1}, {"c": 1, "a": 9}) == Difference("key-extra", output="y", names=("'c'",))
    assert difference({"a": 1}, {"k" * 60: 1, "a": 9}).names == (f"{'k' * 60!r:.40}",)
    assert difference({"a": 1, 2: 3}, {2: 3, "a": 1}) is None
    assert difference({"a": 1, 2: 3}, {"a": 1, 2: 4}).output == "y[2]"


@pytest.mark.parametrize("want, have, at, shown", [
    ("abc", "abd", 2, ("abc", "abd")), ("abc", "ab", 2, ("abc", "ab")), ("", "x", 0, ("", "x")),
    ("x" * 20 + "a", "x" * 20 + "b", 20, ("x" * 20 + "a", "x" * 20 + "b")),
    ("x" * 21 + "a", "x" * 21 + "b", 21, ("x" * 20 + "a", "x" * 20 + "b")),
    ("a" + "x" * 99, "b" + "x" * 99, 0, ("a" + "x" * 59, "b" + "x" * 59)),
])
def test_the_part_of_a_text_that_differs(want, have, at, shown):
    seen = difference(want, have)
    assert seen == Difference("value", output="y", expected=Outline("str", shown[0], shape=(len(want),)),
                              got=Outline("str", shown[1], shape=(len(have),)), index=(at,))


# Predicates


SORTED = "LIMIT = 3\ndef holds(rows):\n    return None if sorted(rows) == rows else f'{rows[0]} is first' + 'x' * 900\n"


def test_a_predicate_says_what_is_wrong():
    assert difference([9], [1, 2, 3], predicate=SORTED) is None
    seen = difference([9], [3, 2], predicate=SORTED)
    assert (seen.kind, seen.output, seen.got) == ("predicate", "y", None)
    assert seen.reason.startswith("3 is first") and len(seen.reason) <= MAX_REASON + 1
    assert difference([9], 7, predicate=SORTED) == Difference("predicate", output="y", got=Outline("int", 7))
    assert difference([9], torch.ones(2), predicate="def f(x):\n    return str(np.sum(x))").reason == "2.0"
    for truth in ("True", "False", "np.False_"):  # no sentence: release and audit refuse it
        assert difference([9], [9], predicate=f"def f(x):\n    return {truth}").kind == "predicate"


@pytest.mark.parametrize("have, axes, kind", [
    (torch.ones(3), "N", None), (torch.ones(3), None, None), (torch.ones(2), "N", "shape"), (torch.ones(2), None, None),
    (torch.tensor(1.0), "N", "shape"), ([1.0, 1.0, 1.0], "N", "type"), (torch.full((3,), torch.nan), "N", "nan"),
    (torch.full((3,), torch.nan), None, None), (torch.full((3,), torch.inf), "N", None),
    (torch.full((3,), torch.nan, dtype=torch.double), "N", "nan"), (np.full(3, np.nan), "N", "nan"),
    (np.ones(3), "N", None),
    (torch.ones(3, dtype=torch.long), "N", None), (-torch.ones(3), "N", "predicate"),
])
def test_with_axes_a_predicate_judges_only_arrays_of_the_right_shape_without_nan(have, axes, kind):
    seen = difference(torch.tensor([5.0, 6.0, 7.0]), have, axes=axes,
                      predicate="def f(x):\n    return 'negative' if np.any(np.asarray(x) < 0) else None")
    assert (seen.kind if seen else None) == kind


def test_with_axes_a_predicate_may_find_nan_where_the_solution_has_some():
    assert difference(torch.tensor([math.nan, 1.0]), torch.tensor([1.0, math.nan]), axes="N",
                      predicate="def f(x):\n    return None") is None


# What of a reply belongs to a check


def record(outputs=None, specs=None, base=3, relation=None, **expected):
    outputs = outputs or {"y": 1}
    return RecordedCheck((None,) * 9, Reply({name: describe(value) for name, value in outputs.items()}, **expected),
                         specs or {name: OutputSpec() for name in outputs}, base, relation)


def reply(*, error=None, **outputs):
    return Reply({name: describe(value) for name, value in outputs.items()}, error)


RAISED = CapturedError("raised", "ValueError", "no", at=2)
STOPPED = Difference("raised", error=replace(RAISED, at=0))
SPECS = {"y": OutputSpec(), "m": OutputSpec(relation="repeated call"), "n": OutputSpec(relation="repeated call"),
         "g": OutputSpec(relation="gradient")}
BOTH = record({"y": 1, "m": 1, "n": 2, "g": 3}, SPECS)


def test_an_error_of_the_check_is_its_difference_and_one_behind_it_is_none():
    assert compare.check_difference(record(), reply(error=RAISED)) == STOPPED
    assert compare.check_difference(record(), reply(y=1, error=replace(RAISED, at=3))) is None
    assert compare.check_difference(record(), reply(y=1)) is None
    assert compare.first_difference(record(), reply(error=RAISED)) == STOPPED


def test_built_ins_are_told_in_order_and_not_all():
    names = tuple("zyxwvutsrq")
    seen = compare.first_difference(record(forbidden_calls=("q",)), replace(reply(y=1), forbidden_calls=names))
    assert seen == Difference("built-in", names=tuple(sorted(names[:-1])[:MAX_NAMES]))
    both = replace(reply(y=1), forbidden_calls=("q", "loop"))
    assert compare.first_difference(record(forbidden_calls=("loop", "q")), both) is None
    assert compare.first_difference(record(), replace(reply(y=1), forbidden_calls=("a", "loop"))) == Difference("loop")
    assert compare.first_difference(record(), replace(reply(y=2), forbidden_calls=("loop",))).kind == "value"


def test_what_is_changed_in_place_counts_in_the_check_alone():
    in_place = Difference("in-place")
    for mutated, seen in [((2,), in_place), ((3,), None), ((1,), None), ((0, 1, 3), in_place)]:
        got = replace(reply(y=1), mutating_ops=mutated)
        assert compare.first_difference(record(mutating_ops=(1,)), got) == seen


def test_surroundings_that_changed_are_told_in_order_and_not_all():
    names = tuple("zyxwvutsrq")
    seen = compare.first_difference(record(changed_state=("q",)), replace(reply(y=1), changed_state=names))
    assert seen == Difference("changed", names=tuple(sorted(names[:-1])[:MAX_NAMES]))
    assert compare.first_difference(record(changed_state=("q",)), replace(reply(y=1), changed_state=("q",))) is None


def test_a_check_on_other_sizes_breaks_their_relation():
    assert compare.first_difference(record(relation="one timestep"), reply(y=2)).relation == "one timestep"
    assert compare.first_difference(record(relation="one timestep"), reply(y=1)) is None
    assert compare.first_difference(record(), reply(y=2)).relation is None


@pytest.mark.parametrize("got, kind, relation, output", [
    (reply(y=1, m=1, n=2, g=3), None, None, None),
    (reply(y=5, m=5, n=2, g=3), "value", None, "y"),
    (reply(y=1, m=4, n=2, g=3), "value", "repeated call", "m"),
    (reply(y=1, m=1, n=4, g=3), "value", "repeated call", "n"),
    (reply(y=1, m=1, n=2, g=4), "value", "gradient", "g"),
    (reply(y=1, m=4, n=2, g=4), "value", "repeated call", "m"),
    (reply(y=1, g=3, n=2), "missing-output", "repeated call", "m"),
    (reply(y=1, m=1, g=3), "missing-output", "repeated call", "n"),
    (reply(y=1, g=4, n=2), "missing-output", "repeated call", "m"),
    (reply(y=1), "missing-output", "repeated call", "m"),
    (reply(y=1, m=1, n=2, error=replace(RAISED, at=5)), "raised", "gradient", ""),
    (reply(y=1, m=4, n=2, error=replace(RAISED, at=5)), "value", "repeated call", "m"),
    (reply(y=1, error=replace(RAISED, at=4)), "raised", "repeated call", ""),
    (reply(), "missing-output", None, "y"),
])
def test_the_first_relation_that_is_broken(got, kind, relation, output):
    seen = compare.first_difference(BOTH, got)
    assert (seen and (seen.kind, seen.relation, seen.output)) == (kind and (kind, relation, output))


def test_relations_are_told_with_causes_first_whatever_the_order_of_the_calls():
    specs = {"y": OutputSpec(), "g": OutputSpec(relation="gradient"), "o": OutputSpec(relation="other inputs")}
    seen = compare.first_difference(record({"y": 1, "g": 3, "o": 2}, specs), reply(y=1, g=4, o=4))
    assert seen.relation == "other inputs"


def test_a_check_alone_and_what_it_alone_was_answered():
    error = replace(RAISED, at=3)
    got = replace(reply(y=1, m=1, g=3, extra=5, error=error), mutating_ops=(1, 2, 3, 4), changed_state=("it",),
                  forbidden_calls=("a",))
    ((plain, alone),) = compare.pairs_without_relations([BOTH], [got])
    assert plain is BOTH.without_relations and list(alone.outputs) == ["y", "extra"]
    assert alone == Reply({name: got.outputs[name] for name in ("y", "extra")}, None, (1, 2), ("a",), ())
    ((_, stopped),) = compare.pairs_without_relations([BOTH], [replace(got, error=RAISED)])
    assert stopped.error == RAISED


# When two replies are the same


RIGHT = record({"y": 1, "z": [1.0]}, {"y": OutputSpec(predicate="def f(y):\n    return None"), "z": OutputSpec()})
SAME = reply(y=1, z=[1.0])


OBSERVED = replace(SAME, forbidden_calls=("a",), mutating_ops=(1,))


@pytest.mark.parametrize("one, other, same", [
    (SAME, reply(y=1, z=[1.0]), True), (SAME, reply(y=2, z=[1.0]), False), (SAME, reply(y=1, z=[2.0]), False),
    (SAME, reply(y=1), False), (reply(y=1), SAME, False), (reply(), reply(), True),
    (SAME, reply(y=1, z=[1.0], error=RAISED), False), (reply(error=RAISED), reply(error=RAISED), True),
    (reply(error=RAISED), reply(error=replace(RAISED, at=7)), True), (reply(error=RAISED), reply(), False),
    (reply(error=RAISED), reply(error=replace(RAISED, type="KeyError")), False),
    (reply(error=RAISED), reply(error=replace(RAISED, message="yes")), False),
    (replace(SAME, mutating_ops=(1,)), SAME, False), (replace(SAME, forbidden_calls=("a",)), SAME, False),
    (OBSERVED, replace(SAME, forbidden_calls=("a",), mutating_ops=(1,)), True),
    (replace(SAME, changed_state=("it",)), SAME, True),
    (reply(y=1, z=torch.ones(1)), reply(y=1, z=torch.ones(1)), True),
    (reply(y=1.0), reply(y=torch.tensor([1.0])), False), (reply(y=torch.tensor([1.0])), reply(y=1.0), False),
])
def test_two_replies_are_the_same(one, other, same):
    assert compare.same(RIGHT, one, other) is same


def test_a_scalar_without_a_value_is_none():
    assert compare.outline(ScalarValue(None)) == Outline("none")
