"""All that is audited, in one table: it holds what was found, and notices what should not be."""

import re
from collections import Counter

import pytest

from autograder import cli
from autograder.audit.mutants import Mutant
from autograder.audit.mutation import Equivalent, Mutation
from autograder.audit.naming import Confusion, Given
from autograder.audit.summary import Relations, Summary, best_constants, total
from autograder.audit.versions import Audit
from autograder.judging import judge
from autograder.model import source
from autograder.model.oracle import Oracle
from conftest import TINY, TINY_COURSE, tiny_copy

LAZY = '''
@check("double")
def nothing(t):
    """Nothing, twice."""
    t.output("nothing", t["double"](t.normal(2, 3) * 0), axes="A B")
'''


def test_the_table_of_the_tiny_tp_holds_everything(capsys):
    assert cli.main(["--course", str(TINY_COURSE.root), "audit", "--all", "--seeds", "1", "--jobs", "1"]) == 0
    said = re.sub(" +", " ", capsys.readouterr().out)
    for line in ("faults 6, on 1 seed", "0 survived", "names of unlisted faults", "wrong 0",
                 "constants 0 of 8 points", "problems none", "\nall "):
        assert line in said


def test_what_should_not_be_is_a_fault():
    """A fault that nothing catches, a mutant that survives, an entry that is stale, a wrong name, a gift."""
    audited = Audit(TINY, 2, 6, 2, Counter({"double: the fault harmless is not caught": 1}))
    mutation = Mutation(TINY, survivors=[Mutant("double", "constant", "2 → 3", "")],
                        stale=[Equivalent("double", "a → b", "no")])
    named = Confusion(TINY, [Given("mutants", "double", "x → y", "wrong", ("squared",), ())])
    summary = Summary(audited, mutation, named, Relations(5, Counter(), 0), 8.0, 1.5)
    assert summary.problems == [
        "double: the fault harmless is not caught (on 1 of 2 seeds)", "double: a mutant survives: 2 → 3",
        "double: listed as equivalent, but killed or not there: a → b", "double: x → y is called squared",
        "constant answers gain 1.5 points"]
    assert all(problem in str(summary) for problem in summary.problems)
    assert total([summary, summary]).splitlines()[-1].split()[-1] == "10"


@pytest.mark.parametrize("counted_alone", [False, True])
def test_a_constant_answer_gains_nothing_alone(tmp_path, monkeypatch, counted_alone):
    """The positive control: were constant answers counted alone, this check would give them its points."""
    text = (TINY_COURSE.folder(TINY) / "checks.py").read_text(encoding="utf-8")
    truth = Oracle(source.load(tiny_copy(tmp_path, checks=text + LAZY), TINY))
    if counted_alone:
        monkeypatch.setattr(judge, "_counted", lambda truth, checks, results: results)
    assert (best_constants(truth, "double") > 0) == counted_alone
