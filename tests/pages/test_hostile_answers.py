"""What a student writes and hands in beside the notebook acts on no page: one set of payloads, in a real browser."""

import json
import os
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest

import graded
from autograder.classroom.nbgrader.feedback_pages import update_pages
from autograder.classroom.nbgrader.term import Term
from autograder.classroom.student_work import StudentWork
from autograder.course import Course
from browser import chromium
from conftest import TINY

CAUGHT = "fetch('/caught')"
SCRIPT = f"<script>{CAUGHT}</script>"
SVG = f'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>{CAUGHT}</script></svg>'
CONFIGURATION = "import pathlib\npathlib.Path(__file__).with_name('ran').touch()\n"
PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(16)

# What lies beside the notebook.
FILES = {"plot.html": SCRIPT, "plot.htm": SCRIPT, "figure.svg": SVG, "page.png": SCRIPT, "data.xml":
         f'<x xmlns:h="http://www.w3.org/1999/xhtml"><h:script>{CAUGHT}</h:script></x>', "deep/er/plot.html": SCRIPT,
         "nbgrader_config.py": CONFIGURATION, "code.js": CAUGHT, "noname": SCRIPT}

# What an answer holds.
ANSWER = "\n\n".join([
    *(f"[{name}]({name}) [{name}](./{name}) ![{name}]({name}) <a href='{name}'>here</a>" for name in FILES),
    "[up](../../../submitted/eve/tp0_tiny/plot.html) [root](/files/gradebook/submitted/eve/tp0_tiny/plot.html)",
    "[course](../../../formgrader?path=gradebook/submitted/eve/tp0_tiny) [host](//localhost/x) [](plot.html)",
    "[escaped](%2e%2e%2fplot.html) [js](javascript:fetch('/caught')) [data](data:text/html,x) <base href='/caught/'>",
    SCRIPT, SVG, f"<img src=x onerror=\"{CAUGHT}\">", "<iframe src='plot.html'></iframe>",
    "<object data='plot.html'></object> <embed src='plot.html'> <link rel=stylesheet href='/caught'>",
    "<form action='/caught'><button>press</button></form> <meta http-equiv=refresh content='0;url=/caught'>",
    f"![s](data:image/svg+xml,{SVG.replace(' ', '%20')})",
    "<math><mi href='plot.html'>x</mi></math> $\\href{plot.html}{x}$",
])
PAGES = (pytest.param("formgrader", marks=pytest.mark.slow), "screen", "feedback")


@pytest.fixture(scope="module")
def eve(entered, tmp_path_factory):
    """The course, in which eve has handed in all of it."""
    folder = tmp_path_factory.mktemp("hostile") / "course"
    shutil.copytree(entered, folder)
    term = Term(Course(folder.resolve()))
    beside = term.course.gradebook / "submitted" / "eve" / TINY
    for name, text in FILES.items():
        (beside / name).parent.mkdir(parents=True, exist_ok=True)
        (beside / name).write_text(text)
    (beside / "real.png").write_bytes(PICTURE)
    graded.enter(term, "eve", {"why": f"{graded.question()}\n\n{ANSWER}"}, graded.verdict())
    return term


