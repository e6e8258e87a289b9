"""Reading code: one thread at a time, with the magics of a notebook, in the lines that Python counts."""

import ast
import gc
import threading
import time
from pathlib import Path

import pytest

import autograder
from autograder.runtime import syntax
from autograder.runtime.locate.rewriting import instrument

CELL = "def f(x):\n    return [x + i for i in range(3)]\n" * 30


class Garbage:
    """What is found while a tree is made, and lets another thread go on then."""

    def __init__(self):
        self.itself = self

    def __del__(self):
        time.sleep(0.0005)


def test_threads_can_read_code_at_the_same_time():
    """Python 3.11 counts the depth of the trees of all threads together, and refuses what comes out uneven."""
    errors, threshold = [], gc.get_threshold()

    def read():
        for _ in range(100):
            Garbage()
            try:
                syntax.parse(CELL)
                syntax.parse_expression("f(x)")
            except SystemError as error:
                errors.append(error)

    threads = [threading.Thread(target=read) for _ in range(4)]
    try:
        gc.set_threshold(50)
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        gc.set_threshold(*threshold)
    assert not errors


def test_code_is_read_without_warnings():
    """They would stand below the student's check, and were said when the cell was run."""
    text = 'def f(x):\n    assert (x, "a tuple")\n    return x is 1, "\\d"\n'
    assert all((syntax.compiled(syntax.parse_module(text), "<cell>"), instrument([text])[0].code))
    assert syntax.parse_expression('x is "\\d"')


def test_the_engine_reads_code_in_one_place_alone():
    modules = Path(autograder.__file__).parent.rglob("*.py")
    assert [path.name for path in modules if "ast.parse(" in path.read_text("utf-8")] == ["syntax.py"]


@pytest.mark.parametrize("text, python", [
    ("x = 1", "x = 1"), ("", ""), ("%time f(x)", "pass"), ("!ls", "pass"), ("f?", "pass"), ("?f", "pass"),
    ("names = !ls\nx = 1", "pass\nx = 1"),
    ("def f():\n    %time g()\n    return 1", "def f():\n    pass\n    return 1"),
    ("!ls \\\n  -l\nx = 1", "pass\n\nx = 1"), ("%%time\nx = 1", "pass\nx = 1"), ("  %%bash\nls -l | grep x", "pass"),
    ('s = """\n!ls\n"""', 's = """\n!ls\n"""'), ("x =", "x ="),
    ("y = 2\n%%bash\nls |", "y = 2\npass\nls |"), ("x = 1 %%\n", "x = 1 %%"),
])
def test_a_magic_does_nothing_and_its_lines_stay(text, python):
    assert syntax.without_magics(text) == python


def test_what_is_no_python_has_no_tree():
    assert ast.unparse(syntax.parse("x=1")) == "x = 1" and type(syntax.parse_expression("x+1")) is ast.BinOp
    assert [syntax.parse(text) for text in ("x =", "\0", "(" * 10_000, "-" * 100_000 + "1")] == [None] * 4


@pytest.mark.parametrize("text, names", [
    ("a, b.c, d[0] = e, f(g), h[i]", {"a", "b", "d"}), ("a.b[0].c += d", {"a"}), ("a.append(b)", {"a"}),
    ("x = a.append(b)", {"x"}), ("f().x = g(y)", set()), ("for i in j:\n    k = (m := n)", {"i", "k", "m"}),
    ("del a", set()),
])
def test_names_that_a_statement_changes(text, names):
    assert syntax.changed_names(syntax.parse(text).body[0]) == names


def test_lines_end_where_python_ends_them():
    assert syntax.code_lines("") == [] and syntax.code_lines("\n") == [""]
    assert syntax.code_lines("a\r\nb\rc\n\nd\x0ce\u2028f\n") == ["a", "b", "c", "", "d\x0ce\u2028f"]


@pytest.mark.parametrize("line, last", [(1, 1), (2, 4), (3, 4), (4, 4), (5, 7), (6, 7), (7, 7), (8, 8), (9, None),
                                        (0, None)])
def test_what_follows_a_statement_stands_in_its_own_lines(line, last):
    text = "x = 1\ny = (\n    2,\n    3)\n@d\ndef f():\n    pass\n%time f()\n"
    expected = "" if last is None else "\n" * last + "\n".join(text.splitlines()[last:])
    assert syntax.source_after(text, line) == expected
    assert syntax.source_after(f"{text}z =", line) == ""


def test_the_text_of_a_span_is_in_one_line():
    text = "é = f(\n  'ü',\n  y\n)(z)\nx = 1"
    assert syntax.segment(text, (1, 5, 4, 1)) == "f( 'ü', y )" and syntax.segment(text, (2, 2, 2, 6)) == "'ü'"
    call = syntax.parse(text).body[0].value
    assert syntax.segment(text, syntax.span_of(call)) == "f( 'ü', y )(z)"
    assert syntax.segment(text, (1, 5, 2, 4)) == "f( '\ufffd" and syntax.segment(text, (9, 0, 9, 4)) == ""
    assert syntax.segment(text, (4, 1, 4, 4)) == "(z)"
    assert syntax.span_of(ast.Load()) == (1, 0, 1, 0)
    assert syntax.span_of(ast.Pass(lineno=3, col_offset=4))[:3] == (3, 4, 1)
