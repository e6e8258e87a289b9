"""The commands of a notebook, above all the self-check below an exercise, which says at once what is wrong.

The checks were recorded on the solution with public seeds when the course was released. Here they are replayed
on the student's definitions, and what comes back is compared with the recorded replies and with those of known
faults. No line of the solution is shipped. The same comparison grades the submission later, on other instances.
"""

import difflib
import os
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import accumulate, islice
from typing import Any

from .. import arrays, card, compare, diagnosis, messages, rich_output
from ..card import Card
from ..findings import CheckResult, fail_constant_checks, findings, result_of, share_passed
from ..locate.search import with_places
from ..operations import names_in
from ..place import MAX_SEARCHED_CHARACTERS
from ..recorded import RecordedCheck, Reply
from ..replay import Printed, describe_error, replay
from ..selfchecks import ExerciseSelfChecks, SessionSelfChecks, load
from ..settings import find_selfchecks, load_settings
from ..text import decimals
from ..time_limit import TimeLimitExceeded, time_limit
from . import handing_in, hints, history, provided
from .cases import Case

GRADING = "TP_GRADING"  # set in the grader's kernel: the judge checks there, not the notebook
EXECUTING = "TP_EXECUTING"  # set where a solution notebook is executed: a cell that lacks something stops it
NBGRADER = "NBGRADER_EXECUTION"  # set where nbgrader runs a notebook: it reads text, and takes stderr for a failure
MAX_PRINTED = 2_000  # characters of what a student's code prints are shown
CHECK_SECONDS = 30.0  # that the checks of an exercise may take here


