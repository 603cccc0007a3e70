"""The time limit of a run: by its estimate unless somebody says otherwise, and never beyond what the host allows."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from apps.agents.models import Agent
from apps.agents.poll import describe_offer
from apps.inventory.models import Host, Target
from apps.plans import services
from apps.runs.models import Attempt, Run
from apps.runs.services import run_again, start_runs
from apps.runs.workload import WorkloadError, limit_seconds
from apps.studies.models import Plan
from tests.plans.conftest import GIB, JOB, MIB, advance_all
from tests.sampling import for_each

SignIn = Callable[[str], Client]
WritePlan = Callable[..., Plan]
TIMED = {**JOB, "file_size": GIB, "block_size": MIB, "runtime": 60, "time_based": True}


@pytest.fixture
def target(study: Any, lab: Any) -> Target:
    host = Host.objects.get(name="alpha")
    Agent.objects.create(lab=lab, host=host, secret_sha256="x", machine="m", policy={"max_runtime_s": 3600})
    target: Target = Target.objects.get(host=host)
    return target


def offer_of(run: Run) -> dict[str, Any]:
    return describe_offer(Attempt(run=run, lab_id=run.lab_id, host_id=run.host_id, number=1))


def test_without_one_the_estimate_says_it_and_the_offer_has_it(lab: Any, target: Target) -> None:
    [run] = start_runs(lab=lab, target=target, spec={"jobs": [TIMED]})
    offer = offer_of(run)
    assert (run.time_limit, run.limit_seconds) == (None, limit_seconds(run.workload.spec))
    assert (offer["limit_s"], offer["is_limit_asked"]) == (run.limit_seconds, False)


def test_what_was_asked_for_reaches_the_host_and_is_kept_when_it_runs_again(lab: Any, target: Target) -> None:
    [run] = start_runs(lab=lab, target=target, spec={"jobs": [TIMED]}, time_limit=90)
    assert (offer_of(run)["limit_s"], offer_of(run)["is_limit_asked"]) == (90, True)
    assert run_again(run, "eve")[0].time_limit == 90
    assert run_again(run, "eve", time_limit=None)[0].time_limit is None


@for_each(
    "limit, words",
    [
        (3601, "at most 3600 s on alpha, whose agent.conf"),
        (89, "at least 90: the 60 s that the jobs themselves run"),
        (0, "whole seconds"),
        (True, "whole seconds"),
        (1.5, "whole seconds"),
    ],
    taken_back=True,
)
def test_one_that_the_host_or_the_jobs_do_not_allow_is_refused(
    lab: Any, target: Target, limit: Any, words: str
) -> None:
    with pytest.raises(WorkloadError, match=words) as refused:
        start_runs(lab=lab, target=target, spec={"jobs": [TIMED]}, time_limit=limit)
    assert refused.value.field == "time_limit"
    assert not Run.objects.exists()


def test_by_rest_for_runs_and_their_repetition(sign_in: SignIn, target: Target) -> None:
    client = sign_in("engineer")
    body = {"target": target.pk, "workload": {"jobs": [TIMED]}, "time_limit": 120}
    started = client.post("/api/v1/runs/", body, content_type="application/json")
    assert started.status_code == 201, started.content
    read = client.get(f"/api/v1/runs/{started.json()['id']}/").json()
    assert (read["time_limit"], read["stops_after"]) == (120, 120)
    again = client.post(f"{read['url']}again/", {"time_limit": 240}, content_type="application/json").json()
    assert Run.objects.get(pk=again["id"]).time_limit == 240
    refused = client.post("/api/v1/runs/", {**body, "time_limit": 4000}, content_type="application/json")
    assert (refused.status_code, refused.json()["field"]) == (400, "time_limit")
    assert "Time limit 2 min, as was asked for" in client.get(f"/runs/{read['id']}/").content.decode().replace(
        "\xa0", " "
    )


def test_a_plan_gives_its_runs_its_own(write_plan: WritePlan, target: Target, sign_in: SignIn) -> None:
    client = sign_in("engineer")
    body = {"title": "Short", "targets": [target.pk], "preset": "quick-check", "time_limit": 600}
    made = client.post("/api/v1/plans/", body, content_type="application/json").json()
    assert made["time_limit"] == 600
    services.start_plan(plan := Plan.objects.get(pk=made["id"]), actor="eve")
    advance_all(plan)
    assert {run.time_limit for run in Run.objects.open()} == {600}
    assert "each run is stopped after 10" in client.get(f"/plans/{plan.pk}/").content.decode()
    address = f"/api/v1/plans/{plan.pk}/"
    changed = client.patch(address, {"time_limit": None}, content_type="application/json")
    assert (changed.status_code, changed.json()["time_limit"]) == (200, None)
    for limit in (3601, 0, "x"):
        refused = client.patch(address, {"time_limit": limit}, content_type="application/json")
        assert (refused.status_code, "time_limit" in refused.content.decode()) == (400, True)
    refused = client.post("/api/v1/plans/", {**body, "time_limit": 3601}, content_type="application/json")
    assert (refused.status_code, refused.json()["field"]) == (400, "time_limit")


def test_a_cell_whose_job_takes_longer_is_left_out_with_the_reason(write_plan: WritePlan) -> None:
    points = [
        {"name": name, "tool": "fio", "file_size": GIB, "block_size": MIB,
         "job": {**JOB, "runtime": seconds, "time_based": True}}
        for name, seconds in (("short", 10), ("long", 100))
    ]  # fmt: skip
    plan = write_plan(points=points, time_limit=50)
    services.start_plan(plan, actor="eve")
    reasons = {cell.point.name: cell.reason for cell in plan.cells.all()}
    assert set(reasons) == {"long"}
    assert "at least 130" in reasons["long"]


def test_a_running_plan_takes_no_limit_that_would_stop_its_cells(write_plan: WritePlan, sign_in: SignIn) -> None:
    plan = write_plan(
        points=[{"name": "timed", "tool": "fio", "file_size": GIB, "block_size": MIB,
                 "job": {**JOB, "runtime": 60, "time_based": True}}]
    )  # fmt: skip
    services.start_plan(plan, actor="eve")
    client, address = sign_in("engineer"), f"/api/v1/plans/{plan.pk}/"
    refused = client.patch(address, {"time_limit": 61}, content_type="application/json")
    assert (refused.status_code, "at least 90" in refused.content.decode()) == (400, True)
    Plan.objects.filter(pk=plan.pk).update(time_limit=61)  # however it came to be
    advance_all(plan)
    execution = plan.execution
    execution.refresh_from_db()
    assert (execution.state, execution.has_paused_itself) == ("paused", True)
    assert "at least 90" in execution.reason
    assert not plan.cells.exists(), "no cell is left out for a number that a person can change"


def test_the_estimate_leaves_out_what_the_limit_would_stop(sign_in: SignIn, target: Target) -> None:
    body = {"title": "x", "targets": [target.pk], "workload": {"jobs": [TIMED]}, "time_limit": 61}
    ahead = sign_in("engineer").post("/api/v1/plans/estimate/", body, content_type="application/json")
    assert ahead.status_code == 200, ahead.content
    assert "at least 90" in str(ahead.json()["refused"])


def test_the_host_reads_what_a_run_is_for(write_plan: WritePlan, lab: Any, target: Target) -> None:
    services.start_plan(plan := write_plan(), actor="eve")
    advance_all(plan)
    run = Run.objects.open().filter(host__name="alpha").get()
    assert offer_of(run)["about"] == "plan Reading of study Disks: alpha, small, round 1"
    [alone] = start_runs(lab=lab, target=target, spec={"jobs": [TIMED]}, note="after the new cable\nand more")
    assert offer_of(alone)["about"] == "after the new cable"


def test_the_form_of_a_plan_sets_guards_numbers_and_the_limit(sign_in: SignIn, target: Target) -> None:
    client = sign_in("engineer")
    page = client.get("/plans/new/").content.decode()
    for name, usual in (("cache_rule-factor", "2"), ("idle-load", "0.5"), ("idle-rate", "1"), ("idle-seconds", "10")):
        assert f'name="guard-{name}" value="{usual}"' in page, name
    assert "A statement of yours: nothing can check it" in page
    typed = {
        "title": "Ours", "targets": [target.pk], "preset": "quick-check", "kind": "fixed", "rounds": 1, "percent": 2,
        "order": "interleaved", "time_limit": "30", "guards": ["idle", "cache_rule", "temperature", "fresh_system"],
        "guard-idle-load": "2", "guard-idle-rate": "1", "guard-idle-wait": "5", "guard-cache_rule-factor": "3",
        "guard-cache_rule-tolerance": "5", "guard-cache_rule-required": "no", "guard-temperature-celsius": "45.5",
    }  # fmt: skip
    answer = client.post("/plans/new/", typed)
    assert answer.status_code == 302, answer.content.decode()
    plan = Plan.objects.get()
    assert plan.time_limit == 1800
    assert {guard.kind: (guard.is_required, guard.parameters) for guard in plan.guards.all()} == {
        "idle": (True, {"load": 2.0, "wait_s": 300.0}),
        "cache_rule": (False, {"factor": 3.0, "tolerance": 0.05}),
        "temperature": (True, {"celsius": 45.5}),
        "fresh_system": (True, {}),
    }
    edit = client.get(f"/plans/{plan.pk}/edit/").content.decode()
    assert 'name="g0-load" value="2"' in edit
    assert 'name="g5-tolerance" value="5"' in edit
    assert 'name="time_limit" value="30"' in edit
    wrong = client.post("/plans/new/", {**typed, "title": "Hot", "guard-temperature-celsius": "500"})
    assert (wrong.status_code, Plan.objects.count()) == (422, 1)
