"""The judge: record on the solution, replay in the student's kernel, compare here.

Nothing that a kernel prints, raises or sends can be a score. The judge never imports or evaluates what a student
wrote; it sends calls into a sandbox and compares the plain arrays that come back with those of the solution.
"""

import hashlib
import hmac
import time

from tp import compare

from . import source, submission
from .oracle import oracle
from .sandbox import KernelLost, Limits, Sandbox, SandboxError


def seed_of(secret: bytes, student: str, tp: str, data: bytes) -> str:
    """The seed of a submission's hidden checks: fresh for each, the same when graded again."""
    text = "\n".join([student, tp, hashlib.sha256(data).hexdigest()]).encode()
    return hmac.new(secret, text, hashlib.sha256).hexdigest()[:32]


def _check_seed(seed, exercise, check):
    digest = hashlib.sha256(f"{seed}/{exercise}/{check}".encode()).digest()
    return int.from_bytes(digest[:8], "little") % 2**62


class Judge:
    """Grades notebooks one after another in kernels of one sandbox; a context manager."""

    def __init__(self, limits: Limits = Limits(), device: str = "cpu", isolated: bool = True):
        self.limits = limits
        self.device = device
        self.sandbox = Sandbox(limits, device, isolated)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.sandbox.close()

    def grade(self, data: bytes, tp: str, seed: str, what: str = "the file") -> dict:
        """The verdict on the bytes of a notebook; ``submission.Unreadable`` when they are none of this TP."""
        started = time.monotonic()
        truth = oracle(tp)
        plan = submission.plan(submission.parse(data, what), truth.source)
        bench = _Bench(self.sandbox, plan)
        try:
            exercises = [self._exercise(bench, truth, name, seed) for name in truth.source.exercises]
        finally:
            bench.close()
        return {
            "assignment": tp,
            "score": round(sum(e["score"] for e in exercises), 4),
            "max_score": sum(e["max_score"] for e in exercises),
            "isolation": self.sandbox.isolation,
            "device": self.device,
            "seconds": round(time.monotonic() - started, 3),
            "seed": seed,
            "notes": plan.notes + bench.notes,
            "exercises": exercises,
        }

    def _exercise(self, bench, truth, exercise, seed):
        checks = truth.checks_of(exercise)
        records = [truth.record(check, _check_seed(seed, exercise, check.name)) for check in checks]
        replies, lost = bench.replies(exercise, records, self.limits.exercise_seconds)
        known = truth.diagnose(exercise, records[: len(replies)], replies)
        results = []
        for i, (check, record) in enumerate(zip(checks, records)):
            if i >= len(replies):
                results.append(_result(check, f"Not checked: {lost}" + ("" if str(lost).endswith("?") else "."), None))
                continue
            difference = compare.first_difference(record["expected"], replies[i], record["specs"])
            results.append(_result(check, difference and _sentence(difference, replies[i], known[i], bench.errors.get(exercise)), known[i]))
        total = sum(check.weight for check in checks)
        share = sum(check.weight for check, result in zip(checks, results) if result["passed"]) / total
        points = truth.source.points(exercise)
        verdict = _verdict(results, replies, lost, bench.errors.get(exercise))
        return {"exercise": exercise, "score": round(share * points, 4), "max_score": points, "verdict": verdict, "checks": results}


def _result(check, sentence, known):
    return {"check": check.name, "passed": sentence is None, "message": sentence or check.says, "mistake": known[0] if known else None}


def _sentence(difference, reply, known, cell_error):
    undefined = reply["error"] and reply["error"]["ours"] and reply["error"]["message"].endswith("is not defined")
    if undefined and cell_error:
        return compare.error_sentence(cell_error)
    return compare.explained(difference, known)


def _verdict(results, replies, lost, cell_error):
    if lost:
        return lost.verdict
    passed = sum(result["passed"] for result in results)
    if passed == len(results):
        return "passed"
    if passed:
        return "partial"
    errors = [reply["error"] for reply in replies]
    if not all(errors):
        return "failed"
    if not cell_error and all(e["type"] == "NotImplementedError" or (e["ours"] and e["message"].endswith("is not defined")) for e in errors):
        return "missing"
    return "error"


class _Bench:
    """One submission at work: its kernel with the cells run, made anew whenever it is lost."""

    def __init__(self, sandbox: Sandbox, plan: submission.Plan):
        self.sandbox, self.plan = sandbox, plan
        self.notes = []
        self.errors = {}  # exercise → the error its cell stopped with
        self.skipped = {}  # step number → why it is not run again
        self.kernel = None
        self.started = time.monotonic()

    def close(self):
        if self.kernel:
            self.kernel.kill()
            self.kernel = None

    def replies(self, exercise: str, records: list, seconds: float) -> tuple[list, KernelLost | None]:
        """The replies to the checks of an exercise, and why there are fewer than records, if so."""
        replies = []
        try:
            self._ready(exercise)
            deadline = time.monotonic() + seconds * self.sandbox.limits.patience
            for record in records:
                if time.monotonic() > deadline:
                    self.close()
                    raise KernelLost("timeout", f"its checks took longer than {seconds:.3g} seconds")
                replies.append(self.kernel.replay(record["calls"], seconds))
            return replies, None
        except KernelLost as lost:
            self.kernel = None
            return replies, lost

    def _ready(self, exercise):
        """A kernel in which the cells have been run; a cell that kills it is left out from then on."""
        while self.kernel is None:
            limits = self.sandbox.limits
            if time.monotonic() - self.started > limits.notebook_seconds * limits.patience:
                raise KernelLost("timeout", f"the notebook took more than {limits.notebook_seconds:.3g} seconds in all")
            self.kernel = self.sandbox.kernel()
            for number, step in enumerate(self.plan.steps):
                if number not in self.skipped and not self._run(number, step):
                    break
        for number, reason in self.skipped.items():
            step = self.plan.steps[number]
            if (step.kind, step.name) == ("exercise", exercise):
                raise reason

    def _run(self, number, step) -> bool:
        try:
            error = self.kernel.cell(step.source, self.sandbox.limits.cell_seconds)["error"]
        except KernelLost as lost:
            self.kernel = None
            if number == 0 and step.kind == "given":  # nothing of the student's has run yet
                raise SandboxError(f"the kernel does not survive the course's own first cell: {lost}") from None
            self.skipped[number] = lost
            self.notes.append(f"{_called(step)} was left out: {lost}")
            return False
        if step.kind == "exercise":
            if error:
                self.errors[step.name] = error
            else:
                self.errors.pop(step.name, None)
        elif error and step.kind == "own":
            note = f"a cell of the student's own stopped: {compare.error_sentence(error)}"
            if note not in self.notes:
                self.notes.append(note)
        return True


def _called(step):
    if step.kind == "own":
        return f"a cell of the student's own (`{step.source.strip().splitlines()[0][:60]}`)"
    return f"the {'given cell' if step.kind == 'given' else 'cell of'} {step.name}"
