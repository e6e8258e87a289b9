"""Differences as data: what differs, where, and how much of it; and which of them are one thing."""

import enum
import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from autograder.classroom.json_files import from_json, to_json
from autograder.runtime import compare, values
from autograder.runtime.diagnosis import RecognisedFault
from autograder.runtime.difference import MAX_STRING, STRING_BEFORE, Difference, Outline
from autograder.runtime.findings import CheckResult, findings
from autograder.runtime.operations import Call, Define, Name, Output
from autograder.runtime.recorded import CapturedError, ErrorLocation, OutputSpec, RecordedCheck, Reply
from autograder.runtime.replay import replay
from autograder.runtime.values import ScalarValue, describe


def difference(want, have, name="y", **spec):
    return compare.output_difference(name, describe(want), describe(have), OutputSpec(**spec))


def test_equal_values_have_no_difference():
    x = torch.randn(3, 4)
    assert difference(x, x + 1e-6) is None
    assert difference(x.double(), x.double() + 1e-4) is not None


@pytest.mark.parametrize("keys", [(None,), ((1, "a"), (2, "b")), (np.int64(3), 3), (True, 1), ("a",)])
def test_keys_that_python_finds_equal_are_equal(keys):
    assert difference(dict.fromkeys(keys, 1), {keys[0]: 1, **dict.fromkeys(keys, 1)}) is None


class Overridden(list):
    """A list whose methods tell something else of it."""

    def __len__(self):
        return 7

    def __iter__(self):
        while True:
            yield 0

    def __getitem__(self, index):
        raise RuntimeError


class OverriddenDict(dict):
    """A dict whose methods tell something else of it."""

    __len__, items = Overridden.__len__, Overridden.__iter__


def test_containers_are_what_their_base_class_holds():
    for have, want in ((Overridden([1, 2]), [1, 2]), (OverriddenDict(a=1), {"a": 1})):
        assert difference(want, have) is None
        assert values.Reader().read(values.to_tree(describe(have))).length == len(want)


@pytest.mark.parametrize("want, have, kind", [
    (torch.zeros(3, 4), torch.zeros(4, 3), "shape"), (torch.zeros(2), torch.zeros(2).long(), "dtype"),
    (torch.zeros(2), torch.zeros(2).double(), "dtype"), (torch.zeros(2), np.zeros(2), "type"),
    (torch.zeros(2), 3.0, "type"), (torch.zeros(2), None, "nothing"), (None, torch.zeros(2), "type"),
    (torch.zeros(2), torch.tensor([0, torch.nan]), "nan"), (torch.zeros(2), torch.ones(2), "value"),
    (1, 2, "value"), ("a", "b", "value"), ([1], [1, 2], "length"), ([1], {"a": 1}, "type"),
    ({None: 1}, {"None": 1}, "key-missing"), ({(1, 2): 1}, {"(1, 2)": 1}, "key-missing"),
    ({(1, 2): 1}, {(1, 3): 1}, "key-missing"), ({str: 1}, {"type": 1}, "key-missing"),
    ({"a": 1}, {"b": 1}, "key-missing"), ({"a": 1}, {"a": 1, "b": 1}, "key-extra"), (1.0, object(), "type"),
])
def test_the_kind_of_a_difference(want, have, kind):
    seen = difference(want, have)
    assert (seen.kind, seen.output) == (kind, "y")
    assert seen.got is None or seen.got == compare.outline(describe(have)) or kind in ("value", "nan")


def test_the_first_wrong_value_is_told_with_how_many_there_are():
    want = torch.zeros(3, 4)
    have = want.clone()
    have[2, 1:] = torch.tensor([1.0, 2, 3])
    assert difference(want, have, axes="T B") == Difference(
        "value", output="y", expected=Outline("float", 0.0), got=Outline("float", 1.0), axes=("T", "B"), index=(2, 1),
        wrong_count=3, value_count=12)
    assert difference(want, have, axes="T").axes == (), "letters that are not those of all axes are none"


