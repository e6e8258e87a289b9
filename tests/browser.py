"""A headless Chromium for tests; where there is none, the tests that need it are skipped."""

import atexit
import functools
import shutil
from contextlib import contextmanager

import pytest

ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
             "--disable-component-update", "--disable-sync"]

SCREENS = [(1280, "light"), (1280, "dark"), (390, "light"), (390, "dark")]

# Of every piece of text that is shown (in an element, if one is given): the text, and the contrast with what lies
# behind it, after WCAG.
CONTRASTS = """root => {
  const number = text => text.match(/[\\d.]+/g).map((part, i) => part * (text.startsWith('color(') && i < 3 ? 255 : 1));
  const light = ([r, g, b]) => [r, g, b].map(v => v / 255)
    .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = element => {
    for (; element; element = element.parentElement) {
      const colour = number(getComputedStyle(element).backgroundColor);
      if (colour.length == 3 || colour[3] > 0) return colour;
    }
  };
  const walker = document.createTreeWalker(root || document.body, NodeFilter.SHOW_TEXT), found = [];
  while (walker.nextNode()) {
    const text = walker.currentNode.textContent.trim(), element = walker.currentNode.parentElement;
    if (!text || !element.checkVisibility()) continue;
    const [a, b] = [number(getComputedStyle(element).color), behind(element)].map(light);
    found.push([text.slice(0, 40), (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)]);
  }
  return found;
}"""
OPEN = "document.querySelectorAll('details').forEach(fold => fold.open = true)"
WIDER = """[...document.querySelectorAll('body *')].filter(one => one.checkVisibility()
  && one.getBoundingClientRect().right > innerWidth + 0.5).map(one => one.outerHTML.slice(0, 80))"""


@functools.cache
def chromium():
    """The system's own Chromium, driven by Playwright: one for the whole test run."""
    sync_api = pytest.importorskip("playwright.sync_api")
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        pytest.skip("no chromium on this machine")
    playwright = sync_api.sync_playwright().start()
    atexit.register(playwright.stop)
    return playwright.chromium.launch(executable_path=path, args=ARGUMENTS)


@contextmanager
def chromium_page(**options):
    """A fresh page; `options` as for Playwright's `new_page`."""
    page = chromium().new_page(**options)
    page.set_default_timeout(120_000)  # a busy machine may need more than half a minute
    try:
        yield page
    finally:
        page.close()


def all_can_be_read(page, texts=15, wider=WIDER):
    """Nothing on the page is wider than the screen, and each of its texts, more than `texts`, has contrast enough."""
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate(wider) == []
    contrasts = page.evaluate(CONTRASTS)
    assert len(contrasts) > texts and [text for text, ratio in contrasts if ratio < 4.5] == []
