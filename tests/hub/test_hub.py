"""A term on a real JupyterHub, in the browser: an instructor and two students, each an account of this machine.

Screenshots of every stage are kept in artefacts/hub.
"""

import json
import re
import time

import nbformat
import pytest
from running import running_hub

from autograder.model.oracle import load_oracle
from autograder.publish.notebooks import solved
from browser import chromium
from conftest import REPOSITORY, automatic_points

pytestmark = pytest.mark.slow
SHOTS = REPOSITORY.root / "artefacts" / "hub"
TP, EXERCISE, ANSWER = "tp2_seq2seq", "encoder", "why-forcing"
PATIENCE = 240_000  # milliseconds; loaded machines are slow, and nothing here measures time
IDLE = "() => window.jupyterapp.shell.currentWidget.sessionContext.session?.kernel?.status == 'idle'"


class Person:
    """Somebody who is logged in and sits before JupyterLab."""

    def __init__(self, hub, account, exchange):
        self.account, self.base, self._exchange = account, f"{hub.url}/user/{account.name}", exchange
        self.page = chromium().new_context(viewport={"width": 1280, "height": 900}).new_page()
        self.page.set_default_timeout(PATIENCE)
        self.page.goto(f"{hub.url}/hub/login")
        self.page.fill("#username_input", account.name)
        self.page.fill("#password_input", account.password)
        self.page.click("#login_submit")
        self.page.wait_for_url(f"{self.base}/lab**")
        self.lab()

    def lab(self, path=""):
        """JupyterLab, with this file open or none."""
        self.page.goto(f"{self.base}/lab{path}?reset")
        self.page.wait_for_function("() => window.jupyterapp && document.querySelector('.jp-DirListing-content')")

    def shot(self, name):
        """Keep a picture of the page."""
        SHOTS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=SHOTS / f"{self._exchange}-{self.account.name.split('-')[0]}-{name}.png")

    def menu(self):
        """What nbgrader's menu offers."""
        self.page.get_by_role("menuitem", name="Nbgrader").click()
        self.page.get_by_role("menuitem", name="Assignment List").wait_for()
        offered = self.page.locator(".lm-Menu-item:not(.lm-mod-hidden) .lm-Menu-itemLabel").all_inner_texts()
        self.page.keyboard.press("Escape")
        return [label for label in offered if label]

    def types(self, command):
        """Type a command in a terminal of JupyterLab; what it printed, and its exit status."""
        ready, said, status = (self.account.home / name for name in (".ready", ".said", ".status"))
        for old in (ready, status):
            old.unlink(missing_ok=True)
        self.lab()
        self.page.evaluate("() => { window.jupyterapp.commands.execute('terminal:create-new') }")
        self.page.locator(".jp-Terminal .xterm").click()
        self._until(lambda: self.page.keyboard.type("touch ~/.ready\n") or ready.exists(), "the terminal", 1)
        self.page.keyboard.type(f"({command}) > ~/.said 2>&1; echo $? > ~/.status\n")
        self._until(lambda: status.exists() and status.read_text().strip(), command)
        self.shot("terminal")
        return said.read_text(), int(status.read_text())

    def _until(self, done, what, pause=0.1):
        end = time.monotonic() + PATIENCE / 1000
        while not done():
            assert time.monotonic() < end, f"{what}: still not done"
            time.sleep(pause)

    def does(self, command):
        """Type a command that must succeed; what it printed."""
        said, status = self.types(command)
        assert status == 0, f"{command}: {said}"
        return said

    # a student

    def assignments(self):
        """nbgrader's list of assignments, in a tab of JupyterLab."""
        self.lab()
        self.page.evaluate("() => { window.jupyterapp.commands.execute('nbgrader:open-assignment-list') }")
        return self.page.locator("#assignments")

    def fetches(self):
        """Fetch the TP with a click."""
        self.assignments().locator("#released_assignments_list").get_by_role("button", name="Fetch").click()
        self.page.locator("#fetched_assignments_list").get_by_role("button", name="Submit").wait_for()
        self.shot("fetched")

    def submits(self):
        """Submit the TP with a click."""
        self.assignments().locator("#fetched_assignments_list").get_by_role("button", name="Submit").click()
        self.page.locator("#submitted_assignments_list").get_by_text(TP).first.wait_for()
        self.shot("submitted")

    def solves(self, exercise):
        """Open the notebook, type the solution of an exercise, run it and its check, and save."""
        self.lab(f"/tree/{TP}/{TP}.ipynb")
        self.page.wait_for_function("() => window.jupyterapp.shell.currentWidget?.content?.widgets?.length > 0")
        self.page.wait_for_function(IDLE)
        given = [cell.grade_id for cell in load_oracle(REPOSITORY, TP).source.by_role("given")]
        index = self._index(exercise)
        for before in sorted(map(self._index, given)):
            if before < index:
                self._run(before)
        self.page.evaluate("""([index, text]) => {
            window.jupyterapp.shell.currentWidget.content.widgets[index].model.sharedModel.setSource(text) }""",
                           [index, solved(REPOSITORY, TP, exercise)[exercise]])
        self._run(index)
        self._run(self._index(f"check-{exercise}"))
        self.page.locator(".jp-Notebook").get_by_text("checks pass").first.wait_for()
        self.shot("works")
        self.page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")

    def _index(self, name):
        return self.page.evaluate("""name => window.jupyterapp.shell.currentWidget.content.widgets.findIndex(
            cell => cell.model.id == name || cell.model.getMetadata('nbgrader')?.grade_id == name)""", name)

    def _run(self, index):
        self.page.evaluate("""async index => {
            const notebook = window.jupyterapp.shell.currentWidget.content;
            notebook.activeCellIndex = index;
            notebook.deselectAll();
            await window.jupyterapp.commands.execute('notebook:run-cell');
        }""", index)
        self.page.wait_for_function(IDLE)

    def reads_feedback(self):
        """Fetch the feedback with a click; the page."""
        self.assignments().locator("#submitted_assignments_list").get_by_role("button", name="Fetch Feedback").click()
        self.page.locator("#submitted_assignments_list").get_by_text("view feedback").first.wait_for()
        self.shot("feedback")
        (page,) = (self.account.home / TP / "feedback").rglob("*.html")
        return page.read_text(encoding="utf-8")

    # an instructor

    def formgrader(self):
        """formgrader's page, in its tab of JupyterLab; the frame."""
        self.lab()
        self.page.evaluate("() => { window.jupyterapp.commands.execute('nbgrader:open-formgrader') }")
        frame = self.page.frame_locator("iframe")
        frame.get_by_role("link", name="Manual Grading").wait_for()
        return frame

    def clicks(self, column):
        """Click what stands in this column of formgrader's table, in the row of the TP."""
        frame = self.formgrader()
        frame.locator("tr", has_text=TP).locator(f"td.{column} a").click()
        frame.get_by_text(re.compile("Successfully|There was an error")).first.wait_for()
        self.shot(column)
        assert frame.get_by_text("Successfully").count(), frame.locator(".modal-body").inner_text()

    def reads(self, answer, words, points):
        """Find the answer with these words, with model answer and rubric beside it, and give it points."""
        frame = self.formgrader()
        here = frame.locator(".breadcrumb .active")  # each page has a link of that name: which one is it?
        frame.get_by_role("link", name="Manual Grading").click()
        here.get_by_text("Manual Grading").wait_for()
        frame.get_by_role("link", name=TP).click()
        here.get_by_text(TP).wait_for()
        for number in (1, 2):  # formgrader hides whose is whose
            frame.get_by_role("link", name=TP).last.click()
            frame.get_by_role("link", name=f"Submission #{number}").click()
            cell = frame.locator(".nbgrader_cell", has=frame.locator(f"input#{answer}"))
            cell.wait_for()
            if words in cell.inner_text():
                break
        assert words in cell.inner_text()
        frame.get_by_text("Model answer and rubric").first.wait_for()
        cell.locator("input.score").fill(str(points))
        cell.locator("input.score").blur()
        frame.locator(f"input#{answer}:not(.needs_manual_grade)").wait_for()  # it is saved
        self.shot("rubric")


