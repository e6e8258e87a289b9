"""Operations of recorded calls: they travel as plain data."""

from collections import Counter, defaultdict
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
import torch

from autograder.runtime import operations, wire
from autograder.runtime.operations import OPERATIONS, from_tree
from autograder.runtime.replay import Replayer

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
        operations.Library("os", 1).run(Replayer({}))


@pytest.mark.parametrize(("whole", "key", "said"), [
    ([1, 2], 2, "a list"), ((1,), -2, "a tuple"), ({"a": 1}, "b", "a dict"), ("", 0, "a str"),
])
def test_what_a_result_lacks_is_said(whole, key, said):
    state = Replayer({})
    state.registers[1] = whole
    with pytest.raises(operations.ReplayError) as error:
        operations.Item(1, key, 2).run(state)
    assert str(error.value) == f"a result is {said} without an item that the check reads"


@pytest.mark.parametrize(("whole", "key", "item"), [
    ([1, 2], 1, 2), ((1,), -1, 1), ({"a": 1}, "a", 1), ([1, 2], {"$slice": [0, 9, None]}, [1, 2]),
    (Counter("a"), "b", 0), (defaultdict(list), "b", []),
])
def test_an_item_that_is_there_is_taken(whole, key, item):
    state = Replayer({})
    state.registers[1] = whole
    operations.Item(1, key, 2).run(state)
    assert state.registers[2] == item


def test_an_error_of_an_object_of_ones_own_stays():
    class Own(list):
        def __getitem__(self, key):
            raise IndexError("mine")

    state = Replayer({})
    state.registers[1] = Own()
    with pytest.raises(IndexError, match="mine"):
        operations.Item(1, 0, 2).run(state)


def run(op, *values, **names):
    """The value that an operation makes of these registers, from 1 on."""
    state = Replayer(names)
    state.registers.update(enumerate(values, 1))
    op.run(state)
    return state.registers.get(9)


def test_an_operation_stays_as_it_is_and_equals_itself_alone():
    op, other = (operations.SetWeights(1, {"w": np.ones((2, 3))}) for _ in range(2))
    assert op == op and op != other
    with pytest.raises(FrozenInstanceError):
        op.of = 2


def test_names_and_libraries_are_looked_up():
    assert run(operations.Name("f", 9), f=3) == 3 and run(operations.Library("numpy", 9)) is np
    with pytest.raises(operations.MissingName, match="`g` is not defined"):
        run(operations.Name("g", 9), f=3)


@pytest.mark.parametrize("op, value, said", [
    (operations.Unpack(1, [2, 3]), None, r"your code returns None \(is a `return` missing\?\), expected a tuple of 2"),
    (operations.Unpack(1, [2, 3]), 5, "your code returns an int, expected a tuple of 2"),
    (operations.Unpack(1, [2, 3]), (1, 2, 3), "your code returns a tuple of 3, expected 2 values"),
    (operations.SetWeights(1, {"a": np.ones(2)}), torch.nn.Linear(2, 3), r"`a` is missing \(there are: bias, weight\)"),
    (operations.SetWeights(1, {"a": np.ones(2)}), torch.nn.Identity(), r"`a` is missing \(there are: none\)"),
    (operations.SetWeights(1, {"bias": np.ones(2)}), torch.nn.Linear(2, 3), r"`bias` has shape \(3,\), expected"),
    (operations.Backward(1, {"$tensor": np.ones(2)}), None, "expected a tensor"),
    (operations.Backward(1, {"$tensor": np.ones(2)}), torch.ones(3), r"the result has shape \(3,\), expected \(2,\)"),
    (operations.Backward(1, {"$tensor": np.ones(2)}), torch.ones(2), "the result has no gradient"),
])
def test_what_an_answer_does_not_allow_is_said(op, value, said):
    with pytest.raises(operations.ReplayError, match=said):
        run(op, value)


def test_gradients_are_of_the_projection_of_all_results():
    x, net = torch.ones(2, dtype=torch.float64, requires_grad=True), torch.nn.Linear(2, 1).double()
    projections = [{"$tensor": np.array(values)} for values in ([3.0, 4.0], [5.0], [7.0, 7.0], [1.0])]
    results = [2 * x, net(x), torch.ones(2), None]
    found = run(operations.Gradients([1, 2, 3, 4], projections, {"x": 5}, {"Net": 6}, 9), *results, x, net)
    weight = net.weight.detach()[0]
    assert torch.allclose(found["x"], torch.tensor([6.0, 8.0], dtype=torch.float64) + 5 * weight)
    assert torch.allclose(found["Net.weight"], torch.full((1, 2), 5.0).double()) and found["Net.bias"].item() == 5
    y = torch.ones(2, requires_grad=True)
    run(operations.Backward(1, projections[0]), 2 * y.double())
    assert y.grad.tolist() == [6, 8]


def test_a_stub_is_put_in_the_place_of_a_name_only_where_it_replaces_one():
    for replaces in (None, "g"):
        names = {"g": 1}
        state = Replayer(names)
        operations.Define("def f():\n    return 5\n", "f", 9, replaces).run(state)
        assert state.registers[9]() == 5 and names.keys() == {"g"} and (names["g"] == 1) == (replaces is None)


def test_a_network_is_moved_to_the_device_of_the_replay():
    for device in ("cpu", "meta"):
        state = Replayer({}, device)
        state.registers.update({1: lambda: torch.nn.Linear(2, 3), 2: lambda: 5})
        for function, result in ((1, 8), (2, 9)):
            operations.Call(function, [], {}, result).run(state)
        assert state.registers[8].weight.device.type == device and state.registers[9] == 5


def test_parameters_are_those_that_a_caller_gives():
    class Net(torch.nn.Module):
        def forward(self, x, *more, mask=None):
            """Nothing."""

    for function in (Net(), Net().forward, Net.forward):
        assert operations.parameter_names(function) == ["x", "more", "mask"]
    assert operations.parameter_names(3) == []
