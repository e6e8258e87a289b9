"""Mutants: what the generator writes, that the judge kills them, and that a hole in the checks would be seen."""

import ast

import pytest

from autograder.audit.mutation import audit_mutants
from autograder.audit.mutation_operators import generate_mutants
from autograder.model.errors import SourceError
from autograder.model.oracle import load_oracle
from autograder.model.source import cells_of, load_source
from bench import weaker
from conftest import REPOSITORY, TINY, TINY_COURSE, tiny_copy

SCRIPT = '''# %% exercise="steps"
def steps(x, start, n):
    given = x + 1
    ### BEGIN SOLUTION
    state = start
    for t in range(n):
        state = state - x[t] * 2
        if t > 3 and state.any():
            break
    return state, torch.softmax(x, dim=0)
    ### END SOLUTION

# %% check="steps" points=1
tp.check("steps")
'''


def changes(script):
    cell = next(cell for cell in cells_of(script) if cell.role == "exercise")
    return cell, generate_mutants(cell)


def test_every_mutant_is_another_program_with_one_place_changed():
    cell, found = changes(SCRIPT)
    texts = [mutant.source for mutant in found]
    assert len(set(texts)) == len(texts) > 40
    assert ast.unparse(ast.parse(cell.solution)) not in texts
    for mutant in found:
        assert mutant.exercise == "steps" and ast.parse(mutant.source)


def test_only_what_a_student_writes_is_changed():
    _, found = changes(SCRIPT)
    assert all("given = x + 1" in mutant.source for mutant in found)


@pytest.mark.parametrize("operator, wanted", [
    ("off by one", "range(n + 1)"), ("off by one", "range(n + -1)"), ("off by one", "range(1, n)"),
    ("comparison", "t >= 3"), ("and, or", "t > 3 or state.any()"), ("another function", "state.all()"),
    ("another function", "torch.log_softmax(x, dim=0)"), ("argument dropped", "torch.softmax(x)"),
    ("constant", "dim=1"), ("swapped", "return (torch.softmax(x, dim=0), state)"), ("detach", "state.detach()"),
    ("without gradient", "with torch.no_grad():"), ("goes on", "pass"), ("in place", "state.sub_(x[t] * 2)"),
    ("cached", "steps.__dict__.setdefault('_kept'"), ("surroundings", "torch.set_grad_enabled(False)"),
    ("surroundings", "torch.rand(1)"), ("by the formula", "torch.exp(x) / torch.exp(x).sum(0, keepdim=True)"),
    ("dropped", "for t in range(n):\n        pass"), ("half of it", "state = x[t] * 2"), ("squeeze", "state.squeeze()"),
])
def test_the_operators_write_what_people_write(operator, wanted):
    _, found = changes(SCRIPT)
    assert any(mutant.operator == operator and wanted in mutant.source for mutant in found)


def test_every_mutant_of_the_tiny_tp_is_killed(tiny):
    found = audit_mutants(tiny, TINY)
    count = found.numbers["mutants"]
    assert count > 30 and found.numbers == {"mutants": count, "killed": count, "equivalent": 0, "survived": 0}
    assert found.lines == [f"{count} mutants, {count} killed, 0 equivalent, 0 survived"] and not found.problems
    oracle = load_oracle(tiny, TINY)
    counts = [weaker.killed(oracle, cell) for cell in oracle.source.by_role("exercise")]
    assert all(0 < sum(column) < count for column in zip(*counts, strict=True)), "weaker tests let some through"


def test_a_hole_in_the_checks_is_seen(tmp_path):
    """The positive control: when `double` is only ever asked about zeros, mutants of it survive."""
    text = (TINY_COURSE.folder(TINY) / "checks.py").read_text(encoding="utf-8")
    blind = """
@check("double", skip_relations={"gradient": "for this test"})
def nothing_but_zeros(t):
    'Twice nothing.'
    t.output("doubled", t["double"](t.normal(3, 4) * 0))
"""
    course = tiny_copy(tmp_path, checks=text.replace('@check("double")', '@check("last")', 2) + blind)
    found = audit_mutants(course, TINY)
    assert found.problems and len(found.problems) == found.numbers["survived"]
    assert all(problem.startswith("survived: double | ") for problem in found.problems)
    assert found.numbers["equivalent"] == 1 and "detach" not in "".join(found.problems), "no check asks for a gradient"


def test_an_equivalent_mutant_is_listed_with_its_reason_and_goes_stale(tmp_path):
    course = tiny_copy(tmp_path)
    path = course.folder(TINY) / "equivalents.toml"
    path.write_text('[[equivalent]]\nexercise = "double"\nchange = "return 2 * x → return 3 * x"\nwhy = "no"\n',
                    encoding="utf-8")
    assert audit_mutants(course, TINY).problems == [
        "listed as equivalent, but killed or not there: double | return 2 * x → return 3 * x"]
    assert audit_mutants(course, TINY, every=1000).problems == [], "not all were run"


@pytest.mark.parametrize("text", [
    "equivalent = 3\n", "equivalent = [3]\n", "equal = 1\n", '[[equivalent]]\nexercise = "double"\nchange = "x"\n',
    '[[equivalent]]\nexercise = "double"\nchange = "x"\nwhy = "no"\nwho = "me"\n', "equivalent = [["])
def test_what_is_no_list_of_equivalent_mutants_is_refused(tmp_path, text):
    course = tiny_copy(tmp_path)
    (course.folder(TINY) / "equivalents.toml").write_text(text, encoding="utf-8")
    with pytest.raises(SourceError, match="not a list of equivalent mutants"):
        audit_mutants(course, TINY)


@pytest.mark.parametrize("name", REPOSITORY.sessions)
def test_a_sample_of_the_mutants_of_each_tp_is_killed(name):
    found = audit_mutants(REPOSITORY, name, seeds=("sample",), every=20)
    assert not found.problems and found.numbers["mutants"] >= len(load_source(REPOSITORY, name).exercises)
