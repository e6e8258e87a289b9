"""Operations of recorded calls: they travel as plain data."""

from collections import Counter, defaultdict

import numpy as np
import pytest

from autograder.runtime import operations, wire
from autograder.runtime.operations import OPERATIONS, from_tree

SENT = [
    operations.Name("f", 1), operations.Library("numpy", 1), operations.Attribute(1, "sum", 2),
    operations.SetAttribute(1, "size", {"$tuple": [1, None]}), operations.Item(1, {"$slice": [0, 2, None]}, 2),
    operations.Unpack(1, [2, 3]), operations.Call(1, [{"$ref": 2}, np.arange(3)], {"axis": -1}, 3),
    operations.SetWeights(1, {"w": np.ones((2, 3))}),
    operations.Define("def f(): pass", "f", 1, replaces="g"), operations.Leaf({"$tensor": np.ones(2)}, 1),
    operations.Backward(1, {"$tensor": np.ones(2)}),
    operations.Gradients([1], [{"$tensor": np.ones(2)}], {"x": 1}, {"Net": 2}, 3), operations.EvalMode(1),
    operations.Forbid(["loop"]), operations.Output("y", 3),
]


def alike(one, other):
    """Whether two trees are equal, arrays included."""
    if isinstance(one, np.ndarray):
        return isinstance(other, np.ndarray) and one.dtype == other.dtype and np.array_equal(one, other)
    if isinstance(one, dict):
        return isinstance(other, dict) and one.keys() == other.keys() and all(alike(one[k], other[k]) for k in one)
    if isinstance(one, list):
        return isinstance(other, list) and len(one) == len(other) and all(map(alike, one, other))
    return type(one) is type(other) and one == other


def test_all_kinds_are_here():
    assert {op.kind for op in SENT} == set(OPERATIONS)


@pytest.mark.parametrize("op", SENT, ids=lambda op: op.kind)
def test_an_operation_arrives_as_it_was(op):
    arrived = from_tree(wire.unpack(wire.pack(op.to_tree())))
    assert type(arrived) is type(op) and alike(arrived.to_tree(), op.to_tree())


def test_only_named_libraries_are_imported():
    with pytest.raises(operations.ReplayError, match="no library os"):
        operations.Library("os", 1).run(operations.State({}))


@pytest.mark.parametrize(("whole", "key", "said"), [
    ([1, 2], 2, "a list"), ((1,), -2, "a tuple"), ({"a": 1}, "b", "a dict"), ("", 0, "a str"),
])
def test_what_a_result_lacks_is_said(whole, key, said):
    state = operations.State({})
    state.registers[1] = whole
    with pytest.raises(operations.ReplayError) as error:
        operations.Item(1, key, 2).run(state)
    assert str(error.value) == f"a result is {said} without an item that the check reads"


@pytest.mark.parametrize(("whole", "key", "item"), [
    ([1, 2], 1, 2), ((1,), -1, 1), ({"a": 1}, "a", 1), ([1, 2], {"$slice": [0, 9, None]}, [1, 2]),
    (Counter("a"), "b", 0), (defaultdict(list), "b", []),
])
def test_an_item_that_is_there_is_taken(whole, key, item):
    state = operations.State({})
    state.registers[1] = whole
    operations.Item(1, key, 2).run(state)
    assert state.registers[2] == item


def test_an_error_of_an_object_of_ones_own_stays():
    class Own(list):
        def __getitem__(self, key):
            raise IndexError("mine")

    state = operations.State({})
    state.registers[1] = Own()
    with pytest.raises(IndexError, match="mine"):
        operations.Item(1, 0, 2).run(state)
