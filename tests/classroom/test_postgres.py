"""PostgreSQL as the gradebook: two graders at once, on a real server of its own."""

import multiprocessing

import pytest

from autograder.classroom import grading
from autograder.classroom.grading import grade_class
from autograder.classroom.nbgrader.term import Term
from autograder.classroom.samples import classroom_in, hand_in
from autograder.model.oracle import load_oracle
from autograder.model.source import load_source
from autograder.publish.notebooks import filled
from autograder.sandbox.options import Options
from bench import postgres
from conftest import SHORT, TINY, TINY_COURSE, automatic_points

STUDENTS = [f"student-{i}" for i in range(6)]
OPTIONS = Options(limits=SHORT)


@pytest.fixture(scope="module")
def server():
    """The address of an empty database on a server that ends with the test."""
    if postgres.missing():
        pytest.skip(postgres.missing())
    with postgres.server() as address:
        yield address


@pytest.fixture
def classroom(tiny, tmp_path, server, right):
    """A class handed in, with the gradebook as docs/reference.md shows it."""
    course = classroom_in(tmp_path / "course", tiny, [TINY])
    with open(course.root / "nbgrader_config.py", "a") as file:
        file.write(f"c.CourseDirectory.db_url = {server!r}\n")
    oracle = load_oracle(tiny, TINY)
    wrong = {**right, "double": oracle.text_of(oracle.faults_of("double")[0])}
    for i, student in enumerate(STUDENTS):
        hand_in(course, student, TINY, filled(tiny, TINY, [right, wrong, {}][i % 3]))
    return Term(course)


def test_two_graders_enter_the_same_class_at_once(classroom, grade_here, monkeypatch):
    with monkeypatch.context() as later:  # judged, but not entered: that is left to the two
        later.setattr(Term, "enter", lambda *args: None)
        grade_here(classroom.course, OPTIONS)
    monkeypatch.setattr(grading, "judge_one", None)
    together = multiprocessing.get_context("fork")
    start, results = together.Barrier(2), together.Queue()

    def grader():
        start.wait()
        results.put([graded.problem for graded in grade_class(classroom, [TINY], OPTIONS)])

    graders = [together.Process(target=grader) for _ in range(2)]
    for process in graders:
        process.start()
    problems = [problem for _ in graders for problem in results.get(timeout=120) if problem]
    for process in graders:
        process.join()
    assert not problems
    full = automatic_points(TINY_COURSE, TINY)
    expected = [full, full - load_source(TINY_COURSE, TINY).points("double"), 0] * 2
    with classroom.gradebook() as gradebook:
        scores = {one.student.id: one.score for one in gradebook.stock.assignment_submissions(TINY)}
    assert scores == dict(zip(STUDENTS, expected, strict=True))
