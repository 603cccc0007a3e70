"""Plans in a real browser: the estimate follows the form, results draw themselves while the page stays open."""

import os
import re
from collections.abc import Callable
from datetime import time, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from apps.inventory.models import Host, Target
from apps.labs.isolation import lab_scope
from apps.parsers.core.models import ParsedSample
from apps.plans.models import PlanSchedule
from apps.plans.schedules.services import ScheduleRequest, fire, pause_schedule, resume_schedule, set_schedule
from apps.plans.tasks import advance_host, run_ended
from apps.runs.models import Run
from apps.runs.samples import save_samples
from apps.runs.states import State
from apps.studies.lookup import published_lab
from apps.studies.models import Plan, Study
from apps.studies.plans.plan_import import save_plan
from apps.studies.plans.schema import plan_of
from tests.dashboard import world
from tests.e2e.looking import broken_rules, in_sizes
from tests.e2e.looking import look as look_at

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
    page.locator("#plan-guards-own").evaluate("element => { element.dataset.old = 'yes'; }")
    page.locator("#id_preset").select_option(preset)
    expect(page.locator("#plan-guards-own[data-old]")).to_have_count(0)  # the procedure's guards are there
    page.get_by_role("checkbox", name="array settled").uncheck()  # one of the furnished host's is degraded
    most = {"saturation": "At most about", "steady-state": "up to", "quick-check": "4 runs"}
    expect(page.locator(".plan-estimate-total")).to_contain_text(most[preset])
    look(page, f"new-{preset}")
    page.get_by_role("button", name="Write the plan").click()
    page.wait_for_url(re.compile(r"/plans/\d+/$"))
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
    other: Page = signed_in("viewer")
    for width, scheme in in_sizes(other, (390, "light"), (1280, "dark")):
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
    other: Page = signed_in("viewer")
    for width, scheme in in_sizes(other, (390, "dark"), (1280, "dark")):
        other.goto(f"/plans/{plan.pk}/")
        await_drawn(other, "chart-steady-1", 2, 5)
        look(other, f"steady-{width}-{scheme}")
        assert other.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), "nothing sticks out"


def test_the_form_of_a_schedule_begins_with_the_readers_own_zone(furnished: world.World, signed_in: Any) -> None:
    page: Page = signed_in("engineer", timezone_id="Asia/Tokyo")
    plan = make(page, furnished, "quick-check", "Nights")
    page.goto(f"/plans/{plan.pk}/schedule/")
    expect(page.locator("#id_time_zone")).to_have_value("Asia/Tokyo")


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), pytest.param(1280, "light", marks=pytest.mark.long)])
def test_targets_are_found_and_chosen_by_host(
    furnished: world.World, signed_in: Any, complaints: list[str], width: int, scheme: str
) -> None:
    with lab_scope(furnished.lab.pk):
        for number in range(40):
            host = Host.objects.create(lab=furnished.lab, name=f"rack{number:02}")
            for name in ("hdd", "nvme"):
                Target.objects.create(lab=furnished.lab, host=host, name=name, path=f"/mnt/{name}", is_agents_own=True)
        others = Target.objects.filter(lab=furnished.lab, is_agents_own=True).count() - 80
    page: Page = signed_in("engineer", width=width, color_scheme=scheme)
    page.goto("/plans/new/")
    status = page.locator("[data-target-status]")
    expect(status).to_have_text(f"0 of {80 + others} chosen")
    page.get_by_label("Find hosts and targets").fill("rack0 nvme")
    expect(status).to_have_text(f"0 of {80 + others} chosen, 10 shown")
    expect(page.get_by_role("checkbox", name="rack07: nvme")).to_be_visible()
    expect(page.get_by_role("checkbox", name="rack07: hdd")).to_be_hidden()
    page.evaluate("addEventListener('submit', () => { window.isSent = true; }, true)")
    page.keyboard.press("Enter")
    assert not page.evaluate("window.isSent"), "Enter in the search sends nothing"
    page.get_by_role("button", name="Choose all shown").click()
    expect(status).to_have_text(f"10 of {80 + others} chosen, 10 shown")
    page.get_by_label("Find hosts and targets").fill("rack05")
    expect(status).to_have_text(f"10 of {80 + others} chosen, 2 shown, 9 of the chosen are not shown")
    whole = page.get_by_role("checkbox", name="all of this host rack05")
    assert whole.evaluate("box => box.indeterminate")
    look(page, f"targets-search-{width}-{scheme}")
    whole.focus()
    page.keyboard.press("Space")
    expect(page.get_by_role("group", name="rack05").locator("[data-target-count]")).to_have_text("2 of 2 chosen")
    page.get_by_label("Find hosts and targets").fill("")
    expect(status).to_have_text(f"11 of {80 + others} chosen")
    expect(page.locator(".plan-estimate-total")).to_be_visible()
    look(page, f"targets-{width}-{scheme}")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), "nothing sticks out"
    cut_off = "[...document.querySelectorAll('.plan-estimate')].map((one) => one.scrollWidth - one.clientWidth).filter((beyond) => beyond > 0)"
    assert page.evaluate(cut_off) == [], "all columns of the estimate are in sight"
    assert broken_rules(page) == []
    page.get_by_label("Title").fill("Eleven targets")
    page.get_by_role("button", name="Write the plan").dblclick()
    expect(page.get_by_role("heading", name="Eleven targets")).to_be_visible()
    with lab_scope(furnished.lab.pk):
        assert Plan.objects.get(title="Eleven targets").rows.count() == 11
    assert complaints == []


