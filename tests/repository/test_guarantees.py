"""The page of guarantees says what is so: the tests that it names exist, and its bounds are the code's."""

import ast
import re

import pytest

from autograder.judging import submission
from autograder.runtime import side_by_side, values, wire
from autograder.runtime.locate import check_search, deadline, repair, search
from autograder.sandbox import host, kernel
from autograder.sandbox.options import Limits
from autograder.sandbox.watchdog import BYTES_OF_AN_OPEN_FILE
from conftest import REPOSITORY

PAGE = (REPOSITORY.root / "docs" / "guarantees.md").read_text(encoding="utf-8")
NAMED = sorted(set(re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", PAGE)))
BOUNDS = dict(re.findall(r"^\| ([^|]+) \| ([^|]+) \| [^|]+ \|$", PAGE, re.M))
LIMITS = Limits()


@pytest.mark.parametrize("file, name", NAMED, ids=lambda part: part or "all")
def test_each_test_that_is_named_exists(file, name):
    path = REPOSITORY.root / file
    assert path.is_file(), file
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert not name or name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_each_guarantee_names_one():
    table = PAGE[PAGE.index("| guarantee |"):].split("\n\n")[0].splitlines()[2:]
    assert len(table) >= 15 and all(re.search(r"`tests/.+\.py", row) for row in table)


@pytest.mark.parametrize("what, says", [
    ("CPU time of one cell", f"{LIMITS.cell_cpu_seconds:g} s"),
    ("CPU time of all checks of one exercise together", f"{LIMITS.exercise_cpu_seconds:g} s "),
    ("whole notebook, on the clock", f"{LIMITS.notebook_wall_seconds:g} s"),
    ("a cell, or the checks of an exercise, on the clock", f"{LIMITS.wall_share * LIMITS.notebook_wall_seconds:g} s"),
    ("memory, all processes together", f"{LIMITS.memory / 2**30:g} GiB"),
    ("what waits in sockets", f"{BYTES_OF_AN_OPEN_FILE / 2**20:.1f} MiB"),
    ("processes, open files", f"{LIMITS.processes}, {LIMITS.files}"),
    ("scratch on disk, shared memory", f"{LIMITS.disk / 2**20:g} MiB"),
    ("scratch on disk, shared memory", f"{kernel.MAX_FILES:,}".replace(",", " ")),
    ("a reply of a kernel", f"{wire.MAX_BYTES / 2**20:g} MiB; {values.MAX_ELEMENTS / 1e6:g} million numbers"),
    ("a reply of a kernel", f"{host.MAX_HEADER / 2**20:g} MiB without its arrays"),
    ("the judge itself", f"{LIMITS.judge_cpu_seconds:g} s of its own CPU time, {LIMITS.judge_memory / 2**30:g} GiB"),
    ("the judge itself", f"{LIMITS.judge_wall_seconds:g} s on the clock"),
])
def test_each_bound_is_that_of_the_code(what, says):
    rows = [value for name, value in BOUNDS.items() if name.startswith(what)]
    assert len(rows) == 1 and says in rows[0].replace("\N{NO-BREAK SPACE}", " "), rows


@pytest.mark.parametrize("says", [
    f"after {repair.MAX_EDITS} changes",
    f"at the latest {search.TOTAL_SECONDS:g} CPU seconds after the search for values began, "
    f"or after {search.EDITING_SECONDS:g} of its own "
    f"(on the clock, {['no', 'one', 'two', 'three'][deadline.WALL_FACTOR]} times as many)",
    f"after {search.VALUE_SECONDS:g} CPU seconds for {['no', 'one', 'two', 'three'][search.MAX_CHECKS]} checks "
    f"({search.RECOGNISED_SECONDS:g} if a known fault",
    f"after {check_search.MAX_EARLIER} more values when a place was found",
])
def test_each_bound_of_the_search_for_a_place_is_that_of_the_code(says):
    assert says in PAGE


def test_so_many_numbers_of_an_output_are_shown_at_most():
    assert f"tables: at most {side_by_side.ROWS * side_by_side.COLUMNS} of an output" in PAGE


def test_what_can_be_read_is_bounded_as_it_says():
    row = next(line for line in PAGE.splitlines() if line.startswith("| more than"))
    said = [int(number.replace(" ", "")) for number in re.findall(r"\d[\d ]*\d|\d", row)]
    assert said == [submission.MAX_BYTES // 2**20, submission.MAX_CELLS, submission.MAX_SOURCE // 2**20]
    assert f"{round(1 / host.GRACE_SECONDS)}" == "5" and "five times a second" in PAGE
