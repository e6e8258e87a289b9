"""A submission becomes a plan: given cells are ours, the rest runs in the student's order."""

import json
import os

import pytest

from autograder.classroom.json_files import from_json, to_json
from autograder.course import Course
from autograder.judging import submission
from autograder.judging.submission import MAX_BYTES, MAX_CELLS, MAX_SOURCE, Step, SubmissionError, SubmittedCell
from autograder.judging.verdict import Verdict
from autograder.model.source import Source, load_source
from conftest import REPOSITORY, TINY, TINY_COURSE

SOURCE = load_source(TINY_COURSE, TINY)
IDS = [cell.grade_id for cell in SOURCE.cells if cell.grade_id]


def released(**texts):
    """The cells of the tiny session as released, those that are named with another text, or left out for None."""
    cells = [SubmittedCell("markdown" if cell.is_markdown else "code", texts.get(str(cell.grade_id), cell.source),
                           cell.grade_id)
             for cell in SOURCE.cells]
    return [cell for cell in cells if cell.source is not None]


def planned(cells):
    return submission.plan(cells, SOURCE)


def steps(cells):
    """What is run, in order: (kind, name)."""
    return [(step.role, step.name) for step in planned(cells).steps]


def own(text, kind="code", grade_id=None):
    return SubmittedCell(kind, text, grade_id)


GIVEN = [("given", "start"), ("given", "imports"), ("given", "helper")]
ORDER = [*GIVEN[:2], ("exercise", "double"), GIVEN[2], ("exercise", "encoder"), ("exercise", "last")]


def at(cells, grade_id):
    return next(i for i, cell in enumerate(cells) if cell.grade_id == grade_id)


# The plan


def test_a_notebook_as_released_runs_given_cells_and_exercises_in_order():
    plan = planned(released(double="def double(x): ..."))
    assert [(step.role, step.name) for step in plan.steps] == ORDER and plan.notes == []
    assert plan.steps[2].source == "def double(x): ..."


@pytest.mark.parametrize("name", ["start", "imports", "helper"])
def test_given_cells_are_ours_whatever_the_student_made_of_them(name):
    plan = planned(released(**{name: "shifted = torch = nn = tp = None"}))
    assert [step for step in plan.steps if step.role == "given"] == [
        Step("given", cell.name, cell.solution) for cell in SOURCE.by_role("given")]
    assert all("None" not in step.source for step in plan.steps if step.role != "exercise") and plan.notes == []


def test_imports_that_were_added_to_a_given_cell_run_after_ours_and_nothing_else_of_it_does():
    ours = SOURCE.cell("given", "imports").solution
    plan = planned(released(imports=f"{ours}\nimport math\nx = 1\nfrom os import path\nimport torch\n"))
    where = [(step.role, step.name) for step in plan.steps].index(("given", "imports"))
    assert plan.steps[where + 1] == Step("added", None, "import math\nfrom os import path")
    assert plan.notes == ["the given cell imports was edited; of the changes, the imports were kept"]


@pytest.mark.parametrize("text", ["import math\nthis is no python", "x = 1"])
def test_a_given_cell_without_imports_that_can_be_read_adds_nothing(text):
    plan = planned(released(imports=text))
    assert [step.role for step in plan.steps].count("added") == 0 and plan.notes == []


def test_an_import_inside_other_code_of_a_given_cell_is_not_kept():
    assert ("added", None) not in steps(released(helper="if True:\n    import math"))


def test_a_given_cell_that_is_missing_runs_in_its_place_and_is_noted():
    plan = planned(released(imports=None))
    assert [(step.role, step.name) for step in plan.steps] == ORDER
    assert plan.notes == ["the given cell imports was missing; ours was run in its place"]


def test_all_given_cells_are_missing():
    plan = planned(released(start=None, imports=None, helper=None))
    assert [(step.role, step.name) for step in plan.steps] == ORDER
    assert plan.notes == [f"the given cell {name} was missing; ours was run in its place"
                          for name in ("imports", "helper")], "the first one opens every notebook"


def test_the_last_given_cell_is_missing():
    plan = planned(released(helper=None))
    assert [(step.role, step.name) for step in plan.steps] == [
        *ORDER[:3], GIVEN[2], *ORDER[4:]]
    assert plan.notes == ["the given cell helper was missing; ours was run in its place"]


