"""Observe an answer while calls are made on it: what its expressions are, within bounds of number and time."""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from . import arrays, fingerprints
from .fingerprints import Fingerprint, fingerprint
from .rewriting import WatchedCell
from .state import restored
from .steps import steps
from .syntax import PROBE

MAX_VALUES = 40_000  # that are looked at in one observation
MAX_SECONDS = 3.0
MAX_SERIES = 2_000  # values of one expression
MAX_TERMS = 5  # of a sum that is regrouped
REGROUPED = 1_000_000  # expressions have smaller numbers
STEPS = 10**12  # and sums that are regrouped

Series = dict[int, list[Fingerprint]]  # by the number of an expression: what it was, one value after the other
Tags = dict[int, list[int]]  # beside each value, how often its function or loop had begun
Times = dict[int, list[int]]  # beside each value, when it was seen: the number of values before it


class Observer:
    """Keeps the fingerprints of what the expressions of cells are, within bounds."""

    def __init__(self, cells: Sequence[WatchedCell], seconds: float = MAX_SECONDS, regrouped: bool = False) -> None:
        self.frames = {one.number: one.frame for cell in cells for one in cell.expressions}
        self.sums = {number: terms for cell in cells for number, terms in cell.sums.items()} if regrouped else {}
        self.terms = {term for terms in self.sums.values() for term, _ in terms}
        self.held: dict[int, Any] = {}  # the terms of sums
        self.series: Series = {}
        self.tags: Tags = {}
        self.times: Times = {}
        self.begun: Counter[int] = Counter()
        self.named: dict[tuple[str, int], int] = {}  # steps of functions
        self.left = MAX_VALUES
        self.ends = time.process_time() + seconds

    def probe(self, number: int, value: Any) -> Any:
        """Keep what an expression is, and return it: what a rewritten cell calls with each value."""
        if number < 0:
            self.begun[number] += 1
        elif self.left > 0:
            self.left -= 1
            if self.left % 64 == 0 and time.process_time() > self.ends:
                self.left = 0
            self._keep(number, number, value)
            if number in self.terms:
                self.held[number] = value
            if len(self.sums.get(number, ())) > 2:
                self._regroup(number)
        return value

    def _keep(self, key: int, number: int, value: Any) -> None:
        kept = self.series.setdefault(key, [])
        if len(kept) < MAX_SERIES:
            kept.append(fingerprint(value))
            self.tags.setdefault(key, []).append(self.begun[-self.frames[number]])
            self.times.setdefault(key, []).append(MAX_VALUES - self.left)

    def note(self, name: str, args: Any, kwargs: Any) -> None:
        """Keep the steps of a call of torch: another answer may write them out."""
        with contextlib.suppress(Exception):  # a call in a form that is not looked into
            for index, value in enumerate(steps(name, args, kwargs)):
                if self.left > 0:
                    self.left -= 1
                    key = STEPS + self.named.setdefault((name, index), len(self.named))
                    self.series.setdefault(key, []).append(fingerprint(value))
                    self.tags.setdefault(key, []).append(0)
                    self.times.setdefault(key, []).append(MAX_VALUES - self.left)

    def _regroup(self, number: int) -> None:
        """Keep what the sum of some of its terms is: another answer may add them in another order."""
        terms = self.sums[number][:MAX_TERMS]
        for chosen in range(1, 2 ** len(terms) - 1):
            picked = [term for index, term in enumerate(terms) if chosen >> index & 1]
            with contextlib.suppress(Exception):  # strings and lists are no sums
                total = sum(sign * self.held[term] for term, sign in picked)
                self._keep(REGROUPED * (number + 1) + chosen, number, total)


@dataclass(frozen=True)
class Observed:
    """What an answer computes: the values of each of its expressions, and beside each its tag and its time."""

    series: Series
    tags: Tags
    times: Times


def observe(cells: Sequence[WatchedCell], namespace: dict[str, Any], run: Callable[[dict[str, Any]], object],
            regrouped: bool = False, stepwise: bool = False) -> Observed:
    """Return what the expressions of cells are while ``run`` makes calls on what they define.

    The cells are executed in ``namespace`` itself, because what was defined there before must see stubs, too; it is
    left as it was. An exception, of theirs or of the calls, ends the observation.
    ``regrouped``: sums of some of the terms of a sum are observed as well, under numbers of their own; ``stepwise``: so
    are the steps of torch's functions.
    """
    observer = Observer(cells, regrouped=regrouped)
    with restored(namespace), contextlib.suppress(Exception):  # a student's; what was seen so far was seen
        namespace[PROBE] = observer.probe
        for cell in cells:
            if cell.code:
                exec(cell.code, namespace)
        with arrays.torch_arguments(observer.note) if stepwise else contextlib.nullcontext():
            run(namespace)
    return Observed(observer.series, observer.tags, observer.times)


def to_tree(observed: Observed) -> dict[str, Any]:
    """Return what was observed as plain data."""
    return {str(number): [list(map(fingerprints.to_tree, values)), observed.tags[number], observed.times[number]]
            for number, values in observed.series.items()}


def from_tree(tree: Any) -> Observed | None:
    """Return what a tree holds, whoever sent it; None where it is nothing of the kind, or too much."""
    if not isinstance(tree, dict) or len(tree) > MAX_VALUES:
        return None
    observed, reader = Observed({}, {}, {}), fingerprints.Reader()
    try:
        for key, one in tree.items():
            number, (values, tags, times) = int(key), one
            if not (_are_whole(tags) and _are_whole(times) and isinstance(values, list) and times == sorted(times)):
                return None
            if not 0 < len(values) == len(tags) == len(times) <= MAX_SERIES:
                return None
            observed.series[number] = [reader.read(value) for value in values]
            observed.tags[number], observed.times[number] = tags, times
        return observed
    except (TypeError, ValueError):
        return None


def _are_whole(numbers: Any) -> bool:
    return isinstance(numbers, list) and all(type(one) is int for one in numbers)
