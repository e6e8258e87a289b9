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
from functools import cache
from pathlib import Path

import numpy as np
import torch
from matplotlib.figure import Figure

from . import compare, plots, wire
from .replay import replay

DATA = Path(__file__).parent / "selfchecks"
GRADING = "TP_GRADING"  # set in the grader's kernel: the judge checks there, not the notebook

_tp = None
_passed = set()


def start(name: str) -> None:
    """Open the TP called ``name``: its self-checks, and the seeds of all generators."""
    global _tp
    _tp = name
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
    for name, says, sentence, _, _ in results:
        lines.append(textwrap.fill(f"{'✗' if sentence else '✓'} {name}: {says}", 100, initial_indent="  ", subsequent_indent="    "))
        if sentence:
            lines.append(textwrap.fill(sentence, 100, initial_indent="      ", subsequent_indent="      "))
    wrong = [result for result in results if result[2]]
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
    for exercise, data in _data(_tp)["exercises"].items():
        results = _results(exercise, namespace)
        weight = sum(check["weight"] for check in data["checks"])
        share = sum(check["weight"] for check, result in zip(data["checks"], results) if not result[2]) / weight
        earned, total = earned + share * data["points"], total + data["points"]
        rows.append((exercise, _tally(results), f"{share * data['points']:.3g} of {data['points']:.3g}"))
    rows.append(("all", "", f"{earned:.3g} of {total:.3g}"))
    plots.table(rows, header=("exercise", "checks", "points"), caption="Automatic checks; written answers are read by a person")


@cache
def _data(name):
    if name is None:
        raise RuntimeError("run the first cell of the notebook: it calls tp.start(…)")
    path = DATA / f"{name}.bin"
    if not path.is_file():
        raise RuntimeError(f"the self-checks of {name} are missing: get the course again, or, as its author, run `make notebooks`")
    return wire.unpack(gzip.decompress(path.read_bytes()))


def _results(exercise, namespace):
    """For each check: name, what it looks at, what is wrong (or None), the record and the reply that show it."""
    data = _data(_tp)["exercises"]
    if exercise not in data:
        raise RuntimeError(f"{_tp} has no exercise {exercise!r}; it has {', '.join(data)}")
    checks, mistakes = data[exercise]["checks"], data[exercise]["mistakes"]
    records = [record for check in checks for record in check["records"]]
    got = [replay(record["calls"], namespace) for record in records]
    known = compare.diagnose(records, got, [(m["name"], m["says"], m["replies"]) for m in mistakes])
    results, at = [], 0
    for check in checks:
        sentence = shown = None
        for i in range(at, at + len(check["records"])):
            difference = compare.first_difference(records[i]["expected"], got[i], records[i]["specs"])
            if difference and sentence is None:
                sentence, shown = compare.explained(difference, known[i]), i
        results.append((check["name"], check["says"], sentence, records[shown] if sentence else None, got[shown] if sentence else None))
        at += len(check["records"])
    return results


def _tally(results):
    passed = sum(not result[2] for result in results)
    if passed == len(results):
        return f"all {passed} checks pass" if passed > 1 else "the check passes"
    if all(result[2] == compare.NOT_WRITTEN for result in results):
        return "not written yet"
    return f"{passed} of {len(results)} checks pass"


def _show_beside(result):
    """Draw expected beside got, where an output of two or three axes has the right shape and other values."""
    record, got = result[3], result[4]
    for name, spec in record["specs"].items():
        expected, reply = record["expected"]["outputs"][name], got["outputs"].get(name)
        if reply and not spec.get("holds") and expected["kind"] == reply["kind"] == "tensor":
            want, have = expected["array"], reply["array"]
            if want.shape == have.shape and want.ndim in (2, 3) and want.dtype.kind == have.dtype.kind == "f" and compare.output_difference(name, expected, reply, spec):
                _beside(name, want, have, spec.get("axes"))
                return


def _beside(name, want, have, axes):
    """One picture: expected, got, and the difference; an array of three axes is shown at its middle index."""
    at = f"[:, {want.shape[1] // 2}]" if want.ndim == 3 else ""
    if want.ndim == 3:
        want, have = want[:, want.shape[1] // 2], have[:, have.shape[1] // 2]
    figure = Figure(figsize=(8, 2.2), layout="constrained")
    limit = max(float(np.nanmax(np.abs([want, have]))), 1e-9)
    for ax, title, values in zip(figure.subplots(1, 3), ("expected", "got", "got − expected"), (want, have, have - want)):
        image = ax.imshow(values, cmap="PuOr", vmin=-limit, vmax=limit, aspect="auto")
        ax.set_title(title, fontsize=9)
        ax.tick_params(labelsize=7)
        ax.locator_params(integer=True)
    figure.colorbar(image, ax=figure.axes, shrink=0.8)
    figure.suptitle(f"{name}{at}" + (f"   ({axes})" if axes else ""), fontsize=9)
    plots.show(figure, f"{name}{at}: expected beside got. The largest difference is {float(np.nanmax(np.abs(have - want))):.3g}.")