def test_the_first_given_cell_runs_first_wherever_it_stands_and_once():
    cells = released()
    cells = [own("early = 1"), *cells[::-1], *cells]
    found = steps(cells)
    assert found[0] == GIVEN[0] and found[1] == ("added", None)
    assert all(found.count(step) == 1 for step in GIVEN)


def test_a_session_without_given_cells_has_its_exercises_alone():
    source = Source(TINY_COURSE, TINY, tuple(cell for cell in SOURCE.cells if cell.role != "given"))
    cells = [cell for cell in released() if cell.grade_id not in ("start", "imports", "helper")]
    assert [step.role for step in submission.plan(cells, source).steps] == ["exercise"] * 3


def test_given_cells_in_another_order_run_in_that_order():
    cells = released()
    helper = cells.pop(at(cells, "helper"))
    cells.insert(at(cells, "imports"), helper)
    plan = planned(cells)
    assert [step for step in ORDER if step not in GIVEN] == [
        (step.role, step.name) for step in plan.steps if step.role != "given"]
    assert [step.name for step in plan.steps if step.role == "given"] == ["start", "helper", "imports"]
    assert plan.notes == []


def test_own_cells_run_where_they_stand_and_only_code_does():
    cells = released()
    where = at(cells, "encoder")
    cells[where:where] = [own("a = 1"), own("  \n"), own("b = 1", "markdown"), own("c = 1", "raw"),
                          own("d = 1", grade_id="renamed")]
    plan = planned(cells)
    mine = [step.source for step in plan.steps if step.role == "added"]
    assert mine == ["a = 1", "d = 1"] and plan.notes == []
    kinds = [step.role for step in plan.steps]
    assert kinds == ["given", "given", "exercise", "given", "added", "added", "exercise", "exercise"]


@pytest.mark.parametrize("name", ["check-double", "look", "train", "why"])
def test_checks_demos_training_and_answers_are_never_run(name):
    assert steps(released(**{name: "stolen = 1"})) == ORDER
    assert not any("stolen" in step.source for step in planned(released(**{name: "stolen = 1"})).steps)


@pytest.mark.parametrize("kind, called", [("markdown", "markdown"), ("raw", "raw"), (None, "something else")])
def test_an_exercise_that_was_retyped_is_read_as_code(kind, called):
    cells = released()
    where = at(cells, "double")
    cells[where] = SubmittedCell(kind, "def double(x): ...", "double")
    plan = planned(cells)
    assert Step("exercise", "double", "def double(x): ...") in plan.steps
    assert plan.notes == [f"the cell of double had been turned into {called}; it was read as code"]


def test_copies_of_an_exercise_run_in_order_and_are_noted():
    cells = released(double="one = 1")
    cells.insert(at(cells, "double") + 1, own("two = 2", grade_id="double"))
    plan = planned(cells)
    assert [step.source for step in plan.steps if step.name == "double"] == ["one = 1", "two = 2"]
    assert plan.notes == [
        "there are several cells of double; they were run in order, and the last definition counts"]


def test_an_exercise_that_is_missing_is_noted():
    plan = planned(released(encoder=None))
    assert plan.notes == ["the cell of encoder is missing"]
    assert not plan.has("encoder") and plan.has("double") and not plan.has("helper")


def test_neighbours_that_were_one_cell_are_joined_where_a_part_alone_is_no_python():
    cells = released(double="def double(x):")
    where = at(cells, "double")
    cells[where + 1:where + 1] = [own("    y = 2 * x", grade_id="double"), own("    return y", grade_id="double")]
    plan = planned(cells)
    assert [step.source for step in plan.steps if step.name == "double"] == [
        "def double(x):\n    y = 2 * x\n    return y"]
    assert plan.notes == []


def test_what_is_no_python_in_any_part_is_one_cell_and_a_broken_copy_takes_nothing_with_it():
    cells = released(double="def double(x):")
    cells.insert(at(cells, "double") + 1, own("    return (2 * x", grade_id="double"))
    assert [step.source for step in planned(cells).steps if step.name == "double"] == [
        "def double(x):\n    return (2 * x"]
    cells = released(double="def double(x):\n    return 2 * x")
    cells.insert(at(cells, "double") + 1, own("double(torch.ones(1)", grade_id="double"))
    plan = planned(cells)
    assert [step.source for step in plan.steps if step.name == "double"] == [
        "def double(x):\n    return 2 * x", "double(torch.ones(1)"]
    assert len(plan.notes) == 1


