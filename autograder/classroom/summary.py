"""One session in numbers: a row for each student, and how each exercise, check, fault and written answer did."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import StatisticsError, correlation, mean, median

from ..judging.verdict import Outcome
from ..runtime.text import decimals, points_text
from .grades import NO_GRADE, Grade, Score
from .verdict_store import StoredVerdict

MIN_STUDENTS = 5  # students below whom a correlation says nothing


@dataclass(frozen=True)
class Sign:
    """The outcome of one exercise or answer: its kind (which colours it), its sign, and its meaning in words."""

    kind: str  # an outcome of the judge; "waiting", "read" or "blank" of an answer; "ungraded"
    sign: str
    words: str


OUTCOMES = {kind: Sign(kind, sign, words) for kind, sign, words in (  # of the judge; every font has these signs
    ("passed", "✓", "right"),
    ("partial", "◐", "in part"),
    ("failed", "✗", "not right yet"),
    ("missing", "–", "not written"),
    ("error", "!", "stops with an error"),
    ("timeout", "∞", "took too long"),
    ("crashed", "†", "crashed"),
)}
BLANK, WAITING = Sign("blank", "–", "blank"), Sign("waiting", "…", "waiting to be read")  # of written answers
NOT_GRADED = Sign("ungraded", "?", "not graded")  # of all in a file that cannot be read


@dataclass(frozen=True)
class StudentRow:
    """One student: the signs in the order of the columns, points so far, and points of answers still to be read."""

    student: str
    signs: tuple[Sign, ...]
    points: float
    unread_points: float
    lateness: str | None


@dataclass(frozen=True)
class CheckSummary:
    """One check: the submissions that pass it, all that were checked, and its description."""

    name: str
    passed: int
    submissions: int
    description: str


@dataclass(frozen=True)
class ExerciseSummary:
    """One exercise: points, their mean, share with full marks, how well it tells students apart, results, and the
    seconds its checks took (median, and the longest)."""

    name: str
    max_points: float
    mean: float
    pass_rate: float
    discrimination: float | None
    outcomes: Counter[Outcome]
    checks: list[CheckSummary]
    median_seconds: float
    longest_seconds: float


@dataclass(frozen=True)
class AnswerSummary:
    """One written answer: how many are read, and the mean share of their points."""

    name: str
    max_points: float
    read: int
    unread: int
    blank: int
    share: float | None  # None: nobody has read one
    discrimination: float | None


@dataclass(frozen=True)
class FaultSummary:
    """A fault that was recognised, and the students who made it."""

    exercise: str
    name: str
    students: tuple[str, ...]
    feedback: str


@dataclass(frozen=True)
class ClassSummary:
    """One session. ``automatic`` are the automatic points of all submissions.

    What comes after ``ungraded`` is of those that could be graded.
    """

    session: str
    names: tuple[str, ...]  # of the columns: exercises, then written answers
    rows: tuple[StudentRow, ...]
    max_points: float  # with those of written answers
    max_automatic: float
    automatic: list[float]
    answers: list[AnswerSummary]
    ungraded: int
    exercises: list[ExerciseSummary]
    faults: list[FaultSummary]

    @property
    def unread_points(self) -> float:
        """The points of all answers still to be read."""
        return sum(row.unread_points for row in self.rows)


def summarise(session: str, entries: Sequence[StoredVerdict], grades: Mapping[str, Grade]) -> ClassSummary:
    """Return the numbers of a session from its verdicts, and from the grades in the gradebook."""
    graded = [entry for entry in entries if not entry.verdict.ungraded_reason]
    exercises = list(dict.fromkeys(result.exercise for entry in entries for result in entry.verdict.exercises))
    answers = {name: score.max_points for entry in entries
               for name, score in grades.get(entry.student, NO_GRADE).answer_scores.items()}
    max_automatic = max((entry.verdict.max_points for entry in entries), default=0.0)
    return ClassSummary(
        session=session,
        names=(*exercises, *answers),
        rows=tuple(_row(entry, exercises, list(answers), grades.get(entry.student, NO_GRADE))
                   for entry in sorted(entries, key=lambda entry: entry.student)),
        max_points=max_automatic + sum(answers.values()),
        max_automatic=max_automatic,
        automatic=[entry.verdict.points for entry in entries],
        answers=[_answer(name, points, entries, grades) for name, points in answers.items()],
        ungraded=len(entries) - len(graded),
        exercises=[_exercise(name, graded) for name in dict.fromkeys(
            result.exercise for entry in graded for result in entry.verdict.exercises)],
        faults=_faults(graded),
    )


def _row(entry: StoredVerdict, exercises: Sequence[str], answers: Sequence[str], grade: Grade) -> StudentRow:
    results = {result.exercise: result for result in entry.verdict.exercises}
    scores = [grade.exercise_scores.get(name, Score(result.points, result.max_points))
              for name, result in results.items()]
    scores += [grade.scores[name] for name in answers if name in grade.scores]
    signs = [NOT_GRADED if entry.verdict.ungraded_reason else
             OUTCOMES[results[name].outcome if name in results else "missing"] for name in exercises]
    return StudentRow(
        student=entry.student,
        signs=(*signs, *(_sign(entry, grade.scores.get(name)) for name in answers)),
        points=max(0.0, sum(score.points or 0.0 for score in scores) - grade.penalty),
        unread_points=sum(score.max_points for score in scores if score.points is None),
        lateness=grade.lateness,
    )


def _sign(entry: StoredVerdict, score: Score | None) -> Sign:
    """Return the sign of a written answer."""
    if score is None or (score.points == 0 and not score.is_manual):
        return NOT_GRADED if entry.verdict.ungraded_reason else BLANK
    if score.points is None:
        return WAITING
    return Sign("read", decimals(score.points), points_text(score.points, score.max_points))


def _answer(name: str, points: float, entries: Sequence[StoredVerdict], grades: Mapping[str, Grade]) -> AnswerSummary:
    scores = [grades.get(entry.student, NO_GRADE).scores.get(name) for entry in entries]
    kinds = [_sign(entry, score).kind for entry, score in zip(entries, scores, strict=True)]
    pairs = [(score.points, entry.verdict.points) for entry, score in zip(entries, scores, strict=True)
             if score and score.points is not None]
    read = [score.points or 0.0 for score, kind in zip(scores, kinds, strict=True) if score and kind == "read"]
    return AnswerSummary(name, points, kinds.count("read"), kinds.count("waiting"), kinds.count("blank"),
                         mean(read) / points if read else None, discrimination(pairs))


def discrimination(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Return how well an item tells students apart: the correlation of its points with those of the other exercises.

    None where it cannot be said: too few students, or all of them alike.
    """
    if len(pairs) < MIN_STUDENTS:
        return None
    try:
        return correlation(*zip(*pairs, strict=True))
    except StatisticsError:  # one of the two is constant
        return None


