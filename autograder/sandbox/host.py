"""The sandbox, seen from outside: kernels forked from a fork server, within bounds, whose replies are not trusted."""

import contextlib
import math
import select
import socket
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeGuard

import msgspec
import psutil

from ..runtime import messages, recorded, wire
from ..runtime.diagnosis import RecognisedFault
from ..runtime.difference import Difference, Pattern
from ..runtime.operations import Op
from ..runtime.pattern import MAX_POSITIONS
from ..runtime.place import Location, Place
from ..runtime.recorded import CapturedError, Reply
from ..runtime.selfchecks import SelfCheck, check_to_tree
from ..runtime.syntax import code_lines, segment
from ..runtime.text import printable, short
from . import kernel, kernel_fork_server
from .kernel_fork_server import KernelForkServer, KernelForkServerLost
from .options import Options
from .restrictions import SandboxError
from .watchdog import Budget, Usage

GRACE_SECONDS = 0.2  # what comes back sooner is not worth measuring
POLL_SECONDS = 0.5  # at a kernel between requests
MAX_HEADER = 16 * 2**20  # bytes of a reply, its arrays apart


class KernelLost(Exception):
    """A kernel died, hung or broke a bound. ``outcome`` says which; the message is for the student."""

    def __init__(self, outcome: Literal["timeout", "crashed"], message: str):
        super().__init__(message)
        self.outcome = outcome


@dataclass(frozen=True)
class CellResult:
    """The result of running a cell: the error that stopped it, if any, the beginning of its output, and the line of the
    statement that stopped it; 0 where none was run."""

    error: CapturedError | None
    printed: str
    line: int = 0


class Sandbox:
    """Forks fresh kernels from a fork server, which is started when it is needed, and anew when it is lost.

    A context manager. ``fork_server`` is the fork server, if it was started.
    """

    def __init__(self, helpers: Sequence[Path], options: Options, fork_server: KernelForkServer | None = None):
        self.helpers, self.options, self.fork_server = helpers, options, fork_server

    def __enter__(self) -> "Sandbox":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self) -> KernelForkServer:
        """Start the fork server, unless it runs already, and do not wait for it: it has much to import."""
        if self.fork_server is None or self.fork_server.has_ended():
            self.close()
            self.fork_server = kernel_fork_server.start(self.helpers, self.options)
        return self.fork_server

    def fork(self, seed: int = 0) -> "KernelClient":
        """Fork a fresh kernel, whose random numbers begin with a seed.

        Without nested namespaces the fork server serves one kernel only, and is started anew.
        """
        try:
            return self._forked(seed)
        except KernelForkServerLost:  # it is closed
            return self._forked(seed)

    def load(self, module: str) -> None:
        """Have the fork server, if it runs, import a module that each kernel would import otherwise."""
        if self.fork_server is not None:
            with contextlib.suppress(KernelForkServerLost):
                self.fork_server.load(module)

    def clone(self) -> "Sandbox":
        """Return a sandbox for another process, whose fork server shares what this one's has imported."""
        fork_server = None
        if self.fork_server is not None:
            with contextlib.suppress(KernelForkServerLost):  # the new sandbox starts its own, and says why if it cannot
                fork_server = self.fork_server.clone()
        return Sandbox(self.helpers, self.options, fork_server)

    def close(self) -> None:
        """End the fork server and all kernels."""
        if self.fork_server is not None:
            self.fork_server.close()
            self.fork_server = None

    def _forked(self, seed: int) -> "KernelClient":
        fork_server = self.start()
        try:
            return KernelClient(fork_server, self.options, *fork_server.fork(seed))
        except SandboxError:
            self.close()
            raise


