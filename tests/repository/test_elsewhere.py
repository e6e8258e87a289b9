"""A course in a folder of its own: the engine makes, proves and grades it by the command line alone."""

import json
import re
import shutil
import zipfile
from dataclasses import dataclass

import nbformat
import pytest

from autograder import cli
from autograder.classroom.nbgrader.term import Term
from autograder.classroom.verdict_store import VerdictStore
from autograder.course import Course
from autograder.model.source import load_source
from autograder.runtime.text import decimals
from conftest import REPOSITORY, TINY, TINY_COURSE, automatic_points
from shell import typed

POINTS = automatic_points(TINY_COURSE, TINY)


@dataclass
class Elsewhere:
    """A course outside of the repository, and the commands that are typed in its folder."""

    course: Course

    def __call__(self, *command, at=None):
        """Type a command: (exit status, what it prints). An exception that nobody foresaw fails the test."""
        status, out, self.said = typed("autograder", *command, folder=at or self.course.root)
        assert "autograder/cli.py" not in self.said, self.said[-2000:]
        return status, out

    def files(self):
        """Everything that lies in the folder, but for what Python keeps for itself, by name."""
        found = {path.relative_to(self.course.root) for path in self.course.root.rglob("*")
                 if path.is_file() and "__pycache__" not in path.parts}
        return set(map(str, found))

    def rewrite(self, name, *swaps):
        """Change a source of the TP."""
        path = self.course.folder(TINY) / name
        text = path.read_text(encoding="utf-8")
        for old, new in swaps:
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        path.write_text(text, encoding="utf-8")


SETTINGS = "course.toml"
WRITTEN = {SETTINGS} | {f"solutions/{TINY}/{name}" for name in (f"{TINY}.py", "checks.py", "faults.py", "variants.py")}
NOTEBOOKS = {f"{folder}/{TINY}/{TINY}.ipynb" for folder in ("course", "solutions")}
DATA = f"course/selfchecks/{TINY}.bin"
TOLD = "course/selfchecks/course.json"
TRAINS = ('raise SystemExit("a training cell is never run when grading")', 'print("trained")')


