"""Reading code: one thread at a time."""

import gc
import threading
import time
from pathlib import Path

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
