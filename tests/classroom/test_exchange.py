"""The round trip of a term: an instructor and two students, each with a home of their own, over nbgrader's own exchange."""

import os
import re
import subprocess
import sys
from datetime import datetime, timezone

import nbformat
import pytest
from nbgrader.api import Gradebook

from autograder import demo
from autograder.classroom import Course, grade_class
from autograder.oracle import oracle
from autograder.source import ROOT

pytestmark = pytest.mark.slow
TP, ANSWER = "tp3_seq2seq", "why-forcing"


class Person:
    """Somebody with a home folder, who types nbgrader's commands in a folder of theirs."""

    def __init__(self, name, home, folder):
        self.name, self.folder = name, folder
        home.mkdir()
        folder.mkdir(exist_ok=True)
        self.environment = {**os.environ, "HOME": str(home), **{f"JUPYTER_{kind}_DIR": str(home / kind.lower()) for kind in ("CONFIG", "DATA", "RUNTIME")}}

    def nbgrader(self, *command):
        done = subprocess.run([sys.executable, "-m", "nbgrader", *command], cwd=self.folder, env=self.environment, capture_output=True, text=True)
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
    """(instructor, ada, bob); the late penalty is the one that docs/instructors.md shows."""
    exchange = tmp_path / "exchange"
    exchange.mkdir()
    exchange.chmod(0o777)
    root = demo.course_root(tmp_path / "course", [TP])
    late = next(block for block in re.findall(r"```python\n(.*?)```", (ROOT / "docs/instructors.md").read_text(), re.S) if "TenPercentADay" in block)
    with open(root / "nbgrader_config.py", "a") as file:
        file.write(f"c.Exchange.root = {str(exchange)!r}\nc.ExchangeCollect.check_owner = False\n{late}")  # all three are one account here
    instructor = Person("instructor", tmp_path / "instructor", root)
    students = []
    for name in ("ada", "bob"):
        students.append(Person(name, tmp_path / name, tmp_path / f"{name}-work"))
        (students[-1].folder / "nbgrader_config.py").write_text(
            f"c = get_config()\nc.Exchange.root = {str(exchange)!r}\nc.CourseDirectory.course_id = 'seq2seq'\n")
    return instructor, *students


def grades(root):
    with Gradebook(f"sqlite:///{root}/gradebook/gradebook.db", "seq2seq") as gradebook:
        return {s.student.id: (s.score, s.late_submission_penalty) for s in gradebook.assignment_submissions(TP)}


def test_from_release_to_feedback(people):
    instructor, ada, bob = people
    root, right, truth = instructor.folder, demo.solved(TP), oracle(TP)
    mistake = truth.mistakes_of("encoder")[0]

    instructor.nbgrader("generate_assignment", TP, "--create", "--force")
    instructor.nbgrader("release_assignment", TP)
    ada.fetch({**right, ANSWER: "The decoder reads the right characters."})
    ada.submit()
    due = datetime.now(timezone.utc)
    bob.fetch({**right, "encoder": truth.text_of(mistake)})
    bob.submit()
    instructor.nbgrader("db", "assignment", "add", TP, f"--duedate={due:%Y-%m-%d %H:%M:%S.%f} UTC")
    instructor.nbgrader("collect", TP)

    outcomes = {o.handed.student: o for o in grade_class(Course(root), [TP])}
    assert not any(o.problem for o in outcomes.values())
    full, less = (outcomes[name].verdict["score"] for name in ("ada", "bob"))
    assert 0 < less < full
    assert grades(root) == {"ada": (full, 0), "bob": (less, pytest.approx(0.1 * less))}

    with Gradebook(f"sqlite:///{root}/gradebook/gradebook.db", "seq2seq") as gradebook:  # as formgrader enters them
        gradebook.find_grade(ANSWER, TP, TP, "ada").manual_score = 2
        gradebook.find_comment(ANSWER, TP, TP, "ada").manual_comment = "And what does it read in use?"
        gradebook.find_grade(ANSWER, TP, TP, "bob").manual_score = 3
        gradebook.db.commit()
    grade_class(Course(root), [TP], force=True)
    assert grades(root) == {"ada": (full + 2, 0), "bob": (less + 3, pytest.approx(0.1 * (less + 3)))}

    instructor.nbgrader("generate_feedback", TP)
    instructor.nbgrader("release_feedback", TP)
    page = ada.feedback()
    assert "And what does it read in use?" in page and mistake.says.split("`")[0] not in page
    page = bob.feedback()
    assert mistake.says.split("`")[0] in page and "And what does it read in use?" not in page
    for cell in truth.source.by_role("answer"):
        assert cell.hidden.splitlines()[0][:60] not in page and "Rubric" not in page
