"""Which values may stand in the place of which expressions, and in which order they are tried."""

import pytest
import torch

from autograder.runtime.locate import replacements
from autograder.runtime.locate.observation import Observer, Series, elements
from autograder.runtime.locate.replacements import Replacements
from autograder.runtime.locate.rewriting import Expression
from autograder.runtime.locate.right_values import RightValues
from autograder.runtime.values import Array, describe, plain

X, Y, Z = (Series([describe(torch.tensor([number, 2.5, -1.0]))]) for number in (0.25, 0.5, 0.75))
LONG, LONGER = (Series([describe(torch.tensor([number] * 4))]) for number in (0.25, 1.25))


def described(*values):
    """A series of values."""
    return Series(map(describe, values))


def seen(own, right, lines=None, ended_by_error=False, **named):
    """What may be tried where expressions 0, 1, … have these series, one after the other in time."""
    observer, time = Observer(), 0
    for number, series in enumerate(own):
        for value in series:
            time += 1
            observer.series[number].append(value)
            observer.times[number].append(time)
    found = {number: Expression(number, "f", (line, 4, line, 9), is_named=number in named.get("named", ()))
             for number, line in enumerate(lines or range(1, len(own) + 1))}
    return Replacements(observer, found, RightValues(right), ended_by_error)


def told(series):
    """The values of a series, to be compared."""
    return [(one.kind, plain(one).tolist()) if isinstance(one, Array) else plain(one) for one in series]


def tried(found):
    """Replacements by the numbers of expressions, and the values of each series."""
    return [[(getattr(one, "number", one), told(series)) for one, series in replaced] for replaced in found]


def test_a_value_that_no_right_answer_has_is_unknown_and_its_place_in_time_is_told():
    found = seen([X, Y, X, Z], [X, Y], lines=[1, 2, 3, 3])
    assert [one.number for one in found.known] == [0, 1, 2] and [one.number for one in found.unknown] == [3]
    assert [found.time(one) for one in found.ordered] == [1, 2, 3, 4]
    other = seen([Z, X, Z, LONG], [X], lines=[1, 2, 3, 3])
    first, second, third = other.unknown
    assert [other.is_last(one) for one in (first, second, third)] == [False, False, True]
    assert [other.is_in_last_line(one) for one in (first, second, third)] == [False, True, True]


def test_a_real_number_that_is_always_whole_is_no_value_of_a_right_answer_alone():
    """It may be an argument: the answer has it, only more often."""
    bound, own = described(100.0, 100.0), described(3.5, 7.25)
    for right, missing in (([bound], False), ([described(100.0, 1.0)], True), ([described(100, 100)], False)):
        found = seen([own, described(100.0, 100.0, 100.0)], right)
        assert bool(tried(found.common_missing_values(None))) is missing and not tried(found.present_values(None))
    whole = seen([described(3, 7), described(5, 5, 5)], [described(5, 5)])
    assert tried(whole.common_missing_values(None)), "a whole number may be"


def test_what_is_missing_comes_before_what_is_elsewhere_and_the_common_before_the_rare(monkeypatch):
    monkeypatch.setattr(replacements, "COMMON", 1)
    other = described(torch.tensor([7.5, 0.0, 0.0]))
    found = seen([X, Z, LONG], [X, Y, other, LONG])
    assert tried(found.common_missing_values(None)) == tried([[(1, Y)]])
    last = seen([X, Z], [X, Y, other])
    assert tried(last.common_missing_values(None)) == tried([[(1, Y)], [(1, other)]]), "of a result all that may be one"
    assert not tried(last.rare_missing_values(None))
    calls = Observer()
    calls.series, calls.times = {0: list(Z), 1: list(Z)}, {0: [1], 1: [2]}
    inner, outer = Expression(0, "inner", (1, 4, 1, 9)), Expression(1, "outer", (2, 4, 2, 9))
    both = Replacements(calls, {0: inner, 1: outer}, RightValues([X, Y]), False)
    in_each_function = tried([[(0, X)], [(0, Y)], [(1, X)], [(1, Y)]])
    assert tried(both.common_missing_values(None)) == in_each_function
    assert tried(found.rare_missing_values(None)) == tried([[(1, other)]])
    assert tried(found.present_decimals(None)) == tried([[(1, X)]]) == tried(found.present_values(None))
    assert not tried(found.common_missing_values(found.unknown[0])), "before it is nothing"


def test_whole_numbers_elsewhere_are_tried_late_and_what_decides_apart():
    found = seen([described(3), described(4), described(True), described("a"), described(None)],
                 [described(3), described(5), described(False), described("b")])
    assert tried(found.common_missing_values(None)) == tried([[(1, described(5))]])
    assert not tried(found.present_decimals(None)) and tried(found.present_values(None)) == tried([[(1, described(3))]])
    assert tried(found.missing_decisions(None)) == tried([[(2, described(False))]])
    masks = seen([described(torch.tensor([True, False, True, True])), described(torch.ones(4, dtype=torch.bool))],
                 [described(torch.tensor([True, True, False, False]))])
    assert [one for ((one, _),) in tried(masks.common_missing_values(None))] == [0]
    few = seen([described(True, False, True)], [described(True, True, False)])
    assert not tried(few.common_missing_values(None)) and len(tried(few.missing_decisions(None))) == 1


