"""From a question to a claim about it and to the plan for what is missing, in a browser, on a desk and on a phone."""

import re
from itertools import product
from typing import Any

import pytest
from playwright.sync_api import expect

from apps.comparison.claims.models import Claim
from apps.inventory.models import Host
from apps.labs.isolation import lab_scope
from apps.studies.models import Study
from tests.comparison.like_for_like.simulated_labs import old_machine
from tests.comparison.like_for_like.stored_labs import store
from tests.comparison.like_for_like.test_missing_plan import FIVE, GIB, measure, offer
from tests.e2e.looking import broken_rules

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def history(furnished: Any, cast: Any) -> None:
    with lab_scope(cast.lab.pk):
        Study.objects.create(lab=cast.lab, slug="disks", title="Disks of our lab")
        store(cast.lab, old_machine(7))


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), pytest.param(1400, "light", marks=pytest.mark.long)])
def test_a_claim_is_written_from_the_question_in_one_click(
    history: None, signed_in: Any, cast: Any, complaints: list[str], width: int, scheme: str
) -> None:
    page = signed_in("engineer", width=width, color_scheme=scheme)
    page.goto("/compare/questions/raid_level/?operation=write&metric=bandwidth&host=new")
    page.get_by_role("link", name=re.compile("Write a claim about this.*RAID 5 ÷ single disk")).click()
    expect(page.get_by_label("Statement", exact=True)).to_have_value(
        "Bandwidth of write: RAID 5 is higher than single disk, everything else held equal"
    )
    assert broken_rules(page) == []
    page.get_by_label("By how much").fill("1.5")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("supported")
    expect(page.locator("svg.forest").first).to_be_visible()
    assert broken_rules(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    page.goto("/studies/disks/")
    page.get_by_text("with their runs").first.click()
    expect(page.get_by_role("link", name="runs", exact=True).first).to_be_visible()
    assert broken_rules(page) == []
    with lab_scope(cast.lab.pk):
        assert Claim.objects.about_questions().get().verdict == "supported"
    assert complaints == []


BEYOND = """[...document.querySelectorAll(".in-rows :is(td, th)")].filter((cell) => cell.offsetParent && !cell.closest("thead")
    && cell.getBoundingClientRect().right > cell.closest(".in-rows").getBoundingClientRect().right + 1).length"""
SMALLEST = """Math.min(...[...document.querySelectorAll("svg.forest text")].map((text) =>
    parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a))"""


def test_rows_and_plots_of_answers_are_read_without_glasses(
    history: None, signed_in: Any, cast: Any, complaints: list[str]
) -> None:
    """No cell lies beyond the right edge or is a word wide, and no word of a plot is smaller than 11 px."""
    page = signed_in("engineer")
    question = "/compare/questions/raid_level/?operation=write&metric=bandwidth&host=new"
    page.goto(question)
    link = page.get_by_role("link", name=re.compile("Write a claim about this.*RAID 5 ÷ single disk"))
    for width, address in product((390, 1280), (question, link.get_attribute("href"), "/compare/")):
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(address)
        expect(page.locator(".in-rows").first).to_be_visible()
        assert page.locator("svg.forest").count() == (address != "/compare/")
        assert page.evaluate(SMALLEST) >= 11, (width, address)
        assert page.evaluate(BEYOND) == 0, (width, address)
        assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"), address
        assert min(cell.bounding_box()["width"] for cell in page.locator(".in-rows td.wrap").all()) > 120, address
    assert complaints == []


def test_the_plan_for_what_is_missing_is_written_in_two_clicks(
    furnished: Any, signed_in: Any, cast: Any, complaints: list[str]
) -> None:
    with lab_scope(cast.lab.pk):
        host = Host.objects.create(lab=cast.lab, name="bench", ram_bytes=8 * GIB, kernel="6.1.0", cpu_model="C")
        measure(offer(host, "data", "ext4"), FIVE)
        measure(offer(host, "fast", "xfs"), [2.6e8])
    page = signed_in("engineer", width=1280)
    page.goto("/compare/questions/filesystem/?operation=read&metric=bandwidth&host=bench")
    assert broken_rules(page) == []
    page.get_by_role("link", name="Make the plan").click()
    expect(page.get_by_label("Title")).to_have_value("Filesystem: xfs / ext4")
    expect(page.get_by_label("Rounds")).to_have_value("2")
    assert broken_rules(page) == []
    page.get_by_role("button", name="Write the plan").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Filesystem: xfs / ext4")
    assert complaints == []
