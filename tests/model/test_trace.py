"""What a check may say on its trace, what of it stands in the recorded calls, and what is refused."""

import numpy as np
import pytest
import torch

from autograder.metadata import CourseMetadata
from autograder.model.errors import SourceError
from autograder.model.trace import CheckError, InstanceRejected, Trace, check
from autograder.runtime import arrays, wire
from autograder.runtime.operations import Call, Define, SetWeights
from autograder.runtime.values import to_python


def trace_of(seed=1, library="torch", sizes=None, **names):
    return Trace(names, seed, CourseMetadata(arrays=library), sizes)


def test_arguments_arrive_as_a_check_passes_them():
    def given(*args, **kwargs):
        return repr((args, kwargs))

    t = trace_of(given=given, f=lambda: 7)
    x = t.normal(2, 3)
    args = (1, 2.5, "a", None, True, (1, [2]), {"k": (3,), 4: "v"}, slice(1, None, 2), torch.float64, x)
    wanted = given(*args, np.arange(2), torch.device("cpu"), 7, n=3, s=[x])
    t.output("said", t["given"](*args, np.arange(2), t.device, t["f"](), n=np.int64(3), s=[x]))
    assert to_python(t.replayer.outputs["said"]) == wanted
    with pytest.raises(CheckError, match="a set cannot be an argument of a check: use t.define"):
        t["given"]({1})


def test_what_a_check_changes_later_was_passed_as_it_was():
    t = trace_of(library="numpy", f=lambda x: x.sum())
    numbers = np.arange(3)
    t.output("sum", t["f"](numbers))
    numbers += 1
    (call,) = (op for op in t.ops if isinstance(op, Call))
    assert call.args[0].tolist() == [0, 1, 2] and to_python(t.replayer.outputs["sum"]) == 3


def test_a_slice_is_of_plain_numbers():
    t = trace_of(f=lambda part: str(part))
    t.output("said", t["f"](slice(np.int64(1), None, np.int64(2))))
    (call,) = (op for op in t.ops if isinstance(op, Call))
    assert wire.unpack(wire.pack(call.to_tree()))["args"] == [{"$slice": [1, None, 2]}]
    assert to_python(t.replayer.outputs["said"]) == "slice(1, None, 2)"


@pytest.mark.parametrize("letters, limits, lowest, highest", [
    ("A B", (), 3, 8), ("A B C D", (2,), 2, 8), ("A", (4, 6), 4, 6), ("A", (5,), 5, 10)])
def test_sizes_are_distinct_and_within_their_limits(letters, limits, lowest, highest):
    drawn = []
    for seed in range(60):
        t = trace_of(seed)
        drawn.append(t.sizes(letters, *limits))
        assert t.axes == dict(zip(letters.split(), drawn[-1], strict=True)) and len(set(drawn[-1])) == len(drawn[-1])
    assert (min(map(min, drawn)), max(map(max, drawn))) == (lowest, highest)


def test_sizes_may_be_given():
    for given, forbidden in ((1, ["softmax"]), (2, ["loop", "softmax"])):
        t = trace_of(sizes={"B": given})
        assert t.sizes("B T")[0] == given == t.axes["B"] and t.axes["T"] >= 3
        with t.replayer.running():
            t.forbid("loop", "softmax")
        assert [op.names for op in t.ops] == [forbidden], "there is no loop over one"


def test_numbers_and_choices_come_from_their_range():
    t = trace_of()
    assert {t.integer(2, 5) for _ in range(60)} == {2, 3, 4}
    assert {t.choice("abc") for _ in range(60)} == set("abc")
    assert torch.rand(1, generator=t.generator) != torch.rand(1, generator=t.generator) != t.uniform(1)


