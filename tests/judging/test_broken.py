"""Whatever is handed in has a defined result: graded, or refused in one clear line; never a traceback."""

import json
import os

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_raw_cell

from autograder.classroom import samples
from autograder.classroom.nbgrader.notebook import rebuilt
from autograder.classroom.verdict_store import VerdictStore
from autograder.judging import submission
from autograder.judging.judge import Judge
from autograder.model.source import load_source
from autograder.publish import notebooks
from autograder.runtime import messages
from autograder.sandbox.options import Limits, Options
from conftest import REPOSITORY, TINY, TINY_COURSE, automatic_points, handed


@pytest.fixture
def base(right):
    return notebooks.filled(TINY_COURSE, TINY, right)


def text_of(notebook):
    return nbformat.writes(notebook)


def at(notebook, grade_id):
    return next(i for i, c in enumerate(notebook.cells) if c.metadata.get("nbgrader", {}).get("grade_id") == grade_id)


# Files that are no notebooks: refused, with a reason

REFUSED = {
    "empty": b"",
    "spaces": b"  \n\n ",
    "text": b"Dear teacher, my dog ate it.",
    "python": b"def double(x):\n    return 2 * x\n",
    "html": b"<!DOCTYPE html><html></html>",
    "pdf": b"%PDF-1.7 \xe2\xe3\xcf\xd3",
    "zip": b"PK\x03\x04\x14\x00\x00\x00",
    "gzip": b"\x1f\x8b\x08\x00\x00\x00",
    "pickle": b"\x80\x04\x95\x10\x00",
    "zeros": bytes(1000),
    "random": bytes(range(256)) * 4,
    "utf-16": '{"cells": []}'.encode("utf-16"),
    "latin-1": '{"cells": [{"source": "é"}]}'.encode("latin-1"),
    "null": b"null",
    "number": b"42",
    "string": b'"cells"',
    "list": b"[]",
    "object": b"{}",
    "no-cells": b'{"nbformat": 4, "metadata": {}}',
    "cells-null": b'{"cells": null}',
    "cells-object": b'{"cells": {"0": {}}}',
    "cells-string": b'{"cells": "double"}',
    "old-format": b'{"nbformat": 3, "worksheets": [{"cells": []}]}',
    "deep": b"[" * 200_000,
    "deep-object": b'{"cells":' * 50_000,
    "huge-number": b'{"cells": ' + b"9" * 100_000 + b"}",
    "trailing": b'{"cells": []} and more',
    "single-quotes": b"{'cells': []}",
    "too-many-cells": b'{"cells": [' + b",".join([b"1"] * 3000) + b"]}",
}


@pytest.mark.parametrize("name", REFUSED)
def test_no_notebook_is_refused_in_one_line(name, short_judge):
    mine = handed(REFUSED[name], filename="tp0.ipynb")
    verdict = short_judge.judge(mine, "seed")
    assert verdict.ungraded_reason.startswith("tp0.ipynb ")
    assert "\n" not in verdict.ungraded_reason and len(verdict.ungraded_reason) < 200
    assert verdict.points == 0 and verdict.max_points == automatic_points(TINY_COURSE, TINY)
    assert verdict.notes == (verdict.ungraded_reason,)
    checks = [check for exercise in verdict.exercises for check in exercise.checks]
    assert all(verdict.ungraded_reason in messages.result(check) for check in checks)
    assert len(rebuilt(TINY_COURSE, mine).cells) == len(load_source(TINY_COURSE, TINY).cells)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.99])
def test_a_file_that_was_cut_off_is_refused(share, base, short_judge):
    text = text_of(base)
    assert "cut off" in short_judge.judge(handed(text[: int(len(text) * share)].encode()), "seed").ungraded_reason


def test_files_that_are_no_files(tmp_path):
    (tmp_path / "target").write_text("{}")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    (tmp_path / "zero").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name in ("link", "dangling", "zero", "pipe", "folder", "missing"):
        mine = submission.read(tmp_path / name, tmp_path, TINY)
        assert mine.data == b"" and "\n" not in mine.unreadable


@pytest.mark.parametrize("inside", ["[],", "{},", '"a",', '"\\\\",', '{"":0},', "[[],0],", "0,"])
def test_what_would_take_much_memory_is_refused_unread(inside, monkeypatch):
    monkeypatch.setattr(json, "loads", lambda *args: pytest.fail("it was read"))
    with pytest.raises(submission.SubmissionError, match="clear the outputs"):
        submission.parse(b'{"cells": [' + inside.encode() * (submission.MAX_VALUES + 1) + b'0]}')


@pytest.mark.parametrize("text", ["[{,:" * 10**6, '\\" [,' * 10**6, "\\" * 10**6, '"[' * 10**6])
def test_a_long_text_is_no_value(text):
    tree = {"cells": [{"cell_type": "code", "source": "x", "outputs": [text]}]}
    assert submission.parse(json.dumps(tree).encode()) == [submission.SubmittedCell("code", "x", None)]


