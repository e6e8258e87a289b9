"""Answers of kernels: what a replay answers arrives as it was sent; anything else is refused, or bounded and harmless.

No answer, however it was made, may stop the judge: what is accepted is compared with every kind of expected value.
"""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from autograder.runtime import compare, difference_messages, recorded, values, wire
from autograder.runtime.operations import Call, Name, Output
from autograder.runtime.recorded import (
    CapturedError,
    ErrorLocation,
    InvalidReplyError,
    OutputSpec,
    RecordedCheck,
    Reply,
)
from autograder.runtime.values import MAX_ITEMS, describe

LONG = 10**4_000  # a number that JSON can still bring, and that nobody wants to read

EXPECTED = [None, True, 3, 2.5, "text", [1, [2.5, "a"], None], {"a": 1, 2: [3.0]}, torch.ones(2, 3) / 3,
            torch.arange(3), torch.ones(2, dtype=torch.complex64), np.arange(3.0), torch.tensor(1.5), object()]
PREDICATE = "def holds(got):\n    return None if got[0] > 1 else 'no'\n"
SPECS = [OutputSpec(), OutputSpec(predicate=PREDICATE)]

# Whatever the wire can bring

arrays = st.sampled_from(wire.DTYPES).flatmap(
    lambda name: hnp.arrays(np.dtype(name), hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3)))
long_numbers = st.sampled_from([-1, 1]).map(lambda sign: sign * LONG)
numbers = st.integers() | st.sampled_from([-1, 2**63]) | long_numbers | st.floats() | st.booleans()
leaves = st.none() | numbers | st.text(max_size=8) | st.sampled_from(["none", "int", "list"]) | arrays
keys = st.text(max_size=8).filter(lambda key: key != "$array")
trees = st.recursive(leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
                     max_leaves=6)

# Nearly descriptions, errors and replies: right at some places, and anything at others

kinds = st.sampled_from(["none", "bool", "int", "float", "str", "tensor", "array", "list", "dict", "other"]) | leaves
lengths = st.integers(-1, 3) | numbers


def nearly(**fields):
    """A dict with these fields, of which any may be missing or hold something else."""
    return st.fixed_dictionaries({}, optional={name: field | trees for name, field in fields.items()})


def containers(inner):
    """Lists and dicts whose length is mostly that of their items."""
    items = st.lists(inner, max_size=3)
    honest = items.map(lambda some: {"kind": "list", "items": some, "length": len(some)})
    pairs = st.lists(st.tuples(inner, inner), max_size=3).map(
        lambda some: {"kind": "dict", "keys": [key for key, _ in some], "items": [item for _, item in some],
                      "length": len(some)})
    return honest | pairs | nearly(kind=kinds, items=items, keys=items, length=lengths)


def of_kind(kind, values):
    return values.map(lambda value: {"kind": kind, "value": value})


scalars = (of_kind("none", st.none()) | of_kind("bool", st.booleans()) | of_kind("int", st.integers())
           | of_kind("float", st.floats()) | of_kind("str", st.text(max_size=8)))
tensors = arrays.map(lambda array: {"kind": "tensor", "dtype": array.dtype.name, "array": array})
described = st.recursive(
    scalars | tensors | nearly(kind=kinds, value=leaves, dtype=leaves, array=arrays, type=leaves, length=lengths),
    containers, max_leaves=5)
wheres = nearly(line=numbers, function=leaves, text=leaves)
errors = nearly(kind=st.sampled_from(["raised", "missing-name"]) | trees, type=leaves, message=leaves, where=wheres)
answers = st.fixed_dictionaries({
    "outputs": st.dictionaries(st.just("a") | keys, described, max_size=3),
    "error": st.none() | errors | trees,
    "mutating_ops": st.lists(numbers, max_size=3),
    "forbidden_calls": st.lists(st.text(max_size=5), max_size=3),
    "changed_state": st.lists(st.text(max_size=5), max_size=3),
}) | nearly(outputs=st.dictionaries(keys, described, max_size=2), error=errors, mutating_ops=leaves,
            forbidden_calls=leaves,
            changed_state=leaves)


