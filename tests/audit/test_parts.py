"""All that is audited, in one table: it holds what was found, and notices what should not be."""

import re

import pytest

from autograder import cli
from autograder.audit import AuditResult
from autograder.audit.constant_answers import audit_constants, best_constants
from autograder.audit.misdiagnosis import DiagnosedAnswer, result_of
from autograder.audit.parts import total
from autograder.judging import judge
from autograder.model.oracle import Oracle
from autograder.model.source import load_source
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
    for line in ("6 faults, 2 variants, 1 seed: all caught", "0 survived", "names of unlisted faults", "wrong 0",
                 "constant answers: 0 of 8 points"):
        assert line in said
    assert "\n  " not in said, "no problem"


def test_what_should_not_be_is_a_fault(monkeypatch):
    """A fault that nothing catches, a wrong name, a gift."""
    versions = AuditResult([], ["double: the fault harmless is not caught (on 1 of 2 seeds)"])
    named = result_of([DiagnosedAnswer("mutants", "double", "x → y", "wrong", ("squared",))])
    monkeypatch.setattr("autograder.audit.constant_answers.best_constants",
                        lambda oracle, name: 1.5 * (name == "double"))
    parts = [versions, named, audit_constants(TINY_COURSE, TINY)]
    assert [problem for part in parts for problem in part.problems] == [
        "double: the fault harmless is not caught (on 1 of 2 seeds)", "double: x → y is called squared",
        "constant answers gain 1.5 points"]
    header, *_, last = total({"first": parts, "second": parts}).splitlines()
    assert header.split()[-1] == "problems" and last.split()[0] == "all" and last.split()[-1] == "6"


@pytest.mark.parametrize("counted_alone", [False, True])
def test_a_constant_answer_gains_nothing_alone(tmp_path, monkeypatch, counted_alone):
    """The positive control: were constant answers counted alone, this check would give them its points."""
    text = (TINY_COURSE.folder(TINY) / "checks.py").read_text(encoding="utf-8")
    oracle = Oracle(load_source(tiny_copy(tmp_path, checks=text + LAZY), TINY))
    if counted_alone:
        monkeypatch.setattr(judge, "fail_constant_checks", lambda results, constant: results)
    assert (best_constants(oracle, "double") > 0) == counted_alone
