"""Borrowed parts: the rest of a session goes on, and nobody has a point for them."""

import gzip
import importlib

import pytest

import tp
from autograder import cli
from autograder.model.source import load_source
from autograder.runtime import wire
from autograder.runtime.notebook import commands, provided
from conftest import REPOSITORY, TINY, TINY_COURSE


@pytest.fixture
def notebook(shipped, monkeypatch, tmp_path):
    """A student's notebook of the tiny session in a folder of its own: runs a text, and returns its names."""
    monkeypatch.syspath_prepend(shipped.parent)
    monkeypatch.chdir(tmp_path)
    commands._data.cache_clear()
    tp.start(TINY)
    names = {"tp": tp, **{name: importlib.import_module(name) for name in ("torch",)}}
    names["nn"] = names["torch"].nn

    def run(text):
        exec(text, names)
        return names

    yield run
    commands._data.cache_clear()
    commands._state = commands._NotebookState()


def provide(exercise, folder):
    assert cli.main(["--course", str(TINY_COURSE.root), "pack", "provided", TINY, exercise, "--out", str(folder)]) == 0


def test_what_is_borrowed_works_and_is_worth_no_points(notebook, tmp_path, capsys):
    notebook("goes_on = tp.done('double')")
    assert "Stuck?" not in capsys.readouterr().out  # nothing is provided here
    provide("double", tmp_path)
    capsys.readouterr()
    assert not notebook("goes_on = tp.done('double')")["goes_on"]
    assert 'tp.borrow("double")' in capsys.readouterr().out
    names = notebook("tp.borrow('double')\ngoes_on = tp.done('double')")
    assert names["goes_on"] and names["double"](names["torch"].tensor(21)) == 42
    capsys.readouterr()
    notebook("tp.check('double')")
    assert "borrowed. It works, and is worth no points" in capsys.readouterr().err
    notebook("tp.progress()")
    assert ["double", "borrowed", "0", "of", "2"] in [line.split() for line in capsys.readouterr().out.splitlines()]
    assert notebook("goes_on = tp.done('double')")["goes_on"]  # the check has taken nothing away
    notebook("def double(x):\n    return x + x\ntp.check('double')")
    assert "all 2 checks pass" in capsys.readouterr().out


def test_what_is_not_provided_is_said(notebook, tmp_path, capsys):
    notebook("tp.borrow('double')")
    assert f"A file {TINY}.provided from your teacher would do it." in capsys.readouterr().out
    provide("last", tmp_path)
    assert "double" not in notebook("tp.borrow('double')")
    assert "Your teacher provides: last." in capsys.readouterr().out
    with pytest.raises(RuntimeError, match="no exercise 'dubble' .did you mean 'double'..; it has double"):
        notebook("tp.borrow('dubble')")


@pytest.mark.parametrize("data", [b"", b"<html>not found</html>", wire.compress({"double": "x = 1"})[:-9],
                                  gzip.compress(b"half")], ids=["nothing", "a page", "cut off", "other bytes"])
def test_a_file_that_holds_nothing_is_one_line(notebook, tmp_path, data):
    (tmp_path / f"{TINY}.provided").write_bytes(data)
    with pytest.raises(commands.SelfCheckError, match=f"^{TINY}.provided holds no exercises"):
        notebook("tp.borrow('double')")


def test_a_cell_waits_for_what_cells_above_make(notebook, capsys):
    assert not notebook("goes_on = tp.done('model', 'log')")["goes_on"]
    assert "needs `model` and `log`: run the cells above" in capsys.readouterr().out
    assert notebook("model, log = 1, []\ngoes_on = tp.done('model', 'log')")["goes_on"]
    assert not notebook("goes_on = tp.done('double', 'model')")["goes_on"]


