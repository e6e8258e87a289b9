"""Find where an answer first goes wrong, without a list of faults.

An expression is *known* when the values that it took are values that a right answer computes somewhere. The *frontier*
is what is not known while all that goes into it is. It is cleared when something made of it is known again: then it was
another way to the same value. What is left first is where the answer goes wrong; if nothing is left, nothing is said.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

from . import fingerprints
from .fingerprints import Fingerprint
from .observation import Observed
from .rewriting import Expression, Span, cells_of, segment
from .values import short

TOLERANCE = 5e-4  # of the sum of sizes

Kind = Literal["value", "form", "return", "length"]


@dataclass(frozen=True)
class Place:
    """Where an answer first goes wrong.

    ``kind``: "value", no right answer has this value; "form", the numbers are right, and their type or the order of
    their axes is not; "return", the value is right, and it is not what is asked for; "length", a loop runs ``times``
    times where that of a right answer runs ``expected_times``. ``span`` is in the cell: first line and column, last
    line and column. ``known`` are the lines up to there on which all is known.
    """

    kind: Kind
    span: Span
    known: tuple[int, ...] = ()
    times: int = 0
    expected_times: int = 0
    cell: int = 0  # the exercise's, or one of the student's own behind it
    text: str = ""  # what stands there


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
        self.returns = {function: [series[number][0] for number in numbers] for function, numbers in returns.items()}
        self._looped = [values for values, looped in series if looped]
        self._by_key: dict[object, list[Values]] = defaultdict(list)
        self._totals: list[Fingerprint] = []
        for values, _ in series:
            self._by_key[_key(values.all[0])].append(values)
            total = _total(values.all)
            if total:
                self._totals.append(total)

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

    def has(self, values: Values, exactly: bool = False) -> bool:
        """Return whether a right answer computes these values, one after the other or together.

        ``exactly``: in the same order, of the same shape and type.
        """
        alike = same_exactly if exactly else same
        near = self._by_key.get(_key(values.all[0]), ())
        if any(_agree(values, other, alike) for other in near):
            return True
        total = None if exactly else _total(values.all)
        return total is not None and any(same(total, other) for other in self._totals)

    def length_of(self, values: Values) -> tuple[int, int] | None:
        """Return how long a loop runs, and a right answer's; None where it is not as right as far as it goes."""
        for other in self._looped:
            for own, theirs in zip(values.groups(), other.groups(), strict=False):
                shorter = min(len(own), len(theirs))
                if not all(map(same_exactly, own[:shorter], theirs[:shorter])):
                    break
                if len(own) != len(theirs) and any(one.is_telling for one in own[:shorter]):
                    return len(own), len(theirs)
        return None


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


def _agree(own: Values, other: Values, alike: Callable[[Fingerprint, Fingerprint], bool]) -> bool:
    """Whether two series are alike: as a whole, or in all calls of the function that came to it in both answers."""
    if len(own.all) == len(other.all):
        return all(map(alike, own.all, other.all))
    mine, theirs = (dict(zip(one.tags, one.all, strict=True)) for one in (own, other))
    if len(mine) != len(own.all) or len(theirs) != len(other.all):  # it stands in a loop
        return False
    shared = mine.keys() & theirs.keys()
    return len(shared) == min(len(mine), len(theirs)) and all(alike(mine[tag], theirs[tag]) for tag in shared)


def _key(one: Fingerprint) -> object:
    """What two fingerprints of the same value share for certain."""
    return (one.kind, tuple(sorted(n for n in one.shape if n != 1))) if one.kind in ("array", "number") else one.kind


def same(a: Fingerprint, b: Fingerprint) -> bool:
    """Return whether two fingerprints are of the same value, the order of its axes apart."""
    if a.kind != b.kind or _key(a) != _key(b):
        return False
    if a.kind in ("array", "number"):
        return _same_moments(a.moments, b.moments)
    if a.kind == "items":
        return len(a.items) == len(b.items) and all(map(same, a.items, b.items))
    return a.text == b.text


def _same_moments(a: Sequence[float], b: Sequence[float]) -> bool:
    if a[0] != b[0] or a[5:] != b[5:]:
        return False
    sizes, squares = max(a[4], b[4]), max(a[2], b[2])
    cubes = math.sqrt(squares) * squares
    tolerances = (TOLERANCE * sizes + 1e-6, 2 * TOLERANCE * squares + 1e-9, 3 * TOLERANCE * cubes + 1e-9)
    return all(abs(x - y) <= t for x, y, t in zip(a[1:4], b[1:4], tolerances, strict=True))


def same_exactly(a: Fingerprint, b: Fingerprint) -> bool:
    """Return whether two fingerprints are of the same value, the order of its axes and its type included."""
    if not same(a, b) or a.shape != b.shape or a.type != b.type:
        return False
    if a.kind == "items":
        return all(map(same_exactly, a.items, b.items))
    return abs(a.order - b.order) <= TOLERANCE * max(a.moments[4], b.moments[4]) + 1e-6 if a.moments else True


def _total(values: Sequence[Fingerprint]) -> Fingerprint | None:
    """The fingerprint of all values of a series together; None where they are no arrays that tell."""
    kinds = {one.kind for one in values}
    if not kinds <= {"array", "number"} or not any(one.is_telling for one in values):
        return None
    moments = tuple(float(sum(column)) for column in zip(*(one.moments for one in values), strict=True))
    return Fingerprint("array", (), moments)