@pytest.mark.parametrize("kind", ["markdown", "raw"])
@pytest.mark.parametrize("offset", [0, 1])
def test_beside_code_a_note_or_draft_of_the_same_name_is_no_answer(kind, offset):
    cells = released(double="def double(x):\n    return 2 * x")
    cells.insert(at(cells, "double") + offset, own("I double it, as the text says.", kind, grade_id="double"))
    plan = planned(cells)
    assert [step.source for step in plan.steps if step.name == "double"] == ["def double(x):\n    return 2 * x"]
    assert plan.notes == [f"beside the cell of double is one of type {kind}, which was not run"]


@pytest.mark.parametrize("rest", ["", "# my answer is above", "\n"])
def test_an_answer_beside_a_cell_that_holds_nothing_is_read_as_code(rest):
    cells = released(double=rest)
    cells.insert(at(cells, "double"), own("def double(x):\n    return 2 * x", "raw", grade_id="double"))
    plan = planned(cells)
    assert "def double(x):\n    return 2 * x" in [step.source.strip() for step in plan.steps if step.name == "double"]


def test_two_halves_before_a_broken_draft_are_one_cell():
    cells = released(double='def double(x):\n    """(A, B) → (A, B)"""')
    where = at(cells, "double") + 1
    cells[where:where] = [own(text, grade_id="double") for text in ("    return 2 * x", "retrun 2 x")]
    assert [step.source for step in planned(cells).steps if step.name == "double"] == [
        'def double(x):\n    """(A, B) → (A, B)"""\n    return 2 * x', "retrun 2 x"]


def test_what_is_parsed_of_a_split_cell_grows_with_its_length_alone(monkeypatch):
    parsed = []
    parse = submission.syntax.parse
    monkeypatch.setattr(submission.syntax, "parse", lambda text: parsed.append(len(text)) or parse(text))
    parts = ["x = (", *["1,"] * 500, ")"]
    cells = released(double=None)
    cells[3:3] = [own(text, grade_id="double") for text in parts]
    (step,) = [step for step in planned(cells).steps if step.name == "double"]
    assert step.source == "\n".join(parts) and sum(parsed) < 12 * sum(map(len, parts))


@pytest.mark.parametrize("between", [own("x = 1"), own("text", "markdown")])
def test_cells_that_are_no_neighbours_are_not_joined(between):
    cells = released(double="def double(x):")
    where = at(cells, "double")
    cells[where + 1:where + 1] = [between, own("    return 2 * x", grade_id="double")]
    assert [step.source for step in planned(cells).steps if step.name == "double"] == [
        "def double(x):", "    return 2 * x"]


@pytest.mark.parametrize("text", ["def double(x):", "\0", "(" * 100_000, "-" * 1_000_000 + "1"])
def test_own_cells_are_not_joined_however_broken_and_break_no_judge(text):
    assert [step.source for step in planned([*released(), own(text), own(text)]).steps[-2:]] == [text, text]


# Whose notebook it is


def test_the_session_is_the_one_with_most_names_in_common():
    for name in REPOSITORY.sessions:
        ids = [cell.grade_id for cell in load_source(REPOSITORY, name).cells if cell.grade_id]
        cells = [own("", grade_id=one) for one in (*ids, *IDS, None)]
        assert submission.session_of_notebook(cells, REPOSITORY) == name
    assert submission.session_of_notebook([own("x"), own("y", grade_id="mine")], REPOSITORY) is None
    assert submission.session_of_notebook([], REPOSITORY) is None
    assert submission.session_of_notebook([own("x")], Course(TINY_COURSE.root / "nowhere")) is None


def other_session():
    """A session of the course with its cells, and the cells of another one."""
    one, two = (load_source(REPOSITORY, name) for name in REPOSITORY.sessions[:2])
    return one, [own("", grade_id=cell.grade_id) for cell in two.cells], two.name


def test_a_notebook_of_another_session_is_refused():
    source, cells, name = other_session()
    with pytest.raises(SubmissionError, match=f"^this is a notebook of {name}, not of {source.name}$"):
        submission.plan(cells, source)


