"""How the values of an answer go into each other: what each was made of, and what is made of it, by time."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property

from .fingerprints import Fingerprint
from .known import Answer, Values, values_of
from .rewriting import Expression
from .syntax import Span

Event = tuple[int, int]  # the number of an expression, and of one of its values
Found = tuple[Expression, int]  # an expression, and the number of one of its values


class Flow:
    """The expressions of an answer, and when each had which value."""

    def __init__(self, answer: Answer):
        self.all = {one.number: one for one in answer.expressions}
        self.observed, self.times = answer.observed, answer.observed.times
        self._bindings: dict[int, list[int]] = {}  # by the number of a name: when its variable was assigned a value

    def value(self, event: Event) -> Fingerprint:
        """Return the fingerprint of a value."""
        return self.values(event[0])[event[1]]

    def time(self, event: Event) -> int:
        """Return when a value was seen."""
        return self.times[event[0]][event[1]]

    def time_of(self, found: Found) -> int:
        """Return the same of a value of an expression."""
        return self.time((found[0].number, found[1]))

    def values(self, number: int) -> tuple[Fingerprint, ...]:
        """Return the fingerprints of all values of an expression."""
        return tuple(self.observed.series.get(number, ()))

    def seen(self, number: int) -> Values:
        """Return the same, and when its loop or its function had begun beside each."""
        return values_of(self.observed, number)

    def at(self, cell: int, span: Span) -> Iterator[Event]:
        """Return the values of what stands at a span, or in the loop whose head does."""
        return ((one.number, index) for one in self.all.values() if one.cell == cell and span in (one.span, one.loop)
                for index in range(len(self.values(one.number))))

    def has_state(self, one: Expression) -> bool:
        """Return whether a value may hang on more than its inputs: an object is called, or handed to a function."""
        objects = (value.kind == "other" for number in one.inputs for value in self.values(number)[:1])
        return not one.pure and (bool(one.calls) or any(objects))

    def event_before(self, number: int, time: int) -> Event | None:
        """Return what an expression was last before a time."""
        index = bisect_left(self.times.get(number, ()), time) - 1
        return (number, index) if index >= 0 else None

    def events_before(self, one: Expression, time: int) -> list[Event]:
        """Return what an expression was made of at a time: of the values that a variable was assigned, the last."""
        numbers = (number for number in (*one.inputs, *one.sources) if number not in one.bound)
        events = [event for number in numbers if (event := self.event_before(number, time))]
        last = self._bound_before(one, time)
        return events if last is None else [*events, self.seen_at[last]]

    def _bound_before(self, one: Expression, time: int) -> int | None:
        """Return when a variable was assigned the value that it has at a time."""
        if one.number not in self._bindings:
            self._bindings[one.number] = sorted(when for number in one.bound for when in self.times.get(number, ()))
        index = bisect_left(self._bindings[one.number], time) - 1
        return self._bindings[one.number][index] if index >= 0 else None

    def event_after(self, number: int, time: int) -> Event | None:
        """Return what an expression was first from a time on."""
        times = self.times.get(number, [])
        index = bisect_left(times, time)
        return (number, index) if index < len(times) else None

    def is_held(self, event: Event, name: Event) -> bool:
        """Return whether a variable still holds what it was assigned, where it is read; true of all that is none."""
        one = self.all[name[0]]
        return event[0] not in one.bound or self._bound_before(one, self.time(name)) == self.time(event)

    def out_of_loops(self, one: Expression) -> Iterator[int]:
        """Return what a variable holds that was computed in a loop in which it does not stand itself."""
        return (source for source in one.sources if self.all[source].loop not in (None, one.loop))

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

    @cached_property
    def seen_at(self) -> dict[int, Event]:
        """What was seen at each time."""
        return {time: (number, index) for number in self.all for index, time in enumerate(self.times.get(number, ()))}

    def handed_on(self, event: Event, time: int) -> Event | None:
        """Return what has the same value right behind it: the call of a function is what this returns."""
        after = self.seen_at.get(time)
        return after if after and self.value(after) == self.value(event) else None

    def users_of(self, event: Event, surely: bool = False) -> list[Event]:
        """Return what is made of a value next; of one that a function returns, ``surely`` only what has called it."""
        time = self.time(event) + 1
        users = () if surely and self.all[event[0]].kind == "return" else self.users[event[0]]
        after = (self.event_after(user, time) for user in users if not self.all[user].sized)
        return [user for user in (*after, self.handed_on(event, time)) if user and self.is_held(event, user)]

    def made_of(self, event: Event) -> list[Event]:
        """Return what goes into a value: what an expression consists of, and of a variable what it was assigned."""
        one, time = self.all[event[0]], self.time(event)
        made_of = [before for before in self.events_before(one, time) if not self.all[before[0]].sized]
        return [before for before in made_of if self.all[before[0]].kind == "filled"] or made_of
