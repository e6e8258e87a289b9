"""Judges whatever bytes come as a notebook, or as a kernel's answer, without a kernel: for tests and for the fuzzer."""

import functools
import json
import threading
from typing import Any

import nbformat

from autograder.classroom.json_files import from_json, to_json
from autograder.judging import judge
from autograder.judging.judge import Judge
from autograder.judging.submission import Submission
from autograder.judging.verdict import Verdict
from autograder.publish import notebooks
from autograder.runtime import messages, wire
from autograder.sandbox.host import KernelClient
from autograder.sandbox.options import Options
from conftest import TINY, TINY_COURSE

RECORDS = functools.cache(judge.records_of)  # of the one seed that is used here
ANSWERED = nbformat.writes(notebooks.filled(TINY_COURSE, TINY, notebooks.solved(TINY_COURSE, TINY))).encode()
SILENT = wire.pack({"number": 1, "printed": "", "error": None, "reply": {
    "outputs": {}, "error": None, "mutating_ops": [], "forbidden_calls": [], "changed_state": []}})


class Puppet(KernelClient):
    """A kernel that gives one and the same answer to everything but the course's own first cell."""

    def __init__(self, sandbox: "Puppets"):
        self.fork_server, self.options, self.sock, self.guard = sandbox, sandbox.options, sandbox, 0
        self.says, self.begun = sandbox.says, False
        self._lock, self._ended, self._broken = threading.RLock(), threading.Event(), None

    _number = property(lambda self: 1, lambda self, number: None)

    def _exchange(self, data: bytes, watch: Any) -> bytes:
        watch.budget.book(1.0, 1.0)  # it takes its time, so that what it cannot answer ends
        says, self.begun = self.says if self.begun else SILENT, True
        return says


class Puppets:
    """What stands in for a sandbox, and for the socket of its kernels."""

    def __init__(self, says: bytes):
        self.says, self.options, self.reusable = says, Options(), True

    def fork(self, seed: int) -> Puppet:
        """A kernel."""
        return Puppet(self)

    def nothing(self, *_: Any) -> None:
        """No socket, no process."""

    start = load = kill = sendall = settimeout = close = nothing


def verdict_on(notebook: bytes = ANSWERED, says: bytes = SILENT) -> Verdict:
    """The verdict on these bytes as a notebook, whose kernel says this to whatever it is asked."""
    tiny_judge = Judge(TINY_COURSE)
    tiny_judge.sandbox = Puppets(says)
    records_of, judge.records_of = judge.records_of, RECORDS
    try:
        return tiny_judge.judge(Submission(notebook, TINY), "seed")
    finally:
        judge.records_of = records_of


def is_grade_and_reason(verdict: Verdict) -> None:
    """A grade, a reason, and nothing else: bounded, in words that can be printed, and the judge did not fail."""
    assert "the judge failed" not in str(verdict.ungraded_reason), verdict.ungraded_reason
    assert 0 <= verdict.points <= verdict.max_points == 8
    assert len(verdict.exercises) == 3
    for exercise in verdict.exercises:
        assert exercise.checks
        for check in exercise.checks:
            assert 0 < len(messages.result(check)) < 2_000 and messages.result(check).isprintable(), check
    assert len(to_json(verdict)) < 2**20
    assert from_json(to_json(verdict).encode(), Verdict, "it") == verdict
    json.dumps([verdict.notes])
