"""The instructor's screen on a Jupyter Server: what is clicked stands in the gradebook, and nothing of it is lost."""

import http.cookiejar
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace

import pytest

import graded
from autograder.classroom import assessments, questions, report
from autograder.classroom.nbgrader.term import Term
from autograder.classroom.samples import hand_in
from autograder.classroom.screen import background, updates, views
from autograder.course import Course
from autograder.judging.submission import parse
from autograder.model.source import load_source
from autograder.publish.notebooks import filled, solved
from autograder.sandbox.options import Limits, Options
from browser import OPEN, SCREENS, all_can_be_read, chromium_page
from conftest import TINY, TINY_COURSE

TOKEN = "abc"
SAME = "The same words."
CHEAT = "import torch\ntorch.testing.assert_close = lambda *a, **k: True\nopen('/srv/solutions/x.py').read()\n"


def classroom(folder):
    """A graded class: three students with the same answer, one who tampers."""
    made = graded.classroom(folder)
    right = solved(TINY_COURSE, TINY)
    for name in ("carl", "dora", "fay"):
        graded.enter(made, name, {**right, "why": f"{graded.question()}\n\n{SAME}"}, graded.verdict())
    graded.enter(made, "kim", {**right, "double": CHEAT + right["double"]}, graded.verdict(graded.squared()))
    return made


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """The folder of that class."""
    return classroom(tmp_path_factory.mktemp("screen") / "course").course.root


@pytest.fixture
def term(place, tmp_path):
    """That class, as it was when the test is over."""
    shutil.copytree(place / "gradebook", tmp_path / "before")
    yield Term(Course(place))
    (place / "gradebook").rename(tmp_path / "after")  # not removed: the server may still read it
    (tmp_path / "before").rename(place / "gradebook")


