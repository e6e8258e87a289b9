"""A call in a copy of this process: its answer comes back, and nothing else, whatever it does."""

import ctypes
import os
import sys
import time

import pytest

from autograder.runtime.locate import fork as module
from autograder.runtime.locate.fork import call_in_fork

ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="a process is copied on Linux alone")


@ON_LINUX
def test_the_answer_comes_back_and_no_trace_of_what_was_done(capfd):
    kept = []
    assert call_in_fork(lambda: bytes(kept.append(1) or b"right") + bytes(str(kept), "ascii"), 60) == b"right[1]"
    assert kept == []
    call_in_fork(lambda: os.write(1, b"said") and print("said", file=sys.stderr) or b"", 60)
    assert capfd.readouterr() == ("", "")


@ON_LINUX
@pytest.mark.parametrize("call", [lambda: 1 / 0, lambda: os._exit(3), lambda: ctypes.string_at(0),
                                  lambda: bytes(8 * module.EXTRA_MEMORY), lambda: "text", lambda: b""],
                         ids=["raises", "exits", "crashes", "is too large", "is no bytes", "is empty"])
def test_a_copy_that_comes_to_nothing_is_none(call, capfd):
    assert call_in_fork(call, 60) is None
    assert capfd.readouterr() == ("", "")


@ON_LINUX
def test_a_copy_that_does_not_end_is_ended(tmp_path):
    def forever():
        (tmp_path / "begun").write_text(str(os.getpid()))
        while True:
            time.sleep(0.01)

    assert call_in_fork(forever, 0.5) is None
    if (tmp_path / "begun").is_file():
        with pytest.raises(ProcessLookupError):
            os.kill(int((tmp_path / "begun").read_text()), 0)


@ON_LINUX
def test_what_interrupts_the_call_ends_the_copy(monkeypatch):
    calls = []
    monkeypatch.setattr(module.select, "poll", lambda: calls.append("waits") or 1 / 0)
    with pytest.raises(ZeroDivisionError):
        call_in_fork(lambda: time.sleep(60), 60)
    assert calls == ["waits"]


@ON_LINUX
def test_where_there_is_no_room_for_a_copy_there_is_no_answer(monkeypatch):
    def none():
        raise BlockingIOError("Resource temporarily unavailable")

    before = len(os.listdir("/proc/self/fd"))
    monkeypatch.setattr(os, "fork", none)
    assert call_in_fork(lambda: b"right", 60) is None
    assert len(os.listdir("/proc/self/fd")) == before


def test_elsewhere_no_process_is_copied(monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(os, "fork", lambda: 1 / 0)
    assert call_in_fork(lambda: b"right", 60) is None
