"""The page on which written answers are read: by keyboard alone, kept by the browser, and back as a CSV file."""

import pytest

import graded
from autograder.classroom import answers, questions, questions_csv
from browser import OPEN, SCREENS, all_can_be_read, chromium_page
from conftest import TINY


@pytest.fixture(scope="module")
def term(tmp_path_factory):
    """A graded class; bob's answer holds all that a hostile one can."""
    return graded.classroom(tmp_path_factory.mktemp("questions") / "course")


@pytest.fixture
def place(term):
    """Where the page lies, as it is now."""
    return questions.write(term, TINY, questions.collect(term, TINY)).as_uri()


@pytest.mark.parametrize("width, scheme", SCREENS)
def test_nothing_is_wider_than_the_screen_and_all_can_be_read(place, width, scheme):
    with chromium_page(viewport={"width": width, "height": 900}, color_scheme=scheme) as page:
        asked = []
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: pytest.fail(message.text))
        page.goto(place)
        page.evaluate(OPEN)
        page.locator("article").first.focus()
        page.keyboard.press("1")
        page.keyboard.press("j")
        bar, answer = (page.locator(place).last.bounding_box() for place in (".bar", "article"))
        assert answer["y"] >= max(0, bar["y"] + bar["height"])  # nothing lies over it
        page.keyboard.press("1")
        all_can_be_read(page)
        assert {url.split(":")[0] for url in asked} <= {"file", "data"}


def test_a_screen_reader_finds_names(place):
    with chromium_page() as page:
        page.goto(place)
        assert page.get_by_role("heading", level=1).count() == 1 == page.get_by_role("main").count()
        assert page.get_by_role("region", name="why").count() == 1
        for student in ("ada", "bob"):
            article = page.get_by_role("article", name=student)
            assert article.get_by_role("group", name="Rubric").get_by_role("checkbox").count() == 2
            for role, name in (("checkbox", "a reason."), ("spinbutton", "Points"), ("textbox", "Comment")):
                assert article.get_by_role(role, name=name).count() == 1


def test_a_class_is_read_by_keyboard_and_comes_back(term, place, tmp_path):
    with chromium_page(accept_downloads=True) as page:
        page.goto(place)
        first, second = page.locator("article").all()
        press = page.keyboard.press
        assert page.get_by_role("button", name="Nothing new").is_disabled()
        for _ in range(30):  # the keyboard alone reaches the first answer
            press("Tab")
            if first.evaluate("one => one === document.activeElement"):
                break
        press("1")
        assert first.locator(".sum").inner_text() == "1.5"
        press("2")
        assert first.locator(".sum").inner_text() == "2"
        press("1")
        assert first.locator(".sum").inner_text() == "0.5" and "1 of 2 read" in page.locator(".bar").inner_text()
        press("c")
        page.keyboard.type("-0.5: j is no key here")
        press("Escape")
        press("n")
        assert second.evaluate("one => one === document.activeElement")
        press("a")
        press("Shift+Digit1")
        assert second.get_by_role("textbox").input_value() == "-0.5: j is no key here"
        second.get_by_role("spinbutton").fill("1.25")
        for _ in range(20):  # the browser has kept all of it; a reload may be quicker than its storage is
            page.reload()
            sums = [one.inner_text() for one in page.locator("article .sum").all()]
            if sums == ["0.5", "1.25"]:
                break
        assert sums == ["0.5", "1.25"]
        page.locator("article").first.focus()
        with page.expect_download() as download:
            press("d")
        path = tmp_path / download.value.suggested_filename
        download.value.save_as(path)
    entered = {one.answer.student: one for one in questions_csv.enter(term, path)}
    assert path.name == f"{TINY}.csv" and set(entered) == {"ada", "bob"}
    assert sorted(one.reading.points for one in entered.values()) == [0.5, 1.25]
    assert {one.comment for one in entered.values()} == {"-0.5: j is no key here"}
    given = {tuple(tick.given for tick in answers.load(term.course, TINY, student)["why"].items) for student in entered}
    assert given == {(False, True), (True, True)}


def test_a_student_with_an_odd_name_is_found_again(tmp_path):
    term, name = graded.classroom(tmp_path / "course"), "=odd\u202e, \"name\""
    graded.enter(term, name, {"why": "Because."}, graded.verdict())
    path = tmp_path / "odd.csv"
    with chromium_page(accept_downloads=True) as page:
        page.goto(questions.write(term, TINY, questions.collect(term, TINY)).as_uri())
        page.get_by_role("article", name="odd").press("2")
        with page.expect_download() as download:
            page.get_by_role("button", name="Download new entries (1)").click()
        download.value.save_as(path)
    (one,) = questions_csv.enter(term, path)
    assert one.answer.student == name and one.reading.points == 0.5


def test_answers_of_the_same_words_are_read_once(tmp_path):
    term = graded.classroom(tmp_path / "course")
    for student, text in (("cy", "It doubles."), ("di", "It  doubles."), ("ed", "It doubles.")):
        graded.enter(term, student, {"why": text}, graded.verdict())
    path = tmp_path / "same.csv"
    with chromium_page(accept_downloads=True) as page:
        page.goto(questions.write(term, TINY, questions.collect(term, TINY)).as_uri())
        same = page.locator("article").first  # most students wrote it
        said = same.get_by_role("heading").inner_text()
        assert "1 of 3 · the same words from 3 students: " in said and all(name in said for name in ("cy", "di", "ed"))
        same.press("1")
        assert "1 of 3 read" in page.locator(".bar").inner_text()
        with page.expect_download() as download:
            page.get_by_role("button", name="Download new entries (3)").click()
        download.value.save_as(path)
    entered = questions_csv.enter(term, path)
    assert {(one.answer.student, one.reading.points) for one in entered} == {("cy", 1.5), ("di", 1.5), ("ed", 1.5)}


def test_what_stands_in_the_gradebook_counts_more_than_what_the_browser_kept(term, place):
    with chromium_page() as page:
        page.goto(place)
        page.locator("article").first.focus()
        page.keyboard.press("0")
        with term.gradebook() as gradebook:
            for student in ("ada", "bob"):
                gradebook.stock.find_grade("why", TINY, TINY, student).manual_score = 1.75
            gradebook.stock.db.commit()
        questions.write(term, TINY, questions.collect(term, TINY))
        page.reload()
        assert [one.inner_text() for one in page.locator("article .sum").all()] == ["1.75", "1.75"]
        assert "Changed in the gradebook since you entered them here: 1" in page.get_by_role("status").inner_text()
