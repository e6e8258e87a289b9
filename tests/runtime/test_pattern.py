"""Where the wrong values of an output lie, and how all of them follow from the right ones."""

import math

import numpy as np
import pytest
import torch

from autograder.runtime import compare
from autograder.runtime.difference import Difference, Pattern, Region
from autograder.runtime.findings import result_of
from autograder.runtime.pattern import MAX_POSITIONS, MAX_VALUES, output_of, with_pattern, with_region_and_pattern
from autograder.runtime.recorded import OutputSpec, RecordedCheck, Reply
from autograder.runtime.values import describe

X = torch.randn(5, 4, 6, generator=torch.Generator().manual_seed(3))
VECTOR = X[:, 0, 0]


@pytest.fixture(autouse=True)
def own_draws(seed):
    """Draw what no other test has left: after a seed of 3 all numbers would be those of X."""
    torch.manual_seed(seed)


def seen(want, have, **spec):
    expected, got = describe(want), describe(have)
    difference = compare.output_difference("y", expected, got, OutputSpec(**spec))
    return with_region_and_pattern(difference, expected, got, OutputSpec(**spec))


def pattern(want, have, **spec):
    return seen(want, have, **spec).pattern


@pytest.mark.parametrize("values_, region", [
    ([[0, 1, 1], [0, 0, 0]], [(0, 0, 1), (1, 1, None)]), ([[0, 1, 0], [0, 1, 0]], [(1, 1, 2)]),
    ([[0, 1, 0], [0, 0, 0]], []), ([[0, 1, 0], [1, 0, 0]], [(1, 0, 2)]), ([[1, 1, 1], [1, 1, 1]], []),
    ([[1, 0, 1], [1, 0, 1]], []), ([[0, 0, 1], [0, 0, 1]], [(1, 2, 3)]), ([[0, 1, 1], [0, 1, 1]], [(1, 1, None)]),
])
def test_the_positions_to_which_wrong_values_are_confined(values_, region):
    assert [(one.axis, one.start, one.stop) for one in seen(torch.zeros(2, 3), torch.tensor(values_).float()).region
            ] == region


def test_an_axis_of_one_confines_nothing():
    assert seen(torch.zeros(1, 3), torch.tensor([[0.0, 1, 1]])).region == (Region(1, 1, None),)
    assert seen(torch.zeros(3, 1), torch.tensor([[0.0], [1], [0]])).region == ()


def test_positions_between_others_are_no_region():
    have = torch.zeros(5, 3)
    have[1:4] = 1
    assert seen(torch.zeros(5, 3), have).region == ()


def test_few_wrong_values_in_a_large_region_say_nothing():
    have = torch.zeros(4, 4)
    have[1, 1] = have[2, 2] = have[3, 3] = 1
    assert seen(torch.zeros(4, 4), have).region == (), "3 of 9"
    have[1, 2] = have[2, 1] = 1
    assert seen(torch.zeros(4, 4), have).region == (Region(0, 1, None), Region(1, 1, None)), "5 of 9"
    have = torch.zeros(4, 9)
    have[3, 2] = have[3, 4] = 1
    assert seen(torch.zeros(4, 9), have).region == (Region(0, 3, 4),), "few, but at one position"


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e6])
def test_a_factor_and_a_number_added_are_found_at_every_scale(scale):
    want = X.double() * scale
    for factor in (-1.0, 0.25, 3.0):
        found = pattern(want, want * factor)
        assert (found.kind, found.axis) == ("factor", None) and found.number == pytest.approx(factor)
    found = pattern(want, want + 1.5 * scale)
    assert (found.kind, found.axis) == ("added", None) and found.number == pytest.approx(1.5 * scale)
    near = 10 * scale + want / 10
    assert pattern(near, 2 * near).kind == "factor", "they vary by less than their size"
    assert pattern(want, want * 3 + 1.5 * scale) is None
    assert pattern(want, want * 3 + scale * torch.randn(5, 4, 6).double() * 1e-2) is None


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_a_number_that_is_the_same_along_one_axis_only(axis):
    shape = [1 if i == axis else n for i, n in enumerate(X.shape)]
    numbers = 0.5 + torch.rand(shape)
    assert pattern(X, X * numbers) == Pattern("factor", axis)
    assert pattern(X, X + numbers) == Pattern("added", axis)
    two = tuple(slice(2) if i == axis else slice(None) for i in range(3))
    assert pattern(X[two], (X + numbers)[two]) is None, "two values are no evidence"


