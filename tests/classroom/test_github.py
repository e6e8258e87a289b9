"""A notebook is checked in a workflow of GitHub: its lines are commands that GitHub reads, its page is Markdown."""

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import nbformat
import yaml

from autograder import cli
from autograder.classroom.platforms import github
from autograder.publish import notebooks
from autograder.runtime import messages
from conftest import REPOSITORY, TINY, TINY_COURSE, automatic_points, tiny_copy
from graded import not_written, squared, stopped, verdict

WORKFLOW = REPOSITORY.root / "ci" / "classroom.yml"
BIN = Path(sys.executable).parent
# As the runner reads a line: src/Runner.Common/ActionCommand.cs in actions/runner, `TryParseV2`, without its regular
# expressions: the command ends at the second `::`, properties at commas, and these are what stands for what.
COMMAND = re.compile(r"::(?P<name>[a-z]+)(?: (?P<properties>[^:]*))?::(?P<message>.*)")
MEANT = {"%0D": "\r", "%0A": "\n", "%3A": ":", "%2C": ",", "%25": "%"}


def read(line):
    """(name, properties, message) of a command, as GitHub understands them."""
    def plain(text):
        return re.sub("%0D|%0A|%3A|%2C|%25", lambda found: MEANT[found[0]], text)

    found = COMMAND.fullmatch(line)
    assert found, line
    properties = dict(one.split("=", 1) for one in (found["properties"] or "").split(",") if one)
    return found["name"], {name: plain(value) for name, value in properties.items()}, plain(found["message"])


def lines_of(judged, path="tp0/a.ipynb", text=""):
    return [read(line) for line in github.annotations(judged, Path(path), text)]


def test_an_annotation_stands_at_the_cell_and_says_the_sentence(right):
    text = nbformat.writes(notebooks.filled(TINY_COURSE, TINY, right))
    lines = lines_of(verdict(squared(), not_written()), text=text)
    (name, where, message), (kind, blank, _), *points = lines
    assert name == "error" and message.splitlines() == ["values: Twice every number.",
                                                        messages.result(squared().checks[0].without_instance())]
    assert (where["file"], where["title"]) == ("tp0/a.ipynb", "double: 0 of 2 points")
    assert '"grade_id": "double"' in text.splitlines()[int(where["line"]) - 1]
    assert (kind, blank["title"]) == ("warning", "encoder: 0 of 4 points")
    assert [one[1]["title"] for one in points] == ["Autograding complete", "Autograding report"]
    full = automatic_points(TINY_COURSE, TINY)
    assert json.loads(points[1][2]) == {"totalPoints": full - 6, "maxPoints": full}


def test_github_reads_points_as_they_are():
    judged = replace(verdict(), points=123.46, max_points=1234.5)
    assert [message for _, _, message in lines_of(judged)][0] == "Points 123.46/1234.5"


def test_no_words_of_a_student_are_a_command():
    hostile = "50%0A of it\r\n::add-mask::x\n::error file=/etc/passwd::y \x1b[2J \u202e,:"
    lines = lines_of(verdict(stopped(), notes=(hostile,)), path="a,b:c::error::.ipynb")
    assert [name for name, _, _ in lines] == ["error", "notice", "notice", "notice"]
    assert {where["file"] for _, where, _ in lines if "file" in where} == {"a,b:c::error::.ipynb"}
    note = lines[1][2]
    assert note.startswith("50%0A of it\\r\n::add-mask::x\n") and "\x1b" not in note and "\u202e" not in note
    page = github.summary(verdict(stopped(), notes=("<script> | [x](javascript:y)",)))
    assert "<script>" not in page and "](javascript" not in page
    table = [line for line in page.splitlines() if line.startswith("|")]
    assert len(table) == 5 and all(line.count("|") == 5 for line in table)


def test_actionlint_finds_nothing_in_the_workflow_and_something_in_a_wrong_one(tmp_path):
    def lint(text):
        path = tmp_path / ".github" / "workflows" / "classroom.yml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return subprocess.run([BIN / "actionlint", path], capture_output=True, text=True, cwd=tmp_path)

    text = WORKFLOW.read_text(encoding="utf-8")
    done = lint(text)
    assert (done.returncode, done.stdout) == (0, ""), done.stdout
    assert lint(text.replace("secrets.COURSE_TOKEN", "secret.COURSE_TOKEN")).returncode == 1


def test_the_command_of_the_workflow_does_it(tmp_path, right):
    """The step as it stands there, in a workspace as the two checkouts make it."""
    workflow = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))
    tiny_copy(tmp_path / ".course")
    cells = {exercise: source for exercise, source in right.items() if exercise != "double"}
    notebook = tmp_path / TINY / f"{TINY}.ipynb"
    notebook.parent.mkdir()
    nbformat.write(notebooks.filled(TINY_COURSE, TINY, cells), notebook)
    (step,) = (step for step in workflow["jobs"]["check"]["steps"] if step.get("name") == "Check")
    page = tmp_path / "summary.md"
    environment = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}", "GITHUB_STEP_SUMMARY": str(page),
                   "NOTEBOOK": f"{TINY}/{TINY}.ipynb"}
    done = subprocess.run(["bash", "-e", "-c", step["run"]], cwd=tmp_path, env=environment, capture_output=True,
                          text=True)
    assert done.returncode == 1, done.stderr
    kinds = [read(line)[0] for line in done.stdout.splitlines()]
    assert kinds == ["warning", "notice", "notice"]
    assert page.read_text(encoding="utf-8").startswith(f"## {TINY.replace('_', '&#95;')}: ")


def test_the_same_file_meets_another_instance_each_time(tmp_path, right, judging_here, monkeypatch):
    course = tiny_copy(tmp_path / "course")
    path = tmp_path / f"{TINY}.ipynb"
    nbformat.write(notebooks.filled(TINY_COURSE, TINY, right), path)
    page = tmp_path / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(page))
    for _ in range(2):
        cli.main(["--course", str(course.root), "check", str(path), "--github", "--device", "cpu"])
    first, second = re.findall(r"seed (\w+)\.", page.read_text())
    assert first != second


def test_what_cannot_be_graded_is_an_annotation_too(tmp_path, capfd):
    path = tmp_path / "a.ipynb"
    path.write_text("{ cut off")
    course = tiny_copy(tmp_path / "course")
    assert cli.main(["--course", str(course.root), "check", str(path), "--github"]) == 2
    name, where, message = read(capfd.readouterr().out.strip())
    assert (name, where["file"]) == ("error", str(path)) and "cut off" in message


def test_the_workflow_needs_nothing_but_reading():
    workflow = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))
    assert workflow["permissions"] == {"contents": "read"}
    for step in workflow["jobs"]["check"]["steps"]:
        assert re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", step.get("uses", f"x@{'0' * 40}"))
        assert "${{" not in step.get("run", "")  # what a student names never becomes a part of a command
