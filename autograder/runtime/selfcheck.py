"""The self-check that a student runs below an exercise, which says at once what is wrong.

The checks were recorded on the solution with public seeds when the course was released. Here they are replayed
on the student's definitions, and what comes back is compared with the recorded answers and with those of known
faults. No line of the solution is shipped. The same comparison grades the submission later, on other instances.
"""

import difflib
import os
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from . import (
    arrays,
    card,
    compare,
    diagnosis,
    handing_in,
    hints,
    history,
    messages,
    provided,
    tables,
)
from .beside import beside
from .bounded import TimeIsUp, bounded
from .card import Card
from .cases import Case
from .findings import CheckResult, findings, limited
from .locate.search import with_places
from .operations import Name
from .recorded import RecordedCheck, Reply
from .replay import Printed, describe_error, replay
from .settings import find, settings
from .shipped import ShippedCheck, ShippedExercise, exercise_from_tree, read

GRADING = "TP_GRADING"  # set in the grader's kernel: the judge checks there, not the notebook
NBGRADER = "NBGRADER_EXECUTION"  # set where nbgrader runs a notebook: it reads text, and takes stderr for a failure
MAX_CELLS = 40  # of a notebook are looked into for where an answer goes wrong
MAX_PRINTED = 2_000  # characters of what a student's code prints are shown
SECONDS = 30.0  # that the checks of an exercise may take here

_started: str | None = None
_passed: set[str] = set()
_failed: Counter[str] = Counter()  # exercise → how often its check has failed
_borrowed: dict[str, provided.Names] = {}  # exercise → what its borrowed cell defined


class NotUsable(RuntimeError):
    """A self-check that cannot be had; a notebook shows the message alone, without a traceback."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


@dataclass(frozen=True)
class Result:
    """The result of one check on the student's definitions, and what these printed where it failed."""

    check: ShippedCheck
    result: CheckResult
    printed: str = ""


def start(name: str) -> None:
    """Open the session called ``name``: its self-checks, the seeds of all generators, and torch's threads.

    In JupyterLab the cells to fill are marked from then on.

    Torch takes one thread, unless the course or the environment (``OMP_NUM_THREADS``) says otherwise: on a busy machine
    several wait for each other.
    """
    global _started
    _started = name
    _passed.clear()
    _failed.clear()
    _borrowed.clear()
    arrays.seed_all(0, lazily=True)
    if not os.environ.get(GRADING):
        arrays.take_threads(settings().threads)
        if tables.kernel() is not None and not os.environ.get(NBGRADER):
            tables.show(card.YOURS, "")


def check(exercise: str, seconds: float = SECONDS) -> None:
    """Check an exercise on the definitions of the calling notebook, and say what is right and what is not.

    Code that takes more than ``seconds`` is stopped.
    In a notebook this is a card. In a terminal and in nbgrader's Validate it is text, and what is wrong goes to stderr:
    Validate then counts the exercise as not passed.
    """
    if os.environ.get(GRADING):
        return
    said = _card(exercise, sys._getframe(1).f_globals, seconds)
    if said.passed:
        _passed.add(exercise)
        _failed.pop(exercise, None)
    else:
        _passed.discard(exercise)
    if tables.kernel() is None or os.environ.get(NBGRADER):
        print(card.text(said), file=sys.stdout if said.passed else sys.stderr)
    else:
        tables.show(card.page(said), card.text(said))


def case(exercise: str, name: str = "") -> Case:
    """Return what the check ``name`` of an exercise does, and its inputs: ``tp.case("encoder", "states")``.

    Of the instances that the check was recorded on, the first on which the notebook's definitions fail is taken.
    """
    namespace = sys._getframe(1).f_globals
    checks = {one.name: one for one in _exercise(exercise, _device(namespace)).checks}
    if name not in checks:
        wrong = f"{exercise} has no check {name!r}; it has" if name else f"say which check of {exercise}:"
        raise NotUsable(f"{wrong} {', '.join(checks)}{_nearest(name, checks)}")
    records = checks[name].records
    made = Case(exercise, name, checks[name].says, _failing(records, namespace).plain, namespace)
    made.show()
    return made


def _failing(records: Sequence[RecordedCheck], namespace: dict[str, Any]) -> RecordedCheck:
    """Return the first record on which a namespace fails or takes too long, or else the first of all."""
    for one in records:
        try:
            with bounded(SECONDS):
                if compare.first_difference(one, replay(one.ops, namespace, _device(namespace))):
                    return one
        except TimeIsUp:
            return one
    return records[0]


