"""A small class that has been graded, without running anything: verdicts as the judge writes them are entered."""

from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from autograder.classroom import assessments
from autograder.classroom.nbgrader.term import Term
from autograder.classroom.samples import classroom_in, hand_in
from autograder.classroom.submitted import SubmittedFile
from autograder.classroom.verdict_store import StoredVerdict, VerdictKey
from autograder.judging.verdict import ExerciseResult, Verdict
from autograder.model.oracle import load_oracle
from autograder.model.rubric import RubricItem
from autograder.model.source import TEXT_STUB, load_source
from autograder.publish import notebooks
from autograder.publish.notebooks import filled, solved
from autograder.runtime.diagnosis import RecognisedFault
from autograder.runtime.difference import Difference, Outline
from autograder.runtime.findings import CheckResult
from autograder.runtime.recorded import CapturedError, ErrorLocation
from autograder.runtime.side_by_side import SideBySide
from autograder.sandbox.options import Options
from conftest import TINY, TINY_COURSE

SQUARED = load_oracle(TINY_COURSE, TINY).faults_of("double")[0]
NAMED = RecognisedFault(SQUARED.name, SQUARED.feedback)
NOT_WRITTEN = Difference("not-written", error=CapturedError("not-written", "NotImplementedError", ""))
HOSTILE = """<script>alert(1)</script><img src="http://tracker.example/x.png" onerror="alert(2)">
[click](javascript:alert(3)) $\\href{javascript:alert(4)}{x}$ $\\text{<script>alert(5)</script>}$ and $\\frac{a}{b}$

<style>body { display: none }</style> <iframe src="http://example.org"></iframe> {{ 7 * 7 }}"""
LONG = "a_very_long_name_that_has_no_place_to_break_" * 8


def question() -> str:
    """The only question of the tiny session, as a student finds it."""
    cells = notebooks.released_notebook(load_source(TINY_COURSE, TINY)).cells
    return next(cell.source for cell in cells if cell.id == "why").replace(TEXT_STUB, "").strip()


def verdict(*exercises: ExerciseResult, **more) -> Verdict:
    """A verdict with these results, the others of the tiny session right."""
    source = load_source(TINY_COURSE, TINY)
    given = {result.exercise: result for result in exercises}
    results = [given.get(name) or ExerciseResult(name, source.points(name), source.points(name), "passed",
                                                 (CheckResult("values", True, "Right values."),))
               for name in source.exercises]
    about = {"isolation": "bubblewrap", "device": "cpu", "seconds": 1.5, "seed": "b8b24609d7366d646f32a8a9a0928b9a",
             "notes": (), **more}
    return Verdict(TINY, sum(r.points for r in results), sum(r.max_points for r in results),
                   exercises=tuple(results), **about)


def squared() -> ExerciseResult:
    """`double` squared: one fault, seen by both checks."""
    return ExerciseResult("double", 0.0, 2.0, "failed", (
        CheckResult("values", False, "Twice every number.", wrong("doubled", 1.4, 0.49), NAMED,
                    SideBySide("doubled", ("A", "B"), (0, 0), (2, 9), ("1.4 2 0 -3 4 5 0.125", "0 0 0 0 0 0 0"),
                           ("0.49 1 0 2.25 4 6.25 0.00390625", "0 0 0 0 0 0 0"), ("1101011", "0000000"))),
        CheckResult("gradient", False, "The gradient flows back.", wrong("gradient", 2.0, 1.4), NAMED)))


def wrong(output: str, expected: float, got: float) -> Difference:
    """A number that is not as expected."""
    return Difference("value", output=output, expected=Outline("float", expected), got=Outline("float", got),
                      index=(0, 0), wrong_count=5, value_count=18)


def stopped() -> ExerciseResult:
    """`last` stops in its second line, in one check of two."""
    return ExerciseResult("last", 1.33333, 2.0, "partial", (
        CheckResult("row", False, "The last row.", Difference("raised", error=CapturedError(
            "raised", "IndexError", f"index 9 is out of range {LONG}",
            ErrorLocation(2, "last", "return double(rows[9])")))),
        CheckResult("column", True, "The last row of a column.")))


def not_written() -> ExerciseResult:
    """`encoder` as it was released."""
    return ExerciseResult("encoder", 0.0, 4.0, "missing", (
        CheckResult("states", False, "All states.", NOT_WRITTEN),
        CheckResult("initial-state", False, "The state that it starts from.", NOT_WRITTEN)))


def classroom(folder: Path) -> Term:
    """The course in ``folder``: ada all right and answered, bob wrong in three ways, eve blank, tom unreadable."""
    course = classroom_in(folder, TINY_COURSE, [TINY])
    made = Term(course)
    made.register(TINY)
    right = solved(TINY_COURSE, TINY)
    wrong = {"double": right["double"].replace("2 * x", "x * x"), "last": "def last(rows):\n    return double(rows[9])",
             "why": f"{question()}\n\n{HOSTILE}"}
    enter(made, "ada", {**right, "why": f"{question()}\n\nBecause $x^2$."}, verdict())
    enter(made, "bob", wrong, verdict(squared(), not_written(), stopped(), notes=("the cell `<b>x</b>` was left out",)))
    assessments.save(course, TINY, "bob", {"why": assessments.Assessment(1.25, (
        assessments.AssessedItem(RubricItem(1.25, "it says `why`"), True),
        assessments.AssessedItem(RubricItem(0.75, f"it says how {LONG}"), False)))})
    blank = CheckResult("a", False, "It is.", NOT_WRITTEN)
    enter(made, "eve", {}, verdict(*(ExerciseResult(name, 0.0, points, "missing", (blank,))
                                     for name, points in (("double", 2.0), ("encoder", 4.0), ("last", 2.0)))))
    unread = CheckResult("submission", False, "It can be graded.", Difference("not-checked", reason="cut off"))
    nothing = [ExerciseResult(name, 0.0, 2.0, "missing", (unread,)) for name in right]
    enter(made, "tom", "{ cut off", verdict(*nothing, ungraded_reason="it is not a notebook <b>at all</b>"))
    return made


def enter(made: Term, student: str, cells, judged: Verdict) -> None:
    """Hand in, and enter this verdict."""
    content = cells if isinstance(cells, str) else filled(TINY_COURSE, TINY, cells)
    path = hand_in(made.course, student, TINY, content)
    path.with_name("timestamp.txt").write_text(f"{datetime(2026, 11, 21, 14, 2, tzinfo=UTC):%Y-%m-%d %H:%M:%S} UTC\n")
    key = VerdictKey(sha256(path.read_bytes()).hexdigest(), "", Options())
    made.enter(SubmittedFile(student, TINY, path), StoredVerdict(student, judged, key))
