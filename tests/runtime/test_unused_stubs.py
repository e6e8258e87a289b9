"""Which names the code of cells uses, read from its text as far as calls may reach; none of it is run."""

from dataclasses import replace

import pytest

from autograder.judging.judge import grade_exercise, records_of
from autograder.model.faults import Variant
from autograder.model.oracle import load_oracle
from autograder.runtime import messages, unused_stubs
from autograder.runtime.findings import findings
from autograder.runtime.operations import Define, Name
from autograder.runtime.recorded import RecordedCheck, Reply, record_from_tree, record_to_tree
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

    @functools.lru_cache
    def kept(self):
        return cached_call()

async def later(x):
    return await soon(x)

Net.added = plain
looping = made_here()
part = functools.partial(plain, 1)
called = Net()
number = 3
alias = plain
'''

EVERY = {"near", "far", "hidden", "deep", "extra", "other", "of_base", "nested", "measured", "cached_call", "soon"}
OF_NET = {"of_base", "nested", "measured", "cached_call", "near", "far"}


def unused(name, cells, needed=tuple(EVERY), **options):
    record = RecordedCheck((Name(name, 1),), Reply({}), {}, 1, needed=needed)
    return set(unused_stubs.unused_stubs(record, cells, **options))


@pytest.mark.parametrize(("name", "used"), [
    ("plain", {"near"}), ("wrapped", {"deep"}), ("part", {"near"}), ("decorated", {"far"}),
    ("default", {"far", "near"}),
    ("Net", OF_NET - {"far"}), ("called", OF_NET - {"far"}), ("number", set()), ("torch", set()), ("nn", set()),
    ("alias", {"near"}), ("wrapper", {"extra", "near"}), ("looping", {"other"}), ("later", {"soon"}),
])
def test_what_code_uses_is_read_through_all_that_it_calls(name, used):
    assert unused(name, [CODE]) == EVERY - used, "behind a stub nothing is read"


def test_names_are_told_in_order():
    record = RecordedCheck((Name("number", 1),), Reply({}), {}, 1, needed=tuple("fedcba"))
    assert unused_stubs.unused_stubs(record, [CODE]) == tuple("abcdef")


def test_what_is_defined_inside_a_function_is_no_name_of_the_notebook():
    assert unused("inner", ["def outer(x):\n    def inner(x):\n        return x\n    return inner"]) == set()


def test_what_is_no_stub_is_read_through():
    assert unused("plain", [CODE], ("far", "hidden")) == {"hidden"}
    assert unused("plain", ["def far(x):\n    return hidden(x)", CODE], ("hidden",)) == set()
    assert unused("plain", ["def plain(x):\n    return x", "def plain(x):\n    return far(x)"], ("far",)) == set(), \
        "an earlier cell of the same name may be meant"


def test_nothing_is_told_where_code_is_not_there():
    assert unused("absent", [CODE]) == set() and unused("plain", []) == set()
    assert unused("plain", ["def plain(:", CODE.replace("far", "double")]) == EVERY - {"near"}, "no Python"
    assert unused("plain", ["%matplotlib inline\n" + CODE]) == EVERY - {"near"}
    assert unused("absent", [CODE], are_all=False) == EVERY and unused("plain", [CODE], needed=()) == set()


@pytest.mark.parametrize("definition", [
    "if True:\n    def h(x):\n        return far(x)", "try:\n    import nowhere as h\nexcept ImportError:\n    h = far",
    "try:\n    from a import h\nexcept ImportError:\n    def h(x):\n        return far(x)",
    "class H:\n    pass\n\n\ndef run(self, x):\n    return far(x)\n\n\nH.run = run\nh = H()", "h = far",
])
def test_what_is_defined_under_a_condition_or_later_is_read(definition):
    assert unused("top", [f"{definition}\n\n\ndef top(x):\n    return h(x)"], ("far", "deep")) == {"deep"}


@pytest.mark.parametrize("line", ["exec(code)", "eval('far')(x)", "getattr(module, name)(x)", "globals()['far'](x)"])
def test_where_code_reaches_other_names_nothing_is_told(line):
    assert unused("top", [f"def top(x):\n    return {line}"], ("far",)) == set()
    assert unused("top", [f"def other(x):\n    return {line}\n\n\ndef top(x):\n    return x"], ("far",)) == {"far"}
    assert unused("top", ["class A:\n    pass\n\n\nsetattr(A, 'run', far)\ntop = A()"], ("far",)) == set()
    assert unused("top", ["def top(x):\n    return model.eval()(x)"], ("far",)) == {"far"}, "a method of that name"


def test_many_names_take_little_time():
    """By operations: each statement is walked once, and read once."""
    names = ", ".join(f"a{i}" for i in range(20_000))
    assert unused("a7", [f"{names} = range(20_000)"], ("far",)) == {"far"}
    assert unused("a", ["\n".join(f"a = b{i}" for i in range(20_000))], ("far",)) == {"far"}


def graded(text, cells=None):
    """The first record of the check of `last`, and the result of an answer to it."""
    oracle, version = load_oracle(TINY_COURSE, TINY), Variant("last", "wrong", source=text)
    records = records_of(oracle, "last", "1")
    replies = oracle.replay(version, [record for own in records for record in own])
    return grade_exercise(oracle, "last", records, replies, cells=[text] if cells is None else cells)


@pytest.mark.parametrize(("text", "unused"), [
    ("def last(rows):\n    return 3 * rows[-1]", ("double",)), ("def last(rows):\n    return double(rows[0])", ()),
    ("def last(rows):\n    return twice(rows[0])\n\n\ndef twice(x):\n    return double(x)", ()),
    ("def last(rows):\n    return twice(rows[-1])\n\n\ndef twice(x):\n    return 3 * x", ("double",)),
    ("class Last:\n    def __call__(self, rows):\n        return 3 * rows[-1]\n\n\nlast = Last()", ("double",)),
    ("def timed(f):\n    return lambda x: f(x)\n\n\n@timed\ndef last(rows):\n    return double(rows[0])", ()),
    ("exec('def last(rows):\\n    return 3 * rows[-1]')", ()),
    ("def last(rows):\n    return double(rows[-1])", ()),
])
def test_an_answer_that_does_not_use_what_a_stub_replaces_is_told_so(text, unused):
    result = graded(text)
    assert [check.difference.unused for check in result.failed] == ([unused] * len(result.failed))
    said = [messages.headline(finding) for finding in findings(result.checks)]
    told = ("This check puts other code, with other results, in the place of `double`. What is called of your code "
            "does not use it: use it there.")
    assert any(told in one for one in said) is bool(unused)


def test_of_what_is_not_written_nothing_is_told():
    (failed,) = graded("def last(rows):\n    raise NotImplementedError").failed
    assert failed.difference.kind == "not-written" and failed.difference.unused == ()


def test_where_no_cell_is_known_nothing_is_told():
    (failed,) = graded("def last(rows):\n    return 3 * rows[-1]", cells=[]).failed
    assert failed.difference.unused == ()


def test_a_stub_with_the_results_of_the_solution_need_not_be_used():
    oracle = load_oracle(TINY_COURSE, TINY)
    (record,) = (own[0] for own in records_of(oracle, "last", "1"))
    assert record.needed == record_from_tree(record_to_tree(record)).needed == ("double",)
    same = replace(record, ops=tuple(replace(op, source=op.source.replace("x / 2", "2 * x")) if isinstance(op, Define)
                                     else op for op in record.ops))
    same = replace(same, expected=replay(same.ops, oracle.recorder.namespace))
    assert oracle.recorder._needed(same) == () and oracle.recorder._needed(record) == ("double",)
