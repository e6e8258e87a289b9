"""Grade a whole class: judged side by side, entered in the gradebook by one writer, resumable at any moment.

Submissions are judged by an executor (threads here, or a Dask cluster), each thread of which watches a judge in a
process of its own; a task carries the bytes of a notebook and its seed, and returns a verdict. The verdict is kept
first and entered into nbgrader's gradebook second; whatever a stopped run left undone, the next one does.
"""

import contextlib
import functools
import logging
import os
import threading
from collections import Counter
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import nbformat

from .. import course as courses
from .. import escaping
from ..course import Course
from ..judging import files, submission, watched
from ..judging.pace import Pace
from ..judging.seeds import SUBMISSIONS_PER_INSTANCE, InstanceSeeds, new_seed
from ..judging.submission import Submission
from ..judging.verdict import Verdict
from ..model.errors import said
from ..runtime.tables import text_table
from ..sandbox.options import Options
from ..sandbox.restrictions import SandboxError
from ..sandbox.watchdog import SetAside
from . import enclosures, samples
from .nbgrader.adapter import Nbgrader
from .nbgrader.gradebook import Gradebook
from .outcomes import SIGNS, WORDS
from .verdict_store import Entry, VerdictStore

log = logging.getLogger("autograder")
UNSAFE = "graded WITHOUT ISOLATION: student code could read and change everything here"
MANY = 8  # submissions of a session from which on those who take long are set aside
AHEAD = 64  # submissions on their way to workers whose number we do not know


@dataclass(frozen=True)
class Handed:
    """One submission as it lies in the submitted folder, ``<student>/<tp>/<notebook>``.

    ``note`` says what is unusual about where it lies, ``problem`` why it cannot be graded at all.
    """

    student: str
    assignment: str
    path: Path
    note: str | None = None
    problem: str | None = None

    def read(self) -> Submission:
        """Read what was handed in; ``OSError`` when this machine cannot read it."""
        return submission.read(self.path, self.path.parents[2], self.assignment, self.student, self.note)


@dataclass(frozen=True)
class Graded:
    """The outcome of one submission: its verdict, a problem on this machine, and whether it was judged just now."""

    handed: Handed
    verdict: Verdict | None = None
    problem: str | None = None
    fresh: bool = True


class Classroom:
    """A course in its term, with nbgrader's configuration and gradebook; ``CourseError`` without a configuration.

    ``students`` are those whose submissions count; all where none are named.
    """

    def __init__(self, course: Course, students: Collection[str] | None = None):
        self.course, self.students = course, students
        self.store = VerdictStore(course)
        self.nbgrader = Nbgrader(course)

    def gradebook(self) -> Gradebook:
        """Open nbgrader's gradebook."""
        return self.nbgrader.gradebook()

    def register(self, assignment: str) -> None:
        """Put a session into the gradebook, unless it stands there as it is now."""
        with self.store.writing():
            self.nbgrader.register(assignment)

    def handed_in(self, assignments: list[str]) -> list[Handed]:
        """Return all submissions of these sessions, in order of session and student."""
        found = handed_in(self.course.gradebook / "submitted", assignments)
        return [one for one in found if self.students is None or one.student in self.students]

    def arrived(self, assignment: str) -> list[Handed]:
        """Return the submissions of a session that were handed in, or handed in again, since it was graded."""
        found = []
        for one in self.handed_in([assignment]):
            with contextlib.suppress(OSError):  # grading says that this one cannot be read
                if not one.problem and not self.store.has(one.read()):
                    found.append(one)
        return found

    def enter(self, handed: Handed, entry: Entry) -> None:
        """Enter a kept verdict into the gradebook and write the notebook that formgrader shows."""
        with self.store.writing():
            self.nbgrader.enter(handed.path, entry.verdict, handed.student)
            self.store.save(replace(entry, entered=True))


def handed_in(submitted: Path, assignments: list[str]) -> list[Handed]:
    """Return all submissions of these sessions in a folder ``<student>/<tp>/``, in order of session and student."""
    return [_notebook_in(folder, assignment) for assignment in assignments
            for folder in sorted(submitted.glob(f"*/{assignment}"))]


