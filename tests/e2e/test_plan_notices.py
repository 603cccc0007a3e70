"""Who is told what becomes of a plan: chosen at its start and changed while it runs, by keyboard."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from apps.labs.isolation import lab_scope
from apps.notifications.models import Destination
from apps.plans.models import Execution
from apps.studies.plans.services import set_cell
from tests.dashboard import world
from tests.e2e.looking import broken_rules
from tests.e2e.looking import look as look_at
from tests.e2e.test_plans import look, make

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_channels_are_chosen_at_the_start_and_changed_while_the_plan_runs(
    furnished: world.World, signed_in: Any, complaints: list[str]
) -> None:
    with lab_scope(furnished.lab.pk):
        for name in ("ops on call", "my own address"):
            Destination.objects.create(
                lab=furnished.lab, kind="webhook", name=name, address=f"https://x.org/{name[:2]}", created_by="owner"
            )
    page: Page = signed_in("engineer")
    plan = make(page, furnished, "quick-check", "Overnight")
    with lab_scope(furnished.lab.pk):
        row, point = plan.rows.first(), plan.points.first()
        set_cell(
            plan, row, point, actor="eve", reason="The controller resets at this load: wait for its firmware.", note=""
        )
    page.reload()
    page.get_by_label("Wait for guards, min").fill("0.33")
    page.locator(".plan-notify summary").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    expect(page.get_by_label("ops on call")).to_be_checked()
    look(page, "start-form")
    assert broken_rules(page) == []
    page.get_by_role("button", name="Start", exact=True).press("Enter")
    expect(page.get_by_role("heading", name="Overnight running")).to_be_visible()
    expect(page.locator(".plan-progress")).to_contain_text("Notified: ops on call · Change…")
    expect(page.locator(".plan-progress")).to_contain_text("wait for guards: at most 20")
    with lab_scope(furnished.lab.pk):
        assert Execution.objects.get().guard_wait == 20
    page.get_by_role("link", name="Change…").press("Enter")
    page.wait_for_url("**/recipients/")
    page.get_by_label("my own address").check()
    look(page, "recipients")
    page.get_by_role("button", name="Save").press("Enter")
    expect(page.locator(".plan-progress")).to_contain_text("Notified: my own address, ops on call · Change…")
    page.get_by_role("link", name="Cancel…").click()
    page.get_by_role("button", name="Cancel the plan").click()
    expect(page.get_by_label("Wait for guards, min")).to_have_value("0.33")
    assert complaints == []  # looking at pages below empties the list
    for address, name in (("recipients/", "recipients-phone"), ("schedule/", "schedule"), ("", "plan-cancelled")):
        assert look_at(page, f"/plans/{plan.pk}/{address}", complaints) == []
        look(page, name)
    assert look_at(page, f"/studies/{plan.study.slug}/plan/", complaints) == []
    page.set_viewport_size({"width": 1400, "height": 900})
    expect(page.get_by_role("link", name="why: The controller resets at this load")).to_be_visible()
    look(page, "study-plan")
    assert complaints == []
