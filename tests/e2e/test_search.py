"""Search with the keyboard alone: "/" goes there, arrows choose, Enter opens, Escape leaves; and everybody can use it."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from apps.labs.isolation import lab_scope
from tests.e2e.test_pages import AXE_TAGS, CONTRAST

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def typed(page, text):
    page.keyboard.press("/")
    page.keyboard.type(text, delay=20)
    expect(page.locator("#search-found")).to_be_visible()


def test_a_disk_is_opened_by_its_serial_without_a_mouse(signed_in, furnished, complaints):
    with lab_scope(furnished.lab.pk):
        disk = furnished.host.disks.get(device_name="sdb")
    page = signed_in("viewer")
    page.goto("/disks/")
    field = page.get_by_role("combobox", name="Search everything in the lab")
    expect(field).to_have_attribute("aria-expanded", "false")
    typed(page, disk.serial.lower())
    expect(field).to_be_focused()
    expect(field).to_have_attribute("aria-expanded", "true")
    expect(page.get_by_role("option").first).to_contain_text("sdb")
    page.keyboard.press("ArrowDown")
    chosen = page.get_by_role("option", selected=True)
    expect(chosen).to_contain_text(disk.serial)
    assert field.get_attribute("aria-activedescendant") == chosen.get_attribute("id")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/disks/{disk.pk}/")
    assert complaints == []


def test_escape_closes_the_list_then_goes_back_to_where_one_was(signed_in, furnished):
    page = signed_in("viewer")
    page.goto("/hosts/")
    link = page.get_by_role("link", name="storage1", exact=True)
    link.focus()
    typed(page, "md")
    page.keyboard.press("Escape")
    expect(page.locator("#search-found")).to_be_hidden()
    page.keyboard.press("Escape")
    expect(link).to_be_focused()


def test_a_slash_in_a_field_is_a_slash(signed_in, furnished):
    page = signed_in("viewer")
    page.goto("/hosts/")
    page.locator("#q").focus()
    page.keyboard.type("/srv")
    expect(page.locator("#q")).to_have_value("/srv")


def test_enter_without_a_choice_shows_all_results(signed_in, furnished):
    page = signed_in("viewer")
    page.goto("/")
    typed(page, "md1")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/search/\?q=md1"))
    expect(page.get_by_role("heading", name="Arrays")).to_be_visible()


@pytest.mark.parametrize(("scheme", "rules"), [("light", AXE_TAGS), ("dark", CONTRAST)])
def test_search_and_bulk_pages_break_no_rule_of_accessibility(signed_in, furnished, scheme, rules):
    host, snapshot = furnished.host, furnished.finished.snapshot_id
    with lab_scope(furnished.lab.pk):
        first, second = host.disks.order_by("pk").values_list("pk", flat=True)[:2]
    addresses = [
        "/search/", "/search/?q=st", "/inventory/files/", "/inventory/duplicates/", f"/inventory/edit-many/disks/?pk={first}",
        f"/inventory/merge/disks/?stays={first}&goes={second}", f"/hosts/{host.pk}/timeline/", f"/snapshots/compare/?a={snapshot}",
    ]  # fmt: skip
    page = signed_in("owner", color_scheme=scheme)
    found = {}
    for address in addresses:
        page.goto(address)
        result = Axe().run(page, options=rules)
        found |= {address: [one["id"] for one in result.response["violations"]]} if result.violations_count else {}
    page.goto("/hosts/")
    typed(page, "st")
    page.keyboard.press("ArrowDown")
    result = Axe().run(page, options=rules)
    found |= (
        {"typing": [(one["id"], one["nodes"][0]["html"][:200]) for one in result.response["violations"]]}
        if result.violations_count
        else {}
    )
    assert found == {}


def test_no_bulk_page_is_wider_than_a_phone(signed_in, furnished):
    page = signed_in("owner", width=390)
    for address in (
        "/search/?q=st",
        "/inventory/files/",
        f"/hosts/{furnished.host.pk}/timeline/",
        "/inventory/duplicates/",
    ):
        page.goto(address)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, address