def _exercise(name: str, entries: Sequence[StoredVerdict]) -> ExerciseSummary:
    judged = [(result, entry.verdict.points) for entry in entries
              for result in entry.verdict.exercises if result.exercise == name]
    results = [result for result, _ in judged]
    outcomes = Counter(result.outcome for result in results)
    passed, submissions, descriptions = Counter[str](), Counter[str](), dict[str, str]()
    for check in (check for result in results for check in result.checks):
        submissions[check.check] += 1
        passed[check.check] += check.passed
        descriptions.setdefault(check.check, check.description)
    return ExerciseSummary(
        name=name,
        max_points=results[0].max_points,
        mean=mean(result.points for result in results),
        pass_rate=outcomes["passed"] / len(results),
        discrimination=discrimination([(result.points, total - result.points) for result, total in judged]),
        outcomes=outcomes,
        checks=[CheckSummary(check, passed[check], n, descriptions[check]) for check, n in submissions.items()],
        median_seconds=median(result.seconds for result in results),
        longest_seconds=max(result.seconds for result in results),
    )


def _faults(entries: Sequence[StoredVerdict]) -> list[FaultSummary]:
    """Return the faults that were recognised, the most frequent first."""
    students: dict[tuple[str, str], set[str]] = {}
    feedback: dict[tuple[str, str], str] = {}
    for entry in entries:
        for exercise, fault in entry.verdict.recognised:
            students.setdefault((exercise, fault.name), set()).add(entry.student)
            feedback.setdefault((exercise, fault.name), fault.feedback)
    ordered = sorted(students, key=lambda key: (-len(students[key]), key))
    return [FaultSummary(*key, tuple(sorted(students[key])), feedback[key]) for key in ordered]
