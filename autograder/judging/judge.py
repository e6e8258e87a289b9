"""The judge: record on the solution, replay in the student's kernel, compare here.

Nothing that a kernel prints, raises or sends can be a score. The judge never imports or evaluates what a student
wrote; it sends calls into a sandbox and compares the plain arrays that come back with those of the solution.
"""

import contextlib
import hashlib
import math
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate, chain, repeat

from ..course import Course
from ..model.errors import SourceError
from ..model.faults import Fault
from ..model.oracle import Oracle, load_oracle
from ..model.selfcheck_recording import released_selfchecks
from ..model.source import load_source
from ..model.trace import Check
from ..runtime import compare
from ..runtime.diagnosis import RecognisedFault
from ..runtime.difference import Difference
from ..runtime.findings import CheckResult, fail_constant_checks, result_of, share_passed
from ..runtime.locate.search import all_recognised, searched_checks
from ..runtime.recorded import CapturedError, RecordedCheck, Reply
from ..runtime.text import first_lines
from ..sandbox.host import KernelLost, Sandbox
from ..sandbox.options import Options
from ..sandbox.restrictions import SandboxError
from .submission import Submission, SubmissionError, parse, plan
from .submission_run import STOPPED, SubmissionRun
from .verdict import ExerciseResult, Outcome, SoftLimitExceeded, Verdict

MAX_NOTES = 20  # on a submission
DYNAMO = "torch._dynamo"  # the first optimizer of a process imports it, for a second: once here for all kernels
JUDGE_PLACE_SECONDS = 8.0  # of the judge's CPU time, after which it looks for no further place

Records = dict[str, list[list[RecordedCheck]]]  # by exercise, of each check


def check_seed(seed: str, exercise: str, check: str) -> int:
    """Return the seed of one check's instance."""
    digest = hashlib.sha256(f"{seed}/{exercise}/{check}".encode()).digest()
    return int.from_bytes(digest[:8], "little") % 2**62


def records_of(oracle: Oracle, exercise: str, seed: str, device: str = "cpu") -> list[list[RecordedCheck]]:
    """Return the records of each check of an exercise, made on the solution with the instance of this seed.

    They are compared with replies of ``device``.
    """
    return [[record.for_device(device)
             for record in oracle.recorder.record(check, check_seed(seed, exercise, check.name))]
            for check in oracle.checks_of(exercise)]


