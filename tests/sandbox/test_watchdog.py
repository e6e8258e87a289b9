"""What a kernel uses is added up, and a budget says when it is spent: by clocks that the test owns."""

import ctypes
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from autograder.sandbox import watchdog
from autograder.sandbox.watchdog import BYTES_OF_AN_OPEN_FILE, Budget, Usage, memory_bytes, usage_beneath

STATUS = watchdog.status


class Process:
    """A process that has used so much; one that has ended has nothing to say."""

    def __init__(self, times=(0, 0, 0, 0), memory=0, files=0, children=(), ended=False):
        self.times, self.memory, self.files, self.below, self.ended = times, memory, files, children, ended

    def children(self, recursive=False):
        below = list(self.below)
        return below + [one for child in below for one in child.children(True)] if recursive else below

    def cpu_times(self):
        if self.ended:
            raise psutil.NoSuchProcess(1)
        return SimpleNamespace(**dict(zip(("user", "system", "children_user", "children_system"), self.times,
                                          strict=True)))

    def num_fds(self):
        if self.files is None:
            raise psutil.AccessDenied(1)
        return self.files


@pytest.fixture(autouse=True)
def status(monkeypatch):
    """What the system says of a process that is none of its own; real kernels may be looked at meanwhile."""
    def told(process):
        if isinstance(process, psutil.Process):
            return STATUS(process)
        return {b"Name": [b"x"], b"VmRSS": [b"%d" % process.memory, b"kB"], b"FDSize": [b"64"]}

    monkeypatch.setattr(watchdog, "status", told)


def test_everything_beneath_a_process_counts_and_of_itself_the_children_that_have_ended():
    grandchild = Process((1, 2, 4, 8), 100, 1)
    child = Process((16, 32, 64, 128), 1000, 2, [grandchild])
    parent = Process((5000, 5000, 256, 512), 10**9, 99, [child, Process(ended=True, memory=7, files=7)])
    assert usage_beneath(parent) == Usage(1100 * 1024 + 3 * BYTES_OF_AN_OPEN_FILE, 2, 1023)


def test_memory_in_the_swap_and_tables_of_pages_count():
    status = {b"Name": [b"python"], b"VmPeak": [b"900", b"kB"], b"VmRSS": [b"100", b"kB"], b"VmPTE": [b"20", b"kB"],
              b"VmSwap": [b"3", b"kB"], b"Threads": [b"1"]}
    assert memory_bytes(status) == 123 * 1024
    assert memory_bytes({b"Name": [b"kthreadd"]}) == 0


@pytest.mark.parametrize("name", [b"\xff\xfe", b"\x0bVmRSS:\t-999999", b"\x85VmRSS: 9", b"\x1cNSpid:\t7",
                                  b"\nVmRSS: 1", b"a: b"])
def test_a_process_may_have_any_name_and_tells_nothing_by_it(name):
    """The name is the process's own; read as lines of text, each of these is an error, or a field of its making."""
    libc, own = ctypes.CDLL(None), Path("/proc/self/comm").read_bytes().strip()
    plain = STATUS(psutil.Process())
    libc.prctl(15, name)
    try:
        named = STATUS(psutil.Process())
    finally:
        libc.prctl(15, own)
    assert named.keys() == plain.keys() and named[b"Name"] != plain[b"Name"]
    assert named[b"NSpid"] == plain[b"NSpid"]
    assert abs(memory_bytes(named) - memory_bytes(plain)) < 2**24


def test_descriptors_that_may_not_be_counted_are_as_many_as_there_is_room_for():
    """A program that nobody may read lets no ordinary user see what it has open."""
    assert usage_beneath(Process(children=[Process(memory=5, files=None)])) == Usage(
        5 * 1024 + 64 * BYTES_OF_AN_OPEN_FILE, 1, 0)


def test_a_parent_that_has_ended_costs_nothing_and_nor_does_one_without_children():
    assert usage_beneath(Process((1, 1, 0, 0))) == usage_beneath(Process(ended=True)) == Usage(0, 0, 0)
    assert usage_beneath(Process(ended=True, children=[Process((1, 0, 0, 0), 5)])) == Usage(5 * 1024, 1, 1)


def test_an_open_file_counts_as_the_guarantees_say():
    """Linux keeps so much for what is sent, and as much for what is received, by default."""
    assert BYTES_OF_AN_OPEN_FILE == 2 * 208 * 1024
    assert BYTES_OF_AN_OPEN_FILE / 2**20 == pytest.approx(0.4, abs=0.01)


def test_a_budget_is_spent_when_more_was_computed_than_there_was():
    budget = Budget(cpu_limit=2, wall_limit=10)
    budget.book(1.5, 4)
    budget.book(0.5, 6)
    assert (budget.cpu_used, budget.wall_used) == (2, 10) and budget.exceeded() is None
    budget.book(0.25, 0)
    assert budget.exceeded() == "it computed for more than 2 seconds; is there a loop that does not end?"


def test_a_budget_is_spent_when_more_time_has_passed():
    budget = Budget(cpu_limit=2, wall_limit=10)
    budget.book(0, 10.25)
    assert budget.exceeded() == ("it took more than 10 seconds, most of them waiting; "
                               "is there a loop that does not end?")


def test_what_is_spent_of_a_part_is_spent_of_the_whole_and_there_by_the_clock_alone():
    whole = Budget(cpu_limit=1, wall_limit=15)
    parts = [Budget(2, 10, whole), Budget(2, 10, whole)]
    for part in parts:
        part.book(1.5, 7.5)
    assert (whole.cpu_used, whole.wall_used) == (3, 15)
    assert [part.exceeded() for part in parts] == [None, None]
    parts[0].book(0, 0.5)
    assert [part.exceeded() for part in parts] == ["the whole notebook took more than 15 seconds"] * 2
