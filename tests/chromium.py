"""One Chromium for a whole run of tests, or for each of its workers; tests open fresh contexts in it."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:  # Playwright is heavy, and most runs open no browser
    from playwright.sync_api import Browser

CHROMIUM = os.environ.get("SPINDLE_CHROMIUM", "/usr/bin/chromium")
VENDOR = Path(__file__).parent.parent / "static" / "vendor" / "htmx.min.js"


@pytest.fixture(scope="session")
def chromium() -> "Iterator[Browser]":
    """Playwright keeps a loop in the test's thread, so a second one started beside it fails: this is the only place."""
    if not Path(CHROMIUM).exists():
        pytest.skip(f"{CHROMIUM} is not here; install Chromium or set SPINDLE_CHROMIUM")
    if not VENDOR.exists():
        pytest.skip("static/vendor/ is empty; bin/test fills it")
    from playwright.sync_api import sync_playwright

    os.environ.setdefault(
        "DJANGO_ALLOW_ASYNC_UNSAFE", "1"
    )  # its loop runs in the thread in which tests ask the database
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()