class KernelClient:
    """One forked kernel. Every request has a budget, and a reply that is malformed ends it."""

    def __init__(self, fork_server: KernelForkServer, options: Options, sock: socket.socket, guard: int):
        self.fork_server, self.options, self.sock, self.guard = fork_server, options, sock, guard
        self._number = 0
        self._lock = threading.RLock()  # of the thread that sends a request, ends it or looks at it
        self._ended, self._idle_since = threading.Event(), time.monotonic()
        self._broken: KernelLost | None = None  # a bound, between requests
        threading.Thread(target=self._watch_between_requests, daemon=True).start()

    def run_cell(self, source: str, budget: Budget) -> CellResult:
        """Run a cell."""
        reply = self._ask({"do": "cell", "source": source}, budget)
        error, printed, line = reply.get("error"), reply.get("printed"), reply.get("line")
        return CellResult(None if error is None else recorded.error_from_tree(error),
                          printed[: kernel.MAX_OUTPUT] if isinstance(printed, str) else "",
                          line if type(line) is int else 0)

    def replay(self, ops: Sequence[Op], budget: Budget) -> Reply:
        """Replay recorded calls; the reply is checked to be one."""
        reply = self._ask({"do": "replay", "ops": [op.to_tree() for op in ops], "device": self.options.device}, budget)
        try:
            return recorded.reply_from_tree(reply.get("reply"))
        except recorded.InvalidReplyError:
            raise self._no_reply() from None

    def find_places(self, texts: Sequence[str], checks: Sequence[SelfCheck], failing: dict[int, RecognisedFault | None],
                    budget: Budget) -> list[Place | None]:
        """Return the place of a mistake in each check, or None."""
        message = {"do": "place", "texts": list(texts), "checks": list(map(check_to_tree, checks)),
                   "failing": {str(number): fault.name if fault else None for number, fault in failing.items()}}
        places = self._ask(message, budget).get("places")
        if not isinstance(places, list) or len(places) != len(checks):
            return [None] * len(checks)
        return [_checked_place(place, texts) for place in places]

    def kill(self) -> None:
        """End the kernel and everything that it started."""
        self._ended.set()
        with self._lock:
            self.sock.close()
            try:
                self.fork_server.kill(self.guard)
            except KernelForkServerLost:
                self.fork_server.close()
            if not self.fork_server.reusable:
                self.fork_server.close()

    def _watch_between_requests(self) -> None:
        """End the kernel when it breaks a bound between requests, while the judge compares."""
        while not self._ended.wait(POLL_SECONDS):
            if not self._lock.acquire(blocking=False):
                continue
            try:
                if not self._ended.is_set() and time.monotonic() - self._idle_since > POLL_SECONDS:
                    self._broken = _exceeded_limit(self.options, self.fork_server)
                    if self._broken:
                        self.kill()
            except (SandboxError, psutil.Error, OSError, ValueError):  # it is gone: the next request fails
                return
            finally:
                self._lock.release()

    def _lost(self, reason: KernelLost) -> KernelLost:
        self.kill()
        return reason

    def _no_reply(self) -> KernelLost:
        return self._lost(KernelLost("crashed", "the kernel sent back something that is no reply"))

    def _ask(self, message: dict[str, Any], budget: Budget) -> dict[str, Any]:
        with self._lock:
            try:
                return self._request(message, budget)
            finally:
                self._idle_since = time.monotonic()

    def _request(self, message: dict[str, Any], budget: Budget) -> dict[str, Any]:
        if self._broken:
            raise self._lost(self._broken)
        self._number += 1
        data = wire.pack({"number": self._number, **message})
        watch = _RequestWatch(self.fork_server, self.options, budget)
        try:
            reply = wire.unpack(self._exchange(len(data).to_bytes(4) + data, watch), max_header=MAX_HEADER)
            if not _is_reply(reply, self._number):
                raise wire.WireError("no reply")
        except (OSError, EOFError):
            raise self._lost(KernelLost("crashed", "the kernel died: something in the code ends the process, "
                                        "or needs more memory than there is")) from None
        except wire.WireError:
            raise self._no_reply() from None
        finally:
            watch.book()  # the end of the kernel included, if it was ended
        return reply

    def _exchange(self, data: bytes, watch: "_RequestWatch") -> bytes:
        """Send a message, and return the bytes of the next one, while the bounds are watched."""
        self.sock.setblocking(False)
        unsent = memoryview(data)
        while unsent:
            if kernel_fork_server.wait_for_socket(self.sock, select.POLLOUT, GRACE_SECONDS):
                with contextlib.suppress(BlockingIOError):
                    unsent = unsent[self.sock.send(unsent):]
            self._check_bounds(watch)
        length = int.from_bytes(self._receive(4, watch))
        if length > wire.MAX_BYTES:
            raise wire.WireError("too long")
        return self._receive(length, watch)

    def _receive(self, count: int, watch: "_RequestWatch") -> bytes:
        parts = bytearray()
        while len(parts) < count:
            if kernel_fork_server.wait_for_socket(self.sock, select.POLLIN, GRACE_SECONDS):
                part = self.sock.recv(min(count - len(parts), 2**20))
                if not part:
                    raise EOFError
                parts += part
            self._check_bounds(watch)
        return bytes(parts)

    def _check_bounds(self, watch: "_RequestWatch") -> None:
        if exceeded := watch.exceeded():
            raise self._lost(exceeded)


