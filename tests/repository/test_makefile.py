"""What a reader is told to type is there: targets, the files that their commands name, and the commands themselves."""

import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from autograder import cli
from conftest import REPOSITORY

ROOT = REPOSITORY.root
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
TARGETS = re.findall(r"^([a-z]+):", MAKEFILE, re.M)
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


def commands(target):
    """What `make` would type, one command a line; all that it needs is taken for old."""
    done = subprocess.run(["make", "-n", "-B", target], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.replace("\\\n", " ").splitlines()
    return [shlex.split(line.split(" | ")[0].split(" > ")[0]) for line in lines if line.strip()]


def test_every_target_that_is_said_to_be_one_has_a_rule_and_the_other_way_round():
    phony = re.search(r"^\.PHONY: (.+)$", MAKEFILE, re.M)[1].split()
    assert sorted(phony + ["test"] * ("test" not in phony)) == sorted(TARGETS)


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_every_target_that_a_page_names_exists(page):
    text = page.read_text(encoding="utf-8")
    named = set(re.findall(r"`(?:PYTHON=\S+ )?make ([a-z]+)", text)) | set(re.findall(r"^make ([a-z]+)", text, re.M))
    assert named <= set(TARGETS)


@pytest.mark.parametrize("target", [target for target in TARGETS if target != "help"])
def test_the_commands_of_a_target_name_what_is_there(target):
    for command in commands(target):
        for word in command:
            if word.endswith((".py", ".sh")) and not word.startswith("-"):
                assert (ROOT / word).is_file(), word
        if Path(command[0]).name == "autograder":
            cli._parser().parse_args(command[1:])  # argparse ends the test where it cannot read them


@pytest.fixture(scope="module")
def dear():
    """Something of this module that would be shared."""
    return object()


@pytest.mark.skipif("PYTEST_XDIST_WORKER" not in os.environ, reason="there is one process")
def test_tests_that_share_a_fixture_run_in_one_process(request, dear):
    """Where pytest and pytest-xdist do not suit each other, nothing fails: fixtures are only made again and again."""
    assert request.node.nodeid.endswith("@repository/test_makefile.py")
