"""Where an answer first goes wrong: by expressions, beside right answers, without a list of faults."""

import math

import numpy as np
import pytest
import torch

from autograder.runtime import fingerprints, observation
from autograder.runtime.fingerprints import fingerprint
from autograder.runtime.known import Answer, References, same, values_of
from autograder.runtime.observation import Observed, observe
from autograder.runtime.place import locate
from autograder.runtime.rewriting import cells_of
from autograder.runtime.syntax import segment

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


@pytest.fixture
def inputs(rng):
    """Random decoder and encoder vectors, S, B and H distinct."""
    S, B, H = rng.permutation([3, 5, 6])
    torch.manual_seed(int(rng.integers(2**31)))
    return torch.randn(B, H), torch.randn(S, B, H)


def seen(texts, name, arguments, regrouped=False):
    """What the expressions of an answer are in one call of it."""
    cells = cells_of(texts, whole=True)

    def run(names):
        if name == "train_new":
            names["train"](Counting(), *arguments)
        else:
            names[name](*(one.clone() for one in arguments))

    observed = observe(cells, {"torch": torch, "math": math}, run, regrouped)
    return Answer([one for cell in cells for one in cell.expressions], observed)


def place(texts, references, arguments, name="attend", form=False):
    """The place of an answer, and the text that it is of."""
    known = References.of([seen([text], name, arguments, regrouped=True) for text in references])
    found = locate(seen(texts, name, arguments), known, form)
    return (found.kind, segment(texts[0], found.span)) if found else None


@pytest.mark.parametrize("old, new, kind, where", [
    ("dim=0", "dim=1", "value", "torch.softmax(scores, dim=1)"),
    ("torch.softmax", "torch.log_softmax", "value", "torch.log_softmax(scores, dim=0)"),
    ("(henc_ts * hdec)", "(henc_ts + hdec)", "value", "henc_ts + hdec"),
    (" / hdec.shape[-1] ** 0.5", "", "value", "torch.softmax(scores, dim=0)"),
    ("weights[..., None]", "scores[..., None]", "value", "scores[..., None] * henc_ts"),
    ("    return (weights", "    weights[0] = 0.5\n    return (weights", "value", "weights[0] = 0.5"),
    ("henc_ts).sum(0), weights", "henc_ts).sum(0), weights.T", "form", "weights.T"),
    ("henc_ts).sum(0), weights", "henc_ts).sum(0), scores", "return", "(weights[..., None] * henc_ts).sum(0), scores"),
])
def test_the_first_expression_that_no_right_answer_has_is_the_place(inputs, old, new, kind, where):
    wrong = ATTEND.replace(old, new)
    found = place([wrong], [ATTEND, LOOPS], inputs, form=kind == "form")
    assert found and found[0] == kind and where in found[1] and len(found[1]) <= len(where) + 2


def test_another_way_to_the_same_values_is_no_place(inputs):
    assert place([LOOPS], [ATTEND], inputs) is None
    assert place([ATTEND], [LOOPS], inputs) is None


def test_a_fault_is_found_in_an_answer_of_another_hand(inputs):
    """The reference has no loop: what the loop computes for one sequence is known by what it computes for all."""
    wrong = LOOPS.replace("weights @ henc_ts[:, b]", "weights @ henc_ts[:, 0]")
    kind, where = place([wrong], [ATTEND], inputs)
    assert kind == "value" and where in ("henc_ts[:, 0]", "weights @ henc_ts[:, 0]")


@pytest.mark.parametrize("old, new, kind, where", [
    ("for x_t in x:", "for x_t in x[:-1]:", "length", "for x_t in x[:-1]"),
    ("for x_t in x:", "for t in range(len(x) - 1):\n        x_t = x[t]", "length", "for t in range(len(x) - 1)"),
    ("        h = torch", "        state = torch", "value", "x_t + 0.5 * h"),
    ("return torch.stack(states), h", "return h, torch.stack(states)", "return", "h, torch.stack(states)"),
])
def test_loops_and_returns(rng, old, new, kind, where):
    torch.manual_seed(int(rng.integers(2**31)))
    wrong = RECUR.replace(old, new).replace("append(h)", "append(state)" if "state =" in new else "append(h)")
    found = place([wrong], [RECUR], (torch.randn(5, 2, 3), torch.randn(2, 3)), "recur")
    assert found == (kind, where)


RANKED = """
def attend(x, y):
    sums = x.sum(dim=0) + y
    order = sums.argsort(descending=True)
    return sums[order] * 2
"""


def test_numbers_in_another_order_are_others():
    arguments = torch.arange(60.0).reshape(5, 12).sin(), torch.arange(12.0).cos()
    assert place([RANKED.replace("(descending=True)", "()")], [RANKED], arguments) == ("value", "sums.argsort()")
    assert place([RANKED.replace("sums[order]", "sums")], [RANKED], arguments) == ("value", "sums * 2")


