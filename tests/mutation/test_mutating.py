"""The engine's tests see what is wrong with the engine: mutants of its modules, written by a machine, are killed.

`make slow` takes a sample of each module, another in each run; ``python tests/mutation/mutating.py`` takes all.
"""

import ast
import functools
import re
import subprocess
import sys

import mutating
import pytest
from mutants import generate_mutants

from conftest import RUN

SAMPLE = 6

MODULE = '''
"""Documented."""
from typing import Literal

Kind = Literal[1, 2]
BOUND: int = 3


def f(x: int, deep: bool = True) -> int | None:
    """Documented."""
    if x > 1 and not deep:
        raise ValueError(f"{x + 1}")
    found = [y for y, _ in zip(a, x, strict=True) if y]
    found.sort(reverse=True, key=len)
    return x if found else None
'''


def test_mutants_are_one_changed_place_each():
    names = [mutant.name for mutant in generate_mutants(MODULE)]
    assert names == [
        "module: 3 → 4",
        "f: True → False",
        "f: if x > 1 and (not deep): → if True:",
        "f: if x > 1 and (not deep): → if False:",
        "f: x > 1 and (not deep) → x > 1 or not deep",
        "f: x > 1 → x >= 1",
        "f: x > 1 → x <= 1",
        "f: 1 → 2",
        "f: not deep → deep",
        "f: [y for y, _ in zip(a, x, strict=True) if y] → [y for y, _ in zip(a, x, strict=True)]",
        "f: found.sort(reverse=True, key=len) → pass",
        "f: found.sort(reverse=True, key=len) → found.sort(reverse=True)",
        "f: True → False #2",
        "f: return x if found else None → return None",
        "f: x if found else None → x",
    ]


def test_every_mutant_is_another_program_and_says_where():
    mutants = generate_mutants(MODULE)
    texts = {ast.unparse(ast.parse(text)) for text in (MODULE, *(mutant.text for mutant in mutants))}
    assert len(texts) == 1 + len(mutants)
    assert [MODULE.splitlines()[mutant.line - 1].split()[0] for mutant in mutants[:3]] == ["BOUND:", "def", "if"]


@pytest.fixture(scope="module")
def mutants_of():
    """The mutants of a module of the engine, made once."""
    return functools.cache(lambda module: generate_mutants((mutating.ROOT / "autograder" / module).read_text("utf-8")))


@pytest.mark.parametrize("module", mutating.modules())
def test_each_module_is_there_with_its_tests_and_each_equivalent_has_a_mutant_and_a_reason(module, mutants_of):
    about = mutating.modules()[module]
    assert (mutating.ROOT / "autograder" / module).is_file()
    assert all((mutating.ROOT / name.partition("::")[0]).is_file() for name in about["tests"])
    if equivalents := about.get("equivalent", {}):
        assert equivalents.keys() <= {mutant.name for mutant in mutants_of(module)}
        assert all(len(why) > 20 for why in equivalents.values())


def test_the_page_of_guarantees_counts_the_mutants_of_the_present_modules(mutants_of):
    page = (mutating.ROOT / "docs" / "guarantees.md").read_text(encoding="utf-8")
    rows = {name: (int(killed), int(all_)) for name, killed, all_ in
            re.findall(r"^\| (?:`(.+\.py)`|in all) \| (\d+) of (\d+) \|$", page, re.M)}
    in_all = rows.pop("")
    about = mutating.modules()
    counted = {name: len(mutants_of(name)) - len(about[name].get("equivalent", {})) for name in rows}
    assert {name: all_ for name, (_, all_) in rows.items()} == counted
    assert in_all == tuple(map(sum, zip(*rows.values(), strict=True)))


@pytest.mark.slow
def test_a_sample_of_mutants_is_killed():
    command = [sys.executable, mutating.__file__, "--sample", str(SAMPLE), "--seed", RUN]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
