"""A class judged on a Dask cluster: a real scheduler and two workers over TCP, one of which is killed."""

import re
import subprocess
import sys
import threading
import time

import pytest

from autograder import cli, demo
from autograder.classroom import Course, grade_class
from autograder.sandbox import SandboxError
from autograder.source import COURSE, ROOT

distributed = pytest.importorskip("distributed", reason="the extra 'cluster' is not installed")
REAL = "tp3_seq2seq"


@pytest.fixture
def cluster(tmp_path):
    """(address, workers): nothing is shared with the workers but the installed package."""
    import os

    environment = {**os.environ, "PYTHONPATH": f"{ROOT}:{COURSE}"}

    def start(*command):
        return subprocess.Popen([sys.executable, "-m", *command], stderr=subprocess.PIPE, text=True, cwd=tmp_path, env=environment)

    scheduler = start("distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
    address = next(m[1] for line in scheduler.stderr if (m := re.search(r"(tcp://127\.0\.0\.1:\d+)", line)))
    drain = [scheduler]
    workers = [start("distributed.cli.dask_worker", address, "--no-dashboard", "--nthreads", "1", "--no-nanny") for _ in range(2)]
    for process in drain + workers:
        threading.Thread(target=process.stderr.read, daemon=True).start()
    yield address, workers
    for process in [*workers, scheduler]:
        process.kill()
        process.wait()


@pytest.mark.slow
def test_a_worker_lost_in_the_middle_costs_nothing(cluster, tmp_path):
    address, workers = cluster
    root, right = demo.course_root(tmp_path / "course", [REAL]), demo.solved(REAL)
    for i in range(8):
        demo.hand_in(root, f"student-{i}", REAL, demo.notebook(REAL, right if i % 2 else {"shift": right["shift"]}))
    killed = []

    def each(outcome, done, total):
        if done == 2:
            workers[0].kill()
            killed.append(time.monotonic())

    with distributed.Client(address, timeout="60s") as client:
        client.wait_for_workers(2, timeout=120)
        with client.get_executor(pure=False, retries=3) as executor:
            outcomes = grade_class(Course(root), [REAL], jobs=2, executor=executor, each=each)
    assert killed and not any(outcome.problem for outcome in outcomes)
    assert [outcome.verdict["score"] for outcome in outcomes] == [2, 19] * 4


def test_no_scheduler_is_one_clear_line():
    args = type("Args", (), {"scheduler": "tcp://127.0.0.1:9"})
    with pytest.raises(SandboxError, match="no scheduler answers"):
        with cli._executor(args):
            pass
