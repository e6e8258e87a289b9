"""(e) Grading a class: stock nbgrader against the judge, on the same class, the same machine, the same two cores.

**Stock** is `nbgrader autograde` as it comes, in a course of its own without our plug-ins: one submission after the
other, each executed in a fresh kernel, no isolation. Its source is the solution notebook of tp2 with ordinary test
cells (`ASSERTS`, hidden tests) in the place of the checks, and without the cells that show or train something, which
stock would execute too. Those tests ask for less than the judge does: about one comparison an exercise, no known
faults, no reasons in words.
**Judge** is what `autograder grade --jobs 2` does, in bubblewrap. Both end with every grade in a gradebook.
"""

import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from copy import deepcopy
from itertools import cycle
from pathlib import Path

import nbformat
import psutil
from nbgrader.api import Gradebook

from autograder import course as courses
from autograder.classroom import samples
from autograder.classroom.nbgrader.config import find_alembic
from autograder.model.oracle import load_oracle
from autograder.model.source import load_source
from autograder.publish import notebooks

from .measure import spread, table

TITLE = "Grading a class"
COURSE = courses.find(Path(__file__).parent.parent)
TP = "tp2_seq2seq"
JOBS = 2
SIZES = {"stock nbgrader": [10, 50], "the judge": [10, 50, 200, 1000]}  # stock would take hours for more
REPEATED = {"stock nbgrader": [10], "the judge": [10, 50, 200]}  # the sizes that are measured more than once

ASSERTS = {
    "shift": """
x = torch.randn(5, 3, 4)
assert torch.equal(shifted_target(x), torch.cat([x[1:], torch.zeros(1, 3, 4)]))
""",
    "encoder": """
module, x, start = EncoderRNN(4, 6, "cpu"), torch.randn(5, 3, 4), torch.randn(1, 3, 6)
for given in [(x,), (x, start)]:
    for got, expected in zip(module(*given), module.gru(*given)):
        torch.testing.assert_close(got, expected)
""",
    "decoder": """
module, x, start = DecoderRNN(6, 4, "cpu"), torch.randn(5, 3, 4), torch.randn(1, 3, 6)
output, hdec_final = module(x, start)
hdec_ts, expected = module.gru(x, start)
torch.testing.assert_close(output, F.log_softmax(module.linear(hdec_ts), dim=-1))
torch.testing.assert_close(hdec_final, expected)
""",
    "seq2seq": """
model = Seq2seq(["12+3", "4+56", "7+8", "90+1"], ["15", "60", "15", "91"], hidden_size=6, device="cpu")
question, answer = model.encoder_input_tr, model.decoder_input_tr
henc_final = model.encoder.gru(question)[1]
torch.testing.assert_close(model(question, answer), model.decoder(answer, henc_final)[0])
character, hidden, written = answer[:1], henc_final, []
for _ in range(model.max_decoder_sequence_length):
    output, hidden = model.decoder(character, hidden)
    written.append(output)
    character = F.one_hot(output.argmax(-1), answer.shape[-1]).float()
torch.testing.assert_close(model(question, answer, False), torch.cat(written))
""",
    "exact-match": """
target = F.one_hot(torch.tensor([[1, 2], [2, 3], [0, 0]]), 4).float()
output = target.clone()
assert abs(exact_match(output, target) - 1) < 1e-6
output[0, 1] = output[0, 1].roll(1)
assert abs(exact_match(output, target) - 0.5) < 1e-6
""",
}


def answers(n):
    """The cells that n students fill: of four, one is all right, one blank, two have a fault, each another."""
    right, oracle = notebooks.solved(COURSE, TP), load_oracle(COURSE, TP)
    mistaken = cycle({**right, fault.exercise: oracle.text_of(fault)} for fault in oracle.faults)
    return [next(mistaken) if i % 4 > 1 else right if i % 4 else {} for i in range(n)]


def hand_in(folder, released, n):
    """Put n submissions into ``folder``, as the exchange would have collected them."""
    for i, cells in enumerate(answers(n)):
        notebook = deepcopy(released)
        for cell in notebook.cells:
            cell.source = cells.get(cell.metadata.get("nbgrader", {}).get("grade_id"), cell.source)
        path = folder / f"student-{i:04}" / TP / f"{TP}.ipynb"
        path.parent.mkdir(parents=True)
        nbformat.write(notebook, path)


def stock(root, n):
    """A course for nbgrader as it comes, with n submissions; the command that grades them, and the gradebook."""
    notebook = notebooks.solution_notebook(load_source(COURSE, TP))
    by_id = {cell.grade_id: cell for cell in load_source(COURSE, TP).cells if cell.grade_id}
    roles = [getattr(by_id.get(cell.id), "role", "text") for cell in notebook.cells]
    notebook.cells = [cell for cell, role in zip(notebook.cells, roles, strict=True)
                      if role not in ("demo", "training")]
    for cell in notebook.cells:
        if cell.id.startswith("check-"):
            tests = ASSERTS[cell.id.removeprefix("check-")].strip()
            cell.source = f"### BEGIN HIDDEN TESTS\n{tests}\n### END HIDDEN TESTS"
    (root / "source" / TP).mkdir(parents=True)
    nbformat.write(notebook, root / "source" / TP / f"{TP}.ipynb")
    (root / "nbgrader_config.py").write_text("c = get_config()\nc.CourseDirectory.course_id = 'stock'\n")
    subprocess.run([sys.executable, "-m", "nbgrader", "generate_assignment", TP, "--create"],
                   cwd=root, check=True, capture_output=True)
    hand_in(root / "submitted", nbformat.read(root / "release" / TP / f"{TP}.ipynb", 4), n)
    return [sys.executable, "-m", "nbgrader", "autograde", TP], root / "gradebook.db"


