"""Places and pairs are counted as they are."""

from collections import Counter

import pytest

from autograder.model.oracle import Oracle
from bench import locating, pairing
from bench.locating import NONE, RIGHT, Located, located, table
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
