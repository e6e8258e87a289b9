"""What is generated is fresh, holds no solution, and runs for a student who has filled in nothing."""

import html
import os
import re
from types import SimpleNamespace

import nbformat
import pytest
from jupyter_client import KernelManager
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell
from nbgrader.validator import Validator

from autograder.model import selfcheck_recording, source
from autograder.model.oracle import load_oracle
from autograder.model.source import load_source
from autograder.publish import effort, notebooks, release
from autograder.runtime import compare, wire
from autograder.runtime.notebook import commands
from autograder.runtime.replay import replay
from conftest import REPOSITORY, TINY, TINY_COURSE, tiny_copy

NAMES = REPOSITORY.sessions
REGION = re.compile(r"^([ \t]*)### BEGIN SOLUTION.*?### END SOLUTION[^\n]*$", re.M | re.S)

each_tp = pytest.mark.parametrize("name", NAMES)


def notebook_of(name):
    """The released notebook that lies in the course."""
    return nbformat.read(REPOSITORY.released / name / f"{name}.ipynb", 4)


def expected(name, cell):
    """A cell as its source says that a student receives it."""
    stub = source.TEXT_STUB if cell.is_markdown else source.CODE_STUB
    text = REGION.sub(lambda region: f"{region[1]}{stub}", cell.source)
    return text.replace(effort.TIME, effort.duration(load_source(REPOSITORY, name))) if cell.is_markdown else text


@each_tp
def test_generated_files_are_fresh(name):
    assert release.stale(load_source(REPOSITORY, name)) == [], "run `make notebooks`"


@each_tp
def test_released_notebook_is_what_the_source_gives(name):
    made = notebooks.released_notebook(load_source(REPOSITORY, name))
    assert notebook_of(name) == made
    for cell, released in zip(load_source(REPOSITORY, name).cells, made.cells, strict=True):
        assert released.source.strip() == expected(name, cell).strip()


def test_a_released_notebook_is_its_callers_to_change():
    notebooks.released_notebook(load_source(TINY_COURSE, TINY)).cells.clear()
    assert notebooks.released_notebook(load_source(TINY_COURSE, TINY)).cells


def too_wide(notebook):
    """The lines of code that are longer than a screen is wide."""
    code = (cell.source for cell in notebook.cells if cell.cell_type == "code")
    return [line for text in code for line in text.splitlines() if len(line) > source.WIDTH]


@each_tp
def test_every_line_of_code_fits_into_a_screen(name):
    notebook = notebook_of(name)
    assert too_wide(notebook) == []
    next(cell for cell in notebook.cells if cell.cell_type == "code").source += "\n" + "x" * (source.WIDTH + 1)
    assert len(too_wide(notebook)) == 1


@each_tp
def test_nothing_is_left_that_an_author_would_be_told(name):
    assert source.notes(load_source(REPOSITORY, name)) == []


@each_tp
def test_a_stub_stands_in_the_place_of_every_solution(name):
    released = {cell.id: cell.source for cell in notebooks.released_notebook(load_source(REPOSITORY, name)).cells}
    for cell in load_source(REPOSITORY, name).by_role("exercise", "answer"):
        text, stub = released[cell.grade_id], source.TEXT_STUB if cell.is_markdown else source.CODE_STUB
        assert text.count(stub) == len(REGION.findall(cell.source)) >= 1
        assert "SOLUTION" not in text and not telling_lines(cell) & {line.strip() for line in text.splitlines()}


@each_tp
def test_a_check_of_the_solution_notebook_says_where_its_hidden_part_is(name):
    released = {cell.id: cell.source for cell in notebooks.released_notebook(load_source(REPOSITORY, name)).cells}
    solved = {cell.id: cell.source for cell in notebooks.solution_notebook(load_source(REPOSITORY, name)).cells}
    for cell in load_source(REPOSITORY, name).by_role("check"):
        shown, _, hidden = solved[cell.grade_id].partition("\n### BEGIN HIDDEN TESTS\n")
        assert shown == released[cell.grade_id] == cell.source
        where, end = hidden.split("\n")
        assert end == "### END HIDDEN TESTS"
        path, exercise = re.fullmatch(r'# (\S+), exercise "(\S+)"', where).groups()
        assert (REPOSITORY.root / path).is_file() and exercise == cell.name


@each_tp
def test_figures_are_all_there(name):
    for drawn, copied in release.figures_of(load_source(REPOSITORY, name)):
        assert copied.read_bytes() == drawn.read_bytes()