class Judge:
    """Grades notebooks of a course one after another, in kernels of one sandbox; a context manager."""

    def __init__(self, course: Course, options: Options = Options(), sandbox: Sandbox | None = None):
        self.course, self.options = course, options
        self.sandbox = sandbox or Sandbox(course.helpers, options)
        self._last: tuple[str, str, Records] | None = None  # session, seed, and what was recorded with it

    def __enter__(self) -> "Judge":
        return self

    def __exit__(self, *_: object) -> None:
        self.sandbox.close()

    def judge(self, submission: Submission, seed: str, soft_seconds: float = math.inf) -> Verdict:
        """Judge whatever was handed in: what cannot be graded has no points, and a reason.

        ``SoftLimitExceeded`` when its cells and checks run for more than ``soft_seconds``.
        """
        try:
            if submission.unreadable:
                raise SubmissionError(submission.unreadable)
            return self._grade(submission, seed, soft_seconds)
        except SubmissionError as error:
            reason = str(error)
        except (SandboxError, SourceError, OSError, SoftLimitExceeded):
            raise  # this machine's fault or the course's, not the submission's; or there is no verdict yet
        except Exception as error:  # whatever a submission does to the judge, it has a grade and a reason
            reason = f"the judge failed on it ({type(error).__name__}): tell its authors"
        source = load_source(self.course, submission.session)
        return Verdict.ungraded(source, submission, seed, self.options, reason)

    def _grade(self, submission: Submission, seed: str, soft_seconds: float = math.inf) -> Verdict:
        """Judge a notebook; ``SubmissionError`` when the bytes are none of this session."""
        started = time.monotonic()
        cells = parse(submission.data, submission.filename)
        self.sandbox.start()  # beside it the solution runs
        oracle = load_oracle(self.course, submission.session)
        steps = plan(cells, oracle.source)
        records = self._records_of(oracle, seed)  # before the kernel is waited for
        with SubmissionRun(self.sandbox, steps, soft_seconds) as run:
            results = [_exercise(run, oracle, name, records[name]) for name in oracle.source.exercises]
            if run.notebook_budget.wall_used > soft_seconds:
                raise SoftLimitExceeded
            # last, so that the search counts against no exercise and is not repeated if the submission is set aside
            run.notebook_budget.wall_limit = self.options.limits.notebook_wall_seconds
            until = time.process_time() + JUDGE_PLACE_SECONDS
            results = [_placed(run, result, oracle, until) for result in results]
        notes = _first_notes([*steps.notes, *run.notes])
        if oracle.source.solution_path.is_file() and oracle.source.solution_path.read_bytes() == submission.data:
            notes.append("the file is the notebook of the solution, byte for byte")
        seconds = round(time.monotonic() - started, 3)
        return Verdict.graded(submission, seed, self.options, results, notes, seconds)

    def _records_of(self, oracle: Oracle, seed: str) -> Records:
        """Return what is recorded with this seed; keep the last instance, because other submissions may share it."""
        session = oracle.source.name
        if self._last is None or self._last[:2] != (session, seed):
            records = {name: records_of(oracle, name, seed, self.options.device) for name in oracle.source.exercises}
            if DYNAMO in sys.modules:
                self.sandbox.load(DYNAMO)
            self._last = session, seed, records
        return self._last[2]


def _exercise(run: SubmissionRun, oracle: Oracle, exercise: str,
              records: Sequence[Sequence[RecordedCheck]]) -> ExerciseResult:
    """Return the result of an exercise, its checks replayed in the kernel of a run."""
    before = run.notebook_budget.wall_used
    replies, lost = run.replay(exercise, list(chain.from_iterable(records)))
    seconds = round(run.notebook_budget.wall_used - before, 3)
    cells = [step.source for step in run.plan.steps]
    result = grade_exercise(oracle, exercise, records, replies, run.errors.get(exercise), lost, cells=cells)
    return replace(result, seconds=seconds)


def _placed(run: SubmissionRun, result: ExerciseResult, oracle: Oracle, until: float) -> ExerciseResult:
    """Return the result, its checks that fail with the place where the answer goes wrong.

    Nothing is looked for when the judge has used ``until`` seconds of CPU time. What is sent into the kernel has public
    seeds: no expected value of the instance that is graded.
    """
    is_searched = result.outcome in ("partial", "failed", "error") and run.sandbox.options.device == "cpu"
    if not is_searched or time.process_time() >= until:
        return result
    selfchecks, checks = released_selfchecks(oracle, result.exercise), result.checks
    sent: Sequence[int] = range(len(selfchecks))
    if all_recognised(checks):  # nothing is edited then: values are replaced in the first record of these checks alone
        sent = searched_checks(checks)
        selfchecks = [replace(check, records=check.records[:1]) for check in selfchecks]
    faults = {number: checks[i].fault for number, i in enumerate(sent) if checks[i].difference}
    with contextlib.suppress(KernelLost):
        places = dict(zip(sent, run.find_places(result.exercise, [selfchecks[i] for i in sent], faults), strict=True))
        return replace(result, checks=tuple(replace(check, place=places.get(i)) for i, check in enumerate(checks)))
    return result


