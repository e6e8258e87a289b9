"""Which values may stand in the place of which expressions, and in which order they are tried."""

import math

import pytest
import torch

from autograder.runtime.locate import replacements as module
from autograder.runtime.locate.observation import MAX_VALUES, Observer, Series, elements
from autograder.runtime.locate.replacements import Replacements
from autograder.runtime.locate.rewriting import Expression
from autograder.runtime.locate.right_values import RightValues
from autograder.runtime.values import ArrayValue, describe, to_python

X, Y, Z = (Series([describe(torch.tensor([number, 2.5, -1.0]))]) for number in (0.25, 0.5, 0.75))
LONG, LONGER = (Series([describe(torch.tensor([number] * 4))]) for number in (0.25, 1.25))


def described(*values):
    """A series of values."""
    return Series(map(describe, values))


def compared(answer, right, lines=None, ended_by_error=False, **options):
    """What may be tried where expressions 0, 1, … have these series, one after the other in time."""
    observer, time = Observer(), 0
    for number, series in enumerate(answer):
        for value in series:
            time += 1
            observer.series[number].append(value)
            observer.times[number].append(time)
    columns = options.get("columns", {})
    expressions = {number: Expression(number, "f", (line, *columns.get(number, (4,)), line, 9),
                                      is_named=number in options.get("named", ()))
                   for number, line in enumerate(lines or range(1, len(answer) + 1))}
    return Replacements(observer, expressions, RightValues(right), ended_by_error)


def plain_values(series):
    """The values of a series, to be compared."""
    return [(value.kind, value.array.tolist()) if isinstance(value, ArrayValue) else to_python(value)
            for value in series]


def summary(replacements):
    """Replacements by the numbers of expressions, and the values of each series."""
    return [[(getattr(expression, "number", expression), plain_values(series)) for expression, series in replacement]
            for replacement in replacements]


def test_a_value_that_no_right_answer_has_is_unknown_and_its_place_in_time_is_told():
    tries = compared([X, Y, X, Z], [X, Y], lines=[1, 2, 3, 3])
    assert [expression.number for expression in tries.ordered] == [0, 1, 2, 3]
    assert [expression.number for expression in tries.unmatched] == [3]
    assert [tries.time(expression) for expression in tries.ordered] == [1, 2, 3, 4]
    other = compared([Z, X, Z, LONG], [X], lines=[1, 2, 3, 3])
    first, second, third = other.unmatched
    assert [other.is_last(expression) for expression in (first, second, third)] == [False, False, True]
    assert [other.is_in_last_line(expression) for expression in (first, second, third)] == [False, True, True]


def test_a_decision_is_a_value_and_a_mask_an_array_of_some():
    values = [described(True), described(torch.tensor([True, False])), described([]), described([True]), described(1)]
    tries = compared(values, [])
    assert [tries.is_decision(tries.expressions[i]) for i in range(5)] == [True, True, False, True, False]
    assert [tries.is_mask(tries.expressions[i]) for i in range(5)] == [False, True, False, False, False]


@pytest.mark.parametrize(("series", "right", "after", "unknown_lines", "expected"), [
    (Z, X, None, 3, True), (Z, X, None, 2, False), (Z, X, LONG, 3, False), (Z, X, Y, 3, True),
    (Z, LONG, LONG, 3, True), (Z, LONG, LONG, 2, False), (Z, Series([*X, *X]), LONG, 3, False),
    (described([1, 2]), described([1, 3]), LONG, 3, True), (described([1, 2]), described([1, 3]), LONG, 2, False),
    (described([1, 2.5]), described([1, 3.5]), LONG, 3, False), (described(1), described(3), LONG, 3, False),
    (described([1, 2]), described(torch.tensor([1, 2])), None, 3, False), (Z, X, LONG, 6, False), (Z, X, LONG, 7, True),
])
def test_what_says_little_where_values_are_unknown_on_several_lines_before_it(series, right, after, unknown_lines,
                                                                              expected):
    """``after`` stands on its line; `Y` is known."""
    before = [Series([describe(torch.tensor([number / 8]))]) for number in range(1, unknown_lines + 1)]
    own = [*before, before[-1], series, *([after] if after else [])]
    lines = [*range(1, unknown_lines + 1), unknown_lines, 9, 9]
    tries = compared(own, [right, Y], lines=lines[:len(own)])
    assert tries.is_vague(tries.expressions[len(before) + 1], right) is expected


