"""What is observed of a call: arguments that it changes, at whatever depth."""

import sys

import numpy as np
import pytest
import torch

from autograder.runtime.operations import Call, Name, Output
from autograder.runtime.replay import describe_error, replay
from autograder.runtime.state import LOOP, State


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
    state, argument = State({}), [{"w": ones(2)}, {"w": ones(2)}]
    with state.observed_call(function, [argument]):
        function(argument)
    assert bool(state.mutating_ops) is (function is not left_alone)


@pytest.mark.parametrize("calls, is_loop", [
    ([(2, 3), (2, 4)], False), ([(2, 3), (5, 4)], True), ([(2, 3), (5, 3)], False), ([(5, 3), (2, 3), (4, 4)], True)])
def test_a_loop_is_told_by_calls_of_torch_that_change_with_the_sizes(calls, is_loop):
    """So many calls on so many numbers. The third makes others for the same size: it may keep something."""
    state = State({})
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
    state = State({})
    state.forbidden = {"softmax"}
    with state.torch_watched():
        call(torch.ones(2, 3), 1)
    assert state.forbidden_calls == ["softmax"]
