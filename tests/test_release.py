"""What is generated is fresh, holds no solution, and runs for a student who has filled in nothing."""

import html
import re

import nbformat
import pytest

from autograder import release, selfchecks, source
from autograder.oracle import oracle
from autograder.source import COURSE, ROOT, SOLUTIONS
from tp import compare, selfcheck
from tp.replay import replay

TPS = source.names()


@pytest.mark.parametrize("name", TPS)
def test_generated_files_are_fresh(name):
    assert release.stale(name) == [], "run `make notebooks`"


@pytest.mark.parametrize("name", TPS)
def test_released_notebook_is_what_the_source_gives(name):
    assert nbformat.read(COURSE / name / f"{name}.ipynb", 4) == release.released_notebook(name)
    for cell, made in zip(source.load(name).cells, release.released_notebook(name).cells, strict=True):
        assert made.source.strip() == cell.released.strip()


@pytest.mark.parametrize("name", TPS)
def test_figures_are_all_there(name):
    for figure in release.figures_of(name):
        drawn = (release.IMAGES / figure).read_bytes()
        for folder in (COURSE, SOLUTIONS):
            assert (folder / name / "figures" / figure).read_bytes() == drawn


@pytest.mark.parametrize("name", TPS)
def test_shipped_self_checks_pass_on_the_solution(name):
    truth, data = oracle(name), selfcheck._data(name)
    assert list(data["exercises"]) == truth.source.exercises
    for exercise in data["exercises"].values():
        for record in (record for check in exercise["checks"] for record in check["records"]):
            assert compare.first_difference(record["expected"], replay(record["calls"], truth.namespace), record["specs"]) is None


def telling_lines(cell):
    """Lines of a solution that nobody would write by chance."""
    return {line.strip() for line in cell.hidden.splitlines() if len(line.strip()) > 30 and not line.strip().startswith("#")}


@pytest.mark.parametrize("name", TPS)
def test_no_solution_leaks_into_what_is_released_up_to_it(name):
    """A later TP gives earlier answers on purpose; the TP itself and those before it must not."""
    secrets = {line for cell in source.load(name).by_role("exercise", "answer") for line in telling_lines(cell)}
    assert secrets
    for earlier in TPS[: TPS.index(name) + 1]:
        text = "\n".join(c.source for c in nbformat.read(COURSE / earlier / f"{earlier}.ipynb", 4).cells)
        lines = {line.strip() for line in text.splitlines()}
        assert not secrets & lines


def test_no_instructor_file_in_the_course():
    assert not [p for p in COURSE.rglob("*.py") if p.parent.name != "tp"]
    for path in COURSE.rglob("*.ipynb"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"BEGIN SOLUTION|BEGIN HIDDEN|END SOLUTION|Rubric", text), path
    for path in (COURSE / "tp").glob("*.py"):
        assert not re.search(r"^\s*(from|import) autograder", path.read_text(encoding="utf-8"), re.M), path


@pytest.mark.parametrize("name", TPS)
def test_self_check_data_holds_no_code_of_the_solution(name):
    data = selfchecks.recorded(name)
    secrets = {line for cell in source.load(name).by_role("exercise") for line in telling_lines(cell)}
    standins = "\n".join(op.get("source", "") for e in data["exercises"].values() for c in e["checks"] for r in c["records"] for op in r["calls"]["ops"])
    assert not [line for line in secrets if line in standins]


@pytest.mark.parametrize("name", TPS)
def test_every_exercise_is_explained(name):
    """Before each exercise: shapes or a worked example, and three hints that open one by one."""
    cells = source.load(name).cells
    for i, cell in enumerate(cells):
        if cell.role == "exercise":
            before = next(c.source for c in reversed(cells[:i]) if c.role == "text")
            assert before.count("<details>") == 3, f"{cell.name}: {before.count('<details>')} hints"


@pytest.mark.parametrize("name", TPS)
def test_released_notebook_runs_past_what_is_not_filled(name, monkeypatch):
    from nbclient import NotebookClient

    monkeypatch.setenv("TP_QUICK", "1")
    notebook = nbformat.read(COURSE / name / f"{name}.ipynb", 4)
    NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(COURSE / name)}}).execute()
    reports = {c.metadata.nbgrader.grade_id: c.outputs for c in notebook.cells if c.metadata.get("nbgrader", {}).get("grade") and c.cell_type == "code"}
    assert reports
    for grade_id, outputs in reports.items():
        assert any(o.output_type == "stream" and o.name == "stderr" for o in outputs), f"{grade_id} does not fail on the blank exercise"


def test_kit_holds_the_course_and_nothing_else(tmp_path):
    import zipfile

    release.kit(tmp_path / "kit.zip")
    names = zipfile.ZipFile(tmp_path / "kit.zip").namelist()
    assert "seq2seq-course/environment.yml" in names and "seq2seq-course/tp/__init__.py" in names
    for tp in TPS:
        assert f"seq2seq-course/{tp}/{tp}.ipynb" in names and f"seq2seq-course/tp/selfchecks/{tp}.bin" in names
    assert not [n for n in names if re.search(r"solutions|autograder|checks/|mistakes|\.py$", n) and not n.startswith("seq2seq-course/tp/")]
    assert ROOT.name not in {n.split("/")[0] for n in names}


@pytest.mark.slow
@pytest.mark.parametrize("name", TPS)
def test_nbgrader_validate_agrees_with_the_self_checks(name, tmp_path, monkeypatch):
    """The whole notebook, all right but one known mistake: Validate reports that one check, and the sentence of the mistake."""
    from nbgrader.validator import Validator

    from autograder import demo

    monkeypatch.delenv("TP_QUICK", raising=False)
    truth = oracle(name)
    mistake = truth.mistakes[0]
    nbformat.write(demo.notebook(name, {**demo.solved(name), mistake.exercise: truth.text_of(mistake)}), tmp_path / f"{name}.ipynb")
    failed = Validator().validate(str(tmp_path / f"{name}.ipynb"))["failed"]
    automatic = [f for f in failed if f["source"].startswith("tp.check")]
    assert [f["source"] for f in automatic] == [f'tp.check("{mistake.exercise}")']
    assert mistake.says.split(".")[0] in " ".join(html.unescape(automatic[0]["error"]).split())
