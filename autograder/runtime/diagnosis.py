"""Find the known fault that explains the replies to an exercise's checks, if any does.

Used by the self-check on the student's machine and by the judge.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .compare import check_difference, same
from .recorded import RecordedCheck, Reply


@dataclass(frozen=True)
class RecognisedFault:
    """A fault, by name and with what a teacher says of it."""

    name: str
    feedback: str


@dataclass(frozen=True)
class CandidateFault(RecognisedFault):
    """A fault with its replies to the checks; None where it was not replayed."""

    replies: Sequence[Reply | None]


def diagnose(pairs: Sequence[tuple[RecordedCheck, Reply]],
             candidates: Sequence[CandidateFault]) -> list[RecognisedFault | None]:
    """Return, for each check and its reply, the fault that explains the reply, or None.

    Consider a fault only if the student's replies equal its own in every check that it fails. If it agrees in all
    checks, return it for every failed check. Otherwise return, per check, the fault that explains most checks, if only
    one does. Of two faults at once, one may hide what the other does, but a check that passes hides nothing.
    Relations have sentences of their own: ``pairs`` comes from `compare.pairs_without_relations`.
    """
    failed = [check_difference(record, reply) is not None for record, reply in pairs]
    compared = [_Compared(candidate, pairs, failed) for candidate in candidates] if any(failed) else []
    shown = [fault for fault in compared if fault.is_shown([False] * len(pairs))]
    everywhere = [fault for fault in shown if all(fault.alike)][:1]
    explained = [failure and any(fault.alike[i] for fault in shown) for i, failure in enumerate(failed)]
    shown += [fault for fault in compared
              if fault not in shown and fault.is_shown(explained) and fault.explains_several(explained)]
    return [_best([fault for fault in everywhere or shown if fault.alike[i]]) if failure else None
            for i, failure in enumerate(failed)]


class _Compared:
    """A fault beside the student's replies, check by check."""

    def __init__(self, candidate: CandidateFault, pairs: Sequence[tuple[RecordedCheck, Reply]], failed: Sequence[bool]):
        self.candidate, self.failed = candidate, failed
        replied = list(zip(candidate.replies, pairs, strict=True))
        self.alike = [own is not None and same(record, own, reply) for own, (record, reply) in replied]
        self.passes = [own is not None and check_difference(record, own) is None
                       for own, (record, _) in replied]
        self.explained = sum(alike and failure for alike, failure in zip(self.alike, failed, strict=True))

    def is_shown(self, hidden: Sequence[bool]) -> bool:
        """Return whether the student's reply equals the fault's in every check that the fault fails.

        Checks in which another fault may hide what this one does are left out.
        """
        return all(alike or passes or hides
                   for alike, passes, hides in zip(self.alike, self.passes, hidden, strict=True))

    def explains_several(self, explained: Sequence[bool]) -> bool:
        """Return whether it explains several checks that fail and are not explained yet: a single one may coincide."""
        return sum(alike and failure and not known
                   for alike, failure, known in zip(self.alike, self.failed, explained, strict=True)) > 1


def _best(matching: Sequence[_Compared]) -> RecognisedFault | None:
    """Return the fault that explains most checks of the exercise; None where two explain as many."""
    most = max((fault.explained for fault in matching), default=0)
    best = [fault.candidate for fault in matching if fault.explained == most]
    return RecognisedFault(best[0].name, best[0].feedback) if len(best) == 1 else None
