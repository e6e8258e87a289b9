"""The page itself: a student's and an instructor's hour in JupyterLab, in a real browser.

Screenshots of every stage are kept in artefacts/browser.
"""

import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pytest
from PIL import Image
from test_screen_page import opened, screen

from autograder import cli
from autograder.classroom.demo import demo
from autograder.classroom.samples import classroom_in, hand_in
from autograder.course import Course
from autograder.model.oracle import load_oracle
from autograder.model.source import load_source
from autograder.publish.kit_files import start
from autograder.publish.notebooks import filled, solved
from autograder.runtime.notebook import handing_in
from browser import CONTRASTS, chromium
from conftest import REPOSITORY

pytestmark = pytest.mark.slow

ROOT, RELEASED = REPOSITORY.root, REPOSITORY.sessions
SHOTS = ROOT / "artefacts" / "browser"
TP, EXERCISE = "tp2_seq2seq", "encoder"
PATIENCE = 240_000  # milliseconds; loaded machines are slow, and nothing here measures time

# What JupyterLab and its own extensions say on the console is not ours.
NOT_OURS = ("favicon", "/api/", "/lab/api/", "/static/", "WebSocket", "Service worker", "jupyter-lsp", "jupytext",
            "sourcemap", "deprecated", "/assignments", "/courses", "manifest", "was preloaded", "ResizeObserver",
            "cdnjs.cloudflare.com", "MathJax")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A Jupyter server on a course of its own, with the released course in it: (url, the course)."""
    course = classroom_in(tmp_path_factory.mktemp("site") / "root", REPOSITORY, [TP])
    folder = course.root
    shutil.copytree(REPOSITORY.released, course.released, ignore=shutil.ignore_patterns("__pycache__"),
                    dirs_exist_ok=True)
    start.write_language_info(course.released)
    settings = folder / "settings" / "@jupyterlab"
    for name, values in {
        "notebook-extension/tracker": {"windowingMode": "none"},  # every cell is on the page
        "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False, "doNotDisturbMode": True},
    }.items():
        path = settings / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(values))
    runtime = folder / "runtime"
    environment = {**os.environ, "JUPYTER_RUNTIME_DIR": str(runtime), "JUPYTER_CONFIG_DIR": str(folder / "config"),
                   "TP_QUICK": "1", "OMP_NUM_THREADS": "1",
                   "PYTHONPATH": os.pathsep.join(map(str, (ROOT, REPOSITORY.released)))}
    with open(folder / "server.log", "w") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--expose-app-in-browser",
             "--ServerApp.port=0", f"--ServerApp.root_dir={folder}", "--IdentityProvider.token=course",
             f"--LabApp.user_settings_dir={folder / 'settings'}", f"--LabApp.workspaces_dir={folder / 'workspaces'}"],
            cwd=folder, env=environment, stdout=log, stderr=log)
    try:
        yield address(server, runtime), course
    finally:
        server.terminate()
        server.wait(30)


def address(server, runtime):
    """The URL of a server that has just been started."""
    for _ in range(1200):
        for path in runtime.glob("jpserver-*.json"):
            try:
                return json.loads(path.read_text())["url"]
            except ValueError:
                pass  # half written
        assert server.poll() is None, "the server did not start"
        time.sleep(0.1)
    raise AssertionError("the server says nothing")


@pytest.fixture
def tab(site, request):
    """A fresh browser tab that remembers what its console says; at the end it must have said nothing of ours."""
    context = chromium().new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    said = []

    def listen(message):
        if message.type == "error":
            said.append(f"{message.text} {message.location.get('url', '')}")

    page.on("console", listen)
    page.on("pageerror", lambda error: said.append(str(error)))
    yield page
    SHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SHOTS / f"{request.node.name}.png")
    context.close()
    ours = [line for line in said if not any(word in line for word in NOT_OURS)]
    assert ours == []


def shot(what, name):
    """Keep a picture of a page, or of a place on it."""
    SHOTS.mkdir(parents=True, exist_ok=True)
    what.screenshot(path=SHOTS / f"{name}.png")


# JupyterLab

# The texts of what has a bar beside it.
MARKED = "places => places.filter(one => getComputedStyle(one).borderLeftWidth == '5px').map(one => one.textContent)"
IDLE = "() => window.jupyterapp.shell.currentWidget.sessionContext.session?.kernel?.status == 'idle'"


def open_notebook(page, site, path):
    """Open a notebook in JupyterLab, its kernel ready."""
    url, _ = site
    page.goto(f"{url}lab/tree/{path}?token=course&reset")
    page.wait_for_function("() => window.jupyterapp?.shell.currentWidget?.content?.widgets?.length > 0")
    page.wait_for_function(IDLE)


def cell(page, cell_id):
    """The index of the cell with this id, or grade id, and its place on the page."""
    index = page.evaluate("""name => window.jupyterapp.shell.currentWidget.content.widgets.findIndex(
        cell => cell.model.id == name || cell.model.getMetadata('nbgrader')?.grade_id == name)""", cell_id)
    assert index >= 0, cell_id
    return index, page.locator(".jp-Notebook .jp-Cell").nth(index)


def run(page, index):
    """Run the cell of this index and wait until the kernel has nothing left to do."""
    page.evaluate("""async index => {
        const notebook = window.jupyterapp.shell.currentWidget.content;
        notebook.activeCellIndex = index;
        notebook.deselectAll();
        await window.jupyterapp.commands.execute('notebook:run-cell');
    }""", index)
    page.wait_for_function(IDLE)


def type_into(page, place, text):
    place.locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(text)


@pytest.mark.parametrize("name", RELEASED)
def test_every_released_notebook_opens_with_its_pictures(site, tab, name):
    open_notebook(tab, site, f"course/{name}/{name}.ipynb")
    assert tab.locator(".jp-Notebook h1").count() == 1
    pictures = tab.locator(".jp-Notebook .jp-MarkdownOutput img")
    for i in range(pictures.count()):
        picture = pictures.nth(i)
        picture.scroll_into_view_if_needed()
        tab.wait_for_function("image => image.complete && image.naturalWidth > 100", arg=picture.element_handle())
        assert len(picture.get_attribute("alt")) > 20
    tab.locator(".jp-Notebook h1").scroll_into_view_if_needed()
    assert not tab.evaluate("window.jupyterapp.shell.currentWidget.context.model.dirty")

    run(tab, cell(tab, "start")[0])
    tab.get_by_text("Cells with this bar are yours to fill.").wait_for()
    source = load_source(REPOSITORY, name)
    marked = tab.locator(".jp-CodeCell .jp-InputArea-editor").evaluate_all(MARKED)
    assert len(marked) == len(source.by_role("exercise")) and all("NotImplementedError" in text for text in marked)
    blank = tab.locator(".jp-MarkdownOutput p").evaluate_all(MARKED)
    assert blank == [handing_in.TEXT_STUB.strip("*")] * len(source.by_role("answer"))


def test_a_solution_is_typed_and_its_check_turns_green(site, tab):
    open_notebook(tab, site, f"course/{TP}/{TP}.ipynb")
    given = [each.grade_id for each in load_source(REPOSITORY, TP).by_role("given")]
    exercise, box = cell(tab, EXERCISE)
    check, place = cell(tab, f"check-{EXERCISE}")
    for index in sorted(cell(tab, name)[0] for name in given):
        if index < exercise:
            run(tab, index)
    run(tab, exercise)
    run(tab, check)
    place.get_by_text("not written yet").first.wait_for()
    shot(tab, "check_before")

    oracle = load_oracle(REPOSITORY, TP)
    fault = oracle.faults_of(EXERCISE)[0]
    type_into(tab, box, oracle.text_of(fault))
    run(tab, exercise)
    run(tab, check)
    place.locator(".tp-card.bad", has_text=fault.feedback.split("`")[0]).wait_for()
    for theme in ("JupyterLab Dark", "JupyterLab Light"):
        tab.evaluate("theme => window.jupyterapp.commands.execute('apputils:change-theme', {theme})", theme)
        tab.wait_for_function("theme => document.body.dataset.jpThemeName == theme", arg=theme)
        contrasts = place.locator(".tp-card").evaluate(CONTRASTS)
        assert len(contrasts) > 8 and [text for text, ratio in contrasts if ratio < 4.5] == []
        shot(tab, f"check_wrong_{theme.split()[1].lower()}")

    type_into(tab, box, solved(REPOSITORY, TP, EXERCISE)[EXERCISE])
    run(tab, exercise)
    run(tab, check)
    place.get_by_text("checks pass").first.wait_for()
    assert "✓" in place.inner_text() and "✗" not in place.inner_text()


LOOKING = '''
import sys; sys.path.insert(0, "..")
import numpy as np
import tp
weights = np.array([[0.7, 0.2, 0.1], [0.1, 0.1, 0.8]])
tp.attention_heatmap(weights, "1+2", "3\\n", title="by hand")
'''

EXPLORING = '''
def backwards(text):
    """A decoder that writes its input backwards."""
    if " " in text:
        raise ValueError("an expression has no spaces")
    steps = []
    for i, token in enumerate(text[::-1] + "\\n"):
        weights = np.full(len(text), 0.1 / len(text))
        weights[len(text) - 1 - i] += 0.9
        steps.append(tp.Step(read="=", written=token, distribution={token: 0.9, "x": 0.1}, source=text, weights=weights,
                             context=weights, beam=[(text[::-1][:i + 1], -0.1 * i), ("x", -3)]))
    return steps

def forwards(text):
    return backwards(text[::-1])

tp.explore({"backwards": backwards, "forwards": forwards}, "1+2")
'''


TRAINING = '''
import sys; sys.path.insert(0, "..")
import os, time
os.environ.pop("TP_QUICK", None)  # a run that is long enough to be interrupted
import tp
view = tp.live(seconds=3600, title="a long run")
'''

ROUND = '''
for step in view:
    time.sleep(0.02)
    view.log(loss=1 / (1 + step))
    if step % 10 == 0:
        view.sample(f"94+8={step}")
'''


def scratch(page, site, name, **cells):
    """A notebook of our own beside the course's, opened: cell id → code."""
    _, course = site
    made = [nbformat.v4.new_code_cell(code.strip(), id=cell_id) for cell_id, code in cells.items()]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    (course.released / "scratch").mkdir(exist_ok=True)
    nbformat.write(nbformat.v4.new_notebook(cells=made, metadata=kernel), course.released / "scratch" / f"{name}.ipynb")
    open_notebook(page, site, f"course/scratch/{name}.ipynb")


