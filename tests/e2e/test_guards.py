"""Guards and preparations in a browser: their evidence, the plan's start, the forms that ask for them; wide and on a phone."""

import os
from pathlib import Path
from typing import Any

import pytest

from apps.inventory.models import Host, Target
from apps.labs.isolation import lab_scope
from apps.plans import services
from apps.plans.tasks import advance_host
from apps.runs.models import Run
from apps.studies.models import Plan
from tests.plans.conftest import GIB, JOB, MIB, answer, end

pytestmark = pytest.mark.browser
PICTURES = os.environ.get("SPINDLE_PICTURES")  # a folder for pictures to look at


@pytest.fixture
def guarded(furnished: Any, cast: Any) -> tuple[Plan, Run]:
    """A plan with guards and preparations, of which the first runs are there."""
    with lab_scope(cast.lab.pk):
        host = Host.objects.create(lab=cast.lab, name="guarded", ram_bytes=GIB)
        target = Target.objects.create(lab=cast.lab, host=host, name="data", path="/data", is_agents_own=True)
        point = {"name": "reads", "tool": "fio", "file_size": GIB, "block_size": MIB, "job": JOB}
        wanted = services.PlanRequest(
            cast.lab, "Guarded", [target], [point], {"kind": "fixed", "rounds": 3},
            guards=[
                {"kind": "idle"}, {"kind": "alone", "is_required": False}, {"kind": "array_settled"},
                {"kind": "fresh_system"}, {"kind": "preconditioned"},
            ],
            preparations=[{"kind": "sequential_fill", "passes": 1}, {"kind": "pause", "time": "step", "seconds": 30}],
        )  # fmt: skip
        plan = services.create_plan(wanted, actor="eve")
        services.start_plan(plan, actor="eve")
        assert advance_host(plan.pk, target.host_id) == "preparing"
        fill = Run.objects.open().select_related("workload").get(preparation_run__isnull=False)
        end(fill, value=2e8)
        run = Run.objects.open().select_related("workload").get(planned_run__isnull=False)
        pause, idle, alone, array = run.guards
        figures = {
            "runnable_tasks": 0.1,
            "cores_busy": 0.21,
            "in_flight": 0,
            "disks": 12000,
            "network": 900,
            "seconds": 10.02,
        }
        limits = {"runnable_tasks": 0.5, "cores_busy": 0.5, "in_flight": 0.5, "disks": 1e6, "network": 1e6}
        mdstat = "md127 : active raid5 sdd1[3] sdc1[1] sdb1[0]\n      1953258496 blocks super 1.2 [3/3] [UUU]"
        end(run, facts={"load_before": 0.1}, guards=[
            answer(pause, text="waited 30.0 s", figures={"seconds": 30.001}, limits={"seconds": 30}),
            answer(idle, figures=figures, limits=limits, waited_s=85.0),
            answer(alone, "failed", text="another benchmark runs: 1 dd", figures={"processes": 1, "programs": "dd"}),
            answer(array, text="md127: all members there, nothing under way", figures={"arrays": 1, "mdstat": mdstat}),
        ])  # fmt: skip
        return plan, Run.objects.get(pk=run.pk)


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), pytest.param(1400, "light", marks=pytest.mark.long)])
def test_evidence_and_preparations_can_be_read(
    guarded: tuple[Plan, Run], signed_in: Any, complaints: list[str], width: int, scheme: str
) -> None:
    plan, run = guarded
    page = signed_in(width=width, color_scheme=scheme)
    opened = 0
    for name, address, words in (
        ("run", run.get_absolute_url(), "on the host, right before fio"),
        ("plan", plan.get_absolute_url(), "1 of 1 passes"),
        ("edit-plan", f"/plans/{plan.pk}/edit/", "A statement of yours"),
        ("new-plan", "/plans/new/", "Condition the disks, or wait, before the runs"),
        ("new-run", "/runs/new/", "Wait for the host to be idle"),
    ):
        page.goto(address)
        page.get_by_text(words).first.wait_for(state="attached")
        for summary in page.locator("details:not([open]) > summary").all():
            if summary.is_visible() and ("Figures" in summary.inner_text() or "ait" in summary.inner_text()):
                summary.click()
                opened += 1
        sideways = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert sideways <= 0, f"{name} scrolls sideways by {sideways} px"
        if PICTURES:
            page.screenshot(path=Path(PICTURES) / f"{name}-{width}-{scheme}.png", full_page=True)
    assert opened
    assert complaints == []
