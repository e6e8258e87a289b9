"""The solution as the oracle of the checks: executed once, and replaced by a fault where that is to answer.

Only the course's own code runs here. What a student wrote never does.
"""

import contextlib
import io
import linecache
import sys
import time
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import takewhile
from typing import Any
from weakref import WeakKeyDictionary

from ..course import Course
from ..runtime import arrays, compare, diagnosis
from ..runtime.diagnosis import CandidateFault, RecognisedFault
from ..runtime.recorded import RecordedCheck, Reply
from ..runtime.replay import replay
from ..runtime.state import restored
from ..runtime.time_limit import TimeLimitExceeded, cpu_time_limit
from . import faults
from .errors import line_in, one_line, source_error
from .faults import Fault, FaultPair, Variant, Version
from .loading import load_validated
from .recording import Recorder
from .source import Source, load_source
from .trace import Check

PAIR_SECONDS = 3.0  # CPU seconds in which pairs of faults are tried on an answer that no single one explains


class Oracle:
    """The solution of one session in a namespace of its own, with its checks, faults and variants.

    Whatever the machine has, it is run on ``device``. What is recorded is recorded on "cpu".
    """

    def __init__(self, source: Source, device: str = "cpu"):
        self.source, self.device = source, device
        self.checks, self.faults, self.variants = load_validated(source)
        if str(source.course.released) not in sys.path:
            sys.path.append(str(source.course.released))  # what the given cells import
        self.namespace: dict[str, Any] = {"__name__": "__main__"}
        self.defines: dict[str, set[str]] = {}  # exercise → the names that its cell brings
        for cell in source.by_role("given", "exercise"):
            before = set(self.namespace)
            try:
                self._run(cell.name, cell.solution)
            except (Exception, SystemExit) as error:
                line = line_in(error, self._filename(cell.name))
                raise source_error(source.path, cell.line_of(line or 0), one_line(error)) from None
            if cell.role == "exercise":
                self.defines[cell.name] = set(self.namespace) - before
        self.recorder = Recorder(self.namespace, source.course.metadata)
        self._pairs: dict[str, list[FaultPair]] = {}  # by exercise
        # kept, because many submissions are diagnosed on the same records
        self._replies_by_record: WeakKeyDictionary[RecordedCheck, dict[Fault, Reply]] = WeakKeyDictionary()

    def _filename(self, cell_name: str) -> str:
        return f"<{self.source.name}:{cell_name}>"

    def _run(self, cell_name: str, text: str) -> None:
        filename = self._filename(cell_name)
        linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
        # given cells print for readers
        with contextlib.redirect_stdout(io.StringIO()), arrays.gpu_hidden_for(self.device):
            exec(compile(text, filename, "exec"), self.namespace)

    @property
    def notes(self) -> list[str]:
        """Notes on checks that may hide a fault: one line each, with file and line number."""
        return [note for check in self.checks for note in self.recorder.notes(check)]

    def checks_of(self, exercise: str) -> list[Check]:
        """Return the checks of an exercise, in order."""
        return [check for check in self.checks if check.exercise == exercise]

    def faults_of(self, exercise: str) -> list[Fault]:
        """Return the faults of an exercise, in order."""
        return [fault for fault in self.faults if fault.exercise == exercise]

    def variants_of(self, exercise: str) -> list[Variant]:
        """Return the right variants of an exercise, in order."""
        return [variant for variant in self.variants if variant.exercise == exercise]

    def text_of(self, version: Version) -> str:
        """Return the source of the exercise's cell in a fault or variant."""
        return faults.text_of(self.source, version)

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

    def replay(self, version: Version, records: Sequence[RecordedCheck]) -> list[Reply]:
        """Return the replies of a fault or variant to recorded checks."""
        with self.substituted(version) as namespace:
            return [replay(record.ops, namespace, self.device) for record in records]

    def diagnose(self, exercise: str, records: Sequence[RecordedCheck], got: Sequence[Reply],
                 unlisted: Fault | None = None) -> list[RecognisedFault | None]:
        """Return, for each check of an exercise, the fault whose answer the student's equals, or None.

        A fault is first replayed on the failed checks: few agree there, and only those are replayed on the rest. If
        one agrees everywhere, no other is tried. Relations are left out, because they have sentences of their own.
        ``unlisted`` is a fault to leave out, as if it were not in the list.
        """
        pairs = compare.pairs_without_relations(records, got)
        differences = [compare.check_difference(record, reply) for record, reply in pairs]
        failed = [difference is not None and not difference.is_unwritten for difference in differences]
        wrong = [pair for failure, pair in zip(failed, pairs, strict=True) if failure]
        candidates: list[CandidateFault] = []
        for fault in self.faults_of(exercise):
            if fault is not unlisted and any(self._is_alike(fault, *pair) for pair in wrong):
                replies = [self._reply(fault, record) for record, _ in pairs]
                candidates.append(CandidateFault(fault.name, fault.feedback, replies))
                if all(self._is_alike(fault, *pair) for pair in pairs):
                    break
        named = diagnosis.diagnose(pairs, candidates)
        if not any(failure and recognised is None for failure, recognised in zip(failed, named, strict=True)):
            return named
        names = {candidate.name for candidate in candidates}
        pairs_of_faults = sorted(self._pairs_of(exercise), reverse=True,
                                 key=lambda pair: len(names & {pair.first.name, pair.second.name}))
        until = time.process_time() + PAIR_SECONDS
        with contextlib.suppress(TimeLimitExceeded), cpu_time_limit(PAIR_SECONDS):  # two faults may make a loop endless
            for pair in takewhile(lambda _: time.process_time() < until, pairs_of_faults):
                if unlisted not in (pair.first, pair.second) and all(
                        self._is_alike(pair.together, *one) for one in (*wrong, *pairs)):  # few agree with the first
                    parts = [self._part(pair, *one) if failure else None
                             for failure, one in zip(failed, pairs, strict=True)]
                    return _each_once(pair, parts)
        return named

    def _pairs_of(self, exercise: str) -> list[FaultPair]:
        if exercise not in self._pairs:
            solution = self.source.cell("exercise", exercise).solution
            self._pairs[exercise] = list(faults.pairs(self.faults_of(exercise), solution))
        return self._pairs[exercise]

    def _part(self, pair: FaultPair, record: RecordedCheck, got: Reply) -> RecognisedFault:
        """Return the one of two faults that alone gives a check's reply; both together where neither does."""
        alone = (fault for fault in (pair.first, pair.second) if self._is_alike(fault, record, got))
        fault = next(alone, pair.together)
        return RecognisedFault(fault.name, fault.feedback)

    def _is_alike(self, fault: Fault, record: RecordedCheck, got: Reply) -> bool:
        """Return whether a fault answers a record (without relations) as the student does."""
        return compare.same(record, self._reply(fault, record), got)

    def _reply(self, fault: Fault, record: RecordedCheck) -> Reply:
        """Return the reply of a fault to a record without relations."""
        replies = self._replies_by_record.setdefault(record, {})
        if fault not in replies:
            (replies[fault],) = self.replay(fault, [record])
        return replies[fault]


def _each_once(pair: FaultPair, parts: list[RecognisedFault | None]) -> list[RecognisedFault | None]:
    """Return the names, so that each fault is named once.

    Where one of the two is named for some check, the other is named for the checks that show both; where each is, the
    first.
    """
    named = {part.name for part in parts if part}
    unnamed = [fault for fault in (pair.first, pair.second) if fault.name not in named]
    if len(named) == 1:
        return parts
    one = next(iter(unnamed), pair.first)
    recognised = RecognisedFault(one.name, one.feedback)
    return [recognised if part and part.name == pair.together.name else part for part in parts]


@cache
def load_oracle(course: Course, session: str) -> Oracle:
    """Return the oracle of a session; executed at the first call and kept."""
    return Oracle(load_source(course, session))
