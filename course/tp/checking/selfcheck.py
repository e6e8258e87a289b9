"""The self-check: what a student runs beneath an exercise, and is told at once what is wrong.

The checks were recorded on the solution with public seeds when the course was released. Here they are replayed
on the student's definitions, and what comes back is compared with the recorded answers and with those of known
mistakes. No line of the solution is shipped. The same comparison grades the submission later, on other draws.
"""

import gzip
import os
import random
import sys
import textwrap
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from matplotlib.figure import Figure
from numpy.typing import NDArray

from .. import plots
from . import compare, replies, wire
from .replay import replay
from .replies import Record, Reply
from .values import Array

DATA = Path(__file__).parent / "data"
GRADING = "TP_GRADING"  # set in the grader's kernel: the judge checks there, not the notebook

_started: str | None = None
_passed: set[str] = set()


@dataclass(frozen=True)
class ShippedCheck:
    """A check as it was recorded at release time, once for each public seed."""

    name: str
    says: str
    weight: float
    records: list[Record]


@dataclass(frozen=True)
class ShippedExercise:
    """The checks of an exercise, and what its known mistakes answer to all their records."""

    points: float
    checks: list[ShippedCheck]
    mistakes: list[compare.Candidate]


@dataclass(frozen=True)
class Result:
    """One check on the student's definitions: what is wrong, if anything, and the record and reply that show it."""

    check: ShippedCheck
    sentence: str | None = None
    record: Record | None = None
    reply: Reply | None = None


def start(name: str) -> None:
    """Open the TP called ``name``: its self-checks, and the seeds of all generators."""
    global _started
    _started = name
    _passed.clear()
    random.seed(0)
    np.random.seed(0)
    torch.manual_seed(0)


def check(exercise: str) -> None:
    """Check an exercise on the definitions of the calling notebook, and say what is right and what is not.

    What is wrong goes to stderr: the notebook runs on, and nbgrader's Validate counts the exercise as not passed.
    """
    if os.environ.get(GRADING):
        return
    results = _results(exercise, sys._getframe(1).f_globals)
    lines = [f"{exercise}: {_tally(results)}"]
    for result in results:
        line = f"{'✗' if result.sentence else '✓'} {result.check.name}: {result.check.says}"
        lines.append(textwrap.fill(line, 100, initial_indent="  ", subsequent_indent="    "))
        if result.sentence:
            lines.append(textwrap.fill(result.sentence, 100, initial_indent="      ", subsequent_indent="      "))
    wrong = [result for result in results if result.sentence]
    if wrong:
        _passed.discard(exercise)
        print("\n".join(lines), file=sys.stderr)
        _show_beside(wrong[0])
    else:
        _passed.add(exercise)
        print("\n".join(lines))


def done(*exercises: str) -> bool:
    """Whether these exercises passed their check in this session; says which of them are waited for."""
    waiting = [name for name in exercises if name not in _passed]
    if waiting:
        print(f"This cell waits for {' and '.join(waiting)}: write it, run its check, then run this cell again.")
    return not waiting


def progress() -> None:
    """Where the student stands: every exercise of this TP, checked now."""
    namespace, rows, earned, total = sys._getframe(1).f_globals, [], 0.0, 0.0
    for exercise, shipped in _data(_started).items():
        results = _results(exercise, namespace)
        weight = sum(check.weight for check in shipped.checks)
        share = sum(result.check.weight for result in results if not result.sentence) / weight
        earned, total = earned + share * shipped.points, total + shipped.points
        rows.append((exercise, _tally(results), f"{share * shipped.points:.3g} of {shipped.points:.3g}"))
    rows.append(("all", "", f"{earned:.3g} of {total:.3g}"))
    plots.table(rows, header=("exercise", "checks", "points"),
                caption="Automatic checks; written answers are read by a person")


@cache
def _data(name: str | None) -> dict[str, ShippedExercise]:
    """Exercise → what was shipped of it."""
    if name is None:
        raise RuntimeError("run the first cell of the notebook: it calls tp.start(…)")
    path = DATA / f"{name}.bin"
    if not path.is_file():
        raise RuntimeError(f"the self-checks of {name} are missing: get the course again, "
                           "or, as its author, run `make notebooks`")
    return {exercise: _shipped(tree) for exercise, tree in read(path)["exercises"].items()}


