"""What results add up to, what a student reads of it, and how it stands in a file."""

import msgspec
import pytest

from autograder.classroom.json_files import FileError, from_json, to_json
from autograder.judging.submission import Submission
from autograder.judging.verdict import ExerciseResult, Verdict
from autograder.model.source import load_source
from autograder.runtime.diagnosis import RecognisedFault
from autograder.runtime.difference import Difference, Outline
from autograder.runtime.findings import CheckResult
from autograder.sandbox.options import Options
from conftest import TINY, TINY_COURSE

HANDED = Submission(b"{}", TINY, "ada")
WRONG = Difference("value", output="y", expected=Outline("float", 1.5), got=Outline("int", 2))


def result(name, score, *faults, seconds=0.0):
    """An exercise of four points, in each of whose checks one of these faults was recognised."""
    checks = [CheckResult(f"check-{i}", False, "It is right.", WRONG, RecognisedFault(fault, f"You {fault}.") if fault
                          else None) for i, fault in enumerate(faults)]
    return ExerciseResult(name, score, 4.0, "partial", (*checks, CheckResult("right", True, "It is.")), seconds)


def test_results_add_up():
    results = [result("double", 1.3333, "squares", None), result("last", 2.33333, "adds", "squares")]
    options = Options(device="cpu")
    verdict = Verdict.graded(HANDED, "5eed", options, results, ["a note"], 1.5)
    assert verdict == Verdict(TINY, 3.6666, 8.0, options.isolation, "cpu", 1.5, "5eed", ("a note",), tuple(results))
    assert verdict.ungraded_reason is None and verdict.faults == ["adds", "squares"]
    assert Verdict.graded(HANDED, "5eed", options, []).seconds == 0


@pytest.mark.parametrize("weights", [(0.7, 0.1), (0.1, 0.2), (1 / 3, 1 / 3), (2.5, 1.25)])
def test_full_marks_are_the_maximum(weights):
    results = [ExerciseResult(f"e{i}", weight, weight, "passed", ()) for i, weight in enumerate(weights)]
    verdict = Verdict.graded(HANDED, "", Options(), results)
    assert verdict.points == verdict.max_points == pytest.approx(sum(weights), abs=1e-4)


def test_faults_are_in_the_order_of_the_alphabet():
    names = [f"fault-{letter}" for letter in "qwertyuiopasdfghjklzxcvbnm"]
    assert Verdict.graded(HANDED, "", Options(), [result("double", 0, *names)]).faults == sorted(names)


def test_what_was_unusual_about_the_place_is_noted_last():
    handed = Submission(b"{}", TINY, note="it lay elsewhere")
    assert Verdict.graded(handed, "", Options(), [], ["a note"]).notes == ("a note", "it lay elsewhere")
    assert Verdict.graded(HANDED, "", Options(), []).notes == ()


def test_what_cannot_be_graded_has_no_points_and_a_reason():
    verdict = Verdict.ungraded(load_source(TINY_COURSE, TINY), HANDED, "5eed", Options(), "it is cut off")
    assert (verdict.points, verdict.max_points, verdict.seed) == (0, 8, "5eed")
    assert (verdict.ungraded_reason, verdict.notes) == ("it is cut off", ("it is cut off",))
    assert [exercise.exercise for exercise in verdict.exercises] == ["double", "encoder", "last"]
    for exercise in verdict.exercises:
        assert (exercise.points, exercise.outcome) == (0, "missing") and exercise.max_points > 0
        (check,) = exercise.checks
        assert (check.passed, check.difference) == (False, Difference("not-checked", reason="it is cut off"))


def test_equal_results_are_equal_however_long_they_took():
    assert result("double", 1, seconds=1.0) == result("double", 1, seconds=2.0) != result("double", 2, seconds=1.0)
    assert ExerciseResult("double", 1, 2, "partial", ()).seconds == 0


def test_the_checks_that_failed_are_those_that_did_not_pass():
    passed, failed = (CheckResult(name, name == "a", "It is.") for name in "ab")
    assert ExerciseResult("double", 1, 2, "partial", (passed, failed)).failed == [failed]


def test_a_student_reads_the_points_and_the_reasons():
    lines = result("double", 1.33333, "squares").explained().split("\n")
    assert lines[0] == "double: 1.33 of 4 points (partial)" and lines[-1] == ""
    assert "You squares." in "".join(lines[1:])


def test_a_verdict_is_indented_text_and_comes_back():
    verdict = Verdict.graded(HANDED, "5eed", Options(), [result("double", 1.5, "squares")], ["größe 漢字"])
    text = to_json(verdict)
    assert text.startswith('{\n "session": "tp0_tiny",\n "points": 1.5,\n') and "größe 漢字" in text
    again = from_json(text.encode(), Verdict, "a file")
    assert again == verdict and isinstance(again, Verdict)


def test_a_file_that_holds_another_thing_is_refused_with_its_name():
    with pytest.raises(FileError, match="^verdict.json does not hold an ExerciseResult: .+$"):
        from_json(msgspec.json.encode({"points": 1}), ExerciseResult, "verdict.json")
    assert from_json(b"3", int, "a number") == 3