def test_numbers_have_as_many_digits_as_tell_them_apart():
    assert [difference(1 / 3, have).got.value for have in (2 / 3, 1 / 3 + 1e-4, 1 / 3 + 1e-5)] == [
        0.6667, 0.3334, 0.3333433]
    assert [difference(1.0, have).got.value for have in (math.nan, math.inf)] == ["nan", "inf"]


def test_a_sum_over_the_wrong_axis_and_another_order_are_seen():
    scores = torch.randn(3, 4, 5)
    seen = difference(scores.softmax(2), scores.softmax(1), axes="T B S", sums_to_one="S")
    assert (seen.kind, seen.axis, seen.axis_summing_to_one, seen.index) == ("sum", 2, 1, (0, 0, 0))
    assert seen.value_count == 12
    square = torch.randn(4, 4)
    assert difference(square, square.T, axes="T S") == Difference("axes", output="y", axes=("T", "S"))


def test_a_string_is_kept_from_shortly_before_the_first_character_that_differs():
    want, have = "a" * 100 + "b" * 100, "a" * 100 + "c" * 9_000
    seen = difference(want, have)
    assert seen.index == (100,) and (seen.expected.shape, seen.got.shape) == ((200,), (9_100,))
    assert seen.expected.value == want[100 - STRING_BEFORE : 100 - STRING_BEFORE + MAX_STRING]
    assert seen.got.value == have[100 - STRING_BEFORE : 100 - STRING_BEFORE + MAX_STRING]
    assert difference("abc", "ab").index == (2,)


def test_the_element_that_differs_is_named_by_its_way_in():
    assert difference({"a": [1, [2, 3]]}, {"a": [1, [2, 4]]}).output == "y['a'][1][1]"
    assert difference([1, 2, 3], [1, 5]).index == (1,)
    assert difference([1, 2, 3], [1, 2]).index == (2,)


ODD = [math.nan, "\u202e\x1b" * 500, 10**15, -1e300, {"k" * 500: 1}, [1] * 6_000, torch.full((2,), math.inf),
       np.array(2j), None, object(), False]


