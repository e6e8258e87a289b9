"""What hostile submissions cost the others of a class: seconds until the last honest one has its grade.

A class of twenty with five that loop, wait, flood or eat memory, handed in before the others, against the same fifteen
alone. Both are what `autograder grade` does, from its start.
"""

import json
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from autograder import course as courses
from autograder.classroom import samples
from autograder.classroom.nbgrader.config import find_alembic
from autograder.publish import notebooks

from .grading import answers
from .measure import spread, table

TITLE = "Hostile submissions in a class"
COURSE = courses.find(Path(__file__).parent.parent)
TP = "tp2_seq2seq"
HONEST, JOBS, LONGEST = 15, [1, 2], 1800
OWN = {  # cells of one's own, at the end of a notebook
    "loops": "while True: pass",
    "waits": "import time\ntime.sleep(10_000)",
    "is deaf": "import socket, time, gc\nfor one in gc.get_objects():\n    if isinstance(one, socket.socket):\n"
               "        time.sleep(10_000)",
    "eats memory": "held = [bytes(2**24) for _ in range(100)]\nwhile True: held.append(bytearray(b'x') * 2**20)",
}


def hand_in(course, hostile):
    """Fifteen honest submissions, and before them those of the hostile, by name."""
    right = notebooks.solved(COURSE, TP)
    for i, cells in enumerate(answers(HONEST)):
        samples.hand_in(course, f"honest-{i:02}", TP, notebooks.filled(COURSE, TP, cells))
    if hostile:
        for name, own in OWN.items():
            samples.hand_in(course, f"eve-{name.replace(' ', '-')}", TP, notebooks.filled(COURSE, TP, right, (own,)))
        first = next(iter(right))
        slow = right[first].replace(":\n", ":\n    while True: pass\n", 1)
        samples.hand_in(course, "eve-when-called", TP, notebooks.filled(COURSE, TP, {**right, first: slow}))


def graded(jobs, hostile):
    """Seconds until the last honest submission of a class has its verdict in the gradebook; then it is stopped."""
    with tempfile.TemporaryDirectory(prefix="hostile-") as folder:
        course = samples.classroom_in(Path(folder) / "course", COURSE, [TP])
        hand_in(course, hostile)
        started, honest = time.monotonic(), {}
        process = subprocess.Popen([sys.executable, "-m", "autograder", "--course", str(course.root), "grade",
                                    "--jobs", str(jobs)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        verdicts = course.gradebook / "verdicts" / TP
        while len(honest) < HONEST:
            if process.poll() is not None or time.monotonic() - started > LONGEST:
                raise RuntimeError(f"exit status {process.returncode}, {len(honest)} honest submissions graded")
            for path in verdicts.glob("honest-*.json"):
                if path.name not in honest and json.loads(path.read_text())["entered"]:
                    honest[path.name] = time.monotonic() - started
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        process.wait()
        return {"jobs": jobs, "hostile": hostile, "seconds": max(honest.values())}


def measure(quick, repeats, folder):
    find_alembic()
    results = []
    for _ in range(repeats):
        for jobs in [2] if quick else JOBS:
            for hostile in (False, True):
                results.append(graded(jobs, hostile))
                print(f"  {results[-1]}", flush=True)
    return results


def report(results, picture):
    rows = []
    for jobs in sorted({run["jobs"] for run in results}):
        alone, beside = ([run for run in results if run["jobs"] == jobs and run["hostile"] == kind]
                         for kind in (False, True))
        ratios = [one["seconds"] / other["seconds"] for one, other in zip(beside, alone, strict=True)]
        rows.append([f"`--jobs {jobs}`", spread([run["seconds"] for run in alone], "{:.1f}"),
                     spread([run["seconds"] for run in beside], "{:.1f}"), spread(ratios, "{:.2f}")])
    header = ["", "fifteen alone, s", "the fifteen beside five hostile, s", "ratio"]
    return (f"Seconds of `autograder grade` on a class of `{TP}`, until the last of fifteen honest submissions is in "
            "the gradebook: alone, and with five hostile submissions, which come first in the order of names. Four of "
            "these have a cell that loops, waits, blocks the grader's socket or allocates memory; one has an exercise "
            "that loops when it is called. A slow submission is set aside and judged after the others.\n\n"
            + table(header, rows))
