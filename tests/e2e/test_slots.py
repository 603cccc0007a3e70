"""The slot map and RAID plans in a real browser: lit arrays, arrow keys, no JavaScript, no breach of a rule of accessibility."""

import re

import pytest
from django.test import Client
from django.urls import reverse
from playwright.sync_api import expect

from apps.inventory.models import Array, Disk, Enclosure
from apps.labs.isolation import lab_scope
from tests.e2e.looking import faults
from tests.inventory import thumper

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def x4500(furnished, cast):
    client = Client()
    client.force_login(cast.engineer, backend="allauth.account.auth_backends.AuthenticationBackend")
    with lab_scope(furnished.lab.pk):
        return thumper.enter(client, furnished.lab)


def slots(host, query=""):
    return reverse("host-slots", args=[host.pk]) + query


def addresses(host):
    with lab_scope(host.lab_id):
        row = Enclosure.objects.get(host=host)
        md4 = Array.objects.get(host=host, name="md4", round="xfs")
    lit, plan = slots(host, f"?array={md4.pk}"), reverse("host-raid-plan", args=[host.pk]) + "?level=6&level=10"
    return [lit, plan, reverse("enclosure-place", args=[row.pk])]


def free_disks(host):
    with lab_scope(host.lab_id):
        Array.objects.filter(host=host).update(is_present=False)
        Disk.objects.filter(host=host).update(capacity_bytes=thumper.SIZE)


def test_pages_of_slots_and_plans_are_for_everybody(signed_in, x4500, complaints):
    free_disks(x4500)
    assert faults(signed_in(), addresses(x4500), complaints) == {}


def test_an_array_lights_its_members_by_click_and_by_key(signed_in, x4500):
    page = signed_in()
    page.goto(slots(x4500, "?round=ext3"))
    md4 = page.locator("a[data-array]", has_text="md4")
    md4.click()
    expect(page.locator("td.is-lit")).to_have_count(8)
    expect(page.get_by_role("status").filter(has_text="md4")).to_contain_text(
        "8 disks on 5 controllers (1, 2, 3, 4, 5), at most 2 on one"
    )
    expect(page).to_have_url(re.compile("array="))
    page.locator("a[data-array]", has_text="md5").focus()
    page.keyboard.press("Enter")
    expect(page.locator("td.is-lit")).to_have_count(8)
    expect(page.locator("#span")).to_contain_text("md5 (RAID 0 over 2 × RAID 5)")
    page.keyboard.press("Space")
    expect(page.locator("td.is-lit")).to_have_count(0)
    expect(page.locator("#span")).to_have_text("")
    page.wait_for_url(lambda url: "array=" not in url)


def test_the_arrow_keys_move_in_the_grid_and_tab_leaves_it(signed_in, x4500):
    page = signed_in()
    page.goto(slots(x4500))
    table = page.get_by_role("grid", name=re.compile("in their physical order"))
    stops = table.locator("td.slot > a")
    expect(stops).to_have_count(48)
    assert [stops.nth(n).get_attribute("tabindex") for n in range(48)].count("0") == 1
    stops.first.focus()
    for _ in range(3):
        page.keyboard.press("ArrowDown")
    for _ in range(2):
        page.keyboard.press("ArrowRight")
    focused = page.locator(":focus")
    expect(focused).to_contain_text("c1d1")
    page.keyboard.press("ArrowUp")
    expect(focused).to_contain_text("c1d5")
    page.keyboard.press("End")
    expect(focused).to_contain_text("c1d4")
    page.keyboard.press("Home")
    expect(focused).to_contain_text("c1d7")
    page.keyboard.press("Control+End")
    expect(focused).to_contain_text("c3d0")
    page.keyboard.press("ArrowDown")
    expect(focused).to_contain_text("c3d0")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Space")
    expect(page.locator("#span")).to_contain_text("md1 (RAID 0)")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('[data-slots]')") is None
    page.keyboard.press("Shift+Tab")
    expect(focused).to_contain_text("c3d4")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="sdk")).to_be_visible()


@pytest.mark.long
def test_without_javascript_the_links_do_it(open_browser, x4500):
    page = open_browser(java_script_enabled=False)
    page.goto("/accounts/login/")
    page.get_by_label("E-mail address").fill("viewer@example.org")
    page.get_by_label("Password").fill("correct horse battery")
    page.get_by_role("button", name="Sign in").click()
    page.goto(slots(x4500))
    page.get_by_role("link", name="ext3").click()
    page.get_by_role("link", name=re.compile("^md1")).click()
    expect(page.locator("td.is-lit")).to_have_count(4)
    expect(page.locator("#span")).to_contain_text("it can touch 3 controllers at most")
    page.get_by_role("link", name="Show none").click()
    page.wait_for_url(lambda url: "array=" not in url)
    expect(page.locator("td.slot")).to_have_count(48)  # the page is whole
    expect(page.locator("td.is-lit")).to_have_count(0)


def test_an_engineer_lays_out_an_enclosure_and_places_disks_by_hand(signed_in, furnished):
    page = signed_in()
    page.goto(slots(furnished.host))
    page.get_by_role("link", name="Add an enclosure").first.click()
    page.get_by_label("Name", exact=True).fill("front")
    page.get_by_label("Fill the rows from").select_option("2u12")
    page.get_by_role("button", name="Fill").click()
    expect(page.get_by_label("Rows, from top to bottom")).to_have_value("d0 d3 d6 d9\nd1 d4 d7 d10\nd2 d5 d8 d11")
    page.get_by_role("button", name="Save").click()
    page.get_by_role("grid").get_by_role("link", name="d4").click()
    expect(page.get_by_label("Slot", exact=True)).to_have_value("d4")
    page.get_by_label("Disk", exact=True).select_option(index=1)
    page.get_by_role("button", name="Put it there").click()
    expect(page.locator("#messages")).to_contain_text("is in d4 now")
    expect(page.get_by_text("1 of 12 slots hold a disk")).to_be_visible()


@pytest.mark.long
def test_a_plan_is_made_and_its_commands_copied(signed_in, x4500):
    free_disks(x4500)
    page = signed_in("viewer")
    page.goto(reverse("host-raid-plan", args=[x4500.pk]))
    page.get_by_label("RAID 10").check()
    page.get_by_role("button", name="Plan", exact=True).click()
    expect(page.get_by_role("heading", name="Side by side")).to_be_visible()
    expect(page.locator("#commands-1")).to_contain_text("mdadm --create /dev/md/data --level=6")
    page.get_by_role("button", name="Copy the commands").first.click()
    expect(page.get_by_role("button", name=re.compile("Copied|Selected"))).to_be_visible()