def test_a_figure_of_a_model_answer_goes_to_no_student(tmp_path):
    text = load_source(TINY_COURSE, TINY).path.read_text(encoding="utf-8")
    text = text.replace("Why?", "Why? ![A row.](figures/row.svg)").replace("Because.", "![So.](figures/answer.svg)")
    course = tiny_copy(tmp_path, **{TINY: text})
    copies = {copied.relative_to(course.root).as_posix() for _, copied in release.figures_of(load_source(course, TINY))}
    assert copies == {f"course/{TINY}/figures/row.svg", f"solutions/{TINY}/figures/row.svg",
                      f"solutions/{TINY}/figures/answer.svg"}


@each_tp
def test_shipped_self_checks_pass_on_the_solution(name):
    oracle, shipped = load_oracle(REPOSITORY, name), commands._data(name).exercises
    assert list(shipped) == oracle.source.exercises
    for exercise in shipped.values():
        for record in (record for check in exercise.checks for record in check.records):
            reply = replay(record.ops, oracle.namespace)
            assert compare.first_difference(record, reply) is None


def telling_lines(cell):
    """Lines of a solution that nobody would write by chance."""
    lines = (line.strip() for line in cell.hidden.splitlines())
    return {line for line in lines if len(line) > 30 and not line.startswith("#")}


@each_tp
def test_no_solution_leaks_into_what_is_released_up_to_it(name):
    """A later TP gives earlier answers on purpose; the TP itself and those before it must not."""
    cells = load_source(REPOSITORY, name).by_role("exercise", "answer")
    secrets = {line for cell in cells for line in telling_lines(cell)}
    assert secrets
    for earlier in NAMES[: NAMES.index(name) + 1]:
        lines = {line.strip() for cell in notebook_of(earlier).cells for line in cell.source.splitlines()}
        assert not secrets & lines


def test_no_instructor_file_in_the_course():
    released, helpers = REPOSITORY.released, REPOSITORY.released / "tp"
    assert not [path for path in released.rglob("*.py") if not path.is_relative_to(helpers)]
    for path in released.rglob("*.ipynb"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"BEGIN SOLUTION|BEGIN HIDDEN|END SOLUTION|Rubric", text), path
    modules = list(helpers.rglob("*.py"))
    assert helpers / "training.py" in modules
    for path in modules:
        imported = re.findall(r"^\s*(?:from|import) (autograder[\w.]*)", path.read_text(encoding="utf-8"), re.M)
        assert all(name.startswith("autograder.runtime") for name in imported), path


def code_in(exercises, name):
    """The lines of a solution that are found in the data of its self-checks."""
    secrets = {line for cell in load_source(REPOSITORY, name).by_role("exercise") for line in telling_lines(cell)}
    records = [record for exercise in exercises.values() for check in exercise["checks"] for record in check["records"]]
    assert secrets and records
    stubs = "\n".join(op.get("source", "") for record in records for op in record["ops"])
    return [line for line in secrets if line in stubs]


@each_tp
def test_self_check_data_holds_no_code_of_the_solution(name):
    assert code_in(wire.decompress((REPOSITORY.selfchecks / f"{name}.bin").read_bytes())["exercises"], name) == []


@pytest.mark.slow
@each_tp
def test_self_check_data_that_is_recorded_anew_holds_none_either(name):
    assert code_in(selfcheck_recording.to_tree(load_oracle(REPOSITORY, name))["exercises"], name) == []


@each_tp
def test_every_exercise_is_explained(name):
    """Before each exercise: shapes or a worked example, and three hints that open one by one."""
    cells = load_source(REPOSITORY, name).cells
    for i, cell in enumerate(cells):
        if cell.role == "exercise":
            before = next(c.source for c in reversed(cells[:i]) if c.role == "text")
            assert before.count("<details>") == 3, f"{cell.name}: {before.count('<details>')} hints"


@pytest.fixture(scope="module")
def kernel():
    """A kernel for one notebook after the other: torch is imported once."""
    manager = KernelManager(kernel_name="python3")
    manager.start_kernel(env={**os.environ, "TP_QUICK": "1"})
    yield manager
    manager.shutdown_kernel(now=True)


@each_tp
def test_released_notebook_runs_past_what_is_not_filled(name, kernel):
    notebook = notebook_of(name)
    notebook.cells.insert(0, new_code_cell(f"%reset -f\n%cd -q {REPOSITORY.released / name}"))
    client = NotebookClient(notebook, km=kernel, timeout=300)
    client.execute()
    client.kc.stop_channels()
    reports = {cell.metadata.nbgrader.grade_id: cell.outputs for cell in notebook.cells
               if cell.cell_type == "code" and cell.metadata.get("nbgrader", {}).get("grade")}
    assert list(reports) == [cell.grade_id for cell in load_source(REPOSITORY, name).by_role("check")]
    for grade_id, outputs in reports.items():
        (card,) = [output.data["text/plain"] for output in outputs if output.output_type == "display_data"]
        assert "not written yet" in card, f"{grade_id} says of the blank exercise: {card}"


