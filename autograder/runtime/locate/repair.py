"""Find where one edit of a wrong answer makes all checks pass: that place is verified, whatever the mistake is.

This is program repair by search. The edits of `edits` are tried on the checks, those first that are near to where
values go wrong. Students see the statement alone, never the edit: the edited expression may be right itself, beside the
mistake.
"""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..bounded import TimeIsUp, bounded
from ..compare import first_difference
from ..findings import CheckResult
from ..operations import Op
from ..place import Place
from ..recorded import RecordedCheck, Reply
from ..replay import describe_error, replay
from ..state import restored
from ..syntax import Span, segment
from ..values import short
from .edits import Edit, Types, edits_of
from .fork import call_in_fork

LAST_LINE = 10**6  # behind all lines
MAX_EDITS = 400  # that are tried
EDIT_SECONDS = 0.5  # for the calls of one check on one edited answer


def place_of_repair(results: Sequence[CheckResult], text: str, records: Sequence[Sequence[RecordedCheck]],
                    namespace: dict[str, Any], known_lines: Sequence[int], types: Types, deadline: float,
                    accepts: Callable[[Edit], bool]) -> Place | None:
    """Return the place in an exercise's cell where one edit makes all checks pass; None where none is found in time.

    The search runs in a copy of this process, because an edited answer may end it or use up the memory. Nothing is
    edited if the place of a mistake is in another cell. ``records`` are those of each check. On the ``known_lines`` all
    values are right; ``types`` are those of the values of expressions. ``accepts`` says whether an edit with which all
    checks pass mends the mistake, or only works around it.
    """
    if not _may_be_edited(results):  # nothing is copied for a right answer
        return None
    answer = call_in_fork(
        lambda: json.dumps(_repaired_statement(results, text, records, namespace, known_lines, types, deadline,
                                               accepts)).encode(),
        max(0.0, deadline - time.monotonic()))
    span = tuple(json.loads(answer) or ()) if answer else ()
    return Place("edit", span, text=short(segment(text, span))) if len(span) == 4 else None


def _may_be_edited(results: Sequence[CheckResult]) -> bool:
    differences = [result.difference for result in results if result.difference]
    places = [result.place for result in results if result.place]
    in_other_cell = any(place.cell or place.second and place.second.cell for place in places)
    return bool(differences) and not in_other_cell and all(difference.is_mendable for difference in differences)


def _repaired_statement(results: Sequence[CheckResult], text: str, records: Sequence[Sequence[RecordedCheck]],
                        namespace: dict[str, Any], known_lines: Sequence[int], types: Types, deadline: float,
                        accepts: Callable[[Edit], bool]) -> Span | None:
    edits = edits_of(text, _starting_line(results), known_lines, types)
    first = next(edits, None)
    if first is None:
        return None
    failing = [check_records[0].without_relations for result, check_records in zip(results, records, strict=True)
               if result.difference and not result.difference.relation]
    # Few edits pass the quickest check: it is tried before the others.
    quickest = sorted(failing, key=lambda record: _measured_seconds(first.text, record, namespace))[:1]
    failed_first = [record for passed in (False, True) for result, check_records in zip(results, records, strict=True)
                    if result.passed is passed for record in check_records]
    for edit in _within_bounds(itertools.chain([first], edits), deadline):
        if (_passes(edit.text, quickest, namespace, watched=False) and _passes(edit.text, failed_first, namespace)
                and accepts(edit)):
            return edit.statement
    return None


def _passes(text: str, records: Sequence[RecordedCheck], namespace: dict[str, Any], watched: bool = True) -> bool:
    return all(first_difference(record, _reply_of_edited(text, record.ops, namespace, watched)) is None
               for record in records)


def _reply_of_edited(text: str, ops: Sequence[Op], namespace: dict[str, Any], watched: bool = True) -> Reply:
    """Return the reply to the calls of a check where the text of a cell was edited to this one."""
    with restored(namespace):
        try:
            with bounded(EDIT_SECONDS):
                exec(compile(text, "<edited>", "exec"), namespace)
                return replay(ops, namespace, watched=watched)
        except (Exception, TimeIsUp) as error:
            return Reply({}, describe_error(error, namespace))


def _measured_seconds(text: str, record: RecordedCheck, namespace: dict[str, Any]) -> float:
    started = time.monotonic()
    _reply_of_edited(text, record.ops, namespace, watched=False)
    return time.monotonic() - started


def _within_bounds(edits: Iterator[Edit | None], deadline: float) -> Iterator[Edit]:
    for edit in itertools.islice(filter(None, edits), MAX_EDITS):
        if time.monotonic() > deadline:
            return
        yield edit


def _starting_line(results: Sequence[CheckResult]) -> int:
    """Return the line at which the search begins: where values go wrong, where an error is raised, or the last."""
    place_lines = (result.place.span[0] for result in results if result.place)
    errors = (result.difference.error for result in results if result.difference)
    error_lines = (error.where.line for error in errors if error and error.where and error.inside == "cell")
    return min(next(itertools.chain(place_lines, error_lines), LAST_LINE), LAST_LINE)
