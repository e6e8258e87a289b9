"""A class judged on a Dask cluster: a real scheduler and two workers over TCP, one of which is killed."""

import argparse
import os
import re
import subprocess
import sys
import threading
import time

import pytest

from autograder.classroom.grading import grade_class
from autograder.classroom.nbgrader.term import Term
from autograder.classroom.samples import classroom_in, hand_in
from autograder.commands import classroom
from autograder.model.source import load_source
from autograder.publish.notebooks import filled, solved
from autograder.sandbox.restrictions import SandboxError
from conftest import REPOSITORY, automatic_points

REAL, FIRST = "tp2_seq2seq", "shift"


@pytest.fixture(scope="module")
def distributed():
    """Dask, where the extra is installed; it is slow to import."""
    return pytest.importorskip("distributed", reason="the extra 'cluster' is not installed")


@pytest.fixture
def cluster(tmp_path):
    """(address, workers): the workers have the installed packages, and read the same disk."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (REPOSITORY.root, REPOSITORY.released)))}

    def start(*command):
        return subprocess.Popen([sys.executable, "-m", *command], stderr=subprocess.PIPE, text=True, cwd=tmp_path,
                                env=environment)

    scheduler = start("distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
    address = next(m[1] for line in scheduler.stderr if (m := re.search(r"(tcp://127\.0\.0\.1:\d+)", line)))
    options = "--no-dashboard", "--nthreads", "1", "--no-nanny"
    workers = [start("distributed.cli.dask_worker", address, *options) for _ in range(2)]
    started = [*workers, scheduler]
    readers = [threading.Thread(target=process.stderr.read) for process in started]  # a full pipe would stop them
    for reader in readers:
        reader.start()
    yield address, workers
    for process, reader in zip(started, readers, strict=True):
        process.kill()
        process.wait()
        reader.join()
        process.stderr.close()


@pytest.mark.slow
def test_a_worker_lost_in_the_middle_costs_nothing(cluster, distributed, tmp_path):
    address, workers = cluster
    course, right = classroom_in(tmp_path / "course", REPOSITORY, [REAL]), solved(REPOSITORY, REAL)
    for i in range(8):
        cells = right if i % 2 else {FIRST: right[FIRST]}
        hand_in(course, f"student-{i}", REAL, filled(REPOSITORY, REAL, cells))
    killed = []

    def each(graded, done, total):
        if done == 2:
            workers[0].kill()
            killed.append(time.monotonic())

    with distributed.Client(address, timeout="60s") as client:
        client.wait_for_workers(2, timeout=120)
        with client.get_executor(pure=False, retries=3) as executor:
            graded = grade_class(Term(course), [REAL], workers=executor, each=each)
    assert killed and not any(one.problem for one in graded)
    expected = [load_source(REPOSITORY, REAL).points(FIRST), automatic_points(REPOSITORY, REAL)]
    assert [one.verdict.points for one in graded] == expected * 4


def test_no_scheduler_is_one_clear_line(distributed, monkeypatch):
    client = distributed.Client
    monkeypatch.setattr(distributed, "Client", lambda address, timeout: client(address, timeout="0.1s"))
    args = argparse.Namespace(scheduler="tcp://127.0.0.1:9")
    with pytest.raises(SandboxError, match="no scheduler answers"):
        with classroom._workers(args):
            pass
