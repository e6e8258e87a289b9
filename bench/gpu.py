"""(h) The course on a GPU: `make gpu`, on any machine whose torch finds CUDA, in about ten minutes.

Everything that a class needs runs there once: all checks on solutions, faults and right variants, a class graded in
the sandbox, every notebook with short budgets. Beside that stand how much of the tolerances the other arithmetic needs,
whether the same answer comes twice, and what is gained by size. Where something fails, so does the command.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import nbformat
import numpy as np
import torch
from torch.nn import functional as F

from autograder.judging.judge import Judge
from autograder.judging.submission import Submission
from autograder.model.oracle import load_oracle
from autograder.publish import notebooks
from autograder.runtime import compare
from autograder.runtime.replay import replay
from autograder.runtime.values import ArrayValue
from autograder.sandbox.options import Options
from tp import arithmetic

from . import grading, learning
from .measure import spread, table

TITLE = "On a GPU"
COURSE = grading.COURSE
CLASS = 10
SIZES = [128, 512, 2048]
BATCH = 256
GREEDY = "import torch\nkept = []\nwhile True:\n    kept.append(torch.ones(2**28, device={device!r}))"


def measure(quick, repeats, folder):
    if not torch.cuda.is_available():
        raise SystemExit(f"make gpu: torch {torch.__version__} finds no CUDA here; say PYTHON=… whose torch does")
    device = "cuda"
    names = COURSE.sessions[:1] if quick else COURSE.sessions
    rows = [
        command(f"{len(names)} TPs audited: solutions, faults, right variants",
                "audit", *names, "--seeds", "1", "--jobs", "2", "--device", device),
        graded(device, 2 if quick else CLASS),
        greedy(device),
        command("all notebooks executed, with budgets of two seconds", "audit", "--notebooks", *names, TP_QUICK="1"),
    ]
    return {"device": torch.cuda.get_device_name(), "torch": torch.__version__, "rows": rows,
            "numbers": [agreement(name, device) for name in names],
            "steps": [steps(H, device, repeats) for H in (SIZES[:1] if quick else SIZES)]}


def command(title, *args, **variables):
    """A row for a command of the engine: its title, seconds on the clock, and the end of its output if it failed."""
    started = time.monotonic()
    done = subprocess.run([sys.executable, "-m", "autograder", "--course", str(COURSE.root), *args],
                          capture_output=True, text=True, env={**os.environ, **variables})
    failure = "" if done.returncode == 0 else (done.stdout + done.stderr).strip()[-2000:] or "no reason given"
    return {"what": title, "seconds": time.monotonic() - started, "failure": failure}


def graded(device, n):
    """A class of the benchmark of grading, graded in the sandbox on this device."""
    started, failure = time.monotonic(), ""
    with tempfile.TemporaryDirectory(prefix="gpu-") as folder:
        grade, gradebook = grading.judge(Path(folder) / "course", n)
        done = subprocess.run([*grade, "--device", device], cwd=gradebook.parent, capture_output=True, text=True)
        verdicts = grading.entered(gradebook)
        if done.returncode not in (0, 1) or verdicts != n * len(load_oracle(COURSE, grading.TP).source.exercises):
            failure = f"{verdicts} scores entered\n" + (done.stdout + done.stderr)[-2000:]
    return {"what": f"a class of {n} graded in the sandbox", "seconds": time.monotonic() - started, "failure": failure}


def greedy(device):
    """A submission that takes all memory it can get on the device, and behind it a right one: full marks."""
    started, failure = time.monotonic(), ""
    right = notebooks.solved(COURSE, grading.TP)
    with Judge(COURSE, Options(device)) as judge:
        scores = []
        for own_cells in ((GREEDY.format(device=device),), ()):
            data = nbformat.writes(notebooks.filled(COURSE, grading.TP, right, own_cells)).encode()
            verdict = judge.judge(Submission(data, grading.TP), "seed")
            scores.append((verdict.points, verdict.notes))
    if not scores[0][1] or scores[1] != (verdict.max_points, ()):
        failure = f"the greedy one: {scores[0]}; the one behind it: {scores[1]}"
    return {"what": "a submission that takes all memory, and the next one", "seconds": time.monotonic() - started,
            "failure": failure}


def agreement(name, device):
    """Of all checks of a TP: the largest share of its tolerance that a number needs on this device, and how many checks
    do not answer the same bits twice."""
    oracle, largest, unlike, checks = load_oracle(COURSE, name), 0.0, 0, 0
    for check in oracle.checks:
        record = oracle.recorder.record(check, 1)[0]
        first, second = (replay(record.ops, oracle.namespace, device) for _ in range(2))
        checks += 1
        unlike += not alike(first, second)
        for output, spec in record.specs.items():
            expected, got = record.expected.outputs[output], first.outputs.get(output)
            if isinstance(expected, ArrayValue) and isinstance(got, ArrayValue) and not spec.predicate:
                largest = max(largest, share(expected.array, got.array, spec))
    return {"name": name, "checks": checks, "share": largest, "unlike": unlike}


def alike(first, second):
    """Whether two replies hold the same arrays, bit by bit."""
    arrays = [{name: value.array.tobytes() for name, value in reply.outputs.items() if isinstance(value, ArrayValue)}
              for reply in (first, second)]
    return arrays[0] == arrays[1]


def share(expected, got, spec):
    """How much of its tolerance the worst number of an array needs; 0 where there are none."""
    base = compare.TOLERANCE.get(expected.dtype.name)
    if base is None or expected.shape != got.shape or not expected.size:
        return 0.0
    relative = base if spec.rtol is None else spec.rtol
    absolute = base if spec.atol is None else spec.atol
    if spec.atol_of_max is not None:
        absolute = spec.atol_of_max * np.abs(expected).max()
    finite = np.isfinite(expected) & np.isfinite(got)
    allowed = absolute + relative * np.abs(expected)
    return float((np.abs(expected - got) / allowed)[finite].max(initial=0))


def steps(H, device, repeats):
    """Milliseconds of a training step with H hidden units on the CPU (as many threads as torch takes) and the GPU."""
    return {"H": H, **{name: [step_ms(H, name) for _ in range(repeats)] for name in ("cpu", device)}}


def training_step(recipe, n_digits, device):
    """What makes one training step, forward and backward, Adam included, always of the same batch."""
    model = learning.Couple(recipe).to(device)
    optimizer = torch.optim.Adam(model.parameters(), fused=True)
    sample = arithmetic.draw(np.random.default_rng(), recipe.batch, n_digits, recipe.operators)
    encoder_ids, decoder_ids = (ids.to(device) for ids in arithmetic.encoded(*sample, n_digits, recipe.operators))
    decoder_input, target = arithmetic.shifted(decoder_ids)

    def step():
        logits = model(encoder_ids.int(), decoder_input.int())
        optimizer.zero_grad()
        F.cross_entropy(logits.flatten(0, 1), target.long().flatten()).backward()
        optimizer.step()

    return step


def step_ms(H, device, at_least=0.5):
    """Milliseconds on the clock of one step, forward and backward, Adam included."""
    train = training_step(learning.Recipe("", "+-", 0, hidden=H, batch=BATCH), 3, device)

    def step():
        train()
        if device != "cpu":
            torch.cuda.synchronize()

    step()
    done, started = 0, time.monotonic()
    while time.monotonic() - started < at_least:
        step()
        done += 1
    return 1000 * (time.monotonic() - started) / done


def failures(results):
    """What failed, in words."""
    failed = [f"{row['what']}: {row['failure']}" for row in results["rows"] if row["failure"]]
    return failed + [f"{session['name']}: needs {session['share']:.2g} times its tolerance"
                     for session in results["numbers"] if session["share"] > 1]


def report(results, picture):
    (device,) = {key for step in results["steps"] for key in step} - {"H", "cpu"}
    rows = [[row["what"], f"{row['seconds']:.0f} s", "**failed**" if row["failure"] else "all well"]
            for row in results["rows"]]
    rows += [[f"{session['name']}: numbers of {session['checks']} checks",
              f"{100 * session['share']:.2g} % of the tolerance",
              f"{session['unlike']} not the same twice" if session["unlike"] else "the same twice"]
             for session in results["numbers"]]
    rows += [[f"training step, {step['H']} units, batch of {BATCH}, CPU and GPU",
              f"{spread(step['cpu'])} and {spread(step[device])} ms",
              f"{np.median(step['cpu']) / np.median(step[device]):.1f} times"] for step in results["steps"]]
    return (f"{results['device']}, torch {results['torch']}. Written by `make gpu`, which fails where a row does.\n\n"
            + table(["what", "measured", "result"], rows))