def test_a_schedule_says_what_became_of_its_times_and_leads_to_a_trend(
    furnished: world.World, signed_in: Any, complaints: list[str]
) -> None:
    page: Page = signed_in("engineer")
    plan = make(page, furnished, "quick-check", "Nights")
    with lab_scope(furnished.lab.pk):
        set_schedule(plan, ScheduleRequest("nightly", "Europe/Rome", at=time(2, 30)), actor="eve")
        since = timezone.now() - timedelta(days=3)
        PlanSchedule.objects.update(considered_at=since, next_at=since + timedelta(hours=1))
    page.goto(f"/plans/{plan.pk}/")
    expect(page.get_by_text("Not carried out yet:")).to_be_visible()
    with lab_scope(furnished.lab.pk):
        firing = fire(plan.pk, timezone.now())
        assert firing
        assert firing.started_plan
    while measure(furnished, firing.started_plan, as_a_disk):
        pass
    with lab_scope(furnished.lab.pk):
        pause_schedule(plan, actor="eve")
        PlanSchedule.objects.update(considered_at=since)
        resume_schedule(plan, actor="eve")
    page.goto(f"/plans/{plan.pk}/")
    expect(page.get_by_text("No trend follows these runs yet")).to_be_visible()
    page.get_by_role("link", name="Follow a configuration…").click()
    expect(page.get_by_role("heading", name="New watch")).to_be_visible()
    page.get_by_role("button", name="Watch", exact=True).click()
    page.wait_for_url(re.compile(r"/trends/\d+/"))
    watch = page.locator("h1").inner_text().split("\n")[0]
    assert complaints == []
    for address in (f"/plans/{plan.pk}/", f"/plans/{plan.pk}/trends/", f"/plans/{firing.started_plan_id}/"):
        assert look_at(page, address, complaints) == [], address
    page.goto(f"/plans/{plan.pk}/")
    expect(page.locator("table.watches tbody th a")).to_have_count(1)
    assert page.locator("table.watches tbody th a").inner_text() in watch
    look(page, "schedule-trends")
    other: Page = signed_in("viewer")
    for width, scheme in in_sizes(other, (390, "dark"), (390, "light"), (1280, "dark")):
        other.goto(f"/plans/{plan.pk}/")
        expect(other.locator("table.watches")).to_be_visible()
        look(other, f"schedule-trends-{width}-{scheme}")
        assert other.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), "nothing sticks out"


def write_report() -> Plan:
    """Write a published report's plan with an order and guards of its own."""
    lab = published_lab()[0]
    with lab_scope(lab.pk):
        study = Study.objects.create(lab=lab, slug="old", title="Old disks")
        point = {"name": "w", "tool": "dd", "file_size": 1 << 30, "block_size": 1 << 20, "operations": ["write"]}
        data = {
            "name": "dd", "title": "dd", "order": "sequential", "stopping": {"kind": "fixed", "rounds": 2},
            "configurations": [{"name": "a", "label": "A", "reason": "not held"}], "points": [point],
            "guards": [{"kind": "cache_rule", "factor": 4}, {"kind": "fresh_system"}],
        }  # fmt: skip
        return save_plan(study, plan_of(data), actor="report", position=0, is_from_report=True)[0]


def test_a_report_chosen_in_the_form_brings_its_order_and_guards(
    furnished: world.World, signed_in: Any, complaints: list[str]
) -> None:
    report = write_report()
    page: Page = signed_in("engineer")
    page.goto("/plans/new/")
    page.locator("#id_title").fill("Again")
    page.get_by_role("checkbox", name=str(furnished.target)).check()
    expect(page.locator("#id_order")).to_have_value("interleaved")
    with page.expect_request(lambda sent: "estimate" in sent.url and "order=sequential" in (sent.post_data or "")):
        page.locator("#id_preset").select_option(f"report-{report.pk}")
    expect(page.locator("#id_order")).to_have_value("sequential")
    expect(page.locator("input[name=guards]:checked")).to_have_count(1)
    page.get_by_role("checkbox", name="temperature").check()
    page.locator("#id_order").select_option("randomized")
    with page.expect_request(
        lambda sent: "estimate" in sent.url and "guards=temperature" not in (sent.post_data or "")
    ):
        page.get_by_role("button", name="Order and guards of the procedure").click()
    expect(page.locator("#id_order")).to_have_value("sequential")
    expect(page.locator("input[name=guards]:checked")).to_have_count(1)
    expect(page.get_by_role("checkbox", name="cache rule: File size at least 4 × RAM")).to_be_checked()
    expect(page.locator("#id_title")).to_have_value("Again")
    assert broken_rules(page) == []
    look(page, "new-report")
    page.get_by_role("button", name="Write the plan").click()
    page.wait_for_url(re.compile(r"/plans/\d+/$"))
    look(page, "report-plan")
    assert complaints == []
    with lab_scope(furnished.lab.pk):
        made = Plan.objects.get(title="Again")
        assert (made.order, [guard.kind for guard in made.guards.all()]) == ("sequential", ["cache_rule"])
    other: Page = signed_in("engineer")
    for width, scheme in in_sizes(other, (390, "light"), (1280, "dark")):
        for name, address in (("plan", f"/plans/{made.pk}/"), ("new", "/plans/new/"), ("list", "/plans/")):
            other.goto(address)
            look(other, f"{name}-{width}-{scheme}")
            assert other.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), "nothing sticks out"
