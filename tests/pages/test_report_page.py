"""The class report of a class in nbgrader's gradebook: what stands in the grid, and that everybody can read it."""

from datetime import UTC, datetime, timedelta

import pytest

import graded
from autograder.classroom import report, summary
from autograder.classroom.grades import Grade, Score
from autograder.classroom.nbgrader.feedback_pages import update_pages
from autograder.classroom.student_work import StudentWork
from autograder.classroom.verdict_store import StoredVerdict, VerdictKey
from autograder.sandbox.options import Options
from browser import OPEN, SCREENS, WIDER, all_can_be_read, chromium_page
from conftest import TINY

ADA = ("ada", "8", "+ 2", "✓right", "✓right", "✓right", "…waiting to be read", "2 hours late")
BOB = ("bob", "2.83", "", "✗not right yet", "–not written", "◐in part", "1.51.5 of 2 points", "2 hours late")
EVE = ("eve", "0", "", "–not written", "–not written", "–not written", "–blank", "2 hours late")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Where the report of a small class lies: all two hours late, bob's answer read, eve's page not written yet."""
    made = graded.classroom(tmp_path_factory.mktemp("report") / "course")
    with made.gradebook() as gradebook:
        due = datetime(2026, 11, 21, 12, 2, tzinfo=UTC).replace(tzinfo=None)
        gradebook.stock.update_or_create_assignment(TINY, duedate=due)
        grade = gradebook.stock.find_grade("why", TINY, TINY, "bob")
        grade.manual_score, grade.needs_manual_grade = 1.5, False
        gradebook.stock.db.commit()
    assert timedelta(hours=2) == datetime(2026, 11, 21, 14, 2) - due
    update_pages(made, TINY)
    StudentWork(made.course, TINY, "eve").feedback.unlink()
    return report.write(made, [TINY])


def test_the_grid_says_who_has_what(place):
    with chromium_page() as page:
        page.goto(place.as_uri())
        table = page.locator("table.grid")
        rows = {row.get_by_role("rowheader").inner_text(): tuple(" ".join(cell.split()) for cell in
                row.evaluate("row => [...row.children].map(cell => cell.textContent)"))
                for row in table.locator("tbody tr").all()}
        assert (rows["ada"], rows["bob"], rows["eve"]) == (ADA, BOB, EVE)
        head = [" ".join(name.split()) for name in table.locator("thead th").all_text_contents()]
        assert head == ["student", "of 10", "unread", "double", "encoder", "last", "why", "handed in"]
        assert "Answers worth 2 points are not read yet" in page.inner_text("body")


def test_links_lead_somewhere(place):
    with chromium_page() as page:
        page.goto(place.as_uri())
        grid = page.locator("table.grid")
        for student, title in (("ada", "ada · A tiny TP"), ("bob", "bob · A tiny TP")):
            grid.get_by_role("link", name=student).click()
            assert page.title().startswith(title)
            page.go_back()
        assert grid.get_by_role("link", name="eve").count() == 0  # there is no page to open
        links = page.evaluate("[...document.querySelectorAll('a')].map(a => a.getAttribute('href'))")
        assert any(link.endswith("/bob.json") for link in links)
        assert all((place.parent / link).is_file() for link in links if not link.startswith("#"))


def test_names_stand_behind_a_fault(place):
    with chromium_page() as page:
        page.goto(place.as_uri())
        cell = page.get_by_role("row", name="squared").locator(".prose")
        assert not cell.get_by_role("link", name="bob").is_visible()
        cell.get_by_text("students").click()
        assert cell.get_by_role("link", name="bob").is_visible()


@pytest.mark.parametrize("width, scheme", SCREENS)
def test_nothing_is_wider_than_the_screen_and_all_can_be_read(place, width, scheme):
    outside = WIDER.replace("checkVisibility()", "checkVisibility() && !one.closest('.wide > table, .hidden')")
    with chromium_page(viewport={"width": width, "height": 900}, color_scheme=scheme) as page:
        page.on("console", lambda message: pytest.fail(message.text))
        page.goto(place.as_uri())
        page.evaluate(OPEN)
        all_can_be_read(page, texts=50, wider=outside)
        regions = page.get_by_role("region")
        assert regions.count() > 3 and all(one.get_attribute("aria-label") for one in regions.all())


def test_an_item_tells_students_apart_or_nothing_is_said():
    points = [(0.0, 1.0), (1.0, 2.0), (2.0, 3.5), (2.0, 4.0), (2.0, 4.5)]
    assert summary.discrimination(points) == pytest.approx(0.9587, abs=1e-4)
    assert summary.discrimination([(1.0, total) for _, total in points]) is None  # everybody has the same
    assert summary.discrimination(points[:4]) is None


def test_blank_answers_have_no_part_in_the_mean_of_those_read():
    key = VerdictKey("", "", Options())
    entries = [StoredVerdict(student, graded.verdict(), key, entered=True) for student in "abcd"]
    blank, waiting = Score(0.0, 2.0), Score(None, 2.0)
    for read, share in (([], None), ([1.5], 0.75), ([0.0, 1.5], 0.375)):
        scores = [*(Score(points, 2.0, is_manual=True) for points in read), blank, waiting, blank]
        given = {student: Grade({"why": score}, {}) for student, score in zip("abcd", scores, strict=False)}
        (item,) = summary.summarise(TINY, entries, given).answers
        assert (item.read, item.share) == (len(read), share)
