"""Which checks a constant would pass, decided on few instances where they are clear and on more where they are not."""

import contextlib
import sys
from types import ModuleType

import numpy as np
import pytest
import torch

from autograder.metadata import Axes, CourseMetadata
from autograder.model import recording
from autograder.model.recording import FEW_INSTANCES, MANY_INSTANCES, Recorder
from autograder.model.trace import Check, CheckError
from autograder.runtime.recorded import RELATIONS, OutputSpec, RecordedCheck, Reply
from autograder.runtime.values import describe, to_python

OTHERS = list(range(100, 200))  # answers that come once each


@pytest.mark.parametrize("answers, constant, instances", [
    (OTHERS, False, FEW_INSTANCES),
    ([1] * MANY_INSTANCES, True, FEW_INSTANCES),
    ([1, 1, 2, 2, *OTHERS], False, FEW_INSTANCES),
    ([1, 1, 1, 1, *OTHERS], False, MANY_INSTANCES),  # four of six by luck
    ([1, 1, 1, 1, 1, 2] + [1, *OTHERS[:2]] * 2 + OTHERS, False, MANY_INSTANCES),
    ([2, 1, 3, 1, 4, 1] + [1] * MANY_INSTANCES, True, MANY_INSTANCES),
    ([1, 2, 3] * 2 + [1, 2, 3] * MANY_INSTANCES, False, FEW_INSTANCES),
    ([1, 1, 1, 2, 3, 4] + [1] * 9 + OTHERS, False, MANY_INSTANCES),  # half of the instances are not most of them
    ([1, 1, 1, 2, 3, 4] + [1] * 10 + OTHERS, True, MANY_INSTANCES),
])
def test_a_check_is_constant_where_one_answer_is_right_on_most_instances(monkeypatch, answers, constant, instances):
    asked = []

    def plain(recorder, check, seed):
        asked.append(seed)
        return RecordedCheck((), Reply({"y": describe(answers[len(asked) - 1])}), {"y": OutputSpec()}, 0)

    monkeypatch.setattr(Recorder, "record_without_relations", plain)
    recorder, check = Recorder({}, CourseMetadata()), Check("double", "values", lambda t: None, 1)
    assert [recorder.is_constant(check) for _ in range(2)] == [constant] * 2
    assert len(asked) == len(set(asked)) == instances


def test_without_torch_only_packages_can_be_forbidden(monkeypatch):
    monkeypatch.setitem(sys.modules, "no_file", ModuleType("no_file"))

    def program(t):
        """Seen."""
        t.forbid("softmax", "loop", "json", "no_file", *"bdface")
        t.output("seen", t["double"](t.normal(3)))

    recorder = Recorder({"double": lambda x: 2 * x}, CourseMetadata(arrays="numpy"))
    loop, note = recorder.notes(Check("double", "seen", program, 1))
    assert "double/seen: it forbids loops, which are known by calls of torch: here none is seen" in loop
    assert "double/seen: it forbids a, b, c, d, e, f, no_file, softmax: no package that is installed has " in note


def accepts_all(got):
    return None


@pytest.mark.parametrize("made, holds", [({1, 2}, None), ([1, {2}], None), ({1, 2}, accepts_all)])
def test_an_output_that_nothing_can_be_compared_with_is_refused(made, holds):
    def program(t):
        t.output("seen", t["made"](), predicate=holds)

    recorder = Recorder({"made": lambda: made}, CourseMetadata())
    if holds:
        assert recorder.record_without_relations(Check("made", "seen", program, 1), 1).has_predicate
    else:
        with pytest.raises(CheckError, match="seen has a set in it on the solution"):
            recorder.record_without_relations(Check("made", "seen", program, 1), 1)


def recorder_of(axes="B", **names):
    return Recorder(names, CourseMetadata(arrays="numpy", axes=Axes(batch=tuple(axes))))


def recorded(program, seed=1, skip=(), **names):
    """What a program records on these names, with the check itself first."""
    return recorder_of(**names).record(Check("f", "f", program, 1, dict.fromkeys(skip, "for this test")), seed)


def asked_of(record):
    return {spec.relation for spec in record.specs.values()}


def outputs_of(record):
    return {name: to_python(value) for name, value in record.expected.outputs.items()}


def called(t):
    t.output("y", t["f"](t.normal(*t.sizes("B D"))))


AGAIN, OTHERS_ASKED = "y when called again", "y with other inputs"


def test_other_inputs_have_another_batch_size_and_the_other_sizes():
    shapes = [[outputs_of(recorded(called, seed, f=np.exp)[0])[name].shape for name in ("y", AGAIN, OTHERS_ASKED)]
              for seed in range(5)]
    assert all(own == again and own[1] == other[1] for own, again, other in shapes)
    assert any(own[0] != other[0] for own, _, other in shapes)


class Keeps:
    """A network that keeps something of its first input, and answers no input without it."""

    def __init__(self, what):
        self.what, self.kept = what, []

    def __call__(self, x):
        self.kept.append(self.what(x))
        assert self.kept[-1] == self.kept[0]
        return 2 * x