def grade_exercise(oracle: Oracle, exercise: str, records: Sequence[Sequence[RecordedCheck]], replies: Sequence[Reply],
                   cell_error: CapturedError | None = None, lost: KernelLost | None = None,
                   unlisted: Fault | None = None, cells: Sequence[str] = ()) -> ExerciseResult:
    """Return the result of an exercise whose checks were replayed, in a kernel or by the audit.

    ``records`` are those of each check, ``replies`` come one for each of them in order, and fewer where the kernel was
    ``lost``; ``cell_error`` is what the exercise's cell stopped with. ``unlisted`` is a fault that is not to be named,
    ``cells`` are those of the notebook.
    """
    checks = oracle.checks_of(exercise)
    by_check = _by_check(records, replies)
    firsts, got = [own[0] for own in records[:len(by_check)]], [own[0] for own in by_check]
    named = _also_for_relations(oracle, exercise, oracle.diagnose(exercise, firsts, got, unlisted), records, by_check)
    results = [_result(check, own, reply, fault, cell_error, cells)
               for check, own, reply, fault in zip(checks, records, by_check, named, strict=False)]
    results += [CheckResult(check.name, False, check.description, Difference("not-checked", reason=str(lost)))
                for check in checks[len(by_check):]]
    constant = (result.passed and oracle.recorder.is_constant(check)
                for check, result in zip(checks, results, strict=True))
    results = fail_constant_checks(results, constant)
    share = share_passed(results, [check.weight for check in checks])
    points = oracle.source.points(exercise)
    outcome = lost.outcome if lost else _outcome(results, got, cell_error)
    return ExerciseResult(exercise, round(share * points, 4), points, outcome, tuple(results))


def _also_for_relations(oracle: Oracle, exercise: str, named: Sequence[RecognisedFault | None],
                        records: Sequence[Sequence[RecordedCheck]],
                        by_check: Sequence[Sequence[Reply]]) -> list[RecognisedFault | None]:
    """Return the faults; where one alone was recognised, also for the checks whose same relation it breaks."""
    causes = {cause.name: cause for cause in named if cause}
    names = list(named)
    if len(causes) != 1 or all(names):
        return names
    (cause,) = causes.values()
    fault = next((fault for fault in oracle.faults_of(exercise) if fault.name == cause.name), None)
    if fault is None:  # two listed faults at once, which have a name of their own
        return names
    for i, (of_check, replies) in enumerate(zip(records, by_check, strict=False)):
        differences = list(map(compare.first_difference, of_check, replies))
        if names[i] is None and any(differences):
            if differences == list(map(compare.first_difference, of_check, oracle.replay(fault, of_check))):
                names[i] = cause
    return names


def _by_check(records: Sequence[Sequence[RecordedCheck]], replies: Sequence[Reply]) -> list[Sequence[Reply]]:
    """Return the replies of each check that was replayed to its end."""
    ends = accumulate(map(len, records))
    return [replies[end - len(of_check):end] for of_check, end in zip(records, ends, strict=True)
            if end <= len(replies)]


def _result(check: Check, records: Sequence[RecordedCheck], replies: Sequence[Reply], fault: RecognisedFault | None,
            cell_error: CapturedError | None, cells: Sequence[str]) -> CheckResult:
    result = result_of(check.name, check.description, zip(records, replies, repeat(fault)), cells)
    if cell_error and result.difference and result.difference.kind == "missing-name":
        return CheckResult(check.name, False, check.description, compare.error_difference(cell_error))
    return result


def _outcome(results: Sequence[CheckResult], replies: Sequence[Reply], cell_error: CapturedError | None) -> Outcome:
    passed = sum(result.passed for result in results)
    if passed:
        return "passed" if passed == len(results) else "partial"
    errors = [reply.error for reply in replies if reply.error]
    if len(errors) < len(replies):
        return "failed"
    if not cell_error and all(error.kind in ("not-written", "missing-name") for error in errors):
        return "missing"
    return "error"


def _first_notes(notes: Sequence[str]) -> list[str]:
    """Return the first of many notes, each once, those on stopped cells last; and how many more there are."""
    return first_lines(sorted(dict.fromkeys(notes), key=lambda note: note.startswith(STOPPED)), MAX_NOTES)
