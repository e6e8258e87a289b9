"""The autograder zip, in the layout that Gradescope's pages describe: setup.sh, run_autograder, results.json."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import nbformat
import pytest

from autograder import cli
from autograder.classroom.platforms import gradescope
from autograder.judging import judge_process
from autograder.judging.judge import Judge
from autograder.publish import notebooks
from autograder.runtime import messages
from autograder.sandbox.options import Options
from conftest import REPOSITORY, SHORT, TINY, TINY_COURSE, handed, tiny_copy
from graded import not_written, squared, stopped, verdict

# The fields of a test and their types, and the words for its status and visibility:
# https://gradescope-autograders.readthedocs.io/en/latest/specs/#output-format
TOP = {"score": (int, float), "execution_time": int, "output": str, "output_format": str, "visibility": str,
       "stdout_visibility": str, "extra_data": dict, "tests": list, "leaderboard": list, "test_name_format": str,
       "test_output_format": str}
TEST = {"score": (int, float), "max_score": (int, float), "status": str, "name": str, "name_format": str,
        "number": str, "output": str, "output_format": str, "tags": list, "visibility": str, "extra_data": dict}
FORMATS, SHOWN = {"text", "html", "simple_format", "md", "ansi"}, {"visible", "hidden", "after_due_date",
                                                                   "after_published"}


def fits(results):
    """Whether Gradescope reads these results, by its page."""
    for fields, values in ((TOP, results), *((TEST, test) for test in results["tests"])):
        for name, value in values.items():
            assert isinstance(value, fields[name]), name
        assert values.get("output_format", "text") in FORMATS and values.get("visibility", "visible") in SHOWN
    assert results.get("stdout_visibility", "hidden") in SHOWN
    assert all(test["status"] in ("passed", "failed") and 0 <= test["score"] <= test["max_score"]
               for test in results["tests"])
    return True


def test_one_test_for_each_exercise_with_the_sentence(tiny):
    hostile = "a note with \x1b[2J and \u202e"
    results = gradescope.results(verdict(squared(), not_written(), stopped(), notes=(hostile,)))
    assert fits(results)
    tests = {test["name"]: test for test in results["tests"]}
    says = messages.result(squared().checks[0].without_instance())
    assert list(tests) == ["double", "encoder", "last"]
    assert (tests["double"]["score"], tests["double"]["max_score"], tests["double"]["status"]) == (0, 2, "failed")
    assert " ".join(tests["double"]["output"].split()).count(says) == 1
    assert not re.search(r"\d", tests["double"]["output"]), "no number of a hidden instance is told"
    assert re.search(r"expected \d", messages.result(squared().checks[0])), "the control: in a class one is"
    assert "IndexError" in tests["last"]["output"] and "not written yet" in tests["encoder"]["output"]
    assert "\x1b" not in results["output"] and "\u202e" not in results["output"] and "bubblewrap" in results["output"]
    assert all(test["status"] == "passed" for test in gradescope.results(verdict())["tests"])


@pytest.mark.parametrize("names, chosen", [
    (["mine.ipynb"], "mine.ipynb"),
    ([f"{TINY}.ipynb", "scratch.ipynb"], f"{TINY}.ipynb"),
    ([f"work/{TINY}.ipynb", f"work/.ipynb_checkpoints/{TINY}.ipynb"], f"{TINY}.ipynb"),
    (["a.ipynb", "b.ipynb"], None),
    (["notes.txt"], None),
    ([], None),
])
def test_the_notebook_is_found_or_said_to_be_missing(tmp_path, names, chosen):
    for name in names:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}")
    found = gradescope.find(tmp_path, TINY)
    if chosen:
        assert (found.filename, found.data, found.unreadable) == (chosen, b"{}", None)
    else:
        assert f"hand in {TINY}.ipynb" in found.unreadable


@pytest.fixture
def packed(tmp_path):
    """A copy of the tiny course, and the zip that the command writes."""
    course = tiny_copy(tmp_path / "course")
    assert cli.main(["--course", str(course.root), "pack", "gradescope", TINY]) == 0
    return course, course.root / "dist" / f"gradescope-{TINY}.zip"


def test_the_zip_has_what_it_must_at_its_top_and_asks_for_what_is_needed(packed, capsys):
    course, path = packed
    with zipfile.ZipFile(path) as archive:
        names = set(archive.namelist())
        modes = {name: archive.getinfo(name).external_attr >> 16 & 0o777 for name in names}
        needs = archive.read("requirements.txt").decode().splitlines()
    assert {"setup.sh", "run_autograder"} <= names and modes["setup.sh"] == modes["run_autograder"] == 0o755
    assert {f"course/solutions/{TINY}/{TINY}.py", "engine/autograder/cli.py"} <= names
    assert {re.split("[<>=]", line)[0] for line in needs} >= {"numpy", "nbgrader", "psutil", "pyseccomp", "msgspec"}
    assert not any(line.startswith(("pytest", "distributed")) for line in needs)
    assert not any(name.startswith("course/gradebook") for name in names)  # the secret stays here
    for script in ("setup.sh", "run_autograder"):
        subprocess.run(["bash", "-n", gradescope.FILES / script], check=True)
    assert cli.main(["--course", str(course.root), "pack", "gradescope", "tp9"]) == 2
    assert "there is no session called tp9" in capsys.readouterr().err


def test_the_real_course_is_packed_with_its_helpers(tmp_path):
    path = tmp_path / "autograder.zip"
    session = REPOSITORY.sessions[-1]
    gradescope.pack(REPOSITORY, session, path)
    with zipfile.ZipFile(path) as archive:
        names, needs = archive.namelist(), archive.read("requirements.txt").decode().splitlines()
    assert {name.split("/")[2] for name in names if name.startswith("course/solutions/")} == {session}
    assert "course/course/tp/__init__.py" in names and set(REPOSITORY.metadata.requirements) <= set(needs)


def test_what_stalls_the_judge_has_results_too(packed, tmp_path, served_here, monkeypatch):
    """The judge is watched there as it is elsewhere."""
    with zipfile.ZipFile(packed[1]) as archive:
        archive.extractall(tmp_path / "source")
    (tmp_path / "submission").mkdir()
    nbformat.write(notebooks.filled(TINY_COURSE, TINY, {}), tmp_path / "submission" / f"{TINY}.ipynb")
    monkeypatch.setattr(gradescope, "JudgeForkServer", lambda *given: served_here)
    monkeypatch.setattr(gradescope, "_best_options", lambda course: Options(limits=SHORT))
    monkeypatch.setattr(judge_process, "POLL_SECONDS", 0)
    monkeypatch.setattr(judge_process._JudgeWatch, "exceeded", lambda watch: "comparing took too long")
    verdict = gradescope.run(tmp_path)
    results = json.loads((tmp_path / "results" / "results.json").read_text())
    assert verdict.ungraded_reason == "comparing took too long" and fits(results)
    assert verdict.ungraded_reason in results["output"] and {test["score"] for test in results["tests"]} == {0}


# As it runs there


def for_everybody():
    """A Python of this version that another account may run."""
    for python in (sys.executable, "/usr/bin/python3"):
        asked = [python, "-c", "import sys; print(sys.version_info[:2])"]
        try:
            done = subprocess.run(asked, user=gradescope.ACCOUNT, capture_output=True, text=True, cwd="/")
        except OSError:
            continue
        if done.stdout.strip() == str(sys.version_info[:2]):
            return python
    pytest.skip(f"no Python {sys.version_info[:2]} here that the account {gradescope.ACCOUNT} may run")


@pytest.fixture
def container(packed):
    """Gradescope's folders, with the zip unpacked and an environment as setup.sh makes it: hand in, get the results."""
    if os.geteuid():
        pytest.skip("there run_autograder is root")
    root = Path(tempfile.mkdtemp(prefix="gradescope-"))
    root.chmod(0o755)
    for folder in ("source", "submission", "results"):
        (root / folder).mkdir()
    subprocess.run([sys.executable, "-m", "zipfile", "-e", packed[1], root / "source"], check=True)
    shutil.copy(root / "source" / "run_autograder", root / "run_autograder")
    subprocess.run([for_everybody(), "-m", "venv", "--without-pip", root / "venv"], check=True)
    site = next((root / "venv" / "lib").glob("python*/site-packages"))
    (site / "lent.pth").write_text(f"{Path(pytest.__file__).parents[1]}\n")
    (root / "submission_metadata.json").write_text("{}")

    def run(notebook, **variables):
        nbformat.write(notebook, root / "submission" / "mine.ipynb")
        environment = {"PATH": "/usr/bin:/bin", "HOME": "/root", "AUTOGRADER_ROOT": str(root), **variables}
        done = subprocess.run(["/bin/bash", root / "run_autograder"], cwd=root, env=environment, capture_output=True,
                              text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        results = json.loads((root / "results" / "results.json").read_text())
        assert fits(results)
        return results, done.stdout

    yield root, run
    shutil.rmtree(root)


LOOKING = '''
import os, socket
def tried(call):
    try:
        return f"could {call()}"[:40]
    except OSError as error:
        return f"could not: {type(error).__name__}"
def double(x):
    raise RuntimeError(" | ".join([str(os.getuid()), tried(lambda: len(open(SOLUTION).read()) and "read"),
                                   tried(lambda: os.listdir(RESULTS) and "list"),
                                   tried(lambda: socket.socket(socket.AF_INET) and "connect")]))
'''


@pytest.mark.slow
@pytest.mark.parametrize("path, isolation", [("/usr/bin:/bin", "in bubblewrap"), ("/nowhere", "as the account nobody")])
def test_it_grades_with_the_isolation_that_the_machine_allows(container, right, path, isolation):
    root, run = container
    looking = LOOKING.replace("SOLUTION", repr(str(root / "source" / "course" / "solutions" / TINY / f"{TINY}.py")))
    looking = looking.replace("RESULTS", repr(str(root / "results")))
    notebook = notebooks.filled(TINY_COURSE, TINY, {**right, "double": looking})
    results, said = run(notebook, PATH=path)
    tests = {test["name"]: test for test in results["tests"]}
    assert isolation in results["output"] and ("bubblewrap" in said) == (isolation == "in bubblewrap")
    assert tests["double"]["score"] == 0 and tests["last"]["score"] == tests["last"]["max_score"]
    told = " ".join(tests["double"]["output"].split())
    assert "could not" in told and "could read" not in told and "could list" not in told
    if isolation == "as the account nobody":  # bubblewrap has a network, with nobody on it
        assert "could connect" not in told and "0 |" not in told.partition("RuntimeError")[2][:6]

    (root / "results" / "results.json").write_text("{}")
    with Judge(TINY_COURSE, Options(isolation="none", limits=SHORT)) as judge:  # the control: without any it can
        told = messages.result(judge.judge(handed(notebook), "control").exercises[0].checks[0])
    assert told.count("could read") == told.count("could list") == told.count("could connect") == 1, told


@pytest.mark.slow
def test_a_verdict_can_be_replayed_here_and_no_instance_meets_two_submissions(container, packed, right, capsys):
    course, _ = packed
    root, run = container
    wrong = notebooks.filled(TINY_COURSE, TINY, {**right, "double": "def double(x):\n    return 3 * x"})
    seeds = []
    for _ in range(2):  # the same bytes, handed in again
        results, said = run(wrong)
        seeds.append(said.split("seed ")[1].strip())
    assert seeds[0] != seeds[1]
    cli.main(["--course", str(course.root), "check", str(root / "submission" / "mine.ipynb"), "--device", "cpu",
              "--seed", seeds[1]])
    assert said.split(",")[0] == capsys.readouterr().out.splitlines()[-1].split(",")[0]
    (root / "submission" / "mine.ipynb").write_text("{ cut off")
    done = subprocess.run(["/bin/bash", root / "run_autograder"], env={**os.environ, "AUTOGRADER_ROOT": str(root)})
    results = json.loads((root / "results" / "results.json").read_text())
    assert done.returncode == 0 and fits(results) and not any(test["score"] for test in results["tests"])
    assert "cut off" in results["tests"][0]["output"]


def test_without_any_isolation_there_are_no_results_and_no_zero(tmp_path, monkeypatch, capsys, packed):
    _, path = packed
    for folder in ("source", "submission"):
        (tmp_path / folder).mkdir()
    with zipfile.ZipFile(path) as archive:
        archive.extractall(tmp_path / "source")
    monkeypatch.setattr("autograder.sandbox.restrictions.shutil.which", lambda name: None)
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert gradescope.main(tmp_path) == 2
    assert "bubblewrap is missing" in capsys.readouterr().out and not (tmp_path / "results").exists()
