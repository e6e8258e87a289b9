"""A course in plain numpy, where torch is not installed: released, checked in a notebook, judged and audited."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import TESTS

NAME = "nearest"
# Python imports this module wherever it starts, in the sandbox too: it lies among the course's helpers.
WITHOUT_TORCH = '''import sys


class WithoutTorch:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] == "torch":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


sys.meta_path.insert(0, WithoutTorch)
'''


@pytest.fixture(scope="module")
def typed(tmp_path_factory):
    """Type a command of Python's in the folder of the course: (exit status, what it prints)."""
    root = tmp_path_factory.mktemp("plain") / "course"
    shutil.copytree(TESTS / "fixtures" / "plain", root, ignore=shutil.ignore_patterns("__pycache__"))
    (root / "course").mkdir()
    (root / "course" / "sitecustomize.py").write_text(WITHOUT_TORCH)

    def run(*command, at="."):
        done = subprocess.run([sys.executable, *command], cwd=root / at, capture_output=True, text=True, timeout=300,
                              env={**os.environ, "PYTHONPATH": str(root / "course")})
        return done.returncode, done.stdout + done.stderr

    assert "No module named 'torch'" in run("-c", "import torch")[1]
    status, said = run("-m", "autograder.cli", "release")
    assert status == 0 and f"{NAME}: course/{NAME}/ and its self-checks" in said, said
    assert "no relation tries" not in said
    return run


def autograder(typed, *command):
    return typed("-m", "autograder.cli", *command)


@pytest.mark.slow
def test_its_solution_has_all_points_and_its_release_none(typed):
    for folder, share in (("solutions", 1), ("course", 0)):
        status, said = autograder(typed, "check", "--json", f"{folder}/{NAME}/{NAME}.ipynb")
        verdict = json.loads(said.splitlines()[0])
        assert (status, verdict["score"]) == (1 - share, 5 * share), said


@pytest.mark.slow
def test_a_notebook_checks_itself(typed):
    source = Path(TESTS / "fixtures" / "plain" / "solutions" / NAME / f"{NAME}.py").read_text()
    status, said = typed("-c", source, at=f"course/{NAME}")
    assert status == 0 and said.count("all 2 checks pass") == 2, said
    status, said = typed("-c", source.replace("axis=1, keepdims", "axis=0, keepdims"), at=f"course/{NAME}")
    assert "Each row has a mean of its own." in said


@pytest.mark.slow
def test_its_faults_are_caught_its_variants_pass_and_no_mutant_survives(typed):
    status, said = autograder(typed, "audit")
    assert status == 0 and "4 faults, 2 variants, 3 seeds: all caught, named and passed" in said, said
    status, said = autograder(typed, "audit", "--mutants")
    assert status == 0 and "0 survived" in said, said