def test_to_look_into_a_check_costs_nothing_where_it_is_graded(grade, right):
    looks = ("case = tp.case('double', 'values')\nprint(case['x'].shape, case.expected, case.run()['y'] + 1)\n"
             "tp.progress()\ndef twofold(x):\n    return 2 * x")
    verdict = grade({**right, "double": "def double(x):\n    return twofold(x)"}, own=(looks,))
    assert verdict.points == verdict.max_points and not [note for note in verdict.notes if "stopped" in note]


DOUBLE = "def double(x):\n    return times(x)"
TIMES = "def times(x):\n    return 2 * x"


@pytest.mark.parametrize("added, double", [
    (f"%matplotlib inline\n1 / 0\nfrom math import e\n{TIMES}\n1 / 0", f"{DOUBLE} + 0 * e"),
    (f"import seaborn_not_here as sns\n{TIMES}\nsns.plot()\nK = 3", f"{DOUBLE} * K / 3"),
    (f"def fails():\n    return 1 / 0\nfails()\n@fails\ndef other():\n    pass\n{TIMES}", DOUBLE),
    ("from functools import partial\ndef times(x, k):\n    return k * x\ntimes = partial(times, k=2)\n1 / 0", DOUBLE),
    ("\n\nclass Two:\n    value = 2\nTWO = Two()\n1 / 0",
     "def double(x):\n    return isinstance(TWO, Two) * TWO.value * x"),
    ("def times(x):\n    return times.k * x\ntimes.k = 2\n1 / 0\n", DOUBLE),
    ("import time; N = globals().get('N', 0) + 1\n1 / 0\n2 / 0", "def double(x):\n    return 2 * N * x"),
])
def test_a_cell_that_stops_is_run_without_the_statements_that_stop_it(grade, right, added, double):
    verdict = grade({**right, "double": double}, own=(added,))
    assert verdict.points == verdict.max_points
    assert len([note for note in verdict.notes if "stopped" in note]) == 1, "each statement is run once"


def test_so_is_the_cell_of_an_exercise(grade, right):
    looks = "case = tp.case('double', 'values')\nassert case['x'].shape == (5, 4)"
    verdict = grade({**right, "double": f"{looks}\n{DOUBLE}"}, own=(TIMES,))
    assert verdict.points == verdict.max_points


def test_a_cell_of_which_each_statement_stops_ends(grade, right):
    verdict = grade(right, own=("\n".join(["1 / 0"] * 200), "def f(:\n    1 / 0", "1 / 0"))
    assert verdict.points == verdict.max_points


def test_what_is_provided_stays_so_until_the_own_cell_is_run(notebook, tmp_path, capsys):
    cell = "from collections import Counter\ndef double(x):\n    return 2 * x"
    (tmp_path / f"{TINY}.provided").write_bytes(wire.compress({"double": cell}))
    notebook("tp.borrow('double')")
    notebook(f"tp.start({TINY!r})")  # the first cell again
    capsys.readouterr()
    notebook("tp.check('double')")
    assert "borrowed" in capsys.readouterr().err
    notebook("def double(x):\n    return x + x\ntp.check('double')")
    assert "all 2 checks pass" in capsys.readouterr().out


def test_the_judge_gives_nothing_for_it(grade, right):
    borrowed = {name: text for name, text in right.items() if name != "double"}
    verdict = grade(borrowed, own=("tp.borrow('double')",))
    found = {result.exercise: result.points for result in verdict.exercises}
    assert found.pop("double") == 0 and all(found.values())
    assert not [note for note in verdict.notes if "stopped" in note]


@pytest.mark.parametrize("name", REPOSITORY.sessions)
def test_every_exercise_can_be_lent(name):
    """By the text alone: each defines a name by which it is known, and is one cell that Python reads."""
    source = load_source(REPOSITORY, name)
    for exercise in source.exercises:
        code = compile(source.cell("exercise", exercise).solution, exercise, "exec")
        assert code.co_names, exercise
    assert provided.path(name).suffix == ".provided"