@pytest.mark.parametrize("missing", [0, 1])
def test_half_of_the_names_make_a_notebook_of_the_session(missing):
    source, others, _ = other_session()
    ids = [cell.grade_id for cell in source.cells if cell.grade_id]
    ids = ids[: len(ids) - len(ids) % 2]
    cells = (cell for cell in source.cells if cell.grade_id in ids or cell.grade_id is None)
    source = Source(source.course, source.name, tuple(cells))
    mine = [own("", grade_id=one) for one in ids[: len(ids) // 2 - missing]]
    others = [cell for cell in others if cell.grade_id not in ids]
    if missing:
        with pytest.raises(SubmissionError, match="this is a notebook of"):
            submission.plan([*mine, *others], source)
    else:
        assert submission.plan([*mine, *others], source)


def test_a_notebook_of_no_session_is_planned_and_has_nothing():
    plan = planned([own("x = 1")])
    assert [(step.role, step.name) for step in plan.steps] == [*GIVEN, ("added", None)]
    assert plan.notes[2:] == [f"the cell of {name} is missing" for name in SOURCE.exercises]


# Bytes


def refused(data):
    with pytest.raises(SubmissionError) as reason:
        submission.parse(data, "mine.ipynb")
    assert submission.readable_cells(data) == []
    assert "\n" not in str(reason.value)
    return str(reason.value)


def bytes_of(*cells, **more):
    return json.dumps({"cells": list(cells), **more}).encode()


@pytest.mark.parametrize("data, reason", [
    (b"", "mine.ipynb is empty"), (b" \n\t", "mine.ipynb is empty"),
    (b"\xff\xfe", "it is not UTF-8 text"),
    (b"[" * 200_000, "is nested too deeply"),
    (b'{"cells":\n[', "was cut off: its JSON cannot be read (line 2)"),
    (b'{"cells": ' + b"9" * 5_000 + b"}", "was cut off: its JSON cannot be read"),
    (b"[]", "it has no cells"), (b"null", "it has no cells"), (b'{"cells": 3}', "it has no cells"),
    (b'{"worksheets": 3}', "it has no cells"), (b'{"worksheets": []}', "is a notebook of an old format"),
])
def test_what_is_no_notebook_is_refused_with_a_reason(data, reason):
    assert reason in refused(data)


def test_a_mark_of_utf_8_in_front_is_no_fault():
    assert submission.parse(b"\xef\xbb\xbf" + bytes_of()) == []


def test_the_bounds_of_a_notebook_are_those_of_the_guarantees():
    assert (MAX_BYTES, MAX_CELLS, MAX_SOURCE) == (32 * 2**20, 2_000, 2 * 2**20)
    assert (submission.MAX_VALUES, submission.MAX_ENDS) == (1_000_000, 8)


@pytest.mark.parametrize("text", ["", "[{,:" * 30, '"', '\\', '\\"[', '"[,{:"' * 20])
def test_so_many_values_are_read_and_no_more_and_text_is_one(monkeypatch, text):
    monkeypatch.setattr(submission, "MAX_VALUES", 50)
    assert submission.parse(bytes_of(text=text, numbers=[1] * 43)) == []
    assert "holds more than 50 values" in refused(bytes_of(text=text, numbers=[1] * 44))


def test_so_many_cells_are_read_and_no_more():
    cell = {"cell_type": "code", "source": ""}
    assert len(submission.parse(bytes_of(*[cell] * MAX_CELLS))) == MAX_CELLS
    assert "has 2001 cells; at most 2000 are read" in refused(bytes_of(*[cell] * (MAX_CELLS + 1)))


def test_so_much_source_is_read_and_no_more():
    half = {"cell_type": "code", "source": "x" * (MAX_SOURCE // 2)}
    assert len(submission.parse(bytes_of(half, half))) == len(submission.readable_cells(bytes_of(half, half))) == 2
    assert "more than 2 MiB of code and text" in refused(bytes_of(half, half, {"source": "x"}))


def cell_of(**tree):
    (cell,) = submission.parse(bytes_of(tree))
    return cell


@pytest.mark.parametrize("tree, grade_id", [
    ({"metadata": {"nbgrader": {"grade_id": "a"}}, "id": "b"}, "a"),
    ({"metadata": {"nbgrader": {"grade_id": "a"}}}, "a"), ({"id": "b"}, "b"), ({"metadata": {}, "id": "b"}, "b"),
    ({"metadata": {"nbgrader": []}, "id": "b"}, "b"), ({"metadata": [], "id": "b"}, "b"), ({}, None),
    ({"metadata": {"nbgrader": {"grade_id": 7}}, "id": "b"}, None), ({"id": ["b"]}, None),
    ({"metadata": {"nbgrader": {}}, "id": "b"}, None)])
def test_a_cell_is_known_by_its_name_or_by_its_id_where_an_editor_dropped_the_metadata(tree, grade_id):
    assert cell_of(cell_type="code", source="x", **tree).grade_id == grade_id


@pytest.mark.parametrize("source, text", [
    ("x = 1", "x = 1"), (["x = 1\n", "y = 2"], "x = 1\ny = 2"), ([], ""), ("a\r\nb", "a\nb"), ("'\ud800'", "'?'")])
def test_the_text_of_a_cell_is_one_string_that_can_travel(source, text):
    assert cell_of(cell_type="code", source=source) == SubmittedCell("code", text, None)


def test_a_type_of_a_cell_is_cut_off():
    assert cell_of(cell_type="x" * 100, source="").type == "x" * 80


@pytest.mark.parametrize("tree", [None, 7, [], {}, {"source": 5}, {"source": ["x", 5]}, {"source": None}])
def test_what_is_no_cell_is_passed_over(tree):
    assert submission.parse(bytes_of(tree, {"cell_type": "raw", "source": "x"})) == [SubmittedCell("raw", "x", None)]


# Files; `test_untrusted_files` asks what is opened and what is refused


def test_a_file_becomes_a_submission(tmp_path):
    path = tmp_path / "mine.ipynb"
    path.write_bytes(b"{}")
    assert submission.read(path, tmp_path, TINY, "ada", "a note") == submission.Submission(
        b"{}", TINY, "ada", "mine.ipynb", "a note")


def test_a_digest_is_of_the_bytes_alone():
    one, same, other = (submission.Submission(data, TINY, student) for data, student in (
        (b"{}", "ada"), (b"{}", "bob"), (b"{ }", "ada")))
    assert one.digest == same.digest != other.digest and len(one.digest) == 64


def test_a_file_that_is_refused_becomes_a_submission_with_the_reason(tmp_path):
    with open(tmp_path / "mine.ipynb", "wb") as file:
        file.truncate(MAX_BYTES)
    assert len(submission.read(tmp_path / "mine.ipynb", tmp_path, TINY).data) == MAX_BYTES
    with open(tmp_path / "mine.ipynb", "ab") as file:
        file.write(b" ")
    read = submission.read(tmp_path / "mine.ipynb", tmp_path, TINY, "ada", "a note")
    assert read == submission.Submission(b"", TINY, "ada", "mine.ipynb", "a note", unreadable=read.unreadable)
    assert "at most 32 MiB are read" in read.unreadable


HALF = "\ud800"  # half a character: JSON can name it, and no file can hold it


def test_half_a_character_in_any_field_of_a_cell_keeps_no_verdict_from_being_written(grade, right):
    def edit(notebook):
        for cell in notebook.cells:
            cell.cell_type, cell.metadata[HALF] = HALF, HALF
            cell.source += f"\n# {HALF}"
        notebook.cells[-1].metadata.nbgrader = {"grade_id": HALF}
        return json.dumps(notebook).encode()

    verdict = grade(right, edit=edit)
    assert verdict.points == verdict.max_points and any("\\ud800" in note for note in verdict.notes)
    assert from_json(to_json(verdict).encode(), Verdict, "it") == verdict


def test_a_file_whose_name_is_no_text_has_a_verdict_that_can_be_written(tmp_path, short_judge):
    path = tmp_path / os.fsdecode(b"\xff.ipynb")
    path.write_bytes(b"")
    verdict = short_judge.judge(submission.read(path, tmp_path, TINY), "seed")
    assert verdict.ungraded_reason and "\\udcff" in verdict.ungraded_reason
    assert from_json(to_json(verdict).encode(), Verdict, "it") == verdict
