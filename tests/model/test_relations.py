"""Relations: each is broken by an answer whose values are right, is named so, and can be switched off by name."""

import numpy as np
import pytest
import torch

from autograder.judging.judge import grade_exercise, records_of
from autograder.metadata import CourseMetadata
from autograder.model import recording
from autograder.model.errors import SourceError
from autograder.model.faults import Variant
from autograder.model.oracle import Oracle
from autograder.model.recording import Recorder
from autograder.model.source import load_source
from autograder.model.trace import Check, check
from autograder.runtime import compare
from autograder.runtime.difference import Difference
from autograder.runtime.operations import Call, Gradients, SetWeights
from autograder.runtime.recorded import RELATIONS, OutputSpec
from autograder.runtime.replay import replay
from autograder.runtime.values import describe, to_python
from conftest import TINY

DOUBLE = "return 2 * x"
GRU = "henc_ts, henc_final = self.gru(encoder_input, henc_init)"
RETURN = "return henc_ts, henc_final"

# name → (exercise, replacement, the relation that is broken, or what is changed)
BROKEN = {
    "kept on the function": ("double", (DOUBLE, "kept = double.__dict__.setdefault(len(x), 2 * x)\n    return kept"),
                             "other inputs"),
    "kept on the network": ("encoder", (GRU, "if not hasattr(self, 'kept'):\n"
                            "            self.kept = self.gru(encoder_input, henc_init)\n"
                            "        henc_ts, henc_final = self.kept"), "other inputs"),
    "a list that grows": ("double", ("def double(x):", "seen = []\ndef double(x):\n    seen.append(x)\n"
                                     "    x = x + (len(seen) > 1)"), "repeated call"),
    "detached": ("encoder", (RETURN, "return henc_ts.detach(), henc_final"), "gradient"),
    "without gradient": ("encoder", (GRU, f"with torch.no_grad():\n            {GRU}"), "gradient"),
    "another value in evaluation": ("encoder", (RETURN, "return henc_ts * (1 if self.training else 2), henc_final"),
                                    "evaluation"),
    "squeezed": ("encoder", (RETURN, "return henc_ts.squeeze(1), henc_final.squeeze(1)"), "one sequence"),
    "the last but one": ("encoder", (RETURN, "return henc_ts[-max(len(henc_ts), 2):] if len(henc_ts) > 1 else "
                                     "henc_ts[1:], henc_final"), "one timestep"),
    "transposed where it is square": ("encoder", (RETURN, "T, B = henc_ts.shape[:2]\n        return "
                                                  "henc_ts.mT if T == B == henc_ts.shape[2] else henc_ts, henc_final"),
                                      "equal sizes"),
    "gradients off": ("double", (DOUBLE, "torch.set_grad_enabled(False)\n    return 2 * x"), "set_grad_enabled"),
    "another default dtype": ("last", ("return", "torch.set_default_dtype(torch.float64)\n    return"),
                              "default dtype"),
    "seeded": ("last", ("return", "torch.manual_seed(0)\n    return"), "seed of torch's generator"),
    "seeded in Python": ("last", ("return", "import random\n    random.seed(0)\n    return"),
                         "state of Python's generator"),
    "drawn from torch": ("encoder", (GRU, f"torch.rand(3)\n        {GRU}"), "state of torch's generator"),
    "drawn from numpy": ("double", (DOUBLE, "import numpy\n    numpy.random.rand()\n    return 2 * x"),
                         "state of numpy's generator"),
    "mode changed": ("encoder", (GRU, f"self.eval()\n        {GRU}"), "mode of the network"),
    "wider numbers": ("last", ("double(rows[-1])", "double(rows[-1]).double()"), "dtype"),
}


