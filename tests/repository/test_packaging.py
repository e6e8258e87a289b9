"""Dependencies are listed once, and every other list agrees with that one."""

import re
import subprocess
import tomllib
from importlib.metadata import metadata

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from conftest import REPOSITORY

ROOT = REPOSITORY.root
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT, SETUPTOOLS = PYPROJECT["project"], PYPROJECT["tool"]["setuptools"]
CONDA_NAMES = {"torch": "pytorch"}


def test_conda_environment_repeats_the_dependencies():
    text = (ROOT / "environment.yml").read_text()
    conda = set(re.findall(r"^  - (.+)$", text.split("dependencies:")[1], re.M))
    want = {re.sub(r"^[a-z]+", lambda m: CONDA_NAMES.get(m[0], m[0]), line) for line in PROJECT["dependencies"]}
    assert conda == want | {f"python{PROJECT['requires-python']}", "pip"}


def test_lock_holds_every_dependency_at_a_version_that_fits():
    locked = dict(line.split("==") for line in (ROOT / "requirements.lock").read_text().split() if "==" in line)
    locked = {name.lower().replace("_", "-"): version for name, version in locked.items()}
    for line in PROJECT["dependencies"] + [d for group in PROJECT["optional-dependencies"].values() for d in group]:
        requirement = Requirement(line)
        assert requirement.specifier.contains(locked[requirement.name.lower()]), line


def test_lock_installs_on_the_oldest_python_that_is_promised():
    oldest = PROJECT["requires-python"].removeprefix(">=") + ".0"
    names = re.findall(r"^([\w.-]+)==", (ROOT / "requirements.lock").read_text(), re.M)
    wanted = {name: metadata(name).get("Requires-Python", "") for name in names}
    assert [name for name, versions in wanted.items() if not SpecifierSet(versions).contains(oldest)] == []


def test_lock_names_no_place():
    assert not re.search(r"://|@|\+cpu|file:", (ROOT / "requirements.lock").read_text())


def test_every_package_and_what_it_reads_is_installed():
    there = set()
    for name, folder in SETUPTOOLS["package-dir"].items():
        for path in (ROOT / folder).rglob("__init__.py"):
            there.add(".".join([name, *path.parent.relative_to(ROOT / folder).parts]))
    assert set(SETUPTOOLS["packages"]) == there
    shipped = set()
    for package, patterns in SETUPTOOLS["package-data"].items():
        top, *below = package.split(".")
        folder = (ROOT / SETUPTOOLS["package-dir"][top]).joinpath(*below)
        shipped |= {path for pattern in patterns for path in folder.glob(pattern)}
    tracked = subprocess.run(["git", "ls-files", *SETUPTOOLS["package-dir"].values()], cwd=ROOT, capture_output=True,
                             text=True, check=True).stdout.split()
    assert {ROOT / name for name in tracked if not name.endswith(".py")} == shipped


def test_every_target_of_the_readme_exists():
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.M))
    assert set(re.findall(r"make ([a-z]+)", (ROOT / "README.md").read_text())) <= targets