def judge(root, n):
    """A course with the judge, with n submissions; the command that grades them, and the gradebook."""
    course = samples.classroom_in(root, COURSE, [TP])
    hand_in(course.gradebook / "submitted", notebooks.released_notebook(load_source(COURSE, TP)), n)
    command = [sys.executable, "-m", "autograder", "--course", str(root), "grade", "--jobs", str(JOBS)]
    return command, course.gradebook / "gradebook.db"


WAYS = {"stock nbgrader": stock, "the judge": judge}


def graded(way, n):
    """Seconds, from the start of the command to its end, and peak megabytes of all its processes, for a class of n.

    Memory is the sum of proportional set sizes, looked at once a second: what processes share counts once.
    """
    with tempfile.TemporaryDirectory(prefix="grading-") as folder:
        command, gradebook = WAYS[way](Path(folder) / "course", n)
        cores = sorted(os.sched_getaffinity(0))[:JOBS]
        peak, started = 0, time.monotonic()
        process = subprocess.Popen(command, cwd=gradebook.parent, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   env={**os.environ, "TP_GRADING": "1"},
                                   preexec_fn=lambda: os.sched_setaffinity(0, cores))
        while True:
            try:
                process.wait(1)
                break
            except subprocess.TimeoutExpired:
                peak = max(peak, memory(process.pid))
        seconds = time.monotonic() - started
        scores = entered(gradebook)
    if process.returncode or scores != n * len(load_source(COURSE, TP).exercises):
        raise RuntimeError(f"{way}: exit status {process.returncode}, {scores} scores for {n} submissions")
    return {"way": way, "n": n, "seconds": seconds, "proportional megabytes": peak / 1e6}


def entered(gradebook):
    """How many scores of checks stand in a gradebook."""
    with Gradebook(f"sqlite:///{gradebook}") as book:
        return sum(grade.auto_score is not None for submission in book.assignment_submissions(TP)
                   for grade in submission.notebooks[0].grades if grade.name.startswith("check-"))


def memory(pid):
    """Bytes of memory that a process and all beneath it hold, what several share counted once."""
    total = 0
    for process in [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]:
        try:
            total += process.memory_full_info().pss
        except psutil.Error:  # it has just ended
            continue
    return total


def measure(quick, repeats, folder):
    find_alembic()
    results = []
    for repeat in range(repeats):  # in turn, for a machine has its hours
        for way, n in ((kind, n) for kind in WAYS for n in ([4] if quick else SIZES[kind])):
            if repeat == 0 or n in REPEATED[way]:
                run = graded(way, n)
                results.append(run)
                print(f"  {way}: {n} submissions, {run['seconds']:.1f} s, "
                      f"at most {run['proportional megabytes']:.0f} MB", flush=True)
    return sorted(results, key=lambda run: ([*WAYS].index(run["way"]), run["n"]))


def report(results, picture):
    found = {}
    for run in results:
        found.setdefault((run["way"], run["n"]), []).append(run)
    seconds = {key: statistics.median(run["seconds"] for run in runs) for key, runs in found.items()}
    memory = {key: max(run.get("proportional megabytes", math.nan) for run in runs) for key, runs in found.items()}
    rows, stock_sizes = [], [n for way, n in found if way == "stock nbgrader"]
    for (way, n), runs in found.items():
        beside = n if n in stock_sizes else max(stock_sizes)  # its rate does not depend on the size
        gain = f"{seconds['stock nbgrader', beside] / beside * n / seconds[way, n]:.1f}"
        rows.append([f"{way}, {n}", spread([run["seconds"] for run in runs], "{:.1f}"),
                     f"{60 * n / seconds[way, n]:.1f}", gain,
                     f"{memory[way, n]:.0f}" if memory[way, n] > 0 else "not measured"])
    figure, axes = picture(1, 2, "grading")
    for way in WAYS:
        sizes = sorted(n for key, n in found if key == way)
        for ax, values in zip(axes, (seconds, memory), strict=True):
            ax.plot(sizes, [values[way, n] for n in sizes], marker="o", label=way)
    axes[0].set(xscale="log", yscale="log", xlabel="submissions", ylabel="seconds")
    axes[1].set(xscale="log", ylim=(0, 1.1 * max(memory.values())), xlabel="submissions", ylabel="peak memory, MB")
    return (f"Classes of `{TP}`: a quarter of the submissions all right, a quarter blank, half with one fault "
            "each. Seconds are wall-clock seconds of the whole command, on two cores. Stock nbgrader grades a notebook "
            "with ordinary test cells: one submission after the other, each in a fresh kernel, without a sandbox. The "
            f"judge runs with `--jobs {JOBS}`, in bubblewrap. Memory is the peak sum of the proportional set sizes of "
            "all processes, so shared memory counts once."
            "\n\n"
            + table(["submissions", "seconds", "submissions a minute", "times stock", "peak memory, MB"], rows) + "\n"
            + figure("Seconds and peak memory against the number of submissions, "
                     "for the judge and for stock nbgrader."))
