"""Rows are chosen by ticks: Enter on one sends nothing where several buttons could be meant."""

from typing import Any

import pytest
from playwright.sync_api import Page, Request, expect

pytestmark = pytest.mark.browser


PATHS = ("/queue/", "/hosts/", "/disks/", "/targets/", "/filesystems/")


def test_enter_on_a_tick_presses_no_button_where_there_are_several(signed_in: Any) -> None:
    page: Page = signed_in("engineer")
    sent: list[str] = []

    def note(request: Request) -> None:
        if request.is_navigation_request() or request.method != "GET":
            sent.append(f"{request.method} {request.url}")

    for path in PATHS:
        page.goto(path)
        page.on("request", note)
        tick = page.locator("td.tick input[name]").first
        tick.focus()
        page.keyboard.press("Space")
        page.evaluate("addEventListener('click', (event) => { window.pressed = event.target.type; }, true)")
        page.keyboard.press("Enter")  # a button that it presses gets a click before this returns
        assert page.evaluate("window.pressed") is None, path
        expect(tick).to_be_checked()
        page.remove_listener("request", note)
    assert sent == []


def test_enter_on_a_tick_sends_a_form_of_one_button(open_browser: Any, db: None) -> None:
    page: Page = open_browser()
    page.goto("/accounts/login/")
    page.locator("input[type=checkbox]").focus()
    with page.expect_request(lambda request: request.method == "POST" or request.is_navigation_request()):
        page.evaluate("document.forms[0].noValidate = true")
        page.keyboard.press("Enter")
