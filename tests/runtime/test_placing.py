"""Places of an exercise: those of its checks beside each other, and none that may mislead."""

from dataclasses import replace

import pytest
import torch

from autograder.runtime import placing
from autograder.runtime.diagnosis import Recognised
from autograder.runtime.difference import Difference
from autograder.runtime.findings import CheckResult
from autograder.runtime.known import Answer, References
from autograder.runtime.observation import observe
from autograder.runtime.place import located
from autograder.runtime.placing import placed
from autograder.runtime.rewriting import cells_of

CELL = """
def cell(x, h, c):
    i, g = torch.sigmoid(x + h), torch.tanh(x - h)
    c = c + i * g
    return torch.tanh(c) * i, c


def twice(x, h, c):
    for x_t in x:
        h, c = cell(x_t, h, c)
    return h


def double(x):
    return torch.sin(x) * 2
"""
COUNT = """
def count(tokens):
    places = (tokens != 0).cumsum(0)
    return places[-1] + 1
"""


def looked_at(text, right, name, arguments):
    """What is located of an answer in one call."""
    def seen(one, regrouped=False):
        cells = cells_of([one], whole=True)
        return cells, observe(cells, {"torch": torch}, lambda names: names[name](*arguments), regrouped)

    cells, observed = seen(right, regrouped=True)
    return located([text], seen(text)[1], References.of([Answer(cells[0].expressions, observed)]), whole=True)


def failed(*names):
    """Checks whose values differ."""
    return [CheckResult(name, False, "It computes.", Difference("value", output=name)) for name in names]


def texts(results):
    """What is underlined for each."""
    return [one.place and one.place.text for one in results]


@pytest.fixture
def drawn(rng):
    """Inputs, and states that are not zero."""
    torch.manual_seed(int(rng.integers(2**31)))
    B, H = rng.integers(2, 6, 2)
    return torch.randn(3, B, H), torch.randn(B, H), torch.randn(B, H)


def test_what_follows_from_the_first_mistake_is_no_place(drawn):
    x, h, c = drawn
    wrong = CELL.replace("return torch.tanh(c) * i, c", "return torch.tanh(c - i * g) * i, c")
    at_once, later = looked_at(wrong, CELL, "cell", (x[0], h, c)), looked_at(wrong, CELL, "twice", (x, h, c * 0))
    assert later.place.text != at_once.place.text  # alone, it would be shown
    assert texts(placed(failed("one", "two"), lambda i, form: [at_once, later][i])) == [at_once.place.text, None]


def test_a_mistake_in_another_function_has_a_place_of_its_own(drawn):
    x, h, c = drawn
    wrong = CELL.replace("torch.tanh(c) * i", "torch.tanh(c) + i").replace("torch.sin(x)", "torch.cos(x)")
    found = [looked_at(wrong, CELL, "cell", (x[0], h, c)), looked_at(wrong, CELL, "double", (x,))]
    assert texts(placed(failed("one", "two"), lambda i, form: found[i])) == ["torch.tanh(c) + i", "torch.cos(x)"]


def test_a_mistake_of_another_line_stays_where_the_first_came_out_right(drawn):
    x, h, c = drawn
    cell = CELL.replace("torch.sigmoid(x + h)", "torch.sigmoid(x + h if x.ndim < 3 else h)")
    wrong = cell.replace("torch.tanh(c) * i", "torch.tanh(c) + i").replace("else h)", "else x)")
    found = [looked_at(wrong, cell, "cell", (x[0], h, c)), looked_at(wrong, cell, "cell", (x, h, c))]
    first, second = texts(placed(failed("one", "two"), lambda i, form: found[i]))
    assert first == "torch.tanh(c) + i" and "sigmoid" in second


def test_whole_numbers_are_shown_only_where_nothing_else_tells(drawn):
    tokens = torch.tensor([4, 0, 7, 2, 9, 0, 5])
    weak = looked_at(COUNT.replace("!= 0", "!= 4"), COUNT, "count", (tokens,))
    wrong = CELL.replace("torch.sin(x)", "torch.cos(x)")
    firm = looked_at(wrong, CELL, "double", drawn[:1])
    assert weak.place.whole and not firm.place.whole
    one, two = failed("one", "two")
    assert texts(placed([one], lambda i, form: weak)) == [weak.place.text]
    named = replace(one, fault=Recognised("zeros", "Zeros are counted."))
    assert texts(placed([named], lambda i, form: weak)) == [None]
    assert texts(placed([one, two], lambda i, form: [weak, firm][i])) == [None, firm.place.text]
    assert texts(placed([one, two], lambda i, form: [None, weak][i])) == [None, None]


def test_only_the_first_checks_whose_values_differ_are_looked_at():
    asked = []
    results = failed(*"abcdef")
    results[1] = CheckResult("b", True, "It computes.")
    results[2] = replace(results[2], difference=Difference("raised"))
    assert placed(results, lambda i, form: asked.append(i)) == results
    assert asked == [0, 3, 4][:placing.MAX_PLACES]


TURNS = """
def turns(x):
    total = torch.zeros(3)
    for row in x:
        total = total + torch.sin(row)
    return total
"""


@pytest.mark.parametrize(("kind", "shown"), [("shape", ["for row in x[:-1]"]), ("length", ["for row in x[:-1]"]),
                                             ("value", [None])])
def test_a_loop_is_shown_where_the_result_is_shorter_or_longer(kind, shown):
    """A right answer may go through the same values in loops of another length."""
    found = looked_at(TURNS.replace("in x:", "in x[:-1]:"), TURNS, "turns", (torch.randn(4, 3),))
    assert found.place.kind == "length"
    results = [CheckResult("total", False, "It computes.", Difference(kind, output="total"))]
    assert texts(placed(results, lambda i, form: found)) == shown
    named = replace(failed("one")[0], fault=Recognised("zeros", "Zeros are counted."))
    assert texts(placed([named, *results], lambda i, form: [None, found][i])) == [None, None], "it is not sure"
