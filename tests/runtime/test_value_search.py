"""Where the value of a right answer makes a check pass: that place is shown, and what was seen is bounded."""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from autograder.runtime.compare import as_far_as_wrong, error_difference
from autograder.runtime.locate import check_search, replacements, replacing, value_search
from autograder.runtime.locate.check_search import CheckSearch
from autograder.runtime.locate.deadline import WALL_FACTOR, Deadline
from autograder.runtime.locate.observation import Observer, Series, installed, is_close, observe
from autograder.runtime.locate.rewriting import OBSERVE, Expression, instrument
from autograder.runtime.locate.right_values import RightValues, from_tree, to_tree
from autograder.runtime.locate.value_search import ValueSearch
from autograder.runtime.operations import Output
from autograder.runtime.recorded import OutputSpec, RecordedCheck, Reply
from autograder.runtime.replay import describe_error
from autograder.runtime.syntax import segment
from autograder.runtime.time_limit import time_limit
from autograder.runtime.values import describe

NEVER = Deadline(math.inf, math.inf)
ATTEND = """
def attend(hdec, henc_ts):
    scores = (henc_ts * hdec).sum(-1) / hdec.shape[-1] ** 0.5
    weights = torch.softmax(scores, dim=0)
    return (weights[..., None] * henc_ts).sum(0), weights
"""
LOOPS = """
def attend(hdec, henc_ts):
    S, B, H = henc_ts.shape
    contexts, all_weights = [], []
    for b in range(B):
        weights = torch.softmax(henc_ts[:, b] @ hdec[b] / H ** 0.5, dim=0)
        all_weights.append(weights)
        contexts.append(weights @ henc_ts[:, b])
    return torch.stack(contexts), torch.stack(all_weights, dim=1)
"""
RECUR = """
def recur(x, h):
    states = []
    for x_t in x:
        h = torch.tanh(x_t + 0.5 * h)
        states.append(h)
    return torch.stack(states), h
"""
CLASS = """
class Counter:
    def __init__(self, x):
        self.total = x.sum()

    def mean(self, x):
        return self.total / len(x)


def mean(x):
    return Counter(x).mean(x)
"""


@pytest.fixture
def inputs(rng):
    """Random decoder and encoder vectors, S, B and H distinct."""
    S, B, H = rng.permutation([3, 5, 6])
    torch.manual_seed(int(rng.integers(2**31)))
    return torch.randn(B, H), torch.randn(S, B, H)


@pytest.fixture
def states(inputs):
    """Random inputs of a recurrence, and an initial state."""
    return inputs[1], inputs[0]


def names():
    return {"torch": torch, "math": math}


def called(name, arguments, namespace):
    """The reply of a check that calls one function."""
    try:
        return Reply({"result": describe(namespace[name](*(argument.clone() for argument in arguments)))})
    except Exception as error:
        return Reply({}, describe_error(error, namespace))


def series(*all_values):
    """A series of values."""
    return Series(map(describe, all_values))


def values_of(texts, name, arguments):
    """The values of right answers, and the check that they pass."""
    answers = []
    for text in texts:
        namespace = names()
        exec(text, namespace)
        expected = called(name, arguments, namespace)
        observer = observe(instrument([text]), namespace, lambda own=namespace: called(name, arguments, own))
        answers.append(observer.series_by_number().values())
    return RecordedCheck((), expected, {"result": OutputSpec()}, 1), RightValues.of_answers(answers)


def place(wrong, right, name, arguments, seconds=60.0, others=()):
    """The place that is found in an answer."""
    record, known = values_of(right, name, arguments)
    namespace, texts = names(), [wrong, *others]
    for text in texts:
        exec(text, namespace)
    before = dict(namespace)
    search = ValueSearch(instrument(texts), texts, namespace, lambda _: called(name, arguments, namespace),
                    [(record, from_tree(to_tree(known)))],
                    Deadline.after(seconds))
    (shown,) = search.find_places()
    assert namespace == before
    return shown


@pytest.mark.parametrize(("old", "new", "where"), [
    ("hdec.shape[-1] ** 0.5", "hdec.shape[0]", "hdec.shape[0]"),
    ("(henc_ts * hdec).sum(-1) /", "(henc_ts * hdec).mean(-1) /", "(henc_ts * hdec).mean(-1)"),
    ("torch.softmax(scores, dim=0)", "torch.softmax(scores, dim=1)", "torch.softmax(scores, dim=1)"),
    ("torch.softmax(scores, dim=0)", "scores + 1", "scores + 1"),
    ("torch.softmax(scores, dim=0)", "scores", "scores"),
    ("(weights[..., None] * henc_ts).sum(0), weights", "scores, weights", "scores, weights"),
    ("henc_ts).sum(0), weights", "henc_ts).mean(0), weights", "(weights[..., None] * henc_ts).mean(0)"),
])
def test_the_first_expression_that_a_right_value_mends_is_the_place(inputs, old, new, where):
    wrong = ATTEND.replace(old, new)
    shown = place(wrong, [ATTEND], "attend", inputs)
    assert shown.kind == "value" and shown.cell == 0
    assert shown.text == where == segment(wrong, shown.span), shown


@pytest.mark.parametrize(("old", "new", "where"), [
    ("/ H ** 0.5", "/ H", "henc_ts[:, b] @ hdec[b] / H"),
    ("torch.softmax(henc_ts[:, b] @ hdec[b] / H ** 0.5, dim=0)", "henc_ts[:, b] @ hdec[b] / H ** 0.5",
     "henc_ts[:, b] @ hdec[b] / H ** 0.5"),
    ("weights @ henc_ts[:, b]", "weights @ henc_ts[:, 0]", "henc_ts[:, 0]"),
])
def test_a_mistake_is_found_in_a_loop_beside_an_answer_of_another_hand(inputs, old, new, where):
    """What the right one computes at once, this one computes one sentence after the other."""
    wrong = LOOPS.replace(old, new)
    shown = place(wrong, [ATTEND], "attend", inputs)
    assert segment(wrong, shown.span) == where, shown


@pytest.mark.parametrize(("old", "new", "where"), [
    ("0.5 * h)", "0.5 + h)", "x_t + 0.5 + h"),
    ("        h = torch.tanh(x_t + 0.5 * h)", "        states.append(h)\n        h = torch.tanh(x_t + 0.5 * h)",
     "states"),
    ("torch.stack(states), h", "torch.stack(states), states[0]", "states[0]"),
    ("in x:", "in x[:-1]:", "x[:-1]"),
    ("return torch", "h += 1\n    return torch", "h += 1"),
])
def test_loops_and_what_they_collect(states, old, new, where):
    wrong = RECUR.replace(old, new)
    shown = place(wrong, [RECUR], "recur", states)
    assert segment(wrong, shown.span) == where, shown


def test_the_statement_that_stores_a_part_is_the_place(states):
    right = "def first(x, h):\n    y = x.clone()\n    y[0] = h\n    return y * 2\n"
    wrong = right.replace("y[0]", "y[-1]")
    assert place(wrong, [right], "first", states).text == "y[-1] = h"


def test_where_an_error_ends_it_the_value_before_is_the_place(inputs):
    wrong = ATTEND.replace("(weights[..., None] * henc_ts)", "(weights.T[..., None] * henc_ts)")
    assert place(wrong, [ATTEND], "attend", inputs).text in ("weights.T", "weights.T[..., None]")


def test_a_helper_in_a_cell_of_its_own_is_looked_into(inputs):
    cell = ATTEND.replace("torch.softmax(scores, dim=0)", "share(scores)")
    helper = "def share(x):\n    return torch.softmax(x, dim=-1)\n"
    shown = place(cell, [ATTEND], "attend", inputs, others=[helper])
    assert (shown.text, shown.cell, shown.span[0]) == ("torch.softmax(x, dim=-1)", 1, 2)


