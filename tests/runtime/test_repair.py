"""Places where one edit makes all checks pass: found, verified on every check, and within bounds."""

import os
import sys
from dataclasses import replace
from itertools import chain

import pytest
import torch

from autograder.judging.judge import grade_exercise, records_of
from autograder.model.faults import Variant
from autograder.model.oracle import load_oracle
from autograder.runtime import compare
from autograder.runtime.difference import Difference
from autograder.runtime.findings import CheckResult
from autograder.runtime.locate import repair
from autograder.runtime.locate.deadline import Deadline
from autograder.runtime.locate.edits import Edit
from autograder.runtime.locate.repair import RepairSearch, reply_of_edited
from autograder.runtime.place import Place
from autograder.runtime.recorded import CapturedError, ErrorLocation, Reply
from autograder.runtime.syntax import segment
from conftest import TINY, TINY_COURSE

ENCODER = """
class EncoderRNN(nn.Module):
    def __init__(self, input_size, hidden_size, device):
        super().__init__()
        self.gru = nn.GRU(input_size, hidden_size).to(device)

    def forward(self, encoder_input, henc_init=None):
        {}
        return {}
"""
STATES = "henc_ts, henc_final = self.gru(encoder_input, henc_init)"


@pytest.fixture(autouse=True)
def no_haste(monkeypatch):
    """No test hangs on the speed of the machine."""
    monkeypatch.setattr(repair, "SHORTEST_SECONDS", 5.0)
    monkeypatch.setattr(repair, "EDIT_SECONDS", 20.0)


def repaired(results, text, records, names, seconds=60.0):
    """The place that is found, in so much time that no test hangs on the speed of the machine."""
    return RepairSearch(results, text, records, names, Deadline.after(seconds)).find_place()


def failed(exercise, text):
    """The results of an answer, and the records that it was judged by."""
    oracle = load_oracle(TINY_COURSE, TINY)
    records = records_of(oracle, exercise, "1")
    version = Variant(exercise, "wrong", source=text)
    replies = oracle.replay(version, list(chain.from_iterable(records)))
    return grade_exercise(oracle, exercise, records, replies).checks, records


def searched(exercise, text, seconds=60.0):
    """The place that is found for an answer, and the texts that were tried."""
    results, records = failed(exercise, text)
    tried_texts, attempt = [], repair.reply_of_edited
    with load_oracle(TINY_COURSE, TINY).without(exercise) as names, pytest.MonkeyPatch.context() as patch:
        patch.setattr(repair, "call_in_fork", lambda call, seconds: call())  # what a copy tries would not be seen
        patch.setattr(repair, "reply_of_edited",
                      lambda new, *rest, **named: tried_texts.append(new) or attempt(new, *rest, **named))
        return repaired(results, text, records, names, seconds), tried_texts


@pytest.mark.parametrize("exercise, text, place", [
    ("double", "def double(x):\n    return 3 * x", "return 3 * x"),
    ("double", "def double(x):\n    return x * x", "return x * x"),
    ("double", "def double(x):\n    return 3 * x\n\n\ndef show():\n    pass", "return 3 * x"),
    ("double", "def double(x):\n    return (x + x).detach()", "return (x + x).detach()"),
    ("encoder", ENCODER.format(STATES, "henc_final, henc_ts"), "return henc_final, henc_ts"),
    ("encoder", ENCODER.format(STATES.replace("henc_init", "None"), "henc_ts, henc_final"), None),
    ("encoder", ENCODER.format(STATES.replace("input, henc_init", "input, encoder_input"), "henc_ts, henc_final"),
     STATES.replace("input, henc_init", "input, encoder_input")),
    ("last", "def last(rows):\n    return double(rows[-2])", "return double(rows[-2])"),
])
def test_where_one_edit_is_enough_is_the_place(exercise, text, place):
    shown, _ = searched(exercise, text)
    assert (shown and (shown.kind, shown.text, segment(text, shown.span))) == (place and ("edit", place, place))


