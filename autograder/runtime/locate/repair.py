"""Find where one edit of a wrong answer makes all checks pass: that place is verified, whatever the mistake is.

This is program repair by search. The edits of `edits` are tried on the checks, those first that are near to where
values go wrong. Students see the statement alone, never the edit: the edited expression may be right itself, beside the
mistake.
"""

from __future__ import annotations

import ast
import itertools
import json
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

from ..compare import as_far_as_wrong, first_difference, without_gradients
from ..findings import CheckResult
from ..operations import Op
from ..place import EditKind, Place
from ..recorded import RecordedCheck, Reply
from ..replay import describe_error, replay
from ..state import restored
from ..syntax import Span, code_lines, compiled, parse, segment
from ..text import short
from ..time_limit import TimeLimitExceeded, cpu_time_limit
from .deadline import Deadline
from .edits import Edit, edits_of
from .fork import call_in_fork
from .statements import Types

MAX_EDITS = 1000  # that are tried
EDIT_SECONDS = 0.5  # CPU seconds for the calls of one check on one edited answer
EDIT_FACTOR = 5  # times the CPU seconds of the answer itself: an edited loop may have no end
SHORTEST_SECONDS = 0.02  # for an edit at least


@dataclass(frozen=True)
class RepairSearch:
    """The search for a statement of an exercise's cell in which one edit makes all checks pass.

    ``records`` are those of each check. On the ``matched_lines`` all values are right; on the ``suspect_lines`` they
    may go wrong; a check that fails does not reach the ``skipped_lines``; ``types`` are those of expressions' values.
    ``accepts`` says whether an edit with which all checks pass mends the mistake, or works around it.
    """

    results: Sequence[CheckResult]
    text: str
    records: Sequence[Sequence[RecordedCheck]]
    namespace: dict[str, Any]
    deadline: Deadline
    matched_lines: Sequence[int] = ()
    suspect_lines: Sequence[int] = ()
    skipped_lines: Collection[int] = ()
    types: Types = field(default_factory=dict)
    accepts: Callable[[Edit], bool] = lambda edit: True

    def find_place(self) -> Place | None:
        """Return the place of the statement; None where none is found in time, or the mistake is in another cell.

        The search runs in a copy of this process, because an edited answer may end it or use up the memory.
        """
        if self.deadline.has_passed or not self._may_be_edited():  # nothing is copied for a right answer
            return None
        seconds = self.deadline.seconds  # the copy counts its own CPU time, from zero
        answer = call_in_fork(lambda: json.dumps(self._edited(Deadline.after(seconds))).encode(),
                              max(0.0, self.deadline.wall_seconds))
        edited = json.loads(answer) if answer else []
        if not edited:
            return None
        kind, span = edited
        return Place(kind, tuple(span), text=short(segment(self.text, span)))

    def _may_be_edited(self) -> bool:
        differences = [result.difference for result in self.results if result.difference]
        locations = [spot for result in self.results if result.place for spot in result.place.locations]
        return bool(differences) and not any(spot.cell for spot in locations) and all(
            difference.is_repairable and not difference.unused for difference in differences)

    def _edited(self, deadline: Deadline) -> list[EditKind | Span]:
        """Return the kind of the edit with which all checks pass, and the span of its statement, or nothing."""
        edit = self._edit(deadline)
        return [edit.kind, edit.statement] if edit else []

    def _edit(self, deadline: Deadline) -> Edit | None:
        edits = edits_of(self.text, self._starting_lines(), self.matched_lines, self.types, self.skipped_lines)
        pairs = list(zip(self.results, self.records, strict=True))
        failing = [records[0].without_relations for result, records in pairs
                   if result.difference and not result.difference.relation]
        # Few edits pass the quickest check: it is tried before the others.
        measured = sorted(map(self._measured, failing), key=itemgetter(0))[:1]
        failed_first = [record for passed in (False, True)
                        for result, records in pairs if result.passed is passed for record in records]
        for edit in itertools.islice(edits, MAX_EDITS):
            if deadline.has_passed:
                return None
            if (all(self._passes_soon(edit.text, *quickest) for quickest in measured)
                    and self._passes(edit.text, failed_first) and self.accepts(edit)):
                return edit
        return None

    def _starting_lines(self) -> list[int]:
        """Return the lines near which the search begins: where values go wrong, or where the variable that is wrong
        there is stored, or where an error is raised; if neither is known, where they may go wrong, and the last.
        """
        last = len(code_lines(self.text))
        locations = [spot for result in self.results if result.place for spot in result.place.locations]
        errors = (result.difference.error for result in self.results if result.difference)
        error_lines = (error.where.line for error in errors if error and error.where and error.origin == "cell")
        if locations:
            names = {spot.text for spot in locations}
            return sorted({spot.span[0] for spot in locations}.union(*map(self._lines_that_store, names)))
        line = next(error_lines, None)
        return [min(line, last)] if line else sorted({*self.suspect_lines, last})

    def _lines_that_store(self, name: str) -> list[int]:
        """Return the lines on which a variable is stored; none if this is no name."""
        return [node.lineno for node in ast.walk(parse(self.text) or ast.Module([], []))
                if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store)]

    def _passes(self, text: str, records: Sequence[RecordedCheck]) -> bool:
        return all(first_difference(record, reply_of_edited(text, record.ops, self.namespace)) is None
                   for record in records)

    def _passes_soon(self, text: str, seconds: float, record: RecordedCheck) -> bool:
        """Return whether a check passes, in a time near to that of the answer."""
        seconds = min(max(SHORTEST_SECONDS, EDIT_FACTOR * seconds), EDIT_SECONDS)
        reply = reply_of_edited(text, record.ops, self.namespace, track_effects=False, seconds=seconds)
        return first_difference(record, reply) is None

    def _measured(self, record: RecordedCheck) -> tuple[float, RecordedCheck]:
        """Return the seconds of a check on the answer, and the check as far as the first output that differs."""
        started = time.thread_time()
        reply = reply_of_edited(self.text, record.ops, self.namespace, track_effects=False)
        seconds = time.thread_time() - started
        return seconds, as_far_as_wrong(without_gradients(record, reply), reply)


def reply_of_edited(text: str, ops: Sequence[Op], namespace: dict[str, Any], track_effects: bool = True,
                    seconds: float = EDIT_SECONDS) -> Reply:
    """Return the reply to the calls of a check where the text of a cell was edited to this one."""
    with restored(namespace):
        try:
            with cpu_time_limit(seconds):
                exec(compiled(text, "<edited>"), namespace)
                return replay(ops, namespace, track_effects=track_effects)
        except (Exception, TimeLimitExceeded) as error:
            return Reply({}, describe_error(error, namespace))
