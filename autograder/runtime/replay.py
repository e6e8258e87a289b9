"""Replay recorded calls, those of a check, on whatever definitions a namespace holds.

The same few lines run everywhere a check does: on the solution when it is recorded, on faults and variants
when it is audited, in the student's notebook, and in the grader's kernel. Recorded calls hold inputs, never an
expected value; plain descriptions of the named outputs come back.
"""

import contextlib
import io
import linecache
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, TextIO

import numpy as np

from . import arrays
from .arrays import STUB_MODULE
from .operations import Op
from .recorded import MAX_MESSAGE, CapturedError, ErrorKind, ErrorLocation, ErrorOrigin, Reply
from .state import MissingName, ReplayError, State, is_not_written, restored
from .text import short
from .values import Value, bounded_outputs, to_python

SEED = 14_090_473  # of all generators at the start of a replay: arXiv 1409.0473; unlikely as a seed in a notebook


class Printed(io.StringIO):
    """A stream that keeps at most ``limit`` characters."""

    encoding = "utf-8"

    def __init__(self, limit: int):
        super().__init__()
        self.limit = limit

    def write(self, text: str) -> int:
        """Keep the text as far as there is room."""
        super().write(text[: max(0, self.limit - self.tell())])
        return len(text)

    def close(self) -> None:
        """Stay open: code may close what it prints to, and prints again."""


def replay(ops: Sequence[Op], namespace: dict[str, Any], device: str = "cpu", printed: TextIO | None = None,
           track_effects: bool = True) -> Reply:
    """Make recorded calls on ``namespace``, which is left as it was.

    What the code prints goes to ``printed``; nobody sees it where there is none. Without ``track_effects`` only outputs
    and errors are kept, and not what calls do besides, and the generators of Python and numpy are left as they are
    then: that is quicker.
    """
    replayer = Replayer(namespace, device, printed, track_effects)
    with replayer.running():
        for op in ops:
            if not replayer.step(op):
                break
    return replayer.reply()


class Replayer(State):
    """Executes recorded operations one by one."""

    def __init__(self, namespace: dict[str, Any], device: str = "cpu", printed: TextIO | None = None,
                 track_effects: bool = True):
        super().__init__(namespace, device, track_effects)
        self.printed = printed or Printed(0)
        self.error: CapturedError | None = None

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Set a defined state of torch while the calls are made, and the old state afterwards."""
        with contextlib.ExitStack() as self.stack:
            if self.track_effects:
                self.stack.enter_context(arrays.rng_state_kept())
            self.stack.enter_context(arrays.clean_state(SEED, self.device))
            self.stack.enter_context(warnings.catch_warnings(action="ignore"))
            self.stack.enter_context(contextlib.redirect_stdout(self.printed))
            self.stack.enter_context(contextlib.redirect_stderr(Printed(0)))
            self.stack.enter_context(restored(self.namespace))
            yield

    def step(self, op: Op) -> bool:
        """Execute one operation; False when it failed and the rest cannot follow."""
        try:
            op.run(self)
            return True
        except (Exception, SystemExit) as error:
            described = describe_error(error, self.namespace)
            origin = described.origin if described.where else "check"
            self.error = replace(described, at=self.number, origin=origin)
            return False
        finally:
            self.number += 1

    def reply(self) -> Reply:
        """Return the reply to the operations so far."""
        return Reply(bounded_outputs(self.outputs), self.error, tuple(self.mutating_ops),
                     tuple(sorted(self.forbidden_calls)), tuple(sorted(self.changed_state)))


def describe_error(error: BaseException, namespace: dict[str, Any]) -> CapturedError:
    """Describe an exception in plain data, with the last line of the student's own code that it passed."""
    where: ErrorLocation | None = None
    origin: ErrorOrigin = "cell"
    traceback = error.__traceback__
    while traceback is not None:
        frame = traceback.tb_frame
        if frame.f_globals is namespace:
            line = linecache.getline(frame.f_code.co_filename, traceback.tb_lineno).strip()
            where, origin = ErrorLocation(traceback.tb_lineno, short(frame.f_code.co_name), short(line)), "cell"
        elif frame.f_globals.get("__name__") == STUB_MODULE:
            origin = "check"
        traceback = traceback.tb_next
    try:
        message = str(error)
    except Exception:
        message = ""
    kind: ErrorKind = "not-written" if is_not_written(error, namespace) else "raised"
    if isinstance(error, ReplayError):
        kind = "missing-name" if isinstance(error, MissingName) else "unusable"
    return CapturedError(kind, short(type(error).__name__), short(message, MAX_MESSAGE), where, origin=origin)


def refusal(predicate: str, value: Value) -> str | None:
    """Return why a predicate of a check, given as source, refuses a value; None if the value is right.

    Whatever the predicate raises is raised; ``TypeError`` if it returns anything but None or a sentence.
    """
    scope: dict[str, Any] = {"np": np}
    exec(compile(predicate, "<predicate>", "exec"), scope)  # of our own checks
    function = next(value for name, value in scope.items() if callable(value) and name not in ("np", "__builtins__"))
    reason = function(to_python(value))
    if reason is not None and not isinstance(reason, str):
        raise TypeError(f"it returns {reason!r}; a predicate returns None, or a sentence")
    return reason
