"""The result of an exercise from records and replies that are numbers, and what a judge does around it: no kernel."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from anything import ANSWERED, SILENT, Puppets

from autograder.judging import judge
from autograder.judging.judge import Judge, check_seed, grade_exercise
from autograder.judging.submission import Submission
from autograder.judging.verdict import ExerciseResult, SoftLimitExceeded
from autograder.model.faults import Fault
from autograder.model.trace import Check, CheckError
from autograder.runtime.compare import error_difference, first_difference
from autograder.runtime.diagnosis import RecognisedFault
from autograder.runtime.difference import Difference
from autograder.runtime.findings import CheckResult
from autograder.runtime.recorded import CapturedError, ErrorLocation, OutputSpec, RecordedCheck, Reply
from autograder.runtime.selfchecks import SelfCheck
from autograder.runtime.values import describe
from autograder.sandbox.host import KernelLost, Sandbox
from autograder.sandbox.options import Options
from conftest import TINY, TINY_COURSE, tiny_copy

ONE, OTHER = RecognisedFault("one", "You add one."), RecognisedFault("other", "You add another.")
TOO_LATE = KernelLost("timeout", "it took too long")


def program(t):
    """It is right."""


def record(want, relation=None):
    """What asks for a number."""
    return RecordedCheck((), Reply({"y": describe(want)}), {"y": OutputSpec()}, 1, relation)


def says(value):
    return Reply({"y": describe(value)})


def stops(kind):
    return Reply({}, CapturedError(kind, "NameError", f"name 'f' is not defined ({kind})"))


@dataclass
class FakeOracle:
    """An oracle of one exercise, whose answers are given."""

    weights: tuple[float, ...] = (1, 1, 1)
    points: float = 10
    named: tuple = (None, None, None)
    constant: tuple[str, ...] = ()
    answers: dict = field(default_factory=dict)  # fault → what it answers to a check on other sizes
    diagnosed: list = field(default_factory=list)
    asked: list = field(default_factory=list)

    def checks_of(self, exercise):
        return [Check(exercise, name, program, weight) for name, weight in zip("abc", self.weights, strict=False)]

    def diagnose(self, exercise, records, got, unlisted):
        self.diagnosed.append((records, got))
        return list(self.named[: len(got)])

    def faults_of(self, exercise):
        return [Fault(exercise, name, "") for name in sorted(self.answers, reverse=True)]

    def replay(self, fault, records):
        self.asked.append((fault.name, records))
        return [says(1), says(self.answers[fault.name])][: len(records)]

    recorder = property(lambda self: SimpleNamespace(is_constant=lambda check: check.name in self.constant))
    source = property(lambda self: SimpleNamespace(points=lambda exercise: self.points))


ALONE = [[record(1)], [record(1)], [record(1)]]
SIZES = [[record(1), record(1, "one timestep")] for _ in range(3)]  # each check also on other sizes
RIGHT, WRONG = says(1), says(2)


def passed(result):
    return [check.passed for check in result.checks]


@pytest.mark.parametrize("weights, replies, score, outcome", [
    ((1, 1, 1), [RIGHT, RIGHT, RIGHT], 10, "passed"),
    ((1, 1, 1), [WRONG, RIGHT, WRONG], 3.3333, "partial"),
    ((1, 1, 1), [WRONG, RIGHT, RIGHT], 6.6667, "partial"),
    ((5, 2, 1), [WRONG, RIGHT, RIGHT], 3.75, "partial"),
    ((1, 1, 1), [WRONG, WRONG, WRONG], 0, "failed"),
    ((1, 1, 1), [stops("raised"), WRONG, stops("raised")], 0, "failed"),
    ((1, 1, 1), [stops("raised"), RIGHT, stops("raised")], 3.3333, "partial"),
    ((1, 1, 1), [stops("raised")] * 3, 0, "error"),
    ((1, 1, 1), [stops("unusable")] * 3, 0, "error"),
    ((1, 1, 1), [stops("not-written"), stops("raised"), stops("not-written")], 0, "error"),
    ((1, 1, 1), [stops("not-written"), stops("missing-name"), stops("not-written")], 0, "missing"),
])
def test_points_and_outcome_follow_the_checks_that_pass(weights, replies, score, outcome):
    source = FakeOracle(weights)
    result = grade_exercise(source, "f", ALONE, replies)
    assert (result.exercise, result.points, result.max_points, result.outcome) == ("f", score, 10, outcome)
    assert passed(result) == [reply is RIGHT for reply in replies]
    assert [(check.check, check.description) for check in result.checks] == [(name, "It is right.") for name in "abc"]
    assert source.diagnosed == [([own[0] for own in ALONE], replies)]


def test_a_check_fails_at_its_first_difference_and_shows_it():
    result = grade_exercise(FakeOracle(), "f", SIZES, [RIGHT, RIGHT, RIGHT, WRONG, WRONG, says(3)])
    assert passed(result) == [True, False, False]
    of_one, plain = first_difference(SIZES[1][1], WRONG), first_difference(record(1), WRONG)
    assert [check.difference for check in result.checks] == [None, of_one, plain]
    shown = RecordedCheck((), Reply({"y": describe(np.ones((2, 2)))}), {"y": OutputSpec()}, 0)
    wrong = grade_exercise(FakeOracle((1,)), "f", [[shown]], [Reply({"y": describe(np.zeros((2, 2)))})]).checks[0]
    assert wrong.side_by_side.name == "y" and not wrong.passed


def test_the_first_replies_are_diagnosed_and_a_check_has_the_name_that_it_is_given():
    source = FakeOracle(named=(None, ONE, None), answers={"one": 1})
    result = grade_exercise(source, "f", [SIZES[0], [record(1)], SIZES[2]], [RIGHT, WRONG, says(3), WRONG, says(4)])
    ((_, got),) = source.diagnosed
    assert [reply.outputs["y"].value for reply in got] == [1, 3, 2]
    assert [check.fault for check in result.checks] == [None, ONE, None]


@pytest.mark.parametrize("replies, whole", [([], 0), ([RIGHT], 0), ([RIGHT, RIGHT], 1), ([RIGHT] * 3, 1),
                                            ([RIGHT] * 5, 2)])
def test_what_a_lost_kernel_did_not_answer_is_not_checked_and_the_rest_counts(replies, whole):
    result = grade_exercise(FakeOracle(), "f", SIZES, replies, lost=TOO_LATE)
    assert (result.points, result.outcome) == (round(10 * whole / 3, 4), "timeout")
    assert passed(result) == [True] * whole + [False] * (3 - whole)
    assert [check.difference for check in result.checks[whole:]] == [
        Difference("not-checked", reason="it took too long")] * (3 - whole)
    assert [(check.check, check.description) for check in result.checks] == [(name, "It is right.") for name in "abc"]


def test_a_name_that_is_missing_because_the_cell_stopped_is_the_error_of_the_cell():
    error = CapturedError("raised", "SyntaxError", "invalid syntax", ErrorLocation(3, "", "x ="), at=1)
    replies = [stops("missing-name"), stops("raised"), WRONG]
    result = grade_exercise(FakeOracle(), "f", ALONE, replies, error)
    assert [check.difference for check in result.checks] == [
        error_difference(error), *(first_difference(record(1), reply) for reply in replies[1:])]
    assert result.outcome == "failed" and not any(check.fault for check in result.checks)
    assert grade_exercise(FakeOracle(), "f", ALONE, [stops("missing-name")] * 3, error).outcome == "error"
    without = grade_exercise(FakeOracle(), "f", ALONE, replies)
    assert without.checks[0].difference == first_difference(record(1), replies[0])


# Checks that any constant would pass


@pytest.mark.parametrize("constant, replies, counted", [
    ("ab", [RIGHT, RIGHT, WRONG], []),
    ("ab", [RIGHT, WRONG, WRONG], []),
    ("abc", [RIGHT, WRONG, RIGHT], []),
    ("a", [RIGHT, RIGHT, WRONG], ["a", "b"]),
    ("c", [RIGHT, RIGHT, WRONG], ["a", "b"]),
    ("", [RIGHT, WRONG, WRONG], ["a"]),
    ("abc", [RIGHT, RIGHT, RIGHT], ["a", "b", "c"]),
    ("abc", [WRONG, WRONG, WRONG], []),
])
def test_checks_that_a_constant_would_pass_count_beside_one_that_varies(constant, replies, counted):
    result = grade_exercise(FakeOracle(constant=tuple(constant)), "f", ALONE, replies)
    assert [check.check for check in result.checks if check.passed] == counted
    for check, reply in zip(result.checks, replies, strict=True):
        lost = Difference("constant") if reply is RIGHT else first_difference(record(1), reply)
        assert check.difference == (None if check.passed else lost)
    assert result.points == round(10 * len(counted) / 3, 4)


# A fault that was recognised explains the relations that it breaks


def named(named, answers, replies, records=SIZES, lost=None):
    """The names of the checks, and which faults were asked about which of them."""
    source = FakeOracle(named=named, answers=answers)
    result = grade_exercise(source, "f", records, replies, lost=lost)
    asked = [(fault, next(i for i, own in enumerate(records) if own is seen)) for fault, seen in source.asked]
    return [check.fault and check.fault.name for check in result.checks], asked


SEEN = [WRONG, RIGHT, RIGHT, says(5), RIGHT, RIGHT]  # the second check fails on other sizes alone


def test_the_fault_names_the_checks_in_which_it_breaks_the_same_relation():
    assert named((ONE, None, None), {"one": 5, "other": 7}, SEEN) == (["one", "one", None], [("one", 1)])


def test_a_fault_that_breaks_it_otherwise_or_not_names_nothing():
    assert named((ONE, None, None), {"one": 6}, SEEN) == (["one", None, None], [("one", 1)])
    assert named((ONE, None, None), {"one": 1}, SEEN) == (["one", None, None], [("one", 1)])


def test_no_fault_is_asked_where_none_or_several_were_recognised_or_nothing_is_left():
    answers = {"one": 5, "other": 5}
    assert named((None, None, None), answers, SEEN) == ([None, None, None], [])
    assert named((ONE, None, OTHER), answers, [WRONG, RIGHT, RIGHT, says(5), WRONG, RIGHT]) == (
        ["one", None, "other"], [])
    assert named((ONE, ONE, ONE), answers, [WRONG] * 6) == (["one"] * 3, [])


def test_two_faults_at_once_that_have_a_name_of_their_own_are_not_asked_about_relations():
    both = RecognisedFault("one+other", "Two things at once.")
    assert named((both, None, None), {"one": 5, "other": 5}, SEEN) == (["one+other", None, None], [])


def test_what_a_lost_kernel_did_not_answer_has_no_name():
    assert named((ONE, None), {"one": 5}, SEEN[:4], lost=TOO_LATE) == (["one", "one", None], [("one", 1)])


# The judge around it


def test_the_seed_of_a_check_is_its_own_and_the_same_again():
    assert check_seed("seed", "double", "values") == 341355829664920830
    seeds = {check_seed(*names) for names in (("s", "a", "b"), ("t", "a", "b"), ("s", "c", "b"), ("s", "a", "c"))}
    assert len(seeds) == 4 and all(0 <= seed < 2**62 for seed in seeds)


class Sandboxes(Puppets):
    """A sandbox that notes what is asked of it."""

    def __init__(self, answer):
        super().__init__(answer)
        self.seen = []
        self.start, self.close = (lambda: self.seen.append("start")), (lambda: self.seen.append("close"))

    def fork(self, seed):
        self.seen.append("fork")
        return super().fork(seed)


def test_a_judge_has_the_sandbox_that_it_is_given_starts_it_first_and_closes_it():
    sandbox = Sandboxes(SILENT)
    with Judge(TINY_COURSE, sandbox=sandbox) as made:
        assert made.sandbox is sandbox and isinstance(Judge(TINY_COURSE).sandbox, Sandbox)
        verdict = made.judge(Submission(ANSWERED, TINY), "seed")
        assert sandbox.seen[:2] == ["start", "fork"] and verdict.ungraded_reason is None
        sandbox.seen.clear()
    assert sandbox.seen == ["close"]


def test_an_instance_is_recorded_once_for_one_session_and_seed(monkeypatch):
    made = []
    monkeypatch.setattr(judge, "records_of", lambda source, exercise, seed, on: made.append((source.source.name, seed)))
    sources = {name: SimpleNamespace(source=SimpleNamespace(name=name, exercises=["f"], notebook=Path("none.ipynb")))
               for name in ("tp1", "tp2")}
    one = Judge(TINY_COURSE, Options())
    for name, seed in [("tp1", "a"), ("tp1", "a"), ("tp1", "b"), ("tp2", "b"), ("tp2", "b"), ("tp1", "b")]:
        one._records_of(sources[name], seed)
    assert made == [("tp1", "a"), ("tp1", "b"), ("tp2", "b"), ("tp1", "b")]


def test_seconds_are_those_of_the_clock_to_a_thousandth(monkeypatch):
    clock = iter(range(1000))
    monkeypatch.setattr(judge, "time", SimpleNamespace(
        monotonic=lambda: 100 + 1.23456 * next(clock), process_time=lambda: 0.0))
    with Judge(TINY_COURSE, sandbox=Puppets(SILENT)) as one:
        verdict = one.judge(Submission(ANSWERED, TINY), "seed")
    assert verdict.seconds == 1.235


def test_seconds_of_exercises_are_those_of_the_kernel_and_beyond_the_soft_limit_there_is_no_verdict():
    with Judge(TINY_COURSE, sandbox=Puppets(SILENT)) as one:  # each request takes a second
        verdict = one.judge(Submission(ANSWERED, TINY), "seed")
        seconds = [exercise.seconds for exercise in verdict.exercises]
        assert min(seconds) >= 1 and seconds == [round(number, 3) for number in seconds]
        with pytest.raises(SoftLimitExceeded):
            one.judge(Submission(ANSWERED, TINY), "seed", sum(seconds) - 0.5)
        assert one.judge(Submission(ANSWERED, TINY), "seed", sum(seconds) + 0.5).exercises == verdict.exercises


@pytest.mark.parametrize("is_solution", [True, False])
def test_the_notebook_of_the_solution_is_noted(tmp_path, is_solution):
    course = tiny_copy(tmp_path)
    (course.folder(TINY) / f"{TINY}.ipynb").write_bytes(ANSWERED if is_solution else ANSWERED + b"\n")
    with Judge(course, sandbox=Puppets(SILENT)) as one:
        notes = one.judge(Submission(ANSWERED, TINY), "seed").notes
    assert ("the file is the notebook of the solution, byte for byte" in notes) == is_solution


def test_what_cannot_be_read_has_its_reason_and_a_machine_that_fails_is_an_error(monkeypatch):
    with Judge(TINY_COURSE, sandbox=Puppets(SILENT)) as one:
        handed = Submission(ANSWERED, TINY, unreadable="it is too large", note="it lay elsewhere")
        verdict = one.judge(handed, "seed")
        assert (verdict.ungraded_reason, verdict.points, verdict.notes) == (
            "it is too large", 0, ("it is too large", "it lay elsewhere"))
        assert one.judge(replace(handed, unreadable=None), "seed").ungraded_reason is None
        with monkeypatch.context() as failing, pytest.raises(CheckError, match="checks.py:3: no"):
            failing.setattr(judge, "records_of", lambda *args: (_ for _ in ()).throw(CheckError("checks.py:3: no")))
            one.judge(Submission(ANSWERED, TINY), "another")
        monkeypatch.setattr(one.sandbox, "start", lambda: 1 / 0)
        failed = one.judge(Submission(ANSWERED, TINY), "seed")
        assert "the judge failed on it (ZeroDivisionError)" in failed.ungraded_reason
        monkeypatch.setattr(one.sandbox, "start", lambda: open("/nothing/there"))
        with pytest.raises(FileNotFoundError):
            one.judge(Submission(ANSWERED, TINY), "seed")


def test_of_many_notes_the_first_are_kept_those_on_stopped_cells_last_and_the_others_counted():
    notes = [f"{judge.STOPPED}: b", *(f"note {i}" for i in range(18, -1, -1)), "note 3"]
    assert judge._first_notes(notes) == [*notes[1:20], notes[0]], "each once, in order"
    more = judge._first_notes([*notes, "another", "and another"])
    assert len(more) == 21 and more[-1] == "and 2 more" and more[19] == "another"


@pytest.mark.parametrize(("faults", "sent"), [
    ({"b": None, "c": ONE}, {"a": 3, "b": 3, "c": 3}), ({"b": OTHER, "c": ONE}, {"b": 1, "c": 1}),
    ({"b": ONE, "c": ONE}, {"b": 1}),
])
def test_places_are_looked_for_in_all_checks_or_in_the_first_record_of_each_fault(faults, sent, monkeypatch):
    """What passes is sent, too, if an edit may be the place: it has to pass still."""
    asked = []

    def find_places(exercise, checks, failing):
        asked.append(({check.name: len(check.records) for check in checks},
                      {checks[number].name: fault for number, fault in failing.items()}))
        return [f"in {check.name}" for check in checks]

    monkeypatch.setattr(judge, "released_selfchecks",
                        lambda oracle, exercise: [SelfCheck(name, "", 1.0, False, [1, 2, 3]) for name in "abc"])
    wrong = {name: CheckResult(name, False, "", Difference("value"), fault) for name, fault in faults.items()}
    result = ExerciseResult("f", 1.0, 3.0, "partial", (CheckResult("a", True, ""), *wrong.values()))
    run = SimpleNamespace(sandbox=SimpleNamespace(options=Options()), find_places=find_places)
    placed = judge._placed(run, result, None, until=1e9)
    assert asked == [(sent, {name: fault for name, fault in faults.items() if name in sent})]
    assert {check.check: check.place for check in placed.checks if check.place} == {
        name: f"in {name}" for name in sent}


def test_the_cells_of_the_notebook_are_looked_at_and_the_search_has_the_time_of_a_notebook(monkeypatch):
    seen, limits = [], []
    monkeypatch.setattr(judge, "grade_exercise",
                        lambda *given, cells=(), **others: seen.append([*cells]) or grade_exercise(*given, **others))
    monkeypatch.setattr(judge, "_placed", lambda run, result, oracle, until: limits.append(
        run.notebook_budget.wall_limit) or result)
    seconds = Options().limits.notebook_wall_seconds
    with Judge(TINY_COURSE, sandbox=Puppets(SILENT)) as one:
        one.judge(Submission(ANSWERED, TINY), "seed", soft_seconds=seconds - 1)
    assert len(seen) == 3 and all("def" in "".join(cells) for cells in seen)
    assert limits == [seconds] * 3