@pytest.mark.parametrize("what, relations", [(len, {"repeated call", "other inputs"}), (np.sum, {"repeated call"})])
def test_a_relation_that_the_solution_breaks_is_left_out(what, relations):
    """Other inputs are of the same batch size where the solution takes no other."""
    def program(t):
        t.output("y", t["Keeps"]()(t.normal(*t.sizes("B D"))))

    for seed in range(5):
        record = recorded(program, seed, Keeps=lambda: Keeps(what))[0]
        assert asked_of(record) == {None, *relations}
        assert len({value.shape for value in outputs_of(record).values()}) == 1


def test_other_inputs_keep_another_batch_size_where_another_relation_is_left_out():
    class Refuses(Keeps):
        """Takes no input twice."""

        def __call__(self, x):
            assert not any(np.array_equal(x, kept) for kept in self.kept)
            self.kept.append(x)
            return 2 * x

    def program(t):
        t.output("y", t["Refuses"]()(t.normal(*t.sizes("B D"))))

    records = [recorded(program, seed, Refuses=lambda: Refuses(len))[0] for seed in range(5)]
    assert all(asked_of(record) == {None, "other inputs"} for record in records)
    assert any(len({value.shape for value in outputs_of(record).values()}) == 2 for record in records)


def test_a_solution_that_answers_no_second_time_is_asked_for_no_relation():
    def once(x):
        seen.append(x)
        assert len(seen) == 1
        return x

    seen = []
    assert asked_of(recorded(called, f=once)[0]) == {None}


def test_relations_that_are_skipped_are_not_asked():
    skipped = ("repeated call", "other inputs", "one sequence")
    for skip in skipped:
        records = recorded(called, skip=[skip], f=np.exp)
        assert set(skipped) - asked_of(records[0]) - {record.relation for record in records} == {skip}


def test_other_inputs_are_asked_where_the_same_calls_are_made():
    def so_often(t):
        y = t.normal(2)
        for _ in range(t.integer(1, 4)):
            y = t["f"](y)
        t.output("y", y)

    def one_of_two(t):
        t.output("y", t[t.choice("fg")](t.normal(2)))

    for program in (so_often, one_of_two):
        asked = [OTHERS_ASKED in recorded(program, seed, f=np.tanh, g=np.exp)[0].specs for seed in range(20)]
        assert set(asked) == {True, False}


@pytest.mark.parametrize("nudge, asked", [(1e-3, True), (0.2, False)])
def test_an_answer_is_clear_that_moves_no_more_than_the_weights(monkeypatch, nudge, asked):
    def two_outputs(t):
        net, x = t["Net"](30, 20), t.normal(4, 3)
        t.randomise_weights(net)
        t.output("y", net.weight)
        t.output("x", t["f"](x))

    monkeypatch.setattr(recording, "NUDGE", nudge)
    recorder = Recorder({"Net": torch.nn.Linear, "f": torch.exp}, CourseMetadata())
    specs = recorder.record(Check("f", "f", two_outputs, 1), 1)[0].specs
    assert [name in specs for name in (OTHERS_ASKED, AGAIN, "x when called again")] == [asked, True, True]


def half(x):
    return x / 2


def plus(x):
    return x + x


def test_stubs_are_needed_that_answer_differently():
    def with_stubs(t):
        t.stub("double", half)
        t.stub("twice", plus)
        t.output("y", t["f"](t.normal(3)))

    names = {"double": lambda x: 2 * x, "twice": lambda x: 2 * x}
    names["f"] = lambda x: names["double"](x) + names["twice"](x)
    recorder = Recorder(names, CourseMetadata(arrays="numpy"))
    assert recorder.record(Check("f", "f", with_stubs, 1), 1)[0].needed == ("double",)


def test_equal_sizes_are_the_largest():
    first, *others = recorded(called, f=np.exp)
    (equal,) = (record for record in others if record.relation == "equal sizes")
    assert outputs_of(equal)["y"].shape == (max(outputs_of(first)["y"].shape),) * 2


def test_axes_that_nothing_tries_at_size_one_are_noted():
    def program(t):
        t.output("y", t["f"](t.normal(*t.sizes("N D"))))

    def notes(axes, *skip):
        return list(recorder_of(axes, f=np.exp).notes(Check("f", "f", program, 1, dict.fromkeys(skip, "here"))))

    for axes, now in (("BT", "B, T"), ("", "none")):
        (note,) = notes(axes)
        assert "f/f: no relation tries its axes (N, D) at size one: if one of them" in note and f"now {now})" in note
    assert notes("B", "one sequence") == notes("N") == []


@pytest.mark.parametrize("error, said", [(ValueError("a\nb"), "ValueError: a"), (CheckError("a\nb"), "a b")])
def test_a_check_that_cannot_be_recorded_says_why(error, said):
    def fails(t):
        t.assume(t.integer(0, 3) == 0)
        raise error

    for seed in range(3):
        with pytest.raises(CheckError, match=rf"test_recording.py:\d+: f/f: {said}$"):
            recorded(fails, seed)


@pytest.mark.parametrize("factor, right", [(1 + 5e-4, True), (1.01, False)])
def test_what_sums_to_one_does_so_on_the_solution(factor, right):
    def program(t):
        t.output("y", t["f"](t.uniform(*t.sizes("B D"))), axes="B D", sums_to_one="D")

    with contextlib.nullcontext() if right else pytest.raises(CheckError, match="y does not sum to one over D on the"):
        assert recorded(program, skip=RELATIONS, f=lambda x: factor * x / x.sum(1, keepdims=True))