def test_methods_of_a_class_are_looked_into(inputs):
    positive = inputs[0].abs() + 1  # the sum of all is larger than that of a column
    shown = place(CLASS.replace("x.sum()", "x.sum(0).max()"), [CLASS], "mean", [positive])
    assert shown.text == "x.sum(0).max()"


GATES = """
def gated(x, h):
    gate = torch.sigmoid(x.sum(0) + h)
    new = torch.tanh(x.mean(0) * 2)
    return gate * new + (1 - gate) * h
"""


# Which expression is the first with a value that mends depends on the numbers: the mistake, or what is made of it.
@pytest.mark.parametrize(("edits", "first", "second"), [
    ([("sigmoid", "tanh"), ("* 2", "* 7")], ["torch.tanh(x.sum(0) + h)"],
     ["x.mean(0) * 7", "torch.tanh(x.mean(0) * 7)", "gate * new"]),
    ([("x.sum(0) + h", "x.sum(0)"), ("(1 - gate) * h", "(2 - gate) * h")], ["torch.sigmoid(x.sum(0))"], ["2 - gate"]),
    ([("x.mean(0)", "x.amax(0)"), ("(1 - gate) * h", "(1 - gate) * x[1]")], ["x.amax(0)", "gate * new"],
     ["x[1]", "(1 - gate) * x[1]"]),
])
def test_of_two_mistakes_that_meet_both_are_placed(states, edits, first, second, monkeypatch):
    monkeypatch.setattr(replacements, "MAX_NEAREST", 10**6)  # whichever come near with these numbers
    wrong = GATES
    for old, new in edits:
        wrong = wrong.replace(old, new)
    shown = place(wrong, [GATES], "gated", states)
    assert shown.text == segment(wrong, shown.span) and shown.text in first, shown
    assert shown.second.text == segment(wrong, shown.second.span) and shown.second.text in second, shown
    assert shown.difference is None and shown.cell == shown.second.cell == 0


def test_of_one_mistake_one_place_is_shown(states):
    for old, new in (("sigmoid", "tanh"), ("* 2", "* 7"), ("* new", "* h"), ("1 - gate", "gate")):
        assert place(GATES.replace(old, new), [GATES], "gated", states).second is None, old


def test_a_mistake_in_all_that_a_variable_gives_is_one_place(states):
    right = "def weighed(x, h):\n    return x * h.sum() + x.softmax(0) + x.abs()\n"
    wrong = "def weighed(x, h):\n    x = x * 2\n    return x * h.sum() + x.softmax(0) + x.abs()\n"
    other = "def weighed(x, h):\n    y = x\n    return y * h.sum() + y.softmax(0) + y.abs()\n"
    assert place(wrong, [right], "weighed", states).text == "x * 2"
    changed = "def weighed(x, h):\n    x.mul_(2)\n    return x * h.sum() + x.softmax(0) + x.abs()\n"
    shown = place(changed, [right, other], "weighed", states)
    assert (shown.text, shown.span[0], shown.second) == ("x.mul_(2)", 2, None)


def test_where_a_copy_would_do_no_value_is_blamed(states):
    """The value of the place is right: what is done to it reaches back."""
    right = "def both(x, h):\n    y = h.clone()\n    y.mul_(2)\n    return y + h\n"
    shown = place(right.replace(".clone()", ""), [right], "both", states)
    assert shown is None or shown.span[0] > 2, shown


def test_what_follows_from_right_values_of_another_shape_is_right(states):
    right = "def scaled(x, h):\n    top = x.amax(dim=2, keepdim=True)\n    return (x - top).exp() / x.sum()\n"
    assert place(right.replace("dim=2", "dim=1"), [right], "scaled", states).text == "x.amax(dim=1, keepdim=True)"


def test_nothing_is_claimed_where_no_right_value_mends(inputs):
    """Mistakes in each result, where the pair of results is not among the values; a right answer."""
    wrong = ATTEND.replace(".sum(0), weights", ".mean(0) + 1, weights + 1")
    record, right = values_of([ATTEND], "attend", inputs)
    tensors = [values for values in right.series if len(values) == 1 and values[0].form[0] == "tensor"]
    namespace = names()
    exec(wrong, namespace)
    search = ValueSearch(instrument([wrong]), [wrong], namespace, lambda _: called("attend", inputs, namespace),
                    [(record, RightValues(tensors[:3]))], Deadline.after(60))
    assert search.find_places() == [None]
    assert place(LOOPS, [ATTEND], "attend", inputs) is None


def test_values_that_are_handed_on_as_they_are_are_followed_to_the_last(inputs):
    """A right result, put in before the clamp, would come out as it is: the clamp is the mistake."""
    right = "def scaled(x, y):\n    z = x.abs() + 2\n    return z / z.sum()\n"
    wrong = "def scaled(x, y):\n    z = x.abs() + 2\n    w = z / z.sum()\n    return w.clamp(max=0.01)\n"
    assert place(wrong, [right.replace("return z / z.sum()", "return (z / z.sum()).clamp(max=0.02)")], "scaled",
                 inputs).text == "w.clamp(max=0.01)"


def test_a_place_is_followed_while_there_is_time_and_before_the_second_one():
    expressions = [Expression(number, "f", (1, 0, 1, 1)) for number in range(4)]
    first, second = series(torch.full((1,), 0.5)), series(torch.full((1,), 1.5))
    found = SimpleNamespace(ordered=expressions, time=lambda expression: expression.number,
                            series=dict.fromkeys(range(4), first))

    def followed(*replacement, ends=NEVER):
        named = [(expressions[number], values) for number, values in replacement]
        return Search(found, {0, 1, 2, 3}, ends=ends).last_expression(named).number

    assert followed((0, first)) == 3 and followed((0, first), ends=Deadline.after(-1)) == 0
    assert followed((0, first), (2, second)) == 1
    assert followed((0, first), (2, first)) == 0, "all that have the same value are one place"


CALLS = """
def mixed(x, W):
    def given(k):
        return torch.nn.functional.linear(x, W[3 * k:3 * (k + 1)])

    first = given(0).sigmoid()
    second = given({}).sigmoid()
    return first * second + given({}).tanh()
"""
AT_ONCE = """
def mixed(x, W):
    first, second, third = torch.nn.functional.linear(x, W).chunk(3, dim=-1)
    return first.sigmoid() * second.sigmoid() + third.tanh()
"""


def test_a_function_that_was_called_with_something_wrong_is_right():
    arguments = torch.rand(2, 3), torch.rand(9, 3)
    once = place(CALLS.format(1, 1), [AT_ONCE], "mixed", arguments)
    assert once.second is None
    assert (once.text, once.span[0]) == ("given(1)", 8)
    everywhere = place(CALLS.format(1, 2).replace("linear(x,", "linear(x + 1,"), [AT_ONCE], "mixed", arguments)
    assert everywhere.span[0] == 4


def test_a_function_that_was_called_once_is_not_right_in_other_calls():
    """It goes wrong in its last step alone, and returns what that gives."""
    right = """
def outer(x):
    h = steps(x)
    return h + 1.5


def steps(x):
    h = x[0]
    for x_t in x:
        h = torch.tanh(x_t + h) * {}
    return h
"""
    wrong = right.format("(1.0 if x_t is not x[-1] and (x_t != x[-1]).any() else 0.5)")
    assert place(wrong, [right.format(1)], "outer", (torch.rand(4, 3),)).span[0] == 10


