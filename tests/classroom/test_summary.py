"""The numbers of a session: of each student, exercise, check, fault and written answer."""

import numpy as np
import pytest

from autograder.classroom.grades import Grade, Score
from autograder.classroom.summary import (
    BLANK,
    MIN_STUDENTS,
    NOT_GRADED,
    OUTCOMES,
    WAITING,
    CheckSummary,
    FaultSummary,
    Sign,
    discrimination,
    summarise,
)
from autograder.classroom.verdict_store import StoredVerdict, VerdictKey
from autograder.judging.verdict import ExerciseResult, Verdict
from autograder.runtime.diagnosis import RecognisedFault
from autograder.runtime.findings import CheckResult
from autograder.sandbox.options import Options


def result(name, points, outcome, *passed, most=4.0, fault=None, seconds=0.0):
    """The result of an exercise whose checks, called a, b, …, passed or not."""
    checks = (CheckResult(check, good, f"What {check} asks for.", fault=None if good else fault)
              for check, good in zip("abc", passed, strict=False))
    return ExerciseResult(name, points, most, outcome, tuple(checks), seconds)


def entry(student, *results, reason=None):
    """A stored verdict with these results."""
    points, most = sum(one.points for one in results), sum(one.max_points for one in results)
    verdict = Verdict("tp", points, most, "bubblewrap", "cpu", 1.0, "1", (), results, reason)
    return StoredVerdict(student, verdict, VerdictKey("", "", Options()))


SQUARED = RecognisedFault("squared", "You square it.")
ADA = entry("ada", result("double", 4.0, "passed", True, True, seconds=3.0), result("last", 1.0, "partial", True, False,
                                                                                   seconds=9.0))
BOB = entry("bob", result("double", 0.0, "failed", False, False, fault=SQUARED, seconds=1.0),
            result("last", 4.0, "passed", True, True))
EVE = entry("eve", result("double", 0.0, "missing"), result("last", 0.0, "missing"), reason="it is cut off")
TOM = entry("tom", result("double", 1.0, "failed", False, True, fault=SQUARED, seconds=7.0))
CLASS = [TOM, EVE, BOB, ADA]
GRADES = {
    "ada": Grade({"why": Score(None, 2.0), "how": Score(1.5, 3.0)}, {}, penalty=0.5, seconds_late=60.0),
    "bob": Grade({"why": Score(0.0, 2.0), "how": Score(0.0, 3.0, is_manual=True), "check-last": Score(3.0, 4.0)}, {}),
    "eve": Grade({"why": Score(0.0, 2.0), "how": Score(0.0, 3.0)}, {}, penalty=7.0),
}


def test_each_student_has_a_row_in_the_order_of_names():
    summary = summarise("tp", CLASS, GRADES)
    assert (summary.session, summary.names) == ("tp", ("double", "last", "why", "how"))
    rows = {row.student: row for row in summary.rows}
    assert list(rows) == ["ada", "bob", "eve", "tom"]
    read = [Sign("read", "1.5", "1.5 of 3 points"), Sign("read", "0", "0 of 3 points")]
    assert rows["ada"].signs == (OUTCOMES["passed"], OUTCOMES["partial"], WAITING, read[0])
    assert rows["bob"].signs == (OUTCOMES["failed"], OUTCOMES["passed"], BLANK, read[1])
    assert rows["eve"].signs == (NOT_GRADED,) * 4
    assert rows["tom"].signs == (OUTCOMES["failed"], OUTCOMES["missing"], BLANK, BLANK)
    assert {name: row.points for name, row in rows.items()} == {"ada": 6.0, "bob": 3.0, "eve": 0.0, "tom": 1.0}
    assert {name: row.unread_points for name, row in rows.items()} == {"ada": 2.0, "bob": 0.0, "eve": 0.0, "tom": 0.0}
    assert [row.lateness for row in summary.rows] == ["1 minute late", None, None, None]


