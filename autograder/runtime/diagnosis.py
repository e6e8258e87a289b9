"""Find the known fault that explains the replies to an exercise's checks, if any does.

Used by the self-check on the student's machine and by the judge.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .compare import plain_difference, same
from .recorded import RecordedCheck, Reply


@dataclass(frozen=True)
class Recognised:
    """A fault, by name and with what a teacher says of it."""

    name: str
    says: str


@dataclass(frozen=True)
class Candidate(Recognised):
    """A fault with its answers to the checks; None where it was not asked."""

    replies: Sequence[Reply | None]


def diagnose(pairs: Sequence[tuple[RecordedCheck, Reply]], candidates: Sequence[Candidate]) -> list[Recognised | None]:
    """Return, for each check and its reply, the fault that explains the reply, or None.

    A wrong name is worse than none: a fault is named only when all that it does wrong is seen. One that answers every
    check as the student does is all there is to say; else it is, check by check, the one that explains most, where
    there is one. Of two faults at once, one may hide what the other does, but a check that passes hides nothing.
    Relations have sentences of their own: what is asked here comes from `compare.without_relations`.
    """
    failed = [plain_difference(record, reply) is not None for record, reply in pairs]
    compared = [_Compared(candidate, pairs, failed) for candidate in candidates] if any(failed) else []
    seen = [one for one in compared if one.is_seen([False] * len(pairs))]
    everywhere = [one for one in seen if all(one.alike)][:1]
    explained = [bad and any(one.alike[i] for one in seen) for i, bad in enumerate(failed)]
    seen += [one for one in compared
             if one not in seen and one.is_seen(explained) and one.explains_several(explained)]
    return [_best([one for one in everywhere or seen if one.alike[i]]) if bad else None for i, bad in enumerate(failed)]


class _Compared:
    """A fault beside the student's replies, check by check."""

    def __init__(self, candidate: Candidate, pairs: Sequence[tuple[RecordedCheck, Reply]], failed: Sequence[bool]):
        self.candidate, self.failed = candidate, failed
        answers = list(zip(candidate.replies, pairs, strict=True))
        self.alike = [own is not None and same(record, own, reply) for own, (record, reply) in answers]
        self.passes = [own is not None and plain_difference(record, own) is None for own, (record, _) in answers]
        self.explained = sum(alike and bad for alike, bad in zip(self.alike, failed, strict=True))

    def is_seen(self, hidden: Sequence[bool]) -> bool:
        """Return whether all that the fault does wrong is what the student's work does wrong, what is hidden apart."""
        return all(alike or passes or hides
                   for alike, passes, hides in zip(self.alike, self.passes, hidden, strict=True))

    def explains_several(self, explained: Sequence[bool]) -> bool:
        """Return whether it explains several checks that fail and are not explained yet: a single one may coincide."""
        return sum(alike and bad and not known
                   for alike, bad, known in zip(self.alike, self.failed, explained, strict=True)) > 1


def _best(matching: Sequence[_Compared]) -> Recognised | None:
    """Return the fault that explains most of a check's exercise; None where two explain as much."""
    most = max((one.explained for one in matching), default=0)
    best = [one.candidate for one in matching if one.explained == most]
    return Recognised(best[0].name, best[0].says) if len(best) == 1 else None