@contextmanager
def server(term, *more):
    """A Jupyter server in the course; its address. ``more`` stands at the end of nbgrader's configuration."""
    folder = term.course.root
    configuration = folder / "nbgrader_config.py"
    before = configuration.read_text()
    configuration.write_text("\n".join([before, *more, ""]))
    runtime = folder.parent / f"runtime-{len(more)}"
    environment = {**os.environ, "JUPYTER_RUNTIME_DIR": str(runtime),
                   "JUPYTER_CONFIG_DIR": str(folder.parent / "config")}
    process = subprocess.Popen(
        [sys.executable, "-m", "jupyter_server", "--no-browser", "--allow-root", "--ServerApp.port=0",
         f"--ServerApp.root_dir={folder}", "--IdentityProvider.token=course",
         "--ServerApp.jpserver_extensions={'nbgrader.server_extensions.formgrader': True, "
         "'autograder.classroom.screen': True}"],
        cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield _address(process, runtime)
    finally:
        process.terminate()
        process.wait(30)
        configuration.write_text(before)


def _address(process, runtime):
    for _ in range(1200):
        for path in runtime.glob("jpserver-*.json"):
            try:
                return json.loads(path.read_text())["url"]
            except ValueError:
                pass  # half written
        assert process.poll() is None, "the server did not start"
        time.sleep(0.1)
    raise AssertionError("the server says nothing")


@pytest.fixture(scope="module")
def formgrader(eve):
    with server(eve) as address:
        yield address


@contextmanager
def watched(address=None):
    """A browser context that is logged in, and the requests that only a payload makes."""
    context, caught = chromium().new_context(), []
    context.on("request", lambda request: "/caught" in request.url and caught.append(request.url))
    if address:
        page = context.new_page()
        page.goto(f"{address}formgrader?token=course")
        page.close()
    yield context, caught
    context.close()


def submission_of(term, student):
    with term.gradebook() as gradebook:
        return gradebook.stock.find_submission_notebook(TINY, TINY, student).id


def place_of(kind, term, request):
    """The address of a page that shows eve's answer, and that of the server it needs."""
    if kind == "formgrader":
        address = request.getfixturevalue("formgrader")
        return f"{address}formgrader/submissions/{submission_of(term, 'eve')}/", address
    if kind == "screen":
        address = request.getfixturevalue("formgrader")
        return f"{address}autograder", address
    update_pages(term, TINY)
    return StudentWork(term.course, TINY, "eve").feedback.as_uri(), None


@pytest.mark.parametrize("kind", PAGES)
def test_nothing_of_an_answer_acts(kind, eve, request):
    place, address = place_of(kind, eve, request)
    with watched(address) as (context, caught):
        page = context.new_page()
        page.goto(place)
        if kind == "screen":
            page.get_by_role("button", name="eve, why").click()
            page.locator("#detail article").first.wait_for()
        page.evaluate("document.querySelectorAll('details').forEach(fold => fold.open = true)")
        assert page.get_by_text("noname").count(), "the answer is on the page"
        links = page.eval_on_selector_all("a[href]", "all => all.map(one => one.getAttribute('href'))")
        assert [link for link in links if any(name in link for name in (*FILES, "formgrader?", "//localhost"))] == []
        sources = page.eval_on_selector_all("img", "all => all.map(one => one.getAttribute('src') || '')")
        assert [source for source in sources if any(name in source for name in FILES) or "svg" in source] == []
        page.wait_for_timeout(300)
        assert caught == []


GUESSES = [*FILES, "..%2f..%2f..%2fsubmitted%2feve%2ftp0_tiny%2fplot.html"]
STOCK_HEADERS = ("from tornado.web import StaticFileHandler",
                 "from nbgrader.server_extensions.formgrader import handlers",
                 "handlers.SubmissionFilesHandler.set_extra_headers = StaticFileHandler.set_extra_headers")
STOCK_COURSES = ("from autograder.classroom.nbgrader import serving", "serving.is_course = lambda folder: True")


def guessed(term, address):
    """What is caught when somebody opens each file at its address, whether or not it was taken over."""
    shown, beside = (term.course.gradebook / kind / "eve" / TINY for kind in ("autograded", "submitted"))
    shutil.copytree(beside, shown, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.ipynb"))
    with watched(address) as (context, caught):
        for name in GUESSES:
            page = context.new_page()
            try:
                page.goto(f"{address}formgrader/submissions/{submission_of(term, 'eve')}/{name}")
            except Exception as error:
                assert "Download is starting" in str(error), error
            page.wait_for_timeout(100)
            page.close()
        return [url for url in caught if url.startswith(address)]


@pytest.mark.slow  # starts a server with the guard and one without
def test_a_file_handed_in_has_no_origin(eve, formgrader):
    assert guessed(eve, formgrader) == []
    with server(eve, *STOCK_HEADERS) as stock:
        assert len(guessed(eve, stock)) >= 3


def ran(term, address):
    """Whether formgrader runs the configuration that lies beside a submission, when it is opened as a course."""
    folder = term.course.gradebook / "submitted" / "eve" / TINY
    with watched(address) as (context, _):
        context.new_page().goto(f"{address}formgrader?path={folder}")
    return (folder / "ran").exists()


@pytest.mark.slow  # starts a server with the guard and one without
def test_a_submission_is_no_course(eve, formgrader):
    assert not ran(eve, formgrader)
    with watched(formgrader) as (context, _):
        assert context.new_page().goto(f"{formgrader}formgrader?path={eve.course.root}").ok
    with server(eve, *STOCK_COURSES) as stock:
        assert ran(eve, stock)


def test_nothing_beside_a_notebook_is_taken_over(eve):
    graded.enter(eve, "eve", {"why": f"{graded.question()}\n\n{ANSWER}"}, graded.verdict())
    shown = eve.course.gradebook / "autograded" / "eve" / TINY
    there = {str(path.relative_to(shown)) for path in shown.rglob("*") if path.is_file()}
    assert there == {f"{TINY}.ipynb", "timestamp.txt"}
