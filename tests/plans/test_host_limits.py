"""Cells that a host's agent.conf does not allow: named before the start, left out with the reason, and never "done"."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from apps.agents.models import Agent
from apps.inventory.models import Host, Target
from apps.plans import services
from apps.plans.estimates.plan_estimate import estimate_page
from apps.plans.execution_page import ExecutionPage
from apps.plans.models import Execution, Preparation
from apps.plans.services import ExecutionError
from apps.runs.models import Run
from apps.studies.models import Plan, PlanCell, Study
from tests.api.conftest import Script, script
from tests.plans.conftest import GIB, HOSTS, JOB, MIB, advance_all, end_all, steps_of
from tests.sampling import for_each

__all__ = ["script"]
Scripts = Callable[[str], Script]
WritePlan = Callable[..., Plan]
TIMED = {"rw": "randread", "direct": True, "sync": "none", "time_based": True, "runtime": 600, "ioengine": "libaio"}
LIMITS = [
    ("quota_bytes", 2 * GIB, {"file_size": 4 * GIB}, "file_size", 4 * GIB),
    ("max_numjobs", 2, {"threads": 4}, "numjobs", 4),
    ("max_iodepth", 16, {"iodepth": 32, "job": {**JOB, "ioengine": "libaio"}}, "iodepth", 32),
    ("max_runtime_s", 60, {"job": TIMED}, "runtime", 600),
]


def allow(name: str, **policy: int) -> None:
    """Let a host report the limits of its agent.conf."""
    host = Host.objects.get(name=name)
    Agent.objects.update_or_create(
        host=host, defaults={"lab": host.lab, "secret_sha256": f"{host.pk:064d}", "machine": name, "policy": policy}
    )


def page_of(plan: Plan) -> ExecutionPage:
    return ExecutionPage(Plan.objects.whole().prefetch_related("preparations").get(pk=plan.pk))


def large_point(**changes: Any) -> dict[str, Any]:
    return {"name": "large", "tool": "fio", "file_size": GIB, "block_size": MIB, "job": JOB, **changes}


@for_each("limit, most, change, field, found", LIMITS, taken_back=True)
def test_a_cell_beyond_a_limit_is_named_before_the_start_and_left_out_by_it(
    write_plan: WritePlan, limit: str, most: int, change: dict[str, Any], field: str, found: int
) -> None:
    allow("alpha", **{limit: most})
    small = {"name": "small", "tool": "fio", "file_size": GIB, "block_size": MIB, "job": JOB}
    plan = write_plan(points=[small, large_point(**change)])
    page = page_of(plan)
    assert page.start_problems == []
    [sentence] = page.left_out_at_start
    assert sentence.startswith(f"alpha: large: {field}: found {found}, expected at most {most}")
    estimate = estimate_page(page.matrix)
    assert estimate is not None
    [refusal] = estimate.refused
    assert (refusal.row, refusal.problem.field, refusal.problem.found) == ("alpha", field, found)
    assert [(entry.cell.row, entry.cell.point) for entry in estimate.cells] == [
        ("alpha", "small"), ("beta", "small"), ("beta", "large"),
    ]  # fmt: skip
    services.start_plan(plan, actor="eve")
    assert PlanCell.objects.get().reason == f"It could not be started: {refusal.problem}."


@pytest.mark.slow
def test_a_plan_is_done_without_the_cell_that_its_start_left_out(write_plan: WritePlan) -> None:
    allow("alpha", quota_bytes=2 * GIB)
    plan = write_plan()
    services.start_plan(plan, actor="eve")
    advance_all(plan)
    steps = []
    while Run.objects.open().exists():
        steps += end_all()
    assert ("alpha", "large", 1) not in steps
    assert len(steps) == 6
    assert Execution.objects.get().state == "done"


def test_enough_space_is_no_more_than_the_quota(write_plan: WritePlan) -> None:
    allow("alpha", quota_bytes=2 * GIB)
    estimate = estimate_page(page_of(write_plan()).matrix)
    assert estimate is not None
    alpha, beta = sorted(estimate.spaces, key=lambda space: space.target.host.name)
    assert (alpha.needed, alpha.quota, alpha.is_enough, alpha.cells) == (4 * GIB, 2 * GIB, False, ("large",))
    assert (beta.quota, beta.is_enough, beta.cells) == (None, None, ())


def test_the_quota_is_that_of_the_targets_own_root(write_plan: WritePlan) -> None:
    allow("alpha", quota_bytes=2 * GIB)
    Agent.objects.update(directories=[{"path": "/data", "quota_bytes": 8 * GIB}])
    assert page_of(write_plan()).left_out_at_start == []


def test_a_plan_of_which_no_cell_is_allowed_is_not_started(write_plan: WritePlan) -> None:
    for name in HOSTS:
        allow(name, quota_bytes=MIB)
    plan = write_plan()
    page = page_of(plan)
    assert page.start_problems[0] == "No cell can be started: the hosts allow less than the plan asks for."
    assert len(page.start_problems) == 5
    with pytest.raises(ExecutionError, match=f"file_size: found {4 * GIB}, expected at most {MIB} bytes"):
        services.start_plan(plan, actor="eve")
    assert not Execution.objects.exists()
    assert not PlanCell.objects.exists()


def test_limits_that_come_after_the_start_pause_a_plan_of_which_nothing_ran(write_plan: WritePlan) -> None:
    plan = write_plan()
    services.start_plan(plan, actor="eve")
    for name in HOSTS:
        allow(name, quota_bytes=MIB)
    advance_all(plan)
    execution = Execution.objects.get()
    assert execution.state == "paused"
    assert execution.reason.startswith(
        "Nothing was run, and no cell is left that can be started. It could not be started:"
    )
    assert f"expected at most {MIB} bytes" in execution.reason
    assert not Run.objects.exists()
    for name in HOSTS:
        allow(name, quota_bytes=8 * GIB)
    PlanCell.objects.all().delete()
    services.resume_plan(plan, actor="eve")
    advance_all(plan)
    assert steps_of(Run.objects.open()) == [("alpha", "small", 1), ("beta", "small", 1)]


def test_the_looks_of_guards_before_cells_that_will_be_left_out_are_not_counted(write_plan: WritePlan) -> None:
    plan = write_plan(guards=[{"kind": "idle"}])
    assert page_of(plan).extra.seconds == 2 * 2 * 10
    for name in ("alpha", "beta"):
        allow(name, quota_bytes=2 * GIB)
    assert page_of(plan).extra.seconds == 2 * 10, "small alone, twice on each host"


def test_the_page_and_rest_name_the_cells(
    write_plan: WritePlan, sign_in: Callable[[str], Client], script: Scripts, study: Study
) -> None:
    allow("alpha", quota_bytes=2 * GIB)
    plan = write_plan()
    text = sign_in("engineer").get(f"/plans/{plan.pk}/").content.decode()
    assert text.count("These cells will be left out, for their hosts allow less") == 1
    assert f"alpha: large: file_size: found {4 * GIB}, expected at most {2 * GIB} bytes" in text
    [refused] = script("read").get(f"plans/{plan.pk}/estimate/").json()["refused"]
    target = Target.objects.get(host__name="alpha").pk
    assert refused == {
        "configuration": "alpha", "point": "large", "target": target, "field": "file_size", "found": str(4 * GIB),
        "expected": f"at most {2 * GIB} bytes for the files of all jobs (this host's quota)",
    }  # fmt: skip
    call = script("run")
    body = {"title": "Trio", "targets": [target], "preset": "sync-trio", "file_sizes": "10g"}
    ahead = call("POST", "plans/estimate/", body).json()
    assert (ahead["rounds"], ahead["seconds"], ahead["spaces"][0]["is_enough"]) == (0, 0, False)
    assert {entry["found"] for entry in ahead["refused"]} == {str(10 * GIB)}
    made = call("POST", "plans/", body).json()["id"]
    answer = call("POST", f"plans/{made}/start/", {})
    assert answer.status_code == 409
    assert f"file_size: found {10 * GIB}" in answer.json()["detail"]
    form = {
        "title": "", "targets": [target], "preset": "sync-trio", "file_sizes": "10g", "kind": "usual", "rounds": 5,
        "percent": 2, "order": "interleaved",
    }  # fmt: skip
    typed = sign_in("engineer").post("/plans/new/estimate/", form).content.decode()
    assert f"found {10 * GIB}, expected at most {2 * GIB} bytes" in typed


FILL = {"kind": "sequential_fill", "time": "start", "parameters": {"passes": 1, "file_size": 3 * GIB}}


def test_a_preparation_beyond_the_quota_is_named_before_the_start_by_page_and_rest(
    write_plan: WritePlan, sign_in: Callable[[str], Client], script: Scripts
) -> None:
    allow("alpha", quota_bytes=2 * GIB)
    plan = write_plan(points=[large_point(name="small")])
    Preparation.objects.create(plan=plan, position=0, **FILL)
    page = page_of(plan)
    assert page.left_out_at_start == []
    words = f"alpha: preparation sequential fill: file_size: found {3 * GIB}, expected at most {2 * GIB} bytes"
    [sentence] = page.refused_preparations_words
    assert sentence.startswith(words)
    text = sign_in("engineer").get(f"/plans/{plan.pk}/").content.decode()
    assert text.count("The plan would pause at these preparations, for their hosts allow less") == 1
    assert words in text
    answer = script("read").get(f"plans/{plan.pk}/estimate/").json()
    assert [(one["configuration"], one["preparation"], one["field"]) for one in answer["refused_preparations"]] == [
        ("alpha", "preparation sequential fill", "file_size")
    ]
    services.start_plan(plan, actor="eve")
    advance_all(plan)
    execution = Execution.objects.get()
    assert (execution.state, f"found {3 * GIB}" in execution.reason) == ("paused", True), "as it was said"


def test_a_preparation_of_a_plan_that_is_not_written_is_named_too(
    study: Study, script: Scripts, sign_in: Callable[[str], Client]
) -> None:
    allow("alpha", quota_bytes=2 * GIB)
    target = Target.objects.get(host__name="alpha").pk
    body = {
        "title": "Trio", "targets": [target], "preset": "sync-trio", "file_sizes": "1g",
        "preparations": [{"kind": "random_writes", "file_size": "16g"}],
    }  # fmt: skip
    [refused] = script("run")("POST", "plans/estimate/", body).json()["refused_preparations"]
    assert (refused["target"], refused["preparation"], refused["found"]) == (
        target, "preparation random writes", str(16 * GIB),
    )  # fmt: skip
    form = {
        "title": "", "targets": [target], "preset": "sync-trio", "file_sizes": "1g", "kind": "usual", "rounds": 5,
        "percent": 2, "order": "interleaved", "prepare-random_writes-is_wanted": "on", "prepare-random_writes-time": "start",
        "prepare-random_writes-seconds": 60, "prepare-random_writes-most": 25, "prepare-random_writes-until_steady": "1",
        "prepare-random_writes-file_size": "16g",
    }  # fmt: skip
    typed = sign_in("engineer").post("/plans/new/estimate/", form).content.decode()
    assert "The plan would pause at these preparations" in typed, typed[:2000]


def test_a_preparation_is_as_large_as_the_largest_cell_that_is_not_left_out(write_plan: WritePlan) -> None:
    """A cell beyond the quota is left out, and no preparation of its size stops the plan then."""
    allow("alpha", quota_bytes=2 * GIB)
    plan = write_plan()
    usual = {"kind": "sequential_fill", "time": "start", "parameters": {"passes": 1}}
    Preparation.objects.create(plan=plan, position=0, **usual)
    page = page_of(plan)
    assert (len(page.left_out_at_start), page.refused_preparations) == (1, [])
    services.start_plan(plan, actor="eve")
    advance_all(plan)
    sizes = {run.host.name: run.workload.jobs[0]["file_size"] for run in Run.objects.open()}
    assert sizes == {"alpha": GIB, "beta": 4 * GIB}