# Loops, packages and built-ins, wherever they are hidden; `x` is (B, D).
ROWS = "torch.stack([2 * row for row in x])"
HIDDEN = {
    "a loop in a nested function": ("loop", f"def rows():\n        return {ROWS}\n    return rows()"),
    "a loop in a lambda": ("loop", f"return (lambda: {ROWS})()"),
    "a map": ("loop", "return torch.stack(list(map(lambda row: 2 * row, x)))"),
    "a recursion": ("loop", "return torch.cat([2 * x[:1], double(x[1:])]) if len(x) > 1 else 2 * x"),
    "an import in a function": ("sacrebleu", "import sacrebleu\n    sacrebleu.corpus_bleu(['a'], [['a']])\n"
                                "    return 2 * x"),
    "an import of a part": ("sacrebleu", "from sacrebleu.metrics import BLEU\n    BLEU()\n    return 2 * x"),
    "a built-in in a lambda": ("relu", "return (lambda: 2 * x + 0 * torch.relu(x))()"),
    "a built-in in a comprehension": ("relu", "return 2 * x + sum(0 * nn.functional.relu(x) for _ in range(2))"),
}


@pytest.fixture
def oracle(tiny) -> Oracle:
    """The tiny solution, executed for this test alone."""
    return Oracle(load_source(tiny, TINY))


def result_of(oracle, version, seed):
    records = records_of(oracle, version.exercise, str(seed))
    replies = oracle.replay(version, [record for own in records for record in own])
    return grade_exercise(oracle, version.exercise, records, replies)


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_relation_is_seen_and_said(oracle, seed, name):
    exercise, replace, broken = BROKEN[name]
    result = result_of(oracle, Variant(exercise, name, replace=replace), seed)
    seen = [one.difference for one in result.checks if not one.passed]
    assert seen, "no check sees it"
    assert any(broken in (one.relation, one.kind) or any(broken in name for name in one.names) for one in seen), seen


@pytest.mark.parametrize("name", [name for name, (_, _, broken) in BROKEN.items() if broken in RELATIONS])
def test_without_relations_the_same_answer_would_pass(oracle, seed, name):
    """The positive control: the first check, asked as it stands, is content with every one of them."""
    exercise, replace, _ = BROKEN[name]
    record = records_of(oracle, exercise, str(seed))[0][0].without_relations
    (reply,) = oracle.replay(Variant(exercise, name, replace=replace), [record])
    assert compare.first_difference(record, reply) is None


def test_a_relation_is_switched_off_by_name_and_reason(oracle, seed):
    version = Variant("encoder", "squeezed", replace=BROKEN["squeezed"][1])
    assert result_of(oracle, version, seed).points < oracle.source.points("encoder")
    for one in oracle.checks_of("encoder"):
        one.skip_relations["one sequence"] = "for this test"
    try:
        assert result_of(oracle, version, seed).points == oracle.source.points("encoder")
    finally:
        for one in oracle.checks_of("encoder"):
            del one.skip_relations["one sequence"]


def test_a_relation_that_is_not_there_cannot_be_switched_off():
    with pytest.raises(SourceError, match=r"test_relations.py:\d+: there is no relation called gravity"):
        check("double", skip_relations={"gravity": "it is an encoder"})


def test_a_relation_that_the_solution_cannot_follow_is_not_asked(oracle, seed):
    """A check whose inputs need several sequences has no record with one."""

    @check("double")
    def several(t):
        """Rows that differ."""
        (B,) = t.sizes("B")
        x = t.normal(B, 2)
        t.assume(B > 1)
        t.output("doubled", t["double"](x))

    assert [record.relation for record in oracle.recorder.record(several.check, seed)] == [None]


def test_equal_sizes_are_those_that_the_solution_can_have(oracle, seed):
    """All axes where that can be; else those that course.toml declares."""

    @check("double")
    def more_columns(t):
        """Rows that are longer than the batch."""
        B, T, D = t.sizes("B T D")
        if D == B:
            raise ValueError("not for these sizes")
        t.output("doubled", t["double"](t.normal(B, T, D)), axes="B T D")

    (equal,) = [one for one in oracle.recorder.record(more_columns.check, seed) if one.relation == "equal sizes"]
    B, T, D = to_python(equal.expected.outputs["doubled"]).shape
    assert B == T != D


