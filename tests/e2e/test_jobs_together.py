"""Jobs that run at the same time as one point: pasted into the form, and their cell read by keyboard at any width."""

import re
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from apps.labs.isolation import lab_scope
from apps.parsers.core.models import ParsedSample
from apps.plans import services
from apps.plans.tasks import advance_host, run_ended
from apps.runs.models import Attempt, Run
from apps.runs.samples import save_samples
from apps.runs.states import State
from apps.studies.models import Plan
from tests.dashboard import world
from tests.e2e.looking import broken_rules, in_sizes
from tests.e2e.test_plan_page import tell
from tests.e2e.test_plans import look

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
JOB_FILE = """[global]
size=1g
runtime=20
time_based
ioengine=libaio
direct=1
[small]
rw=randread
bs=4k
iodepth=16
[large]
rw=randread
bs=64k
iodepth=16
[writer]
rw=write
bs=1m
[mixed]
stonewall
rw=randrw
bs=4k
"""
RATES = {"randread": 81e6, "write": 203e6, "randwrite": 29e6}


def measure(furnished: world.World, plan: Plan, factor: float) -> None:
    """Let the host make its next step: each of its jobs has figures of its own."""
    with lab_scope(furnished.lab.pk):
        advance_host(plan.pk, furnished.host.pk)
        run = Run.objects.open().select_related("workload").get(planned_run__row__plan=plan)
        now = timezone.now()
        Run.objects.filter(pk=run.pk).update(state=State.FINISHED, started_at=now, finished_at=now, facts={})
        samples = []
        for number, job in enumerate(run.workload.jobs):
            sizes = {"file_size": job["file_size"], "block_size": job["block_size"], "threads": job["numjobs"],
                     "iodepth": job["iodepth"], "section": number}  # fmt: skip
            for operation in ("randread", "randwrite") if job["rw"] == "randrw" else (job["rw"],):
                rate = RATES[operation] * factor
                values = {"bandwidth": rate, "iops": rate / job["block_size"], "io_bytes": 20 * rate, "clat_p99": 9e6}
                samples += [ParsedSample(operation, metric, value, **sizes) for metric, value in values.items()]
        save_samples(run, samples, None)
        run_ended(run.pk)


def test_a_pasted_job_file_keeps_its_jobs_together(
    furnished: world.World, signed_in: Any, complaints: list[str]
) -> None:
    page: Page = signed_in("engineer")
    page.goto("/plans/new/")
    page.locator("#id_title").fill("Readers beside a writer")
    page.get_by_role("checkbox", name=str(furnished.target)).check()
    page.locator("#plan-guards-own").evaluate("element => { element.dataset.old = 'yes'; }")
    page.locator("#id_preset").select_option("job-file")
    expect(page.locator("#plan-guards-own[data-old]")).to_have_count(0)  # the procedure's guards are there
    page.get_by_role("checkbox", name="array settled").uncheck()  # one of the furnished host's is degraded
    page.get_by_text("A fio job file as the procedure").click()
    page.locator("#id_job_file").fill(JOB_FILE)
    page.locator("#id_rounds").fill("3")
    page.locator("#id_kind").select_option("fixed")
    expect(page.locator(".plan-estimate-total")).to_contain_text("6 runs")
    look(page, "together-new")
    page.get_by_role("button", name="Write the plan").focus()
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/plans/\d+/$"))
    with lab_scope(furnished.lab.pk):
        plan: Plan = Plan.objects.select_related("study").get(title="Readers beside a writer")
        services.start_plan(plan, actor="eve")
    for factor in (1.0, 1.0, 1.02, 0.98, 1.01):
        measure(furnished, plan, factor)
    with lab_scope(furnished.lab.pk):
        run = Run.objects.open().get(planned_run__row__plan=plan)
        now = timezone.now()
        Attempt.objects.filter(host=furnished.host).delete()
        Attempt.objects.create(lab=run.lab, run=run, host=run.host, number=1, state=State.RUNNING, offered_at=now)
        Run.objects.filter(pk=run.pk).update(state=State.RUNNING, started_at=now, progress=0.4)
    tell(run, 183e6)
    page.goto(f"/plans/{plan.pk}/")
    cell = page.locator("td.plan-cell-done")
    expect(cell.locator(".plan-value").first).to_contain_text("randread 164\u00a0MB/s")
    expect(cell.locator(".plan-value").nth(1)).to_contain_text("write 205\u00a0MB/s")
    expect(page.locator(".plan-cell-now .plan-value").first).to_contain_text("randread 183\u00a0MB/s now")
    page.locator("#plan-metric-clat_p99").focus()
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.closest('.plan-jobs') !== null"):
            break
    page.keyboard.press("Enter")
    expect(cell.locator(".plan-jobs li")).to_have_count(3)
    expect(cell.locator(".plan-jobs li").nth(1)).to_contain_text(
        "randread, 64\u00a0KiB blocks, depth 16: 81.8\u00a0MB/s"
    )
    tell(run, 200e6)
    expect(page.locator(".plan-cell-now .plan-value").first).to_contain_text("randread 200\u00a0MB/s now")
    expect(cell.locator(".plan-jobs li").first).to_be_visible()
    look(page, "together-1280-light")
    assert broken_rules(page) == []
    other: Page = signed_in("viewer")
    for width, scheme in in_sizes(other, (390, "dark"), (1920, "light")):
        other.goto(f"/plans/{plan.pk}/?metric=clat_p99")
        other.locator(".plan-jobs summary").first.click()
        look(other, f"together-{width}-{scheme}")
        assert other.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), "nothing sticks out"
        assert broken_rules(other) == []
    page.goto(f"/plans/{plan.pk}/edit/")
    expect(page.get_by_text("Its jobs run at the same time and stay as they are")).to_be_visible()
    look(page, "together-edit")
    assert broken_rules(page) == []
    assert complaints == []
