"""The judge: right answers pass, faults are named, exercises are graded apart, and seeds decide the draws."""

import json
import math
import random

import nbformat
import numpy as np
import pytest
import torch
from nbformat.v4 import new_code_cell

from autograder.classroom.json_files import FileError, from_json, to_json
from autograder.judging import judge, submission_run
from autograder.judging.seeds import seed_of
from autograder.judging.submission import Submission
from autograder.judging.submission_run import SubmissionRun
from autograder.judging.verdict import Verdict
from autograder.model.oracle import load_oracle
from autograder.publish import notebooks
from autograder.runtime import compare, values, wire
from autograder.runtime.difference import Difference
from autograder.runtime.locate import search
from autograder.runtime.place import MAX_SEARCHED_CHARACTERS
from autograder.runtime.replay import replay
from autograder.runtime.values import describe
from autograder.sandbox.host import KernelClient, KernelLost
from autograder.sandbox.restrictions import SandboxError
from conftest import TINY, TINY_COURSE, automatic_points, tiny_copy


@pytest.fixture(autouse=True)
def no_haste(monkeypatch):
    """No test hangs on the speed of the machine: the number of edits is bounded all the same."""
    monkeypatch.setattr(search, "TOTAL_SECONDS", 120.0)


def verdicts(result):
    return {exercise.exercise: exercise.outcome for exercise in result.exercises}


def lost(result):
    """Exercise → the points that it lost, for those that lost any."""
    missing = {exercise.exercise: exercise.max_points - exercise.points for exercise in result.exercises}
    return {name: points for name, points in missing.items() if points}


def checks(result, exercise):
    return next(one.checks for one in result.exercises if one.exercise == exercise)


def points(exercise):
    return load_oracle(TINY_COURSE, TINY).source.points(exercise)


def test_solution_has_full_marks_and_blank_none(grade, right):
    full = grade(right)
    assert full.points == full.max_points == automatic_points(TINY_COURSE, TINY)
    assert set(verdicts(full).values()) == {"passed"}
    blank = grade()
    assert blank.points == 0
    assert set(verdicts(blank).values()) == {"missing"}
    assert all(check.difference.is_unwritten for exercise in blank.exercises for check in exercise.checks)


def test_a_verdict_has_the_promised_form_and_comes_back_from_its_file(grade, right):
    verdict = grade({**right, "double": right["double"].replace("2 * x", "x * x")})
    tree = json.loads(to_json(verdict))
    assert {"session", "points", "max_points", "isolation", "device", "seconds", "exercises"} <= tree.keys()
    assert tree["isolation"] == "bubblewrap"
    for exercise in tree["exercises"]:
        assert set(exercise) == {"exercise", "points", "max_points", "outcome", "checks", "seconds"}
        assert 0 < exercise["seconds"] < tree["seconds"]
        for check in exercise["checks"]:
            assert set(check) == {"check", "passed", "description", "difference", "fault", "side_by_side", "place"}
    again = from_json(to_json(verdict).encode(), Verdict, "a file")
    assert again == verdict
    shown = checks(again, "double")[0].side_by_side
    assert shown.name == "doubled" and shown.axes == ("A", "B") and "1" in "".join(shown.wrong)
    numbers = [[float(text) for row in rows for text in row.split()] for rows in (shown.expected, shown.got)]
    assert all(math.isclose((want / 2) ** 2, got, rel_tol=1e-3) for want, got in zip(*numbers, strict=True))
    assert not any(check.side_by_side for check in checks(again, "last"))


@pytest.mark.parametrize("data", [b"", b"null", b"[]", b"{}", b'{"points": "all"}', b"[" * 100_000, b"\xff"])
def test_a_file_that_holds_no_verdict_is_refused_in_one_line(data):
    with pytest.raises(FileError, match="^verdict.json does not hold a Verdict: .+$") as refusal:
        from_json(data, Verdict, "verdict.json")
    assert "\n" not in str(refusal.value)


def test_faults_are_named_and_cost_their_checks_only(grade, right):
    oracle = load_oracle(TINY_COURSE, TINY)
    for fault in oracle.faults:
        result = grade({**right, fault.exercise: oracle.text_of(fault)})
        failed = [check for check in checks(result, fault.exercise) if not check.passed]
        assert failed and {check.fault.name for check in failed} == {fault.name} == set(result.faults)
        assert failed[0].fault.feedback == fault.feedback
        others = {name: value for name, value in verdicts(result).items() if name != fault.exercise}
        assert set(others.values()) == {"passed"}


