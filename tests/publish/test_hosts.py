"""What other hosts read of this repository: Binder and development containers."""

import json
import re
import subprocess
import sys

from environments import clean

from autograder.publish import editions
from autograder.publish.about import CPU_INDEX, about
from conftest import REPOSITORY

ROOT = REPOSITORY.root


def test_binder_installs_what_a_student_needs_without_cuda():
    text = (ROOT / ".binder" / "requirements.txt").read_text()
    assert text == editions.binder_requirements(REPOSITORY, "./") and CPU_INDEX in text.splitlines()[0]
    assert (ROOT / ".binder" / "runtime.txt").read_text() == f"python-{about(REPOSITORY).python}\n"


def test_pip_reads_the_file_of_binder(tmp_path):
    """As far as it goes without the network: every line is a requirement, and it is met by what is installed here."""
    command = [sys.executable, "-m", "pip", "install", "--dry-run", "--no-index", "--quiet",
               "--no-build-isolation", "-r", str(ROOT / ".binder" / "requirements.txt")]
    for name in ("autograder", "pyproject.toml", "README.md", "LICENSE"):  # what it is called in is the repository
        (tmp_path / name).symlink_to(ROOT / name)
    assert subprocess.run(command, cwd=tmp_path, env=clean(), capture_output=True).returncode == 0


def test_the_container_runs_a_script_that_is_there():
    container = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text())
    program, script, option, folder = container["postCreateCommand"].split()
    assert (program, option) == ("sh", "--student") and (ROOT / script).is_file()
    assert option in (ROOT / script).read_text()
    interpreter = container["customizations"]["vscode"]["settings"]["python.defaultInterpreterPath"]
    assert interpreter.endswith(f"/{folder}/bin/python")
    assert container["containerEnv"]["PIP_EXTRA_INDEX_URL"] == CPU_INDEX


def test_the_container_copies_what_is_there_and_all_that_the_engine_is_made_from():
    text = (ROOT / "Containerfile").read_text()
    copied = {name for line in re.findall(r"^COPY (.+) \S+$", text, re.M) for name in line.split()}
    assert all((ROOT / name).exists() for name in copied)
    sent = {line[1:] for line in (ROOT / ".containerignore").read_text().splitlines() if line.startswith("!")}
    assert copied == sent
    assert copied == {"autograder", "pyproject.toml", "README.md", "LICENSE", "requirements.lock"}
    assert CPU_INDEX in text and ".[grading]" in text and "USER root" not in text
