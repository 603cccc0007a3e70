"""Search with the keyboard alone: "/" goes there, arrows choose, Enter opens, Escape leaves; and everybody can use it."""

import re

import pytest
from playwright.sync_api import expect

from apps.labs.isolation import lab_scope
from tests.e2e.looking import AXE_TAGS, CONTRAST, broken_rules, faults

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def typed(page, text):
    page.keyboard.press("/")
    page.keyboard.insert_text(text)  # at once: letters that come slowly are several searches
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
    chosen = page.locator("#search-found").get_by_role(
        "option", selected=True
    )  # the filters of the list have options, too
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


@pytest.mark.long
def test_a_slash_in_a_field_is_a_slash(signed_in, furnished):
    page = signed_in("viewer")
    page.goto("/hosts/")
    page.locator("#q").focus()
    page.keyboard.type("/srv")
    expect(page.locator("#q")).to_have_value("/srv")


@pytest.mark.long
def test_enter_without_a_choice_shows_all_results(signed_in, furnished):
    page = signed_in("viewer")
    page.goto("/")
    typed(page, "md1")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/search/\?q=md1"))
    expect(page.get_by_role("heading", name="Arrays")).to_be_visible()


@pytest.mark.long
def test_search_and_bulk_pages_are_for_everybody(signed_in, furnished, complaints):
    host, snapshot = furnished.host, furnished.finished.snapshot_id
    with lab_scope(furnished.lab.pk):
        first, second = host.disks.order_by("pk").values_list("pk", flat=True)[:2]
    addresses = [
        "/search/", "/search/?q=st", "/inventory/files/", "/inventory/duplicates/", f"/inventory/edit-many/disks/?pk={first}",
        f"/inventory/merge/disks/?stays={first}&goes={second}", f"/hosts/{host.pk}/timeline/", f"/snapshots/compare/?a={snapshot}",
    ]  # fmt: skip
    assert faults(signed_in("owner"), addresses, complaints) == {}


@pytest.mark.long
@pytest.mark.parametrize(("scheme", "rules"), [("light", AXE_TAGS), ("dark", CONTRAST)])
def test_the_list_under_the_search_field_breaks_no_rule(signed_in, furnished, scheme, rules):
    page = signed_in("owner", color_scheme=scheme)
    page.goto("/hosts/")
    typed(page, "st")
    page.keyboard.press("ArrowDown")
    assert broken_rules(page, rules) == []
