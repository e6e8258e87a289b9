"""Two submissions of one run that try to talk: by locks, terminals, random numbers; each channel with a control."""

import json

import bare
import pytest

from autograder.sandbox import restrictions, syscalls
from autograder.sandbox.host import Sandbox
from autograder.sandbox.options import Options
from autograder.sandbox.watchdog import Budget
from conftest import SHORT

COMMON = """
import fcntl, json, os, struct
shared, ours = open(os.__file__), open("/kernel.py")

def is_locked():
    try:
        fcntl.flock(open(os.__file__), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    return False

def range_is_locked():
    asked = struct.pack("hhqqi", fcntl.F_WRLCK, 0, 7, 1, 0)
    return struct.unpack("hhqqi", fcntl.fcntl(shared, fcntl.F_GETLK, asked))[0] != fcntl.F_UNLCK

def hint():
    try:
        return fcntl.fcntl(ours, 1035, bytes(8))[0]
    except PermissionError:
        return 0

def give_hint(number):
    try:
        fcntl.fcntl(ours, 1036, struct.pack("Q", number))
    except PermissionError:
        pass

def terminals():
    return [name for name in os.listdir("/dev/pts") if name.isdigit()]
"""
# What the one does, and how the other hears of it.
CHANNELS = {
    "a lock on a file": ("fcntl.flock(shared, fcntl.LOCK_EX)", "is_locked()"),
    "a lock on a byte": ("fcntl.lockf(shared, fcntl.LOCK_SH, 1, 7)", "range_is_locked()"),
    "a lock of an open file": ("fcntl.fcntl(shared, 37, struct.pack('hhqqi', fcntl.F_RDLCK, 0, 7, 1, 0))",
                               "range_is_locked()"),
    "a hint that is kept with a file": ("give_hint(3)", "hint() == 3"),
    "a terminal": ("held = os.openpty()", "terminals() != []"),
}
LOCKS = [name for name in CHANNELS if "lock" in name]


def tell(kernel, code):
    ran = kernel.run_cell(f"{COMMON}\n{code}", Budget(5, 200))
    assert ran.error is None, ran.error
    return ran.printed


def heard(parent, channels):
    """Of each channel, whether the other of two kernels at the same time hears the one."""
    parent.start()
    with parent.clone() as left, parent.clone() as right:
        one, other = left.fork(1), right.fork(2)
        found = {}
        for name in channels:
            says, hears = CHANNELS[name]
            assert json.loads(tell(other, f"print(json.dumps({hears}))")) is False
            tell(one, says)
            found[name] = json.loads(tell(other, f"print(json.dumps({hears}))"))
            tell(one, "fcntl.flock(shared, fcntl.LOCK_UN); fcntl.lockf(shared, fcntl.LOCK_UN); shared.close()")
            tell(one, "give_hint(0)")
            one.kill()
            one = left.fork(1)
        return found


def test_two_kernels_at_the_same_time_do_not_hear_each_other(tmp_path, monkeypatch):
    text, terminals = bare.text(), 'if _libc.mount(b"devpts"'
    (tmp_path / "kernel.py").write_text(text)
    monkeypatch.setattr(restrictions, "KERNEL", tmp_path / "kernel.py")
    with Sandbox([], Options(limits=SHORT)) as parent:
        assert heard(parent, CHANNELS) == dict.fromkeys(CHANNELS, False)
    assert text.count(terminals) == 1
    (tmp_path / "kernel.py").write_text(text.replace(terminals, "if 0 and " + terminals[3:]))
    monkeypatch.setattr(syscalls, "bpf_filter", lambda options: b"")
    with Sandbox([], Options(limits=SHORT)) as parent:
        assert heard(parent, CHANNELS) == dict.fromkeys(CHANNELS, True), "the control"


TERMINALS = """
import subprocess, sys
code = '''
import os, time
try:
    for _ in range(245):
        os.open("/dev/ptmx", os.O_RDWR | os.O_NOCTTY)
except OSError:
    pass
print(flush=True)
time.sleep(100)
'''
held = [subprocess.Popen([sys.executable, "-I", "-S", "-c", code], stdout=subprocess.PIPE) for _ in range(14)]
print([one.stdout.readline() for one in held])
"""


@pytest.mark.parametrize("bounded", [True, pytest.param(False, marks=pytest.mark.slow)], ids=["", "without"])
def test_who_takes_all_terminals_leaves_the_others_theirs(tmp_path, monkeypatch, bounded):
    """Their number is the machine's; a cell with a command of the shell needs one."""
    text, bound = bare.text(), ',max=%d" % config.processes'
    assert text.count(bound) == 1
    (tmp_path / "kernel.py").write_text(text if bounded else text.replace(bound, '"'))
    monkeypatch.setattr(restrictions, "KERNEL", tmp_path / "kernel.py")
    with Sandbox([], Options(limits=SHORT)) as parent:
        parent.start()
        with parent.clone() as left, parent.clone() as right:
            one, other = left.fork(1), right.fork(2)
            assert one.run_cell(TERMINALS, Budget(20, 200)).error is None
            ran = other.run_cell("!echo there", Budget(20, 200))
            assert ("there" in ran.printed) is bounded


@pytest.fixture(scope="module")
def parent():
    """A sandbox."""
    with Sandbox([], Options(limits=SHORT)) as made:
        yield made


DRAWS = "import random, numpy, torch\nprint([random.random(), numpy.random.rand(), torch.rand(1).item()])"


def test_random_numbers_are_of_the_submission_and_the_same_again(parent):
    drawn = [parent.fork(seed) for seed in (1, 2, 1)]
    first, second, again = (json.loads(tell(one, DRAWS)) for one in drawn)
    assert first == again
    assert all(mine != theirs for mine, theirs in zip(first, second, strict=True))


def test_a_database_in_a_file_works(parent):
    """It locks its file."""
    assert tell(parent.fork(), """
import sqlite3
with sqlite3.connect("mine.db") as database:
    database.execute("create table t (n)")
    database.execute("insert into t values (7)")
print(sqlite3.connect("mine.db").execute("select n from t").fetchall())
""") == "[(7,)]\n"
