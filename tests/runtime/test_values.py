"""Values as plain data: what is described, what is cut, what is refused, and what comes back."""

import enum

import numpy as np
import pytest
import torch

from autograder.runtime import values, wire
from autograder.runtime.values import DescriptionError, ListValue, OtherValue, ScalarValue, describe, to_python


class Lies(list):
    """A list that says other things of itself."""

    def __len__(self):
        return 9

    def __getitem__(self, key):
        return "lie"

    def __iter__(self):
        return iter("lie")


class Number(int):
    def __int__(self):
        return 13

    def bit_length(self):
        return 1000


class Real(float):
    def __float__(self):
        return 13.0


class Text(str):
    def __getitem__(self, key):
        return "lie"


class Table(dict):
    def items(self):
        return [("lie", 1)]

    def __len__(self):
        return 9


class Color(enum.IntEnum):
    RED = 3


ALIKE = [None, True, False, 0, -(2**63) + 1, 2**63 - 1, 2.5, "", "a" * 9_999, [], [1, [2.0, ["a"]]],
         {"a": {1: None}, (1, 2): [3], None: True}]
OTHERWISE = [
    ((1, 2), [1, 2]), (Lies([1, 2]), [1, 2]), (Number(7), 7), (Real(2.5), 2.5), (Text("abc"), "abc"), (Color.RED, 3),
    (Table(a=1), {"a": 1}), (np.str_("abc"), "abc"), ("a" * 10_001, "a" * 10_000),
    (list(range(5001)), list(range(5000))), ({i: i for i in range(5001)}, {i: i for i in range(5000)}),
    ([[[[[[1]]]]]], [[[[[None]]]]]), ({1: [[[[{}]]]]}, {1: [[[[None]]]]}),
    ({(((((1,),),),),): 2}, {((((("other", "None"),),),),): 2}),
    (2**63, None), (-(2**64), None), (object(), None), (np.array(["a"]), None), (np.array([object()]), None)]


def sent(value):
    """A value as it arrives at the grader."""
    return values.Reader().read(wire.unpack(wire.pack(values.to_tree(describe(value)))))


@pytest.mark.parametrize("value, wanted", [*((value, value) for value in ALIKE), *OTHERWISE])
def test_a_value_arrives_as_it_is_described(value, wanted):
    for described in (describe(value), sent(value)):
        got = to_python(described)
        assert got == wanted and type(got) is type(wanted)


@pytest.mark.parametrize("dtype", values.DTYPES)
def test_arrays_keep_their_numbers_and_the_name_of_their_dtype(dtype, rng):
    tensor = torch.from_numpy(rng.normal(size=(2, 3)) * 5).to(getattr(torch, dtype))
    arrays = [tensor] if dtype == "bfloat16" else [tensor, tensor.numpy(), tensor.numpy()[0, 0]]
    for array, kind in zip(arrays, ("tensor", "array", "array"), strict=False):
        for got in (describe(array), sent(array)):
            assert (got.kind, got.dtype, got.form) == (kind, dtype, (kind, dtype, tuple(array.shape)))
            assert np.array_equal(got.array.astype(complex), np.asarray(torch.as_tensor(array).to(torch.complex128)))


def test_an_array_is_described_as_it_was_then():
    for array in (torch.zeros(3), np.zeros(3)):
        described = describe(array)
        array += 1
        assert not described.array.any()


@pytest.mark.parametrize("array, wanted", [
    (np.array([1, 2], np.uint16), "int64"), (np.array([2**32 - 1], np.uint32), "int64"),
    (np.array([2**63 - 1], np.uint64), "int64"), (np.array([2**63], np.uint64), None),
    (np.array([1.5], np.longdouble), "float64"), (np.array([1j], np.clongdouble), "complex128"),
    (np.array([True]), "bool"), (np.array(["2020"], "datetime64[Y]"), None), (np.array([(1,)], "i4,"), None)])