def judged(reply):
    """What the judge says of a reply in every check that it might be an answer to."""
    for value in EXPECTED:
        expected = Reply({"a": describe(value)})
        two_axes = [OutputSpec(axes="A B", sums_to_one="B")] if getattr(value, "ndim", 0) == 2 else []
        for spec in SPECS + two_axes:
            record = RecordedCheck((), expected, {"a": spec}, base=1)
            seen = compare.first_difference(record, reply)
            yield difference_messages.difference(seen) if seen else None
            compare.same(record, expected, reply)
    if reply.error:
        yield difference_messages.error(reply.error)


@settings(max_examples=400)
@given(answers | trees)
def test_any_tree_is_a_reply_that_can_be_judged_or_none(tree):
    arrived = wire.unpack(wire.pack(tree))
    try:
        reply = recorded.reply_from_tree(arrived)
    except InvalidReplyError as refusal:
        assert "\n" not in str(refusal)
        return
    for sentence in judged(reply):
        assert sentence is None or (len(sentence) < 1000 and sentence.isprintable()), sentence
    assert recorded.reply_from_tree(recorded.reply_to_tree(reply)).error == reply.error


@settings(max_examples=200)
@given(errors | trees)
def test_any_tree_is_an_error_in_bounded_words(tree):
    error = recorded.error_from_tree(wire.unpack(wire.pack(tree)))
    assert error.kind in ("missing-name", "not-written", "unusable", "raised") and error.type
    sentence = difference_messages.error(error)
    assert len(sentence) < 1000 and sentence.isprintable()


@pytest.mark.parametrize("value", EXPECTED, ids=lambda value: type(value).__name__)
def test_what_is_described_arrives_as_it_was(value):
    error = CapturedError("raised", "ValueError", "no", ErrorLocation(3, "f", "f(x)"))
    sent = Reply({"a": describe(value)}, error, (1, 2), ("bmm",))
    arrived = recorded.reply_from_tree(wire.unpack(wire.pack(recorded.reply_to_tree(sent))))
    assert (arrived.error, arrived.mutating_ops, arrived.forbidden_calls) == (sent.error, sent.mutating_ops,
                                                                              sent.forbidden_calls)
    assert compare.output_difference("a", sent.outputs["a"], arrived.outputs["a"], OutputSpec()) is None


def answer(**fields):
    return {"outputs": {"a": fields}, "error": None, "mutating_ops": [], "forbidden_calls": []}


NO_REPLIES = {
    "nothing": None, "list": [], "empty": {}, "outputs-list": {"outputs": []},
    "mutated-number": {"outputs": {}, "mutating_ops": 1, "forbidden_calls": []},
    "mutated-array": {"outputs": {}, "mutating_ops": np.ones(3), "forbidden_calls": []},
    "mutated-negative": {"outputs": {}, "mutating_ops": [-1], "forbidden_calls": []},
    "mutated-long": {"outputs": {}, "mutating_ops": [LONG], "forbidden_calls": []},
    "called-numbers": {"outputs": {}, "mutating_ops": [], "forbidden_calls": [1]},
    "too-many-outputs": {"outputs": {str(i): {"kind": "none"} for i in range(2_000)}, "mutating_ops": [],
                         "forbidden_calls": []},
    "no-kind": answer(), "kind-unknown": answer(kind="gold"), "kind-list": answer(kind=["int"], value=1),
    "kind-array": answer(kind=np.ones(3)), "kind-array-of-one": answer(kind=np.ones(1)), "kind-dict": answer(kind={}),
    "no-array": answer(kind="tensor"), "array-text": answer(kind="tensor", dtype="float32", array="right"),
    "int-bool": answer(kind="int", value=True), "float-text": answer(kind="float", value="1"),
    "int-long": answer(kind="int", value=LONG), "int-of-64-bits": answer(kind="int", value=2**63),
    "text-long": answer(kind="str", value="x" * 20_000),
    "list-short": answer(kind="list", items=[], length=3), "list-rubbish": answer(kind="list", items=[{}], length=1),
    "list-negative": answer(kind="list", items=[], length=-1), "list-long": answer(kind="list", items=[], length=LONG),
    "list-bool": answer(kind="list", items=[{"kind": "none"}], length=True),
    "dict-without-items": answer(kind="dict", items=[], keys=[{"kind": "none"}], length=1),
    "dict-negative": answer(kind="dict", items=[], keys=[], length=-1),
}