RESHAPED = """
def attend(x, y):
    cut = torch.tanh(x).reshape(2, 2, 5)
    return cut * y
"""


def test_the_same_numbers_in_another_shape_are_known(rng):
    arguments = torch.tensor(rng.normal(size=(4, 5))), torch.tensor(rng.normal(size=5))
    reference = RESHAPED.replace(".reshape(2, 2, 5)", "")
    assert place([RESHAPED.replace("cut * y", "cut + y")], [reference], arguments) == ("value", "cut + y")


SCALED = """
def attend(x, y):
    rows = []
    for row in (x, y):
        shifted = row + 1
        rows.append(shifted * shifted)
    return torch.stack(rows)
"""


def test_a_small_value_is_not_lost_beside_a_large_one(rng):
    arguments = torch.tensor(rng.normal(size=4)), torch.tensor(1e6 * rng.normal(size=4))
    assert place([SCALED.replace("row + 1", "row + 1.5")], [SCALED], arguments) == ("value", "row + 1.5")


def test_a_helper_of_the_students_own_is_looked_into(inputs):
    helper = "def weigh(scores):\n    shifted = scores - scores.max()\n    return torch.softmax(shifted, dim=1)\n"
    wrong = ATTEND.replace("torch.softmax(scores, dim=0)", "weigh(scores)")
    cells = cells_of([wrong, f"print('once more')\n{helper}"])
    assert not cells[1].expressions[0].span[0] == 1  # only definitions are run again
    known = References.of([seen([ATTEND], "attend", inputs)])
    found = locate(seen([wrong, helper], "attend", inputs), known)
    assert found is not None


def test_what_raises_on_the_way_is_observed_up_to_there(inputs):
    wrong = ATTEND.replace("torch.softmax(scores, dim=0)", "torch.softmax(scores * 3, dim=1)\n    1 / 0")
    assert place([wrong], [ATTEND], inputs) == ("value", "scores * 3")


def test_what_is_no_python_says_nothing(inputs):
    assert place(["def attend(:"], [ATTEND], inputs) is None


def test_an_observation_is_bounded():
    text = "def attend(x, y):\n    while True:\n        x = x + 1.5\n        if x > 1e6:\n            return x\n"
    one = seen([text], "attend", (torch.zeros(()), torch.zeros(())))
    assert sum(map(len, one.observed.series.values())) <= observation.MAX_VALUES
    assert max(map(len, one.observed.series.values())) <= observation.MAX_SERIES


def test_what_was_observed_survives_as_plain_data(inputs):
    observed = seen([ATTEND], "attend", inputs).observed
    assert observation.from_tree(observation.to_tree(observed)) == observed


def nested(depth, count):
    """The fingerprint of lists in lists, as a tree whose parts are one and the same."""
    return ["items", [count], [], 0.0, 0.0, "", "", [nested(depth - 1, count)] * count if depth else []]


def test_a_fingerprint_of_lists_in_lists_is_read():
    observed = observation.from_tree({"1": [[nested(3, 5)], [0], [1]]})
    assert observed and len(observed.series[1][0].items[0].items[0].items) == 5


@pytest.mark.parametrize("tree", [
    None, [], {"x": 1}, {"1": []}, {"1": [[["array"]], [0], [1]]},
    {"1": [[["other", [], [], 0.0, 0.0, "", "", []]], [], [1]]},
    {"1": [[["other", [], [], "0", 0.0, "", "", []]], [0], [1]]},
    {"1": [[["other", [], [], True, 0.0, "", "", []]], [0], [1]]},
    {"1": [[["code", [], [], 0.0, 0.0, "", "", []]], [0], [1]]},
    {"1": [[["array", [1], ["x"] * 8, 0.0, 0.0, "", "", []]], [0], [1]]},
    {"1": [[["array", [1], [0.0], 0.0, 0.0, "", "", []]], [0], [1]]},
    {"1": [[["other", np.zeros(3, "uint8"), [], 0.0, 0.0, "", "", []]], [0], [1]]},
    {"1": [[["other", [1] * 100, [], 0.0, 0.0, "", "", []]], [0], [1]]},
    {"1": [[["array", [1], [10**400] * 8, 0.0, 0.0, "", "", []]], [0], [1]]},
    {"1": [[["other", [], [], 0.0, 0.0, "", "", []]], [0], ["1"]]},
    {"1": [[["other", [], [], 0.0, 0.0, "", "", []]], np.zeros(1, int), [1]]},
    {"1": [[nested(3, 100)], [0], [1]]},
])
def test_what_a_kernel_sends_instead_is_nothing(tree):
    assert observation.from_tree(tree) is None