def test_partial_credit_follows_the_checks(grade, right):
    """The second of two checks of the same weight fails."""
    without = right["encoder"].replace("encoder_input, henc_init)", "encoder_input)", 1)
    without = without.replace("def forward(self, encoder_input)", "def forward(self, encoder_input, henc_init=None)")
    result = grade({**right, "encoder": without})
    assert [check.passed for check in checks(result, "encoder")] == [True, False]
    assert lost(result) == {"encoder": points("encoder") / 2} and verdicts(result)["encoder"] == "partial"


def results(oracle, exercise, answer, seed="seed"):
    """The result of an exercise whose names are these, without a kernel."""
    records = judge.records_of(oracle, exercise, seed)
    replies = [replay(record.ops, {**oracle.namespace, **answer}) for own in records for record in own]
    return judge.grade_exercise(oracle, exercise, records, replies)


@pytest.mark.parametrize("name, share", [("values", 0.25), ("gradient", 0.75)])
def test_checks_count_by_their_weights(tmp_path, name, share):
    """The values are wrong, the gradient is right; the check of this name weighs three times as much."""
    text = (TINY_COURSE.folder(TINY) / "checks.py").read_text(encoding="utf-8")
    declared = f'@check("double")\ndef {name}'
    assert declared in text
    weighed = text.replace(declared, f'@check("double", weight=3)\ndef {name}')
    oracle = load_oracle(tiny_copy(tmp_path, checks=weighed), TINY)
    result = results(oracle, "double", {"double": lambda x: 2 * x + 1})
    assert [check.passed for check in result.checks] == [False, True]
    assert (result.points, result.max_points, result.outcome) == (share * points("double"), points("double"), "partial")


def test_two_faults_that_explain_as_much_are_none_of_them_named(tmp_path):
    """Both answer the values as the student does, and neither has anything wrong with the gradient."""
    course = tiny_copy(tmp_path, faults="from autograder.model.faults import Fault\nFAULTS = [" + ", ".join(
        f'Fault("double", "{name}", "You add one.", replace=("2 * x", "{code}"))'
        for name, code in (("behind", "2 * x + 1"), ("before", "1 + 2 * x"))) + "]")
    oracle = load_oracle(course, TINY)
    one_too_many = results(oracle, "double", {"double": lambda x: 2 * x + 1})
    assert [check.fault and check.fault.name for check in one_too_many.checks] == ["behind", None]
    and_detached = results(oracle, "double", {"double": lambda x: (2 * x + 1).detach()})
    assert [(check.passed, check.fault) for check in and_detached.checks] == [(False, None)] * 2


def test_a_wrong_exercise_costs_nothing_in_the_next(grade, right):
    result = grade({**right, "double": "def double(x):\n    raise RuntimeError('no')"})
    assert lost(result) == {"double": points("double")}
    assert verdicts(result)["double"] == "error"


def test_misindented_else_is_explained_and_the_rest_keeps_its_points(grade, right):
    bad = "def double(x):\n    if x is None:\n        return 0\n     else:\n        return 2 * x"
    result = grade({**right, "double": bad})
    assert lost(result) == {"double": points("double")}
    seen = checks(result, "double")[0].difference
    assert (seen.error.type, seen.line) == ("IndentationError", 4)


def test_helpers_and_imports_of_the_student_count(grade, right):
    def helper_above(notebook):
        at = next(i for i, c in enumerate(notebook.cells) if c.metadata.get("nbgrader", {}).get("grade_id") == "double")
        notebook.cells.insert(at, new_code_cell("import math as maths\ntwo = maths.floor(2.5)"))

    assert not lost(grade({**right, "double": "def double(x):\n    return two * x"}, edit=helper_above))


def test_training_and_demo_cells_do_not_run(grade, right):
    assert grade(right).notes == ()


def test_given_cells_print_nothing_when_a_course_is_loaded(tmp_path, capfd):
    text = TINY_COURSE.script(TINY).read_text(encoding="utf-8")
    given = '# %% given="imports"\n'
    assert given in text
    course = tiny_copy(tmp_path, **{TINY: text.replace(given, f"{given}print('Given')\nimport sys\n")})
    assert load_oracle(course, TINY).namespace["sys"]
    assert capfd.readouterr() == ("", "")


