"""What is observed of a call: arguments that it changes, at whatever depth."""

import numpy as np
import pytest
import torch

from autograder.runtime.state import State


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
    assert bool(state.mutated) is (function is not left_alone)