class _Search:
    """The expressions of an answer, and which of them are known, loosely or ``exactly``."""

    def __init__(self, answer: Answer, references: References, exactly: bool = False):
        self.all = {one.number: one for one in answer.expressions}
        self.observed, self.times = answer.observed, answer.observed.times
        self.references, self.exactly = references, exactly
        self._known: dict[int, bool] = {}

    def values(self, number: int) -> tuple[Fingerprint, ...]:
        return tuple(self.observed.series.get(number, ()))

    def is_known(self, number: int) -> bool:
        """Return whether a right answer computes it; what was never computed, or says nothing, is taken as known."""
        if number not in self._known:
            values = self.values(number)
            self._known[number] = (all(one.is_neutral for one in values)
                                   or self.references.has(values_of(self.observed, number), self.exactly))
        return self._known[number]

    def is_given(self, number: int) -> bool:
        """Return whether what goes on from here is right: known, or a variable all of whose assignments are known."""
        one = self.all[number]
        if self.is_known(number):
            return True
        return one.kind == "name" and all(self.is_known(source) for source in one.sources)

    @cached_property
    def users(self) -> dict[int, list[int]]:
        """What each expression goes into directly."""
        found: dict[int, list[int]] = defaultdict(list)
        for one in self.all.values():
            for number in (*one.inputs, *one.sources):
                found[number].append(one.number)
        return found

    @cached_property
    def has_arrays(self) -> bool:
        """Return whether the answer computes arrays."""
        return any(one.kind == "array" and one.is_telling and one.type not in ("int", "str")
                   for values in self.observed.series.values() for one in values)

    def is_telling(self, number: int) -> bool:
        return any(one.is_telling for one in self.values(number))

    def is_cleared(self, number: int) -> bool:
        """Return whether something that is made of it, and later, is known again."""
        seen, todo = {number}, [number]
        while todo:
            one = todo.pop()
            for user in self.users[one]:
                if user in seen or not self.values(user) or self.all[user].sized:
                    continue
                if self.times[user][1] >= self.times[one][0]:  # seen before it: the counter runs down
                    continue
                seen.add(user)
                if self.all[user].kind != "return" and self.is_telling(user) and self.is_known(user):
                    return True
                todo.append(user)
        return False

    def frontier(self) -> list[Expression]:
        """Return what is not known while all that goes into it is, and is not cleared, in the order of time."""
        found = [one for one in self.all.values()
                 if one.kind in ("value", "statement") and self.values(one.number) and not self.is_known(one.number)
                 and one.function not in self.references.refusing
                 and all(self.is_given(number) for number in one.inputs) and not self.is_cleared(one.number)]
        return sorted(found, key=lambda one: -self.times[one.number][0])

    def lines_known(self, before: Expression) -> tuple[int, ...]:
        """Return the lines of the same function up to there on which something is known and nothing is not."""
        good: set[int] = set()
        bad: set[int] = set()
        for one in self.all.values():
            same_function = (one.cell, one.function) == (before.cell, before.function)
            if same_function and one.span[2] <= before.span[2] and self.values(one.number):
                (good if self.is_given(one.number) else bad).add(one.span[2])
        return tuple(sorted(good - bad - {before.span[0], before.span[2]}))


def locate(answer: Answer, references: References, form: bool = False) -> Place | None:
    """Return where an answer first goes wrong; None where nothing can be said.

    ``form``: what comes out differs in shape, type or order of axes. That is looked for first then, and only then.
    """
    if form and (found := _in_form(_Search(answer, references, exactly=True))):
        return found
    search = _Search(answer, references)
    left = [one for one in search.frontier() if not one.sized]
    for one in left:
        if search.is_telling(one.number):
            return _of_length(one, search) or Place("value", one.span, search.lines_known(one), cell=one.cell)
    if found := _returned(search) or _of_loop(search):
        return found
    for one in left if not search.has_arrays else ():  # small numbers coincide
        return Place("value", one.span, search.lines_known(one), cell=one.cell)
    return None


def located(texts: Sequence[str], observed: Observed, references: References, form: bool = False,
            whole: bool = False) -> Place | None:
    """Return where an answer that consists of these cells first goes wrong, with the text that stands there."""
    answer = Answer([one for cell in cells_of(texts, whole) for one in cell.expressions], observed)
    found = locate(answer, references, form)
    return found and replace(found, text=short(segment(texts[found.cell], found.span)))


def _of_length(one: Expression, search: _Search) -> Place | None:
    """The loop around an expression, where it runs more or fewer times than that of a right answer."""
    lengths = search.references.length_of(values_of(search.observed, one.number)) if one.loop else None
    return Place("length", one.loop, search.lines_known(one), *lengths, one.cell) if one.loop and lengths else None


def _of_loop(search: _Search) -> Place | None:
    """The first loop of another length, where all that goes into it comes out of it."""
    looped = [one for one in search.all.values()
              if one.loop and search.is_telling(one.number) and not search.is_known(one.number)]
    found = (_of_length(one, search) for one in sorted(looped, key=lambda one: -search.times[one.number][0]))
    return next(filter(None, found), None)


def _in_form(search: _Search) -> Place | None:
    """The first whose numbers are right, and whose axes come in another order, or that is of another type."""
    for one in search.frontier():
        if search.is_telling(one.number) and not one.sized:
            return Place("form", one.span, search.lines_known(one), cell=one.cell)
    return _returned(search, "form")


def _returned(search: _Search, kind: Kind = "return") -> Place | None:
    """The return of a function whose value is known, and is not what right answers return."""
    alike = same_exactly if search.exactly else same
    for one in search.all.values():
        asked, values = search.references.returns.get(one.function), values_of(search.observed, one.number)
        if one.kind == "return" and asked and values.all and not any(_agree(values, other, alike) for other in asked):
            if all(search.is_given(number) for number in one.inputs):
                return Place(kind, one.span, search.lines_known(one), cell=one.cell)
    return None


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