def test_a_record_depends_on_its_seed_alone(oracle):
    """Whatever was recorded before in the process, also where sizes of one are not found for some seeds."""

    @check("double")
    def seldom_clear(t):
        """One instance in a hundred."""
        t.assume(t.integer(0, 100) == 0)
        B, T = t.sizes("B T")
        t.output("doubled", t["double"](t.normal(B, T)))

    def relations_of(recorder, seed):
        return [record.relation for record in recorder.record(seldom_clear.check, seed)]

    fresh = [relations_of(Recorder(oracle.namespace, oracle.recorder.metadata), 7919 * seed) for seed in range(4)]
    assert [relations_of(oracle.recorder, 7919 * seed) for seed in range(4)] == fresh
    assert len(set(map(len, fresh))) > 1, "all sizes are found for each seed, or for none"


def test_other_inputs_near_a_tie_are_not_asked_about(oracle, seed, monkeypatch):
    """A check keeps its own instance away from ties; here the weights move so far that every instance is near one."""

    @check("encoder")
    def largest_unit(t):
        """Which unit is the largest."""
        T, B, V, H = t.sizes("T B V H")
        encoder = t["EncoderRNN"](V, H, t.device)
        t.randomise_weights(encoder)
        henc_ts, _ = t.unpack(encoder(t.normal(T, B, V)), 2)
        t.output("largest", henc_ts.argmax(-1), axes="T B")

    asked = []
    for nudge in (recording.NUDGE, 3.0):
        monkeypatch.setattr(recording, "NUDGE", nudge)
        (first, *_) = oracle.recorder.record(largest_unit.check, seed)
        asked.append({spec.relation for spec in first.specs.values()})
    assert asked[0] - asked[1] == {"other inputs"} and "repeated call" in asked[1]


def asked_on_two_sizes(*forbidden):
    @check("double")
    def two_sizes(t):
        """Short and long."""
        D, short, long = t.sizes("D short long")
        t.forbid(*forbidden)
        t.output("short", t["double"](t.normal(short, D)))
        t.output("long", t["double"](t.normal(long, D)))

    return two_sizes.check


def difference(oracle, one, lines, seed):
    record = oracle.recorder.record(one, seed)[0]
    (reply,) = oracle.replay(Variant("double", "this way", replace=(DOUBLE, lines)), [record])
    return compare.first_difference(record, reply)


@pytest.mark.parametrize("name", HIDDEN)
def test_the_way_is_seen_wherever_it_is_hidden(oracle, seed, name):
    forbidden, lines = HIDDEN[name]
    seen = difference(oracle, asked_on_two_sizes(forbidden), lines, seed)
    assert seen == (Difference("loop") if forbidden == "loop" else Difference("built-in", names=(forbidden,)))
    assert difference(oracle, asked_on_two_sizes("softmax"), lines, seed) is None, "allowed where it is not forbidden"


@pytest.mark.parametrize("lines", ["return torch.stack([x, x]).sum(0)", "return sum(x for _ in range(2))",
                                   "return torch.vmap(lambda row: 2 * row)(x)"])
def test_what_does_not_grow_with_the_inputs_is_no_loop(oracle, seed, lines):
    assert difference(oracle, asked_on_two_sizes("loop"), lines, seed) is None


def test_two_networks_of_one_class_have_gradients_of_their_own(oracle, seed):
    @check("encoder")
    def two_encoders(t):
        """One behind the other."""
        T, B, V = t.sizes("T B V")
        first, second = (t["EncoderRNN"](V, V, t.device) for _ in range(2))
        t.randomise_weights(first)
        t.randomise_weights(second)
        henc_ts, _ = t.unpack(first(t.normal(T, B, V)), 2)
        t.output("henc_ts", t.unpack(second(henc_ts), 2)[0])

    record = oracle.recorder.record(two_encoders.check, seed)[0]
    gradients = to_python(record.expected.outputs["gradient"])
    assert {f"EncoderRNN{number}.gru.weight_hh_l0" for number in ("", " (2)")} <= set(gradients)
    cut = Variant("encoder", "cut", replace=(GRU, "henc_ts, henc_final = self.gru(encoder_input.detach(), henc_init)"))
    (reply,) = oracle.replay(cut, [record])
    seen = compare.first_difference(record, reply)
    assert seen and seen.relation == "gradient"