def test_a_fingerprint_ignores_the_order_of_axes_and_sees_the_values(rng):
    array = torch.tensor(rng.normal(size=(3, 4, 2)))
    one, other = fingerprint(array), fingerprint(array.permute(2, 0, 1))
    assert one.moments == pytest.approx(other.moments) and one.order != pytest.approx(other.order)
    assert fingerprint(array + 0.1).moments != pytest.approx(one.moments)
    assert fingerprint([*array]).moments == pytest.approx(one.moments)  # a list of arrays is as good as one
    assert fingerprint(None).is_neutral and fingerprint(torch.zeros(3)).is_neutral and not one.is_neutral

    class Hostile:
        dtype = device = property(lambda self: 1 / 0)

    assert fingerprint(Hostile()).kind == "other"
    assert fingerprints.from_tree(fingerprints.to_tree(one)) == one
    assert isinstance(Observed({}, {}, {}), Observed)


def test_a_mask_of_large_numbers_is_one_of_infinity(rng):
    scores, hidden = torch.tensor(rng.normal(size=(3, 4))), torch.arange(4) > 2
    masked = fingerprint(scores.masked_fill(hidden, -math.inf))
    assert all(same(masked, fingerprint(scores.masked_fill(hidden, size))) for size in (-1e9, -1e30))
    assert not same(masked, fingerprint(scores.masked_fill(hidden, 1e9)))
    assert not same(masked, fingerprint(scores.masked_fill(hidden, -1e4)))
    assert not same(fingerprint(torch.tensor([1, 10**9])), fingerprint(torch.tensor([1, 10**10])))


BY_HAND = """
def attend(hdec, henc_ts):
    scores = (henc_ts * hdec).sum(-1) / hdec.shape[-1] ** 0.5
    raised = (scores - scores.amax(0)).exp()
    weights = raised / raised.sum(0)
    return (weights[..., None] * henc_ts).sum(0), weights
"""


@pytest.mark.parametrize("old, new, where", [
    ("raised.sum(0)", "raised.sum(1, keepdim=True)", ("raised / raised.sum(1, keepdim=True)",
                                                      "raised.sum(1, keepdim=True)")),
    ("raised / raised", "raised * raised", ("raised * raised.sum(0)",)),
])
def test_what_is_written_out_step_by_step_is_known(inputs, old, new, where):
    """The exponentials are no fault: torch's softmax consists of them."""
    cells, names = cells_of([ATTEND], whole=True), {"torch": torch}
    observed = observe(cells, names, lambda names: names["attend"](*inputs), regrouped=True, stepwise=True)
    known = References.of([Answer(cells[0].expressions, observed)])
    wrong = BY_HAND.replace(old, new)
    found = locate(seen([wrong], "attend", inputs), known)
    assert found and found.kind == "value" and segment(wrong, found.span) in where


def test_a_class_that_was_defined_before_sees_the_stub_of_a_check():
    namespace = {"torch": torch}
    exec("def layer(x):\n    return x\n\n\nclass Before:\n    def run(self, x):\n        return layer(x)\n", namespace)
    before = dict(namespace)

    def run(names):
        names["layer"] = torch.tanh
        names["Answer"]().answer(torch.ones(3))

    text = "class Answer(Before):\n    def answer(self, x):\n        return self.run(x)\n"
    cells = cells_of([text], whole=True)
    observed = observe(cells, namespace, run)
    (returned,) = (one.number for one in cells[0].expressions if one.kind == "return")
    assert observed.series[returned] == [fingerprint(torch.tanh(torch.ones(3)))]
    assert namespace == before


MAPPED = """
def mapped(f, x):
    return torch.stack([f(row) for row in x])

def attend(x, y):
    return mapped(lambda row: torch.tanh(row * 1.5), x)
"""


def test_the_body_of_a_lambda_is_looked_into(rng):
    torch.manual_seed(int(rng.integers(2**31)))
    x = torch.randn(4, 3), torch.randn(2)
    assert place([MAPPED.replace("row * 1.5", "row * 2.5")], [MAPPED], x) == ("value", "row * 2.5")


def test_a_list_is_not_looked_at_while_it_grows(inputs):
    expressions = cells_of([RECUR], whole=True)[0].expressions
    assert not any(segment(RECUR, one.span) == "states" and one.span[0] == 6 for one in expressions)


STEPWISE = """
def attend(x, h):
    states = []
    for row in x:
        state, twice = torch.tanh(row + 0.5), torch.tanh(row + 0.5) * 2
        states.append(state * 3.5)
    return torch.stack(states)
"""
AT_ONCE = """
def attend(x, h):
    states, twice = torch.tanh(x + 0.5), torch.tanh(x + 0.5) * 2
    return states * 3.5
"""


def test_of_a_tuple_each_part_may_be_known(rng):
    """Pairs that are made one by one are those of two arrays."""
    pair = fingerprint((torch.ones(2), torch.zeros(2)))
    assert len(pair.parts) == 2 and not fingerprint([torch.ones(2), torch.zeros(2)]).parts
    torch.manual_seed(int(rng.integers(2**31)))
    x = torch.randn(4, 3), torch.randn(2)
    assert place([STEPWISE.replace("* 3.5", "* 4.5")], [AT_ONCE], x) == ("value", "state * 4.5")