def test_same_seed_same_verdict_other_seed_other_instance(grade):
    wrong = {"double": "def double(x):\n    return 3 * x"}
    one, two, other = grade(wrong, seed="a"), grade(wrong, seed="a"), grade(wrong, seed="b")
    assert one.exercises == two.exercises
    assert checks(one, "double")[0].difference != checks(other, "double")[0].difference


def test_who_shares_a_seed_shares_its_instance_which_is_made_once(monkeypatch, grade, right):
    made, records_of = [], judge.records_of
    monkeypatch.setattr(judge, "records_of", lambda *args: made.append(args[1:3]) or records_of(*args))
    wrong = {**right, "double": "def double(x):\n    return 3 * x"}
    one, two, again, other = (grade(cells, seed=seed) for cells, seed in
                              [(right, "shared"), (wrong, "shared"), (wrong, "shared"), (wrong, "other")])
    exercises = [result.exercise for result in one.exercises]
    assert made == [(exercise, seed) for seed in ("shared", "other") for exercise in exercises]
    assert two.exercises == again.exercises and two.exercises not in (one.exercises, other.exercises)


def test_seed_depends_on_everything_it_should():
    handed_in = [(b"s", "ada", "tp1", b"x"), (b"t", "ada", "tp1", b"x"), (b"s", "bob", "tp1", b"x"),
                 (b"s", "ada", "tp2", b"x"), (b"s", "ada", "tp1", b"y")]
    assert len({seed_of(*args) for args in handed_in}) == len(handed_in)
    assert seed_of(*handed_in[0]) == seed_of(*handed_in[0])


VALUE_KINDS = [None, True, 3, 2.5, "text", [1, "a", None], {"a": 1}, torch.ones(2, 3), np.arange(3), object(), 2**80,
               (1, (2, (3,)))]


@pytest.mark.parametrize("value", VALUE_KINDS, ids=lambda value: type(value).__name__)
def test_every_value_can_be_described_and_packed(value):
    assert wire.unpack(wire.pack(values.to_tree(describe(value))))["kind"]


def recorded(exercise, seed):
    oracle = load_oracle(TINY_COURSE, TINY)
    return oracle.recorder.record(oracle.checks_of(exercise)[0], seed)[0]


def test_changed_arguments_are_reported(seed):
    record = recorded("double", seed)
    reply = replay(record.ops, {"double": lambda x: x.mul_(2)})
    assert compare.first_difference(record, reply) == Difference("in-place")


def test_replay_leaves_no_trace(seed):
    namespace = {"double": 1, "last": lambda rows: torch.rand(3)}
    torch.manual_seed(3)
    before, drawn = torch.get_rng_state(), (random.getstate(), np.random.get_state()[1].tolist())
    replay(recorded("last", seed).ops, namespace)
    assert namespace["double"] == 1 and torch.equal(before, torch.get_rng_state())
    assert drawn == (random.getstate(), np.random.get_state()[1].tolist())


def test_where_an_answer_goes_wrong_is_found_in_the_sandbox(grade, right):
    verdict = grade({**right, "double": "def double(x):\n    y = x\n    return 3 * y"})
    places = [check.place for exercise in verdict.exercises for check in exercise.checks]
    assert {(one.kind, one.text, one.span[0], one.cell) for one in places if one} == {("edit", "return 3 * y", 3, 0)}
    assert all(check.place is None for exercise in verdict.exercises for check in exercise.checks if check.passed)
    assert from_json(to_json(verdict).encode(), Verdict, "it") == verdict


def test_places_are_looked_for_when_all_exercises_are_judged(grade, right, monkeypatch):
    """What that takes of the notebook's time is none of an exercise's; of a long answer it is not done."""
    asked, replies, places = [], SubmissionRun.replay, SubmissionRun.find_places
    monkeypatch.setattr(SubmissionRun, "replay", lambda run, name, records: asked.append("replies") or replies(
        run, name, records))
    monkeypatch.setattr(SubmissionRun, "find_places", lambda run, *args: asked.append("places") or places(run, *args))
    wrong = {**right, "double": right["double"].replace("2 * x", "x * x")}
    result = grade(wrong)
    assert asked == ["replies"] * 3 + ["places"]
    assert any(check.place for check in checks(result, "double"))
    longer = grade({**wrong, "double": wrong["double"] + "\n#" + "x" * MAX_SEARCHED_CHARACTERS})
    assert longer.points == result.points and not any(check.place for check in checks(longer, "double"))


