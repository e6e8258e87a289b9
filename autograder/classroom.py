"""Grade a whole class: judged side by side, entered in the gradebook by one writer, resumable at any moment.

Submissions are judged by an executor (processes here, or a Dask cluster); a task carries the bytes of a notebook and
its seed, and returns a verdict. The verdict is recorded first and entered into nbgrader's gradebook second;
whatever a stopped run left undone, the next one does.
"""

import functools
import logging
import multiprocessing
import signal
import threading
import warnings
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, ProcessPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

from nbgrader.api import Gradebook, MissingEntry
from nbgrader.converters import GenerateAssignment
from nbgrader.coursedir import CourseDirectory
from sqlalchemy.exc import SAWarning
from traitlets.config import PyFileConfigLoader

from . import marking, source
from .judge import Judge, seed_of
from .nbgrader_plugins import Entering
from .records import Records
from .sandbox import Limits, SandboxError

# nbgrader's own queries, under a newer SQLAlchemy than it was written for: nothing an instructor can act on
warnings.filterwarnings("ignore", category=SAWarning)


@dataclass(frozen=True)
class Handed:
    """One submission as it lies in the submitted folder."""

    student: str
    tp: str
    path: Path
    note: str | None = None  # what was unusual about where it lay


@dataclass
class Outcome:
    """What happened to one submission."""

    handed: Handed
    verdict: dict | None = None
    problem: str | None = None
    fresh: bool = True


class Course:
    """The course in one folder, with nbgrader's own configuration and gradebook."""

    def __init__(self, root: Path = source.ROOT):
        self.root = Path(root).resolve()
        self.config = PyFileConfigLoader("nbgrader_config.py", path=str(self.root)).load_config()
        self.records = Records(self.root)

    def directory(self, tp: str, student: str = "*") -> CourseDirectory:
        directory = CourseDirectory(config=self.config)
        directory.assignment_id, directory.student_id = tp, student
        return directory

    def gradebook(self) -> Gradebook:
        directory = CourseDirectory(config=self.config)
        return Gradebook(directory.db_url, directory.course_id)

    def register(self, tp: str) -> None:
        """Put a TP into the gradebook, as `nbgrader generate_assignment` does, unless it stands there as it is now."""
        want = {cell.grade_id: cell.points for cell in source.load(tp).by_role("check", "answer")}
        with self.records.writing():
            with self.gradebook() as gradebook:
                try:
                    have = {cell.name: cell.max_score for notebook in gradebook.find_assignment(tp).notebooks for cell in notebook.grade_cells}
                except MissingEntry:
                    have = None
            if have != want:
                self._convert(GenerateAssignment, tp, ".")

    def handed_in(self, tps: list[str]) -> list[Handed]:
        """All submissions of these TPs, in order of TP and student."""
        submitted, found = self.root / "gradebook" / "submitted", []
        for tp in tps:
            for folder in sorted(submitted.glob(f"*/{tp}")) if submitted.is_dir() else []:
                found.append(_notebook_in(folder, tp))
        return found

    def enter(self, handed: Handed, verdict: dict) -> None:
        """Enter a recorded verdict into the gradebook and write the notebook that formgrader shows."""
        with self.records.writing():
            self._convert(functools.partial(Entering, handed.path, verdict), handed.tp, handed.student)
            self.records.save(handed.tp, handed.student, {**verdict, "entered": True})

    def _convert(self, kind, tp, student):
        converter = kind(coursedir=self.directory(tp, student), config=self.config)
        converter.force = True
        converter.log.setLevel(logging.CRITICAL)
        converter.start()


def _notebook_in(folder: Path, tp: str) -> Handed:
    """The notebook of a submission folder: the one of the right name, else the only one there is."""
    student, right = folder.parent.name, folder / f"{tp}.ipynb"
    others = [path for path in sorted(folder.glob("*.ipynb")) if path != right]
    if right.exists() or right.is_symlink() or len(others) != 1:
        return Handed(student, tp, right)
    return Handed(student, tp, others[0], f"the notebook was called {others[0].name}")


