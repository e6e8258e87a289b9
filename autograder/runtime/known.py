"""What right answers compute on the same inputs, and how far the values of an answer agree with it."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from . import fingerprints
from .fingerprints import Fingerprint
from .observation import Observed
from .rewriting import Expression

TOLERANCE = 5e-4  # of the sum of sizes
LONGEST = 100  # calls of a function that are counted
FEW = 3  # numbers coincide
SPIKED = 4  # so many times as large as of numbers of one size is what their cubes come to without their signs


@dataclass(frozen=True)
class Answer:
    """The expressions of an answer, and what they were."""

    expressions: Sequence[Expression]
    observed: Observed


class References:
    """All that right answers compute on the same inputs.

    ``series`` are the values of expressions, and whether these stand in a loop; ``returns`` are the numbers of those
    that a function returns; ``refusing`` are the functions that always raise.
    """

    def __init__(self, series: Sequence[tuple[Values, bool]], returns: Mapping[str, Sequence[int]],
                 refusing: Collection[str]):
        self.series, self.numbers, self.refusing = series, returns, set(refusing)
        self.returned_by = {name: [series[number][0] for number in numbers] for name, numbers in returns.items()}
        self._looped = [values for values, looped in series if looped]
        self._by_key: dict[object, list[Values]] = defaultdict(list)
        self._totals: list[tuple[object, Fingerprint]] = []
        self._single: dict[object, list[tuple[float, Fingerprint]]] = defaultdict(list)
        self._means: list[tuple[float, Fingerprint]] = []
        for values, _ in series:
            self._by_key[key_of(values.all[0])].append(values)
            total = _total(values.all)
            if total:
                self._totals.append((_key_of_one(values.all), total))
            for value in values.all:
                tells = value.kind == "array" and value.is_telling and value.moments[0] > FEW
                if value.is_constant or tells:
                    self._single[key_of(value)].append((_mean(value), value))
                if tells:
                    self._means.append((_mean(value), value))
        arrays = [one for values, _ in series for value in values.all for one in (value, *value.parts)
                  if one.kind == "array"]
        self._keys, self._axes = set(map(key_of, arrays)), max(map(_axes, arrays), default=0)
        self._sizes = {size for one in arrays for size in one.shape}
        for pairs in (self._means, *self._single.values()):
            pairs.sort(key=lambda pair: pair[0])

    @classmethod
    def of(cls, answers: Sequence[Answer]) -> References:
        """Return what these right answers compute."""
        numbers: dict[Values, int] = {}
        loops: dict[Values, bool] = {}
        returns: dict[str, list[int]] = defaultdict(list)
        ending: set[str] = set()
        for one in answers:
            by_number = {expression.number: expression for expression in one.expressions}
            ending |= {expression.function for expression in one.expressions if expression.kind == "return"}
            for number in one.observed.series:
                values, expression = values_of(one.observed, number), by_number.get(number)
                place = numbers.setdefault(values, len(numbers))
                loops[values] = loops.get(values, False) or bool(expression and expression.loop)
                if expression and expression.kind == "return":
                    returns[expression.function].append(place)
        return cls([(values, loops[values]) for values in numbers], returns, ending - returns.keys())

    def agreement(self, values: Values, exactly: bool = False) -> Agreement:
        """Return how far a right answer computes these values, one after the other or together.

        Of a tuple, each part may be computed elsewhere. ``exactly``: in the same order, of the same shape and type.
        """
        found = self._agreement(values, exactly)
        if found.known < len(values.all) and len({len(one.parts) for one in values.all}) == 1:
            parts = zip(*(one.parts for one in values.all), strict=True)
            known = [self._agreement(Values(part, values.tags), exactly).known for part in parts]
            return max(found, Agreement(min(known, default=0)), key=lambda one: one.known)
        return found

    def _agreement(self, values: Values, exactly: bool) -> Agreement:
        alike = same_exactly if exactly else same
        found = _furthest(values, self._by_key.get(key_of(values.all[0]), ()), alike)
        if found.known == len(values.all) or exactly:
            return found
        total = _total(values.all)
        own = _key_of_one(values.all)
        if total is not None and not _hides(total, values.all) and any(
                (own is None or own != key) and same(total, other) for key, other in self._totals):
            return Agreement(len(values.all))
        return found

    def has(self, value: Fingerprint, exactly: bool = False, repeated: bool = True) -> bool:
        """Return whether a right answer computes this array somewhere, or what it has ``repeated`` along an axis."""
        alike = same_exactly if exactly else same
        if any(alike(value, other) for other in _near(value, self._single.get(key_of(value), ()))):
            return True
        if exactly or not repeated or value.kind != "array" or value.moments[0] <= FEW:
            return False
        for other in _near(value, self._means):
            times, left = divmod(value.moments[0], other.moments[0])
            if times > 1 and not left and _same_moments(value.moments, tuple(times * one for one in other.moments)):
                return True
        return False

    def is_strange(self, value: Fingerprint) -> bool:
        """Return whether no array has these axes together, and others have each of them."""
        return key_of(value) not in self._keys and set(value.shape) - {1} <= self._sizes

    def is_larger(self, value: Fingerprint) -> bool:
        """Return whether no array has so many axes."""
        return value.kind == "array" and _axes(value) > self._axes

    def returned(self, function: str, values: Values, exactly: bool = False) -> Agreement | None:
        """Return how far right answers return these values from a function; None where none has such a function."""
        asked = self.returned_by.get(function)
        return _furthest(values, asked, same_exactly if exactly else same) if asked else None

    def unreturned(self, function: str, values: Sequence[Fingerprint], exactly: bool = False) -> list[int]:
        """Return which of these values right answers return from a function in no call of it, or in fewer calls.

        They are counted beside answers that call it as often.
        """
        alike, asked = same_exactly if exactly else same, self.returned_by.get(function, ())
        counted = [one.all for one in asked if len(one.all) == len(values) <= LONGEST]

        def times(value: Fingerprint, among: Sequence[Fingerprint]) -> int:
            return sum(alike(value, other) for other in among)

        return [index for index, value in enumerate(values) if not any(times(value, one.all) for one in asked)
                or counted and times(value, values[:index]) >= max(times(value, one) for one in counted)]

    def other_size(self, function: str, call: int, shape: Sequence[int], size: int) -> int | None:
        """Return what stands in the place of the only axis that differs, of this size, in what a function returns."""
        found: set[tuple[int, int]] = set()
        for values in self.returned_by.get(function, ()):
            for one in (values.all[call], *values.all[call].parts) if call < len(values.all) else ():
                if len(one.shape) == len(shape):
                    found |= {(n, m) for n, m in zip(shape, one.shape, strict=True) if n != m}
        if len(found) != 1:
            return None
        ((own, other),) = found
        return other if own == size else None

    def length_of(self, values: Values) -> tuple[int, int] | None:
        """Return how long a loop runs, and a right answer's.

        None where one runs as long, or this one is not as right as far as it goes.
        """
        found = None
        for other in self._looped:
            if len(values.all) == len(other.all) and all(map(same_exactly, values.all, other.all)):
                return None
            pairs = list(zip(values.groups(), other.groups(), strict=False))
            for own, theirs in pairs:
                shorter = min(len(own), len(theirs))
                if not all(map(same_exactly, own[:shorter], theirs[:shorter])):
                    break
                if len(own) != len(theirs):
                    telling = [one.kind for one in own[:shorter]
                               if one.is_telling and one.type != "int" and not one.is_mask]
                    if "array" in telling or telling.count("number") > 1:
                        found = found or (len(own), len(theirs))
                    break
            else:
                if pairs:
                    return None
        return found


@dataclass(frozen=True)
class Values:
    """What an expression was, one value after the other, and beside each how often its loop or function had begun."""

    all: tuple[Fingerprint, ...]
    tags: tuple[int, ...]

    def groups(self) -> list[list[Fingerprint]]:
        """Return the values of each run of the loop."""
        found: dict[int, list[Fingerprint]] = defaultdict(list)
        for value, tag in zip(self.all, self.tags, strict=True):
            found[tag].append(value)
        return list(found.values())


def values_of(observed: Observed, number: int) -> Values:
    """Return the values of an expression; none where it was never computed."""
    return Values(tuple(observed.series.get(number, ())), tuple(observed.tags.get(number, ())))


@dataclass(frozen=True)
class Agreement:
    """How many values of a series a right answer has, from the first on.

    ``ended``: its loop ends there, and the series goes on. ``short``: the series ends, and its loop goes on.
    """

    known: int
    ended: bool = False
    short: bool = False


def _furthest(own: Values, others: Sequence[Values], alike: Callable[[Fingerprint, Fingerprint], bool]) -> Agreement:
    found = max((_agreement(own, other, alike) for other in others), key=lambda one: (one.known, not one.short),
                default=Agreement(0))
    if found.known == len(own.all) or len(set(own.tags)) < len(own.tags):
        return found
    covered: set[int] = set()  # calls of the function in which one right answer or another has it
    for other in others:
        covered |= _shared(own, other, alike)
    known = next((index for index, tag in enumerate(own.tags) if tag not in covered), len(own.tags))
    return Agreement(known) if known > found.known else found


def _shared(own: Values, other: Values, alike: Callable[[Fingerprint, Fingerprint], bool]) -> set[int]:
    """The calls of the function that came to a value in both answers, where it is the same in all of them."""
    mine, theirs = (dict(zip(one.tags, one.all, strict=True)) for one in (own, other))
    if len(mine) < len(own.all) or len(theirs) < len(other.all):  # in a loop
        return set()
    shared = mine.keys() & theirs.keys()
    complete = len(shared) == min(len(mine), len(theirs))
    return shared if complete and all(alike(mine[tag], theirs[tag]) for tag in shared) else set()


def _agreement(own: Values, other: Values, alike: Callable[[Fingerprint, Fingerprint], bool]) -> Agreement:
    """How far two series agree, value by value."""
    count = 0
    for value, known in zip(own.all, other.all, strict=False):
        if not alike(value, known):
            break
        count += 1
    if not 0 < count < len(own.all):
        return Agreement(count, short=0 < count < len(other.all))
    goes_on = own.tags[count] == own.tags[count - 1]
    return Agreement(count, goes_on and (count == len(other.all) or other.tags[count] != other.tags[count - 1]))


def key_of(one: Fingerprint) -> object:
    """Return what two fingerprints of the same value share for certain."""
    return (one.kind, tuple(sorted(n for n in one.shape if n != 1))) if one.kind in ("array", "number") else one.kind


def _key_of_one(values: Sequence[Fingerprint]) -> object:
    """The key of a value that is alone: another one of the same key is compared itself, its order included."""
    return key_of(values[0]) if len(values) == 1 else None


def _axes(one: Fingerprint) -> int:
    return sum(size != 1 for size in one.shape)


def same(a: Fingerprint, b: Fingerprint) -> bool:
    """Return whether two fingerprints are of the same value, the order of its axes apart."""
    if a.kind != b.kind or key_of(a) != key_of(b):
        return False
    if a.parts and len(a.parts) == len(b.parts):
        return all(map(same, a.parts, b.parts))
    if a.kind in ("array", "number"):
        return _same_moments(a.moments, b.moments) and (
            not (a.is_mask and b.is_mask) or math.isclose(a.spread, b.spread, rel_tol=1e-6, abs_tol=1e-6)) and (
            not _are_ordered(a, b) or _same_order(a, b))
    if a.kind == "items":
        return len(a.items) == len(b.items) and all(map(same, a.items, b.items))
    return a.text == b.text


def _same_moments(a: Sequence[float], b: Sequence[float]) -> bool:
    if a[0] != b[0] or a[5:] != b[5:]:
        return False
    sizes, squares = max(a[4], b[4]), max(a[2], b[2])
    cubes = math.sqrt(squares) * squares
    likely = max(abs(a[3]), abs(b[3])) + SPIKED * cubes / math.sqrt(max(a[0], 1))
    total = TOLERANCE * sizes + 1e-6
    tolerances = (total, 2 * TOLERANCE * squares + 1e-9, 3 * TOLERANCE * min(cubes, likely) + 1e-9, total)
    return all(abs(x - y) <= t for x, y, t in zip(a[1:5], b[1:5], tolerances, strict=True))


def same_exactly(a: Fingerprint, b: Fingerprint) -> bool:
    """Return whether two fingerprints are of the same value, the order of its axes and its type included."""
    if not same(a, b) or (a.shape, a.type, a.text) != (b.shape, b.type, b.text):
        return False
    if a.kind == "items":
        return all(map(same_exactly, a.items, b.items))
    return _same_order(a, b) if a.moments else True


def _same_order(a: Fingerprint, b: Fingerprint) -> bool:
    return abs(a.order - b.order) <= TOLERANCE * max(a.moments[4], b.moments[4]) + 1e-6


def _are_ordered(a: Fingerprint, b: Fingerprint) -> bool:
    """Whether the order of two arrays' numbers is comparable: along one axis, or of tensors of one shape."""
    one_axis = _axes(a) == _axes(b) == 1
    return a.moments[0] > 1 and (one_axis or a.shape == b.shape and not a.text and not b.text)


