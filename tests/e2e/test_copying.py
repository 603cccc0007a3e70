"""A table in a wiki's words, copied to the clipboard; never something else in its place."""

from typing import Any

import pytest
from playwright.sync_api import expect

from apps.labs.isolation import lab_scope
from tests.comparison.factories import MIB, measured

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
CLIPBOARD = "navigator.clipboard.readText()"


def test_what_is_copied_is_the_table_and_not_the_form_to_sign_in(signed_in: Any, furnished: Any) -> None:
    with lab_scope(furnished.lab.pk):
        for host, speed in (("alpha", 2e8), ("beta", 1e8)):
            measured(furnished.lab, host, [speed * part for part in (0.98, 1, 1.01)], file_size=64 * MIB)
    page = signed_in()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto("/compare/?host=alpha&host=beta")
    page.click("#export-menu > summary")
    button = page.locator("[data-copy-text*='mediawiki']")
    button.click()
    expect(button).to_have_text("Copied")
    assert page.evaluate(CLIPBOARD).startswith("== Bandwidth of write")
    page.context.clear_cookies()
    other = page.locator("[data-copy-text*='dokuwiki']")
    other.click()
    expect(page.locator("[data-copy-status]")).to_contain_text("Not copied (your sign-in has ended)")
    assert page.evaluate(CLIPBOARD).startswith("== Bandwidth of write")