@contextmanager
def screen(course):
    """The address of a running screen."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    env = {**os.environ, "JUPYTER_TOKEN": TOKEN}
    command = [sys.executable, "-m", "autograder", "open", "--no-browser", "--port", str(port)]
    with open(course.root / "server.log", "wb") as log:
        server = subprocess.Popen(command, cwd=course.root, env=env, stdout=log, stderr=log,
                                  start_new_session=True)
    try:
        for _ in range(240):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/api", timeout=5).read()
                break
            except OSError:
                time.sleep(0.5)
        yield f"http://127.0.0.1:{port}"
    finally:
        os.killpg(server.pid, 15)
        server.wait(30)


@pytest.fixture(scope="module")
def address(place):
    """The address of its screen, which is started once."""
    with screen(Course(place)) as address:
        yield address


def points(term, student, cell="why"):
    with term.gradebook() as gradebook:
        return gradebook.grades_of(TINY, student)[student].scores[cell].points


def saved(page, word="Saved", place="#told"):
    """Wait for the words; what is there instead is in the error."""
    expect = pytest.importorskip("playwright.sync_api").expect
    expect(page.locator(place)).to_contain_text(word, timeout=120_000)


def is_saved(response, points, comment):
    """Whether this answers the request that saves so many points with this comment: saves come one after the other."""
    sent = response.request.post_data_json if response.request.method == "POST" else None
    return bool(sent) and (sent.get("points"), sent.get("comment")) == (points, comment)


def write(page, comment):
    """Write a comment on the framed answer, by keyboard alone."""
    page.keyboard.press("c")
    page.keyboard.type(comment)
    page.keyboard.press("Escape")


def opened(page, address):
    page.goto(f"{address}/autograder?token={TOKEN}")
    page.locator("#grid tbody tr").first.wait_for()


def test_a_class_is_read_and_saved_by_two_people_at_once(term, address):
    with chromium_page() as page, chromium_page() as other:
        asked = []
        page.on("request", lambda request: asked.append(request.url))
        page.on("pageerror", lambda error: pytest.fail(str(error)))
        page.on("dialog", lambda dialog: pytest.fail(dialog.message))
        opened(page, address)
        assert "5 answers unread" in page.inner_text("#count") and "1 tampered" in page.inner_text("#count")
        assert "replaces torch.testing.assert_close" in page.get_by_role("img", name="tampered").get_attribute("title")
        page.get_by_role("button", name="of 10").click()  # sorted by points, the most first
        assert page.locator("#grid tbody th").first.inner_text() == "ada"
        page.locator("#filter").fill("squared")
        assert page.locator("#grid tbody tr").count() == 2
        page.locator("#filter").fill("")

        page.get_by_role("button", name="bob, double").click()
        page.locator("#detail .give").wait_for()
        assert "You square the input." in page.inner_text("#detail")
        assert "return x * x" in page.locator("#detail .line").last.inner_text()
        page.get_by_label("Points of your own").fill("1.5")
        page.get_by_label("Points of your own").press("Tab")
        saved(page)
        assert points(term, "bob", "check-double") == 1.5

        opened(other, address)
        other.keyboard.press("n")
        other.locator("#detail article").first.wait_for()
        page.keyboard.press("Escape")
        page.keyboard.press("n")  # the keys work at once: no click before them
        page.locator("#detail article.current", has_text=SAME).wait_for()
        assert "the same words from 3 students" in page.inner_text("#detail article.current")
        page.keyboard.press("1")
        saved(page, "3 students")
        assert [points(term, name) for name in ("carl", "dora", "fay")] == [1.5] * 3
        assert assessments.load(term.course, TINY, "dora")["why"].items[0].given
        # `check()` would click a second time, on what replaces the box
        other.locator("#detail article", has_text=SAME).get_by_role("checkbox").nth(1).click()
        saved(other, "Not saved")
        assert [points(term, name) for name in ("carl", "dora", "fay")] == [1.5] * 3
        page.keyboard.press("z")
        page.locator("#count", has_text="5 answers unread").wait_for()
        assert points(term, "carl") is None

        page.get_by_role("button", name="Write feedback").click()
        page.locator("#told", has_text="Feedback written: 8 of 8").wait_for(timeout=120_000)
        assert {url.split("/autograder")[0] for url in asked if "/favicon" not in url} == {address}


def test_answers_are_read_by_keyboard_and_comments_are_offered_again(term, address):
    first, second = "-0.5: j is no key here", "=And why?"
    with chromium_page() as page:
        page.on("pageerror", lambda error: pytest.fail(str(error)))
        opened(page, address)
        press, current = page.keyboard.press, page.locator("#detail article.current")
        press("n")
        current.get_by_text(SAME).wait_for()
        assert "3 of 3 to read" in page.inner_text("#detail h2")
        assert "2 wrote nothing and have 0 points: " in page.inner_text("#detail")
        write(page, first)
        saved(page, "Not saved yet: a comment is saved with the points.")
        for key, points_shown in (("1", "1.5"), ("2", "2"), ("1", "0.5")):
            press(key)
            assert current.locator(".points b").inner_text() == points_shown
        saved(page, "3 students")
        assert "2 of 3 to read" in page.inner_text("#detail h2")
        press("n")
        press("a")
        press("Shift+Digit1")
        assert current.get_by_role("textbox").input_value() == first
        current.get_by_role("spinbutton").fill("1.25")
        current.get_by_role("spinbutton").press("Escape")
        write(page, f"\n{second}")
        press("n")
        press("0")
        offered = page.get_by_role("group", name="Comments written before").get_by_role("button")
        assert offered.count() == 2
        with page.expect_response(lambda response: is_saved(response, 0, f"{first}\n{second}"), timeout=120_000):
            offered.last.click()
        assert current.get_by_role("textbox").input_value() == f"{first}\n{second}"
        saved(page, "0 answers unread", "#count")
    assert sorted(points(term, name) for name in ("ada", "bob", "carl", "dora", "fay")) == [0, 0.5, 0.5, 0.5, 1.25]
    items = [assessments.load(term.course, TINY, student)["why"].items for student in ("carl", "ada", "bob")]
    given = [[item.given for item in of_student] for of_student in items]
    assert given[0] == [False, True] and sorted(given[1:]) == [[], [True, True]]
    with term.gradebook() as gradebook:
        grades = gradebook.grades_of(TINY)
    comments = [grades[student].comment("why") for student in ("carl", "ada", "bob")]
    assert comments == [first, f"{first}\n{second}", f"{first}\n{second}"]


def test_a_screen_reader_finds_names(address):
    with chromium_page() as page:
        opened(page, address)
        page.get_by_role("button", name="bob, why").click()
        page.locator("#detail article").first.wait_for()
        for student in ("ada", "bob"):
            article = page.get_by_role("article", name=student)
            assert article.get_by_role("group", name="Rubric").get_by_role("checkbox").count() == 2
            for role, name in (("checkbox", "a reason."), ("spinbutton", "Points"), ("textbox", "Comment")):
                assert article.get_by_role(role, name=name).count() == 1
        assert page.get_by_role("heading", level=1).count() == 1 == page.get_by_role("main").count()


def test_names_can_be_hidden_while_answers_are_read(term, address):
    names = re.compile(r"\b(ada|bob|carl|dora|eve|fay|kim|tom)\b")
    with chromium_page() as page:
        page.on("pageerror", lambda error: pytest.fail(str(error)))
        opened(page, address)
        page.get_by_role("button", name="bob, why").click()
        page.locator("#detail article").first.wait_for()
        assert names.search(page.inner_html("body"))
        page.get_by_label("hide names").check()
        assert not names.search(page.inner_html("body"))
        ada = questions.pseudonym(term, TINY, "ada")
        assert page.get_by_role("article", name=ada).count() == 1
        order = page.locator("#grid tbody bdi").all_inner_texts()
        assert len(order) == 8 and order == sorted(order)
        page.reload()
        page.get_by_role("button", name=f"{ada}, why").click()
        page.get_by_role("article", name=ada).get_by_role("checkbox").nth(1).click()
        saved(page, f"why, {ada}")
        assert not names.search(page.inner_html("body")) and points(term, "ada") == 0.5
        page.get_by_role("button", name=f"{ada}, double").click()
        page.locator("#detail h2", has_text=f"{ada} · double").wait_for()
        assert not names.search(page.inner_html("body"))
        page.get_by_label("hide names").uncheck()
        page.locator("#detail h2", has_text="ada · double").wait_for()


def test_a_table_that_has_not_changed_keeps_its_buttons(term, address):
    with chromium_page() as page:
        opened(page, address)
        page.wait_for_load_state("networkidle")
        page.evaluate("document.querySelector('#grid tbody button').isPressed = true")
        with page.expect_response(lambda response: "api/class" in response.url):
            page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        assert page.evaluate("document.querySelector('#grid tbody button').isPressed")
        page.get_by_label("hide names").check()
        assert not page.evaluate("document.querySelector('#grid tbody button').isPressed"), "it is drawn anew"


def test_a_class_that_is_asked_for_twice_is_drawn_once(address):
    """The second time before the first answer has come."""
    with chromium_page() as page:
        page.add_init_script("""document.addEventListener("DOMContentLoaded", () => {
            window.drawn = 0;
            new MutationObserver(seen => { window.drawn += seen.length; }).observe(
                document.getElementById("grid"), { childList: true });
            document.dispatchEvent(new Event("visibilitychange"));
        });""")
        answered = []
        page.on("requestfinished", lambda request: answered.append(request.url))
        opened(page, address)
        page.wait_for_load_state("networkidle")
        assert sum("api/class" in url for url in answered) >= 2 and page.evaluate("window.drawn") == 1


def test_a_student_with_an_odd_name_is_read(term, address):
    name = "=odd\u202e, \"name\";=x"
    graded.enter(term, name, {"why": "Because."}, graded.verdict())
    with chromium_page() as page:
        opened(page, address)
        page.get_by_role("button", name="odd").and_(page.get_by_role("button", name="why")).click()
        page.locator("#detail article.current", has_text="Because.").wait_for()
        page.keyboard.press("2")
        saved(page)
    assert points(term, name) == 0.5


def test_what_waits_to_be_saved_goes_to_the_session_in_which_it_was_typed(term, address):
    with chromium_page() as page:
        opened(page, address)
        held, warned = [], []
        page.route("**/api/save/answers?", lambda route: held.append(route))
        page.on("dialog", lambda dialog: (warned.append(dialog.type), dialog.dismiss()))
        page.keyboard.press("n")
        page.locator("#detail article.current", has_text=SAME).wait_for()
        page.keyboard.press("1")
        page.keyboard.press("2")
        page.evaluate("""() => {
            const select = document.getElementById("session");
            select.append(new Option("another", "another"));
            select.value = "another";
        }""")
        page.evaluate("location.reload()")
        page.wait_for_timeout(300)
        sent = []
        while len(sent) < 2:
            while not held:
                page.wait_for_timeout(50)
            route = held.pop()
            sent.append(route.request.post_data_json["session"])
            with page.expect_response(lambda response: "save/answers" in response.url):
                route.continue_()
        assert sent == [TINY, TINY] and warned == ["beforeunload"]
    assert points(term, "carl") == 2


def test_an_answer_whose_points_cannot_be_saved_is_not_shown_as_read(term, address):
    with chromium_page() as page:
        opened(page, address)
        page.route("**/api/save/answers?", lambda route: route.fulfill(status=500, json={"message": "it is locked"}))
        page.keyboard.press("n")
        current = page.locator("#detail article.current", has_text=SAME)
        current.wait_for()
        page.keyboard.press("1")
        saved(page, "it is locked")
        assert "not saved" in current.locator(".points").inner_text()
        assert "3 of 3 to read" in page.inner_text("#detail h2")
        page.unroute("**/api/save/answers?")
        page.keyboard.press("2")
        saved(page, "Saved")
        assert "✓ read" in current.locator(".points").inner_text()
        assert "2 of 3 to read" in page.inner_text("#detail h2")
    assert points(term, "carl") == 2


def test_points_above_the_maximum_are_not_saved_and_a_sentence_says_so(term, address):
    with chromium_page() as page:
        opened(page, address)
        page.keyboard.press("n")
        current = page.locator("#detail article.current", has_text=SAME)
        current.wait_for()
        current.locator("input[type=number]").fill("9")
        current.locator("textarea").focus()
        saved(page, "Not saved.")
        assert points(term, "carl") is None
        current.locator("input[type=number]").fill("2")
        current.locator("textarea").focus()
        saved(page, "Saved")
    assert points(term, "carl") == 2


def test_points_of_an_earlier_answer_stand_beside_the_one_to_be_read(term):
    def group():
        return next(group for group in views.question(term, TINY, "why")["groups"]
                    if "ada" in {one["student"] for one in group["students"]})

    assert (group()["points"], group()["earlier"]) == (None, None)
    question = views.find_question(term, TINY, "why")
    answer = next(answer for answer in question.answers if answer.student == "ada")
    questions.save_entries(term, [questions.AnswerEntry(question, answer, assessments.Assessment(1.5, ()), "")])
    assert (group()["points"], group()["earlier"]) == (1.5, None)
    graded.enter(term, "ada", {"why": "Another."}, graded.verdict())
    assert (group()["points"], group()["earlier"]) == (None, 1.5)


def test_nothing_of_an_answer_is_alive_in_what_the_screen_gets(term):
    (answer,) = [group["page"] for group in views.question(term, TINY, "why")["groups"] if "alert(1)" in group["page"]]
    assert "<script" not in answer and "onerror" not in answer.replace("onerror=&quot;", "")
    assert "tracker.example" not in re.findall(r'src="([^"]*)"', answer)


def test_one_or_all_are_graded_again_while_somebody_reads(term, address):
    with chromium_page() as page, chromium_page() as other:
        opened(page, address)
        page.get_by_role("button", name="bob, double").click()
        page.get_by_label("Points of your own").fill("1.5")
        page.get_by_label("Points of your own").press("Tab")
        saved(page)
        page.get_by_role("button", name="Grade this student again").click()
        page.locator("#told", has_text="Graded: 1 of 1.").wait_for(timeout=200_000)
        assert points(term, "bob", "check-double") == 1.5
        assert points(term, "ada", "check-double") == 2

        page.on("dialog", lambda dialog: dialog.accept())
        page.get_by_role("button", name="Grade again").click()
        page.locator("#task progress").wait_for()
        opened(other, address)
        other.keyboard.press("n")
        other.locator("#detail article", has_text=SAME).get_by_role("checkbox").first.click()
        saved(other, "3 students")
        page.locator("#told", has_text="Graded: 8 of 8.").wait_for(timeout=400_000)
        assert [points(term, name) for name in ("carl", "dora", "fay")] == [1.5] * 3
        assert points(term, "bob", "check-double") == 1.5
        other.locator("#told", has_text="Graded: 8 of 8.").wait_for(timeout=60_000)


def test_feedback_is_released_over_the_exchange_to_those_who_submitted_there(term, tmp_path):
    exchange = tmp_path / "exchange"
    exchange.mkdir(mode=0o777)
    term = Term(Course(shutil.copytree(term.course.root, tmp_path / "course")))
    with open(term.course.root / "nbgrader_config.py", "a") as file:
        file.write(f"c.Exchange.root = {str(exchange)!r}\n")
    for kind in ("autograded", "submitted"):
        for name, text in {"submission_secret": "s" * 64, "timestamp": "2026-01-01 00:00:00 UTC"}.items():
            (term.course.gradebook / kind / "ada" / TINY / f"{name}.txt").write_text(text)
    with screen(term.course) as address, chromium_page() as page, chromium_page() as other:
        opened(page, address)
        opened(other, address)
        page.get_by_role("button", name="Write feedback").click()
        page.locator("#task progress").wait_for()
        page.locator("#told", has_text="Feedback written: 8 of 8. Released over the exchange: 1.").wait_for()
        (released,) = exchange.glob("sample/feedback/*.html")
        assert "ada" in released.read_text()
        released.unlink()
        other.reload()  # pages that are written already can be released again
        other.get_by_role("button", name="Write feedback").click()
        other.locator("#told", has_text="Released over the exchange: 1.").wait_for()
        assert released.is_file()


def test_feedback_says_after_each_page_how_far_it_is(term, capsys):
    assert background.main([str(term.course.root), "feedback", TINY]) == 0
    steps = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(step["done"], step["of"]) for step in steps] == [(done, 8) for done in range(9)]


def test_submissions_are_graded_again_under_the_limits_of_their_class(term):
    def seconds(*student):
        return background.options_on_screen(term, TINY, *student).limits.exercise_cpu_seconds

    term.config.SaveVerdict.exercise_cpu_seconds = 45.0
    for entry in term.store.entries(TINY):
        limits = Limits().scaled(30 if entry.student == "ada" else 60)
        term.store.save(replace(entry, key=replace(entry.key, options=Options(limits=limits))))
    assert (seconds(), seconds("ada"), seconds("new")) == (60, 30, 60)
    shutil.rmtree(term.course.gradebook / "verdicts")
    assert (seconds(), seconds("ada")) == (45, 45)


def test_all_can_be_read_on_every_screen(term, address):
    for width, scheme in SCREENS:
        with chromium_page(viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True) as page:
            opened(page, address)
            for student, name in (("bob", "double"), ("bob", "why"), ("kim", "double")):
                page.get_by_role("button", name=f"{student}, {name}").click()
                page.locator("#detail h2", has_text=name).wait_for()
                page.evaluate(OPEN)
                all_can_be_read(page, wider="[]")
            page.get_by_role("button", name="carl, why").click()
            page.locator("#detail article.current", has_text=SAME).wait_for()
            page.keyboard.press("a")
            write(page, f"A comment that is longer than one line of a telephone {width} pixels wide, in {scheme}.")
            saved(page)
            page.get_by_role("button", name="bob, why").click()
            page.locator("#detail article.current", has_text="alert(1)").wait_for()
            page.keyboard.press("k")
            page.keyboard.press("j")
            all_can_be_read(page, wider="[]")
            answer, bar = (page.locator(f"#detail {place}").bounding_box() for place in ("article.current", ".earlier"))
            assert answer["y"] + answer["height"] <= bar["y"]  # nothing lies over it


def test_nobody_writes_without_a_login_and_jupyters_token(address):
    def send(path, body=None, token=""):
        request = urllib.request.Request(f"{address}{path}", body and json.dumps(body).encode(),
                                         {"Authorization": f"token {token}"} if token else {})
        try:
            with urllib.request.urlopen(request) as reply:
                return reply.status, reply.headers, reply.read().decode(), reply.url
        except urllib.error.HTTPError as error:
            return error.code, error.headers, "", request.full_url

    assert "/login" in send("/autograder")[3] and send("/autograder/api/save/points", {"session": TINY})[0] == 403
    status, headers, page, _ = send("/autograder", token=TOKEN)
    assert status == 200 and "script-src 'self'" in headers["Content-Security-Policy"]
    assert not re.search(r"<script(?! src)", page)
    assert send(f"/autograder/feedback/{TINY}/..%2f..%2fsubmitted%2fada", token=TOKEN)[0] == 404


def test_another_site_writes_nothing_with_the_browsers_login(address, term):
    """Jupyter refuses a foreign origin before a handler is called; the same request of the page itself is answered."""
    jar = http.cookiejar.CookieJar()
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))
    browser.open(f"{address}/autograder?token={TOKEN}").read()
    xsrf = next(one.value for one in jar if one.name.startswith("_xsrf"))

    def answer(path, body, **headers):
        request = urllib.request.Request(f"{address}/autograder/api/{path}", json.dumps(body).encode(), headers)
        try:
            with browser.open(request) as reply:
                return reply.status
        except urllib.error.HTTPError as error:
            return error.code

    def points():
        with term.gradebook() as gradebook:
            return gradebook.grades_of(TINY)["kim"].scores["check-double"].points

    shown = json.load(browser.open(f"{address}/autograder/api/exercise?session={TINY}&student=kim&name=double"))
    given = {"session": TINY, "student": "kim", "name": "double", "points": shown["max"], "comment": "",
             "digest": shown["digest"]}
    before, token = points(), {"X-XSRFToken": xsrf}
    foreign = [{**token, "Origin": "https://evil.example"}, {**token, "Origin": "null"}, {"Origin": address}, {}]
    for headers in foreign:
        body = {**given, "kind": "feedback"}
        assert {answer(path, body, **headers) for path in ("save/points", "task")} <= {403, 404}
    assert points() == before != shown["max"] and not (term.course.gradebook / "feedback").exists()
    assert answer("save/points", given, **token, Origin=address) == 200 and points() == shown["max"]


def status(address, path, body=None):
    """The status with which the screen answers a request."""
    headers = {"Authorization": f"token {TOKEN}", "Content-Type": "application/json"}
    try:
        request = urllib.request.Request(f"{address}/autograder/{path}", body, headers)
        with urllib.request.urlopen(request) as reply:
            return reply.status
    except urllib.error.HTTPError as error:
        return error.code


def test_requests_at_the_same_time_are_all_answered(address, term):
    """Each runs in a thread of its own; the first ones make the secret and read the sources."""
    (term.course.gradebook / "secret").unlink(missing_ok=True)
    asked = [f"api/class?session={TINY}", f"api/question?session={TINY}&name=why",
             f"api/exercise?session={TINY}&student=bob&name=double"]
    with ThreadPoolExecutor(8) as threads:
        answered = list(threads.map(lambda one: status(address, one), 40 * asked))
    assert answered == [200] * 120


def test_what_is_no_request_of_the_page_is_not_an_error_of_the_server(address):
    def answer(path, body=None):
        return status(address, path, body)

    one = {"session": TINY, "student": "ada", "name": "double", "digest": "", "points": 1, "comment": ""}
    several = {"session": TINY, "name": "why", "students": [], "ticks": [True, True], "points": 1, "comment": ""}
    bodies = [[], None, 3, "x", {}, {"session": 3}, one, {**one, "session": "nothing"}, {**one, "student": "nobody"},
              {**one, "student": {"a": 1}}, {**one, "student": "\ud800"}, {**one, "points": "much"},
              {**one, "points": True}, {**one, "points": 10**400}, {**several, "students": 3},
              {**several, "students": [3]}, {**several, "students": [{}]}, {**several, "students": None},
              {**several, "students": [{"student": "ada"}]},
              {**several, "students": [{"student": "nobody", "digest": ""}]},
              {**several, "ticks": 3}, {**several, "ticks": [1] * 9}, {**several, "ticks": [True] * 9}]
    sent = [json.dumps(body).encode() for body in bodies] + [b"{", b"\xff", b"[" * 100_000, b"\x00"]
    assert {answer(f"api/save/{kind}", body) for kind in ("points", "answers") for body in sent} <= {400, 404, 409}
    assert {answer("api/task", body) for body in sent} <= {400, 404}
    asked = [f"{what}?session={session}&student={student}&name={name}" for what in ("class", "exercise", "question")
             for session in ("", "nothing", TINY) for student in ("", "..%2f..", "%00", "%ff") for name in ("", "%00")]
    assert {answer(f"api/{one}") for one in asked if one.split("?")[0] != "class" or TINY not in one} <= {400, 404}
    assert {answer(f"feedback/{one}/{TINY}") for one in (TINY, "x")} == {404}
    assert answer(f"feedback/{TINY}/%00") == answer(f"feedback/{TINY}/{'a' * 300}") == 404
    assert answer(f"api/class?session={TINY}") == 200


def test_what_is_handed_in_after_grading_shows_and_is_graded_alone(term, address):
    def seeds():
        return {entry.student: entry.verdict.seed for entry in term.store.entries(TINY)}

    before = seeds()
    with chromium_page() as page:
        page.on("pageerror", lambda error: pytest.fail(str(error)))
        opened(page, address)
        assert not page.locator("#new").is_visible() and not page.locator("#arrived").is_visible()
        right = solved(TINY_COURSE, TINY)
        hand_in(term.course, "zoe", TINY, filled(TINY_COURSE, TINY, right))
        hand_in(term.course, "bob", TINY, filled(TINY_COURSE, TINY, right))
        page.reload()
        page.locator("#arrived", has_text="bob (again), zoe").wait_for()
        page.get_by_role("button", name="Grade 2 new").click()
        page.locator("#told", has_text="Graded: 2 of 2.").wait_for(timeout=300_000)
        page.locator("#arrived").wait_for(state="hidden")
        assert points(term, "zoe", "check-double") == points(term, "bob", "check-double") == 2
        assert "zoe" in page.inner_text("#grid") and "×2" in page.inner_text("#grid")
    after = seeds()
    assert {name for name in after if after[name] != before.get(name)} == {"bob", "zoe"}


def test_points_are_checked_and_digests_too(term):
    def save(points, comment, digest):
        return updates.save_points(term, updates.PointsRequest(TINY, "bob", "double", digest, points, comment))

    seen = views.exercise(term, TINY, "bob", "double")
    for wrong in (-1.0, 2.5, float("nan")):
        with pytest.raises(views.CourseError, match="points are from 0 to 2"):
            save(wrong, "", seen["digest"])
    assert save(1.0, "so", seen["digest"])["points"] == 1.0
    with pytest.raises(updates.ConflictError):
        save(2.0, "", seen["digest"])
    now = views.exercise(Term(term.course), TINY, "bob", "double")
    assert (now["points"], now["comment"], now["isManual"]) == (1.0, "so", True)
    assert save(None, "", now["digest"])["points"] == 0.0


def test_tampering_is_told_and_honest_work_is_not():
    from autograder.classroom import samples, tampering
    from autograder.publish import notebooks
    from conftest import REPOSITORY

    def cells(text):
        return parse(json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [
            {"cell_type": "code", "id": "a", "metadata": {}, "source": text, "outputs": [], "execution_count": None},
        ]}).encode())

    told = "\n".join(tampering.flags(cells(f"{samples.CHEAT}x = 1")))
    for sign in ("replaces torch.testing.assert_close", "is equal to everything", "changes how cells are run",
                 "opens what is not the student's"):
        assert sign in told
    assert tampering.flags(cells("def broken(:")) == []
    for name in REPOSITORY.sessions:
        whole = json.dumps(notebooks.solution_notebook(load_source(REPOSITORY, name))).encode()
        assert tampering.flags(parse(whole)) == [], name


def test_the_class_report_names_who_tampers_too(term):
    page = report.write(term, [TINY]).read_text(encoding="utf-8")
    assert "tampers: it replaces torch.testing.assert_close" in page and page.count("tampers: it") == 1
