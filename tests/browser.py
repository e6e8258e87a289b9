"""A headless Chromium for tests; where there is none, the tests that need it are skipped."""

import shutil
from contextlib import contextmanager

import pytest

ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
             "--disable-component-update", "--disable-sync"]


@contextmanager
def chromium():
    """A running browser: the system's own Chromium, driven by Playwright."""
    sync_api = pytest.importorskip("playwright.sync_api")
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        pytest.skip("no chromium on this machine")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def chromium_page(**options):
    """A fresh page; `options` as for Playwright's `new_page`."""
    with chromium() as browser:
        yield browser.new_page(**options)
