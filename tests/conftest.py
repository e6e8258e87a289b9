"""Fixtures that many rooms share: the tiny course, a judge on it, submissions of it, and draws that can be replayed."""

import functools
import gc
import gzip
import hashlib
import itertools
import os
import random
import secrets
import shutil
import signal
import sys
from collections import Counter
from concurrent.futures import Executor, Future
from pathlib import Path

import autograder.model  # noqa: F401, first: without it, jsonschema compiles a grammar for two seconds in each process

# isort: split
import hypothesis
import nbformat
import numpy as np
import pytest
from alembic.script import ScriptDirectory
from nbgrader import api
from nbgrader.dbutil import ALEMBIC_DIR

from autograder.classroom.grading import grade_class
from autograder.classroom.nbgrader.term import Term
from autograder.course import Course, find
from autograder.judging import judge_process
from autograder.judging.judge import Judge
from autograder.judging.judge_fork_server import JudgeForkServer
from autograder.judging.submission import Submission
from autograder.model import selfcheck_recording
from autograder.model.oracle import load_oracle
from autograder.model.source import load_source
from autograder.publish import notebooks
from autograder.runtime import wire
from autograder.sandbox.options import Limits, Options

TESTS = Path(__file__).parent
REPOSITORY = find(TESTS.parent)  # the real course
TINY_COURSE = Course(TESTS / "fixtures" / "tiny")
TINY = "tp0_tiny"  # its one TP
SHORT = Limits(cell_cpu_seconds=2, exercise_cpu_seconds=2, notebook_wall_seconds=80,
               memory=2 * 2**30, processes=48, disk=16 * 2**20)
