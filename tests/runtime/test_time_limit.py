"""Bounds of time, within each other, and what they never interrupt."""

import contextlib
import gc
import signal
import sys
import threading
import time
from _thread import interrupt_main

import pytest

from autograder.runtime import time_limit as module
from autograder.runtime.time_limit import TimeLimitExceeded, cpu_time_limit, time_limit, timer_limit

with_alarms = pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="there are no alarms here")


def test_a_bound_within_a_bound_leaves_the_outer_one():
    """The outer one has long passed when the inner one ends, and still stops what comes then."""
    with pytest.raises(TimeLimitExceeded), time_limit(0.05):
        for _ in range(3):
            with time_limit(60):
                pass
        while time.sleep(0.01) is None:
            pass
    with time_limit(60):
        with pytest.raises(TimeLimitExceeded), time_limit(0.02):
            while time.sleep(0.01) is None:
                pass


def test_the_outer_of_two_bounds_ends_the_inner_one_and_then_its_own_block():
    began = time.monotonic()
    with pytest.raises(TimeLimitExceeded), time_limit(0.05):
        with contextlib.suppress(TimeLimitExceeded), time_limit(60):
            time.sleep(10)
        time.sleep(10)
    assert time.monotonic() - began < 5


@contextlib.contextmanager
def left_slowly(left, seconds):
    """Stop for a while where it is left, and note that it went on after that."""
    try:
        yield
    finally:
        time.sleep(seconds)
        left.append(True)


@with_alarms
def test_a_context_manager_is_left_before_the_block_is_interrupted():
    left, after = [], []
    with pytest.raises(TimeLimitExceeded), time_limit(0.05):
        with left_slowly(left, 0.3):
            pass
        while time.sleep(0.01) is None:
            after.append(True)
    assert left and len(after) < 20


@with_alarms
def test_a_context_manager_that_is_never_left_is_interrupted_too(monkeypatch):
    monkeypatch.setattr(module, "MAX_DELAYS", 20)
    with pytest.raises(TimeLimitExceeded), time_limit(0.05), left_slowly(left := [], 60):
        pass
    assert not left


@with_alarms
@pytest.mark.parametrize(("function", "at_end"), [("getitimer", False), ("setitimer", False), ("setitimer", True)])
def test_an_alarm_that_rings_where_a_block_begins_or_ends_does_nothing(monkeypatch, function, at_end):
    def installed():
        """The handler, and whether the alarm is still far, as one of the tests' own may be."""
        left = signal.getitimer(signal.ITIMER_REAL)[0]
        return signal.getsignal(signal.SIGALRM), left and left > 5

    rung, call, before = [], getattr(signal, function), installed()

    def ringing(*args):
        result = call(*args)
        monkeypatch.undo()
        rung.append(signal.raise_signal(signal.SIGALRM))
        return result

    if not at_end:
        monkeypatch.setattr(signal, function, ringing)
    with timer_limit(60, signal.SIGALRM, signal.ITIMER_REAL, TimeLimitExceeded):
        if at_end:
            monkeypatch.setattr(signal, function, ringing)
    assert rung and installed() == before


@pytest.mark.parametrize("seconds", [0.0, -1.0])
def test_where_no_time_is_left_a_block_ends_at_once(seconds):
    with pytest.raises(TimeLimitExceeded), time_limit(seconds):
        time.sleep(10)


@with_alarms
def test_no_callback_of_the_garbage_collector_is_interrupted():
    ended = []

    def called_back(phase, info):
        time.sleep(0.1)
        ended.append(phase)

    gc.callbacks.append(called_back)
    try:
        with pytest.raises(TimeLimitExceeded), time_limit(0.02):
            called_back("start", {})  # the collector itself takes a time of its own
            time.sleep(10)
    finally:
        gc.callbacks.remove(called_back)
    assert "start" in ended, "an error there would be dropped"


def endless():
    while True:
        try:
            while True:
                pass
        except Exception:
            pass


@pytest.mark.parametrize("alarm", [True, False])
def test_what_does_not_end_is_stopped_with_and_without_an_alarm(monkeypatch, alarm):
    if not alarm:
        monkeypatch.delattr(module.signal, "SIGALRM")
    with pytest.raises(TimeLimitExceeded), time_limit(0.1):
        endless()
    with time_limit(30):
        pass
    with pytest.raises(KeyboardInterrupt), time_limit(30):  # somebody else's is passed on
        raise KeyboardInterrupt


def test_an_interruption_that_comes_when_the_block_ends_is_still_one_of_the_block(monkeypatch):
    def late():
        time.sleep(0.2)
        interrupt_main()

    monkeypatch.delattr(module.signal, "SIGALRM")
    monkeypatch.setattr(module, "interrupt_main", late)
    with pytest.raises(TimeLimitExceeded), time_limit(0.05):
        time.sleep(0.1)
    time.sleep(0.3)


def burn(seconds):
    """Take so many CPU seconds."""
    began = time.process_time()
    while time.process_time() - began < seconds:
        pass


@with_alarms
def test_a_bound_of_cpu_seconds_counts_no_sleep():
    with cpu_time_limit(0.3):
        time.sleep(0.5)
    with pytest.raises(TimeLimitExceeded), cpu_time_limit(0.02):
        burn(10)


@with_alarms
def test_time_that_passes_within_a_bound_of_cpu_seconds_takes_nothing_of_the_one_around_it(monkeypatch):
    later = time.monotonic() + 1000
    with cpu_time_limit(60), monkeypatch.context() as patch:
        with cpu_time_limit(50):
            patch.setattr(time, "monotonic", lambda: later)
        assert signal.getitimer(signal.ITIMER_PROF)[0] > 50


def test_where_nothing_can_be_interrupted_there_is_no_bound(monkeypatch):
    ended = []

    def in_another_thread():
        for limit in (time_limit, cpu_time_limit):
            with limit(0.01):
                burn(0.05)
                ended.append(limit)

    thread = threading.Thread(target=in_another_thread)
    thread.start()
    thread.join()
    assert ended == [time_limit, cpu_time_limit]
    monkeypatch.delattr(module.signal, "SIGPROF", raising=False)
    with cpu_time_limit(0.01):
        burn(0.05)


@with_alarms
def test_what_is_left_of_the_bound_around_a_block_goes_on_counting():
    with time_limit(60):
        with time_limit(50):
            time.sleep(0.3)
        left, again = signal.getitimer(signal.ITIMER_REAL)
        assert 0 < left <= 59.7 and again == module.REPEAT_SECONDS


def test_an_error_is_lost_in_a_context_manager_and_in_a_callback_alone():
    around, found = sys._getframe(), []

    def ask(*_):
        found.append(module._would_lose_errors(sys._getframe(), around))

    @contextlib.contextmanager
    def asking():
        ask()
        yield

    ask()
    with asking():
        ask()
    gc.disable()  # else the collector may ask, too
    gc.callbacks.append(ask)
    try:
        ask()
    finally:
        gc.callbacks.remove(ask)
        gc.enable()
    assert found == [False, True, False, True]
