"""A real browser on a real server. The pages are served by pytest-django's live server; event streams, which only
the raw ASGI entrance
answers, are played to the page by its own `EventSource` from a recorded stream.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from apps.labs.isolation import lab_scope
from tests.chromium import CHROMIUM
from tests.dashboard import world

__all__ = ["CHROMIUM"]
expect.set_options(timeout=20_000)  # ms; what is awaited comes, but on a busy machine not within the usual five seconds


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
def signed_in(open_browser: Any, furnished: world.World, sign_in: Any, live_server: Any) -> Any:
    """`signed_in("engineer")` gives that person's page, still empty. The way through the form is a test of its own."""

    def entered(name: str = "engineer", **options: Any) -> Page:
        page: Page = open_browser(**options)
        session = sign_in(name).cookies["sessionid"].value
        page.context.add_cookies([{"name": "sessionid", "value": session, "url": live_server.url}])
        return page

    return entered