def test_one_value_under_several_names_is_no_second_place():
    right = """
def outer(x):
    return helper(x, 0) + helper(x, 1)


def helper(x, i):
    return torch.minimum({0}, {0})
"""
    found = place(right.format("x.sum(0) * (i + 1)"), [right.format("x.sum(0) * (2 * i + 1)")], "outer",
                  (torch.rand(4, 3),))
    assert found.second is None


CARRIED = """
def carried(x, h):
    states = []
    for x_t in x:
        both = x_t + h
        states.append(both)
        h = torch.tanh(both) * 0.5
    return torch.stack(states)
"""


def test_what_is_right_at_first_goes_wrong_where_its_first_wrong_value_is_made():
    found = place(CARRIED.replace("torch.tanh(both)", "torch.sigmoid(both)"), [CARRIED], "carried",
                  (torch.rand(4, 3), torch.rand(3)))
    assert found.span[0] == 7, "the sum in line 5 comes before it, and is right in the first step"
    assert found.matched_lines == (3, 4), "not line 5, on which values are wrong later"


FILLED = """
def filled(x):
    table = {}
    for i in range(len(x)):
        table[i] = 2.5 * x[i]{}
    return table + 1.25
"""


@pytest.mark.parametrize("made", ["torch.full((4,), -math.inf)", "torch.zeros_like(x)", "x.new_zeros(len(x)).float()",
                                  "torch.full((4,), math.nan)", "torch.zeros(4) - 1.5"])
def test_what_is_filled_later_is_not_where_it_goes_wrong(made):
    right, arguments = "def filled(x):\n    return x * 2.5 + 1.25\n", (torch.rand(4) + 1,)
    found = place(FILLED.format(made, "\n        break"), [right], "filled", arguments)
    assert found.span[0] == 5
    twice = "def twice(x):\n    start = {}\n    for one in x:\n        start = 0.5 * start + one\n    return start\n"
    right, wrong = (twice.format(f"torch.{made}(4)") for made in ("ones", "zeros"))
    assert place(wrong, [right], "twice", (torch.rand(3, 4),)).text == "torch.zeros(4)", "it may be wrong itself"


def test_there_is_time_to_follow_a_place_that_is_found_at_the_end(inputs, monkeypatch):
    deadlines, follow = [], CheckSearch.last_expression

    def followed(search, replacement):
        deadlines.append(search.deadline)
        return follow(search, replacement)

    monkeypatch.setattr(CheckSearch, "last_expression", followed)
    monkeypatch.setattr(Deadline, "later", lambda deadline, seconds: Deadline(1e9 + seconds, math.inf))
    assert place(ATTEND.replace("dim=0", "dim=1"), [ATTEND], "attend", inputs)
    assert deadlines == [Deadline(1e9 + check_search.FOLLOWING_SECONDS, math.inf)]


def test_a_part_that_is_stored_in_a_right_value_is_not_where_it_goes_wrong(states):
    right = "def first(x, h):\n    y = x.flip(0)\n    y[0] = h\n    return y * 2\n"
    assert place(right.replace("flip(0)", "roll(1)"), [right], "first", states).text == "x.roll(1)"


def test_the_lines_before_with_right_values_are_known_and_the_value_is_told(inputs):
    wrong = ATTEND.replace("torch.softmax(scores, dim=0)", "torch.sigmoid(scores)")
    shown = place(wrong, [ATTEND], "attend", inputs)
    assert shown.matched_lines == (3,) and shown.difference.kind == "value"
    assert shown.difference.value_count == inputs[1][..., 0].numel()
    right = "def cut(hdec, henc_ts):\n    n = len(henc_ts) - 1\n    return henc_ts[:n] * hdec\n"
    whole = place(right.replace("- 1", "- 2"), [right], "cut", inputs)
    assert whole.text == "len(henc_ts) - 2" and whole.difference is None, "whole numbers are often equal by chance"


def test_the_way_of_a_gradient_is_left_as_it_was(inputs):
    x = torch.randn(3, requires_grad=True)
    old, new = x * 3, describe(torch.full((3,), 7.0))
    result = replacing._built(new, old)
    assert torch.equal(result, torch.full((3,), 7.0))
    result.sum().backward()
    assert torch.equal(x.grad, torch.full((3,), 3.0))
    assert not replacing._built(new, old * math.inf).requires_grad
    listed = replacing._built(describe((torch.ones(2), 3, "a")), (torch.zeros(2), 1, "b"))
    assert isinstance(listed, tuple) and torch.equal(listed[0], torch.ones(2)) and listed[1:] == (3, "a")


@pytest.mark.parametrize("old", [torch.zeros(3), np.zeros(3), [0, 0, 0]])
def test_what_a_variable_holds_changes_for_all_that_have_it(old):
    new = torch.ones(3) if torch.is_tensor(old) else np.ones(3) if isinstance(old, np.ndarray) else [1, 1, 1]
    assert replacing._overwritten(new, old) is old and list(old) == [1, 1, 1]


@pytest.mark.parametrize(("new", "old"), [(torch.ones(2), torch.ones(3)), (np.ones(2), np.ones(3)), (1, 2),
                                          (np.ones(3), (0, 0, 0))])
def test_what_has_another_shape_takes_the_place_of_it(new, old):
    assert replacing._overwritten(new, old) is new


@pytest.mark.parametrize(("want", "have", "apart"), [
    (torch.tensor([3.0, 4.0]), torch.tensor([3.0, 4.0]), 0.0), (torch.tensor([3.0, 4.0]), torch.zeros(2), 1.0),
    (torch.tensor([3.0, 4.0]), torch.tensor([6.0, 8.0]), 1 / 3), (torch.zeros(2), torch.zeros(2), 0.0),
    (torch.ones(2), torch.ones(3), 1.0), (torch.ones(2), torch.tensor([1.0, math.inf]), 1.0), (2, 1, 1 / 3),
    ("a", "a", 0.0), ("a", "b", 1.0), ([1, 2], [1, 2], 0.0), ([1, 2], [2, 1], 1.0),
])
def test_how_far_a_result_is_from_the_right_one_has_a_share(want, have, apart):
    assert check_search._relative_distance(describe(want), describe(have)) == pytest.approx(apart)
    assert check_search._relative_distance(describe(want), None) == 1.0


def search_of(text, checks):
    """The search in an answer, by checks that are given with right answers and arguments."""
    namespace, recorded, arguments = names(), [], {}
    for right, name, call_arguments in checks:
        record, known = values_of(right, name, call_arguments)
        arguments[id(record.expected)] = name, call_arguments
        recorded.append((record, known))
    exec(text, namespace)
    return ValueSearch(instrument([text]), [text], namespace,
                  lambda record: called(*arguments[id(record.expected)], namespace), recorded, Deadline.after(60))


def test_values_that_no_right_answer_has_are_counted_in_all_checks():
    right = "def mixed(x):\n    y = x * 2\n    return y + 1\n"
    checks = [([right], "mixed", (torch.rand(3),)), ([right], "mixed", (torch.rand(2) + 3,))]
    for text, count in ((right, 0), (right.replace("* 2", "* 3"), 6), (right.replace("+ 1", "+ 2"), 2)):
        assert search_of(text, checks).unmatched_count == count, text


def searched(text, checks):
    """The places that are found in an answer by several checks."""
    return [found and found.text for found in search_of(text, checks).find_places()]


@pytest.mark.parametrize(("condition", "found"), [
    ("(x > 3).any() or (x < 0).all()", None), ("(x > 3).any() | (x < 0).all()", None),
    ("(x < 0).all() or (x > 3).any()", None), ("(x < 0).all()", "(x < 0).all()"),
    ("bool((x < 0).all())", "(x < 0).all()"),
])
def test_of_two_decisions_that_each_mend_the_check_none_is_shown(condition, found):
    """The wrong one is not the one whose right value decides."""
    right = "def answer(x):\n    if (x < 0).any():\n        return 'refused'\n    return 'fine'\n"
    wrong = right.replace("(x < 0).any()", condition)
    assert searched(wrong, [([right], "answer", (torch.tensor([-1.0, 0.5, 2.0]),))]) == [found]