def test_what_is_repeated_is_known(inputs):
    wrong = ATTEND.replace("torch.softmax(scores, dim=0)", "torch.softmax(scores, dim=1)").replace(
        "hdec).sum(-1)", "hdec.expand(henc_ts.shape)).sum(-1)")
    assert place([wrong], [ATTEND], inputs) == ("value", "torch.softmax(scores, dim=1)")


TURNED = """
def attend(hdec, henc_ts):
    rates = 0.5 ** torch.arange(henc_ts.shape[-1])
    return henc_ts * rates, hdec * rates
"""


def test_fractions_that_are_made_of_sizes_alone_are_looked_at(inputs):
    assert place([TURNED.replace("0.5 **", "0.25 **")], [TURNED], inputs) == (
        "value", "0.25 ** torch.arange(henc_ts.shape[-1])")


TWO = """
def keys(x):
    return torch.tanh(x * 1.5)

def attend(x, y):
    return (keys(x) + y) * 2.5
"""


def test_a_return_of_something_else_comes_before_what_is_made_of_it(rng):
    torch.manual_seed(int(rng.integers(2**31)))
    x = torch.randn(4, 3), torch.randn(4, 3)
    assert place([TWO.replace("return torch.tanh(x * 1.5)", "return x")], [TWO], x) == ("return", "x")


LAYOUT = """
def attend(hdec, henc_ts):
    turned, state = henc_ts.transpose(0, 1), hdec[:, None]
    scores = (turned * state).sum(-1) / hdec.shape[-1] ** 0.5
    weights = torch.softmax(scores, dim=1)
    return (weights[..., None] * turned).sum(1), weights.T
"""


def test_a_layout_of_its_own_is_no_place_and_the_form_of_what_is_returned_is(inputs):
    wrong = LAYOUT.replace("weights.T", "weights")
    assert place([wrong], [ATTEND], inputs, form=True) == ("form", "(weights[..., None] * turned).sum(1), weights")


UNTIL = """
def attend(x, h):
    said = []
    while len(said) < 6 and not (h > 9).all():
        h = h + 4
        said.append(h)
    return torch.stack(said)
"""


def test_a_loop_that_runs_on_is_seen_by_the_number_of_its_results():
    start = torch.zeros(1), torch.tensor([0, 0, 5])
    found = place([UNTIL.replace("(h > 9)", "(h > 90)")], [UNTIL], start)
    assert found == ("length", "while len(said) < 6 and not (h > 90).all()")
    known = References.of([seen([UNTIL], "attend", start)])
    assert known.other_size("attend", 0, (6, 3), 6) == 3
    assert known.other_size("attend", 0, (6, 4), 6) is known.other_size("other", 0, (6, 3), 6) is None


class Counting:
    """An object with a state, as a network has parameters."""

    def __init__(self):
        self.count = 0.5

    def __call__(self, x):
        return x * self.count


TRAIN = """
def train(model, x):
    losses = []
    for step in range(3):
        loss = model(x).sum()
        losses.append(loss * 1.5)
        model.count += 0.7
    return torch.stack(losses)
"""


def test_what_an_object_answers_is_no_place_where_its_state_was_changed_elsewhere(rng):
    torch.manual_seed(int(rng.integers(2**31)))
    x = torch.randn(4, 3)
    known = References.of([seen([TRAIN], "train_new", (x,))])
    assert locate(seen([TRAIN.replace("+= 0.7", "+= 0.9")], "train_new", (x,)), known) is None
    found = locate(seen([TRAIN.replace("model(x)", "model(x + 1.5)")], "train_new", (x,)), known)
    assert found and found.kind == "value"


CELL = """
def attend(x, h):
    return torch.gru_cell(x, h, W, U, b, c)
"""
GATES = """
def attend(x, h):
    x_r, x_z, x_n = (x @ W.T + b).chunk(3, -1)
    h_r, h_z, h_n = (h @ U.T + c).chunk(3, -1)
    z = torch.sigmoid(x_z + h_z)
    return (1 - z) / torch.tanh(x_n + torch.sigmoid(x_r + h_r) * h_n) + z * h
"""


def test_the_gates_of_a_recurrent_cell_are_known(rng):
    torch.manual_seed(int(rng.integers(2**31)))
    names = {"torch": torch, "W": torch.randn(12, 3), "U": torch.randn(12, 4), "b": torch.randn(12),
             "c": torch.randn(12)}
    x, h = torch.randn(2, 3), torch.randn(2, 4)
    right, wrong = (cells_of([text], whole=True) for text in (CELL, GATES))
    known = References.of([Answer(right[0].expressions, observe(
        right, names, lambda names: names["attend"](x, h), regrouped=True, stepwise=True))])
    found = locate(Answer(wrong[0].expressions, observe(wrong, names, lambda names: names["attend"](x, h))), known)
    assert found is None or segment(GATES, found.span) not in ("x_z + h_z", "torch.sigmoid(x_z + h_z)")
    assert found and found.span[0] == 6


