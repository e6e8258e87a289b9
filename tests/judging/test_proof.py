"""Every TP is proven on one draw, another in each run; `make proof` does it on twenty.

And what proves notices what does not hold.
"""

import re

import pytest

from autograder import cli
from autograder.authoring.oracle import oracle
from autograder.proving.proof import prove, prove_all
from conftest import REPOSITORY, TINY, TINY_COURSE, tiny_copy


@pytest.mark.parametrize("name", REPOSITORY.assignments)
def test_mistakes_are_caught_and_named_and_variants_pass(name, seed):
    proof = prove(REPOSITORY, name, [seed])
    assert not proof.faults, str(proof)
    assert proof.mistakes and proof.variants


@pytest.mark.parametrize("name", REPOSITORY.assignments)
def test_every_exercise_has_mistakes_variants_and_checks(name):
    truth = oracle(REPOSITORY, name)
    for exercise in truth.source.exercises:
        assert len(truth.checks_of(exercise)) >= 2, exercise
        assert len(truth.mistakes_of(exercise)) >= 5, exercise
        assert len([variant for variant in truth.variants if variant.exercise == exercise]) >= 4, exercise


def test_the_course_names_enough_mistakes():
    assert sum(len(oracle(REPOSITORY, name).mistakes) for name in REPOSITORY.assignments) >= 150


@pytest.mark.parametrize("name", REPOSITORY.assignments)
def test_sentences_are_for_people(name):
    truth = oracle(REPOSITORY, name)
    for mistake in truth.mistakes:
        assert len(mistake.says) > 20 and mistake.says.rstrip()[-1] in ".!?)`", f"{mistake.exercise}/{mistake.name}"
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", mistake.name), mistake.name
    names = [(mistake.exercise, mistake.name) for mistake in truth.mistakes]
    assert len(set(names)) == len(names)


# What proves notices what does not hold


def test_the_tiny_tp_is_proven_on_many_seeds():
    proof = prove(TINY_COURSE, TINY, range(20))
    assert not proof.faults and proof.seeds == 20
    assert proof.mistakes == len(oracle(TINY_COURSE, TINY).mistakes) == 6


def with_mistakes(folder, *lines):
    """The tiny course with these mistakes and variants of `double`, and no others."""
    header = "from autograder.authoring.mistakes import Mistake, Variant\n"
    return tiny_copy(folder, mistakes=header + "\n".join(lines))


HARMLESS = [
    'MISTAKES = [Mistake("double", "harmless", "…", swap=("2 * x", "x * 2"))]',
    'VARIANTS = [Variant("double", "wrong", swap=("2 * x", "3 * x"))]',
]


def test_an_uncaught_mistake_and_a_variant_that_fails_are_faults(tmp_path):
    proof = prove(with_mistakes(tmp_path, *HARMLESS), TINY, range(2))
    assert proof.faults["double: the mistake harmless is not caught"] == 2
    assert any("variant wrong fails" in fault for fault in proof.faults)
    assert "harmless is not caught (on 2 of 2 seeds)" in str(proof)


def test_two_mistakes_that_look_alike_are_a_fault(tmp_path):
    course = with_mistakes(tmp_path, 'MISTAKES = [Mistake("double", "one", "…", swap=("2 * x", "3 * x")),'
                                     ' Mistake("double", "two", "…", swap=("2 * x", "x * 3"))]')
    assert any("two is named as one" in fault for fault in prove(course, TINY, range(2)).faults)


def test_a_solution_that_answers_as_it_likes_is_a_fault(tmp_path):
    text = TINY_COURSE.script(TINY).read_text(encoding="utf-8")
    drifts = text.replace("return 2 * x", "double.calls = getattr(double, 'calls', 0) + 1\n    return double.calls * x")
    faults = prove(tiny_copy(tmp_path, **{TINY: drifts, "mistakes": ""}), TINY, range(1)).faults
    assert any("double/values: the solution answers differently on the same seed" in fault for fault in faults)
    assert any("double: the solution fails values" in fault for fault in faults)


def test_proofs_side_by_side_say_the_same(tmp_path):
    course = with_mistakes(tmp_path, *HARMLESS)
    assert prove_all(course, [TINY], seeds=7, jobs=2) == [prove(course, TINY, range(7))]


@pytest.mark.parametrize("lines, status", [((), 0), (HARMLESS, 1)])
def test_the_command_says_it_in_words_and_by_its_status(tmp_path, capsys, lines, status):
    course = with_mistakes(tmp_path, *lines)
    assert cli.main(["--course", str(course.root), "prove", "--seeds", "2", "--jobs", "1"]) == status
    said = capsys.readouterr().out
    assert f"{TINY}: " in said and ("all caught, named and passed" in said) == (status == 0)
    assert ("harmless is not caught" in said) == (status == 1)
