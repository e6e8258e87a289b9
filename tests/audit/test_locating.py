"""Places and pairs are counted as they are."""

import ast
from collections import Counter
from functools import partial

import pytest

from autograder.audit.mutation_operators import Mutant
from autograder.model.oracle import Oracle
from autograder.runtime.place import Place
from bench import locating, pairing
from bench.locating import NEAR, NONE, RIGHT, WRONG, Located, located, table
from bench.pairing import BOTH, ONE, Paired, paired
from conftest import TINY


def test_places_of_the_tiny_session_are_counted(tiny):
    found = located(tiny, TINY)
    for whose in ("solution", "variants"):
        counts = found.counts[whose]
        assert counts[RIGHT] > counts[NONE] and counts.total() > 0, (whose, counts)
    assert found.misses == []


def test_two_faults_of_the_tiny_session_are_both_named(tiny):
    found = paired(tiny, TINY)
    assert found.counts.total() == 3 and found.counts[BOTH] >= 1 and not found.misses


def test_a_judge_that_names_nothing_is_seen(tiny, monkeypatch):
    monkeypatch.setattr(Oracle, "diagnose", lambda self, exercise, records, got: [None] * len(records))
    assert set(paired(tiny, TINY).counts) == {pairing.NEITHER}


TRAIN = """
def train(model, optimizer, batches):
    norms = []
    for x in batches:
        optimizer.clear(x)
        norms.append(model.slope(x) * 2)
    return norms
"""


class Kept:
    """A model and its optimizer, which share a state."""

    def __init__(self):
        self.total = 0.0

    def clear(self, x):
        self.total = 0.0

    def slope(self, x):
        self.total += x
        return self.total


def test_what_a_missing_statement_shows_at_first_is_near():
    """Another variable holds the state: no name says so."""
    before, after = ast.parse(TRAIN), TRAIN.replace("        optimizer.clear(x)\n", "")
    texts, seen = (ast.unparse(before), after), []
    for text in texts:
        kept, names = Kept(), {}
        exec(text, names)
        train = partial(lambda kept, names: names["train"](kept, kept, [1.5, 2.5]), kept, names)
        seen.append(locating._events(text, names, train))
    assert locating._is_first_to_differ(texts, *seen, Place("value", (5, 21, 5, 35)))
    assert not locating._is_first_to_differ(texts, *seen, Place("value", (6, 11, 6, 16)))


def test_a_call_is_near_where_what_its_function_returns_was_changed():
    before = "def part(x):\n    return x * 2\n\ndef whole(x):\n    y = part(x)\n    return y + 1\n"
    mutant = Mutant("whole", "constant", "return x * 2 → return x * 3", before.replace("x * 2", "x * 3"))
    assert locating._kind(ast.parse(before), mutant, Place("value", (5, 8, 5, 15))) == NEAR
    assert locating._kind(ast.parse(before), mutant, Place("value", (6, 11, 6, 16))) == WRONG


def test_the_table_adds_up_sessions():
    places = [Located("a", {"solution": Counter({RIGHT: 3, locating.WRONG: 1}), "variants": Counter({NONE: 2})}),
              Located("b", {"solution": Counter({RIGHT: 4}), "variants": Counter({locating.NEAR: 6})})]
    said = table(places, [Paired("a", Counter({BOTH: 3})), Paired("b", Counter({ONE: 1}))])
    first, second, third = said.splitlines()
    assert "solution, 8" in first and "87.5% placed, 12.5% wrong" in first
    assert "variants, 8" in second and "75.0% placed, 0.0% wrong" in second
    assert "at once, 4" in third and "75.0% both named, 0.0% wrong" in third


@pytest.mark.parametrize("places", [[], [Located("a")]])
def test_a_table_of_nothing_is_none_to_be_wrong_in(places):
    assert "0.0% placed" in table(places, [])
