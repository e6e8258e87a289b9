"""Hand in what students are given: no helper, no cell of another session and no stub is the answer to an exercise.

Helpers are the modules of the course, stubs come in the data of self-checks, and a session that comes later gives what
an earlier one asks for. Each class or function among them is handed in under the names that an exercise defines.
"""

import contextlib
import fcntl
import importlib
import inspect
import io
import os
import pkgutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.audit.mutation import MutantTimeout, at_most
from autograder.course import Course
from autograder.judging.judge import grade_exercise, records_of
from autograder.model.oracle import Oracle, load_oracle
from autograder.model.source import load_source
from autograder.runtime import compare
from autograder.runtime.operations import Define
from autograder.runtime.recorded import RecordedCheck, Reply
from autograder.runtime.replay import replay
from autograder.sandbox.host import KernelLost
from autograder.sandbox.options import Limits

Thing = Callable[..., Any]
FIRST_SECONDS = 1.0  # for the first checks; those of a solution take some hundredths of it
BEHIND = 200  # the numbers of files that a handout is called with are smaller


@dataclass(frozen=True)
class Handout:
    """A class or function that students have: where from, and what it is called there."""

    origin: str
    name: str
    thing: Thing


@dataclass(frozen=True)
class Gain:
    """Points that a handout has as the answer to an exercise."""

    session: str
    exercise: str
    points: float
    handouts: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.session}, {self.exercise}: {self.points:g} points for {', '.join(self.handouts)}"


def handouts(course: Course, session: str) -> Iterator[Handout]:
    """Yield everything that a student of a session has been given, or can be."""
    for helper in course.helpers:
        yield from _in_modules(helper)
    for other in course.sessions:
        if other != session:
            yield from _in_cells(course, other)
        yield from _stubs(course, other)


def gains(course: Course, session: str, given: Sequence[Handout], seed: str = "handouts") -> list[Gain]:
    """Return where handouts gain points in a session: alone under each name, and all those of the same names."""
    oracle = load_oracle(course, session)
    return [Gain(session, exercise, score, names)
            for exercise in oracle.source.exercises
            for records in [records_of(oracle, exercise, seed)]
            for answer in _answers(oracle, exercise, given)
            for names in [tuple(f"{one.origin}:{one.name}" for one in answer.values())]
            for score in [_score(oracle, exercise, records, {name: one.thing for name, one in answer.items()})]
            if score]


def _answers(oracle: Oracle, exercise: str, given: Sequence[Handout]) -> Iterator[dict[str, Handout]]:
    """Yield what is handed in: things that fit each name, and those that bear the names of all, by origin."""
    names = sorted(oracle.defines[exercise])
    by_origin: dict[str, dict[str, Handout]] = {}
    for one in given:
        for name in names:
            if one.name == name:
                by_origin.setdefault(one.origin, {})[name] = one
            if one.name == name or _fits(one.thing, oracle.namespace[name]):
                yield {name: one}
    yield from (answer for answer in by_origin.values() if len(answer) > 1)


def _fits(thing: Thing, wanted: Any) -> bool:
    """Return whether a thing can be called like the wanted one: both classes or both functions, enough arguments."""
    if not callable(wanted) or inspect.isclass(thing) != inspect.isclass(wanted):
        return False
    try:
        count = len(inspect.signature(wanted).parameters)
        inspect.signature(thing).bind(*range(count))
    except (TypeError, ValueError):
        return False
    return True


def _score(oracle: Oracle, exercise: str, records: Sequence[Sequence[RecordedCheck]],
           answer: dict[str, Thing]) -> float:
    saved = dict(oracle.namespace)
    for name in oracle.defines[exercise]:
        oracle.namespace.pop(name, None)
    oracle.namespace.update(answer)
    replies: list[Reply] = []
    lost = None
    try:
        with contextlib.redirect_stdout(io.StringIO()), _open_as_before():
            if not _passes_any(records, oracle.namespace):
                return 0.0
            with at_most(Limits().exercise_cpu_seconds):
                for own in records:
                    for record in own:
                        replies.append(replay(record.ops, oracle.namespace, "cpu"))
    except MutantTimeout:
        lost = KernelLost("timeout", "it computed too long")
    finally:
        oracle.namespace.clear()
        oracle.namespace.update(saved)
    return grade_exercise(oracle, exercise, records, replies, lost=lost).points


def _passes_any(records: Sequence[Sequence[RecordedCheck]], namespace: dict[str, Any]) -> bool:
    """Whether it passes one of the checks, as they are without relations, before its time is over."""
    plain = (own[0].without_relations for own in records)
    try:
        with at_most(FIRST_SECONDS):
            return any(compare.first_difference(one, replay(one.ops, namespace, "cpu")) is None for one in plain)
    except MutantTimeout:
        return False


@contextlib.contextmanager
def _open_as_before() -> Iterator[None]:
    """Put open files back: what opens and closes a file by name closes 1 where it is called with a number."""
    kept = {}
    for fd in map(int, os.listdir("/proc/self/fd")):
        with contextlib.suppress(OSError):  # that of the list itself
            if fd < BEHIND:
                kept[fd] = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, BEHIND)
    try:
        yield
    finally:
        for fd, copy in kept.items():
            os.dup2(copy, fd, inheritable=fd < 3)
            os.close(copy)


def _in_modules(helper: Path) -> Iterator[Handout]:
    package = importlib.import_module(helper.stem)
    paths = getattr(package, "__path__", ())
    for module in [package, *(importlib.import_module(one.name)
                              for one in pkgutil.iter_modules(paths, f"{package.__name__}."))]:
        yield from _defined(module.__name__, vars(module), module.__name__)


def _in_cells(course: Course, session: str) -> Iterator[Handout]:
    """Yield what the given cells of a session define, where they run without its answers."""
    namespace: dict[str, Any] = {"__name__": f"given in {session}"}
    for cell in load_source(course, session).by_role("given"):
        with contextlib.suppress(Exception), contextlib.redirect_stdout(io.StringIO()):
            exec(compile(cell.solution, f"<{session}:{cell.name}>", "exec"), namespace)
    yield from _defined(str(namespace["__name__"]), namespace, str(namespace["__name__"]))


def _stubs(course: Course, session: str) -> Iterator[Handout]:
    oracle = load_oracle(course, session)
    seen: set[str] = set()
    for check in oracle.checks:
        for op in oracle.recorder.record_without_relations(check, 1).ops:
            if isinstance(op, Define) and op.source not in seen:
                seen.add(op.source)
                namespace = dict(oracle.namespace) | {"__name__": "stub"}
                exec(compile(op.source, "<stub>", "exec"), namespace)
                yield Handout(f"a stub of {session}, {check.exercise}", op.replaces or op.name, namespace[op.name])


def _defined(origin: str, namespace: dict[str, Any], module: str) -> Iterator[Handout]:
    for name, thing in namespace.items():
        if (inspect.isfunction(thing) or inspect.isclass(thing)) and thing.__module__ == module:
            yield Handout(origin, name, thing)
