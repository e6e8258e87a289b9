"""What the course says it saw: each such sentence stands in the ledger, and what it rests on still says so."""

import inspect
import re
from dataclasses import replace
from functools import cache

import pytest

from bench import learning, measure
from bench.evidence import ledger
from bench.evidence.claims import CLAIMS, RUNS
from conftest import REPOSITORY
from tp import corpus

CELL = ledger.Claim("tp1_recurrence", "In our run the GRU then learned to agree with the first noun with all",
                    ("GRU", "1 (1 – 1)"), cell="train-gated")

# the sessions whose every percentage is tied to a run
SETTLED = ["tp1_recurrence", "tp2_seq2seq", "tp3_attention", "tp4_inference", "tp5_translation",
           "tp6_transformer", "tp7_pronunciation"]


def test_the_page_is_the_one_that_would_be_written_now():
    assert ledger.PAGE.read_text(encoding="utf-8") == ledger.page(CLAIMS, RUNS)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: f"{claim.tp}: {claim.says[:40]}")
def test_a_sentence_stands_in_its_tp_and_what_it_rests_on_shows_the_numbers(claim):
    assert claim.faults() == []


@pytest.mark.parametrize("name", RUNS)
def test_a_run_is_complete_and_has_not_changed_since(name):
    assert not ledger.is_stale(name)


@pytest.mark.parametrize("tp", REPOSITORY.sessions)
def test_every_sentence_that_says_what_was_seen_is_in_the_ledger(tp):
    assert ledger.unsupported(tp, CLAIMS) == []


@pytest.mark.parametrize("tp", SETTLED)
def test_every_measured_number_of_text_answers_and_rubrics_is_in_the_ledger(tp):
    assert ledger.unclaimed(tp, CLAIMS) == []
    assert [claim.unshown() for claim in CLAIMS if claim.tp == tp and claim.unshown()] == []


# What these tests would say


def test_a_claim_with_several_sources_needs_all_of_them(monkeypatch):
    two = replace(CELL, also=(ledger.Source(("GRU 90 (80 – 95)",), run="readout"),))
    assert [line for line in two.faults() if "does not show: GRU 90" in line] and len(two.sources) == 2
    monkeypatch.setattr(ledger, "report", lambda name: "| GRU 90 (80 – 95) |")
    assert two.faults() == []
    assert "which shows `GRU 90 (80 – 95)`" in ledger.page([two], [])


@pytest.mark.parametrize("said, quotes, unshown", [
    ("it had 87 % right", ("0.8667",), []),
    ("it had 87 % right", ("| 86.7 (51.3 – 89.3) |",), []),
    ("it had 51 to 89 % right", ("86.7 (51.3 – 89.3)",), []),
    ("it had 51 to 98 % right", ("86.7 (51.3 – 89.3)",), ["98"]),
    ("it gained 2.5 points", ("| 70.0 |", "| 72.5 |"), []),
    ("it gained 12 points", ("| 70.0 |", "| 72.5 |"), ["12"]),
    ("all were below 50 %", ("at 0% when it is worst",), []),
    ("it had 87 % (51–98)", ("86.7 (51.3 – 89.3)",), ["98"]),
])
def test_numbers_are_compared_as_rounded_shares_and_differences(said, quotes, unshown):
    assert replace(CELL, says=said, quotes=quotes).unshown() == unshown


@pytest.mark.parametrize("tp", SETTLED)
def test_a_number_that_is_changed_in_a_notebook_or_a_table_is_found(monkeypatch, tp):
    for name in ("printed", "report"):
        shown = cache(getattr(ledger, name))
        monkeypatch.setattr(ledger, name, lambda *names, shown=shown: re.sub(r"[0-6]", "7", shown(*names)))
    for claim in (one for one in CLAIMS if one.tp == tp and not one.bench):
        if any(re.search("[0-6]", quote) for quote in claim.quotes):
            assert claim.faults(), claim.says


def test_a_number_that_is_changed_only_in_what_a_browser_shows_is_found(monkeypatch):
    shown = ledger.printed
    assert CELL.faults() == []
    monkeypatch.setattr(ledger, "printed", lambda tp, cell, kind: shown(tp, cell, kind).replace(
        "1 (1 – 1)" * (kind == "text/html") or "\0", "0.9 (0.8 – 1)"))
    assert CELL.faults()
    assert ledger.flat(ledger.words('<style>1</style><td>a &amp; b</td><img src="x" alt="c 1">')) == "a & b c 1"


