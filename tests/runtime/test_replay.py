"""What a replay leaves as it was, what it keeps of what is printed, and how it describes an error."""

import random
import sys
import warnings

import numpy as np
import pytest
import torch

from autograder.runtime.operations import Call, Define, Forbid, Name, Output, SetWeights
from autograder.runtime.replay import Printed, Replayer, refusal, replay
from autograder.runtime.values import describe, to_python

CALL = [Name("f", 1), Call(1, [np.zeros(2)], {}, 2), Output("y", 2)]


def cell(text, **names):
    """A namespace in which this text has run."""
    namespace = {"torch": torch, "sys": sys, "random": random, "warnings": warnings, **names}
    exec(compile(text, "<cell>", "exec"), namespace)
    return namespace


def test_what_is_printed_is_kept_as_far_as_there_is_room():
    stream = Printed(5)
    assert [stream.write(part) for part in ("abc", "defg", "h")] == [3, 4, 1]
    stream.close()
    stream.seek(1000)
    assert stream.write("i") == 1 and stream.getvalue() == "abcde"
    stream.seek(3)
    assert stream.write("xyz") == 3 and stream.getvalue() == "abcxy"


def test_a_replay_shows_nothing_and_keeps_what_is_printed_where_it_is_asked(capfd):
    namespace = cell("def f(x):\n    print('out')\n    print('err', file=sys.stderr)\n"
                     "    warnings.warn('a warning', UserWarning)\n    return x")
    printed = Printed(100)
    for kept in (None, printed):
        assert replay(CALL, namespace, printed=kept).error is None
    assert printed.getvalue() == "out\n" and capfd.readouterr() == ("", "")


@pytest.mark.parametrize("options, noted", [({}, (2,)), ({"track_effects": False}, ())])
def test_effects_are_tracked_unless_that_is_switched_off(options, noted):
    namespace = cell("def f(x):\n    x += 1\n    torch.ones(2) + 1\n    random.random()\n    return x")
    before = random.getstate()
    reply = replay([Forbid(["add"]), *CALL], namespace, **options)
    assert Replayer({}).track_effects and reply.forbidden_calls == ("add",) * len(noted)
    assert reply.mutating_ops == noted and bool(reply.changed_state) == bool(noted)
    assert to_python(reply.outputs["y"]).tolist() == [1, 1] and not CALL[1].args[0].any()
    assert (random.getstate() == before) == bool(noted)


def test_what_is_noted_is_in_order_and_once():
    namespace = cell("def f(x):\n    for _ in range(2):\n"
                     "        torch.ones(2).softmax(0).relu().cumsum(0).exp().sin().cos()\n"
                     "    torch.set_grad_enabled(False)\n    torch.set_default_dtype(torch.float64)\n"
                     "    torch.rand(1)\n    random.random()\n    return x")
    reply = replay([Forbid(["softmax", "relu", "cumsum", "exp", "sin", "cos", "tan"]), *CALL, *CALL[1:]], namespace)
    assert reply.forbidden_calls == ("cos", "cumsum", "exp", "relu", "sin", "softmax")
    assert list(reply.changed_state) == sorted(set(reply.changed_state)) and len(reply.changed_state) == 4


def test_each_replay_draws_the_same_in_a_state_of_its_own():
    namespace = cell("def f(x):\n    return [random.random(), torch.rand(2), torch.is_grad_enabled()]")
    with torch.no_grad():
        first, second = (to_python(replay(CALL, namespace).outputs["y"]) for _ in range(2))
    assert first[0] == second[0] and np.array_equal(first[1], second[1]) and first[2] is True


STUB = "def g(x):\n    return x + {}\n"


@pytest.mark.parametrize("text, ops, kind, origin, line", [
    ("def f(x):\n    y = 1\n    return x + 'a'", CALL, "raised", "cell", 3),
    ("def f(x):\n    return g(x)\ndef g(x):\n    return x", [Define(STUB.format("'a'"), "g", 5, "g"), *CALL], "raised",
     "check", 2),
    ("def f(x):\n    return g(h)\ndef h(x):\n    return x + 'a'\ndef g(h):\n    pass",
     [Define("def g(h):\n    return h(1)\n", "g", 5, "g"), *CALL], "raised", "cell", 4),
    ("net = torch.nn.Linear(3, 1)\ndef f(x):\n    return net(torch.ones(2))", CALL, "raised", "cell", 3),
    ("f = 1", CALL, "raised", "check", None),
    ("g = 1", CALL, "missing-name", "check", None),
    ("f = torch.nn.Identity", [Name("f", 1), Call(1, [], {}, 2), SetWeights(2, {"w": np.ones(2)})], "unusable", "check",
     None),
])
def test_an_error_says_where_it_comes_from(text, ops, kind, origin, line):
    error = replay(ops, cell(text)).error
    assert (error.kind, error.origin, error.where and error.where.line) == (kind, origin, line)


def test_an_error_that_has_no_text_is_described():
    text = "class Mute(Exception):\n    def __str__(self):\n        raise ValueError\ndef f(x):\n    raise Mute"
    error = replay(CALL, cell(text)).error
    assert (error.type, error.message, error.where.text) == ("Mute", "", "")


@pytest.mark.parametrize("body, value, said", [
    ("return None if np.all(y == 1) else 'it is not one'", 1, None),
    ("return None if np.all(y == 1) else 'it is not one'", np.full(2, 2), "it is not one"),
    ("return None if all(map(len, y)) else 'one is empty'", ["a", ""], "one is empty")])
def test_a_predicate_refuses_with_a_sentence(body, value, said):
    assert refusal(f"LIMIT = 1\ndef holds(y):\n    {body}\n", describe(value)) == said


@pytest.mark.parametrize("returned", [True, 0, "np.array('a')"])
def test_a_predicate_that_returns_something_else_is_an_error(returned):
    with pytest.raises(TypeError, match="a predicate returns None, or a sentence"):
        refusal(f"def holds(y):\n    return {returned}\n", describe(1))
