"""Limit the time of a student's code in the notebook: an endless loop is stopped, and its line is known."""

import contextlib
import gc
import signal
import sys
import threading
import time
import weakref
from _thread import interrupt_main
from collections.abc import Iterator
from types import FrameType

MIN_SECONDS = 0.001  # a timer that is set to none never ends
REPEAT_SECONDS = 1.0  # after which code that caught the interruption is interrupted again
MAX_DELAYS = 1000  # of an interruption, each by `MIN_SECONDS`


class TimeLimitExceeded(BaseException):
    """The bound was reached. It is no ``Exception``, so that code that catches those does not catch it."""

    check = ""  # the check whose calls were made


def time_limit(seconds: float) -> contextlib.AbstractContextManager[None]:
    """Raise ``TimeLimitExceeded`` in the block after so many seconds; only the main thread can be interrupted."""
    if threading.current_thread() is not threading.main_thread():
        return contextlib.nullcontext()
    if hasattr(signal, "SIGALRM"):
        return timer_limit(seconds, signal.SIGALRM, signal.ITIMER_REAL, TimeLimitExceeded)
    return _interrupted(seconds)


def cpu_time_limit(seconds: float) -> contextlib.AbstractContextManager[None]:
    """Raise ``TimeLimitExceeded`` in the block after so many CPU seconds; only the main thread can be interrupted."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "SIGPROF"):
        return contextlib.nullcontext()
    return timer_limit(seconds, signal.SIGPROF, signal.ITIMER_PROF, TimeLimitExceeded)


class timer_limit(contextlib.AbstractContextManager[None]):
    """Raise an error in the block after so many seconds of a timer of the system.

    A block around it with the same timer keeps its bound: what is left of that ends this one, too, and then that.
    Nothing is raised while a context manager is entered or left, because that would be half done: a dictionary would
    stay empty that is to be filled again, or the timer would end the process that has no more use for it. Nor in a
    callback of the garbage collector or of a weak reference, which drops errors.
    """

    def __init__(self, seconds: float, alarm: int, timer: int, error: type[BaseException]):
        self._seconds, self._alarm, self._timer, self._error = max(seconds, MIN_SECONDS), alarm, timer, error
        self._clock = time.monotonic if timer == signal.ITIMER_REAL else time.process_time
        self._is_over = False
        self._delays = MAX_DELAYS

    def __enter__(self) -> None:
        self._around = sys._getframe(1)
        self._before = signal.signal(self._alarm, self._stop)
        self._started, (self._left, self._again) = self._clock(), signal.getitimer(self._timer)
        signal.setitimer(self._timer, min(self._seconds, self._left or self._seconds), REPEAT_SECONDS)

    def __exit__(self, *error: object) -> None:
        self._is_over = True
        signal.setitimer(self._timer, 0)
        signal.signal(self._alarm, self._before)
        if self._left:
            remaining = self._left - (self._clock() - self._started)
            signal.setitimer(self._timer, max(remaining, MIN_SECONDS), self._again)
        del self._around

    def _stop(self, number: int, frame: FrameType | None) -> None:
        if self._is_over:
            return
        if self._delays and _would_lose_errors(frame, self._around):
            self._delays -= 1
            signal.setitimer(self._timer, MIN_SECONDS, REPEAT_SECONDS)
        else:
            raise self._error


def _would_lose_errors(frame: FrameType | None, around: FrameType) -> bool:
    """Return whether a context manager is being entered or left, or the garbage collector or a weak reference calls
    back, in a frame, or in one that called it inside a block."""
    callbacks = {getattr(callback, "__code__", None) for callback in gc.callbacks}
    while frame is not None and frame is not around:
        if frame.f_code.co_filename in (contextlib.__file__, weakref.__file__, __file__) or frame.f_code in callbacks:
            return True
        frame = frame.f_back
    return False


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
            wait = REPEAT_SECONDS

    threading.Thread(target=watch, daemon=True).start()
    try:
        try:
            yield
        finally:
            with ending:  # an interruption on its way comes here, not after the block
                ended.set()
    except KeyboardInterrupt as error:
        if stopped.is_set():
            raise TimeLimitExceeded().with_traceback(error.__traceback__) from None
        raise
    finally:
        ended.set()
