"""The solution as the oracle of the checks: executed once, recorded often, worn as a mistake for a moment.

Only the course's own code runs here. What a student wrote never does.
"""

import contextlib
import importlib
import linecache
from functools import cache

from tp import compare
from tp.replay import replay

from . import mistakes, source
from .tape import Check, record


class Oracle:
    """The solution of one TP in a namespace of its own, with its checks, mistakes and variants."""

    def __init__(self, name: str):
        self.source = source.load(name)
        self.checks = _checks(name)
        module = _optional("mistakes", name)
        self.mistakes = list(getattr(module, "MISTAKES", []))
        self.variants = list(getattr(module, "VARIANTS", []))
        self.namespace, self.defines = {"__name__": "__main__"}, {}
        for cell in self.source.by_role("given", "exercise"):
            known = set(self.namespace)
            self._run(cell.name, cell.solution)
            if cell.role == "exercise":
                self.defines[cell.name] = set(self.namespace) - known
        unknown = {c.exercise for c in self.checks} ^ set(self.source.exercises)
        if unknown:
            raise source.SourceError(f"{name}: exercises and checks do not match: {', '.join(sorted(unknown))}")

    def _run(self, cell_name: str, text: str) -> None:
        filename = f"<{self.source.name}:{cell_name}>"
        linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
        exec(compile(text, filename, "exec"), self.namespace)

    def checks_of(self, exercise: str) -> list[Check]:
        return [check for check in self.checks if check.exercise == exercise]

    def mistakes_of(self, exercise: str) -> list:
        return [mistake for mistake in self.mistakes if mistake.exercise == exercise]

    def text_of(self, version) -> str:
        """The source of the exercise's cell in a mistake or variant."""
        return mistakes.edited(version, self.source.cell("exercise", version.exercise).solution, self.mistakes)

    def record(self, check: Check, seed: int) -> dict:
        return record(check, self.namespace, seed)

    @contextlib.contextmanager
    def wearing(self, version):
        """The namespace with one exercise in another version; the solution comes back afterwards."""
        saved, text = dict(self.namespace), self.text_of(version)
        for name in self.defines[version.exercise]:
            self.namespace.pop(name, None)
        try:
            try:
                self._run(f"{version.exercise}/{version.name}", text)
            except Exception:  # a cell that does not even run defines nothing: what a student would have
                pass
            yield self.namespace
        finally:
            self.namespace.clear()
            self.namespace.update(saved)

    def replies(self, version, records: list[dict], device: str = "cpu") -> list[dict]:
        """What a mistake or variant answers to recorded checks."""
        with self.wearing(version) as namespace:
            return [replay(recorded["calls"], namespace, device) for recorded in records]

    def diagnose(self, exercise: str, records: list[dict], got: list[dict]) -> list:
        """For each check of an exercise, the mistake whose answers the student's equal, or None.

        A mistake is asked about the failed checks first: few agree there, and only those are asked about the rest. One that
        agrees everywhere explains everything, and no other is asked.
        """
        failed = [compare.first_difference(r["expected"], g, r["specs"]) not in (None, compare.NOT_WRITTEN) for r, g in zip(records, got)]
        answers = []
        for mistake in self.mistakes_of(exercise) if any(failed) else ():
            replies = [None] * len(records)
            self._answer(mistake, records, replies, failed)
            if any(bad and compare.same(reply, g, r["specs"]) for bad, reply, g, r in zip(failed, replies, got, records)):
                self._answer(mistake, records, replies, [not bad for bad in failed])
                answers.append((mistake.name, mistake.says, replies))
                if all(compare.same(reply, g, r["specs"]) for reply, g, r in zip(replies, got, records)):
                    break
        return compare.diagnose(records, got, answers)

    def _answer(self, mistake, records, replies, wanted):
        asked = [i for i, want in enumerate(wanted) if want]
        for i, reply in zip(asked, self.replies(mistake, [records[i] for i in asked])):
            replies[i] = reply


def _checks(name: str) -> list[Check]:
    module = importlib.import_module(f"autograder.checks.{name}")
    return [value.check for value in vars(module).values() if isinstance(getattr(value, "check", None), Check)]


def _optional(kind: str, name: str):
    try:
        return importlib.import_module(f"autograder.{kind}.{name}")
    except ModuleNotFoundError as error:
        if error.name != f"autograder.{kind}.{name}":
            raise
        return None


@cache
def oracle(name: str) -> Oracle:
    """The oracle of a TP; executed at the first call and kept."""
    return Oracle(name)
