"""A study read as a lab report: without barriers, by keyboard, on a phone, and on paper."""

import os
import re
from typing import Any

import pytest
from playwright.sync_api import expect

from apps.dashboard.published.load import load_study
from apps.studies.lookup import published_lab
from tests.e2e.looking import broken_rules

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
SLUG = "crs4-sata-scsi"


@pytest.fixture
def report(cast: Any, tmp_path: Any, settings: Any) -> None:
    settings.ARTEFACT_DIR = tmp_path
    load_study(SLUG, published_lab()[0])


def test_a_report_is_read_by_everybody_and_prints_without_the_site_around_it(report, signed_in, complaints) -> None:
    page = signed_in("viewer")
    page.goto("/studies/")
    assert broken_rules(page) == []
    page.get_by_role("link", name="Performance of SCSI and Serial ATA disks").first.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Performance of SCSI")
    expect(page.locator("#table-crs4-t-read")).to_contain_text("121943,4")
    picture = page.locator("#chart-crs4-read img.only-light")
    picture.scroll_into_view_if_needed()
    expect(picture).to_have_js_property("complete", True, timeout=60_000)  # a server's first picture
    assert picture.evaluate("image => image.naturalWidth") > 300
    page.evaluate("window.scrollTo(0, 0)")  # what the header half covers while scrolling is no small target
    assert broken_rules(page) == []
    menu = page.locator("#table-crs4-t-read details.menu")
    menu.locator("summary").focus()
    page.keyboard.press("Enter")
    expect(menu.get_by_role("link", name="MediaWiki")).to_be_visible()
    page.keyboard.press("Escape")
    expect(menu.get_by_role("link", name="MediaWiki")).to_be_hidden()
    expect(menu.locator("summary")).to_be_focused()
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.emulate_media(media="print", color_scheme="dark")
    for hidden in (".site-header", ".site-footer", ".contents", ".export-menu"):
        expect(page.locator(hidden).first).to_be_attached()
        expect(page.locator(hidden).first).to_be_hidden()
    expect(page.locator("#table-crs4-t-read")).to_be_visible()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.pdf(prefer_css_page_size=True).startswith(b"%PDF")
    assert complaints == []


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), pytest.param(1280, "light", marks=pytest.mark.long)])
def test_a_published_study_is_repeated_from_its_page(report, signed_in, complaints, width: int, scheme: str) -> None:
    page = signed_in("engineer", width=width, color_scheme=scheme)
    page.goto(f"/studies/{SLUG}/")
    expect(page.locator("#repeat")).to_contain_text("as nearly as fio can")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), "nothing sticks out"
    if folder := os.environ.get("SPINDLE_PICTURES"):
        page.locator("#repeat").scroll_into_view_if_needed()
        page.screenshot(path=f"{folder}/repeat-{width}-{scheme}.png")
        page.evaluate("window.scrollTo(0, 0)")
        page.screenshot(path=f"{folder}/repeat-head-{width}-{scheme}.png")
    page.get_by_role("link", name="Repeat this study on my hosts").click()
    expect(page.get_by_role("heading", name="New plan")).to_be_visible()
    chosen = page.locator("#id_preset option:checked")
    expect(chosen).to_contain_text("Performance of SCSI and Serial ATA disks")
    expect(page.get_by_label("Title")).to_have_value(re.compile(", repeated$"))
    assert broken_rules(page) == []
    assert complaints == []
