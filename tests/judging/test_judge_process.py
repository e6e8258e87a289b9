"""A judge that is watched: one submission that stalls it has a grade and a reason, and the next one is judged."""

import dataclasses
import time
from concurrent.futures import ThreadPoolExecutor

import psutil
import pytest

from autograder import AutograderError
from autograder.judging import judge_process
from autograder.judging.judge import Judge
from autograder.judging.judge_fork_server import JudgeForkServer
from autograder.judging.judge_process import JudgeProcess
from autograder.model import digests
from autograder.model.source import load_source
from autograder.publish import notebooks
from autograder.runtime import messages
from autograder.sandbox.options import Options
from autograder.sandbox.restrictions import SandboxError
from conftest import SHORT, TINY, TINY_COURSE, automatic_points, handed, tiny_copy

# A check whose predicate is stalled by some answers: the weakness itself, which ours are not to have.
STALLED = '''
from autograder.model.trace import check

def holds(got):
    if float(got) == 1:
        while True:
            pass
    if float(got) == 2:
        kept = []
        while True:
            kept.append(bytes(range(256)) * 4096)
    return None if float(got) == 3 else "It must be 3."

@check("double")
def three(t):
    """It is three."""
    t.output("three", t["double"](3.0), predicate=holds)
'''
LIMITS = dataclasses.replace(SHORT, judge_cpu_seconds=2, judge_memory=2**28)
OPTIONS = Options(limits=SHORT)


@pytest.fixture(scope="module")
def judge(tmp_path_factory):
    text = (TINY_COURSE.folder(TINY) / "checks.py").read_text()
    others = text[text.index('@check("encoder")'):]
    course = tiny_copy(tmp_path_factory.mktemp("stalled"), checks=STALLED + others, faults="", variants="")
    script = course.script(TINY)
    script.write_text(script.read_text().replace("return 2 * x", "return x"))
    with JudgeForkServer(course, Options(limits=LIMITS)) as server:
        yield JudgeProcess(server)


def answering(number):
    return handed(notebooks.filled(TINY_COURSE, TINY, {"double": f"def double(x):\n    return {number}"}))


def running_beneath(fork_server):
    """The processes beneath a fork_server."""
    return [process for process in fork_server.children(recursive=True) if process.status() != psutil.STATUS_ZOMBIE]


@pytest.mark.parametrize("number, reason", [
    (1, "took more than 2 seconds"), pytest.param(2, "took more than 0.25 GiB of memory", marks=pytest.mark.slow)],
    ids=["time", "memory"])
def test_a_judge_that_is_stalled_is_ended_with_a_reason(judge, number, reason):
    assert judge.judge(answering(3.0), "seed").exercises[0].outcome == "passed"
    fork_server, started = psutil.Process(judge.fork_server._process.pid), time.monotonic()
    before = running_beneath(fork_server)
    verdict = judge.judge(answering(float(number)), "seed")
    assert verdict.points == 0 and reason in verdict.ungraded_reason and verdict.seconds > 0
    assert all(reason in messages.result(check) for exercise in verdict.exercises for check in exercise.checks)
    assert time.monotonic() - started < 60
    assert judge.judge(answering(3.0), "seed").exercises[0].outcome == "passed", "the next one suffers"
    for _ in range(100):
        if len(left := running_beneath(fork_server)) == len(before):
            break
        time.sleep(0.1)
    assert len(left) == len(before), "the judge or its kernels are left"
    assert len(set(left) - set(before)) > 1, "the control: they are others"


@pytest.mark.slow
def test_a_judge_process_says_what_a_judge_says(judge, right):
    given = handed(notebooks.filled(TINY_COURSE, TINY, {"encoder": right["encoder"]}))
    with Judge(judge.course, judge.options) as plain:
        assert plain.judge(given, "seed").exercises == judge.judge(given, "seed").exercises


