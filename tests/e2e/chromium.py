"""Debian's Chromium, for the tests of pages and of the Dagster UI.

Belongs here: starting it without a screen. Does not: any test.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

OPTIONS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@contextmanager
def chromium(executable: str) -> Iterator[Browser]:
    """A running browser, until the block ends."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=OPTIONS)
        try:
            yield browser
        finally:
            browser.close()
