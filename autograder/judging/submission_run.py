"""Run a submission: a kernel in which its cells have been run, made anew whenever it is lost."""

import hashlib
import math
import time
from collections.abc import Sequence

from ..runtime import difference_messages, syntax
from ..runtime.diagnosis import RecognisedFault
from ..runtime.place import MAX_SEARCHED_CHARACTERS, Place
from ..runtime.recorded import CapturedError, RecordedCheck, Reply
from ..runtime.selfchecks import SelfCheck
from ..sandbox.host import KernelClient, KernelLost, Sandbox
from ..sandbox.restrictions import SandboxError
from ..sandbox.watchdog import Budget
from .submission import Plan, Step

KERNEL_PLACE_SECONDS = 8.0  # that a kernel may search one exercise for places, what does not end included
MAX_STOPS = 50  # in one cell, which ends at the next

STOPPED = "a cell that was added stopped"  # how a note begins

class SubmissionRun:
    """Runs a plan and replays checks on what it defined; a context manager."""

    def __init__(self, sandbox: Sandbox, plan: Plan, soft_seconds: float = math.inf):
        self.sandbox, self.plan = sandbox, plan
        self._had_kernel = False
        self.notes: list[str] = []
        self.errors: dict[str | None, CapturedError] = {}  # exercise → the error that stopped its cell
        self._left_out: dict[int, KernelLost] = {}  # step number → why it is not run again
        self._kernel: KernelClient | None = None
        digest = hashlib.sha256("\0".join(step.source for step in plan.steps).encode()).digest()
        self._seed = int.from_bytes(digest[:4], "little")  # of the kernels: the same whenever these steps are run
        limits = sandbox.options.limits
        self.notebook_budget = Budget(math.inf, min(soft_seconds, limits.notebook_wall_seconds))
        self._wall_limit = limits.wall_share * limits.notebook_wall_seconds  # of a cell, or of an exercise's checks

    def __enter__(self) -> "SubmissionRun":
        return self

    def __exit__(self, *exception: object) -> None:
        self._end_kernel()

    def replay(self, exercise: str, records: Sequence[RecordedCheck]) -> tuple[list[Reply], KernelLost | None]:
        """Return the replies to the checks of an exercise, and why there are fewer than records, if so."""
        replies: list[Reply] = []
        try:
            kernel = self._ready(exercise)
        except KernelLost as lost:  # its cell was left out: the kernel serves the other exercises
            return replies, lost
        try:
            budget = self._budget(self.sandbox.options.limits.exercise_cpu_seconds)
            for record in records:
                if record.relation and _is_missing(replies[-1]):  # the same check on other sizes
                    replies.append(replies[-1])
                else:
                    replies.append(kernel.replay(record.ops, budget))
            return replies, None
        except KernelLost as lost:
            self._kernel = None
            return replies, lost

    def find_places(self, exercise: str, checks: Sequence[SelfCheck],
                    failing: dict[int, RecognisedFault | None]) -> list[Place | None]:
        """Return the place of a mistake in each check of an exercise; ``KernelLost`` when the search ends its kernel.

        ``checks`` are those with public seeds, ``failing`` the numbers of those that failed, with their faults.
        """
        texts = [step.source for step in self.plan.steps if step.is_of(exercise)]
        added = [step.source for step in self.plan.steps if step.role == "added"]
        if texts and sum(map(len, texts + added)) <= MAX_SEARCHED_CHARACTERS:
            texts += added
        try:
            budget = Budget(KERNEL_PLACE_SECONDS, KERNEL_PLACE_SECONDS, self.notebook_budget)
            return self._ready(exercise).find_places(texts, checks, failing, budget)
        except KernelLost:
            self._kernel = None
            raise

    def _end_kernel(self) -> None:
        if self._kernel:
            self._kernel.kill()
            self._kernel = None

    def _ready(self, exercise: str) -> KernelClient:
        """Return a kernel in which the cells have been run; a cell that kills it is left out from then on."""
        while self._kernel is None:
            self._check_time()
            started = time.monotonic()
            self._kernel = self.sandbox.fork(self._seed)
            if self._had_kernel:  # the first start does not count against the notebook
                self.notebook_budget.book(0.0, time.monotonic() - started)
            self._had_kernel = True
            for number, step in enumerate(self.plan.steps):
                if number not in self._left_out and not self._run(self._kernel, number, step):
                    break
        for number, reason in self._left_out.items():
            step = self.plan.steps[number]
            if step.is_of(exercise):
                raise reason
        self._check_time()
        return self._kernel

    def _budget(self, seconds: float) -> Budget:
        return Budget(seconds, self._wall_limit, self.notebook_budget)

    def _check_time(self) -> None:
        """Raise ``KernelLost`` when the notebook's time is over."""
        exceeded = self._budget(0.0).exceeded()
        if exceeded:
            self._end_kernel()
            raise KernelLost("timeout", exceeded)

    def _run(self, kernel: KernelClient, number: int, step: Step) -> bool:
        """Run a cell, a student's without the statements that stop it; return whether the kernel is still there."""
        budget = self._budget(self.sandbox.options.limits.cell_cpu_seconds)
        error, source = None, step.source
        try:
            for _ in range(1 if step.role == "given" else MAX_STOPS):
                result = kernel.run_cell(source, budget)
                error = error or result.error
                source = syntax.source_after(source, result.line) if result.error else ""
                if not source.strip():
                    break
        except KernelLost as lost:
            self._kernel = None
            if number == 0 and step.role == "given":  # nothing of the student's has run in this kernel
                self._check_time()
                raise SandboxError(f"the kernel does not survive the course's own first cell: {lost}") from None
            self._left_out[number] = lost
            self.notes.append(f"{_description(step)} was left out: {lost}")
            return False
        if step.role == "exercise":
            self.errors.pop(step.name, None)
            if error:
                self.errors[step.name] = error
        elif error and step.role == "added":
            note = f"{STOPPED}: {difference_messages.error(error)}"
            if note not in self.notes:
                self.notes.append(note)
        return True


def _is_missing(reply: Reply) -> bool:
    return reply.error is not None and reply.error.kind in ("missing-name", "not-written")


def _description(step: Step) -> str:
    if step.role == "added":
        return f"a cell that was added (`{step.source.strip().splitlines()[0][:60]}`)"
    return f"the {'given cell' if step.role == 'given' else 'cell of'} {step.name}"
