"""Find the expression of a wrong answer where the value of a right one makes all that follows right.

This is fault localisation by value replacement (Jeffrey, Gupta and Gupta, ISSTA 2008). A wrong answer is run once under
observation; then a value that no right answer has is replaced by one that right answers have, and the calls are made
again. The first expression, in the order of time, with which a check passes, gradients apart, is the place: if what
follows makes right results of right values, it is right. Where one expression does it only at the end of an answer, or
none does, two are replaced at once. Nothing is claimed where no value does it.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from .. import arrays, values
from ..bounded import SOON, TimeIsUp, bounded
from ..compare import first_difference, output_difference
from ..difference import Difference
from ..place import Place, Spot
from ..recorded import RecordedCheck, Reply, Spec
from ..syntax import segment
from ..values import Array, Value, short
from .observation import Observer, Probe, Series, defined, same
from .replacements import Replacement, Replacements
from .rewriting import Expression, WatchedCell
from .right_values import RightValues

CALL_SECONDS = 1.0  # for the calls of a check once
BEFORE = 60  # replacements that are tried before a place that was found
LAST_SECONDS = 0.1  # in which a place that was found is followed to the last that has its value


def observed(cells: Sequence[WatchedCell], namespace: dict[str, Any], run: Callable[[], object]) -> Observer:
    """Return what the expressions of cells are while ``run`` makes calls on what they define."""
    observer = Observer()
    with defined(cells, namespace) as watch:
        watch(observer.probe)
        run()
    return observer


class _Replacer:
    """Hands on other values where expressions are evaluated, one after the other, and else what is there.

    Where one series stands in several places, an object that was put in one of them is handed on in the others: what
    is written into it is seen everywhere, as before.
    """

    def __init__(self, replaced: Replacement):
        self.left = {one.number: iter(series) for one, series in replaced}
        self.statements = {one.number for one, _ in replaced if one.statement}
        given: dict[int, list[Any]] = {id(series): [] for _, series in replaced}
        self.given = {one.number: given[id(series)] for one, series in replaced}

    def probe(self, number: int, value: Any) -> Any:
        """Return a value, or what stands in its place."""
        new = next(self.left[number], None) if number in self.left else None
        if new is None:
            return value
        if number in self.statements:
            made = _stored(_made(new, value), value)
        elif any(value is one for one in self.given[number]):
            return value
        else:
            made = _made(new, value)
        if not isinstance(new, values.Scalar):
            self.given[number].append(made)
        return made


def _made(new: Value, old: Any) -> Any:
    """Return a value for what an expression is. A gradient goes the way that it went."""
    if isinstance(new, Array):
        if new.kind != "tensor":
            return new.array.copy()
        if not arrays.is_tensor(old):
            return arrays.to_tensor(new.array, dtype=new.dtype)
        return arrays.with_gradient_of(arrays.to_tensor(new.array, dtype=new.dtype), old)
    if isinstance(new, values.Sequence):
        olds = [*old, *[old[-1] if old else None] * len(new.items)]
        made = [_made(*pair) for pair in zip(new.items, olds, strict=False)]
        return tuple(made) if isinstance(old, tuple) else made
    return values.plain(new)


def _stored(new: Any, old: Any) -> Any:
    """Have a variable hold something, and what else has its value."""
    if arrays.is_tensor(old) and old.shape == new.shape:
        old.data.copy_(new.detach())
    elif isinstance(old, np.ndarray) and old.shape == new.shape:
        old[...] = new
    elif isinstance(old, list):
        old[:] = new
    else:
        return new
    return old


@dataclass
class _Trial:
    """The replacements that are tried in one check."""

    record: RecordedCheck
    run: Callable[[Probe], Reply | None]
    own: Mapping[int, Series]  # the values of the answer, by the number of the expression
    ends: float  # on the clock
    left: float = math.inf  # replacements
    distances: list[tuple[float, Replacement]] = field(default_factory=list)  # of the results from the right ones

    def first(self, tried: Iterator[Replacement]) -> Replacement | None:
        """Return the first replacement with which the check passes."""
        for one in tried:
            if time.monotonic() > self.ends or self.left <= 0:
                break
            self.left -= 1
            if self.mends(one):
                return one
        return None

    def mends(self, replaced: Replacement) -> bool:
        """Return whether the check passes with a replacement, and not with copies of the values that were there."""
        reply = self.run(_Replacer(replaced).probe)
        if reply is None:
            return False
        if first_difference(self.record, reply) is None:
            copies = self.run(_Replacer([(one, self.own[one.number]) for one, _ in replaced]).probe)
            return copies is None or first_difference(self.record, copies) is not None
        if len(replaced) == 1 and replaced[0][1].has_decimals:  # whole numbers are often chance
            self.distances.append((_distance(self.record, reply), replaced))
        return False

    def nearest(self) -> list[Replacement]:
        """Return the replacements of one expression that bring the results nearest to the right ones."""
        found: dict[float, Replacement] = {}  # the first of those with the same results
        for distance, replaced in self.distances:
            found.setdefault(round(distance, 4), replaced)
        return [found[distance] for distance in sorted(found)]


@dataclass
class _Searched:
    """A check that fails, with what may be replaced in it, and what was found."""

    seen: Replacements
    trial: _Trial
    found: Replacement | None = None

    @property
    def numbers(self) -> list[int]:
        """The expressions that were found, by number."""
        return [one.number for one, _ in self.found or ()]

    @property
    def is_last(self) -> bool:
        """Whether one expression was found, behind which nothing is wrong: what an answer returns says little."""
        return bool(self.found and len(self.found) == 1 and self.seen.is_last(self.found[0][0]))

    def mended_at(self, numbers: Sequence[int]) -> Replacement | None:
        """Return the replacement of one of these expressions with which the check passes."""
        self.trial.left = math.inf
        return self.trial.first(self.seen.at(numbers))

    def is_not_mended_at(self, number: int) -> bool:
        """Return whether no value mends the check at an expression whose value is wrong in it."""
        return any(one.number == number for one in self.seen.unknown) and not self.mended_at([number])

    def find(self, before: Sequence[int]) -> None:
        """Find the first expression with which the check passes; those that were found in checks before come first."""
        seen, trial = self.seen, self.trial
        self.found = again = self.mended_at(before)
        if again and not self.is_last:
            return
        # What makes right results of right values is right: the earlier one finds it, the less is left to look at.
        for kind in (seen.missing, seen.elsewhere, seen.everywhere,
                     lambda last: seen.pairs(last, trial.nearest()), seen.rarer, seen.near):
            self._improve(kind)
            if self.found and not seen.is_last(self.found[0][0]):
                trial.left = min(trial.left, BEFORE)
        if self.found is None or len(self.found) == 1 and seen.is_in_last_line(self.found[0][0]):
            self._improve(seen.rearranged)
        for kind in (seen.choices, seen.present, seen.resized, seen.result) if not again else ():
            if self.found is None or self.is_last:
                self._improve(kind)

    def _improve(self, kind: Callable[[Expression | None], Iterator[Replacement]]) -> None:
        """Find an earlier expression with a kind of replacements."""
        self.found = self.trial.first(kind(self.found[0][0] if self.found else None)) or self.found


@dataclass
class Search:
    """The search in one exercise: what its checks have in common, and how much time is left for it."""

    cells: Sequence[WatchedCell]
    texts: Sequence[str]
    namespace: dict[str, Any]
    run: Callable[[RecordedCheck], Reply]
    checks: Sequence[tuple[RecordedCheck, RightValues]]
    ends: float  # on the clock
    known: Sequence[int] = ()  # the lines of the first cell on which all values are right, wherever they were seen

    @cached_property
    def expressions(self) -> dict[int, Expression]:
        """The expressions by number."""
        return {one.number: one for cell in self.cells for one in cell.expressions}

    def places(self) -> list[Place | None]:
        """Return the place at which a right value makes each check pass; None where there is none, or no time."""
        with defined(self.cells, self.namespace) as watch:
            searched = [self._searched(record, right, watch) for record, right in self.checks]
            wrong: list[_Searched] = []
            for one in filter(None, searched):
                with contextlib.suppress(TimeIsUp), bounded(max(self.ends - time.monotonic(), SOON)):
                    one.find([number for other in wrong for number in other.numbers])
                wrong.append(one)
            _agree(wrong)
            lines = [one.seen.lines(0) for one in wrong]
            self.known = [line for line in set().union(*lines) if all(one.get(line, True) for one in lines)]
            return [self._place(one, one.found) if one and one.found else None for one in searched]

    @cached_property
    def unknown(self) -> int:
        """How many expressions have values that no right answer has, in all checks together."""
        with defined(self.cells, self.namespace) as watch:
            seen = [self._seen(record, right, watch) for record, right in self.checks]
            return sum(len(one.unknown) for _, one in filter(None, seen))

    def _seen(self, record: RecordedCheck, right: RightValues,
              watch: Callable[[Probe], None]) -> tuple[Reply, Replacements] | None:
        observer = Observer()
        reply = self._replied(record, watch, observer.probe)
        if reply is None:
            return None
        return reply, Replacements(observer, self.expressions, right, reply.error is not None)

    def _searched(self, record: RecordedCheck, right: RightValues, watch: Callable[[Probe], None]) -> _Searched | None:
        found = self._seen(record, right, watch)
        if found is None or first_difference(record, found[0]) is None:
            return None
        reply, seen = found
        record = _without_gradients(record, reply)
        trial = _Trial(record, lambda probe: self._replied(record, watch, probe), seen.series, self.ends)
        return _Searched(seen, trial)

    def _replied(self, record: RecordedCheck, watch: Callable[[Probe], None], probe: Probe) -> Reply | None:
        watch(probe)
        try:
            with bounded(CALL_SECONDS):
                return self.run(record)
        except (Exception, TimeIsUp):
            return None

    def _place(self, checked: _Searched, found: Replacement) -> Place:
        (first, series), *others = found
        one = _last(found, checked.seen, checked.trial, self.ends + LAST_SECONDS)
        second = next((self._spot(other) for other, values in others if values is not series), None)
        spot, difference = self._spot(one), _beside(series, checked.seen.series[one.number])
        return Place("value", spot.span, spot.cell, spot.text, checked.seen.lines_known(one), difference, second)

    def _spot(self, one: Expression) -> Spot:
        return Spot(one.span, one.cell, short(segment(self.texts[one.cell], one.span)))


def _agree(wrong: Sequence[_Searched]) -> None:
    """Have checks share a place: one mends both, if the other's, where the value is wrong as well, does not."""
    for one in wrong:
        match one.numbers:
            case [number]:
                others = [other.numbers[0] for other in wrong if len(other.numbers) == 1 and not other.is_last
                          and other.numbers != [number] and other.is_not_mended_at(number)]
                one.found = one.mended_at(others) or one.found