def test_training_is_seen_live_interrupted_and_resumed(site, tab):
    scratch(tab, site, "training", begin=TRAINING, round=ROUND)
    run(tab, cell(tab, "begin")[0])
    index, place = cell(tab, "round")
    steps = 0
    for _ in range(2):  # interrupted, and gone on with
        tab.evaluate("""index => {
            window.jupyterapp.shell.currentWidget.content.activeCellIndex = index;
            window.jupyterapp.commands.execute('notebook:run-cell');
        }""", index)
        place.locator("img[alt^='Curves over']").wait_for()
        place.get_by_text("steps/s").wait_for()  # the bar
        place.get_by_text("94+8=").first.wait_for()
        shot(tab, "training_live")
        tab.evaluate("() => window.jupyterapp.commands.execute('notebook:interrupt-kernel')")
        place.get_by_text("Stopping after this step").wait_for()
        place.locator("img").wait_for(state="detached")  # the curves are left to view.plot()
        before, steps = steps, int(re.search(r"a long run: (\d+) steps in", place.inner_text())[1])
        assert steps > before


def test_heatmap_and_explorer_appear_and_answer(site, tab):
    scratch(tab, site, "looking", looking=LOOKING, exploring=EXPLORING)
    index, place = cell(tab, "looking")
    run(tab, index)
    heatmap = place.locator("img")
    assert "3 attends most to 1 (0.70)" in heatmap.get_attribute("alt")
    place.get_by_text("The same as a table").click()
    assert place.get_by_role("cell", name="0.80").is_visible()

    index, place = cell(tab, "exploring")
    run(tab, index)
    place.get_by_text("Step 1 of 4: reads =, writes 2").wait_for()
    shot(place.locator(".jp-OutputArea"), "explorer_at_first")
    place.get_by_role("button", name="Next").click()
    place.get_by_text("Step 2 of 4: reads =, writes +").wait_for()
    place.get_by_role("combobox").select_option("forwards")
    place.get_by_text("Step 2 of 4: reads =, writes +").wait_for()
    box = place.get_by_role("textbox", name="Input")
    box.fill("45+67")
    box.press("Enter")
    place.get_by_text("Step 1 of 6: reads =, writes 4").wait_for()
    place.locator("img[alt*='forwards: 45+67']").wait_for()  # the still picture below follows
    beam = place.locator("caption", has_text="the beam")
    assert beam.is_visible()
    shot(place.locator(".jp-OutputArea"), "explorer_after_a_change")
    box.fill("4 apples")
    box.press("Enter")
    place.get_by_text("cannot read '4 apples': an expression has no spaces").first.wait_for()
    shot(place.locator(".jp-OutputArea"), "explorer_refuses")
    box.fill("45+67")
    box.press("Enter")
    place.get_by_role("checkbox").uncheck()
    beam.wait_for(state="hidden")


