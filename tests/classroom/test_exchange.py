"""The round trip of a term: an instructor and two students, each with a home folder, over nbgrader's own exchange."""

import os
import re
import subprocess
import sys
from datetime import UTC, datetime

import nbformat
import pytest

from autograder.classroom.grading import grade_class
from autograder.classroom.nbgrader.term import Term
from autograder.classroom.samples import classroom_in
from autograder.model.oracle import load_oracle
from autograder.publish.notebooks import solved
from conftest import REPOSITORY, automatic_points

pytestmark = pytest.mark.slow
TP, EXERCISE, ANSWER = "tp2_seq2seq", "encoder", "why-forcing"


class Person:
    """Somebody with a home folder, who types nbgrader's commands in a folder of theirs."""

    def __init__(self, name, home, folder):
        self.name, self.folder = name, folder
        home.mkdir()
        folder.mkdir(exist_ok=True)
        places = {f"JUPYTER_{kind}_DIR": str(home / kind.lower()) for kind in ("CONFIG", "DATA", "RUNTIME")}
        self.environment = {**os.environ, "HOME": str(home), **places}

    def nbgrader(self, *command):
        done = subprocess.run([sys.executable, "-m", "nbgrader", *command], cwd=self.folder, env=self.environment,
                              capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[-2000:]

    def fetch(self, cells):
        """Fetch the TP and fill these cells."""
        self.nbgrader("fetch_assignment", TP)
        path = self.folder / TP / f"{TP}.ipynb"
        notebook = nbformat.read(path, 4)
        for cell in notebook.cells:
            cell.source = cells.get(cell.metadata.get("nbgrader", {}).get("grade_id"), cell.source)
        nbformat.write(notebook, path)

    def submit(self):
        self.nbgrader("submit", TP, f"--student={self.name}")

    def feedback(self):
        """The page that the student fetches."""
        self.nbgrader("fetch_feedback", TP, f"--student={self.name}")
        (page,) = (self.folder / TP / "feedback").rglob("*.html")
        return page.read_text(encoding="utf-8")


@pytest.fixture
def people(tmp_path):
    """(the term, instructor, ada, bob); the late penalty is the one that docs/reference.md shows."""
    exchange = tmp_path / "exchange"
    exchange.mkdir()
    exchange.chmod(0o777)
    course = classroom_in(tmp_path / "course", REPOSITORY, [TP])
    page = (REPOSITORY.root / "docs" / "reference.md").read_text(encoding="utf-8")
    late = next(block for block in re.findall(r"```python\n(.*?)```", page, re.S) if "TenPercentADay" in block)
    one_account = "c.ExchangeCollect.check_owner = False"  # as all three are here
    with open(course.root / "nbgrader_config.py", "a") as file:
        file.write(f"c.Exchange.root = {str(exchange)!r}\n{one_account}\n{late}")
    term = Term(course)
    instructor = Person("instructor", tmp_path / "instructor", course.root)
    students = []
    for name in ("ada", "bob"):
        students.append(Person(name, tmp_path / name, tmp_path / f"{name}-work"))
        (students[-1].folder / "nbgrader_config.py").write_text(
            f"c = get_config()\nc.Exchange.root = {str(exchange)!r}\n"
            f"c.CourseDirectory.course_id = {term.config.CourseDirectory.course_id!r}\n")
    return term, instructor, *students


def grades(term):
    """Student → (score, late penalty)."""
    with term.gradebook() as gradebook:
        return {one.student.id: (one.score, one.late_submission_penalty)
                for one in gradebook.stock.assignment_submissions(TP)}


def test_from_release_to_feedback(people):
    term, instructor, ada, bob = people
    right, oracle = solved(REPOSITORY, TP), load_oracle(REPOSITORY, TP)
    fault = oracle.faults_of(EXERCISE)[0]

    instructor.nbgrader("generate_assignment", TP, "--create", "--force")
    instructor.nbgrader("release_assignment", TP)
    ada.fetch({**right, ANSWER: "The decoder reads the right characters."})
    ada.submit()
    instructor.nbgrader("collect", TP)
    ada.submit()  # again: the later one is collected in the place of the first
    due = datetime.now(UTC)
    bob.fetch({**right, EXERCISE: oracle.text_of(fault)})
    bob.submit()
    instructor.nbgrader("db", "assignment", "add", TP, f"--duedate={due:%Y-%m-%d %H:%M:%S.%f} UTC")
    instructor.nbgrader("collect", TP, "--update")

    graded = {one.file.student: one for one in grade_class(term, [TP])}
    assert not any(one.problem for one in graded.values())
    full, less = (graded[name].verdict.points for name in ("ada", "bob"))
    assert full == automatic_points(REPOSITORY, TP)
    assert full - oracle.source.points(EXERCISE) <= less < full
    assert grades(term) == {"ada": (full, 0), "bob": (less, pytest.approx(0.1 * less))}

    with term.gradebook() as gradebook:  # as formgrader enters them
        gradebook.stock.find_grade(ANSWER, TP, TP, "ada").manual_score = 2
        gradebook.stock.find_comment(ANSWER, TP, TP, "ada").manual_comment = "And what does it read in use?"
        gradebook.stock.find_grade(ANSWER, TP, TP, "bob").manual_score = 3
        gradebook.stock.db.commit()
    grade_class(term, [TP], force=True)
    assert grades(term) == {"ada": (full + 2, 0), "bob": (less + 3, pytest.approx(0.1 * (less + 3)))}

    instructor.nbgrader("generate_feedback", TP)
    instructor.nbgrader("release_feedback", TP)
    page = ada.feedback()
    assert "And what does it read in use?" in page and fault.feedback.split("`")[0] not in page
    page = bob.feedback()
    assert fault.feedback.split("`")[0] in page and "And what does it read in use?" not in page
    for cell in oracle.source.by_role("answer"):
        assert cell.hidden.splitlines()[0][:60] not in page and "Rubric" not in page