@pytest.fixture(scope="module", params=["folder", "ngshare"])
def exchange(request):
    """The way by which notebooks come and go."""
    return request.param


@pytest.fixture(scope="module")
def hub(exchange):
    """A hub with this exchange."""
    with running_hub(exchange) as running:
        yield running
        SHOTS.mkdir(parents=True, exist_ok=True)
        (SHOTS / f"{exchange}.log").write_text(running.log)


@pytest.fixture(scope="module")
def people(hub, exchange):
    """(instructor, ada, bob), logged in."""
    instructor, *students = (Person(hub, account, exchange) for account in (hub.instructor, *hub.students))
    if exchange == "ngshare":
        enrol = "ngshare-course-management"
        instructor.does(f"{enrol} create_course seq2seq {instructor.account.name}")
        for student in students:
            instructor.does(f"{enrol} add_student seq2seq {student.account.name}")
    return instructor, *students


def fill(account, cells):
    """What a student writes into the notebook that was fetched."""
    path = account.home / TP / f"{TP}.ipynb"
    notebook = nbformat.read(path, 4)
    for cell in notebook.cells:
        cell.source = cells.get(cell.metadata.get("nbgrader", {}).get("grade_id"), cell.source)
    nbformat.write(notebook, path)


def test_students_are_not_shown_what_is_for_graders(hub, people):
    instructor, ada, _ = people
    ada.shot("menu")
    assert ada.menu() == ["Assignment List"]
    assert {"Assignment List", "Formgrader", "Create assignment"} <= set(instructor.menu())
    said, status = ada.types(f"cat {hub.instructor.home}/seq2seq-course/solutions/{TP}/{TP}.py")
    assert status and "Permission denied" in said
    assert ada.page.request.get(f"{ada.base}/formgrader").status == 404
    policy = [person.page.request.get(f"{person.base}/lab").headers["content-security-policy"] for person in people]
    assert [one.split(";")[0] for one in policy] == ["frame-ancestors 'self'", *["frame-ancestors 'none'"] * 2]


