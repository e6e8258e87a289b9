"""The solution as the oracle of the checks: executed once, recorded often, worn as a mistake for a moment.

Only the course's own code runs here. What a student wrote never does.
"""

import contextlib
import io
import linecache
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from tp.checking import compare, diagnosis
from tp.checking.diagnosis import Candidate, Recognised
from tp.checking.replay import replay
from tp.checking.replies import Record, Reply
from tp.checking.uncompiled import keep_uncompiled

from ..course import Course
from . import mistakes, source
from .mistakes import Mistake, Version
from .modules import line_in, module_of, said
from .recording import Recorder
from .tape import Check, checks_in

# What mistakes answered to records, by the ids of both, which live as long as the answer
Answers = dict[tuple[int, int], tuple[Mistake, Record, Reply]]


class Oracle:
    """The solution of one TP in a namespace of its own, with its checks, mistakes and variants."""

    def __init__(self, course: Course, assignment: str):
        keep_uncompiled()
        self.course = course
        self.source = source.load(course, assignment)
        self.checks = checks_in(module_of(course, assignment, "checks"))
        self.mistakes, self.variants = mistakes.load(course, assignment)
        self._refuse_unpaired()
        versions: list[Version] = [*self.mistakes, *self.variants]
        for version in versions:
            self.text_of(version)  # one that does not fit is told before anything is recorded
        if str(course.released) not in sys.path:
            sys.path.append(str(course.released))  # what the given cells import
        self.namespace: dict[str, Any] = {"__name__": "__main__"}
        self.defines: dict[str, set[str]] = {}  # exercise → the names that its cell brings
        for cell in self.source.by_role("given", "exercise"):
            before = set(self.namespace)
            try:
                self._run(str(cell.name), cell.solution)
            except Exception as error:
                line = line_in(error, self._filename(str(cell.name)))
                raise source.fault(self.source.path, cell.line_of(line or 0), said(error)) from None
            if cell.role == "exercise":
                self.defines[str(cell.name)] = set(self.namespace) - before
        self.recorder = Recorder(self.namespace)
        self._forgotten: Mistake | None = None
        self._kept: Answers | None = None

    def _refuse_unpaired(self) -> None:
        """Each exercise has checks, and each check an exercise."""
        checked = {check.exercise for check in self.checks}
        for check in self.checks:
            if check.exercise not in self.source.exercises:
                raise source.fault(*check.where, f"the check {check.name} is of the exercise {check.exercise}, "
                                   f"and there is none; there are: {', '.join(self.source.exercises)}")
        for name in self.source.exercises:
            if name not in checked:
                raise source.fault(self.source.path, self.source.cell("exercise", name).line,
                                   f"the exercise {name} has no check in checks.py")

    def _filename(self, cell_name: str) -> str:
        return f"<{self.source.name}:{cell_name}>"

    def _run(self, cell_name: str, text: str) -> None:
        filename = self._filename(cell_name)
        linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
        with contextlib.redirect_stdout(io.StringIO()):  # given cells print what a reader wants to see
            exec(compile(text, filename, "exec"), self.namespace)

    def checks_of(self, exercise: str) -> list[Check]:
        """The checks of an exercise, in order."""
        return [check for check in self.checks if check.exercise == exercise]

    def mistakes_of(self, exercise: str) -> list[Mistake]:
        """The mistakes of an exercise, in order."""
        return [mistake for mistake in self.mistakes if mistake.exercise == exercise]

    def text_of(self, version: Version) -> str:
        """The source of the exercise's cell in a mistake or variant."""
        try:
            return mistakes.edited(version, self.source.cell("exercise", version.exercise).solution, self.mistakes)
        except source.SourceError as error:
            path = self.course.folder(self.source.name) / "mistakes.py"
            line = mistakes.line_of(path, version) if path.is_file() else None
            raise mistakes.EditError(str(source.fault(path, line, error))) from None

    def records(self, check: Check, seed: int) -> list[Record]:
        """A check, recorded on the solution with this seed: as it stands, and on sizes of one where that can be."""
        return self.recorder.records(check, seed)

    @contextlib.contextmanager
    def wearing(self, version: Version) -> Iterator[dict[str, Any]]:
        """The namespace with one exercise in another version; the solution comes back afterwards."""
        saved, text = dict(self.namespace), self.text_of(version)
        for name in self.defines[version.exercise]:
            self.namespace.pop(name, None)
        try:
            # a cell that does not even run defines nothing: what a student would have
            with contextlib.suppress(Exception):
                self._run(f"{version.exercise}/{version.name}", text)
            yield self.namespace
        finally:
            self.namespace.clear()
            self.namespace.update(saved)

    def replies(self, version: Version, records: Sequence[Record], device: str = "cpu") -> list[Reply]:
        """What a mistake or variant answers to recorded checks."""
        with self.wearing(version) as namespace:
            return [replay(recorded.ops, namespace, device) for recorded in records]

    @contextlib.contextmanager
    def forgetting(self, mistake: Mistake) -> Iterator[None]:
        """Without the name of one mistake, as if nobody had listed it: what is it called then?"""
        self._forgotten = mistake
        try:
            yield
        finally:
            self._forgotten = None

    @contextlib.contextmanager
    def remembering(self, kept: Answers) -> Iterator[None]:
        """Whoever diagnoses many answers to the same records need not ask every mistake again each time."""
        self._kept = kept
        try:
            yield
        finally:
            self._kept = None

    def diagnose(self, exercise: str, records: Sequence[Record], got: Sequence[Reply]) -> list[Recognised | None]:
        """For each check of an exercise, the mistake whose answers the student's equal, or None.

        A mistake is asked about the failed checks first: few agree there, and only those are asked about the rest.
        One that agrees everywhere explains everything, and no other is asked. Nobody is asked about laws: they have
        sentences of their own.
        """
        pairs = compare.without_laws(records, got)
        differences = [compare.plain_difference(record, reply) for record, reply in pairs]
        failed = [difference not in (None, compare.NOT_WRITTEN) for difference in differences]
        candidates: list[Candidate] = []
        for mistake in self.mistakes_of(exercise) if any(failed) else ():
            if mistake is self._forgotten:
                continue
            replies: list[Reply | None] = [None] * len(pairs)
            self._answer(mistake, records, replies, failed)
            if not any(bad and _alike(own, pair) for bad, own, pair in zip(failed, replies, pairs, strict=True)):
                continue
            self._answer(mistake, records, replies, [not bad for bad in failed])
            candidates.append(Candidate(mistake.name, mistake.says, replies))
            if all(_alike(own, pair) for own, pair in zip(replies, pairs, strict=True)):
                break
        return diagnosis.diagnose(pairs, candidates)

    def _answer(self, mistake: Mistake, records: Sequence[Record], replies: list[Reply | None],
                wanted: list[bool]) -> None:
        """Put in what a mistake answers to the wanted records, the laws apart."""
        kept = {} if self._kept is None else self._kept
        asked = [record for record, want in zip(records, wanted, strict=True) if want]
        new = [record for record in asked if (id(mistake), id(record)) not in kept]
        for record, reply in zip(new, self.replies(mistake, [record.plain for record in new]), strict=True):
            kept[id(mistake), id(record)] = mistake, record, reply
        for i, record in enumerate(records):
            if wanted[i]:
                replies[i] = kept[id(mistake), id(record)][-1]


def _alike(own: Reply | None, pair: tuple[Record, Reply]) -> bool:
    return own is not None and compare.same(pair[0], own, pair[1])


@cache
def oracle(course: Course, assignment: str) -> Oracle:
    """The oracle of a TP; executed at the first call and kept."""
    return Oracle(course, assignment)