@pytest.mark.parametrize("values, options, clear", [
    ([[1, 2], [3, 5]], {}, True), ([[1, 2], [3, 3]], {}, False), ([[1, 1], [3, 3]], {"dim": 0}, True),
    ([[1, 3], [1, 5]], {"dim": 0}, False), ([[1], [2]], {}, True), ([[2, 1, 2]], {}, False), ([[1, 1, 2]], {}, True),
    ([[1, 1.5]], {"margin": 0.5}, False), ([[1, 1.6]], {"margin": 0.5}, True), ([[1, 1.0005]], {}, False),
    ([[[1, 1], [3, 5]]], {}, False), ([[5, 1], [1, 2], [5, 3]], {"dim": 0}, False)])
@pytest.mark.parametrize("kind", [np.array, lambda values: torch.tensor(values).float().requires_grad_(), "handle"])
def test_a_tie_is_drawn_again(values, options, clear, kind):
    t = trace_of(f=lambda: torch.tensor(values))
    given = t["f"]() if kind == "handle" else kind(values)
    if clear:
        t.assume_margin(given, **options)
    else:
        with pytest.raises(InstanceRejected):
            t.assume_margin(given, **options)


def test_weights_are_large_and_of_their_dtype():
    t = trace_of(Net=lambda: torch.nn.Linear(30, 40, dtype=torch.float64))
    t.randomise_weights(t["Net"](), scale=3)
    t.randomise_weights(t["Net"]())
    weights, default = (op.values for op in t.ops if isinstance(op, SetWeights))
    assert {(name, value.shape, value.dtype.name) for name, value in weights.items()} == {
        ("weight", (40, 30), "float64"), ("bias", (40,), "float64")}
    assert 2.7 < weights["weight"].std() < 3.3 and weights["weight"][0, 0] != weights["bias"][0]
    assert 0.9 < default["weight"].std() < 1.1


def halve(x):
    return x / 2


def test_a_stub_stands_in_the_place_of_a_name():
    t = trace_of(double=lambda x: 2 * x)
    t.stub("double", halve)
    t.output("y", t["double"](4.0))
    t.stub("len", halve)
    t.output("z", t["len"](3.0))
    made = [t.define(halve), t.define(halve, like="double")]
    assert [to_python(t.replayer.outputs[name]) for name in "yz"] == [2.0, 1.5] and made[0].value(1) == 0.5
    source = "def halve(x):\n    return x / 2\n"
    assert [(op.source, op.name, op.replaces, op.like) for op in t.ops if isinstance(op, Define)] == [
        (source, "halve", "double", None), (source, "halve", "len", None), (source, "halve", None, None),
        (source, "halve", None, "double")]
    for call in (t.stub, lambda name, thing: t.define(thing, like=name)):
        with pytest.raises(CheckError, match="the notebook does not define gone"):
            call("gone", halve)
        with pytest.raises(CheckError, match="a lambda has no source"):
            call("double", lambda x: x)


def test_a_gradient_is_compared_by_its_largest_number():
    t = trace_of(f=torch.exp)
    x = t.leaf(t.normal(3))
    y = t["f"](x)
    t.backward(y)
    t.output("y", y, axes="B", rtol=0.5, atol=0)
    t.output("gradient", x.grad)
    assert (t.specs["y"].rtol, t.specs["y"].atol, t.specs["y"].atol_of_max) == (0.5, 0, None)
    assert t.specs["gradient"].atol_of_max == 1e-3 and t.lines["gradient"] == t.lines["y"] + 1
    again = trace_of(f=torch.exp)
    assert torch.equal(again.normal(3), x.value.detach()) and not np.allclose(x.value.grad, y.value.detach())


@pytest.mark.parametrize("given, said", [
    (("y", 3), "takes a name, and what a call"), ((3, "handle"), "takes a name, and what a call"),
    (("y", "handle", ["B"]), "is no string of letters"), (("y", "handle", "B", -1.0), "-1.0 is no number from 0 on"),
    (("y", "handle", "B", None, "1"), "'1' is no number from 0 on"), (("x", "handle"), "two outputs are called 'x'"),
    (("y", "handle", "B D", None, None, "T"), "sums_to_one='T' is none of its axes"),
    (("y", "handle", None, None, None, "T"), "sums_to_one='T' is none of its axes")])
