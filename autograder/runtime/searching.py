"""Search the expressions of an answer for the first that no right answer has.

The *frontier* is a value that is not known while all that goes into it is, at the time when it was computed. It counts
when the way from it to a wrong result leads over values that are not known either: where something made of it is known
again, it was another way to the same value.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Literal

from .compared import Compared
from .flow import Event, Found
from .known import Answer, References, same
from .rewriting import Expression

MAX_DEPTH = 40  # of numbers that are made of numbers


class Search(Compared):
    """What of the expressions of an answer may be wrong by itself, and what only follows from something else."""

    def __init__(self, answer: Answer, references: References, exactly: bool = False, anywhere: bool = False,
                 constants: bool = False):
        super().__init__(answer, references, exactly, anywhere, constants)
        self._given: dict[Event, bool] = {}

    def is_given(self, event: Event, depth: int = 0) -> bool:
        """Return whether what goes on from here is right: known, or read or counted from what is."""
        if event not in self._given:
            number, index = event
            one, time = self.all[number], self.times[number][index]
            if depth > MAX_DEPTH or self.is_right(event):
                return True
            if index and self.is_kept(one):
                return False
            passes_on = (one.kind in ("name", "filled") or self.is_strange(event)
                         or not self.is_telling(number) or not self.is_made(event))
            self._given[event] = passes_on and not any(map(self.ends_early, self.out_of_loops(one))) and all(
                self.is_given(other, depth + 1) for other in self.events_before(one, time))
        return self._given[event]

    @cached_property
    def _parts(self) -> set[int]:
        """The statements that store one of several parts of a variable: which of them is wrong is not seen."""
        found: set[int] = set()
        for one in self.all.values():
            stores = [number for number in one.sources if self.all[number].kind == "statement" and self.values(number)]
            found.update(stores if len(stores) > 1 else ())
        return found

    def is_buffer(self, event: Event) -> bool:
        """Return whether a value is assigned to a variable in which parts are stored."""
        return any(self.all[number].kind in ("statement", "filled") for user in self.users[event[0]]
                   if self.all[user].kind == "name" for number in self.all[user].sources)

    def is_kept(self, one: Expression) -> bool:
        """Return whether an expression reads what an object keeps of its calls."""
        inputs = [value for number in one.inputs for value in self.values(number)[:1]]
        stored = one.sources or any(self.all[number].sources for number in one.inputs)
        return one.kind == "name" and bool(inputs) and not stored and all(one.kind == "other" for one in inputs)

    def ends_early(self, number: int) -> bool:
        """Return whether the values of an expression are known, and right answers have more of them."""
        return bool(self.values(number)) and self.agreement(number).short

    def tells(self, returned: Expression, index: int) -> bool:
        """Return whether the fault is in what is returned: all that goes into it is known, and it is computed there.

        A variable is returned in the place of another one only where it is known for certain; no whole numbers are.
        """
        time, todo = self.times[returned.number][index], [returned.number]
        computed, certain = not returned.inputs, True
        while todo:
            one = self.all[todo.pop()]
            computed |= one.kind == "value"
            event = self.event_before(one.number, time)
            if event and self.is_one_count(event):
                return False
            if event and not one.inputs:
                if not self.is_known(event) or one.sources and self.value(event).type == "torch.bool":
                    return False
                certain &= self.is_certain(event) and not self.is_whole((one, event[1]))
            todo += one.inputs
        return computed or certain

    def origin(self, found: Found) -> Found:
        """Return the first value that no right answer has of which one is made, the weak ones counted as well.

        These are numbers, and what is made of sizes alone. One that leaves what it meets as it is, is no known one.
        """
        start = found[0].number, found[1]
        seen, todo, first = {start}, [start], found
        while todo:
            number, index = todo.pop()
            one = self.all[number]
            unknown = [event for event in self.made_of((number, index))
                       if event[0] not in self._parts and self._is_off(event)]
            if not unknown and one.kind in ("value", "statement"):
                first = min(first, (one, index), key=self.time_of)
            todo += [event for event in unknown if event not in seen]
            seen.update(unknown)
        return first

    def unsound(self, event: Event) -> Event | None:
        """Return what goes into a value and was computed wrongly, or at another time than right answers do.

        What the value itself reads of another time is its own.
        """
        seen, todo = {event}, [(event, True)]
        while todo:
            after, directly = todo.pop()
            for before in self.made_of(after):
                if before in seen or self._is_of_sizes(before):
                    continue
                seen.add(before)
                one, tells = self.all[before[0]], self.value(before).is_telling
                if self._is_expected(before):
                    todo += [] if tells or self.is_telling(before[0]) else [(before, False)]
                elif directly and self._is_read(before):
                    continue
                elif one.kind == "name" or not tells and self.made_of(before):
                    todo.append((before, directly and one.kind == "name"))
                else:
                    return before
        return None

    def is_computed(self, event: Event) -> bool:
        """Return whether a value is computed, no part that an own variable is filled with, but for fractions."""
        one, value = self.all[event[0]], self.value(event)
        return one.kind == "value" and one.number not in self._parts or one.kind == "filled" and value.is_fractional

    def _is_expected(self, event: Event) -> bool:
        """Return whether right answers have a value here, or it says nothing."""
        once = len(self.values(event[0])) == 1
        return (self.is_in_order(event) or self.value(event).is_neutral or once and self.is_known(event)
                or not self.is_known(event) and self._leads(event))

    def _is_exactly_known(self, event: Event) -> bool:
        """Return whether right answers have a value here, its form and its order included, or it says nothing."""
        values = self.seen(event[0])
        return self.value(event).is_neutral or event[1] < self.references.agreement(values, exactly=True).known

    def _is_of_sizes(self, event: Event) -> bool:
        """Return whether a value says how large something is, or is a number, or whole, and made of sizes alone."""
        value = self.value(event)
        return self.all[event[0]].sized or value.kind == "other" or event[0] not in self._of_data and (
            value.is_whole or value.kind == "number")

    def _is_read(self, event: Event) -> bool:
        """Return whether a right answer has what a variable holds, or a part of something, but for whole numbers."""
        one = self.all[event[0]]
        return (one.kind == "name" or one.reads) and self.is_known(event) and not self.value(event).is_whole

    def misread(self, event: Event) -> Expression | None:
        """Return what a value is made of that a right answer has elsewhere, and not here."""
        for before in self.made_of(event):
            one = self.all[before[0]]
            if self._is_read(before) and self.value(before).is_telling and not (
                    self._is_input(one) or self.is_in_order(before)):
                return one
        return None

    def is_copy(self, event: Event) -> bool:
        """Return whether whole numbers are those of the one thing that they are made of: a list as an array."""
        made_of = [before for before in self.made_of(event) if self.value(before).kind != "other"]
        return self.value(event).is_whole and len(made_of) == 1 and (
            not self.is_known(made_of[0]) and same(self.value(event), self.value(made_of[0])))

    def leaves(self, event: Event) -> bool:
        """Return whether a value is that of one of several inputs: nothing was added, or it was multiplied by one."""
        value, made_of = self.value(event), self.made_of(event)
        return self.all[event[0]].kind == "value" and len(made_of) > 1 and value.is_telling and any(
            same(value, self.values(number)[index]) for number, index in made_of)

    def _is_off(self, event: Event) -> bool:
        """Return whether no right answer has a value, or what it left as it was."""
        if not self.is_right(event):
            return not self.is_count(event) and not self.references.is_larger(self.value(event))
        if self.all[event[0]].kind == "name":
            return any(map(self._is_off, self.made_of(event)))
        return self.leaves(event) and not all(map(self.is_known, self.made_of(event)))

    def reaches(self, start: Event) -> Literal["result", "end", ""]:
        """Return whether a value comes to the result, or to where nothing is made of it, over values not known."""
        last, seen, todo = set[str](), {start}, [start]
        while todo:
            event = todo.pop()
            users = self.users_of(event)
            last.update([] if users else [self.all[event[0]].kind])
            further = {user for user in users if user not in seen and not self._blocks(user)}
            seen |= further
            todo += further
        return "result" if "return" in last else "end" if last else ""

    def _blocks(self, event: Event) -> bool:
        number, index = event
        if self.all[number].kind == "return" and (unasked := self.unasked(number)) is not None:
            return index not in unasked
        return self.is_known(event) and self.values(number)[index].is_telling

    def unasked(self, number: int) -> Sequence[int] | None:
        """Return which values that a function returns are not those of right answers; None where none has it.

        A helper function may be called in another order.
        """
        one, values = self.all[number], self.values(number)
        asked = self.references.returned(one.function, self.seen(number), self.exactly)
        if asked is None:
            return None
        if one.function in self.helpers:
            return self.references.unreturned(one.function, values, self.exactly)
        return range(asked.known, len(values))

    def is_asked_rightly(self, returned: Expression, index: int) -> bool:
        """Return whether a function of the answer's own is called as right answers call it, one call after the other.

        Otherwise what it returns is the fault of the call.
        """
        time = self.times[returned.number][index]
        inputs = (one for one in self.all.values() if one.function == returned.function and self._is_input(one))
        before = (self.event_before(one.number, time) for one in inputs)
        return returned.function not in self.helpers or all(self.is_in_order(event) for event in before if event)

    @cached_property
    def helpers(self) -> set[str]:
        """The functions that the answer itself calls."""
        return {one.calls for one in self.all.values() if one.calls and self.values(one.number)}

    @cached_property
    def frontier(self) -> list[Found]:
        """What is not known while all that goes into it is, and which of its values, in the order of time.

        Only what tells, is made of the inputs, and is not filled piece by piece. What an object answers is none where
        it answered right before and is asked right again: then its state was changed elsewhere.
        """
        found = []
        for one in self.all.values():
            if one.kind not in ("value", "statement") or one.sized or one.function in self.references.refusing:
                continue
            if not self.values(one.number) or not (self.constants or self.is_telling(one.number)):
                continue
            index = self.first_unknown(one.number)
            if index is None or self.is_count((one.number, index)) or not self.is_made((one.number, index)):
                continue
            time = self.times[one.number][index]
            before = [event for number in one.inputs if (event := self.event_before(number, time))]
            changed_elsewhere = index and self.has_state(one) and all(map(self.is_in_order, before))
            by_chance = self.is_whole((one, index)) and any(map(self.is_one_count, before))
            if all(map(self.is_given, before)) and not (changed_elsewhere or by_chance or one.number in self._parts):
                found.append((one, index))
        return sorted(found, key=lambda pair: self.times[pair[0].number][pair[1]])

    @cached_property
    def candidates(self) -> list[tuple[Found, str]]:
        """The frontier, and where each of it comes to."""
        return [(pair, self.reaches((pair[0].number, pair[1]))) for pair in self.frontier]

    def lines(self, last: bool = False) -> set[tuple[int, int]]:
        """Return the lines in which the frontier lies, each with its cell; or where no known value comes after it."""
        return {(one.cell, one.span[0]) for (one, _), where in self.candidates if where or not last}

    def lines_known(self, before: Expression, index: int = -1) -> tuple[int, ...]:
        """Return the lines of the same function up to there on which something is as right answers have it there.

        None where a value is not, even one that says little: what follows may hang on it.
        """
        time = self.times[before.number][index]
        events = [(one.span[2], event) for one in self.all.values() if one.span[2] <= before.span[2]
                  and (one.cell, one.function) == (before.cell, before.function)
                  and (event := self.event_before(one.number, time))]
        if not all(self._is_exactly_known(event) for _, event in events):
            return ()
        return tuple(sorted({line for line, _ in events} - {before.span[0], before.span[2]}))
