"""What other hosts read: Binder and Codespaces of the public repository, and the container for instructors."""

import json
import os
import re
import subprocess
import sys

from environments import clean

from autograder.publish import kit, public_repository, standalone
from autograder.publish.wheels import engine_wheel
from conftest import REPOSITORY

ROOT = REPOSITORY.root


def test_binder_installs_what_a_student_needs_without_cuda():
    text, (wheel, _) = public_repository.host_files(REPOSITORY)[".binder/requirements.txt"], engine_wheel()
    assert text.splitlines()[-1] == f"./{wheel}" and standalone.CPU_INDEX in text.splitlines()[0]
    runtime = public_repository.host_files(REPOSITORY)[".binder/runtime.txt"]
    assert runtime == f"python-{REPOSITORY.metadata.oldest_python}\n"


def test_binder_installs_a_package_whose_files_are_read_and_goes_on_without_it(tmp_path):
    (tmp_path / "postBuild").write_text(public_repository.host_files(REPOSITORY)[".binder/postBuild"])
    (tmp_path / "pip").write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/asked\nexit 1\n')
    (tmp_path / "pip").chmod(0o755)
    done = subprocess.run(["sh", "-e", "postBuild"], cwd=tmp_path, env={"PATH": f"{tmp_path}:{os.environ['PATH']}"})
    asked = (tmp_path / "asked").read_text().splitlines()
    assert done.returncode == 0 and asked == [f"install --no-deps {one}" for one in REPOSITORY.metadata.no_deps]


def test_the_commands_for_conda_and_colab_name_these_packages_too():
    page = (ROOT / "docs" / "platforms.md").read_text(encoding="utf-8")
    for package in REPOSITORY.metadata.no_deps:
        assert f"pip install --no-deps . {package}" in page and f"%pip install --quiet --no-deps {package}" in page


def test_pip_reads_the_file_of_binder(tmp_path):
    """As far as it goes without the network: every line is a requirement, and it is met by what is installed here."""
    (tmp_path / "requirements.txt").write_text(public_repository.host_files(REPOSITORY)[".binder/requirements.txt"])
    name, data = engine_wheel()
    (tmp_path / name).write_bytes(data)
    command = [sys.executable, "-m", "pip", "install", "--dry-run", "--no-index", "--quiet", "-r", "requirements.txt"]
    assert subprocess.run(command, cwd=tmp_path, env=clean(), capture_output=True).returncode == 0


def test_the_container_runs_a_script_of_the_kit():
    container = json.loads(public_repository.host_files(REPOSITORY)[".devcontainer/devcontainer.json"])
    words = container["postCreateCommand"].split()
    files = {word for word in words if word.endswith((".py", ".txt"))}
    assert words[0] == "python" and files == {"install.py", "requirements.txt", "constraints.txt"}
    assert files <= kit.contents(REPOSITORY).keys()
    assert container["containerEnv"]["PIP_EXTRA_INDEX_URL"] == standalone.CPU_INDEX


def test_the_container_copies_what_is_there_and_all_that_the_engine_is_made_from():
    text = (ROOT / "Containerfile").read_text()
    copied = {name for line in re.findall(r"^COPY (.+) \S+$", text, re.M) for name in line.split()}
    assert all((ROOT / name).exists() for name in copied)
    sent = {line[1:] for line in (ROOT / ".containerignore").read_text().splitlines() if line.startswith("!")}
    assert copied == sent
    assert copied == {"autograder", "pyproject.toml", "README.md", "LICENSE", "requirements.lock"}
    assert standalone.CPU_INDEX in text and ".[grading]" in text and "USER root" not in text
