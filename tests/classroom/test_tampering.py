"""Signs of tampering are found in any code, at a bounded cost: the instructor's screen looks at a whole class."""

import time

import pytest

from autograder.classroom import tampering
from autograder.judging.submission import SubmittedCell

SIGN = "import os\nos._exit(1)\n"
# Code that costs the square of its length where each name is written out anew, or more calls than Python allows.
COSTLY = {
    "a long chain": SIGN + "x" + ".events" * 190,
    "many calls": SIGN + "f" + "()" * 190,
    "chains of calls": SIGN + "get" + "().f" * 90,
    "many long chains": SIGN + ("x" + ".events" * 140 + "\n") * 190,
    "many signs in a line": SIGN + "if 1:\n " + "os.kill(1);" * 17_000,
}


def signs(*sources):
    return tampering.signs([SubmittedCell("code", source, None) for source in sources])


@pytest.mark.parametrize("code", COSTLY.values(), ids=list(COSTLY))
def test_what_costs_much_is_looked_at_in_little_time(code):
    started = time.process_time()
    assert "ends the process: `os._exit(1)`" in signs(code)
    assert time.process_time() - started < 10


def test_code_without_end_is_told_and_not_read():
    found = signs(SIGN, "x = 1\n" * 10**6, SIGN)
    assert found == ["ends the process: `os._exit(1)`",
                     "has more than 200,000 characters of code, which were not all looked at"]


@pytest.mark.parametrize("code, sign", [
    ("a.b.c.d.e.f.g.h.i.j = 1", None), ("torch.testing.assert_close = 1", "replaces torch.testing.assert_close"),
    ("get_ipython().events.register('x', f)", "changes how cells are run"), ("x.events = 1", None),
    ("open('/srv/x').read()", "opens what is not the student's"), ("f('x').open('/srv/x')", "opens what is not"),
])
def test_a_name_is_read_through_calls_and_from_its_end(code, sign):
    assert [one.startswith(sign) for one in signs(code)] == ([True] if sign else [])


def test_a_line_that_does_several_things_is_named_once():
    twice = "torch.a = torch.b = subprocess.call"
    assert signs(f"import torch, subprocess\n{twice}\n{twice}\n") == [
        "reaches for other programs: `import torch, subprocess`", f"replaces torch.a, replaces torch.b: `{twice}`"]
