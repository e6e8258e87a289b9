"""Which checks a constant would pass, decided on few instances where they are clear and on more where they are not."""

import pytest

from autograder.metadata import CourseMetadata
from autograder.model.recording import FEW_INSTANCES, MANY_INSTANCES, Recorder
from autograder.model.trace import Check, CheckError
from autograder.runtime.recorded import OutputSpec, RecordedCheck, Reply
from autograder.runtime.values import describe

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


def test_without_torch_only_packages_can_be_forbidden():
    def program(t):
        """Seen."""
        t.forbid("softmax", "loop", "json")
        t.output("seen", t["double"](t.normal(3)))

    recorder = Recorder({"double": lambda x: 2 * x}, CourseMetadata(arrays="numpy"))
    loop, note = recorder.notes(Check("double", "seen", program, 1))
    assert "double/seen: it forbids loops, which are known by calls of torch: here none is seen" in loop
    assert "double/seen: it forbids softmax: no package that is installed has " in note


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
