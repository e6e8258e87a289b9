"""Which names code uses: of functions, methods and what is inside them, as far as calls may reach; never by running."""

import functools
from collections import Counter
from dataclasses import replace
from functools import partial

import pytest
import torch

from autograder.judging.judge import grade_exercise, records_of
from autograder.model.faults import Variant
from autograder.model.oracle import load_oracle
from autograder.runtime import messages, uses
from autograder.runtime.compare import first_difference
from autograder.runtime.findings import findings
from autograder.runtime.operations import Define
from autograder.runtime.recorded import reply_from_tree, reply_to_tree
from autograder.runtime.replay import replay
from conftest import TINY, TINY_COURSE

CODE = '''
import functools, torch
from torch import nn

def plain(x):
    return near(x)

def near(x):
    return [far(one) for one in x]

def unrelated(x):
    return hidden(x)

@torch.no_grad()
def wrapped(x):
    def inner():
        return deep(x)
    return inner()

def timed(function):
    def call(*args):
        return function(*args)
    return call

@timed
def decorated(x):
    return far(x)

def default(x, f=plain, *, g=decorated):
    return f(x)

@functools.wraps(plain)
def wrapper(x):
    return extra(x)

def made_here():
    def again(x):
        return again(other(x))
    return again

class Base(nn.Module):
    def forward(self, x):
        return self.of_base(x)

class Net(Base):
    class Inner:
        def run(self):
            return nested()

    @property
    def size(self):
        return measured(self)

    @functools.cached_property
    def once(self):
        return remembered()

    @functools.lru_cache
    def kept(self):
        return cached_call()

    @staticmethod
    def fixed():
        return static()

    @classmethod
    def new(cls):
        return of_class()

looping = made_here()
part = functools.partial(plain, 1)
given = functools.partial(map, plain)
cached = functools.lru_cache(plain)
made = nn.Linear(2, 3)
number = 3
alias = plain
'''

OF_NET = {"of_base", "measured", "static", "nested", "remembered", "cached_call", "of_class", "Base"}


@pytest.fixture
def namespace():
    names = {"__name__": "notebook"}
    exec(CODE, names)
    return names


@pytest.mark.parametrize(("name", "inside", "outside"), [
    ("plain", {"near", "far"}, {"hidden", "deep"}), ("wrapped", {"deep"}, {"far"}), ("part", {"far"}, {"hidden"}),
    ("given", {"near", "far"}, {"hidden"}), ("cached", {"far"}, {"hidden"}), ("decorated", {"far"}, {"hidden"}),
    ("default", {"far", "near"}, {"hidden"}), ("Net", OF_NET, {"near"}), ("number", set(), {"far"}),
    ("absent", set(), {"far"}), ("torch", set(), {"far"}), ("nn", set(), {"far"}), ("alias", {"far"}, {"hidden"}),
    ("wrapper", {"extra", "far"}, {"hidden"}), ("looping", {"other"}, {"far"}),
])
def test_what_code_uses_is_read_through_all_that_it_calls(namespace, name, inside, outside):
    used = uses.names_used([name], namespace)
    assert inside <= used and not outside & used


def test_of_code_elsewhere_nothing_is_read(namespace):
    namespace["other"] = functools.reduce
    namespace["tensor_sum"] = torch.nn.functional.cross_entropy
    namespace["counter"] = Counter
    assert uses.names_used(["other", "tensor_sum", "counter"], namespace) == set()


class Strange:
    def __getattr__(self, name):
        raise SystemExit

    def __call__(self, x):
        return x


@pytest.mark.parametrize("kind", [partial(torch.nn.Linear, 2, 3), Strange])
def test_what_may_run_any_code_is_not_read(namespace, kind):
    namespace["made"] = kind()
    with pytest.raises(uses.CodeNotVisible):
        uses.names_used(["made"], namespace)


def graded(text):
    """The reply of an answer to the check of `last`, and the result."""
    oracle, version = load_oracle(TINY_COURSE, TINY), Variant("last", "wrong", source=text)
    records = records_of(oracle, "last", "1")
    replies = oracle.replay(version, [record for own in records for record in own])
    return replies[0], grade_exercise(oracle, "last", records, replies)


@pytest.mark.parametrize(("text", "unused"), [
    ("def last(rows):\n    return 3 * rows[-1]", ("double",)), ("def last(rows):\n    return double(rows[0])", ()),
    ("def last(rows):\n    return twice(rows[0])\n\n\ndef twice(x):\n    return double(x)", ()),
    ("def last(rows):\n    return twice(rows[-1])\n\n\ndef twice(x):\n    return 3 * x", ("double",)),
    ("class Last:\n    def __call__(self, rows):\n        return 3 * rows[-1]\n\n\nlast = Last()", ()),
    ("def timed(f):\n    return lambda x: f(x)\n\n\n@timed\ndef last(rows):\n    return double(rows[0])", ()),
    ("def last(rows):\n    return double(rows[-1])", ()),
])
def test_an_answer_that_does_not_use_what_a_stub_replaces_is_told_so(text, unused):
    reply, result = graded(text)
    assert reply.unused == unused and reply_from_tree(reply_to_tree(reply)).unused == unused
    said = [messages.headline(finding) for finding in findings(result.checks)]
    told = ("This check puts other code, with other results, in the place of `double`. What is called of your code "
            "does not use it: use it there.")
    assert any(told in one for one in said) is bool(unused)


def test_a_kernel_may_name_only_what_the_check_replaces():
    (record,) = (own[0] for own in records_of(load_oracle(TINY_COURSE, TINY), "last", "1"))
    reply, _ = graded("def last(rows):\n    return 3 * rows[-1]")
    for claimed, told in ((("double", "rows", "anything"), ("double",)), ((), ())):
        assert first_difference(record, replace(reply, unused=claimed)).unused == told


def test_on_other_sizes_nothing_is_told():
    """What need not be used is recorded for the check itself alone."""
    (record,) = (own[0] for own in records_of(load_oracle(TINY_COURSE, TINY), "last", "1"))
    reply, _ = graded("def last(rows):\n    return 3 * rows[-1]")
    assert first_difference(record, reply).unused == ("double",)
    assert first_difference(replace(record, relation="one sequence"), reply).unused == ()


def test_in_the_search_for_a_place_nothing_is_read():
    oracle = load_oracle(TINY_COURSE, TINY)
    (record,) = (own[0] for own in records_of(oracle, "last", "1"))
    with oracle.substituted(Variant("last", "wrong", source="def last(rows):\n    return 3 * rows[-1]")) as names:
        assert replay(record.ops, names, watched=False).unused == ()


def test_what_does_the_same_as_its_stub_need_not_be_used():
    """The check of a course whose stub has the results of the solution asks for no call of it."""
    oracle = load_oracle(TINY_COURSE, TINY)
    (record,) = (own[0] for own in records_of(oracle, "last", "1"))
    assert record.expected.unused == ()
    same = replace(record, ops=tuple(replace(op, source=op.source.replace("x / 2", "2 * x")) if isinstance(op, Define)
                                     else op for op in record.ops))
    same = replace(same, expected=replay(same.ops, oracle.recorder.namespace))
    assert oracle.recorder._dispensable(same) == ("double",) and oracle.recorder._dispensable(record) == ()