def hand_in() -> None:
    """Write the file to hand in, and say where it goes, and what of it is unsaved, unwritten or blank."""
    if not os.environ.get(GRADING):
        exercises = _data(_started)
        handing_in.show(handing_in.hand_in(str(_started), exercises, settings(), sys._getframe(1).f_globals))


def done(*names: str) -> bool:
    """Return whether a cell has what it needs, and say what it waits for.

    That is: exercises that passed their check in this session or are borrowed, and else variables of cells above.
    """
    namespace = sys._getframe(1).f_globals
    exercises = [name for name in names if name in _data(_started)]
    waiting = [name for name in exercises if name not in _passed and not _is_borrowed(name, namespace)]
    unmade = [name for name in names if name not in exercises and name not in namespace]
    if waiting:
        them = "write it, run its check" if len(waiting) == 1 else "write them, run their checks"
        print(f"This cell waits for {' and '.join(waiting)}: {them}, then run this cell again.")
        if provided.path(str(_started)).is_file():
            print(f'Stuck? tp.borrow("{waiting[0]}") lends it to you, without points, and the rest goes on.')
    elif unmade:
        print(f"This cell waits for `{'` and `'.join(unmade)}`: run the cells above that make it, then this one again.")
    return not waiting and not unmade


def borrow(exercise: str) -> None:
    """Take an exercise from what the teacher lends, for no points, so that the cells that need it go on.

    Run your own cell again to give it back.
    """
    if os.environ.get(GRADING):
        return
    _exercise(exercise)
    namespace, lent = sys._getframe(1).f_globals, provided.parts(str(_started))
    if exercise not in lent:
        there = f"Lent are: {', '.join(lent)}." if lent else f"A file {_started}.lent from your teacher would do it."
        print(f"{exercise} is not lent here. {there} No other exercise needs it to be right.")
        return
    _borrowed[exercise] = provided.define(exercise, lent[exercise], namespace)
    _passed.discard(exercise)
    print(f"{exercise} is borrowed: it works, it is worth no points, and the cells that wait for it go on. "
          "To give it back, run your own cell again.")


def progress() -> None:
    """Show where the student stands: every exercise of this session, checked now."""
    namespace, rows, earned, total = sys._getframe(1).f_globals, [], 0.0, 0.0
    for exercise, shipped in _data(_started).items():
        share, said = (0.0, "borrowed") if _is_borrowed(exercise, namespace) else _share(exercise, namespace)
        earned, total = earned + share * shipped.points, total + shipped.points
        rows.append((exercise, said, f"{share * shipped.points:.3g} of {shipped.points:.3g}"))
    rows.append(("all", "", f"{earned:.3g} of {total:.3g}"))
    tables.table(rows, header=("exercise", "checks", "points"),
                caption="Automatic checks; a person reads written answers. tp.hand_in() writes the file to hand in")


def _share(exercise: str, namespace: dict[str, Any]) -> tuple[float, str]:
    """Return the share of an exercise's points that its checks give now, and how many pass."""
    try:
        with bounded(SECONDS):
            results = _results(exercise, namespace)
    except TimeIsUp:
        return 0.0, f"stopped after {SECONDS:g} s"
    weight = sum(one.check.weight for one in results)
    return (sum(one.check.weight for one in results if one.result.passed) / weight,
            messages.tally([one.result for one in results]))


@cache
def _data(name: str | None) -> dict[str, ShippedExercise]:
    """Return the shipped data of each exercise."""
    if name is None:
        raise NotUsable("run the first cell of the notebook: it calls tp.start(…)")
    path = find(name)
    if path is None:
        raise NotUsable(f"the self-checks of {name} are missing: get the course again, "
                           "or, as its author, run `autograder release`")
    return {exercise: exercise_from_tree(tree) for exercise, tree in read(path)["exercises"].items()}


def _exercise(name: str, device: str = "cpu") -> ShippedExercise:
    """Return the shipped data of an exercise, to be compared with answers of a device."""
    data = _data(_started)
    if name not in data:
        raise NotUsable(f"{_started} has no exercise {name!r}{_nearest(name, data)}; it has {', '.join(data)}")
    return replace(data[name], checks=[replace(check, records=[record.on(device) for record in check.records])
                                       for check in data[name].checks])


def _nearest(name: str, there: Iterable[str]) -> str:
    """Return the name that was probably meant, as a question; an empty text where none is near."""
    near = difflib.get_close_matches(name, there, 1, 0.5)
    return f" (did you mean {near[0]!r}?)" if near else ""