def grade_class(course: Course, tps: list[str], jobs: int = 1, device: str = "cpu", isolated: bool = True, force: bool = False,
                limits: Limits = Limits(), executor=None, each=lambda outcome, done, total: None) -> list[Outcome]:
    """Grade everything that was handed in for these TPs; ``each`` is told of every submission as it is entered."""
    for tp in tps:
        course.register(tp)
    handed, outcomes = course.handed_in(tps), []
    isolation = "bubblewrap" if isolated else "none"

    def tell(outcome):
        outcomes.append(outcome)
        each(outcome, len(outcomes), len(handed))

    waiting = []
    for one in handed:
        try:
            known = _known(course, one, device, isolation)
        except OSError as error:
            tell(Outcome(one, problem=_line(error)))
            continue
        if known and not force and known.get("entered"):
            tell(Outcome(one, known, fresh=False))
        elif known and not force:
            tell(_entered(course, one, known))
        else:
            waiting.append(one)
    own = Processes(min(jobs, len(waiting))) if executor is None and waiting else None
    try:
        for one, data, verdict, problem in _judged(own or executor, course, waiting, device, isolated, limits, ahead=4 * max(jobs, 1)):
            tell(Outcome(one, problem=problem) if problem else _finished(course, one, data, verdict))
    finally:
        if own:
            own.shutdown()
    return sorted(outcomes, key=lambda outcome: (outcome.handed.tp, outcome.handed.student))


def _known(course, handed, device, isolation):
    return marking.known(course.records, handed.tp, handed.student, marking.read(handed.path)[0], device, isolation)


def _judged(executor, course, waiting, device, isolated, limits, ahead):
    """(handed, data, verdict, problem) of every waiting submission, as they come; few are on their way at once.

    A worker process that dies takes all with it that is on its way. Those are judged again, each alone, so that only the one
    that kills its worker every time is lost.
    """
    pending, queue, suspects = {}, list(reversed(waiting)), 0
    while queue or pending:
        while queue and len(pending) < (1 if suspects else ahead):
            one = queue.pop()
            try:
                data, unreadable = marking.read(one.path)
            except OSError as error:
                yield one, b"", None, _line(error)
                continue
            seed = seed_of(course.records.secret(), one.student, one.tp, data)
            future = executor.submit(judge_one, data, unreadable, one.tp, seed, one.path.name, device, isolated, limits)
            pending[future] = (one, data, bool(suspects))
        for future in wait(pending, return_when=FIRST_COMPLETED).done:
            one, data, alone = pending.pop(future)
            suspects -= alone
            try:
                verdict = future.result()
            except SandboxError:
                raise
            except BrokenExecutor:
                if alone:
                    yield one, data, None, "its worker process was killed, twice: does it need more memory than there is?"
                else:
                    queue.append(one)
                    suspects += 1
            except Exception as error:  # a fault of ours: say so, and go on with the others
                yield one, data, None, _line(error)
            else:
                yield one, data, verdict, None


def _finished(course, handed, data, verdict):
    """Record a fresh verdict, and enter it."""
    if handed.note:
        verdict["notes"].append(handed.note)
    try:
        verdict = marking.recorded(course.records, handed.student, data, verdict)
    except OSError as error:
        return Outcome(handed, verdict, problem=f"judged, but not kept: {_line(error)}")
    return _entered(course, handed, verdict)


def _entered(course, handed, verdict):
    try:
        course.enter(handed, verdict)
    except Exception as error:
        return Outcome(handed, verdict, problem=f"judged, but not entered: {_line(error)}")
    return Outcome(handed, verdict)


def _line(error):
    return f"{type(error).__name__}: {(str(error).splitlines() or ['no reason given'])[0]}"


class Processes:
    """Worker processes of this machine; when one has died and broken the pool, the next submission gets a new pool."""

    def __init__(self, jobs: int):
        self.jobs = jobs
        self.pool = self._pool()

    def _pool(self):
        """Started fresh, so that no thread of torch's is forked; an interrupt is the parent's to handle."""
        return ProcessPoolExecutor(self.jobs, multiprocessing.get_context("spawn"), signal.signal, (signal.SIGINT, signal.SIG_IGN))

    def submit(self, *task):
        try:
            return self.pool.submit(*task)
        except BrokenExecutor:
            self.pool = self._pool()
            return self.pool.submit(*task)

    def shutdown(self):
        self.pool.shutdown(cancel_futures=True)


@functools.cache
def _judge(device, isolated, limits, thread) -> Judge:
    return Judge(limits, device, isolated)


def judge_one(data: bytes, unreadable: str | None, tp: str, seed: str, what: str, device: str, isolated: bool, limits: Limits) -> dict:
    """The verdict on one submission; runs in a worker, each thread of which keeps its warm sandbox from one to the next."""
    return marking.judged(_judge(device, isolated, limits, threading.get_ident()), data, unreadable, tp, seed, what)
