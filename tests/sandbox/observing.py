"""Runs an attack on a judge, or on what stands in for one, and says whether it was seen to succeed."""

import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import naive
import psutil
import pytest
from attacks import Attack
from removals import RESTRICTIONS
from world import PORT, World

from autograder.judging.judge import Judge
from autograder.judging.submission import SubmissionError
from autograder.judging.verdict import Verdict
from autograder.publish import notebooks
from autograder.runtime import messages
from autograder.sandbox import restrictions
from autograder.sandbox.options import Options
from autograder.sandbox.restrictions import SandboxError
from autograder.sandbox.watchdog import Usage
from conftest import TINY, TINY_COURSE, handed

WRONG = {"double": "def double(x):\n    return x", **notebooks.solved(TINY_COURSE, TINY, "last")}  # and one is right
LOOKS, PAUSE = 4, 0.2  # what stays taken is seen in so many looks one after the other, seconds apart
KEYCTL = "import ctypes\ndef keyctl(*args):\n    return ctypes.CDLL(None).syscall({'aarch64': 219}.get(" \
         "os.uname().machine, 250), *args)"


@dataclass
class Seen:
    """What was observed: the points (None for no grade), all words that came out, and facts."""

    score: float | None
    words: str = ""
    verdict: Verdict | None = None
    lost: bool = False
    taken: bool = False
    left: bool = False
    facts: set[str] = field(default_factory=set)


class Scene:
    """A judge in a marked world, whole or without one restriction."""

    def __init__(self, world: World, judge: Judge):
        self.world, self.judge = world, judge
        self._honest: dict[bool, float] = {}

    def grade(self, attack: Attack | None, like: Attack) -> Seen:
        """Grade a notebook with an attack in it, or, without, the same work that ``like`` would be handed in with."""
        notebook = self._notebook(attack, like)
        watch = _Watch(self.judge, like)
        try:
            verdict = self.judge._grade(handed(notebook), "seed")
        except (SandboxError, SubmissionError):
            raise
        except Exception as error:
            return Seen(None, repr(error), taken=watch.stop(), facts=self._facts(repr(error)))
        words = "\n".join([*verdict.notes, *(messages.result(c) for e in verdict.exercises for c in e.checks)])
        lost = "was left out" in words or any(e.outcome in ("crashed", "timeout") for e in verdict.exercises)
        return Seen(verdict.points, words, verdict, lost, watch.stop(), self._left(like), self._facts(words))

    def naively(self, attack: Attack | None, like: Attack) -> Seen:
        """The same by the naive grader that stands in for the restriction of ``like``."""
        if like.restriction == "beneath":
            score, words = naive.beneath(attack.own if attack else "", self.world.mark)
        else:
            score, words = naive.together(self.judge.sandbox, self._notebook(attack, like, naive.TESTS))
        return Seen(score, words, facts=self._facts(words))

    def honest(self, like: Attack) -> float:
        """The points of the same work without the attack."""
        key = bool(like.cells)
        if key not in self._honest:
            self._honest[key] = self.grade(None, like).score
        return self._honest[key]

    def _facts(self, words: str) -> set[str]:
        return self.world.facts() | ({"mark"} if self.world.mark in words else set())

    def _notebook(self, attack: Attack | None, like: Attack, tests: dict[str, str] | None = None):
        work = {} if like.cells else WRONG
        own = [attack.own.replace(PORT, self.world.port)] if attack and attack.own else []
        notebook = notebooks.filled(TINY_COURSE, TINY, {**work, **(attack.cells if attack else {})}, tuple(own))
        if tests:
            for cell in notebook.cells:
                cell.source = tests.get(cell.source.removeprefix('tp.check("').removesuffix('")'), cell.source)
                if "training" in cell.source:
                    cell.source = "pass"
            notebook.cells.sort(key=lambda cell: cell.source in tests.values())  # tests come last
        if attack and attack.edit:
            attack.edit(notebook)
        return notebook

    def _left(self, like: Attack) -> bool:
        """Whether the next submission finds something, or processes live on."""
        if like.observable != "leaves":
            return False
        if like.argument == "processes":
            time.sleep(0.5)
            beneath = self.judge.sandbox.fork_server.process.children(recursive=True)
            return any(process.status() != psutil.STATUS_ZOMBIE for process in beneath)
        cell = f"import os\n{KEYCTL}\nraise RuntimeError({like.argument})"
        return "`: True" in str(self.judge.judge(handed(notebooks.filled(TINY_COURSE, TINY, {}, (cell,))), "s").notes)


class _Watch:
    """Looks at what is used beneath a judge, and ends it where it stays more than an attack is to take."""

    def __init__(self, judge: Judge, attack: Attack):
        self.judge, self.taken, self._ended = judge, False, threading.Event()
        bound, _, unit = attack.argument.partition(" ")
        self._thread = None
        if attack.observable == "costs" and unit:
            self._begun = self._usage().seconds
            self._thread = threading.Thread(target=self._look, args=(float(bound), unit))
            self._thread.start()

    def _usage(self) -> Usage:
        fork_server = self.judge.sandbox.fork_server
        return fork_server.usage() if fork_server and fork_server.process else Usage(0, 0, 0.0)

    def _look(self, bound: float, unit: str) -> None:
        looks = 0
        while not self._ended.wait(PAUSE):
            usage = self._usage()
            used = {"seconds": usage.seconds - self._begun, "MiB": usage.memory / 2**20,
                    "processes": usage.processes}[unit]
            looks = looks + 1 if used > bound else 0
            if looks == LOOKS:
                self.taken = True
                self.judge.sandbox.fork_server.process.kill()
                return

    def stop(self) -> bool:
        """Whether it was taken."""
        self._ended.set()
        if self._thread:
            self._thread.join()
        return self.taken


def succeeded(attack: Attack, seen: Seen, honest: float) -> bool:
    """Whether the observable of an attack is in what was seen; ``honest`` are the points of the work without it."""
    match attack.observable, attack.argument:
        case "gains", _:
            return (seen.score or 0) > honest
        case "sees", "the mark":
            return "mark" in seen.facts
        case "sees", pattern:
            return re.search(pattern, seen.words) is not None
        case ("changes" | "reaches"), what:
            return what in seen.facts
        case "leaves", _:
            return seen.left
        case "costs", "grade":
            return seen.score is None
        case "costs", "kernel":
            return seen.lost
    return seen.taken


@contextmanager
def scene(folder: Path, without: str | None = None) -> Iterator[Scene]:
    """A judge of the tiny session in a marked world, all restrictions standing, or all but one."""
    world = World(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(restrictions, "KERNEL", world.kernel)
        patch.setattr(restrictions, "ENGINE_FOLDER", world.engine)
        if without:
            RESTRICTIONS[without].remove(patch, world)
        with Judge(TINY_COURSE, Options(limits=world.limits)) as judge:
            judge.sandbox.helpers = world.helpers
            judge.judge(handed(notebooks.filled(TINY_COURSE, TINY, {})), "seed")  # it starts
            try:
                yield Scene(world, judge)
            finally:
                world.close()


@contextmanager
def lowered(made: Scene, restriction: str) -> Iterator[Scene]:
    """The same world with a judge that lacks a restriction; the sandbox is whole, and the same."""
    with pytest.MonkeyPatch.context() as patch:
        RESTRICTIONS[restriction].remove(patch, made.world)
        yield Scene(made.world, Judge(TINY_COURSE, made.judge.options, made.judge.sandbox))
