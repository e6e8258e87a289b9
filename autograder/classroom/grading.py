"""Grade a whole class: judged side by side, entered in the gradebook by one writer, resumable at any moment.

Submissions are judged by an executor (threads here, or a Dask cluster), each thread of which watches a judge in a
process of its own; a task carries the bytes of a notebook and its seed, and returns a verdict. The verdict is kept
first and entered into nbgrader's gradebook second; whatever a stopped run left undone, the next one does.
"""

import contextlib
import logging
import math
import secrets
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any

import nbformat

from .. import course as courses
from .. import escaping
from ..course import Course
from ..judging import judge_process
from ..judging.seeds import instance_seeds, new_seed
from ..judging.submission import Submission
from ..judging.verdict import SoftLimitExceeded, Verdict
from ..model.errors import one_line
from ..model.source import check_id
from ..publish import notebooks
from ..runtime.rich_output import text_table
from ..runtime.text import decimals
from ..sandbox.options import Options
from ..sandbox.restrictions import SandboxError
from .nbgrader.gradebook import GradebookError
from .nbgrader.term import Term
from .submitted import SubmittedFile
from .summary import OUTCOMES
from .verdict_store import StoredVerdict

log = logging.getLogger("autograder")
UNSAFE = "graded WITHOUT ISOLATION: student code could read and change everything here"
MIN_FOR_SOFT_LIMIT = 8  # number of waiting submissions of a session from which slow ones are set aside
# It may run for so many times the solution's seconds, and for so many seconds in any case.
SLOW_FACTOR, MIN_SOFT_SECONDS = 3.0, 0.5
POLL_SECONDS = 0.2  # whether the run is interrupted
MAX_PENDING = 64  # submissions at once with an executor whose number of workers is unknown


@dataclass(frozen=True)
class GradingResult:
    """The outcome of one submission: its verdict, a problem on this machine, and whether it was judged just now."""

    file: SubmittedFile
    verdict: Verdict | None = None
    problem: str | None = None
    fresh: bool = True


Progress = Callable[[GradingResult, int, int], None]  # with each result: how many are done, of how many


def grade_class(term: Term, sessions: list[str], options: Options = Options(), workers: int | Executor = 1,
                force: bool = False, each: Progress = lambda graded, done, total: None,
                is_interrupted: Callable[[], bool] = lambda: False,
                students: Collection[str] | None = None) -> list[GradingResult]:
    """Grade the submissions of these sessions, with so many workers, or with an executor.

    ``students`` are those whose submissions are graded; None for all.
    ``KeyboardInterrupt`` soon after ``is_interrupted`` says so.
    """
    registered, refused = list[str](), list[GradingResult]()
    for session in sessions:
        try:
            term.register(session)
        except GradebookError as error:
            everybody = SubmittedFile("all students", session, term.course.submitted)
            refused.append(GradingResult(everybody, problem=str(error)))
        else:
            registered.append(session)
    files = [file for file in term.submitted(registered) if students is None or file.student in students]
    done: list[GradingResult] = []
    waiting: list[SubmittedFile] = []
    copies: Counter[str] = Counter()

    def finish(graded: GradingResult) -> None:
        done.append(graded)
        each(graded, len(done), len(files) + len(refused))
        if is_interrupted():
            raise KeyboardInterrupt

    for graded in refused:
        finish(graded)
    with term.gradebook() as gradebook:
        points = {name: gradebook.automatic_points(name) for name in registered}
    for file in files:
        if file.problem:
            finish(GradingResult(file, problem=file.problem))
            continue
        try:
            submission = file.read()
            kept = None if force else term.store.current(submission, options)
        except OSError as error:
            finish(GradingResult(file, problem=one_line(error)))
            continue
        if kept is None:
            waiting.append(file)
            copies[submission.digest] += 1
        elif (kept.entered and _stands(kept.verdict, points[file.session].get(file.student))
              and not term.has_other_files(file)):
            finish(GradingResult(file, kept.verdict, fresh=False))
        else:
            finish(_enter(term, file, kept))
    with _threads(workers, term.course, options) as executor:
        most_pending = 4 * workers if isinstance(workers, int) else MAX_PENDING
        shared = {digest: new_seed() for digest, number in copies.items() if number > 1}
        inputs_digests = {name: term.store.inputs_digest(name) for name in {file.session for file in waiting}}
        run = _Run(executor, term, options, shared, inputs_digests, is_interrupted)
        for graded in run.graded(waiting, most_pending):
            finish(graded)
    return sorted(done, key=lambda graded: (graded.file.session, graded.file.student))