@pytest.mark.parametrize(("condition", "found"), [
    ("low", "(x < 0).all()"), ("low or len(x) > 9", "(x < 0).all()"),
    ("low or (x > 9).any() and len(x) > 9", None),  # the part with `and` would do as well
])
def test_a_decision_is_shown_if_later_ones_follow_from_it_or_do_not_mend_the_check(condition, found):
    right = "def answer(x):\n    low = (x < 0).any()\n    if low:\n        return 'refused'\n    return 'fine'\n"
    wrong = right.replace(".any()", ".all()").replace("if low", f"if {condition}")
    assert searched(wrong, [([right], "answer", (torch.tensor([-1.0, 0.5, 2.0]),))]) == [found]


def test_of_a_mask_and_a_decision_that_is_made_from_it_the_decision_is_shown():
    """Some mask or other gives every decision: with that of the high numbers, none is valid."""
    right = ("def answer(x):\n    low, high = x < 0, x >= 3\n"
             "    if bool((low | high).any()):\n        return 'refused'\n    return 'fine'\n")
    wrong = ("def answer(x):\n    valid = x >= 0\n"
             "    if not bool(valid.any()):\n        return 'refused'\n    return 'fine'\n")
    search = search_of(wrong, [([right], "answer", (torch.tensor([-1.0, 0.5, 2.0]),))])
    for search.is_explained in (False, True):
        assert [place.text for place in search.find_places()] == ["not bool(valid.any())"]


def test_beside_a_recognised_fault_a_mask_is_no_place():
    right = "def answer(x):\n    keep = x > 0.5\n    return torch.where(keep, x, 0.0)\n"
    search = search_of(right.replace("> 0.5", "> 0.7"), [([right], "answer", (torch.tensor([0.2, 0.6, 0.9]),))])
    assert [place.text for place in search.find_places()] == ["x > 0.7"]
    search.is_explained = True
    assert search.find_places() == [None]


def test_beside_a_recognised_fault_one_whole_number_is_no_place():
    right = "def answer(x):\n    count = len(x) + 1\n    return x.sum() / count\n"
    search = search_of(right.replace("+ 1", "+ 2"), [([right], "answer", (torch.tensor([0.2, 0.6, 0.9]),))])
    assert [place.text for place in search.find_places()] == ["len(x) + 2"]
    search.is_explained = True
    assert search.find_places() == [None]


def test_of_tensors_with_and_without_data_the_first_are_replaced():
    right = ("def mask(x, device=None):\n    return torch.ones(*x.shape, dtype=torch.bool, device=device).tril(1)\n"
             "def answer(x):\n    return mask(x), mask(x[1:]), mask(x, 'meta').device.type\n")
    assert searched(right.replace("tril(1)", "tril()"), [([right], "answer", (torch.rand(4, 5),))]) == [
        "torch.ones(*x.shape, dtype=torch.bool, device=device).tril()"]


@pytest.mark.parametrize("count", [2, 9])
def test_nor_are_whole_numbers_one_after_the_other(count):
    right = "def answer(x):\n    return sum(x[i] / (i + 1) for i in range(len(x)))\n"
    search = search_of(right.replace("i + 1", "i + 2"), [([right], "answer", (torch.rand(count) + 0.5,))])
    assert [place.text for place in search.find_places()] == ["i + 2"]
    search.is_explained = True
    assert search.find_places() == [None]


def test_beside_a_recognised_fault_a_mask_and_a_whole_number_are_no_places_together():
    mask, number, decimal = (series(value) for value in (torch.tensor([True, False]), 3, 0.5))
    seen = Seen()
    seen.is_mask = lambda expression: expression.number == 1
    for found, remains in (([mask, number], False), ([mask, decimal], True), ([number], False), ([decimal], True)):
        best = [(Expression(1 if one is mask else 2, "f", (1, 0, 1, 1)), one) for one in found]
        search = Search(seen, (), best)
        value_search._drop_masks_and_numbers([search])
        assert bool(search.best) is remains


@pytest.mark.parametrize(("values", "are_single"), [
    ([3] * 9, True), ([3, 4], True), ([torch.tensor(3), torch.tensor([[4]])], True), ([torch.tensor([3, 4])], False),
    ([[3], [4, 5]], False), ([True, 3], False), ([3.5], False), ([3, []], False)])
def test_whole_numbers_are_told_from_others_and_from_several(values, are_single):
    assert value_search.are_single_whole_numbers(series(*values)) is are_single


def test_what_was_found_in_a_check_is_tried_first_in_the_next_one_also_where_its_value_is_a_right_one():
    right = "def mixed(x, own, other):\n    y = own * x\n    z = other * x\n    return y * 0.25 + z * 0\n"
    wrong = right.replace("own * x", "2 * x")
    x = torch.rand(5) + 1
    checks = [([right], "mixed", (x, torch.tensor(own), torch.tensor(other))) for own, other in [(3., 7.), (5., 2.)]]
    assert searched(wrong, checks) == ["2 * x"] * 2
    assert searched(wrong, checks[1:]) == ["y * 0.25 + z * 0"], "in it, 2 * x is the right value of another variable"


def test_lines_are_known_on_which_all_values_are_right_in_each_check():
    """On line 3 the values are right only where the numbers are equal."""
    right = "def mixed(x, a, b):\n    y = 2 * x\n    z = y.tanh() * a\n    return y + z\n"
    x, wrong = torch.rand(5) + 1, right.replace("z = y.tanh() * a", "w = y.tanh() * b\n    z = w + 1")
    equal, other = ([([right], "mixed", (x, torch.tensor(2.0), torch.tensor(b)))] for b in (2.0, 3.0))
    matched_lines = []
    for checks in (equal, [*equal, *other], other):
        search = search_of(wrong, checks)
        search.find_places()
        matched_lines.append(search.matched_lines)
    assert list(map(sorted, matched_lines)) == [[2, 3], [2], [2]]


def test_a_line_that_one_check_does_not_reach_is_known_by_the_others():
    right = "def mixed(x):\n    if x.sum() > 9:\n        x = 3 * x\n    return x.tanh() + x\n"
    checks = [([right], "mixed", (torch.rand(5) + shift,)) for shift in (0, 9)]
    search = search_of(right.replace("tanh() + x", "tanh() - x"), checks)
    search.find_places()
    assert sorted(search.matched_lines) == [2, 3]


def test_longer_values_may_stand_in_only_where_an_error_ended_the_calls():
    right = "def mixed(x):\n    return [x * n for n in (1, 2)][-1]\n"
    for wrong, goes_on in ((right.replace("x * n", "x + n"), False), (right.replace("[-1]", "[5]"), True)):
        search = search_of(wrong, [([right], "mixed", (torch.rand(3) + 1,))])
        with installed(search.cells, search.namespace):
            assert search._observe(*search.checks[0])[1].ended_by_error is goes_on


def test_a_place_that_explains_both_checks_is_that_of_both():
    """Without the shift all is right, too, but for large numbers, where without it nothing is finite."""
    right = "def normed(x):\n    return x - torch.logsumexp(x, dim=-1, keepdim=True)\n"
    wrong = """def normed(x):
    top = x.amax(dim=-1, keepdim=True)
    total = (x - top).exp().sum(dim=-1, keepdim=True).log()
    out = x - total
    return out
"""
    small, large = torch.rand(3, 4), torch.rand(3, 4) + 200
    alone = [searched(wrong, [([right], "normed", (x,))])[0] for x in (small, large)]
    total = "(x - top).exp().sum(dim=-1, keepdim=True).log()"
    assert alone == ["x - top", total]
    assert searched(wrong, [([right], "normed", (x,)) for x in (small, large)]) == [total] * 2


