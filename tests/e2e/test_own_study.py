"""A study of one's own, by pages alone: from runs that are there to the text for a wiki (docs/how-to/your-own-study.md)."""

import pytest
from playwright.sync_api import Page, expect

from apps.labs.isolation import lab_scope
from tests.comparison.factories import measured
from tests.e2e.looking import broken_rules

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def is_accessible(page: Page) -> None:
    assert broken_rules(page) == []


def test_from_runs_to_a_wiki_page(signed_in, cast, complaints):
    with lab_scope(cast.lab.pk):
        measured(cast.lab, "bench-own", [9e7, 9.05e7, 9.1e7])
    page = signed_in("engineer")
    page.goto("/studies/")
    page.get_by_role("link", name="New study").click()
    page.get_by_label("Title", exact=True).fill("Disco o memoria")
    page.get_by_label("Language", exact=True).select_option("it")
    is_accessible(page)
    with page.expect_navigation():
        page.get_by_role("button", name="Save").click()

    page.goto("/runs/?q=bench-own")
    page.get_by_label("All on this page").check()
    page.get_by_role("button", name="Add to study").click()
    expect(page.get_by_role("heading", name="3 runs")).to_be_visible()
    page.get_by_label("Study and configuration").select_option(label="a configuration for each target")
    is_accessible(page)
    page.get_by_role("button", name="Add to study").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Disco o memoria")

    page.goto("/studies/disco-o-memoria/configurations/")
    is_accessible(page)
    page.get_by_role("link", name="Edit scratch").click()
    page.get_by_label("Label").fill("disco")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("rowheader", name="disco")).to_be_visible()

    page.goto("/compare/?study=disco-o-memoria")
    page.locator("#share-menu summary").click()
    page.get_by_role("link", name="Add to study…").click()
    page.get_by_label("Title").fill("Scrivere")
    with page.expect_navigation():
        page.get_by_role("button", name="Add to study").click()
    is_accessible(page)

    page.goto("/studies/disco-o-memoria/wiki/")
    source = page.get_by_role("textbox", name="MediaWiki")
    text = source.input_value()
    assert "==== Scrivere ====" in text
    assert '| style="text-align:right" | 90,5 ± 1,24 (3)' in text
    expect(page.get_by_role("region", name="Preview").get_by_role("img")).to_have_js_property("complete", True)
    is_accessible(page)
    page.get_by_role("combobox", name="Format").select_option("markdown")
    with page.expect_navigation():
        page.get_by_role("button", name="Show").click()
    assert page.get_by_role("textbox", name="Markdown").input_value().startswith("## Disco o memoria")
    assert complaints == []


def test_pages_speak_the_language_that_was_chosen(signed_in):
    page = signed_in("viewer")
    page.goto("/studies/")
    page.get_by_role("button", name="Italiano").click()
    expect(page.get_by_role("navigation", name="Principale").get_by_role("link", name="Studi")).to_be_visible()
    assert page.locator("html").get_attribute("lang") == "it"
    page.get_by_role("button", name="English").click()
    expect(page.get_by_role("navigation", name="Main").get_by_role("link", name="Studies")).to_be_visible()