def test_along_an_axis_three_values_that_vary_are_evidence():
    three, numbers = X[:3], 0.5 + torch.rand(1, 4, 6)
    assert pattern(three, three * numbers) == Pattern("factor", 0)
    alike, others = X[:, :, :1].expand(X.shape), torch.rand(5, 4, 1).expand(X.shape)
    assert pattern(alike, others) is None, "one number is any other times or plus a number"


def test_log_probabilities_that_are_not_normalised():
    assert pattern(X.softmax(2), X + 800) == Pattern("function missing", 2, function="softmax")
    assert pattern(X.log_softmax(2), X) == Pattern("added", 2)
    assert pattern(X.softmax(2), X.exp()) == Pattern("factor", 2)
    assert pattern(X.softmax(2), X.log_softmax(2)) == Pattern("function missing", function="exponential")
    assert pattern(X.softmax(2), X) == Pattern("function missing", 2, function="softmax")
    assert pattern(X, X.softmax(1)) == Pattern("function of right", 1, function="softmax")


@pytest.mark.parametrize("function, name", [
    (torch.exp, "exponential"), (torch.square, "square"), (torch.abs, "absolute value"),
    (lambda x: 1 - x, "one minus"), (torch.tanh, "tanh"), (torch.relu, "ReLU"),
])
def test_a_function_of_the_right_values_or_one_that_is_missing(function, name):
    assert pattern(X, function(X)) == Pattern("function of right", function=name)
    if name != "one minus":  # its own inverse
        assert pattern(function(X), X) == Pattern("function missing", function=name)


@pytest.mark.parametrize("want", [X, X[:, :, 0], torch.randint(0, 999, (5, 4, 6))], ids=["3-d", "2-d", "integers"])
@pytest.mark.parametrize("axis", [0, 1])
def test_the_right_values_in_another_order(want, axis):
    size = want.shape[axis]
    assert pattern(want, want.flip(axis)) == Pattern("reversed", axis)
    assert pattern(want, want.roll(1, axis)) == Pattern("shifted", axis, number=-1)
    assert pattern(want, want.roll(-1, axis)) == Pattern("shifted", axis, number=1)
    lost = want.roll(1, axis).clone()
    lost.select(axis, 0).zero_()
    assert pattern(want, lost) == Pattern("shifted", axis, number=-1), "what is shifted in is not looked at"
    last = want.narrow(axis, size - 1, 1).expand(want.shape)
    assert pattern(want, last) == Pattern("one position", axis, positions=(size - 1,))
    order = [1, 3, 0, 2, 4][:size] if size > 4 else [1, 3, 0, 2]
    assert pattern(want, want.index_select(axis, torch.tensor(order))) == Pattern("order", axis, positions=tuple(order))
    twice = [0, 0, *range(2, size)]
    assert pattern(want, want.index_select(axis, torch.tensor(twice))) is None, "not a permutation"


def test_saturated_rows_are_alike_by_chance():
    assert pattern([1, 2, 2, 4], [4, 4, 4, 4]) == Pattern("same", number=4.0)
    rows = torch.tensor([[1.0, 2], [2, 1], [3, 3]])
    assert pattern(rows, rows[1:2].expand(3, 2)) is None, "half of the numbers are the same as others"
    rows = torch.tensor([[1.0, 2], [2, 1], [3, 4]])
    assert pattern(rows, rows[1:2].expand(3, 2)) == Pattern("one position", 0, positions=(1,))
    want = X.sign()
    assert pattern(want, want[:1].expand(X.shape)) is None
    assert pattern(X, X[:1].expand(X.shape)) == Pattern("one position", 0, positions=(0,)), "the control"