@pytest.mark.parametrize(("right", "own", "kind"), [
    (torch.tensor([[1.5, 2.0]]), torch.tensor([1.5, 3.0]), "value"), (torch.ones(2, 1), torch.ones(2), "shape"),
    (torch.ones(3), torch.ones(2), "shape"), ((torch.tensor([[0.5]]), 1), (torch.tensor([1.5]), 1), "value"),
])
def test_of_values_whose_axes_of_size_one_differ_the_numbers_are_told(right, own, kind):
    assert value_search._difference(series(right), series(own)).kind == kind


def test_replacements_with_the_nearest_results_come_first_and_of_equal_results_the_first_and_the_last():
    record = RecordedCheck((), Reply({}), {}, 1)
    search = CheckSearch(record, record, lambda *_: None, None, NEVER)
    far, near, again, last = ([(name, ())] for name in "abcd")
    search.distances = [(0.5, far), (0.25, near), (0.25004, again), (0.24997, last)]
    assert search._nearest() == [near, last, far]
    assert search._first(iter([[]])) is None, "what raises mends nothing"


def test_the_search_ends_with_its_time_and_without_a_trace(inputs):
    wrong = ATTEND.replace("dim=0", "dim=1")
    assert place(wrong, [ATTEND], "attend", inputs, seconds=-1.0) is None


def test_what_does_not_end_is_stopped(inputs, monkeypatch):
    monkeypatch.setattr(value_search, "CALL_SECONDS", 0.2)
    wrong = "def attend(hdec, henc_ts):\n    scores = henc_ts.sum()\n    while scores != 0:\n        pass\n"
    assert place(wrong, [ATTEND], "attend", inputs) is None


def test_what_is_no_python_or_does_not_run_says_nothing():
    assert [cell.expressions for cell in instrument(["def f(:", "x = 1 +", "1 / 0"])] == [[], [], []]
    namespace = names()
    with installed(instrument(["def f(x=1 / 0):\n    return x\n", "def g():\n    return 1\n"]), namespace):
        assert not {"f", "g"} & namespace.keys()


def test_a_slice_has_a_value():
    right = "def part(x, k):\n    n = int(k)\n    own = slice(n, 2 * n)\n    return (x[own] * x[own]).sum()\n"
    checks = [([right], "part", (torch.rand(8), torch.tensor(3)))]
    assert searched(right.replace("n, 2 * n", "n - n, n"), checks) == ["slice(n - n, n)"]
    assert searched(right.replace("2 * n", "3 * n"), checks) == ["3 * n"]


def test_what_may_stand_for_each_other_has_one_form():
    some = [torch.ones(2), torch.ones(3), torch.ones(2).double(), np.ones(2), 1, 1.0, True, "a", [1], [1.0], [1, 2]]
    assert len({describe(value).form for value in some}) == len(some)
    assert [describe(value).form for value in ({}, object(), len, [object()])] == [None] * 4


def test_series_are_found_with_their_axes_in_another_order(rng):
    T, B, H = rng.permutation([2, 3, 4])
    array = torch.randn(T, B, H)
    right = RightValues([series(array)])
    for expected_values in ([array[t].T for t in range(T)], [array[t, b] for b in range(B) for t in range(T)],
                [array.permute(2, 0, 1)], [array[:, :, None]], list(array.reshape(-1).tolist())):
        wrong = [value + 1 for value in expected_values]
        candidates = list(right.transposed(series(*wrong)))
        assert any(all(is_close(a, describe(b)) for a, b in zip(candidate, expected_values, strict=True))
                   for candidate in candidates), len(expected_values)
        assert all(candidate.forms == series(*expected_values).forms for candidate in candidates)
    assert not list(right.transposed(series(torch.randn(T, B, H + 1))))
    (turned,) = RightValues([series(torch.arange(6.0).reshape(3, 1, 2))]).transposed(series(torch.zeros(2, 3)))
    assert turned[0].array.tolist() == [[0, 2, 4], [1, 3, 5]], "axes of size one are none"
    listed = RightValues([series(list(array))])
    (steps,) = [own for own in listed.transposed(series(*(step + 1 for step in array)))
                if is_close(own[0], describe(array[0]))]
    assert all(map(is_close, steps, map(describe, array))), "a list has an axis, too"
    assert not list(listed.transposed(series([step + 1 for step in array]))), "and is not replaced itself"
    assert not list(RightValues([series([array, array[0]]), series([])]).transposed(series(*array)))
    assert not list(RightValues([series(1, 0.5)]).transposed(series(torch.zeros(2)))), "of two forms"
    assert not list(RightValues([series(torch.randn(1, 2, 2, 2))]).transposed(series(torch.zeros(2, 2, 2))))
    assert not list(right.transposed(series("a"))) and not list(right.transposed(series(1.0)))


def test_each_series_is_kept_once_and_survives_as_plain_data(inputs):
    _, right = values_of([ATTEND, ATTEND, LOOPS], "attend", inputs)
    again = from_tree(to_tree(right))
    twice = RightValues.of_answers([right.series, right.series])
    assert len(again.series) == len(right.series) == len(twice.series) > 10
    assert all(map(again.find, right.series))


def test_of_shipped_values_each_is_kept_once():
    """Long arrays too, whose middle is not printed."""
    zeros, other = torch.zeros(2000), torch.zeros(2000)
    other[1000] = 1
    values = [zeros, other, [zeros, 1.5, (1.5, 2)], [zeros, 1.5], [other, 1.5], 1, 1.0, True, "1", None, zeros.double(),
              zeros.reshape(2, -1)]
    right = RightValues([series(*values), series(*values[::-1])])
    tree = to_tree(right)
    assert len(tree["values"]) == len(values) + 3, "and of what stands in lists 1.5, 2 and their tuple"
    assert sorted(len(value) for value in tree["values"] if isinstance(value, list)) == [3, 3, 3, 4]
    assert 1.5 in tree["values"], "a number stands there as it is"
    again = from_tree(tree)
    assert [read_series.forms for read_series in again.series] == [read_series.forms for read_series in right.series]
    assert all(is_close(*pair) for read_series, right_series in zip(again.series, right.series, strict=True)
               for pair in zip(read_series, right_series, strict=True))


def test_what_more_right_answers_have_comes_first(inputs):
    x, y, z, other = (series(number) for number in (1.5, 2.5, 3.5, 4.5))
    right = RightValues.of_answers([[z, z, z, x], [y, x], [y, x, series(object())]])
    assert [[value.value for value in right_series] for right_series in right.series] == [[1.5], [2.5], [3.5]]
    assert right.find(y) and not right.find(other) and not right.find(series(object()))


def test_of_an_error_the_line_is_that_of_the_text(inputs):
    wrong = ATTEND.replace("dim=0", "dim=7")
    namespace = names()
    with installed(instrument([wrong]), namespace):
        namespace[OBSERVE] = Observer().probe
        reply = called("attend", inputs, namespace)
    assert error_difference(reply.error).line == 4


@pytest.mark.parametrize(("new", "old"), [
    (np.array([1.5, 2.0]), 3), (torch.ones(2, dtype=torch.bfloat16), [0, 0]),
    (torch.ones(2, dtype=torch.bfloat16), torch.zeros(2)), ([1.5, 2.5, 3.5], [0.5]), ([1.5, 2], []),
    ((torch.ones(1), 2), (torch.zeros(1), 1)), ([torch.ones(2), torch.zeros(2)], [torch.zeros(2)]),
])
def test_a_value_is_made_of_its_own_kind_and_type_and_a_list_as_long_as_it_is(new, old):
    built, wanted = replacing._built(describe(new), old), describe(new)
    assert type(built) is type(new) and describe(built).form == wanted.form and is_close(describe(built), wanted)
    assert built is not replacing._built(describe(new), old)