@pytest.mark.parametrize(("line_after", "expected"), [(9, False), (10, True)])
def test_a_known_value_says_little_before_the_last_line(line_after, expected):
    unmatched = [Series([describe(torch.tensor([number / 8]))]) for number in range(1, 4)]
    tries = compared([*unmatched, Y, LONG], [X, Y], lines=[1, 2, 3, 9, line_after])
    assert tries.is_vague(tries.expressions[3], X) is expected


@pytest.mark.parametrize(("part", "column", "expected"), [
    (Y, 5, False), (LONG, 5, True), (Y, 3, True), (None, 5, True)])
def test_a_result_says_enough_where_all_its_parts_are_known(part, column, expected):
    own = [*(Series([describe(torch.tensor([number / 8]))]) for number in range(3)), *([part] if part else []), Z]
    tries = compared(own, [X, Y], lines=[1, 2, 3, 9, 9][:len(own)], columns={3: (column,)} if part else {})
    assert tries.is_vague(tries.ordered[-1], X) is expected


def test_a_call_of_known_arguments_says_little_where_its_function_computed_what_is_unknown():
    """The values of its function come between its arguments and its own."""
    unmatched = [Series([describe(torch.tensor([number / 8]))]) for number in range(4)]
    for own, expected in (([*unmatched, Y, Z], False), ([*unmatched[:3], Y, unmatched[3], Z], True)):
        tries = compared(own, [X, Y], lines=[1, 2, 3, 4 if own[3] is not Y else 9, 9 if own[4] is Y else 4, 9],
                         columns={own.index(Y): (5,)})
        assert tries.is_vague(tries.ordered[-1], X) is expected


def test_what_comes_after_the_first_value_that_is_replaced_may_follow_from_it():
    """Right answers begin with the first of two values; values on three lines are unmatched before the second."""
    right, other = (Series(map(describe, map(torch.tensor, pair))) for pair in (([0.5], [1.5]), ([2.5], [3.5])))
    own = Series([right[0], describe(torch.tensor([9.5]))])
    unmatched = [Series([describe(torch.tensor([number / 8]))]) for number in range(1, 4)]
    tries = compared([own, *unmatched], [right, other], lines=[9, 1, 2, 3])
    tries.observer.times.update({0: [1, 5], 1: [2], 2: [3], 3: [4]})
    assert tries.time(tries.expressions[0]) == 5
    assert [tries.is_vague(tries.expressions[0], series) for series in (right, other)] == [True, False]


def test_lines_are_skipped_where_no_expression_was_reached():
    tries = compared([X, Y, Z], [X], lines=[4, 5, 4])
    assert tries.skipped_lines(0) == set()
    del tries.observer.series[1], tries.observer.series[2]
    assert tries.skipped_lines(0) == {5} and tries.skipped_lines(1) == set()
    tries.observer.left_out.add(1)
    assert tries.skipped_lines(0) == set(), "its value was not kept"
    tries.observer.left_out.clear()
    tries.observer.value_count = MAX_VALUES + 1
    assert tries.skipped_lines(0) == set(), "it is not known what else was reached"


def test_a_result_that_is_known_itself_says_little():
    own = [*(Series([describe(torch.tensor([number / 8]))]) for number in range(3)), Y, Y]
    tries = compared(own, [X, Y], lines=[1, 2, 3, 9, 9], columns={3: (5,)})
    assert tries.is_vague(tries.ordered[-1], X)


def test_a_real_number_that_is_always_whole_is_no_value_of_a_right_answer_alone():
    """It may be an argument: the answer has it, only more often."""
    bound, answer = described(100.0, 100.0), described(3.5, 7.25)
    for right, missing in (([bound], False), ([described(100.0, 1.0)], True), ([described(100, 100)], False)):
        tries = compared([answer, described(100.0, 100.0, 100.0)], right)
        assert bool(summary(tries.common_missing_values(None))) is missing
        assert not summary(tries.present_decimals(None))
    whole = compared([described(3, 7), described(5, 5, 5)], [described(5, 5)])
    assert summary(whole.common_missing_values(None)), "a whole number may be"