def read(path: Path) -> dict[str, Any]:
    """The tree in a file of shipped self-checks."""
    tree: dict[str, Any] = wire.unpack(gzip.decompress(path.read_bytes()))
    return tree


def _shipped(tree: dict[str, Any]) -> ShippedExercise:
    checks = [ShippedCheck(one["name"], one["says"], one["weight"], list(map(replies.record_from_tree, one["records"])))
              for one in tree["checks"]]
    mistakes = [compare.Candidate(one["name"], one["says"], list(map(replies.from_tree, one["replies"])))
                for one in tree["mistakes"]]
    return ShippedExercise(tree["points"], checks, mistakes)


def _results(exercise: str, namespace: dict[str, Any]) -> list[Result]:
    """The result of each check of an exercise, on what ``namespace`` defines."""
    data = _data(_started)
    if exercise not in data:
        raise RuntimeError(f"{_started} has no exercise {exercise!r}; it has {', '.join(data)}")
    shipped = data[exercise]
    records = [record for check in shipped.checks for record in check.records]
    got = [replay(record.ops, namespace) for record in records]
    named = compare.diagnose(records, got, shipped.mistakes)
    answers = iter(zip(records, got, named, strict=True))
    results = []
    for check in shipped.checks:
        result = Result(check)
        for record, reply, mistake in [next(answers) for _ in check.records]:
            difference = compare.first_difference(record, reply)
            if difference and result.sentence is None:
                result = Result(check, compare.explained(difference, mistake), record, reply)
        results.append(result)
    return results


def _tally(results: list[Result]) -> str:
    passed = sum(not result.sentence for result in results)
    if passed == len(results):
        return f"all {passed} checks pass" if passed > 1 else "the check passes"
    if all(result.sentence == compare.NOT_WRITTEN for result in results):
        return "not written yet"
    return f"{passed} of {len(results)} checks pass"


def _show_beside(result: Result) -> None:
    """Draw expected beside got, where an output of two or three axes has the right shape and other values."""
    if result.record is None or result.reply is None:
        return
    for name, spec in result.record.specs.items():
        expected, got = result.record.answer.outputs[name], result.reply.outputs.get(name)
        if spec.holds or not (isinstance(expected, Array) and isinstance(got, Array)):
            continue
        want, have = expected.array, got.array
        alike = want.shape == have.shape and want.dtype.kind == have.dtype.kind == "f"
        if alike and want.ndim in (2, 3) and compare.output_difference(name, expected, got, spec):
            _beside(name, want, have, spec.axes)
            return


def _beside(name: str, want: NDArray[Any], have: NDArray[Any], axes: str | None) -> None:
    """One picture: expected, got, and the difference; an array of three axes is shown at its middle index."""
    at = f"[:, {want.shape[1] // 2}]" if want.ndim == 3 else ""
    if want.ndim == 3:
        want, have = want[:, want.shape[1] // 2], have[:, have.shape[1] // 2]
    figure = Figure(figsize=(8, 2.2), layout="constrained")
    limit = max(float(np.nanmax(np.abs([want, have]))), 1e-9)
    shown = {"expected": want, "got": have, "got − expected": have - want}
    for ax, (title, array) in zip(figure.subplots(1, 3), shown.items(), strict=True):
        image = ax.imshow(array, cmap="PuOr", vmin=-limit, vmax=limit, aspect="auto")
        ax.set_title(title, fontsize=9)
        ax.tick_params(labelsize=7)
        ax.locator_params(integer=True)
    figure.colorbar(image, ax=figure.axes, shrink=0.8)
    figure.suptitle(f"{name}{at}" + (f"   ({axes})" if axes else ""), fontsize=9)
    largest = float(np.nanmax(np.abs(have - want)))
    plots.show(figure, f"{name}{at}: expected beside got. The largest difference is {largest:.3g}.")
