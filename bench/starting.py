"""(e) What starting costs: one check, the first self-check, Validate; beside imports of torch alone.

Seconds by the clock, for it is people who wait. What is compared is measured in turn.
"""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from itertools import count
from pathlib import Path

import nbformat

from autograder import course as courses
from autograder.model.source import load_source
from autograder.publish import notebooks

from .measure import spread, table

TITLE = "What starting costs"
COURSE = courses.find(Path(__file__).parent.parent)
TP, EXERCISE = "tp2_seq2seq", "shift"
CHECK, SELF_CHECK = "`autograder check`", "the first self-check"
BESIDE = {CHECK: "`import torch, matplotlib.pyplot`", SELF_CHECK: "`import torch`"}
numbers = count()


def seconds(*command, **options):
    """How long a command takes; RuntimeError when it fails."""
    started = time.monotonic()
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True, check=False, **options)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)[:80]}: {done.stderr[-500:]}")
    return time.monotonic() - started


def check(place):
    """One check of a notebook that nobody has seen: all is right, and a cell says which it is."""
    notebook = notebooks.filled(COURSE, TP, notebooks.solved(COURSE, TP), (f"# {next(numbers)}",))
    path = place / f"{TP}.ipynb"
    nbformat.write(notebook, path)
    return seconds("-m", "autograder", "--course", str(COURSE.root), "check", str(path))


def first_self_check():
    """A student's session from its first line to the answer of the first self-check."""
    source = load_source(COURSE, TP)
    cells = [source.cell("given", "start"), source.cell("given", "imports"), source.cell("exercise", EXERCISE)]
    text = "\n".join([*(cell.solution for cell in cells), f"tp.check({EXERCISE!r})"])
    path = os.pathsep.join([str(COURSE.released)])
    return seconds("-c", text, cwd=COURSE.released / TP, env={**os.environ, "PYTHONPATH": path})


def validated(session, place):
    """nbgrader's Validate on a filled-in notebook."""
    folder = place / "course"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(COURSE.released, folder)
    path = folder / session / f"{session}.ipynb"
    nbformat.write(notebooks.filled(COURSE, session, notebooks.solved(COURSE, session)), path)
    return seconds("-m", "nbgrader", "validate", path.name, cwd=path.parent)


def measure(quick, repeats, folder):
    with tempfile.TemporaryDirectory(prefix="starting-") as name:
        place = Path(name)
        ways = {BESIDE[CHECK]: lambda: seconds("-c", "import torch, matplotlib.pyplot"), CHECK: lambda: check(place),
                BESIDE[SELF_CHECK]: lambda: seconds("-c", "import torch"), SELF_CHECK: first_self_check}
        results = {way: [] for way in ways}
        for _ in range(repeats):
            for way, run in ways.items():
                results[way].append(run())
        for name, values in results.items():
            print(f"  {name}: {spread(values, '{:.2f}')} s", flush=True)
        results["Validate"] = {}
        for session in COURSE.sessions[:1] if quick else COURSE.sessions:
            results["Validate"][session] = validated(session, place)
            print(f"  Validate, {session}: {results['Validate'][session]:.1f} s", flush=True)
        return results


def report(results, picture):
    rows = []
    for way in (BESIDE[CHECK], CHECK, BESIDE[SELF_CHECK], SELF_CHECK):
        times = ""
        if way in BESIDE:
            times = f"{statistics.median(results[way]) / statistics.median(results[BESIDE[way]]):.2f}"
        rows.append([way, spread(results[way], "{:.2f}"), times])
    return (f"`autograder check` judges a right notebook of `{TP}` for the first time. The self-check is that of "
            f"`{EXERCISE}`, in a new process.\n\n"
            + table(["", "wall-clock seconds", "times the import above it"], rows)
            + "\nnbgrader's Validate on a filled-in notebook, one run each:\n\n"
            + table(["session", "wall-clock seconds"],
                    [[f"`{name}`", f"{value:.1f}"] for name, value in results["Validate"].items()]))