def test_what_is_missing_comes_before_what_is_elsewhere_and_the_common_before_the_rare(monkeypatch):
    monkeypatch.setattr(module, "MAX_COMMON", 1)
    other = described(torch.tensor([7.5, 0.0, 0.0]))
    tries = compared([X, Z, LONG], [X, Y, other, LONG])
    assert summary(tries.common_missing_values(None)) == summary([[(1, Y)]])
    last = compared([X, Z], [X, Y, other])
    assert summary(last.common_missing_values(None)) == summary([[(1, Y)], [(1, other)]]), "all for a result"
    assert not summary(last.rare_missing_values(None))
    calls = Observer()
    calls.series, calls.times = {0: list(Z), 1: list(Z)}, {0: [1], 1: [2]}
    inner, outer = Expression(0, "inner", (1, 4, 1, 9)), Expression(1, "outer", (2, 4, 2, 9))
    both = Replacements(calls, {0: inner, 1: outer}, RightValues([X, Y]), False)
    in_each_function = summary([[(0, X)], [(0, Y)], [(1, X)], [(1, Y)]])
    assert summary(both.common_missing_values(None)) == in_each_function
    assert summary(tries.rare_missing_values(None)) == summary([[(1, other)]])
    assert summary(tries.present_decimals(None)) == summary([[(1, X)]])
    assert not summary(tries.common_missing_values(tries.unmatched[0])), "before it is nothing"


def test_whole_numbers_elsewhere_are_not_tried_and_what_decides_is_apart():
    tries = compared([described(3), described(4), described(True), described("a"), described(None)],
                 [described(3), described(5), described(False), described("b")])
    assert summary(tries.common_missing_values(None)) == summary([[(1, described(5))]])
    assert not summary(tries.present_decimals(None))
    assert summary(tries.missing_decisions(None)) == summary([[(2, described(False))]])
    masks = compared([described(torch.tensor([True, False, True, True])), described(torch.ones(4, dtype=torch.bool))],
                 [described(torch.tensor([True, True, False, False]))])
    assert [number for ((number, _),) in summary(masks.common_missing_values(None))] == [0]
    few = compared([described(True, False, True)], [described(True, True, False)])
    assert not summary(few.common_missing_values(None)) and len(summary(few.missing_decisions(None))) == 1


def test_if_the_first_value_is_right_what_begins_so_is_tried_first():
    answer = [describe(1.5), describe(9.5)]
    begins, other = described(1.5, 2.5), described(3.5, 4.5)
    assert summary(compared([answer], [other, begins]).common_missing_values(None)) == summary(
        [[(0, begins)], [(0, other)]])
    assert summary(compared([answer], [other]).common_missing_values(None)) == summary([[(0, other)]])
    assert summary(compared([described(1.5)], [described(2.5), described(3.5)]).common_missing_values(None)) == summary(
        [[(0, described(2.5))], [(0, described(3.5))]])


def test_where_an_error_ended_it_longer_series_will_do():
    answer, right = described(1.5), described(2.5, 3.5)
    tries = compared([answer], [right], ended_by_error=True)
    assert summary(tries.common_missing_values(None)) == summary([[(0, right)]])
    assert not summary(compared([answer], [right]).common_missing_values(None))


def test_all_that_have_the_same_values_are_replaced_at_once():
    tries = compared([Z, LONGER, Z, X], [X, Y, LONG])
    assert summary(tries.equal_expressions(None)) == summary([[(0, Y), (2, Y)], [(0, X), (2, X)]])
    alike = [describe(torch.tensor([0.75, 2.5, 3.0]))]
    assert not summary(compared([Z, alike], [X, Y]).equal_expressions(None)), "they share some numbers"
    pair = compared([described(1.5, 2.5), described(1.5, 3.5)], [described(4.5, 5.5)])
    assert not summary(pair.equal_expressions(None))
    assert not summary(tries.equal_expressions(tries.unmatched[0]))
    assert not summary(tries.equal_expressions(tries.unmatched[2])), "that alone mends the check"
    assert summary(tries.equal_expressions(tries.unmatched[1])) == summary([[(0, Y), (2, Y)], [(0, X), (2, X)]])


def test_an_expression_by_number_is_tried_with_all_values_of_its_form_a_right_one_not_with_whole_ones_it_has():
    answer, missing, present = (described(torch.tensor([float(n), n + 0.5])) for n in range(3))
    tries = compared([answer, present], [missing, present])
    assert summary(tries.at([0])) == summary([[(0, missing)], [(0, present)]]) and not summary(tries.at([]))
    assert summary(tries.at([1])) == summary([[(1, missing)], [(1, present)]])
    two, three, four = map(described, (2, 3, 4))
    tries = compared([two, four], [three, four])
    assert summary(tries.at([0])) == summary([[(0, three)], [(0, four)]])
    assert summary(tries.at([1])) == summary([[(1, three)]])


