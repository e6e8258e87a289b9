"""From a handed-in file to a verdict and a notebook that nbgrader can show, whatever the file holds."""

import copy
import hashlib
import textwrap
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

from . import release, source, submission
from .judge import Judge, seed_of
from .records import Records


def mark(judge: Judge, records: Records, tp: str, student: str, path: Path) -> dict:
    """The verdict on the file at ``path``: the recorded one while nothing has changed, else a new one, recorded."""
    data, unreadable = read(path)
    kept = known(records, tp, student, data, judge.device, judge.sandbox.isolation)
    if kept:
        return kept
    return recorded(records, student, data, judged(judge, data, unreadable, tp, seed_of(records.secret(), student, tp, data), path.name))


def read(path: Path) -> tuple[bytes, str | None]:
    """The bytes of a handed-in file, and why there is nothing to grade, if so; ``OSError`` when this machine cannot read it."""
    try:
        return submission.read_bytes(path), None
    except submission.Unreadable as error:
        return b"", str(error)


def known(records: Records, tp: str, student: str, data: bytes, device: str, isolation: str) -> dict | None:
    """The recorded verdict on a student's submission, if it was made on the same things."""
    verdict = records.load(tp, student)
    return verdict if verdict and verdict.get("key") == _key(data, tp, device, isolation) else None


def recorded(records: Records, student: str, data: bytes, verdict: dict) -> dict:
    """The verdict with whose it is and what it was made on, as it stands recorded from now on."""
    verdict = {"student": student, **verdict, "key": _key(data, verdict["assignment"], verdict["device"], verdict["isolation"])}
    records.save(verdict["assignment"], student, verdict)
    return verdict


def _key(data, tp, device, isolation):
    """What a verdict depends on; while it stays the same, nothing is judged again."""
    return {"submission": hashlib.sha256(data).hexdigest(), "made_from": release.digest(tp), "device": device, "isolation": isolation}


def judged(judge: Judge, data: bytes, unreadable: str | None, tp: str, seed: str, what: str) -> dict:
    """A verdict for whatever was handed in: what cannot be graded has no points, and a reason."""
    try:
        if unreadable:
            raise submission.Unreadable(unreadable)
        return judge.grade(data, tp, seed, what)
    except submission.Unreadable as error:
        return _nothing(judge, tp, seed, str(error))


def _nothing(judge, tp, seed, reason):
    """The verdict on a file that cannot be graded: no points, and why."""
    truth = source.load(tp)
    exercises = [
        {"exercise": name, "score": 0.0, "max_score": truth.points(name), "verdict": "missing",
         "checks": [{"check": "submission", "passed": False, "message": f"Nothing to grade: {reason}.", "mistake": None}]}
        for name in truth.exercises
    ]
    return {"assignment": tp, "score": 0.0, "max_score": sum(e["max_score"] for e in exercises), "isolation": judge.sandbox.isolation,
            "device": judge.device, "seconds": 0.0, "seed": seed, "notes": [reason], "unreadable": reason, "exercises": exercises}


def rebuilt(tp: str, data: bytes) -> nbformat.NotebookNode:
    """The released notebook with the student's answers in it; sound whatever was handed in, blank for what is no notebook."""
    notebook = copy.deepcopy(release.released_notebook(tp))
    try:
        cells = submission.parse(data)
    except submission.Unreadable:
        cells = []
    truth = source.load(tp)
    fillable = {cell.grade_id for cell in truth.by_role("exercise", "answer")}
    known = {cell.grade_id for cell in truth.cells if cell.grade_id}
    answers, own, last = {}, {}, None
    for cell in cells:
        if cell["grade_id"] in fillable:
            answers[cell["grade_id"]] = "\n\n".join(filter(None, [answers.get(cell["grade_id"]), cell["source"]]))
        if cell["grade_id"] in known:
            last = cell["grade_id"]
        elif cell["type"] == "code" and cell["source"].strip():
            own.setdefault(last, []).append(cell["source"])
    result = [_own(text, i) for i, text in enumerate(own.pop(None, []))]
    for cell in notebook.cells:
        grade_id = cell.metadata.get("nbgrader", {}).get("grade_id")
        if grade_id in answers:
            cell.source = answers[grade_id]
        result.append(cell)
        result += [_own(text, f"{grade_id}-{i}") for i, text in enumerate(own.get(grade_id, []))]
    notebook.cells = result
    return notebook


def _own(text, at):
    return new_code_cell(text, id=f"own-{at}")


def annotated(notebook: nbformat.NotebookNode, verdict: dict) -> nbformat.NotebookNode:
    """The rebuilt notebook with the judge's reasons as the outputs of its check cells."""
    reasons = {f"check-{e['exercise']}": explain(e) for e in verdict["exercises"]}
    for cell in notebook.cells:
        grade_id = cell.metadata.get("nbgrader", {}).get("grade_id")
        if cell.cell_type == "code":
            cell.outputs = [new_output("stream", name="stdout", text=reasons[grade_id])] if grade_id in reasons else []
    notes = list(verdict["notes"])
    if verdict["isolation"] == "none":
        notes.append("graded without isolation")
    if notes:
        text = "**Notes of the grader**\n\n" + "\n".join(f"- {_literal(note)}" for note in notes)
        notebook.cells.insert(0, new_markdown_cell(text, id="grader-notes"))
    return notebook


def _literal(text):
    """Text of a student's as it stands: no Markdown, no HTML."""
    return "".join(f"&#{ord(c)};" if c in "<>&*_`[]()!#|\\~$" else c for c in text)


def explain(exercise: dict) -> str:
    """The reasons of a verdict on one exercise, as a student reads them."""
    lines = [f"{exercise['exercise']}: {exercise['score']:.4g} of {exercise['max_score']:.4g} points ({exercise['verdict']})"]
    for check in exercise["checks"]:
        line = f"{'✓' if check['passed'] else '✗'} {check['check']}: {check['message']}"
        lines.append(textwrap.fill(line, 100, initial_indent="  ", subsequent_indent="      "))
    return "\n".join(lines) + "\n"