def _notebook_in(folder: Path, assignment: str) -> Handed:
    """Return the notebook of a submission folder: the one with the session's name, else the only one."""
    student, right = folder.parent.name, folder / f"{assignment}.ipynb"
    if files.encodable(student) != student:  # bytes of another encoding, as the system gave them
        shown = ascii(os.fsencode(student))[2:-1]
        return Handed(shown, assignment, right, problem=f"the name of the folder {shown} is not UTF-8: rename it")
    if student != student.strip():
        beside = f" beside {student.strip()}" if (folder.parent.parent / student.strip()).is_dir() else ""
        return Handed(student, assignment, right, problem=f"the folder {student!r}{beside} has a name that begins or "
                      "ends with a space, which the gradebook leaves out: rename it")
    if folder.is_symlink() or folder.parent.is_symlink():  # what lies behind it is not named, and reading refuses it
        return Handed(student, assignment, right)
    others = [path for path in sorted(folder.glob("*.ipynb")) if path != right]
    excess = enclosures.excess(folder)
    if right.exists() or right.is_symlink() or len(others) != 1:
        return Handed(student, assignment, right, excess)
    called = f"the notebook was called {os.fsencode(others[0].name).decode('utf-8', 'backslashreplace')}"
    return Handed(student, assignment, others[0], f"{called}; {excess}" if excess else called)


Progress = Callable[[Graded, int, int], None]  # called as each submission is done: it, how many are done, of how many


def grade_class(classroom: Classroom, assignments: list[str], options: Options = Options(), workers: int | Executor = 1,
                force: bool = False, each: Progress = lambda graded, done, total: None,
                first: tuple[str, str] | None = None) -> list[Graded]:
    """Grade everything that was handed in for these sessions, so many side by side, or by workers of one's own.

    ``first`` is a session and the seed of an instance that judges have ready.
    """
    for assignment in assignments:
        classroom.register(assignment)
    handed = classroom.handed_in(assignments)
    done: list[Graded] = []
    waiting: list[Handed] = []
    alike: Counter[str] = Counter()

    def tell(graded: Graded) -> None:
        done.append(graded)
        each(graded, len(done), len(handed))

    for one in handed:
        if one.problem:
            tell(Graded(one, problem=one.problem))
            continue
        try:
            read = one.read()
            kept = None if force else classroom.store.kept(read, options)
        except OSError as error:
            tell(Graded(one, problem=said(error)))
            continue
        if kept is None:
            waiting.append(one)
            alike[read.digest] += 1
        elif kept.entered:
            tell(Graded(one, kept.verdict, fresh=False))
        else:
            tell(_entered(classroom, one, kept))
    with _executor(workers, len(waiting), classroom.course, options) as executor:
        ahead = 4 * workers if isinstance(workers, int) else AHEAD
        shared = {one: new_seed() for one, handed_in in alike.items() if handed_in > 1}
        for graded in _Class(executor, classroom, options, first, shared).graded(waiting, ahead):
            tell(graded)
    return sorted(done, key=lambda graded: (graded.handed.assignment, graded.handed.student))


@contextlib.contextmanager
def _executor(workers: int | Executor, submissions: int, course: Course, options: Options) -> Iterator[Executor]:
    """Start threads that each judge in a process of their own; stop the judges at the end."""
    if not isinstance(workers, int):
        yield workers
        return
    with watched.serving(course, options, None) as fork_server:
        threads = ThreadPoolExecutor(max(1, min(workers, submissions)))
        try:
            yield threads
        except BaseException:  # nobody waits for what is being judged
            threads.shutdown(wait=False, cancel_futures=True)
            fork_server.abandon()
            raise
        finally:
            threads.shutdown(cancel_futures=True)


class _Class:
    """One run over a class: where it is judged, and on which instances.

    ``shared`` holds the seeds of bytes that several students handed in, so that the same answer gets the same points.
    """

    def __init__(self, executor: Any, classroom: Classroom, options: Options, first: tuple[str, str] | None,
                 shared: Mapping[str, str]):
        self.executor, self.classroom, self.options, self.run = executor, classroom, options, new_seed()
        self.first, self.shared, self.left = first, shared, SUBMISSIONS_PER_INSTANCE

    def graded(self, waiting: list[Handed], ahead: int) -> Iterator[Graded]:
        """Yield every waiting submission once it is judged and entered; few are judged at the same time.

        A submission that takes longer than others is set aside and judged after them, on one worker, those with most
        parts done first.
        """
        paces = self._paces(waiting)
        late = yield from self._judged(waiting, ahead, paces)
        if late:
            late = yield from self._judged(late, 1, {name: replace(pace, loose=True) for name, pace in paces.items()})
        yield from self._judged(late, 1, {})

    def _paces(self, waiting: Sequence[Handed]) -> dict[str, Pace]:
        """Return the pace of each session of which many wait: that of the solution, judged as a submission."""
        course, found = self.classroom.course, {}
        for name, count in Counter(one.assignment for one in waiting).items():
            if count >= MANY:
                solved = samples.notebook(course, name, samples.solved(course, name))
                handed = Submission(nbformat.writes(solved).encode(), name)
                measured = self.executor.submit(measure_one, course, handed, self.options, self.run, self._seed(handed))
                try:
                    pace = measured.result()
                except SandboxError:
                    raise
                except Exception as error:  # then nobody is set aside
                    log.info("%s: no pace (%s)", name, said(error))
                    continue
                if isinstance(pace, Pace) and pace.parts:
                    found[name] = pace
        return found

    def _judged(self, waiting: Sequence[Handed], ahead: int,
                paces: Mapping[str, Pace]) -> Generator[Graded, None, list[Handed]]:
        """Yield each submission as it is judged and entered; return those that are slower than their pace."""
        queue = list(reversed(waiting))
        pending: dict[Future[Verdict], tuple[Handed, Submission]] = {}
        late: list[tuple[int, Handed]] = []
        while queue or pending:
            while queue and len(pending) < ahead:
                one = queue.pop()
                try:
                    handed = one.read()
                except OSError as error:
                    yield Graded(one, problem=said(error))
                    continue
                pace = paces.get(one.assignment)
                pending[self.executor.submit(judge_one, self.classroom.course, handed, self.options, self.run,
                                             self._seed(handed), *([pace] if pace else []))] = one, handed
            for future in wait(pending, return_when=FIRST_COMPLETED).done:
                one, handed = pending.pop(future)
                try:
                    verdict = future.result()
                except SandboxError:
                    raise
                except SetAside as aside:
                    late.append((aside.parts, one))
                except Exception as error:  # a fault of ours: say so, and go on with the others
                    yield Graded(one, problem=said(error))
                else:
                    yield _finished(self.classroom, one, handed, verdict, self.options)
        return [one for _, one in sorted(late, key=lambda each: -each[0])]

    def _seed(self, handed: Submission) -> str | None:
        seed = self.classroom.store.seed(handed) or self.shared.get(handed.digest)
        if seed is None and self.left and self.first and self.first[0] == handed.assignment:
            seed, self.left = self.first[1], self.left - 1
        return seed


