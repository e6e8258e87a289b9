"""Fixtures that many tests share: the tiny TP, a judge on it, submissions of it."""

import hashlib
from pathlib import Path

import nbformat
import pytest

import autograder.checks
import autograder.mistakes
from autograder import demo, source
from autograder.judge import Judge
from autograder.sandbox import Limits

FIXTURES = Path(__file__).parent / "fixtures"
TINY = "tp0_tiny"
SHORT = Limits(cell_seconds=2, exercise_seconds=2, notebook_seconds=40, patience=10, memory=2 * 2**30, processes=48, disk=16 * 2**20)


@pytest.fixture
def tiny(monkeypatch):
    """The course consists of the tiny TP alone."""
    monkeypatch.setattr(source, "SOLUTIONS", FIXTURES / "tiny" / "solutions")
    monkeypatch.setattr(autograder.checks, "__path__", [*autograder.checks.__path__, str(FIXTURES / "tiny" / "checks")])
    monkeypatch.setattr(autograder.mistakes, "__path__", [*autograder.mistakes.__path__, str(FIXTURES / "tiny" / "mistakes")])
    return TINY


@pytest.fixture(scope="session")
def short_judge():
    """A judge in bubblewrap with short deadlines; its warm parent serves all tests of the session."""
    with Judge(SHORT) as judge:
        yield judge


@pytest.fixture
def grade(tiny, short_judge):
    """Grade cells (exercise → source), with cells of the student's own at the end."""

    def run(cells=None, own=(), edit=None, seed="seed"):
        notebook = demo.notebook(TINY, cells or {}, tuple(own))
        if edit:
            notebook = edit(notebook) or notebook
        return short_judge.grade(nbformat.writes(notebook).encode() if not isinstance(notebook, bytes) else notebook, TINY, seed)

    return run


@pytest.fixture
def right(tiny):
    """The right answers of the tiny TP."""
    return demo.solved(TINY)


def fingerprint(*folders) -> str:
    """A digest of every file below these folders."""
    digest = hashlib.sha256()
    for folder in folders:
        for path in sorted(p for p in Path(folder).rglob("*") if p.is_file() and "__pycache__" not in p.parts):
            digest.update(f"{path}\n".encode() + path.read_bytes())
    return digest.hexdigest()
