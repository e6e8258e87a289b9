"""Observe an answer while calls are made on it: what its expressions are, within bounds of number and time."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from . import fingerprints
from .fingerprints import Fingerprint, fingerprint
from .rewriting import PROBE, Cell

MAX_VALUES = 40_000  # that are looked at in one observation
MAX_SECONDS = 3.0
MAX_SERIES = 2_000  # values of one expression

Series = dict[int, list[Fingerprint]]  # by the number of an expression: what it was, one value after the other
Tags = dict[int, list[int]]  # beside each value, how often its function or loop had begun
Times = dict[int, tuple[int, int]]  # by the number of an expression: when it was seen first, and last


class Observer:
    """Keeps the fingerprints of what the expressions of cells are, within bounds."""

    def __init__(self, seconds: float = MAX_SECONDS) -> None:
        self.series: Series = {}
        self.tags: Tags = {}
        self.times: Times = {}
        self.begun: Counter[int] = Counter()
        self.left = MAX_VALUES
        self.ends = time.process_time() + seconds

    def probe(self, frames: Mapping[int, int]) -> Callable[[int, Any], Any]:
        """Return the function that a rewritten cell calls with each value; ``frames`` are those of its expressions."""

        def observe(number: int, value: Any) -> Any:
            if number < 0:
                self.begun[number] += 1
            elif self.left > 0:
                self.left -= 1
                if self.left % 64 == 0 and time.process_time() > self.ends:
                    self.left = 0
                kept = self.series.setdefault(number, [])
                if len(kept) < MAX_SERIES:
                    kept.append(fingerprint(value))
                    self.tags.setdefault(number, []).append(self.begun[-frames[number]])
                first, _ = self.times.get(number, (self.left, 0))
                self.times[number] = first, self.left
            return value

        return observe

    @property
    def is_whole(self) -> bool:
        """Return whether nothing was left out."""
        return self.left > 0


@dataclass(frozen=True)
class Observed:
    """What an answer computes: the values of each of its expressions, and when they were seen."""

    series: Series
    tags: Tags
    times: Times


def observe(cells: Sequence[Cell], namespace: dict[str, Any], run: Callable[[dict[str, Any]], object]) -> Observed:
    """Return what the expressions of cells are while ``run`` makes calls on what they define.

    The cells are executed in a copy of ``namespace``. An exception, of theirs or of the calls, ends the observation.
    """
    observer = Observer()
    names = {**namespace, PROBE: observer.probe({one.number: one.frame for cell in cells for one in cell.expressions})}
    try:
        for cell in cells:
            if cell.code:
                exec(cell.code, names)
        run(names)
    except Exception:  # a student's; what was seen so far was seen
        pass
    return Observed(observer.series, observer.tags, observer.times)


def to_tree(observed: Observed) -> dict[str, Any]:
    """Return what was observed as plain data."""
    return {str(number): [[fingerprints.to_tree(one) for one in values], observed.tags[number], list(observed.times[number])]
            for number, values in observed.series.items()}


def from_tree(tree: Any) -> Observed | None:
    """Return what a tree holds, whoever sent it; None where it is nothing of the kind."""
    try:
        observed = Observed({}, {}, {})
        for key, (values, tags, times) in tree.items():
            number = int(key)
            if len(values) != len(tags) or len(values) > MAX_SERIES or not all(type(tag) is int for tag in tags):
                return None
            observed.series[number] = [fingerprints.from_tree(one) for one in values]
            observed.tags[number], observed.times[number] = list(tags), (int(times[0]), int(times[1]))
        return observed
    except (TypeError, ValueError, AttributeError, KeyError, IndexError, OverflowError, RecursionError):
        return None