def _finished(classroom: Classroom, handed: Handed, read: Submission, verdict: Verdict, options: Options) -> Graded:
    """Keep a fresh verdict, and enter it."""
    try:
        entry = classroom.store.keep(read, verdict, options)
    except OSError as error:
        return Graded(handed, verdict, problem=f"judged, but not kept: {said(error)}")
    return _entered(classroom, handed, entry)


def _entered(classroom: Classroom, handed: Handed, entry: Entry) -> Graded:
    try:
        classroom.enter(handed, entry)
    except Exception as error:
        return Graded(handed, entry.verdict, problem=f"judged, but not entered: {said(error)}")
    return Graded(handed, entry.verdict)


def summary_table(graded: Sequence[Graded]) -> str:
    """Return one line of text a submission: score, outcome of each exercise, seconds."""
    rows = [[escaping.line(text) for text in _row(one)] for one in graded]
    legend = "  ".join(f"{sign} {WORDS[outcome]}" for outcome, sign in SIGNS.items())
    unsafe = any(one.verdict and one.verdict.isolation == "none" for one in graded)
    table = text_table(rows, ("student", "session", "score", "exercises", "seconds", "remarks"))
    return "\n".join([table, "", legend, *([UNSAFE] if unsafe else [])])


def _row(graded: Graded) -> tuple[str, str, str, str, str, str]:
    handed, verdict = graded.handed, graded.verdict
    if verdict is None:
        return handed.student, handed.assignment, "", "", "", graded.problem or ""
    exercises = " ".join(f"{SIGNS[one.outcome]} {one.exercise}" for one in verdict.exercises)
    seconds = f"{verdict.seconds:.1f}" if graded.fresh else "kept"
    remark = graded.problem or verdict.unreadable or ", ".join(verdict.faults)
    score = f"{verdict.score:.4g}/{verdict.max_score:.4g}"
    return handed.student, handed.assignment, score, exercises, seconds, remark


@functools.lru_cache(64)
def _seeds(run: str, thread: int) -> InstanceSeeds:
    return InstanceSeeds()


def judge_one(course: Course, handed: Submission, options: Options, run: str, seed: str | None = None,
              pace: Pace | None = None) -> Verdict:
    """Judge one submission; each thread keeps a judge, in a process of its own, and its warm sandbox.

    Without a seed it shares its instance with a few others of this ``run``. With a ``pace``, ``SetAside`` when it is
    slower. A worker on another machine judges with the course that it was started in, when there is none at the same
    place.
    """
    seed = seed or _seeds(run, threading.get_ident()).seed(handed.assignment)
    return _judge(course, options).judge(handed, seed, pace)


def measure_one(course: Course, handed: Submission, options: Options, run: str, seed: str | None = None) -> Pace:
    """Return the pace of a submission in which all is right, judged as `judge_one` does."""
    judge_one(course, handed, options, run, seed)
    return Pace(_judge(course, options).part_seconds)


def _judge(course: Course, options: Options) -> watched.WatchedJudge:
    return watched.judge_of_thread(course if course.solutions.is_dir() else courses.find(), options)
