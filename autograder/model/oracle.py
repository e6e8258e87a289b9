"""The solution as the oracle of the checks: executed once, recorded often, replaced by a fault for a moment.

Only the course's own code runs here. What a student wrote never does.
"""

import contextlib
import io
import linecache
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from ..course import Course
from ..runtime import arrays, compare, diagnosis
from ..runtime.diagnosis import Candidate, Recognised
from ..runtime.recorded import RecordedCheck, Reply
from ..runtime.replay import replay
from ..runtime.state import restored
from . import faults
from .errors import line_in, said, source_error
from .faults import Fault, Pair, Version
from .loading import fitting
from .recording import Recorder
from .source import Source, load
from .trace import Check

MAX_PAIRS = 40  # of faults are tried on an answer that no single one explains
# What faults answered to records, by the ids of both, which live as long as the answer
Answers = dict[tuple[int, int], tuple[Fault, RecordedCheck, Reply]]


class Oracle:
    """The solution of one session in a namespace of its own, with its checks, faults and variants.

    Whatever the machine has, it is run on ``device``. What is recorded is recorded on "cpu".
    """

    def __init__(self, source: Source, device: str = "cpu"):
        self.source, self.device = source, device
        self.checks, self.faults, self.variants = fitting(source)
        if str(source.course.released) not in sys.path:
            sys.path.append(str(source.course.released))  # what the given cells import
        self.namespace: dict[str, Any] = {"__name__": "__main__"}
        self.defines: dict[str, set[str]] = {}  # exercise → the names that its cell brings
        for cell in source.by_role("given", "exercise"):
            before = set(self.namespace)
            try:
                self._run(str(cell.name), cell.solution)
            except Exception as error:
                line = line_in(error, self._filename(str(cell.name)))
                raise source_error(source.path, cell.line_of(line or 0), said(error)) from None
            if cell.role == "exercise":
                self.defines[str(cell.name)] = set(self.namespace) - before
        self.recorder = Recorder(self.namespace, source.course.conventions)
        self._pairs: dict[str, list[Pair]] = {}  # by exercise
        self._left_out: Fault | None = None
        self._kept: Answers | None = None

    def _filename(self, cell_name: str) -> str:
        return f"<{self.source.name}:{cell_name}>"

    def _run(self, cell_name: str, text: str) -> None:
        filename = self._filename(cell_name)
        linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
        with contextlib.redirect_stdout(io.StringIO()), arrays.on(self.device):  # given cells print for readers
            exec(compile(text, filename, "exec"), self.namespace)

    @property
    def notes(self) -> list[str]:
        """Notes on checks that may hide a fault: one line each, with file and line number."""
        return [note for note in map(self.recorder.note, self.checks) if note]

    def checks_of(self, exercise: str) -> list[Check]:
        """Return the checks of an exercise, in order."""
        return [check for check in self.checks if check.exercise == exercise]

    def faults_of(self, exercise: str) -> list[Fault]:
        """Return the faults of an exercise, in order."""
        return [fault for fault in self.faults if fault.exercise == exercise]

    def text_of(self, version: Version) -> str:
        """Return the source of the exercise's cell in a fault or variant."""
        return faults.text_of(self.source, version)

    def records(self, check: Check, seed: int) -> list[RecordedCheck]:
        """Record a check on the solution with this seed: as it stands, and on sizes of one where that can be."""
        return self.recorder.records(check, seed)

    @contextlib.contextmanager
    def substituted(self, version: Version) -> Iterator[dict[str, Any]]:
        """Put another version of one exercise into the namespace; the solution comes back afterwards."""
        text = self.text_of(version)
        with self.without(version.exercise):
            # a cell that does not even run defines nothing: what a student would have
            with contextlib.suppress(Exception):
                self._run(f"{version.exercise}/{version.name}", text)
            yield self.namespace

    @contextlib.contextmanager
    def without(self, exercise: str) -> Iterator[dict[str, Any]]:
        """Take what one exercise defines out of the namespace; the solution comes back afterwards."""
        with restored(self.namespace):
            for name in self.defines[exercise]:
                self.namespace.pop(name, None)
            yield self.namespace

    def replies(self, version: Version, records: Sequence[RecordedCheck]) -> list[Reply]:
        """Return what a fault or variant answers to recorded checks."""
        with self.substituted(version) as namespace:
            return [replay(recorded.ops, namespace, self.device) for recorded in records]

    @contextlib.contextmanager
    def unlisted(self, fault: Fault) -> Iterator[None]:
        """Leave out the name of one fault, as if nobody had listed it: what is it called then?"""
        self._left_out = fault
        try:
            yield
        finally:
            self._left_out = None

    @contextlib.contextmanager
    def with_cache(self, kept: Answers) -> Iterator[None]:
        """Keep what the faults answer: whoever diagnoses many answers to the same records asks each fault once."""
        self._kept = kept
        try:
            yield
        finally:
            self._kept = None

    def diagnose(self, exercise: str, records: Sequence[RecordedCheck],
                 got: Sequence[Reply]) -> list[Recognised | None]:
        """Return, for each check of an exercise, the fault whose answers the student's equal, or None.

        A fault is asked about the failed checks first: few agree there, and only those are asked about the rest.
        One that agrees everywhere explains everything, and no other is asked. None is asked about relations: they
        have sentences of their own.
        """
        pairs = compare.without_relations(records, got)
        differences = [compare.plain_difference(record, reply) for record, reply in pairs]
        failed = [difference is not None and not difference.is_unwritten for difference in differences]
        wrong = [pair for bad, pair in zip(failed, pairs, strict=True) if bad]
        candidates: list[Candidate] = []
        for fault in self.faults_of(exercise):
            if fault is not self._left_out and any(self._alike(fault, wrong)):
                candidates.append(Candidate(fault.name, fault.says, self._answers(fault, [one for one, _ in pairs])))
                if all(self._alike(fault, pairs)):
                    break
        found = diagnosis.diagnose(pairs, candidates)
        if not any(bad and one is None for bad, one in zip(failed, found, strict=True)):
            return found
        return self._diagnose_pairs(exercise, pairs, failed, found, {one.name for one in candidates})

    def _diagnose_pairs(self, exercise: str, pairs: Sequence[tuple[RecordedCheck, Reply]], failed: Sequence[bool],
                        found: list[Recognised | None], near: set[str]) -> list[Recognised | None]:
        """Return the same, with the names of two faults at once that answer every check as the student does.

        Those that share most with the faults ``near`` come first; so many as `MAX_PAIRS` are tried.
        """
        if exercise not in self._pairs:
            solution = self.source.cell("exercise", exercise).solution
            self._pairs[exercise] = list(faults.pairs(self.faults_of(exercise), solution))
        likely = sorted(self._pairs[exercise], key=lambda one: -len(near & {one.first.name, one.second.name}))
        order = sorted(range(len(pairs)), key=lambda i: (not failed[i], len(pairs[i][0].ops)))
        for pair in likely[:MAX_PAIRS]:
            if self._left_out not in (pair.first, pair.second) and all(
                    all(self._alike(pair.together, [pairs[i]])) for i in order):
                parts = [self._part(pair, own) if bad else None for bad, own in zip(failed, pairs, strict=True)]
                return _each_once(pair, parts)
        return found

    def _part(self, pair: Pair, own: tuple[RecordedCheck, Reply]) -> Recognised:
        """Return the one of two faults that alone gives a check's answer; both together where neither does."""
        alone = (one for one in (pair.first, pair.second) if all(self._alike(one, [own])))
        said = next(alone, pair.together)
        return Recognised(said.name, said.says)

    def _alike(self, fault: Fault, pairs: Sequence[tuple[RecordedCheck, Reply]]) -> list[bool]:
        """Return for each check, a plain one, whether a fault answers it as the student does."""
        own = self._answers(fault, [record for record, _ in pairs])
        return [compare.same(record, one, got) for one, (record, got) in zip(own, pairs, strict=True)]

    def _answers(self, fault: Fault, records: Sequence[RecordedCheck]) -> list[Reply]:
        """Return what a fault answers to plain records."""
        kept = {} if self._kept is None else self._kept
        new = [record for record in records if (id(fault), id(record)) not in kept]
        for record, reply in zip(new, self.replies(fault, new) if new else (), strict=True):
            kept[id(fault), id(record)] = fault, record, reply
        return [kept[id(fault), id(record)][-1] for record in records]


def _each_once(pair: Pair, parts: list[Recognised | None]) -> list[Recognised | None]:
    """Return the names; where one of the two stands alone for a check, checks that see both have the other's."""
    named = {part.name for part in parts if part}
    rest = [one for one in (pair.first, pair.second) if one.name not in named]
    if len(rest) != 1 or len(named) == 1:
        return parts
    other = Recognised(rest[0].name, rest[0].says)
    return [other if part and part.name == pair.together.name else part for part in parts]


@cache
def oracle(course: Course, assignment: str) -> Oracle:
    """Return the oracle of a session; executed at the first call and kept."""
    return Oracle(load(course, assignment))
