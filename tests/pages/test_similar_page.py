"""The page of pairs: side by side at a desk, one beneath the other on a phone."""

import pytest

from autograder.classroom import pages
from autograder.classroom.finding_views import Line
from autograder.classroom.similar import Shared, SimilarPair, Student
from browser import OPEN, SCREENS, all_can_be_read, chromium_page

LONG = Line(f"    value = {'a_name_without_end_' * 12}", True)
CODE = (Line("def last(rows):", False), LONG, Line("    return <script>alert(1)</script>", True))


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    pair = SimilarPair(Student("ada"), Student("b" * 200, past=True), 321.4, (
        Shared("last", 300.0, ("first-row",), CODE, CODE * 2), Shared("double", 21.4, (), CODE, CODE)))
    text = pages.render("similar.html.j2", title="A TP", pairs=[pair], submissions=12, most=20_000, cut=[pair.right])
    path = tmp_path_factory.mktemp("similar") / "similar.html"
    path.write_text(text, encoding="utf-8")
    return path.as_uri()


@pytest.mark.parametrize("width, scheme", SCREENS)
def test_nothing_is_wider_than_the_screen_and_all_can_be_read(place, width, scheme):
    with chromium_page(viewport={"width": width, "height": 900}, color_scheme=scheme) as page:
        page.on("console", lambda message: pytest.fail(message.text))
        page.goto(place)
        page.evaluate(OPEN)
        all_can_be_read(page)
        left, right = (page.locator(".both").first.locator("pre").nth(i).bounding_box() for i in (0, 1))
        assert (left["x"] < right["x"]) == (width > 800)


def test_a_screen_reader_finds_names_and_folds(place):
    with chromium_page() as page:
        page.goto(place)
        assert page.get_by_role("heading", level=1).count() == 1 == page.get_by_role("main").count()
        levels = page.evaluate("[...document.querySelectorAll('main :is(h1, h2, h3, h4)')].map(one => +one.tagName[1])")
        assert all(below <= above + 1 for above, below in zip(levels, levels[1:], strict=False))
        assert page.get_by_role("region", name="ada").count() == 1
        double = page.locator("details", has_text="double")
        assert not double.locator("pre").first.is_visible()
        double.locator("summary").press("Enter")
        assert double.locator("pre").first.is_visible()
        assert "This page changes no grade" in page.inner_text("main")
