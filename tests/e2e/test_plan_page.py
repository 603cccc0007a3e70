"""A plan's page that stays open: any metric by keyboard, kept while the live part changes, and times by the reader's clock."""

import re
import time
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from apps.core import pubsub
from apps.inventory.models import Host, Target
from apps.labs.isolation import lab_scope
from apps.plans import services
from apps.runs.models import Attempt, Run
from apps.runs.states import State
from tests.dashboard import world
from tests.e2e.looking import broken_rules, in_sizes
from tests.e2e.test_plans import as_a_disk, look, make, measure

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
ISO = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d")


def tell(run: Run, bandwidth: float) -> None:
    """Let a host send what its run does now."""
    job = {"name": "j", "operation": "randread", "bandwidth": bandwidth, "iops": bandwidth / 4096, "latency_mean": 2e6}
    message = {"t": 1.0, "progress": 0.4, "jobs": [{**job, "done": 0.4}], "at": time.time()}
    pubsub.remember(f"run:{run.pk}", message, 10, 60)


def test_any_metric_by_keyboard_and_the_live_part_keeps_it(
    furnished: world.World, signed_in: Any, complaints: list[str]
) -> None:
    page: Page = signed_in("engineer", timezone_id="Asia/Tokyo")
    plan = make(page, furnished, "quick-check", "All day")
    with lab_scope(furnished.lab.pk):
        services.start_plan(plan, actor="eve")
    assert measure(furnished, plan, as_a_disk)
    with lab_scope(furnished.lab.pk):
        run = Run.objects.open().get(planned_run__row__plan=plan)
        now = timezone.now()
        Attempt.objects.filter(host=furnished.host).delete()
        Attempt.objects.create(lab=run.lab, run=run, host=run.host, number=1, state=State.RUNNING, offered_at=now)
        Run.objects.filter(pk=run.pk).update(state=State.RUNNING, started_at=now, progress=0.4)
    tell(run, 183e6)
    page.goto(f"/plans/{plan.pk}/")
    expect(page.locator(".plan-cell-now .plan-value")).to_have_text("183\u00a0MB/s now")
    page.evaluate("window.sameDocument = true")
    tell(run, 190e6)
    expect(page.locator(".plan-cell-now .plan-value")).to_have_text("190\u00a0MB/s now")
    assert page.evaluate("window.sameDocument")
    assert broken_rules(page) == []
    shown = page.locator("#plan-live time").all_inner_texts()
    assert shown
    assert all(ISO.fullmatch(text) for text in shown)
    local = page.evaluate("new Date().toLocaleTimeString('en-GB', {timeZone: 'Asia/Tokyo', hour: '2-digit'})")
    assert any(f" {local}:" in text for text in shown), "by the reader's clock"
    page.locator("#plan-metric-bandwidth").focus()
    page.keyboard.press("Tab")
    expect(page.locator("#plan-metric-iops")).to_be_focused()
    tell(run, 200e6)
    expect(page.locator(".plan-cell-now .plan-value")).to_have_text("200\u00a0MB/s now")
    expect(page.locator("#plan-metric-iops")).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_url("**/?metric=iops")
    expect(page.locator("#plan-metric-iops")).to_have_attribute("aria-current", "true")
    tell(run, 4096e4)
    expect(page.locator(".plan-cell-now .plan-value")).to_have_text("10.0\u00a0k/s now")
    assert page.url.endswith("?metric=iops")
    look(page, "plan-page")
    other: Page = signed_in("viewer")
    for width, scheme in in_sizes(other, (390, "dark"), (1920, "light")):
        other.goto(f"/plans/{plan.pk}/?metric=clat_p99")
        expect(other.locator(".plan-cell-now")).to_be_visible()
        look(other, f"plan-page-{width}-{scheme}")
        assert other.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), "nothing sticks out"
        assert broken_rules(other) == []
    assert complaints == []


def test_the_form_of_runs_finds_targets_as_that_of_plans(
    furnished: world.World, signed_in: Any, complaints: list[str]
) -> None:
    with lab_scope(furnished.lab.pk):
        for number in range(12):
            host = Host.objects.create(lab=furnished.lab, name=f"rack{number:02}")
            for name in ("hdd", "nvme"):
                Target.objects.create(lab=furnished.lab, host=host, name=name, path=f"/mnt/{name}", is_agents_own=True)
    page: Page = signed_in("engineer", width=390, color_scheme="dark")
    # the form asks for its job file once as it opens; a slow machine is idle before it has begun that
    with page.expect_response(lambda got: got.request.method == "POST"):
        page.goto("/runs/new/")
    page.evaluate(
        "for (const type of ['input', 'change', 'submit']) "
        "document.getElementById('run-form').addEventListener(type, () => { window.heard = type; })"
    )
    page.get_by_label("Find hosts and targets").fill("rack0 nvme")
    expect(page.locator("[data-target-status]")).to_contain_text("10 shown")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("window.heard") is None, "the search is no part of the form"
    page.get_by_role("button", name="Choose all shown").click()
    expect(page.locator("[data-target-status]")).to_contain_text("10 of ")
    expect(page.locator("#equivalent")).to_contain_text("30 runs")
    look(page, "runs-new-targets")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), "nothing sticks out"
    assert broken_rules(page) == []
    assert complaints == []
