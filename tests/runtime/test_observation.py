"""What is kept of an answer while calls are made on it: bounded, each value once, and when two of them are the same."""

import math
import warnings

import numpy as np
import pytest
import torch

from autograder.runtime.locate import observation
from autograder.runtime.locate.observation import (
    Observer,
    Series,
    have_same_values,
    installed,
    is_close,
    is_same,
    observe,
    type_of,
)
from autograder.runtime.locate.rewriting import OBSERVE, instrument
from autograder.runtime.syntax import segment
from autograder.runtime.values import MAX_DEPTH, describe, to_python, to_tree


def names():
    return {"torch": torch, "math": math}


def test_a_constant_reports_its_value_where_it_is_returned():
    text = "def f(x):\n    if x > 0:\n        return 1.5\n    if x < 0:\n        return None\n    return\n"
    cells, namespace = instrument([text]), names()
    exec(text, namespace)
    spans = {expression.number: segment(text, expression.span) for expression in cells[0].expressions}
    assert sorted(spans.values()) == ["1.5", "x", "x", "x < 0", "x > 0"]
    observed = observe(cells, namespace, lambda: [namespace["f"](x) for x in (1, 0)]).series_by_number()
    assert [spans[number] for number in observed][2] == "1.5"


def test_an_observation_is_bounded(monkeypatch):
    monkeypatch.setattr(observation, "MAX_LENGTH", 10)
    monkeypatch.setattr(observation, "MAX_NUMBERS", 100)
    monkeypatch.setattr(observation, "MAX_ALL_NUMBERS", 250)
    text = "def f(x):\n    for n in range(50):\n        y = x + n\n    return x[:1]\n"
    namespace = names()
    exec(text, namespace)
    observer = observe(instrument([text]), namespace, lambda: namespace["f"](torch.ones(60)))
    assert max(map(len, observer.series.values())) == 10 and observer.element_count <= 250
    assert any(value.form is None for series in observer.series.values() for value in series)
    monkeypatch.setattr(observation, "MAX_VALUES", 5)
    observer = observe(instrument([text]), namespace, lambda: namespace["f"](torch.ones(60)))
    assert sum(map(len, observer.series.values())) == 5
    assert Observer()._describe(torch.ones(101)).form is None and Observer()._describe([[1] * 101]).form is None


def test_a_list_is_described_once_as_long_as_it_stays_the_same():
    observer, numbers = Observer(), [1, 2.5, "a"]
    first = observer._describe(numbers)
    assert observer._describe(list(numbers)) is observer._describe(tuple(numbers)) is first
    numbers[0] = True
    assert observer._describe(numbers) is not first and to_python(observer._describe(numbers))[0] is True
    nested = [[1], [2]]
    before = observer._describe(nested)
    nested[0].append(3)
    assert [to_python(value) for value in (before, observer._describe(nested))] == [[[1], [2]], [[1, 3], [2]]]
    tensor = torch.ones(3)
    row = observer._describe([tensor, 1])
    assert observer._describe((tensor, 1)) is row
    tensor[0] = 2.0
    assert [value.items[0].array.tolist() for value in (row, observer._describe([tensor, 1]))] == [[1, 1, 1], [2, 1, 1]]
    lists, nested_lists, tensors = (3 + 4) + (1 + 4), (1 + 2 * 2 + 3) + (1 + 3 + 3), 2 * (3 + 3)
    assert observer.element_count == lists + nested_lists + tensors, "what is described once is counted once"


def test_a_list_of_which_an_element_is_read_is_not_described():
    text = "def f(x, rows):\n    return rows[-1] + x[0]\n"
    cells, namespace = instrument([text]), names()
    exec(text, namespace)
    spans = {expression.number: segment(text, expression.span) for expression in cells[0].expressions}
    observer = observe(cells, namespace, lambda: namespace["f"](torch.ones(2), [torch.ones(3)]))
    assert [spans[number] for number in observer.series_by_number()] == ["rows[-1]", "x", "x[0]", "rows[-1] + x[0]"]
    mixed = "def f(a, b):\n    return [x[0] for x in (a, b)]\n"
    exec(mixed, namespace)
    cells = instrument([mixed])
    observer = observe(cells, namespace, lambda: namespace["f"](torch.ones(2), [3]))
    (number,) = [expression.number for expression in cells[0].expressions if expression.is_indexed]
    assert observer.series[number] and number not in observer.series_by_number(), "a part of them is no series"


