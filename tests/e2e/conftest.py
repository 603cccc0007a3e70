"""A real browser on a real server. The pages are served by pytest-django's live server; event streams, which only
the raw ASGI entrance
answers, are played to the page by its own `EventSource` from a recorded stream.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "1")  # Playwright's loop runs in the test's thread

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from apps.labs.isolation import lab_scope
from tests.conftest import PASSWORD
from tests.dashboard import world

CHROMIUM = os.environ.get("SPINDLE_CHROMIUM", "/usr/bin/chromium")
VENDOR = Path(__file__).parent.parent.parent / "static" / "vendor" / "htmx.min.js"


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    if not Path(CHROMIUM).exists():
        pytest.skip(f"{CHROMIUM} is not here; install Chromium or set SPINDLE_CHROMIUM")
    if not VENDOR.exists():
        pytest.skip("static/vendor/ is empty; bin/test fills it")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def complaints() -> list[str]:
    """What the browser's console complains of: errors, warnings and breaches of the content security policy."""
    return []


@pytest.fixture
def open_browser(chromium: Browser, live_server: Any, complaints: list[str]) -> Iterator[Any]:
    """`open_browser(width=390, color_scheme="dark")` gives a page of a fresh context."""
    contexts: list[BrowserContext] = []

    def opened(width: int = 1400, **options: Any) -> Page:
        context = chromium.new_context(base_url=live_server.url, viewport={"width": width, "height": 900}, **options)
        contexts.append(context)
        page = context.new_page()
        page.on(
            "console", lambda message: complaints.append(message.text) if message.type in ("error", "warning") else None
        )
        page.on("pageerror", lambda error: complaints.append(str(error)))
        return page

    yield opened
    for context in contexts:
        context.close()


@pytest.fixture
def furnished(transactional_db: None, cast: Any, settings: Any, tmp_path: Path) -> world.World:
    settings.ARTEFACT_DIR = tmp_path
    with lab_scope(cast.lab.pk):
        return world.furnish(cast.lab)


@pytest.fixture
def signed_in(open_browser: Any, furnished: world.World) -> Any:
    """`signed_in("engineer")` gives that person's page, after the sign-in form."""

    def entered(name: str = "engineer", **options: Any) -> Page:
        page: Page = open_browser(**options)
        page.goto("/")
        page.get_by_label("E-mail address").fill(f"{name}@example.org")
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_url("**/")
        return page

    return entered