def test_numbers_of_other_widths_are_widened_or_named(array, wanted):
    described = describe(array)
    if wanted is None:
        assert isinstance(described, OtherValue) and described.type == f"numpy array of {array.dtype}"
    else:
        assert described.dtype == described.array.dtype.name == wanted and np.array_equal(described.array, array)


@pytest.mark.parametrize("make", [lambda n: torch.empty(1).expand(n), lambda n: np.broadcast_to(np.int8(1), n)])
def test_an_array_of_too_many_numbers_is_named(make):
    assert describe(make(values.MAX_ELEMENTS)).kind in ("tensor", "array")
    assert describe(make(values.MAX_ELEMENTS + 1)).kind == "other"
    assert "2000001" in describe(torch.empty(1).expand(values.MAX_ELEMENTS + 1)).type


@pytest.mark.parametrize("make", [torch.zeros, np.zeros])
def test_an_array_of_any_shape_is_one_that_can_be_sent_or_is_told_by_its_type(make):
    most = values.MAX_ELEMENTS
    for shape, kind in (((1,) * 8, None), ((1,) * 9, "other"), ((0, most), None), ((most, 0), None),
                        ((0, most + 1), "other"), ((0,) * 9, "other"), ((), None), ((0,), None)):
        described = describe(make(shape))
        assert (described.kind == "other") == (kind == "other"), shape
        received = wire.unpack(wire.pack(values.to_tree(described)))
        assert values.Reader().read(received).kind == described.kind
    assert describe(torch.zeros((1,) * 9)).type == f"tensor of shape {(1,) * 9}"


def test_what_cannot_be_read_is_named():
    class Broken:
        @property
        def __class__(self):
            raise KeyError

    class Leaves(list):
        @property
        def __class__(self):
            raise SystemExit

    assert describe(Broken()) and describe(Broken()).type == "Broken that cannot be read (KeyError)"
    assert describe([Leaves(), 1]).items[1].value == 1 and describe(torch.float32).type == "dtype"
    assert describe(torch.empty(1, dtype=torch.float8_e5m2)).type == "tensor of float8_e5m2"


@pytest.mark.parametrize("value, form", [
    (None, "none"), (1, "int"), ([1, 2.0], ("list", ("int", "float"))), ([[True]], ("list", (("list", ("bool",)),))),
    ([1, object()], None), ([1, {}], None), ({}, None), (object(), None), (list(range(5001)), None)])
def test_values_of_one_form_may_replace_each_other(value, form):
    assert describe(value).form == form


@pytest.mark.parametrize("value, what", [
    (1, None), ("a" * 9_999, None), ("a" * 10_000, "a string of 10000 characters or more"), (object(), "an object"),
    ([1, [{2}]], "a set"), ({"a": [b""]}, "a bytes"), ({b"": 1}, "a bytes"), (list(range(5000)), None),
    (list(range(5001)), "a list of more than 5000 elements"), ([1, {2: 3}, np.ones(3)], None),
    ({i: i for i in range(5001)}, "a dict of more than 5000 elements")])
def test_what_is_not_described_is_named(value, what):
    assert values.undescribed(describe(value)) == what


def test_outputs_are_bounded_together():
    million = torch.zeros(1_000_000)
    outputs = {str(i): describe(million) for i in range(20)} | {"small": describe(1)}
    kinds = [value.kind for value in values.bounded_outputs(outputs).values()]
    assert kinds == ["tensor"] * 16 + ["other"] * 4 + ["int"], "four bytes each, of eight million times eight bytes"


@pytest.mark.parametrize("value, count", [
    ([0.0] * 4_999, 5_000), (["a" * 49] * 4_999, 5_000), (["a" * 50] * 4_999, 9_999), ([np.zeros(0)] * 4_999, 5_000),
    ([object()] * 4_999, 5_000), (dict.fromkeys(range(2_499)), 4_999)])
