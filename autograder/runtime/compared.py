"""The expressions of an answer beside what right answers compute.

A value is *known* when a right answer computes it, too. A value of which fractions of a right answer are made is
*right*, known or not.
"""

from __future__ import annotations

import math
from functools import cached_property

from .flow import Event, Flow, Found
from .known import Agreement, Answer, References, same
from .rewriting import Expression

SEVERAL = 4  # different numbers tell as much as one array


class Compared(Flow):
    """The expressions of an answer, and which of their values are known, loosely or ``exactly``.

    ``anywhere``: an array is known wherever a right answer computes it; else only after the same ones as there.
    ``constants``: so is one whose numbers are all alike, or that has none; else it says nothing.
    """

    def __init__(self, answer: Answer, references: References, exactly: bool = False, anywhere: bool = False,
                 constants: bool = False):
        super().__init__(answer)
        self.references, self.exactly, self.anywhere, self.constants = references, exactly, anywhere, constants
        self._known: dict[Event, bool] = {}
        self._agreements: dict[int, Agreement] = {}
        self._led: dict[Event, bool] = {}

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
            says_nothing = value.is_neutral and not (self.constants and value.is_constant)
            self._known[event] = (index < self.agreement(number).known or says_nothing
                                  or self.anywhere and self.references.has(value, self.exactly))
        return self._known[event]

    def is_certain(self, event: Event) -> bool:
        """Return whether a right answer computes a value, not only what it repeats, and few others look like it."""
        value = self.value(event)
        return value.is_telling and self.is_known(event) and (
            self.is_in_order(event) or self.references.has(value, self.exactly, repeated=False))

    def is_constant(self, event: Event) -> bool:
        """Return whether a value is an array of numbers that are all alike, or of none."""
        return self.value(event).is_constant

    def is_whole(self, found: Found) -> bool:
        """Return whether a value consists of whole numbers."""
        return self.values(found[0].number)[found[1]].is_whole

    def is_count(self, event: Event) -> bool:
        """Return whether whole numbers are read, one of them or some of an own variable: others are equal by chance."""
        one, value = self.all[event[0]], self.value(event)
        return one.reads and value.is_whole and (
            value.kind == "number" or any(self.all[number].sources for number in one.inputs[:1]))

    def is_one_count(self, event: Event) -> bool:
        """Return whether a single whole number is read, by name or not, from what is no size."""
        one, value = self.all[event[0]], self.value(event)
        if value.kind != "number" or one.sized:
            return False
        if one.kind == "name" and one.sources:
            return any(map(self.is_one_count, self.events_before(one, self.time(event))))
        return self.is_count(event)

    def is_strange(self, event: Event) -> bool:
        """Return whether right answers have no array with these axes together, and all of them apart."""
        value = self.value(event)
        return value.kind == "array" and not self.is_known(event) and self.references.is_strange(value)

    def is_in_order(self, event: Event) -> bool:
        """Return whether a right answer has a value, and before it the same ones as here."""
        return event[1] < self.agreement(event[0]).known

    def first_unknown(self, number: int) -> int | None:
        """Return which value of an expression is the first that is not right."""
        return next((index for index in range(len(self.values(number))) if not self.is_right((number, index))), None)

    def is_right(self, event: Event) -> bool:
        """Return whether a right answer computes a value, or an array of fractions that is made of it."""
        return self.is_known(event) or not self.exactly and self._leads(event)

    def _leads(self, event: Event) -> bool:
        """Return whether a right answer's fractions are made of a value that it has not, or that is read here again."""
        if event not in self._led:
            self._led[event] = event in self._leading or any(
                same(self.value(event), self.value(before)) and self._leads(before) for before in self.made_of(event))
        return self._led[event]

    @cached_property
    def _leading(self) -> set[Event]:
        """What no right answer has, and an array of fractions is made of it that one has: another way to that."""
        found: set[Event] = set()
        for time in sorted(self.seen_at, reverse=True):
            event = self.seen_at[time]
            value = self.value(event)
            if value.kind in ("array", "number") and value.is_telling and not self.is_known(event) and any(
                    user in found or self._confirms(user) for user in self.users_of(event, surely=True)
                    if self.all[user[0]].kind != "name" or same(value, self.value(user))):
                found.add(event)
        return found

    def _confirms(self, event: Event) -> bool:
        """Return whether an array of fractions is certainly that of a right answer, and no part of another."""
        value = self.value(event)
        return value.is_fractional and not self.all[event[0]].reads and self.is_certain(event)

    def is_telling(self, number: int) -> bool:
        """Return whether few other values look like those of an expression."""
        values = self.values(number)
        return any(one.is_telling for one in values) or len(
            {one.moments for one in values if one.kind in ("number", "array")}) >= SEVERAL

    def is_made(self, event: Event) -> bool:
        """Return whether a value is made of the inputs, or holds fractions of sizes: those are no masks or counters.

        What a network is built with is random.
        """
        number, index = event
        return number in self._of_data or (
            self.values(number)[index].is_fractional and self.all[number].function != "__init__")

    @cached_property
    def _of_data(self) -> set[int]:
        """The expressions that are made of the inputs, not of sizes and constants alone."""
        found: set[int] = set()
        todo = [one.number for one in self.all.values() if one.kind in ("statement", "filled") or self._is_input(one)]
        while todo:
            number = todo.pop()
            if number not in found and not self.all[number].sized:
                found.add(number)
                todo += self.users[number]
        return found

    def _is_input(self, one: Expression) -> bool:
        """Return whether it is a variable that holds something before anything is stored in it, as parameters do."""
        if one.kind != "name" or one.inputs or not self.times.get(one.number) or not self.is_telling(one.number):
            return False
        stored = [self.times[source][0] for source in one.sources if self.times.get(source)]
        return self.times[one.number][0] < min(stored, default=math.inf)