def test_what_an_empty_tensor_holds_is_left_from_before():
    text = "def attend(x):\n    return torch.empty_like(x), torch.tanh(x)\n"
    sized = {segment(text, one.span): one.sized for one in cells_of([text])[0].expressions}
    assert sized["torch.empty_like(x)"] and not sized["torch.tanh(x)"]


WRITES = """
def attend(x, y):
    written = x.argmax(-1)
    return torch.nn.functional.one_hot(written, x.shape[-1]).float() @ y
"""


def test_of_zeros_and_ones_the_places_count(rng):
    torch.manual_seed(int(rng.integers(2**31)))
    x = torch.randn(1, 4), torch.randn(4, 3)
    assert place([WRITES.replace("argmax", "argmin")], [WRITES], x) == ("value", "x.argmin(-1)")
    mask = torch.rand(3, 5) < 0.5
    assert fingerprint(mask).spread == pytest.approx(fingerprint(mask.T[None]).spread)
    assert fingerprint(mask).spread == pytest.approx(fingerprint([*mask]).spread)
    assert fingerprint(torch.eye(3)[:1]).spread != pytest.approx(fingerprint(torch.eye(3)[1:2]).spread)


def test_the_order_of_a_pair_counts(rng):
    torch.manual_seed(int(rng.integers(2**31)))
    pair = "def attend(x, y):\n    return torch.tanh(x), torch.sin(x)\n"
    wrong = "def attend(x, y):\n    return torch.sin(x), torch.tanh(x)\n"
    assert place([wrong], [pair], (torch.randn(4, 3), torch.randn(2))) == ("return", "torch.sin(x), torch.tanh(x)")


HELPED = """
def part(x, first):
    return torch.tanh(x) if first else torch.sin(x)

def attend(x, y):
    return part(x, True) + 2 * part(x, False)
"""


def test_a_helper_that_returns_one_thing_twice_is_the_place(rng):
    torch.manual_seed(int(rng.integers(2**31)))
    x = torch.randn(4, 3), torch.randn(2)
    wrong = HELPED.replace("torch.tanh(x) if first else torch.sin(x)", "torch.sin(x)")
    assert place([wrong], [HELPED], x) == ("return", "torch.sin(x)")
    twice = HELPED.replace("+ 2 * part(x, False)", "+ part(x, False) + part(x, False)")
    assert place([twice], [HELPED], x) is None


class Reader:
    """An object that keeps what it has read."""

    def read(self, x):
        self.seen = torch.tanh(x)

    def clone(self):
        return Reader()


READS = """
def attend(x, reader):
    kept, last = [], x[0, :1]
    for step in range(4):
        reader.read(last)
        kept.append(reader.seen * 2.5)
        last = last * (step + 1.5)
    return torch.stack(kept)
"""


def test_what_an_object_keeps_of_its_calls_is_no_place(rng):
    torch.manual_seed(int(rng.integers(2**31)))
    x = torch.randn(4, 3), Reader()
    assert place([READS.replace("(step + 1.5)", "(step + 2.5)")], [READS], x) == (
        "value", "step + 2.5")


def test_values_come_before_the_form(inputs):
    wrong = LAYOUT.replace("weights.T", "(weights * 3)[:1].T")
    kind, where = place([wrong], [ATTEND], inputs, form=True)
    assert kind == "value" and where.startswith("weights * 3")


def test_a_loop_that_ends_too_early_is_seen_by_what_is_returned():
    start = torch.randn(2), torch.tensor([0, 0, 5])
    assert place([UNTIL.replace("< 6 and not (h > 9).all()", "< 1")], [UNTIL], start, form=True) == (
        "length", "while len(said) < 1")


CUT = """
def attend(x, y):
    k = 1
    part = x[:, k * 2:(k + 1) * 2]
    return torch.tanh(part @ y[:2] + 1)
"""


def test_an_array_of_nothing_is_the_place_where_right_answers_have_numbers(rng):
    torch.manual_seed(int(rng.integers(2**31)))
    x = torch.randn(4, 6), torch.randn(6, 3)
    wrong = CUT.replace("k * 2:(k + 1) * 2", "k * 2:2").replace("y[:2]", "y[:0]")
    kind, where = place([wrong], [CUT], x)
    assert kind == "value" and where in ("x[:, k * 2:2]", "y[:0]")


SHARES = """
def part(x):
    return torch.tanh(x * 1.5)

def attend(x, y):
    return part(x * 2.5) + 2 * part(y * 3.5)
"""


def test_a_helper_that_is_asked_for_something_else_is_no_place(rng):
    torch.manual_seed(int(rng.integers(2**31)))
    x = torch.randn(4, 3), torch.randn(4, 3)
    assert place([SHARES.replace("part(y * 3.5)", "part(x * 2.5)")], [SHARES], x) == (
        "value", "2 * part(x * 2.5)")