def _stands(verdict: Verdict, points: Mapping[str, float | None] | None) -> bool:
    """Return whether the gradebook has the points of a verdict; it has others if it is new, or an older copy."""
    return points is not None and all(points.get(check_id(result.exercise)) == result.points
                                      for result in verdict.exercises)


@contextlib.contextmanager
def _threads(workers: int | Executor, course: Course, options: Options) -> Iterator[Executor]:
    """Yield the given executor, or threads that each judge in a process of their own; end these judges at the end."""
    if not isinstance(workers, int):
        yield workers
        return
    with judge_process.server_of(course, options, "") as fork_server:
        threads = ThreadPoolExecutor(max(1, workers))
        try:
            yield threads
        except BaseException:  # nobody waits for what is being judged
            threads.shutdown(wait=False, cancel_futures=True)
            fork_server.abandon()
            raise
        finally:
            threads.shutdown(cancel_futures=True)


@dataclass(frozen=True)
class _Run:
    """One run over a class: where it is judged, and on which instances.

    ``shared`` holds the seeds of bytes that several students handed in, so that the same answer gets the same points;
    ``inputs_digests``, by session, those of what verdicts are made from, before anything was judged.
    """

    executor: Any
    term: Term
    options: Options
    shared: Mapping[str, str]
    inputs_digests: Mapping[str, str]
    is_interrupted: Callable[[], bool]
    run_id: str = field(default_factory=lambda: secrets.token_hex(16))

    def graded(self, waiting: list[SubmittedFile], most_pending: int) -> Iterator[GradingResult]:
        """Yield every waiting submission once it is judged and entered; few are judged at the same time.

        A submission that takes longer than others is set aside and judged after them, on one worker.
        """
        slow = yield from self._judged(waiting, most_pending, self._soft_limits(waiting))
        yield from self._judged(slow, 1, {})

    def _soft_limits(self, waiting: Sequence[SubmittedFile]) -> dict[str, float]:
        """Return a limit for each session of which many wait, from the seconds that the solution runs for."""
        course, soft_limits = self.term.course, {}
        for name, count in Counter(file.session for file in waiting).items():
            if count >= MIN_FOR_SOFT_LIMIT:
                notebook = notebooks.filled(course, name, notebooks.solved(course, name))
                solution = Submission(nbformat.writes(notebook).encode(), name)
                judged = self.executor.submit(judge_one, course, solution, self.options, self.run_id,
                                              self._seed(solution))
                self._first_done([judged])
                try:
                    verdict = judged.result()
                    if not verdict.ungraded_reason:
                        seconds = sum(result.seconds for result in verdict.exercises)
                        soft_limits[name] = max(MIN_SOFT_SECONDS, SLOW_FACTOR * seconds)
                except SandboxError:
                    raise
                except Exception as error:  # then nobody is set aside
                    log.info("%s: no soft limit (%s)", name, one_line(error))
        return soft_limits

    def _judged(self, waiting: Sequence[SubmittedFile], most_pending: int,
                soft_limits: Mapping[str, float]) -> Generator[GradingResult, None, list[SubmittedFile]]:
        """Yield each submission once it is judged and entered; return those that exceed a soft limit."""
        queue = list(reversed(waiting))
        pending: dict[Future[Verdict], tuple[SubmittedFile, Submission]] = {}
        slow: list[SubmittedFile] = []
        while queue or pending:
            while queue and len(pending) < most_pending:
                file = queue.pop()
                try:
                    submission = file.read()
                except OSError as error:
                    yield GradingResult(file, problem=one_line(error))
                    continue
                soft_seconds = soft_limits.get(file.session, math.inf)
                pending[self.executor.submit(judge_one, self.term.course, submission, self.options, self.run_id,
                                             self._seed(submission), soft_seconds)] = file, submission
            for future in self._first_done(pending):
                file, submission = pending.pop(future)
                try:
                    verdict = future.result()
                except SandboxError:
                    raise
                except SoftLimitExceeded:
                    slow.append(file)
                except Exception as error:  # a fault of ours: say so, and go on with the others
                    yield GradingResult(file, problem=one_line(error))
                else:
                    yield self._record(file, submission, verdict)
        return slow

    def _first_done(self, pending: Iterable[Future[Any]]) -> set[Future[Any]]:
        """Wait for one of these, and return those that are done."""
        while not (done := wait(pending, POLL_SECONDS, FIRST_COMPLETED).done):
            if self.is_interrupted():
                raise KeyboardInterrupt
        return done

    def _record(self, file: SubmittedFile, submission: Submission, verdict: Verdict) -> GradingResult:
        """Keep a fresh verdict, and enter it."""
        try:
            key = self.term.store.key(submission, self.options, self.inputs_digests[file.session])
            entry = self.term.store.record(submission, verdict, key)
        except Exception as error:  # a full disk, or a fault of ours
            return GradingResult(file, verdict, problem=f"judged, but not kept: {one_line(error)}")
        return _enter(self.term, file, entry)

    def _seed(self, submission: Submission) -> str | None:
        """Return the seed that a submission must have; None where its worker takes one."""
        return self.term.store.last_seed(submission) or self.shared.get(submission.digest)