def test_values_are_counted_one_by_one(value, count):
    """Half of what a reader takes, because lists and dicts are in the message, too."""
    times, single = divmod(50_000, count)
    outputs = {str(i): describe(value) for i in range(times)} | {f"one {i}": describe(1) for i in range(single + 1)}
    *within, last = values.bounded_outputs(outputs).values()
    assert all(one.kind != "other" for one in within) and last.type == "int of too many values"


@pytest.mark.parametrize("tree, said", [
    (3, "not a description"), ({"kind": 3}, "no kind"), ({"kind": "set"}, "no kind"),
    ({"kind": np.zeros(2)}, "no kind"), ({"kind": "int", "value": 1.0}, "no int"),
    ({"kind": "int", "value": 2**63}, "too long a int"), ({"kind": "str", "value": "a" * 10_001}, "too long a str"),
    ({"kind": "int", "value": [1]}, "no scalar"), ({"kind": "none", "value": 0}, "no none"),
    ({"kind": "tensor", "array": [1]}, "no array"), ({"kind": "array", "array": np.array(["a"])}, "no array"),
    ({"kind": "array", "array": np.zeros(2_000_001, np.int8)}, "no array"),
    ({"kind": "list", "items": [], "length": 1}, "another number"),
    ({"kind": "list", "items": (), "length": 0}, "another"),
    ({"kind": "list", "items": [], "length": -1}, "no length"),
    ({"kind": "list", "items": [], "length": 2**63}, "no length"),
    ({"kind": "list", "items": [], "length": False}, "no length"),
    ({"kind": "dict", "keys": [], "items": [{"kind": "none"}], "length": 0}, "another number")])
def test_what_is_no_description_is_refused(tree, said):
    with pytest.raises(DescriptionError, match=said):
        values.Reader().read(tree)


def test_descriptions_of_one_message_are_bounded_together():
    reader = values.Reader()
    array = {"kind": "array", "array": np.zeros(2_000_000, np.int8), "dtype": "int16"}
    assert [reader.read(array).dtype for _ in range(4)] == ["int16"] * 4
    with pytest.raises(DescriptionError, match="more numbers"):
        reader.read({**array, "array": np.zeros(1)})
    reader = values.Reader()
    row = {"kind": "list", "items": [{"kind": "none"}] * 4_999, "length": 4_999}
    assert all(reader.read(row) for _ in range(20)) and reader.values == 100_000
    with pytest.raises(DescriptionError, match="more than"):
        reader.read({"kind": "none"})
    deep = {"kind": "none"}
    for _ in range(5):
        deep = {"kind": "list", "items": [deep], "length": 1}
    assert values.Reader().read(deep)
    with pytest.raises(DescriptionError, match="not a description"):
        values.Reader().read({"kind": "list", "items": [deep], "length": 1})


def test_what_arrives_can_be_written():
    read = values.Reader().read
    assert read({"kind": "str", "value": "a\ud800"}).value == "a?"
    assert (read({"kind": "other", "type": "a\nb"}).type, read({"kind": "other"}).type) == ("ab", "thing")
    array = np.zeros(1)
    for dtype in ("void", 3, None):
        assert read({"kind": "array", "array": array, "dtype": dtype}).dtype == "float64"


@pytest.mark.parametrize("value, wanted", [
    ([1, [2, ["a"]]], [1, 2, "a"]), (np.array([[1, 2], [3, 4]]), [1, 2, 3, 4]), (5, [5]), ([], []), (object(), [None])])
def test_elements_are_those_of_all_parts(value, wanted):
    assert list(values.elements(describe(value))) == wanted


def test_keys_are_told_apart():
    numbers = ListValue((ScalarValue(1), describe(np.array(2))), 2)
    assert values.key_of(numbers) == (1, 2) and values.key_of(describe(np.array([1]))) == ("array", "array([1])")
    assert values.key_of(describe(object())) == ("other", "None")