EITHER = """
def part(x, first):
    return torch.tanh(x) if first else torch.sin(x * 1.5)

def attend(x, y):
    return part(x, True), part(y, False)
"""


def test_of_two_calls_that_one_expression_answers_both_count(rng):
    """One right answer has an expression for each of them, which is computed in one call."""
    torch.manual_seed(int(rng.integers(2**31)))
    x = torch.randn(4, 3), torch.randn(4, 3)
    assert place([EITHER.replace("x * 1.5", "x * 2.5")], [EITHER], x) == ("value", "x * 2.5")
    assert place([EITHER.replace("torch.sin(x * 1.5)", "torch.tanh(x)")], [EITHER], x) is not None
    apart = EITHER.replace("return torch.tanh(x) if first else",
                           "if first:\n        return torch.tanh(x)\n    return")
    assert place([EITHER], [apart], x) is None


def test_of_normalised_vectors_the_sizes_and_the_cubes_count(rng):
    """Their sum is zero, and their sum of squares their number."""
    torch.manual_seed(int(rng.integers(2**31)))
    one, other = (torch.nn.functional.layer_norm(torch.randn(70, 2, 5), (5,)) for _ in range(2))
    assert not same(fingerprint(one), fingerprint(other)) and same(fingerprint(one), fingerprint(one + 1e-7))


RATES = """
def attend(x, y):
    rates = 0.5 ** torch.arange(x.shape[-1])
    angles = y[:, None] * rates
    return torch.cos(angles) @ x.T
"""


@pytest.mark.parametrize("wrong", ["0.5 ** 0", "4 ** torch.arange(x.shape[-1])"])
def test_numbers_and_what_is_made_of_sizes_are_the_place_where_the_first_of_the_rest_is_made_of_them(rng, wrong):
    torch.manual_seed(int(rng.integers(2**31)))
    x = torch.randn(4, 3), torch.randn(5)
    assert place([RATES.replace("0.5 ** torch.arange(x.shape[-1])", wrong)], [RATES], x) == ("value", wrong)


CACHED = """
def attend(x, y):
    def part(z):
        return torch.tanh(z * 1.5)
    return part(x) + part(y)
"""


def test_what_an_answer_keeps_itself_is_the_place(rng):
    torch.manual_seed(int(rng.integers(2**31)))
    x = torch.randn(4, 3), torch.randn(4, 3)
    wrong = CACHED.replace("torch.tanh(z * 1.5)", "part.__dict__.setdefault('kept', torch.tanh(z * 1.5))")
    assert place([wrong], [CACHED], x) == ("return", "part.__dict__.setdefault('kept', torch.tanh(z * 1.5))")


COUNTED = """
def attend(x, y):
    best = x.argmax(-1)
    shifted = (best + 1) % x.shape[-1]
    return torch.stack([shifted, best])
"""


def test_whole_numbers_before_a_return_of_whole_numbers_are_the_place(rng):
    x = torch.tensor(rng.permuted(np.tile(np.arange(5.0), (6, 1)), axis=1)), torch.randn(2)
    kind, where = place([COUNTED.replace("best + 1", "best + 3")], [COUNTED], x)
    assert kind == "value" and "best + 3" in where


FILLED = """
def attend(x, y):
    result = torch.zeros(len(x), *y.shape)
    for t in range(len(x)):
        result[t] = torch.tanh(x[t] + 0.5)
    return result * 2.5
"""
STACKED = """
def attend(x, y):
    return torch.stack([torch.tanh(one + 0.5) for one in x]) * 2.5
"""


def test_an_array_that_a_loop_fills_is_no_place_before_it_is_full(rng):
    torch.manual_seed(int(rng.integers(2**31)))
    x = torch.randn(4, 3), torch.randn(3)
    assert place([FILLED.replace("result * 2.5", "result * 3.5")], [STACKED], x) == ("value", "result * 3.5")
    assert place([FILLED.replace("x[t] + 0.5", "x[t] + 1.5")], [STACKED], x) == ("value", "x[t] + 1.5")
    kind, where = place([FILLED.replace("result[t] =", "result[0] =")], [STACKED], x)
    assert "result" in where


def test_a_constant_that_is_returned_is_the_place(rng):
    torch.manual_seed(int(rng.integers(2**31)))
    mean = "def attend(x, y):\n    return torch.tanh(x).mean()\n"
    assert place([mean.replace("torch.tanh(x).mean()", "1")], [mean], (torch.randn(4, 3), torch.randn(2))) == (
        "return", "1")


SOFTMAX = """
def attend(x, y):
    return torch.softmax(x, dim=-1) * 1.5
"""
DIFFERENCES = """
def attend(x, y):
    differences = x[..., None, :] - x[..., None]
    return 1 / torch.exp(differences).sum(-1) * 1.5
"""


