"""The README as a reader meets it: at most 800 words and three screens, and nothing cut on a phone."""

from markdown_it import MarkdownIt

from browser import chromium_page
from conftest import REPOSITORY

WORDS, HEIGHT = 800, 3 * 800
README = REPOSITORY.root / "README.md"
# as GitHub sets it: its article is 980 px wide, of which 45 are left free on either side
STYLE = """body { box-sizing: border-box; max-width: 980px; margin: 0 auto; padding: 45px; font: 16px/1.5 sans-serif; }
h1, h2 { margin: 24px 0 16px; line-height: 1.25; padding-bottom: .3em; border-bottom: 1px solid } h1 { font-size: 2em }
h2 { font-size: 1.5em } p, ul, table, pre { margin: 0 0 16px } ul { padding-left: 2em } img { max-width: 100% }
table { display: block; overflow: auto; border-collapse: collapse } th, td { padding: 6px 13px; border: 1px solid }
pre { padding: 16px; font-size: 85%; line-height: 1.45; overflow: auto } code { font-size: 85% }
@media (max-width: 767px) { body { padding: 15px } }"""


def test_the_readme_has_no_more_words_than_it_may():
    assert len(README.read_text(encoding="utf-8").split()) <= WORDS


def test_the_readme_is_three_screens_and_nothing_is_cut(tmp_path):
    text = README.read_text(encoding="utf-8")
    page_file = README.with_name(".readme-for-a-test.html")
    page_file.write_text(f"<!DOCTYPE html><meta charset=utf-8><meta name=viewport content=width=device-width>"
                         f"<style>{STYLE}</style>{MarkdownIt().enable('table').render(text)}", encoding="utf-8")
    try:
        for width in (1280, 390):
            with chromium_page(viewport={"width": width, "height": 800}) as page:
                page.goto(page_file.as_uri())
                assert page.evaluate("[...document.images].filter(one => !one.naturalWidth).map(one => one.src)") == []
                assert page.locator("img").count() == text.count("<img ")
                assert page.evaluate("document.documentElement.scrollWidth") <= width
                if width == 1280:
                    assert page.evaluate("document.documentElement.scrollHeight") <= HEIGHT
    finally:
        page_file.unlink()
