"""Place what is wrong with an exercise: where one edit mends it, or where the value of a right answer does."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from ..arrays import generators_kept
from ..compare import first_difference
from ..diagnosis import Recognised
from ..findings import CheckResult
from ..place import MAX_ANSWER, Place
from ..recorded import RecordedCheck
from ..replay import replay
from ..shipped import ShippedCheck
from .edits import Edit
from .repair import repair_apart
from .rewriting import cells_of
from .right_values import RightValues
from .value_replacement import Search

MAX_PLACES = 3  # checks of an exercise in which values are replaced
SECONDS = 0.4  # for all of them
ALL_SECONDS = 0.8  # with the edits


class Searched(Protocol):
    """A check as it is searched: its records, and the values that right answers have in the first of them."""

    @property
    def records(self) -> Sequence[RecordedCheck]: ...

    @property
    def right(self) -> RightValues | None: ...


def placed(results: Sequence[CheckResult], checks: Sequence[Searched], texts: Sequence[str], namespace: dict[str, Any],
           device: str = "cpu") -> list[CheckResult]:
    """Return the results of an exercise, those of checks that fail with the place that was found.

    ``texts`` are the exercise's cell and others of the student's, which were run in the namespace.
    If a fault was recognised in each check that fails, nothing is edited. On a GPU nothing is looked for: an index out
    of range ends the process there.
    """
    wrong = [i for i, one in enumerate(results) if one.difference]
    made = list(results)
    if not wrong or not texts or sum(map(len, texts)) > MAX_ANSWER or device != "cpu":
        return made
    started = time.monotonic()
    searched = {i: (checks[i].records[0].plain, right) for i in wrong[:MAX_PLACES]
                if _is_placed(results[i], checks[i].records[0]) and (right := checks[i].right)}
    search = Search(cells_of(texts), texts, namespace, lambda record: replay(record.ops, namespace, watched=False),
                    list(searched.values()), started + SECONDS)
    with generators_kept():
        found = search.places()
    for i, place in zip(searched, found, strict=True):
        made[i] = replace(made[i], place=place)
    lines = [one.place.span[0] for one in made if one.place]

    def mends(edit: Edit) -> bool:
        """Return whether an edit stands where a right value mends a check, or leaves fewer wrong values than were."""
        if not lines or any(edit.statement[0] <= line <= edit.statement[2] for line in lines):
            return True
        return replace(search, cells=cells_of([edit.text, *texts[1:]])).unknown < search.unknown

    if not all(results[i].fault for i in wrong):
        place = repair_apart(made, texts[0], [one.records for one in checks], namespace, search.known,
                             started + ALL_SECONDS, mends)
        if place:
            made = [replace(one, place=place) if one.difference else one for one in made]
    return made


def _is_placed(result: CheckResult, record: RecordedCheck) -> bool:
    return bool(result.difference and result.difference.is_placed and not record.is_open)


def places(checks: Sequence[ShippedCheck], failing: Mapping[int, Recognised | None], texts: Sequence[str],
           namespace: dict[str, Any]) -> list[Place | None]:
    """Return the place of each check, where it fails on its own records, too.

    ``failing`` are the numbers of the checks that failed elsewhere, each with the fault that was recognised there.
    """
    results = []
    for i, check in enumerate(checks):
        seen = (first_difference(record, replay(record.ops, namespace))
                for record in check.records if i in failing)
        found = next(filter(None, seen), None)
        results.append(CheckResult(check.name, found is None, "", found, failing.get(i)))
    return [one.place for one in placed(results, checks, texts, namespace)]
