"""Right notebooks, written in unusual ways, keep their points; what one of them does costs no other."""

from dataclasses import replace

import numpy as np
import psutil
import pytest

from autograder.classroom.json_files import to_json
from autograder.judging.judge import Judge
from autograder.publish import notebooks
from autograder.runtime.values import bounded_outputs, describe
from autograder.sandbox.options import Options
from conftest import SHORT, TINY, handed


def outcome(verdict, name="double"):
    return next(result for result in verdict.exercises if result.exercise == name)


def test_a_string_with_half_a_character_is_a_wrong_answer_and_can_be_written(grade, right):
    verdict = grade({**right, "double": "def double(x):\n    return '\\ud800'"})
    assert outcome(verdict).outcome == "failed" and to_json(verdict).encode()


@pytest.mark.parametrize("result", ["np.uint64(3)", "np.longdouble(0.5)", "torch.tensor(3, dtype=torch.uint16)"])
def test_a_number_of_a_rare_type_ends_no_kernel(grade, right, result):
    cell = f"import numpy as np\nimport torch\n\ndef double(x):\n    return {result}"
    assert outcome(grade({**right, "double": cell})).outcome == "failed"


def test_too_large_a_list_is_a_wrong_answer(grade, right):
    cell = "def double(x):\n    return [[float(i) for i in range(4000)] for _ in range(30)]"
    found = outcome(grade({**right, "double": cell}))
    assert found.outcome == "failed" and "too many values" in found.explained()


def test_too_long_strings_are_a_wrong_answer(grade, right):
    found = outcome(grade({**right, "double": "def double(x):\n    return ['\\u1234' * 10_000] * 2_000"}))
    assert found.outcome == "failed" and "too many values" in found.explained()


def test_what_is_not_sent_takes_no_room():
    much = {"big": describe([list(range(5000))] * 12), "small": describe(1)}
    assert [value.kind for value in bounded_outputs(much).values()] == ["other", "int"]
    kinds = complex, complex, "f4", "f4"
    numbers = {str(i): describe(np.zeros(2_000_000, dtype=kind)) for i, kind in enumerate(kinds)}
    assert [value.kind for value in bounded_outputs(numbers).values()] == ["array", "array", "other", "other"]


def test_an_answer_that_raises_what_is_no_exception_is_told_so(grade, right):
    found = outcome(grade({**right, "double": "def double(x):\n    raise KeyboardInterrupt"}))
    assert found.outcome == "error" and "KeyboardInterrupt" in found.explained()


@pytest.mark.parametrize("added", [
    "import torch\ntorch.inference_mode().__enter__()",
    "globals()[1] = 2",
    "open('helper7.py', 'w').write('x = 1')\nimport helper7\nassert helper7.x == 1"])
def test_cells_that_work_in_jupyter_cost_nothing(grade, right, added):
    verdict = grade(right, [added])
    assert verdict.points == verdict.max_points and not verdict.notes


def test_a_compiled_function_is_called_again_and_again(grade, right, short_judge, monkeypatch):
    limits = replace(SHORT, cell_cpu_seconds=60, exercise_cpu_seconds=60)  # its kernel imports torch's compiler
    monkeypatch.setattr(short_judge.sandbox, "options", replace(short_judge.sandbox.options, limits=limits))
    cell = "import torch\n\n@torch.compile(backend='eager')\ndef double(x):\n    return 2 * x"
    verdict = grade({**right, "double": cell})
    assert outcome(verdict).outcome == "passed", outcome(verdict).explained()


def test_a_left_out_cell_starts_one_kernel_more_and_leaves_none_behind(right, tiny):
    forks = []
    with Judge(tiny, Options(limits=SHORT)) as judge:
        fork = judge.sandbox.fork
        judge.sandbox.fork = lambda seed: forks.append(seed) or fork(seed)
        ends = "import os\nos._exit(0)"
        verdict = judge.judge(handed(notebooks.filled(tiny, TINY, {**right, "double": ends, "last": ends})), "seed")
        assert outcome(verdict).outcome == "crashed" and outcome(verdict, "encoder").outcome == "passed"
        fork_server = judge.sandbox.fork_server.ready()
        assert len(forks) == 3
        assert not [process for process in fork_server.children(recursive=True)
                    if process.status() != psutil.STATUS_ZOMBIE and process.children()]


def test_many_notes_are_counted(grade, right):
    verdict = grade(right, [f"raise ValueError({i})" for i in range(30)])
    assert len(verdict.notes) == 21 and verdict.notes[-1] == "and 10 more"
    killed = grade(right, [*(f"raise ValueError({i})" for i in range(30)), "import os\nos._exit(0)"])
    assert "was left out" in killed.notes[0], "what matters more is not behind them"
