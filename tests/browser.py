"""A headless Chromium for tests; where there is none, the tests that need it are skipped."""

import atexit
import functools
import shutil
from contextlib import contextmanager

import pytest

ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
             "--disable-component-update", "--disable-sync"]


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
    try:
        yield page
    finally:
        page.close()