def test_without_widgets_and_in_an_export_the_still_remains(site, tab):
    scratch(tab, site, "bare", looking=LOOKING, hidden='sys.modules["ipywidgets"] = None', exploring=EXPLORING)
    for name in ("looking", "hidden", "exploring"):
        index, place = cell(tab, name)
        run(tab, index)
    still = "img[alt*='backwards: 1+2']"
    place.locator(still).wait_for()
    assert place.get_by_role("textbox", name="Input").count() == 0
    shot(place.locator(".jp-OutputArea"), "explorer_without_widgets")

    scratch(tab, site, "saved", looking=LOOKING, exploring=EXPLORING)  # with widgets, then saved and exported
    for name in ("looking", "exploring"):
        index, place = cell(tab, name)
        run(tab, index)
    place.get_by_text("Step 1 of 4: reads =, writes 2").wait_for()
    tab.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")
    saved = site[1].released / "scratch" / "saved.ipynb"
    subprocess.run([sys.executable, "-m", "nbconvert", "--to", "html", saved], check=True, capture_output=True)
    tab.goto(saved.with_suffix(".html").as_uri())
    tab.locator(still).wait_for()
    tab.get_by_role("cell", name="2+1 (-0.20)").wait_for()
    shot(tab, "explorer_exported")


def test_validate_reports(site, tab):
    open_notebook(tab, site, f"course/{TP}/{TP}.ipynb")
    tab.get_by_role("button", name="Validate").first.click()
    dialog = tab.locator(".jp-Dialog")
    dialog.get_by_text("The following cell failed").first.wait_for()  # nothing is written yet
    assert f'tp.check("{EXERCISE}")' in dialog.inner_text() and "not written yet" in dialog.inner_text()