def test_faults_of_this_machine_are_told_to_who_asked(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with JudgeForkServer(TINY_COURSE, OPTIONS) as server, pytest.raises(SandboxError, match="bubblewrap is missing"):
        JudgeProcess(server).judge(answering(3.0), "seed")


def test_judges_come_from_one_fork_server_and_end_with_it(right):
    given = handed(notebooks.filled(TINY_COURSE, TINY, right))
    with JudgeForkServer(TINY_COURSE, OPTIONS) as server:
        judges = [JudgeProcess(server) for _ in range(2)]
        assert {judge.judge(given, "first").points for judge in judges} == {automatic_points(TINY_COURSE, TINY)}
        assert len({judge._process.pid for judge in judges}) == 2
        beneath = psutil.Process(server._process.pid).children(recursive=True)
        assert {judge._process for judge in judges} < set(beneath)
        ended = judges[0]._process.pid
        judges[0].close()
        assert judges[1].judge(given, "other").points, "one that is closed leaves the other alone"
        assert not psutil.pid_exists(ended), "no zombie is left"
    assert psutil.wait_procs(beneath, timeout=60)[1] == []
    assert server._process is None


def test_a_thread_keeps_its_judge_while_it_asks_for_the_same():
    judge = judge_process.judge_of_thread(TINY_COURSE, OPTIONS)
    assert judge_process.judge_of_thread(TINY_COURSE, OPTIONS) is judge
    with ThreadPoolExecutor(1) as thread:
        other = thread.submit(judge_process.judge_of_thread, TINY_COURSE, OPTIONS).result()
    assert other is not judge and other.fork_server is judge.fork_server
    different = judge_process.judge_of_thread(TINY_COURSE, Options())
    assert different.options == Options() and different.fork_server is not judge.fork_server


def test_a_judge_reads_the_sources_anew_once_they_are_others(tmp_path, right):
    """As in formgrader, whose process lives as long as the Jupyter server."""
    course = tiny_copy(tmp_path)
    source = course.script(TINY)
    (course.folder(TINY) / "faults.py").unlink()
    (course.folder(TINY) / "variants.py").unlink()
    given, full = handed(notebooks.filled(TINY_COURSE, TINY, right)), automatic_points(TINY_COURSE, TINY)

    def judge():
        return judge_process.judge_of_thread(course, OPTIONS, digests.of_verdicts(load_source(course, TINY)))

    try:
        assert judge().judge(given, "seed").points == full
        first = judge()
        assert judge() is first and first._process.is_running(), "kept"
        server = first.fork_server._process
        source.write_text(source.read_text(encoding="utf-8").replace("return 2 * x", "return 3 * x"), encoding="utf-8")
        assert judge().judge(given, "seed").points == full - load_source(course, TINY).points("double")
        assert server.poll() is not None, "the one that had read other checks has ended"
    finally:
        judge().fork_server.close()


def test_nobody_gets_a_judge_of_a_server_that_was_abandoned_until_it_is_closed(right):
    given = handed(notebooks.filled(TINY_COURSE, TINY, right))
    with JudgeForkServer(TINY_COURSE, OPTIONS) as server:
        judge = JudgeProcess(server)
        server.abandon()
        with pytest.raises(AutograderError, match="its judge was killed, twice"):
            judge.judge(given, "first")
        server.close()
        assert judge.judge(given, "first").points


@pytest.mark.slow
@pytest.mark.parametrize("imports", [True, False], ids=["imported", "control"])
def test_what_an_optimizer_imports_is_imported_once_for_all_kernels(tmp_path, imports):
    text = TINY_COURSE.script(TINY).read_text(encoding="utf-8")
    texts = {TINY: text.replace("return 2 * x", "import torch._dynamo; return 2 * x")} if imports else {}
    cell = "import sys\ndef double(x):\n    return 2 * x if 'torch._dynamo' in sys.modules else x"
    given = handed(notebooks.filled(TINY_COURSE, TINY, {"double": cell}))
    with JudgeForkServer(tiny_copy(tmp_path, **texts), OPTIONS) as server:
        assert (JudgeProcess(server).judge(given, "seed").points > 0) == imports


def test_an_instance_that_was_got_ready_is_the_one_of_its_seed(right, short_judge, fork_server):
    """That of the fork server of all tests is called so."""
    wrong = handed(notebooks.filled(TINY_COURSE, TINY, {**right, "double": "def double(x):\n    return 3 * x"}))
    ready = JudgeProcess(fork_server)
    for seed in ("first", "other"):
        assert ready.judge(wrong, seed).exercises == short_judge.judge(wrong, seed).exercises