def test_other_shapes_with_as_many_axes_are_near_and_other_forms_are_resized():
    wide, flat = described(torch.full((2, 2), 0.5)), described([0.5, 1.5])
    tries = compared([Z], [LONG, wide, flat])
    assert summary(tries.other_shapes(None)) == summary([[(0, LONG)]])
    assert summary(tries.other_forms(None)) == summary([[(0, LONG)], [(0, wide)], [(0, flat)]])
    assert not summary(compared([Z], [described(torch.ones(4))]).other_shapes(None)), "whole numbers may be chance"
    assert not summary(compared([described(True)], [LONG]).other_forms(None))
    assert len(summary(compared([described([True, 2])], [LONG]).other_forms(None))) == 1
    assert not summary(compared([[*Z, *described(wide[0].array)]], [Series([*LONG, *LONG])]).other_shapes(None))
    assert not summary(compared([Z], [described(1.5)]).other_shapes(None))
    assert not summary(compared([described(0.5)], [LONG]).other_shapes(None))
    mask = described(torch.tensor([True, False, True]))
    assert not summary(compared([mask], [LONG]).other_shapes(None)), "a decision is no number"
    wide = described(torch.tensor([True, False, True, True]))
    assert summary(compared([mask], [wide]).other_shapes(None)) == summary([[(0, wide)]])
    later = compared([mask, Z, X], [wide, LONG])
    assert not summary(later.other_shapes(later.ordered[1])), "if anything was found"
    assert summary(later.other_shapes(later.ordered[2])) == summary([[(1, LONG)]])
    assert not summary(compared([mask], [described(torch.ones(4, dtype=torch.bool))]).other_shapes(None))
    assert not summary(compared([described(1.5)], [described(2)]).other_forms(None)), "one whole number may be chance"
    numbers = described([2, 3])
    for own in (1.5, None):
        assert summary(compared([described(own), Z], [numbers]).other_forms(None))[:1] == summary([[(0, numbers)]])
        assert not summary(compared([described(own)], [numbers]).other_forms(None)), "whole ones at the end"
    same_size = described([2.0, 3.0])
    assert not summary(compared([same_size, Z], [numbers]).other_forms(None))[:1]
    assert not summary(compared([described([None, None])], [numbers]).other_forms(None)), "it is filled later"
    array = described(torch.full((4,), 0.5).double().numpy())
    assert not summary(compared([Z], [array]).other_shapes(None)), "another kind"


def test_what_grows_step_by_step_is_no_sum():
    own, right = (Series([described(torch.full((size, 2), number))[0] for size in sizes])
                  for sizes, number in (((3, 3, 3), 0.75), ((1, 2, 3), 0.25)))
    assert summary(compared([own, Z], [right]).other_shapes(None))[0] == summary([[(0, right)]])[0]
    assert not summary(compared([own, Z], [Series([right[0]] * 3)]).other_shapes(None))


@pytest.mark.parametrize(("own", "right", "is_tried"), [
    ((2, 3), (2, 1), False), ((2, 3), (1, 1), False), ((3,), (1,), False), ((2, 1), (2, 3), True),
    ((2, 3), (1, 4), True), ((2, 3), (3, 2), True)])
def test_what_a_right_answer_has_after_a_sum_is_not_tried_before_it(own, right, is_tried):
    answer, value = (described(torch.full(shape, number)) for shape, number in ((own, 0.75), (right, 0.25)))
    tries = compared([answer, Z], [value])
    for found in (tries.other_shapes(None), tries.other_forms(None)):
        assert [pairs for pairs in summary(found) if pairs[0][0] == 0] == summary([[(0, value)]] * is_tried)


def test_equal_expressions_get_no_whole_real_number_that_the_answer_has():
    norms, limit = described(3.5, 7.25), described(100.0, 100.0)
    tries = compared([norms, norms, limit], [limit, described(4.5, 8.25)])
    assert summary(tries.equal_expressions(None)) == summary([[(0, described(4.5, 8.25)), (1, described(4.5, 8.25))]])


