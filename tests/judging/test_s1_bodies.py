"""Bodies written for the original session, pasted into our cells, are graded like those written for ours.

Those with attention lose the marks of their fault and no other.
"""

import functools
import re
from textwrap import indent

import pytest

from autograder.judging.judge import grade_exercise, records_of
from autograder.model.faults import Variant
from autograder.model.oracle import load_oracle
from autograder.model.source import load_source
from autograder.publish import notebooks
from conftest import REPOSITORY, RUN, TESTS

PLAIN, ATTENTION = "tp2_seq2seq", "tp3_attention"
PLAIN_BODIES = sorted((TESTS / "fixtures" / "s1_bodies").glob("*.py"))
ATTENTION_BODIES = sorted((TESTS / "fixtures" / "s1_attention_bodies").glob("*.py"))


def header(text, key):
    """What the first lines of a body say."""
    return re.search(rf"^# {key}: (.+)$", text, re.M)[1]


def pasted(session, exercise, text):
    """Our cell as a student leaves it: the released one, with this method in the place of `forward`."""
    cells = notebooks.released_notebook(load_source(REPOSITORY, session)).cells
    ours = next(cell.source for cell in cells if cell.metadata.get("nbgrader", {}).get("grade_id") == exercise)
    return ours[:ours.index("    def forward")] + indent(text, "    ")


@functools.cache
def recorded(session, exercise):
    """The instance that all bodies of an exercise meet: another one in each run."""
    return records_of(load_oracle(REPOSITORY, session), exercise, RUN)


def failed(session, exercise, cell):
    """The failed checks of an exercise when its cell is this one."""
    oracle, records = load_oracle(REPOSITORY, session), recorded(session, exercise)
    replies = oracle.replay(Variant(exercise, "body", source=cell), [record for own in records for record in own])
    return grade_exercise(oracle, exercise, records, replies).failed


@pytest.mark.parametrize("path", PLAIN_BODIES, ids=lambda path: path.stem)
def test_body(path):
    text = path.read_text(encoding="utf-8")
    exercise, expected = header(text, "exercise"), header(text, "expected")
    cell = pasted(PLAIN, exercise, text)
    if expected == "does not run":
        with pytest.raises(SyntaxError):
            compile(cell, path.name, "exec")
        return
    found = failed(PLAIN, exercise, cell)
    if expected == "passed":
        assert found == []
    else:
        assert {check.fault.name for check in found if check.fault} == {expected}, found


def test_there_are_right_and_wrong_bodies_of_each_exercise():
    texts = [path.read_text(encoding="utf-8") for path in PLAIN_BODIES]
    kinds = {(header(text, "exercise"), header(text, "expected") == "passed") for text in texts}
    assert kinds == {(exercise, right) for exercise in ("encoder", "decoder", "seq2seq") for right in (True, False)}


@pytest.mark.filterwarnings("ignore:Implicit dimension")
@pytest.mark.parametrize("path", ATTENTION_BODIES, ids=lambda path: path.stem)
def test_body_with_attention(path):
    text = path.read_text(encoding="utf-8")
    exercise = header(text, "exercise")
    expected = dict(re.findall(r"^# fails: (\S+): (\S+)$", text, re.M))
    found = failed(ATTENTION, exercise, pasted(ATTENTION, exercise, text))
    assert {check.check: check.fault.name if check.fault else "none" for check in found} == expected


def test_log_softmax_as_attention_weights_is_said_in_these_words():
    faults = load_oracle(REPOSITORY, ATTENTION).faults_of("decoder")
    sentences = [fault.feedback for fault in faults
                 if fault.name.startswith("log-softmax") and "output" not in fault.name]
    assert len(sentences) >= 3 and all(says.startswith("log_softmax as attention weights") for says in sentences)
