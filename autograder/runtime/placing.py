"""Place what is wrong with an exercise: of each check where the answer goes wrong, and no place that may mislead."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from .difference import Kind
from .findings import CheckResult
from .place import Located, Place

MAX_PLACES = 3  # checks of an exercise are replayed once more to see where the answer goes wrong
RESIZED: tuple[Kind, ...] = ("shape", "length", "key-missing", "key-extra")


def placed(results: Sequence[CheckResult], locate: Callable[[int, bool], Located | None]) -> list[CheckResult]:
    """Return the results of an exercise, the first of those whose values differ with the place that is located.

    ``locate`` takes the number of a check, and whether its result differs in shape, type or order of axes.
    What may only follow from the place of a check before is no place, nor is a loop where the result is neither longer
    nor shorter than a right one. Beside a fault only a place is shown that is sure. Whole numbers are often equal by
    chance: they are shown only where nothing else tells what is wrong, no fault, no other place, and no check before.
    """
    made, kept = list(results), dict[int, Place]()
    named = any(one.fault for one in results)
    wrong = {i: one.difference for i, one in enumerate(results) if one.difference and one.difference.is_of_values}
    for i, difference in list(wrong.items())[:MAX_PLACES]:
        found = locate(i, difference.is_of_form)
        if found is None or found.place.kind == "length" and difference.kind not in RESIZED:
            continue
        if not any(map(found.may_follow_from, kept.values())) and (found.is_sure or not named):
            kept[i] = found.place
    tells = not all(one.whole for one in kept.values())
    for i, place in kept.items():
        if not (place.whole and (tells or i != min(wrong))):
            made[i] = replace(made[i], place=place)
    return made