def _results(exercise: str, namespace: dict[str, Any], texts: Sequence[str] = ()) -> list[Result]:
    """Return the result of each check of an exercise, on what ``namespace`` defines.

    Where an answer goes wrong is looked for in ``texts``, the cells that it was written in.
    """
    shipped = _exercise(exercise, _device(namespace))
    records = [record for check in shipped.checks for record in check.records]
    printed = [Printed(MAX_PRINTED) for _ in records]
    owners = [check.name for check in shipped.checks for _ in check.records]
    got = [_replayed(record, namespace, sink, owner)
           for record, sink, owner in zip(records, printed, owners, strict=True)]
    named = diagnosis.diagnose(compare.without_relations(records, got), shipped.faults)
    answers = iter(zip(records, got, named, printed, strict=True))
    results = []
    for check in shipped.checks:
        one = Result(check, CheckResult(check.name, True, check.says))
        for record, reply, fault, sink in [next(answers) for _ in check.records]:
            difference = compare.first_difference(record, reply)
            if difference and one.result.passed:
                failed = CheckResult(check.name, False, check.says, difference, fault, beside(record, reply))
                one = Result(check, failed, sink.getvalue())
        results.append(one)
    seen = with_places(limited([one.result for one in results]), shipped.checks, texts, namespace, _device(namespace))
    return [replace(one, result=result) for one, result in zip(results, seen, strict=True)]


def _device(namespace: dict[str, Any]) -> str:
    """Return where a notebook computes: on the GPU if its variable `device` says so."""
    return arrays.device_of(namespace.get("device"))


def _replayed(record: RecordedCheck, namespace: dict[str, Any], printed: Printed, check: str) -> Reply:
    """Return the reply of a namespace; ``TimeIsUp`` says in which check it was."""
    try:
        return replay(record.ops, namespace, _device(namespace), printed)
    except TimeIsUp as error:
        error.check = check
        raise


def _cells(exercise: str, namespace: dict[str, Any]) -> list[str]:
    """Return the notebook's cells with definitions, first that of what the checks of an exercise call."""
    asked = _names(exercise)
    own = [name for name, thing in namespace.items() if getattr(thing, "__module__", None) == namespace.get("__name__")]
    texts = (history.cell_of(namespace[name]) for name in sorted(own, key=lambda name: name not in asked))
    return list(dict.fromkeys(filter(None, texts)))[:MAX_CELLS]


def _names(exercise: str) -> set[str]:
    """Return the names that the checks of an exercise need."""
    return {op.name for check in _exercise(exercise).checks for record in check.records for op in record.ops
            if isinstance(op, Name)}


def _is_borrowed(exercise: str, namespace: dict[str, Any]) -> bool:
    return exercise in _borrowed and provided.holds(_borrowed[exercise], namespace)


def _card(exercise: str, namespace: dict[str, Any], seconds: float = SECONDS) -> Card:
    """Return the card of an exercise."""
    _exercise(exercise)
    if _is_borrowed(exercise, namespace):
        return Card(exercise, "borrowed. It works, and is worth no points")
    older = tuple(history.outdated(sorted(_names(exercise) & namespace.keys()), namespace))
    texts = _cells(exercise, namespace)
    try:
        with bounded(seconds):
            found = _results(exercise, namespace, texts)
    except TimeIsUp as error:
        said = messages.stopped(seconds, error.check, describe_error(error, namespace).where, exercise)
        return Card(exercise, said, older=older, stopped=True)
    results = [one.result for one in found]
    wrong = findings(results)
    if len(wrong) == 1 and all(one.difference and one.difference.is_absent for one in results):
        unwritten = wrong[0].differences[0].is_unwritten
        said = messages.tally(results) if unwritten else messages.headline(wrong[0], advise=True)
        return Card(exercise, said, older=older)
    return Card(
        exercise,
        messages.tally(results),
        right=tuple((one.check, one.says) for one in results if one.passed),
        wrong=wrong,
        cells=tuple(texts),
        printed=next((one.printed for one in found if not one.result.passed), ""),
        older=older,
        hint=_next_hint(exercise) if wrong else ("", ""),
    )


def _next_hint(exercise: str) -> tuple[str, str]:
    """Return the first hint when a check fails once, the next one when it fails again; the last one from then on."""
    there = hints.hints(Path(f"{_started}.ipynb"), exercise)
    _failed[exercise] += 1
    return there[min(_failed[exercise], len(there)) - 1] if there else ("", "")
