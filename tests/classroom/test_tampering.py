"""Signs of tampering are found in any code, at a bounded cost: the instructor's screen looks at a whole class."""

import time

import pytest

from autograder.classroom import tampering
from autograder.classroom.student_work import StudentWork
from autograder.course import Course
from autograder.judging.submission import SubmittedCell
from conftest import TINY

SIGN = "import os\nos._exit(1)\n"
# Code that costs the square of its length where each name is written out anew, or more calls than Python allows.
COSTLY = {
    "a long chain": SIGN + "x" + ".events" * 190,
    "many calls": SIGN + "f" + "()" * 190,
    "chains of calls": SIGN + "get" + "().f" * 90,
    "many long chains": SIGN + ("x" + ".events" * 140 + "\n") * 190,
    "many magics": SIGN + "f?\n" * 60_000,
    "a wide magic": SIGN + "if 1:\n" + " " * 190_000 + "f?",
    "many signs in a line": SIGN + "if 1:\n " + "os.kill(1);" * 17_000,
}


OPENS = "opens what is not the student's"


def flags(*sources):
    return tampering.flags([SubmittedCell("code", source, None) for source in sources])


@pytest.mark.parametrize("code", COSTLY.values(), ids=list(COSTLY))
def test_what_costs_much_is_looked_at_in_little_time(code):
    started = time.process_time()
    assert "ends the process: `os._exit(1)`" in flags(code)
    assert time.process_time() - started < 10


def test_so_much_code_is_looked_at_and_no_more():
    most = SIGN + "#" * (tampering.MAX_SOURCE - len(SIGN))
    told = "has more than 200,000 characters of code, which were not all looked at"
    assert flags(most) == flags(SIGN) and flags(most, "#") == [*flags(SIGN), told] and flags(f"{most}#") == [told]


def test_code_without_end_is_told_and_not_read():
    found = flags(SIGN, "x = 1\n" * 10**6, SIGN)
    assert found == ["ends the process: `os._exit(1)`",
                     "has more than 200,000 characters of code, which were not all looked at"]


@pytest.mark.parametrize("code, sign", [
    ("a.b.c.d.e.f.g.h.i.j = 1", None), ("torch.testing.assert_close = 1", "replaces torch.testing.assert_close"),
    ("get_ipython().events.register('x', f)", "changes how cells are run"), ("x.events = 1", None),
    ("open('/srv/x').read()", OPENS), ("f('x').open('/srv/x')", OPENS),
    ("torch.b.c.d.e.f.g.h = 1", "replaces torch.b.c.d.e.f.g.h"), ("torch.b.c.d.e.f.g.h.i = 1", None),
    ("(torch if x else 1).b = 1", None), ("from math import pi", None), ("from . import socket", None),
    ("from urllib.request import urlopen", "reaches for the network"), ("import math", None),
    ("import urllib.request", "reaches for the network"), ("import csv.x; csv.x.y = 1", "replaces csv.x.y"),
    ("import csv.x as d; d.y = 1", "replaces d.y"), ("import csv.x as d; csv.y = 1", None),
    ("class A:\n    def __eq__(self, other): return True", "is equal to everything"),
    ("class A:\n    def __eq__(self, other): return False", None), ("get_ipython().magic('x')", None),
    ("get_ipython().run_cell = f", "changes how cells are run"), ("open('mine.txt')", None), ("f('/srv/x')", None),
    ("from os import system\nsystem('x')", "runs another program"), ("import os as o; o.kill(1)", "ends a process"),
    ("%matplotlib inline\nos._exit(1)", "ends the process"), ("%%time\nf?\nos._exit(1)", "ends the process"),
    ("%timeit a != b", None), ("x = '''\n!ls'''", None), ("!cat \\\n  /etc/passwd", "runs another program"),
    ("names = !ls", "runs another program"), ("%%bash\nfor i in 1; do ls; done", "runs another program"),
    ("from torch import nn\nnn.Linear = 1", "replaces nn.Linear"), ("torch.a: int = 1", "replaces torch.a"),
    ("import torch.nn.functional as F\nF.softmax = 1", "replaces F.softmax"), ("torch.a: int", None),
    ("torch.a, x = 1, 2", "replaces torch.a"), ("torch.a += 1", "replaces torch.a"),
    ("(torch.a, b), c = x", "replaces torch.a"), ("for torch.a in x: pass", "replaces torch.a"),
    ("del torch.a", "replaces torch.a"), ("setattr(__builtins__, 'a', 1)", "replaces something of __builtins__"),
    ("setattr(torch, 'a', 1)", "replaces something of torch"),
    ("torch = 1", None), ("import os.path\nos._exit(1)", "ends the process"),
    ("import torch.backends as b\nb.cudnn.enabled = False", None),
    ("setattr(mine, 'a', 1)", None), ("torch.backends.cudnn.deterministic = True", None),
    ("import os\nos.popen('ls')", "runs another program"), ("import os\nos.execv('ls', [])", "runs another program"),
    ("import pty\npty.spawn('sh')", "runs another program"), ("get_ipython().system('ls')", "runs another program"),
    ("open(7)", None), ("open()", None), ("pathlib.Path('../solutions')", OPENS),
])
def test_a_name_is_read_through_calls_and_from_its_end(code, sign):
    assert [one.partition(": ")[0] for one in flags(code)] == ([sign] if sign else [])


def test_a_name_that_another_cell_imports_is_known():
    assert flags("from torch.nn import functional as F", "F.a = None") == ["replaces F.a: `F.a = None`"]


def test_a_name_that_another_cell_also_assigns_is_no_module():
    assert flags("import random as r", "r = Result()", "r.seed = 1") == []
    assert flags("torch = torch", "torch.a = 1") == ["replaces torch.a: `torch.a = 1`"]
    assert flags("import torch.nn.functional as F", "def f():\n    F = 3", "F.a = 1") == ["replaces F.a: `F.a = 1`"]
    assert flags("from os import system as go\ngo('x')", "go = go") == ["runs another program: `go('x')`"]
    assert flags("import os as np\nnp._exit(1)") == ["ends the process: `np._exit(1)`"]


def test_what_is_no_code_has_no_signs_and_hides_none():
    assert flags(SIGN, "\n\ndef broken(:\n", "os.kill(1)") == [*flags(SIGN), "ends a process: `os.kill(1)`"]
    assert tampering.flags([SubmittedCell("markdown", SIGN, None)]) == []


def test_where_nothing_was_handed_in_there_are_no_signs(tmp_path):
    assert tampering.flags_of(StudentWork(Course(tmp_path), TINY, "ada")) == []


def test_a_line_is_shown_as_far_as_there_is_room():
    assert flags(f"os._exit({'1' * 200})") == [f"ends the process: `os._exit({'1' * 111}`"]


def test_a_line_that_does_several_things_is_named_once():
    twice = "torch.a = torch.b = subprocess.call"
    assert flags(f"import torch, subprocess\n{twice}\n{twice}\n") == [
        "reaches for other programs: `import torch, subprocess`", f"replaces torch.a, replaces torch.b: `{twice}`"]