def test_a_value_is_the_only_one_missing_of_its_form():
    tries = compared([Z, LONG], [X, LONG, LONGER])
    (expression, *_), (x, _, longer) = tries.ordered, tries.right.series
    assert tries.is_only_missing(expression, x) and not tries.is_only_missing(expression, longer)
    assert not compared([Z], [X, Y]).is_only_missing(expression, X)


def test_axes_are_rearranged_but_for_the_last():
    rows = torch.arange(6.0).reshape(2, 3) + 0.5
    tries = compared([described(torch.zeros(3, 2) - 0.5), Z], [described(rows)])
    assert summary(tries.other_axis_orders(None)) == summary([[(0, described(rows.T.contiguous()))]])
    assert not summary(compared([described(torch.zeros(3, 2))], [described(rows)]).other_axis_orders(None))
    both = compared([described(torch.zeros(3, 2) - 0.5), described(torch.zeros(3, 2) - 0.5), Z], [described(rows)])
    orders = summary(both.other_axis_orders(None))
    assert [[number for number, _ in replacement] for replacement in orders] == [[0], [0, 1], [1]]
    orders = summary(both.other_axis_orders(both.unmatched[1]))
    assert [[number for number, _ in replacement] for replacement in orders] == [[0]], "that alone mends the check"


def test_a_right_value_may_lack_a_step_the_last_one_first(monkeypatch):
    tries = compared([X, Z, Y], [X, Y, described(torch.tensor([4.5, 1, 1])), described(torch.tensor([5.5, 1, 1]))])
    missing = summary(tries.matched_values(None))
    assert [number for ((number, _),) in missing] == [2, 2, 0, 0]
    assert [series[0][1][0] for ((_, series),) in missing] == [4.5, 5.5] * 2
    assert [number for ((number, _),) in summary(tries.matched_values(tries.unmatched[0]))] == [0, 0]
    monkeypatch.setattr(module, "MAX_COMMON", 1)
    assert [number for ((number, _),) in summary(tries.matched_values(None))] == [2, 0]
    for whole, is_tried in (([4.0], False), ([4.0, 1, 1], False), ([4.0, 1, 1, 1], True), ([1.0] * 4, False)):
        tries = compared([described(torch.zeros(len(whole)))],
                         [described(torch.zeros(len(whole))), described(torch.tensor(whole))])
        assert bool(summary(tries.matched_values(None))) is is_tried, "few are equal by chance"
    tries = compared([described(*[3] * 4)], [described(*[3] * 4), described(*range(4))])
    assert not summary(tries.matched_values(None))


def test_known_expressions_get_common_values_only(monkeypatch):
    monkeypatch.setattr(module, "MAX_COMMON", 1)
    tries = compared([X, LONG], [X, LONG, Y, Z, LONGER])
    assert summary(tries.matched_values(None)) == summary([[(1, LONGER)], [(0, Y)]])
    assert not summary(tries.matched_values(tries.expressions[0]))


def test_numbers_are_known_in_another_shape_too():
    """Axes are split or merged, or run through by a loop; their order is that of the right answer."""
    rows = torch.arange(6.0).reshape(2, 3) + 0.5
    shapes = [described(rows.flatten()), described(*rows), described(rows[:, None]), described(rows.tolist()),
              described(rows.T.contiguous()), described(rows.reshape(3, 2)), described(rows + 1),
              described(rows.long())]
    assert [RightValues([described(rows)]).has_numbers(series) for series in shapes] == [True] * 4 + [False] * 4
    assert RightValues([shapes[0]]).has_numbers(shapes[5])
    assert [expression.number for expression in compared(shapes, [described(rows)]).unmatched] == [4, 5, 6, 7]
    mask = torch.tensor([True, False, True, True])
    assert RightValues([described(mask)]).has_numbers(described(mask.float()))
    assert not RightValues([described(mask)]).has_numbers(described(mask.float().flip(0)))
    assert not RightValues([described(mask[:3])]).has_numbers(described(mask[:3].float())), "few are equal by chance"
    assert not RightValues([described(mask | True)]).has_numbers(described(torch.ones(4)))


def test_what_comes_last_may_lack_something():
    assert summary(compared([Z, X], [X, Y, LONG]).results(None)) == summary([[(1, Y)], [(1, LONG)]])
    assert summary(compared([X, Z], [X, Y, LONG]).results(None)) == summary([[(1, LONG)]]), "others are tried before"
    assert not summary(compared([X, Z], [X, Y]).results(None))