def test_of_three_positions_a_shift_is_no_evidence():
    three = X[:3]
    lost = three.roll(1, 0).clone()
    lost[0] = 7.25
    assert pattern(three, lost) is None
    lost = three.roll(-1, 0).clone()
    lost[2] = 7.25
    assert pattern(three, lost) is None
    assert pattern(X[:2], X[:2].flip(0)) is None, "of two, nothing is"
    assert pattern(three, three.flip(0)) == Pattern("reversed", 0)


def test_an_order_of_equal_rows_is_not_named():
    want = X.clone()
    want[1] = want[3]
    assert pattern(want, want[[1, 2, 0, 3, 4]]) is None


def test_all_values_the_same_or_the_opposite():
    assert pattern(X, torch.zeros_like(X)) == Pattern("same", number=0.0)
    assert pattern(X, torch.full_like(X, 0.2)).number == pytest.approx(0.2)
    assert pattern(torch.ones(4), torch.zeros(4)) is None, "right values that are all the same show nothing"
    assert pattern(X > 0, X <= 0) == Pattern("opposite")
    assert pattern(X, torch.full_like(X, 0.2) * (1 + 5e-5 * X.sign())).kind == "same"
    assert pattern(X, torch.full_like(X, 0.2) * (1 + 5e-4 * X.sign())) is None
    first = torch.full_like(X, 0.2)
    first[0, 0, 0] = 0.3
    assert pattern(X, first) is None, "all but the first"
    half = (X > 0).clone()
    half[0] = ~half[0]
    assert pattern(X > 0, half) is None


def test_wrong_values_that_are_all_the_same():
    have = X.clone()
    have[2, :2] = 0
    assert pattern(X, have) == Pattern("wrong ones the same", number=0.0)
    have[2, 0, 0] = 1
    assert pattern(X, have) is None
    have[2, :2] = 7.5
    assert pattern(X, have) == Pattern("wrong ones the same", number=7.5)
    have[2, :2] = math.inf
    assert pattern(X, have) is None, "no number that a verdict can hold"
    have = X.clone()
    have[0, 0, :2] = 0
    assert pattern(X, have) is None, "two"


@pytest.mark.parametrize("huge", [torch.finfo(torch.float32).min, -1e9, 1e4])
def test_beside_a_huge_number_no_difference_is_small(huge):
    want = X.clone()
    want[:, :, -1] = huge
    have = torch.where(want == huge, want, torch.randn(X.shape))
    assert pattern(want, have) is None
    assert pattern(torch.tensor([1.0, 0, 0, 0]), torch.tensor([1e9, 3, 7, 2])) is None


def test_whole_numbers_have_to_follow_exactly():
    want = [41234, 50123, 20111, 33333]
    assert pattern(want, [number + 1 for number in want]) == Pattern("added", number=1.0)
    assert pattern(want, [a + b for a, b in zip(want, (1, 2, -1, 1), strict=True)]) is None
    assert pattern(want, [20000, 20001, 20002, 20001]) is None
    assert pattern(want, [50257] * 4) == Pattern("same", number=50257.0)


def test_what_is_no_boolean_is_not_the_opposite_of_one():
    assert pattern([True, False, True], [5, 7, 9]) is None and pattern([5, 7, 9], [True, False, True]) is None
    assert pattern([True, False, True], [False, True, False]) == Pattern("opposite")
    assert pattern([True, False, True, True], [False, True, False, True]) is None


def test_a_factor_near_one_is_one():
    want = X.double()
    assert pattern(want, want * (1 - 1e-5)).number == pytest.approx(1 - 1e-5, abs=1e-9)


def test_lists_of_numbers_have_patterns_too():
    assert pattern([1, 2, 3, 5], [5, 3, 2, 1]) == Pattern("reversed", 0)
    assert pattern([1.5, 2.5, 4.5], [3.0, 5.0, 9.0]).number == pytest.approx(2)
    assert seen([1, 2, 3], [1, 5, 6]).region == (), "each element is a value of its own"
    assert pattern([1, 2, 3.5], [3.5, 2, 1]) is None and pattern(["a", "b", "c"], ["c", "b", "a"]) is None
    assert pattern([[1, 2], [3, 4]], [[3, 4], [1, 2]]) is None