@pytest.mark.parametrize("scale, off, right", [(1e-6, 0.0, True), (1e-6, 0.1, False), (1e6, 1e-6, True),
                                               (1e6, 0.1, False), (1.0, 0.1, False)])
def test_gradients_are_compared_by_their_size(scale, off, right):
    large = np.array([1.0, -2.0, 1e-9], dtype=np.float32) * np.float32(scale)
    nothing = np.array([1e-9, 0.0], dtype=np.float32) * np.float32(scale)  # rounding
    want, have = (describe({"x": torch.from_numpy(large * factor), "bias": torch.from_numpy(noise)})
                  for factor, noise in ((1, nothing), (1 + off, -nothing)))
    spec = OutputSpec(relation="gradient", rtol=2e-3, atol_of_max=1e-3)
    assert (compare.output_difference("gradient", want, have, spec) is None) == right


@pytest.mark.parametrize("rtol, expected", [(None, 2e-3), (1e-4, 2e-3), (1e-2, 1e-2)])
def test_gradients_are_compared_at_least_as_loosely_as_the_results(oracle, seed, rtol, expected):
    @check("double")
    def loose(t):
        """Twice."""
        t.output("y", t["double"](t.normal(*t.sizes("A B"))), rtol=rtol)

    (first, *_) = oracle.recorder.record(loose.check, seed)
    assert first.specs["gradient"].rtol == expected


@check("double")
def drawn_again(t):
    """Twice; an instance in three is clear."""
    x = t.normal(4)
    t.assume(x[0] > 0.4)
    t.output("y", t["double"](x))


def test_other_inputs_are_none_of_the_checks_own(oracle):
    """Also where the check draws again, from the seeds behind its own."""
    for seed in range(20):
        (first, *_) = oracle.recorder.record(drawn_again.check, 7919 * seed)
        inputs = {tuple(np.asarray(op.args[0]["$tensor"]).tolist()) for op in first.ops
                  if type(op).__name__ == "Call" and isinstance(op.args[0], dict) and "$tensor" in op.args[0]}
        assert len(inputs) == 2, "its own and the others"


def test_every_relation_is_asked_somewhere(oracle, seed):
    relations = {spec.relation for exercise in oracle.source.exercises
                 for own in records_of(oracle, exercise, str(seed))
                 for record in own for spec in record.specs.values()}
    relations |= {record.relation for exercise in oracle.source.exercises
                  for own in records_of(oracle, exercise, str(seed)) for record in own}
    assert relations - {None} == set(RELATIONS)


# On a namespace of their own: what is repeated, and what is differentiated


class Box(torch.nn.Module):
    """A network with a part that can be replaced; the result called ``late`` is another one when called again."""

    def __init__(self, size, late=""):
        super().__init__()
        self.part = torch.nn.Linear(size, size)
        self.calls, self.late = 0, late

    def pair(self, x, /, *more):
        self.calls += 1
        again = {name: float(self.late == name and self.calls > 1) for name in ("first", "second", "table", "scaled")}
        return (x + again["first"], x + again["second"]), {"table": x + again["table"]}, x.mT + again["scaled"]

    def forward(self, x, ids=None):
        return self.part(x)


def join(tensors, scale, *, named, **options):
    return sum(tensors) * scale, sum(named[0]) + options["x"]


def recorder_of(late="", **names):
    return Recorder({"Box": lambda size: Box(size, late), "join": join, **names}, CourseMetadata())


def of_check(program):
    return Check("boxes", "boxes", program, 1)


def chained(t):
    box, x = t["Box"](3), t.normal(2, 3)
    parts, table, transposed = t.unpack(box.pair(x, 1), 3)
    first, second = t.unpack(parts, 2)
    sums, other = t.unpack(t["join"]([first, second], 2.0, named=([table["table"]],), **{"x": transposed.mT}), 2)
    t.output("sums", sums.neg())
    t.output("other", other)
    t.output("table", table)


