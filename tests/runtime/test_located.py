"""What is shown of a place: the value that another follows from, what it reads, and whether it is used further."""

import pytest
import torch
from test_place import seen

from autograder.runtime import messages
from autograder.runtime.known import Answer, References
from autograder.runtime.observation import observe
from autograder.runtime.place import Place, located
from autograder.runtime.rewriting import cells_of


@pytest.fixture(autouse=True)
def drawn(rng):
    torch.manual_seed(int(rng.integers(2**31)))


def shown(wrong, right, arguments, name):
    """The place that is shown of an answer."""
    known = References.of([seen([text], name, arguments, regrouped=True) for text in right])
    found = located([wrong], seen([wrong], name, arguments).observed, known, whole=True)
    return found.place if found else None


CHOOSE = """
def choose(x, table):
    ids = x.argmax(-1)
    rows = table[ids]
    return torch.tanh(rows)
"""


def test_whole_numbers_that_a_wrong_value_follows_from_are_the_place():
    x, table = torch.randn(6, 5), torch.randn(5, 3)
    assert shown(CHOOSE.replace("argmax", "argmin"), [CHOOSE], (x, table), "choose").text == "x.argmin(-1)"


FILL = """
def fill(x):
    kept = []
    for s in range(len(x)):
        vectors = x.clone()
        vectors[s] = x.mean(0)
        kept.append(torch.tanh(vectors))
    return torch.stack(kept)
"""


def test_a_buffer_that_a_loop_fills_is_the_place_where_fractions_are_stored():
    wrong = FILL.replace("        vectors = x.clone()\n", "").replace("kept = []", "kept, vectors = [], x.clone()")
    found = shown(wrong, [FILL], (torch.randn(5, 3),), "fill")
    assert found.text == "vectors[s] = x.mean(0)"


COUNTED = """
def counted(x, y):
    hits = torch.zeros(len(x))
    for t in range(len(x)):
        for b in range(x.shape[1]):
            if y[t, b] == 0:
                break
            hits[t] += float(x[t, b] == y[t, b])
    return hits / x.shape[1]
"""
AT_ONCE = """
def counted(x, y):
    inside = (y != 0).cumprod(1)
    return ((x == y) * inside).sum(1) / x.shape[1]
"""


def test_own_counts_are_no_place_nor_what_is_made_of_them():
    y = torch.tensor([[3, 1, 2, 0], [2, 0, 2, 1], [1, 2, 3, 3]])
    x = torch.tensor([[3, 1, 2, 1], [2, 1, 2, 1], [1, 0, 3, 3]])
    assert shown(COUNTED.replace("y[t, b] == 0", "x[t, b] == 0"), [AT_ONCE], (x, y), "counted") is None


LISTED = """
def listed(x):
    ids, token = [], 0
    for row in x:
        token = int(row.argmax())
        ids.append(token)
    return torch.tensor(ids)
"""


def test_a_list_as_an_array_is_no_place():
    """What is wrong is how the numbers came about."""
    x = torch.tensor([[0.0, 1, 2], [3, 1, 2], [0, 5, 4], [0, 1, 7]])
    at_once = "def listed(x):\n    return x.argmax(1)\n"
    assert shown(LISTED.replace("row.argmax()", "(row + token).argmin()"), [at_once], (x,), "listed") is None


CARRY = """
def carry(x, h):
    first = h
    outs = []
    for x_t in x:
        h = torch.tanh(0.5 * h + x_t)
        outs.append(h * 2)
    return torch.stack(outs)
"""


def test_what_a_value_reads_that_is_right_elsewhere_is_told():
    wrong = CARRY.replace("0.5 * h ", "0.5 * first ")
    found = shown(wrong, [CARRY], (torch.randn(4, 2, 3), torch.randn(2, 3)), "carry")
    assert (found.text, found.read, found.known) == ("0.5 * first", "first", ())
    assert messages.place(found).endswith("`0.5 * first`, line 6. The value of `first` is one that a right answer has "
                                          "elsewhere.")