def test_the_bounds():
    assert (MAX_VALUES, MAX_POSITIONS) == (20_000, 40)


def test_what_is_no_list_of_numbers_has_no_pattern():
    for want, have in (([1, 2, 4], {"a": 1}), ([], [1]), ([1, 2, None], [2, 4, 8]), ([1.5, 2, 4], [3.0, 4, 8])):
        assert pattern(want, have) is None
    cut = list(range(6000))
    assert pattern(cut, [2 * number for number in cut]) is None, "not all of its elements are with_region_and_pattern"


def test_what_is_too_little_or_too_much_has_no_pattern():
    assert seen([1.5, 2.5], [3.0, 5.0]).region == () and seen(VECTOR[:2], -VECTOR[:2]).region == ()
    assert pattern(VECTOR[:2], -VECTOR[:2]) is None
    assert pattern(VECTOR[:3], -VECTOR[:3]) == Pattern("factor", number=pytest.approx(-1.0))
    almost = VECTOR.clone()
    almost[:2] *= -1
    assert pattern(VECTOR, almost) is None
    long = torch.randn(MAX_VALUES + 1)
    assert pattern(long, -long) is None and pattern(long[1:], -long[1:]).kind == "factor"
    many = torch.randn(MAX_POSITIONS + 1)
    assert pattern(many, many.flip(0)) is None and pattern(many[1:], many[1:].flip(0)) == Pattern("reversed", 0)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("bad", [math.inf, -math.inf, 1e300, -1e300, 1e-300])
def test_numbers_of_any_size_raise_nothing(bad):
    want, have = X.double(), X.double() * 2
    have[0, 0, 0] = bad
    assert pattern(want, have) is None
    assert pattern(want, torch.full_like(want, bad)) in (None, Pattern("same", number=bad))
    assert pattern(have, want) is None
    assert pattern(want, torch.where(X > 0, 1.0, -1.0).double() * bad) is None
    seen(np.array([bad, 1, 2]), np.array([2, bad, 1]))


def test_beside_infinite_values_no_others_are_near():
    have = X * (0.5 + torch.rand(1, 4, 6))
    have[2] = math.inf
    assert pattern(X, have) is None


def test_infinite_values_are_put_in_another_order_like_others():
    want = X.masked_fill(X > 1, -math.inf)
    assert pattern(want, want.flip(0)) == Pattern("reversed", 0)


def test_a_result_has_the_pattern_of_its_own_output():
    expected = Reply({"a": describe(X), "b": describe(X), "rows": describe([1, 2, 4, 8]), "d": describe({"k": X})})
    record = RecordedCheck((), expected, dict.fromkeys(expected.outputs, OutputSpec()), 0)

    def result(**wrong):
        return result_of("check", "It is.", [(record, Reply({**expected.outputs, **{
            name: describe(value) for name, value in wrong.items()}}), None)]).difference

    assert (result(b=-X).output, result(b=-X).pattern) == ("b", Pattern("factor", number=pytest.approx(-1.0)))
    assert (result(rows=[8, 4, 2, 1]).output, result(rows=[8, 4, 2, 1]).pattern) == ("rows[0]", Pattern("reversed", 0))
    assert (result(d={"k": -X}).output, result(d={"k": -X}).pattern) == ("d['k']", None)
    weights = X.softmax(2)
    whole = RecordedCheck((), Reply({"w": describe(weights)}), {"w": OutputSpec(axes="T B S", sums_to_one="S")}, 0)
    half = result_of("check", "It is.", [(whole, Reply({"w": describe(weights * X[:, :, :1].exp())}), None)]).difference
    assert (half.kind, half.pattern) == ("sum", Pattern("factor", 2)), "they lack a normalisation"
    assert result(a=X[:2]).kind == "shape" and result(a=X[:2]).pattern is None
    elsewhere = Difference("value", output="else")
    assert with_pattern(elsewhere, output_of(elsewhere, record, expected), record, expected) == elsewhere
    general = result(b=-X).without_instance()
    assert general.pattern is None and general.region == ()