@pytest.mark.parametrize("name", NO_REPLIES)
def test_replies_that_are_none_are_refused(name):
    with pytest.raises(InvalidReplyError):
        recorded.reply_from_tree(NO_REPLIES[name])


def test_a_list_that_claims_elements_it_does_not_send_is_refused():
    assert compare.output_difference("rows", describe([1, 2, 3]), describe([1, 2, 3]), OutputSpec()) is None
    with pytest.raises(InvalidReplyError):
        recorded.reply_from_tree(answer(kind="list", items=[], length=3))
    honest = recorded.reply_from_tree(recorded.reply_to_tree(Reply({"a": describe(list(range(MAX_ITEMS + 1)))})))
    assert honest.outputs["a"].length == MAX_ITEMS + 1


def test_a_number_too_long_to_read_is_no_message():
    header = json.dumps({"body": {"number": "N"}, "arrays": []}).replace('"N"', "9" * 5_000).encode()
    with pytest.raises(wire.WireError):
        wire.unpack(wire.MAGIC + len(header).to_bytes(4, "little") + header)


NO_LINES = [LONG, -1, True, "3", None, 2.5, [3], np.ones(3)]


@pytest.mark.parametrize("line", NO_LINES, ids=lambda line: type(line).__name__)
def test_a_line_that_is_no_number_of_a_line_is_left_out(line):
    where = {"line": line, "function": "f", "text": "x"}
    tree = {"kind": "raised", "type": "ValueError", "message": "no", "where": where}
    assert recorded.error_from_tree(tree) == CapturedError("raised", "ValueError", "no")
    where["line"] = 3
    assert difference_messages.error(recorded.error_from_tree(tree)) == (
        "Your code stops with ValueError at line 3 of the cell, `x`: no.")


COMPLEX = [torch.tensor(1 + 1j), np.array([1j]), np.complex64(1), torch.tensor([1 + 0j])]


@pytest.mark.parametrize("want", [1.0, 1, True, torch.tensor(1.0), torch.tensor(1)], ids=str)
@pytest.mark.parametrize("got", COMPLEX, ids=str)
def test_complex_numbers_are_no_answer_and_no_traceback(want, got):
    arrived = recorded.reply_from_tree(wire.unpack(wire.pack(recorded.reply_to_tree(Reply({"a": describe(got)})))))
    seen = compare.output_difference("a", describe(want), arrived.outputs["a"], OutputSpec())
    assert seen and len(difference_messages.difference(seen)) < 300


# Records and replies of our own, whole and in part

ERROR = CapturedError("unusable", "TypeError", "no", ErrorLocation(3, "f", "x + 1"), 2, "check")
OPS = (Name("f", 1), Call(1, [], {}, 2), Output("a", 2), Output("b", 2), Call(1, [], {}, 3), Output("a again", 3))
SPECS_OF = {"a": OutputSpec("B", 0.1, 0.2, "B", None, None, 0.3), "b": OutputSpec(),
            "a again": OutputSpec(relation="repeated call")}
REPLY = Reply({name: describe(1) for name in SPECS_OF}, None, (1, 4), ("exp",), ("the seed",))
RECORD = RecordedCheck(OPS, REPLY, SPECS_OF, 4, "equal sizes", ("g",))


def contents(record):
    outputs = {name: values.to_tree(value) for name, value in record.expected.outputs.items()}
    return ([op.to_tree() for op in record.ops], outputs, replace(record.expected, outputs={}), record.specs,
            record.base, record.relation, record.needed)


