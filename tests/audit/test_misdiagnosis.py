"""Names: a wrong answer is called what it is, or nothing; never what it is not."""

import pytest

from autograder.audit.misdiagnosis import KINDS, diagnosed_answers
from autograder.model.oracle import load_oracle
from autograder.runtime import diagnosis
from conftest import REPOSITORY, TINY, TINY_COURSE

UNLISTED, MUTANTS = KINDS


@pytest.fixture(scope="module")
def tiny_names():
    oracle = load_oracle(TINY_COURSE, TINY)
    return [one for exercise in oracle.source.exercises for one in diagnosed_answers(oracle, exercise, mutants=4)]


def test_a_fault_that_is_not_listed_has_no_name(tiny_names):
    given = [one for one in tiny_names if one.kind == UNLISTED]
    assert len(given) == 6 and all(one.diagnosis == "a difference" and not one.names for one in given)


def test_mutants_are_called_by_a_relation_or_a_sentence_or_rightly(tiny_names):
    given = [one for one in tiny_names if one.kind == MUTANTS]
    assert len(given) >= 9 and not [one for one in given if one.diagnosis == "wrong"]
    assert {one.diagnosis for one in given} >= {"a relation", "a difference"}


def test_nothing_is_called_what_it_is_not_in_a_real_exercise(seed):
    given = list(diagnosed_answers(load_oracle(REPOSITORY, "tp1_recurrence"), "lstm-shapes", str(seed), mutants=6))
    assert given and not [one for one in given if one.diagnosis == "wrong"]


def test_wrong_names_would_be_seen(monkeypatch):
    """The positive control: were one check that coincides enough for a name, wrong ones would be given, and counted."""
    monkeypatch.setattr(diagnosis._Compared, "is_shown", lambda self, hidden: True)
    given = list(diagnosed_answers(load_oracle(REPOSITORY, "tp1_recurrence"), "lstm-shapes", mutants=0))
    assert [one for one in given if one.kind == UNLISTED and one.diagnosis == "wrong"]


@pytest.mark.parametrize(("at_the_second", "name"), [(0, "other"), (5, None)])
def test_a_check_that_passes_hides_nothing(monkeypatch, at_the_second, name):
    """One fault is seen in the third check. Another explains the first and fourth, and is hidden in the third: it is
    named, unless it would fail the second, which passes. Replies are numbers here, and 0 is right."""
    monkeypatch.setattr(diagnosis, "check_difference", lambda record, reply: None if reply == record else "it differs")
    monkeypatch.setattr(diagnosis, "same", lambda record, one, other: one == other)
    known = [diagnosis.CandidateFault("one", "", [0, 0, 2, 0]),
             diagnosis.CandidateFault("other", "", [1, at_the_second, 9, 1])]
    named = diagnosis.diagnose([(0, 1), (0, 0), (0, 2), (0, 1)], known)
    assert [one and one.name for one in named] == [name, None, "one", name]