def test_where_a_fault_explains_all_only_checks_that_fail_are_searched(grade, right, monkeypatch):
    sent, places = [], SubmissionRun.find_places
    monkeypatch.setattr(SubmissionRun, "find_places", lambda run, name, checks, failing: sent.append(
        (len(checks), sorted(failing), all(failing.values()))) or places(run, name, checks, failing))
    oracle = load_oracle(TINY_COURSE, TINY)
    (fault,) = (fault for fault in oracle.faults if fault.name == "initial-state-ignored")
    named = checks(grade({**right, "encoder": oracle.text_of(fault)}), "encoder")
    failing = [i for i, check in enumerate(named) if check.difference]
    assert sent == [(len(failing), list(range(len(failing))), True)] and len(failing) < len(named)
    assert all(bool(check.place) is bool(check.difference) for check in named)
    sent.clear()
    unnamed = checks(grade({**right, "double": "def double(x):\n    y = x\n    return 3 * y"}), "double")
    assert [len(unnamed)] == [number for number, _, _ in sent]


def test_a_notebook_whose_time_ends_in_the_first_cell_of_a_new_kernel_stops_no_class(grade, right, monkeypatch):
    """A kernel that does not survive our own first cell is a fault of the machine, which ends the grading of all."""
    run_cell, kernels = KernelClient.run_cell, []

    def late(kernel, source, budget):
        if kernel not in kernels:
            kernels.append(kernel)
            if len(kernels) == 2:
                kernel.kill()
                budget.book(0.0, spent)
                raise KernelLost("timeout", "it took too long")
        return run_cell(kernel, source, budget)

    monkeypatch.setattr(KernelClient, "run_cell", late)
    spent = 10_000.0
    killing = {**right, "double": "def double(x):\n    import os\n    os._exit(0)"}
    result = grade(killing)
    assert verdicts(result) == {"double": "crashed", "encoder": "timeout", "last": "timeout"}
    kernels.clear()
    spent = 0.0
    with pytest.raises(SandboxError):
        grade(killing)


def test_an_answer_that_is_too_much_to_search_keeps_its_points(grade, right, monkeypatch):
    """Four hundred lines, each of which could be replaced or edited."""
    long = "def double(x):\n" + "    x = x + 0\n" * 400 + "    return 3 * x"
    wrong = {**right, "double": long}
    result = grade(wrong)
    assert result.ungraded_reason is None and result.points > 0
    assert result.points == grade({**right, "double": "def double(x):\n    return 3 * x"}).points
    monkeypatch.setattr(judge, "JUDGE_PLACE_SECONDS", 0)
    short = grade({**right, "double": "def double(x):\n    return 3 * x"})
    assert short.points == result.points and not any(check.place for check in checks(short, "double"))


def test_a_helper_of_the_students_own_cells_is_looked_into(grade, right):
    cells = {**right, "double": "def double(x):\n    return times(x)"}
    verdict = grade(cells, own=["def times(x):\n    return 3 * x"])
    places = [check.place for exercise in verdict.exercises for check in exercise.checks if check.place]
    assert {(place.text, place.span[0], place.cell) for place in places} == {("3 * x", 2, 1)}


@pytest.mark.parametrize("line", ["time.sleep(0 * 1000)", "for _ in iter(lambda: 0 * 1, 0): pass",
                                  "signal.pthread_sigmask(0, [14]); time.sleep(0 * 1000)"])
def test_an_edit_that_does_not_end_costs_no_points_and_little_time(grade, right, line, monkeypatch):
    """Also where the alarm that stops it cannot be heard: then the kernel is lost, with all that is to be known."""
    monkeypatch.setattr(submission_run, "KERNEL_PLACE_SECONDS", 3.0)
    asked, places = [], SubmissionRun.find_places
    monkeypatch.setattr(SubmissionRun, "find_places", lambda run, name, *args: asked.append(name) or places(
        run, name, *args))
    head = "import time\nsignal = __import__('sig' + 'nal')\ndef double(x):\n"
    slow = grade({**right, "double": f"{head}    {line}\n    return (3 * x + 5) * (3 * x + 5)"})
    plain = grade({**right, "double": f"{head}    return (3 * x + 5) * (3 * x + 5)"})
    assert slow.points == plain.points and verdicts(slow) == verdicts(plain) and asked == ["double"] * 2
    assert slow.seconds < plain.seconds + 30


