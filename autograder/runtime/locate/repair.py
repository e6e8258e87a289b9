"""Find where one edit of a wrong answer makes all checks pass: that place is verified, whatever the fault is.

This is program repair by search: the edits of `edits` are tried on the checks, those near to where the values go wrong
first. Only the statement is shown, never the edit: what was edited may be right itself, beside the mistake.
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
from .edits import Edit, edits
from .fork import apart

LAST = 10**6  # a line behind all lines
MAX_EDITS = 300  # that are tried
PLACED_EDITS = 150  # where each check that fails has a place already
EDIT_SECONDS = 0.5  # for the calls of one check on one of them


def repair_apart(results: Sequence[CheckResult], text: str, records: Sequence[Sequence[RecordedCheck]],
                 namespace: dict[str, Any], known: Sequence[int], ends: float,
                 mends: Callable[[Edit], bool]) -> Place | None:
    """Return the place in an exercise's cell where one edit makes all checks pass; None where none is found in time.

    It is found in a copy of this process: an edit may end it, or use what there is of memory. Nothing is edited if the
    place of a mistake is in another cell. ``records`` are those of each check, ``known`` lines with right values alone;
    on the clock it ``ends`` the search. ``mends``: whether an edit with which they pass is more than a way around the
    mistake.
    """
    if not _is_mendable(results):  # nothing is copied for a right answer
        return None
    said = apart(lambda: json.dumps(_repair(results, text, records, namespace, known, ends, mends)).encode(),
                 max(0.0, ends - time.monotonic()))
    span = tuple(json.loads(said) or ()) if said else ()
    return Place("edit", span, text=short(segment(text, span))) if len(span) == 4 else None


def _is_mendable(results: Sequence[CheckResult]) -> bool:
    wrong = [one.difference for one in results if one.difference]
    places = [one.place for one in results if one.place]
    elsewhere = any(one.cell or one.second and one.second.cell for one in places)
    return bool(wrong) and not elsewhere and all(one.is_mendable for one in wrong)


def _repair(results: Sequence[CheckResult], text: str, records: Sequence[Sequence[RecordedCheck]],
            namespace: dict[str, Any], known: Sequence[int], ends: float, mends: Callable[[Edit], bool]) -> Span | None:
    found = edits(text, _line(results), known)
    first = next(found, None)
    if first is None:
        return None
    plain = [own[0].plain for one, own in zip(results, records, strict=True)
             if one.difference and not one.difference.relation]
    quick = sorted(plain, key=lambda record: _seconds(first.text, record, namespace))[:1]  # few edits pass it
    asked = [record for done in (False, True) for one, own in zip(results, records, strict=True)
             if one.passed is done for record in own]
    most = PLACED_EDITS if all(one.place for one in results if one.difference) else MAX_EDITS
    for edit in _in_time(itertools.chain([first], found), most, ends):
        if (_passes(edit.text, quick, namespace, watched=False) and _passes(edit.text, asked, namespace)
                and mends(edit)):
            return edit.statement
    return None


def _passes(text: str, records: Sequence[RecordedCheck], namespace: dict[str, Any], watched: bool = True) -> bool:
    return all(first_difference(record, _attempted(text, record.ops, namespace, watched)) is None
               for record in records)


def _attempted(text: str, ops: Sequence[Op], namespace: dict[str, Any], watched: bool = True) -> Reply:
    """Return the reply to the calls of a check where a cell was edited to ``text``."""
    with restored(namespace):
        try:
            with bounded(EDIT_SECONDS):
                exec(compile(text, "<edited>", "exec"), namespace)
                return replay(ops, namespace, watched=watched)
        except (Exception, TimeIsUp) as error:
            return Reply({}, describe_error(error, namespace))


def _seconds(text: str, record: RecordedCheck, namespace: dict[str, Any]) -> float:
    started = time.monotonic()
    _attempted(text, record.ops, namespace, watched=False)
    return time.monotonic() - started


def _in_time(found: Iterator[Edit | None], most: int, ends: float) -> Iterator[Edit]:
    for edit in itertools.islice(filter(None, found), most):
        if time.monotonic() > ends:
            return
        yield edit


def _line(results: Sequence[CheckResult]) -> int:
    """Return the line at which the search begins: where values go wrong, where an error is raised, or the last."""
    placed = (one.place.span[0] for one in results if one.place)
    errors = (one.difference.error for one in results if one.difference)
    raised = (one.where.line for one in errors if one and one.where and one.inside == "cell")
    return min(next(itertools.chain(placed, raised), LAST), LAST)