def test_the_points_of_all_and_those_that_are_still_to_be_read():
    summary = summarise("tp", CLASS, GRADES)
    assert (summary.max_automatic, summary.max_points, summary.unread_points) == (8.0, 13.0, 2.0)
    assert summary.automatic == [1.0, 0.0, 4.0, 5.0] and summary.ungraded == 1
    nobody = summarise("tp", [], {})
    assert (nobody.max_points, nobody.max_automatic, nobody.rows, nobody.exercises) == (0.0, 0.0, (), [])


def test_an_exercise_is_summed_up_over_those_that_could_be_graded():
    double, last = summarise("tp", CLASS, GRADES).exercises
    assert (double.name, double.max_points, double.mean, double.pass_rate) == ("double", 4.0, 5 / 3, 1 / 3)
    assert double.outcomes == {"passed": 1, "failed": 2}
    assert double.checks == [CheckSummary("a", 1, 3, "What a asks for."), CheckSummary("b", 2, 3, "What b asks for.")]
    assert (double.median_seconds, double.longest_seconds) == (3.0, 7.0)
    assert [one.max_points for one in summarise("tp", [ADA], {}).exercises] == [4.0, 4.0]
    assert (last.mean, last.pass_rate, last.checks[1].passed, last.checks[1].submissions) == (2.5, 0.5, 1, 2)


def test_a_written_answer_is_summed_up_over_those_that_are_read():
    why, how = summarise("tp", CLASS, GRADES).answers
    assert (why.name, why.max_points, why.read, why.unread, why.blank, why.share) == ("why", 2.0, 0, 1, 2, None)
    assert (how.name, how.max_points, how.read, how.unread, how.blank, how.share) == ("how", 3.0, 2, 0, 1, 0.25)


def test_each_fault_has_its_students_once_the_most_frequent_first():
    shifted, names = RecognisedFault("shifted", "You shift it."), "max zoe kim una ira bea leo".split()
    entries = [BOB, *(entry(name, result("last", 0.0, "failed", False, False, fault=shifted)) for name in names), TOM,
               entry("gil", result("abs", 0.0, "failed", False, fault=shifted))]
    assert summarise("tp", entries, {}).faults == [
        FaultSummary("last", "shifted", tuple(sorted(names)), "You shift it."),
        FaultSummary("double", "squared", ("bob", "tom"), "You square it."),
        FaultSummary("abs", "shifted", ("gil",), "You shift it.")]


def test_how_well_an_item_tells_students_apart_is_the_correlation_with_the_other_points():
    points = [0.0, 1.0, 2.0, 4.0, 4.0]
    entries = [entry(f"s{i}", result("double", own, "failed", False), result("last", 5.0 - own, "failed", False),
                     result("abs", float(i % 2), "failed", False)) for i, own in enumerate(points)]
    grades = {f"s{i}": Grade({"why": Score(2.0 if i == 4 else None, 2.0), "how": Score(float(i), 4.0, True)}, {})
              for i in range(5)}
    summary = summarise("tp", entries, grades)
    odd = [i % 2 for i in range(5)]
    assert [one.discrimination for one in summary.exercises] == [
        pytest.approx(np.corrcoef(points, np.subtract(odd, points))[0, 1]),
        pytest.approx(np.corrcoef(np.negative(points), np.add(points, odd))[0, 1]), None], "all others are as many"
    assert [one.discrimination for one in summary.answers] == [None, pytest.approx(0)], "one of the two is read once"
    rising = [entry(f"s{i}", result("double", own, "failed", False)) for i, own in enumerate(points)]
    assert summarise("tp", rising, grades).answers[1].discrimination == pytest.approx(11 / 128**0.5)
    pairs = [(float(i), 2.0 * i) for i in range(MIN_STUDENTS)]
    assert discrimination(pairs) == pytest.approx(1) and discrimination(pairs[1:]) is None
    assert discrimination([(1.0, other) for _, other in pairs]) is None