# How long a draw or an example takes says nothing of what is tested.
hypothesis.settings.register_profile("patient", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.load_profile("patient")
# Every draw of this run follows from it; the processes that run tests side by side inherit it.
os.environ.pop("VIRTUAL_ENV", None)  # of a shell with another environment: IPython would add its packages
RUN = os.environ.setdefault("COURSE_TEST_SEED", secrets.token_hex(4))
# A shell that runs the tests in the background has them ignore ^C, and whatever they start would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)


def some_of(things, share: float) -> list:
    """Parameters of a test: a part of them, another one in each run; `make slow` takes the others."""
    drawn = set(random.Random(RUN).sample(range(len(things)), round(share * len(things))))
    return [pytest.param(thing, marks=[] if i in drawn else pytest.mark.slow, id=str(thing))
            for i, thing in enumerate(things)]


@pytest.fixture
def seed(request) -> int:
    """A seed of 62 bits: another one in each test and each run, the same again where COURSE_TEST_SEED is set.

    The report of a test that fails says how to draw the same again.
    """
    request.node.add_report_section("setup", "draws", f"draw the same again: COURSE_TEST_SEED={RUN}\n")
    name = f"{request.path.relative_to(TESTS)}::{request.node.name}"  # a node's id depends on how tests are spread
    digest = hashlib.sha256(f"{RUN}/{name}".encode()).digest()
    return int.from_bytes(digest[:8], "little") % 2**62


@pytest.fixture
def rng(seed) -> np.random.Generator:
    """A generator with the seed of this test."""
    return np.random.default_rng(seed)


@pytest.fixture
def tiny() -> Course:
    """The tiny course; its one TP is called ``TINY``."""
    return TINY_COURSE


@pytest.fixture(scope="session", autouse=True)
def _one_version_of_gradebooks():
    """Ask here, and once, what version a new gradebook has: nbgrader starts a process for each."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(api, "get_alembic_version", functools.cache(ScriptDirectory(ALEMBIC_DIR).get_current_head))
        yield


@pytest.fixture(scope="session")
def short_judge():
    """A judge of the tiny course in bubblewrap with short deadlines; its fork server serves the whole session."""
    with Judge(TINY_COURSE, Options(limits=SHORT)) as judge:
        yield judge


@pytest.fixture(scope="session")
def shipped(tmp_path_factory) -> Path:
    """The folder with the self-checks of the tiny session, as a student's course has them."""
    folder = tmp_path_factory.mktemp("data") / "selfchecks"
    folder.mkdir()
    tree = selfcheck_recording.to_tree(load_oracle(TINY_COURSE, TINY))
    (folder / f"{TINY}.bin").write_bytes(gzip.compress(wire.pack(tree)))
    return folder


@pytest.fixture
def right() -> dict[str, str]:
    """The right answers of the tiny session: exercise → source."""
    return notebooks.solved(TINY_COURSE, TINY)


@pytest.fixture(scope="module")
def entered(tmp_path_factory) -> Path:
    """A folder with a graded class in it, which every test gets a copy of: see ``graded.classroom``."""
    import graded  # reads the tiny course: only where it is asked for

    folder = tmp_path_factory.mktemp("class") / "course"
    graded.classroom(folder)
    return folder


@pytest.fixture
def term(entered, tmp_path) -> Term:
    """That class, its pages not written yet."""
    shutil.copytree(entered, tmp_path / "course")
    return Term(Course((tmp_path / "course").resolve()))


class Here(Executor):
    """Works in this process, at once, in the place of threads and clusters."""

    def submit(self, function, *args):
        """Return the result as a future."""
        future = Future()
        try:
            future.set_result(function(*args))
        except Exception as error:
            future.set_exception(error)
        return future


@pytest.fixture
def judging_here(short_judge, monkeypatch):
    """Whoever asks for a judge gets that of all tests, in this process: none is started for it."""
    for name in ("judge_of_thread", "JudgeProcess"):
        monkeypatch.setattr(judge_process, name, lambda *args: short_judge)
    monkeypatch.setattr(judge_process.JudgeForkServer, "start", lambda *args: None)
    return short_judge


@pytest.fixture(scope="session")
def fork_server():
    """The fork server of the tiny course with short deadlines, from which all tests that watch a judge have theirs."""
    with JudgeForkServer(TINY_COURSE, Options(limits=SHORT)) as server, pytest.MonkeyPatch.context() as patch:
        patch.setattr(server, "close", lambda: None)  # so that no test ends it
        server.start(TINY)
        yield server


@pytest.fixture
def served_here(fork_server, monkeypatch):
    """Whoever asks for a watched judge, of whatever course and options, gets one of that fork server."""
    monkeypatch.setattr(judge_process, "server_of", lambda *args: fork_server)
    return fork_server


@pytest.fixture
def grade_here(judging_here):
    """Grade a class of the tiny session with that judge: student → what happened."""

    def grade(course, options=Options(limits=SHORT), **others):
        graded = grade_class(Term(course), [TINY], options, workers=Here(), **others)
        return {one.file.student: one for one in graded}

    return grade


@pytest.fixture
def grade(short_judge, seed):
    """Grade cells (exercise → source) of the tiny session, with cells of the student's own at the end; a verdict.

    ``edit`` may change the notebook in place or return another. The seed is that of the test unless one is given.
    """

    def run(cells=None, own=(), edit=None, seed=str(seed)):
        notebook = notebooks.filled(TINY_COURSE, TINY, cells or {}, tuple(own))
        if edit:
            notebook = edit(notebook) or notebook
        return short_judge.judge(handed(notebook), seed)

    return run


def handed(notebook, session: str = TINY, filename: str = "the file") -> Submission:
    """A submission of a notebook, or of the bytes of whatever else."""
    data = notebook if isinstance(notebook, bytes) else nbformat.writes(notebook).encode()
    return Submission(data, session, filename=filename)


def tiny_copy(folder: Path, **texts: str) -> Course:
    """A copy of the tiny course in ``folder`` whose TP has other texts in the place of these modules."""
    made = Course(folder)
    shutil.copytree(TINY_COURSE.folder(TINY), made.folder(TINY), ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(TINY_COURSE.root / "course.toml", folder)
    for module, text in texts.items():
        (made.folder(TINY) / f"{module}.py").write_text(text, encoding="utf-8")
    return made


def automatic_points(course: Course, session: str) -> float:
    """The points of a TP that a judge can give."""
    source = load_source(course, session)
    return sum(source.points(name) for name in source.exercises)


def fingerprint(*folders) -> str:
    """A digest of every file below these folders."""
    digest = hashlib.sha256()
    for folder in folders:
        for path in sorted(p for p in Path(folder).rglob("*") if p.is_file() and "__pycache__" not in p.parts):
            digest.update(f"{path}\n".encode() + path.read_bytes())
    return digest.hexdigest()


@pytest.hookimpl(tryfirst=True)  # xdist reads the groups in the same hook
def pytest_collection_modifyitems(config, items):
    """Tests that share something dear go to one process, which makes it once; folders take turns.

    Those of the sandbox and of pages wait much: beside them others compute.
    """
    if not config.pluginmanager.hasplugin("xdist"):
        return
    sessions = REPOSITORY.sessions
    for item in items:
        if shared := _shared(item, sessions):
            item.add_marker(pytest.mark.xdist_group(shared))
    if "PYTEST_XDIST_WORKER" in os.environ:
        sizes = Counter(item.path.parent for item in items)
        count = {folder: itertools.count(1) for folder in sizes}
        items.sort(key=lambda item: next(count[item.path.parent]) / sizes[item.path.parent])


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Look for no garbage while tests are collected, nor later among what was made then: it lives as long as they."""
    gc.disable()
    collected = yield
    gc.freeze()
    gc.enable()
    return collected


def _shared(item, sessions) -> str | None:
    """Name what a test shares: the fork server, a fixture of its module, or the solution of a session."""
    fixtures = item._fixtureinfo.name2fixturedefs
    if "fork_server" in fixtures:
        return "fork_server"
    if any(found[-1].scope == "module" for found in fixtures.values() if found):
        return str(item.path.relative_to(TESTS))
    given = item.callspec.params.values() if hasattr(item, "callspec") else ()
    return next((one for one in given if isinstance(one, str) and one in sessions), None)


def pytest_terminal_summary(terminalreporter):
    """Behind the tests of hostile notebooks: restrictions, attacks and controls."""
    if "removals" in sys.modules:
        from summing_up import told_by

        told_by(terminalreporter)