def test_an_output_that_cannot_be_compared_is_refused(given, said):
    t = trace_of(f=torch.ones)
    handle = t["f"](2)
    t.output("x", handle)
    with pytest.raises(CheckError, match=said):
        t.output(*(handle if part == "handle" else part for part in given))


def test_what_a_handle_does_is_recorded_or_refused():
    t = trace_of(Box=type("Box", (), {}), f=lambda: ([1, 2], {"a": 3}))
    box = t["Box"]()
    box.size = (1, t["f"]()[0])
    pair, table = t.unpack(t["f"](), 2)
    assert box.value.size == (1, [1, 2]) and (pair[1].value, table["a"].value, box.size[0].value) == (2, 3, 1)
    assert sum(isinstance(op, Call) for op in t.ops) == 3
    with pytest.raises(CheckError, match="use t.unpack"):
        a, b = pair
    with pytest.raises(CheckError, match="use handle.value, and t.assume"):
        bool(pair)
    with pytest.raises(AttributeError, match="__deepcopy__"):
        pair.__deepcopy__  # noqa: B018
    with pytest.raises(CheckError, match="operation item fails on the solution: .*: "):
        pair[7]


@pytest.mark.parametrize("use", [
    lambda t: t.torch, lambda t: t.leaf(1), lambda t: t.backward(t["f"]), lambda t: t.eval_mode(t["f"]),
    lambda t: t.randomise_weights(t["f"])])
def test_without_torch_what_needs_it_is_refused(use):
    with pytest.raises(CheckError, match='needs torch, and course.toml says arrays = "numpy"'):
        use(trace_of(library="numpy", f=1))
    assert isinstance(trace_of(library="numpy").normal(2), np.ndarray) and trace_of().torch.value is torch


def test_a_check_is_declared_with_its_weight_and_the_sentence_of_its_docstring():
    @check("net", weight=0.5, skip_relations={"gradient": "a count"})
    def two_words(t):
        """One sentence,
        in two lines."""

    one = two_words.check
    assert (one.exercise, one.name, one.description) == ("net", "two-words", "One sentence, in two lines.")
    assert one.weight == 0.5 and one.skip_relations == {"gradient": "a count"} and one.where[0] == __file__
    assert check("net")(two_words) is two_words and two_words.check.weight == 1 and not two_words.check.skip_relations


@pytest.mark.parametrize("weight", [0, -1, float("inf"), float("nan")])
def test_a_weight_is_positive(weight):
    def said(t):
        """A sentence."""

    with pytest.raises(SourceError, match=rf"test_trace.py:\d+: the check said has the weight {weight}, which must be"):
        check("net", weight=weight)(said)


@pytest.mark.parametrize("docstring", [None, "", "  "])
def test_a_check_without_a_sentence_is_refused(docstring):
    def silent(t):
        pass

    silent.__doc__ = docstring
    with pytest.raises(SourceError, match=r"test_trace.py:\d+: the check silent has no docstring"):
        check("net")(silent)


def test_a_check_that_is_declared_wrongly_is_refused(monkeypatch):
    for wrong, said in ((("net", 1, ["gradient"]), "skip_relations is a dict"), ((len,), r'write @check\("exercise"\)'),
                        (("net", 1, {"b": "", "a": ""}), "no relation called a, b; there are: repeated call, ")):
        with pytest.raises(SourceError, match=rf"test_trace.py:\d+: .*{said}"):
            check(*wrong)
    monkeypatch.setattr(arrays, "torch_or_none", lambda: None)
    with pytest.raises(CheckError, match='torch is not installed; a course without it has arrays = "numpy"'):
        trace_of()
