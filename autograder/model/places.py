"""Where a wrong answer first goes wrong: it is observed beside the solution and all right variants."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..runtime.observation import Observed, observe
from ..runtime.place import Answer, Place, References, locate
from ..runtime.recorded import RecordedCheck
from ..runtime.replay import replay
from ..runtime.rewriting import cells_of
from .faults import Variant
from .oracle import Oracle

MAX_VARIANTS = 24  # of an exercise are observed beside the solution


class Places:
    """What right answers compute in recorded checks, and the places of wrong ones beside it."""

    def __init__(self, truth: Oracle, without: Variant | None = None):
        self.truth, self.without = truth, without
        self._references: dict[int, tuple[RecordedCheck, References]] = {}  # by the id of what stands beside it

    def references(self, exercise: str, record: RecordedCheck) -> References:
        """Return what the solution of an exercise and its variants compute in a recorded check."""
        if id(record) not in self._references:
            versions = [one for one in self.truth.variants if one.exercise == exercise and one is not self.without]
            solution = self.truth.source.cell("exercise", exercise).solution
            texts = [solution, *map(self.truth.text_of, versions[:MAX_VARIANTS])]
            answers = [self._answer(exercise, [text], record, regrouped=True) for text in texts]
            self._references[id(record)] = record, References(answers)
        return self._references[id(record)][1]

    def _answer(self, exercise: str, texts: Sequence[str], record: RecordedCheck, regrouped: bool = False) -> Answer:
        cells = cells_of(texts)
        names = {name: value for name, value in self.truth.namespace.items()
                 if name not in self.truth.defines[exercise]}
        observed = observe(cells, names, replayed(record), regrouped)
        return Answer([one for cell in cells for one in cell.expressions], observed)

    def locate(self, exercise: str, texts: Sequence[str], record: RecordedCheck,
               observed: Observed | None = None) -> Place | None:
        """Return the place of an answer that fails a recorded check.

        ``texts`` are the exercise's cell and others of the student's; ``observed`` is what was seen of them elsewhere,
        and they are run here, as our own, where it is missing.
        """
        if observed is None:
            answer = self._answer(exercise, texts, record)
        else:
            answer = Answer([one for cell in cells_of(texts) for one in cell.expressions], observed)
        return locate(answer, self.references(exercise, record))


def replayed(record: RecordedCheck) -> Callable[[dict[str, Any]], object]:
    """Return the calls of a check, to be made on a namespace."""
    return lambda names: replay(record.ops, names)