def test_a_record_and_an_error_arrive_as_they_were():
    arrived = recorded.record_from_tree(wire.unpack(wire.pack(recorded.record_to_tree(RECORD))))
    assert contents(arrived) == contents(RECORD) and isinstance(arrived.ops, tuple)
    for error in (ERROR, None):
        tree = wire.unpack(wire.pack(recorded.reply_to_tree(replace(REPLY, error=error))))
        assert recorded.reply_from_tree(tree).error == error
    assert recorded.record_to_tree(RECORD)["specs"]["b"] == {}, "what is not said takes no room"


def test_without_relations_only_the_checks_own_calls_are_left():
    own = RECORD.without_relations
    assert own.ops == OPS[:4] and own.base == 4 and own.specs.keys() == own.expected.outputs.keys() == {"a", "b"}
    assert own.expected.mutating_ops == (1,) and own.without_relations is own and own.relation == "equal sizes"


@pytest.mark.parametrize("names, length", [(["a"], 3), (["b"], 4), (["a again"], 6), (["a", "b"], 4), ([], 0)])
def test_with_some_outputs_later_calls_are_left_out(names, length):
    record = RECORD.with_outputs(names)
    assert (record.ops, list(record.specs), record.base) == (OPS[:length], names, min(4, length))


def test_a_gpu_has_wider_tolerances_and_a_predicate_is_known():
    assert RECORD.for_device("cpu") is RECORD
    assert {spec.tolerance_factor for spec in RECORD.for_device("cuda").specs.values()} == {20.0}
    assert not RECORD.has_predicate and RecordedCheck((), REPLY, dict(enumerate(SPECS)), 0).has_predicate
    assert [spec.is_gradient for spec in SPECS_OF.values()] == [True, False, False]


def test_what_a_reply_holds_is_bounded():
    tree = recorded.reply_to_tree(Reply({}))
    many = [str(i) for i in range(30)]
    arrived = recorded.reply_from_tree({**tree, "forbidden_calls": ["a\nb", *many], "changed_state": many,
                                        "mutating_ops": list(range(2_000))})
    assert arrived.forbidden_calls == ("ab", *many[:19]) and arrived.changed_state == tuple(many[:20])
    assert arrived.mutating_ops == tuple(range(1_000))
    none = {"kind": "none"}
    assert len(recorded.reply_from_tree({**tree, "outputs": dict.fromkeys(many, none)}).outputs) == 30
    for wrong in ({"outputs": {str(i): none for i in range(1_001)}}, {"mutating_ops": [10**6]}, {"mutating_ops": (1,)},
                  {"mutating_ops": [True]}, {"forbidden_calls": [1]}, {"changed_state": "ab"}, {"outputs": [none]}):
        with pytest.raises(InvalidReplyError):
            recorded.reply_from_tree({**tree, **wrong})
    assert recorded.reply_from_tree({**tree, "outputs": {str(i): none for i in range(1_000)},
                                     "mutating_ops": [999_999, 0], "forbidden_calls": many[:20] + [1]})


def test_an_error_has_the_expected_form_whatever_was_sent():
    read = recorded.error_from_tree
    assert read(3) == read({}) == CapturedError("raised", "Error", "") and read({"kind": "unusable"}).kind == "unusable"
    assert (read({"kind": ["raised"]}).kind, read({"kind": "gone"}).kind) == ("raised", "raised")
    assert [read({"origin": origin}).origin for origin in ("check", "cell", 3)] == ["check", "cell", "cell"]
    assert [read({"at": at}).at for at in (5, -1, 10**6, "5", True)] == [5, 0, 0, 0, 0]
    assert [len(read({"message": "a" * length}).message) for length in (300, 301)] == [300, 300]
    where = read({"where": {"line": 1, "function": "f\n", "text": None}}).where
    assert where == ErrorLocation(1, "f", "") and read({"where": [1]}).where is None
