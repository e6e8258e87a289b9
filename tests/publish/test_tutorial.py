"""The tutorial of docs/authoring.md, followed from its first line to its last: what it says is what happens."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import REPOSITORY

PAGE = (REPOSITORY.root / "docs" / "authoring.md").read_text(encoding="utf-8")
TUTORIAL = PAGE.split("\n## Reference\n")[0]
STEP = re.compile(r"^Append to `(?P<append>[^`]+)`:\n\n```python\n(?P<text>.*?)^```$"
                  r"|^In `(?P<change>[^`]+)` change `(?P<old>[^`]+)` to `(?P<new>[^`]+)`\.$"
                  r"|^```sh\n(?P<sh>.*?)^```$|^```text\n(?P<shown>.*?)^```$", re.M | re.S)


def steps():
    return [{kind: text for kind, text in match.groupdict().items() if text} for match in STEP.finditer(TUTORIAL)]


def test_every_block_of_the_tutorial_is_a_step():
    assert len(re.findall(r"^```\w+$", TUTORIAL, re.M)) == sum("change" not in step for step in steps())
    assert TUTORIAL.count(" change `") == sum("change" in step for step in steps())
    assert [list(step) for step in steps()].count(["sh"]) >= 6


@pytest.mark.slow
def test_the_tutorial_happens_as_it_says(tmp_path):
    """Each block of output follows from the commands before it, line by line, to the end of the shown line."""
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "autograder").write_text(f'#!/bin/sh\nexec {sys.executable} -m autograder "$@"\n')
    (programs / "autograder").chmod(0o755)
    env = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(REPOSITORY.root)}
    here, said = tmp_path, ""
    for step in steps():
        if "sh" in step:
            said = ""
            for line in step["sh"].splitlines():
                if line.startswith("cd "):
                    here = here / line.removeprefix("cd ")
                    continue
                done = subprocess.run(line, shell=True, cwd=here, env=env, capture_output=True, text=True)
                assert "Traceback" not in done.stderr, done.stderr
                said += done.stdout + done.stderr
        elif "shown" in step:
            for line in step["shown"].splitlines():
                assert any(true.startswith(line) for true in said.splitlines()), f"{line!r} is not in\n{said}"
        elif "append" in step:
            with open(here / step["append"], "a", encoding="utf-8") as file:
                file.write(step["text"])
        else:
            _change(here / step["change"], step["old"], step["new"])


def _change(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), encoding="utf-8")
