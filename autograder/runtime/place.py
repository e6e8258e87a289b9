"""Find where an answer first goes wrong, without a list of faults.

It is the first expression that no right answer has and from which the wrong result comes (`searching`), or a loop or a
return; if there is none, nothing is said.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from .flow import Event, Found
from .known import Answer, References
from .observation import Observed
from .rewriting import Expression, cells_of
from .searching import Search
from .syntax import Span, segment
from .values import short

MAX_ANSWER = 20_000  # characters: the search takes more time the longer an answer is
MAX_LINES = 3  # of the frontier; an answer with more goes a way of its own

Kind = Literal["value", "form", "return", "length", "edit"]


@dataclass(frozen=True)
class Place:
    """Where an answer first goes wrong.

    ``kind``: "value", no right answer has this value; "form", the numbers are right, and their shape, type or order
    is not; "return", the value is right, and it is not what is asked for; "length", a loop computes a value ``times``
    times, and that of a right answer ``expected_times``; "edit", one edit there makes all checks pass.
    ``span`` is in the cell: first line and column, last line and column. ``known`` are the lines up to there on which
    all is known.
    """

    kind: Kind
    span: Span
    known: tuple[int, ...] = ()
    times: int = 0
    expected_times: int = 0
    cell: int = 0  # the exercise's, or one of the student's own behind it
    text: str = ""  # what stands there
    whole: bool = False  # a value of whole numbers, which are often equal by chance
    read: str = ""  # what it is made of there that right answers have elsewhere
    event: Event | None = field(default=None, compare=False)  # which value of which expression it is


def locate(answer: Answer, references: References, form: bool = False, anywhere: Search | None = None) -> Place | None:
    """Return where an answer first goes wrong; None where nothing can be said.

    ``form``: what comes out differs in shape, type or order of axes. That is looked for first then.
    ``anywhere`` is a search for what is known anywhere, to be used again.
    """
    search, anywhere = Search(answer, references), anywhere or Search(answer, references, anywhere=True)
    of_values = any(where == "result" for _, where in anywhere.candidates)
    if form and not of_values and (found := _in_form(Search(answer, references, exactly=True), search)):
        return found
    if len(anywhere.lines()) > MAX_LINES and len(anywhere.lines(last=True)) > 1:
        return None
    constants = Search(answer, references, anywhere=True, constants=True)
    for one in (anywhere, search):
        if found := _of_values(one, constants, form):
            return found
    return _of_loop(search)


@dataclass(frozen=True)
class Located:
    """A place in one check, beside all that was seen there."""

    place: Place
    search: Search

    def may_follow_from(self, other: Place) -> bool:
        """Return whether what stands at another place came before to a value of which one cannot be sure."""
        search, here = self.search, self.place
        before = min((time for event in search.at(here.cell, here.span) if not search.is_known(event)
                      for time in [search.times[event[0]][event[1]]]), default=math.inf)
        return other.span != here.span and any(
            search.times[event[0]][event[1]] < before and not search.is_certain(event)
            for event in search.at(other.cell, other.span))

    @property
    def is_sure(self) -> bool:
        """Return whether nothing else can be the cause: no other line goes wrong by itself, nor comes to nothing."""
        place = self.place
        return not place.whole and place.kind != "length" and (
            place.kind != "value" or len(self.search.lines()) == 1)


def located(texts: Sequence[str], observed: Observed, references: References, form: bool = False,
            whole: bool = False) -> Located | None:
    """Return where an answer that consists of these cells first goes wrong, with the text that stands there."""
    answer = Answer([one for cell in cells_of(texts, whole) for one in cell.expressions], observed)
    search = Search(answer, references, anywhere=True)
    try:
        found = locate(answer, references, form, search)
    except RecursionError:  # hundreds of values in a row, each made of the one before
        return None
    if found is None or (made := _shown(found, search, texts)) is None:
        return None
    return Located(replace(made, text=short(segment(texts[made.cell], made.span))), search)


def _shown(place: Place, search: Search, texts: Sequence[str]) -> Place | None:
    """A place of a value with what is to be said of it, or that of what it follows from; None where none is seen."""
    event = place.event
    if event is None:
        return place
    while before := search.unsound(event):
        if not search.is_computed(before) or event != place.event and not search.value(before).is_whole:
            return None
        event = before
    if event != place.event:
        place = _here("value", (search.all[event[0]], event[1]), search)
    if search.is_copy(event):
        return None
    read = search.misread(event)
    return replace(place, read=short(segment(texts[read.cell], read.span)) if read else "")


def _of_values(search: Search, constants: Search, form: bool) -> Place | None:
    """The first expression from which a wrong result comes, or a return before it of something else than is asked for.

    Whole numbers coincide: they are looked at when nothing else is found, and what comes to no result after them. In
    several lines of that kind, an answer goes a way of its own.
    """
    candidates = [(pair, where) for pair, where in search.candidates
                  if not search.is_strange((pair[0].number, pair[1])) or _of_collected(pair, search)]
    ends = {pair[0].span[0] for pair, where in candidates if where == "end"}
    for wanted, whole in (("result", False), ("result", True), ("end", False), ("end", True)):
        chosen = next((pair for pair, where in candidates if where == wanted
                       and search.is_whole(pair) == whole), None)
        if (wanted, whole) == ("result", False):
            returned = next(_returned(search), None)
            if returned and search.is_whole(returned):
                chosen = next((pair for pair, where in candidates if where == wanted), None)
            if returned and not (chosen and search.time_of(chosen) < search.time_of(returned)):
                return (_of_constant(returned, search, constants) or form and _of_loop(search)
                        or _here("return", returned, search))
        if chosen and not (wanted == "end" and len(ends) > 1):
            return (_of_constant(chosen, search, constants) or _of_collected(chosen, search)
                    or _at(chosen, search))
    return None


def _of_constant(found: Found, search: Search, constants: Search) -> Place | None:
    """The first array of numbers that are all alike, or of none, of which a value is made, and no right answer has.

    One in which something is stored later is none.
    """
    first = constants.origin(found)
    event = first[0].number, first[1]
    return _here("value", first, search) if constants.is_constant(event) and not constants.is_buffer(event) else None


def _at(found: Found, search: Search) -> Place:
    one, index = found = search.origin(found)
    if search.agreement(one.number).ended and (place := _of_length(one, search)):
        return place
    return _here("value", found, search)


def _here(kind: Kind, found: Found, search: Search) -> Place:
    (one, index), of_value = found, kind == "value"
    return Place(kind, one.span, search.lines_known(one, index), cell=one.cell,
                 whole=of_value and search.is_whole(found), event=(one.number, index) if of_value else None)


def _of_length(one: Expression, search: Search) -> Place | None:
    """The loop around an expression, where it runs more or fewer times than that of a right answer."""
    lengths = search.references.length_of(search.seen(one.number)) if one.loop else None
    return Place("length", one.loop, search.lines_known(one), *lengths, one.cell) if one.loop and lengths else None


def _of_collected(found: Found, search: Search) -> Place | None:
    """The loop whose results an expression collects, where a right answer has more or fewer of them."""
    one, index = found
    shape = search.values(one.number)[index].shape
    for source in [source for number in one.inputs for source in search.out_of_loops(search.all[number])]:
        loop, runs = search.all[source].loop, search.seen(source).groups()
        times = len(runs[-1]) if runs else 0
        expected = search.references.other_size(one.function, index, shape, times)
        if loop and expected and times > 1:  # an axis of size one is often kept, not collected
            return Place("length", loop, search.lines_known(one, index), times, expected, one.cell)
    return None


def _of_loop(search: Search) -> Place | None:
    """The first loop that ends too early, where all that goes into it comes out of it, and all in it is known."""
    looped = [one for one in search.all.values()
              if one.loop and search.values(one.number) and search.is_telling(one.number)]
    computed = [(one, search.first_unknown(one.number)) for one in looped if one.kind == "value"]
    unknown = {one.loop for one, index in computed if index is not None and search.is_made((one.number, index))}
    found = (_of_length(one, search) for one in sorted(looped, key=lambda one: search.times[one.number][0])
             if one.loop not in unknown)
    return next(filter(None, found), None)


def _in_form(search: Search, loosely: Search) -> Place | None:
    """The first whose numbers are right, and whose axes come in another order, or that is of another type."""
    found = search.candidates
    candidates = [pair for pair, where in found if where == "result"]
    if not candidates:
        if returned := next(_returned(search), None):
            if returned[1] not in (loosely.unasked(returned[0].number) or ()):
                return _here("form", returned, search)
            return _of_loop(loosely) or _here("return", returned, search)
        candidates = [pair for pair, where in found if where == "end"]
    if not candidates:
        return None
    if len(candidates) > 1:  # the answer has a layout of its own
        return _reformed(search, loosely)
    one, index = candidates[0]
    others = any(loosely.unasked(other.number) for other in search.all.values()
                 if other.kind == "return" and search.values(other.number))
    return _here("form", (one, index), search) if loosely.is_known((one.number, index)) and not others else None


def _reformed(search: Search, loosely: Search) -> Place | None:
    """The last return of numbers that are right, in another form than that of right answers."""
    found = [pair for pair in _unasked(search) if pair[1] not in (loosely.unasked(pair[0].number) or ())]
    return _here("form", max(found, key=search.time_of), search) if found else None


def _returned(search: Search) -> Iterator[Found]:
    """The returns of functions whose values are known, and are not what right answers return."""
    for one, index in sorted(_unasked(search), key=search.time_of):
        before = (search.event_before(number, search.times[one.number][index]) for number in one.inputs)
        if search.tells(one, index) and search.is_asked_rightly(one, index) and all(
                search.is_given(event) for event in before if event):
            yield one, index


def _unasked(search: Search) -> Iterator[Found]:
    """What functions return where right answers return something else, and which of the values."""
    for one in search.all.values():
        if one.kind == "return" and search.values(one.number) and (unasked := search.unasked(one.number)):
            yield one, unasked[0]
