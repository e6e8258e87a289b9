"""A course in plain numpy, where torch is not installed: released, checked in a notebook, graded and audited."""

import json
import os
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from autograder.publish import new
from autograder.runtime import arrays
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
    new.write_template(root, "nbgrader_config.py", "plain")
    (root / "course" / "sitecustomize.py").write_text(WITHOUT_TORCH)

    def run(*command, at="."):
        done = subprocess.run([sys.executable, *command], cwd=root / at, capture_output=True, text=True, timeout=300,
                              env={**os.environ, "PYTHONPATH": str(root / "course")})
        return done.returncode, done.stdout + done.stderr

    assert "No module named 'torch'" in run("-c", "import torch")[1]
    status, said = run("-m", "autograder", "release")
    assert status == 0 and f"{NAME}: course/{NAME}/ and its self-checks" in said, said
    assert "no relation tries" not in said
    return run


def autograder(typed, *command):
    return typed("-m", "autograder", *command)


def test_a_kernel_has_random_numbers_of_its_own_where_there_is_no_torch(monkeypatch):
    monkeypatch.setattr(arrays, "torch_or_none", lambda: None)
    drawn = []
    for seed in (3, 3, 4):
        arrays.seed_all(seed, lazily=True)
        drawn.append((random.random(), np.random.random()))
    assert drawn[0] == drawn[1] != drawn[2]


@pytest.mark.slow
def test_its_solution_has_all_points_and_its_release_none(typed):
    for folder, share in (("solutions", 1), ("course", 0)):
        status, said = autograder(typed, "check", "--json", f"{folder}/{NAME}/{NAME}.ipynb")
        verdict = json.loads(said.splitlines()[0])
        assert (status, verdict["points"]) == (1 - share, 5 * share), said


@pytest.mark.slow
def test_a_notebook_checks_itself(typed):
    source = Path(TESTS / "fixtures" / "plain" / "solutions" / NAME / f"{NAME}.py").read_text()
    status, said = typed("-c", source, at=f"course/{NAME}")
    assert status == 0 and said.count("all 2 checks pass") == 2, said
    status, said = typed("-c", source.replace("axis=1, keepdims", "axis=0, keepdims"), at=f"course/{NAME}")
    assert "Each row has a mean of its own." in said


@pytest.mark.slow
def test_a_class_is_graded_and_reads_its_feedback(typed, tmp_path):
    """Bob forgets `keepdims`; ada's is the notebook of the solution, eve's the released one."""
    root = Path(typed("-c", "import os; print(os.getcwd())")[1].strip())
    solution = (root / "solutions" / NAME / f"{NAME}.ipynb").read_text(encoding="utf-8")
    handed = {"ada": solution, "bob": solution.replace("axis=1, keepdims", "axis=0, keepdims"),
              "eve": (root / "course" / NAME / f"{NAME}.ipynb").read_text(encoding="utf-8")}
    for student, notebook in handed.items():
        folder = root / "gradebook" / "submitted" / student / NAME
        folder.mkdir(parents=True)
        (folder / f"{NAME}.ipynb").write_text(notebook, encoding="utf-8")
    status, said = autograder(typed, "grade")
    lines = dict(line.split(maxsplit=1) for line in said.splitlines() if line.startswith(tuple(handed)))
    assert status == 0 and [re.search(r"(\S+)/5 ", lines[student])[1] for student in handed] == ["5", "3", "0"], said
    status, said = autograder(typed, "feedback")
    page = (root / "gradebook" / "feedback" / "bob" / NAME / f"{NAME}.html").read_text(encoding="utf-8")
    assert status == 0 and "Each row has a mean of its own." in page, said
    status, said = autograder(typed, "report")
    assert status == 0 and "bob" in (root / "gradebook" / "report" / "index.html").read_text(encoding="utf-8"), said


@pytest.mark.slow
def test_its_faults_are_caught_its_variants_pass_and_no_mutant_survives(typed):
    status, said = autograder(typed, "audit")
    assert status == 0 and "4 faults, 2 variants, 3 seeds: all caught, named and passed" in said, said
    status, said = autograder(typed, "audit", "--mutants")
    assert status == 0 and "0 survived" in said, said