def test_pairs_are_of_two_values_and_of_two_expressions_that_differ(monkeypatch):
    tries = compared([Z, LONGER, Z, LONGER], [X, Y, LONG], named=[1])
    expressions = {number: tries.expressions[number] for number in range(4)}
    singles = [[(expressions[number], series)] for number, series in ((2, X), (0, X), (1, LONG), (0, Y), (3, LONG))]
    expected = [[(2, X), (3, LONG)], [(1, LONG), (2, X)]]
    monkeypatch.setattr(module, "MAX_NEAREST", 1)
    assert summary(tries.pairs(None, singles, None)) == summary(expected)
    monkeypatch.setattr(module, "MAX_NEAREST", 2)
    assert summary(tries.pairs(None, singles, None))[:4] == summary(
        [*expected, [(0, X), (3, LONG)], [(0, X), (1, LONG)]])
    assert summary(tries.pairs(expressions[3], singles, None)) == summary([[(1, LONG), (2, X)], [(0, X), (1, LONG)]])


def test_a_number_that_was_found_alone_is_in_no_pair():
    """Of it and a multiple of it, any mean is the same."""
    one, other, third = described(1.5), described(2.5), described(0.25)
    tries = compared([one, other, third], [X], lines=[1, 2, 3])
    singles = [[(tries.expressions[number], series)] for number, series in enumerate((X, third, Y))]
    pairs = [tries.pairs(None, singles, found) for found in (
        None, [(tries.expressions[2], third)], [(tries.expressions[2], X)], [(tries.expressions[2], described(0.25))])]
    assert [len([pair for pair in own if any(series is third for _, series in pair)]) for own in pairs] == [4, 0, 4, 4]


def test_two_parts_of_an_expression_that_was_found_are_no_pair():
    """`a + b` is one place: that its result can be put together from two other parts says nothing of these."""
    tries = compared([Z, LONGER, Z, LONG], [X, Y], lines=[1, 1, 1, 2], columns={0: (4,), 1: (6,), 2: (4,)})
    singles = [[(tries.expressions[number], series)] for number, series in ((0, X), (1, LONG), (3, Y))]

    def numbers(found):
        pairs = tries.pairs(None, singles, [(tries.expressions[found], X)])
        return {tuple(expression.number for expression, _ in pair) for pair in pairs}

    assert numbers(2) == {(0, 3), (1, 3)} and numbers(3) == {(0, 1), (0, 3), (1, 3)}


def test_lines_are_known_where_all_their_values_are():
    tries = compared([X, Y, Z, X, described(object()), X, Z], [X, Y], lines=[5, 5, 6, 6, 4, 7, 7])
    assert tries.matched_lines(tries.expressions[6]) == (5,), "of an object nothing is known"
    assert tries.matched_lines(tries.expressions[2]) == (5,)
    assert tries.matched_by_line(0) == {4: True, 5: True, 6: False, 7: False} and tries.matched_by_line(1) == {}
    partly = compared([[*X, *described(object())], X, Z], [X], lines=[4, 5, 6])
    assert partly.matched_lines(partly.expressions[2]) == (5,), "of one value nothing is known"


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
    alike = {(may_be_longer, same_form):
             [plain_values(candidate) for candidate in right.candidates(answer, may_be_longer, same_form)]
             for answer, may_be_longer in ((Z, False), (described(7.5), True)) for same_form in (True, False)}
    assert alike[False, True] == [plain_values(X)] and alike[False, False] == [plain_values(LONG), [0.5]]
    assert alike[True, True] == [[1.5, 2.5], [0.5]] and alike[True, False] == [plain_values(X), plain_values(LONG)]


def test_numbers_are_found_in_whatever_holds_them():
    assert list(elements(describe([1, [2.5, "a"], (torch.tensor([True]), None)]))) == [1, 2.5, "a", True, None]
    values = 1.5, [1, 1.5], torch.tensor([0.0, 0.5]), 2.0, [1], True, "a"
    assert [described(value).has_decimals for value in values] == [True] * 3 + [False] * 4
    assert described(1.0, 1.5).has_decimals