def _last(found: Replacement, seen: Replacements, trial: _Trial, ends: float) -> Expression:
    """Return the last expression of the function with which the first values mend the check: they are handed on as is.

    A variable, or one of which a part is stored, is no such expression.
    """
    (first, series), *others = found
    if any(other is series for _, other in others):
        return first
    until = seen.time(others[0][0]) if others else math.inf
    later = [one for one in seen.ordered if seen.time(first) < seen.time(one) < until
             and (one.cell, one.function) == (first.cell, first.function)
             and seen.series[one.number].forms == series.forms and not (one.named or one.statement)]
    in_time = (one for one in reversed(later) if time.monotonic() < ends)
    return next((one for one in in_time if trial.mends([(one, series), *others])), first)


def _without_gradients(record: RecordedCheck, reply: Reply) -> RecordedCheck:
    """Return a check without its gradients, unless these alone differ: the way of a gradient is not replaced."""
    specs = {name: spec for name, spec in record.specs.items() if "grad" not in name}
    without = replace(record, specs=specs)
    return without if first_difference(without, reply) else record


def _distance(record: RecordedCheck, reply: Reply) -> float:
    """Return how far results are from the right ones: 0 to 1 for each."""
    return sum(_apart(record.expected.outputs[spec.like or name], reply.outputs.get(name))
               for name, spec in record.specs.items())