def written(folder):
    """A course of which there is what an instructor writes, and nothing else."""
    shutil.copytree(TINY_COURSE.solutions, folder / "solutions", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(TINY_COURSE.root / SETTINGS, folder)
    elsewhere = Elsewhere(Course(folder))
    assert elsewhere.files() == WRITTEN
    return elsewhere


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    """A released course that nobody changes."""
    elsewhere = written(tmp_path_factory.mktemp("elsewhere").resolve())
    elsewhere.rewrite(f"{TINY}.py", TRAINS)
    status, said = elsewhere("release")
    assert (status, said) == (0, f"{TINY}: course/{TINY}/ and its self-checks, solutions/{TINY}/ executed\n")
    return elsewhere


@pytest.fixture
def copied(released, tmp_path):
    """A released course that a test may change."""
    return Elsewhere(Course(shutil.copytree(released.course.root, tmp_path / "course").resolve()))


def test_a_release_lies_where_it_should(released):
    course = released.course
    assert released.files() == WRITTEN | NOTEBOOKS | {DATA, TOLD}
    assert not course.helpers, "a course is given no module of this one"


def test_the_kit_of_another_course_holds_that_course(copied):
    status, said = copied("pack", "kit")
    path = copied.course.root / "dist" / "student-kit.zip"
    assert status == 0 and said.startswith(f"{path}: the student kit\n")
    with zipfile.ZipFile(path) as kit:
        names = {name.partition("/")[2] for name in kit.namelist()}
    scripts = {"README.md", "requirements.txt", "constraints.txt", "install.py", "start.py", "start.sh", "start.bat"}
    engine = {name for name in names if name.startswith("replay_autograder-") and name.endswith(".whl")}
    assert len(engine) == 1, "the runtime, with which the notebooks check"
    data = {name.removeprefix("course/") for name in (DATA, TOLD)}
    assert names == {f"{TINY}/{TINY}.ipynb", *data} | engine | scripts


def test_the_notebooks_are_what_they_should_be(released):
    solved, blank = (nbformat.read(released.course.root / path, 4) for path in sorted(NOTEBOOKS, reverse=True))
    assert "return 2 * x" in nbformat.writes(solved) and "return 2 * x" not in nbformat.writes(blank)
    outputs = {cell.id: cell.outputs for cell in solved.cells if cell.cell_type == "code"}
    assert outputs["train"][0].text == "trained\n" and "checks pass" in outputs["check-double"][0].data["text/plain"]
    assert not any(cell.get("outputs") for cell in blank.cells)


def test_what_is_released_is_fresh_and_runs(released):
    before = {name: (released.course.root / name).stat().st_mtime_ns for name in released.files()}
    assert released("release", "--check") == (0, "Everything that is generated is what the sources give.\n")
    assert released("audit", "--notebooks") == (0, f"{TINY}: runs from top to bottom\n")
    assert {name: (released.course.root / name).stat().st_mtime_ns for name in released.files()} == before


def test_from_another_folder_it_is_named(released, tmp_path):
    command = "release", "--check"
    assert released("--course", released.course.root, *command, at=tmp_path)[0] == 0
    assert released(*command, at=tmp_path) == (2, "")
    assert released.said == (f"autograder: {tmp_path} is no course: a course is a folder with solutions/ in it; "
                             "name it with --course FOLDER\n")
    assert released("--course", tmp_path / "nowhere", *command, at=released.course.root) == (2, "")
    assert "nowhere is no course" in released.said and released.said.count("\n") == 1


def test_a_changed_source_makes_stale_what_was_made_of_it(copied):
    sentence = "You square the input."
    for name, old, stale in (("faults.py", sentence, {DATA}), (f"{TINY}.py", "A tiny TP", NOTEBOOKS | {DATA})):
        copied.rewrite(name, (old, f"{old} Indeed"))
        status, out = copied("release", "--check")
        *named, last = out.splitlines()
        assert (status, set(named)) == (1, {f"stale: {path}" for path in stale})
        assert f": {len(stale)} file" in last
    assert copied("release", "--no-run")[0] == copied("release", "--check")[0] == 0  # no code of the notebook changed
    assert "A tiny TP Indeed" in (copied.course.released / TINY / f"{TINY}.ipynb").read_text()


def test_what_is_missing_or_was_changed_by_hand_is_stale(copied):
    (copied.course.root / DATA).unlink()
    (copied.course.folder(TINY) / f"{TINY}.ipynb").unlink()
    status, out = copied("release", "--check", TINY)
    assert (status, set(out.splitlines()[:-1])) == (1, {f"stale: {path}" for path in (
        DATA, f"solutions/{TINY}/{TINY}.ipynb")})


def test_a_notebook_that_stops_is_named_with_its_cell(tmp_path):
    elsewhere = written(tmp_path.resolve())  # its training cell raises, to show that grading leaves it out
    stops = f"{TINY} stops in the cell train: SystemExit: a training cell is never run when grading\n"
    assert elsewhere("release") == (2, "") and elsewhere.said.endswith(f"autograder: {stops}")
    made = elsewhere.files()
    assert elsewhere("audit", "--notebooks") == (1, stops) and elsewhere.files() == made


def test_a_cell_without_end_is_named(tmp_path):
    elsewhere = written(tmp_path.resolve())
    endless = "import time\nwhile True: time.sleep(1)\n"
    elsewhere.rewrite(f"{TINY}.py", ("from autograder import runtime as tp\n", endless))
    stops = f"{TINY} stops in the cell start: it takes more than 3 seconds\n"
    assert elsewhere("audit", "--notebooks", "--seconds", 3) == (1, stops)
    assert elsewhere.files() == WRITTEN


def test_the_session_is_audited_and_what_does_not_hold_is_named(copied):
    status, out = copied("audit", "--seeds", 2)
    assert status == 0 and out == f"{TINY}: 6 faults, 2 variants, 2 seeds: all caught, named and passed\n"
    copied.rewrite("faults.py", ('replace=("rows[-1]", "rows[0]")', 'replace=("rows[-1]", "rows[-1:][0]")'))
    copied.rewrite("variants.py", ('replace=("2 * x", "x + x")', 'replace=("2 * x", "x + x + x")'))
    status, out = copied("audit", "--seeds", 2)
    assert status == 1 and "  last: the fault first-row is not caught (on 2 of 2 seeds)" in out.splitlines()
    assert re.search(r"^  double: the variant sum fails values \(on 2 of 2 seeds\): .+$", out, re.M)


def test_submissions_are_checked_graded_and_reported(copied, right, judging_here, monkeypatch, capfd):
    course = copied.course

    def judging(*command):
        monkeypatch.chdir(course.root)
        return cli.main(list(map(str, command))), capfd.readouterr().out

    shutil.copy(REPOSITORY.root / "nbgrader_config.py", course.root)
    blank = course.released / TINY / f"{TINY}.ipynb"
    filled = nbformat.read(blank, 4)
    for cell in filled.cells:
        cell.source = right.get(cell.metadata.get("nbgrader", {}).get("grade_id"), cell.source)
    places = {}
    for student, notebook in {"ada": filled, "eve": nbformat.read(blank, 4)}.items():
        places[student] = course.gradebook / "submitted" / student / TINY / f"{TINY}.ipynb"
        places[student].parent.mkdir(parents=True)
        nbformat.write(notebook, places[student])

    done, out = judging("check", places["ada"], "--json", "--device", "cpu")
    assert (done, json.loads(out)["points"]) == (0, POINTS)

    assert copied("report") == (0, "Nothing is graded yet: run autograder grade first\n")
    status, out = judging("grade", "--device", "cpu")
    rows = {line.split()[0]: line.split() for line in out.splitlines() if TINY in line}
    assert status == 0 and {student: row[2] for student, row in rows.items()} == {
        "ada": f"{decimals(POINTS)}/{decimals(POINTS)}", "eve": f"0/{decimals(POINTS)}"}
    with Term(course).gradebook() as gradebook:
        scores = {one.student.id: one.score for one in gradebook.stock.assignment_submissions(TINY)}
    assert scores == {"ada": POINTS, "eve": 0}
    entries = {entry.student: entry for entry in VerdictStore(course).entries(TINY)}
    assert {student: entry.verdict.points for student, entry in entries.items()} == scores
    assert all(entry.entered for entry in entries.values())
    autograded = {f"gradebook/autograded/{student}/{TINY}/{TINY}.ipynb" for student in scores}
    assert autograded <= copied.files()

    # again: kept; under another limit: judged anew
    assert [line.split()[-1] for line in judging("grade", "--device", "cpu")[1].splitlines() if TINY in line] == [
        "kept", "kept"]
    out = judging("grade", "--device", "cpu", "--time-limit", 20)[1]
    assert not any("kept" in line for line in out.splitlines() if TINY in line)
    assert [entry.key.options.limits.exercise_cpu_seconds for entry in VerdictStore(course).entries(TINY)] == [20, 20]

    page = course.gradebook / "report" / "index.html"
    assert copied("report") == (0, f"{page}\n")
    written = {path.name for path in page.parent.iterdir()}
    assert written == {"index.html", "grades.csv", f"moodle-{TINY}.csv", f"canvas-{TINY}.csv"}
    assert "ada" in (page.parent / "grades.csv").read_text()
    written_answers = sum(cell.points for cell in load_source(course, TINY).by_role("answer"))
    rows = (page.parent / f"canvas-{TINY}.csv").read_text().splitlines()
    assert rows[1].endswith(f",{POINTS + written_answers:g}")


def test_nothing_of_the_repository_is_touched(released):
    """What a course elsewhere makes lies there: the helper package of this one has no data of it."""
    assert not (REPOSITORY.selfchecks / f"{TINY}.bin").exists()
    assert not list(TINY_COURSE.root.rglob("*.ipynb")) and not TINY_COURSE.gradebook.exists()
