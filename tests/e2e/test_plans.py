"""Plans in a real browser: the estimate follows the form, results draw themselves while the page stays open."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from apps.labs.isolation import lab_scope
from apps.parsers.core.models import ParsedSample
from apps.plans.tasks import advance_host, run_ended
from apps.runs.models import Run
from apps.runs.samples import save_samples
from apps.runs.states import State
from apps.studies.models import Plan
from tests.dashboard import world
from tests.e2e.looking import broken_rules

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
DRAWN = """(id) => { const chart = window.Chart.getChart(document.querySelector(`[data-plan-chart=${id}-data] canvas`));
  return chart ? chart.data.datasets.map((set) => set.data.filter((one) => !Number.isNaN(one.y)).length) : null; }"""
HEADS = 4  # of a disk with 1 ms each: 4,000 IOPS
SETTLING = (900, 500, 220, 108, 102, 99, 101, 98)  # MB/s, round after round


def measure(furnished: world.World, plan: Plan, values: Callable[[dict[str, Any]], dict[str, float]]) -> bool:
    """Let the host of a plan make its next step; return False where there is none."""
    with lab_scope(furnished.lab.pk):
        advance_host(plan.pk, furnished.host.pk)
        run = Run.objects.open().filter(planned_run__row__plan=plan).select_related("workload").first()
        if run is None:
            return False
        now = timezone.now()
        Run.objects.filter(pk=run.pk).update(state=State.FINISHED, started_at=now, finished_at=now, facts={})
        job = run.workload.jobs[0]
        sizes = {"file_size": job["file_size"], "block_size": job["block_size"], "threads": job["numjobs"],
                 "iodepth": job["iodepth"]}  # fmt: skip
        samples = [ParsedSample(job["rw"], metric, value, **sizes) for metric, value in values(job).items()]
        save_samples(run, samples, None)
        run_ended(run.pk)
    return True


def as_a_disk(job: dict[str, Any]) -> dict[str, float]:
    flight = job["iodepth"] * job["numjobs"]
    iops = 1000.0 * min(flight, HEADS)
    return {"iops": iops, "bandwidth": 4096 * iops, "clat_p99": flight / iops * 1e9}


def await_drawn(page: Page, chart: str, series: int, points: int) -> None:
    """Wait until a series of a chart has so many marks; the site's policy forbids what `wait_for_function` would do."""
    for _ in range(200):
        drawn = page.evaluate(DRAWN, chart)
        if drawn and drawn[series] == points:
            return
        page.wait_for_timeout(100)
    raise AssertionError(f"{chart} has {drawn}")


def look(page: Page, name: str) -> None:
    """Keep a picture where somebody wants to look at the pages: SPINDLE_PICTURES names the folder."""
    if folder := os.environ.get("SPINDLE_PICTURES"):
        page.screenshot(path=Path(folder) / f"{name}.png", full_page=True, caret="initial")


def make(page: Page, furnished: world.World, preset: str, title: str) -> Plan:
    page.goto("/plans/new/")
    page.locator("#id_title").fill(title)
    page.get_by_role("checkbox", name=str(furnished.target)).check()
    page.locator("#id_preset").select_option(preset)
    page.get_by_role("checkbox", name="array settled").uncheck()  # one of the furnished host's is degraded
    most = {"saturation": "At most about", "steady-state": "up to", "quick-check": "4 runs"}
    expect(page.locator(".plan-estimate-total")).to_contain_text(most[preset])
    look(page, f"new-{preset}")
    page.get_by_role("button", name="Write the plan").click()
    page.wait_for_url("**/plans/*/")
    with lab_scope(furnished.lab.pk):
        plan: Plan = Plan.objects.select_related("study").get(title=title)
    return plan