def test_giant_files_are_refused(tmp_path):
    with open(tmp_path / "giant.ipynb", "wb") as file:
        file.truncate(submission.MAX_BYTES + 1)
    assert "clear the outputs" in submission.read(tmp_path / "giant.ipynb", tmp_path, TINY).unreadable


# Notebooks that are odd: graded, with full marks where the right answers are all there

FULL, NOTED = {}, {}


def full(function):
    """Right answers in an odd notebook: full marks."""
    FULL[function.__name__.strip("_").replace("_", "-")] = function
    return function


def noted(function):
    """The same, and the instructor's notes say what was odd."""
    NOTED[function.__name__.strip("_").replace("_", "-")] = function
    return function


@full
def _outputs_everywhere(n):
    for cell in n.cells:
        if cell.cell_type == "code":
            cell.outputs = [nbformat.v4.new_output("stream", text="x" * 100_000)]


@full
def _unknown_kernel(n):
    n.metadata.kernelspec = {"name": "python-of-my-laptop", "display_name": "?", "language": "R"}


@full
def _no_kernel(n):
    n.metadata = nbformat.from_dict({})


@full
def _checks_deleted(n):
    n.cells = [c for c in n.cells if not c.metadata.get("nbgrader", {}).get("grade")]


@full
def _checks_doubled(n):
    n.cells += [c for c in n.cells if c.metadata.get("nbgrader", {}).get("grade")]


@full
def _checks_retyped(n):
    for c in n.cells:
        if c.metadata.get("nbgrader", {}).get("grade"):
            c.cell_type = "raw"


@full
def _own_text(n):
    n.cells.insert(0, new_markdown_cell("# My notes"))
    n.cells.append(new_raw_cell("raw"))


@full
def _markdown_deleted(n):
    n.cells = [c for c in n.cells if c.cell_type == "code"]


@full
def _helpers_split(n):
    n.cells.insert(at(n, "double"), new_code_cell("factor = 2"))
    n.cells[at(n, "double")].source = "def double(x):\n    return factor * x"


@full
def _answer_in_another_cell(n):
    cell = n.cells[at(n, "double")]
    n.cells.insert(at(n, "double") + 1, new_code_cell(cell.source))
    cell.source = "# see below"


@noted
def _renamed(n):
    n.cells[at(n, "double")].metadata.nbgrader.grade_id = "my-double"


@full
def _metadata_lost(n):
    for cell in n.cells:
        cell.metadata = nbformat.from_dict({})


@full
def _exercises_reversed(n):
    i, j = at(n, "double"), at(n, "encoder")
    n.cells[i], n.cells[j] = n.cells[j], n.cells[i]


@full
def _magics(n):
    n.cells[at(n, "double")].source = "%matplotlib inline\n" + n.cells[at(n, "double")].source
    n.cells.append(new_code_cell("%%time\nx = 1"))
    n.cells.append(new_code_cell("!ls\n%timeit -n1 -r1 1"))


@full
def _windows_lines(n):
    for cell in n.cells:
        cell.source = cell.source.replace("\n", "\r\n")


@full
def _plots_shown(n):
    n.cells.append(new_code_cell("import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()"))


@full
def _self_checks_copied(n):
    n.cells.append(new_code_cell("tp.check('double')\ntp.check('encoder')"))


@full
def _odd_metadata(n):
    n.cells[at(n, "double")].metadata["tags"] = ["skip-execution"]
    n.metadata["widgets"] = {"state": [1, 2, {"a": None}]}


@full
def _attachments(n):
    n.cells[0]["attachments"] = {"x.png": {"image/png": "not base64 !!"}}


@full
def _unicode(n):
    n.cells.insert(2, new_code_cell("größe = 'é 漢字 \U0001f600'"))


@full
def _awaits(n):
    n.cells.append(new_code_cell("import asyncio\nawait asyncio.sleep(0)"))


@full
def _warnings(n):
    n.cells[at(n, "double")].source = "import warnings\nwarnings.warn('careful')\n" + n.cells[at(n, "double")].source


@noted
def _given_cells_deleted(n):
    n.cells = [c for c in n.cells if c.metadata.get("nbgrader", {}).get("grade_id") not in ("imports", "helper")]


@noted
def _imports_in_a_given_cell(n):
    n.cells[at(n, "imports")].source += "\nimport math\nfrom torch.nn import functional as FF"
    n.cells[at(n, "double")].source = (
        "def double(x):\n    return math.floor(2.5) * FF.relu(x) - math.floor(2.5) * FF.relu(-x)")


@noted
def _solution_cells_doubled(n):
    n.cells.insert(at(n, "double"), n.cells[at(n, "double")].copy())


@noted
def _retyped_to_markdown(n):
    n.cells[at(n, "double")].cell_type = "markdown"