def _enter(term: Term, file: SubmittedFile, entry: StoredVerdict) -> GradingResult:
    try:
        term.enter(file, entry)
    except Exception as error:
        return GradingResult(file, entry.verdict, problem=f"judged, but not entered: {one_line(error)}")
    log.info(escaping.line(f"{file.student}, {file.session}: {decimals(entry.verdict.points)} points"))
    return GradingResult(file, entry.verdict)


def summary_table(graded: Sequence[GradingResult]) -> str:
    """Return one line of text a submission: points, outcome of each exercise, seconds."""
    rows = [[escaping.line(text) for text in _row(result)] for result in graded]
    legend = "  ".join(f"{outcome.sign} {outcome.words}" for outcome in OUTCOMES.values())
    unsafe = any(result.verdict and result.verdict.isolation == "none" for result in graded)
    table = text_table(rows, ("student", "session", "points", "exercises", "seconds", "remarks"))
    return "\n".join([table, "", legend, *([UNSAFE] if unsafe else [])])


def _row(graded: GradingResult) -> tuple[str, str, str, str, str, str]:
    file, verdict = graded.file, graded.verdict
    if verdict is None:
        return file.student, file.session, "", "", "", graded.problem or ""
    exercises = "" if verdict.ungraded_reason else " ".join(
        f"{OUTCOMES[result.outcome].sign} {result.exercise}" for result in verdict.exercises)
    seconds = f"{verdict.seconds:.1f}" if graded.fresh else "kept"
    remark = graded.problem or verdict.ungraded_reason or ", ".join(verdict.faults)
    points = f"{decimals(verdict.points)}/{decimals(verdict.max_points)}"
    return file.student, file.session, points, exercises, seconds, remark


class _ThreadSeeds(threading.local):
    """The seeds that a thread takes, by run and session."""

    def __init__(self) -> None:
        self.of: dict[tuple[str, str], Iterator[str]] = defaultdict(instance_seeds)


_thread = _ThreadSeeds()


def judge_one(course: Course, submission: Submission, options: Options, run: str, seed: str | None = None,
              soft_seconds: float = math.inf) -> Verdict:
    """Judge one submission; each thread keeps a judge, in a process of its own, and its sandbox.

    Without a seed it shares its instance with a few others of this ``run``. ``SoftLimitExceeded`` when it runs for
    more than ``soft_seconds``. A worker on another machine judges with the course that it was started in, when there is
    none at the same place.
    """
    judge = judge_process.judge_of_thread(course if course.solutions.is_dir() else courses.find(), options)
    return judge.judge(submission, seed or next(_thread.of[run, submission.session]), soft_seconds)
