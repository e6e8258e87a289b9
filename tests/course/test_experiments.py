"""Comparisons: the runs that are made, the spread that is shown, and what is refused."""

import pytest

import tp
from tp.experiments import spread


@pytest.fixture(autouse=True)
def full_budgets(monkeypatch):
    monkeypatch.delenv("TP_QUICK", raising=False)


def line(steps, seed, slope):
    """A run whose result is known: slope · steps + seed."""
    return {"height": slope * steps + seed, "seed": seed}


SETTINGS = {"flat": {"slope": 0}, "steep": {"slope": 2}}


def test_each_setting_runs_once_for_each_seed_with_the_same_steps(capsys):
    measured = tp.experiment("slope", SETTINGS, line, steps=10, seeds=(0, 1, 5), expected="steep is higher")
    assert {label: [result["height"] for result in results] for label, results in measured.items()} == {
        "flat": [0, 1, 5], "steep": [20, 21, 25]}
    said = capsys.readouterr().out
    assert said.index("Expected: steep is higher") < said.index("10 steps a run; mean of 3 seeds")
    assert "2 (0 – 5)" in said and "22 (20 – 25)" in said


@pytest.mark.parametrize("seeds", [(), (3,), (3, 3)])
def test_a_table_of_one_seed_is_refused_before_anything_runs(seeds):
    with pytest.raises(ValueError, match="one run is one run"):
        tp.experiment("slope", SETTINGS, never, steps=10, seeds=seeds, expected="steep is higher")


@pytest.mark.parametrize("expected", ["", "…", "  ...  ", "?"])
def test_who_expects_nothing_is_asked_first(expected):
    with pytest.raises(ValueError, match="before you run it"):
        tp.experiment("slope", SETTINGS, never, steps=10, expected=expected)


def test_one_setting_is_no_comparison():
    with pytest.raises(ValueError, match="two settings"):
        tp.experiment("slope", {"flat": {"slope": 0}}, never, steps=10, expected="nothing to see")


def never(**_):
    raise AssertionError("must not be run")


def test_when_all_is_quick_two_seeds_are_run(monkeypatch):
    monkeypatch.setenv("TP_QUICK", "1")
    measured = tp.experiment("slope", SETTINGS, line, steps=10, expected="steep is higher")
    assert [result["seed"] for result in measured["flat"]] == [0, 1]


def test_spread_is_the_mean_with_the_lowest_and_the_highest():
    assert spread([0.5, 0.9, 0.7]) == "0.7 (0.5 – 0.9)"
    assert spread([98.64, 98.66]) == "98.7 (98.6 – 98.7)"
