"""A judge that is watched: one submission that stalls it has a grade and a reason, and the next one is judged."""

import dataclasses
import time

import psutil
import pytest

from autograder import samples
from autograder.judging import watched
from autograder.judging.judge import Judge
from autograder.judging.watched import WatchedJudge
from autograder.sandbox.terms import Terms
from autograder.sandbox.walls import SandboxError
from conftest import SHORT, TINY, TINY_COURSE, handed, tiny_copy

# A check whose predicate is stalled by some answers: the weakness itself, which ours are not to have.
STALLED = '''
from autograder.authoring.tape import check

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
    t.output("three", t["double"](3.0), holds=holds)
'''
LIMITS = dataclasses.replace(SHORT, judge_seconds=2, judge_memory=2**28)


@pytest.fixture(scope="module")
def judge(tmp_path_factory):
    text = (TINY_COURSE.folder(TINY) / "checks.py").read_text()
    others = text[text.index('@check("encoder")'):]
    course = tiny_copy(tmp_path_factory.mktemp("stalled"), checks=STALLED + others, mistakes="")
    script = course.script(TINY)
    script.write_text(script.read_text().replace("return 2 * x", "return x"))
    made = WatchedJudge(course, Terms(limits=LIMITS))
    yield made
    made.close()


def answering(number):
    return handed(samples.notebook(TINY_COURSE, TINY, {"double": f"def double(x):\n    return {number}"}))


@pytest.mark.parametrize("number, reason", [
    (1, "took more than 2 seconds"), pytest.param(2, "took more than 0.25 GiB of memory", marks=pytest.mark.slow)],
    ids=["time", "memory"])
def test_a_judge_that_is_stalled_is_ended_with_a_reason(judge, number, reason):
    assert judge.judge(answering(3.0), "seed").exercises[0].verdict == "passed"
    process, started = psutil.Process(judge._process.pid), time.monotonic()
    beneath = [process, *process.children(recursive=True)]
    verdict = judge.judge(answering(float(number)), "seed")
    assert verdict.score == 0 and reason in verdict.unreadable
    assert all(reason in check.message for exercise in verdict.exercises for check in exercise.checks)
    assert time.monotonic() - started < 60
    assert psutil.wait_procs(beneath, timeout=10)[1] == [], "the kernels are left"
    assert judge.judge(answering(3.0), "seed").exercises[0].verdict == "passed", "the next one suffers"


@pytest.mark.slow
def test_a_watched_judge_says_what_a_judge_says(judge, right):
    given = handed(samples.notebook(TINY_COURSE, TINY, {"encoder": right["encoder"]}))
    with Judge(judge.course, judge.terms) as plain:
        assert plain.judge(given, "seed").exercises == judge.judge(given, "seed").exercises


def test_faults_of_this_machine_are_told_to_who_asked(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    judge = WatchedJudge(TINY_COURSE, Terms(limits=SHORT))
    with pytest.raises(SandboxError, match="bubblewrap is missing"):
        judge.judge(answering(3.0), "seed")
    judge.close()


def test_judges_that_were_begun_are_taken_once_each_by_whoever_judges_alike_and_end(monkeypatch):
    started, closed = [], []
    monkeypatch.setattr(WatchedJudge, "_start", lambda self: started.append(self))
    monkeypatch.setattr(WatchedJudge, "close", lambda self: closed.append(self))
    terms = Terms(limits=SHORT)
    with watched.begun(TINY_COURSE, terms, 2):
        assert len(started) == 2
        assert watched.taken(TINY_COURSE, Terms()) not in started  # under other terms another one
        assert watched.taken(TINY_COURSE, terms) is started[0]
    assert closed == started
    assert watched.taken(TINY_COURSE, terms) not in started
