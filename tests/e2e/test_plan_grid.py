"""A plan as grids in a real browser: chosen by keyboard, kept while the live part changes, and read on a phone."""

from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from apps.labs.isolation import lab_scope
from apps.plans import services
from apps.runs.models import Attempt, Run
from apps.runs.states import State
from apps.studies.models import Configuration, Plan, Study
from apps.studies.plans.plan_import import save_plan
from apps.studies.plans.schema import plan_of
from tests.dashboard import world
from tests.e2e.looking import broken_rules, in_sizes
from tests.e2e.test_plan_page import tell
from tests.e2e.test_plans import look, measure

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
KIB, MIB = 1 << 10, 1 << 20
GRID = "?grid=file_size-block_size"


def iozone_plan(furnished: world.World, files: int = 6) -> Plan:
    """Write a plan like IOzone's `-a`: every file with every record that is not larger, writing and reading."""
    study = Study.objects.create(lab=furnished.lab, slug="files", title="Files")
    Configuration.objects.create(
        study=study, name="raid", label="RAID 50", host=furnished.host, target=furnished.target
    )
    points = [
        {"name": f"{rw}-{file}-{record}", "label": f"{rw} {MIB << file >> 20} MiB by {4 << record} KiB", "tool": "fio",
         "file_size": MIB << file, "block_size": (4 * KIB) << record,
         "job": {"rw": rw, "direct": True, "sync": "none", "time_based": False}}
        for file in range(files)
        for record in range(0, 12, 2)
        if (4 * KIB) << record <= MIB << file
        for rw in ("write", "read")
    ]  # fmt: skip
    written = {
        "name": "iozone", "title": "Files by records", "stopping": {"kind": "fixed", "rounds": 1}, "points": points,
        "configurations": [{"configuration": "raid"}],
    }  # fmt: skip
    return save_plan(study, plan_of(written), actor="me", position=0)[0]


def by_size(job: dict[str, Any]) -> dict[str, float]:
    bandwidth = 2e5 * (job["block_size"] / KIB) ** 0.9 * (1 if job["rw"] == "read" else 0.6)
    return {"bandwidth": bandwidth, "iops": bandwidth / job["block_size"]}


def test_a_grid_by_keyboard_while_it_changes_and_on_a_phone(
    furnished: world.World, signed_in: Any, complaints: list[str]
) -> None:
    page: Page = signed_in("engineer", color_scheme="light", reduced_motion="reduce")
    with lab_scope(furnished.lab.pk):
        plan = iozone_plan(furnished)
        services.start_plan(plan, actor="eve")
    for _ in range(24):  # both kinds with files of 1 and 2 MiB, and some of 4
        measure(furnished, plan, by_size)
    with lab_scope(furnished.lab.pk):
        run = Run.objects.open().get(planned_run__row__plan=plan)
        now = timezone.now()
        Attempt.objects.filter(host=furnished.host).delete()
        Attempt.objects.create(lab=run.lab, run=run, host=run.host, number=1, state=State.RUNNING, offered_at=now)
        Run.objects.filter(pk=run.pk).update(state=State.RUNNING, started_at=now, progress=0.4)
    tell(run, 183e6)
    page.goto(f"/plans/{plan.pk}/")
    link = page.locator("#plan-layout-file_size-block_size")
    expect(link).to_have_text("Grid: file size × block size")
    link.focus()
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/{GRID}")
    expect(page.locator("table.plan-grid")).to_have_count(2)
    now_cell = page.locator(".plan-grid .now")
    expect(now_cell).to_have_text("18340%")
    page.evaluate("window.sameDocument = true")

    first = page.locator("table.plan-grid").first.locator("button").first
    page.locator("table.plan-grid").first.locator("xpath=ancestor::div[@role='region']").focus()
    page.keyboard.press("Tab")
    expect(first).to_be_focused()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    second = page.locator("table.plan-grid").first.locator("tbody tr").nth(1).locator("button").nth(1)
    expect(second).to_be_focused()
    tell(run, 190e6)
    expect(now_cell).to_have_text("19040%")
    expect(second).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/{GRID}&cell=*")
    expect(page.locator(".plan-chosen-title")).to_contain_text("RAID 50, write 2 MiB by 16 KiB: done")
    expect(page.locator(".plan-chosen")).to_contain_text("1 of 1 · done")
    expect(second).to_be_focused()
    expect(second).to_have_attribute("aria-current", "true")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("table.plan-grid").first.locator("tbody tr").nth(1).locator("button").first).to_be_focused()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    expect(page.locator("table.plan-grid").first.locator("tbody tr").nth(1).locator("button").first).to_be_focused()
    tell(run, 200e6)
    expect(now_cell).to_have_text("20040%")
    assert page.evaluate("window.sameDocument")
    assert broken_rules(page) == []
    look(page, "grid")
    page.go_back()
    page.wait_for_url(f"**/{GRID}")
    other: Page = signed_in("viewer")
    for width, scheme in in_sizes(other, (390, "dark"), (1920, "light"), (768, "dark")):
        other.goto(f"/plans/{plan.pk}/{GRID}&metric=iops")
        other.locator("table.plan-grid").last.locator("button").first.click()
        expect(other.locator(".plan-chosen-title strong")).to_be_visible()
        expect(other.locator(".plan-chosen-title")).to_be_in_viewport()
        look(other, f"grid-{width}-{scheme}")
        assert other.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), "nothing sticks out"
        assert broken_rules(other) == []
    assert complaints == []
