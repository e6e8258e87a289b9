"""What runs on a server is what runs here: workflows that can be read, and the very commands of a course's checks."""

import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from string import Template

import pytest
import yaml

from autograder.course import Course
from conftest import REPOSITORY, TINY, TINY_COURSE
from shell import typed

ROOT = REPOSITORY.root
BIN = Path(sys.executable).parent
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PAGE = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
COURSE = yaml.safe_load((ROOT / ".github" / "workflows" / "course.yml").read_text(encoding="utf-8"))
GITLAB_HEAD, GITLAB = yaml.safe_load_all((ROOT / "ci" / "gitlab.yml").read_text(encoding="utf-8"))
INPUTS = COURSE[True]["workflow_call"]["inputs"]  # YAML 1.1 reads the key `on` as True
GITLAB_INPUTS = GITLAB_HEAD["spec"]["inputs"]


def of_the_engine(lines):
    return [line for line in lines if line.startswith("autograder ")]


COMMANDS = of_the_engine(step.get("run", "") for step in COURSE["jobs"]["course"]["steps"])


def examples():
    """The YAML examples of the page: a workflow that calls ours, and a GitLab file that includes ours."""
    return re.findall(r"^```yaml\n(.*?)^```", PAGE, re.M | re.S)


def actionlint(*arguments, text=""):
    program = shutil.which("actionlint", path=BIN)
    if program is None:
        pytest.skip("no actionlint in this environment")
    return subprocess.run([program, "-no-color", *arguments], input=text, capture_output=True, text=True, cwd=ROOT)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_actionlint_finds_nothing_in_a_workflow(path):
    done = actionlint(path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_actionlint_finds_nothing_in_the_example():
    done = actionlint("-", text=examples()[0])
    assert done.returncode == 0, done.stdout + done.stderr


def test_actionlint_does_look():
    done = actionlint("-", text=WORKFLOWS[0].read_text(encoding="utf-8").replace("github.ref", "github.reef"))
    assert done.returncode == 1 and "reef" in done.stdout


def test_every_action_is_pinned_to_a_commit():
    used = [name for path in WORKFLOWS for name in re.findall(r"uses: (\S+)", path.read_text(encoding="utf-8"))]
    assert [name for name in used if not re.search(r"@[0-9a-f]{40}$|^\./", name)] == []


def test_github_gitlab_and_the_page_say_the_same_commands():
    assert [" ".join(command.split('"$COURSE" ')[1].split()[:2]) for command in COMMANDS] == [
        "release --check", "audit --notebooks", "audit --seeds"]
    assert of_the_engine(GITLAB["course"]["script"]) == GITLAB["course"]["script"] == COMMANDS
    assert "\n".join(COMMANDS) in PAGE


def test_github_and_gitlab_take_the_same_inputs():
    assert list(INPUTS) == list(GITLAB_INPUTS)
    assert {name: given["default"] for name, given in GITLAB_INPUTS.items() if "default" in given} == {
        name: given["default"] for name, given in INPUTS.items() if name != "engine"}


def test_the_examples_give_inputs_that_exist():
    workflow, gitlab = map(yaml.safe_load, examples())
    assert set(workflow["jobs"]["course"]["with"]) <= set(INPUTS)
    needed = {name for name, given in GITLAB_INPUTS.items() if "default" not in given}
    assert needed <= set(gitlab["include"][0]["inputs"]) <= set(GITLAB_INPUTS)


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """What a server sets: the tiny course, released, and how often it is audited."""
    course = tmp_path_factory.mktemp("ci") / "course"
    shutil.copytree(TINY_COURSE.root, course)
    source = Course(course).script(TINY)
    text = source.read_text(encoding="utf-8")
    # Its training cell raises, to show that grading leaves it out; a server executes it.
    source.write_text(re.sub(r"^raise SystemExit\(.*\)$", "pass", text, flags=re.M), encoding="utf-8")
    variables = {"COURSE": str(course), "SEEDS": INPUTS["seeds"]["default"]}
    status, said = run('autograder --course "$COURSE" release', variables)
    assert status == 0, said
    return variables


def run(command, variables):
    """Type a command with these variables: (exit status, all that it says)."""
    words = [Template(word).substitute(variables) for word in shlex.split(command)]
    status, out, err = typed(*words, folder=variables["COURSE"])
    return status, out + err


@pytest.mark.parametrize("command", COMMANDS)
def test_the_commands_are_content_with_a_course_that_is_well(command, environment):
    status, said = run(command, environment)
    assert status == 0, said


def test_a_changed_source_makes_the_release_stale(environment, tmp_path):
    course = shutil.copytree(environment["COURSE"], tmp_path / "course")
    source = Course(course).script(TINY)
    source.write_text(source.read_text(encoding="utf-8").replace("# # A tiny TP", "# # A small TP"), encoding="utf-8")
    status, said = run(COMMANDS[0], {**environment, "COURSE": str(course)})
    assert status == 1 and f"{TINY}.ipynb" in said, said


def test_everything_that_names_the_version_names_the_same():
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["version"]
    changes = re.findall(r"^## (\d+\.\d+\.\d+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)
    assert {version, citation, changes[0], *re.findall(r"@v(\d+\.\d+\.\d+)", PAGE)} == {version}
    assert changes == sorted(changes, key=lambda name: [int(part) for part in name.split(".")], reverse=True)