@pytest.mark.parametrize("tp", SETTLED)
def test_a_number_that_is_changed_in_text_a_table_or_a_model_answer_is_found(monkeypatch, tp):
    before = ledger.prose(tp)
    for claim in (one for one in CLAIMS if one.tp == tp and ledger.measured(one.says)):
        said = ledger.flat(claim.says)
        for found in ledger.MEASURED.finditer(said):
            changed = [text.replace(said, said[:found.start()] + re.sub(r"\d", "3", found[0]) + said[found.end():])
                       for text in before]
            if changed != before:
                monkeypatch.setattr(ledger, "prose", lambda tp, changed=changed: changed)
                assert ledger.unclaimed(tp, CLAIMS), found[0]
                monkeypatch.setattr(ledger, "text_of", lambda tp, changed=changed: " ".join(changed))
                assert claim.faults()[0].startswith(f"{tp} does not say: "), found[0]


@pytest.mark.parametrize("said, found", [
    ("It had 93 % of the answers.", True), ("It gained 3 to 5 points.", True), ("BLEU fell by 2.5 BLEU.", True),
    ("**Rubric.** 1 point: this. 0.5 points: that.", False), ("*Tiny example.* Half is 50 %.", False),
    ("The chance level is 10 %.", False), ("Others had 30 % (Koehn 2017).", False),
    ("Of 2000 questions 30 % were right.", True), ("| all | 85 (81–86) |", True),
    ("A copy made after 70 % of the training.", False), ("Of 5 steps, 3 are right.", False),
])
def test_which_numbers_need_a_claim(monkeypatch, said, found):
    monkeypatch.setattr(ledger, "prose", lambda tp: [said])
    assert bool(ledger.unclaimed("tp1_recurrence", [])) is found


def test_ranges_of_few_runs_lie_apart_by_chance():
    assert ledger.chance(3) == 0.1 and ledger.chance(5) == pytest.approx(1 / 126)
    assert "in 10% of such tables" in ledger.few(3) and ledger.few(5) == ""


def test_a_sentence_that_has_gone_and_a_number_that_has_changed_are_found():
    assert CELL.faults() == []
    assert replace(CELL, says="In our run the RNN found it").faults() == [
        "tp1_recurrence does not say: In our run the RNN found it"]
    assert "does not show: 0.3 (0.2 – 0.4)" in replace(CELL, quotes=("GRU", "0.3 (0.2 – 0.4)")).faults()[0]
    assert replace(CELL, quotes=()).faults()


def test_a_sentence_that_nobody_supports_is_found():
    assert any("In our run the GRU" in sentence for sentence in ledger.unsupported("tp1_recurrence", []))


@pytest.mark.parametrize("change, stale", [
    (("STEPS, H = 1200", "STEPS, H = 1300"), True),
    (("SEEDS = (0, 1, 2, 3, 4)", "SEEDS = (0, 1)"), False),
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


@pytest.mark.parametrize("module, change, stale", [
    (learning, ("nn.utils.clip_grad_norm_", "nn.utils.clip_grad_value_"), True),
    (measure, ("statistics.median", "statistics.mean"), False)])
def test_a_run_is_stale_when_what_it_imports_has_changed(monkeypatch, module, change, stale):
    before, source_of = ledger.digest("three_digits"), inspect.getsource
    changed = source_of(module).replace(*change)
    assert changed != source_of(module)
    monkeypatch.setattr(inspect, "getsource", lambda asked: changed if asked is module else source_of(asked))
    assert (ledger.digest("three_digits") != before) is stale


@pytest.mark.parametrize("name, stale", [("bottleneck", True), ("explanations", True), ("heads", True),
                                         ("readout", False)])
def test_a_run_is_stale_when_the_sentences_that_it_loads_have_changed(monkeypatch, name, stale):
    before = ledger.digest(name)
    monkeypatch.setitem(corpus.FREQUENCIES, "often", "fréquemment")
    ledger.sentences.cache_clear()
    try:
        assert (ledger.digest(name) != before) is stale
    finally:
        ledger.sentences.cache_clear()


def test_a_run_with_a_missing_seed_is_stale(monkeypatch):
    whole = ledger.stored("readout")
    monkeypatch.setattr(ledger, "stored", lambda name: {**whole, "results": whole["results"][1:]})
    assert ledger.is_stale("readout")