def test_what_a_list_is_longer_by_has_the_gradient_of_its_last_element():
    x = torch.zeros(2, requires_grad=True)
    *_, last = replacing._built(describe([torch.ones(2)] * 3), [torch.zeros(2), 3 * x])
    last.sum().backward()
    assert torch.equal(x.grad, torch.full((2,), 3.0))


def test_what_is_put_in_one_place_is_handed_on_in_the_others_with_what_was_written_into_it():
    ones, sums = series([0.5, 1.5], [2.5, 3.5]), series(7)
    first, again, other = (Expression(number, "f", (1, 0, 1, 1)) for number in range(3))
    probe = replacing.replacing([(first, ones), (again, ones), (other, sums)])
    items = probe(0, [0.0, 0.0])
    items[0] = 9
    assert probe(1, items) is items == [9, 1.5]
    assert probe(1, [0.0, 0.0]) == [2.5, 3.5], "of an object of its own, the value"
    assert probe(2, 0) == 7 and probe(0, [1.0]) == [2.5, 3.5]
    numbers = replacing.replacing([(first, fives := series(5, 6)), (again, fives)])
    assert [numbers(*report) for report in ((0, 1), (1, 5), (1, 5))] == [5, 5, 6], "numbers are no objects"
    held = [0.0, 0.0]
    stored = replacing.replacing([(Expression(0, "f", (1, 0, 1, 1), is_after_statement=True), ones)])
    assert stored(0, held) is held == [0.5, 1.5] and stored(0, held) is held == [2.5, 3.5]


def test_only_behind_a_statement_what_holds_a_value_is_changed_itself():
    before_statement, after_statement = (Expression(number, "f", (1, 0, 1, 1), is_after_statement=bool(number))
                                         for number in (0, 1))
    probe = replacing.replacing([(before_statement, series([5])), (after_statement, series([6]))])
    kept, changed, other = [1], [1], [1]
    assert probe(0, kept) == [5] and kept == [1]
    assert probe(1, changed) is changed and changed == [6]
    assert probe(2, other) is other and other == [1]
    assert probe(1, other) is other and other == [1], "no more often than there are values"


class Search(CheckSearch):
    """Replacements of which some mend, by their number or the tuple of both; what was tried is kept."""

    def __init__(self, seen, mending, best=None, right_functions=(), ends=NEVER):
        record = RecordedCheck((), Reply({}), {}, 1)
        super().__init__(record, record, lambda check, probe: None, seen, ends, right_functions, best)
        self.mending, self.tried = mending, []

    def repairs(self, replaced):
        numbers = tuple(expression.number for expression, _ in replaced)
        self.tried.append(numbers if len(numbers) > 1 else numbers[0])
        return bool({numbers, numbers[0]} & {*self.mending})


class Seen:
    """Kinds of replacements with the numbers of the expressions that each tries, in the order of time."""

    KINDS = ("common_missing_values", "present_decimals", "equal_expressions", "pairs", "rare_missing_values",
             "other_containers", "other_shapes", "other_axis_orders", "matched_values",
             "missing_decisions", "other_forms", "results")

    def __init__(self, last=99, unmatched=(), vague=(), late=(), **kinds):
        self.last, self.vague, self.late, self.kinds, self.tried_kinds = last, vague, late, kinds, []
        self.unmatched = [Expression(number, "f", (1, 0, 1, 1)) for number in unmatched]

    def __getattr__(self, kind):
        if kind not in self.KINDS:
            raise AttributeError(kind)

        def replacements_of_kind(before, *_):
            self.tried_kinds.append(kind)
            return (self.of(number) for number in self.kinds.get(kind, ()) if before is None or number < before.number)
        return replacements_of_kind

    def of(self, number):
        return [(Expression(number, "f", (1, 0, 1, 1)), ())]

    def at(self, numbers):
        return map(self.of, numbers)

    def calls(self, expression, series, is_right):
        return iter(())

    def is_decision(self, expression):
        return False

    def is_last(self, expression):
        return expression.number >= self.last

    is_in_last_line = is_last

    def is_vague(self, expression, series):
        return expression.number in self.vague

    def unmatched_lines_before(self, expression, series):
        return 3 * (expression.number in self.late)

    def time(self, expression):
        return expression.number


STRONG, WEAK = Seen.KINDS[:7], Seen.KINDS[7:]


@pytest.mark.parametrize(("kinds", "mending", "before", "expected", "tried_kinds"), [
    (Seen(common_missing_values=[3, 5]), {5}, [], [5], STRONG),
    (Seen(common_missing_values=[5], other_shapes=[2]), {2, 5}, [], [2], STRONG),
    (Seen(common_missing_values=[5]), {4, 5}, [4], [4], ()),  # it mended another check
    # The last expression says little, an earlier one is better unless its value may be right by chance.
    (Seen(last=4, common_missing_values=[2]), {2, 4}, [4], [2], STRONG),
    (Seen(last=4, other_forms=[2]), {2, 4}, [4], [4], (*STRONG, *WEAK[:2])),
    (Seen(last=5, common_missing_values=[5], missing_decisions=[3], results=[1]), {1, 3, 5}, [], [3],
     (*STRONG, *WEAK[:3])),
    (Seen(other_forms=[3]), {3}, [], [3], (*STRONG, *WEAK[:4])),
    (Seen(last=5, matched_values=[3]), {3}, [], [3], (*STRONG, *WEAK[:2])),
    (Seen(), {3}, [], [], (*STRONG, *WEAK)),
])
def test_the_weaker_kinds_are_tried_only_where_what_was_found_says_little(kinds, mending, before, expected,
                                                                         tried_kinds):
    kinds = Seen(kinds.last, **kinds.kinds)
    search = Search(kinds, mending)
    search.find(before)
    assert search.numbers == expected and kinds.tried_kinds == list(tried_kinds)


def test_where_two_places_were_found_one_right_value_may_lack_a_step_instead():
    kinds = Seen(matched_values=[2])
    kinds.pairs = lambda before, nearest, found: iter([[*kinds.of(5), *kinds.of(7)]])
    search = Search(kinds, {(5, 7), 2})
    search.find([])
    assert (5, 7) in search.tried and search.numbers == [2]


@pytest.mark.parametrize(("pair", "mending", "expected"), [
    ([(5, "a")], {5, 9}, [9]), ([(5, "a")], {5}, [5]), ([(5, "a"), (7, "b")], {(5, 7), (7, 9)}, [7, 9]),
    ([(3, "a"), (7, "b")], {(3, 7), (3, 9), (7, 9)}, [7, 9]), ([(5, "a"), (7, "a")], {(5, 7), (5, 9), (7, 9)}, [5, 7]),
])
def test_a_call_that_mends_the_check_too_takes_the_place_of_what_was_found(pair, mending, expected, monkeypatch):
    monkeypatch.setattr(check_search, "MAX_EARLIER", 0)
    kinds = Seen()
    found = [(kinds.of(number)[0][0], name) for number, name in pair]
    kinds.common_missing_values = lambda before: iter([found])
    kinds.calls = lambda expression, *_: iter([(kinds.of(9)[0][0], "right")] if expression.number in (3, 5) else [])
    search = Search(kinds, mending, ends=Deadline(1e9, math.inf))
    search.find([])
    assert search.numbers == expected
    assert search.deadline.cpu == 1e9 + check_search.FOLLOWING_SECONDS


