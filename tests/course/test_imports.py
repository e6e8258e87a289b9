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


def test_the_judge_is_asked_before_anything_slow_is_imported():
    """`check` stops where it asks the process that judges, and until then has imported nothing that takes long."""
    code = f"""
from autograder import cli
from autograder.judging.judge_process import JudgeProcess
def begin(self, *asked):
    {BEFORE}
    raise SystemExit
JudgeProcess.judge = begin
cli.main(["check", "solutions/tp2_seq2seq/tp2_seq2seq.ipynb", "--device", "cpu"])
"""
    assert set(told(code)) <= {"jupytext"}, "it reads the source of the session, and nothing else is needed there"