def test_a_class_does_not_wait_for_a_repair_to_judge_it_again(right):
    """What is set aside is judged a second time; a search for an edit is no part of that."""
    wrong = {**right, "double": "def double(x):\n    return (3 * x + 5) * (3 * x + 5)"}
    handed = Submission(nbformat.writes(notebooks.filled(TINY_COURSE, TINY, wrong)).encode(), TINY)
    with judge.Judge(TINY_COURSE) as one:
        assert one.judge(handed, "1", 3.0).points > 0


SPAN = "'kind': 'value', 'text': 'a lie', 'span': [{}, 0, {}, 99], 'cell': {}, 'matched_lines': [1, 2, 700]"
NUMBERS = ("'kind': 'value', 'index': [0, 1], 'wrong_count': 3, 'value_count': 4, "
           "'expected': {'kind': 'float', 'value': 1.0}, 'got': {'kind': 'float', 'value': 2.0}")


@pytest.mark.parametrize("lie", [
    "None", "'nothing of the kind'", "[None] * 99", "[7, 'x']", f"[{{{SPAN.format(1, 1, 1)}}}] * 2",
    f"[{{{SPAN.format(1, 1, -1)}}}] * 2", f"[{{{SPAN.format(0, 1, 0)}}}] * 2", f"[{{{SPAN.format(1, 500, 0)}}}] * 2",
    f"[{{{SPAN.format(2, 2, 0)}, 'difference': {{'kind': 'length', 'index': [], 'expected': None}}}}] * 2",
    f"[{{{SPAN.format(2, 2, 0)}, 'difference': {{'kind': 'sum', 'output': '\\x1b[2J', 'index': [1] * 10 ** 5}}}}] * 2",
    f"[{{{SPAN.format(2, 2, 0)}, 'difference': {{'kind': 'value', 'error': {{'kind': 'raised'}}}}}}] * 2",
    f"[{{{SPAN.format(2, 2, 0)}, 'second': {{'text': 'a lie', 'span': [2, 4, 2, 9]}}}}] * 2",
    f"[{{{SPAN.format(2, 2, 0)}, 'second': {{'text': 'a lie', 'span': [9, 0, 9, 1]}}}}] * 2",
    f"[{{{SPAN.format(2, 2, 0)}, 'second': {{'span': [1, 0, 1, 3], 'cell': 7}}}}] * 2",
    f"[{{{SPAN.format(2, 2, 0)}, 'matched_lines': [1, 2] * 10 ** 5}}] * 2",
    f"[{{{SPAN.format(2, 2, 0)}, 'difference': {{{NUMBERS}, 'pattern': {{'kind': 'factor', 'number': 1e999}}}}}}] * 2",
    f"[{{{SPAN.format(2, 2, 0)}, 'difference': {{{NUMBERS}, 'pattern': {{'kind': 'function missing'}}}}}}] * 2",
    f"[{{{SPAN.format(2, 2, 0)}, 'difference': {{{NUMBERS}, 'region': [{{'axis': 0, 'start': 10000, 'stop': 9}}]}}}}]",
    f"[{{{SPAN.format(2, 2, 0)}, 'difference': {{{NUMBERS}, 'pattern': {{'kind': 'order', 'axis': -10 ** 9, "
    "'positions': [10 ** 18] * 10 ** 5}, 'region': [{'axis': 9, 'start': -1, 'stop': 10 ** 18}] * 10 ** 5}}] * 2",
])
def test_a_kernel_that_lies_about_places_changes_no_grade(grade, right, lie):
    """Its places are none, or lines of the student's own text."""
    cells = {**right, "double": "def double(x):\n    return 3 * x"}
    own = f"from autograder.runtime.locate import search\nsearch.find_places = lambda *a: {lie}\n" \
          "import dataclasses, sys\nsys.modules['__main__'].asdict = lambda one: one"
    honest, lying = grade(cells), grade(cells, own=[own])
    assert lying.points == honest.points
    assert [check.passed for one in lying.exercises for check in one.checks] == [
        check.passed for one in honest.exercises for check in one.checks]
    assert from_json(to_json(lying).encode(), Verdict, "it") == lying
    assert "10000" not in "".join(one.explained() for one in lying.exercises) and "None of" not in str(lying)
    seen = [check.place for one in lying.exercises for check in one.checks if check.place]
    locations = [spot for one in seen for spot in one.locations]
    assert all(len(check.place.matched_lines) <= 2 for one in lying.exercises for check in one.checks if check.place)
    assert all("lie" not in one.text and one.text in cells["double"] for one in locations)
    assert all("\x1b" not in line for one in lying.exercises for line in one.explained().splitlines())