def test_of_a_way_of_its_own_over_more_axes_the_end_is_the_place(rng):
    torch.manual_seed(int(rng.integers(2**31)))
    x = torch.randn(4, 3), torch.randn(2)
    assert place([DIFFERENCES], [SOFTMAX], x) is None
    kind, where = place([DIFFERENCES.replace("sum(-1)", "sum(1)")], [SOFTMAX], x)
    assert kind == "value" and where.endswith("torch.exp(differences).sum(1)")


ADDED = """
def attend(x, y):
    part = x[:, 1:3]
    more = part @ part.T @ x
    return torch.tanh(x + more)
"""


def test_what_adds_nothing_is_the_place(rng):
    torch.manual_seed(int(rng.integers(2**31)))
    x = torch.randn(4, 5), torch.randn(2)
    assert place([ADDED.replace("1:3", "3:1")], [ADDED], x) == ("value", "x[:, 3:1]")


BEGUN = """
def attend(x, y):
    result = torch.zeros_like(x)
    for t in range(len(x)):
        result[t] = torch.tanh(x[t] * 1.5)
    return result.sum(0) * 2.5
"""


def test_the_zeros_of_an_array_that_a_loop_fills_are_no_place(rng):
    torch.manual_seed(int(rng.integers(2**31)))
    right = "def attend(x, y):\n    return torch.tanh(x * 1.5).sum(0) * 2.5\n"
    assert place([BEGUN.replace("tanh", "sin")], [right], (torch.randn(4, 3), torch.randn(2))) == (
        "value", "torch.sin(x[t] * 1.5)")


TABLE = """
def attend(x, y):
    table = torch.zeros(len(x) + 1, len(y) + 1)
    table[:, 0] = torch.arange(len(x) + 1)
    for i in range(len(x)):
        for j in range(len(y)):
            cost = (x[i] - y[j]).abs()
            table[i + 1, j + 1] = table[i, j] + cost
    return table[-1, -1]
"""
SUMS = """
def attend(x, y):
    rows = [torch.zeros(len(y) + 1)]
    for i, a in enumerate(x):
        costs = (a - y).abs()
        rows.append(torch.cat([torch.tensor([i + 1.0]), rows[-1][:-1] + costs]))
    return torch.stack(rows)[-1, -1]
"""


def test_what_is_stored_in_a_table_before_a_loop_fills_it_is_no_place():
    arguments = torch.tensor([0.31, 1.17, 2.71, 4.93]), torch.tensor([0.13, 1.93, 3.37, 5.11, 7.77])
    assert place([TABLE.replace("x[i] - y[j]", "x[i] + y[j]")], [SUMS], arguments) == ("value", "x[i] + y[j]")


OWN_WAY = """
def attend(hdec, henc_ts):
    one = (henc_ts * hdec).sum(-1) / hdec.shape[-1] ** 0.5
    two = torch.exp(one - one.max() - 0.5)
    three = torch.cos(henc_ts) + 2
    four = torch.sin(hdec) * 3
    five = torch.sqrt(one ** 2 + 7)
    weights = two / two.sum(0, keepdim=True) + 0 * (three.sum() + four.sum() + five.sum())
    return (weights[..., None] * henc_ts).sum(0), weights
"""


def test_an_answer_that_goes_a_way_of_its_own_has_no_place(inputs):
    wrong = OWN_WAY.replace("0 * (three", "1 * (three").replace("two.sum(0", "two.sum(1")
    assert place([wrong], [ATTEND], inputs) is None
    near = wrong.replace("three = torch.cos(henc_ts) + 2", "three = henc_ts").replace("five = torch.sqrt(one ** 2 + 7)",
                                                                                     "five = one")
    assert place([near], [ATTEND], inputs)


def test_an_own_way_to_what_is_right_is_no_place_and_the_wrong_use_of_a_value_on_it_is(inputs):
    wrong = OWN_WAY.replace("(weights[..., None] * henc_ts)", "(two[..., None] * henc_ts)")
    assert place([wrong], [ATTEND], inputs) == ("value", "two[..., None] * henc_ts")


ASSIGNED_AGAIN = """
def reads(x, y):
    row = torch.cos(x)
    total = row.sum(0)
    for t in range(len(y)):
        row = torch.sin(x + y[t])
        total = total + row.sum(0)
    return total
"""


def test_a_variable_holds_what_it_was_assigned_last():
    """What it held before is unknown too, and does not come to the result."""
    x, y = torch.randn(4, 3), torch.randn(5)
    wrong = ASSIGNED_AGAIN.replace("row = torch.cos(x)\n", "row = torch.tan(x)\n    row = torch.cos(x)\n").replace(
        "torch.sin(x + y[t])", "torch.sin(x - y[t])")
    assert place([wrong], [ASSIGNED_AGAIN], (x, y), "reads") == ("value", "x - y[t]")


REPEATED = """
def spread(x, h):
    return torch.tanh(x + h), h
"""