def test_if_the_first_value_is_right_only_what_begins_so_is_tried():
    own = [describe(1.5), describe(9.5)]
    begins, other = described(1.5, 2.5), described(3.5, 4.5)
    assert tried(seen([own], [other, begins]).common_missing_values(None)) == tried([[(0, begins)]])
    assert tried(seen([own], [other]).common_missing_values(None)) == tried([[(0, other)]])
    assert tried(seen([described(1.5)], [described(2.5), described(3.5)]).common_missing_values(None)) == tried(
        [[(0, described(2.5))], [(0, described(3.5))]])


def test_where_an_error_ended_it_longer_series_will_do():
    own, right = described(1.5), described(2.5, 3.5)
    assert tried(seen([own], [right], ended_by_error=True).common_missing_values(None)) == tried([[(0, right)]])
    assert not tried(seen([own], [right]).common_missing_values(None))


def test_all_that_have_the_same_values_are_replaced_at_once():
    found = seen([Z, LONGER, Z, X], [X, Y, LONG])
    assert tried(found.equal_expressions(None)) == tried([[(0, Y), (2, Y)], [(0, X), (2, X)]])
    alike = [describe(torch.tensor([0.75, 2.5, 3.0]))]
    assert not tried(seen([Z, alike], [X, Y]).equal_expressions(None)), "they share some numbers"
    assert not tried(seen([described(1.5, 2.5), described(1.5, 3.5)], [described(4.5, 5.5)]).equal_expressions(None))
    assert not tried(found.equal_expressions(found.unknown[0]))


def test_an_expression_by_number_is_tried_with_all_values_of_its_form_a_right_one_only_with_decimals():
    own, missing, present = (described(torch.tensor([float(n), n + 0.5])) for n in range(3))
    found = seen([own, present], [missing, present])
    assert tried(found.at([0])) == tried([[(0, missing)], [(0, present)]]) and not tried(found.at([]))
    assert tried(found.at([1])) == tried([[(1, missing)], [(1, present)]])
    two, three, four = map(described, (2, 3, 4))
    found = seen([two, four], [three, four])
    assert tried(found.at([0])) == tried([[(0, three)], [(0, four)]]) and not tried(found.at([1]))


def test_other_shapes_with_as_many_axes_are_near_and_other_forms_are_resized():
    wide, flat = described(torch.full((2, 2), 0.5)), described([0.5, 1.5])
    found = seen([Z], [LONG, wide, flat])
    assert tried(found.other_shapes(None)) == tried([[(0, LONG)]])
    assert tried(found.other_forms(None)) == tried([[(0, LONG)], [(0, wide)], [(0, flat)]])
    assert not tried(seen([Z], [described(torch.ones(4))]).other_shapes(None)), "without decimals it may be chance"
    assert not tried(seen([described(True)], [LONG]).other_forms(None))
    assert len(tried(seen([described([True, 2])], [LONG]).other_forms(None))) == 1
    assert not tried(seen([[*Z, *described(wide[0].array)]], [Series([*LONG, *LONG])]).other_shapes(None))
    assert not tried(seen([Z], [described(1.5)]).other_shapes(None))
    assert not tried(seen([described(0.5)], [LONG]).other_shapes(None))
    assert not tried(seen([described(1.5)], [described(2)]).other_forms(None)), "one whole number may be chance"
    numbers = described([2, 3])
    assert tried(seen([described(1.5)], [numbers]).other_forms(None)) == tried([[(0, numbers)]])
    assert not tried(seen([Z], [described(torch.full((4,), 0.5).double().numpy())]).other_shapes(None)), "another kind"


def test_axes_are_rearranged_but_for_the_last():
    rows = torch.arange(6.0).reshape(2, 3) + 0.5
    found = seen([described(torch.zeros(3, 2) - 0.5), Z], [described(rows)])
    assert tried(found.other_axis_orders(None)) == tried([[(0, described(rows.T.contiguous()))]])
    assert not tried(seen([described(torch.zeros(3, 2))], [described(rows)]).other_axis_orders(None))
    both = seen([described(torch.zeros(3, 2) - 0.5), described(torch.zeros(3, 2) - 0.5), Z], [described(rows)])
    assert [[one for one, _ in replaced] for replaced in tried(both.other_axis_orders(None))] == [[0], [0, 1], [1]]


def test_what_comes_last_may_lack_something():
    assert tried(seen([Z, X], [X, Y, LONG]).known_result(None)) == tried([[(1, Y)], [(1, LONG)]])
    assert not tried(seen([X, Z], [X, Y]).known_result(None))


