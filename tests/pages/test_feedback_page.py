"""The feedback page in a browser: a phone and a desk, light and dark, on paper, and for who does not see it."""

import pytest
from nbgrader.api import Gradebook

import graded
from autograder.classroom.nbgrader.feedback_pages import update_pages
from autograder.classroom.student_work import StudentWork
from autograder.model.source import load_source
from browser import CONTRASTS, OPEN, SCREENS, all_can_be_read, chromium_page
from conftest import TINY, TINY_COURSE

STUDENTS = ("ada", "bob", "eve", "tom")
TITLE = load_source(TINY_COURSE, TINY).title


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    """Student → where the page lies."""
    made = graded.classroom(tmp_path_factory.mktemp("pages") / "course")
    with Gradebook(made.config.CourseDirectory.db_url, "sample") as gradebook:
        gradebook.find_comment("why", TINY, TINY, "bob").manual_comment = f"Why? {graded.LONG}"
        gradebook.db.commit()
    assert not [one for one in update_pages(made, TINY) if one.problem]
    return {student: StudentWork(made.course, TINY, student).feedback for student in STUDENTS}


@pytest.mark.parametrize("width, scheme", SCREENS)
def test_nothing_is_wider_than_the_screen_and_all_can_be_read(places, width, scheme):
    with chromium_page(viewport={"width": width, "height": 900}, color_scheme=scheme) as page:
        asked = []
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: pytest.fail(message.text))
        for path in places.values():
            page.goto(path.as_uri())
            for fold in (None, OPEN):
                if fold:
                    page.evaluate(fold)
                all_can_be_read(page)
        assert {url.split(":")[0] for url in asked} <= {"file", "data"}


def test_the_contrast_is_really_measured(places):
    with chromium_page() as page:
        page.goto(places["ada"].as_uri())
        page.evaluate("document.querySelector('h1').style.color = '#999'")
        assert [text for text, ratio in page.evaluate(CONTRASTS) if ratio < 4.5] == [TITLE[:40]]


def test_on_paper_all_folds_are_open_and_it_is_never_dark(places):
    with chromium_page(color_scheme="dark") as page:
        page.goto(places["bob"].as_uri())
        hidden = "[...document.querySelectorAll('details dd, details pre')].filter(one => one.offsetHeight == 0).length"
        shown = "document.querySelector('.notebook > .text').checkVisibility({contentVisibilityAuto: true})"
        assert not page.evaluate(shown)
        page.emulate_media(media="print")
        page.wait_for_function(shown, timeout=5_000)
        assert page.evaluate(hidden) == 0
        page.evaluate("document.body.style.background = '#ffffff'")  # paper, whatever the page would paint
        assert [text for text, ratio in page.evaluate(CONTRASTS) if ratio < 4.5] == []


def test_a_screen_reader_finds_names_headings_and_rows(places):
    with chromium_page() as page:
        for path in places.values():
            page.goto(path.as_uri())
            page.evaluate(OPEN)
            assert page.evaluate("document.documentElement.lang") == "en"
            assert page.get_by_role("heading", level=1).count() == 1 == page.get_by_role("main").count()
            levels = page.evaluate("[...document.querySelectorAll('main :is(h1, h2, h3, h4, h5, h6)')]"
                                   ".map(one => Number(one.tagName[1]))")
            assert all(below <= above + 1 for above, below in zip(levels, levels[1:], strict=False)), levels
            assert page.get_by_role("table").first.get_by_role("rowheader").count() == 4
            assert page.evaluate("[...document.querySelectorAll('img[src]')].every(one => one.alt)")
            assert page.evaluate("[...document.querySelectorAll('summary, a, h1, h2, h3')]"
                                 ".every(one => one.textContent.trim())")
            ids = page.evaluate("[...document.querySelectorAll('[id]')].map(one => one.id)")
            assert len(ids) == len(set(ids))
            goals = page.evaluate("[...document.querySelectorAll('a[href^=\"#\"]')].map(a => a.hash.slice(1))")
            assert set(goals) <= set(ids) and bool(goals) == bool(page.locator("details.notebook").count())


def test_a_link_to_a_section_opens_the_notebook(places):
    with chromium_page() as page:
        page.goto(places["bob"].as_uri())
        assert not page.evaluate("document.querySelector('.notebook').open")
        page.get_by_role("link", name="Double", exact=True).click()
        assert page.evaluate("document.querySelector('.notebook').open")


def test_expected_beside_got_are_tables(places):
    with chromium_page(viewport={"width": 390, "height": 900}) as page:
        page.goto(places["bob"].as_uri())
        expected, got = (page.get_by_role("table", name=name) for name in ("expected", "got"))
        assert expected.bounding_box()["y"] < got.bounding_box()["y"]  # one beneath the other on a phone
        assert expected.get_by_role("cell", name="1.4", exact=True).is_visible()
        assert got.get_by_role("cell", name="0.49", exact=True).is_visible() and got.get_by_role("mark").count() == 5


def test_the_number_of_a_marked_line_stays_on_its_line(places):
    with chromium_page() as page:
        page.goto(places["bob"].as_uri())
        heights = page.evaluate("""[...document.querySelectorAll('pre:has(.line)')].flatMap(code => {
            code.style.counterReset = 'line 20';  // as if it stood further down
            return [...code.querySelectorAll('.line:has(mark)')].map(
                line => parseFloat(getComputedStyle(line, '::before').height)); })""")
        assert len(heights) == 1 and max(heights) < 25