def _apart(want: Value, have: Value | None) -> float:
    a, b = (np.asarray(one.array if isinstance(one, Array) else values.plain(one) if isinstance(one, values.Scalar)
                       else None) for one in (want, have))
    if a.shape != b.shape or a.dtype.kind not in "biuf" or b.dtype.kind not in "biuf":
        return 0.0 if have is not None and output_difference("", want, have, Spec()) is None else 1.0
    with np.errstate(all="ignore"):
        size = np.linalg.norm(a) + np.linalg.norm(b)
        share = np.linalg.norm(a.astype(float) - b.astype(float)) / size if size else 0.0
    return float(share) if np.isfinite(share) else 1.0


def _beside(right: Series, own: Series) -> Difference | None:
    """Return the first difference between the values of a place and the right ones; whole numbers are often chance."""
    pairs = ((_shaped(a, b), b) for a, b in zip(right, own, strict=False))
    found = next((found for a, b in pairs if (found := output_difference("", a, b, Spec()))), None)
    is_whole = found and found.kind == "value" and found.got and found.got.kind in ("int", "bool")
    return None if is_whole else found


def _shaped(right: Value, own: Value) -> Value:
    """Return a right value in the shape of an own one, if axes of size one differ, and the numbers, too."""
    if isinstance(right, Array) and isinstance(own, Array) and right.array.shape != own.array.shape:
        if [n for n in right.array.shape if n != 1] == [n for n in own.array.shape if n != 1]:
            shaped = replace(right, array=right.array.reshape(own.array.shape))
            return right if same(shaped, own) else shaped
    if isinstance(right, values.Sequence) and isinstance(own, values.Sequence) and right.length == own.length:
        return replace(right, items=tuple(map(_shaped, right.items, own.items)))
    return right