@pytest.mark.parametrize(("right_functions", "mending", "expected"), [
    ((), {5, 9}, [5]), (("g",), {5, 9}, [5]), (("f",), {5, 9}, [9]), (("f",), {5}, []), (("f", "g"), {5, 9}, []),
])
def test_in_a_function_that_is_right_its_call_is_the_place_or_nothing(right_functions, mending, expected, monkeypatch):
    kinds = Seen(common_missing_values=[5])
    call = replace(kinds.of(9)[0][0], function="g")
    kinds.calls = lambda expression, series, is_right: iter([(call, series)] if is_right else [])
    search = Search(kinds, mending, None, right_functions)
    search.find([])
    assert search.numbers == expected


def test_two_are_no_place_if_one_is_in_a_function_that_is_right():
    kinds = Seen()
    pair = [(Expression(number, function, (1, 0, 1, 1)), f"of {function}") for number, function in ((5, "f"), (7, "g"))]
    kinds.common_missing_values = lambda before: iter([pair])
    search = Search(kinds, {(5, 7)}, None, ("f",))
    search.find([])
    assert search.numbers == []


def test_a_call_stands_in_the_order_of_time():
    kinds = Seen()
    pair = [(kinds.of(number)[0][0], name) for number, name in ((5, "a"), (7, "b"))]
    kinds.common_missing_values = lambda before: iter([pair])
    kinds.calls = lambda expression, *_: iter([(kinds.of(2)[0][0], "right")] if expression.number == 5 else [])
    search = Search(kinds, {(5, 7), (7, 2)})
    search.find([])
    assert search.numbers == [2, 7]


def test_before_a_place_that_was_found_few_are_tried(monkeypatch):
    monkeypatch.setattr(check_search, "MAX_EARLIER", 3)
    for last, tries in ((5, 8), (99, 4)):
        kinds = Seen(last, common_missing_values=[5], present_decimals=[0, 1], other_shapes=[2, 3, 4, 0, 1])
        search = Search(kinds, {5})
        search.find([])
        assert search.numbers == [5] and len(search.tried) == tries, last
    search.repair_at([6, 7, 8, 9])
    assert search.tried[-4:] == [6, 7, 8, 9], "what another check found is tried all the same"


def having(value):
    """What an answer has, whose first expression has one value."""
    return SimpleNamespace(series={0: [value]})


def test_a_value_mends_a_check_only_if_a_copy_of_what_was_there_does_not():
    right, wrong = ({"result": describe(torch.full((2,), number))} for number in (1.0, 2.0))
    expression = Expression(0, "f", (1, 0, 1, 1))
    for replies, mends in (([right, right, wrong], True), ([right, right, right], False), ([right, right, None], True),
                           ([right, wrong], False), ([right, None], False), ([wrong], False), ([None], False)):
        given = iter([reply and Reply(reply) for reply in replies])
        record = RecordedCheck((), Reply(right), {"result": OutputSpec()}, 1)
        search = CheckSearch(record, record, lambda _, probe, given=given: next(given), having(right["result"]), NEVER)
        assert search.repairs([(expression, Series([wrong["result"]]))]) is mends
        assert next(given, "no more") == "no more"


def test_the_results_of_whole_numbers_are_not_compared_with_others():
    """Else they stand for real numbers with the same results, and no pair has these."""
    wrong = Reply({"result": describe(torch.full((2,), 2.0))})
    record = RecordedCheck((), Reply({"result": describe(torch.full((2,), 1.0))}), {"result": OutputSpec()}, 1)
    search = CheckSearch(record, record, lambda check, probe: wrong, None, NEVER)
    whole, real = ([(Expression(0, "f", (1, 0, 1, 1)), series(number))] for number in (5, 2.5))
    assert not search.repairs(whole) and not search.repairs(real) and search._nearest() == [real]


def test_a_check_is_run_as_far_as_the_first_wrong_output_and_the_rest_where_that_is_right():
    first, second = [Output(name, 0) for name in ("first", "second")]
    results = {"first": describe(torch.full((2,), 1.5)), "second": describe(torch.full((2,), 2.5))}
    record = RecordedCheck((first, second), Reply(results), {"first": OutputSpec(), "second": OutputSpec()}, 2)
    wrong = Reply({**results, "first": describe(torch.zeros(2))})
    beginning = as_far_as_wrong(record, wrong)
    for replies, lengths, mends in (([results, results, wrong.outputs], [1, 2, 1], True), ([wrong.outputs], [1], False),
                                    ([results, wrong.outputs], [1, 2], False)):
        given, run = iter(replies), []

        def reply(check, probe, given=given, run=run):
            run.append(len(check.ops))
            return Reply({name: value for name, value in next(given).items() if name in check.specs})

        search = CheckSearch(record, beginning, reply, having(results["first"]), NEVER)
        assert search.repairs([(Expression(0, "f", (1, 0, 1, 1)), series(5))]) is mends and run == lengths
    near = [(Expression(0, "f", (1, 0, 1, 1)), series(0.5))]
    for replies, distance in (([wrong], 1.0), ([Reply(results), wrong], 0.0)):
        given = iter(replies)
        search = CheckSearch(record, beginning, lambda check, probe, given=given: next(given), None, NEVER)
        assert not search.repairs(near) and next(given, "no more") == "no more"
        assert search._nearest() == [near] and search.distances[0][0] == pytest.approx(distance)


def test_of_series_of_other_lengths_the_first_difference_is_told():
    right, own = (series(*(torch.tensor([number]) for number in numbers)) for numbers in ((0.5, 1.5), (0.5, 2.5, 3.5)))
    assert value_search._difference(right, own).got.value == 2.5
    assert value_search._difference(series(torch.ones(1)), series(torch.ones(1), torch.zeros(1))) is None


def test_what_is_looked_for_between_two_tries_is_bounded_in_time_too(inputs, monkeypatch):
    def endless(self, before):
        while True:
            pass

    monkeypatch.setattr(CheckSearch, "find", endless)
    assert place(ATTEND.replace("dim=0", "dim=1"), [ATTEND], "attend", inputs, seconds=0.2) is None


def test_what_is_tried_is_bounded_in_number_and_time():
    search, ended = Search(Seen(), {9}), Search(Seen(), {1}, ends=Deadline.after(-1))
    search.remaining = 2
    assert search._first(map(Seen().of, range(10))) is None and search.tried == [0, 1]
    assert ended._first(map(Seen().of, range(10))) is None and ended.tried == []


@pytest.mark.parametrize(("unmatched", "second", "last", "expected"), [
    ([3], {5}, 99, [5]), ([], {5}, 99, [3]), ([3], {3, 5}, 99, [3]), ([3], {5}, 5, [3]), ([4], {5}, 99, [3])])
def test_a_place_gives_way_to_one_of_both_checks_only_if_the_other_refutes_it(unmatched, second, last, expected):
    search, second_search = (Search(Seen(at, unmatched), mending, Seen().of(number))
                  for at, mending, number in ((99, {3, 5}, 3), (last, second, 5)))
    value_search._share_places([search, second_search])
    assert search.numbers == expected and second_search.numbers == [5]


@pytest.mark.parametrize(("unmatched", "last", "late", "line", "remains"), [
    ([3], 5, [], 2, False), ([3], 6, [], 2, True), ([3], 6, [5], 2, False), ([4], 5, [], 2, True),
    ([4], 6, [5], 2, True), ([3], 5, [], 1, True), ([7], 5, [], 2, True), ([3, 8], 5, [], 2, False),
    ([5], 5, [], 2, True)])
