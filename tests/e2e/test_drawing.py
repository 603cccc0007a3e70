"""A host's drawing in a real browser: reachable by keyboard, lit along its lines, no breach of a rule of accessibility."""

import pytest
from django.urls import reverse

from apps.labs.isolation import lab_scope
from tests.e2e.looking import faults
from tests.inventory import plants

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def hosts(furnished):
    with lab_scope(furnished.lab.pk):
        return [plants.thumper(furnished.lab), plants.infn(furnished.lab)]


def test_hosts_with_drawings_findings_and_networks_are_for_everybody(signed_in, hosts, complaints):
    addresses = [*(host.get_absolute_url() for host in hosts), reverse("findings")]
    assert faults(signed_in(), addresses, complaints) == {}


def test_a_box_lights_what_it_hangs_on_and_leads_to_its_page(signed_in, hosts):
    page = signed_in()
    page.goto(hosts[0].get_absolute_url())
    page.keyboard.press("Tab")
    md5 = page.locator('svg.drawing a:has(title:text-matches("array md5"))').first
    md5.focus()
    lit = page.locator("svg.drawing .box.is-on .name").all_text_contents()
    assert {"md2 (round ext3)", "md3 (round ext3)", "sda", "/raid/c50"} <= set(lit)
    assert not {"md1 (round ext3)", "sdi"} & set(lit)
    page.keyboard.press("Enter")
    page.wait_for_url("**/arrays/*/")
    assert page.locator("h1").inner_text().startswith("md5")
