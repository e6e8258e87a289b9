"""The command line, as a person types it: exit status, one clear line, one JSON object."""

import json

import nbformat
import pytest

from autograder import cli, demo


@pytest.fixture
def file(tmp_path):
    def write(content, name="tp0_tiny.ipynb"):
        path = tmp_path / name
        path.write_text(content if isinstance(content, str) else nbformat.writes(content), encoding="utf-8")
        return str(path)

    return write


def test_full_marks_exit_0_and_print_one_object(tiny, right, file, capsys):
    assert cli.main(["check", file(demo.notebook(tiny, right)), "--json", "--device", "cpu"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["assignment"], result["score"], result["isolation"]) == (tiny, 8, "bubblewrap")


def test_less_exits_1_and_the_seed_replays_it(tiny, right, file, capsys):
    path = file(demo.notebook(tiny, {**right, "double": "def double(x):\n    return 3 * x"}))
    assert cli.main(["check", path, "--json", "--device", "cpu", "--seed", "dispute"]) == 1
    first = json.loads(capsys.readouterr().out)
    assert cli.main(["check", path, "--json", "--device", "cpu", "--seed", first["seed"]]) == 1
    assert json.loads(capsys.readouterr().out)["exercises"] == first["exercises"]


@pytest.mark.parametrize("content", ["", "not a notebook", '{"cells": [', '{"cells": []}', "[]"])
def test_what_cannot_be_graded_exits_2_with_one_line(tiny, file, capsys, content):
    assert cli.main(["check", file(content)]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1 and err.startswith("autograder: ")


def test_a_missing_file_exits_2(tiny, capsys):
    assert cli.main(["check", "nowhere.ipynb"]) == 2
    assert "no such file" in capsys.readouterr().err


def test_without_bubblewrap_nothing_is_graded(tiny, right, file, capsys, monkeypatch):
    monkeypatch.setattr("autograder.sandbox.shutil.which", lambda name: None)
    path = file(demo.notebook(tiny, right))
    assert cli.main(["check", path, "--device", "cpu"]) == 2
    assert "bubblewrap is missing" in capsys.readouterr().err


def test_no_isolation_is_said_in_the_report(tiny, right, file, capsys):
    assert cli.main(["check", file(demo.notebook(tiny, right)), "--no-isolation", "--device", "cpu", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["isolation"] == "none"


def test_help_reads_well(capsys):
    for command in ([], ["grade"], ["check"], ["release"], ["report"], ["verify"]):
        with pytest.raises(SystemExit) as stop:
            cli.main([*command, "--help"])
        assert stop.value.code == 0
    assert "Exit status" in capsys.readouterr().out


def test_an_unknown_tp_exits_2(capsys):
    assert cli.main(["verify", "tp9_nothing"]) == 2
    assert "there is no TP called tp9_nothing" in capsys.readouterr().err


def test_a_gradebook_that_cannot_be_used_is_one_line(monkeypatch, capsys):
    from sqlalchemy.exc import OperationalError

    def locked(*args):
        raise OperationalError("SELECT 1", {}, Exception("database is locked"))

    monkeypatch.setattr("autograder.classroom.Course.__init__", locked)
    assert cli.main(["grade"]) == 2
    out, err = capsys.readouterr()
    assert "database is locked" in err and err.count("\n") == 1
