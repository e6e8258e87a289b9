"""The reasons that a student reads about one submission: each sentence once, tables, and the lines at fault."""

from dataclasses import dataclass

from markupsafe import Markup

from ..judging.verdict import ExerciseResult
from ..model import faults, loading
from ..model.source import Source
from ..publish import notebooks
from ..runtime import card, messages
from ..runtime.findings import Finding, findings
from ..runtime.syntax import code_lines
from ..runtime.values import short


@dataclass(frozen=True)
class Reason:
    """One thing that is wrong, as a student reads it."""

    finding: Finding
    headline: str
    details: list[tuple[str, str]]  # the checks with this finding, and their sentences
    place: str  # where the answer first goes wrong, in HTML, if known
    side_by_side: str  # expected beside got, where it can be shown, in HTML


def reason_of(finding: Finding, text: str) -> Reason:
    """Return a finding as a student reads it, whose cell is ``text``."""
    return Reason(finding, messages.headline(finding), messages.details(finding),
                  place=Markup(card.placed(finding.place, [text], graded=True)) if finding.place else "",
                  side_by_side=Markup(card.side_by_side_html(finding.side_by_side)) if finding.side_by_side else "")


@dataclass(frozen=True)
class Line:
    """A line of a student's code; ``marked`` where a fault shows, or where others have the same."""

    text: str
    marked: bool


class Reasons:
    """The reasons for the exercises of one submission; ``texts`` are the student's cells by name."""

    def __init__(self, source: Source, texts: dict[str, str]):
        self.source, self.texts = source, texts
        known, _ = loading.versions_of(source)
        self.known = {(fault.exercise, fault.name): fault for fault in known}

    def of(self, result: ExerciseResult) -> tuple[Reason, ...]:
        """Return each thing that is wrong."""
        text = self.texts.get(result.exercise, "")
        return tuple(reason_of(finding, text) for finding in findings(result.checks))

    def code(self, result: ExerciseResult) -> tuple[Line, ...]:
        """Return the student's cell, with the lines marked where the fault shows.

        Nothing where it is as it was released.
        """
        lines = code_lines(self.texts.get(result.exercise, ""))
        if "\n".join(lines).strip() == notebooks.released_text(self.source, result.exercise).strip():
            return ()
        marked, solution = set(), self.source.cell("exercise", result.exercise).solution
        for check in result.checks:
            error = check.difference.error if check.difference else None
            if error and error.where and short("".join(lines[error.where.line - 1 :][:1])) == error.where.text:
                marked.add(error.where.line)  # the text shows that the number counts in this cell
            fault = self.known.get((result.exercise, check.fault.name)) if check.fault else None
            if fault:
                marked |= lines_of(fault, "\n".join(lines), solution)
        return tuple(Line(text, number in marked) for number, text in enumerate(lines, 1))


def lines_of(fault: faults.Fault, text: str, solution: str) -> set[int]:
    """Return the numbers of the lines with the changed text of a fault, if it occurs once and not in the solution."""
    numbers: set[int] = set()
    for _, wrong in faults.edits(fault):
        wrong = wrong.strip()
        if len(wrong) > 3 and text.count(wrong) == 1 and wrong not in solution:
            first = text[: text.index(wrong)].count("\n") + 1
            numbers |= set(range(first, first + wrong.count("\n") + 1))
    return numbers