NORMED = """
def normed(scores):
    powers = torch.exp(scores)
    total = powers.sum(-1, keepdim=True)
    return powers / total
"""


@pytest.mark.parametrize(("old", "new", "where"), [
    ("torch.exp(scores)", "torch.exp(-scores)", "-scores"),
    ("powers.sum(-1", "powers.sum(0", "powers.sum(0, keepdim=True)"),
    ("powers / total", "powers * total", "powers * total")])
def test_the_first_value_that_no_right_answer_has_is_shown_and_no_line_after_it(old, new, where):
    found = shown(NORMED.replace(old, new), [NORMED], (torch.randn(3, 4),), "normed")
    assert found.text == where and messages.place(found).endswith(f"`{where}`, line {found.span[0]}.")


def test_a_place_is_the_same_whichever_value_was_seen_first():
    span = (3, 0, 3, 5)
    assert Place("value", span, event=(1, 2)) == Place("value", span, event=(3, 4))


STEPS = """
def softmax(scores):
    powers = torch.exp(scores - scores.max())
    return powers / powers.sum(-1, keepdim=True)
"""


def test_a_shift_by_the_largest_score_of_all_is_a_step_of_a_softmax():
    right, scores = "def softmax(scores):\n    return torch.softmax(scores, -1)\n", torch.randn(3, 4)
    cells = cells_of([right], whole=True)
    known = References.of([Answer(cells[0].expressions, observe(
        cells, {"torch": torch}, lambda names: names["softmax"](scores), regrouped=True, stepwise=True))])
    wrong = STEPS.replace("sum(-1", "sum(0")
    found = located([wrong], seen([wrong], "softmax", (scores,)).observed, known, whole=True)
    assert found and found.place.text == "powers.sum(0, keepdim=True)"


JOINED = """
def joined(x, y):
    both = torch.cat([x, y], -1)
    return torch.tanh(both).cumsum(-1)
"""


def test_nothing_is_said_to_be_right_up_to_here_whose_numbers_come_in_another_order():
    """The numbers are those of what is joined, and so they count as right."""
    x, y = torch.randn(3, 4), torch.randn(3, 4)
    found = shown(JOINED.replace("cat([x, y], -1)", "stack([x, y], -1).flatten(1)"), [JOINED], (x, y), "joined")
    assert found is None or found.known == ()
    found = shown(JOINED.replace("tanh", "cos"), [JOINED], (x, y), "joined")
    assert found.text == "torch.cos(both)" and found.known


def test_an_argument_is_not_said_to_be_right_elsewhere():
    wrong = CARRY.replace("0.5 * h ", "0.5 * x[0] ")
    found = shown(wrong, [CARRY], (torch.randn(4, 2, 3), torch.randn(2, 3)), "carry")
    assert found and found.read != "x"


NESTED = """
def norms(grads):
    total = 0
    for part in grads:
        for row in part:
            total = total + row.abs().sum()
    return total
"""
FLAT = """
def norms(grads):
    total = 0
    for row in grads.flatten(0, 1):
        total = total + (row * row).sum()
    return total ** 0.5
"""


def test_loops_within_loops_are_as_long_as_one_over_all():
    wrong = NESTED.replace("row.abs().sum()", "row.norm()")
    found = shown(wrong, [FLAT], (torch.randn(2, 3, 4),), "norms")
    assert found is None or found.kind != "length"


def test_beside_a_fault_no_loop_is_shown():
    arguments, fewer = (torch.randn(4, 2, 3), torch.randn(2, 3)), CARRY.replace("in x:", "in x[:-1]:")
    known = References.of([seen([CARRY], "carry", arguments, regrouped=True)])
    found = located([fewer], seen([fewer], "carry", arguments).observed, known, whole=True)
    assert found.place.kind == "length" and not found.is_sure