def test_an_executed_notebook_is_stale_until_its_present_code_was_executed(tmp_path):
    course = tiny_copy(tmp_path)
    path = course.folder(TINY) / f"{TINY}.ipynb"
    name = str(path.relative_to(course.root))
    release.release(load_oracle(course, TINY), "never")
    assert name in release.stale(load_source(course, TINY)), "it has no outputs"
    notebook = nbformat.read(path, 4)
    for code, fresh in (("of other code", False), (notebooks._code_digest(notebook), True), (None, False)):
        notebook.metadata["course"]["executed"] = code
        nbformat.write(notebook, path)
        assert (name not in release.stale(load_source(course, TINY))) == fresh


def test_a_text_is_stale_until_it_is_written_as_it_would_be_now(tmp_path):
    course = tiny_copy(tmp_path)
    (course.root / "course.toml").write_text("[exercises]\neffort = true\n", encoding="utf-8")
    (course.root / "docs").mkdir()
    texts = {"course/selfchecks/course.json", "docs/sessions.md"}
    assert texts <= set(release.stale(load_source(course, TINY)))
    release.release(load_oracle(course, TINY), "never")
    assert not texts & set(release.stale(load_source(course, TINY)))
    for path in (course.root / name for name in texts):
        now = path.read_text(encoding="utf-8")
        path.write_text("of an earlier release", encoding="utf-8")
        assert texts & set(release.stale(load_source(course, TINY))) == {path.relative_to(course.root).as_posix()}
        path.write_text(now, encoding="utf-8")


@pytest.mark.parametrize("needs, says", [("sum", "needs sum, which has not passed yet"), ("x", "needs `x`")])
def test_a_cell_that_lacks_something_stops_the_execution_of_a_solution(monkeypatch, capsys, needs, says):
    """As on a machine so busy that a check has taken longer than it may."""
    monkeypatch.setattr(commands, "_data", lambda started: SimpleNamespace(exercises={"sum": None}))
    monkeypatch.setattr(commands, "_is_borrowed", lambda *given: False)
    assert not commands.done(needs)
    assert says in capsys.readouterr().out
    given = {}
    monkeypatch.setattr(NotebookClient, "execute", lambda client, env: given.update(env))
    notebooks.execute(load_source(TINY_COURSE, TINY))
    for name in given.keys() - os.environ.keys():
        monkeypatch.setenv(name, given[name])
    with pytest.raises(commands.SelfCheckError, match=says):
        commands.done(needs)


@pytest.mark.slow
@each_tp
def test_nbgrader_validate_agrees_with_the_self_checks(name, tmp_path, monkeypatch):
    """The whole notebook, all right but one known fault: Validate reports that check, and the fault's sentence."""
    monkeypatch.delenv("TP_QUICK", raising=False)
    oracle = load_oracle(REPOSITORY, name)
    fault = oracle.faults[0]
    cells = {**notebooks.solved(REPOSITORY, name), fault.exercise: oracle.text_of(fault)}
    nbformat.write(notebooks.filled(REPOSITORY, name, cells), tmp_path / f"{name}.ipynb")
    failed = Validator().validate(str(tmp_path / f"{name}.ipynb"))["failed"]
    automatic = [one for one in failed if one["source"].startswith("tp.check")]
    assert [one["source"] for one in automatic] == [f'tp.check("{fault.exercise}")']
    assert fault.feedback.split(".")[0] in " ".join(html.unescape(automatic[0]["error"]).split())


def test_a_session_is_outdated_if_students_have_other_checks_or_another_text(tmp_path):
    source = load_source(tiny_copy(tmp_path), TINY)
    assert not release.is_outdated(source), "nobody has it"
    release.release(load_oracle(source.course, TINY), "never")
    assert not release.is_outdated(source)
    for path in (source.path, source.folder / "faults.py"):
        before = path.read_text(encoding="utf-8")
        path.write_text(f"{before}\n# another line\n", encoding="utf-8")
        assert release.is_outdated(load_source(source.course, TINY)), path.name
        path.write_text(before, encoding="utf-8")
    assert not release.is_outdated(load_source(source.course, TINY))
    source.released_path.write_text("{}", encoding="utf-8")
    assert release.is_outdated(load_source(source.course, TINY))