def test_an_answer_that_does_not_use_what_it_should_is_not_edited():
    """A change would only imitate the results of the stub."""
    for unused, expected in (((), True), (("double",), False)):
        result = CheckResult("", False, "", Difference("value", unused=unused))
        assert RepairSearch([result], "", [], {}, Deadline.after(60.0))._may_be_edited() is expected


@pytest.mark.parametrize(("edit", "expected"), [
    (Edit((2, 8, 2, 9), (2, 4, 2, 9), "", "edit"), "y = x"),
    (Edit((2, 4, 2, 9), (2, 4, 2, 9), "", "move"), "y = x"),
    (Edit((3, 4, 4, 14), (3, 4, 4, 14), "", "drop"), "for z in y: x += z"),
])
def test_of_an_edit_the_kind_and_the_statement_are_told(edit, expected, monkeypatch):
    monkeypatch.setattr(RepairSearch, "_edit", lambda *_: edit)
    monkeypatch.setattr(RepairSearch, "_may_be_edited", lambda _: True)
    monkeypatch.setattr(repair, "call_in_fork", lambda call, _: call())
    text = "def double(x):\n    y = x\n    for z in y:\n        x += z\n    return x"
    shown = repaired([], text, [], {})
    assert (shown.kind, shown.text) == (edit.kind, expected) and shown.span == edit.statement


@pytest.mark.parametrize("text", [
    "def double(x):\n    return 2 * x",
    "def double(x):\n    raise NotImplementedError()",
    "",
    "def duble(x):\n    return x",
])
def test_what_is_right_or_not_there_is_not_edited(text):
    assert searched("double", text) == (None, [])


def test_nothing_is_edited_where_the_place_is_in_another_cell():
    text = "def double(x):\n    return 3 * x"
    results, records = failed("double", text)
    with load_oracle(TINY_COURSE, TINY).without("double") as names:
        for cell in (0, 1):
            placed_results = [replace(result, place=Place("value", (2, 11, 2, 16), cell=cell)) for result in results]
            assert bool(repaired(placed_results, text, records, names)) is (cell == 0)


def test_an_edit_counts_only_if_every_check_passes():
    """Of the records all are asked, those of passed checks, too."""
    text = ENCODER.format("henc_ts, henc_final = self.gru(encoder_input, 0 * henc_init)", "henc_ts, henc_final")
    shown, tried_texts = searched("encoder", text)
    assert [result.passed for result in failed("encoder", text)[0]] == [False, False]
    assert "0 * henc_init" in shown.text, "henc_init + 0 would not do: states are asked for without it"
    records = list(chain.from_iterable(records_of(load_oracle(TINY_COURSE, TINY), "encoder", "1")))
    assert tried_texts.count(tried_texts[-1]) == len(records) + 1


def test_the_search_is_bounded_in_number_and_time(monkeypatch):
    text = "def double(x):\n    y = 3 * x + 5\n    return y * y"
    _, tried_texts = searched("double", text)
    assert len(set(tried_texts)) > 20
    monkeypatch.setattr(repair, "MAX_EDITS", 7)
    assert len(set(searched("double", text)[1]) - {text}) == 7
    assert not searched("double", text, 0.0)[1]
    results, records = failed("double", "def double(x):\n    return 3 * x")
    with load_oracle(TINY_COURSE, TINY).without("double") as names:
        assert not repaired(results, "def double(x):\n    return 3 * x", records, names, 0.0)


def test_an_edit_without_an_end_is_stopped_and_what_it_defines_is_taken_back(monkeypatch):
    monkeypatch.setattr(repair, "EDIT_SECONDS", 0.5)
    (record,) = records_of(load_oracle(TINY_COURSE, TINY), "double", "1")[0][:1]
    names = {"torch": torch, "double": lambda x: 2 * x}
    before = dict(names)
    reply = reply_of_edited("def double(x):\n    while True:\n        other = 1\n", record.ops, names)
    assert reply.error.type == "TimeLimitExceeded" and names == before
    for text in ("def double(x):\n    return y\n", "def double(:", "1 / 0"):
        assert compare.first_difference(record, reply_of_edited(text, record.ops, names)).error and names == before
    reply = reply_of_edited("def double(x):\n    if x is 1: pass\n    return x + x\n", record.ops, names)
    assert compare.first_difference(record, reply) is None, "and no warning of the compiler"