def test_a_search_for_saturation_draws_its_curve_while_it_runs(
    furnished: world.World, signed_in: Any, complaints: list[str]
) -> None:
    page: Page = signed_in("engineer")
    plan = make(page, furnished, "saturation", "How far")
    assert "At most about" in page.locator(".plan-estimate-total").inner_text()
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.get_by_role("heading", name="How far running")).to_be_visible()
    page.evaluate("window.sameDocument = true")
    for _ in range(3):
        measure(furnished, plan, as_a_disk)
    chart = page.locator("[data-plan-chart=chart-saturation-data] canvas")
    expect(chart).to_be_visible()
    expect(page.locator(".plan-statements")).to_contain_text("So far the highest IOPS")
    await_drawn(page, "chart-saturation", 0, 3)
    while measure(furnished, plan, as_a_disk):
        pass
    expect(page.locator(".plan-statements")).to_contain_text("Highest IOPS within p99 ≤ 5.00")
    expect(page.locator(".plan-statements")).to_contain_text("4\u202f000 at depth 2 × 2 jobs")
    assert page.evaluate("window.sameDocument"), "the page was never loaded again"
    page.reload()
    await_drawn(page, "chart-saturation", 0, 6)
    assert broken_rules(page) == []
    assert complaints == []
    look(page, "saturation")
    for width, scheme in ((390, "light"), (1280, "dark")):
        other: Page = signed_in("viewer", width=width, color_scheme=scheme)
        other.goto(f"/plans/{plan.pk}/")
        await_drawn(other, "chart-saturation", 0, 6)
        look(other, f"saturation-{width}-{scheme}")
        assert other.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), "nothing sticks out"


def test_rounds_of_a_steady_state_and_a_schedule(furnished: world.World, signed_in: Any, complaints: list[str]) -> None:
    page: Page = signed_in("engineer")
    plan = make(page, furnished, "steady-state", "What lasts")
    page.get_by_role("button", name="Start", exact=True).click()
    for value in SETTLING:
        measure(furnished, plan, lambda job, value=value: {"bandwidth": value * 1e6})  # type: ignore[misc]
    page.goto(f"/plans/{plan.pk}/")
    await_drawn(page, "chart-steady-1", 2, 5)
    assert page.evaluate(DRAWN, "chart-steady-1") == [8, 5, 5]
    expect(page.locator(".plan-statements")).to_contain_text("Steady state in rounds 4 to 8")
    page.get_by_role("link", name="Schedule…").click()
    expect(page.locator("#id_time_zone")).to_have_value("UTC")
    page.locator("#id_kind").select_option("weekly")
    page.get_by_label("Monday").check()
    page.locator("#id_at").fill("02:30")
    page.locator("#id_time_zone").select_option("Europe/Rome")
    look(page, "schedule-form")
    page.get_by_role("button", name="Set the schedule").click()
    expect(page.locator("#schedule-title + span")).to_contain_text("Monday at 02:30, Europe/Rome")
    expect(page.locator(".plan-due")).to_have_count(3)
    assert broken_rules(page) == []
    look(page, "steady-state")
    page.get_by_role("button", name="Pause the schedule").click()
    expect(page.get_by_role("button", name="Resume the schedule")).to_be_visible()
    assert complaints == []
    for width, scheme in ((390, "dark"), (1280, "dark")):
        other: Page = signed_in("viewer", width=width, color_scheme=scheme)
        other.goto(f"/plans/{plan.pk}/")
        await_drawn(other, "chart-steady-1", 2, 5)
        look(other, f"steady-{width}-{scheme}")
        assert other.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), "nothing sticks out"


def test_the_form_of_a_schedule_begins_with_the_readers_own_zone(furnished: world.World, signed_in: Any) -> None:
    page: Page = signed_in("engineer", timezone_id="Asia/Tokyo")
    plan = make(page, furnished, "quick-check", "Nights")
    page.goto(f"/plans/{plan.pk}/schedule/")
    expect(page.locator("#id_time_zone")).to_have_value("Asia/Tokyo")
