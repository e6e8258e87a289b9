"""Messages at their bounds: the largest, deepest and oddest that is read, and one step beyond, each with its reason."""

import json
import struct

import numpy as np
import pytest

from autograder.runtime import wire
from autograder.runtime.wire import MAX_BYTES, MAX_DEPTH, WireError


def nested(depth, leaf=None, kind=list):
    """A tree so deep."""
    for _ in range(depth):
        leaf = [leaf] if kind is list else {"x": leaf}
    return leaf


def message(body, arrays=(), data=b"", length=None):
    """A message with this header, as anybody may write it."""
    header = json.dumps({"body": body, "arrays": list(arrays)}).encode()
    return b"TPW1" + struct.pack("<I", len(header) if length is None else length) + header + data


def reason(data, **bounds):
    with pytest.raises(WireError) as refused:
        wire.unpack(data, **bounds)
    return str(refused.value)


def test_the_bounds():
    assert (MAX_BYTES, MAX_DEPTH, wire.MAX_ARRAYS) == (64 * 2**20, 24, 100_000)


@pytest.mark.parametrize("kind", [list, dict])
def test_so_deep_is_a_message_and_no_deeper(kind):
    deepest, deeper = nested(MAX_DEPTH, kind=kind), nested(MAX_DEPTH + 1, kind=kind)
    assert wire.unpack(wire.pack(deepest)) == wire.unpack(message(deepest)) == deepest
    with pytest.raises(WireError, match="^nested more than 24 deep$"):
        wire.pack(deeper)
    assert reason(message(deeper)) == "nested more than 24 deep"


def test_arrays_may_stand_as_deep_as_anything():
    deepest = nested(MAX_DEPTH, np.arange(3))
    found = wire.unpack(wire.pack(deepest))
    for _ in range(MAX_DEPTH):
        (found,) = found
    assert found.tolist() == [0, 1, 2] and found.flags.writeable


def test_so_long_is_a_message_and_no_longer(monkeypatch):
    data = wire.pack([1, 2])
    monkeypatch.setattr(wire, "MAX_BYTES", len(data))
    assert wire.unpack(data) == [1, 2]
    monkeypatch.setattr(wire, "MAX_BYTES", len(data) - 1)
    assert reason(data) == f"a message of {len(data)} bytes; at most {len(data) - 1} are read"


def test_a_header_has_a_bound_of_its_own_and_so_has_the_number_of_arrays():
    data = wire.pack([np.arange(1000), "text"])
    length = int.from_bytes(data[4:8], "little")
    assert wire.unpack(data, max_header=length)[1] == "text"
    assert reason(data, max_header=length - 1) == f"a header of {length} bytes; at most {length - 1} are read"
    assert wire.unpack(message(1, [["bool", [0]]] * wire.MAX_ARRAYS)) == 1
    assert reason(message(1, [["bool", [0]]] * (wire.MAX_ARRAYS + 1))) == "no list of arrays, or too many of them"
    assert reason(message(1)[:-3] + b"{}}") == "no list of arrays, or too many of them"


@pytest.mark.parametrize("data", [b"", b"TPW1", b"TPW1\0\0\0", b"TPW2\0\0\0\0", b"XXXXXXXXXXXX"])
def test_what_does_not_begin_like_a_message_is_none(data):
    assert reason(data) == "not a message"


def test_a_header_that_is_empty_or_cut_short():
    assert reason(b"TPW1\0\0\0\0") == "not a message: JSONDecodeError"
    assert reason(b"TPW1\1\0\0\0") == reason(message(None, length=10**6)) == "the header is cut short"
    whole = message(None)
    assert wire.unpack(whole) is None and reason(whole[:-1]) == "the header is cut short"


def test_bytes_that_are_left_over_or_missing():
    array = ["int8", [3]]
    assert wire.unpack(message({"$array": 0}, [array], b"\1\2\3")).tolist() == [1, 2, 3]
    for data in (message({"$array": 0}, [array], b"\1\2\3\4"), message(1, data=b"x")):
        assert reason(data) == "bytes are left over"
    assert reason(message({"$array": 0}, [array], b"\1\2")) == "an array is cut short"
    assert reason(message({"$array": 1}, [array, ["int64", [1]]], bytes(10))) == "an array is cut short"
    both = wire.unpack(message([{"$array": 1}, {"$array": 0}], [array, ["int16", [1]]], b"\1\2\3\4\0"))
    assert [one.tolist() for one in both] == [[4], [1, 2, 3]]


@pytest.mark.parametrize("dtype", ["object", "str", "U4", "int", "float128", "datetime64", 5, None, ["int8"], {}])
def test_arrays_of_other_types_are_refused(dtype):
    assert reason(message(1, [[dtype, [0]]])) == "an array of an unknown type"


@pytest.mark.parametrize("shape", [
    3, None, "3", {"3": 1}, [-1], [1.0], [True], ["1"], [None], [MAX_BYTES + 1], [0] * 9])
def test_impossible_shapes_are_refused(shape):
    assert reason(message(1, [["int8", shape]])) == "an array of an impossible shape"


@pytest.mark.parametrize("shape", [[], [0], [0, MAX_BYTES], [0] * 8, [1] * 8])
def test_shapes_of_eight_axes_and_of_none_are_read(shape):
    size = int(np.prod(shape))
    assert wire.unpack(message({"$array": 0}, [["int8", shape]], bytes(size))).shape == tuple(shape)


@pytest.mark.parametrize("index", [1, -1, True, 0.0, "0", None, [0]])
def test_an_array_that_is_not_there_is_refused(index):
    assert reason(message({"$array": index}, [["int8", [1]]], b"\1")) == "an array that is not there"
    assert reason(message({"$array": 0})) == "an array that is not there"


def test_any_byte_is_a_boolean():
    found = wire.unpack(message({"$array": 0}, [["bool", [3]]], b"\0\1\7"))
    assert found.dtype == bool and found.tolist() == [False, True, True] and found.view("uint8").tolist() == [0, 1, 1]


def test_arrays_travel_in_the_order_of_c():
    array = np.arange(6, dtype="int16").reshape(2, 3)
    for one in (array.T, np.asfortranarray(array), array[:, ::2]):
        assert wire.unpack(wire.pack(one)).tolist() == one.tolist()


def test_tuples_arrive_as_lists_and_scalars_of_numpy_do_not_travel():
    assert wire.unpack(wire.pack((1, (2.5, "a", True, None)))) == [1, [2.5, "a", True, None]]
    for value in (np.float64(1), np.int8(1), np.bool_(True)):
        with pytest.raises(WireError):
            wire.pack(value)


def test_a_dict_whose_keys_cannot_travel_is_refused_whatever_else_is_in_it():
    for tree in ({"a": 1, 2: 3}, {2: 3, "a": 1}, {"$array": 1, "a": 2}):
        with pytest.raises(WireError, match="the keys of a message are strings"):
            wire.pack(tree)
