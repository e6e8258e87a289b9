"""Handing in: the file is the saved notebook, and what is not done is told."""

import json
import os
import time

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from autograder.runtime.notebook import handing_in, history
from autograder.runtime.settings import NotebookSettings


def cell(name, text, kind="code", **about):
    return {"cell_type": kind, "source": text.splitlines(True),
            "metadata": {"nbgrader": {"grade_id": name, "solution": True, **about}}}


QUESTIONS = {"why": "**Why?**", "how": "**How?**", "where": "**Where?**", "when": "**When?**", "who": "**Who?**"}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A course with the folder of a session, in which a notebook is saved."""
    (tmp_path / "selfchecks").mkdir()
    (tmp_path / "first").mkdir()
    monkeypatch.chdir(tmp_path / "first")
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    cells = [cell("double", "def double(x):\n    return 2 * x"),
             cell("half", "def half(x):\n    raise NotImplementedError  # replace"),
             cell("why", "**Why?**\n\n*Your answer here.*", "markdown"),
             cell("how", "**How?**\n\nSo.", "markdown"),
             cell("where", "**Where?**\n\nHere.\n\n*Your answer here.*", "markdown"),
             cell("when", "**When?**", "markdown"),
             {"cell_type": "code", "source": "1", "metadata": {}}]
    (tmp_path / "first" / "first.ipynb").write_text(json.dumps({"cells": cells}))
    return tmp_path


def test_the_saved_notebook_is_what_is_handed_in_and_what_is_not_done_is_told(folder):
    says = NotebookSettings(to="moodle", address="https://m.org")
    handed = handing_in.hand_in("first", ["double", "half", "third"], QUESTIONS, says, {})
    assert handed.file == folder / "hand_in" / "first.ipynb"
    assert handed.file.read_bytes() == (folder / "first" / "first.ipynb").read_bytes()
    assert (handed.missing, handed.unwritten, handed.blank, handed.unsaved) == (
        ("third", "who"), ("half",), ("why", "when"), ())
    text = "\n".join(handed.lines)
    assert "just now" in text and "../hand_in/first.ipynb" in text and "on Moodle. https://m.org" in text


def test_a_notebook_with_a_cell_that_is_none_is_as_one_that_is_not_here(folder):
    (folder / "first" / "first.ipynb").write_text(json.dumps({"cells": [
        {"cell_type": "code", "metadata": {"nbgrader": {"grade_id": "double", "solution": True}}}]}))
    assert handing_in.hand_in("first", [], {}, NotebookSettings(), {}).saved is None


def test_what_was_run_after_it_was_saved_is_told(folder, monkeypatch):
    monkeypatch.setattr(history, "cells", lambda: ["def double(x):\n    return 2 * x", "def half(x):\n    return 0"])
    assert handing_in.hand_in("first", [], {}, NotebookSettings(), {}).unsaved == ("half",)


def test_a_cell_that_was_turned_into_one_of_another_type_is_gone(folder):
    cells = [cell("double", "def double(x):\n    return 2 * x", "markdown"), cell("why", "**Why?**\n\nSo.")]
    (folder / "first" / "first.ipynb").write_text(json.dumps({"cells": cells}))
    handed = handing_in.hand_in("first", ["double"], {"why": "**Why?**"}, NotebookSettings(), {})
    assert handed.missing == ("double", "why") and "✓" not in "".join(handed.lines)


def test_of_a_cell_that_was_split_each_part_is_looked_at(folder, monkeypatch):
    parts = [cell("half", "def half(x):\n    raise NotImplementedError"), cell("half", "def other(x):\n    return x")]
    (folder / "first" / "first.ipynb").write_text(json.dumps({"cells": parts}))
    monkeypatch.setattr(history, "cells", lambda: ["def other(x):\n    return 0"])
    handed = handing_in.hand_in("first", ["half"], {}, NotebookSettings(), {})
    assert (handed.unwritten, handed.unsaved, handed.missing) == (("half",), ("half",), ())


@pytest.fixture
def shell(monkeypatch):
    """A shell of IPython, whose cells are watched."""
    made = InteractiveShell(config=Config({"HistoryManager": {"enabled": True, "hist_file": ":memory:"}}))
    monkeypatch.setattr(history, "ipython_shell", lambda: made)
    monkeypatch.setattr(history, "_watch", None)
    history.watch()
    history.watch()
    return lambda text: made.run_cell(text, store_history=True)


DECORATOR = "def timed(f):\n    def inner(*args):\n        return f(*args)\n    return inner"


@pytest.mark.parametrize("cells, older", [
    (["def f():\n    return 1", "1 / 0\ndef f():\n    return 2"], True),
    (["def f():\n    return 1", "def f():\n    return ("], True),
    (["1 / 0\ndef f():\n    return 2"], True),
    (["1 / 0\ndef f():\n    return 2", "def f():\n    return 2"], False),
    (["def f():\n    return 1", "def f():\n    return 2\n1 / 0"], False),
    ([DECORATOR, "@timed\ndef f():\n    return 1"], False),
    (["def forward(self):\n    return 1", "class f:\n    forward = forward"], False),
    (["def f():\n    return 1", "%%capture out\ndef f():\n    return 2"], False),
    (["class f:\n    def g(self): return 1", "def g2(): return 3\nf.g = g2"], False),
    (["def f():\n    return 1", "1 / 0\ndef f():\n    return 2", "f = lambda: 3"], False),
    (["def f():\n    return 1", "1 / 0\ndef f():\n    return 2", "from math import sqrt as f"], False),
    (["def f():\n    return 1", "get_ipython().run_cell('x = 1')\n1 / 0\ndef f():\n    return 2"], True),
])
def test_a_definition_is_outdated_if_the_last_cell_with_it_stopped_before(shell, capsys, cells, older):
    for text in cells:
        shell(text)
    assert history.outdated(["f", "other"]) == (["f"] if older else [])


def test_a_cell_with_a_magic_is_saved_as_it_was_run(folder, shell, capsys):
    text = "def double(x):\n    return 2 * x\n%timeit -n1 -r1 double(1)"
    (folder / "first" / "first.ipynb").write_text(json.dumps({"cells": [cell("double", text)]}))
    shell(text)
    assert handing_in.hand_in("first", [], {}, NotebookSettings(), {}).unsaved == ()
    shell(text.replace("2 *", "3 *"))
    assert handing_in.hand_in("first", [], {}, NotebookSettings(), {}).unsaved == ("double",)


@pytest.mark.parametrize("text, blank", [
    ("**Why so?**\n\n*Your answer here.*", True), ("# Mine\n**Why?**\n\n*Your answer here.*\n", True),
    ("**Why so?**\n\nBecause.", False), ("**Why?**\n\nBecause.\n\n*Your answer here.*", False)])
def test_an_answer_is_blank_whatever_the_question_was(folder, text, blank):
    cells = [cell("why", text, "markdown")]
    (folder / "first" / "first.ipynb").write_text(json.dumps({"cells": cells}))
    assert handing_in.hand_in("first", [], {"why": "**Why?**"}, NotebookSettings(), {}).blank == ("why",) * blank


def test_the_exchange_takes_the_notebook_itself(folder):
    handed = handing_in.hand_in("first", [], {}, NotebookSettings(to="exchange"), {})
    assert handed.file is None and not (folder / "hand_in").exists() and "Assignment List" in handed.lines[-1]


def test_the_front_end_says_what_the_file_is_called(folder, monkeypatch):
    (folder / "first" / "first.ipynb").rename(folder / "first" / "mine.ipynb")
    assert handing_in.hand_in("first", [], {}, NotebookSettings(), {}).saved is None
    for namespace, name in ({"__vsc_ipynb_file__": str(folder / "first" / "mine.ipynb")}, ""), ({}, "first/mine.ipynb"):
        monkeypatch.setenv("JPY_SESSION_NAME", name)
        settings = NotebookSettings(to="By mail.")
        assert handing_in.hand_in("first", [], {}, settings, namespace).file.name == "first.ipynb"


def test_the_copy_can_be_opened_and_handed_in(folder, monkeypatch):
    copy = handing_in.hand_in("first", [], {}, NotebookSettings(), {}).file
    monkeypatch.chdir(copy.parent)
    handed = handing_in.hand_in("first", [], {}, NotebookSettings(), {})
    assert handed.file.resolve() == copy.resolve() and "The file to hand in: `first.ipynb`" in "\n".join(handed.lines)


@pytest.mark.parametrize("found, lines", [
    ({}, ["✓ Every exercise is written and every question answered."]),
    ({"unsaved": ("a", "b")}, ["! Not saved as you last ran it: a, b."]),
    ({"missing": ("a", "b")}, ["! The cell is gone: a, b."]),
    ({"unwritten": ("a", "b")}, ["– Not written: a, b."]),
    ({"blank": ("a", "b")}, ["– No answer yet: a, b."]),
    ({"blank": ("a",), "unsaved": ("b",)}, ["! Not saved as you last ran it: b.", "– No answer yet: a."]),
])
def test_what_was_found_is_told_in_lines(found, lines, capsys):
    handed = handing_in.HandedIn("first", time.time(), None, **found, way="By mail.")
    assert handed.lines[1:] == [*lines, "→ By mail."]
    assert handed.lines[0].endswith("just now. If you have typed since, save (Ctrl+S) and run this cell again.")
    handing_in.show(handed)
    assert capsys.readouterr().out.splitlines() == ["first: hand in", *(f"  {line}" for line in handed.lines)]


def test_of_a_notebook_that_is_not_here_it_is_told_where_the_file_comes_from(folder):
    handed = handing_in.hand_in("second", ["a"], QUESTIONS, NotebookSettings(to="By mail."), {})
    first, last = handed.lines
    assert first.startswith("The file second.ipynb is not in this folder. Save") and last == "→ By mail."
    assert not (folder / "hand_in").exists()


@pytest.mark.parametrize("minutes, told", [
    (-5, "at %H:%M, just now"), (0.98, "at %H:%M, just now"), (1, "at %H:%M, 1 min ago"),
    (119, "at %H:%M, 119 min ago"), (120, "at %H:%M, long ago"), (719, "at %H:%M, long ago"),
    (720, "at %Y-%m-%d %H:%M, long ago"),
])
def test_when_it_was_saved(minutes, told, monkeypatch):
    now = 1_790_000_000.5
    monkeypatch.setattr(time, "time", lambda: now)
    assert handing_in._when(now - 60 * minutes) == time.strftime(told, time.localtime(now - 60 * minutes))


def test_cells_that_are_no_exercise_and_names_that_are_no_notebook_are_left_out(folder, monkeypatch):
    cells = [cell("imports", "raise NotImplementedError", solution=False), cell("double", "x = 1"),
             {"cell_type": "code", "source": "1", "metadata": {"nbgrader": None}}]
    (folder / "first" / "first.ipynb").write_text(json.dumps({"cells": cells}))
    (folder / "first" / "notes.txt").write_text("{}")
    for name in ("first/notes.txt", "first/other.ipynb"):
        monkeypatch.setenv("JPY_SESSION_NAME", name)
        handed = handing_in.hand_in("first", ["double"], {}, NotebookSettings(), {})
        assert (handed.unwritten, handed.missing) == ((), ()) and handed.file == folder / "hand_in" / "first.ipynb"


@pytest.mark.parametrize("has_data, may_write", [(False, True), (True, False)])
def test_the_copy_lies_in_this_folder_where_none_may_lie_above_it(folder, monkeypatch, has_data, may_write):
    if not has_data:
        (folder / "selfchecks").rmdir()
    monkeypatch.setattr(handing_in.os, "access", lambda path, mode: may_write and (path, mode) == (folder, os.W_OK))
    handed = handing_in.hand_in("first", [], {}, NotebookSettings(), {})
    assert handed.file == folder / "first" / "hand_in" / "first.ipynb"
    assert "The file to hand in: `hand_in/first.ipynb`" in "\n".join(handed.lines)