@pytest.mark.parametrize("text", [
    "def f(x):\n    match x:\n        case math.pi:\n            return 1\n"
    "        case [a, *_]:\n            return a\n    return 0\n",
    "def f(x):\n    del x[0]\n    x[0:2] += [1]\n    (a, b), c = (x, 1), f'{x!r:>3}'\n    return [n for n in x if n]\n",
    "def f(x):\n    def g():\n        nonlocal x\n        x += [2]\n        yield from x\n    return list(g())\n",
    "def f(x):\n    if (n := len(x)) > 1 and not x[-1] < n:\n        x[n - 1] += 1\n"
    "    return lambda y=n: x[y - 1] if y else -n\n",
    "class A:\n    b = [1]\n\n    def f(self, x):\n        self.b[0] += x[0]\n        with memoryview(b'a') as m:\n"
    "            return self.b, m[0]\n\n\ndef f(x):\n    return A().f(x)\n",
    "def f(x):\n    try:\n        assert x[5], x\n"
    "    except (IndexError, KeyError) as error:\n        return str(error)\n",
])
def test_an_observed_cell_does_what_it_did(text):
    plain, watched = names(), names()
    exec(text, plain)
    (cell,) = instrument([text])
    assert cell.expressions
    with installed([cell], watched):
        watched[OBSERVE] = Observer().probe
        for argument in ([3, 1, 4], [0], [2, 2]):
            results = []
            for namespace in (plain, watched):
                try:
                    result = namespace["f"](list(argument))
                except Exception as error:
                    result = type(error)
                results.append(result(1) if callable(result) and not isinstance(result, type) else result)
            assert results[0] == results[1]


@pytest.mark.parametrize(("a", "b", "alike"), [
    (torch.tensor([1.0, math.nan]), torch.tensor([1.00001, math.nan]), True),
    (torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.1]), False),
    (1.0, 1.0 + 1e-9, True), (1.0, 1.1, False), (True, False, False), ("a", "a", True), ("a", "b", False),
    (torch.tensor([1.0, math.inf]), torch.tensor([1.00001, math.inf]), True),
    (torch.tensor([1.0, math.inf]), torch.tensor([1.0, -math.inf]), False),
    (torch.tensor([1.0, 3e38]), torch.tensor([1.0, math.inf]), False),
    (torch.tensor([1.0, math.inf]), torch.tensor([1.0, 3e38]), False),
    (torch.tensor([1.0, 2.0]), torch.tensor([1.0, math.nan]), False),
    (torch.tensor([2, 70_000]), torch.tensor([2, 70_001]), False), (torch.tensor([2, 7]), torch.tensor([2, 7]), True),
    (torch.tensor([True, False]), torch.tensor([True, True]), False),
    (np.array([1j, 2.0]), np.array([1j, 2.00001]), True), (np.array([1j, 2.0]), np.array([1j, 2j]), False),
    ([1.0, "a"], (1.0, "a"), True), ([1.0, 2.0], [1.0, 2.5], False), (None, None, True), (math.nan, math.nan, True),
])
def test_values_are_the_same_up_to_rounding(a, b, alike):
    assert is_close(describe(a), describe(b)) is alike and describe(a).form == describe(b).form


@pytest.mark.parametrize("a, b, alike", [
    (1e-6, 0.0, True), (1.1e-6, 0.0, False), (np.nextafter(1e-6, 1), 0.0, False), (math.nan, 1.0, False),
    (1.0, math.nan, False), (math.inf, math.inf, True), (math.inf, 1.0, False), (-0.0, 0.0, True),
])
def test_arrays_are_the_same_as_far_as_their_tolerance_goes(a, b, alike):
    for first in ([], [4.0]):  # the first number is looked at before the others
        assert is_close(describe(np.array([*first, a])), describe(np.array([*first, b]))) is alike


@pytest.mark.parametrize("a, b, alike", [(1e-8, 0.0, True), (1.1e-8, 0.0, False), (math.nan, 1.0, False),
                                         (1.0, math.nan, False), (math.inf, 1.0, False), (1.0, math.inf, False)])
def test_numbers_are_the_same_as_far_as_their_tolerance_goes(a, b, alike):
    value = describe(a)
    assert is_close(value, value) and is_close(value, describe(b)) is alike
    assert is_close(describe([2.0, a]), describe([2.0, b])) is alike
    assert not is_same(describe(1), describe(1.0)) and not is_close(describe(7), describe(8))


def test_series_are_the_same_if_they_are_as_long_and_each_value_is():
    one, two = (Series(map(describe, values)) for values in ([1.0, 2.0], [1.0, 2.0 + 1e-9]))
    assert have_same_values(one, two) and not have_same_values(one, Series(one[:1]))
    others = [one[0], one[0]], one[::-1], map(describe, [1, 2])
    assert not any(have_same_values(one, Series(values)) for values in others)


@pytest.mark.parametrize("value, expected", [
    (torch.ones(2, 3), "tensor of f with 2 axes"), (torch.ones(3).long(), "tensor of i with 1 axes"),
    (np.ones(3) > 0, "array of b with 1 axes"), (1, "int"), (1.5, "float"), ("a", "str"), (None, "none"),
    ([1], "list"), (len, "builtin_function_or_method"), (range(3), "range"),
])
def test_values_that_are_mistaken_for_each_other_are_of_one_type(value, expected):
    assert type_of(describe(value)) == expected


@pytest.mark.parametrize("value, expected", [
    (3.0, False), (3.5, True), (3, False), (True, False), ("1.5", False), (None, False), (math.inf, True),
    ([1, 2.5], True), ([1.0, [2, "a"]], False), (np.array([1.0, 2.0]), False), (np.array([1.0, 2.5]), True),
    (np.array([1, 2]), False), (torch.tensor([5.0, math.nan]), True),
])
def test_a_number_that_is_not_whole_is_no_coincidence(value, expected):
    assert observation.has_decimals(describe(value)) is expected
    assert Series([describe(2), describe(value)]).has_decimals is expected