# formgrader

HOSTILE = """Because of **teacher forcing**.

<script>document.title = "owned"</script> <img src="nowhere" onerror="document.title = 'owned'">"""


def test_formgrader_grades_a_submission_and_shows_its_feedback(site, tab):
    url, course = site
    oracle = load_oracle(REPOSITORY, TP)
    fault = oracle.faults_of(EXERCISE)[0]
    wrong = {**solved(REPOSITORY, TP), EXERCISE: oracle.text_of(fault), "why-forcing": HOSTILE}
    hand_in(course, "mia", TP, filled(REPOSITORY, TP, wrong))
    nbgrader(course, "generate_assignment", TP, "--create", "--force")

    tab.goto(f"{url}formgrader?token=course")
    tab.get_by_role("link", name=TP).first.wait_for()
    shot(tab, "formgrader_assignments")

    tab.goto(f"{url}formgrader/manage_submissions/{TP}?token=course")
    tab.get_by_role("link", name="mia").or_(tab.get_by_text("mia")).first.wait_for()
    tab.locator("td.autograde a, td.autograde button, .autograde a").first.click()
    tab.get_by_text("Successfully").or_(tab.get_by_text("success")).first.wait_for()
    shot(tab, "formgrader_graded")

    tab.goto(f"{url}formgrader/gradebook/{TP}/{TP}?token=course")
    tab.get_by_role("link", name="Submission #1").click()
    reason = tab.get_by_text(fault.feedback.split("`")[0][:40]).first
    reason.wait_for()
    reason.scroll_into_view_if_needed()
    shot(tab, "formgrader_reasons")
    answer = tab.locator(".nbgrader_cell", has=tab.locator("strong", has_text=re.compile("^teacher forcing$")))
    answer.scroll_into_view_if_needed()
    shot(tab, "formgrader_answer")
    assert "document.title" in answer.inner_text() and tab.title() != "owned"  # a script in an answer is shown, not run

    read_in_a_spreadsheet(course, "mia", "why-forcing", points="1.5", comment="Which errors?")
    tab.reload()
    expect = pytest.importorskip("playwright.sync_api").expect
    for field, value in (("input.score", "1.5"), ("textarea.comment", "Which errors?")):  # each comes by itself
        expect(answer.locator(field)).to_have_value(value, timeout=PATIENCE)
    shot(tab, "formgrader_entered")

    nbgrader(course, "generate_feedback", TP, "--force")
    tab.goto((course.gradebook / "feedback" / "mia" / TP / f"{TP}.html").as_uri())
    reason = tab.get_by_text(fault.feedback.split("`")[0][:40]).first
    reason.wait_for()
    pictures = tab.locator("img[src]")
    assert pictures.count() > 0
    for i in range(pictures.count()):
        assert pictures.nth(i).evaluate("image => image.naturalWidth") > 0
    tab.get_by_text("The whole notebook as it was graded").click()
    hint = tab.locator("details:not(.notebook)", has=tab.get_by_text("Hint 2 · the shape")).first
    hint.get_by_text("Hint 2").click()
    assert hint.locator("code").first.is_visible()
    reason.scroll_into_view_if_needed()
    shot(tab, "feedback_reasons")
    assert "document.title" in tab.inner_text("body") and tab.title().startswith("mia · ")
    tab.evaluate("scrollTo(0, 0)")


