"""Locate where a wrong answer first goes wrong, by observing it beside the solution and all right variants."""

from __future__ import annotations

from collections.abc import Sequence

from ..runtime.known import Answer, References
from ..runtime.observation import Observed, observe
from ..runtime.place import Located, located
from ..runtime.recorded import RecordedCheck
from ..runtime.replay import replay
from ..runtime.rewriting import cells_of
from .faults import Variant
from .oracle import Oracle

MAX_VARIANTS = 24  # of an exercise are observed beside the solution


class Places:
    """The values of right answers in recorded checks, and the places of wrong answers compared with them.

    ``stepwise``: the steps of torch's functions are known as well.
    """

    def __init__(self, truth: Oracle, without: Variant | None = None, stepwise: bool = True):
        self.truth, self.without, self.stepwise = truth, without, stepwise
        self._references: dict[int, tuple[RecordedCheck, References]] = {}  # by the id of what stands beside it

    def references(self, exercise: str, record: RecordedCheck) -> References:
        """Return what the solution of an exercise and its variants compute in a recorded check."""
        if id(record) not in self._references:
            versions = [one for one in self.truth.variants if one.exercise == exercise and one is not self.without]
            solution = self.truth.source.cell("exercise", exercise).solution
            texts = [solution, *map(self.truth.text_of, versions[:MAX_VARIANTS])]
            answers = [Answer(cells_of([text], whole=True)[0].expressions,
                              self.observed(exercise, [text], record, regrouped=True)) for text in texts]
            self._references[id(record)] = record, References.of(answers)
        return self._references[id(record)][1]

    def observed(self, exercise: str, texts: Sequence[str], record: RecordedCheck,
                 regrouped: bool = False) -> Observed:
        """Return what the expressions of these cells are in a recorded check, run here, as our own."""
        with self.truth.without(exercise) as names:
            return observe(cells_of(texts, whole=True), names, lambda made: replay(record.ops, made),
                           regrouped, regrouped and self.stepwise)

    def locate(self, exercise: str, texts: Sequence[str], record: RecordedCheck,
               form: bool = False, observed: Observed | None = None) -> Located | None:
        """Return the place of an answer that fails a recorded check; None where right answers to it may differ.

        ``texts`` are the exercise's cell and others of the student's. ``form``: it differs in shape, type or order of
        axes. ``observed`` is what was seen of them elsewhere; they are run here, as our own, where it is missing.
        """
        if record.is_open:
            return None
        known = self.references(exercise, record)
        if observed is None:
            return located(texts, self.observed(exercise, texts, record), known, form, whole=True)
        return located(texts, observed, known, form)