@pytest.mark.parametrize("want", [torch.zeros(2), 1.0, "text", [1], {"a": 1}], ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("have", ODD, ids=range(len(ODD)))
def test_a_difference_is_small_and_comes_back_from_its_file(want, have):
    seen = difference(want, have)
    text = to_json(seen)
    assert len(text) < 2_000 and from_json(text.encode(), Difference, "a file") == seen


# Relations and errors


def first(got, relation=None, want=None):
    record = RecordedCheck([], Reply({"y": describe(1), **({"z": describe(1)} if relation else {})}),
                           {"y": OutputSpec(), **({"z": OutputSpec(relation=relation)} if relation else {})}, 1)
    return compare.first_difference(record, got)


@pytest.mark.parametrize("got, seen", [
    (Reply({"y": ScalarValue(1)}), None),
    (Reply({"y": ScalarValue(1)}, forbidden_calls=("loop", "relu")), Difference("loop")),
    (Reply({"y": ScalarValue(1)}, forbidden_calls=("relu", "bmm")), Difference("built-in", names=("bmm", "relu"))),
    (Reply({"y": ScalarValue(1)}, mutating_ops=(0,)), Difference("in-place")),
    (Reply({"y": ScalarValue(1)}, changed_state=("it",)), Difference("changed", names=("it",))),
    (Reply({}), Difference("missing-output", output="y")),
])
def test_what_is_not_an_output(got, seen):
    assert first(got) == seen


def test_a_relation_that_is_broken_is_named_with_what_differs():
    seen = first(Reply({"y": ScalarValue(1), "z": ScalarValue(2)}), "repeated call")
    assert (seen.kind, seen.relation, seen.output) == ("value", "repeated call", "z")
    stopped = first(Reply({"y": ScalarValue(1)}, CapturedError("raised", "ValueError", "no", at=2)), "gradient")
    assert (stopped.kind, stopped.relation, stopped.error.type) == ("raised", "gradient", "ValueError")


def test_calls_of_a_relation_that_stop_are_said_before_gradients_which_they_may_spoil():
    specs = {"y": OutputSpec(), **{name: OutputSpec(relation=name) for name in ("gradient", "other inputs",
                                                                                "repeated call")}}
    record = RecordedCheck([], Reply(dict.fromkeys(specs, describe(1))), specs, 1)
    got = Reply({"y": describe(1), "gradient": describe(2)}, CapturedError("raised", "RuntimeError", "a size", at=5))
    seen = compare.first_difference(record, got)
    assert (seen.kind, seen.relation) == ("raised", "other inputs")


CALLS_BACK = "class Given:\n    def __call__(self, x):\n        return x.not_there\n"


@pytest.mark.parametrize("function, inside, line", [
    ("def f(given, x):\n    return x.not_there\n", "cell", 2),
    ("def f(given, x):\n    y = x\n    return given(y)\n", "check", 3),
    ("def f(given):\n    return 1\n", "check", None),
], ids=["in the cell", "in a stub", "at the call"])
def test_whose_code_raised_is_told(function, inside, line):
    namespace = {}
    exec(compile(function, "<cell>", "exec"), namespace)
    ops = (Define(CALLS_BACK, "Given", 1), Call(1, [], {}, 2), Name("f", 3), Call(3, [{"$ref": 2}, 1], {}, 4))
    seen = compare.error_difference(replay(ops, namespace).error)
    assert (seen.kind, seen.error.origin, seen.line) == ("raised", inside, line)


# Which are one thing

FAULT = RecognisedFault("squared", "You square it.")


def stops(message, line):
    return Difference("raised", error=CapturedError("raised", "ValueError", message, ErrorLocation(line, "f", "x")))


def test_equal_causes_are_one_finding():
    seen = [("a", difference(1, 2)), ("b", difference(3, 4)), ("c", difference(1, 2), FAULT),
            ("d", Difference("loop"), FAULT), ("e", Difference("missing-output", relation="gradient", output="g")),
            ("f", stops("no", 3)), ("g", stops("yes", 3)), ("h", stops("no", 4)),
            ("i", Difference("not-checked", reason="too late")), ("j", Difference("not-checked", reason="too late")),
            ("k", difference(1, None)), ("l", Difference("loop"))]
    results = [CheckResult(check, False, "", *rest) for check, *rest in seen]
    found = findings([*results, CheckResult("right", True, "")])
    assert [" ".join(one.checks) for one in found] == ["a b k", "c d", "e", "f g", "h", "i j", "l"]
    assert [one.fault for one in found] == [None, FAULT, *[None] * 5]
    assert [one.relation for one in found] == [None, None, "gradient", *[None] * 4]


class Word(str):
    """A string of another type."""


@pytest.mark.parametrize("word", [np.str_("größe"), Word("größe")])
def test_a_string_of_another_type_is_a_string(word):
    assert difference("größe", word) is None and difference(["größe"], [word]) is None
    assert difference({"größe": 1}, {word: 1}) is None
    assert difference("große", word).kind == "value"


class Token(enum.IntEnum):
    SOS = 3


class Share(float):
    """A float of another type."""


def test_a_number_of_another_type_is_a_number():
    assert difference([3, 0.5], [Token.SOS, Share(0.5)]) is None and difference({3: 1}, {Token.SOS: 1}) is None
    assert difference(4, Token.SOS).kind == difference(0.25, Share(0.5)).kind == "value"


@pytest.mark.parametrize("want, have", [
    (np.zeros((3, 3)), np.full((3, 3), 5e-5)),
    (np.full((3, 3), 1000), np.where(np.eye(3) > 0, 1001, 1000)),
    (torch.full((2, 2, 5), 2.0), torch.full((2, 2, 5), 2.0015)),
])
def test_axes_in_another_order_have_the_right_values(want, have):
    assert difference(want, have).kind == "value"


def test_what_is_not_described_is_told_by_its_type():
    assert difference({1, 2}, {3}) is None and difference({1, 2}, object()).kind == "type"


@pytest.mark.parametrize("value, what", [
    ({1, 2}, "a set"), ([1, (2, {3})], "a set"), ({"a": [object()]}, "an object"), (2**63, "an int"),
    ("a" * values.MAX_TEXT, "a string of 10000 characters or more"),
    ([0] * (values.MAX_ITEMS + 1), "a list of more than 5000 elements"),
    ({i: 0 for i in range(values.MAX_ITEMS + 1)}, "a dict of more than 5000 elements"),
    ([1, 2.0, "a", None, True, np.ones(2), {"a": torch.ones(2)}, 2**62, np.str_("b")], None),
])
def test_it_is_known_what_of_a_value_is_not_described(value, what):
    assert values.undescribed(describe(value)) == what


@pytest.mark.parametrize("value", [[1, 2.0], {"a": [1]}, np.ones(2), {1}, "a", None])
def test_a_value_is_sent_whole_after_its_form_was_asked_for(value):
    described = describe(value)
    before = values.to_tree(described)
    assert described.form is None or described.form
    assert str(values.to_tree(described)) == str(before)


def test_gradients_are_left_out_with_their_operations_unless_they_alone_are_wrong():
    specs = {"result": OutputSpec(), "gradient of x": OutputSpec(atol_of_max=1e-3)}
    right = {name: describe(torch.ones(2)) for name in specs}
    wrong = {name: describe(torch.zeros(2)) for name in specs}
    ops = (Name("f", 0), Output("result", 0), Name("g", 1), Output("gradient of x", 1))
    record = RecordedCheck(ops, Reply(right), specs, len(ops))
    error = CapturedError("raised", "RuntimeError", "no gradient", at=2)
    for reply in (Reply(wrong), Reply(wrong, error), Reply({}, replace(error, at=1))):
        shorter = compare.without_gradients(record, reply)
        assert list(shorter.specs) == ["result"] and shorter.ops == ops[:2] and shorter.base == 2
    for reply in (Reply({**right, "gradient of x": wrong["result"]}), Reply({"result": right["result"]}, error)):
        assert compare.without_gradients(record, reply) is record
    only = RecordedCheck(ops, Reply(right), {"gradient of x": specs["gradient of x"]}, len(ops))
    assert compare.without_gradients(only, Reply(wrong)) is only


def test_a_check_is_tried_as_far_as_the_first_output_that_is_wrong():
    specs = {"a": OutputSpec(), "b": OutputSpec(), "c": OutputSpec()}
    right = {name: describe(1.0) for name in specs}
    ops = tuple(Output(name, at) for at, name in enumerate(specs))
    record = RecordedCheck(ops, Reply(right), specs, len(ops))
    for wrong, names in (("a", "a"), ("b", "ab"), ("c", "abc")):
        shorter = compare.as_far_as_wrong(record, Reply({**right, wrong: describe(2.0)}))
        assert "".join(shorter.specs) == names and shorter.ops == ops[:len(names)]
    assert compare.as_far_as_wrong(record, Reply({"a": right["a"]})).specs.keys() == {"a", "b"}  # one is missing
    assert compare.as_far_as_wrong(record, Reply(right)) is record


@pytest.mark.parametrize("want, have", [(math.inf, -math.inf), (math.nan, 1.0), (1.7e308, -1.7e308)])
def test_numbers_of_any_size_are_compared_without_a_warning(want, have):
    rows = [describe(np.array([number, math.inf])) for number in (want, have)]
    for pair in (rows, rows[::-1]):
        assert compare.wrong_values(*pair, OutputSpec()).tolist() == [True, False]
