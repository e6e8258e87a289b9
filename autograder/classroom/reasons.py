"""What a student reads about the exercises of one submission: each sentence once, pictures, and the lines at fault."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from markupsafe import Markup

from ..course import Course
from ..judging.verdict import CheckResult, ExerciseResult
from ..model import faults, source
from ..publish import release
from ..runtime import card
from ..runtime.findings import Failed, Finding, findings

LINE = re.compile(r"Your code stops with \w+ at line (\d+) of the cell, ")


class Told(NamedTuple):
    """One thing that is wrong, and expected beside got as a picture, where there is one."""

    finding: Finding
    picture: Markup


@dataclass(frozen=True)
class Line:
    """A line of a student's code; ``marked`` where the fault shows."""

    text: str
    marked: bool


class Sayings:
    """What is said about the exercises of one submission; ``texts`` are the student's cells by name."""

    def __init__(self, course: Course, assignment: str, texts: dict[str, str]):
        self.course, self.assignment, self.texts = course, assignment, texts
        known, _ = faults.load(course, assignment)
        self.known = {(fault.exercise, fault.name): fault for fault in known}

    def told(self, result: ExerciseResult) -> tuple[Told, ...]:
        """Each thing that is wrong, with the values of the checks that see it."""
        failed = [self._parted(result.exercise, check) for check in result.checks if not check.passed]
        shown = {check.check: check.beside for check in result.checks if check.beside}
        made = []
        for finding in findings(failed):
            first = next((shown[check] for check in finding.checks if check in shown), None)
            made.append(Told(finding, Markup(card.pictures(first)) if first else Markup()))
        return tuple(made)

    def _parted(self, exercise: str, check: CheckResult) -> Failed:
        """What a teacher says of a failed check, and the values; the judge wrote them one behind the other."""
        fault = self.known.get((exercise, check.fault or ""))
        if fault and check.message.startswith(f"{fault.says} (") and check.message.endswith(")"):
            return Failed(check.check, check.message[len(fault.says) + 2 : -1], fault.says)
        return Failed(check.check, check.message)

    def code(self, result: ExerciseResult) -> tuple[Line, ...]:
        """The student's cell, with the lines marked where the fault shows; nothing where it is as it was released."""
        lines = self.texts.get(result.exercise, "").splitlines()
        truth = source.load(self.course, self.assignment).cell("exercise", result.exercise)
        cells = release.released_notebook(self.course, self.assignment).cells
        released = next(c.source for c in cells if c.metadata.get("nbgrader", {}).get("grade_id") == result.exercise)
        if "\n".join(lines).strip() == released.strip():
            return ()
        marked = {int(found[1]) for check in result.checks if not check.passed
                  for found in LINE.finditer(check.message)}
        for check in result.checks:
            fault = self.known.get((result.exercise, check.fault or ""))
            if fault and not check.passed:
                marked |= lines_of(fault, "\n".join(lines), truth.solution, list(self.known.values()))
        return tuple(Line(text, number in marked) for number, text in enumerate(lines, 1))


def lines_of(fault: faults.Fault, text: str, solution: str, others: Sequence[faults.Fault]) -> set[int]:
    """The numbers of the lines that hold the very words of a fault, where they stand once and not in the solution."""
    found = set()
    for _, wrong in faults.swaps(fault, others):
        wrong = wrong.strip()
        if len(wrong) > 3 and text.count(wrong) == 1 and wrong not in solution:
            first = text[: text.index(wrong)].count("\n") + 1
            found |= set(range(first, first + wrong.count("\n") + 1))
    return found