def test_a_value_that_begins_right_is_wrong_from_its_first_wrong_value_on():
    tries = compared([described(1.5, 2.5, 4.5), described(3.5, 2.5, 4.5), described(7, 8)],
                     [described(1.5, 2.5, 3.5), described(1.5, 9.5), described(7, 9)])
    assert [expression.number for expression in tries.ordered] == [0, 1, 2]
    assert [tries.time(expression) for expression in tries.ordered] == [3, 4, 7], "whole numbers are equal by chance"
    right = RightValues([described(1.5, 2.5), described(1.5, 2.5, 3.5, 4.5)])
    starts = [(1.5, 2.5, 3.5, 9.5), (1.5, 2.5, 9.5), (9.5, 2.5), (1.5, torch.tensor(2.5)), (torch.tensor(1.5), 2.5)]
    assert [right.right_start(described(*start)) for start in starts] == [3, 2, 0, 1, 0]


def test_no_line_is_known_on_which_nothing_can_be_compared():
    tries = compared([X, described({}), described({1: 2}), X, described(object()), Y, X, Z], [X],
                     lines=[1, 2, 3, 3, 4, 5, 4, 6], named={1, 4})
    assert tries.matched_lines(tries.expressions[7]) == (1, 4), "a dict, and a variable of any type"


def test_names_are_replaced_by_others_only_if_they_are_not_the_same_by_chance():
    words, letters = described(["a", "man", "ran", "home"]), described(["a", "e", "h", "m", "n", "o", "r"])
    right = [words, described(["b"]), described([]), described([1, 2, 3, 4]), described([True, False, True, False])]
    assert summary(compared([letters], right).other_forms(None)) == summary([[(0, words)]])
    assert not summary(compared([described([])], right[1:3]).other_forms(None))


def test_the_same_elements_in_another_form_replace_known_values_too():
    lengths = torch.tensor([3, 2])
    tries = compared([described([3, 2]), described(4), described(5, 6), described([3, 2])],
                     [described([3, 2]), described(lengths), described(torch.tensor([4])), described([5, 6]),
                      described([3, 2], [3, 2])])
    assert [expression.number for expression in tries.unmatched] == [1, 2]
    assert summary(tries.other_containers(None)) == [[(3, [("tensor", [3, 2])])]], "whole numbers only at the end"
    assert not summary(tries.other_containers(tries.ordered[3]))
    halves = torch.tensor([3.5, 2.0])
    tries = compared([described([3.5, 2.0]), described(4), described([3.5, 2.0])], [described(halves)])
    assert summary(tries.other_containers(None)) == [[(number, [("tensor", [3.5, 2.0])])] for number in (0, 2)]
    assert summary(tries.other_containers(tries.ordered[2])) == [[(0, [("tensor", [3.5, 2.0])])]]


def test_a_series_is_rearranged_in_each_way_that_has_its_form_once():
    rows = torch.arange(6.0).reshape(2, 3) + 0.5
    right = RightValues([described(*rows), described(rows.flatten()), described(torch.arange(6).reshape(3, 2))])
    candidates = list(right.transposed(described(torch.zeros(2, 3))))
    assert [series[0].array.tolist() for series in candidates] == [rows.tolist()], "whole numbers are of another type"
    turned = list(right.transposed(described(*torch.zeros(3, 2))))
    assert [[value.array.tolist() for value in series] for series in turned] == [rows.T.tolist()]
    numbers = RightValues([described(torch.tensor([1.5, 2.5]))])
    assert [[value.value for value in series] for series in numbers.transposed(described(0.5, 0.5))] == [[1.5, 2.5]]
    assert not list(numbers.transposed(described(torch.tensor([1.5, 2.5])))), "that is what it is"
    infinite = RightValues([described(torch.tensor([math.inf, 1.5]))])
    assert not list(infinite.transposed(described(torch.tensor([1, 2])))), "no warning says that it is no whole number"
    large = RightValues([described(torch.tensor([1e300, 1.5], dtype=torch.float64))])
    assert len(list(large.transposed(described(torch.zeros(2))))) == 1
    even = RightValues([described(torch.tensor([[1.5, 2.5], [2.5, 3.5]])), described("a", "b")])
    assert len(list(even.transposed(described(torch.zeros(2, 2))))) == 1
    assert not list(even.transposed(described("c", "d")))
    (flat,) = RightValues([described(rows[:, None])]).transposed(described(torch.zeros(2, 3)))
    assert plain_values(flat) == plain_values(described(rows))
