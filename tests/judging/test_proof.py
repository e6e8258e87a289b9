"""Every TP is proven on one draw by `make test`; `make proof` does it on twenty."""

import re

import pytest

from autograder import source, verify
from autograder.oracle import oracle


@pytest.mark.parametrize("name", source.names())
def test_mistakes_are_caught_and_named_and_variants_pass(name):
    proof = verify.prove(name, [101])
    assert not proof.faults, "\n".join(proof.faults)
    assert proof.mistakes and proof.variants


@pytest.mark.parametrize("name", source.names())
def test_every_exercise_has_mistakes_variants_and_checks(name):
    truth = oracle(name)
    for exercise in truth.source.exercises:
        assert len(truth.checks_of(exercise)) >= 2, exercise
        assert len(truth.mistakes_of(exercise)) >= 5, exercise
        assert len([v for v in truth.variants if v.exercise == exercise]) >= 4, exercise


def test_the_course_names_enough_mistakes():
    assert sum(len(oracle(name).mistakes) for name in source.names()) >= 150


@pytest.mark.parametrize("name", source.names())
def test_sentences_are_for_people(name):
    truth = oracle(name)
    for mistake in truth.mistakes:
        assert len(mistake.says) > 20 and mistake.says.rstrip()[-1] in ".!?)`", f"{mistake.exercise}/{mistake.name}"
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", mistake.name), mistake.name
    names = [(m.exercise, m.name) for m in truth.mistakes]
    assert len(set(names)) == len(names)