def test_pairs_are_of_two_values_and_of_two_expressions_that_differ(monkeypatch):
    found = seen([Z, LONGER, Z, LONGER], [X, Y, LONG], named=[1])
    one = {number: found.expressions[number] for number in range(4)}
    singles = [[(one[2], X)], [(one[0], X)], [(one[1], LONG)], [(one[0], Y)], [(one[3], LONG)]]
    expected = [[(2, X), (3, LONG)], [(1, LONG), (2, X)]]
    monkeypatch.setattr(replacements, "NEAREST", 1)
    assert tried(found.pairs(None, singles)) == tried(expected)
    monkeypatch.setattr(replacements, "NEAREST", 2)
    assert tried(found.pairs(None, singles))[:4] == tried(
        [*expected, [(0, X), (3, LONG)], [(0, X), (1, LONG)]])
    assert tried(found.pairs(one[3], singles)) == tried([[(1, LONG), (2, X)], [(0, X), (1, LONG)]])


def test_lines_are_known_where_all_their_values_are():
    found = seen([X, Y, Z, X, described(object()), X, Z], [X, Y], lines=[5, 5, 6, 6, 4, 7, 7])
    assert found.known_lines(found.expressions[6]) == (4, 5)
    assert found.known_lines(found.expressions[2]) == (5,)
    assert found.known_by_line(0) == {4: True, 5: True, 6: False, 7: False} and found.known_by_line(1) == {}
    partly = seen([[*X, *described(object())], X, Z], [X], lines=[4, 5, 6])
    assert partly.known_lines(partly.expressions[2]) == (5,), "of one value nothing is known"


@pytest.mark.parametrize(("own", "right", "known"), [
    ([1.5, 2.5], [1.5, 2.5, 3.5], True), ([1.5, 2.5, 3.5], [1.5, 2.5], True), ([1.5, 2.5], [1.5, 3.5, 2.5], False),
    ([1.5], [1.5, 2.5], False), ([1.5, 2.5], [1.5], False), ([7, 7], [7, 7, 7], True), ([7], [7, 7], True),
    ([7, 7], [7, 8, 9], False), ([7, 8], [7, 8, 9], False), ([7, 7], [8, 8, 8], False), (["a", "a"], ["a"], True),
    ([1.5, 7], [1.5, 2.5, 3.5], False),
])
def test_a_value_that_goes_on_otherwise_often_is_known(own, right, known):
    assert RightValues([described(*right)]).has_common_start(described(*own)) is known


def test_series_of_the_same_form_or_of_all_others_may_stand_for_one():
    right = RightValues([X, LONG, described(1.5, 2.5), described(0.5)])
    alike = {(goes_on, in_form): [told(one) for one in right.candidates(own, goes_on, in_form)]
             for own, goes_on in ((Z, False), (described(7.5), True)) for in_form in (True, False)}
    assert alike[False, True] == [told(X)] and alike[False, False] == [told(LONG), [0.5]]
    assert alike[True, True] == [[1.5, 2.5], [0.5]] and alike[True, False] == [told(X), told(LONG)]


def test_numbers_are_found_in_whatever_holds_them():
    assert list(elements(describe([1, [2.5, "a"], (torch.tensor([True]), None)]))) == [1, 2.5, "a", True, None]
    assert [described(one).has_decimals for one in (1.5, [1, 1.5], torch.tensor([0.0, 0.5]), 2.0, [1], True, "a")] == [
        True] * 3 + [False] * 4
    assert described(1.0, 1.5).has_decimals


def test_a_series_is_rearranged_in_each_way_that_has_its_form_once():
    rows = torch.arange(6.0).reshape(2, 3) + 0.5
    right = RightValues([described(*rows), described(rows.flatten()), described(torch.arange(6))])
    found = list(right.transposed(described(torch.zeros(2, 3))))
    assert [one[0].array.tolist() for one in found] == [rows.tolist()], "whole numbers are of another type"
    turned = list(right.transposed(described(*torch.zeros(3, 2))))
    assert [[value.array.tolist() for value in one] for one in turned] == [rows.T.tolist()]
    one = RightValues([described(torch.tensor([1.5, 2.5]))])
    assert [[value.value for value in found] for found in one.transposed(described(0.5, 0.5))] == [[1.5, 2.5]]
    assert not list(one.transposed(described(torch.tensor([1.5, 2.5])))), "that is what it is"
    even = RightValues([described(torch.tensor([[1.5, 2.5], [2.5, 3.5]])), described("a", "b")])
    assert len(list(even.transposed(described(torch.zeros(2, 2))))) == 1
    assert not list(even.transposed(described("c", "d")))
    (flat,) = RightValues([described(rows[:, None])]).transposed(described(torch.zeros(2, 3)))
    assert told(flat) == told(described(rows))