@pytest.mark.parametrize("late, seen", [("first", "sums"), ("second", "sums"), ("table", "other"), ("scaled", "other")])
def test_a_repetition_goes_on_with_its_own_results(late, seen):
    (record, *_) = recorder_of().record(of_check(chained), 1)
    assert {"sums when called again", "other when called again", "gradient"} <= record.expected.outputs.keys()
    assert compare.first_difference(record, replay(record.ops, recorder_of().namespace)) is None
    found = compare.first_difference(record, replay(record.ops, recorder_of(late).namespace))
    assert found and found.output == f"{seen} when called again" and found.relation == "repeated call"


def called(t):
    box, ids = t["Box"](4), t.integers(0, 4, 2, 4)
    t.randomise_weights(box)
    t.output("values", box(t.normal(2, 4), ids))
    t.output("again", box(x=t.one_hot(4, 2)))
    t.output("most", box.forward(t.uniform(2, 4)).argmax(-1))


def test_gradients_are_of_varied_inputs_and_all_parameters():
    (record, *_) = recorder_of().record(of_check(called), 1)
    gradients = to_python(record.expected.outputs["gradient"])
    assert set(gradients) == {"x", "x (2)", "Box.part.weight", "Box.part.bias"}, "neither numbers nor one-hot rows"
    assert record.specs["gradient"] == OutputSpec(relation="gradient", rtol=2e-3, atol_of_max=1e-3)


@pytest.mark.parametrize("result", [lambda x: x.argmax(-1), lambda x: torch.ones(2), lambda x: 2])
def test_without_results_or_inputs_that_vary_there_is_no_gradient(result):
    def program(t):
        t.output("y", t["f"](t.one_hot(3, 2)))

    (record, *_) = recorder_of(f=result).record(of_check(program), 1)
    assert {spec.relation for spec in record.specs.values()} == {None, "repeated call", "other inputs"}
    assert not any(isinstance(op, Gradients) for op in record.ops)
    assert sum(isinstance(op, Call) for op in record.ops) == 3, "no call is repeated for a gradient"


def test_what_a_backward_run_left_is_not_asked_again():
    def program(t):
        x = t.leaf(t.normal(3))
        y = t["f"](x)
        t.backward(y)
        t.output("y", y)
        t.output("gradient of x", x.grad)

    (record, *_) = recorder_of(f=torch.exp).record(of_check(program), 1)
    assert "y when called again" in record.specs and "gradient of x when called again" not in record.specs


def test_other_inputs_come_with_other_weights_and_leave_those_of_the_check():
    (record, *_) = recorder_of().record(of_check(called), 1)
    own, other, last = (op for op in record.ops if isinstance(op, SetWeights))
    assert own.of == other.of == last.of
    assert all(np.array_equal(last.values[name], value) and not np.array_equal(other.values[name], value)
               for name, value in own.values.items())


def test_weights_of_a_part_that_was_replaced_are_not_set_again():
    def program(t):
        box = t["Box"](2)
        t.randomise_weights(box)
        box.part = t["Box"](2)
        t.output("y", box(t.normal(2, 2)))

    (record, *_) = recorder_of().record(of_check(program), 1)
    assert {"y when called again", "y with other inputs", "y in evaluation"} <= set(record.specs)
    assert sum(isinstance(op, SetWeights) for op in record.ops) == 1


@pytest.mark.parametrize("at_rest, asked", [((), True), ((0,), True), ((0, 1), False)])
def test_evaluation_is_asked_of_networks_in_training(at_rest, asked):
    def program(t):
        boxes = [t["Box"](2), t["Box"](2)]
        for i in at_rest:
            t.eval_mode(boxes[i])
        t.output("y", boxes[1](boxes[0](t.normal(2, 2))))

    (record, *_) = recorder_of().record(of_check(program), 1)
    assert ("y in evaluation" in record.specs) == asked
