"""Bodies written for the original session, pasted into our cells, are graded like those written for ours."""

import re
from functools import cache
from pathlib import Path
from textwrap import indent

import pytest

from autograder.mistakes import Variant
from autograder.oracle import oracle
from tp import compare

TP = "tp3_seq2seq"
BODIES = sorted((Path(__file__).parent / "fixtures" / "s1_bodies").glob("*.py"))


def header(path):
    """The exercise that a body is for, and what is expected of it."""
    text = path.read_text(encoding="utf-8")
    return [re.search(rf"^# {key}: (.+)$", text, re.M)[1] for key in ("exercise", "expected")]


def pasted(path, exercise):
    """Our cell as a student leaves it: the released one, with this method in the place of `forward`."""
    released = oracle(TP).source.cell("exercise", exercise).released
    return released[:released.index("    def forward")] + indent(path.read_text(encoding="utf-8"), "    ")


@cache
def judged(exercise):
    """The recorded checks of an exercise, and the replies of all its mistakes."""
    truth = oracle(TP)
    records = [truth.record(check, 31) for check in truth.checks_of(exercise)]
    return records, [(m.name, m.says, truth.replies(m, records)) for m in truth.mistakes_of(exercise)]


@pytest.mark.parametrize("path", BODIES, ids=lambda path: path.stem)
def test_body(path):
    exercise, expected = header(path)
    cell = pasted(path, exercise)
    if expected == "does not run":
        with pytest.raises(SyntaxError):
            compile(cell, path.name, "exec")
        return
    records, mistakes = judged(exercise)
    replies = oracle(TP).replies(Variant(exercise, path.stem, source=cell), records)
    wrong = [compare.first_difference(r["expected"], g, r["specs"]) for r, g in zip(records, replies)]
    named = {found[0] for found in compare.diagnose(records, replies, mistakes) if found}
    if expected == "passed":
        assert wrong == [None] * len(records)
    else:
        assert named == {expected}, wrong


def test_there_are_right_and_wrong_bodies_of_each_exercise():
    verdicts = {(exercise, expected == "passed") for exercise, expected in map(header, BODIES)}
    assert verdicts == {(exercise, right) for exercise in ("encoder", "decoder", "seq2seq") for right in (True, False)}
