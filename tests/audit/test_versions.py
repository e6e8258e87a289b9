"""Every session is audited on one instance, another in each run; `make audit` does it on twenty.

And what proves notices what does not hold.
"""

import re

import pytest

from autograder import cli
from autograder.audit import parts, stubs
from autograder.audit.constant_answers import audit_constants
from autograder.audit.versions import audit_versions
from autograder.model.oracle import load_oracle
from autograder.publish import notebooks
from conftest import REPOSITORY, TINY, TINY_COURSE, tiny_copy


@pytest.mark.parametrize("name", REPOSITORY.sessions)
def test_faults_are_caught_and_named_and_variants_pass(name, seed):
    audited = audit_versions(REPOSITORY, name, [seed])
    assert not audited.problems
    assert audited.numbers["faults"] and audited.numbers["variants"]


@pytest.mark.parametrize("name", REPOSITORY.sessions)
def test_every_exercise_has_variants_and_checks(name):
    oracle = load_oracle(REPOSITORY, name)
    for exercise in oracle.source.exercises:
        assert len(oracle.checks_of(exercise)) >= 2, exercise
        assert len(oracle.variants_of(exercise)) >= 4, exercise


def test_the_course_names_enough_faults():
    assert sum(len(load_oracle(REPOSITORY, name).faults) for name in REPOSITORY.sessions) >= 150


@pytest.mark.parametrize("name", REPOSITORY.sessions)
def test_sentences_are_for_people(name):
    oracle = load_oracle(REPOSITORY, name)
    for fault in oracle.faults:
        assert len(fault.feedback) > 20 and fault.feedback.rstrip()[-1] in ".!?)`", f"{fault.exercise}/{fault.name}"
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", fault.name), fault.name
    names = [(fault.exercise, fault.name) for fault in oracle.faults]
    assert len(set(names)) == len(names)


# What proves notices what does not hold


def test_the_tiny_session_is_audited_on_many_seeds():
    audited = audit_versions(TINY_COURSE, TINY, range(20))
    assert not audited.problems and "20 seeds" in audited.lines[0]
    assert audited.numbers["faults"] == len(load_oracle(TINY_COURSE, TINY).faults) == 6


def with_faults(folder, *lines):
    """The tiny course with these faults and variants of `double`, and no others."""
    text = "\n".join(["from autograder.model.faults import Fault, Variant", *lines])
    return tiny_copy(folder, faults=text, variants=text)


HARMLESS = [
    'FAULTS = [Fault("double", "harmless", "…", replace=("2 * x", "x * 2"))]',
    'VARIANTS = [Variant("double", "wrong", replace=("2 * x", "3 * x"))]',
]


def test_an_uncaught_fault_and_a_variant_that_fails_are_faults(tmp_path):
    audited = audit_versions(with_faults(tmp_path, *HARMLESS), TINY, range(2))
    assert "double: the fault harmless is not caught (on 2 of 2 seeds)" in audited.problems
    failed = [problem for problem in audited.problems if "variant wrong fails" in problem]
    assert failed and all(" (on 2 of 2 seeds): `" in problem for problem in failed), "counted whatever the numbers are"


def test_two_faults_that_look_alike_are_a_fault(tmp_path):
    course = with_faults(tmp_path, 'FAULTS = [Fault("double", "one", "…", replace=("2 * x", "3 * x")),'
                                   ' Fault("double", "two", "…", replace=("2 * x", "x * 3"))]')
    assert any("two is named as one" in problem for problem in audit_versions(course, TINY, range(2)).problems)


def test_a_solution_that_answers_as_it_likes_is_a_fault(tmp_path):
    text = TINY_COURSE.script(TINY).read_text(encoding="utf-8")
    drifts = text.replace("return 2 * x", "double.calls = getattr(double, 'calls', 0) + 1\n    return double.calls * x")
    course = tiny_copy(tmp_path, **{TINY: drifts, "faults": "", "variants": ""})
    problems = audit_versions(course, TINY, range(1)).problems
    assert any("double/values: the solution answers differently on the same seed" in problem for problem in problems)
    assert any("double: the solution fails values" in problem for problem in problems)


def test_a_stub_that_lacks_something_lacks_it_on_every_seed(monkeypatch):
    monkeypatch.setattr(stubs, "problems", lambda oracle: ["the stub has no method f"])
    assert audit_versions(TINY_COURSE, TINY, range(3)).problems == ["the stub has no method f (on 3 of 3 seeds)"]


def test_notebooks_with_other_points_than_they_should_have_are_named(monkeypatch):
    solved = notebooks.solved
    assert not audit_versions(TINY_COURSE, TINY, range(1), in_sandbox=True).problems
    monkeypatch.setattr(notebooks, "solved", lambda course, name: {**solved(course, name), "double": "double = None"})
    (problem,) = audit_versions(TINY_COURSE, TINY, range(1), in_sandbox=True).problems
    assert re.fullmatch(r"the solution has \S+ of \S+ points", problem)


def test_sessions_and_parts_side_by_side_say_the_same(tmp_path):
    course = with_faults(tmp_path, *HARMLESS)
    ((name, outcomes),) = parts.run(course, [TINY], ["versions", "constants"], seeds=2, jobs=2)
    assert name == TINY and outcomes == [audit_versions(course, TINY, range(2)), audit_constants(course, TINY)]


@pytest.mark.parametrize("lines, status", [((), 0), (HARMLESS, 1)])
def test_the_command_says_it_in_words_and_by_its_status(tmp_path, capsys, lines, status):
    course = with_faults(tmp_path, *lines)
    assert cli.main(["--course", str(course.root), "audit", "--seeds", "2", "--jobs", "1"]) == status
    said = capsys.readouterr().out
    assert f"{TINY}: " in said and ("2 seeds: the solution passes" in said) == (status == 0)
    assert ("harmless is not caught" in said) == (status == 1)