def test_a_late_place_is_left_out_if_one_of_another_check_is_unmatched_before_it(unmatched, last, late, line, remains):
    """Late is the last line, and what stands after several lines with unknown values."""
    late, early = (Search(Seen(end, wrong, late=late), (),
                                                  [(Expression(number, "f", span), ())])
                   for end, wrong, number, span in ((last, unmatched, 5, (line, 0, line, 1)), (9, [], 3, (1, 0, 1, 1))))
    seventh = Search(Seen(9), (), Seen().of(7))
    value_search._drop_late_places([late, early, Search(Seen(), ()), seventh])
    assert late.numbers == ([5] if remains else []) and early.numbers == [3] and seventh.numbers == [7]


@pytest.mark.parametrize(("right", "unmatched", "mends", "remains"), [
    ([3], [5], (), False), ([3], [5], {5}, True), ([3], [], (), True), ([2.5], [5], (), True), ([3, 4], [5], (), True),
    ([True], [5], (), True)])
def test_a_whole_number_that_does_not_mend_another_check_is_no_place(right, unmatched, mends, remains):
    """It fits by chance."""
    expression = Expression(5, "f", (1, 0, 1, 1))
    search = Search(Seen(), (), [(expression, Series(map(describe, right)))])
    other = Search(Seen(unmatched=unmatched), mends)
    value_search._drop_refuted_numbers([search, other])
    assert search.numbers == [5] * remains


@pytest.mark.parametrize("checks", [1, 2])
def test_a_whole_number_of_another_type_is_refuted_by_no_check_that_has_it_as_its_place(checks, inputs):
    right = "def half(x):\n    n = len(x) // 2\n    return n\n"
    wrong = right.replace("//", "/")
    assert searched(wrong, [([right], "half", (torch.rand(4 + 2 * i),)) for i in range(checks)]) == ["n"] * checks


def test_a_check_without_time_left_refutes_nothing():
    search = Search(Seen(unmatched=[5]), (), ends=Deadline.after(-1))
    assert not search.is_refuted_at(5)
    search.deadline = NEVER
    assert search.is_refuted_at(5) and not search.is_refuted_at(6)


def test_given_are_arguments_and_attributes_that_the_cell_leaves_alone():
    """Code elsewhere alone can make them wrong."""
    text = ("class A(B):\n    def f(self, x, y, z, w, k=3):\n        y = x + y\n        z[0] = w.append(k)\n"
            "        w.append(x)\n        self.n, self.rows[0] = k, 2\n        del self.old\n"
            "        return self.n, self.END, self.rows, self.net.size, self.old, self.f, lambda q: q + k\n")
    (cell,) = instrument([text])
    given = {segment(text, expression.span) for expression in cell.expressions if expression.is_given}
    other = {segment(text, expression.span) for expression in cell.expressions if not expression.is_given}
    assert given == {"x", "k", "self.END"}
    assert other >= {"y", "w", "q", "self", "self.n", "self.rows", "self.net", "self.net.size", "self.old", "self.f"}


def test_what_is_stored_into_is_not_observed():
    text = ("def f(self, x, y):\n    for self.a[0], b in x:\n        with y as self.c[1]:\n            x[b] = 1\n"
            "    return [1 for y[2] in x]\n")
    (cell,) = instrument([text])
    observed = [segment(text, expression.span) for expression in cell.expressions]
    assert observed == ["x", "y", "x[b] = 1", "x", "[1 for y[2] in x]"]


def test_suspect_lines_are_those_of_the_first_cell():
    """The first on which a value is unknown, and those of places that say little."""
    search = ValueSearch([], [], {}, None, [], NEVER)
    assert search.suspect_lines == []
    of_lines = [[(9, 1)], [(7, 1), (5, 0), (3, 0)], [(2, 0)]]
    search.observed = [SimpleNamespace(unmatched=[Expression(0, "f", (line, 0, line, 1), cell) for line, cell in lines])
                       for lines in of_lines]
    assert search.suspect_lines == [5]
    search.vague_lines = [8, 5, 4]
    assert search.suspect_lines == [4, 5, 8]


def test_of_other_cells_neither_vague_lines_nor_types_are_told():
    elsewhere = Expression(5, "f", (3, 0, 3, 1), 1)
    vague = Search(Seen(vague=[5]), (), [(elsewhere, ())])
    assert value_search._drop_vague([vague]) == []
    cell = SimpleNamespace(expressions=[elsewhere, Expression(6, "f", (4, 0, 4, 1))])
    search = ValueSearch([cell], [], {}, None, [], NEVER)
    search.observed = [SimpleNamespace(all_series={5: series(1.5), 6: series(2)})]
    assert search.types == {(4, 0, 4, 1): {"int"}}


def test_beside_a_recognised_fault_one_mask_of_two_is_a_place():
    seen = SimpleNamespace(is_mask=lambda expression: expression.number == 5)
    searches = [Search(seen, (), [(Seen().of(number)[0][0], series(1.5))
                                                                 for number in numbers]) for numbers in ((5,), (5, 7))]
    value_search._drop_masks_and_numbers(searches)
    assert [search.numbers for search in searches] == [[], [5, 7]]


@pytest.mark.parametrize("dropped", ["_drop_late_places", "_drop_refuted_numbers", "_drop_vague"])
def test_what_says_little_is_dropped_from_the_places_of_all_checks(dropped, inputs, monkeypatch):
    right = "def half(x):\n    return x * 0.5\n"
    handed = []
    monkeypatch.setattr(value_search, dropped, lambda searches: handed.append(len(searches)) or [])
    checks = [([right], "half", (torch.rand(4 + i),)) for i in range(2)]
    searched(right.replace("0.5", "0.25"), checks)
    assert handed == [2]


@pytest.mark.parametrize(("lines", "is_shown"), [(2, True), (3, False)])
def test_at_a_result_whose_way_is_unknown_no_place_is_shown(inputs, lines, is_shown):
    """Only the sum has the form of a right value: with that of one every answer passes."""
    right = "def double(x, y):\n    return 2 * x"
    way = "\n".join(["    a = torch.stack([x, x]) + 0.125", *["    a = a * 1.5"] * (lines - 1)])
    wrong = f"def double(x, y):\n{way}\n    return a.sum(0)"
    shown = place(wrong, [right], "double", inputs)
    assert (shown and shown.text) == ("a.sum(0)" if is_shown else None)


def test_what_says_little_in_one_check_is_left_out_in_all():
    """One of two that were found together is kept: the other one says more."""
    vague, other = Seen(vague=[5]), Seen()
    found = [(vague, vague.of(5)), (vague, vague.of(7)), (vague, [*vague.of(5), *vague.of(7)]), (vague, None),
             (other, other.of(5)), (other, other.of(7))]
    searches = [Search(seen, (), best) for seen, best in found]
    assert [search.is_vague for search in searches] == [True, False, False, False, False, False]
    assert searches[0].is_last and not searches[1].is_last
    assert value_search._drop_vague(searches) == [1]
    assert [search.numbers for search in searches] == [[], [7], [5, 7], [], [], [7]]


def test_a_kind_of_many_replacements_has_half_of_the_time_that_is_left(inputs):
    seconds = []
    search = Search(Seen(), (), ends=Deadline.after(80.0))
    search._first = lambda replacements: seconds.append(search.deadline.seconds)
    search._improve_in_half_of_the_time(search.replacements.pairs)
    assert seconds == pytest.approx([40.0], abs=5) and search.deadline.seconds > 60


def test_a_slow_answer_is_observed_no_longer_than_the_search_may_take(inputs, monkeypatch):
    limits = []
    monkeypatch.setattr(value_search, "time_limit", lambda seconds: limits.append(seconds) or time_limit(seconds))
    place(ATTEND.replace("dim=0", "dim=1"), [ATTEND], "attend", inputs, seconds=0.3)
    assert 0 < limits[0] <= 0.3 * WALL_FACTOR
