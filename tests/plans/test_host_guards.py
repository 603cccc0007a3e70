"""Guards of a plan on its hosts: what is asked for, what is said of the answers, and what becomes of a step that is refused."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from apps.agents.models import Agent
from apps.core.quantities import quantity
from apps.inventory.models import Array, Host, Target
from apps.plans import services
from apps.plans.models import Execution
from apps.plans.tasks import advance_host
from apps.runs.host_guards import BY_KIND, check_guards
from apps.runs.models import Attempt, Run
from apps.runs.states import State
from apps.runs.workload import WorkloadError
from apps.studies.models import Plan, PlanCell, PlannedRun
from apps.studies.plans.problems import PlanError
from tests.plans.conftest import GIB, JOB, MIB, advance_all, answer, end, steps_of

SignIn = Callable[[str], Client]
WritePlan = Callable[..., Plan]
GUARDS = [{"kind": "idle", "load": 2, "wait_s": 60}, {"kind": "caches_dropped"}, {"kind": "users_out"}]


def start(plan: Plan, **options: Any) -> Execution:
    execution = services.start_plan(plan, actor="eve", **options)
    advance_all(plan)
    return execution


def of_alpha() -> Run:
    run: Run = Run.objects.open().select_related("workload", "host").filter(host__name="alpha").get()
    return run


def refuse(run: Run, **changes: Any) -> str:
    """Let the host refuse the run because its first guard did not hold."""
    guards = [answer(run.guards[0], "failed", text="cores busy 3 (at most 2)", **changes)]
    return end(run, State.FAILED, guards=guards, is_started=False)


def test_a_step_asks_its_host_for_the_guards_that_hosts_check(write_plan: WritePlan) -> None:
    start(write_plan(guards=GUARDS), guard_wait=300)
    assert of_alpha().guards == [
        {"guard": "idle", "is_required": True, "wait_s": 60, "load": 2},
        {"guard": "caches_dropped", "is_required": True, "wait_s": 300},
    ]


def test_the_mount_is_compared_with_that_of_the_first_run(write_plan: WritePlan) -> None:
    plan = write_plan(guards=[{"kind": "filesystem"}])
    start(plan)
    first = of_alpha()
    assert "options" not in first.guards[0]["expected"], "nothing is recorded of the target yet"
    Run.objects.filter(pk=first.pk).update(place={"type": "ext4", "options": "rw,relatime"})
    end(first)
    assert of_alpha().guards[0]["expected"]["options"] == "rw,relatime"


def test_evidence_has_the_figures_who_looked_and_when(write_plan: WritePlan, sign_in: SignIn) -> None:
    plan = write_plan(guards=GUARDS)
    start(plan)
    run = of_alpha()
    idle = answer(
        run.guards[0], waited_s=12.0,
        figures={"runnable_tasks": 0.1, "cores_busy": 0.25, "disks": 12_000_000, "network": 9, "seconds": 10.0},
        limits={"runnable_tasks": 2, "cores_busy": 2, "disks": 50_000_000, "network": 1_000_000},
    )  # fmt: skip
    cache = answer(run.guards[1], text="0 of 256 pages", figures={"resident_before": 256, "resident_pages": 0})
    end(run, guards=[idle, cache], facts={"load_during": 0.1})
    planned = PlannedRun.objects.get(run=run)
    assert [(entry["guard"], entry["outcome"]) for entry in planned.evidence] == [
        ("idle", "passed"), ("caches_dropped", "passed"), ("idle", "passed"), ("users_out", "not checked"),
    ]  # fmt: skip
    page = sign_in("viewer").get(run.get_absolute_url()).content.decode()
    assert "cores busy 0.25" in page
    assert "12\u00a0MB/s" in page or "12.0\u00a0MB/s" in page
    assert "resident before" in page
    assert "256" in page
    assert "on the host, right before fio" in page
    assert "2025-11-26" in page
    assert "Waited" in page
    body = sign_in("viewer").get(f"/api/v1/runs/{run.pk}/guards/").json()
    assert body["asked"] == run.guards
    assert body["evidence"][0]["figures"]["disks"] == 12_000_000
    assert body["evidence"][0]["waited_s"] == 12.0


def test_an_agent_that_is_too_old_is_named_and_nothing_is_claimed(write_plan: WritePlan, sign_in: SignIn) -> None:
    plan = write_plan(guards=[{"kind": "caches_dropped"}], stopping={"kind": "fixed", "rounds": 1})
    start(plan)
    run = of_alpha()
    end(run, guards=[])
    (entry,) = PlannedRun.objects.get(run=run).evidence
    assert (entry["outcome"], entry["checked_at"]) == ("not checked", "")
    assert entry["text"] == "not checked on the host: its agent is too old for it"
    assert "guards not checked" in sign_in("viewer").get(f"/plans/{plan.pk}/").content.decode()
    assert PlannedRun.objects.get(run=run).failed_guard == "", "the run counts, as before"


@pytest.mark.parametrize(
    ("failure", "reason", "next_step"),
    [
        ("skip", "Guard idle host did not hold on alpha: cores busy 3 (at most 2).", ("alpha", "large", 1)),
        ("fail", "", ("alpha", "large", 1)),
        ("again", "", ("alpha", "small", 1)),
    ],
)
def test_a_step_whose_guard_did_not_hold_is_treated_as_the_plan_says(
    write_plan: WritePlan, failure: str, reason: str, next_step: tuple[str, str, int]
) -> None:
    plan = write_plan(guards=GUARDS, stopping={"kind": "fixed", "rounds": 1})
    start(plan, guard_failure=failure)
    run = of_alpha()
    refuse(run)
    planned = PlannedRun.objects.get(run=run)
    assert planned.is_refused
    assert planned.failed_guard == "guard idle: cores busy 3 (at most 2)"
    assert [cell.reason for cell in PlanCell.objects.all()] == ([reason] if reason else [])
    assert steps_of([of_alpha()]) == [next_step]


def test_a_guard_that_never_holds_pauses_a_plan_that_asks_again(write_plan: WritePlan) -> None:
    plan = write_plan(guards=GUARDS, stopping={"kind": "fixed", "rounds": 1})
    start(plan, guard_failure="again")
    for _ in range(3):
        refuse(of_alpha())
    execution = Execution.objects.get()
    assert execution.state == "paused"
    assert "guard idle: cores busy 3 (at most 2)" in execution.reason


def test_a_run_that_waits_for_its_guard_says_so_on_its_page_and_on_the_plans(
    write_plan: WritePlan, sign_in: SignIn
) -> None:
    plan = write_plan(guards=GUARDS)
    start(plan)
    run = of_alpha()
    text = f"disks {quantity(2.5e6, 'B/s')}"
    waiting = answer(run.guards[0], "failed", text=text, is_waiting=True, waited_s=7.0)
    Run.objects.filter(pk=run.pk).update(state=State.ACCEPTED)
    Attempt.objects.create(
        lab_id=run.lab_id, run=run, host_id=run.host_id, number=1, state=State.ACCEPTED,
        offered_at=run.created_at, guards=[waiting],
    )  # fmt: skip
    for address in (run.get_absolute_url(), f"/plans/{plan.pk}/"):
        page = sign_in("viewer").get(address).content.decode()
        assert "⟦" not in page, "numbers are written in the reader's units"
        assert "guard idle host: disks" in page, address
        assert "2.50" in page, address
        assert "It has waited for 7 s, at most 60 s" in page, address


def test_how_long_and_what_then_is_asked_at_the_start(write_plan: WritePlan, sign_in: SignIn) -> None:
    plan = write_plan(guards=GUARDS)
    client = sign_in("engineer")
    assert "Wait for guards, min" in client.get(f"/plans/{plan.pk}/").content.decode()
    client.post(f"/plans/{plan.pk}/start/", {"guard_wait": "5", "guard_failure": "again"})
    execution = Execution.objects.get()
    assert (execution.guard_wait, execution.guard_failure) == (300, "again")
    services.cancel_plan(plan, actor="eve")
    body = {"guard_failure": "never", "retries": 0}
    assert client.post(f"/api/v1/plans/{plan.pk}/start/", body, content_type="application/json").status_code == 400
    services.start_plan(plan, actor="eve")
    execution.refresh_from_db()
    assert (execution.guard_wait, execution.guard_failure) == (300, "again"), "as before where nothing is said"


@pytest.mark.parametrize(
    ("guard", "expected"),
    [
        ({"kind": "idle", "celsius": 3}, "one of the fields"),
        ({"kind": "idle", "load": -1}, "a number from 0"),
        ({"kind": "temperature", "celsius": "hot"}, "a number from 0 to 120"),
        ({"kind": "caches_dropped", "wait_s": 10**6}, "a number from 0 to 86400"),
    ],
)
def test_limits_of_a_plans_guards_are_checked(write_plan: WritePlan, guard: dict[str, Any], expected: str) -> None:
    with pytest.raises(PlanError, match=expected):
        write_plan(guards=[guard])


# Single runs


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"guard": "idle"}, "guards"),
        ([{"guard": "moon"}], r"guards\[0\]\.guard"),
        ([{"guard": "idle", "wait_s": -5}], r"guards\[0\]\.wait_s"),
        ([{"guard": "idle", "expected": {}}], r"guards\[0\]\.expected"),
        ([{"guard": "idle"}, {"guard": "idle"}], "each only once"),
        ([{"guard": "idle", "is_required": "yes"}], r"guards\[0\]\.is_required"),
    ],
)
def test_guards_of_a_run_are_checked_by_name(given: Any, field: str) -> None:
    with pytest.raises(WorkloadError, match=field):
        check_guards(given)


def test_guards_that_fit_are_filled_in() -> None:
    assert check_guards([{"guard": kind} for kind in BY_KIND]) == [
        {"guard": kind, "is_required": True, "wait_s": 600} for kind in BY_KIND
    ]


@pytest.mark.usefixtures("study")
def test_a_single_run_waits_for_guards_by_rest_and_by_the_form(sign_in: SignIn) -> None:
    client = sign_in("engineer")
    target = Target.objects.get(host__name="alpha")
    workload = {"jobs": [{**JOB, "file_size": GIB, "block_size": MIB}]}
    body = {"target": target.pk, "workload": workload, "guards": [{"guard": "idle", "wait_s": 30}]}
    started = client.post("/api/v1/runs/", body, content_type="application/json")
    assert started.status_code == 201, started.content
    assert Run.objects.get(pk=started.json()["id"]).guards == [{"guard": "idle", "is_required": True, "wait_s": 30}]
    wrong = client.post("/api/v1/runs/", {**body, "guards": [{"guard": "moon"}]}, content_type="application/json")
    assert wrong.status_code == 400
    assert "Guards" in client.get("/runs/new/").content.decode()
    form = {
        "act": "start", "target": [target.pk], "repetitions": 1, "priority": "normal", "guards": ["idle", "space"],
        "guard_wait": "20", "jobs-TOTAL_FORMS": 1, "jobs-INITIAL_FORMS": 0, "jobs-0-rw": "read",
        "jobs-0-block_size": "1m", "jobs-0-file_size": "1g", "jobs-0-iodepth": 1, "jobs-0-numjobs": 1,
        "jobs-0-ioengine": "psync", "jobs-0-sync": "none", "jobs-0-ramp_time": 0,
    }  # fmt: skip
    answered = client.post("/runs/new/", form)
    assert answered.status_code == 302, answered.content.decode()
    run = Run.objects.latest("pk")
    assert run.guards == [{"guard": kind, "is_required": True, "wait_s": 1200} for kind in ("idle", "space")]
    again = client.post(f"/api/v1/runs/{run.pk}/again/", {}, content_type="application/json")
    assert Run.objects.get(pk=again.json()["id"]).guards == run.guards
    page = client.get(run.get_absolute_url()).content.decode()
    assert "Asked for; nothing was checked yet" in page


@pytest.mark.parametrize(
    ("version", "software", "outcome"),
    [("1.2", "md", "started"), ("1.1", "md", "waits"), ("", "md", "waits"), ("1.2", "", "waits")],
)
def test_the_inventorys_word_on_an_md_array_is_left_to_an_agent_that_looks_itself(
    write_plan: WritePlan, lab: Any, version: str, software: str, outcome: str
) -> None:
    plan = write_plan(guards=[{"kind": "array_settled"}])
    host = Host.objects.get(name="alpha")
    array = Array.objects.create(lab=lab, host=host, name="md0", level="5", state="resyncing", software=software)
    Target.objects.filter(host=host).update(array=array)
    Agent.objects.create(lab=lab, host=host, secret_sha256="x", machine="m", version=version)
    services.start_plan(plan, actor="eve")
    assert advance_host(plan.pk, host.pk) == outcome