def test_several_elements_that_are_not_all_the_same_are_no_coincidence():
    cases = (([1, 2, 1, 1], True), ([1, 2, 1], False), ([1, 1, 1, 1], False), ([[1, 2], [1, 1]], True))
    assert [Series(map(describe, values)).is_varied for values, _ in cases] == [is_varied for _, is_varied in cases]
    decisions = Series(map(describe, [True, ["a", False]]))
    assert decisions.has_no_numbers and not Series(map(describe, [True, 1])).has_no_numbers
    assert Series([*decisions, describe({}), describe(1)]).described == decisions and decisions.described is decisions


def test_what_is_no_python_takes_no_definition_of_the_other_cells():
    texts = ["def a(n=1 + 1):\n    return n", "def b(:", "def c(x):\n    return x\n", "@missing\ndef d():\n    pass\n",
             "def f():\n    return 3\n"]
    namespace = {"c": 5}
    with installed(instrument(texts), namespace):
        assert namespace["a"]() == 2 and namespace["c"](4) == 4
        assert "d" not in namespace and "f" not in namespace, "an error ends the definitions"
    assert namespace == {"c": 5}


def test_lists_alone_of_which_an_element_is_read_are_left_out():
    text = "def f(x, rows):\n    return x + rows[0], rows\n"
    cells = instrument([text])
    indexed = [number for number in range(6) if number in observation.observer_of(cells).indexed]
    assert [segment(text, one.span) for one in cells[0].expressions if one.number in indexed] == ["rows"]


def test_an_observed_value_that_is_no_number_warns_of_nothing():
    with warnings.catch_warnings(action="error"):
        assert is_close(describe(np.array([math.inf, 1.0])), describe(np.array([math.inf, 1.0])))
        assert observation.has_decimals(describe(np.array([math.inf, math.nan])))


def test_as_many_values_as_are_kept_are_all_of_them(monkeypatch):
    monkeypatch.setattr(observation, "MAX_VALUES", 3)
    observer = Observer(indexed={7})
    assert [observer.probe(number, number) for number in (1, 2, 1)] == [1, 2, 1]
    assert observer.probe(7, [1]) == [1] and observer.probe(7, (2, 3)) == (2, 3)
    assert [observer.has_reached(number) for number in (1, 2, 3, 7)] == [True, True, False, True]
    assert observer.times == {1: [1, 3], 2: [2]} and observer.series_by_number().keys() == {1, 2}
    observer.probe(3, 1.5)
    assert observer.series.keys() == {1, 2} and observer.has_reached(9), "one too many came to know"


def kept(value, observer=None):
    """What is kept of a value, as a tree."""
    return to_tree((observer or Observer())._describe(value))


TOO_LARGE = {"kind": "other", "type": "too large a value"}


def test_a_value_has_as_many_numbers_as_are_kept_and_no_more(monkeypatch):
    monkeypatch.setattr(observation, "MAX_NUMBERS", 12)
    for value in ([1] * 11, [[1, 2, 3], [1, 2], [5, 6]], ([1] * 5, [2] * 4)):
        assert kept(value) == to_tree(describe(value))
    for value in (torch.ones(12), (torch.ones(5), torch.ones(6))):
        assert kept(value)["kind"] in ("tensor", "list")
    for value in (torch.ones(13), [1] * 12, [1] * 13, [1] * 50, [[1, 2, 3]] * 3, (torch.ones(5), torch.ones(7))):
        assert kept(value) == TOO_LARGE


def test_all_values_have_as_many_numbers_as_are_kept_and_no_more(monkeypatch):
    monkeypatch.setattr(observation, "MAX_ALL_NUMBERS", 11)
    observer = Observer()
    assert kept(torch.ones(6), observer)["kind"] == "tensor" and kept([1, 2], observer) == to_tree(describe([1, 2]))
    assert observer.element_count == 11
    assert kept(3, observer) == kept([2, 1], observer) == TOO_LARGE and kept((1, 2), observer) != TOO_LARGE


def test_what_lies_too_deep_is_kept_by_its_type():
    value = 1.5
    for _ in range(MAX_DEPTH + 2):
        value = [value]
        assert kept(value) == to_tree(describe(value))


def test_the_parts_of_a_list_are_described_once_and_what_cannot_be_known_again_each_time():
    observer, tensor = Observer(), torch.ones(3)
    row = observer._describe([tensor, [2, 3]])
    assert row.items[0] is observer._describe(tensor) and row.items[1] is observer._describe((2, 3))
    kinds = [observer._describe(value) for value in (object(), {1}, np.ones(2), len, slice(1, None, 2), {"a": 1})]
    assert [getattr(kind, "type", None) for kind in kinds] == [
        "object", "set", None, "builtin_function_or_method", None, "dict"]
    assert to_python(kinds[4]) == [1, None, 2]
