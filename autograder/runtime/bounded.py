"""Limit the time of a student's code in the notebook: an endless loop is stopped, and its line is known."""

import contextlib
import signal
import threading
import time
from _thread import interrupt_main
from collections.abc import Iterator
from types import FrameType

SOON = 0.001  # seconds
AGAIN = 1.0  # seconds after which code that caught the interruption is interrupted again


class TimeIsUp(BaseException):
    """The bound was reached. It is no ``Exception``, so that code that catches those does not catch it."""

    check = ""  # the check whose calls were made


@contextlib.contextmanager
def bounded(seconds: float) -> Iterator[None]:
    """Raise ``TimeIsUp`` in the block after so many seconds; only the main thread can be interrupted."""
    if threading.current_thread() is not threading.main_thread():
        yield
    elif hasattr(signal, "SIGALRM"):
        with alarmed(seconds, signal.SIGALRM, signal.ITIMER_REAL, TimeIsUp):
            yield
    else:
        with _interrupted(seconds):
            yield


@contextlib.contextmanager
def alarmed(seconds: float, alarm: int, timer: int, error: type[BaseException]) -> Iterator[None]:
    """Raise an error in the block after so many seconds of a timer of the system.

    A block around it with the same timer keeps its bound: what is left of that ends this one, too, and then that.
    """
    def stop(number: int, frame: FrameType | None) -> None:
        raise error

    before = signal.signal(alarm, stop)
    started, (left, again) = time.monotonic(), signal.getitimer(timer)
    signal.setitimer(timer, min(seconds, left or seconds), AGAIN)
    try:
        yield
    finally:
        signal.setitimer(timer, 0)
        signal.signal(alarm, before)
        if left:
            signal.setitimer(timer, max(left - (time.monotonic() - started), SOON), again)


@contextlib.contextmanager
def _interrupted(seconds: float) -> Iterator[None]:
    """Bound the block where there is no alarm, as on Windows: another thread interrupts the main one."""
    ended, stopped, ending = threading.Event(), threading.Event(), threading.Lock()

    def watch() -> None:
        wait = seconds
        while not ended.wait(wait):
            with ending:
                if not ended.is_set():
                    stopped.set()
                    interrupt_main()
            wait = AGAIN

    threading.Thread(target=watch, daemon=True).start()
    try:
        try:
            yield
        finally:
            with ending:  # an interruption on its way comes here, not after the block
                ended.set()
    except KeyboardInterrupt as error:
        if stopped.is_set():
            raise TimeIsUp().with_traceback(error.__traceback__) from None
        raise
    finally:
        ended.set()
