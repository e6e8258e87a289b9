"""The encoding of messages: everything that may travel comes back equal, and nothing else is accepted."""

import gzip
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from autograder.judging import submission
from autograder.runtime import wire

arrays = st.sampled_from(wire.DTYPES).flatmap(
    lambda name: hnp.arrays(np.dtype(name), hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)))
numbers = st.integers(-(2**53), 2**53) | st.floats(allow_nan=False)
leaves = st.none() | st.booleans() | numbers | st.text(max_size=20) | arrays
keys = st.text(max_size=8).filter(lambda key: key != "$array")
trees = st.recursive(leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
                     max_leaves=20)


def equal(a, b):
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(equal(a[key], b[key]) for key in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(equal, a, b))
    return type(a) is type(b) and a == b


@settings(max_examples=150)
@given(trees)
def test_what_is_packed_comes_back(tree):
    assert equal(tree, wire.unpack(wire.pack(tree)))


@given(arrays)
def test_an_array_of_the_other_byte_order_comes_back_in_ours(array):
    swapped = array.astype(array.dtype.newbyteorder("S"))
    assert equal(array, wire.unpack(wire.pack(swapped)))


@settings(max_examples=300)
@given(st.binary(max_size=300))
def test_bytes_are_a_message_or_an_error(data):
    try:
        wire.unpack(data)
    except wire.WireError:
        pass


@settings(max_examples=300)
@given(trees, st.data())
def test_a_damaged_message_is_a_message_or_an_error(tree, data):
    packed = bytearray(wire.pack(tree))
    for _ in range(data.draw(st.integers(1, 4))):
        packed[data.draw(st.integers(0, len(packed) - 1))] = data.draw(st.integers(0, 255))
    try:
        wire.unpack(bytes(packed[: data.draw(st.integers(0, len(packed)))]))
    except wire.WireError:
        pass


@pytest.mark.parametrize("value", [object(), {1: 2}, {"$array": 0}, np.array(["text"]), np.array([None], object),
                                   {1, 2}, b"bytes", 1j])
def test_what_cannot_travel_is_refused(value):
    with pytest.raises(wire.WireError):
        wire.pack(value)


json_leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10)
names = st.sampled_from(["cells", "source", "metadata", "nbgrader", "grade_id", "cell_type", "id", "x"])
json_values = st.recursive(
    json_leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=5), max_leaves=30)


@settings(max_examples=300)
@given(json_values)
def test_any_json_is_a_notebook_or_refused(value):
    try:
        cells = submission.parse(json.dumps({"cells": value}).encode())
    except submission.SubmissionError as refusal:
        assert "\n" not in str(refusal)
    else:
        assert all(isinstance(cell.source, str) for cell in cells)
        assert all(cell.grade_id is None or isinstance(cell.grade_id, str) for cell in cells)


@settings(max_examples=100)
@given(st.binary(max_size=400))
def test_any_bytes_are_a_notebook_or_refused(data):
    try:
        submission.parse(data)
    except submission.SubmissionError as refusal:
        assert "\n" not in str(refusal)


def test_a_file_holds_the_same_bytes_at_any_time_or_is_none():
    tree = {"a": [1, "b"]}
    whole = wire.compress(tree)
    assert wire.decompress(whole) == tree and whole[4:8] == bytes(4), "no time stands in it"
    wrong_data = bytearray(whole)
    wrong_data[12] ^= 0xFF
    for damaged in (b"", b"no gzip", whole[:-9], bytes(wrong_data), gzip.compress(b"no message")):
        with pytest.raises(wire.WireError):
            wire.decompress(damaged)