class SelfCheckError(RuntimeError):
    """A self-check that cannot be had; a notebook shows the message alone, without a traceback."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


@dataclass
class _NotebookState:
    """The session that a notebook has started, and the exercises that were checked or borrowed since."""

    session: str | None = None
    passed: set[str] = field(default_factory=set)
    failed: Counter[str] = field(default_factory=Counter)  # exercise → how often its check has failed
    borrowed: dict[str, provided.Names] = field(default_factory=dict)  # exercise → what checks call of it


_state = _NotebookState()


def start(name: str) -> None:
    """Open the session called ``name``: its self-checks, the seeds of all generators, and torch's threads.

    In JupyterLab the cells to fill are marked from then on.

    Torch takes one thread, unless the course or the environment (``OMP_NUM_THREADS``) says otherwise: on a busy machine
    several wait for each other.
    """
    global _state
    _state = _NotebookState(name, borrowed=_state.borrowed if _state.session == name else {})
    history.watch()
    arrays.seed_all(0, lazily=True)
    if not os.environ.get(GRADING):
        arrays.take_threads(load_settings().threads)
        if rich_output.ipython_kernel() is not None and not os.environ.get(NBGRADER):
            rich_output.show(card.CELL_MARKER_STYLE, "")


def check(exercise: str, seconds: float = CHECK_SECONDS) -> None:
    """Check an exercise on the definitions of the calling notebook, and say what is right and what is not.

    Code that takes more than ``seconds`` is stopped.
    In a notebook this is a card. In a terminal and in nbgrader's Validate it is text, and what is wrong goes to stderr:
    Validate then counts the exercise as not passed.
    """
    if os.environ.get(GRADING):
        return
    result = _card(exercise, sys._getframe(1).f_globals, seconds)
    if result.passed:
        _state.passed.add(exercise)
        _state.failed.pop(exercise, None)
    else:
        _state.passed.discard(exercise)
    if rich_output.ipython_kernel() is None or os.environ.get(NBGRADER):
        print(card.text(result), file=sys.stdout if result.passed else sys.stderr)
    else:
        rich_output.show(card.page(result), card.text(result))


def case(exercise: str, check: str = "") -> Case:
    """Return what a check of an exercise does, and its inputs: ``tp.case("encoder", "states")``.

    Of the instances that the check was recorded on, the first on which the notebook's definitions fail is taken.
    Where it is graded, there is none: what stands for it answers anything.
    """
    if os.environ.get(GRADING):
        from unittest.mock import MagicMock

        return MagicMock()
    namespace = sys._getframe(1).f_globals
    checks = {one.name: one for one in _exercise(exercise, _device(namespace)).checks}
    if check not in checks:
        problem = f"{exercise} has no check {check!r}; it has" if check else f"say which check of {exercise}:"
        raise SelfCheckError(f"{problem} {', '.join(checks)}{_nearest(check, checks)}")
    found = checks[check]
    example = Case(exercise, check, found.description, _failing(found.records, namespace).without_relations, namespace)
    example.show()
    return example


def _failing(records: Sequence[RecordedCheck], namespace: dict[str, Any]) -> RecordedCheck:
    """Return the first record on which a namespace fails or takes too long, or else the first of all."""
    for record in records:
        try:
            with time_limit(CHECK_SECONDS):
                if compare.first_difference(record, replay(record.ops, namespace, _device(namespace))):
                    return record
        except TimeLimitExceeded:
            return record
    return records[0]


def hand_in() -> None:
    """Write the file to hand in, and say where it goes, and what of it is unsaved, unwritten or blank."""
    if not os.environ.get(GRADING):
        data = _data(_state.session)
        handing_in.show(handing_in.hand_in(str(_state.session), data.exercises, data.questions, load_settings(),
                                           sys._getframe(1).f_globals))


def done(*names: str) -> bool:
    """Return whether a cell has what it needs, and say what it lacks.

    That is: exercises that passed their check in this session or are borrowed, and else variables of cells above.
    """
    namespace = sys._getframe(1).f_globals
    exercises = [name for name in names if name in _data(_state.session).exercises]
    waiting = [name for name in exercises if name not in _state.passed and not _is_borrowed(name, namespace)]
    missing = [name for name in names if name not in exercises and name not in namespace]
    if waiting:
        lacks, advice = ("has", "run its check") if len(waiting) == 1 else ("have", "run their checks")
        says = (f"This cell needs {' and '.join(waiting)}, which {lacks} not passed yet: "
                f"{advice}, then run this cell again.")
    elif missing:
        variables = "` and `".join(missing)
        says = f"This cell needs `{variables}`: run the cells above that make it, then this one again."
    else:
        return True
    if os.environ.get(EXECUTING):
        raise SelfCheckError(says)
    print(says)
    if waiting and provided.path(str(_state.session)).is_file():
        print(f'Stuck? tp.borrow("{waiting[0]}") lends it to you, without points, and the rest goes on.')
    return False


def borrow(exercise: str) -> None:
    """Define an exercise that the teacher provides, for no points, so that the cells that need it go on.

    Run your own cell again to give it back.
    """
    if os.environ.get(GRADING):
        return
    _exercise(exercise)
    namespace = sys._getframe(1).f_globals
    try:
        sources = provided.exercises(str(_state.session))
    except ValueError as error:
        raise SelfCheckError(str(error)) from None
    if exercise not in sources:
        advice = (f"Your teacher provides: {', '.join(sources)}." if sources
                  else f"A file {_state.session}.provided from your teacher would do it.")
        print(f"{exercise} is not provided here. {advice} No other exercise needs it to be right.")
        return
    defined, called = provided.define(exercise, sources[exercise], namespace), _names(exercise)
    _state.borrowed[exercise] = {name: value for name, value in defined.items() if name in called}
    _state.passed.discard(exercise)
    print(f"{exercise} is borrowed: it works, it is worth no points, and the cells that wait for it go on. "
          "To give it back, run your own cell again.")


def progress() -> None:
    """Check every exercise of this session, and show the points."""
    if os.environ.get(GRADING):
        return
    namespace, rows, earned, total = sys._getframe(1).f_globals, [], 0.0, 0.0
    for exercise, selfchecks in _data(_state.session).exercises.items():
        share, tally = (0.0, "borrowed") if _is_borrowed(exercise, namespace) else _share(exercise, namespace)
        earned, total = earned + share * selfchecks.points, total + selfchecks.points
        rows.append((exercise, tally, f"{decimals(share * selfchecks.points)} of {decimals(selfchecks.points)}"))
    rows.append(("all", "", f"{decimals(earned)} of {decimals(total)}"))
    rich_output.table(rows, header=("exercise", "checks", "points"),
                      caption="Points of the automatic checks. A person reads the written answers. "
                              "tp.hand_in() writes the file to hand in")


def _share(exercise: str, namespace: dict[str, Any]) -> tuple[float, str]:
    """Return the share of an exercise's points that its checks give now, and how many pass."""
    try:
        with time_limit(CHECK_SECONDS):
            results, _ = _results(exercise, namespace)
    except TimeLimitExceeded:
        return 0.0, f"stopped after {CHECK_SECONDS:g} s"
    weights = [check.weight for check in _exercise(exercise).checks]
    return share_passed(results, weights), messages.tally(results)


@cache
def _data(name: str | None) -> SessionSelfChecks:
    """Return the self-checks of a session."""
    if name is None:
        raise SelfCheckError("run the first cell of the notebook: it calls tp.start(…)")
    path = find_selfchecks(name)
    if path is None:
        raise SelfCheckError(f"the self-checks of {name} are missing: get the course again, "
                             "or, as its author, run `autograder release`")
    try:
        return load(path)
    except (OSError, ValueError, TypeError, LookupError):
        raise SelfCheckError(f"the self-checks of {name} are damaged, or of another version: get the course again, "
                             "or, as its author, run `autograder release`") from None


def _exercise(name: str, device: str = "cpu") -> ExerciseSelfChecks:
    """Return the self-checks of an exercise, to be compared with replies of a device."""
    data = _data(_state.session).exercises
    if name not in data:
        problem = f"{_state.session} has no exercise {name!r}{_nearest(name, data)}"
        raise SelfCheckError(f"{problem}; it has {', '.join(data)}")
    return replace(data[name], checks=[replace(check, records=[record.for_device(device) for record in check.records])
                                       for check in data[name].checks])


