"""GitHub: a verdict as annotations of a workflow's run, and as the page of its summary.

The form of the lines is that of https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands,
their escapes those of `actions/toolkit`, `packages/core/src/command.ts`. GitHub Classroom reads the points from two
notices, as `classroom-resources/autograding-grading-reporter`, `src/notify-classroom.js`, writes them.
"""

import json
import re
from pathlib import Path

from ... import escaping
from ...judging.verdict import ExerciseResult, Verdict
from ...runtime import messages
from ...runtime.findings import findings
from ...runtime.text import decimals, points_text

MARKS = {"passed": "✅", "partial": "🟡", "missing": "⬜"}


def annotations(verdict: Verdict, notebook: Path, text: str) -> list[str]:
    """Return the lines that a workflow prints about a notebook of this ``text``: one an exercise that lacks points."""
    lines = []
    for exercise in verdict.exercises:
        if exercise.points < exercise.max_points:
            kind = "warning" if exercise.outcome == "missing" else "error"
            lines.append(command(kind, "\n".join(_reasons(exercise)), file=notebook,
                                 line=_line(text, exercise.exercise),
                                 title=f"{exercise.exercise}: {points_text(exercise.points, exercise.max_points)}"))
    lines += [command("notice", note, file=notebook, title="Note") for note in verdict.notes]
    points = {"totalPoints": verdict.points, "maxPoints": verdict.max_points}
    written = "/".join(map(decimals, points.values()))
    lines.append(command("notice", f"Points {written}", title="Autograding complete"))
    lines.append(command("notice", json.dumps(points), title="Autograding report"))
    return lines


def summary(verdict: Verdict) -> str:
    """Return the page in Markdown."""
    lines = [f"## {escaping.markdown(verdict.session)}: {points_text(verdict.points, verdict.max_points)}", "",
             "| | exercise | points | |", "|---|---|---|---|"]
    for exercise in verdict.exercises:
        reasons = "<br>".join(map(escaping.markdown, _reasons(exercise))) or "all checks pass"
        lines.append(f"| {MARKS.get(exercise.outcome, '❌')} | {escaping.markdown(exercise.exercise)} "
                     f"| {points_text(exercise.points, exercise.max_points)} | {reasons} |")
    lines += ["", *(f"- {escaping.markdown(note)}" for note in verdict.notes), "",
              f"Isolation {verdict.isolation}, {verdict.seconds:.1f} s, seed {verdict.seed}. "
              "Written answers are read by a person."]
    return "\n".join(lines) + "\n"


def command(kind: str, message: str, **properties: object) -> str:
    """Return a workflow command; with any message, it is one line and one command."""
    where = ",".join(f"{name}={_escaped(str(value), ':,')}" for name, value in properties.items())
    return f"::{kind} {where}::{_escaped(message)}"


def _escaped(text: str, more: str = "") -> str:
    text = escaping.lines(text).replace("%", "%25").replace("\n", "%0A")
    for character in more:
        text = text.replace(character, f"%{ord(character):02X}")
    return text


def _reasons(exercise: ExerciseResult) -> list[str]:
    """Return each finding by its first check: what this asks for, and its result without a number of the instance."""
    first_results = [finding.results[0] for finding in findings(exercise.checks)]
    return [line for result in first_results
            for line in (f"{result.check}: {result.description}", messages.result(result.without_instance()))]


def _line(text: str, exercise: str) -> int:
    """Return the line of the file that names the exercise's cell."""
    match = re.search(rf'"grade_id":\s*"{re.escape(exercise)}"', text)
    return text.count("\n", 0, match.start()) + 1 if match else 1
