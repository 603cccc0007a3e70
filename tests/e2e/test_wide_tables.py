"""Wide tables in a real browser: what fits is not cut, and what is cut shows that it goes on."""

import pytest

from apps.inventory.models import Host, Target
from apps.labs.isolation import lab_scope
from apps.runs.models import Run

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
BEYOND = "table => table.parentElement.scrollWidth - table.parentElement.clientWidth"


def with_long_names(furnished):
    """As the published reports have them."""
    with lab_scope(furnished.lab.pk):
        host = Host.objects.create(lab=furnished.lab, name="dl160-ref")
        target = Target.objects.create(lab=furnished.lab, host=host, name="sata-raid10-nocache-native")
        facts = {"configuration": "SAS RAID 5 of five disks, 256 MB cache, ESXi"}
        shared = {"lab": furnished.lab, "tool": "dd", "tool_version": "FreeBSD 8.1 base system", "host": host}
        Run.objects.create(**shared, target=target, facts=facts, state="finished", created_by="engineer@example.org")


@pytest.mark.long
@pytest.mark.parametrize("width", [1440, 1200])
def test_the_list_of_runs_fits(signed_in, furnished, width):
    with_long_names(furnished)
    page = signed_in(width=width)
    page.goto("/runs/")
    table = page.locator("#runs-table table")
    assert "dl160-ref" in table.inner_text()
    assert table.evaluate(BEYOND) <= 0


@pytest.mark.long
def test_the_attempts_of_a_run_fit_into_their_panel(signed_in, furnished):
    page = signed_in(width=1440)
    page.goto(furnished.finished.get_absolute_url())
    assert page.get_by_role("region", name="Table of attempts").locator("table").evaluate(BEYOND) <= 0


@pytest.mark.long
def test_a_table_that_is_cut_has_a_shadow_at_its_edge(signed_in, furnished):
    page = signed_in(width=390)
    page.goto("/runs/")
    table = page.locator("#runs-table table")
    assert table.evaluate(BEYOND) > 0
    drawn = table.evaluate("table => getComputedStyle(table.parentElement).backgroundAttachment")
    assert drawn == "local, local, scroll, scroll"