def _nearest(name: str, names: Iterable[str]) -> str:
    """Return the name that was probably meant, as a question; an empty text where none is near."""
    matches = difflib.get_close_matches(name, names, 1, 0.5)
    return f" (did you mean {matches[0]!r}?)" if matches else ""


def _results(exercise: str, namespace: dict[str, Any], texts: Sequence[str] = ()) -> tuple[list[CheckResult], str]:
    """Return the result of each check on what ``namespace`` defines, and what was printed where the first one failed.

    Where an answer goes wrong is looked for in ``texts``, the cells that it was written in.
    """
    selfchecks = _exercise(exercise, _device(namespace))
    records = [record for check in selfchecks.checks for record in check.records]
    printed = [Printed(MAX_PRINTED) for _ in records]
    owners = [check.name for check in selfchecks.checks for _ in check.records]
    replies = [_replayed(record, namespace, sink, owner)
               for record, sink, owner in zip(records, printed, owners, strict=True)]
    named = diagnosis.diagnose(compare.pairs_without_relations(records, replies), selfchecks.faults)
    remaining = zip(records, replies, named, printed, strict=True)
    by_check = [list(islice(remaining, len(check.records))) for check in selfchecks.checks]
    cells = [*texts, *history.cells()]
    results = [result_of(check.name, check.description, (replied[:3] for replied in of_check), cells)
               for check, of_check in zip(selfchecks.checks, by_check, strict=True)]
    failing = next((of_check for of_check, result in zip(by_check, results, strict=True) if not result.passed), [])
    outputs = (sink.getvalue() for record, reply, _, sink in failing if compare.first_difference(record, reply))
    results = fail_constant_checks(results, [check.is_constant for check in selfchecks.checks])
    return with_places(results, selfchecks.checks, texts, namespace, _device(namespace)), next(outputs, "")


def _device(namespace: dict[str, Any]) -> str:
    """Return where a notebook computes: on the GPU if its variable `device` says so."""
    return arrays.device_of(namespace.get("device"))


def _replayed(record: RecordedCheck, namespace: dict[str, Any], printed: Printed, check: str) -> Reply:
    """Return the reply of a namespace; ``TimeLimitExceeded`` says in which check it was."""
    try:
        return replay(record.ops, namespace, _device(namespace), printed)
    except TimeLimitExceeded as error:
        error.check = check
        raise


def _cells(exercise: str, namespace: dict[str, Any]) -> list[str]:
    """Return the notebook's cells with definitions, as many as are looked into.

    First come those of what the checks of an exercise call, the last of them first: it may build on the others.
    """
    called = _names(exercise)
    module = namespace.get("__name__")
    defined = [name for name, value in namespace.items() if getattr(value, "__module__", None) == module]
    ordered = sorted(reversed(defined), key=lambda name: name not in called)
    texts = list(dict.fromkeys(filter(None, (history.cell_of(namespace[name]) for name in ordered))))
    lengths = accumulate(map(len, texts))
    return [text for text, length in zip(texts, lengths, strict=True) if length <= MAX_SEARCHED_CHARACTERS]


def _names(exercise: str) -> set[str]:
    """Return the names that the checks of an exercise need."""
    return names_in(op for check in _exercise(exercise).checks for record in check.records for op in record.ops)


def _is_borrowed(exercise: str, namespace: dict[str, Any]) -> bool:
    return exercise in _state.borrowed and provided.holds(_state.borrowed[exercise], namespace)


def _card(exercise: str, namespace: dict[str, Any], seconds: float = CHECK_SECONDS) -> Card:
    """Return the card of an exercise."""
    _exercise(exercise)
    if _is_borrowed(exercise, namespace):
        return Card(exercise, "borrowed. It works, and is worth no points")
    older = tuple(history.outdated(sorted(_names(exercise) & namespace.keys())))
    texts = _cells(exercise, namespace)
    try:
        with time_limit(seconds):
            results, printed = _results(exercise, namespace, texts)
    except TimeLimitExceeded as error:
        tally = messages.stopped(seconds, error.check, describe_error(error, namespace).where, exercise)
        return Card(exercise, tally, older=older, stopped=True)
    wrong = findings(results)
    if len(wrong) == 1 and all(result.difference and result.difference.is_missing for result in results):
        unwritten = wrong[0].differences[0].is_unwritten
        tally = messages.tally(results) if unwritten else messages.headline(wrong[0], advise=True)
        return Card(exercise, tally, older=older)
    return Card(
        exercise,
        messages.tally(results),
        right=tuple((result.check, result.description) for result in results if result.passed),
        wrong=wrong,
        cells=tuple(texts),
        printed=printed,
        older=older,
        hint=_next_hint(exercise, namespace) if wrong else ("", ""),
    )


def _next_hint(exercise: str, namespace: dict[str, Any]) -> tuple[str, str]:
    """Return the first hint when a check fails once, the next one when it fails again; the last one from then on."""
    available = hints.hints(handing_in.notebook_path(str(_state.session), namespace), exercise)
    _state.failed[exercise] += 1
    return available[min(_state.failed[exercise], len(available)) - 1] if available else ("", "")
