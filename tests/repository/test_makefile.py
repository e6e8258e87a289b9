"""What a reader is told to type is there: targets, the files that their commands name, and the commands themselves."""

import ast
import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest
import torch

from autograder import cli
from bench import gpu
from conftest import REPOSITORY

ROOT = REPOSITORY.root
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
TARGETS = re.findall(r"^([a-z]+):", MAKEFILE, re.M)
TRACKED = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
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


def test_every_target_that_code_names_exists():
    texts = "\n".join((ROOT / name).read_text(encoding="utf-8") for name in TRACKED if name.endswith((".py", ".sh")))
    assert set(re.findall(r"`make ([a-z]+)", texts)) <= set(TARGETS)


SUFFIXES = {".cfg", ".j2", ".md", ".py", ".sh", ".toml", ".txt", ".yaml", ".yml"}
TEXTS = [ROOT / name for name in TRACKED if Path(name).suffix in SUFFIXES and name != "CHANGELOG.md"
         and not name.startswith("tests/")]


def commands_in(text):
    """The commands of the engine in a text: whole lines, as a script or a page has them, and what backticks enclose."""
    for line in re.findall(r"^[ \t]*(?:(?:- )?(?:run|entry): |- )?(?:[\w./$()]+/)?autograder (?![:={])(.+)$"
                           r"|`autograder (?!COMMAND)([^`\n]+)`", text, re.M):
        plain = re.sub(r"\[.*?\]|…|\|[a-z|]+|\s(?:#|>|\|).*$", "", "".join(line))  # optional words, the shell's part
        yield re.sub(r'"[^"]*\$[^"]*"|\$\w+|\bN\b', "1", plain)


def commands_of(path):
    """The commands of the engine in a file, as words; in Python also those of its subprocesses."""
    text = path.read_text(encoding="utf-8")
    yield from map(shlex.split, commands_in(text))
    for node in ast.walk(ast.parse(text)) if path.suffix == ".py" else ():
        words = getattr(node, "elts", None) or getattr(node, "args", None)
        words = [getattr(word, "value", "1") for word in words if not isinstance(word, ast.Starred)] \
            if isinstance(words, list) else []
        if ("-m", "autograder") in zip(words, words[1:], strict=False):
            yield [str(word) for word in words[words.index("-m") + 2:]]


def refusal(words, capsys):
    """What is said of a command that is not accepted; None of one that is, be it with a name to add to it."""
    try:
        cli._parser().parse_args(words)
    except cli.AutograderError as error:
        return str(error)
    except SystemExit as stop:
        said = capsys.readouterr().err
        return said if stop.code and "the following arguments are required" not in said else None
    return None


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_command_that_a_file_names_is_one(path, capsys):
    for words in commands_of(path):
        assert refusal(words, capsys) is None, words


@pytest.mark.parametrize("text", ["autograder prove", "  run: autograder --course x audit --sedes 3",
                                  "`autograder lend`", "$(BIN)/autograder check --tp tp1 x.ipynb",
                                  "`autograder nothing [SESSION …]`"])
def test_a_command_that_is_none_is_seen(text, capsys):
    (command,) = commands_in(text)
    assert refusal(shlex.split(command), capsys)


def test_the_commands_that_files_name_are_found():
    found = [words for path in TEXTS for words in commands_of(path)]
    assert len(found) > 100 and {name for words in found for name in words} >= cli.DESCRIPTIONS.keys()


def test_every_command_of_make_gpu_is_one(monkeypatch):
    typed = []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "none")
    for part in ("graded", "greedy", "agreement", "steps"):
        monkeypatch.setattr(gpu, part, lambda *arguments: {})
    monkeypatch.setattr(gpu.subprocess, "run", lambda command, **options: typed.append(command) or
                        subprocess.CompletedProcess(command, 0, "", ""))
    assert [row.get("failure", "") for row in gpu.measure(False, 1, None)["rows"]] == [""] * 4
    for command in typed:
        cli._parser().parse_args(command[command.index("-m") + 2:])
    assert len(typed) == 2


@pytest.fixture(scope="module")
def dear():
    """Something of this module that would be shared."""
    return object()


@pytest.mark.skipif("PYTEST_XDIST_WORKER" not in os.environ, reason="there is one process")
def test_tests_that_share_a_fixture_run_in_one_process(request, dear):
    """Where pytest and pytest-xdist do not suit each other, nothing fails: fixtures are only made again and again."""
    assert request.node.nodeid.endswith("@repository/test_makefile.py")
