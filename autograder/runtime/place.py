"""Find where an answer first goes wrong, without a list of faults.

A value is *known* when a right answer computes it, too. The *frontier* is a value that is not known while all that goes
into it is, at the time when it was computed. It counts when the way from it to a wrong result leads over values that
are not known either: where something made of it is known again, it was another way to the same value. The first of
those is where the answer goes wrong; if there is none, nothing is said.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from .fingerprints import Fingerprint
from .known import Agreement, Answer, References, Values, values_of
from .observation import Observed
from .rewriting import Expression, cells_of
from .syntax import Span, segment
from .values import short

MAX_DEPTH = 40  # of numbers that are made of numbers
SEVERAL = 4  # different numbers tell as much as one array

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


Event = tuple[int, int]  # the number of an expression, and of one of its values


class _Search:
    """The expressions of an answer, and which of their values are known, loosely or ``exactly``.

    ``anywhere``: an array is known wherever a right answer computes it; else only after the same ones as there.
    """

    def __init__(self, answer: Answer, references: References, exactly: bool = False, anywhere: bool = False):
        self.all = {one.number: one for one in answer.expressions}
        self.observed, self.times = answer.observed, answer.observed.times
        self.references, self.exactly, self.anywhere = references, exactly, anywhere
        self._known: dict[Event, bool] = {}
        self._agreements: dict[int, Agreement] = {}
        self._data: dict[int, bool] = {}
        self._given: dict[Event, bool] = {}

    def values(self, number: int) -> tuple[Fingerprint, ...]:
        return tuple(self.observed.series.get(number, ()))

    def seen(self, number: int) -> Values:
        return values_of(self.observed, number)

    def agreement(self, number: int) -> Agreement:
        """Return how far the values of an expression are those of a right answer."""
        if number not in self._agreements:
            self._agreements[number] = self.references.agreement(self.seen(number), self.exactly)
        return self._agreements[number]

    def is_known(self, event: Event) -> bool:
        """Return whether a right answer computes a value, or it says nothing."""
        number, index = event
        if event not in self._known:
            value = self.values(number)[index]
            self._known[event] = (index < self.agreement(number).known or value.is_neutral
                                  or self.anywhere and self.references.has(value, self.exactly))
        return self._known[event]

    def has_state(self, one: Expression) -> bool:
        """Return whether a value may hang on more than its inputs: an object is called, or handed to a function."""
        objects = (value.kind == "other" for number in one.inputs for value in self.values(number)[:1])
        return not one.pure and (bool(one.calls) or any(objects))

    def is_in_order(self, event: Event) -> bool:
        """Return whether a right answer has a value, and before it the same ones as here."""
        return event[1] < self.agreement(event[0]).known

    def first_unknown(self, number: int) -> int | None:
        """Return which value of an expression is the first that no right answer has."""
        return next((index for index in range(len(self.values(number))) if not self.is_known((number, index))), None)

    def event_before(self, number: int, time: int) -> Event | None:
        """Return what an expression was last before a time."""
        index = bisect_left(self.times.get(number, ()), time) - 1
        return (number, index) if index >= 0 else None

    def event_after(self, number: int, time: int) -> Event | None:
        """Return what an expression was first from a time on."""
        times = self.times.get(number, [])
        index = bisect_left(times, time)
        return (number, index) if index < len(times) else None

    def is_given(self, event: Event, depth: int = 0) -> bool:
        """Return whether what goes on from here is right: known, or read or counted from what is."""
        if event not in self._given:
            number, index = event
            one, time = self.all[number], self.times[number][index]
            if self.is_known(event) or depth > MAX_DEPTH:
                return True
            passes_on = one.kind == "name" or not self.is_telling(number) or not self.is_of_data(number)
            before = (self.event_before(other, time) for other in (*one.inputs, *one.sources))
            self._given[event] = passes_on and not any(map(self.ends_early, self.out_of_loops(one))) and all(
                self.is_given(other, depth + 1) for other in before if other)
        return self._given[event]

    def out_of_loops(self, one: Expression) -> Iterator[int]:
        """Return what a variable holds that was computed in a loop in which it does not stand itself."""
        return (source for source in one.sources if self.all[source].loop not in (None, one.loop))

    def ends_early(self, number: int) -> bool:
        """Return whether the values of an expression are known, and right answers have more of them."""
        return bool(self.values(number)) and self.agreement(number).short

    def is_telling(self, number: int) -> bool:
        """Return whether few other values look like those of an expression."""
        values = self.values(number)
        return any(one.is_telling for one in values) or len(
            {one.moments[1] for one in values if one.kind == "number"}) >= SEVERAL

    def is_of_data(self, number: int) -> bool:
        """Return whether an expression is made of the inputs, not of sizes and constants alone."""
        if number not in self._data:
            one = self.all[number]
            self._data[number] = one.kind == "statement"  # until more is known: it may be made of itself
            made_of = (*one.inputs, *one.sources)
            if not one.sized and not self._data[number]:
                self._data[number] = (any(self.is_of_data(other) for other in made_of) if made_of else
                                      one.kind == "name" and self.is_telling(number))
        return self._data[number]

    @cached_property
    def users(self) -> dict[int, list[int]]:
        """What each expression goes into directly: what a function returns, into what calls it."""
        found: dict[int, list[int]] = defaultdict(list)
        calling: dict[str, list[int]] = defaultdict(list)
        for one in self.all.values():
            if one.calls and self.values(one.number):
                calling[one.calls].append(one.number)
            for number in (*one.inputs, *one.sources):
                found[number].append(one.number)
        for one in self.all.values():
            if one.kind == "return":
                found[one.number] += calling[one.function]
        return found

    def reaches(self, start: Event) -> Literal["result", "end", ""]:
        """Return whether a value comes to the result, or to where nothing is made of it, over values not known."""
        seen, todo, ends = {start}, [start], False
        while todo:
            number, index = todo.pop()
            after = [self.event_after(user, self.times[number][index] + 1)
                     for user in self.users[number] if not self.all[user].sized]
            users = [user for user in after if user]
            if not users:
                if self.all[number].kind == "return":
                    return "result"
                ends = True
            for user in users:
                if user in seen:
                    continue
                seen.add(user)
                if not self._blocks(user):
                    todo.append(user)
        return "end" if ends else ""

    def _blocks(self, event: Event) -> bool:
        number, index = event
        one = self.all[number]
        if one.kind == "return":
            asked = self.references.returned(one.function, self.seen(number), self.exactly)
            if asked:
                return index < asked.known
        return self.is_known(event) and self.values(number)[index].is_telling

    def frontier(self, strictly: bool = True) -> list[tuple[Expression, int]]:
        """Return what is not known while all that goes into it is, and which of its values, in the order of time.

        ``strictly``: only what tells, and is made of the inputs. What an object answers is none where it answered
        right before and is asked right again: then its state was changed elsewhere.
        """
        found = []
        for one in self.all.values():
            if one.kind not in ("value", "statement") or one.sized or one.function in self.references.refusing:
                continue
            if not self.values(one.number) or strictly and not (
                    self.is_telling(one.number) and self.is_of_data(one.number)):
                continue
            index = self.first_unknown(one.number)
            if index is None:
                continue
            time = self.times[one.number][index]
            before = [event for number in one.inputs if (event := self.event_before(number, time))]
            changed_elsewhere = index and self.has_state(one) and all(map(self.is_in_order, before))
            if all(map(self.is_given, before)) and not changed_elsewhere:
                found.append((one, index))
        return sorted(found, key=lambda pair: self.times[pair[0].number][pair[1]])

    def first(self, strictly: bool = True) -> tuple[Expression, int] | None:
        """Return the first of the frontier from which the wrong result comes."""
        left = [(pair, self.reaches((pair[0].number, pair[1]))) for pair in self.frontier(strictly)]
        return next((pair for wanted in ("result", "end") for pair, where in left if where == wanted), None)

    def lines_known(self, before: Expression, index: int = -1) -> tuple[int, ...]:
        """Return the lines of the same function up to there on which something is known and nothing is not."""
        good: set[int] = set()
        bad: set[int] = set()
        time = self.times[before.number][index]
        for one in self.all.values():
            same_function = (one.cell, one.function) == (before.cell, before.function)
            event = self.event_before(one.number, time) if same_function and one.span[2] <= before.span[2] else None
            if event:
                (good if self.is_given(event) else bad).add(one.span[2])
        return tuple(sorted(good - bad - {before.span[0], before.span[2]}))


def locate(answer: Answer, references: References, form: bool = False) -> Place | None:
    """Return where an answer first goes wrong; None where nothing can be said.

    ``form``: what comes out differs in shape, type or order of axes. That is looked for first then.
    """
    search = _Search(answer, references)
    if form and (found := _in_form(_Search(answer, references, exactly=True), search)):
        return found
    for one in (_Search(answer, references, anywhere=True), search):
        if first := one.first():
            return _at(first, one)
    if found := _returned(search) or _of_loop(search):
        return found
    first = search.first(strictly=False)
    return _at(first, search) if first and search.is_telling(first[0].number) else None  # small numbers coincide


def located(texts: Sequence[str], observed: Observed, references: References, form: bool = False,
            whole: bool = False) -> Place | None:
    """Return where an answer that consists of these cells first goes wrong, with the text that stands there."""
    answer = Answer([one for cell in cells_of(texts, whole) for one in cell.expressions], observed)
    try:
        found = locate(answer, references, form)
    except RecursionError:  # hundreds of values in a row, each made of the one before
        return None
    return found and replace(found, text=short(segment(texts[found.cell], found.span)))


def _at(found: tuple[Expression, int], search: _Search) -> Place:
    one, index = found
    if search.agreement(one.number).ended and (place := _of_length(one, search)):
        return place
    return Place("value", one.span, search.lines_known(one, index), cell=one.cell)


def _of_length(one: Expression, search: _Search) -> Place | None:
    """The loop around an expression, where it runs more or fewer times than that of a right answer."""
    lengths = search.references.length_of(search.seen(one.number)) if one.loop else None
    return Place("length", one.loop, search.lines_known(one), *lengths, one.cell) if one.loop and lengths else None


def _of_loop(search: _Search) -> Place | None:
    """The first loop that ends too early, where all that goes into it comes out of it."""
    looped = [one for one in search.all.values()
              if one.loop and search.values(one.number) and search.is_telling(one.number)]
    found = (_of_length(one, search) for one in sorted(looped, key=lambda one: search.times[one.number][0]))
    return next(filter(None, found), None)


def _in_form(search: _Search, loosely: _Search) -> Place | None:
    """The first whose numbers are right, and whose axes come in another order, or that is of another type."""
    first = search.first()
    if first is None:
        return _returned(search, "form")
    one, index = first
    if not loosely.is_known((one.number, index)):
        return None
    return Place("form", one.span, search.lines_known(one, index), cell=one.cell)


def _returned(search: _Search, kind: Kind = "return") -> Place | None:
    """The return of a function whose value is known, and is not what right answers return."""
    for one, index in _unasked(search):
        before = (search.event_before(number, search.times[one.number][index]) for number in one.inputs)
        if all(search.is_given(event) for event in before if event):
            return Place(kind, one.span, search.lines_known(one, index), cell=one.cell)
    return None


def _unasked(search: _Search) -> Iterator[tuple[Expression, int]]:
    """What functions return where right answers return something else, and which of the values."""
    for one in search.all.values():
        if one.kind == "return" and search.values(one.number):
            asked = search.references.returned(one.function, search.seen(one.number), search.exactly)
            if asked and asked.known < len(search.values(one.number)):
                yield one, asked.known