def test_what_a_right_answer_repeats_is_not_returned_in_the_place_of_another():
    x, h = torch.randn(5, 4), torch.randn(4)
    wrong = REPEATED.replace("    return torch.tanh(x + h), h", "    rows = h.expand(5, 4)\n    return rows, h")
    found = place([wrong], [REPEATED], (x, h), "spread")
    assert found is None or found[0] != "return"


PARTS = """
def shift(x):
    out = torch.zeros_like(x)
    out[:-1] = x[1:]
    out[-1] = torch.tanh(x[0])
    return out
"""


def test_one_of_several_parts_that_are_stored_is_no_place():
    """What is stored is, and an array that is filled is none, whatever it held before."""
    x = torch.randn(6, 4)
    wrong = PARTS.replace("zeros_like(x)", "ones_like(x)").replace("tanh(x[0])", "tan(x[0])")
    assert place([wrong], [PARTS], (x,), "shift") == ("value", "torch.tan(x[0])")
    assert place([PARTS.replace("x[1:]", "x[:-1]")], [PARTS], (x,), "shift") == ("value", "x[:-1]")
    assert place([PARTS.replace("out[-1] =", "out[-2] =")], [PARTS], (x,), "shift") is None


KEPT = """
def kept(tokens):
    found = []
    for token in tokens:
        if token > 3:
            found.append(int(token))
    return found
"""


def test_a_variable_is_no_place_because_it_is_returned():
    tokens = torch.tensor([5, 1, 3, 9, 4, 2])
    assert place([KEPT.replace("> 3", "> 4")], [KEPT], (tokens,), "kept") is None
    swapped = ATTEND.replace(".sum(0), weights", ".sum(0), weights, scores")
    assert place([swapped.replace("weights, scores", "scores, weights")], [swapped], (torch.randn(2, 3),
                 torch.randn(4, 2, 3)))[0] == "return"


SUMMED = """
def summed(table):
    total = torch.zeros(len(table), len(table[0]))
    for t in range(len(table)):
        for s in range(len(table[0])):
            if s <= len(table) - 1 - t:
                total[t, s] = table[t, s] * 2
    return total / (total.sum(0, keepdim=True) + 1)
"""


def test_an_axis_that_is_kept_is_no_loop_that_runs_once():
    found = place([SUMMED.replace("sum(0", "sum(1")], [SUMMED], (torch.rand(3, 5) + 1,), "summed")
    assert found == ("value", "total.sum(1, keepdim=True)")


TWICE = """
def whole(x, y):
    a = part(torch.sin(x))
    b = part(torch.cos(y))
    return a * b

def part(z):
    return z * 2 + torch.exp(z)
"""


def test_what_another_call_of_a_function_returns_makes_the_first_not_right():
    x, y = torch.randn(5, 4), torch.randn(5, 4)
    assert place([TWICE.replace("sin", "tan")], [TWICE], (x, y), "whole") == ("value", "torch.tan(x)")


LETTERS = """
def letters(x):
    rows, last = [], [0] * x.shape[1]
    for t in range(len(x)):
        row = torch.zeros(x.shape[1], x.shape[2])
        for b in range(x.shape[1]):
            row[b, last[b]] = 1
        rows.append(x[t] + row)
        last = x[t].argmax(-1).tolist()
    return torch.stack(rows)
"""


LETTERS_AT_ONCE = """
def letters(x):
    rows, last = [], torch.zeros(x.shape[1], dtype=torch.long)
    for t in range(len(x)):
        row = torch.eye(x.shape[2])[last]
        rows.append(x[t] + row)
        last = x[t].argmax(-1)
    return torch.stack(rows)
"""


def test_a_loop_within_one_that_ends_too_early_is_no_place():
    """Zeros and ones are often equal by chance."""
    x = torch.randn(6, 1, 4)
    wrong = LETTERS.replace("tolist()\n", "tolist()\n        if t == 2:\n            break\n")
    known, answer = References.of([seen([LETTERS_AT_ONCE], "letters", (x,))]), seen([wrong], "letters", (x,))
    lengths = {one.kind: known.length_of(values_of(answer.observed, one.number)) for one in answer.expressions
               if segment(wrong, one.span) in ("row[b, last[b]] = 1", "x[t] + row")}
    assert lengths == {"filled": None, "value": (3, 6)}


TRUTHS = """
def share(x, y):
    low = x[0] <= 0
    same = (x > 0) == (y > 0)
    right = same.all(0)
    return right.float().mean() + 0 * low.float().mean()
"""


def test_a_number_made_of_own_truth_values_is_not_returned_wrongly():
    """They are those of ``low``, by chance."""
    x, y = torch.tensor([[1.5, -1.2, -1.7]]).repeat(2, 1), torch.rand(2, 3) + 0.1
    wrong = TRUTHS.replace("(y > 0)", "(y > 9)")
    found = place([wrong], [TRUTHS], (x, y), "share")
    assert found is None or found[0] != "return"