@noted
def _retyped_to_raw(n):
    n.cells[at(n, "double")].cell_type = "raw"


@full
def _split_in_the_middle(n):
    i = at(n, "encoder")
    lines = n.cells[i].source.split("\n")
    first, second = new_code_cell("\n".join(lines[:4])), new_code_cell("\n".join(lines[4:]))
    first.metadata = second.metadata = n.cells[i].metadata
    n.cells[i : i + 1] = [first, second]


@noted
def _own_cell_that_stops(n):
    n.cells.append(new_code_cell("1 / 0"))


@noted
def _own_cell_that_never_ends(n):
    n.cells.append(new_code_cell("while True: pass"))


@noted
def _own_cell_that_is_no_python(n):
    n.cells.append(new_code_cell("this is not python"))


@pytest.mark.parametrize("name", [*FULL, *NOTED])
def test_odd_notebooks_keep_their_points(name, grade, right):
    verdict = grade(right, edit=FULL.get(name) or NOTED.get(name))
    failed = [check for exercise in verdict.exercises for check in exercise.failed]
    assert not failed and verdict.points == automatic_points(TINY_COURSE, TINY)
    assert bool(verdict.notes) == (name in NOTED)


# Raw JSON that no editor writes: each cell is read for what it is, or passed over

ODD_CELLS = {
    "null": None,
    "number": 7,
    "list": [],
    "no-source": {"cell_type": "code"},
    "source-number": {"cell_type": "code", "source": 5},
    "source-mixed": {"cell_type": "code", "source": ["x", 5]},
    "metadata-list": {"cell_type": "code", "source": "x = 1", "metadata": []},
    "metadata-deep": {"cell_type": "code", "source": "x = 1", "metadata": {"nbgrader": [1]}},
    "grade-id-list": {"cell_type": "code", "source": "x = 1", "metadata": {"nbgrader": {"grade_id": ["double"]}}},
    "type-number": {"cell_type": 3, "source": "x = 1"},
    "lone-surrogate": {"cell_type": "code", "source": "x = '\ud800'"},
    "null-bytes": {"cell_type": "code", "source": "# \x00\x00"},
}


@pytest.mark.parametrize("name", ODD_CELLS)
def test_odd_cells_cost_nothing(name, base, short_judge):
    notebook = json.loads(text_of(base))
    notebook["cells"].insert(3, ODD_CELLS[name])
    mine = handed(json.dumps(notebook).encode())
    assert short_judge.judge(mine, "seed").points == automatic_points(TINY_COURSE, TINY)
    assert rebuilt(TINY_COURSE, mine)


def test_deleted_cells_are_missing_and_the_rest_counts(grade, right):
    def delete(n):
        del n.cells[at(n, "encoder")]

    verdict = grade(right, edit=delete)
    found = {exercise.exercise: exercise.outcome for exercise in verdict.exercises}
    assert found == {"double": "passed", "encoder": "missing", "last": "passed"}
    assert any("encoder is missing" in note for note in verdict.notes)


def test_all_cells_deleted(grade, right):
    verdict = grade(right, edit=lambda n: n.cells.clear())
    assert verdict.points == 0 and {exercise.outcome for exercise in verdict.exercises} == {"missing"}


def test_the_later_of_two_cells_counts(grade, right):
    def add(n):
        cell = n.cells[at(n, "double")].copy()
        cell.source = "def double(x):\n    return x"
        n.cells.insert(at(n, "double") + 1, cell)

    assert grade(right, edit=add).exercises[0].points == 0


def test_another_tp_is_refused():
    one, two = REPOSITORY.sessions[:2]
    other = notebooks.released_notebook(load_source(REPOSITORY, one))
    with Judge(REPOSITORY) as judge:
        assert judge.judge(handed(other, two), "seed").ungraded_reason == f"this is a notebook of {one}, not of {two}"


def test_a_verdict_is_kept_while_nothing_changes(tmp_path, base, short_judge):
    course = samples.classroom_in(tmp_path, TINY_COURSE, [TINY])
    store, options = VerdictStore(course), short_judge.options

    def marked(content):
        mine = submission.read(samples.hand_in(course, "ada", TINY, content), tmp_path, TINY, "ada")
        kept = store.current(mine, options)
        return kept or store.record(mine, short_judge.judge(mine, "seed"), store.key(mine, options))

    first = marked(base)
    assert marked(base) == first and first.verdict.points == first.verdict.max_points
    mine = submission.read(samples.hand_in(course, "ada", TINY, base), tmp_path, TINY, "ada")
    assert store.current(mine, Options(limits=Limits(exercise_cpu_seconds=60))) is None
    assert marked(notebooks.filled(TINY_COURSE, TINY, {})).verdict.points == 0


def test_there_are_enough():
    assert len(REFUSED) + len(FULL) + len(NOTED) + len(ODD_CELLS) >= 60