def read_in_a_spreadsheet(course, student, question, **cells):
    """Write the file of written answers, fill cells of one line, and enter it."""
    path = course.gradebook / "questions" / f"{TP}.csv"
    assert cli.main(["--course", str(course.root), "questions", TP]) == 0
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    (row,) = [row for row in rows if (row["student"], row["question"]) == (student, question)]
    row.update(cells)
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(row))
        writer.writeheader()
        writer.writerows(rows)
    assert cli.main(["--course", str(course.root), "questions", TP, "--enter", str(path)]) == 0


def nbgrader(course, *command):
    done = subprocess.run([sys.executable, "-m", "nbgrader", *command], cwd=course.root, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]


# Pictures for README.md: `make pictures` keeps them in images/pages

PICTURES = Path(os.environ.get("COURSE_PICTURES", SHOTS))


def picture(page, name, *places, most=900, edge=0):
    """Keep a picture of what lies from the first of these places to the last, at most so many pixels from its top.

    ``edge`` is how many pixels around it are shown.
    """
    boxes = [place.bounding_box() for place in places]
    top, left = min(box["y"] for box in boxes), min(box["x"] for box in boxes)
    right, bottom = max(box["x"] + box["width"] for box in boxes), max(box["y"] + box["height"] for box in boxes)
    clip = {"x": max(0, left - edge), "y": max(0, top - edge), "width": right - left + 2 * edge,
            "height": min(most, bottom - top + 2 * edge)}
    PICTURES.mkdir(parents=True, exist_ok=True)
    image = Image.open(io.BytesIO(page.screenshot(clip=clip, full_page=True)))
    image.convert("RGB").save(PICTURES / f"{name}.webp", quality=82, method=6)
    assert min(image.size) > 100 and len(image.getcolors(2**24)) > 20  # something is on it


def test_picture_of_a_notebook(site, tab):
    tab.set_viewport_size({"width": 960, "height": 1500})
    open_notebook(tab, site, f"course/{TP}/{TP}.ipynb")
    tab.evaluate("() => window.jupyterapp.commands.execute('application:toggle-left-area')")
    given = [cell(tab, str(one.grade_id))[0] for one in load_source(REPOSITORY, TP).by_role("given")]
    exercise, box = cell(tab, EXERCISE)
    check, place = cell(tab, f"check-{EXERCISE}")
    oracle = load_oracle(REPOSITORY, TP)
    fault = oracle.faults_of(EXERCISE)[0]
    type_into(tab, box, oracle.text_of(fault))
    for index in [*sorted(index for index in given if index < exercise), exercise, check]:
        run(tab, index)
    place.get_by_text(fault.feedback.split("`")[0].strip()).first.wait_for()
    place.scroll_into_view_if_needed()
    picture(tab, "notebook", box, place)


def test_picture_of_a_heatmap(site, tab):
    name = "tp5_translation"
    tab.set_viewport_size({"width": 1280, "height": 1300})
    shutil.copy(REPOSITORY.folder(name) / f"{name}.ipynb", site[1].released / name / "executed.ipynb")
    open_notebook(tab, site, f"course/{name}/executed.ipynb")
    heatmap = tab.locator("img[alt*='attends most to']").first
    heatmap.scroll_into_view_if_needed()
    picture(tab, "heatmap", heatmap)


def test_pictures_of_a_class(tab):
    tab.set_viewport_size({"width": 960, "height": 900})
    assert demo(REPOSITORY, TP) == 0
    gradebook = REPOSITORY.root / "artefacts" / "demo" / "gradebook"
    tab.goto((gradebook / "report" / "index.html").as_uri())
    grid = tab.locator("table.grid")
    grid.get_by_role("link", name="max-always-forced").wait_for()
    picture(tab, "report", tab.get_by_role("heading", name="At a glance"), tab.locator(".signs").first, grid, edge=10)
    tab.goto((gradebook / "feedback" / "max-always-forced" / TP / f"{TP}.html").as_uri())
    picture(tab, "feedback", tab.locator("main"), most=1300, edge=10)
    with screen(Course(gradebook.parent)) as place:
        tab.set_viewport_size({"width": 1280, "height": 900})
        opened(tab, place)
        tab.keyboard.press("n")
        tab.locator("#detail article").first.wait_for()
        picture(tab, "screen", tab.locator("body"))
