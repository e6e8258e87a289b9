"""Bodies with attention, written for the original session and pasted into TP 4, lose the marks of their mistake and no other."""

import re
from pathlib import Path
from textwrap import indent

import pytest

from autograder.mistakes import Variant
from autograder.oracle import oracle
from tp import compare

TP = "tp4_decoder_attention"
BODIES = sorted((Path(__file__).parent / "fixtures" / "s1_attention_bodies").glob("*.py"))


def pasted(path, exercise):
    """Our cell as a student leaves it: the released one, with this method in the place of `forward`."""
    released = oracle(TP).source.cell("exercise", exercise).released
    return released[:released.index("    def forward")] + indent(path.read_text(encoding="utf-8"), "    ")


@pytest.mark.filterwarnings("ignore:Implicit dimension")
@pytest.mark.parametrize("path", BODIES, ids=lambda path: path.stem)
def test_body(path):
    truth, text = oracle(TP), path.read_text(encoding="utf-8")
    exercise = re.search(r"^# exercise: (\S+)$", text, re.M)[1]
    expected = dict(re.findall(r"^# fails: (\S+): (\S+)$", text, re.M))
    records = [truth.record(check, 57) for check in truth.checks_of(exercise)]
    replies = truth.replies(Variant(exercise, path.stem, source=pasted(path, exercise)), records)
    named = truth.diagnose(exercise, records, replies)
    got = {check.name: found[0] if found else "none"
           for check, record, reply, found in zip(truth.checks_of(exercise), records, replies, named)
           if compare.first_difference(record["expected"], reply, record["specs"])}
    assert got == expected


def test_log_softmax_as_attention_weights_is_said_in_these_words():
    sentences = [m.says for m in oracle(TP).mistakes_of("decoder") if m.name.startswith("log-softmax") and "output" not in m.name]
    assert len(sentences) >= 3 and all(s.startswith("log_softmax as attention weights") for s in sentences)
