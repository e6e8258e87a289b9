"""What is started often imports what it needs, when it needs it."""

import subprocess
import sys

import pytest

import tp

SLOW = {"torch", "matplotlib", "IPython", "jupytext"}
BEFORE = f"import sys; print(*{SLOW!r} & set(sys.modules))"


def told(code):
    """What a process of its own prints."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()


def test_the_names_of_the_helper_package_come_when_they_are_used():
    assert told(f"import tp; {BEFORE}") == []
    assert told(f"import tp; tp.table; {BEFORE}") == []
    assert all(callable(getattr(tp, name)) for name in tp.__all__)
    assert set(tp.__all__) < set(dir(tp))
    with pytest.raises(AttributeError, match="no attribute 'tabel'"):
        tp.tabel([])


@pytest.mark.slow
def test_a_first_self_check_needs_no_pictures():
    assert "matplotlib" not in told(f"import tp; tp.start; {BEFORE}")


def test_the_sandbox_starts_before_the_judge_imports(tmp_path):
    """`check` stops where its sandbox starts, and until then has imported nothing that takes long."""
    code = f"""
from autograder import cli
from autograder.sandbox.host import Sandbox
def begin(self):
    {BEFORE}
    raise SystemExit
Sandbox.begin = begin
cli.main(["check", "solutions/tp3_seq2seq/tp3_seq2seq.ipynb", "--device", "cpu"])
"""
    assert told(code) == []
