"""What is observed of a call: arguments that it changes, at whatever depth."""

import json
import sys

import numpy as np
import pytest
import torch

from autograder.runtime.operations import Call, Forbid, Name, Output
from autograder.runtime.replay import Replayer, describe_error, replay
from autograder.runtime.state import LOOP, ReplayError, restored


def replaced(argument):
    argument[0]["w"] = argument[0]["w"] + 1


def replaced_by_an_equal_one(argument):
    """Put an object in the place of an equal one that is gone by then, so that its address may be the same."""
    kind = type(argument[0]["w"])
    del argument[0]["w"]
    argument[0]["w"] = torch.ones(2) if kind is torch.Tensor else np.ones(2)


def exchanged(argument):
    argument.reverse()


def written(argument):
    argument[0]["w"] += 1


def left_alone(argument):
    return [{name: value + 1 for name, value in one.items()} for one in argument]


@pytest.mark.parametrize("ones", [torch.ones, np.ones])
@pytest.mark.parametrize("function", [replaced, replaced_by_an_equal_one, exchanged, written, left_alone])
def test_what_lies_in_an_argument_may_not_be_replaced(function, ones):
    state, argument = Replayer({}), [{"w": ones(2)}, {"w": ones(2)}]
    with state.observed_call(function, [argument]):
        function(argument)
    assert bool(state.mutating_ops) is (function is not left_alone)


@pytest.mark.parametrize("calls, is_loop", [
    ([(2, 3), (2, 4)], False), ([(2, 3), (5, 4)], True), ([(2, 3), (5, 3)], False), ([(5, 3), (2, 3), (4, 4)], True)])
def test_a_loop_is_told_by_calls_of_torch_that_change_with_the_sizes(calls, is_loop):
    """So many calls on so many numbers. The third makes others for the same size: it may keep something."""
    state = Replayer({})
    state.forbidden = {LOOP}

    def made(count, value):
        for _ in range(count):
            value + 1

    with state.torch_watched():
        for count, size in calls:
            value = torch.ones(size)
            with state.observed_call(made, [value]):
                made(count, value)
    assert (LOOP in state.forbidden_calls) is is_loop


def described(text, name, *args):
    namespace = {"torch": torch, "nn": torch.nn}
    exec(compile(text, "<cell>", "exec"), namespace)
    try:
        namespace[name](*args)
    except Exception as error:
        return describe_error(error, namespace)


@pytest.mark.parametrize("text", [
    "def f(x):\n    raise NotImplementedError  # replace this line by your code",
    "def f(x):\n    raise NotImplementedError()",
    "def f(x):\n    return g(x)\ndef g(x):\n    raise NotImplementedError",
    "class f(nn.Module):\n    def __init__(self, x):\n        raise NotImplementedError",
])
def test_a_stub_is_not_written_yet(text):
    assert described(text, "f", torch.ones(2)).kind == "not-written"


@pytest.mark.parametrize("text", [
    "def f(x):\n    return x.long().softmax(0)",
    "def f(x):\n    return torch.bmm(x[None, None].bool(), x[None, :, None].bool())",
    "class N(nn.Module):\n    def foward(self, x):\n        return x\ndef f(x):\n    return N()(x)",
    "def f(x):\n    return nn.ModuleList([])(x)",
    "def f(x):\n    raise NotImplementedError('for two axes only')",
])
def test_what_torch_cannot_do_is_an_error_with_its_message(text):
    error = described(text, "f", torch.ones(2))
    assert (error.kind, error.type) == ("raised", "NotImplementedError") and error.message and error.where


def test_a_stub_of_other_code_is_an_error():
    def other():
        raise NotImplementedError

    error = described("def f(g):\n    return g()", "f", other)
    assert (error.kind, error.type, error.where.line) == ("raised", "NotImplementedError", 2)


def test_a_namespace_comes_back_but_for_what_torch_compiled():
    namespace = {"f": 1, "gone": 2, 3: "x"}
    with restored(namespace):
        del namespace["gone"]
        namespace.update({"f": 4, "new": 5, 6: "y", "__compiled_fn_1": 7})
    assert namespace == {"f": 1, "gone": 2, 3: "x", "__compiled_fn_1": 7}


ARGUMENTS = [
    (np.arange(3), np.arange(3)), ([1, {"$tuple": [2, None]}], [1, (2, None)]),
    ({"$slice": [0, None, 2]}, slice(0, None, 2)),
    ({"$dict": [["a", {"$tuple": []}], [1, "b"]]}, {"a": (), 1: "b"}), ({"$dtype": "float64"}, torch.float64),
    ({"$device": True}, torch.device("cpu")), ({"$tensor": np.ones(2)}, torch.ones(2, dtype=torch.float64)), ("a", "a"),
]


@pytest.mark.parametrize("tree, value", ARGUMENTS, ids=lambda part: str(part))
def test_an_argument_stands_for_a_value(tree, value):
    got = Replayer({}).value(tree)
    assert type(got) is type(value)
    assert np.array_equal(got, value) if isinstance(value, (np.ndarray, torch.Tensor)) else got == value


def test_an_array_is_handed_over_as_a_copy_and_what_is_unknown_is_refused():
    array = np.zeros(2)
    Replayer({}).value(array)[:] = 1
    assert not array.any()
    with pytest.raises(ReplayError, match=r"unknown kind \$else"):
        Replayer({}).value({"$else": 1})


def test_who_watches_calls_of_packages_watches_again_afterwards():
    def watches(*event):
        """A profiler of the student's."""

    def called(*events):
        seen.append(sys.getprofile())
        json.dumps(1)

    seen = []
    sys.setprofile(watches)
    try:
        ops = [Forbid(["json"]), Name("f", 1), Call(1, [], {}, 2)]
        assert replay(ops, {"f": called}).forbidden_calls == ("json",)
        assert sys.getprofile() is watches and seen[0] is not watches
    finally:
        sys.setprofile(None)


def test_an_error_says_at_which_operation():
    assert [replay([Name("f", 1)] * number + [Name("g", 1)], {"f": 1}).error.at for number in range(3)] == [0, 1, 2]


def test_who_leaves_the_process_is_told_where_and_the_next_check_is_made():
    namespace = {}
    exec(compile("def f():\n    exit(3)", "<cell>", "exec"), {"exit": sys.exit, **namespace}, namespace)
    for _ in range(2):
        error = replay([Name("f", 1), Call(1, [], {}, 2), Output("y", 2)], namespace).error
        assert (error.kind, error.type, error.message) == ("raised", "SystemExit", "3")


@pytest.mark.parametrize("call", [
    torch.softmax, torch.special.softmax, lambda x, dim: torch._softmax(x, dim, False), torch.nn.functional.softmax,
    lambda x, dim: torch.nn.Softmax(dim)(x)])
def test_a_function_that_does_not_count_is_seen_under_each_of_its_names(call):
    state = Replayer({})
    state.forbidden = {"softmax"}
    with state.torch_watched():
        call(torch.ones(2, 3), 1)
    assert state.forbidden_calls == {"softmax"}
