"""What the course says it saw: each such sentence stands in the ledger, and what it rests on still says so."""

import inspect
from dataclasses import replace

import pytest

from bench.evidence import ledger
from bench.evidence.claims import CLAIMS, RUNS
from conftest import REPOSITORY

CELL = ledger.Claim("tp1_recurrence", "In our run the GRU then found the long rule with all three seeds",
                    ("GRU", "1 (1 – 1)"), cell="train-gated")


def test_the_page_is_the_one_that_would_be_written_now():
    assert ledger.PAGE.read_text(encoding="utf-8") == ledger.page(CLAIMS, RUNS)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: f"{claim.tp}: {claim.says[:40]}")
def test_a_sentence_stands_in_its_tp_and_what_it_rests_on_shows_the_numbers(claim):
    assert claim.faults() == []


@pytest.mark.parametrize("name", RUNS)
def test_a_run_is_complete_and_has_not_changed_since(name):
    assert not ledger.is_stale(name)


@pytest.mark.parametrize("tp", REPOSITORY.assignments)
def test_every_sentence_that_says_what_was_seen_is_in_the_ledger(tp):
    assert ledger.unsupported(tp, CLAIMS) == []


# What these tests would say

def test_a_sentence_that_has_gone_and_a_number_that_has_changed_are_found():
    assert CELL.faults() == []
    assert replace(CELL, says="In our run the RNN found it").faults() == [
        "tp1_recurrence does not say: In our run the RNN found it"]
    assert "does not show: 0.3 (0.2 – 0.4)" in replace(CELL, quotes=("GRU", "0.3 (0.2 – 0.4)")).faults()[0]
    assert replace(CELL, quotes=()).faults()


def test_a_sentence_that_nobody_supports_is_found():
    assert any("In our run the GRU" in sentence for sentence in ledger.unsupported("tp1_recurrence", []))


@pytest.mark.parametrize("change, stale", [
    (("STEPS, SEEDS, H = 1200", "STEPS, SEEDS, H = 1300"), True),
    (('"""Train once', '"""Train one time'), False),
    (("  # the highest learning rate", "  # of Adam"), False),
    (('"exact match, %",', '"right, %",'), False),
])
def test_a_run_is_stale_when_what_it_does_has_changed(monkeypatch, change, stale):
    source = inspect.getsource(ledger.module("readout"))
    assert change[0] in source
    before = ledger.digest("readout")
    monkeypatch.setattr(inspect, "getsource", lambda module: source.replace(*change))
    assert (ledger.digest("readout") != before) is stale


def test_a_run_with_a_missing_seed_is_stale(monkeypatch):
    whole = ledger.stored("readout")
    monkeypatch.setattr(ledger, "stored", lambda name: {**whole, "results": whole["results"][1:]})
    assert ledger.is_stale("readout")
