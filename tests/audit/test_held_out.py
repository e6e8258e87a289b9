"""The held-out answers, and what is written of them."""

import ast
import re

import pytest

from autograder.model.source import load_source
from bench.held_out import SETS, answers, judge_all, pasted, table
from conftest import REPOSITORY, TESTS

SAID = {"sentence", "place", "unexplained", "slipped", "misleading", "onward", "upstream", "repair"}


@pytest.mark.parametrize("which", SETS)
@pytest.mark.parametrize("session", REPOSITORY.sessions)
def test_an_answer_is_a_whole_cell_and_a_wrong_one_has_a_cause(session, which):
    cells = load_source(REPOSITORY, session)
    for one in answers(session, which):
        cell = cells.cell("exercise", one.exercise).solution
        own = pasted(one, cell)
        assert ast.dump(ast.parse(own)) != ast.dump(ast.parse(cell)), one.name
        if one.kind == "right":
            assert one.written("now") <= {"accepted", "refused"}
        else:
            assert one.kind in ("wrong", "two") and one.notes["cause"]
            assert one.written("first run") <= SAID and one.written("now") <= SAID


@pytest.mark.parametrize(("session", "exercises"), [("tp1_recurrence", ["one-hot", "both-ends"]),
                                                    ("tp2_seq2seq", ["shift", "exact-match"])])
def test_a_sample_is_caught_or_accepted_as_is_written(session, exercises):
    found = judge_all(REPOSITORY, session, "first", ["one"], exercises)
    assert len(found) >= 6
    for one in found:
        assert bool(one.said) != bool(one.answer.written("now") & {"accepted", "slipped"}), one


def test_what_is_written_is_counted_by_session():
    found = answers("tp2_seq2seq")
    wrong, right = (sum((one.kind == "right") is kind for one in found) for kind in (False, True))
    assert table(found).splitlines()[-1].startswith(f"all: {wrong} wrong, {wrong} caught, ")
    assert table(found).endswith(f"{right} right, {right} accepted")


@pytest.mark.parametrize("which", SETS[-6:])
def test_the_guarantees_tell_the_first_run_of_the_last_sets(which):
    found = [one for name in REPOSITORY.sessions for one in answers(name, which)]
    wrong, caught, explained, *_, misleading, right, accepted = re.findall(r"\d+", table(found).splitlines()[-1])
    told = f"| {which} | {caught} of {wrong} | {explained} | {misleading} | {accepted} of {right} |"
    assert told in (TESTS.parent / "docs/guarantees.md").read_text(encoding="utf-8")