def test_from_release_to_feedback(people):
    instructor, ada, bob = people
    oracle, right = load_oracle(REPOSITORY, TP), solved(REPOSITORY, TP)
    fault = oracle.faults_of(EXERCISE)[0]

    instructor.clicks("release")
    ada.fetches()
    ada.solves(EXERCISE)
    ada.submits()
    bob.does(f"nbgrader fetch_assignment {TP}")
    fill(bob.account, {**right, EXERCISE: oracle.text_of(fault), ANSWER: "The decoder reads the right characters."})
    bob.does(f"nbgrader submit {TP}")
    instructor.clicks("collect")

    said = instructor.does(f"cd seq2seq-course && autograder grade {TP} --device cpu --time-limit 60")
    verdicts = instructor.account.home / "seq2seq-course" / "gradebook" / "verdicts" / TP
    graded = {}
    for student in (ada.account.name, bob.account.name):
        assert student in said
        path = verdicts / f"{student}.json"
        assert path.owner() == instructor.account.name
        graded[student] = json.loads(path.read_text())["verdict"]
    assert {verdict["isolation"] for verdict in graded.values()} == {"bubblewrap"}
    assert graded[ada.account.name]["points"] == oracle.source.points(EXERCISE)
    points = automatic_points(REPOSITORY, TP)
    assert points - oracle.source.points(EXERCISE) <= graded[bob.account.name]["points"] < points

    instructor.reads(ANSWER, "right characters", points=2)

    instructor.does(f"cd seq2seq-course && autograder feedback {TP}")
    instructor.clicks("release-feedback")
    page = bob.reads_feedback()
    assert fault.feedback.split("`")[0] in page and re.search(r"(?<![\d.])2 / 3(?![\d.])", page)
    assert fault.feedback.split("`")[0] not in ada.reads_feedback()
