"""The findings in an exercise as a student reads them: each sentence once, tables, and the lines where it stopped."""

from dataclasses import dataclass

from markupsafe import Markup

from ..judging.verdict import ExerciseResult
from ..runtime import card, messages, side_by_side
from ..runtime.findings import Finding, findings
from ..runtime.syntax import code_lines
from ..runtime.text import short


@dataclass(frozen=True)
class FindingView:
    """One thing that is wrong, as a student reads it."""

    finding: Finding
    headline: str
    details: list[tuple[str, str]]  # the checks with this finding, and their sentences
    place: str  # where the answer first goes wrong, in HTML, if known
    side_by_side: str  # expected beside got, where it can be shown, in HTML


def finding_view(finding: Finding, text: str) -> FindingView:
    """Return a finding as a student reads it, whose cell is ``text``."""
    return FindingView(
        finding, messages.headline(finding), messages.details(finding),
        place=Markup(card.placed(finding.place, [text], graded=True)) if finding.place else "",
        side_by_side=Markup(side_by_side.as_html(finding.side_by_side)) if finding.side_by_side else "")


@dataclass(frozen=True)
class Line:
    """A line of a student's code; ``marked`` where it stopped, or where others have the same."""

    text: str
    marked: bool


def finding_views(result: ExerciseResult, text: str) -> tuple[FindingView, ...]:
    """Return each thing that is wrong in an exercise, whose cell is ``text``."""
    return tuple(finding_view(finding, text) for finding in findings(result.checks))


def code_of(result: ExerciseResult, text: str, released: str) -> tuple[Line, ...]:
    """Return the student's cell, with the lines marked where it stopped; nothing where it is as it was released."""
    lines = code_lines(text)
    if "\n".join(lines).strip() == released.strip():
        return ()
    errors = (check.difference.error for check in result.checks if check.difference and check.difference.error)
    stopped = {error.where.line for error in errors if error.where
               and short("".join(lines[error.where.line - 1:][:1])) == error.where.text}  # the line is of this cell
    return tuple(Line(line, number in stopped) for number, line in enumerate(lines, 1))
