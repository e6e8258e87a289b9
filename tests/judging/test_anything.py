"""Any bytes as a notebook, any bytes as an answer: a grade, a reason, and nothing else.

`fuzz.py` asks the same, guided by coverage, for as long as one likes.
"""

import json
import time

import numpy as np
import pytest
from anything import ANSWERED, SILENT, is_grade_and_reason, verdict_on
from hypothesis import given, settings
from hypothesis import strategies as st
from test_recorded import answers, errors, trees
from test_wire import json_values

from autograder.judging import judge
from autograder.judging.judge import Judge
from autograder.judging.submission import Submission
from autograder.runtime import wire
from conftest import TINY, TINY_COURSE


@settings(max_examples=60)
@given(st.binary(max_size=300) | json_values.map(lambda value: json.dumps({"cells": value}).encode())
       | st.integers(0, len(ANSWERED)).map(lambda end: ANSWERED[:end]))
def test_any_bytes_are_a_notebook_with_a_grade_and_a_reason(data):
    is_grade_and_reason(verdict_on(notebook=data))


@settings(max_examples=60)
@given(st.data())
def test_a_damaged_notebook_has_a_grade_and_a_reason(data):
    damaged = bytearray(ANSWERED)
    for _ in range(data.draw(st.integers(1, 5))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    is_grade_and_reason(verdict_on(notebook=bytes(damaged)))


def message(**fields):
    return wire.pack({"number": 1, "printed": "", "error": None, **fields})


@st.composite
def messages(draw):
    """One strategy with a short name: hypothesis warns of a long one when it tells where it failed."""
    return draw(st.binary(max_size=300) | trees.map(wire.pack)
                | st.builds(message, number=st.just(1) | trees, error=st.none() | errors | trees,
                            reply=answers | trees, printed=trees))


@settings(max_examples=150)
@given(messages())
def test_any_answer_is_judged_with_a_grade_and_a_reason(says):
    is_grade_and_reason(verdict_on(says=says))


def replied(**fields):
    reply = {"outputs": {}, "error": None, "mutating_ops": [], "forbidden_calls": [], "changed_state": [], **fields}
    return message(reply=reply)


@pytest.mark.parametrize("number", [np.ones(2), True, 1.0, [1], None])
def test_a_reply_whose_number_is_no_number_is_no_reply(number):
    verdict = verdict_on(says=message(number=number, reply=wire.unpack(SILENT)["reply"]))
    is_grade_and_reason(verdict)
    assert "something that is no reply" in str(verdict.notes)


def test_numbers_of_equal_hash_cost_nothing():
    """They fall into one place of a set, which takes the square of their number: they are not read."""
    one = 2**61 - 1
    started = time.process_time()
    is_grade_and_reason(verdict_on(says=replied(mutating_ops=[i * one for i in range(20_000)])))
    assert time.process_time() - started < 5


def test_one_array_that_is_told_of_many_times_costs_nothing():
    described = {"kind": "tensor", "dtype": "float32", "array": {"$array": 0}}
    body = {"number": 1, "printed": "", "error": None, "reply": {
        "outputs": {"doubled": {"kind": "list", "items": [described] * 5_000, "length": 5_000}},
        "error": None, "mutating_ops": [], "forbidden_calls": [], "changed_state": []}}
    text = json.dumps({"body": body, "arrays": [["float32", [1_000_000]]]}).encode()
    says = wire.MAGIC + len(text).to_bytes(4, "little") + text + np.ones(1_000_000, "float32").tobytes()
    started = time.process_time()
    verdict = verdict_on(says=says)
    is_grade_and_reason(verdict)
    assert verdict.exercises[0].outcome == "crashed"
    assert time.process_time() - started < 5


@pytest.mark.parametrize("fault", [ValueError("no"), RecursionError(), MemoryError()], ids=lambda e: type(e).__name__)
def test_a_fault_of_the_judge_is_no_points_and_a_reason(monkeypatch, fault):
    """The positive control: what the tests above would see if the judge failed."""
    def fails(*_):
        raise fault

    monkeypatch.setattr(judge, "_exercise", fails)
    verdict = verdict_on(says=SILENT)
    assert verdict.points == 0 and "the judge failed on it" in verdict.ungraded_reason
    with pytest.raises(AssertionError, match="the judge failed"):
        is_grade_and_reason(verdict)
    assert Judge(TINY_COURSE).judge(Submission(b"", TINY), "seed").ungraded_reason == "the file is empty"