def _mean(one: Fingerprint) -> float:
    """The mean square of the numbers of an array."""
    return one.moments[2] / max(one.moments[0], 1)


def _near(value: Fingerprint, pairs: Sequence[tuple[float, Fingerprint]]) -> Iterator[Fingerprint]:
    """Yield the arrays with about the mean square of one; ``pairs`` are sorted by theirs."""
    mean = _mean(value) if value.moments else 0.0
    around = 4 * TOLERANCE * mean + 1e-8
    for index in range(bisect_left(pairs, mean - around, key=lambda pair: pair[0]), len(pairs)):
        if pairs[index][0] > mean + around:
            return
        yield pairs[index][1]


def _total(values: Sequence[Fingerprint]) -> Fingerprint | None:
    """The fingerprint of all values of a series together; None where they are no arrays that tell."""
    kinds = {one.kind for one in values}
    if not kinds <= {"array", "number"} or not any(one.is_telling for one in values):
        return None
    moments = tuple(float(sum(column)) for column in zip(*(one.moments for one in values), strict=True))
    return Fingerprint("array", (), moments, spread=fingerprints.spread(values))


def _hides(total: Fingerprint, values: Sequence[Fingerprint]) -> bool:
    """Whether one of several arrays is so small that it is lost in their total."""
    return any(one.kind == "array" and 0 < one.moments[4] < 2 * TOLERANCE * total.moments[4] for one in values)


def to_tree(references: References) -> dict[str, Any]:
    """Return what right answers compute as plain data: how self-checks are shipped."""
    series = [[[fingerprints.to_tree(one) for one in values.all], list(values.tags), looped]
              for values, looped in references.series]
    return {"series": series, "returns": {name: list(numbers) for name, numbers in references.numbers.items()},
            "refusing": sorted(references.refusing)}


def from_tree(tree: Mapping[str, Any]) -> References:
    """Return what one of our own trees holds."""
    series = [(Values(tuple(map(fingerprints.from_tree, values)), tuple(tags)), looped)
              for values, tags, looped in tree["series"]]
    return References(series, tree["returns"], tree["refusing"])