@pytest.mark.skipif(sys.platform != "linux", reason="a process is copied on Linux alone")
def test_in_a_notebook_an_edit_that_ends_the_process_ends_nothing(monkeypatch):
    oracle, text = load_oracle(TINY_COURSE, TINY), "def double(x):\n    y = x\n    return 3 * y"
    results, records = failed("double", text)
    with oracle.without("double") as names:
        before = dict(names)
        assert repaired(results, text, records, names) == Place("edit", (3, 4, 3, 16), text="return 3 * y")
        assert names == before
        with monkeypatch.context() as patch:
            patch.setattr(repair, "call_in_fork", lambda *_: 1 / 0)
            answers = [record.expected for record in chain.from_iterable(records)]
            right = grade_exercise(oracle, "double", records, answers).checks
            assert repaired(right, text, records, names) is None, "and nothing is copied for a right answer"
        monkeypatch.setattr(repair, "reply_of_edited", lambda *_, **named: os._exit(1))
        assert repaired(results, text, records, names) is None


@pytest.mark.parametrize(("places", "suspects", "expected"), [
    ([3], [2], [3]), ([3, 1], [2], [1, 3]), ([], [3, 2], [2, 3, 4]), ([], [], [4]), ([], [4], [4])])
def test_the_edits_begin_at_places_or_where_values_may_go_wrong_and_at_the_end(places, suspects, expected):
    results = [CheckResult("", False, "", Difference("value"), place=Place("value", (line, 0, line, 1)))
               for line in places] or [CheckResult("", False, "", Difference("value"))]
    search = RepairSearch(results, "a\nb\nc\nd", [], {}, Deadline.after(60.0), suspect_lines=suspects)
    assert search._starting_lines() == expected


def test_the_edits_begin_where_the_answer_raises_an_error():
    for origin, expected in (("cell", [3]), ("check", [2, 4])):
        error = CapturedError("raised", "ValueError", "no", ErrorLocation(3, "", ""), origin=origin)
        results = [CheckResult("", False, "", Difference("raised", error=error))]
        search = RepairSearch(results, "a\nb\nc\nd", [], {}, Deadline.after(60.0), suspect_lines=[2])
        assert search._starting_lines() == expected


@pytest.mark.parametrize(("text", "shown", "expected"), [
    ("for x in y:\n    x = x + z\n    z, x = f(x)\n    return x", "x", [1, 2, 3, 4]),
    ("for x in y:\n    x = x + z\n    z, x = f(x)\n    return x", "z", [3, 4]),
    ("for x in y:\n    x = x + z\n    z, x = f(x)\n    return x", "f(x)", [4]),
    ("def f(:\n\n\n", "x", [4]),
])
def test_the_edits_begin_where_a_variable_is_stored_that_is_wrong(text, shown, expected):
    results = [CheckResult("", False, "", Difference("value"), place=Place("value", (4, 0, 4, 1), text=shown))]
    assert RepairSearch(results, text, [], {}, Deadline.after(60.0))._starting_lines() == expected


def test_an_edited_loop_that_does_not_end_takes_little_more_time_than_the_answer(monkeypatch):
    """Each edit has a multiple of the time of the answer, within bounds."""
    (record,) = records_of(load_oracle(TINY_COURSE, TINY), "double", "1")[0][:1]
    limits = []
    monkeypatch.setattr(repair, "reply_of_edited",
                        lambda *_, seconds, **named: limits.append(seconds) or Reply({}, None))
    search = RepairSearch([], "", [], {}, Deadline.after(60.0))
    for seconds in (0.0, 2.0, 9.0):
        assert not search._passes_soon("", seconds, record)
    assert limits == pytest.approx([repair.SHORTEST_SECONDS, 2 * repair.EDIT_FACTOR, repair.EDIT_SECONDS])