def _checked_place(tree: Any, texts: Sequence[str]) -> Place | None:
    """Return the place that a tree from a kernel holds; None where it is none in these cells, or has no sentence."""
    try:
        place = msgspec.convert(tree, Place | None)
        if place is None:
            return None
        text = _checked_text(place, texts)
        second = place.second and replace(place.second, text=_checked_text(place.second, texts))
        matched = tuple(sorted({*place.matched_lines} & {*range(1, len(code_lines(texts[place.cell])) + 1)}))
        difference = place.difference and _checked_difference(place.difference)
        safe = replace(place, text=text, matched_lines=matched, difference=difference, second=second)
        messages.place(safe)
        return safe
    except (msgspec.ValidationError, IndexError, ValueError, TypeError, AssertionError):
        return None


def _checked_text(spot: Place | Location, texts: Sequence[str]) -> str:
    """Return the code at a place in these cells; ``ValueError`` where there is none."""
    first, start, last, end = spot.span
    is_inside = spot.cell >= 0 and 1 <= first <= last <= len(code_lines(texts[spot.cell])) and start >= 0 and end >= 0
    text = short(segment(texts[spot.cell], spot.span)) if is_inside else ""
    if not text:
        raise ValueError(f"there is no code at {spot.span} in cell {spot.cell}")
    return text


def _checked_difference(sent: Difference) -> Difference:
    """Return the difference of values that a kernel sent, its texts made safe to print."""
    expected, got = (
        outline and replace(outline, kind=printable(outline.kind), dtype=printable(outline.dtype),
                            shape=outline.shape[:8],
                            value=printable(outline.value) if isinstance(outline.value, str) else outline.value)
        for outline in (sent.expected, sent.got))
    axes, regions, pattern = range(len(sent.index[:8])), sent.region, sent.pattern
    if len({region.axis for region in regions}) < len(regions) or not all(
            region.axis in axes and 0 <= region.start < (region.stop or math.inf) for region in regions):
        raise ValueError("no region")
    if pattern and not _is_pattern(pattern, axes):
        raise ValueError("no pattern")
    return Difference(sent.kind, None, printable(sent.output), expected, got, index=sent.index[:8],
                      wrong_count=sent.wrong_count, value_count=sent.value_count, region=regions, pattern=pattern)


def _is_pattern(pattern: Pattern, axes: range) -> bool:
    """Return whether a pattern has a sentence; a verdict holds no infinite number."""
    has_positions, has_function = pattern.kind in ("one position", "order"), pattern.kind.startswith("function")
    return ((pattern.axis is None or pattern.axis in axes) and math.isfinite(pattern.number)
            and has_positions is bool(pattern.positions) and len(pattern.positions) <= MAX_POSITIONS
            and all(0 <= position < MAX_POSITIONS for position in pattern.positions)
            and has_function is bool(pattern.function))


def _is_reply(reply: object, number: int) -> TypeGuard[dict[str, Any]]:
    """Return whether this is a reply to the message of that number."""
    if not isinstance(reply, dict) or "failed" in reply:
        return False
    return type(reply.get("number")) is int and reply["number"] == number


class _RequestWatch:
    """Measures one request from time to time, and books what it uses on the budget."""

    def __init__(self, fork_server: KernelForkServer, options: Options, budget: Budget):
        self.fork_server, self.options, self.budget = fork_server, options, budget
        self._started = self._booked = time.monotonic()
        self._last_seconds: float | None = None  # CPU seconds at the last look

    def book(self, computed: float = 0.0) -> None:
        """Book the time since the last booking, and CPU seconds."""
        now = time.monotonic()
        self.budget.book(computed, now - self._booked)
        self._booked = now

    def exceeded(self) -> KernelLost | None:
        """Return the limit that is exceeded; None while none is."""
        if time.monotonic() - self._started < GRACE_SECONDS:
            return None
        usage = self.fork_server.usage()
        self.book(0.0 if self._last_seconds is None else max(usage.seconds - self._last_seconds, 0))
        self._last_seconds = usage.seconds
        if exceeded := _exceeded_limit(self.options, self.fork_server, usage):
            return exceeded
        overspent = self.budget.exceeded()
        return KernelLost("timeout", overspent) if overspent else None


def _exceeded_limit(options: Options, fork_server: KernelForkServer, usage: Usage | None = None) -> KernelLost | None:
    """Return the limit of memory or processes that is exceeded; None while none is."""
    limits, usage = options.limits, usage or fork_server.usage()
    if usage.memory > limits.memory:
        return KernelLost("crashed", f"it used more than {limits.memory / 2**30:.3g} GiB of memory")
    if options.device == "cuda" and fork_server.gpu_bytes() > limits.memory:
        return KernelLost("crashed", f"it used more than {limits.memory / 2**30:.3g} GiB of the GPU's memory")
    if usage.processes > limits.processes:
        return KernelLost("crashed", f"it started more than {limits.processes} processes")
    return None
