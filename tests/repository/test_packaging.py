"""Dependencies are listed once, and every other list agrees with that one."""

import io
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import metadata

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

import autograder
from autograder.publish.wheels import DISTRIBUTION, engine_wheel
from conftest import REPOSITORY

ROOT = REPOSITORY.root
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
COURSE = REPOSITORY.metadata
CONDA_NAMES = {"torch": "pytorch"}


def test_conda_environment_repeats_the_dependencies():
    text = (ROOT / "environment.yml").read_text()
    conda = set(re.findall(r"^  - (.+)$", text.split("dependencies:")[1], re.M))
    want = {re.sub(r"^[a-z]+", lambda m: CONDA_NAMES.get(m[0], m[0]), line) for line in COURSE.requirements}
    assert conda == want | {f"python{COURSE.python}", "pip"}


def test_lock_holds_every_dependency_at_a_version_that_fits():
    locked = dict(line.split("==") for line in (ROOT / "requirements.lock").read_text().split() if "==" in line)
    locked = {name.lower().replace("_", "-"): version for name, version in locked.items()}
    groups = [COURSE.requirements, PROJECT["dependencies"], *PROJECT["optional-dependencies"].values()]
    for line in (line for group in groups for line in group):
        requirement = Requirement(line)
        assert requirement.specifier.contains(locked[requirement.name.lower()]), line


def test_lock_installs_on_the_oldest_python_that_is_promised():
    oldest = PROJECT["requires-python"].removeprefix(">=") + ".0"
    names = re.findall(r"^([\w.-]+)==", (ROOT / "requirements.lock").read_text(), re.M)
    wanted = {name: metadata(name).get("Requires-Python", "") for name in names}
    assert PROJECT["requires-python"] == COURSE.python
    assert [name for name, versions in wanted.items() if not SpecifierSet(versions).contains(oldest)] == []


def test_lock_names_no_place():
    assert not re.search(r"://|@|\+cpu|file:", (ROOT / "requirements.lock").read_text())


def test_the_engine_has_a_name_and_a_version_and_is_a_distribution_of_its_own():
    assert (PROJECT["name"], PROJECT["version"]) == (DISTRIBUTION, autograder.__version__)
    assert PROJECT["dependencies"] == ["numpy>=1.26"]


def test_every_file_of_the_engine_is_in_its_wheel_and_nothing_of_the_course(tmp_path):
    """In the one that setuptools builds, and in the one that a kit holds."""
    shutil.copytree(ROOT / "autograder", tmp_path / "autograder", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path / name)
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path / "dist"), "."]
    subprocess.run(build, cwd=tmp_path, check=True, capture_output=True)
    tracked = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "autograder"], cwd=ROOT,
                             capture_output=True, text=True, check=True).stdout.split()
    there = {name for name in tracked if (ROOT / name).exists()}
    for wheel in (next((tmp_path / "dist").glob("*.whl")), io.BytesIO(engine_wheel()[1])):
        with zipfile.ZipFile(wheel) as archive:
            assert {name for name in archive.namelist() if ".dist-info/" not in name} == there


def test_what_the_engine_needs_besides_the_runtime_is_an_extra():
    """A module of the runtime imports numpy, and what a notebook has; everything else is listed for an instructor."""
    extras = {Requirement(line).name.lower() for line in PROJECT["optional-dependencies"]["grading"]}
    assert {"nbgrader", "jupytext", "psutil", "pyseccomp", "msgspec", "nh3"} <= extras
    assert not extras & {"torch", "jupyterlab", "ipywidgets", "sacrebleu"}
