"""Guards of a plan on its hosts: what is asked for, what is said of the answers, and what becomes of a step that is refused."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from apps.agents.models import Agent
from apps.core.quantities import quantity
from apps.inventory.models import Array, Host, Target
from apps.plans import services
from apps.plans.execution_page import ExecutionPage
from apps.plans.models import Execution
from apps.plans.tasks import advance_host
from apps.runs.host_guards import BY_KIND, check_guards
from apps.runs.host_guards import GUARDS as GUARDS_OF_HOSTS
from apps.runs.host_guards.labels import LABELS, label_guard
from apps.runs.models import Attempt, Run
from apps.runs.states import State
from apps.runs.workload import WorkloadError
from apps.studies.models import Plan, PlanCell, PlannedRun
from apps.studies.plans.guards import KINDS
from apps.studies.plans.plan_import import save_plan
from apps.studies.plans.problems import PlanError
from apps.studies.plans.schema import plan_of
from tests.plans.conftest import GIB, JOB, MIB, advance_all, answer, end, steps_of, written
from tests.sampling import for_each
from worker.agent import guards as guards_of_agents

SignIn = Callable[[str], Client]
WritePlan = Callable[..., Plan]
GUARDS = [{"kind": "idle", "load": 2, "wait_s": 60}, {"kind": "caches_dropped"}, {"kind": "fresh_system"}]


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
        ("fresh_system", "not checked"), ("idle", "passed"), ("caches_dropped", "passed"), ("idle", "passed"),
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
    assert body["evidence"][1]["figures"]["disks"] == 12_000_000
    assert body["evidence"][1]["waited_s"] == 12.0
    assert [entry["kind"] for entry in body["evidence"]] == [entry["guard"] for entry in body["evidence"]]
    assert {entry["label"] for entry in body["evidence"] if entry["kind"] == "idle"} == {"idle host"}
    assert '<th scope="row" class="plan-guard-name">idle<' not in page, "one guard has one name"


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
    assert planned.failed_guard == "guard idle host: cores busy 3 (at most 2)"
    assert [cell.reason for cell in PlanCell.objects.all()] == ([reason] if reason else [])
    assert steps_of([of_alpha()]) == [next_step]
    page = ExecutionPage(Plan.objects.whole().prefetch_related("preparations").get(pk=plan.pk))
    assert len(page.failed_steps) == (failure == "fail"), "a skipped cell has nothing to be made again"
    if failure == "skip":
        with pytest.raises(services.ExecutionError, match="No step has failed"):
            services.retry_failed(plan, actor="eve")


def test_a_guard_that_never_holds_pauses_a_plan_that_asks_again(write_plan: WritePlan) -> None:
    plan = write_plan(guards=GUARDS, stopping={"kind": "fixed", "rounds": 1})
    start(plan, guard_failure="again")
    for _ in range(3):
        refuse(of_alpha())
    execution = Execution.objects.get()
    assert execution.state == "paused"
    assert "guard idle host: cores busy 3 (at most 2)" in execution.reason


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


@for_each(
    "guard, expected",
    [
        ({"kind": "idle", "celsius": 3}, "one of the fields"),
        ({"kind": "idle", "load": -1}, "a number from 0"),
        ({"kind": "temperature", "celsius": "hot"}, "a number from 0 to 120"),
        ({"kind": "caches_dropped", "wait_s": 10**6}, "a number from 0 to 86400"),
    ],
    taken_back=True,
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


def test_a_plans_statement_is_a_persons_word_and_never_a_guard_that_holds(
    write_plan: WritePlan, sign_in: SignIn
) -> None:
    plan = write_plan(guards=[{"kind": "idle"}, {"kind": "fresh_system"}], stopping={"kind": "fixed", "rounds": 1})
    start(plan)
    run = of_alpha()
    assert [guard["guard"] for guard in run.guards] == ["idle"], "no host is asked about it"
    end(run, facts={"load_during": 0.1})
    planned = PlannedRun.objects.get(run=run)
    stated = next(entry for entry in planned.evidence if entry["guard"] == "fresh_system")
    assert (stated["outcome"], stated["source"]) == ("not checked", "person")
    assert stated["text"] == "stated by me, not checked"
    assert (planned.guard_outcome, planned.failed_guard) == ("passed", "")
    reader = sign_in("viewer")
    page = " ".join(reader.get(run.get_absolute_url()).content.decode().split())
    assert "stated by me, not checked" in page
    assert "a person&#x27;s word" in page or "a person's word" in page
    (entry,) = [
        one for one in reader.get(f"/api/v1/runs/{run.pk}/guards/").json()["evidence"] if one["source"] == "person"
    ]
    assert entry["outcome"] == "not checked"
    (guard,) = [one for one in reader.get(f"/api/v1/plans/{plan.pk}/").json()["guards"] if one["is_statement"]]
    assert (guard["kind"], guard["stated_by"]) == ("fresh_system", "me")
    assert guard["standing"] == "stated by a person; nothing checks it"


def test_whoever_changes_the_plan_later_has_not_stated_it(write_plan: WritePlan, study: Any) -> None:
    plan = write_plan(guards=[{"kind": "fresh_system"}])
    changed = plan_of(written(guards=[{"kind": "fresh_system", "note": "since Monday"}, {"kind": "idle"}]))
    save_plan(study, changed, actor="ada", position=0, plan=plan)
    assert dict(plan.guards.values_list("kind", "stated_by")) == {"fresh_system": "me", "idle": ""}


@pytest.mark.parametrize("kind", ["users_out", "queues_off", "alone", "file_removed"])
def test_what_hosts_can_see_is_asked_of_them(write_plan: WritePlan, kind: str) -> None:
    plan = write_plan(guards=[{"kind": kind}], stopping={"kind": "fixed", "rounds": 1})
    start(plan, guard_wait=60)
    run = of_alpha()
    assert run.guards == [{"guard": kind, "is_required": True, "wait_s": 60}]
    end(run, State.FAILED, guards=[answer(run.guards[0], "failed", text="it is not so")], is_started=False)
    assert PlannedRun.objects.get(run=run).failed_guard == f"guard {label_guard(kind)}: it is not so"


def test_a_failed_guard_is_red_only_where_it_is_required(write_plan: WritePlan, sign_in: SignIn) -> None:
    guards = [{"kind": "alone", "is_required": False}]
    plan = write_plan(guards=guards, stopping={"kind": "fixed", "rounds": 1})
    start(plan)
    run = of_alpha()
    end(run, guards=[answer(run.guards[0], "failed", text="another benchmark runs: 1 fio")])
    assert PlannedRun.objects.get(run=run).guard_outcome == "failed, not required"
    page = sign_in("viewer").get(run.get_absolute_url()).content.decode()
    assert "chip-guard-noted" in page
    assert "chip-guard-failed" not in page
    assert "(not required)" in page
    cell = sign_in("viewer").get(f"/plans/{plan.pk}/").content.decode()
    assert "guards noted: one failed that is not required" in cell
    assert 'plan-guard-failed"' not in cell


def test_both_spellings_of_a_guard_are_taken_by_plans_and_runs(sign_in: SignIn, write_plan: WritePlan) -> None:
    client, target = sign_in("engineer"), write_plan().rows.first().configuration.target
    job = {"jobs": [{**JOB, "file_size": GIB, "block_size": MIB}]}
    for spelling in ({"kind": "idle", "required": False}, {"guard": "idle", "is_required": False}):
        body = {"target": target.pk, "workload": job, "guards": [spelling]}
        started = client.post("/api/v1/runs/", body, content_type="application/json")
        assert Run.objects.get(pk=started.json()["id"]).guards == [
            {"guard": "idle", "is_required": False, "wait_s": 600}
        ]
        plan = {"title": "Both", "targets": [target.pk], "preset": "quick-check", "guards": [spelling]}
        made = client.post("/api/v1/plans/", plan, content_type="application/json")
        assert made.status_code == 201, made.content
        assert list(Plan.objects.get(pk=made.json()["id"]).guards.values_list("kind", "is_required")) == [
            ("idle", False)
        ]
    twice = {"target": target.pk, "workload": job, "guards": [{"kind": "idle", "guard": "idle"}]}
    refused = client.post("/api/v1/runs/", twice, content_type="application/json")
    assert (refused.status_code, "guard or kind, not both" in refused.json()["detail"]) == (400, True)


def test_one_name_for_each_guard_wherever_it_is_read() -> None:
    assert {guard.kind: label_guard(guard.kind) for guard in GUARDS_OF_HOSTS} == guards_of_agents.LABELS
    assert set(LABELS) == set(guards_of_agents.LABELS) | set(KINDS)
    assert {kind: guard.label for kind, guard in KINDS.items()} == {kind: label_guard(kind) for kind in KINDS}


def test_a_run_form_sets_the_numbers_of_guards_and_the_time_limit(sign_in: SignIn, write_plan: WritePlan) -> None:
    client, target = sign_in("engineer"), write_plan().rows.first().configuration.target
    form = {
        "act": "start", "target": [target.pk], "repetitions": 1, "priority": "normal", "guards": ["idle", "temperature"],
        "guard_wait": "20", "guard-idle-load": "1.5", "guard-idle-rate": "25", "guard-idle-seconds": "10",
        "guard-idle-required": "no", "guard-temperature-celsius": "45", "guard-temperature-wait": "30",
        "time_limit": "90", "jobs-TOTAL_FORMS": 1, "jobs-INITIAL_FORMS": 0, "jobs-0-rw": "read",
        "jobs-0-block_size": "1m", "jobs-0-file_size": "1g", "jobs-0-iodepth": 1, "jobs-0-numjobs": 1,
        "jobs-0-ioengine": "psync", "jobs-0-sync": "none", "jobs-0-ramp_time": 0,
    }  # fmt: skip
    answered = client.post("/runs/new/", form)
    assert answered.status_code == 302, answered.content.decode()
    run = Run.objects.latest("pk")
    assert run.time_limit == 5400
    assert run.guards == [
        {"guard": "idle", "is_required": False, "wait_s": 1200, "load": 1.5, "rate": 25_000_000},
        {"guard": "temperature", "is_required": True, "wait_s": 1800, "celsius": 45},
    ]
    again = " ".join(client.get(f"/runs/new/?like={run.pk}").content.decode().split())
    assert re.search(r'name="guard-idle-load" value="1.5"', again)
    assert re.search(r'name="time_limit" value="90"', again)
    wrong = client.post("/runs/new/", {**form, "guard-temperature-celsius": "900"})
    assert (wrong.status_code, "less than or equal to 120" in wrong.content.decode()) == (422, True)


def test_a_guard_that_came_into_the_plan_after_the_run_says_that_nobody_was_asked(
    write_plan: WritePlan, study: Any
) -> None:
    plan = write_plan(guards=[{"kind": "caches_dropped"}])
    start(plan)
    run = of_alpha()
    more = written(guards=[{"kind": "caches_dropped"}, {"kind": "users_out"}])
    save_plan(study, plan_of(more), actor="ada", position=0, plan=plan)
    end(run)
    outcomes = {entry["guard"]: (entry["outcome"], entry["text"]) for entry in PlannedRun.objects.get(run=run).evidence}
    assert outcomes["caches_dropped"][0] == "passed"
    assert outcomes["users_out"][0] == "not checked"
    assert "nobody was asked" in outcomes["users_out"][1]


def test_a_limit_of_a_thousand_is_read_as_a_thousand() -> None:
    figures = {"runnable_tasks": 8.75, "cores_busy": 1234.0, "seconds": 1.0}
    words = BY_KIND["idle"].describe(figures, {"runnable_tasks": 1000.0, "cores_busy": 2000.0})
    assert words == "runnable tasks 8.75 (at most 1\u202f000); cores busy 1\u202f234 (at most 2\u202f000); over 1.0 s"
